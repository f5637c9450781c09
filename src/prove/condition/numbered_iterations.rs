//! TURNED (docs/RULES.md, "2.18 TURNED"): what a loop leaves behind whose turns numbers decide.
//!
//! *Premises.* A variable that a loop changes, read after the loop. Whether the loop goes on, and what the variable is
//! at the end of a turn, follow in every turn from constants, from sizes of blocks and grids that are fixed, and from
//! fixed parameters. *Gives.* The number that the variable is after the last turn; what it was before, if there is none.
//! *Proof.* The protocol's test is exact where it has no reasons; the loop is run on it.
//! *Use.* `offset = 1; for (d = blockDim.x >> 1; d > 0; d >>= 1) offset *= 2;` leaves `blockDim.x` for a power of two, 128
//! of blocks of 255 threads, and the down-sweep of a scan begins there.
//! *Trap.* What is `uniform` is not known by number: a parameter that is not fixed decides nothing here.
//!
//! And of two threads that are in turns of such a loop, next to each other or in one, which carries several variables
//! (`offset` doubled, `d` halved): one of these few turns it is, with these numbers.
//!
//! Deliberately absent: loops of many turns, loops within others that they depend on, and the counter of a counted loop.

use super::builder::{Builder, EnvId};
use crate::calculus::{Axis, ExprId, GeometryVar};
use crate::protocol::instance::{Sizes, Valuation, Value};
use crate::protocol::{LoopId, OpaqueId, Origin};
use super::readings::Reading;
use crate::prove::state::poly::Poly;
use crate::prove::state::{Alternative, Literal};

/// Turns of a loop that is run.
const MOST_TURNS: usize = 64;
/// Turns that are told apart.
const MOST_CASES: usize = 10;

impl Builder<'_> {
    /// The number that a loop leaves in a variable; `None` if it leaves no number that is known, or the place is inside.
    pub(super) fn turned(&mut self, id: OpaqueId, env: EnvId) -> Option<i64> {
        let protocol = self.protocol;
        let opaque = &protocol.opaques[id];
        let Origin::Loop { site, from, .. } = &opaque.origin else { return None };
        let [before, at_the_end] = from[..] else { return None };
        let mut loops = protocol.loops.iter().filter(|(_, each)| each.site == *site);
        let (Some((around, each)), None) = (loops.next(), loops.next()) else { return None };
        let goes_on = self.environments[env].iterations.iter().any(|entry| entry.0 == around);
        if goes_on || opaque.loops.contains(&around) || !each.reasons.is_empty() {
            return None;
        }
        let known = self.turned.get(&id).copied();
        let number = known.unwrap_or_else(|| {
            let number = self.last_number(around, before, at_the_end);
            number.and_then(|number| i64::try_from(number).ok())
        });
        self.turned.insert(id, number);
        number.inspect(|_| _ = self.readings.insert(Reading::Turned))
    }

    fn last_number(&self, id: LoopId, before: ExprId, at_the_end: ExprId) -> Option<i128> {
        let each = &self.protocol.loops[id];
        let mut turn = self.same_for_all();
        let mut left = number(&turn, before);
        turn.enter(id);
        for _ in 0..=MOST_TURNS {
            if number(&turn, each.guard)? == 0 {
                return left;
            }
            left = number(&turn, at_the_end);
            if number(&turn, each.continues)? == 0 {
                return left;
            }
            turn.advance(id);
        }
        None
    }

    /// Says that one of the turns of a loop that carries several variables it is, if numbers decide them: `turn` is its
    /// number at the place of `env`.
    pub(super) fn tell_turns_apart(&mut self, id: LoopId, turn: &Poly, env: EnvId) {
        if self.protocol.loops[id].carried.len() > 1
            && let Some(cases) = self.turns_of_numbers(id, turn, env)
        {
            self.readings.insert(Reading::Turned);
            self.early_disjunction(cases);
        }
    }

    fn turns_of_numbers(&mut self, id: LoopId, number_of_turn: &Poly, env: EnvId) -> Option<Vec<Alternative>> {
        let protocol = self.protocol;
        let each = &protocol.loops[id];
        let mut starts = Vec::new();
        for carried in &each.carried {
            starts.push((carried.var, self.value(carried.start, env)?.as_constant()?));
        }
        let values: Vec<Poly> = {
            let known = &self.environments[env].carried;
            let of = |var| known.iter().find(|entry| entry.0 == var).map(|entry| entry.1.clone());
            each.carried.iter().map(|carried| of(carried.var)).collect::<Option<_>>()?
        };
        let mut turn = self.same_for_all();
        turn.enter(id);
        for (var, start) in starts {
            turn.set(var, start.into());
        }
        let mut cases = Vec::new();
        while number(&turn, each.guard)? != 0 {
            if cases.len() == MOST_CASES {
                return None;
            }
            let mut case = vec![Literal::Zero(number_of_turn.plus_constant(-(cases.len() as i64))?)];
            for (carried, value) in each.carried.iter().zip(&values) {
                let Value::Known(number) = turn.variable(carried.var) else { return None };
                let number = i64::try_from(number).ok()?;
                case.push(Literal::Zero(value.plus_constant(number.checked_neg()?)?));
            }
            cases.push(case);
            turn.advance(id);
        }
        Some(cases)
    }

    /// Values that the launches fix.
    fn same_for_all(&self) -> Valuation<'_> {
        let fixed = |of: fn(Axis) -> GeometryVar| Axis::ALL.map(|axis| self.fixed(of(axis)));
        let sizes = Sizes { block: fixed(GeometryVar::BlockDim), grid: fixed(GeometryVar::GridDim) };
        Valuation::of_all(self.protocol, sizes, &self.scope.params)
    }
}

fn number(turn: &Valuation<'_>, expr: ExprId) -> Option<i128> {
    match turn.value(expr) {
        Value::Known(number) => Some(number),
        Value::Unknown | Value::Trapped => None,
    }
}
