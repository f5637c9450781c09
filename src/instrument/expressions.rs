//! Expressions: which of them denote memory, and what happens to it.

use super::Backend;
use super::facts::GlobalHome;
use super::items::Walker;
use super::mutation::NEGATED;
use super::scope::{Home, Shape};
use super::sites::SiteKind;
use crate::builtins::variables::{Variable, variable};
use crate::mutation::Operator;
use crate::source::Language;
use crate::syntax::{BinaryOp, Expr, ExprKind, Path, Type, TypeKind, UnaryOp};

/// What happens to the object that an expression denotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
    ReadWrite,
    /// It does itself what happens, and has to be told where.
    Told,
    /// Nothing: its address is taken, a part of it is meant, a reference is bound to it.
    Place,
    /// Nothing: its value is not used.
    Discard,
}

impl Use {
    pub(super) fn site(self) -> Option<SiteKind> {
        match self {
            Use::Read => Some(SiteKind::Read),
            Use::Write => Some(SiteKind::Write),
            Use::ReadWrite => Some(SiteKind::ReadWrite),
            Use::Told => Some(SiteKind::Atomic),
            Use::Place | Use::Discard => None,
        }
    }
}

/// The number that an expression is: written as one, or by a name that the language predefines.
pub(super) fn constant(language: Language, expr: &Expr) -> Option<i128> {
    match &expr.kind {
        ExprKind::Int { value, .. } => Some(i128::from(*value)),
        ExprKind::Path(path) => match variable(language, &path.segments.last()?.name.text)? {
            Variable::Constant(value, _) => Some(value),
            _ => None,
        },
        _ => None,
    }
}

/// The function of the runtime for a site.
fn wrapper(kind: SiteKind) -> &'static str {
    match kind {
        SiteKind::Read => "rd",
        SiteKind::Write => "wr",
        SiteKind::ReadWrite => "rw",
        SiteKind::Atomic => "at",
    }
}

