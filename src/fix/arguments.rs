//! First arguments of calls: by which barriers say which memory they order, and which threads of a warp they are for.

use super::function as function_of;
use crate::builtins::functions::function;
use crate::builtins::{Builtin, Together};
use crate::calculus::SyncScope;
use crate::source::{FileId, Span};
use crate::syntax::{Expr, ExprKind, Init, ItemKind, Stmt, StmtKind, Unit};
use std::ops::Range;

/// Where the barriers of that kernel say which memory they order, those between the two bytes first.
pub fn flags(unit: &Unit, main: FileId, kernel: Span, places: [usize; 2]) -> Vec<Range<usize>> {
    let says_memory = |meaning: &Builtin| matches!(meaning, Builtin::Barrier { scope: SyncScope::Block, memory: None });
    between(unit, main, kernel, places, says_memory)
}

/// Where the barriers of that kernel say for which threads of a warp they are, those between the two bytes first.
pub fn masks(unit: &Unit, main: FileId, kernel: Span, places: [usize; 2]) -> Vec<Range<usize>> {
    between(unit, main, kernel, places, is_barrier_of_warps)
}

/// Where the barrier, shuffle, vote or reduction that stands at a byte says for which threads of a warp it is.
pub fn mask_at(unit: &Unit, main: FileId, kernel: Span, at: usize) -> Option<Range<usize>> {
    let has_mask =
        |meaning: &Builtin| is_barrier_of_warps(meaning) || matches!(meaning, Builtin::Together(Together::Named, _));
    let calls = calls(unit, main, kernel, has_mask);
    let around = calls.into_iter().filter(|(call, _)| call.contains(&at));
    around.min_by_key(|(call, _)| call.len()).map(|(_, mask)| mask)
}

fn is_barrier_of_warps(meaning: &Builtin) -> bool {
    matches!(meaning, Builtin::Barrier { scope: SyncScope::Warp, memory: Some(_) })
}

fn between(
    unit: &Unit,
    main: FileId,
    kernel: Span,
    places: [usize; 2],
    is_one: impl Fn(&Builtin) -> bool,
) -> Vec<Range<usize>> {
    let between = places[0].min(places[1])..=places[0].max(places[1]);
    let mut found: Vec<Range<usize>> = calls(unit, main, kernel, is_one).into_iter().map(|(_, first)| first).collect();
    found.sort_by_key(|range| !between.contains(&range.start));
    found
}

/// The calls of builtins with such meanings and the first argument of each, in the order of the text.
fn calls(
    unit: &Unit,
    main: FileId,
    kernel: Span,
    is_one: impl Fn(&Builtin) -> bool,
) -> Vec<(Range<usize>, Range<usize>)> {
    let mut found = Vec::new();
    let mut stmts: Vec<&Stmt> =
        function_of(&unit.items, kernel).and_then(|function| function.body.as_ref()).into_iter().flatten().collect();
    let mut exprs = Vec::new();
    while let Some(stmt) = stmts.pop() {
        parts(stmt, &mut stmts, &mut exprs);
    }
    while let Some(expr) = exprs.pop() {
        operands(expr, &mut exprs);
        let ExprKind::Call(callee, args) = &expr.kind else { continue };
        let ExprKind::Path(path) = &callee.kind else { continue };
        let meaning = path.segments.last().and_then(|last| function(unit.dialect.language(), &last.name.text));
        let is_one = meaning.is_some_and(|meaning| is_one(&meaning.builtin));
        if let Some(first) = args.first().filter(|_| is_one && expr.span.expansion.is_none()) {
            // As the user wrote it: flags are macros.
            let first = unit.sources.visible(first.span);
            if first.file == main {
                found
                    .push((expr.span.start as usize..expr.span.end as usize, first.start as usize..first.end as usize));
            }
        }
    }
    found.sort_by_key(|(call, _)| call.start);
    found
}

/// The statements and expressions directly in a statement.
fn parts<'a>(stmt: &'a Stmt, stmts: &mut Vec<&'a Stmt>, exprs: &mut Vec<&'a Expr>) {
    match &stmt.kind {
        StmtKind::Block(body) => stmts.extend(body),
        StmtKind::Item(item) => {
            let ItemKind::Variables(variables) = &item.kind else { return };
            for init in variables.iter().filter_map(|variable| variable.init.as_ref()) {
                match init {
                    Init::Value(value) => exprs.push(value),
                    Init::Call(values) | Init::List(values) => exprs.extend(values),
                }
            }
        }
        StmtKind::Expr(expr) => exprs.push(expr),
        StmtKind::If { init, cond, then, otherwise, .. } => {
            stmts.extend(init.iter().chain([then]).chain(otherwise).map(|stmt| &**stmt));
            exprs.push(cond);
        }
        StmtKind::For { init, cond, step, body } => {
            stmts.extend(init.iter().chain([body]).map(|stmt| &**stmt));
            exprs.extend(cond.iter().chain(step));
        }
        StmtKind::RangeFor { range: expr, body, .. }
        | StmtKind::While { cond: expr, body }
        | StmtKind::Do { body, cond: expr }
        | StmtKind::Switch { value: expr, body } => {
            stmts.push(body);
            exprs.push(expr);
        }
        StmtKind::Return(value) => exprs.extend(value),
        _ => {}
    }
}

/// The expressions directly in an expression.
fn operands<'a>(expr: &'a Expr, exprs: &mut Vec<&'a Expr>) {
    match &expr.kind {
        ExprKind::Unary(_, one) | ExprKind::Postfix(_, one) | ExprKind::Cast(_, _, one) => exprs.push(one),
        ExprKind::Binary(_, one, other)
        | ExprKind::Assign(_, one, other)
        | ExprKind::Comma(one, other)
        | ExprKind::Index(one, other) => exprs.extend([&**one, &**other]),
        ExprKind::Conditional(cond, yes, no) => exprs.extend([&**cond, &**yes, &**no]),
        ExprKind::Call(callee, args) => {
            exprs.push(callee);
            exprs.extend(args);
        }
        ExprKind::Member { object, .. } => exprs.push(object),
        ExprKind::Construct(_, values) => exprs.extend(values),
        ExprKind::InitList(values) => exprs.extend(values.iter().map(|(_, value)| value)),
        _ => {}
    }
}
