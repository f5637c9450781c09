//! Types that are not the same although their values are: what `const` and references add, enumerations beside their
//! integers, `long long` beside `long`.
//!
//! A [`TypeId`] says which type it is, its [`Type`] what its values look like. Handles of which only the identity differs
//! have equal content, so that whoever reads the content (layout, conversions, every later room) need not know of this.
//! Overloads, template arguments and specialisations compare handles.
//!
//! Guarantees: a value has a plain type. Only objects, what pointers point to and template arguments are qualified; an
//! object whose type is an rvalue reference is one that is given up (`std::move(x)`).
//!
//! Deliberately absent: `volatile`, and OpenCL C, in which nothing is chosen by these.

use super::entities::ScopeId;
use super::program::{AddressSpace, Expr, Type, TypeId};
use super::type_table::Types;
use crate::source::Language;
use crate::syntax::Binding;
use rustc_hash::{FxHashMap, FxHashSet};

/// What a declaration adds to a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Quality {
    Const,
    /// A member that `const` objects have, too.
    Mutable,
    Reference(Binding),
}

/// A type with what declarations make of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    /// The type; of a reference, the type of the object.
    pub(crate) ty: TypeId,
    /// Whether it is a reference.
    pub(crate) is_reference: bool,
    /// What a reference binds to.
    pub(crate) binding: Option<Binding>,
    /// Whether its outermost level is `const`.
    pub(crate) is_const: bool,
    /// Whether `volatile` stands anywhere in it.
    pub(crate) is_volatile: bool,
    /// The address space of its outermost level.
    pub(crate) space: Option<AddressSpace>,
    /// The values that the language lets it have, where they are fewer than those of the type: an enumeration's.
    pub(crate) range: Option<(i128, i128)>,
}

impl Written {
    /// A type without qualifiers.
    pub(super) fn plain(ty: TypeId) -> Written {
        Written {
            ty,
            is_reference: false,
            binding: None,
            is_const: false,
            is_volatile: false,
            space: None,
            range: None,
        }
    }
}

/// The types that are known by more than their content.
#[derive(Debug, Default)]
pub(super) struct Qualified {
    made: FxHashMap<(TypeId, Quality), TypeId>,
    /// What a qualified type is made of.
    parts: FxHashMap<TypeId, (TypeId, Quality)>,
    /// The integer type behind an enumeration, and whether its values are converted without a cast.
    enumerations: FxHashMap<TypeId, (TypeId, bool)>,
    /// Where enumerations are declared.
    homes: FxHashMap<TypeId, ScopeId>,
    /// The integer types that are spelled otherwise than the one of the same content that [`Types::intern`] gives.
    spelled: FxHashSet<TypeId>,
    /// Types that stand for parameters of templates.
    placeholders: Vec<TypeId>,
}

impl Types {
    /// The type of what a variable holds: of a reference, a pointer.
    pub(super) fn held_type(&mut self, written: Written) -> TypeId {
        if !written.is_reference {
            return written.ty;
        }
        let to = self.object_type(written);
        self.pointer(to, written.space)
    }

    fn with_quality(&mut self, ty: TypeId, quality: Quality) -> TypeId {
        if let Some(&known) = self.qualified.made.get(&(ty, quality)) {
            return known;
        }
        let made = self.distinct(ty);
        self.qualified.made.insert((ty, quality), made);
        self.qualified.parts.insert(made, (ty, quality));
        made
    }

    /// `const T`; of an array, its elements are.
    pub(super) fn with_const(&mut self, ty: TypeId) -> TypeId {
        if self.language == Language::OpenCl || self.qualified.parts.contains_key(&ty) {
            return ty;
        }
        match self[ty] {
            Type::Void | Type::Unknown(_) => ty,
            Type::Array { of, len } => {
                let of = self.with_const(of);
                self.intern(Type::Array { of, len })
            }
            _ => self.with_quality(ty, Quality::Const),
        }
    }

    /// The type of a `mutable` member, to which `const` of its object adds nothing.
    pub(super) fn as_mutable(&mut self, ty: TypeId) -> TypeId {
        if self.language == Language::OpenCl { ty } else { self.with_quality(ty, Quality::Mutable) }
    }

    /// `T &` or `T &&`, as an argument of a template may be.
    pub(super) fn with_reference(&mut self, ty: TypeId, binding: Binding) -> TypeId {
        match self.qualified.parts.get(&ty) {
            // A reference to an lvalue reference is one.
            Some(&(of, Quality::Reference(Binding::Rvalue))) if binding == Binding::Lvalue => {
                self.with_quality(of, Quality::Reference(binding))
            }
            Some((_, Quality::Reference(_))) => ty,
            _ if ty == self.common.unknown => ty,
            _ => self.with_quality(ty, Quality::Reference(binding)),
        }
    }

    /// The type without references and `const` on its outermost level.
    pub(super) fn plain(&self, ty: TypeId) -> TypeId {
        let mut ty = ty;
        while let Some(&(of, _)) = self.qualified.parts.get(&ty) {
            ty = of;
        }
        ty
    }

