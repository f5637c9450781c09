//! Conditions that two threads of a block disagree about reaching a sync.
//!
//! Both are in the same turns of the loops around it (what they share is the iteration number), both satisfy
//! the guards before one guard, and of that guard one satisfies it and the other does not. Loop tests are
//! guards, so trip counts are covered. The threads are interchangeable, so one direction is enough.
//!
//! A guard whose leaves are the same uniform values in both threads needs no condition.

use super::Condition;
use super::builder::{Builder, Env};
use super::conflict::{self, Hints};
use super::oracle::Oracle;
use super::truth::Polarity;
use crate::calculus::intervals::Relation;
use crate::memory_model::Level;
use crate::protocol::{Guard, Protocol, Sync, SyncId};
use crate::prove::rules::poly::Side;
use crate::prove::rules::sign::Certificate;
use crate::prove::rules::state::State;
use crate::prove::{Assumption, Open, Scope};

/// What a barrier does about threads that have returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Returned {
    /// It does not wait for them (CUDA since Volta): guards that only say "has not returned" do not count.
    ReleaseBarriers,
    /// It waits for them for ever (OpenCL).
    StillCount,
}

/// The conditions to refute, one for each guard that is not plainly uniform, and assumptions.
pub fn guard_conditions(
    protocol: &Protocol,
    sync: SyncId,
    returned: Returned,
    scope: &Scope,
) -> Result<(Vec<Condition>, Vec<Assumption>), Open> {
    let sync = &protocol.syncs[sync];
    let mut conditions = Vec::new();
    let mut assumptions = Vec::new();
    for (position, guard) in sync.guards.iter().enumerate() {
        if guard.not_returned && returned == Returned::ReleaseBarriers {
            if assumptions.is_empty() {
                assumptions.push(Assumption::ExitedThreadsReleaseBarriers);
            }
            continue;
        }
        let builder = build(protocol, sync, position, scope, Oracle::searching(), Hints::Wanted)?;
        if let Some(builder) = builder {
            conditions.push(Condition::of(builder).map_err(|fault| Open::NotExpressible(fault.to_owned()))?);
        }
    }
    Ok((conditions, assumptions))
}

/// The states of the same conditions, built with the rulings of a derivation.
pub fn replay_guards(
    protocol: &Protocol,
    sync: SyncId,
    returned: Returned,
    scope: &Scope,
    rulings: &[&[Option<Certificate>]],
) -> Result<Vec<State>, String> {
    let sync = &protocol.syncs[sync];
    let mut states = Vec::new();
    for (position, guard) in sync.guards.iter().enumerate() {
        if guard.not_returned && returned == Returned::ReleaseBarriers {
            continue;
        }
        let own = rulings.get(states.len()).copied().unwrap_or_default();
        let builder = build(protocol, sync, position, scope, Oracle::replaying(own), Hints::Unwanted)
            .map_err(|open| format!("{open:?}"))?;
        if let Some(builder) = builder {
            if states.len() >= rulings.len() {
                return Err("a guard without a refutation".to_owned());
            }
            states.push(Condition::of(builder)?.state);
        }
    }
    if states.len() == rulings.len() { Ok(states) } else { Err("a refutation without a guard".to_owned()) }
}

/// The condition for one guard; `None` if the guard is plainly uniform.
fn build<'a>(
    protocol: &'a Protocol,
    sync: &Sync,
    position: usize,
    scope: &'a Scope,
    oracle: Oracle<'a>,
    hints: Hints,
) -> Result<Option<Builder<'a>>, Open> {
    let out_of_range = || Open::NotExpressible("numbers or terms out of range".to_owned());
    let mut builder = Builder::new(protocol, Level::Block, scope, oracle);
    for side in Side::BOTH {
        builder.environments.push(Env { side, iterations: Vec::new(), carried: Vec::new(), certain: true });
    }
    builder.assume_launch_facts();
    for (depth, &id) in sync.loops.iter().enumerate() {
        builder.enter_together(id, Relation::Same, depth).ok_or_else(out_of_range)?;
    }
    let guard = sync.guards[position].cond;
    if builder.is_uniform(guard, None) {
        return Ok(None);
    }
    builder.coordinates().ok_or_else(out_of_range)?;
    let before: &[Guard] = &sync.guards[..position];
    for env in [0, 1] {
        builder.assume_facts(env, &sync.loops, before);
        // Loops' tests are among the guards; a test of a loop that the guard stands before must not be used.
        builder.assume_guards(env, &[], before);
    }
    for (env, polarity) in [(0, Polarity::Holds), (1, Polarity::Fails)] {
        let alternatives = builder.truth(guard, env, polarity);
        builder.disjunction(alternatives);
    }
    conflict::finish(&mut builder, hints).ok_or_else(out_of_range)?;
    Ok(Some(builder))
}
