//! Launches that a contract admits and that somebody would make.
//!
//! A contract that leaves no room for work is no excuse for a race: of a kernel whose barrier is missing, "blocks have one
//! thread" is enough and says nothing. A contract is plausible if some launch that it admits has at least two warps in a
//! block, more than one thread and more than one block along every axis that the kernel reads, and two threads of it
//! reach the two accesses that would race, in one block if it is a race in one block, and with no barrier between them: of
//! a loop that the contract lets run once, the accesses of two iterations are never reached so.
//!
//! Guarantees: the launch is run, by the executable semantics. Deliberately absent: every other launch.

use super::vocabulary::{Condition, Leaf};
use crate::arena::Arena;
use crate::calculus::eval::{self, Blocks, Contents, Event, Setup, Sink, ThreadId, Value};
use crate::calculus::{
    Axis, BinaryOp, Expr, ExprId, Exprs, Geometry, GeometryVar, Kernel, Param, ScalarType, SiteId, Stmt, extents,
};
use crate::prove::{Scope, Witness};
use crate::work;
use std::collections::{BTreeMap, BTreeSet};

/// The least threads of a block in a launch that somebody would make: two warps.
const LEAST_THREADS: u32 = 64;
/// Shapes of blocks that are usual.
pub(super) const BLOCKS: [[u32; 3]; 12] = [
    [64, 1, 1],
    [128, 1, 1],
    [256, 1, 1],
    [512, 1, 1],
    [8, 8, 1],
    [16, 16, 1],
    [32, 8, 1],
    [32, 2, 1],
    [32, 32, 1],
    [4, 4, 4],
    [8, 8, 4],
    [1, 64, 1],
];
/// Values that parameters have before they are fitted to the contract.
const VALUES: [i128; 4] = [256, 64, 4096, 3];
/// How many times as large as in a race parameters are.
pub(super) const ENLARGED: [i128; 2] = [64, 16];
/// How often parameters are fitted to what is not yet true.
const FITTINGS: usize = 8;
/// Instructions that one launch may take.
const STEPS: u64 = 4_000_000;

/// Whether somebody would make a launch of these that satisfies the conditions, and whose threads reach each two accesses.
///
/// `races` are parameters of races that the contract excludes: values with which the accesses are reached.
pub(super) fn is_plausible(
    (kernel, contract): (&Kernel, &[Condition]),
    scopes: &[&Scope],
    pairs: &[Raced],
    races: &[Vec<Option<i128>>],
) -> bool {
    let program = eval::Program::new(kernel);
    let mut open: Vec<Raced> = pairs.to_vec();
    for scope in scopes {
        for geometry in geometries(kernel, scope) {
            for start in starts(kernel, races) {
                let Some(params) = fitted((kernel, contract), scope, geometry, start) else { continue };
                let blocks = [[0; 3], geometry.grid.map(|extent| extent - 1)];
                let meetings = open.iter().map(|_| Meeting::default()).collect();
                let mut reached = Reached { pairs: &open, meetings };
                let setup = Setup {
                    geometry,
                    params: &params,
                    blocks: Blocks::These(&blocks[..if blocks[0] == blocks[1] { 1 } else { 2 }]),
                    contents: Contents::Unknown,
                    budget: STEPS.min(work::left()),
                };
                let outcome = eval::run(&program, &setup, &mut reached);
                if outcome.vacuous {
                    continue;
                }
                let met: Vec<bool> = reached.meetings.iter().map(|meeting| meeting.is_met).collect();
                let mut met = met.into_iter();
                open.retain(|_| met.next() == Some(false));
                if open.is_empty() {
                    return true;
                }
            }
        }
    }
    false
}

/// Launches of a scope that are large enough.
pub(super) fn geometries(kernel: &Kernel, scope: &Scope) -> Vec<Geometry> {
    let read = extents::that_matter(kernel);
    let required = kernel.geometry.required_block;
    let fixed = [0, 1, 2].map(|axis| scope.block[axis].or(required.map(|block| block[axis])));
    let fits = |block: &[u32; 3]| {
        let is_stated = fixed.iter().all(Option::is_some);
        let large = is_stated || block.iter().product::<u32>() >= LEAST_THREADS.min(kernel.geometry.most_threads());
        let each = [0, 1, 2].iter().all(|&axis| match fixed[axis] {
            Some(extent) => extent == block[axis],
            None => (block[axis] > 1) == read[0][axis],
        });
        large && each && block.iter().product::<u32>() <= kernel.geometry.most_threads()
    };
    let shapes = BLOCKS.into_iter().map(|shape| [0, 1, 2].map(|axis| fixed[axis].unwrap_or(shape[axis])));
    let mut blocks: Vec<[u32; 3]> = Vec::new();
    for block in shapes.filter(|block| fits(block)) {
        if !blocks.contains(&block) {
            blocks.push(block);
        }
    }
    let cluster = kernel.geometry.clusters().unwrap_or([1; 3]);
    let grid = [0, 1, 2].map(|axis| scope.grid[axis].unwrap_or(if read[1][axis] { 2 } else { 1 } * cluster[axis]));
    let is_large = [0, 1, 2].iter().all(|&axis| scope.grid[axis].is_some() || !read[1][axis] || grid[axis] > 1);
    let geometry = |block| Geometry { block, grid };
    blocks.into_iter().filter(|_| is_large).map(geometry).collect()
}

