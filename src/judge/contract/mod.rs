//! The contract of a kernel that is not free for all launches: under which conditions on a launch it is, and which of the
//! launches that were found keep it (docs/SEMANTICS.md, "Contracts").
//!
//! - [`candidates`]: conditions that may help, abducted from what is open, and usual ones. [`trial`] chooses of them; [`probe`]
//!   knows races that they do not exclude.
//! - The chosen conditions are put into the kernel as if the source stated them, and the whole kernel is proved again: a
//!   contract is *sufficient* by a proof that the checker accepts.
//! - Each condition is *necessary*: with the others, but without it, a run shows a race.
//! - The contract is [`plausible`]: somebody would make a launch that it admits, or somebody does.
//! - [`keeping`]: what the launches that were found say of each condition.
//! - [`contents`], [`data`]: that the elements of an array are distinct or in order, where a kernel scatters through it, or
//!   works on segments that it bounds.
//! - [`terms`]: conditions that somebody states; [`stated`] judges a kernel under them.
//!
//! Deliberately absent: other conditions on what memory holds, solvers, and the claim that no weaker contract would do.

mod candidates;
mod contents;
mod data;
mod keeping;
mod necessity;
mod plausible;
mod probe;
mod stated;
mod terms;
mod trial;
mod vocabulary;

pub use stated::{Subject, Under, are_contradicted, broken_by_hosts, judge_under, that_numbers_fit};
pub use terms::{Misread, Phrase, Terms, Unfit};

use super::attempt::{Case, Persistence, Rest};
use super::scopes::{Attempt, Candidate, Candidates};
use crate::calculus::eval::Program;
use crate::calculus::{Kernel, Param, ScalarType, SiteId};
use crate::check::verdict::{Conjunct, Contract, ContractKind, Keeping, PossibleRace, Standing, Verdict};
use crate::diagnostic::report::{Divergence, Race, ScopeKind};
use crate::protocol::infer;
use crate::prove::refute::{self, Hunt};
use crate::prove::{Assumption, Conflict, Pair, Scope, Witness};
use keeping::Looked;
use plausible::Raced;
use std::collections::BTreeSet;
use vocabulary::{Condition, Leaf};

/// A kernel with more open pairs than this is not asked about.
const MOST_PAIRS: usize = 48;
/// What a launch near the contract may take; a search takes 32 times as much where the launch is fixed.
const NEAR: refute::Budget = refute::Budget { steps: 60_000 };
/// Races that are known, of which others are made.
const MOST_RACES: usize = 2;
/// Contracts of which one may be plausible.
const MOST_CHOICES: usize = 4;
/// Sets of launches that a contract is sought for, the widest first.
const MOST_ATTEMPTS: usize = 3;

