//! Which mutants a place has: what the walk meets, and what it is confused with.

use super::callees::Callees;
use super::mutants::{Ahead, Mutators, is_comparison};
use crate::builtins::confused::{other_flags, other_ids, weaker_scope, with_weaker_scope};
use crate::builtins::functions::narrower;
use crate::builtins::variables::{Variable, confused_with, variable};
use crate::builtins::{Builtin, atomics, groups};
use crate::calculus::SyncScope;
use crate::mutation::Operator;
use crate::source::Language;
use crate::syntax::{
    BinaryOp, Expr, ExprKind, Init, ItemKind, Path, Stmt, StmtKind, TemplateArg, Type, TypeKind, UnaryOp,
    Variable as Declared,
};

/// What the condition of an `if` may be.
pub(super) const GUARD: [Operator; 3] = [Operator::GuardNegated, Operator::GuardOpened, Operator::GuardClosed];
/// What a condition may be that chooses a value.
pub(super) const NEGATED: [Operator; 1] = [Operator::GuardNegated];

impl<'a> Mutators<'_, 'a> {
    /// A statement that is one expression.
    pub(super) fn statement(&mut self, value: &'a Expr) {
        match &value.kind {
            ExprKind::Call(callee, arguments) => self.called(value, callee, arguments),
            ExprKind::Assign(..)
            | ExprKind::Postfix(..)
            | ExprKind::Unary(UnaryOp::PreIncrement | UnaryOp::PreDecrement, _) => self.store(value),
            _ => {}
        }
    }

    fn called(&mut self, value: &'a Expr, callee: &'a Expr, arguments: &'a [Expr]) {
        let callees = Callees { facts: self.facts, language: self.language };
        let ExprKind::Path(path) = &callee.kind else {
            if callees.waits_for_others(callee, arguments) {
                self.barrier(value, &[]);
            }
            return;
        };
        let meaning = callees.builtin(path, arguments.len());
        let Some((name, meaning)) = meaning else { return };
        match meaning {
            Some(Builtin::Barrier { scope, .. }) => {
                let is_of_block = scope == SyncScope::Block;
                let narrower = if is_of_block { self.narrower(value, name, arguments) } else { Vec::new() };
                self.barrier(value, &narrower);
            }
            Some(Builtin::Fence(_)) => {
                let narrower = self.narrower(value, name, arguments);
                self.fence(value, &narrower);
            }
            Some(Builtin::Atomic { op, .. }) => {
                self.atomic(value, callee, (name, op), arguments);
            }
            None if groups::Function::named(name).is_some() && callees.waits_for_others(callee, arguments) => {
                self.barrier(value, &[]);
            }
            _ => {}
        }
    }

    /// Calls in the place of that of a barrier or a fence which order less: fewer threads, or another memory.
    fn narrower(&self, call: &Expr, name: &str, arguments: &[Expr]) -> Vec<String> {
        if let Some(narrower) = narrower(self.language, name) {
            return vec![narrower.to_owned()];
        }
        let texts = self.text(call).zip(arguments.first().and_then(|flags| self.text(flags)));
        let Some((whole, flags)) = texts.filter(|_| self.language == Language::OpenCl) else { return Vec::new() };
        other_flags(flags).into_iter().map(|other| whole.replacen(flags, other, 1)).collect()
    }

    /// A call, whatever its result is used for.
    pub(super) fn any_call(&mut self, call: &'a Expr, callee: &'a Expr, arguments: &'a [Expr]) {
        self.work_item(call, callee, arguments);
        let ExprKind::Path(path) = &callee.kind else { return };
        self.scope_of_object(path);
        let callees = Callees { facts: self.facts, language: self.language };
        let Some((name, meaning)) = callees.builtin(path, arguments.len()) else { return };
        match meaning {
            Some(Builtin::Atomic { .. } | Builtin::CompareAndExchange { .. }) if self.language == Language::OpenCl => {
                self.unnamed_scope(call, callee, name, arguments.len());
            }
            Some(Builtin::Atomic { .. }) if self.may_be_weaker(name, arguments) => self.scope_of_atomic(callee, name),
            _ => {}
        }
    }

    /// An atomic of OpenCL that leaves its scope to the language.
    fn unnamed_scope(&mut self, call: &'a Expr, callee: &'a Expr, name: &str, given: usize) {
        let (Some(whole), Some(called)) = (self.text(call), self.text(callee)) else { return };
        let Some(arguments) = whole.strip_prefix(called) else { return };
        if let Some(weaker) = with_weaker_scope(name, given, called, arguments.trim_start()) {
            self.in_the_place_of(call, Operator::ScopeWeakened, weaker);
        }
    }

    /// The name of a scope, in an expression.
    pub(super) fn scope(&mut self, expr: &'a Expr, path: &'a Path) {
        if let Some(weaker) = self.weaker_scope(expr, path) {
            self.named_scope(expr, weaker);
        }
    }

    /// The scope among the template arguments of an atomic object's type.
    pub(super) fn scope_of_type(&mut self, ty: &'a Type) {
        if let TypeKind::Named(path) = &ty.kind {
            self.scope_of_object(path);
        }
    }

    fn scope_of_object(&mut self, path: &'a Path) {
        let class = path.segments.last().filter(|last| atomics::Class::in_library(&last.name.text).is_some());
        for argument in class.into_iter().flat_map(|class| class.args.iter().flatten()) {
            let TemplateArg::Value(expr) = argument else { continue };
            let ExprKind::Path(path) = &expr.kind else { continue };
            if let Some(weaker) = self.weaker_scope(expr, path) {
                self.scope_argument(expr, weaker);
            }
        }
    }

    /// What stands for the name of a scope if it is the next narrower one.
    fn weaker_scope(&self, expr: &'a Expr, path: &'a Path) -> Option<String> {
        let name = path.segments.last()?.name.text.as_str();
        let weaker = weaker_scope(self.language, name)?;
        let is_own = self.scopes.find(name).is_some() || self.facts.global(name).is_some();
        let text = self.text(expr).filter(|_| !is_own)?;
        Some(format!("{}{weaker}", text.strip_suffix(name)?))
    }

    /// An array or a pointer that is read through an index, with those of the other memory that have elements of the same type.
    pub(super) fn memory_read(&mut self, base: &'a Expr) {
        self.memory(base, "read_from");
    }

    /// The same where something else is done to what is indexed.
    pub(super) fn memory_used(&mut self, base: &'a Expr) {
        self.memory(base, "memory_of");
    }

    fn memory(&mut self, base: &'a Expr, chosen_by: &str) {
        let ExprKind::Path(path) = &base.kind else { return };
        let [segment] = path.segments.as_slice() else { return };
        let held = self.scopes.find(&segment.name.text).and_then(|local| local.held.as_ref());
        let Some(held) = held else { return };
        let others: Vec<String> = self.scopes.in_other_memory(held).into_iter().map(str::to_owned).collect();
        self.swapped(base, chosen_by, &others);
    }

    /// `get_local_id(0)` and its kin.
    fn work_item(&mut self, call: &'a Expr, callee: &'a Expr, arguments: &'a [Expr]) {
        let (ExprKind::Path(path), [Expr { kind: ExprKind::Int { value, .. }, .. }]) = (&callee.kind, arguments) else {
            return;
        };
        let callees = Callees { facts: self.facts, language: self.language };
        let Some((name, Some(Builtin::WorkItem(_)))) = callees.builtin(path, 1) else { return };
        self.id(call, &other_ids(name, *value));
    }

    /// What the variable of a loop begins with.
    pub(super) fn start(&mut self, init: Option<&'a Stmt>) {
        let value = match init.map(|init| &init.kind) {
            Some(StmtKind::Expr(Expr { kind: ExprKind::Assign(None, _, value), .. })) => Some(&**value),
            Some(StmtKind::Item(item)) => match &item.kind {
                ItemKind::Variables(variables) => match variables.as_slice() {
                    [Declared { init: Some(Init::Value(value)), .. }] => Some(value),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        if let Some(value) = value {
            self.value(value, Operator::LoopStartShifted, &["plus_one"]);
        }
    }

    /// An operator between two operands.
    pub(super) fn operator(&mut self, expr: &'a Expr, op: BinaryOp, operands: [&'a Expr; 2]) {
        let operator = match (is_comparison(op), self.ahead) {
            (true, Ahead::Test(_)) => Operator::BoundChanged,
            (true, _) => Operator::ComparisonReplaced,
            (false, _) => Operator::ArithmeticReplaced,
        };
        self.binary(expr, op, operands, operator);
    }

    /// What is added to something, or taken away from it.
    pub(super) fn update(&mut self, op: Option<BinaryOp>, value: &'a Expr) {
        if matches!(op, Some(BinaryOp::Add | BinaryOp::Sub)) {
            self.value(value, Operator::UpdateNegated, &["negative"]);
        }
    }

    /// `threadIdx.x` and its kin.
    pub(super) fn member(&mut self, expr: &'a Expr, object: &Expr, axis: &str) {
        let ExprKind::Path(path) = &object.kind else { return };
        let [segment] = path.segments.as_slice() else { return };
        let name = segment.name.text.as_str();
        let is_own = self.scopes.find(name).is_some() || self.facts.global(name).is_some();
        let is_id = matches!(variable(self.language, name), Some(Variable::Ids(_)));
        if is_id && !is_own {
            let confused = confused_with(name, axis);
            self.id(expr, &confused);
        }
    }
}
