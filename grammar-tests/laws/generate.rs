//! Random kernels in the calculus: two parameters, a global and a shared array, guards on thread ids, counted
//! and open loops, barriers under uniform and other conditions, reads that flow into indices and guards.
//!
//! A kernel is built from a list of bytes, each of which decides something; where the list ends, every
//! decision is the simplest one. So proptest shrinks kernels by shrinking lists, and kernels terminate for
//! small parameters except for loops that reads control.

use proptest::prelude::*;
use raceproof::calculus::{
    Access, Among, Array, ArrayId, AtomicOp, Axis, Basis, BinaryOp, ExprId, For, GeometryVar, HavocReason, Kernel,
    MemoryOrder, Param, ParamId, ScalarType, Site, SiteId, Space, Step, Stmt, SyncMemory, SyncScope, Test, VarId,
    Variable,
};

/// Any kernel; most are small.
pub(crate) fn kernels() -> impl Strategy<Value = Kernel> {
    proptest::collection::vec(any::<u8>(), 0..120).prop_map(|choices| kernel(&choices))
}

/// The kernel that these choices make.
pub(crate) fn kernel(choices: &[u8]) -> Kernel {
    let mut generator = Generator::new(choices);
    generator.kernel.body = generator.block(3, Depth::default());
    generator.kernel
}

/// What surrounds a statement.
#[derive(Clone, Copy, Default)]
struct Depth {
    constructs: u32,
    /// Loop variables in use.
    loops: usize,
}

struct Generator<'a> {
    choices: std::slice::Iter<'a, u8>,
    kernel: Kernel,
    params: [ParamId; 2],
    arrays: [ArrayId; 2],
    /// Variables of loops, one for each depth.
    counters: [VarId; 3],
    /// Plain variables.
    locals: [VarId; 2],
    /// Variables that reads bind.
    loaded: [VarId; 2],
}

impl<'a> Generator<'a> {
    fn new(choices: &'a [u8]) -> Self {
        let mut kernel = Kernel { name: "generated".to_owned(), ..Kernel::default() };
        let mut var = |name: &str| kernel.vars.push(Variable { name: name.to_owned(), ty: ScalarType::I32 });
        let counters = ["i", "j", "k"].map(&mut var);
        let locals = ["a", "b"].map(&mut var);
        let loaded = ["v", "w"].map(&mut var);
        let params = ["n", "m"].map(|name| kernel.params.push(Param { name: name.to_owned(), ty: ScalarType::I32 }));
        let mut array = |name: &str, space, is_param| {
            kernel.arrays.push(Array {
                name: name.to_owned(),
                space,
                bytes: None,
                element_bytes: 4,
                inner_dims: Vec::new(),
                is_param,
                is_filled_elsewhere: false,
                held_in: None,
                given: None,
                span: None,
            })
        };
        let arrays = [array("y", Space::Global, true), array("s", Space::Shared, false)];
        Generator { choices: choices.iter(), kernel, params, arrays, counters, locals, loaded }
    }

    /// A number below `count`; 0 where the choices have run out.
    fn choose(&mut self, count: u8) -> u8 {
        self.choices.next().map_or(0, |choice| choice % count)
    }

    fn site(&mut self) -> SiteId {
        self.kernel.sites.push(Site { span: None, inlined: Vec::new(), told: None })
    }

    fn int(&mut self, value: i128) -> ExprId {
        self.kernel.exprs.int(value, ScalarType::I32)
    }

    fn var(&mut self, var: VarId) -> ExprId {
        self.kernel.exprs.var(var, ScalarType::I32)
    }

    fn id(&mut self, var: GeometryVar) -> ExprId {
        let id = self.kernel.exprs.geometry(var);
        self.kernel.exprs.convert(ScalarType::I32, id)
    }

    fn block(&mut self, most: u8, depth: Depth) -> Vec<Stmt> {
        let count = 1 + self.choose(most + 1);
        (0..count).map(|_| self.stmt(depth)).collect()
    }

    fn stmt(&mut self, depth: Depth) -> Stmt {
        let plain = depth.constructs >= 3;
        match self.choose(if plain { 8 } else { 16 }) {
            0 | 1 => self.write(depth),
            2 | 3 => {
                let var = self.loaded[usize::from(self.choose(2))];
                Stmt::Read { var, access: self.access(depth) }
            }
            4 => {
                let var = self.locals[usize::from(self.choose(2))];
                Stmt::Let { var, value: self.value(depth) }
            }
            5 | 6 => self.sync(),
            7 => self.rare(depth),
            8..=10 => self.branch(depth),
            11..=14 => self.counted(depth),
            _ => self.looped(depth),
        }
    }

