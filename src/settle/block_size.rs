//! Whether a number is that of the threads of a block.
//!
//! Deliberately absent: numbers of threads along one axis of several.

use crate::calculus::{Axis, BinaryOp, Expr, ExprId, Exprs, GeometryVar, ScalarType};

/// Threads may have different numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the number of arrivals that it waits for is not known")]
pub(super) struct NotUniform;

/// What has to hold for a number to be that of the threads of a block; `None` if it is in any case.
pub(super) fn is_count(exprs: &mut Exprs, count: ExprId) -> Result<Option<ExprId>, NotUniform> {
    let mut uniform = true;
    exprs.visit(count, |_, node| {
        uniform &= !matches!(node, Expr::Var(_) | Expr::Call(..) | Expr::Geometry(GeometryVar::ThreadIdx(_)));
    });
    if !uniform {
        return Err(NotUniform);
    }
    let one = exprs.int(1, ScalarType::U32);
    let mut conds = Vec::new();
    match extents(exprs, count) {
        Some(has) => {
            for axis in Axis::ALL.into_iter().filter(|axis| !has[axis.index()]) {
                let extent = exprs.geometry(GeometryVar::BlockDim(axis));
                conds.push(exprs.binary(BinaryOp::Eq, extent, one));
            }
        }
        None => {
            let threads = Axis::ALL.into_iter().fold(one, |product, axis| {
                let extent = exprs.geometry(GeometryVar::BlockDim(axis));
                exprs.binary(BinaryOp::Mul, product, extent)
            });
            let threads = exprs.convert(ScalarType::I64, threads);
            conds.push(exprs.binary(BinaryOp::Eq, threads, count));
        }
    }
    Ok(conds.into_iter().reduce(|all, cond| exprs.and(all, cond)))
}

/// The axes whose extents a product is made of, if it is made of nothing else.
fn extents(exprs: &Exprs, value: ExprId) -> Option<[bool; 3]> {
    match exprs[value] {
        Expr::Geometry(GeometryVar::BlockDim(axis)) => Some(Axis::ALL.map(|other| other == axis)),
        // A block has so few threads that every type of 16 bits or more holds their number.
        Expr::Convert(ScalarType::Int { width: 16.., .. }, inner) => extents(exprs, inner),
        Expr::Binary(BinaryOp::Mul, a, b) => {
            let (a, b) = (extents(exprs, a)?, extents(exprs, b)?);
            Axis::ALL
                .iter()
                .all(|axis| !(a[axis.index()] && b[axis.index()]))
                .then(|| Axis::ALL.map(|axis| a[axis.index()] || b[axis.index()]))
        }
        _ => None,
    }
}
