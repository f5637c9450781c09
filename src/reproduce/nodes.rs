//! The declarations of a unit as a graph: what each declares, which names it uses, which lines of which file it takes.

use super::slice::ParameterText;
use crate::preprocess::{Output, TokenKind};
use crate::source::{FileId, Span};
use crate::syntax::words;
use crate::syntax::{Enum, Function, Item, ItemKind, Qualifier, Type, TypeKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// What a node is, as far as it matters for what needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A kernel.
    Kernel,
    /// A function that device code may call.
    Device,
    /// A function without a word about the device.
    Host,
    /// The frame of a namespace or of `extern "C"`.
    Frame,
    /// `using namespace`.
    Using,
    /// Any other declaration.
    Other,
}

/// One declaration, or the frame of a namespace.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// The names by which it is needed.
    pub(super) names: Vec<String>,
    /// Its tokens; of a frame what comes before its items, and what after.
    pub(super) tokens: Vec<Range<usize>>,
    /// The frames around it.
    pub(super) outer: Vec<usize>,
    /// The lines that it takes in the text that the user sees.
    pub(super) lines: Vec<Lines>,
    /// How the types of a kernel's parameters are written.
    pub(super) parameters: Vec<ParameterText>,
    /// What an operator is written with, and the names in the types of its operands.
    operator: Option<(String, Vec<String>)>,
}

/// Lines of a file, first and last.
pub(super) type Lines = (FileId, u32, u32);

/// All nodes of a unit.
pub(super) struct Nodes<'a> {
    output: &'a Output,
    pub(super) all: Vec<Node>,
    by_name: FxHashMap<String, Vec<usize>>,
}

impl<'a> Nodes<'a> {
    /// The nodes of items whose spans are numbers of tokens of `output`.
    pub(super) fn new(output: &'a Output, items: &[Item]) -> Self {
        let mut nodes = Nodes { output, all: Vec::new(), by_name: FxHashMap::default() };
        nodes.collect(items, &[]);
        for (at, node) in nodes.all.iter().enumerate() {
            for name in &node.names {
                nodes.by_name.entry(name.clone()).or_default().push(at);
            }
        }
        nodes
    }

    fn collect(&mut self, items: &[Item], outer: &[usize]) {
        for item in items {
            let tokens =
                item.span.start as usize / 2..(item.span.end as usize).div_ceil(2).min(self.output.tokens.len());
            if tokens.is_empty() {
                continue;
            }
            if let ItemKind::Namespace { name, items, .. } = &item.kind {
                let frame = self.frame(tokens);
                self.push(Kind::Frame, vec![name.text.clone()], frame, outer);
                let inner: Vec<usize> = outer.iter().copied().chain([self.all.len() - 1]).collect();
                self.collect(items, &inner);
                continue;
            }
            let (kind, names) = described(&item.kind);
            self.push(kind, names, vec![tokens], outer);
            let (ItemKind::Function(function), Some(node)) = (&item.kind, self.all.len().checked_sub(1)) else {
                continue;
            };
            let parameters = function.params.iter().map(|param| self.parameter(&param.ty));
            match operator(function) {
                _ if kind == Kind::Kernel => self.all[node].parameters = parameters.collect(),
                Some(symbol) => {
                    let types = function.params.iter().flat_map(|param| self.words_of(&param.ty));
                    self.all[node].operator = Some((symbol, types.map(str::to_owned).collect()));
                }
                None => {}
            }
        }
    }

    fn push(&mut self, kind: Kind, names: Vec<String>, tokens: Vec<Range<usize>>, outer: &[usize]) {
        let lines = self.lines(kind, &tokens);
        self.all.push(Node {
            kind,
            names,
            tokens,
            outer: outer.to_vec(),
            lines,
            parameters: Vec::new(),
            operator: None,
        });
    }

    fn parameter(&self, ty: &Type) -> ParameterText {
        let text = self.words_of(ty).collect::<Vec<_>>().join(" ");
        ParameterText { is_plain: matches!(ty.kind, TypeKind::Builtin(_)), text }
    }

    /// The words of a type, without `const`.
    fn words_of(&self, ty: &Type) -> impl Iterator<Item = &str> {
        let tokens = ty.span.start as usize / 2..(ty.span.end as usize).div_ceil(2).min(self.output.tokens.len());
        tokens.map(|at| self.text(at)).filter(|word| !["const", "volatile"].contains(word))
    }

