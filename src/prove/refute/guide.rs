//! Launches that a condition asks for, instead of those that an enumeration happens on.
//!
//! What a pair of accesses needs to conflict (guards, iterations of loops, a common byte, two distinct threads) and
//! what two threads need to disagree about a barrier is a [`Problem`] over ids, sizes, parameters and iteration
//! numbers. A solution names a launch and the blocks in which it happens; running it from the entry decides
//! ([`super::Hunt`]), so that what is left out here (syncs between the accesses, early exits) costs a run,
//! never a wrong witness.
//!
//! Natural values come first: parameters of at least 1, then any; ids, iterations and sizes as small as they can be.
//!
//! Where arrays are named whose contents may be chosen ([`conflict_with_contents`]), a read of one is a free value,
//! too, the same for all reads of one place; conditions that depend on anything else are left to the run.
//!
//! Deliberately absent: all else that depends on what memory holds; it has no certain witness.

mod contents;
mod loops;

pub(super) use contents::{Placed, conflict_with_contents};

use super::space::Space;
use super::witness::Launch;
use crate::calculus::intervals::Relation;
use crate::calculus::{
    ArrayId, Axis, BinaryOp, Expr, ExprId, GRID, Geometry, GeometryVar, ScalarType, VarId, operands,
};
use crate::memory_model::Level;
use crate::protocol::{Claim, Protocol};
use crate::prove::Returned;
use crate::prove::domains::{Effort, NodeId, Op, Problem, Range};
use crate::prove::{Groups, Pair, SyncQuestion};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Nodes of a problem that is worth solving.
const MOST_NODES: usize = 3_000;
/// What is done for one way to tell the threads apart: a first try that looks at two values of everything, and
/// a longer one.
const EFFORTS: [Effort; 2] = [Effort { left: 80, breadth: 2 }, Effort { left: 240, breadth: usize::MAX }];
/// The same for values that are not natural.
const LAST_EFFORTS: [Effort; 2] = [Effort { left: 40, breadth: 2 }, Effort { left: 60, breadth: usize::MAX }];
/// Nodes that one way may visit in all; large problems get fewer narrowings.
const VISITS: u32 = 60_000;
/// Parameters are looked at up to here.
const LARGE: i64 = 1 << 20;
/// Threads of a warp.
const WARP: i64 = crate::calculus::eval::WARP as i64;

/// Which values a solution may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taste {
    /// Every parameter is at least 1.
    Natural,
    /// Anything that the types admit.
    Any,
}

/// What is wanted of the two threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Apart {
    /// They are two.
    Distinct,
    /// They are in two warps.
    AcrossWarps,
    /// There is only one that matters.
    Alone,
}

/// A launch in which `pair` may conflict, at offsets that are multiples of `aligns`; `None` if none was found.
pub(super) fn conflict(
    protocol: &Protocol,
    (pair, aligns): (&Pair, [u32; 2]),
    choices: &Space,
    apart: Apart,
) -> Option<Launch> {
    let accesses = [&protocol.accesses[pair.first], &protocol.accesses[pair.second]];
    if accesses.iter().any(|access| !access.reasons.is_empty()) {
        return None;
    }
    sketch(protocol, choices, pair.level, apart, &|sketch| {
        sketch.be_of(pair.groups);
        sketch.enter_loops(&accesses[0].loops, &accesses[1].loops, &pair.meeting.relations)?;
        for (env, access) in accesses.iter().enumerate() {
            sketch.hold(env, &access.loops, &access.guards)?;
        }
        let offsets = [sketch.expr(accesses[0].offset, 0)?, sketch.expr(accesses[1].offset, 1)?];
        sketch.overlap(offsets, accesses.map(|access| i64::from(access.bytes)));
        for (offset, align) in offsets.into_iter().zip(aligns).filter(|(_, align)| *align > 1) {
            sketch.align(offset, align.into());
        }
        Some(())
    })
}

