//! Masks of warps: from the value that a barrier is given to a condition of the threads that it is for.
//!
//! A barrier with a mask is lowered with a [`Placeholder::Mask`] of the mask's value. When the whole kernel is there, [`name`]
//! says in its place which threads that is: those of the lanes whose bits a constant has, the one of `1u << lane`, those
//! below `n` for `(1u << n) - 1`; or those that voted for a mask of `__ballot_sync`, through whichever variables it came.
//! All threads that wait together must have the same mask: it comes from one place, in the same turns of the loops
//! around, and mentions nothing that differs between threads of a warp; or it is put together before all conditions and
//! loops.
//!
//! `__activemask` and `coalesced_threads` give threads that happen to run together, which the schedule decides: a barrier
//! of these waits for no more than those that were there with it, and orders nobody for certain.
//!
//! Deliberately absent: masks from memory and other calls, and those that several places assign; nobody knows whom they
//! name.

use super::notes::Source;
use crate::calculus::definitions::{Definition, Definitions};
use crate::calculus::{
    Among, Axis, BinaryOp, Expr, ExprId, Exprs, GeometryVar, Kernel, Placeholder, ScalarType, SiteId, Stmt, SyncMemory,
    UnaryOp, Unsupported, VarId, eval, statements,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Runs of bits of a constant that are told one by one.
const MOST_RUNS: usize = 4;

/// Says whom the barriers of the kernel are for that have masks. `sources` are the variables that hold masks as they
/// come from votes.
pub(super) fn name(kernel: &mut Kernel, sources: &FxHashMap<VarId, Source>) {
    let mut places = Places::default();
    places.collect(&kernel.body, &mut Vec::new());
    if places.barriers.is_empty() {
        let tested = tested(kernel);
        let unused = sources.values().map(|source| source.var()).filter(|var| !tested.contains(var)).collect();
        forget(&mut kernel.body, &unused);
        return;
    }
    let same = same_for_all(kernel);
    let naming = Naming { definitions: Definitions::of(kernel), sources, places, same };
    let mut answers: FxHashMap<SiteId, Option<(Among, Order)>> = FxHashMap::default();
    for Place { site, mask, orders, loops } in &naming.places.barriers {
        let mask = naming.definitions.inlined(&mut kernel.exprs, *mask);
        let answer = naming.order(&mut kernel.exprs, mask, loops).map(|order| {
            let named = naming.member(&mut kernel.exprs, mask);
            let everyone = kernel.exprs.as_int(named) == Some(1) && order == Order::Certain;
            (if everyone { Among::All } else { Among::Named(named) }, order)
        });
        if answer.is_none() {
            let span = kernel.sites[*site].span;
            let what = if *orders { "barrier" } else { "operation" };
            let reason = format!("{what} of some threads of a warp, whose mask is not known");
            let arrays = if *orders { None } else { Some(Vec::new()) };
            kernel.unsupported.push(Unsupported { span, reason, arrays, barriers: true, is_of_thread: false });
        }
        answers.insert(*site, answer);
    }
    answer(&mut kernel.body, &answers);
    let never = kernel.exprs.bool(false);
    let mut truths: Vec<VarId> = sources.values().map(|source| source.var()).collect();
    truths.sort_unstable();
    let mut turns: FxHashMap<SiteId, Vec<VarId>> = FxHashMap::default();
    for (holder, source) in sources {
        if let Some(around) = naming.places.sources.get(holder).and_then(|loops| loops.last()) {
            turns.entry(*around).or_default().push(source.var());
        }
    }
    turns.values_mut().for_each(|vars| vars.sort_unstable());
    forget_in_turns(&mut kernel.body, &turns, never);
    let before = truths.into_iter().map(|var| Stmt::Let { var, value: never });
    kernel.body.splice(0..0, before);
}

/// Whether a barrier orders those that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    /// It does.
    Certain,
    /// Which of them were named with each other is for the schedule to say.
    Scheduled,
}

