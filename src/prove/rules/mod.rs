//! Symbolic proofs of race-freedom for every launch geometry, without a solver
//! (docs/RULES.md, "Proof rules").
//!
//! A [`State`](crate::prove::state::State) holds what is known about two threads that are supposed to conflict; [`search`]
//! looks for a contradiction with the rules of one file each ([`split`], [`subst`], [`sum`], [`never`], [`divides`],
//! [`xor`], [`chain`], [`round`], [`monotone`], [`pinch`], [`order`], [`cases`]) beside [SIGN](crate::prove::state::sign), which all ask,
//! and returns a [`derivation`], which [`check`] replays without searching.
//!
//! Guarantees: arithmetic is exact or gives up; budgets are counts; a derivation that [`check`] accepts is a
//! proof whatever the search did. Deliberately absent: conditions, protocols and expressions, solvers, and
//! the reserve rules WINDOW and INJECTIVE, which the catalogue does not need (docs/RULES.md, "3.9 Reserve").

pub mod cases;
pub mod chain;
pub mod check;
pub mod derivation;
pub mod divides;
mod model;
pub mod monotone;
pub mod never;
pub mod order;
pub mod pinch;
pub mod round;
pub mod search;
pub mod split;
pub mod subst;
pub mod sum;
pub mod xor;

pub use check::CheckError;
pub use search::Budget;
