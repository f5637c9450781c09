//! Functions of libraries whose effects are known: stores with cache hints, cuRAND's states.

use super::builtin::Use;
use super::pass::Pass;
use super::value::{Place, Value};
use crate::builtins::Random;
use crate::calculus::HavocReason;
use crate::resolve::program::{Callee, Expr};

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
            return self.unknown_call((name, args, &Callee::OneOfSeveral), call, Use::Needed);
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
}
