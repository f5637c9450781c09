//! Text that the grammar reads as the program means it.
//!
//! The grammar is one of CUDA C++ without names: it does not know OpenCL, and guesses at every place where C
//! needs to know whether an identifier is a type. Here every token of the unit is emitted, replaced or left
//! out, so that nothing is left to guess:
//!
//! - a qualifier that the grammar lacks (`__global`, `__kernel`, `__restrict`, `__forceinline__`) is emitted
//!   as `const`, which the grammar takes wherever a qualifier may stand;
//! - attributes (`__launch_bounds__(…)`, `__attribute__((…))`, `alignas(…)`, `[[…]]`) are left out and kept
//!   aside, by the token that they precede;
//! - `<` and `>` of comparisons are emitted as `<=` and `>=`, which never open template arguments and bind
//!   alike; a `*` that multiplies, where it could declare a pointer, as `/`;
//! - a number that is a whole template argument is emitted as `size_t`, since with a number the grammar takes
//!   `a::b<32> c = d` for two comparisons;
//! - the type of a cast is emitted as `size_t`; redundant parentheses around a value are left out where they
//!   could be taken for a cast;
//! - literals are emitted as the simplest of their kind; words of C++ that are names in OpenCL C get a new
//!   spelling.
//!
//! The [`Buffer`] maps every emitted word back to its token; the tree is built from the tokens' own spelling,
//! so that none of these replacements is ever seen by a later room.

mod guesses;
mod words;

use super::names::{Names, is_operator_word};
use crate::preprocess::{Output, Token, TokenKind};
use crate::source::Language;
use crate::syntax::words::is_arithmetic_word;
use std::ops::Range;

/// Emitted where brackets nest too deeply.
pub(super) const TOO_DEEP: &str = "raceproof_nested_too_deeply_";
/// Emitted before the arguments of `T name(…)` in a function, to tell it from a declaration of a function.
pub(super) const CONSTRUCT: &str = "raceproof_construct_";
/// Emitted for the name that an unnamed bit-field lacks.
pub(super) const UNNAMED: &str = "raceproof_unnamed_";
/// Brackets may nest this deeply.
const NESTING: usize = 160;
/// Template arguments are looked for within this many tokens.
const ANGLE_WINDOW: usize = 400;

/// An attribute that was left out.
#[derive(Debug)]
pub(super) struct Attribute {
    /// Index of the token that it precedes.
    pub(super) before: usize,
    /// Name without underscores around it.
    pub(super) name: String,
    /// Tokens of its arguments, without parentheses; `None` if it has none.
    pub(super) arguments: Option<Range<usize>>,
    /// Its own tokens.
    pub(super) tokens: Range<usize>,
}

/// The text for the grammar.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    /// The text.
    pub(super) text: String,
    /// Start of every emitted word, ascending.
    starts: Vec<u32>,
    /// Index of the token behind every emitted word.
    tokens: Vec<u32>,
    /// Attributes in order.
    pub(super) attributes: Vec<Attribute>,
    /// Token ranges that were replaced by [`TOO_DEEP`].
    pub(super) too_deep: Vec<Range<usize>>,
}

impl Buffer {
    /// Index of the token behind the word that holds byte `offset` (or the last before it).
    pub(super) fn token_at(&self, offset: usize) -> usize {
        let at = self.starts.partition_point(|&start| start as usize <= offset);
        at.checked_sub(1).map_or(0, |at| self.tokens[at] as usize)
    }

    /// Puts text without tokens around what was emitted.
    pub(super) fn enclose(&mut self, before: &str, after: &str) {
        self.text = format!("{before}{}{after}", self.text);
        for start in &mut self.starts {
            *start += before.len() as u32;
        }
    }

    fn push(&mut self, text: &str, token: usize) {
        self.starts.push(self.text.len() as u32);
        self.tokens.push(token as u32);
        self.text.push_str(text);
        self.text.push(' ');
    }
}

/// Emits `tokens` of `output`.
pub(super) fn rewrite(output: &Output, tokens: Range<usize>, names: &Names, language: Language) -> Buffer {
    let mut rewriter = Rewriter {
        output,
        names,
        language,
        end: tokens.end,
        buffer: Buffer::default(),
        roles: vec![Role::Plain; tokens.len()],
        start: tokens.start,
        open: Vec::new(),
        closed: Closed::Operand,
        attributes_from: None,
    };
    rewriter.buffer.text.reserve(tokens.len() * 6);
    rewriter.run();
    rewriter.buffer
}

/// What was decided about a token ahead of its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Plain,
    /// Left out.
    Skip,
    /// The type of a cast.
    CastType,
    /// `<` of template arguments.
    AngleOpen,
    /// `>` of template arguments; `>>` closes two.
    AngleClose,
    /// A number that is a whole template argument.
    NumberArgument,
    /// A closing parenthesis behind which an operand follows: of a cast, of `if (…)`.
    BeforeOperand,
    /// A `*` that multiplies.
    Multiply,
    /// The `(` of `T name(…)` in a function.
    Construct,
    /// A bracket or comma of `(a = b, c)`, whose parts are put in parentheses of their own.
    Wrapped,
}

