//! Loops: counted ones become [`For`], all others [`Stmt::Loop`] with the jumps out of them in the test.

use super::stmt::Exits;
use crate::calculus::statements::each_expr;
use crate::calculus::{BinaryOp, Expr as Pure, ExprId, For, ScalarType, Step, Stmt as Calculus, Test, VarId};
use crate::lower::annotation::claims::{self, HeadClaim};
use crate::lower::pass::{Jump, Pass};
use crate::resolve::program::{Expr, Stmt};
use crate::source::Span;
use rustc_hash::FxHashSet;

/// The body of a loop, lowered, and how it may be left.
struct Body {
    block: Vec<Calculus>,
    /// Flags that end the loop: `break` and returns.
    ends: Vec<VarId>,
    /// Flags that outlive the loop.
    outer: Exits,
    broken: Option<VarId>,
}

/// A condition that is tested again and again.
struct Condition {
    /// What must be done before each test.
    before: Vec<Calculus>,
    value: ExprId,
}

/// The parts of a counted loop.
struct Counted {
    var: VarId,
    cmp: BinaryOp,
    bound: ExprId,
    step: Step,
    /// What the step expression does besides stepping the variable.
    rest: Vec<Calculus>,
}

impl Pass<'_> {
    /// `for (init; cond; step) body`
    pub(in crate::lower) fn for_loop(
        &mut self,
        init: Option<&Stmt>,
        cond: Option<&Expr>,
        step: Option<&Expr>,
        body: &Stmt,
        span: Span,
    ) -> Exits {
        if let Some(init) = init {
            self.stmt(init);
        }
        let split = cond.and_then(claims::split);
        let (own, cond) = match &split {
            Some((claims, test)) => (&claims[..], Some(test)),
            None => (&[][..], cond),
        };
        let claims = &[own, &self.function_wide()].concat();
        let condition = self.tested(cond);
        let (step_block, ()) = self.captured(|pass| step.into_iter().for_each(|step| pass.effect(step)));
        let body = self.loop_body(body, claims);
        let ends = body.ends.clone();
        let exits = self.for_or_loop(condition, body, step_block, cond, span);
        self.claim_after(claims, &ends);
        exits
    }

    /// A `for` loop whose parts have been lowered.
    fn for_or_loop(
        &mut self,
        condition: Condition,
        body: Body,
        step_block: Vec<Calculus>,
        cond: Option<&Expr>,
        span: Span,
    ) -> Exits {
        if condition.before.is_empty()
            && body.ends.is_empty()
            && let Some(counted) = self.counted(condition.value, &step_block, &body.block)
        {
            self.emit_counted(counted, body.block, span);
            return body.outer;
        }
        self.emit_loop(condition, body, step_block, cond, span)
    }

    /// `while (cond) body`
    pub(in crate::lower) fn while_loop(&mut self, cond: &Expr, body: &Stmt, span: Span) -> Exits {
        if self.waiting_loop(cond, body) {
            return Exits::default();
        }
        let split = claims::split(cond);
        let (own, cond) = match &split {
            Some((claims, test)) => (&claims[..], test),
            None => (&[][..], cond),
        };
        let claims = &[own, &self.function_wide()].concat();
        let condition = self.tested(Some(cond));
        let body = self.loop_body(body, claims);
        let ends = body.ends.clone();
        let exits = self.emit_loop(condition, body, Vec::new(), Some(cond), span);
        self.claim_after(claims, &ends);
        exits
    }

    /// What is claimed at the head of a loop also holds when its test fails, but not where a jump leaves it.
    fn claim_after(&mut self, claims: &[HeadClaim<'_>], ends: &[VarId]) {
        let (block, ()) = self.captured(|pass| pass.claim_all(claims));
        let block = self.guarded(ends, block);
        self.emit_all(block);
    }

    fn tested(&mut self, cond: Option<&Expr>) -> Condition {
        let (before, value) = self.captured(|pass| match cond {
            Some(cond) => pass.condition(cond),
            None => pass.kernel.exprs.bool(true),
        });
        Condition { before, value }
    }

    fn loop_body(&mut self, body: &Stmt, claims: &[HeadClaim<'_>]) -> Body {
        self.frame().jumps.push(Jump { is_loop: true, broken: None, continued: None });
        let copies = self.copies_before_turns();
        let (mut block, exits) = self.captured(|pass| {
            pass.claim_all(claims);
            let ends = pass.ends.count();
            let exits = pass.stmt(body);
            pass.next_turn_after(ends, body.span);
            exits
        });
        self.copies_of_turns(copies, &block);
        let (broken, continued) = self.frame().jumps.pop().map_or((None, None), |jump| (jump.broken, jump.continued));
        if let Some(flag) = continued {
            let no = self.exprs().bool(false);
            block.insert(0, Calculus::Let { var: flag, value: no });
        }
        let ends: Vec<VarId> = exits.flags.iter().copied().filter(|&flag| Some(flag) != continued).collect();
        let outer = ends.iter().copied().filter(|&flag| Some(flag) != broken).collect();
        Body { block, ends, outer: Exits { flags: outer, always: false }, broken }
    }

    fn emit_loop(
        &mut self,
        condition: Condition,
        body: Body,
        step: Vec<Calculus>,
        cond: Option<&Expr>,
        span: Span,
    ) -> Exits {
        if let Some(flag) = body.broken {
            self.set_flag(flag, 0);
        }
        let mut block = body.block;
        let mut test = condition.value;
        if condition.before.is_empty() {
            let tail = self.guarded(&body.ends, step);
            block.extend(tail);
        } else {
            // The condition reads memory: it is evaluated here, and again at the end of each turn.
            let var = self.temporary("test", ScalarType::Bool);
            self.emit_all(condition.before);
            self.emit(Calculus::Let { var, value: condition.value });
            let (again, ()) = self.captured(|pass| {
                pass.emit_all(step);
                let again = pass.tested(cond);
                pass.emit_all(again.before);
                pass.emit(Calculus::Let { var, value: again.value });
            });
            let tail = self.guarded(&body.ends, again);
            block.extend(tail);
            test = self.var(var);
        }
        let test = self.with_flags(&body.ends, test);
        let site = self.site(span);
        self.emit(Calculus::Loop { test: Test::Before(test), body: block, site });
        body.outer
    }

    /// `do body while (cond);`
    pub(in crate::lower) fn do_loop(&mut self, body: &Stmt, cond: &Expr, span: Span) -> Exits {
        let body = self.loop_body(body, &[]);
        if let Some(flag) = body.broken {
            self.set_flag(flag, 0);
        }
        let condition = self.tested(Some(cond));
        let once = condition.before.is_empty() && self.kernel.exprs.as_int(condition.value) == Some(0);
        if once {
            // `do { … } while (0)`, as macros are written: no loop at all.
            self.emit_all(body.block);
            return body.outer;
        }
        let mut block = body.block;
        let mut test = condition.value;
        if !condition.before.is_empty() {
            let var = self.temporary("test", ScalarType::Bool);
            let mut tail = condition.before;
            tail.push(Calculus::Let { var, value: test });
            let tail = self.guarded(&body.ends, tail);
            block.extend(tail);
            test = self.var(var);
        }
        let test = self.with_flags(&body.ends, test);
        let site = self.site(span);
        self.emit(Calculus::Loop { test: Test::After(test), body: block, site });
        body.outer
    }

    /// `block`, unless one of the flags is set.
    fn guarded(&mut self, flags: &[VarId], block: Vec<Calculus>) -> Vec<Calculus> {
        if block.is_empty() {
            return block;
        }
        flags.iter().rev().fold(block, |block, &flag| {
            let cond = self.negated(flag);
            vec![Calculus::If { cond, then: block, otherwise: Vec::new() }]
        })
    }

    /// `!flag && … && test`
    fn with_flags(&mut self, flags: &[VarId], test: ExprId) -> ExprId {
        flags.iter().rev().fold(test, |test, &flag| {
            let not = self.negated(flag);
            self.exprs().and(not, test)
        })
    }

    fn emit_counted(&mut self, counted: Counted, mut body: Vec<Calculus>, span: Span) {
        let var = counted.var;
        let start = match self.blocks.take_back_let(var) {
            Some(value) => value,
            None => self.var(var),
        };
        body.extend(counted.rest);
        let site = self.site(span);
        let (cmp, bound, step) = (counted.cmp, counted.bound, counted.step);
        self.emit(Calculus::For(Box::new(For { var, start, cmp, bound, step, body, site })));
    }

    /// The counted form of a loop, if it has one. `test` and `step` are its condition and step as lowered.
    fn counted(&mut self, test: ExprId, step: &[Calculus], body: &[Calculus]) -> Option<Counted> {
        let Pure::Binary(op, left, right) = self.kernel.exprs[test] else { return None };
        let (at, &Calculus::Let { var, value: next }) = step.iter().enumerate().find(|(_, stmt)| {
            matches!(stmt, Calculus::Let { var, .. } if self.is_var(left, *var) || self.is_var(right, *var))
        })?
        else {
            return None;
        };
        let (cmp, tested, bound) =
            if self.is_var(left, var) { (op, left, right) } else { (op.mirrored()?, right, left) };
        let ScalarType::Int { width, signed } = self.kernel.vars[var].ty else { return None };
        if !matches!(cmp, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Ne) {
            return None;
        }
        let by = self.step_of(var, next)?;
        if signed && width < 32 {
            return None; // Converting back to a narrow signed type wraps, which a counted loop does not.
        }
        let bound = self.bound_for(var, tested, bound, by)?;
        let mut rest = step.to_vec();
        rest.remove(at);
        let mut changed = FxHashSet::default();
        collect_assigned(body, &mut changed);
        collect_assigned(&rest, &mut changed);
        let fixed = |expr: ExprId| {
            let mut fixed = true;
            self.kernel.exprs.visit(expr, |_, node| {
                fixed &= !matches!(node, Pure::Var(used) if *used == var || changed.contains(used));
            });
            fixed
        };
        let independent = !changed.contains(&var) && !self.mentions(&rest, var);
        (independent && fixed(bound) && fixed(by.by)).then_some(Counted { var, cmp, bound, step: by, rest })
    }

    /// Whether `expr` is `var`, perhaps converted to a wider type.
    fn is_var(&self, expr: ExprId, var: VarId) -> bool {
        match self.kernel.exprs[expr] {
            Pure::Var(found) => found == var,
            Pure::Convert(to, inner) => {
                let from = self.kernel.exprs.ty(inner);
                matches!(self.kernel.exprs[inner], Pure::Var(found) if found == var) && to.bytes() >= from.bytes()
            }
            _ => false,
        }
    }

    /// How `next` follows from `var`, if by one of the steps of a counted loop.
    fn step_of(&mut self, var: VarId, next: ExprId) -> Option<Step> {
        let ty = self.kernel.vars[var].ty;
        let (inner, converted) = match self.kernel.exprs[next] {
            Pure::Convert(_, inner) => (inner, true),
            _ => (next, false),
        };
        let Pure::Binary(op, left, right) = self.kernel.exprs[inner] else { return None };
        // After a conversion of the result only operators that commute with reduction modulo 2^n will do.
        let allowed = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => true,
            BinaryOp::Div | BinaryOp::Shl | BinaryOp::Shr => !converted,
            _ => false,
        };
        if !allowed {
            return None;
        }
        let by = if self.is_var(left, var) {
            right
        } else if matches!(op, BinaryOp::Add | BinaryOp::Mul) && self.is_var(right, var) {
            left
        } else {
            return None;
        };
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let by = if shift { by } else { self.exprs().convert(ty, by) };
        Some(Step { op, by })
    }

    /// The bound in the type of the variable, if comparing there means the same as comparing as written.
    fn bound_for(&mut self, var: VarId, tested: ExprId, bound: ExprId, step: Step) -> Option<ExprId> {
        let ty = self.kernel.vars[var].ty;
        let wide = self.kernel.exprs.ty(tested);
        if wide == ty {
            return Some(bound);
        }
        let (least, greatest) = self.range(bound)?;
        let (lowest, highest) = ty.range()?;
        let fits = lowest <= least && greatest <= highest;
        let keeps_value = match (ty, wide) {
            (ScalarType::Int { signed: false, .. }, ScalarType::Int { .. }) => true,
            (ScalarType::Int { signed: true, .. }, ScalarType::Int { signed: true, .. }) => true,
            _ => self.stays_positive(var, step, greatest),
        };
        (fits && keeps_value).then(|| self.kernel.exprs.convert(ty, bound))
    }

    /// Whether a signed variable starts at zero or above and only moves up or towards zero. A shift to the left
    /// wraps, so it must not be able to leave the type from below `bound`.
    fn stays_positive(&mut self, var: VarId, step: Step, bound: i128) -> bool {
        let starts = match self.last_let(var) {
            Some(start) => self.range(start).is_some_and(|(least, _)| least >= 0),
            None => false,
        };
        let (least, greatest) = self.range(step.by).unwrap_or((-1, i128::MAX));
        let (_, highest) = self.kernel.vars[var].ty.range().unwrap_or((0, 0));
        starts
            && match step.op {
                BinaryOp::Div | BinaryOp::Shr => true,
                BinaryOp::Add | BinaryOp::Mul => least >= 0,
                BinaryOp::Shl => (0..=32).contains(&greatest) && bound << greatest <= highest,
                _ => false,
            }
    }

    /// Whether any expression of `stmts` uses `var`.
    fn mentions(&self, stmts: &[Calculus], var: VarId) -> bool {
        let mut found = false;
        each_expr(stmts, &mut |expr| {
            self.kernel.exprs.visit(expr, |_, node| found |= matches!(node, Pure::Var(used) if *used == var));
        });
        found
    }
}

