//! Named barriers of PTX, `bar.sync id, n`: whom they are for.
//!
//! Such a barrier lets threads go on when `n` of them have arrived at barrier `id` of the block, wherever that was.
//! That it orders anything is said only where the arriving threads are known: the conditions around it that depend on
//! nothing but `threadIdx.x` hold for exactly `n` threads, whole warps, of every block that has so many, and all places
//! with that `id` have the same ones. That a block has so many is assumed, and told. What else stands around it is
//! asked like that of any barrier: the threads that it is for must agree about it.
//!
//! Deliberately absent: `bar.arrive`, threads that meet from two places, and numbers that are not constants. Such a
//! barrier is named and orders nothing in a proof; what it might order is no proved race either.

use super::definitions::Definitions;
use crate::calculus::{
    Among, Axis, Basis, BinaryOp, Expr, ExprId, Exprs, GeometryVar, Kernel, ScalarType, SiteId, Stmt, Unsupported,
    arithmetic, eval,
};

/// The function that stands for "arrives at the barrier" until the kernel is complete.
const ARRIVING: &str = "__arriving";
/// Threads of a block along its first axis.
const MOST: u32 = 1024;

/// The condition of the threads that arrive at a barrier where so many do, to be said when the kernel is complete.
pub(super) fn arriving(exprs: &mut Exprs, id: ExprId, count: ExprId) -> ExprId {
    exprs.call(ARRIVING, vec![id, count], ScalarType::Bool)
}

/// One place of a named barrier.
struct Place {
    site: SiteId,
    id: ExprId,
    count: ExprId,
    /// The conditions around it that are about `threadIdx.x` alone.
    named: ExprId,
}

/// Says whom the named barriers of the kernel are for.
pub(super) fn name(kernel: &mut Kernel) {
    let definitions = Definitions::of(kernel);
    let body = std::mem::take(&mut kernel.body);
    let mut places = Vec::new();
    let everyone = kernel.exprs.bool(true);
    collect(&definitions, &mut kernel.exprs, &body, everyone, &mut places);
    kernel.body = body;
    if places.is_empty() {
        return;
    }
    let answers: Vec<Result<Who, String>> = places.iter().map(|place| who(kernel, place, &places)).collect();
    for (place, answer) in places.iter().zip(answers) {
        match answer {
            Ok(who) => {
                let among = if who.is_block { Among::All } else { Among::Named(place.named) };
                change(&mut kernel.body, place.site, Some(among));
                let size = kernel.exprs.geometry(GeometryVar::BlockDim(Axis::X));
                let least = kernel.exprs.int(i128::from(who.least), ScalarType::U32);
                let op = if who.is_block { BinaryOp::Eq } else { BinaryOp::Ge };
                let cond = kernel.exprs.binary(op, size, least);
                let span = kernel.sites[place.site].span;
                kernel.body.insert(0, Stmt::Assume { cond, basis: Basis::Stated, span });
            }
            Err(reason) => {
                change(&mut kernel.body, place.site, None);
                let span = kernel.sites[place.site].span;
                let entry = Unsupported { span, reason, arrays: Some(Vec::new()), barriers: true };
                kernel.unsupported.push(entry);
            }
        }
    }
}

/// Whom a named barrier is for.
struct Who {
    /// Threads that a block has at least.
    least: u32,
    /// Whether it is for the whole block, which then has exactly so many threads.
    is_block: bool,
}

fn who(kernel: &Kernel, place: &Place, all: &[Place]) -> Result<Who, String> {
    let constant = |value: ExprId| kernel.exprs.as_int(value).and_then(|value| u32::try_from(value).ok());
    let not_taken = |why: &str| format!("named barrier: {why}, so that it is not taken to order anything");
    let (Some(id), Some(count)) = (constant(place.id), constant(place.count)) else {
        return Err(not_taken("its number or that of its threads is no constant"));
    };
    if count == 0 || count % eval::WARP != 0 {
        return Err(not_taken(&format!("{count} threads are no whole warps")));
    }
    let is_flat = kernel.exprs.iter().all(|(_, node)| match node {
        Expr::Geometry(GeometryVar::ThreadIdx(axis) | GeometryVar::BlockDim(axis)) => *axis == Axis::X,
        _ => true,
    });
    if !is_flat {
        return Err(not_taken("which threads of a block of several dimensions arrive is not known"));
    }
    if id == 0 && has_block_barrier(&kernel.body) {
        return Err(not_taken("barrier 0 is that of the whole block"));
    }
    if all
        .iter()
        .any(|other| constant(other.id).is_none_or(|id_of_other| id_of_other == id) && other.named != place.named)
    {
        return Err(not_taken("other threads may arrive at it elsewhere"));
    }
    if kernel.exprs.as_int(place.named) == Some(1) {
        return Ok(Who { least: count, is_block: true });
    }
    let named: Vec<u32> = (0..MOST).filter(|&x| value(&kernel.exprs, place.named, x) == Some(1)).collect();
    let warps = |x: &u32| named.binary_search(&(x ^ (eval::WARP - 1))).is_ok();
    match named.last() {
        Some(last) if named.len() == count as usize && named.iter().all(warps) => {
            Ok(Who { least: last + 1, is_block: false })
        }
        _ => Err(not_taken(&format!("it waits for {count} threads, and {} can arrive", named.len()))),
    }
}

fn has_block_barrier(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Sync { scope, among, .. } => *scope >= crate::calculus::SyncScope::Block && *among == Among::All,
        Stmt::If { then, otherwise, .. } => has_block_barrier(then) || has_block_barrier(otherwise),
        Stmt::For(each) => has_block_barrier(&each.body),
        Stmt::Loop { body, .. } => has_block_barrier(body),
        _ => false,
    })
}

/// Finds the named barriers of a body, which runs where `named` holds.
fn collect(definitions: &Definitions, exprs: &mut Exprs, body: &[Stmt], named: ExprId, places: &mut Vec<Place>) {
    for stmt in body {
        match stmt {
            Stmt::Sync { among: Among::Named(cond), site, .. } => {
                let (id, count) = match &exprs[*cond] {
                    Expr::Call(name, args, _) if name == ARRIVING => (args[0], args[1]),
                    _ => continue,
                };
                let (id, count) = (definitions.inlined(exprs, id), definitions.inlined(exprs, count));
                places.push(Place { site: *site, id, count, named });
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = definitions.inlined(exprs, *cond);
                let within = conjunction(exprs, named, cond);
                collect(definitions, exprs, then, within, places);
                let otherwise_cond = exprs.not(cond);
                let without = conjunction(exprs, named, otherwise_cond);
                collect(definitions, exprs, otherwise, without, places);
            }
            Stmt::For(each) => collect(definitions, exprs, &each.body, named, places),
            Stmt::Loop { body, .. } => collect(definitions, exprs, body, named, places),
            _ => {}
        }
    }
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
fn change(body: &mut Vec<Stmt>, at: SiteId, whom: Option<Among>) {
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
