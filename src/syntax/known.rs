//! What a compiler knows of a unit beside its tree: which function a call is of, the types of variables, values of constants.
//!
//! A front end that has a compiler behind it tells this, and [`crate::resolve`] holds its own answers against it. Places are
//! spans of names, by which both sides find each other.
//!
//! Deliberately absent: what depends on a template parameter, and what stands in declarations that the user did not write.

use super::shape::Shape;
use crate::source::Span;

/// What a compiler knows; empty if nobody asked one.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The types of variables, parameters and fields, by the span of the name.
    pub types: Vec<(Span, Shape)>,
    /// The values of enumerators and of constant variables, by the span of the name.
    pub values: Vec<(Span, i128)>,
    /// The calls in functions of the unit whose bodies it has, of functions whose bodies it has.
    pub calls: Vec<Call>,
}

/// A call, written or implicit.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name of the outermost function in whose body it stands.
    pub caller: Span,
    /// The whole definition of that function.
    pub around: Span,
    /// The call itself.
    pub place: Span,
    /// The name of the function that it is of, as it was written there.
    pub name: String,
    /// The name of that function where it is declared, and where it is defined.
    pub function: [Span; 2],
    /// Whether it is a constructor: the place is that of the object then.
    pub constructs: bool,
}