/// The variables that `stmts` may assign.
pub(in crate::lower) fn collect_assigned(stmts: &[Calculus], assigned: &mut FxHashSet<VarId>) {
    assigned.extend(crate::calculus::statements::assigned(stmts));
}

impl Pass<'_> {
    /// `break;`
    pub(in crate::lower) fn break_out(&mut self, span: Span) -> Exits {
        self.no_copies_here(span);
        let Some(last) = self.frame().jumps.len().checked_sub(1) else {
            self.unsupported(span, "break outside a loop".to_owned());
            return Exits::default();
        };
        let flag = match self.frame().jumps[last].broken {
            Some(flag) => flag,
            None => self.jump_flag("break"),
        };
        self.frame().jumps[last].broken = Some(flag);
        self.set_flag(flag, 1);
        Exits { flags: vec![flag], always: true }
    }

    /// `continue;`, which passes through switches to the loop.
    pub(in crate::lower) fn continue_loop(&mut self, span: Span) -> Exits {
        self.no_copies_here(span);
        let Some(at) = self.frame().jumps.iter().rposition(|jump| jump.is_loop) else {
            self.unsupported(span, "continue outside a loop".to_owned());
            return Exits::default();
        };
        let flag = match self.frame().jumps[at].continued {
            Some(flag) => flag,
            None => self.jump_flag("continue"),
        };
        self.frame().jumps[at].continued = Some(flag);
        self.set_flag(flag, 1);
        Exits { flags: vec![flag], always: true }
    }
}
