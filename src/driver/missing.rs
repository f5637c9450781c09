//! Headers that were not found and that a kernel may need: each is told once a file, where it is included.
//!
//! Deliberately absent: headers of toolkits and of the standard library, whose names are known here; headers for which a model stands in ([`super::modelled`]).

use crate::diagnostic::report::KernelReport;
use crate::diagnostic::{Diagnostic, Label, RuleId, Severity};
use crate::preprocess::{MissingInclude, ModelledHeader};
use crate::source::headers::is_known;

/// A note for each header, if some kernel is not decided.
pub(super) fn headers(
    missing: &[MissingInclude],
    modelled: &[ModelledHeader],
    kernels: &[KernelReport],
) -> Vec<Diagnostic> {
    let open = kernels.iter().filter(|kernel| !kernel.unknowns.is_empty()).count();
    if open == 0 {
        return Vec::new();
    }
    let has_stand_in = |include: &MissingInclude| modelled.iter().any(|header| header.name == include.name);
    let mut told: Vec<&str> = Vec::new();
    let mut notes = Vec::new();
    for include in missing.iter().filter(|include| !is_known(&include.name) && !has_stand_in(include)) {
        if told.contains(&include.name.as_str()) {
            continue;
        }
        told.push(&include.name);
        notes.push(note(include, open));
    }
    notes
}

fn note(include: &MissingInclude, open: usize) -> Diagnostic {
    let kernels =
        if open == 1 { "a kernel of this file needs".to_owned() } else { format!("{open} kernels of this file need") };
    Diagnostic {
        rule: RuleId::Parse,
        severity: Severity::Note,
        message: format!("`{}` was not found, and {kernels} something that is not declared", include.name),
        primary: Label { span: include.span, text: String::new() },
        secondary: Vec::new(),
        notes: vec![
            "say with -I where it is; if it is of a submodule, `git submodule update --init` brings it".to_owned(),
        ],
        fix: None,
        hidden: None,
    }
}
