//! LAST-TURN (docs/RULES.md, "2.17 LAST-TURN"): what a flag is worth after the loop that sets it.
//!
//! *Premises.* A variable that a loop changes irregularly, read after the loop. *Gives.* One of: the loop took no turn,
//! its test fails in turn 0, and the variable is what it was before; or there is a last turn `k >= 0`, which the test
//! let in, in which a `break` was taken or after which the test fails for `k + 1`, and the variable is what it is at the
//! end of that turn. *Proof.* A loop that is left has been left somewhere; a thread that stands behind it has left it.
//! *Use.* `done = inside(t, k); … if (k == n - 1) break;` and a store behind the loop under `if (done)`: `k = n - 1`.
//! A variable that has no value before the loop is not read after one without turns: that would be undefined, and is
//! told as an assumption.
//! *Trap.* The test alone: a loop that is left by a `break` may not fail it.
//!
//! The last turn of a loop is one for all variables that are read at one place. Deliberately absent: how many turns a
//! loop takes, and values other than conditions.

use super::builder::{Builder, Env, EnvId};
use super::truth::{Polarity, all_of, any_of, anything};
use crate::calculus::{BinaryOp, Expr, ExprId, HavocReason, VarId};
use crate::protocol::{LoopId, Origin, Role};
use crate::prove::Assumption;
use super::readings::Reading;
use crate::prove::state::poly::{LOOPS, Monomial, PIECES, Poly};
use crate::prove::state::{Alternative, Literal};

/// Places beyond which no last turn is added: of loops within loops each may ask for more.
const MOST_PLACES: usize = 16;

/// A last turn: its place, that of the turn that did not follow, and that of turn 0.
#[derive(Clone, Copy)]
pub(super) struct LastTurn {
    last: EnvId,
    next: EnvId,
    first: EnvId,
}

