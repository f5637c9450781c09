//! Statements, and what the tree has no node for.

use super::expressions::Use;
use super::items::Walker;
use super::mutants::Ahead;
use super::mutation::GUARD;
use super::scope::Home;
use super::within::Side;
use crate::builtins::variables::{self, variable};
use crate::mutation::Operator;
use crate::source::Span;
use crate::syntax::parts::{expr_has, stmt_has};
use crate::syntax::{
    Aside, AsideKind, Expr, ExprKind, Init, Item, ItemKind, Param, Qualifier, Record, Stmt, StmtKind, TypeKind,
    UnaryOp, Variable,
};
use std::ops::Range;

/// What is not understood and holds no access of its own.
const HARMLESS: [&str; 9] = [
    "goto statement",
    "alignof",
    "offsetof",
    "sizeof of a pack",
    "user-defined literal",
    "character literal",
    "destructor call",
    "pack expansion",
    "requires expression",
];

impl<'a> Walker<'a> {
    pub(super) fn block(&mut self, statements: &'a [Stmt]) {
        self.scopes.open();
        if self.covers() {
            let stays =
                |part: &Expr| matches!(&part.kind, ExprKind::Call(callee, values) if self.may_stay(callee, values));
            let may_stay: Vec<bool> = statements.iter().map(|statement| stmt_has(statement, &stays)).collect();
            self.cover(|counters| counters.runs(statements.iter().zip(may_stay)));
        }
        let ahead = self.within.ahead;
        for (at, statement) in statements.iter().enumerate() {
            self.within.ahead = Ahead::InBlock(statement, statements.get(at + 1));
            self.statement(statement);
        }
        self.within.ahead = ahead;
        self.scopes.close();
    }

    pub(super) fn statement(&mut self, statement: &'a Stmt) {
        match &statement.kind {
            StmtKind::Block(body) => self.block(body),
            StmtKind::Item(item) => self.local_item(item),
            StmtKind::Expr(value) => {
                self.mutate(|mutators| mutators.statement(value));
                self.expr(value, Use::Discard);
            }
            StmtKind::If { init, cond, then, otherwise, is_constexpr } => {
                self.scopes.open();
                self.optional(init.as_deref());
                if !is_constexpr {
                    self.cover(|counters| counters.branch(cond, init.as_deref()));
                    if init.is_none() {
                        self.mutate(|mutators| mutators.guard(cond, &GUARD));
                    }
                    self.expr(cond, Use::Read);
                }
                self.cover(|counters| counters.alone(then));
                self.scoped(then);
                if let Some(otherwise) = otherwise {
                    self.cover(|counters| counters.alone(otherwise));
                    self.scoped(otherwise);
                }
                self.scopes.close();
            }
            StmtKind::For { init, cond, step, body } => {
                self.scopes.open();
                self.cover(|counters| counters.turns(statement, cond.as_ref(), body));
                self.within.ahead = Ahead::Nowhere;
                self.mutate(|mutators| mutators.start(init.as_deref()));
                self.optional(init.as_deref());
                if let Some(cond) = cond {
                    self.test(cond);
                }
                if let Some(step) = step {
                    self.within.ahead = Ahead::Nowhere;
                    self.mutate(|mutators| mutators.step(step));
                    self.expr(step, Use::Discard);
                }
                self.cover(|counters| counters.alone(body));
                self.scoped(body);
                self.scopes.close();
            }
            StmtKind::RangeFor { variable, range, body } => {
                let by_reference = self.facts.is_reference(&variable.ty);
                self.cover(|counters| counters.turns(statement, None, body));
                self.expr(range, Use::Place);
                if self.within.is_on_device() && !by_reference && !self.stays_own(range) {
                    self.notes.leave_out(statement.span, "range-based for loop over memory".to_owned());
                }
                self.scopes.open();
                self.declare(variable);
                self.cover(|counters| counters.alone(body));
                self.scoped(body);
                self.scopes.close();
            }
            StmtKind::While { cond, body } => {
                self.cover(|counters| counters.turns(statement, Some(cond), body));
                self.test(cond);
                self.cover(|counters| counters.alone(body));
                self.scoped(body);
            }
            StmtKind::Do { body, cond } => {
                self.cover(|counters| counters.turns(statement, Some(cond), body));
                self.cover(|counters| counters.alone(body));
                self.scoped(body);
                self.within.ahead = Ahead::Nowhere;
                self.expr(cond, Use::Read);
            }
            StmtKind::Switch { value, body } => {
                self.expr(value, Use::Read);
                self.scoped(body);
            }
            StmtKind::Return(Some(value)) => {
                let usage = if self.within.returns_reference { Use::Place } else { Use::Read };
                self.expr(value, usage);
            }
            StmtKind::Asm { text, .. } => {
                if self.within.is_on_device() {
                    self.native_assembly(statement.span, text);
                    self.notes.leave_out(statement.span, "inline assembly".to_owned());
                }
            }
            StmtKind::Unsupported(reason) => self.unsupported(statement.span, reason),
            StmtKind::Case(_) | StmtKind::Return(None) | StmtKind::Break | StmtKind::Continue | StmtKind::Empty => {}
        }
    }

