//! Random kernels in which some indices and guards come from memory and some values only go through it.
//!
//! Arrays: `data` and `ids` in global memory, `box` and `tile` in shared memory, `out` in global memory, and `mine`, of
//! which each thread has its own, so that its accesses are no sinks. A kernel
//! hands values from thread 0 to all through `box`, keeps own values in `tile`, branches on whatever it has, and
//! loops. Most runs are free of races, as most accesses go to the element of the thread.

use crate::support::dice::Dice;
use raceproof::calculus::{
    Access, Among, Array, ArrayId, Axis, BinaryOp, ExprId, For, GeometryVar, Kernel, MemoryOrder, Param, ScalarType,
    Site, SiteId, Space, Step, Stmt, SyncMemory, SyncScope, Test, VarId, Variable,
};

const INT: ScalarType = ScalarType::I32;

/// Threads of the block that kernels are made for.
pub(super) const THREADS: u32 = 4;

pub(super) struct Maker {
    dice: Dice,
    kernel: Kernel,
    arrays: [ArrayId; 6],
    /// Plain variables; `counters` are those of loops.
    vars: Vec<VarId>,
    counters: Vec<VarId>,
    depth: usize,
    left: u64,
}

/// The kernel of a seed.
pub(super) fn kernel(seed: u64) -> Kernel {
    let mut kernel = Kernel { name: "k".to_owned(), ..Kernel::default() };
    let mut array = |name: &str, space| {
        let is_param = space == Space::Global;
        let (bytes, inner_dims) = (None, Vec::new());
        kernel.arrays.push(Array {
            name: name.to_owned(),
            space,
            bytes,
            element_bytes: 4,
            inner_dims,
            is_param,
            is_filled_elsewhere: false,
            held_in: None,
            given: None,
            span: None,
        })
    };
    let arrays = [
        array("data", Space::Global),
        array("ids", Space::Global),
        array("box", Space::Shared),
        array("tile", Space::Shared),
        array("out", Space::Global),
        array("mine", Space::Private),
    ];
    for name in ["n", "m"] {
        kernel.params.push(Param { name: name.to_owned(), ty: INT });
    }
    let mut var = |name: &str| kernel.vars.push(Variable { name: name.to_owned(), ty: INT });
    let vars = ["a", "b", "c", "d", "e"].map(&mut var).to_vec();
    let counters = ["i", "j"].map(&mut var).to_vec();
    let mut maker = Maker { dice: Dice(seed), kernel, arrays, vars, counters, depth: 0, left: 14 };
    let mut body = Vec::new();
    for var in maker.vars.clone() {
        let value = maker.leaf();
        body.push(Stmt::Let { var, value });
    }
    body.extend(maker.body(7));
    maker.kernel.body = body;
    maker.kernel
}

impl Maker {
    fn below(&mut self, limit: u64) -> u64 {
        self.dice.below(limit)
    }

    fn int(&mut self, value: u64) -> ExprId {
        self.kernel.exprs.int(value.into(), INT)
    }

    fn thread(&mut self) -> ExprId {
        let id = self.kernel.exprs.geometry(GeometryVar::ThreadIdx(Axis::X));
        self.kernel.exprs.convert(INT, id)
    }

    fn any_var(&mut self) -> VarId {
        let at = self.below(self.vars.len() as u64) as usize;
        self.vars[at]
    }

    fn leaf(&mut self) -> ExprId {
        match self.below(8) {
            0 => {
                let value = self.below(4);
                self.int(value)
            }
            1 => {
                let at = self.below(2) as usize;
                let param = self.kernel.params.handles().nth(at).expect("two parameters");
                self.kernel.exprs.param(param, INT)
            }
            2 => self.thread(),
            3 => {
                // In a loop, or after it.
                let at = self.below(self.counters.len() as u64) as usize;
                self.kernel.exprs.var(self.counters[at], INT)
            }
            _ => {
                let var = self.any_var();
                self.kernel.exprs.var(var, INT)
            }
        }
    }

    /// A small number, so that products do not overflow.
    fn small(&mut self) -> ExprId {
        let (leaf, seven) = (self.leaf(), self.int(7));
        self.kernel.exprs.binary(BinaryOp::BitAnd, leaf, seven)
    }

    fn cond(&mut self) -> ExprId {
        let (a, b) = (self.small(), self.small());
        let op = [BinaryOp::Lt, BinaryOp::Eq, BinaryOp::Ge][self.below(3) as usize];
        self.kernel.exprs.binary(op, a, b)
    }

    fn site(&mut self) -> SiteId {
        self.kernel.sites.push(Site { span: None, inlined: Vec::new(), told: None })
    }

    fn at(&mut self, array: usize, index: ExprId) -> Access {
        let index = self.kernel.exprs.convert(ScalarType::I64, index);
        let four = self.kernel.exprs.int(4, ScalarType::I64);
        let offset = self.kernel.exprs.binary(BinaryOp::Mul, four, index);
        Access { array: self.arrays[array], offset, bytes: 4, align: 1, site: self.site() }
    }

    /// The thread's own element, in one of several rows; the row may be any value.
    fn own(&mut self, array: usize) -> Access {
        let row = if self.below(3) == 0 { self.small() } else { self.int(0) };
        let (threads, thread) = (self.int(THREADS.into()), self.thread());
        let row = self.kernel.exprs.binary(BinaryOp::Mul, row, threads);
        let index = self.kernel.exprs.binary(BinaryOp::Add, row, thread);
        self.at(array, index)
    }

    fn body(&mut self, length: u64) -> Vec<Stmt> {
        let length = 1 + self.below(length);
        (0..length).flat_map(|_| self.statement()).collect()
    }

