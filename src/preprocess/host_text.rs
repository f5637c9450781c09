//! Host code as tokens: what a reader of calls and constants needs, where no more is to be understood of it.
//!
//! The host code of OpenCL stands in files of its own, beside the kernels, and includes headers that are mostly not
//! here. It is preprocessed, so that its macros are values and what its conditionals leave out is gone; beyond
//! that it stays a sequence of tokens.
//!
//! Guarantees: [`HostText::number`] and [`HostText::constant`] answer only where the file says one value, whatever runs before.
//!
//! Deliberately absent: types, scopes and the order of statements.

use super::condition::value_of;
use super::{Options, Output, Token, TokenKind, preprocess};
use crate::source::headers::ProjectHeaders;
use crate::source::{Dialect, FileId, SourceMap};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Words that a cast of a number consists of.
const CASTS: [&str; 14] = [
    "int", "unsigned", "signed", "long", "short", "char", "size_t", "cl_int", "cl_uint", "cl_long", "cl_ulong",
    "uint32_t", "int32_t", "uint64_t",
];
/// Constants may be given by others this deeply.
const NESTING: usize = 8;

/// The tokens of a file of host code.
pub struct HostText {
    output: Output,
    main: FileId,
    /// Whether functions may take their arguments by reference.
    is_cxx: bool,
}

impl HostText {
    /// Preprocesses the host code at `path` with that `text`; headers that no path leads to are sought.
    pub fn read(path: &Path, text: &str, headers: &Arc<ProjectHeaders>) -> HostText {
        let mut sources = SourceMap::new();
        let main = sources.add_file(path, text);
        let options = Options { headers: Some(Arc::clone(headers)), ..Options::new(Dialect::Cuda) };
        let is_cxx = path.extension().is_none_or(|extension| extension != "c");
        HostText { output: preprocess(sources, main, &options), main, is_cxx }
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.output.tokens.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.output.tokens.is_empty()
    }

    /// The spelling of the token at `at`; nothing behind the last one.
    pub fn text(&self, at: usize) -> &str {
        self.output.tokens.get(at).map_or("", |token| self.output.text(token))
    }

    /// Whether the token at `at` is of that kind.
    pub fn is(&self, at: usize, kind: TokenKind) -> bool {
        self.output.tokens.get(at).is_some_and(|token| token.kind == kind)
    }

    /// The range of bytes of the file that the token at `at` is written at, or called at if a macro has it in its body;
    /// `None` if it comes from a header.
    pub fn place(&self, at: usize) -> Option<Range<usize>> {
        let span = self.output.sources.visible(self.output.tokens.get(at)?.span);
        (span.file == self.main).then_some(span.start as usize..span.end as usize)
    }

    /// The line of the token at `at`, from 1.
    pub fn line(&self, at: usize) -> u32 {
        self.output.tokens.get(at).map_or(0, |token| self.output.sources.start_position(token.span).line)
    }

    /// The text of the string literals from `at` on, which are one, and where they end.
    pub fn joined(&self, mut at: usize) -> (String, usize) {
        let mut joined = String::new();
        while self.is(at, TokenKind::String) {
            let inside = self.text(at).split_once('"').and_then(|(_, rest)| rest.strip_suffix('"')).unwrap_or("");
            joined.push_str(&inside.replace("\\n", " ").replace("\\t", " "));
            at += 1;
        }
        (joined, at)
    }

