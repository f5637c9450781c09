//! The log of a run, version 5: what `src/instrument/runtime/log.hpp` writes and what everything else reads.
//!
//! A log is a head of 16 bytes and chunks. All fixed numbers are little-endian; a *number* is a LEB128 varint
//! of at most 64 bits; a *difference* is a number in zigzag form, arithmetic wraps at 64 bits; a *text* is its
//! length in bytes (a number) and UTF-8.
//!
//! ```text
//! head:   89 'R' 'P' 'T' 'R' 'A' 'C' 'E'   u32 version = 5   u32 0
//! chunk:  u32 "RPCK"   u32 kind   u64 ordinal   u64 length   u64 checksum   payload of `length` bytes
//! ```
//!
//! Chunks are numbered from 0 without gaps. The checksum ([`bytes::checksum`]) covers the 24 bytes before it
//! and the payload. Chunks can be read in any order and on separate machines, once the numbers are known:
//!
//! | kind | payload |
//! |---|---|
//! | 1 sites | a text, one line a site ([`sites`]) |
//! | 2 launch | id (from 0, in order), 3 extents of the grid, 3 of the block, bytes of dynamic shared memory, kernel (text), `name=value` lines (text) |
//! | 3 allocation | id (from 0, in order), base address, bytes, space (0 global, 1 constant, 2 shared, 3 managed, and from version 3 on 4 shared by the blocks of a cluster), name (text) |
//! | 4 release | id of the allocation |
//! | 5 accesses | see below |
//! | 6 finished | id of the launch, its accesses, its blocks, its synchronisations (not in version 1) |
//! | 7 end | exit status (difference from 0), accesses of all launches; nothing follows |
//! | 8 synchronisations | what orders threads beside the syncs that accesses count ([`synchronisations`]); not in version 1 |
//! | 9 shard | what part of a log this one is ([`shard`]); the first chunk, if there is one; from version 4 on |
//! | 10 left out | 0 for single places (or 1 for more, which makes the log incomplete), and what is not logged (text); from version 5 on |
//!
//! # Accesses
//!
//! An encoder is a *stream*; its chunks are its *parts*, numbered from 0. All accesses of a block of a launch
//! are in one stream, in consecutive parts; a block begins once.
//!
//! ```text
//! launch   stream   part   continued (0 or 1)   accesses   least grid   least block
//! shapes: their number, then for each: site   allocation   bytes   kind (0 read, 1 write, 2 atomic of the block, 3 of the device, 4 of the system; not in version 1: 5 to 7 the same of atomics that only read)
//! steps, to the end of the payload
//! ```
//!
//! A chunk is *continued* if its first block began in an earlier part; then the two leasts are the smallest
//! pair of syncs (grid, block that order global memory) of that block's accesses here, so that a reader knows
//! which intervals are over. A *segment* is what one thread does between two syncs, at most
//! [`MAX_SEGMENT`] accesses (longer ones come in pieces). A step is a number; its low three bits say what the
//! others mean:
//!
//! | step | meaning |
//! |---|---|
//! | 0 next n | n segments: the same shapes, every offset larger by its stride |
//! | 1 known jump k | as one `next`, plus the offsets of jump k |
//! | 2 jump, list | as one `next`, plus these; the list becomes jump (number of jumps so far) mod 4 |
//! | 3 stride, list | as one `next`, plus these, which are added to the strides, too |
//! | 4 literal n, items | a segment of n accesses; strides become 0 |
//! | 5 thread t | the next segment is of thread t; if t is larger than the last thread, the difference becomes the step between threads |
//! | 6 syncs mask, differences | for each bit of the mask (grid, block, tiles of 2, 4, 8, 16, 32, shared only, and from version 2 on synchronisations) the change |
//! | 7 block d | a block begins (or goes on, at the start of a continued chunk), d from the last (0 at the start); syncs are 0, the thread is 0, the step between threads 1 |
//!
//! Without a `thread` step the next segment is of the thread one step further. A list has an item for each
//! access of the segment; an item is a number: twice the difference in zigzag form, plus 1 if further equal
//! ones follow, whose number less 1 comes next. Literal items are numbers; their low two bits:
//!
//! | item | meaning |
//! |---|---|
//! | 0 n | n accesses, each of the shape that last followed the one before, its offset the last of that shape plus the shape's stride |
//! | 1 d | such an access, its offset larger by the difference d; d is added to the stride |
//! | 2 s, d | an access of shape s (from 1), which from now on follows the one before; likewise d |
//!
//! What follows, last offsets and strides hold for the chunk and begin as nothing and 0; the shape before the
//! first access of a segment is 0.
//!
//! Versions 1 to 4 are read, too: version 4 does not say what is left out, version 3 has no shards, version 2 no clusters either, version 1 no synchronisations
//! either.
//!
//! # What is guaranteed
//! Any bytes are read without a panic. [`read_log`] gives everything that is whole and names everything that is not;
//! a log is complete only if every byte is accounted for.
//!
//! Deliberately absent: who is ordered with whom, and any judgement.

