//! What is called race-free for all geometries has no conflict in any small launch, and what is called uniform no
//! barrier that threads disagree about.
//!
//! The whole path from source text is asked, with every derivation re-checked; the runs are those of the executable
//! semantics, in machine arithmetic. A minimum of kernels must be proved, so that the law says something.

use super::handed::walked;
use super::source::{Barriers, kernel};
use super::tickets;
use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough};
use crate::support::tier::tiers;
use raceproof::calculus::eval::{Blocks, Contents, History, Program, Setup, run};
use raceproof::calculus::{Geometry, Kernel, SiteId};
use raceproof::diagnostic::report::{AssumptionKind, Divergence, KernelReport, Race};
use raceproof::driver::options::{Launches, Proofs, Settings};
use raceproof::driver::{Options, check_source};
use raceproof::prove::Scope;
use raceproof::prove::refute::{Budget, Levels, search};
use raceproof::settle::lockstep::in_step;
use std::path::Path;

const OF_ALL: Law = Law::new("proofs", tiers(15, 75, 600));
const OF_SOME: Law = Law::new("proofs_of_some", tiers(15, 75, 600));
const TOGETHER: Law = Law::new("proofs_together", tiers(15, 75, 600));
const IN_STEP: Law = Law::new("proofs_in_step", tiers(10, 40, 600));
const BLOCKS: [u32; 8] = [1, 2, 3, 4, 5, 8, 33, 64];

/// What was claimed of a kernel.
struct Claim {
    race_free: bool,
    uniform: bool,
    /// Whether wrapping was assumed away.
    no_wrap: bool,
    /// Whether the second dimension was taken as 1.
    flat: bool,
}

impl Claim {
    fn of(report: &KernelReport) -> Claim {
        Claim {
            race_free: report.race == Race::RaceFree,
            uniform: report.divergence == Divergence::Uniform,
            no_wrap: report.assumptions.iter().any(|assumption| assumption.kind == AssumptionKind::NoUnsignedWrap),
            flat: report.assumptions.iter().any(|assumption| assumption.text.contains("blockDim.y = 1")),
        }
    }
}

/// A launch that shows the claim wrong.
fn refutation((kernel, text): (&Kernel, &str), claim: &Claim, (seed, counts_barriers): (u64, bool)) -> Option<String> {
    let mut dice = Dice(seed);
    (0..40).find_map(|_| {
        let rows = if claim.flat { 1 } else { 1 + dice.below(3) as u32 };
        let block = [BLOCKS[dice.below(BLOCKS.len() as u64) as usize], rows, 1];
        let geometry = Geometry { block, grid: [1 + dice.below(3) as u32, 1, 1] };
        let params = [dice.below(9), dice.below(6)].map(|value| Some(i128::from(value) - 1));
        // What memory holds and what calls give is unknown, or fixed by a seed.
        for contents in [Contents::Unknown, Contents::Seeded(dice.below(1_000))] {
            let setup = Setup { geometry, params: &params, blocks: Blocks::All, contents, budget: 300_000 };
            let mut history = History::default();
            let outcome = run(&Program::new(kernel), &setup, &mut history);
            let wrapped = !outcome.wrapped.is_empty() || !outcome.wrapped_loops.is_empty();
            let is_usable = outcome.finished && !(claim.no_wrap && wrapped) && outcome.traps.is_empty();
            match contents {
                _ if is_usable => {}
                Contents::Unknown => return None,
                _ => continue,
            }
            // The machine keeps the names of those that ran together, and so has them wait for threads that have passed.
            let is_of_moment = |site| names_those_that_run(kernel, text, site);
            if claim.uniform && outcome.divergences.iter().any(|seen| !seen.returned && !is_of_moment(seen.sync)) {
                return Some(format!("{geometry:?} {params:?}: {:?}", outcome.divergences));
            }
            // Numbers of passed barriers say with whom a thread has met where barriers are for all.
            let is_told = claim.race_free && counts_barriers && outcome.divergences.is_empty();
            if let Some(found) = tickets::conflict(kernel, &history).filter(|_| is_told) {
                return Some(format!("{geometry:?} {params:?}: {found:?}"));
            }
        }
        let scope = Scope {
            block: block.map(Some),
            grid: geometry.grid.map(Some),
            params: params.to_vec(),
            ..Scope::default()
        };
        let levels = Levels { block: true, grid: true };
        let found = search(kernel, &[], &scope, levels, &Budget { steps: 100_000 });
        let conflict = found.conflicts.first().filter(|conflict| claim.race_free && !conflict.after_earlier);
        conflict.map(|conflict| format!("{geometry:?} {params:?}: {conflict:?}"))
    })
}

/// Whether a barrier is of those threads that happen to run together when they come to it.
fn names_those_that_run(kernel: &Kernel, text: &str, site: SiteId) -> bool {
    let written = kernel.sites[site].span.and_then(|span| text.get(span.start as usize..span.end as usize));
    written.is_some_and(|call| call.contains("__activemask"))
}

/// What is proved of these kernels holds in small launches, and enough of them are proved, and with barriers.
fn try_law(law: &Law, barriers: Barriers, lockstep: Option<u32>) {
    let proved: Vec<[usize; 2]> = law.each(|seed| {
        let text = kernel(seed, barriers);
        let judging = Settings { proofs: Proofs::Recheck, launches: Launches::All, lockstep, ..Settings::default() };
        let options = Options { judging, ..Options::default() };
        let checked = check_source(Path::new("k.cu"), &text, &options);
        assert!(checked.bugs.is_empty(), "{:?}\n{text}", checked.bugs);
        let report = &checked.report.kernels[0];
        let rejected = report.unknowns.iter().find(|unknown| unknown.reason.contains("bug in raceproof"));
        assert!(rejected.is_none(), "{rejected:?}\n{text}");
        let claim = Claim::of(report);
        let walked = walked(&text);
        let jumps = walked.notes.jumps.clone();
        let mut kernel = walked.settled();
        lockstep.into_iter().for_each(|threads| in_step(&mut kernel, threads, &jumps));
        if (claim.race_free || claim.uniform)
            && let Some(found) =
                refutation((&kernel, &text), &claim, (seed, barriers != Barriers::OfSome && lockstep.is_none()))
        {
            panic!("seed {seed}: {found}\n{text}\n{:?}", report.assumptions);
        }
        let has_barrier = text.contains("__sync");
        [usize::from(claim.race_free), usize::from(claim.race_free && has_barrier)]
    });
    let [free, with_barrier] = [0, 1].map(|column| proved.iter().map(|row| row[column]).sum::<usize>());
    let kernels = proved.len();
    assert!(
        is_enough(free, kernels, 20) && is_enough(with_barrier, kernels, 40),
        "of {kernels} kernels only {free} are proved, {with_barrier} of them with barriers"
    );
    eprintln!("{free} of {kernels} kernels proved, {with_barrier} of them with barriers");
}

#[test]
fn what_is_proved_of_random_kernels_holds_in_every_small_launch() {
    try_law(&OF_ALL, Barriers::OfAll, None);
}

#[test]
fn what_is_proved_of_barriers_of_some_threads_holds_in_every_small_launch() {
    try_law(&OF_SOME, Barriers::OfSome, None);
}

#[test]
fn what_is_proved_of_calls_made_together_holds_in_every_small_launch() {
    try_law(&TOGETHER, Barriers::Together, None);
}

#[test]
fn what_is_proved_of_warps_in_lock_step_holds_in_every_small_launch() {
    for threads in [32, 8] {
        try_law(&IN_STEP, Barriers::OfAll, Some(threads));
    }
}
