//! The calculus as text: [`print`] and [`parse`], for tests, for `show calculus` and for bug reports.
//!
//! ```text
//! // comments run to the end of the line
//! kernel saxpy<"float">(n: i32, p.width: u32) [block 8 8 1, threads <= 256] {
//!   global param y: element 4, size 4096, inner [33]
//!   shared s: element 4
//!   var i: i32
//!   var v: opaque4
//!   returned done
//!   sites 12                                  // only where fewer would be inferred
//!   unsupported "inline assembly" touches y
//!   define %7 = tid.x * 2u32                  // a shared subexpression, where the tree would be large
//!
//!   let i = convert<i32>(bid.x * bdim.x + tid.x)
//!   if i < n {
//!     let v = read y[convert<i64>(i) * 4; 4] @0
//!     write y[convert<i64>(i) * 4; 4] := v @1
//!   }
//!   for s = 8 while s > 0 step >> 1 @2 { sync block shared global @3 }
//!   loop while i < n @4 { … }    loop @5 { … } while i < n
//!   let v = atomic add y[0; 4](1) relaxed grid @6
//!   havoc i call "clock"    assume n > 0    assert i < n @7    agree __other(n) == n @8
//! }
//! ```
//!
//! - `@3` is the site. Names that are no identifiers are written in backquotes; the second bearer of a name
//!   is `i#2`.
//! - A constant without a suffix has the type of the other operand, of the variable that it is assigned
//!   to, of an offset (`i64`), or else `i32`; all others carry their type (`2u32`). A literal takes its type
//!   from an operand beside it only, never through another operator.
//!
//! Guarantees: `parse(print(k))` is [`same`] as `k`; the parser never panics, its recursion is bounded
//! ([`MAX_DEPTH`]), and its errors have a line and a column. Spans are not part of the text.
//!
//! Deliberately absent: checking types. The parser takes ill-typed kernels; [`super::validate`] judges them.

mod expressions;
mod lex;
mod parse;
mod print;
mod same;
mod words;

pub use parse::{ParseError, parse, parse_with};
pub use print::{print, print_expr};
pub use same::same;

pub(crate) use expressions::Names;
pub(crate) use parse::{Parsed, Parser};
pub(crate) use print::{KernelPrinter, reason_text};
pub(crate) use words::{BASES, CLAIMED, ORDERS, SCOPES, quoted, word};

/// How deep parentheses, calls and statements may nest in a text.
pub const MAX_DEPTH: usize = 256;

#[cfg(test)]
mod tests;
