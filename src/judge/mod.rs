//! The judgement of one kernel: prove, then refute (docs/ARCHITECTURE.md, "Prove, refute, ask").
//!
//! For each set of launches that [`scopes`] names, the widest first: every sync is proved uniform or not,
//! every pair of accesses that can meet is proved free of conflict or stays open. If the narrowest stays
//! open, the kernel is run for concrete launches, which gives conflicts with witnesses, or, where the
//! launch fixes every input, decides. What that leaves open, [`asking`] puts to a solver, if there is one.
//!
//! What stays open after that is `possibly-racy` if it depends on what memory holds, and `unknown`
//! otherwise. A kernel with a construct that is not modelled is never `race-free`.

mod asked;
mod asking;
mod attempt;
pub mod claims;
mod collectives;
pub mod conditions;
mod contents;
pub mod contract;
pub mod effort;
pub mod scopes;
pub mod settings;
mod turns;

pub use effort::Effort;
pub use settings::Settings;

use crate::calculus::statements::every;
use crate::calculus::{ArrayId, Basis, HavocReason, Kernel, SiteId, Space, Stmt, SyncScope, Unsupported, eval};
use crate::check::verdict::{PossibleDivergence, PossibleRace, Undecided, Verdict};
use crate::diagnostic::report::{Divergence, Race};
use crate::launch::Facts;
use crate::memory_model::Level;
use crate::protocol::{AccessId, Protocol, Reason, ReasonKind, infer};
use crate::prove::hand_over::{HandOver, MissingFence, locks_apart};
use crate::prove::premises::{self, Premises};
use crate::prove::refute::{self, Hunt};
use crate::prove::{self, Assumption, Conflict, Open, Pair, Scope};
use crate::settle::{Form, unrolling, verify_if_debug};
use crate::smt::Session;
use crate::source::{Language, Span};
use crate::work::{self, Stage};
use attempt::{Case, Persistence, Rest};
use collectives::Ordered;
use scopes::{Attempt, Candidate, Candidates, Starts};
use std::collections::BTreeSet;

/// A kernel with more accesses is not judged: what it takes grows with their square.
const MAX_ACCESSES: usize = 3_000;

/// Judges one kernel, given its protocol and the launches of it in its file. If that decides nothing, it is judged once
/// more with the loops around barriers unrolled that constants decide; findings about that would name places that
/// the kernel does not have, so only a proof counts.
pub fn judge(
    kernel: &Kernel,
    protocol: &Protocol,
    launches: &[Facts],
    language: Language,
    settings: &Settings,
) -> Verdict {
    work::during(Stage::Rules, || judge_and_unroll(kernel, protocol, launches, language, settings))
}

fn judge_and_unroll(
    kernel: &Kernel,
    protocol: &Protocol,
    launches: &[Facts],
    language: Language,
    settings: &Settings,
) -> Verdict {
    let mut verdict = judge_as_it_stands(kernel, protocol, launches, language, settings);
    if matches!(verdict.race, Race::PossiblyRacy | Race::Unknown)
        && verdict.scope.is_some()
        && let Some(unrolled) = unrolling::unrolled(kernel)
    {
        verify_if_debug("unrolling", &unrolled, Form::Settled);
        let other = judge_as_it_stands(&unrolled, &infer::infer(&unrolled), launches, language, settings);
        if other.is_proved() {
            return other;
        }
        let is_rejection = |open: &Undecided| matches!(open, Undecided::RejectedProof(_));
        verdict.undecided.extend(other.undecided.into_iter().filter(is_rejection));
    }
    verdict
}

