//! Calls: which arguments are read, and which functions access memory on their own.
//!
//! An argument for a reference parameter of a function of the unit is no access, as the body has it. A function that
//! is not in the unit is known to `builtins`, or it is named in the result.

use super::Backend;
use super::callees::Callees;
use super::expressions::{Use, constant};
use super::facts::{Callable, Passing, last_name};
use super::items::Walker;
use super::scope::Shape;
use super::sites::SiteKind;
use crate::builtins::atomics::{self, Fence, Numbering, operand_count};
use crate::builtins::{Builtin, Copying, Effect, Fragment, functions, groups, phases, pipelines};
use crate::calculus::{AtomicOp, SyncScope};
use crate::syntax::{Expr, ExprKind, Path, PathSegment, Type, TypeKind, UnaryOp};

/// Functions of the standard library that take references and access nothing.
const NAMING: [&str; 6] = ["forward", "move", "addressof", "ref", "cref", "launder"];

/// Functions of the standard library that the runtime has, beyond `builtins`, and that access nothing.
const STANDARD: &[&str] = &[
    "get",
    "tie",
    "make_tuple",
    "make_pair",
    "declval",
    "numeric_limits",
    "exit",
    "equal_to",
    "multiplies",
    "lowest",
    "epsilon",
    "infinity",
    "quiet_NaN",
    "denorm_min",
    "time",
];

/// Whether the cpu back end's runtime has a function for asynchronous copies that accesses nothing.
fn is_of_copies(name: &str) -> bool {
    let of_pipelines = match pipelines::Function::in_library(name) {
        Some(pipelines::Function::Make | pipelines::Function::WaitPrior) => true,
        Some(pipelines::Function::Copy) | None => false,
    };
    of_pipelines
        || groups::Function::named(name) == Some(groups::Function::WaitPrior)
        || pipelines::CopyType::in_library(name) == Some(pipelines::CopyType::AlignedSize)
}

/// Whether the runtime has a free function of cooperative groups.
fn has_group_function(name: &str) -> bool {
    use groups::{Function, Group};
    match groups::Function::named(name) {
        Some(
            Function::This(Group::Block | Group::Grid | Group::Cluster)
            | Function::Running
            | Function::Partition(_)
            | Function::Together(_)
            | Function::Object(_)
            | Function::Wait,
        ) => true,
        // It has ranks and sizes as methods only.
        Some(Function::Method(method)) => groups::Method::named(method) == Some(groups::Method::Sync),
        Some(Function::This(_) | Function::ThisMultiGrid | Function::Copy | Function::WaitPrior) | None => false,
    }
}