impl<'a> Walker<'a> {
    pub(super) fn expr(&mut self, expr: &'a Expr, usage: Use) {
        if self.is_object(expr) {
            return self.object(expr);
        }
        self.native_object(expr);
        match &expr.kind {
            ExprKind::Path(path) => {
                self.mutate(|mutators| mutators.scope(expr, path));
                self.name(expr, path, usage);
            }
            ExprKind::Unary(UnaryOp::Deref, pointer) => {
                self.access(expr, usage);
                self.pointer(pointer);
            }
            ExprKind::Unary(UnaryOp::AddressOf, object) => self.expr(object, Use::Place),
            ExprKind::Unary(UnaryOp::PreIncrement | UnaryOp::PreDecrement, object) | ExprKind::Postfix(_, object) => {
                self.expr(object, Use::ReadWrite);
            }
            ExprKind::Unary(_, value) => self.expr(value, Use::Read),
            ExprKind::Binary(op, left, right) => {
                self.mutate(|mutators| mutators.operator(expr, *op, [left, right]));
                self.expr(left, Use::Read);
                self.expr(right, Use::Read);
            }
            ExprKind::Assign(op, target, value) => {
                self.mutate(|mutators| mutators.update(*op, value));
                self.expr(target, if op.is_some() { Use::ReadWrite } else { Use::Write });
                self.expr(value, Use::Read);
            }
            ExprKind::Conditional(cond, yes, no) => {
                self.cover(|counters| counters.branch(cond, None));
                self.mutate(|mutators| mutators.guard(cond, &NEGATED));
                self.expr(cond, Use::Read);
                self.expr(yes, usage);
                self.expr(no, usage);
            }
            ExprKind::Comma(first, second) => {
                self.expr(first, Use::Discard);
                self.expr(second, usage);
            }
            ExprKind::Call(callee, arguments) => {
                self.mutate(|mutators| mutators.any_call(expr, callee, arguments));
                self.call(expr, callee, arguments, usage);
            }
            ExprKind::Index(base, index) => {
                if !self.stays_own(expr) && self.may_denote(base, "operator[]") {
                    self.access(expr, usage);
                }
                self.mutate(|mutators| match usage {
                    Use::Read => mutators.memory_read(base),
                    _ => mutators.memory_used(base),
                });
                self.pointer(base);
                self.mutate(|mutators| mutators.value(index, Operator::IndexShifted, &["plus_one", "minus_one"]));
                self.expr(index, Use::Read);
            }
            ExprKind::Member { object, arrow, member } => {
                self.mutate(|mutators| mutators.member(expr, object, &member.name.text));
                let shared = !self.stays_own(expr);
                if shared && self.is_bit_field(expr, &member.name.text) {
                    self.access_whole(expr, usage);
                } else if shared {
                    self.access(expr, usage);
                }
                if *arrow { self.pointer(object) } else { self.expr(object, Use::Place) }
            }
            ExprKind::Cast(_, ty, value) => self.cast(expr, ty, value, usage),
            ExprKind::Construct(ty, values) => {
                self.mutate(|mutators| mutators.scope_of_type(ty));
                self.constructed(ty, values);
            }
            ExprKind::InitList(entries) => entries.iter().for_each(|(_, value)| self.expr(value, Use::Read)),
            ExprKind::Launch { kernel, config, args } => self.launch(expr, kernel, config, args),
            // Their parts are walked where they are kept beside the tree.
            ExprKind::Lambda(_) => self.unsupported(expr.span, "lambda expression"),
            ExprKind::Statements(_) => self.unsupported(expr.span, "statement expression"),
            ExprKind::Expansion(pattern) => {
                self.unsupported(expr.span, "pack expansion");
                self.expr(pattern, Use::Read);
            }
            ExprKind::Fold(fold) => {
                self.unsupported(expr.span, "fold expression");
                fold.left.iter().chain(&fold.right).for_each(|part| self.expr(part, Use::Read));
            }
            ExprKind::Unsupported(reason) => self.unsupported(expr.span, reason),
            ExprKind::Int { .. }
            | ExprKind::Float(_)
            | ExprKind::Char(..)
            | ExprKind::String(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::This
            | ExprKind::SizeofType(_)
            | ExprKind::SizeofPack(_)
            | ExprKind::SizeofExpr(_) => {}
        }
    }

    /// Whether an expression names an object that threads synchronise by, for a runtime that has such objects.
    pub(super) fn is_object(&self, expr: &Expr) -> bool {
        let is_place = matches!(
            &expr.kind,
            ExprKind::Path(_) | ExprKind::Index(..) | ExprKind::Member { .. } | ExprKind::Unary(UnaryOp::Deref, _)
        );
        is_place
            && self.source.backend == Backend::Cpu
            && self.within.is_on_device()
            && self.shape(expr) == Shape::Object
    }

    /// The same, for nvcc's runtime, which has none: what they order is not logged.
    fn native_object(&mut self, expr: &Expr) {
        if !self.counts_syncs() {
            return;
        }
        let shape = match &expr.kind {
            ExprKind::Path(_) | ExprKind::Member { .. } => self.shape(expr),
            ExprKind::Call(callee, _) => match &callee.kind {
                ExprKind::Member { object, arrow: true, .. } => self.shape(object).inside(),
                _ => return,
            },
            _ => return,
        };
        if shape == Shape::Object {
            self.not_followed(expr.span, "an object that threads synchronise by".to_owned());
        }
    }

    fn object(&mut self, expr: &'a Expr) {
        self.access(expr, Use::Told);
        match &expr.kind {
            ExprKind::Index(base, index) => {
                self.pointer(base);
                self.expr(index, Use::Read);
            }
            ExprKind::Member { object, arrow: true, .. } | ExprKind::Unary(UnaryOp::Deref, object) => {
                self.pointer(object);
            }
            ExprKind::Member { object, .. } => self.expr(object, Use::Place),
            _ => {}
        }
    }

    /// Whether a call is one of a method of such an object.
    pub(super) fn is_method_of_object(&self, callee: &Expr) -> bool {
        self.source.backend == Backend::Cpu && self.whole(callee) == Shape::Object
    }

    /// What is indexed or dereferenced: a pointer is read, an array or a record with operators is only named.
    pub(super) fn pointer(&mut self, base: &'a Expr) {
        let usage = match self.shape(base) {
            Shape::Array(_) | Shape::Record(_) => Use::Place,
            _ => Use::Read,
        };
        self.expr(base, usage);
    }

    fn cast(&mut self, expr: &'a Expr, ty: &'a Type, value: &'a Expr, usage: Use) {
        if self.facts.is_reference(ty) {
            if !self.stays_own(value) {
                self.access(expr, usage);
            }
            return self.expr(value, Use::Place);
        }
        let is_void = matches!(&ty.kind, TypeKind::Builtin(name) if name == "void");
        self.expr(value, if is_void { Use::Discard } else { Use::Read });
    }

    /// Whether an index on `base` may denote an object: of a record, only if an operator gives a reference.
    fn may_denote(&self, base: &Expr, operator: &str) -> bool {
        match self.shape(base) {
            Shape::Record(_) => {
                let found = self.facts.callables(operator, 1);
                found.is_empty() || found.iter().any(|callable| callable.returns_reference)
            }
            _ => true,
        }
    }

    fn name(&mut self, expr: &'a Expr, path: &'a Path, usage: Use) {
        let Some(last) = path.segments.last() else { return };
        let name = last.name.text.as_str();
        if self.is_dynamic_shared(path) {
            return self.name_dynamic_shared(expr, name);
        }
        if !self.is_memory(path) {
            return;
        }
        let is_implicit_field = path.segments.len() == 1 && self.scopes.find(name).is_none() && self.is_field(name);
        if is_implicit_field && self.facts.is_bit_field(self.within.record(), name) {
            return self.access_bits_of_this(expr, usage);
        }
        self.access(expr, usage);
    }

    fn is_bit_field(&self, member: &Expr, name: &str) -> bool {
        match self.record_of(member) {
            Some(record) => self.facts.is_bit_field(Some(&record), name),
            None => self.facts.is_bit_field(None, name),
        }
    }

    /// The shape of that of which `object.…` (or `object->…`) is a part.
    fn whole(&self, member: &Expr) -> Shape {
        match &member.kind {
            // An array is a pointer to its first element.
            ExprKind::Member { object, arrow: true, .. } => self.shape(object).inside(),
            ExprKind::Member { object, .. } => self.shape(object),
            _ => Shape::Unknown,
        }
    }

    /// The record of which `object.…` (or `object->…`) is a part.
    fn record_of(&self, member: &Expr) -> Option<String> {
        match self.whole(member) {
            Shape::Record(record) => Some(record),
            _ => None,
        }
    }

    fn is_field(&self, name: &str) -> bool {
        self.within.record().is_some_and(|record| self.facts.field(record, name).is_some())
    }

    /// Whether a name by itself denotes memory that threads may share.
    fn is_memory(&self, path: &Path) -> bool {
        let Some(last) = path.segments.last() else { return false };
        let name = last.name.text.as_str();
        if path.segments.len() == 1 && !path.global {
            if let Some(is_memory) = self.names_memory(name) {
                return is_memory;
            }
            if self.is_field(name) {
                return true;
            }
        }
        let home = self.facts.global(name).map(|global| global.home);
        matches!(home, Some(GlobalHome::Device | GlobalHome::Shared))
    }

    pub(super) fn is_dynamic_shared(&self, path: &Path) -> bool {
        let Some(last) = path.segments.last() else { return false };
        let name = last.name.text.as_str();
        let hidden = path.segments.len() == 1 && (self.scopes.find(name).is_some() || self.is_field(name));
        !hidden && self.facts.global(name).is_some_and(|global| global.home == GlobalHome::DynamicShared)
    }

    /// Whether an expression can only denote a variable of the thread itself, or a part of one by name.
    pub(super) fn stays_own(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Path(path) => !self.is_memory(path) && !self.is_dynamic_shared(path),
            ExprKind::Index(base, _) => matches!(self.shape(base), Shape::Array(_)) && self.stays_own(base),
            ExprKind::Member { object, arrow, member } => {
                let record = self.record_of(expr);
                let leads_away = self.facts.is_reference_member(record.as_deref(), &member.name.text);
                !arrow && !leads_away && self.stays_own(object)
            }
            ExprKind::Unary(UnaryOp::Deref, _) => false,
            ExprKind::Unary(UnaryOp::PreIncrement | UnaryOp::PreDecrement, object) => self.stays_own(object),
            ExprKind::Assign(_, target, _) => self.stays_own(target),
            ExprKind::Conditional(_, yes, no) => self.stays_own(yes) && self.stays_own(no),
            ExprKind::Comma(_, last) => self.stays_own(last),
            ExprKind::Cast(_, ty, value) if self.facts.is_reference(ty) => self.stays_own(value),
            ExprKind::Call(callee, arguments) => !self.gives_reference(callee, arguments.len()),
            ExprKind::Unsupported(_)
            | ExprKind::Statements(_)
            | ExprKind::Lambda(_)
            | ExprKind::Expansion(_)
            | ExprKind::Fold(_) => false,
            _ => true,
        }
    }

