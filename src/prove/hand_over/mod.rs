//! Whom atomics order: locks, flags, tickets, and the block that is last.
//!
//! One thread does something, and then an atomic or a store; another thread observes that, and does something in its
//! turn. What the first did comes before what the second does if both sides hand over: by the order of the atomics
//! themselves, by fences, and within a block by barriers ([`publication`]).
//!
//! - [`locks`]: what threads do while they hold a lock. [`flags`]: what stands before a flag is set and after a wait for
//!   it. [`last_block`]: what stands before a draw, and after the last one.
//! - [`spins`]: loops that go on until an atomic finds what they wait for. [`pins`]: guards that leave one thread of a
//!   block. [`sums`]: values by form. [`skeleton`]: which places share a barrier interval.
//! - [`tickets`]: which numbers that two threads draw from one counter differ.
//!
//! The face is [`HandOvers`]: is this pair ordered, and by what; and if it is not, which fence or lock is missing.
//! Everything is decided by the form of the protocol, without search, so that prover and checker come to the same answer;
//! what has to be proved besides is handed back ([`Cells`]).
//!
//! Deliberately absent: conditions, and the rules that refute them.

mod flags;
mod last_block;
mod locks;
mod pins;
mod publication;
mod skeleton;
mod spins;
mod sums;
pub(in crate::prove) mod tickets;

use super::{Assumption, Groups, Pair, Scope};
use crate::calculus::intervals::Meeting;
use crate::calculus::{ArrayId, ExprId, SiteId};
use crate::memory_model::Level;
use crate::protocol::{AccessId, Protocol};
use flags::Flags;
use last_block::LastBlock;
use locks::CriticalSections;

/// How atomics order the accesses of a pair.
#[derive(Clone, Debug)]
pub(in crate::prove) enum Order {
    /// One comes before the other, whatever else holds, if these assumptions do.
    Always(Vec<Assumption>),
    /// They come one after the other unless each of these cells differs; in any order, if there are none.
    Unless(Vec<Cells>),
}

/// The cells of a set and of a wait, in bytes: unless they differ, the two accesses of a pair are ordered.
#[derive(Clone, Debug)]
pub(in crate::prove) struct Cells {
    /// That of the set, over the values of one thread.
    pub(in crate::prove) set: ExprId,
    /// The position of that thread in the pair, 0 or 1.
    pub(in crate::prove) setter: usize,
    /// That of the wait, over the values of the other thread.
    pub(in crate::prove) wait: ExprId,
    /// What this relies on.
    pub(in crate::prove) assumptions: Vec<Assumption>,
    /// The atomic that sets: no two threads may set one cell by it, which has to be proved.
    pub(in crate::prove) by: AccessId,
}

impl Cells {
    /// Pairs of which none may touch a common byte for no two threads to set one cell.
    pub(in crate::prove) fn two_that_set(&self) -> [Pair; 2] {
        let meeting = || Meeting { relations: Vec::new(), between: Vec::new(), apart: None };
        let pair = |level| Pair { first: self.by, second: self.by, level, groups: Groups::Any, meeting: meeting() };
        [Level::Block, Level::Grid].map(pair)
    }
}

/// What hands over what was done before to those who come after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOver {
    /// A number is drawn from a counter: the access before which the fence has to stand.
    Draw,
    /// A lock is given back: likewise.
    Release,
    /// A lock is taken: the access after which it has to stand.
    Take,
    /// A flag is set: the access before which it has to stand.
    Set,
    /// A flag is looked at: the access after which it has to stand.
    Look,
}

/// A fence that would order a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingFence {
    /// The access that it has to stand after.
    pub after: AccessId,
    /// The access that it has to stand before.
    pub before: AccessId,
    /// What hands over there.
    pub at: HandOver,
    /// The site of a fence that stands there and does not reach other blocks.
    pub too_narrow: Option<SiteId>,
}

/// A fence that would order a pair, and what else has to be seen for that.
pub(in crate::prove) struct Missing {
    /// The fence.
    pub(in crate::prove) fence: MissingFence,
    /// Cells of flags, if that they do not all differ has to be proved.
    pub(in crate::prove) unless: Option<Vec<Cells>>,
}

/// Accesses of which one is made under a lock, and the other one under another, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocksApart {
    /// Where the locks are taken: of the first access, and of the second.
    pub takes: [Option<AccessId>; 2],
}

/// The hand-overs of a protocol in some launches.
pub(in crate::prove) struct HandOvers<'p> {
    last_block: Option<LastBlock<'p>>,
    sections: Option<CriticalSections<'p>>,
    flags: Option<Flags<'p>>,
}

impl<'p> HandOvers<'p> {
    /// Finds them.
    pub(in crate::prove) fn of(protocol: &'p Protocol, scope: &'p Scope) -> Self {
        HandOvers {
            last_block: LastBlock::of(protocol, scope),
            sections: CriticalSections::of(protocol),
            flags: Flags::of(protocol, scope),
        }
    }

    /// Whether the accesses of a pair are ordered, and by what.
    pub(in crate::prove) fn order(&self, pair: &Pair) -> Order {
        if let Some(assumptions) = self.last_block.as_ref().and_then(|draws| draws.order(pair)) {
            Order::Always(assumptions)
        } else if self.sections.as_ref().is_some_and(|sections| sections.order(pair)) {
            Order::Always(Vec::new())
        } else {
            Order::Unless(self.flags.as_ref().map_or_else(Vec::new, |flags| flags.cells(pair)))
        }
    }

    /// The fence before a draw without which the pair is not ordered, if nothing else is missing.
    pub(in crate::prove) fn missing_at_draw(&self, pair: &Pair) -> Option<MissingFence> {
        self.last_block.as_ref()?.missing(pair)
    }

    /// The fence without which accesses under one lock, or before and after a wait for a flag, are not ordered.
    pub(in crate::prove) fn missing_where_threads_wait(&self, pair: &Pair) -> Option<Missing> {
        let at_lock = self.sections.as_ref().and_then(|sections| sections.missing(pair));
        let at_lock = at_lock.map(|fence| Missing { fence, unless: None });
        at_lock.or_else(|| self.flags.as_ref()?.missing(pair))
    }
}

/// Whether the accesses of a pair are made under locks that are not seen to be one.
pub fn locks_apart(protocol: &Protocol, pair: &Pair) -> Option<LocksApart> {
    CriticalSections::of(protocol)?.apart(pair)
}

/// Whether locks, flags, or numbers that are drawn, may order two accesses at a level: a quick look. Where they may, it depends
/// on where the two are made.
pub fn may_order_by_place(protocol: &Protocol, level: Level) -> bool {
    level == Level::Grid && last_block::may_draw(protocol) || locks::may_lock(protocol) || flags::may_wait(protocol)
}

/// Whether all of a protocol that touches an array is understood.
fn is_seen(protocol: &Protocol, array: ArrayId) -> bool {
    let mut unsupported = protocol.unsupported.iter();
    unsupported.all(|each| each.arrays.as_ref().is_some_and(|arrays| !arrays.contains(&array)))
}
