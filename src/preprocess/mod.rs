//! The C preprocessor: from the text of a file to the tokens that the compiler proper would see.
//!
//! The story is three modules: [`lexer`] splits text into tokens, [`directives`] walks the files with their
//! conditionals and includes, [`expand`] replaces macros. Every token of the result knows the range it was
//! written at and the chain of macro calls that brought it where it is ([`Span::expansion`]): a token of a
//! macro's body has its range in the definition and an expansion of its own for every call; an argument
//! keeps the range of the call, and where a body uses it more than once, every further copy has an expansion
//! of its own, so that no two tokens of the result are the same site.
//!
//! Guarantees: never fails, never overflows the stack, bounded output; what is wrong with the text is a
//! [`Diagnostic`] beside the tokens. A header that is not found is noted and otherwise ignored; what is
//! taken by default because of that is told ([`choices`]). A condition that cannot be decided (a function-like macro that
//! nobody defined) counts as false, and its whole `#if … #endif` is listed in [`Output::undecided`], with the uses of macros
//! that it defines, so that later rooms can refuse to prove what lies in it.
//!
//! raceproof's own header is found wherever it is included, unless an include path leads to another of its name.
//!
//! Deliberately absent: system headers and their search path, trigraphs, modules, `#embed`. Comments and
//! `#pragma`s are dropped.

mod attributes;
mod branches;
mod choices;
pub mod commands;
mod condition;
mod directives;
mod expand;
mod files;
mod headers;
pub mod host_text;
mod includes;
mod interner;
mod lexer;
mod macros;
mod packing;
mod pending;
mod pragmas;
mod predefined;
pub mod stated;
mod told;
mod uses;

pub use choices::{Because, Choice};
pub use files::{Disk, FileAccess, normalized};
pub use interner::{Interner, Symbol};
pub use lexer::{Pieces, pieces};
pub use uses::Uses;

use crate::diagnostic::Diagnostic;
use crate::models::Models;
use crate::source::headers::ProjectHeaders;
use crate::source::{Dialect, FileId, Language, SourceMap, Span};
use std::ops::{BitOr, BitOrAssign};
use std::path::PathBuf;
use std::sync::Arc;

/// What the command line says to the preprocessor.
#[derive(Clone, Debug)]
pub struct Options {
    /// `-D NAME=VALUE`, in order; `-D NAME` has the value `1`.
    pub defines: Vec<(String, String)>,
    /// Names that are not defined, whatever predefines them.
    pub undefined: Vec<String>,
    /// `-I`, in order.
    pub include_dirs: Vec<PathBuf>,
    /// `-include`, in order: files that are read before the first line.
    pub includes: Vec<ForcedInclude>,
    /// Directories that the build files of the project state, where headers are sought first that none of these leads to.
    pub stated_dirs: Vec<PathBuf>,
    /// Where headers are sought that none of these leads to.
    pub headers: Option<Arc<ProjectHeaders>>,
    /// What stands in for headers that are found nowhere.
    pub models: Option<Models>,
    /// What the text is written in, which decides what is predefined.
    pub dialect: Dialect,
}

impl Options {
    /// No definitions and no include directories.
    pub fn new(dialect: impl Into<Dialect>) -> Self {
        Options {
            defines: Vec::new(),
            undefined: Vec::new(),
            include_dirs: Vec::new(),
            includes: Vec::new(),
            stated_dirs: Vec::new(),
            headers: None,
            models: None,
            dialect: dialect.into(),
        }
    }

    /// The language of the text.
    pub fn language(&self) -> Language {
        self.dialect.language()
    }
}

/// A file that the command line includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForcedInclude {
    /// The name as typed.
    pub name: PathBuf,
    /// Where the compiler runs: the first place to look.
    pub directory: PathBuf,
    /// What is taken of the file.
    pub part: IncludedPart,
}

/// What a [`ForcedInclude`] takes of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncludedPart {
    /// Everything (`-include`).
    Whole,
    /// Only what it defines (`-imacros`).
    Macros,
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// Its spelling, in [`Output::spellings`].
    pub text: Symbol,
    /// Its kind.
    pub kind: TokenKind,
    /// Where it was written, and how it came here.
    pub span: Span,
    /// What precedes it.
    pub flags: TokenFlags,
}