/// A launch in which `claim` may fail in some thread.
pub(super) fn failure(protocol: &Protocol, claim: &Claim, choices: &Space) -> Option<Launch> {
    if !claim.reasons.is_empty() {
        return None;
    }
    sketch(protocol, choices, Level::Block, Apart::Alone, &|sketch| {
        sketch.enter_loops(&claim.loops, &[], &[])?;
        sketch.hold(0, &claim.loops, &claim.guards)?;
        let fails = sketch.expr(claim.cond, 0)?;
        sketch.problem.require(fails, Range::exactly(0));
        Some(())
    })
}

/// A launch in which two threads of a block may disagree about reaching `sync`.
pub(super) fn divergence(
    protocol: &Protocol,
    asked: SyncQuestion,
    returned: Returned,
    choices: &Space,
) -> Option<Launch> {
    let sync = &protocol.syncs[asked.sync];
    if !sync.reasons.is_empty() {
        return None;
    }
    (0..sync.guards.len()).find_map(|position| {
        let guard = sync.guards[position];
        if guard.not_returned && returned == Returned::ReleaseBarriers {
            return None;
        }
        sketch(protocol, choices, asked.level, Apart::Distinct, &|sketch| {
            sketch.be_of(asked.groups);
            let together: Vec<_> = sync.loops.iter().map(|&id| (protocol.loops[id].site, Relation::Same)).collect();
            sketch.enter_loops(&sync.loops, &sync.loops, &together)?;
            sketch.hold(0, &[], &sync.guards)?;
            sketch.hold(1, &[], &sync.guards[..position])?;
            if let Some(cond) = sync.among.named().filter(|cond| *cond != guard.cond) {
                let named = sketch.expr(cond, 1)?;
                sketch.problem.require(named, Range::exactly(1));
            }
            let fails = sketch.expr(guard.cond, 1)?;
            sketch.problem.require(fails, Range::exactly(0));
            Some(())
        })
    })
}

/// Something that adds what is asked to a sketch; `None` if it cannot be expressed.
type Ask<'q> = &'q dyn Fn(&mut Sketch<'_>) -> Option<()>;

/// Solves what is asked, natural values first, for each way in which the threads may differ.
fn sketch(protocol: &Protocol, choices: &Space, level: Level, apart: Apart, ask: Ask<'_>) -> Option<Launch> {
    sketch_with(protocol, choices, level, apart, &BTreeSet::new(), ask).map(|(launch, _)| launch)
}

/// The same, where reads of the arrays `free` may give anything.
fn sketch_with(
    protocol: &Protocol,
    choices: &Space,
    level: Level,
    apart: Apart,
    free: &BTreeSet<ArrayId>,
    ask: Ask<'_>,
) -> Option<(Launch, Vec<Placed>)> {
    let mut first = Sketch::new(protocol, choices, level, Taste::Natural, free)?;
    ask(&mut first)?;
    if first.problem.len() > MOST_NODES {
        return None;
    }
    let most = VISITS / first.problem.len().max(1) as u32;
    first.solve_somehow(apart, EFFORTS, most).or_else(|| {
        if choices.free_params() == 0 && first.reads.is_empty() {
            return None;
        }
        let mut second = Sketch::new(protocol, choices, level, Taste::Any, free)?;
        ask(&mut second)?;
        second.solve_somehow(apart, LAST_EFFORTS, most)
    })
}

/// What variables stand for at one place of one thread.
#[derive(Clone, Default)]
struct Env {
    vars: FxHashMap<VarId, NodeId>,
    side: usize,
}

/// Classes of free values in the order in which they are chosen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Ids,
    Blocks,
    Turns,
    Sizes,
    Params,
    Contents,
}

/// A read of memory whose contents may be chosen.
struct Reading {
    array: ArrayId,
    bytes: u32,
    offset: NodeId,
    value: NodeId,
}

/// What a launch gives to the two threads.
#[derive(Default)]
struct Sketched {
    /// Thread and block ids of both threads, sizes of blocks and of the grid.
    threads: [[NodeId; 3]; 2],
    blocks: [[NodeId; 3]; 2],
    block: [NodeId; 3],
    grid: [NodeId; 3],
    params: Vec<Option<NodeId>>,
}

