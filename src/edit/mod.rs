//! Edits of text by byte ranges: insertions, replacements, and wraps that may nest.
//!
//! [`Edits`] collects them in any order; [`Edits::apply`] makes the new text in one pass. A wrap puts text before
//! and after its range and leaves what is inside to other edits, so an outer wrap encloses inner ones; of two wraps
//! of the same range the one that was added first is outside. An insertion at the end of a wrap stands outside it.
//!
//! Guarantees: every byte that no replacement covers is in the result, in order and unchanged
//! ([`Edited::original`] undoes all edits); ranges that overlap without nesting, and edits inside a replaced range,
//! are refused with both ranges named ([`EditError`]).
//!
//! Deliberately absent: files, languages, and what an edit means.

use std::cmp::Reverse;
use std::ops::Range;

/// Edits of one text.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    edits: Vec<Edit>,
}

#[derive(Clone, Debug)]
struct Edit {
    range: Range<usize>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Insert(String),
    Wrap(String, String),
    Replace(String),
}

/// Why edits cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// Two ranges overlap and neither holds the other, or one lies in text that the other replaces.
    #[error("the edit of bytes {}..{} meets that of bytes {}..{}", second.start, second.end, first.start, first.end)]
    Overlap {
        /// The range that starts first.
        first: Range<usize>,
        /// The other one.
        second: Range<usize>,
    },
    /// A range does not lie in the text, or cuts a character.
    #[error("bytes {}..{} are no part of the text", .0.start, .0.end)]
    Outside(Range<usize>),
}

/// A text after its edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The new text.
    pub text: String,
    /// The new text in pieces, in order, without gaps.
    pub pieces: Vec<Piece>,
}

/// One piece of an [`Edited`] text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The range of the new text.
    pub new: Range<usize>,
    /// The range of the old text that it stands for; empty where text was inserted.
    pub old: Range<usize>,
    /// Whether the old bytes stand there unchanged.
    pub is_kept: bool,
}

impl Edits {
    /// No edits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Puts `text` at byte `at`, outside every wrap that starts or ends there; several stand in the order in which
    /// they were added.
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.edits.push(Edit { range: at..at, kind: Kind::Insert(text.into()) });
    }

    /// Puts `before` and `after` around `range`.
    pub fn wrap(&mut self, range: Range<usize>, before: impl Into<String>, after: impl Into<String>) {
        self.edits.push(Edit { range, kind: Kind::Wrap(before.into(), after.into()) });
    }

    /// Puts `text` in the place of `range`.
    pub fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.edits.push(Edit { range, kind: Kind::Replace(text.into()) });
    }

    /// The text after all edits.
    pub fn apply(&self, text: &str) -> Result<Edited, EditError> {
        let mut order: Vec<&Edit> = self.edits.iter().collect();
        // The sort is stable: what was added first stays first.
        order.sort_by_key(|edit| (edit.range.start, class(edit), Reverse(edit.range.end), rank(edit)));
        let mut pass = Pass { text, result: String::with_capacity(text.len() * 2), pieces: Vec::new(), at: 0 };
        let mut open: Vec<(&Range<usize>, &str)> = Vec::new();
        let mut replaced: Option<&Range<usize>> = None;
        for edit in order {
            check(text, &edit.range)?;
            while let Some((range, after)) = open.pop_if(|(range, _)| range.end <= edit.range.start) {
                pass.keep(range.end);
                pass.put(after, range.end..range.end);
            }
            let around = open.last().map(|(range, _)| *range).filter(|range| edit.range.end > range.end);
            let inside = replaced.filter(|range| edit.range.start < range.end);
            if let Some(first) = around.or(inside) {
                return Err(EditError::Overlap { first: first.clone(), second: edit.range.clone() });
            }
            pass.keep(edit.range.start);
            match &edit.kind {
                Kind::Insert(text) => pass.put(text, edit.range.clone()),
                Kind::Replace(text) => {
                    pass.put(text, edit.range.clone());
                    pass.at = edit.range.end;
                    replaced = Some(&edit.range);
                }
                Kind::Wrap(before, after) => {
                    pass.put(before, edit.range.start..edit.range.start);
                    open.push((&edit.range, after));
                }
            }
        }
        while let Some((range, after)) = open.pop() {
            pass.keep(range.end);
            pass.put(after, range.end..range.end);
        }
        pass.keep(text.len());
        Ok(Edited { text: pass.result, pieces: pass.pieces })
    }
}

