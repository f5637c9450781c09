//! Conditionals: which branch of an `#if` is read, and skipping the others.
//!
//! What a condition is, as a number, is for [`super::condition`] to say.

use super::condition::{self, Truth};
use super::directives::{Names, Preprocessor};
use super::includes::Search;
use super::interner::Symbol;
use super::{Token, TokenKind};
use crate::diagnostic::Severity;
use crate::source::Span;

/// An `#if` that is open.
pub(super) struct Conditional {
    pub(super) start: Span,
    /// Whether a branch was taken already.
    pub(super) taken: bool,
    pub(super) undecided: bool,
    pub(super) after_else: bool,
}

impl Preprocessor<'_> {
    pub(super) fn is_defined(&self, rest: &[Token]) -> Truth {
        rest.first().map_or(Truth::Unknown, |name| self.names_macro(name.text))
    }

    /// Whether a macro of this name exists, those that only `#if` knows included.
    pub(super) fn names_macro(&self, name: Symbol) -> Truth {
        let Names { line, file, counter, level, .. } = self.names;
        let dynamic = [line, file, counter, level].contains(&name);
        let text = self.spellings.text(name);
        Truth::of(dynamic || self.definition(name).is_some() || condition::is_query(text))
    }

    pub(super) fn condition(&mut self, rest: &[Token], whole: Span) -> Truth {
        let prepared = self.prepare_condition(rest);
        let outer = std::mem::replace(&mut self.deciding, true);
        let expanded = self.expand_list(prepared);
        self.deciding = outer;
        let truth = condition::evaluate(&expanded, &self.spellings);
        if truth == Truth::Unknown {
            self.report(Severity::Note, whole, "condition cannot be decided; it is taken as false");
        }
        truth
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
        let truth = name.filter(|_| is_closed).map_or(Truth::Unknown, |name| self.names_macro(name.text));
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
                name.map_or(Truth::Unknown, |name| self.names_macro(name.text))
            } else if is_call && matches!(self.spellings.text(token.text), "__has_include" | "__has_include_next") {
                let close = rest[at..].iter().position(|next| next.text == self.names.close);
                let end = close.map_or(rest.len(), |found| at + found);
                let found = self.header_of(&rest[at + 1..end]).is_some_and(|(name, quoted)| {
                    let includer = token.span.file;
                    let next = self.spellings.text(token.text) == "__has_include_next";
                    let search = if next { Search::Onwards } else { Search::FromStart };
                    self.find_header(&name, quoted, includer, search).is_some()
                });
                at = (end + 1).min(rest.len());
                if found { Truth::Yes } else { Truth::Unknown }
            } else {
                prepared.push(token);
                continue;
            };
            let number = self.token_of(truth, token);
            prepared.push(number);
        }
        prepared
    }

    pub(super) fn open_conditional(&mut self, truth: Truth, start: Span) {
        let undecided = truth == Truth::Unknown;
        let conditional = Conditional { start, taken: truth == Truth::Yes, undecided, after_else: false };
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
            self.complain(whole, "`#else` without `#if`");
            return;
        }
        self.skip_to_branch();
    }

    pub(super) fn close_conditional(&mut self, whole: Span) {
        let Some(top) = self.stack.last_mut() else { return };
        match top.conditionals.pop() {
            None => self.complain(whole, "`#endif` without `#if`"),
            Some(conditional) if conditional.undecided => self.undecided.push(conditional.start.to(whole)),
            Some(_) => {}
        }
    }

    /// Skips tokens to the branch that is to be read, or past the `#endif`.
    pub(super) fn skip_to_branch(&mut self) {
        let mut depth = 0_usize;
        let mut skipped_from = None;
        loop {
            if let Some(top) = self.stack.last().filter(|_| skipped_from.is_none()) {
                skipped_from = Some(top.tokens.get(top.next).map_or(u32::MAX, |token| token.span.start));
            }
            let Some(hash) = self.next_directive() else { return };
            let line = self.line();
            let Some((name, rest)) = line.split_first() else { continue };
            let whole = hash.to(line.last().map_or(hash, |last| last.span));
            let text = self.spellings.text(name.text);
            let ends_branch = depth == 0 && (text == "endif" || text.starts_with("el"));
            if let Some(start) = skipped_from.filter(|_| ends_branch).filter(|&start| start < hash.start) {
                self.skipped.push(Span { start, end: hash.start, ..hash });
            }
            if ends_branch {
                skipped_from = None;
            }
            match text {
                "if" | "ifdef" | "ifndef" => depth += 1,
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
            self.complain(whole, "branch after `#else`");
            return false;
        }
        let truth = match name {
            _ if taken => Truth::No,
            "else" => Truth::Yes,
            "elif" => self.condition(rest, whole),
            "elifdef" => self.is_defined(rest),
            _ => self.is_defined(rest).negated(),
        };
        if let Some(open) = self.stack.last_mut().and_then(|top| top.conditionals.last_mut()) {
            open.taken |= truth == Truth::Yes;
            open.undecided |= truth == Truth::Unknown;
            open.after_else = name == "else";
        }
        truth == Truth::Yes
    }
}
