//! Calls: which functions access memory on their own, which order it, and what is not known.

use super::Translator;
use super::expressions::number;
use super::types::Shape;
use crate::builtins::atomics::{Numbering, implied_operand, operand_count};
use crate::builtins::functions::{self, ResultType, conversion_target, function};
use crate::builtins::types::{NamedType, named_type};
use crate::builtins::{Builtin, Copying, Direction, Effect};
use crate::calculus::SyncScope;
use crate::instrument::expressions::{Use, constant};
use crate::instrument::sites::SiteKind;
use crate::source::Language;
use crate::syntax::{Expr, ExprKind, UnaryOp};
use std::fmt::Write;
use std::ops::Range;

/// The tokens of a call.
struct Call {
    /// The name and the parenthesis behind it.
    head: Range<usize>,
    arguments: Vec<Range<usize>>,
    close: usize,
}

impl<'a> Translator<'a> {
    pub(super) fn call(&mut self, expr: &'a Expr, callee: &'a Expr, arguments: &'a [Expr]) {
        let name = match &callee.kind {
            ExprKind::Path(path) => path.segments.last().map_or("", |last| last.name.text.as_str()),
            _ => "",
        };
        if name.is_empty() || self.find(name).is_some() {
            self.notes.leave_out(callee.span, "call of what is no function");
            return self.read_all(arguments);
        }
        if self.own_function(expr, name, arguments) {
            return;
        }
        let meaning = function(Language::OpenCl, name).map(|meaning| meaning.builtin);
        let is_explicit = Numbering::of(Language::OpenCl, name).is_some();
        match meaning {
            Some(meaning) if is_annotation(&meaning) => self.drop_annotation(expr),
            Some(Builtin::Atomic { op, scope, .. }) => {
                let implied = usize::from(implied_operand(Language::OpenCl, name).is_some());
                self.atomic(expr, arguments, scope, is_explicit.then(|| operand_count(op) + 2 - implied));
            }
            Some(Builtin::CompareAndExchange { .. }) => {
                self.atomic(expr, arguments, SyncScope::Grid, is_explicit.then_some(5));
                self.pointee(expr, 1, SiteKind::ReadWrite, arguments);
            }
            Some(Builtin::Barrier { scope, .. }) if self.counts() => {
                self.cover(|counters| match scope {
                    SyncScope::Warp => counters.narrow_barrier(expr),
                    _ => counters.barrier(expr),
                });
                self.read_all(arguments);
            }
            Some(Builtin::Copying(_)) if self.counts() => self.read_all(arguments),
            Some(ref meaning) if self.counts() && vector_access(meaning).is_some() => self.read_all(arguments),
            Some(Builtin::Barrier { scope: SyncScope::Warp, .. }) => {
                self.notes.leave_out(callee.span, "order by a barrier of sub-groups");
                self.read_all(arguments);
            }
            Some(Builtin::Barrier { .. }) => self.barrier(expr, arguments, None),
            Some(Builtin::Copying(Copying::WaitEvents)) => {
                let what = format!("order of what stands around `{name}`, which is taken for a barrier");
                self.notes.leave_out(callee.span, what);
                self.barrier(expr, arguments, Some("3"));
            }
            Some(Builtin::Copying(how @ (Copying::WorkGroupCopy | Copying::StridedCopy))) => {
                self.copy(expr, how, name, arguments);
            }
            Some(ref meaning) if let Some(access) = vector_access(meaning) => {
                self.vector_access(expr, access, name, arguments);
            }
            meaning => {
                match functions::results(Language::OpenCl, name) {
                    [only, ..] => self.pointee(expr, *only, SiteKind::Write, arguments),
                    [] => self.name_unknown(callee, name, meaning),
                }
                self.read_all(arguments);
            }
        }
    }

    fn read_all(&mut self, arguments: &'a [Expr]) {
        arguments.iter().for_each(|argument| self.expr(argument, Use::Read));
    }

