//! Bounds of pure expressions over ids and sizes, as far as a loop's comparison needs them.

use crate::calculus::{Axis, BinaryOp, Expr, ExprId, GeometryVar, Rules, ScalarType};
use crate::lower::pass::Pass;

const MAX_DEPTH: usize = 24;

impl Pass<'_> {
    /// Least and greatest value that `expr` can have; signed overflow is taken not to happen.
    pub(in crate::lower) fn range(&self, expr: ExprId) -> Option<(i128, i128)> {
        self.range_within(expr, MAX_DEPTH)
    }

    fn range_within(&self, expr: ExprId, depth: usize) -> Option<(i128, i128)> {
        let exprs = &self.kernel.exprs;
        let whole = exprs.ty(expr).range()?;
        let Some(depth) = depth.checked_sub(1) else { return Some(whole) };
        let found = match &exprs[expr] {
            Expr::Int(value, _) => Some((*value, *value)),
            Expr::Geometry(var) => Some(geometry_range(self.kernel.geometry.platform.rules(), *var)),
            Expr::Convert(_, inner) => self.range_within(*inner, depth).filter(|range| within(*range, whole)),
            Expr::Select(_, a, b) => {
                let (a, b) = (self.range_within(*a, depth)?, self.range_within(*b, depth)?);
                Some((a.0.min(b.0), a.1.max(b.1)))
            }
            Expr::Binary(op, a, b) if !op.is_boolean() => {
                let (a, b) = (self.range_within(*a, depth)?, self.range_within(*b, depth)?);
                binary_range(*op, a, b, exprs.ty(expr))
            }
            _ => None,
        };
        Some(found.unwrap_or(whole))
    }
}

fn within(inner: (i128, i128), outer: (i128, i128)) -> bool {
    outer.0 <= inner.0 && inner.1 <= outer.1
}

fn geometry_range(rules: &Rules, var: GeometryVar) -> (i128, i128) {
    let block = |axis: Axis| i128::from(rules.block[axis.index()]);
    // A counter that a loop compares with the size of a larger grid has overflowed before it gets there.
    let grid = |axis: Axis| i128::from(rules.grid[axis.index()].min(i32::MAX as u32));
    match var {
        GeometryVar::ThreadIdx(axis) => (0, block(axis) - 1),
        GeometryVar::BlockDim(axis) => (1, block(axis)),
        GeometryVar::BlockIdx(axis) => (0, grid(axis) - 1),
        GeometryVar::GridDim(axis) => (1, grid(axis)),
    }
}

fn binary_range(op: BinaryOp, a: (i128, i128), b: (i128, i128), ty: ScalarType) -> Option<(i128, i128)> {
    let whole = ty.range()?;
    let range = match op {
        BinaryOp::Add => (a.0 + b.0, a.1 + b.1),
        BinaryOp::Sub => (a.0 - b.1, a.1 - b.0),
        BinaryOp::Mul if a.0 >= 0 && b.0 >= 0 => (a.0.checked_mul(b.0)?, a.1.checked_mul(b.1)?),
        BinaryOp::Div if a.0 >= 0 && b.0 >= 0 => (0, a.1 / b.0.max(1)),
        BinaryOp::Rem if a.0 >= 0 && b.0 >= 0 => (0, a.1.min((b.1 - 1).max(0))),
        BinaryOp::Shr if a.0 >= 0 => (0, a.1),
        BinaryOp::BitAnd if a.0 >= 0 && b.0 >= 0 => (0, a.1.min(b.1)),
        // Of a negative number `&` takes no more than the bits of the other.
        BinaryOp::BitAnd if a.0 >= 0 => (0, a.1),
        BinaryOp::BitAnd if b.0 >= 0 => (0, b.1),
        BinaryOp::Min => (a.0.min(b.0), a.1.min(b.1)),
        BinaryOp::Max => (a.0.max(b.0), a.1.max(b.1)),
        _ => return None,
    };
    if within(range, whole) {
        return Some(range);
    }
    // Unsigned results wrap to anything; signed ones stay within the type.
    let signed = matches!(ty, ScalarType::Int { signed: true, .. });
    signed.then(|| (range.0.clamp(whole.0, whole.1), range.1.clamp(whole.0, whole.1)))
}
