//! Refute: concrete runs that show conflicts, divergent barriers, accesses out of bounds and failed claims.
//!
//! A [`Hunt`] runs the kernel from its entry, in machine arithmetic, for small geometries and parameter
//! values (or the only ones, where the [`Scope`] fixes them), hashes the addresses of exact accesses, and
//! reports the smallest witness of each pair of sites. A conflict between exact accesses is one whatever
//! arrays hold; [`replay`] checks a witness independently.
//!
//! - [`guide`] first: what a pair of accesses needs to conflict is solved for a launch, which is then run like
//!   any other. Then enumeration: geometries by number of threads; for each, parameters all equal, then one
//!   apart, then mixed pseudo-randomly from a fixed seed. Dimensions that the kernel never reads are 1. The
//!   witness is the first in this order, then the one of the lowest threads; but launches whose parameters are
//!   all at least 1 come before others.
//! - Where people read what is found, it is shown again in a launch that somebody would make, if one of a few shows it
//!   ([`natural`]).
//! - A witness in a run without anything wrong before is preferred to an earlier one that has
//!   ([`Conflict::after_earlier`]).
//! - Valuations under which an `assume` fails are skipped.
//! - [`Outcome::decided`] says that the scope left one launch only and that it was run completely without
//!   anything inexact: then what was not found is not there, for this launch.
//!
//! Budgets count instructions, so equal inputs give equal outcomes.
//!
//! Accesses that depend on what memory holds are not among these conflicts; [`with_contents`] looks for contents with
//! which they conflict.
//!
//! Deliberately absent: interleavings; and patience with a pair of which an access was inexact in every run so far: after
//! 32 runs it is given up, if nothing else is asked for.

mod contents;
mod guide;
mod natural;
mod report;
pub mod shown;
mod space;
mod sweep;
#[cfg(test)]
mod tests;
mod witness;

pub use contents::{free_arrays, replay_with_contents, with_contents};
pub use sweep::Levels;
pub use witness::replay;

use super::Returned;
use super::{Conflict, Divergence, Pair, Scope, SyncQuestion, WitnessThread};
use crate::calculus::arithmetic::Trap;
use crate::calculus::eval::{Program, Run, Sink as _, run};
use crate::calculus::{ArrayId, ExprId, Geometry, Kernel, SiteId};
use crate::memory_model::Level;
use crate::protocol::{Claim, Protocol};
use crate::work::{self, Stage};
use guide::Apart;
use report::{Findings, SeenIn};
use space::{Mentions, Space};
use std::collections::BTreeSet;
use sweep::Sweep;
use witness::Launch;

/// How much a search may do. Where the scope leaves one launch only, its run may take 32 times as much, since
/// it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Instructions in all.
    pub steps: u64,
}

impl Default for Budget {
    /// A few milliseconds.
    fn default() -> Self {
        Budget { steps: 500_000 }
    }
}

/// A launch and the thread in it that something happens to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// The launch.
    pub geometry: Geometry,
    /// The thread, with the values of its variables.
    pub thread: WitnessThread,
    /// Values of the scalar parameters, by name.
    pub params: Vec<(String, i128)>,
}

/// An access outside its array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfBounds {
    /// Where in the program.
    pub site: SiteId,
    /// The array.
    pub array: ArrayId,
    /// Offset of the first byte.
    pub byte_offset: i128,
    /// Who, in which launch.
    pub incident: Incident,
}

/// A claim that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedAssertion {
    /// Which.
    pub site: SiteId,
    /// Who, in which launch.
    pub incident: Incident,
    /// The other thread, if the claim is about two.
    pub with: Option<WitnessThread>,
    /// Whether something undefined or a barrier that was not met comes before it in the same run.
    pub after_earlier: bool,
    /// Whether the launch is one that few would make.
    pub degenerate: bool,
}

