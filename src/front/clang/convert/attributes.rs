//! Attributes, and the constant expressions in them, for which libclang has no cursors.

use super::{Reader, Reading};
use crate::preprocess::TokenKind;
use crate::syntax::{Expr, ExprKind, Path, PathSegment, Qualifier, UnaryOp, literals, words};
use std::ops::Range;

impl Reader<'_> {
    /// The attributes that start at the next token; none if there are none.
    pub(super) fn attributes(&mut self) -> Vec<Qualifier> {
        let mut found = Vec::new();
        while self.attribute(&mut found) {}
        found
    }

    /// One attribute specifier; whether there was one.
    fn attribute(&mut self, found: &mut Vec<Qualifier>) -> bool {
        let start = self.at;
        let opens = |at: usize| self.text(at) == "(";
        match self.next() {
            "__attribute__" | "__attribute" if opens(start + 1) && opens(start + 2) => {
                let close = self.close(start + 1);
                self.attribute_list(start + 3..self.close(start + 2), found);
                self.at = close + 1;
            }
            "[" if self.text(start + 1) == "[" && self.close(start + 1) + 1 == self.close(start) => {
                self.attribute_list(start + 2..self.close(start + 1), found);
                self.at = self.close(start) + 1;
            }
            word @ ("__launch_bounds__" | "__cluster_dims__" | "__maxnreg__" | "__align__" | "alignas" | "_Alignas"
            | "__block_size__" | "__declspec" | "__pragma" | "__nv_pure__" | "__builtin_align__")
                if opens(start + 1) =>
            {
                let close = self.close(start + 1);
                let arguments = self.constants(start + 2..close);
                found.push(Qualifier::Attribute(word.trim_matches('_').to_owned(), arguments));
                self.at = close + 1;
            }
            "__packed" | "__packed__" => {
                found.push(Qualifier::Attribute("packed".to_owned(), Vec::new()));
                self.at += 1;
            }
            _ => return false,
        }
        true
    }

    /// `a, b(1, 2)` between the brackets of an attribute.
    fn attribute_list(&mut self, inside: Range<usize>, found: &mut Vec<Qualifier>) {
        let mut at = inside.start;
        while at < inside.end {
            if !self.is_identifier(at) {
                at += 1;
                continue;
            }
            while self.text(at + 1) == "::" && self.is_identifier(at + 2) {
                at += 2;
            }
            let name = self.text(at);
            let arguments = if self.text(at + 1) == "(" {
                let close = self.close(at + 1).min(inside.end);
                let arguments = self.constants(at + 2..close);
                at = close;
                arguments
            } else {
                Vec::new()
            };
            at += 1;
            found.push(words::attribute(name, arguments, self.language));
        }
    }

    /// Constants with commas between them.
    fn constants(&mut self, tokens: Range<usize>) -> Vec<Expr> {
        let mut found = Vec::new();
        let mut from = tokens.start;
        while from < tokens.end {
            let comma = self.find(from, tokens.end, &[","]);
            found.push(self.constant(from..comma));
            from = comma + 1;
        }
        found
    }

    /// A constant expression without cursors: names, literals, operators and parentheses; anything else is
    /// `Unsupported`.
    pub(super) fn constant(&mut self, tokens: Range<usize>) -> Expr {
        let at = self.at;
        self.at = tokens.start;
        let read = self.deeper(|this| this.constant_operation(tokens.end, 0));
        let whole = self.at == tokens.end;
        self.at = at;
        match read {
            Ok(expr) if whole => expr,
            _ => self.unsupported(tokens, "attribute argument"),
        }
    }

    /// Operators that bind at least as tightly as `least`.
    fn constant_operation(&mut self, end: usize, least: u8) -> Reading<Expr> {
        let start = self.at;
        let mut left = self.constant_operand(end)?;
        while self.at < end {
            let Some(op) = words::binary_op(self.next()) else { break };
            let power = precedence(self.next());
            if power < least {
                break;
            }
            self.at += 1;
            let right = self.deeper(|this| this.constant_operation(end, power + 1))?;
            let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
            left = Expr { kind, span: self.span(start..self.at) };
        }
        Ok(left)
    }

    fn constant_operand(&mut self, end: usize) -> Reading<Expr> {
        let start = self.at;
        if start >= end {
            return Err(super::MISFIT);
        }
        let text = self.next();
        let prefix = match text {
            "-" => Some(UnaryOp::Minus),
            "+" => Some(UnaryOp::Plus),
            "~" => Some(UnaryOp::BitNot),
            "!" => Some(UnaryOp::Not),
            _ => None,
        };
        self.at += 1;
        if let Some(op) = prefix {
            let operand = self.deeper(|this| this.constant_operand(end))?;
            let kind = ExprKind::Unary(op, Box::new(operand));
            return Ok(Expr { kind, span: self.span(start..self.at) });
        }
        let kind = match self.kind(start) {
            Some(TokenKind::Number) => literals::number(text),
            Some(TokenKind::String) => ExprKind::String(text.to_owned()),
            _ if text == "true" || text == "false" => ExprKind::Bool(text == "true"),
            Some(TokenKind::Identifier) => {
                let mut segments = vec![PathSegment { name: self.name(start), args: None }];
                while self.at + 1 < end && self.next() == "::" && self.is_identifier(self.at + 1) {
                    segments.push(PathSegment { name: self.name(self.at + 1), args: None });
                    self.at += 2;
                }
                ExprKind::Path(Path { global: false, segments })
            }
            _ if text == "(" => {
                let close = self.close(start);
                let inner = self.deeper(|this| this.constant_operation(close.min(end), 0))?;
                if self.at != close {
                    return Err(super::MISFIT);
                }
                self.at += 1;
                inner.kind
            }
            _ => return Err(super::MISFIT),
        };
        Ok(Expr { kind, span: self.span(start..self.at) })
    }
}

/// How tightly an operator binds.
fn precedence(text: &str) -> u8 {
    match text {
        "*" | "/" | "%" => 10,
        "+" | "-" => 9,
        "<<" | ">>" => 8,
        "<" | ">" | "<=" | ">=" => 7,
        "==" | "!=" => 6,
        "&" => 5,
        "^" => 4,
        "|" => 3,
        "&&" => 2,
        _ => 1,
    }
}
