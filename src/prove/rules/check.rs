//! The checker: replays a derivation on its own copy of a state.
//!
//! It verifies polynomial identities, membership of equations, signs of remainders and coverage of cases. It
//! searches nothing, and takes nothing from the prover but the derivation: [`crate::prove::condition`] makes
//! the state for it once more from the protocol, with the derivation's rulings for oracle.
//!
//! Deliberately absent: hints (`pool`, `orders`, `samples`) and budgets; a derivation is as long as it is.

use super::cases;
use super::derivation::{Branch, Close, Step};
use super::order::{self, Case};
use super::pinch;
use super::poly::{Monomial, Poly};
use super::sign;
use super::state::State;
use super::xor;

/// What is wrong with a derivation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// A step names an equation that the state does not hold.
    #[error("equation not known: {0}")]
    UnknownEquation(String),
    /// A step names a fact, xor, toggle, disjunction or pair of coordinates that the state does not hold.
    #[error("the state has no such {0}")]
    UnknownPremise(&'static str),
    /// A polynomial identity does not hold.
    #[error("not an identity: {0}")]
    Identity(&'static str),
    /// A certificate does not show what it should.
    #[error("certificate does not hold: {0}")]
    Certificate(&'static str),
    /// A case is missing, or there is one too many.
    #[error("cases do not cover")]
    Coverage,
    /// A branch does not end in a contradiction.
    #[error("a branch stays open")]
    Open,
    /// A polynomial left the range of exact arithmetic.
    #[error("numbers out of range")]
    Range,
    /// The condition cannot be built from the protocol, or not in the way that the derivation says.
    #[error("condition: {0}")]
    Condition(String),
}

/// Checks that `branch` leads `state` to a contradiction.
pub fn check(branch: &Branch, mut state: State) -> Result<(), CheckError> {
    for step in &branch.steps {
        replay(step, &mut state)?;
    }
    close(&branch.close, &state)
}

fn require(holds: bool, error: CheckError) -> Result<(), CheckError> {
    if holds { Ok(()) } else { Err(error) }
}

fn require_equation(state: &State, equation: &Poly) -> Result<(), CheckError> {
    require(state.has_equation(equation), CheckError::UnknownEquation(format!("{equation:?}")))
}

fn replay(step: &Step, state: &mut State) -> Result<(), CheckError> {
    match step {
        Step::Subst { equation, atom, value } => {
            require_equation(state, equation)?;
            let difference = Poly::atom(*atom).minus(value).ok_or(CheckError::Range)?.primitive();
            let (known, negated) = (equation.primitive(), equation.primitive().negated());
            let solved = difference == known || negated == Some(difference);
            require(solved && !value.mentions(*atom), CheckError::Identity("substitution"))?;
            state.substitute(*atom, value).ok_or(CheckError::Range)
        }
        Step::Split { equation, radix, quotient, rest, positive, above, below } => {
            require_equation(state, equation)?;
            let product = radix.times(quotient).and_then(|product| product.plus(rest)).ok_or(CheckError::Range)?;
            require(product == *equation, CheckError::Identity("split"))?;
            let least = radix.plus_constant(-1).ok_or(CheckError::Range)?;
            let high = least.minus(rest).ok_or(CheckError::Range)?;
            let low = least.plus(rest).ok_or(CheckError::Range)?;
            require(sign::holds(positive, &least, state), CheckError::Certificate("radix is positive"))?;
            require(sign::holds(above, &high, state), CheckError::Certificate("rest below radix"))?;
            require(sign::holds(below, &low, state), CheckError::Certificate("rest above minus radix"))?;
            state.equations.extend([quotient.clone(), rest.clone()]);
            Ok(())
        }
        Step::Round { fact, radix, quotient, rest, positive, above } => {
            require(state.facts.contains(fact), CheckError::UnknownPremise("fact"))?;
            let product = radix.times(quotient).and_then(|product| product.plus(rest)).ok_or(CheckError::Range)?;
            require(product == *fact, CheckError::Identity("round"))?;
            let least = radix.plus_constant(-1).ok_or(CheckError::Range)?;
            let high = least.minus(rest).ok_or(CheckError::Range)?;
            require(sign::holds(positive, &least, state), CheckError::Certificate("radix is positive"))?;
            require(sign::holds(above, &high, state), CheckError::Certificate("rest below radix"))?;
            state.know_not_negative(quotient);
            Ok(())
        }
        Step::Pinch { fact, zero } => {
            require(state.facts.contains(fact), CheckError::UnknownPremise("fact"))?;
            require(pinch::zeros(fact, state).contains(zero), CheckError::Identity("pinch"))?;
            state.equations.push(zero.clone());
            Ok(())
        }
        Step::Xor { first, second, conclusion } => {
            replay_xor(state, *first, *second, conclusion)?;
            state.equations.push(conclusion.clone());
            Ok(())
        }
    }
}

fn replay_xor(state: &State, first: usize, second: usize, conclusion: &Poly) -> Result<(), CheckError> {
    let (Some(one), Some(other)) = (state.xors.get(first), state.xors.get(second)) else {
        return Err(CheckError::UnknownPremise("xor"));
    };
    require(one.mask == other.mask, CheckError::Identity("masks"))?;
    let follows = xor::implications(one, other).iter().any(|(premise, result)| {
        let known = premise.0.minus(&premise.1).is_some_and(|zero| zero.is_zero() || state.has_equation(&zero));
        known && result.0.minus(&result.1).as_ref() == Some(conclusion)
    });
    require(follows, CheckError::Identity("xor"))
}

fn close(close: &Close, state: &State) -> Result<(), CheckError> {
    match close {
        Close::Nothing => Err(CheckError::Open),
        Close::Constant(equation) => {
            require_equation(state, equation)?;
            require(equation.as_constant().is_some_and(|value| value != 0), CheckError::Identity("constant"))
        }
        Close::NegativeFact(fact) => {
            require(state.facts.contains(fact), CheckError::UnknownPremise("fact"))?;
            require(fact.as_constant().is_some_and(|value| value < 0), CheckError::Identity("negative constant"))
        }
        Close::SameThread => require(state.is_same_thread(), CheckError::UnknownPremise("pair of equal coordinates")),
        Close::NeverEquation { equation, negated, certificate } => {
            require_equation(state, equation)?;
            let factor = if *negated { -1 } else { 1 };
            let goal = equation.scaled(factor).and_then(|goal| goal.plus_constant(-1)).ok_or(CheckError::Range)?;
            require(sign::holds(certificate, &goal, state), CheckError::Certificate("equation cannot hold"))
        }
        Close::NeverFact { fact, certificate } => {
            require(state.facts.contains(fact), CheckError::UnknownPremise("fact"))?;
            let goal = Poly::constant(-1).plus_multiple(fact, Monomial::ONE, -1).ok_or(CheckError::Range)?;
            require(sign::holds(certificate, &goal, state), CheckError::Certificate("fact cannot hold"))
        }
        Close::Toggle { .. } | Close::Cases { .. } | Close::Order { .. } => close_cases(close, state),
    }
}

fn close_cases(close: &Close, state: &State) -> Result<(), CheckError> {
    let (states, branches): (Vec<Option<State>>, _) = match close {
        Close::Toggle { atom, branches } => {
            let known = state.toggles.iter().any(|toggle| toggle.as_atom() == Some(*atom));
            require(known, CheckError::UnknownPremise("toggle"))?;
            ([0, 1].map(|value| cases::toggle(state, *atom, value)).into(), branches)
        }
        Close::Cases { disjunction, branches } => {
            let alternatives =
                state.disjunctions.get(*disjunction).ok_or(CheckError::UnknownPremise("disjunction"))?.len();
            ((0..alternatives).map(|number| cases::alternative(state, *disjunction, number)).collect(), branches)
        }
        Close::Order { first, second, coordinate, gap, branches } => {
            let pair = (first.clone(), second.clone());
            require(
                !coordinate || state.coordinates.contains(&pair),
                CheckError::UnknownPremise("pair of coordinates"),
            )?;
            let fresh = !state.mentions(*gap) && !first.mentions(*gap) && !second.mentions(*gap);
            require(fresh, CheckError::Identity("gap is not fresh"))?;
            let case = |case: Case| order::case(state, (first, second), *coordinate, *gap, case);
            (Case::ALL.map(case).into(), branches)
        }
        _ => return Err(CheckError::Open),
    };
    require(states.len() == branches.len(), CheckError::Coverage)?;
    for (state, branch) in states.into_iter().zip(branches) {
        check(branch, state.ok_or(CheckError::Range)?)?;
    }
    Ok(())
}
