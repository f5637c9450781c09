//! A mutant of a unit: what is done to its text, and what could be claimed if that changed nothing.

use crate::mutation::Operator;
use crate::source::Span;
use std::collections::BTreeSet;

/// Lines that have no mutants, by the path of their file.
pub type Untouched = BTreeSet<(String, u32)>;

/// A program that differs in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// What is done there.
    pub operator: Operator,
    /// Where, in the text.
    pub span: Span,
    /// What makes it, of the text.
    pub edits: Vec<Edit>,
    /// The kernel or function that holds it.
    pub function: String,
    /// Where it could be claimed that nothing changes, if that is about values that threads compute.
    pub claim: Option<Claim>,
}

/// Text in the place of other text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; of no bytes where something is put in.
    pub span: Span,
    /// By what.
    pub text: String,
}

/// A condition which, if it holds whenever a thread comes to it, makes the mutant the same program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// In the language of the text.
    pub condition: String,
    /// Where it has to hold.
    pub place: ClaimPlace,
}

/// Where a claim stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimPlace {
    /// Before a statement of a block.
    Before(Span),
    /// Before a statement that is no block, nor in one: both become a block.
    Around(Span),
    /// Before each test of a loop.
    Test(Span),
}
