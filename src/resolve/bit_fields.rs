//! Bit-fields as operands (C++17, [conv.prom] paragraph 5): one that `int` holds is promoted to `int`, whatever its type.
//!
//! What denotes a bit-field: a member, an assignment to one, `++x.a`, `(e, x.a)`. A cast to the very type ends that.
//!
//! Deliberately absent: `c ? x.a : x.b`, which by the standard promotes and in compilers does not.

use super::context::{Resolver, expr};
use super::program::{Expr, ExprKind, Type, TypeId};
use crate::source::Span;

impl Resolver<'_> {
    /// How many bits the bit-field has that an expression denotes or was read from.
    fn bits_of(&self, value: &Expr) -> Option<u32> {
        match &value.kind {
            ExprKind::Field(object, index) => match self.types[object.ty] {
                Type::Record(record) => self.records[record].fields.get(*index)?.bits,
                _ => None,
            },
            ExprKind::Load(object)
            | ExprKind::Assign(object, _)
            | ExprKind::CompoundAssign { target: object, .. }
            | ExprKind::Step { target: object, postfix: false, .. }
            | ExprKind::Comma(_, object) => self.bits_of(object),
            _ => None,
        }
    }

    /// The type that arithmetic on an operand starts with: of a bit-field the promoted one.
    pub(super) fn operand_type(&self, value: &Expr) -> TypeId {
        let ty = self.types.plain(value.ty);
        match (self.types[ty].clone(), self.bits_of(value)) {
            (Type::Int { .. }, Some(_)) if self.types.behind_enumeration(ty).is_some() => ty,
            (Type::Int { signed, .. }, Some(bits)) if bits < 32 || bits == 32 && signed => self.types.common.int,
            (Type::Int { .. }, Some(32)) => self.types.common.uint,
            _ => ty,
        }
    }

    /// A loaded operand of arithmetic, promoted if it is a bit-field.
    pub(super) fn operand(&mut self, value: Expr) -> Expr {
        if let ExprKind::Conditional(_, then, otherwise) = &value.kind
            && [then, otherwise]
                .iter()
                .any(|arm| self.types.promoted(self.operand_type(arm)) != self.types.promoted(arm.ty))
        {
            let (span, reason) = (value.span, "arithmetic on one of two bit-fields".to_owned());
            return self.unsupported_with(span, reason, vec![value]);
        }
        let to = self.operand_type(&value);
        self.convert(value, to)
    }

    /// A value that is no bit-field any more: what a cast makes of it, or what it initialises.
    pub(super) fn no_bit_field(&mut self, value: Expr, span: Span) -> Expr {
        if self.bits_of(&value).is_none() {
            return value;
        }
        let value = self.load(value);
        let ty = value.ty;
        expr(ExprKind::Convert(Box::new(value)), ty, span)
    }
}
