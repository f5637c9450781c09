//! Numbers that one thread of a warp draws from a counter for others, too: AGGREGATED.
//!
//! ```text
//! votes = __ballot_sync(~0u, keep);
//! if (lane == 0) base = atomicAdd(count, __popc(votes));
//! base = __shfl_sync(~0u, base, 0);
//! if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = …;
//! ```
//!
//! One thread draws as many numbers as a mask names threads, a shuffle hands the first of them to all, and each thread
//! that is named adds its rank: how many of the named come before it. Each then has a number of its own, those from
//! `base` up to `base + popc(mask) - 1`, exactly as if each of them had drawn one by itself. So that is what is written:
//! behind the shuffle stands an atomic that adds 1 in every named thread, and its result stands for `base + rank`. That
//! such numbers differ is then what is said of any counter ([`Ticket`](crate::protocol::Ticket)).
//!
//! *Premises.*
//! - The draw adds `popc(mask)`, and the rank is one in the same mask: a vote of the whole warp, the threads that happen to
//!   be there (`__activemask`, `coalesced_threads`), or the whole warp itself (32 at least; the rank is the lane).
//! - The shuffle takes from the lane that the condition around the draw names: the first or the last of the mask, or the
//!   warp's first, which has the same mask because the whole warp voted. It stands in the same turns of all loops as the
//!   draw, and is the only one that takes from it.
//! - That lane comes to the shuffle whenever a thread that takes from it does: a shuffle from a thread that has ended, or
//!   left a loop, gives nothing. So what stands around it is the same for the warp, or is what the mask was voted for.
//! - Nothing but additions of what is not negative ever changes the counter, which is in global memory, and one cell for
//!   all: its place says nothing of the thread.
//!
//! *Trap.* A rank that counts the thread itself; one in another mask than was counted; a draw of 1 for all; a draw before a
//! loop around the shuffle; a counter that is set back; a thread that the mask does not name; lane 31, which a warp need not
//! have; a lane that has returned before.
//!
//! The drawn numbers come from a shadow of the counter, so that what else is drawn from it is not thought to be drawn by
//! each. It has the counter's name, since messages speak of it.
//!
//! Deliberately absent: wavefronts of HIP, whose size the device decides; masks of a part of the warp, `__match_any_sync`,
//! ranks in tiles of less than a warp, counters of a block.

mod place;
mod recognise;
mod sums;
mod walk;

use super::lanes;
use super::notes::Warps;
use crate::calculus::definitions::Definitions;
use crate::calculus::{ArrayId, AtomicOp, Expr, Kernel, Space, Stmt, statements};
use place::{Seen, State};
use recognise::{COUNT, stripped};
use rustc_hash::{FxHashMap, FxHashSet};
use walk::Walk;

/// Expressions that are nested deeper are left as they are.
const DEEPEST: usize = 100;

/// Writes draws for many as draws by each.
pub(super) fn share_out(kernel: &mut Kernel, calls: &Warps) {
    if calls.shuffles.is_empty() {
        return;
    }
    let counters = counters(kernel, calls);
    if counters.is_empty() {
        return;
    }
    let mentioned = lanes::mentioned(kernel);
    let body = std::mem::take(&mut kernel.body);
    let (loops, around, level, state) = (Vec::new(), Vec::new(), Vec::new(), State::default());
    let seen = Seen { kernel, calls, mentioned, loops, around, level, state };
    let body = Walk { seen, counters, shadows: FxHashMap::default() }.block(body);
    kernel.body = body;
}

/// The arrays of global memory that atomics alone change, by adding what is not negative.
fn counters(kernel: &mut Kernel, calls: &Warps) -> FxHashSet<ArrayId> {
    if kernel.unsupported.iter().any(|each| each.arrays.is_none()) {
        return FxHashSet::default();
    }
    let definitions = Definitions::of(kernel);
    let (mut drawn, mut other) = (FxHashSet::default(), FxHashSet::default());
    other.extend(kernel.unsupported.iter().flat_map(|each| each.arrays.iter().flatten().copied()));
    let mut added = Vec::new();
    statements::every(&kernel.body, |stmt| match stmt {
        Stmt::Write { access, .. } => _ = other.insert(access.array),
        Stmt::Atomic { access, op: AtomicOp::Add, operands, .. } => {
            drawn.insert(access.array);
            added.extend(operands.first().map(|operand| (access.array, *operand)));
        }
        Stmt::Atomic { access, .. } => _ = other.insert(access.array),
        _ => {}
    });
    for (array, amount) in added {
        let amount = definitions.inlined(&mut kernel.exprs, amount);
        let amount = stripped(kernel, amount);
        let is_count = match &kernel.exprs[amount] {
            Expr::Int(value, ty) => *value >= 0 && ty.range().is_some_and(|(_, most)| *value <= most / 2),
            Expr::Call(function, ..) => function.nature() == COUNT,
            Expr::Var(var) => calls.sizes.contains_key(var),
            _ => false,
        };
        if !is_count {
            other.insert(array);
        }
    }
    drawn.retain(|array| !other.contains(array) && kernel.arrays[*array].space == Space::Global);
    drawn
}
