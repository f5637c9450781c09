//! What shuffles give: the value that another lane has, as a formula of the thread.
//!
//! ```text
//! int base = __shfl_sync(~0u, i, 0);        // what `i` is for `threadIdx.x / 32 * 32`
//! int other = __shfl_xor_sync(~0u, i, 1);   // what `i` is for `threadIdx.x ^ 1`
//! int most = __reduce_max_sync(~0u, n);     // `n`, which all threads have
//! ```
//!
//! Where the value is computed from ids, sizes, parameters and what is the same for the warp, what a lane has is the same
//! formula with that lane's `threadIdx.x` in it (CUDA programming guide, warp shuffle functions). It stands for the result
//! wherever the lane that is read from takes part.
//!
//! *Premises.*
//! - The lane exists and its thread is in the same row: rows of the block are whole segments, or there is one row alone and it is
//!   long enough.
//! - It comes to this execution of the shuffle: every condition around it holds for it, too, and every loop around it has
//!   the same turns for both. What a shuffle gives from a lane that has ended, or that the mask does not name, is not known.
//! - Both have the same mask: the whole warp, or a value that is the same for the warp, such as what it voted for.
//!
//! *Trap.* A lane of a warp that comes in part; one that has returned; a loop whose bounds differ between lanes; a variable
//! that was assigned since; an offset of 32 and more, of which the hardware sees five bits.
//!
//! Deliberately absent: numbers that a lane has drawn from a counter ([`draws`](super::draws)); values from
//! memory; floating point, in which nobody counts places; shuffles in loops whose turns differ; wavefronts of HIP and sub-groups
//! of OpenCL, whose size the device decides.

use super::notes::{Exchange, Partner};
use crate::calculus::eval::WARP;
use crate::calculus::{
    Axis, Basis, BinaryOp, Expr, ExprId, Exprs, GeometryVar, HavocReason, Kernel, ScalarType, Stmt, VarId, statements,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Nodes of a formula; a larger one is not followed.
const LARGEST: u32 = 120;

/// Says what shuffles give; `exchanges` by the variables that hold it.
pub(super) fn name(kernel: &mut Kernel, exchanges: &FxHashMap<VarId, Exchange>) {
    if exchanges.is_empty() {
        return;
    }
    let body = std::mem::take(&mut kernel.body);
    let mut walk = Walk { kernel, exchanges, state: State::default(), around: Vec::new(), uneven: 0 };
    let body = walk.block(body);
    kernel.body = body;
}

/// What is known at a place.
#[derive(Clone, Default)]
struct State {
    /// What variables are; a formula goes when a variable in it is assigned.
    formulas: FxHashMap<VarId, ExprId>,
    /// The variables whose formulas mention a variable, and perhaps some that did before.
    mentioned_by: FxHashMap<VarId, Vec<VarId>>,
    /// Variables that are the same for a thread that comes here and all that it may read from.
    level: FxHashSet<VarId>,
}

struct Walk<'s> {
    kernel: &'s mut Kernel,
    exchanges: &'s FxHashMap<VarId, Exchange>,
    state: State,
    /// The conditions that hold here, as formulas; `None` for those that say something of an earlier time.
    around: Vec<Option<ExprId>>,
    /// Loops around it that lanes may leave at different turns.
    uneven: usize,
}

