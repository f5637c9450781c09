//! The translation of a protocol's expressions at the places of two threads.
//!
//! A polynomial that this gives is the exact value of an expression in one thread, as a mathematical integer; what had to
//! be assumed for that is noted. Integers are in [`integers`](super::integers) and [`bits`](super::bits), with
//! [`wrapping`](super::wrapping) for what may not fit, conditions in [`truth`](super::truth), variables in
//! [`variables`](super::variables). What they give is put down in [`Draft`].

use super::environments::{EnvId, Environments};
use super::last_iteration::LastIteration;
use super::launch::Launch;
use crate::calculus::{ExprId, GeometryVar};
use crate::memory_model::Level;
use crate::protocol::instance::Valuation;
use crate::protocol::{LoopId, OpaqueId, Protocol};
use crate::prove::condition::asking::oracle::Oracle;
use crate::prove::condition::draft::Draft;
use crate::prove::state::poly::{Poly, Side};
use crate::prove::words::words;
use crate::prove::{Assumption, Scope};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What was translated before.
#[derive(Clone, Default)]
pub(in crate::prove::condition) struct Memoised {
    /// Values of expressions, by environment.
    pub(in crate::prove::condition) values: FxHashMap<(ExprId, EnvId), Option<Poly>>,
    /// Values modulo two to the width of the type.
    pub(in crate::prove::condition) residues: FxHashMap<(ExprId, EnvId), Option<Poly>>,
    /// The last iterations of loops that stand before a place.
    pub(in crate::prove::condition) last_iterations: FxHashMap<(LoopId, EnvId), LastIteration>,
    /// Numbers that loops leave.
    pub(in crate::prove::condition) left: FxHashMap<OpaqueId, Option<i64>>,
}

impl Memoised {
    /// Values are to be read anew: more is known.
    pub(in crate::prove::condition) fn forget_values(&mut self) {
        self.values.clear();
        self.residues.clear();
    }
}

/// A condition while it is built.
#[derive(Clone)]
pub(in crate::prove::condition) struct Builder<'a> {
    pub(in crate::prove::condition) protocol: &'a Protocol,
    pub(in crate::prove::condition) launch: Launch<'a>,
    pub(in crate::prove::condition) environments: Environments,
    pub(in crate::prove::condition) draft: Draft<'a>,
    pub(in crate::prove::condition) memoised: Memoised,
    /// Values that the launches fix, outside of all loops.
    pub(in crate::prove::condition) outside: Valuation<'a>,
    /// Sums of ids, by expression, in each thread: ORDER may want them.
    pub(in crate::prove::condition) orders: BTreeMap<ExprId, [Option<Poly>; 2]>,
    /// Whether some value was read as one that may have wrapped.
    pub(in crate::prove::condition) has_wrapped: bool,
    /// Whether fences and atomics order the two accesses where points know nothing of it.
    pub(in crate::prove::condition) is_ordered: bool,
    /// How many bytes apart two offsets are that the equation of the conflict says are 1 apart.
    pub(in crate::prove::condition) unit: i64,
    pub(in crate::prove::condition) depth: u32,
}

impl<'a> Builder<'a> {
    /// Of two threads outside of all loops nothing is said yet.
    pub(in crate::prove::condition) fn new(
        protocol: &'a Protocol,
        level: Level,
        scope: &'a Scope,
        oracle: Oracle<'a>,
    ) -> Self {
        let launch = Launch::new(protocol, scope, level);
        Builder {
            protocol,
            outside: launch.outside_of_loops(),
            launch,
            environments: Environments::of_two(),
            draft: Draft::new(oracle),
            memoised: Memoised::default(),
            orders: BTreeMap::new(),
            has_wrapped: false,
            is_ordered: false,
            unit: 1,
            depth: 0,
        }
    }

    /// The value of an id or a size in a thread, with its facts.
    pub(in crate::prove::condition) fn geometry(&mut self, var: GeometryVar, side: Side) -> Option<Poly> {
        self.launch.geometry(&mut self.draft, var, side)
    }

    /// What `__launch_bounds__`, or the limit of all devices, says about the block.
    pub(in crate::prove::condition) fn launch_bounds(&mut self) -> Option<()> {
        self.launch.bounds(&mut self.draft)
    }

    /// The coordinates by which the two threads are told apart.
    pub(in crate::prove::condition) fn coordinates(&mut self) -> Option<()> {
        self.launch.coordinates(&mut self.draft)
    }

    /// The proof relies on `expr` not wrapping.
    pub(in crate::prove::condition) fn assume_no_wrap(&mut self, expr: ExprId) {
        let expression = words(self.protocol, expr);
        let span = self.protocol.spans.get(expr).copied();
        self.draft.assumptions.insert(Assumption::NoUnsignedWrap { expression, span });
    }

    /// The proof relies on `expr`, which is made of ids and sizes, fitting into a narrow type.
    pub(in crate::prove::condition) fn assume_fits(&mut self, expr: ExprId, bits: u8) {
        let expression = words(self.protocol, expr);
        let span = self.protocol.spans.get(expr).copied();
        self.draft.assumptions.insert(Assumption::FitsInto { expression, bits, span });
    }
}
