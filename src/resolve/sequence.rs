//! The order of the operands of an assignment that a class overloads: the right one is evaluated before the left one (C++17,
//! [over.match.oper] paragraph 2), while arguments of a call are evaluated from left to right here.
//!
//! Guarantees: where the order may show, nothing is said.
//!
//! Deliberately absent: which variables operands share, beyond the pointer that leads to the object.

use super::program::visit::{any_within, may_have_effect};
use super::program::{Expr, ExprKind, VariableId};

/// Whether it may show which operand of an overloaded assignment is evaluated first.
pub(super) fn order_shows(target: &Expr, value: &Expr) -> bool {
    has_effects(target) && !is_fixed(value) || has_effects(value) && !names_one_object(target, value)
}

fn has_effects(expr: &Expr) -> bool {
    any_within(expr, |part| may_have_effect(&part.kind))
}

fn is_fixed(expr: &Expr) -> bool {
    !any_within(expr, |part| {
        !matches!(part.kind, ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Convert(_) | ExprKind::Geometry(_))
    })
}

/// Whether it is the same object whatever `other` does: a variable, what a pointer leads to that is not changed there, a part
/// of these.
fn names_one_object(expr: &Expr, other: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Variable(_) => true,
        ExprKind::Field(inner, _) | ExprKind::Lanes(inner, _) => names_one_object(inner, other),
        ExprKind::Element(inner, index) => names_one_object(inner, other) && is_fixed(index),
        ExprKind::Deref(pointer) => match &pointer.kind {
            ExprKind::Load(variable) => match variable.kind {
                ExprKind::Variable(variable) => !any_within(other, |part| may_change(part, variable)),
                _ => false,
            },
            ExprKind::AddressOf(inner) => names_one_object(inner, other),
            _ => false,
        },
        _ => false,
    }
}

/// Whether a variable is assigned, or its address taken.
fn may_change(expr: &Expr, variable: VariableId) -> bool {
    let is_it = |object: &Expr| matches!(object.kind, ExprKind::Variable(it) if it == variable);
    match &expr.kind {
        ExprKind::Assign(target, _) | ExprKind::CompoundAssign { target, .. } | ExprKind::Step { target, .. } => {
            is_it(target)
        }
        ExprKind::AddressOf(object) => is_it(object),
        _ => false,
    }
}
