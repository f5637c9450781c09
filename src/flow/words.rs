//! Sources, sinks and chains in words: for people, in the language of their source text.

use super::{AccessKind, Reached, Sink, Source, Step, StepKind};
use crate::calculus::{ArrayId, Kernel, SiteId};
use crate::source::{SourceMap, Span};

/// More characters of the source are not quoted.
const MAX_TEXT: usize = 70;

/// Words for one kernel.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The files that its spans point into.
    pub sources: &'a SourceMap,
}

impl Words<'_> {
    /// `7:12`, with the path in front if it is not the main file.
    pub fn at(&self, span: Span) -> String {
        let at = self.sources.start_position(span);
        let file = self.sources.visible(span).file;
        let path =
            if file.index() == 0 { String::new() } else { format!("{}:", self.sources.file(file).path.display()) };
        format!("{path}{}:{}", at.line, at.column)
    }

    /// The place of a site; `site 3` if it has none.
    pub fn site(&self, site: SiteId) -> String {
        match self.kernel.sites.get(site).and_then(|site| site.span) {
            Some(span) => self.at(span),
            None => format!("site {}", site.index()),
        }
    }

    /// The text that the user sees there, on one line, its end cut off if it is long.
    pub fn text(&self, span: Span) -> String {
        let words: Vec<&str> = self.sources.text(self.sources.visible(span)).split_whitespace().collect();
        let text = words.join(" ");
        match text.char_indices().nth(MAX_TEXT) {
            Some((end, _)) => format!("{} …", &text[..end]),
            None => text,
        }
    }

    /// "n", "the content of idx", "atomic at 5:28".
    pub fn source(&self, source: &Source) -> String {
        let at = |span: &Option<Span>| span.map_or_else(String::new, |span| format!(" at {}", self.at(span)));
        match source {
            Source::Param(param) => self.kernel.params[*param].name.clone(),
            Source::Symbol(array) => self.array(*array).to_owned(),
            Source::Named(name) => name.clone(),
            Source::Content(array) => format!("the content of {}", self.array(*array)),
            Source::Texture(name) => format!("the content of {name}"),
            Source::Schedule { what, span } | Source::Unknown { what, span } => format!("{what}{}", at(span)),
            Source::Unset { name, span } => format!("{}{}", name.split('#').next().unwrap_or(name), at(span)),
            Source::Floating => "floating-point arithmetic".to_owned(),
        }
    }

    /// What a source decides: "index of the write of out at 6:5".
    pub fn sink(&self, reached: &Reached) -> String {
        let access = |kind: AccessKind, array, site| {
            let kind = match kind {
                AccessKind::Read => "read",
                AccessKind::Write => "write",
                AccessKind::Atomic => "atomic",
            };
            format!("the {kind} of {} at {}", self.array(array), self.site(site))
        };
        match reached.sink {
            Sink::Index(kind, array, site) => format!("index of {}", access(kind, array, site)),
            Sink::GuardOfAccess(kind, array, site) => format!("decides whether {} happens", access(kind, array, site)),
            Sink::GuardOfSync(site) => format!("decides whether the barrier at {} is reached", self.site(site)),
        }
    }

    /// A step of a chain: "4:11 idx is read: `idx[i]`".
    pub fn step(&self, step: &Step) -> String {
        let what = match &step.kind {
            StepKind::Assigned(name) => format!("{name} is set"),
            StepKind::Read(array) => format!("{} is read", self.array(*array)),
            StepKind::Atomic(array) => format!("{} is changed in one step", self.array(*array)),
            StepKind::Written(array) => format!("{} is written", self.array(*array)),
            StepKind::Condition => "condition".to_owned(),
            StepKind::LoopTest => "loop".to_owned(),
        };
        match step.span {
            Some(span) if step.kind == StepKind::LoopTest => format!("{:<8} {what}", self.at(span)),
            Some(span) => format!("{:<8} {what}: `{}`", self.at(span), self.text(span)),
            None => what,
        }
    }

    fn array(&self, array: ArrayId) -> &str {
        &self.kernel.arrays[array].name
    }
}
