//! Runs of a program that takes its launches from a file ([`launch::cases`](super::launch::cases)): one process for each.
//!
//! Guarantees: a case that crashes, hangs or waits for ever costs its own process and is told; blocks run one after the other, so that a case
//! gives the same counts each time.
//!
//! Deliberately absent: which cases are worth a run.

use super::ExecuteError;
use super::launch::cases::{self, Case};
use super::process::Ended;
use super::program::{Program, Stop, observed, unwatched};
use super::report::{Event, EventKind};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a case went.
#[derive(Clone, Debug)]
pub struct CaseRun {
    /// How its process ended.
    pub ended: Ended,
    /// What the runtime met.
    pub events: Vec<Event>,
    /// Where it left what it counted.
    pub counts: PathBuf,
    /// The buffer that it ran beside, and where, in bytes from its beginning.
    pub missed: Option<(usize, i64)>,
}

/// Runs a case; its files go into `directory`.
pub fn run(
    program: &Program,
    case: &Case,
    directory: &Path,
    timeout: Duration,
    stop: Stop<'_>,
) -> Result<CaseRun, ExecuteError> {
    let write = |path: &Path, bytes: &[u8]| {
        fs::write(path, bytes).map_err(|cause| ExecuteError::Write { path: path.to_path_buf(), cause })
    };
    fs::create_dir_all(directory).map_err(|cause| ExecuteError::Write { path: directory.to_path_buf(), cause })?;
    let [given, told, counts] = ["case", "places", "counts"].map(|name| directory.join(name));
    write(&given, case.text.as_bytes())?;
    for (path, bytes) in &case.files {
        write(path, bytes)?;
    }
    for left in [&told, &counts] {
        let _ = fs::remove_file(left);
    }
    let arguments = [OsString::from(&given), OsString::from(&told)];
    let mut command = unwatched(program, &arguments, directory);
    command.env("RACEPROOF_COVER", &counts).env("RACEPROOF_SEED", "0");
    let tried = observed(command, directory, timeout, stop)?;
    let missed = tried.events.iter().filter(|event| event.kind == EventKind::Crash).find_map(|event| {
        let places = cases::places(&fs::read_to_string(&told).unwrap_or_default());
        cases::missed(&places, address(&event.text)?)
    });
    Ok(CaseRun { ended: tried.ended, events: tried.events, counts, missed })
}

/// The address at the end of what is told of a crash.
fn address(text: &str) -> Option<u64> {
    let hex = text.rsplit_once("(0x")?.1.strip_suffix(')')?;
    u64::from_str_radix(hex, 16).ok()
}
