//! Logs of runs: checking them, saying what is in them, and writing them in other forms.

use crate::diagnostic::render::text::Color;
use crate::trace::check::{CheckError, Options, Outcome, check};
use crate::trace::format::chunk::HeadError;
use crate::trace::format::{Log, read_log};
use crate::trace::report::{findings::findings, json, text};
use crate::trace::shards;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use crate::trace::check::LEAST_MEMORY;
pub use crate::trace::report::Verdict;
pub use crate::trace::shards::{MOST as MOST_SHARDS, Options as Within, ShardError};

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text(Color),
    /// One versioned object for programs.
    Json,
}

/// Checks the log at `path`; `memory` bytes are enough, `jobs` threads are used (one for each core, if none is given).
pub fn check_log(path: &Path, memory: u64, jobs: Option<usize>) -> Result<Outcome, CheckError> {
    check(path, &Options { memory, jobs, ..Options::default() })
}

/// Writes what a check found.
pub fn write_check(path: &Path, outcome: &Outcome, format: Format, out: &mut dyn Write) -> io::Result<Verdict> {
    let findings = findings(outcome);
    match format {
        Format::Text(color) => text::check(outcome, findings, color, out)?,
        Format::Json => json::check(path, outcome, &findings, out)?,
    }
    Ok(Verdict::of(outcome))
}

/// Reads what is in the log at `path`, without checking it.
pub fn inspect_log(path: &Path) -> Result<Log, HeadError> {
    read_log(File::open(path)?)
}

/// Writes what is in a log.
pub fn write_info(path: &Path, log: &Log, format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Text(_) => text::info(log, out),
        Format::Json => json::info(path, log, out),
    }
}

/// Writes the log at `path` as so many shards in `directory`. Gives the accesses and the path of each.
pub fn split_log(
    path: &Path,
    count: u32,
    directory: &Path,
    within: &Within,
) -> Result<Vec<(u64, PathBuf)>, ShardError> {
    let name = |number| directory.join(shards::file_name(path, number, count));
    let paths: Vec<PathBuf> = (0..count).map(name).collect();
    let accesses = shards::split(path, &paths, within)?;
    Ok(accesses.into_iter().zip(paths).collect())
}

/// Writes the log whose shards the logs at `paths` are; gives its accesses.
pub fn merge_logs(paths: &[PathBuf], to: &Path, within: &Within) -> Result<u64, ShardError> {
    shards::merge(paths, to, within)
}

/// Why tables were not written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// This program cannot.
    #[error("this raceproof was built without Parquet; build it with `cargo install --path . --features parquet`")]
    NotBuilt,
    /// It failed.
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    Export(#[from] crate::trace::export::ExportError),
}

/// Writes the tables of the log at `path` as files of Parquet into `directory`; gives their paths and rows.
#[cfg(feature = "parquet")]
pub fn export_log(path: &Path, directory: &Path, within: &Within) -> Result<Vec<(PathBuf, u64)>, ExportError> {
    Ok(crate::trace::export::export(path, directory, within.memory, within.jobs)?)
}

/// Says that this program cannot write tables.
#[cfg(not(feature = "parquet"))]
pub fn export_log(_: &Path, _: &Path, _: &Within) -> Result<Vec<(PathBuf, u64)>, ExportError> {
    Err(ExportError::NotBuilt)
}
