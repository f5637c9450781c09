//! Concrete points that satisfy a state, to refute goals before a certificate is sought for them.
//!
//! Most goals that the search tries have no certificate, and a failing search is the most expensive
//! (docs/RULES.md, "4. The procedure"). A point at which the facts hold and the goal does not
//! ends it at the price of an evaluation.
//! Points are a hint: a wrong one can lose a proof, never make one.
//!
//! Deliberately absent: finding points (`condition`).

use super::poly::{Atom, Poly};
use super::{Alternative, Literal};
use crate::work::spend;
use std::rc::Rc;

/// Number of points that are kept side by side.
pub const POINTS: usize = 32;

/// A value at each point.
pub type Column = [i64; POINTS];

/// Up to [`POINTS`] points.
#[derive(Clone, Default)]
pub struct Samples {
    columns: Rc<Vec<(Atom, Column)>>,
    alive: u32,
}

impl Samples {
    /// Points given by columns; `alive` tells which of them count.
    pub fn new(mut columns: Vec<(Atom, Column)>, alive: u32) -> Samples {
        columns.sort_unstable_by_key(|entry| entry.0);
        Samples { columns: Rc::new(columns), alive }
    }

    /// Number of points left.
    pub fn count(&self) -> u32 {
        self.alive.count_ones()
    }

    /// The values of `poly` at all points; `None` if an atom has none.
    fn values(&self, poly: &Poly) -> Option<Column> {
        spend(2 * poly.size() as u64);
        let mut sum = [0i64; POINTS];
        for &(monomial, coefficient) in poly.terms() {
            let mut product = [coefficient; POINTS];
            for atom in monomial.atoms() {
                let at = self.columns.binary_search_by_key(&atom, |entry| entry.0).ok()?;
                for (factor, value) in product.iter_mut().zip(&self.columns[at].1) {
                    *factor = factor.wrapping_mul(*value);
                }
            }
            for (total, value) in sum.iter_mut().zip(&product) {
                *total = total.wrapping_add(*value);
            }
        }
        Some(sum)
    }

    /// Whether `poly` is negative at a point.
    pub fn refute(&self, poly: &Poly) -> bool {
        self.alive != 0 && self.values(poly).is_some_and(|values| self.at_some(|point| values[point] < 0))
    }

    /// Whether `poly` is other than zero at a point.
    pub fn refute_zero(&self, poly: &Poly) -> bool {
        self.alive != 0 && self.values(poly).is_some_and(|values| self.at_some(|point| values[point] != 0))
    }

    fn at_some(&self, holds: impl Fn(usize) -> bool) -> bool {
        (0..POINTS).any(|point| self.alive >> point & 1 != 0 && holds(point))
    }

    /// Drops the points at which `atom` and `value` differ.
    pub fn keep_where_equal(&mut self, atom: Atom, value: &Poly) {
        self.keep(&[(Poly::atom(atom), value)], |left, right| left == right);
    }

    /// Drops the points at which `poly` is negative.
    pub fn keep_where_not_negative(&mut self, poly: &Poly) {
        self.keep(&[(poly.clone(), &Poly::ZERO)], |left, right| left >= right);
    }

    /// Drops the points at which `poly` is not zero.
    pub fn keep_where_zero(&mut self, poly: &Poly) {
        self.keep(&[(poly.clone(), &Poly::ZERO)], |left, right| left == right);
    }

    /// Drops the points at which no alternative holds.
    pub fn keep_where_some(&mut self, alternatives: &[Alternative]) {
        let mut alive = 0;
        for alternative in alternatives {
            let mut of_this = self.clone();
            for literal in alternative {
                match literal {
                    Literal::Zero(poly) => of_this.keep_where_zero(poly),
                    Literal::NonNegative(poly) => of_this.keep_where_not_negative(poly),
                }
            }
            alive |= of_this.alive;
        }
        self.alive &= alive;
    }

    fn keep(&mut self, pairs: &[(Poly, &Poly)], holds: impl Fn(i64, i64) -> bool) {
        if self.alive == 0 {
            return;
        }
        for (left, right) in pairs {
            let (Some(left), Some(right)) = (self.values(left), self.values(right)) else {
                self.alive = 0;
                return;
            };
            for point in 0..POINTS {
                if !holds(left[point], right[point]) {
                    self.alive &= !(1 << point);
                }
            }
        }
    }

    /// Gives `atom` the value of `poly` at every point, and drops those at which it is negative.
    pub fn define(&mut self, atom: Atom, poly: &Poly) {
        self.keep_where_not_negative(poly);
        if self.alive == 0 {
            return;
        }
        if let Some(values) = self.values(poly) {
            let columns = Rc::make_mut(&mut self.columns);
            match columns.binary_search_by_key(&atom, |entry| entry.0) {
                Ok(at) => columns[at].1 = values,
                Err(at) => columns.insert(at, (atom, values)),
            }
        }
    }
}
