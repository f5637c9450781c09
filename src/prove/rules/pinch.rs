//! PINCH (docs/RULES.md, "3.12 PINCH"): what is not negative, and not positive either, is zero.
//!
//! *Premises.* A fact `f >= 0` in which every coefficient is negative and every atom is known not to be; or two
//! facts `f >= 0` and `-f >= 0`. *Conclusion.* Every monomial of `f` is 0; or `f = 0`.
//! *Proof.* `-f` is a sum of products of non-negative numbers and not positive, so every summand is 0; or plainly.
//! *Use.* `stride / 2 <= 0` at the end of a halving loop; the only warp of `threadIdx.x < 32`.
//! *Trap.* `1 - s >= 0`: `s` may be 1.

use super::derivation::Step;
use crate::prove::state::State;
use crate::prove::state::poly::{Monomial, Poly};
use rustc_hash::FxHashSet;

/// What is 0 because `fact` is not negative.
pub fn zeros(fact: &Poly, state: &State) -> Vec<Poly> {
    zeros_if(fact, state, |negated| state.facts.contains(negated))
}

fn zeros_if(fact: &Poly, state: &State, is_fact: impl Fn(&Poly) -> bool) -> Vec<Poly> {
    let vanishes = |&(monomial, coefficient): &(Monomial, i64)| {
        coefficient < 0 && monomial != Monomial::ONE && state.non_negative.contains_all(monomial)
    };
    if fact.terms().iter().all(vanishes) {
        return fact.terms().iter().map(|term| Poly::term(term.0, 1)).collect();
    }
    let opposed = fact.negated().is_some_and(|negated| is_fact(&negated));
    if opposed { vec![fact.clone()] } else { Vec::new() }
}

/// Finds something that is 0 and not known to be, and says so.
pub fn apply(state: &mut State) -> Option<Step> {
    // Conditions of long kernels have hundreds of facts, and this is asked in every round.
    let facts: FxHashSet<&Poly> = state.facts.iter().collect();
    let found = state.facts.iter().find_map(|fact| {
        let news = |zero: &Poly| !zero.is_zero() && !state.has_equation(zero);
        zeros_if(fact, state, |negated| facts.contains(negated)).into_iter().find(news).map(|zero| (fact.clone(), zero))
    });
    let (fact, zero) = found?;
    state.equations.push(zero.clone());
    Some(Step::Pinch { fact, zero })
}
