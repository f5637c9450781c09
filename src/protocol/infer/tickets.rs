//! Numbers that are drawn from counters: which atomics return one (see [`Ticket`](crate::protocol::Ticket)).
//!
//! An atomic that adds to a cell gives every thread that draws there numbers of its own, as many as it adds, as long as
//! everybody adds with the same sign. What is not a constant is never negative: a number of threads or blocks, a count of
//! bits, what an unsigned type holds (that the counter does not wrap is assumed by whoever uses it), what a counter of
//! a block holds ([`counted`](crate::protocol::counted)). One atomic of another kind on the array, or of another size, or
//! code that is not modelled and may touch it, takes the tickets of all its atomics away.
//!
//! Deliberately absent: amounts that may be negative, `atomicInc` (it wraps at its operand: it is a [`Count`], as is every
//! addition, whatever else is done to the array), and resets of the counter by plain writes, which whoever compares two
//! tickets has to look at.

use super::finish;
use super::state::{Mode, State};
use crate::calculus::{
    ArrayId, AtomicOp, BinaryOp, BitCount, Expr, ExprId, Exprs, GeometryVar, Nature, ScalarType, SiteId, Space,
};
use crate::memory_model::AccessKind;
use crate::protocol::{Count, Opaque, Origin, Protocol, Role, Step};
use rustc_hash::{FxHashMap, FxHashSet};

/// What an atomic adds, if its sign is known; notes it.
pub(super) fn note(state: &mut State<'_>, site: SiteId, op: AtomicOp, operands: &[ExprId]) -> Option<Step> {
    let step = addition(state, op, operands).filter(|&step| step != Step::Constant(0));
    if state.mode == Mode::Emit {
        state.additions.insert(site, step);
    }
    step
}

/// What is added, as a signed number: half of the constants of an unsigned type stand for negative ones.
fn addition(state: &mut State<'_>, op: AtomicOp, operands: &[ExprId]) -> Option<Step> {
    if !matches!(op, AtomicOp::Add | AtomicOp::Sub) {
        return None;
    }
    let amount = match operands {
        [] => 1,
        [amount, ..] => {
            let value = state.evaluate(*amount);
            let ScalarType::Int { width, signed } = state.out.exprs.ty(value) else { return None };
            let Some(amount) = state.out.exprs.as_int(value) else {
                let is_known = op == AtomicOp::Add && is_never_negative(&state.out, value, &is_of_a_block);
                return is_known.then_some(Step::Amount(value));
            };
            if !signed && amount >> (width - 1) != 0 { amount - (1 << width) } else { amount }
        }
    };
    let step = i64::try_from(if op == AtomicOp::Add { amount } else { -amount }).ok();
    step.filter(|step| *step != i64::MIN).map(Step::Constant)
}

/// Whether a value was read from memory of a block, of which [`confirm`] says later whether it is a count.
fn is_of_a_block(protocol: &Protocol, opaque: &Opaque) -> bool {
    matches!(opaque.origin, Origin::Read { array, .. } if protocol.arrays[array].space == Space::Shared)
}

/// Whether a value was counted from no less than 0.
fn is_counted(protocol: &Protocol, opaque: &Opaque) -> bool {
    opaque.counted.and_then(|store| protocol.least(store)).is_some_and(|least| least >= 0)
}

/// Whether a function says how many bits of its argument are set, or are not before the first that is.
fn is_count_of_bits(nature: Nature) -> bool {
    use BitCount::{Leading, LeadingOf32, Set, SetOf32};
    matches!(nature, Nature::Counts(SetOf32 | Set | LeadingOf32 | Leading))
}

/// Whether an expression is a number from 0 on by its form, and not because -1 is a large one of its type; `is_count` says
/// so of unknown values.
fn is_never_negative(protocol: &Protocol, value: ExprId, is_count: &dyn Fn(&Protocol, &Opaque) -> bool) -> bool {
    use BinaryOp::{Add, BitAnd, Div, Max, Min, Mul, Rem, Shr};
    let exprs = &protocol.exprs;
    let of = |value: ExprId| is_never_negative(protocol, value, is_count);
    let range = |value: ExprId| exprs.ty(value).range();
    let is_unsigned = matches!(exprs.ty(value), ScalarType::Int { signed: false, .. });
    match exprs[value] {
        Expr::Int(value, ty) => value >= 0 && ty.range().is_some_and(|(_, most)| value <= most / 2),
        Expr::Geometry(_) => true,
        Expr::Param(_) => is_unsigned,
        Expr::Convert(ty, value) => {
            // Nothing is cut by it.
            let most = range(value).map(|(_, most)| greatest(exprs, value).map_or(most, |bound| bound.min(most)));
            of(value) && most.zip(ty.range()).is_some_and(|(own, wider)| own <= wider.1)
        }
        // Signed overflow is undefined.
        Expr::Binary(Add | Mul | Div | Rem | Shr | Min, one, other) => of(one) && of(other),
        Expr::Binary(Max | BitAnd, one, other) => of(one) || of(other),
        Expr::Select(_, one, other) => of(one) && of(other),
        Expr::Var(var) => match protocol.roles.get(var) {
            Some(&Role::Opaque(opaque)) => {
                let opaque = &protocol.opaques[opaque];
                let counts =
                    matches!(&opaque.origin, Origin::Function { function, .. } if is_count_of_bits(function.nature()));
                is_unsigned || counts || is_count(protocol, opaque)
            }
            Some(Role::Iteration(_) | Role::Toggle(_)) => true,
            Some(Role::Geometric(_)) | None => false,
        },
        _ => false,
    }
}

