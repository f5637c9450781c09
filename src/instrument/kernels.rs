//! Kernels and launches.
//!
//! A kernel keeps its head and becomes the stub that launches it: its body is the function of one thread, a copy of
//! which each thread has with the parameters in it. A launch configures the next call and calls the stub, so that
//! overloads, default arguments and deduction stay the compiler's business. A thread that comes to the end of the body says so:
//! who waits at a barrier after that, waits for it.

use super::Backend;
use super::expressions::Use;
use super::items::Walker;
use super::token_edits::quoted;
use crate::syntax::{Expr, Function, Item, Qualifier};
use std::fmt::Write;

/// What gives the parameters their values if the kernel was launched through an untyped pointer.
fn parameters(function: &Function) -> String {
    let name = |param: &crate::syntax::Param| match (param.pack, param.name.text.as_str()) {
        (_, "") => "::raceproof::unnamed".to_owned(),
        (true, name) => format!("{name}..."),
        (false, name) => name.to_owned(),
    };
    let names: Vec<String> = function.params.iter().map(name).collect();
    if names.is_empty() { String::new() } else { format!(" ::raceproof::parameters({});", names.join(", ")) }
}

impl<'a> Walker<'a> {
    /// The braces of a function's body.
    pub(super) fn braces(&self, item: &Item) -> Option<(usize, usize)> {
        let close = self.tokens.range(item.span)?.end - 1;
        let open = self.tokens.partner(close).filter(|_| self.tokens.text(close) == "}")?;
        Some((open, close))
    }

    /// What tells the runtime the size of clusters that a kernel states.
    fn clusters(&mut self, item: &Item, function: &Function) -> String {
        let stated = function.qualifiers.iter().find_map(|qualifier| match qualifier {
            Qualifier::Attribute(name, extents) if name.trim_matches('_') == "cluster_dims" => Some(extents),
            _ => None,
        });
        let Some(extents) = stated else { return String::new() };
        let ranges: Vec<_> = extents.iter().filter_map(|extent| self.tokens.range(extent.span)).collect();
        if ranges.len() != extents.len() {
            self.notes.leave_out(item.span, "size of clusters in a macro that cannot be taken apart".to_owned());
            return String::new();
        }
        let extents: Vec<String> = ranges.into_iter().map(|range| self.tokens.join(range)).collect();
        format!(" ::raceproof::clusters({});", extents.join(", "))
    }

    /// Makes a kernel with a body its own launch stub.
    pub(super) fn kernel(&mut self, item: &Item, function: &Function) {
        let name = self.notes.function().to_owned();
        let Some((open, close)) = self.braces(item) else {
            return self.notes.leave_out(item.span, "kernel whose body cannot be found".to_owned());
        };
        let mut head = parameters(function);
        head.push_str(&self.clusters(item, function));
        // Writing to a string cannot fail.
        let _ = write!(head, " ::raceproof::kernel({}, {}, ", self.registered.kernel(&name), quoted(&name));
        for param in &function.params {
            if !param.name.text.is_empty() && !param.pack {
                let _ = write!(head, "::raceproof::argument({0}, {1}), ", quoted(&param.name.text), param.name.text);
            }
        }
        head.push_str("[=]() mutable {");
        for name in &self.registered.shared_globals {
            let _ = write!(head, " ::raceproof::shared({}, &{name}, sizeof {name});", quoted(name));
        }
        self.edits.after(open, head);
        self.edits.before(close, "::raceproof::at_end(); }); ");
    }

    /// `k<<<grid, block>>>(args)` becomes `(::raceproof::configure(grid, block), k(args))`.
    pub(super) fn launch(&mut self, expr: &Expr, kernel: &'a Expr, config: &'a [Expr], args: &'a [Expr]) {
        if self.within.is_on_device() {
            self.notes.leave_out(expr.span, "launch from the device".to_owned());
        }
        if self.source.backend == Backend::Cuda {
            self.expr(kernel, Use::Place);
            return config.iter().chain(args).for_each(|value| self.expr(value, Use::Read));
        }
        let ranges = self.tokens.range(expr.span).zip(self.tokens.range(kernel.span)).and_then(|(whole, callee)| {
            let open = self.tokens.partner(whole.end - 1)?;
            (callee.start == whole.start && callee.end < open).then_some((whole, callee.end..open))
        });
        let Some((whole, marks)) = ranges else {
            return self.notes.leave_out(expr.span, "launch that cannot be taken apart".to_owned());
        };
        // `<<<` and `>>>` are several tokens each; what they hold starts and ends with the expressions.
        let first = config.first().and_then(|it| self.tokens.range(it.span)).map(|it| it.start);
        let last = config.last().and_then(|it| self.tokens.range(it.span)).map(|it| it.end);
        let (Some(first), Some(last)) = (first, last) else {
            return self.notes.leave_out(expr.span, "launch that cannot be taken apart".to_owned());
        };
        let changed = self.mutate_anywhere(|mutators| mutators.launch(config));
        let before = format!("(::raceproof::configure({}), {changed}", self.tokens.join(first..last));
        self.edits.wrap(whole, before, ")");
        self.edits.replace(marks, "");
        self.expr(kernel, Use::Place);
        args.iter().for_each(|argument| self.expr(argument, Use::Read));
    }
}
