//! Memory access protocols (MAPs): what each thread reads and writes, between which barriers, under which
//! conditions, with the contents of arrays forgotten (docs/SEMANTICS.md, "Protocols"; after
//! docs/PAPERS.md, "Liew 2024, section 4").
//!
//! A [`Protocol`] is inferred from a [`calculus::Kernel`](crate::calculus::Kernel) by symbolic execution.
//! Every index and guard is an expression over parameters, ids and sizes, iteration numbers of the loops
//! around it, and [`Opaque`] values. Where the paper's typing would fail (an index or guard that a read
//! flows into) the access is marked **approximate** with its [`Reason`]s instead.
//!
//! Invariants:
//! - Sites are those of the kernel: an access, sync or loop of the protocol has the site of the one it
//!   stands for.
//! - Over-approximation: every access that a thread makes in a run is an instance of the access with that
//!   site, with the guards and offset that the run had (docs/SEMANTICS.md, "The theorem"; a property test).
//! - An access without reasons is **exact**: in a race-free prefix its instances are exactly those that the
//!   protocol describes, and evaluation computes them.
//!
//! Deliberately absent: what memory holds, other than "equal reads give equal values" ([`Opaque`]).

mod counted;
mod handed;
pub mod infer;
pub mod instance;
pub mod sources;
mod stability;
pub mod text;
pub mod uniform;

#[cfg(test)]
mod tests;

use crate::arena::{Arena, Handle, SideTable};
use crate::calculus::{
    Among, Array, ArrayId, Basis, BinaryOp, Claimed, Expr, ExprId, Exprs, Function, GeometryFacts, HavocReason,
    MemoryOrder, Param, Site, SiteId, SyncMemory, SyncScope, Unsupported, VarId, Variable,
};
use crate::memory_model::{AccessKind, Level};
use crate::source::Span;
use rustc_hash::FxHashSet;

/// Handle of an access.
pub type AccessId = Handle<Access>;
/// Handle of a sync.
pub type SyncId = Handle<Sync>;
/// Handle of a fence.
pub type FenceId = Handle<Fence>;
/// Handle of a loop.
pub type LoopId = Handle<Loop>;
/// Handle of an unknown value.
pub type OpaqueId = Handle<Opaque>;

/// The protocol of one kernel.
#[derive(Clone, Debug, Default)]
pub struct Protocol {
    /// The kernel's name.
    pub name: String,
    /// Its parameters; handles are the kernel's.
    pub params: Arena<Param>,
    /// Its arrays; handles are the kernel's.
    pub arrays: Arena<Array>,
    /// Its sites; handles are the kernel's.
    pub sites: Arena<Site>,
    /// Variables that indices and guards mention; what each is, is in `roles`. Not the kernel's variables.
    pub vars: Arena<Variable>,
    /// What each variable is.
    pub roles: SideTable<Variable, Role>,
    /// Expressions over parameters, geometry and `vars`.
    pub exprs: Exprs,
    /// Accesses in program order. Private arrays have none.
    pub accesses: Arena<Access>,
    /// Syncs in program order.
    pub syncs: Arena<Sync>,
    /// Fences in program order.
    pub fences: Arena<Fence>,
    /// Loops, outer before inner.
    pub loops: Arena<Loop>,
    /// Unknown values.
    pub opaques: Arena<Opaque>,
    /// The tree.
    pub body: Vec<Node>,
    /// Conditions that may be relied on.
    pub facts: Vec<Fact>,
    /// Conditions that the user claims, in program order.
    pub claims: Vec<Claim>,
    /// Geometry as the source states it.
    pub geometry: GeometryFacts,
    /// What could not be modelled.
    pub unsupported: Vec<Unsupported>,
    /// Where expressions come from.
    pub spans: SideTable<crate::calculus::Expr, Span>,
}

/// A relation between two threads that a [`Fact`] states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relational {
    /// The value differs between any two threads.
    Distinct(ExprId),
    /// The value is the same in all threads.
    Uniform(ExprId),
    /// The condition holds of any two threads, whichever is the other one.
    Formula(ExprId),
}

