//! Whether a loop has a first turn, whatever the launch.

use crate::calculus::{BinaryOp, Expr, ExprId, UnaryOp, VarId};
use crate::protocol::{LoopId, Protocol, Role};
use std::collections::BTreeMap;

/// Whether what decides about the first turn is a constant that holds.
pub(super) fn is_certain(protocol: &Protocol, id: LoopId) -> bool {
    let around = &protocol.loops[id];
    let mut known: BTreeMap<VarId, i128> = BTreeMap::from([(around.iteration, 0)]);
    for carried in &around.carried {
        let start = value(protocol, carried.start, &known);
        known.extend(start.map(|start| (carried.var, start)));
    }
    around.reasons.is_empty() && value(protocol, around.guard, &known) == Some(1)
}

/// The value of an expression, where it is small and constants decide it.
fn value(protocol: &Protocol, of: ExprId, known: &BTreeMap<VarId, i128>) -> Option<i128> {
    let small = |value: i128| (value.abs() < 1 << 30).then_some(value);
    match protocol.exprs[of] {
        Expr::Int(number, _) => small(number),
        Expr::Var(var) => match protocol.roles.get(var) {
            Some(Role::Toggle(_) | Role::Geometric(_) | Role::Iteration(_)) => known.get(&var).copied(),
            _ => None,
        },
        Expr::Convert(_, inner) => value(protocol, inner, known).filter(|value| *value >= 0),
        Expr::Unary(UnaryOp::Not, inner) => value(protocol, inner, known).map(|value| i128::from(value == 0)),
        Expr::Binary(op, one, other) => {
            let (one, other) = (value(protocol, one, known)?, value(protocol, other, known)?);
            match op {
                BinaryOp::Add => small(one + other),
                BinaryOp::Sub => small(one - other).filter(|value| *value >= 0),
                BinaryOp::Mul => small(one * other),
                BinaryOp::Lt => Some((one < other).into()),
                BinaryOp::Le => Some((one <= other).into()),
                BinaryOp::Gt => Some((one > other).into()),
                BinaryOp::Ge => Some((one >= other).into()),
                BinaryOp::Eq => Some((one == other).into()),
                BinaryOp::Ne => Some((one != other).into()),
                BinaryOp::And => Some((one != 0 && other != 0).into()),
                BinaryOp::Or => Some((one != 0 || other != 0).into()),
                _ => None,
            }
        }
        _ => None,
    }
}
