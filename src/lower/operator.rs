//! Operators on values: numbers, opaque floats, vectors lane by lane, pointers.

use super::pass::Pass;
use super::value::{Base, Pointer, Value};
use crate::calculus::{BinaryOp, ExprId, Function, HavocReason, Relied, ScalarType, UnaryOp};
use crate::resolve::program::{Expr, TypeId};
use crate::source::Span;

impl Pass<'_> {
    /// `op a`, of type `ty`.
    pub(super) fn unary(&mut self, op: UnaryOp, a: Value, ty: TypeId, span: Span) -> Value {
        match a {
            Value::Aggregate(parts) => {
                let lane = self.layout.element(ty).unwrap_or(ty);
                Value::Aggregate(parts.into_iter().map(|part| self.lane_unary(op, part, lane, span)).collect())
            }
            Value::Scalar(a) => {
                let result = self.scalar_unary(op, a);
                let result = self.fit(result, ty);
                self.note_span(result, span);
                Value::Scalar(result)
            }
            Value::Pointer(pointer) if op == UnaryOp::Not => {
                let not_null = self.is_not_null(&pointer, span);
                Value::Scalar(self.exprs().not(not_null))
            }
            other => other,
        }
    }

    /// Lanes are not promoted: what does not fit into a narrow one wraps around.
    fn lane_unary(&mut self, op: UnaryOp, a: Value, lane: TypeId, span: Span) -> Value {
        let (Value::Scalar(value), UnaryOp::Neg) = (&a, op) else { return self.unary(op, a, lane, span) };
        let ty = self.kernel.exprs.ty(*value);
        if !is_narrow(ty) {
            return self.unary(op, a, lane, span);
        }
        let wide = self.exprs().convert(ScalarType::I32, *value);
        let result = self.exprs().unary(op, wide);
        let result = self.exprs().convert(ty, result);
        self.note_span(result, span);
        Value::Scalar(result)
    }

    fn scalar_unary(&mut self, op: UnaryOp, a: ExprId) -> ExprId {
        let from = self.kernel.exprs.ty(a);
        match (op, from) {
            (UnaryOp::Not, ScalarType::Bool) => self.exprs().not(a),
            (UnaryOp::Not, _) => {
                let truth = self.coerce(a, ScalarType::Bool);
                self.exprs().not(truth)
            }
            (UnaryOp::Neg | UnaryOp::BitNot, ScalarType::Opaque { .. }) => {
                self.exprs().call(Function::exact("f-"), vec![a], from)
            }
            (UnaryOp::Neg | UnaryOp::BitNot, ScalarType::Bool) => {
                let a = self.exprs().convert(ScalarType::I32, a);
                self.exprs().unary(op, a)
            }
            _ => self.exprs().unary(op, a),
        }
    }

    /// `a op b`, of type `ty`.
    pub(super) fn binary(&mut self, op: BinaryOp, a: Value, b: Value, ty: TypeId, span: Span) -> Value {
        match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) => {
                let result = self.scalar_binary(op, a, b);
                let result = self.fit(result, ty);
                self.note_span(result, span);
                Value::Scalar(result)
            }
            (Value::Aggregate(a), Value::Aggregate(b)) => {
                let lane = self.layout.element(ty).unwrap_or(ty);
                let parts = a.into_iter().zip(b);
                Value::Aggregate(parts.map(|(a, b)| self.lane_binary(op, a, b, lane, span)).collect())
            }
            (Value::Aggregate(a), Value::Scalar(b)) => {
                let lane = self.layout.element(ty).unwrap_or(ty);
                let lanes = a.into_iter();
                Value::Aggregate(lanes.map(|a| self.lane_binary(op, a, Value::Scalar(b), lane, span)).collect())
            }
            (Value::Pointer(a), Value::Pointer(b)) => Value::Scalar(self.pointer_binary(op, &a, &b, span)),
            (a, _) => {
                self.unsupported(span, "operator on values of different kinds".to_owned());
                match a {
                    Value::Aggregate(_) => a,
                    _ => self.unknown_value(ty, &HavocReason::Other("operator".to_owned()), span),
                }
            }
        }
    }

    /// In OpenCL a comparison of vectors gives -1 for true in each lane.
    fn lane_binary(&mut self, op: BinaryOp, a: Value, b: Value, lane: TypeId, span: Span) -> Value {
        let ty = self.layout.scalar(lane);
        match (a, b, ty) {
            (Value::Scalar(a), Value::Scalar(b), Some(ty @ ScalarType::Int { .. })) if op.is_boolean() => {
                let truth = self.scalar_binary(op, a, b);
                let (yes, no) = (self.exprs().int(-1, ty), self.exprs().int(0, ty));
                Value::Scalar(self.exprs().select(truth, yes, no))
            }
            (Value::Scalar(a), Value::Scalar(b), Some(ty)) if is_narrow(ty) => {
                let result = self.narrow_binary(op, a, b, ty);
                self.note_span(result, span);
                Value::Scalar(result)
            }
            (a, b, _) => self.binary(op, a, b, lane, span),
        }
    }

    /// `a op b` of lanes of fewer bits than an `int`, which are not promoted: the result wraps around in their own type.
    fn narrow_binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId, ty: ScalarType) -> ExprId {
        let b = if matches!(op, BinaryOp::Shl | BinaryOp::Shr) { self.shift_count(b, ty) } else { b };
        // The product of two numbers of 16 bits may not fit into an `int`.
        let wide = if op == BinaryOp::Mul { ScalarType::I64 } else { ScalarType::I32 };
        let (a, b) = (self.exprs().convert(wide, a), self.exprs().convert(wide, b));
        let result = self.exprs().binary(op, a, b);
        self.exprs().convert(ty, result)
    }

    /// The count of a shift of a number of type `shifted`. OpenCL takes as many of its low bits as the number has bits to
    /// count (OpenCL C 3.0, 6.5.9).
    fn shift_count(&mut self, count: ExprId, shifted: ScalarType) -> ExprId {
        if !self.program.platform.rules().shifts_modulo_width {
            return count;
        }
        let most = i128::from(shifted.bytes()) * 8 - 1;
        if self.range(count).is_some_and(|(least, greatest)| 0 <= least && greatest <= most) {
            return count;
        }
        let mask = self.kernel.exprs.ty(count);
        let mask = self.exprs().int(most, mask);
        self.exprs().binary(BinaryOp::BitAnd, count, mask)
    }

    /// `value` in the scalar type that represents `ty`.
    fn fit(&mut self, value: ExprId, ty: TypeId) -> ExprId {
        match self.layout.scalar(ty) {
            Some(scalar) => self.coerce(value, scalar),
            None => value,
        }
    }

    /// `a op b` of scalars.
    pub(super) fn scalar_binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        let (left, right) = (self.kernel.exprs.ty(a), self.kernel.exprs.ty(b));
        if matches!(left, ScalarType::Opaque { .. }) || matches!(right, ScalarType::Opaque { .. }) {
            let wider = if left.bytes() >= right.bytes() { left } else { right };
            let ty = if op.is_boolean() { ScalarType::Bool } else { wider };
            return self.exprs().call(float_name(op), vec![a, b], ty);
        }
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            let (a, b) = (self.coerce(a, ScalarType::Bool), self.coerce(b, ScalarType::Bool));
            return self.exprs().binary(op, a, b);
        }
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            let a = if left == ScalarType::Bool { self.exprs().convert(ScalarType::I32, a) } else { a };
            let b = if right == ScalarType::Bool { self.exprs().convert(ScalarType::I32, b) } else { b };
            let shifted = self.kernel.exprs.ty(a);
            let b = self.shift_count(b, shifted);
            return self.exprs().binary(op, a, b);
        }
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) {
            self.rely_on_divisor(b);
        }
        let ty = common_type(left, right, op);
        let (a, b) = (self.exprs().convert(ty, a), self.exprs().convert(ty, b));
        self.exprs().binary(op, a, b)
    }

    /// A divisor that may be 0 is taken not to be, where a division by it has a value that nothing says (OpenCL C 3.0, 6.5.1).
    fn rely_on_divisor(&mut self, divisor: ExprId) {
        let is_zero_excluded = self.range(divisor).is_some_and(|(least, greatest)| least > 0 || greatest < 0);
        if self.program.platform.rules().divides_by_zero && !is_zero_excluded {
            self.rely(None, Relied::Divisors);
        }
    }

    fn pointer_binary(&mut self, op: BinaryOp, a: &Pointer, b: &Pointer, span: Span) -> ExprId {
        self.compare_pointers(op, a, b, span).unwrap_or_else(|| {
            let reason = HavocReason::Other("comparison of pointers to different arrays".to_owned());
            self.havoc(ScalarType::Bool, reason, span)
        })
    }

    /// `pointer` moved by `count` elements of type `element`.
    pub(super) fn move_pointer(&mut self, pointer: Pointer, count: ExprId, element: TypeId, span: Span) -> Pointer {
        let count = self.exprs().convert(ScalarType::I64, count);
        self.note_span(count, span);
        let size = self.layout.size(element);
        let size = self.exprs().int(i128::from(size), ScalarType::I64);
        let bytes = self.exprs().binary(BinaryOp::Mul, count, size);
        let offset = self.exprs().binary(BinaryOp::Add, pointer.offset, bytes);
        self.note_span(offset, span);
        self.note_units(&pointer, element);
        Pointer { base: pointer.base, offset }
    }

    /// Remembers in which unit a pointer's targets are addressed.
    fn note_units(&mut self, pointer: &Pointer, element: TypeId) {
        let targets = match &pointer.base {
            Base::Target(target) => vec![*target],
            Base::OneOf { targets, .. } => targets.clone(),
            Base::Unknown(_) => Vec::new(),
        };
        for target in targets {
            if let Some(array) = self.array_of(target) {
                self.note_unit(array, element);
            }
        }
    }

    /// `a - b` in elements.
    pub(super) fn pointer_difference(&mut self, a: &Expr, b: &Expr, span: Span) -> ExprId {
        let element = self.layout.pointee(a.ty).unwrap_or(a.ty);
        let (a, b) = (self.pointer(a), self.pointer(b));
        if a.base != b.base || matches!(a.base, Base::Unknown(_)) {
            let reason = HavocReason::Other("difference of pointers to different arrays".to_owned());
            return self.havoc(ScalarType::I64, reason, span);
        }
        let bytes = self.exprs().binary(BinaryOp::Sub, a.offset, b.offset);
        let size = self.layout.size(element).max(1);
        let size = self.exprs().int(i128::from(size), ScalarType::I64);
        self.exprs().binary(BinaryOp::Div, bytes, size)
    }
}

