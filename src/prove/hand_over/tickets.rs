//! Numbers that two threads draw from one counter differ: TICKETS. Which numbers those are; what a condition says of
//! them stands in [`condition`](crate::prove::condition).
//!
//! Let two threads draw `a` and `b` from cells `p` and `q` by atomics that add `s` and `t`, neither negative. If `p =
//! q` and nothing but such additions writes there between the two, whoever comes later finds at least what the other
//! left: `a + s <= b` or `b + t <= a`. (Negative steps: `b <= a + s` or `a <= b + t`.) So the conflict also says `p <
//! q` or `q < p` or `a + s <= b` or `b + t <= a`. The counter is assumed not to wrap; that is printed.
//!
//! What else writes to the array are plain writes: resets. Order the steps of a run by (iteration of the
//! outermost loop, place in it, iteration of the next loop, …). Barriers that all threads pass together keep that order
//! between threads, so a write stands between the two draws only if it does in this order. It does not if
//! - no loop is around both the write and a draw, or both threads are in the same iteration of each such
//!   loop, and
//! - the write does not stand between the places of the two draws.
//!
//! A write that nothing orders with a draw at the same cell is a race of its own: then the kernel is not proved. By
//! induction over time, what is used of the first race of a run lies before it, where the draws are as described.
//! Nothing orders the threads of different blocks, so a counter in global memory must have no plain writes at all.
//!
//! Between threads of two blocks a number may be one that another thread of the block drew and handed on in shared
//! memory ([`Opaque::handed`](crate::protocol::Opaque)): still the two were drawn by two threads. What was added, and
//! where, is then said of the thread that draws, so both must be the same for its whole block. A number that the
//! address takes for one of another type is the same there if it is not negative: that is assumed of the counter, and
//! printed.
//!
//! *Trap.* `atomicExch`, `atomicInc` and `atomicCAS` on the cell; a reset between two draws, or once an iteration while
//! the iterations of the two threads differ; a constant step of zero; atomics of block scope between blocks. Inference
//! leaves the tickets out of the first and the third ([`Ticket`]).

use super::pins;
use super::sums::Sizes;
use crate::calculus::{ArrayId, Expr, ExprId, GeometryVar, ScalarType, VarId};
use crate::memory_model::{self, AccessKind, Level, Space};
use crate::protocol::uniform::is_uniform;
use crate::protocol::{Access, AccessId, LoopId, OpaqueId, Origin, Protocol, Role, Ticket};
use crate::prove::{Pair, Scope};

/// A number that was drawn at one of the two places.
#[derive(Clone, Copy)]
pub(in crate::prove) struct Draw {
    /// The expression that it is.
    pub(in crate::prove) value: ExprId,
    /// The counter.
    pub(in crate::prove) array: ArrayId,
    /// What was added, and where.
    pub(in crate::prove) ticket: Ticket,
    /// The atomic.
    pub(in crate::prove) access: AccessId,
    /// Whether it is used as a number of another type, which is the same if it is not negative.
    pub(in crate::prove) is_converted: bool,
    /// Whether it was handed on as one, of which this does not show.
    pub(in crate::prove) is_retyped: bool,
}

/// A value that was counted from what a store has set.
#[derive(Clone, Copy)]
pub(in crate::prove) struct Counted {
    /// The expression that it is.
    pub(in crate::prove) value: ExprId,
    /// The store.
    pub(in crate::prove) store: AccessId,
    /// For a number that was drawn; the others were read.
    pub(in crate::prove) ticket: Option<Ticket>,
    /// Where it was drawn, or read.
    pub(in crate::prove) at: AccessId,
}

/// A number that was drawn, and what was taken for the whole block after it.
pub(in crate::prove) struct Share {
    /// The number.
    pub(in crate::prove) drawn: Counted,
    /// What the counter held.
    pub(in crate::prove) total: Counted,
}

/// The numbers that two threads at a level draw.
pub(in crate::prove) struct Tickets<'p> {
    protocol: &'p Protocol,
    scope: &'p Scope,
    level: Level,
}

