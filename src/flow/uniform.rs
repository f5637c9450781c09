//! What is known of definitions besides where they come from: whether all threads of a block have the same
//! value, and which value the first thread of a block has.
//!
//! Both serve [`super::covered`] alone and say nothing where it is not obvious.

use super::graph::NodeId;
use crate::calculus::{BinaryOp, Expr, ExprId, GeometryVar, Kernel, UnaryOp, arithmetic};
use rustc_hash::FxHashMap;

/// What is known of one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Trait {
    /// Equal in all threads of a block that compute it in equal turns of the loops around it.
    uniform: bool,
    /// The value of the thread (0, 0, 0).
    first: Option<i128>,
    /// For a condition: whether the first thread of the block meets it if any thread of the block does.
    met_by_first: bool,
}

/// What is known of the values of nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Traits {
    of: Vec<Trait>,
}

impl Traits {
    /// Makes room for nodes of which nothing is known.
    pub(super) fn grow(&mut self, nodes: usize) {
        self.of.resize(nodes.max(self.of.len()), Trait::default());
    }

    /// A definition as `value`.
    pub(super) fn assigned(&mut self, node: NodeId, kernel: &Kernel, env: &[NodeId], value: ExprId) {
        self.of[node.index()] = self.value(kernel, env, value);
    }

    /// A definition by one of these, or a condition.
    pub(super) fn joined(&mut self, node: NodeId, parts: &[NodeId]) {
        self.of[node.index()].uniform = parts.iter().all(|part| self.of[part.index()].uniform);
    }

    /// A condition of a branch, for the arm where it holds.
    pub(super) fn condition(&mut self, node: NodeId, kernel: &Kernel, env: &[NodeId], cond: ExprId) {
        let known = self.value(kernel, env, cond);
        let met_by_first = known.uniform || known.first.is_some_and(|value| value != 0);
        self.of[node.index()] = Trait { met_by_first, ..known };
    }

    /// Turns a condition around, for the other arm.
    pub(super) fn negate(&mut self, node: NodeId) {
        let known = &mut self.of[node.index()];
        known.met_by_first = known.uniform || known.first == Some(0);
    }

    /// A counted loop with these bounds.
    pub(super) fn counted(&mut self, node: NodeId, kernel: &Kernel, env: &[NodeId], bounds: &[ExprId]) {
        let uniform = bounds.iter().all(|&bound| self.value(kernel, env, bound).uniform);
        self.of[node.index()] = Trait { uniform, first: None, met_by_first: uniform };
    }

    /// Whether the first thread of the block meets a condition if any thread of the block does.
    pub(super) fn is_met_by_first(&self, node: NodeId) -> bool {
        self.of[node.index()].met_by_first
    }

    /// Whether the first thread of a block certainly finds that `cond` holds.
    pub(super) fn holds_at_first(&self, kernel: &Kernel, env: &[NodeId], cond: ExprId) -> bool {
        self.value(kernel, env, cond).first.is_some_and(|value| value != 0)
    }

    fn value(&self, kernel: &Kernel, env: &[NodeId], root: ExprId) -> Trait {
        let mut done: FxHashMap<ExprId, Trait> = FxHashMap::default();
        kernel.exprs.visit(root, |id, node| {
            let known = match node {
                Expr::Var(var) => self.of[env[var.index()].index()],
                _ => composed(kernel, node, &done),
            };
            done.insert(id, known);
        });
        done.get(&root).copied().unwrap_or_default()
    }
}

fn composed(kernel: &Kernel, node: &Expr, done: &FxHashMap<ExprId, Trait>) -> Trait {
    let first = |operand: &ExprId| done[operand].first;
    let uniform = match node {
        Expr::Geometry(GeometryVar::ThreadIdx(_)) => false,
        _ => crate::calculus::operands(node).iter().all(|operand| done[operand].uniform),
    };
    let first = match node {
        Expr::Int(value, _) => Some(*value),
        Expr::Geometry(GeometryVar::ThreadIdx(_)) => Some(0),
        Expr::Convert(ty, a) if ty.range().is_some() && kernel.exprs.ty(*a).range().is_some() => {
            first(a).map(|value| arithmetic::wrap(value, *ty))
        }
        Expr::Unary(UnaryOp::Not, a) => first(a).map(|value| i128::from(value == 0)),
        Expr::Binary(BinaryOp::Mul | BinaryOp::BitAnd | BinaryOp::And, a, b)
            if first(a) == Some(0) || first(b) == Some(0) =>
        {
            Some(0)
        }
        Expr::Binary(op, a, b) if kernel.exprs.ty(*a).range().is_some() => match (first(a), first(b)) {
            (Some(a_value), Some(b_value)) => {
                arithmetic::binary(*op, a_value, b_value, kernel.exprs.ty(*a)).ok().map(|outcome| outcome.value)
            }
            _ => None,
        },
        _ => None,
    };
    Trait { uniform, first, met_by_first: false }
}
