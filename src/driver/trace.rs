//! Logs of runs: checking them, and saying what is in them.

use crate::diagnostic::render::text::Color;
use crate::trace::check::{CheckError, Options, Outcome, check};
use crate::trace::format::chunk::HeadError;
use crate::trace::format::{Log, read_log};
use crate::trace::report::{findings::findings, json, text};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

pub use crate::trace::check::LEAST_MEMORY;
pub use crate::trace::report::Verdict;

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