/// More threads than any block has, on any device.
const THREADS: i128 = 1 << 20;
/// As many blocks as there are along an axis at most.
const BLOCKS: i128 = (1 << 31) - 1;

/// A bound of an expression that is never negative, from what launches can be.
fn greatest(exprs: &Exprs, value: ExprId) -> Option<i128> {
    use BinaryOp::{Add, Div, Mul, Shr};
    match exprs[value] {
        Expr::Int(value, _) => Some(value),
        Expr::Geometry(GeometryVar::ThreadIdx(_) | GeometryVar::BlockDim(_)) => Some(THREADS),
        Expr::Geometry(GeometryVar::BlockIdx(_) | GeometryVar::GridDim(_)) => Some(BLOCKS),
        Expr::Convert(_, value) | Expr::Binary(Div | Shr, value, _) => greatest(exprs, value),
        Expr::Binary(Add, one, other) => greatest(exprs, one)?.checked_add(greatest(exprs, other)?),
        Expr::Binary(Mul, one, other) => greatest(exprs, one)?.checked_mul(greatest(exprs, other)?),
        _ => None,
    }
}

/// What the atomic does to its cell, if it counts.
pub(super) fn count(
    state: &mut State<'_>,
    op: AtomicOp,
    operands: &[ExprId],
    (offset, step): (ExprId, Option<i64>),
) -> Option<Count> {
    if let Some(step) = step {
        return Some(Count { offset, step, limit: None });
    }
    match operands {
        [limit] if op == AtomicOp::Increment => {
            let limit = state.evaluate(*limit);
            Some(Count { offset, step: 1, limit: Some(limit) })
        }
        _ => None,
    }
}

/// Takes the tickets of arrays away that are no counters.
pub(super) fn keep(state: &mut State<'_>) {
    let is_kept = |state: &State<'_>, array| !is_touched_unseen(state, array) && is_counter(state, array);
    let mut counters: FxHashSet<ArrayId> = state.out.arrays.handles().filter(|&array| is_kept(state, array)).collect();
    loop {
        drop_tickets(&mut state.out, |array| !counters.contains(&array));
        // What is to be confirmed must be there when it is.
        let unseen = unconfirmable(state, &counters);
        if unseen.is_empty() {
            break;
        }
        counters.retain(|array| !unseen.contains(array));
    }
}

fn drop_tickets(protocol: &mut Protocol, is_wrong: impl Fn(ArrayId) -> bool) {
    for id in protocol.opaques.handles().collect::<Vec<_>>() {
        if let Origin::Atomic { array, ticket, .. } = &mut protocol.opaques[id].origin
            && is_wrong(*array)
        {
            *ticket = None;
        }
    }
}

/// The counters to which something is added that [`confirm`] would have to look at, by an atomic that nothing uses the
/// result of: the protocol will not know of it.
fn unconfirmable(state: &State<'_>, counters: &FxHashSet<ArrayId>) -> FxHashSet<ArrayId> {
    let protocol = &state.out;
    let is_certain = |step: Step| {
        step.amount().is_none_or(|amount| is_never_negative(protocol, amount, &|_: &Protocol, _: &Opaque| false))
    };
    let mut open: FxHashMap<SiteId, ArrayId> = FxHashMap::default();
    for (_, access) in protocol.accesses.iter().filter(|(_, access)| counters.contains(&access.array)) {
        if let Some(&Some(step)) = state.additions.get(&access.site)
            && !is_certain(step)
        {
            open.insert(access.site, access.array);
        }
    }
    if !open.is_empty() {
        let needed = finish::needed_vars(protocol);
        for (_, opaque) in protocol.opaques.iter().filter(|(_, opaque)| needed.contains(&opaque.var)) {
            if let Origin::Atomic { site, ticket: Some(_), .. } = &opaque.origin {
                open.remove(site);
            }
        }
    }
    open.into_values().collect()
}

/// Takes the tickets away that rely on values of memory of a block being counts, where they are none.
pub(super) fn confirm(protocol: &mut Protocol) {
    let is_wrong = |opaque: &Opaque| match &opaque.origin {
        Origin::Atomic { array, ticket: Some(ticket), .. } => {
            let amount = ticket.step.amount()?;
            (!is_never_negative(protocol, amount, &is_counted)).then_some(*array)
        }
        _ => None,
    };
    let wrong: FxHashSet<ArrayId> = protocol.opaques.iter().filter_map(|(_, opaque)| is_wrong(opaque)).collect();
    drop_tickets(protocol, |array| wrong.contains(&array));
}

fn is_touched_unseen(state: &State<'_>, array: ArrayId) -> bool {
    state.out.unsupported.iter().any(|each| each.arrays.as_ref().is_none_or(|arrays| arrays.contains(&array)))
}

/// Whether all atomics of an array add with one sign to cells of one size.
fn is_counter(state: &State<'_>, array: ArrayId) -> bool {
    let atomics = state.out.accesses.iter().map(|(_, access)| access);
    let atomics = atomics.filter(|access| access.array == array && matches!(access.kind, AccessKind::Atomic { .. }));
    let mut steps = atomics.map(|access| (state.additions.get(&access.site).copied().flatten(), access.bytes));
    let Some((Some(first), bytes)) = steps.next() else { return false };
    steps.all(|(step, size)| size == bytes && step.is_some_and(|step| step.falls() == first.falls()))
}
