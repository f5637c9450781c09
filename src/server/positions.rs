//! Places of texts in the editor's terms: lines and characters from 0, in the units that were agreed on.

use crate::source::{LineIndex, SourceMap, Span};
use lsp_types::{Position, PositionEncodingKind, Range};

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
    pub(super) fn position(self, text: &str, lines: &LineIndex, offset: usize) -> Position {
        let offset = (0..=offset.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let line = lines.position(text, offset).line;
        let start = lines.line_start(line).unwrap_or(0);
        let character: usize = text[start..offset].chars().map(|character| self.length(character)).sum();
        Position::new(line - 1, u32::try_from(character).unwrap_or(u32::MAX))
    }

    /// The byte of a text at a position; beyond a line its end, beyond the last line the end of the text.
    pub(super) fn offset(self, text: &str, lines: &LineIndex, position: Position) -> usize {
        let Some(start) = lines.line_start(position.line.saturating_add(1)) else { return text.len() };
        let end = lines.line_start(position.line.saturating_add(2)).unwrap_or(text.len());
        let line = text[start..end].trim_end_matches('\n').trim_end_matches('\r');
        let mut left = position.character as usize;
        for (at, character) in line.char_indices() {
            let length = self.length(character);
            if left < length {
                return start + at;
            }
            left -= length;
        }
        start + line.len()
    }

    /// The range of a place in the file that shows it.
    pub(super) fn range(self, sources: &SourceMap, span: Span) -> Range {
        let span = sources.visible(span);
        let file = sources.file(span.file);
        let at = |offset: u32| self.position(&file.text, &file.lines, offset as usize);
        Range::new(at(span.start), at(span.end))
    }
}

/// The whole of a line, from 0, without the blanks before it.
pub(super) fn whole_line(text: &str, lines: &LineIndex, line: u32, encoding: Encoding) -> Range {
    let start = lines.line_start(line + 1).unwrap_or(text.len());
    let end = lines.line_start(line + 2).unwrap_or(text.len());
    let within = &text[start..end];
    let first = start + (within.len() - within.trim_start().len()).min(within.len());
    let last = start + within.trim_end().len();
    let at = |offset| encoding.position(text, lines, offset);
    Range::new(at(first.min(last)), at(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_bytes_are_each_others_in_all_units() {
        let text = "aµ𝄞b\r\n\nlast";
        let lines = LineIndex::new(text);
        for (encoding, of_b) in [(Encoding::Utf8, 7), (Encoding::Utf16, 4), (Encoding::Utf32, 3)] {
            assert_eq!(encoding.position(text, &lines, 7), Position::new(0, of_b));
            for (offset, character) in text.char_indices().filter(|(_, character)| !"\r\n".contains(*character)) {
                let position = encoding.position(text, &lines, offset);
                assert_eq!(encoding.offset(text, &lines, position), offset, "{encoding:?} {character}");
            }
            assert_eq!(encoding.offset(text, &lines, Position::new(0, 99)), 8, "the end of the line, before its break");
            assert_eq!(encoding.offset(text, &lines, Position::new(9, 0)), text.len());
        }
    }

    #[test]
    fn an_editor_that_offers_nothing_counts_in_utf16() {
        assert_eq!(Encoding::agreed(&[]), Encoding::Utf16);
        assert_eq!(Encoding::agreed(&[PositionEncodingKind::UTF16, PositionEncodingKind::UTF8]), Encoding::Utf8);
        assert_eq!(Encoding::agreed(&[PositionEncodingKind::UTF32]), Encoding::Utf32);
    }
}
