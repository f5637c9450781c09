//! The text that libclang is given: declarations of our own, then the preprocessed tokens, one after another.
//!
//! Macros, conditionals and includes are already gone, so every byte that libclang points at belongs to one
//! token, and every token knows where it was written. That is why both front ends have the same sites, also
//! in macros.

use super::shim;
use crate::preprocess::{Output, TokenKind};
use crate::source::Dialect;

/// Brackets may nest this deeply; clang gives up at 256, and its visitors recurse.
const NESTING: usize = 200;

/// The text of a unit.
#[derive(Debug)]
pub(super) struct Text {
    /// Our declarations and the tokens.
    pub(super) whole: String,
    /// Where the first token may start.
    pub(super) from: u32,
    /// Start of each token, ascending.
    starts: Vec<u32>,
}

impl Text {
    /// Writes the tokens of `output` behind the declarations of `dialect`.
    pub(super) fn new(output: &Output, dialect: Dialect) -> Text {
        let mut text = shim::text(dialect);
        let from = text.len() as u32;
        text.reserve(output.tokens.len() * 6);
        let mut starts = Vec::with_capacity(output.tokens.len());
        for (at, token) in output.tokens.iter().enumerate() {
            starts.push(text.len() as u32);
            let spelling = output.text(token);
            match token.kind {
                TokenKind::Other => text.push('@'),
                // A `#` could start a directive.
                TokenKind::Punctuator if spelling.starts_with('#') || spelling.starts_with("%:") => text.push('@'),
                _ => text.push_str(other_name(spelling, dialect).unwrap_or(spelling)),
            }
            let next = output.tokens.get(at + 1).map_or("", |next| output.text(next));
            // Our lexer ends at `<<`; clang wants a launch's brackets whole.
            if !matches!((spelling, next), ("<<", "<") | (">>", ">")) {
                text.push(' ');
            }
        }
        Text { whole: text, from, starts }
    }

    /// The token that holds byte `offset`, or the last before it.
    pub(super) fn token_at(&self, offset: u32) -> usize {
        self.starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }
}

/// The name that clang is given for a function whose calls it misplaces.
fn other_name(spelling: &str, dialect: Dialect) -> Option<&'static str> {
    let is_opencl = matches!(dialect, Dialect::OpenCl(_));
    Some(match spelling {
        "to_global" if is_opencl => "rp_to_global",
        "to_local" if is_opencl => "rp_to_local",
        "to_private" if is_opencl => "rp_to_private",
        _ => return None,
    })
}

/// Whether brackets nest more deeply than libclang should be given.
pub(super) fn nests_too_deeply(output: &Output) -> bool {
    let mut depth = 0_usize;
    output.tokens.iter().any(|token| {
        match output.text(token) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > NESTING
    })
}
