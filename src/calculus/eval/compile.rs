//! From the tree of statements to the flat list of instructions of a `Program`.
//!
//! Expressions are computed once in a statement, into temporaries; a register of a variable is written only by the
//! statement that assigns it.

use super::Fence;
use super::program::{
    ArrayShape, AtomicShape, Instruction, LoopShape, MEMORIES, OWN, Program, Register, Relation, SyncShape, Target,
    geometry_index,
};
use crate::arena::SideTable;
use crate::calculus::statements::assigned;
use crate::calculus::{
    Access, Among, ArrayId, Basis, BinaryOp, Expr, ExprId, Exprs, HavocReason, Kernel, Nature, ParamId, ScalarType,
    SiteId, Space, Stmt, SyncScope, Test, VarId, operands,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A target or register that is filled in later.
const LATER: u32 = u32::MAX;

/// Compiles a valid kernel.
pub(super) fn compile(kernel: &Kernel) -> Program {
    let mut compiler = Compiler::new(kernel);
    compiler.block(&kernel.body);
    compiler.code.push(Instruction::End);
    compiler.finish()
}

struct Compiler<'a> {
    kernel: &'a Kernel,
    code: Vec<Instruction>,
    constants: Vec<i64>,
    constant_of: FxHashMap<i64, u32>,
    accesses: Vec<Access>,
    atomics: Vec<AtomicShape>,
    syncs: Vec<SyncShape>,
    fences: Vec<Fence>,
    loops: Vec<LoopShape>,
    claims: Vec<SiteId>,
    relations: Vec<Relation>,
    /// Counters of the loops around; no loop is counted in a kernel without relations.
    around: Vec<u32>,
    slots: u32,
    commons: u32,
    counts_turns: bool,
    /// Registers of the expressions of the current statement.
    known: FxHashMap<ExprId, Register>,
    next_temporary: u32,
    most_temporaries: u32,
    /// The smallest and the largest access.
    access_sizes: SideTable<crate::calculus::Array, [u32; 2]>,
    /// Arrays that something writes.
    written: FxHashSet<ArrayId>,
}

impl<'a> Compiler<'a> {
    fn new(kernel: &'a Kernel) -> Self {
        // Constants get their registers before the code, so that all registers after them have numbers.
        let mut constants = vec![1];
        let mut constant_of = FxHashMap::from_iter([(1, 0)]);
        for (_, node) in kernel.exprs.iter() {
            if let Expr::Int(value, _) = node {
                constant_of.entry(*value as i64).or_insert_with(|| {
                    constants.push(*value as i64);
                    constants.len() as u32 - 1
                });
            }
        }
        Compiler {
            kernel,
            code: Vec::new(),
            constants,
            constant_of,
            accesses: Vec::new(),
            atomics: Vec::new(),
            syncs: Vec::new(),
            fences: Vec::new(),
            loops: Vec::new(),
            claims: Vec::new(),
            relations: Vec::new(),
            around: Vec::new(),
            slots: 0,
            commons: 0,
            counts_turns: kernel.exprs.relate_threads(),
            known: FxHashMap::default(),
            next_temporary: 0,
            most_temporaries: 0,
            access_sizes: SideTable::new(),
            written: FxHashSet::default(),
        }
    }

