//! One line per finding, as compilers write them, for editors and quickfix lists.
//!
//! `a.cu:6:10: error: data race on y: … [data-race]`, followed by a `note:` line for the second access, and
//! one for others of the same cause. The message carries the launch of the witness.
//! A proved finding is an error, a possible one a warning, what is unknown a note.

use super::order::{Item, items};
use super::places::{location, primary_label, related_note, same_note, secondary_label, sentence};
use super::{one_line, printable};
use crate::diagnostic::report::{FileReport, Finding, KernelReport, Report, Unknown};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::SourceMap;
use std::io::{self, Write};

/// Writes the findings of `report`.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for item in items(report) {
        match item {
            Item::Diagnostic(file, diagnostic) => render_diagnostic(diagnostic, &file.sources, out)?,
            Item::Finding(file, _, finding) => {
                render_finding(finding, &file.sources, Vocabulary::of(file.language), out)?;
            }
            Item::Unknown(file, kernel, unknown) => render_unknown(unknown, kernel, file, out)?,
        }
    }
    Ok(())
}

/// The finding alone, on one line.
pub(super) fn headline(finding: &Finding, sources: &SourceMap, words: &Vocabulary) -> String {
    let (place, word) = (location(sources, finding.primary.span), word(finding.severity()));
    format!("{}: {word}: {} [{}]", printable(&place), one_line(&sentence(finding, words)), finding.rule.name())
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

pub(super) fn render_diagnostic(diagnostic: &Diagnostic, sources: &SourceMap, out: &mut dyn Write) -> io::Result<()> {
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
    let rule = finding.rule.name();
    writeln!(out, "{}", headline(finding, sources, words))?;
    if let Some(second) = finding.secondary {
        let text = format!("{}; {}", secondary_label(finding, second, words), primary_label(finding, words));
        line(out, &location(sources, second.span), "note", &text, rule)?;
    }
    if let Some(launch) = &finding.launch {
        line(out, &location(sources, launch.span), "note", &launch.told(), rule)?;
    }
    let notes = related_note(finding, sources, words).into_iter().chain(same_note(finding));
    for note in notes {
        line(out, &location(sources, finding.primary.span), "note", &note, rule)?;
    }
    Ok(())
}

fn render_unknown(unknown: &Unknown, kernel: &KernelReport, file: &FileReport, out: &mut dyn Write) -> io::Result<()> {
    let place = match unknown.span {
        Some(span) => location(&file.sources, span),
        None => format!("{}:{}:1", file.path.display(), unknown.line),
    };
    let text = kernel.about(unknown);
    line(out, &place, "note", &text, "unknown")
}