impl Protocol {
    /// The relation between threads that a condition states, if it states one.
    pub fn relation(&self, cond: ExprId) -> Option<Relational> {
        if let Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) = self.exprs[cond] {
            let of_both = [(a, b), (b, a)].into_iter().find(|&(own, other)| self.in_other(other) == Some(own));
            if let Some((value, _)) = of_both.filter(|&(value, _)| !self.relates_threads(value)) {
                return Some(if op == BinaryOp::Eq { Relational::Uniform(value) } else { Relational::Distinct(value) });
            }
        }
        self.relates_threads(cond).then_some(Relational::Formula(cond))
    }

    /// What the expression is the value of in the other thread, if it is one.
    pub fn in_other(&self, expr: ExprId) -> Option<ExprId> {
        let Expr::Var(var) = self.exprs[expr] else { return None };
        let Some(&Role::Opaque(id)) = self.roles.get(var) else { return None };
        self.opaques[id].in_other()
    }

    /// Whether a condition is about two threads.
    pub fn relates_threads(&self, cond: ExprId) -> bool {
        self.mentions(cond, |opaque| opaque.in_other().is_some() || opaque.is_same_block())
    }

    /// Whether a condition is about any of several accesses, of which a run looks at one.
    pub fn is_about_accesses(&self, cond: ExprId) -> bool {
        self.mentions(cond, |opaque| opaque.origin == Origin::Havoc(HavocReason::Choice))
    }

    /// Whether it is left to the implementation which threads make this access, as in a copy that a group makes
    /// together.
    pub fn is_shared_out(&self, access: &Access) -> bool {
        let is_left = |opaque: &Opaque| matches!(opaque.origin, Origin::Havoc(HavocReason::Implementation(_)));
        access.guards.iter().any(|guard| self.mentions(guard.cond, is_left))
    }

    /// Whether a value is computed from an unknown value of this kind.
    fn mentions(&self, value: ExprId, is_wanted: impl Fn(&Opaque) -> bool) -> bool {
        if !self.opaques.iter().any(|(_, opaque)| is_wanted(opaque)) {
            return false;
        }
        let mut seen = FxHashSet::default();
        let mut pending = vec![value];
        while let Some(root) = pending.pop() {
            let mut unknown = Vec::new();
            self.exprs.visit(root, |_, node| {
                if let Expr::Var(var) = node
                    && let Some(&Role::Opaque(id)) = self.roles.get(*var)
                    && seen.insert(id)
                {
                    unknown.push(id);
                }
            });
            for id in unknown {
                let opaque = &self.opaques[id];
                if is_wanted(opaque) {
                    return true;
                }
                match &opaque.origin {
                    Origin::Function { args: from, .. } | Origin::Loop { from, .. } => pending.extend(from),
                    Origin::Complex { value } => pending.push(*value),
                    _ => {}
                }
            }
        }
        false
    }
}

/// A node of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// An access.
    Access(AccessId),
    /// A barrier.
    Sync(SyncId),
    /// A fence.
    Fence(FenceId),
    /// `if cond { then } else { otherwise }`
    If {
        /// The condition.
        cond: ExprId,
        /// What happens if it holds.
        then: Vec<Node>,
        /// What happens otherwise.
        otherwise: Vec<Node>,
    },
    /// A loop.
    Loop(LoopId, Vec<Node>),
}

/// What a variable of a protocol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The number, from 0, of the current iteration of a loop, of type `I64`. Never negative.
    Iteration(LoopId),
    /// The current value of a variable that a loop multiplies or divides each turn; the loop says how.
    Geometric(LoopId),
    /// The parity of the current iteration of a loop: 0, 1, 0, 1, … What a loop toggles or swaps is an
    /// expression over it.
    Toggle(LoopId),
    /// An unknown value.
    Opaque(OpaqueId),
}

