//! What tests have in common: how much they try, what they need, what they remember.
//!
//! - [`tier`]: how much is tried, as `RACEPROOF_TIER` says.
//! - [`draw`]: which cases are tried: seeds of laws, parts of the fixtures.
//! - [`kept`]: seeds that failed once, and are tried ever after.
//! - [`answers`]: what follows from text alone, remembered from one run of the tests to the next.
//! - [`dice`]: random choices that a seed decides.
//! - [`solvers`]: solvers whose answers are remembered.
//! - [`tools`]: what a test needs of the machine beside Rust and a C compiler.

pub(crate) mod answers;
pub(crate) mod dice;
pub(crate) mod draw;
mod kept;
pub(crate) mod solvers;
pub(crate) mod tier;
pub(crate) mod tools;
