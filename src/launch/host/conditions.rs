//! What conditions say of the variables in them, where control has got past them: `if (pitch < width) return;`,
//! `if (n % 256) exit(1);`, `assert(n <= 1024)`.
//!
//! Comparisons, `&&`, `||`, `!` and numbers as conditions are read, and tests for powers of two; of `a && b` that does not
//! hold nothing is said, as of `a || b` that does. A condition that changes a variable says nothing.
//!
//! An assertion counts as stated, though a build may leave it out: the source says that it holds.
//!
//! Deliberately absent: conditions that hold in a variable, and what functions say.

use super::place::Place;
use super::sums::{Sum, Symbol};
use super::ways::never_comes_back;
use crate::resolve::program::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::syntax;
use crate::syntax::parts::path_text;

impl<'u> Place<'_, 'u> {
    /// Takes note of what a condition says that holds here, or does not.
    pub(super) fn assume_written(&mut self, cond: &'u syntax::Expr, truth: bool) {
        if self.changed.has_jumps || !self.changes_in(None, Some(cond)).is_empty() {
            return;
        }
        let cond = self.names.value(cond);
        self.assume(&cond, truth);
    }

    /// Takes note of what an expression states for no other purpose: `assert(n <= 1024)`, and what becomes of it where a macro
    /// does the same.
    pub(super) fn assume_stated(&mut self, value: &'u syntax::Expr) {
        match &value.kind {
            syntax::ExprKind::Call(callee, args) => {
                if let ([cond], syntax::ExprKind::Path(path)) = (args.as_slice(), &callee.kind)
                    && path_text(path) == "assert"
                {
                    self.assume_written(cond, true);
                }
            }
            syntax::ExprKind::Conditional(cond, one, other) => match (never_comes_back(one), never_comes_back(other)) {
                (true, false) => self.assume_written(cond, false),
                (false, true) => self.assume_written(cond, true),
                _ => {}
            },
            syntax::ExprKind::Cast(_, _, inner) => self.assume_stated(inner),
            _ => {}
        }
    }

    /// The same of a condition that changes nothing.
    pub(super) fn assume(&mut self, cond: &Expr, truth: bool) {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        match &cond.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.assume(inner, !truth),
            ExprKind::And(one, other) | ExprKind::Binary(BinaryOp::And, one, other) if truth => {
                self.assume(one, true);
                self.assume(other, true);
            }
            ExprKind::Or(one, other) | ExprKind::Binary(BinaryOp::Or, one, other) if !truth => {
                self.assume(one, false);
                self.assume(other, false);
            }
            ExprKind::Binary(op @ (Eq | Ne | Lt | Le | Gt | Ge), left, right) => {
                if (*op == Eq) == truth && matches!(op, Eq | Ne) && self.names.constant(right) == Some(0) {
                    self.assume_power(left);
                }
                if let (Some(left), Some(right)) = (self.sum_of(left), self.sum_of(right)) {
                    self.assume_compared(*op, truth, &left, &right);
                }
            }
            ExprKind::Convert(inner) if self.int_type(inner.ty).is_some() && self.int_type(cond.ty).is_some() => {
                match self.int_type(inner.ty).is_some_and(|ty| ty.width == 1) {
                    true => self.assume(inner, truth),
                    false => self.assume_number(inner, truth),
                }
            }
            _ if self.int_type(cond.ty).is_some_and(|ty| ty.width > 1) => self.assume_number(cond, truth),
            _ => {}
        }
    }

    /// A number as a condition: it is not zero, or it is.
    fn assume_number(&mut self, value: &Expr, truth: bool) {
        if !truth {
            self.assume_power(value);
        }
        if let Some(sum) = self.sum_of(value) {
            self.assume_compared(BinaryOp::Ne, truth, &sum, &Sum::number(0));
        }
    }

    fn assume_compared(&mut self, op: BinaryOp, truth: bool, left: &Sum, right: &Sum) {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        let op = match (op, truth) {
            (_, true) => op,
            (Eq, false) => Ne,
            (Ne, false) => Eq,
            (Lt, false) => Ge,
            (Le, false) => Gt,
            (Gt, false) => Le,
            _ => Lt,
        };
        let (up, down) = (left.minus(right), right.minus(left));
        let strictly = |sum: Option<Sum>| sum.and_then(|sum| sum.plus(&Sum::number(-1)));
        let holds: Vec<Sum> = match op {
            Lt => strictly(down).into_iter().collect(),
            Le => down.into_iter().collect(),
            Gt => strictly(up).into_iter().collect(),
            Ge => up.into_iter().collect(),
            Eq => up.into_iter().chain(down).collect(),
            // What is on one side, and not there, is beyond it.
            _ => {
                let sides = [up, down].into_iter().flatten().filter(|side| self.values.constraints.implies(side));
                sides.filter_map(|side| strictly(Some(side))).collect()
            }
        };
        holds.into_iter().for_each(|sum| self.values.constraints.add(sum));
    }

    /// `n & (n - 1)` is zero: `n` is a power of two, or zero, or the least number of its type.
    fn assume_power(&mut self, value: &Expr) {
        let ExprKind::Binary(BinaryOp::BitAnd, one, other) = &value.kind else { return };
        for (whole, less) in [(one, other), (other, one)] {
            let ExprKind::Binary(BinaryOp::Sub, from, by) = &less.kind else { continue };
            if self.names.constant(by) != Some(1) {
                continue;
            }
            let (Some(whole), Some(from)) = (self.sum_of(whole), self.sum_of(from)) else { continue };
            if let Some((symbol @ Symbol::Variable(_), 1)) = whole.multiple().filter(|_| whole == from) {
                self.values.constraints.add_power(symbol);
            }
        }
    }
}
