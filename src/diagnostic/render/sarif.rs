//! SARIF 2.1.0 for code scanning: one run with all rules and a result for every finding and every unknown.
//!
//! Proved findings have level `error`, possible ones `warning`. What is unknown is no defect: its results are of
//! kind `open`, level `none`, under the rule `unknown`. The second access is a related location, and so
//! are others of the same cause. Fingerprints
//! survive edits elsewhere in the file: they depend on the rule, the file, the kernel and the text of both
//! places, and on how many equal results come before. A finding that a fix ends carries it, edit by edit.
//!
//! A log keeps the JSON schema of the standard, and Microsoft's validator (`sarif validate`) warns of nothing but the missing
//! address of the tool. What it asks for besides is not meant: snippets, which who shows results takes from the source; numbers
//! for rules, which have names; addresses of their pages, which are there as `help`; patterns for messages; the revision; and
//! `automationDetails`, which whoever uploads a log sets, and could not if it were there.
//!
//! Deliberately absent: what the pages of the rules say; they are handed in ([`Pages`]).

mod log;

use super::fingerprint::Fingerprints;
use super::one_line;
use super::places::{details, primary_label, secondary_label};
use crate::diagnostic::report::{FileReport, Finding, Fix, KernelReport, Report, Unknown};
use crate::diagnostic::shard::{Origin, Shard};
use crate::diagnostic::suppression::Hidden;
use crate::diagnostic::vocabulary::Vocabulary;
use crate::diagnostic::{Diagnostic, RuleId, Severity, UNKNOWN};
use crate::source::{SourceMap, Span};
use log::{
    ArtifactChange, FixJson, Location, Log, LogicalLocation, Message, PhysicalLocation, Properties, Region,
    Replacement, ResultJson, Rule, SuppressionJson,
};
pub(in crate::diagnostic) use log::{CARRIED, Carried};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The page of a rule, in Markdown, with a section `## What it does`; without a rule that of `unknown`, the rule of results that are
/// no findings.
pub type Pages<'a> = &'a dyn Fn(Option<RuleId>) -> &'static str;

/// The name of the way in which fingerprints are computed; another way needs another name.
pub(in crate::diagnostic) const FINGERPRINT: &str = "raceproof/v1";

/// Writes `report` as one log.
pub fn render(report: &Report, pages: Pages<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (_, results) = results(report);
    serde_json::to_writer_pretty(&mut *out, &Log::new(rules(pages), results, None))?;
    writeln!(out)
}

/// Writes the report of a shard as one log, with what the shard carries among the properties of the run.
pub fn render_shard(report: &Report, pages: Pages<'_>, shard: &Shard, out: &mut dyn Write) -> io::Result<()> {
    let (origins, results) = results(report);
    let carried = Carried { shard: Cow::Borrowed(shard), results: origins };
    serde_json::to_writer_pretty(&mut *out, &Log::new(rules(pages), results, Some(carried)))?;
    writeln!(out)
}

/// All results, and where each belongs.
fn results(report: &Report) -> (Vec<Origin>, Vec<ResultJson>) {
    let mut fingerprints = Fingerprints::default();
    let mut results = Vec::new();
    for (at_file, file) in report.files.iter().enumerate() {
        let other = Origin { file: at_file, finding: None, below: 0 };
        for diagnostic in &file.diagnostics {
            results.push((other.clone(), of_diagnostic(diagnostic, file, &mut fingerprints)));
        }
        for (at_kernel, kernel) in file.kernels.iter().enumerate() {
            let findings = kernel.findings.iter().enumerate().filter(|(_, it)| !it.is_told_elsewhere());
            for (at, finding) in findings {
                let below = usize::from(!finding.notes.is_empty());
                let origin = Origin { file: at_file, finding: Some([at_kernel, at]), below };
                results.push((origin, of_finding(finding, kernel, file, &mut fingerprints)));
            }
            for unknown in &kernel.unknowns {
                results.push((other.clone(), of_unknown(unknown, kernel, file, &mut fingerprints)));
            }
        }
    }
    results.into_iter().unzip()
}

