//! Atomics: from calls with pointers to the atomics of the calculus.
//!
//! An atomic on a local of the thread is a plain update with a value that need not be known. A compare-exchange that writes
//! what it has found through a pointer does so where it has exchanged nothing, and nowhere else.
//!
//! A compare-exchange whose outcomes order differently has the order of the exchange, and what both have where nothing is
//! exchanged ([`order_of`]).
//!
//! Deliberately absent: an order that only the outcome without an exchange has; it is left out, which orders less.

use super::builtin::Use;
use super::pass::Pass;
use super::storage::access::Atomic;
use super::storage::facts::TargetId;
use super::storage::home::Home;
use super::value::{Base, Place, Pointer, Value};
use crate::builtins::atomics::operand_count;
use crate::calculus::{AtomicOp, BinaryOp, ExprId, HavocReason, MemoryOrder, ScalarType, Stmt, SyncScope};
use crate::memory_model::fences;
use crate::resolve::program::{Expr, TypeId};
use crate::source::Span;

impl Pass<'_> {
    /// A call of an atomic; its value is what was there before.
    pub(super) fn atomic_call(&mut self, mut atomic: Atomic, args: &[Expr], call: &Expr, used: Use) -> Value {
        let Some((object, rest)) = args.split_first() else { return self.missing(call) };
        let Some(ty) = self.layout.pointee(object.ty) else { return self.missing(call) };
        let pointer = self.pointer(object);
        let mut operands = Vec::new();
        for arg in rest.iter().take(operand_count(atomic.op)) {
            match self.value(arg) {
                Value::Pointer(expected) => operands.extend(self.expected(expected, arg)),
                value => operands.extend(self.atomic_operand(value, arg, ty)),
            }
        }
        for arg in rest.iter().skip(operand_count(atomic.op)) {
            self.effect(arg);
        }
        atomic.operands = operands;
        let place = Place { pointer, ty, bits: None };
        let wanted = match used {
            Use::Needed => call.ty,
            Use::Discarded => return self.atomic_on(&place, &atomic, None, call.span),
        };
        let old = self.atomic_on(&place, &atomic, Some(ty), call.span);
        self.convert(old, ty, wanted, call.span)
    }

    /// `compare_exchange_strong(object, expected, desired)`: what was expected is overwritten where nothing is exchanged.
    pub(super) fn compare_and_exchange(
        &mut self,
        orders: [MemoryOrder; 2],
        (scope, weak): (SyncScope, bool),
        args: &[Expr],
        call: &Expr,
    ) -> Value {
        let [object, expected, desired, ..] = args else { return self.missing(call) };
        let pointee = |arg: &Expr| self.layout.pointee(arg.ty);
        let (Some(ty), Some(expected_ty)) = (pointee(object), pointee(expected)) else { return self.missing(call) };
        let pointer = self.pointer(object);
        let kept = Place { pointer: self.pointer(expected), ty: expected_ty, bits: None };
        let before = self.load(&kept, call.span);
        let value = self.value(desired);
        let operands = [(before, expected_ty), (value, desired.ty)];
        let operands = operands.map(|(value, from)| match self.convert(value, from, ty, call.span) {
            Value::Scalar(expr) => Some(expr),
            _ => None,
        });
        let operands: Vec<ExprId> = operands.into_iter().flatten().collect();
        let atomic = Atomic { op: AtomicOp::CompareExchange, operands, order: order_of(orders), scope };
        let found = self.atomic_on(&Place { pointer, ty, bits: None }, &atomic, Some(ty), call.span);
        let mut did = match (&found, atomic.operands.first()) {
            (&Value::Scalar(found), Some(&before)) if matches!(self.kernel.exprs.ty(found), ScalarType::Int { .. }) => {
                self.exprs().binary(BinaryOp::Eq, found, before)
            }
            _ => self.havoc(ScalarType::Bool, HavocReason::Other("whether an atomic exchanges".to_owned()), call.span),
        };
        if weak {
            let reason = HavocReason::Other("whether a weak compare-exchange fails".to_owned());
            let happens = self.havoc(ScalarType::Bool, reason, call.span);
            did = self.exprs().binary(BinaryOp::And, did, happens);
        }
        // What was expected is no longer there once it is overwritten.
        let exchanged = self.temporary("exchanged", ScalarType::Bool);
        self.emit(Stmt::Let { var: exchanged, value: did });
        let did = self.exprs().var(exchanged, ScalarType::Bool);
        let (stored, ()) = self.captured(|pass| {
            let found = pass.convert(found, ty, expected_ty, call.span);
            pass.store(&kept, found, call.span);
        });
        self.emit_if(did, Vec::new(), stored);
        Value::Scalar(did)
    }

    fn atomic_operand(&mut self, value: Value, arg: &Expr, ty: TypeId) -> Option<ExprId> {
        match self.convert(value, arg.ty, ty, arg.span) {
            Value::Scalar(expr) => Some(expr),
            _ => None,
        }
    }

    /// An operand that is a pointer, as of an atomic on a pointer: nothing is known of the value, and what it leads to is
    /// taken to be read and overwritten.
    fn expected(&mut self, pointer: Pointer, arg: &Expr) -> Option<ExprId> {
        let ty = self.layout.pointee(arg.ty)?;
        let place = Place { pointer, ty, bits: None };
        let old = match self.load(&place, arg.span) {
            Value::Scalar(expr) => Some(self.snapshot(expr)),
            _ => None,
        };
        let new = self.unknown_value(ty, &HavocReason::Other("the value that an atomic found".to_owned()), arg.span);
        self.store(&place, new, arg.span);
        old
    }

    /// The atomic itself, on whichever target the pointer chooses; `result` is the type of the old value, if
    /// it is wanted.
    fn atomic_on(&mut self, place: &Place, atomic: &Atomic, result: Option<TypeId>, span: Span) -> Value {
        match &place.pointer.base {
            Base::Target(target) => self.atomic_on_target(*target, place, atomic, result, span),
            Base::OneOf { tag, targets } => {
                let arms =
                    self.arms(*tag, targets, |pass, target| pass.atomic_on_target(target, place, atomic, result, span));
                self.choose(arms)
            }
            Base::Unknown(reason) => {
                self.unsupported(span, format!("atomic through {reason}"));
                match result {
                    Some(ty) => self.unknown_value(ty, &HavocReason::Other(reason.clone()), span),
                    None => Value::Void,
                }
            }
        }
    }

    fn atomic_on_target(
        &mut self,
        target: TargetId,
        place: &Place,
        atomic: &Atomic,
        result: Option<TypeId>,
        span: Span,
    ) -> Value {
        self.ensure_home(target);
        if let Some(Home::Array(array)) = self.homes.get(target) {
            let array = *array;
            let ty = result.map(|ty| self.layout.scalar(ty).unwrap_or_else(|| self.layout.carrier(ty)));
            let var = ty.map(|ty| self.temporary("old", ty));
            self.atomic(array, place, var, atomic, span);
            return match var {
                Some(var) => Value::Scalar(self.var(var)),
                None => Value::Void,
            };
        }
        // An atomic on a local is a plain update with a value that need not be known.
        let old = match self.load(place, span) {
            Value::Scalar(expr) => Value::Scalar(self.snapshot(expr)),
            other => other,
        };
        let new = self.unknown_value(place.ty, &HavocReason::Other("an atomic on a local".to_owned()), span);
        self.store(place, new, span);
        if result.is_some() { old } else { Value::Void }
    }
}

