//! NEVER (docs/RULES.md, "3.4 NEVER") and the contradictions that need no search.
//!
//! *Premises.* An equation `e = 0` with SIGN proof of `e - 1` or `-e - 1`; or a fact `f >= 0` with SIGN proof
//! of `-f - 1`. *Conclusion.* Contradiction. *Proof.* `e >= 1 > 0`, and so on.
//! *Trap.* `t <= s` for `t < s`: the certificate misses by one, and thread `s` meets thread 0.

use super::derivation::Close;
use crate::prove::state::State;
use crate::prove::state::least::Least;
use crate::prove::state::poly::{Monomial, Poly};
use crate::prove::state::sign::{self, Certificate, Effort, Part};

/// A contradiction that can be read off.
pub fn at_once(state: &State) -> Option<Close> {
    let constant = |poly: &&Poly| poly.as_constant().is_some_and(|value| value != 0);
    if let Some(equation) = state.equations.iter().find(constant) {
        return Some(Close::Constant(equation.clone()));
    }
    if let Some(fact) = state.facts.iter().find(|fact| fact.as_constant().is_some_and(|value| value < 0)) {
        return Some(Close::NegativeFact(fact.clone()));
    }
    state.is_same_thread().then_some(Close::SameThread)
}

/// Two facts of which one says the opposite of the other: `u + a >= 0` and `-u + b >= 0` with `a + b < 0`. Guards of
/// branches that exclude each other are such facts, and conditions of long kernels have them by the hundred.
pub fn opposed(state: &State) -> Option<Close> {
    let least = Least::of(state);
    state.facts.iter().find_map(|fact| {
        let at = least.opposite(fact)?;
        let goal = fact.negated()?.plus_constant(-1)?;
        // Of a value that the other fact shows not to be negative, its sign may be all that is needed.
        let plain = Certificate { scale: 1, parts: Vec::new() };
        let certificate = if sign::holds(&plain, &goal, state) {
            plain
        } else {
            Certificate { scale: 1, parts: vec![Part { factor: 1, monomial: Monomial::ONE, fact: at }] }
        };
        Some(Close::NeverFact { fact: fact.clone(), certificate })
    })
}

/// A proof that the equation cannot hold.
pub fn equation(equation: &Poly, state: &State, effort: &mut Effort) -> Option<Close> {
    for negated in [false, true] {
        let goal = if negated { equation.negated()? } else { equation.clone() };
        if let Some(certificate) = sign::prove(&goal.plus_constant(-1)?, state, effort) {
            return Some(Close::NeverEquation { equation: equation.clone(), negated, certificate });
        }
    }
    None
}

/// A proof that the fact cannot hold.
pub fn fact(fact: &Poly, state: &State, effort: &mut Effort) -> Option<Close> {
    let goal = fact.negated()?.plus_constant(-1)?;
    let certificate = sign::prove(&goal, state, effort)?;
    Some(Close::NeverFact { fact: fact.clone(), certificate })
}
