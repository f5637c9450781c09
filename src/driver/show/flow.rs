//! The inputs that decide where a kernel accesses memory, each with the lines by which it gets there.

use crate::calculus::Kernel;
use crate::flow::words::Words;
use crate::flow::{Branch, Decides, Flow, Selection, Source};
use crate::source::SourceMap;
use std::fmt::Write as _;

/// The flow of a kernel as text.
pub(super) fn text(kernel: &Kernel, flow: &Flow, sources: &SourceMap) -> String {
    let view = View { kernel, flow, words: Words { kernel, sources } };
    let mut out = format!("kernel {}", kernel.name);
    if !kernel.template_args.is_empty() {
        let _ = write!(out, "<{}>", kernel.template_args.join(", "));
    }
    let _ = writeln!(out, "\n  {}", view.headline());
    view.section(&mut out, "inputs that decide which accesses are made", &|source| {
        source.is_configuration() || source.is_data()
    });
    view.section(&mut out, "what depends on the schedule", &|source| matches!(source, Source::Schedule { .. }));
    view.section(&mut out, "values that are not followed", &|source| matches!(source, Source::Unknown { .. }));
    view.section(&mut out, "results that differ from one device and compiler to another", &|source| {
        matches!(source, Source::Floating)
    });
    view.unset(&mut out);
    for branch in &flow.branches {
        view.branch(&mut out, branch);
    }
    out
}

struct View<'a> {
    kernel: &'a Kernel,
    flow: &'a Flow,
    words: Words<'a>,
}

impl View<'_> {
    /// One line: whether the kernel is access-invariant, and if not why.
    fn headline(&self) -> String {
        let data: Vec<&str> = self
            .flow
            .inputs()
            .filter(|each| each.source.is_data())
            .filter_map(|each| each.source.input_name(self.kernel))
            .collect();
        let data = format!("what {} held at the start", data.join(", "));
        match self.flow.access_invariant() {
            Some(true) => "access-invariant: no content of memory decides which accesses are made".to_owned(),
            Some(false) if self.flow.is_correctable => {
                format!("not access-invariant, but correctable: {data} decides branches only")
            }
            Some(false) => {
                let reads =
                    self.flow.inputs().filter(|each| each.source.is_data()).all(|each| each.decides == Decides::Reads);
                let only = if reads { ", but only reads of arrays that are never written" } else { "" };
                format!("not access-invariant: {data} decides which accesses are made{only}")
            }
            None if self.flow.is_partial => {
                "access invariance is not known: parts of the kernel are not understood (`check` names them)".to_owned()
            }
            None => "access invariance is not known: a value that is not followed decides which accesses are made"
                .to_owned(),
        }
    }

    fn section(&self, out: &mut String, title: &str, wanted: &dyn Fn(&Source) -> bool) {
        let mut reached = self.flow.reached.iter().filter(|each| wanted(&each.source)).peekable();
        if reached.peek().is_none() {
            return;
        }
        let _ = writeln!(out, "  {title}:");
        for each in reached {
            let _ = writeln!(out, "    {}: {}", self.words.source(&each.source), self.words.sink(each));
            for step in &each.steps {
                let _ = writeln!(out, "      {}", self.words.step(step));
            }
        }
    }

    fn unset(&self, out: &mut String) {
        let mut names: Vec<&str> = self
            .flow
            .reached
            .iter()
            .filter_map(|each| match &each.source {
                Source::Unset { name, .. } => Some(name.split('#').next().unwrap_or(name)),
                _ => None,
            })
            .collect();
        names.dedup();
        if !names.is_empty() {
            let _ = writeln!(out, "  assumed: {} is never read before it is set", names.join(", "));
        }
    }

    /// The select form of a branch on data.
    fn branch(&self, out: &mut String, branch: &Branch) {
        let Some(&span) = self.kernel.spans.get(branch.cond) else { return };
        let _ = writeln!(out, "  the branch at {} can be a choice of values:", self.words.at(span));
        let _ = writeln!(out, "    bool choose = {};", self.words.text(span));
        for &site in &branch.writes {
            if let Some(span) = self.kernel.sites[site].span {
                let _ = writeln!(out, "    {}    // {}", selection(&self.words.text(span)), self.words.at(span));
            }
        }
        let accesses = match branch.selection {
            Selection::SameLocations => "this accesses the same locations whatever the data",
            Selection::Wider => "this also writes where the branch is not taken",
        };
        let _ = writeln!(out, "    {accesses}; check it again");
    }
}

/// The select form of an assignment, or of a write that is none.
fn selection(text: &str) -> String {
    let bytes = text.as_bytes();
    let is_plain = |at: usize| {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        before.is_some_and(|before| !b"=<>!+-*/%&|^".contains(&before)) && bytes.get(at + 1) != Some(&b'=')
    };
    match text.match_indices('=').map(|(at, _)| at).find(|&at| is_plain(at)) {
        Some(at) => {
            let (place, value) = (text[..at].trim(), text[at + 1..].trim());
            format!("{place} = choose ? {value} : {place};")
        }
        None => format!("choose the value that is stored: {text};"),
    }
}
