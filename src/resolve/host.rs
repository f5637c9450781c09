//! Host code, as far as launches need it: constants of locals and globals, and `k<<<…>>>(…)`.
//!
//! A local counts as a constant where what it was given last is one (see [`super::host_flow`]), and nothing in its
//! function takes its address or a reference to it; a parameter, if a call gives it one (see [`super::host_calls`]).
//! A branch that a constant condition never takes launches nothing. What host code calls is not followed
//! otherwise.

use super::call::functions_of;
use super::context::{Frame, Resolver};
use super::host_calls::{HostInstance, name_of, uses};
use super::host_cases::Made;
use super::host_flow::{Held, leaves};
use super::host_loops::Counted;
use super::host_parts::{
    Changes, changed_in_stmt, expr_has, init_parts, parts_of, pointers_to_functions, root_name, stmt_has,
};
use super::launch_call::{Prepared, is_launching_call};
use super::launch_site::Seen;
use super::program::{Type, TypeId, VariableId};
use super::scope::{Entity, Found, FunctionDecl, ScopeId};
use super::stmt::is_auto;
use super::template::TemplateValue;
use crate::syntax::{self, Init, Item, ItemKind, Qualifier, StmtKind, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is carried through host code.
#[derive(Default)]
pub(super) struct Walk<'u> {
    /// Launches so far.
    pub(super) seen: Vec<Seen<'u>>,
    /// Names that the function may change.
    pub(super) changed: Changes<'u>,
    /// Variables that the function changes at places that are known.
    pub(super) tracked: Vec<VariableId>,
    /// Arguments and configurations that are prepared for launches.
    pub(super) prepared: Prepared<'u>,
    /// Variables of the loops around the current place, and what these say of them.
    pub(super) counted: FxHashMap<VariableId, Counted>,
    /// How often the current place is looked at, for other values of such variables.
    pub(super) repeated: usize,
    /// Parameters and locals of the function that nothing outside of it can change.
    pub(super) own: FxHashSet<VariableId>,
    /// Locals that can be looked at again where more is known.
    pub(super) made: Vec<Made>,
    /// The kernels that pointers of the function may point to.
    pub(super) pointers: Vec<(&'u str, &'u syntax::Path)>,
    /// Host functions that launch something, or call one that does, by name.
    pub(super) launching: FxHashSet<&'u str>,
    /// Names of launching functions of which not all calls are known.
    pub(super) open: FxHashSet<&'u str>,
    /// Host functions with the arguments that calls and instantiations give them, without repetition.
    pub(super) instances: Vec<HostInstance<'u>>,
    /// The functions inside of class templates, with the parameters of these.
    pub(super) in_templates: FxHashMap<*const syntax::Function, &'u [syntax::TemplateParam]>,
    /// How many of them have been looked at.
    done: usize,
    /// How many records have been looked at.
    pub(super) records: usize,
}

