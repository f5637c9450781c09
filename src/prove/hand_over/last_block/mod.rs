//! The block that is last: blocks draw numbers from one counter, and whoever draws the last one reads what all wrote.
//!
//! ```text
//! x;                                     every block does its part
//! fence;                                 __threadfence()
//! if (one thread of the block) {
//!   n = atomicAdd(&count, 1);            the draw
//!   last = (n == number of blocks - 1);
//! }
//! barrier;
//! if (last) { y; count = 0; }
//! ```
//!
//! # Why no two blocks conflict
//! Let `G` be the number of blocks, and let the atomic at the *draw* add `k > 0` to one cell of global memory, at a device
//! scope or a wider one, where
//! 1. it stands outside of all loops and its guards leave one thread of a block ([`pins`]), and its address is the same
//!    for the whole grid: each block draws from that cell at most once;
//! 2. everything else that may change the cell stands in a **last region**: under a guard that implies that the number
//!    that its block drew is `k*(G-1)` at least;
//! 3. the cell holds 0 at first, and the sum does not wrap before `k*(G-1)`: both are assumed and printed. `atomicInc`
//!    starts at 0 again where it finds its operand: that is `G - 1` at least.
//!
//! Take the cell's modification order up to the first change that is no draw. The draws find `0, k, 2k, …`, so that the
//! one that finds `k*(G-1)` is the `G`-th: every block has drawn before, none will again, and no other block finds as much.
//! So (2) is no circle: the first other change comes after the `G`-th draw. It follows that
//! - **no two blocks are ever in the last region**: two accesses there are of one block, and a pair of blocks has none;
//! - the draw of every other block comes *before* that of the last one in modification order, all changes between are
//!   read-modify-writes, so that the last draw reads from the release sequence of each;
//! - so an access `x` of another block comes before `y` in the last region if `x` is **published by the draw**:
//!   a. its thread draws and a releasing fence of device scope stands between the two (or the draw itself releases);
//!   b. its thread makes a sequentially consistent fence afterwards, as `__threadfence()` is, and a barrier of the block
//!      stands between that fence and the draw;
//!   c. a barrier stands between `x` and such a fence (or a releasing draw) of the thread that draws: fences are cumulative.
//!
//! The draw itself is ordered with `y` by coherence: it is an earlier change of the same cell.
//!
//! That the thread of the block which drew tells the others is a value carried over a barrier ([`carried`]).
//!
//! Each is an entry of the table in `memory_model::litmus`. In (b) the fence and the draw are made by two threads, which is
//! no release pattern; but fences that are sequentially consistent have a common order, and the other one is later in it.
//!
//! # The other side
//! The model also asks for an acquiring fence between the last draw and `y`: of the thread that draws, or, if both fences are
//! sequentially consistent, of the thread of `y` after the barrier. For (b) it is sequentially consistent in any case.
//! NVIDIA's guide and samples do without. Where none stands there (nor does the draw acquire), the proof says so as an
//! assumption of its own.
//!
//! # What is not proved
//! A missing releasing fence, or one of block scope, leaves the pair open, and [`MissingFence`] says what is missing.
//! So does an access after the draw in a block that need not be the last; a bound that is not the number of blocks
//! (`gridDim.x - 1` in a grid of two dimensions); a counter that something else changes; several threads that draw.
//!
//! Everything here is decided by form, without search: prover and checker come to the same answer.

mod carried;

use super::pins::{self, Pins};
use super::publication::{At, Hands, Maker, Publication};
use super::sums::{Factor, Sum};
use super::{HandOver, MissingFence, is_seen};
use crate::calculus::{BinaryOp, Expr, ExprId, ScalarType, Space, VarId};
use crate::memory_model::{Level, both_atomic};
use crate::protocol::uniform::Uniformity;
use crate::protocol::{Access, AccessId, Count, Origin, Protocol};
use crate::prove::{Assumption, Pair, Scope};

/// Depth of expressions that are looked at.
const DEPTH: u32 = 24;

/// A place where every block draws a number.
struct Draw {
    /// The variable that the number is in.
    var: VarId,
    id: AccessId,
    count: Count,
    pins: Pins,
}

