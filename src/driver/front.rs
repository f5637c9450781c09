//! Which front end answers for which item of a file.
//!
//! The file is preprocessed once; both front ends read the same tokens, so that their items can be told to be
//! the same by their spans. With `auto`, libclang answers where it met no error, and tree-sitter for what is
//! left; where libclang gives no answer at all, tree-sitter answers for the file.
//!
//! Deliberately absent: how either of them reads. Neither knows of the other.

use super::Options;
use super::dialect::dialect_of;
use crate::diagnostic::report::{Front, Parse};
use crate::diagnostic::{Diagnostic, Label, RuleId, Severity};
use crate::front::clang::{self, Answer, Failure, Pool, Refusal};
use crate::front::mentions::mentions;
use crate::front::tree_sitter::{self, ParseState};
use crate::preprocess::{self, MissingInclude, ModelledHeader, Output, SoughtHeader, Uses};
use crate::source::headers::ProjectHeaders;
use crate::source::{FileId, SourceMap, Span};
use crate::syntax::known::Known;
use crate::syntax::{self, Item, ItemKind, Stmt, StmtKind, Unit};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The front end that a run uses.
#[derive(Clone, Debug, Default)]
pub enum FrontEnd {
    /// The built-in one.
    #[default]
    TreeSitter,
    /// libclang alone; what it cannot read is `unknown`.
    Clang(Arc<Pool>),
    /// libclang where it can be relied on, the built-in one elsewhere.
    Auto(Arc<Pool>),
}

/// A file that has been read.
#[derive(Clone)]
pub(super) struct ReadUnit {
    pub(super) unit: Unit,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) parse: Parse,
    /// The front end that read the file, apart from the functions of `exceptions`.
    pub(super) front: Front,
    /// The names of functions that tree-sitter read although libclang read the file.
    pub(super) exceptions: Vec<Span>,
    /// Headers that were not found.
    pub(super) missing: Vec<MissingInclude>,
    /// Headers that were found by a search.
    pub(super) sought: Vec<SoughtHeader>,
    /// Headers for which a model stands in.
    pub(super) modelled: Vec<ModelledHeader>,
    /// What the preprocessor took by default.
    pub(super) uses: Uses,
    /// Text that `#if` leaves out.
    pub(super) left_out: Vec<Span>,
}

/// How the text of a file was read: what differs between the readings that are kept together.
#[derive(PartialEq, Eq)]
struct Manner {
    defines: Vec<(String, String)>,
    undefined: Vec<String>,
    include_dirs: Vec<PathBuf>,
    seeks_headers: bool,
}

/// Readings of one text that may be asked for again, under options that differ in macros and directories alone.
#[derive(Default)]
pub(super) struct Kept {
    /// None if nobody asks again.
    readings: Option<RefCell<Vec<(Manner, ReadUnit)>>>,
}

impl Kept {
    /// Keeps what is read.
    pub(super) fn all() -> Kept {
        Kept { readings: Some(RefCell::default()) }
    }

    /// Reads a text, or says how it was read before.
    pub(super) fn read(
        &self,
        (path, text): (&Path, &str),
        options: &Options,
        headers: Option<&Arc<ProjectHeaders>>,
    ) -> ReadUnit {
        let Some(readings) = &self.readings else { return read(path, text, options, headers) };
        let manner = Manner {
            defines: options.defines.clone(),
            undefined: options.undefined.clone(),
            include_dirs: options.include_dirs.clone(),
            seeks_headers: headers.is_some(),
        };
        if let Some((_, known)) = readings.borrow().iter().find(|(known, _)| *known == manner) {
            return known.clone();
        }
        let unit = read(path, text, options, headers);
        readings.borrow_mut().push((manner, unit.clone()));
        unit
    }
}

/// Reads the text of one file.
///
/// With `headers`, the project is searched for those that no include path leads to.
pub(super) fn read(path: &Path, text: &str, options: &Options, headers: Option<&Arc<ProjectHeaders>>) -> ReadUnit {
    let mut sources = SourceMap::new();
    let main = sources.add_file(path, text);
    let preprocessing = seeking(preprocessing(path, text, options), path, (headers, options));
    let mut output = preprocess::preprocess(sources, main, &preprocessing);
    let missing = output.missing_includes.clone();
    let sought = std::mem::take(&mut output.sought);
    let modelled = std::mem::take(&mut output.modelled);
    let uses = std::mem::take(&mut output.uses);
    let left_out = std::mem::take(&mut output.left_out);
    let read = match &options.front {
        FrontEnd::TreeSitter => by_tree_sitter(output, main, &preprocessing),
        // There is nothing to ask about a text without tokens, and a worker costs more than the file.
        _ if output.tokens.is_empty() => by_tree_sitter(output, main, &preprocessing),
        FrontEnd::Clang(pool) => by_clang(pool, output, main, &preprocessing),
        FrontEnd::Auto(pool) => by_both(pool, output, main, &preprocessing),
    };
    ReadUnit { missing, sought, modelled, uses, left_out, ..read }
}

