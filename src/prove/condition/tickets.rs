//! Numbers that two threads draw from one counter differ: TICKETS.
//!
//! Let two threads draw `a` and `b` from cells `p` and `q` by atomics that add `s` and `t`, both positive. If `p = q`
//! and nothing but such additions writes there between the two, whoever comes later finds at least what the other
//! left: `a + s <= b` or `b + t <= a`. (Negative steps: `b <= a + s` or `a <= b + t`.) So the conflict also says
//! `p < q` or `q < p` or `a + s <= b` or `b + t <= a`. The counter is assumed not to wrap; that is printed.
//!
//! What else writes to the array are plain writes: resets. Order the steps of a run by (turn of the outermost loop,
//! place in it, turn of the next loop, …). Barriers that all threads pass together keep that order between threads,
//! so a write stands between the two draws only if it does in this order. It does not if
//! - no loop is around both the write and a draw, or both threads are in the same turn of each such loop, and
//! - the write does not stand between the places of the two draws.
//!
//! A write that nothing orders with a draw at the same cell is a race of its own: then the kernel is not proved. By
//! induction over time, what is used of the first race of a run lies before it, where the draws are as described.
//! Nothing orders the threads of different blocks, so a counter in global memory must have no plain writes at all.
//!
//! *Trap.* `atomicExch`, `atomicInc` and `atomicCAS` on the cell; a reset between two draws, or once a turn while the
//! turns of the two threads differ; a step of zero; atomics of block scope between blocks. Inference leaves the
//! tickets out of the first and the third ([`Ticket`]).

use super::builder::{Builder, EnvId};
use crate::calculus::{ArrayId, Expr, ExprId};
use crate::memory_model::{self, AccessKind, Level, Space};
use crate::protocol::{Access, AccessId, LoopId, Origin, Role, Ticket};
use crate::prove::rules::poly::Poly;
use crate::prove::rules::state::Literal;
use crate::prove::{Assumption, Pair};

/// A number that was drawn at one of the two places.
struct Draw {
    /// The expression that it is.
    value: ExprId,
    array: ArrayId,
    ticket: Ticket,
    /// The atomic.
    access: AccessId,
}

impl Builder<'_> {
    /// Says of every two numbers that the two accesses are addressed by, drawn from one counter, that they differ.
    pub(super) fn relate_tickets(&mut self, pair: &Pair) {
        let [first, second] = [pair.first, pair.second].map(|access| self.draws(&self.protocol.accesses[access]));
        for one in &first {
            for other in second.iter().filter(|other| other.array == one.array) {
                if self.nothing_resets_between(one, other) {
                    self.relate_draws(one, other);
                }
            }
        }
    }

    /// The numbers that an address is computed from.
    fn draws(&self, access: &Access) -> Vec<Draw> {
        let mut draws = Vec::new();
        self.protocol.exprs.visit(access.offset, |id, node| {
            let Expr::Var(var) = node else { return };
            let Some(&Role::Opaque(opaque)) = self.protocol.roles.get(*var) else { return };
            let opaque = &self.protocol.opaques[opaque];
            let Origin::Atomic { array, site, ticket: Some(ticket), .. } = opaque.origin else { return };
            let atomic = self.protocol.accesses.iter().find(|(_, access)| access.site == site);
            let is_in_its_turn = opaque.loops.iter().all(|each| access.loops.contains(each));
            if let Some((atomic, _)) = atomic.filter(|_| is_in_its_turn) {
                draws.push(Draw { value: id, array, ticket, access: atomic });
            }
        });
        draws
    }

    fn nothing_resets_between(&self, one: &Draw, other: &Draw) -> bool {
        // Who else changes the counter: all threads, of global memory.
        let (everyone, may_reset) = match self.protocol.arrays[one.array].space {
            Space::Global => (Level::Grid, false),
            Space::Shared if self.level != Level::Grid => (Level::Block, true),
            Space::Shared | Space::Distributed | Space::Image | Space::Constant | Space::Private => return false,
        };
        let mut changes = self.protocol.accesses.iter().filter(|(_, access)| access.array == one.array);
        changes.all(|(id, access)| match access.kind {
            AccessKind::Read => true,
            AccessKind::Write => may_reset && self.is_not_between(id, access, one, other),
            AccessKind::Atomic { .. } => memory_model::both_atomic(access.kind, access.kind, everyone),
        })
    }

    /// Whether a write stands before both draws or after both, in the order of the module's page.
    fn is_not_between(&self, reset: AccessId, access: &Access, one: &Draw, other: &Draw) -> bool {
        let [first, second] = [one, other].map(|draw| &self.protocol.accesses[draw.access].loops);
        let mut common = access.loops.iter().filter(|each| first.contains(each) || second.contains(each));
        let together = common.all(|each| first.contains(each) && second.contains(each) && self.is_one_turn(*each));
        let (low, high) = (one.access.min(other.access), one.access.max(other.access));
        together && !(low < reset && reset < high)
    }

    /// Whether both places are in the same turn of a loop.
    fn is_one_turn(&self, id: LoopId) -> bool {
        let number = |env: EnvId| self.environments[env].iterations.iter().find(|entry| entry.0 == id);
        matches!((number(0), number(1)), (Some((_, first)), Some((_, second))) if first == second && !first.is_private())
    }

    fn relate_draws(&mut self, one: &Draw, other: &Draw) -> Option<()> {
        let apart = self.value(one.ticket.offset, 0)?.minus(&self.value(other.ticket.offset, 1)?)?;
        let (a, b) = (self.value(one.value, 0)?, self.value(other.value, 1)?);
        let [(a, s), (b, t)] = [(a, one.ticket.step), (b, other.ticket.step)];
        // Counting down, the later number is the smaller one.
        let later = |earlier: &Poly, step: i64, later: &Poly| {
            let rise = later.minus(earlier)?.plus_constant(step.checked_neg()?)?;
            if step > 0 { Some(rise) } else { rise.negated() }
        };
        let mut cases = vec![later(&a, s, &b)?, later(&b, t, &a)?];
        if !apart.is_zero() {
            cases.extend([apart.plus_constant(-1)?, apart.negated()?.plus_constant(-1)?]);
        }
        self.disjunction(cases.into_iter().map(|case| vec![Literal::NonNegative(case)]).collect());
        self.assume_counter_does_not_wrap(one);
        Some(())
    }

    fn assume_counter_does_not_wrap(&mut self, draw: &Draw) {
        let name = &self.protocol.arrays[draw.array].name;
        let site = self.protocol.accesses[draw.access].site;
        let expression = format!("what is added to {name} atomically");
        self.assumptions.insert(Assumption::NoUnsignedWrap { expression, span: self.protocol.sites[site].span });
    }
}
