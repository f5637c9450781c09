//! Constant evaluation of resolved expressions, in machine arithmetic.

use super::context::{DEPTH_LIMIT, Resolver};
use super::program::{BinaryOp, Expr, ExprKind, Stmt, StmtKind, Storage, Type, TypeId, UnaryOp, VariableId};
use crate::builtins::{Builtin, PureFunction};
use crate::calculus::Platform;
use crate::syntax;
use rustc_hash::FxHashMap;

/// Values of the parameters and locals of the function that is being evaluated.
type Environment = FxHashMap<VariableId, i128>;

/// Statements and calls beyond which an evaluation is given up.
const STEP_LIMIT: u32 = 10_000;

impl<'u> Resolver<'u> {
    /// The value of an expression as written, if it is an integer constant.
    pub(super) fn constant_of(&mut self, value: &'u syntax::Expr) -> Option<i128> {
        let value = self.unevaluated(value);
        self.constant(&value)
    }

    /// The value of an expression, if it is an integer constant.
    pub(super) fn constant(&mut self, value: &Expr) -> Option<i128> {
        let mut steps = 0;
        self.evaluate(value, &Environment::default(), &mut steps)
    }

    /// The lanes of a vector, as far as they are constants.
    pub(super) fn constant_lanes(&mut self, value: &Expr) -> Option<Vec<Option<i128>>> {
        match &value.kind {
            ExprKind::Construct(parts) => {
                let Type::Vector { lanes, .. } = self.types[value.ty] else {
                    return None;
                };
                (parts.len() == usize::from(lanes)).then(|| parts.iter().map(|part| self.constant(part)).collect())
            }
            ExprKind::Load(object) => match object.kind {
                ExprKind::Variable(variable) => self.variables.lanes.get(&variable).cloned(),
                _ => None,
            },
            ExprKind::Convert(inner) => self.constant_lanes(inner),
            _ => None,
        }
    }

    /// The kernel parameter that an expression names through conversions, if it stands for a template argument.
    pub(super) fn symbol(&self, value: &Expr) -> Option<VariableId> {
        match &value.kind {
            ExprKind::Load(inner) | ExprKind::Convert(inner) => self.symbol(inner),
            ExprKind::Variable(variable) if self.variables[*variable].storage == Storage::Param => Some(*variable),
            _ => None,
        }
    }

