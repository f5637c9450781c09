//! Conditions as alternatives of literals.
//!
//! What a condition says is over-approximated: a part that cannot be expressed is dropped, in either
//! polarity, so that the alternatives hold wherever the condition does.

use super::builder::Builder;
use super::environments::EnvId;
use super::last_iteration;
use crate::calculus::{BinaryOp, Expr, ExprId, ScalarType, UnaryOp};
use crate::prove::state::poly::Poly;
use crate::prove::state::{Alternative, Literal};

/// Whether a condition holds or fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::prove::condition) enum Polarity {
    Holds,
    Fails,
}

impl Polarity {
    fn negated(self) -> Polarity {
        match self {
            Polarity::Holds => Polarity::Fails,
            Polarity::Fails => Polarity::Holds,
        }
    }
}

/// Alternatives beyond which a condition is dropped.
const ALTERNATIVES: usize = 12;
/// Nesting at which a condition is dropped.
const DEPTH: u32 = 150;

/// The condition that says nothing.
pub(in crate::prove::condition) fn anything() -> Vec<Alternative> {
    vec![Vec::new()]
}

impl Builder<'_> {
    /// Alternatives of which one holds if `expr` does (or does not).
    pub(in crate::prove::condition) fn truth(
        &mut self,
        expr: ExprId,
        env: EnvId,
        polarity: Polarity,
    ) -> Vec<Alternative> {
        if self.depth > DEPTH {
            return anything();
        }
        self.depth += 1;
        let alternatives = self.alternatives(expr, env, polarity).unwrap_or_else(anything);
        self.depth -= 1;
        if alternatives.len() > ALTERNATIVES { anything() } else { alternatives }
    }

    fn alternatives(&mut self, expr: ExprId, env: EnvId, polarity: Polarity) -> Option<Vec<Alternative>> {
        let holds = polarity == Polarity::Holds;
        match self.protocol.exprs[expr] {
            Expr::Int(value, _) => Some(if (value != 0) == holds { anything() } else { Vec::new() }),
            Expr::Unary(UnaryOp::Not, a) => Some(self.truth(a, env, polarity.negated())),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let certain = std::mem::replace(&mut self.environments[env].certain, false);
                let (left, right) = (self.truth(a, env, polarity), self.truth(b, env, polarity));
                self.environments[env].certain = certain;
                Some(if (op == BinaryOp::And) == holds { all_of(left, &right) } else { any_of(left, right) })
            }
            Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) if self.is_power_test(a, b, env) => {
                Some(if (op == BinaryOp::Eq) == holds { anything() } else { Vec::new() })
            }
            Expr::Binary(op, a, b) if op.is_boolean() => self.comparison(op, (a, b), env, polarity),
            Expr::Select(c, a, b) => {
                let (held, failed) = (self.truth(c, env, Polarity::Holds), self.truth(c, env, Polarity::Fails));
                // Only one of the two is evaluated.
                let certain = std::mem::replace(&mut self.environments[env].certain, false);
                let (yes, no) = (self.truth(a, env, polarity), self.truth(b, env, polarity));
                self.environments[env].certain = certain;
                Some(any_of(all_of(held, &yes), all_of(failed, &no)))
            }
            Expr::Convert(ScalarType::Bool, a) => {
                let value = self.value(a, env)?;
                self.against_zero(if holds { BinaryOp::Ne } else { BinaryOp::Eq }, &value)
            }
            Expr::Var(_) if let Some(cond) = self.protocol.in_other(expr) => {
                self.in_other_place(env, |builder, place| Some(builder.truth(cond, place, polarity)))
            }
            Expr::Var(var) if let Some(alternatives) = last_iteration::after_loop(self, var, env, polarity) => {
                Some(alternatives)
            }
            Expr::Var(_) | Expr::Param(_) | Expr::Call(..) | Expr::Opaque(..) => {
                let value = self.unknown_truth(expr, env)?;
                self.against_zero(if holds { BinaryOp::Ne } else { BinaryOp::Eq }, &value)
            }
            _ => None,
        }
    }

    fn unknown_truth(&mut self, expr: ExprId, env: EnvId) -> Option<Poly> {
        match self.protocol.exprs[expr] {
            Expr::Var(_) | Expr::Param(_) => self.value(expr, env),
            _ => self.unknown(expr, env),
        }
    }

    fn comparison(
        &mut self,
        op: BinaryOp,
        operands: (ExprId, ExprId),
        env: EnvId,
        polarity: Polarity,
    ) -> Option<Vec<Alternative>> {
        let (a, b) = operands;
        let op = if polarity == Polarity::Holds { op } else { op.negated()? };
        match self.ty(a) {
            ScalarType::Opaque { .. } => None,
            ScalarType::Bool => {
                let same = if op == BinaryOp::Eq { Polarity::Holds } else { Polarity::Fails };
                let left = all_of(self.truth(a, env, Polarity::Holds), &self.truth(b, env, same));
                let right = all_of(self.truth(a, env, Polarity::Fails), &self.truth(b, env, same.negated()));
                matches!(op, BinaryOp::Eq | BinaryOp::Ne).then(|| any_of(left, right))
            }
            ScalarType::Int { .. } => {
                let (left, right) = self.both(a, b, env, Self::value)?;
                self.draft.hint(&right);
                self.draft.hint(&left);
                self.against_zero(op, &left.minus(&right)?)
            }
        }
    }

    /// `difference op 0`
    fn against_zero(&mut self, op: BinaryOp, difference: &Poly) -> Option<Vec<Alternative>> {
        let above = difference.plus_constant(-1)?;
        let below = difference.negated()?.plus_constant(-1)?;
        let fact = |poly: Poly| vec![Literal::NonNegative(poly)];
        let alternatives = match op {
            BinaryOp::Lt => vec![fact(below)],
            BinaryOp::Le => vec![fact(difference.negated()?)],
            BinaryOp::Gt => vec![fact(above)],
            BinaryOp::Ge => vec![fact(difference.clone())],
            BinaryOp::Eq => vec![vec![Literal::Zero(difference.clone())]],
            BinaryOp::Ne if self.draft.shows(difference) => vec![fact(above)],
            BinaryOp::Ne if self.draft.shows(&difference.negated()?) => vec![fact(below)],
            BinaryOp::Ne => vec![fact(above), fact(below)],
            _ => return None,
        };
        Some(alternatives.into_iter().filter_map(decided).collect())
    }

    /// Adds what `expr` says to the state.
    pub(in crate::prove::condition) fn assume(&mut self, expr: ExprId, env: EnvId) {
        self.assume_as(expr, env, Polarity::Holds);
    }

    /// Adds that `expr` holds, or fails. All parts of `a && b` that holds are evaluated, and all of `a || b` that fails:
    /// what is said of them by themselves may count on the divisions in them.
    fn assume_as(&mut self, expr: ExprId, env: EnvId, polarity: Polarity) {
        if self.depth > DEPTH {
            return;
        }
        self.depth += 1;
        let holds = polarity == Polarity::Holds;
        match self.protocol.exprs[expr] {
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) if (op == BinaryOp::And) == holds => {
                self.assume_as(a, env, polarity);
                self.assume_as(b, env, polarity);
            }
            Expr::Unary(UnaryOp::Not, a) => self.assume_as(a, env, polarity.negated()),
            Expr::Binary(BinaryOp::Eq, a, b) if holds && self.note_power(a, b, env).is_some() => {}
            Expr::Var(var)
                if holds && let Some(alternatives) = last_iteration::after_loop(self, var, env, polarity) =>
            {
                self.draft.early_disjunction(alternatives);
            }
            _ => {
                let alternatives = self.truth(expr, env, polarity);
                self.draft.disjunction(alternatives);
            }
        }
        self.depth -= 1;
    }

    /// Recognises `p & (p - 1) == 0` of a value that is known to be a power of two, or zero. What is left of one
    /// modulo two to the width of its type is one too.
    fn is_power_test(&mut self, a: ExprId, b: ExprId, env: EnvId) -> bool {
        let exprs = &self.protocol.exprs;
        let Expr::Binary(BinaryOp::BitAnd, left, right) = exprs[a] else { return false };
        let is_less = |less: ExprId, value: ExprId| match exprs[less] {
            Expr::Binary(BinaryOp::Sub, x, one) => x == value && exprs.as_int(one) == Some(1),
            _ => false,
        };
        if exprs.as_int(b) != Some(0) || !(is_less(right, left) || is_less(left, right)) {
            return false;
        }
        let mut pending = vec![if is_less(right, left) { left } else { right }];
        for _ in 0..ALTERNATIVES {
            let Some(value) = pending.pop() else { return true };
            match self.protocol.exprs[value] {
                Expr::Select(_, a, b) => pending.extend([a, b]),
                _ => {
                    let residue = self.residue(value, env);
                    let is_power = residue.is_some_and(|residue| {
                        self.draft.is_power(&residue)
                            || residue.as_constant().is_some_and(|value| value > 0 && value & (value - 1) == 0)
                    });
                    if !is_power {
                        return false;
                    }
                }
            }
        }
        pending.is_empty()
    }

    /// Recognises `p & (p - 1) == 0`.
    ///
    /// *Trap.* What is left of a number modulo two to the width may be a power of two, or 0, though the number is none:
    /// `p` is one as a value of its own type, and its product in a wider one need not be.
    fn note_power(&mut self, a: ExprId, b: ExprId, env: EnvId) -> Option<()> {
        if self.protocol.exprs.as_int(b) != Some(0) {
            return None;
        }
        let Expr::Binary(BinaryOp::BitAnd, left, right) = self.protocol.exprs[a] else { return None };
        let (one, other) = (self.residue(left, env)?, self.residue(right, env)?);
        let power = if one.minus(&other)?.as_constant() == Some(1) { left } else { right };
        let (residue, power) = (self.residue(power, env)?, self.value(power, env)?);
        if residue != power {
            return None;
        }
        let other = [self.residue_of(a, 0, env)?, self.residue_of(a, 1, env)?];
        let one_apart = other.iter().any(|value| power.minus(value).is_some_and(|gap| gap.as_constant() == Some(1)));
        if !one_apart {
            return None;
        }
        if !self.draft.powers.contains(&power) {
            self.draft.powers.push(power);
        }
        Some(())
    }

    fn residue_of(&mut self, expr: ExprId, operand: usize, env: EnvId) -> Option<Poly> {
        let operand = crate::calculus::operands(&self.protocol.exprs[expr]).get(operand).copied()?;
        self.residue(operand, env)
    }
}

