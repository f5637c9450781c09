//! Random kernels that use what inference has closed forms for, and what it has none for.
//!
//! A kernel alternates between uniform contexts, where conditions depend on parameters and uniform variables
//! only and syncs may stand, and private ones. Values stay small, so that most runs end without a trap.

use crate::support::dice::Dice;
use raceproof::calculus::{
    Access, Among, Array, ArrayId, Axis, BinaryOp, ExprId, For, GeometryVar, Kernel, MemoryOrder, Param, ParamId,
    ScalarType, Site, SiteId, Space, Step, Stmt, SyncMemory, SyncScope, Test, UnaryOp, VarId, Variable,
};

const INT: ScalarType = ScalarType::I32;

/// Whether all threads of a block go through a statement alike.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Uniform,
    Private,
}

struct Maker {
    dice: Dice,
    kernel: Kernel,
    arrays: Vec<ArrayId>,
    params: Vec<ParamId>,
    uniform: Vec<VarId>,
    private: Vec<VarId>,
    flags: Vec<VarId>,
    uniform_flags: Vec<VarId>,
    /// Loop variables, one for each depth, so that bodies do not assign them.
    counters: Vec<VarId>,
    depth: usize,
    left: usize,
}

/// The kernel of a seed.
pub(crate) fn kernel(seed: u64) -> Kernel {
    let mut kernel = Kernel { name: "k".to_owned(), ..Kernel::default() };
    let mut array = |name: &str, space, is_param| {
        let array = Array {
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
        };
        kernel.arrays.push(array)
    };
    let arrays = vec![array("a", Space::Global, true), array("s", Space::Shared, false)];
    let params = ["n", "m"].map(|name| kernel.params.push(Param { name: name.to_owned(), ty: INT })).to_vec();
    let mut vars = |names: &[&str], ty| -> Vec<VarId> {
        names.iter().map(|name| kernel.vars.push(Variable { name: (*name).to_owned(), ty })).collect()
    };
    let uniform = vars(&["u", "v", "w"], INT);
    let private = vars(&["x", "y", "z", "t"], INT);
    let flags = vars(&["p", "q"], ScalarType::Bool);
    let uniform_flags = vars(&["f", "g"], ScalarType::Bool);
    let counters = vars(&["i", "j", "k", "l"], INT);
    let returned = vars(&["returned"], ScalarType::Bool)[0];
    kernel.returned = Some(returned);
    let dice = Dice(seed);
    let mut maker =
        Maker { dice, kernel, arrays, params, uniform, private, flags, uniform_flags, counters, depth: 0, left: 16 };
    let mut body = maker.initial(returned);
    body.extend(maker.body(Context::Uniform, 5));
    maker.kernel.body = body;
    maker.kernel
}

impl Maker {
    fn var(&mut self, var: VarId) -> ExprId {
        let ty = self.kernel.vars[var].ty;
        self.kernel.exprs.var(var, ty)
    }

    fn int(&mut self, value: i128) -> ExprId {
        self.kernel.exprs.int(value, INT)
    }

    fn op(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        self.kernel.exprs.binary(op, a, b)
    }

    fn site(&mut self) -> SiteId {
        self.kernel.sites.push(Site { span: None, inlined: Vec::new(), told: None })
    }

    fn initial(&mut self, returned: VarId) -> Vec<Stmt> {
        let no = self.kernel.exprs.bool(false);
        let mut body = vec![Stmt::Let { var: returned, value: no }];
        for var in self.uniform.clone() {
            let value = self.leaf(Context::Uniform);
            body.push(Stmt::Let { var, value });
        }
        for var in self.private.clone().into_iter().take(3) {
            let value = self.leaf(Context::Private);
            body.push(Stmt::Let { var, value });
        }
        for var in self.flags.clone().into_iter().chain(self.uniform_flags.clone()) {
            body.push(Stmt::Let { var, value: no });
        }
        body
    }

