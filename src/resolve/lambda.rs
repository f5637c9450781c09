//! Lambdas: a record with a field for everything that is captured, and a call operator.
//!
//! What is captured is evaluated where the lambda stands: a copy keeps the value of that moment, a reference the
//! address. A body is resolved among the names that were declared where the lambda stands, whenever that happens;
//! the variables of the function around it are reached through the fields only.
//!
//! Deliberately absent: lambdas whose captures are packs, and arrays that are captured by value.

use super::context::{Frame, Resolver, expr};
use super::entities::{Entity, Scope, ScopeId};
use super::program::visit::{each_expr, each_stmt};
use super::program::{Expr, ExprKind, RecordId, Stmt, StmtKind, Storage, Type, TypeId, VariableId};
use super::qualified::Written;
use crate::source::Span;
use crate::syntax::parts::{exprs_of_stmt, visit};
use crate::syntax::{self, CaptureMode, ItemKind, Lambda, TemplateArg, TypeKind};
use rustc_hash::FxHashSet;

/// The field that holds the object around a lambda, or its address.
const THIS: &str = "this";
const COPY_OF_THIS: &str = "*this";

/// Something captured: the name of its field, what it keeps, and the value that it is given.
struct Captured {
    name: String,
    mode: CaptureMode,
    value: Expr,
}

impl<'u> Resolver<'u> {
    /// A lambda: an object of its closure's type.
    pub(super) fn lambda(&mut self, lambda: &'u Lambda, span: Span) -> Expr {
        let (captured, constants) = self.captured(lambda, span);
        let key = (std::ptr::from_ref(lambda) as usize, self.scope);
        let ty = match self.inline_types.get(&key) {
            Some(known) => known.ty,
            None => {
                let ty = self.closure(lambda, &captured, constants);
                self.inline_types.insert(key, Written::plain(ty));
                ty
            }
        };
        let parts = captured.into_iter().map(|capture| capture.value).collect();
        expr(ExprKind::Construct(parts), ty, span)
    }

    /// `({ … })`: what its closure gives when it is called.
    pub(super) fn statement_expression(&mut self, lambda: &'u Lambda, span: Span) -> Expr {
        let closure = self.lambda(lambda, span);
        self.object_call(closure, Vec::new(), span)
    }

    /// The type of a lambda that captures this. `constants` are variables of the function around it that stand for
    /// one.
    fn closure(&mut self, lambda: &'u Lambda, captured: &[Captured], constants: Vec<VariableId>) -> TypeId {
        let home = self.names_here();
        let index = self.within(home, |this| this.add_record_decl(&lambda.closure));
        let record = self.instantiate_record(index, Vec::new());
        "lambda".clone_into(&mut self.records[record].name);
        self.records[record].is_fixed = lambda.closure.members.iter().flatten().all(|item| match &item.kind {
            ItemKind::Function(function) => function.is_const,
            _ => false,
        });
        let scope = self.records.scopes[record.index()];
        "lambda::".clone_into(&mut self.scopes[scope.0].prefix);
        let fields = captured.iter().map(|capture| (capture.name.clone(), capture.value.ty)).collect();
        self.lay_out_closure(record, fields);
        let is_reference = |at: &usize| captured[*at].mode == CaptureMode::Reference;
        self.records.closures.insert(record, (0..captured.len()).filter(is_reference).collect());
        for constant in constants {
            let name = self.variables[constant].name.clone();
            self.within(scope, |this| this.declare(&name, Entity::Variable(constant)));
        }
        self.types.intern(Type::Record(record))
    }

    /// A scope with all names that the blocks around the current place declare now: later ones are not seen in it.
    fn names_here(&mut self) -> ScopeId {
        let mut chain = Vec::new();
        let mut current = self.scope;
        while let Scope { parent: Some(parent), record: None, prefix, .. } = &self.scopes[current.0]
            && prefix.is_empty()
        {
            chain.push(current);
            current = *parent;
        }
        for block in chain.into_iter().rev() {
            let Scope { names, using, pending_using, .. } = &self.scopes[block.0];
            let (names, using, pending_using) = (names.clone(), using.clone(), pending_using.clone());
            current = self.add_scope(Scope { names, using, pending_using, ..Scope::inside(current) });
        }
        current
    }