/// The draws of a protocol.
pub(super) struct LastBlock<'p> {
    hands: Hands<'p>,
    draws: Vec<Draw>,
}

/// Why two accesses of different blocks are ordered, or what orders them but for a fence.
struct Handing<'d> {
    draw: &'d Draw,
    /// The access before the draw and the one in the last region; `None` if both stand there.
    over: Option<[AccessId; 2]>,
    wraps: Vec<ExprId>,
}

impl<'p> LastBlock<'p> {
    /// The draws of a protocol in these launches, if there are any.
    pub(super) fn of(protocol: &'p Protocol, scope: &'p Scope) -> Option<LastBlock<'p>> {
        if !may_draw(protocol) {
            return None;
        }
        let grid = Uniformity::of(protocol, Level::Grid);
        let mut found = LastBlock { hands: Hands::new(protocol, scope), draws: Vec::new() };
        let draws: Vec<Draw> =
            protocol.opaques.iter().filter_map(|(_, opaque)| found.draw(opaque.var, &opaque.origin, &grid)).collect();
        for draw in draws {
            if found.nothing_else_changes(&draw) {
                found.draws.push(draw);
            }
        }
        (!found.draws.is_empty()).then_some(found)
    }

    /// What a proof that the pair is ordered relies on; `None` if it is not ordered by a draw.
    pub(super) fn order(&self, pair: &Pair) -> Option<Vec<Assumption>> {
        let ordered = |handing: &Handing<'_>| {
            handing.over.is_none_or(|[first, _]| self.publication(first, handing.draw, Level::Grid).is_some())
        };
        self.handings(pair).into_iter().find(ordered).map(|handing| self.assumptions(&handing))
    }

    /// The fence without which the pair is not ordered, if nothing else is missing.
    pub(super) fn missing(&self, pair: &Pair) -> Option<MissingFence> {
        self.handings(pair).into_iter().find_map(|Handing { draw, over, .. }| {
            let [after, _] = over.filter(|[first, _]| *first < draw.id)?;
            let too_narrow = self.publication(after, draw, Level::Block).and_then(Publication::fence);
            Some(MissingFence { after, before: draw.id, at: HandOver::Draw, too_narrow })
        })
    }

    /// The draws after which one or both accesses of a pair stand, in the last region.
    fn handings(&self, pair: &Pair) -> Vec<Handing<'_>> {
        if pair.level != Level::Grid {
            return Vec::new();
        }
        let mut handings = Vec::new();
        for draw in &self.draws {
            let mut wraps = Vec::new();
            let mut is_last = |id: AccessId| self.is_last(draw, &self.hands.sizes.protocol.accesses[id], &mut wraps);
            let over = match [is_last(pair.first), is_last(pair.second)] {
                [true, true] => None,
                [true, false] => Some([pair.second, pair.first]),
                [false, true] => Some([pair.first, pair.second]),
                [false, false] => continue,
            };
            handings.push(Handing { draw, over, wraps });
        }
        handings
    }

    // ---- draws

    fn draw(&self, var: VarId, origin: &Origin, grid: &Uniformity) -> Option<Draw> {
        let &Origin::Atomic { array, site, count: Some(count), .. } = origin else { return None };
        let protocol = self.hands.sizes.protocol;
        let (id, access) = protocol.accesses.iter().find(|(_, access)| access.site == site)?;
        let pins = pins::pins(&self.hands.sizes, &access.guards);
        let is_drawn_once = protocol.arrays[array].space == Space::Global
            && access.loops.is_empty()
            && both_atomic(access.kind, access.kind, Level::Grid)
            && grid.holds(protocol, count.offset)
            && pins::is_one_thread(&self.hands.sizes, &pins)
            && is_seen(protocol, array);
        (is_drawn_once && count.step > 0 && self.reaches_the_last(&count)).then_some(Draw { var, id, count, pins })
    }

    /// Whether the counter does not start anew before every block has drawn.
    fn reaches_the_last(&self, count: &Count) -> bool {
        let Some(limit) = count.limit else { return true };
        let limit = self.hands.sizes.value(limit, &|_| None, &mut Vec::new(), DEPTH);
        let room = limit.map(|limit| limit.minus(&self.greatest(count)));
        room.and_then(|room| room.as_constant()).is_some_and(|room| room >= 0)
    }

    /// The number that the last block draws.
    fn greatest(&self, count: &Count) -> Sum {
        self.hands.sizes.blocks().minus(&Sum::constant(1)).times(&Sum::constant(count.step.into()))
    }

    fn nothing_else_changes(&self, draw: &Draw) -> bool {
        let protocol = self.hands.sizes.protocol;
        let counter = &protocol.accesses[draw.id];
        protocol.accesses.iter().all(|(id, access)| {
            id == draw.id
                || access.array != counter.array
                || !access.kind.writes()
                || are_apart(protocol, access, counter)
                || self.is_last(draw, access, &mut Vec::new())
        })
    }

    // ---- the last region

    /// Whether an access stands under a guard that says that its block drew the last number.
    fn is_last(&self, draw: &Draw, access: &Access, wraps: &mut Vec<ExprId>) -> bool {
        access.guards.iter().any(|guard| self.says_last(draw, guard.cond, true, wraps, DEPTH))
    }

    /// Whether a value being other than 0 (or 0, if not `holds`) implies that the block drew the last number.
    fn says_last(&self, draw: &Draw, value: ExprId, holds: bool, wraps: &mut Vec<ExprId>, depth: u32) -> bool {
        use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
        let Some(depth) = depth.checked_sub(1) else { return false };
        let exprs = &self.hands.sizes.protocol.exprs;
        let is = |expr: ExprId, value: i128| exprs.as_int(expr) == Some(value);
        match exprs[value] {
            Expr::Unary(crate::calculus::UnaryOp::Not, inner) => self.says_last(draw, inner, !holds, wraps, depth),
            Expr::Binary(op @ (And | Or), a, b) if (op == And) == holds => {
                self.says_last(draw, a, holds, wraps, depth) || self.says_last(draw, b, holds, wraps, depth)
            }
            // What is 0 or 1, and what was made wider, is 0 afterwards only if it was before.
            Expr::Convert(ty, inner) if keeps_truth(exprs.ty(inner), ty) => {
                self.says_last(draw, inner, holds, wraps, depth)
            }
            Expr::Select(cond, a, b) if is(a, 1) && is(b, 0) => self.says_last(draw, cond, holds, wraps, depth),
            Expr::Select(cond, a, b) if is(a, 0) && is(b, 1) => self.says_last(draw, cond, !holds, wraps, depth),
            Expr::Var(var) => {
                let stored =
                    carried::stored(&self.hands.sizes, &self.hands.block, var).filter(|(_, writer)| *writer > draw.id);
                stored.is_some_and(|(stored, _)| self.says_last(draw, stored, holds, wraps, depth))
            }
            Expr::Binary(Ne, a, zero) if is(zero, 0) && self.says_last(draw, a, holds, wraps, depth) => true,
            Expr::Binary(Eq, a, zero) if is(zero, 0) && self.says_last(draw, a, !holds, wraps, depth) => true,
            Expr::Binary(op @ (Eq | Ne | Lt | Le | Gt | Ge), a, b) => self
                .compares_with_last(draw, if holds { op } else { op.negated().unwrap_or(op) }, (a, b), wraps)
                .unwrap_or(false),
            _ => false,
        }
    }

    /// Whether `a op b` implies that the number drawn is the last one at least.
    fn compares_with_last(
        &self,
        draw: &Draw,
        op: BinaryOp,
        (a, b): (ExprId, ExprId),
        wraps: &mut Vec<ExprId>,
    ) -> Option<bool> {
        let read = |var: VarId| carried::stored(&self.hands.sizes, &self.hands.block, var).map(|(stored, _)| stored);
        let mut noted = Vec::new();
        let mut value = |expr| self.hands.sizes.value(expr, &read, &mut noted, DEPTH);
        let difference = value(a)?.minus(&value(b)?);
        let (sign, rest) = difference.split(Factor::Var(draw.var))?;
        // `sign * number + rest op 0`, so that the number is at least this:
        let bound = match (op, sign) {
            (BinaryOp::Eq, -1 | 1) => rest.times(&Sum::constant(-sign)),
            (BinaryOp::Ge, 1) => rest.times(&Sum::constant(-1)),
            (BinaryOp::Gt, 1) => rest.times(&Sum::constant(-1)).plus(&Sum::constant(1)),
            (BinaryOp::Le, -1) => rest,
            (BinaryOp::Lt, -1) => rest.plus(&Sum::constant(1)),
            _ => return None,
        };
        let is_last = bound.minus(&self.greatest(&draw.count)).as_constant()? >= 0;
        if is_last {
            wraps.append(&mut noted);
        }
        Some(is_last)
    }

    // ---- what is published by a draw, and seen after it

    /// Whether an access is published by the draw to threads at `level`: by which fence, or by the draw itself.
    fn publication(&self, id: AccessId, draw: &Draw, level: Level) -> Option<Publication> {
        self.hands.publication(id, self.at(draw), self.maker(id, draw), level)
    }

    /// Whether an access in the last region receives what was published to the draw.
    fn is_received(&self, id: AccessId, draw: &Draw, publication: Publication) -> bool {
        self.hands.is_received(id, self.at(draw), self.maker(id, draw), publication)
    }

    fn at(&self, draw: &Draw) -> At<'_> {
        At { id: draw.id, guards: &self.hands.sizes.protocol.accesses[draw.id].guards }
    }

    /// Who draws for an access.
    fn maker(&self, id: AccessId, draw: &Draw) -> Maker {
        let sizes = &self.hands.sizes;
        let own = pins::pins(sizes, &sizes.protocol.accesses[id].guards);
        if pins::are_equal(&own, &draw.pins) { Maker::Itself } else { Maker::One }
    }

    // ---- words

    fn assumptions(&self, handing: &Handing<'_>) -> Vec<Assumption> {
        let protocol = self.hands.sizes.protocol;
        let counter = &protocol.accesses[handing.draw.id];
        let name = protocol.arrays[counter.array].name.clone();
        let span = protocol.sites[counter.site].span;
        let mut assumptions = vec![Assumption::StartsAtZero(name.clone())];
        if handing.draw.count.limit.is_none() {
            let expression = format!("what is added to {name} atomically");
            assumptions.push(Assumption::NoUnsignedWrap { expression, span });
        }
        assumptions.extend(handing.wraps.iter().map(|&expr| Assumption::NoUnsignedWrap {
            expression: crate::prove::words::words(protocol, expr),
            span: protocol.spans.get(expr).copied(),
        }));
        // What orders the draw itself is coherence.
        if let Some([first, last]) = handing.over
            && first != handing.draw.id
            && let Some(publication) = self.publication(first, handing.draw, Level::Grid)
            && !self.is_received(last, handing.draw, publication)
        {
            assumptions.push(Assumption::LastSees(name));
        }
        assumptions
    }
}

