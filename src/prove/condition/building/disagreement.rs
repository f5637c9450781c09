//! Conditions that two threads of a block, or of two blocks, disagree about reaching a sync.
//!
//! Both are in the same iterations of the loops around it (what they share is the iteration number), both satisfy
//! the guards before one guard, and of that guard one satisfies it and the other does not. Loop tests are
//! guards, so trip counts are covered. The threads are interchangeable, so one direction is enough.
//!
//! Of a sync of a warp only threads of one warp are asked, of one of smaller groups only threads of one group, and of a
//! sync that names its threads only those that it names; of the name itself, whether some other thread gets there.
//!
//! A guard whose leaves are the same uniform values in both threads needs no condition.

use super::conflict::{self, Hints};
use super::facts;
use super::groups;
use crate::calculus::ExprId;
use crate::calculus::intervals::Relation;
use crate::protocol::{Guard, LoopId, Protocol, Sync};
use crate::prove::condition::asking::oracle::Oracle;
use crate::prove::condition::asking::sameness::{self, Besides};
use crate::prove::condition::values::builder::Builder;
use crate::prove::condition::values::truth::Polarity;
use crate::prove::condition::{Condition, ReplayError};
use crate::prove::program_point::{ProgramPoint, relations_at};
use crate::prove::state::State;
use crate::prove::state::sign::Certificate;
use crate::prove::{Assumption, Open, Returned, Scope, SyncQuestion};

/// Something that two threads must agree about.
pub(in crate::prove) struct Question {
    /// Loops around it.
    pub(in crate::prove) loops: Vec<LoopId>,
    /// What both threads satisfy.
    pub(in crate::prove) before: Vec<Guard>,
    /// What they may disagree about.
    pub(in crate::prove) cond: ExprId,
    /// Whether it says for whom the sync is: then nobody for whom it is not may get there.
    pub(in crate::prove) names: bool,
}

/// All questions about a sync, and whether some were left out because returned threads release barriers.
pub(in crate::prove) fn questions(
    protocol: &Protocol,
    sync: &Sync,
    returned: Returned,
) -> (Vec<Question>, Option<Assumption>) {
    let mut questions = Vec::new();
    let mut released = None;
    for (position, guard) in sync.guards.iter().enumerate() {
        if guard.not_returned && returned == Returned::ReleaseBarriers {
            released = Some(Assumption::ExitedThreadsReleaseBarriers);
        } else {
            let before = sync.guards[..position].to_vec();
            let names = position + 1 == sync.guards.len() && sync.among.named() == Some(guard.cond);
            questions.push(Question { loops: sync.loops.clone(), before, cond: guard.cond, names });
        }
    }
    for (depth, &id) in sync.loops.iter().enumerate() {
        let around = &protocol.loops[id];
        if protocol.exprs.as_int(around.continues) != Some(1) {
            let mut before = around.guards.clone();
            before.push(Guard { cond: around.guard, not_returned: false, of_loop: Some(id) });
            let loops = sync.loops[..=depth].to_vec();
            questions.push(Question { loops, before, cond: around.continues, names: false });
        }
    }
    (questions, released)
}

/// The conditions to refute, one for each question whose answer is not plainly uniform, and assumptions.
pub fn guard_conditions(
    protocol: &Protocol,
    asked: SyncQuestion,
    returned: Returned,
    scope: &Scope,
) -> Result<(Vec<Condition>, Vec<Assumption>), Open> {
    let (questions, released) = questions(protocol, &protocol.syncs[asked.sync], returned);
    let mut conditions = Vec::new();
    for question in &questions {
        let builder = build(protocol, (question, asked), scope, Oracle::searching(), Hints::Wanted)?;
        if let Some(builder) = builder {
            conditions.push(Condition::of(builder).map_err(|fault| Open::NotExpressible(fault.to_owned()))?);
        }
    }
    Ok((conditions, released.into_iter().collect()))
}

/// The states of the same conditions, built with the rulings of a derivation.
pub fn replay_guards(
    protocol: &Protocol,
    asked: SyncQuestion,
    returned: Returned,
    scope: &Scope,
    rulings: &[&[Option<Certificate>]],
) -> Result<Vec<State>, ReplayError> {
    let (questions, _) = questions(protocol, &protocol.syncs[asked.sync], returned);
    let mut states = Vec::new();
    for question in &questions {
        let own = rulings.get(states.len()).copied().unwrap_or_default();
        let builder = build(protocol, (question, asked), scope, Oracle::replaying(own), Hints::Unwanted)?;
        if let Some(builder) = builder {
            if states.len() >= rulings.len() {
                return Err(ReplayError::Rulings("a question without a refutation"));
            }
            states.push(Condition::of(builder)?.state);
        }
    }
    if states.len() == rulings.len() {
        Ok(states)
    } else {
        Err(ReplayError::Rulings("a refutation without a question"))
    }
}

/// The condition that two threads disagree; `None` if they plainly cannot.
fn build<'a>(
    protocol: &'a Protocol,
    (question, asked): (&Question, SyncQuestion),
    scope: &'a Scope,
    oracle: Oracle<'a>,
    hints: Hints,
) -> Result<Option<Builder<'a>>, Open> {
    let out_of_range = || Open::NotExpressible("numbers or terms out of range".to_owned());
    let mut builder = Builder::new(protocol, asked.level, scope, oracle);
    builder.launch.closest = asked.groups.closest(asked.level);
    facts::assume_launch(&mut builder);
    for (depth, &id) in question.loops.iter().enumerate() {
        builder.enter_together(id, Relation::Same, depth).ok_or_else(out_of_range)?;
    }
    let among = protocol.syncs[asked.sync].among;
    if !question.names && sameness::holds(&mut builder, question.cond, Besides::Given) {
        return Ok(None);
    }
    builder.launch_bounds().ok_or_else(out_of_range)?;
    builder.coordinates().ok_or_else(out_of_range)?;
    // Who is not named may be there alone.
    let together = if question.names { 1..2 } else { 0..2 };
    for env in together {
        facts::assume(&mut builder, env, ProgramPoint::Sync(asked.sync), &question.loops, &question.before);
        // No loops: a test that the question stands before must not be used.
        facts::assume_guards(&mut builder, env, &[], &question.before);
        if let Some(cond) = among.named().filter(|_| !question.names) {
            builder.assume(cond, env);
        }
    }
    if !question.names {
        for fact in relations_at(protocol, ProgramPoint::Sync(asked.sync), (&question.loops, &question.before)) {
            facts::relate(&mut builder, fact);
        }
    }
    builder.draft.promote_signs();
    groups::assume_groups(&mut builder, asked.groups).ok_or_else(out_of_range)?;
    if let Some(threads) = among.tile() {
        groups::assume_one_group(&mut builder, threads).ok_or_else(out_of_range)?;
    }
    let sides = [(0, Polarity::Holds), (1, Polarity::Fails)];
    for &(env, polarity) in &sides[usize::from(question.names)..] {
        let alternatives = builder.truth(question.cond, env, polarity);
        builder.draft.disjunction(alternatives);
    }
    conflict::finish(&mut builder, hints).ok_or_else(out_of_range)?;
    Ok(Some(builder))
}
