//! From characters to tokens with positions.

use super::parse::ParseError;
use crate::source::LineIndex;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// An identifier or reserved word; dots inside are part of it.
    Word(String),
    /// An identifier in backquotes, never a reserved word.
    Name(String),
    /// `"…"`
    Text(String),
    /// Digits and the letters that follow them at once.
    Number {
        value: i128,
        suffix: String,
    },
    /// `%7`
    Definition(u32),
    /// Anything else.
    Sign(&'static str),
    End,
}

const SIGNS: &[&str] = &[
    ":=", "||", "&&", "==", "!=", "<<", ">>", "<=", ">=", "<", ">", "|", "^", "&", "+", "-", "*", "/", "%", "!", "~",
    "?", ":", ";", ",", "(", ")", "[", "]", "{", "}", "=", "@", "#",
];

/// What cannot begin or end a token.
#[derive(Debug, thiserror::Error)]
enum LexError {
    #[error("unexpected character {0:?}")]
    Unexpected(char),
    #[error("{0} is too large a number")]
    TooLarge(String),
    #[error("{0} is never closed")]
    Unclosed(char),
}

pub(super) struct Tokens {
    pub(super) tokens: Vec<(Token, usize)>,
}

pub(super) fn error_at(text: &str, offset: usize, message: impl Into<String>) -> ParseError {
    let position = LineIndex::new(text).position(text, offset);
    ParseError { line: position.line, column: position.column, message: message.into() }
}

pub(super) fn tokens(text: &str) -> Result<Tokens, ParseError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let start = lexer.at;
        let token = lexer.token().map_err(|error| error_at(text, start, error.to_string()))?;
        let done = token == Token::End;
        tokens.push((token, start));
        if done {
            return Ok(Tokens { tokens });
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

fn is_word_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '$'
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            if !self.rest().starts_with("//") {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> String {
        let rest = self.rest();
        let length = rest.find(|letter| !accept(letter)).unwrap_or(rest.len());
        let taken = rest[..length].to_owned();
        self.at += length;
        taken
    }

    fn token(&mut self) -> Result<Token, LexError> {
        let Some(first) = self.rest().chars().next() else { return Ok(Token::End) };
        match first {
            '"' => self.quoted('"').map(Token::Text),
            '`' => self.quoted('`').map(Token::Name),
            '0'..='9' => self.number(),
            '%' if self.rest()[1..].starts_with(|next: char| next.is_ascii_digit()) => {
                self.at += 1;
                let digits = self.take_while(|letter| letter.is_ascii_digit());
                digits.parse().map(Token::Definition).map_err(|_| LexError::TooLarge(format!("%{digits}")))
            }
            _ if is_word_letter(first) => Ok(Token::Word(self.word())),
            _ => {
                let sign = SIGNS.iter().find(|sign| self.rest().starts_with(**sign));
                let sign = sign.ok_or(LexError::Unexpected(first))?;
                self.at += sign.len();
                Ok(Token::Sign(sign))
            }
        }
    }

    /// An identifier; a dot belongs to it if a letter or digit follows.
    fn word(&mut self) -> String {
        let mut word = self.take_while(is_word_letter);
        while self.rest().starts_with('.') && self.rest()[1..].starts_with(is_word_letter) {
            self.at += 1;
            word.push('.');
            word.push_str(&self.take_while(is_word_letter));
        }
        word
    }

    fn number(&mut self) -> Result<Token, LexError> {
        let digits = self.take_while(|letter| letter.is_ascii_digit());
        let Ok(value) = digits.parse() else { return Err(LexError::TooLarge(digits)) };
        Ok(Token::Number { value, suffix: self.take_while(is_word_letter) })
    }

    fn quoted(&mut self, quote: char) -> Result<String, LexError> {
        let mut result = String::new();
        let mut letters = self.rest().char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => match letters.next() {
                    Some((_, 'n')) => result.push('\n'),
                    Some((_, escaped)) => result.push(escaped),
                    None => break,
                },
                _ if letter == quote => {
                    self.at += at + letter.len_utf8();
                    return Ok(result);
                }
                _ => result.push(letter),
            }
        }
        Err(LexError::Unclosed(quote))
    }
}