    fn finish(self) -> Program {
        let kernel = self.kernel;
        let first_temporary = kernel.vars.len() + self.constants.len() + kernel.params.len() + 12;
        let mut own_syncs: Vec<ArrayId> = self.syncs.iter().filter_map(|sync| sync.memory.array).collect();
        own_syncs.sort_unstable();
        own_syncs.dedup();
        own_syncs.truncate(MEMORIES - OWN);
        let is_of_group =
            |among| matches!(among, Among::Named(_) | Among::Tiles(_) | Among::Arrivals(_) | Among::Placeholder(_));
        let has_groups = self.syncs.iter().any(|sync| is_of_group(sync.among));
        let step = self.syncs.iter().find_map(|sync| match sync.among {
            Among::InStep(threads) => Some(threads),
            _ => None,
        });
        let needs_conditions =
            !self.relations.is_empty() || self.syncs.iter().any(|sync| sync.among.mentioned().next().is_some());
        let memory = |id: ArrayId, space: Space| match own_syncs.iter().position(|&own| own == id) {
            Some(own) => OWN + own,
            None => match space {
                Space::Shared | Space::Distributed => 0,
                Space::Global | Space::Constant | Space::Private => 1,
                Space::Image => 2,
            },
        };
        let kept = self.kept_arrays();
        let shape = |(id, array): (ArrayId, &crate::calculus::Array)| {
            let [least, widest] = self.access_sizes.get(id).copied().unwrap_or_default();
            ArrayShape {
                space: array.space,
                memory: memory(id, array.space),
                bytes: array.bytes,
                is_param: array.is_param,
                is_given: array.is_given(),
                is_written: self.written.contains(&id),
                widest,
                is_uniform: least == widest,
                is_kept: least == widest && kept.contains(&id),
            }
        };
        Program {
            variables: kernel.vars.iter().map(|(_, var)| var.ty).collect(),
            params: kernel.params.iter().map(|(_, param)| param.ty).collect(),
            registers: first_temporary + self.most_temporaries as usize,
            arrays: kernel.arrays.iter().map(shape).collect(),
            geometry: kernel.geometry.clone(),
            own_syncs,
            returned: kernel.returned.map(register),
            exprs: kernel.exprs.len(),
            sites: kernel.sites.len(),
            code: self.code,
            constants: self.constants,
            accesses: self.accesses,
            atomics: self.atomics,
            syncs: self.syncs,
            fences: self.fences,
            loops: self.loops,
            claims: self.claims,
            conditions: if needs_conditions { kernel.exprs.clone() } else { Exprs::new() },
            has_groups,
            step,
            relations: self.relations,
            slots: self.slots,
            commons: self.commons,
        }
    }

    /// Shared memory in which phases alone order what threads write, and in which nothing writes that is not modelled.
    fn kept_arrays(&self) -> FxHashSet<ArrayId> {
        let kernel = self.kernel;
        let orders_all = |sync: &SyncShape| {
            sync.scope == SyncScope::Block && sync.memory.shared && matches!(sync.among, Among::All | Among::Counted)
        };
        let is_one_block = |atomic: &AtomicShape| !matches!(atomic.scope, SyncScope::Warp | SyncScope::Cluster);
        let is_plain = self.syncs.iter().all(orders_all)
            && self.atomics.iter().all(is_one_block)
            && kernel.arrays.iter().all(|(_, array)| array.space != Space::Distributed)
            && kernel.sites.iter().all(|(_, site)| site.told.is_none());
        let is_touched = |id: ArrayId| {
            kernel.unsupported.iter().any(|each| each.arrays.as_ref().is_none_or(|arrays| arrays.contains(&id)))
        };
        let is_kept = |id: &ArrayId| is_plain && kernel.arrays[*id].space == Space::Shared && !is_touched(*id);
        kernel.arrays.iter().map(|(id, _)| id).filter(is_kept).collect()
    }

    fn here(&self) -> Target {
        self.code.len() as Target
    }

    fn emit(&mut self, instruction: Instruction) -> usize {
        self.code.push(instruction);
        self.code.len() - 1
    }

    /// Forgets the temporaries of the statement before.
    fn fresh(&mut self) {
        self.known.clear();
        self.next_temporary = 0;
    }

    fn temporary(&mut self) -> Register {
        let kernel = self.kernel;
        let first = kernel.vars.len() + self.constants.len() + kernel.params.len() + 12;
        self.next_temporary += 1;
        self.most_temporaries = self.most_temporaries.max(self.next_temporary);
        first as Register + self.next_temporary - 1
    }

