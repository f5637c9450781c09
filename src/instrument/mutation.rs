//! Which mutants a place has: what the walk meets, and what it is confused with.

use super::expressions::Use;
use super::items::Walker;
use super::mutants::{Ahead, is_comparison};
use crate::builtins::functions::narrower;
use crate::builtins::variables::{Variable, confused_with, variable};
use crate::builtins::{Builtin, groups};
use crate::calculus::SyncScope;
use crate::mutation::Operator;
use crate::syntax::parts::expr_has;
use crate::syntax::{
    BinaryOp, Expr, ExprKind, Init, ItemKind, Qualifier, Stmt, StmtKind, UnaryOp, Variable as Declared,
};

/// What the condition of an `if` may be.
pub(super) const GUARD: [Operator; 3] = [Operator::GuardNegated, Operator::GuardOpened, Operator::GuardClosed];
/// What a condition may be that chooses a value.
pub(super) const NEGATED: [Operator; 1] = [Operator::GuardNegated];

impl<'a> Walker<'a> {
    /// A statement that is one expression.
    pub(super) fn mutate_statement(&mut self, value: &'a Expr) {
        match &value.kind {
            ExprKind::Call(callee, arguments) => self.mutate_call(value, callee, arguments),
            ExprKind::Assign(..) => self.mutate(|mutators| mutators.store(value)),
            ExprKind::Postfix(..) | ExprKind::Unary(UnaryOp::PreIncrement | UnaryOp::PreDecrement, _) => {
                self.mutate(|mutators| mutators.store(value));
            }
            _ => {}
        }
    }

    fn mutate_call(&mut self, value: &'a Expr, callee: &'a Expr, arguments: &'a [Expr]) {
        let ExprKind::Path(path) = &callee.kind else {
            if self.waits_for_others(callee, arguments) {
                self.mutate(|mutators| mutators.barrier(value, None));
            }
            return;
        };
        let meaning = self.builtin(path, arguments.len());
        let Some((name, meaning)) = meaning else { return };
        let language = self.source.unit.dialect.language();
        match meaning {
            Some(Builtin::Barrier { scope, .. }) => {
                let narrower = narrower(language, name).filter(|_| scope == SyncScope::Block);
                self.mutate(|mutators| mutators.barrier(value, narrower));
            }
            Some(Builtin::Fence(_)) => self.mutate(|mutators| mutators.fence(value, narrower(language, name))),
            Some(Builtin::Atomic { op, .. }) => {
                self.mutate(|mutators| mutators.atomic(value, callee, op, arguments));
            }
            None if groups::Function::named(name).is_some() && self.waits_for_others(callee, arguments) => {
                self.mutate(|mutators| mutators.barrier(value, None));
            }
            _ => {}
        }
    }

    /// A condition. One that declares a variable is left alone.
    pub(super) fn mutate_guard(&mut self, cond: &'a Expr, declared: Option<&'a Stmt>, wanted: &[Operator]) {
        if declared.is_none() {
            self.mutate(|mutators| mutators.guard(cond, wanted));
        }
    }

    /// The condition of a loop.
    pub(super) fn test(&mut self, cond: &'a Expr) {
        self.within.ahead = Ahead::Test(cond);
        self.mutate(|mutators| mutators.guard(cond, &[Operator::LoopSkipped]));
        self.expr(cond, Use::Read);
        self.within.ahead = Ahead::Nowhere;
    }

    /// What the variable of a loop begins with.
    pub(super) fn mutate_start(&mut self, init: Option<&'a Stmt>) {
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
            self.mutate(|mutators| mutators.value(value, Operator::LoopStartShifted, &["plus_one"]));
        }
    }

    /// An operator between two operands.
    pub(super) fn mutate_operator(&mut self, expr: &'a Expr, op: BinaryOp, operands: [&'a Expr; 2]) {
        let operator = match (is_comparison(op), self.within.ahead) {
            (true, Ahead::Test(_)) => Operator::BoundChanged,
            (true, _) => Operator::ComparisonReplaced,
            (false, _) => Operator::ArithmeticReplaced,
        };
        self.mutate(|mutators| mutators.binary(expr, op, operands, operator));
    }

    /// What is added to something, or taken away from it.
    pub(super) fn mutate_update(&mut self, op: Option<BinaryOp>, value: &'a Expr) {
        if matches!(op, Some(BinaryOp::Add | BinaryOp::Sub)) {
            self.mutate(|mutators| mutators.value(value, Operator::UpdateNegated, &["negative"]));
        }
    }

    /// `threadIdx.x` and its kin.
    pub(super) fn mutate_id(&mut self, expr: &'a Expr, object: &Expr, axis: &str) {
        let ExprKind::Path(path) = &object.kind else { return };
        let [segment] = path.segments.as_slice() else { return };
        let name = segment.name.text.as_str();
        let is_own = self.scopes.find(name).is_some() || self.facts.global(name).is_some();
        let is_id = matches!(variable(self.source.unit.dialect.language(), name), Some(Variable::Ids(_)));
        if is_id && !is_own {
            let confused = confused_with(name, axis);
            self.mutate(|mutators| mutators.id(expr, &confused));
        }
    }

    /// Whether the value of a variable is known to the compiler, which may need it for the extent of an array.
    pub(super) fn is_constant(&self, declared: &Declared) -> bool {
        let is_const = |it: &Qualifier| matches!(it, Qualifier::Const | Qualifier::Constexpr);
        let Some(Init::Value(value)) = &declared.init else { return false };
        let language = self.source.unit.dialect.language();
        let varies = |part: &Expr| match &part.kind {
            ExprKind::Path(path) => path.segments.last().is_some_and(|last| {
                let name = last.name.text.as_str();
                match self.scopes.find(name) {
                    Some(local) => !local.is_constant,
                    None => matches!(variable(language, name), Some(Variable::Ids(_))),
                }
            }),
            ExprKind::Call(..) | ExprKind::Index(..) | ExprKind::Unary(UnaryOp::Deref, _) => true,
            _ => false,
        };
        declared.qualifiers.iter().any(is_const) && !expr_has(value, &varies)
    }
}
