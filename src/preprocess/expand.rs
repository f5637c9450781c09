//! Macro expansion.
//!
//! A stack of token lists stands between the file and the reader. Expanding a macro pushes its body; the macro
//! is *busy* until that list is used up, and its name met meanwhile is painted: it stays an identifier for
//! ever. Arguments are expanded by themselves before they are substituted, which is what the standard's
//! rescanning rules ask for.

use super::condition::Truth;
use super::directives::Preprocessor;
use super::interner::Symbol;
use super::lexer;
use super::macros::{Macro, Params};
use super::{Token, TokenFlags, TokenKind};
use crate::source::{ExpansionId, FileId, Span};
use rustc_hash::FxHashMap;

/// A call as it was collected.
struct Call {
    open: Token,
    /// The arguments; each but the first starts with its comma.
    arguments: Vec<Vec<Token>>,
    close: Token,
}

/// Deepest nesting of calls inside arguments of calls.
const ARGUMENT_DEPTH: usize = 100;
impl Preprocessor<'_> {
    /// The next token after macro expansion.
    pub(super) fn expanded(&mut self) -> Option<Token> {
        loop {
            let mut token = self.unexpanded()?;
            if token.kind != TokenKind::Identifier || token.flags.has(TokenFlags::PAINTED) {
                return Some(token);
            }
            if self.deciding && token.text == self.names.defined {
                return Some(self.defined_by_macro(token));
            }
            if self.macros.is_busy(token.text) {
                token.flags |= TokenFlags::PAINTED;
                return Some(token);
            }
            self.consult(token.text, token.span);
            if self.deciding && self.is_doubted(token.text) {
                return Some(self.token_of(Truth::Unknown, token));
            }
            if let Some(replacement) = self.dynamic(token) {
                return Some(replacement);
            }
            if token.text == self.names.pragma_operator && self.next_is_open() {
                let call = self.collect_arguments(&token);
                self.pragma_operator(call, token.span.file);
                continue;
            }
            let Some(definition) = self.macros.definition(token.text) else { return Some(token) };
            if !self.enter(&token, &definition) {
                return Some(token);
            }
        }
    }

    /// `_Pragma("text")`
    fn pragma_operator(&mut self, call: Option<Call>, file: FileId) {
        let tokens = call.map(|call| call.arguments.concat()).unwrap_or_default();
        let [text] = tokens.as_slice() else { return };
        let text = self.spellings.text(text.text).trim_matches('"').replace("\\\"", "\"");
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let words: Vec<String> = spaced.split_whitespace().map(str::to_owned).collect();
        // Where it stands is not told: anywhere in the file.
        self.pragma(&words, Span::new(file, 0, u32::MAX as usize));
    }

    /// Expands `tokens` alone, as an argument or a condition.
    pub(super) fn expand_list(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let outer = self.pending.isolate(tokens);
        let mut result = Vec::new();
        while let Some(token) = self.expanded() {
            result.push(token);
        }
        self.pending.restore(outer);
        result
    }

    /// The next token as written.
    pub(super) fn unexpanded(&mut self) -> Option<Token> {
        if self.told.gave_up {
            return None;
        }
        if let Some(token) = self.pending.next(&mut self.macros) {
            return Some(token);
        }
        if self.pending.isolation() > 0 { None } else { self.next_of_files() }
    }

    /// Whether the next token is `(`, without taking it.
    fn next_is_open(&mut self) -> bool {
        if self.told.gave_up {
            return false;
        }
        if let Some(token) = self.pending.peek() {
            return token.text == self.names.open;
        }
        self.pending.isolation() == 0 && self.peek_files().is_some_and(|token| token.text == self.names.open)
    }

    /// Pushes the expansion of `token`; false if it is a function-like macro's name without a call.
    fn enter(&mut self, token: &Token, definition: &Macro) -> bool {
        let Some(params) = &definition.params else {
            let expansion = self.add_expansion(token, token.span);
            let body = self.substitute_object(definition, expansion);
            self.push_expansion(token, body);
            return true;
        };
        if !self.next_is_open() {
            return false;
        }
        if self.pending.isolation() > ARGUMENT_DEPTH {
            self.told.complain(token.span, "macro calls nested too deeply in arguments");
            return false;
        }
        let Some(Call { open, arguments, close }) = self.collect_arguments(token) else { return false };
        let range = self.sources.join(token.span, close.span);
        if self.pending.isolation() > 0 && !self.spend(range, arguments.iter().map(Vec::len).sum()) {
            return false;
        }
        let arguments = match fit(params, arguments, self.names.comma) {
            Ok(arguments) => arguments,
            Err(arguments) => {
                let name = self.spellings.text(token.text).to_owned();
                self.told.complain(range, &format!("wrong number of arguments for macro `{name}`"));
                let inside = arguments.into_iter().flatten();
                self.pending.put_back(std::iter::once(open).chain(inside).chain([close]).collect());
                return false;
            }
        };
        let expansion = self.add_expansion(token, range);
        let body = self.substitute_call(definition, params, &arguments, expansion, token.span.expansion);
        self.push_expansion(token, body);
        true
    }

    fn add_expansion(&mut self, token: &Token, call: Span) -> ExpansionId {
        let name = self.spellings.text(token.text);
        self.sources.add_expansion(name, call)
    }

    fn push_expansion(&mut self, token: &Token, mut body: Vec<Token>) {
        if let Some(first) = body.first_mut() {
            // A painted first token stays painted; spacing is that of the call.
            first.flags =
                TokenFlags((first.flags.0 & TokenFlags::PAINTED.0) | (token.flags.0 & !TokenFlags::PAINTED.0));
        }
        if !self.spend(token.span, body.len() + 1) {
            return;
        }
        self.pending.expand(token.text, body, &mut self.macros);
    }

    /// Counts tokens that expansion handles; false once the budget is used up.
    fn spend(&mut self, at: Span, tokens: usize) -> bool {
        if !self.pending.spend(tokens) && !self.told.gave_up {
            self.told.give_up(at, "macros expand to too many tokens");
        }
        !self.told.gave_up
    }

    /// Takes `( … )` and splits it at its commas. `None` at the end of the input: the tokens are put back.
    fn collect_arguments(&mut self, name: &Token) -> Option<Call> {
        let open = self.unexpanded()?;
        let mut arguments = vec![Vec::new()];
        let mut depth = 0_usize;
        loop {
            let Some(token) = self.unexpanded() else {
                let text = self.spellings.text(name.text).to_owned();
                self.told.complain(name.span, &format!("unterminated call of macro `{text}`"));
                let rest: Vec<Token> = std::iter::once(open).chain(arguments.into_iter().flatten()).collect();
                self.spend(name.span, rest.len());
                self.pending.put_back(rest);
                return None;
            };
            let text = token.text;
            if text == self.names.close && depth == 0 {
                return Some(Call { open, arguments, close: token });
            }
            if text == self.names.open {
                depth += 1;
            } else if text == self.names.close {
                depth -= 1;
            } else if text == self.names.comma && depth == 0 {
                // The comma itself leads the next argument, so that variadic ones can be joined again.
                arguments.push(vec![token]);
                continue;
            }
            arguments.last_mut()?.push(token);
        }
    }

    fn substitute_object(&mut self, definition: &Macro, expansion: ExpansionId) -> Vec<Token> {
        let none = Substitution { params: &[], variadic: None, arguments: &[], expansion, outside: None };
        if definition.body.iter().any(|token| token.text == self.names.paste) {
            return self.substitute(&definition.body, &none, &mut Vec::new());
        }
        definition.body.iter().map(|token| placed(token, expansion)).collect()
    }

    fn substitute_call(
        &mut self,
        definition: &Macro,
        params: &Params,
        arguments: &[Vec<Token>],
        expansion: ExpansionId,
        outside: Option<ExpansionId>,
    ) -> Vec<Token> {
        let mut expanded: Vec<Slot> = arguments.iter().map(|_| Slot::default()).collect();
        let variadic = if params.variadic { params.names.last().copied() } else { None };
        let substitution = Substitution { params: &params.names, variadic, arguments, expansion, outside };
        self.substitute(&definition.body, &substitution, &mut expanded)
    }

    /// The body with its parameters replaced, `#` and `##` applied.
    fn substitute(&mut self, body: &[Token], with: &Substitution<'_>, slots: &mut Vec<Slot>) -> Vec<Token> {
        let mut result: Vec<Token> = Vec::with_capacity(body.len());
        let mut paste = Paste::No;
        let mut at = 0;
        while at < body.len() {
            let token = &body[at];
            at += 1;
            if token.text == self.names.paste && at > 1 && at < body.len() {
                paste = match paste {
                    Paste::Empty => Paste::Nothing,
                    _ if result.is_empty() => Paste::Nothing,
                    _ => Paste::Last,
                };
                continue;
            }
            let pasted_next = body.get(at).is_some_and(|next| next.text == self.names.paste);
            // The extension `, ## __VA_ARGS__` pastes nothing; it drops the comma when there are no arguments.
            let comma = paste == Paste::Last
                && with.variadic == Some(token.text)
                && result.last().is_some_and(|left| left.text == self.names.comma);
            let is_operand = pasted_next || (paste.is_pending() && !comma);
            let form = if is_operand { Form::Written } else { Form::Expanded };
            let mut piece = self.piece(body, &mut at, with, slots, form);
            let Some(first) = piece.first_mut() else {
                if comma {
                    result.pop();
                }
                // An empty operand of `##` leaves the other side alone.
                paste = if paste == Paste::Last { Paste::No } else { Paste::Empty };
                continue;
            };
            first.flags = TokenFlags((first.flags.0 & TokenFlags::PAINTED.0) | spacing(token));
            let mut rest = piece.into_iter();
            if paste == Paste::Last
                && !comma
                && let Some(left) = result.pop()
                && let Some(right) = rest.next()
            {
                self.paste(left, right, &mut result, with);
            }
            result.extend(rest);
            paste = Paste::No;
        }
        result
    }

    /// What one token of the body (with what belongs to it: `#x`, `__VA_OPT__(…)`) becomes.
    fn piece(
        &mut self,
        body: &[Token],
        at: &mut usize,
        with: &Substitution<'_>,
        slots: &mut Vec<Slot>,
        form: Form,
    ) -> Vec<Token> {
        let token = &body[*at - 1];
        if token.text == self.names.hash
            && let Some(next) = body.get(*at)
            && let Some(index) = with.index_of(next)
        {
            *at += 1;
            return vec![self.stringized(token, with, index)];
        }
        if token.text == self.names.va_opt && body.get(*at).is_some_and(|next| next.text == self.names.open) {
            let inside = self.matching(body, *at);
            let content = &body[*at + 1..inside];
            *at = (inside + 1).min(body.len());
            // Arguments that expand to nothing count as none.
            let wanted = with.arguments.last().cloned().is_some_and(|last| !self.expand_list(last).is_empty());
            return if wanted { self.substitute(content, with, slots) } else { Vec::new() };
        }
        let Some(index) = with.index_of(token) else { return vec![placed(token, with.expansion)] };
        let slot = &slots[index];
        let copy = slot.uses;
        let tokens = if form == Form::Written {
            with.arguments[index].clone()
        } else if let Some(known) = &slot.expanded {
            known.clone()
        } else {
            let known = self.expand_list(with.arguments[index].clone());
            slots[index].expanded = Some(known.clone());
            known
        };
        slots[index].uses += 1;
        if copy == 0 { tokens } else { self.copied(tokens, token, with) }
    }

    /// Position of the bracket that closes the one at `open`, or the end.
    fn matching(&self, body: &[Token], open: usize) -> usize {
        let mut depth = 0_usize;
        for (at, token) in body.iter().enumerate().skip(open) {
            if token.text == self.names.open {
                depth += 1;
            } else if token.text == self.names.close {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
        }
        body.len()
    }

    /// A further copy of an argument: the same ranges, below an expansion of its own.
    fn copied(&mut self, mut tokens: Vec<Token>, param: &Token, with: &Substitution<'_>) -> Vec<Token> {
        let Some((first, last)) = tokens.first().zip(tokens.last()) else { return tokens };
        let whole = self.sources.join(first.span, last.span);
        let name = self.spellings.text(param.text).to_owned();
        let mut known: FxHashMap<Option<ExpansionId>, ExpansionId> = FxHashMap::default();
        for token in &mut tokens {
            let below = token.span.expansion;
            let expansion = *known.entry(below).or_insert_with(|| {
                let mut call_site = whole;
                let mut name = name.clone();
                if below != with.outside
                    && let Some(id) = below
                {
                    let inner = self.sources.expansion(id).clone();
                    call_site = inner.call_site;
                    name = inner.name;
                }
                self.sources.add_expansion(name, call_site)
            });
            token.span.expansion = Some(expansion);
        }
        tokens
    }

    /// `#param`
    fn stringized(&mut self, hash: &Token, with: &Substitution<'_>, index: usize) -> Token {
        let mut text = String::from("\"");
        for (position, token) in with.arguments[index].iter().enumerate() {
            if position > 0 && token.flags.is_apart() {
                text.push(' ');
            }
            let literal = matches!(token.kind, TokenKind::String | TokenKind::Char | TokenKind::RawString);
            for character in self.spellings.text(token.text).chars() {
                match character {
                    '\\' | '"' if literal => text.extend(['\\', character]),
                    '\n' => text.push_str("\\n"),
                    _ => text.push(character),
                }
            }
        }
        text.push('"');
        let kind = if with.arguments[index].iter().any(|token| token.kind == TokenKind::Other) {
            lexer::single_token(&text, self.language).unwrap_or(TokenKind::Other)
        } else {
            TokenKind::String
        };
        Token { text: self.spellings.intern(&text), kind, ..placed(hash, with.expansion) }
    }

    /// `left ## right`
    fn paste(&mut self, left: Token, right: Token, result: &mut Vec<Token>, with: &Substitution<'_>) {
        let text = format!("{}{}", self.spellings.text(left.text), self.spellings.text(right.text));
        if let Some(kind) = lexer::single_token(&text, self.language) {
            let span = Span { expansion: Some(with.expansion), ..self.definition_place(left.span, with) };
            let flags = TokenFlags(left.flags.0 & !TokenFlags::PAINTED.0);
            result.push(Token { text: self.spellings.intern(&text), kind, span, flags });
            return;
        }
        self.told.complain(right.span, &format!("pasting forms `{text}`, which is no token"));
        result.extend([left, right]);
    }

    /// A pasted token lies where its left part was written.
    fn definition_place(&self, left: Span, with: &Substitution<'_>) -> Span {
        if left.expansion == Some(with.expansion) { left } else { self.sources.expansion(with.expansion).call_site }
    }
}