    /// A statement that is a scope of its own.
    fn scoped(&mut self, statement: &'a Stmt) {
        self.scopes.open();
        let ahead = std::mem::replace(&mut self.within.ahead, Ahead::Alone(statement));
        self.statement(statement);
        self.within.ahead = ahead;
        self.scopes.close();
    }

    /// The condition of a loop.
    fn test(&mut self, cond: &'a Expr) {
        let ahead = std::mem::replace(&mut self.within.ahead, Ahead::Test(cond));
        self.mutate(|mutators| mutators.guard(cond, &[Operator::LoopSkipped]));
        self.expr(cond, Use::Read);
        self.within.ahead = ahead;
    }

    fn optional(&mut self, statement: Option<&'a Stmt>) {
        if let Some(statement) = statement {
            self.statement(statement);
        }
    }

    fn local_item(&mut self, item: &'a Item) {
        match &item.kind {
            ItemKind::Variables(variables) => {
                // Several declarators have one type between them.
                if let Some(first) = variables.first() {
                    self.mutate(|mutators| mutators.scope_of_type(&first.ty));
                }
                for variable in variables {
                    self.initial(variable);
                    self.declare(variable);
                }
                if self.within.is_on_device() {
                    self.local_storage(item, variables);
                }
            }
            ItemKind::Unsupported(reason) => self.unsupported(item.span, reason),
            ItemKind::Record(record) if self.within.is_on_device() && has_bodies(record) => {
                self.notes.leave_out(item.span, "methods of a class inside a function".to_owned());
            }
            _ => {}
        }
    }

