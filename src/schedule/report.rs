//! What was tried, and what was found.

use super::chosen::Kind;
use crate::source::Language;
use serde::Serialize;

/// The version of the JSON form.
pub const SCHEMA: &str = "raceproof-schedule/1";

/// All that is told of a campaign of schedules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Whose words text for people has.
    #[serde(skip)]
    pub language: Language,
    /// How many schedules were tried beside the baseline.
    pub schedules: usize,
    /// How many of each kind.
    pub tried: Vec<Tried>,
    /// Launches of the baseline.
    pub launches: usize,
    /// Whether memory is compared, too.
    pub compares_memory: bool,
    /// What differs, and what is stuck.
    pub findings: Vec<Finding>,
    /// Schedules that were ended because they took too long. They are slow: nobody was shown to be stuck.
    pub slow: Vec<String>,
    /// Schedules that this back end cannot keep to, with the reason.
    pub refused: Vec<Refused>,
}

/// How many schedules of a kind were tried, and how many of them gave something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// The kind.
    pub kind: Kind,
    /// How many.
    pub schedules: usize,
    /// How many differ from the baseline, or are stuck.
    pub differ: usize,
}

/// A schedule that was not kept to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Which.
    pub schedule: String,
    /// Why.
    pub reason: String,
}

/// What a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A result depends on the schedule.
    Difference,
    /// Nobody can go on.
    Deadlock,
    /// Threads of a block wait at different barriers, or some never come to one.
    Divergence,
}

impl What {
    /// The word that programs see.
    pub fn name(self) -> &'static str {
        match self {
            What::Difference => "difference",
            What::Deadlock => "deadlock",
            What::Divergence => "divergence",
        }
    }
}

/// A schedule under which the program does something else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    pub what: What,
    /// The kernel, as far as it is known.
    pub kernel: String,
    /// The smallest schedule that shows it, for `--replay`.
    pub schedule: String,
    /// The one that it is held against, which has a part less and does not show it.
    pub against: String,
    /// Whether no part of the schedule can be left out.
    pub is_minimal: bool,
    /// The schedule by which it was found.
    pub found_by: String,
    /// How many of the schedules that were tried show such a thing.
    pub shown_by: usize,
    /// What differs, one line each; the first is the most telling.
    pub differs: Vec<String>,
    /// What the schedule does, one line each.
    pub changes: Vec<Change>,
    /// Who waits for whom.
    pub waits: Vec<Wait>,
    /// Accesses that conflict in the same run; for OpenCL, in one in the driver's order.
    pub conflicts: Vec<Conflict>,
    /// Why no log says which do, if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unlogged: Option<String>,
}

/// What a part of a schedule does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The part.
    pub part: String,
    /// `path:line:column`, where it is known.
    pub place: Option<String>,
    /// In words.
    pub text: String,
}

/// Threads that are stuck.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Wait {
    /// Where, if it is known.
    pub place: Option<String>,
    /// Who waits for what.
    pub text: String,
}

/// Two accesses that conflict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// What they have in common.
    pub text: String,
    /// Both, with place, thread and block.
    pub accesses: [Access; 2],
}

/// An access of a conflict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Access {
    /// `path:line:column`.
    pub place: String,
    /// `write`, `read`, `atomic`.
    pub does: String,
    /// The thread in its block.
    pub thread: [u32; 3],
    /// The block.
    pub block: [u32; 3],
}
