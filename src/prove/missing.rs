//! The fence without which two accesses are not ordered, if nothing else is missing: for messages.

use super::critical_section::CriticalSections;
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

/// What hands over what was done before to those who come after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOver {
    /// A number is drawn from a counter: the access before which the fence has to stand.
    Draw,
    /// A lock is given back: likewise.
    Release,
    /// A lock is taken: the access behind which it has to stand.
    Take,
}

/// The fence without which the pair is not ordered, if nothing else is missing.
pub fn missing_fence(protocol: &Protocol, pair: &Pair, scope: &Scope) -> Option<MissingFence> {
    let of_draw = LastBlock::of(protocol, scope).and_then(|draws| draws.missing(pair));
    of_draw.or_else(|| missing_at_lock(protocol, pair))
}

/// The same for accesses that are made under one lock.
pub fn missing_at_lock(protocol: &Protocol, pair: &Pair) -> Option<MissingFence> {
    CriticalSections::of(protocol)?.missing(pair)
}