    /// The shape of the object or value that an expression denotes, as far as declarations say.
    pub(super) fn shape(&self, expr: &Expr) -> Shape {
        match &expr.kind {
            ExprKind::Path(path) => self.shape_of_name(path),
            ExprKind::This => {
                self.within.record.clone().map_or(Shape::Unknown, |it| Shape::Pointer(Shape::Record(it).into()))
            }
            ExprKind::Index(base, _) | ExprKind::Unary(UnaryOp::Deref, base) => self.shape(base).inside(),
            ExprKind::Unary(UnaryOp::AddressOf, object) => Shape::Pointer(self.shape(object).into()),
            ExprKind::Member { member, .. } => {
                let Some(record) = self.record_of(expr) else { return Shape::Unknown };
                let field = self.facts.field(&record, &member.name.text);
                field.map_or(Shape::Unknown, |ty| Shape::of(ty, &self.facts))
            }
            ExprKind::Cast(_, ty, _) | ExprKind::Construct(ty, _) => Shape::of(ty, &self.facts),
            ExprKind::Unary(UnaryOp::PreIncrement | UnaryOp::PreDecrement, object)
            | ExprKind::Postfix(_, object)
            | ExprKind::Assign(_, object, _)
            | ExprKind::Comma(_, object) => self.shape(object),
            ExprKind::Conditional(_, yes, no) => match self.shape(yes) {
                Shape::Unknown => self.shape(no),
                known => known,
            },
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, left, right) => {
                match (self.shape(left), self.shape(right)) {
                    (Shape::Array(inner) | Shape::Pointer(inner), _)
                    | (_, Shape::Array(inner) | Shape::Pointer(inner)) => Shape::Pointer(inner),
                    _ => Shape::Unknown,
                }
            }
            _ => Shape::Unknown,
        }
    }

    fn shape_of_name(&self, path: &Path) -> Shape {
        let Some(last) = path.segments.last() else { return Shape::Unknown };
        let name = last.name.text.as_str();
        if path.segments.len() == 1 && !path.global {
            if let Some(local) = self.scopes.find(name) {
                return local.shape.clone();
            }
            if let Some(ty) = self.within.record().and_then(|record| self.facts.field(record, name)) {
                return Shape::of(ty, &self.facts);
            }
        }
        match self.facts.global(name) {
            Some(global) => {
                let shape = Shape::of(&global.ty, &self.facts);
                if global.home == GlobalHome::DynamicShared { shape.as_parameter() } else { shape }
            }
            None => Shape::Unknown,
        }
    }

    /// Wraps an access with its site.
    pub(super) fn access(&mut self, expr: &Expr, usage: Use) {
        let Some(kind) = usage.site().filter(|_| self.within.is_on_device()) else { return };
        if matches!(self.shape(expr), Shape::Array(_)) {
            return;
        }
        let Some(range) = self.tokens.range(expr.span) else {
            return self.notes.leave_out(expr.span, "access in a macro that cannot be taken apart".to_owned());
        };
        let site = self.notes.site(kind, expr.span, self.array(expr));
        let name = if usage == Use::Told { "on" } else { wrapper(kind) };
        self.edits.wrap(range, format!("::raceproof::{name}({site}, "), ")");
    }

    /// A bit-field has no address: the access is that of the whole object.
    fn access_whole(&mut self, expr: &Expr, usage: Use) {
        let ExprKind::Member { object, arrow, .. } = &expr.kind else { return };
        let Some(kind) = usage.site().filter(|_| self.within.is_on_device()) else { return };
        let (Some(range), Some(inner)) = (self.tokens.range(expr.span), self.tokens.range(object.span)) else {
            return self.notes.leave_out(expr.span, "access in a macro that cannot be taken apart".to_owned());
        };
        let site = self.notes.site(kind, expr.span, self.array(expr));
        let name = wrapper(kind);
        if !*arrow {
            return self.edits.wrap(inner, format!("::raceproof::{name}({site}, "), ")");
        }
        if let Some(operator) = self.tokens.find(inner.end..range.end, "->") {
            self.edits.replace(operator..operator + 1, ".");
            self.edits.wrap(inner, format!("::raceproof::{name}({site}, *("), "))");
        }
    }

    fn access_bits_of_this(&mut self, expr: &Expr, usage: Use) {
        let Some(kind) = usage.site().filter(|_| self.within.is_on_device()) else { return };
        let Some(range) = self.tokens.range(expr.span) else {
            return self.notes.leave_out(expr.span, "access in a macro that cannot be taken apart".to_owned());
        };
        let site = self.notes.site(kind, expr.span, self.array(expr));
        self.edits.wrap(range, format!("::raceproof::{}({site}, *this).", wrapper(kind)), "");
    }

    /// What is accessed, as the user wrote it: without indices and parts.
    pub(super) fn array(&self, expr: &Expr) -> String {
        let mut inner = expr;
        loop {
            inner = match &inner.kind {
                ExprKind::Index(base, _)
                | ExprKind::Unary(UnaryOp::Deref | UnaryOp::AddressOf, base)
                | ExprKind::Cast(_, _, base) => base,
                ExprKind::Member { object, arrow: false, .. } => object,
                ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, left, right) => match self.shape(right) {
                    Shape::Array(_) | Shape::Pointer(_) => right,
                    _ => left,
                },
                _ => break,
            };
        }
        let Some(range) = self.tokens.range(inner.span) else { return String::new() };
        let text = self.tokens.join(range);
        let text = text.strip_prefix('(').and_then(|it| it.strip_suffix(')')).unwrap_or(&text);
        text.chars().take(MOST_CHARACTERS).collect()
    }

    /// Whether a local name is a variable of the thread.
    pub(super) fn is_local(&self, name: &str) -> bool {
        self.scopes.find(name).is_some_and(|local| matches!(local.home, Home::Own | Home::Memory))
    }
}

/// Longest text of an array in the table.
const MOST_CHARACTERS: usize = 120;
