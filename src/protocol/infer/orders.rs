//! What `!=` in the test of a counted loop stands for: where the steps lead from the start to the bound, the order of the two, as
//! from `row` to `row + 8` by 2. Iterators are compared so.
//!
//! Guarantees: only what overflows would see a difference, and signed types do not ([`crate::calculus::arithmetic`]); of unsigned
//! ones both ends are numbers.
//!
//! Deliberately absent: ends that lie an unknown number of steps apart, since nothing says in which direction.

use super::state::State;
use crate::calculus::{BinaryOp, Expr, ExprId, For, ScalarType};
use std::collections::BTreeMap;

/// Sums of more parts are not looked into.
const MOST_PARTS: usize = 64;

/// The loop, if another test stands for its own; without its body.
pub(super) fn ordered(state: &mut State<'_>, each: &For) -> Option<For> {
    if each.cmp != BinaryOp::Ne {
        return None;
    }
    let by = match (each.step.op, state.kernel.exprs.as_int(each.step.by)?) {
        (BinaryOp::Add, by) if by != 0 => by,
        (BinaryOp::Sub, by) if by != 0 => by.checked_neg()?,
        _ => return None,
    };
    let start = state.evaluate(each.start);
    let bound = state.evaluate(each.bound);
    let exprs = &state.out.exprs;
    let is_signed = matches!(exprs.ty(start), ScalarType::Int { signed: true, .. });
    if !is_signed && [start, bound].iter().any(|&end| exprs.as_int(end).is_none()) {
        return None;
    }
    let mut way = Sum::default();
    way.add(state, bound, 1)?;
    way.add(state, start, -1)?;
    let leads_there = way.terms.values().all(|&times| times == 0) && way.number % by == 0 && way.number / by >= 0;
    let cmp = if by > 0 { BinaryOp::Lt } else { BinaryOp::Gt };
    let &For { var, start, bound, step, site, .. } = each;
    leads_there.then(|| For { var, start, cmp, bound, step, body: Vec::new(), site })
}

/// A sum of multiples of expressions and a number.
#[derive(Default)]
struct Sum {
    terms: BTreeMap<ExprId, i128>,
    number: i128,
    /// How many expressions were looked at.
    parts: usize,
}

impl Sum {
    /// Adds a multiple of an expression; `None` where that grows too large.
    fn add(&mut self, state: &State<'_>, expr: ExprId, times: i128) -> Option<()> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return None;
        }
        let exprs = &state.out.exprs;
        match exprs[expr] {
            Expr::Int(number, _) => self.number = self.number.checked_add(number.checked_mul(times)?)?,
            Expr::Binary(BinaryOp::Add, a, b) => {
                self.add(state, a, times)?;
                self.add(state, b, times)?;
            }
            Expr::Binary(BinaryOp::Sub, a, b) => {
                self.add(state, a, times)?;
                self.add(state, b, times.checked_neg()?)?;
            }
            Expr::Binary(BinaryOp::Mul, a, b) if exprs.as_int(b).is_some() => {
                self.add(state, a, times.checked_mul(exprs.as_int(b)?)?)?;
            }
            _ => {
                let place = self.terms.entry(expr).or_default();
                *place = place.checked_add(times)?;
            }
        }
        Some(())
    }
}
