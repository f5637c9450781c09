//! CASES (docs/RULES.md, "3.7 CASES"): toggles and disjunctions, each branch closed on its own.
//!
//! *Premises.* A uniform value that is 0 or 1; or a disjunction of the state.
//! *Conclusion.* Whatever every case leads to. *Proof.* The cases cover, which the checker verifies: it makes
//! them itself and asks for a branch for each.
//! *Trap.* A write through a clamp, `s[min(t, n-1)]`: two threads, one address; no case split proves it.

use crate::prove::state::State;
use crate::prove::state::poly::{Atom, Poly};

/// The state in which the toggle has this value.
pub fn toggle(state: &State, atom: Atom, value: i64) -> Option<State> {
    let mut state = state.clone();
    state.toggles.retain(|toggle| toggle.as_atom() != Some(atom));
    state.substitute(atom, &Poly::constant(value))?;
    Some(state)
}

/// The state in which this alternative of the disjunction holds.
pub fn alternative(state: &State, disjunction: usize, alternative: usize) -> Option<State> {
    let mut state = state.clone();
    if disjunction >= state.disjunctions.len() {
        return None;
    }
    let alternatives = state.disjunctions.remove(disjunction);
    state.early -= usize::from(disjunction < state.early);
    let chosen = alternatives.get(alternative)?;
    state.assume(chosen);
    for literal in chosen {
        match literal {
            crate::prove::state::Literal::Zero(poly) => state.samples.keep_where_zero(poly),
            crate::prove::state::Literal::NonNegative(poly) => state.samples.keep_where_not_negative(poly),
        }
    }
    Some(state)
}
