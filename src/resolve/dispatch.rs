//! Virtual functions: which one a call runs depends on the class that its object was made as.
//!
//! It is known where the call names the class (`Base::f()`), where nothing overrides a function that is `final`, and where the
//! object is seen as what it was made as: a variable, a part of another object, a value. Everywhere else the call is not
//! understood.
//!
//! Deliberately absent: following where pointers and references come from.

use super::call::functions_of;
use super::context::Resolver;
use super::entities::FunctionDecl;
use super::program::{Expr, ExprKind, RecordId, Type};
use super::record_table::has_final;
use super::records::is_marked_virtual;
use crate::syntax;

/// Bases of bases beyond which nothing is looked for.
const DEPTH: usize = 16;

/// How a call chooses among the functions that override one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dispatch {
    /// By the class that the call names.
    Named,
    /// By the object.
    ByObject,
}

impl<'u> Resolver<'u> {
    /// Whether a call of a method on that object may run a function of a derived class.
    pub(super) fn may_be_overridden(&self, decl: FunctionDecl<'u>, object: Option<&Expr>) -> bool {
        let (Some(record), Some(last)) = (decl.record, decl.syntax.path.segments.last()) else { return false };
        let (name, params) = (last.name.text.as_str(), decl.syntax.params.len());
        let is_exact = object.is_some_and(|object| self.is_seen_as_made(object));
        let is_last = object.is_some_and(|object| match self.types[object.ty] {
            Type::Record(record) => self.records.is_final_class(record),
            _ => false,
        });
        !is_exact && !is_last && self.is_virtual(name, params, record, 0) && !self.is_final(name, params, record)
    }

    /// Whether a method of that name is virtual in a record, by its own declarations or because it overrides one of a base.
    fn is_virtual(&self, name: &str, params: usize, record: RecordId, depth: usize) -> bool {
        let bases = &self.records.bases[record.index()];
        self.declarations(name, params, record).into_iter().any(is_marked_virtual)
            || depth < DEPTH && bases.iter().any(|&(base, _)| self.is_virtual(name, params, base, depth + 1))
    }

    /// All declarations of a method in its record: a definition outside does not repeat what the class says.
    fn declarations(&self, name: &str, params: usize, record: RecordId) -> Vec<&'u syntax::Function> {
        let scope = self.records.scopes[record.index()];
        let entities = self.scopes[scope.0].names.get(name).map(Vec::as_slice).unwrap_or(&[]);
        let functions = functions_of(entities).into_iter().map(|decl| decl.syntax);
        functions.filter(|other| other.params.len() == params).collect()
    }

    /// Whether no class can override a method.
    fn is_final(&self, name: &str, params: usize, record: RecordId) -> bool {
        self.records.is_final_class(record)
            || self.declarations(name, params, record).into_iter().any(|other| has_final(&other.qualifiers))
    }

    /// Whether an object is named by the class that it was made as.
    fn is_seen_as_made(&self, object: &Expr) -> bool {
        match &object.kind {
            ExprKind::Variable(_) | ExprKind::Field(..) | ExprKind::Element(..) => true,
            ExprKind::Assign(target, _) => self.is_seen_as_made(target),
            ExprKind::Deref(pointer) => match (&pointer.kind, &self.types[pointer.ty]) {
                (ExprKind::AddressOf(object), Type::Pointer { to, .. }) => {
                    self.types.is_alike(object.ty, *to) && self.is_seen_as_made(object)
                }
                _ => false,
            },
            _ => !self.is_object(object),
        }
    }
}