/// All rules, in their order, and `unknown` behind them.
fn rules(pages: Pages<'_>) -> Vec<Rule> {
    let named = RuleId::ALL.into_iter().map(|rule| {
        let page = pages(Some(rule));
        Rule::new(rule.name(), name(rule), summary(page), page, default_level(rule))
    });
    let page = pages(None);
    let unknown = Rule::new(UNKNOWN, "UndecidedKernel".to_owned(), summary(page), page, "none");
    named.chain([unknown]).collect()
}

/// A name that is not the id with other capitals, which would say nothing.
fn name(rule: RuleId) -> String {
    match rule {
        RuleId::Assertion => "FailedAssertion".to_owned(),
        RuleId::Unsupported => "UnsupportedConstruct".to_owned(),
        RuleId::Parse => "SyntaxError".to_owned(),
        other => other.name().split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect(),
    }
}

/// The level of a proved finding of the rule.
fn default_level(rule: RuleId) -> &'static str {
    match rule {
        RuleId::DataDependentIndex | RuleId::DataDependentControl => "warning",
        RuleId::ImpossibleLaunch | RuleId::OpenContract | RuleId::Parse => "warning",
        RuleId::UnusedSuppression | RuleId::InvalidSuppression => "warning",
        RuleId::Unsupported | RuleId::RedundantBarrier => "note",
        _ => "error",
    }
}

/// The first paragraph of a page's first section, on one line.
fn summary(page: &str) -> String {
    let text = page.split("## What it does").nth(1).unwrap_or("").trim_start();
    let paragraph = text.split("\n\n").next().unwrap_or("");
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ").replace(['`', '*'], "")
}

/// A fingerprint under the name of its kind.
fn named(fingerprint: String) -> BTreeMap<&'static str, String> {
    BTreeMap::from([(FINGERPRINT, fingerprint)])
}

fn index_of(rule: RuleId) -> usize {
    RuleId::ALL.iter().position(|&known| known == rule).unwrap_or(RuleId::ALL.len())
}

fn of_diagnostic(diagnostic: &Diagnostic, file: &FileReport, fingerprints: &mut Fingerprints) -> ResultJson {
    let (kind, level) = match diagnostic.severity {
        Severity::Error => ("fail", "error"),
        Severity::Warning => ("fail", "warning"),
        Severity::Note | Severity::Hint => ("informational", "none"),
    };
    let rule = diagnostic.rule.name();
    let span = diagnostic.primary.span;
    let related = diagnostic.secondary.iter().enumerate();
    let related = related.map(|(at, label)| related_at(at, &label.text, label.span, &file.sources)).collect();
    ResultJson {
        rule_id: rule,
        rule_index: index_of(diagnostic.rule),
        kind,
        level,
        message: Message { text: one_line(&diagnostic.message) },
        locations: vec![Location::at(physical(span, &file.sources), None)],
        related_locations: related,
        partial_fingerprints: named(fingerprints.of(rule, file, "", &[span], &diagnostic.message)),
        fixes: diagnostic.fix.iter().map(|fix| fix_of(fix, file)).collect(),
        suppressions: suppressions(diagnostic.hidden.as_ref(), file),
        properties: Properties::default(),
    }
}

fn of_finding(
    finding: &Finding,
    kernel: &KernelReport,
    file: &FileReport,
    fingerprints: &mut Fingerprints,
) -> ResultJson {
    let words = Vocabulary::of(file.language);
    let level = match finding.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note | Severity::Hint => "note",
    };
    let rule = finding.rule.name();
    let places: Vec<Span> = std::iter::once(finding.primary.span).chain(finding.secondary.map(|it| it.span)).collect();
    let mut location = Location::at(physical(finding.primary.span, &file.sources), Some(logical(kernel)));
    location.message = Some(Message { text: primary_label(finding, words) });
    let second = finding.secondary.map(|place| (secondary_label(finding, place, words), place.span));
    let reasons = finding.reasons.iter().filter_map(|reason| Some((reason.kind.clone(), reason.span?)));
    let same = finding.related.iter().map(|it| (it.message.clone(), it.primary.span));
    let launch = finding.launch.iter().map(|launch| (launch.told(), launch.span));
    let mut related: Vec<(String, Span)> = second.into_iter().chain(launch).chain(reasons).chain(same).collect();
    let mut seen = FxHashSet::default();
    related.retain(|located| seen.insert(located.clone()));
    let related = related.into_iter().enumerate();
    let related = related.map(|(at, (text, span))| related_at(at, &text, span, &file.sources)).collect();
    ResultJson {
        rule_id: rule,
        rule_index: index_of(finding.rule),
        kind: "fail",
        level,
        message: Message { text: with_advice(finding, file, words) },
        locations: vec![location],
        related_locations: related,
        partial_fingerprints: named(fingerprints.of(rule, file, &kernel.name, &places, finding.level.name())),
        fixes: finding.fix.iter().map(|fix| fix_of(fix, file)).collect(),
        suppressions: suppressions(finding.telling.hidden.as_ref(), file),
        properties: Properties::of(finding),
    }
}

