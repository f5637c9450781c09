//! What is told of a unit beside its tokens.

use super::{Include, MissingInclude, ModelledHeader, SoughtHeader};
use crate::diagnostic::{Diagnostic, Label, RuleId, Severity};
use crate::source::Span;

/// Complaints about one unit; a mistake in a loop of macros would repeat itself without end.
const MOST_DIAGNOSTICS: usize = 100;

/// What has been told so far.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) missing_includes: Vec<MissingInclude>,
    pub(super) sought: Vec<SoughtHeader>,
    pub(super) modelled: Vec<ModelledHeader>,
    pub(super) includes: Vec<Include>,
    pub(super) skipped: Vec<Span>,
    pub(super) left_out: Vec<Span>,
    pub(super) undecided: Vec<Span>,
    /// Whether a budget is used up.
    pub(super) gave_up: bool,
}

impl Told {
    pub(super) fn complain(&mut self, span: Span, message: &str) {
        self.report(Severity::Warning, span, message);
    }

    pub(super) fn report(&mut self, severity: Severity, span: Span, message: &str) {
        if self.diagnostics.len() >= MOST_DIAGNOSTICS && severity != Severity::Error {
            return;
        }
        self.diagnostics.push(Diagnostic {
            rule: RuleId::Parse,
            severity,
            message: message.to_owned(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            notes: Vec::new(),
            fix: None,
            hidden: None,
        });
    }

    /// Stops at a budget: nothing more is read, and the file says so.
    pub(super) fn give_up(&mut self, span: Span, why: &str) {
        self.report(Severity::Error, span, &format!("{why}; the file is not read"));
        self.gave_up = true;
    }

    /// A header that was found by its name, once.
    pub(super) fn seek(&mut self, sought: SoughtHeader) {
        if !self.sought.contains(&sought) {
            self.sought.push(sought);
        }
    }
}
