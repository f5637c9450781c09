//! Which tokens a span of the tree covers.
//!
//! The span of a node is that of its first token joined with that of its last. Where macros are called between them the
//! join is a range of the text around the calls, so that it is found again through the calls that brought a token.

use super::Word;
use crate::source::{ExpansionId, FileId, SourceMap, Span};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Ranges of one text that tokens come from: start, end, and the position of the token.
type Ranges = Vec<(u32, u32, usize)>;

/// The tokens of a function by their places.
pub(super) struct Places {
    exact: FxHashMap<Span, usize>,
    /// By file and expansion, sorted by start.
    levels: FxHashMap<(FileId, Option<ExpansionId>), Ranges>,
    pub(super) count: usize,
}

impl Places {
    pub(super) fn new(tokens: &[Word<'_>], sources: &SourceMap) -> Places {
        let mut places = Places { exact: FxHashMap::default(), levels: FxHashMap::default(), count: tokens.len() };
        for (at, token) in tokens.iter().enumerate() {
            places.exact.insert(token.span, at);
            let mut level = token.span;
            loop {
                let ranges = places.levels.entry((level.file, level.expansion)).or_default();
                ranges.push((level.start, level.end, at));
                let Some(expansion) = level.expansion else { break };
                level = sources.expansion(expansion).call_site;
            }
        }
        places.levels.values_mut().for_each(|ranges| ranges.sort_unstable());
        places
    }

    /// The tokens from the first to the last that come from the range of `span`.
    pub(super) fn tokens_of(&self, span: Span) -> Range<usize> {
        if let Some(&at) = self.exact.get(&span) {
            return at..at + 1;
        }
        let Some(ranges) = self.levels.get(&(span.file, span.expansion)) else { return 0..0 };
        let from = ranges.partition_point(|&(start, ..)| start < span.start);
        let inside = ranges[from..].iter().take_while(|(start, ..)| *start < span.end);
        let inside = inside.filter(|(_, end, _)| *end <= span.end).map(|&(.., at)| at);
        let (first, last) = inside.fold((usize::MAX, 0), |(first, last), at| (first.min(at), last.max(at)));
        if first == usize::MAX { 0..0 } else { first..last + 1 }
    }
}
