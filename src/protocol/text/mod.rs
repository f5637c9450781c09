//! Protocols as text: [`print`] and [`parse`], for tests, for `show protocol` and for bug reports.
//!
//! ```text
//! protocol k(n: i32) {
//!   global param a: element 4
//!   var k: i64
//!   var s: i32
//!   var x: i32
//!   where x is read a[0; 4] @1 stable constant uniform grid
//!   rd a[0; 4] @1 exact
//!   for k @2 while s > 0 carry s = n moves s >> 1 exact {
//!     if convert<i32>(tid.x) < s {
//!       wr a[4 * convert<i64>(x); 4] := 1 @3 approximate: data-dependent index (a)
//!     }
//!     sync block shared global @4 exact
//!   }
//!   assume n > 0
//! }
//! ```
//!
//! - Declarations and expressions are those of [`crate::calculus::text`]. A `where` line says what an unknown
//!   value is; `uniform grid` (or `block`) says which threads agree on it, `in @2` names the loops around it.
//! - A loop names its iteration variable; `continues` stands where another turn needs more than its `while`.
//!   A carried variable `moves` (geometrically) or `toggles`.
//! - `atomic load acquire grid looks a[0; 4]`: the atomic is a load. What an atomic does to a lock or a flag stands behind its
//!   scope: it `takes`, `releases`, `clears`, `sets` or `looks`.
//! - The guards of what stands in an arm or a loop follow from the condition: its conjuncts. Where they are
//!   different, `when (…)` lists them; `not returned` and `of @2` are marks of a guard.
//!
//! Guarantees: `parse(print(p))` is `p` but for spans; the parser never panics, its recursion is bounded.
//!
//! Deliberately absent: checking that the parts agree.

mod guards;
mod parse;
mod print;
#[cfg(test)]
mod tests;

use super::Lock;

/// What an atomic does to a lock.
const LOCKS: &[(&str, Lock)] = &[
    ("takes", Lock::Take),
    ("releases", Lock::Release),
    ("clears", Lock::Clear),
    ("sets", Lock::Set),
    ("looks", Lock::Look),
];

pub use crate::calculus::text::ParseError;
pub use parse::parse;
pub use print::{print, print_expr, print_reason};

use super::ReasonKind;

/// How reasons are written.
const REASONS: &[(&[&str], ReasonKind)] = &[
    (&["data", "-", "dependent", "index"], ReasonKind::DataDependentIndex),
    (&["data", "-", "dependent", "guard"], ReasonKind::DataDependentGuard),
    (&["unknown", "loop", "count"], ReasonKind::UnknownLoopCount),
    (&["unsupported", "call"], ReasonKind::UnsupportedCall),
    (&["unknown", "pointer"], ReasonKind::UnknownPointer),
    (&["unpromised", "order"], ReasonKind::UnpromisedOrder),
    (&["too", "complex"], ReasonKind::TooComplex),
];
