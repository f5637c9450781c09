//! Conditions as premises of proofs: the one place that knows both how conditions are made and how rules refute them.
//!
//! A [`Condition`] says what must hold for two threads to conflict, to disagree about a barrier, or for a claim to fail.
//! Its [state](super::state::State) is what a search starts from, and what the checker makes once more from the protocol,
//! with the answers that the proof recorded. A [`Derivation`] is all that: how each condition was read, and how it was
//! refuted.
//!
//! Whom atomics order ([`HandOvers`]) is asked here too, before a condition is made of what they leave open: that no two
//! threads set one flag is itself proved by the rules.
//!
//! Guarantees: a proof from assumptions that nothing satisfies is none. Deliberately absent: what conditions say
//! ([`condition`]), how they are refuted ([`rules`](super::rules)), and the order in which scopes are tried (`judge`).

use super::condition::{self, Condition, Place, Reading, ReplayError};
use super::hand_over::{Cells, HandOvers, Missing, MissingFence, Order};
use super::rules::check::{self, CheckError};
use super::rules::derivation::{Branch, Named};
use super::rules::search::{self, Outcome};
use super::state::poly::Atom;
use super::state::sign::Certificate;
use super::{Assumption, Open, Pair, Returned, Scope, SyncQuestion};
use crate::protocol::{Claim, Protocol};
use crate::work;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub use super::rules::search::Budget;

/// A proof that a condition cannot hold.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The launches that it was found for.
    pub scope: Scope,
    /// How it was found; the checker replays it.
    pub derivation: Derivation,
    /// What it relies on, sorted, without repetition.
    pub assumptions: Vec<Assumption>,
}

/// A derivation: one refutation for a pair of accesses, one for each guard that is not plainly uniform for a sync.
#[derive(Clone, Debug, Default)]
pub struct Derivation {
    /// The refutations, in order.
    pub refutations: Vec<Refutation>,
}

/// A proof that one condition has no solution.
#[derive(Clone, Debug, Default)]
pub struct Refutation {
    /// Answers to the questions of sign that building the condition asked, in order; `None` where no
    /// certificate was found (the condition is then built without what would have followed).
    pub rulings: Vec<Option<Certificate>>,
    /// The proof proper.
    pub root: Branch,
    /// Names of atoms, for reading.
    pub names: BTreeMap<Atom, String>,
    /// Rules by which the condition was read.
    pub readings: BTreeSet<Reading>,
}

impl fmt::Display for Refutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.readings.iter().try_for_each(|reading| writeln!(f, "READ  by {reading}"))?;
        Named { branch: &self.root, names: &self.names }.fmt(f)
    }
}

impl fmt::Display for Derivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refutations.iter().try_for_each(|refutation| refutation.fmt(f))
    }
}

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
    hand_overs: OnceCell<HandOvers<'a>>,
}

impl<'a> Premises<'a> {
    /// Nothing has been looked at yet.
    pub fn new(protocol: &'a Protocol, scope: &'a Scope) -> Self {
        let (has_a_point, place, hand_overs) = (OnceCell::new(), RefCell::default(), OnceCell::new());
        Premises { protocol, scope, has_a_point, place, hand_overs }
    }

    /// Proves that two threads cannot conflict at `pair`.
    pub fn prove_pair(&self, pair: &Pair, budget: &Budget) -> Result<Proof, Open> {
        self.refute(&self.conflict(pair)?, budget)
    }

    /// The condition that two threads conflict at `pair`.
    pub fn conflict(&self, pair: &Pair) -> Result<Condition, Open> {
        condition::build(self.protocol, pair, self.scope, &self.order(pair))
    }

    /// Proves that a condition of these premises holds nowhere.
    pub fn refute(&self, condition: &Condition, budget: &Budget) -> Result<Proof, Open> {
        self.not_vacuous(proof_of(std::slice::from_ref(condition), Vec::new(), self.scope, *budget)?)
    }

