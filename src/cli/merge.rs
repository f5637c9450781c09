//! `raceproof merge`: one report of those that the shards of a run wrote.
//!
//! Deliberately absent: what is in reports (`diagnostic/merge`).

use super::Exit;
use super::args::{FailOn, MergeArgs};
use super::output::{complain, to_stdout};
use crate::diagnostic::merge::{MergeError, Merged, Part, merge};
use crate::diagnostic::shard::Shard;
use anyhow::{Context, Error, Result};
use clap::ValueEnum;
use std::fs;
use std::path::Path;

/// Runs the command.
pub(super) fn run(args: &MergeArgs) -> Result<Exit> {
    let read = |path: &std::path::PathBuf| -> Result<(String, String)> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok((path.display().to_string(), text))
    };
    let texts: Vec<(String, String)> = args.reports.iter().map(read).collect::<Result<_>>()?;
    let merged = merged(&texts)?;
    match &args.output {
        Some(path) => write(path, &merged.text)?,
        None => to_stdout(|out| out.write_all(&merged.text)).context("cannot write to standard output")?,
    }
    Ok(exit(&merged.shards, &args.fail_on))
}

/// The report, or an error that names the file that it is about.
fn merged(texts: &[(String, String)]) -> Result<Merged> {
    let of = |name: &str, error: MergeError| Error::new(error).context(name.to_owned());
    let parts = texts.iter().map(|(name, text)| Part::read(name, text).map_err(|error| of(name, error)));
    let parts: Vec<Part<'_>> = parts.collect::<Result<_>>()?;
    merge(parts).map_err(|(at, error)| match at.and_then(|at| texts.get(at)) {
        Some((name, _)) => of(name, error),
        None => error.into(),
    })
}

fn write(path: &Path, text: &[u8]) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// How one run over all files would have ended; what is wrong is said.
fn exit(shards: &[Shard], fail_on: &[FailOn]) -> Exit {
    let mut told: Vec<&String> = Vec::new();
    for problem in shards.iter().flat_map(|shard| &shard.problems) {
        if !told.contains(&problem) {
            told.push(problem);
        }
    }
    let missing = shards.first().map_or(&[][..], |shard| &shard.unmatched);
    let missing: Vec<&String> =
        missing.iter().filter(|it| shards.iter().all(|shard| shard.unmatched.contains(it))).collect();
    told.iter().chain(&missing).for_each(|line| complain(line));
    let failed = shards.iter().map(|shard| of_code(shard.exit)).max().unwrap_or(Exit::Clean);
    if failed > Exit::Clean && told.is_empty() {
        complain("a path gave no file to check; see what the shards said");
    }
    let found = shards.iter().any(|shard| shard.fails.iter().any(|name| is_wanted(name, fail_on)));
    let asked = if missing.is_empty() { Exit::Clean } else { Exit::Usage };
    failed.max(asked).max(if found { Exit::Findings } else { Exit::Clean })
}

/// What a shard ended with, findings aside.
fn of_code(code: u8) -> Exit {
    [Exit::Clean, Exit::Usage].into_iter().find(|exit| exit.code() == code).unwrap_or(Exit::Bug)
}

fn is_wanted(name: &str, fail_on: &[FailOn]) -> bool {
    FailOn::from_str(name, false).is_ok_and(|fail| fail_on.contains(&fail))
}