/// A condition on the way to an access, sync or fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// It holds on this way.
    pub cond: ExprId,
    /// Whether all it says is "this thread has not returned".
    pub not_returned: bool,
    /// The loop whose test it is, if it is one.
    pub of_loop: Option<LoopId>,
}

/// An access.
#[derive(Clone, Debug)]
pub struct Access {
    /// Its identity.
    pub site: SiteId,
    /// The array.
    pub array: ArrayId,
    /// Offset of the first byte.
    pub offset: ExprId,
    /// Number of bytes.
    pub bytes: u32,
    /// What its address is a multiple of, or else the access is undefined; 1 where nothing is asked of it, or its form
    /// shows it.
    pub align: u32,
    /// What it does.
    pub kind: AccessKind,
    /// What it stores, if that can be said.
    pub value: Option<ExprId>,
    /// What it does to a lock or a flag, if its cell is one.
    pub lock: Option<Lock>,
    /// All conditions on the way from the entry, in order.
    pub guards: Vec<Guard>,
    /// The loops around it, outermost first.
    pub loops: Vec<LoopId>,
    /// Why it is approximate; empty if it is exact.
    pub reasons: Vec<Reason>,
}

/// What an atomic does to a cell that is 0 exactly while nobody holds it (a lock), or until something is done (a flag).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Where it finds 0, it leaves another number; whatever else it finds, it does not leave 0.
    Take,
    /// It leaves 0, in one step with reading what was there.
    Release,
    /// It leaves 0 and does not read.
    Clear,
    /// It leaves a number other than 0, and does not tell what was there.
    Set,
    /// It leaves what it finds.
    Look,
}

/// A barrier.
#[derive(Clone, Debug)]
pub struct Sync {
    /// Its identity.
    pub site: SiteId,
    /// Threads that it orders.
    pub scope: SyncScope,
    /// Memory that it orders.
    pub memory: SyncMemory,
    /// For which threads of its scope it is; what names them is the last of the guards.
    pub among: Among,
    /// All conditions on the way from the entry, in order.
    pub guards: Vec<Guard>,
    /// The loops around it, outermost first.
    pub loops: Vec<LoopId>,
    /// Why its guards are approximate; empty if they are exact.
    pub reasons: Vec<Reason>,
}

/// A fence.
#[derive(Clone, Debug)]
pub struct Fence {
    /// Its identity.
    pub site: SiteId,
    /// In which directions it orders.
    pub order: MemoryOrder,
    /// For whom.
    pub scope: SyncScope,
    /// Memory that it orders.
    pub memory: SyncMemory,
    /// All conditions on the way from the entry, in order.
    pub guards: Vec<Guard>,
    /// The loops around it, outermost first.
    pub loops: Vec<LoopId>,
    /// How many accesses stand before it in program order: their handles are below this.
    pub after: usize,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its identity.
    pub site: SiteId,
    /// Its iteration number.
    pub iteration: VarId,
    /// What holds in the body in the current iteration because the test let the thread in, over the
    /// iteration number (and geometric values); `true` if nothing is known.
    pub guard: ExprId,
    /// What must hold at the end of a turn, over the values of that turn, for another turn to follow, as far
    /// as the next turn's `guard` does not say so: that no `break` or `return` was taken. `true` if there is
    /// no such thing. So turn `k` happens exactly if turn `k - 1` does, `continues` holds in it, and `guard`
    /// holds in turn `k`.
    pub continues: ExprId,
    /// Variables that move geometrically or toggle.
    pub carried: Vec<Carried>,
    /// The loops around it, outermost first.
    pub loops: Vec<LoopId>,
    /// Conditions on the way to it.
    pub guards: Vec<Guard>,
    /// Whether its body holds a sync, at any depth.
    pub has_sync: bool,
    /// Why the number of its turns is approximate; empty if it is exact.
    pub reasons: Vec<Reason>,
}

/// A variable that a loop moves by other than a constant step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The protocol variable that stands for its value in the current iteration.
    pub var: VarId,
    /// Its value in iteration 0.
    pub start: ExprId,
    /// Its value in the next iteration, over `var`: `s * 2`, `s >> 1`, `1 - p`.
    pub next: ExprId,
}