    /// What a lambda captures, in order, and the variables that it uses for constants.
    fn captured(&mut self, lambda: &'u Lambda, span: Span) -> (Vec<Captured>, Vec<VariableId>) {
        let mut captured: Vec<Captured> = Vec::new();
        let mut constants = Vec::new();
        for capture in &lambda.captures {
            let (name, span) = (capture.name.text.as_str(), capture.name.span);
            let value = match (&capture.init, name) {
                (Some(init), _) => self.object(init),
                (None, THIS) => self.this(span),
                (None, COPY_OF_THIS) => {
                    let this = self.this(span);
                    if matches!(this.kind, ExprKind::Unsupported(_)) { this } else { self.deref(this) }
                }
                (None, _) => match self.local_of_name(name, span) {
                    Some(object) => object,
                    None => self.unsupported(span, format!("capture of `{name}`, which is no local variable")),
                },
            };
            captured.push(self.capture(name, capture.mode, value));
        }
        for name in names_in(lambda) {
            if captured.iter().any(|capture| capture.name == name) {
                continue;
            }
            if let Some(constant) = self.constant_of_name(name) {
                constants.push(constant);
            } else if let Some(object) = self.local_of_name(name, span) {
                // Without a default only what needs no capture can be meant: an argument of a template.
                let mode = lambda.default.unwrap_or(CaptureMode::Copy);
                captured.push(self.capture(name, mode, object));
            }
        }
        let holds_this = captured.iter().any(|capture| matches!(capture.name.as_str(), THIS | COPY_OF_THIS));
        if lambda.default.is_some() && !holds_this && self.has_this() {
            let this = self.this(span);
            captured.push(self.capture(THIS, CaptureMode::Copy, this));
        }
        (captured, constants)
    }

    fn capture(&mut self, name: &str, mode: CaptureMode, object: Expr) -> Captured {
        let span = object.span;
        let value = match mode {
            _ if matches!(object.kind, ExprKind::Unsupported(_)) => object,
            CaptureMode::Reference => self.address_of_any(object),
            CaptureMode::Copy if matches!(self.types[object.ty], Type::Array { .. }) => {
                self.unsupported_with(span, "array captured by value".to_owned(), vec![object])
            }
            CaptureMode::Copy => {
                // What is captured keeps its type.
                let is_const = self.types.is_const(object.ty);
                let value = self.copy(object, span);
                if is_const { Expr { ty: self.types.with_const(value.ty), ..value } } else { value }
            }
        };
        Captured { name: name.to_owned(), mode, value }
    }

    /// The variable of a function, or the field of a closure, that a name stands for here, as an object.
    fn local_of_name(&mut self, name: &str, span: Span) -> Option<Expr> {
        match self.lookup(name).into_iter().next()? {
            Entity::Variable(variable) if self.is_local(variable) => Some(self.variable(variable, span)),
            Entity::Field(record, field) if self.records.closures.contains_key(&record) => {
                Some(self.captured_field(record, field, span))
            }
            _ => None,
        }
    }

    /// The local variable of that name, if it is a constant.
    fn constant_of_name(&mut self, name: &str) -> Option<VariableId> {
        match self.lookup(name).into_iter().next()? {
            Entity::Variable(variable) => {
                let declared = &self.variables[variable];
                let is_known = matches!(declared.storage, Storage::Local | Storage::Param);
                (declared.constant.is_some() && is_known).then_some(variable)
            }
            _ => None,
        }
    }

    /// Declarations of the constants of the function around a lambda that its body uses as objects.
    pub(super) fn constants_of_closure(&self, frame: &Frame, body: &[Stmt]) -> Vec<Stmt> {
        let is_closure = frame.this.is_some_and(|this| match self.types[self.variables[this].ty] {
            Type::Pointer { to, .. } => {
                matches!(self.types[to], Type::Record(record) if self.records.closures.contains_key(&record))
            }
            _ => false,
        });
        if !is_closure {
            return Vec::new();
        }
        let mut declared = FxHashSet::default();
        each_stmt(body, |stmt| {
            if let StmtKind::Declare(variable, _) = stmt.kind {
                declared.insert(variable);
            }
        });
        let mut stmts = Vec::new();
        each_expr(body, |part| {
            let ExprKind::Variable(variable) = part.kind else { return };
            let known = &self.variables[variable];
            if let (Some(value), Storage::Local) = (known.constant, known.storage)
                && declared.insert(variable)
            {
                let value = expr(ExprKind::Int(value), self.types.plain(known.ty), known.span);
                stmts.push(Stmt { kind: StmtKind::Declare(variable, Some(value)), span: known.span });
            }
        });
        stmts
    }

