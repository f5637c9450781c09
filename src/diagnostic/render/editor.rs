//! What is said at the places of a text that somebody writes: findings with their other places, and in a few words what is known of
//! each kernel.
//!
//! Deliberately absent: the form in which an editor is told, and positions in its terms.

use super::order::{Item, items};
use super::places::{expansion_note, primary_label, reason_label, related_note, same_note, secondary_label, sentence};
use super::text::{self, Detail};
use crate::diagnostic::report::{Divergence, FileReport, Finding, Fix, KernelReport, Race, Report, Unknown};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::diagnostic::{Diagnostic, RuleId, Severity};
use crate::source::{SourceMap, Span};
use std::cmp::Reverse;

/// Something that is said of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The rule; `None` where something was not decided.
    pub rule: Option<RuleId>,
    /// How bad it is.
    pub severity: Severity,
    /// Where; `None` if it is about a kernel as a whole.
    pub span: Option<Span>,
    /// The line, from 1, where there is no place.
    pub line: u32,
    /// What, in one or more lines; the last one says what can be done about it.
    pub message: String,
    /// Other places that have to do with it.
    pub related: Vec<(Span, String)>,
    /// The name of the kernel, if it is about one.
    pub kernel: Option<String>,
    /// The threads that show it, as a table of plain text.
    pub witness: Option<String>,
    /// What ends it, if that is known already.
    pub fix: Option<Fix>,
}

/// All that is said of a file, the gravest first.
pub fn remarks(report: &Report) -> Vec<Remark> {
    let remark = |item: &Item<'_>| match item {
        Item::Diagnostic(file, diagnostic) => of_diagnostic(diagnostic, &file.sources),
        Item::Finding(file, kernel, finding) => {
            of_finding(finding, kernel, &file.sources, Vocabulary::of(file.language))
        }
        Item::Unknown(_, kernel, unknown) => of_unknown(unknown, kernel),
    };
    items(report).iter().map(remark).collect()
}

/// All that is said of a kernel, the gravest first; what is told with another kernel, too.
pub fn remarks_of(file: &FileReport, kernel: &KernelReport) -> Vec<Remark> {
    let words = Vocabulary::of(file.language);
    let shown = kernel.findings.iter().filter(|finding| !finding.is_hidden());
    let mut remarks: Vec<Remark> = shown.map(|finding| of_finding(finding, kernel, &file.sources, words)).collect();
    remarks.extend(kernel.unknowns.iter().map(|unknown| of_unknown(unknown, kernel)));
    remarks.sort_by_key(|remark| Reverse(remark.severity));
    remarks
}

fn of_diagnostic(diagnostic: &Diagnostic, sources: &SourceMap) -> Remark {
    let lines: Vec<&str> = std::iter::once(&diagnostic.message).chain(&diagnostic.notes).map(String::as_str).collect();
    Remark {
        rule: Some(diagnostic.rule),
        severity: diagnostic.severity,
        span: Some(diagnostic.primary.span),
        line: sources.start_position(diagnostic.primary.span).line,
        message: lines.join("\n"),
        related: diagnostic.secondary.iter().map(|label| (label.span, label.text.clone())).collect(),
        kernel: None,
        witness: None,
        fix: diagnostic.fix.clone(),
    }
}

fn of_finding(finding: &Finding, kernel: &KernelReport, sources: &SourceMap, words: &Vocabulary) -> Remark {
    let mut lines = vec![sentence(finding, words), primary_label(finding, words)];
    lines.extend(expansion_note(sources, finding.primary));
    lines.extend(related_note(finding, sources, words));
    lines.extend(same_note(finding));
    lines.extend(finding.notes.iter().cloned());
    let mut related = Vec::new();
    if let Some(second) = finding.secondary {
        related.push((second.span, secondary_label(finding, second, words)));
    }
    if let Some(launch) = &finding.launch {
        related.push((launch.span, launch.told()));
    }
    for reason in &finding.reasons {
        related.extend(reason.span.map(|span| (span, reason_label(&reason.kind).to_owned())));
    }
    for other in &finding.related {
        let places = [Some(other.primary), other.secondary].into_iter().flatten();
        related.extend(places.map(|place| (place.span, format!("{}, of the same cause", place.access.name()))));
    }
    Remark {
        rule: Some(finding.rule),
        severity: finding.severity(),
        span: Some(finding.primary.span),
        line: sources.start_position(finding.primary.span).line,
        message: lines.join("\n"),
        related,
        kernel: Some(kernel.name.clone()),
        witness: finding.witness.as_ref().map(|witness| text::witness_table(finding, witness, words)),
        fix: finding.fix.clone(),
    }
}

fn of_unknown(unknown: &Unknown, kernel: &KernelReport) -> Remark {
    Remark {
        rule: None,
        severity: Severity::Note,
        span: unknown.span,
        line: unknown.line,
        message: kernel.about(unknown),
        related: Vec::new(),
        kernel: Some(kernel.name.clone()),
        witness: None,
        fix: None,
    }
}

/// The verdict on a kernel in a few words: `race-free for all launches; uniform; deterministic`.
pub fn headline(kernel: &KernelReport) -> String {
    text::verdict(kernel, Detail::Full)
}

/// For which launches the verdict on a kernel holds: `for all launches in two dimensions`; nothing without a verdict.
pub fn scope(kernel: &KernelReport) -> String {
    text::scope(kernel)
}

/// What is known of a kernel, a line for each: verdict, contract with the launches that keep it, what decides where it accesses
/// memory, assumptions.
pub fn known(kernel: &KernelReport, sources: &SourceMap) -> Vec<String> {
    let mut lines = vec![headline(kernel)];
    lines.extend(text::contract(kernel, sources, Detail::Verbose).map(|line| line.trim().to_owned()));
    match kernel.deciding.inputs.as_slice() {
        _ if kernel.race == Race::Unknown && kernel.divergence == Divergence::Unknown => {}
        [] => lines.push("where it accesses memory depends on no input".to_owned()),
        inputs => lines.push(format!("where it accesses memory is decided by {}", inputs.join(", "))),
    }
    lines.extend(kernel.assumptions.iter().map(|assumption| format!("assuming {}", assumption.text)));
    lines
}

/// The conditions of a kernel's contract that whoever launches it has to think of.
pub fn contract(kernel: &KernelReport) -> Vec<String> {
    let contract = kernel.contract.as_ref().filter(|contract| contract.is_plausible);
    contract.map_or_else(Vec::new, |it| it.to_keep().map(|conjunct| conjunct.text.clone()).collect())
}
