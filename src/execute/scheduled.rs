//! Runs of a program that keeps to a schedule (`instrument/runtime/cpu/plan.hpp`), and what they tell besides output.
//!
//! Equal schedules give equal runs, as far as the program's host code does.

use super::ExecuteError;
use super::program::{Program, Stop, Tried, observed, unwatched};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A run under a schedule.
#[derive(Clone, Debug)]
pub struct ScheduledTrial<'a> {
    /// The schedule, as text.
    pub schedule: &'a str,
    /// Arguments of the program.
    pub arguments: &'a [OsString],
    /// Where its output goes: `stdout`, `stderr`, `report`, `told`, `memory`, `run.trace`.
    pub directory: PathBuf,
    /// When the program is ended.
    pub timeout: Duration,
    /// What else it says.
    pub wanted: Wanted,
}

/// What a run says besides what it met and what memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Nothing.
    Nothing,
    /// Events at each place of the text.
    Points,
    /// The accesses, in `run.trace`.
    Log,
    /// The bytes of an allocation behind a launch, in `memory`.
    Memory {
        /// The launch.
        launch: u64,
        /// The allocation.
        allocation: u64,
    },
}

/// How such a run went.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// How it ended, and what it wrote.
    pub tried: Tried,
    /// Launches that came to their end.
    pub launches: Vec<Launched>,
    /// Parts of the schedule that came to be done.
    pub done: Vec<Done>,
    /// What keeps its place whatever the schedule, with the reason, in the user's words.
    pub as_they_are: Vec<String>,
}

/// A launch that came to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launched {
    /// Its number, from 1.
    pub number: u64,
    /// The kernel.
    pub kernel: String,
    /// Blocks; clusters where there are any.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u64,
    /// Blocks that were at work at once.
    pub at_once: u64,
    /// `name=value;` for each argument; `name=@3+0` is a pointer into allocation 3.
    pub arguments: String,
    /// Allocations behind it, by number.
    pub memory: BTreeMap<u64, Contents>,
    /// Some events.
    pub points: Vec<Point>,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The block, and its thread.
    pub of: (u64, u64),
    /// Its number, of the events of that thread.
    pub event: u64,
    /// The site, counted over all files.
    pub site: usize,
    /// `write`, `update` or `read`.
    pub does: String,
}

/// What an allocation holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// Its bytes.
    pub bytes: u64,
    /// The name of a variable.
    pub name: String,
    /// A number for what it holds.
    pub digest: String,
}

/// A part of a schedule that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// `delayed` or `late`.
    pub word: String,
    /// The launch.
    pub launch: u64,
    /// The block, and its thread.
    pub of: (u64, u64),
    /// The event, of those of that thread.
    pub event: u64,
    /// The site of an access.
    pub site: Option<usize>,
    /// The line of a barrier.
    pub place: Option<(String, u32)>,
    /// The thread.
    pub thread: String,
    /// Its block.
    pub block: String,
}

/// Runs a program under a schedule, with nobody looking.
pub fn try_scheduled(program: &Program, trial: &ScheduledTrial<'_>, stop: Stop<'_>) -> Result<Scheduled, ExecuteError> {
    let mut command = unwatched(program, trial.arguments, &trial.directory);
    let file = |name: &str| trial.directory.join(name);
    for left in ["told", "memory", "run.trace"] {
        let _ = fs::remove_file(file(left));
    }
    command.env("RACEPROOF_SEED", "0").env("RACEPROOF_SCHEDULE", trial.schedule);
    command.env("RACEPROOF_SCHEDULE_TOLD", file("told"));
    for variable in ["RACEPROOF_SCHEDULE_POINTS", "RACEPROOF_SCHEDULE_DUMP", "RACEPROOF_COVER", "RACEPROOF_MUTANT"] {
        command.env_remove(variable);
    }
    match trial.wanted {
        Wanted::Nothing => {}
        Wanted::Points => {
            command.env("RACEPROOF_SCHEDULE_POINTS", "1");
        }
        Wanted::Log => {
            command.env("RACEPROOF_LOG", file("run.trace"));
        }
        Wanted::Memory { launch, allocation } => {
            let dump = format!("{launch}:{allocation}:{}", file("memory").display());
            command.env("RACEPROOF_SCHEDULE_DUMP", dump);
        }
    }
    let tried = observed(command, &trial.directory, trial.timeout, stop)?;
    let (launches, done) = told(&file("told"));
    Ok(Scheduled { tried, launches, done, as_they_are: Vec::new() })
}

/// What the runtime told. Lines that are cut off are left out.
fn told(path: &Path) -> (Vec<Launched>, Vec<Done>) {
    let bytes = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut launches: Vec<Launched> = Vec::new();
    let mut done = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
        let text = |at: usize| fields.get(at).map_or_else(String::new, |&field| field.to_owned());
        match fields.first() {
            Some(&"launch") if fields.len() > 7 => launches.push(Launched {
                number: number(1).unwrap_or(0),
                kernel: text(2),
                blocks: number(3).unwrap_or(0),
                threads: number(4).unwrap_or(0),
                at_once: number(6).unwrap_or(0),
                arguments: text(7),
                ..Launched::default()
            }),
            Some(&"memory") if fields.len() > 5 => {
                let contents = Contents { bytes: number(3).unwrap_or(0), name: text(4), digest: text(5) };
                if let (Some(launch), Some(id)) = (launches.last_mut(), number(2)) {
                    launch.memory.insert(id, contents);
                }
            }
            Some(&"point") => {
                let site = number(5).and_then(|site| usize::try_from(site).ok());
                if let (Some(launch), Some(event), Some(site)) = (launches.last_mut(), number(4), site) {
                    let of = (number(2).unwrap_or(0), number(3).unwrap_or(0));
                    launch.points.push(Point { of, event, site, does: text(6) });
                }
            }
            Some(&word @ ("delayed" | "late")) if fields.len() > 9 => {
                let line = u32::try_from(number(7).unwrap_or(0)).unwrap_or(0);
                done.push(Done {
                    word: word.to_owned(),
                    launch: number(1).unwrap_or(0),
                    of: (number(2).unwrap_or(0), number(3).unwrap_or(0)),
                    event: number(4).unwrap_or(0),
                    site: number(5).and_then(|site| usize::try_from(site).ok()),
                    place: (line > 0).then(|| (text(6), line)),
                    thread: text(8),
                    block: text(9),
                });
            }
            _ => {}
        }
    }
    (launches, done)
}
