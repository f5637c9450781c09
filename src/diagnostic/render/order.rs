//! In which order a list of findings is read: errors first, then warnings, then what is not decided, each by file.

use crate::diagnostic::report::{FileReport, Finding, KernelReport, Report, Unknown};
use crate::diagnostic::{Diagnostic, Severity};
use std::cmp::Reverse;

/// One thing that is said, with where it belongs.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    /// Of a file.
    Diagnostic(&'a FileReport, &'a Diagnostic),
    /// Of a kernel.
    Finding(&'a FileReport, &'a KernelReport, &'a Finding),
    /// Of a kernel.
    Unknown(&'a FileReport, &'a KernelReport, &'a Unknown),
}

impl Item<'_> {
    fn severity(&self) -> Severity {
        match self {
            Item::Diagnostic(_, diagnostic) => diagnostic.severity,
            Item::Finding(.., finding) => finding.severity(),
            Item::Unknown(..) => Severity::Note,
        }
    }
}

/// All that a report says, in order.
pub(super) fn items(report: &Report) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> = report.files.iter().flat_map(of_file).collect();
    items.sort_by_key(|item| Reverse(item.severity()));
    items
}

fn of_file(file: &FileReport) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> =
        file.diagnostics.iter().filter(|it| it.hidden.is_none()).map(|it| Item::Diagnostic(file, it)).collect();
    for kernel in &file.kernels {
        items.extend(kernel.told().map(|it| Item::Finding(file, kernel, it)));
        items.extend(kernel.unknowns.iter().map(|it| Item::Unknown(file, kernel, it)));
    }
    items
}
