//! OpenCL's functions on integers, and those that choose by the sign of a lane, in the calculus, lane by lane.
//!
//! Guarantees: what is computed is what the function gives for all arguments. Lanes of up to 32 bits are computed in 64 bits,
//! where nothing overflows.
//!
//! Deliberately absent: lanes of 64 bits, which are functions of their arguments of which nothing is known.

use super::pass::Pass;
use super::value::Value;
use crate::builtins::LaneFunction;
use crate::calculus::{BinaryOp, ExprId, Function, ScalarType, UnaryOp};
use crate::resolve::program::{Expr, TypeId};

impl Pass<'_> {
    /// A call of such a function.
    pub(super) fn lane_function(&mut self, function: LaneFunction, name: &str, args: &[Expr], call: &Expr) -> Value {
        match (function, args) {
            (LaneFunction::Select, [otherwise, then, cond]) => self.chosen_lanes(otherwise, then, cond, call),
            (LaneFunction::Any, [lanes]) => self.signs(BinaryOp::Or, lanes, call),
            (LaneFunction::All, [lanes]) => self.signs(BinaryOp::And, lanes, call),
            (LaneFunction::Select | LaneFunction::Any | LaneFunction::All, _) => self.missing(call),
            (_, [a, b]) if self.are_computed(&[a, b]) => {
                let (a_value, b_value) = (self.value(a), self.value(b));
                let (a, b) = (self.flatten(a_value, a.ty), self.flatten(b_value, b.ty));
                let ty = self.layout.element(call.ty).unwrap_or(call.ty);
                let lanes = a.into_iter().zip(b).map(|(a, b)| match (a, b) {
                    (Value::Scalar(a), Value::Scalar(b)) => self.lane_of(function, a, b, ty),
                    (other, _) => other,
                });
                let lanes: Vec<Value> = lanes.collect();
                for lane in &lanes {
                    if let Value::Scalar(lane) = lane {
                        self.note_span(*lane, call.span);
                    }
                }
                self.regroup(lanes, call.ty)
            }
            _ => self.pure(&Function::from(name), args, call),
        }
    }

    /// Whether all are integers of at most 32 bits, or vectors of as many.
    fn are_computed(&self, args: &[&Expr]) -> bool {
        let shape = |arg: &Expr| {
            let lane = self.layout.scalar(self.layout.element(arg.ty).unwrap_or(arg.ty));
            let is_small = matches!(lane, Some(ScalarType::Int { width, .. }) if width <= 32);
            is_small.then(|| self.layout.leaves(arg.ty).map(|leaves| leaves.len()))
        };
        let shapes: Vec<_> = args.iter().map(|arg| shape(arg)).collect();
        shapes.windows(2).all(|pair| pair[0] == pair[1]) && shapes.iter().all(Option::is_some)
    }

    /// The function of two numbers of at most 32 bits, of type `ty`.
    fn lane_of(&mut self, function: LaneFunction, a: ExprId, b: ExprId, ty: TypeId) -> Value {
        let from = self.kernel.exprs.ty(a);
        let bits = i128::from(from.bytes()) * 8;
        let wide = match (function, from) {
            // The product of two unsigned numbers of 32 bits takes all of 64.
            (LaneFunction::MulHi, ScalarType::Int { signed: false, .. }) => ScalarType::U64,
            _ => ScalarType::I64,
        };
        // What is below has no sign of its own.
        let low = if function == LaneFunction::Upsample { unsigned(from) } else { self.kernel.exprs.ty(b) };
        let b = self.exprs().convert(low, b);
        let (a, b) = (self.exprs().convert(wide, a), self.exprs().convert(wide, b));
        let result = match function {
            LaneFunction::AbsDiff => {
                let (most, least) =
                    (self.exprs().binary(BinaryOp::Max, a, b), self.exprs().binary(BinaryOp::Min, a, b));
                self.exprs().binary(BinaryOp::Sub, most, least)
            }
            LaneFunction::AddSat => self.saturated(BinaryOp::Add, a, b, from),
            LaneFunction::SubSat => self.saturated(BinaryOp::Sub, a, b, from),
            LaneFunction::Hadd => self.half_of_sum(a, b, 0),
            LaneFunction::Rhadd => self.half_of_sum(a, b, 1),
            LaneFunction::MulHi => {
                let product = self.exprs().binary(BinaryOp::Mul, a, b);
                self.shifted(BinaryOp::Shr, product, bits)
            }
            LaneFunction::Upsample => {
                let high = self.shifted(BinaryOp::Shl, a, bits);
                self.exprs().binary(BinaryOp::BitOr, high, b)
            }
            LaneFunction::Rotate => return self.rotated(a, b, from),
            LaneFunction::Select | LaneFunction::Any | LaneFunction::All => return Value::Void,
        };
        self.fit_value(Value::Scalar(result), ty)
    }

    /// A sum or difference, kept within the numbers of the type `ty`.
    fn saturated(&mut self, op: BinaryOp, a: ExprId, b: ExprId, ty: ScalarType) -> ExprId {
        let (least, greatest) = ty.range().unwrap_or((0, 0));
        let (least, greatest) = (self.exprs().int(least, ScalarType::I64), self.exprs().int(greatest, ScalarType::I64));
        let exact = self.exprs().binary(op, a, b);
        let below = self.exprs().binary(BinaryOp::Min, exact, greatest);
        self.exprs().binary(BinaryOp::Max, below, least)
    }

    /// `(a + b + more) >> 1`
    fn half_of_sum(&mut self, a: ExprId, b: ExprId, more: i128) -> ExprId {
        let sum = self.exprs().binary(BinaryOp::Add, a, b);
        let more = self.exprs().int(more, ScalarType::I64);
        let sum = self.exprs().binary(BinaryOp::Add, sum, more);
        self.shifted(BinaryOp::Shr, sum, 1)
    }

    fn shifted(&mut self, op: BinaryOp, value: ExprId, bits: i128) -> ExprId {
        let bits = self.exprs().int(bits, ScalarType::I32);
        self.exprs().binary(op, value, bits)
    }

    /// The bits of a number of type `ty` moved to the left, those that leave it put back on the right.
    fn rotated(&mut self, value: ExprId, by: ExprId, ty: ScalarType) -> Value {
        let bits = self.exprs().int(i128::from(ty.bytes()) * 8, ScalarType::I64);
        let most = self.exprs().int(i128::from(ty.bytes()) * 8 - 1, ScalarType::I64);
        let by = self.exprs().binary(BinaryOp::BitAnd, by, most);
        let value = self.exprs().convert(unsigned(ty), value);
        let value = self.exprs().convert(ScalarType::I64, value);
        let up = self.exprs().binary(BinaryOp::Shl, value, by);
        let rest = self.exprs().binary(BinaryOp::Sub, bits, by);
        let down = self.exprs().binary(BinaryOp::Shr, value, rest);
        let both = self.exprs().binary(BinaryOp::BitOr, up, down);
        Value::Scalar(self.exprs().convert(ty, both))
    }

    /// `cond ? then : otherwise` of vectors, by the most significant bits of their lanes; of a number, by whether it is zero.
    fn chosen_lanes(&mut self, otherwise: &Expr, then: &Expr, cond: &Expr, call: &Expr) -> Value {
        let values = [otherwise, then, cond].map(|part| self.value(part));
        let parts = [otherwise, then, cond].map(|part| part.ty);
        let [otherwise, then, conds] = [0, 1, 2].map(|at| self.flatten(values[at].clone(), parts[at]));
        if otherwise.len() != then.len() || then.len() != conds.len() {
            return self.missing(call);
        }
        let is_vector = self.layout.scalar(cond.ty).is_none();
        let lanes = otherwise.into_iter().zip(then).zip(conds).map(|((otherwise, then), cond)| {
            let Value::Scalar(cond) = cond else { return otherwise };
            let cond = if is_vector { self.sign(cond) } else { self.coerce(cond, ScalarType::Bool) };
            self.select(cond, then, otherwise)
        });
        let lanes = lanes.collect();
        self.regroup(lanes, call.ty)
    }

    /// Whether the most significant bits of any lane, or of all, are set: 1 or 0.
    fn signs(&mut self, op: BinaryOp, lanes: &Expr, call: &Expr) -> Value {
        let value = self.value(lanes);
        let mut found = self.exprs().bool(op == BinaryOp::And);
        for lane in self.flatten(value, lanes.ty) {
            let Value::Scalar(lane) = lane else { return self.missing(call) };
            let sign = self.sign(lane);
            found = self.exprs().binary(op, found, sign);
        }
        self.fit_value(Value::Scalar(found), call.ty)
    }

    /// Whether the most significant bit is set.
    fn sign(&mut self, lane: ExprId) -> ExprId {
        let ty = match self.kernel.exprs.ty(lane) {
            ScalarType::Int { width, .. } => ScalarType::Int { width, signed: true },
            _ => ScalarType::I32,
        };
        let lane = self.coerce(lane, ty);
        let zero = self.exprs().int(0, ty);
        self.exprs().binary(BinaryOp::Lt, lane, zero)
    }

    /// How far a number, or each lane of a vector, is from zero, in type `ty`.
    pub(super) fn magnitude(&mut self, value: Value, ty: TypeId, call: &Expr) -> Value {
        match value {
            Value::Aggregate(lanes) => {
                let lane = self.layout.element(ty).unwrap_or(ty);
                Value::Aggregate(lanes.into_iter().map(|value| self.magnitude(value, lane, call)).collect())
            }
            Value::Scalar(value) => {
                let magnitude = self.magnitude_of(value, self.layout.scalar(ty));
                self.fit_value(Value::Scalar(magnitude), ty)
            }
            _ => self.missing(call),
        }
    }

    fn magnitude_of(&mut self, value: ExprId, result: Option<ScalarType>) -> ExprId {
        let ty = self.kernel.exprs.ty(value);
        match (ty, result) {
            (ScalarType::Opaque { .. }, _) => self.exprs().call("abs", vec![value], ty),
            // OpenCL's result has no sign, so that even the least number has one.
            (ScalarType::Int { signed: true, width }, Some(unsigned @ ScalarType::Int { signed: false, .. })) => {
                let negative = self.is_negative(value);
                if width < 64 {
                    let wide = self.exprs().convert(ScalarType::I64, value);
                    let negated = self.exprs().unary(UnaryOp::Neg, wide);
                    return self.exprs().select(negative, negated, wide);
                }
                let complement = self.exprs().unary(UnaryOp::BitNot, value);
                let complement = self.exprs().convert(unsigned, complement);
                let one = self.exprs().int(1, unsigned);
                let negated = self.exprs().binary(BinaryOp::Add, complement, one);
                let value = self.exprs().convert(unsigned, value);
                self.exprs().select(negative, negated, value)
            }
            (ScalarType::Int { signed: true, .. }, _) => {
                let negative = self.is_negative(value);
                let negated = self.exprs().unary(UnaryOp::Neg, value);
                self.exprs().select(negative, negated, value)
            }
            _ => value,
        }
    }

    fn is_negative(&mut self, value: ExprId) -> ExprId {
        let ty = self.kernel.exprs.ty(value);
        let zero = self.exprs().int(0, ty);
        self.exprs().binary(BinaryOp::Lt, value, zero)
    }
}

/// The type of as many bits that has no sign.
fn unsigned(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::Int { width, .. } => ScalarType::Int { width, signed: false },
        other => other,
    }
}
