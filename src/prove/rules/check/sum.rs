//! The checker's own arithmetic: sums of products of atoms with exact 128-bit coefficients.
//!
//! It shares no code with the polynomials of the search, only their terms as data, so that a mistake in either
//! shows as a refused derivation. It is slow and plain: a map from sorted lists of atoms to coefficients.

use crate::prove::state::poly::{Atom, Monomial, Poly};
use std::collections::BTreeMap;

/// A sum of products. No coefficient is zero.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Sum(BTreeMap<Vec<Atom>, i128>);

fn factors(monomial: Monomial) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = monomial.atoms().collect();
    atoms.sort_unstable();
    atoms
}

impl Sum {
    pub(super) fn of(poly: &Poly) -> Sum {
        let mut sum = Sum::default();
        for &(monomial, coefficient) in poly.terms() {
            *sum.0.entry(factors(monomial)).or_default() += i128::from(coefficient);
        }
        sum.0.retain(|_, coefficient| *coefficient != 0);
        sum
    }

    pub(super) fn number(value: i128) -> Sum {
        Sum(if value == 0 { BTreeMap::new() } else { BTreeMap::from([(Vec::new(), value)]) })
    }

    pub(super) fn atom(atom: Atom) -> Sum {
        Sum(BTreeMap::from([(vec![atom], 1)]))
    }

    /// The products with their coefficients.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&[Atom], i128)> {
        self.0.iter().map(|(atoms, coefficient)| (atoms.as_slice(), *coefficient))
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Its value, if no atom occurs.
    pub(super) fn as_number(&self) -> Option<i128> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// Whether a number divides every coefficient but that of no product.
    pub(super) fn has_divisor_without_its_number(&self) -> bool {
        let varying = self.0.iter().filter(|(atoms, _)| !atoms.is_empty());
        let (mut divisor, mut number) = (0_i128, self.0.get(&Vec::new()).copied().unwrap_or(0));
        for (_, &coefficient) in varying {
            let mut rest = coefficient;
            while rest != 0 {
                (divisor, rest) = (rest, divisor % rest);
            }
        }
        if divisor != 0 {
            number %= divisor;
        }
        divisor.checked_abs().is_some_and(|divisor| divisor > 1) && number != 0
    }

    pub(super) fn mentions(&self, atom: Atom) -> bool {
        self.0.keys().any(|atoms| atoms.contains(&atom))
    }

    /// `self + factor*other`; `None` if a coefficient leaves its range.
    pub(super) fn plus(&self, other: &Sum, factor: i128) -> Option<Sum> {
        let mut sum = self.clone();
        for (atoms, coefficient) in &other.0 {
            let entry = sum.0.entry(atoms.clone()).or_default();
            *entry = entry.checked_add(coefficient.checked_mul(factor)?)?;
        }
        sum.0.retain(|_, coefficient| *coefficient != 0);
        Some(sum)
    }

    pub(super) fn minus(&self, other: &Sum) -> Option<Sum> {
        self.plus(other, -1)
    }

    pub(super) fn plus_number(&self, value: i128) -> Option<Sum> {
        self.plus(&Sum::number(value), 1)
    }

    pub(super) fn times(&self, other: &Sum) -> Option<Sum> {
        let mut product = Sum::default();
        for (left, a) in &self.0 {
            for (right, b) in &other.0 {
                let mut atoms: Vec<Atom> = left.iter().chain(right).copied().collect();
                atoms.sort_unstable();
                let entry = product.0.entry(atoms).or_default();
                *entry = entry.checked_add(a.checked_mul(*b)?)?;
            }
        }
        product.0.retain(|_, coefficient| *coefficient != 0);
        Some(product)
    }

    /// The product of the atoms of a monomial.
    pub(super) fn product(monomial: Monomial) -> Sum {
        Sum(BTreeMap::from([(factors(monomial), 1)]))
    }

    /// `self` with `value` in place of every `atom`.
    pub(super) fn replaced(&self, atom: Atom, value: &Sum) -> Option<Sum> {
        let mut result = Sum::default();
        for (atoms, coefficient) in &self.0 {
            let rest: Vec<Atom> = atoms.iter().copied().filter(|factor| *factor != atom).collect();
            let mut product = Sum(BTreeMap::from([(rest.clone(), *coefficient)]));
            for _ in rest.len()..atoms.len() {
                product = product.times(value)?;
            }
            result = result.plus(&product, 1)?;
        }
        Some(result)
    }

    /// Whether one is a multiple of the other by a number other than zero, so that both vanish together.
    pub(super) fn vanishes_with(&self, other: &Sum) -> bool {
        let (Some((atoms, mine)), true) = (self.0.iter().next(), self.0.len() == other.0.len()) else {
            return self.is_zero() && other.is_zero();
        };
        let Some(theirs) = other.0.get(atoms) else { return false };
        self.0.iter().all(|(atoms, a)| {
            let b = other.0.get(atoms).copied().unwrap_or(0);
            matches!((a.checked_mul(*theirs), b.checked_mul(*mine)), (Some(left), Some(right)) if left == right)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::state::poly::{IDS, Side};

    #[test]
    fn it_agrees_with_the_arithmetic_of_the_search() {
        let [a, b] = Side::BOTH.map(|side| Atom::private(IDS, 0, side).unwrap());
        let [x, y] = [a, b].map(Poly::atom);
        let poly = x.times(&y).and_then(|product| product.plus(&x.scaled(3)?)?.plus_constant(-2)).unwrap();
        let value = y.plus_constant(5).unwrap();
        let sum = Sum::of(&poly);
        assert_eq!(sum.replaced(a, &Sum::of(&value)), Some(Sum::of(&poly.substitute(a, &value).unwrap())));
        assert_eq!(sum.times(&sum), Some(Sum::of(&poly.times(&poly).unwrap())));
        assert_eq!(sum.minus(&sum), Some(Sum::default()));
        assert!(sum.vanishes_with(&Sum::of(&poly.scaled(-4).unwrap())));
        assert!(!sum.vanishes_with(&Sum::of(&poly.plus_constant(1).unwrap())));
    }
}
