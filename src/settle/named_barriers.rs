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

use super::places::{self, At};
use crate::calculus::definitions::Definitions;
use crate::calculus::{
    Among, Axis, Basis, BinaryOp, ExprId, GeometryVar, Kernel, Placeholder, ScalarType, Stmt, SyncScope, Unsupported,
    eval,
};

/// One place of a named barrier.
struct Place {
    at: At,
    id: ExprId,
    count: ExprId,
}

/// Says whom the named barriers of the kernel are for.
pub(super) fn name(kernel: &mut Kernel) {
    let definitions = Definitions::of(kernel);
    let arriving = |placeholder| match placeholder {
        Placeholder::Numbered { number, threads } => Some([number, threads]),
        Placeholder::Mask(_) | Placeholder::Object { .. } => None,
    };
    let places: Vec<Place> = places::of(kernel, &definitions, &arriving)
        .into_iter()
        .map(|(at, [id, count])| {
            let [id, count] = [id, count].map(|value| definitions.inlined(&mut kernel.exprs, value));
            Place { at, id, count }
        })
        .collect();
    if places.is_empty() {
        return;
    }
    let answers: Vec<Result<Who, NotTaken>> = places.iter().map(|place| who(kernel, place, &places)).collect();
    for (place, answer) in places.iter().zip(answers) {
        match answer {
            Ok(who) => {
                let among = if who.is_block { Among::Counted } else { Among::Named(place.at.named) };
                places::change(&mut kernel.body, place.at.site, Some(among));
                let size = kernel.exprs.geometry(GeometryVar::BlockDim(Axis::X));
                let least = kernel.exprs.int(i128::from(who.least), ScalarType::U32);
                let op = if who.is_block { BinaryOp::Eq } else { BinaryOp::Ge };
                let cond = kernel.exprs.binary(op, size, least);
                let span = kernel.sites[place.at.site].span;
                kernel.body.insert(0, Stmt::Assume { cond, basis: Basis::Needed, span });
            }
            Err(why) => {
                let reason = format!("named barrier: {why}, so that it is not taken to order anything");
                places::change(&mut kernel.body, place.at.site, None);
                let span = kernel.sites[place.at.site].span;
                let entry = Unsupported { span, reason, arrays: Some(Vec::new()), barriers: true, is_of_thread: false };
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

/// Why it is not known whom a named barrier is for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum NotTaken {
    #[error("its number or that of its threads is no constant")]
    NoConstant,
    #[error("which threads of a block of several dimensions arrive is not known")]
    SeveralDimensions,
    #[error("barrier 0 is that of the whole block")]
    OfTheBlock,
    #[error("other threads may arrive at it elsewhere")]
    ArrivedAtElsewhere,
    #[error("{0} threads are no whole warps")]
    NoWarps(u32),
    #[error("it waits for {count} threads, and {arriving} can arrive")]
    OtherThreads { count: u32, arriving: usize },
}

fn who(kernel: &Kernel, place: &Place, all: &[Place]) -> Result<Who, NotTaken> {
    let constant = |value: ExprId| kernel.exprs.as_int(value).and_then(|value| u32::try_from(value).ok());
    let (Some(id), Some(count)) = (constant(place.id), constant(place.count)) else {
        return Err(NotTaken::NoConstant);
    };
    if count == 0 || count % eval::WARP != 0 {
        return Err(NotTaken::NoWarps(count));
    }
    if !places::is_flat(kernel) {
        return Err(NotTaken::SeveralDimensions);
    }
    if id == 0 && has_block_barrier(&kernel.body) {
        return Err(NotTaken::OfTheBlock);
    }
    if all
        .iter()
        .any(|other| constant(other.id).is_none_or(|id_of_other| id_of_other == id) && other.at.named != place.at.named)
    {
        return Err(NotTaken::ArrivedAtElsewhere);
    }
    if kernel.exprs.as_int(place.at.named) == Some(1) {
        return Ok(Who { least: count, is_block: true });
    }
    let named = places::threads(&kernel.exprs, place.at.named);
    let warps = |x: &u32| named.binary_search(&(x ^ (eval::WARP - 1))).is_ok();
    match named.last() {
        Some(last) if named.len() == count as usize && named.iter().all(warps) => {
            Ok(Who { least: last + 1, is_block: false })
        }
        _ => Err(NotTaken::OtherThreads { count, arriving: named.len() }),
    }
}

fn has_block_barrier(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Sync { scope, among, .. } => *scope >= SyncScope::Block && among.is_everyone(),
        Stmt::If { then, otherwise, .. } => has_block_barrier(then) || has_block_barrier(otherwise),
        Stmt::For(each) => has_block_barrier(&each.body),
        Stmt::Loop { body, .. } => has_block_barrier(body),
        _ => false,
    })
}
