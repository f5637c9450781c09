//! Preprocessing tokens of one text.
//!
//! Lines are spliced first (`\` at the end of a line, blanks behind it or not, as gcc and clang take it), with a map back to
//! the original offsets; comments become white space. A digraph has the spelling of what it stands for. Lexing never fails: a stray byte or an unterminated literal or comment is a token of kind
//! [`TokenKind::Other`], because text inside `#if 0` need not be C at all.

use super::interner::Interner;
use super::{Token, TokenFlags, TokenKind};
use crate::source::{FileId, Language, Span};
use crate::work::memory::look;
use std::ops::Range;

/// What a text consists of beside white space, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    /// Its comments, with what opens and closes them.
    pub comments: Vec<Range<usize>>,
    /// Its tokens.
    pub tokens: Vec<Range<usize>>,
}

/// Finds the comments and the tokens of a text. What looks like a comment within a string is none.
pub fn pieces(text: &str, language: Language) -> Pieces {
    let spliced = splice(text);
    let (source, map) = match &spliced {
        Some((joined, map)) => (joined.as_str(), map.as_slice()),
        None => (text, [].as_slice()),
    };
    let mut lexer = Lexer { comments: Some(Vec::new()), ..Lexer::of(source, language, Offsets::new(map)) };
    let mut pieces = Pieces::default();
    let mut flags = TokenFlags::LINE_START;
    loop {
        let token = lexer.next(&mut flags);
        for comment in lexer.comments.replace(Vec::new()).unwrap_or_default() {
            let start = lexer.offsets.original(comment.start);
            pieces.comments.push(start..lexer.offsets.original_end(comment.end));
        }
        let Some((_, start, _)) = token else { return pieces };
        let (start, end) = (lexer.offsets.original(start), lexer.offsets.original_end(lexer.at));
        pieces.tokens.push(start..end);
        look();
    }
}

/// Splits `text`, the text of `file`, into tokens.
pub(super) fn lex(text: &str, file: FileId, language: Language, interner: &mut Interner) -> Vec<Token> {
    let spliced = splice(text);
    let (source, map) = match &spliced {
        Some((joined, map)) => (joined.as_str(), map.as_slice()),
        None => (text, [].as_slice()),
    };
    let mut lexer = Lexer::of(source, language, Offsets::new(map));
    let mut tokens = Vec::with_capacity(source.len() / 4);
    let mut flags = TokenFlags::LINE_START;
    while let Some((kind, start, spaced)) = lexer.next(&mut flags) {
        let end = lexer.at;
        let span = Span::new(file, lexer.offsets.original(start), lexer.offsets.original_end(end));
        // A raw string means its line breaks, so its spelling is taken from the unspliced text.
        let spelling = if kind == TokenKind::RawString {
            &text[span.start as usize..span.end as usize]
        } else {
            primary(&source[start..end])
        };
        look();
        tokens.push(Token { text: interner.intern(spelling), kind, span, flags: spaced });
    }
    tokens
}

/// Whether `text` is exactly one token, and of which kind; decides what `##` may produce.
pub(super) fn single_token(text: &str, language: Language) -> Option<TokenKind> {
    let mut lexer = Lexer::of(text, language, Offsets::new(&[]));
    let mut flags = TokenFlags::default();
    let (kind, start, _) = lexer.next(&mut flags)?;
    (start == 0 && lexer.at == text.len() && kind != TokenKind::Other).then_some(kind)
}

/// What a punctuator is called, whichever way it is written.
fn primary(spelling: &str) -> &str {
    match spelling {
        "<%" => "{",
        "%>" => "}",
        "<:" => "[",
        ":>" => "]",
        "%:" => "#",
        "%:%:" => "##",
        other => other,
    }
}

/// Joins spliced lines. The map holds, for each splice, the offset in the joined text and the number of
/// bytes removed so far; `None` if there is nothing to join.
fn splice(text: &str) -> Option<(String, Vec<(usize, usize)>)> {
    text.match_indices('\\').find(|&(at, _)| spliced_bytes(&text[at..]).is_some())?;
    let mut joined = String::with_capacity(text.len());
    let mut map = Vec::new();
    let mut removed = 0;
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let Some(gap) = spliced_bytes(&rest[at..]) else {
            joined.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        joined.push_str(&rest[..at]);
        removed += gap;
        map.push((joined.len(), removed));
        rest = &rest[at + gap..];
    }
    joined.push_str(rest);
    Some((joined, map))
}

