//! The condition that one thread reaches a claim and the claim does not hold there.
//!
//! There is one thread, so nothing tells threads apart: the state has no coordinates. The thread is in any turn of
//! the loops around the claim, satisfies the guards before it and every fact that stands before it.

use super::Condition;
use super::builder::{Builder, Env};
use super::conflict::{self, Hints};
use super::oracle::Oracle;
use super::spot::Spot;
use super::truth::Polarity;
use crate::memory_model::Level;
use crate::protocol::{Claim, Protocol};
use crate::prove::rules::poly::Side;
use crate::prove::rules::sign::Certificate;
use crate::prove::rules::state::State;
use crate::prove::{Open, Scope};

/// The condition that `claim` fails.
pub fn failure(protocol: &Protocol, claim: &Claim, scope: &Scope) -> Result<Condition, Open> {
    let builder = build(protocol, claim, scope, (Oracle::searching(), Hints::Wanted))?;
    Condition::of(builder).map_err(|fault| Open::NotExpressible(fault.to_owned()))
}

/// The state of the same condition, built with the rulings of a derivation.
pub fn replay_failure(
    protocol: &Protocol,
    claim: &Claim,
    scope: &Scope,
    rulings: &[Option<Certificate>],
) -> Result<State, String> {
    let builder = build(protocol, claim, scope, (Oracle::replaying(rulings), Hints::Unwanted))
        .map_err(|open| format!("{open:?}"))?;
    Condition::of(builder).map(|condition| condition.state).map_err(str::to_owned)
}

fn build<'a>(
    protocol: &'a Protocol,
    claim: &Claim,
    scope: &'a Scope,
    (oracle, hints): (Oracle<'a>, Hints),
) -> Result<Builder<'a>, Open> {
    let out_of_range = || Open::NotExpressible("numbers or terms out of range".to_owned());
    let mut builder = Builder::new(protocol, Level::Block, scope, oracle);
    // The second place is that of a thread of which nothing is said: what both would agree about is uniform.
    for side in Side::BOTH {
        builder.environments.push(Env { side, iterations: Vec::new(), carried: Vec::new(), certain: true });
    }
    let spot = Spot::Claim(claim.before);
    let usable = protocol
        .facts
        .iter()
        .enumerate()
        .filter(|(number, fact)| spot.may_use(*number, fact) && fact.is_passed(&claim.loops, &claim.guards));
    // What holds outside of all loops is known before the values are looked at that loops move.
    let (within, outside): (Vec<_>, Vec<_>) = usable.map(|(_, fact)| fact).partition(|fact| !fact.loops.is_empty());
    outside.into_iter().for_each(|fact| builder.state_fact(fact, 0));
    for (depth, &id) in claim.loops.iter().enumerate() {
        builder.enter_privately(id, depth, 0).ok_or_else(out_of_range)?;
    }
    within.into_iter().for_each(|fact| builder.state_fact(fact, 0));
    builder.launch_bounds().ok_or_else(out_of_range)?;
    builder.assume_guards(0, &claim.loops, &claim.guards);
    builder.promote_signs();
    let alternatives = builder.truth(claim.cond, 0, Polarity::Fails);
    builder.disjunction(alternatives);
    conflict::finish(&mut builder, hints).ok_or_else(out_of_range)?;
    Ok(builder)
}
