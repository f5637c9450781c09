//! One mutant of a program, and the text that it is.

use crate::instrument::mutant::{self, Edit};
use crate::mutation::Mutant;
use crate::source::Span;

/// One mutant, with what it is in the instrumented unit.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) mutant: Mutant,
    /// Which instrumented file it is of.
    pub(super) file: usize,
    /// What is done to that.
    pub(super) of_unit: mutant::Mutant,
}

/// The text with edits, which do not touch each other.
pub(super) fn edited(text: &str, edits: &[Edit]) -> String {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    let mut text = text.to_owned();
    for edit in edits {
        let range = bytes(edit.span);
        if text.get(range.clone()).is_some() {
            text.replace_range(range, &edit.text);
        }
    }
    text
}

/// The bytes of a span, in the text of its file.
pub(super) fn bytes(span: Span) -> std::ops::Range<usize> {
    span.start as usize..span.end as usize
}
