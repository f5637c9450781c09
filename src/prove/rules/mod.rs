//! Symbolic proofs of race-freedom for every launch geometry, without a solver
//! (docs/RULES.md, "Proof rules").
//!
//! A [`State`](state::State) holds what is known about two threads that are supposed to conflict; [`search`]
//! looks for a contradiction with the rules of one file each ([`sign`], [`split`], [`subst`], [`sum`], [`never`],
//! [`xor`], [`round`], [`monotone`], [`pinch`], [`order`], [`cases`]) and returns a [`Derivation`], which [`check`] replays without searching.
//!
//! Guarantees: arithmetic is exact or gives up; budgets are counts; a derivation that [`check`] accepts is a
//! proof whatever the search did. Deliberately absent: protocols and expressions (`condition`), solvers, and
//! the reserve rules WINDOW and INJECTIVE, which the catalogue does not need (docs/RULES.md, "3.9 Reserve").

pub mod cases;
pub mod check;
pub mod derivation;
pub mod least;
mod model;
pub mod monotone;
pub mod never;
pub mod order;
pub mod pinch;
pub mod poly;
pub mod round;
pub mod samples;
pub mod search;
pub mod sign;
pub mod split;
pub mod state;
pub mod subst;
pub mod sum;
pub mod xor;

pub use check::CheckError;
pub use derivation::Derivation;
pub use search::Budget;

use super::condition::{self, Condition, Place, Returned};
use super::flags::Cells;
use super::{Assumption, Open, Pair, Proof, Scope, SyncQuestion};
use crate::protocol::{Claim, Protocol};
use derivation::Refutation;
use search::Outcome;
use std::cell::{OnceCell, RefCell};

/// Whether derivations are replayed by the checker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Proofs {
    /// The prover is trusted.
    #[default]
    Trust,
    /// Each derivation is replayed; one that fails makes its kernel `unknown` and is a bug.
    Recheck,
}

/// A protocol and a scope for which proofs are sought. That their assumptions hold somewhere at all is looked at
/// once, when a first proof relies on it.
pub struct Premises<'a> {
    /// The protocol.
    pub protocol: &'a Protocol,
    /// The launches.
    pub scope: &'a Scope,
    has_a_point: OnceCell<bool>,
    /// Where the claim stands that was asked about last.
    place: RefCell<Option<Place<'a>>>,
}

impl<'a> Premises<'a> {
    /// Nothing has been looked at yet.
    pub fn new(protocol: &'a Protocol, scope: &'a Scope) -> Self {
        Premises { protocol, scope, has_a_point: OnceCell::new(), place: RefCell::default() }
    }

    /// Proves that two threads cannot conflict at `pair`.
    pub fn prove_pair(&self, pair: &Pair, budget: &Budget) -> Result<Proof, Open> {
        self.refute(&self.conflict(pair)?, budget)
    }

    /// The condition that two threads conflict at `pair`.
    pub fn conflict(&self, pair: &Pair) -> Result<Condition, Open> {
        condition::build(self.protocol, pair, self.scope)
    }

    /// Proves that a condition of these premises holds nowhere.
    pub fn refute(&self, condition: &Condition, budget: &Budget) -> Result<Proof, Open> {
        self.not_vacuous(proof_of(std::slice::from_ref(condition), Vec::new(), self.scope, *budget)?)
    }

    /// Proves that of two threads of a block either both or neither reach the sync in a turn of the loops
    /// around it, as far as they have not returned.
    pub fn prove_sync_uniform(
        &self,
        question: SyncQuestion,
        returned: Returned,
        budget: &Budget,
    ) -> Result<Proof, Open> {
        let (conditions, assumptions) = condition::guard_conditions(self.protocol, question, returned, self.scope)?;
        self.not_vacuous(proof_of(&conditions, assumptions, self.scope, *budget)?)
    }

    /// Proves that a claim holds in every thread that reaches it, or for every two.
    pub fn prove_claim(&self, claim: &Claim, budget: &Budget) -> Result<Proof, Open> {
        let conditions = condition::failures(self.protocol, claim, self.scope, &mut self.place.borrow_mut())?;
        self.not_vacuous(proof_of(&conditions, Vec::new(), self.scope, *budget)?)
    }