/// An alternative without what always holds; `None` if it never does.
fn decided(alternative: Alternative) -> Option<Alternative> {
    let mut open = Vec::new();
    for literal in alternative {
        match (&literal, literal.poly().as_constant()) {
            (Literal::Zero(_), Some(0)) => {}
            (Literal::NonNegative(_), Some(value)) if value >= 0 => {}
            (_, Some(_)) => return None,
            (_, None) => open.push(literal),
        }
    }
    Some(open)
}

/// One of `left` and one of `right`.
pub(in crate::prove::condition) fn all_of(left: Vec<Alternative>, right: &[Alternative]) -> Vec<Alternative> {
    if left.len() * right.len() > ALTERNATIVES {
        // Dropping one conjunct keeps the other.
        return if left.len() <= right.len() { left } else { right.to_vec() };
    }
    let joined = |one: &Alternative, other: &Alternative| one.iter().chain(other).cloned().collect();
    left.iter().flat_map(|one| right.iter().map(move |other| joined(one, other))).collect()
}

/// One of either.
pub(in crate::prove::condition) fn any_of(mut left: Vec<Alternative>, right: Vec<Alternative>) -> Vec<Alternative> {
    if left.iter().chain(&right).any(Vec::is_empty) {
        return anything();
    }
    for alternative in right {
        if !left.contains(&alternative) {
            left.push(alternative);
        }
    }
    left
}
