//! Functions and members that could not be read. Kernels must be listed, or it would look as if they had been checked; of
//! the others the name is kept, so that nothing that uses it takes another declaration of that name instead.

use super::{Function, Item, ItemKind, Name, Path, PathSegment, Qualifier, Stmt, StmtKind};
use crate::source::Span;
use std::ops::Range;

/// A kernel of which only the name is known, with a body that says why.
pub fn lost_kernel(name: Name, reason: &str, span: Span) -> Item {
    lost(vec![name], Qualifier::Kernel, reason, span)
}

/// A function that is no kernel, of which only the name is known.
pub fn lost_function(name: Name, reason: &str, span: Span) -> Item {
    lost(vec![name], unread(), reason, span)
}

/// A member that is defined outside of its class, of which only the names are known: of the class, and its own.
pub fn lost_member(names: [Name; 2], reason: &str, span: Span) -> Item {
    lost(names.into(), unread(), reason, span)
}

/// Says of a function that its head could not be read.
pub fn mark_unread(function: &mut Function) {
    function.qualifiers.push(unread());
}

/// What marks a function that could not be read; a space keeps it apart from all words that can be written.
const UNREAD: &str = "not read";

fn unread() -> Qualifier {
    Qualifier::Other(UNREAD.to_owned())
}

pub(super) fn is_unread(function: &Function) -> bool {
    function.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Other(word) if word == UNREAD))
}

fn lost(names: Vec<Name>, qualifier: Qualifier, reason: &str, span: Span) -> Item {
    let body = Stmt { kind: StmtKind::Unsupported(reason.to_owned()), span };
    let function = Function {
        path: Path {
            global: false,
            segments: names.into_iter().map(|name| PathSegment { name, args: None }).collect(),
        },
        qualifiers: vec![qualifier],
        body: Some(vec![body]),
        ..Function::nameless()
    };
    Item { kind: ItemKind::Function(Box::new(function)), span }
}

/// The token among `tokens` that names a kernel: the first identifier behind the kernel's word that is called or
/// declared there. `text` and `is_identifier` tell about the token at a position.
pub fn lost_name<'t>(
    tokens: Range<usize>,
    text: impl Fn(usize) -> &'t str,
    is_identifier: impl Fn(usize) -> bool,
) -> Option<usize> {
    let is_attribute = |at: usize| at >= tokens.start + 3 && text(at - 1) == "(" && text(at - 3) == "__attribute__";
    let kernel = tokens.clone().find(|&at| match text(at) {
        "__global__" | "__kernel" | "kernel" => true,
        "global" => is_attribute(at),
        _ => false,
    })?;
    (kernel + 1..tokens.end).find(|&at| is_identifier(at) && text(at + 1) == "(" && !is_no_name(text(at)))
}

/// The names of the functions that the declarations among `tokens` may declare, each by its tokens: what stands before
/// a `(` outside of brackets, but for attributes, initial values and the members that a constructor initialises.
pub fn lost_functions<'t>(
    tokens: Range<usize>,
    text: impl Fn(usize) -> &'t str,
    is_identifier: impl Fn(usize) -> bool,
) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut is_head = true;
    for at in tokens.clone() {
        match text(at) {
            "operator" if depth == 0 && is_head => found.extend(operator(at, tokens.end, &text)),
            "(" if depth == 0 && is_head => {
                let name = at.checked_sub(1).filter(|&name| name >= tokens.start);
                let wrapped = name.filter(|&close| text(close) == ")" && close >= tokens.start + 2);
                let wrapped = wrapped.filter(|&close| text(close - 2) == "(").map(|close| close - 1);
                // A member that is defined outside of its class is declared inside.
                let is_member = |name: usize| name > tokens.start && text(name - 1) == "::";
                let name = wrapped.or(name).filter(|&name| is_identifier(name) && !is_no_name(text(name)));
                let name = name.filter(|&name| !is_member(name));
                found.extend(name.map(|name| name..name + 1));
                depth += 1;
            }
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                is_head |= depth == 0 && text(at) == "}";
            }
            "=" | ":" if depth == 0 => is_head = false,
            ";" if depth == 0 => is_head = true,
            _ => {}
        }
    }
    found
}

