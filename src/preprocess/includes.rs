//! Headers: where they are looked for, and entering them.
//!
//! Guarantees: no chain of includes is deeper than [`INCLUDE_DEPTH`], no unit enters more files or tokens than [`super::headers`]
//! allows.

use super::directives::{Open, Preprocessor};
use super::files::normalized;
use super::headers::Loaded;
use super::{Include, MissingInclude, ModelledHeader, SoughtBy, SoughtHeader, Token, TokenFlags, TokenKind};
use crate::source::{FileId, Origin, Span, own_header};
use std::path::{Path, PathBuf};

/// Deepest chain of includes.
const INCLUDE_DEPTH: usize = 64;
/// Where the search for a header starts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Search {
    /// Beside the file that includes it, if it is in quotes, then in the first directory.
    FromStart,
    /// Behind the directory of the file that includes it.
    Onwards,
}

/// A header as a directive names it.
pub(super) struct HeaderName {
    pub(super) text: String,
    /// Whether it is in quotes, and not in `<…>`.
    pub(super) is_quoted: bool,
}

impl Preprocessor<'_> {
    pub(super) fn include(&mut self, rest: &[Token], whole: Span, search: Search) {
        let named = self.header_of(rest).or_else(|| {
            let expanded = self.expand_list(rest.to_vec());
            self.header_of(&expanded)
        });
        let Some(name) = named else {
            self.told.complain(whole, "malformed include directive");
            return;
        };
        let found = self.find_header(&name, whole.file, search);
        let found = found.or_else(|| {
            // What stands in for it defines no more than is asked for mostly: the header itself stays missing.
            let stand_in = self.stand_in(&name.text);
            self.told.missing_includes.push(MissingInclude { name: name.text, span: whole });
            stand_in
        });
        let Some((file, tokens)) = found else { return };
        if self.headers.is_done(file) {
            self.told.includes.push(Include { span: whole, entered: None });
            return;
        }
        self.told.includes.push(Include { span: whole, entered: Some(file) });
        if !self.headers.count_file() || self.stack.len() >= INCLUDE_DEPTH {
            self.told.complain(whole, "includes nested too deeply");
            return;
        }
        if !self.headers.count_tokens(tokens.len()) {
            self.told.give_up(whole, "includes bring in too many tokens");
            return;
        }
        if self.sources.file(file).origin == Origin::Model {
            self.headers.enter_once(file);
        }
        self.stack.push(Open::new(file, tokens));
    }

    /// The header that an operand names.
    pub(super) fn header_of(&self, tokens: &[Token]) -> Option<HeaderName> {
        let first = tokens.first()?;
        let text = self.spellings.text(first.text);
        if first.kind == TokenKind::String {
            return Some(HeaderName { text: text.trim_matches('"').to_owned(), is_quoted: true });
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
                return Some(HeaderName { text: name, is_quoted: false });
            }
            if token.flags.has(TokenFlags::SPACE) && !name.is_empty() {
                name.push(' ');
            }
            name.push_str(text);
        }
        None
    }

    pub(super) fn find_header(&mut self, name: &HeaderName, includer: FileId, search: Search) -> Option<Loaded> {
        let path = &self.sources.file(includer).path;
        let beside = path.parent().map(Path::to_path_buf).filter(|_| name.is_quoted && search == Search::FromStart);
        let dirs = &self.options.include_dirs;
        // The directory that the header which asks for the next one was found in.
        let own =
            dirs.iter().position(|dir| search == Search::Onwards && normalized(path).starts_with(normalized(dir)));
        let dirs = &dirs[own.map_or(0, |own| own + 1)..];
        let places: Vec<PathBuf> = beside.into_iter().chain(dirs.iter().cloned()).collect();
        if search == Search::Onwards {
            // The project is not searched: it would give the same header again.
            return places.iter().find_map(|place| self.load(&normalized(&place.join(&name.text))));
        }
        places
            .iter()
            .find_map(|place| self.load(&normalized(&place.join(&name.text))))
            .or_else(|| (name.text == own_header::NAME).then(|| self.own_header()))
            .or_else(|| self.seek(&name.text, includer))
    }

    /// raceproof's own header, which no include path needs to lead to.
    fn own_header(&mut self) -> Loaded {
        let path = Path::new(own_header::PATH);
        self.headers.hold(path, own_header::TEXT, self.language, &mut self.sources, &mut self.spellings)
    }

    /// A header that no include path leads to, from the project.
    pub(super) fn seek(&mut self, name: &str, includer: FileId) -> Option<Loaded> {
        let headers = self.options.headers.as_ref()?;
        let includer = &self.sources.file(includer).path;
        let stated = headers.within(&self.options.stated_dirs, name, includer);
        let by = if stated.is_some() { SoughtBy::Build } else { SoughtBy::Name };
        let header = stated.or_else(|| headers.find(name, includer))?;
        let loaded = self.load(&normalized(&header.path))?;
        self.told.seek(SoughtHeader { name: name.to_owned(), inside: header.inside, by });
        Some(loaded)
    }

    /// Whether a model stands in for a header.
    pub(super) fn has_stand_in(&self, name: &str) -> bool {
        let unit = self.sources.files().next().map(|(_, main)| &main.path);
        self.options.models.as_ref().zip(unit).is_some_and(|(models, unit)| models.find(name, unit).is_some())
    }

    /// The text of a model, which is read once.
    fn stand_in(&mut self, name: &str) -> Option<Loaded> {
        let models = self.options.models.as_ref()?;
        let unit = self.sources.files().next().map(|(_, main)| main.path.clone())?;
        let stand_in = models.find(name, &unit)?;
        let modelled = ModelledHeader { name: name.to_owned(), model: stand_in.path.clone() };
        if !self.told.modelled.contains(&modelled) {
            self.told.modelled.push(modelled);
        }
        let loaded = self.headers.hold_stand_in(&stand_in, self.language, &mut self.sources, &mut self.spellings);
        Some(loaded)
    }

    pub(super) fn load(&mut self, path: &Path) -> Option<Loaded> {
        self.headers.load(path, self.language, &mut self.sources, &mut self.spellings)
    }
}
