//! Edits for nvcc, beside those around accesses.
//!
//! A kernel stays what it is and begins with an object of the runtime, which has the kernel's number and its
//! parameters: its constructor tells the host what was launched, its destructor that the thread is done. Launches,
//! storage and functions for host and device are nvcc's own business. Where the cpu back end's barriers count
//! themselves, here calls of barriers are turned to functions of the runtime that count and then call them.
//!
//! Deliberately absent: anything about how records travel (`runtime/cuda`).

use super::callees::counting;
use super::items::Walker;
use super::notes::{LeftOut, Notes};
use super::registered::Registered;
use super::sites;
use super::token_edits::quoted;
use super::{Backend, DEVICE_PASS, Source, add_body, define, define_reader, defines};
use crate::builtins::functions::function;
use crate::builtins::{Builtin, atomics, groups, phases, pipelines};
use crate::source::{Language, SourceMap, Span};
use crate::syntax::{Expr, ExprKind, Function, Item, Variable};
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

/// Whether a call orders threads in a way that the runtime does not log.
fn is_unfollowed(meaning: Option<&Builtin>, name: &str) -> bool {
    let of_groups = match groups::Function::named(name) {
        // A group that waits for its copies: it is a barrier, too.
        Some(groups::Function::Wait | groups::Function::WaitPrior) => true,
        // Blocks of a cluster hand memory over at its barrier.
        Some(groups::Function::This(groups::Group::Cluster)) => true,
        _ => false,
    };
    of_groups
        || matches!(meaning, Some(Builtin::Fence(_)))
        || atomics::Fence::is_in_library(name)
        || atomics::Class::in_library(name) == Some(atomics::Class::Reference)
        || phases::is_of_hardware(name)
}

/// How names of PTX instructions begin, or what they hold, that order threads.
const ORDERING: [&str; 4] = ["bar", "membar", "mbarrier", "fence"];
const ORDERS: [&str; 3] = [".acquire", ".release", ".acq_rel"];

/// The header that declares groups of threads.
const GROUPS: &str = "cooperative_groups";

/// A message that stops the compiler only where it compiles for the device.
pub(super) fn for_device(message: &str) -> String {
    format!("#ifdef __CUDA_ARCH__\n{message}\n#endif")
}

/// The body between what it needs before its first line and the tables: of sites, kernels, shared variables, and what is
/// not logged. They are in the object of the unit, so that a program knows its units wherever they were compiled.
pub(super) fn whole(source: &Source<'_>, body: &str, notes: &Notes<'_>, registered: &Registered) -> String {
    let mut text = String::new();
    if source.output.missing_includes.iter().any(|include| include.name.starts_with(GROUPS)) {
        text.push_str("#define RACEPROOF_GROUPS 1\n");
    }
    text.push_str("#include \"raceproof.hpp\"\n");
    define_reader(&mut text);
    // The device pass is the compiler's own here.
    for (name, value) in defines(source).filter(|(name, _)| DEVICE_PASS.iter().all(|(own, _)| own != name)) {
        define(&mut text, name, value);
    }
    add_body(&mut text, source, body);
    text.push_str("#line 1 \"<sites>\"\nstatic ::raceproof::unit raceproof_unit(R\"raceproof(");
    text.push_str(&sites::table(&notes.sites, &source.output.sources));
    text.push_str(")raceproof\", R\"raceproof(");
    for kernel in &registered.kernel_parameters {
        text.extend([&kernel.join("\t"), "\n"]);
    }
    text.push_str(")raceproof\", R\"raceproof(");
    for name in &registered.shared {
        text.extend([name, "\n"]);
    }
    text.push_str(")raceproof\", R\"raceproof(");
    for left_out in &notes.left_out {
        text.extend([&line(left_out, &source.output.sources), "\n"]);
    }
    text.push_str(")raceproof\");\n");
    text
}

/// What is not logged, and where.
fn line(left_out: &LeftOut, sources: &SourceMap) -> String {
    let place = sites::place(left_out.span, sources);
    let inside = if left_out.function.is_empty() { String::new() } else { format!(" in {}", left_out.function) };
    sites::field(&format!("{place}: {}{inside}", left_out.what))
}

/// A unit as the user wrote it, which says of itself in one line that it is not logged.
pub fn unlogged(path: &Path, text: &str, why: &str) -> String {
    let path = path.display().to_string();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    // It stands between quotes: a standard before C++11 has no other texts.
    let line = quoted(&sites::field(&format!("{path}: none of its kernels is logged: {why}")));
    format!(
        "#include \"unlogged.hpp\"\n#line 1 {}\n{text}{end}#line 1 \"<unlogged>\"\n\
         static ::raceproof_cuda::unlogged raceproof_unit({line});\n",
        quoted(&path)
    )
}

