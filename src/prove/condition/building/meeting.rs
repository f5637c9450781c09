//! Syncs between two accesses: each fails to order them, so its guard fails in one of the two threads.

use super::groups;
use crate::calculus::ExprId;
use crate::calculus::intervals::{Relation, SyncInstance, Turn};
use crate::protocol::{Carried, LoopId, Sync};
use crate::prove::Pair;
use crate::prove::condition::asking::sameness;
use crate::prove::condition::values::builder::Builder;
use crate::prove::condition::values::environments::{Env, EnvId};
use crate::prove::condition::values::truth::Polarity;
use crate::prove::state::poly::{Poly, Side};
use crate::prove::state::{Alternative, Literal};

/// Adds one disjunction for each sync instance between the accesses of `pair`.
pub(in crate::prove::condition) fn assume(builder: &mut Builder, pair: &Pair) {
    for instance in &pair.meeting.between {
        if let Some(alternatives) = failures(builder, pair, instance) {
            builder.draft.disjunction(alternatives);
        }
    }
}

/// The loop around the access of each side whose iterations objects that count arrivals tell apart.
fn told_apart(builder: &Builder, pair: &Pair) -> Option<[Option<LoopId>; 2]> {
    let apart = pair.meeting.apart?;
    let accesses = [pair.first, pair.second].map(|access| &builder.protocol.accesses[access]);
    let of = |side: usize| match apart.loops[side] {
        None => Some(None),
        Some(site) => {
            accesses[side].loops.iter().find(|id| builder.protocol.loops[**id].site == site).map(|id| Some(*id))
        }
    };
    Some([of(0)?, of(1)?])
}

/// Enters the outermost loops of both accesses together where one runs an exact number of iterations ahead of the
/// other.
pub(in crate::prove::condition) fn enter_exactly_apart(
    builder: &mut Builder,
    pair: &Pair,
    loops: [&Vec<LoopId>; 2],
) -> Option<()> {
    let exactly = pair.meeting.apart.filter(|apart| apart.least == apart.most).and_then(|apart| apart.least);
    let (Some(difference), Some([Some(first), Some(second)])) = (exactly, told_apart(builder, pair)) else {
        return Some(());
    };
    if loops[0].first() == Some(&first) && loops[1].first() == Some(&second) {
        builder.enter_apart([first, second], difference)?;
    }
    Some(())
}

/// The iterations differ by no more than objects that count arrivals let them.
pub(in crate::prove::condition) fn assume_apart(builder: &mut Builder, pair: &Pair) {
    let (Some(apart), Some(loops)) = (pair.meeting.apart, told_apart(builder, pair)) else { return };
    let number = |builder: &Builder, env: usize| match loops[env] {
        Some(id) => known_number(builder, id, env),
        None => Some(Poly::ZERO),
    };
    let difference = number(builder, 0).zip(number(builder, 1)).and_then(|(first, second)| first.minus(&second));
    let Some(difference) = difference else { return };
    let least = apart.least.and_then(|least| difference.plus_constant(least.checked_neg()?));
    let most = apart.most.and_then(|most| difference.negated()?.plus_constant(most));
    for bound in [least, most].into_iter().flatten() {
        builder.draft.disjunction(vec![vec![Literal::NonNegative(bound)]]);
    }
}

/// The ways in which a guard of the instance fails; `None` if it may fail in an unknown way.
fn failures(builder: &mut Builder, pair: &Pair, instance: &SyncInstance) -> Option<Vec<Alternative>> {
    let protocol = builder.protocol;
    let sync = protocol.syncs.iter().map(|(_, sync)| sync).find(|sync| sync.site == instance.sync)?;
    let mut alternatives = missing_iterations(builder, sync, instance)?;
    for side in Side::BOTH {
        let env = environment(builder, pair, sync, instance, side);
        for guard in &sync.guards {
            if is_known_to_hold(builder, pair, sync, instance, guard.cond, side) {
                continue;
            }
            for alternative in builder.truth(guard.cond, env, Polarity::Fails) {
                if alternative.is_empty() {
                    return None;
                }
                if !alternatives.contains(&alternative) {
                    alternatives.push(alternative);
                }
            }
        }
    }
    if let Some(threads) = sync.among.tile() {
        alternatives.extend(groups::apart(builder, threads)?);
    }
    Some(alternatives)
}

/// The ways in which the iteration of the instance does not exist; `None` if that is not known.
fn missing_iterations(builder: &Builder, sync: &Sync, instance: &SyncInstance) -> Option<Vec<Alternative>> {
    let mut alternatives = Vec::new();
    for &id in &sync.loops {
        let around = &builder.protocol.loops[id];
        match instance.iterations.iter().find(|entry| entry.0 == around.site).map(|entry| entry.1) {
            Some(turn @ (Turn::BeforeFirst | Turn::BeforeSecond)) => {
                let env = usize::from(turn == Turn::BeforeSecond);
                let first_iteration = known_number(builder, id, env)?.negated()?;
                if first_iteration.as_constant().is_none_or(|number| number >= 0) {
                    alternatives.push(vec![Literal::NonNegative(first_iteration)]);
                }
            }
            // A `break` may end the loop after the iteration of the access.
            Some(Turn::AfterFirst | Turn::AfterSecond)
                if builder.protocol.exprs.as_int(around.continues) != Some(1) =>
            {
                return None;
            }
            Some(_) => {}
            None => return None,
        }
    }
    Some(alternatives)
}