/// Looks for the contract of a kernel that races, or may, and puts it into the verdict; where no launch is seen to break it,
/// the verdict is that the kernel is free under it.
pub(super) fn settle<'a>(case: &Case<'a>, candidates: &Candidates, program: &'a Program, verdict: &mut Verdict) {
    if !matches!(verdict.race, Race::Racy | Race::PossiblyRacy) || has_more_in_the_way(case) {
        return;
    }
    if contents::settle(case, candidates, verdict, |attempt, kernel, terms| proved(case, attempt, kernel, terms)) {
        return;
    }
    // No condition on a launch keeps contents of memory out.
    let is_of_data = |race: &PossibleRace| race.reasons.iter().all(|reason| reason.array.is_some());
    if verdict.possible.iter().any(is_of_data) {
        return;
    }
    let mut best: Option<Judged> = None;
    for attempt in candidates.proofs.iter().take(MOST_ATTEMPTS) {
        let Some(judged) = sought(case, attempt, program, verdict) else { continue };
        let is_plausible = judged.standing == Standing::Plausible;
        if best.is_none() || is_plausible {
            best = Some(judged);
        }
        if is_plausible {
            break;
        }
    }
    let Some(Judged { found, necessary, standing }) = best else { return };
    let launches = keeping::launches(case, &found.conditions, candidates, program);
    if launches.iter().any(|launch| launch.is_free_without) {
        return;
    }
    let is_needed = necessary.iter().all(Option::is_some);
    // How many blocks and threads there are is chosen for the kernel; a size of data that makes a loop run once is not.
    let is_shown = is_needed && found.is_of_geometry() && launches.iter().any(Looked::is_of_use);
    let standing = if is_shown { Standing::Plausible } else { standing };
    let conjuncts = found.conditions.iter().zip(necessary).map(|(condition, necessary)| Conjunct {
        text: condition.words(&case.kernel.params),
        kind: condition.kind(),
        necessary,
    });
    let conjuncts = conjuncts.collect();
    if standing == Standing::Plausible && case.settings.contracts_excuse() {
        let broken: Vec<Conflict> = launches.iter().flat_map(|launch| launch.conflicts.iter().cloned()).collect();
        if broken.is_empty() {
            let is_kept = !launches.is_empty() && launches.iter().all(|it| it.said.keeping == Keeping::Kept);
            take(verdict, &found, if is_kept { ScopeKind::Launch } else { ScopeKind::Contract });
        } else {
            verdict.race = Race::Racy;
            verdict.conflicts = broken;
            verdict.possible.clear();
        }
    }
    let launches = launches.into_iter().map(|launch| launch.said).collect();
    let assumptions = found.verdict.assumptions;
    verdict.contract = Some(Contract { conjuncts, standing, assumptions, launches });
}

/// A contract, and what it is worth.
struct Judged {
    found: Found,
    necessary: Vec<Option<Witness>>,
    standing: Standing,
}

/// Whether a contract is plausible: each condition is needed, and somebody would make a launch that it admits, or nobody would
/// make another one.
fn standing(case: &Case<'_>, found: &Found, necessary: &[Option<Witness>], verdict: &Verdict) -> Standing {
    let of = |conflict: &Conflict| Raced { sites: conflict.sites, is_across: !conflict.level.is_one_block() };
    let raced: BTreeSet<Raced> = verdict.conflicts.iter().map(of).collect();
    let raced: Vec<Raced> = raced.into_iter().collect();
    let scopes: Vec<&Scope> = found.attempt.parts.iter().map(|part| &part.scope).collect();
    let races: Vec<Vec<Option<i128>>> =
        necessary.iter().flatten().map(|witness| plausible::params_of(&case.kernel.params, witness)).collect();
    let contract = (&found.kernel, found.conditions.as_slice());
    let is_needed = necessary.iter().all(Option::is_some);
    let is_usual = || found.conditions.iter().all(Condition::holds_in_usual_blocks);
    match is_needed && (is_usual() || plausible::is_plausible(contract, &scopes, &raced, &races)) {
        true => Standing::Plausible,
        false => Standing::Excuse,
    }
}

/// The verdict on the kernel that states its contract, in the place of the one without.
fn take(verdict: &mut Verdict, found: &Found, kind: ScopeKind) {
    let Verdict { failed_claims, possible_claims, .. } = std::mem::replace(verdict, found.verdict.clone());
    verdict.failed_claims = failed_claims;
    verdict.possible_claims = possible_claims;
    if let Some(scope) = &mut verdict.scope {
        scope.kind = kind;
    }
}

/// Whether something stands in the way of a proof that no condition on launches takes away.
fn has_more_in_the_way(case: &Case<'_>) -> bool {
    case.kernel.anything_may_happen() || !case.opaque_arrays().is_empty() || case.reads_undeclared_names()
}

/// Conditions under which a kernel is proved free.
struct Found {
    /// The contract.
    conditions: Vec<Condition>,
    attempt: Attempt,
    /// The kernel that states them.
    kernel: Kernel,
    /// The verdict on that.
    verdict: Verdict,
}

