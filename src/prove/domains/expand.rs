//! Differences as sums of products, so that what both sides share falls away.
//!
//! `i*n + j - (i*n + k)` says nothing about `j` and `k` while `n` is open, if it is looked at operator by
//! operator; `j - k` does.

use super::{NodeId, Op, Problem};
use crate::calculus::{BinaryOp, ScalarType, UnaryOp};
use std::collections::BTreeMap;

/// Terms beyond which a product is not multiplied out.
const MOST_TERMS: usize = 40;
/// Factors beyond which a product is not multiplied out.
const MOST_FACTORS: usize = 6;
/// Depth beyond which operators are left as they are.
const DEPTH: u32 = 60;

/// Operators that are looked at in all; shared ones count each time.
const WORK: u32 = 2_000;

/// Coefficients of products of nodes.
type Sum = BTreeMap<Vec<NodeId>, i64>;

impl Problem {
    /// A node that is `a - b` wherever nothing wraps.
    pub(in crate::prove) fn difference(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let mut work = WORK;
        let left = self.expand(a, DEPTH, &mut work);
        let expanded = left.zip(self.expand(b, DEPTH, &mut work)).and_then(|(a, b)| plus(a, &b, -1));
        match expanded {
            Some(sum) => self.sum(&sum),
            None => self.wide(BinaryOp::Sub, a, b),
        }
    }

    fn sum(&mut self, sum: &Sum) -> NodeId {
        let mut total = self.constant(0);
        for (factors, &coefficient) in sum {
            let mut product = self.constant(coefficient);
            for &factor in factors {
                product = self.wide(BinaryOp::Mul, product, factor);
            }
            total = self.wide(BinaryOp::Add, total, product);
        }
        total
    }

    /// The node as a sum; itself where its operator is none of those of sums. `None` if numbers overflow.
    fn expand(&self, node: NodeId, depth: u32, work: &mut u32) -> Option<Sum> {
        let whole = || Some(Sum::from([(vec![node], 1)]));
        let (Some(depth), Some(less)) = (depth.checked_sub(1), work.checked_sub(1)) else { return whole() };
        *work = less;
        let mut of = |operand: NodeId| self.expand(operand, depth, work);
        match self.ops[node as usize] {
            Op::Constant(value) => Some(Sum::from([(Vec::new(), value)])),
            Op::Convert(ty, a) if ty != ScalarType::Bool => of(a),
            Op::Unary(UnaryOp::Neg, a, _) => plus(Sum::new(), &of(a)?, -1),
            Op::Binary(BinaryOp::Add, a, b, _) => plus(of(a)?, &of(b)?, 1),
            Op::Binary(BinaryOp::Sub, a, b, _) => plus(of(a)?, &of(b)?, -1),
            Op::Binary(BinaryOp::Mul, a, b, _) => times(&of(a)?, &of(b)?).or_else(whole),
            Op::Binary(BinaryOp::Shl, a, b, _) => match self.ops[b as usize] {
                Op::Constant(by @ 0..32) => plus(Sum::new(), &of(a)?, 1 << by),
                _ => whole(),
            },
            _ => whole(),
        }
    }
}

/// `a + factor * b`
fn plus(mut a: Sum, b: &Sum, factor: i64) -> Option<Sum> {
    for (product, coefficient) in b {
        let total = a.entry(product.clone()).or_insert(0);
        *total = total.checked_add(coefficient.checked_mul(factor)?)?;
    }
    a.retain(|_, coefficient| *coefficient != 0);
    (a.len() <= MOST_TERMS).then_some(a)
}

fn times(a: &Sum, b: &Sum) -> Option<Sum> {
    let mut product = Sum::new();
    for (left, x) in a {
        for (right, y) in b {
            let mut factors: Vec<NodeId> = left.iter().chain(right).copied().collect();
            factors.sort_unstable();
            let single = Sum::from([(factors, x.checked_mul(*y)?)]);
            product = plus(product, &single, 1)?;
        }
    }
    product.keys().all(|factors| factors.len() <= MOST_FACTORS).then_some(product)
}
