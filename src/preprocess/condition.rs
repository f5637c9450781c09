//! The expressions of `#if`, in 64-bit arithmetic.
//!
//! What cannot be decided is [`Truth::Unknown`]; `0 && unknown` and `1 || unknown` are decided all the same.

use super::interner::Interner;
use super::{Token, TokenKind};
use crate::source::character;

/// What a condition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Yes,
    No,
    Unknown,
}

impl Truth {
    pub(super) fn of(holds: bool) -> Truth {
        if holds { Truth::Yes } else { Truth::No }
    }

    pub(super) fn negated(self) -> Truth {
        match self {
            Truth::Yes => Truth::No,
            Truth::No => Truth::Yes,
            Truth::Unknown => Truth::Unknown,
        }
    }

    /// How the result of `defined X` stands in the expression.
    pub(super) fn spelling(self) -> &'static str {
        match self {
            Truth::Yes => "1",
            Truth::No => "0",
            Truth::Unknown => "?unknown?",
        }
    }
}

/// Whether `name` is one of the compiler's questions that look like a macro.
pub(super) fn is_query(name: &str) -> bool {
    matches!(
        name,
        "__has_include"
            | "__has_include_next"
            | "__has_attribute"
            | "__has_cpp_attribute"
            | "__has_builtin"
            | "__has_feature"
            | "__has_extension"
            | "__has_c_attribute"
            | "__has_declspec_attribute"
    )
}

/// Whether gcc, too, knows a query of C++; the others are clang's.
pub(super) fn is_query_of_gcc(name: &str) -> bool {
    !matches!(name, "__has_feature" | "__has_extension" | "__has_c_attribute" | "__has_declspec_attribute")
}

/// Whether a name is a macro whose text says when and how the file is compiled.
pub(super) fn is_of_the_build(name: &str) -> bool {
    matches!(name, "__DATE__" | "__TIME__" | "__TIMESTAMP__" | "__BASE_FILE__")
}

/// Whether an identifier is an operator or a value in conditions of C++.
pub(super) fn is_operator(name: &str) -> bool {
    matches!(
        name,
        "defined" | "true" | "false" | "and" | "or" | "not" | "not_eq" | "bitand" | "bitor" | "xor" | "compl"
    )
}

/// What gcc answers to a query, for C++17.
pub(super) fn answer(query: &str, asked: &str) -> Option<&'static str> {
    let plain = asked.trim_start_matches("gnu::").trim_matches('_');
    match (query, plain) {
        ("__has_cpp_attribute" | "__has_attribute", "nodiscard") => Some("201907"),
        ("__has_cpp_attribute" | "__has_attribute", "noreturn") => Some("200809"),
        ("__has_cpp_attribute" | "__has_attribute", "deprecated") => Some("201309"),
        ("__has_cpp_attribute" | "__has_attribute", "fallthrough" | "maybe_unused") => Some("201603"),
        ("__has_cpp_attribute" | "__has_attribute", "likely" | "unlikely" | "no_unique_address") => Some("201803"),
        (
            "__has_attribute",
            "aligned" | "always_inline" | "noinline" | "unused" | "used" | "packed" | "const" | "pure" | "visibility"
            | "weak" | "alias" | "constructor" | "destructor" | "format" | "cold" | "hot" | "malloc" | "nonnull"
            | "flatten" | "may_alias" | "vector_size" | "warn_unused_result" | "section" | "mode",
        ) => Some("1"),
        ("__has_builtin", _) => is_builtin_of_gcc(plain.trim_start_matches("builtin_")).then_some("1"),
        _ => None,
    }
}

/// Whether gcc has `__builtin_` with that name behind it.
fn is_builtin_of_gcc(name: &str) -> bool {
    let known = [
        "popcount",
        "popcountl",
        "popcountll",
        "clz",
        "clzl",
        "clzll",
        "ctz",
        "ctzl",
        "ctzll",
        "ffs",
        "ffsl",
        "ffsll",
        "parity",
        "expect",
        "unreachable",
        "trap",
        "prefetch",
        "assume_aligned",
        "constant_p",
        "memcpy",
        "memset",
        "bswap16",
        "bswap32",
        "bswap64",
        "add_overflow",
        "sub_overflow",
        "mul_overflow",
        "launder",
        "is_constant_evaluated",
        "addressof",
        "offsetof",
        "types_compatible_p",
        "bit_cast",
        "FILE",
        "LINE",
        "FUNCTION",
    ];
    known.contains(&name)
}

