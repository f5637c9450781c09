//! Dynamic memory: what `malloc` gives to a thread is the thread's own as long as no pointer to it is stored or handed
//! to code that is not known; then it is among what pointers in memory lead to.
//!
//! Deliberately absent: what the memory holds; that memory is freed once; `new`.

use super::facts::{Target, TargetId};
use crate::builtins::Dynamic;
use crate::calculus::{HavocReason, ScalarType};
use crate::lower::pass::Pass;
use crate::lower::value::{Base, Pointer, Value};
use crate::resolve::program::Expr;

impl Pass<'_> {
    /// `malloc(bytes)`
    pub(in crate::lower) fn allocate(&mut self, args: &[Expr], call: &Expr) -> Value {
        for arg in args {
            self.value(arg);
        }
        self.temporaries += 1;
        let target = Target::Temporary(self.chain(), self.temporaries);
        let target = self.facts.target(target);
        if self.facts.is_escaped(target) {
            return Value::Pointer(self.loaded_pointer("a pointer to dynamic memory", call.span));
        }
        self.facts.put_in_memory(target);
        let home = self.fresh_home(target, "allocated", call.ty, call.span);
        self.homes.insert(target, home);
        // The memory of two calls is one array here.
        self.notes.units.forgotten.extend(self.array_of(target));
        self.allocated.insert(target);
        let null = self.facts.target(Target::Null);
        let tag = self.havoc(ScalarType::I32, HavocReason::Other("whether memory is left".to_owned()), call.span);
        let base = Base::OneOf { tag, targets: vec![null, target] };
        Value::Pointer(Pointer { base, offset: self.offset(0) })
    }

    /// `free(p)`: of memory that is the thread's own, nothing that others see.
    pub(in crate::lower) fn release(&mut self, name: &str, args: &[Expr], call: &Expr) -> Value {
        let [only] = args else { return self.missing(call) };
        let Value::Pointer(pointer) = self.value(only) else { return self.missing(call) };
        let is_own = |target: &TargetId| self.allocated.contains(target) || *self.facts.key(*target) == Target::Null;
        let is_known = match &pointer.base {
            Base::Target(target) => is_own(target),
            Base::OneOf { targets, .. } => targets.iter().all(is_own),
            Base::Unknown(_) => false,
        };
        if !is_known {
            self.unsupported(call.span, format!("{} ('{name}')", Dynamic::REASON));
        }
        Value::Void
    }
}