fn judge_as_it_stands(
    kernel: &Kernel,
    protocol: &Protocol,
    launches: &[Facts],
    language: Language,
    settings: &Settings,
) -> Verdict {
    let accesses = protocol.accesses.len();
    if accesses > MAX_ACCESSES {
        return too_large(accesses);
    }
    let case = Case::new(kernel, protocol, language, settings);
    if kernel.anything_may_happen() {
        return Verdict::new(Race::Unknown, Divergence::Unknown);
    }
    let mut candidates = scopes::candidates(kernel, launches, settings);
    if takes_blocks_for_granted(kernel) {
        candidates.keep_those_of_stated_launches(|scope| premises::excludes(protocol, scope));
    }
    let program = eval::Program::new(kernel);
    let allowance = &case.allowance;
    let (attempt, rest, hunts) = work::within(allowance.proofs, || case.narrowest(&candidates, &program));
    let verdict = work::within(allowance.runs, || case.conclude(attempt, rest, hunts, &[]));
    let mut verdict = match &settings.solver {
        Some(solver) if case.is_open(&verdict) => work::during(Stage::Solver, || {
            let ask = |session: &mut Session| case.ask(session, &program, &candidates, verdict);
            work::within(allowance.proofs, || asking::with_session(solver, ask))
        }),
        _ => verdict,
    };
    let contents = || contents::find(&case, &candidates, &program, &mut verdict);
    work::during(Stage::Contents, || work::within(allowance.contents, contents));
    work::during(Stage::Claims, || claims::settle(&case, &candidates, &program, &mut verdict));
    let contracts = || {
        contract::settle(&case, &candidates, &program, &mut verdict);
        work::is_over()
    };
    let is_cut = work::during(Stage::Contracts, || work::within(allowance.contracts, contracts));
    if is_cut && verdict.race == Race::PossiblyRacy && verdict.contract.is_none() {
        verdict.undecided.push(Undecided::EffortOnContract);
    }
    verdict
}

fn too_large(accesses: usize) -> Verdict {
    let undecided = vec![Undecided::TooLarge(accesses)];
    Verdict { undecided, ..Verdict::new(Race::Unknown, Divergence::Unknown) }
}

