//! Flags that end a loop, as `break` and `return` become ones: an arm that is not taken because of such a flag is skipped
//! in the last turn of the loop alone.
//!
//! The flag of a loop is false where the loop goes on, and within a turn nothing makes it false again. So in a turn that is
//! followed by another one, every `if (!flag)` in the loop is taken, wherever it stands.
//!
//! Deliberately absent: flags that something else than the constant `true` is assigned to, and the values of guards.

use crate::calculus::statements::every;
use crate::calculus::{BinaryOp, Expr, ExprId, Kernel, Stmt, Test, UnaryOp, VarId, statements};

/// The flags of a loop; none of one that is no loop with a test.
pub(super) fn flags(kernel: &Kernel, stmt: &Stmt) -> Vec<VarId> {
    let Stmt::Loop { test: Test::Before(cond) | Test::After(cond), body, .. } = stmt else { return Vec::new() };
    let mut flags = negated(kernel, *cond).0;
    let mut raised: Vec<VarId> = Vec::new();
    every(body, |stmt| {
        if let Stmt::Let { var, value } = stmt
            && kernel.exprs.as_int(*value) == Some(1)
        {
            raised.push(*var);
        }
    });
    let assigned = statements::assigned(body);
    let times = |vars: &[VarId], flag: VarId| vars.iter().filter(|&&var| var == flag).count();
    flags.retain(|&flag| times(&raised, flag) == times(&assigned, flag));
    flags
}

/// The flags of which all have to be false for a condition, and nothing else.
pub(super) fn asked(kernel: &Kernel, cond: ExprId) -> Option<Vec<VarId>> {
    let (flags, is_all) = negated(kernel, cond);
    (is_all && !flags.is_empty()).then_some(flags)
}

/// The variables that a condition says are false, and whether that is all it says.
fn negated(kernel: &Kernel, cond: ExprId) -> (Vec<VarId>, bool) {
    let (mut flags, mut is_all) = (Vec::new(), true);
    let mut pending = vec![cond];
    while let Some(id) = pending.pop() {
        match kernel.exprs[id] {
            Expr::Binary(BinaryOp::And, left, right) => pending.extend([left, right]),
            Expr::Unary(UnaryOp::Not, inner) if let Expr::Var(var) = kernel.exprs[inner] => flags.push(var),
            _ => is_all = false,
        }
    }
    (flags, is_all)
}
