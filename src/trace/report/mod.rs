//! What a check of a log found, in the words and places of the user's source.
//!
//! - [`findings`]: conflicts as findings of the rule `data-race`; what was seen happened, so they are proved for the run.
//! - [`text`]: for people; [`json`]: the versioned contract `raceproof.trace.v1`.
//!
//! A log without conflicts says so only if it is complete; otherwise the verdict is partial, with what is missing.
//!
//! Deliberately absent: which accesses conflict ([`super::check`]).

pub mod findings;
pub mod json;
pub mod text;

use super::check::Outcome;
use super::format::Log;

/// What a log shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There are conflicts.
    Racy,
    /// There is none, and the log is complete.
    NoConflict,
    /// There is none in what is whole of the log.
    Partial,
}

impl Verdict {
    /// The verdict of a check.
    pub fn of(outcome: &Outcome) -> Verdict {
        match (outcome.conflicts.is_empty(), outcome.log.problems.is_empty()) {
            (false, _) => Verdict::Racy,
            (true, true) => Verdict::NoConflict,
            (true, false) => Verdict::Partial,
        }
    }

    /// The word that programs see.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Racy => "racy",
            Verdict::NoConflict => "no-conflict",
            Verdict::Partial => "partial",
        }
    }
}

/// Accesses in the whole chunks of a log.
pub fn accesses(log: &Log) -> u64 {
    log.chunks.iter().map(|chunk| chunk.accesses).sum()
}

/// `1 launch`, `2 launches`.
fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