/// How an argument stands for its parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As it was written, beside `##`.
    Written,
    Expanded,
}

/// What stands left of a pending `##`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paste {
    /// There is no `##`.
    No,
    /// There is no `##`, and the last operand was empty.
    Empty,
    /// `##` follows an empty operand.
    Nothing,
    /// `##` follows the last token of the result.
    Last,
}

impl Paste {
    fn is_pending(self) -> bool {
        matches!(self, Paste::Nothing | Paste::Last)
    }
}

/// An argument, expanded at its first use outside `#` and `##`.
#[derive(Default)]
struct Slot {
    expanded: Option<Vec<Token>>,
    uses: usize,
}

/// One call: what its parameters stand for.
struct Substitution<'a> {
    params: &'a [Symbol],
    /// The parameter that takes the remaining arguments.
    variadic: Option<Symbol>,
    arguments: &'a [Vec<Token>],
    expansion: ExpansionId,
    /// The expansion in which the call itself stands.
    outside: Option<ExpansionId>,
}

impl Substitution<'_> {
    fn index_of(&self, token: &Token) -> Option<usize> {
        if token.kind != TokenKind::Identifier {
            return None;
        }
        self.params.iter().position(|&param| param == token.text)
    }
}

fn spacing(token: &Token) -> u8 {
    token.flags.0 & !TokenFlags::PAINTED.0
}

/// A token of a macro's body in one expansion.
fn placed(token: &Token, expansion: ExpansionId) -> Token {
    Token { span: Span { expansion: Some(expansion), ..token.span }, ..*token }
}

/// Distributes the collected arguments over the parameters; gives them back if their numbers do not agree.
fn fit(params: &Params, mut arguments: Vec<Vec<Token>>, comma: Symbol) -> Result<Vec<Vec<Token>>, Vec<Vec<Token>>> {
    let wanted = params.names.len();
    if wanted == 0 && arguments.len() == 1 && arguments[0].is_empty() {
        return Ok(Vec::new());
    }
    if params.variadic {
        if arguments.len() + 1 == wanted {
            arguments.push(Vec::new());
        } else if arguments.len() >= wanted {
            let rest: Vec<Token> = arguments.split_off(wanted - 1).into_iter().flatten().collect();
            arguments.push(rest);
        }
    }
    if arguments.len() != wanted {
        return Err(arguments);
    }
    for (index, argument) in arguments.iter_mut().enumerate() {
        if index > 0 && argument.first().is_some_and(|first| first.text == comma) {
            argument.remove(0);
        }
    }
    Ok(arguments)
}