/// What the last closing bracket closed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closed {
    Operand,
    BeforeOperand,
}

/// What a brace encloses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Paren,
    /// The parentheses of `if`, `for`, `while`, `switch`.
    Control,
    Bracket,
    /// Declarations: a namespace, a record, an enumeration.
    Declarations,
    /// Statements.
    Statements,
    /// An initialiser.
    Values,
    /// `asm (…)`
    Asm,
}

struct Rewriter<'a> {
    output: &'a Output,
    names: &'a Names,
    language: Language,
    buffer: Buffer,
    roles: Vec<Role>,
    start: usize,
    end: usize,
    open: Vec<Open>,
    closed: Closed,
    /// First of `buffer.attributes` that waits for the token that it precedes.
    attributes_from: Option<usize>,
}

impl<'a> Rewriter<'a> {
    fn run(&mut self) {
        let mut at = self.start;
        while at < self.end {
            at = self.token(at);
        }
        let end = self.end;
        self.settle_attributes(end.saturating_sub(1));
    }

    fn get(&self, at: usize) -> Option<&'a Token> {
        if at >= self.end { None } else { self.output.tokens.get(at) }
    }

    /// The spelling of a token; empty past the end.
    fn text(&self, at: usize) -> &'a str {
        self.get(at).map_or("", |token| self.output.text(token))
    }

    /// The spelling of the token before `at`; empty at the start.
    fn before(&self, at: usize) -> &'a str {
        if at <= self.start { "" } else { self.text(at - 1) }
    }

    /// The spelling of the last token that was emitted: attributes and what else is left out do not count.
    fn emitted_before(&self) -> &'a str {
        self.buffer.tokens.last().map_or("", |&at| self.text(at as usize))
    }

    fn is_identifier(&self, at: usize) -> bool {
        self.get(at).is_some_and(|token| token.kind == TokenKind::Identifier)
    }

    fn role(&self, at: usize) -> Role {
        self.roles.get(at.wrapping_sub(self.start)).copied().unwrap_or(Role::Plain)
    }

    fn set_role(&mut self, at: usize, role: Role) {
        if let Some(slot) = self.roles.get_mut(at.wrapping_sub(self.start)) {
            *slot = role;
        }
    }

    fn is_type_at(&self, at: usize) -> bool {
        self.get(at).is_some_and(|token| self.names.is_type(token.text, self.output.text(token)))
    }

    fn is_value_at(&self, at: usize) -> bool {
        self.get(at).is_some_and(|token| self.names.is_value(token.text))
    }

    /// Emits a word for token `at`.
    fn emit(&mut self, text: &str, at: usize) {
        self.settle_attributes(at);
        self.buffer.push(text, at);
    }

    fn settle_attributes(&mut self, at: usize) {
        if let Some(from) = self.attributes_from.take() {
            for attribute in &mut self.buffer.attributes[from..] {
                attribute.before = at;
            }
        }
    }

    /// Handles the token at `at` and gives the position to go on at.
    fn token(&mut self, at: usize) -> usize {
        let Some(token) = self.get(at) else { return at + 1 };
        let text = self.output.text(token);
        if self.role(at) == Role::Skip {
            return at + 1;
        }
        match token.kind {
            TokenKind::Identifier => self.word(at, text),
            TokenKind::Number if self.role(at) == Role::NumberArgument => self.literal(at, "size_t"),
            TokenKind::Number => self.literal(at, if text == "0" { "0" } else { "1" }),
            TokenKind::Char => self.literal(at, "'c'"),
            TokenKind::String | TokenKind::RawString => self.literal(at, "\"s\""),
            TokenKind::Punctuator => self.punctuator(at, text),
            TokenKind::Other => self.literal(at, "@"),
        }
    }

    fn literal(&mut self, at: usize, text: &str) -> usize {
        self.emit(text, at);
        at + 1
    }

    fn in_asm(&self) -> bool {
        self.open.contains(&Open::Asm)
    }

    /// The bracket that closes the one at `open`.
    fn closing(&self, open: usize) -> Option<usize> {
        self.closing_before(open, self.end)
    }

    /// The bracket that closes the one at `open`, if it is near: attributes are short, and looking for the end
    /// of each of many that are cut off would take for ever.
    fn closing_nearby(&self, open: usize) -> Option<usize> {
        self.closing_before(open, self.end.min(open + ANGLE_WINDOW))
    }

    fn closing_before(&self, open: usize, end: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in open..end {
            match self.text(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn punctuator(&mut self, at: usize, text: &'a str) -> usize {
        match text {
            "(" | "[" | "{" => return self.opening(at, text),
            ")" | "]" | "}" => return self.closing_bracket(at, text),
            "<" if self.role(at) == Role::AngleOpen => self.emit("<", at),
            ">" if self.role(at) == Role::AngleClose => self.emit(">", at),
            ">>" if self.role(at) == Role::AngleClose => {
                self.emit(">", at);
                self.emit(">", at);
            }
            "<<" if self.text(at + 1) == "<" => {
                self.emit("<<<", at);
                return at + 2;
            }
            ">>" if self.text(at + 1) == ">" && self.role(at + 1) == Role::Plain => {
                self.emit(">>>", at);
                // What follows in parentheses are arguments.
                self.set_role(at + 1, Role::AngleClose);
                return at + 2;
            }
            "<" => self.emit("<=", at),
            ">" => self.emit(">=", at),
            "*" if self.role(at) == Role::Multiply => self.emit("/", at),
            "," if self.role(at) == Role::Wrapped => {
                self.emit(")", at);
                self.emit(",", at);
                self.emit("(", at);
            }
            "::" if self.open.last() == Some(&Open::Asm) => {
                self.emit(":", at);
                self.emit(":", at);
            }
            "%:" => self.emit("@", at),
            ":" if self.open.last() == Some(&Open::Declarations)
                && (self.before(at) == "," || is_arithmetic_word(self.before(at))) =>
            {
                self.emit(UNNAMED, at);
                self.emit(":", at);
            }
            ";" => {
                self.emit(";", at);
                self.buffer.text.push('\n');
            }
            _ => self.emit(text, at),
        }
        at + 1
    }

    /// Whether the token at `at` and the next stand together, as in `<<<`.
    fn touches(&self, at: usize) -> bool {
        self.get(at + 1).is_some_and(|next| !next.flags.is_apart())
    }

    fn opening(&mut self, at: usize, text: &str) -> usize {
        if self.open.len() >= NESTING {
            // Without a closing bracket the rest of the text belongs to it.
            let close = self.closing(at).unwrap_or(self.end);
            self.buffer.too_deep.push(at + 1..close);
            self.emit(text, at);
            self.emit(TOO_DEEP, at);
            if text == "{" {
                self.emit(";", at);
            }
            self.open.push(if text == "{" { Open::Statements } else { Open::Paren });
            return close;
        }
        if text == "["
            && self.text(at + 1) == "["
            && self.touches(at)
            && !self.ends_operand(at)
            && let Some(close) = self.closing_nearby(at)
        {
            self.attribute_list(at + 2..close - 1, at..close + 1);
            return close + 1;
        }
        let kind = match text {
            "(" => match self.before(at) {
                "if" | "while" | "for" | "switch" => Open::Control,
                "constexpr" if at >= self.start + 2 && self.text(at - 2) == "if" => Open::Control,
                "asm" | "__asm__" | "__asm" => Open::Asm,
                "volatile" | "__volatile__" | "__volatile" if self.is_asm_before(at) => Open::Asm,
                _ => Open::Paren,
            },
            "[" => Open::Bracket,
            _ => self.brace_kind(at),
        };
        if text == "(" && kind == Open::Paren {
            if self.role(at) == Role::Construct {
                self.emit("=", at);
                self.emit(CONSTRUCT, at);
            } else if !self.ends_operand(at) && !matches!(self.before(at), "sizeof" | "...") {
                self.look_for_cast(at);
                if self.role(at) == Role::Skip {
                    return at + 1;
                }
                self.look_for_assignments(at);
            }
        } else if kind == Open::Control && self.before(at) == "while" {
            self.look_for_assignments(at);
        }
        self.open.push(kind);
        self.emit(text, at);
        if self.role(at) == Role::Wrapped {
            self.emit(text, at);
        }
        if text == "{" {
            self.buffer.text.push('\n');
        }
        at + 1
    }

    fn is_asm_before(&self, at: usize) -> bool {
        at >= self.start + 2 && matches!(self.text(at - 2), "asm" | "__asm__" | "__asm")
    }

    fn closing_bracket(&mut self, at: usize, text: &str) -> usize {
        let opened = self.open.pop();
        self.closed = if self.role(at) == Role::BeforeOperand || opened == Some(Open::Control) {
            Closed::BeforeOperand
        } else {
            Closed::Operand
        };
        self.emit(text, at);
        if self.role(at) == Role::Wrapped {
            self.emit(text, at);
        }
        if text == "}" {
            self.buffer.text.push('\n');
        }
        at + 1
    }

    /// Whether the token before `at` ends an operand, so that `(` calls it and `[` indexes it.
    fn ends_operand(&self, at: usize) -> bool {
        if at <= self.start {
            return false;
        }
        let Some(token) = self.get(at - 1) else { return false };
        let text = self.output.text(token);
        match token.kind {
            TokenKind::Identifier => !is_operator_word(text) || matches!(text, "operator"),
            TokenKind::Number | TokenKind::Char | TokenKind::String | TokenKind::RawString => true,
            TokenKind::Punctuator => match text {
                ")" => self.closed == Closed::Operand,
                "]" => true,
                ">" | ">>" => self.role(at - 1) == Role::AngleClose,
                _ => false,
            },
            TokenKind::Other => false,
        }
    }
}