    fn write(&mut self, depth: Depth) -> Stmt {
        let value = match self.choose(3) {
            0 => None,
            1 => Some(self.int(7)),
            _ => Some(self.value(depth)),
        };
        Stmt::Write { access: self.access(depth), value }
    }

    fn sync(&mut self) -> Stmt {
        let scope = if self.choose(8) == 7 { SyncScope::Warp } else { SyncScope::Block };
        let memory = match self.choose(8) {
            7 => SyncMemory { shared: true, ..SyncMemory::NONE },
            _ => SyncMemory::BOTH,
        };
        Stmt::Sync { scope, memory, among: Among::All, site: self.site() }
    }

    fn rare(&mut self, depth: Depth) -> Stmt {
        match self.choose(4) {
            0 => {
                let var = Some(self.loaded[0]);
                let operands = vec![self.int(1)];
                let scope = if self.choose(2) == 0 { SyncScope::Grid } else { SyncScope::Block };
                let access = self.access(depth);
                Stmt::Atomic { var, access, op: AtomicOp::Add, operands, order: MemoryOrder::Relaxed, scope }
            }
            3 => {
                let scope = if self.choose(2) == 0 { SyncScope::Grid } else { SyncScope::Block };
                let memory = SyncMemory { shared: true, global: self.choose(2) == 0, ..SyncMemory::NONE };
                Stmt::Fence { order: MemoryOrder::AcquireRelease, scope, memory, site: self.site() }
            }
            1 => self.unknown(),
            _ => {
                let n = self.kernel.exprs.param(self.params[0], ScalarType::I32);
                let zero = self.int(0);
                let cond = self.kernel.exprs.binary(BinaryOp::Ge, n, zero);
                Stmt::Assume { cond, basis: Basis::Stated, span: None }
            }
        }
    }

    /// A value of which nothing is known, or only that threads which meet get the same one.
    fn unknown(&mut self) -> Stmt {
        let var = self.loaded[usize::from(self.choose(2))];
        let value = |reason| Stmt::Havoc { var, reason, span: None };
        let scope = match self.choose(3) {
            0 => return value(HavocReason::Call("f".to_owned())),
            1 => SyncScope::Warp,
            _ => SyncScope::Block,
        };
        let meet = Stmt::Sync { scope, memory: SyncMemory::NONE, among: Among::All, site: self.site() };
        let cond = self.kernel.exprs.bool(true);
        let then = vec![meet, value(HavocReason::Common(scope, "f".to_owned()))];
        Stmt::If { cond, then, otherwise: Vec::new() }
    }

    fn branch(&mut self, depth: Depth) -> Stmt {
        let cond = self.condition(depth);
        let inner = Depth { constructs: depth.constructs + 1, ..depth };
        let then = self.block(2, inner);
        let otherwise = if self.choose(3) == 2 { self.block(1, inner) } else { Vec::new() };
        Stmt::If { cond, then, otherwise }
    }

    fn counted(&mut self, depth: Depth) -> Stmt {
        let var = self.counters[depth.loops.min(2)];
        let inner = Depth { constructs: depth.constructs + 1, loops: depth.loops + 1 };
        if depth.loops > 2 {
            return self.write(depth);
        }
        let (start, cmp, bound, step) = match self.choose(6) {
            0 => (self.int(0), BinaryOp::Lt, self.bound(), (BinaryOp::Add, self.int(1))),
            1 => {
                let (start, step) = (self.id(GeometryVar::ThreadIdx(Axis::X)), self.id(GeometryVar::BlockDim(Axis::X)));
                (start, BinaryOp::Lt, self.bound(), (BinaryOp::Add, step))
            }
            2 => (self.int(8), BinaryOp::Gt, self.int(0), (BinaryOp::Shr, self.int(1))),
            3 => (self.int(1), BinaryOp::Le, self.bound(), (BinaryOp::Mul, self.int(2))),
            4 => (self.bound(), BinaryOp::Gt, self.int(0), (BinaryOp::Sub, self.int(1))),
            _ => {
                // Some steps away, up or down: other loops with this test would not end.
                let (start, by, turns) = (self.bound(), 1 + self.choose(2), self.choose(4));
                let op = if self.choose(2) == 0 { BinaryOp::Add } else { BinaryOp::Sub };
                let way = self.int(i128::from(by * turns));
                let end = self.kernel.exprs.binary(op, start, way);
                (start, BinaryOp::Ne, end, (op, self.int(i128::from(by))))
            }
        };
        let body = self.block(2, inner);
        let step = Step { op: step.0, by: step.1 };
        Stmt::For(Box::new(For { var, start, cmp, bound, step, body, site: self.site() }))
    }

    /// A bound that the loop cannot change.
    fn bound(&mut self) -> ExprId {
        match self.choose(4) {
            0 => self.int(3),
            1 => self.kernel.exprs.param(self.params[0], ScalarType::I32),
            2 => self.id(GeometryVar::BlockDim(Axis::X)),
            _ => self.id(GeometryVar::ThreadIdx(Axis::X)),
        }
    }