/// A contract for these launches: the first that is plausible, or else the first about the geometry, which is chosen for the
/// kernel, or else the first.
fn sought<'a>(case: &Case<'a>, attempt: &Attempt, program: &'a Program, verdict: &Verdict) -> Option<Judged> {
    let rest = case.prove_by_rules(attempt, (program, &verdict.conflicts), Persistence::AskUpTo(MOST_PAIRS));
    let pairs = open_pairs(&rest)?;
    let mut sets = candidates::sets(case.protocol, attempt, &pairs);
    let probe = probe::Probe::new(case, program, (attempt, &pairs), &verdict.conflicts);
    let mut trial = trial::Trial::new(case, attempt, &pairs, probe);
    let sites: Vec<(SiteId, SiteId)> = pairs.iter().map(|pair| case.sites(pair)).collect();
    let mut told: Option<Judged> = None;
    for _ in 0..MOST_CHOICES {
        let Some(conditions) = trial.choose(&sets) else { break };
        sets.retain(|set| !conditions.iter().all(|condition| set.contains(condition)));
        let Some(found) = Found::of(case, attempt, conditions) else { continue };
        let necessary = found.witnesses(case, &sites, &verdict.conflicts);
        let standing = standing(case, &found, &necessary, verdict);
        let judged = Judged { found, necessary, standing };
        if standing == Standing::Plausible {
            return Some(judged);
        }
        let is_better = |other: &Judged| !other.found.is_of_geometry() && judged.found.is_of_geometry();
        if told.as_ref().is_none_or(is_better) {
            told = Some(judged);
        }
    }
    told
}

/// That parameters of 64 bits without a sign are no greater than the numbers in which conditions are computed.
fn wide(kernel: &Kernel, conditions: &[Condition]) -> Vec<Assumption> {
    let leaves = conditions.iter().flat_map(Condition::leaves);
    let is_wide = |leaf| match leaf {
        Leaf::Param(param) => Some(&kernel.params[param]).filter(|param| param.ty == ScalarType::U64),
        _ => None,
    };
    let fits = |param: &Param| Assumption::FitsInto { expression: param.name.clone(), bits: 63, span: None };
    leaves.filter_map(is_wide).map(fits).collect()
}

/// What is open, if it is pairs alone, and few.
fn open_pairs(rest: &Rest) -> Option<Vec<Pair>> {
    let is_few = !rest.pairs.is_empty() && rest.pairs.len() <= MOST_PAIRS;
    (is_few && rest.is_complete()).then(|| rest.pairs.iter().map(|(pair, _)| pair.clone()).collect())
}

/// The verdict on a kernel that states the conditions, if it is that the kernel is free.
fn proved(case: &Case<'_>, attempt: &Attempt, kernel: &Kernel, terms: &Terms) -> Option<Verdict> {
    let protocol = infer::infer(kernel);
    let program = Program::new(kernel);
    let stating = case.stating(kernel, &protocol);
    let rest = stating.prove_by_rules(attempt, (&program, &[]), Persistence::AskUpTo(0));
    if !rest.pairs.is_empty() || !rest.is_complete() {
        return None;
    }
    let hunts = stating.hunts(attempt, &program);
    let mut verdict = stating.conclude(attempt, rest, hunts, &[]);
    let is_own = terms.is_own(&protocol);
    verdict.assumptions.retain(|assumption| !is_own(assumption));
    let is_known = matches!(verdict.divergence, Divergence::Uniform | Divergence::Unknown);
    (verdict.race == Race::RaceFree && is_known).then_some(verdict)
}

