//! Host code, as far as launches need it: constants of locals and globals, and `k<<<…>>>(…)`.
//!
//! A local counts as a constant if its initial value is one and nothing in its function assigns it, steps it
//! or takes its address or a reference to it. What host code calls is not followed.

use super::call::functions_of;
use super::context::{Frame, Resolver};
use super::program::{Expr, ExprKind, Type, VariableId};
use super::scope::{Entity, Found, FunctionDecl, ScopeId};
use super::template::TemplateValue;
use crate::source::Span;
use crate::syntax::{self, Init, Item, ItemKind, Qualifier, StmtKind, TypeKind};
use rustc_hash::FxHashSet;

/// Stands among changed names for every variable: something that is not understood may change it.
const ANYTHING: &str = "";

/// A launch as it was found.
pub(super) struct Seen<'u> {
    pub(super) decl: FunctionDecl<'u>,
    pub(super) values: Vec<TemplateValue>,
    pub(super) grid: [Option<u64>; 3],
    pub(super) block: [Option<u64>; 3],
    pub(super) args: Vec<Option<i128>>,
    pub(super) shared_bytes: Option<u64>,
    pub(super) span: Span,
}

impl<'u> Resolver<'u> {
    /// The launches in host functions, in source order.
    pub(super) fn launches_of(&mut self, items: &'u [Item]) -> Vec<Seen<'u>> {
        let mut seen = Vec::new();
        self.in_host = true;
        self.host_items(self.scope, items, &mut seen);
        self.in_host = false;
        seen
    }

    fn host_items(&mut self, scope: ScopeId, items: &'u [Item], seen: &mut Vec<Seen<'u>>) {
        for item in items {
            match &item.kind {
                ItemKind::Function(function) => self.host_function(scope, function, seen),
                ItemKind::Namespace { name, items } => {
                    let inner = self.inner_scope(scope, &name.text);
                    self.host_items(inner, items, seen);
                }
                ItemKind::Record(record) => {
                    self.host_items(scope, record.members.as_deref().unwrap_or(&[]), seen);
                }
                _ => {}
            }
        }
    }

    fn host_function(&mut self, scope: ScopeId, function: &'u syntax::Function, seen: &mut Vec<Seen<'u>>) {
        let Some(body) = &function.body else {
            return;
        };
        // Only functions that launch something are looked at.
        if !body.iter().any(stmt_launches) {
            return;
        }
        let mut changed = FxHashSet::default();
        for stmt in body {
            changed_in_stmt(stmt, &mut |value| self.changed_by_call(scope, value), &mut changed);
        }
        let frame = std::mem::replace(&mut self.frame, Frame::none());
        let params = function.template.as_deref().unwrap_or(&[]);
        let home = self.bind(scope, params, &vec![TemplateValue::Unknown; params.len()]);
        self.within(home, |this| {
            this.in_block(|this| {
                for param in &function.params {
                    let written = this.declared_type(&param.ty, &param.qualifiers);
                    let variable = this.host_variable(&param.name, written);
                    this.declare(&param.name.text, Entity::Variable(variable));
                }
                this.host_stmts(body, &changed, seen);
            });
        });
        self.frame = frame;
    }

    /// The variables that a call of a function of the unit takes by a reference that may change them.
    fn changed_by_call(&mut self, scope: ScopeId, value: &'u syntax::Expr) -> Vec<&'u str> {
        let syntax::ExprKind::Call(callee, args) = &value.kind else {
            return Vec::new();
        };
        let path = match &callee.kind {
            syntax::ExprKind::Path(path) => path,
            // What a method may change is not looked up: everything that it is given.
            syntax::ExprKind::Member { .. } => return args.iter().filter_map(root_name).collect(),
            _ => return Vec::new(),
        };
        let Found::Entities(entities) = self.within(scope, |this| this.find(path)) else {
            return Vec::new();
        };
        let functions = functions_of(&entities);
        let may_change = |position: usize| {
            functions.iter().any(|decl| match decl.syntax.params.get(position).map(|param| &param.ty.kind) {
                Some(TypeKind::Reference(inner)) => !inner.qualifiers.iter().any(|q| matches!(q, Qualifier::Const)),
                _ => false,
            })
        };
        args.iter().enumerate().filter(|(at, _)| may_change(*at)).filter_map(|(_, value)| root_name(value)).collect()
    }

    fn host_variable(&mut self, name: &syntax::Name, written: super::types::Written) -> VariableId {
        let ty = if written.is_reference { self.pointer(written.ty, None) } else { written.ty };
        self.variables.push(super::program::Variable {
            name: name.text.clone(),
            ty,
            storage: super::program::Storage::Host,
            is_reference: written.is_reference,
            is_volatile: written.is_volatile,
            constant: None,
            is_extern: false,
            has_initializer: false,
            span: name.span,
        })
    }

    fn host_stmts(&mut self, stmts: &'u [syntax::Stmt], changed: &FxHashSet<&'u str>, seen: &mut Vec<Seen<'u>>) {
        for stmt in stmts {
            self.host_stmt(stmt, changed, seen);
        }
    }

    fn host_stmt(&mut self, stmt: &'u syntax::Stmt, changed: &FxHashSet<&'u str>, seen: &mut Vec<Seen<'u>>) {
        if self.depth > super::context::DEPTH_LIMIT {
            return;
        }
        self.depth += 1;
        match &stmt.kind {
            StmtKind::Block(stmts) => self.in_block(|this| this.host_stmts(stmts, changed, seen)),
            StmtKind::Item(item) => self.host_item(item, changed, seen),
            StmtKind::Expr(value) => self.host_expr(value, seen),
            StmtKind::If { init, cond, then, otherwise, .. } => self.in_block(|this| {
                if let Some(init) = init {
                    this.host_stmt(init, changed, seen);
                }
                this.host_expr(cond, seen);
                this.in_block(|this| this.host_stmt(then, changed, seen));
                if let Some(otherwise) = otherwise {
                    this.in_block(|this| this.host_stmt(otherwise, changed, seen));
                }
            }),
            StmtKind::For { init, cond, step, body } => self.in_block(|this| {
                if let Some(init) = init {
                    this.host_stmt(init, changed, seen);
                }
                for part in [cond, step].into_iter().flatten() {
                    this.host_expr(part, seen);
                }
                this.in_block(|this| this.host_stmt(body, changed, seen));
            }),
            StmtKind::While { cond, body } | StmtKind::Do { body, cond } | StmtKind::Switch { value: cond, body } => {
                self.host_expr(cond, seen);
                self.in_block(|this| this.host_stmt(body, changed, seen));
            }
            StmtKind::Return(Some(value)) => self.host_expr(value, seen),
            _ => {}
        }
        self.depth -= 1;
    }

    /// A local declaration; a variable that nothing changes may be a constant.
    fn host_item(&mut self, item: &'u Item, changed: &FxHashSet<&'u str>, seen: &mut Vec<Seen<'u>>) {
        let ItemKind::Variables(variables) = &item.kind else {
            return self.declare_item(item);
        };
        for syntax in variables {
            self.declare_inside(&syntax.ty);
            let mut written = self.declared_type(&syntax.ty, &syntax.qualifiers);
            for value in init_parts(syntax.init.as_ref()) {
                self.host_expr(value, seen);
            }
            let value = match &syntax.init {
                Some(Init::Value(value)) if matches!(syntax.ty.kind, TypeKind::Auto) => {
                    let value = self.unevaluated(value);
                    written.ty = value.ty;
                    Some(value)
                }
                Some(init) if self.is_integral(written.ty) || matches!(self.types[written.ty], Type::Vector { .. }) => {
                    Some(self.init_value(init, written.ty, syntax.span))
                }
                _ => None,
            };
            let variable = self.host_variable(&syntax.name, written);
            self.declare(&syntax.name.text, Entity::Variable(variable));
            let is_const = written.is_const || syntax.qualifiers.iter().any(|q| matches!(q, Qualifier::Constexpr));
            let is_changed = changed.contains(syntax.name.text.as_str()) || changed.contains(ANYTHING) && !is_const;
            let fixed = !is_changed && !written.is_reference;
            if let (Some(value), true) = (value, fixed) {
                if self.is_integral(written.ty) {
                    self.variables[variable].constant = self.constant(&value);
                } else if let Some(lanes) = self.constant_lanes(&value) {
                    self.vector_constants.insert(variable, lanes);
                }
            }
        }
    }

    /// Looks for launches in an expression.
    fn host_expr(&mut self, value: &'u syntax::Expr, seen: &mut Vec<Seen<'u>>) {
        if !expr_launches(value) {
            return;
        }
        if let syntax::ExprKind::Launch { kernel, config, args } = &value.kind {
            self.launch(kernel, config, args, value.span, seen);
            return;
        }
        for part in parts_of(value) {
            self.host_expr(part, seen);
        }
    }

    fn launch(
        &mut self,
        kernel: &'u syntax::Expr,
        config: &'u [syntax::Expr],
        args: &'u [syntax::Expr],
        span: Span,
        seen: &mut Vec<Seen<'u>>,
    ) {
        let syntax::ExprKind::Path(path) = &kernel.kind else {
            return;
        };
        let Found::Entities(entities) = self.find(path) else {
            return;
        };
        let is_kernel = |decl: &FunctionDecl<'u>| {
            decl.syntax.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Kernel))
        };
        let kernels: Vec<FunctionDecl<'u>> = functions_of(&entities).into_iter().filter(is_kernel).collect();
        let template_args = path.segments.last().and_then(|segment| segment.args.as_deref());
        let values: Vec<Expr> = args.iter().map(|argument| self.unevaluated(argument)).collect();
        let (decl, template_values) = match self.choose(&kernels, template_args, &values) {
            Some(chosen) => (chosen.decl, chosen.values),
            // What does not fit by type is still a launch of the only kernel of that name and arity.
            None => {
                let fits = |decl: &&FunctionDecl<'u>| decl.syntax.params.len() >= values.len();
                let Some(decl) = kernels.iter().find(fits).copied() else {
                    return;
                };
                let own = self.own_template(decl).len();
                (decl, vec![TemplateValue::Unknown; own])
            }
        };
        let decl = self.definition(&kernels, decl);
        let grid = self.sizes(config.first());
        let block = self.sizes(config.get(1));
        let shared_bytes = match config.get(2) {
            Some(bytes) => self.constant_of(bytes).and_then(|bytes| u64::try_from(bytes).ok()),
            None => Some(0),
        };
        let args = values.iter().map(|value| self.constant(value)).collect();
        seen.push(Seen { decl, values: template_values, grid, block, args, shared_bytes, span });
    }

    /// The definition of a kernel that was found by its declaration.
    fn definition(&self, kernels: &[FunctionDecl<'u>], decl: FunctionDecl<'u>) -> FunctionDecl<'u> {
        if decl.syntax.body.is_some() {
            return decl;
        }
        let same = |other: &&FunctionDecl<'u>| {
            other.syntax.body.is_some()
                && other.syntax.params.len() == decl.syntax.params.len()
                && other.syntax.template.as_ref().map(Vec::len) == decl.syntax.template.as_ref().map(Vec::len)
        };
        kernels.iter().find(same).copied().unwrap_or(decl)
    }

    /// A size along three axes: a number, or a `dim3`.
    fn sizes(&mut self, size: Option<&'u syntax::Expr>) -> [Option<u64>; 3] {
        let Some(size) = size else {
            return [None; 3];
        };
        let value = self.unevaluated(size);
        let lanes = if self.is_integral(value.ty) {
            vec![self.constant(&value), Some(1), Some(1)]
        } else {
            self.constant_lanes(&value).unwrap_or_default()
        };
        let lane = |axis: usize| {
            let size = (*lanes.get(axis)?)?;
            u64::try_from(size).ok().filter(|&size| size > 0)
        };
        [lane(0), lane(1), lane(2)]
    }

    /// The lanes of a vector, as far as they are constants.
    fn constant_lanes(&mut self, value: &Expr) -> Option<Vec<Option<i128>>> {
        match &value.kind {
            ExprKind::Construct(parts) => {
                let Type::Vector { lanes, .. } = self.types[value.ty] else {
                    return None;
                };
                (parts.len() == usize::from(lanes)).then(|| parts.iter().map(|part| self.constant(part)).collect())
            }
            ExprKind::Load(object) => match object.kind {
                ExprKind::Variable(variable) => self.vector_constants.get(&variable).cloned(),
                _ => None,
            },
            ExprKind::Convert(inner) => self.constant_lanes(inner),
            _ => None,
        }
    }
}

