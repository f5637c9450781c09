//! What clang knows beside the tree, by the spans of names.
//!
//! Left out is what says nothing of the program as it runs: calls that are not evaluated (`sizeof`, `decltype`), those of
//! `constexpr` functions, which may be computed at once, default arguments where they are declared, copies that a `return` may
//! leave out, all of what is refused, and functions with an `if constexpr`, of which parts may never be compiled.

use super::admissible::Refusal;
use super::brackets::Brackets;
use super::text::Text;
use super::wire::{Called, Kind, Parsed};
use crate::preprocess::Output;
use crate::source::Span;
use crate::syntax::known::{Call, Known};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A definition of a function, by tokens.
struct Definition {
    name: usize,
    whole: Range<usize>,
    params: Range<usize>,
    is_constant: bool,
    /// Whether it is a constructor, and whether it does nothing by itself.
    constructs: bool,
    is_empty: bool,
    /// Whether parts of it may be left out when it is compiled.
    has_choices: bool,
}

/// What clang knows of a text.
pub(super) fn known(parsed: &Parsed, refused: &[Refusal], text: &Text, brackets: &Brackets, output: &Output) -> Known {
    let reader = Reader { text, brackets, output };
    let refused: Vec<Span> = refused.iter().map(|refusal| output.sources.visible(refusal.item)).collect();
    let is_refused = |span: Span| {
        let span = output.sources.visible(span);
        refused.iter().any(|item| item.file == span.file && item.start <= span.start && span.end <= item.end)
    };
    let name = |at: u32| reader.name(at).filter(|&span| !is_refused(span));
    let types = parsed.types.iter().filter_map(|typed| Some((name(typed.at)?, typed.shape.clone()))).collect();
    let values = parsed.values.iter().filter_map(|valued| Some((name(valued.at)?, valued.value.into()))).collect();
    let definitions = reader.definitions(parsed);
    let outermost = outermost(&definitions);
    let by_name: FxHashMap<usize, &Definition> = definitions.iter().map(|each| (each.name, each)).collect();
    let left_out = reader.left_out(&definitions);
    let calls = parsed.calls.iter().filter_map(|call| {
        let tokens = reader.tokens(call);
        let caller = outermost[..outermost.partition_point(|each| each.whole.start <= tokens.start)].last()?;
        let place = output.tokens.get(tokens.start)?.span;
        let is_inside = tokens.end <= caller.whole.end && caller.name < tokens.start;
        if !is_inside || left_out[tokens.start] || caller.has_choices || is_refused(place) {
            return None;
        }
        if call.copies && reader.spelling(tokens.start.wrapping_sub(1)) == "return" {
            return None;
        }
        let [declared, defined] = [call.declared, call.defined].map(|at| text.token_at(at));
        let function = by_name.get(&defined).or_else(|| by_name.get(&declared))?;
        let span = |token: usize| output.tokens.get(token).map(|token| token.span);
        if function.is_constant || function.constructs && function.is_empty {
            return None;
        }
        Some(Call {
            caller: span(caller.name)?,
            around: output.sources.join(span(caller.whole.start)?, span(caller.whole.end.checked_sub(1)?)?),
            place: output.sources.join(place, span(tokens.end.checked_sub(1)?)?),
            name: (function.name..function.params.start).map(|at| reader.spelling(at)).collect(),
            function: [span(declared)?, output.sources.join(span(function.name)?, span(function.params.start - 1)?)],
            constructs: function.constructs,
        })
    });
    let calls = calls.collect();
    Known { types, values, calls }
}

/// Those that stand in no other, in order.
fn outermost(definitions: &[Definition]) -> Vec<&Definition> {
    let mut sorted: Vec<&Definition> = definitions.iter().collect();
    sorted.sort_by_key(|each| (each.whole.start, std::cmp::Reverse(each.whole.end)));
    let mut found: Vec<&Definition> = Vec::new();
    for each in sorted {
        if found.last().is_none_or(|last| last.whole.end <= each.whole.start) {
            found.push(each);
        }
    }
    found
}

struct Reader<'a> {
    text: &'a Text,
    brackets: &'a Brackets,
    output: &'a Output,
}

impl Reader<'_> {
    fn spelling(&self, token: usize) -> &str {
        self.output.tokens.get(token).map_or("", |token| self.output.text(token))
    }

    fn name(&self, at: u32) -> Option<Span> {
        (at >= self.text.from).then(|| self.output.tokens.get(self.text.token_at(at)))?.map(|token| token.span)
    }

    fn tokens(&self, call: &Called) -> Range<usize> {
        let start = self.text.token_at(call.start);
        start..self.brackets.complete(start, self.text.token_at(call.end - 1) + 1)
    }

    /// The functions that have bodies.
    fn definitions(&self, parsed: &Parsed) -> Vec<Definition> {
        let is_function = |kind: Kind| {
            matches!(kind, Kind::Function | Kind::Method | Kind::Constructor | Kind::Destructor | Kind::Conversion)
        };
        let functions = parsed.cursors.iter().filter(|cursor| is_function(cursor.kind) && cursor.at >= self.text.from);
        let definition = |cursor: &super::wire::Cursor| {
            let whole = self.text.token_at(cursor.start)..self.text.token_at(cursor.end - 1) + 1;
            let name = self.text.token_at(cursor.at);
            if self.spelling(whole.end - 1) != "}" || !whole.contains(&name) {
                return None;
            }
            let opening =
                (name..whole.end).find(|&at| self.spelling(at) == "(" && self.spelling(at - 1) != "operator")?;
            let head = whole.start..name;
            Some(Definition {
                name,
                constructs: cursor.kind == Kind::Constructor,
                is_empty: self.brackets.close(opening) + 3 == whole.end,
                params: opening..self.brackets.close(opening),
                is_constant: head.into_iter().any(|at| matches!(self.spelling(at), "constexpr" | "consteval")),
                has_choices: whole.clone().any(|at| self.spelling(at) == "if" && self.spelling(at + 1) == "constexpr"),
                whole,
            })
        };
        functions.filter_map(definition).collect()
    }

    /// For each token whether it stands in an operand that nothing evaluates, or between the parentheses of a declaration.
    fn left_out(&self, definitions: &[Definition]) -> Vec<bool> {
        let mut left_out = vec![false; self.output.tokens.len()];
        let params = definitions.iter().map(|each| each.params.clone());
        for range in self.unevaluated().into_iter().chain(params) {
            let end = range.end.min(left_out.len());
            left_out[range.start..end].fill(true);
        }
        left_out
    }

    /// The operands that nothing evaluates.
    fn unevaluated(&self) -> Vec<Range<usize>> {
        let words = ["sizeof", "alignof", "_Alignof", "decltype", "noexcept", "static_assert", "typeid", "typeof"];
        let starts = (0..self.output.tokens.len()).filter(|&at| {
            let word = self.spelling(at).trim_matches('_');
            words.contains(&self.spelling(at)) || word == "typeof" || word == "alignof" || word == "decltype"
        });
        let operand = |at: usize| match self.spelling(at + 1) {
            "(" => at..self.brackets.close(at + 1),
            _ => at..at + 1,
        };
        starts.map(operand).collect()
    }
}
