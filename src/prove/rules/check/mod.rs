//! The checker: replays a derivation on its own copy of a state.
//!
//! It verifies polynomial identities, membership of equations, signs of remainders and coverage of cases. It
//! searches nothing, and takes nothing from the prover but the derivation: [`crate::prove::condition`] makes
//! the state for it once more from the protocol, with the derivation's rulings for oracle.
//!
//! Every step is computed with the checker's own arithmetic ([`sum`]) on its own state ([`known`]); of the rules it
//! shares the statements, not the code, and of the terms the data types only.
//!
//! Deliberately absent: hints (`pool`, `orders`, `samples`) and budgets; a derivation is as long as it is.

mod known;
mod sum;

use super::derivation::{Branch, Close, Step};
use crate::prove::state::State;
use crate::prove::state::poly::{Atom, Poly};
use crate::prove::state::sign::Certificate;
use known::{Claim, Known};
use sum::Sum;

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
pub fn check(branch: &Branch, state: &State) -> Result<(), CheckError> {
    follow(branch, Known::of(state))
}

fn follow(branch: &Branch, mut known: Known) -> Result<(), CheckError> {
    for step in &branch.steps {
        replay(step, &mut known)?;
    }
    close(&branch.close, &known)
}

fn require(holds: bool, error: CheckError) -> Result<(), CheckError> {
    if holds { Ok(()) } else { Err(error) }
}

fn exact<T>(value: Option<T>) -> Result<T, CheckError> {
    value.ok_or(CheckError::Range)
}

fn equation(known: &Known, equation: &Poly) -> Result<Sum, CheckError> {
    let sum = Sum::of(equation);
    require(known.is_zero(&sum), CheckError::UnknownEquation(format!("{equation:?}")))?;
    Ok(sum)
}

fn fact(known: &Known, fact: &Poly) -> Result<Sum, CheckError> {
    let sum = Sum::of(fact);
    require(known.facts.contains(&sum), CheckError::UnknownPremise("fact"))?;
    Ok(sum)
}

fn shown(known: &Known, certificate: &Certificate, goal: &Sum, what: &'static str) -> Result<(), CheckError> {
    require(known.shows(certificate, goal), CheckError::Certificate(what))
}

/// `whole = radix*quotient + rest`, and the radix is positive; gives `radix - 1`, the quotient and the rest.
fn divided(
    known: &Known,
    whole: &Sum,
    parts: [&Poly; 3],
    positive: &Certificate,
) -> Result<(Sum, Sum, Sum), CheckError> {
    let [radix, quotient, rest] = parts.map(Sum::of);
    let product = exact(radix.times(&quotient).and_then(|product| product.plus(&rest, 1)))?;
    require(product == *whole, CheckError::Identity("division by a radix"))?;
    let least = exact(radix.plus_number(-1))?;
    shown(known, positive, &least, "radix is positive")?;
    Ok((least, quotient, rest))
}