impl Builder<'_> {
    /// Alternatives of which one holds if a variable that a loop left behind is true (or is not); `None` if it is no
    /// such variable.
    pub(super) fn after_loop(&mut self, var: VarId, env: EnvId, polarity: Polarity) -> Option<Vec<Alternative>> {
        let protocol = self.protocol;
        let Some(Role::Opaque(opaque)) = protocol.roles.get(var).copied() else { return None };
        let opaque = &protocol.opaques[opaque];
        let Origin::Loop { site, from, .. } = &opaque.origin else { return None };
        let [before, at_the_end] = from[..] else { return None };
        let mut loops = protocol.loops.iter().filter(|(_, each)| each.site == *site);
        let (Some((id, each)), None) = (loops.next(), loops.next()) else { return None };
        let is_inside = opaque.loops.contains(&id) || self.environments[env].iterations.iter().any(|it| it.0 == id);
        if is_inside {
            return None;
        }
        let turn = self.last_turn(id, env)?;
        let mut none = match self.indeterminate(before) {
            Some(name) => {
                self.assumptions.insert(Assumption::HasValue(name));
                Vec::new()
            }
            None => self.truth(before, env, polarity),
        };
        let mut left = anything();
        // Of a test that is not understood it is not known where it fails.
        if each.reasons.is_empty() {
            none = all_of(none, &self.truth(each.guard, turn.first, Polarity::Fails));
            left = any_of(
                self.truth(each.continues, turn.last, Polarity::Fails),
                self.truth(each.guard, turn.next, Polarity::Fails),
            );
        }
        let entered = all_of(self.plainly(each.guard, turn.last), &left);
        let some = all_of(self.truth(at_the_end, turn.last, polarity), &entered);
        let mut alternatives = any_of(none, some);
        alternatives.retain(|alternative| !self.is_impossible(alternative));
        self.readings.insert(Reading::LastTurn);
        Some(without_special_cases(alternatives))
    }

    /// The name of a variable that nothing has given a value: no defined run reads it.
    fn indeterminate(&self, expr: ExprId) -> Option<String> {
        let protocol = self.protocol;
        let Expr::Var(var) = protocol.exprs[expr] else { return None };
        let Some(Role::Opaque(opaque)) = protocol.roles.get(var).copied() else { return None };
        let is_one = matches!(protocol.opaques[opaque].origin, Origin::Havoc(HavocReason::Uninitialized));
        is_one.then(|| protocol.vars[var].name.clone())
    }

    /// What a condition says without alternatives.
    fn plainly(&mut self, cond: ExprId, env: EnvId) -> Vec<Alternative> {
        if let Expr::Binary(BinaryOp::And, a, b) = self.protocol.exprs[cond] {
            return all_of(self.plainly(a, env), &self.plainly(b, env));
        }
        let said = self.truth(cond, env, Polarity::Holds);
        if said.len() <= 1 { said } else { anything() }
    }

    /// Whether some literal is seen to be false: `-k - 1 >= 0` for a number of turns.
    fn is_impossible(&self, alternative: &[Literal]) -> bool {
        let is_false = |literal: &Literal| match literal {
            Literal::NonNegative(poly) => {
                let opposite = poly.negated().and_then(|poly| poly.plus_constant(-1));
                opposite.is_some_and(|poly| self.is_plainly_positive(&poly))
            }
            Literal::Zero(poly) => poly.as_constant().is_some_and(|value| value != 0),
        };
        alternative.iter().any(is_false)
    }

    /// Whether `poly >= 0` by the signs of its terms.
    fn is_plainly_positive(&self, poly: &Poly) -> bool {
        let is_good = |&(monomial, coefficient): &(Monomial, i64)| {
            coefficient > 0 && self.state.non_negative.contains_all(monomial)
        };
        poly.terms().iter().all(is_good)
    }

    fn last_turn(&mut self, id: LoopId, env: EnvId) -> Option<LastTurn> {
        if let Some(known) = self.last_turns.get(&(id, env)) {
            return Some(*known);
        }
        if self.environments.len() > MOST_PLACES {
            return None;
        }
        let outer = self.environments[env].clone();
        let depth = self.protocol.loops[id].loops.len();
        let level = (LOOPS + depth.min(5) as u8).min(PIECES - 1);
        let place = |iterations| Env { side: outer.side, iterations, carried: outer.carried.clone(), certain: false };
        let last = self.add_environment(place(outer.iterations.clone()));
        self.enter_at(level, id, last)?;
        let number = self.environments[last].iterations.iter().find(|entry| entry.0 == id)?.1.clone();
        let mut around = |number: Poly| {
            let iterations = outer.iterations.iter().cloned().chain([(id, number)]).collect();
            self.add_environment(place(iterations))
        };
        let (next, first) = (around(number.plus_constant(1)?), around(Poly::ZERO));
        for carried in &self.protocol.loops[id].carried {
            let (following, start) = (self.value(carried.next, last), self.value(carried.start, env));
            self.environments[next].carried.extend(following.map(|value| (carried.var, value)));
            self.environments[first].carried.extend(start.map(|value| (carried.var, value)));
        }
        let turn = LastTurn { last, next, first };
        self.last_turns.insert((id, env), turn);
        Some(turn)
    }
}

/// Without the alternatives that say all that another one says: that a turn is the last one by a `break`, where the
/// test fails after it anyway.
fn without_special_cases(alternatives: Vec<Alternative>) -> Vec<Alternative> {
    let says = |said: &Literal, wanted: &Literal| match (said, wanted) {
        (Literal::Zero(poly), Literal::NonNegative(other)) => poly == other || poly.negated().as_ref() == Some(other),
        _ => said == wanted,
    };
    let implies =
        |one: &Alternative, other: &Alternative| other.iter().all(|wanted| one.iter().any(|said| says(said, wanted)));
    let mut kept: Vec<Alternative> = Vec::new();
    for alternative in alternatives {
        if !kept.iter().any(|other| implies(&alternative, other)) {
            kept.retain(|other| !implies(other, &alternative));
            kept.push(alternative);
        }
    }
    kept
}
