//! Host code, as far as launches need it: constants of locals and globals, and `k<<<…>>>(…)`.
//!
//! A local counts as a constant where what it was given last is one (see [`super::host_flow`]), and nothing that may change it
//! has got hold of it by then (see [`super::host_uses`]); a parameter, if a call gives it one and there are no other calls
//! (see [`super::host_calls`]). A branch that a constant condition never takes launches nothing. What host code calls is
//! not followed otherwise.

use super::context::{Frame, Resolver};
use super::host_calls::{HostInstance, HostValue, name_of, uses};
use super::host_cases::{Made, has_label};
use super::host_escapes::Escaped;
use super::host_fields::{Fields, fields_of_methods};
use super::host_flow::{Held, leaves};
use super::host_loops::Counted;
use super::host_mentions::Understood;
use super::host_parts::{Changes, expr_has, init_parts, parts_of, pointers_to_functions, stmt_has};
use super::host_uses::words;
use super::launch_call::{Prepared, is_launching_call};
use super::launch_site::{Seen, Target};
use super::program::{Type, TypeId, VariableId};
use super::scope::{Entity, FunctionDecl, ScopeId};
use super::stmt::is_auto;
use super::template::TemplateValue;
use crate::source::Span;
use crate::syntax::{self, Init, Item, ItemKind, Mention, Qualifier, StmtKind, TypeKind};
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
    /// Variables that others have got hold of by now, and may change at any time.
    pub(super) leaked: FxHashSet<VariableId>,
    /// Arguments and configurations that are prepared for launches.
    pub(super) prepared: Prepared<'u>,
    /// Variables of the loops around the current place, and what these say of them.
    pub(super) counted: FxHashMap<VariableId, Counted>,
    /// How often the current place is looked at, for other values of such variables.
    pub(super) repeated: usize,
    /// Parameters and locals of the function that nothing outside of it can change.
    pub(super) own: FxHashSet<VariableId>,
    /// Parameters that nothing changes, of a function that nothing in the unit calls: who calls it decides.
    pub(super) from_elsewhere: FxHashSet<VariableId>,
    /// Locals that can be looked at again where more is known.
    pub(super) made: Vec<Made>,
    /// The kernels that pointers of the function may point to.
    pub(super) pointers: Vec<(&'u str, Target<'u>)>,
    /// Kernels of which not all launches are seen.
    pub(super) escaped: Escaped,
    /// What has been understood of the places that name kernels.
    pub(super) understood: Understood,
    /// Host functions that launch something, or call one that does, by name.
    pub(super) launching: FxHashSet<&'u str>,
    /// Names of launching functions of which not all calls are known.
    pub(super) open: FxHashSet<&'u str>,
    /// Names of functions that something in the unit calls.
    called: FxHashSet<&'u str>,
    /// Host functions with the arguments that calls and instantiations give them, without repetition.
    pub(super) instances: Vec<HostInstance<'u>>,
    /// The data members that the functions of classes see under their names.
    fields: Fields<'u>,
    /// Whether the `if` that was looked at last never lets control come to what stands behind it.
    ends: bool,
    /// Whether the function is one of a class.
    pub(super) is_method: bool,
    /// The functions inside of class templates, with the parameters of these.
    pub(super) in_templates: FxHashMap<*const syntax::Function, &'u [syntax::TemplateParam]>,
    /// How many of them have been looked at.
    done: usize,
    /// How many records have been looked at.
    pub(super) records: usize,
}

/// Who may call the functions of a unit.
#[derive(Default)]
struct Linkage<'u> {
    /// The functions in namespaces without a name.
    unnamed: FxHashSet<*const syntax::Function>,
    /// The names of functions that the file itself declares.
    declared_here: FxHashSet<&'u str>,
    /// Those that a header declares.
    declared_in_headers: FxHashSet<&'u str>,
}

impl<'u> Walk<'u> {
    /// The data members that a function sees under their names.
    pub(super) fn fields_of(&self, function: &syntax::Function) -> &[&'u syntax::Variable] {
        self.fields.get(&std::ptr::from_ref(function)).map_or(&[], Vec::as_slice)
    }

