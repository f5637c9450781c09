//! Functions of libraries whose effects are known: stores with cache hints, cuRAND's states, the registers of `wmma`.

use super::builtin::Use;
use super::pass::Pass;
use super::storage::access::Touch;
use super::value::{Base, Place, Pointer, Value};
use crate::builtins::{Fragment, Random};
use crate::calculus::{Axis, BinaryOp, GeometryVar, HavocReason, ScalarType, Space};
use crate::resolve::program::Expr;
use crate::source::Span;

impl Pass<'_> {
    /// `__stcs(p, v)`
    pub(super) fn cached_store(&mut self, args: &[Expr], call: &Expr) -> Value {
        let [address, value] = args else { return self.missing(call) };
        let Some(ty) = self.layout.pointee(address.ty) else { return self.missing(call) };
        let pointer = self.pointer(address);
        let stored = self.value(value);
        let stored = self.convert(stored, value.ty, ty, call.span);
        self.store(&Place { pointer, ty, bits: None }, stored, call.span);
        Value::Void
    }

    /// A function on the state of a random number generator.
    pub(super) fn random(&mut self, random: Random, name: &str, args: &[Expr], call: &Expr) -> Value {
        let at = match random {
            Random::Draw => 0,
            Random::Seed | Random::Skip => args.len().saturating_sub(1),
        };
        let others = || args.iter().enumerate().filter(|&(position, _)| position != at).map(|(_, arg)| arg);
        let Some(state) = args.get(at) else { return self.missing(call) };
        let is_known = others().all(|arg| self.layout.scalar(arg.ty).is_some());
        let (true, Some(ty)) = (is_known, self.layout.pointee(state.ty)) else {
            return self.unknown_call(name, args, call, Use::Needed);
        };
        for arg in others() {
            self.value(arg);
        }
        let reason = HavocReason::Call(name.to_owned());
        let place = Place { pointer: self.pointer(state), ty, bits: None };
        if random != Random::Seed {
            self.load(&place, call.span);
        }
        let next = self.unknown_value(ty, &reason, call.span);
        self.store(&place, next, call.span);
        self.unknown_value(call.ty, &reason, call.span)
    }

    /// A function on a part of a matrix in registers. Which elements a lane reads or writes is not specified.
    pub(super) fn fragment(&mut self, fragment: Fragment, name: &str, args: &[Expr], call: &Expr) -> Value {
        let reason = HavocReason::Call(name.to_owned());
        let at = match fragment {
            Fragment::Load => Some(1),
            Fragment::Store => Some(0),
            Fragment::Compute => None,
        };
        for (position, arg) in args.iter().enumerate() {
            let value = self.value(arg);
            match (fragment, value) {
                (Fragment::Load, Value::Pointer(pointer)) if at == Some(position) => {
                    self.touch_somewhere(&pointer, Touch::Read, &reason, call.span);
                }
                (Fragment::Store, Value::Pointer(pointer)) if at == Some(position) => {
                    self.touch_somewhere(&pointer, Touch::Write, &reason, call.span);
                }
                (Fragment::Load | Fragment::Compute, value) if position == 0 => {
                    self.clobber_value(&value, &reason, call.span);
                    self.overwrite_private(arg, &value, call.span);
                }
                _ => {}
            }
        }
        Value::Void
    }

    /// A fragment whose elements an index chooses lives in memory of the thread's own.
    fn overwrite_private(&mut self, arg: &Expr, value: &Value, span: Span) {
        let Value::Pointer(pointer) = value else { return };
        let size = self.layout.pointee(arg.ty).and_then(|ty| self.layout.known_size(ty));
        let arrays = self.arrays_behind(pointer);
        let is_private = !arrays.is_empty() && arrays.iter().all(|&it| self.kernel.arrays[it].space == Space::Private);
        if let Some(size) = size.filter(|_| is_private) {
            let size = self.offset(size);
            self.move_bytes(pointer, Touch::Write, size, span);
        }
    }

    /// Touches some byte of whatever a pointer leads to: any of them, since which one is arbitrary.
    fn touch_somewhere(&mut self, pointer: &Pointer, touch: Touch, reason: &HavocReason, span: Span) {
        if let Base::Unknown(reason) = &pointer.base {
            return self.unsupported(span, format!("matrix at {reason}"));
        }
        let start = self.havoc(ScalarType::I64, reason.clone(), span);
        // The lanes have parts of their own, so that what is shown is shown for blocks of many threads.
        let lane = self.exprs().geometry(GeometryVar::ThreadIdx(Axis::X));
        let lane = self.exprs().convert(ScalarType::I64, lane);
        let offset = self.exprs().binary(BinaryOp::Add, start, lane);
        let byte = self.exprs().int(1, ScalarType::I64);
        let somewhere = Pointer { base: pointer.base.clone(), offset };
        self.move_bytes(&somewhere, touch, byte, span);
    }
}
