//! A kernel as the machine runs it: a flat list of instructions over registers, and what they speak of.
//!
//! Registers are numbered: first the variables, then constants, parameters, the twelve ids and sizes, and
//! at last the temporaries of expressions, which live within one statement. Only variables survive a
//! barrier, so a thread that waits is its program counter and its variables. `compile` writes it, once per
//! kernel.

use super::Fence;
use super::compile;
use crate::calculus::{
    Access, Among, ArrayId, AtomicOp, BinaryOp, BitCount, ExprId, Exprs, GeometryFacts, GeometryVar, Kernel,
    MemoryOrder, ScalarType, SiteId, Space, SyncMemory, SyncScope, UnaryOp,
};

pub(super) type Register = u32;
pub(super) type Target = u32;

#[derive(Clone, Debug)]
pub(super) enum Instruction {
    Unary {
        op: UnaryOp,
        ty: ScalarType,
        to: Register,
        a: Register,
        expr: ExprId,
    },
    Binary {
        op: BinaryOp,
        ty: ScalarType,
        to: Register,
        a: Register,
        b: Register,
        expr: Option<ExprId>,
    },
    Select {
        to: Register,
        c: Register,
        a: Register,
        b: Register,
    },
    Convert {
        to: Register,
        a: Register,
        ty: ScalarType,
        /// Whether it is from a type with a sign to one without.
        drops_sign: bool,
    },
    /// Counts bits of a number that is known; of another one it gives what is in `uncounted`.
    Count {
        what: BitCount,
        ty: ScalarType,
        to: Register,
        a: Register,
        uncounted: Register,
    },
    /// Anything on values that are not computed with: equal inputs (and `key`) give equal results.
    Opaque {
        to: Register,
        key: u64,
        args: Box<[Register]>,
        ty: ScalarType,
    },
    Let {
        var: Register,
        from: Register,
    },
    /// Moves the variable of a counted loop.
    Step {
        op: BinaryOp,
        ty: ScalarType,
        var: Register,
        by: Register,
        site: SiteId,
    },
    Read {
        var: Register,
        ty: ScalarType,
        access: u32,
        offset: Register,
    },
    Write {
        access: u32,
        offset: Register,
        value: Option<Register>,
    },
    Atomic {
        var: Option<(Register, ScalarType)>,
        access: u32,
        offset: Register,
        atomic: u32,
    },
    Jump(Target),
    /// Continues at `otherwise` if the condition is false; the arms meet at `join`.
    Branch {
        cond: Register,
        otherwise: Target,
        join: Target,
    },
    /// Where the arms of a conditional meet.
    Join,
    LoopTest {
        cond: Register,
        body: Target,
        exit: Target,
        shape: u32,
    },
    Sync {
        sync: u32,
    },
    Fence {
        fence: u32,
    },
    Havoc {
        var: Register,
        ty: ScalarType,
    },
    /// A value that all threads of a group of this scope get in the same turn: the `slot`-th of the program.
    Common {
        var: Register,
        ty: ScalarType,
        scope: SyncScope,
        slot: u32,
    },
    Assume {
        cond: Register,
    },
    Given {
        cond: Register,
    },
    Assert {
        cond: Register,
        claim: u32,
    },
    /// A condition about two threads: the thread is compared with those that were here in the same turns.
    Relate {
        relation: u32,
    },
    /// A loop around such a condition begins.
    FirstTurn {
        slot: u32,
    },
    NextTurn {
        slot: u32,
    },
    End,
}

#[derive(Clone, Debug)]
pub(super) struct AtomicShape {
    pub(super) op: AtomicOp,
    pub(super) operands: Vec<Register>,
    pub(super) order: MemoryOrder,
    pub(super) scope: SyncScope,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SyncShape {
    pub(super) site: SiteId,
    pub(super) scope: SyncScope,
    pub(super) memory: SyncMemory,
    pub(super) among: Among,
}

#[derive(Clone, Debug)]
pub(super) struct LoopShape {
    /// Variables that the loop assigns.
    pub(super) assigned: Vec<Register>,
    /// How a counted loop moves, if it ends whatever its bound is, provided that it moves on at every turn.
    pub(super) moves: Option<BinaryOp>,
}

/// Memories whose syncs are counted apart: shared, global, and so many arrays with syncs of their own. Of further ones
/// those are not counted, so that runs take accesses for unordered that are ordered.
pub(super) const MEMORIES: usize = 8;
/// The first of them that is one array's own.
pub(super) const OWN: usize = 3;

#[derive(Clone, Debug)]
pub(super) struct ArrayShape {
    pub(super) space: Space,
    /// Which of the memories it counts as.
    pub(super) memory: usize,
    pub(super) bytes: Option<u64>,
    pub(super) is_param: bool,
    /// Whether what it holds at the launch comes from outside.
    pub(super) is_given: bool,
    /// Whether the kernel may write it.
    pub(super) is_written: bool,
    /// The size of the largest access, and whether all have it.
    pub(super) widest: u32,
    pub(super) is_uniform: bool,
    /// Whether what its block writes is [kept](super::kept) under chosen contents.
    pub(super) is_kept: bool,
}

/// A condition about two threads.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) cond: ExprId,
    /// The claim that it is; `None` for an assumption.
    pub(super) claim: Option<u32>,
    /// The counters of the loops around it.
    pub(super) slots: Vec<u32>,
}

