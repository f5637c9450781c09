//! Open texts, as the editor says that they are.

use super::positions::{Encoding, Lines};
use lsp_types::TextDocumentContentChangeEvent;
use std::sync::Arc;

/// A text with its lines.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// What stands there.
    pub(super) text: Arc<str>,
    /// Where its lines begin.
    pub(super) lines: Arc<Lines>,
}

impl Text {
    pub(super) fn new(text: String) -> Text {
        let lines = Arc::new(Lines::new(&text));
        Text { text: text.into(), lines }
    }

    /// The text after changes, each of which is of the text that the one before left.
    pub(super) fn changed(&self, changes: Vec<TextDocumentContentChangeEvent>, encoding: Encoding) -> Text {
        let mut text = self.text.to_string();
        let mut lines = Arc::clone(&self.lines);
        for change in changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let from = encoding.offset(&text, &lines, range.start);
                    let to = encoding.offset(&text, &lines, range.end).max(from);
                    text.replace_range(from..to, &change.text);
                }
            }
            lines = Arc::new(Lines::new(&text));
        }
        Text { text: text.into(), lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lsp_types::{Position, Range};

    fn change(from: (u32, u32), to: (u32, u32), text: &str) -> TextDocumentContentChangeEvent {
        let range = Range::new(Position::new(from.0, from.1), Position::new(to.0, to.1));
        TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: text.to_owned() }
    }

    #[test]
    fn each_change_is_of_what_the_one_before_left() {
        let text = Text::new("one\ntwö\nthree".to_owned());
        let changes = vec![change((1, 2), (1, 3), "o\nx"), change((2, 1), (3, 0), ""), change((0, 0), (0, 0), "> ")];
        let changed = text.changed(changes, Encoding::Utf16);
        assert_eq!(&*changed.text, "> one\ntwo\nxthree");
        let whole = TextDocumentContentChangeEvent { range: None, range_length: None, text: "new".to_owned() };
        assert_eq!(&*changed.changed(vec![whole], Encoding::Utf16).text, "new");
    }
}
