//! Calls: which functions access memory on their own, which order it, and what is not known.

use super::Walker;
use super::expressions::number;
use super::types::Shape;
use crate::builtins::atomics::{Numbering, operand_count};
use crate::builtins::functions::{conversion_target, function};
use crate::builtins::types::{NamedType, named_type};
use crate::builtins::{Builtin, Direction};
use crate::calculus::SyncScope;
use crate::instrument::expressions::{Use, constant};
use crate::instrument::sites::SiteKind;
use crate::source::Language;
use crate::syntax::{Expr, ExprKind, UnaryOp};
use std::fmt::Write;
use std::ops::Range;

/// Functions that write one object through a pointer: their names and the position of that argument.
const WRITING: [(&str, usize); 7] =
    [("sincos", 1), ("fract", 1), ("modf", 1), ("frexp", 1), ("remquo", 2), ("lgamma_r", 1), ("atomic_init", 0)];

/// What OpenCL has and `builtins` does not name; none of it accesses memory that work-items share.
const HARMLESS: [&str; 7] =
    ["to_global", "to_local", "to_private", "get_fence", "islessgreater", "isordered", "isunordered"];

/// The tokens of a call.
struct Call {
    /// The name and the parenthesis behind it.
    head: Range<usize>,
    arguments: Vec<Range<usize>>,
    close: usize,
}

