//! Barriers that are for threads which only the complete kernel tells: their places, and which threads get there.
//!
//! Such a barrier stands as one with a placeholder until the kernel is complete. The threads that get to it are known by
//! the conditions around it that depend on nothing but `threadIdx.x`; other conditions are asked like those of any barrier.
//!
//! Deliberately absent: conditions about several dimensions.

use crate::calculus::definitions::Definitions;
use crate::calculus::{
    Among, Axis, BinaryOp, Expr, ExprId, Exprs, GeometryVar, Kernel, Placeholder, SiteId, Stmt, arithmetic,
};

/// Threads of a block along its first axis.
const MOST: u32 = 1024;

/// One place of such a barrier.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) site: SiteId,
    /// The conditions around it that are about `threadIdx.x` alone.
    pub(super) named: ExprId,
}

/// The places of barriers whose placeholder `told` knows, with what it tells.
pub(super) fn of<T>(
    kernel: &mut Kernel,
    definitions: &Definitions,
    told: &impl Fn(Placeholder) -> Option<T>,
) -> Vec<(At, T)> {
    let body = std::mem::take(&mut kernel.body);
    let mut places = Vec::new();
    let everyone = kernel.exprs.bool(true);
    collect((definitions, told), &mut kernel.exprs, &body, everyone, &mut places);
    kernel.body = body;
    places
}

/// Finds the barriers of a body, which runs where `named` holds.
fn collect<T>(
    known: (&Definitions, &impl Fn(Placeholder) -> Option<T>),
    exprs: &mut Exprs,
    body: &[Stmt],
    named: ExprId,
    places: &mut Vec<(At, T)>,
) {
    for stmt in body {
        match stmt {
            Stmt::Sync { among: Among::Placeholder(placeholder), site, .. } => {
                places.extend(known.1(*placeholder).map(|told| (At { site: *site, named }, told)));
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = known.0.inlined(exprs, *cond);
                let within = conjunction(exprs, named, cond);
                collect(known, exprs, then, within, places);
                let otherwise_cond = exprs.not(cond);
                let without = conjunction(exprs, named, otherwise_cond);
                collect(known, exprs, otherwise, without, places);
            }
            Stmt::For(each) => collect(known, exprs, &each.body, named, places),
            Stmt::Loop { body, .. } => collect(known, exprs, body, named, places),
            _ => {}
        }
    }
}

/// Whether nothing in the kernel is about axes of the block other than the first.
pub(super) fn is_flat(kernel: &Kernel) -> bool {
    kernel.exprs.iter().all(|(_, node)| match node {
        Expr::Geometry(GeometryVar::ThreadIdx(axis) | GeometryVar::BlockDim(axis)) => *axis == Axis::X,
        _ => true,
    })
}

/// The threads for which a condition about `threadIdx.x` alone holds.
pub(super) fn threads(exprs: &Exprs, named: ExprId) -> Vec<u32> {
    (0..MOST).filter(|&x| value(exprs, named, x) == Some(1)).collect()
}

/// Both conditions, as far as the second is about `threadIdx.x` alone.
fn conjunction(exprs: &mut Exprs, named: ExprId, cond: ExprId) -> ExprId {
    if let Expr::Binary(BinaryOp::And, a, b) = exprs[cond] {
        let named = conjunction(exprs, named, a);
        return conjunction(exprs, named, b);
    }
    let is_about_threads = value(exprs, cond, 0).is_some();
    if is_about_threads { exprs.and(named, cond) } else { named }
}

/// Gives the barrier at a site its threads, or takes it away.
pub(super) fn change(body: &mut Vec<Stmt>, at: SiteId, whom: Option<Among>) {
    body.retain_mut(|stmt| {
        match stmt {
            Stmt::Sync { among, site, .. } if *site == at => match whom {
                Some(whom) => *among = whom,
                None => return false,
            },
            Stmt::If { then, otherwise, .. } => {
                change(then, at, whom);
                change(otherwise, at, whom);
            }
            Stmt::For(each) => change(&mut each.body, at, whom),
            Stmt::Loop { body, .. } => change(body, at, whom),
            _ => {}
        }
        true
    });
}

/// The value in the thread with this `threadIdx.x`, if it depends on nothing else.
fn value(exprs: &Exprs, id: ExprId, x: u32) -> Option<i128> {
    match exprs[id] {
        Expr::Int(value, _) => Some(value),
        Expr::Geometry(GeometryVar::ThreadIdx(Axis::X)) => Some(i128::from(x)),
        Expr::Unary(op, a) => Some(arithmetic::unary(op, value(exprs, a, x)?, exprs.ty(a)).ok()?.value),
        Expr::Binary(op, a, b) => {
            let (left, right) = (value(exprs, a, x)?, value(exprs, b, x)?);
            Some(arithmetic::binary(op, left, right, exprs.ty(a)).ok()?.value)
        }
        Expr::Select(c, a, b) => {
            if value(exprs, c, x)? != 0 {
                value(exprs, a, x)
            } else {
                value(exprs, b, x)
            }
        }
        Expr::Convert(ty, a) if ty.range().is_some() => Some(arithmetic::wrap(value(exprs, a, x)?, ty)),
        _ => None,
    }
}
