//! The executable semantics: a kernel run from its entry, in machine arithmetic, thread after thread from
//! barrier to barrier (docs/PAPERS.md, "Liew 2024, figure 5", extended by every construct of the calculus).
//!
//! [`Program::new`] compiles a kernel once; [`run`] runs it under a [`Setup`] and streams every access to a
//! [`Sink`]. An [`Event`] carries the [`Stamp`] that says which barriers stand before it, so that whoever
//! listens can tell which accesses of two threads nothing orders. [`History`] is the sink that keeps all.
//!
//! # What is exact
//! Under [`Contents::Unknown`] whatever is read from memory that threads share is unknown, and so is what is
//! computed from it. Where an unknown value decides a branch, both arms are run one after the other and what
//! they assign is merged; a loop with an unknown test runs its body once, from unknown variables. Accesses
//! made there, accesses with an unknown offset, and everything after a sync, a possibly endless loop or a
//! trap that may have kept the thread away are marked inexact. An **exact** access happens in every run of
//! the kernel under this geometry and these parameters that gets that far without a race, whatever the
//! arrays hold. Under [`Contents::Seeded`] memory starts with arbitrary contents that the seed fixes,
//! floating point is an arbitrary function, and (traps aside) everything is exact for these contents.
//! Under [`Contents::Chosen`] what was chosen is known, and so is what a block has [written](kept) to its shared memory in
//! a phase before; all else is as unknown as before: an exact access happens in every such run in which memory holds what
//! was chosen, in phases that are not [contested](Run::contested_since).
//!
//! # Conditions about two threads
//! A claim or an assumption that mentions [`Function::Other`](super::Function::Other) is looked at for every two threads that get there in
//! the same turns of the loops around it, blocks that are run only.
//!
//! # Barriers
//! - A block sync is met when all threads of the block that have not ended wait at the same site. If some
//!   wait elsewhere, that is a [`Divergence`]: all are let go, and what follows is inexact. If some have
//!   ended, it is reported and the others go on; if it counts arrivals, what follows is inexact.
//! - A warp is 32 threads of consecutive linear index. A warp sync likewise; threads that have ended count
//!   as arrived. A cluster sync waits for all blocks of the cluster that are run, a grid sync
//!   for all that are.
//! - A sync that is for some threads of its scope, or for groups of them, is met when those have arrived that have not
//!   ended; a thread that it is not for and that arrives is a divergence. Lock-step ([`super::Among::InStep`]) lets those
//!   go on together that stand where the program is least far, and waits for nobody.
//! - An object that counts arrivals completes a phase with the last of so many arrivals; a thread that waits for its own
//!   phase goes on then. If nobody can go on, nothing that follows is certain.
//! - A sync orders the memory that it names, no other.
//!
//! Deliberately absent: interleavings within a phase (a read sees its own thread's writes and those of
//! earlier phases; atomics act at once, in the order of threads), lock-step that no statement asks for, time.

mod arrivals;
mod chosen;
mod compile;
mod groups;
mod history;
mod kept;
mod machine;
mod memory;
mod program;
mod relate;
mod schedule;
mod together;
mod value;

#[cfg(test)]
mod tests;

pub use chosen::{Chosen, Rest};
pub use history::{History, Phase, Recorded};
pub use memory::byte_at_launch;
pub use program::Program;
pub use schedule::run;
pub use value::Value;

use super::arithmetic::Trap;
use super::{ArrayId, ExprId, Geometry, MemoryOrder, SiteId, SyncMemory, SyncScope};

/// Threads of a warp.
pub const WARP: u32 = 32;

/// What memory holds at the start, and whether reads are modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents<'a> {
    /// Nothing is known; private arrays alone remember what was written.
    Unknown,
    /// Arbitrary contents fixed by the seed; writes are remembered.
    Seeded(u64),
    /// The same, but for some arrays that start with the contents of another seed: all else being equal, what
    /// depends on what these arrays hold shows in the difference.
    Varied {
        /// Fixes all else.
        seed: u64,
        /// Fixes the contents of `arrays` at the start.
        other: u64,
        /// The arrays, as bits by position; arrays from position 64 on are never among them.
        arrays: u64,
    },
    /// As [`Contents::Unknown`], but for what was chosen, until it is written, and what follows from it.
    Chosen(&'a Chosen),
}