/// What a search found. Everything is sorted by place in the program.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Conflicts, one for each pair of sites and level.
    pub conflicts: Vec<Conflict>,
    /// Barriers that are not met, one for each pair of places.
    pub divergences: Vec<Divergence>,
    /// Accesses out of bounds, one for each site.
    pub out_of_bounds: Vec<OutOfBounds>,
    /// Claims that fail, one for each.
    pub failed_assertions: Vec<FailedAssertion>,
    /// Claims that some run does not settle: whether they hold there is not known.
    pub unsettled_claims: BTreeSet<SiteId>,
    /// Expressions in which unsigned arithmetic wrapped in some run, in order.
    pub wraps: Vec<ExprId>,
    /// Counted loops whose unsigned variable wrapped in some run, in order.
    pub wrapped_loops: Vec<SiteId>,
    /// Undefined operations that some run met: what, and which expression (`None` for the step of a loop).
    pub traps: Vec<(Trap, Option<ExprId>)>,
    /// Whether absence of findings is a proof for the only launch of the scope, at the levels asked for.
    pub decided: bool,
    /// Number of runs, without those that an `assume` excludes.
    pub runs: usize,
    /// Instructions executed.
    pub steps: u64,
}

/// Looks for conflicts between the sites of `open` (all, if it is empty) at `levels`, within `scope`.
pub fn search(kernel: &Kernel, open: &[(SiteId, SiteId)], scope: &Scope, levels: Levels, budget: &Budget) -> Outcome {
    let program = Program::new(kernel);
    Hunt::new(kernel, &program, scope, levels, budget).finish(None, open)
}

/// A search that is asked about pairs and barriers one by one, and told at the end what is still open.
pub struct Hunt<'a> {
    kernel: &'a Kernel,
    program: &'a Program,
    levels: Levels,
    mentions: Mentions,
    space: Space,
    sweep: Sweep,
    findings: Findings<'a>,
    total: u64,
    left: u64,
    /// Instructions that proposed launches may take.
    proposals: u64,
    /// Instructions that launches may take in all which were proposed and ran out of theirs.
    second_tries: u64,
    /// The same for launches like one that shows a conflict beside misaligned accesses.
    aligned_tries: u64,
    /// Instructions that launches may take which show again what is known, as somebody would launch it.
    natural_tries: u64,
    /// Whether witnesses are sought in such launches.
    is_for_people: bool,
    /// Conflicts that are known from elsewhere.
    told: BTreeSet<sweep::Key>,
    /// Launches that ran out of instructions, and what they were to show: a proof that there is nothing to be shown may be
    /// cheaper.
    unfinished: Vec<(sweep::Key, Launch)>,
}

impl<'a> Hunt<'a> {
    /// A hunt that knows nothing yet. `program` is `kernel`, compiled.
    pub fn new(kernel: &'a Kernel, program: &'a Program, scope: &Scope, levels: Levels, budget: &Budget) -> Self {
        let mentions = Mentions::of(kernel);
        let space = Space::new(kernel, &mentions, scope, levels);
        let fixed = space.is_fixed();
        let findings = Findings::new(kernel, program);
        let total = if fixed { budget.steps.saturating_mul(DECISIVE_FACTOR) } else { budget.steps };
        let sweep = Sweep::new(kernel, program, levels);
        let proposals = 2 * budget.steps;
        let second_tries = SECOND_TRIES * budget.steps;
        let (left, aligned_tries) = (total, second_tries);
        Hunt {
            kernel,
            program,
            levels,
            mentions,
            space,
            sweep,
            findings,
            total,
            left,
            proposals,
            second_tries,
            aligned_tries,
            natural_tries: NATURAL_TRIES * budget.steps,
            is_for_people: false,
            told: BTreeSet::new(),
            unfinished: Vec::new(),
        }
    }

    /// The same hunt, whose witnesses are for people: as far as may be they are launches that somebody would make
    /// ([`natural`]).
    #[must_use]
    pub fn for_people(mut self) -> Self {
        self.is_for_people = true;
        self
    }

    /// The same hunt, where barriers of blocks that do not count arrivals treat threads that have returned like this. They
    /// still count unless that is said.
    #[must_use]
    pub fn with_returned(mut self, returned: Returned) -> Self {
        self.findings.with_returned(returned);
        self
    }

    /// The same hunt, which knows conflicts that another one found.
    #[must_use]
    pub fn told(mut self, conflicts: &[Conflict]) -> Self {
        let key = |conflict: &Conflict| {
            let level = if conflict.level.is_one_block() { Level::Block } else { Level::Grid };
            sweep::key(conflict.sites[0], conflict.sites[1], level)
        };
        self.told.extend(conflicts.iter().map(key));
        self
    }

