//! Types as a compiler has them, so far as memory is concerned: widths, signs, sizes of elements.

use std::fmt;

/// What a type looks like in memory.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Shape {
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// An integer or a character of this many bits.
    Int {
        /// Bits.
        width: u16,
        /// Whether it has a sign.
        signed: bool,
    },
    /// An enumeration of this many bits. Whether one whose type the program does not state has a sign is up to the compiler.
    Enumeration {
        /// Bits.
        width: u16,
        /// Whether it has a sign here.
        signed: bool,
    },
    /// A floating-point number of this many bits.
    Float {
        /// Bits.
        width: u16,
    },
    /// A pointer or reference.
    Pointer(Box<Shape>),
    /// An array; `None` for one of unknown extent.
    Array(Box<Shape>, Option<u64>),
    /// A vector that is built into the language.
    Vector(Box<Shape>, u64),
    /// A struct, class or union of this size and alignment in bytes; `None` if it is not defined.
    Record(Option<(u64, u64)>),
    /// It depends on a template parameter.
    Dependent,
    /// Anything else, in clang's words.
    Other(String),
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Void => write!(f, "void"),
            Shape::Bool => write!(f, "bool"),
            Shape::Int { width, signed: true } => write!(f, "i{width}"),
            Shape::Int { width, signed: false } => write!(f, "u{width}"),
            Shape::Enumeration { width, signed } => write!(f, "enum of {}{width}", if *signed { 'i' } else { 'u' }),
            Shape::Float { width } => write!(f, "f{width}"),
            Shape::Pointer(to) => write!(f, "*{to}"),
            Shape::Array(of, Some(len)) => write!(f, "[{of}; {len}]"),
            Shape::Array(of, None) => write!(f, "[{of}]"),
            Shape::Vector(of, lanes) => write!(f, "<{of}; {lanes}>"),
            Shape::Record(Some((bytes, align))) => write!(f, "{{{bytes} by {align}}}"),
            Shape::Record(None) => write!(f, "{{}}"),
            Shape::Dependent => write!(f, "dependent"),
            Shape::Other(name) => write!(f, "`{name}`"),
        }
    }
}
