//! All types of a program: one handle for each, and what is known of them beside their content.
//!
//! Guarantees: types that [`Types::intern`] gives have one handle if their content is equal; the others
//! ([`super::qualified`]) are types of their own.
//!
//! Deliberately absent: records, of which only the handles stand here, and types as they are written
//! ([`super::types`]).

use super::program::{AddressSpace, Type, TypeId};
use super::qualified::Qualified;
use crate::arena::Arena;
use crate::builtins::types::{NamedType, Scalar, named_type};
use crate::source::Language;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Index;

/// The result and the parameters of a function; references are pointers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Signature {
    pub(super) result: TypeId,
    pub(super) returns_reference: bool,
    pub(super) params: Vec<TypeId>,
    /// Whether it is `noexcept`, which is part of the type ([dcl.fct]).
    pub(super) never_throws: bool,
}

/// All types of a program.
pub(super) struct Types {
    pub(super) language: Language,
    all: Arena<Type>,
    interned: FxHashMap<Type, TypeId>,
    /// What is known of types beside their content.
    pub(super) qualified: Qualified,
    /// Types of functions, by result and parameters, and the results by type.
    pub(super) function_types: FxHashMap<Signature, TypeId>,
    pub(super) signatures: FxHashMap<TypeId, Signature>,
    /// Those that stand for parameters of host templates which nothing gives.
    pub(super) open: FxHashSet<TypeId>,
    /// Those that nothing in the unit declares and no library is known to.
    pub(super) undeclared: FxHashSet<TypeId>,
    /// Those of these that are taken for numbers.
    pub(super) numbers: FxHashSet<TypeId>,
    /// Those that are needed everywhere.
    pub(super) common: Common,
}

impl Index<TypeId> for Types {
    type Output = Type;

    fn index(&self, ty: TypeId) -> &Type {
        &self.all[ty]
    }
}

/// Types that are needed everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    pub(crate) void: TypeId,
    pub(crate) bool: TypeId,
    pub(crate) char: TypeId,
    pub(crate) int: TypeId,
    pub(crate) uint: TypeId,
    pub(crate) long: TypeId,
    pub(crate) ulong: TypeId,
    pub(crate) long_long: TypeId,
    pub(crate) unsigned_long_long: TypeId,
    pub(crate) signed_char: TypeId,
    /// `wchar_t`
    pub(crate) wide: TypeId,
    /// `char16_t`
    pub(crate) utf16: TypeId,
    /// `char32_t`
    pub(crate) utf32: TypeId,
    pub(crate) float: TypeId,
    pub(crate) double: TypeId,
    /// `dim3`: what it holds is that of `uint3`, but what makes one is not, and so it is a type of its own.
    pub(crate) dim3: TypeId,
    /// The type of what could not be typed.
    pub(crate) unknown: TypeId,
}

impl Types {
    /// Those that are needed everywhere, and no others.
    pub(super) fn new(language: Language) -> Self {
        let mut types = Arena::new();
        let mut interned = FxHashMap::default();
        let mut intern = |ty: Type| {
            let handle = types.push(ty.clone());
            interned.insert(ty, handle);
            handle
        };
        let int = |width, signed| Type::Int { width, signed };
        let void = intern(Type::Void);
        let uint = intern(int(32, false));
        let common = Common {
            void,
            // Named below.
            long_long: void,
            unsigned_long_long: void,
            signed_char: void,
            wide: void,
            utf16: void,
            utf32: void,
            bool: intern(Type::Bool),
            char: intern(int(8, true)),
            int: intern(int(32, true)),
            uint,
            long: intern(int(64, true)),
            ulong: intern(int(64, false)),
            float: intern(Type::Float { width: 32 }),
            double: intern(Type::Float { width: 64 }),
            dim3: uint,
            unknown: intern(Type::Unknown("unknown type".to_owned())),
        };
        // Not interned: no other type is it.
        let common = Common { dim3: types.push(Type::Vector { of: uint, lanes: 3 }), ..common };
        let mut made = Types {
            language,
            all: types,
            interned,
            qualified: Qualified::default(),
            function_types: FxHashMap::default(),
            signatures: FxHashMap::default(),
            open: FxHashSet::default(),
            undeclared: FxHashSet::default(),
            numbers: FxHashSet::default(),
            common,
        };
        made.name_integers();
        made
    }

    /// All of them.
    pub(super) fn all(&self) -> &Arena<Type> {
        &self.all
    }

    /// All of them, for the program.
    pub(super) fn into_all(self) -> Arena<Type> {
        self.all
    }

