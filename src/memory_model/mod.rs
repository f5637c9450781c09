//! Who is ordered with whom, and which accesses conflict: the table of section 6 of the design.
//!
//! Pure: it knows memory spaces, barrier scopes, relations between two threads and kinds of accesses, and
//! nothing of kernels, protocols or traces, all of which ask it.

use crate::calculus::{MemoryOrder, Space, SyncMemory, SyncScope};

/// Where two distinct threads stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Two threads of one warp.
    Warp,
    /// Two threads of one block.
    Block,
    /// Threads of two blocks.
    Grid,
}

/// What an access does to its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// It reads them.
    Read,
    /// It writes them.
    Write,
    /// It reads, changes and writes them in one step.
    Atomic {
        /// Memory order.
        order: MemoryOrder,
        /// Threads among which it is one step.
        scope: SyncScope,
    },
}
