//! Who is ordered with whom, and which accesses conflict: the table of
//! docs/SEMANTICS.md, "Order and conflict".
//!
//! Pure: it knows memory spaces, barrier scopes, relations between two threads and kinds of accesses, and
//! nothing of kernels, protocols or traces, all of which ask it. [`passed`] is the same order for observed runs.
//!
//! Barriers make threads wait; [`fences`] do not, and hand over between threads only together with atomics. [`litmus`] says
//! what tiny programs with them may do, and [`clocks`] who has seen what in a run.

pub mod clocks;
pub mod fences;
pub mod litmus;
pub mod met;
pub mod passed;
pub mod seen;
pub mod ways;

use crate::calculus::ArrayId;
pub use crate::calculus::eval::WARP;
pub use crate::calculus::{MemoryOrder, Space, SyncMemory, SyncScope};

/// Where two distinct threads stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Two threads of one warp.
    Warp,
    /// Two threads of one block.
    Block,
    /// Threads of two blocks of one cluster.
    Cluster,
    /// Threads of two blocks.
    Grid,
}

impl Level {
    /// Whether the threads are of one block.
    pub fn is_one_block(self) -> bool {
        matches!(self, Level::Warp | Level::Block)
    }
}

/// What an access does to its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// It reads them.
    Read,
    /// It writes them.
    Write,
    /// It reads or writes them in one step, or changes them.
    Atomic {
        /// Whether it may change them: whether it is no load.
        writes: bool,
        /// Memory order.
        order: MemoryOrder,
        /// Threads among which it is one step.
        scope: SyncScope,
    },
}

/// Bytes of one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByteRange {
    /// Offset of the first byte; negative where a pointer stepped before its array.
    pub start: i128,
    /// Number of bytes.
    pub bytes: u32,
}

impl ByteRange {
    /// Whether both hold a common byte.
    pub fn overlaps(self, other: ByteRange) -> bool {
        self.start < other.start + i128::from(other.bytes) && other.start < self.start + i128::from(self.bytes)
    }
}

impl AccessKind {
    /// Whether it may change memory. An atomic counts as a write, whatever its operation, unless it is a load.
    pub fn writes(self) -> bool {
        match self {
            AccessKind::Read => false,
            AccessKind::Write => true,
            AccessKind::Atomic { writes, .. } => writes,
        }
    }
}

/// The least scope that reaches two threads at `level`.
fn least_scope(level: Level) -> SyncScope {
    match level {
        Level::Warp => SyncScope::Warp,
        Level::Block => SyncScope::Block,
        Level::Cluster => SyncScope::Cluster,
        Level::Grid => SyncScope::Grid,
    }
}

/// Whether a group of this scope that a thread is of holds the other of two threads at `level`, too.
pub fn spans(scope: SyncScope, level: Level) -> bool {
    scope >= least_scope(level)
}

/// Whether a barrier of this scope and memory that both threads take part in orders their accesses to `space`.
///
/// Constant memory is ordered like global memory, private memory by every barrier; neither is raced on. Images are ordered
/// by barriers of OpenCL that name them.
pub fn orders(scope: SyncScope, memory: SyncMemory, space: Space, level: Level) -> bool {
    let reaches_memory = match space {
        Space::Shared | Space::Distributed => memory.shared,
        Space::Global | Space::Constant => memory.global,
        Space::Image => memory.images,
        Space::Private => true,
    };
    reaches_memory && spans(scope, level)
}

/// Whether a barrier of this scope that both threads take part in orders their accesses to one array of that space.
pub fn orders_array(scope: SyncScope, memory: SyncMemory, (array, space): (ArrayId, Space), level: Level) -> bool {
    let is_own = memory.array == Some(array) && spans(scope, level);
    is_own || orders(scope, memory, space, level)
}

/// Whether two threads at `level` can race on memory of this space at all.
pub fn may_meet(space: Space, level: Level) -> bool {
    match space {
        Space::Global | Space::Image => true,
        Space::Distributed => level != Level::Grid,
        Space::Shared => level.is_one_block(),
        Space::Constant | Space::Private => false,
    }
}

/// Whether both are atomics whose scopes reach both threads, so that they exempt each other wherever they
/// touch exactly the same bytes.
pub fn both_atomic(first: AccessKind, second: AccessKind, level: Level) -> bool {
    match (first, second) {
        (AccessKind::Atomic { scope: one, .. }, AccessKind::Atomic { scope: other, .. }) => {
            spans(one, level) && spans(other, level)
        }
        _ => false,
    }
}

/// Whether two accesses are atomic towards each other: see [`both_atomic`]; at equal address and size only.
pub fn exempt(first: (AccessKind, ByteRange), second: (AccessKind, ByteRange), level: Level) -> bool {
    both_atomic(first.0, second.0, level) && first.1 == second.1
}