fn replay(step: &Step, known: &mut Known) -> Result<(), CheckError> {
    match step {
        Step::Subst { equation: from, atom, value } => {
            let (from, value) = (equation(known, from)?, Sum::of(value));
            let difference = exact(Sum::atom(*atom).minus(&value))?;
            let solved = difference.vanishes_with(&from) && !from.is_zero();
            require(solved && !value.mentions(*atom), CheckError::Identity("substitution"))?;
            exact(known.replace(*atom, &value))
        }
        Step::Split { equation: from, radix, quotient, rest, positive, above, below } => {
            let whole = equation(known, from)?;
            let (least, quotient, rest) = divided(known, &whole, [radix, quotient, rest], positive)?;
            shown(known, above, &exact(least.minus(&rest))?, "rest below radix")?;
            shown(known, below, &exact(least.plus(&rest, 1))?, "rest above minus radix")?;
            known.equations.extend([quotient, rest]);
            Ok(())
        }
        Step::Round { fact: from, radix, quotient, rest, positive, above } => {
            let whole = fact(known, from)?;
            let (least, quotient, rest) = divided(known, &whole, [radix, quotient, rest], positive)?;
            shown(known, above, &exact(least.minus(&rest))?, "rest below radix")?;
            known.add(Claim::NotNegative(quotient));
            Ok(())
        }
        Step::Monotone { facts, radix, quotient, rest, positive, above } => {
            let [first, second] = [fact(known, &facts[0])?, fact(known, &facts[1])?];
            let whole = exact(first.plus(&second, 1))?;
            let (least, quotient, rest) = divided(known, &whole, [radix, quotient, rest], positive)?;
            shown(known, above, &exact(least.minus(&rest))?, "rest below radix")?;
            known.add(Claim::NotNegative(quotient));
            Ok(())
        }
        Step::Chain { facts, sum } => {
            let ([first, second], sum) = ([fact(known, &facts[0])?, fact(known, &facts[1])?], Sum::of(sum));
            require(exact(first.plus(&second, 1))? == sum, CheckError::Identity("sum of facts"))?;
            known.add(Claim::NotNegative(sum));
            Ok(())
        }
        Step::Pinch { fact: from, zero } => {
            let (from, zero) = (fact(known, from)?, Sum::of(zero));
            require(is_pinched(known, &from, &zero)?, CheckError::Identity("pinch"))?;
            known.equations.push(zero);
            Ok(())
        }
        Step::Sum { whole, part, negated, left } => {
            let (whole, part, left) = (equation(known, whole)?, equation(known, part)?, Sum::of(left));
            let sum = if *negated { whole.plus(&part, 1) } else { whole.minus(&part) };
            require(exact(sum)? == left, CheckError::Identity("sum of equations"))?;
            known.equations.push(left);
            Ok(())
        }
        Step::Xor { first, second, conclusion } => {
            let conclusion = Sum::of(conclusion);
            replay_xor(known, *first, *second, &conclusion)?;
            known.equations.push(conclusion);
            Ok(())
        }
    }
}

/// Whether `zero` is 0: it is the fact, whose negation is a fact, or one of its products, none of them positive.
fn is_pinched(known: &Known, fact: &Sum, zero: &Sum) -> Result<bool, CheckError> {
    let opposite = exact(Sum::default().minus(fact))?;
    if zero == fact && known.facts.contains(&opposite) {
        return Ok(true);
    }
    let vanishes = |(atoms, coefficient): (&[Atom], i128)| coefficient < 0 && known.is_plain(atoms);
    let mut products = fact.terms().map(|(atoms, _)| atoms);
    let mut wanted = zero.terms().map(|(atoms, _)| atoms);
    let (Some(atoms), None) = (wanted.next(), wanted.next()) else { return Ok(false) };
    Ok(fact.terms().all(vanishes) && !atoms.is_empty() && products.any(|product| product == atoms))
}

fn replay_xor(known: &Known, first: usize, second: usize, conclusion: &Sum) -> Result<(), CheckError> {
    let (Some([x, a, mask]), Some([y, b, other])) = (known.xors.get(first), known.xors.get(second)) else {
        return Err(CheckError::UnknownPremise("xor"));
    };
    require(mask == other, CheckError::Identity("masks"))?;
    // `x = a ^ m` and `y = b ^ m`: the left pair is equal exactly if the right one is.
    let mut follows = false;
    for (premise, result) in [((x, y), (a, b)), ((a, b), (x, y)), ((y, a), (x, b)), ((x, b), (y, a))] {
        let premise = exact(premise.0.minus(premise.1))?;
        follows |= known.is_zero(&premise) && exact(result.0.minus(result.1))?.vanishes_with(conclusion);
    }
    require(follows, CheckError::Identity("xor"))
}

