//! Findings as the protocol has them.

use super::pages::Pages;
use super::positions::{Encoding, Lines};
use super::uri;
use crate::diagnostic::render::editor::{Remark, remarks};
use crate::diagnostic::report::Report;
use crate::diagnostic::{RuleId, Severity, UNKNOWN};
use crate::source::disk::absolute;
use crate::source::{FileId, SourceMap, Span};
use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location,
    NumberOrString,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Who speaks.
pub(super) const SOURCE: &str = "raceproof";

/// What is said of each file that the report of one file has something to say of; that file is always among them.
pub(super) fn of_report(
    report: &Report,
    encoding: Encoding,
    pages: &Pages,
) -> BTreeMap<PathBuf, Vec<(Remark, Diagnostic)>> {
    let mut found: BTreeMap<PathBuf, Vec<(Remark, Diagnostic)>> = BTreeMap::new();
    for file in &report.files {
        found.entry(absolute(&file.path)).or_default();
        let of_file = Report { files: vec![file.clone()] };
        for remark in remarks(&of_file) {
            let target = match remark.span {
                Some(span) => path_of(&file.sources, file.sources.visible(span).file),
                None => absolute(&file.path),
            };
            let diagnostic = diagnostic(&remark, &file.sources, encoding, pages);
            found.entry(target).or_default().push((remark, diagnostic));
        }
    }
    found
}

fn path_of(sources: &SourceMap, file: FileId) -> PathBuf {
    absolute(&sources.file(file).path)
}

/// A place in a file.
pub(super) fn location(sources: &SourceMap, span: Span, encoding: Encoding) -> Location {
    let file = sources.visible(span).file;
    Location { uri: uri::of_path(&path_of(sources, file)), range: encoding.range(sources, span) }
}

fn diagnostic(remark: &Remark, sources: &SourceMap, encoding: Encoding, pages: &Pages) -> Diagnostic {
    let range = match remark.span {
        Some(span) => encoding.range(sources, span),
        None => sources.files().next().map_or_else(Default::default, |(_, file)| {
            encoding.line_of_report(&file.text, &Lines::new(&file.text), remark.line)
        }),
    };
    let related = remark.related.iter().map(|(span, message)| DiagnosticRelatedInformation {
        location: location(sources, *span, encoding),
        message: message.clone(),
    });
    let related: Vec<_> = related.collect();
    Diagnostic {
        range,
        severity: Some(severity(remark.severity)),
        code: Some(NumberOrString::String(remark.rule.map_or(UNKNOWN, RuleId::name).to_owned())),
        code_description: pages.page(remark.rule).map(|href| CodeDescription { href }),
        source: Some(SOURCE.to_owned()),
        message: remark.message.clone(),
        related_information: (!related.is_empty()).then_some(related),
        tags: (remark.rule == Some(RuleId::RedundantBarrier)).then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: None,
    }
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Note => DiagnosticSeverity::INFORMATION,
        Severity::Hint => DiagnosticSeverity::HINT,
    }
}