    /// The same hunt, along extents that a launch gives and that are not known: they are no 1, whether the kernel reads them
    /// or not.
    #[must_use]
    pub fn along(mut self, varies: [[bool; 3]; 2]) -> Self {
        self.space.open(varies);
        self
    }

    /// Whether a launch that was run already, and that somebody may make, shows that `pair` conflicts.
    pub fn knows(&self, protocol: &Protocol, pair: &Pair) -> bool {
        let key = key_of(protocol, pair);
        self.told.contains(&key) || self.findings.knows_natural(key)
    }

    /// Whether so many conflicts are known that no further one is looked for.
    pub fn is_sated(&self) -> bool {
        self.findings.is_sated()
    }

    /// Whether a launch shows that `pair` conflicts: one that was run already, or one that the condition asks for.
    pub fn conflicts(&mut self, protocol: &Protocol, pair: &Pair) -> bool {
        work::during(Stage::Runs, || self.are_shown(protocol, pair))
    }

    fn are_shown(&mut self, protocol: &Protocol, pair: &Pair) -> bool {
        let key = key_of(protocol, pair);
        if !self.findings.knows_natural(key)
            && let Some(mut launch) =
                guide::conflict(protocol, self.aligned(protocol, pair), &self.space, Apart::Distinct)
        {
            let ran_out = self.propose(&mut launch);
            if self.findings.knows_misaligned_only(key) {
                self.propose_aligned(&launch, key);
            } else if ran_out && !self.findings.knows(key) {
                self.unfinished.push((key, launch));
            }
        }
        self.findings.knows(key)
    }

    /// Runs launches again that ran out of instructions, as long as what they were to show is not known.
    fn finish_proposals(&mut self) {
        for (key, launch) in std::mem::take(&mut self.unfinished) {
            if !self.findings.knows(key) && self.findings.asks_for(key) {
                self.propose_again(&launch);
                if self.findings.knows_misaligned_only(key) {
                    self.propose_aligned(&launch, key);
                }
            }
        }
    }

