//! Where a log is cut, so that every shard gets about as many accesses.
//!
//! Accesses are counted by stretches of a power of two bytes. Stretches begin at multiples of their length, which is
//! [`LEAST`] or more, so that few accesses reach over a border.

use super::Stale;
use crate::trace::format::accesses::{Begins, Visitor};
use crate::trace::format::bytes::Malformed;
use crate::trace::format::shard::Border;
use crate::trace::format::{AccessesHead, Log, Run, Shape};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Stretches are counted by so many numbers at most, or one for each allocation.
const COUNTS: u64 = 1 << 20;
/// Bytes of the shortest stretch: nearly all accesses are as long at most, and begin at multiples of their length.
const LEAST: u64 = 16;

/// The accesses to an allocation, by stretches.
struct Counts {
    first: u64,
    width: u32,
    counts: Vec<AtomicU64>,
}

/// The accesses of a log by where they begin.
pub(super) struct Balance {
    allocations: BTreeMap<u32, Counts>,
}

impl Balance {
    /// Nothing counted yet, for the accesses of this log.
    pub(super) fn new(log: &Log) -> Self {
        let mut hulls: BTreeMap<u32, Range<u64>> = BTreeMap::new();
        for (&(_, allocation), used) in &log.uses {
            for range in [&used.read, &used.written].into_iter().flatten() {
                let hull = hulls.entry(allocation).or_insert_with(|| range.clone());
                *hull = hull.start.min(range.start)..hull.end.max(range.end);
            }
        }
        let most = (COUNTS / (hulls.len() as u64).max(1)).max(1);
        Balance { allocations: hulls.into_iter().map(|(id, hull)| (id, Counts::over(&hull, most))).collect() }
    }

    /// Counts the accesses of a chunk.
    pub(super) fn count(&self, payload: &[u8]) -> Result<(), Stale> {
        let (head, steps) = AccessesHead::read(payload)?;
        let counts = |shape: &Shape| self.allocations.get(&shape.allocation).ok_or(Stale);
        let of_shapes = head.shapes.iter().map(counts).collect::<Result<Vec<_>, Stale>>();
        head.visit(steps, &mut Counting { of_shapes: of_shapes? })?;
        Ok(())
    }

    /// Borders between so many shards.
    pub(super) fn borders(self, shards: u32) -> Vec<Border> {
        let counts = |counts: &Counts| counts.counts.iter().map(|count| count.load(Ordering::Relaxed)).sum::<u64>();
        let all: u64 = self.allocations.values().map(counts).sum();
        let target = |border: usize| u128::from(all) * (border as u128 + 1) / u128::from(shards);
        let mut borders: Vec<Border> = Vec::new();
        let mut before = 0u128;
        for (id, counts) in self.allocations {
            for (at, count) in (1u64..).zip(counts.counts) {
                before += u128::from(count.into_inner());
                while borders.len() + 1 < shards as usize && before >= target(borders.len()) {
                    borders.push((id, (counts.first + at) << counts.width));
                }
            }
        }
        // Without accesses there is nothing to share out.
        borders.resize(shards as usize - 1, (u32::MAX, u64::MAX));
        borders
    }
}

impl Counts {
    /// At most so many stretches over a range.
    fn over(hull: &Range<u64>, most: u64) -> Self {
        let mut width = LEAST.ilog2();
        while (hull.end >> width) - (hull.start >> width) >= most {
            width += 1;
        }
        let first = hull.start >> width;
        let stretches = (hull.end >> width) - first + 1;
        Counts { first, width, counts: (0..stretches).map(|_| AtomicU64::new(0)).collect() }
    }
}

struct Counting<'a> {
    of_shapes: Vec<&'a Counts>,
}

impl Visitor for Counting<'_> {
    fn block(&mut self, _: u64, _: Begins) -> Result<(), Malformed> {
        Ok(())
    }

    fn run(&mut self, run: &Run<'_>) -> Result<(), Malformed> {
        for ((&shape, &offset), &stride) in run.shapes.iter().zip(run.offsets).zip(run.strides) {
            let Counts { first, width, counts } = self.of_shapes[shape as usize];
            for number in 0..run.count {
                let offset = offset.wrapping_add(stride.wrapping_mul(number));
                let at = (offset >> width).wrapping_sub(*first);
                let count = counts.get(at as usize).ok_or(Malformed("the log has changed"))?;
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}
