//! Definitions and uses in a log: which stores loads have read from, and how the two stood to each other ([`Way`]).
//!
//! A store that was the last to write a byte before a load reads it is a *definition* of that load, which is a *use*. An atomic
//! is a use, and then a definition. Bytes that the host has written since ([`HostWrite`]) have no definition, nor have those that
//! no kernel has written.
//!
//! # Who was the last
//! - Launches follow each other, and so do the parts of a cooperative launch between two barriers of the grid: they are gone
//!   through one after the other, whichever threads of the system ran them.
//! - Within a block the log of the CPU has the order in which things happened. That of an OpenCL device has, between two
//!   barriers, one work-item after the other: without a race, whoever reads has stored last itself, or nobody has.
//! - Between blocks nothing but atomics and fences orders what no barrier of the grid does. Blocks that ran one after the other
//!   stand so in the log. Where they ran beside each other and one reads what another has stored, the order of the log is taken
//!   for that of the run, and [`Outcome::problems`] says so.
//! - A load of what another thread has stored with nothing between that orders them has no last store by right: it is kept
//!   apart ([`Outcome::unordered`]). What orders is a barrier, a meeting of lanes that both are of, that both are atomics, or
//!   that the launch has fences and atomics with an order; whether these do in each case is for [`check`](super::check).
//!
//! # Memory
//! Last writers are kept by words of four bytes ([`cells`]). Where those of global memory do not fit, the log is read once for each
//! part of the address space: what is counted is bytes, which add up.
//!
//! Guarantees: the answer does not depend on the memory; equal logs give equal answers; property tests compare it with a
//! plain list of all accesses.
//!
//! Deliberately absent: what copies by the host hand on, and stores by which the host fills managed memory without a call.

mod cells;
#[cfg(test)]
mod tests;
mod walk;

use super::format::chunk::HeadError;
use super::format::{Log, read_log};
use crate::memory_model::ways::Way;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

/// Intervals of a site that are told one by one.
pub const MOST_INTERVALS: usize = 64;

/// The host has written memory of the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostWrite {
    /// How many launches had begun in the log.
    pub launches: u32,
    /// The allocation.
    pub allocation: u32,
    /// Its bytes.
    pub bytes: Range<u64>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The log without its accesses.
    pub log: Log,
    /// Accesses to shared and to global memory, by site.
    pub accesses: BTreeMap<u32, Accesses>,
    /// Bytes that came from the first site to the second, by way.
    pub pairs: BTreeMap<(u32, u32, Way), u64>,
    /// The same where nothing orders the two.
    pub unordered: BTreeMap<(u32, u32), u64>,
    /// What is not known, in words.
    pub problems: Vec<String>,
}

/// What a site did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// How often it read.
    pub reads: u64,
    /// How often it wrote; an atomic does both.
    pub writes: u64,
    /// In each interval of blocks: by how many barriers of the block stand before it.
    pub intervals: BTreeMap<u32, Interval>,
    /// All later ones together.
    pub further: Interval,
}

/// Intervals of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Accesses, by all threads.
    pub times: u64,
    /// Blocks, each for itself in each launch, in which one thread made them.
    pub by_one: u64,
    /// Those in which several did.
    pub by_several: u64,
}

/// Why a log was not gone through.
#[derive(Debug, thiserror::Error)]
pub enum PairsError {
    /// It is no log.
    #[error(transparent)]
    Head(#[from] HeadError),
    /// It cannot be read any more.
    #[error("cannot read the log: {0}")]
    Read(#[from] io::Error),
    /// It is another one than at first.
    #[error("the log changed while it was read")]
    Changed,
}

/// Goes through the log at `path`. Last writers in global memory take `memory` bytes at most.
pub fn pairs(path: &Path, host: &[HostWrite], memory: u64) -> Result<Outcome, PairsError> {
    let log = read_log(File::open(path).map_err(HeadError::Io)?)?;
    let mut outcome = Outcome::default();
    let places = cells::Places::of(&log);
    let mut open = vec![0..places.end().max(1)];
    while let Some(window) = open.pop() {
        let is_smallest = window.end - window.start <= cells::PAGE;
        let limit = if is_smallest { u64::MAX } else { memory };
        match walk::walk(path, &log, host, &places.within(window.clone(), limit))? {
            Some(found) => outcome.join(found),
            None => {
                let middle = window.start + (window.end - window.start) / 2;
                open.extend([middle..window.end, window.start..middle]);
            }
        }
    }
    outcome.problems.extend(log.problems.iter().map(ToString::to_string));
    outcome.problems.sort();
    outcome.problems.dedup();
    outcome.log = log;
    Ok(outcome)
}

impl Outcome {
    /// Adds what was found in another part of the address space.
    fn join(&mut self, other: Outcome) {
        for (pair, bytes) in other.pairs {
            *self.pairs.entry(pair).or_default() += bytes;
        }
        for (pair, bytes) in other.unordered {
            *self.unordered.entry(pair).or_default() += bytes;
        }
        // One part alone counts them.
        self.accesses.extend(other.accesses);
        self.problems.extend(other.problems);
    }
}

impl Accesses {
    /// In how many intervals it was, each block of each launch for itself.
    pub fn distinct(&self) -> u64 {
        let all = self.intervals.values().chain([&self.further]);
        all.map(|interval| interval.by_one + interval.by_several).sum()
    }

    fn add(&mut self, barriers: u32, seen: Interval) {
        let room = self.intervals.len() < MOST_INTERVALS || self.intervals.contains_key(&barriers);
        let known = if room { self.intervals.entry(barriers).or_default() } else { &mut self.further };
        known.join(seen);
    }
}

impl Interval {
    fn join(&mut self, other: Interval) {
        self.times += other.times;
        self.by_one += other.by_one;
        self.by_several += other.by_several;
    }
}