impl Walk<'_> {
    fn block(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        statements::replaced(body, |stmt, done| self.stmt(stmt, done))
    }

    fn stmt(&mut self, mut stmt: Stmt, done: &mut Vec<Stmt>) {
        match &mut stmt {
            Stmt::If { cond, then, otherwise } => {
                let holds = self.formula(*cond);
                let fails = self.kernel.exprs.not(holds);
                let moved: FxHashSet<VarId> =
                    [&*then, &*otherwise].into_iter().flat_map(|arm| statements::assigned(arm)).collect();
                let before = self.state.clone();
                *then = self.within(holds, std::mem::take(then));
                let first = std::mem::replace(&mut self.state, before);
                *otherwise = self.within(fails, std::mem::take(otherwise));
                self.join(holds, &first, &moved);
            }
            Stmt::For(each) => {
                let is_even = [each.start, each.bound, each.step.by].into_iter().all(|value| {
                    let value = self.formula(value);
                    self.is_level(value)
                });
                let mut moved = statements::assigned(&each.body);
                moved.push(each.var);
                each.body = self.turn(std::mem::take(&mut each.body), &moved, is_even.then_some(each.var));
            }
            Stmt::Loop { body, .. } => {
                let moved = statements::assigned(body);
                *body = self.turn(std::mem::take(body), &moved, None);
            }
            &mut Stmt::Let { var, value } => {
                let value = self.formula(value);
                self.assign(var, value);
            }
            Stmt::Read { var, .. } | Stmt::Atomic { var: Some(var), .. } => self.forget(*var),
            Stmt::Havoc { var, reason, .. } => {
                let (var, is_level) = (*var, matches!(reason, HavocReason::Common(..)));
                let given = self.exchanges.get(&var).and_then(|exchange| self.given(exchange, var));
                self.forget(var);
                if is_level {
                    self.state.level.insert(var);
                }
                let Some((known, value)) = given else { return done.push(stmt) };
                if self.kernel.exprs.ty(value) == ScalarType::Bool {
                    let cond = self.says(var, known, value);
                    return done.extend([stmt, Stmt::Assume { cond, basis: Basis::Given, span: None }]);
                }
                let then = Stmt::Let { var, value };
                if self.kernel.exprs.as_int(known) == Some(1) {
                    done.push(then);
                    return self.assign(var, value);
                }
                done.extend([stmt, Stmt::If { cond: known, then: vec![then], otherwise: Vec::new() }]);
                return;
            }
            Stmt::Atomic { var: None, .. }
            | Stmt::Write { .. }
            | Stmt::Assume { .. }
            | Stmt::Assert { .. }
            | Stmt::Sync { .. }
            | Stmt::Fence { .. } => {}
        }
        done.push(stmt);
    }

    fn within(&mut self, cond: ExprId, body: Vec<Stmt>) -> Vec<Stmt> {
        self.around.push(self.is_small(cond).then_some(cond));
        let body = self.block(body);
        self.around.pop();
        body
    }

    /// The body of a loop, in which and after which nothing is known of what it assigns; `counter` counts its turns if a thread
    /// and all that it may read from take the same ones.
    fn turn(&mut self, body: Vec<Stmt>, moved: &[VarId], counter: Option<VarId>) -> Vec<Stmt> {
        moved.iter().for_each(|&var| self.forget(var));
        let before = self.state.clone();
        self.state.level.extend(counter);
        let is_uneven = usize::from(counter.is_none());
        self.uneven += is_uneven;
        let body = self.block(body);
        self.uneven -= is_uneven;
        self.state = before;
        body
    }

    /// After a condition, whose arms assign `moved`; `self.state` is what is known at the end of the second.
    fn join(&mut self, holds: ExprId, first: &State, moved: &FxHashSet<VarId>) {
        let second = std::mem::take(&mut self.state);
        self.state.level = second.level.difference(moved).copied().collect();
        let can_tell = self.vars(holds).is_disjoint(moved);
        let vars: BTreeSet<VarId> = first.formulas.keys().chain(second.formulas.keys()).copied().collect();
        for var in vars {
            let ty = self.kernel.vars[var].ty;
            // What has no formula is what it is.
            let own = self.kernel.exprs.var(var, ty);
            let [one, other] = [first, &second].map(|state| state.formulas.get(&var).copied().unwrap_or(own));
            let value = match one == other {
                true => one,
                false if can_tell => self.kernel.exprs.select(holds, one, other),
                false => own,
            };
            if value != own {
                self.learn(var, value);
            }
        }
    }

    /// A variable is assigned a formula of what was known before.
    fn assign(&mut self, var: VarId, value: ExprId) {
        self.forget(var);
        if !self.kernel.exprs.mentions(value, var) {
            self.learn(var, value);
        }
    }

    fn learn(&mut self, var: VarId, value: ExprId) {
        if self.is_small(value) {
            for mentioned in self.vars(value) {
                self.state.mentioned_by.entry(mentioned).or_default().push(var);
            }
            self.state.formulas.insert(var, value);
        }
    }

    /// A variable is assigned: what was known by its old value is known no more.
    fn forget(&mut self, var: VarId) {
        let exprs = &self.kernel.exprs;
        for cond in &mut self.around {
            *cond = cond.filter(|&cond| !exprs.mentions(cond, var));
        }
        let state = &mut self.state;
        for holder in state.mentioned_by.remove(&var).unwrap_or_default() {
            if state.formulas.get(&holder).is_some_and(|&value| exprs.mentions(value, var)) {
                state.formulas.remove(&holder);
            }
        }
        state.formulas.remove(&var);
        state.level.remove(&var);
    }

    /// A value without variables that have a formula.
    fn formula(&mut self, value: ExprId) -> ExprId {
        let formulas = &self.state.formulas;
        self.kernel.exprs.substitute(value, |node| match node {
            Expr::Var(var) => formulas.get(var).copied(),
            _ => None,
        })
    }

    /// Whether a formula is the same for a thread that comes here and all that it may read from.
    fn is_level(&mut self, value: ExprId) -> bool {
        // What another of them has is the same formula only if nothing in it differs between them.
        let anybody = Giver::somebody(&mut self.kernel.exprs);
        anybody.value_of(&mut self.kernel.exprs, value) == value && self.vars(value).is_subset(&self.state.level)
    }

    fn vars(&self, value: ExprId) -> FxHashSet<VarId> {
        let mut vars = FxHashSet::default();
        self.kernel.exprs.visit(value, |_, node| {
            if let Expr::Var(var) = node {
                vars.insert(*var);
            }
        });
        vars
    }

    fn is_small(&self, value: ExprId) -> bool {
        !self.kernel.exprs.is_larger_than(value, LARGEST)
    }

    /// Whether a thread and all that it may read from have the same mask.
    fn is_one_mask(&mut self, mask: Option<ExprId>) -> bool {
        let Some(mask) = mask else { return true };
        let mask = self.formula(mask);
        self.is_level(mask)
    }

    /// What a shuffle gives, and where that is known.
    fn given(&mut self, exchange: &Exchange, holder: VarId) -> Option<(ExprId, ExprId)> {
        let ty = self.kernel.vars[holder].ty;
        if self.uneven > 0 || !matches!(ty, ScalarType::Int { .. }) || !self.is_one_mask(exchange.mask) {
            return None;
        }
        let [value, by] = [exchange.value, exchange.by].map(|value| self.formula(value));
        if exchange.from == Partner::Anyone {
            return self.common(value, ty, exchange.segment);
        }
        let value = self.kernel.exprs.convert(ty, value);
        let (giver, mut known) = Giver::of(&mut self.kernel.exprs, exchange, by)?;
        // What the giver is computed from is the thread's own.
        let own = self.vars(by);
        for cond in self.around.clone() {
            let cond = cond?;
            let there = self.at(&giver, cond, &own)?;
            if there != cond {
                known = self.kernel.exprs.and(known, there);
            }
        }
        let there = self.at(&giver, value, &own)?;
        let is_ever = self.kernel.exprs.as_int(known) != Some(0);
        (is_ever && self.is_small(known) && self.is_small(there)).then_some((known, there))
    }

    /// What all threads of a segment put in, and where all put in the same. A truth stays one.
    fn common(&mut self, value: ExprId, ty: ScalarType, segment: u32) -> Option<(ExprId, ExprId)> {
        if !self.is_level(value) || !self.is_small(value) || !segment.is_power_of_two() || segment > WARP {
            return None;
        }
        let exprs = &mut self.kernel.exprs;
        let value = if exprs.ty(value) == ScalarType::Bool { value } else { exprs.convert(ty, value) };
        let [x, size] =
            [exprs.geometry(GeometryVar::ThreadIdx(Axis::X)), exprs.int(i128::from(segment), ScalarType::U32)];
        Some((exists(exprs, x, size, true), value))
    }

    /// That a variable is not zero just where a truth holds, as far as that is known.
    fn says(&mut self, var: VarId, known: ExprId, truth: ExprId) -> ExprId {
        let ty = self.kernel.vars[var].ty;
        let exprs = &mut self.kernel.exprs;
        let (answer, zero, is_open) = (exprs.var(var, ty), exprs.int(0, ty), exprs.not(known));
        let is_yes = exprs.binary(BinaryOp::Ne, answer, zero);
        let is_so = exprs.binary(BinaryOp::Eq, is_yes, truth);
        exprs.or(is_open, is_so)
    }

    /// A formula as the giver has it; `None` if it is about variables of the giver.
    fn at(&mut self, giver: &Giver, formula: ExprId, own: &FxHashSet<VarId>) -> Option<ExprId> {
        let there = giver.value_of(&mut self.kernel.exprs, formula);
        let left = self.vars(formula);
        let is_known = |var: &VarId| self.state.level.contains(var) || (own.contains(var) && !left.contains(var));
        self.vars(there).iter().all(is_known).then_some(there)
    }
}