    /// A function of the unit: its body logs, for the work-item that is handed on. False if it is none.
    fn own_function(&mut self, expr: &'a Expr, name: &str, arguments: &'a [Expr]) -> bool {
        let Some(&known) = self.functions.get(name) else { return false };
        if known.is_kernel {
            self.refuse(expr.span, format!("a call of the kernel `{name}`"));
        } else if !known.has_body {
            self.notes.leave_out(expr.span, format!("call of `{name}`, whose body is not in the unit"));
        } else {
            match self.tokens_of(expr) {
                Some(call) if arguments.is_empty() => self.edits.before(call.close, "raceproof_self"),
                Some(call) => self.edits.after(call.head.end - 1, "raceproof_self, "),
                None => self.refuse(expr.span, format!("a call of `{name}` that cannot be taken apart")),
            }
        }
        self.read_all(arguments);
        true
    }

    fn name_unknown(&mut self, callee: &Expr, name: &str, meaning: Option<Builtin>) {
        match meaning {
            // What comes from other work-items here orders no memory and is none.
            Some(Builtin::Together(..)) => {}
            Some(Builtin::Image(Direction::Read)) => self.notes.leave_out(callee.span, "image read"),
            Some(Builtin::Image(Direction::Write)) => self.notes.leave_out(callee.span, "image write"),
            Some(Builtin::CopyMemory | Builtin::SetMemory) => {
                self.notes.leave_out(callee.span, format!("call of `{name}`"));
            }
            Some(meaning) => match meaning.effect() {
                Effect::Unmodelled(reason) => self.notes.leave_out(callee.span, reason),
                Effect::Nothing | Effect::Order | Effect::Access => {}
            },
            None if functions::is_about_spaces(name) || conversion_target(Language::OpenCl, name).is_some() => {}
            None => self.notes.leave_out(callee.span, format!("call of `{name}`, which is not in the unit")),
        }
    }

    /// A claim or an assumption is for checkers: the compiler does not know it, and it makes no access.
    fn drop_annotation(&mut self, expr: &Expr) {
        match self.tokens.range(expr.span) {
            Some(range) => self.edits.replace(range, "((void)0)"),
            None => self.notes.leave_out(expr.span, "annotation in a macro that cannot be taken apart"),
        }
    }

