//! Visits of the statements and expressions of a [`Program`](super::Program), outer ones first, without recursion.

use super::{Expr, ExprKind, Stmt, StmtKind};

/// Calls `visit` for every statement, nested ones included. No recursion.
pub fn each_stmt<'s>(body: &'s [Stmt], mut visit: impl FnMut(&'s Stmt)) {
    let mut stack: Vec<&Stmt> = body.iter().rev().collect();
    while let Some(stmt) = stack.pop() {
        visit(stmt);
        match &stmt.kind {
            StmtKind::Block(inner) => stack.extend(inner.iter().rev()),
            StmtKind::If(_, then, otherwise) => {
                stack.extend(otherwise.as_deref());
                stack.push(then);
            }
            StmtKind::For { init, body, .. } => {
                stack.push(body);
                stack.extend(init.as_deref());
            }
            StmtKind::While(_, body) | StmtKind::Do(body, _) | StmtKind::Switch(_, body) => stack.push(body),
            _ => {}
        }
    }
}

/// Calls `visit` for every expression, nested ones included. No recursion.
pub fn each_expr<'s>(body: &'s [Stmt], mut visit: impl FnMut(&'s Expr)) {
    let mut stack: Vec<&Expr> = Vec::new();
    each_stmt(body, |stmt| match &stmt.kind {
        StmtKind::Expr(expr)
        | StmtKind::Declare(_, Some(expr))
        | StmtKind::If(expr, ..)
        | StmtKind::While(expr, _)
        | StmtKind::Do(_, expr)
        | StmtKind::Switch(expr, _)
        | StmtKind::Return(Some(expr)) => stack.push(expr),
        StmtKind::For { cond, step, .. } => stack.extend(cond.iter().chain(step)),
        StmtKind::Asm { outputs, inputs, .. } => stack.extend(outputs.iter().chain(inputs)),
        _ => {}
    });
    while let Some(expr) = stack.pop() {
        visit(expr);
        push_operands(expr, &mut stack);
    }
}

/// Whether an expression, or one that is nested in it, is as wanted. No recursion.
pub fn any_within(expr: &Expr, is_wanted: impl Fn(&Expr) -> bool) -> bool {
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        if is_wanted(expr) {
            return true;
        }
        push_operands(expr, &mut stack);
    }
    false
}

/// Puts the operands of an expression onto a stack.
pub fn push_operands<'s>(expr: &'s Expr, stack: &mut Vec<&'s Expr>) {
    match &expr.kind {
        ExprKind::Deref(a)
        | ExprKind::Field(a, _)
        | ExprKind::Lanes(a, _)
        | ExprKind::Load(a)
        | ExprKind::AddressOf(a)
        | ExprKind::Convert(a)
        | ExprKind::Unary(_, a)
        | ExprKind::Step { target: a, .. } => stack.push(a),
        ExprKind::Element(a, b)
        | ExprKind::PointerAdd(a, b)
        | ExprKind::PointerDifference(a, b)
        | ExprKind::Binary(_, a, b)
        | ExprKind::And(a, b)
        | ExprKind::Or(a, b)
        | ExprKind::Comma(a, b)
        | ExprKind::Assign(a, b)
        | ExprKind::CompoundAssign { target: a, value: b, .. } => stack.extend([&**a, &**b]),
        ExprKind::Conditional(a, b, c) => stack.extend([&**a, &**b, &**c]),
        ExprKind::CallThrough(pointer, args) => {
            stack.push(pointer);
            stack.extend(args);
        }
        ExprKind::Call(_, args)
        | ExprKind::Builtin(_, _, args)
        | ExprKind::UnknownCall(_, args, _)
        | ExprKind::Construct(args) => stack.extend(args),
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::String(_)
        | ExprKind::Null
        | ExprKind::Function(_)
        | ExprKind::Geometry(_)
        | ExprKind::Variable(_)
        | ExprKind::Unsupported(_) => {}
    }
}

/// Whether an expression itself, without its operands, may assign a variable of the thread, or call what may.
pub const fn may_have_effect(kind: &ExprKind) -> bool {
    matches!(
        kind,
        ExprKind::Assign(..)
            | ExprKind::CompoundAssign { .. }
            | ExprKind::Step { .. }
            | ExprKind::Call(..)
            | ExprKind::CallThrough(..)
            | ExprKind::UnknownCall(..)
            | ExprKind::Unsupported(_)
    )
}