fn close(close: &Close, known: &Known) -> Result<(), CheckError> {
    match close {
        Close::Nothing => Err(CheckError::Open),
        Close::Constant(from) => {
            let value = equation(known, from)?.as_number();
            require(value.is_some_and(|value| value != 0), CheckError::Identity("constant"))
        }
        Close::NegativeFact(from) => {
            let value = fact(known, from)?.as_number();
            require(value.is_some_and(|value| value < 0), CheckError::Identity("negative constant"))
        }
        Close::Divides(from) => {
            let divides = equation(known, from)?.has_divisor_without_its_number();
            require(divides, CheckError::Identity("divisor of all terms but one"))
        }
        Close::SameThread => {
            let same = known.coordinates.iter().all(|(first, second)| first == second);
            require(same && !known.coordinates.is_empty(), CheckError::UnknownPremise("pair of equal coordinates"))
        }
        Close::NeverEquation { equation: from, negated, certificate } => {
            let value = equation(known, from)?;
            let sign = if *negated { -1 } else { 1 };
            let goal = exact(Sum::number(-1).plus(&value, sign))?;
            shown(known, certificate, &goal, "equation cannot hold")
        }
        Close::NeverFact { fact: from, certificate } => {
            let goal = exact(Sum::number(-1).minus(&fact(known, from)?))?;
            shown(known, certificate, &goal, "fact cannot hold")
        }
        Close::Toggle { atom, branches } => {
            require(known.toggles.contains(&Sum::atom(*atom)), CheckError::UnknownPremise("toggle"))?;
            let cases = [0, 1].map(|value| {
                let mut case = known.clone();
                case.toggles.retain(|toggle| *toggle != Sum::atom(*atom));
                exact(case.replace(*atom, &Sum::number(value)))?;
                Ok(case)
            });
            follow_all(cases.into(), branches)
        }
        Close::Cases { disjunction, branches } => {
            let mut rest = known.clone();
            require(*disjunction < rest.choices.len(), CheckError::UnknownPremise("disjunction"))?;
            let alternatives = rest.choices.remove(*disjunction);
            let case = |alternative: Vec<Claim>| {
                let mut case = rest.clone();
                alternative.into_iter().for_each(|claim| case.add(claim));
                Ok(case)
            };
            follow_all(alternatives.into_iter().map(case).collect(), branches)
        }
        Close::Order { first, second, coordinate, gap, branches } => {
            let pair = (Sum::of(first), Sum::of(second));
            let is_pair = !coordinate || known.coordinates.contains(&pair);
            require(is_pair, CheckError::UnknownPremise("pair of coordinates"))?;
            let fresh = !known.mentions(*gap) && !pair.0.mentions(*gap) && !pair.1.mentions(*gap);
            require(fresh, CheckError::Identity("gap is not fresh"))?;
            let mut equal = known.clone();
            equal.equations.push(exact(pair.0.minus(&pair.1))?);
            let greater = strict(known, &pair.0, &pair.1, *coordinate, *gap);
            let less = strict(known, &pair.1, &pair.0, *coordinate, *gap);
            follow_all(vec![Ok(equal), greater, less], branches)
        }
    }
}

/// The case `larger = smaller + 1 + gap`. If the threads are told apart by it, nothing else need do so.
fn strict(known: &Known, larger: &Sum, smaller: &Sum, coordinate: bool, gap: Atom) -> Result<Known, CheckError> {
    let mut case = known.clone();
    if coordinate {
        case.coordinates.clear();
    }
    case.signs.insert(gap);
    let surplus = exact(larger.minus(smaller).and_then(|difference| difference.plus_number(-1)))?;
    let zero = exact(surplus.minus(&Sum::atom(gap)))?;
    // As in the search, the least private atom that the equation defines goes.
    let alone = |atom: Atom| zero.terms().filter(|(atoms, _)| atoms.contains(&atom)).count() == 1;
    let defined = zero.terms().filter_map(|(atoms, coefficient)| match atoms {
        [atom] if coefficient == 1 && atom.is_private() && alone(*atom) => Some(*atom),
        _ => None,
    });
    match defined.min() {
        Some(atom) => {
            let value = exact(Sum::atom(atom).minus(&zero))?;
            exact(case.replace(atom, &value))?;
        }
        None => case.equations.push(zero),
    }
    Ok(case)
}

