//! One file per output format, over one [`Report`](super::report::Report).
//!
//! - [`text`]: for people; source excerpts, witness as a table, one verdict line per kernel, a summary.
//! - [`editor`]: what is said at places of a text that somebody writes, as data.
//! - [`gcc`]: one line per finding, for editors that know compilers' messages.
//! - [`concise`]: one line per finding and one with all counts, for people who read many.
//! - [`json`]: the versioned contract for programs (docs/ARCHITECTURE.md, "Contracts"); [`json::lines`]: the same findings, a line each.
//! - [`sarif`]: SARIF 2.1.0, for code scanning.
//! - [`github`]: commands that annotate the lines of a pull request.
//! - [`azure`]: commands that list findings as issues of a step of Azure Pipelines.
//! - [`rdjson`]: Reviewdog's diagnostic format, for comments in reviews.
//! - [`gitlab`]: a code quality report, for the lines of a merge request.
//! - [`junit`]: a test for each kernel, for the lists of tests that servers show.
//! - [`contracts`]: the contracts alone, as a table that `check --contracts` reads, and as JSON.
//!
//! All of them give the same bytes for the same report. Whatever stands in the source, what is written stays
//! small (long lines are shown through a window) and free of control characters.
//!
//! Deliberately absent: deciding anything. Which findings there are and in which order is the report's.

pub mod azure;
pub mod concise;
pub mod contracts;
pub mod editor;
pub(crate) mod fingerprint;
pub mod gcc;
pub mod github;
pub mod gitlab;
pub mod json;
pub mod junit;
mod order;
pub(super) mod places;
pub mod rdjson;
mod said;
pub mod sarif;
mod snippet;
pub mod text;
mod uri;
pub mod xml;

use std::borrow::Cow;

/// `text` without control characters other than line breaks and tabs, so that no file name, identifier or
/// source line can talk to the user's terminal.
fn printable(text: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains(is_harmful) { text.replace(is_harmful, "\u{FFFD}").into() } else { text.into() }
}

/// `text` on one line.
pub(super) fn one_line(text: &str) -> String {
    printable(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `1 kernel`, `2 kernels`.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
