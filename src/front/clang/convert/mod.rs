//! From cursors and tokens to syntax.
//!
//! The tokens say what was written, the cursors how it is to be read: whether a statement is a declaration,
//! whether `T name(x)` declares a function, which operand a token ends. So no operator, literal, qualifier,
//! missing part of a `for`, or operand of an `asm` depends on what libclang exposes, and nothing that it drops
//! can go unnoticed: tokens without a cursor are [`Confusion`], which ends as `Unsupported` over its range.
//!
//! One module for each sort of thing: [`items`] ([`records`], [`templates`]), [`declarations`], [`types`],
//! [`paths`], [`statements`], [`expressions`] ([`lambdas`]), [`attributes`]. They share [`Reader`].

mod attributes;
mod declarations;
mod expressions;
mod items;
mod lambdas;
mod paths;
mod records;
mod statements;
mod templates;
mod types;

use super::brackets::Brackets;
use super::map::Map;
use crate::preprocess::{Output, TokenKind};
use crate::source::{Language, Span};
use crate::syntax::{Expr, ExprKind, Item, Name};
use std::ops::Range;

/// Levels of the tree that are converted before a construct counts as nested too deeply.
const DEPTH: usize = 220;
/// The reason of everything below the depth budget.
const NESTED_TOO_DEEPLY: &str = "nested too deeply";

/// Why a range could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Confusion(&'static str);

type Reading<T> = Result<T, Confusion>;

/// The reason where cursors and tokens do not fit.
const MISFIT: Confusion = Confusion("code that clang does not account for");

/// An item at namespace scope, for [`super::admissible`].
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Its tokens.
    pub(super) tokens: Range<usize>,
    /// The tokens of a function's body; empty for any other item.
    pub(super) body: Range<usize>,
    /// Its span, by which it is found again.
    pub(super) span: Span,
    /// Whether some of it could not be read.
    pub(super) confused: bool,
    /// The names that it declares.
    pub(super) names: Vec<String>,
}

/// What conversion gives.
#[derive(Debug, Default)]
pub(super) struct Converted {
    pub(super) items: Vec<Item>,
    /// The items of all namespaces, in order.
    pub(super) places: Vec<Place>,
}

/// Converts the tokens of `output` as `map` says.
pub(super) fn convert(output: &Output, map: &Map, brackets: &Brackets, language: Language) -> Converted {
    let end = output.tokens.len();
    let mut reader = Reader {
        output,
        map,
        language,
        brackets,
        at: 0,
        half: false,
        depth: 0,
        confusions: 0,
        body: 0..0,
        places: Vec::new(),
    };
    let items = reader.namespace_items(end);
    Converted { items, places: reader.places }
}

/// What all parts of the conversion share.
struct Reader<'a> {
    output: &'a Output,
    map: &'a Map,
    language: Language,
    brackets: &'a Brackets,
    /// The token that is read next.
    at: usize,
    /// Whether the first `>` of the `>>` at `at` has been read.
    half: bool,
    depth: usize,
    /// How often something could not be read.
    confusions: usize,
    /// The body of the function read last.
    body: Range<usize>,
    places: Vec<Place>,
}

impl<'a> Reader<'a> {
    /// The spelling of token `at`; empty past the end.
    fn text(&self, at: usize) -> &'a str {
        self.output.tokens.get(at).map_or("", |token| self.output.text(token))
    }

    /// The spelling of the next token.
    fn next(&self) -> &'a str {
        self.text(self.at)
    }

    fn kind(&self, at: usize) -> Option<TokenKind> {
        self.output.tokens.get(at).map(|token| token.kind)
    }

    fn is_identifier(&self, at: usize) -> bool {
        self.kind(at) == Some(TokenKind::Identifier)
    }

    /// Reads the next token if it is `word`.
    fn eat(&mut self, word: &str) -> bool {
        let found = self.next() == word && self.at < self.output.tokens.len();
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, word: &str) -> Reading<()> {
        if self.eat(word) { Ok(()) } else { Err(MISFIT) }
    }

    /// The token that closes the bracket at `open`; the end for one that is never closed.
    fn close(&self, open: usize) -> usize {
        self.brackets.close(open)
    }

    /// The next token at or after `from`, outside brackets that open there, that is one of `words`; `limit` if
    /// there is none.
    fn find(&self, from: usize, limit: usize, words: &[&str]) -> usize {
        let mut at = from;
        while at < limit {
            let text = self.text(at);
            if words.contains(&text) {
                return at;
            }
            at = if matches!(text, "(" | "[" | "{") { self.close(at).max(at) + 1 } else { at + 1 };
        }
        limit
    }

    fn span(&self, tokens: Range<usize>) -> Span {
        let last = self.output.tokens.len().saturating_sub(1);
        let start = self.output.tokens.get(tokens.start.min(last)).map(|token| token.span);
        let end = self.output.tokens.get(tokens.end.saturating_sub(1).min(last)).map(|token| token.span);
        match (start, end) {
            (Some(_), Some(end)) if tokens.end <= tokens.start => end,
            (Some(start), Some(end)) => self.output.sources.join(start, end),
            _ => Span::new(crate::arena::Handle::from_index(0), 0, 0),
        }
    }

    fn name(&self, at: usize) -> Name {
        Name { text: self.text(at).to_owned(), span: self.span(at..at + 1) }
    }

    /// The name of what has none, at `at`.
    fn no_name(&self, at: usize) -> Name {
        let span = self.span(at..at + 1);
        Name { text: String::new(), span: Span { end: span.start, ..span } }
    }

    /// Runs `read` one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Reading<T>) -> Reading<T> {
        if self.depth >= DEPTH {
            return Err(Confusion(NESTED_TOO_DEEPLY));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Notes that something could not be read; gives its reason.
    fn confused(&mut self, why: &Confusion) -> String {
        self.confusions += 1;
        why.0.to_owned()
    }

    fn unsupported(&self, tokens: Range<usize>, reason: &str) -> Expr {
        Expr { kind: ExprKind::Unsupported(reason.to_owned()), span: self.span(tokens) }
    }
}
