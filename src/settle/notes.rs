//! What the walk of `lower` saw beside the statements, and the passes here need: plain data, which `lower` fills and nobody
//! changes afterwards.
//!
//! Deliberately absent: what the walk needs for itself, and what any statement says.

use crate::calculus::{ArrayId, ExprId, SiteId, VarId};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// What the walk saw beside the statements.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Barriers that are objects.
    pub objects: Objects,
    /// Pipelines that the threads of a block share.
    pub pipelines: Pipelines,
    /// The sites of accesses that libraries make.
    pub of_libraries: BTreeSet<SiteId>,
    /// In which units arrays are addressed.
    pub units: Units,
    /// Logs of accesses that claims are about.
    pub logs: Vec<Log>,
    /// Calls that threads of a warp make together.
    pub warps: Warps,
    /// Variables that say that the thread has jumped, or fallen through to a label.
    pub jumps: FxHashSet<VarId>,
}

/// A barrier that is an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// The array that holds it.
    pub array: ArrayId,
    /// Byte offset in the array.
    pub offset: ExprId,
}

/// A barrier is told how many arrivals it waits for.
#[derive(Clone, Copy, Debug)]
pub struct Init {
    /// Which one.
    pub object: Object,
    /// How many, of type `i64`.
    pub count: ExprId,
    /// The write that tells it.
    pub site: SiteId,
}

/// A wait that stands by itself, as a step at its object.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// The step.
    pub site: SiteId,
    /// The parity of the phase that it waits for; `None` if it waits for its thread's last arrival.
    pub parity: Option<ExprId>,
}

/// Barriers that are objects.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    /// Where they are told how many arrivals they wait for.
    pub inits: Vec<Init>,
    /// Steps that a wait after them stands for, or that are told as not modelled.
    pub dropped: BTreeSet<SiteId>,
    /// The arrays of those that a thread waits for after its arrival.
    pub waited_for: BTreeSet<ArrayId>,
    /// The waits that stand by themselves.
    pub waits: Vec<Wait>,
}

/// A pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    /// Its state, which starts with the objects that say "full".
    pub object: Object,
    /// How many stages it has.
    pub stages: u32,
    /// Where the objects start that say "empty".
    pub empty: ExprId,
    /// Whether a thread fills stages, where not all do.
    pub fills: Option<ExprId>,
    /// Where all threads make it.
    pub site: SiteId,
}

/// A copy into a pipeline.
#[derive(Clone, Debug)]
pub struct Copied {
    /// Who makes it.
    pub by: CopiedBy,
    /// The accesses.
    pub sites: BTreeSet<SiteId>,
    /// Where it stands.
    pub span: Span,
}

/// Who makes a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopiedBy {
    /// Each thread by itself.
    Thread,
    /// Threads of a group together.
    Group,
}

/// Pipelines that the threads of a block share.
#[derive(Clone, Debug, Default)]
pub struct Pipelines {
    /// The pipelines.
    pub made: Vec<Made>,
    /// What is copied into them.
    pub copies: Vec<Copied>,
}

/// In which units arrays are addressed.
#[derive(Clone, Debug, Default)]
pub struct Units {
    /// Arrays that are addressed in units of unknown size and in others, too.
    pub mixed: BTreeSet<ArrayId>,
    /// Arrays of which nothing is known that they hold.
    pub forgotten: BTreeSet<ArrayId>,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

/// The log of the accesses to an array.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    /// The array.
    pub array: ArrayId,
    /// Which accesses.
    pub direction: Direction,
    /// Whether there was one.
    pub made: VarId,
    /// The offset of its first byte.
    pub offset: VarId,
    /// Whether it is about the access just made.
    pub chosen: VarId,
}

/// Calls that threads of a warp make together, by the variables that hold what they gave.
#[derive(Clone, Debug, Default)]
pub struct Warps {
    /// The variable that stands for the number of the thread within its warp, if something asks for it.
    pub lane: Option<VarId>,
    /// Masks of threads as they come from votes.
    pub masks: FxHashMap<VarId, Source>,
    /// Shuffles from one lane.
    pub shuffles: FxHashMap<VarId, Shuffle>,
    /// Ranks in a group, with what stands for its mask.
    pub ranks: FxHashMap<VarId, ExprId>,
    /// Sizes of a group.
    pub sizes: FxHashMap<VarId, ExprId>,
    /// Shuffles, votes and reductions whose result a formula may be.
    pub exchanges: FxHashMap<VarId, Exchange>,
}

/// Where a mask comes from; the variable is true in the threads that it names, and assigned there.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// The threads that another mask names voted.
    Votes(VarId, ExprId),
    /// Threads happened to be there together.
    Active(VarId),
}

impl Source {
    /// The variable that is true in the threads that the mask names.
    pub fn var(self) -> VarId {
        match self {
            Source::Votes(var, _) | Source::Active(var) => var,
        }
    }
}

/// How lanes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Within the warp.
    OfWarp,
    /// Within the mask.
    OfMask,
}

/// What a shuffle from one lane hands on.
#[derive(Clone, Copy, Debug)]
pub struct Shuffle {
    /// The value that each thread has for it.
    pub value: ExprId,
    /// The lane that it is taken from.
    pub lane: ExprId,
    /// The mask of the threads that it is for; `None` for the whole warp.
    pub mask: Option<ExprId>,
    /// How that lane is counted.
    pub lanes: Lanes,
}

/// Which lane a shuffle reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partner {
    /// The one of a number.
    Lane,
    /// So many below.
    Below,
    /// So many above.
    Above,
    /// The own number with bits flipped.
    Flipped,
    /// Any of them: what all put in alike, a vote or a reduction gives back.
    Anyone,
}

/// A shuffle, a vote or a reduction.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// Which lane it reads from.
    pub from: Partner,
    /// The value that each thread has for it.
    pub value: ExprId,
    /// The lane, the distance or the bits.
    pub by: ExprId,
    /// Lanes that exchange with each other: a power of two up to a warp.
    pub segment: u32,
    /// The mask of the threads that it is for; `None` for all of the segment.
    pub mask: Option<ExprId>,
}