    /// Runs launches like one that shows `key` where accesses at other places are misaligned: with parameters that are
    /// multiples of what accesses are aligned to, as the pitches of programs that work are.
    fn propose_aligned(&mut self, launch: &Launch, key: sweep::Key) {
        let aligned = |value: i128| (value.max(1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        let differs = |index: &usize| launch.params[*index].is_some_and(|value| aligned(value) != value);
        let open: Vec<usize> = self.space.open_params().filter(differs).take(MOST_ALIGNED).collect();
        let with = |chosen: &dyn Fn(usize) -> bool| {
            let mut other = launch.clone();
            for &index in open.iter().filter(|&&index| chosen(index)) {
                other.params[index] = other.params[index].map(aligned);
            }
            other
        };
        let one = open.iter().map(|&one| with(&|index| index == one));
        let others = open.iter().map(|&one| with(&|index| index != one));
        let all = (open.len() > 1).then(|| with(&|_| true));
        let launches: Vec<Launch> = one.chain(others.filter(|_| open.len() > 2)).chain(all).collect();
        std::mem::swap(&mut self.second_tries, &mut self.aligned_tries);
        for mut other in launches {
            let ran_out = self.propose(&mut other);
            if ran_out && !self.findings.knows_natural(key) {
                self.propose_again(&other);
            }
            if self.findings.knows_natural(key) {
                break;
            }
        }
        std::mem::swap(&mut self.second_tries, &mut self.aligned_tries);
    }

    /// Whether a launch shows that some thread waits at `sync` for one that does not arrive.
    pub fn diverges(&mut self, protocol: &Protocol, asked: SyncQuestion, returned: Returned) -> bool {
        work::during(Stage::Runs, || self.is_shown_to_diverge(protocol, asked, returned))
    }

    fn is_shown_to_diverge(&mut self, protocol: &Protocol, asked: SyncQuestion, returned: Returned) -> bool {
        let place = (protocol.syncs[asked.sync].site, asked.level);
        if !self.findings.knows_divergence(place, returned)
            && let Some(mut launch) = guide::divergence(protocol, asked, returned, &self.space)
        {
            self.propose(&mut launch);
        }
        self.findings.knows_divergence(place, returned)
    }

    /// The pair with the alignments of its accesses.
    fn aligned<'p>(&self, protocol: &Protocol, pair: &'p Pair) -> (&'p Pair, [u32; 2]) {
        (pair, [pair.first, pair.second].map(|access| self.program.alignment(protocol.accesses[access].site)))
    }

    /// Runs a launch that should show something; whether it ran out of instructions.
    fn propose(&mut self, launch: &mut Launch) -> bool {
        if self.program.runs_blocks_together() {
            launch.blocks = None;
        }
        let budget = self.proposals / 4;
        let (steps, ran_out) = self.run(launch, budget);
        self.proposals -= steps.min(self.proposals);
        ran_out
    }

    /// Runs a launch again that ran out of instructions, if enough are left for that.
    fn propose_again(&mut self, launch: &Launch) {
        if self.second_tries < LEAST_SECOND_TRY {
            return;
        }
        let share = self.second_tries - self.second_tries / 4;
        let (steps, _) = self.run(launch, share);
        self.second_tries -= steps.min(self.second_tries);
    }

    /// Runs a launch and keeps what it shows; the instructions that it took, and whether it had too few.
    fn run(&mut self, launch: &Launch, budget: u64) -> (u64, bool) {
        let budget = budget.min(work::left());
        if budget == 0 || !self.space.admits(&launch.geometry) {
            return (0, false);
        }
        self.sweep.forget_run();
        let outcome = run(self.program, &launch.setup(budget), &mut self.sweep);
        if !outcome.vacuous {
            let degenerate = self.space.degenerate(&launch.params);
            let seen_in = SeenIn {
                is_natural: self.space.is_natural(&launch.geometry),
                is_covering: self.space.is_covering(&launch.geometry, &launch.params),
            };
            self.findings.take((launch, seen_in), &outcome, &self.sweep, &degenerate);
            self.findings.decided = self.space.is_fixed() && is_decisive(self.kernel, launch, &outcome);
        }
        (outcome.steps, outcome.steps >= budget)
    }

    /// What was found between the sites of `open` (all, if it is empty), after looking for the rest by
    /// enumeration. With the protocol and its pairs, launches that tell warps apart are tried first.
    pub fn finish(self, pairs: Option<(&Protocol, &[Pair])>, open: &[(SiteId, SiteId)]) -> Outcome {
        work::during(Stage::Runs, || self.finished(pairs, open))
    }

    fn finished(mut self, pairs: Option<(&Protocol, &[Pair])>, open: &[(SiteId, SiteId)]) -> Outcome {
        self.findings.restrict(open, self.levels);
        self.finish_proposals();
        if let Some((protocol, pairs)) = pairs {
            self.cross_warps(protocol, pairs);
        }
        if !self.is_sated() && (!self.findings.is_complete(&self.sweep) || self.space.is_fixed()) {
            self.enumerate();
        }
        if let Some((protocol, pairs)) = pairs.filter(|_| self.is_for_people && !self.space.is_fixed()) {
            self.prefer_natural(protocol, pairs);
        }
        let mut outcome = self.findings.finish();
        outcome.steps = self.total - self.left;
        outcome
    }

    /// Claims of the protocol that fail in some launch: in those that exact claims ask for, then in others.
    pub fn failures(mut self, protocol: &Protocol, claims: &[&Claim]) -> Outcome {
        self.findings.ask_for_claims(claims.iter().map(|claim| claim.site));
        for claim in claims {
            if !self.findings.knows_failure(claim.site)
                && let Some(mut launch) = guide::failure(protocol, claim, &self.space)
            {
                self.propose(&mut launch);
            }
        }
        if !self.findings.is_complete(&self.sweep) || self.space.is_fixed() {
            self.enumerate();
        }
        self.findings.finish()
    }

    /// Looks for conflicts between two warps where only some within one are known.
    fn cross_warps(&mut self, protocol: &Protocol, pairs: &[Pair]) {
        for pair in pairs {
            if self.findings.knows_within_warps_only(key_of(protocol, pair))
                && let Some(mut launch) =
                    guide::conflict(protocol, self.aligned(protocol, pair), &self.space, Apart::AcrossWarps)
            {
                self.propose(&mut launch);
            }
        }
    }

    fn enumerate(&mut self) {
        let fixed = self.space.is_fixed();
        let mut geometries = self.space.geometries();
        let single = self.findings.wants_claims();
        geometries.retain(|geometry| fixed || single || is_useful(geometry, self.levels));
        for (index, geometry) in geometries.iter().copied().enumerate() {
            // No geometry may use up what the larger ones need.
            let share = self.left / (geometries.len() - index) as u64;
            let floor = self.left - share.saturating_mul(SMALL_FIRST).min(self.left);
            for params in self.space.valuations(&geometry) {
                let blocks = chosen_blocks(&geometry, self.left, self.mentions.statements);
                let budget = if fixed { self.left } else { self.left.div_ceil(RUN_SHARE) };
                let (steps, _) = self.run(&Launch { geometry, params, blocks }, budget);
                self.left = self.left.saturating_sub(steps + RUN_COST);
                if self.left == 0
                    || work::is_over()
                    || !self.sweep.wants_more()
                    || self.is_sated()
                    || self.findings.is_complete(&self.sweep)
                {
                    return;
                }
                if self.left < floor && !fixed {
                    break;
                }
            }
        }
    }
}

fn key_of(protocol: &Protocol, pair: &Pair) -> sweep::Key {
    let [one, other] = [pair.first, pair.second].map(|access| protocol.accesses[access].site);
    sweep::key(one, other, if pair.level == Level::Grid { Level::Grid } else { Level::Block })
}

/// A geometry may take so many times its even share of what is left: small ones find most, and find it first.
const SMALL_FIRST: u64 = 4;

/// A launch that decides may take so many times the budget.
const DECISIVE_FACTOR: u64 = 32;

/// No run may take more than this part of what is left: a launch with huge loops shows nothing that a smaller
/// one does not.
const RUN_SHARE: u64 = 4;

/// Launches that a condition asks for, and whose blocks are too large for what any launch may take, may take so many
/// times the budget in all, the first of them most of it: that the guards hold and the addresses are equal is known of
/// them, so that a long run is likely to show something.
const SECOND_TRIES: u64 = 32;
/// Launches of whole warps that show again what is known may take so many times the budget in all.
const NATURAL_TRIES: u64 = 4;
/// Fewer instructions than this are not worth a second run.
const LEAST_SECOND_TRY: u64 = 1_000_000;

/// What a run costs besides its instructions.
const RUN_COST: u64 = 200;

/// The greatest alignment that a type of the language asks for.
const ALIGNMENT: i128 = 16;

/// Parameters that are tried as multiples of it.
const MOST_ALIGNED: usize = 6;

/// Whether a geometry can show anything at these levels.
fn is_useful(geometry: &Geometry, levels: Levels) -> bool {
    (levels.block && geometry.block_threads() > 1) || (levels.grid && geometry.blocks() > 1)
}

/// All blocks where they fit the budget, otherwise the first two and the last.
fn chosen_blocks(geometry: &Geometry, budget: u64, statements: u64) -> Option<Vec<[u32; 3]>> {
    let cost = geometry.block_threads().saturating_mul(4 * statements + 4);
    if geometry.blocks().saturating_mul(cost) <= budget / 2 {
        return None;
    }
    let [width, height, depth] = geometry.grid;
    let second = if width > 1 {
        [1, 0, 0]
    } else if height > 1 {
        [0, 1, 0]
    } else {
        [0, 0, 1]
    };
    let mut blocks = vec![[0, 0, 0]];
    if geometry.blocks() > 1 {
        blocks.push(second);
        blocks.push([width - 1, height - 1, depth - 1]);
        blocks.dedup();
    }
    Some(blocks)
}

/// Whether the absence of findings in this run is a proof for its launch.
fn is_decisive(kernel: &Kernel, launch: &Launch, outcome: &Run) -> bool {
    outcome.finished
        && !outcome.inexact
        && outcome.divergences.is_empty()
        && outcome.traps.is_empty()
        && outcome.misaligned_since.is_none()
        && launch.blocks.is_none()
        && kernel.unsupported.is_empty()
}

/// The level that a key of the sweep stands for in reports.
fn reported_level(level: Level, is_warp_synchronous: impl FnOnce() -> bool) -> Level {
    if level == Level::Block && is_warp_synchronous() { Level::Warp } else { level }
}
