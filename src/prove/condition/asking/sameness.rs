//! Whether something is the same for both threads of a condition, in the iterations that it says, by the values that they
//! have.

use crate::calculus::{Expr, ExprId, VarId};
use crate::protocol::{Carried, Role};
use crate::prove::condition::values::builder::Builder;

/// What need not be asked about, beside values that both threads share.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::prove::condition) enum Besides {
    Nothing,
    /// A variable, which is taken to be the same.
    Variable(VarId),
    /// Values that a call gave to both threads together, among them values of types that nothing is computed with.
    Given,
}

/// Whether all that `expr` reads is the same for both threads, so that both find the same.
pub(in crate::prove::condition) fn holds(builder: &mut Builder<'_>, expr: ExprId, besides: Besides) -> bool {
    let mut leaves = Vec::new();
    builder.protocol.exprs.visit(expr, |id, node| match node {
        Expr::Var(var) => leaves.push((id, Some(*var))),
        Expr::Param(_) | Expr::Geometry(_) => leaves.push((id, None)),
        _ => {}
    });
    leaves.into_iter().all(|(leaf, var)| {
        var.is_some_and(|var| is_left_out(builder, var, besides)) || {
            let values = [0, 1].map(|env| builder.value(leaf, env));
            matches!(values, [Some(first), Some(second)] if first == second && !first.is_private())
        }
    })
}

fn is_left_out(builder: &Builder<'_>, var: VarId, besides: Besides) -> bool {
    match (besides, builder.protocol.roles.get(var)) {
        (Besides::Nothing, _) => false,
        (Besides::Variable(other), _) => var == other,
        (Besides::Given, Some(Role::Opaque(id))) => {
            let opaque = &builder.protocol.opaques[*id];
            opaque.is_uniform(builder.launch.closest) && builder.environments.happen_together(&opaque.loops)
        }
        (Besides::Given, _) => false,
    }
}

/// Whether the value that a loop carries depends, in an iteration, on the number of the iteration only.
pub(in crate::prove::condition) fn of_iterations(builder: &mut Builder<'_>, carried: &Carried) -> bool {
    [carried.start, carried.next].into_iter().all(|expr| holds(builder, expr, Besides::Variable(carried.var)))
}
