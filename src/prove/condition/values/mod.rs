//! Values: what the expressions of a protocol are in one thread, at one place.
//!
//! - [`builder`]: who translates. [`environments`]: what variables stand for at a place; [`launch`]: what a launch gives.
//! - [`integers`], [`bits`], [`wrapping`]: integers. [`truth`]: conditions, as alternatives of literals. [`choices`]: values
//!   that conditions choose. [`variables`]: loops and unknown values; [`last_iteration`], [`numbered_iterations`]: what loops
//!   leave.
//!
//! These use each other, as expressions are made of each other.

mod bits;
pub(in crate::prove::condition) mod builder;
mod choices;
pub(in crate::prove::condition) mod environments;
mod integers;
mod last_iteration;
mod launch;
mod numbered_iterations;
pub(in crate::prove::condition) mod truth;
mod variables;
mod wrapping;
