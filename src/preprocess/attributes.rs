//! Macros of missing headers around kernels.
//!
//! A kernel gives nothing, so that a name between `__global__` and its `void`, or between that and the kernel's name, is no
//! type: it is a macro that nothing defines. It is left out, as an attribute, and that is told in the kernel's verdict. A
//! function whose result seems to be such a macro may be a kernel: there is a note.
//!
//! Deliberately absent: macros that stand before `__global__`.

use super::choices::{Because, Choice};
use super::interner::Interner;
use super::told::Told;
use super::{Token, TokenFlags, TokenKind};
use crate::diagnostic::Severity;
use crate::source::SourceMap;
use std::ops::Range;

/// What may stand where such a macro does.
const WORDS: &str = " void static inline extern const constexpr template typename __global__ __device__ __host__ __noinline__ \
    __forceinline__ __inline__ __inline __launch_bounds__ __cluster_dims__ __maxnreg__ __block_size__ __attribute__ \
    __attribute __declspec __grid_constant__ ";
/// Tokens between `__global__` and the name of a kernel.
const MOST: usize = 60;

/// Tokens of a unit, by their spellings.
struct Tokens<'t> {
    texts: Vec<&'t str>,
    tokens: &'t [Token],
}

impl Tokens<'_> {
    fn text(&self, at: usize) -> &str {
        self.texts.get(at).copied().unwrap_or("")
    }

    /// Whether a name stands there that is no word of the language.
    fn is_name(&self, at: usize) -> bool {
        let text = self.text(at);
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Identifier)
            && !WORDS.split(' ').any(|word| word == text)
    }

    /// Where the bracket at `open` ends.
    fn past_bracket(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for at in open..self.texts.len() {
            match self.text(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
        self.texts.len()
    }

    /// The macros behind the `__global__` at `start`, and where the kernel's name stands.
    fn macros(&self, start: usize) -> Option<(Vec<Range<usize>>, usize)> {
        let mut found = Vec::new();
        let mut gives_nothing = false;
        let mut at = start + 1;
        while at < start + MOST {
            let end = if self.text(at + 1) == "(" { self.past_bracket(at + 1) } else { at + 1 };
            match self.text(at) {
                "void" => gives_nothing = true,
                "[" => {
                    at = self.past_bracket(at);
                    continue;
                }
                _ if self.is_name(at) && self.text(at + 1) == "(" && self.text(end) == "{" => {
                    return (gives_nothing && !found.is_empty()).then_some((found, at));
                }
                // What follows tells that it is not the name of the kernel itself.
                _ if self.is_name(at) && (self.text(end) == "void" || self.is_name(end) || self.is_word(end)) => {
                    found.push(at..end);
                }
                _ if !self.is_word(at) => return None,
                _ => {}
            }
            at = end;
        }
        None
    }

    fn is_word(&self, at: usize) -> bool {
        WORDS.split(' ').any(|word| word == self.text(at)) && !self.text(at).is_empty()
    }

    /// The name of a function that starts at `start` with a macro and asks which thread it is in.
    fn hidden_kernel(&self, start: usize) -> Option<usize> {
        let is_shouted = |text: &str| text.len() > 2 && !text.contains(|it: char| it.is_ascii_lowercase());
        let name = if self.text(start + 1) == "void" { start + 2 } else { start + 1 };
        let is_function = is_shouted(self.text(start)) && self.is_name(start) && self.is_name(name);
        if !is_function || self.text(name + 1) != "(" {
            return None;
        }
        let body = self.past_bracket(name + 1);
        if self.text(body) != "{" {
            return None;
        }
        let end = self.past_bracket(body);
        let asks = (body..end).any(|at| matches!(self.text(at), "threadIdx" | "blockIdx"));
        let word = self.text(start);
        let is_type = (0..start).any(|at| self.text(at) == word && matches!(self.text(at + 1), ";" | "=" | "{"));
        (asks && !is_type).then_some(name)
    }
}

/// Leaves out macros of missing headers that stand around kernels' results.
pub(super) fn without_attributes(
    tokens: Vec<Token>,
    spellings: &Interner,
    sources: &SourceMap,
    told: &mut Told,
    choices: &mut Vec<Choice>,
) -> Vec<Token> {
    let mut left_out = Vec::new();
    let unit = Tokens { texts: tokens.iter().map(|token| spellings.text(token.text)).collect(), tokens: &tokens };
    for (at, token) in tokens.iter().enumerate() {
        if unit.text(at) == "__global__" {
            let Some((macros, name)) = unit.macros(at) else { continue };
            let place = sources.visible(tokens[name].span);
            for range in macros {
                let taken = format!("`{}` is an attribute (nothing defines it)", unit.texts[range.clone()].concat());
                choices.push(Choice { taken, because: Because::Missing, regions: vec![place] });
                left_out.push(range);
            }
        } else if token.flags.has(TokenFlags::LINE_START)
            && let Some(name) = unit.hidden_kernel(at)
        {
            let (word, name) = (unit.text(at), unit.text(name));
            let hint = "say what it is with -D, or where its header is with -I";
            let note = format!("nothing defines `{word}`: if it makes `{name}` a kernel, {hint}");
            told.report(Severity::Note, token.span, &note);
        }
    }
    if left_out.is_empty() {
        return tokens;
    }
    let is_left = |at: &usize| !left_out.iter().any(|range| range.contains(at));
    (0..tokens.len()).filter(is_left).map(|at| tokens[at]).collect()
}
