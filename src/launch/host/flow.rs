//! The way of control through a function of the host, in source order, and the launches on it.
//!
//! A local counts as a constant where what it was given last is one ([`super::assignments`]), and nothing that may
//! change it has got hold of it by then ([`super::effects`]); a parameter, if a call gives it one and there are no
//! other calls ([`super::calls`]). A branch that a constant condition never takes launches nothing. What a loop changes
//! is unknown where an iteration starts and after the loop, what a branch changes is known after it if both ways agree,
//! and what a `switch` changes is unknown after it (for its labels see [`super::ways`]). What others may change from a
//! place on, as they got its address or a reference to it, is unknown from there on, and stays so; variables that may
//! change at places that cannot be told (in a lambda, in a macro) are never known.
//!
//! Deliberately absent: the iterations of loops one by one, but for few; what host code calls, beside launches.

use super::api::{Prepared, is_launching_call};
use super::calls::{Argument, Calls, Instance};
use super::changes::{Changes, pointers_to_functions};
use super::effects::Effects;
use super::found::{Found, Target};
use super::place::Place;
use super::unit::{Code, is_interesting};
use super::values::{Held, Values};
use super::walk::Walk;
use super::ways::{Taken, has_exit, has_label, leaves};
use crate::resolve::program::Type;
use crate::resolve::{Declared, ScopeId, TemplateValue};
use crate::syntax::parts::{expr_has, init_parts, parts_of};
use crate::syntax::{self, Init, Item, ItemKind, Qualifier, StmtKind, TypeKind};

/// Looks at a function with the arguments of some of its calls.
pub(super) fn look_at<'u>(
    names: &mut Declared<'u>,
    code: &Code<'u>,
    instance: &Instance<'u>,
    calls: &mut Calls<'u>,
    found: &mut Found<'u>,
) {
    let (function, scope) = (instance.decl.syntax, instance.decl.scope);
    let Some(body) = &function.body else { return };
    names.begin_function();
    let mut changed = Changes::of_function(function);
    let outer = names.enter(scope);
    let mut effects = Effects { names, methods: &code.methods };
    body.iter().for_each(|stmt| effects.changed_in_stmt(stmt, &mut changed));
    names.leave(outer);
    let home = scope_of(names, code, instance);
    names.enter(home);
    names.enter_block();
    let mut values = Values::default();
    // What an object holds may change with every call, and hides what is declared outside of its class.
    let members = code.members_of(function);
    for member in members.unwrap_or_default() {
        let written = names.declared_type(&member.ty, &member.qualifiers);
        let variable = names.declare_written(&member.name, written);
        values.leaked.insert(variable);
        if let Some(Init::Value(value)) =
            member.init.as_ref().filter(|_| is_constant_of_class(member, written.is_const))
        {
            let constant = names.constant_of(value);
            names.set_constant(variable, constant);
        }
    }
    names.enter_block();
    let pointers = body.iter().flat_map(pointers_to_functions);
    let place = Place {
        names,
        code,
        changed,
        values,
        prepared: Prepared::default(),
        pointers: pointers.map(|(name, path)| (name, Target { path, scope: None })).collect(),
        is_method: members.is_some(),
        repeated: 1,
    };
    let mut walk = Walk { place, calls, found };
    walk.body(instance, body);
    walk.place.names.leave(outer);
}

/// The scope of a function's own template parameters, and of those of its class.
fn scope_of<'u>(names: &mut Declared<'u>, code: &Code<'u>, instance: &Instance<'u>) -> ScopeId {
    let function = instance.decl.syntax;
    let params = function.template.as_deref().unwrap_or(&[]);
    let mut home = instance.decl.scope;
    if let Some(class) = code.in_templates.get(&std::ptr::from_ref(function))
        && instance.decl.record.is_none()
    {
        class.iter().for_each(|param| names.open_parameter(&param.name.text));
        home = names.bind(home, class, &vec![TemplateValue::Unknown; class.len()]);
    }
    let home = names.bind(home, params, &instance.values);
    for (param, _) in params.iter().zip(&instance.values).filter(|(_, value)| **value == TemplateValue::Unknown) {
        names.open_parameter(&param.name.text);
    }
    home
}

