//! SUBST (docs/RULES.md, "3.3 SUBST").
//!
//! *Premises.* An equation `x - q = 0`, up to sign and content, with `x` not in `q`.
//! *Conclusion.* `x` is `q` everywhere; if `x` was not negative, `q >= 0` stays as a fact.
//! *Proof.* Equals for equals.
//! *Trap.* Never a nonlinear equation before ORDER: eliminating the quotient of `t*(t+1)/2` makes squares of
//! every bound and loses the proof.

use super::derivation::Step;
use crate::prove::state::State;
use crate::prove::state::poly::{Atom, Monomial, PIECES, Poly, Side, XORS};

/// Which equations may be solved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `x.2 = x.1`, `x = 0`, and `x = n - 1` for a uniform `n`; `n = 4`.
    Twins,
    /// Any linear one.
    Linear,
}

/// Solves an equation of that form, if it has it, and substitutes. The outer `None`: nothing to do; the
/// inner: a polynomial grew out of range.
pub fn apply(state: &mut State, position: usize, form: Form) -> Option<Option<Step>> {
    let equation = &state.equations[position];
    let (atom, value) = match form {
        Form::Twins => solve_twins(equation),
        Form::Linear => solve_linear(equation, state),
    }?;
    let step = Step::Subst { equation: equation.clone(), atom, value: value.clone() };
    Some(state.substitute(atom, &value).map(|()| step))
}

fn single(monomial: Monomial) -> Option<Atom> {
    (monomial.degree() == 1).then(|| monomial.atoms().next()).flatten()
}

fn solve_twins(equation: &Poly) -> Option<(Atom, Poly)> {
    match equation.terms() {
        [(one, a), (other, b)] if (*a == 1 && *b == -1) || (*a == -1 && *b == 1) => {
            let (one, other) = (single(*one)?, single(*other)?);
            // The terms are in descending order, so that `one` is private if either is.
            let swap = other.is_private() && one.side() != Some(Side::Second) && other.side() == Some(Side::Second);
            let (gone, kept) = if swap { (other, one) } else { (one, other) };
            gone.is_private().then(|| (gone, Poly::atom(kept)))
        }
        [(one, _)] => single(*one).map(|atom| (atom, Poly::ZERO)),
        [(one, coefficient), (Monomial::ONE, constant)] if coefficient.abs() == 1 => {
            Some((single(*one)?, Poly::constant(constant.checked_mul(-coefficient)?)))
        }
        [(one, coefficient), rest @ ..] if coefficient.abs() == 1 && rest.len() <= 2 => {
            let atom = single(*one).filter(|atom| atom.is_private())?;
            let is_plain = |term: &(Monomial, i64)| term.0.degree() <= 1 && term.0.private_part() == Monomial::ONE;
            let value = Poly::from_terms(rest.to_vec())?.scaled(-coefficient)?;
            rest.iter().all(is_plain).then_some((atom, value))
        }
        _ => None,
    }
}

/// The atom to eliminate from a linear equation: xors first, then digits, then ids and loop variables.
fn solve_linear(equation: &Poly, state: &State) -> Option<(Atom, Poly)> {
    if equation.terms().iter().any(|term| term.0.private_part().degree() > 1) {
        return None;
    }
    let private = equation.is_private();
    let candidates = equation.terms().iter().filter_map(|&(monomial, coefficient)| {
        let atom = single(monomial)?;
        let alone = equation.terms().iter().filter(|term| term.0.contains(atom)).count() == 1;
        let fits = (atom.is_private() || !private) && coefficient.abs() == 1 && alone;
        let order = (atom.level() != XORS, !state.named.contains(atom) || atom.level() == PIECES, atom);
        fits.then_some((order, atom, monomial, coefficient))
    });
    let (_, atom, monomial, coefficient) = candidates.min_by_key(|candidate| candidate.0)?;
    let rest = equation.minus(&Poly::term(monomial, coefficient))?;
    Some((atom, rest.scaled(-coefficient)?))
}
