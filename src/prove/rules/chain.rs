//! CHAIN (docs/RULES.md, "3.15 CHAIN"): a bound of one value is one of another that lies below it.
//!
//! *Premises.* Two facts `f >= 0` and `g >= 0`. *Conclusion.* `f + g >= 0`. *Proof.* A sum of numbers that are not negative.
//! *Use.* From `x < y` and `y < n` follows `x < n`, which SPLIT needs where `n` is the radix of `x`: a matrix that is
//! transposed in place, below its diagonal.
//! *Trap.* With `y <= n` the last `y` of a row is the first of the next.
//!
//! Facts are added up if all that one says of its thread goes, so that what is left is shorter. [`sign`](crate::prove::state::sign)
//! would add them up, too, but for the order in which it takes the values of a thread.

use super::derivation::Step;
use crate::prove::state::State;
use crate::prove::state::poly::{Atom, Monomial, Poly, Side};

/// Facts of more terms bound no value alone.
const TERMS: usize = 8;

/// The first sum that is not known yet, which is added.
pub fn apply(state: &mut State) -> Option<Step> {
    let (facts, sum) = found(state)?;
    state.know_not_negative(&sum);
    Some(Step::Chain { facts: Box::new(facts), sum })
}

/// Whether there is anything to add up.
pub fn applies(state: &State) -> bool {
    found(state).is_some()
}

fn found(state: &State) -> Option<([Poly; 2], Poly)> {
    let short: Vec<Bound<'_>> = state.facts.iter().filter(|fact| fact.size() <= TERMS).filter_map(Bound::of).collect();
    let pairs = short.iter().flat_map(|first| short.iter().map(move |second| (first, second)));
    pairs.filter(|(first, second)| first.side == second.side).find_map(|(first, second)| {
        let sum = linked(first, second).filter(|sum| !state.facts.contains(sum))?;
        Some(([first.fact.clone(), second.fact.clone()], sum))
    })
}

/// A fact about values of one thread.
struct Bound<'s> {
    fact: &'s Poly,
    side: Side,
    /// Its terms in which such values are.
    private: Vec<(Monomial, i64)>,
}

impl<'s> Bound<'s> {
    fn of(fact: &'s Poly) -> Option<Bound<'s>> {
        let mut sides = fact.terms().iter().flat_map(|term| term.0.atoms()).filter_map(Atom::side);
        let side = sides.next()?;
        if !sides.all(|other| other == side) {
            return None;
        }
        let private = fact.terms().iter().copied().filter(|term| term.0.private_part() != Monomial::ONE).collect();
        Some(Bound { fact, side, private })
    }
}

/// The sum, if nothing is left in it of what the second fact says of its thread, but something of the first.
fn linked(first: &Bound<'_>, second: &Bound<'_>) -> Option<Poly> {
    let goes = |&(monomial, factor): &(Monomial, i64)| first.fact.coefficient(monomial).checked_neg() == Some(factor);
    if !second.private.iter().all(goes) {
        return None;
    }
    first.fact.plus(second.fact).filter(|sum| sum.is_private() && sum.size() <= first.fact.size())
}