/// The barriers that have masks, and the loops around them and around what masks come from.
#[derive(Default)]
struct Places {
    barriers: Vec<Place>,
    sources: FxHashMap<VarId, Vec<SiteId>>,
}

/// A barrier that has a mask, or a call that the threads of a mask make together.
struct Place {
    site: SiteId,
    mask: ExprId,
    /// Whether it orders memory.
    orders: bool,
    loops: Vec<SiteId>,
}

impl Places {
    fn collect(&mut self, body: &[Stmt], loops: &mut Vec<SiteId>) {
        for stmt in body {
            match stmt {
                Stmt::Sync { among: Among::Placeholder(Placeholder::Mask(mask)), memory, site, .. } => {
                    let orders = *memory != SyncMemory::NONE;
                    self.barriers.push(Place { site: *site, mask: *mask, orders, loops: loops.clone() });
                }
                Stmt::Havoc { var, .. } => _ = self.sources.insert(*var, loops.clone()),
                Stmt::If { then, otherwise, .. } => {
                    self.collect(then, loops);
                    self.collect(otherwise, loops);
                }
                Stmt::For(each) => {
                    loops.push(each.site);
                    self.collect(&each.body, loops);
                    loops.pop();
                }
                Stmt::Loop { body, site, .. } => {
                    loops.push(*site);
                    self.collect(body, loops);
                    loops.pop();
                }
                _ => {}
            }
        }
    }
}

/// Gives barriers their threads; those of which nothing is known are taken away.
fn answer(body: &mut Vec<Stmt>, answers: &FxHashMap<SiteId, Option<(Among, Order)>>) {
    body.retain_mut(|stmt| {
        match stmt {
            Stmt::Sync { memory, among, site, .. } => match answers.get(site) {
                Some(None) => return false,
                Some(Some((whom, order))) => {
                    *among = *whom;
                    if *order == Order::Scheduled {
                        *memory = SyncMemory::NONE;
                    }
                }
                None => {}
            },
            Stmt::If { then, otherwise, .. } => {
                answer(then, answers);
                answer(otherwise, answers);
            }
            Stmt::For(each) => answer(&mut each.body, answers),
            Stmt::Loop { body, .. } => answer(body, answers),
            _ => {}
        }
        true
    });
}

/// Votes of one turn of a loop say nothing in the next, nor after the loop.
fn forget_in_turns(body: &mut [Stmt], turns: &FxHashMap<SiteId, Vec<VarId>>, never: ExprId) {
    for stmt in body {
        let (site, body) = match stmt {
            Stmt::For(each) => (each.site, &mut each.body),
            Stmt::Loop { body, site, .. } => (*site, body),
            Stmt::If { then, otherwise, .. } => {
                forget_in_turns(then, turns, never);
                forget_in_turns(otherwise, turns, never);
                continue;
            }
            _ => continue,
        };
        forget_in_turns(body, turns, never);
        if let Some(vars) = turns.get(&site) {
            let lets = || vars.iter().map(|&var| Stmt::Let { var, value: never });
            body.splice(0..0, lets());
            body.extend(lets());
        }
    }
}

/// The variables that conditions of the kernel read.
fn tested(kernel: &Kernel) -> FxHashSet<VarId> {
    let mut tested = FxHashSet::default();
    statements::every(&kernel.body, |stmt| {
        if let Stmt::If { cond, .. } = stmt {
            kernel.exprs.visit(*cond, |_, node| {
                if let Expr::Var(var) = node {
                    tested.insert(*var);
                }
            });
        }
    });
    tested
}

/// Leaves out what is noted for masks that no barrier has.
fn forget(body: &mut Vec<Stmt>, unused: &FxHashSet<VarId>) {
    body.retain(|stmt| !matches!(stmt, Stmt::Let { var, .. } if unused.contains(var)));
    for stmt in body {
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                forget(then, unused);
                forget(otherwise, unused);
            }
            Stmt::For(each) => forget(&mut each.body, unused),
            Stmt::Loop { body, .. } => forget(body, unused),
            _ => {}
        }
    }
}