impl Walker<'_> {
    /// Puts the runtime's object first in a kernel.
    pub(super) fn native_kernel(&mut self, item: &Item, function: &Function) {
        let Some((open, _)) = self.braces(item) else {
            return self.notes.leave_out(item.span, "kernel whose body cannot be found".to_owned());
        };
        let mut head =
            format!(" ::raceproof::kernel raceproof_kernel({}", self.registered.kernel(self.notes.function()));
        let mut row = vec![self.notes.function().to_owned()];
        for param in &function.params {
            if !param.name.text.is_empty() && !param.pack {
                // Writing to a string cannot fail.
                let _ = write!(head, ", {}", param.name.text);
                row.push(param.name.text.clone());
            }
        }
        head.push_str(");");
        self.registered.kernel_parameters.push(row);
        self.edits.after(open, head);
    }

    /// Tells the extents of shared variables behind their declaration.
    pub(super) fn native_shared(&mut self, range: Range<usize>, variables: &[Variable]) {
        let mut text = String::new();
        for variable in variables {
            let name = &variable.name.text;
            // Writing to a string cannot fail.
            let _ = write!(text, " ::raceproof::shared({}, &{name}, sizeof {name});", self.registered.shared(name));
        }
        self.edits.after(range.end - 1, text);
    }

    pub(super) fn counts_syncs(&self) -> bool {
        self.source.backend == Backend::Cuda && self.within.is_on_device()
    }

    /// Names what orders threads where the log has no words for it.
    pub(super) fn not_followed(&mut self, span: Span, what: String) {
        if self.counts_syncs() {
            self.notes.leave_unordered(span, what);
        }
    }

    /// A text of PTX.
    pub(super) fn native_assembly(&mut self, span: Span, text: &str) {
        // A predicate may stand before an instruction.
        let words = text.split([';', '{', '}', '"', '\n']).flat_map(|line| line.split_whitespace());
        let orders = |word: &str| {
            ORDERING.iter().any(|start| word.starts_with(start)) || ORDERS.iter().any(|part| word.contains(part))
        };
        if let Some(instruction) = words.filter(|word| !word.starts_with('%')).find(|word| orders(word)) {
            self.not_followed(span, format!("`{instruction}` in inline assembly"));
        }
    }

    /// A call of a barrier by its name.
    pub(super) fn native_sync_call(&mut self, callee: &Expr, name: &str, arguments: &[Expr]) {
        // One that is made of nothing is a thread's own.
        let is_pipeline = pipelines::Function::in_library(name) == Some(pipelines::Function::Make);
        let meaning = function(Language::Cuda, name).map(|known| known.builtin);
        if is_unfollowed(meaning.as_ref(), name) || is_pipeline && !arguments.is_empty() {
            self.not_followed(callee.span, format!("`{name}`"));
        }
        let Some(own) = counting(meaning.as_ref(), name).filter(|_| self.counts_syncs()) else {
            return;
        };
        if meaning.is_none() && arguments.len() != 1 {
            return;
        }
        match self.tokens.range(callee.span) {
            Some(range) => self.edits.replace(range, format!("::raceproof::{own}")),
            None => self.not_followed(callee.span, format!("`{name}` in a macro that cannot be taken apart")),
        }
    }

    /// `group.sync()`; the object is walked by whoever asks.
    pub(super) fn native_sync_method(&mut self, call: &Expr, callee: &Expr, arguments: &[Expr]) {
        let ExprKind::Member { object, arrow, member } = &callee.kind else { return };
        let name = member.name.text.as_str();
        if !self.counts_syncs() {
            return;
        }
        let method = groups::Method::named(name);
        // The log has no words for half a barrier.
        if matches!(method, Some(groups::Method::Arrive | groups::Method::Wait)) {
            return self.not_followed(callee.span, format!("the split barrier `{name}`"));
        }
        if method != Some(groups::Method::Sync) || !arguments.is_empty() {
            return;
        }
        match (self.tokens.range(call.span), self.tokens.range(object.span)) {
            (Some(whole), Some(inner)) if whole.start == inner.start => {
                let (before, after) = if *arrow { ("::raceproof::sync(*(", "))") } else { ("::raceproof::sync(", ")") };
                self.edits.before(whole.start, before);
                self.edits.replace(inner.end..whole.end, after);
            }
            _ => self.not_followed(callee.span, "`sync` in a macro that cannot be taken apart".to_owned()),
        }
    }
}
