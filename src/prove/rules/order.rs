//! ORDER (docs/RULES.md, "3.6 ORDER").
//!
//! *Premises.* A private value `a` present on both sides: a coordinate or a named value such as the linear id.
//! *Gives three cases.* `a.1 - a.2 = 0`; `a.1 = a.2 + 1 + g`; `a.2 = a.1 + 1 + g`; with `g` a fresh atom that is
//! not negative. If `a` is a coordinate, the threads are known to differ in the last two.
//! *Proof.* Trichotomy over the integers. With `g` an atom every product `c*(a.1 - a.2)` that a proof needs is a
//! sum of products of non-negative atoms, so that SIGN finds it.
//! *Trap.* `i < (g+1)*c + 1`, or lower ends with `n / T` and upper ends with `ceil(n / T)`.

use crate::prove::state::State;
use crate::prove::state::poly::{Atom, Poly};

/// The three cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// `a.1 = a.2`
    Equal,
    /// `a.1 > a.2`
    Greater,
    /// `a.1 < a.2`
    Less,
}

impl Case {
    /// All, in the order in which a derivation lists them.
    pub const ALL: [Case; 3] = [Case::Equal, Case::Greater, Case::Less];
}

/// An atom that the state does not mention.
pub fn fresh(state: &State) -> Option<Atom> {
    (100..250).filter_map(Atom::uniform).find(|&atom| !state.mentions(atom))
}

/// The state of a case.
pub fn case(state: &State, pair: (&Poly, &Poly), coordinate: bool, gap: Atom, case: Case) -> Option<State> {
    let mut state = state.clone();
    let (larger, smaller) = match case {
        Case::Equal => {
            state.equations.push(pair.0.minus(pair.1)?);
            return Some(state);
        }
        Case::Greater => pair,
        Case::Less => (pair.1, pair.0),
    };
    if coordinate {
        state.coordinates.clear();
    }
    let surplus = larger.minus(smaller)?.plus_constant(-1)?;
    state.samples.define(gap, &surplus);
    state.non_negative.insert(gap);
    let equation = surplus.minus(&Poly::atom(gap))?;
    match unit_atom(&equation) {
        Some(atom) => {
            let value = Poly::atom(atom).minus(&equation)?;
            state.substitute(atom, &value)?;
        }
        None => state.equations.push(equation),
    }
    Some(state)
}

/// A private atom that stands alone with coefficient one, so that the equation defines it.
fn unit_atom(equation: &Poly) -> Option<Atom> {
    let alone = |atom: Atom| equation.terms().iter().filter(|term| term.0.contains(atom)).count() == 1;
    equation
        .terms()
        .iter()
        .filter(|&&(monomial, coefficient)| coefficient == 1 && monomial.degree() == 1)
        .filter_map(|term| term.0.atoms().next())
        .rfind(|&atom| atom.is_private() && alone(atom))
}
