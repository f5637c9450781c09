//! Which stores of a kernel may reach which of its loads, and in which ways ([`Way`]): what a test could show.
//!
//! [`reaching`] looks at a protocol. A store and a load, or an atomic, of one array make a pair; a way of a pair is left out
//! where it is impossible for a reason that can be told:
//!
//! - *order* ([`graph`]): no path leads from the store to the load, or none without a barrier, or none with one; a store of the
//!   same thread to the same place lies on each of them, so that it is the last one;
//! - *place* ([`apart`]): the addresses of one thread differ by a constant, or those of two threads are never the same, by the
//!   rules of [`prove`](crate::prove);
//! - *memory*: no other block and no other launch knows what a block shares; blocks of one launch hand over by barriers of the
//!   grid, by atomics, and by fences.
//!
//! Guarantees: each pair that a run without a race shows of what the protocol has is there, but for those that the limits leave
//! out, which [`Reaching::is_cut`] says.
//!
//! Deliberately absent: data. That a branch is never taken, or that an index which was read never hits, is not known: such
//! pairs stay, and can be missed. Pairs between kernels are for whoever knows what they are given: here stands which stores may
//! be the last ([`Reaching::leaving`]), and which loads may be the first ([`Reaching::entering`]).

mod apart;
mod graph;
#[cfg(test)]
mod tests;
mod turns;

use crate::calculus::{Kernel, MemoryOrder, Space, SyncMemory, SyncScope};
use crate::memory_model::ways::Way;
use crate::memory_model::{self, AccessKind, Level};
use crate::protocol::{Access, AccessId, Protocol};
use crate::work;
use apart::Apart;
use graph::{Graph, Passed};
use std::collections::BTreeSet;

/// More accesses of one kernel are not paired: what it takes grows with their square.
const MOST_ACCESSES: usize = 400;
/// Units of work for a kernel's addresses.
const UNITS: u64 = 8_000_000;

/// What may reach what, in one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reaching {
    /// Pairs of one launch, by store and load.
    pub pairs: BTreeSet<(AccessId, AccessId, Way)>,
    /// Stores to memory that outlives the launch that may be the last of it.
    pub leaving: Vec<AccessId>,
    /// Loads from such memory that may find what was there before the launch.
    pub entering: Vec<AccessId>,
    /// Whether there are too many accesses to look at.
    pub is_cut: bool,
}

/// The pairs of a kernel, in launches with blocks of these extents, as far as they are known.
pub fn reaching(kernel: &Kernel, protocol: &Protocol, block: [Option<u32>; 3]) -> Reaching {
    let space = |access: &Access| protocol.arrays[access.array].space;
    let shared = |space: Space| matches!(space, Space::Shared | Space::Distributed | Space::Global);
    let all: Vec<AccessId> =
        protocol.accesses.iter().filter(|(_, access)| shared(space(access))).map(|(id, _)| id).collect();
    if all.len() > MOST_ACCESSES {
        return Reaching { is_cut: true, ..Reaching::default() };
    }
    let room = Room {
        protocol,
        graph: Graph::of(protocol),
        apart: Apart::of(kernel, protocol, block),
        hands_over: hands_over(protocol),
    };
    let mut found = Reaching::default();
    work::within(UNITS, || {
        for &store in all.iter().filter(|id| protocol.accesses[**id].kind.writes()) {
            let of_array = |id: &&AccessId| protocol.accesses[**id].array == protocol.accesses[store].array;
            for &load in all.iter().filter(of_array).filter(|id| reads(protocol.accesses[**id].kind)) {
                found.pairs.extend(room.ways(store, load).into_iter().map(|way| (store, load, way)));
            }
        }
    });
    let lasts = |id: &AccessId| space(&protocol.accesses[*id]) == Space::Global;
    for id in all.into_iter().filter(lasts) {
        let kind = protocol.accesses[id].kind;
        if kind.writes() && room.graph.reaches_end(id, &room.killers_behind(id)) {
            found.leaving.push(id);
        }
        if reads(kind) && room.graph.is_reached_from_start(id, &room.killers_before(id)) {
            found.entering.push(id);
        }
    }
    found
}

/// Whether an access reads: an atomic does, whatever becomes of what it finds.
fn reads(kind: AccessKind) -> bool {
    !matches!(kind, AccessKind::Write)
}

