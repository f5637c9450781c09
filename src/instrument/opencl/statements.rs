//! Statements, and what the tree has no node for.

use super::types::{Space, space};
use super::{Home, Local, Translator};
use crate::instrument::expressions::Use;
use crate::source::Span;
use crate::syntax::{AsideKind, Expr, Init, Item, ItemKind, Stmt, StmtKind, TypeKind, Variable};

/// What is not understood and holds no access of its own.
const HARMLESS: [&str; 4] = ["goto statement", "alignof", "offsetof", "character literal"];

impl<'a> Translator<'a> {
    pub(super) fn block(&mut self, statements: &'a [Stmt]) {
        // No function of OpenCL C ends a work-item.
        self.cover(|counters| counters.runs(statements.iter().map(|statement| (statement, false))));
        self.scoped(|translator| statements.iter().for_each(|statement| translator.statement(statement)));
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match &statement.kind {
            StmtKind::Block(body) => self.block(body),
            StmtKind::Item(item) => self.local_item(item),
            StmtKind::Expr(value) => self.expr(value, Use::Discard),
            StmtKind::If { init, cond, then, otherwise, .. } => self.scoped(|translator| {
                translator.optional(init.as_deref());
                translator.agreeing(statement, Some(cond), |translator| {
                    translator.cover(|counters| counters.branch(cond, init.as_deref()));
                    translator.expr(cond, Use::Read);
                    for branch in [Some(&**then), otherwise.as_deref()].into_iter().flatten() {
                        translator.cover(|counters| counters.alone(branch));
                        translator.inner(branch);
                    }
                });
            }),
            StmtKind::For { init, cond, step, body } => self.scoped(|translator| {
                translator.cover(|counters| counters.turns(statement, None, body));
                translator.optional(init.as_deref());
                translator.agreeing(statement, cond.as_ref(), |translator| {
                    cond.iter().for_each(|cond| translator.expr(cond, Use::Read));
                    step.iter().for_each(|step| translator.expr(step, Use::Discard));
                    translator.body(body);
                });
            }),
            StmtKind::While { cond, body } => self.agreeing(statement, Some(cond), |translator| {
                translator.cover(|counters| counters.turns(statement, None, body));
                translator.expr(cond, Use::Read);
                translator.body(body);
            }),
            StmtKind::Do { body, cond } => self.agreeing(statement, Some(cond), |translator| {
                translator.cover(|counters| counters.turns(statement, None, body));
                translator.body(body);
                translator.expr(cond, Use::Read);
            }),
            StmtKind::Switch { value, body } => self.agreeing(statement, Some(value), |translator| {
                translator.expr(value, Use::Read);
                translator.inner(body);
            }),
            StmtKind::Return(Some(value)) => self.expr(value, Use::Read),
            StmtKind::Asm { .. } => self.notes.leave_out(statement.span, "inline assembly"),
            // C has none.
            StmtKind::RangeFor { .. } => self.notes.leave_out(statement.span, "range-based for loop"),
            StmtKind::Unsupported(reason) => self.unsupported(statement.span, reason),
            StmtKind::Case(_) | StmtKind::Return(None) | StmtKind::Break | StmtKind::Continue | StmtKind::Empty => {}
        }
    }

    /// Walks a statement with a condition, on which work-items agree where that decides about a barrier.
    fn agreeing(&mut self, statement: &'a Stmt, cond: Option<&'a Expr>, walk: impl FnOnce(&mut Self)) {
        if let Some(agreement) = self.course.come(self.tokens, statement, cond) {
            let number = self.shared.barriers.len();
            self.shared.barriers.push(self.tokens.place_of(agreement.barrier));
            // A condition may be a pointer or a floating-point number.
            let after = if agreement.is_switch { "))" } else { ") ? 1 : 0)" };
            let leads = match self.counts() {
                true => agreement.leads_to_this_one(),
                false => agreement.leads as u32,
            };
            let before = format!("raceproof_agree(raceproof_self, {number}, {leads}, (");
            self.edits.wrap(agreement.condition, before, after);
        }
        walk(self);
        self.course.leave();
    }

    fn inner(&mut self, statement: &'a Stmt) {
        self.scoped(|translator| translator.statement(statement));
    }

    /// What a loop executes in each of its turns.
    fn body(&mut self, statement: &'a Stmt) {
        self.cover(|counters| counters.alone(statement));
        self.inner(statement);
    }

    fn optional(&mut self, statement: Option<&'a Stmt>) {
        statement.into_iter().for_each(|statement| self.statement(statement));
    }

    fn local_item(&mut self, item: &'a Item) {
        self.types.item(item);
        match &item.kind {
            ItemKind::Variables(variables) => {
                for variable in variables {
                    self.initial(variable);
                    self.variable(variable);
                }
                self.local_storage(item, variables);
            }
            ItemKind::Unsupported(reason) => self.unsupported(item.span, reason),
            _ => {}
        }
    }

    fn variable(&mut self, variable: &'a Variable) {
        let declared = [space(&variable.qualifiers), space(&variable.ty.qualifiers)];
        // `__local float *p` is a variable of the work-item that points to local memory.
        let is_pointer = matches!(variable.ty.kind, TypeKind::Pointer(_));
        let is_shared = !is_pointer && declared.iter().any(|it| matches!(it, Space::Local | Space::Global));
        let home = if is_shared { Home::Memory } else { Home::Own };
        if declared.contains(&Space::Global) && !is_pointer {
            self.notes.leave_out(variable.span, "variable of global memory inside a function");
        }
        let shape = self.types.shape(&variable.ty);
        self.declare(&variable.name.text, Local { home, shape });
    }

    fn initial(&mut self, variable: &'a Variable) {
        match &variable.init {
            None => {}
            Some(Init::Value(value)) => self.expr(value, Use::Read),
            Some(Init::Call(values) | Init::List(values)) => {
                values.iter().for_each(|value| self.expr(value, Use::Read));
            }
        }
    }

    /// What could not be read: the parts that were kept are walked; anything else is named.
    pub(super) fn unsupported(&mut self, span: Span, reason: &str) {
        let Some(range) = self.tokens.range(span) else { return self.notes.leave_out(span, reason) };
        let whole = self.source.asides.iter().find(|aside| self.tokens.range(aside.span) == Some(range.clone()));
        match whole.map(|aside| &aside.kind) {
            Some(AsideKind::Values(values)) => values.iter().for_each(|value| self.expr(value, Use::Read)),
            Some(AsideKind::Statements(statements)) => self.block(statements),
            _ if HARMLESS.contains(&reason) || reason.starts_with("literal") => {}
            _ => self.notes.leave_out(span, reason),
        }
    }
}