    /// What a reference refers to, and what it binds to; other types as they are.
    pub(super) fn referred(&self, ty: TypeId) -> (TypeId, Option<Binding>) {
        match self.qualified.parts.get(&ty) {
            Some(&(of, Quality::Reference(binding))) => (of, Some(binding)),
            _ => (ty, None),
        }
    }

    /// Whether objects of the type cannot be changed.
    pub(super) fn is_const(&self, ty: TypeId) -> bool {
        match self.qualified.parts.get(&ty) {
            Some((_, Quality::Const)) => true,
            Some((_, Quality::Mutable)) => false,
            Some(&(of, Quality::Reference(_))) => self.is_const(of),
            None => match self[ty] {
                Type::Array { of, .. } => self.is_const(of),
                _ => false,
            },
        }
    }

    /// Whether an object is given up, so that an rvalue reference binds to it.
    pub(super) fn is_given_up(&self, object: &Expr) -> bool {
        matches!(self.qualified.parts.get(&object.ty), Some((_, Quality::Reference(Binding::Rvalue))))
    }

    /// The type of an object that is given up.
    pub(super) fn given_up(&mut self, ty: TypeId) -> TypeId {
        let (of, _) = self.referred(ty);
        self.with_quality(of, Quality::Reference(Binding::Rvalue))
    }

    /// An object that has been given a name, which is given up no more.
    pub(super) fn as_named(&self, object: Expr) -> Expr {
        let (of, _) = self.referred(object.ty);
        Expr { ty: of, ..object }
    }

    /// What a declaration of a template's argument stands for.
    pub(super) fn written_as(&self, ty: TypeId) -> Written {
        let (of, binding) = self.referred(ty);
        let is_const = matches!(self.qualified.parts.get(&of), Some((_, Quality::Const)));
        Written { is_reference: binding.is_some(), binding, is_const, ..Written::plain(self.plain(of)) }
    }

    /// The type of an argument of a template that is written so.
    pub(super) fn argument_type(&mut self, written: Written) -> TypeId {
        let ty = self.object_type(written);
        match (written.is_reference, self.language) {
            (true, Language::Cuda) => self.with_reference(ty, written.binding.unwrap_or(Binding::Lvalue)),
            _ => ty,
        }
    }

    /// The type of the objects that a declaration speaks of: of a reference, what it refers to.
    pub(super) fn object_type(&mut self, written: Written) -> TypeId {
        if written.is_const { self.with_const(written.ty) } else { written.ty }
    }

    /// Whether two types are the same but for `const`, on whatever level.
    pub(super) fn is_alike(&self, a: TypeId, b: TypeId) -> bool {
        let (mut a, mut b) = (self.plain(a), self.plain(b));
        loop {
            if a == b {
                return true;
            }
            match (&self[a], &self[b]) {
                (Type::Pointer { to: one, space: of_one }, Type::Pointer { to: other, space: of_other })
                    if of_one == of_other =>
                {
                    (a, b) = (self.plain(*one), self.plain(*other));
                }
                (Type::Array { of: one, len: of_one }, Type::Array { of: other, len: of_other })
                    if of_one == of_other =>
                {
                    (a, b) = (self.plain(*one), self.plain(*other));
                }
                _ => return false,
            }
        }
    }

    /// Whether it is a pointer to what cannot be changed through it.
    pub(super) fn points_to_const(&self, ty: TypeId) -> bool {
        matches!(self[ty], Type::Pointer { to, .. } if self.is_const(to))
    }

    /// The type of an enumeration with that integer type behind it, which is declared in a scope.
    pub(super) fn enumeration(&mut self, integer: TypeId, is_scoped: bool, home: ScopeId) -> TypeId {
        // The constants of C are integers.
        if self.language == Language::OpenCl {
            return integer;
        }
        let made = self.distinct(integer);
        self.qualified.enumerations.insert(made, (integer, !is_scoped));
        self.qualified.homes.insert(made, home);
        made
    }

    /// The integer type behind an enumeration, and whether its values are converted without a cast.
    pub(super) fn behind_enumeration(&self, ty: TypeId) -> Option<(TypeId, bool)> {
        self.qualified.enumerations.get(&self.plain(ty)).copied()
    }

    /// The scope in which an enumeration is declared.
    pub(super) fn home_of_enumeration(&self, ty: TypeId) -> Option<ScopeId> {
        self.qualified.homes.get(&self.plain(ty)).copied()
    }

    /// An integer type of that content with a name of its own.
    pub(super) fn spelled(&mut self, content: TypeId) -> TypeId {
        let made = self.distinct(content);
        self.qualified.spelled.insert(made);
        made
    }

    /// A type that is no other, in place of a parameter of a template.
    pub(super) fn placeholder(&mut self, number: usize) -> TypeId {
        while self.qualified.placeholders.len() <= number {
            let made = self.distinct(self.common.int);
            self.qualified.placeholders.push(made);
        }
        self.qualified.placeholders[number]
    }

    /// Whether an integer type is another one than its content's first: `long long` and not `long`.
    pub(super) fn is_spelled(&self, ty: TypeId) -> bool {
        self.qualified.spelled.contains(&ty)
    }
}
