//! The parts of host code, and what may change its variables.

use super::launch_call::{for_launches, is_array_of_pointers};
use crate::source::Span;
use crate::syntax::{self, Init, Item, ItemKind, StmtKind, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Stands among changed names for every variable: something that is not understood may change it.
pub(super) const ANYTHING: &str = "";

/// The expressions of an initialiser.
pub(super) fn init_parts(init: Option<&Init>) -> &[syntax::Expr] {
    match init {
        Some(Init::Value(value)) => std::slice::from_ref(value),
        Some(Init::Call(values) | Init::List(values)) => values,
        None => &[],
    }
}

/// The direct parts of an expression.
pub(super) fn parts_of(value: &syntax::Expr) -> Vec<&syntax::Expr> {
    use syntax::ExprKind as Kind;
    match &value.kind {
        Kind::Unary(_, a) | Kind::Postfix(_, a) | Kind::Cast(_, _, a) | Kind::SizeofExpr(a) => vec![a],
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
fn parts_of_lambda(lambda: &syntax::Lambda) -> Vec<&syntax::Expr> {
    let mut parts: Vec<&syntax::Expr> = lambda.captures.iter().filter_map(|capture| capture.init.as_ref()).collect();
    for item in lambda.closure.members.iter().flatten() {
        if let ItemKind::Function(function) = &item.kind {
            parts.extend(function.body.iter().flatten().flat_map(exprs_of_stmt));
        }
    }
    parts
}

/// Visits an expression and all its parts, without recurring on them.
pub(super) fn visit<'u>(value: &'u syntax::Expr, mut work: impl FnMut(&'u syntax::Expr)) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        work(value);
        open.extend(parts_of(value));
    }
}

/// Whether an expression has a part for which `wanted` holds.
pub(super) fn expr_has(value: &syntax::Expr, wanted: &dyn Fn(&syntax::Expr) -> bool) -> bool {
    let mut found = false;
    visit(value, |part| found |= wanted(part));
    found
}

/// The expressions and statements directly in a statement.
fn parts_of_stmt(stmt: &syntax::Stmt) -> (Vec<&syntax::Expr>, Vec<&syntax::Stmt>) {
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
pub(super) fn stmts_in(stmt: &syntax::Stmt) -> Vec<&syntax::Stmt> {
    parts_of_stmt(stmt).1
}

/// The expressions that stand in a statement, those of nested statements included.
pub(super) fn exprs_of_stmt(stmt: &syntax::Stmt) -> Vec<&syntax::Expr> {
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
pub(super) fn stmt_has(stmt: &syntax::Stmt, wanted: &dyn Fn(&syntax::Expr) -> bool) -> bool {
    exprs_of_stmt(stmt).into_iter().any(|value| expr_has(value, wanted))
}

/// The functions that a statement may put into variables: `f = &k`, `f = k`, also as an initial value.
pub(super) fn pointers_to_functions(stmt: &syntax::Stmt) -> Vec<(&str, &syntax::Path)> {
    let mut found = Vec::new();
    let mut open = vec![stmt];
    while let Some(stmt) = open.pop() {
        let (exprs, stmts) = parts_of_stmt(stmt);
        for value in exprs {
            visit(value, |part| {
                if let syntax::ExprKind::Assign(None, target, value) = &part.kind {
                    found.extend(root_name(target).zip(named_function(value)));
                }
            });
        }
        if let StmtKind::Item(Item { kind: ItemKind::Variables(variables), .. }) = &stmt.kind {
            for variable in variables {
                let values = init_parts(variable.init.as_ref()).iter().filter_map(named_function);
                found.extend(values.map(|path| (variable.name.text.as_str(), path)));
            }
        }
        open.extend(stmts);
    }
    found
}

/// `k` and `&k`
fn named_function(value: &syntax::Expr) -> Option<&syntax::Path> {
    match &value.kind {
        syntax::ExprKind::Path(path) => Some(path),
        syntax::ExprKind::Unary(syntax::UnaryOp::AddressOf, inner) | syntax::ExprKind::Cast(_, _, inner) => {
            match &inner.kind {
                syntax::ExprKind::Path(path) => Some(path),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The names of variables that a function may change, and where it does so last.
#[derive(Debug, Default)]
pub(super) struct Changes<'u> {
    /// `None` if that cannot be told, as in a macro.
    last: FxHashMap<&'u str, Option<Span>>,
    /// Arrays of addresses and configurations of launches, which change nothing (see [`super::launch_call`]).
    for_launches: Rc<FxHashSet<&'u str>>,
}

impl<'u> Changes<'u> {
    /// Nothing yet, in a function with such a body.
    pub(super) fn of_body(body: &'u [syntax::Stmt]) -> Self {
        Changes { last: FxHashMap::default(), for_launches: Rc::new(for_launches(body)) }
    }

    /// Nothing yet, in the same function.
    pub(super) fn none_of(&self) -> Self {
        Changes { last: FxHashMap::default(), for_launches: self.for_launches.clone() }
    }

    /// Whether a name is that of an array of addresses or of a configuration for launches.
    pub(super) fn is_for_launches(&self, name: &str) -> bool {
        self.for_launches.contains(name)
    }

    fn add(&mut self, name: &'u str, span: Span) {
        let place = Some(span).filter(|span| span.expansion.is_none());
        let last = self.last.entry(name).or_insert(place);
        *last = match (*last, place) {
            (Some(known), Some(place)) if known.file == place.file => {
                Some(if place.start > known.start { place } else { known })
            }
            _ => None,
        };
    }

    /// Something may change `name` at any time from now on, through its address.
    fn expose(&mut self, name: &'u str) {
        self.last.insert(name, None);
    }

    fn add_all(&mut self, names: impl IntoIterator<Item = &'u str>, span: Span) {
        names.into_iter().for_each(|name| self.add(name, span));
    }

    /// Whether nothing is changed.
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Whether `name` may be among what is changed.
    pub(super) fn may_change(&self, name: &str) -> bool {
        self.contains(name) || self.contains(ANYTHING)
    }

    /// Whether the function changes `name` anywhere.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.last.contains_key(name)
    }

    /// Whether what changes `name` may do so at places that cannot be told.
    pub(super) fn is_exposed(&self, name: &str) -> bool {
        self.contains(ANYTHING) || matches!(self.last.get(name), Some(None))
    }

    /// Whether the function may change `name` at or after `place`.
    pub(super) fn after(&self, name: &str, place: Span) -> bool {
        let is_later = |last: &Option<Span>| {
            last.is_none_or(|last| place.expansion.is_some() || last.file != place.file || last.end > place.start)
        };
        self.last.get(name).is_some_and(is_later) || self.contains(ANYTHING)
    }
}

/// Collects the names of variables that a statement may change.
pub(super) fn changed_in_stmt<'u>(
    stmt: &'u syntax::Stmt,
    changed_by_call: &mut dyn FnMut(&'u syntax::Expr) -> Vec<&'u str>,
    changed: &mut Changes<'u>,
) {
    let mut open = vec![stmt];
    while let Some(stmt) = open.pop() {
        let (exprs, stmts) = parts_of_stmt(stmt);
        for value in exprs {
            if !is_for_launches(stmt, value, changed) {
                changed_in_expr(value, changed_by_call, changed);
            }
        }
        if let StmtKind::Unsupported(_) | StmtKind::Item(Item { kind: ItemKind::Unsupported(_), .. }) = &stmt.kind {
            changed.add(ANYTHING, stmt.span);
        }
        if let StmtKind::RangeFor { variable, range, .. } = &stmt.kind
            && matches!(variable.ty.kind, TypeKind::Reference(..))
        {
            root_name(range).into_iter().for_each(|name| changed.expose(name));
        }
        if let StmtKind::Item(Item { kind: ItemKind::Variables(variables), .. }) = &stmt.kind {
            for variable in variables {
                // A reference may change what it is bound to.
                if let (TypeKind::Reference(..), Some(Init::Value(value))) = (&variable.ty.kind, &variable.init) {
                    root_name(value).into_iter().for_each(|name| changed.expose(name));
                }
            }
        }
        open.extend(stmts);
    }
}

/// Whether an expression fills an array of addresses that is for launches, which only read what these are of.
fn is_for_launches(stmt: &syntax::Stmt, value: &syntax::Expr, changed: &Changes<'_>) -> bool {
    let StmtKind::Item(Item { kind: ItemKind::Variables(variables), .. }) = &stmt.kind else { return false };
    variables.iter().any(|variable| {
        changed.is_for_launches(&variable.name.text)
            && is_array_of_pointers(&variable.ty)
            && init_parts(variable.init.as_ref()).iter().any(|part| std::ptr::eq(part, value))
    })
}

/// Collects the names of variables that an expression may change.
pub(super) fn changed_in_expr<'u>(
    value: &'u syntax::Expr,
    changed_by_call: &mut dyn FnMut(&'u syntax::Expr) -> Vec<&'u str>,
    changed: &mut Changes<'u>,
) {
    visit(value, |part| {
        changed_by(part, changed);
        changed.add_all(changed_by_call(part), part.span);
    });
}

/// The variable that an expression changes itself.
fn changed_by<'u>(value: &'u syntax::Expr, changed: &mut Changes<'u>) {
    use syntax::{ExprKind as Kind, UnaryOp};
    match &value.kind {
        Kind::Assign(_, target, _)
        | Kind::Postfix(_, target)
        | Kind::Unary(UnaryOp::PreIncrement | UnaryOp::PreDecrement, target) => {
            changed.add_all(root_name(target), value.span);
        }
        Kind::Unary(UnaryOp::AddressOf, target) => {
            if let Some(name) = root_name(target).filter(|name| !changed.is_for_launches(name)) {
                changed.expose(name);
            }
        }
        // Whenever it is called.
        Kind::Lambda(_) | Kind::Statements(_) => changed.add(ANYTHING, value.span),
        // `new` changes nothing.
        Kind::Unsupported(reason) if !reason.contains("new") && !reason.contains("delete") => {
            changed.add(ANYTHING, value.span);
        }
        // `std::cin >> n`
        Kind::Binary(syntax::BinaryOp::Shr, stream, target) if !matches!(stream.kind, Kind::Int { .. }) => {
            changed.add_all(root_name(target), value.span);
        }
        _ => {}
    }
}

/// The variable at the root of `a.b[c]`.
pub(super) fn root_name(value: &syntax::Expr) -> Option<&str> {
    let mut value = value;
    loop {
        match &value.kind {
            syntax::ExprKind::Path(path) => return path.segments.last().map(|segment| segment.name.text.as_str()),
            syntax::ExprKind::Member { object, arrow: false, .. } => value = object,
            syntax::ExprKind::Index(array, _) => value = array,
            _ => return None,
        }
    }
}
