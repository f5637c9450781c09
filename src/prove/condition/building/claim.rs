//! The conditions that threads reach a claim and the claim does not hold there.
//!
//! Mostly there is one thread, so nothing tells threads apart: the state has no coordinates. The thread is in any
//! iteration of the loops around the claim, satisfies the guards before it and every fact that stands before it.
//!
//! A claim about two threads has two conditions: that it fails for two threads of one block, and for two of two blocks.
//! Both threads are in the same iterations of the loops around it. They are interchangeable, so that one direction is
//! enough.

use super::conflict::{self, Hints};
use super::facts;
use crate::calculus::intervals::Relation;
use crate::memory_model::Level;
use crate::protocol::{Before, Claim, Fact, Guard, LoopId, Protocol};
use crate::prove::condition::asking::oracle::Oracle;
use crate::prove::condition::values::builder::Builder;
use crate::prove::condition::values::truth::Polarity;
use crate::prove::condition::{Condition, ReplayError};
use crate::prove::program_point::{ProgramPoint, relations_at};
use crate::prove::state::State;
use crate::prove::state::sign::Certificate;
use crate::prove::{Open, Scope};

/// What is known of a thread at the place of a claim. Claims that stand together share it.
pub struct Place<'a> {
    before: Before,
    guards: Vec<Guard>,
    loops: Vec<LoopId>,
    known: Builder<'a>,
}

impl Place<'_> {
    fn is_of(&self, claim: &Claim) -> bool {
        let Claim { site: _, claimed: _, cond: _, guards, loops, before, reasons: _ } = claim;
        self.before == *before && self.guards == *guards && self.loops == *loops
    }
}

/// The conditions of which none may hold for `claim` to hold. `place` is that of the claim asked about last, and
/// becomes that of this one.
pub fn failures<'a>(
    protocol: &'a Protocol,
    claim: &Claim,
    scope: &'a Scope,
    place: &mut Option<Place<'a>>,
) -> Result<Vec<Condition>, Open> {
    if !protocol.relates_threads(claim.cond) {
        return Ok(vec![failure(protocol, claim, scope, place)?]);
    }
    let condition = |level: Level| {
        let mut builder = met(protocol, claim, level, scope, Oracle::searching())?;
        fails(&mut builder, claim, Hints::Wanted)?;
        Condition::of(builder).map_err(|fault| Open::NotExpressible(fault.to_owned()))
    };
    LEVELS.into_iter().map(condition).collect()
}

/// How two threads of a claim may stand to each other.
const LEVELS: [Level; 2] = [Level::Block, Level::Grid];

/// The condition that `claim` fails in one thread.
fn failure<'a>(
    protocol: &'a Protocol,
    claim: &Claim,
    scope: &'a Scope,
    place: &mut Option<Place<'a>>,
) -> Result<Condition, Open> {
    if !place.as_ref().is_some_and(|place| place.is_of(claim)) {
        let known = reached(protocol, claim, scope, Oracle::searching())?;
        let Claim { guards, loops, before, .. } = claim.clone();
        *place = Some(Place { before, guards, loops, known });
    }
    let Some(Place { known, .. }) = place else { unreachable!("it was just made") };
    let mut builder = known.clone();
    fails(&mut builder, claim, Hints::Wanted)?;
    Condition::of(builder).map_err(|fault| Open::NotExpressible(fault.to_owned()))
}

/// The states of the same conditions, built with the rulings of a derivation.
pub fn replay_failures(
    protocol: &Protocol,
    claim: &Claim,
    scope: &Scope,
    rulings: &[&[Option<Certificate>]],
) -> Result<Vec<State>, ReplayError> {
    let state = |builder: Result<Builder<'_>, Open>| -> Result<State, ReplayError> {
        let mut builder = builder?;
        fails(&mut builder, claim, Hints::Unwanted)?;
        Ok(Condition::of(builder)?.state)
    };
    match (protocol.relates_threads(claim.cond), rulings) {
        (false, [only]) => Ok(vec![state(reached(protocol, claim, scope, Oracle::replaying(only)))?]),
        (true, [_, _]) => {
            let own = LEVELS.into_iter().zip(rulings);
            own.map(|(level, rulings)| state(met(protocol, claim, level, scope, Oracle::replaying(rulings)))).collect()
        }
        _ => Err(ReplayError::Rulings("not as many refutations as conditions")),
    }
}