    fn evaluate(&mut self, value: &Expr, environment: &Environment, steps: &mut u32) -> Option<i128> {
        *steps += 1;
        if *steps > STEP_LIMIT {
            return None;
        }
        let ty = value.ty;
        match &value.kind {
            ExprKind::Int(constant) => Some(*constant),
            ExprKind::Null => Some(0),
            ExprKind::Load(object) => match &object.kind {
                ExprKind::Variable(variable) => {
                    environment.get(variable).copied().or(self.variables[*variable].constant)
                }
                ExprKind::Lanes(inner, lanes) => match (&inner.kind, lanes.as_slice()) {
                    (ExprKind::Variable(variable), [lane]) => {
                        *self.variables.lanes.get(variable)?.get(usize::from(*lane))?
                    }
                    _ => None,
                },
                _ => None,
            },
            ExprKind::Convert(inner) if matches!(self.types[inner.ty], Type::Float { .. }) => {
                let real = self.real(inner, environment, steps)?;
                // Whatever is not zero is true, also what is cut to zero.
                if matches!(self.types[ty], Type::Bool) {
                    return Some(i128::from(real != 0.0));
                }
                let truncated = real.trunc();
                // A value that the type cannot hold has no defined conversion.
                if !self.types.is_integral(ty) || truncated.abs() >= 9e18 {
                    return None;
                }
                self.integer(truncated as i128, ty).filter(|&whole| whole == truncated as i128)
            }
            ExprKind::Convert(inner) => {
                if !self.types.is_integral(inner.ty) || !self.types.is_integral(ty) {
                    return None;
                }
                let inner = self.evaluate(inner, environment, steps)?;
                Some(self.types.wrap(inner, ty))
            }
            ExprKind::Unary(op, inner) => {
                let inner = self.evaluate(inner, environment, steps)?;
                let result = match op {
                    UnaryOp::Neg => inner.checked_neg()?,
                    UnaryOp::BitNot => !inner,
                    UnaryOp::Not => i128::from(inner == 0),
                };
                self.integer(result, ty)
            }
            ExprKind::Binary(op, left, right) => {
                if !self.types.is_integral(left.ty) {
                    return None;
                }
                let left = self.evaluate(left, environment, steps)?;
                let right = self.evaluate(right, environment, steps)?;
                self.operate(*op, left, right, ty)
            }
            ExprKind::And(left, right) => match self.evaluate(left, environment, steps)? {
                0 => Some(0),
                _ => self.evaluate(right, environment, steps),
            },
            ExprKind::Or(left, right) => match self.evaluate(left, environment, steps)? {
                0 => self.evaluate(right, environment, steps),
                _ => Some(1),
            },
            ExprKind::Conditional(cond, then, otherwise) => match self.evaluate(cond, environment, steps)? {
                0 => self.evaluate(otherwise, environment, steps),
                _ => self.evaluate(then, environment, steps),
            },
            ExprKind::Builtin(builtin, _, args) => {
                let mut values = Vec::new();
                for argument in args {
                    values.push(self.evaluate(argument, environment, steps)?);
                }
                match (builtin, values.as_slice()) {
                    (Builtin::Min, [a, b]) => Some(*a.min(b)),
                    (Builtin::Max, [a, b]) => Some(*a.max(b)),
                    (Builtin::Abs, [a]) => a.checked_abs(),
                    _ => None,
                }
            }
            ExprKind::Call(function, args) => {
                let mut inner = Environment::default();
                let params = self.functions[*function].params.clone();
                for (param, argument) in params.into_iter().zip(args) {
                    let argument = self.evaluate(argument, environment, steps)?;
                    inner.insert(param, argument);
                }
                if self.depth > DEPTH_LIMIT {
                    return None;
                }
                self.ensure_body(*function);
                let body = self.functions[*function].body.clone()?;
                self.depth += 4;
                let result = self.execute(&body, &mut inner, steps);
                self.depth -= 4;
                result?
            }
            _ => None,
        }
    }

