//! Prove, refute, ask (docs/ARCHITECTURE.md, "Prove, refute, ask"): from a protocol to verdicts.
//!
//! Each pair of accesses that can meet gives a [`condition`]: that two distinct threads touch a common byte there,
//! unless atomics order them ([`hand_over`]). It is written down as a [`state`]. [`rules`] prove states unsatisfiable,
//! symbolically, and return a derivation that a separate checker replays; [`premises`] alone knows both conditions and
//! rules. [`refute`] runs the kernel for concrete geometries and returns concrete conflicts; [`ask`] asks an SMT
//! solver, if there is one. What none of them decides stays open.
//!
//! This file has the words that all of them use. Deliberately absent: parsing, lowering, messages, the order in which
//! scopes are tried (`judge`).

pub mod abduction;
pub mod ask;
pub mod condition;
mod domains;
pub mod hand_over;
pub mod premises;
pub mod program_point;
pub mod refute;
pub mod rules;
mod sameness;
pub mod state;
mod words;

pub use premises::Proof;

use crate::calculus::intervals::Meeting;
use crate::calculus::{ArrayId, Geometry, GeometryVar, SiteId};
use crate::memory_model::Level;
use crate::protocol::{AccessId, SyncId};
use crate::source::Span;

/// What iteration numbers are taken to stay below: a loop of more iterations moves its variable out of range.
const MOST_ITERATIONS: i128 = 0x7fff_ffff;

/// Two accesses of two distinct threads that may happen in one interval.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The first access; it stands first in program order, or is the same as the second.
    pub first: AccessId,
    /// The second access.
    pub second: AccessId,
    /// Where the two threads stand to each other: [`Level::Block`] (same block) or [`Level::Grid`] (different blocks).
    pub level: Level,
    /// Of which warps the two threads are, if they are of one block, or of which clusters, if they are of two.
    pub groups: Groups,
    /// How they meet.
    pub meeting: Meeting,
}

/// Of which groups two threads are: of which warps, if they are of one block, or of which clusters, if they are of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Groups {
    /// Of any.
    Any,
    /// Of the same one.
    Same,
    /// Of two.
    Different,
}

impl Groups {
    /// How close two threads are to each other that are of one block or of two, and of these groups.
    pub fn closest(self, level: Level) -> Level {
        match (self, level) {
            (Groups::Same, Level::Block) => Level::Warp,
            (Groups::Same, Level::Grid) => Level::Cluster,
            _ => level,
        }
    }
}

/// What is fixed about the geometry and the parameters while something is proved or refuted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Fixed extents of the block.
    pub block: [Option<u32>; 3],
    /// Fixed extents of the grid.
    pub grid: [Option<u32>; 3],
    /// Fixed values of parameters, by position; missing entries are free.
    pub params: Vec<Option<i128>>,
    /// The most threads of a block, where a proof takes the limit of all devices for granted.
    pub most_threads: Option<u32>,
}

impl Scope {
    /// The value of a size, where these launches or the kernel (`required`, its block) fix it.
    pub fn fixed(&self, var: GeometryVar, required: Option<[u32; 3]>) -> Option<u32> {
        match var {
            GeometryVar::BlockDim(axis) => self.block[axis.index()].or(required.map(|extents| extents[axis.index()])),
            GeometryVar::GridDim(axis) => self.grid[axis.index()],
            _ => None,
        }
    }

    /// Whether every launch of `other` is one of these.
    pub fn contains(&self, other: &Scope) -> bool {
        let within = |mine: &Option<u32>, theirs: &Option<u32>| mine.is_none() || mine == theirs;
        let dims =
            |mine: &[Option<u32>; 3], theirs: &[Option<u32>; 3]| mine.iter().zip(theirs).all(|(a, b)| within(a, b));
        let param = |at: usize| other.params.get(at).copied().flatten();
        dims(&self.block, &other.block)
            && dims(&self.grid, &other.grid)
            && (self.most_threads.is_none() || self.most_threads == other.most_threads)
            && self.params.iter().enumerate().all(|(at, mine)| mine.is_none() || *mine == param(at))
    }
}

/// A value that whoever launches a kernel chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaunchValue {
    /// The extent of a block or of the grid.
    Size(GeometryVar),
    /// A scalar parameter, by position.
    Param(usize),
}

/// Something that a proof relies on and that is reported.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Assumption {
    /// Unsigned arithmetic on the path to an index or guard does not wrap: the expression, as text, and its line.
    NoUnsignedWrap {
        /// The expression in the user's words.
        expression: String,
        /// Where it stands, if it stands in the source as it is.
        span: Option<Span>,
    },
    /// An id or a size that is used as a number of so many bits fits into them.
    FitsInto {
        /// The expression in the user's words.
        expression: String,
        /// The bits.
        bits: u8,
        /// Where it stands, if it stands in the source as it is.
        span: Option<Span>,
    },
    /// Subscripts of an array stay within their dimensions.
    InBounds {
        /// The array.
        array: String,
    },
    /// Pointer parameters point to disjoint memory.
    DisjointPointers(Vec<String>),
    /// A dimension that the kernel never reads is 1 (`"blockDim.y"`).
    DimensionIsOne(String),
    /// Global ids start at 0 along an axis (`"get_global_offset(0)"`).
    NoOffset(String),
    /// A condition that the source states, as text.
    Stated(String),
    /// A condition without which something in the kernel has no meaning that is known, as text.
    Needed(String),
    /// A counter is 0 when the kernel starts.
    StartsAtZero(String),
    /// No number that is drawn from a counter is negative, or too large for the signed type that it is given.
    DrawsFromZero(String),
    /// The block that draws the last number from a counter sees what others did before they drew theirs, though no
    /// acquiring fence stands after the draw.
    LastSees(String),
    /// A variable has a value when it is read: what reads an indeterminate one is undefined.
    HasValue(String),
    /// No access to the array lies at an address that its type does not admit, which is undefined.
    Aligned(String),
    /// No block has more threads than this, as on every device.
    BlockLimit(u32),
    /// Threads that returned are released from barriers (CUDA since Volta).
    ExitedThreadsReleaseBarriers,
}