impl Contents<'_> {
    /// Whether reads of shared memory give what nobody knows, but for what was chosen.
    fn is_unknown(self) -> bool {
        matches!(self, Contents::Unknown | Contents::Chosen(_))
    }

    /// What fixes all that is arbitrary; `None` if it is unknown.
    fn seed(self) -> Option<u64> {
        match self {
            Contents::Unknown | Contents::Chosen(_) => None,
            Contents::Seeded(seed) | Contents::Varied { seed, .. } => Some(seed),
        }
    }

    /// What fixes the contents of an array at the start.
    fn seed_of(self, array: ArrayId) -> Option<u64> {
        match self {
            Contents::Varied { other, arrays, .. } if array.index() < 64 && arrays >> array.index() & 1 == 1 => {
                Some(other)
            }
            _ => self.seed(),
        }
    }
}

/// The blocks of the grid that are run.
#[derive(Clone, Copy, Debug)]
pub enum Blocks<'a> {
    /// All, in linear order (x fastest).
    All,
    /// These.
    These(&'a [[u32; 3]]),
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The launch.
    pub geometry: Geometry,
    /// Values of the parameters, by position; missing ones are unknown.
    pub params: &'a [Option<i128>],
    /// The blocks that are run.
    pub blocks: Blocks<'a>,
    /// What memory holds.
    pub contents: Contents<'a>,
    /// How many instructions may be executed in all.
    pub budget: u64,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It does both in one step.
    Atomic {
        /// Whether it may change memory: whether it is no load.
        writes: bool,
        /// Memory order.
        order: MemoryOrder,
        /// Threads among which it is one step.
        scope: SyncScope,
    },
}

/// How many syncs that order the memory of an access stand before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stamp {
    /// Syncs of warp scope or wider: accesses of one warp are ordered if these differ.
    pub warp: u32,
    /// Syncs of block scope or wider: likewise for one block.
    pub block: u32,
    /// Syncs of cluster scope or wider: likewise for blocks of one cluster.
    pub cluster: u32,
    /// Syncs of grid scope: likewise for different blocks.
    pub grid: u32,
    /// Meetings of some threads of the block, whoever they are, of which the sink is told: see [`Sink::met`].
    pub met: u32,
}

/// A thread of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId {
    /// Its block, as a position among the blocks that are run.
    pub block: u32,
    /// Its linear index within the block (x fastest).
    pub thread: u32,
}

/// One access of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who.
    pub thread: ThreadId,
    /// The cluster of its block, named by the first of its blocks that is run; the block itself where none waits for others.
    pub cluster: u32,
    /// Where in the program.
    pub site: SiteId,
    /// Which array.
    pub array: ArrayId,
    /// Offset of the first byte, if it is known.
    pub offset: Option<i64>,
    /// Number of bytes.
    pub bytes: u32,
    /// What it does.
    pub kind: Kind,
    /// Whether it certainly happens (see [the module](self)); then the offset is known.
    pub exact: bool,
    /// The pattern that a write stores, if it is known.
    pub value: Option<i64>,
    /// The syncs before it that order its memory.
    pub stamp: Stamp,
    /// Number of block syncs of any memory before it.
    pub phase: u32,
}

/// A fence of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Where in the program.
    pub site: SiteId,
    /// In which directions it orders.
    pub order: MemoryOrder,
    /// For whom.
    pub scope: SyncScope,
    /// Which memory.
    pub memory: SyncMemory,
}

/// What orders some threads of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting<'t> {
    /// They met at a barrier that was for them alone.
    Together(&'t [u32]),
    /// A thread arrived at an object, in a phase that this number stands for in the block.
    Arrives {
        /// The thread.
        thread: u32,
        /// The number of the phase.
        phase: u32,
        /// The array of the object, and where the objects start that the thread goes round there.
        at: (ArrayId, i64),
    },
    /// A thread waited until that phase was complete.
    Passes(u32, u32),
}

/// Takes the accesses of a run as they happen: thread by thread within a phase. Accesses to private arrays
/// are not reported.
pub trait Sink {
    /// An access, with the values of the kernel's variables just before it, by handle.
    fn access(&mut self, event: &Event, locals: &[Value]);

    /// A fence, certainly run or not.
    fn fence(&mut self, _thread: ThreadId, _fence: &Fence, _certain: bool) {}