    fn looped(&mut self, depth: Depth) -> Stmt {
        let inner = Depth { constructs: depth.constructs + 1, ..depth };
        let (var, four) = (self.loaded[0], self.int(4));
        let value = self.var(var);
        let cond = self.kernel.exprs.binary(BinaryOp::Lt, value, four);
        let mut body = self.block(1, inner);
        let one = self.int(1);
        let three = self.int(3);
        let masked = self.kernel.exprs.binary(BinaryOp::BitAnd, value, three);
        let next = self.kernel.exprs.binary(BinaryOp::Add, masked, one);
        body.push(Stmt::Let { var, value: next });
        let test = if self.choose(2) == 0 { Test::Before(cond) } else { Test::After(cond) };
        Stmt::Loop { test, body, site: self.site() }
    }

    fn access(&mut self, depth: Depth) -> Access {
        let array = self.arrays[usize::from(self.choose(2))];
        let index = self.index(depth);
        let wide = self.kernel.exprs.convert(ScalarType::I64, index);
        let four = self.kernel.exprs.int(4, ScalarType::I64);
        let offset = self.kernel.exprs.binary(BinaryOp::Mul, wide, four);
        Access { array, offset, bytes: 4, align: 1, site: self.site() }
    }

    /// An index that stays small, so that no arithmetic overflows.
    fn index(&mut self, depth: Depth) -> ExprId {
        let thread = self.id(GeometryVar::ThreadIdx(Axis::X));
        match self.choose(10) {
            0 => thread,
            1 => {
                let (block, size) = (self.id(GeometryVar::BlockIdx(Axis::X)), self.id(GeometryVar::BlockDim(Axis::X)));
                let start = self.kernel.exprs.binary(BinaryOp::Mul, block, size);
                self.kernel.exprs.binary(BinaryOp::Add, start, thread)
            }
            2 => self.int(0),
            3 => self.with(thread, BinaryOp::Add, 1),
            4 => self.with(thread, BinaryOp::Mul, 2),
            5 => self.with(thread, BinaryOp::BitXor, 1),
            6 => self.with(thread, BinaryOp::Div, 2),
            7 => {
                let counter = self.counter(depth);
                self.kernel.exprs.binary(BinaryOp::Add, counter, thread)
            }
            8 => self.small_local(),
            _ => {
                let value = self.var(self.loaded[0]);
                self.with(value, BinaryOp::BitAnd, 3)
            }
        }
    }

    fn counter(&mut self, depth: Depth) -> ExprId {
        match depth.loops {
            0 => self.int(2),
            loops => self.var(self.counters[(loops - 1).min(2)]),
        }
    }

    fn small_local(&mut self) -> ExprId {
        let local = self.var(self.locals[0]);
        self.with(local, BinaryOp::BitAnd, 7)
    }

    fn with(&mut self, left: ExprId, op: BinaryOp, right: i128) -> ExprId {
        let right = self.int(right);
        self.kernel.exprs.binary(op, left, right)
    }

    fn value(&mut self, depth: Depth) -> ExprId {
        match self.choose(4) {
            0 => self.index(depth),
            1 => self.counter(depth),
            2 => {
                let (cond, one) = (self.condition(depth), self.int(1));
                let other = self.small_local();
                self.kernel.exprs.select(cond, one, other)
            }
            _ => self.var(self.loaded[1]),
        }
    }

    fn condition(&mut self, depth: Depth) -> ExprId {
        let thread = self.id(GeometryVar::ThreadIdx(Axis::X));
        let n = self.kernel.exprs.param(self.params[0], ScalarType::I32);
        let m = self.kernel.exprs.param(self.params[1], ScalarType::I32);
        match self.choose(8) {
            0 => self.kernel.exprs.binary(BinaryOp::Lt, thread, n),
            1 => self.with(thread, BinaryOp::Eq, 0),
            2 => self.kernel.exprs.binary(BinaryOp::Lt, n, m),
            3 => {
                let parity = self.with(thread, BinaryOp::BitAnd, 1);
                self.with(parity, BinaryOp::Eq, 0)
            }
            4 => {
                let counter = self.counter(depth);
                self.kernel.exprs.binary(BinaryOp::Ne, counter, m)
            }
            5 => {
                let local = self.small_local();
                self.with(local, BinaryOp::Gt, 2)
            }
            6 => {
                let value = self.var(self.loaded[0]);
                self.with(value, BinaryOp::Gt, 0)
            }
            _ => {
                let (a, b) = (self.with(thread, BinaryOp::Lt, 2), self.with(m, BinaryOp::Gt, 1));
                self.kernel.exprs.and(a, b)
            }
        }
    }
}