    /// The initial value of a variable.
    pub(super) fn initial(&mut self, variable: &'a Variable) {
        if variable.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Constexpr)) {
            return;
        }
        let is_fixed = self.is_constant(variable);
        let outer = std::mem::replace(&mut self.within.is_fixed, is_fixed);
        self.initial_value(variable);
        self.within.is_fixed = outer;
    }

    fn initial_value(&mut self, variable: &'a Variable) {
        match &variable.init {
            None => {}
            Some(Init::Value(value)) => {
                let usage = if self.facts.is_reference(&variable.ty) || is_bound(&variable.ty.kind) {
                    Use::Place
                } else {
                    Use::Read
                };
                self.expr(value, usage);
            }
            Some(Init::Call(values) | Init::List(values)) if self.facts.is_reference(&variable.ty) => {
                values.iter().for_each(|value| self.expr(value, Use::Place));
            }
            Some(Init::Call(values) | Init::List(values)) => self.constructed(&variable.ty, values),
        }
    }

    /// Whether the value of a variable is known to the compiler, which may need it for the extent of an array.
    pub(super) fn is_constant(&self, declared: &Variable) -> bool {
        let is_const = |it: &Qualifier| matches!(it, Qualifier::Const | Qualifier::Constexpr);
        let Some(Init::Value(value)) = &declared.init else { return false };
        let language = self.source.unit.dialect.language();
        let varies = |part: &Expr| match &part.kind {
            ExprKind::Path(path) => path.segments.last().is_some_and(|last| {
                let name = last.name.text.as_str();
                match self.scopes.find(name) {
                    Some(local) => !local.is_constant,
                    None => matches!(variable(language, name), Some(variables::Variable::Ids(_))),
                }
            }),
            ExprKind::Call(..) | ExprKind::Index(..) | ExprKind::Unary(UnaryOp::Deref, _) => true,
            _ => false,
        };
        declared.qualifiers.iter().any(is_const) && !expr_has(value, &varies)
    }

    /// What could not be read: the parts that were kept are walked; anything else is named.
    pub(super) fn unsupported(&mut self, span: Span, reason: &str) {
        let Some(range) = self.tokens.range(span) else {
            if self.within.is_on_device() {
                self.notes.leave_out(span, reason.to_owned());
            }
            return;
        };
        let found = self.asides_in(range.clone());
        let mut covered = false;
        for (tokens, aside) in found {
            let rest = self.tokens.text(tokens.end);
            covered |= tokens.start == range.start && (tokens.end == range.end || rest == ";");
            self.aside(tokens, aside);
        }
        let allocates = matches!(reason, "new expression" | "delete expression");
        let harmless = HARMLESS.contains(&reason) || reason.starts_with("literal");
        if self.within.is_on_device() && (!covered && !harmless || allocates) {
            self.notes.leave_out(span, reason.to_owned());
        }
    }

    /// The outermost asides among some tokens.
    fn asides_in(&self, range: Range<usize>) -> Vec<(Range<usize>, &'a Aside)> {
        let first = self.asides.partition_point(|(tokens, _)| tokens.start < range.start);
        let mut found: Vec<(Range<usize>, &'a Aside)> = Vec::new();
        for (tokens, aside) in &self.asides[first..] {
            if tokens.start >= range.end {
                break;
            }
            let inside = found.last().is_some_and(|(last, _)| tokens.start < last.end);
            if tokens.end <= range.end && !inside {
                found.push((tokens.clone(), aside));
            }
        }
        found
    }

    fn aside(&mut self, tokens: Range<usize>, aside: &'a Aside) {
        match &aside.kind {
            AsideKind::Lambda { captures, params, body } => self.lambda(tokens, captures, params, body),
            AsideKind::Values(values) => values.iter().for_each(|value| self.expr(value, Use::Read)),
            AsideKind::Statements(statements) => self.block(statements),
        }
    }

    fn lambda(&mut self, tokens: Range<usize>, captures: &'a [Expr], params: &'a [Param], body: &'a [Stmt]) {
        captures.iter().for_each(|value| self.expr(value, Use::Read));
        let side = self.within.side;
        let returns_reference = std::mem::replace(&mut self.within.returns_reference, false);
        let head = self.tokens.partner(tokens.start).map_or(tokens.start, |close| close + 1);
        let open = self.tokens.find(head..tokens.end, "{").unwrap_or(tokens.end);
        if (head..open).any(|at| matches!(self.tokens.text(at), "__device__" | "__global__")) {
            self.within.side = Side::Device;
        }
        self.scopes.open();
        self.params(params);
        self.block(body);
        self.scopes.close();
        self.within.side = side;
        self.within.returns_reference = returns_reference;
    }

    /// Whether a name is an access by itself here.
    pub(super) fn names_memory(&self, name: &str) -> Option<bool> {
        self.scopes.find(name).map(|local| local.home == Home::Memory)
    }
}

/// Whether a record has methods with bodies.
fn has_bodies(record: &Record) -> bool {
    let has_body = |item: &Item| matches!(&item.kind, ItemKind::Function(function) if function.body.is_some());
    record.members.iter().flatten().any(has_body)
}

/// Whether a structured binding by reference is declared.
fn is_bound(kind: &TypeKind) -> bool {
    matches!(kind, TypeKind::Unsupported(reason) if reason == "structured binding")
}
