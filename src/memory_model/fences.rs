//! What fences and atomics hand over between threads: the rules of the scoped release/acquire model, one by one.
//!
//! The model is that of PTX and of OpenCL 2, which agree here: an operation *releases* if its order says so, *acquires*
//! likewise, and counts between two threads only if its scope holds both. A **release pattern** is a releasing atomic, or
//! a releasing fence before an atomic in program order; an **acquire pattern** is an acquiring atomic, or an atomic before
//! an acquiring fence. A release pattern *synchronises* with an acquire pattern whose atomic reads what the first wrote,
//! or what a chain of read-modify-writes made of it. Plain accesses hand nothing over.
//!
//! [`super::litmus`] decides tiny programs by these functions, `prove` hands over between blocks by them, and the clocks of
//! `calculus::eval`'s runs in tests do.
//!
//! Deliberately absent: who reads what, which is for the caller to know.

use super::{Level, least_scope};
use crate::calculus::{MemoryOrder, SyncScope};

/// Whether an operation of this order publishes what its thread has seen and done before.
pub fn releases(order: MemoryOrder) -> bool {
    // Who exchanges nothing writes nothing that others could read.
    let [exchanged, _] = order.outcomes();
    matches!(exchanged, MemoryOrder::Release | MemoryOrder::AcquireRelease | MemoryOrder::SequentiallyConsistent)
}

/// Whether an operation of this order lets its thread see what was published to it, whatever comes of it.
pub fn acquires(order: MemoryOrder) -> bool {
    matches!(order, MemoryOrder::Acquire | MemoryOrder::AcquireRelease | MemoryOrder::SequentiallyConsistent)
}

/// Whether an operation of this scope counts between two threads that stand to each other like this.
pub fn reaches(scope: SyncScope, level: Level) -> bool {
    scope >= least_scope(level)
}

/// Whether a fence or an atomic of this order and scope publishes to threads at that level.
pub fn publishes(order: MemoryOrder, scope: SyncScope, level: Level) -> bool {
    releases(order) && reaches(scope, level)
}

/// Whether a fence or an atomic of this order and scope receives from threads at that level.
pub fn receives(order: MemoryOrder, scope: SyncScope, level: Level) -> bool {
    acquires(order) && reaches(scope, level)
}

/// Whether a fence publishes by an atomic that another thread of the block makes after a barrier: the common order of
/// sequentially consistent fences says so, to receivers that fence likewise.
pub fn publishes_over_a_barrier(order: MemoryOrder, scope: SyncScope, level: Level) -> bool {
    is_sequentially_consistent(order) && reaches(scope, level)
}

/// The same of an atomic that is known to have exchanged what it found.
pub fn receives_by_exchange(order: MemoryOrder, scope: SyncScope, level: Level) -> bool {
    receives(order.outcomes()[0], scope, level)
}

/// Whether all operations of that order that reach each other have a common order.
pub fn is_sequentially_consistent(order: MemoryOrder) -> bool {
    order == MemoryOrder::SequentiallyConsistent
}

#[cfg(test)]
mod tests {
    use super::*;
    use MemoryOrder::{Acquire, AcquireRelease, Relaxed, Release, SequentiallyConsistent};

    #[test]
    fn orders_have_directions() {
        let all = [Relaxed, Acquire, Release, AcquireRelease, SequentiallyConsistent];
        assert_eq!(all.map(releases), [false, false, true, true, true]);
        assert_eq!(all.map(acquires), [false, true, false, true, true]);
        let of_exchanges = [MemoryOrder::AcquireOnExchange, MemoryOrder::AcquireReleaseOnExchange];
        assert_eq!(of_exchanges.map(releases), [false, true]);
        assert_eq!(of_exchanges.map(acquires), [false, false]);
        let received = |order| receives_by_exchange(order, SyncScope::Grid, Level::Grid);
        assert_eq!(of_exchanges.map(received), [true, true]);
        assert_eq!(all.map(received), all.map(acquires));
    }

    #[test]
    fn a_scope_that_is_too_narrow_hands_nothing_over() {
        let scopes = [SyncScope::Warp, SyncScope::Block, SyncScope::Cluster, SyncScope::Grid, SyncScope::System];
        assert_eq!(scopes.map(|scope| publishes(Release, scope, Level::Grid)), [false, false, false, true, true]);
        assert_eq!(scopes.map(|scope| receives(Acquire, scope, Level::Block)), [false, true, true, true, true]);
    }
}
