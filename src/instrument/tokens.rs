//! The tokens of a unit: from the range of a node to its tokens, and which bracket closes which.
//!
//! All edits are made on tokens, because a token knows both its place in the text and the macro call that brought
//! it there. A range that does not start and end at tokens, or cuts brackets, has no tokens: nothing is ever
//! wrapped in halves.

use crate::preprocess::{Output, TokenFlags};
use crate::source::{ExpansionId, FileId, SourceMap, Span};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A place in a file or in an expansion.
type Place = (FileId, u32, Option<ExpansionId>);

/// The tokens of one unit.
pub(super) struct Tokens<'a> {
    output: &'a Output,
    starts: FxHashMap<Place, usize>,
    ends: FxHashMap<Place, usize>,
    /// The bracket that belongs to the one at this position.
    partners: Vec<Option<usize>>,
    /// A file whose tokens came in more than once.
    pub(super) repeated: Option<FileId>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(output: &'a Output) -> Self {
        let mut tokens = Tokens {
            output,
            starts: FxHashMap::default(),
            ends: FxHashMap::default(),
            partners: partners(output),
            repeated: None,
        };
        for (at, token) in output.tokens.iter().enumerate() {
            let before = tokens.starts.insert((token.span.file, token.span.start, token.span.expansion), at);
            if before.is_some() && token.span.expansion.is_none() {
                tokens.repeated.get_or_insert(token.span.file);
            }
            tokens.ends.insert((token.span.file, token.span.end, token.span.expansion), at);
            let mut inner = token.span;
            while let Some(id) = inner.expansion {
                inner = output.sources.expansion(id).call_site;
                tokens.starts.entry((inner.file, inner.start, inner.expansion)).or_insert(at);
                tokens.ends.insert((inner.file, inner.end, inner.expansion), at);
            }
        }
        tokens
    }

    pub(super) fn sources(&self) -> &'a SourceMap {
        &self.output.sources
    }

    pub(super) fn len(&self) -> usize {
        self.output.tokens.len()
    }

    /// The spelling of a token; empty beyond the end.
    pub(super) fn text(&self, at: usize) -> &'a str {
        self.output.tokens.get(at).map_or("", |token| self.output.text(token))
    }

    pub(super) fn span(&self, at: usize) -> Option<Span> {
        self.output.tokens.get(at).map(|token| token.span)
    }

    /// The bracket that belongs to the bracket at `at`.
    pub(super) fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).copied().flatten()
    }

    /// The tokens of a node, if it starts and ends with tokens and cuts no brackets.
    pub(super) fn range(&self, span: Span) -> Option<Range<usize>> {
        let first = *self.starts.get(&(span.file, span.start, span.expansion))?;
        let last = *self.ends.get(&(span.file, span.end, span.expansion))?;
        let range = first..last + 1;
        (first <= last && self.is_whole(range.clone())).then_some(range)
    }

    /// Whether no bracket in the range belongs to one outside.
    fn is_whole(&self, range: Range<usize>) -> bool {
        let mut at = range.start;
        while at < range.end {
            match self.text(at) {
                "(" | "[" | "{" => match self.partner(at).filter(|close| range.contains(close)) {
                    Some(close) => at = close,
                    None => return false,
                },
                ")" | "]" | "}" => return false,
                _ => {}
            }
            at += 1;
        }
        true
    }

    /// The spelling of several tokens on one line.
    pub(super) fn join(&self, range: Range<usize>) -> String {
        let mut text = String::new();
        for at in range.clone() {
            let apart = self.output.tokens.get(at).is_some_and(|token| token.flags.is_apart());
            if at > range.start && (apart || self.would_merge(at)) {
                text.push(' ');
            }
            text.push_str(self.text(at));
        }
        text
    }

    /// Whether the token at `at` must not touch the one before it.
    pub(super) fn would_merge(&self, at: usize) -> bool {
        let (Some(last), Some(first)) = (self.text(at - 1).chars().last(), self.text(at).chars().next()) else {
            return false;
        };
        let is_word = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '"' | '\'');
        if is_word(last) || is_word(first) {
            return is_word(last) && is_word(first) || last == '.' || first == '.';
        }
        !matches!(last, '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';')
            && !matches!(first, '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';')
    }

    /// Whether white space or a line break precedes a token.
    pub(super) fn is_apart(&self, at: usize) -> bool {
        self.output.tokens.get(at).is_some_and(|token| token.flags.has(TokenFlags::SPACE) || token.flags.is_apart())
    }

    /// The first token in the range with that spelling.
    pub(super) fn find(&self, range: Range<usize>, text: &str) -> Option<usize> {
        range.into_iter().find(|&at| self.text(at) == text)
    }
}

/// Pairs of brackets; one that does not fit has none.
fn partners(output: &Output) -> Vec<Option<usize>> {
    let mut result = vec![None; output.tokens.len()];
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (at, token) in output.tokens.iter().enumerate() {
        let close = match output.text(token) {
            "(" => ")",
            "[" => "]",
            "{" => "}",
            text @ (")" | "]" | "}") => {
                if let Some((start, _)) = open.pop_if(|(_, close)| *close == text) {
                    result[start] = Some(at);
                    result[at] = Some(start);
                }
                continue;
            }
            _ => continue,
        };
        open.push((at, close));
    }
    result
}