/// Values that parameters have before they are fitted: those of the races, all equal, and each much less than the one before.
///
/// A race that is known is one of few elements; many times as large, it leaves the same guards open for whole blocks: an
/// extent `x1 - x0` is positive there, which it is in no launch whose sizes are equal.
fn starts(kernel: &Kernel, races: &[Vec<Option<i128>>]) -> Vec<Vec<Option<i128>>> {
    let count = kernel.params.len();
    let equal = VALUES.iter().map(|&value| vec![Some(value); count]);
    let falling = (0..count).map(|at| Some(4096_i128 >> (4 * at.min(3)))).collect::<Vec<_>>();
    let rising = falling.iter().rev().copied().collect();
    let larger = ENLARGED.iter().flat_map(|&by| races.iter().map(move |race| enlarged(race, by)));
    equal.chain(races.iter().cloned()).chain([falling, rising]).chain(larger).collect()
}

/// Parameters that many times as large.
pub(super) fn enlarged(params: &[Option<i128>], by: i128) -> Vec<Option<i128>> {
    params.iter().map(|value| value.map(|value| value.saturating_mul(by))).collect()
}

/// The parameters of a witness, in the order of the kernel.
pub(super) fn params_of(params: &Arena<Param>, witness: &Witness) -> Vec<Option<i128>> {
    let value = |name: &str| witness.params.iter().find(|(other, _)| other == name).map(|&(_, value)| value);
    params.iter().map(|(_, param)| value(&param.name)).collect()
}

/// Values of the parameters with which a launch satisfies the conditions and what is stated of launches.
pub(super) fn fitted(
    (kernel, contract): (&Kernel, &[Condition]),
    scope: &Scope,
    geometry: Geometry,
    start: Vec<Option<i128>>,
) -> Option<Vec<Option<i128>>> {
    let fixed = |at: usize| scope.params.get(at).copied().flatten();
    let number = |at: usize, ty: ScalarType| {
        let (least, most) = ty.range()?;
        Some(start.get(at).copied().flatten().unwrap_or(1).clamp(least, most))
    };
    let mut params: Vec<Option<i128>> =
        kernel.params.iter().map(|(id, param)| fixed(id.index()).or_else(|| number(id.index(), param.ty))).collect();
    let stated: Vec<ExprId> = kernel
        .body
        .iter()
        .filter_map(|stmt| match stmt {
            Stmt::Assume { cond, .. } => Some(*cond),
            _ => None,
        })
        .collect();
    for _ in 0..FITTINGS {
        let value = |leaf: Leaf| value_in(geometry, &params, leaf);
        let is_open = |at: usize| fixed(at).is_none();
        let broken = contract.iter().find(|condition| condition.holds(&value) != Some(true));
        let fitting = match broken {
            Some(broken) => Some(fitting(broken, &value, &is_open)?),
            None => stated.iter().find_map(|&cond| fitting_of(&kernel.exprs, cond, &value, &is_open)),
        };
        let Some((at, wanted)) = fitting else { return Some(params) };
        params[at] = Some(wanted);
    }
    None
}

/// A parameter, and its value with which a comparison holds that is stated and does not; `None` if it holds, or is no comparison
/// of a parameter.
fn fitting_of(
    exprs: &Exprs,
    cond: ExprId,
    value: &impl Fn(Leaf) -> Option<i128>,
    is_open: &impl Fn(usize) -> bool,
) -> Option<(usize, i128)> {
    let Expr::Binary(op, left, right) = exprs[cond] else { return None };
    let (less, own, other) = (number(exprs, left, value)?, left, right);
    let more = number(exprs, right, value)?;
    let (holds, for_left, for_right) = match op {
        BinaryOp::Le => (less <= more, more, less),
        BinaryOp::Lt => (less < more, more - 1, less + 1),
        BinaryOp::Ge => (less >= more, more, less),
        BinaryOp::Gt => (less > more, more + 1, less - 1),
        BinaryOp::Eq => (less == more, more, less),
        _ => return None,
    };
    if holds {
        return None;
    }
    [(own, for_left), (other, for_right)].into_iter().find_map(|(side, wanted)| solved(exprs, side, wanted, is_open))
}

