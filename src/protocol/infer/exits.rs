//! What variables stand for after a loop.
//!
//! An affine variable has its first value plus its step times the number of turns, which is known for counted
//! loops of a constant step and a value of its own otherwise: one that is uniform if the loop is. So does one that
//! moves under a condition that stays.

use super::induction::{self, Induction, Trial};
use super::loops::{Head, set_from};
use super::state::{State, convert};
use crate::calculus::{BinaryOp, Expr, ExprId, For, ScalarType, SiteId};

/// A loop that has been executed.
pub(super) struct After<'k> {
    head: Head<'k>,
    site: SiteId,
    /// The first value of the loop variable, of a counted loop.
    start: Option<ExprId>,
    /// The number of turns, once it is asked for.
    turns: Option<ExprId>,
}

impl<'k> After<'k> {
    pub(super) fn new(head: Head<'k>, site: SiteId, trials: &[Trial]) -> Self {
        let start = match head {
            Head::For(each) => trials.iter().find(|trial| trial.var == each.var).map(|trial| trial.start),
            Head::Test(_) => None,
        };
        After { head, site, start, turns: None }
    }

    /// The value of a variable after the loop; `end` is its value at the end of a turn.
    pub(super) fn value(&mut self, state: &mut State<'_>, trial: Trial, induction: &Induction, end: ExprId) -> ExprId {
        let counted = match self.head {
            Head::For(each) if each.var == trial.var => Some(each),
            _ => None,
        };
        if *induction == Induction::Invariant && keeps_its_value(trial, end) {
            return trial.start;
        }
        if let Some(value) = counted.and_then(|each| counted_exit(state, each, trial)) {
            return value;
        }
        // A variable that moves in every turn, also in the one in which a `break` is taken.
        if matches!(induction, Induction::Affine { .. } | Induction::Guarded(..))
            && (counted.is_some() || trial.end == trial.next)
        {
            let turns = self.turns(state);
            if let Some(value) = induction::steady_value(state, trial.start, induction, turns) {
                return value;
            }
        }
        let mut from = vec![trial.start, end];
        from.extend(counted.map(|each| state.evaluate(each.step.by)));
        let (opaque, value) = state.loop_value(trial.var, self.site);
        set_from(state, opaque, from);
        value
    }

    fn turns(&mut self, state: &mut State<'_>) -> ExprId {
        if let Some(turns) = self.turns {
            return turns;
        }
        let counted = match (self.head, self.start) {
            (Head::For(each), Some(start)) => counted_turns(state, each, start),
            _ => None,
        };
        let turns = counted.unwrap_or_else(|| state.turns_value(self.site));
        self.turns = Some(turns);
        turns
    }
}

/// Whether a variable that has its first value at the start of every turn also has it when the loop ends;
/// a flag that ends the loop does not.
fn keeps_its_value(trial: Trial, end: ExprId) -> bool {
    end == trial.start || end == trial.symbol
}

/// Where a counted loop of step one leaves its variable.
fn counted_exit(state: &mut State<'_>, each: &For, trial: Trial) -> Option<ExprId> {
    let Expr::Int(1, _) = state.kernel.exprs[each.step.by] else { return None };
    let op = match (each.step.op, each.cmp) {
        (BinaryOp::Add, BinaryOp::Lt) => BinaryOp::Max,
        (BinaryOp::Sub, BinaryOp::Gt) => BinaryOp::Min,
        _ => return None,
    };
    let bound = state.evaluate(each.bound);
    Some(state.out.exprs.binary(op, trial.start, bound))
}

/// The number of turns of a counted loop with a constant step, in 64 bits, where nothing overflows. An unsigned
/// variable must move by one, or it could jump over its bound and wrap.
fn counted_turns(state: &mut State<'_>, each: &For, start: ExprId) -> Option<ExprId> {
    let &Expr::Int(step @ 1.., ScalarType::Int { width: ..=32, signed }) = &state.kernel.exprs[each.step.by] else {
        return None;
    };
    if !signed && step != 1 {
        return None;
    }
    let (up, inclusive) = match (each.step.op, each.cmp) {
        (BinaryOp::Add, BinaryOp::Lt) => (true, false),
        (BinaryOp::Add, BinaryOp::Le) => (true, true),
        (BinaryOp::Sub, BinaryOp::Gt) => (false, false),
        (BinaryOp::Sub, BinaryOp::Ge) => (false, true),
        _ => return None,
    };
    let bound = state.evaluate(each.bound);
    let exprs = &mut state.out.exprs;
    let (low, high) = if up { (start, bound) } else { (bound, start) };
    let (low, high) = (convert(exprs, ScalarType::I64, low), convert(exprs, ScalarType::I64, high));
    let zero = exprs.int(0, ScalarType::I64);
    let distance = exprs.binary(BinaryOp::Sub, high, low);
    let rounding = exprs.int(step - 1 + i128::from(inclusive), ScalarType::I64);
    let rounded = exprs.binary(BinaryOp::Add, distance, rounding);
    let room = exprs.binary(BinaryOp::Max, rounded, zero);
    let step = exprs.int(step, ScalarType::I64);
    Some(exprs.binary(BinaryOp::Div, room, step))
}
