//! Complex numbers of Thrust and of libcu++: their parts, and what operators and functions make of them.
//!
//! What is computed is not told: each part of a result is some function of all parts of all operands.
//!
//! Deliberately absent: assignment to one part (`z.real(x)`), comparison beyond equality, `std::complex` of the host.

use super::context::{Resolver, expr};
use super::program::{Expr, ExprKind, Type, TypeId};
use super::unknown_call::is_repeatable;
use crate::builtins::Builtin;
use crate::builtins::structures::{self, COMPLEX, OfComplex};
use crate::source::Span;

impl Resolver<'_> {
    /// The type of the parts of a complex number.
    pub(super) fn part_of_complex(&self, ty: TypeId) -> Option<TypeId> {
        let Type::Record(record) = self.types[ty] else { return None };
        let is_complex = self.records.decls[self.records.origins[record.index()].0].name == COMPLEX;
        is_complex.then(|| self.records[record].fields.first().map(|field| field.ty)).flatten()
    }

    /// An operator on complex numbers, or on one and a real number.
    pub(super) fn complex_operator(&mut self, name: &str, args: &[Expr], span: Span) -> Option<Expr> {
        let ty = self.complex_among(args)?;
        let target = args.first()?;
        match name.strip_prefix("operator")? {
            "+" | "-" | "*" | "/" => Some(self.made_of(name, args, ty, span)),
            "==" | "!=" => Some(self.made_of(name, args, self.types.common.bool, span)),
            "+=" | "-=" | "*=" | "/="
                if self.types.plain(target.ty) == ty && self.is_object(target) && is_repeatable(target) =>
            {
                let value = self.made_of(name.trim_end_matches('='), args, ty, span);
                Some(self.store(target.clone(), value, span))
            }
            "=" if self.types.plain(target.ty) == ty && self.is_object(target) => {
                let [_, value] = args else { return None };
                let value = self.load(value.clone());
                let value = if value.ty == ty {
                    value
                } else {
                    self.construct_record(ty, vec![value], super::classes::Asked::Written, span)
                };
                Some(self.store(target.clone(), value, span))
            }
            _ => None,
        }
    }

    /// `z.real()`, `z.imag()`
    pub(super) fn complex_part(&mut self, object: &Expr, name: &str, args: &[Expr], span: Span) -> Option<Expr> {
        self.part_of_complex(object.ty)?;
        let Type::Record(record) = self.types[object.ty] else { return None };
        let part = ["real", "imag"].iter().position(|part| *part == name).filter(|_| args.is_empty())?;
        Some(self.field(object.clone(), record, part, span))
    }

    /// `thrust::conj(z)`, `thrust::abs(z)`
    pub(super) fn complex_function(&mut self, name: &str, args: &[Expr], span: Span) -> Option<Expr> {
        let short = name.strip_prefix("thrust::").or_else(|| name.strip_prefix("cuda::std::"))?;
        let ty = self.complex_among(args)?;
        let result = match structures::of_complex(short)? {
            OfComplex::Complex => ty,
            OfComplex::Real => self.part_of_complex(ty)?,
        };
        Some(self.made_of(name, args, result, span))
    }

    /// The type of the first complex number among operands that are numbers.
    fn complex_among(&self, args: &[Expr]) -> Option<TypeId> {
        let are_numbers =
            args.iter().all(|it| self.types.is_arithmetic(it.ty) || self.part_of_complex(it.ty).is_some());
        let complex = args.iter().map(|argument| argument.ty).find(|&ty| self.part_of_complex(ty).is_some());
        complex.filter(|_| are_numbers)
    }

    fn made_of(&mut self, name: &str, args: &[Expr], ty: TypeId, span: Span) -> Expr {
        let args = args.iter().map(|argument| self.load(argument.clone())).collect();
        expr(ExprKind::Builtin(Builtin::Pure, name.to_owned(), args), ty, span)
    }
}
