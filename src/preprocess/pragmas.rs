//! What `#pragma` and `_Pragma` change: how often a file is read, what macros mean, how classes lie.
//!
//! Deliberately absent: every other pragma, none of which changes how the text is read.

use super::directives::Preprocessor;
use crate::source::Span;

impl Preprocessor<'_> {
    /// `once`, `push_macro("N")`, `pop_macro("N")`, `pack(…)`; no other pragma changes how the text is read.
    pub(super) fn pragma(&mut self, words: &[String], at: Span) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["once"] => self.headers.enter_once(at.file),
            ["pack", "(", ")"] => self.packing.end_all(at),
            ["pack", "(", "pop", ..] => self.packing.end(at),
            ["pack", "(", ..] => self.packing.begin(at),
            ["push_macro", "(", name, ")"] => self.macros.push(self.spellings.intern(name.trim_matches('"'))),
            ["pop_macro", "(", name, ")"] => self.macros.pop(self.spellings.intern(name.trim_matches('"'))),
            _ => {}
        }
    }
}
