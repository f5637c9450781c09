//! The places in a report, one after the other.
//!
//! Guarantees: none is left out. Every part is taken apart field by field: one that is added does not compile until it is told
//! here whether it has places.

use super::report::{
    BreakingLaunch, CheckedLaunch, Contract, FileReport, Finding, FindingReason, Fix, FixEdit, KernelReport, Place,
    Telling, Unknown,
};
use super::suppression::{Comment, Hidden, Named};
use super::{Diagnostic, Label};
use crate::source::Span;

/// Calls `change` with each place of a report, but for those of its sources.
pub fn each_span(file: &mut FileReport, change: &mut impl FnMut(&mut Span)) {
    let FileReport {
        path: _,
        language: _,
        front: _,
        parse: _,
        kernels,
        diagnostics,
        comments,
        unasked: _,
        spent: _,
        sources: _,
    } = file;
    comments.iter_mut().for_each(|it| of_comment(it, change));
    diagnostics.iter_mut().for_each(|it| of_diagnostic(it, change));
    kernels.iter_mut().for_each(|it| of_kernel(it, change));
}

fn of_diagnostic(diagnostic: &mut Diagnostic, change: &mut impl FnMut(&mut Span)) {
    let Diagnostic { rule: _, severity: _, message: _, primary, secondary, notes: _, fix, hidden } = diagnostic;
    for Label { span, text: _ } in std::iter::once(primary).chain(secondary) {
        change(span);
    }
    of_fix(fix.as_mut(), change);
    of_hidden(hidden.as_mut(), change);
}

fn of_comment(comment: &mut Comment, change: &mut impl FnMut(&mut Span)) {
    let Comment { span, removal, reach: _, rules, reason: _, slip: _, is_read: _ } = comment;
    change(span);
    change(removal);
    rules.iter_mut().for_each(|Named { name: _, span }| change(span));
}

fn of_fix(fix: Option<&mut Fix>, change: &mut impl FnMut(&mut Span)) {
    if let Some(Fix { message: _, edits }) = fix {
        edits.iter_mut().for_each(|FixEdit { span, text: _ }| change(span));
    }
}

fn of_hidden(hidden: Option<&mut Hidden>, change: &mut impl FnMut(&mut Span)) {
    match hidden {
        Some(Hidden::Comment { span, reason: _ }) => change(span),
        Some(Hidden::Baseline { path: _ } | Hidden::Settings { place: _ }) | None => {}
    }
}

fn of_kernel(kernel: &mut KernelReport, change: &mut impl FnMut(&mut Span)) {
    let KernelReport {
        name: _,
        line: _,
        path: _,
        front: _,
        template_args: _,
        params: _,
        race: _,
        divergence: _,
        scope: _,
        determinism: _,
        deciding: _,
        assumptions: _,
        spent: _,
        contract,
        findings,
        unknowns,
    } = kernel;
    if let Some(Contract { conjuncts: _, is_plausible: _, assumptions: _, launches, stated: _ }) = contract {
        for CheckedLaunch { span, keeping: _, missing: _ } in launches {
            change(span);
        }
    }
    findings.iter_mut().for_each(|it| of_finding(it, change));
    for Unknown { line: _, also: _, span, reason: _ } in unknowns {
        span.iter_mut().for_each(&mut *change);
    }
}

fn of_finding(finding: &mut Finding, change: &mut impl FnMut(&mut Span)) {
    let Finding {
        rule: _,
        certainty: _,
        level: _,
        array: _,
        message: _,
        primary,
        secondary,
        reasons,
        witness: _,
        launch,
        contents: _,
        notes: _,
        reproduction: _,
        fix,
        related,
        telling: Telling { same: _, hidden, severity: _ },
    } = finding;
    for Place { span, access: _ } in std::iter::once(primary).chain(secondary) {
        change(span);
    }
    for FindingReason { kind: _, span } in reasons {
        span.iter_mut().for_each(&mut *change);
    }
    if let Some(BreakingLaunch { span, breaks: _ }) = launch {
        change(span);
    }
    of_fix(fix.as_mut(), change);
    of_hidden(hidden.as_mut(), change);
    related.iter_mut().for_each(|it| of_finding(it, change));
}
