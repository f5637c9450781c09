//! The account of a function: every token of its text is held by the tree, or the function says that it is not.
//!
//! A front end may lose a token in ways that nobody has thought of: a macro that is not defined turns what stands around
//! it into something else that looks whole. So after a function has been converted, [`settle`] compares its tokens with
//! what its tree [holds](held). A name or a literal must lie in a node that carries it; a keyword or an operator must
//! have a node for each time that it is written. What is missing becomes an `Unsupported` statement at its place, at the
//! start of the body, where nothing can make it unreachable; so no kernel that reaches the function is ever proved.
//!
//! What has no node of its own and may be left out is a stated list: [`is_free`] for words, and attributes other than
//! those that [`matters`] names.
//!
//! Some more things no function of C++ has, or nobody writes, and all are how a macro that is not defined looks: a
//! function that is defined inside another, and in a `switch` a statement that could not be read or that no label leads
//! to, where one may be hidden.
//!
//! Deliberately absent: brackets, commas, colons, `=`, `*`, `&`, `.`, `<` and `>`, alone or doubled, which stand in too many
//! places to be counted; what is lost with one of them is a name or a literal, too.

mod held;
mod places;
#[cfg(test)]
mod tests;

use crate::preprocess::{Output, TokenKind};
use crate::source::{Language, Span};
use crate::syntax::{Function, Item, ItemKind, Qualifier, Stmt, StmtKind, words};
use held::Held;
use places::Places;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A token of a function.
#[derive(Clone, Copy, Debug)]
struct Word<'t> {
    text: &'t str,
    kind: TokenKind,
    span: Span,
}

/// Compares a function that has a body with its tokens, from its declarator to the end of the body, and marks what is
/// not held.
pub(super) fn settle(function: &mut Function, output: &Output, tokens: Range<usize>, language: Language) {
    let Some(body) = &mut function.body else { return };
    settle_statements(body);
    let tokens = output.tokens.get(tokens).unwrap_or_default();
    let word = |token| Word { text: output.text(token), kind: token.kind, span: token.span };
    let words: Vec<Word<'_>> = tokens.iter().map(word).collect();
    let places = Places::new(&words, &output.sources);
    let lost = missing(&words, &Held::of(function, &places), language);
    if let (Some(body), Some(lost)) = (&mut function.body, lost) {
        body.insert(0, lost);
    }
}

/// The first token that nothing in the tree holds, as a statement that says so.
fn missing(tokens: &[Word<'_>], held: &Held, language: Language) -> Option<Stmt> {
    let mut account = Account { tokens, language, held, seen: FxHashMap::default() };
    let mut at = 0;
    while at < tokens.len() {
        if let Some(behind) = account.attribute(at) {
            at = behind;
            continue;
        }
        if !account.is_held(at) {
            return Some(not_understood(tokens, at));
        }
        at += 1;
    }
    None
}

/// The statement for a token that nothing holds.
fn not_understood(tokens: &[Word<'_>], at: usize) -> Stmt {
    let Word { text, kind, span } = tokens[at];
    let called = tokens.get(at + 1).is_some_and(|next| next.text == "(");
    let reason = match kind {
        TokenKind::Identifier if is_shouted(text) => undefined_macro(text, called),
        _ => format!("`{text}` is not understood here; what it is part of was not read"),
    };
    Stmt { kind: StmtKind::Unsupported(reason), span }
}

/// The reason of what looks like a macro that is not defined.
fn undefined_macro(name: &str, called: bool) -> String {
    let call = if called { "(…)" } else { "" };
    format!("`{name}{call}` is no code of this file; if it is a macro, the header that defines it is missing (-I)")
}

/// Whether a name is written as those of macros are.
fn is_shouted(name: &str) -> bool {
    name.len() > 1
        && name.chars().any(|letter| letter.is_ascii_uppercase())
        && !name.chars().any(|letter| letter.is_ascii_lowercase())
}

struct Account<'a> {
    tokens: &'a [Word<'a>],
    language: Language,
    held: &'a Held,
    /// How often each counted word has been met.
    seen: FxHashMap<&'static str, usize>,
}