    /// The tokens of a namespace that belong to none of its items.
    fn frame(&self, tokens: Range<usize>) -> Vec<Range<usize>> {
        let text = |at: usize| self.text(at);
        // `extern "C" void f();` has no braces of its own.
        let header_end = tokens.clone().find(|&at| ["{", "(", ";"].contains(&text(at)));
        match header_end.filter(|&at| text(at) == "{") {
            Some(open) => vec![tokens.start..open + 1, tokens.end - 1..tokens.end],
            None => vec![tokens.start..(tokens.start + 2).min(tokens.end)],
        }
    }

    fn text(&self, at: usize) -> &str {
        self.output.tokens.get(at).map_or("", |token| self.output.text(token))
    }

    /// Where a node begins that no macro has written.
    pub(super) fn start(&self, node: &Node) -> Option<Span> {
        let first = self.output.tokens.get(node.tokens.first()?.start)?;
        first.span.expansion.is_none().then_some(first.span)
    }

    /// The names in a node, after all macros.
    pub(super) fn used<'n>(&'n self, node: &'n Node) -> impl Iterator<Item = &'n str> {
        let tokens = node.tokens.iter().flat_map(|range| &self.output.tokens[range.clone()]);
        tokens.filter(|token| token.kind == TokenKind::Identifier).map(|token| self.output.text(token))
    }

    /// The nodes that a name may mean in device code. What only the host may call is meant where nothing else is.
    pub(super) fn named<'n>(&'n self, name: &str) -> impl Iterator<Item = usize> + 'n {
        let all = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let has_other = all.iter().any(|&at| self.all[at].kind != Kind::Host);
        all.iter().copied().filter(move |&at| !(has_other && self.all[at].kind == Kind::Host) && !self.is_main(at))
    }

    fn is_main(&self, at: usize) -> bool {
        self.all[at].kind == Kind::Host && self.all[at].names == ["main"]
    }

    fn lines(&self, kind: Kind, tokens: &[Range<usize>]) -> Vec<Lines> {
        let spans = tokens.iter().flat_map(|range| &self.output.tokens[range.clone()]).map(|token| token.span);
        let each = spans.map(|span| self.lines_of(span));
        // The two ends of a frame are far apart.
        if kind == Kind::Frame {
            return each.collect();
        }
        let mut lines: Vec<Lines> = Vec::new();
        for (file, first, last) in each {
            match lines.iter_mut().find(|(known, _, _)| *known == file) {
                Some(known) => *known = (file, known.1.min(first), known.2.max(last)),
                None => lines.push((file, first, last)),
            }
        }
        lines
    }

    fn lines_of(&self, span: Span) -> Lines {
        let sources = &self.output.sources;
        let visible = sources.visible(span);
        (visible.file, sources.start_position(visible).line, sources.end_position(visible).line)
    }

    /// The nodes that are needed by those of `roots`, with them and the frames around them.
    pub(super) fn needed(&self, roots: &[usize], names: &[String]) -> FxHashSet<usize> {
        let mut kept: FxHashSet<usize> = FxHashSet::default();
        let mut open: Vec<usize> = roots.to_vec();
        open.extend(names.iter().flat_map(|name| self.named(name)));
        loop {
            while let Some(at) = open.pop() {
                if !kept.insert(at) {
                    continue;
                }
                let node = &self.all[at];
                open.extend(&node.outer);
                let used: FxHashSet<&str> = self.used(node).collect();
                open.extend(used.into_iter().flat_map(|name| self.named(name)));
            }
            open.extend(self.on_lines_of(&kept));
            open.extend(self.operators_of(&kept));
            if open.is_empty() {
                break;
            }
        }
        self.add_using(&mut kept);
        kept
    }

    /// Declarations on lines that are kept anyway.
    fn on_lines_of(&self, kept: &FxHashSet<usize>) -> Vec<usize> {
        let taken: Vec<Lines> = kept.iter().flat_map(|&at| self.all[at].lines.iter().copied()).collect();
        let is_taken = |(file, first, last): &Lines| {
            taken.iter().any(|(known, from, to)| known == file && first <= to && from <= last)
        };
        let others = (0..self.all.len()).filter(|at| !kept.contains(at));
        others.filter(|&at| self.all[at].lines.iter().any(is_taken)).collect()
    }

    /// Operators that are written in what is kept, for types that it names.
    fn operators_of(&self, kept: &FxHashSet<usize>) -> Vec<usize> {
        let ranges = kept.iter().flat_map(|&at| self.all[at].tokens.iter().cloned());
        let words: FxHashSet<&str> = ranges.flatten().map(|at| self.text(at)).collect();
        let is_written = |(symbol, types): &(String, Vec<String>)| {
            words.contains(symbol.as_str()) && types.iter().any(|word| !is_of_language(word) && words.contains(&**word))
        };
        let others = (0..self.all.len()).filter(|at| !kept.contains(at));
        others.filter(|&at| self.all[at].operator.as_ref().is_some_and(is_written)).collect()
    }

    /// Directives for namespaces of which something is there.
    fn add_using(&self, kept: &mut FxHashSet<usize>) {
        let frames: FxHashSet<&str> = kept
            .iter()
            .filter(|&&at| self.all[at].kind == Kind::Frame)
            .flat_map(|&at| &self.all[at].names)
            .map(String::as_str)
            .collect();
        let is_there = |name: &str| frames.contains(name) || ["std", "cooperative_groups", "nvcuda"].contains(&name);
        let wanted: Vec<usize> = (0..self.all.len())
            .filter(|&at| self.all[at].kind == Kind::Using)
            .filter(|&at| self.all[at].names.first().is_some_and(|name| is_there(name)))
            // One inside a namespace goes with it.
            .filter(|&at| self.all[at].outer.iter().all(|frame| kept.contains(frame)))
            .collect();
        kept.extend(wanted);
    }
}

