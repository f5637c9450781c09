//! Front end on tree-sitter: preprocessed text to [`syntax::Unit`].
//!
//! The whole story is in [`parse`]: preprocess; collect the names that decide how C is to be read
//! ([`names`]); emit the tokens as text that the CUDA grammar reads unambiguously ([`rewrite`]); parse; turn
//! the concrete tree into syntax, item by item, from the tokens' own spelling ([`convert`]).
//!
//! Guarantees: any text gives a unit, without overflowing the stack; a kernel that overlaps a syntax error or
//! a conditional that could not be decided holds an `Unsupported` statement there.
//!
//! Deliberately absent: meaning of any kind. That a name is a type is guessed for parsing only.

mod chunks;
mod convert;
mod memory;
mod names;
mod rewrite;

use crate::diagnostic::{Diagnostic, Label, RuleId, Severity};
use crate::front::mentions::mentions;
use crate::preprocess::{self, Options, Output};
use crate::source::{FileId, SourceMap, Span};
use crate::syntax::{self, Aside, Item, Unit};
use crate::work;
use names::Names;
use rewrite::Buffer;
use std::ops::{ControlFlow, Range};
use tree_sitter::{ParseOptions, Parser, Tree};

/// What parsing a file gives.
#[derive(Debug)]
pub struct Answer {
    /// The tree, as much of it as could be read.
    pub unit: Unit,
    /// What could not be read.
    pub diagnostics: Vec<Diagnostic>,
    /// How much was read.
    pub parse: ParseState,
    /// What the tree has no node for, by its range.
    pub asides: Vec<Aside>,
}

/// How much of a file was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseState {
    /// All of it.
    Ok,
    /// There are syntax errors, each marked in the tree.
    Partial,
    /// Nothing.
    Failed,
}

/// Parses `main`.
pub fn parse(sources: SourceMap, main: FileId, options: &Options) -> Answer {
    read(preprocess::preprocess(sources, main, options), main, options)
}

/// Parses `main`, reading headers through `files`.
pub fn parse_with(files: &dyn preprocess::FileAccess, sources: SourceMap, main: FileId, options: &Options) -> Answer {
    read(preprocess::preprocess_with(files, sources, main, options), main, options)
}

/// Reads what the preprocessor made of `main`.
pub fn read(mut output: Output, main: FileId, options: &Options) -> Answer {
    let mut diagnostics = std::mem::take(&mut output.diagnostics);
    let language = options.language();
    let names = Names::collect(&output, language);
    let mut result = convert::Converted::default();
    read_items(&output, &names, options, &mut result);
    syntax::undecided::mark(&mut result.items, &output.sources, &output.undecided);
    let failed = output.gave_up || (result.errors > 0 && result.items.iter().all(is_error));
    let parse = match (failed, result.errors) {
        (true, _) => ParseState::Failed,
        (false, 0) => ParseState::Ok,
        (false, _) => ParseState::Partial,
    };
    if result.parser_failed {
        diagnostics.push(whole_file(main, "the file could not be parsed"));
    }
    diagnostics.extend(result.diagnostics);
    let mentions = mentions(&output, language);
    let known = Default::default();
    let unit = Unit {
        dialect: options.dialect,
        sources: output.sources,
        items: result.items,
        known,
        mentions,
        made: crate::syntax::unpack::Made::default(),
    };
    Answer { unit, diagnostics, parse, asides: result.asides }
}

fn is_error(item: &Item) -> bool {
    matches!(item.kind, crate::syntax::ItemKind::Unsupported(_))
}

fn whole_file(main: FileId, message: &str) -> Diagnostic {
    Diagnostic {
        rule: RuleId::Parse,
        severity: Severity::Error,
        message: message.to_owned(),
        primary: Label { span: Span::new(main, 0, 0), text: String::new() },
        secondary: Vec::new(),
        notes: Vec::new(),
        fix: None,
        hidden: None,
    }
}

/// Reads all items: at once if the grammar finds its way, else one by one, so that an error in one
/// declaration cannot swallow the next.
fn read_items(output: &Output, names: &Names, options: &Options, result: &mut convert::Converted) {
    let all = 0..output.tokens.len();
    let Some((buffer, tree)) = tree_of_tokens(output, all, names, options) else {
        result.parser_failed = true;
        return;
    };
    if !is_lost(&tree) {
        return convert::convert(output, names, &buffer, &tree, options.language(), result);
    }
    for chunk in chunks::split(output) {
        let before = result.items.len();
        match tree_of_tokens(output, chunk.clone(), names, options) {
            Some((buffer, tree)) => convert::convert(output, names, &buffer, &tree, options.language(), result),
            None => result.parser_failed = true,
        }
        if result.items[before..].iter().all(is_error) {
            result.items.extend(chunks::lost_kernel(output, chunk));
        }
    }
}

/// Whether an error stands between the items, where it may have swallowed some.
fn is_lost(tree: &Tree) -> bool {
    let root = tree.root_node();
    let mut cursor = root.walk();
    root.is_error() || (root.has_error() && root.children(&mut cursor).any(|child| child.has_error()))
}

fn tree_of_tokens(output: &Output, tokens: Range<usize>, names: &Names, options: &Options) -> Option<(Buffer, Tree)> {
    let buffer = rewrite::rewrite(output, tokens, names, options.language());
    let tree = tree_of(&buffer.text)?;
    Some((buffer, tree))
}

/// The concrete tree of `text`, of which some take much memory.
fn tree_of(text: &str) -> Option<Tree> {
    memory::shared();
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_cuda::LANGUAGE.into()).ok()?;
    let mut ending = None;
    let mut look = |_: &tree_sitter::ParseState| {
        ending = work::memory::ending();
        if ending.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut look);
    let rest = &mut |at, _| text.as_bytes().get(at..).unwrap_or(&[]);
    let tree = parser.parse_with_options(rest, None, Some(options));
    if let Some(ending) = ending {
        drop(parser);
        ending.end();
    }
    tree
}
