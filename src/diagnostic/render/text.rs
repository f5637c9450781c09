//! Text for people: findings with source excerpts, errors first; a verdict line for every kernel; a summary line.
//!
//! Everything that was not proved is named: what is unknown is listed with its reason, and the summary counts
//! proved, racy, possible and unknown kernels apart, and files that could not be read.

mod fitted;
mod statistics;
mod verdict;
mod witness;

pub use fitted::Fitted;

use super::order::{Item, items};
use super::places::{expansion_note, primary_label, reason_label, related_note, same_note, secondary_label};
use super::snippet::Snippets;
use super::{gcc, printable};
use crate::diagnostic::report::{FileReport, Finding, KernelReport, Report, Reproduction, Unknown, WitnessReport};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::diagnostic::{Diagnostic, Severity, UNKNOWN};
use crate::source::{SourceMap, Span};
use codespan_reporting::diagnostic::{Diagnostic as Shown, LabelStyle, Severity as ShownSeverity};
use codespan_reporting::term::termcolor::{Ansi, NoColor, WriteColor};
use codespan_reporting::term::{self, Config, Styles, StylesWriter};
use std::io::{self, Write};

/// Whether output is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// ANSI colours.
    Ansi,
    /// No colours.
    Plain,
}

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Findings, what is unknown, verdicts and the summary.
    Full,
    /// The same, and all that verdicts rely on.
    Verbose,
    /// As in full, and how many findings of which rule each file has.
    WithStatistics,
    /// How many findings of which rule each file has, and the summary.
    Statistics,
    /// Findings only.
    FindingsOnly,
    /// Findings only, each on one line.
    Lines,
}

/// The verdict on a kernel, without its name: `race-free for all launches; uniform; deterministic`.
pub(super) fn verdict(kernel: &KernelReport, detail: Detail) -> String {
    verdict::verdict_words(kernel, detail)
}

/// For which launches a verdict holds.
pub(super) fn scope(kernel: &KernelReport) -> String {
    verdict::scope_words(kernel)
}

/// The threads of a witness as a table.
pub(super) fn witness_table(finding: &Finding, witness: &WitnessReport, words: &Vocabulary) -> String {
    witness::table(finding, witness, words)
}

/// All counts, on one line: `2 kernels in 1 file: 1 race-free, 1 racy, 0 possibly racy, 0 unknown`.
pub(super) fn summary(report: &Report) -> String {
    verdict::summary_line(report)
}

/// What launches of a kernel have to keep, and which do, if there is a contract.
pub(super) fn contract(kernel: &KernelReport, sources: &SourceMap, detail: Detail) -> Option<String> {
    verdict::contract_line(kernel, sources, detail)
}

/// Places that an excerpt points at; JSON has all.
const MOST_LABELS: usize = 6;

/// Writes `report`.
pub fn render(report: &Report, color: Color, detail: Detail, out: &mut dyn Write) -> io::Result<()> {
    match color {
        Color::Ansi => render_styled(report, detail, &mut Ansi::new(out)),
        Color::Plain => render_styled(report, detail, &mut NoColor::new(out)),
    }
}

fn render_styled(report: &Report, detail: Detail, out: &mut dyn WriteColor) -> io::Result<()> {
    if detail == Detail::Statistics {
        statistics::write(report, out)?;
        return writeln!(out, "{}", verdict::summary_line(report));
    }
    for item in items(report) {
        match (item, detail) {
            (Item::Diagnostic(file, diagnostic), Detail::Lines) => {
                gcc::render_diagnostic(diagnostic, &file.sources, out)?
            }
            (Item::Diagnostic(file, diagnostic), _) => show_diagnostic(diagnostic, &file.sources, out)?,
            (Item::Finding(file, _, finding), Detail::Lines) => {
                writeln!(out, "{}", gcc::headline(finding, &file.sources, Vocabulary::of(file.language)))?;
            }
            (Item::Finding(file, _, finding), _) => {
                show_finding(finding, &file.sources, Vocabulary::of(file.language), out)?;
            }
            (Item::Unknown(..), Detail::Lines | Detail::FindingsOnly) => {}
            (Item::Unknown(file, kernel, unknown), _) => show_unknown(unknown, kernel, file, out)?,
        }
    }
    if matches!(detail, Detail::Lines | Detail::FindingsOnly) {
        return Ok(());
    }
    for file in report.files.iter().filter(|file| !file.kernels.is_empty()) {
        render_verdicts(file, detail, out)?;
    }
    if detail == Detail::WithStatistics && statistics::files(report) > 1 {
        statistics::write(report, out)?;
        writeln!(out)?;
    }
    writeln!(out, "{}", verdict::summary_line(report))
}

fn render_verdicts(file: &FileReport, detail: Detail, out: &mut dyn WriteColor) -> io::Result<()> {
    for kernel in &file.kernels {
        writeln!(out, "{}", printable(&verdict::verdict_line(kernel, file, detail)))?;
        if let Some(contract) = verdict::contract_line(kernel, &file.sources, detail) {
            writeln!(out, "{}", printable(&contract))?;
        }
    }
    // A blank line keeps the verdicts of one file together.
    writeln!(out)
}

fn shown(severity: Severity) -> ShownSeverity {
    match severity {
        Severity::Error => ShownSeverity::Error,
        Severity::Warning => ShownSeverity::Warning,
        Severity::Note => ShownSeverity::Note,
        Severity::Hint => ShownSeverity::Help,
    }
}