struct Naming<'s> {
    definitions: Definitions,
    sources: &'s FxHashMap<VarId, Source>,
    places: Places,
    /// Variables that have the same value in all threads wherever they are read.
    same: FxHashSet<VarId>,
}

/// The variables that only statements outside of all conditions and loops assign, with values that are the same for all
/// threads of a block.
fn same_for_all(kernel: &Kernel) -> FxHashSet<VarId> {
    let mut same: FxHashSet<VarId> = FxHashSet::default();
    let mut differ: FxHashSet<VarId> = FxHashSet::default();
    for stmt in &kernel.body {
        match stmt {
            Stmt::Let { var, value } if is_same(&kernel.exprs, *value, &same) => {
                if !differ.contains(var) {
                    same.insert(*var);
                }
            }
            stmt => {
                for var in statements::assigned(std::slice::from_ref(stmt)) {
                    same.remove(&var);
                    differ.insert(var);
                }
            }
        }
    }
    same
}

/// Whether a value is computed from nothing that differs between threads of a block, or may.
fn is_same(exprs: &Exprs, value: ExprId, same: &FxHashSet<VarId>) -> bool {
    let mut is_one = true;
    exprs.visit(value, |_, node| {
        is_one &= match node {
            Expr::Var(var) => same.contains(var),
            Expr::Opaque(..) | Expr::Call(..) | Expr::Geometry(GeometryVar::ThreadIdx(_)) => false,
            _ => true,
        };
    });
    is_one
}

impl Naming<'_> {
    /// Whether a barrier with this mask, in these loops, orders; `None` if it is not known whom the mask names, or that
    /// it names the same threads for all that wait.
    fn order(&self, exprs: &mut Exprs, mask: ExprId, loops: &[SiteId]) -> Option<Order> {
        match exprs[mask] {
            Expr::Var(var) if self.same.contains(&var) => Some(Order::Certain),
            Expr::Var(var) => {
                let source = *self.sources.get(&var)?;
                let own = self.places.sources.get(&var)?;
                if self.definitions.all(var) != [Definition::Unknown] || !loops.starts_with(own) {
                    return None;
                }
                match source {
                    Source::Active(_) => Some(Order::Scheduled),
                    Source::Votes(_, voters) => {
                        let voters = self.definitions.inlined(exprs, voters);
                        self.order(exprs, voters, own)
                    }
                }
            }
            Expr::Convert(_, inner) | Expr::Unary(UnaryOp::BitNot, inner) => self.order(exprs, inner, loops),
            Expr::Binary(BinaryOp::BitAnd | BinaryOp::BitOr, a, b) => {
                Some(self.order(exprs, a, loops)?.max(self.order(exprs, b, loops)?))
            }
            _ => is_same(exprs, mask, &self.same).then_some(Order::Certain),
        }
    }

    /// Whether a mask names the thread.
    fn member(&self, exprs: &mut Exprs, mask: ExprId) -> ExprId {
        match exprs[mask] {
            Expr::Int(bits, _) => lanes(exprs, bits as u32),
            Expr::Var(var) => match self.sources.get(&var) {
                Some(source) => exprs.var(source.var(), ScalarType::Bool),
                None => bit(exprs, mask),
            },
            Expr::Convert(ScalarType::Int { width: 32 | 64, .. }, inner)
                if matches!(exprs.ty(inner), ScalarType::Int { width: 32 | 64, .. }) =>
            {
                self.member(exprs, inner)
            }
            Expr::Unary(UnaryOp::BitNot, inner) => {
                let inner = self.member(exprs, inner);
                exprs.not(inner)
            }
            Expr::Binary(op @ (BinaryOp::BitAnd | BinaryOp::BitOr), a, b) => {
                let (a, b) = (self.member(exprs, a), self.member(exprs, b));
                if op == BinaryOp::BitAnd { exprs.and(a, b) } else { exprs.or(a, b) }
            }
            Expr::Binary(BinaryOp::Sub, power, one) if exprs.as_int(one) == Some(1) => {
                match exprs[power] {
                    // `(1u << n) - 1`
                    Expr::Binary(BinaryOp::Shl, base, count) if exprs.as_int(base) == Some(1) => {
                        let (lane, count) = (lane(exprs), unsigned(exprs, count));
                        exprs.binary(BinaryOp::Lt, lane, count)
                    }
                    _ => bit(exprs, mask),
                }
            }
            Expr::Binary(BinaryOp::Shl, base, by) => match exprs.as_int(base).map(|base| base as u32) {
                Some(base) if base != 0 && (base & base.wrapping_add(1)) == 0 => {
                    let (lane, by) = (lane(exprs), unsigned(exprs, by));
                    if base == 1 {
                        return exprs.binary(BinaryOp::Eq, lane, by);
                    }
                    let count = exprs.int(i128::from(base.trailing_ones()), ScalarType::U32);
                    let end = exprs.binary(BinaryOp::Add, by, count);
                    let (from, to) = (exprs.binary(BinaryOp::Ge, lane, by), exprs.binary(BinaryOp::Lt, lane, end));
                    exprs.and(from, to)
                }
                _ => bit(exprs, mask),
            },
            _ => bit(exprs, mask),
        }
    }
}

