//! LAST-TURN (docs/RULES.md, "2.17 LAST-TURN"): what a flag is worth after the loop that sets it.
//!
//! *Premises.* A variable that a loop changes irregularly, read after the loop. *Gives.* One of: the loop took no
//! iteration, its test fails in iteration 0, and the variable is what it was before; or there is a last iteration `k >=
//! 0`, which the test let in, in which a `break` was taken or after which the test fails for `k + 1`, and the variable
//! is what it is at the end of that iteration. *Proof.* A loop that is left has been left somewhere; a thread that
//! stands after it has left it. *Use.* `done = inside(t, k); … if (k == n - 1) break;` and a store after the loop under
//! `if (done)`: `k = n - 1`. A variable that has no value before the loop is not read after one without iterations:
//! that would be undefined, and is reported as an assumption. *Trap.* The test alone: a loop that is left by a `break`
//! may not fail it.
//!
//! The last iteration of a loop is one for all variables that are read at one place. Deliberately absent: how many
//! iterations a loop takes, and values other than conditions.

use super::builder::Builder;
use super::environments::{Env, EnvId};
use super::truth::{Polarity, all_of, any_of, anything};
use crate::calculus::{BinaryOp, Expr, ExprId, HavocReason, VarId};
use crate::protocol::{LoopId, Origin, Role};
use crate::prove::Assumption;
use crate::prove::condition::reading::readings::Reading;
use crate::prove::state::poly::{LOOPS, Monomial, PIECES, Poly};
use crate::prove::state::{Alternative, Literal};

/// Places beyond which no last iteration is added: of loops within loops each may ask for more.
const MOST_PLACES: usize = 16;

/// A last iteration: its place, that of the iteration that did not follow, and that of iteration 0.
#[derive(Clone, Copy)]
pub(in crate::prove::condition) struct LastIteration {
    last: EnvId,
    next: EnvId,
    first: EnvId,
}

/// Alternatives of which one holds if a variable that a loop left is true (or is not); `None` if it is no
/// such variable.
pub(in crate::prove::condition) fn after_loop(
    builder: &mut Builder<'_>,
    var: VarId,
    env: EnvId,
    polarity: Polarity,
) -> Option<Vec<Alternative>> {
    let protocol = builder.protocol;
    let Some(Role::Opaque(opaque)) = protocol.roles.get(var).copied() else { return None };
    let opaque = &protocol.opaques[opaque];
    let Origin::Loop { site, from, .. } = &opaque.origin else { return None };
    let [before, at_the_end] = from[..] else { return None };
    let mut loops = protocol.loops.iter().filter(|(_, each)| each.site == *site);
    let (Some((id, each)), None) = (loops.next(), loops.next()) else { return None };
    let is_inside = opaque.loops.contains(&id) || builder.environments[env].iteration(id).is_some();
    if is_inside {
        return None;
    }
    let iteration = last_iteration(builder, id, env)?;
    let mut none = match indeterminate(builder, before) {
        Some(name) => {
            builder.draft.assumptions.insert(Assumption::HasValue(name));
            Vec::new()
        }
        None => builder.truth(before, env, polarity),
    };
    let mut left = anything();
    // Of a test that is not understood it is not known where it fails.
    if each.reasons.is_empty() {
        none = all_of(none, &builder.truth(each.guard, iteration.first, Polarity::Fails));
        left = any_of(
            builder.truth(each.continues, iteration.last, Polarity::Fails),
            builder.truth(each.guard, iteration.next, Polarity::Fails),
        );
    }
    let entered = all_of(plainly(builder, each.guard, iteration.last), &left);
    let some = all_of(builder.truth(at_the_end, iteration.last, polarity), &entered);
    let mut alternatives = any_of(none, some);
    alternatives.retain(|alternative| !is_impossible(builder, alternative));
    builder.draft.readings.insert(Reading::LastIteration);
    Some(without_special_cases(alternatives))
}

/// The name of a variable that nothing has given a value: no defined run reads it.
fn indeterminate(builder: &Builder<'_>, expr: ExprId) -> Option<String> {
    let protocol = builder.protocol;
    let Expr::Var(var) = protocol.exprs[expr] else { return None };
    let Some(Role::Opaque(opaque)) = protocol.roles.get(var).copied() else { return None };
    let is_one = matches!(protocol.opaques[opaque].origin, Origin::Havoc(HavocReason::Uninitialized));
    is_one.then(|| protocol.vars[var].name.clone())
}

/// What a condition says without alternatives.
fn plainly(builder: &mut Builder<'_>, cond: ExprId, env: EnvId) -> Vec<Alternative> {
    if let Expr::Binary(BinaryOp::And, a, b) = builder.protocol.exprs[cond] {
        return all_of(plainly(builder, a, env), &plainly(builder, b, env));
    }
    let said = builder.truth(cond, env, Polarity::Holds);
    if said.len() <= 1 { said } else { anything() }
}

/// Whether some literal is seen to be false: `-k - 1 >= 0` for a number of iterations.
fn is_impossible(builder: &Builder<'_>, alternative: &[Literal]) -> bool {
    let is_false = |literal: &Literal| match literal {
        Literal::NonNegative(poly) => {
            let opposite = poly.negated().and_then(|poly| poly.plus_constant(-1));
            opposite.is_some_and(|poly| is_plainly_positive(builder, &poly))
        }
        Literal::Zero(poly) => poly.as_constant().is_some_and(|value| value != 0),
    };
    alternative.iter().any(is_false)
}

/// Whether `poly >= 0` by the signs of its terms.
fn is_plainly_positive(builder: &Builder<'_>, poly: &Poly) -> bool {
    let is_good = |&(monomial, coefficient): &(Monomial, i64)| {
        coefficient > 0 && builder.draft.state.non_negative.contains_all(monomial)
    };
    poly.terms().iter().all(is_good)
}

fn last_iteration(builder: &mut Builder<'_>, id: LoopId, env: EnvId) -> Option<LastIteration> {
    if let Some(known) = builder.memoised.last_iterations.get(&(id, env)) {
        return Some(*known);
    }
    if builder.environments.count() > MOST_PLACES {
        return None;
    }
    let outer = builder.environments[env].clone();
    let depth = builder.protocol.loops[id].loops.len();
    let level = (LOOPS + depth.min(5) as u8).min(PIECES - 1);
    let place = |iterations| Env { side: outer.side, iterations, carried: outer.carried.clone(), certain: false };
    let last = builder.environments.add(place(outer.iterations.clone()));
    builder.enter_at(level, id, last)?;
    let number = builder.environments[last].iteration(id)?.clone();
    let mut around = |number: Poly| {
        let iterations = outer.iterations.iter().cloned().chain([(id, number)]).collect();
        builder.environments.add(place(iterations))
    };
    let (next, first) = (around(number.plus_constant(1)?), around(Poly::ZERO));
    for carried in &builder.protocol.loops[id].carried {
        let (following, start) = (builder.value(carried.next, last), builder.value(carried.start, env));
        builder.environments[next].carried.extend(following.map(|value| (carried.var, value)));
        builder.environments[first].carried.extend(start.map(|value| (carried.var, value)));
    }
    let iteration = LastIteration { last, next, first };
    builder.memoised.last_iterations.insert((id, env), iteration);
    Some(iteration)
}

/// Without the alternatives that say all that another one says: that an iteration is the last one by a `break`, where
/// the test fails after it anyway.
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