impl Found {
    /// The kernel under the conditions, if it is proved.
    fn of(case: &Case<'_>, attempt: &Attempt, conditions: Vec<Condition>) -> Option<Found> {
        let terms = Terms { conditions, data: Vec::new() };
        let kernel = terms.stated_in(case.kernel);
        let mut verdict = proved(case, attempt, &kernel, &terms)?;
        let conditions = terms.conditions;
        verdict.assumptions.extend(wide(case.kernel, &conditions));
        // That a number fits into what computes with it is assumed of all numbers, and no condition on launches.
        let fits = |condition: &Condition| condition.bits().filter(|_| conditions.len() > 1);
        verdict.assumptions.extend(conditions.iter().filter_map(fits).map(|(param, bits)| {
            let expression = case.kernel.params[param].name.clone();
            Assumption::FitsInto { expression, bits, span: None }
        }));
        let conditions = conditions.iter().filter(|&condition| fits(condition).is_none()).cloned().collect();
        Some(Found { conditions, attempt: attempt.clone(), kernel, verdict })
    }

    /// Whether it says nothing of parameters.
    fn is_of_geometry(&self) -> bool {
        self.conditions.iter().all(|condition| condition.kind() == ContractKind::Geometry)
    }

    /// Of each condition, a race between these sites that the others do not exclude.
    fn witnesses(&self, case: &Case<'_>, sites: &[(SiteId, SiteId)], known: &[Conflict]) -> Vec<Option<Witness>> {
        let races: Vec<Vec<Option<i128>>> =
            known.iter().take(MOST_RACES).map(|it| plausible::params_of(&case.kernel.params, &it.witness)).collect();
        let races = races.as_slice();
        (0..self.conditions.len())
            .map(|at| {
                let is_it = |witness: &Witness| self.breaks_alone(case, at, witness);
                let known = known.iter().find(|conflict| is_it(&conflict.witness));
                known.map(|conflict| conflict.witness.clone()).or_else(|| self.race_without(case, at, (sites, races)))
            })
            .collect()
    }

    /// Whether a launch breaks that condition and no other one.
    fn breaks_alone(&self, case: &Case<'_>, at: usize, witness: &Witness) -> bool {
        let params = plausible::params_of(&case.kernel.params, witness);
        let value = |leaf: Leaf| plausible::value_in(witness.geometry, &params, leaf);
        let says = |condition: &Condition| condition.holds(&value);
        self.conditions.iter().enumerate().all(|(other, condition)| match other == at {
            true => says(condition) == Some(false),
            false => says(condition) == Some(true),
        })
    }

    /// A race in a launch that breaks one condition by a little, or in one that a search finds.
    fn race_without(
        &self,
        case: &Case<'_>,
        at: usize,
        (sites, races): (&[(SiteId, SiteId)], &[Vec<Option<i128>>]),
    ) -> Option<Witness> {
        let mut others = self.conditions.clone();
        others.remove(at);
        let kernel = Terms { conditions: others, data: Vec::new() }.stated_in(case.kernel);
        let program = Program::new(&kernel);
        let protocol = infer::infer(&kernel);
        let stating = case.stating(&kernel, &protocol);
        let raced = |outcome: refute::Outcome| {
            outcome.conflicts.into_iter().find(|conflict| self.breaks_alone(case, at, &conflict.witness))
        };
        let contract = (self.conditions.as_slice(), at);
        let launches =
            self.attempt.parts.iter().flat_map(|part| necessity::breaking(&kernel, &part.scope, contract, races));
        let searched = |launch: Scope| refute::search(&kernel, sites, &launch, stating.search_levels(), &NEAR);
        let near = launches.map(searched).find_map(raced);
        let conflict = near.or_else(|| {
            let hunts = stating.hunts(&self.attempt, &program);
            hunts.into_iter().map(|hunt: Hunt<'_>| hunt.finish(None, sites)).find_map(raced)
        });
        conflict.map(|conflict| conflict.witness)
    }
}

/// An attempt at one part alone.
fn alone(part: &Candidate, starts: super::scopes::Starts) -> Attempt {
    Attempt { parts: vec![part.clone()], starts }
}