fn show_diagnostic(diagnostic: &Diagnostic, sources: &SourceMap, out: &mut dyn WriteColor) -> io::Result<()> {
    let mut labels = vec![(diagnostic.primary.span, LabelStyle::Primary, diagnostic.primary.text.clone())];
    labels.extend(diagnostic.secondary.iter().map(|label| (label.span, LabelStyle::Secondary, label.text.clone())));
    let fix = diagnostic.fix.as_ref().map(|fix| format!("fix: {} (--fix does it)", fix.message));
    let notes = diagnostic.notes.iter().chain(&fix).map(|note| printable(note).into_owned()).collect();
    show(shown(diagnostic.severity), diagnostic.rule.name(), &diagnostic.message, &labels, notes, sources, out)
}

fn show_finding(
    finding: &Finding,
    sources: &SourceMap,
    words: &Vocabulary,
    out: &mut dyn WriteColor,
) -> io::Result<()> {
    let labels = finding_labels(finding, sources, words);
    let notes = finding_notes(finding, sources, words);
    show(shown(finding.severity()), finding.rule.name(), &finding.message, &labels, notes, sources, out)
}

/// Both accesses and every reason; two accesses over the same text share a label.
fn finding_labels(finding: &Finding, sources: &SourceMap, words: &Vocabulary) -> Vec<(Span, LabelStyle, String)> {
    let mut first = primary_label(finding, words);
    let mut second = None;
    if let Some(place) = finding.secondary {
        let text = secondary_label(finding, place, words);
        if sources.visible(place.span) == sources.visible(finding.primary.span) {
            first = format!("{first}, {text}");
        } else {
            second = Some((place.span, LabelStyle::Secondary, text));
        }
    }
    let mut labels = vec![(finding.primary.span, LabelStyle::Primary, first)];
    labels.extend(second);
    labels.extend(finding.launch.as_ref().map(|launch| (launch.span, LabelStyle::Secondary, launch.told())));
    for reason in &finding.reasons {
        let is_new = |span: &Span| labels.iter().all(|(known, ..)| sources.visible(*known) != sources.visible(*span));
        let label =
            reason.span.filter(is_new).map(|span| (span, LabelStyle::Secondary, reason_label(&reason.kind).to_owned()));
        labels.extend(label);
    }
    labels.truncate(MOST_LABELS);
    labels
}

fn finding_notes(finding: &Finding, sources: &SourceMap, words: &Vocabulary) -> Vec<String> {
    let mut notes: Vec<String> = finding.witness.iter().map(|found| witness::table(finding, found, words)).collect();
    let places = [Some(finding.primary), finding.secondary];
    let mut expansions: Vec<String> =
        places.into_iter().flatten().filter_map(|place| expansion_note(sources, place)).collect();
    expansions.dedup();
    notes.extend(expansions);
    // Those with a place are labels.
    let nowhere = finding.reasons.iter().filter(|reason| reason.span.is_none());
    notes.extend(nowhere.map(|reason| format!("reason: {}", reason.kind)));
    notes.extend(related_note(finding, sources, words));
    notes.extend(same_note(finding));
    notes.extend(finding.notes.iter().cloned());
    notes.extend(
        finding.fix.as_ref().map(|fix| format!("fix: {}; so the kernel is proved (--fix does it)", fix.message)),
    );
    notes.extend(finding.reproduction.as_ref().map(reproduction_note));
    notes.iter().map(|note| printable(note).into_owned()).collect()
}

fn reproduction_note(reproduction: &Reproduction) -> String {
    match reproduction {
        Reproduction::Written { path, lines: [first, second] } if first == second => {
            format!("reproduction: {}, line {first}", path.display())
        }
        Reproduction::Written { path, lines: [first, second] } => {
            format!("reproduction: {}, lines {first} and {second}", path.display())
        }
        Reproduction::Refused(reason) => format!("no reproduction: {reason}"),
    }
}

fn show_unknown(
    unknown: &Unknown,
    kernel: &KernelReport,
    file: &FileReport,
    out: &mut dyn WriteColor,
) -> io::Result<()> {
    let message = kernel.about(unknown);
    let Some(span) = unknown.span else {
        let place = format!("{}:{}", file.path.display(), unknown.line);
        return writeln!(out, "note[{UNKNOWN}]: {}\n  at {}\n", printable(&message), printable(&place));
    };
    let labels = [(span, LabelStyle::Primary, String::new())];
    show(ShownSeverity::Note, UNKNOWN, &message, &labels, Vec::new(), &file.sources, out)
}

fn show(
    severity: ShownSeverity,
    code: &str,
    message: &str,
    labels: &[(Span, LabelStyle, String)],
    notes: Vec<String>,
    sources: &SourceMap,
    out: &mut dyn WriteColor,
) -> io::Result<()> {
    let mut snippets = Snippets::default();
    for (span, style, text) in labels {
        snippets.label(sources, *span, *style, text);
    }
    snippets.fill_gaps(sources);
    let shown = Shown::new(severity)
        .with_code(code)
        .with_message(printable(message))
        .with_labels(snippets.labels())
        .with_notes(notes);
    let styles = Styles::default();
    let mut writer = StylesWriter::new(out, &styles);
    term::emit_to_write_style(&mut writer, &Config::default(), &snippets, &shown).map_err(into_io)
}

fn into_io(error: codespan_reporting::files::Error) -> io::Error {
    match error {
        codespan_reporting::files::Error::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}
