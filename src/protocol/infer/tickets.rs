//! Numbers that are drawn from counters: which atomics return one (see [`Ticket`](crate::protocol::Ticket)).
//!
//! An atomic that adds a constant to a cell gives every thread that draws there a number of its own, as long as
//! everybody adds a constant of the same sign. One atomic of another kind on the array, or of another size, or code
//! that is not modelled and may touch it, takes the tickets of all its atomics away.
//!
//! Deliberately absent: amounts that are no constants, `atomicInc` (it wraps at its operand: it is a [`Count`], as is every
//! addition, whatever else is done to the array), and resets of the counter by plain writes, which whoever compares two
//! tickets has to look at.

use super::state::{Mode, State};
use crate::calculus::{ArrayId, AtomicOp, ExprId, ScalarType, SiteId};
use crate::memory_model::AccessKind;
use crate::protocol::{Count, Origin};
use rustc_hash::FxHashSet;

/// What an atomic adds, if that is a constant and not zero; notes it.
pub(super) fn note(state: &mut State<'_>, site: SiteId, op: AtomicOp, operands: &[ExprId]) -> Option<i64> {
    let step = addition(state, op, operands).filter(|&step| step != 0);
    if state.mode == Mode::Emit {
        state.additions.insert(site, step);
    }
    step
}

/// What is added, as a signed number: half of the values of an unsigned type stand for negative ones.
fn addition(state: &mut State<'_>, op: AtomicOp, operands: &[ExprId]) -> Option<i64> {
    if !matches!(op, AtomicOp::Add | AtomicOp::Sub) {
        return None;
    }
    let amount = match operands {
        [] => 1,
        [amount, ..] => {
            let value = state.evaluate(*amount);
            let ScalarType::Int { width, signed } = state.out.exprs.ty(value) else { return None };
            let amount = state.out.exprs.as_int(value)?;
            if !signed && amount >> (width - 1) != 0 { amount - (1 << width) } else { amount }
        }
    };
    i64::try_from(if op == AtomicOp::Add { amount } else { -amount }).ok().filter(|step| *step != i64::MIN)
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
    let counters: FxHashSet<ArrayId> = state
        .out
        .arrays
        .handles()
        .filter(|&array| !is_touched_unseen(state, array) && is_counter(state, array))
        .collect();
    for id in state.out.opaques.handles().collect::<Vec<_>>() {
        if let Origin::Atomic { array, ticket, .. } = &mut state.out.opaques[id].origin
            && !counters.contains(array)
        {
            *ticket = None;
        }
    }
}

fn is_touched_unseen(state: &State<'_>, array: ArrayId) -> bool {
    state.out.unsupported.iter().any(|each| each.arrays.as_ref().is_none_or(|arrays| arrays.contains(&array)))
}

/// Whether all atomics of an array add constants of one sign to cells of one size.
fn is_counter(state: &State<'_>, array: ArrayId) -> bool {
    let atomics = state.out.accesses.iter().map(|(_, access)| access);
    let atomics = atomics.filter(|access| access.array == array && matches!(access.kind, AccessKind::Atomic { .. }));
    let mut steps = atomics.map(|access| (state.additions.get(&access.site).copied().flatten(), access.bytes));
    let Some((Some(first), bytes)) = steps.next() else { return false };
    steps.all(|(step, size)| size == bytes && step.is_some_and(|step| step.signum() == first.signum()))
}