pub mod accesses;
pub mod bytes;
pub mod chunk;
mod decode;
#[cfg(test)]
pub(in crate::trace) mod drawn;
pub mod encode;
#[cfg(test)]
mod encode_tests;
pub mod log;
pub mod shard;
pub mod sites;
pub mod synchronisations;
pub mod totals;
pub mod write;

pub use accesses::{AccessesHead, Run, Shape, Visitor};
pub use log::{Log, Problem, read_log};
pub use shard::{Shard, Whole};
pub use sites::Site;

/// The version of the format that is written.
pub const VERSION: u32 = 5;

/// The oldest version that is read.
pub const OLDEST: u32 = 1;

/// Accesses of one segment.
pub const MAX_SEGMENT: usize = 4096;

/// Accesses of one chunk, with what the last segments may add to the writer's limit.
pub const MAX_ACCESSES: u64 = 1 << 21;

/// Offsets are smaller.
pub const MAX_OFFSET: u64 = 1 << 60;

/// What an access does to its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// It reads them.
    Read,
    /// It writes them.
    Write,
    /// An atomic among the threads of a block.
    AtomicBlock,
    /// An atomic among the threads of a device.
    AtomicDevice,
    /// An atomic among all threads there are.
    AtomicSystem,
    /// An atomic among the threads of a block that reads only.
    LoadBlock,
    /// The same among the threads of a device.
    LoadDevice,
    /// The same among all threads there are.
    LoadSystem,
}

impl Kind {
    /// All kinds; the position is the number in the log.
    pub const ALL: [Kind; 8] = [
        Kind::Read,
        Kind::Write,
        Kind::AtomicBlock,
        Kind::AtomicDevice,
        Kind::AtomicSystem,
        Kind::LoadBlock,
        Kind::LoadDevice,
        Kind::LoadSystem,
    ];

    /// Whether it changes nothing.
    pub fn only_reads(self) -> bool {
        matches!(self, Kind::Read | Kind::LoadBlock | Kind::LoadDevice | Kind::LoadSystem)
    }
}

/// Where an allocation lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Device memory.
    Global,
    /// Constant memory.
    Constant,
    /// Memory of a block; one allocation of every block.
    Shared,
    /// Memory that the host may access, too.
    Managed,
    /// Memory of one block that the blocks of its cluster reach; every block has an allocation of its own.
    Distributed,
}

impl Space {
    /// All spaces; the position is the number in the log.
    pub const ALL: [Space; 5] = [Space::Global, Space::Constant, Space::Shared, Space::Managed, Space::Distributed];

    /// The word that users and programs see.
    pub fn name(self) -> &'static str {
        match self {
            Space::Global => "global",
            Space::Constant => "constant",
            Space::Shared => "shared",
            Space::Managed => "managed",
            Space::Distributed => "distributed shared",
        }
    }
}

/// The syncs that a thread has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epochs {
    /// Of the whole grid.
    pub grid: u32,
    /// Of the whole block.
    pub block: u32,
    /// Of aligned groups of at least 2, 4, 8, 16, 32 threads.
    pub tile: [u32; 5],
    /// How many of `block` order shared memory only.
    pub shared_only: u32,
    /// Fences, atomics and meetings that the log has as synchronisations of the thread.
    pub synchronised: u32,
}

/// A launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Name of the kernel.
    pub kernel: String,
    /// Extents of the grid, in blocks.
    pub grid: [u32; 3],
    /// Extents of a block, in threads.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u64,
    /// Arguments by name.
    pub arguments: Vec<(String, String)>,
    /// What it did in all, if it is finished.
    pub finished: Option<Totals>,
}

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Logged accesses.
    pub accesses: u64,
    /// Blocks that ran.
    pub blocks: u64,
    /// Fences, atomics, barriers and meetings, if the program has any that hand over between threads.
    pub synchronisations: u64,
}

impl Launch {
    /// Number of blocks.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().fold(1, |product, &extent| product.saturating_mul(extent.into()))
    }

    /// Number of threads of a block.
    pub fn threads(&self) -> u64 {
        self.block.iter().fold(1, |product, &extent| product.saturating_mul(extent.into()))
    }
}

/// Memory that offsets count from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Address of its first byte.
    pub base: u64,
    /// Its extent.
    pub bytes: u64,
    /// Where it lies.
    pub space: Space,
    /// Its name, as far as the runtime knows one.
    pub name: String,
}
