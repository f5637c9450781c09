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
//! - Nothing but additions of what is not negative ever changes the counter, which is in global memory, and one cell for
//!   all: its place says nothing of the thread.
//!
//! *Trap.* A rank that counts the thread itself; one in another mask than was counted; a draw of 1 for all; a draw before a
//! loop around the shuffle; a counter that is set back; a thread that the mask does not name; lane 31, which a warp need not
//! have.
//!
//! The drawn numbers come from a shadow of the counter, so that what else is drawn from it is not thought to be drawn by
//! each. It has the counter's name, since messages speak of it.
//!
//! Deliberately absent: masks of a part of the warp, `__match_any_sync`, ranks in tiles of less than a warp, counters of a
//! block.

use super::masks::{self, Source};
use crate::calculus::definitions::Definitions;
use crate::calculus::{
    Access, Array, ArrayId, AtomicOp, Axis, BinaryOp, Expr, ExprId, GeometryVar, HavocReason, Kernel, MemoryOrder,
    ScalarType, SiteId, Space, Stmt, SyncScope, UnaryOp, VarId, Variable, statements,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// What was noted of calls that threads make together, by the variables that hold what they gave.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Shuffles from one lane.
    pub shuffles: FxHashMap<VarId, Shuffle>,
    /// Ranks in a group, with what stands for its mask.
    pub ranks: FxHashMap<VarId, ExprId>,
    /// Sizes of a group.
    pub sizes: FxHashMap<VarId, ExprId>,
}

/// What a shuffle hands on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shuffle {
    /// The value that each thread has for it.
    pub value: ExprId,
    /// The lane that it is taken from.
    pub lane: ExprId,
    /// The mask of the threads that it is for; `None` for the whole warp.
    pub mask: Option<ExprId>,
    /// Whether lanes count within the mask.
    pub is_within: bool,
}

/// Writes draws for many as draws by each; the variables are those that the new statements read of `sources`.
pub(super) fn share_out(kernel: &mut Kernel, sources: &FxHashMap<VarId, Source>, calls: &Calls) -> FxHashSet<VarId> {
    if calls.shuffles.is_empty() {
        return FxHashSet::default();
    }
    let counters = counters(kernel, calls);
    if counters.is_empty() {
        return FxHashSet::default();
    }
    let mentioned = masks::axes(kernel);
    let body = std::mem::take(&mut kernel.body);
    let shadows = FxHashMap::default();
    let read = FxHashSet::default();
    let state = State::default();
    let mut walk = Walk { kernel, sources, calls, counters, mentioned, shadows, read, loops: Vec::new(), state };
    let body = walk.block(body);
    let read = walk.read;
    kernel.body = body;
    read
}

/// The arrays of global memory that atomics alone change, by adding what is not negative.
fn counters(kernel: &mut Kernel, calls: &Calls) -> FxHashSet<ArrayId> {
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
            Expr::Call(name, ..) => name == COUNT,
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

const COUNT: &str = "__popc";
const FIRST: &str = "__ffs";
const LEADING: &str = "__clz";
const LANES: i128 = crate::calculus::eval::WARP as i128;
/// Expressions that are nested deeper are left as they are.
const DEEPEST: usize = 100;

/// The threads that numbers are drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// The whole warp.
    Warp,
    /// Those that the mask in a variable names.
    Mask(VarId),
}

/// A lane that is the same for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    /// The first of the warp, which every warp has.
    Zero,
    /// The first lane of a mask.
    First(VarId),
    /// The last one.
    Last(VarId),
}

/// Who makes a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leader {
    Lane(Lane),
    /// Whoever has rank 0 in a mask: its first lane is among them.
    Rank(VarId),
}

/// What is known of a variable at a place.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// It is this.
    Is(ExprId),
    /// It is the second where the first holds.
    Where(ExprId, ExprId),
}

/// A mask that is what it comes from.
#[derive(Clone, Copy, Debug)]
struct Mask {
    /// The variable that says whether the thread is named.
    named: VarId,
    /// Whether all threads of the warp have it; otherwise those that it names do.
    is_common: bool,
}

/// An atomic that adds to a counter.
#[derive(Clone, Debug)]
struct Draw {
    access: Access,
    /// For whom it draws.
    group: Group,
    order: MemoryOrder,
    scope: SyncScope,
    loops: Vec<SiteId>,
}