/// A value that the protocol does not know.
#[derive(Clone, Debug)]
pub struct Opaque {
    /// The variable that stands for it.
    pub var: VarId,
    /// Where it comes from.
    pub origin: Origin,
    /// Loops around the place where it arises, outermost first.
    pub loops: Vec<LoopId>,
    /// The widest level at which two threads that compute it in equal turns of these loops get equal values;
    /// `None` if it may differ even within a block. See [`uniform`].
    pub uniform: Option<Level>,
    /// The store whose value it is, made in the same turns of the loops around the store by a thread of the same block.
    /// See [`handed`].
    pub handed: Option<AccessId>,
    /// The store that set the counter of a block which it was drawn or read from, in the same turns of the loops around,
    /// and since which only positive constants were added there. See [`counted`].
    pub counted: Option<AccessId>,
    /// Where.
    pub span: Option<Span>,
}

impl Opaque {
    /// Whether this says that both threads are of one block.
    pub fn is_same_block(&self) -> bool {
        matches!(&self.origin, Origin::Function { function: Function::SameBlock, .. })
    }

    /// What this is the value of in the other thread, if it is one.
    pub fn in_other(&self) -> Option<ExprId> {
        match &self.origin {
            Origin::Function { function: Function::Other, args } => args.first().copied(),
            _ => None,
        }
    }

    /// Whether two threads that stand to each other as `level` says compute equal values in equal turns.
    pub fn is_uniform(&self, level: Level) -> bool {
        self.uniform.is_some_and(|widest| level <= widest)
    }
}

/// Where an unknown value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A read. If `stable`, nothing writes the array within the interval of the read (anywhere at all, for
    /// global memory), so that equal offsets in the same iterations give equal values in all threads of a
    /// block; if `constant`, nothing ever writes it, so that equal offsets always give equal values (to the
    /// threads that share the array: of one block, for shared memory). Both are false for private arrays.
    Read {
        /// The array.
        array: ArrayId,
        /// Site of the read.
        site: SiteId,
        /// Offset.
        offset: ExprId,
        /// Number of bytes.
        bytes: u32,
        /// See above.
        stable: bool,
        /// See above.
        constant: bool,
    },
    /// The old value that an atomic returned.
    Atomic {
        /// The array.
        array: ArrayId,
        /// Site of the atomic.
        site: SiteId,
        /// What tells it from what other atomics return, if it was drawn from a counter.
        ticket: Option<Ticket>,
        /// What the atomic does to its cell, if it counts there, whatever others do.
        count: Option<Count>,
    },
    /// A havoc of the calculus.
    Havoc(HavocReason),
    /// The value that a variable has at the start of a turn of a loop that changes it irregularly, or after
    /// a loop that changes it. It is a value after the loop if [`Opaque::loops`] does not hold that loop.
    Loop {
        /// The loop.
        site: SiteId,
        /// The variable's name.
        name: String,
        /// What it is computed from: its value before the loop and its value at the end of a turn, the latter
        /// over the values of that turn (this one among them). How many turns there are also decides a value
        /// after the loop.
        from: Vec<ExprId>,
    },
    /// A value that is known but whose expression grew past the budget.
    Complex {
        /// The expression.
        value: ExprId,
    },
    /// A function of `args`: equal arguments, equal values, if it is one by name. [`Function::Other`] is none: it is the value
    /// of its argument in another thread.
    Function {
        /// The function.
        function: Function,
        /// Its arguments.
        args: Vec<ExprId>,
    },
}

/// A number that was drawn from a counter: what an atomic returned that added to a cell of memory.
///
/// There is one only if every atomic that touches the array adds something of the same sign to as many bytes. So of
/// two numbers that are drawn from one cell, between which nothing else writes there, the later one is the earlier one
/// and what that one added, at least, unless the counter wraps. Whether nothing else writes is for the user of the
/// ticket to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Offset of the cell.
    pub offset: ExprId,
    /// What was added.
    pub step: Step,
}

