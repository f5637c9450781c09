//! ROUND (docs/RULES.md, "3.10 ROUND"): a fact divided by a radix.
//!
//! *Premises.* A fact `f >= 0`; polynomials with `f = c*u + v` identically; SIGN proves `c - 1 >= 0` and
//! `c - 1 - v >= 0`.
//! *Conclusion.* `u >= 0`.
//! *Proof.* `c*u = f - v >= -v > -c`, so `u > -1`, and `u` is an integer.
//! *Use.* Trip counts: from `x + k*dx < n*dx` with `0 <= x` follows `k < n`, whatever `x` is. Warps: from
//! `32*w + lane < 64` follows `w < 2`.
//! *Trap.* `v <= c` for `v < c`: from `x + k*dx <= n*dx` follows only `k <= n`.
//!
//! The radices are those of [`split`].

use super::derivation::Step;
use super::split::{self, Candidate};
use crate::prove::state::State;
use crate::prove::state::poly::Poly;
use crate::prove::state::sign::{self, Effort};
use rustc_hash::FxHashSet;

/// Facts of more terms are not divided: nothing in them is a bound of one value.
const TERMS: usize = 8;

/// Divides some fact that is not in `tried` yet, and adds what follows.
pub fn apply(state: &mut State, tried: &mut FxHashSet<Poly>, effort: &mut Effort) -> Option<Step> {
    for position in 0..state.facts.len() {
        let fact = state.facts[position].clone();
        if fact.size() < 2 || fact.size() > TERMS || !tried.insert(fact.clone()) {
            continue;
        }
        let candidates = split::candidates(&fact, &state.pool);
        let step = candidates.into_iter().find_map(|candidate| verify(&fact, candidate, state, effort));
        if let Some(Step::Round { quotient, .. }) = &step {
            state.know_not_negative(quotient);
            return step;
        }
    }
    None
}

fn verify(fact: &Poly, candidate: Candidate, state: &State, effort: &mut Effort) -> Option<Step> {
    let Candidate { radix, quotient, rest, .. } = candidate;
    effort.divisions = effort.divisions.checked_sub(1)?;
    if quotient.as_constant().is_some_and(|value| value >= 0) || is_plain(&quotient, state) {
        return None;
    }
    let least = radix.plus_constant(-1)?;
    let high = least.minus(&rest)?;
    if state.samples.refute(&high) || state.samples.refute(&quotient) {
        return None;
    }
    let positive = sign::prove(&least, state, effort)?;
    let above = sign::prove(&high, state, effort)?;
    Some(Step::Round { fact: fact.clone(), radix, quotient, rest, positive, above })
}

/// Whether `poly >= 0` is news to nobody.
fn is_plain(poly: &Poly, state: &State) -> bool {
    let good = |&(monomial, coefficient): &(_, i64)| coefficient > 0 && state.non_negative.contains_all(monomial);
    state.facts.contains(poly) || poly.terms().iter().all(good)
}
