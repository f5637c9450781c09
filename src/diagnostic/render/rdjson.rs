//! Reviewdog's diagnostic format: findings become comments in reviews, on whatever host reviewdog knows.
//!
//! One object, the message `DiagnosticResult` of
//! <https://github.com/reviewdog/reviewdog/blob/master/proto/rdf/reviewdog.proto>, whose JSON schema stands beside it
//! (`jsonschema/DiagnosticResult.json`). The second access and the launch are related locations, a fix is a list of
//! suggestions, and advice stands in the message. A proved finding is an `ERROR`, a possible one a `WARNING`, all else `INFO`.
//!
//! Guarantees: columns count bytes of UTF-8, as the format asks and no other one here does; ends are exclusive; a suggestion is
//! for the file of its finding, since it has no path of its own.
//! Deliberately absent: addresses of rules (`raceproof explain` has their pages) and `original_output`, which is for converters.

use super::said::{Place, Said, said};
use crate::diagnostic::Severity;
use crate::diagnostic::report::{FixEdit, Report};
use crate::source::{SourceMap, Span};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct DiagnosticResult {
    source: Source,
    diagnostics: Vec<DiagnosticJson>,
}

#[derive(Serialize)]
struct Source {
    name: &'static str,
}

#[derive(Serialize)]
struct DiagnosticJson {
    message: String,
    location: Location,
    severity: &'static str,
    code: Code,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggestion>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<RelatedLocation>,
}

#[derive(Serialize)]
struct Code {
    value: &'static str,
}

#[derive(Serialize)]
struct Location {
    path: String,
    range: Range,
}

#[derive(Serialize)]
struct RelatedLocation {
    message: String,
    location: Location,
}

/// Without an end it is the whole line, if it has no column either.
#[derive(Serialize)]
struct Range {
    start: Position,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<Position>,
}

#[derive(Serialize)]
struct Position {
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

#[derive(Serialize)]
struct Suggestion {
    range: Range,
    text: String,
}

/// Writes what `report` says.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let diagnostics = said(report).map(|said| diagnostic(&said)).collect();
    let result = DiagnosticResult { source: Source { name: "raceproof" }, diagnostics };
    serde_json::to_writer_pretty(&mut *out, &result)?;
    writeln!(out)
}

fn diagnostic(said: &Said<'_>) -> DiagnosticJson {
    let sources = &said.file.sources;
    let (own, place) = match said.place {
        Place::At(span) => (Some(sources.visible(span).file), range(span, sources)),
        Place::Line(line) => (None, Range { start: Position { line: line.max(1), column: None }, end: None }),
    };
    let edits = said.fix.map_or(&[][..], |fix| &fix.edits);
    let is_here = edits.iter().all(|edit| Some(edit.span.file) == own);
    let suggestion = |edit: &FixEdit| Suggestion { range: range(edit.span, sources), text: edit.text.clone() };
    let related = |(label, span): &(String, Span)| RelatedLocation {
        message: label.clone(),
        location: Location { path: relative(&said.path_of(*span)), range: range(*span, sources) },
    };
    DiagnosticJson {
        message: said.lines.join("\n"),
        location: Location { path: relative(&said.path()), range: place },
        severity: match said.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "WARNING",
            Severity::Note | Severity::Hint => "INFO",
        },
        code: Code { value: said.rule },
        suggestions: edits.iter().filter(|_| is_here).map(suggestion).collect(),
        related_locations: said.others.iter().map(related).collect(),
    }
}

/// Paths are compared with those of a diff.
fn relative(path: &str) -> String {
    path.trim_start_matches("./").to_owned()
}

/// The visible range of a span.
fn range(span: Span, sources: &SourceMap) -> Range {
    let span = sources.visible(span);
    let file = sources.file(span.file);
    let position = |offset: u32| {
        let offset = (offset as usize).min(file.text.len());
        let line = file.lines.position(&file.text, offset).line;
        let start = file.lines.line_start(line).unwrap_or(offset);
        Position { line, column: Some(offset - start + 1) }
    };
    Range { start: position(span.start), end: Some(position(span.end)) }
}
