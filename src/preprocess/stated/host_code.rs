//! Macros that host code states in the options for OpenCL's compiler.
//!
//! The text of the options is mostly put together where it is used, so that string literals are looked at wherever
//! they stand: what follows `-D` in one is a definition. Its value is the rest of the word (`"-DN=16"`), the argument of
//! the conversion that stands there (`sprintf(options, "-DN=%d", N)`), or what is put behind the literal
//! (`"-DN=" << N`, `"-DN=" + std::to_string(N)`). The host code is preprocessed, so that its own macros are
//! values, and what its conditionals leave out is not read; constants of the file (`const int N = 16`) are values, too.
//!
//! A name without a value is left out: programs add such options when they run, by what they find.

use super::{Stated, name_and_value};
use crate::preprocess::{self, Output, TokenKind};
use crate::source::headers::ProjectHeaders;
use crate::source::{Dialect, SourceMap};
use std::path::Path;
use std::sync::Arc;

/// Casts that say how wide an argument is.
const CASTS: [&str; 12] = [
    "int", "unsigned", "long", "short", "char", "size_t", "cl_int", "cl_uint", "cl_long", "cl_ulong", "uint32_t",
    "int32_t",
];

/// What the host code at `path` with that `text` states, in its order.
pub fn of_host_code(path: &Path, text: &str, headers: &Arc<ProjectHeaders>) -> Vec<Stated> {
    // Nearly no host code states anything; it need not be preprocessed.
    if !text.contains("-D") {
        return Vec::new();
    }
    let mut sources = SourceMap::new();
    let main = sources.add_file(path, text);
    let options = preprocess::Options { headers: Some(Arc::clone(headers)), ..preprocess::Options::new(Dialect::Cuda) };
    let output = preprocess::preprocess(sources, main, &options);
    let host = Host { output: &output };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = output.tokens.get(at) {
        if token.kind != TokenKind::String {
            at += 1;
            continue;
        }
        let (literal, end) = host.joined(at);
        // What a header of a library says is not what this program does.
        if output.sources.visible(token.span).file == main {
            let line = output.sources.start_position(token.span).line;
            host.definitions(&literal, end, &mut |name, value| {
                found.push(Stated { name: name.to_owned(), value, line });
            });
        }
        at = end;
    }
    found
}

/// The tokens of the host code.
struct Host<'o> {
    output: &'o Output,
}

