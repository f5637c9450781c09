//! Claims of the source: what is proved may be relied on behind it, what fails is shown by a run.
//!
//! [`adopt`] turns the claims that hold for every launch into facts, one after the other in program order, so that
//! each is proved from what stands before it. [`settle`] decides the others for the launches that the verdict is
//! about. A claim that nothing proves is never relied on.

use super::asking;
use super::attempt::Case;
use super::scopes::{Attempt, Candidates};
use crate::calculus::{Basis, Claimed, SiteId, eval};
use crate::check::verdict::{PossibleClaim, Undecided, Verdict};
use crate::diagnostic::report::Divergence;
use crate::protocol::{Claim, Fact, Protocol};
use crate::prove::ask::{Asker, Reply};
use crate::prove::premises::{self, Budget, Premises, Proofs};
use crate::prove::refute::{self, Hunt};
use crate::prove::{Assumption, Open, Scope};
use crate::work;
use std::collections::BTreeSet;

/// Kernels with more claims than this get no facts from them.
const MOST: usize = 64;

/// Makes facts of the claims that rules prove for every launch; the derivations that the checker did not accept. One whose proof takes for granted that something
/// does not wrap stays a claim: whoever used it would have to say so.
pub fn adopt(protocol: &mut Protocol, proofs: Proofs) -> Vec<String> {
    if protocol.claims.len() > MOST {
        return Vec::new();
    }
    let mut rejected = Vec::new();
    for index in 0..protocol.claims.len() {
        let claim = protocol.claims[index].clone();
        let scope = Scope::default();
        let proved = Premises::new(protocol, &scope).prove_claim(&claim, &Budget::SMALL);
        let plain = |assumption: &Assumption| matches!(assumption, Assumption::Stated(_) | Assumption::Needed(_));
        if let Ok(proof) = proved
            && proof.assumptions.iter().all(plain)
        {
            rejected.extend(premises::rejection(protocol, &claim, &proof, proofs));
            insert(protocol, index, claim);
        }
    }
    rejected
}

/// Puts the fact that a claim holds where the claim stands.
fn insert(protocol: &mut Protocol, index: usize, claim: Claim) {
    let at = claim.before.facts;
    let Claim { cond, guards, loops, before, site, .. } = claim;
    let span = protocol.sites[site].span;
    protocol.facts.insert(at, Fact { cond, basis: Basis::Proved, guards, loops, before, span });
    protocol.facts[at + 1..].iter_mut().for_each(|fact| fact.before.facts += 1);
    protocol.claims[index + 1..].iter_mut().for_each(|claim| claim.before.facts += 1);
}

/// What is known of one claim.
enum Answer {
    Holds(BTreeSet<Assumption>),
    Open(Open),
    Rejected(String),
}

/// Adds to a verdict what there is to say about the claims of a kernel.
pub(super) fn settle<'a>(case: &Case<'a>, candidates: &Candidates, program: &'a eval::Program, verdict: &mut Verdict) {
    let Some(last) = candidates.proofs.last() else { return };
    let mut open: Vec<(&Claim, Open)> = Vec::new();
    for claim in &case.protocol.claims {
        match first_answer(case, claim, candidates) {
            Some(Answer::Holds(assumptions)) => verdict.assumptions.extend(assumptions),
            Some(Answer::Rejected(what)) => verdict.undecided.push(Undecided::RejectedProof(what)),
            Some(Answer::Open(why)) => open.push((claim, why)),
            None => {}
        }
    }
    let before = open.len();
    refute(case, last, program, &mut open, verdict);
    ask(case, last, &mut open, verdict);
    if open.len() < before {
        // What settles them is about these launches.
        verdict.assumptions.extend(last.parts.iter().flat_map(|part| part.assumptions.iter().cloned()));
    }
    agree(case, &open, verdict);
    for (claim, why) in open {
        let site = claim.site;
        if claim.reasons.is_empty() || case.protocol.is_about_accesses(claim.cond) {
            verdict.undecided.push(Undecided::Claim { site, why });
        } else {
            verdict.possible_claims.push(PossibleClaim { site, reasons: claim.reasons.clone() });
        }
    }
}