/// Evaluates an expanded condition.
pub(super) fn evaluate(tokens: &[Token], spellings: &Interner) -> Truth {
    value_of(tokens, spellings).map_or(Truth::Unknown, |value| Truth::of(value != 0))
}

/// The number that expanded tokens are.
pub(super) fn value_of(tokens: &[Token], spellings: &Interner) -> Option<i64> {
    let mut parser = Parser { tokens, spellings, at: 0, depth: 0 };
    let value = parser.conditional().ok()??;
    (parser.at == tokens.len()).then_some(value.bits)
}

/// A number; conditions compute in `intmax_t` and `uintmax_t`.
#[derive(Clone, Copy)]
struct Value {
    bits: i64,
    unsigned: bool,
}

fn signed(bits: i64) -> Value {
    Value { bits, unsigned: false }
}

fn truth(holds: bool) -> Value {
    signed(i64::from(holds))
}

/// The text is no expression.
struct Malformed;

type Result<T> = std::result::Result<T, Malformed>;

/// Deepest nesting of a condition.
const DEPTH: usize = 200;

struct Parser<'a> {
    tokens: &'a [Token],
    spellings: &'a Interner,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a str {
        self.tokens.get(self.at).map_or("", |token| self.spellings.text(token.text))
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.peek() == text;
        self.at += usize::from(found);
        found
    }

    fn conditional(&mut self) -> Result<Option<Value>> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Malformed);
        }
        let condition = self.binary(1)?;
        let result = if self.take("?") {
            let yes = self.conditional()?;
            if !self.take(":") {
                return Err(Malformed);
            }
            let no = self.conditional()?;
            // Both have one type: that of an unsigned number, if one of them is.
            let unsigned = [yes, no].into_iter().flatten().any(|value| value.unsigned);
            let chosen = condition.and_then(|value| if value.bits == 0 { no } else { yes });
            chosen.map(|value| Value { unsigned, ..value })
        } else {
            condition
        };
        self.depth -= 1;
        Ok(result)
    }

    fn binary(&mut self, least: u8) -> Result<Option<Value>> {
        let mut left = self.unary()?;
        loop {
            let operator = self.peek();
            let Some(precedence) = precedence(operator).filter(|&precedence| precedence >= least) else {
                return Ok(left);
            };
            self.at += 1;
            let right = self.binary(precedence + 1)?;
            left = combine(operator, left, right);
        }
    }

    fn unary(&mut self) -> Result<Option<Value>> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Malformed);
        }
        let operator = self.peek();
        let result = match operator {
            "+" | "-" | "!" | "~" | "not" | "compl" => {
                self.at += 1;
                self.unary()?.map(|value| apply(operator, value))
            }
            "(" => {
                self.at += 1;
                let value = self.conditional()?;
                if !self.take(")") {
                    return Err(Malformed);
                }
                value
            }
            _ => self.primary()?,
        };
        self.depth -= 1;
        Ok(result)
    }

    fn primary(&mut self) -> Result<Option<Value>> {
        let token = self.tokens.get(self.at).ok_or(Malformed)?;
        let text = self.spellings.text(token.text);
        self.at += 1;
        match token.kind {
            TokenKind::Number => integer(text).map(Some).ok_or(Malformed),
            TokenKind::Char => Ok(character(text).map(|(value, _)| signed(value))),
            TokenKind::Identifier if self.peek() == "(" => {
                self.skip_call();
                Ok(None)
            }
            TokenKind::Identifier => Ok(Some(signed(i64::from(text == "true")))),
            TokenKind::Other if text == Truth::Unknown.spelling() => Ok(None),
            _ => Err(Malformed),
        }
    }

    /// A call of a macro that nobody defined: its value is not known.
    fn skip_call(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.tokens.len() {
            match self.peek() {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }
}

fn precedence(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" | "or" => 1,
        "&&" | "and" => 2,
        "|" | "bitor" => 3,
        "^" | "xor" => 4,
        "&" | "bitand" => 5,
        "==" | "!=" | "not_eq" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

fn apply(operator: &str, value: Value) -> Value {
    match operator {
        "-" => Value { bits: value.bits.wrapping_neg(), ..value },
        "~" | "compl" => Value { bits: !value.bits, ..value },
        "!" | "not" => signed(i64::from(value.bits == 0)),
        _ => value,
    }
}

fn combine(operator: &str, left: Option<Value>, right: Option<Value>) -> Option<Value> {
    let known = |side: Option<Value>, holds: bool| side.is_some_and(|value| (value.bits != 0) == holds);
    match operator {
        "&&" | "and" if known(left, false) || known(right, false) => return Some(truth(false)),
        "||" | "or" if known(left, true) || known(right, true) => return Some(truth(true)),
        _ => {}
    }
    let (left, right) = (left?, right?);
    let unsigned = left.unsigned || right.unsigned;
    let (a, b) = (left.bits, right.bits);
    let compare = if unsigned { (a as u64).cmp(&(b as u64)) } else { a.cmp(&b) };
    let bits = match operator {
        "&&" | "and" => return Some(truth(a != 0 && b != 0)),
        "||" | "or" => return Some(truth(a != 0 || b != 0)),
        "==" => return Some(truth(a == b)),
        "!=" | "not_eq" => return Some(truth(a != b)),
        "<" => return Some(truth(compare.is_lt())),
        ">" => return Some(truth(compare.is_gt())),
        "<=" => return Some(truth(compare.is_le())),
        ">=" => return Some(truth(compare.is_ge())),
        "|" | "bitor" => a | b,
        "^" | "xor" => a ^ b,
        "&" | "bitand" => a & b,
        "<<" => return Some(Value { bits: shifted(left, right, Shift::Left), ..left }),
        ">>" => return Some(Value { bits: shifted(left, right, Shift::Right), ..left }),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        // A division by zero is an error in C; here the condition is undecided.
        "/" | "%" if b == 0 => return None,
        "/" if unsigned => (a as u64 / b as u64) as i64,
        "%" if unsigned => (a as u64 % b as u64) as i64,
        "/" => a.wrapping_div(b),
        "%" => a.wrapping_rem(b),
        _ => return None,
    };
    Some(Value { bits, unsigned })
}

/// Where `<<` and `>>` move bits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shift {
    Left,
    Right,
}

/// A number moved by bits; by a negative number of them it moves the other way, and beyond its width nothing is left.
fn shifted(value: Value, by: Value, direction: Shift) -> i64 {
    let is_negative = !by.unsigned && by.bits < 0;
    let distance = u32::try_from(if is_negative { by.bits.unsigned_abs() } else { by.bits as u64 }).unwrap_or(u32::MAX);
    match (direction == Shift::Right) != is_negative {
        false => value.bits.checked_shl(distance).unwrap_or(0),
        true if value.unsigned => (value.bits as u64).checked_shr(distance).unwrap_or(0) as i64,
        true => value.bits.checked_shr(distance).unwrap_or(value.bits >> 63),
    }
}

fn integer(text: &str) -> Option<Value> {
    let lower = text.to_ascii_lowercase().replace('\'', "");
    let digits = lower.trim_end_matches(['u', 'l', 'z']);
    let unsigned = lower[digits.len()..].contains('u');
    let bits = if let Some(hex) = digits.strip_prefix("0x") {
        u64::from_str_radix(hex, 16).ok()?
    } else if let Some(binary) = digits.strip_prefix("0b") {
        u64::from_str_radix(binary, 2).ok()?
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(&digits[1..], 8).ok()?
    } else {
        digits.parse().ok()?
    };
    Some(Value { bits: bits as i64, unsigned: unsigned || i64::try_from(bits).is_err() })
}