    /// Whether a function has been looked at.
    pub(super) fn looked_at(&self, function: &syntax::Function) -> bool {
        self.instances[..self.done].iter().any(|instance| std::ptr::eq(instance.decl.syntax, function))
    }
}

impl<'u> Resolver<'u> {
    /// The launches in host functions, in source order, and the kernels that are launched elsewhere, too. `requests` are the
    /// arguments of explicit instantiations, by address of the template's syntax.
    pub(super) fn launches_of(
        &mut self,
        items: &'u [Item],
        mentions: &'u [Mention],
        requests: &[(usize, Vec<TemplateValue>)],
    ) -> (Vec<Seen<'u>>, Escaped) {
        let (mut functions, mut initializers) = (Vec::new(), Vec::new());
        self.host_functions(self.scope, items, &mut functions, &mut initializers);
        let launching = launching(&functions);
        let (mut open, called) = uses(&functions, &initializers, &launching);
        self.called_elsewhere(items, &functions, &called, &mut open);
        open.extend(self.unread_words(&functions).into_iter().map(|(word, _)| word));
        open.retain(|name| launching.contains(name));
        let in_templates = methods_of_templates(items);
        self.collect_methods(items);
        let uses_of_kernels = self.uses_of_kernels(&functions, &initializers);
        let fields = fields_of_methods(items);
        let mut walk = Walk { launching, open, called, in_templates, fields, ..Walk::default() };
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
            if !walk.is_template(decl.syntax) && !walk.called.contains(name_of(decl.syntax)) {
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
        self.escape_mentioned(items, mentions, uses_of_kernels, &mut walk);
        // Instances come after the functions that call them; users read launches from top to bottom.
        walk.seen.sort_by_key(|launch| (launch.span.file, launch.span.start));
        (walk.seen, walk.escaped)
    }

    /// Adds to `open` the names of functions that other units may call, with arguments of their own.
    ///
    /// These are the functions with external linkage, unless the unit is the program: it has `main`, no header declares the
    /// function for others, and no function is called that the unit declares itself for another to define.
    fn called_elsewhere(
        &mut self,
        items: &'u [Item],
        functions: &[FunctionDecl<'u>],
        called: &FxHashSet<&'u str>,
        open: &mut FxHashSet<&'u str>,
    ) {
        let linkage = self.linkage(items);
        let defined: FxHashSet<&str> = functions.iter().map(|decl| name_of(decl.syntax)).collect();
        let is_foreign = |name: &&str| {
            called.contains(*name) && !defined.contains(*name) && crate::builtins::host::takes(name).is_none()
        };
        let is_program = defined.contains("main") && !linkage.declared_here.iter().any(is_foreign);
        for decl in functions {
            let name = name_of(decl.syntax);
            let is_internal = is_static(decl.syntax) || linkage.unnamed.contains(&std::ptr::from_ref(decl.syntax));
            if !is_internal && name != "main" && (!is_program || linkage.declared_in_headers.contains(name)) {
                open.insert(name);
            }
        }
    }

    /// What the declarations of a unit say of who else may call its functions.
    fn linkage(&self, items: &'u [Item]) -> Linkage<'u> {
        let mut found = Linkage::default();
        let main = self.sources.files().next().map(|(file, _)| file);
        let mut pending: Vec<(&'u Item, bool)> = items.iter().map(|item| (item, false)).collect();
        while let Some((item, is_unnamed)) = pending.pop() {
            match &item.kind {
                ItemKind::Namespace { name, items, .. } => {
                    // `extern "C" { … }` has no name either.
                    let text = self.sources.text(item.span).trim_start();
                    let is_unnamed = is_unnamed || name.text.is_empty() && text.starts_with("namespace");
                    pending.extend(items.iter().map(|item| (item, is_unnamed)));
                }
                ItemKind::Function(function) if function.body.is_some() && is_unnamed => {
                    found.unnamed.insert(std::ptr::from_ref(&**function));
                }
                ItemKind::Function(function) if function.body.is_none() && !is_static(function) => {
                    let is_here = Some(self.sources.visible(item.span).file) == main;
                    let names = if is_here { &mut found.declared_here } else { &mut found.declared_in_headers };
                    let is_kernel = function.qualifiers.iter().any(|it| matches!(it, Qualifier::Kernel));
                    if !is_kernel {
                        names.insert(name_of(function));
                    }
                }
                _ => {}
            }
        }
        found
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
                ItemKind::Namespace { name, items, .. } => {
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
        walk.changed = Changes::of_function(function);
        walk.tracked.clear();
        walk.leaked.clear();
        walk.own.clear();
        walk.from_elsewhere.clear();
        walk.made.clear();
        walk.prepared = Prepared::default();
        walk.repeated = 1;
        self.within(scope, |this| body.iter().for_each(|stmt| this.changed_in_stmt(stmt, &mut walk.changed)));
        let pointers = body.iter().flat_map(pointers_to_functions);
        walk.pointers = pointers.map(|(name, path)| (name, Target { path, scope: None })).collect();
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
        let fields = walk.fields.get(&std::ptr::from_ref(function)).cloned();
        walk.is_method = fields.is_some();
        let fields = fields.unwrap_or_default();
        self.within(home, |this| {
            this.in_block(|this| {
                // What an object holds may change with every call, and hides what is declared outside of its class.
                for field in fields {
                    let written = this.declared_type(&field.ty, &field.qualifiers);
                    let variable = this.host_variable(&field.name, written);
                    this.declare(&field.name.text, Entity::Variable(variable));
                    walk.leaked.insert(variable);
                }
                this.in_block(|this| this.host_body(instance, body, walk));
            });
        });
        self.frame = frame;
    }

    /// The parameters and the body of a function.
    fn host_body(&mut self, instance: &HostInstance<'u>, body: &'u [syntax::Stmt], walk: &mut Walk<'u>) {
        for (position, param) in instance.decl.syntax.params.iter().enumerate() {
            let kernels = instance.args.get(position).map_or(&[][..], HostValue::kernels);
            walk.pointers.extend(kernels.iter().map(|&kernel| (param.name.text.as_str(), kernel)));
            let mut written = self.declared_type(&param.ty, &param.qualifiers);
            // Nobody can change what a constant reference is bound to while it is a constant.
            written.is_reference &= !written.is_const;
            let variable = self.host_variable(&param.name, written);
            self.declare(&param.name.text, Entity::Variable(variable));
            if !walk.changed.is_exposed(&param.name.text) && !written.is_reference {
                let value = instance.args.get(position).cloned().unwrap_or_default();
                self.bind_host_argument(variable, &value);
                walk.own.insert(variable);
                if walk.changed.contains(&param.name.text) {
                    walk.tracked.push(variable);
                } else if !walk.called.contains(name_of(instance.decl.syntax)) {
                    walk.from_elsewhere.insert(variable);
                }
            }
        }
        self.host_stmts(body, walk);
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
        for (at, stmt) in stmts.iter().enumerate() {
            walk.ends = false;
            self.host_stmt(stmt, walk);
            let ends = match stmt.kind {
                StmtKind::Return(_) => true,
                StmtKind::If { .. } => std::mem::take(&mut walk.ends),
                _ => false,
            };
            let behind = &stmts[at + 1..];
            let is_label = |stmt: &syntax::Stmt| matches!(stmt.kind, StmtKind::Case(_)) || has_label(stmt);
            if ends && !walk.changed.has_jumps && !behind.iter().any(is_label) {
                walk.understood.dead.extend(behind.iter().map(|stmt| stmt.span));
                return;
            }
        }
    }

    pub(super) fn host_stmt(&mut self, stmt: &'u syntax::Stmt, walk: &mut Walk<'u>) {
        if self.depth > super::context::DEPTH_LIMIT {
            return;
        }
        self.depth += 1;
        walk.understood.reached.insert(stmt.span);
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
                    let counted = this.counted(stmt, walk);
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
                this.declare_unread(&variable.name, variable.span);
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
            // What stands there may be a declaration.
            StmtKind::Unsupported(reason)
                if !["goto", "try", "throw", "delete", "new"].iter().any(|it| reason.contains(it)) =>
            {
                self.forget_all(walk);
                self.hide(stmt.span);
            }
            _ => {
                let changes = self.changes_in(walk, Some(stmt), None);
                self.forget(&changes, walk);
            }
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
        // Control may get into a branch otherwise.
        let has_entry = walk.changed.has_jumps || std::iter::once(then).chain(otherwise).any(has_label);
        let value = if has_entry { None } else { self.host_condition(cond) };
        let is_taken = value != Some(0);
        if is_taken {
            let taken = self.take_condition(cond, walk);
            self.in_block(|this| this.host_stmt(then, walk));
            self.forget_taken(taken);
        } else {
            walk.understood.dead.push(then.span);
        }
        if value.is_some_and(|value| value != 0) {
            walk.understood.dead.extend(otherwise.map(|otherwise| otherwise.span));
            walk.ends = returns(then);
            return;
        }
        let after = self.snapshot(&changes, walk);
        self.restore(before, walk);
        if let Some(otherwise) = otherwise {
            self.in_block(|this| this.host_stmt(otherwise, walk));
        }
        walk.ends = !is_taken && otherwise.is_some_and(returns);
        if !is_taken || leaves(then) {
            return;
        }
        if otherwise.is_some_and(leaves) {
            self.restore(after, walk);
        } else {
            self.agree(after, walk);
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
            }
            self.initial_effects(syntax, walk);
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
            self.declare_unread(&syntax.name, syntax.span);
            self.prepare(syntax, variable, walk);
            let is_const = written.is_const || syntax.qualifiers.iter().any(|q| matches!(q, Qualifier::Constexpr));
            let name = &syntax.name.text;
            if walk.changed.is_exposed(name) && !is_const || written.is_reference {
                continue;
            }
            // What a static variable holds is left from the call before, which may have handed it out.
            let is_static = syntax.qualifiers.iter().any(|q| match q {
                Qualifier::Static => true,
                Qualifier::Other(word) => word == "thread_local",
                _ => false,
            });
            if (is_static || written.is_volatile) && !is_const {
                continue;
            }
            walk.own.insert(variable);
            if walk.changed.contains(name) {
                walk.tracked.push(variable);
            }
            if let Some(value) = &value {
                self.note_made(variable, (init_parts(syntax.init.as_ref()), value, written.ty), walk);
            }
            let held = match value {
                Some(value) => self.held_from(&value, written.ty, syntax.span),
                None => self.held_at_first(written.ty),
            };
            self.set_held(variable, held);
        }
    }

    /// Looks for launches in the body of a lambda, wherever it is called: of the variables that it names, only constants are
    /// known (see [`super::host_uses`]), and what loops say of theirs does not hold there.
    fn host_lambda(&mut self, lambda: &'u syntax::Lambda, walk: &mut Walk<'u>) {
        let counted = std::mem::take(&mut walk.counted);
        // It may be called when what the function changes has other values.
        let held: Vec<_> = walk.tracked.iter().map(|&variable| (variable, self.held(variable))).collect();
        self.forget_all(walk);
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
        self.restore(held, walk);
        walk.counted = counted;
    }

    /// Declares what a declarator without a name of its own may declare: the names of a structured binding.
    fn declare_unread(&mut self, name: &syntax::Name, span: Span) {
        if name.text.is_empty() {
            self.hide(span);
        }
    }

    /// Nothing is known from here on of what the text at `span` names: it may be declared there.
    fn hide(&mut self, span: Span) {
        let sources = self.sources;
        for word in words(sources.text(sources.visible(span))) {
            if self.lookup(word).iter().any(|entity| matches!(entity, Entity::Variable(_))) {
                self.host_unknown(&syntax::Name { text: word.to_owned(), span });
            }
        }
    }

    /// Declares a variable of which nothing is known.
    fn host_unknown(&mut self, name: &syntax::Name) {
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
            config.iter().chain(args).for_each(|part| self.host_expr(part, walk));
            return;
        }
        if is_launching_call(value) {
            self.launch_call(value, walk);
            parts_of(value).into_iter().for_each(|part| self.host_expr(part, walk));
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

/// Whether a statement ends with a `return` that is always reached.
fn returns(stmt: &syntax::Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::Block(stmts) => stmts.last().is_some_and(returns),
        _ => false,
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

fn is_static(function: &syntax::Function) -> bool {
    function.qualifiers.iter().any(|it| matches!(it, Qualifier::Static))
}
