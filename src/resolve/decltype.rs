//! What `decltype` makes of an expression (C++17, [dcl.type.simple]): of a name and a member access what was declared, of
//! everything else a reference if it is an lvalue (`&`) or an xvalue (`&&`).
//!
//! Guarantees: a type that is given is the one that the standard says; what is not known of the category of a value makes
//! it one that is not known.
//!
//! Deliberately absent: members that are declared as references, of which it is not known what they bind to, and the categories of conditionals
//! of which one side has a place.

use super::context::Resolver;
use super::program::{Expr, ExprKind, Type};
use super::qualified::Written;
use crate::syntax::{self, Binding};

/// The type of `nullptr`, as the standard library names it.
pub(super) const NULL_TYPE: &str = "std::nullptr_t";

impl<'u> Resolver<'u> {
    /// `decltype(value)`
    pub(super) fn decltype(&mut self, value: &'u syntax::Expr) -> Written {
        let resolved = self.looked_at(value);
        self.declared_as(value, &resolved)
    }

    /// `decltype((value))`: the category of the value decides.
    pub(super) fn decltype_of_value(&mut self, value: &'u syntax::Expr) -> Written {
        match value.kind {
            syntax::ExprKind::Path(_) => {
                let resolved = self.looked_at(value);
                // A name that refers to something has a place.
                let resolved = self.types.as_named(resolved);
                match resolved.kind {
                    ExprKind::Function(_) => self.of_unknown_category(),
                    _ => self.of_category(&resolved),
                }
            }
            syntax::ExprKind::Member { .. } => {
                let resolved = self.looked_at(value);
                // A part of a value is given up, one that is a constant is not.
                if self.is_object(&resolved) { self.of_category(&resolved) } else { self.of_unknown_category() }
            }
            _ => self.decltype(value),
        }
    }

    /// An expression that is not evaluated.
    fn looked_at(&mut self, value: &'u syntax::Expr) -> Expr {
        let temporaries = self.frame.temporaries.len();
        let resolved = self.expr(value);
        self.frame.temporaries.truncate(temporaries);
        resolved
    }

    /// What `decltype` makes of an expression that has been resolved.
    pub(super) fn declared_as(&mut self, syntax: &'u syntax::Expr, value: &Expr) -> Written {
        match &syntax.kind {
            syntax::ExprKind::Path(_) => match self.named_reference(value) {
                // Names of references have been replaced by what these refer to.
                Some(binding) => self.referring(value, Some(binding)),
                None => match value.kind {
                    ExprKind::Variable(_) => self.referring(value, None),
                    ExprKind::Field(..) => self.of_member(value),
                    _ if is_reference_member(value) => self.of_unknown_category(),
                    // A function is no pointer to it.
                    ExprKind::Function(_) => Written::plain(self.types.function_behind(value.ty)),
                    _ => self.of_category(value),
                },
            },
            syntax::ExprKind::Member { .. } => match value.kind {
                ExprKind::Field(..) => self.of_member(value),
                _ if is_reference_member(value) => self.of_unknown_category(),
                _ => self.of_category(value),
            },
            syntax::ExprKind::Comma(_, last) => match last.kind {
                syntax::ExprKind::Conditional(..) | syntax::ExprKind::Comma(..) => self.of_unknown_category(),
                _ => self.decltype_of_value(last),
            },
            // The null pointer has a type of its own.
            syntax::ExprKind::Null => Written::plain(self.types.unknown(NULL_TYPE)),
            syntax::ExprKind::Conditional(_, then, otherwise) => {
                let has_place = [then, otherwise].into_iter().any(|side| {
                    let side = self.looked_at(side);
                    self.is_object(&side) || matches!(self.types[side.ty], Type::Record(_))
                });
                if has_place { self.of_unknown_category() } else { self.of_category(value) }
            }
            syntax::ExprKind::Cast(_, ty, _) => {
                let ty = self.resolve_type(ty);
                self.referring(value, ty.binding)
            }
            _ => self.of_category(value),
        }
    }

    /// The type of a value with the reference that its category asks for.
    fn of_category(&mut self, value: &Expr) -> Written {
        let value = match &value.kind {
            ExprKind::Comma(_, last) => last,
            _ => value,
        };
        let binding = match &value.kind {
            _ if self.types.is_given_up(value) => Some(Binding::Rvalue),
            _ if self.is_object(value) => Some(Binding::Lvalue),
            _ => None,
        };
        self.referring(value, binding)
    }

    fn referring(&self, value: &Expr, binding: Option<Binding>) -> Written {
        let plain = Written { is_const: self.types.is_const(value.ty), ..Written::plain(self.types.plain(value.ty)) };
        Written { is_reference: binding.is_some(), binding, ..plain }
    }

    /// What a member was declared as: that the object is `const` does not count.
    fn of_member(&self, value: &Expr) -> Written {
        let ExprKind::Field(object, field) = &value.kind else { return self.referring(value, None) };
        let Type::Record(record) = self.types[object.ty] else { return self.referring(value, None) };
        let declared = self.records[record].fields[*field].ty;
        Written { is_const: self.types.is_const(declared), ..Written::plain(self.types.plain(declared)) }
    }

    fn of_unknown_category(&mut self) -> Written {
        Written::plain(self.types.unknown("decltype of a value whose category is not known"))
    }

    /// How the variable was declared that a name stands for, if it is a reference.
    fn named_reference(&self, value: &Expr) -> Option<Binding> {
        let ExprKind::Deref(pointer) = &value.kind else { return None };
        let ExprKind::Load(variable) = &pointer.kind else { return None };
        let ExprKind::Variable(variable) = variable.kind else { return None };
        let is_rvalue = self.variables.rvalue_references.contains(&variable);
        self.variables[variable].is_reference.then_some(if is_rvalue { Binding::Rvalue } else { Binding::Lvalue })
    }
}

/// Whether an object is what a member refers to.
fn is_reference_member(value: &Expr) -> bool {
    let ExprKind::Deref(pointer) = &value.kind else { return false };
    matches!(&pointer.kind, ExprKind::Load(member) if matches!(member.kind, ExprKind::Field(..)))
}
