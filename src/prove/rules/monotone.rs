//! MONOTONE (docs/RULES.md, "3.11 MONOTONE"): of two values that are divided by one radix, the
//! greater has the greater quotient.
//!
//! *Premises.* Two facts `f >= 0` and `g >= 0` with `f + g = c*u + v` identically; SIGN proves `c - 1 >= 0` and
//! `c - 1 - v >= 0`. *Conclusion.* `u >= 0`. *Proof.* That of [`super::round`], for the sum.
//! *Use.* From `a - c*p >= 0` and `c*q + c - 1 - b >= 0`, which bound the quotients `p` of `a` and `q` of `b`, follows
//! `q - p >= 0` where SIGN proves `b - a >= 0`. So the parts `[n*t / c, n*(t + 1) / c)` of two threads are disjoint.
//! *Trap.* That `b > a` makes `q > p` no more than `b >= a` does.
//!
//! Facts whose digits have one radix are paired, if none is in both; where the radix is one term, whatever it is multiplied
//! by belongs to the quotient: digits that an equation replaced. What [`super::round`] finds in a single fact is left to it.

use super::derivation::Step;
use crate::prove::state::State;
use crate::prove::state::poly::{Atom, Monomial, Poly};
use crate::prove::state::sign::{self, Effort};
use rustc_hash::FxHashSet;

/// Facts of more terms bound no digits alone.
const TERMS: usize = 10;
/// Pairs of facts that are looked at.
const PAIRS: usize = 400;

/// A fact `±radix*digits + … >= 0`.
struct Bound {
    fact: usize,
    radix: Poly,
    /// A sum of digits.
    digits: Poly,
}

/// Finds an inequality of digits that is not in `tried` yet, and adds it.
pub fn apply(state: &mut State, tried: &mut FxHashSet<(Poly, usize)>, effort: &mut Effort) -> Option<Step> {
    if state.named.iter().next().is_none() {
        return None;
    }
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for (position, fact) in state.facts.iter().enumerate().filter(|(_, fact)| fact.size() <= TERMS) {
        collect(fact, position, state, &mut lower, &mut upper);
    }
    let pairs = lower.iter().flat_map(|low| upper.iter().map(move |high| (low, high)));
    let alike = |(low, high): &(&Bound, &Bound)| {
        let own = high.digits.atoms();
        low.radix == high.radix && low.digits.atoms().iter().all(|atom| !own.contains(atom))
    };
    let step = pairs.filter(alike).take(PAIRS).find_map(|(low, high)| verify(low, high, state, tried, effort))?;
    if let Step::Monotone { quotient, .. } = &step {
        state.know_not_negative(quotient);
    }
    Some(step)
}

/// The digits that a fact bounds, for each radix that they have in it.
fn collect(fact: &Poly, position: usize, state: &State, lower: &mut Vec<Bound>, upper: &mut Vec<Bound>) {
    let digits: Vec<Atom> = fact.atoms().into_iter().filter(|&atom| state.named.contains(atom)).collect();
    let mut found: Vec<(Poly, Poly)> = Vec::new();
    for atom in digits {
        let Some(radix) = coefficient_of(fact, atom).filter(|radix| radix.as_constant().is_none_or(is_radix)) else {
            continue;
        };
        match found.iter_mut().find(|(known, _)| *known == radix) {
            Some((_, sum)) => match sum.plus(&Poly::atom(atom)) {
                Some(more) => *sum = more,
                None => return,
            },
            None => found.push((radix, Poly::atom(atom))),
        }
    }
    for (radix, digits) in found {
        let is_lower = radix.terms()[0].1 < 0;
        let (radix, bounds) = if is_lower { (radix.negated(), &mut *lower) } else { (Some(radix), &mut *upper) };
        bounds.extend(radix.map(|radix| Bound { fact: position, radix, digits }));
    }
}

fn is_radix(value: i64) -> bool {
    !(-1..=1).contains(&value)
}

/// What an atom is multiplied by, if it stands in no power and in no product with a value of its thread.
fn coefficient_of(fact: &Poly, atom: Atom) -> Option<Poly> {
    let mut terms = Vec::new();
    for &(monomial, coefficient) in fact.terms().iter().filter(|term| term.0.contains(atom)) {
        let rest = monomial.divide(Monomial::of(atom))?;
        if rest.private_part() != Monomial::ONE || rest.contains(atom) {
            return None;
        }
        terms.push((rest, coefficient));
    }
    Poly::from_terms(terms)
}

fn verify(
    low: &Bound,
    high: &Bound,
    state: &State,
    tried: &mut FxHashSet<(Poly, usize)>,
    effort: &mut Effort,
) -> Option<Step> {
    let (first, second) = (&state.facts[low.fact], &state.facts[high.fact]);
    let sum = first.plus(second)?;
    let quotient = match low.radix.terms() {
        &[radix] => multiples(&sum, radix)?,
        _ => high.digits.minus(&low.digits)?,
    };
    if quotient.as_constant().is_some() || state.facts.contains(&quotient) || state.samples.refute(&quotient) {
        return None;
    }
    let rest = sum.minus(&low.radix.times(&quotient)?)?;
    let least = low.radix.plus_constant(-1)?;
    let above = least.minus(&rest)?;
    // SIGN answers alike until something is known in addition.
    if state.samples.refute(&above) || !tried.insert((above.clone(), state.facts.len())) {
        return None;
    }
    let positive = sign::prove(&least, state, effort)?;
    let above = sign::prove(&above, state, effort)?;
    let facts = Box::new([first.clone(), second.clone()]);
    Some(Step::Monotone { facts, radix: low.radix.clone(), quotient, rest, positive, above })
}

/// What a radix of one term is multiplied by in a sum, without constants.
fn multiples(sum: &Poly, (monomial, coefficient): (Monomial, i64)) -> Option<Poly> {
    let quotient = |&(theirs, times): &(Monomial, i64)| {
        let rest = theirs.divide(monomial).filter(|rest| *rest != Monomial::ONE)?;
        (times.checked_rem(coefficient)? == 0).then(|| (rest, times / coefficient))
    };
    Poly::from_terms(sum.terms().iter().filter_map(quotient).collect())
}