    /// Where the argument of a call, or the operand of `<<`, that starts at `at` ends.
    pub fn end_of_argument(&self, mut at: usize) -> usize {
        let mut depth = 0_usize;
        while at < self.len() {
            match self.text(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" if depth > 0 => depth -= 1,
                "," | ")" | "]" | ";" | "<<" | "}" if depth == 0 => break,
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// The arguments between the bracket at `open` and the one that closes it.
    pub fn arguments(&self, open: usize) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut start = open + 1;
        while start < self.len() {
            let end = self.end_of_argument(start);
            if end > start {
                found.push(start..end);
            }
            if self.text(end) != "," {
                break;
            }
            start = end + 1;
        }
        found
    }

    /// The number that the tokens of `range` are.
    pub fn number(&self, range: Range<usize>) -> Option<i64> {
        let tokens = self.resolved(range, NESTING)?;
        value_of(&tokens, &self.output.spellings)
    }

    /// The tokens of `range` as the value of a macro: a number as it is written, or what an expression is.
    pub fn constant(&self, range: Range<usize>) -> Option<String> {
        match self.output.tokens.get(range.clone())? {
            [only] if only.kind == TokenKind::Number => Some(self.output.text(only).to_owned()),
            _ => self.number(range).map(|number| number.to_string()),
        }
    }

    /// The tokens of `range` without casts, and with those of constants in the place of their names.
    fn resolved(&self, range: Range<usize>, nesting: usize) -> Option<Vec<Token>> {
        let mut found = Vec::new();
        let mut at = range.start;
        while at < range.end {
            if let Some(end) = self.end_of_cast(at).filter(|&end| end < range.end) {
                at = end;
                continue;
            }
            let token = *self.output.tokens.get(at)?;
            match token.kind {
                TokenKind::Identifier if nesting > 0 => {
                    let value = self.initial(self.text(at))?;
                    // A sum that is given a name is one number where the name is used.
                    let bracket = |text| Some(*self.output.tokens.iter().find(|it| self.output.text(it) == text)?);
                    found.push(bracket("(")?);
                    found.extend(self.resolved(value, nesting - 1)?);
                    found.push(bracket(")")?);
                }
                TokenKind::Number | TokenKind::Punctuator => found.push(token),
                _ => return None,
            }
            at += 1;
        }
        (!found.is_empty()).then_some(found)
    }

    /// Where a cast that starts at `at` ends.
    fn end_of_cast(&self, at: usize) -> Option<usize> {
        let words = (at + 1..self.len()).take_while(|&it| CASTS.contains(&self.text(it))).count();
        let close = at + 1 + words;
        let is_cast = self.text(at) == "(" && words > 0 && self.text(close) == ")";
        is_cast.then_some(close + 1)
    }

    /// The value that the one definition of `name` gives it, if nothing else in the file may change it.
    fn initial(&self, name: &str) -> Option<Range<usize>> {
        let mut value = None;
        let mut may_change = false;
        let mut is_const = false;
        for at in (1..self.len()).filter(|&at| self.text(at) == name) {
            let before = self.text(at - 1);
            let is_declared = self.is(at - 1, TokenKind::Identifier) && !is_keyword(before)
                || before == "," && self.is_declarator(at);
            match self.text(at + 1) {
                "=" if value.is_none() && is_declared => {
                    value = Some(at + 2..self.end_of_argument(at + 2));
                    is_const = self.is_declared_const(at);
                }
                _ if is_declared || matches!(before, "." | "->") => return None,
                after => may_change |= is_change(before, after) || self.may_be_taken_by_reference(at),
            }
        }
        value.filter(|_| is_const || !may_change)
    }

    /// Whether the name at `at`, behind a comma, is one that a declaration declares.
    fn is_declarator(&self, at: usize) -> bool {
        let before = (0..at).rev().take_while(|&it| !matches!(self.text(it), ";" | "{" | "}")).collect::<Vec<_>>();
        let Some(&start) = before.last() else { return false };
        let starts_with_type = self.is(start, TokenKind::Identifier)
            && self.is(start + 1, TokenKind::Identifier)
            && !is_keyword(self.text(start));
        starts_with_type && before.iter().all(|&it| !matches!(self.text(it), "(" | ")"))
    }

    /// Whether the declaration around the name at `at` says that it does not change.
    fn is_declared_const(&self, at: usize) -> bool {
        let statement = (0..at).rev().take_while(|&it| !matches!(self.text(it), ";" | "{" | "}" | "(" | ")"));
        statement.into_iter().any(|it| matches!(self.text(it), "const" | "constexpr"))
    }

    /// Whether the name at `at` is all of an argument, which a function of C++ may take by reference, or initialises
    /// what may be a reference.
    fn may_be_taken_by_reference(&self, at: usize) -> bool {
        let is_initialising = self.text(at - 1) == "=" && at > 2 && self.text(at - 3) == "&";
        let is_argument = matches!(self.text(at - 1), "(" | ",") && matches!(self.text(at + 1), ")" | ",");
        is_initialising || self.is_cxx && is_argument && !self.callee(at).is_some_and(is_known_to_take_values)
    }

    /// The name of the function that is called with the token at `at` among its arguments.
    pub fn callee(&self, at: usize) -> Option<&str> {
        let mut depth = 0_usize;
        for open in (1..at).rev() {
            match self.text(open) {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" if depth > 0 => depth -= 1,
                "(" => return Some(self.text(open - 1)),
                "[" | "{" | ";" => return None,
                _ => {}
            }
        }
        None
    }
}

/// Whether what stands before and after a name says that the name's value changes, or that its address is taken.
fn is_change(before: &str, after: &str) -> bool {
    let is_assigned =
        matches!(after, "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "<<=" | ">>=" | "|=" | "&=" | "^=" | "++" | "--");
    is_assigned || matches!(before, "&" | "++" | "--" | ">>")
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "return" | "case" | "else" | "goto" | "sizeof" | "do" | "delete" | "throw")
}

/// Whether a function takes its arguments by value: those of C's library and of OpenCL.
fn is_known_to_take_values(name: &str) -> bool {
    name.starts_with("cl")
        || name.ends_with("printf")
        || matches!(name, "if" | "while" | "malloc" | "calloc" | "ceil" | "sizeof")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str, names: &[&str]) -> Vec<Option<i64>> {
        let host = HostText::read(Path::new("host.c"), text, &Arc::new(ProjectHeaders::new(&[])));
        let value_of = |name: &&str| {
            let at = (0..host.len()).find(|&at| host.text(at) == *name)?;
            host.number(at + 2..host.end_of_argument(at + 2))
        };
        names.iter().map(value_of).collect()
    }

    #[test]
    fn constants_are_numbers_where_the_file_says_one() {
        let text = "#define N 16\nconst int k = 3; int once = 4, twice = 5, taken = 6;\n\
                    void f() { a = N * (size_t) k + once; b = twice + 1; twice = 7; c = taken; g(&taken); d = k < 2 ? 1 : 2; }\n\
                    e = s.once; f = other;\n";
        let found = numbers(text, &["a", "b", "c", "d", "e", "f"]);
        assert_eq!(found, [None, None, None, Some(2), None, None], "a member of the name may be anything");
        assert_eq!(numbers(&text.replace("s.once", "1"), &["a", "e"]), [Some(52), Some(1)]);
    }

    #[test]
    fn a_variable_that_may_change_is_no_constant() {
        let text = |use_of: &str| format!("int n = 16; void f() {{ {use_of} }}\nvalue = n;\n");
        let value = |use_of: &str| numbers(&text(use_of), &["value"])[0];
        for harmless in ["printf(\"%d\", n);", "return n;", "x = n * 2;", "if (n) g();"] {
            assert_eq!(value(harmless), Some(16), "{harmless}");
        }
        for change in ["n /= 2;", "n++;", "--n;", "scanf(\"%d\", &n);", "cin >> n;", "int n = 4;", "int n;", "n = 5;"] {
            assert_eq!(value(change), None, "{change}");
        }
        let cxx = |text: &str| {
            let host = HostText::read(Path::new("host.cpp"), text, &Arc::new(ProjectHeaders::new(&[])));
            host.number(host.len() - 2..host.len() - 1)
        };
        assert_eq!(cxx(&text("parse(n);")), None);
        assert_eq!(cxx(&text("int &r = n;")), None);
        assert_eq!(cxx(&format!("const {}", text("parse(n);"))), Some(16));
    }

    #[test]
    fn arguments_are_split_at_their_own_commas() {
        let host =
            HostText::read(Path::new("host.c"), "f(a, g(b, c), {1, 2}); h();", &Arc::new(ProjectHeaders::new(&[])));
        let texts = |open| {
            host.arguments(open).into_iter().map(|it| it.map(|at| host.text(at)).collect()).collect::<Vec<String>>()
        };
        assert_eq!(texts(1), ["a", "g(b,c)", "{1,2}"]);
        assert!(host.arguments(host.len() - 3).is_empty());
    }
}