/// One order for both outcomes of a compare-exchange: that of an exchange, and of one that fails.
fn order_of([exchanged, failed]: [MemoryOrder; 2]) -> MemoryOrder {
    if fences::is_sequentially_consistent(exchanged) && fences::is_sequentially_consistent(failed) {
        return MemoryOrder::SequentiallyConsistent;
    }
    match (fences::releases(exchanged), fences::acquires(exchanged), fences::acquires(failed)) {
        (true, true, true) => MemoryOrder::AcquireRelease,
        (true, true, false) => MemoryOrder::AcquireReleaseOnExchange,
        (true, false, _) => MemoryOrder::Release,
        (false, true, true) => MemoryOrder::Acquire,
        (false, true, false) => MemoryOrder::AcquireOnExchange,
        (false, false, _) => MemoryOrder::Relaxed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MemoryOrder::{
        Acquire, AcquireOnExchange, AcquireRelease, AcquireReleaseOnExchange, Relaxed, Release, SequentiallyConsistent,
    };

    #[test]
    fn outcomes_that_order_differently_have_what_both_have() {
        let cases = [
            ([Acquire, Acquire], Acquire),
            ([Acquire, Relaxed], AcquireOnExchange),
            ([AcquireRelease, Acquire], AcquireRelease),
            ([AcquireRelease, Relaxed], AcquireReleaseOnExchange),
            ([Release, Relaxed], Release),
            ([Release, Acquire], Release),
            ([Relaxed, Acquire], Relaxed),
            ([SequentiallyConsistent, SequentiallyConsistent], SequentiallyConsistent),
            ([SequentiallyConsistent, Acquire], AcquireRelease),
            ([SequentiallyConsistent, Relaxed], AcquireReleaseOnExchange),
        ];
        for (orders, order) in cases {
            assert_eq!(order_of(orders), order, "{orders:?}");
        }
    }
}