/// The thread that a shuffle reads from.
struct Giver {
    /// Its `threadIdx.x`; the other ids are the own ones.
    x: ExprId,
    /// Its number in its segment, and how large that is: both threads are in the same one.
    number: ExprId,
    segment: u32,
}

impl Giver {
    /// Whom a shuffle reads from, and where that is known.
    fn of(exprs: &mut Exprs, exchange: &Exchange, by: ExprId) -> Option<(Self, ExprId)> {
        let mut segment = exchange.segment;
        if !matches!(exprs.ty(by), ScalarType::Int { .. }) || !segment.is_power_of_two() || segment > WARP {
            return None;
        }
        let x = exprs.geometry(GeometryVar::ThreadIdx(Axis::X));
        let by = exprs.convert(ScalarType::U32, by);
        if let (Partner::Flipped, Some(bits)) = (exchange.from, exprs.as_int(by))
            && (1..i128::from(segment)).contains(&bits)
        {
            segment = (bits as u32 + 1).next_power_of_two();
        }
        let size = exprs.int(i128::from(segment), ScalarType::U32);
        let zero = exprs.int(0, ScalarType::U32);
        let number = exprs.binary(BinaryOp::Rem, x, size);
        // The hardware looks at five bits of an offset.
        let is_offset = exprs.binary(BinaryOp::Lt, by, size);
        let (is_sound, is_first, x, number) = match exchange.from {
            Partner::Lane => {
                let most = exprs.int(i128::from(segment - 1), ScalarType::U32);
                let number = exprs.binary(BinaryOp::BitAnd, by, most);
                let before = exprs.binary(BinaryOp::Div, x, size);
                let first = exprs.binary(BinaryOp::Mul, before, size);
                let is_first = exprs.as_int(number) == Some(0);
                (exprs.bool(true), is_first, exprs.binary(BinaryOp::Add, first, number), number)
            }
            Partner::Flipped => {
                let flip = BinaryOp::BitXor;
                (is_offset, false, exprs.binary(flip, x, by), exprs.binary(flip, number, by))
            }
            Partner::Anyone => return None,
            // Where nobody is at that distance, a thread gets its own value.
            Partner::Below => {
                let is_own = exprs.binary(BinaryOp::Lt, number, by);
                let step = exprs.select(is_own, zero, by);
                let back = BinaryOp::Sub;
                (is_offset, true, exprs.binary(back, x, step), exprs.binary(back, number, step))
            }
            Partner::Above => {
                let left = exprs.binary(BinaryOp::Sub, size, number);
                let is_own = exprs.binary(BinaryOp::Ge, by, left);
                let step = exprs.select(is_own, zero, by);
                let on = BinaryOp::Add;
                (is_offset, false, exprs.binary(on, x, step), exprs.binary(on, number, step))
            }
        };
        let exists = exists(exprs, x, size, is_first);
        let known = exprs.and(is_sound, exists);
        Some((Giver { x, number, segment }, known))
    }

