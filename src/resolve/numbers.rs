//! Numbers: which types they are, what they are promoted to, which type two of them have in common, and the types of
//! literals.
//!
//! Deliberately absent: conversions of values ([`super::conversion`]).

use super::program::{Type, TypeId};
use super::type_table::Types;
use crate::calculus::GeometryVar;
use crate::source::Language;
use crate::syntax::literals::CharacterType;

impl Types {
    /// Whether a type is `dim3`, whose lanes are ones where nothing says what they are.
    pub(super) fn is_dim3(&self, ty: TypeId) -> bool {
        self.plain(ty) == self.common.dim3
    }

    /// Whether no conversion leads from one type to the other. Of types that are not known nothing is claimed.
    pub(super) fn is_unlike(&self, from: TypeId, to: TypeId) -> bool {
        let is_whole = |ty: &Type| matches!(ty, Type::Record(_) | Type::Array { .. });
        match (&self[from], &self[to]) {
            (Type::Unknown(_), _) | (_, Type::Unknown(_) | Type::Void) => false,
            (Type::Void, _) => true,
            // Lanes are converted one by one, and a cast keeps the bits.
            (Type::Vector { .. }, Type::Vector { .. }) => false,
            (Type::Vector { .. }, _) | (_, Type::Vector { .. }) => true,
            (from, to) => is_whole(from) || is_whole(to),
        }
    }

    /// The constant as a value of an integer type or `bool`.
    pub(super) fn wrap(&self, value: i128, ty: TypeId) -> i128 {
        match self[ty] {
            Type::Bool => i128::from(value != 0),
            Type::Int { width, signed } => {
                let modulus = 1_i128 << width;
                let low = value.rem_euclid(modulus);
                if signed && low >= modulus / 2 { low - modulus } else { low }
            }
            _ => value,
        }
    }

    /// Whether it is a number or a truth value.
    pub(super) fn is_arithmetic(&self, ty: TypeId) -> bool {
        matches!(self[ty], Type::Bool | Type::Int { .. } | Type::Float { .. })
    }

    /// Whether it is an integer or a truth value.
    pub(super) fn is_integral(&self, ty: TypeId) -> bool {
        matches!(self[ty], Type::Bool | Type::Int { .. })
    }

    /// The type after the integer promotions.
    pub(super) fn promoted(&self, ty: TypeId) -> TypeId {
        let ty = self.behind_enumeration(ty).map_or(ty, |(integer, _)| integer);
        match self[ty] {
            Type::Bool | Type::Int { width: 8 | 16, .. } => self.common.int,
            _ if ty == self.common.wide => self.common.int,
            _ if ty == self.common.utf32 => self.common.uint,
            _ => ty,
        }
    }

    /// The word of 32 bits that has the sign of a number, or of a vector's lanes. Small numbers are promoted, lanes are not.
    pub(super) fn word_of(&mut self, ty: TypeId) -> TypeId {
        let number = match self[ty] {
            Type::Vector { of, .. } => of,
            _ => self.promoted(ty),
        };
        match self[number] {
            Type::Int { signed: true, .. } => self.common.int,
            Type::Int { signed: false, .. } => self.common.uint,
            _ => self.unknown("result of a builtin"),
        }
    }

    /// The common type of two operands: the usual arithmetic conversions, with scalars widened to vectors. A
    /// type that is not known is contagious.
    pub(super) fn common_type(&self, left: TypeId, right: TypeId) -> Option<TypeId> {
        match (&self[left], &self[right]) {
            _ if left == right && !self.is_integral(left) => Some(left),
            (Type::Unknown(_), _) => Some(left),
            (_, Type::Unknown(_)) => Some(right),
            (Type::Vector { .. }, Type::Vector { .. }) => None,
            (Type::Vector { .. }, _) if self.is_arithmetic(right) => Some(left),
            (_, Type::Vector { .. }) if self.is_arithmetic(left) => Some(right),
            (Type::Float { width: a }, Type::Float { width: b }) => Some(if a >= b { left } else { right }),
            (Type::Float { .. }, _) if self.is_integral(right) => Some(left),
            (_, Type::Float { .. }) if self.is_integral(left) => Some(right),
            _ if self.is_integral(left) && self.is_integral(right) => {
                Some(self.common_integer(self.promoted(left), self.promoted(right)))
            }
            _ => None,
        }
    }