    fn statement(&mut self) -> Vec<Stmt> {
        if self.left == 0 {
            return Vec::new();
        }
        self.left -= 1;
        match self.below(18) {
            0..=2 => vec![self.assign()],
            3 => vec![self.read(0)],
            4 => vec![self.read(1)],
            5 => vec![self.write(3), self.read(3)],
            6 => vec![self.write(4)],
            7 => vec![self.write(1)],
            8 => self.broadcast(),
            9 => vec![self.sync()],
            10 => vec![self.branch()],
            11 if self.depth < 2 => vec![self.counted()],
            12 if self.depth < 2 => self.tested(),
            13 if self.below(3) == 0 => vec![self.atomic(), self.read(4)],
            14 => vec![self.keep()],
            15 => vec![self.keep(), self.recall()],
            16 => vec![self.recall()],
            17 => {
                let (cond, kept) = (self.cond(), self.keep());
                vec![Stmt::If { cond, then: vec![kept], otherwise: Vec::new() }, self.recall()]
            }
            _ => vec![self.read(3)],
        }
    }

    fn assign(&mut self) -> Stmt {
        let (var, a, b) = (self.any_var(), self.small(), self.small());
        let value = match self.below(4) {
            0 => self.leaf(),
            1 => {
                let cond = self.cond();
                self.kernel.exprs.select(cond, a, b)
            }
            2 => self.kernel.exprs.call("h", vec![a, b], INT),
            _ => {
                let op = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::BitXor][self.below(4) as usize];
                self.kernel.exprs.binary(op, a, b)
            }
        };
        Stmt::Let { var, value }
    }

    fn read(&mut self, array: usize) -> Stmt {
        let access = self.own(array);
        Stmt::Read { var: self.any_var(), access }
    }

    fn write(&mut self, array: usize) -> Stmt {
        let value = self.leaf();
        Stmt::Write { access: self.own(array), value: Some(value) }
    }

    /// One of four elements that the thread keeps to itself.
    fn kept(&mut self) -> Access {
        let (index, three) = (self.small(), self.int(3));
        let index = self.kernel.exprs.binary(BinaryOp::BitAnd, index, three);
        self.at(5, index)
    }

    fn keep(&mut self) -> Stmt {
        let value = self.leaf();
        Stmt::Write { access: self.kept(), value: Some(value) }
    }

    fn recall(&mut self) -> Stmt {
        let access = self.kept();
        Stmt::Read { var: self.any_var(), access }
    }

    fn sync(&mut self) -> Stmt {
        let memory = SyncMemory::BOTH;
        Stmt::Sync { scope: SyncScope::Block, memory, among: Among::All, site: self.site() }
    }

    /// `if (threadIdx.x == 0) box[1] = value; barrier; var = box[1]; barrier`, with a part left out at times.
    fn broadcast(&mut self) -> Vec<Stmt> {
        let (thread, zero, cell) = (self.thread(), self.int(0), self.below(2));
        let chosen =
            if self.below(5) == 0 { self.cond() } else { self.kernel.exprs.binary(BinaryOp::Eq, thread, zero) };
        let value = self.leaf();
        let index = self.int(cell);
        let write = Stmt::Write { access: self.at(2, index), value: Some(value) };
        let read = Stmt::Read { access: self.at(2, index), var: self.any_var() };
        let first = Stmt::If { cond: chosen, then: vec![write], otherwise: Vec::new() };
        let mut all = vec![first, self.sync(), read, self.sync()];
        if self.below(6) == 0 {
            let at = self.below(3) as usize;
            all.remove(at);
        }
        all
    }

    fn atomic(&mut self) -> Stmt {
        let by = self.leaf();
        Stmt::Atomic {
            var: Some(self.any_var()),
            access: self.own(4),
            op: raceproof::calculus::AtomicOp::Add,
            operands: vec![by],
            order: MemoryOrder::Relaxed,
            scope: SyncScope::Grid,
        }
    }

    fn branch(&mut self) -> Stmt {
        let cond = self.cond();
        let then = self.body(3);
        let otherwise = if self.below(3) == 0 { self.body(2) } else { Vec::new() };
        Stmt::If { cond, then, otherwise }
    }

    fn counted(&mut self) -> Stmt {
        let var = self.counters[self.depth];
        let start = self.int(0);
        // Within a loop nothing that the body assigns may stand in its bound.
        let (bound, by) = match self.below(3) {
            0 => (self.int(3), self.int(1)),
            _ => {
                let param = self.kernel.params.handles().next().expect("a parameter");
                (self.kernel.exprs.param(param, INT), self.int(1))
            }
        };
        let site = self.site();
        self.depth += 1;
        let body = self.body(3);
        self.depth -= 1;
        let step = Step { op: BinaryOp::Add, by };
        Stmt::For(Box::new(For { var, start, cmp: BinaryOp::Lt, bound, step, body, site }))
    }

    /// `i = 0; while (i < bound && cond) { …; i += 1; }`, tested before or after.
    fn tested(&mut self) -> Vec<Stmt> {
        let counter = self.counters[self.depth];
        let (zero, one, three) = (self.int(0), self.int(1), self.int(3));
        let now = self.kernel.exprs.var(counter, INT);
        let going = self.kernel.exprs.binary(BinaryOp::Lt, now, three);
        let cond = self.cond();
        let cond = self.kernel.exprs.and(going, cond);
        let site = self.site();
        self.depth += 1;
        let mut body = self.body(3);
        self.depth -= 1;
        let next = self.kernel.exprs.binary(BinaryOp::Add, now, one);
        body.push(Stmt::Let { var: counter, value: next });
        let test = if self.below(2) == 0 { Test::Before(cond) } else { Test::After(cond) };
        vec![Stmt::Let { var: counter, value: zero }, Stmt::Loop { test, body, site }]
    }
}