impl Host<'_> {
    fn text(&self, at: usize) -> &str {
        self.output.tokens.get(at).map_or("", |token| self.output.text(token))
    }

    /// The text of the string literals from `at` on, which are one, and where they end.
    fn joined(&self, mut at: usize) -> (String, usize) {
        let mut joined = String::new();
        while let Some(token) = self.output.tokens.get(at).filter(|token| token.kind == TokenKind::String) {
            let text = self.output.text(token);
            let inside = text.split_once('"').and_then(|(_, rest)| rest.strip_suffix('"')).unwrap_or("");
            joined.push_str(&inside.replace("\\n", " ").replace("\\t", " "));
            at += 1;
        }
        (joined, at)
    }

    /// Calls `tell` for each definition in a literal that ends before the token `end`.
    fn definitions(&self, literal: &str, end: usize, tell: &mut dyn FnMut(&str, Option<String>)) {
        let mut conversions = 0;
        let mut is_announced = false;
        for word in literal.split_whitespace() {
            let definition = match word.strip_prefix("-D") {
                _ if is_announced => Some(word),
                Some(attached) => Some(attached).filter(|attached| !attached.is_empty()),
                None => None,
            };
            is_announced = word == "-D" && !is_announced;
            if let Some((name, Some(value))) = definition.and_then(name_and_value) {
                let is_last = literal.ends_with(word);
                let value = match value {
                    "" if is_last => self.appended(end),
                    _ if value.contains('%') => self.converted(value, conversions, end),
                    _ => Some(value.to_owned()),
                };
                tell(name, value);
            }
            conversions += number_of_conversions(word);
        }
    }

    /// The value of a definition that is one conversion of `printf`, `before` others of the literal.
    fn converted(&self, value: &str, before: usize, end: usize) -> Option<String> {
        let is_number = value.starts_with('%')
            && value.ends_with(['d', 'i', 'u'])
            && value[1..value.len() - 1].chars().all(|it| matches!(it, 'l' | 'z' | 'h'));
        if !is_number || self.text(end) != "," {
            return None;
        }
        let mut start = end + 1;
        for _ in 0..before {
            start = self.end_of_argument(start) + 1;
        }
        self.constant(start, self.end_of_argument(start))
    }

    /// The value that is put behind a literal, which ends before the token `end`.
    fn appended(&self, end: usize) -> Option<String> {
        match self.text(end) {
            "<<" => self.constant(end + 1, self.end_of_argument(end + 1)),
            "+" => {
                let mut at = end + 1;
                if self.text(at) == "std" {
                    at += 2;
                }
                let is_call = self.text(at) == "to_string" && self.text(at + 1) == "(";
                let start = at + 2;
                if is_call { self.constant(start, self.end_of_argument(start)) } else { None }
            }
            _ => None,
        }
    }

    /// Where the argument of a call, or the operand of `<<`, that starts at `at` ends.
    fn end_of_argument(&self, mut at: usize) -> usize {
        let mut depth = 0_usize;
        while at < self.output.tokens.len() {
            match self.text(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" if depth > 0 => depth -= 1,
                "," | ")" | ";" | "<<" | "}" if depth == 0 => break,
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// The tokens from `start` to `end` as the value of a macro, if they are a constant.
    fn constant(&self, start: usize, end: usize) -> Option<String> {
        let tokens = self.output.tokens.get(start..end).filter(|tokens| !tokens.is_empty())?;
        if let [only] = tokens {
            return match only.kind {
                TokenKind::Number => Some(self.output.text(only).to_owned()),
                TokenKind::Identifier => self.constant_variable(self.output.text(only)),
                _ => None,
            };
        }
        let mut value = String::new();
        for (place, token) in tokens.iter().enumerate() {
            let text = self.output.text(token);
            let is_cast = CASTS.contains(&text);
            let is_fine = match token.kind {
                TokenKind::Number => true,
                TokenKind::Punctuator => matches!(text, "(" | ")" | "+" | "-" | "*" | "/" | "%"),
                TokenKind::Identifier => is_cast && place > 0 && is_bracketed(self, start + place),
                _ => false,
            };
            if !is_fine {
                return None;
            }
            value.push_str(text);
            value.push(' ');
        }
        Some(format!("({})", value.trim_end()))
    }

    /// The value of a constant that the file defines once and assigns nowhere else.
    fn constant_variable(&self, name: &str) -> Option<String> {
        let tokens = &self.output.tokens;
        let mut found = None;
        for at in 1..tokens.len().saturating_sub(1) {
            if self.text(at) != name || !matches!(self.text(at + 1), "=" | "{" | "+=" | "-=" | "*=" | "++" | "--") {
                continue;
            }
            if found.is_some() || self.text(at + 1) != "=" {
                return None;
            }
            found = Some(at);
        }
        let at = found?;
        let statement = (0..at).rev().find(|&it| matches!(self.text(it), ";" | "{" | "}")).map_or(0, |it| it + 1);
        let is_constant = (statement..at).any(|it| matches!(self.text(it), "const" | "constexpr"));
        let value = tokens.get(at + 2).filter(|value| value.kind == TokenKind::Number)?;
        (is_constant && matches!(self.text(at + 3), ";" | ",")).then(|| self.output.text(value).to_owned())
    }
}

/// Whether the word at `at` is all that stands between brackets.
fn is_bracketed(host: &Host, at: usize) -> bool {
    host.text(at - 1) == "(" && host.text(at + 1) == ")"
}

/// How many arguments the conversions of a format take.
fn number_of_conversions(format: &str) -> usize {
    let plain = format.replace("%%", "");
    plain.matches('%').count() + plain.matches('*').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(text: &str) -> Vec<String> {
        let found = of_host_code(Path::new("host.cpp"), text, &Arc::new(ProjectHeaders::new(&[])));
        found.iter().map(|it| format!("{}:{}={}", it.line, it.name, it.value.as_deref().unwrap_or("?"))).collect()
    }

    #[test]
    fn values_in_a_literal_are_taken_as_they_stand() {
        let text = "build(p, \"-I. -DN=16 -D T=float -DFAST\" \" -D M=\" \"4\");\n// \"-DOLD=1\"\n";
        assert_eq!(stated(text), ["1:N=16", "1:T=float", "1:M=4"]);
    }

    #[test]
    fn arguments_of_conversions_are_values_where_they_are_constant() {
        let text = "#define N 16\n#define M (2 * N)\n#ifdef OTHER\n#define N 8\n#endif\nconst int K = 3;\nint n = 4;\n\
                    sprintf(o, \"%s -DN=%d -DM=%d -DK=%u\", f(a, b), N, M, K);\nsprintf(o, \" -DL=%d -DX=%s\", n, s);\n\
                    sprintf(o, \"-DW=%d\", (int)N);\n";
        assert_eq!(stated(text), ["8:N=16", "8:M=(( 2 * 16 ))", "8:K=3", "9:L=?", "9:X=?", "10:W=(( int ) 16)"]);
    }

    #[test]
    fn what_is_put_behind_a_literal_is_its_value() {
        let text = "#define N 16\nconst int K = 3, J = 5; int v = 1; const int w = 1; void f() { w = 2; }\n\
                    o << \"-DN=\" << N << \" -DK=\" << K << \" -DV=\" << v;\n\
                    s = \"-DJ=\" + std::to_string(J) + \" -DW=\" + std::to_string(w) + \" -DU=\" + name;\n";
        assert_eq!(stated(text), ["3:N=16", "3:K=3", "3:V=?", "4:J=5", "4:W=?", "4:U=?"]);
    }
}