    /// The common type of two promoted integer types.
    fn common_integer(&self, left: TypeId, right: TypeId) -> TypeId {
        match (&self[left], &self[right]) {
            (Type::Int { width: a, signed: sa }, Type::Int { width: b, signed: sb }) => {
                // The numbers of `unsigned long` do not fit into `long long`, which is the higher of the two.
                let ([signed, unsigned], is_mixed) = (if *sa { [left, right] } else { [right, left] }, sa != sb);
                if a == b && is_mixed && signed == self.common.long_long && !self.is_spelled(unsigned) {
                    return self.common.unsigned_long_long;
                }
                // Of two types of one width the unsigned one wins; of two widths the wider one holds both.
                let left_wins = match a == b {
                    true if sa == sb => self.is_spelled(left),
                    true => !sa,
                    false => a > b,
                };
                if left_wins { left } else { right }
            }
            _ => left,
        }
    }

    /// The type of a character literal, which in C is `int` unless a prefix says otherwise.
    pub(super) fn character_type(&self, ty: CharacterType) -> TypeId {
        match ty {
            CharacterType::Char if self.language == Language::Cuda => self.common.char,
            CharacterType::Char | CharacterType::Int => self.common.int,
            CharacterType::Wide => self.common.wide,
            CharacterType::Utf16 => self.common.utf16,
            CharacterType::Utf32 => self.common.utf32,
        }
    }

    /// The type of an integer literal: the first of its list that holds the value.
    pub(super) fn integer_literal_type(&mut self, value: u64, suffix: &str, decimal: bool) -> TypeId {
        let unsigned = suffix.contains('u');
        let long = suffix.contains('l') || suffix.contains('z');
        let (signed_long, unsigned_long) = match suffix.contains("ll") {
            true => (self.common.long_long, self.common.unsigned_long_long),
            false => (self.common.long, self.common.ulong),
        };
        let fits_int = i32::try_from(value).is_ok();
        let fits_uint = u32::try_from(value).is_ok();
        let fits_long = i64::try_from(value).is_ok();
        match (unsigned, long) {
            (false, false) if fits_int => self.common.int,
            (false, false) if fits_uint && !decimal => self.common.uint,
            (true, false) if fits_uint => self.common.uint,
            (false, _) if fits_long => signed_long,
            _ => unsigned_long,
        }
    }

    /// The type of a floating literal: by its suffix.
    pub(super) fn float_literal_type(&mut self, text: &str) -> TypeId {
        let is_hex = text.starts_with("0x") || text.starts_with("0X");
        match text.chars().last() {
            Some('f' | 'F') if !is_hex || text.contains(['p', 'P']) => self.common.float,
            Some('h' | 'H') => self.intern(Type::Float { width: 16 }),
            Some('l' | 'L') => self.intern(Type::Float { width: 128 }),
            _ => self.common.double,
        }
    }

    /// The type of three of these: sizes are a `dim3`.
    pub(super) fn type_of_ids(&mut self, along_x: GeometryVar) -> TypeId {
        match along_x {
            GeometryVar::BlockDim(_) | GeometryVar::GridDim(_) if self.language == Language::Cuda => self.common.dim3,
            _ => self.intern(Type::Vector { of: self.common.uint, lanes: 3 }),
        }
    }

    pub(super) fn is_void_pointer(&self, ty: TypeId) -> bool {
        matches!(self[ty], Type::Pointer { to, .. } if to == self.common.void)
    }

    pub(super) fn made_signed(&mut self, ty: TypeId) -> Option<TypeId> {
        match self[ty] {
            Type::Int { width, .. } => Some(self.intern(Type::Int { width, signed: true })),
            _ => None,
        }
    }

    /// The type of the same width without a sign.
    pub(super) fn made_unsigned(&mut self, ty: TypeId) -> Option<TypeId> {
        match self[ty] {
            Type::Int { width, .. } => Some(self.intern(Type::Int { width, signed: false })),
            _ => None,
        }
    }
}
