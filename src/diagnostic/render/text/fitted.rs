//! Text that fits into the columns of a terminal: prose is wrapped at blanks, excerpts of sources are cut.
//!
//! Guarantees: no line is longer, escape sequences for colours not counted; nothing is lost of prose.
//! Deliberately absent: characters that take two columns; each counts as one.

use std::io::{self, Write};

/// A writer that keeps lines within a width.
pub struct Fitted<'a> {
    out: &'a mut dyn Write,
    width: Option<usize>,
    line: Vec<u8>,
}

impl<'a> Fitted<'a> {
    /// Lines of any length pass if there is no `width`.
    pub fn new(out: &'a mut dyn Write, width: Option<usize>) -> Fitted<'a> {
        Fitted { out, width, line: Vec::new() }
    }
}

impl Write for Fitted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(width) = self.width else { return self.out.write(bytes) };
        for &byte in bytes {
            self.line.push(byte);
            if byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                self.out.write_all(fit(&String::from_utf8_lossy(&line), width).as_bytes())?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        self.out.write_all(&line)?;
        self.out.flush()
    }
}

/// A character, or an escape sequence, which takes no column.
enum Piece {
    Shown(char),
    Escape(String),
}

fn pieces(line: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            pieces.push(Piece::Shown(c));
            continue;
        }
        let mut escape = String::from(c);
        for next in rest.by_ref() {
            escape.push(next);
            if next.is_ascii_alphabetic() {
                break;
            }
        }
        pieces.push(Piece::Escape(escape));
    }
    pieces
}

fn fit(line: &str, width: usize) -> String {
    let pieces = pieces(line.trim_end_matches('\n'));
    let shown: Vec<char> =
        pieces.iter().filter_map(|piece| if let Piece::Shown(c) = piece { Some(*c) } else { None }).collect();
    if shown.len() <= width {
        return line.to_owned();
    }
    let breaks = if is_excerpt(&shown) { None } else { Some(breaks(&shown, width)) };
    let mut text = String::new();
    let mut column = 0;
    for piece in pieces {
        match (piece, &breaks) {
            (Piece::Escape(escape), _) => text.push_str(&escape),
            (Piece::Shown(c), None) => {
                column += 1;
                match column.cmp(&width) {
                    std::cmp::Ordering::Less => text.push(c),
                    std::cmp::Ordering::Equal => text.push('…'),
                    std::cmp::Ordering::Greater => {}
                }
            }
            (Piece::Shown(c), Some((at, indent))) => {
                if at.contains(&column) {
                    text.push('\n');
                    text.extend(std::iter::repeat_n(' ', *indent));
                    if c != ' ' {
                        text.push(c);
                    }
                } else {
                    text.push(c);
                }
                column += 1;
            }
        }
    }
    text.push('\n');
    text
}

/// Whether a line has the gutter of an excerpt, or shows where it is from.
fn is_excerpt(shown: &[char]) -> bool {
    let gutter = shown.iter().position(|c| !c.is_ascii_digit() && *c != ' ');
    gutter.is_some_and(|at| matches!(shown[at], '│' | '┌' | '·'))
}

/// Where a line of prose is broken, and how far what follows is indented.
fn breaks(shown: &[char], width: usize) -> (Vec<usize>, usize) {
    let blanks = shown.iter().take_while(|c| **c == ' ').count();
    let is_note = shown.get(blanks) == Some(&'=');
    // More would leave too little of a narrow line.
    let indent = (if is_note { blanks + 2 } else { blanks.max(2) }).min(width / 2);
    let mut breaks = Vec::new();
    let (mut start, mut room) = (0, width);
    while shown.len() - start > room {
        let last = (start + 1..=start + room).rev().find(|&at| shown.get(at) == Some(&' ') && at > start + blanks);
        let at = last.unwrap_or(start + room);
        breaks.push(at);
        // The blank at which a line is broken is not shown.
        start = if last.is_some() { at + 1 } else { at };
        room = width - indent;
    }
    (breaks, indent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_wrapped_and_excerpts_are_cut() {
        assert_eq!(fit("short\n", 20), "short\n");
        assert_eq!(fit("error: one two three four\n", 15), "error: one two\n  three four\n");
        assert_eq!(fit("  = one two three four\n", 15), "  = one two\n    three four\n");
        assert_eq!(fit("12 │     x[i] = y[i + 1];\n", 12), "12 │     x[…\n");
        assert_eq!(fit("\u{1b}[31mone two\u{1b}[0m three\n", 8), "\u{1b}[31mone two\u{1b}[0m\n  three\n");
    }

    #[test]
    fn no_line_is_longer_and_no_word_is_lost() {
        let long = "a ".repeat(30) + &"b".repeat(70) + " c d e\n";
        for width in 8..80 {
            let text = fit(&long, width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}: {text}");
            let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
            assert_eq!(letters(&text), letters(&long), "{width}");
        }
    }
}
