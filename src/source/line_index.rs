//! From byte offsets to lines and columns.
//!
//! Lines and columns count from 1; a column counts characters, not bytes, as editors do.

/// A position for people: line and column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// Start offsets of the lines of one text.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Finds the lines of `text`; `\n`, `\r\n` and a lone `\r` at the end of the text are handled as editors do.
    pub fn new(text: &str) -> Self {
        let starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at as u32 + 1))
            .collect();
        LineIndex { starts }
    }

    /// The position of byte `offset`; an offset past the end is the end.
    pub fn position(&self, text: &str, offset: usize) -> LineColumn {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|&start| start as usize <= offset) - 1;
        let start = self.starts[line] as usize;
        let column = text.as_bytes()[start..offset].iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        LineColumn { line: line as u32 + 1, column: column as u32 + 1 }
    }

    /// Number of lines; a text without a line break has one.
    pub fn line_count(&self) -> usize {
        self.starts.len()
    }

    /// Byte offset at which `line` (from 1) starts, if there is such a line.
    pub fn line_start(&self, line: u32) -> Option<usize> {
        self.starts.get((line as usize).checked_sub(1)?).map(|&start| start as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_from_one_and_in_characters() {
        let text = "ab\nµx\n";
        let index = LineIndex::new(text);
        assert_eq!(index.position(text, 0), LineColumn { line: 1, column: 1 });
        assert_eq!(index.position(text, 3), LineColumn { line: 2, column: 1 });
        assert_eq!(index.position(text, 5), LineColumn { line: 2, column: 2 });
        assert_eq!(index.position(text, 99), LineColumn { line: 3, column: 1 });
        assert_eq!(index.line_start(2), Some(3));
    }
}