/// The expressions of an initialiser.
fn init_parts(init: Option<&Init>) -> &[syntax::Expr] {
    match init {
        Some(Init::Value(value)) => std::slice::from_ref(value),
        Some(Init::Call(values) | Init::List(values)) => values,
        None => &[],
    }
}

/// The direct parts of an expression.
fn parts_of(value: &syntax::Expr) -> Vec<&syntax::Expr> {
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
        _ => Vec::new(),
    }
}

/// Visits an expression and all its parts, without recurring on them.
fn visit<'u>(value: &'u syntax::Expr, mut work: impl FnMut(&'u syntax::Expr)) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        work(value);
        open.extend(parts_of(value));
    }
}

/// Whether a launch stands in an expression.
fn expr_launches(value: &syntax::Expr) -> bool {
    let mut found = false;
    visit(value, |part| found |= matches!(part.kind, syntax::ExprKind::Launch { .. }));
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
        StmtKind::If { init, cond, then, otherwise, .. } => {
            let stmts = init.as_deref().into_iter().chain(Some(&**then)).chain(otherwise.as_deref()).collect();
            (vec![cond], stmts)
        }
        StmtKind::For { init, cond, step, body } => {
            let exprs = cond.iter().chain(step).collect();
            (exprs, init.as_deref().into_iter().chain(Some(&**body)).collect())
        }
        StmtKind::While { cond, body } | StmtKind::Do { body, cond } | StmtKind::Switch { value: cond, body } => {
            (vec![cond], vec![body])
        }
        _ => (Vec::new(), Vec::new()),
    }
}