/// Why a condition stays open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Open {
    /// No rule applied.
    NoRule,
    /// The budget was spent.
    Budget,
    /// A run shows the conflict (or the divergence), so that no proof was sought, or no more expensive one.
    Refuted,
    /// The condition could not be expressed; the reason names the expression.
    NotExpressible(String),
    /// A solver was asked, in vain: what it said.
    Solver(String),
    /// A solver finds it possible, and no launch that was run confirms it: what is said of that.
    Suspected(String),
    /// The facts of the condition contradict each other even without the conflict, so that any proof would be vacuous.
    Vacuous,
}

/// A thread of a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessThread {
    /// Block id.
    pub block: [u32; 3],
    /// Thread id within the block.
    pub thread: [u32; 3],
    /// Values of loop variables and other locals at the access, by name, in order of declaration.
    pub locals: Vec<(String, i128)>,
}

/// A concrete conflict that was replayed from the entry of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The launch.
    pub geometry: Geometry,
    /// The two threads, of the first and the second access.
    pub threads: [WitnessThread; 2],
    /// Values of all scalar parameters, by name.
    pub params: Vec<(String, i128)>,
    /// A common byte, as an offset into the array.
    pub byte_offset: i128,
}

/// A conflict found by running the kernel.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// Sites of the two accesses; the write first, if only one is; otherwise in program order.
    pub sites: [SiteId; 2],
    /// Where the two threads stand to each other.
    pub level: Level,
    /// The witness.
    pub witness: Witness,
    /// Whether an earlier conflict, divergence, trap or out-of-bounds access happens in the same run, so
    /// that this one counts only once the earlier finding is mended.
    pub after_earlier: bool,
    /// Whether it was seen only in runs with an access at an address that its type does not admit, which are undefined;
    /// then it is `after_earlier`, too.
    pub misaligned: bool,
    /// The access out of bounds that comes before it in the same run, if there is one; then it is `after_earlier`, too.
    pub out_of_bounds: Option<SiteId>,
    /// Parameters that are less than 1 in the witness, by name, where no launch was found without such.
    pub degenerate: Vec<String>,
    /// Whether it was seen in a launch whose geometry somebody would choose, as far as it may be chosen: in blocks of at
    /// least two whole warps, in grids of at least two blocks.
    pub is_natural: bool,
    /// Whether launches whose sizes cover their threads were run, several threads of which make both accesses, and none of
    /// these shows the conflict: it needs a size that is less than an extent of the block.
    pub is_far_fetched: bool,
    /// Whether both accesses are writes of the same value.
    pub same_value: bool,
    /// Whether some conflict that was found between the two sites is between threads of two warps.
    pub across_warps: bool,
    /// Whether lock-step execution of warps would hide it: every conflict between the two sites that there can
    /// be is between threads of one warp at different points of the program.
    pub warp_synchronous: bool,
}

/// A number that an array holds at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The array.
    pub array: ArrayId,
    /// Where, in bytes.
    pub offset: i64,
    /// Its size.
    pub bytes: u32,
    /// What it is.
    pub value: i128,
}

/// A conflict that happens if memory holds certain numbers, whatever else it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataConflict {
    /// The launch and the threads, of the first and the second access of the pair.
    pub witness: Witness,
    /// What memory must hold, sorted by array and place.
    pub contents: Vec<Held>,
    /// Whether both accesses write the same number there.
    pub same_value: bool,
}

/// A barrier that one thread reaches and another does not, found by running the kernel.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// The sync that the first thread waits at.
    pub sync: SiteId,
    /// The sync that the second thread waits at instead; `None` if it has ended.
    pub other: Option<SiteId>,
    /// Whether the second thread ended by `return`.
    pub returned: bool,
    /// Whether the barrier is not for the first thread; then the second one is the same.
    pub unnamed: bool,
    /// The witness: the thread that waits and the one that does not.
    pub witness: Witness,
}

impl Divergence {
    /// Whether both threads are of one block.
    pub fn is_in_one_block(&self) -> bool {
        let [waiting, other] = &self.witness.threads;
        waiting.block == other.block
    }
}

/// A question about a sync: can two threads of a block (or warp), or of two blocks of the grid (or cluster), disagree
/// about reaching it?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncQuestion {
    /// The sync.
    pub sync: SyncId,
    /// Whether the two threads are of one block ([`Level::Block`]) or of two ([`Level::Grid`]).
    pub level: Level,
    /// Of which warps or clusters the two threads are: of the same one for a sync of a warp, whose size is known, or of
    /// a cluster.
    pub groups: Groups,
}

/// What a barrier does about threads that have returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Returned {
    /// It does not wait for them (CUDA since Volta): guards that only say "has not returned" do not count.
    ReleaseBarriers,
    /// It waits for them for ever (OpenCL).
    StillCount,
}