/// Who does not want to be told of a result: a comment in the source, or a file beside it.
fn suppressions(hidden: Option<&Hidden>, file: &FileReport) -> Vec<SuppressionJson> {
    let suppression = |hidden: &Hidden| {
        let (kind, location) = match hidden {
            Hidden::Comment { span, .. } => ("inSource", Some(Location::at(physical(*span, &file.sources), None))),
            Hidden::Baseline { .. } | Hidden::Settings { .. } => ("external", None),
        };
        SuppressionJson { kind, justification: one_line(&hidden.reason()), location }
    };
    hidden.map(suppression).into_iter().collect()
}

/// All edits of a fix, which lie in one file.
fn fix_of(fix: &Fix, file: &FileReport) -> FixJson {
    let replacements = fix.edits.iter().map(|edit| Replacement {
        deleted_region: Region::between(file.sources.start_position(edit.span), file.sources.end_position(edit.span)),
        inserted_content: Message { text: edit.text.clone() },
    });
    let changed = fix.edits.first().map_or(&file.path, |edit| &file.sources.file(edit.span.file).path);
    FixJson {
        description: Message { text: fix.message.clone() },
        artifact_changes: [ArtifactChange::new(changed, replacements.collect())],
    }
}

/// The message, and below it the launch that shows it, what else it speaks for, and what can be done.
fn with_advice(finding: &Finding, file: &FileReport, words: &Vocabulary) -> String {
    let mut lines = vec![one_line(&finding.message)];
    lines.extend(details(finding, &file.sources, words));
    lines.join("\n")
}

fn of_unknown(
    unknown: &Unknown,
    kernel: &KernelReport,
    file: &FileReport,
    fingerprints: &mut Fingerprints,
) -> ResultJson {
    let physical = match unknown.span {
        Some(span) => physical(span, &file.sources),
        None => PhysicalLocation::new(&file.path, Region::line(unknown.line)),
    };
    let spans: Vec<Span> = unknown.span.into_iter().collect();
    ResultJson {
        rule_id: UNKNOWN,
        rule_index: RuleId::ALL.len(),
        kind: "open",
        level: "none",
        message: Message { text: one_line(&kernel.about(unknown)) },
        locations: vec![Location::at(physical, Some(logical(kernel)))],
        related_locations: Vec::new(),
        partial_fingerprints: named(fingerprints.of(UNKNOWN, file, &kernel.name, &spans, &unknown.reason)),
        fixes: Vec::new(),
        suppressions: Vec::new(),
        properties: Properties::default(),
    }
}

fn logical(kernel: &KernelReport) -> LogicalLocation {
    LogicalLocation { fully_qualified_name: kernel.instance(), kind: "function" }
}

fn related_at(at: usize, text: &str, span: Span, sources: &SourceMap) -> Location {
    let mut location = Location::at(physical(span, sources), None);
    location.id = Some(at + 1);
    location.message = Some(Message { text: one_line(text) });
    location
}

/// The visible range of a span.
fn physical(span: Span, sources: &SourceMap) -> PhysicalLocation {
    let (start, end) = (sources.start_position(span), sources.end_position(span));
    let path = &sources.file(sources.visible(span).file).path;
    PhysicalLocation::new(path, Region::between(start, end))
}
