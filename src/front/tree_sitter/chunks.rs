//! Splits the tokens of a unit into its declarations, by brackets alone.
//!
//! Used where the grammar lost its way: brackets that do not match must not let one function swallow the
//! others. A qualifier that only starts a kernel therefore always starts a chunk, whatever is still open.

use crate::preprocess::{Output, TokenFlags, TokenKind};
use crate::syntax::{self, Item, Name, lost_name};
use std::ops::Range;

/// The ranges of the declarations; together they are all tokens.
pub(super) fn split(output: &Output) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    // Open brackets beyond those of namespaces and records, and these by themselves.
    let (mut start, mut depth) = (0, 0_usize);
    let mut declarative = 0;
    let mut ends_at_semicolon = false;
    for at in 0..output.tokens.len() {
        let text = output.text(&output.tokens[at]);
        if depth > declarative && at > start && starts_kernel(output, at) {
            chunks.push(start..at);
            (start, depth, declarative, ends_at_semicolon) = (at, 0, 0, false);
        }
        match text {
            "{" if depth == declarative && encloses_declarations(output, start, at) => {
                depth += 1;
                declarative += 1;
            }
            "(" | "[" | "{" => {
                // A function whose result is a record ends with its body.
                ends_at_semicolon &= text != "(" || depth > 0;
                depth += 1;
            }
            ")" | "]" => depth = depth.saturating_sub(1),
            "}" => {
                depth = depth.saturating_sub(1);
                declarative = declarative.min(depth);
                let next = output.tokens.get(at + 1).map_or("", |token| output.text(token));
                if depth == 0 && !ends_at_semicolon && next != ";" {
                    chunks.push(start..at + 1);
                    start = at + 1;
                }
            }
            ";" if depth == 0 => {
                chunks.push(start..at + 1);
                (start, ends_at_semicolon) = (at + 1, false);
            }
            // What a record or an initialiser in braces belongs to goes on to the semicolon.
            "struct" | "class" | "union" | "enum" | "typedef" | "=" if depth == 0 => ends_at_semicolon = true,
            _ => {}
        }
    }
    if start < output.tokens.len() {
        chunks.push(start..output.tokens.len());
    }
    chunks
}

/// A kernel whose text could not be read at all: its name, and a body that says so. It must be listed, or it
/// would look as if it had been checked.
pub(super) fn lost_kernel(output: &Output, chunk: Range<usize>) -> Option<Item> {
    let text = |at: usize| output.tokens.get(at).map_or("", |token| output.text(token));
    let is_identifier = |at: usize| output.tokens[at].kind == TokenKind::Identifier;
    let name = lost_name(chunk.clone(), text, is_identifier)?;
    let span = output.sources.join(output.tokens[chunk.start].span, output.tokens[chunk.end - 1].span);
    let name = Name { text: text(name).to_owned(), span: output.tokens[name].span };
    Some(syntax::lost_kernel(name, super::convert::SYNTAX_ERROR, span))
}

/// Whether the brace at `at` is that of a namespace, a linkage specification or a record.
fn encloses_declarations(output: &Output, start: usize, at: usize) -> bool {
    for token in output.tokens[start..at].iter().rev() {
        match output.text(token) {
            "namespace" | "struct" | "class" | "union" | "extern" => return true,
            ";" | "{" | "}" | "(" | ")" | "=" => return false,
            _ => {}
        }
    }
    false
}

/// Whether a kernel's first word stands at `at`, at the start of a line.
fn starts_kernel(output: &Output, at: usize) -> bool {
    let token = &output.tokens[at];
    let text = output.text(token);
    if !token.flags.has(TokenFlags::LINE_START) {
        return false;
    }
    match text {
        "__global__" | "__kernel" => true,
        "kernel" => output.tokens.get(at + 1).is_some_and(|next| matches!(output.text(next), "void" | "__attribute__")),
        "extern" => output.tokens.get(at + 2).is_some_and(|next| output.text(next) == "__global__"),
        _ => false,
    }
}
