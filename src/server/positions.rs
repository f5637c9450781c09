//! Places of texts in the editor's terms: lines and characters from 0, in the units that were agreed on.

use crate::source::{SourceMap, Span};
use lsp_types::{Position, PositionEncodingKind};
use std::ops::Range;

/// Where the lines of a text begin, as the protocol counts them: behind a line feed, a carriage return, or both.
#[derive(Clone, Debug)]
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn new(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let is_end = |at: usize| bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
        Lines(std::iter::once(0).chain((0..bytes.len()).filter(|&at| is_end(at)).map(|at| at + 1)).collect())
    }

    /// The line, from 0, that a byte is in.
    fn of(&self, offset: usize) -> usize {
        self.0.partition_point(|&start| start <= offset) - 1
    }

    /// The first byte of a line, from 0, if there is such a line.
    fn start(&self, line: usize) -> Option<usize> {
        self.0.get(line).copied()
    }

    /// The bytes of a line, from 0, without what ends it; beyond the last line, the end of the text.
    pub(super) fn within(&self, text: &str, line: usize) -> Range<usize> {
        let Some(start) = self.start(line) else { return text.len()..text.len() };
        let end = self.start(line + 1).unwrap_or(text.len());
        let shown = text[start..end].trim_end_matches('\n').trim_end_matches('\r');
        start..start + shown.len()
    }
}

/// What a character of a position is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// A byte.
    Utf8,
    /// Two bytes of UTF-16: what every editor knows.
    Utf16,
    /// A character.
    Utf32,
}

impl Encoding {
    /// The first of those that an editor offers which is here; bytes before others, since they cost nothing.
    pub(super) fn agreed(offered: &[PositionEncodingKind]) -> Encoding {
        let is_offered = |kind: &PositionEncodingKind| offered.contains(kind);
        if is_offered(&PositionEncodingKind::UTF8) {
            Encoding::Utf8
        } else if is_offered(&PositionEncodingKind::UTF32) && !is_offered(&PositionEncodingKind::UTF16) {
            Encoding::Utf32
        } else {
            Encoding::Utf16
        }
    }

    /// The name that the protocol has for it.
    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn length(self, character: char) -> usize {
        match self {
            Encoding::Utf8 => character.len_utf8(),
            Encoding::Utf16 => character.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }

    /// The position of a byte of a text; beyond the end, the end.
    pub(super) fn position(self, text: &str, lines: &Lines, offset: usize) -> Position {
        let offset = (0..=offset.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let line = lines.of(offset);
        let start = lines.start(line).unwrap_or(0);
        let character: usize = text[start..offset].chars().map(|character| self.length(character)).sum();
        let number = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Position::new(number(line), number(character))
    }

    /// The byte of a text at a position; beyond a line its end, beyond the last line the end of the text.
    pub(super) fn offset(self, text: &str, lines: &Lines, position: Position) -> usize {
        let line = lines.within(text, position.line as usize);
        let mut left = position.character as usize;
        for (at, character) in text[line.clone()].char_indices() {
            let length = self.length(character);
            if left < length {
                return line.start + at;
            }
            left -= length;
        }
        line.end
    }

    /// The range of a place in the file that shows it.
    pub(super) fn range(self, sources: &SourceMap, span: Span) -> lsp_types::Range {
        let span = sources.visible(span);
        let text = &sources.file(span.file).text;
        let lines = Lines::new(text);
        let at = |offset: u32| self.position(text, &lines, offset as usize);
        lsp_types::Range::new(at(span.start), at(span.end))
    }

    /// The whole of a line that a report names (from 1, each behind a line feed), without the blanks around it.
    pub(super) fn line_of_report(self, text: &str, lines: &Lines, line: u32) -> lsp_types::Range {
        let start = match line.saturating_sub(1) as usize {
            0 => 0,
            before => text.match_indices('\n').nth(before - 1).map_or(text.len(), |(at, _)| at + 1),
        };
        let within = text[start..].split('\n').next().unwrap_or("");
        let first = start + (within.len() - within.trim_start().len());
        let last = start + within.trim_end().len();
        let at = |offset| self.position(text, lines, offset);
        lsp_types::Range::new(at(first.min(last)), at(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_bytes_are_each_others_in_all_units() {
        let text = "aµ𝄞b\r\n\nmid\rlast";
        let lines = Lines::new(text);
        for (encoding, of_b) in [(Encoding::Utf8, 7), (Encoding::Utf16, 4), (Encoding::Utf32, 3)] {
            assert_eq!(encoding.position(text, &lines, 7), Position::new(0, of_b));
            for (offset, character) in text.char_indices().filter(|(_, character)| !"\r\n".contains(*character)) {
                let position = encoding.position(text, &lines, offset);
                assert_eq!(encoding.offset(text, &lines, position), offset, "{encoding:?} {character}");
            }
            assert_eq!(encoding.offset(text, &lines, Position::new(0, 99)), 8, "the end of the line, before its break");
            assert_eq!(encoding.offset(text, &lines, Position::new(9, 0)), text.len());
            assert_eq!(
                encoding.position(text, &lines, text.len()),
                Position::new(3, 4),
                "a carriage return ends a line"
            );
            let of_report = encoding.line_of_report(text, &lines, 3);
            assert_eq!((of_report.start, of_report.end), (Position::new(2, 0), Position::new(3, 4)));
        }
    }

    #[test]
    fn an_editor_that_offers_nothing_counts_in_utf16() {
        assert_eq!(Encoding::agreed(&[]), Encoding::Utf16);
        assert_eq!(Encoding::agreed(&[PositionEncodingKind::UTF16, PositionEncodingKind::UTF8]), Encoding::Utf8);
        assert_eq!(Encoding::agreed(&[PositionEncodingKind::UTF32]), Encoding::Utf32);
    }
}
