//! The preprocessor's directives in the text of a file: where they stand and what they name.
//!
//! Found by their lines, comments apart; a directive inside a raw string would be taken for one.

use std::ops::RangeInclusive;

/// One directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Directive {
    /// Its lines, from 1.
    pub(super) lines: RangeInclusive<u32>,
    /// The offset of its first byte.
    pub(super) start: usize,
    /// Its word: `define`, `include`, `pragma`; empty for `#` alone.
    pub(super) word: String,
    /// What follows, on one line.
    pub(super) rest: String,
}

impl Directive {
    /// The macro that a `#define` or `#undef` is about.
    pub(super) fn macro_name(&self) -> Option<&str> {
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let end = self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len());
        (["define", "undef"].contains(&&*self.word)).then_some(&self.rest[..end])
    }
}

/// All directives of a text, in order.
pub(super) fn directives(text: &str) -> Vec<Directive> {
    let mut found: Vec<Directive> = Vec::new();
    let mut in_comment = false;
    let mut continues = false;
    let mut start = 0;
    for (number, line) in (1u32..).zip(text.split_inclusive('\n')) {
        // Blanks behind a backslash do not keep it from continuing the line.
        let bare = line.trim_end();
        let ends_open = bare.ends_with('\\');
        if continues {
            if let Some(last) = found.last_mut() {
                last.lines = *last.lines.start()..=number;
                last.rest.push(' ');
                last.rest.push_str(bare.trim_end_matches('\\').trim());
            }
            continues = ends_open;
        } else if let Some(rest) = bare.trim_start().strip_prefix('#').filter(|_| !in_comment) {
            let rest = rest.trim_start();
            let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            let word = rest[..end].to_owned();
            let rest = rest[end..].trim_end_matches('\\').trim().to_owned();
            found.push(Directive { lines: number..=number, start, word, rest });
            continues = ends_open;
        }
        in_comment = comment_after(bare, in_comment);
        start += line.len();
    }
    found
}

/// The conditionals of a file, inner ones first: the directives from `#if` to `#endif` of each.
pub(super) fn conditionals(directives: &[Directive]) -> Vec<Vec<&Directive>> {
    let mut open: Vec<Vec<&Directive>> = Vec::new();
    let mut closed = Vec::new();
    for directive in directives {
        match directive.word.as_str() {
            "if" | "ifdef" | "ifndef" => open.push(vec![directive]),
            "elif" | "elifdef" | "elifndef" | "else" | "endif" => {
                let Some(group) = open.last_mut() else { continue };
                group.push(directive);
                if directive.word == "endif" {
                    closed.extend(open.pop());
                }
            }
            _ => {}
        }
    }
    closed.extend(open.into_iter().rev());
    closed
}

/// For each line whether a block comment is open at its end.
pub(super) fn open_comments(text: &str) -> Vec<bool> {
    let mut is_open = false;
    let after = |line| {
        is_open = comment_after(line, is_open);
        is_open
    };
    text.lines().map(after).collect()
}

/// Whether a block comment is open at the end of a line.
fn comment_after(line: &str, is_in_comment: bool) -> bool {
    let closed = |text: &str| text.find("*/").map(|at| at + 2);
    let mut rest = line;
    if is_in_comment {
        let Some(end) = closed(rest) else { return true };
        rest = &rest[end..];
    }
    while let Some(open) = rest.find("/*") {
        if rest[..open].contains("//") {
            return false;
        }
        rest = &rest[open + 2..];
        let Some(end) = closed(rest) else { return true };
        rest = &rest[end..];
    }
    false
}

/// The identifiers in a text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_found_with_their_lines() {
        let text = "#include <a.h>\n/* #define NO\n# define NO */ int x; // /*\n#  define F(x) \\\n  (x + N)\n#undef F\n#if N\n";
        let found = directives(text);
        let brief: Vec<_> = found.iter().map(|it| (*it.lines.start(), *it.lines.end(), it.word.as_str())).collect();
        assert_eq!(brief, [(1, 1, "include"), (4, 5, "define"), (6, 6, "undef"), (7, 7, "if")]);
        assert_eq!(found[0].rest, "<a.h>");
        assert_eq!(found[1].macro_name(), Some("F"));
        assert_eq!(found[1].rest, "F(x) (x + N)");
        assert_eq!(&text[found[1].start..=found[1].start], "#");
        assert_eq!(found[3].macro_name(), None);
    }

    #[test]
    fn conditionals_are_told_apart() {
        let text = "#if A\n#ifdef B\n#endif\n#define C\n#else\n#endif\n#endif\n#ifndef D\n";
        let found = directives(text);
        let lines = |group: &Vec<&Directive>| group.iter().map(|it| *it.lines.start()).collect::<Vec<_>>();
        let groups: Vec<_> = conditionals(&found).iter().map(lines).collect();
        assert_eq!(groups, [vec![2, 3], vec![1, 5, 6], vec![8]]);
    }
}
