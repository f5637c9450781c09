//! What the checker holds to be known about two threads: its own copy of a state.

use super::sum::Sum;
use crate::prove::state::poly::Atom;
use crate::prove::state::sign::Certificate;
use crate::prove::state::{Literal, State};
use std::collections::BTreeSet;

/// An equation or fact.
#[derive(Clone)]
pub(super) enum Claim {
    Zero(Sum),
    NotNegative(Sum),
}

/// A state without hints.
#[derive(Clone, Default)]
pub(super) struct Known {
    /// Atoms that are not negative.
    pub(super) signs: BTreeSet<Atom>,
    pub(super) facts: Vec<Sum>,
    pub(super) equations: Vec<Sum>,
    pub(super) choices: Vec<Vec<Vec<Claim>>>,
    pub(super) coordinates: Vec<(Sum, Sum)>,
    /// Value, argument, mask.
    pub(super) xors: Vec<[Sum; 3]>,
    pub(super) toggles: Vec<Sum>,
}

impl Known {
    pub(super) fn of(state: &State) -> Known {
        let claim = |literal: &Literal| match literal {
            Literal::Zero(poly) => Claim::Zero(Sum::of(poly)),
            Literal::NonNegative(poly) => Claim::NotNegative(Sum::of(poly)),
        };
        let all = |polys: &[_]| polys.iter().map(Sum::of).collect();
        let choices = state.disjunctions.iter().map(|alternatives| {
            alternatives.iter().map(|alternative| alternative.iter().map(claim).collect()).collect()
        });
        Known {
            signs: state.non_negative.iter().collect(),
            facts: all(&state.facts),
            equations: all(&state.equations),
            choices: choices.collect(),
            coordinates: state.coordinates.iter().map(|(first, second)| (Sum::of(first), Sum::of(second))).collect(),
            xors: state.xors.iter().map(|xor| [&xor.value, &xor.argument, &xor.mask].map(Sum::of)).collect(),
            toggles: all(&state.toggles),
        }
    }

    /// Reads `atom` as `value` everywhere; that the atom was not negative becomes a fact about the value.
    pub(super) fn replace(&mut self, atom: Atom, value: &Sum) -> Option<()> {
        if self.signs.remove(&atom) {
            self.facts.push(Sum::atom(atom));
        }
        let change = |sum: &mut Sum| -> Option<()> {
            if sum.mentions(atom) {
                *sum = sum.replaced(atom, value)?;
            }
            Some(())
        };
        let claims = self.choices.iter_mut().flatten().flatten().map(|claim| match claim {
            Claim::Zero(sum) | Claim::NotNegative(sum) => sum,
        });
        let pairs = self.coordinates.iter_mut().flat_map(|(first, second)| [first, second]);
        let mut all = (self.facts.iter_mut())
            .chain(&mut self.equations)
            .chain(&mut self.toggles)
            .chain(self.xors.iter_mut().flatten())
            .chain(claims)
            .chain(pairs);
        all.try_for_each(change)
    }

    pub(super) fn add(&mut self, claim: Claim) {
        match claim {
            Claim::Zero(sum) => self.equations.push(sum),
            Claim::NotNegative(sum) => {
                self.signs.extend(bounded_atom(&sum));
                self.facts.push(sum);
            }
        }
    }

    /// Whether it is zero because an equation is, of which it is a multiple.
    pub(super) fn is_zero(&self, sum: &Sum) -> bool {
        sum.is_zero() || self.equations.iter().any(|known| known.vanishes_with(sum) && !known.is_zero())
    }

    /// Whether every factor is an atom that is not negative.
    pub(super) fn is_plain(&self, factors: &[Atom]) -> bool {
        factors.iter().all(|atom| self.signs.contains(atom))
    }

    /// Whether the certificate shows that `goal` is not negative: a positive multiple of it is a sum of
    /// products of non-negative numbers.
    pub(super) fn shows(&self, certificate: &Certificate, goal: &Sum) -> bool {
        self.remainder(certificate, goal)
            .is_some_and(|rest| rest.terms().all(|(atoms, coefficient)| coefficient > 0 && self.is_plain(atoms)))
    }

    /// What the certificate leaves to be seen at once; `None` if it is none.
    fn remainder(&self, certificate: &Certificate, goal: &Sum) -> Option<Sum> {
        let mut rest = goal.times(&Sum::number(certificate.scale.into()))?;
        for part in &certificate.parts {
            let factors: Vec<Atom> = part.monomial.atoms().collect();
            let fact = self.facts.get(part.fact).filter(|_| part.factor >= 0 && self.is_plain(&factors))?;
            rest = rest.plus(&fact.times(&Sum::product(part.monomial))?, -i128::from(part.factor))?;
        }
        (certificate.scale >= 1).then_some(rest)
    }

    pub(super) fn mentions(&self, atom: Atom) -> bool {
        let claims = self.choices.iter().flatten().flatten().map(|claim| match claim {
            Claim::Zero(sum) | Claim::NotNegative(sum) => sum,
        });
        let pairs = self.coordinates.iter().flat_map(|(first, second)| [first, second]);
        let mut all = (self.facts.iter())
            .chain(&self.equations)
            .chain(&self.toggles)
            .chain(self.xors.iter().flatten())
            .chain(claims)
            .chain(pairs);
        self.signs.contains(&atom) || all.any(|sum| sum.mentions(atom))
    }
}

/// The atom that is not negative because `c*atom - k` is not, for positive `c` and `k` not negative.
fn bounded_atom(sum: &Sum) -> Option<Atom> {
    let mut found = None;
    for (atoms, coefficient) in sum.terms() {
        match atoms {
            [] if coefficient < 0 => {}
            [atom] if coefficient > 0 && found.is_none() => found = Some(*atom),
            _ => return None,
        }
    }
    found
}