/// What a ticket takes from its counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// This, which is not zero.
    Constant(i64),
    /// The value of this expression, which is never negative.
    Amount(ExprId),
}

impl Step {
    /// Whether the counter moves down.
    pub fn falls(self) -> bool {
        matches!(self, Step::Constant(step) if step < 0)
    }

    /// What it is, if that is a constant.
    pub fn constant(self) -> Option<i64> {
        match self {
            Step::Constant(step) => Some(step),
            Step::Amount(_) => None,
        }
    }

    /// The expression that it is, unless it is a constant.
    pub fn amount(self) -> Option<ExprId> {
        match self {
            Step::Constant(_) => None,
            Step::Amount(amount) => Some(amount),
        }
    }
}

/// What an atomic that counts does to its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Offset of the cell.
    pub offset: ExprId,
    /// What it adds; not zero.
    pub step: i64,
    /// The value, of an unsigned type, from which on it starts at 0 again instead of adding (`atomicInc`).
    pub limit: Option<ExprId>,
}

/// A condition that holds under guards.
#[derive(Clone, Debug)]
pub struct Fact {
    /// The condition.
    pub cond: ExprId,
    /// Whether it is stated or proved; never a candidate.
    pub basis: Basis,
    /// Conditions on the way to it.
    pub guards: Vec<Guard>,
    /// The loops around it.
    pub loops: Vec<LoopId>,
    /// What stands before it.
    pub before: Before,
    /// Where it stands.
    pub span: Option<Span>,
}

/// How many accesses, syncs and facts stand before a place in program order: their handles are below these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Before {
    /// Accesses.
    pub accesses: usize,
    /// Syncs.
    pub syncs: usize,
    /// Facts.
    pub facts: usize,
}

impl Fact {
    /// Whether the fact may be used where an access of that number is made. What is stated restricts whole runs;
    /// what is proved holds once a thread has got there.
    pub fn holds_at_access(&self, access: AccessId) -> bool {
        self.basis.is_told() || self.before.accesses <= access.index()
    }

    /// The same for a sync.
    pub fn holds_at_sync(&self, sync: SyncId) -> bool {
        self.basis.is_told() || self.before.syncs <= sync.index()
    }

    /// Whether every condition on the way to it holds where these guards do, in turns of these loops.
    pub fn is_passed(&self, loops: &[LoopId], guards: &[Guard]) -> bool {
        self.guards.iter().all(|guard| guards.iter().any(|other| other.cond == guard.cond))
            && self.loops.iter().all(|id| loops.contains(id))
    }
}

/// A condition that is claimed under guards.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its identity.
    pub site: SiteId,
    /// Who claims it.
    pub claimed: Claimed,
    /// The condition.
    pub cond: ExprId,
    /// Conditions on the way to it.
    pub guards: Vec<Guard>,
    /// The loops around it.
    pub loops: Vec<LoopId>,
    /// What stands before it.
    pub before: Before,
    /// Why it is approximate; empty if running the kernel computes it.
    pub reasons: Vec<Reason>,
}

/// Why something is approximate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reason {
    /// In which way.
    pub kind: ReasonKind,
    /// The place that made it so: the read, the loop, the call.
    pub span: Option<Span>,
    /// The array that was read, if it was a read.
    pub array: Option<ArrayId>,
}

/// The ways in which something is approximate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReasonKind {
    /// A read flows into the index.
    DataDependentIndex,
    /// A read flows into a guard or a loop bound.
    DataDependentGuard,
    /// The number of turns of a loop is not known.
    UnknownLoopCount,
    /// A call, clock or other value that is not modelled.
    UnsupportedCall,
    /// Where a pointer leads that was loaded from memory or made of a number.
    UnknownPointer,
    /// Only what promises no order stands between: a collective of a library.
    UnpromisedOrder,
    /// The expression grew past the budget.
    TooComplex,
}
