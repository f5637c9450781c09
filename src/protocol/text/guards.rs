//! The guards that follow from a condition, which the text leaves out.

use crate::calculus::{BinaryOp, Expr, ExprId, Exprs, UnaryOp};
use crate::protocol::{Guard, LoopId};

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polarity {
    Holds,
    Fails,
}

/// The guards of an arm of `if cond`, or of the body of a loop with that test.
pub(super) fn implied(exprs: &mut Exprs, cond: ExprId, polarity: Polarity, of_loop: Option<LoopId>) -> Vec<Guard> {
    let mut guards = Vec::new();
    let mut pending = vec![(cond, polarity)];
    while let Some((cond, polarity)) = pending.pop() {
        match (&exprs[cond], polarity) {
            (Expr::Int(1, _), Polarity::Holds) => {}
            (&Expr::Binary(BinaryOp::And, a, b), Polarity::Holds) => {
                pending.extend([(b, polarity), (a, polarity)]);
            }
            (&Expr::Binary(BinaryOp::Or, a, b), Polarity::Fails) => {
                pending.extend([(b, polarity), (a, polarity)]);
            }
            (&Expr::Unary(UnaryOp::Not, inner), Polarity::Fails) => pending.push((inner, Polarity::Holds)),
            (_, Polarity::Holds) => guards.push(Guard { cond, not_returned: false, of_loop }),
            (_, Polarity::Fails) => {
                let cond = exprs.not(cond);
                guards.push(Guard { cond, not_returned: false, of_loop });
            }
        }
    }
    guards
}