    /// Any thread that one may read from.
    fn somebody(exprs: &mut Exprs) -> Self {
        let x = exprs.opaque("threadIdx.x of another lane", ScalarType::U32);
        Giver { x, number: x, segment: WARP }
    }

    /// A formula of the thread as the giver has it.
    fn value_of(&self, exprs: &mut Exprs, formula: ExprId) -> ExprId {
        let mut order = Vec::new();
        exprs.visit(formula, |id, _| order.push(id));
        let mut copies: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in order {
            let copy = match exprs[id] {
                Expr::Geometry(GeometryVar::ThreadIdx(Axis::X)) => Some(self.x),
                Expr::Binary(op, a, b) if is_own_number(exprs, a) => {
                    exprs.as_int(b).and_then(|by| self.part(exprs, id, (op, by)))
                }
                _ => None,
            };
            let copy = copy.unwrap_or_else(|| exprs.rebuilt(id, |part| copies[&part]));
            copies.insert(id, copy);
        }
        copies[&formula]
    }

    /// What `threadIdx.x op by` is, where the segment says it: its number, or what is the same for all of it.
    fn part(&self, exprs: &mut Exprs, whole: ExprId, (op, by): (BinaryOp, i128)) -> Option<ExprId> {
        let segment = i128::from(self.segment);
        let ty = exprs.ty(whole);
        match op {
            BinaryOp::Div if by > 0 && by % segment == 0 => Some(whole),
            BinaryOp::Shr if (0..31).contains(&by) && (1 << by) % segment == 0 => Some(whole),
            BinaryOp::Rem if by == segment => Some(exprs.convert(ty, self.number)),
            BinaryOp::BitAnd if by == segment - 1 => Some(exprs.convert(ty, self.number)),
            _ => None,
        }
    }
}