impl<'a> Walker<'a> {
    pub(super) fn call(&mut self, expr: &'a Expr, callee: &'a Expr, arguments: &'a [Expr]) {
        let name = match &callee.kind {
            ExprKind::Path(path) => path.segments.last().map_or("", |last| last.name.text.as_str()),
            _ => "",
        };
        if name.is_empty() || self.find(name).is_some() {
            self.leave_out(callee.span, "call of what is no function");
            return self.read_all(arguments);
        }
        if self.own_function(expr, name, arguments) {
            return;
        }
        let meaning = function(Language::OpenCl, name).map(|meaning| meaning.builtin);
        match (meaning, name) {
            (Some(meaning), _) if is_annotation(&meaning) => self.drop_annotation(expr),
            (Some(Builtin::Atomic { op, scope, .. }), _) => {
                let stated = name.ends_with("_explicit").then(|| operand_count(op) + 2);
                self.atomic(expr, arguments, scope, stated);
            }
            (_, "atomic_flag_test_and_set" | "atomic_flag_clear") => {
                self.atomic(expr, arguments, SyncScope::Grid, None);
            }
            (_, "atomic_flag_test_and_set_explicit" | "atomic_flag_clear_explicit") => {
                self.atomic(expr, arguments, SyncScope::Grid, Some(2));
            }
            (_, name) if name.starts_with("atomic_compare_exchange_") => {
                let stated = name.ends_with("_explicit").then_some(5);
                self.atomic(expr, arguments, SyncScope::Grid, stated);
                self.pointee(expr, 1, SiteKind::ReadWrite, arguments);
            }
            (_, "barrier" | "work_group_barrier") => self.barrier(expr, arguments, None),
            (_, "wait_group_events") => {
                self.leave_out(
                    callee.span,
                    "order of what stands around `wait_group_events`, which is taken for a barrier",
                );
                self.barrier(expr, arguments, Some("3"));
            }
            (_, "sub_group_barrier") => {
                self.leave_out(callee.span, "order by a barrier of sub-groups");
                self.read_all(arguments);
            }
            (_, "async_work_group_copy" | "async_work_group_strided_copy") => self.copy(expr, name, arguments),
            (_, name) if vector_access(name).is_some() => self.vector_access(expr, name, arguments),
            (_, name) if WRITING.iter().any(|(known, _)| *known == name) => {
                let position = WRITING.iter().find(|(known, _)| *known == name).map_or(0, |(_, position)| *position);
                self.pointee(expr, position, SiteKind::Write, arguments);
                self.read_all(arguments);
            }
            (meaning, name) => {
                self.name_unknown(callee, name, meaning);
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
            self.leave_out(expr.span, format!("call of `{name}`, whose body is not in the unit"));
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
            Some(Builtin::Image(Direction::Read)) => self.leave_out(callee.span, "image read"),
            Some(Builtin::Image(Direction::Write)) => self.leave_out(callee.span, "image write"),
            Some(Builtin::Unmodelled { reason, touches_memory: true }) => self.leave_out(callee.span, reason),
            Some(Builtin::CopyMemory | Builtin::SetMemory) => {
                self.leave_out(callee.span, format!("call of `{name}`"));
            }
            None if !HARMLESS.contains(&name) && conversion_target(Language::OpenCl, name).is_none() => {
                self.leave_out(callee.span, format!("call of `{name}`, which is not in the unit"));
            }
            _ => {}
        }
    }

    /// A claim or an assumption is for checkers: the compiler does not know it, and it makes no access.
    fn drop_annotation(&mut self, expr: &Expr) {
        match self.tokens.range(expr.span) {
            Some(range) => self.edits.replace(range, "((void)0)"),
            None => self.leave_out(expr.span, "annotation in a macro that cannot be taken apart"),
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
                self.leave_out(expr.span, "atomicity among fewer than a work-group");
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
        let Some(argument) = arguments.get(position) else { return };
        let object = match &argument.kind {
            ExprKind::Unary(UnaryOp::AddressOf, object) if self.stays_own(object) => return,
            ExprKind::Unary(UnaryOp::AddressOf, object) => object,
            _ => argument,
        };
        let Some(range) = self.tokens_of(expr).and_then(|call| call.arguments.into_iter().nth(position)) else {
            return self.leave_out(expr.span, "access in a macro that cannot be taken apart");
        };
        let site = self.site(kind.0, argument.span, self.array(object));
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
    fn vector_access(&mut self, expr: &'a Expr, name: &str, arguments: &'a [Expr]) {
        let Some(VectorAccess { kind, step, count, element }) = vector_access(name) else { return };
        let stores = kind == SiteKind::Write;
        let call = self.tokens_of(expr).filter(|call| call.arguments.len() == 2 + usize::from(stores));
        let (Some(call), Some(pointer)) = (call, arguments.last()) else {
            return self.leave_out(expr.span, format!("`{name}` in a macro that cannot be taken apart"));
        };
        let site = self.site(kind, expr.span, self.array(pointer));
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
    fn copy(&mut self, expr: &'a Expr, name: &str, arguments: &'a [Expr]) {
        let strided = name == "async_work_group_strided_copy";
        let call = self.tokens_of(expr).filter(|call| call.arguments.len() == 4 + usize::from(strided));
        let (Some(call), [to, from, ..]) = (call, arguments) else {
            return self.leave_out(expr.span, format!("`{name}` in a macro that cannot be taken apart"));
        };
        let written = self.site(SiteKind::Write, to.span, self.array(to));
        let read = self.site(SiteKind::Read, from.span, self.array(from));
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
        match vector_access(name) {
            Some(access) if access.kind == SiteKind::Read && access.count > 1 => Shape::Vector(access.count),
            Some(_) => Shape::Scalar,
            None if matches!(name, "dot" | "length" | "distance" | "fast_length" | "fast_distance") => Shape::Scalar,
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

fn vector_access(name: &str) -> Option<VectorAccess> {
    let (kind, rest) = match name.strip_prefix("vload") {
        Some(rest) => (SiteKind::Read, rest),
        None => (SiteKind::Write, name.strip_prefix("vstore")?),
    };
    let rest = ["_rte", "_rtz", "_rtp", "_rtn"].iter().find_map(|suffix| rest.strip_suffix(suffix)).unwrap_or(rest);
    let is_count = |count: &u8| matches!(count, 2 | 3 | 4 | 8 | 16);
    if let Some(lanes) = rest.strip_prefix("a_half").or_else(|| rest.strip_prefix("_half")) {
        let count = if lanes.is_empty() { 1 } else { lanes.parse().ok().filter(is_count)? };
        let step = if rest.starts_with('a') && count == 3 { 4 } else { count };
        return Some(VectorAccess { kind, step, count, element: "2" });
    }
    let count = rest.parse().ok().filter(is_count)?;
    Some(VectorAccess { kind, step: count, count, element: "sizeof *raceproof_at" })
}

fn is_annotation(meaning: &Builtin) -> bool {
    matches!(meaning, Builtin::Assert | Builtin::Claim(_) | Builtin::Assume | Builtin::Specified | Builtin::Nothing)
}
