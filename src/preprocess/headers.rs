//! The headers of a unit: each read once, and how many were entered.

use super::Token;
use super::files::FileAccess;
use super::interner::Interner;
use super::lexer;
use crate::models::StandIn;
use crate::source::{FileId, Language, SourceMap};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Files that one unit may enter; a file that includes itself twice would otherwise enter 2^64.
const INCLUDE_COUNT: usize = 20_000;
/// Tokens of all files that one unit may enter: a large file that includes itself would otherwise fill the memory.
const INCLUDE_BUDGET: usize = 6_000_000;

/// A file and its tokens.
pub(super) type Loaded = (FileId, Rc<[Token]>);

/// What was read so far.
pub(super) struct Headers<'a> {
    files: &'a dyn FileAccess,
    loaded: FxHashMap<PathBuf, Loaded>,
    /// Those that are to be entered once.
    once: FxHashSet<FileId>,
    entered: usize,
    /// Tokens of the files entered.
    included: usize,
}

impl<'a> Headers<'a> {
    pub(super) fn new(files: &'a dyn FileAccess) -> Self {
        Headers { files, loaded: FxHashMap::default(), once: FxHashSet::default(), entered: 0, included: 0 }
    }

    /// The file at a path, under its normalized name, if there is one that is not too large.
    pub(super) fn load(
        &mut self,
        path: &Path,
        language: Language,
        sources: &mut SourceMap,
        spellings: &mut Interner,
    ) -> Option<Loaded> {
        if let Some(known) = self.known(path) {
            return Some(known);
        }
        let text = self.files.read(path)?;
        if u32::try_from(text.len()).is_err() {
            return None;
        }
        Some(self.hold(path, &text, language, sources, spellings))
    }

    /// The file that is known by this path, else one with this text.
    pub(super) fn hold(
        &mut self,
        path: &Path,
        text: &str,
        language: Language,
        sources: &mut SourceMap,
        spellings: &mut Interner,
    ) -> Loaded {
        if let Some(known) = self.known(path) {
            return known;
        }
        let file = sources.add_file(path, text);
        let tokens: Rc<[Token]> = lexer::lex(text, file, language, spellings).into();
        self.know(path.to_path_buf(), (file, Rc::clone(&tokens)));
        (file, tokens)
    }

    /// What stands in for a header: one file for each text of a model.
    pub(super) fn hold_stand_in(
        &mut self,
        stand_in: &StandIn,
        language: Language,
        sources: &mut SourceMap,
        spellings: &mut Interner,
    ) -> Loaded {
        // No path ends in such a name.
        let key = stand_in.path.join(format!("<{}>", stand_in.number));
        if let Some(known) = self.known(&key) {
            return known;
        }
        let file = sources.add_stand_in(&stand_in.path, Arc::clone(&stand_in.text));
        let tokens: Rc<[Token]> = lexer::lex(&stand_in.text, file, language, spellings).into();
        self.know(key, (file, Rc::clone(&tokens)));
        (file, tokens)
    }

    fn known(&self, path: &Path) -> Option<Loaded> {
        self.loaded.get(path).map(|(file, tokens)| (*file, Rc::clone(tokens)))
    }

    /// The file at this path is this one.
    pub(super) fn know(&mut self, path: PathBuf, loaded: Loaded) {
        self.loaded.insert(path, loaded);
    }

    /// `#pragma once`
    pub(super) fn enter_once(&mut self, file: FileId) {
        self.once.insert(file);
    }

    pub(super) fn is_done(&self, file: FileId) -> bool {
        self.once.contains(&file)
    }

    /// Counts a file that is to be entered; whether these are not too many.
    pub(super) fn count_file(&mut self) -> bool {
        self.entered += 1;
        self.entered <= INCLUDE_COUNT
    }

    /// Counts the tokens of a file that is entered; whether these are not too many.
    pub(super) fn count_tokens(&mut self, tokens: usize) -> bool {
        self.included += tokens;
        self.included <= INCLUDE_BUDGET
    }
}
