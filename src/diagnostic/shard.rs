//! What a shard of a run carries beside its part of the report, so that the shards of a run can be made one report again.
//!
//! Guarantees: what counts over the whole run (what is stated twice, which files are there, how the run ends) is either here
//! or follows from the parts, and [`Shard::positions`] says where each file stands in the whole.
//!
//! Deliberately absent: how shards become one report ([`merge`](super::merge)), how a run is divided (`cli/shard.rs`).

use super::statement::{Number, Statement};
use serde::{Deserialize, Serialize};

/// The version of what is written here.
pub const SCHEMA: &str = "raceproof.shard.v1";

/// A shard of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which one it is, from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// Files of the whole run.
    pub files: usize,
    /// Which of them are the files of this shard, in their order.
    pub positions: Vec<usize>,
    /// What all shards of one run have in common.
    pub run: Fingerprint,
    /// Files of the shard that were not checked, since it was interrupted.
    pub unfinished: usize,
    /// The exit code, findings aside.
    pub exit: u8,
    /// What there is to fail on, by the names of `--fail-on`.
    pub fails: Vec<String>,
    /// What went wrong outside of the source text, a line each.
    pub problems: Vec<String>,
    /// What was asked for and is not in this shard: an error where it is in no shard.
    pub unmatched: Vec<String>,
    /// What its findings state; files are numbered within the shard.
    pub statements: Vec<Statement>,
}

/// What all shards of one run have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The version of raceproof.
    pub version: String,
    /// Of the files: their paths and what is in them.
    pub inputs: String,
    /// Of the options.
    pub options: String,
    /// Which solver and which libclang there are.
    pub tools: String,
}

/// Where a result of SARIF belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The number of its file within the shard.
    pub file: usize,
    /// Its kernel in the file and its number there, if it is a finding.
    pub finding: Option<[usize; 2]>,
    /// Lines of its message that stand below what is said of kernels with the same.
    pub below: usize,
}

impl Shard {
    /// The number of a finding of this shard in the whole run, if its file is one of the shard.
    pub fn whole(&self, [file, kernel, finding]: Number) -> Option<Number> {
        Some([*self.positions.get(file)?, kernel, finding])
    }
}