    /// A proof from assumptions that nothing satisfies is none.
    fn not_vacuous(&self, proof: Proof) -> Result<Proof, Open> {
        let has_a_point = || condition::has_a_point(self.protocol, self.scope);
        if *self.has_a_point.get_or_init(has_a_point) { Ok(proof) } else { Err(Open::Vacuous) }
    }
}

/// Proves that two threads cannot conflict at `pair`.
pub fn prove_pair(protocol: &Protocol, pair: &Pair, scope: &Scope, budget: &Budget) -> Result<Proof, Open> {
    Premises::new(protocol, scope).prove_pair(pair, budget)
}

/// Proves that two threads cannot conflict at `pair`, where they do not unless these cells of flags differ.
pub(in crate::prove) fn prove_unless(
    protocol: &Protocol,
    pair: &Pair,
    scope: &Scope,
    cells: &[Cells],
    budget: &Budget,
) -> Result<Proof, Open> {
    Premises::new(protocol, scope).refute(&condition::build_unless(protocol, pair, scope, cells)?, budget)
}

/// Checks the proof of a pair: builds the condition once more from the protocol and replays the derivation.
pub fn check_pair(protocol: &Protocol, pair: &Pair, scope: &Scope, derivation: &Derivation) -> Result<(), CheckError> {
    let [refutation] = derivation.refutations.as_slice() else { return Err(CheckError::Coverage) };
    let state = condition::rebuild(protocol, pair, scope, &refutation.rulings).map_err(CheckError::Condition)?;
    check::check(&refutation.root, &state)
}

/// What the checker has against the proof of a claim, if it is asked.
pub fn rejection(protocol: &Protocol, claim: &Claim, proof: &Proof, proofs: Proofs) -> Option<String> {
    let checked = || check_claim(protocol, claim, &proof.scope, &proof.derivation);
    (proofs == Proofs::Recheck).then(checked).and_then(Result::err).map(|error| error.to_string())
}

/// Checks the proof of a claim.
pub fn check_claim(
    protocol: &Protocol,
    claim: &Claim,
    scope: &Scope,
    derivation: &Derivation,
) -> Result<(), CheckError> {
    let rulings: Vec<_> = derivation.refutations.iter().map(|refutation| refutation.rulings.as_slice()).collect();
    let states = condition::replay_failures(protocol, claim, scope, &rulings).map_err(CheckError::Condition)?;
    states.iter().zip(&derivation.refutations).try_for_each(|(state, refutation)| check::check(&refutation.root, state))
}

/// Proves that the threads of a block agree about reaching a sync; see [`Premises::prove_sync_uniform`].
pub fn prove_sync_uniform(
    protocol: &Protocol,
    question: SyncQuestion,
    returned: Returned,
    scope: &Scope,
    budget: &Budget,
) -> Result<Proof, Open> {
    Premises::new(protocol, scope).prove_sync_uniform(question, returned, budget)
}

/// Checks the proof of a sync.
pub fn check_sync_uniform(
    protocol: &Protocol,
    question: SyncQuestion,
    returned: Returned,
    scope: &Scope,
    derivation: &Derivation,
) -> Result<(), CheckError> {
    let rulings: Vec<_> = derivation.refutations.iter().map(|refutation| refutation.rulings.as_slice()).collect();
    let states =
        condition::replay_guards(protocol, question, returned, scope, &rulings).map_err(CheckError::Condition)?;
    for (state, refutation) in states.into_iter().zip(&derivation.refutations) {
        check::check(&refutation.root, &state)?;
    }
    Ok(())
}

fn proof_of(
    conditions: &[Condition],
    mut assumptions: Vec<Assumption>,
    scope: &Scope,
    budget: Budget,
) -> Result<Proof, Open> {
    let mut derivation = Derivation::default();
    for condition in conditions {
        let root = match search::search(&condition.state, &budget) {
            Outcome::Proved(root) => root,
            Outcome::Stuck => return Err(Open::NoRule),
            Outcome::Spent => return Err(Open::Budget),
        };
        assumptions.extend(condition.assumptions.iter().cloned());
        let (rulings, names) = (condition.rulings.clone(), condition.names.clone());
        derivation.refutations.push(Refutation { rulings, root, names, readings: condition.readings.clone() });
    }
    assumptions.sort();
    assumptions.dedup();
    Ok(Proof { scope: scope.clone(), derivation, assumptions })
}