    /// Gives the integer types of C++ that share their content with another a handle of their own.
    fn name_integers(&mut self) {
        let Common { long, ulong, char, int, uint, .. } = self.common;
        let ushort = self.intern(Type::Int { width: 16, signed: false });
        let is_c = self.language == Language::OpenCl;
        let mut named = |ty| if is_c { ty } else { self.spelled(ty) };
        let (long_long, unsigned_long_long, signed_char) = (named(long), named(ulong), named(char));
        let (wide, utf16, utf32) = (named(int), named(ushort), named(uint));
        self.common.wide = wide;
        self.common.utf16 = utf16;
        self.common.utf32 = utf32;
        self.common.long_long = long_long;
        self.common.unsigned_long_long = unsigned_long_long;
        self.common.signed_char = signed_char;
    }

    /// The handle of a type.
    pub(super) fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(&known) = self.interned.get(&ty) {
            return known;
        }
        let handle = self.all.push(ty.clone());
        self.interned.insert(ty, handle);
        handle
    }

    /// A pointer type.
    pub(super) fn pointer(&mut self, to: TypeId, space: Option<AddressSpace>) -> TypeId {
        self.intern(Type::Pointer { to, space })
    }

    /// A type of that name that is not modelled.
    pub(super) fn unknown(&mut self, name: impl Into<String>) -> TypeId {
        self.intern(Type::Unknown(name.into()))
    }

    /// Whether it is a pointer.
    pub(super) fn is_pointer(&self, ty: TypeId) -> bool {
        matches!(self[ty], Type::Pointer { .. })
    }

    /// Whether pointers to functions of the one type become pointers to the other ([conv.fctptr]).
    pub(super) fn drops_noexcept(&self, from: TypeId, to: TypeId) -> bool {
        let (Some(from), Some(to)) = (self.signatures.get(&from), self.signatures.get(&to)) else { return false };
        from.never_throws && *to == Signature { never_throws: false, ..from.clone() }
    }

    /// The type of the functions that a pointer points to.
    pub(super) fn function_behind(&self, pointer: TypeId) -> TypeId {
        match self[pointer] {
            Type::Pointer { to, .. } => to,
            _ => pointer,
        }
    }

    /// A type with the content of another that is a type of its own.
    pub(super) fn distinct(&mut self, content: TypeId) -> TypeId {
        let content = self[content].clone();
        self.all.push(content)
    }

    /// The address space that a pointer's type states.
    pub(super) fn space_of_pointer(&self, ty: TypeId) -> Option<AddressSpace> {
        match self[ty] {
            Type::Pointer { space, .. } => space,
            _ => None,
        }
    }

    /// The pointer type, or array of pointers, with the space of what it points to in the end; `None` if it
    /// is no pointer.
    pub(super) fn with_pointee_space(&mut self, ty: TypeId, space: AddressSpace) -> Option<TypeId> {
        match self[ty].clone() {
            Type::Pointer { to, space: stated } => match self.with_pointee_space(to, space) {
                Some(to) => Some(self.pointer(to, stated)),
                None => Some(self.pointer(to, Some(space))),
            },
            Type::Array { of, len } => {
                let of = self.with_pointee_space(of, space)?;
                Some(self.intern(Type::Array { of, len }))
            }
            _ => None,
        }
    }

    /// The type that the language or its headers give a name, or the normalised words of one.
    pub(super) fn builtin_type(&mut self, words: &str) -> Option<TypeId> {
        let named = named_type(self.language, words)?;
        Some(match words {
            "long long" => self.common.long_long,
            "unsigned long long" => self.common.unsigned_long_long,
            "signed char" => self.common.signed_char,
            "wchar_t" => self.common.wide,
            "char16_t" => self.common.utf16,
            "char32_t" => self.common.utf32,
            _ => self.named(named),
        })
    }

    /// The handle of a type that the language or its headers name.
    pub(super) fn named(&mut self, named: NamedType) -> TypeId {
        match named {
            NamedType::Void => self.common.void,
            NamedType::Scalar(scalar) => self.scalar(scalar),
            NamedType::Vector(lane, lanes) => {
                let of = self.scalar(lane);
                self.intern(Type::Vector { of, lanes })
            }
            NamedType::Extents => self.common.dim3,
        }
    }

    /// The handle of a scalar type.
    pub(super) fn scalar(&mut self, scalar: Scalar) -> TypeId {
        self.intern(match scalar {
            Scalar::Bool => Type::Bool,
            Scalar::Int { width, signed } => Type::Int { width, signed },
            Scalar::Float { width } => Type::Float { width },
        })
    }
}
