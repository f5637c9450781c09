//! SPLIT (docs/RULES.md, "3.2 SPLIT"), the rule that does most of the work.
//!
//! *Premises.* An equation `e = 0`; polynomials with `e = c*u + v` identically; SIGN proves `c - 1 >= 0`,
//! `c - 1 - v >= 0` and `c - 1 + v >= 0`.
//! *Conclusion.* `u = 0` and `v = 0`.
//! *Proof.* If `u != 0` then `|c*u| >= c > |v|`, so `c*u + v != 0`. So `u = 0`, hence `v = 0`.
//! *Traps.* A guard `col <= width`; a pitch `dx - 1`; a zero radix (`width = 0` makes all rows one): `c >= 1`
//! must be proved, never assumed.
//!
//! A radix that a case says to be negative is negated, and the quotient with it.
//!
//! The radix comes from a pool: uniform coefficients of private monomials, uniform factors of products in
//! the source, right-hand sides of guards, divisors, uniform atoms. The uniform part of the equation may
//! stand on either side. Least significant digits first, since their bounds are single facts.

use super::derivation::Step;
use crate::prove::state::State;
use crate::prove::state::poly::{Atom, Monomial, Poly};
use crate::prove::state::sign::{self, Effort};
use std::collections::BTreeMap;

/// A way to read an equation as `radix*quotient + rest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    order: (usize, usize),
    /// The radix.
    pub radix: Poly,
    /// What it is multiplied by.
    pub quotient: Poly,
    /// What is left.
    pub rest: Poly,
}

/// Tries to split the equation at `position`.
pub fn apply(state: &mut State, position: usize, effort: &mut Effort) -> Option<Step> {
    let equation = state.equations[position].clone();
    let negative = negative_values(state);
    let step = candidates(&equation, &state.pool)
        .into_iter()
        .flat_map(|candidate| {
            let opposite = negative.iter().any(|&atom| candidate.radix.mentions(atom)).then(|| opposite(&candidate));
            [Some(candidate), opposite.flatten()].into_iter().flatten()
        })
        .find_map(|candidate| verify(&equation, candidate, state, effort))?;
    if let Step::Split { quotient, rest, .. } = &step {
        let _split = state.equations.remove(position);
        state.equations.extend([quotient.clone(), rest.clone()]);
    }
    Some(step)
}

/// Uniform values that a case says to be negative: their negation may be a radix.
fn negative_values(state: &State) -> Vec<Atom> {
    let bounded = state.facts.iter().filter_map(|fact| match fact.terms() {
        [(monomial, ..0), (Monomial::ONE, ..0)] if monomial.degree() == 1 => monomial.atoms().next(),
        _ => None,
    });
    bounded.filter(|atom| !atom.is_private()).collect()
}

/// The same way to read the equation, with the negated radix.
fn opposite(candidate: &Candidate) -> Option<Candidate> {
    let (radix, quotient) = (candidate.radix.negated()?, candidate.quotient.negated()?);
    Some(Candidate { radix, quotient, ..candidate.clone() })
}

fn verify(equation: &Poly, candidate: Candidate, state: &State, effort: &mut Effort) -> Option<Step> {
    let Candidate { radix, quotient, rest, .. } = candidate;
    let least = radix.plus_constant(-1)?;
    let (high, low) = (least.minus(&rest)?, least.plus(&rest)?);
    if [&least, &high, &low].into_iter().any(|goal| state.samples.refute(goal)) {
        return None;
    }
    let above = sign::prove(&high, state, effort)?;
    let below = sign::prove(&low, state, effort)?;
    // `high + low` is twice `least`: a radix that is greater than what is below it is positive, and no search shows it sooner.
    let positive = sign::plainly(&least, state).or_else(|| above.halved_with(&below))?;
    Some(Step::Split { equation: equation.clone(), radix, quotient, rest, positive, above, below })
}

/// The coefficient of every private monomial, as a uniform polynomial; that of 1 apart.
fn groups(equation: &Poly) -> (BTreeMap<Monomial, Poly>, Poly) {
    let mut terms: BTreeMap<Monomial, Vec<(Monomial, i64)>> = BTreeMap::new();
    for &(monomial, coefficient) in equation.terms() {
        terms.entry(monomial.private_part()).or_default().push((monomial.uniform_part(), coefficient));
    }
    let mut groups: BTreeMap<Monomial, Poly> =
        terms.into_iter().filter_map(|(private, terms)| Some((private, Poly::from_terms(terms)?))).collect();
    let uniform = groups.remove(&Monomial::ONE).unwrap_or_default();
    (groups, uniform)
}

/// All ways to split `equation`, best first.
pub fn candidates(equation: &Poly, pool: &[Poly]) -> Vec<Candidate> {
    let (groups, uniform) = groups(equation);
    let mut found: Vec<Candidate> = Vec::new();
    for radix in coefficient_radices(&groups) {
        by_coefficient(&groups, &uniform, &radix, &mut found);
    }
    let atoms: Vec<Poly> = equation.atoms().into_iter().filter(|atom| !atom.is_private()).map(Poly::atom).collect();
    for radix in pool.iter().chain(&atoms) {
        if radix.as_constant().is_none() && !radix.is_private() {
            by_division(equation, radix, &mut found);
        }
    }
    found.sort_by_key(|candidate| candidate.order);
    found
}