/// Whether two accesses of distinct threads to one array conflict, if nothing orders them.
pub fn conflict(first: (AccessKind, ByteRange), second: (AccessKind, ByteRange), level: Level) -> bool {
    (first.0.writes() || second.0.writes()) && first.1.overlaps(second.1) && !exempt(first, second, level)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: SyncMemory = SyncMemory::BOTH;
    const LOCAL: SyncMemory = SyncMemory { shared: true, ..SyncMemory::NONE };
    const GLOBAL: SyncMemory = SyncMemory { global: true, ..SyncMemory::NONE };
    const LEVELS: [Level; 3] = [Level::Warp, Level::Block, Level::Grid];

    fn row(scope: SyncScope, memory: SyncMemory, space: Space) -> [bool; 3] {
        LEVELS.map(|level| orders(scope, memory, space, level))
    }

    #[test]
    fn a_sync_orders_the_threads_of_its_scope() {
        for space in [Space::Shared, Space::Global] {
            assert_eq!(row(SyncScope::Warp, BOTH, space), [true, false, false]);
            assert_eq!(row(SyncScope::Block, BOTH, space), [true, true, false]);
            assert_eq!(row(SyncScope::Cluster, BOTH, space), [true, true, false]);
            assert_eq!(row(SyncScope::Grid, BOTH, space), [true, true, true]);
            assert_eq!(row(SyncScope::System, BOTH, space), [true, true, true]);
        }
    }

    #[test]
    fn a_sync_orders_the_memory_that_its_flags_name() {
        assert_eq!(row(SyncScope::Block, LOCAL, Space::Shared), [true, true, false]);
        assert_eq!(row(SyncScope::Block, LOCAL, Space::Global), [false, false, false]);
        assert_eq!(row(SyncScope::Block, GLOBAL, Space::Shared), [false, false, false]);
        assert_eq!(row(SyncScope::Block, GLOBAL, Space::Global), [true, true, false]);
        assert_eq!(row(SyncScope::Block, SyncMemory::BOTH, Space::Image), [false, false, false]);
        assert_eq!(row(SyncScope::Block, SyncMemory::of_flags(4), Space::Image), [true, true, false]);
        assert_eq!(row(SyncScope::Block, SyncMemory::of_flags(3), Space::Global), [true, true, false]);
    }

    #[test]
    fn a_sync_of_one_array_orders_no_other() {
        let (own, other) = (ArrayId::from_index(0), ArrayId::from_index(1));
        let row = |array| {
            LEVELS.map(|level| orders_array(SyncScope::Block, SyncMemory::only(own), (array, Space::Shared), level))
        };
        assert_eq!(row(own), [true, true, false]);
        assert_eq!(row(other), [false; 3]);
        assert_eq!(
            LEVELS.map(|level| orders(SyncScope::Block, SyncMemory::only(own), Space::Shared, level)),
            [false; 3]
        );
        assert!(orders_array(SyncScope::Block, LOCAL, (other, Space::Shared), Level::Block));
    }

    #[test]
    fn memory_meets_where_it_is_shared() {
        assert_eq!(LEVELS.map(|level| may_meet(Space::Shared, level)), [true, true, false]);
        assert_eq!(LEVELS.map(|level| may_meet(Space::Global, level)), [true, true, true]);
        assert_eq!(LEVELS.map(|level| may_meet(Space::Image, level)), [true, true, true]);
        assert_eq!(LEVELS.map(|level| may_meet(Space::Constant, level)), [false; 3]);
        assert_eq!(LEVELS.map(|level| may_meet(Space::Private, level)), [false; 3]);
    }

    #[test]
    fn conflicts_need_a_write_and_a_common_byte() {
        let word = |start| ByteRange { start, bytes: 4 };
        let (read, write) = (AccessKind::Read, AccessKind::Write);
        assert!(!conflict((read, word(0)), (read, word(0)), Level::Block));
        assert!(conflict((read, word(0)), (write, word(3)), Level::Block));
        assert!(conflict((write, word(-3)), (read, word(0)), Level::Block));
        assert!(conflict((write, word(8)), (write, word(8)), Level::Block));
        assert!(!conflict((write, word(0)), (write, word(4)), Level::Block));
    }

    #[test]
    fn atomics_exempt_each_other_at_equal_address_size_and_sufficient_scope() {
        let atomic = |scope| AccessKind::Atomic { writes: true, order: MemoryOrder::Relaxed, scope };
        let at = |scope, start, bytes| (atomic(scope), ByteRange { start, bytes });
        let (block, device) = (SyncScope::Block, SyncScope::Grid);
        assert!(!conflict(at(device, 0, 4), at(device, 0, 4), Level::Grid));
        assert!(!conflict(at(block, 0, 4), at(device, 0, 4), Level::Block));
        assert!(conflict(at(block, 0, 4), at(device, 0, 4), Level::Grid));
        assert!(conflict(at(SyncScope::Cluster, 0, 4), at(device, 0, 4), Level::Grid));
        assert!(conflict(at(device, 0, 4), at(device, 0, 8), Level::Grid));
        assert!(conflict(at(device, 0, 4), at(device, 2, 4), Level::Grid));
        let word = ByteRange { start: 0, bytes: 4 };
        assert!(conflict(at(device, 0, 4), (AccessKind::Read, word), Level::Grid));
        // A load changes nothing, however narrow it is.
        let load = |scope| (AccessKind::Atomic { writes: false, order: MemoryOrder::Relaxed, scope }, word);
        assert!(!conflict(load(block), (AccessKind::Read, word), Level::Grid));
        assert!(!conflict(load(block), load(block), Level::Grid));
        assert!(conflict(load(block), at(device, 0, 4), Level::Grid));
        assert!(conflict(load(device), (AccessKind::Write, word), Level::Grid));
        assert!(!conflict(load(device), at(device, 0, 4), Level::Grid));
    }
}
