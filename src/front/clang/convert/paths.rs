//! Names with their template arguments.

use super::{MISFIT, Reader, Reading};
use crate::preprocess::TokenKind;
use crate::syntax::{Expr, ExprKind, Name, Path, PathSegment, TemplateArg};

impl Reader<'_> {
    /// The path that starts at the next token, up to `limit` at most. A `<` behind a name opens arguments: where it
    /// could compare, `limit` stands before it.
    pub(super) fn path(&mut self, limit: usize) -> Reading<Path> {
        let global = self.eat("::");
        let mut segments = Vec::new();
        loop {
            self.eat("template");
            segments.push(self.segment(limit)?);
            if self.at >= limit || self.next() != "::" || self.text(self.at + 1) == "*" {
                return Ok(Path { global, segments });
            }
            self.at += 1;
        }
    }

    fn segment(&mut self, limit: usize) -> Reading<PathSegment> {
        let start = self.at;
        let name = match self.next() {
            "operator" => self.operator_name()?,
            "~" => {
                self.at += 2;
                Name { text: format!("~{}", self.text(start + 1)), span: self.span(start..start + 2) }
            }
            _ if self.is_identifier(start) => {
                self.at += 1;
                self.name(start)
            }
            _ => return Err(MISFIT),
        };
        let args = if self.at < limit && self.next() == "<" { Some(self.template_args()?) } else { None };
        Ok(PathSegment { name, args })
    }

    /// `operator+`, `operator()`, `operator[]`.
    fn operator_name(&mut self) -> Reading<Name> {
        let start = self.at;
        let length = match (self.text(start + 1), self.text(start + 2)) {
            ("(", ")") | ("[", "]") => 2,
            _ if self.kind(start + 1) == Some(TokenKind::Punctuator) => 1,
            _ => return Err(MISFIT),
        };
        self.at = start + 1 + length;
        let text = (start..self.at).map(|at| self.text(at)).collect();
        Ok(Name { text, span: self.span(start..self.at) })
    }

    /// `<a, b>`
    pub(super) fn template_args(&mut self) -> Reading<Vec<TemplateArg>> {
        self.deeper(|this| {
            this.expect("<")?;
            let mut args = Vec::new();
            while !this.at_angle() {
                args.push(match this.template_arg()? {
                    TemplateArg::Value(Expr { kind: ExprKind::Expansion(pattern), .. }) => {
                        TemplateArg::Expansion(Box::new(TemplateArg::Value(*pattern)))
                    }
                    pattern if this.eat("...") => TemplateArg::Expansion(Box::new(pattern)),
                    argument => argument,
                });
                if !this.at_angle() {
                    this.expect(",")?;
                }
            }
            this.close_angle()?;
            Ok(args)
        })
    }

    fn template_arg(&mut self) -> Reading<TemplateArg> {
        let end = self.map.expression(self.at, self.output.tokens.len());
        if let Some(end) = end.filter(|&end| matches!(self.text(end), "," | ">" | ">>")) {
            let value = self.expression(self.at..end);
            self.at = end;
            return Ok(TemplateArg::Value(value));
        }
        if self.is_constant_start() {
            let end = self.find(self.at, self.output.tokens.len(), &[",", ">", ">>", ";"]);
            let value = self.constant(self.at..end);
            self.at = end;
            return Ok(TemplateArg::Value(value));
        }
        Ok(TemplateArg::Type(self.type_id()?))
    }

    /// Whether the next token starts a value without a cursor.
    fn is_constant_start(&self) -> bool {
        matches!(self.kind(self.at), Some(TokenKind::Number | TokenKind::Char))
            || matches!(self.next(), "true" | "false" | "-" | "(" | "!" | "~" | "sizeof")
    }

    pub(super) fn at_angle(&self) -> bool {
        matches!(self.next(), ">" | ">>")
    }

    /// Reads a `>`, or half of a `>>`.
    pub(super) fn close_angle(&mut self) -> Reading<()> {
        match (self.next(), self.half) {
            (">", false) | (">>", true) => {
                self.half = false;
                self.at += 1;
                Ok(())
            }
            (">>", false) => {
                self.half = true;
                Ok(())
            }
            _ => Err(MISFIT),
        }
    }
}