impl<'u> Resolver<'u> {
    /// The launches in host functions, in source order. `requests` are the arguments of explicit instantiations,
    /// by address of the template's syntax.
    pub(super) fn launches_of(&mut self, items: &'u [Item], requests: &[(usize, Vec<TemplateValue>)]) -> Vec<Seen<'u>> {
        let (mut functions, mut initializers) = (Vec::new(), Vec::new());
        self.host_functions(self.scope, items, &mut functions, &mut initializers);
        let launching = launching(&functions);
        let (open, called) = uses(&functions, &initializers, &launching);
        let in_templates = methods_of_templates(items);
        let mut walk = Walk { launching, open, in_templates, ..Walk::default() };
        functions.retain(|decl| walk.launching.contains(name_of(decl.syntax)));
        self.in_host = true;
        for decl in functions.iter().filter(|decl| has_parameters(decl.syntax)) {
            let key = std::ptr::from_ref(decl.syntax) as usize;
            for (_, values) in requests.iter().filter(|(wanted, _)| *wanted == key) {
                walk.add_instance(HostInstance { decl: *decl, values: values.clone(), args: Vec::new() });
            }
        }
        // What nothing in the unit calls comes first: its calls show the arguments of the others.
        for &decl in &functions {
            if !walk.is_template(decl.syntax) && !called.contains(name_of(decl.syntax)) {
                walk.add_instance(HostInstance::open(decl));
            }
        }
        self.host_instances(&mut walk);
        // Each may show further calls, and that of a function not all calls are known. Templates come last: what calls
        // itself, and is called by nothing else, shows their arguments.
        functions.sort_by_key(|decl| walk.is_template(decl.syntax));
        while let Some(at) = functions.iter().position(|decl| walk.needs_open(decl.syntax)) {
            let decl = functions.remove(at);
            walk.add_open(decl);
            self.host_instances(&mut walk);
        }
        self.in_host = false;
        // Instances come after the functions that call them; users read launches from top to bottom.
        walk.seen.sort_by_key(|launch| (launch.span.file, launch.span.start));
        walk.seen
    }

    /// Looks at the functions that are waiting, and at those that they call.
    fn host_instances(&mut self, walk: &mut Walk<'u>) {
        while let Some(instance) = walk.instances.get(walk.done).cloned() {
            walk.done += 1;
            self.host_function(&instance, walk);
            self.methods_of_instances(walk);
        }
    }

    /// The functions with bodies, those inside records included.
    fn host_functions(
        &mut self,
        scope: ScopeId,
        items: &'u [Item],
        found: &mut Vec<FunctionDecl<'u>>,
        initializers: &mut Vec<&'u syntax::Expr>,
    ) {
        for item in items {
            match &item.kind {
                ItemKind::Variables(variables) => {
                    initializers.extend(variables.iter().flat_map(|variable| init_parts(variable.init.as_ref())));
                }
                ItemKind::Function(function) if function.body.is_some() => {
                    found.push(FunctionDecl { syntax: function, scope, record: None });
                }
                ItemKind::Namespace { name, items } => {
                    let inner = self.inner_scope(scope, &name.text);
                    self.host_functions(inner, items, found, initializers);
                }
                ItemKind::Record(record) => {
                    self.host_functions(scope, record.members.as_deref().unwrap_or(&[]), found, initializers);
                }
                _ => {}
            }
        }
    }

    fn host_function(&mut self, instance: &HostInstance<'u>, walk: &mut Walk<'u>) {
        let (function, scope) = (instance.decl.syntax, instance.decl.scope);
        let Some(body) = &function.body else {
            return;
        };
        walk.changed = Changes::of_body(body);
        walk.tracked.clear();
        walk.own.clear();
        walk.made.clear();
        walk.prepared = Prepared::default();
        walk.repeated = 1;
        for stmt in body {
            changed_in_stmt(stmt, &mut |value| self.changed_by_call(scope, value), &mut walk.changed);
        }
        walk.pointers = body.iter().flat_map(pointers_to_functions).collect();
        let frame = std::mem::replace(&mut self.frame, Frame::none());
        let params = function.template.as_deref().unwrap_or(&[]);
        let mut home = scope;
        if let Some(class) = walk.in_templates.get(&std::ptr::from_ref(function))
            && instance.decl.record.is_none()
        {
            for param in *class {
                let ty = self.unknown(param.name.text.clone());
                self.open_types.insert(ty);
            }
            home = self.bind(home, class, &vec![TemplateValue::Unknown; class.len()]);
        }
        let home = self.bind(home, params, &instance.values);
        for (param, _) in params.iter().zip(&instance.values).filter(|(_, value)| **value == TemplateValue::Unknown) {
            let open = self.unknown(param.name.text.clone());
            self.open_types.insert(open);
        }
        self.within(home, |this| {
            this.in_block(|this| {
                for (position, param) in function.params.iter().enumerate() {
                    let mut written = this.declared_type(&param.ty, &param.qualifiers);
                    // Nobody can change what a constant reference is bound to while it is a constant.
                    written.is_reference &= !written.is_const;
                    let variable = this.host_variable(&param.name, written);
                    this.declare(&param.name.text, Entity::Variable(variable));
                    if !walk.changed.is_exposed(&param.name.text) && !written.is_reference {
                        let value = instance.args.get(position).cloned().unwrap_or_default();
                        this.bind_host_argument(variable, value);
                        walk.own.insert(variable);
                        if walk.changed.contains(&param.name.text) {
                            walk.tracked.push(variable);
                        }
                    }
                }
                this.host_stmts(body, walk);
            });
        });
        self.frame = frame;
    }

    /// The variables that a call of a function of the unit takes by a reference that may change them.
    pub(super) fn changed_by_call(&mut self, scope: ScopeId, value: &'u syntax::Expr) -> Vec<&'u str> {
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
                Some(TypeKind::Reference(inner, _)) => !inner.qualifiers.iter().any(|q| matches!(q, Qualifier::Const)),
                _ => false,
            })
        };
        args.iter().enumerate().filter(|(at, _)| may_change(*at)).filter_map(|(_, value)| root_name(value)).collect()
    }

    fn host_variable(&mut self, name: &syntax::Name, written: super::types::Written) -> VariableId {
        let ty = if written.is_reference { self.pointer(written.ty, None) } else { written.ty };
        let variable = self.host_local(name, ty);
        self.variables[variable].is_reference = written.is_reference;
        self.variables[variable].is_volatile = written.is_volatile;
        variable
    }

    /// A variable of host code that is no reference.
    pub(super) fn host_local(&mut self, name: &syntax::Name, ty: TypeId) -> VariableId {
        self.variables.push(super::program::Variable {
            name: name.text.clone(),
            ty,
            storage: super::program::Storage::Host,
            is_reference: false,
            is_volatile: false,
            constant: None,
            range: None,
            is_extern: false,
            has_initializer: false,
            span: name.span,
        })
    }

    fn host_stmts(&mut self, stmts: &'u [syntax::Stmt], walk: &mut Walk<'u>) {
        for stmt in stmts {
            self.host_stmt(stmt, walk);
        }
    }

    pub(super) fn host_stmt(&mut self, stmt: &'u syntax::Stmt, walk: &mut Walk<'u>) {
        if self.depth > super::context::DEPTH_LIMIT {
            return;
        }
        self.depth += 1;
        match &stmt.kind {
            StmtKind::Block(stmts) => self.in_block(|this| this.host_stmts(stmts, walk)),
            StmtKind::Item(item) => self.host_item(item, walk),
            StmtKind::Expr(value) => self.host_value_of(value, walk),
            StmtKind::If { init, cond, then, otherwise, .. } => self.in_block(|this| {
                if let Some(init) = init {
                    this.host_stmt(init, walk);
                }
                this.host_value_of(cond, walk);
                this.host_branches(cond, then, otherwise.as_deref(), walk);
            }),
            StmtKind::For { init, cond, step, body } => self.in_block(|this| {
                if let Some(init) = init {
                    this.host_stmt(init, walk);
                }
                let changes = this.changes_in(walk, Some(&**body), cond.iter().chain(step));
                this.forget(&changes, walk);
                for part in [cond, step].into_iter().flatten() {
                    this.host_expr(part, walk);
                }
                if let Some((variable, values)) = this.counted_values(stmt, walk) {
                    walk.repeated *= values.len();
                    for &value in &values {
                        this.forget(&changes, walk);
                        this.set_held(variable, Held { constant: Some(value), ..Held::default() });
                        this.in_block(|this| this.host_stmt(body, walk));
                    }
                    walk.repeated /= values.len();
                } else {
                    let counted = this.counted(stmt);
                    let outer = counted.map(|(variable, found)| (variable, walk.counted.insert(variable, found)));
                    this.in_block(|this| this.host_stmt(body, walk));
                    if let Some((variable, outer)) = outer {
                        walk.counted.remove(&variable);
                        walk.counted.extend(outer.map(|outer| (variable, outer)));
                    }
                }
                this.forget(&changes, walk);
            }),
            StmtKind::RangeFor { variable, range, body } => self.in_block(|this| {
                let changes = this.changes_in(walk, Some(&**body), Some(range));
                this.forget(&changes, walk);
                this.host_expr(range, walk);
                let mut written = this.declared_type(&variable.ty, &variable.qualifiers);
                if is_auto(&variable.ty) {
                    let range = this.expr(range);
                    written.ty = match this.types[range.ty] {
                        Type::Array { of, .. } => of,
                        _ => this.common.unknown,
                    };
                }
                let element = this.host_variable(&variable.name, written);
                this.declare(&variable.name.text, Entity::Variable(element));
                this.in_block(|this| this.host_stmt(body, walk));
                this.forget(&changes, walk);
            }),
            StmtKind::Switch { value, body } => {
                self.host_value_of(value, walk);
                self.host_cases(value, body, walk);
            }
            StmtKind::While { cond, body } | StmtKind::Do { body, cond } => {
                let changes = self.changes_in(walk, Some(&**body), Some(cond));
                self.forget(&changes, walk);
                self.host_expr(cond, walk);
                self.in_block(|this| this.host_stmt(body, walk));
                self.forget(&changes, walk);
            }
            StmtKind::Case(_) => self.forget_all(walk),
            StmtKind::Return(Some(value)) => self.host_expr(value, walk),
            _ => {}
        }
        self.depth -= 1;
    }

    /// Looks for launches in an expression that is evaluated here, and follows what it changes.
    fn host_value_of(&mut self, value: &'u syntax::Expr, walk: &mut Walk<'u>) {
        self.host_expr(value, walk);
        self.host_effects(value, walk);
    }

    /// The branches that may be taken; what both leave behind stays known.
    fn host_branches(
        &mut self,
        cond: &'u syntax::Expr,
        then: &'u syntax::Stmt,
        otherwise: Option<&'u syntax::Stmt>,
        walk: &mut Walk<'u>,
    ) {
        let changes = self.changes_in(walk, std::iter::once(then).chain(otherwise), None);
        let before = self.snapshot(&changes, walk);
        let value = self.host_condition(cond);
        let is_taken = value != Some(0);
        if is_taken {
            let taken = self.take_condition(cond, walk);
            self.in_block(|this| this.host_stmt(then, walk));
            self.forget_taken(taken);
        }
        if value.is_some_and(|value| value != 0) {
            return;
        }
        let after = self.snapshot(&changes, walk);
        self.restore(before);
        if let Some(otherwise) = otherwise {
            self.in_block(|this| this.host_stmt(otherwise, walk));
        }
        if !is_taken || leaves(then) {
            return;
        }
        if otherwise.is_some_and(leaves) {
            self.restore(after);
        } else {
            self.agree(after);
        }
    }

    /// The value of a condition, if it is a constant: the other branch is never taken.
    fn host_condition(&mut self, cond: &'u syntax::Expr) -> Option<i128> {
        let cond = self.unevaluated(cond);
        if self.is_integral(cond.ty) { self.constant(&cond) } else { None }
    }

    /// A local declaration; a variable that nothing changes may be a constant.
    fn host_item(&mut self, item: &'u Item, walk: &mut Walk<'u>) {
        let ItemKind::Variables(variables) = &item.kind else {
            return self.declare_item(item);
        };
        for syntax in variables {
            self.declare_inside(&syntax.ty);
            let mut written = self.declared_type(&syntax.ty, &syntax.qualifiers);
            for value in init_parts(syntax.init.as_ref()) {
                self.host_expr(value, walk);
                // Whose addresses are for launches stays what it is.
                if !walk.changed.is_for_launches(&syntax.name.text) {
                    self.host_effects(value, walk);
                }
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
            self.prepare(syntax, variable, walk);
            let is_const = written.is_const || syntax.qualifiers.iter().any(|q| matches!(q, Qualifier::Constexpr));
            let name = &syntax.name.text;
            if walk.changed.is_exposed(name) && !is_const || written.is_reference {
                continue;
            }
            if !syntax.qualifiers.iter().any(|q| matches!(q, Qualifier::Static)) {
                walk.own.insert(variable);
            }
            if walk.changed.contains(name) {
                // What a static variable holds is left from the call before.
                if syntax.qualifiers.iter().any(|q| matches!(q, Qualifier::Static)) {
                    continue;
                }
                walk.tracked.push(variable);
            }
            if let Some(value) = &value {
                self.note_made(variable, (init_parts(syntax.init.as_ref()), value, written.ty), walk);
            }
            let held = match value {
                Some(value) => self.held_from(&value, written.ty, syntax.span),
                None => self.held_at_first(&syntax.ty, written.ty),
            };
            self.set_held(variable, held);
        }
    }

    /// Looks for launches in the body of a lambda, wherever it is called: a function that has one keeps nothing of its
    /// variables but constants (see [`Changes`]), and what loops say of theirs does not hold there.
    fn host_lambda(&mut self, lambda: &'u syntax::Lambda, walk: &mut Walk<'u>) {
        let counted = std::mem::take(&mut walk.counted);
        for item in lambda.closure.members.iter().flatten() {
            let ItemKind::Function(function) = &item.kind else { continue };
            self.in_block(|this| {
                for param in &function.params {
                    let written = this.declared_type(&param.ty, &param.qualifiers);
                    let variable = this.host_variable(&param.name, written);
                    this.declare(&param.name.text, Entity::Variable(variable));
                }
                for capture in lambda.captures.iter().filter(|capture| capture.init.is_some()) {
                    this.host_unknown(&capture.name);
                }
                this.in_block(|this| this.host_stmts(function.body.as_deref().unwrap_or(&[]), walk));
            });
        }
        walk.counted = counted;
    }

    /// Declares a variable of which nothing is known.
    fn host_unknown(&mut self, name: &'u syntax::Name) {
        let variable = self.host_local(name, self.common.unknown);
        self.declare(&name.text, Entity::Variable(variable));
    }

    /// Looks for launches in an expression.
    fn host_expr(&mut self, value: &'u syntax::Expr, walk: &mut Walk<'u>) {
        let wanted = |part: &syntax::Expr| is_interesting(part, &walk.launching);
        if !expr_has(value, &wanted) {
            return;
        }
        if let syntax::ExprKind::Launch { kernel, config, args } = &value.kind {
            self.launch(kernel, config, args, value.span, walk);
            return;
        }
        if is_launching_call(value) {
            self.launch_call(value, walk);
            return;
        }
        if let syntax::ExprKind::Call(callee, args) = &value.kind {
            self.host_call(callee, args, walk);
        }
        match &value.kind {
            syntax::ExprKind::Lambda(lambda) | syntax::ExprKind::Statements(lambda) => self.host_lambda(lambda, walk),
            syntax::ExprKind::Path(path) => self.host_named(path, walk),
            // The name of what is called is no use of it as a value.
            syntax::ExprKind::Call(callee, args) if matches!(callee.kind, syntax::ExprKind::Path(_)) => {
                args.iter().for_each(|part| self.host_expr(part, walk));
            }
            _ => parts_of(value).into_iter().for_each(|part| self.host_expr(part, walk)),
        }
    }
}

