//! What of a launch must be looked at.

use crate::memory_model::{self, Level, Space};
use crate::trace::format::log::ChunkPlace;
use crate::trace::format::{self, Launch, Log};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// A launch that may have conflicts.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) id: u32,
    pub(super) launch: &'a Launch,
    pub(super) accesses: u64,
    /// The written parts of allocations, one behind the other in a space of their own.
    pub(super) watched: Vec<Watched>,
    /// Positions in `watched`, by allocation.
    pub(super) by_allocation: FxHashMap<u32, usize>,
    /// Chunks that must be read one after the other, since blocks go on from one to the next.
    pub(super) chains: Vec<Vec<ChunkPlace>>,
}

/// The written part of an allocation; of a shard, what of that part it has.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    pub(super) allocation: u32,
    pub(super) space: Space,
    /// All bytes lie here that the launch writes, and that conflicts are looked for at.
    pub(super) written: Range<u64>,
    /// Where the first of them lies in the space of the plan. Between two allocations there is so much room
    /// that no access reaches from one into the next.
    pub(super) base: u64,
}

impl Watched {
    /// The place of an offset in the space of the plan.
    pub(super) fn place(&self, offset: u64) -> u64 {
        self.base.wrapping_add(offset.wrapping_sub(self.written.start))
    }

    /// The offset at a place.
    pub(super) fn offset(&self, place: u64) -> u64 {
        place.wrapping_sub(self.base).wrapping_add(self.written.start)
    }

    /// Its places. An access that touches them may begin before and end behind them.
    pub(super) fn places(&self) -> Range<u64> {
        self.base..self.base + (self.written.end - self.written.start)
    }

    /// Whether threads of two blocks may meet here.
    pub(super) fn is_common(&self) -> bool {
        memory_model::may_meet(self.space, Level::Grid)
    }
}

impl Plan<'_> {
    /// The places of the plan.
    pub(super) fn places(&self) -> Range<u64> {
        // No access is so long that it begins before place 0; the room behind the last allocation is not needed.
        0..self.watched.last().map_or(0, |last| last.places().end)
    }

    /// The allocation at a place that lies in one.
    pub(super) fn watched_at(&self, place: u64) -> &Watched {
        let at = self.watched.partition_point(|watched| watched.base <= place);
        &self.watched[at.max(1) - 1]
    }

    /// The places of `window` in the allocation that accesses touch which reach up to `end` at most: conflicts elsewhere are
    /// those of another shard.
    pub(super) fn within(&self, window: &Range<u64>, end: u64) -> Range<u64> {
        let places = self.watched_at(end - 1).places();
        window.start.max(places.start)..window.end.min(places.end)
    }

    /// Whether blocks may conflict with each other.
    pub(super) fn has_blocks_that_meet(&self) -> bool {
        self.launch.blocks() > 1 && self.watched.iter().any(Watched::is_common)
    }

    /// Whether threads of a block may conflict.
    pub(super) fn has_threads_that_meet(&self) -> bool {
        self.launch.threads() > 1
    }
}

/// The plans of all launches that write what several threads may touch.
pub(super) fn plans(log: &Log) -> Vec<Plan<'_>> {
    let mut chunks: BTreeMap<u32, Vec<ChunkPlace>> = BTreeMap::new();
    for chunk in &log.chunks {
        chunks.entry(chunk.launch).or_default().push(*chunk);
    }
    let plans = chunks.into_iter().filter_map(|(id, chunks)| {
        let watched = watched(log, id);
        let accesses = chunks.iter().map(|chunk| chunk.accesses).sum();
        let by_allocation = (0..).zip(&watched).map(|(at, watched)| (watched.allocation, at)).collect();
        let plan = Plan { id, launch: &log.launches[&id], accesses, by_allocation, chains: chains(chunks), watched };
        let is_needed = plan.has_threads_that_meet() || plan.has_blocks_that_meet();
        (is_needed && !plan.watched.is_empty()).then_some(plan)
    });
    plans.collect()
}

fn watched(log: &Log, launch: u32) -> Vec<Watched> {
    let uses = log.uses.range((launch, 0)..=(launch, u32::MAX));
    let room = uses.clone().map(|(_, used)| u64::from(used.largest)).max().unwrap_or(0);
    let mut base = room;
    let mut watched = Vec::new();
    for (&(_, allocation), used) in uses {
        let (Some(written), Some(told)) = (&used.written, log.allocations.get(&allocation)) else { continue };
        let space = space(told.space);
        let written = match &log.shard {
            Some(shard) => clipped(written, &shard.range(allocation)),
            None => written.clone(),
        };
        if memory_model::may_meet(space, Level::Block) && !written.is_empty() {
            let bytes = written.end - written.start;
            watched.push(Watched { allocation, space, written, base });
            base += bytes + 2 * room;
        }
    }
    watched
}

fn clipped(range: &Range<u64>, to: &Range<u64>) -> Range<u64> {
    range.start.max(to.start)..range.end.min(to.end)
}

fn space(space: format::Space) -> Space {
    match space {
        // Which blocks reach it is the program's business: whoever touched it is in its cluster.
        format::Space::Global | format::Space::Managed | format::Space::Distributed => Space::Global,
        format::Space::Constant => Space::Constant,
        format::Space::Shared => Space::Shared,
    }
}

fn chains(mut chunks: Vec<ChunkPlace>) -> Vec<Vec<ChunkPlace>> {
    chunks.sort_by_key(|chunk| (chunk.stream, chunk.part));
    let mut chains: Vec<Vec<ChunkPlace>> = Vec::new();
    for chunk in chunks {
        match chains.last_mut() {
            Some(chain) if chunk.continued.is_some() && follows(chain, &chunk) => chain.push(chunk),
            _ => chains.push(vec![chunk]),
        }
    }
    chains
}

fn follows(chain: &[ChunkPlace], chunk: &ChunkPlace) -> bool {
    // A part that was lost in between does not keep the others from being compared with each other.
    chain.last().is_some_and(|last| last.stream == chunk.stream)
}