impl<'a> Walker<'a> {
    fn callees(&self) -> Callees<'_> {
        Callees { facts: &self.facts, language: self.source.unit.dialect.language() }
    }

    /// Whether a call waits for other threads.
    pub(super) fn waits_for_others(&self, callee: &Expr, arguments: &[Expr]) -> bool {
        self.callees().waits_for_others(callee, arguments)
    }

    /// Whether a thread may stay in a call for good: at a barrier to which others do not come, or since it is ended there.
    pub(super) fn may_stay(&self, callee: &Expr, arguments: &[Expr]) -> bool {
        let ends = |path: &Path| {
            matches!(self.callees().builtin(path, arguments.len()), Some((_, Some(Builtin::End | Builtin::Assert))))
        };
        self.waits_for_others(callee, arguments) || matches!(&callee.kind, ExprKind::Path(path) if ends(path))
    }

    pub(super) fn call(&mut self, expr: &'a Expr, callee: &'a Expr, arguments: &'a [Expr], usage: Use) {
        if self.gives_reference(callee, arguments.len()) {
            self.access(expr, usage);
        }
        if self.waits_for_others(callee, arguments) {
            self.cover(|counters| counters.barrier(expr));
        }
        match &callee.kind {
            ExprKind::Path(path) => {
                if let Some(last) = path.segments.last() {
                    self.call_by_name(callee, last, arguments);
                }
            }
            ExprKind::Member { object, arrow, member } => {
                self.native_sync_method(expr, callee, arguments);
                let is_of_object = self.is_method_of_object(callee);
                if is_of_object && *arrow && self.within.is_on_device() {
                    self.access(object, Use::Told);
                }
                if *arrow {
                    self.pointer(object);
                } else {
                    self.expr(object, Use::Place);
                }
                let name = member.name.text.as_str();
                let found = self.known(name, arguments.len());
                let is_of_pipeline = self.source.backend == Backend::Cpu && pipelines::Method::named(name).is_some();
                if is_of_object || (is_of_pipeline && found.is_empty()) {
                    return self.pass(arguments, &[]);
                }
                if self.within.is_on_device() && found.is_empty() && groups::Method::named(name).is_none() {
                    self.notes.leave_out(callee.span, format!("call of the method `{name}`, which is not in the unit"));
                }
                self.call_other_pass(callee, name);
                self.pass(arguments, &found);
            }
            _ => {
                self.expr(callee, Use::Place);
                let found = self.known("operator()", arguments.len());
                self.pass(arguments, &found);
            }
        }
    }

    fn known(&self, name: &str, count: usize) -> Vec<Callable> {
        self.facts.callables(name, count).into_iter().cloned().collect()
    }

    /// Whether a call denotes an object.
    pub(super) fn gives_reference(&self, callee: &Expr, count: usize) -> bool {
        let name = match &callee.kind {
            ExprKind::Path(path) => match path.segments.last() {
                Some(last) if self.is_local(&last.name.text) => "operator()",
                Some(last) => last.name.text.as_str(),
                None => return false,
            },
            ExprKind::Member { member, .. } => member.name.text.as_str(),
            _ => "operator()",
        };
        self.facts.callables(name, count).iter().any(|callable| callable.returns_reference)
    }

    fn call_by_name(&mut self, callee: &'a Expr, segment: &'a PathSegment, arguments: &'a [Expr]) {
        let name = segment.name.text.as_str();
        if self.is_local(name) {
            let found = match self.scopes.find(name).and_then(|local| local.callable.clone()) {
                Some(callable) => vec![callable],
                None => self.known("operator()", arguments.len()),
            };
            self.expr(callee, Use::Place);
            return self.pass(arguments, &found);
        }
        // A user's own overload beside the builtin does not make the builtin's accesses go away.
        if self.atomic(name, arguments) {
            return;
        }
        let found = self.known(name, arguments.len());
        if !found.is_empty() {
            if self.within.is_on_device() {
                self.name_foreign(callee, name, &found);
                self.call_other_pass(callee, name);
            }
            return self.pass(arguments, &found);
        }
        if self.facts.is_record(name) {
            let found = self.known(&format!("new {name}"), arguments.len());
            return self.pass(arguments, &found);
        }
        if self.facts.is_type_name(name) {
            return self.pass(arguments, &[]);
        }
        self.native_sync_call(callee, name, arguments);
        self.library(callee, name, arguments);
    }

    /// Names a function of the unit whose body is not instrumented.
    fn name_foreign(&mut self, callee: &Expr, name: &str, found: &[Callable]) {
        let is_builtin = functions::function(self.source.unit.dialect.language(), name).is_some();
        if found.iter().all(|callable| !callable.has_body) {
            self.notes.leave_out(callee.span, format!("call of `{name}`, whose body is not in the unit"));
        } else if !is_builtin && found.iter().all(|callable| !callable.is_device) {
            self.notes.leave_out(callee.span, format!("call of `{name}`, a function of the host"));
        }
    }

    /// A function that the unit does not declare.
    fn library(&mut self, callee: &'a Expr, name: &str, arguments: &'a [Expr]) {
        let meaning = functions::function(self.source.unit.dialect.language(), name).map(|meaning| meaning.builtin);
        if NAMING.contains(&name) {
            return arguments.iter().for_each(|argument| self.expr(argument, Use::Place));
        }
        if name == "swap" && arguments.len() == 2 {
            return arguments.iter().for_each(|argument| self.expr(argument, Use::ReadWrite));
        }
        let results = functions::results(self.source.unit.dialect.language(), name);
        if !results.is_empty() {
            return self.pointees(arguments, results, SiteKind::Write);
        }
        if self.source.backend == Backend::Cpu && self.of_objects(meaning.as_ref(), name, arguments) {
            return;
        }
        match meaning {
            Some(Builtin::CopyMemory) if arguments.len() == 3 => {
                self.memory(callee, arguments, &[(0, SiteKind::Write), (1, SiteKind::Read)]);
            }
            Some(Builtin::SetMemory) if arguments.len() == 3 => {
                self.memory(callee, arguments, &[(0, SiteKind::Write)]);
            }
            Some(Builtin::CachedLoad) => self.pointees(arguments, &[0], SiteKind::Read),
            meaning => {
                if self.within.is_on_device()
                    && let Some(what) = self.not_logged(meaning, name, arguments)
                {
                    self.notes.leave_out(callee.span, what);
                }
                self.pass(arguments, &[]);
            }
        }
    }

    /// What a function does to memory on its own, in words, if anything.
    fn not_logged(&self, meaning: Option<Builtin>, name: &str, arguments: &[Expr]) -> Option<String> {
        match meaning {
            Some(Builtin::Surface(..)) => Some(format!("access to a surface (`{name}`)")),
            Some(Builtin::Copying(Copying::Copy)) => Some(format!("asynchronous copy (`{name}`)")),
            Some(Builtin::Fragment(Fragment::Load | Fragment::Store)) => Some(format!("access to a matrix (`{name}`)")),
            Some(Builtin::Random(_)) => {
                let is_own = arguments.iter().any(|argument| self.is_own_address(argument));
                (!is_own).then(|| format!("state of random numbers (`{name}`)"))
            }
            Some(meaning) => match meaning.effect() {
                Effect::Unmodelled(reason) => Some(reason.to_owned()),
                // Accesses are logged where they are called, or by the runtime.
                Effect::Nothing | Effect::Order | Effect::Access => None,
            },
            None if !is_provided(name) => Some(format!("call of `{name}`, which is not in the unit")),
            None => None,
        }
    }

    /// What the cpu back end has for objects by which threads synchronise, beside their methods. False if it is none of these.
    fn of_objects(&mut self, meaning: Option<&Builtin>, name: &str, arguments: &'a [Expr]) -> bool {
        let is_copy = groups::Function::named(name) == Some(groups::Function::Copy);
        match arguments {
            [first, ..] if phases::is_of_hardware(name) => {
                if self.within.is_on_device() && !phases::is_about_all(name) {
                    self.wrap_pointer(first, SiteKind::Atomic, "on", ")");
                }
                self.pass(arguments, &[]);
            }
            [first, _] if phases::is_init(name) => {
                // What is named behind `&` is told where it is named.
                let is_named = matches!(first.kind, ExprKind::Unary(UnaryOp::AddressOf, _));
                if self.within.is_on_device() && !is_named {
                    self.wrap_pointer(first, SiteKind::Atomic, "on", ")");
                }
                self.pass(arguments, &[]);
            }
            _ if is_of_copies(name) || Fence::is_in_library(name) || Fence::is_of_signals(name) => {
                self.pass(arguments, &[]);
            }
            [to, from, _, ..] if meaning == Some(&Builtin::Copying(Copying::Copy)) => {
                self.copied(arguments, [to, from])
            }
            // Of a thread if it begins with a place, of a group if it begins with one.
            [to, from, _, _] if is_copy && self.is_pointer(to) => self.copied(arguments, [to, from]),
            [_, to, from, _] | [_, to, from, _, _] if is_copy => self.copied(arguments, [to, from]),
            _ => return false,
        }
        true
    }

    fn is_pointer(&self, expr: &Expr) -> bool {
        matches!(self.shape(expr), Shape::Pointer(_) | Shape::Array(_))
    }

    /// A copy that the runtime makes, and logs where it makes it: which threads of a group copy what is for it to know.
    fn copied(&mut self, arguments: &'a [Expr], [to, from]: [&'a Expr; 2]) {
        if self.within.is_on_device() {
            self.wrap_pointer(to, SiteKind::Write, "to", ")");
            self.wrap_pointer(from, SiteKind::Read, "from", ")");
        }
        self.pass(arguments, &[]);
    }

    /// Arguments, each as all that may be called takes it.
    fn pass(&mut self, arguments: &'a [Expr], found: &[Callable]) {
        for (position, argument) in arguments.iter().enumerate() {
            let by_reference = |callable: &Callable| callable.params.get(position) == Some(&Passing::Reference);
            let all = !found.is_empty() && found.iter().all(by_reference);
            self.expr(argument, if all { Use::Place } else { Use::Read });
        }
    }

    /// The values that an object of this type is made of.
    pub(super) fn constructed(&mut self, ty: &Type, values: &'a [Expr]) {
        let found = match Shape::of(ty, &self.facts) {
            Shape::Record(name) => self.known(&format!("new {name}"), values.len()),
            // It refers to what it is given.
            Shape::Object if last_name(self.facts.resolved(ty)).is_some_and(|name| is_reference(&name)) => {
                if let Some(value) = values.first() {
                    self.not_followed(value.span, "`atomic_ref`".to_owned());
                }
                return values.iter().for_each(|value| self.expr(value, Use::Place));
            }
            _ => Vec::new(),
        };
        self.pass(values, &found);
    }

    /// A member's initialiser.
    pub(super) fn initialize_member(&mut self, name: &str, values: &'a [Expr]) {
        let field = self.within.record().and_then(|record| self.facts.field(record, name)).cloned();
        match field {
            Some(ty) if self.facts.is_reference(&ty) => {
                values.iter().for_each(|value| self.expr(value, Use::Place));
            }
            Some(ty) => self.constructed(&ty, values),
            None => self.pass(values, &[]),
        }
    }

    /// An atomic function: its first argument is the place. False if it is none.
    fn atomic(&mut self, name: &str, arguments: &'a [Expr]) -> bool {
        let Some(first) = arguments.first() else { return false };
        let language = self.source.unit.dialect.language();
        let meaning = functions::function(language, name).map(|meaning| meaning.builtin);
        if Numbering::of(language, name).is_some() {
            self.not_followed(first.span, format!("`{name}`"));
        }
        // The scope stands behind the operands and the orders.
        let (scope, stated, expected) = match meaning {
            Some(Builtin::Atomic { op, scope, .. }) => (scope, operand_count(op) + 2, None),
            Some(Builtin::CompareAndExchange { scope, .. }) => (scope, 6, Some(1)),
            _ => return false,
        };
        let scope = match Numbering::of(language, name) {
            None => Some(scope),
            Some(numbering) => match arguments.get(stated) {
                None => Some(numbering.usual_scope()),
                Some(scope) => constant(language, scope).and_then(|scope| numbering.scope(scope)),
            },
        };
        if self.within.is_on_device() {
            let only_reads = matches!(meaning, Some(Builtin::Atomic { op: AtomicOp::Load, .. }));
            // nvcc's runtime knows one kind of atomics.
            let only_reads = only_reads && self.source.backend == Backend::Cpu;
            let scope = match scope {
                Some(SyncScope::Block) if only_reads => Some("block_load"),
                Some(SyncScope::Grid) if only_reads => Some("device_load"),
                Some(SyncScope::System) if only_reads => Some("system_load"),
                Some(SyncScope::Block) => Some("block_scope"),
                Some(SyncScope::Grid) => Some("device_scope"),
                Some(SyncScope::System) => Some("system_scope"),
                Some(SyncScope::Warp | SyncScope::Cluster) | None => None,
            };
            match scope {
                Some(scope) => self.wrap_pointer(first, SiteKind::Atomic, "at", &format!(", ::raceproof::{scope})")),
                None => self.notes.leave_out(first.span, format!("the scope of `{name}`")),
            }
        }
        self.pointees(arguments, expected.as_slice(), SiteKind::ReadWrite);
        true
    }

    fn wrap_pointer(&mut self, pointer: &Expr, kind: SiteKind, name: &str, after: &str) {
        let Some(range) = self.tokens.range(pointer.span) else {
            return self.notes.leave_out(pointer.span, "access in a macro that cannot be taken apart".to_owned());
        };
        let object = match &pointer.kind {
            ExprKind::Unary(UnaryOp::AddressOf, object) => object,
            _ => pointer,
        };
        let site = self.notes.site(kind, pointer.span, self.array(object));
        self.edits.wrap(range, format!("::raceproof::{name}({site}, "), after);
    }

    /// Arguments that point to one object each, which the function reads or writes.
    fn pointees(&mut self, arguments: &'a [Expr], positions: &[usize], kind: SiteKind) {
        for (position, argument) in arguments.iter().enumerate() {
            if positions.contains(&position) && self.within.is_on_device() && !self.is_own_address(argument) {
                let text = self.tokens.range(argument.span).map(|range| self.tokens.join(range)).unwrap_or_default();
                self.wrap_pointer(argument, kind, range_wrapper(kind), &format!(", sizeof *({text}))"));
            }
            self.expr(argument, Use::Read);
        }
    }

    fn is_own_address(&self, argument: &Expr) -> bool {
        matches!(&argument.kind, ExprKind::Unary(UnaryOp::AddressOf, object) if self.stays_own(object))
    }

    /// `memcpy` and its kin: as many bytes as the last argument says.
    fn memory(&mut self, callee: &'a Expr, arguments: &'a [Expr], parts: &[(usize, SiteKind)]) {
        if self.within.is_on_device() {
            let bytes = &arguments[2];
            match self.tokens.range(bytes.span).filter(|_| can_repeat(bytes)) {
                Some(range) => {
                    let after = format!(", {})", self.tokens.join(range));
                    for &(position, kind) in parts {
                        self.wrap_pointer(&arguments[position], kind, range_wrapper(kind), &after);
                    }
                }
                None => self.notes.leave_out(callee.span, "copy whose size cannot be evaluated twice".to_owned()),
            }
        }
        arguments.iter().for_each(|argument| self.expr(argument, Use::Read));
    }
}