/// How many bytes the backslash that `text` starts with takes away with itself, if it ends its line.
fn spliced_bytes(text: &str) -> Option<usize> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | 0x0B | 0x0C);
    let end = 1 + text.bytes().skip(1).take_while(is_blank).count();
    (text.as_bytes().get(end) == Some(&b'\n')).then_some(end + 1)
}

/// Maps offsets of the joined text to the original; asked in ascending order, hence the moving position.
struct Offsets<'a> {
    map: &'a [(usize, usize)],
    passed: usize,
}

impl<'a> Offsets<'a> {
    fn new(map: &'a [(usize, usize)]) -> Self {
        Offsets { map, passed: 0 }
    }

    /// Where a token that starts at `offset` starts in the original.
    fn original(&mut self, offset: usize) -> usize {
        while self.passed < self.map.len() && self.map[self.passed].0 <= offset {
            self.passed += 1;
        }
        offset + self.removed()
    }

    /// Where a token that ends at `offset` ends in the original: before a splice that follows it.
    fn original_end(&mut self, offset: usize) -> usize {
        while self.passed < self.map.len() && self.map[self.passed].0 < offset {
            self.passed += 1;
        }
        offset + self.removed()
    }

    fn removed(&self) -> usize {
        self.passed.checked_sub(1).map_or(0, |last| self.map[last].1)
    }
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    language: Language,
    offsets: Offsets<'a>,
    /// The comments that were passed, if they are wanted.
    comments: Option<Vec<Range<usize>>>,
}

/// Punctuators longer than one byte, longest first.
const PUNCTUATORS: [&str; 32] = [
    "%:%:", "...", "<<=", ">>=", "->*", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=",
    "*=", "/=", "%=", "&=", "|=", "^=", "##", "::", ".*", "%:", "<%", "%>", "<:", ":>",
];

impl<'a> Lexer<'a> {
    fn of(text: &'a str, language: Language, offsets: Offsets<'a>) -> Self {
        Lexer { text, bytes: text.as_bytes(), at: 0, language, offsets, comments: None }
    }
}

