//! SIGN (docs/RULES.md, "3.1 SIGN"): `p >= 0`.
//!
//! *Certificate.* An integer `k >= 1` and a list of (`l >= 0`, monomial `w` over non-negative atoms, fact
//! `f`) with `k*p = sum l*w*f + R`, where `R` has only positive coefficients and non-negative atoms.
//! *Proof.* Every term on the right is a product of non-negative numbers.
//! *Trap.* From `c <= w` instead of `c < w` there is no certificate for `w - 1 - c`, and none must be found
//! by rounding: there is none in the arithmetic here, which is exact.
//!
//! The search cancels the greatest *bad* monomial (negative coefficient, or an atom of unknown sign) by
//! facts; it is counted, and ends. [`holds`] checks a certificate and searches nothing.

use super::State;
use super::least::Least;
use super::poly::{Monomial, Poly, gcd_of};
use crate::work;
use rustc_hash::FxHashSet;
use std::cell::OnceCell;

/// Why a polynomial is not negative.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Certificate {
    /// `k`.
    pub scale: i64,
    /// The facts that are added up.
    pub parts: Vec<Part>,
}

impl Certificate {
    /// Of `p >= 0` and `q >= 0`, why half of `p + q` is not negative.
    pub fn halved_with(&self, other: &Certificate) -> Option<Certificate> {
        let gcd = gcd_of(self.scale, other.scale);
        let (mine, theirs) = (other.scale / gcd, self.scale / gcd);
        let times = |certificate: &Certificate, by: i64| {
            let part = |part: &Part| Some(Part { factor: part.factor.checked_mul(by)?, ..*part });
            certificate.parts.iter().map(part).collect::<Option<Vec<Part>>>()
        };
        let parts = [times(self, mine)?, times(other, theirs)?].concat();
        Some(Certificate { scale: self.scale.checked_mul(mine)?.checked_mul(2)?, parts })
    }
}

/// A multiple of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// `l`.
    pub factor: i64,
    /// `w`.
    pub monomial: Monomial,
    /// The position of `f` among the facts.
    pub fact: usize,
}

/// What may still be spent.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Cancellations for one goal.
    pub per_goal: u32,
    /// Cancellations in all.
    pub left: u32,
    /// Cancellations that were tried.
    pub spent: u64,
    /// Quotients that ROUND may still try.
    pub divisions: u32,
    /// Which facts are tried first.
    pub preference: Preference,
}

/// Which of the facts that cancel a monomial are tried first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// Those of which no new monomial stays that nothing greater covers.
    #[default]
    Covered,
    /// Those that leave the fewest bad monomials: a guard takes several away at once, of which an extent takes one.
    Fewest,
}

impl Effort {
    /// A new purse.
    pub fn new(per_goal: u32, total: u32) -> Effort {
        Effort { per_goal, left: total, spent: 0, divisions: DIVISIONS, preference: Preference::Covered }
    }
}

/// Quotients that ROUND may try in a search. No proof of some ten thousand in public code took more than 600,
/// and conditions with hundreds of facts offer a hundred thousand.
const DIVISIONS: u32 = 1_500;

/// Cancellations of monomials without a private atom in one certificate.
const UNIFORM_STEPS: u32 = 5;

/// Whether the certificate shows `goal >= 0` in `state`.
pub fn holds(certificate: &Certificate, goal: &Poly, state: &State) -> bool {
    let remainder = || -> Option<Poly> {
        let mut rest = goal.scaled(certificate.scale)?;
        for part in &certificate.parts {
            let fact = state.facts.get(part.fact)?;
            rest = rest.plus_multiple(fact, part.monomial, part.factor.checked_neg()?)?;
        }
        Some(rest)
    };
    certificate.scale >= 1
        && certificate.parts.iter().all(|part| part.factor >= 0 && state.non_negative.contains_all(part.monomial))
        && remainder().is_some_and(|rest| rest.terms().iter().all(|&term| is_good(term, state)))
}

fn is_good((monomial, coefficient): (Monomial, i64), state: &State) -> bool {
    coefficient > 0 && state.non_negative.contains_all(monomial)
}

/// A certificate without facts, if the goal needs none.
pub fn plainly(goal: &Poly, state: &State) -> Option<Certificate> {
    let is_plain = goal.terms().iter().all(|&term| is_good(term, state));
    is_plain.then(|| Certificate { scale: 1, parts: Vec::new() })
}

/// A certificate for `goal >= 0`, if the search finds one.
pub fn prove(goal: &Poly, state: &State, effort: &mut Effort) -> Option<Certificate> {
    if let Some(certificate) = plainly(goal, state) {
        return Some(certificate);
    }
    let bad = bad_monomials(goal, state);
    if effort.left == 0 || state.samples.refute(goal) {
        return None;
    }
    let degree = goal.terms().iter().map(|term| term.0.degree()).max().unwrap_or(0) + 1;
    let mut search =
        Cancellation { state, effort, left: 0, degree, seen: FxHashSet::default(), facts: OnceCell::new() };
    search.left = search.effort.per_goal;
    search.cancel(goal, &bad, UNIFORM_STEPS)
}