fn is_reference(class: &str) -> bool {
    atomics::Class::in_library(class) == Some(atomics::Class::Reference)
}

fn range_wrapper(kind: SiteKind) -> &'static str {
    if kind == SiteKind::Read { "rd_range" } else { "wr_range" }
}

/// Whether a call of this name needs no body: a conversion, a maker of vectors, what the runtime has.
fn is_provided(name: &str) -> bool {
    let ends_in_lanes = name.ends_with(['1', '2', '3', '4']);
    STANDARD.contains(&name)
        || has_group_function(name)
        || functions::is_about_clusters(name)
        || name.starts_with("make_")
        || ends_in_lanes
        || name.starts_with("cuda")
        || name.starts_with("operator")
}

/// Whether an expression can be evaluated a second time without effect.
fn can_repeat(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call(..) | ExprKind::Assign(..) | ExprKind::Postfix(..) | ExprKind::Unsupported(_) => false,
        ExprKind::Lambda(_) | ExprKind::Statements(_) => false,
        ExprKind::Unary(UnaryOp::PreIncrement | UnaryOp::PreDecrement, _) | ExprKind::Launch { .. } => false,
        ExprKind::Unary(_, inner) => can_repeat(inner),
        ExprKind::Cast(_, ty, inner) => !matches!(ty.kind, TypeKind::Unsupported(_)) && can_repeat(inner),
        ExprKind::Member { object, .. } => can_repeat(object),
        ExprKind::Binary(_, left, right) | ExprKind::Comma(left, right) | ExprKind::Index(left, right) => {
            can_repeat(left) && can_repeat(right)
        }
        ExprKind::Conditional(cond, yes, no) => can_repeat(cond) && can_repeat(yes) && can_repeat(no),
        ExprKind::Construct(_, values) => values.iter().all(can_repeat),
        ExprKind::InitList(_) => false,
        _ => true,
    }
}