/// Whether the thread with another `threadIdx.x` of the same segment exists, and is in the same warp; `is_first` says that it
/// does not come after the thread itself.
fn exists(exprs: &mut Exprs, x: ExprId, segment: ExprId, is_first: bool) -> ExprId {
    let [width, height, depth] = Axis::ALL.map(|axis| exprs.geometry(GeometryVar::BlockDim(axis)));
    let (zero, one) = (exprs.int(0, ScalarType::U32), exprs.int(1, ScalarType::U32));
    let rest = exprs.binary(BinaryOp::Rem, width, segment);
    let is_whole = exprs.binary(BinaryOp::Eq, rest, zero);
    let rows = [height, depth].map(|size| exprs.binary(BinaryOp::Eq, size, one));
    let mut is_there = exprs.and(rows[0], rows[1]);
    if !is_first {
        let is_in_it = exprs.binary(BinaryOp::Lt, x, width);
        is_there = exprs.and(is_there, is_in_it);
    }
    exprs.or(is_whole, is_there)
}

/// Whether a value is `threadIdx.x`, of which no conversion loses anything that a block can have.
fn is_own_number(exprs: &Exprs, mut value: ExprId) -> bool {
    while let Expr::Convert(ScalarType::Int { width: 32 | 64, .. }, inner) = exprs[value] {
        value = inner;
    }
    exprs[value] == Expr::Geometry(GeometryVar::ThreadIdx(Axis::X))
}
