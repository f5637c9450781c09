//! What annotations say: assumptions, and the formulas in them and in claims.
//!
//! A formula may mention the other one of two threads (`__other_int(x)`, `__exclusive(c)`): then it is about every two
//! threads that get there in the same turns of the loops around it ([`Function::Other`]).
//!
//! The program does not evaluate what stands in an annotation, so it must not add accesses: one that needs more than the
//! values of variables is noted and left out. Formulas about two threads, or about accesses ([`super::logs`]), have no
//! value elsewhere.

use crate::builtins::{Direction, Formula, OffsetUnit};
use crate::calculus::{Basis, BinaryOp, Expr as Node, ExprId, Function, HavocReason, ScalarType, Stmt};
use crate::lower::pass::Pass;
use crate::lower::value::{Base, Pointer, Value};
use crate::lower::walk::scan;
use crate::resolve::program::{Expr, ExprKind};
use crate::settle::notes::Log;
use crate::source::Span;

impl Pass<'_> {
    /// The condition of an annotation that reads no memory; else why it is not understood.
    pub(in crate::lower) fn annotated(&mut self, condition: &Expr) -> Result<ExprId, String> {
        let unsupported = self.kernel.unsupported.len();
        let outer = std::mem::replace(&mut self.annotation.is_open, true);
        let (block, cond) = self.captured(|pass| pass.condition(condition));
        self.annotation.is_open = outer;
        let problem = self.annotation.problem.take();
        if block.is_empty() && problem.is_none() {
            return Ok(cond);
        }
        self.kernel.unsupported.truncate(unsupported);
        Err(problem.unwrap_or_else(|| "it is about more than the values of variables".to_owned()))
    }

    /// An assumption, conjunct by conjunct. What is not understood is dropped, which can only cost a proof.
    pub(in crate::lower) fn assume(&mut self, arg: &Expr) {
        match self.annotated(arg) {
            Ok(cond) => {
                let mut conjuncts = vec![cond];
                while let Some(cond) = conjuncts.pop() {
                    match self.kernel.exprs[cond] {
                        Node::Binary(BinaryOp::And, a, b) => conjuncts.extend([b, a]),
                        _ => self.emit(Stmt::Assume { cond, basis: Basis::Stated, span: Some(arg.span) }),
                    }
                }
            }
            Err(why) => match conjuncts(arg) {
                Some((a, b)) => {
                    self.assume(a);
                    self.assume(b);
                }
                None => self.note(arg.span, format!("this assumption is not relied on: {why}")),
            },
        }
    }

    /// A formula of annotations; one of unexpected arguments is unknown.
    pub(in crate::lower) fn formula(&mut self, formula: Formula, (name, args): (&str, &[Expr]), call: &Expr) -> Value {
        if !formula.is_of_programs() && !self.annotation.is_open {
            self.note(call.span, format!("`{name}` has no value outside of an annotation"));
            return self.unknown_value(call.ty, &HavocReason::Call(name.to_owned()), call.span);
        }
        let value = match (formula, args) {
            (Formula::Enabled, _) => Some(self.exprs().bool(true)),
            (Formula::SameGroup, _) => Some(self.exprs().call(Function::SameBlock, Vec::new(), ScalarType::Bool)),
            (Formula::Implies, [a, b]) => {
                let (a, b) = (self.condition(a), self.condition(b));
                let not = self.exprs().not(a);
                Some(self.exprs().or(not, b))
            }
            (Formula::IfThenElse, [c, a, b]) => {
                let c = self.condition(c);
                self.of_one_type(a, b).map(|(a, b)| self.exprs().select(c, a, b))
            }
            (Formula::IsPowerOfTwo, [x]) => self.is_power_of_two(x),
            (Formula::ModuloPowerOfTwo, [x, y]) => self.of_one_type(x, y).map(|(x, y)| self.below_power(x, y)),
            (Formula::Other, [x]) => self.plain(x, name).map(|x| self.exprs().other(x)),
            (Formula::Distinct, [x]) => self.plain(x, name).map(|x| self.compared(BinaryOp::Ne, x)),
            (Formula::Uniform, [x]) => self.plain(x, name).map(|x| self.compared(BinaryOp::Eq, x)),
            (Formula::Both, [x]) => {
                let own = self.condition(x);
                Some(self.both(own))
            }
            (Formula::Exclusive, [x]) => {
                let own = self.condition(x);
                let both = self.both(own);
                Some(self.exprs().not(both))
            }
            (Formula::Accessed(direction), [array]) => self.log_of(direction, array).map(|log| self.var(log.made)),
            (Formula::NotAccessed(direction), [array]) => self.not_accessed(direction, array),
            (Formula::AccessImplies(direction), [array, then]) => {
                let not = self.not_accessed(direction, array);
                let then = self.condition(then);
                not.map(|not| self.exprs().or(not, then))
            }
            (Formula::AccessOffset(direction, unit), [array]) => self.log_of(direction, array).map(|log| {
                let offset = self.var(log.offset);
                match unit {
                    OffsetUnit::Bytes => offset,
                    OffsetUnit::Elements => {
                        let size = i128::from(self.kernel.arrays[log.array].element_bytes);
                        let size = self.exprs().int(size, ScalarType::U64);
                        self.exprs().binary(BinaryOp::Div, offset, size)
                    }
                }
            }),
            _ => None,
        };
        value.map_or_else(|| self.missing(call), Value::Scalar)
    }

    /// A number or truth value; what a pointer leads to has no name in another thread.
    fn plain(&mut self, arg: &Expr, name: &str) -> Option<ExprId> {
        match self.value(arg) {
            Value::Scalar(value) => Some(value),
            _ => {
                self.annotation.problem = Some(format!("`{name}` of something that is no number"));
                None
            }
        }
    }

    fn not_accessed(&mut self, direction: Direction, array: &Expr) -> Option<ExprId> {
        let log = self.log_of(direction, array)?;
        let made = self.var(log.made);
        Some(self.exprs().not(made))
    }

    /// The log of the accesses to an array.
    fn log_of(&mut self, direction: Direction, array: &Expr) -> Option<Log> {
        let known = match self.value(array) {
            Value::Pointer(Pointer { base: Base::Target(target), .. }) => {
                self.ensure_home(target);
                self.array_of(target)
            }
            _ => None,
        };
        if known.is_none() {
            self.annotation.problem = Some("it is not about the accesses to one array".to_owned());
        }
        known.map(|array| self.log(array, direction))
    }

    /// What a function may do of which the source only says that: anything to that array. Of other functions it is
    /// known what they do.
    pub(in crate::lower) fn specified(&mut self, name: &str, args: &[Expr], span: Span) -> Value {
        let function = &self.program.functions[self.frame().function];
        if !function.body.as_deref().is_some_and(scan::is_specification) {
            self.note(span, format!("`{name}` is not checked: what the function does stands in its body"));
            return Value::Void;
        }
        let text = format!("'{}' is not here, only a specification of it", function.name);
        let (mut arrays, mut anywhere) = (Vec::new(), false);
        for arg in args {
            let value = self.value(arg);
            anywhere |= self.reach(&value, &mut arrays);
        }
        if anywhere {
            self.unsupported(span, text);
        } else {
            self.unsupported_on(span, text, arrays);
        }
        Value::Void
    }

    fn of_one_type(&mut self, a: &Expr, b: &Expr) -> Option<(ExprId, ExprId)> {
        match (self.value(a), self.value(b)) {
            (Value::Scalar(a), Value::Scalar(b)) => (self.exprs().ty(a) == self.exprs().ty(b)).then_some((a, b)),
            _ => None,
        }
    }

    /// `x & (x - 1) == 0`
    fn is_power_of_two(&mut self, x: &Expr) -> Option<ExprId> {
        let Value::Scalar(x) = self.value(x) else { return None };
        let ty = self.exprs().ty(x);
        if !matches!(ty, ScalarType::Int { .. }) {
            return None;
        }
        let common = self.below_power(x, x);
        let zero = self.exprs().int(0, ty);
        Some(self.exprs().binary(BinaryOp::Eq, common, zero))
    }

    /// `x & (power - 1)`
    fn below_power(&mut self, x: ExprId, power: ExprId) -> ExprId {
        let ty = self.exprs().ty(power);
        let one = self.exprs().int(1, ty);
        let less = self.exprs().binary(BinaryOp::Sub, power, one);
        self.exprs().binary(BinaryOp::BitAnd, x, less)
    }

    /// The value compared with that of the other thread.
    fn compared(&mut self, op: BinaryOp, value: ExprId) -> ExprId {
        let other = self.exprs().other(value);
        self.exprs().binary(op, value, other)
    }

    /// The condition holds in both threads.
    fn both(&mut self, own: ExprId) -> ExprId {
        let other = self.exprs().other(own);
        self.exprs().and(own, other)
    }
}

/// The sides of `a && b`, through the conversions of annotations' parameters.
fn conjuncts(condition: &Expr) -> Option<(&Expr, &Expr)> {
    match &condition.kind {
        ExprKind::And(a, b) => Some((a, b)),
        ExprKind::Convert(inner) => conjuncts(inner),
        _ => None,
    }
}
