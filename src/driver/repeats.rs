//! One statement is told once, in however many template instances, files that include its header or kernels that call it
//! from there it is found: the other findings stay with their kernels, which refer to the one that is told.
//!
//! Guarantees: verdicts and findings stay as they are; a proved finding never refers to a possible one.
//! Deliberately absent: findings of one kernel (`check/causes.rs`); functions of one file that several of its kernels call,
//! since what is wrong may be the call; which statements are one (`diagnostic/statement.rs`).

use crate::diagnostic::RuleId;
use crate::diagnostic::report::{Certainty, FileReport, Finding, KernelReport, Place, Report, Same};
use crate::diagnostic::statement::{At, Key, Kind, Number, Owner, Statement, repeats};
use crate::preprocess::normalized;
use std::path::Path;

/// Marks findings that repeat others, and names them at those.
pub(super) fn tell_once(report: &mut Report) {
    let found = repeats(statements(report));
    for (number, told) in found.told {
        finding_mut(report, number).telling.same = Same::Told(told);
    }
    for (number, also) in found.also {
        finding_mut(report, number).telling.same = Same::Also(also);
    }
}

/// What all findings state but hints and those that nobody wants to be told of: others must not be told with these.
pub fn statements(report: &Report) -> Vec<Statement> {
    let mut statements = Vec::new();
    for (at_file, file) in report.files.iter().enumerate() {
        for (at_kernel, kernel) in file.kernels.iter().enumerate() {
            let findings =
                kernel.findings.iter().enumerate().filter(|(_, it)| kind(it.rule).is_some() && !it.is_hidden());
            let number = |at| [at_file, at_kernel, at];
            statements.extend(findings.map(|(at, finding)| statement(number(at), file, kernel, finding)));
        }
    }
    statements
}

fn statement(number: Number, file: &FileReport, kernel: &KernelReport, finding: &Finding) -> Statement {
    Statement {
        number,
        is_possible: finding.certainty == Certainty::Possible,
        path: file.path.clone(),
        kernel: kernel.instance(),
        line: kernel.line,
        own: keys(file, kernel, finding),
        related: finding.related.iter().flat_map(|related| keys(file, kernel, related)).collect(),
    }
}

fn kind(rule: RuleId) -> Option<Kind> {
    match rule {
        RuleId::DataRace
        | RuleId::WarpSynchronous
        | RuleId::SameValueWrite
        | RuleId::DataDependentIndex
        | RuleId::DataDependentControl => Some(Kind::Race),
        RuleId::BarrierDivergence => Some(Kind::Divergence),
        RuleId::Assertion | RuleId::ArrayBounds => Some(Kind::Claim),
        RuleId::RedundantBarrier
        | RuleId::ImpossibleLaunch
        | RuleId::BrokenContract
        | RuleId::OpenContract
        | RuleId::UnusedSuppression
        | RuleId::InvalidSuppression
        | RuleId::Unsupported
        | RuleId::Parse => None,
    }
}

fn keys(file: &FileReport, kernel: &KernelReport, finding: &Finding) -> Vec<Key> {
    let Some(kind) = kind(finding.rule) else { return Vec::new() };
    let second = finding.secondary.unwrap_or(finding.primary);
    let mut places = [finding.primary, second].map(|place| at(file, place));
    places.sort_unstable();
    let own = named(kernel.path.as_ref().unwrap_or(&file.path));
    let main = named(&file.path);
    let mut owners = vec![Owner::Kernel(own, kernel.line, kernel.name.clone())];
    if places.iter().all(|(path, ..)| *path != main) {
        owners.push(Owner::Header);
    }
    owners.into_iter().map(|owner| Key { owner, kind, places: places.clone() }).collect()
}

fn at(file: &FileReport, place: Place) -> At {
    let start = file.sources.start_position(place.span);
    let path = &file.sources.file(file.sources.visible(place.span).file).path;
    (named(path), start.line, start.column)
}

/// A path as text, of which no two are alike: one that is no text is written with its bytes.
fn named(path: &Path) -> String {
    let path = normalized(path);
    path.to_str().map_or_else(|| format!("{:?}", path.as_os_str().as_encoded_bytes()), str::to_owned)
}

fn finding_mut(report: &mut Report, [file, kernel, finding]: Number) -> &mut Finding {
    &mut report.files[file].kernels[kernel].findings[finding]
}
