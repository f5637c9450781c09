//! Markdown that fits into the columns of a terminal.
//!
//! Guarantees: code blocks, tables and headings stay as they are, however long; of everything else no line is longer, but for a
//! single word that is; no character but blanks and line breaks comes or goes. A span of code is not broken where a line has
//! room for it.
//!
//! Deliberately absent: colours, and any reading of Markdown beyond what these pages and lists have.

/// A paragraph, or an item of a list.
#[derive(Default)]
struct Block {
    text: String,
    /// How far its first line and those below it are indented.
    first: String,
    rest: String,
}

/// `text` with its prose wrapped at `width`.
pub(super) fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut open: Option<Block> = None;
    let mut is_code = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        let is_prose = !is_code && !is_fence && !line.trim().is_empty() && !line.starts_with(['#', '|']);
        is_code ^= is_fence;
        let (first, rest, words) = if is_prose { indents(line) } else { (0, 0, line) };
        let begins = is_prose && (open.is_none() || rest > first || is_listed(line));
        if !is_prose || begins {
            out.extend(open.take().map(|block| block.wrapped(width)));
        }
        match &mut open {
            _ if !is_prose => {
                out.push_str(line);
                out.push('\n');
            }
            Some(block) => {
                block.text.push(' ');
                block.text.push_str(words.trim());
            }
            None => {
                let head = &line[..line.len() - words.len()];
                open = Some(Block { text: words.trim().to_owned(), first: head.to_owned(), rest: " ".repeat(rest) });
            }
        }
    }
    out.extend(open.map(|block| block.wrapped(width)));
    out
}

/// A line of a listing: a name, and what it is behind several blanks.
fn is_listed(line: &str) -> bool {
    line.trim_start().trim_start_matches("- ").contains("  ")
}

/// Where the words of a line begin, where those below them do, and the words. Below an item of a list lines stand under its words.
fn indents(line: &str) -> (usize, usize, &str) {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    let inner = &line[blanks..];
    let mark = if inner.starts_with("- ") { 2 } else { 0 };
    let number = inner.find(". ").filter(|at| *at > 0 && inner[..*at].bytes().all(|byte| byte.is_ascii_digit()));
    let mark = number.map_or(mark, |at| at + 2);
    if mark == 0
        && let Some(gap) = inner.find("  ")
    {
        let behind = inner[gap..].trim_start_matches(' ');
        let at = line.len() - behind.len();
        return (blanks, at, behind);
    }
    (blanks, blanks + mark, &inner[mark..])
}

impl Block {
    fn wrapped(&self, width: usize) -> String {
        // More would leave too little of a narrow line.
        let rest = &self.rest[..self.rest.len().min(width / 2)];
        let mut out = self.first.clone();
        let mut column = self.first.chars().count();
        let mut is_start = true;
        for word in words(&self.text, width.saturating_sub(rest.len())) {
            let length = word.chars().count();
            if !is_start && column + 1 + length > width {
                out.push('\n');
                out.push_str(rest);
                column = rest.len();
            } else if !is_start {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += length;
            is_start = false;
        }
        out.push('\n');
        out
    }
}

/// The words of a text; a span of code that fits into a line is one.
fn words(text: &str, room: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let plain = rest.find(' ').unwrap_or(rest.len());
        let mut end = plain;
        // A blank within a span of code ends no word.
        while rest[..end].matches('`').count() % 2 == 1 {
            let Some(more) = rest[end..].find('`') else { break };
            end += more + 1;
            end += rest[end..].find(' ').unwrap_or(rest.len() - end);
        }
        if rest[..end].chars().count() > room {
            end = plain;
        }
        words.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_wrapped_and_code_and_tables_are_not() {
        let text = "# a title that is longer than all\n\none two three four\nfive\n\n```cuda bad\nint  long_name = another_name;\n```\n\n| a | table with long rows |\n|---|---|\n";
        let expected = "# a title that is longer than all\n\none two three\nfour five\n\n```cuda bad\nint  long_name = another_name;\n```\n\n| a | table with long rows |\n|---|---|\n";
        assert_eq!(wrapped(text, 14), expected);
    }

    #[test]
    fn items_and_listings_hang_below_their_words() {
        assert_eq!(wrapped("- one two three\n  four\n- five\n", 11), "- one two\n  three\n  four\n- five\n");
        assert_eq!(wrapped("12. one two three\n", 12), "12. one two\n    three\n");
        assert_eq!(wrapped("name    what it is\nother   short\n", 14), "name    what\n       it is\nother   short\n");
    }

    #[test]
    fn spans_of_code_stay_whole_where_there_is_room() {
        assert_eq!(wrapped("see `a b` and `c d`, then\n", 12), "see `a b`\nand `c d`,\nthen\n");
        assert_eq!(wrapped("see `a much longer span` there\n", 12), "see `a much\nlonger span`\nthere\n");
        assert_eq!(wrapped("an odd ` mark\n", 8), "an odd `\nmark\n");
    }

    #[test]
    fn no_line_of_prose_is_longer_and_nothing_is_lost() {
        let text = "- ".to_owned() + &"word `code span` ".repeat(20) + "\n\n" + &"x y ".repeat(40) + "\n";
        for width in 20..90 {
            let out = wrapped(&text, width);
            assert!(out.lines().all(|line| line.chars().count() <= width), "{width}: {out}");
            let letters = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(letters(&out), letters(&text), "{width}");
        }
    }
}