    fn leaf(&mut self, context: Context) -> ExprId {
        match self.dice.below(if context == Context::Uniform { 5 } else { 9 }) {
            0 | 1 => {
                let value = i128::from(self.dice.below(5));
                self.int(value)
            }
            2 => {
                let param = self.dice.pick(&self.params.clone());
                self.kernel.exprs.param(param, INT)
            }
            3 | 4 => {
                let var = self.dice.pick(&self.uniform.clone());
                self.var(var)
            }
            5 | 6 => {
                let axis = self.dice.pick(&[Axis::X, Axis::X, Axis::Y]);
                let id = self.kernel.exprs.geometry(GeometryVar::ThreadIdx(axis));
                self.kernel.exprs.convert(INT, id)
            }
            _ => {
                let counters = self.counters[..self.depth].to_vec();
                let pool = [self.private.clone(), counters].concat();
                let var = self.dice.pick(&pool);
                self.var(var)
            }
        }
    }

    fn value(&mut self, context: Context) -> ExprId {
        use BinaryOp::{Add, BitXor, Max, Min, Mul, Rem, Sub};
        let a = self.leaf(context);
        if self.dice.chance(30) {
            return a;
        }
        if self.dice.chance(10) {
            let (cond, b) = (self.cond(context), self.leaf(context));
            return self.kernel.exprs.select(cond, a, b);
        }
        if self.dice.chance(5) {
            return self.kernel.exprs.call("h", vec![a], INT);
        }
        let op = self.dice.pick(&[Add, Add, Sub, Sub, Mul, Min, Max, Rem, BitXor]);
        let b = if matches!(op, Mul | Rem) {
            let factor = 1 + i128::from(self.dice.below(3));
            self.int(factor)
        } else {
            self.leaf(context)
        };
        self.op(op, a, b)
    }

    fn cond(&mut self, context: Context) -> ExprId {
        use BinaryOp::{And, Eq, Ge, Lt, Ne, Or};
        if self.dice.chance(25) {
            let pool = match context {
                Context::Uniform => self.uniform_flags.clone(),
                Context::Private => [self.flags.clone(), self.uniform_flags.clone()].concat(),
            };
            let flag = self.dice.pick(&pool);
            let flag = self.var(flag);
            return if self.dice.chance(60) { self.kernel.exprs.not(flag) } else { flag };
        }
        let (a, b) = (self.leaf(context), self.leaf(context));
        let op = self.dice.pick(&[Lt, Ge, Eq, Ne]);
        let first = self.op(op, a, b);
        if !self.dice.chance(20) {
            return first;
        }
        let second = self.cond(context);
        let op = self.dice.pick(&[And, Or]);
        self.op(op, first, second)
    }

    fn body(&mut self, context: Context, length: u64) -> Vec<Stmt> {
        let length = 1 + self.dice.below(length);
        (0..length).flat_map(|_| self.statement(context)).collect()
    }

    fn statement(&mut self, context: Context) -> Vec<Stmt> {
        if self.left == 0 {
            return Vec::new();
        }
        self.left -= 1;
        match self.dice.below(15) {
            0..=2 => vec![self.assign(context)],
            3..=4 => vec![self.read()],
            5..=6 => vec![self.write()],
            7 => vec![self.atomic()],
            8 if context == Context::Uniform || self.dice.chance(5) => vec![self.sync()],
            8 => vec![self.toggle(context)],
            9 => vec![self.toggle(context)],
            10 => self.swap(context),
            11 => vec![self.branch(context)],
            12 => vec![self.leave_early()],
            _ if self.depth < 3 => self.repetition(context),
            _ => vec![self.write()],
        }
    }

    fn targets(&self, context: Context) -> Vec<VarId> {
        match context {
            Context::Uniform => [self.uniform.clone(), self.private.clone()].concat(),
            Context::Private => self.private.clone(),
        }
    }

    fn kind_of(&self, var: VarId) -> Context {
        if self.uniform.contains(&var) || self.uniform_flags.contains(&var) {
            Context::Uniform
        } else {
            Context::Private
        }
    }

    fn assign(&mut self, context: Context) -> Stmt {
        let var = self.dice.pick(&self.targets(context));
        if self.dice.chance(40) {
            // A step, so that loops move variables in ways that have a closed form.
            let by = self.leaf(Context::Uniform);
            let now = self.var(var);
            let op = self.dice.pick(&[BinaryOp::Add, BinaryOp::Add, BinaryOp::Sub]);
            let value = self.op(op, now, by);
            return Stmt::Let { var, value };
        }
        let value = self.value(self.kind_of(var));
        Stmt::Let { var, value }
    }

