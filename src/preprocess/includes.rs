//! Headers: where they are looked for, and entering them.
//!
//! Guarantees: no chain of includes is deeper than [`INCLUDE_DEPTH`], no unit enters more files or tokens than a budget allows.

use super::directives::{Open, Preprocessor};
use super::files::normalized;
use super::{Include, MissingInclude, SoughtBy, SoughtHeader, Token, TokenFlags, TokenKind, lexer};
use crate::source::{FileId, Span};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Deepest chain of includes.
const INCLUDE_DEPTH: usize = 64;
/// Files that one unit may enter; a file that includes itself twice would otherwise enter 2^64.
const INCLUDE_COUNT: usize = 20_000;
/// Tokens of all files that one unit may enter: a large file that includes itself would otherwise fill the memory.
const INCLUDE_BUDGET: usize = 6_000_000;

/// Where the search for a header starts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Search {
    /// Beside the file that includes it, if it is in quotes, then in the first directory.
    FromStart,
    /// Behind the directory of the file that includes it.
    Onwards,
}

impl Preprocessor<'_> {
    pub(super) fn include(&mut self, rest: &[Token], whole: Span, search: Search) {
        let named = self.header_of(rest).or_else(|| {
            let expanded = self.expand_list(rest.to_vec());
            self.header_of(&expanded)
        });
        let Some((name, quoted)) = named else {
            self.complain(whole, "malformed include directive");
            return;
        };
        let Some((file, tokens)) = self.find_header(&name, quoted, whole.file, search) else {
            self.missing_includes.push(MissingInclude { name, span: whole });
            return;
        };
        if self.once.contains(&file) {
            self.includes.push(Include { span: whole, entered: None });
            return;
        }
        self.includes.push(Include { span: whole, entered: Some(file) });
        self.entered += 1;
        if self.stack.len() >= INCLUDE_DEPTH || self.entered > INCLUDE_COUNT {
            self.complain(whole, "includes nested too deeply");
            return;
        }
        self.included += tokens.len();
        if self.included > INCLUDE_BUDGET {
            self.give_up(whole, "includes bring in too many tokens");
            return;
        }
        self.stack.push(Open::new(file, tokens));
    }

    /// The header's name and whether it was in quotes.
    pub(super) fn header_of(&self, tokens: &[Token]) -> Option<(String, bool)> {
        let first = tokens.first()?;
        let text = self.spellings.text(first.text);
        if first.kind == TokenKind::String {
            return Some((text.trim_matches('"').to_owned(), true));
        }
        // The name in `<…>` was lexed as C; its spelling is that of the range, without white space around.
        let mut name = String::new();
        if !text.starts_with('<') {
            return None;
        }
        for token in &tokens[1..] {
            let text = self.spellings.text(token.text);
            if let Some(last) = text.strip_suffix('>') {
                name.push_str(last);
                return Some((name, false));
            }
            if token.flags.has(TokenFlags::SPACE) && !name.is_empty() {
                name.push(' ');
            }
            name.push_str(text);
        }
        None
    }

    pub(super) fn find_header(
        &mut self,
        name: &str,
        quoted: bool,
        includer: FileId,
        search: Search,
    ) -> Option<(FileId, Rc<[Token]>)> {
        let path = &self.sources.file(includer).path;
        let beside = path.parent().map(Path::to_path_buf).filter(|_| quoted && search == Search::FromStart);
        let dirs = &self.options.include_dirs;
        // The directory that the header which asks for the next one was found in.
        let own =
            dirs.iter().position(|dir| search == Search::Onwards && normalized(path).starts_with(normalized(dir)));
        let dirs = &dirs[own.map_or(0, |own| own + 1)..];
        let places: Vec<PathBuf> = beside.into_iter().chain(dirs.iter().cloned()).collect();
        if search == Search::Onwards {
            // The project is not searched: it would give the same header again.
            return places.iter().find_map(|place| self.load(&normalized(&place.join(name))));
        }
        places.iter().find_map(|place| self.load(&normalized(&place.join(name)))).or_else(|| self.seek(name, includer))
    }

    /// A header that no include path leads to, from the project.
    pub(super) fn seek(&mut self, name: &str, includer: FileId) -> Option<(FileId, Rc<[Token]>)> {
        let headers = self.options.headers.as_ref()?;
        let includer = &self.sources.file(includer).path;
        let stated = headers.within(&self.options.stated_dirs, name, includer);
        let by = if stated.is_some() { SoughtBy::Build } else { SoughtBy::Name };
        let header = stated.or_else(|| headers.find(name, includer))?;
        let loaded = self.load(&normalized(&header.path))?;
        let sought = SoughtHeader { name: name.to_owned(), inside: header.inside, by };
        if !self.sought.contains(&sought) {
            self.sought.push(sought);
        }
        Some(loaded)
    }

    pub(super) fn load(&mut self, path: &Path) -> Option<(FileId, Rc<[Token]>)> {
        if let Some((file, tokens)) = self.loaded.get(path) {
            return Some((*file, Rc::clone(tokens)));
        }
        let text = self.files.read(path)?;
        if u32::try_from(text.len()).is_err() {
            return None;
        }
        let file = self.sources.add_file(path, text);
        let text = self.sources.file(file).text.clone();
        let tokens: Rc<[Token]> = lexer::lex(&text, file, self.language, &mut self.spellings).into();
        self.loaded.insert(path.to_path_buf(), (file, Rc::clone(&tokens)));
        Some((file, tokens))
    }
}