struct Sketch<'a> {
    protocol: &'a Protocol,
    choices: &'a Space,
    level: Level,
    problem: Problem,
    classes: FxHashMap<NodeId, Class>,
    envs: Vec<Env>,
    known: FxHashMap<(ExprId, usize), Option<NodeId>>,
    launch: Sketched,
    taste: Taste,
    /// Arrays whose contents may be chosen.
    contents: &'a BTreeSet<ArrayId>,
    reads: Vec<Reading>,
    /// Reads of such arrays within whose offset the current one stands.
    depth: u32,
}

impl<'a> Sketch<'a> {
    fn new(
        protocol: &'a Protocol,
        choices: &'a Space,
        level: Level,
        taste: Taste,
        contents: &'a BTreeSet<ArrayId>,
    ) -> Option<Self> {
        let mut sketch = Sketch {
            protocol,
            choices,
            level,
            problem: Problem::default(),
            classes: FxHashMap::default(),
            envs: [0, 1].map(|side| Env { side, ..Env::default() }).into(),
            known: FxHashMap::default(),
            launch: Sketched { params: vec![None; protocol.params.len()], ..Sketched::default() },
            taste,
            contents,
            reads: Vec::new(),
            depth: 0,
        };
        sketch.make_geometry();
        for fact in &protocol.facts {
            if fact.loops.is_empty() && fact.guards.is_empty() {
                for env in [0, 1] {
                    if let Some(node) = sketch.expr(fact.cond, env) {
                        sketch.problem.require(node, Range::TRUE);
                    }
                }
            }
        }
        Some(sketch)
    }

    fn free(&mut self, class: Class, range: Range) -> NodeId {
        let node = self.problem.free(range, self.choices.likely(range.high));
        self.classes.insert(node, class);
        node
    }

    fn make_geometry(&mut self) {
        let shared = self.level != Level::Grid;
        let mut threads = self.problem.constant(1);
        for axis in 0..3 {
            let rules = self.protocol.geometry.platform.rules();
            let widest = rules.block[axis].min(self.protocol.geometry.most_threads());
            self.launch.block[axis] = self.extent(self.choices.block[axis], i64::from(widest));
            self.launch.grid[axis] = self.extent(self.choices.grid[axis], i64::from(GRID[axis]).min(LARGE));
            for side in 0..2 {
                self.launch.threads[side][axis] =
                    self.id(Class::Ids, self.choices.block[axis], self.launch.block[axis]);
            }
            let class = if shared { Class::Blocks } else { Class::Ids };
            self.launch.blocks[0][axis] = self.id(class, self.choices.grid[axis], self.launch.grid[axis]);
            let other = if shared {
                self.launch.blocks[0][axis]
            } else {
                self.id(class, self.choices.grid[axis], self.launch.grid[axis])
            };
            self.launch.blocks[1][axis] = other;
            threads = self.problem.wide(BinaryOp::Mul, threads, self.launch.block[axis]);
        }
        if self.choices.block.iter().any(Option::is_none) {
            self.problem.require(threads, Range { low: 1, high: self.choices.max_threads as i64 });
        }
        self.have_whole_clusters();
    }

    /// Grids consist of whole clusters.
    fn have_whole_clusters(&mut self) {
        for (axis, extent) in self.protocol.geometry.clusters().into_iter().flatten().enumerate() {
            let extent = self.problem.constant(i64::from(extent));
            let rest = self.problem.wide(BinaryOp::Rem, self.launch.grid[axis], extent);
            self.problem.require(rest, Range::exactly(0));
        }
    }

    /// Says of which clusters two blocks are. Of warps nothing is said: whether a launch shows what is asked, its run
    /// tells.
    fn be_of(&mut self, groups: Groups) {
        let (Some(extents), Level::Grid) = (self.protocol.geometry.clusters(), self.level) else { return };
        let mut same = self.problem.constant(1);
        for (axis, extent) in extents.into_iter().enumerate() {
            let extent = self.problem.constant(i64::from(extent));
            let [one, other] =
                [0, 1].map(|side: usize| self.problem.wide(BinaryOp::Div, self.launch.blocks[side][axis], extent));
            let equal = self.problem.wide(BinaryOp::Eq, one, other);
            same = self.problem.wide(BinaryOp::Mul, same, equal);
        }
        match groups {
            Groups::Any => {}
            Groups::Same => self.problem.require(same, Range::exactly(1)),
            Groups::Different => self.problem.require(same, Range::exactly(0)),
        }
    }

