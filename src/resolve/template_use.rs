//! What a kernel template uses its type parameters for, where nothing says which types they are.

use crate::syntax::parts::{exprs_of_stmt, init_parts, parts_of, stmts_in, visit};
use crate::syntax::{self, ItemKind, StmtKind, TypeKind};
use rustc_hash::FxHashSet;

/// Whether a function indexes by a value of its type parameter `name`, which then is an integer type: a variable or
/// parameter of that type stands in a subscript, or in the value of a variable that does.
pub(super) fn is_index_type(function: &syntax::Function, name: &str) -> bool {
    let body = function.body.as_deref().unwrap_or(&[]);
    let variables = variables(body);
    let is_own = |ty: &syntax::Type| match &ty.kind {
        TypeKind::Named(path) => path.segments.len() == 1 && path.segments[0].name.text == name,
        _ => false,
    };
    let params = function.params.iter().filter(|param| is_own(&param.ty)).map(|param| param.name.text.as_str());
    let locals = variables.iter().filter(|variable| is_own(&variable.ty)).map(|variable| variable.name.text.as_str());
    let own: FxHashSet<&str> = params.chain(locals).collect();
    !own.is_empty() && !own.is_disjoint(&index_names(body, &variables))
}

/// The variables that statements declare, those of nested statements included.
fn variables(body: &[syntax::Stmt]) -> Vec<&syntax::Variable> {
    let mut found = Vec::new();
    let mut open: Vec<&syntax::Stmt> = body.iter().collect();
    while let Some(stmt) = open.pop() {
        if let StmtKind::Item(syntax::Item { kind: ItemKind::Variables(variables), .. }) = &stmt.kind {
            found.extend(variables);
        }
        open.extend(stmts_in(stmt));
    }
    found
}

/// The names of which an index is made: in subscripts, and in what initialises or is assigned to such a name.
fn index_names<'s>(body: &'s [syntax::Stmt], variables: &[&'s syntax::Variable]) -> FxHashSet<&'s str> {
    let exprs: Vec<&syntax::Expr> = body.iter().flat_map(exprs_of_stmt).collect();
    let mut found = FxHashSet::default();
    for &value in &exprs {
        visit(value, |part| {
            if let syntax::ExprKind::Index(_, index) = &part.kind {
                names_in(index, &mut found);
            }
        });
    }
    loop {
        let before = found.len();
        for variable in variables {
            if found.contains(variable.name.text.as_str()) {
                init_parts(variable.init.as_ref()).iter().for_each(|value| names_in(value, &mut found));
            }
        }
        for &value in &exprs {
            let mut assigned = Vec::new();
            visit(value, |part| {
                if let syntax::ExprKind::Assign(_, target, value) = &part.kind
                    && let syntax::ExprKind::Path(path) = &target.kind
                {
                    assigned.push((path, &**value));
                }
            });
            for (path, value) in assigned {
                if path.segments.last().is_some_and(|last| found.contains(last.name.text.as_str())) {
                    names_in(value, &mut found);
                }
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The names of values in an expression, without those of arrays that it reads: their contents are data.
fn names_in<'s>(value: &'s syntax::Expr, found: &mut FxHashSet<&'s str>) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match &value.kind {
            syntax::ExprKind::Path(path) => found.extend(path.segments.last().map(|last| last.name.text.as_str())),
            syntax::ExprKind::Index(_, index) => open.push(index),
            syntax::ExprKind::Call(_, args) => open.extend(args),
            _ => open.extend(parts_of(value)),
        }
    }
}
