//! Placeholder.

/// A derivation.
#[derive(Clone, Debug)]
pub struct Derivation;