impl<'a> Case<'a> {
    /// The first attempt of which everything is proved, the widest first, or else the last one.
    fn narrowest<'c>(
        &self,
        candidates: &'c Candidates,
        program: &'a eval::Program,
    ) -> (&'c Attempt, Rest, Vec<Hunt<'a>>) {
        let mut narrowest = None;
        let mut refuted = false;
        for (index, attempt) in candidates.proofs.iter().enumerate() {
            let is_last = index + 1 == candidates.proofs.len();
            let attempted = |persistence| {
                let mut hunts = self.hunts(attempt, program);
                let rest = self.prove(attempt, (&mut hunts, persistence), None, &mut |_, _, _| {});
                (attempt, rest, hunts)
            };
            let made = attempted(if is_last { Persistence::AskAll } else { Persistence::StopAtFirst });
            let closed = made.1.is_empty();
            if closed && refuted && attempt.starts == Starts::AtZero && !candidates.offsets_are_left_out {
                // It is proved where ids start at 0, and shown to fail where they do not.
                let attempt = &candidates.proofs[index - 1];
                let mut hunts = self.hunts(attempt, program);
                let rest = self.prove(attempt, (&mut hunts, Persistence::AskAll), None, &mut |_, _, _| {});
                narrowest = Some((attempt, rest, hunts));
                break;
            }
            refuted = made.1.is_refuted();
            narrowest = Some(made);
            if closed {
                break;
            }
        }
        narrowest.expect("there is always an attempt for all geometries")
    }

    /// Puts together what was proved and what running the kernel shows.
    ///
    /// `suspects` are launches that a solver named: they are run as well, and decide nothing by showing nothing.
    pub(super) fn conclude(&self, attempt: &Attempt, rest: Rest, hunts: Vec<Hunt<'a>>, suspects: &[Scope]) -> Verdict {
        let mut verdict = Verdict {
            scope: Some(scopes::describe(self.kernel, attempt)),
            assumptions: rest.assumptions.clone(),
            undecided: rest.rejected.iter().cloned().map(Undecided::RejectedProof).collect(),
            ..Verdict::new(Race::RaceFree, Divergence::Uniform)
        };
        verdict.assumptions.extend(self.disjointness());
        if !rest.is_empty() {
            self.refute(attempt, &rest, (hunts, suspects), &mut verdict);
        }
        // What touches no array is a note: an annotation that is left out.
        let touches = |unsupported: &Unsupported| unsupported.arrays.as_ref().is_none_or(|arrays| !arrays.is_empty());
        let undeclared = self.reads_undeclared_names();
        if verdict.race == Race::RaceFree && (undeclared || self.kernel.unsupported.iter().any(touches)) {
            verdict.race = Race::Unknown;
        }
        if verdict.divergence == Divergence::Uniform && undeclared {
            verdict.divergence = Divergence::Unknown;
        }
        // A barrier in code that is not seen orders more than is known, but some thread may not reach it.
        if verdict.divergence == Divergence::Uniform && self.passes_unseen_barriers() {
            verdict.divergence = Divergence::Unknown;
        }
        verdict
    }

    /// Runs the kernel for the stated launches (those of the last attempt) and sorts what stayed open.
    fn refute(
        &self,
        attempt: &Attempt,
        rest: &Rest,
        (hunts, suspects): (Vec<Hunt<'a>>, &[Scope]),
        verdict: &mut Verdict,
    ) {
        let pairs: Vec<Pair> = rest.pairs.iter().map(|(pair, _)| pair.clone()).collect();
        let sites: Vec<(SiteId, SiteId)> = pairs.iter().map(|pair| self.sites(pair)).collect();
        let mut decided = rest.is_complete();
        for hunt in hunts {
            let outcome = hunt.for_people().finish(Some((self.protocol, &pairs)), &sites);
            decided &= outcome.decided;
            verdict.conflicts.extend(outcome.conflicts);
            verdict.divergences.extend(outcome.divergences);
        }
        for scope in suspects {
            let outcome = refute::search(self.kernel, &sites, scope, self.search_levels(), &self.allowance.search);
            asking::add_news(outcome, verdict);
        }
        let opaque = self.arrays_of(|unsupported| !unsupported.is_of_thread);
        let is_opaque = |site| self.array_at(site).is_some_and(|array| opaque.contains(&array));
        verdict.conflicts.retain(|conflict| !is_opaque(conflict.sites[0]) && !self.may_be_ordered_unseen(conflict));
        decided &= !self.set_aside_what_collectives_may_order(rest, verdict);
        for conflict in &mut verdict.conflicts {
            self.name_warp(attempt, rest, conflict);
        }
        let syncs_at = |site| self.protocol.syncs.iter().map(|(_, sync)| sync).filter(move |sync| sync.site == site);
        let counts_arrivals =
            |seen: &prove::Divergence| syncs_at(seen.sync).any(|sync| sync.among.counts_arrivals(sync.scope));
        if self.passes_unseen_barriers() {
            // Code that is not seen may arrive there for those who do not come.
            verdict.divergences.retain(|divergence| !counts_arrivals(divergence));
        }
        if self.language == Language::Cuda {
            // A barrier of the grid counts blocks: one that has ended is missed.
            let counts_blocks = |seen: &prove::Divergence| {
                !seen.is_in_one_block() && syncs_at(seen.sync).any(|sync| sync.scope >= SyncScope::Grid)
            };
            let platform = self.kernel.geometry.platform;
            let is_awaited =
                |seen: &prove::Divergence| syncs_at(seen.sync).any(|sync| platform.awaits_returned(sync.scope));
            verdict
                .divergences
                .retain(|seen| !seen.returned || counts_arrivals(seen) || counts_blocks(seen) || is_awaited(seen));
        } else {
            // How large sub-groups are, the device decides: none is divided where each is one work-item.
            let divides_sub_group =
                |seen: &prove::Divergence| syncs_at(seen.sync).all(|sync| sync.scope == SyncScope::Warp);
            let found = verdict.divergences.len();
            verdict.divergences.retain(|seen| !divides_sub_group(seen));
            decided &= verdict.divergences.len() == found;
        }
        self.settle_races(attempt, rest, decided, verdict);
        self.name_fences(attempt, verdict);
        self.settle_divergence(rest, decided, verdict);
        if rest.spent {
            verdict.undecided.push(Undecided::Effort);
        }
        verdict.undecided.extend(rest.too_large.map(Undecided::TooLarge));
    }

    /// Makes conflicts that collectives of a library may well end possible ones; whether there were any.
    fn set_aside_what_collectives_may_order(&self, rest: &Rest, verdict: &mut Verdict) -> bool {
        let Some(ordered) = Ordered::of(self.kernel).filter(|_| !verdict.conflicts.is_empty()) else { return false };
        let (ended, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut verdict.conflicts).into_iter().partition(|conflict| ordered.may_order(conflict));
        verdict.conflicts = kept;
        let reason = Reason { kind: ReasonKind::UnpromisedOrder, span: ordered.span(), array: None };
        let proved: BTreeSet<SiteId> = verdict.conflicts.iter().flat_map(|conflict| conflict.sites).collect();
        // Of what races for certain no more needs to be said.
        for conflict in ended.iter().filter(|conflict| !conflict.sites.iter().any(|site| proved.contains(site))) {
            let [one, other] = conflict.sites;
            let is_it = |pair: &&Pair| {
                let sites = self.sites(pair);
                (sites == (one, other) || sites == (other, one))
                    && (pair.level == Level::Grid) == (conflict.level == Level::Grid)
            };
            let pair = rest.pairs.iter().map(|(pair, _)| pair).find(is_it);
            let possible = |pair: &Pair| PossibleRace {
                pair: pair.clone(),
                reasons: vec![reason.clone()],
                contents: None,
                fence: None,
                locks: None,
            };
            verdict.possible.extend(pair.map(possible));
        }
        !ended.is_empty()
    }

    /// Calls a conflict warp-synchronous if its threads stand at two places and can only be of one warp.
    fn name_warp(&self, attempt: &Attempt, rest: &Rest, conflict: &mut Conflict) {
        let [one, other] = conflict.sites;
        let names_nothing = self.language == Language::OpenCl || self.settings.lockstep.is_some();
        if names_nothing && conflict.warp_synchronous {
            // How many work-items run together is for the device to say; what lock-step hides is not here if it is assumed.
            conflict.warp_synchronous = false;
            conflict.level = Level::Block;
        }
        if names_nothing || conflict.level != Level::Block || conflict.across_warps || one == other {
            return;
        }
        let open: Vec<&Pair> = rest
            .pairs
            .iter()
            .map(|(pair, _)| pair)
            .filter(|pair| {
                let sites = self.sites(pair);
                pair.level == Level::Block && (sites == (one, other) || sites == (other, one))
            })
            .collect();
        let of_one_warp = |pair: &&Pair| attempt.parts.iter().all(|part| self.needs_one_warp(pair, &part.scope));
        if !open.is_empty() && open.iter().all(of_one_warp) {
            conflict.warp_synchronous = true;
            conflict.level = Level::Warp;
        }
    }

    /// Whether code that is not seen may stand between the accesses of a conflict and order them: by a barrier of the block
    /// or the grid, or by a flag.
    fn may_be_ordered_unseen(&self, conflict: &Conflict) -> bool {
        let [one, other] = conflict.sites;
        let in_a_loop = |site| self.protocol.accesses.iter().any(|(_, at)| at.site == site && !at.loops.is_empty());
        let at_two_times = one != other || in_a_loop(one);
        let waits_unseen = conflict.level == Level::Grid && self.waits_for_unknown_clusters();
        at_two_times && (waits_unseen || self.passes_unseen_barriers())
    }

    /// Whether blocks wait for others of their cluster, which the kernel does not say how large it is.
    fn waits_for_unknown_clusters(&self) -> bool {
        let waits = self.protocol.syncs.iter().any(|(_, sync)| sync.scope == SyncScope::Cluster);
        waits && self.kernel.geometry.cluster.is_none()
    }

    pub(super) fn passes_unseen_barriers(&self) -> bool {
        self.kernel.unsupported.iter().any(|unsupported| unsupported.barriers)
    }

    fn settle_races(&self, attempt: &Attempt, rest: &Rest, decided: bool, verdict: &mut Verdict) {
        if !self.settings.contracts_excuse() {
            verdict.conflicts.iter_mut().for_each(|conflict| conflict.is_far_fetched = false);
        }
        let proved = verdict.conflicts.iter().any(|conflict| !conflict.after_earlier && !conflict.is_far_fetched);
        if !decided {
            self.sort_pairs(attempt, rest, verdict);
        }
        verdict.race = if proved {
            Race::Racy
        } else if !verdict.possible.is_empty() || !verdict.conflicts.is_empty() {
            Race::PossiblyRacy
        } else if decided || (rest.pairs.is_empty() && rest.is_complete()) {
            Race::RaceFree
        } else {
            Race::Unknown
        };
    }

    /// What depends on unknown contents is possible; the rest is undecided. Pairs that a conflict was found
    /// for need no further word.
    fn sort_pairs(&self, attempt: &Attempt, rest: &Rest, verdict: &mut Verdict) {
        let mut seen = BTreeSet::new();
        let mut found: BTreeSet<[SiteId; 2]> = verdict.conflicts.iter().map(|conflict| conflict.sites).collect();
        found.extend(verdict.possible.iter().map(|race| <[SiteId; 2]>::from(self.sites(&race.pair))));
        for (pair, why) in &rest.pairs {
            let (first, second) = self.sites(pair);
            let is_found = found.contains(&[first, second]) || found.contains(&[second, first]);
            if is_found || !seen.insert((first, second, pair.level)) {
                continue;
            }
            let mut reasons = self.reasons(pair);
            let missing = |part: &Candidate| Premises::new(self.protocol, &part.scope).missing_where_threads_wait(pair);
            let is_exact = reasons.is_empty();
            if let Some(missing) = attempt.parts.iter().filter(|_| is_exact).find_map(missing) {
                // Who gets there, and when, is up to who takes the lock or sets the flag.
                reasons.push(self.who_waits(missing));
            }
            let locks = if is_exact && reasons.is_empty() { locks_apart(self.protocol, pair) } else { None };
            if let Some(take) = locks.and_then(|locks| locks.takes.into_iter().flatten().next()) {
                reasons.push(self.who_takes(take));
            }
            if reasons.is_empty() && matches!(why, Open::Suspected(_) | Open::Refuted) {
                // Whether threads get there is up to loops that may not end, which no run gets past.
                reasons.extend(turns::unknown_before(self.protocol, [pair.first, pair.second]));
            }
            if reasons.iter().any(|reason| reason.kind != ReasonKind::TooComplex) {
                verdict.possible.push(PossibleRace { pair: pair.clone(), reasons, contents: None, fence: None, locks });
            } else {
                let (first, second, level) = (pair.first, pair.second, pair.level);
                verdict.undecided.push(Undecided::Pair { first, second, level, why: why.clone() });
            }
        }
    }

    /// That it depends on a lock or a flag who gets to an access, and when.
    fn who_waits(&self, missing: MissingFence) -> Reason {
        let lock = match missing.at {
            HandOver::Take | HandOver::Look => missing.after,
            HandOver::Release | HandOver::Draw | HandOver::Set => missing.before,
        };
        self.who_takes(lock)
    }

    /// The same, of the access that the others wait for.
    fn who_takes(&self, lock: AccessId) -> Reason {
        let access = &self.protocol.accesses[lock];
        let span = self.protocol.sites[access.site].span;
        Reason { kind: ReasonKind::DataDependentGuard, span, array: Some(access.array) }
    }

    /// Says of possible races which fence would order them.
    fn name_fences(&self, attempt: &Attempt, verdict: &mut Verdict) {
        for race in &mut verdict.possible {
            let missing = |part: &Candidate| Premises::new(self.protocol, &part.scope).missing_fence(&race.pair);
            race.fence = attempt.parts.iter().find_map(missing);
        }
    }

    fn settle_divergence(&self, rest: &Rest, decided: bool, verdict: &mut Verdict) {
        if !verdict.divergences.is_empty() {
            verdict.divergence = Divergence::Divergent;
            return;
        }
        if decided || rest.syncs.is_empty() {
            return;
        }
        for (sync, why) in &rest.syncs {
            let reasons = self.protocol.syncs[*sync].reasons.clone();
            if reasons.is_empty() {
                verdict.undecided.push(Undecided::Sync { sync: *sync, why: why.clone() });
            } else {
                verdict.possible_divergences.push(PossibleDivergence { sync: *sync, reasons });
            }
        }
        let possible = !verdict.possible_divergences.is_empty();
        verdict.divergence = if possible { Divergence::PossiblyDivergent } else { Divergence::Unknown };
    }

    pub(super) fn sites(&self, pair: &Pair) -> (SiteId, SiteId) {
        (self.protocol.accesses[pair.first].site, self.protocol.accesses[pair.second].site)
    }

    /// Reasons of both accesses, those about indices first, without repetition.
    fn reasons(&self, pair: &Pair) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = Vec::new();
        for access in [pair.first, pair.second] {
            for reason in &self.protocol.accesses[access].reasons {
                if !reasons.contains(reason) {
                    reasons.push(reason.clone());
                }
            }
        }
        reasons.sort_by_key(|reason| reason.kind);
        reasons
    }

    fn array_at(&self, site: SiteId) -> Option<ArrayId> {
        self.protocol.accesses.iter().find(|(_, access)| access.site == site).map(|(_, access)| access.array)
    }

    /// Whether a name that nothing declares was taken to be a value: a macro may be more than that.
    pub(super) fn reads_undeclared_names(&self) -> bool {
        reads_undeclared_names(&self.kernel.body)
    }

    /// Arrays that something unknown may touch.
    pub(super) fn opaque_arrays(&self) -> BTreeSet<ArrayId> {
        self.arrays_of(|_| true)
    }

    fn arrays_of(&self, wanted: impl Fn(&Unsupported) -> bool) -> BTreeSet<ArrayId> {
        self.kernel
            .unsupported
            .iter()
            .filter(|unsupported| wanted(unsupported))
            .filter_map(|unsupported| unsupported.arrays.as_ref())
            .flatten()
            .copied()
            .collect()
    }

    /// Pointer parameters are assumed disjoint wherever one of them is written.
    fn disjointness(&self) -> Option<Assumption> {
        let written =
            |array| self.protocol.accesses.iter().any(|(_, access)| access.array == array && access.kind.writes());
        let pointers = |space| {
            let names: Vec<(ArrayId, &str)> = self
                .kernel
                .arrays
                .iter()
                .filter(|(_, array)| array.is_param && array.space == space)
                .map(|(id, array)| (id, array.name.as_str()))
                .collect();
            (names.len() > 1 && names.iter().any(|&(id, _)| written(id)))
                .then(|| names.iter().map(|&(_, name)| name.to_owned()).collect::<Vec<_>>())
        };
        let spaces = [Space::Global, Space::Image, Space::Shared];
        let names: Vec<String> = spaces.into_iter().filter_map(pointers).flatten().collect();
        (!names.is_empty()).then_some(Assumption::DisjointPointers(names))
    }
}

/// Whether a barrier is taken to be for blocks of some size: what is assumed where it stands. What the source itself states
/// is believed, whatever is launched.
fn takes_blocks_for_granted(kernel: &Kernel) -> bool {
    let is_at_a_barrier = |at: Span| {
        let mut found = false;
        every(&kernel.body, |stmt| {
            found |= matches!(stmt, Stmt::Sync { site, .. } if kernel.sites[*site].span == Some(at));
        });
        found
    };
    kernel
        .body
        .iter()
        .any(|stmt| matches!(stmt, Stmt::Assume { basis: Basis::Needed, span: Some(at), .. } if is_at_a_barrier(*at)))
}

fn reads_undeclared_names(block: &[Stmt]) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Havoc { reason, .. } => matches!(reason, HavocReason::Undeclared(_)),
        Stmt::If { then, otherwise, .. } => reads_undeclared_names(then) || reads_undeclared_names(otherwise),
        Stmt::For(it) => reads_undeclared_names(&it.body),
        Stmt::Loop { body, .. } => reads_undeclared_names(body),
        _ => false,
    })
}
