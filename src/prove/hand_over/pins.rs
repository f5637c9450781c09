//! Which guards leave one thread of each block: `threadIdx.x == 0`, or a number within the block that is 0.

use super::sums::{Factor, Sizes, Sum};
use crate::calculus::{Axis, BinaryOp, Expr, ExprId, GeometryVar, UnaryOp};
use crate::protocol::Guard;

/// Depth of expressions that are looked at.
const DEPTH: u32 = 24;

/// The places along each axis that guards leave; `None` where they leave any.
pub(super) type Pins = [Option<Sum>; 3];

/// What the guards say about the place of the thread in its block.
pub(super) fn pins(sizes: &Sizes<'_>, guards: &[Guard]) -> Pins {
    let mut pins: Pins = [None, None, None];
    for guard in guards {
        for (axis, place) in pinned_by(sizes, guard.cond) {
            pins[axis.index()].get_or_insert(place);
        }
    }
    pins
}

/// Whether a guard is one that chooses the thread.
pub(super) fn chooses(sizes: &Sizes<'_>, cond: ExprId) -> bool {
    !pinned_by(sizes, cond).is_empty()
}

/// Whether pins leave at most one thread of a block, and one in every block.
pub(super) fn is_one_thread(sizes: &Sizes<'_>, pins: &Pins) -> bool {
    Axis::ALL.into_iter().all(|axis| {
        let extent = sizes.size(GeometryVar::BlockDim(axis));
        match &pins[axis.index()] {
            None => extent.as_constant() == Some(1),
            Some(place) => exists(place, &extent),
        }
    })
}

/// Whether every block has a thread at that place.
fn exists(place: &Sum, extent: &Sum) -> bool {
    let below = extent.minus(place).as_constant();
    match place.as_constant() {
        Some(0) => true,
        Some(place) => place > 0 && extent.as_constant().is_some_and(|extent| place < extent),
        None => below == Some(1),
    }
}

/// Whether two places that pins of `one` leave are one place, given that along an axis without pins there is one.
pub(super) fn are_equal(one: &Pins, other: &Pins) -> bool {
    one.iter().zip(other).all(|(one, other)| one.is_none() && other.is_none() || one.is_some() && one == other)
}

fn pinned_by(sizes: &Sizes<'_>, cond: ExprId) -> Vec<(Axis, Sum)> {
    pinned(sizes, cond).unwrap_or_default()
}

fn pinned(sizes: &Sizes<'_>, cond: ExprId) -> Option<Vec<(Axis, Sum)>> {
    let exprs = &sizes.protocol.exprs;
    let mut wraps = Vec::new();
    let mut value = |expr| sizes.value(expr, &|_| None, &mut wraps, DEPTH);
    let difference = match exprs[cond] {
        Expr::Binary(BinaryOp::Eq, a, b) => value(a)?.minus(&value(b)?),
        Expr::Unary(UnaryOp::Not, inner) => match exprs[inner] {
            Expr::Binary(BinaryOp::Ne, a, b) => value(a)?.minus(&value(b)?),
            _ => return None,
        },
        // `threadIdx.x < 1`: what is not negative and below 1 is 0.
        Expr::Binary(BinaryOp::Lt, a, b) if exprs.as_int(b) == Some(1) => {
            let sum = value(a)?;
            if !is_never_negative(&sum) {
                return None;
            }
            sum
        }
        _ => return None,
    };
    Some(alone(&difference).map(|pin| vec![pin]).or_else(|| all_zero(&difference)).unwrap_or_default())
}

fn is_thread(factor: &Factor) -> bool {
    matches!(factor, Factor::ThreadIdx(_))
}

fn is_size(factor: &Factor) -> bool {
    matches!(factor, Factor::BlockDim(_) | Factor::GridDim(_))
}

fn is_never_negative(sum: &Sum) -> bool {
    sum.terms().all(|(product, coefficient)| {
        coefficient > 0 && product.iter().all(|factor| is_thread(factor) || is_size(factor))
    })
}

/// `threadIdx.x - e = 0`, where `e` is the same for all threads of a block.
fn alone(difference: &Sum) -> Option<(Axis, Sum)> {
    Axis::ALL.into_iter().find_map(|axis| {
        let (coefficient, rest) = difference.split(Factor::ThreadIdx(axis))?;
        let varies = |factor: &Factor| !is_size(factor) && !matches!(factor, Factor::Param(_));
        let is_uniform = !rest.terms().any(|(product, _)| product.iter().any(varies));
        let place = rest.times(&Sum::constant(-coefficient));
        (coefficient.abs() == 1 && is_uniform).then_some((axis, place))
    })
}

/// A sum of numbers of threads, each times something positive, that is 0: then each of them is 0.
fn all_zero(difference: &Sum) -> Option<Vec<(Axis, Sum)>> {
    let mut axes = Vec::new();
    for (product, coefficient) in difference.terms() {
        let threads: Vec<&Factor> = product.iter().filter(|factor| is_thread(factor)).collect();
        let [Factor::ThreadIdx(axis)] = threads[..] else { return None };
        if coefficient <= 0 || product.iter().any(|factor| !is_thread(factor) && !is_size(factor)) {
            return None;
        }
        axes.push((*axis, Sum::constant(0)));
    }
    Some(axes)
}