impl<'u> Walk<'_, 'u> {
    fn in_block<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.place.names.enter_block();
        let result = work(self);
        self.place.names.leave(outer);
        result
    }

    /// The parameters and the body of a function.
    fn body(&mut self, instance: &Instance<'u>, body: &'u [syntax::Stmt]) {
        for (position, param) in instance.decl.syntax.params.iter().enumerate() {
            let kernels = instance.args.get(position).map_or(&[][..], Argument::kernels);
            self.place.pointers.extend(kernels.iter().map(|&kernel| (param.name.text.as_str(), kernel)));
            let mut written = self.place.names.declared_type(&param.ty, &param.qualifiers);
            // Nobody can change what a constant reference is bound to while it is a constant.
            written.is_reference &= !written.is_const;
            let variable = self.place.names.declare_written(&param.name, written);
            let is_copy = !matches!(param.ty.kind, TypeKind::Reference(..)) && !written.is_volatile;
            if is_copy && self.place.changed.is_followed(&param.name.text) {
                self.place.values.constraints.follow(variable);
            }
            if !self.place.changed.is_exposed(&param.name.text) && !written.is_reference {
                let value = instance.args.get(position).cloned().unwrap_or_default();
                self.bind_argument(variable, &value);
                self.place.values.own.insert(variable);
                if self.place.changed.has(&param.name.text) {
                    self.place.values.tracked.push(variable);
                } else if !self.place.code.called.contains(instance.decl.syntax.name()) {
                    self.place.values.from_elsewhere.insert(variable);
                }
            }
        }
        self.place.reader().take_relations(instance.decl.syntax, &instance.relations);
        self.stmts(body);
    }

    fn stmts(&mut self, stmts: &'u [syntax::Stmt]) {
        for (at, stmt) in stmts.iter().enumerate() {
            let ends = self.stmt(stmt);
            let behind = &stmts[at + 1..];
            let is_label = |stmt: &syntax::Stmt| matches!(stmt.kind, StmtKind::Case(_)) || has_label(stmt);
            if ends && !self.place.changed.has_jumps && !behind.iter().any(is_label) {
                self.found.understood.dead.extend(behind.iter().map(|stmt| stmt.span));
                return;
            }
        }
    }

    /// Follows a statement; says whether it never lets control come to what stands behind it.
    fn stmt(&mut self, stmt: &'u syntax::Stmt) -> bool {
        let mut ends = matches!(stmt.kind, StmtKind::Return(_));
        if !self.place.names.nest() {
            return ends;
        }
        self.found.understood.reached.insert(stmt.span);
        match &stmt.kind {
            StmtKind::Block(stmts) => self.in_block(|this| this.stmts(stmts)),
            StmtKind::Item(item) => self.item(item),
            StmtKind::Expr(value) => self.value_of(value),
            StmtKind::If { init, cond, then, otherwise, .. } => self.in_block(|this| {
                if let Some(init) = init {
                    this.stmt(init);
                }
                this.value_of(cond);
                ends = this.branches(cond, then, otherwise.as_deref());
            }),
            StmtKind::For { init, cond, step, body } => self.in_block(|this| {
                if let Some(init) = init {
                    this.stmt(init);
                }
                let before = this.place.values.constraints.state();
                let stepped = this.place.stepped(stmt);
                let changes = this.place.changes_in(Some(&**body), cond.iter().chain(step));
                this.place.forget(&changes);
                if let Some(stepped) = stepped {
                    this.place.assume_stepped(&stepped);
                }
                if let Some(cond) = cond {
                    this.place.assume_written(cond, true);
                }
                let inside = this.place.values.constraints.state();
                for part in [cond, step].into_iter().flatten() {
                    this.expr(part);
                }
                if let Some((variable, values)) = this.place.counted_values(stmt) {
                    this.place.repeated *= values.len();
                    for &value in &values {
                        this.place.forget(&changes);
                        this.place.values.constraints.restore(inside.clone());
                        this.place.set(variable, Held { constant: Some(value), ..Held::default() });
                        this.in_block(|this| _ = this.stmt(body));
                    }
                    this.place.repeated /= values.len();
                } else {
                    this.in_block(|this| _ = this.stmt(body));
                }
                this.place.values.constraints.restore(before);
                this.place.forget(&changes);
            }),
            StmtKind::RangeFor { variable, range, body } => self.in_block(|this| {
                let before = this.place.values.constraints.state();
                let changes = this.place.changes_in(Some(&**body), Some(range));
                this.place.forget(&changes);
                this.expr(range);
                let mut written = this.place.names.declared_type(&variable.ty, &variable.qualifiers);
                if variable.ty.is_auto() {
                    let range = this.place.names.object(range);
                    written.ty = match *this.place.names.ty(range.ty) {
                        Type::Array { of, .. } => of,
                        _ => this.place.names.common().unknown,
                    };
                }
                this.place.names.declare_written(&variable.name, written);
                this.declare_unread(&variable.name, variable.span);
                this.in_block(|this| _ = this.stmt(body));
                this.place.values.constraints.restore(before);
                this.place.forget(&changes);
            }),
            StmtKind::Switch { value, body } => {
                self.value_of(value);
                self.cases(value, body);
            }
            // As macros write one statement.
            StmtKind::Do { body, cond } if self.place.condition(cond) == Some(0) && !has_exit(body) => {
                self.in_block(|this| _ = this.stmt(body));
                self.value_of(cond);
            }
            StmtKind::While { cond, body } | StmtKind::Do { body, cond } => {
                let before = self.place.values.constraints.state();
                let changes = self.place.changes_in(Some(&**body), Some(cond));
                self.place.forget(&changes);
                self.expr(cond);
                if matches!(stmt.kind, StmtKind::While { .. }) {
                    self.place.assume_written(cond, true);
                }
                self.in_block(|this| _ = this.stmt(body));
                self.place.values.constraints.restore(before);
                self.place.forget(&changes);
            }
            StmtKind::Case(_) => self.place.values.forget_all(self.place.names),
            StmtKind::Return(Some(value)) => self.expr(value),
            // What stands there may be a declaration.
            StmtKind::Unsupported(reason)
                if !["goto", "try", "throw", "delete", "new"].iter().any(|it| reason.contains(it)) =>
            {
                self.place.values.forget_all(self.place.names);
                self.hide(stmt.span);
            }
            _ => {
                let changes = self.place.changes_in(Some(stmt), None);
                self.place.forget(&changes);
            }
        }
        self.place.names.unnest();
        ends
    }

    /// Looks for launches in an expression that is evaluated here, and follows what it changes.
    fn value_of(&mut self, value: &'u syntax::Expr) {
        self.forget_changed_within(value);
        self.expr(value);
        self.place.follow(value);
        self.place.assume_stated(value);
    }

    /// Makes unknown what an expression changes that launches something: `n++, k<<<n, 32>>>()`.
    fn forget_changed_within(&mut self, value: &'u syntax::Expr) {
        if expr_has(value, &|part| is_interesting(part, &self.place.code.launching)) {
            let changes = self.place.changes_in(None, Some(value)).assigned();
            self.place.forget(&changes);
        }
    }

    /// The branches that may be taken; what both leave behind stays known. Says whether control never comes to what
    /// stands behind them.
    fn branches(
        &mut self,
        cond: &'u syntax::Expr,
        then: &'u syntax::Stmt,
        otherwise: Option<&'u syntax::Stmt>,
    ) -> bool {
        let changes = self.place.changes_in(std::iter::once(then).chain(otherwise), None);
        let before = self.place.values.snapshot(self.place.names, &changes);
        let known = self.place.values.constraints.state();
        // Control may get into a branch otherwise.
        let has_entry = self.place.changed.has_jumps || std::iter::once(then).chain(otherwise).any(has_label);
        let value = if has_entry { None } else { self.place.condition(cond) };
        let is_taken = value != Some(0);
        if is_taken {
            let taken = self.place.take_condition(cond);
            if !has_entry {
                self.place.assume_written(cond, true);
            }
            self.in_block(|this| _ = this.stmt(then));
            self.place.forget_taken(taken);
        } else {
            self.found.understood.dead.push(then.span);
        }
        if value.is_some_and(|value| value != 0) {
            self.found.understood.dead.extend(otherwise.map(|otherwise| otherwise.span));
            return returns(then);
        }
        let after = self.place.values.snapshot(self.place.names, &changes);
        let known_after = self.place.values.constraints.state();
        self.place.values.restore(self.place.names, before);
        self.place.values.constraints.restore(known);
        if !has_entry {
            self.place.assume_written(cond, false);
        }
        if let Some(otherwise) = otherwise {
            self.in_block(|this| _ = this.stmt(otherwise));
        }
        if is_taken && !leaves(then) {
            if otherwise.is_some_and(leaves) {
                self.place.values.restore(self.place.names, after);
                self.place.values.constraints.restore(known_after);
            } else {
                self.place.values.agree(self.place.names, after);
                self.place.values.constraints.join(known_after);
            }
        }
        !is_taken && otherwise.is_some_and(returns)
    }

    /// The cases of a `switch`, each from what was known before it.
    fn cases(&mut self, value: &'u syntax::Expr, body: &'u syntax::Stmt) {
        let stmts = match &body.kind {
            StmtKind::Block(stmts) if !stmts.iter().any(has_label) => stmts,
            _ => {
                let changes = self.place.changes_in(Some(body), Some(value));
                self.place.forget(&changes);
                return self.in_block(|this| _ = this.stmt(body));
            }
        };
        let changes = self.place.changes_in(Some(body), None);
        let head = self.place.values.snapshot(self.place.names, &changes);
        let known = self.place.values.constraints.state();
        let mut taken = Taken::default();
        self.in_block(|this| {
            let mut comes_from_above = false;
            for stmt in stmts {
                if let StmtKind::Case(label) = &stmt.kind {
                    this.place.forget_taken(std::mem::take(&mut taken));
                    this.place.values.constraints.restore(known.clone());
                    if comes_from_above {
                        this.place.values.agree(this.place.names, head.clone());
                        this.place.values.forget_constraints(this.place.names, &changes, None);
                    } else {
                        this.place.values.restore(this.place.names, head.clone());
                        let label = label.as_ref().map(|label| this.place.names.value(label));
                        if let Some(label) = label.and_then(|label| this.place.names.constant(&label)) {
                            this.place.take_to_be(value, label, &mut taken);
                        }
                    }
                } else {
                    this.stmt(stmt);
                }
                comes_from_above = !leaves(stmt);
            }
        });
        self.place.forget_taken(taken);
        self.place.values.constraints.restore(known);
        self.place.forget(&changes);
    }

    /// A local declaration, and what is launched by its initialisers.
    fn item(&mut self, item: &'u Item) {
        let ItemKind::Variables(variables) = &item.kind else {
            return self.place.names.declare_item(item);
        };
        for syntax in variables {
            self.place.names.declare_inside(&syntax.ty);
            for value in init_parts(syntax.init.as_ref()) {
                self.forget_changed_within(value);
                self.expr(value);
            }
            self.declare_variable(syntax);
        }
    }

    /// Looks for launches in the body of a lambda, wherever it is called: of the variables that it names, only
    /// constants are known (see [`super::effects`]).
    fn lambda(&mut self, lambda: &'u syntax::Lambda) {
        // It may be called when what the function changes has other values.
        let held = self.place.values.snapshot_of_all(self.place.names);
        let known = self.place.values.constraints.state();
        self.place.values.forget_all(self.place.names);
        for item in lambda.closure.members.iter().flatten() {
            let ItemKind::Function(function) = &item.kind else { continue };
            self.in_block(|this| {
                for param in &function.params {
                    let written = this.place.names.declared_type(&param.ty, &param.qualifiers);
                    this.place.names.declare_written(&param.name, written);
                }
                for capture in lambda.captures.iter().filter(|capture| capture.init.is_some()) {
                    this.declare_unknown(&capture.name);
                }
                this.in_block(|this| this.stmts(function.body.as_deref().unwrap_or(&[])));
            });
        }
        self.place.values.restore(self.place.names, held);
        self.place.values.constraints.restore(known);
    }

    /// Looks for launches in an expression.
    fn expr(&mut self, value: &'u syntax::Expr) {
        let wanted = |part: &syntax::Expr| is_interesting(part, &self.place.code.launching);
        if !expr_has(value, &wanted) {
            return;
        }
        if let syntax::ExprKind::Launch { kernel, config, args } = &value.kind {
            self.launch(kernel, config, args, value.span);
            config.iter().chain(args).for_each(|part| self.expr(part));
            return;
        }
        if is_launching_call(value) {
            self.launch_call(value);
            parts_of(value).into_iter().for_each(|part| self.expr(part));
            return;
        }
        if let syntax::ExprKind::Call(callee, args) = &value.kind {
            self.call(callee, args);
        }
        match &value.kind {
            syntax::ExprKind::Lambda(lambda) | syntax::ExprKind::Statements(lambda) => self.lambda(lambda),
            syntax::ExprKind::Path(path) => self.mention(path),
            // The name of what is called is no use of it as a value.
            syntax::ExprKind::Call(callee, args) if matches!(callee.kind, syntax::ExprKind::Path(_)) => {
                args.iter().for_each(|part| self.expr(part));
            }
            _ => parts_of(value).into_iter().for_each(|part| self.expr(part)),
        }
    }
}

/// Whether a data member is one constant for all objects.
fn is_constant_of_class(member: &syntax::Variable, is_const: bool) -> bool {
    let is_constexpr = member.qualifiers.iter().any(|it| matches!(it, Qualifier::Constexpr));
    let is_one = member.qualifiers.iter().any(|it| matches!(it, Qualifier::Static));
    is_one && (is_const || is_constexpr)
}

/// Whether a statement ends with a `return` that is always reached.
fn returns(stmt: &syntax::Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::Block(stmts) => stmts.last().is_some_and(returns),
        _ => false,
    }
}
