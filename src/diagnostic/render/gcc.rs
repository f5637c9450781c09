//! One line per finding, as compilers write them, for editors and quickfix lists.
//!
//! `a.cu:6:10: error: data race on y: … [data-race]`, followed by a `note:` line for the second access.
//! A proved finding is an error, a possible one a warning, what is unknown a note.

use super::places::{location, primary_label, secondary_label};
use super::{one_line, printable};
use crate::diagnostic::report::{FileReport, Finding, KernelReport, Report, Unknown};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::SourceMap;
use std::io::{self, Write};

/// Writes the findings of `report`.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for file in &report.files {
        render_file(file, out)?;
    }
    Ok(())
}

fn render_file(file: &FileReport, out: &mut dyn Write) -> io::Result<()> {
    let words = Vocabulary::of(file.language);
    for diagnostic in &file.diagnostics {
        render_diagnostic(diagnostic, &file.sources, out)?;
    }
    for kernel in &file.kernels {
        for finding in &kernel.findings {
            render_finding(finding, &file.sources, words, out)?;
        }
        for unknown in &kernel.unknowns {
            render_unknown(unknown, kernel, file, out)?;
        }
    }
    Ok(())
}

fn line(out: &mut dyn Write, place: &str, word: &str, text: &str, rule: &str) -> io::Result<()> {
    writeln!(out, "{}: {word}: {} [{rule}]", printable(place), one_line(text))
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note | Severity::Hint => "note",
    }
}

fn render_diagnostic(diagnostic: &Diagnostic, sources: &SourceMap, out: &mut dyn Write) -> io::Result<()> {
    let word = word(diagnostic.severity);
    let rule = diagnostic.rule.name();
    line(out, &location(sources, diagnostic.primary.span), word, &diagnostic.message, rule)?;
    diagnostic
        .secondary
        .iter()
        .try_for_each(|label| line(out, &location(sources, label.span), "note", &label.text, rule))
}

pub(super) fn render_finding(
    finding: &Finding,
    sources: &SourceMap,
    words: &Vocabulary,
    out: &mut dyn Write,
) -> io::Result<()> {
    let word = word(finding.severity());
    let rule = finding.rule.name();
    let place = location(sources, finding.primary.span);
    line(out, &place, word, &finding.message, rule)?;
    let Some(second) = finding.secondary else { return Ok(()) };
    let text = format!("{}; {}", secondary_label(finding, second, words), primary_label(finding, words));
    line(out, &location(sources, second.span), "note", &text, rule)
}

fn render_unknown(unknown: &Unknown, kernel: &KernelReport, file: &FileReport, out: &mut dyn Write) -> io::Result<()> {
    let place = match unknown.span {
        Some(span) => location(&file.sources, span),
        None => format!("{}:{}:1", file.path.display(), unknown.line),
    };
    let text = kernel.about(unknown);
    line(out, &place, "note", &text, "unknown")
}
