//! Whether a store and a load are at addresses that have no byte in common.
//!
//! Of one thread that is so where the addresses differ by a constant, or where the prover shows that they differ where the thread
//! comes to both; one of them has to be the same in all turns of all loops. Of two threads the prover is asked whether they could
//! conflict if there were no barrier in the kernel.

use crate::calculus::intervals::{self, Intervals};
use crate::calculus::{BinaryOp, Claimed, Expr, ExprId, Exprs, Kernel, ScalarType, extents};
use crate::memory_model::{AccessKind, Level};
use crate::protocol::{Access, AccessId, Before, Claim, Guard, Protocol, Role};
use crate::prove::premises::{Budget, Premises};
use crate::prove::{Groups, Pair, Scope};
use crate::work;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What addresses are asked of.
pub(super) struct Apart<'a> {
    protocol: &'a Protocol,
    /// The same in which nothing orders threads and no two accesses exempt each other.
    without_order: Protocol,
    /// The same with what is claimed of two addresses.
    with_claims: RefCell<Protocol>,
    intervals: Intervals,
    scope: Scope,
}

impl<'a> Apart<'a> {
    pub(super) fn of(kernel: &Kernel, protocol: &'a Protocol, known: [Option<u32>; 3]) -> Self {
        let mut without_order = protocol.clone();
        without_order.fences = crate::arena::Arena::new();
        let ids: Vec<AccessId> = without_order.accesses.handles().collect();
        for id in ids {
            let access = &mut without_order.accesses[id];
            access.kind = AccessKind::Write;
            access.value = None;
            access.lock = None;
        }
        let intervals = intervals::analyze(kernel, &|_| false);
        // A dimension that nothing asks for has one thread, or one block.
        let matters = extents::that_matter(kernel);
        let [block, grid] = matters.map(|axes| axes.map(|matters| (!matters).then_some(1)));
        let block = [0, 1, 2].map(|axis| known[axis].or(block[axis]));
        let with_claims = RefCell::new(without_order.clone());
        let scope = Scope { block, grid, ..Scope::default() };
        Apart { protocol, without_order, with_claims, intervals, scope }
    }

    /// Whether two distinct threads at that level are never at one address with the two.
    pub(super) fn at_level(&self, store: AccessId, load: AccessId, level: Level) -> bool {
        if work::is_over() {
            return false;
        }
        let (first, second) = if store <= load { (store, load) } else { (load, store) };
        let sites = [first, second].map(|id| self.protocol.accesses[id].site);
        let premises = Premises::new(&self.without_order, &self.scope);
        let meetings = self.intervals.meetings(sites[0], sites[1]);
        !meetings.is_empty()
            && meetings.into_iter().all(|meeting| {
                let pair = Pair { first, second, level, groups: Groups::Any, meeting };
                premises.prove_pair(&pair, &Budget::SMALL).is_ok()
            })
    }

    /// Whether one thread is never at one address with the two, whatever turns of loops they are of.
    pub(super) fn in_one_thread(&self, store: AccessId, load: AccessId) -> bool {
        let (first, second) = (&self.protocol.accesses[store], &self.protocol.accesses[load]);
        first.offset != second.offset
            && (self.differ_by_constant(first, second)
                || self.are_proved_apart(first, second)
                || self.are_proved_apart(second, first))
    }

    fn differ_by_constant(&self, first: &Access, second: &Access) -> bool {
        let (mut sum, mut constant) = (BTreeMap::new(), 0i128);
        if !add(&self.protocol.exprs, first.offset, 1, (&mut sum, &mut constant))
            || !add(&self.protocol.exprs, second.offset, -1, (&mut sum, &mut constant))
        {
            return false;
        }
        // What does not cancel may make up for the constant, and so may another turn.
        let is_constant = sum.values().all(|&factor| factor == 0) && sum.keys().all(|&part| self.is_invariant(part));
        is_constant && (constant >= i128::from(second.bytes) || -constant >= i128::from(first.bytes))
    }

    /// Whether the prover shows that a thread that comes to both is not at the address of the first, which no turn changes, when
    /// it makes the second.
    fn are_proved_apart(&self, first: &Access, second: &Access) -> bool {
        let exprs = &self.protocol.exprs;
        let are_cells = first.bytes == second.bytes
            && [first, second].into_iter().all(|access| exprs.is_multiple(access.offset, access.bytes));
        if !are_cells || !self.is_invariant(first.offset) || work::is_over() {
            return false;
        }
        let of_thread = |guard: &&Guard| self.is_invariant(guard.cond) && guard.of_loop.is_none();
        let guards = second.guards.iter().chain(first.guards.iter().filter(of_thread)).copied().collect();
        let cond = self.with_claims.borrow_mut().exprs.binary(BinaryOp::Ne, first.offset, second.offset);
        let claim = Claim {
            site: second.site,
            claimed: Claimed::Asserted,
            cond,
            guards,
            loops: second.loops.clone(),
            before: Before::default(),
            reasons: Vec::new(),
        };
        Premises::new(&self.with_claims.borrow(), &self.scope).prove_claim(&claim, &Budget::SMALL).is_ok()
    }

    /// Whether a value of a thread is the same in all turns of all loops.
    pub(super) fn is_invariant(&self, value: ExprId) -> bool {
        let mut is_invariant = true;
        self.protocol.exprs.visit(value, |_, node| {
            let Expr::Var(var) = node else { return };
            is_invariant &= match self.protocol.roles.get(*var) {
                Some(&Role::Opaque(id)) => self.protocol.opaques[id].loops.is_empty(),
                _ => false,
            };
        });
        is_invariant
    }
}

/// Adds so many times a value to a sum of parts and a constant. False where the value may wrap.
fn add(exprs: &Exprs, value: ExprId, factor: i128, (sum, constant): (&mut BTreeMap<ExprId, i128>, &mut i128)) -> bool {
    let number = |id: ExprId| match exprs[id] {
        Expr::Int(number, _) => Some(number),
        _ => None,
    };
    let small = |factor: i128| factor.abs() < 1 << 60;
    match exprs[value] {
        Expr::Int(number, _) => {
            *constant += factor * number;
            small(number) && small(*constant)
        }
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), one, other) if has_sign(exprs, one) => {
            let other_factor = if op == BinaryOp::Add { factor } else { -factor };
            add(exprs, one, factor, (sum, constant)) && add(exprs, other, other_factor, (sum, constant))
        }
        Expr::Binary(BinaryOp::Mul, one, other) if has_sign(exprs, one) && small(factor) => {
            match (number(one), number(other)) {
                (_, Some(number)) if small(number) && small(factor * number) => {
                    add(exprs, one, factor * number, (sum, constant))
                }
                (Some(number), _) if small(number) && small(factor * number) => {
                    add(exprs, other, factor * number, (sum, constant))
                }
                _ => part(value, factor, sum),
            }
        }
        // What has a sign does not wrap: an overflow is a run that does not count.
        Expr::Convert(ScalarType::Int { width: 64, signed: true }, inner) if has_sign(exprs, inner) => {
            add(exprs, inner, factor, (sum, constant))
        }
        _ => part(value, factor, sum),
    }
}

fn part(value: ExprId, factor: i128, sum: &mut BTreeMap<ExprId, i128>) -> bool {
    let known = sum.entry(value).or_default();
    *known += factor;
    known.abs() < 1 << 60
}

fn has_sign(exprs: &Exprs, value: ExprId) -> bool {
    matches!(exprs.ty(value), ScalarType::Int { signed: true, .. })
}
