//! Conflict conditions: from a protocol and a pair of accesses to a state that the rules can refute.
//!
//! A [`Condition`] says of two distinct threads that both reach their access, in the turns that the pair's
//! meeting allows, and touch a common byte. It is over-approximated wherever something cannot be expressed:
//! a guard is dropped, a value becomes unknown. So a contradiction means that there is no conflict, under the
//! assumptions that were noted.
//!
//! - [`integers`], [`division`], [`bits`]: expressions as polynomials, with C's meaning
//!   (docs/RULES.md, "2. From source to state").
//! - [`choices`]: values that conditions choose. [`truth`]: guards as alternatives of literals; [`last_iteration`],
//!   [`numbered_iterations`]: what loops left. [`variables`]: loops and unknown values (docs/RULES.md, "2.7 LOOPS").
//! - [`oracle`]: the questions of sign that this asks, so that the checker can build the same without search.
//! - [`claim`]: a claim that fails in one thread, or in two. [`disagreement`]: threads that disagree about a sync.
//! - [`groups`]: threads of one warp, or of two. [`whole_numbers`]: bounds of whole numbers.
//! - [`sampling`]: concrete points. [`points`]: conditions against the meaning of the protocol. [`pairs`]: which pairs there
//!   are. [`meeting`]: syncs that were passed. [`readings`]: the names of what gives a condition more than it was made of.
//!
//! Whom atomics order is handed in ([`Order`]). Deliberately absent: any search beyond SIGN's, rules, kernels, solvers.

mod atoms;
mod bits;
mod builder;
mod choices;
mod claim;
mod conflict;
mod disagreement;
mod division;
mod draft;
mod environments;
mod facts;
mod groups;
mod integers;
mod last_iteration;
mod launch;
mod meeting;
mod numbered_iterations;
mod oracle;
mod pairs;
mod pieces;
mod points;
mod readings;
mod sameness;
mod sampling;
mod tickets;
mod truth;
mod variables;
mod whole_numbers;
mod wrapping;

use super::hand_over::Order;
use super::state::poly::{Atom, Poly};
use super::state::sign::Certificate;
use super::state::{Alternative, Literal, State};
use super::{Assumption, Open, Pair, Scope};
use crate::protocol::Protocol;
use oracle::Oracle;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub use claim::{Place, failures, replay_failures};
pub(in crate::prove) use disagreement::{Question, questions};
pub use disagreement::{guard_conditions, replay_guards};
pub use pairs::{SameValue, pairs, same_value};
pub use readings::Reading;

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
    /// Rules by which it was read.
    pub readings: BTreeSet<Reading>,
}

impl Condition {
    fn of(builder: builder::Builder<'_>) -> Result<Condition, &'static str> {
        Ok(Condition {
            rulings: builder.draft.oracle.finish()?,
            state: builder.draft.state,
            assumptions: builder.draft.assumptions.into_iter().collect(),
            names: builder.draft.atoms.names,
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
) -> Result<State, String> {
    let builder = conflict::build(protocol, pair, scope, order, Oracle::replaying(rulings), conflict::Hints::Unwanted)
        .map_err(|open| format!("{open:?}"))?;
    if !builder.is_ordered
        && let Some(disagreement) = points::disagreement(&builder, pair)
    {
        return Err(format!("it does not follow from the protocol: {disagreement}"));
    }
    Condition::of(builder).map(|condition| condition.state).map_err(str::to_owned)
}

/// Whether the assumptions of a protocol and the geometry hold at some point at all.
pub fn has_a_point(protocol: &Protocol, scope: &Scope) -> bool {
    conflict::has_a_point(protocol, scope)
}

/// What is assumed of launches, said of one thread.
pub(in crate::prove) fn assumed_of_launches(protocol: &Protocol, scope: &Scope) -> State {
    conflict::assumed(protocol, scope).draft.state
}

/// The condition as text, for people: equations, facts, disjunctions, and what tells the threads apart.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |atom: Atom| self.names.get(&atom).cloned().unwrap_or_else(|| format!("g{}", atom.index()));
        let show = |poly: &Poly| poly.display(&name);
        let literal = |literal: &Literal| match literal {
            Literal::Zero(poly) => format!("{} = 0", show(poly)),
            Literal::NonNegative(poly) => format!("{} >= 0", show(poly)),
        };
        for equation in &self.state.equations {
            writeln!(f, "equation     {} = 0", show(equation))?;
        }
        for fact in &self.state.facts {
            writeln!(f, "fact         {} >= 0", show(fact))?;
        }
        for alternatives in &self.state.disjunctions {
            let all = |alternative: &Alternative| alternative.iter().map(literal).collect::<Vec<_>>().join(" and ");
            writeln!(f, "either       {}", alternatives.iter().map(all).collect::<Vec<_>>().join("  or  "))?;
        }
        for xor in &self.state.xors {
            writeln!(f, "xor          {} = {} ^ {}", show(&xor.value), show(&xor.argument), show(&xor.mask))?;
        }
        for toggle in &self.state.toggles {
            writeln!(f, "toggle       {}", show(toggle))?;
        }
        let non_negative: Vec<String> = self.state.non_negative.iter().map(name).collect();
        writeln!(f, "not negative {}", non_negative.join(", "))?;
        for (first, second) in &self.state.coordinates {
            writeln!(f, "may differ   {} and {}", show(first), show(second))?;
        }
        Ok(())
    }
}
