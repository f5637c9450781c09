//! The parts of expressions and statements, for whoever looks for something in a tree without a walk of its own.
//!
//! Guarantees: every expression that is evaluated, and every statement, is among the parts of what it stands in, those
//! in the bodies of lambdas included.
//!
//! Deliberately absent: labels, and types and template arguments, which may hold expressions, too.

use super::{Expr, ExprKind, Init, ItemKind, Lambda, Path, Stmt, StmtKind};

/// The expressions of an initialiser.
pub fn init_parts(init: Option<&Init>) -> &[Expr] {
    match init {
        Some(Init::Value(value)) => std::slice::from_ref(value),
        Some(Init::Call(values) | Init::List(values)) => values,
        None => &[],
    }
}

/// The direct parts of an expression.
pub fn parts_of(value: &Expr) -> Vec<&Expr> {
    use ExprKind as Kind;
    match &value.kind {
        Kind::Unary(_, a) | Kind::Postfix(_, a) | Kind::Cast(_, _, a) | Kind::SizeofExpr(a) => vec![a],
        Kind::Expansion(a) => vec![a],
        Kind::Fold(fold) => fold.left.iter().chain(&fold.right).collect(),
        Kind::Member { object, .. } => vec![object],
        Kind::Binary(_, a, b) | Kind::Assign(_, a, b) | Kind::Comma(a, b) | Kind::Index(a, b) => vec![a, b],
        Kind::Conditional(a, b, c) => vec![a, b, c],
        Kind::Call(callee, args) => std::iter::once(&**callee).chain(args).collect(),
        Kind::Construct(_, args) => args.iter().collect(),
        Kind::InitList(entries) => entries.iter().map(|(_, value)| value).collect(),
        Kind::Launch { kernel, config, args } => std::iter::once(&**kernel).chain(config).chain(args).collect(),
        Kind::Lambda(lambda) | Kind::Statements(lambda) => parts_of_lambda(lambda),
        _ => Vec::new(),
    }
}

/// The values of captures and the expressions of the body.
fn parts_of_lambda(lambda: &Lambda) -> Vec<&Expr> {
    let mut parts: Vec<&Expr> = lambda.captures.iter().filter_map(|capture| capture.init.as_ref()).collect();
    for item in lambda.closure.members.iter().flatten() {
        if let ItemKind::Function(function) = &item.kind {
            parts.extend(function.body.iter().flatten().flat_map(exprs_of_stmt));
        }
    }
    parts
}

/// The statements of a lambda's body, those of nested statements included.
pub fn stmts_of_lambda(value: &Expr) -> Vec<&Stmt> {
    let (ExprKind::Lambda(lambda) | ExprKind::Statements(lambda)) = &value.kind else { return Vec::new() };
    let mut found = Vec::new();
    for item in lambda.closure.members.iter().flatten() {
        let ItemKind::Function(function) = &item.kind else { continue };
        let mut open: Vec<&Stmt> = function.body.iter().flatten().collect();
        while let Some(stmt) = open.pop() {
            found.push(stmt);
            open.extend(stmts_in(stmt));
        }
    }
    found
}

/// Visits an expression and all its parts, without recurring on them.
pub fn visit<'u>(value: &'u Expr, mut work: impl FnMut(&'u Expr)) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        work(value);
        open.extend(parts_of(value));
    }
}

/// Whether an expression has a part for which `wanted` holds.
pub fn expr_has(value: &Expr, wanted: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    visit(value, |part| found |= wanted(part));
    found
}

/// The expressions and statements directly in a statement.
pub fn parts_of_stmt(stmt: &Stmt) -> (Vec<&Expr>, Vec<&Stmt>) {
    match &stmt.kind {
        StmtKind::Block(stmts) => (Vec::new(), stmts.iter().collect()),
        StmtKind::Item(item) => match &item.kind {
            ItemKind::Variables(variables) => {
                (variables.iter().flat_map(|variable| init_parts(variable.init.as_ref())).collect(), Vec::new())
            }
            _ => (Vec::new(), Vec::new()),
        },
        StmtKind::Expr(value) | StmtKind::Return(Some(value)) => (vec![value], Vec::new()),
        StmtKind::Asm { outputs, inputs, .. } => (outputs.iter().chain(inputs).collect(), Vec::new()),
        StmtKind::If { init, cond, then, otherwise, .. } => {
            let stmts = init.as_deref().into_iter().chain(Some(&**then)).chain(otherwise.as_deref()).collect();
            (vec![cond], stmts)
        }
        StmtKind::For { init, cond, step, body } => {
            let exprs = cond.iter().chain(step).collect();
            (exprs, init.as_deref().into_iter().chain(Some(&**body)).collect())
        }
        StmtKind::While { cond, body }
        | StmtKind::Do { body, cond }
        | StmtKind::Switch { value: cond, body }
        | StmtKind::RangeFor { range: cond, body, .. } => (vec![cond], vec![body]),
        _ => (Vec::new(), Vec::new()),
    }
}

/// The statements directly in a statement.
pub fn stmts_in(stmt: &Stmt) -> Vec<&Stmt> {
    parts_of_stmt(stmt).1
}

/// The expressions that stand in a statement, those of nested statements included.
pub fn exprs_of_stmt(stmt: &Stmt) -> Vec<&Expr> {
    let mut found = Vec::new();
    let mut open = vec![stmt];
    while let Some(stmt) = open.pop() {
        let (exprs, stmts) = parts_of_stmt(stmt);
        found.extend(exprs);
        open.extend(stmts);
    }
    found
}

/// Whether an expression for which `wanted` holds stands in a statement.
pub fn stmt_has(stmt: &Stmt, wanted: &dyn Fn(&Expr) -> bool) -> bool {
    exprs_of_stmt(stmt).into_iter().any(|value| expr_has(value, wanted))
}

/// A path as text, without template arguments.
pub fn path_text(path: &Path) -> String {
    let segments: Vec<&str> = path.segments.iter().map(|segment| segment.name.text.as_str()).collect();
    segments.join("::")
}