/// The members that the declarations among `tokens` define outside of their classes, by the tokens that name class and
/// member: `S` and `n` of `template <> const int S<short>::n = 0;`.
pub fn lost_members<'t>(
    tokens: Range<usize>,
    text: impl Fn(usize) -> &'t str,
    is_identifier: impl Fn(usize) -> bool,
) -> Vec<[usize; 2]> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut is_head = true;
    for at in tokens.clone() {
        match text(at) {
            "::" if depth == 0 && is_head && is_identifier(at + 1) && at > tokens.start => {
                let ends = at + 2 >= tokens.end || matches!(text(at + 2), "=" | ";" | "(" | "{" | "[");
                found.extend(class_before(at, tokens.start, &text).filter(|_| ends).map(|class| [class, at + 1]));
            }
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                is_head |= depth == 0 && text(at) == "}";
            }
            "=" | ":" if depth == 0 => is_head = false,
            ";" if depth == 0 => is_head = true,
            _ => {}
        }
    }
    found
}

/// The name of the class before the `::` at `at`, in front of its template arguments if it has some.
fn class_before<'t>(at: usize, start: usize, text: &impl Fn(usize) -> &'t str) -> Option<usize> {
    let mut open = 0_usize;
    for at in (start..at).rev() {
        match text(at) {
            ">" => open += 1,
            ">>" => open += 2,
            "<" => open = open.checked_sub(1)?,
            _ if open == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// The name of an operator, whose word stands at `at`, if parameters follow it.
fn operator<'t>(at: usize, end: usize, text: impl Fn(usize) -> &'t str) -> Option<Range<usize>> {
    let brackets = matches!((text(at + 1), text(at + 2)), ("(", ")") | ("[", "]"));
    let open = (at + if brackets { 3 } else { 2 }..end.min(at + 6)).find(|&at| text(at) == "(")?;
    Some(at..open)
}

/// Whether a word before a `(` is no name of a function.
fn is_no_name(word: &str) -> bool {
    let is_other = matches!(
        word,
        "__attribute__"
            | "__attribute"
            | "__launch_bounds__"
            | "__cluster_dims__"
            | "__align__"
            | "alignas"
            | "_Alignas"
            | "__declspec"
            | "decltype"
            | "noexcept"
            | "throw"
            | "requires"
            | "explicit"
            | "asm"
            | "__asm__"
            | "if"
            | "while"
            | "for"
            | "switch"
            | "sizeof"
            | "return"
            | "static_assert"
            | "_Static_assert"
            | "operator"
    );
    is_other || super::words::is_arithmetic_word(word)
}

#[cfg(test)]
mod tests {
    use super::{lost_functions, lost_members};

    #[test]
    fn names_behind_colons_are_those_of_members() {
        let cases = [
            ("template < > const int S < short > :: n = 0 ;", "S n"),
            ("int A :: B :: f ( int t ) { g :: h ( t ) ; }", "B f"),
            ("std :: pair < int , int > x = a :: b ;", ""),
        ];
        for (words, expected) in cases {
            let words: Vec<&str> = words.split(' ').collect();
            let text = |at: usize| words.get(at).copied().unwrap_or("");
            let is_identifier = |at: usize| text(at).starts_with(|first: char| first.is_alphabetic() || first == '_');
            let found = lost_members(0..words.len(), text, is_identifier);
            let names: Vec<&str> = found.into_iter().flatten().map(|name| words[name]).collect();
            assert_eq!(names.join(" "), expected, "{words:?}");
        }
    }

    #[test]
    fn names_before_parentheses_are_those_of_functions() {
        let cases = [
            ("DEVICE int f ( int t ) { g ( t ) ; }", "f"),
            ("int ( f ) ( int t ) { }", "f"),
            ("__attribute__ ( ( x ) ) A :: A ( int t ) : a ( t ) { } int b = c ( 1 ) ; void d ( ) ;", "d"),
            ("bool operator == ( A b ) ; int operator ( ) ( int i ) ;", "operator== operator()"),
        ];
        for (words, expected) in cases {
            let words: Vec<&str> = words.split(' ').collect();
            let text = |at: usize| words.get(at).copied().unwrap_or("");
            let is_identifier = |at: usize| text(at).starts_with(|first: char| first.is_alphabetic() || first == '_');
            let found = lost_functions(0..words.len(), text, is_identifier);
            let names: Vec<String> = found.into_iter().map(|name| words[name].concat()).collect();
            assert_eq!(names.join(" "), expected, "{words:?}");
        }
    }
}
