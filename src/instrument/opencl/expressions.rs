//! Expressions: which of them denote memory, and what happens to it.

use super::types::Shape;
use super::{Home, Translator};
use crate::instrument::expressions::Use;
use crate::instrument::sites::SiteKind;
use crate::syntax::{BinaryOp, Expr, ExprKind, Path, UnaryOp};

/// Longest text of an array in the table.
const MOST_CHARACTERS: usize = 120;

/// The kind of an access, as the runtime numbers it.
pub(super) fn number(kind: SiteKind) -> u8 {
    match kind {
        SiteKind::Read => 0,
        SiteKind::Write => 1,
        SiteKind::ReadWrite => 2,
        SiteKind::Atomic => 4,
    }
}

impl<'a> Translator<'a> {
    pub(super) fn expr(&mut self, expr: &'a Expr, usage: Use) {
        match &expr.kind {
            ExprKind::Path(path) => {
                if self.is_memory(path) {
                    self.access(expr, usage);
                }
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
            ExprKind::Binary(_, left, right) => {
                self.expr(left, Use::Read);
                self.expr(right, Use::Read);
            }
            ExprKind::Assign(op, target, value) => {
                self.expr(target, if op.is_some() { Use::ReadWrite } else { Use::Write });
                self.expr(value, Use::Read);
            }
            // In C these are values, whatever their parts are.
            ExprKind::Conditional(cond, yes, no) => {
                self.choice(cond);
                self.expr(cond, Use::Read);
                self.expr(yes, valued(usage));
                self.expr(no, valued(usage));
            }
            ExprKind::Comma(first, second) => {
                self.expr(first, Use::Discard);
                self.expr(second, valued(usage));
            }
            ExprKind::Call(callee, arguments) => self.call(expr, callee, arguments),
            ExprKind::Index(base, index) => self.index(expr, base, index, usage),
            ExprKind::Member { .. } => self.member(expr, usage),
            ExprKind::Cast(_, ty, value) => {
                let is_void = matches!(&ty.kind, crate::syntax::TypeKind::Builtin(name) if name == "void");
                self.expr(value, if is_void { Use::Discard } else { Use::Read });
            }
            ExprKind::Construct(_, values) => values.iter().for_each(|value| self.expr(value, Use::Read)),
            ExprKind::InitList(entries) => entries.iter().for_each(|(_, value)| self.expr(value, Use::Read)),
            ExprKind::Launch { .. } => self.notes.leave_out(expr.span, "launch in CUDA's syntax"),
            ExprKind::Lambda(_) => self.unsupported(expr.span, "lambda expression"),
            ExprKind::Statements(_) => self.unsupported(expr.span, "statement expression"),
            // OpenCL C has no packs.
            ExprKind::Expansion(_) | ExprKind::Fold(_) | ExprKind::SizeofPack(_) => {
                self.unsupported(expr.span, "pack expansion");
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
            | ExprKind::SizeofExpr(_) => {}
        }
    }

    /// The condition of `?:`, which may be a vector that chooses by lanes: only those that declarations show to be none are counted.
    fn choice(&mut self, cond: &'a Expr) {
        if !self.counts() {
            return;
        }
        if self.is_one_value(cond) {
            self.cover(|counters| counters.branch(cond, None));
        } else {
            self.notes.leave_uncounted(cond.span, "a condition of `?:` that may be a vector");
        }
    }

    /// Whether an expression is shown to be no vector.
    fn is_one_value(&self, expr: &'a Expr) -> bool {
        match &expr.kind {
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
                self.is_one_value(left) && self.is_one_value(right)
            }
            ExprKind::Unary(UnaryOp::Not, value) => self.is_one_value(value),
            _ => matches!(self.shape(expr), Shape::Scalar | Shape::Pointer(_)),
        }
    }

    fn index(&mut self, expr: &'a Expr, base: &'a Expr, index: &'a Expr, usage: Use) {
        match self.shape(base) {
            Shape::Vector(_) if usage != Use::Discard && !self.stays_own(base) => {
                self.notes.leave_out(expr.span, "lane of a vector in memory, chosen by an index");
                self.expr(base, Use::Place);
            }
            Shape::Vector(_) => self.expr(base, Use::Place),
            _ => {
                if !self.stays_own(expr) {
                    self.access(expr, usage);
                }
                self.pointer(base);
            }
        }
        self.expr(index, Use::Read);
    }

    fn member(&mut self, expr: &'a Expr, usage: Use) {
        let ExprKind::Member { object, arrow, .. } = &expr.kind else { return };
        if let Some(part) = self.part(expr) {
            return self.access_lanes(expr, &part, usage);
        }
        if !self.stays_own(expr) {
            self.access(expr, usage);
        }
        if *arrow { self.pointer(object) } else { self.expr(object, Use::Place) }
    }

    /// What is indexed or dereferenced: a pointer is read, an array is only named.
    pub(super) fn pointer(&mut self, base: &'a Expr) {
        let usage = if matches!(self.shape(base), Shape::Array(_)) { Use::Place } else { Use::Read };
        self.expr(base, usage);
    }

    fn is_memory(&self, path: &Path) -> bool {
        let name = path.segments.last().map_or("", |last| last.name.text.as_str());
        self.find(name).is_some_and(|local| local.home == Home::Memory)
    }

    /// Whether an expression can only denote a variable of the work-item, or a part of one by name, or is a value.
    pub(super) fn stays_own(&self, expr: &'a Expr) -> bool {
        match &expr.kind {
            ExprKind::Path(path) => !self.is_memory(path),
            ExprKind::Index(base, _) => {
                matches!(self.shape(base), Shape::Array(_) | Shape::Vector(_)) && self.stays_own(base)
            }
            ExprKind::Member { object, arrow, .. } => !arrow && self.stays_own(object),
            ExprKind::Unary(UnaryOp::Deref, _)
            | ExprKind::Unsupported(_)
            | ExprKind::Lambda(_)
            | ExprKind::Statements(_) => false,
            _ => true,
        }
    }

    /// The shape of the object or value that an expression denotes, as far as declarations say.
    pub(super) fn shape(&self, expr: &'a Expr) -> Shape<'a> {
        match &expr.kind {
            ExprKind::Path(path) => {
                let name = path.segments.last().map_or("", |last| last.name.text.as_str());
                self.find(name).map_or(Shape::Unknown, |local| local.shape.clone())
            }
            ExprKind::Index(base, index) => match self.shape(base) {
                // `2[a]`
                Shape::Scalar => self.shape(index).inside(),
                shape => shape.inside(),
            },
            ExprKind::Unary(UnaryOp::Deref, pointer) => self.shape(pointer).inside(),
            ExprKind::Unary(UnaryOp::AddressOf, object) => Shape::Pointer(self.shape(object).into()),
            ExprKind::Unary(_, value)
            | ExprKind::Postfix(_, value)
            | ExprKind::Assign(_, value, _)
            | ExprKind::Comma(_, value) => self.shape(value),
            ExprKind::Member { .. } => self.shape_of_member(expr),
            ExprKind::Cast(_, ty, _) | ExprKind::Construct(ty, _) => self.types.shape(ty),
            ExprKind::Conditional(_, yes, no) => match self.shape(yes) {
                Shape::Unknown => self.shape(no),
                known => known,
            },
            ExprKind::Binary(op, left, right) => self.shape_of_operation(*op, left, right),
            ExprKind::Call(callee, arguments) => self.shape_of_call(callee, arguments),
            ExprKind::Int { .. } | ExprKind::Float(_) | ExprKind::Char(..) | ExprKind::SizeofType(_) => Shape::Scalar,
            _ => Shape::Unknown,
        }
    }

    fn shape_of_member(&self, expr: &'a Expr) -> Shape<'a> {
        let ExprKind::Member { object, arrow, member } = &expr.kind else { return Shape::Unknown };
        let whole = self.shape(object);
        match if *arrow { whole.inside() } else { whole } {
            Shape::Fields(record) => {
                self.types.field(record, &member.name.text).map_or(Shape::Unknown, |ty| self.types.shape(ty))
            }
            Shape::Vector(lanes) => match super::lanes::lanes(&member.name.text, lanes).map(|found| found.len()) {
                Some(1) => Shape::Scalar,
                Some(count) => Shape::Vector(count as u8),
                None => Shape::Unknown,
            },
            _ => Shape::Unknown,
        }
    }

    fn shape_of_operation(&self, op: BinaryOp, left: &'a Expr, right: &'a Expr) -> Shape<'a> {
        match (self.shape(left), self.shape(right)) {
            (Shape::Array(inner) | Shape::Pointer(inner), _) | (_, Shape::Array(inner) | Shape::Pointer(inner))
                if matches!(op, BinaryOp::Add | BinaryOp::Sub) =>
            {
                Shape::Pointer(inner)
            }
            (Shape::Vector(lanes), _) | (_, Shape::Vector(lanes)) => Shape::Vector(lanes),
            (Shape::Scalar, Shape::Scalar) => Shape::Scalar,
            _ => Shape::Unknown,
        }
    }

    /// Wraps an access with its site.
    fn access(&mut self, expr: &'a Expr, usage: Use) {
        let Some(kind) = usage.site().filter(|_| !self.counts() && !matches!(self.shape(expr), Shape::Array(_))) else {
            return;
        };
        let Some(range) = self.tokens.range(expr.span) else {
            return self.notes.leave_out(expr.span, "access in a macro that cannot be taken apart");
        };
        let site = self.notes.site(kind, expr.span, self.array(expr));
        self.edits.wrap(range, format!("RACEPROOF_OBJECT({site}, {}, (", number(kind)), "))");
    }

    /// What is accessed, as the user wrote it: without indices and parts.
    pub(super) fn array(&self, expr: &'a Expr) -> String {
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
}

/// The use of what gives the value of an expression that is no place itself.
fn valued(usage: Use) -> Use {
    if usage == Use::Discard { Use::Discard } else { Use::Read }
}