impl<'p> Tickets<'p> {
    /// Nothing has been looked at yet.
    pub(in crate::prove) fn new(protocol: &'p Protocol, scope: &'p Scope, level: Level) -> Self {
        Tickets { protocol, scope, level }
    }

    /// Every two numbers that the accesses of a pair are addressed by, drawn from one counter, that differ.
    /// `is_one_iteration` says of a loop whether both accesses are in the same iteration of it.
    pub(in crate::prove) fn apart(&self, pair: &Pair, is_one_iteration: &dyn Fn(LoopId) -> bool) -> Vec<[Draw; 2]> {
        let draws = |access: AccessId| self.draws(&self.protocol.accesses[access]);
        let mut apart = Vec::new();
        for one in draws(pair.first) {
            for other in draws(pair.second) {
                if other.array == one.array && self.nothing_resets_between(&one, &other, is_one_iteration) {
                    apart.push([one, other]);
                }
            }
        }
        apart
    }

    /// The numbers that an address is computed from.
    fn draws(&self, access: &Access) -> Vec<Draw> {
        let mut draws = Vec::new();
        self.protocol.exprs.visit(access.offset, |id, node| {
            let Expr::Var(var) = node else { return };
            let Some(&Role::Opaque(opaque)) = self.protocol.roles.get(*var) else { return };
            let is_in_its_turn = self.protocol.opaques[opaque].loops.iter().all(|each| access.loops.contains(each));
            let handed = if self.level.is_one_block() { None } else { self.handed_draw(opaque) };
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
    fn handed_draw(&self, read: OpaqueId) -> Option<OpaqueId> {
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
                                pins::is_one_thread(&sizes, &pins::pins(&sizes, &reader.guards))
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

    /// The numbers that an access is addressed by, and what was taken of their counters for the whole block after.
    pub(in crate::prove) fn shares(&self, access: &Access) -> Vec<Share> {
        let protocol = self.protocol;
        let (mut drawn, mut totals) = (Vec::new(), Vec::new());
        protocol.exprs.visit(access.offset, |_, node| {
            let Some(opaque) = self.unknown_of(node, access) else { return };
            if let Some(draw) = self.handed_draw(opaque)
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
        let mut shares = Vec::new();
        for drawn in drawn {
            let of_it = totals.iter().filter(|total| total.store == drawn.store && drawn.at < total.at);
            shares.extend(of_it.map(|&total| Share { drawn, total }));
        }
        shares
    }

    /// The unknown value that a node is, if it arises in iterations that an access is in, too.
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

    /// Whether an expression converts what it computes from a signed variable to an unsigned type, or the other way
    /// round.
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
    fn nothing_resets_between(&self, one: &Draw, other: &Draw, is_one_iteration: &dyn Fn(LoopId) -> bool) -> bool {
        // Who else changes the counter: all threads, of global memory.
        let (everyone, may_reset) = match self.protocol.arrays[one.array].space {
            Space::Global => (Level::Grid, false),
            Space::Shared if self.level.is_one_block() => (Level::Block, true),
            Space::Shared | Space::Distributed | Space::Image | Space::Constant | Space::Private => return false,
        };
        let mut changes = self.protocol.accesses.iter().filter(|(_, access)| access.array == one.array);
        changes.all(|(id, access)| match access.kind {
            AccessKind::Read => true,
            AccessKind::Write => may_reset && self.is_not_between((id, access), [one, other], is_one_iteration),
            AccessKind::Atomic { .. } => memory_model::both_atomic(access.kind, access.kind, everyone),
        })
    }

    /// Whether a write stands before both draws or after both, in the order of the module's page.
    fn is_not_between(
        &self,
        (reset, access): (AccessId, &Access),
        [one, other]: [&Draw; 2],
        is_one_iteration: &dyn Fn(LoopId) -> bool,
    ) -> bool {
        let [first, second] = [one, other].map(|draw| &self.protocol.accesses[draw.access].loops);
        let mut common = access.loops.iter().filter(|each| first.contains(each) || second.contains(each));
        let together = common.all(|each| first.contains(each) && second.contains(each) && is_one_iteration(*each));
        let (low, high) = (one.access.min(other.access), one.access.max(other.access));
        together && !(low < reset && reset < high)
    }
}
