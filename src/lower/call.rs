//! Calls: functions of the program are inlined. Those that are not defined change what their pointer arguments and the unit's
//! global variables hold; or they are functions of their arguments, which is assumed and printed ([`Relied::External`]).
//!
//! Guarantees: that assumption is made where a call gives a value that is used, its name says nothing else
//! ([`external`](crate::builtins::external)), and no pointer among its arguments leads to what threads share. Objects that stand
//! among them by their names are read then, and not changed, unless they were declared without a value; the thread's own that are
//! handed over by their addresses may change. Equal arguments give equal values in all threads, but for what is handed nothing, or
//! named as what differs from thread to thread.
//!
//! Deliberately absent: what such a function may read beside its arguments, and whether the user lets the assumption stand
//! (`driver::passes`).

use super::builtin::Use;
use super::pass::{Frame, Pass};
use super::storage::facts::{Target, TargetId};
use super::storage::place::is_object;
use super::value::{Base, Place, STRING, Value};
use super::walk::scan;
use crate::builtins::{external, functions, telling};
use crate::calculus::{ArrayId, Function, HavocReason, Relied, Unsupported};
use crate::resolve::program::{Callee, Expr, ExprKind, FunctionId, Storage, Type, TypeId};
use crate::source::Span;

/// Calls inside calls beyond which nothing is inlined.
const MAX_INLINE_DEPTH: usize = 48;

/// The name of what is called, its arguments, and why it is not known.
pub(super) type Handed<'e> = (&'e str, &'e [Expr], &'e Callee);

/// The same of what is not defined, with the places of the arguments that are addresses of objects which stand there by their names.
type ByName<'e> = (&'e str, &'e [Expr], &'e [usize]);

impl Pass<'_> {
    /// A call of a function of the program.
    pub(super) fn call(&mut self, function: FunctionId, args: &[Expr], call: &Expr) -> Value {
        let callee = &self.program.functions[function];
        if callee.body.is_none() {
            let is_one_of_several = !callee.template_args.is_empty()
                || self.program.functions.iter().any(|(other, it)| other != function && it.name == callee.name);
            let which = if is_one_of_several { Callee::OneOfSeveral } else { Callee::Undefined(Vec::new()) };
            return self.unknown_call((&callee.name, args, &which), call, Use::Needed);
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
        // Of one name there is one function for each list of arguments.
        if external::is_instance(name) || self.may_hide_addresses(args) {
            return false;
        }
        let mut arrays = Vec::new();
        for (position, (value, arg)) in values.iter().zip(args).enumerate() {
            let is_by_name = by_name.contains(&position);
            let is_whole = match self.reached_by(value, arg) {
                Reached::Itself => true,
                Reached::Number => is_by_name || is_address_of_variable(arg),
                Reached::More => false,
            };
            if !is_whole || !is_by_name && self.reach(value, &mut arrays) {
                return false;
            }
        }
        arrays.is_empty()
    }

    /// Whether a number among the arguments may be an address.
    fn may_hide_addresses(&mut self, args: &[Expr]) -> bool {
        let is_wide = |arg: &Expr| matches!(self.program.types[arg.ty], Type::Int { width: 32.., .. });
        args.iter().any(is_wide) && self.scans.numbers_of_addresses(self.program)
    }

    /// What a function can reach by an argument. Addresses may lead to further ones, and an object of a class may bring code.
    /// Objects of types that nothing declares are handed over as values, too.
    fn reached_by(&self, value: &Value, arg: &Expr) -> Reached {
        let Value::Pointer(pointer) = value else {
            let is_more = matches!(self.program.types[arg.ty], Type::Record(_) | Type::Array { .. });
            return if is_more { Reached::More } else { Reached::Itself };
        };
        let targets = match &pointer.base {
            Base::Target(target) => std::slice::from_ref(target),
            Base::OneOf { targets, .. } => targets.as_slice(),
            Base::Unknown(_) => &[],
        };
        let is_code = targets.iter().any(|target| matches!(self.facts.key(*target), Target::Function(_)));
        let Some(ty) = self.layout.pointee(arg.ty).filter(|_| !is_code) else { return Reached::More };
        let is_number = match self.program.types[ty] {
            Type::Vector { .. } => true,
            Type::Pointer { .. } => false,
            _ => self.layout.scalar(ty).is_some(),
        };
        let is_string = matches!(&pointer.base, Base::Unknown(reason) if *reason == STRING);
        match is_string || matches!(self.program.types[ty], Type::Unknown(_)) {
            true => Reached::Itself,
            false if is_number => Reached::Number,
            false => Reached::More,
        }
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
        let ExprKind::Variable(variable) = object.kind else { return false };
        let declared = &self.program.variables[variable];
        declared.storage == Storage::Local && !declared.has_initializer
    }

    /// A call that is taken for a function of its arguments.
    fn external(&mut self, (name, args, by_name): ByName<'_>, values: &[Value], call: &Expr) -> Value {
        let what = match external::member_of(name) {
            Some((of, member)) => Relied::Member(of.to_owned(), member.to_owned()),
            None => Relied::External(name.to_owned()),
        };
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
        // What it reads behind an address is none of the values that are known.
        let reads_behind = |(position, value): (usize, &Value)| {
            let behind = self.layout.pointee(args[position].ty).map(|ty| &self.program.types[ty]);
            let is_given = !by_name.contains(&position) && is_address_of_variable(&args[position]);
            is_given && matches!(value, Value::Pointer(_)) && !matches!(behind, Some(Type::Unknown(_)))
        };
        let reads_more = values.iter().enumerate().any(reads_behind);
        if args.is_empty() || reads_more || external::may_differ(name) {
            return self.unknown_value(call.ty, &reason, call.span);
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
        let mut anywhere = self.may_hide_addresses(args);
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

/// What a function can reach by an argument.
enum Reached {
    /// The argument itself.
    Itself,
    /// A number behind an address.
    Number,
    /// What may hang on more than the argument.
    More,
}

/// `&x` of a variable.
fn is_address_of_variable(arg: &Expr) -> bool {
    matches!(&arg.kind, ExprKind::AddressOf(object) if matches!(object.kind, ExprKind::Variable(_)))
}