/// Whether the access of this thread stands under the same guard in the same iterations.
fn is_known_to_hold(
    builder: &Builder,
    pair: &Pair,
    sync: &Sync,
    instance: &SyncInstance,
    cond: ExprId,
    side: Side,
) -> bool {
    let access = &builder.protocol.accesses[if side == Side::First { pair.first } else { pair.second }];
    let own_iteration = |id: &LoopId| {
        let place = builder.protocol.loops[*id].site;
        let turn = instance.iterations.iter().find(|entry| entry.0 == place).map(|entry| entry.1);
        let same = pair.meeting.relations.contains(&(place, Relation::Same));
        match turn {
            Some(Turn::First) => side == Side::First || same,
            Some(Turn::Second) => side == Side::Second || same,
            _ => false,
        }
    };
    // A loop around the sync but not around the access: the guard may be about its iterations.
    let shared = sync.loops.iter().all(|id| !access.loops.contains(id) || own_iteration(id));
    let mut about_other_loops = false;
    let foreign: Vec<_> = sync.loops.iter().filter(|id| !access.loops.contains(id)).collect();
    builder.protocol.exprs.visit(cond, |_, node| {
        if let crate::calculus::Expr::Var(var) = node {
            let of_loop = foreign.iter().any(|id| {
                let around = &builder.protocol.loops[**id];
                around.iteration == *var || around.carried.iter().any(|carried| carried.var == *var)
            });
            about_other_loops |= of_loop;
        }
    });
    shared && !about_other_loops && access.guards.iter().any(|guard| guard.cond == cond)
}

/// What variables stand for in a thread at the instance.
fn environment(builder: &mut Builder, pair: &Pair, sync: &Sync, instance: &SyncInstance, side: Side) -> EnvId {
    let env = builder.environments.add(Env { side, iterations: Vec::new(), carried: Vec::new(), certain: false });
    for &id in &sync.loops {
        let place = builder.protocol.loops[id].site;
        let Some(turn) = instance.iterations.iter().find(|entry| entry.0 == place).map(|entry| entry.1) else {
            continue;
        };
        let relation = pair.meeting.relations.iter().find(|entry| entry.0 == place).map(|entry| entry.1);
        if let Some(number) = number(builder, id, turn) {
            builder.environments[env].iterations.push((id, number));
        }
        carry(builder, id, turn, relation, env);
    }
    env
}

fn known_number(builder: &Builder, id: LoopId, env: EnvId) -> Option<Poly> {
    builder.environments[env].iteration(id).cloned()
}

/// The iteration number that the iteration is: one number, whichever thread is asked.
fn number(builder: &Builder, id: LoopId, turn: Turn) -> Option<Poly> {
    match turn {
        Turn::First => known_number(builder, id, 0),
        Turn::AfterFirst => known_number(builder, id, 0)?.plus_constant(1),
        Turn::Second => known_number(builder, id, 1),
        Turn::AfterSecond => known_number(builder, id, 1)?.plus_constant(1),
        Turn::BeforeFirst => known_number(builder, id, 0)?.plus_constant(-1),
        Turn::BeforeSecond => known_number(builder, id, 1)?.plus_constant(-1),
        Turn::Zero => Some(Poly::ZERO),
    }
}

/// Values that the loop carries, where they are known in that iteration.
fn carry(builder: &mut Builder, id: LoopId, turn: Turn, relation: Option<Relation>, env: EnvId) {
    let side = builder.environments[env].side;
    let protocol = builder.protocol;
    for carried in &protocol.loops[id].carried {
        let mut at = |access: EnvId| value_at(builder, carried, access, side, relation);
        let (first, second) = (at(0), at(1));
        let value = match (turn, relation) {
            (Turn::First, _) => first,
            (Turn::Second, _) => second,
            (Turn::AfterFirst, Some(Relation::Next)) => second,
            (Turn::BeforeSecond, Some(Relation::Next)) => first,
            (Turn::AfterSecond, Some(Relation::Previous)) => first,
            (Turn::BeforeFirst, Some(Relation::Previous)) => second,
            (Turn::AfterFirst, _) => first.and_then(|_| builder.value(carried.next, 0)),
            (Turn::AfterSecond, _) => second.and_then(|_| builder.value(carried.next, 1)),
            (Turn::BeforeFirst | Turn::BeforeSecond, _) => None,
            (Turn::Zero, _) => builder.value(carried.start, env),
        };
        if let Some(value) = value {
            builder.environments[env].carried.push((carried.var, value));
        }
    }
}

/// The value, in the thread of `side`, in the iteration of an access; it is that of the other thread if it depends
/// on the number of the iteration only.
fn value_at(
    builder: &mut Builder,
    carried: &Carried,
    access: EnvId,
    side: Side,
    relation: Option<Relation>,
) -> Option<Poly> {
    let own = |builder: &Builder, env: EnvId| builder.environments[env].carried(carried.var).cloned();
    let value = own(builder, access)?;
    if !value.is_private() || access == side as usize || sameness::of_iterations(builder, carried) {
        return Some(value);
    }
    if relation == Some(Relation::Same) { own(builder, side as usize) } else { None }
}
