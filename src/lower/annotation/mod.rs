//! What annotations say: claims, assumptions and invariants, as conditions of the calculus that access nothing.
//!
//! Guarantees: an annotation adds no access; one that is not understood is noted and left out.
//!
//! Deliberately absent: proofs of what is claimed.

pub(super) mod claims;
pub(super) mod formulas;
pub(super) mod logs;

/// The annotation that is being lowered, if there is one.
#[derive(Debug, Default)]
pub(super) struct Annotation {
    /// Whether what is lowered stands in one.
    pub(super) is_open: bool,
    /// Why it is not understood.
    pub(super) problem: Option<String>,
}