/// Whether arithmetic on numbers of the type would promote them.
fn is_narrow(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::Int { width, .. } if width < 32)
}

/// The type in which the resolver should have put both operands; if it has not, the usual conversions.
fn common_type(left: ScalarType, right: ScalarType, op: BinaryOp) -> ScalarType {
    match (left, right) {
        (ScalarType::Bool, ScalarType::Bool) if matches!(op, BinaryOp::Eq | BinaryOp::Ne) => ScalarType::Bool,
        (ScalarType::Int { width: a, signed: s }, ScalarType::Int { width: b, signed: t }) if left != right => {
            let width = a.max(b).max(32);
            let signed = (s || a < width) && (t || b < width);
            ScalarType::Int { width, signed }
        }
        (ScalarType::Bool, ScalarType::Bool) => ScalarType::I32,
        (ScalarType::Bool, other) => other,
        (other, _) => other,
    }
}

fn float_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "f+",
        BinaryOp::Sub => "f-",
        BinaryOp::Mul => "f*",
        BinaryOp::Div => "f/",
        BinaryOp::Rem => "f%",
        BinaryOp::Shl => "f<<",
        BinaryOp::Shr => "f>>",
        BinaryOp::BitAnd => "f&",
        BinaryOp::BitOr => "f|",
        BinaryOp::BitXor => "f^",
        BinaryOp::Min => "fmin",
        BinaryOp::Max => "fmax",
        BinaryOp::Lt => "f<",
        BinaryOp::Le => "f<=",
        BinaryOp::Gt => "f>",
        BinaryOp::Ge => "f>=",
        BinaryOp::Eq => "f==",
        BinaryOp::Ne => "f!=",
        BinaryOp::And => "f&&",
        BinaryOp::Or => "f||",
    }
}