fn described(item: &ItemKind) -> (Kind, Vec<String>) {
    match item {
        ItemKind::Function(function) => (kind(function), function_names(function)),
        ItemKind::Variables(variables) => {
            let names = variables.iter().map(|variable| variable.name.text.clone());
            let types = variables.iter().flat_map(|variable| type_names(&variable.ty));
            (Kind::Other, names.chain(types).collect())
        }
        ItemKind::Record(record) => (Kind::Other, vec![record.name.text.clone()]),
        ItemKind::Enum(it) => (Kind::Other, enum_names(it)),
        ItemKind::Alias { name, ty, .. } => {
            (Kind::Other, std::iter::once(name.text.clone()).chain(type_names(ty)).collect())
        }
        ItemKind::UsingNamespace(path) => {
            (Kind::Using, path.segments.first().map(|segment| segment.name.text.clone()).into_iter().collect())
        }
        ItemKind::UsingName { name, .. } => (Kind::Other, vec![name.text.clone()]),
        ItemKind::Namespace { .. }
        | ItemKind::ExplicitInstantiation { .. }
        | ItemKind::RecordInstantiation(_)
        | ItemKind::StaticAssert(_)
        | ItemKind::Unsupported(_) => (Kind::Other, Vec::new()),
    }
}

fn kind(function: &Function) -> Kind {
    let has = |wanted: fn(&Qualifier) -> bool| function.qualifiers.iter().any(wanted);
    match () {
        () if has(|qualifier| matches!(qualifier, Qualifier::Kernel)) => Kind::Kernel,
        () if has(|qualifier| matches!(qualifier, Qualifier::Device | Qualifier::Constexpr)) => Kind::Device,
        () => Kind::Host,
    }
}

/// The sign of an operator that is no member of a class.
fn operator(function: &Function) -> Option<String> {
    let [segment] = &function.path.segments[..] else { return None };
    let sign = segment.name.text.strip_prefix("operator")?.trim();
    sign.starts_with(|first: char| first.is_ascii_punctuation() && first != '_').then(|| sign.to_owned())
}

/// Whether a word of a type says nothing of which type it is.
fn is_of_language(word: &str) -> bool {
    words::is_arithmetic_word(word) || !word.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// A member that is defined outside of its class comes with the class.
fn function_names(function: &Function) -> Vec<String> {
    let segments = &function.path.segments;
    let at = segments.len().saturating_sub(2);
    segments.get(at).map(|segment| segment.name.text.clone()).into_iter().collect()
}

fn enum_names(it: &Enum) -> Vec<String> {
    std::iter::once(it.name.text.clone()).chain(it.constants.iter().map(|(name, _)| name.text.clone())).collect()
}

/// The names that a type declares which is defined in place.
fn type_names(ty: &Type) -> Vec<String> {
    match &ty.kind {
        TypeKind::Record(record) => vec![record.name.text.clone()],
        TypeKind::Enum(it) => enum_names(it),
        TypeKind::Pointer(to) | TypeKind::Array(to, _) => type_names(to),
        _ => Vec::new(),
    }
}
