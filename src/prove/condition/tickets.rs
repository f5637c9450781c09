//! Numbers that two threads draw from one counter differ: TICKETS.
//!
//! Let two threads draw `a` and `b` from cells `p` and `q` by atomics that add `s` and `t`, neither negative. If `p = q`
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
//! Between threads of two blocks a number may be one that another thread of the block drew and handed on in shared memory
//! ([`Opaque::handed`](crate::protocol::Opaque)): still the two were drawn by two threads. What was added, and where, is
//! then said of the thread that draws, so both must be the same for its whole block. A number that the address takes for
//! one of another type is the same there if it is not negative: that is assumed of the counter, and printed.
//!
//! *Trap.* `atomicExch`, `atomicInc` and `atomicCAS` on the cell; a reset between two draws, or once a turn while the
//! turns of the two threads differ; a constant step of zero; atomics of block scope between blocks. Inference leaves the
//! tickets out of the first and the third ([`Ticket`]).

use super::builder::{Builder, EnvId};
use super::truth::Polarity;
use super::wrapping::ORDINARY;
use crate::calculus::{ArrayId, Expr, ExprId, GeometryVar, ScalarType, VarId};
use crate::memory_model::{self, AccessKind, Level, Space};
use crate::protocol::uniform::is_uniform;
use crate::protocol::{Access, AccessId, LoopId, OpaqueId, Origin, Role, Step, Ticket};
use crate::prove::rules::poly::Poly;
use crate::prove::rules::state::Literal;
use crate::prove::sums::Sizes;
use crate::prove::{Assumption, Pair, single};

/// A number that was drawn at one of the two places.
struct Draw {
    /// The expression that it is.
    value: ExprId,
    array: ArrayId,
    ticket: Ticket,
    /// The atomic.
    access: AccessId,
    /// Whether it is used as a number of another type, which is the same if it is not negative.
    is_converted: bool,
    /// Whether it was handed on as one, of which this does not show.
    is_retyped: bool,
}

/// A value that was counted from what a store has set.
struct Counted {
    value: ExprId,
    store: AccessId,
    /// For a number that was drawn; the others were read.
    ticket: Option<Ticket>,
    /// Where it was drawn, or read.
    at: AccessId,
}