/// Whether some atomic counts that every block may draw from: a quick look. Where there is one, what orders two accesses
/// depends on where they are made.
pub(super) fn may_draw(protocol: &Protocol) -> bool {
    let counts = |origin: &Origin| match origin {
        Origin::Atomic { array, count: Some(_), .. } => protocol.arrays[*array].space == Space::Global,
        _ => false,
    };
    protocol.opaques.iter().any(|(_, opaque)| counts(&opaque.origin))
}

/// Whether two accesses of one array touch no common byte, at constant offsets.
fn are_apart(protocol: &Protocol, one: &Access, other: &Access) -> bool {
    let range = |access: &Access| {
        let start = protocol.exprs.as_int(access.offset)?;
        Some((start, start + i128::from(access.bytes)))
    };
    matches!((range(one), range(other)), (Some(a), Some(b)) if a.1 <= b.0 || b.1 <= a.0)
}

/// Whether a value of one type is 0 exactly if it is after a conversion.
fn keeps_truth(from: ScalarType, to: ScalarType) -> bool {
    match (from, to) {
        (_, ScalarType::Bool) | (ScalarType::Bool, ScalarType::Int { .. }) => true,
        (ScalarType::Int { width: from, .. }, ScalarType::Int { width: to, .. }) => to >= from,
        _ => false,
    }
}
