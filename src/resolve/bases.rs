//! Base classes as parts of objects: where they lie, and what a pointer to an object is as a pointer to one of its bases.
//!
//! Deliberately absent: virtual bases, of which only the object itself knows the place.

use super::context::{Resolver, expr};
use super::program::{Expr, ExprKind, Type, TypeId};
use super::record_table::BasePlace;
use super::unknown_call::is_repeatable;
use crate::source::Span;

impl Resolver<'_> {
    /// Whether a type is a class that is derived from another.
    pub(super) fn is_derived(&self, ty: TypeId, base: TypeId) -> bool {
        match (&self.types[ty], &self.types[base]) {
            (Type::Record(record), Type::Record(base)) => {
                record != base && self.records.base_place(*record, *base).is_some()
            }
            _ => false,
        }
    }

    /// The part of an object that one of its bases is, as an object; `None` if the type is no base.
    pub(super) fn base_part(&mut self, value: Expr, base: TypeId) -> Option<Expr> {
        if !self.is_derived(value.ty, base) {
            return None;
        }
        let base = if self.types.is_const(value.ty) { self.types.with_const(base) } else { base };
        let is_given_up = self.types.is_given_up(&value) || !self.is_object(&value);
        let address = self.address_of_any(value);
        let to = self.types.pointer(base, None);
        let address = self.convert(address, to);
        let part = self.deref(address);
        Some(if is_given_up { self.given_up(part) } else { part })
    }

    /// A pointer to an object as a pointer to a base of it, or the other way round, where the two differ; `None` where they
    /// are the same address.
    pub(super) fn moved_to_base(&mut self, pointer: &Expr, to: TypeId) -> Option<Expr> {
        let (Type::Pointer { to: from, .. }, &Type::Pointer { to: into, .. }) =
            (self.types[pointer.ty].clone(), &self.types[to])
        else {
            return None;
        };
        let (&Type::Record(source), &Type::Record(target)) = (&self.types[from], &self.types[into]) else {
            return None;
        };
        let (place, is_up) = match self.records.base_place(source, target) {
            Some(place) => (place, true),
            None => (self.records.base_place(target, source)?, false),
        };
        let span = pointer.span;
        match place {
            BasePlace::At(0) => None,
            BasePlace::At(offset) => {
                let offset = i128::from(offset);
                Some(self.moved_by(pointer.clone(), if is_up { offset } else { -offset }, to, span))
            }
            BasePlace::Unknown => {
                let (from, into) = (self.type_name(from), self.type_name(into));
                let reason = format!("place of {into} in {from}, which is not known");
                let mut result = self.unsupported_with(span, reason, vec![pointer.clone()]);
                result.ty = to;
                Some(result)
            }
        }
    }

    /// A pointer moved by bytes; the null pointer stays what it is.
    fn moved_by(&mut self, pointer: Expr, offset: i128, to: TypeId, span: Span) -> Expr {
        let is_object = self.is_never_null(&pointer);
        if !is_object && !is_repeatable(&pointer) {
            let reason = "conversion of a pointer to a base that is not the first".to_owned();
            let mut result = self.unsupported_with(span, reason, vec![pointer]);
            result.ty = to;
            return result;
        }
        let bytes = self.types.pointer(self.types.common.char, None);
        let start = expr(ExprKind::Convert(Box::new(pointer.clone())), bytes, span);
        let offset = expr(ExprKind::Int(offset), self.types.common.long, span);
        let moved = expr(ExprKind::PointerAdd(Box::new(start), Box::new(offset)), bytes, span);
        let moved = expr(ExprKind::Convert(Box::new(moved)), to, span);
        if is_object {
            return moved;
        }
        let is_set = expr(ExprKind::Convert(Box::new(pointer)), self.types.common.bool, span);
        let null = expr(ExprKind::Null, to, span);
        expr(ExprKind::Conditional(Box::new(is_set), Box::new(moved), Box::new(null)), to, span)
    }

    /// Whether a pointer leads to an object for sure: it is the address of one, `this`, or a reference.
    fn is_never_null(&self, pointer: &Expr) -> bool {
        match &pointer.kind {
            ExprKind::AddressOf(_) | ExprKind::PointerAdd(..) => true,
            ExprKind::Convert(inner) | ExprKind::Comma(_, inner) => self.is_never_null(inner),
            ExprKind::Load(object) => match object.kind {
                ExprKind::Variable(variable) => {
                    self.variables[variable].is_reference || self.frame.this == Some(variable)
                }
                _ => false,
            },
            _ => false,
        }
    }
}
