//! SUM (docs/RULES.md, "3.13 SUM"): two equations, of which one holds all terms of the other.
//!
//! *Premises.* Equations `f = 0` and `e = 0` such that every term of `e` stands in `f` too, with the same
//! coefficients or with all of them negated. *Conclusion.* `f - e = 0`, or `f + e = 0`: what is left of `f`.
//! *Proof.* Sums of zeros. *Use.* A value that is taken apart and put together again: the conflict says that the
//! digits agree, the twin equation that they make up the difference of the two values, so that the values are
//! equal, without a bound of any digit.
//! *Trap.* `f` holds `e` but for one coefficient: `4*i` for `3*i` leaves `i`, and nothing may be dropped.

use super::derivation::Step;
use crate::prove::state::State;
use crate::prove::state::poly::Poly;

/// Equations of fewer terms are solved for an atom instead.
const TERMS: usize = 3;

/// `whole` without the terms of `part`, if it holds them all.
fn without(whole: &Poly, part: &Poly, negated: bool) -> Option<Poly> {
    let left = if negated { whole.plus(part)? } else { whole.minus(part)? };
    (left.size() + part.size() == whole.size()).then_some(left)
}

/// Replaces an equation by what is left of it without the terms of one of `candidates`, by position.
pub fn apply(state: &mut State, candidates: &[usize]) -> Option<Step> {
    let long = |position: &&usize| state.equations[**position].size() >= TERMS;
    let found = candidates.iter().filter(long).find_map(|&part| {
        let known = &state.equations[part];
        (0..state.equations.len()).filter(|&whole| whole != part).find_map(|whole| {
            let equation = &state.equations[whole];
            [false, true].into_iter().find_map(|negated| {
                let left = without(equation, known, negated).filter(|left| !left.is_zero())?;
                Some((whole, Step::Sum { whole: equation.clone(), part: known.clone(), negated, left }))
            })
        })
    });
    let (position, step) = found?;
    if let Step::Sum { left, .. } = &step {
        state.equations[position] = left.clone();
    }
    Some(step)
}
