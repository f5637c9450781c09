//! The strongest facts of a state, by what varies in them: of `u + 3 >= 0` and `u - 1 >= 0` the second.
//!
//! An index, built from a state and good for as long as its facts stay: it answers in one look-up whether a single fact
//! says something, or the opposite. Deliberately absent: what follows from several facts (`sign`).

use super::State;
use super::poly::{Monomial, Poly};
use rustc_hash::FxHashMap;

/// The strongest facts of a state: each with its constant and its position.
pub struct Least(FxHashMap<Poly, (i64, usize)>);

impl Least {
    /// Those of `state`.
    pub fn of(state: &State) -> Least {
        let mut least: FxHashMap<Poly, (i64, usize)> = FxHashMap::default();
        for (position, fact) in state.facts.iter().enumerate() {
            let Some((varying, constant)) = parts(fact) else { continue };
            let entry = least.entry(varying).or_insert((constant, position));
            if constant < entry.0 {
                *entry = (constant, position);
            }
        }
        Least(least)
    }

    /// The position of a fact that says the opposite of `poly >= 0`.
    pub fn opposite(&self, poly: &Poly) -> Option<usize> {
        let (varying, constant) = parts(poly)?;
        let &(other, at) = self.0.get(&varying.negated()?)?;
        constant.checked_add(other).is_some_and(|sum| sum < 0).then_some(at)
    }

    /// Whether a fact says `poly >= 0`, or more.
    pub fn says(&self, poly: &Poly) -> bool {
        let said = parts(poly).and_then(|(varying, constant)| Some(self.0.get(&varying)?.0 <= constant));
        said.unwrap_or(false)
    }
}

/// What varies, and the constant.
fn parts(fact: &Poly) -> Option<(Poly, i64)> {
    let constant = fact.coefficient(Monomial::ONE);
    Some((fact.plus_constant(constant.checked_neg()?)?, constant))
}