    /// Whether a variable belongs to one call of one function.
    fn is_local(&self, variable: VariableId) -> bool {
        matches!(self.variables[variable].storage, Storage::Local | Storage::Param | Storage::Host)
    }

    /// Whether an entity can only be reached through a capture.
    pub(super) fn needs_capture(&self, entity: &Entity<'u>) -> bool {
        match entity {
            Entity::Variable(variable) => self.is_local(*variable),
            Entity::Field(record, _) => self.records.closures.contains_key(record),
            _ => false,
        }
    }

    /// What a field of the closure whose body is being resolved stands for.
    pub(super) fn captured_field(&mut self, record: RecordId, field: usize, span: Span) -> Expr {
        let Some(this) = self.frame.this else {
            return self.unsupported(span, "capture outside of its lambda");
        };
        let ty = self.variables[this].ty;
        let object = expr(ExprKind::Variable(this), ty, span);
        let pointer = self.load(object);
        let closure = self.deref(pointer);
        self.field(closure, record, field, span)
    }

    /// The closure whose body is being resolved.
    fn current_closure(&self) -> Option<RecordId> {
        let Type::Pointer { to, .. } = self.types[self.variables[self.frame.this?].ty] else { return None };
        match self.types[to] {
            Type::Record(record) if self.records.closures.contains_key(&record) => Some(record),
            _ => None,
        }
    }

    /// Whether `this` means something here.
    fn has_this(&self) -> bool {
        match self.current_closure() {
            Some(record) => [THIS, COPY_OF_THIS].iter().any(|name| self.records.field_named(record, name).is_some()),
            None => self.frame.this.is_some(),
        }
    }

    /// `this` in the body of a lambda: that of the method around it. `None` outside of lambdas.
    pub(super) fn captured_this(&mut self, span: Span) -> Option<Expr> {
        let record = self.current_closure()?;
        if let Some(field) = self.records.field_named(record, THIS) {
            let object = self.captured_field(record, field, span);
            return Some(self.load(object));
        }
        Some(match self.records.field_named(record, COPY_OF_THIS) {
            Some(field) => {
                let object = self.captured_field(record, field, span);
                self.address_of(object)
            }
            None => self.unsupported(span, "`this`, which the lambda does not capture"),
        })
    }
}

/// The names in a lambda that may stand for variables outside of it, in order of appearance.
fn names_in(lambda: &Lambda) -> Vec<&str> {
    let mut found = Vec::new();
    for item in lambda.closure.members.iter().flatten() {
        let ItemKind::Function(function) = &item.kind else { continue };
        for value in function.body.iter().flatten().flat_map(exprs_of_stmt) {
            visit(value, |part| names_of_part(part, &mut found));
        }
        // A parameter hides what has its name outside.
        found.retain(|name| !function.params.iter().any(|param| param.name.text == *name));
    }
    let mut seen = FxHashSet::default();
    found.retain(|name| seen.insert(*name));
    found
}

fn names_of_part<'s>(part: &'s syntax::Expr, found: &mut Vec<&'s str>) {
    match &part.kind {
        syntax::ExprKind::Path(path) => names_of_path(path, found),
        syntax::ExprKind::Lambda(inner) | syntax::ExprKind::Statements(inner) => {
            let listed = inner.captures.iter().filter(|capture| capture.init.is_none());
            found.extend(listed.map(|capture| capture.name.text.as_str()));
        }
        _ => {}
    }
}

/// A name, and the names among its template arguments.
fn names_of_path<'s>(path: &'s syntax::Path, found: &mut Vec<&'s str>) {
    if let [only] = path.segments.as_slice() {
        found.push(&only.name.text);
    }
    for argument in path.segments.iter().filter_map(|segment| segment.args.as_deref()).flatten() {
        names_of_argument(argument, found);
    }
}

fn names_of_argument<'s>(argument: &'s TemplateArg, found: &mut Vec<&'s str>) {
    match argument {
        TemplateArg::Value(value) => visit(value, |part| {
            if let syntax::ExprKind::Path(path) = &part.kind
                && let [only] = path.segments.as_slice()
            {
                found.push(&only.name.text);
            }
        }),
        TemplateArg::Type(ty) => {
            if let TypeKind::Named(path) = &ty.kind
                && let [only] = path.segments.as_slice()
            {
                found.push(&only.name.text);
            }
        }
        TemplateArg::Expansion(pattern) => names_of_argument(pattern, found),
    }
}
