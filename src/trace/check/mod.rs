//! The check of a log: which accesses conflict, by the table of [`crate::memory_model`].
//!
//! A pair of accesses of distinct threads of one launch is a conflict if both touch a common byte, one of them
//! writes, they are not atomic towards each other, no sync stands between them, and no fences and atomics hand over from
//! one to the other. Launches follow each other.
//! Conflicts are told once for each pair of sites and for threads of one block or of several, with the first
//! witness (lowest launch, allocation, byte, then threads) and the number of bytes at which they were seen
//! (each byte once for each launch, for each block and interval if the threads are of one block, for each
//! interval of the grid if not).
//!
//! # How a log is checked that is larger than memory
//! - [`plan`]: bytes that a launch does not write are no concern; most reads end here, run by run.
//! - [`collect`]: every block is looked at alone, interval after interval; its accesses in an interval are
//!   sorted by address ([`sweep`]) and swept once ([`cell`]). An interval that does not fit into memory is
//!   looked at in slices of the address space, for each of which the chunks of the block are read again.
//! - [`span`]: what a block does to global memory is reduced to one access of each kind and site for each
//!   place, and neighbouring places to spans. [`partition`] keeps them by address, on disk if there are too many,
//!   in [`frame`]s of few bytes a span.
//! - [`grid`]: every partition is sorted and swept for conflicts between blocks.
//! - [`ordered`]: a launch that has conflicts, and synchronisations in the log, is swept once more, with what those order
//!   ([`order`]). Launches without pay nothing for it.
//!
//! # What is guaranteed
//! - What is found is what the definition gives, whatever the memory and the number of threads; property tests
//!   compare it with every pair of accesses of small logs. Of a launch with synchronisations every byte with a conflict is
//!   found, and the accesses nearest to each other are told.
//! - Of an incomplete log everything whole is checked; [`Outcome::log`] says what is missing.
//!
//! Deliberately absent: how conflicts are told to users (`report`).

mod budget;
mod cell;
mod collect;
mod found;
mod frame;
mod grid;
mod intervals;
mod order;
mod ordered;
#[cfg(test)]
mod ordered_tests;
mod partition;
mod plan;
mod span;
mod sweep;
#[cfg(test)]
mod tests;
mod tiles;

pub use found::{Conflict, Observed, Witness};

use super::format::chunk::HeadError;
use super::format::{Log, read_log};
use crate::memory_model::clocks::Receiving;
use budget::Budget;
use found::Found;
use plan::Plan;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;

/// Memory below which nothing sensible can be done.
pub const LEAST_MEMORY: u64 = 64 << 20;

/// How a log is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes of memory to stay within.
    pub memory: u64,
    /// Threads to use; `None` is one for each core.
    pub jobs: Option<usize>,
    /// Whether an atomic needs an order or a fence to see what it is handed.
    pub receiving: Receiving,
}

impl Default for Options {
    fn default() -> Self {
        Options { memory: 512 << 20, jobs: None, receiving: Receiving::InOrder }
    }
}

/// What a check found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The log without its accesses; [`Log::problems`] says whether it was whole.
    pub log: Log,
    /// The conflicts, sorted by their sites, those within blocks first.
    pub conflicts: Vec<Conflict>,
    /// All launches in which one was seen: a pair of lines is told once, with its first witness.
    pub racy: BTreeSet<u32>,
}

/// Why a log was not checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It is no log.
    #[error(transparent)]
    Head(#[from] HeadError),
    /// It cannot be read any more.
    #[error("cannot read the log: {0}")]
    Read(io::Error),
    /// It is another one than at first.
    #[error("the log changed while it was checked; check it again when the program has ended")]
    Changed,
    /// What fences and atomics order cannot be kept.
    #[error(
        "launch {launch} has conflicts, and what its {found} fences, atomics and barriers order needs more memory; allow --memory {needed}M or more"
    )]
    Memory {
        /// How many there are.
        found: u64,
        /// Megabytes.
        needed: u64,
        /// The launch.
        launch: u32,
    },
    /// What does not fit into memory cannot be put on disk.
    #[error("cannot write a temporary file ({0}); set TMPDIR to a directory with room, or allow more --memory")]
    Temporary(io::Error),
    /// No threads.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// Checks the log at `path`.
pub fn check(path: &Path, options: &Options) -> Result<Outcome, CheckError> {
    let budget = Budget::new(options);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(budget.jobs).build()?;
    pool.install(|| {
        let log = read_log(File::open(path).map_err(HeadError::Io)?)?;
        let (conflicts, racy) = conflicts(&log, path, &budget, options.receiving)?;
        Ok(Outcome { log, conflicts, racy })
    })
}

/// What every part of a check needs.
struct Checking<'a> {
    file: Mutex<File>,
    budget: &'a Budget,
    log: &'a Log,
    receiving: Receiving,
}

fn conflicts(
    log: &Log,
    path: &Path,
    budget: &Budget,
    receiving: Receiving,
) -> Result<(Vec<Conflict>, BTreeSet<u32>), CheckError> {
    let file = File::open(path).map_err(CheckError::Read)?;
    let checking = Checking { file: Mutex::new(file), budget, log, receiving };
    let plans = plan::plans(log);
    let (small, large): (Vec<&Plan>, Vec<&Plan>) =
        plans.iter().partition(|plan| plan.accesses <= budget.small_launch());
    let small = small.par_iter().map(|plan| launch(&checking, plan)).try_reduce(Found::default, Found::joined)?;
    let mut found = small;
    for plan in large {
        found.join(launch(&checking, plan)?);
    }
    Ok(found.conflicts())
}

/// Checks one launch.
fn launch(checking: &Checking<'_>, plan: &Plan<'_>) -> Result<Found, CheckError> {
    found_in(checking, plan).map(|found| found.in_launch(plan.id))
}

/// What is found in it.
fn found_in(checking: &Checking<'_>, plan: &Plan<'_>) -> Result<Found, CheckError> {
    let partitions = partition::Partitions::new(plan, checking.budget);
    let within = plan
        .chains
        .par_iter()
        .map(|chain| collect::chain(checking, plan, chain, &partitions))
        .try_reduce(Found::default, Found::joined)?;
    let between = grid::sweep_all(plan, partitions, checking.budget)?;
    let found = Found::joined(within, between)?;
    if found.is_empty() {
        return Ok(found);
    }
    match order::order(checking, plan.id)? {
        Some(order) => ordered::launch(checking, plan, &order),
        None => Ok(found),
    }
}