/// The names of the functions that launch something, or call by name one that does.
fn launching<'u>(functions: &[FunctionDecl<'u>]) -> FxHashSet<&'u str> {
    let mut names = FxHashSet::default();
    loop {
        let before = names.len();
        for decl in functions {
            let name = name_of(decl.syntax);
            let body = decl.syntax.body.as_deref().unwrap_or(&[]);
            if !names.contains(name) && body.iter().any(|stmt| stmt_has(stmt, &|part| is_interesting(part, &names))) {
                names.insert(name);
            }
        }
        if names.len() == before {
            return names;
        }
    }
}

/// Whether an expression is a launch, or a call of a function of these names.
fn is_interesting(value: &syntax::Expr, names: &FxHashSet<&str>) -> bool {
    match &value.kind {
        syntax::ExprKind::Launch { .. } => true,
        _ if is_launching_call(value) => true,
        syntax::ExprKind::Call(callee, _) => match &callee.kind {
            syntax::ExprKind::Path(path) => {
                path.segments.last().is_some_and(|last| names.contains(last.name.text.as_str()))
            }
            syntax::ExprKind::Member { member, .. } => names.contains(member.name.text.as_str()),
            _ => false,
        },
        syntax::ExprKind::Path(path) => {
            path.segments.last().is_some_and(|last| last.args.is_some() && names.contains(last.name.text.as_str()))
        }
        _ => false,
    }
}

/// The functions that are defined inside of class templates, with the parameters of these.
fn methods_of_templates<'u>(items: &'u [Item]) -> FxHashMap<*const syntax::Function, &'u [syntax::TemplateParam]> {
    let mut found = FxHashMap::default();
    let mut open: Vec<(&'u Item, Option<&'u [syntax::TemplateParam]>)> =
        items.iter().map(|item| (item, None)).collect();
    while let Some((item, class)) = open.pop() {
        match &item.kind {
            ItemKind::Namespace { items, .. } => open.extend(items.iter().map(|item| (item, class))),
            ItemKind::Record(record) => {
                let own = record.template.as_deref().or(record.specialization.as_ref().map(|_| [].as_slice()));
                open.extend(record.members.iter().flatten().map(|item| (item, own.or(class))));
            }
            ItemKind::Function(function) => {
                found.extend(class.map(|params| (std::ptr::from_ref(&**function), params)));
            }
            _ => {}
        }
    }
    found
}

fn has_parameters(function: &syntax::Function) -> bool {
    function.template.as_ref().is_some_and(|params| !params.is_empty())
}