/// Whether a launch stands in a statement.
fn stmt_launches(stmt: &syntax::Stmt) -> bool {
    let mut open = vec![stmt];
    while let Some(stmt) = open.pop() {
        let (exprs, stmts) = parts_of_stmt(stmt);
        if exprs.into_iter().any(expr_launches) {
            return true;
        }
        open.extend(stmts);
    }
    false
}

/// Collects the names of variables that a statement may change.
fn changed_in_stmt<'u>(
    stmt: &'u syntax::Stmt,
    changed_by_call: &mut dyn FnMut(&'u syntax::Expr) -> Vec<&'u str>,
    changed: &mut FxHashSet<&'u str>,
) {
    let mut open = vec![stmt];
    while let Some(stmt) = open.pop() {
        let (exprs, stmts) = parts_of_stmt(stmt);
        for value in exprs {
            visit(value, |part| {
                changed_by(part, changed);
                changed.extend(changed_by_call(part));
            });
        }
        if let StmtKind::Unsupported(_) | StmtKind::Item(Item { kind: ItemKind::Unsupported(_), .. }) = &stmt.kind {
            changed.insert(ANYTHING);
        }
        if let StmtKind::Item(Item { kind: ItemKind::Variables(variables), .. }) = &stmt.kind {
            for variable in variables {
                // A reference may change what it is bound to.
                if let (TypeKind::Reference(_), Some(Init::Value(value))) = (&variable.ty.kind, &variable.init) {
                    changed.extend(root_name(value));
                }
            }
        }
        open.extend(stmts);
    }
}

/// The variable that an expression changes itself.
fn changed_by<'u>(value: &'u syntax::Expr, changed: &mut FxHashSet<&'u str>) {
    use syntax::{ExprKind as Kind, UnaryOp};
    match &value.kind {
        Kind::Assign(_, target, _)
        | Kind::Postfix(_, target)
        | Kind::Unary(UnaryOp::PreIncrement | UnaryOp::PreDecrement | UnaryOp::AddressOf, target) => {
            changed.extend(root_name(target));
        }
        // A lambda may change what it captures; `new` changes nothing.
        Kind::Unsupported(reason) if !reason.contains("new") && !reason.contains("delete") => {
            changed.insert(ANYTHING);
        }
        // `std::cin >> n`
        Kind::Binary(syntax::BinaryOp::Shr, stream, target) if !matches!(stream.kind, Kind::Int { .. }) => {
            changed.extend(root_name(target));
        }
        _ => {}
    }
}

/// The variable at the root of `a.b[c]`.
fn root_name(value: &syntax::Expr) -> Option<&str> {
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
