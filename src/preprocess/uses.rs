//! Which text depends on what was chosen by default.
//!
//! The tokens are cut into the declarations of the file; one depends on a [`Choice`] if a region of it lies in its text, or in
//! that of a declaration whose name it uses, directly or not. That is told by names alone: a local variable with the name of
//! a function counts as a use of it.

use super::choices::Choice;
use super::interner::{Interner, Symbol};
use super::{Because, Token, TokenKind};
use crate::source::{FileId, SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// What was chosen, and the declarations of the text by the names they use.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    choices: Vec<Choice>,
    declarations: Vec<Declaration>,
    /// The declarations of each name.
    by_name: FxHashMap<Symbol, Vec<usize>>,
}

/// A declaration of the file, or a member of a namespace.
#[derive(Clone, Debug, Default)]
struct Declaration {
    /// Where it stands in each file.
    places: BTreeMap<FileId, (u32, u32)>,
    names: FxHashSet<Symbol>,
}

impl Declaration {
    fn overlaps(&self, span: Span) -> bool {
        self.places.get(&span.file).is_some_and(|&(start, end)| start < span.end && span.start < end)
    }

    fn add(&mut self, place: Span) {
        let (start, end) = self.places.entry(place.file).or_insert((place.start, place.end));
        *start = place.start.min(*start);
        *end = place.end.max(*end);
    }
}

impl Uses {
    /// Cuts tokens into declarations, if there are choices that they may depend on.
    pub(super) fn of(tokens: &[Token], spellings: &Interner, sources: &SourceMap, choices: Vec<Choice>) -> Uses {
        let mut uses = Uses { choices, ..Uses::default() };
        if uses.choices.is_empty() {
            return uses;
        }
        let mut reader = Reader { tokens, spellings, sources, at: 0 };
        while reader.at < tokens.len() {
            uses.read(&mut reader);
        }
        uses
    }

    fn read(&mut self, reader: &mut Reader<'_>) {
        let mut declaration = Declaration::default();
        let mut declared = FxHashSet::default();
        let (mut braces, mut brackets, mut is_enum) = (0_usize, 0_usize, false);
        let start = reader.at;
        while let Some(token) = reader.tokens.get(reader.at) {
            let text = reader.text(0);
            if reader.at == start && (text == "}" || reader.skip_namespace()) {
                reader.at += usize::from(text == "}");
                return;
            }
            if text == "template" && reader.text(1) == "<" {
                reader.skip_parameters(&mut declaration);
                continue;
            }
            declaration.add(reader.sources.visible(token.span));
            reader.at += 1;
            match text {
                "{" => braces += 1,
                "(" | "[" => brackets += 1,
                ")" | "]" => brackets = brackets.saturating_sub(1),
                "}" => {
                    braces = braces.saturating_sub(1);
                    if braces == 0 && brackets == 0 && reader.text(0) != ";" {
                        break;
                    }
                }
                ";" if braces == 0 && brackets == 0 => break,
                "enum" => is_enum = true,
                _ if token.kind == TokenKind::Identifier => {
                    declaration.names.insert(token.text);
                    let is_declared = braces == 0
                        && brackets == 0
                        && matches!(reader.text(0), "(" | "=" | "[" | ";" | "," | "{" | ":" | "::");
                    if is_declared || is_enum {
                        declared.insert(token.text);
                    }
                }
                _ => {}
            }
        }
        let number = self.declarations.len();
        for name in declared {
            self.by_name.entry(name).or_default().push(number);
        }
        self.declarations.push(declaration);
    }

    /// What the text at a place depends on.
    pub fn choices_of(&self, place: Span) -> Vec<&Choice> {
        if self.choices.is_empty() {
            return Vec::new();
        }
        let mut reached: Vec<usize> =
            (0..self.declarations.len()).filter(|&at| self.declarations[at].overlaps(place)).collect();
        let mut seen: FxHashSet<usize> = reached.iter().copied().collect();
        let mut next = 0;
        while let Some(&at) = reached.get(next) {
            next += 1;
            for name in &self.declarations[at].names {
                let further = self.by_name.get(name).into_iter().flatten();
                reached.extend(further.filter(|&&it| seen.insert(it)));
            }
        }
        let depends = |choice: &&Choice| {
            choice.because != Because::Pass
                && choice.regions.iter().any(|&region| reached.iter().any(|&at| self.declarations[at].overlaps(region)))
        };
        self.choices.iter().filter(depends).collect()
    }

    /// What the text at a place itself depends on.
    pub fn choices_at(&self, place: Span) -> impl Iterator<Item = &Choice> {
        let meets =
            move |region: &Span| region.file == place.file && region.start < place.end && place.start < region.end;
        self.choices.iter().filter(move |choice| choice.because != Because::Pass && choice.regions.iter().any(meets))
    }

    /// All that was chosen.
    pub fn choices(&self) -> Vec<&Choice> {
        self.choices.iter().filter(|choice| choice.because != Because::Pass).collect()
    }

    /// Whether host code may be another than what was read.
    pub fn depends_on_pass(&self) -> bool {
        self.choices.iter().any(|choice| choice.because == Because::Pass)
    }

    /// Whether anything was chosen because a header was not found.
    pub fn misses_headers(&self) -> bool {
        self.choices.iter().any(|choice| choice.because == Because::Missing)
    }
}

struct Reader<'a> {
    tokens: &'a [Token],
    spellings: &'a Interner,
    sources: &'a SourceMap,
    at: usize,
}

impl<'a> Reader<'a> {
    fn text(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.at + ahead).map_or("", |token| self.spellings.text(token.text))
    }

    /// Moves past `namespace N {` or `extern "C" {`, whose members are declarations by themselves.
    fn skip_namespace(&mut self) -> bool {
        let is_namespace = self.text(0) == "namespace" || self.text(0) == "inline" && self.text(1) == "namespace";
        let is_linkage = self.text(0) == "extern" && self.text(1).starts_with('"') && self.text(2) == "{";
        if !is_namespace && !is_linkage {
            return false;
        }
        let open = (0..16).find(|&ahead| matches!(self.text(ahead), "{" | ";" | "="));
        let Some(open) = open.filter(|&ahead| self.text(ahead) == "{") else { return false };
        self.at += open + 1;
        true
    }

    /// Moves past `template <…>`, whose parameters are no declarations of the file.
    fn skip_parameters(&mut self, declaration: &mut Declaration) {
        let mut depth = 0_i32;
        while let Some(token) = self.tokens.get(self.at) {
            let text = self.text(0);
            declaration.add(self.sources.visible(token.span));
            if token.kind == TokenKind::Identifier {
                declaration.names.insert(token.text);
            }
            self.at += 1;
            match text {
                "<" => depth += 1,
                ">" => depth -= 1,
                ">>" => depth -= 2,
                ";" | "{" => return,
                _ => {}
            }
            if depth <= 0 && text.starts_with('>') {
                return;
            }
        }
    }
}
