//! What a condition says of numbers that two threads draw from one counter
//! ([`tickets`](crate::prove::hand_over::tickets)): that they are apart, and that what a whole block takes is more than each.

use crate::protocol::{Access, AccessId, Step};
use crate::prove::condition::values::builder::Builder;
use crate::prove::condition::values::environments::EnvId;
use crate::prove::condition::values::truth::Polarity;
use crate::prove::hand_over::tickets::{Draw, Share, Tickets};
use crate::prove::state::Literal;
use crate::prove::state::poly::Poly;
use crate::prove::{Assumption, Pair};

/// Says of every two numbers that the two accesses are addressed by, drawn from one counter, that they differ.
pub(in crate::prove::condition) fn assume(builder: &mut Builder<'_>, pair: &Pair) {
    let tickets = Tickets::new(builder.protocol, builder.launch.scope, builder.launch.level);
    if !builder.launch.level.is_one_block() {
        for (env, access) in [pair.first, pair.second].into_iter().enumerate() {
            let access = &builder.protocol.accesses[access];
            let _partly = assume_shares(builder, tickets.shares(access), access, env);
        }
    }
    let apart = tickets.apart(pair, &|id| builder.environments.happen_together(&[id]));
    for [one, other] in apart {
        let _partly = assume_apart(builder, &one, &other);
    }
}

/// COUNTED: what is taken from a counter for a whole block, where that is what a counter of the block holds, is more
/// than each number that was drawn from it; and that is no less than what the counter was set to.
///
/// *Use.* `at = atomicAdd(&count, 1); __syncthreads(); if (threadIdx.x == 0) base = atomicAdd(total, count);
/// __syncthreads(); out[base + at] = …`.
/// *Trap.* A thread that has drawn nothing: that its block's total is positive would not be true. And those of
/// [`counted`](crate::protocol).
fn assume_shares(builder: &mut Builder<'_>, shares: Vec<Share>, access: &Access, env: EnvId) -> Option<()> {
    let protocol = builder.protocol;
    for Share { drawn, total } in shares {
        let (number, total) = (builder.value(drawn.value, env)?, builder.value(total.value, env)?);
        let step = drawn.ticket?.step.constant()?;
        let mut said = vec![Literal::NonNegative(total.minus(&number)?.plus_constant(step.checked_neg()?)?)];
        if let Some(least) = protocol.least(drawn.store) {
            let least = i64::try_from(least).ok()?;
            said.push(Literal::NonNegative(number.plus_constant(least.checked_neg()?)?));
        }
        // Of a thread that has drawn nothing there is nothing to say, nor that anybody has drawn.
        let mut ways = vec![said];
        for guard in &protocol.accesses[drawn.at].guards {
            if access.guards.iter().all(|other| other.cond != guard.cond) {
                ways.extend(builder.truth(guard.cond, env, Polarity::Fails));
            }
        }
        builder.draft.disjunction(ways);
        assume_no_wrap_of(builder, drawn.at);
    }
    Some(())
}

fn assume_apart(builder: &mut Builder<'_>, one: &Draw, other: &Draw) -> Option<()> {
    for (env, draw) in [one, other].into_iter().enumerate() {
        let ty = builder.protocol.exprs.ty(draw.value);
        if builder.overflows_soon(draw.ticket.step, ty, env) {
            return None;
        }
    }
    let apart = builder.value(one.ticket.offset, 0)?.minus(&builder.value(other.ticket.offset, 1)?)?;
    let (a, b) = (builder.value(one.value, 0)?, builder.value(other.value, 1)?);
    for (draw, value) in [(one, &a), (other, &b)] {
        if draw.is_retyped || (draw.is_converted && !builder.draft.shows(value)) {
            let counter = builder.protocol.arrays[draw.array].name.clone();
            builder.draft.fact(value.clone());
            builder.draft.assumptions.insert(Assumption::DrawsFromZero(counter));
        }
    }
    let (s, t) = (step(builder, one.ticket.step, 0)?, step(builder, other.ticket.step, 1)?);
    // Counting down, the later number is the smaller one.
    let falls = one.ticket.step.falls();
    let later = |earlier: &Poly, step: &Poly, later: &Poly| {
        let rise = later.minus(earlier)?.minus(step)?;
        if falls { rise.negated() } else { Some(rise) }
    };
    let mut cases = vec![later(&a, &s, &b)?, later(&b, &t, &a)?];
    if !apart.is_zero() {
        cases.extend([apart.plus_constant(-1)?, apart.negated()?.plus_constant(-1)?]);
    }
    builder.draft.early_disjunction(cases.into_iter().map(|case| vec![Literal::NonNegative(case)]).collect());
    assume_no_wrap_of(builder, one.access);
    Some(())
}

/// What was taken, as a number of one of the threads.
fn step(builder: &mut Builder<'_>, step: Step, env: EnvId) -> Option<Poly> {
    match step {
        Step::Constant(step) => Poly::ZERO.plus_constant(step),
        Step::Amount(amount) => builder.value(amount, env),
    }
}

fn assume_no_wrap_of(builder: &mut Builder<'_>, draw: AccessId) {
    let access = &builder.protocol.accesses[draw];
    let name = &builder.protocol.arrays[access.array].name;
    let expression = format!("what is added to {name} atomically");
    let span = builder.protocol.sites[access.site].span;
    builder.draft.assumptions.insert(Assumption::NoUnsignedWrap { expression, span });
}