/// The value of a parameter with which a side of a comparison is at least that, or just that.
fn solved(exprs: &Exprs, side: ExprId, wanted: i128, is_open: &impl Fn(usize) -> bool) -> Option<(usize, i128)> {
    match exprs[side] {
        Expr::Param(param) => is_open(param.index()).then_some((param.index(), wanted)),
        Expr::Convert(_, inner) => solved(exprs, inner, wanted, is_open),
        Expr::Binary(BinaryOp::Mul, inner, factor) => {
            let factor = exprs.as_int(factor).filter(|&factor| factor > 0)?;
            solved(exprs, inner, wanted.div_euclid(factor) + i128::from(wanted.rem_euclid(factor) > 0), is_open)
        }
        Expr::Binary(BinaryOp::Add, inner, more) => solved(exprs, inner, wanted - exprs.as_int(more)?, is_open),
        _ => None,
    }
}

/// The value of a sum or product of what a launch has.
fn number(exprs: &Exprs, expr: ExprId, value: &impl Fn(Leaf) -> Option<i128>) -> Option<i128> {
    match exprs[expr] {
        Expr::Int(number, _) => Some(number),
        Expr::Param(param) => value(Leaf::Param(param)),
        Expr::Geometry(GeometryVar::BlockDim(axis)) => value(Leaf::Block(axis)),
        Expr::Geometry(GeometryVar::GridDim(axis)) => value(Leaf::Grid(axis)),
        Expr::Convert(_, inner) => number(exprs, inner, value),
        Expr::Binary(op, left, right) => {
            let (left, right) = (number(exprs, left, value)?, number(exprs, right, value)?);
            match op {
                BinaryOp::Add => left.checked_add(right),
                BinaryOp::Sub => left.checked_sub(right),
                BinaryOp::Mul => left.checked_mul(right),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A parameter, and its value with which a comparison holds.
fn fitting(
    condition: &Condition,
    value: &impl Fn(Leaf) -> Option<i128>,
    is_open: &impl Fn(usize) -> bool,
) -> Option<(usize, i128)> {
    let Condition::Compare(left, _, right) = condition else { return None };
    for (own, other) in [(left, right), (right, left)] {
        if let [(1, product)] = own.0.as_slice()
            && let [Leaf::Param(param)] = product.as_slice()
            && is_open(param.index())
        {
            return Some((param.index(), other.value(value)?));
        }
    }
    None
}

/// The value of a leaf in a launch.
pub(super) fn value_in(geometry: Geometry, params: &[Option<i128>], leaf: Leaf) -> Option<i128> {
    let extent = |extents: [u32; 3], axis: Axis| i128::from(extents[axis.index()]);
    match leaf {
        Leaf::Block(axis) => Some(extent(geometry.block, axis)),
        Leaf::Grid(axis) => Some(extent(geometry.grid, axis)),
        Leaf::Param(param) => params.get(param.index()).copied().flatten(),
    }
}

/// Two accesses that race without the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Raced {
    pub(super) sites: [SiteId; 2],
    /// Whether the threads are of two blocks.
    pub(super) is_across: bool,
}

/// Which threads reach the two accesses with nothing between that orders them; two of each are enough.
#[derive(Default)]
struct Meeting {
    /// By block, if it is about one, and by the number of syncs that were passed.
    by: BTreeMap<(u32, u32), [BTreeSet<ThreadId>; 2]>,
    is_met: bool,
}

impl Meeting {
    fn see(&mut self, raced: Raced, event: &Event) {
        let ThreadId { block, .. } = event.thread;
        let interval = if raced.is_across { (0, event.stamp.grid) } else { (block, event.stamp.block) };
        let meets = |one: &ThreadId, other: &ThreadId| one != other && (one.block != other.block) == raced.is_across;
        let sides = self.by.entry(interval).or_default();
        for (site, threads) in raced.sites.iter().zip(sides.iter_mut()) {
            let is_new = |known: &BTreeSet<ThreadId>| known.iter().all(|it| meets(it, &event.thread));
            if *site == event.site && threads.len() < 2 && is_new(threads) {
                threads.insert(event.thread);
            }
        }
        let [first, second] = sides;
        self.is_met = first.iter().any(|one| second.iter().any(|other| meets(one, other)));
    }
}

/// Who reaches the accesses of each pair.
struct Reached<'p> {
    pairs: &'p [Raced],
    meetings: Vec<Meeting>,
}

impl Sink for Reached<'_> {
    fn access(&mut self, event: &Event, _locals: &[Value]) {
        for (&raced, meeting) in self.pairs.iter().zip(&mut self.meetings) {
            if !meeting.is_met && raced.sites.contains(&event.site) {
                meeting.see(raced, event);
            }
        }
    }

    fn wants_more(&self) -> bool {
        !self.meetings.iter().all(|meeting| meeting.is_met)
    }
}
