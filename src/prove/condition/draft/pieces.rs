//! Pieces: values that are one of several, by themselves.
//!
//! HULL says of a piece what holds of all that it may be:
//!
//! *Premises.* `z` is `a` where `p` holds and `b` where `q` does, and one of the two holds; SIGN proves `u - a >= 0`
//! with `p` among the facts and `u - b >= 0` with `q` among them. *Conclusion.* `u - z >= 0`; likewise `z >= 0`.
//! *Proof.* Whichever holds makes it so. *Use.* `up ? k : n - 1 - k` lies in `[0, n)` and is a digit by `n`, whatever
//! `up` is; so does `i < n ? i : i - n` for an `i` below `2*n`; `4*(a > b) + 2*(c > d) + (e > f)` is a digit by 8,
//! since each truth value is at most 1. *Trap.* `up ? k : n - k`, which is `n` for the first `k`.
//!
//! Deliberately absent: bounds of what may be negative, which is no digit; bounds that vary between the threads; the
//! smaller of two values, whose bounds are its operands.

use super::atoms::Key;
use super::atoms::Source;
use crate::calculus::{BinaryOp, ExprId};
use crate::prove::condition::draft::Draft;
use crate::prove::condition::reading::readings::Reading;
use crate::prove::state::poly::{Atom, Monomial, PIECES, Poly, Side};
use crate::prove::state::{Alternative, Literal};

/// Upper bounds of a piece that are asked about.
const CEILINGS: usize = 3;
/// Greater constants are bounds of types, and say nothing of digits.
const GREATEST: i128 = 0xffff;

/// What was said of pieces.
#[derive(Clone, Default)]
pub(in crate::prove::condition) struct Pieces {
    /// Those that are the smaller, or the greater, of two values.
    extrema: Vec<(Atom, BinaryOp, [Poly; 2])>,
    /// What HULL says.
    pub(in crate::prove::condition) hulls: Vec<Poly>,
}

impl Draft<'_> {
    /// An atom for a value that is one of `values`.
    pub(in crate::prove::condition) fn piece(
        &mut self,
        expr: ExprId,
        side: Side,
        values: &[&Poly],
        source: Source,
    ) -> Option<Poly> {
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

    /// HULL: what bounds all that `piece` may be bounds the piece.
    pub(in crate::prove::condition) fn hull(&mut self, piece: &Poly, choices: &[(Alternative, Poly)]) -> Option<()> {
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
                self.pieces.hulls.push(fact.clone());
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

    /// Says that `piece` is the smaller, or the greater, of two values.
    pub(in crate::prove::condition) fn is_extremum(
        &mut self,
        piece: &Poly,
        op: BinaryOp,
        values: [Poly; 2],
    ) -> Option<()> {
        let sign = if op == BinaryOp::Min { 1 } else { -1 };
        for value in &values {
            self.fact(value.minus(piece)?.scaled(sign)?);
        }
        self.pieces.extrema.push((piece.as_atom()?, op, values));
        Some(())
    }

    /// BEYOND: what is below the smaller of two values is below both.
    ///
    /// *Premises.* A fact `c*z + g >= 0` with a constant `c >= 1`, where `z` is the smaller of `a` and `b` and does
    /// not occur in `g` (or `c <= -1`, and `z` the greater). *Conclusion.* `c*a + g >= 0` and `c*b + g >= 0`.
    /// *Proof.* `z <= a`, `z <= b`. *Use.* The iterations of `for (k = 0; k < min(n - first, 2); k++)`: `k < 2`.
    /// *Trap.* What is below the greater of two values is below one of them only.
    pub(in crate::prove::condition) fn look_beyond_extrema(&mut self) -> Option<()> {
        for (piece, op, values) in self.pieces.extrema.clone() {
            let wanted = if op == BinaryOp::Min { 1 } else { -1 };
            let bounded = |fact: &&Poly| {
                let mut terms = fact.terms().iter().filter(|term| term.0.contains(piece));
                let only = terms.next().filter(|term| term.0.degree() == 1 && term.1.signum() == wanted);
                only.is_some() && terms.next().is_none()
            };
            let facts: Vec<Poly> = self.state.facts.iter().filter(bounded).cloned().collect();
            for fact in facts {
                self.readings.insert(Reading::Beyond);
                for value in &values {
                    let value = self.normal(value)?;
                    self.fact(fact.substitute(piece, &value)?);
                }
            }
        }
        Some(())
    }
}