    fn tokens_of(&self, expr: &Expr) -> Option<Call> {
        let range = self.tokens.range(expr.span)?;
        let close = (range.start..range.end).rev().find(|&at| self.tokens.text(at) == ")")?;
        let open = self.tokens.partner(close)?;
        // `(f(x))` keeps its parentheses: the call is inside.
        let (open, close) = if open == range.start { self.inner_call(open, close)? } else { (open, close) };
        let mut arguments = Vec::new();
        let (mut start, mut at) = (open + 1, open + 1);
        while at < close {
            match self.tokens.text(at) {
                "(" | "[" | "{" => at = self.tokens.partner(at)?,
                "," => {
                    arguments.push(start..at);
                    start = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        if start < close {
            arguments.push(start..close);
        }
        Some(Call { head: open.checked_sub(1)?..open + 1, arguments, close })
    }

    fn inner_call(&self, mut open: usize, mut close: usize) -> Option<(usize, usize)> {
        while self.tokens.text(open) == "(" && self.tokens.partner(open) == Some(close) {
            (open, close) = (open + 1, close - 1);
        }
        Some((self.tokens.partner(close).filter(|_| self.tokens.text(close) == ")")?, close))
    }

    /// An atomic function: its first argument is the place. `stated` is the position of the scope.
    fn atomic(&mut self, expr: &'a Expr, arguments: &'a [Expr], scope: SyncScope, stated: Option<usize>) {
        let scope = match stated.and_then(|position| arguments.get(position)) {
            Some(argument) => constant(Language::OpenCl, argument).and_then(|scope| Numbering::OpenCl.scope(scope)),
            // Without a scope it is that of the device.
            None if scope == SyncScope::System => Some(SyncScope::Grid),
            None => Some(scope),
        };
        let kind = match scope {
            Some(SyncScope::Block) => 3,
            Some(SyncScope::System) => 5,
            Some(SyncScope::Grid) => 4,
            _ => {
                // What is not known to exempt others exempts nobody.
                self.notes.leave_out(expr.span, "atomicity among fewer than a work-group");
                2
            }
        };
        self.wrap_pointer(expr, 0, (SiteKind::Atomic, kind), arguments);
        self.read_all(arguments);
    }

    /// The argument at `position` points to one object that the function reads or writes.
    fn pointee(&mut self, expr: &'a Expr, position: usize, kind: SiteKind, arguments: &'a [Expr]) {
        self.wrap_pointer(expr, position, (kind, number(kind)), arguments);
    }

    fn wrap_pointer(&mut self, expr: &'a Expr, position: usize, kind: (SiteKind, u8), arguments: &'a [Expr]) {
        let Some(argument) = arguments.get(position).filter(|_| !self.counts()) else { return };
        let object = match &argument.kind {
            ExprKind::Unary(UnaryOp::AddressOf, object) if self.stays_own(object) => return,
            ExprKind::Unary(UnaryOp::AddressOf, object) => object,
            _ => argument,
        };
        let Some(range) = self.tokens_of(expr).and_then(|call| call.arguments.into_iter().nth(position)) else {
            return self.notes.leave_out(expr.span, "access in a macro that cannot be taken apart");
        };
        let site = self.notes.site(kind.0, argument.span, self.array(object));
        self.edits.wrap(range, format!("RACEPROOF_POINTER({site}, {}, (", kind.1), "))");
    }

    /// A barrier is told before it is reached. Its flags are evaluated twice, which changes nothing.
    fn barrier(&mut self, expr: &'a Expr, arguments: &'a [Expr], flags: Option<&str>) {
        let call = self.tokens_of(expr);
        let (Some(call), Some(whole)) = (call, self.tokens.range(expr.span)) else {
            return self.refuse(expr.span, "a barrier in a macro that cannot be taken apart");
        };
        let of_call = || call.arguments.first().map(|range| self.tokens.join(range.clone()));
        let Some(flags) = flags.map(str::to_owned).or_else(of_call) else { return };
        let number = self.shared.barriers.len();
        self.shared.barriers.push(self.tokens.place_of(expr.span));
        self.edits.wrap(whole, format!("(raceproof_barrier(raceproof_self, {number}, ({flags})), "), ")");
        self.read_all(arguments);
    }

    /// `vload4(offset, p)` and its kin become a block that has offset and pointer in variables.
    fn vector_access(&mut self, expr: &'a Expr, access: VectorAccess, name: &str, arguments: &'a [Expr]) {
        let VectorAccess { kind, step, count, element } = access;
        let stores = kind == SiteKind::Write;
        let call = self.tokens_of(expr).filter(|call| call.arguments.len() == 2 + usize::from(stores));
        let (Some(call), Some(pointer)) = (call, arguments.last()) else {
            return self.notes.leave_out(expr.span, format!("`{name}` in a macro that cannot be taken apart"));
        };
        let site = self.notes.site(kind, expr.span, self.array(pointer));
        let mut declare = vec!["__auto_type raceproof_at = (", "size_t raceproof_offset = ("];
        declare.extend(stores.then_some("__auto_type raceproof_value = ("));
        let mut head = String::from("({ ");
        head.push_str(declare.pop().unwrap_or_default());
        self.edits.replace(call.head.clone(), head);
        for range in &call.arguments[..call.arguments.len() - 1] {
            let next = declare.pop().unwrap_or_default();
            self.edits.replace(range.end..range.end + 1, format!("); {next}"));
        }
        let value = if stores { "raceproof_value, " } else { "" };
        let mut after = String::from("); ");
        // Writing to a string cannot fail.
        let _ = write!(
            after,
            "raceproof_at = (__typeof__(raceproof_at))raceproof_access(raceproof_self, {site}, {}, raceproof_at, \
             raceproof_offset * {step} * {element}, {count} * {element}); \
             {name}({value}raceproof_offset, raceproof_at); }})",
            number(kind),
        );
        self.edits.replace(call.close..call.close + 1, after);
        self.read_all(arguments);
    }

    /// An asynchronous copy becomes a block that has its arguments in variables.
    fn copy(&mut self, expr: &'a Expr, how: Copying, name: &str, arguments: &'a [Expr]) {
        let strided = how == Copying::StridedCopy;
        let call = self.tokens_of(expr).filter(|call| call.arguments.len() == 4 + usize::from(strided));
        let (Some(call), [to, from, ..]) = (call, arguments) else {
            return self.notes.leave_out(expr.span, format!("`{name}` in a macro that cannot be taken apart"));
        };
        let written = self.notes.site(SiteKind::Write, to.span, self.array(to));
        let read = self.notes.site(SiteKind::Read, from.span, self.array(from));
        let mut names = vec!["raceproof_to", "raceproof_from", "raceproof_count"];
        names.extend(strided.then_some("raceproof_stride"));
        names.push("raceproof_event");
        let declaration = |name: &str| match name {
            "raceproof_count" | "raceproof_stride" => format!("size_t {name} = ("),
            "raceproof_event" => format!("event_t {name} = ("),
            _ => format!("__auto_type {name} = ("),
        };
        self.edits.replace(call.head.clone(), format!("({{ {}", declaration(names[0])));
        for (range, name) in call.arguments.iter().zip(&names[1..]) {
            self.edits.replace(range.end..range.end + 1, format!("); {}", declaration(name)));
        }
        let how = if strided { "RACEPROOF_STRIDED_COPY" } else { "RACEPROOF_COPY" };
        let after = format!("); {how}({written}, {read}) {name}({}); }})", names.join(", "));
        self.edits.replace(call.close..call.close + 1, after);
        self.read_all(arguments);
    }

    /// The shape of what a call gives.
    pub(super) fn shape_of_call(&self, callee: &'a Expr, arguments: &'a [Expr]) -> Shape<'a> {
        let ExprKind::Path(path) = &callee.kind else { return Shape::Unknown };
        let name = path.segments.last().map_or("", |last| last.name.text.as_str());
        if let Some(known) = self.functions.get(name) {
            return known.result.map_or(Shape::Unknown, |result| self.types.shape(result));
        }
        let named = name.strip_prefix("as_").and_then(|name| named_type(Language::OpenCl, name));
        match named.or_else(|| conversion_target(Language::OpenCl, name)) {
            Some(NamedType::Vector(_, lanes)) => return Shape::Vector(lanes),
            Some(_) => return Shape::Scalar,
            None => {}
        }
        let meaning = function(Language::OpenCl, name);
        match meaning.as_ref().and_then(|meaning| vector_access(&meaning.builtin)) {
            Some(access) if access.kind == SiteKind::Read && access.count > 1 => Shape::Vector(access.count),
            Some(_) => Shape::Scalar,
            None if meaning.is_some_and(|meaning| meaning.result == ResultType::Lane) => Shape::Scalar,
            // Functions over vectors give what they are given.
            None => arguments.first().map_or(Shape::Unknown, |first| match self.shape(first) {
                shape @ (Shape::Scalar | Shape::Vector(_)) => shape,
                _ => Shape::Unknown,
            }),
        }
    }
}

/// What `vloadN`, `vstoreN` and those of `half` access.
struct VectorAccess {
    kind: SiteKind,
    /// Elements by which an offset of one moves on.
    step: u8,
    count: u8,
    /// The size of an element.
    element: &'static str,
}

fn vector_access(meaning: &Builtin) -> Option<VectorAccess> {
    const OF_POINTEE: &str = "sizeof *raceproof_at";
    const OF_HALF: &str = "2";
    let (kind, step, count, element) = match *meaning {
        Builtin::VectorLoad(lanes) => (SiteKind::Read, lanes, lanes, OF_POINTEE),
        Builtin::VectorStore(lanes) => (SiteKind::Write, lanes, lanes, OF_POINTEE),
        Builtin::HalfLoad { lanes, stride } => (SiteKind::Read, stride, lanes, OF_HALF),
        Builtin::HalfStore { lanes, stride } => (SiteKind::Write, stride, lanes, OF_HALF),
        _ => return None,
    };
    Some(VectorAccess { kind, step, count, element })
}

fn is_annotation(meaning: &Builtin) -> bool {
    use Builtin::{Assert, Assume, Claim, Nothing, Require, Specified};
    matches!(meaning, Assert | Claim(_) | Assume | Require | Specified | Nothing)
}
