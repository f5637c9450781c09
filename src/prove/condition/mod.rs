//! Conflict conditions: from a protocol and a pair of accesses to a state that the rules can refute.
//!
//! A [`Condition`] says of two distinct threads that both reach their access, in the turns that the pair's
//! meeting allows, and touch a common byte. It is over-approximated wherever something cannot be expressed:
//! a guard is dropped, a value becomes unknown. So a contradiction means that there is no conflict, under the
//! assumptions that were noted.
//!
//! - [`integers`], [`division`], [`bits`]: expressions as polynomials, with C's meaning (RULES, 2.2 to 2.6, 2.8).
//! - [`truth`]: guards as alternatives of literals. [`variables`]: loops and unknown values (2.7).
//! - [`oracle`]: the questions of sign that this asks, so that the checker can build the same without search.
//! - [`sampling`]: concrete points. [`pairs`]: which pairs there are. [`meeting`]: syncs that were passed.
//!
//! Deliberately absent: any search beyond SIGN's, kernels, solvers.

mod bits;
mod builder;
mod conflict;
mod division;
mod integers;
mod meeting;
mod oracle;
mod pairs;
mod sampling;
mod truth;
mod uniform;
mod variables;
mod words;

use super::rules::poly::Atom;
use super::rules::sign::Certificate;
use super::rules::state::State;
use super::{Assumption, Open, Pair, Scope};
use crate::protocol::Protocol;
use oracle::Oracle;
use std::collections::BTreeMap;

pub use pairs::{SameValue, pairs, same_value};
pub use uniform::{Returned, guard_conditions, replay_guards};

/// A condition that has no solution if the rules refute its state.
pub struct Condition {
    /// What is known about the two threads.
    pub state: State,
    /// What the translation relies on, sorted.
    pub assumptions: Vec<Assumption>,
    /// Answers to the questions of sign that came up.
    pub rulings: Vec<Option<Certificate>>,
    /// Names of atoms, for reading.
    pub names: BTreeMap<Atom, String>,
}

impl Condition {
    fn of(builder: builder::Builder<'_>) -> Result<Condition, &'static str> {
        Ok(Condition {
            rulings: builder.oracle.finish()?,
            state: builder.state,
            assumptions: builder.assumptions.into_iter().collect(),
            names: builder.names,
        })
    }
}

/// The condition that the two accesses of `pair` conflict.
pub fn build(protocol: &Protocol, pair: &Pair, scope: &Scope) -> Result<Condition, Open> {
    let builder = conflict::build(protocol, pair, scope, Oracle::searching(), conflict::Hints::Wanted)?;
    Condition::of(builder).map_err(|fault| Open::NotExpressible(fault.to_owned()))
}

/// The same condition, built with the rulings of a derivation instead of a search; every one is verified.
pub fn rebuild(
    protocol: &Protocol,
    pair: &Pair,
    scope: &Scope,
    rulings: &[Option<Certificate>],
) -> Result<State, String> {
    let builder = conflict::build(protocol, pair, scope, Oracle::replaying(rulings), conflict::Hints::Unwanted)
        .map_err(|open| format!("{open:?}"))?;
    Condition::of(builder).map(|condition| condition.state).map_err(str::to_owned)
}

/// Whether the assumptions of a protocol and the geometry hold at some point at all.
pub fn has_a_point(protocol: &Protocol, scope: &Scope) -> bool {
    conflict::has_a_point(protocol, scope)
}
