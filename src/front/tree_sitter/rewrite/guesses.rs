//! Decisions that need to know what a name is, taken before the grammar could guess.

use super::{ANGLE_WINDOW, Closed, Open, Rewriter, Role};
use crate::front::tree_sitter::names::is_operator_word;
use crate::preprocess::TokenKind;
use crate::source::Language;

impl Rewriter<'_> {
    /// Decides about `( … )` at `at`, where an operand is expected.
    pub(super) fn look_for_cast(&mut self, at: usize) {
        if self.text(at + 2) != ")" || !self.is_identifier(at + 1) {
            if !self.look_for_element(at) {
                self.look_for_long_cast(at);
            }
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

    /// `(a[i][j])`, which the grammar takes for an array type where `-`, `*` or `(` follows, though nothing can be cast
    /// to one. In parentheses of its own it is a value.
    fn look_for_element(&mut self, at: usize) -> bool {
        let is_element = self.is_identifier(at + 1) && self.text(at + 2) == "[" && !self.is_type_at(at + 1);
        if !is_element || self.before(at) == "new" {
            return false;
        }
        let mut depth = 0_usize;
        for position in at + 2..self.end {
            match self.text(position) {
                "[" | "(" => depth += 1,
                "]" => depth = depth.saturating_sub(1),
                ")" if depth > 0 => depth -= 1,
                ")" => {
                    self.set_role(at, Role::Wrapped);
                    self.set_role(position, Role::Wrapped);
                    return true;
                }
                ";" | "{" | "}" => return false,
                _ if depth == 0 => return false,
                _ => {}
            }
        }
        false
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
                    types += 1;
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
    pub(super) fn look_for_angles(&mut self, at: usize, text: &str) {
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
                _ if self.is_number_argument(at) => angles.push((at, Role::NumberArgument)),
                _ => {}
            }
            if depth == 0 {
                return (certain || self.may_follow_arguments(at + 1)).then_some(angles);
            }
        }
        None
    }

    /// Whether a number stands alone between `<`, commas and `>`.
    fn is_number_argument(&self, at: usize) -> bool {
        self.get(at).is_some_and(|token| token.kind == TokenKind::Number)
            && matches!(self.before(at), "<" | ",")
            && matches!(self.text(at + 1), "," | ">" | ">>")
    }

    fn may_follow_arguments(&self, at: usize) -> bool {
        self.is_identifier(at)
            || matches!(
                self.text(at),
                "(" | "::" | "{" | "<<" | ">" | ">>" | "," | ")" | "&" | "*" | ";" | "..." | "&&"
            )
    }

    /// `T name(…)` in a function is an object built from arguments unless it can only be parameters.
    pub(super) fn look_for_constructor(&mut self, at: usize, text: &str) {
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
            before == ">" && self.role(at - 1) == Role::AngleClose || before == "," && self.follows_constructor(at - 1)
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

    /// Whether the comma at `comma` stands behind a declarator that is built from arguments: `float a(x), b(y);`.
    fn follows_constructor(&self, comma: usize) -> bool {
        let mut depth = 0_usize;
        for position in (self.start..comma).rev() {
            match self.text(position) {
                ")" => depth += 1,
                "(" if depth == 1 => return self.role(position) == Role::Construct,
                "(" if depth > 1 => depth -= 1,
                _ if depth > 0 => {}
                _ => return false,
            }
        }
        false
    }

    /// `a * b;` at the start of a statement multiplies if `a` is a value.
    pub(super) fn look_for_product(&mut self, at: usize) {
        let starts =
            matches!(self.before(at), ";" | "{" | "}" | "(" | "," | "=") || self.closed == Closed::BeforeOperand;
        if starts && self.text(at + 1) == "*" && self.is_value_at(at) && !self.is_type_at(at) {
            self.set_role(at + 1, Role::Multiply);
        }
    }

    /// `(a = b, c)` reads as an assignment alone in the grammar; each part gets parentheses of its own.
    pub(super) fn look_for_assignments(&mut self, open: usize) {
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
                            for wrapped in commas {
                                self.set_role(wrapped, Role::Wrapped);
                            }
                        }
                        return;
                    }
                }
                "," if depth == 1 => commas.push(at),
                "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" if depth == 1 => {
                    assigns = true;
                }
                ";" => return,
                _ => {}
            }
        }
    }

    /// What the `{` at `at` encloses, judged by the words before it.
    pub(super) fn brace_kind(&self, at: usize) -> Open {
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
                ">" | ">>" if self.role(position) == Role::AngleClose => depth += self.text(position).len(),
                "<" if self.role(position) == Role::AngleOpen => depth = depth.saturating_sub(1),
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
}

/// Words before a name that are no type by themselves: `extern f(`, `static x(`.
fn is_storage(text: &str) -> bool {
    matches!(text, "static" | "extern" | "const" | "inline" | "constexpr" | "else" | "do")
}