impl Account<'_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    fn before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |at| self.text(at))
    }

    /// Whether the token at `at` needs no further node.
    fn is_held(&mut self, at: usize) -> bool {
        if self.held.covers(at) {
            return true;
        }
        let Word { text, kind, .. } = self.tokens[at];
        match kind {
            TokenKind::Identifier => self.is_held_word(at, text),
            TokenKind::Punctuator => counted_mark(text).is_none_or(|word| self.count(word)),
            _ => self.held.is_assembly(at) || self.held.is_message(at),
        }
    }

    fn is_held_word(&mut self, at: usize, text: &str) -> bool {
        if text == "default" && self.before(at) == "=" {
            return true;
        }
        if let Some(word) = counted_word(text) {
            return self.count(word);
        }
        if is_free(text) || self.is_operand_name(at) || self.is_empty_list(at) {
            return true;
        }
        match words::qualifier(text, self.language) {
            Some(Qualifier::Volatile) if self.held.is_assembly(at) => true,
            Some(Qualifier::Other(name)) if self.held.has_qualifier(&name) => true,
            // The `goto` that leads to a label is not understood itself.
            Some(Qualifier::Other(_)) if self.text(at + 1) == ":" && self.is_gone_to(text) => true,
            Some(qualifier) => counted_qualifier(&qualifier).is_some_and(|word| self.count(word)),
            None => true,
        }
    }

    /// Whether the tree has at least as many nodes of that sort as tokens have been met. Of what the declarators of one
    /// declaration share it has more.
    fn count(&mut self, word: &'static str) -> bool {
        let seen = self.seen.entry(word).or_default();
        *seen += 1;
        *seen <= self.held.count(word)
    }

    fn is_gone_to(&self, label: &str) -> bool {
        self.tokens.windows(2).any(|pair| pair[0].text == "goto" && pair[1].text == label)
    }

    /// The `x` of `asm("…" : [x] "=r"(y))`.
    fn is_operand_name(&self, at: usize) -> bool {
        self.held.is_assembly(at)
            && self.before(at) == "["
            && self.text(at + 1) == "]"
            && self.tokens.get(at + 2).is_some_and(|next| next.kind == TokenKind::String)
    }

    /// The `void` of `(void)`.
    fn is_empty_list(&self, at: usize) -> bool {
        self.text(at) == "void" && self.before(at) == "(" && self.text(at + 1) == ")"
    }

    /// The token behind the attribute or exception specification at `at`, if it cannot change what the function does or the tree holds it.
    fn attribute(&mut self, at: usize) -> Option<usize> {
        let opens = |at: usize, bracket: &str| self.text(at) == bracket;
        let end = match self.text(at) {
            "__attribute__" | "__attribute" | "alignas" | "_Alignas" | "__align__" | "__builtin_align__"
            | "__launch_bounds__" | "__declspec" | "__pragma"
                if opens(at + 1, "(") =>
            {
                self.close(at + 1)?
            }
            "noexcept" if opens(at + 1, "(") => self.close(at + 1)?,
            "throw" if opens(at + 1, "(") && opens(at + 2, ")") => at + 2,
            "[" if opens(at + 1, "[") && self.close(at + 1)? + 1 == self.close(at)? => self.close(at)?,
            _ => return None,
        };
        let names: Vec<&'static str> =
            (at + 1..end).filter_map(|at| matters(self.text(at).trim_matches('_'))).collect();
        names.into_iter().all(|name| self.count(name)).then_some(end + 1)
    }

    /// The bracket that closes the one at `open`.
    fn close(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in open..self.tokens.len() {
            match self.text(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// Words that no node stands for, since none of them changes what a function does to memory or whom it waits for.
fn is_free(word: &str) -> bool {
    matches!(
        word,
        // What the linker, the optimiser and the reader of a name care for.
        "inline" | "__inline__" | "__inline" | "__forceinline__" | "__forceinline" | "__noinline__" | "register"
            | "__extension__" | "_Noreturn" | "__packed" | "__packed__" | "CUDARTAPI" | "__cdecl" | "__stdcall"
            // What says that a name is a type, a template or a namespace, which the name's own node does, too.
            | "struct" | "class" | "union" | "enum" | "typename" | "template" | "namespace" | "using" | "typedef"
            | "operator" | "auto"
            // Who may see or change a name; clang and nvcc check it.
            | "public" | "private" | "protected" | "friend" | "explicit" | "mutable" | "const" | "__const"
            | "__const__" | "constexpr" | "consteval" | "constinit" | "noexcept" | "override" | "final" | "virtual"
            | "and" | "bitand" | "__restrict__" | "__restrict" | "restrict" | "__host__" | "__device__" | "__grid_constant__"
    )
}

/// The attributes that change what a declaration means.
fn matters(attribute: &str) -> Option<&'static str> {
    const NAMES: [&str; 12] = [
        "shared",
        "device",
        "global",
        "constant",
        "managed",
        "cleanup",
        "vector_size",
        "ext_vector_type",
        "aligned",
        "packed",
        "address_space",
        "mode",
    ];
    NAMES.into_iter().find(|name| *name == attribute)
}

/// Keywords that have a node for each time that they are written; those without any must lie in what is unsupported.
fn counted_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "if" => "if",
        "else" => "else",
        "for" => "for",
        "while" => "while",
        "do" => "do",
        "switch" => "switch",
        "case" => "case",
        "default" => "default",
        "break" => "break",
        "continue" => "continue",
        "return" => "return",
        "sizeof" => "sizeof",
        "static_cast" => "static_cast",
        "reinterpret_cast" => "reinterpret_cast",
        "const_cast" => "const_cast",
        "dynamic_cast" => "dynamic_cast",
        "decltype" | "typeof" | "__typeof__" | "__typeof" => "decltype",
        "asm" | "__asm__" | "__asm" => "asm",
        "static_assert" | "_Static_assert" => "static_assert",
        "not" => "!",
        "compl" => "~",
        "or" => "||",
        "bitor" => "|",
        "xor" => "^",
        "not_eq" => "!=",
        "and_eq" => "&=",
        "or_eq" => "|=",
        "xor_eq" => "^=",
        "goto" | "new" | "delete" | "throw" | "try" | "catch" | "requires" | "concept" | "co_await" | "co_yield"
        | "co_return" | "alignof" | "_Alignof" | "typeid" => "no node",
        _ => return None,
    })
}