    fn extent(&mut self, fixed: Option<u32>, most: i64) -> NodeId {
        match fixed {
            Some(extent) => self.problem.constant(i64::from(extent)),
            None => self.free(Class::Sizes, Range { low: 1, high: most }),
        }
    }

    /// An id below `extent`.
    fn id(&mut self, class: Class, fixed: Option<u32>, extent: NodeId) -> NodeId {
        if fixed == Some(1) {
            return self.problem.constant(0);
        }
        let id = self.free(class, Range { low: 0, high: fixed.map_or(LARGE, i64::from) - 1 });
        let below = self.problem.wide(BinaryOp::Lt, id, extent);
        self.problem.require(below, Range::TRUE);
        id
    }

    /// Accesses of so many bytes at these offsets touch a common byte.
    fn overlap(&mut self, offsets: [NodeId; 2], bytes: [i64; 2]) {
        let distance = self.problem.difference(offsets[0], offsets[1]);
        let overlap = Range { low: 1 - bytes[0], high: bytes[1] - 1 };
        self.problem.require(distance, if bytes[0] == bytes[1] { Range::exactly(0) } else { overlap });
    }

    /// The offset is a multiple of `align`.
    fn align(&mut self, offset: NodeId, align: i64) {
        let align = self.problem.constant(align);
        let rest = self.problem.wide(BinaryOp::Rem, offset, align);
        self.problem.require(rest, Range::exactly(0));
    }

    // ---- expressions