impl Builder<'_> {
    /// Says of every two numbers that the two accesses are addressed by, drawn from one counter, that they differ.
    pub(super) fn relate_tickets(&mut self, pair: &Pair) {
        let accesses = [pair.first, pair.second].map(|access| &self.protocol.accesses[access]);
        if !self.level.is_one_block() {
            for (env, access) in accesses.into_iter().enumerate() {
                self.relate_counts(access, env);
            }
        }
        let [first, second] = accesses.map(|access| self.draws(access));
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
            let is_in_its_turn = self.protocol.opaques[opaque].loops.iter().all(|each| access.loops.contains(each));
            let handed = if self.level.is_one_block() { None } else { self.draw_behind(opaque) };
            let drawn = &self.protocol.opaques[handed.unwrap_or(opaque)];
            let Origin::Atomic { array, site, ticket: Some(ticket), .. } = drawn.origin else { return };
            let atomic = self.protocol.accesses.iter().find(|(_, access)| access.site == site);
            if let Some((atomic, _)) = atomic.filter(|_| is_in_its_turn) {
                let ty = |var: VarId| self.protocol.vars[var].ty;
                let is_retyped = ty(*var) != ty(drawn.var);
                let is_converted = is_retyped || self.is_converted(access.offset, *var);
                draws.push(Draw { value: id, array, ticket, access: atomic, is_converted, is_retyped });
            }
        });
        draws
    }

    /// The draw whose number another thread of the block handed on, if that says of all its threads what was drawn.
    fn draw_behind(&self, read: OpaqueId) -> Option<OpaqueId> {
        let protocol = self.protocol;
        let store = &protocol.accesses[protocol.opaques[read].handed?];
        let value = store.value?;
        let value = match protocol.exprs[value] {
            Expr::Convert(ty, from) if ty.bytes() == protocol.exprs.ty(from).bytes() => from,
            _ => value,
        };
        let Expr::Var(var) = protocol.exprs[value] else { return None };
        let Some(&Role::Opaque(drawn)) = protocol.roles.get(var) else { return None };
        let Origin::Atomic { ticket: Some(ticket), .. } = protocol.opaques[drawn].origin else { return None };
        let both = [var, protocol.opaques[read].var].map(|var| protocol.vars[var].ty);
        let is_of_one_size =
            both.iter().all(|ty| matches!(ty, ScalarType::Int { .. })) && both[0].bytes() == both[1].bytes();
        let is_of_its_turn = store.loops.starts_with(&protocol.opaques[drawn].loops);
        let mut told = [ticket.offset].into_iter().chain(ticket.step.amount());
        let is_one = |value| is_uniform(protocol, value, Level::Block) || self.is_of_one_thread(value);
        (is_of_one_size && is_of_its_turn && told.all(is_one)).then_some(drawn)
    }

    /// Whether what a value is made of was read by one thread of the block alone: the value is that of this thread,
    /// whichever thread of the block is asked.
    fn is_of_one_thread(&self, value: ExprId) -> bool {
        let protocol = self.protocol;
        let sizes = Sizes { protocol, scope: self.scope };
        let mut is_of_one = true;
        protocol.exprs.visit(value, |_, node| {
            is_of_one &= match node {
                Expr::Geometry(GeometryVar::ThreadIdx(_)) => false,
                Expr::Var(var) => match protocol.roles.get(*var) {
                    Some(&Role::Opaque(opaque)) => match protocol.opaques[opaque].origin {
                        Origin::Read { site, .. } => {
                            let reader = protocol.accesses.iter().find(|(_, access)| access.site == site);
                            reader.is_some_and(|(_, reader)| {
                                single::is_one_thread(&sizes, &single::pins(&sizes, &reader.guards))
                            })
                        }
                        _ => false,
                    },
                    _ => false,
                },
                _ => true,
            };
        });
        is_of_one
    }

    /// COUNTED: what is taken from a counter for a whole block, where that is what a counter of the block holds, is more
    /// than each number that was drawn from it; and that is no less than what the counter was set to.
    ///
    /// *Use.* `at = atomicAdd(&count, 1); __syncthreads(); if (threadIdx.x == 0) base = atomicAdd(total, count);
    /// __syncthreads(); out[base + at] = …`.
    /// *Trap.* A thread that has drawn nothing: that its block's total is positive would not be true. And those of
    /// [`counted`](crate::protocol).
    fn relate_counts(&mut self, access: &Access, env: EnvId) -> Option<()> {
        let protocol = self.protocol;
        let (mut drawn, mut totals) = (Vec::new(), Vec::new());
        protocol.exprs.visit(access.offset, |_, node| {
            let Some(opaque) = self.unknown_of(node, access) else { return };
            if let Some(draw) = self.draw_behind(opaque)
                && let Origin::Atomic { ticket: Some(ticket), .. } = protocol.opaques[draw].origin
                && let Some(amount) = ticket.step.amount()
            {
                protocol.exprs.visit(amount, |id, node| {
                    let counted = self.unknown_of(node, access).and_then(|total| self.counted(id, total));
                    totals.extend(counted.filter(|total| total.ticket.is_none()));
                });
            }
        });
        protocol.exprs.visit(access.offset, |id, node| {
            let counted = self.unknown_of(node, access).and_then(|opaque| self.counted(id, opaque));
            drawn.extend(counted.filter(|draw| draw.ticket.is_some()));
        });
        for draw in &drawn {
            for total in totals.iter().filter(|total| total.store == draw.store && draw.at < total.at) {
                let (number, total) = (self.value(draw.value, env)?, self.value(total.value, env)?);
                let step = draw.ticket?.step.constant()?;
                let mut said = vec![Literal::NonNegative(total.minus(&number)?.plus_constant(step.checked_neg()?)?)];
                if let Some(least) = protocol.least(draw.store) {
                    let least = i64::try_from(least).ok()?;
                    said.push(Literal::NonNegative(number.plus_constant(least.checked_neg()?)?));
                }
                // Of a thread that has drawn nothing there is nothing to say, nor that anybody has drawn.
                let mut ways = vec![said];
                for guard in &protocol.accesses[draw.at].guards {
                    if access.guards.iter().all(|other| other.cond != guard.cond) {
                        ways.extend(self.truth(guard.cond, env, Polarity::Fails));
                    }
                }
                self.disjunction(ways);
                self.assume_no_wrap_of(draw.at);
            }
        }
        Some(())
    }

    /// The unknown value that a node is, if it arises in turns that an access is in, too.
    fn unknown_of(&self, node: &Expr, access: &Access) -> Option<OpaqueId> {
        let Expr::Var(var) = node else { return None };
        let Some(&Role::Opaque(opaque)) = self.protocol.roles.get(*var) else { return None };
        access.loops.starts_with(&self.protocol.opaques[opaque].loops).then_some(opaque)
    }

    /// What is known of a value that was counted.
    fn counted(&self, value: ExprId, opaque: OpaqueId) -> Option<Counted> {
        let opaque = &self.protocol.opaques[opaque];
        let store = opaque.counted?;
        let (site, ticket) = match opaque.origin {
            Origin::Atomic { site, ticket: Some(ticket), .. } => (site, Some(ticket)),
            Origin::Read { site, .. } => (site, None),
            _ => return None,
        };
        let (at, _) = self.protocol.accesses.iter().find(|(_, access)| access.site == site)?;
        Some(Counted { value, store, ticket, at })
    }

    /// Whether an expression converts what it computes from a signed variable to an unsigned type, or the other way round.
    fn is_converted(&self, value: ExprId, var: VarId) -> bool {
        let exprs = &self.protocol.exprs;
        let is_signed = |ty| matches!(ty, ScalarType::Int { signed: true, .. });
        let own = is_signed(self.protocol.vars[var].ty);
        let mut found = false;
        exprs.visit(value, |_, node| {
            if let Expr::Convert(ty, from) = *node {
                let narrow = ty.bytes() <= exprs.ty(from).bytes() || own;
                found |=
                    is_signed(ty) != own && is_signed(exprs.ty(from)) == own && narrow && exprs.mentions(from, var);
            }
        });
        found
    }

    /// Whether nothing that is no such addition comes between the two draws.
    fn nothing_resets_between(&self, one: &Draw, other: &Draw) -> bool {
        // Who else changes the counter: all threads, of global memory.
        let (everyone, may_reset) = match self.protocol.arrays[one.array].space {
            Space::Global => (Level::Grid, false),
            Space::Shared if self.level.is_one_block() => (Level::Block, true),
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

    /// Whether a counter that is moved by that much leaves a type after a few draws, so that nobody can mean it not to.
    pub(super) fn overflows_soon(&mut self, step: Step, ty: ScalarType, env: EnvId) -> bool {
        let Some((_, greatest)) = ty.range() else { return false };
        // What is a multiple of so much is zero or at least so much.
        let least = match step {
            Step::Constant(step) => Some(step),
            Step::Amount(amount) => self.value(amount, env).map(|amount| amount.content()),
        };
        least.is_some_and(|least| i128::from(least).abs() * ORDINARY > greatest)
    }

    fn relate_draws(&mut self, one: &Draw, other: &Draw) -> Option<()> {
        for (env, draw) in [one, other].into_iter().enumerate() {
            if self.overflows_soon(draw.ticket.step, self.ty(draw.value), env) {
                return None;
            }
        }
        let apart = self.value(one.ticket.offset, 0)?.minus(&self.value(other.ticket.offset, 1)?)?;
        let (a, b) = (self.value(one.value, 0)?, self.value(other.value, 1)?);
        for (draw, value) in [(one, &a), (other, &b)] {
            if draw.is_retyped || (draw.is_converted && !self.shows(value)) {
                let counter = self.protocol.arrays[draw.array].name.clone();
                self.fact(value.clone());
                self.assumptions.insert(Assumption::DrawsFromZero(counter));
            }
        }
        let (s, t) = (self.step(one.ticket.step, 0)?, self.step(other.ticket.step, 1)?);
        // Counting down, the later number is the smaller one.
        let falls = one.ticket.step.falls();
        let later = |earlier: &Poly, step: &Poly, later: &Poly| {
            let rise = later.minus(earlier)?.minus(step)?;
            if falls { rise.negated() } else { Some(rise) }
        };
        let mut cases = vec![later(&a, &s, &b)?, later(&b, &t, &a)?];
        if !apart.is_zero() {
            cases.extend([apart.plus_constant(-1)?, apart.negated()?.plus_constant(-1)?]);
        }
        self.early_disjunction(cases.into_iter().map(|case| vec![Literal::NonNegative(case)]).collect());
        self.assume_no_wrap_of(one.access);
        Some(())
    }

    /// What was taken, as a number of one of the threads.
    fn step(&mut self, step: Step, env: EnvId) -> Option<Poly> {
        match step {
            Step::Constant(step) => Poly::ZERO.plus_constant(step),
            Step::Amount(amount) => self.value(amount, env),
        }
    }

    fn assume_no_wrap_of(&mut self, draw: AccessId) {
        let access = &self.protocol.accesses[draw];
        let name = &self.protocol.arrays[access.array].name;
        let expression = format!("what is added to {name} atomically");
        let span = self.protocol.sites[access.site].span;
        self.assumptions.insert(Assumption::NoUnsignedWrap { expression, span });
    }
}
