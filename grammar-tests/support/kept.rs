//! Seeds that failed once, and are tried ever after.
//!
//! `grammar-tests/kept/seeds.txt` has a line for each: the law, the seed, and why it is there. A law that fails writes
//! its line by itself, except in CI, where the line is printed; it is committed with what mends it.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::sync::Mutex;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/grammar-tests/kept/seeds.txt");

/// Law and seed of a line, if it has any.
fn entry(line: &str) -> Option<(&str, u64)> {
    let line = line.split('#').next().unwrap_or_default().trim();
    if line.is_empty() {
        return None;
    }
    let (law, seed) = line.split_once(' ').unwrap_or_else(|| panic!("{FILE}: no law and seed: {line}"));
    Some((law, seed.trim().parse().unwrap_or_else(|_| panic!("{FILE}: no seed: {line}"))))
}

/// The seeds that are kept for a law.
pub(super) fn seeds(law: &str) -> Vec<u64> {
    let text = fs::read_to_string(FILE).unwrap_or_else(|error| panic!("{FILE}: {error}"));
    text.lines().filter_map(entry).filter(|(of, _)| *of == law).map(|(_, seed)| seed).collect()
}

/// Keeps a seed.
pub(super) fn keep(law: &str, seed: u64) {
    static WRITING: Mutex<()> = Mutex::new(());
    let _one = WRITING.lock();
    if seeds(law).contains(&seed) {
        return;
    }
    let line = format!("{law} {seed}");
    let is_ours = std::env::var_os("CI").is_none();
    let written = || writeln!(OpenOptions::new().append(true).open(FILE)?, "{line}");
    if is_ours && written().is_ok() {
        eprintln!("kept in {FILE}: {line}");
    } else {
        eprintln!("to be kept, as a line of grammar-tests/kept/seeds.txt: {line}");
    }
}