/// Operators that mean one thing wherever they stand.
fn counted_mark(mark: &str) -> Option<&'static str> {
    const MARKS: [&str; 26] = [
        "!", "~", "++", "--", "?", "+", "-", "/", "%", "|", "^", "||", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=",
        "%=", "&=", "|=", "^=", "<<=", ">>=",
    ];
    MARKS.into_iter().find(|known| *known == mark)
}

/// Qualifiers that change where something lives or how it is read.
fn counted_qualifier(qualifier: &Qualifier) -> Option<&'static str> {
    Some(match qualifier {
        Qualifier::Shared => "shared",
        Qualifier::Constant => "constant",
        Qualifier::Global => "__global",
        Qualifier::Private => "__private",
        Qualifier::Generic => "__generic",
        Qualifier::Managed => "managed",
        Qualifier::Device => "device",
        Qualifier::Extern => "extern",
        Qualifier::Static => "static",
        Qualifier::Volatile => "volatile",
        Qualifier::Kernel => "global",
        _ => return None,
    })
}

/// Marks, in every statement, what only a macro that is not defined can look like.
fn settle_statements(stmts: &mut [Stmt]) {
    for stmt in stmts {
        settle_statement(stmt);
    }
}

fn settle_statement(stmt: &mut Stmt) {
    match &mut stmt.kind {
        StmtKind::Block(stmts) => settle_statements(stmts),
        StmtKind::If { init, then, otherwise, .. } => {
            init.iter_mut().for_each(|init| settle_statement(init));
            settle_statement(then);
            otherwise.iter_mut().for_each(|otherwise| settle_statement(otherwise));
        }
        StmtKind::For { init, body, .. } => {
            init.iter_mut().for_each(|init| settle_statement(init));
            settle_statement(body);
        }
        StmtKind::RangeFor { body, .. } | StmtKind::While { body, .. } | StmtKind::Do { body, .. } => {
            settle_statement(body);
        }
        StmtKind::Switch { body, .. } => {
            settle_statement(body);
            // It may hold a label, and without labels nothing leads to it.
            if let Some(unread) = unread_in(body).or_else(|| dead_in(body)) {
                let span = stmt.span;
                let switch = std::mem::replace(&mut stmt.kind, StmtKind::Empty);
                stmt.kind = StmtKind::Block(vec![unread, Stmt { kind: switch, span }]);
            }
        }
        StmtKind::Item(Item { kind: ItemKind::Function(function), .. }) if function.body.is_some() => {
            let name = function.path.segments.last().map_or("", |segment| segment.name.text.as_str());
            stmt.kind = StmtKind::Unsupported(undefined_macro(name, true));
        }
        _ => {}
    }
}

/// What no label leads to in the body of a `switch`: what stands before the first, but for declarations, and what
/// stands behind a `break`. Nobody writes it; a macro that is not defined may be a label.
fn dead_in(body: &Stmt) -> Option<Stmt> {
    let StmtKind::Block(stmts) = &body.kind else { return None };
    let mut is_dead = true;
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Case(_) => is_dead = false,
            StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Empty => {}
            StmtKind::Item(item) if declares_only(item) => {}
            _ if is_dead => {
                let reason = "no label leads here; if a macro is one, the header that defines it is missing (-I)";
                return Some(Stmt { kind: StmtKind::Unsupported(reason.to_owned()), span: stmt.span });
            }
            _ => {}
        }
        is_dead |= ends_flow(stmt);
    }
    None
}

fn declares_only(item: &Item) -> bool {
    match &item.kind {
        ItemKind::Variables(variables) => variables.iter().all(|variable| variable.init.is_none()),
        _ => true,
    }
}

/// Whether nothing behind a statement is reached through it.
fn ends_flow(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) => true,
        StmtKind::Block(stmts) => stmts.last().is_some_and(ends_flow),
        _ => false,
    }
}

/// What could not be read in the body of a `switch`.
fn unread_in(stmt: &Stmt) -> Option<Stmt> {
    match &stmt.kind {
        StmtKind::Unsupported(_) => Some(stmt.clone()),
        StmtKind::Block(stmts) => stmts.iter().find_map(unread_in),
        StmtKind::If { then, otherwise, .. } => {
            unread_in(then).or_else(|| otherwise.as_ref().and_then(|otherwise| unread_in(otherwise)))
        }
        StmtKind::For { body, .. }
        | StmtKind::RangeFor { body, .. }
        | StmtKind::While { body, .. }
        | StmtKind::Do { body, .. } => unread_in(body),
        _ => None,
    }
}