fn out_of_range() -> Open {
    Open::NotExpressible("numbers or terms out of range".to_owned())
}

/// The facts that may be relied on at a claim. What holds outside of all loops is stated before the values are looked
/// at that loops move.
struct Usable<'a> {
    outside: Vec<&'a Fact>,
    within: Vec<&'a Fact>,
}

fn usable<'a>(protocol: &'a Protocol, claim: &Claim) -> Usable<'a> {
    let point = ProgramPoint::Claim(claim.before);
    let may_use =
        |(number, fact): &(usize, &Fact)| point.may_use(*number, fact) && fact.is_passed(&claim.loops, &claim.guards);
    let all = protocol.facts.iter().enumerate().filter(may_use).map(|(_, fact)| fact);
    let (outside, within) = all.partition(|fact| fact.loops.is_empty());
    Usable { outside, within }
}

/// A thread reaches the claim.
fn reached<'a>(
    protocol: &'a Protocol,
    claim: &Claim,
    scope: &'a Scope,
    oracle: Oracle<'a>,
) -> Result<Builder<'a>, Open> {
    let mut builder = Builder::new(protocol, Level::Block, scope, oracle);
    // The second place is that of a thread of which nothing is said: what both would agree about is uniform.
    let Usable { outside, within } = usable(protocol, claim);
    outside.into_iter().for_each(|fact| facts::assume_one(&mut builder, fact, 0));
    for (depth, &id) in claim.loops.iter().enumerate() {
        builder.enter_privately(id, depth, 0).ok_or_else(out_of_range)?;
    }
    within.into_iter().for_each(|fact| facts::assume_one(&mut builder, fact, 0));
    builder.launch_bounds().ok_or_else(out_of_range)?;
    facts::assume_guards(&mut builder, 0, &claim.loops, &claim.guards);
    builder.draft.promote_signs();
    Ok(builder)
}

/// Two threads reach the claim in the same iterations of the loops around it.
fn met<'a>(
    protocol: &'a Protocol,
    claim: &Claim,
    level: Level,
    scope: &'a Scope,
    oracle: Oracle<'a>,
) -> Result<Builder<'a>, Open> {
    let mut builder = Builder::new(protocol, level, scope, oracle);
    let Usable { outside, within } = usable(protocol, claim);
    for env in [0, 1] {
        outside.iter().for_each(|fact| facts::assume_one(&mut builder, fact, env));
    }
    for (depth, &id) in claim.loops.iter().enumerate() {
        builder.enter_together(id, Relation::Same, depth).ok_or_else(out_of_range)?;
    }
    for env in [0, 1] {
        within.iter().for_each(|fact| facts::assume_one(&mut builder, fact, env));
    }
    builder.launch_bounds().ok_or_else(out_of_range)?;
    builder.coordinates().ok_or_else(out_of_range)?;
    for env in [0, 1] {
        facts::assume_guards(&mut builder, env, &claim.loops, &claim.guards);
    }
    for fact in relations_at(protocol, ProgramPoint::Claim(claim.before), (&claim.loops, &claim.guards)) {
        facts::relate(&mut builder, fact);
    }
    builder.draft.promote_signs();
    Ok(builder)
}

/// What is claimed does not hold for it.
fn fails(builder: &mut Builder<'_>, claim: &Claim, hints: Hints) -> Result<(), Open> {
    let alternatives = builder.truth(claim.cond, 0, Polarity::Fails);
    builder.draft.disjunction(alternatives);
    conflict::finish(builder, hints).ok_or_else(out_of_range)
}