/// At one place, insertions come first.
fn class(edit: &Edit) -> u8 {
    u8::from(!matches!(edit.kind, Kind::Insert(_)))
}

/// Around one range, wraps are outside of a replacement.
fn rank(edit: &Edit) -> u8 {
    u8::from(matches!(edit.kind, Kind::Replace(_)))
}

fn check(text: &str, range: &Range<usize>) -> Result<(), EditError> {
    match text.get(range.clone()) {
        Some(_) => Ok(()),
        None => Err(EditError::Outside(range.clone())),
    }
}

/// The text as it is being made.
struct Pass<'a> {
    text: &'a str,
    result: String,
    pieces: Vec<Piece>,
    /// How far the old text has been read.
    at: usize,
}

impl Pass<'_> {
    /// Copies the old text up to `end`.
    fn keep(&mut self, end: usize) {
        if end > self.at {
            let start = self.result.len();
            self.result.push_str(&self.text[self.at..end]);
            self.pieces.push(Piece { new: start..self.result.len(), old: self.at..end, is_kept: true });
            self.at = end;
        }
    }

    fn put(&mut self, text: &str, old: Range<usize>) {
        let start = self.result.len();
        self.result.push_str(text);
        self.pieces.push(Piece { new: start..self.result.len(), old, is_kept: false });
    }
}

impl Edited {
    /// The text before the edits: what was kept, and of what was replaced the bytes of `source`.
    pub fn original(&self, source: &str) -> String {
        let mut result = String::with_capacity(source.len());
        for piece in &self.pieces {
            let kept = self.text.get(piece.new.clone()).filter(|_| piece.is_kept);
            result.push_str(kept.or_else(|| source.get(piece.old.clone())).unwrap_or(""));
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(text: &str, add: impl FnOnce(&mut Edits)) -> Result<String, EditError> {
        let mut edits = Edits::new();
        add(&mut edits);
        let edited = edits.apply(text)?;
        assert_eq!(edited.original(text), text);
        Ok(edited.text)
    }

    #[test]
    fn wraps_nest_in_whatever_order_they_were_added() {
        let text = "a[b[i]] = c";
        let result = applied(text, |edits| {
            edits.wrap(2..6, "r(", ")");
            edits.wrap(0..7, "w(", ")");
            edits.wrap(10..11, "r(", ")");
        });
        assert_eq!(result.unwrap(), "w(a[r(b[i])]) = r(c)");
    }

    #[test]
    fn of_equal_ranges_the_first_is_outside_and_a_replacement_is_inside() {
        let result = applied("x", |edits| {
            edits.replace(0..1, "y");
            edits.wrap(0..1, "1(", ")1");
            edits.wrap(0..1, "2(", ")2");
        });
        assert_eq!(result.unwrap(), "1(2(y)2)1");
    }

    #[test]
    fn an_insertion_stands_outside_the_wraps_that_meet_it() {
        let result = applied("ab", |edits| {
            edits.wrap(0..1, "(", ")");
            edits.wrap(1..2, "[", "]");
            edits.insert(1, "+");
            edits.insert(1, "-");
        });
        assert_eq!(result.unwrap(), "(a)+-[b]");
    }

    #[test]
    fn ranges_that_do_not_nest_are_refused() {
        let crossing = applied("abcd", |edits| {
            edits.wrap(0..3, "(", ")");
            edits.wrap(1..4, "(", ")");
        });
        assert_eq!(crossing, Err(EditError::Overlap { first: 0..3, second: 1..4 }));
        let hidden = applied("abcd", |edits| {
            edits.replace(0..3, "x");
            edits.insert(2, "y");
        });
        assert_eq!(hidden, Err(EditError::Overlap { first: 0..3, second: 2..2 }));
        let twice = applied("abcd", |edits| {
            edits.replace(0..3, "x");
            edits.replace(0..3, "y");
        });
        assert_eq!(twice, Err(EditError::Overlap { first: 0..3, second: 0..3 }));
        let outside = applied("ä", |edits| edits.insert(1, "x"));
        assert_eq!(outside, Err(EditError::Outside(1..1)));
    }
}