/// What the preprocessor is told: what was typed, then what the build says.
pub(super) fn preprocessing(path: &Path, text: &str, options: &Options) -> preprocess::Options {
    let flags = options.commands.as_deref().and_then(|commands| commands.flags(path));
    let mut told = preprocess::Options {
        defines: options.defines.clone(),
        undefined: options.undefined.clone(),
        include_dirs: options.include_dirs.clone(),
        includes: Vec::new(),
        stated_dirs: Vec::new(),
        headers: None,
        models: None,
        dialect: dialect_of(path, text, flags, options),
    };
    if let Some(flags) = flags {
        told.includes.clone_from(&flags.includes);
        let is_typed = |name: &str| options.defines.iter().any(|(typed, _)| typed == name);
        told.defines.extend(flags.defines.iter().filter(|(name, _)| !is_typed(name)).cloned());
        told.include_dirs.extend(flags.include_dirs.iter().cloned());
    }
    told
}

/// The same, with headers that no include path leads to sought in the project, and then among models. Who will look into
/// a project does so before anything stands in for what is there.
pub(super) fn seeking(
    mut told: preprocess::Options,
    path: &Path,
    (headers, options): (Option<&Arc<ProjectHeaders>>, &Options),
) -> preprocess::Options {
    if let Some(headers) = headers {
        told.stated_dirs = super::stated::include_dirs(path, told.language(), headers);
    }
    told.headers = headers.cloned();
    told.models = (headers.is_some() || options.headers.project.is_none()).then(|| options.headers.models.clone());
    told
}

fn by_tree_sitter(output: Output, main: FileId, options: &preprocess::Options) -> ReadUnit {
    let answer = tree_sitter::read(output, main, options);
    ReadUnit {
        unit: answer.unit,
        diagnostics: answer.diagnostics,
        parse: state(answer.parse),
        front: Front::TreeSitter,
        exceptions: Vec::new(),
        missing: Vec::new(),
        sought: Vec::new(),
        modelled: Vec::new(),
        uses: Uses::default(),
        left_out: Vec::new(),
    }
}

fn state(parse: ParseState) -> Parse {
    match parse {
        ParseState::Ok => Parse::Ok,
        ParseState::Partial => Parse::Partial,
        ParseState::Failed => Parse::Failed,
    }
}

/// libclang or nothing.
fn by_clang(pool: &Pool, mut output: Output, main: FileId, options: &preprocess::Options) -> ReadUnit {
    let mut diagnostics = std::mem::take(&mut output.diagnostics);
    let (answered, parse) = match clang::read(pool, &output, options.dialect) {
        Ok(mut answer) => {
            let known = std::mem::take(&mut answer.known);
            diagnostics.extend(answer.refused.iter().map(refused));
            let parse = if answer.refused.is_empty() { Parse::Ok } else { Parse::Partial };
            answer.mark();
            ((answer.items, known), parse)
        }
        Err(failure) => {
            diagnostics.push(of_the_file(main, Severity::Error, &failure));
            (Default::default(), Parse::Failed)
        }
    };
    whole(output, options, answered, diagnostics, parse)
}

/// A unit that libclang alone has read.
fn whole(
    output: Output,
    options: &preprocess::Options,
    (mut items, known): (Vec<Item>, Known),
    diagnostics: Vec<Diagnostic>,
    parse: Parse,
) -> ReadUnit {
    syntax::undecided::mark(&mut items, &output.sources, &output.undecided);
    let mentions = mentions(&output, options.language());
    let unit = Unit {
        dialect: options.dialect,
        sources: output.sources,
        items,
        known,
        mentions,
        made: syntax::unpack::Made::default(),
    };
    ReadUnit {
        unit,
        diagnostics,
        parse,
        front: Front::Clang,
        exceptions: Vec::new(),
        missing: Vec::new(),
        sought: Vec::new(),
        modelled: Vec::new(),
        uses: Uses::default(),
        left_out: Vec::new(),
    }
}

/// libclang, and tree-sitter for what it refuses.
fn by_both(pool: &Pool, mut output: Output, main: FileId, options: &preprocess::Options) -> ReadUnit {
    match clang::read(pool, &output, options.dialect) {
        Ok(answer) if answer.refused.is_empty() => {
            let diagnostics = std::mem::take(&mut output.diagnostics);
            whole(output, options, (answer.items, answer.known), diagnostics, Parse::Ok)
        }
        Ok(answer) => mixed(answer, output, main, options),
        Err(failure) => {
            let mut read = by_tree_sitter(output, main, options);
            if matches!(failure, Failure::TimedOut(_) | Failure::Died | Failure::Garbage) {
                read.diagnostics.push(of_the_file(main, Severity::Note, &failure));
            }
            read
        }
    }
}