    fn toggle(&mut self, context: Context) -> Stmt {
        if self.dice.chance(50) {
            let pool = if context == Context::Uniform { self.uniform_flags.clone() } else { self.flags.clone() };
            let var = self.dice.pick(&pool);
            let now = self.var(var);
            let value = match self.dice.below(3) {
                0 => self.kernel.exprs.bool(true),
                1 => self.kernel.exprs.unary(UnaryOp::Not, now),
                _ => self.cond(self.kind_of(var)),
            };
            return Stmt::Let { var, value };
        }
        let var = self.dice.pick(&self.targets(context));
        let now = self.var(var);
        let one = self.int(1);
        let by = self.leaf(Context::Uniform);
        let value = match self.dice.below(5) {
            0 => self.op(BinaryOp::Sub, one, now),
            1 => self.op(BinaryOp::BitXor, now, by),
            2 => {
                let two = self.int(2);
                self.op(BinaryOp::Mul, now, two)
            }
            3 => self.op(BinaryOp::Shr, now, one),
            _ => {
                let (three, next) = (self.int(3), self.op(BinaryOp::Add, now, one));
                self.op(BinaryOp::Rem, next, three)
            }
        };
        Stmt::Let { var, value }
    }

    fn swap(&mut self, context: Context) -> Vec<Stmt> {
        let pool = if context == Context::Uniform { self.uniform.clone() } else { self.private.clone() };
        let (a, b, t) = (pool[0], pool[1], pool[2]);
        let (av, bv, tv) = (self.var(a), self.var(b), self.var(t));
        [(t, av), (a, bv), (b, tv)].map(|(var, value)| Stmt::Let { var, value }).to_vec()
    }

    fn access(&mut self) -> Access {
        let array = self.dice.pick(&self.arrays.clone());
        let index = self.value(Context::Private);
        let index = self.kernel.exprs.convert(ScalarType::I64, index);
        let four = self.kernel.exprs.int(4, ScalarType::I64);
        let offset = self.kernel.exprs.binary(BinaryOp::Mul, four, index);
        Access { array, offset, bytes: 4, align: 1, site: self.site() }
    }

    /// A read of a small number, so that what depends on it stays small.
    fn read(&mut self) -> Stmt {
        let access = self.access();
        Stmt::Read { var: self.private[3], access }
    }

    fn write(&mut self) -> Stmt {
        let value = self.leaf(Context::Private);
        Stmt::Write { access: self.access(), value: Some(value) }
    }

    fn atomic(&mut self) -> Stmt {
        let one = self.int(1);
        Stmt::Atomic {
            var: None,
            access: self.access(),
            op: raceproof::calculus::AtomicOp::Add,
            operands: vec![one],
            order: MemoryOrder::Relaxed,
            scope: SyncScope::Grid,
        }
    }

    fn sync(&mut self) -> Stmt {
        let memory = SyncMemory { shared: true, global: self.dice.chance(70), ..SyncMemory::NONE };
        Stmt::Sync { scope: SyncScope::Block, memory, among: Among::All, site: self.site() }
    }

    fn inner(&mut self, context: Context) -> Context {
        if context == Context::Uniform && self.dice.chance(60) { Context::Uniform } else { Context::Private }
    }

    fn branch(&mut self, context: Context) -> Stmt {
        let inner = self.inner(context);
        let cond = self.cond(inner);
        let then = self.body(inner, 3);
        let otherwise = if self.dice.chance(40) { self.body(inner, 2) } else { Vec::new() };
        Stmt::If { cond, then, otherwise }
    }

    /// `if (c) return;` and what follows, of which little may stand in a uniform context.
    fn leave_early(&mut self) -> Stmt {
        let Some(returned) = self.kernel.returned else { return self.write() };
        let cond = self.cond(Context::Private);
        let yes = self.kernel.exprs.bool(true);
        let leave = Stmt::If { cond, then: vec![Stmt::Let { var: returned, value: yes }], otherwise: Vec::new() };
        let flag = self.var(returned);
        let going = self.kernel.exprs.not(flag);
        let mut rest = vec![leave];
        rest.push(Stmt::If { cond: going, then: self.body(Context::Private, 2), otherwise: Vec::new() });
        Stmt::If { cond: going, then: rest, otherwise: Vec::new() }
    }

