//! Statements, and the guards that jumps leave behind.
//!
//! A jump sets a flag. Whatever of the enclosing statement lists follows is guarded by `!flag`, one `if`
//! for each flag, so that the guard of a `return` is literally the negated variable.

use crate::calculus::{ExprId, HavocReason, VarId};
use crate::lower::pass::Pass;
use crate::lower::value::{Place, Value};
use crate::resolve::program::{Expr, ExprKind, Stmt, StmtKind, Storage, Type};
use crate::source::Span;

/// Guards that are nested before they are written side by side instead.
const MAX_NESTED_GUARDS: usize = 40;

/// How a statement may be left other than at its end.
#[derive(Clone, Debug, Default)]
pub(in crate::lower) struct Exits {
    /// Flags that it may set, in the order in which guards should name them.
    pub(in crate::lower) flags: Vec<VarId>,
    /// Whether what follows is never reached.
    pub(in crate::lower) always: bool,
}

impl Exits {
    fn none() -> Self {
        Self::default()
    }

    fn jump(flag: Option<VarId>) -> Self {
        Exits { flags: flag.into_iter().collect(), always: true }
    }

    pub(in crate::lower) fn add(&mut self, flags: &[VarId]) {
        for flag in flags {
            if !self.flags.contains(flag) {
                self.flags.push(*flag);
            }
        }
        self.flags.sort_unstable();
    }
}

impl Pass<'_> {
    /// Lowers statements in order.
    pub(in crate::lower) fn stmts(&mut self, list: &[Stmt]) -> Exits {
        let mut exits = Exits::none();
        let mut opened: Vec<VarId> = Vec::new();
        let mut waiting: Vec<VarId> = Vec::new();
        for stmt in list {
            if exits.always {
                break;
            }
            if !waiting.is_empty() && opened.len() + waiting.len() > MAX_NESTED_GUARDS {
                self.close_guards(&mut opened);
                waiting.clone_from(&exits.flags);
            }
            for flag in waiting.drain(..) {
                self.blocks.begin();
                opened.push(flag);
            }
            let ends = self.ends.count();
            let inner = self.stmt(stmt);
            self.go_on_after(ends, stmt.span);
            waiting.clone_from(&inner.flags);
            exits.add(&inner.flags);
            exits.always = inner.always;
        }
        self.close_guards(&mut opened);
        exits
    }

    fn close_guards(&mut self, opened: &mut Vec<VarId>) {
        while let Some(flag) = opened.pop() {
            let block = self.blocks.finish();
            let cond = self.negated(flag);
            self.emit_if(cond, block, Vec::new());
        }
    }

    /// `!flag`
    pub(in crate::lower) fn negated(&mut self, flag: VarId) -> ExprId {
        let value = self.var(flag);
        self.exprs().not(value)
    }

    /// Lowers one statement.
    pub(in crate::lower) fn stmt(&mut self, stmt: &Stmt) -> Exits {
        self.deeper(|pass| pass.stmt_inner(stmt)).unwrap_or_else(|| {
            self.unsupported(stmt.span, "statement that is nested too deeply".to_owned());
            Exits::none()
        })
    }

    fn stmt_inner(&mut self, stmt: &Stmt) -> Exits {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Block(list) => return self.stmts(list),
            StmtKind::Declare(variable, initial) => {
                self.take_for_number(self.program.variables[*variable].ty);
                self.declaration(*variable, initial.as_ref(), span);
            }
            StmtKind::Expr(expr) => self.effect(expr),
            StmtKind::If(cond, then, otherwise) => return self.if_stmt(cond, then, otherwise.as_deref()),
            StmtKind::For { init, cond, step, body } => {
                return self.for_loop(init.as_deref(), cond.as_ref(), step.as_ref(), body, span);
            }
            StmtKind::While(cond, body) => return self.while_loop(cond, body, span),
            StmtKind::Do(body, cond) => return self.do_loop(body, cond, span),
            StmtKind::Switch(value, body) => return self.switch(value, body, span),
            StmtKind::Case(_) => self.unsupported(span, "case label inside a nested statement".to_owned()),
            StmtKind::Break => return self.break_out(span),
            StmtKind::Continue => return self.continue_loop(span),
            StmtKind::Return(value) => return self.return_from(value.as_ref(), span),
            StmtKind::Asm { text, outputs, inputs, clobbers_memory } => {
                let asm = crate::lower::asm::Asm { text, outputs, inputs, clobbers_memory: *clobbers_memory };
                self.inline_assembly(&asm, span);
            }
            StmtKind::Unsupported(reason) => self.unsupported(span, reason.clone()),
        }
        Exits::none()
    }

    fn declaration(&mut self, variable: crate::resolve::program::VariableId, initial: Option<&Expr>, span: Span) {
        let declared = &self.program.variables[variable];
        if !matches!(declared.storage, Storage::Local | Storage::Param) {
            // Static storage is not initialised by the thread; the array must exist even if nothing uses it.
            self.target_of(variable);
            return;
        }
        let value = initial.map(|expr| {
            let value = self.value(expr);
            self.fit_value(value, declared.ty)
        });
        self.declare(variable, value, span);
    }

    fn if_stmt(&mut self, cond: &Expr, then: &Stmt, otherwise: Option<&Stmt>) -> Exits {
        let cond = self.condition(cond);
        match self.kernel.exprs.as_int(cond) {
            Some(0) => return otherwise.map_or_else(Exits::none, |stmt| self.stmt(stmt)),
            Some(_) => return self.stmt(then),
            None => {}
        }
        let before = self.copies_now();
        let (then, mut exits) = self.captured(|pass| pass.stmt(then));
        let other = self.other_way(&before);
        let (otherwise, other_exits) = self.captured(|pass| otherwise.map_or_else(Exits::none, |stmt| pass.stmt(stmt)));
        self.join_copies(other);
        self.emit_if(cond, then, otherwise);
        exits.add(&other_exits.flags);
        exits.always &= other_exits.always;
        exits
    }

    fn return_from(&mut self, value: Option<&Expr>, span: Span) -> Exits {
        self.no_copies_here(span);
        if let Some(expr) = value {
            match self.frame().result {
                Some(target) => {
                    let value = self.value(expr);
                    let ty = self.program.functions[self.frame().function].result;
                    let value = self.fit_value(value, ty);
                    let place = Place { pointer: self.start_of(target), ty, bits: None };
                    self.store(&place, value, span);
                }
                None => self.effect(expr),
            }
        }
        let flag = self.frame().returned;
        if let Some(flag) = flag {
            self.set_flag(flag, 1);
        }
        Exits::jump(flag)
    }

    /// The value of a function whose only `return` is its last statement, which `list` ends with.
    pub(in crate::lower) fn stmts_with_value(&mut self, list: &[Stmt]) -> Value {
        let Some((end, before)) = list.split_last() else { return Value::Void };
        self.stmts(before);
        match &end.kind {
            StmtKind::Return(Some(expr)) => {
                let value = self.value(expr);
                self.fit_value(value, expr.ty)
            }
            StmtKind::Block(inner) => self.stmts_with_value(inner),
            _ => Value::Void,
        }
    }

    /// An object's contents become unknown, as an instruction or call that is not modelled leaves them.
    pub(in crate::lower) fn forget(&mut self, expr: &Expr, reason: &HavocReason, span: Span) {
        if matches!(expr.kind, ExprKind::Unsupported(_)) || matches!(self.program.types[expr.ty], Type::Void) {
            return;
        }
        let object = self.object(expr);
        let value = self.unknown_value(expr.ty, reason, span);
        self.store_object(&object, value, span);
    }
}
