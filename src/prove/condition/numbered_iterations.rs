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

use super::builder::Builder;
use super::environments::EnvId;
use super::readings::Reading;
use crate::calculus::{Axis, ExprId, GeometryVar};
use crate::protocol::instance::{Sizes, Valuation, Value};
use crate::protocol::{LoopId, OpaqueId, Origin};
use crate::prove::state::poly::Poly;
use crate::prove::state::{Alternative, Literal};

/// Turns of a loop that is run.
const MOST_TURNS: usize = 64;
/// Turns that are told apart.
const MOST_CASES: usize = 10;

/// The number that a loop leaves in a variable; `None` if it leaves no number that is known, or the place is inside.
pub(super) fn left(builder: &mut Builder<'_>, id: OpaqueId, env: EnvId) -> Option<i64> {
    let protocol = builder.protocol;
    let opaque = &protocol.opaques[id];
    let Origin::Loop { site, from, .. } = &opaque.origin else { return None };
    let [before, at_the_end] = from[..] else { return None };
    let mut loops = protocol.loops.iter().filter(|(_, each)| each.site == *site);
    let (Some((around, each)), None) = (loops.next(), loops.next()) else { return None };
    let goes_on = builder.environments[env].iteration(around).is_some();
    if goes_on || opaque.loops.contains(&around) || !each.reasons.is_empty() {
        return None;
    }
    let known = builder.memoised.left.get(&id).copied();
    let number = known.unwrap_or_else(|| {
        let number = last_number(builder, around, before, at_the_end);
        number.and_then(|number| i64::try_from(number).ok())
    });
    builder.memoised.left.insert(id, number);
    number.inspect(|_| _ = builder.draft.readings.insert(Reading::NumberedIterations))
}

fn last_number(builder: &Builder<'_>, id: LoopId, before: ExprId, at_the_end: ExprId) -> Option<i128> {
    let each = &builder.protocol.loops[id];
    let mut turn = of_all(builder);
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
pub(super) fn tell_apart(builder: &mut Builder<'_>, id: LoopId, turn: &Poly, env: EnvId) {
    if builder.protocol.loops[id].carried.len() > 1
        && let Some(cases) = turns_of_numbers(builder, id, turn, env)
    {
        builder.draft.readings.insert(Reading::NumberedIterations);
        builder.draft.early_disjunction(cases);
    }
}

fn turns_of_numbers(
    builder: &mut Builder<'_>,
    id: LoopId,
    number_of_turn: &Poly,
    env: EnvId,
) -> Option<Vec<Alternative>> {
    let protocol = builder.protocol;
    let each = &protocol.loops[id];
    let mut starts = Vec::new();
    for carried in &each.carried {
        starts.push((carried.var, builder.value(carried.start, env)?.as_constant()?));
    }
    let values: Vec<Poly> = {
        let known = &builder.environments[env].carried;
        let of = |var| known.iter().find(|entry| entry.0 == var).map(|entry| entry.1.clone());
        each.carried.iter().map(|carried| of(carried.var)).collect::<Option<_>>()?
    };
    let mut turn = of_all(builder);
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
fn of_all<'a>(builder: &Builder<'a>) -> Valuation<'a> {
    let fixed = |of: fn(Axis) -> GeometryVar| Axis::ALL.map(|axis| builder.launch.fixed(of(axis)));
    let sizes = Sizes { block: fixed(GeometryVar::BlockDim), grid: fixed(GeometryVar::GridDim) };
    Valuation::of_all(builder.protocol, sizes, &builder.launch.scope.params)
}

fn number(turn: &Valuation<'_>, expr: ExprId) -> Option<i128> {
    match turn.value(expr) {
        Value::Known(number) => Some(number),
        Value::Unknown | Value::Trapped => None,
    }
}
