//! TURNED (docs/RULES.md, "2.18 TURNED"): what a loop leaves whose iterations numbers decide.
//!
//! *Premises.* A variable that a loop changes, read after the loop. Whether the loop goes on, and what the variable is
//! at the end of an iteration, follow in every iteration from constants, from sizes of blocks and grids that are fixed,
//! and from fixed parameters. *Gives.* The number that the variable is after the last iteration; what it was before, if
//! there is none. *Proof.* The protocol's test is exact where it has no reasons; the loop is run on it. *Use.* `offset
//! = 1; for (d = blockDim.x >> 1; d > 0; d >>= 1) offset *= 2;` leaves `blockDim.x` for a power of two, 128 of blocks
//! of 255 threads, and the down-sweep of a scan begins there. *Trap.* What is `uniform` is not known by number: a
//! parameter that is not fixed decides nothing here.
//!
//! And of two threads that are in iterations of such a loop, next to each other or in one, which carries several
//! variables (`offset` doubled, `d` halved): one of these few iterations it is, with these numbers.
//!
//! Deliberately absent: loops of many iterations, loops within others that they depend on, and the counter of a counted
//! loop.

use super::builder::Builder;
use super::environments::EnvId;
use crate::calculus::ExprId;
use crate::protocol::instance::{Valuation, Value};
use crate::protocol::{LoopId, OpaqueId, Origin};
use crate::prove::condition::reading::readings::Reading;
use crate::prove::state::poly::Poly;
use crate::prove::state::{Alternative, Literal};

/// Turns of a loop that is run.
const MOST_RUN: usize = 64;
/// Turns that are told apart.
const MOST_CASES: usize = 10;

/// The number that a loop leaves in a variable; `None` if it leaves no number that is known, or the place is inside.
pub(in crate::prove::condition) fn left(builder: &mut Builder<'_>, id: OpaqueId, env: EnvId) -> Option<i64> {
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
    let outside = &builder.outside;
    let mut at = outside.entering(id);
    let mut turns = 0;
    while number(&at, each.guard)? != 0 {
        turns += 1;
        if turns > MOST_RUN {
            return None;
        }
        if number(&at, each.continues)? == 0 {
            break;
        }
        at.advance(id);
    }
    let Some(before_last) = turns.checked_sub(1) else { return number(outside, before) };
    let mut last = outside.entering(id);
    (0..before_last).for_each(|_| last.advance(id));
    number(&last, at_the_end)
}

/// Says that one of the iterations of a loop that carries several variables it is, if numbers decide them: `iteration`
/// is its number at the place of `env`.
pub(in crate::prove::condition) fn tell_apart(builder: &mut Builder<'_>, id: LoopId, at: &Poly, env: EnvId) {
    if builder.protocol.loops[id].carried.len() > 1
        && let Some(cases) = cases_of_numbers(builder, id, at, env)
    {
        builder.draft.readings.insert(Reading::NumberedIterations);
        builder.draft.early_disjunction(cases);
    }
}

fn cases_of_numbers(
    builder: &mut Builder<'_>,
    id: LoopId,
    number_of_iteration: &Poly,
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
    let mut at = builder.outside.entering(id);
    for (var, start) in starts {
        at.set(var, start.into());
    }
    let mut cases = Vec::new();
    while number(&at, each.guard)? != 0 {
        if cases.len() == MOST_CASES {
            return None;
        }
        let mut case = vec![Literal::Zero(number_of_iteration.plus_constant(-(cases.len() as i64))?)];
        for (carried, value) in each.carried.iter().zip(&values) {
            let Value::Known(number) = at.variable(carried.var) else { return None };
            let number = i64::try_from(number).ok()?;
            case.push(Literal::Zero(value.plus_constant(number.checked_neg()?)?));
        }
        cases.push(case);
        at.advance(id);
    }
    Some(cases)
}

fn number(at: &Valuation<'_>, expr: ExprId) -> Option<i128> {
    match at.value(expr) {
        Value::Known(number) => Some(number),
        Value::Unknown | Value::Trapped => None,
    }
}