    /// The register that holds `root` after the code emitted here; without recursion.
    fn expr(&mut self, root: ExprId) -> Register {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.known.contains_key(&id) {
                stack.pop();
                continue;
            }
            let node = &self.kernel.exprs[id];
            let before = stack.len();
            stack.extend(operands(node).into_iter().filter(|operand| !self.known.contains_key(operand)));
            if stack.len() == before {
                stack.pop();
                let register = self.node(id, node);
                self.known.insert(id, register);
            }
        }
        self.known[&root]
    }

    fn param(&self, param: ParamId) -> Register {
        (self.kernel.vars.len() + self.constants.len() + param.index()) as Register
    }

    fn node(&mut self, id: ExprId, node: &Expr) -> Register {
        let kernel = self.kernel;
        let variables = kernel.vars.len();
        match node {
            Expr::Int(value, _) => (variables as u32) + self.constant_of[&(*value as i64)],
            Expr::Var(var) => register(*var),
            Expr::Param(param) => self.param(*param),
            Expr::Geometry(var) => {
                (variables + self.constants.len() + kernel.params.len() + geometry_index(*var)) as Register
            }
            Expr::Opaque(text, ty) => self.opaque(&("constant", text), &[], *ty),
            Expr::Call(function, args, ty) => {
                let uncounted = self.opaque(&("call", function.name()), args, *ty);
                let (Nature::Counts(what), &[arg]) = (function.nature(), &args[..]) else { return uncounted };
                let (a, of, to) = (self.known[&arg], kernel.exprs.ty(arg), self.temporary());
                self.emit(Instruction::Count { what, ty: of, to, a, uncounted });
                to
            }
            Expr::Unary(op, a) => {
                let ty = kernel.exprs.ty(*a);
                if ty.range().is_none() {
                    return self.opaque(op, &[*a], kernel.exprs.ty(id));
                }
                let (a, to) = (self.known[a], self.temporary());
                self.emit(Instruction::Unary { op: *op, ty, to, a, expr: id });
                to
            }
            Expr::Binary(op, a, b) => {
                let ty = kernel.exprs.ty(*a);
                if ty.range().is_none() || kernel.exprs.ty(*b).range().is_none() {
                    return self.opaque(op, &[*a, *b], kernel.exprs.ty(id));
                }
                let (a, b, to) = (self.known[a], self.known[b], self.temporary());
                self.emit(Instruction::Binary { op: *op, ty, to, a, b, expr: Some(id) });
                to
            }
            Expr::Select(c, a, b) => {
                let (c, a, b, to) = (self.known[c], self.known[a], self.known[b], self.temporary());
                self.emit(Instruction::Select { to, c, a, b });
                to
            }
            Expr::Convert(ty, a) => {
                let from = kernel.exprs.ty(*a);
                if ty.range().is_none() || from.range().is_none() {
                    return self.opaque(&("convert", from, *ty), &[*a], *ty);
                }
                let (a, to) = (self.known[a], self.temporary());
                let is = |ty, wanted| matches!(ty, ScalarType::Int { signed, .. } if signed == wanted);
                let drops_sign = is(from, true) && is(*ty, false);
                self.emit(Instruction::Convert { to, a, ty: *ty, drops_sign });
                to
            }
        }
    }

    fn opaque(&mut self, key: &impl std::hash::Hash, args: &[ExprId], ty: ScalarType) -> Register {
        use std::hash::Hasher;
        let mut hasher = rustc_hash::FxHasher::default();
        key.hash(&mut hasher);
        let args = args.iter().map(|arg| self.known[arg]).collect();
        let to = self.temporary();
        self.emit(Instruction::Opaque { to, key: hasher.finish(), args, ty });
        to
    }

    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn access(&mut self, access: &Access) -> (u32, Register) {
        let [least, most] = self.access_sizes.get(access.array).copied().unwrap_or([access.bytes; 2]);
        self.access_sizes.insert(access.array, [least.min(access.bytes), most.max(access.bytes)]);
        if let Some(given) = self.kernel.arrays[access.array].given {
            let cond = self.param(given);
            self.emit(Instruction::Assume { cond });
        }
        let offset = self.expr(access.offset);
        self.accesses.push(*access);
        (self.accesses.len() as u32 - 1, offset)
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.fresh();
        match stmt {
            Stmt::Let { var, value } => {
                let from = self.expr(*value);
                self.emit(Instruction::Let { var: register(*var), from });
            }
            Stmt::Read { var, access } => {
                let (access, offset) = self.access(access);
                let ty = self.kernel.vars[*var].ty;
                self.emit(Instruction::Read { var: register(*var), ty, access, offset });
            }
            Stmt::Write { access, value } => {
                let value = value.map(|value| self.expr(value));
                self.written.insert(access.array);
                let (access, offset) = self.access(access);
                self.emit(Instruction::Write { access, offset, value });
            }
            Stmt::Atomic { var, access, op, operands, order, scope } => {
                let operands = operands.iter().map(|&operand| self.expr(operand)).collect();
                self.written.insert(access.array);
                let (access, offset) = self.access(access);
                self.atomics.push(AtomicShape { op: *op, operands, order: *order, scope: *scope });
                let atomic = self.atomics.len() as u32 - 1;
                let var = var.map(|var| (register(var), self.kernel.vars[var].ty));
                self.emit(Instruction::Atomic { var, access, offset, atomic });
            }
            Stmt::If { cond, then, otherwise } => self.branch(*cond, then, otherwise),
            Stmt::For(counted) => self.counted(counted),
            Stmt::Loop { test, body, .. } => self.looped(*test, body),
            Stmt::Sync { scope, memory, among, site } => {
                self.syncs.push(SyncShape { site: *site, scope: *scope, memory: *memory, among: *among });
                let sync = self.syncs.len() as u32 - 1;
                self.emit(Instruction::Sync { sync });
            }
            Stmt::Fence { order, scope, memory, site } => {
                self.fences.push(Fence { site: *site, order: *order, scope: *scope, memory: *memory });
                let fence = self.fences.len() as u32 - 1;
                self.emit(Instruction::Fence { fence });
            }
            Stmt::Havoc { var, reason: HavocReason::Choice | HavocReason::Implementation(_), .. } => {
                let from = (self.kernel.vars.len() as u32) + self.constant_of[&1];
                self.emit(Instruction::Let { var: register(*var), from });
            }
            Stmt::Havoc { var, reason: HavocReason::Common(scope, _), .. } => {
                let (slot, ty) = (self.commons, self.kernel.vars[*var].ty);
                self.commons += 1;
                self.emit(Instruction::Common { var: register(*var), ty, scope: *scope, slot });
            }
            Stmt::Havoc { var, .. } => {
                self.emit(Instruction::Havoc { var: register(*var), ty: self.kernel.vars[*var].ty });
            }
            Stmt::Assume { cond, basis: Basis::Stated | Basis::Needed | Basis::Held, .. }
                if self.kernel.exprs.relates_threads(*cond) =>
            {
                self.relate(*cond, None);
            }
            Stmt::Assert { cond, site, .. } if self.kernel.exprs.relates_threads(*cond) => {
                self.claims.push(*site);
                let claim = self.claims.len() as u32 - 1;
                self.relate(*cond, Some(claim));
            }
            Stmt::Assume { cond, basis: Basis::Stated | Basis::Needed | Basis::Held | Basis::Passed, .. } => {
                let cond = self.expr(*cond);
                self.emit(Instruction::Assume { cond });
            }
            Stmt::Assume { cond, basis: Basis::Given, .. } => {
                let cond = self.expr(*cond);
                self.emit(Instruction::Given { cond });
            }
            // What was proved holds anyway, and what was not says nothing.
            Stmt::Assume { basis: Basis::Proved | Basis::Candidate, .. } => {}
            Stmt::Assert { cond, site, .. } => {
                let cond = self.expr(*cond);
                self.claims.push(*site);
                let claim = self.claims.len() as u32 - 1;
                self.emit(Instruction::Assert { cond, claim });
            }
        }
    }

    fn relate(&mut self, cond: ExprId, claim: Option<u32>) {
        self.relations.push(Relation { cond, claim, slots: self.around.clone() });
        let relation = self.relations.len() as u32 - 1;
        self.emit(Instruction::Relate { relation });
    }

    /// The instruction that counts a turn of the loop that is compiled next; `None` if nobody wants to know.
    fn counter(&mut self) -> Option<Instruction> {
        if !self.counts_turns {
            return None;
        }
        let slot = self.slots;
        self.slots += 1;
        self.emit(Instruction::FirstTurn { slot });
        self.around.push(slot);
        Some(Instruction::NextTurn { slot })
    }

    /// The end of the turn that was counted.
    fn end_turn(&mut self, counter: Option<Instruction>) {
        if let Some(next) = counter {
            self.emit(next);
            self.around.pop();
        }
    }

    fn branch(&mut self, cond: ExprId, then: &[Stmt], otherwise: &[Stmt]) {
        let cond = self.expr(cond);
        let branch = self.emit(Instruction::Branch { cond, otherwise: LATER, join: LATER });
        self.block(then);
        let skip = self.emit(Instruction::Jump(LATER));
        let start_of_otherwise = self.here();
        self.block(otherwise);
        let meeting = self.here();
        self.emit(Instruction::Join);
        self.code[skip] = Instruction::Jump(meeting);
        self.code[branch] = Instruction::Branch { cond, otherwise: start_of_otherwise, join: meeting };
    }

    fn counted(&mut self, counted: &crate::calculus::For) {
        let ty = self.kernel.vars[counted.var].ty;
        let var = register(counted.var);
        let from = self.expr(counted.start);
        self.emit(Instruction::Let { var, from });
        let mut assigned = assigned(&counted.body);
        assigned.push(counted.var);
        let shape = self.shape(assigned, ends_for_any_bound(counted, ty).then_some(counted.step.op));
        let counter = self.counter();
        let head = self.here();
        self.fresh();
        let b = self.expr(counted.bound);
        let cond = self.temporary();
        self.emit(Instruction::Binary { op: counted.cmp, ty, to: cond, a: var, b, expr: None });
        let test = self.emit(Instruction::LoopTest { cond, body: LATER, exit: LATER, shape });
        self.block(&counted.body);
        self.fresh();
        let by = self.expr(counted.step.by);
        self.emit(Instruction::Step { op: counted.step.op, ty, var, by, site: counted.site });
        self.end_turn(counter);
        self.emit(Instruction::Jump(head));
        let exit = self.here();
        self.code[test] = Instruction::LoopTest { cond, body: test as Target + 1, exit, shape };
    }

    fn looped(&mut self, test: Test, body: &[Stmt]) {
        let shape = self.shape(assigned(body), None);
        let counter = self.counter();
        let head = self.here();
        match test {
            Test::Before(cond) => {
                let cond = self.expr(cond);
                let test = self.emit(Instruction::LoopTest { cond, body: LATER, exit: LATER, shape });
                self.block(body);
                self.end_turn(counter);
                self.emit(Instruction::Jump(head));
                let exit = self.here();
                self.code[test] = Instruction::LoopTest { cond, body: test as Target + 1, exit, shape };
            }
            Test::After(cond) => {
                self.block(body);
                self.end_turn(counter);
                self.fresh();
                let cond = self.expr(cond);
                let exit = self.here() + 1;
                self.emit(Instruction::LoopTest { cond, body: head, exit, shape });
            }
        }
    }

    fn shape(&mut self, assigned: Vec<VarId>, moves: Option<BinaryOp>) -> u32 {
        let mut assigned: Vec<_> = assigned.into_iter().map(register).collect();
        assigned.sort_unstable();
        assigned.dedup();
        self.loops.push(LoopShape { assigned, moves });
        self.loops.len() as u32 - 1
    }
}

/// Whether a counted loop that moves on at every turn passes every bound. Downwards an unsigned variable
/// passes all but 0; downwards by division and shift a variable gets to 0 and stays.
fn ends_for_any_bound(counted: &crate::calculus::For, ty: ScalarType) -> bool {
    let signed = matches!(ty, ScalarType::Int { signed: true, .. });
    match (counted.cmp, counted.step.op) {
        (BinaryOp::Lt, BinaryOp::Add) => true,
        (BinaryOp::Le, BinaryOp::Add) | (BinaryOp::Ge, BinaryOp::Sub) => signed,
        (BinaryOp::Gt, BinaryOp::Sub) => true,
        _ => false,
    }
}

fn register(var: VarId) -> Register {
    var.index() as Register
}
