//! Conditionals: which branch of an `#if` is read, and skipping the others.
//!
//! What a condition is, as a number, is for [`super::condition`] to say.

use super::choices::{Because, Ids};
use super::condition::{self, Truth};
use super::directives::{Names, Preprocessor};
use super::includes::{HeaderName, Search};
use super::interner::Symbol;
use super::{Token, TokenKind};
use crate::diagnostic::Severity;
use crate::source::headers::is_installed;
use crate::source::{Language, Span};

/// An `#if` that is open.
pub(super) struct Conditional {
    pub(super) start: Span,
    /// Whether a branch was taken already.
    pub(super) taken: bool,
    pub(super) undecided: bool,
    /// What the branch that is taken depends on.
    pub(super) choices: Ids,
    pub(super) after_else: bool,
}

impl Preprocessor<'_> {
    pub(super) fn is_defined(&mut self, rest: &[Token]) -> Truth {
        rest.first().map_or(Truth::Unknown, |name| self.asked(name.text))
    }

    /// Whether a macro of this name exists, for a condition that depends on it.
    fn asked(&mut self, name: Symbol) -> Truth {
        if self.is_doubted(name) {
            return Truth::Unknown;
        }
        let about = self.choices_about(name);
        about.into_iter().for_each(|id| self.consult_choice(id));
        self.names_macro(name)
    }

    /// Whether a macro of this name exists, those that only `#if` knows included.
    pub(super) fn names_macro(&self, name: Symbol) -> Truth {
        let text = self.spellings.text(name);
        let is_query =
            condition::is_query(text) && (self.language == Language::OpenCl || condition::is_query_of_gcc(text));
        Truth::of(self.is_dynamic(name) || self.macros.definition(name).is_some() || is_query)
    }

    /// Whether a name stands for something else at each place.
    pub(super) fn is_dynamic(&self, name: Symbol) -> bool {
        let Names { line, file, counter, level, .. } = self.names;
        [line, file, counter, level].contains(&name) || condition::is_of_the_build(self.spellings.text(name))
    }

    pub(super) fn condition(&mut self, rest: &[Token], whole: Span) -> Truth {
        let before = self.take_read();
        let truth = self.evaluated(rest);
        let mut choices = self.take_read();
        if truth == Truth::Unknown {
            self.told.report(Severity::Note, whole, "condition cannot be decided; it is taken as false");
        } else if !choices.is_empty() {
            let counter = self.counter;
            self.choices.doubting = true;
            if self.evaluated(rest) == truth {
                choices.clear();
            }
            self.choices.doubting = false;
            self.counter = counter;
            self.take_read();
        }
        choices.into_iter().chain(before).for_each(|id| self.consult_choice(id));
        truth
    }

    fn evaluated(&mut self, rest: &[Token]) -> Truth {
        let asked = self.answer_queries(rest);
        let prepared = self.prepare_condition(&asked);
        let outer = std::mem::replace(&mut self.deciding, true);
        let expanded = self.expand_list(prepared);
        self.deciding = outer;
        let answered = self.answer_queries(&expanded);
        condition::evaluate(&answered, &self.spellings)
    }

    /// Replaces `__has_attribute(…)` and its kin by numbers.
    fn answer_queries(&mut self, expanded: &[Token]) -> Vec<Token> {
        let mut answered = Vec::with_capacity(expanded.len());
        let mut at = 0;
        while let Some(&token) = expanded.get(at) {
            at += 1;
            let name = self.spellings.text(token.text).to_owned();
            let is_call = expanded.get(at).is_some_and(|next| next.text == self.names.open);
            let is_query = condition::is_query(&name) && self.macros.definition(token.text).is_none();
            if !is_call || !is_query || name.starts_with("__has_include") {
                answered.push(token);
                continue;
            }
            let close = expanded[at..].iter().position(|next| next.text == self.names.close);
            let end = close.map_or(expanded.len(), |found| at + found);
            let asked: String = expanded[at + 1..end].iter().map(|token| self.spellings.text(token.text)).collect();
            at = (end + 1).min(expanded.len());
            let known = condition::answer(&name, &asked).filter(|_| self.language == Language::Cuda);
            if known.is_none() {
                let id = self.choice(format!("`{name}({asked})` is 0"), Because::Implementation, None);
                self.consult_choice(id);
            }
            let is_doubted = known.is_none() && self.choices.doubting;
            let number = if is_doubted { Truth::Unknown.spelling() } else { known.unwrap_or("0") };
            let text = self.spellings.intern(number);
            let kind = if is_doubted { TokenKind::Other } else { TokenKind::Number };
            answered.push(Token { text, kind, ..token });
        }
        answered
    }

    /// What follows a `defined` that a macro brought: the tokens of its operand are not expanded.
    pub(super) fn defined_by_macro(&mut self, defined: Token) -> Token {
        let mut operand = self.unexpanded();
        let in_brackets = operand.is_some_and(|token| token.text == self.names.open);
        if in_brackets {
            operand = self.unexpanded();
        }
        let name = operand.filter(|token| token.kind == TokenKind::Identifier);
        let is_closed = !in_brackets || self.unexpanded().is_some_and(|token| token.text == self.names.close);
        let truth = name.filter(|_| is_closed).map_or(Truth::Unknown, |name| self.asked(name.text));
        self.token_of(truth, defined)
    }

    pub(super) fn token_of(&mut self, truth: Truth, place: Token) -> Token {
        let text = self.spellings.intern(truth.spelling());
        let kind = if truth == Truth::Unknown { TokenKind::Other } else { TokenKind::Number };
        Token { text, kind, ..place }
    }

    /// Replaces `defined X` and `__has_include(…)` by numbers, before macros are expanded.
    pub(super) fn prepare_condition(&mut self, rest: &[Token]) -> Vec<Token> {
        let mut prepared = Vec::with_capacity(rest.len());
        let mut at = 0;
        while let Some(&token) = rest.get(at) {
            at += 1;
            let is_call = rest.get(at).is_some_and(|next| next.text == self.names.open);
            let truth = if token.text == self.names.defined {
                let name = rest.get(at + usize::from(is_call)).copied();
                at += if is_call { 3 } else { 1 };
                name.map_or(Truth::Unknown, |name| self.asked(name.text))
            } else if is_call && matches!(self.spellings.text(token.text), "__has_include" | "__has_include_next") {
                let close = rest[at..].iter().position(|next| next.text == self.names.close);
                let end = close.map_or(rest.len(), |found| at + found);
                let header = self.header_of(&rest[at + 1..end]);
                at = (end + 1).min(rest.len());
                header.map_or(Truth::Unknown, |header| self.has_header(&header, token))
            } else {
                prepared.push(token);
                continue;
            };
            let number = self.token_of(truth, token);
            prepared.push(number);
        }
        prepared
    }

    /// `__has_include(…)`: one that is not found is there where every compiler has it.
    fn has_header(&mut self, name: &HeaderName, token: Token) -> Truth {
        let next = self.spellings.text(token.text) == "__has_include_next";
        let search = if next { Search::Onwards } else { Search::FromStart };
        if self.find_header(name, token.span.file, search).is_some() || self.has_stand_in(&name.text) {
            return Truth::Yes;
        }
        if is_installed(&name.text) && !name.is_quoted && self.language == Language::Cuda {
            return Truth::Yes;
        }
        let id = self.choice(format!("there is no `{}` (it was not found)", name.text), Because::Missing, None);
        self.consult_choice(id);
        if self.choices.doubting { Truth::Unknown } else { Truth::No }
    }

    pub(super) fn open_conditional(&mut self, truth: Truth, start: Span) {
        let undecided = truth == Truth::Unknown;
        let choices = self.take_read();
        let mut choices = self.without_guards(choices);
        if undecided {
            choices.insert(self.choice(String::new(), Because::Undecided, None));
        }
        let conditional = Conditional { start, taken: truth == Truth::Yes, undecided, choices, after_else: false };
        if let Some(top) = self.stack.last_mut() {
            top.conditionals.push(conditional);
        }
        if truth != Truth::Yes {
            self.skip_to_branch();
        }
    }

    /// `#else` or `#elif` after a branch that was read: the rest of the conditional is skipped.
    pub(super) fn skip_rest(&mut self, whole: Span) {
        if self.stack.last().is_none_or(|top| top.conditionals.is_empty()) {
            self.told.complain(whole, "`#else` without `#if`");
            return;
        }
        self.skip_to_branch();
    }

    pub(super) fn close_conditional(&mut self, whole: Span) {
        let Some(top) = self.stack.last_mut() else { return };
        match top.conditionals.pop() {
            None => self.told.complain(whole, "`#endif` without `#if`"),
            Some(conditional) => self.note_region(&conditional, conditional.start.to(whole)),
        }
    }

    /// Skips tokens to the branch that is to be read, or past the `#endif`.
    pub(super) fn skip_to_branch(&mut self) {
        let mut depth = 0_usize;
        // Where the text begins that is left out, which may be a comment, and where its first token does.
        let mut skipped_from = None;
        loop {
            if let Some(top) = self.stack.last().filter(|_| skipped_from.is_none()) {
                let before = top.next.checked_sub(1).and_then(|last| top.tokens.get(last));
                let first = top.tokens.get(top.next).map_or(u32::MAX, |token| token.span.start);
                skipped_from = Some((before.map_or(u32::MAX, |token| token.span.end), first));
            }
            let Some(hash) = self.next_directive() else { return };
            let line = self.line();
            let Some((name, rest)) = line.split_first() else { continue };
            let whole = hash.to(line.last().map_or(hash, |last| last.span));
            let text = self.spellings.text(name.text);
            let ends_branch = depth == 0 && (text == "endif" || text.starts_with("el"));
            if let Some((text, tokens)) = skipped_from.filter(|_| ends_branch) {
                let until = |start| Some(Span { start, end: hash.start, ..hash }).filter(|_| start < hash.start);
                self.told.left_out.extend(until(text));
                self.told.skipped.extend(until(tokens));
            }
            if ends_branch {
                skipped_from = None;
            }
            match text {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "define" | "undef" => self.would_settle(rest),
                "endif" if depth == 0 => return self.close_conditional(whole),
                "endif" => depth -= 1,
                "elif" | "elifdef" | "elifndef" | "else" if depth == 0 => {
                    let text = text.to_owned();
                    if self.takes_branch(&text, rest, whole) {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// Moves past the next `#` at the start of a line, in the current file.
    pub(super) fn next_directive(&mut self) -> Option<Span> {
        loop {
            let top = self.stack.last_mut()?;
            let token = *top.tokens.get(top.next)?;
            top.next += 1;
            if self.is_directive(&token) {
                return Some(token.span);
            }
        }
    }

    /// Whether the branch that `#name rest` opens is the one to read.
    pub(super) fn takes_branch(&mut self, name: &str, rest: &[Token], whole: Span) -> bool {
        let Some(open) = self.stack.last().and_then(|top| top.conditionals.last()) else { return false };
        let (taken, after_else) = (open.taken, open.after_else);
        if after_else {
            self.told.complain(whole, "branch after `#else`");
            return false;
        }
        let truth = match name {
            _ if taken => Truth::No,
            "else" => Truth::Yes,
            "elif" => self.condition(rest, whole),
            "elifdef" => self.is_defined(rest),
            _ => self.is_defined(rest).negated(),
        };
        let mut choices = self.take_read();
        if truth == Truth::Unknown {
            choices.insert(self.choice(String::new(), Because::Undecided, None));
        }
        if let Some(open) = self.stack.last_mut().and_then(|top| top.conditionals.last_mut()) {
            open.taken |= truth == Truth::Yes;
            open.undecided |= truth == Truth::Unknown;
            open.choices.extend(choices);
            open.after_else = name == "else";
        }
        truth == Truth::Yes
    }
}
