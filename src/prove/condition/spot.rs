//! The place that a question is about, as far as it decides which facts may be used there.

use crate::protocol::{AccessId, Before, Fact, SyncId};

/// A place of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::prove) enum Spot {
    /// The entry of the kernel: what is stated holds, nothing has been proved on the way.
    Entry,
    /// An access.
    Access(AccessId),
    /// A sync.
    Sync(SyncId),
    /// A claim behind so much. Only what stands before a claim may be used for it, also of what is stated: a claim
    /// is checked where it stands, and one that is proved may be relied on behind it.
    Claim(Before),
}

impl Spot {
    /// Whether the fact of this number may be used at the spot, if all conditions on the way to it hold there.
    pub(in crate::prove) fn may_use(self, number: usize, fact: &Fact) -> bool {
        match self {
            Spot::Entry => fact.basis.is_told(),
            Spot::Access(access) => fact.holds_at_access(access),
            Spot::Sync(sync) => fact.holds_at_sync(sync),
            Spot::Claim(before) => number < before.facts,
        }
    }
}
