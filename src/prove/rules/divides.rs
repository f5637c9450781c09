//! DIVIDES (docs/RULES.md, "3.14 DIVIDES"): a number that divides every term of an equation but one divides that one, too.
//!
//! *Premise.* An equation `c + g*u = 0` in which `g`, the greatest common divisor of all coefficients but the constant's, does
//! not divide `c`. *Conclusion.* Contradiction. *Proof.* `c = -g*u`, and `u` is an integer.
//! *Use.* Strides of two accesses with a divisor that the distance between them does not have: `p[6*i]` and `p[9*k + 4]`.
//! *Trap.* `p[6*i]` and `p[9*k + 3]` meet: at `p[12]`.

use super::derivation::Close;
use crate::prove::state::State;
use crate::prove::state::poly::{Monomial, Poly, gcd_of};

/// A contradiction of an equation with itself.
pub fn at_once(state: &State) -> Option<Close> {
    state.equations.iter().find(|equation| has_no_solution(equation)).map(|equation| Close::Divides(equation.clone()))
}

fn has_no_solution(equation: &Poly) -> bool {
    let varying = equation.terms().iter().filter(|(monomial, _)| *monomial != Monomial::ONE);
    let divisor = varying.fold(0, |divisor, &(_, coefficient)| gcd_of(divisor, coefficient));
    divisor > 1 && equation.coefficient(Monomial::ONE) % divisor != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::state::poly::Atom;

    #[test]
    fn a_constant_that_is_no_multiple_has_no_solution() {
        let atom = |number| Monomial::of(Atom::uniform(number).expect("in range"));
        let equation = |constant| {
            Poly::from_terms(vec![(atom(0), 6), (atom(1), -9), (Monomial::ONE, constant)]).expect("in range")
        };
        assert!(has_no_solution(&equation(4)) && has_no_solution(&equation(-4)));
        assert!(!has_no_solution(&equation(3)) && !has_no_solution(&equation(0)));
        assert!(!has_no_solution(&Poly::constant(4)), "CONSTANT says that");
    }
}