fn mixed(mut answer: Answer, output: Output, main: FileId, options: &preprocess::Options) -> ReadUnit {
    syntax::undecided::mark(&mut answer.items, &output.sources, &output.undecided);
    let known = output.diagnostics.len();
    let mut other = tree_sitter::read(output, main, options);
    let (exceptions, taken) = (Vec::new(), Vec::new());
    let mut spliced = Spliced { sources: &other.unit.sources, refused: &answer.refused, exceptions, taken };
    let items = spliced.splice(answer.items, other.unit.items);
    let exceptions = spliced.exceptions;
    // What tree-sitter could not read matters where its answer is used.
    let errors = other.diagnostics.split_off(known.min(other.diagnostics.len()));
    let sources = &other.unit.sources;
    let matters = |error: &Diagnostic| answer.refused.iter().any(|it| overlap(sources, it.item, error.primary.span));
    let errors: Vec<Diagnostic> = errors.into_iter().filter(matters).collect();
    let parse = if errors.is_empty() { Parse::Ok } else { Parse::Partial };
    other.diagnostics.extend(errors);
    let unit = Unit { items, known: answer.known, ..other.unit };
    ReadUnit {
        unit,
        diagnostics: other.diagnostics,
        parse,
        front: Front::Clang,
        exceptions,
        missing: Vec::new(),
        sought: Vec::new(),
        modelled: Vec::new(),
        uses: Uses::default(),
        left_out: Vec::new(),
    }
}

/// Puts the items of one answer in the place of those that the other refuses.
struct Spliced<'a> {
    sources: &'a SourceMap,
    refused: &'a [Refusal],
    /// The names of functions that were put in.
    exceptions: Vec<Span>,
    /// The items that were put in.
    taken: Vec<Span>,
}

impl Spliced<'_> {
    fn splice(&mut self, items: Vec<Item>, others: Vec<Item>) -> Vec<Item> {
        let mut others: Vec<Option<Item>> = others.into_iter().map(Some).collect();
        let mut result = Vec::with_capacity(items.len());
        for item in items {
            if self.refused.iter().any(|refusal| refusal.item == item.span) {
                self.replace(item, &mut others, &mut result);
                continue;
            }
            let Item { kind: ItemKind::Namespace { name, inline, items }, span } = item else {
                result.push(item);
                continue;
            };
            let inside = others.iter_mut().filter(|other| other.as_ref().is_some_and(|other| self.meets(span, other)));
            let inside = inside.filter_map(Option::take).flat_map(namespace_items).collect();
            let items = self.splice(items, inside);
            result.push(Item { kind: ItemKind::Namespace { name, inline, items }, span });
        }
        result
    }

    fn replace(&mut self, item: Item, others: &mut [Option<Item>], result: &mut Vec<Item>) {
        let before = result.len();
        for slot in others.iter_mut() {
            if let Some(other) = slot.take_if(|other| self.meets(item.span, other)) {
                self.exceptions.extend(function_names(&other));
                self.taken.push(other.span);
                result.push(other);
            }
        }
        if result.len() > before || function_names(&item).iter().any(|name| self.exceptions.contains(name)) {
            return;
        }
        // tree-sitter has no such item, or has it as a part of one that stands here already: a function is never lost.
        let unread = || "code that neither front end could read".to_owned();
        let span = item.span;
        match item.kind {
            ItemKind::Function(mut function) => {
                let statements = function.body.get_or_insert_default();
                statements.insert(0, Stmt { kind: StmtKind::Unsupported(unread()), span });
                result.push(Item { kind: ItemKind::Function(function), span });
            }
            _ if self.taken.iter().any(|&taken| overlap(self.sources, taken, span)) => {}
            _ => result.push(Item { kind: ItemKind::Unsupported(unread()), span }),
        }
    }

    fn meets(&self, span: Span, other: &Item) -> bool {
        overlap(self.sources, span, other.span)
    }
}

fn namespace_items(item: Item) -> Vec<Item> {
    match item.kind {
        ItemKind::Namespace { items, .. } => items,
        kind => vec![Item { kind, span: item.span }],
    }
}

fn function_names(item: &Item) -> Vec<Span> {
    match &item.kind {
        ItemKind::Function(function) => function.path.segments.last().map(|last| last.name.span).into_iter().collect(),
        ItemKind::Namespace { items, .. } => items.iter().flat_map(function_names).collect(),
        _ => Vec::new(),
    }
}

/// Whether two spans share text.
fn overlap(sources: &SourceMap, one: Span, other: Span) -> bool {
    let (one, other) = (sources.visible(one), sources.visible(other));
    one.file == other.file && one.start < other.end && other.start < one.end
}

fn refused(refusal: &Refusal) -> Diagnostic {
    Diagnostic {
        rule: RuleId::Parse,
        severity: Severity::Warning,
        message: refusal.reason.clone(),
        primary: Label { span: refusal.span, text: String::new() },
        secondary: Vec::new(),
        notes: vec!["with `--front auto`, tree-sitter reads what libclang cannot".to_owned()],
        fix: None,
        hidden: None,
    }
}

fn of_the_file(main: FileId, severity: Severity, failure: &Failure) -> Diagnostic {
    Diagnostic {
        rule: RuleId::Parse,
        severity,
        message: failure.to_string(),
        primary: Label { span: Span::new(main, 0, 0), text: String::new() },
        secondary: Vec::new(),
        notes: Vec::new(),
        fix: None,
        hidden: None,
    }
}
