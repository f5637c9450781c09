//! Source files, positions in them, and the ranges that every later room points back to.
//!
//! A [`SourceMap`] owns the text of every file of one translation unit (the file itself and the quoted
//! headers it includes). A [`Span`] is a byte range in one of these files together with the chain of
//! macro expansions that produced it: two accesses that one macro body makes have the same range and
//! different chains, and are therefore two sites.
//!
//! Deliberately absent: any knowledge of C, CUDA or OpenCL, but for what number a [`character`] is, which the preprocessor
//! and the front ends must agree on.

mod characters;
pub mod dependencies;
mod dialect;
pub mod discover;
pub mod disk;
pub mod embedded;
pub mod fingerprint;
pub mod headers;
mod line_index;
pub mod own_header;
pub mod patterns;
pub mod spelling;

pub use characters::{CharacterType, character, string};
pub use dialect::{Dialect, OpenClVersion};
pub use line_index::{LineColumn, LineIndex};

use crate::arena::{Arena, Handle};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Handle of a file in a [`SourceMap`].
pub type FileId = Handle<SourceFile>;

/// Handle of a macro expansion in a [`SourceMap`].
pub type ExpansionId = Handle<Expansion>;

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Language {
    /// CUDA C++ (`.cu`, `.cuh`) and HIP (`.hip`), which has the same rules.
    Cuda,
    /// OpenCL C (`.cl`, `.ocl`).
    OpenCl,
}

/// One file: its path as the user wrote it, and its text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Path as given on the command line or in the include directive.
    pub path: PathBuf,
    /// The text. Bytes that were not UTF-8 have been replaced one for one by `?`, so offsets hold.
    pub text: Arc<str>,
    /// Start offsets of the lines.
    pub lines: LineIndex,
    /// Who wrote it.
    pub origin: Origin,
}

/// Whose text a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file of the program.
    Program,
    /// What is read in the place of a header that was not found: nobody who reads a report has written it.
    Model,
}

/// One macro expansion: where the macro was called.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Expansion {
    /// Name of the macro.
    pub name: String,
    /// Range of the whole call, possibly itself inside an expansion.
    pub call_site: Span,
}

/// A byte range of a file, and the macro expansion that produced it, if any.
///
/// For a token that a macro body contributed, `file`, `start` and `end` are the token's place in the
/// macro's definition; [`SourceMap::visible`] gives the outermost call, which is what users are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Innermost expansion that produced the range.
    pub expansion: Option<ExpansionId>,
}

impl Span {
    /// The range `start..end` of `file`, outside every macro.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        Span { file, start: start as u32, end: end as u32, expansion: None }
    }

    /// The smallest range that covers both, if they lie in one file and expansion; otherwise `self`.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file || self.expansion != other.expansion {
            return self;
        }
        Span { start: self.start.min(other.start), end: self.end.max(other.end), ..self }
    }
}

/// The files and macro expansions of one translation unit.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Arena<SourceFile>,
    expansions: Arena<Expansion>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file and returns its handle. The first file added is the translation unit's main file.
    pub fn add_file(&mut self, path: impl AsRef<Path>, text: impl Into<Arc<str>>) -> FileId {
        self.add(path.as_ref(), text.into(), Origin::Program)
    }

    /// Adds what is read in the place of a header.
    pub fn add_stand_in(&mut self, path: impl AsRef<Path>, text: impl Into<Arc<str>>) -> FileId {
        self.add(path.as_ref(), text.into(), Origin::Model)
    }

    fn add(&mut self, path: &Path, text: Arc<str>, origin: Origin) -> FileId {
        let lines = LineIndex::new(&text);
        self.files.push(SourceFile { path: path.to_path_buf(), text, lines, origin })
    }

    /// Whether what the user sees of a span is text of a model.
    pub fn is_of_a_model(&self, span: Span) -> bool {
        let seen = self.visible(span).file;
        self.files().any(|(file, it)| file == seen && it.origin == Origin::Model)
    }

    /// Records a macro expansion.
    pub fn add_expansion(&mut self, name: impl Into<String>, call_site: Span) -> ExpansionId {
        self.expansions.push(Expansion { name: name.into(), call_site })
    }

    /// The file behind a handle.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id]
    }

    /// All files, the main file first.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter()
    }

    /// The expansion behind a handle.
    pub fn expansion(&self, id: ExpansionId) -> &Expansion {
        &self.expansions[id]
    }

    /// The macro expansions that produced `span`, innermost first.
    pub fn expansion_chain(&self, span: Span) -> impl Iterator<Item = &Expansion> {
        std::iter::successors(span.expansion.map(|id| &self.expansions[id]), |expansion| {
            expansion.call_site.expansion.map(|id| &self.expansions[id])
        })
    }

    /// The range in text that the user sees: the outermost macro call, or the span itself.
    pub fn visible(&self, span: Span) -> Span {
        self.expansion_chain(span).last().map_or(span, |outermost| outermost.call_site)
    }

    /// The smallest range that covers both: where they come from different expansions, that of the calls in the
    /// innermost expansion (or the file) that has both.
    pub fn join(&self, first: Span, last: Span) -> Span {
        if first.file == last.file && first.expansion == last.expansion {
            return first.to(last);
        }
        let levels = |span: Span| {
            std::iter::successors(Some(span), |inner| inner.expansion.map(|id| self.expansions[id].call_site))
        };
        let outer: Vec<Span> = levels(last).collect();
        for below in levels(first) {
            let level = outer.iter().find(|above| above.expansion == below.expansion && above.file == below.file);
            if let Some(&above) = level {
                return below.to(above);
            }
        }
        self.visible(first)
    }

    /// The text of a span in its own file (for macro tokens: as written in the definition).
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Line and column, both from 1, of the visible start of a span.
    pub fn start_position(&self, span: Span) -> LineColumn {
        let visible = self.visible(span);
        let file = self.file(visible.file);
        file.lines.position(&file.text, visible.start as usize)
    }

    /// Line and column, both from 1, of the visible end (exclusive) of a span.
    pub fn end_position(&self, span: Span) -> LineColumn {
        let visible = self.visible(span);
        let file = self.file(visible.file);
        file.lines.position(&file.text, visible.end as usize)
    }
}
