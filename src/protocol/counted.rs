//! What a counter of a block holds after its threads have drawn: COUNTED.
//!
//! `if (threadIdx.x == 0) count = 0; __syncthreads(); at = atomicAdd(&count, 1); __syncthreads(); total = count;`: what
//! is drawn is no less than what the counter was set to, and what is read behind the draws is more than every number
//! drawn. So it is for a shared variable that only plain stores and additions of positive constants change, if
//! - every access to it is to the same cell, in the same loops, which all threads of the block turn equally often;
//! - the last store before the access, in program order, is made in every block: by the thread (0, 0, 0) as
//!   [`handed`](super::handed) says.
//!
//! Then between that store and the access of the same turn only additions change the cell: order the steps of a run by
//! (turn of the outermost loop, place in it, …). Barriers that all threads pass together keep that order between threads,
//! and what nothing orders is a race of its own at this cell. By induction over time, what is used of the first race of
//! a run lies before it. That the counter does not wrap is for the user of this to assume.
//!
//! *Trap.* A store that only some blocks make; a read between two draws, which says nothing of the second; a reset between
//! a draw and the read.
//!
//! Deliberately absent: arrays of counters, and counters in loops of their own.

use super::uniform::Uniformity;
use super::{Access, AccessId, OpaqueId, Origin, Protocol, Step, handed};
use crate::calculus::{ArrayId, ExprId, SiteId, Space};
use crate::memory_model::{AccessKind, Level};
use rustc_hash::{FxHashMap, FxHashSet};

/// Notes of every value that was drawn or read from a counter of a block which store it was counted from.
pub(super) fn mark(protocol: &mut Protocol) {
    let counters = counters(protocol);
    if counters.is_empty() {
        return;
    }
    let uniformity = Uniformity::of(protocol, Level::Block);
    let ids: Vec<OpaqueId> = protocol.opaques.handles().collect();
    for id in ids {
        let &(Origin::Read { array, site, .. } | Origin::Atomic { array, site, .. }) = &protocol.opaques[id].origin
        else {
            continue;
        };
        if counters.contains(&array) {
            protocol.opaques[id].counted = store_before(protocol, &uniformity, id, (array, site));
        }
    }
}

impl Protocol {
    /// What a number that was counted from a store is no less than.
    pub fn least(&self, counted: AccessId) -> Option<i128> {
        self.accesses[counted].value.and_then(|value| self.exprs.as_int(value))
    }
}

/// The variables of blocks that plain stores set, and that atomics add positive constants to.
fn counters(protocol: &Protocol) -> FxHashSet<ArrayId> {
    let mut drawn: FxHashSet<SiteId> = FxHashSet::default();
    let mut counters: FxHashSet<ArrayId> = FxHashSet::default();
    for (_, opaque) in protocol.opaques.iter() {
        if let Origin::Atomic { array, site, ticket: Some(ticket), .. } = opaque.origin
            && matches!(ticket.step, Step::Constant(step) if step > 0)
            && protocol.arrays[array].space == Space::Shared
        {
            drawn.insert(site);
            counters.insert(array);
        }
    }
    let mut cells: FxHashMap<ArrayId, (ExprId, u32)> = FxHashMap::default();
    for (_, access) in
        protocol.accesses.iter().filter(|(_, access)| counters.contains(&access.array)).collect::<Vec<_>>()
    {
        let cell = (access.offset, access.bytes);
        let is_its =
            *cells.entry(access.array).or_insert(cell) == cell && protocol.exprs.as_int(access.offset).is_some();
        let counts = !matches!(access.kind, AccessKind::Atomic { .. }) || drawn.contains(&access.site);
        if !is_its || !counts {
            counters.remove(&access.array);
        }
    }
    counters
}

/// The last store before the access at which a value arises.
fn store_before(
    protocol: &Protocol,
    uniformity: &Uniformity,
    id: OpaqueId,
    (array, site): (ArrayId, SiteId),
) -> Option<AccessId> {
    let (at, access) = protocol.accesses.iter().find(|(_, access)| access.site == site)?;
    let of_it = || protocol.accesses.iter().filter(|(_, other)| other.array == array);
    let is_level = |other: &Access| other.loops == access.loops;
    let is_turned_by_all = access.loops.iter().all(|&each| uniformity.holds_for_loop(each));
    if !of_it().all(|(_, other)| is_level(other)) || !is_turned_by_all || protocol.opaques[id].loops != access.loops {
        return None;
    }
    let (store_id, store) = of_it().filter(|(other, store)| *other < at && store.kind == AccessKind::Write).last()?;
    let is_made = |cond: ExprId| handed::is_met_by_first(protocol, uniformity, cond, &access.guards);
    store.guards.iter().all(|guard| is_made(guard.cond)).then_some(store_id)
}
