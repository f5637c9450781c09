//! What a comment says: `// raceproof: ignore[data-race, array-bounds] the caller pads the row`.
//!
//! A comment is one of these if it begins with `raceproof:` and a word of [`WORDS`]; a word that is near one of them, with a
//! bracket behind it, is a slip that is told. Any other comment is prose.
//!
//! Deliberately absent: whether rules are known, and what a comment is about.

use crate::diagnostic::suppression::Slip;
use crate::source::spelling::nearest;
use std::ops::Range;

/// What a comment begins with.
pub(super) const MARK: &str = "raceproof:";

/// What it is about, by its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Line,
    Kernel,
    File,
}

/// The words.
const WORDS: [(&str, Word); 3] = [("ignore", Word::Line), ("ignore-kernel", Word::Kernel), ("ignore-file", Word::File)];

/// What a comment says; ranges are those of the comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) word: Word,
    pub(super) rules: Vec<Range<usize>>,
    pub(super) reason: String,
    pub(super) slip: Option<Slip>,
}

/// What a comment says, if it is meant to suppress something.
pub(super) fn said(comment: &str) -> Option<Said> {
    let end = if comment.starts_with("/*") { comment.len() - 2 } else { comment.len() };
    let text = comment.get(..end)?;
    let start = text.find(|c: char| !c.is_whitespace() && !"/*!<".contains(c))?;
    let rest = text[start..].strip_prefix(MARK)?.trim_start();
    let typed = rest.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').next().unwrap_or_default();
    let behind = &rest[typed.len()..];
    let known = WORDS.iter().find(|(name, _)| *name == typed);
    let Some(&(_, word)) = known else {
        let meant = nearest(typed, WORDS.iter().map(|(name, _)| *name)).filter(|_| behind.starts_with('['))?;
        let slip = Some(Slip::Word(typed.to_owned(), meant));
        return Some(Said { word: Word::Line, rules: Vec::new(), reason: String::new(), slip });
    };
    let slipped = |slip| Some(Said { word, rules: Vec::new(), reason: String::new(), slip: Some(slip) });
    let Some(list) = behind.strip_prefix('[') else { return slipped(Slip::NoRules) };
    let Some((list, reason)) = list.split_once(']') else { return slipped(Slip::Open) };
    let at = text.len() - (list.len() + 1 + reason.len());
    let rules = names(list).map(|name| at + name.start..at + name.end).collect::<Vec<_>>();
    if rules.is_empty() {
        return slipped(Slip::NoRules);
    }
    Some(Said { word, rules, reason: in_words(reason), slip: None })
}

/// The names between commas.
fn names(list: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    list.split(',').filter_map(move |part| {
        let start = at + (part.len() - part.trim_start().len());
        at += part.len() + 1;
        let name = part.trim();
        (!name.is_empty()).then(|| start..start + name.len())
    })
}

/// A reason on one line, without what joins it to the bracket or begins the lines of a comment.
fn in_words(reason: &str) -> String {
    let lines = reason.lines().map(|line| line.trim().trim_start_matches('*').trim());
    let text = lines.collect::<Vec<_>>().join(" ");
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || ":-–—".contains(c));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of<'a>(comment: &'a str, said: &Said) -> Vec<&'a str> {
        said.rules.iter().map(|range| &comment[range.clone()]).collect()
    }

    #[test]
    fn a_comment_names_rules_and_says_why() {
        let comments = [
            "// raceproof: ignore[data-race, array-bounds] the caller pads",
            "/* raceproof: ignore[ data-race ,array-bounds ]: the caller\n * pads */",
            "///< raceproof:ignore[data-race,array-bounds] - the caller pads",
        ];
        for comment in comments {
            let said = said(comment).unwrap();
            assert_eq!(names_of(comment, &said), ["data-race", "array-bounds"], "{comment}");
            assert_eq!(
                (said.word, said.reason.as_str(), said.slip),
                (Word::Line, "the caller pads", None),
                "{comment}"
            );
        }
        assert_eq!(said("// raceproof: ignore-kernel[a] b").unwrap().word, Word::Kernel);
        assert_eq!(said("// raceproof: ignore-file[a] b").unwrap().word, Word::File);
    }

    #[test]
    fn slips_are_told_and_prose_is_not() {
        let slip = |comment: &str| said(comment).and_then(|said| said.slip);
        assert_eq!(slip("// raceproof: ignroe[data-race] x"), Some(Slip::Word("ignroe".into(), "ignore".into())));
        assert_eq!(slip("// raceproof: ignore this line"), Some(Slip::NoRules));
        assert_eq!(slip("// raceproof: ignore[ , ] x"), Some(Slip::NoRules));
        assert_eq!(slip("// raceproof: ignore[data-race"), Some(Slip::Open));
        for prose in ["// raceproof: block-dim 64", "// see raceproof: ignore[x] y", "// raceproof", "//", "/**/"] {
            assert_eq!(said(prose), None, "{prose}");
        }
    }
}