/// What claims say of divergence: threads that give a call different arguments are apart like those that miss a barrier.
fn agree(case: &Case<'_>, open: &[(&Claim, Open)], verdict: &mut Verdict) {
    let is_agreement = |site: SiteId| {
        case.protocol.claims.iter().any(|claim| claim.site == site && claim.claimed == Claimed::Agreement)
    };
    let mut left = open.iter().filter(|(claim, _)| claim.claimed == Claimed::Agreement).peekable();
    if verdict.failed_claims.iter().any(|failed| is_agreement(failed.site)) {
        verdict.divergence = Divergence::Divergent;
    } else if verdict.divergence == Divergence::Uniform && left.peek().is_some() {
        let is_possible = left.all(|(claim, _)| !claim.reasons.is_empty());
        verdict.divergence = if is_possible { Divergence::PossiblyDivergent } else { Divergence::Unknown };
    }
}

/// The first answer that settles something, the widest set of launches first; else the last one.
fn first_answer(case: &Case<'_>, claim: &Claim, candidates: &Candidates) -> Option<Answer> {
    let mut last = None;
    for attempt in &candidates.proofs {
        let answer = answer(case, claim, attempt);
        let settles = !matches!(answer, Answer::Open(_));
        last = Some(answer);
        if settles {
            break;
        }
    }
    last
}

/// Whether a claim holds in all parts of an attempt.
fn answer(case: &Case<'_>, claim: &Claim, attempt: &Attempt) -> Answer {
    let mut assumptions = BTreeSet::new();
    for part in &attempt.parts {
        if work::is_over() {
            return Answer::Open(Open::Budget);
        }
        match Premises::new(case.protocol, &part.scope).prove_claim(claim, &case.settings.effort.price(Budget::MIDDLE))
        {
            Ok(proof) => {
                if case.settings.proofs == Proofs::Recheck
                    && let Err(error) = premises::check_claim(case.protocol, claim, &part.scope, &proof.derivation)
                {
                    return Answer::Rejected(error.to_string());
                }
                assumptions.extend(proof.assumptions);
                assumptions.extend(part.assumptions.iter().cloned());
            }
            Err(why) => return Answer::Open(why),
        }
    }
    Answer::Holds(assumptions)
}

/// Runs the kernel for launches in which open claims may fail; where such a run decides, the others hold.
fn refute<'a>(
    case: &Case<'a>,
    attempt: &Attempt,
    program: &'a eval::Program,
    open: &mut Vec<(&Claim, Open)>,
    verdict: &mut Verdict,
) {
    if open.is_empty() {
        return;
    }
    let neither = refute::Levels { block: false, grid: false };
    let mut decided = true;
    let mut unsettled = BTreeSet::new();
    for part in &attempt.parts {
        let hunt = Hunt::new(case.kernel, program, &part.scope, neither, &case.allowance.search);
        let claims: Vec<&Claim> = open.iter().map(|(claim, _)| *claim).collect();
        let outcome = hunt.failures(case.protocol, &claims);
        decided &= outcome.decided;
        unsettled.extend(outcome.unsettled_claims);
        for failed in outcome.failed_assertions {
            if open.iter().any(|(claim, _)| claim.site == failed.site) {
                open.retain(|(claim, _)| claim.site != failed.site);
                verdict.failed_claims.push(failed);
            }
        }
    }
    if decided {
        // What depends on memory is not computed by a run, and of accesses it looks at some: it does not decide these.
        open.retain(|(claim, _)| unsettled.contains(&claim.site) || case.protocol.is_about_accesses(claim.cond));
    }
}

/// Asks the solver, if there is one, about claims that are neither proved nor refuted.
fn ask(case: &Case<'_>, attempt: &Attempt, open: &mut Vec<(&Claim, Open)>, verdict: &mut Verdict) {
    let Some(solver) = &case.settings.solver else { return };
    if open.is_empty() {
        return;
    }
    asking::with_session(solver, |session| {
        let mut asker = Asker::new(session, case.allowance.questions, case.settings.solver_timeout);
        open.retain_mut(|(claim, why)| match asked(case, claim, attempt, &mut asker) {
            Ok(assumptions) => {
                verdict.assumptions.extend(assumptions);
                false
            }
            Err(said) => {
                *why = said;
                true
            }
        });
    });
}

/// What a solver's proof that a claim holds in all parts of an attempt relies on.
fn asked(
    case: &Case<'_>,
    claim: &Claim,
    attempt: &Attempt,
    asker: &mut Asker<'_>,
) -> Result<BTreeSet<Assumption>, Open> {
    let mut assumptions = BTreeSet::new();
    for part in &attempt.parts {
        match asker.claim(case.protocol, claim, &part.scope) {
            Reply::Proved(more) => assumptions.extend(more),
            Reply::Open(why) => return Err(why),
            Reply::Suspected(_) => return Err(Open::NoRule),
        }
        assumptions.extend(part.assumptions.iter().cloned());
    }
    Ok(assumptions)
}