/// A kernel, ready to run under any geometry.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) code: Vec<Instruction>,
    pub(super) variables: Vec<ScalarType>,
    pub(super) constants: Vec<i64>,
    pub(super) params: Vec<ScalarType>,
    pub(super) registers: usize,
    pub(super) accesses: Vec<Access>,
    pub(super) atomics: Vec<AtomicShape>,
    pub(super) syncs: Vec<SyncShape>,
    pub(super) fences: Vec<Fence>,
    pub(super) loops: Vec<LoopShape>,
    pub(super) claims: Vec<SiteId>,
    pub(super) relations: Vec<Relation>,
    /// What relations and names of threads are made of; empty if there are none.
    pub(super) conditions: Exprs,
    /// Whether some barrier is for some threads of its scope, or for groups of them.
    pub(super) has_groups: bool,
    /// How many threads run in lock-step, if any do.
    pub(super) step: Option<u32>,
    /// Turns of loops that are counted.
    pub(super) slots: u32,
    /// Calls that give all threads of a group the same value.
    pub(super) commons: u32,
    pub(super) arrays: Vec<ArrayShape>,
    /// What the source says of blocks and clusters.
    pub(super) geometry: GeometryFacts,
    /// Arrays with syncs of their own.
    pub(super) own_syncs: Vec<ArrayId>,
    pub(super) returned: Option<Register>,
    pub(super) exprs: usize,
    pub(super) sites: usize,
}

impl Program {
    /// Compiles a valid kernel.
    pub fn new(kernel: &Kernel) -> Self {
        compile::compile(kernel)
    }

    /// Whether blocks run together: they wait for each other, see each other's shared memory, or have atomics that reach
    /// the blocks of one cluster and no others.
    pub fn runs_blocks_together(&self) -> bool {
        self.atomics.iter().any(|atomic| self.reach(atomic.scope) == SyncScope::Cluster)
            || self.syncs.iter().any(|sync| self.reach(sync.scope) > SyncScope::Block)
            || self.arrays.iter().any(|array| array.space == Space::Distributed)
    }

    /// Whether bytes of an array that a cluster shares lie outside all of its copies.
    pub(super) fn is_outside_its_copies(&self, start: i128, end: i128, shape: &ArrayShape) -> bool {
        let blocks = self.geometry.cluster.unwrap_or([1; 3]).iter().map(|&blocks| i128::from(blocks)).product();
        let (rank, own) = (start.div_euclid(Space::HOME), start.rem_euclid(Space::HOME));
        let end = end - rank * Space::HOME;
        !(0..blocks).contains(&rank) || end > shape.bytes.map_or(Space::HOME, i128::from) || own >= end
    }

    /// The threads that a sync of a scope waits for: where clusters have one block, those of the block.
    pub(super) fn reach(&self, scope: SyncScope) -> SyncScope {
        match scope {
            SyncScope::Cluster if self.geometry.clusters().is_none() => SyncScope::Block,
            SyncScope::System => SyncScope::Grid,
            scope => scope,
        }
    }

    /// The bytes of the largest access to each array, by its position; 0 where there is none.
    pub fn largest_accesses(&self) -> Vec<u32> {
        let mut largest = vec![0; self.arrays.len()];
        for access in &self.accesses {
            let known: &mut u32 = &mut largest[access.array.index()];
            *known = access.bytes.max(*known);
        }
        largest
    }

    /// What the offset of the access at a site must be a multiple of.
    pub fn alignment(&self, site: SiteId) -> u32 {
        self.accesses.iter().find(|access| access.site == site).map_or(1, |access| access.align)
    }

    pub(super) fn first_param(&self) -> usize {
        self.variables.len() + self.constants.len()
    }

    pub(super) fn first_geometry(&self) -> usize {
        self.first_param() + self.params.len()
    }
}

/// The place of an id or size among the twelve.
pub(super) fn geometry_index(var: GeometryVar) -> usize {
    match var {
        GeometryVar::ThreadIdx(axis) => axis.index(),
        GeometryVar::BlockIdx(axis) => 3 + axis.index(),
        GeometryVar::BlockDim(axis) => 6 + axis.index(),
        GeometryVar::GridDim(axis) => 9 + axis.index(),
    }
}