/// The kinds of [`Token`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// An identifier or keyword.
    Identifier,
    /// A number.
    Number,
    /// A character literal.
    Char,
    /// A string literal.
    String,
    /// A raw string literal, line breaks included.
    RawString,
    /// An operator or bracket.
    Punctuator,
    /// What is none of these: a stray character, an unterminated literal.
    Other,
}

/// Facts about a token beside its spelling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenFlags(u8);

impl TokenFlags {
    /// White space precedes it.
    pub const SPACE: TokenFlags = TokenFlags(1);
    /// It is the first of its line.
    pub const LINE_START: TokenFlags = TokenFlags(2);
    /// The name of a macro that was met inside its own expansion, and stays as it is.
    const PAINTED: TokenFlags = TokenFlags(4);

    /// Whether all of `flags` are set.
    pub fn has(self, flags: TokenFlags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Whether the token stands apart from the one before it.
    pub fn is_apart(self) -> bool {
        self.0 & (Self::SPACE.0 | Self::LINE_START.0) != 0
    }
}

impl BitOr for TokenFlags {
    type Output = TokenFlags;
    fn bitor(self, other: TokenFlags) -> TokenFlags {
        TokenFlags(self.0 | other.0)
    }
}

impl BitOrAssign for TokenFlags {
    fn bitor_assign(&mut self, other: TokenFlags) {
        self.0 |= other.0;
    }
}

/// An `#include` whose file was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingInclude {
    /// The name as written, without quotes.
    pub name: String,
    /// The directive.
    pub span: Span,
}

/// An `#include` whose file was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Include {
    /// The directive.
    pub span: Span,
    /// The file, unless it had been read and asks to be read once (`#pragma once`).
    pub entered: Option<FileId>,
}

/// How a header of the project was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoughtBy {
    /// By its name alone.
    Name,
    /// In a directory that a build file states.
    Build,
}

/// A header that was found in the project, where no include path leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoughtHeader {
    /// The name as written, without quotes.
    pub name: String,
    /// Where it was found inside the project.
    pub inside: PathBuf,
    /// How it was found.
    pub by: SoughtBy,
}

/// A header in the place of which the text of a model was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelledHeader {
    /// The name as written, without quotes.
    pub name: String,
    /// The file of the model.
    pub model: PathBuf,
}

/// What preprocessing gives.
#[derive(Clone, Debug)]
pub struct Output {
    /// The files that came in, the headers found, and every macro expansion.
    pub sources: SourceMap,
    /// The tokens after all macros and directives.
    pub tokens: Vec<Token>,
    /// Whether a budget was used up; then there are no tokens at all.
    pub gave_up: bool,
    /// Their spellings.
    pub spellings: Interner,
    /// What is wrong with the text.
    pub diagnostics: Vec<Diagnostic>,
    /// Headers that were not found, in order.
    pub missing_includes: Vec<MissingInclude>,
    /// Headers that were found by [`Options::headers`], each once, in order.
    pub sought: Vec<SoughtHeader>,
    /// Headers for which a model stands in, each once, in order; they are among those that were not found.
    pub modelled: Vec<ModelledHeader>,
    /// Headers that were found, in the order of the directives.
    pub includes: Vec<Include>,
    /// The ranges of text that conditionals left out, each from its first token to the directive that ends it.
    pub skipped: Vec<Span>,
    /// The same with all that stands there, comments among it, from the directive that begins it.
    pub left_out: Vec<Span>,
    /// Regions from `#if` to `#endif` of which a condition could not be decided.
    pub undecided: Vec<Span>,
    /// What was taken by default, and whose text depends on it.
    pub uses: Uses,
    /// Regions in which `#pragma pack` holds.
    pub packed: Vec<Span>,
}

impl Output {
    /// The spelling of a token.
    pub fn text(&self, token: &Token) -> &str {
        self.spellings.text(token.text)
    }
}

/// Preprocesses `main`, reading headers from disk.
pub fn preprocess(sources: SourceMap, main: FileId, options: &Options) -> Output {
    preprocess_with(&Disk, sources, main, options)
}

/// Preprocesses `main`, reading headers through `files`.
pub fn preprocess_with(files: &dyn FileAccess, sources: SourceMap, main: FileId, options: &Options) -> Output {
    let mut preprocessor = directives::Preprocessor::new(files, sources, options);
    preprocessor.predefine();
    preprocessor.run(main)
}
