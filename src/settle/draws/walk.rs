//! The walk over a kernel's statements, in the order of the program: what is known of variables at each place, and the
//! statements that let each thread draw for itself.
//!
//! Guarantees: what is known holds in the turn of all loops around, and goes when a variable in it is assigned; after a
//! condition it is what one arm alone assigned, where that arm was taken.
//!
//! Deliberately absent: what two arms assign alike, and what loops leave as it was.

use super::place::{Around, Draw, Group, Known, Seen, State};
use crate::calculus::{
    Access, Array, ArrayId, AtomicOp, Expr, ExprId, HavocReason, ScalarType, SiteId, Stmt, VarId, Variable, statements,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The walk.
pub(super) struct Walk<'s> {
    pub(super) seen: Seen<'s>,
    pub(super) counters: FxHashSet<ArrayId>,
    pub(super) shadows: FxHashMap<ArrayId, ArrayId>,
}

impl Walk<'_> {
    pub(super) fn block(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        statements::replaced(body, |stmt, done| self.stmt(stmt, done))
    }

    fn stmt(&mut self, mut stmt: Stmt, done: &mut Vec<Stmt>) {
        match &mut stmt {
            Stmt::If { cond, then, otherwise } => {
                *cond = self.seen.rewritten(*cond);
                let taken = self.seen.substituted(*cond);
                let before = self.seen.state.clone();
                *then = self.within(Around::Holds(taken), std::mem::take(then));
                let first = std::mem::replace(&mut self.seen.state, before.clone());
                *otherwise = self.within(Around::Fails(taken), std::mem::take(otherwise));
                self.seen.state = before;
                self.join(taken, &first, then, otherwise);
            }
            Stmt::For(each) => {
                each.start = self.seen.rewritten(each.start);
                let mut moved = statements::assigned(&each.body);
                let is_even = [each.start, each.bound, each.step.by].into_iter().all(|value| {
                    let value = self.seen.substituted(value);
                    self.seen.is_level(value)
                });
                moved.push(each.var);
                if is_even {
                    self.seen.level.push(each.var);
                }
                let around = if is_even { Around::Even } else { Around::Uneven };
                each.body = self.turn(std::mem::take(&mut each.body), each.site, &moved, around);
                if is_even {
                    self.seen.level.pop();
                }
            }
            Stmt::Loop { body, site, .. } => {
                let moved = statements::assigned(body);
                *body = self.turn(std::mem::take(body), *site, &moved, Around::Uneven);
            }
            Stmt::Let { var, value } => {
                *value = self.seen.rewritten(*value);
                let known = self.seen.substituted(*value);
                self.forget(*var);
                if !self.seen.kernel.exprs.mentions(known, *var) {
                    self.seen.state.known.insert(*var, Known::Is(known));
                }
            }
            Stmt::Read { var, access } => {
                access.offset = self.seen.rewritten(access.offset);
                self.forget(*var);
            }
            Stmt::Write { access, value } => {
                access.offset = self.seen.rewritten(access.offset);
                *value = value.map(|value| self.seen.rewritten(value));
            }
            Stmt::Atomic { var, access, op, operands, order, scope } => {
                access.offset = self.seen.rewritten(access.offset);
                for operand in operands.iter_mut() {
                    *operand = self.seen.rewritten(*operand);
                }
                let offset = self.seen.substituted(access.offset);
                let amounts: Vec<ExprId> = operands.iter().map(|&operand| self.seen.substituted(operand)).collect();
                if let Some(var) = *var {
                    self.forget(var);
                    let group = amounts.first().and_then(|&amount| self.seen.count(amount));
                    if let (Some(group), AtomicOp::Add, true) = (group, *op, self.counters.contains(&access.array))
                        && self.seen.is_one_place(offset)
                    {
                        let access = Access { offset, ..*access };
                        let draw = Draw { access, group, order: *order, scope: *scope, loops: self.seen.loops.clone() };
                        self.seen.state.draws.insert(var, draw);
                    }
                }
            }
            Stmt::Havoc { var, .. } => {
                let var = *var;
                let given = self.seen.calls.shuffles.get(&var).and_then(|shuffle| self.seen.given(shuffle));
                let within = |calls: &FxHashMap<VarId, ExprId>| calls.get(&var).copied();
                let [rank, size] = [within(&self.seen.calls.ranks), within(&self.seen.calls.sizes)];
                let [rank, size] = [rank, size].map(|mask| mask.and_then(|mask| self.seen.mask(mask)));
                let mask = self.seen.source(var);
                self.forget(var);
                self.seen.state.masks.extend(mask.map(|mask| (var, mask)));
                self.seen.state.ranks.extend(rank.map(|mask| (var, mask)));
                self.seen.state.sizes.extend(size.map(|mask| (var, mask)));
                done.push(stmt);
                if let Some((drawn, group)) = given {
                    self.draw_by_each(var, drawn, group, done);
                }
                return;
            }
            Stmt::Assume { cond, .. } | Stmt::Assert { cond, .. } => *cond = self.seen.rewritten(*cond),
            Stmt::Sync { .. } | Stmt::Fence { .. } => {}
        }
        done.push(stmt);
    }

    /// What stands in a condition or a loop.
    fn within(&mut self, around: Around, body: Vec<Stmt>) -> Vec<Stmt> {
        self.seen.around.push(around);
        let body = self.block(body);
        self.seen.around.pop();
        body
    }

    /// The body of a loop, in which and after which nothing is known of what it assigns.
    fn turn(&mut self, body: Vec<Stmt>, site: SiteId, moved: &[VarId], around: Around) -> Vec<Stmt> {
        moved.iter().for_each(|&var| self.forget(var));
        let before = self.seen.state.clone();
        self.seen.loops.push(site);
        let body = self.within(around, body);
        self.seen.loops.pop();
        self.seen.state = before;
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
                self.seen.state.draws.insert(*var, draw.clone());
            }
        }
        for &var in own.iter().filter(|var| !other.contains(var)) {
            let Some(&Known::Is(value)) = first.known.get(&var) else { continue };
            let mut is_kept = true;
            self.seen.kernel.exprs.visit(taken, |_, node| {
                is_kept &= !matches!(node, Expr::Var(var) if changed.contains(var));
            });
            self.seen.kernel.exprs.visit(value, |_, node| {
                is_kept &=
                    !matches!(node, Expr::Var(var) if changed.contains(var) && !self.seen.state.draws.contains_key(var));
            });
            if is_kept {
                self.seen.state.known.insert(var, Known::Where(taken, value));
            }
        }
    }

    /// A variable is assigned: what was known by its old value is known no more.
    fn forget(&mut self, var: VarId) {
        let exprs = &self.seen.kernel.exprs;
        let mentions = |expr: ExprId| exprs.mentions(expr, var);
        let state = &mut self.seen.state;
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

    /// Lets each thread of a group draw a number, behind the shuffle that hands the first of them on.
    fn draw_by_each(&mut self, handed: VarId, drawn: VarId, group: Group, done: &mut Vec<Stmt>) {
        // A second shuffle would hand the same numbers out again.
        let Some(draw) = self.seen.state.draws.remove(&drawn) else { return };
        let site = self.seen.kernel.sites[draw.access.site].clone();
        let span = site.span;
        let site = self.seen.kernel.sites.push(site);
        let array = self.shadow(draw.access.array);
        let ty = self.seen.kernel.vars[handed].ty;
        let own = self.seen.kernel.vars[drawn].clone();
        let (name, own_ty) = (own.name, own.ty);
        let number = self.seen.kernel.vars.push(Variable { name: format!("{name}.each"), ty: own_ty });
        let numbers = self.seen.kernel.vars.push(Variable { name: format!("{name}.own"), ty });
        let one = self.seen.kernel.exprs.int(1, own_ty);
        let value = self.seen.kernel.exprs.var(number, own_ty);
        let value = self.seen.kernel.exprs.convert(ty, value);
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
            Group::Mask(mask) => self.seen.state.masks.get(&mask).map(|mask| mask.named),
            Group::Warp => None,
        };
        match named {
            Some(named) => {
                let reason = HavocReason::Other("a number of a thread that none is drawn for".to_owned());
                done.push(Stmt::Havoc { var: numbers, reason, span });
                let cond = self.seen.kernel.exprs.var(named, ScalarType::Bool);
                done.push(Stmt::If { cond, then: drawing, otherwise: Vec::new() });
            }
            None => done.extend(drawing),
        }
        self.seen.state.handed.insert(handed, (numbers, group));
    }

    /// What stands for a counter where each draws by itself.
    fn shadow(&mut self, counter: ArrayId) -> ArrayId {
        if let Some(&shadow) = self.shadows.get(&counter) {
            return shadow;
        }
        let array = Array {
            is_param: false,
            is_filled_elsewhere: false,
            held_in: None,
            given: None,
            ..self.seen.kernel.arrays[counter].clone()
        };
        let shadow = self.seen.kernel.arrays.push(array);
        self.shadows.insert(counter, shadow);
        shadow
    }
}
