//! Pointers in memory: what is stored, and what a pointer that is loaded may point to.
//!
//! A pointer that is loaded from a fixed place in which the kernel changes nothing is a parameter in all but name
//! (`follow_held_pointer`). Any other may point to any array of global memory, to memory that only such pointers
//! lead to ([`Target::Elsewhere`]), and to whatever the kernel itself stores pointers to. Which of these, and where in
//! it, is not known: accesses through it are there for every one of them, under a condition and at an offset that are
//! arbitrary. Arrays that are only read need not be among them while nothing is written through such a pointer.
//!
//! Deliberately absent: which pointer stands where in memory, except in structures that the host passes by value and at
//! fixed places.

use super::facts::{Target, TargetId};
use crate::calculus::{ArrayId, HavocReason, ScalarType, Space};
use crate::lower::pass::Pass;
use crate::lower::value::{Base, Place, Pointer, STRING, Value};
use crate::resolve::program::{Type, TypeId};
use crate::source::Span;

/// Bytes of a pointer.
const POINTER_BYTES: u64 = 8;

impl Pass<'_> {
    /// A value that was read from `place` of the array that `holder` lives in, with its pointers followed as far as
    /// that can be said.
    pub(in crate::lower) fn follow_stored(
        &mut self,
        holder: TargetId,
        place: &Place,
        value: Value,
        span: Span,
    ) -> Value {
        let value = self.follow_passed_pointer(holder, place, value);
        self.follow_loaded(value, span)
    }

    fn follow_loaded(&mut self, value: Value, span: Span) -> Value {
        match value {
            Value::Pointer(Pointer { base: Base::Unknown(reason), .. }) => {
                Value::Pointer(self.loaded_pointer(&reason, span))
            }
            Value::Aggregate(parts) => {
                Value::Aggregate(parts.into_iter().map(|part| self.follow_loaded(part, span)).collect())
            }
            other => other,
        }
    }

    /// A pointer to any of the arrays that pointers in memory lead to.
    pub(in crate::lower) fn loaded_pointer(&mut self, reason: &str, span: Span) -> Pointer {
        let Some(targets) = self.facts.stored_targets() else { return self.unknown_pointer(reason) };
        let why = || HavocReason::Pointer(reason.to_owned());
        let tag = self.havoc(ScalarType::I32, why(), span);
        let offset = self.havoc(ScalarType::I64, why(), span);
        Pointer { base: Base::OneOf { tag, targets }, offset }
    }

    /// Remembers what is stored in `array`: pointers may be loaded again.
    pub(in crate::lower) fn note_stored(&mut self, array: ArrayId, ty: Option<TypeId>, value: Option<&Value>) {
        let in_global = self.global_targets.get(&array).copied();
        if let Some(target) = in_global {
            self.facts.note_written(target);
        }
        if ty.is_none_or(|ty| self.may_change_pointers(ty)) {
            let changed = in_global.into_iter().chain(self.passed.get(&array).copied());
            changed.for_each(|target| self.facts.note_overwritten(target));
        }
        if let Some(value) = value {
            self.escape(value);
        }
    }

    /// Whether an access of type `ty` may change a pointer: addresses are also stored as numbers. Through any other type
    /// no pointer may be accessed (C++ [basic.lval]).
    fn may_change_pointers(&self, ty: TypeId) -> bool {
        let is_number = matches!(self.program.types[ty], Type::Int { .. }) && self.layout.size(ty) >= POINTER_BYTES;
        is_number || self.layout.may_hold_pointers(ty)
    }

    /// What the pointers of a value point to may be pointed to from memory from now on.
    pub(in crate::lower) fn escape(&mut self, value: &Value) {
        match value {
            Value::Pointer(pointer) => match &pointer.base {
                Base::Target(target) => self.escape_target(*target),
                Base::OneOf { targets, .. } => targets.iter().for_each(|&target| self.escape_target(target)),
                Base::Unknown(reason) if reason == STRING => {}
                Base::Unknown(_) => self.facts.note_unknown_escaped(),
            },
            Value::Aggregate(parts) => parts.iter().for_each(|part| self.escape(part)),
            Value::Void | Value::Scalar(_) => {}
        }
    }

    fn escape_target(&mut self, target: TargetId) {
        // Arrays of global memory are among the targets anyway, and nothing is written to constant ones.
        let is_elsewhere = self
            .array_of(target)
            .is_none_or(|array| !matches!(self.kernel.arrays[array].space, Space::Global | Space::Constant));
        if is_elsewhere && !matches!(self.facts.key(target), Target::Null | Target::Elsewhere) {
            self.facts.note_escaped(target);
        }
    }

    /// The arrays that code may reach which is given a value of an unknown type: pointers may be in it.
    pub(in crate::lower) fn stored_arrays(&mut self) -> Option<Vec<ArrayId>> {
        // Whatever holds a pointer may be written through it.
        let elsewhere = self.facts.target(Target::Elsewhere);
        self.facts.note_written(elsewhere);
        self.facts.note_overwritten(elsewhere);
        let targets = self.facts.stored_targets()?;
        for &target in &targets {
            self.ensure_home(target);
        }
        Some(targets.into_iter().filter_map(|target| self.array_of(target)).collect())
    }

    /// Registers an array of global memory.
    pub(in crate::lower) fn register_global(&mut self, target: TargetId, array: ArrayId) {
        self.global_targets.insert(array, target);
        self.facts.note_global(target);
    }
}