    /// A barrier of this scope and memory that all threads of a block that have not ended passed together.
    fn sync(&mut self, _block: u32, _scope: SyncScope, _memory: SyncMemory) {}

    /// The next meeting of some threads of a block, whoever they are.
    fn met(&mut self, _block: u32, _meeting: Meeting<'_>) {}

    /// Whether more accesses are wanted; the run ends at the first answer that none is, as if its budget were spent.
    fn wants_more(&self) -> bool {
        true
    }
}

/// A barrier that one thread waits at and another does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Where the first thread waits.
    pub sync: SiteId,
    /// Where the second one waits; `None` if it has ended.
    pub other: Option<SiteId>,
    /// Whether the second thread ended by `return`.
    pub returned: bool,
    /// Whether the barrier is not for the first thread.
    pub unnamed: bool,
    /// The two threads.
    pub threads: [ThreadId; 2],
    /// Number of block syncs before.
    pub phase: u32,
    /// Values of the variables of both.
    pub locals: [Vec<Value>; 2],
}

/// An operation without a value that a thread certainly reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrapEvent {
    /// What.
    pub trap: Trap,
    /// Which expression; `None` for the step of a counted loop.
    pub expr: Option<ExprId>,
    /// Who.
    pub thread: ThreadId,
    /// Number of block syncs before.
    pub phase: u32,
}

/// An access that certainly happens and certainly lies outside its array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfBounds {
    /// Where in the program.
    pub site: SiteId,
    /// Which array.
    pub array: ArrayId,
    /// Offset of the first byte.
    pub offset: i64,
    /// Who.
    pub thread: ThreadId,
    /// Number of block syncs before.
    pub phase: u32,
    /// Values of the variables.
    pub locals: Vec<Value>,
}

/// An `assert` that certainly fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedAssertion {
    /// Which.
    pub site: SiteId,
    /// Who.
    pub thread: ThreadId,
    /// Number of block syncs before.
    pub phase: u32,
    /// Values of the variables.
    pub locals: Vec<Value>,
    /// The other thread and its variables, if it is about two.
    pub with: Option<(ThreadId, Vec<Value>)>,
}

/// What a run showed besides its accesses. Each list holds the first of its kind for each place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Ids of the blocks that were run; [`ThreadId::block`] is a position here.
    pub blocks: Vec<[u32; 3]>,
    /// Barriers that were not met.
    pub divergences: Vec<Divergence>,
    /// Undefined operations.
    pub traps: Vec<TrapEvent>,
    /// Accesses outside of arrays.
    pub out_of_bounds: Vec<OutOfBounds>,
    /// Claims that do not hold.
    pub failed_assertions: Vec<FailedAssertion>,
    /// Claims of which some thread does not know whether they hold, or whether it gets there, in order.
    pub unsettled_claims: Vec<SiteId>,
    /// Expressions in which unsigned arithmetic wrapped, in order.
    pub wrapped: Vec<ExprId>,
    /// Whether a conversion to an unsigned type changed a negative number.
    pub lost_sign: bool,
    /// Counted loops whose unsigned variable wrapped, in order.
    pub wrapped_loops: Vec<SiteId>,
    /// The first phase of any block with an undefined operation or an access out of bounds.
    pub undefined_since: Option<u32>,
    /// The first phase of any block with an access at an address that its type does not admit. In CUDA that ends the
    /// whole launch, and nobody means it: nothing that happens from there on shows anything.
    pub misaligned_since: Option<u32>,
    /// The first phase of any block in which a thread has read what another one may have changed by then: it does not
    /// certainly do what was run.
    pub contested_since: Option<u32>,
    /// The first phase of any block in which an `assert` fails, which may end the thread.
    pub failed_since: Option<u32>,
    /// The first phase of any block at whose end a barrier was not met.
    pub diverged_since: Option<u32>,
    /// The first phase of any block at whose end a barrier of the block, or of a part of it, was not met only by threads
    /// that have returned, and that does not count arrivals. CUDA lets the others go on since Volta.
    pub returned_since: Option<u32>,
    /// Whether an `assume` certainly fails: the setup is not one that the kernel is meant for. The run stops.
    pub vacuous: bool,
    /// Whether some access is inexact, or something kept a thread from certainly going on.
    pub inexact: bool,
    /// Whether all threads ended within the budget (and nothing was vacuous).
    pub finished: bool,
    /// Instructions executed.
    pub steps: u64,
}
