//! One statement is told once, in however many template instances, files that include its header or kernels that call it
//! from there it is found: the other findings stay with their kernels, which refer to the one that is told.
//!
//! Guarantees: verdicts and findings stay as they are; a proved finding never refers to a possible one.
//! Deliberately absent: findings of one kernel (`check/causes.rs`); functions of one file that several of its kernels call,
//! since what is wrong may be the call.

use crate::diagnostic::RuleId;
use crate::diagnostic::report::{Certainty, FileReport, Finding, Instance, KernelReport, Place, Report, Same};
use crate::preprocess::normalized;
use rustc_hash::FxHashMap;
use std::path::PathBuf;

/// Where something stands, alike in every file that includes it.
type At = (PathBuf, u32, u32);

/// Whose statement it is.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Owner {
    /// Of all instances of a kernel.
    Kernel(PathBuf, u32, String),
    /// Of a header.
    Header,
}

/// Findings with one key are one.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    owner: Owner,
    kind: Kind,
    places: [At; 2],
}

/// Findings of two kinds are never one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Race,
    Divergence,
    Claim,
}

/// The number of a file, of a kernel in it, and of a finding of that.
type Number = [usize; 3];

/// Marks findings that repeat others, and names them at those.
pub(super) fn tell_once(report: &mut Report) {
    let mut told: FxHashMap<Key, Number> = FxHashMap::default();
    let mut repeats: Vec<(Number, Number)> = Vec::new();
    for number in numbers(report) {
        let [file, kernel, finding] = number;
        let file = &report.files[file];
        let kernel = &file.kernels[kernel];
        let finding = &kernel.findings[finding];
        match keys(file, kernel, finding).iter().find_map(|key| told.get(key)) {
            Some(first) => repeats.push((number, *first)),
            None => {
                for key in finding.each().flat_map(|finding| keys(file, kernel, finding)) {
                    told.entry(key).or_insert(number);
                }
            }
        }
    }
    for (number, first) in repeats {
        let (here, there) = (instance(report, number), instance(report, first));
        finding_mut(report, number).same = Same::Told(there);
        match &mut finding_mut(report, first).same {
            Same::Also(instances) if instances.contains(&here) => {}
            Same::Also(instances) => instances.push(here),
            same => *same = Same::Also(vec![here]),
        }
    }
}

/// All findings but hints, the proved ones first.
fn numbers(report: &Report) -> Vec<Number> {
    let mut numbers: Vec<(bool, Number)> = Vec::new();
    for (file, report) in report.files.iter().enumerate() {
        for (kernel, report) in report.kernels.iter().enumerate() {
            let findings = report.findings.iter().enumerate().filter(|(_, it)| kind(it.rule).is_some());
            numbers.extend(findings.map(|(at, it)| (it.certainty == Certainty::Possible, [file, kernel, at])));
        }
    }
    numbers.sort_unstable();
    numbers.into_iter().map(|(_, number)| number).collect()
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
        | RuleId::Unsupported
        | RuleId::Parse => None,
    }
}

fn keys(file: &FileReport, kernel: &KernelReport, finding: &Finding) -> Vec<Key> {
    let Some(kind) = kind(finding.rule) else { return Vec::new() };
    let second = finding.secondary.unwrap_or(finding.primary);
    let mut places = [finding.primary, second].map(|place| at(file, place));
    places.sort_unstable();
    let own = normalized(kernel.path.as_ref().unwrap_or(&file.path));
    let main = normalized(&file.path);
    let mut owners = vec![Owner::Kernel(own, kernel.line, kernel.name.clone())];
    if places.iter().all(|(path, ..)| *path != main) {
        owners.push(Owner::Header);
    }
    owners.into_iter().map(|owner| Key { owner, kind, places: places.clone() }).collect()
}

fn at(file: &FileReport, place: Place) -> At {
    let start = file.sources.start_position(place.span);
    let path = &file.sources.file(file.sources.visible(place.span).file).path;
    (normalized(path), start.line, start.column)
}

fn instance(report: &Report, [file, kernel, _]: Number) -> Instance {
    let file = &report.files[file];
    let kernel = &file.kernels[kernel];
    Instance { path: file.path.clone(), kernel: kernel.instance(), line: kernel.line }
}

fn finding_mut(report: &mut Report, [file, kernel, finding]: Number) -> &mut Finding {
    &mut report.files[file].kernels[kernel].findings[finding]
}
