//! Conversions between scalar types, and from and to pointers.

use super::pass::Pass;
use super::storage::facts::TargetId;
use super::value::{Base, Pointer, Value};
use crate::calculus::{Array, ArrayId, BinaryOp, Expr, ExprId, Function, HavocReason, Param, ScalarType, Space, Stmt};
use crate::resolve::program::{Type, TypeId};
use crate::source::Span;

impl Pass<'_> {
    /// `value` in the scalar type `to`, as C converts; a float's value is not known, but a function of it.
    pub(super) fn coerce(&mut self, value: ExprId, to: ScalarType) -> ExprId {
        let from = self.kernel.exprs.ty(value);
        match (from, to) {
            _ if from == to => value,
            (ScalarType::Opaque { .. }, ScalarType::Bool) => {
                self.exprs().call(Function::exact("f!=0"), vec![value], to)
            }
            (ScalarType::Opaque { .. }, ScalarType::Int { .. }) => self.exprs().call("int", vec![value], to),
            (_, ScalarType::Opaque { .. }) => self.exprs().call("float", vec![value], to),
            (ScalarType::Int { .. }, ScalarType::Bool) => self.truth(value),
            _ => self.exprs().convert(to, value),
        }
    }

    /// `value != 0`
    fn truth(&mut self, value: ExprId) -> ExprId {
        // `(int)b != 0` is `b`.
        if let Expr::Convert(_, inner) = self.kernel.exprs[value]
            && self.kernel.exprs.ty(inner) == ScalarType::Bool
        {
            return inner;
        }
        let ty = self.kernel.exprs.ty(value);
        let zero = self.exprs().int(0, ty);
        self.exprs().binary(BinaryOp::Ne, value, zero)
    }

    /// The bits of `value` seen as `to`, a type of the same size.
    pub(super) fn reinterpret(&mut self, value: ExprId, to: ScalarType) -> ExprId {
        let from = self.kernel.exprs.ty(value);
        match (from, to) {
            _ if from == to => value,
            (ScalarType::Int { .. }, ScalarType::Int { .. }) => self.exprs().convert(to, value),
            _ => self.exprs().call(Function::exact("bits"), vec![value], to),
        }
    }

    /// `value`, of type `from`, converted to type `to`.
    pub(super) fn convert(&mut self, value: Value, from: TypeId, to: TypeId, span: Span) -> Value {
        if from == to {
            return value;
        }
        let converted = self.convert_kinds(value, from, to, span);
        if let Value::Scalar(expr) = converted {
            self.note_span(expr, span);
        }
        converted
    }

    fn convert_kinds(&mut self, value: Value, from: TypeId, to: TypeId, span: Span) -> Value {
        let scalar = self.layout.scalar(to);
        match (value, &self.program.types[to]) {
            (_, Type::Void) => Value::Void,
            (Value::Scalar(expr), Type::Pointer { .. }) => Value::Pointer(self.pointer_from(expr, span)),
            (Value::Pointer(pointer), Type::Bool) => Value::Scalar(self.is_not_null(&pointer, span)),
            (Value::Pointer(pointer), Type::Unknown(_)) => {
                self.escape(&Value::Pointer(pointer.clone()));
                Value::Scalar(self.address(&pointer, ScalarType::Opaque { bytes: 1 }))
            }
            (Value::Pointer(pointer), _) => match scalar {
                Some(scalar) => {
                    self.escape(&Value::Pointer(pointer.clone()));
                    Value::Scalar(self.address(&pointer, scalar))
                }
                None => Value::Pointer(pointer),
            },
            (Value::Scalar(expr), Type::Vector { of, lanes }) if self.layout.scalar(from).is_some() => {
                let lane = self.layout.scalar(*of).unwrap_or(ScalarType::I32);
                let lane = self.coerce(expr, lane);
                Value::Aggregate(vec![Value::Scalar(lane); usize::from(*lanes)])
            }
            (Value::Aggregate(parts), Type::Vector { of, .. }) => {
                let lane = self.layout.scalar(*of);
                let parts = parts.into_iter().map(|part| match (part, lane) {
                    (Value::Scalar(expr), Some(lane)) => Value::Scalar(self.coerce(expr, lane)),
                    (part, _) => part,
                });
                Value::Aggregate(parts.collect())
            }
            (Value::Scalar(expr), _) => match scalar {
                Some(scalar) => Value::Scalar(self.coerce(expr, scalar)),
                None => Value::Scalar(expr),
            },
            (value, _) => value,
        }
    }

    /// The pointer that an integer is. One that was computed from an address points into the object that had it, as
    /// compilers rely on; any other may be the address of whatever addresses were taken of.
    fn pointer_from(&mut self, integer: ExprId, span: Span) -> Pointer {
        if self.kernel.exprs.as_int(integer) == Some(0) {
            return self.null();
        }
        match self.derived(integer) {
            Some(Derived { target, offset, .. }) => Pointer { base: Base::Target(target), offset },
            None => self.loaded_pointer("a pointer that was made from an integer", span),
        }
    }

    /// How an integer was computed from the address of one object.
    fn derived(&mut self, integer: ExprId) -> Option<Derived> {
        if let Some(&target) = self.addresses.get(&integer) {
            return Some(Derived { target, root: integer, offset: self.offset(0) });
        }
        let is_wide = |ty| matches!(ty, ScalarType::Int { width: 64, .. });
        let node = self.kernel.exprs[integer].clone();
        match node {
            Expr::Convert(to, inner) if is_wide(to) && is_wide(self.kernel.exprs.ty(inner)) => self.derived(inner),
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::BitAnd | BinaryOp::BitOr), a, b) => {
                let (whole, by) = if self.holds_address(a) { (a, b) } else { (b, a) };
                self.moved(integer, op, whole, by)
            }
            Expr::Binary(BinaryOp::Sub, a, b) => self.moved(integer, BinaryOp::Sub, a, b),
            _ => None,
        }
    }

    fn moved(&mut self, integer: ExprId, op: BinaryOp, whole: ExprId, by: ExprId) -> Option<Derived> {
        if self.holds_address(by) {
            return None;
        }
        let from = self.derived(whole)?;
        let offset = if matches!(op, BinaryOp::Add | BinaryOp::Sub) {
            let by = self.exprs().convert(ScalarType::I64, by);
            self.exprs().binary(op, from.offset, by)
        } else {
            let to = self.exprs().convert(ScalarType::I64, integer);
            let root = self.exprs().convert(ScalarType::I64, from.root);
            self.exprs().binary(BinaryOp::Sub, to, root)
        };
        Some(Derived { offset, ..from })
    }

    fn holds_address(&self, integer: ExprId) -> bool {
        let mut found = false;
        self.kernel.exprs.visit(integer, |part, _| found |= self.addresses.contains_key(&part));
        found
    }

    /// `pointer != 0`
    pub(super) fn is_not_null(&mut self, pointer: &Pointer, span: Span) -> ExprId {
        let null = self.null();
        let Base::Target(null_target) = null.base else { return self.exprs().bool(true) };
        match &pointer.base {
            Base::Target(target) if *target == null_target => self.exprs().bool(false),
            Base::Target(target) => {
                let target = *target;
                match self.array_of(target).filter(|&array| self.kernel.arrays[array].is_param) {
                    // Of several pointers that are taken for one, each may be null.
                    Some(_) if self.is_shared_pointee(target) => {
                        self.havoc(ScalarType::Bool, HavocReason::Other("whether a pointer is null".to_owned()), span)
                    }
                    Some(array) => self.param_is_not_null(array),
                    None => self.exprs().bool(true),
                }
            }
            Base::OneOf { tag, targets } if targets.contains(&null_target) => {
                let tag = *tag;
                let is_null = self.tag_is(tag, null_target);
                self.exprs().not(is_null)
            }
            Base::OneOf { tag, .. } => {
                let args = vec![*tag, pointer.offset];
                self.exprs().call("pointer!=0", args, ScalarType::Bool)
            }
            Base::Unknown(reason) => {
                let reason = HavocReason::Other(format!("whether {reason} is null"));
                self.havoc(ScalarType::Bool, reason, span)
            }
        }
    }

    fn param_is_not_null(&mut self, array: ArrayId) -> ExprId {
        let Array { name, given, .. } = &mut self.kernel.arrays[array];
        let params = &mut self.kernel.params;
        let given =
            given.get_or_insert_with(|| params.push(Param { name: format!("{name} != 0"), ty: ScalarType::Bool }));
        let given = *given;
        self.exprs().param(given, ScalarType::Bool)
    }

    /// The address that a pointer holds, as a number of type `ty`: an unknown base, the same for all threads
    /// that see the same array, plus the offset.
    pub(super) fn address(&mut self, pointer: &Pointer, ty: ScalarType) -> ExprId {
        let base = match &pointer.base {
            Base::Target(target) => self.array_of(*target),
            _ => None,
        };
        let wide = match base {
            Some(array) if self.kernel.arrays[array].space != Space::Private => {
                let base = self.base_address(&pointer.base, array);
                let offset = self.exprs().convert(ScalarType::U64, pointer.offset);
                self.exprs().binary(BinaryOp::Add, base, offset)
            }
            _ => {
                let var = self.temporary("address", ScalarType::U64);
                let reason = HavocReason::Other("the address of a variable".to_owned());
                self.emit(Stmt::Havoc { var, reason, span: None });
                self.var(var)
            }
        };
        self.coerce(wide, ty)
    }

    /// The address of the first byte of an array, which differs from that of any other.
    fn base_address(&mut self, base: &Base, array: ArrayId) -> ExprId {
        let text = format!("address of {}", self.kernel.arrays[array].name);
        let address = self.exprs().opaque(text.clone(), ScalarType::U64);
        let Base::Target(target) = *base else { return address };
        match self.addresses.get(&address) {
            Some(&other) if other != target => {
                let address = self.exprs().opaque(format!("{text} ({})", target.index()), ScalarType::U64);
                self.addresses.insert(address, target);
                address
            }
            _ => {
                self.addresses.insert(address, target);
                address
            }
        }
    }

    /// A comparison of pointers; `None` if it cannot be told.
    pub(super) fn compare_pointers(&mut self, op: BinaryOp, a: &Pointer, b: &Pointer, span: Span) -> Option<ExprId> {
        let null = self.null().base;
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne) && (a.base == null || b.base == null) {
            let other = if a.base == null { b } else { a };
            let not_null = self.is_not_null(other, span);
            return Some(if op == BinaryOp::Ne { not_null } else { self.exprs().not(not_null) });
        }
        // Parameters that some launches give one pointer are not equal in others; an order is there in one array only.
        let is_shared = matches!(a.base, Base::Target(target) if self.is_shared_pointee(target));
        if a.base == b.base && is_shared && matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            return None;
        }
        if a.base == b.base && !matches!(a.base, Base::Unknown(_)) {
            return Some(self.exprs().binary(op, a.offset, b.offset));
        }
        if !matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            return None;
        }
        // Different targets are different allocations, which parameters are assumed to be.
        let ((a_tag, _), (b_tag, _)) = (self.tagged(a.base.clone()).ok()?, self.tagged(b.base.clone()).ok()?);
        let same_target = self.exprs().binary(BinaryOp::Eq, a_tag, b_tag);
        let same_offset = self.exprs().binary(BinaryOp::Eq, a.offset, b.offset);
        let equal = self.exprs().and(same_target, same_offset);
        Some(if op == BinaryOp::Eq { equal } else { self.exprs().not(equal) })
    }
}

/// An integer that was computed from an address.
struct Derived {
    /// The object that has the address.
    target: TargetId,
    /// The address.
    root: ExprId,
    /// How far from it the integer is, of type `I64`.
    offset: ExprId,
}