    /// The value of a floating-point expression, rounded as its type rounds.
    fn real(&mut self, value: &Expr, environment: &Environment, steps: &mut u32) -> Option<f64> {
        *steps += 1;
        if *steps > STEP_LIMIT {
            return None;
        }
        let exact = match &value.kind {
            ExprKind::Float(text) => text.trim_end_matches(['f', 'F', 'l', 'L']).parse().ok()?,
            ExprKind::Convert(inner) if self.types.is_integral(inner.ty) => {
                self.evaluate(inner, environment, steps)? as f64
            }
            ExprKind::Convert(inner) => self.real(inner, environment, steps)?,
            ExprKind::Unary(UnaryOp::Neg, inner) => -self.real(inner, environment, steps)?,
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.real(left, environment, steps)?, self.real(right, environment, steps)?);
                match op {
                    BinaryOp::Add => left + right,
                    BinaryOp::Sub => left - right,
                    BinaryOp::Mul => left * right,
                    BinaryOp::Div => left / right,
                    _ => return None,
                }
            }
            ExprKind::Builtin(Builtin::PureFunction(function), _, args) => {
                let [only] = args.as_slice() else { return None };
                // An integer argument counts as `double`.
                let only = if self.types.is_integral(only.ty) {
                    self.evaluate(only, environment, steps)? as f64
                } else {
                    self.real(only, environment, steps)?
                };
                match function {
                    PureFunction::Ceil => only.ceil(),
                    PureFunction::Floor => only.floor(),
                    PureFunction::Fetch
                    | PureFunction::Query
                    | PureFunction::Bits
                    | PureFunction::Count(_)
                    | PureFunction::Compare(_) => return None,
                }
            }
            _ => return None,
        };
        let rounded = match self.types[value.ty] {
            Type::Float { width: 32 } => f64::from(exact as f32),
            Type::Float { width: 64 } => exact,
            _ => return None,
        };
        rounded.is_finite().then_some(rounded)
    }

    /// The value that a body of declarations, branches and returns gives: `None` if it is not understood,
    /// `Some(None)` if it does not return.
    fn execute(&mut self, body: &[Stmt], environment: &mut Environment, steps: &mut u32) -> Option<Option<i128>> {
        for stmt in body {
            *steps += 1;
            if *steps > STEP_LIMIT {
                return None;
            }
            match &stmt.kind {
                StmtKind::Return(Some(value)) => return Some(Some(self.evaluate(value, environment, steps)?)),
                StmtKind::Declare(variable, Some(value)) => {
                    let value = self.evaluate(value, environment, steps)?;
                    environment.insert(*variable, value);
                }
                StmtKind::Block(body) => {
                    if let Some(result) = self.execute(body, environment, steps)? {
                        return Some(Some(result));
                    }
                }
                StmtKind::If(cond, then, otherwise) => {
                    let taken = match self.evaluate(cond, environment, steps)? {
                        0 => otherwise.as_deref(),
                        _ => Some(&**then),
                    };
                    if let Some(taken) = taken
                        && let Some(result) = self.execute(std::slice::from_ref(taken), environment, steps)?
                    {
                        return Some(Some(result));
                    }
                }
                _ => return None,
            }
        }
        Some(None)
    }

    /// The result of an operator on constants of one type.
    fn operate(&self, op: BinaryOp, left: i128, right: i128, ty: TypeId) -> Option<i128> {
        let right = if matches!(op, BinaryOp::Shl | BinaryOp::Shr) { self.shift_count(right, ty)? } else { right };
        let result = match op {
            BinaryOp::Add => left.checked_add(right)?,
            BinaryOp::Sub => left.checked_sub(right)?,
            BinaryOp::Mul => left.checked_mul(right)?,
            BinaryOp::Div => left.checked_div(right)?,
            BinaryOp::Rem => left.checked_rem(right)?,
            BinaryOp::Shl => left.checked_mul(1_i128 << right)?,
            BinaryOp::Shr => left >> right,
            BinaryOp::BitAnd => left & right,
            BinaryOp::BitOr => left | right,
            BinaryOp::BitXor => left ^ right,
            BinaryOp::Min => left.min(right),
            BinaryOp::Max => left.max(right),
            BinaryOp::Lt => i128::from(left < right),
            BinaryOp::Le => i128::from(left <= right),
            BinaryOp::Gt => i128::from(left > right),
            BinaryOp::Ge => i128::from(left >= right),
            BinaryOp::Eq => i128::from(left == right),
            BinaryOp::Ne => i128::from(left != right),
            BinaryOp::And => i128::from(left != 0 && right != 0),
            BinaryOp::Or => i128::from(left != 0 || right != 0),
        };
        self.integer(result, ty)
    }

    /// By how many bits a number of the type is shifted, if that is defined: in OpenCL the count is taken modulo its bits.
    fn shift_count(&self, count: i128, shifted: TypeId) -> Option<i128> {
        let Type::Int { width, .. } = self.types[shifted] else { return None };
        let width = i128::from(width);
        if Platform::from(self.dialect).rules().shifts_modulo_width {
            return Some(count.rem_euclid(width));
        }
        (0..width).contains(&count).then_some(count)
    }

    /// The result as a value of its type: unsigned types wrap, signed overflow is no constant.
    fn integer(&self, value: i128, ty: TypeId) -> Option<i128> {
        let wrapped = self.types.wrap(value, ty);
        match self.types[ty] {
            Type::Int { signed: true, .. } if wrapped != value => None,
            Type::Int { .. } | Type::Bool => Some(wrapped),
            _ => None,
        }
    }
}
