//! What a contract says of what memory holds: `distinct(idx)` of a kernel that scatters through `idx`, as
//! `out[idx[i]] = in[i]`; `monotone(row)` of one whose threads work on segments `row[r] .. row[r + 1]`.
//!
//! Guarantees: the contract is enough by a proof that the checker accepts, and needed: contents at which the kernel races
//! without it were found and run. Who writes a place for itself alone scatters. Who reads what it writes (`bins[v[i]]++`), or
//! writes the same value whoever it is (`seen[v[i]] = 1`), expects several threads there: of that `distinct` is no excuse.
//! Of segments that overlap nobody expects anything.
//!
//! Deliberately absent: kernels of which something else is open, too, and what is stated ([`data`](super::data)).

use super::data::{self, Datum, Says};
use super::terms::Terms;
use crate::calculus::{ArrayId, Expr, Kernel};
use crate::check::verdict::{CheckedLaunch, Conjunct, Contract, Keeping, PossibleRace, Standing, Verdict};
use crate::diagnostic::report::{Race, ScopeKind};
use crate::judge::attempt::Case;
use crate::judge::scopes::{Attempt, Candidates};
use crate::memory_model::AccessKind;
use std::collections::BTreeSet;

/// Puts the contract of a kernel that is about contents into its verdict, if it has one of this kind.
/// `proved` gives the verdict on a kernel that states it, if it is free.
pub(super) fn settle(
    case: &Case<'_>,
    candidates: &Candidates,
    verdict: &mut Verdict,
    proved: impl Fn(&Attempt, &Kernel, &Terms) -> Option<Verdict>,
) -> bool {
    if verdict.race != Race::PossiblyRacy {
        return false;
    }
    let scatter = verdict.possible.iter().all(|race| scatters(case, race));
    let arrays: BTreeSet<ArrayId> = verdict.possible.iter().flat_map(indices).collect();
    let readable = data::read_only(case.kernel);
    for array in arrays.into_iter().filter(|array| readable.contains(array)) {
        let is_about = |race: &&PossibleRace| indices(race).any(|read| read == array);
        let contents = verdict.possible.iter().filter(is_about).find_map(|race| race.contents.as_ref());
        let Some(witness) = contents.map(|contents| contents.witness.clone()) else { continue };
        let sayable = [(Says::Monotone, data::bounds_segments(case.kernel, array)), (Says::Distinct, scatter)];
        for (says, _) in sayable.into_iter().filter(|(_, is_sayable)| *is_sayable) {
            let datum = Datum { array, says };
            let terms = Terms { conditions: Vec::new(), data: vec![datum] };
            let kernel = terms.stated_in(case.kernel);
            if let Some(proved) = candidates.proofs.iter().find_map(|attempt| proved(attempt, &kernel, &terms)) {
                let conjunct = Conjunct { necessary: Some(witness), ..data::conjunct(case.kernel, datum) };
                take(case, verdict, conjunct, (candidates, proved));
                return true;
            }
        }
    }
    false
}

/// Puts the contract into the verdict, and the verdict under it in the place of the one without where contracts count.
fn take(case: &Case<'_>, verdict: &mut Verdict, conjunct: Conjunct, (candidates, proved): (&Candidates, Verdict)) {
    // What memory holds, no launch says.
    let stated = candidates.proofs.last().into_iter().flat_map(|attempt| &attempt.parts);
    let launches = stated.filter(|part| part.kind != ScopeKind::AllGeometries).map(|part| CheckedLaunch {
        launches: part.launches.clone(),
        keeping: Keeping::Open,
        missing: vec![0],
        races: Vec::new(),
    });
    let launches = launches.collect();
    let assumptions = proved.assumptions.clone();
    if case.settings.contracts_excuse() {
        let Verdict { failed_claims, possible_claims, .. } = std::mem::replace(verdict, proved);
        verdict.failed_claims = failed_claims;
        verdict.possible_claims = possible_claims;
        verdict.scope.iter_mut().for_each(|scope| scope.kind = ScopeKind::Contract);
    }
    let standing = Standing::Plausible;
    verdict.contract = Some(Contract { conjuncts: vec![conjunct], standing, assumptions, launches });
}

/// Whether a race that may be is between threads that each write a place for themselves, and not the same value whoever
/// they are.
fn scatters(case: &Case<'_>, race: &PossibleRace) -> bool {
    [race.pair.first, race.pair.second].into_iter().all(|access| {
        let access = &case.protocol.accesses[access];
        let mut is_own = access.value.is_none();
        if let Some(value) = access.value {
            case.protocol.exprs.visit(value, |_, node| is_own |= is_of_a_thread(node));
        }
        access.kind == AccessKind::Write && is_own
    })
}

/// Whether that may differ between threads.
fn is_of_a_thread(node: &Expr) -> bool {
    matches!(node, Expr::Geometry(_) | Expr::Var(_) | Expr::Call(..) | Expr::Opaque(..))
}

/// The arrays that a race depends on.
fn indices(race: &PossibleRace) -> impl Iterator<Item = ArrayId> {
    race.reasons.iter().filter_map(|reason| reason.array)
}
