//! Values that a condition chooses: `c ? a : b`, and truth values as numbers.
//!
//! Such a value is a piece ([`pieces`](crate::prove::condition::draft::pieces)): an atom, with a disjunction of which alternative made it what.

use super::builder::Builder;
use super::environments::EnvId;
use super::truth::Polarity;
use crate::calculus::{BinaryOp, ExprId};
use crate::prove::condition::draft::atoms::Source;
use crate::prove::state::poly::Poly;
use crate::prove::state::{Alternative, Literal};

pub(in crate::prove::condition) fn select(
    builder: &mut Builder<'_>,
    expr: ExprId,
    parts: (ExprId, ExprId, ExprId),
    env: EnvId,
) -> Option<Poly> {
    let certain = std::mem::replace(&mut builder.environments[env].certain, false);
    let values = builder.both(parts.1, parts.2, env, Builder::value);
    builder.environments[env].certain = certain;
    let (a, b) = values?;
    choice(builder, expr, env, parts.0, &a, &b)
}

/// A truth value as a number.
pub(in crate::prove::condition) fn boolean(builder: &mut Builder<'_>, expr: ExprId, env: EnvId) -> Option<Poly> {
    choice(builder, expr, env, expr, &Poly::constant(1), &Poly::ZERO)
}

fn choice(builder: &mut Builder<'_>, expr: ExprId, env: EnvId, cond: ExprId, a: &Poly, b: &Poly) -> Option<Poly> {
    let yes = builder.truth(cond, env, Polarity::Holds);
    let no = builder.truth(cond, env, Polarity::Fails);
    let mut choices = Vec::new();
    for (guards, value) in [(yes, a), (no, b)] {
        let value = builder.draft.settled(value)?;
        choices.extend(guards.into_iter().map(|guard| (guard, value.clone())));
    }
    match choices.len() {
        0 => return None,
        1 => return choices.pop().map(|choice| choice.1),
        _ => {}
    }
    let values: Vec<Poly> = choices.iter().map(|choice| choice.1.clone()).collect();
    let side = builder.environments[env].side;
    let piece = builder.draft.piece(expr, side, &values.iter().collect::<Vec<_>>(), Source::Choice(choices.clone()))?;
    if let (Some(op), [a, b]) = (extremum_of(&choices), values.as_slice()) {
        builder.draft.is_extremum(&piece, op, [a.clone(), b.clone()])?;
    }
    builder.draft.hull(&piece, &choices)?;
    let mut alternatives = Vec::new();
    for (mut guard, value) in choices {
        guard.push(Literal::Zero(piece.minus(&value)?));
        alternatives.push(guard);
    }
    builder.draft.disjunction(alternatives);
    Some(piece)
}

/// Which of two values is chosen, if it is always the smaller, or always the greater: `n > 8 ? 8 : n`.
///
/// *Premises.* `a` is chosen where `p >= 0` and `b` where `p' >= 0`, with `b - a = p + c` and `a - b = p' + c'` for
/// constants that are not negative. *Conclusion.* What is chosen is the smaller. *Proof.* `p >= 0` gives `a <= b`.
/// *Trap.* `n > 8 ? n : 8` is the greater, and `n > 8 ? 4 : n` is neither.
fn extremum_of(choices: &[(Alternative, Poly)]) -> Option<BinaryOp> {
    let [(one, a), (other, b)] = choices else { return None };
    let ([Literal::NonNegative(p)], [Literal::NonNegative(q)]) = (one.as_slice(), other.as_slice()) else {
        return None;
    };
    let covers = |difference: Poly, fact: &Poly| {
        difference.minus(fact).and_then(|gap| gap.as_constant()).is_some_and(|gap| gap >= 0)
    };
    let is = |low: &Poly, high: &Poly| Some(covers(high.minus(low)?, p) && covers(low.minus(high)?, q));
    if is(a, b)? {
        Some(BinaryOp::Min)
    } else if is(b, a)? {
        Some(BinaryOp::Max)
    } else {
        None
    }
}