/// What is known at a place. All expressions are without variables of which something is known, and go when a variable in
/// them is assigned.
#[derive(Clone, Debug, Default)]
struct State {
    known: FxHashMap<VarId, Known>,
    /// Masks that are what they come from.
    masks: FxHashMap<VarId, Mask>,
    ranks: FxHashMap<VarId, VarId>,
    sizes: FxHashMap<VarId, VarId>,
    draws: FxHashMap<VarId, Draw>,
    /// What shuffles gave, with the numbers that each thread has by itself, and for whom.
    handed: BTreeMap<VarId, (VarId, Group)>,
}

struct Walk<'s> {
    kernel: &'s mut Kernel,
    sources: &'s FxHashMap<VarId, Source>,
    calls: &'s Calls,
    counters: FxHashSet<ArrayId>,
    /// The axes of the block that something mentions.
    mentioned: [bool; 3],
    shadows: FxHashMap<ArrayId, ArrayId>,
    /// Variables of sources that new statements read.
    read: FxHashSet<VarId>,
    loops: Vec<SiteId>,
    state: State,
}

impl Walk<'_> {
    fn block(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut done = Vec::with_capacity(body.len());
        for stmt in body {
            self.stmt(stmt, &mut done);
        }
        done
    }

    fn stmt(&mut self, mut stmt: Stmt, done: &mut Vec<Stmt>) {
        match &mut stmt {
            Stmt::If { cond, then, otherwise } => {
                *cond = self.rewritten(*cond);
                let taken = self.substituted(*cond);
                let before = self.state.clone();
                *then = self.block(std::mem::take(then));
                let first = std::mem::replace(&mut self.state, before.clone());
                *otherwise = self.block(std::mem::take(otherwise));
                self.state = before;
                self.join(taken, &first, then, otherwise);
            }
            Stmt::For(each) => {
                each.start = self.rewritten(each.start);
                let mut moved = statements::assigned(&each.body);
                moved.push(each.var);
                each.body = self.turn(std::mem::take(&mut each.body), each.site, &moved);
            }
            Stmt::Loop { body, site, .. } => {
                let moved = statements::assigned(body);
                *body = self.turn(std::mem::take(body), *site, &moved);
            }
            Stmt::Let { var, value } => {
                *value = self.rewritten(*value);
                let known = self.substituted(*value);
                self.forget(*var);
                let mut is_itself = false;
                self.kernel.exprs.visit(known, |_, node| is_itself |= *node == Expr::Var(*var));
                if !is_itself {
                    self.state.known.insert(*var, Known::Is(known));
                }
            }
            Stmt::Read { var, access } => {
                access.offset = self.rewritten(access.offset);
                self.forget(*var);
            }
            Stmt::Write { access, value } => {
                access.offset = self.rewritten(access.offset);
                *value = value.map(|value| self.rewritten(value));
            }
            Stmt::Atomic { var, access, op, operands, order, scope } => {
                access.offset = self.rewritten(access.offset);
                for operand in operands.iter_mut() {
                    *operand = self.rewritten(*operand);
                }
                let offset = self.substituted(access.offset);
                let amounts: Vec<ExprId> = operands.iter().map(|&operand| self.substituted(operand)).collect();
                if let Some(var) = *var {
                    self.forget(var);
                    let group = amounts.first().and_then(|&amount| self.count(amount));
                    if let (Some(group), AtomicOp::Add, true) = (group, *op, self.counters.contains(&access.array))
                        && self.is_one_place(offset)
                    {
                        let access = Access { offset, ..*access };
                        let draw = Draw { access, group, order: *order, scope: *scope, loops: self.loops.clone() };
                        self.state.draws.insert(var, draw);
                    }
                }
            }
            Stmt::Havoc { var, .. } => {
                let var = *var;
                let given = self.calls.shuffles.get(&var).and_then(|shuffle| self.given(shuffle));
                let within = |calls: &FxHashMap<VarId, ExprId>| calls.get(&var).copied();
                let [rank, size] = [within(&self.calls.ranks), within(&self.calls.sizes)];
                let [rank, size] = [rank, size].map(|mask| mask.and_then(|mask| self.mask(mask)));
                let mask = self.source(var);
                self.forget(var);
                self.state.masks.extend(mask.map(|mask| (var, mask)));
                self.state.ranks.extend(rank.map(|mask| (var, mask)));
                self.state.sizes.extend(size.map(|mask| (var, mask)));
                done.push(stmt);
                if let Some((drawn, group)) = given {
                    self.draw_by_each(var, drawn, group, done);
                }
                return;
            }
            Stmt::Assume { cond, .. } | Stmt::Assert { cond, .. } => *cond = self.rewritten(*cond),
            Stmt::Sync { .. } | Stmt::Fence { .. } => {}
        }
        done.push(stmt);
    }

    /// The body of a loop, in which and after which nothing is known of what it assigns.
    fn turn(&mut self, body: Vec<Stmt>, site: SiteId, moved: &[VarId]) -> Vec<Stmt> {
        moved.iter().for_each(|&var| self.forget(var));
        let before = self.state.clone();
        self.loops.push(site);
        let body = self.block(body);
        self.loops.pop();
        self.state = before;
        body
    }

    /// After a condition: what one arm alone assigned is known where it was taken.
    fn join(&mut self, taken: ExprId, first: &State, then: &[Stmt], otherwise: &[Stmt]) {
        let other = statements::assigned(otherwise);
        let own = statements::assigned(then);
        for &var in own.iter().chain(&other) {
            self.forget(var);
        }
        let changed: FxHashSet<VarId> = own.iter().chain(&other).copied().collect();
        let is_kept = |group: Group| !matches!(group, Group::Mask(mask) if changed.contains(&mask));
        // What is drawn there stays what it is.
        for var in own.iter().filter(|var| !other.contains(var)) {
            if let Some(draw) = first.draws.get(var).filter(|draw| is_kept(draw.group)) {
                self.state.draws.insert(*var, draw.clone());
            }
        }
        for &var in own.iter().filter(|var| !other.contains(var)) {
            let Some(&Known::Is(value)) = first.known.get(&var) else { continue };
            let mut is_kept = true;
            self.kernel.exprs.visit(taken, |_, node| {
                is_kept &= !matches!(node, Expr::Var(var) if changed.contains(var));
            });
            self.kernel.exprs.visit(value, |_, node| {
                is_kept &=
                    !matches!(node, Expr::Var(var) if changed.contains(var) && !self.state.draws.contains_key(var));
            });
            if is_kept {
                self.state.known.insert(var, Known::Where(taken, value));
            }
        }
    }

    /// A variable is assigned: what was known by its old value is known no more.
    fn forget(&mut self, var: VarId) {
        let exprs = &self.kernel.exprs;
        let mentions = |expr: ExprId| {
            let mut found = false;
            exprs.visit(expr, |_, node| found |= *node == Expr::Var(var));
            found
        };
        let state = &mut self.state;
        state.known.retain(|&holder, known| match *known {
            _ if holder == var => false,
            Known::Is(value) => !mentions(value),
            Known::Where(cond, value) => !mentions(cond) && !mentions(value),
        });
        state.masks.retain(|&holder, mask| holder != var && mask.named != var);
        state.ranks.retain(|&rank, mask| rank != var && *mask != var);
        state.sizes.retain(|&size, mask| size != var && *mask != var);
        state.draws.retain(|&drawn, draw| drawn != var && draw.group != Group::Mask(var));
        state.handed.retain(|&handed, (numbers, group)| handed != var && *numbers != var && *group != Group::Mask(var));
    }

    /// An expression without the variables of which something is known.
    fn substituted(&mut self, root: ExprId) -> ExprId {
        let known = &self.state.known;
        self.kernel.exprs.substitute(root, |node| match node {
            Expr::Var(var) => match known.get(var) {
                Some(Known::Is(value)) => Some(*value),
                _ => None,
            },
            _ => None,
        })
    }

    // ---- what is recognised

    /// Whether a place says nothing of the thread.
    fn is_one_place(&self, offset: ExprId) -> bool {
        let mut is_one = true;
        self.kernel.exprs.visit(offset, |_, node| {
            is_one &= !matches!(
                node,
                Expr::Var(_) | Expr::Opaque(..) | Expr::Call(..) | Expr::Geometry(GeometryVar::ThreadIdx(_))
            )
        });
        is_one
    }

    /// What a variable holds from here on, if it is a mask.
    fn source(&mut self, var: VarId) -> Option<Mask> {
        match *self.sources.get(&var)? {
            Source::Active(named) => Some(Mask { named, is_common: false }),
            Source::Votes(named, voters) => {
                let voters = self.substituted(voters);
                (self.group(voters)? == Group::Warp).then_some(Mask { named, is_common: true })
            }
        }
    }

    /// The variable of a mask.
    fn mask(&mut self, value: ExprId) -> Option<VarId> {
        let value = self.substituted(value);
        match self.group(value)? {
            Group::Mask(var) => Some(var),
            Group::Warp => None,
        }
    }

    /// Whom a mask names, without variables of which something is known.
    fn group(&self, mask: ExprId) -> Option<Group> {
        match self.kernel.exprs[stripped(self.kernel, mask)] {
            Expr::Int(bits, _) => (bits & 0xffff_ffff == 0xffff_ffff).then_some(Group::Warp),
            Expr::Var(var) => self.state.masks.contains_key(&var).then_some(Group::Mask(var)),
            _ => None,
        }
    }

    /// Of whom this is the number.
    fn count(&self, amount: ExprId) -> Option<Group> {
        match &self.kernel.exprs[stripped(self.kernel, amount)] {
            Expr::Int(amount, _) => (*amount >= LANES).then_some(Group::Warp),
            Expr::Var(var) => self.state.sizes.get(var).map(|&mask| Group::Mask(mask)),
            Expr::Call(name, args, _) if name == COUNT => self.group(*args.first()?),
            _ => None,
        }
    }

    /// Of whom this counts those before the thread.
    fn rank(&self, value: ExprId) -> Option<Group> {
        let value = stripped(self.kernel, value);
        match &self.kernel.exprs[value] {
            Expr::Var(var) => self.state.ranks.get(var).map(|&mask| Group::Mask(mask)),
            Expr::Call(name, args, _) if name == COUNT => {
                let Expr::Binary(BinaryOp::BitAnd, a, b) = self.kernel.exprs[stripped(self.kernel, *args.first()?)]
                else {
                    return None;
                };
                let (mask, _) = [(a, b), (b, a)].into_iter().find(|&(_, below)| self.is_below(below))?;
                self.group(mask).filter(|group| *group != Group::Warp)
            }
            _ => self.is_lane(value).then_some(Group::Warp),
        }
    }

    /// Whether a mask names the lanes before the thread's: `(1 << lane) - 1`, `~(~0 << lane)`.
    fn is_below(&self, mask: ExprId) -> bool {
        let exprs = &self.kernel.exprs;
        let shifted = |value: ExprId, bits: &dyn Fn(i128) -> bool| match exprs[stripped(self.kernel, value)] {
            Expr::Binary(BinaryOp::Shl, base, by) => {
                exprs.as_int(stripped(self.kernel, base)).is_some_and(bits) && self.is_lane(by)
            }
            _ => false,
        };
        match exprs[stripped(self.kernel, mask)] {
            Expr::Binary(BinaryOp::Sub, power, one) => {
                exprs.as_int(one) == Some(1) && shifted(power, &|base| base == 1)
            }
            Expr::Unary(UnaryOp::BitNot, above) => shifted(above, &|base| base & 0xffff_ffff == 0xffff_ffff),
            _ => false,
        }
    }

    /// Whether a value is the number of the thread within its warp.
    fn is_lane(&self, value: ExprId) -> bool {
        let exprs = &self.kernel.exprs;
        let number = match exprs[stripped(self.kernel, value)] {
            Expr::Binary(BinaryOp::Rem, number, by) if exprs.as_int(by) == Some(LANES) => number,
            Expr::Binary(BinaryOp::BitAnd, number, by) if exprs.as_int(by) == Some(LANES - 1) => number,
            _ => return false,
        };
        let Some(mut products) = self.products(number, DEEPEST) else { return false };
        products.iter_mut().for_each(|product| product.sort_unstable());
        products.sort_unstable();
        let [x, y, z] = Axis::ALL.map(GeometryVar::ThreadIdx);
        let [width, height, _] = Axis::ALL.map(GeometryVar::BlockDim);
        let mut wanted = vec![vec![x]];
        if self.mentioned[Axis::Y.index()] {
            wanted.push(vec![y, width]);
        }
        if self.mentioned[Axis::Z.index()] {
            wanted.push(vec![z, width, height]);
        }
        wanted.iter_mut().for_each(|product| product.sort_unstable());
        wanted.sort_unstable();
        products == wanted
    }

    /// A sum of products of ids and sizes.
    fn products(&self, value: ExprId, depth: usize) -> Option<Vec<Vec<GeometryVar>>> {
        let depth = depth.checked_sub(1)?;
        match self.kernel.exprs[stripped(self.kernel, value)] {
            Expr::Geometry(var) => Some(vec![vec![var]]),
            Expr::Binary(BinaryOp::Add, a, b) => {
                let mut sum = self.products(a, depth)?;
                sum.extend(self.products(b, depth)?);
                (sum.len() <= 3).then_some(sum)
            }
            Expr::Binary(BinaryOp::Mul, a, b) => {
                let (left, right) = (self.products(a, depth)?, self.products(b, depth)?);
                let products = left.iter().flat_map(|one| right.iter().map(|other| [one.as_slice(), other].concat()));
                let products: Vec<_> = products.collect();
                (products.len() <= 3 && products.iter().all(|product| product.len() <= 3)).then_some(products)
            }
            _ => None,
        }
    }

    /// A lane that all of a group agree about.
    fn lane(&self, value: ExprId) -> Option<Lane> {
        let exprs = &self.kernel.exprs;
        let of = |call: ExprId, wanted: &str| match &exprs[stripped(self.kernel, call)] {
            Expr::Call(name, args, _) if name == wanted => match self.group(*args.first()?)? {
                Group::Mask(mask) => Some(mask),
                Group::Warp => None,
            },
            _ => None,
        };
        match exprs[stripped(self.kernel, value)] {
            Expr::Int(lane, _) => (lane == 0).then_some(Lane::Zero),
            Expr::Binary(BinaryOp::Sub, from, by) if exprs.as_int(by) == Some(1) => of(from, FIRST).map(Lane::First),
            Expr::Binary(BinaryOp::Add, from, by) if exprs.as_int(by) == Some(-1) => of(from, FIRST).map(Lane::First),
            Expr::Binary(BinaryOp::Sub, from, by) if exprs.as_int(from) == Some(LANES - 1) => {
                of(by, LEADING).map(Lane::Last)
            }
            _ => None,
        }
    }

    /// Whom a condition lets through.
    fn leader(&self, cond: ExprId) -> Option<Leader> {
        let Expr::Binary(BinaryOp::Eq, a, b) = self.kernel.exprs[cond] else { return None };
        [(a, b), (b, a)].into_iter().find_map(|(one, other)| {
            if self.is_lane(one) {
                return self.lane(other).map(Leader::Lane);
            }
            match self.rank(one) {
                Some(Group::Mask(mask)) if self.kernel.exprs.as_int(other) == Some(0) => Some(Leader::Rank(mask)),
                _ => None,
            }
        })
    }

    /// The draw that a shuffle hands on, and for whom it is.
    fn given(&mut self, shuffle: &Shuffle) -> Option<(VarId, Group)> {
        let value = self.substituted(shuffle.value);
        let Expr::Var(holder) = self.kernel.exprs[stripped(self.kernel, value)] else { return None };
        let Some(&Known::Where(cond, value)) = self.state.known.get(&holder) else { return None };
        let Expr::Var(drawn) = self.kernel.exprs[stripped(self.kernel, value)] else { return None };
        let draw = self.state.draws.get(&drawn)?;
        let group = draw.group;
        let is_in_its_turn = draw.loops == self.loops;
        let leader = self.leader(cond)?;
        let lane = self.substituted(shuffle.lane);
        let among = match shuffle.mask {
            Some(mask) => {
                let mask = self.substituted(mask);
                self.group(mask)?
            }
            None => Group::Warp,
        };
        let giver = match (shuffle.is_within, among) {
            (true, Group::Mask(mask)) if self.kernel.exprs.as_int(lane) == Some(0) => Lane::First(mask),
            (true, _) => return None,
            (false, _) => self.lane(lane)?,
        };
        let is_common = match group {
            Group::Warp => true,
            Group::Mask(mask) => self.state.masks.get(&mask)?.is_common,
        };
        let is_told = among == Group::Warp || among == group;
        let is_drawn = match giver {
            Lane::Zero => is_common && among == Group::Warp && leader == Leader::Lane(giver),
            Lane::First(mask) => {
                group == Group::Mask(mask) && (leader == Leader::Lane(giver) || leader == Leader::Rank(mask))
            }
            Lane::Last(mask) => group == Group::Mask(mask) && leader == Leader::Lane(giver),
        };
        (is_in_its_turn && is_told && is_drawn).then_some((drawn, group))
    }

    // ---- what is written

    /// Lets each thread of a group draw a number, behind the shuffle that hands the first of them on.
    fn draw_by_each(&mut self, handed: VarId, drawn: VarId, group: Group, done: &mut Vec<Stmt>) {
        // A second shuffle would hand the same numbers out again.
        let Some(draw) = self.state.draws.remove(&drawn) else { return };
        let site = self.kernel.sites[draw.access.site].clone();
        let span = site.span;
        let site = self.kernel.sites.push(site);
        let array = self.shadow(draw.access.array);
        let ty = self.kernel.vars[handed].ty;
        let own = self.kernel.vars[drawn].clone();
        let (name, own_ty) = (own.name, own.ty);
        let number = self.kernel.vars.push(Variable { name: format!("{name}.each"), ty: own_ty });
        let numbers = self.kernel.vars.push(Variable { name: format!("{name}.own"), ty });
        let one = self.kernel.exprs.int(1, own_ty);
        let value = self.kernel.exprs.var(number, own_ty);
        let value = self.kernel.exprs.convert(ty, value);
        let access = Access { array, site, ..draw.access };
        let drawing = vec![
            Stmt::Atomic {
                var: Some(number),
                access,
                op: AtomicOp::Add,
                operands: vec![one],
                order: draw.order,
                scope: draw.scope,
            },
            Stmt::Let { var: numbers, value },
        ];
        let named = match group {
            Group::Mask(mask) => self.state.masks.get(&mask).map(|mask| mask.named),
            Group::Warp => None,
        };
        match named {
            Some(named) => {
                let reason = HavocReason::Other("a number of a thread that none is drawn for".to_owned());
                done.push(Stmt::Havoc { var: numbers, reason, span });
                let cond = self.kernel.exprs.var(named, ScalarType::Bool);
                done.push(Stmt::If { cond, then: drawing, otherwise: Vec::new() });
                self.read.insert(named);
            }
            None => done.extend(drawing),
        }
        self.state.handed.insert(handed, (numbers, group));
    }

    /// What stands for a counter where each draws by itself.
    fn shadow(&mut self, counter: ArrayId) -> ArrayId {
        if let Some(&shadow) = self.shadows.get(&counter) {
            return shadow;
        }
        let array = Array { is_param: false, held_in: None, given: None, ..self.kernel.arrays[counter].clone() };
        let shadow = self.kernel.arrays.push(array);
        self.shadows.insert(counter, shadow);
        shadow
    }

    /// An expression with the numbers that each thread draws in place of sums of what was handed on and a rank.
    fn rewritten(&mut self, root: ExprId) -> ExprId {
        if self.state.handed.is_empty() {
            return root;
        }
        let whole = self.substituted(root);
        let new = self.with_numbers(whole, DEEPEST);
        if new == whole { root } else { new }
    }

    fn with_numbers(&mut self, id: ExprId, depth: usize) -> ExprId {
        let Some(depth) = depth.checked_sub(1) else { return id };
        match self.kernel.exprs[id].clone() {
            Expr::Int(..) | Expr::Opaque(..) | Expr::Var(_) | Expr::Param(_) | Expr::Geometry(_) => id,
            Expr::Unary(op, a) => {
                let a = self.with_numbers(a, depth);
                self.kernel.exprs.unary(op, a)
            }
            Expr::Convert(ty, a) => {
                let a = self.with_numbers(a, depth);
                self.kernel.exprs.convert(ty, a)
            }
            Expr::Binary(BinaryOp::Add, a, b) => match self.number(id) {
                Some(sum) => sum,
                None => {
                    let (a, b) = (self.with_numbers(a, depth), self.with_numbers(b, depth));
                    self.kernel.exprs.binary(BinaryOp::Add, a, b)
                }
            },
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.with_numbers(a, depth), self.with_numbers(b, depth));
                self.kernel.exprs.binary(op, a, b)
            }
            Expr::Select(c, a, b) => {
                let [c, a, b] = [c, a, b].map(|each| self.with_numbers(each, depth));
                self.kernel.exprs.select(c, a, b)
            }
            Expr::Call(name, args, ty) => {
                let args = args.iter().map(|&arg| self.with_numbers(arg, depth)).collect();
                self.kernel.exprs.call(name, args, ty)
            }
        }
    }

    /// A sum in which a number of the thread's own stands for two of its terms; `None` if there are no such two.
    fn number(&mut self, sum: ExprId) -> Option<ExprId> {
        let mut terms = Vec::new();
        self.terms(sum, DEEPEST, &mut terms);
        let handed = |term: ExprId| match self.kernel.exprs[stripped(self.kernel, term)] {
            Expr::Var(var) => self.state.handed.get(&var).copied(),
            _ => None,
        };
        let pairs = terms.iter().filter_map(|&term| Some((term, handed(term)?)));
        let (first, numbers, rank) = pairs.into_iter().find_map(|(first, (numbers, group))| {
            let rank = terms.iter().copied().find(|&term| self.rank(term) == Some(group))?;
            Some((first, numbers, rank))
        })?;
        // Each is met once: a term that stands there twice is one that this does not speak of.
        let met = |wanted: ExprId| terms.iter().filter(|&&term| term == wanted).count() == 1;
        if first == rank || !met(first) || !met(rank) {
            return None;
        }
        let ty = self.kernel.vars[numbers].ty;
        let numbers = self.kernel.exprs.var(numbers, ty);
        let numbers = self.kernel.exprs.convert(self.kernel.exprs.ty(first), numbers);
        Some(self.replaced(sum, &[(first, Some(numbers)), (rank, None)]))
    }

    /// The terms of a sum, also of one in another type of the same size.
    fn terms(&self, id: ExprId, depth: usize, terms: &mut Vec<ExprId>) {
        match (self.kernel.exprs[id].clone(), depth.checked_sub(1)) {
            (Expr::Binary(BinaryOp::Add, a, b), Some(depth)) => {
                self.terms(a, depth, terms);
                self.terms(b, depth, terms);
            }
            (Expr::Convert(ty, inner), Some(depth)) if self.is_sum(inner) && self.keeps(ty, inner) => {
                self.terms(inner, depth, terms);
            }
            _ => terms.push(id),
        }
    }

    fn is_sum(&self, id: ExprId) -> bool {
        matches!(self.kernel.exprs[id], Expr::Binary(BinaryOp::Add, ..))
    }

    /// Whether a conversion loses no bit.
    fn keeps(&self, ty: ScalarType, inner: ExprId) -> bool {
        let from = self.kernel.exprs.ty(inner);
        matches!((ty, from), (ScalarType::Int { .. }, ScalarType::Int { .. })) && ty.bytes() == from.bytes()
    }

    /// The sum with other terms; those without another one are left out.
    fn replaced(&mut self, id: ExprId, terms: &[(ExprId, Option<ExprId>)]) -> ExprId {
        if let Some((_, new)) = terms.iter().find(|term| term.0 == id) {
            let ty = self.kernel.exprs.ty(id);
            return new.unwrap_or_else(|| self.kernel.exprs.int(0, ty));
        }
        match self.kernel.exprs[id] {
            Expr::Binary(BinaryOp::Add, a, b) => {
                let (a, b) = (self.replaced(a, terms), self.replaced(b, terms));
                self.kernel.exprs.binary(BinaryOp::Add, a, b)
            }
            Expr::Convert(ty, inner) if self.is_sum(inner) && self.keeps(ty, inner) => {
                let inner = self.replaced(inner, terms);
                self.kernel.exprs.convert(ty, inner)
            }
            _ => id,
        }
    }
}

/// A value without conversions between integers of 32 and 64 bits.
fn stripped(kernel: &Kernel, mut value: ExprId) -> ExprId {
    let is_wide = |ty: ScalarType| matches!(ty, ScalarType::Int { width: 32 | 64, .. });
    while let Expr::Convert(ty, inner) = kernel.exprs[value] {
        if !is_wide(ty) || !is_wide(kernel.exprs.ty(inner)) {
            break;
        }
        value = inner;
    }
    value
}