fn follow_all(cases: Vec<Result<Known, CheckError>>, branches: &[Branch]) -> Result<(), CheckError> {
    require(cases.len() == branches.len(), CheckError::Coverage)?;
    for (case, branch) in cases.into_iter().zip(branches) {
        follow(branch, case?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::state::poly::{IDS, Monomial, Side};
    use crate::prove::state::sign::Part;

    /// From `31 - 32*warp - lane >= 0` follows `-warp >= 0`, against `warp - 1 >= 0`; with changes to the division.
    fn one_warp(radix: i64, quotient_shift: i64, rest_shift: i64) -> Result<(), CheckError> {
        let [warp, lane] = [0, 1].map(|number| Atom::private(IDS, number, Side::First).unwrap());
        let fact = Poly::atom(warp).scaled(-32).unwrap().minus(&Poly::atom(lane)).unwrap().plus_constant(31).unwrap();
        let positive = Poly::atom(warp).plus_constant(-1).unwrap();
        let mut state = State { facts: vec![fact.clone(), positive.clone()], ..State::default() };
        state.non_negative.insert(warp);
        state.non_negative.insert(lane);
        let plain = Certificate { scale: 1, parts: Vec::new() };
        let step = Step::Round {
            fact,
            radix: Poly::constant(radix),
            quotient: Poly::atom(warp).scaled(-1).unwrap().plus_constant(quotient_shift).unwrap(),
            rest: Poly::atom(lane).scaled(-1).unwrap().plus_constant(31 + rest_shift).unwrap(),
            positive: plain.clone(),
            above: plain,
        };
        let last = Part { factor: 1, monomial: Monomial::ONE, fact: 2 };
        let certificate = Certificate { scale: 1, parts: vec![last] };
        check(&Branch { steps: vec![step], close: Close::NeverFact { fact: positive, certificate } }, &state)
    }

    #[test]
    fn a_fact_is_divided_by_a_radix_above_its_rest_only() {
        assert_eq!(one_warp(32, 0, 0), Ok(()));
        assert!(one_warp(32, 1, 0).is_err());
        assert!(one_warp(32, -1, 32).is_err());
        assert!(one_warp(31, 0, 0).is_err());
        assert!(one_warp(32, 0, 1).is_err());
    }

    /// From `x - 4*p >= 0` and `4*q + 3 - x - gap >= 0` follows `q - p >= 0`, against `p - q - 1 >= 0`.
    fn quotients(gap: i64, radix: i64, rest_shift: i64) -> Result<(), CheckError> {
        let [x, p, q] = [0, 1, 2].map(|number| Poly::atom(Atom::private(IDS, number, Side::First).unwrap()));
        let lower = x.minus(&p.scaled(4).unwrap()).unwrap();
        let upper = q.scaled(4).unwrap().minus(&x).unwrap().plus_constant(3 - gap).unwrap();
        let opposed = p.minus(&q).unwrap().plus_constant(-1).unwrap();
        let state = State { facts: vec![lower.clone(), upper.clone(), opposed.clone()], ..State::default() };
        let plain = Certificate { scale: 1, parts: Vec::new() };
        let step = Step::Monotone {
            facts: Box::new([lower, upper]),
            radix: Poly::constant(radix),
            quotient: q.minus(&p).unwrap(),
            rest: Poly::constant(3 - gap + rest_shift),
            positive: plain.clone(),
            above: plain,
        };
        let last = Part { factor: 1, monomial: Monomial::ONE, fact: 3 };
        let certificate = Certificate { scale: 1, parts: vec![last] };
        check(&Branch { steps: vec![step], close: Close::NeverFact { fact: opposed, certificate } }, &state)
    }

    #[test]
    fn quotients_are_ordered_as_what_was_divided() {
        assert_eq!(quotients(0, 4, 0), Ok(()));
        assert_eq!(quotients(1, 4, 0), Ok(()));
        // `4*q + 4 - x >= 0` does not bound the quotient of `x`.
        assert!(quotients(-1, 4, 0).is_err());
        assert!(quotients(0, 3, 0).is_err());
        assert!(quotients(0, 4, 1).is_err());
    }
}