fn coefficient_radices(groups: &BTreeMap<Monomial, Poly>) -> Vec<Poly> {
    let mut radices: Vec<Poly> = Vec::new();
    let mut push = |radix: Option<Poly>| {
        let Some(radix) = radix else { return };
        if radix.as_constant() != Some(1) && !radix.is_zero() && !radices.contains(&radix) {
            radices.push(radix);
        }
    };
    for group in groups.values() {
        let is_negative = group.terms()[0].1 < 0;
        push(if is_negative { group.negated() } else { Some(group.clone()) });
        // Of a difference (`256 - 2*n`) it is not seen which way it is positive.
        if group.terms().iter().any(|term| (term.1 < 0) != is_negative) {
            push(if is_negative { Some(group.clone()) } else { group.negated() });
        }
    }
    for group in groups.values() {
        if let [(monomial, coefficient)] = group.terms() {
            monomial.atoms().for_each(|atom: Atom| push(Some(Poly::atom(atom))));
            push(coefficient.checked_abs().map(Poly::constant));
        }
    }
    radices
}

/// Coefficients that the radix divides go to the quotient, the others to the rest.
fn by_coefficient(groups: &BTreeMap<Monomial, Poly>, uniform: &Poly, radix: &Poly, found: &mut Vec<Candidate>) {
    let (mut quotient, mut rest, mut divided) = (Poly::ZERO, Poly::ZERO, 0);
    for (&private, group) in groups {
        let exact = group.divide_exactly(radix);
        let (target, value) = match &exact {
            Some(value) => (&mut quotient, value),
            None => (&mut rest, group),
        };
        divided += usize::from(exact.is_some());
        let Some(sum) = target.plus_multiple(value, private, 1) else { return };
        *target = sum;
    }
    if divided == 0 {
        return;
    }
    let left = groups.len() - divided;
    for (shift, remains) in uniform_options(uniform, radix) {
        let (Some(quotient), Some(rest)) = (quotient.plus(&shift), rest.plus(&remains)) else { continue };
        let candidate = Candidate { order: (left, rest.size()), radix: radix.clone(), quotient, rest };
        if !found.contains(&candidate) {
            found.push(candidate);
        }
    }
}

/// Ways to write the uniform part as `radix*shift + remains`.
fn uniform_options(uniform: &Poly, radix: &Poly) -> Vec<(Poly, Poly)> {
    let mut options = vec![(Poly::ZERO, uniform.clone())];
    if uniform.is_zero() {
        return options;
    }
    let mut shift = Vec::new();
    let mut remains = Vec::new();
    for &(monomial, coefficient) in uniform.terms() {
        match Poly::term(monomial, coefficient).divide_exactly(radix) {
            Some(value) => shift.extend_from_slice(value.terms()),
            None => remains.push((monomial, coefficient)),
        }
    }
    let (Some(shift), Some(remains)) = (Poly::from_terms(shift), Poly::from_terms(remains)) else { return options };
    let constant = remains.coefficient(Monomial::ONE);
    if let Some(number) = radix.as_constant().filter(|&number| constant != 0 && number != 0) {
        let below = constant.div_euclid(number);
        for turn in [below, below + 1] {
            options.extend(shifted(&shift, &remains, radix, turn));
        }
    }
    options.push((shift.clone(), remains.clone()));
    if let Some(value) = uniform.divide_exactly(radix) {
        options.push((value, Poly::ZERO));
    }
    for turn in [1, -1] {
        options.extend(shifted(&Poly::ZERO, uniform, radix, turn));
        options.extend(shifted(&shift, &remains, radix, turn));
    }
    options
}

fn shifted(shift: &Poly, remains: &Poly, radix: &Poly, turn: i64) -> Option<(Poly, Poly)> {
    Some((shift.plus_constant(turn)?, remains.plus_multiple(radix, Monomial::ONE, turn.checked_neg()?)?))
}

/// Divides the whole equation by a radix whose leading coefficient is one, with remainder; this is what
/// reads `dx` as `(dx + 1) - 1`.
fn by_division(equation: &Poly, radix: &Poly, found: &mut Vec<Candidate>) {
    let Some((quotient, rest)) = equation.divide_with_rest(radix) else { return };
    if quotient.as_constant().is_some() {
        return;
    }
    let private = |poly: &Poly| poly.terms().iter().filter(|term| term.0.private_part() != Monomial::ONE).count();
    let has_uniform = rest.terms().iter().any(|term| term.0.private_part() == Monomial::ONE);
    let turns: &[i64] = if has_uniform { &[0, 1, -1] } else { &[0] };
    for &turn in turns {
        let Some((quotient, rest)) = shifted(&quotient, &rest, radix, turn) else { continue };
        let order = (private(&rest) + usize::from(turn != 0), rest.size() + 2);
        let known = |other: &Candidate| other.radix == *radix && other.quotient == quotient && other.rest == rest;
        if !found.iter().any(known) {
            found.push(Candidate { order, radix: radix.clone(), quotient, rest });
        }
    }
}
