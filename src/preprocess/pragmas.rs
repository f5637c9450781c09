//! What `#pragma` and `_Pragma` change: how often a file is read, what macros mean, how classes lie.
//!
//! Deliberately absent: every other pragma, none of which changes how the text is read.

use super::directives::Preprocessor;
use crate::source::Span;

impl Preprocessor<'_> {
    /// Classes between two places lie otherwise than usual; where these are in different files, those of both.
    pub(super) fn packed_until(&mut self, start: Span, end: Span) {
        if start.file == end.file {
            self.packed.push(start.to(end));
        } else {
            self.packed.extend([start, end].map(|at| Span { start: 0, end: u32::MAX, ..at }));
        }
    }

    /// `once`, `push_macro("N")`, `pop_macro("N")`, `pack(…)`; no other pragma changes how the text is read.
    pub(super) fn pragma(&mut self, words: &[String], at: Span) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["once"] => {
                self.once.insert(at.file);
            }
            ["pack", "(", ")"] => {
                for start in std::mem::take(&mut self.packing) {
                    self.packed_until(start, at);
                }
            }
            ["pack", "(", "pop", ..] => {
                if let Some(start) = self.packing.pop() {
                    self.packed_until(start, at);
                }
            }
            ["pack", "(", ..] => self.packing.push(at),
            ["push_macro", "(", name, ")"] => {
                let name = self.spellings.intern(name.trim_matches('"'));
                let definition = self.definition(name);
                self.pushed.entry(name).or_default().push(definition);
            }
            ["pop_macro", "(", name, ")"] => {
                let name = self.spellings.intern(name.trim_matches('"'));
                if let Some(definition) = self.pushed.get_mut(&name).and_then(Vec::pop) {
                    self.set_definition(name, definition);
                }
            }
            _ => {}
        }
    }
}
