//! Calls: functions of the program are inlined, unknown ones change what their pointer arguments reach.

use super::builtin::Use;
use super::pass::{Frame, Pass};
use super::storage::facts::{Target, TargetId};
use super::storage::place::is_object;
use super::value::{Base, Place, STRING, Value};
use super::walk::scan;
use crate::builtins::{functions, telling};
use crate::calculus::{ArrayId, HavocReason, Relied, Unsupported};
use crate::resolve::program::{Expr, ExprKind, FunctionId, Type};
use crate::source::Span;

/// Calls inside calls beyond which nothing is inlined.
const MAX_INLINE_DEPTH: usize = 48;

impl Pass<'_> {
    /// A call of a function of the program.
    pub(super) fn call(&mut self, function: FunctionId, args: &[Expr], call: &Expr) -> Value {
        let callee = &self.program.functions[function];
        if callee.body.is_none() {
            return self.unknown_call(&callee.name, args, call, Use::Needed);
        }
        let recursive = self.frames.iter().any(|frame| frame.function == function);
        if recursive || self.frames.len() > MAX_INLINE_DEPTH {
            let what = if recursive { "recursive call of" } else { "call nested too deeply, of" };
            return self.give_up_call(format!("{what} '{}'", callee.name), args, call);
        }
        self.note_order(&args.iter().collect::<Vec<_>>(), call.span);
        let values = self.values(args);
        self.inlined(function, values, call)
    }

    /// A call through a pointer: of the functions that it may point to, the one that it does.
    pub(super) fn call_through(&mut self, pointer: &Expr, args: &[Expr], call: &Expr) -> Value {
        let pointer = self.pointer(pointer);
        let targets = match &pointer.base {
            Base::Target(target) => vec![*target],
            Base::OneOf { targets, .. } => targets.clone(),
            Base::Unknown(_) => Vec::new(),
        };
        // Nothing is called through the null pointer.
        let targets: Vec<TargetId> =
            targets.into_iter().filter(|&target| !matches!(self.facts.key(target), Target::Null)).collect();
        let is_function = |target: &TargetId| matches!(self.facts.key(*target), Target::Function(_));
        if targets.is_empty() || !targets.iter().all(is_function) {
            return self.give_up_call("call of a function that is not known where it is called".to_owned(), args, call);
        }
        match pointer.base {
            Base::OneOf { tag, .. } => {
                let arms = self.arms(tag, &targets, |pass, target| pass.call_target(target, args, call));
                self.choose(arms)
            }
            _ => self.call_target(targets[0], args, call),
        }
    }

    fn call_target(&mut self, target: TargetId, args: &[Expr], call: &Expr) -> Value {
        let &Target::Function(function) = self.facts.key(target) else { return Value::Void };
        let callee = &self.program.functions[function];
        let is_recursive = self.frames.iter().any(|frame| frame.function == function);
        if callee.body.is_none() || is_recursive || self.frames.len() > MAX_INLINE_DEPTH {
            return self.give_up_call(format!("call of '{}' through a pointer", callee.name), args, call);
        }
        let values = callee.params.iter().zip(args).map(|(&param, arg)| {
            let declared = &self.program.variables[param];
            if declared.is_reference && is_object(arg) {
                return Value::Pointer(self.place(arg).pointer);
            }
            let value = self.value(arg);
            if declared.is_reference {
                return Value::Pointer(self.temporary_object(value, arg.ty, arg.span));
            }
            self.convert(value, arg.ty, declared.ty, arg.span)
        });
        let values = values.collect();
        self.inlined(function, values, call)
    }

    /// The body of a function, with values for its parameters.
    fn inlined(&mut self, function: FunctionId, values: Vec<Value>, call: &Expr) -> Value {
        let callee = &self.program.functions[function];
        let body = callee.body.as_deref().unwrap_or_default();
        for (span, reason) in &callee.unsupported {
            self.unsupported(*span, reason.clone());
        }
        let chain = Some(self.enter_chain(call.span));
        self.calls.push(call.span);
        self.frames.push(Frame { function, chain, returned: None, result: None, jumps: Vec::new() });
        self.bind_arguments(function, values, call.span);
        let value = if scan::returns_once_at_end(body) {
            self.stmts_with_value(body)
        } else {
            self.body_with_result(function, call.span)
        };
        self.frames.pop();
        self.calls.pop();
        value
    }

    fn bind_arguments(&mut self, function: FunctionId, values: Vec<Value>, span: Span) {
        let params = &self.program.functions[function].params;
        let mut values = values.into_iter();
        for &param in params {
            let ty = self.program.variables[param].ty;
            let value = if let Some(value) = values.next() {
                self.fit_value(value, ty)
            } else {
                self.unsupported(span, "call with too few arguments".to_owned());
                self.unknown_value(ty, &HavocReason::Other("a missing argument".to_owned()), span)
            };
            self.declare(param, Some(value), span);
        }
        if values.next().is_some() {
            self.unsupported(span, "call with too many arguments".to_owned());
        }
    }

    /// A body whose `return`s stand in several places: each stores the value, and flags what must not follow.
    fn body_with_result(&mut self, function: FunctionId, span: Span) -> Value {
        let callee = &self.program.functions[function];
        let body = callee.body.as_deref().unwrap_or_default();
        let ty = callee.result;
        let is_void = matches!(self.program.types[ty], Type::Void);
        if let (false, Some(chain)) = (is_void, self.chain()) {
            let target = self.facts.target(Target::Result(chain));
            let home = self.fresh_home(target, &format!("{}.result", callee.name), ty, span);
            self.homes.insert(target, home);
            self.frame().result = Some(target);
        }
        if scan::has_early_return(body) {
            let flag = self.jump_flag(&format!("{}.returned", callee.name));
            self.set_flag(flag, 0);
            self.frame().returned = Some(flag);
        }
        self.stmts(body);
        match self.frame().result {
            Some(target) => {
                let place = Place { pointer: self.start_of(target), ty, bits: None };
                self.load(&place, span)
            }
            None => Value::Void,
        }
    }

    /// A call of a function that is not defined: its pointer arguments and the unit's global variables may change.
    pub(super) fn unknown_call(&mut self, name: &str, args: &[Expr], call: &Expr, used: Use) -> Value {
        let values: Vec<Value> = args.iter().map(|arg| self.value(arg)).collect();
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

    /// Adds the arrays that a value's pointers lead to; returns whether they may lead anywhere.
    pub(super) fn reach(&mut self, value: &Value, arrays: &mut Vec<ArrayId>) -> bool {
        match value {
            Value::Pointer(pointer) => match &pointer.base {
                Base::Target(target) => {
                    arrays.extend(self.array_of(*target));
                    false
                }
                Base::OneOf { targets, .. } => {
                    arrays.extend(targets.iter().filter_map(|&target| self.array_of(target)));
                    false
                }
                Base::Unknown(reason) => reason != STRING,
            },
            Value::Aggregate(parts) => {
                let mut anywhere = false;
                for part in parts {
                    anywhere |= self.reach(part, arrays);
                }
                anywhere
            }
            Value::Void | Value::Scalar(_) => false,
        }
    }

    /// Locals that a value's pointers lead to become unknown.
    pub(super) fn clobber_value(&mut self, value: &Value, reason: &HavocReason, span: Span) {
        match value {
            Value::Pointer(pointer) => self.clobber(pointer, reason, span),
            Value::Aggregate(parts) => parts.iter().for_each(|part| self.clobber_value(part, reason, span)),
            Value::Void | Value::Scalar(_) => {}
        }
    }

    /// A call whose effect is not known at all.
    pub(super) fn give_up_call(&mut self, reason: String, args: &[Expr], call: &Expr) -> Value {
        let havoc = HavocReason::Other(reason.clone());
        for arg in args {
            let value = self.value(arg);
            self.clobber_value(&value, &havoc, call.span);
        }
        self.unsupported(call.span, reason);
        self.unknown_value(call.ty, &havoc, call.span)
    }
}
