//! What an expression of the source has become: scalars, pointers, and aggregates as lists of these.

use super::storage::facts::TargetId;
use crate::calculus::ExprId;
use crate::resolve::program::TypeId;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// Of type `void`.
    Void,
    /// A number, truth value, or opaque carrier.
    Scalar(ExprId),
    /// A pointer.
    Pointer(Pointer),
    /// A vector, record or array: its leaves (see [`super::storage::layout::Layout::leaves`]) in order.
    Aggregate(Vec<Value>),
}

/// A pointer: what it points into, and how many bytes from its start.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pointer {
    pub(super) base: Base,
    /// Of type `I64`.
    pub(super) offset: ExprId,
}

/// Why nothing is known of the target of a pointer that is a string.
pub(super) const STRING: &str = "a string literal";

/// Why nothing is known of the target of a pointer that may be a string, or something else.
pub(super) const PERHAPS_STRING: &str = "a pointer that may be a string literal or something else";

impl Pointer {
    /// Whether it is a string literal.
    pub(super) fn is_string(&self) -> bool {
        matches!(&self.base, Base::Unknown(reason) if reason == STRING)
    }
}

/// What a pointer points into.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Base {
    /// One target.
    Target(TargetId),
    /// One of several: `tag` is the number of the target.
    OneOf { tag: ExprId, targets: Vec<TargetId> },
    /// It cannot be said: why.
    Unknown(String),
}

/// An object in memory or in variables.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) pointer: Pointer,
    pub(super) ty: TypeId,
    /// If it is a bit-field.
    pub(super) bits: Option<BitField>,
}

/// What is known of a bit-field beside its type.
#[derive(Clone, Debug)]
pub(super) struct BitField {
    /// Bytes of its group.
    pub(super) bytes: u32,
    pub(super) name: String,
    /// How many bits it has itself.
    pub(super) width: u32,
}

/// What an object expression denotes.
#[derive(Clone, Debug)]
pub(super) enum Object {
    /// One contiguous object.
    Whole(Place),
    /// Several lanes of a vector, in the order written.
    Lanes(Vec<Place>),
}
