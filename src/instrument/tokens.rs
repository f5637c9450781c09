//! The tokens of a unit: from a node to its tokens, and which bracket closes which.
//!
//! All edits are made on tokens, because a token knows both its place in the text and the macro call that brought
//! it there. A range of the text cannot say which tokens a node has whose ends come from different macro calls;
//! therefore the front end is given [`numbered`] tokens, whose ranges are their numbers, and every node has its
//! tokens exactly. A range that cuts brackets has no tokens: nothing is ever wrapped in halves.

use crate::preprocess::{Output, TokenFlags};
use crate::source::{FileId, SourceMap, Span, own_header};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// A copy of `output` in which the range of each token says its number: the front end's tree then says which tokens
/// each node has. Of the original, only the tokens matter; there are no diagnostics, includes or conditionals in it.
pub fn numbered(output: &Output) -> Output {
    let mut sources = SourceMap::new();
    let file = sources.add_file("<tokens>", " ".repeat(2 * output.tokens.len()));
    let mut copy = output.clone();
    for (at, token) in copy.tokens.iter_mut().enumerate() {
        token.span = Span::new(file, 2 * at, 2 * at + 1);
    }
    let (diagnostics, missing_includes, includes) = (Vec::new(), Vec::new(), Vec::new());
    Output {
        sources,
        diagnostics,
        missing_includes,
        sought: Vec::new(),
        modelled: Vec::new(),
        includes,
        skipped: Vec::new(),
        left_out: Vec::new(),
        undecided: Vec::new(),
        packed: Vec::new(),
        ..copy
    }
}

/// The place in the text of a span among [`numbered`] tokens.
pub fn place_of(output: &Output, span: Span) -> Option<Span> {
    let first = output.tokens.get(span.start as usize / 2)?.span;
    let last = output.tokens.get((span.end as usize).saturating_sub(1) / 2).map_or(first, |token| token.span);
    Some(output.sources.join(first, last))
}

/// The tokens of one unit.
pub(super) struct Tokens<'a> {
    output: &'a Output,
    /// The bracket that belongs to the one at this position.
    partners: Vec<Option<usize>>,
    /// Files whose tokens came in more than once.
    repeated: FxHashSet<FileId>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(output: &'a Output) -> Self {
        Tokens { output, partners: partners(output), repeated: repeated(output) }
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

    /// The macro of raceproof's own header of which the token is what the header says for raceproof.
    pub(super) fn annotation(&self, at: usize) -> Option<&'static str> {
        let file = self.sources().file(self.span(at)?.file);
        own_header::macro_of(self.text(at)).filter(|_| own_header::is_own(file))
    }

    /// The bracket that belongs to the bracket at `at`.
    pub(super) fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).copied().flatten()
    }

    /// What stands in the parentheses, if that is all.
    pub(super) fn without_parentheses(&self, mut range: Range<usize>) -> Range<usize> {
        while self.text(range.start) == "(" && self.partner(range.start) == Some(range.end - 1) {
            range = range.start + 1..range.end - 1;
        }
        range
    }

    /// The token of an operator that is spelled like this, between its operands.
    pub(super) fn operator_of(&self, whole: Range<usize>, sign: &str, [left, right]: [Span; 2]) -> Option<usize> {
        let (left, right) = (self.range(left)?, self.range(right)?);
        let mut between = (left.end..right.start).filter(|&at| !matches!(self.text(at), "(" | ")"));
        let at = between.next().filter(|&at| self.text(at) == sign)?;
        (between.next().is_none() && left.start >= whole.start && right.end <= whole.end).then_some(at)
    }

    /// The tokens of a node, if it cuts no brackets.
    pub(super) fn range(&self, span: Span) -> Option<Range<usize>> {
        let range = span.start as usize / 2..(span.end as usize).div_ceil(2);
        let range = self.with_parentheses(range);
        (range.start < range.end && range.end <= self.len() && self.is_whole(range.clone())).then_some(range)
    }

    /// The front end leaves out the parentheses of `(name)`; a node that starts or ends there has them back.
    fn with_parentheses(&self, mut range: Range<usize>) -> Range<usize> {
        let pair = |open: usize| self.text(open) == "(" && self.partner(open) == Some(open + 2);
        if range.len() > 1 && range.start > 0 && pair(range.start - 1) {
            range.start -= 1;
        }
        if range.len() > 1 && range.end > 1 && pair(range.end - 2) {
            range.end += 1;
        }
        range
    }

    /// The place in the text of a node; of one without tokens, the start of the unit.
    pub(super) fn place_of(&self, span: Span) -> Span {
        let ends = self.range(span).and_then(|range| Some((self.span(range.start)?, self.span(range.end - 1)?)));
        match ends {
            Some((first, last)) => self.output.sources.join(first, last),
            None => place_of(self.output, span).unwrap_or(span),
        }
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

    /// Whether the file that a token is written in came in more than once.
    pub(super) fn is_repeated(&self, at: usize) -> bool {
        self.span(at).is_some_and(|span| self.repeated.contains(&self.sources().visible(span).file))
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

/// The files of which a token is there twice.
fn repeated(output: &Output) -> FxHashSet<FileId> {
    let mut seen = FxHashSet::default();
    let written = output.tokens.iter().map(|token| token.span).filter(|span| span.expansion.is_none());
    written.filter(|span| !seen.insert((span.file, span.start))).map(|span| span.file).collect()
}
