//! Walks over statements, inner ones included and without recursion where nothing else is said.

use super::{ArrayId, ExprId, Stmt, Test, VarId};
use rustc_hash::FxHashSet;

/// Calls `visit` for all statements, inner ones included, in no particular order.
pub fn every<'k>(body: &'k [Stmt], mut visit: impl FnMut(&'k Stmt)) {
    let mut stack = vec![body];
    while let Some(body) = stack.pop() {
        for stmt in body {
            visit(stmt);
            match stmt {
                Stmt::If { then, otherwise, .. } => stack.extend([then.as_slice(), otherwise]),
                Stmt::For(counted) => stack.push(&counted.body),
                Stmt::Loop { body, .. } => stack.push(body),
                Stmt::Let { .. }
                | Stmt::Read { .. }
                | Stmt::Write { .. }
                | Stmt::Atomic { .. }
                | Stmt::Havoc { .. }
                | Stmt::Sync { .. }
                | Stmt::Fence { .. }
                | Stmt::Assume { .. }
                | Stmt::Assert { .. } => {}
            }
        }
    }
}

/// A block in which each statement, in their order, is replaced by what `replace` puts behind those before it. Inner ones are
/// for `replace` to enter.
pub fn replaced(body: Vec<Stmt>, mut replace: impl FnMut(Stmt, &mut Vec<Stmt>)) -> Vec<Stmt> {
    let mut done = Vec::with_capacity(body.len());
    for stmt in body {
        replace(stmt, &mut done);
    }
    done
}

/// Calls `visit` for the expressions that stand in statements, inner ones included, in no particular order.
pub fn each_expr(body: &[Stmt], visit: &mut impl FnMut(ExprId)) {
    every(body, |stmt| match stmt {
        Stmt::Let { value, .. } => visit(*value),
        Stmt::Read { access, .. } => visit(access.offset),
        Stmt::Write { access, value } => {
            visit(access.offset);
            value.iter().copied().for_each(&mut *visit);
        }
        Stmt::Atomic { access, operands, .. } => {
            visit(access.offset);
            operands.iter().copied().for_each(&mut *visit);
        }
        Stmt::If { cond, .. } => visit(*cond),
        Stmt::For(counted) => [counted.start, counted.bound, counted.step.by].into_iter().for_each(&mut *visit),
        Stmt::Loop { test: Test::Before(test) | Test::After(test), .. } => visit(*test),
        Stmt::Assume { cond, .. } | Stmt::Assert { cond, .. } => visit(*cond),
        Stmt::Sync { among, .. } => among.named().into_iter().for_each(&mut *visit),
        Stmt::Fence { .. } | Stmt::Havoc { .. } => {}
    });
}

/// The variables that statements assign, with repetitions.
pub fn assigned(body: &[Stmt]) -> Vec<VarId> {
    let mut found = Vec::new();
    every(body, |stmt| match stmt {
        Stmt::Let { var, .. } | Stmt::Read { var, .. } | Stmt::Havoc { var, .. } => found.push(*var),
        Stmt::Atomic { var, .. } => found.extend(*var),
        Stmt::For(counted) => found.push(counted.var),
        Stmt::If { .. }
        | Stmt::Loop { .. }
        | Stmt::Write { .. }
        | Stmt::Sync { .. }
        | Stmt::Fence { .. }
        | Stmt::Assume { .. }
        | Stmt::Assert { .. } => {}
    });
    found
}

/// The arrays that statements write.
pub fn written(body: &[Stmt]) -> FxHashSet<ArrayId> {
    let mut found = FxHashSet::default();
    every(body, |stmt| {
        if let Stmt::Write { access, .. } | Stmt::Atomic { access, .. } = stmt {
            found.insert(access.array);
        }
    });
    found
}

/// How deep statements are nested, without recursion.
pub fn nesting(body: &[Stmt]) -> usize {
    let mut deepest = 0;
    let mut stack = vec![(body, 1)];
    while let Some((statements, depth)) = stack.pop() {
        deepest = deepest.max(depth);
        for statement in statements {
            match statement {
                Stmt::If { then, otherwise, .. } => stack.extend([(&then[..], depth + 1), (&otherwise[..], depth + 1)]),
                Stmt::For(each) => stack.push((&each.body, depth + 1)),
                Stmt::Loop { body, .. } => stack.push((body, depth + 1)),
                _ => {}
            }
        }
    }
    deepest
}