/// A sum that is no greater: without private terms and products that are not negative. `None` if there are none.
fn less(sum: &Poly, state: &State) -> Option<Poly> {
    let may_go = |at: Monomial| at.private_part() != Monomial::ONE || at.degree() > 1;
    let adds = |term: (Monomial, i64)| may_go(term.0) && is_good(term, state);
    let kept: Vec<_> = sum.terms().iter().copied().filter(|&term| !adds(term)).collect();
    (kept.len() < sum.size()).then(|| Poly::from_terms(kept))?
}

fn bad_monomials(goal: &Poly, state: &State) -> Vec<Monomial> {
    goal.terms().iter().filter(|&&term| !is_good(term, state)).map(|term| term.0).collect()
}

/// A search for a certificate.
struct Cancellation<'a> {
    state: &'a State,
    effort: &'a mut Effort,
    left: u32,
    degree: u32,
    seen: FxHashSet<Poly>,
    /// Made when there is a choice for the first time.
    facts: OnceCell<Known<'a>>,
}

/// What single facts say.
struct Known<'a> {
    state: &'a State,
    least: Least,
    /// Facts about values that all threads share.
    uniform: Vec<&'a Poly>,
}

impl<'a> Known<'a> {
    fn of(state: &'a State) -> Known<'a> {
        let uniform = state.facts.iter().filter(|fact| !fact.is_private()).collect();
        Known { state, least: Least::of(state), uniform }
    }

    /// Whether a fact says that a sum is not negative, or would without what adds to it.
    fn says(&self, sum: &Poly) -> bool {
        let less = || less(sum, self.state);
        self.least.says(sum) || less().is_some_and(|less| self.least.says(&less) || self.multiple_says(&less))
    }

    /// Whether a uniform fact takes away all that is taken from a sum: of `pitch - w` the fact `pitch - 4*w >= 0` does.
    fn multiple_says(&self, sum: &Poly) -> bool {
        let bad = bad_monomials(sum, self.state);
        let [bad] = bad[..] else { return false };
        let mine = sum.coefficient(bad);
        let ends = |fact: &Poly| {
            let theirs = fact.coefficient(bad);
            let (mine, theirs) = (mine.checked_abs()?, theirs.checked_abs().filter(|_| mine < 0 && theirs < 0)?);
            let gcd = gcd_of(mine, theirs);
            let rest = sum.scaled(theirs / gcd)?.plus_multiple(fact, Monomial::ONE, -(mine / gcd))?;
            Some(rest.terms().iter().all(|&term| is_good(term, self.state)))
        };
        self.uniform.iter().any(|fact| ends(fact) == Some(true))
    }
}

/// A way to cancel the greatest bad monomial.
struct Step {
    order: (bool, usize, usize, u32, usize, usize),
    scale: i64,
    part: Part,
    rest: Poly,
    bad: Vec<Monomial>,
}

impl Cancellation<'_> {
    fn cancel(&mut self, goal: &Poly, bad: &[Monomial], uniform_steps: u32) -> Option<Certificate> {
        let Some(&target) = bad.iter().max_by_key(|mono| (mono.private_part(), mono.degree(), **mono)) else {
            return Some(Certificate { scale: 1, parts: Vec::new() });
        };
        if self.left == 0 || work::is_over() || !self.seen.insert(goal.clone()) {
            return None;
        }
        let uniform_steps = match target.private_part() {
            Monomial::ONE => uniform_steps.checked_sub(1)?,
            _ => uniform_steps,
        };
        let mut steps = self.steps(goal, bad, target);
        if steps.len() > 1 {
            // Most certificates end with two facts, and each of them may be cancelled in many other ways.
            let known = self.facts.get_or_init(|| Known::of(self.state));
            steps.sort_by_cached_key(|step| (!step.bad.is_empty() && !known.says(&step.rest), step.order));
        }
        for step in steps {
            self.left = self.left.checked_sub(1)?;
            if self.state.samples.refute(&step.rest) {
                continue;
            }
            if let Some(mut found) = self.cancel(&step.rest, &step.bad, uniform_steps) {
                let factor = step.part.factor.checked_mul(found.scale)?;
                found.parts.push(Part { factor, ..step.part });
                found.scale = found.scale.checked_mul(step.scale)?;
                return Some(found);
            }
        }
        None
    }

