//! The cursors by token: what starts where, and where it ends.
//!
//! libclang's answer is only believed where it fits the tokens; a cursor that does not is never found.

use super::brackets::Brackets;
use super::text::Text;
use super::wire::{Cursor, Kind};
use crate::preprocess::{Output, TokenKind};
use rustc_hash::FxHashMap;

/// What libclang saw, by token.
#[derive(Debug)]
pub(super) struct Map {
    /// For each token, where its entries start; one more at the end.
    first: Vec<u32>,
    /// Entries by first token, the longest first, outer before inner.
    entries: Vec<Entry>,
    /// The declaration whose name a token is.
    names: FxHashMap<usize, Kind>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// One past the last token.
    end: u32,
    kind: Kind,
}

impl Map {
    /// Sorts `cursors` of the text of `output`.
    pub(super) fn new(cursors: &[Cursor], text: &Text, brackets: &Brackets, output: &Output) -> Map {
        let tokens = output.tokens.len();
        let mut found: Vec<(u32, Entry)> = Vec::with_capacity(cursors.len());
        let mut names = FxHashMap::default();
        for cursor in cursors.iter().filter(|cursor| cursor.start >= text.from && cursor.end > cursor.start) {
            let start = text.token_at(cursor.start);
            let end = text.token_at(cursor.end - 1) + 1;
            if end > tokens {
                continue;
            }
            // The name of an overloaded operator is no expression.
            if start + 1 == end && is_expression(cursor.kind) && output.tokens[start].kind == TokenKind::Punctuator {
                continue;
            }
            // Of `(float4)(x)` and `T name(x)` libclang forgets the last bracket.
            let end = brackets.complete(start, end);
            found.push((start as u32, Entry { end: end as u32, kind: cursor.kind }));
            if is_named(cursor.kind) && cursor.at >= text.from {
                names.insert(text.token_at(cursor.at), cursor.kind);
            }
        }
        found.sort_by_key(|(start, entry)| (*start, std::cmp::Reverse(entry.end)));
        let mut first = vec![0; tokens + 1];
        for &(start, _) in &found {
            first[start as usize + 1] += 1;
        }
        for at in 0..tokens {
            first[at + 1] += first[at];
        }
        Map { first, entries: found.into_iter().map(|(_, entry)| entry).collect(), names }
    }

    fn at(&self, start: usize) -> &[Entry] {
        match (self.first.get(start), self.first.get(start + 1)) {
            (Some(&from), Some(&to)) => &self.entries[from as usize..to as usize],
            _ => &[],
        }
    }

    /// The end of the longest expression that starts at `start` and ends at `limit` or before.
    pub(super) fn expression(&self, start: usize, limit: usize) -> Option<usize> {
        let entries = self.at(start);
        let from = entries.partition_point(|entry| entry.end as usize > limit);
        let found = entries[from..].iter().find(|entry| is_expression(entry.kind));
        found.map(|entry| entry.end as usize)
    }

    /// What the expression of exactly these tokens is: the innermost that has a name, else a call, else anything.
    pub(super) fn exact(&self, start: usize, end: usize) -> Option<Kind> {
        let entries = self.at(start);
        let from = entries.partition_point(|entry| entry.end as usize > end);
        let same = || entries[from..].iter().take_while(|entry| entry.end as usize == end).map(|entry| entry.kind);
        let named = |kind: &Kind| is_expression(*kind) && !matches!(kind, Kind::Unexposed | Kind::Call);
        let weak = |kind: &Kind| matches!(kind, Kind::Unexposed | Kind::Call);
        same().filter(named).last().or_else(|| same().find(weak))
    }

    /// The end of the cursor of that kind that starts at `start`.
    pub(super) fn end_of(&self, kind: Kind, start: usize) -> Option<usize> {
        self.at(start).iter().find(|entry| entry.kind == kind).map(|entry| entry.end as usize)
    }

    /// The declaration whose name the token at `at` is.
    pub(super) fn declared(&self, at: usize) -> Option<Kind> {
        self.names.get(&at).copied()
    }
}

fn is_named(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Function
            | Kind::Method
            | Kind::Constructor
            | Kind::Destructor
            | Kind::Conversion
            | Kind::Variable
            | Kind::Declaration
    )
}

fn is_expression(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Unexposed
            | Kind::Call
            | Kind::Parenthesis
            | Kind::Cast
            | Kind::Lambda
            | Kind::StatementExpression
            | Kind::Heap
            | Kind::Pack
            | Kind::Foreign
            | Kind::Expression
    )
}
