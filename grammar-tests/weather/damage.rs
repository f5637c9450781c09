//! Damaged files: what editors save halfway, what merges leave behind, and worse.

use super::{assert_orderly, raceproof, within};
use crate::support::draw::Law;
use crate::support::tier::tiers;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const FILES: Law = Law::new("damaged_files", tiers(60, 250, 4_000));
/// Seconds that all of them may take; a quiet machine needs a tenth.
const LIMIT: Duration = Duration::from_secs(600);

#[test]
fn damaged_files_are_all_accounted_for() {
    let place = tempfile::tempdir().unwrap();
    let written = write_damaged(place.path());
    for front in fronts() {
        let arguments = ["check", ".", "--format", "json", "--effort", "quick", "--solver", "none", "--front", front];
        let output = within(LIMIT, &mut raceproof(place.path(), &arguments));
        assert_orderly(&output);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the report is whole");
        let listed: BTreeSet<&str> =
            report["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
        let missing: Vec<&String> = written.iter().filter(|name| !listed.contains(name.as_str())).collect();
        assert!(missing.is_empty() && listed.len() == written.len(), "--front {front}: not listed: {missing:?}");
        // Damage that leaves every file readable would test nothing.
        let broken = report["files"].as_array().unwrap().iter().filter(|file| file["parse"] != "ok").count();
        assert!(broken * 4 > written.len(), "--front {front}: only {broken} files are broken");
    }
}

/// The front ends of this machine.
fn fronts() -> Vec<&'static str> {
    if crate::clang::clang().is_some() { vec!["tree-sitter", "clang"] } else { vec!["tree-sitter"] }
}

/// Writes damaged files; their names.
fn write_damaged(directory: &Path) -> Vec<String> {
    let mut sources = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"), &mut sources);
    sources.sort();
    FILES
        .seeds()
        .into_iter()
        .enumerate()
        .map(|(index, seed)| {
            let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            let source = &sources[chance.below(sources.len())];
            let text = fs::read(source).unwrap();
            let kind = index % 4;
            let damaged = match kind {
                0 => truncated(&text, &mut chance),
                1 => flipped(text, &mut chance),
                2 => without_tokens(&text, &mut chance),
                _ => nested(&text, &mut chance),
            };
            let extension = source.extension().unwrap().to_str().unwrap();
            let name = format!("{index:04}_{kind}.{extension}");
            fs::write(directory.join(&name), damaged).unwrap();
            name
        })
        .collect()
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "cu" || extension == "cl") {
            files.push(path);
        }
    }
}

fn truncated(text: &[u8], chance: &mut Chance) -> Vec<u8> {
    text[..chance.below(text.len())].to_vec()
}

fn flipped(mut text: Vec<u8>, chance: &mut Chance) -> Vec<u8> {
    for _ in 0..=chance.below(8) {
        let (at, bit) = (chance.below(text.len()), chance.below(8));
        text[at] ^= 1 << bit;
    }
    text
}

/// Tokens are runs of word characters, and every other byte.
fn without_tokens(text: &[u8], chance: &mut Chance) -> Vec<u8> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let tokens: Vec<&[u8]> = text.chunk_by(|a, b| is_word(a) && is_word(b)).collect();
    let gone: BTreeSet<usize> = (0..=chance.below(6)).map(|_| chance.below(tokens.len())).collect();
    let kept = tokens.iter().enumerate().filter(|(index, _)| !gone.contains(index)).map(|(_, token)| *token);
    kept.collect::<Vec<_>>().concat()
}

/// One bracket, at a random place, nested some thousand times.
fn nested(text: &[u8], chance: &mut Chance) -> Vec<u8> {
    let (open, close) = [("(", ")"), ("{", "}"), ("[", "]"), ("-(", ")"), ("if (1) {", "}")][chance.below(5)];
    let depth = 1 << chance.below(14);
    let brackets: Vec<usize> = (0..text.len()).filter(|&at| matches!(text[at], b'(' | b'{' | b'[')).collect();
    let at = brackets.get(chance.below(brackets.len().max(1))).map_or(0, |at| at + 1);
    let balanced = if chance.below(4) == 0 { depth - depth / 3 } else { depth };
    [&text[..at], open.repeat(depth).as_bytes(), close.repeat(balanced).as_bytes(), &text[at..]].concat()
}

/// Pseudo-random numbers, the same in every run (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit
    }
}
