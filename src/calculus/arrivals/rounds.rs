//! What values are at a step in the turns of its loop.
//!
//! A value that follows from the number of the turn is known by its form ([`Numbers::period`](super::numbers::Numbers)).
//! Others are carried from turn to turn: a stage that starts again at 0, a phase that is toggled. For these the assignments
//! are executed as far as they are known, whatever the number of the thread, from the beginning of the kernel and then turn by
//! turn, until all that a turn begins with is as it was in the first one: from there on everything comes again.
//!
//! Deliberately absent: carried values that depend on the number of the turn as well, and what only comes again later.

use super::numbers::{Known, MOST_OBJECTS, Numbers};
use super::steps::{Found, Spot};
use crate::calculus::statements::{assigned, every};
use crate::calculus::{ExprId, SiteId, Stmt, VarId};
use rustc_hash::FxHashMap;

/// Turns are followed so far.
const MOST_TURNS: usize = 2 * MOST_OBJECTS as usize;

impl Found<'_> {
    /// The values of an expression at a step: that before or behind loops, or those of the first turns of its loop, after which
    /// they come again in the same order. `None` if they are not known.
    pub(super) fn values_at(&self, value: ExprId, step: &Spot) -> Option<Vec<i128>> {
        self.by_form(value, step).or_else(|| {
            let start = Run { numbers: &self.numbers, known: FxHashMap::default(), step: step.site, value };
            start.to_step(self.body, step.outer)
        })
    }

    fn by_form(&self, value: ExprId, step: &Spot) -> Option<Vec<i128>> {
        let Some(each) = step.outer else { return Some(vec![self.numbers.value(value, Known::default())?]) };
        let head = self.heads.get(&each)?;
        let period = self.numbers.period(value, head.var, head.signed)?;
        let at = |turn: u64| {
            let turn = Some((head.var, head.start + i128::from(turn)));
            self.numbers.value(value, Known { turn, ..Known::default() })
        };
        (0..period.min(MOST_OBJECTS)).map(at).collect()
    }
}

/// A run of the assignments.
struct Run<'n> {
    numbers: &'n Numbers<'n>,
    /// The variables that have a known value.
    known: FxHashMap<VarId, i128>,
    step: SiteId,
    value: ExprId,
}

impl Run<'_> {
    /// Runs to the step, and on through the turns of the loop that it is in.
    fn to_step(mut self, body: &[Stmt], outer: Option<SiteId>) -> Option<Vec<i128>> {
        let mut body = body;
        loop {
            let at = body.iter().position(|stmt| holds(std::slice::from_ref(stmt), self.step))?;
            body[..at].iter().for_each(|stmt| self.pass(stmt));
            body = match &body[at] {
                Stmt::Sync { .. } => return Some(vec![self.now(self.value)?]),
                Stmt::If { then, otherwise, .. } => {
                    if holds(then, self.step) {
                        then
                    } else {
                        otherwise
                    }
                }
                Stmt::For(each) if Some(each.site) == outer => {
                    self.known.remove(&each.var);
                    return self.turns(&each.body);
                }
                _ => return None,
            };
        }
    }

    fn turns(&mut self, body: &[Stmt]) -> Option<Vec<i128>> {
        let carried = assigned(body);
        let state =
            |run: &Self| -> Vec<Option<i128>> { carried.iter().map(|var| run.known.get(var).copied()).collect() };
        // What is not carried has no value at the beginning of a turn.
        let mut values = Vec::new();
        let first = state(self);
        for _ in 0..MOST_TURNS {
            let mut found = None;
            self.turn(body, &mut found);
            values.push(found?);
            for (var, was) in carried.iter().zip(&first) {
                if was.is_none() {
                    self.known.remove(var);
                }
            }
            if state(self) == first {
                return Some(values);
            }
        }
        None
    }

    /// One turn of those threads that come to the step.
    fn turn(&mut self, body: &[Stmt], found: &mut Option<i128>) {
        for stmt in body {
            match stmt {
                Stmt::Sync { site, .. } if *site == self.step => *found = self.now(self.value),
                Stmt::If { then, otherwise, .. } if holds(std::slice::from_ref(stmt), self.step) => {
                    self.turn(if holds(then, self.step) { then } else { otherwise }, found);
                }
                _ => self.pass(stmt),
            }
        }
    }

    fn pass(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let { var, value } => match self.now(*value) {
                Some(value) => _ = self.known.insert(*var, value),
                None => _ = self.known.remove(var),
            },
            Stmt::If { cond, then, otherwise } => match self.now(*cond) {
                Some(cond) => {
                    (if cond != 0 { then } else { otherwise }).iter().for_each(|stmt| self.pass(stmt));
                }
                None => self.forget(std::slice::from_ref(stmt)),
            },
            _ => self.forget(std::slice::from_ref(stmt)),
        }
    }

    fn forget(&mut self, body: &[Stmt]) {
        for var in assigned(body) {
            self.known.remove(&var);
        }
    }

    fn now(&self, value: ExprId) -> Option<i128> {
        self.numbers.value(value, Known { carried: Some(&self.known), ..Known::default() })
    }
}

/// Whether a step stands there.
fn holds(body: &[Stmt], step: SiteId) -> bool {
    let mut holds = false;
    every(body, |stmt| holds |= matches!(stmt, Stmt::Sync { site, .. } if *site == step));
    holds
}
