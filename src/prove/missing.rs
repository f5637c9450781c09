//! What two accesses lack to be ordered: a fence, if nothing else is missing, or one lock for both. For messages.

use super::critical_section::CriticalSections;
use super::flags::Flags;
use super::last_block::LastBlock;
use super::{Pair, Scope};
use crate::calculus::SiteId;
use crate::protocol::{AccessId, Protocol};

/// A fence that would order a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingFence {
    /// The access that it has to stand behind.
    pub after: AccessId,
    /// The access that it has to stand before.
    pub before: AccessId,
    /// What hands over there.
    pub at: HandOver,
    /// The site of a fence that stands there and does not reach other blocks.
    pub too_narrow: Option<SiteId>,
}

/// Accesses of which one is made under a lock, and the other one under another, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocksApart {
    /// Where the locks are taken: of the first access, and of the second.
    pub takes: [Option<AccessId>; 2],
}

/// Whether the accesses of a pair are made under locks that are not seen to be one.
pub fn locks_apart(protocol: &Protocol, pair: &Pair) -> Option<LocksApart> {
    CriticalSections::of(protocol)?.apart(pair)
}

/// What hands over what was done before to those who come after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOver {
    /// A number is drawn from a counter: the access before which the fence has to stand.
    Draw,
    /// A lock is given back: likewise.
    Release,
    /// A lock is taken: the access behind which it has to stand.
    Take,
    /// A flag is set: the access before which it has to stand.
    Set,
    /// A flag is looked at: the access behind which it has to stand.
    Look,
}

/// The fence without which the pair is not ordered, if nothing else is missing.
pub fn missing_fence(protocol: &Protocol, pair: &Pair, scope: &Scope) -> Option<MissingFence> {
    let of_draw = LastBlock::of(protocol, scope).and_then(|draws| draws.missing(pair));
    of_draw.or_else(|| missing_where_threads_wait(protocol, pair, scope))
}

/// The same for accesses that are made under one lock, or before and after a wait for a flag: when they are made is up to
/// others.
pub fn missing_where_threads_wait(protocol: &Protocol, pair: &Pair, scope: &Scope) -> Option<MissingFence> {
    let at_lock = CriticalSections::of(protocol).and_then(|sections| sections.missing(pair));
    at_lock.or_else(|| Flags::of(protocol, scope)?.missing(pair))
}
