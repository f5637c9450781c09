//! Workflow commands of GitHub Actions: findings appear at their lines in a pull request.
//!
//! `::error file=a.cu,line=6,endLine=6,col=10,endColumn=14,title=data-race::data race on y: …`. A proved finding is
//! an error, a possible one a warning, what is unknown a notice. The second access and the advice are further lines
//! of the message, since GitHub shows no more than ten annotations of a kind.
//!
//! Guarantees: one command a line; no text of the user can end a property or start a command of its own.

use super::order::{Item, items};
use super::places::{launch, launch_note, location, primary_label, related_note, same_note, secondary_label};
use super::{one_line, printable};
use crate::diagnostic::report::{FileReport, Finding, KernelReport, Report, Unknown};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{SourceMap, Span};
use std::io::{self, Write};

/// Writes the findings of `report`.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for item in items(report) {
        match item {
            Item::Diagnostic(file, diagnostic) => of_diagnostic(diagnostic, &file.sources),
            Item::Finding(file, finding) => of_finding(finding, &file.sources, Vocabulary::of(file.language)),
            Item::Unknown(file, kernel, unknown) => of_unknown(unknown, kernel, file),
        }
        .write(out)?;
    }
    Ok(())
}

/// One command.
struct Annotation {
    command: &'static str,
    /// `file=…,line=…`
    place: String,
    title: &'static str,
    lines: Vec<String>,
}

impl Annotation {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let lines: Vec<String> = self.lines.iter().map(|line| one_line(line)).collect();
        let (title, message) = (property(self.title), data(&lines.join("\n")));
        writeln!(out, "::{} {},title={title}::{message}", self.command, self.place)
    }
}

fn command(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note | Severity::Hint => "notice",
    }
}

fn of_diagnostic(diagnostic: &Diagnostic, sources: &SourceMap) -> Annotation {
    let command = command(diagnostic.severity);
    let mut lines = vec![diagnostic.message.clone()];
    lines.extend(diagnostic.notes.iter().cloned());
    Annotation { command, place: place(sources, diagnostic.primary.span), title: diagnostic.rule.name(), lines }
}

fn of_finding(finding: &Finding, sources: &SourceMap, words: &Vocabulary) -> Annotation {
    let command = command(finding.severity());
    let mut lines = vec![finding.message.clone()];
    if let Some(second) = finding.secondary {
        let at = location(sources, second.span);
        lines.push(format!("{}; {} at {at}", primary_label(finding, words), secondary_label(finding, second, words)));
    }
    lines.extend(finding.witness.as_ref().map(|witness| format!("with {}", launch(witness, words))));
    lines.extend(launch_note(finding, sources));
    lines.extend(related_note(finding, sources, words));
    lines.extend(same_note(finding));
    lines.extend(finding.notes.last().cloned());
    Annotation { command, place: place(sources, finding.primary.span), title: finding.rule.name(), lines }
}

fn of_unknown(unknown: &Unknown, kernel: &KernelReport, file: &FileReport) -> Annotation {
    let place = match unknown.span {
        Some(span) => place(&file.sources, span),
        None => format!("file={},line={}", property(&file.path.to_string_lossy()), unknown.line),
    };
    Annotation { command: "notice", place, title: "unknown", lines: vec![kernel.about(unknown)] }
}

/// The visible range of `span`; columns only within one line, which is all that GitHub can show.
fn place(sources: &SourceMap, span: Span) -> String {
    let (start, end) = (sources.start_position(span), sources.end_position(span));
    let path = sources.file(sources.visible(span).file).path.to_string_lossy().into_owned();
    let lines = format!("file={},line={},endLine={}", property(&path), start.line, end.line);
    if start.line == end.line { format!("{lines},col={},endColumn={}", start.column, end.column) } else { lines }
}

/// `text` as the data of a command.
fn data(text: &str) -> String {
    printable(text).replace('%', "%25").replace('\n', "%0A")
}

/// `text` as the value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_part_of_the_command() {
        assert_eq!(data("50% ::error::\nx\ry"), "50%25 ::error::%0Ax\u{FFFD}y");
        assert_eq!(property("C:\\a,b.cu"), "C%3A\\a%2Cb.cu");
    }
}