    /// The node of an expression at a place; without recursion.
    fn expr(&mut self, root: ExprId, env: usize) -> Option<NodeId> {
        let protocol = self.protocol;
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.known.contains_key(&(id, env)) {
                stack.pop();
                continue;
            }
            let node = &protocol.exprs[id];
            let before = stack.len();
            stack.extend(operands(node).into_iter().filter(|&operand| !self.known.contains_key(&(operand, env))));
            if stack.len() == before {
                stack.pop();
                let made = if self.problem.len() > MOST_NODES { None } else { self.make(node, id, env) };
                self.known.insert((id, env), made);
            }
        }
        self.known[&(root, env)]
    }

    fn make(&mut self, node: &Expr, id: ExprId, env: usize) -> Option<NodeId> {
        let of = |sketch: &Self, operand: &ExprId| sketch.known.get(&(*operand, env)).copied().flatten();
        let exprs = &self.protocol.exprs;
        let op = match node {
            Expr::Int(value, _) => Op::Constant(i64::try_from(*value).ok()?),
            Expr::Var(var) => return self.envs[env].vars.get(var).copied().or_else(|| self.reading(*var, env)),
            Expr::Param(param) => return self.param(param.index(), exprs.ty(id)),
            Expr::Geometry(var) => return Some(self.geometry(*var, self.envs[env].side)),
            Expr::Unary(op, a) => Op::Unary(*op, of(self, a)?, exprs.ty(*a)),
            Expr::Binary(op, a, b) => {
                exprs.ty(*a).range()?;
                Op::Binary(*op, of(self, a)?, of(self, b)?, exprs.ty(*a))
            }
            Expr::Select(c, a, b) => Op::Select(of(self, c)?, of(self, a)?, of(self, b)?),
            Expr::Convert(ty, a) => {
                exprs.ty(*a).range()?;
                ty.range()?;
                Op::Convert(*ty, of(self, a)?)
            }
            Expr::Opaque(..) | Expr::Call(..) => return None,
        };
        Some(self.problem.node(op))
    }

    fn param(&mut self, index: usize, ty: ScalarType) -> Option<NodeId> {
        if let Some(known) = self.launch.params[index] {
            return Some(known);
        }
        let node = match self.choices.param(index) {
            Some(fixed) => self.problem.constant(i64::try_from(fixed?).ok()?),
            None => {
                let all = Range::of(ty);
                let natural = self.taste == Taste::Natural && ty != ScalarType::Bool;
                let low = if natural { 1 } else { all.low };
                self.free(Class::Params, Range { low, high: all.high.min(LARGE) })
            }
        };
        self.launch.params[index] = Some(node);
        Some(node)
    }

    fn geometry(&self, var: GeometryVar, side: usize) -> NodeId {
        match var {
            GeometryVar::ThreadIdx(axis) => self.launch.threads[side][axis.index()],
            GeometryVar::BlockIdx(axis) => self.launch.blocks[side][axis.index()],
            GeometryVar::BlockDim(axis) => self.launch.block[axis.index()],
            GeometryVar::GridDim(axis) => self.launch.grid[axis.index()],
        }
    }

    // ---- solutions

    /// A solution for some way in which the threads may differ, with no more than `most` narrowings for each.
    fn solve_somehow(&self, apart: Apart, efforts: [Effort; 2], most: u32) -> Option<(Launch, Vec<Placed>)> {
        let ways = Axis::ALL.into_iter().flat_map(|axis| [BinaryOp::Lt, BinaryOp::Gt].map(|order| (axis, order)));
        let ways = ways.take(if apart == Apart::Alone { 1 } else { 6 });
        let limited = efforts.map(|effort| Effort { left: effort.left.min(most), ..effort });
        limited.into_iter().find_map(|effort| ways.clone().find_map(|way| self.solve(way, apart, effort)))
    }

    /// A solution in which the first thread (or its block) comes before or after the second along an axis, as
    /// a launch.
    fn solve(
        &self,
        (axis, order): (Axis, BinaryOp),
        apart: Apart,
        mut effort: Effort,
    ) -> Option<(Launch, Vec<Placed>)> {
        let mut problem = self.problem.clone();
        let ids = if self.level == Level::Grid { &self.launch.blocks } else { &self.launch.threads };
        if apart != Apart::Alone {
            let differ = problem.wide(order, ids[0][axis.index()], ids[1][axis.index()]);
            problem.require(differ, Range::TRUE);
        }
        if apart == Apart::AcrossWarps {
            let warps = [0, 1].map(|side| self.warp(&mut problem, side));
            let differ = problem.wide(BinaryOp::Ne, warps[0], warps[1]);
            problem.require(differ, Range::TRUE);
        }
        problem.order_choices(|node| self.classes.get(&node).map_or(0, |&class| class as u32));
        let values = problem.solve(&mut effort)?;
        Some((self.launch(&values), self.placed(&values)))
    }

    fn warp(&self, problem: &mut Problem, side: usize) -> NodeId {
        let [x, y, z] = self.launch.threads[side];
        let plane = problem.wide(BinaryOp::Mul, z, self.launch.block[1]);
        let row = problem.wide(BinaryOp::Add, plane, y);
        let rows = problem.wide(BinaryOp::Mul, row, self.launch.block[0]);
        let linear = problem.wide(BinaryOp::Add, rows, x);
        let width = problem.constant(WARP);
        problem.wide(BinaryOp::Div, linear, width)
    }

    fn launch(&self, values: &[i64]) -> Launch {
        let at = |nodes: [NodeId; 3]| nodes.map(|node| values[node as usize] as u32);
        let mut blocks = self.launch.blocks.map(at).to_vec();
        blocks.sort_by_key(|[x, y, z]| [*z, *y, *x]);
        blocks.dedup();
        let params = self.launch.params.iter().enumerate().map(|(index, node)| match node {
            Some(node) => self.choices.param(index).unwrap_or(Some(i128::from(values[*node as usize]))),
            None => self.choices.param(index).unwrap_or(Some(1)),
        });
        Launch {
            geometry: Geometry { block: at(self.launch.block), grid: at(self.launch.grid) },
            params: params.collect(),
            blocks: Some(blocks),
        }
    }
}
