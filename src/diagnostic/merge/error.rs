//! Why shards do not become a report, and what to do about it.
//!
//! Deliberately absent: the name of the file that an error is about, which whoever reads it puts in front.

use thiserror::Error;

/// Why shards do not become a report.
#[derive(Debug, Error)]
pub enum MergeError {
    /// It is no JSON, or not of the form that is written.
    #[error("it is damaged: {0}; check that shard again")]
    Form(#[from] serde_json::Error),
    /// Something is missing that every shard has.
    #[error("it is damaged: there is no `{0}`; check that shard again")]
    Lacks(&'static str),
    /// Its parts contradict each other.
    #[error("it is damaged: {0}; check that shard again")]
    Differs(&'static str),
    /// It is JSON of something else.
    #[error("it is no report of raceproof; give what `check --shard` wrote with --format json or sarif")]
    NoReport,
    /// It is the report of a whole run.
    #[error("it is the report of a whole run, not of a shard; there is nothing to merge")]
    Whole,
    /// It is of a version that this one does not know.
    #[error("it is of {0}, which this raceproof cannot read; merge with the raceproof that checked")]
    Schema(String),
    /// The shard was interrupted.
    #[error("shard {number}/{of} was interrupted, and {unfinished} of its files were not checked; check it again")]
    Unfinished {
        /// Which one it is.
        number: usize,
        /// How many there are.
        of: usize,
        /// Files that were not checked.
        unfinished: usize,
    },
    /// Two formats.
    #[error("it is of another format than {0}; merge JSON with JSON and SARIF with SARIF")]
    Format(String),
    /// Another division.
    #[error("it is shard {number}/{of}, and {other} is one of {others}; merge the shards of one run")]
    Division {
        /// Which one it is.
        number: usize,
        /// Of how many.
        of: usize,
        /// The first shard.
        other: String,
        /// Of how many that is one.
        others: usize,
    },
    /// Another run.
    #[error("it is of another run than {other}: {what}; check all shards alike")]
    Run {
        /// The first shard.
        other: String,
        /// What differs.
        what: String,
    },
    /// One shard twice.
    #[error("it is shard {number}/{of}, as {other} is; give each shard once")]
    Twice {
        /// Which one it is.
        number: usize,
        /// Of how many.
        of: usize,
        /// The other one.
        other: String,
    },
    /// Some are not there.
    #[error("shard{} of {of} not given: {}; merge all shards of the run", if .missing.len() == 1 { "" } else { "s" }, listed(.missing))]
    Missing {
        /// The numbers of those that are not there.
        missing: Vec<usize>,
        /// How many there are.
        of: usize,
    },
}

fn listed(numbers: &[usize]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