    fn steps(&mut self, goal: &Poly, bad: &[Monomial], target: Monomial) -> Vec<Step> {
        let coefficient = goal.coefficient(target);
        work::spend(self.state.facts.len() as u64);
        let mut steps = Vec::new();
        for divisor in target.divisors() {
            let Some(multiplier) = target.divide(divisor) else { continue };
            if !self.state.non_negative.contains_all(multiplier) {
                continue;
            }
            for (position, fact) in self.state.facts.iter().enumerate() {
                let theirs = fact.coefficient(divisor);
                if theirs != 0 && (theirs > 0) == (coefficient > 0) && self.effort.left > 0 {
                    let part = Part { factor: 0, monomial: multiplier, fact: position };
                    steps.extend(self.step(goal, bad, target, (coefficient, theirs), part));
                    let is_double = theirs.checked_mul(2) == Some(coefficient);
                    if is_double && target.private_part() == Monomial::ONE && self.effort.left > 0 {
                        // Half by this fact, half by another: `255 - 2*n` is `(255 - n - t) + (t - n)`.
                        steps.extend(self.step(goal, bad, target, (theirs, theirs), part));
                    }
                }
            }
        }
        steps
    }

    fn step(&mut self, goal: &Poly, bad: &[Monomial], target: Monomial, signs: (i64, i64), part: Part) -> Option<Step> {
        let (mine, theirs) = (signs.0.checked_abs()?, signs.1.checked_abs()?);
        let gcd = gcd_of(mine, theirs);
        let (scale, factor) = (theirs / gcd, mine / gcd);
        let fact = &self.state.facts[part.fact];
        self.effort.left -= 1;
        self.effort.spent += 1;
        let private = target.private_part();
        let climbs = |mono: Monomial| private != Monomial::ONE && mono.private_part() >= private;
        // Only terms of the fact can be bad in the sum that are not bad in the goal. Most steps end here.
        for &(theirs, coefficient) in fact.terms() {
            let mono = theirs.times(part.monomial)?;
            if (climbs(mono) || mono.degree() > self.degree) && !bad.contains(&mono) {
                let taken = coefficient.checked_mul(factor)?;
                let sum = goal.coefficient(mono).checked_mul(scale)?.checked_sub(taken)?;
                if sum != 0 && !is_good((mono, sum), self.state) {
                    return None;
                }
            }
        }
        let scaled = if scale == 1 { None } else { Some(goal.scaled(scale)?) };
        let rest = scaled.as_ref().unwrap_or(goal).plus_multiple(fact, part.monomial, factor.checked_neg()?)?;
        let now = bad_monomials(&rest, self.state);
        let covered = |mono: &Monomial| rest.terms().iter().any(|term| term.1 > 0 && term.0.divide(*mono).is_some());
        let uncovered = now.iter().filter(|mono| !bad.contains(mono) && !covered(mono)).count();
        // What is plainly not positive follows from contradictory facts only.
        let is_lost = |&(monomial, coefficient): &(Monomial, i64)| {
            coefficient < 0 && self.state.non_negative.contains_all(monomial)
        };
        let lost = !now.is_empty() && rest.terms().iter().all(is_lost);
        let (before, after) = match self.effort.preference {
            Preference::Covered => (uncovered, now.len()),
            Preference::Fewest => (now.len(), uncovered),
        };
        let order = (lost, before, after, part.monomial.degree(), fact.size(), part.fact);
        Some(Step { order, scale, part: Part { factor, ..part }, rest, bad: now })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::state::poly::{Atom, Side};

    /// `c`, `v`, and the facts `2*c - 2 - 2*v >= 0` and `3*c - 3 + 3*v >= 0`.
    fn bounded() -> (State, Poly, Poly) {
        let (c, v) = (Poly::atom(Atom::uniform(0).unwrap()), Poly::atom(Atom::private(1, 0, Side::First).unwrap()));
        let least = c.plus_constant(-1).unwrap();
        let fact = |poly: Option<Poly>, by: i64| poly.unwrap().scaled(by).unwrap();
        let facts = vec![fact(least.minus(&v), 2), fact(least.plus(&v), 3)];
        (State { facts, ..State::default() }, least, v)
    }

    #[test]
    fn a_radix_that_exceeds_what_is_below_it_is_positive() {
        let (state, least, v) = bounded();
        let prove = |goal: &Poly| prove(goal, &state, &mut Effort::new(24, 2_500)).unwrap();
        let (above, below) = (prove(&least.minus(&v).unwrap()), prove(&least.plus(&v).unwrap()));
        let half = above.halved_with(&below).unwrap();
        assert!(holds(&half, &least, &state));
        // It shows that and nothing more, and half of it shows nothing.
        assert!(!holds(&half, &least.plus_constant(-1).unwrap(), &state));
        assert!(!holds(&above, &least, &state));
        assert!(!holds(&above.halved_with(&above).unwrap(), &least, &state));
    }
}
