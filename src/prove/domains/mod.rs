//! A small solver over integers: proposes values under which conditions hold.
//!
//! A [`Problem`] is a list of nodes, operands before what uses them: free values, constants and the operators
//! of the calculus with their machine meaning. Some nodes are required to lie in a range (a condition: to be
//! 1). [`Problem::solve`] narrows the range of every node by those of its operands and of its users
//! ([`narrow`]), and where that does not settle a free value, tries some of its values, the least first.
//!
//! Guarantees: a solution assigns every node what its operator gives in machine arithmetic, without a trap,
//! and every requirement holds; the effort is counted.
//!
//! Deliberately absent: completeness. Only a few values of a large range are tried, so that "none found" says
//! nothing; whoever asks for proofs must not ask here. What nodes stand for is the caller's business.

mod expand;
mod narrow;
mod search;
#[cfg(test)]
mod tests;

use crate::calculus::{BinaryOp, ScalarType, UnaryOp};
use rustc_hash::FxHashMap;

pub(super) use search::Effort;

/// A node of a problem.
pub(super) type NodeId = u32;

/// Numbers beyond are not looked at.
const FAR: i64 = 1 << 62;

/// All integers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) low: i64,
    pub(super) high: i64,
}

impl Range {
    pub(super) const TRUE: Range = Range::exactly(1);
    const FALSE: Range = Range::exactly(0);
    const TRUTH: Range = Range { low: 0, high: 1 };

    pub(super) const fn exactly(value: i64) -> Range {
        Range { low: value, high: value }
    }

    /// From `low` to `high`, as far as numbers are looked at.
    pub(super) fn new(low: i128, high: i128) -> Range {
        let clamp = |value: i128| value.clamp(-i128::from(FAR), i128::from(FAR)) as i64;
        Range { low: clamp(low), high: clamp(high) }
    }

    pub(super) fn of(ty: ScalarType) -> Range {
        let (least, greatest) = ty.range().unwrap_or((-i128::from(FAR), i128::from(FAR)));
        Range::new(least, greatest)
    }

    pub(super) fn value(self) -> Option<i64> {
        (self.low == self.high).then_some(self.low)
    }

    fn is_within(self, other: Range) -> bool {
        other.low <= self.low && self.high <= other.high
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Op {
    /// Any value; the number tells free values apart.
    Free(u32),
    Constant(i64),
    /// An operator on an operand of this type.
    Unary(UnaryOp, NodeId, ScalarType),
    /// An operator on operands of this type.
    Binary(BinaryOp, NodeId, NodeId, ScalarType),
    /// `c ? a : b`
    Select(NodeId, NodeId, NodeId),
    /// The operand in another type.
    Convert(ScalarType, NodeId),
}

/// A free value in the order in which values are chosen.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) node: NodeId,
    /// Values worth a try besides the least ones.
    pub(super) likely: Vec<i64>,
}

/// Nodes, what is required of them, and what may be chosen.
#[derive(Clone, Debug, Default)]
pub(super) struct Problem {
    ops: Vec<Op>,
    ranges: Vec<Range>,
    known: FxHashMap<Op, NodeId>,
    choices: Vec<Choice>,
    contradictory: bool,
}

impl Problem {
    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.ops.len()
    }

    /// The node for `op`; equal ones are one.
    pub(super) fn node(&mut self, op: Op) -> NodeId {
        let ops = &mut self.ops;
        let ranges = &mut self.ranges;
        *self.known.entry(op).or_insert_with(|| {
            ops.push(op);
            ranges.push(match op {
                Op::Constant(value) => Range::exactly(value),
                Op::Free(_) | Op::Select(..) => Range { low: -FAR, high: FAR },
                Op::Convert(ty, _) | Op::Unary(_, _, ty) => Range::of(ty),
                Op::Binary(op, _, _, _) if op.is_boolean() => Range::TRUTH,
                Op::Binary(_, _, _, ty) => Range::of(ty),
            });
            ops.len() as NodeId - 1
        })
    }

    pub(super) fn constant(&mut self, value: i64) -> NodeId {
        self.node(Op::Constant(value))
    }

    /// `a op b` on signed 64-bit operands.
    pub(super) fn wide(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> NodeId {
        self.node(Op::Binary(op, a, b, ScalarType::I64))
    }

    /// A free value within `range`, to be chosen after those that were made before it.
    pub(super) fn free(&mut self, range: Range, likely: Vec<i64>) -> NodeId {
        let node = self.node(Op::Free(self.choices.len() as u32));
        self.ranges[node as usize] = range;
        self.choices.push(Choice { node, likely });
        node
    }

    /// Requires `node` to lie within `range`.
    pub(super) fn require(&mut self, node: NodeId, range: Range) {
        let known = &mut self.ranges[node as usize];
        *known = Range { low: known.low.max(range.low), high: known.high.min(range.high) };
        self.contradictory |= known.low > known.high;
    }

    /// Chooses by `rank`, the least first; equal ranks in the order in which they were made.
    pub(super) fn order_choices(&mut self, rank: impl Fn(NodeId) -> u32) {
        self.choices.sort_by_key(|choice| rank(choice.node));
    }
}