fn unsigned(exprs: &mut Exprs, value: ExprId) -> ExprId {
    exprs.convert(ScalarType::U32, value)
}

/// The number of the thread within its warp.
pub(super) fn lane(exprs: &mut Exprs) -> ExprId {
    let [x, y, z] = Axis::ALL.map(|axis| exprs.geometry(GeometryVar::ThreadIdx(axis)));
    let [width, height, _] = Axis::ALL.map(|axis| exprs.geometry(GeometryVar::BlockDim(axis)));
    let planes = exprs.binary(BinaryOp::Mul, z, height);
    let rows = exprs.binary(BinaryOp::Add, planes, y);
    let before = exprs.binary(BinaryOp::Mul, rows, width);
    let number = exprs.binary(BinaryOp::Add, before, x);
    let size = exprs.int(i128::from(eval::WARP), ScalarType::U32);
    exprs.binary(BinaryOp::Rem, number, size)
}

/// Whether the lane is one of the bits of a constant.
fn lanes(exprs: &mut Exprs, bits: u32) -> ExprId {
    let (mut runs, mut at) = (Vec::new(), 0);
    while at < 32 {
        let from = at + (bits.checked_shr(at).unwrap_or(0)).trailing_zeros();
        if from >= 32 {
            break;
        }
        let to = from + (bits >> from).trailing_ones();
        runs.push((from, to));
        at = to;
    }
    if runs.len() > MOST_RUNS {
        let mask = exprs.int(i128::from(bits), ScalarType::U32);
        return bit(exprs, mask);
    }
    let mut any = exprs.bool(false);
    for (from, to) in runs {
        let lane = lane(exprs);
        let number = |exprs: &mut Exprs, value: u32| exprs.int(i128::from(value), ScalarType::U32);
        let mut within = exprs.bool(true);
        if to == from + 1 {
            let only = number(exprs, from);
            within = exprs.binary(BinaryOp::Eq, lane, only);
        } else {
            if from > 0 {
                let from = number(exprs, from);
                within = exprs.binary(BinaryOp::Ge, lane, from);
            }
            if to < 32 {
                let to = number(exprs, to);
                let below = exprs.binary(BinaryOp::Lt, lane, to);
                within = exprs.and(within, below);
            }
        }
        any = exprs.or(any, within);
    }
    any
}

/// `mask >> lane & 1`
fn bit(exprs: &mut Exprs, mask: ExprId) -> ExprId {
    let (mask, lane) = (unsigned(exprs, mask), lane(exprs));
    let shifted = exprs.binary(BinaryOp::Shr, mask, lane);
    let (one, zero) = (exprs.int(1, ScalarType::U32), exprs.int(0, ScalarType::U32));
    let last = exprs.binary(BinaryOp::BitAnd, shifted, one);
    exprs.binary(BinaryOp::Ne, last, zero)
}
