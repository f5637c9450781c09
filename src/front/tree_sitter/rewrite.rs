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
//! - the type of a cast is emitted as `size_t`; redundant parentheses around a value are left out where they
//!   could be taken for a cast;
//! - literals are emitted as the simplest of their kind; words of C++ that are names in OpenCL C get a new
//!   spelling.
//!
//! The [`Buffer`] maps every emitted word back to its token; the tree is built from the tokens' own spelling,
//! so that none of these replacements is ever seen by a later room.

use super::names::{Names, is_arithmetic_word, is_operator_word};
use crate::preprocess::{Output, Token, TokenKind};
use crate::source::Language;
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

    fn word(&mut self, at: usize, text: &str) -> usize {
        if self.role(at) == Role::CastType {
            self.emit(if is_arithmetic_word(text) { text } else { "size_t" }, at);
            return at + 1;
        }
        if let Some(next) = self.attribute(at, text) {
            return next;
        }
        if let Some(word) = self.replacement(at, text) {
            if !word.is_empty() {
                self.emit(word, at);
            }
            return at + 1;
        }
        if text == "operator" {
            return self.operator_name(at);
        }
        if text == "new" {
            self.flatten_new(at);
        }
        if self.is_calling_convention(at, text) {
            return at + 1;
        }
        self.look_for_angles(at, text);
        self.look_for_constructor(at, text);
        self.look_for_product(at);
        if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.emit(text, at);
        } else {
            self.emit("name_", at);
        }
        at + 1
    }

    /// What stands for a word that the grammar does not know, or knows as something else; empty leaves it out.
    fn replacement(&self, at: usize, text: &str) -> Option<&'static str> {
        let opencl = self.language == Language::OpenCl;
        Some(match text {
            "__restrict__" | "__restrict" | "restrict" if matches!(self.before(at), "&" | "&&") => "",
            "__restrict__" | "__restrict" | "restrict" => "const",
            "__kernel" | "__global" | "__local" | "__constant" | "__private" | "__generic" | "__read_only"
            | "__write_only" | "__read_write" => "const",
            "kernel" | "global" | "local" | "constant" | "private" | "generic" | "read_only" | "write_only"
            | "read_write" | "pipe"
                if opencl =>
            {
                "const"
            }
            "__device__" | "__host__" | "__global__" if self.before(at) == "]" || self.before(at) == ")" => "",
            "__device__" | "__host__" | "__global__" | "__shared__" | "__constant__" | "__managed__"
            | "__volatile__"
                if !self.in_asm() =>
            {
                "const"
            }
            "__grid_constant__" | "__const__" | "__const" | "__volatile" => "const",
            "template" if matches!(self.text(at + 1), "class" | "struct") => "",
            "typeid" if self.text(at + 1) == "(" => "sizeof",
            "const" if self.before(at) == "new" => "",
            "inline" | "__inline__" | "__inline" | "__forceinline" | "__forceinline__" | "__noinline__"
            | "register" | "__extension__" | "_Noreturn" | "__cdecl" | "__stdcall" | "__device_builtin__"
            | "__builtin_align__" | "CUDARTAPI" | "__cudart_builtin__" => "",
            "_Static_assert" => "static_assert",
            "typeof" | "__typeof__" | "__typeof" => "decltype",
            "_Bool" => "bool",
            "__int64" | "__int32" | "__int16" | "__int8" => "int",
            "__signed__" | "__signed" => "signed",
            "unsigned" | "signed" if self.text(at + 1) == "(" && !self.type_goes_on(at) => "name_",
            "import" | "module" | "export" | "concept" | "requires" | "co_await" | "co_yield" | "co_return"
            | "__leave" | "__try" | "__local__" | "__tile__" | "__tile_global__" | "noreturn" => "name_",
            "asm" | "__asm__" | "__asm" | "volatile" => return None,
            "class" | "new" | "delete" | "this" | "template" | "namespace" | "operator" | "typename" | "using"
            | "public" | "protected" | "try" | "catch" | "throw" | "virtual" | "friend" | "and" | "or" | "not"
            | "xor" | "compl" | "bitand" | "bitor" | "and_eq" | "or_eq" | "xor_eq" | "not_eq" | "mutable"
            | "explicit" | "export_" | "constexpr" | "decltype" | "nullptr" | "static_cast" | "reinterpret_cast"
            | "const_cast" | "final" | "override" | "wchar_t" | "noexcept" | "char8_t" | "consteval" | "constinit"
            | "auto_"
                if opencl =>
            {
                "name_"
            }
            _ => return None,
        })
    }

    /// Whether `unsigned (` starts a declarator (`unsigned (*p)[4]`) and no conversion.
    fn type_goes_on(&self, at: usize) -> bool {
        matches!(self.text(at + 2), "*" | "&")
            && !matches!(self.before(at), "=" | "(" | "," | "+" | "-" | "*" | "return")
    }

    /// `new T *[n]`: the grammar knows no pointers there, and syntax has no node for `new` anyway.
    fn flatten_new(&mut self, at: usize) {
        let mut next = at + 1;
        while self.is_identifier(next) || self.text(next) == "::" {
            next += 1;
        }
        while matches!(self.text(next), "*" | "const") {
            self.set_role(next, Role::Skip);
            next += 1;
        }
    }

    /// `void CUDART_CB f(…)`: a macro of a header that is not here, between a type and a name.
    fn is_calling_convention(&self, at: usize, text: &str) -> bool {
        text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
            && text.len() > 3
            && at > self.start
            && (self.is_type_at(at - 1) || self.before(at) == "*")
            && self.is_identifier(at + 1)
            && self.text(at + 2) == "("
            && !self.is_type_at(at)
            && !self.is_value_at(at)
    }

    fn in_asm(&self) -> bool {
        self.open.contains(&Open::Asm)
    }

    /// `operator()`, `operator[]`: single words of the grammar.
    fn operator_name(&mut self, at: usize) -> usize {
        self.emit("operator", at);
        let joined = match (self.text(at + 1), self.text(at + 2)) {
            ("(", ")") => "()",
            ("[", "]") => "[]",
            ("new" | "delete", _) => return at + 1,
            (operator, _) if self.get(at + 1).is_some_and(|token| token.kind == TokenKind::Punctuator) => {
                self.emit(operator, at + 1);
                return at + 2;
            }
            _ => return at + 1,
        };
        self.emit(joined, at + 1);
        at + 3
    }

    /// An attribute at `at` is kept aside; gives the position behind it.
    fn attribute(&mut self, at: usize, text: &str) -> Option<usize> {
        match text {
            "__attribute__" | "__attribute" if self.text(at + 1) == "(" && self.text(at + 2) == "(" => {
                let outer = self.closing(at + 1)?;
                self.attribute_list(at + 3..outer - 1, at..outer + 1);
                Some(outer + 1)
            }
            "__launch_bounds__" | "__cluster_dims__" | "__maxnreg__" | "__align__" | "alignas" | "_Alignas"
            | "__block_size__" | "__declspec" | "__pragma" | "__nv_pure__" | "__builtin_align__"
                if self.text(at + 1) == "(" =>
            {
                let close = self.closing(at + 1)?;
                self.keep_attribute(text, Some(at + 2..close), at..close + 1);
                Some(close + 1)
            }
            "__attribute__" | "__attribute" => None,
            "__packed" | "__packed__" => {
                self.keep_attribute("packed", None, at..at + 1);
                Some(at + 1)
            }
            _ => None,
        }
    }

    fn keep_attribute(&mut self, name: &str, arguments: Option<Range<usize>>, tokens: Range<usize>) {
        self.attributes_from.get_or_insert(self.buffer.attributes.len());
        let name = name.trim_matches('_').to_owned();
        self.buffer.attributes.push(Attribute { before: 0, name, arguments, tokens });
    }

    /// `a, b(1, 2)` between the brackets of an attribute.
    fn attribute_list(&mut self, inside: Range<usize>, whole: Range<usize>) {
        let mut at = inside.start;
        while at < inside.end {
            if !self.is_identifier(at) {
                at += 1;
                continue;
            }
            let mut name = at;
            while self.text(name + 1) == "::" && self.is_identifier(name + 2) {
                name += 2;
            }
            let spelling = self.text(name);
            if self.text(name + 1) == "(" {
                let close = self.closing(name + 1).unwrap_or(inside.end).min(inside.end);
                self.keep_attribute(spelling, Some(name + 2..close), whole.clone());
                at = close + 1;
            } else {
                self.keep_attribute(spelling, None, whole.clone());
                at = name + 1;
            }
        }
    }

    /// The bracket that closes the one at `open`.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in open..self.end {
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
        if text == "[" && self.text(at + 1) == "[" && self.touches(at) && !self.ends_operand(at) {
            if let Some(close) = self.closing(at) {
                self.attribute_list(at + 2..close - 1, at..close + 1);
                return close + 1;
            }
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
            } else if !self.ends_operand(at) && self.before(at) != "sizeof" {
                self.look_for_cast(at);
                if self.role(at) == Role::Skip {
                    return at + 1;
                }
                self.look_for_assignments(at);
            }
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

    /// `(a = b, c)` reads as an assignment alone in the grammar; each part gets parentheses of its own.
    fn look_for_assignments(&mut self, open: usize) {
        let mut commas = Vec::new();
        let (mut depth, mut assigns) = (0_usize, false);
        for at in open..self.end.min(open + ANGLE_WINDOW) {
            match self.text(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth -= 1;
                    if depth == 0 {
                        if assigns && !commas.is_empty() {
                            commas.extend([open, at]);
                            commas.into_iter().for_each(|at| self.set_role(at, Role::Wrapped));
                        }
                        return;
                    }
                }
                "," if depth == 1 => commas.push(at),
                "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" if depth == 1 => {
                    assigns = true
                }
                ";" => return,
                _ => {}
            }
        }
    }

    /// What the `{` at `at` encloses, judged by the words before it.
    fn brace_kind(&self, at: usize) -> Open {
        let before = self.before(at);
        if matches!(before, "=" | "," | "(" | "return" | "[") || self.open.last() == Some(&Open::Values) {
            return Open::Values;
        }
        let mut declares = false;
        let mut position = at;
        let mut depth = 0_usize;
        while position > self.start && at - position < ANGLE_WINDOW {
            position -= 1;
            match self.text(position) {
                ")" | "]" => depth += 1,
                "(" | "[" if depth == 0 => break,
                "(" | "[" => depth -= 1,
                // `public:` and `case 1:` end what came before; a base clause's colon does not matter then.
                ";" | "{" | "}" if depth == 0 => break,
                "struct" | "class" | "union" | "enum" | "namespace" if depth == 0 => declares = true,
                "extern" if depth == 0 && self.get(position + 1).is_some_and(|next| next.kind == TokenKind::String) => {
                    declares = self.text(position + 2) == "{" || declares;
                }
                "template" if depth == 0 => {}
                _ => {}
            }
        }
        if declares && before != ")" { Open::Declarations } else { Open::Statements }
    }

    fn in_function(&self) -> bool {
        self.open.iter().rev().find(|open| matches!(open, Open::Declarations | Open::Statements))
            == Some(&Open::Statements)
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

    /// Decides about `( … )` at `at`, where an operand is expected.
    fn look_for_cast(&mut self, at: usize) {
        if self.text(at + 2) != ")" || !self.is_identifier(at + 1) {
            self.look_for_long_cast(at);
            return;
        }
        let (name, close, next) = (at + 1, at + 2, at + 3);
        let text = self.text(name);
        let operand = self.starts_operand(next);
        if self.is_type_at(name) {
            if operand || matches!(self.text(next), "-" | "+" | "*" | "&" | "(" | "{") {
                self.set_role(name, Role::CastType);
                self.set_role(close, Role::BeforeOperand);
            }
            return;
        }
        if matches!(text, "this" | "true" | "false" | "NULL" | "nullptr") {
            return;
        }
        let called = matches!(self.text(next), "(" | "{");
        if operand || (called && !self.is_value_at(name) && self.text(next) == "(") {
            // A type that no declaration shows: `(real)x`, `(real)(x + y)`.
            self.set_role(name, Role::CastType);
            self.set_role(close, Role::BeforeOperand);
        } else if !matches!(self.text(next), "{" | "->") || self.text(next) == "->" {
            self.set_role(at, Role::Skip);
            self.set_role(close, Role::Skip);
        }
    }

    /// `(const float *)`, `(struct S)`, `(unsigned int)`: what stands behind is an operand.
    fn look_for_long_cast(&mut self, at: usize) {
        let mut position = at + 1;
        let mut types = 0;
        while position < self.end && position - at < 24 {
            let text = self.text(position);
            match text {
                ")" => break,
                "*" | "::" | "&" => {}
                _ if self.is_type_at(position) || matches!(text, "const" | "volatile" | "struct" | "unsigned") => {
                    types += 1
                }
                _ if self.replacement(position, text) == Some("const") => types += 1,
                _ => return,
            }
            position += 1;
        }
        if types > 0 && self.text(position) == ")" {
            self.set_role(position, Role::BeforeOperand);
        }
    }

    /// Whether an operand, and nothing that could continue one, starts at `at`.
    fn starts_operand(&self, at: usize) -> bool {
        let Some(token) = self.get(at) else { return false };
        match token.kind {
            TokenKind::Identifier => !matches!(
                self.output.text(token),
                "and" | "or" | "xor" | "bitand" | "bitor" | "and_eq" | "or_eq" | "xor_eq" | "not_eq"
            ),
            TokenKind::Punctuator => matches!(self.output.text(token), "!" | "~"),
            TokenKind::Other => false,
            _ => true,
        }
    }

    /// Decides whether `name <` at `at` opens template arguments.
    fn look_for_angles(&mut self, at: usize, text: &str) {
        if self.text(at + 1) != "<" || self.language == Language::OpenCl || self.role(at + 1) != Role::Plain {
            return;
        }
        let Some(token) = self.get(at) else { return };
        let certain = matches!(text, "template" | "static_cast" | "reinterpret_cast" | "const_cast" | "dynamic_cast")
            || self.names.is_template(token.text)
            || matches!(self.before(at), "::" | "template");
        let member = matches!(self.before(at), "." | "->") && !self.names.is_template(token.text);
        if !certain && (member || self.names.is_value(token.text)) {
            return;
        }
        let Some(angles) = self.match_angles(at + 1, certain) else { return };
        for (position, role) in angles {
            self.set_role(position, role);
        }
    }

    /// The brackets of template arguments that open at `open`, nested ones included.
    fn match_angles(&self, open: usize, certain: bool) -> Option<Vec<(usize, Role)>> {
        let mut angles = Vec::new();
        let (mut depth, mut brackets) = (0_usize, 0_usize);
        for at in open..self.end.min(open + ANGLE_WINDOW) {
            let text = self.text(at);
            match text {
                "(" | "[" => brackets += 1,
                "{" if certain && brackets > 0 => brackets += 1,
                ")" | "]" | "}" => brackets = brackets.checked_sub(1)?,
                ";" | "{" => return None,
                _ if brackets > 0 => {}
                "<" if at == open || self.is_identifier(at - 1) => {
                    depth += 1;
                    angles.push((at, Role::AngleOpen));
                }
                ">" => {
                    depth -= 1;
                    angles.push((at, Role::AngleClose));
                }
                ">>" if depth >= 2 => {
                    depth -= 2;
                    angles.push((at, Role::AngleClose));
                }
                ">>" if depth == 1 && self.text(at + 1) == ">" => return None,
                "&&" | "||" | "?" | "<<" | "==" | "!=" | "<=" | ">=" if !certain => return None,
                "=" | "+=" | "-=" if !certain => return None,
                _ => {}
            }
            if depth == 0 {
                return (certain || self.may_follow_arguments(at + 1)).then_some(angles);
            }
        }
        None
    }

    fn may_follow_arguments(&self, at: usize) -> bool {
        self.is_identifier(at)
            || matches!(
                self.text(at),
                "(" | "::" | "{" | "<<" | ">" | ">>" | "," | ")" | "&" | "*" | ";" | "..." | "&&"
            )
    }

    /// `T name(…)` in a function is an object built from arguments unless it can only be parameters.
    fn look_for_constructor(&mut self, at: usize, text: &str) {
        if self.text(at + 1) != "(" || at <= self.start || !self.in_function() || is_operator_word(text) {
            return;
        }
        if !matches!(self.open.last(), Some(Open::Statements)) {
            return;
        }
        let before = self.before(at);
        let follows_type = if self.is_identifier(at - 1) {
            !is_operator_word(before)
                && !matches!(before, "asm" | "__asm__" | "__asm" | "volatile" | "__volatile__")
                && !is_storage(before)
        } else {
            before == ">" && self.role(at - 1) == Role::AngleClose
        };
        let first = at + 2;
        let params = self.text(first) == ")"
            || (self.is_type_at(first) && self.text(first + 1) != "(")
            || matches!(self.text(first), "const" | "struct" | "unsigned" | "void");
        if follows_type && !params && !matches!(text, "if" | "while" | "for" | "switch" | "asm" | "__asm__" | "sizeof")
        {
            self.set_role(at + 1, Role::Construct);
        }
    }

    /// `a * b;` at the start of a statement multiplies if `a` is a value.
    fn look_for_product(&mut self, at: usize) {
        let starts =
            matches!(self.before(at), ";" | "{" | "}" | "(" | "," | "=") || self.closed == Closed::BeforeOperand;
        if starts && self.text(at + 1) == "*" && self.is_value_at(at) && !self.is_type_at(at) {
            self.set_role(at + 1, Role::Multiply);
        }
    }
}

/// Words before a name that are no type by themselves: `extern f(`, `static x(`.
fn is_storage(text: &str) -> bool {
    matches!(text, "static" | "extern" | "const" | "inline" | "constexpr" | "else" | "do")
}