    /// Proves that of two threads of a block either both or neither reach the sync in an iteration of the loops
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

    // ---- who is ordered

    fn hand_overs(&self) -> &HandOvers<'a> {
        self.hand_overs.get_or_init(|| HandOvers::of(self.protocol, self.scope))
    }

    /// Whether atomics order the accesses of a pair; of flags, those that no two threads set.
    fn order(&self, pair: &Pair) -> Order {
        match self.hand_overs().order(pair) {
            Order::Unless(cells) => Order::Unless(cells.into_iter().filter_map(|cells| self.settled(cells)).collect()),
            ordered @ Order::Always(_) => ordered,
        }
    }

    /// Cells of a flag with what their order relies on; `None` if two threads may set one cell.
    fn settled(&self, cells: Cells) -> Option<Cells> {
        let mut assumptions = cells.assumptions.clone();
        for pair in cells.two_that_set() {
            // On its own: what was looked at for other pairs has no part in it.
            let proof = self.prove_pair(&pair, &Budget::default()).ok()?;
            check_pair(self.protocol, &pair, self.scope, &proof.derivation).ok()?;
            assumptions.extend(proof.assumptions);
        }
        Some(Cells { assumptions, ..cells })
    }

    /// The fence without which the pair is not ordered, if nothing else is missing.
    pub fn missing_fence(&self, pair: &Pair) -> Option<MissingFence> {
        self.hand_overs().missing_at_draw(pair).or_else(|| self.missing_where_threads_wait(pair))
    }

    /// The same for accesses that are made under one lock, or before and after a wait for a flag: when they are made is up
    /// to others.
    pub fn missing_where_threads_wait(&self, pair: &Pair) -> Option<MissingFence> {
        let Missing { fence, unless } = self.hand_overs().missing_where_threads_wait(pair)?;
        let Some(cells) = unless else { return Some(fence) };
        let cells = cells.into_iter().filter_map(|cells| self.settled(cells)).collect();
        let condition = condition::build(self.protocol, pair, self.scope, &Order::Unless(cells)).ok()?;
        self.refute(&condition, &Budget::default()).ok().map(|_| fence)
    }
}

/// Proves that two threads cannot conflict at `pair`.
pub fn prove_pair(protocol: &Protocol, pair: &Pair, scope: &Scope, budget: &Budget) -> Result<Proof, Open> {
    Premises::new(protocol, scope).prove_pair(pair, budget)
}

/// Checks the proof of a pair: builds the condition once more from the protocol and replays the derivation.
pub fn check_pair(protocol: &Protocol, pair: &Pair, scope: &Scope, derivation: &Derivation) -> Result<(), CheckError> {
    let [refutation] = derivation.refutations.as_slice() else { return Err(CheckError::Coverage) };
    // That no two threads set one flag is proved once more, for which the proof may have left too little.
    let order = work::unlimited(|| Premises::new(protocol, scope).order(pair));
    let state = condition::rebuild(protocol, pair, scope, &order, &refutation.rulings).map_err(unbuilt)?;
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
    let states = condition::replay_failures(protocol, claim, scope, &rulings).map_err(unbuilt)?;
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
    let states = condition::replay_guards(protocol, question, returned, scope, &rulings).map_err(unbuilt)?;
    for (state, refutation) in states.into_iter().zip(&derivation.refutations) {
        check::check(&refutation.root, &state)?;
    }
    Ok(())
}

/// Whether the assumptions of a protocol are seen to hold at no point of the scope. That they are not seen to says nothing.
pub fn excludes(protocol: &Protocol, scope: &Scope) -> bool {
    let proved = || search::search(&condition::assumed_of_launches(protocol, scope), &Budget::SMALL);
    !protocol.facts.is_empty() && matches!(proved(), Outcome::Proved(_))
}

fn unbuilt(error: ReplayError) -> CheckError {
    CheckError::Condition(error.to_string())
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
