//! What one block hands over to others at an atomic, and what it receives at one: fences around it, and barriers.
//!
//! An access is **published** by an atomic of its block if
//! - a. its thread makes the atomic, and a releasing fence stands between the two (or the atomic itself releases);
//! - b. its thread makes a sequentially consistent fence afterwards, as `__threadfence()` is, and a barrier of the block
//!   stands between that fence and the atomic;
//! - c. a barrier stands between the access and such a fence (or a releasing atomic) of the thread that makes the atomic:
//!   fences are cumulative.
//!
//! It **receives** what was published likewise, the other way round: an acquiring fence of its own thread, which made the
//! atomic, or of the thread that did, before a barrier; or, if both fences are sequentially consistent, a fence of its own
//! thread after the barrier. What (b) publishes is received by sequentially consistent fences only.
//!
//! Each is an entry of the table in `memory_model::litmus`.
//!
//! Deliberately absent: whether the one atomic reads what the other wrote, and whether the atomic is made wherever the access
//! is: the caller says.

use super::skeleton;
use super::sums::Sizes;
use crate::calculus::intervals::Intervals;
use crate::calculus::{SiteId, Space};
use crate::memory_model::{AccessKind, Level, fences};
use crate::protocol::uniform::Uniformity;
use crate::protocol::{AccessId, Fence, Guard, Protocol};
use crate::prove::Scope;

/// What publishes an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Publication {
    /// The atomic itself.
    Atomic,
    /// A fence of the thread that makes the atomic.
    Fence(SiteId),
    /// A fence of another thread, before a barrier.
    EarlierFence(SiteId),
}

impl Publication {
    /// The fence that publishes, if one does.
    pub(super) fn fence(self) -> Option<SiteId> {
        match self {
            Publication::Atomic => None,
            Publication::Fence(site) | Publication::EarlierFence(site) => Some(site),
        }
    }
}

/// An atomic, and the guards under which some thread makes it.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) id: AccessId,
    pub(super) guards: &'a [Guard],
}

/// Who makes an atomic for an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    /// The thread of the access.
    Itself,
    /// One thread of its block.
    One,
}

/// The order of what the threads of a block do.
pub(super) struct Hands<'p> {
    pub(super) sizes: Sizes<'p>,
    /// What is the same in all threads of a block.
    pub(super) block: Uniformity,
    intervals: Intervals,
}

impl<'p> Hands<'p> {
    pub(super) fn new(protocol: &'p Protocol, scope: &'p Scope) -> Self {
        let block = Uniformity::of(protocol, Level::Block);
        let ordering = block.ordering_syncs(protocol, Space::Global);
        let intervals = skeleton::intervals(protocol, &ordering);
        Hands { sizes: Sizes { protocol, scope }, block, intervals }
    }

    /// Whether an access is published by the atomic to threads at `level`: by which fence, or by the atomic itself. Its own
    /// thread makes the atomic, or another one of its block does after a barrier.
    pub(super) fn publication(&self, id: AccessId, at: At<'_>, maker: Maker, level: Level) -> Option<Publication> {
        let protocol = self.sizes.protocol;
        let by_itself = maker == Maker::Itself;
        let (access, atomic) = (&protocol.accesses[id], &protocol.accesses[at.id]);
        if id == at.id {
            return Some(Publication::Atomic);
        }
        if id > at.id {
            return None;
        }
        let by_atomic = match atomic.kind {
            AccessKind::Atomic { order, scope, .. } => fences::publishes(order, scope, level),
            AccessKind::Read | AccessKind::Write => false,
        };
        if by_atomic && (by_itself || self.are_separated(access.site, atomic.site)) {
            return Some(Publication::Atomic);
        }
        let uniform = self.uniform(at.guards);
        let publication = |fence: &Fence| {
            let between = id.index() < fence.after && fence.after <= at.id.index() && fence.loops.is_empty();
            let in_one_thread = || by_itself && are_among(&fence.guards, [&access.guards, at.guards]);
            let then_barrier =
                || are_among(&fence.guards, [&access.guards, &uniform]) && self.are_separated(fence.site, atomic.site);
            let after_barrier =
                || are_among(&fence.guards, [at.guards, &[]]) && self.are_separated(access.site, fence.site);
            if !between || !fence.memory.global {
                None
            } else if fences::publishes(fence.order, fence.scope, level) && (in_one_thread() || after_barrier()) {
                Some(Publication::Fence(fence.site))
            } else if fences::publishes_over_a_barrier(fence.order, fence.scope, level) && then_barrier() {
                Some(Publication::EarlierFence(fence.site))
            } else {
                None
            }
        };
        let all = protocol.fences.iter().filter_map(|(_, fence)| publication(fence));
        all.min_by_key(|publication| matches!(publication, Publication::EarlierFence(_)))
    }

    /// Whether an access receives what was published to the atomic, which its own thread makes before it or
    /// another one of its block does before a barrier.
    pub(super) fn is_received(&self, id: AccessId, at: At<'_>, maker: Maker, publication: Publication) -> bool {
        let protocol = self.sizes.protocol;
        let by_itself = maker == Maker::Itself;
        let (access, atomic) = (&protocol.accesses[id], &protocol.accesses[at.id]);
        let is_one_order = matches!(publication, Publication::EarlierFence(_));
        if let AccessKind::Atomic { order, scope, .. } = atomic.kind
            && fences::receives(order, scope, Level::Grid)
            && !is_one_order
        {
            return true;
        }
        protocol.fences.iter().any(|(_, fence)| {
            let between = at.id.index() < fence.after && fence.after <= id.index() && fence.loops.is_empty();
            // The thread that makes the atomic fences, and so does a barrier or its own order to the access.
            let by_its_thread = || {
                are_among(&fence.guards, [at.guards, &[]]) && (by_itself || self.are_separated(fence.site, access.site))
                    || by_itself && are_among(&fence.guards, [&access.guards, at.guards])
            };
            // The thread of the access fences after a barrier: as for (b), by the common order of such fences.
            let after_barrier =
                || are_among(&fence.guards, [&access.guards, &[]]) && self.are_separated(atomic.site, fence.site);
            let in_order = fences::is_sequentially_consistent(fence.order);
            fences::receives(fence.order, fence.scope, Level::Grid)
                && fence.memory.global
                && between
                && (!is_one_order || in_order)
                && (by_its_thread() || in_order && self.is_in_order(publication) && after_barrier())
        })
    }

    /// Whether a sequentially consistent fence publishes.
    fn is_in_order(&self, publication: Publication) -> bool {
        let Some(site) = publication.fence() else { return false };
        let fences = &self.sizes.protocol.fences;
        fences.iter().any(|(_, fence)| fence.site == site && fences::is_sequentially_consistent(fence.order))
    }

    /// Whether a barrier of the block stands between the two places, whichever threads get there.
    pub(super) fn are_separated(&self, first: SiteId, second: SiteId) -> bool {
        !self.intervals.meet(first, second)
    }

    /// The guards that hold for all threads of a block or for none.
    fn uniform(&self, guards: &[Guard]) -> Vec<Guard> {
        guards.iter().filter(|guard| self.block.holds(self.sizes.protocol, guard.cond)).copied().collect()
    }
}

/// Whether every guard is one of these.
pub(super) fn are_among(guards: &[Guard], known: [&[Guard]; 2]) -> bool {
    guards.iter().all(|guard| known.iter().any(|known| known.iter().any(|other| other.cond == guard.cond)))
}