/// Whether threads of a kernel hand over by fences, by atomics with an order, or by locks.
fn hands_over(protocol: &Protocol) -> bool {
    let by_order = |access: &Access| match access.kind {
        AccessKind::Atomic { order, .. } => order != MemoryOrder::Relaxed || access.lock.is_some(),
        _ => false,
    };
    !protocol.fences.is_empty() || protocol.accesses.iter().any(|(_, access)| by_order(access))
}

/// What is known while a kernel's pairs are looked at.
struct Room<'a> {
    protocol: &'a Protocol,
    graph: Graph,
    apart: Apart<'a>,
    hands_over: bool,
}

impl Room<'_> {
    /// The ways in which a load may read what a store leaves, within a launch.
    fn ways(&self, store: AccessId, load: AccessId) -> Vec<Way> {
        let (first, second) = (&self.protocol.accesses[store], &self.protocol.accesses[load]);
        let space = self.protocol.arrays[first.array].space;
        let orders = |scope: SyncScope, memory: SyncMemory| {
            // A library's barrier may order more than it promises.
            let memory = if memory.library { SyncMemory::BOTH } else { memory };
            let orders = |level| memory_model::orders(scope, memory, space, level);
            Passed { warp: orders(Level::Warp), block: orders(Level::Block), grid: orders(Level::Cluster) }
        };
        let mut killers = self.killers_behind(store);
        killers.extend(self.killers_before(load).into_iter().filter(|&id| id != store));
        let paths = self.graph.paths(store, load, &killers, &orders);
        let both_are_atomic =
            [first, second].into_iter().all(|access| matches!(access.kind, AccessKind::Atomic { .. }));
        let mut ways = Vec::new();
        if !paths.is_empty() && !self.apart.in_one_thread(store, load) {
            let without_barrier = paths.iter().any(|passed| !passed.block);
            let with_barrier = paths.iter().any(|passed| passed.block);
            ways.extend(without_barrier.then_some(Way::Own));
            ways.extend(with_barrier.then_some(Way::OwnAcrossBarrier));
        }
        let by_order = paths.iter().any(|passed| passed.block || passed.warp);
        let in_one_interval = || {
            let back = self.graph.paths(load, store, &BTreeSet::new(), &orders);
            !paths.is_empty() || back.is_empty() || back.iter().any(|passed| !passed.block)
        };
        let is_handed = by_order || self.hands_over || both_are_atomic && in_one_interval();
        if is_handed && !self.apart.at_level(store, load, Level::Block) {
            ways.push(Way::HandedOver);
        }
        let by_grid = paths.iter().any(|passed| passed.grid);
        let is_handed = by_grid || self.hands_over || both_are_atomic;
        if space != Space::Shared && is_handed && !self.apart.at_level(store, load, Level::Grid) {
            ways.push(Way::BetweenBlocks);
        }
        ways
    }

    /// Stores behind one to the same place, which its thread makes if it comes to them.
    fn killers_behind(&self, store: AccessId) -> BTreeSet<AccessId> {
        self.killers(store, |killer| killer > store)
    }

    /// Stores before a load to the same place.
    fn killers_before(&self, load: AccessId) -> BTreeSet<AccessId> {
        self.killers(load, |killer| killer < load)
    }

    fn killers(&self, of: AccessId, stands: impl Fn(AccessId) -> bool) -> BTreeSet<AccessId> {
        let wanted = &self.protocol.accesses[of];
        let kills = |(id, access): (AccessId, &Access)| {
            let is_at_place = access.kind == AccessKind::Write
                && id != of
                && (access.array, access.offset) == (wanted.array, wanted.offset)
                && access.bytes >= wanted.bytes
                && access.reasons.is_empty();
            // Where the place is another one in each turn, the two have to be of one turn.
            let in_one_turn = || {
                stands(id)
                    && wanted.loops.starts_with(&access.loops)
                    && access.guards.iter().all(|guard| wanted.guards.contains(guard))
            };
            (is_at_place && (self.apart.is_invariant(wanted.offset) || in_one_turn())).then_some(id)
        };
        self.protocol.accesses.iter().filter_map(kills).collect()
    }
}
