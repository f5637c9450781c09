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
use crate::preprocess::TokenKind;
use crate::preprocess::host_text::HostText;
use crate::source::headers::ProjectHeaders;
use std::path::Path;
use std::sync::Arc;

/// What the host code at `path` with that `text` states, in its order.
pub fn of_host_code(path: &Path, text: &str, headers: &Arc<ProjectHeaders>) -> Vec<Stated> {
    // Nearly no host code states anything; it need not be preprocessed.
    if !text.contains("-D") {
        return Vec::new();
    }
    let host = HostText::read(path, text, headers);
    let mut found = Vec::new();
    let mut at = 0;
    while at < host.len() {
        if !host.is(at, TokenKind::String) {
            at += 1;
            continue;
        }
        let (literal, end) = host.joined(at);
        // What a header of a library says is not what this program does.
        if host.place(at).is_some() {
            let line = host.line(at);
            definitions(&host, &literal, end, &mut |name, value| {
                found.push(Stated { name: name.to_owned(), value, line });
            });
        }
        at = end;
    }
    found
}

/// Calls `tell` for each definition in a literal that ends before the token `end`.
fn definitions(host: &HostText, literal: &str, end: usize, tell: &mut dyn FnMut(&str, Option<String>)) {
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
                "" if is_last => appended(host, end),
                _ if value.contains('%') => converted(host, value, conversions, end),
                _ => Some(value.to_owned()),
            };
            tell(name, value);
        }
        conversions += number_of_conversions(word);
    }
}

/// The value of a definition that is one conversion of `printf`, `before` others of the literal.
fn converted(host: &HostText, value: &str, before: usize, end: usize) -> Option<String> {
    let is_number = value.starts_with('%')
        && value.ends_with(['d', 'i', 'u'])
        && value[1..value.len() - 1].chars().all(|it| matches!(it, 'l' | 'z' | 'h'));
    if !is_number || host.text(end) != "," {
        return None;
    }
    host.constant(host.arguments(end).into_iter().nth(before)?)
}

/// The value that is put behind a literal, which ends before the token `end`.
fn appended(host: &HostText, end: usize) -> Option<String> {
    let start = match host.text(end) {
        "<<" => end + 1,
        "+" => {
            let call = if host.text(end + 1) == "std" { end + 3 } else { end + 1 };
            let is_call = host.text(call) == "to_string" && host.text(call + 1) == "(";
            is_call.then_some(call + 2)?
        }
        _ => return None,
    };
    host.constant(start..host.end_of_argument(start))
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
        let text = "#define N 16\n#define M (2 * N)\n#ifdef OTHER\n#define N 8\n#endif\nconst int K = 3;\nint n = 4; void f() { n = 5; }\n\
                    sprintf(o, \"%s -DN=%d -DM=%d -DK=%u\", f(a, b), N, M, K);\nsprintf(o, \" -DL=%d -DX=%s\", n, s);\n\
                    sprintf(o, \"-DW=%d\", (int)N);\n";
        assert_eq!(stated(text), ["8:N=16", "8:M=32", "8:K=3", "9:L=?", "9:X=?", "10:W=16"]);
    }

    #[test]
    fn what_is_put_behind_a_literal_is_its_value() {
        let text = "#define N 16\nconst int K = 3, J = 5; int v = 1; void f() { v = 3; }\n\
                    o << \"-DN=\" << N << \" -DK=\" << K << \" -DV=\" << v;\n\
                    s = \"-DJ=\" + std::to_string(J) + \" -DU=\" + name;\n";
        assert_eq!(stated(text), ["3:N=16", "3:K=3", "3:V=?", "4:J=5", "4:U=?"]);
    }
}
