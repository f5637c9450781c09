//! A list of findings, flat: of each its place, its rule, its kernel and its words, for formats that know no more than that.
//!
//! Guarantees: the order of [`items`]; words and names of kernels are on one line each. Deliberately absent: how a format
//! escapes them, and paths, which are as they were given.

use super::one_line;
use super::order::{Item, items};
use super::places::{details, location, primary_label, secondary_label};
use crate::diagnostic::report::{FileReport, Finding, Fix, KernelReport, Report, Unknown};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::diagnostic::{Diagnostic, Severity, UNKNOWN};
use crate::source::{LineColumn, Span};

/// One thing that is said.
pub(super) struct Said<'a> {
    pub(super) file: &'a FileReport,
    pub(super) severity: Severity,
    pub(super) rule: &'static str,
    /// The kernel, of what is said of one.
    pub(super) kernel: Option<String>,
    pub(super) place: Place,
    /// The message, and below it what else there is to say.
    pub(super) lines: Vec<String>,
    /// Places that have to do with it, each with what happens there: the second access, the launch.
    pub(super) others: Vec<(String, Span)>,
    pub(super) fix: Option<&'a Fix>,
}

/// Where it is.
pub(super) enum Place {
    At(Span),
    /// A line of the file that was checked, where nothing more is known.
    Line(u32),
}

/// All that a report says, in order.
pub(super) fn said(report: &Report) -> impl Iterator<Item = Said<'_>> {
    items(report).into_iter().map(|item| match item {
        Item::Diagnostic(file, diagnostic) => of_diagnostic(diagnostic, file),
        Item::Finding(file, kernel, finding) => of_finding(finding, kernel, file),
        Item::Unknown(file, kernel, unknown) => of_unknown(unknown, kernel, file),
    })
}

impl Said<'_> {
    /// The path of its place.
    pub(super) fn path(&self) -> String {
        match self.place {
            Place::At(span) => self.path_of(span),
            Place::Line(_) => self.file.path.to_string_lossy().into_owned(),
        }
    }

    /// The path of another of its places.
    pub(super) fn path_of(&self, span: Span) -> String {
        let sources = &self.file.sources;
        sources.file(sources.visible(span).file).path.to_string_lossy().into_owned()
    }

    /// Where it begins; of a whole line the first column.
    pub(super) fn start(&self) -> LineColumn {
        match self.place {
            Place::At(span) => self.file.sources.start_position(span),
            Place::Line(line) => LineColumn { line, column: 1 },
        }
    }

    /// The message alone.
    pub(super) fn message(&self) -> &str {
        self.lines.first().map_or("", String::as_str)
    }

    /// `a.cu:6:9`
    pub(super) fn location(&self) -> String {
        let at = self.start();
        one_line(&format!("{}:{}:{}", self.path(), at.line, at.column))
    }
}

fn of_diagnostic<'a>(diagnostic: &'a Diagnostic, file: &'a FileReport) -> Said<'a> {
    let lines = std::iter::once(&diagnostic.message).chain(&diagnostic.notes);
    Said {
        file,
        severity: diagnostic.severity,
        rule: diagnostic.rule.name(),
        kernel: None,
        place: Place::At(diagnostic.primary.span),
        lines: lines.map(|line| one_line(line)).collect(),
        others: diagnostic.secondary.iter().map(|label| (one_line(&label.text), label.span)).collect(),
        fix: diagnostic.fix.as_ref(),
    }
}

fn of_finding<'a>(finding: &'a Finding, kernel: &KernelReport, file: &'a FileReport) -> Said<'a> {
    let words = Vocabulary::of(file.language);
    let second = finding.secondary.map(|place| (one_line(&secondary_label(finding, place, words)), place.span));
    let launch = finding.launch.iter().map(|launch| (one_line(&launch.told()), launch.span));
    let mut lines = vec![one_line(&finding.message)];
    if let Some((label, span)) = &second {
        let at = location(&file.sources, *span);
        lines.push(one_line(&format!("{}; {label} at {at}", primary_label(finding, words))));
    }
    lines.extend(details(finding, &file.sources, words));
    Said {
        file,
        severity: finding.severity(),
        rule: finding.rule.name(),
        kernel: Some(one_line(&kernel.instance())),
        place: Place::At(finding.primary.span),
        lines,
        others: second.into_iter().chain(launch).collect(),
        fix: finding.fix.as_ref(),
    }
}

fn of_unknown<'a>(unknown: &Unknown, kernel: &KernelReport, file: &'a FileReport) -> Said<'a> {
    Said {
        file,
        severity: Severity::Note,
        rule: UNKNOWN,
        kernel: Some(one_line(&kernel.instance())),
        place: unknown.span.map_or(Place::Line(unknown.line), Place::At),
        lines: vec![one_line(&kernel.about(unknown))],
        others: Vec::new(),
        fix: None,
    }
}
