//! Laws that hold for every kernel, tried on random ones.
//!
//! - [`generate`]: random kernels.
//! - [`calculus`]: text round trips, validity, evaluation.

mod calculus;
pub(crate) mod generate;