    fn repetition(&mut self, context: Context) -> Vec<Stmt> {
        let inner = self.inner(context);
        if self.dice.chance(55) { vec![self.counted(inner)] } else { self.tested(inner) }
    }

    fn counted(&mut self, context: Context) -> Stmt {
        use BinaryOp::{Add, Ge, Gt, Le, Lt, Mul, Ne, Shl, Shr, Sub};
        let var = self.counters[self.depth];
        let (op, cmp) = self.dice.pick(&[(Add, Lt), (Add, Lt), (Add, Le), (Sub, Gt), (Sub, Ge), (Shr, Gt), (Mul, Lt)]);
        let (op, cmp) = if self.dice.chance(5) { self.dice.pick(&[(Shl, Lt), (Add, Ne)]) } else { (op, cmp) };
        let (start, bound, by) = match op {
            Shr => (8, 0, 1),
            Mul | Shl => (1, 9, if op == Mul { 2 } else { 1 }),
            Sub => (6, 1, 1 + i128::from(self.dice.below(2))),
            _ if cmp == Ne => (0, 3, 1),
            _ => (0, 4, 1 + i128::from(self.dice.below(3))),
        };
        let mut start = self.int(start);
        let mut bound = self.int(bound);
        if matches!(op, Add) && cmp != Ne && self.dice.chance(60) {
            start = self.leaf(context);
            // Within a loop nothing that the body assigns may stand in its bound.
            let param = self.dice.pick(&self.params.clone());
            bound = self.kernel.exprs.param(param, INT);
        }
        let by = self.int(by);
        let site = self.site();
        self.depth += 1;
        let body = self.body(context, 3);
        self.depth -= 1;
        Stmt::For(Box::new(For { var, start, cmp, bound, step: Step { op, by }, body, site }))
    }

    /// `i = 0; while (i < 4 && !flag) { …; i += 1; }` in several shapes.
    fn tested(&mut self, context: Context) -> Vec<Stmt> {
        let var = self.counters[self.depth];
        let flag = if context == Context::Uniform { self.uniform_flags[0] } else { self.flags[0] };
        let start = self.leaf(context);
        let (zero, limit, one) = (self.int(0), self.int(4), self.int(1));
        let start = if self.dice.chance(50) { start } else { zero };
        let (now, flag_now) = (self.var(var), self.var(flag));
        let (within, clear) = (self.op(BinaryOp::Lt, now, limit), self.kernel.exprs.not(flag_now));
        let both = self.op(BinaryOp::And, within, clear);
        let next = self.op(BinaryOp::Add, now, one);
        let site = self.site();
        self.depth += 1;
        let mut body = self.body(context, 3);
        self.depth -= 1;
        let advance = Stmt::Let { var, value: next };
        let no = self.kernel.exprs.bool(false);
        let before = vec![Stmt::Let { var, value: start }, Stmt::Let { var: flag, value: no }];
        let test = match self.dice.below(4) {
            0 => {
                body.push(advance);
                Test::Before(both)
            }
            1 => {
                body.push(advance);
                Test::After(both)
            }
            2 => {
                // A break at the head guards the rest, the step included.
                let outside = self.op(BinaryOp::Ge, now, limit);
                let head = Stmt::Let { var: flag, value: outside };
                body.push(advance);
                body = vec![head, Stmt::If { cond: clear, then: body, otherwise: Vec::new() }];
                Test::Before(clear)
            }
            _ => {
                // A break in the middle.
                let cond = self.cond(context);
                let yes = self.kernel.exprs.bool(true);
                let leave = Stmt::If { cond, then: vec![Stmt::Let { var: flag, value: yes }], otherwise: Vec::new() };
                let mut rest = vec![self.write(), advance];
                if context == Context::Uniform && self.dice.chance(60) {
                    rest.push(self.sync());
                    rest.extend(self.dice.chance(40).then(|| self.write()));
                }
                if self.dice.chance(15) {
                    let no = self.kernel.exprs.bool(false);
                    body.insert(0, Stmt::Let { var: flag, value: no });
                }
                body.extend([leave, Stmt::If { cond: clear, then: rest, otherwise: Vec::new() }]);
                if self.dice.chance(50) { Test::Before(both) } else { Test::After(both) }
            }
        };
        let mut statements = before;
        statements.push(Stmt::Loop { test, body, site });
        statements
    }
}
