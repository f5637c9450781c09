//! What the laws of counters, locks, flags and clusters have in common: random kernels are checked, every proof is rechecked,
//! and what is called race-free is held against runs.

use crate::support::draw::Law;
use raceproof::calculus::Kernel;
use raceproof::diagnostic::report::{KernelReport, Race};
use raceproof::driver::options::{Launches, Proofs, Settings};
use raceproof::driver::{Options, check_source};
use raceproof::front::tree_sitter;
use raceproof::settle::Unsettled;
use raceproof::source::{Language, SourceMap};
use raceproof::{launch, lower, preprocess};
use std::path::Path;

/// What became of the kernels.
pub(super) struct Tally<const N: usize> {
    pub(super) kernels: usize,
    /// Those of which some run shows a conflict.
    pub(super) refuted: usize,
    /// Those that are proved and of which the questions hold, in order.
    pub(super) proved: [usize; N],
}

/// Checks the kernels of a law; panics where one is proved and `refutation` finds a run that conflicts.
pub(super) fn against_runs<const N: usize>(
    law: &Law,
    kernel: impl Fn(u64) -> String + Sync,
    refutation: impl Fn(&str, &KernelReport) -> Option<String> + Sync,
    questions: impl Fn(&str, &KernelReport) -> [bool; N] + Sync,
) -> Tally<N> {
    let outcomes: Vec<(bool, [bool; N])> = law.each(|seed| {
        let text = kernel(seed);
        let report = &rechecked(&text);
        let is_free = report.race == Race::RaceFree;
        let refuted = refutation(&text, report);
        if let Some(found) = refuted.as_ref().filter(|_| is_free) {
            panic!("seed {seed}: {found}\n{text}\n{:?}", report.assumptions);
        }
        (refuted.is_some(), questions(&text, report).map(|holds| holds && is_free))
    });
    let proved = std::array::from_fn(|question| outcomes.iter().filter(|(_, holds)| holds[question]).count());
    let refuted = outcomes.iter().filter(|(refuted, _)| *refuted).count();
    Tally { kernels: outcomes.len(), refuted, proved }
}

/// The language of a text, and the name of its file.
fn language(text: &str) -> (Language, &'static str) {
    if text.contains("__global__") { (Language::Cuda, "k.cu") } else { (Language::OpenCl, "k.cl") }
}

/// The one kernel of a text.
pub(super) fn lowered(text: &str) -> Kernel {
    walked(text).settled()
}

/// The same as the walk over its text leaves it.
pub(super) fn walked(text: &str) -> Unsettled {
    let (language, path) = language(text);
    let mut sources = SourceMap::new();
    let main = sources.add_file(path, text);
    let answer = tree_sitter::parse(sources, main, &preprocess::Options::new(language));
    lower::kernels(&launch::resolve(answer.unit).launched.program).remove(0)
}

/// What is said of the one kernel of a text of which every proof is checked again, and holds.
pub(super) fn rechecked(text: &str) -> KernelReport {
    rechecked_for(text, Launches::All)
}

/// The same of these launches.
pub(super) fn rechecked_for(text: &str, launches: Launches) -> KernelReport {
    let judging = Settings { proofs: Proofs::Recheck, launches, ..Settings::default() };
    let options = Options { judging, ..Options::default() };
    let mut checked = check_source(Path::new(language(text).1), text, &options);
    assert!(checked.bugs.is_empty(), "{:?}\n{text}", checked.bugs);
    let report = checked.report.kernels.remove(0);
    let rejected = report.unknowns.iter().find(|unknown| unknown.reason.contains("bug in raceproof"));
    assert!(rejected.is_none(), "{rejected:?}\n{text}");
    report
}

/// Whether a proof assumes what some words say.
pub(super) fn assumes(report: &KernelReport, what: &str) -> bool {
    report.assumptions.iter().any(|assumption| assumption.text.contains(what))
}
