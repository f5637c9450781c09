//! A log by address in several, each of which can be checked on a machine of its own, and back.
//!
//! - [`split`]: writes shards; [`balance`] puts the borders where each gets as many accesses.
//! - [`merge`]: writes the log whose shards they are.
//! - [`rows`]: the accesses of a chunk in canonical order.
//!
//! # What is guaranteed
//! - A shard is a complete log. It has all launches, blocks, sites, allocations and synchronisations of the whole, and the
//!   accesses that touch its bytes; its check finds the conflicts at these bytes. So the conflicts of a log are those of
//!   its shards together.
//! - Merged shards are the *canonical form* of the log: the same chunks in the same order, and in each of them the accesses
//!   of a block by syncs, thread, shape and offset. It does not depend on how many shards there were, and a log in
//!   canonical form comes back byte by byte. Its check says what that of the first log says.
//! - An incomplete log is not split, and shards are merged only if all are there and whole: nothing that is missing gets
//!   lost on the way.
//! - A file is there with all that it shall have, or not at all.
//! - Memory is bounded by a few chunks for each thread, however large the log is.
//!
//! Deliberately absent: which conflicts there are, and moving files between machines.

mod balance;
mod batch;
mod file;
mod merge;
mod rows;
mod split;
#[cfg(test)]
mod tests;

pub use merge::merge;
pub use split::{file_name, split};

use super::format::Problem;
use super::format::bytes::Malformed;
use super::format::chunk::HeadError;
use std::io;
use std::path::PathBuf;

/// Shards of one log: files that are open at once.
pub const MOST: u32 = 256;

/// What may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes of memory to stay within.
    pub memory: u64,
    /// Threads to use; `None` is one for each core.
    pub jobs: Option<usize>,
}

/// Why a log was not split, or shards were not merged.
#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    /// A file is no log.
    #[error("cannot read {path}: {reason}")]
    Head {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: HeadError,
    },
    /// A log is not complete.
    #[error("{path} is incomplete ({problem}); `raceproof trace check` checks what is whole of it")]
    Incomplete {
        /// The file.
        path: PathBuf,
        /// The first problem.
        problem: Problem,
    },
    /// What shall be split is a shard.
    #[error("{0} is a shard already: merge all of them first")]
    IsShard(PathBuf),
    /// What shall be merged is none.
    #[error("{0} is no shard: `raceproof trace split` writes these")]
    NoShard(PathBuf),
    /// Shards of two logs, or of one log that was split twice.
    #[error("{path} and {other} are shards of different logs, or of different splits of one")]
    Different {
        /// The one.
        path: PathBuf,
        /// The other.
        other: PathBuf,
    },
    /// One shard in two files.
    #[error("{path} and {other} are the same shard: leave one out")]
    Twice {
        /// The one.
        path: PathBuf,
        /// The other.
        other: PathBuf,
    },
    /// Not all shards are there.
    #[error("incomplete: of {of} shards number {numbers} is missing; name all of them")]
    Missing {
        /// Their numbers, from 1.
        numbers: String,
        /// How many there are.
        of: u32,
    },
    /// Shards that do not fit together.
    #[error("the shards do not fit together at chunk {0}: split the log again")]
    Unfit(u64),
    /// Accesses got lost.
    #[error("the shards have {found} accesses, and the log had {made}: split it again")]
    Lost {
        /// What is there.
        found: u64,
        /// What was there.
        made: u64,
    },
    /// A log changed while it was read.
    #[error("{0} changed while it was read; try again when the program has ended")]
    Changed(PathBuf),
    /// A result cannot be written.
    #[error("cannot write {path}: {reason}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: io::Error,
    },
    /// No threads.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// A chunk is not what it was when the log was read first.
struct Stale;

impl From<Malformed> for Stale {
    fn from(_: Malformed) -> Self {
        Stale
    }
}
