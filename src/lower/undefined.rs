//! Calls of functions that are not defined: their pointer arguments and the unit's global variables may change; or they are
//! functions of their arguments, which is assumed and printed ([`Relied::External`]).
//!
//! Guarantees: the assumption is made where a call gives a value that is used, its name says nothing else
//! ([`external`](crate::builtins::external)), and no pointer among its arguments leads to what threads share. Objects that stand
//! among them by their names are read then, and not changed, unless they were declared without a value; the thread's own that are handed over by their addresses may change.
//!
//! Deliberately absent: what such a function may read beside its arguments. A setting refuses the assumption (`judge::Settings`).

use super::builtin::Use;
use super::pass::Pass;
use super::value::{Place, Value};
use crate::builtins::{external, functions, telling};
use crate::calculus::{ArrayId, Function, HavocReason, Relied, Unsupported};
use crate::resolve::program::{Callee, Expr, ExprKind, Type, TypeId};
use crate::source::Span;

/// The name of what is called, its arguments, and why it is not known.
pub(super) type Handed<'e> = (&'e str, &'e [Expr], &'e Callee);

/// The same of what is not defined, with the places of the arguments that are addresses of objects which stand there by their names.
type ByName<'e> = (&'e str, &'e [Expr], &'e [usize]);

impl Pass<'_> {
    /// Whether a call may be taken for a function of its arguments.
    fn is_external(&mut self, (name, args, by_name): ByName<'_>, values: &[Value], result: TypeId) -> bool {
        let gives_number = match self.program.types[result] {
            Type::Void => false,
            Type::Unknown(_) => true,
            _ => !self.layout.may_hold_pointers(result),
        };
        if !gives_number || !external::may_only_compute(name) || self.is_method_on_shared(args, by_name) {
            return false;
        }
        let mut arrays = Vec::new();
        for (position, value) in values.iter().enumerate() {
            if !by_name.contains(&position) && self.reach(value, &mut arrays) {
                return false;
            }
        }
        arrays.is_empty()
    }

    /// Whether it is called on an object of a type that nothing declares and that a parameter of the kernel has: that may hold
    /// addresses of what threads share.
    fn is_method_on_shared(&self, args: &[Expr], by_name: &[usize]) -> bool {
        let ExprKind::AddressOf(object) = (match args {
            [_, second, ..] if !by_name.contains(&1) => &second.kind,
            _ => return false,
        }) else {
            return false;
        };
        if !matches!(self.program.types[object.ty], Type::Unknown(_)) {
            return false;
        }
        let Some(kernel) = self.frames.first().map(|frame| frame.function) else { return true };
        let params = &self.program.functions[kernel].params;
        params.iter().any(|&param| self.layout.is_made_of(self.program.variables[param].ty, object.ty))
    }

    /// Whether it is the address of a variable that was declared without a value.
    fn is_bare(&self, address: &Expr) -> bool {
        let ExprKind::AddressOf(object) = &address.kind else { return false };
        matches!(object.kind, ExprKind::Variable(variable) if self.bare.contains(&variable))
    }

    /// A call that is taken for a function of its arguments.
    fn external(&mut self, (name, args, by_name): ByName<'_>, values: &[Value], call: &Expr) -> Value {
        let what = Relied::External(name.to_owned());
        // Once a name, at the first place.
        if !self.kernel.relies.iter().any(|reliance| reliance.what == what) {
            self.rely(Some(call.span), what);
        }
        let mut known = Vec::new();
        for (position, (value, arg)) in values.iter().zip(args).enumerate() {
            match (value, self.layout.pointee(arg.ty)) {
                (Value::Scalar(scalar), _) => known.push(*scalar),
                (Value::Pointer(pointer), Some(ty)) if by_name.contains(&position) => {
                    // What is no number stands among the arguments as a value, too.
                    if self.layout.scalar(ty).is_some() && !matches!(self.program.types[ty], Type::Unknown(_)) {
                        let place = Place { pointer: pointer.clone(), ty, bits: None };
                        if let Value::Scalar(scalar) = self.load(&place, arg.span) {
                            known.push(scalar);
                        }
                    }
                }
                (Value::Aggregate(parts), _) => known.extend(parts.iter().filter_map(|part| match part {
                    Value::Scalar(scalar) => Some(*scalar),
                    _ => None,
                })),
                _ => {}
            }
        }
        let reason = HavocReason::Call(name.to_owned());
        for (position, value) in values.iter().enumerate() {
            // What has no value when it is handed over is there to be given one.
            if !by_name.contains(&position) || self.is_bare(&args[position]) {
                self.escape(value);
                self.clobber_value(value, &reason, call.span);
            }
        }
        self.function_value(&Function::from(name), &known, call.ty)
    }

    /// A call of a function that is not defined: its pointer arguments and the unit's global variables may change.
    ///
    /// Where it can reach nothing of that and its result is what it is called for, it is a function of its arguments, which is assumed.
    pub(super) fn unknown_call(&mut self, (name, args, callee): Handed<'_>, call: &Expr, used: Use) -> Value {
        let values: Vec<Value> = args.iter().map(|arg| self.value(arg)).collect();
        if let (Use::Needed, Callee::Undefined(by_name)) = (used, callee)
            && self.is_external((name, args, by_name), &values, call.ty)
        {
            return self.external((name, args, by_name), &values, call);
        }
        let reason = HavocReason::Call(name.to_owned());
        let mut arrays = self.global_arrays();
        let mut anywhere = false;
        for (value, arg) in values.iter().zip(args) {
            anywhere |= self.reach(value, &mut arrays);
            self.escape(value);
            self.clobber_value(value, &reason, call.span);
            if self.layout.leads_to_pointers(arg.ty) {
                match self.stored_arrays() {
                    Some(stored) => arrays.extend(stored),
                    None => anywhere = true,
                }
            }
        }
        arrays.sort_unstable();
        arrays.dedup();
        let mut text = Unsupported::call_of(name);
        if used == Use::Discarded && self.may_do_anything(name, args, call.span) {
            anywhere = true;
            text = format!("call of '{name}', which nothing declares: it may be a macro, or change any memory");
        }
        if anywhere {
            self.unsupported(call.span, text);
        } else {
            self.unsupported_call(call.span, text, arrays);
        }
        if matches!(self.program.types[call.ty], Type::Void) {
            self.may_not_return(name, call.span);
        }
        self.unknown_value(call.ty, &reason, call.span)
    }

    /// Whether a call of what nothing declares, whose result nobody takes, may change any memory: it is there for what it does.
    /// Where no pointer is handed over, that is done to memory which no array of the unit is known to be, or, by a macro, to
    /// anything.
    fn may_do_anything(&mut self, name: &str, args: &[Expr], span: Span) -> bool {
        let is_string = |arg: &Expr| match &arg.kind {
            ExprKind::AddressOf(object) => matches!(object.kind, ExprKind::String(_)),
            kind => matches!(kind, ExprKind::String(_)),
        };
        let leads_on = |arg: &&Expr| self.layout.is_pointer(arg.ty) || self.layout.leads_to_pointers(arg.ty);
        let is_given_pointers = args.iter().filter(leads_on).any(|arg| !is_string(arg));
        if is_given_pointers || functions::is_of_compiler(name) {
            return false;
        }
        if telling::only_tells(name) {
            self.rely(Some(span), Relied::Telling);
            return false;
        }
        true
    }

    /// Global variables of the unit, which any function may touch.
    fn global_arrays(&mut self) -> Vec<ArrayId> {
        let mut arrays = Vec::new();
        for &global in self.scans.globals(self.program).iter() {
            let target = self.target_of(global);
            arrays.extend(self.array_of(target));
        }
        arrays
    }
}
