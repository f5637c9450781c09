//! The table of sites: one line for each place that may access memory, handed to the log as text.
//!
//! A line has ten fields, separated by tabs: id, kind (`read`, `write`, `read-write`, `atomic`), path, line, column,
//! end line, end column (from 1, the end exclusive), the array as the user wrote it, the kernel or device function,
//! and the last field is reserved for the macro whose expansion holds the access (empty if there is none).
//! Ids count from 0 in the order of the text, so that the same text has the same table.

use crate::source::{SourceMap, Span};
use std::fmt::Write;

/// What happens at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteKind {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A read and a write of one place, as `+=` and `++` have it.
    ReadWrite,
    /// An atomic operation.
    Atomic,
}

impl SiteKind {
    /// The word in the table.
    pub fn word(self) -> &'static str {
        match self {
            SiteKind::Read => "read",
            SiteKind::Write => "write",
            SiteKind::ReadWrite => "read-write",
            SiteKind::Atomic => "atomic",
        }
    }
}

/// A place in the program that may access memory.
#[derive(Clone, Debug)]
pub struct Site {
    /// What happens there.
    pub kind: SiteKind,
    /// Where.
    pub span: Span,
    /// What is accessed, as the user wrote it: `tile` for `tile[i][j].x`.
    pub array: String,
    /// The kernel or device function.
    pub function: String,
}

/// The table as text.
pub(super) fn table(sites: &[Site], sources: &SourceMap) -> String {
    let mut text = String::new();
    for (id, site) in sites.iter().enumerate() {
        let visible = sources.visible(site.span);
        let path = sources.file(visible.file).path.display().to_string();
        let (start, end) = (sources.start_position(site.span), sources.end_position(site.span));
        let outermost = sources.expansion_chain(site.span).last().map_or("", |expansion| expansion.name.as_str());
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{id}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{outermost}",
            site.kind.word(),
            field(&path),
            start.line,
            start.column,
            end.line,
            end.column,
            field(&site.array),
            field(&site.function),
        );
    }
    text
}

/// `path:line:column`.
pub(super) fn place(span: Span, sources: &SourceMap) -> String {
    let (file, position) = (sources.visible(span).file, sources.start_position(span));
    format!("{}:{}:{}", sources.file(file).path.display(), position.line, position.column)
}

/// A field cannot hold what separates fields.
pub(super) fn field(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
