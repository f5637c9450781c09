//! Values that a condition chooses: `c ? a : b`, and truth values as numbers.
//!
//! Such a value is a piece: an atom, with a disjunction of which alternative made it what. HULL says of it what holds of
//! all that it may be:
//!
//! *Premises.* `z` is `a` where `p` holds and `b` where `q` does, and one of the two holds; SIGN proves `u - a >= 0` with
//! `p` among the facts and `u - b >= 0` with `q` among them. *Conclusion.* `u - z >= 0`; likewise `z >= 0`.
//! *Proof.* Whichever holds makes it so. *Use.* `up ? k : n - 1 - k` lies in `[0, n)` and is a digit by `n`, whatever `up`
//! is; so does `i < n ? i : i - n` for an `i` below `2*n`; `4*(a > b) + 2*(c > d) + (e > f)` is a digit by 8, since each
//! truth value is at most 1. *Trap.* `up ? k : n - k`, which is `n` for the first `k`.
//!
//! Deliberately absent: bounds of what may be negative, which is no digit; bounds that vary between the threads; the
//! smaller of two values, whose bounds are its operands.

use super::builder::{Builder, EnvId, Key};
use super::sampling::Source;
use super::truth::Polarity;
use crate::calculus::{BinaryOp, ExprId};
use super::readings::Reading;
use crate::prove::state::poly::{Monomial, PIECES, Poly};
use crate::prove::state::{Alternative, Literal};

/// Upper bounds of a piece that are asked about.
const CEILINGS: usize = 3;
/// Greater constants are bounds of types, and say nothing of digits.
const GREATEST: i128 = 0xffff;

impl Builder<'_> {
    /// An atom for a value that is one of `values`.
    pub(super) fn piece(&mut self, expr: ExprId, env: EnvId, values: &[&Poly], source: Source) -> Option<Poly> {
        let side = self.environments[env].side;
        let level = if values.iter().all(|value| !value.is_private()) && !source.is_private() { 0 } else { PIECES };
        let atom = self.atom(level, Key::Value(expr), side, "piece", source)?;
        self.state.named.insert(atom);
        let bounds: Vec<_> = values.iter().map(|value| self.interval(value)).collect();
        let least =
            bounds.iter().map(|bound| bound.0).collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().min());
        let greatest =
            bounds.iter().map(|bound| bound.1).collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max());
        self.bound(atom, least, greatest);
        Some(Poly::atom(atom))
    }

    pub(super) fn select(&mut self, expr: ExprId, parts: (ExprId, ExprId, ExprId), env: EnvId) -> Option<Poly> {
        let certain = std::mem::replace(&mut self.environments[env].certain, false);
        let values = self.both(parts.1, parts.2, env, Self::value);
        self.environments[env].certain = certain;
        let (a, b) = values?;
        self.choice(expr, env, parts.0, &a, &b)
    }

    /// A truth value as a number.
    pub(super) fn boolean(&mut self, expr: ExprId, env: EnvId) -> Option<Poly> {
        self.choice(expr, env, expr, &Poly::constant(1), &Poly::ZERO)
    }

    fn choice(&mut self, expr: ExprId, env: EnvId, cond: ExprId, a: &Poly, b: &Poly) -> Option<Poly> {
        let yes = self.truth(cond, env, Polarity::Holds);
        let no = self.truth(cond, env, Polarity::Fails);
        let mut choices = Vec::new();
        for (guards, value) in [(yes, a), (no, b)] {
            let value = self.settled(value)?;
            choices.extend(guards.into_iter().map(|guard| (guard, value.clone())));
        }
        match choices.len() {
            0 => return None,
            1 => return choices.pop().map(|choice| choice.1),
            _ => {}
        }
        let values: Vec<Poly> = choices.iter().map(|choice| choice.1.clone()).collect();
        let piece = self.piece(expr, env, &values.iter().collect::<Vec<_>>(), Source::Choice(choices.clone()))?;
        if let (Some(op), [a, b]) = (extremum_of(&choices), values.as_slice()) {
            self.is_extremum(&piece, op, [a.clone(), b.clone()])?;
        }
        self.hull(&piece, &choices)?;
        let mut alternatives = Vec::new();
        for (mut guard, value) in choices {
            guard.push(Literal::Zero(piece.minus(&value)?));
            alternatives.push(guard);
        }
        self.disjunction(alternatives);
        Some(piece)
    }

    /// HULL: what bounds all that `piece` may be bounds the piece.
    fn hull(&mut self, piece: &Poly, choices: &[(Alternative, Poly)]) -> Option<()> {
        let mut by_guards = false;
        let mut is_non_negative = true;
        for (guard, value) in choices {
            let plainly = self.shows(value);
            is_non_negative = is_non_negative && (plainly || value.is_private() && self.shows_where(guard, value));
            by_guards |= !plainly;
            if !is_non_negative {
                break;
            }
        }
        if !is_non_negative {
            return Some(());
        }
        self.set_non_negative(piece.as_atom()?);
        if by_guards {
            self.readings.insert(Reading::Hull);
        }
        let mut ceilings: Vec<Poly> = Vec::new();
        for (guard, value) in choices.iter().filter(|choice| choice.1.is_private()) {
            for ceiling in self.ceilings(guard, value) {
                if !ceilings.contains(&ceiling) {
                    ceilings.push(ceiling);
                }
            }
        }
        let greatest = |value: &Poly| self.interval(value).1.filter(|&most| most <= GREATEST);
        let greatest: Option<Vec<i128>> = choices.iter().map(|choice| greatest(&choice.1)).collect();
        let greatest = greatest.and_then(|all| i64::try_from(all.into_iter().max()?).ok());
        ceilings.extend(greatest.map(Poly::constant).filter(|ceiling| !ceilings.contains(ceiling)));
        ceilings.sort_by_key(Poly::size);
        ceilings.truncate(CEILINGS);
        for ceiling in ceilings {
            let bounds = |builder: &mut Self, (guard, value): &(Alternative, Poly)| {
                ceiling.minus(value).is_some_and(|gap| builder.shows_where(guard, &gap))
            };
            if choices.iter().all(|choice| bounds(self, choice)) {
                self.readings.insert(Reading::Hull);
                let fact = ceiling.minus(piece)?;
                self.hulls.push(fact.clone());
                self.fact(fact);
            }
        }
        Some(())
    }

    /// Values that both threads share which `value` is seen not to exceed where `guard` holds.
    fn ceilings(&self, guard: &Alternative, value: &Poly) -> Vec<Poly> {
        let guards = guard.iter().map(Literal::poly);
        let by_facts = self.state.facts.iter().chain(guards).filter_map(|fact| fact.plus(value));
        let is_below = |&&(monomial, coefficient): &&(Monomial, i64)| {
            coefficient < 0
                && monomial.private_part() != Monomial::ONE
                && self.state.non_negative.contains_all(monomial)
        };
        let rest = Poly::from_terms(value.terms().iter().filter(|term| !is_below(term)).copied().collect());
        by_facts.chain(rest).filter(|ceiling| !ceiling.is_private()).collect()
    }

    /// Whether `goal >= 0` is shown wherever `guard` holds.
    fn shows_where(&mut self, guard: &Alternative, goal: &Poly) -> bool {
        let known = self.state.facts.len();
        for literal in guard {
            self.state.facts.push(literal.poly().clone());
            if let Literal::Zero(poly) = literal {
                self.state.facts.extend(poly.negated());
            }
        }
        let shown = self.shows(goal);
        self.state.facts.truncate(known);
        shown
    }
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