impl Lexer<'_> {
    fn passed(&mut self, comment: Range<usize>) {
        if let Some(comments) = &mut self.comments {
            comments.push(comment);
        }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// The next token: kind, start and its flags; `self.at` is its end. `line` carries the line-start flag.
    fn next(&mut self, line: &mut TokenFlags) -> Option<(TokenKind, usize, TokenFlags)> {
        let mut flags = *line;
        *line = TokenFlags::default();
        loop {
            let byte = *self.bytes.get(self.at)?;
            match byte {
                b'\n' => {
                    flags |= TokenFlags::LINE_START;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0B | 0x0C | 0 => {
                    flags |= TokenFlags::SPACE;
                    self.at += 1;
                }
                b'/' if self.peek(1) == b'/' => {
                    let start = self.at;
                    self.skip_to_line_end();
                    self.passed(start..self.at);
                    flags |= TokenFlags::SPACE;
                }
                b'/' if self.peek(1) == b'*' => {
                    let (start, body) = (self.at, self.at + 2);
                    let Some(found) = self.text[body..].find("*/") else {
                        // All that follows is swallowed. The token makes that a syntax error at its place.
                        self.bytes = &self.bytes[..body];
                        self.text = &self.text[..body];
                        self.at = body;
                        return Some((TokenKind::Other, start, flags));
                    };
                    self.at = body + found + 2;
                    self.passed(start..self.at);
                    flags |= TokenFlags::SPACE;
                }
                _ => break,
            }
        }
        let start = self.at;
        // A byte order mark is white space.
        if self.text[start..].starts_with('\u{feff}') {
            self.at += 3;
            *line = flags | TokenFlags::SPACE;
            return self.next(line);
        }
        let kind = self.token();
        Some((kind, start, flags))
    }

    fn skip_to_line_end(&mut self) {
        self.at = self.text[self.at..].find('\n').map_or(self.bytes.len(), |found| self.at + found);
    }

    fn token(&mut self) -> TokenKind {
        match self.bytes[self.at] {
            b'0'..=b'9' => self.number(),
            b'.' if self.peek(1).is_ascii_digit() => self.number(),
            b'"' => self.literal(b'"', TokenKind::String),
            b'\'' => self.literal(b'\'', TokenKind::Char),
            byte if is_identifier_byte(byte) => self.identifier(),
            _ => self.punctuator(),
        }
    }

    fn number(&mut self) -> TokenKind {
        loop {
            self.at += 1;
            match self.peek(0) {
                b'+' | b'-' if matches!(self.bytes[self.at - 1], b'e' | b'E' | b'p' | b'P') && !self.is_hex_digit() => {
                }
                b'\'' if self.language == Language::Cuda && self.peek(1).is_ascii_alphanumeric() => {}
                b'.' => {}
                byte if is_identifier_byte(byte) => {}
                _ => return TokenKind::Number,
            }
        }
    }

    /// Whether the `e` before the current byte is a digit of a hexadecimal number: `0xe+1` is a sum in every
    /// compiler's semantics except the preprocessor's own, where it is one malformed number; kernels mean the sum.
    fn is_hex_digit(&self) -> bool {
        if !matches!(self.bytes[self.at - 1], b'e' | b'E') {
            return false;
        }
        let mut start = self.at - 1;
        while start > 0 && (self.bytes[start - 1].is_ascii_hexdigit() || matches!(self.bytes[start - 1], b'x' | b'X')) {
            start -= 1;
        }
        self.text.get(start..).is_some_and(|text| text.starts_with("0x") || text.starts_with("0X"))
    }

    fn literal(&mut self, quote: u8, kind: TokenKind) -> TokenKind {
        self.at += 1;
        loop {
            match self.bytes.get(self.at) {
                None | Some(b'\n') => return TokenKind::Other,
                Some(b'\\') if self.at + 1 < self.bytes.len() => self.at = self.after_character(self.at + 1),
                Some(&byte) if byte == quote => {
                    self.at += 1;
                    return kind;
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn after_character(&self, at: usize) -> usize {
        self.text[at..].chars().next().map_or(self.bytes.len(), |character| at + character.len_utf8())
    }

    fn identifier(&mut self) -> TokenKind {
        let start = self.at;
        while is_identifier_byte(self.peek(0)) {
            self.at += 1;
        }
        let quote = self.peek(0);
        if quote != b'"' && quote != b'\'' {
            return TokenKind::Identifier;
        }
        match &self.text[start..self.at] {
            "L" | "u" | "U" | "u8" if quote == b'"' => self.literal(b'"', TokenKind::String),
            "L" | "u" | "U" | "u8" => self.literal(b'\'', TokenKind::Char),
            "R" | "LR" | "uR" | "UR" | "u8R" if quote == b'"' && self.language == Language::Cuda => self.raw_string(),
            _ => TokenKind::Identifier,
        }
    }

    fn raw_string(&mut self) -> TokenKind {
        let body = self.at + 1;
        let Some(open) = self.text[body..].find('(').filter(|&length| length <= 16) else {
            return self.literal(b'"', TokenKind::String);
        };
        let close = format!("){}\"", &self.text[body..body + open]);
        let Some(found) = self.text[body + open..].find(&close) else {
            self.at = self.bytes.len();
            return TokenKind::Other;
        };
        self.at = body + open + found + close.len();
        TokenKind::RawString
    }

    fn punctuator(&mut self) -> TokenKind {
        let rest = &self.bytes[self.at..];
        // `<::` begins with a digraph only where `:` or `>` follows: `vector<::ns::T>` has an angle bracket.
        if self.language == Language::Cuda && rest.starts_with(b"<::") && !matches!(rest.get(3), Some(b':' | b'>')) {
            self.at += 1;
            return TokenKind::Punctuator;
        }
        if let Some(found) = PUNCTUATORS.iter().find(|known| rest.starts_with(known.as_bytes())) {
            self.at += found.len();
            return TokenKind::Punctuator;
        }
        if rest[0].is_ascii_punctuation() && !matches!(rest[0], b'`' | b'@' | b'\\') {
            self.at += 1;
            return TokenKind::Punctuator;
        }
        self.at = self.after_character(self.at);
        TokenKind::Other
    }
}

fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}
