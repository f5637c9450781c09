//! Conflict conditions: from a protocol and a pair of accesses to a state that the rules can refute.
//!
//! A [`Condition`] says of two distinct threads that both reach their access, in the iterations that the pair's
//! meeting allows, and touch a common byte. It is over-approximated wherever something cannot be expressed:
//! a guard is dropped, a value becomes unknown. So a contradiction means that there is no conflict, under the
//! assumptions that were noted.
//!
//! - [`building`]: from a protocol and a question to a condition. [`values`]: expressions as polynomials, with C's
//! meaning
//!   (docs/RULES.md, "2. From source to state"). [`draft`]: what was said so far.
//! - [`asking`]: questions while it is built. [`reading`]: what is asked of it once it is.
//!
//! Whom atomics order is handed in ([`Order`]). Deliberately absent: any search beyond SIGN's, rules, kernels, solvers.

mod asking;
mod building;
mod draft;
mod reading;
mod values;

use super::hand_over::Order;
use super::state::State;
use super::state::poly::Atom;
use super::state::sign::Certificate;
use super::{Assumption, LaunchValue, Open, Pair, Scope};
use crate::protocol::Protocol;
use asking::oracle::Oracle;
use building::conflict;
use reading::points;
use std::collections::{BTreeMap, BTreeSet};
use values::builder::Builder;

pub use building::claim::{Place, failures, replay_failures};
pub(in crate::prove) use building::disagreement::{Question, questions};
pub use building::disagreement::{guard_conditions, replay_guards};
pub use building::pairs::{SameValue, pairs, same_value};
pub use reading::readings::Reading;

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
    /// Which atoms are values of the launch.
    pub of_launch: BTreeMap<Atom, LaunchValue>,
    /// Rules by which it was read.
    pub readings: BTreeSet<Reading>,
}

/// Why a condition cannot be built with the rulings of a derivation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// It cannot be expressed.
    #[error("{0:?}")]
    Open(Open),
    /// The rulings are not those of this condition.
    #[error("{0}")]
    Rulings(&'static str),
    /// It says more than the protocol does.
    #[error("it does not follow from the protocol: {0}")]
    Disagreement(String),
}

impl From<Open> for ReplayError {
    fn from(open: Open) -> Self {
        ReplayError::Open(open)
    }
}

impl From<&'static str> for ReplayError {
    fn from(fault: &'static str) -> Self {
        ReplayError::Rulings(fault)
    }
}

impl Condition {
    fn of(builder: Builder<'_>) -> Result<Condition, &'static str> {
        Ok(Condition {
            rulings: builder.draft.oracle.finish()?,
            state: builder.draft.state,
            assumptions: builder.draft.assumptions.into_iter().collect(),
            names: builder.draft.atoms.names,
            of_launch: builder.draft.atoms.of_launch,
            readings: builder.draft.readings,
        })
    }
}

/// The condition that the two accesses of `pair` conflict, which atomics order like this.
pub(in crate::prove) fn build(
    protocol: &Protocol,
    pair: &Pair,
    scope: &Scope,
    order: &Order,
) -> Result<Condition, Open> {
    let builder = conflict::build(protocol, pair, scope, order, Oracle::searching(), conflict::Hints::Wanted)?;
    Condition::of(builder).map_err(|fault| Open::NotExpressible(fault.to_owned()))
}

/// The same condition, built with the rulings of a derivation instead of a search; every one is verified, and the
/// result is held against the meaning of the protocol at concrete points.
pub(in crate::prove) fn rebuild(
    protocol: &Protocol,
    pair: &Pair,
    scope: &Scope,
    order: &Order,
    rulings: &[Option<Certificate>],
) -> Result<State, ReplayError> {
    let builder = conflict::build(protocol, pair, scope, order, Oracle::replaying(rulings), conflict::Hints::Unwanted)?;
    if !builder.is_ordered
        && let Some(disagreement) = points::disagreement(&builder, pair)
    {
        return Err(ReplayError::Disagreement(disagreement));
    }
    Ok(Condition::of(builder)?.state)
}

/// Whether the assumptions of a protocol and the geometry hold at some point at all.
pub fn has_a_point(protocol: &Protocol, scope: &Scope) -> bool {
    conflict::has_a_point(protocol, scope)
}

/// What is assumed of launches, said of one thread.
pub(in crate::prove) fn assumed_of_launches(protocol: &Protocol, scope: &Scope) -> State {
    conflict::assumed(protocol, scope).draft.state
}
