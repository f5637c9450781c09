//! GitLab's code quality report: findings appear at their lines in a merge request, and those that the target branch has too
//! are left out there.
//!
//! An array with one object for each finding: `description`, `check_name`, `fingerprint`, `severity`, `location`. A proved
//! finding is `critical`, a possible one `major`. Paths are relative to where raceproof ran, which must be the root of the
//! repository, and stand as they are: GitLab compares them with names of files, not with URIs.
//!
//! Guarantees: no two objects have one fingerprint, and fingerprints survive edits elsewhere in the file.
//! Deliberately absent: what is unknown, and suggestions. The report is a list of defects, and GitLab has no severity that
//! does not count as one; `sarif` has both.

use super::fingerprint::Fingerprints;
use super::one_line;
use super::places::{location, secondary_label, sentence};
use crate::diagnostic::report::{FileReport, Finding, KernelReport, Report};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{SourceMap, Span};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Issue {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
    end: u32,
}

/// Writes the findings of `report`.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut fingerprints = Fingerprints::default();
    let mut issues = Vec::new();
    for file in &report.files {
        let diagnostics = file.diagnostics.iter().filter(|it| it.hidden.is_none());
        issues.extend(diagnostics.filter_map(|it| of_diagnostic(it, file, &mut fingerprints)));
        for kernel in &file.kernels {
            issues.extend(kernel.told().filter_map(|it| of_finding(it, kernel, file, &mut fingerprints)));
        }
    }
    serde_json::to_writer_pretty(&mut *out, &issues)?;
    writeln!(out)
}

/// Nothing for what is no defect.
fn severity(severity: Severity) -> Option<&'static str> {
    match severity {
        Severity::Error => Some("critical"),
        Severity::Warning => Some("major"),
        Severity::Note | Severity::Hint => None,
    }
}

fn of_diagnostic(diagnostic: &Diagnostic, file: &FileReport, fingerprints: &mut Fingerprints) -> Option<Issue> {
    let severity = severity(diagnostic.severity)?;
    let (rule, span) = (diagnostic.rule.name(), diagnostic.primary.span);
    Some(Issue {
        description: one_line(&diagnostic.message),
        check_name: rule,
        fingerprint: fingerprints.of(rule, file, "", &[span], &diagnostic.message),
        severity,
        location: lines(span, &file.sources),
    })
}

fn of_finding(
    finding: &Finding,
    kernel: &KernelReport,
    file: &FileReport,
    fingerprints: &mut Fingerprints,
) -> Option<Issue> {
    let severity = severity(finding.severity())?;
    let (rule, words) = (finding.rule.name(), Vocabulary::of(file.language));
    let places: Vec<Span> = std::iter::once(finding.primary.span).chain(finding.secondary.map(|it| it.span)).collect();
    let second = finding.secondary.map(|place| {
        let at = location(&file.sources, place.span);
        format!("; {} at {at}", secondary_label(finding, place, words))
    });
    Some(Issue {
        description: one_line(&format!("{}{}", sentence(finding, words), second.unwrap_or_default())),
        check_name: rule,
        fingerprint: fingerprints.of(rule, file, &kernel.name, &places, finding.level.name()),
        severity,
        location: lines(finding.primary.span, &file.sources),
    })
}

/// The visible lines of a span.
fn lines(span: Span, sources: &SourceMap) -> Location {
    let path = sources.file(sources.visible(span).file).path.to_string_lossy().replace('\\', "/");
    let (begin, end) = (sources.start_position(span).line, sources.end_position(span).line);
    Location { path: path.trim_start_matches("./").to_owned(), lines: Lines { begin, end } }
}
