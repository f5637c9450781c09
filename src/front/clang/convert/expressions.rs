//! Expressions.
//!
//! An expression is a range of tokens for which there is a cursor. Its longest proper part that starts at the
//! same token is its left operand; the token behind that says what it is. Without such a part it is a prefix
//! form, a name, or a literal.

use super::{Confusion, MISFIT, Reader, Reading};
use crate::front::clang::wire::Kind;
use crate::preprocess::TokenKind;
use crate::source::Language;
use crate::syntax::{
    BinaryOp, CastKind, Designator, Expr, ExprKind, Fold, FoldOp, Name, PathSegment, PostfixOp, Type, TypeKind,
    UnaryOp, literals, words,
};
use std::ops::Range;

impl Reader<'_> {
    /// The expression of exactly these tokens.
    pub(super) fn expression(&mut self, tokens: Range<usize>) -> Expr {
        let (at, half) = (self.at, self.half);
        let read = self.deeper(|this| this.expression_kind(tokens.clone()));
        // An operand may be read out of turn.
        (self.at, self.half) = (at, half);
        let kind = read.unwrap_or_else(|why| ExprKind::Unsupported(self.confused(&why)));
        // Parentheses belong to the range of what is in them.
        Expr { kind, span: self.span(tokens) }
    }

    #[expect(clippy::unnecessary_box_returns, reason = "syntax wants every operand in a box")]
    fn operand(&mut self, tokens: Range<usize>) -> Box<Expr> {
        self.expression(tokens).into()
    }

    /// The longest expression that starts at the next token and ends before `limit`; reads it.
    pub(super) fn next_expression(&mut self, limit: usize) -> Reading<Expr> {
        let start = self.at;
        let end = match self.next() {
            "{" => self.close(start) + 1,
            _ => self.map.expression(start, limit).ok_or(MISFIT)?,
        };
        let expr = self.expression(start..end);
        self.at = end;
        Ok(expr)
    }

    fn expression_kind(&mut self, tokens: Range<usize>) -> Reading<ExprKind> {
        let Range { start, end } = tokens;
        if start >= end {
            return Err(MISFIT);
        }
        if self.text(start) == "{" && self.close(start) + 1 == end {
            return Ok(ExprKind::InitList(self.init_list(start + 1..end - 1)?));
        }
        let foreign = |reason: &str| Ok(ExprKind::Unsupported(reason.to_owned()));
        let text = self.text(start);
        match self.map.exact(start, end).ok_or(MISFIT)? {
            // What ends with a lambda may be an assignment of it.
            Kind::Lambda if text == "[" => return self.lambda(start, end),
            Kind::StatementExpression if text == "(" => return self.statement_expression(start, end),
            Kind::Lambda | Kind::StatementExpression => return Err(MISFIT),
            Kind::Heap if matches!(self.text(start), "delete" | "::delete") => return foreign("delete expression"),
            Kind::Heap => return foreign("new expression"),
            Kind::Pack => return Ok(ExprKind::Expansion(self.operand(start..end - 1))),
            Kind::Foreign if text == "sizeof" => return self.sizeof(start, end),
            Kind::Foreign => return foreign("expression that no kernel may have"),
            _ => {}
        }
        match self.map.expression(start, end - 1) {
            Some(middle) => self.infix(start, middle, end),
            None => self.prefix(start, end),
        }
    }

    /// What begins with the operand `start..middle`.
    fn infix(&mut self, start: usize, middle: usize, end: usize) -> Reading<ExprKind> {
        let text = self.text(middle);
        let closes = |this: &Self| this.close(middle) + 1 == end;
        Ok(match text {
            "(" if closes(self) => {
                let callee = self.operand(start..middle);
                ExprKind::Call(callee, self.arguments(middle + 1..end - 1)?)
            }
            "[" if closes(self) => {
                let base = self.operand(start..middle);
                ExprKind::Index(base, self.operand(middle + 1..end - 1))
            }
            "<<" if self.text(middle + 1) == "<" => self.launch(start, middle, end)?,
            "." | "->" => self.member(start, middle, end)?,
            "++" if middle + 1 == end => ExprKind::Postfix(PostfixOp::Increment, self.operand(start..middle)),
            "--" if middle + 1 == end => ExprKind::Postfix(PostfixOp::Decrement, self.operand(start..middle)),
            "?" if self.text(middle + 1) == ":" => {
                ExprKind::Unsupported("conditional without middle operand".to_owned())
            }
            "?" => self.conditional(start, middle, end)?,
            "," => ExprKind::Comma(self.operand(start..middle), self.operand(middle + 1..end)),
            _ => {
                let (left, right) = (start..middle, middle + 1..end);
                match (assignment(text), words::binary_op(text)) {
                    (Some(op), _) => ExprKind::Assign(op, self.operand(left), self.operand(right)),
                    (None, Some(op)) => ExprKind::Binary(op, self.operand(left), self.operand(right)),
                    (None, None) => return Err(MISFIT),
                }
            }
        })
    }

    fn conditional(&mut self, start: usize, middle: usize, end: usize) -> Reading<ExprKind> {
        let colon = self.map.expression(middle + 1, end - 1).filter(|&at| self.text(at) == ":").ok_or(MISFIT)?;
        let condition = self.operand(start..middle);
        let yes = self.operand(middle + 1..colon);
        Ok(ExprKind::Conditional(condition, yes, self.operand(colon + 1..end)))
    }

    fn member(&mut self, start: usize, middle: usize, end: usize) -> Reading<ExprKind> {
        let arrow = self.text(middle) == "->";
        self.at = middle + 1;
        self.eat("template");
        if self.next() == "~" {
            return Ok(ExprKind::Unsupported("destructor call".to_owned()));
        }
        // `x.operator T *()`: a name of several words.
        if self.next() == "operator" && self.is_identifier(self.at + 1) {
            let words = self.words(self.find_word(self.at + 1)..end);
            let name = Name { text: format!("operator {words}"), span: self.span(self.at..end) };
            let member = PathSegment { name, args: None };
            return Ok(ExprKind::Member { object: self.operand(start..middle), arrow, member });
        }
        let mut path = self.path(end)?;
        let member = path.segments.pop().filter(|_| self.at == end && path.segments.is_empty()).ok_or(MISFIT)?;
        Ok(ExprKind::Member { object: self.operand(start..middle), arrow, member })
    }

    /// `k<<<grid, block>>>(args)`, whose brackets are two tokens each.
    fn launch(&mut self, start: usize, middle: usize, end: usize) -> Reading<ExprKind> {
        let kernel = self.operand(start..middle);
        self.at = middle + 2;
        let mut config = vec![self.next_expression(end)?];
        while self.eat(",") {
            config.push(self.next_expression(end)?);
        }
        let open = self.at + 2;
        if self.next() != ">>" || self.text(self.at + 1) != ">" || self.text(open) != "(" || self.close(open) + 1 != end
        {
            return Err(MISFIT);
        }
        Ok(ExprKind::Launch { kernel, config, args: self.arguments(open + 1..end - 1)? })
    }

    /// What begins with no operand.
    fn prefix(&mut self, start: usize, end: usize) -> Reading<ExprKind> {
        let text = self.text(start);
        let alone = start + 1 == end;
        match self.kind(start) {
            Some(TokenKind::Number) if alone => return Ok(literals::number(text)),
            Some(TokenKind::Char) if alone => {
                return Ok(literals::character(text).map_or_else(
                    || ExprKind::Unsupported("character literal".to_owned()),
                    |(value, ty)| ExprKind::Char(value, ty),
                ));
            }
            Some(TokenKind::String | TokenKind::RawString) => return Ok(ExprKind::String(self.words(start..end))),
            _ => {}
        }
        if let Some(op) = unary(text) {
            return Ok(ExprKind::Unary(op, self.operand(start + 1..end)));
        }
        Ok(match text {
            "true" if alone => ExprKind::Bool(true),
            "false" if alone => ExprKind::Bool(false),
            "nullptr" | "NULL" | "__null" if alone => ExprKind::Null,
            "this" if alone && self.language == Language::Cuda => ExprKind::This,
            "(" => return self.parenthesis(start, end),
            "sizeof" => return self.sizeof(start, end),
            "alignof" | "_Alignof" | "__alignof__" | "__builtin_offsetof" | "offsetof" | "__builtin_va_arg"
            | "noexcept" => ExprKind::Unsupported(text.to_owned()),
            "static_cast" => return self.named_cast(CastKind::Static, start, end),
            "reinterpret_cast" => return self.named_cast(CastKind::Reinterpret, start, end),
            "const_cast" => return self.named_cast(CastKind::Const, start, end),
            "dynamic_cast" => return self.named_cast(CastKind::Dynamic, start, end),
            "__extension__" => return self.expression_kind(start + 1..end),
            _ => return self.named(start, end),
        })
    }

    /// A name, or a type with what it is made from.
    fn named(&mut self, start: usize, end: usize) -> Reading<ExprKind> {
        self.at = start;
        self.eat("typename");
        if words::is_arithmetic_word(self.next()) {
            let ty = Box::new(self.arithmetic_type()?);
            return self.construction(ty, end);
        }
        let path = self.path(end)?;
        if self.at == end {
            return Ok(ExprKind::Path(path));
        }
        let span = self.span(start..self.at);
        match self.next() {
            "(" if self.close(self.at) + 1 == end => {
                let arguments = self.arguments(self.at + 1..end - 1)?;
                Ok(ExprKind::Call(Box::new(Expr { kind: ExprKind::Path(path), span }), arguments))
            }
            _ => {
                let ty = Type { kind: TypeKind::Named(path), qualifiers: Vec::new(), span };
                self.construction(Box::new(ty), end)
            }
        }
    }

    /// `(x)`, `()`, `(a, b)`, `{…}` behind a type.
    fn construction(&mut self, ty: Box<Type>, end: usize) -> Reading<ExprKind> {
        let open = self.at;
        if !matches!(self.next(), "(" | "{") || self.close(open) + 1 != end {
            return Err(MISFIT);
        }
        if self.next() == "{" {
            return self.braces(ty, open, end);
        }
        let mut arguments = self.arguments(open + 1..end - 1)?;
        Ok(match (arguments.pop(), arguments.is_empty()) {
            (Some(only), true) => ExprKind::Cast(CastKind::C, ty, Box::new(only)),
            (last, _) => {
                arguments.extend(last);
                ExprKind::Construct(ty, arguments)
            }
        })
    }

    fn braces(&mut self, ty: Box<Type>, open: usize, end: usize) -> Reading<ExprKind> {
        let entries = self.init_list(open + 1..end - 1)?;
        if entries.iter().any(|(designator, _)| designator.is_some()) {
            let list = Expr { kind: ExprKind::InitList(entries), span: self.span(open..end) };
            return Ok(ExprKind::Cast(CastKind::C, ty, Box::new(list)));
        }
        Ok(ExprKind::Construct(ty, entries.into_iter().map(|(_, value)| value).collect()))
    }

    /// `(e)`, `(T)e`, `(T){…}`, and OpenCL's `(T)(a, b)`.
    fn parenthesis(&mut self, start: usize, end: usize) -> Reading<ExprKind> {
        let close = self.close(start);
        if close + 1 == end {
            if let Some(fold) = self.fold(start, close) {
                return Ok(fold);
            }
            return self.deeper(|this| this.expression_kind(start + 1..close));
        }
        if close >= end {
            return Err(MISFIT);
        }
        let ty = Box::new(self.type_in(start + 1..close)?);
        let value = close + 1;
        if self.text(value) == "{" && self.close(value) + 1 == end {
            return self.braces(ty, value, end);
        }
        if self.language == Language::OpenCl && self.text(value) == "(" && self.close(value) + 1 == end {
            let mut parts = self.parts(value + 1..end - 1)?;
            if parts.len() > 1 {
                return Ok(ExprKind::Construct(ty, parts));
            }
            let only = parts.pop().ok_or(MISFIT)?;
            return Ok(ExprKind::Cast(CastKind::C, ty, Box::new(only)));
        }
        Ok(ExprKind::Cast(CastKind::C, ty, self.operand(value..end)))
    }

    /// `a, b` of a vector literal, which clang reads as a comma where the type is no vector.
    fn parts(&mut self, tokens: Range<usize>) -> Reading<Vec<Expr>> {
        let mut parts = self.arguments(tokens)?;
        while let Some(Expr { kind: ExprKind::Comma(..), .. }) = parts.first() {
            if let ExprKind::Comma(left, right) = parts.remove(0).kind {
                parts.insert(0, *right);
                parts.insert(0, *left);
            }
        }
        Ok(parts)
    }

    fn sizeof(&mut self, start: usize, end: usize) -> Reading<ExprKind> {
        if self.text(start + 1) == "..." {
            // `sizeof...(T)`
            let name = start + 3;
            if self.text(start + 2) != "(" || name + 2 != end || !self.is_identifier(name) {
                return Err(MISFIT);
            }
            return Ok(ExprKind::SizeofPack(self.name(name)));
        }
        let in_brackets = self.text(start + 1) == "(" && self.close(start + 1) + 1 == end;
        if !in_brackets {
            return Ok(ExprKind::SizeofExpr(self.operand(start + 1..end)));
        }
        let inside = start + 2..end - 1;
        if self.map.exact(inside.start, inside.end).is_some() {
            return Ok(ExprKind::SizeofExpr(self.operand(inside)));
        }
        Ok(ExprKind::SizeofType(Box::new(self.type_in(inside)?)))
    }

    /// `(e + ...)`, `(... + e)` and `(e + ... + e)`, by where the dots are.
    fn fold(&mut self, open: usize, close: usize) -> Option<ExprKind> {
        let mut dots = open + 1;
        while self.text(dots) != "..." {
            dots = if matches!(self.text(dots), "(" | "[" | "{") { self.close(dots) + 1 } else { dots + 1 };
            if dots >= close {
                return None;
            }
        }
        // A pattern of another list is followed by a comma or its end.
        let op = if dots == open + 1 { self.text(dots + 1) } else { self.text(dots - 1) };
        let op = match (assignment(op), words::binary_op(op), op) {
            (Some(op), ..) => FoldOp::Assign(op),
            (None, Some(op), _) => FoldOp::Binary(op),
            (None, None, ",") => FoldOp::Comma,
            _ => return None,
        };
        let left = (dots > open + 1).then(|| self.expression(open + 1..dots - 1));
        let right = (dots + 1 < close).then(|| self.expression(dots + 2..close));
        Some(ExprKind::Fold(Box::new(Fold { op, left, right })))
    }

    fn named_cast(&mut self, kind: CastKind, start: usize, end: usize) -> Reading<ExprKind> {
        self.at = start + 1;
        self.expect("<")?;
        let ty = Box::new(self.type_id()?);
        self.close_angle()?;
        let open = self.at;
        if self.next() != "(" || self.close(open) + 1 != end {
            return Err(MISFIT);
        }
        Ok(ExprKind::Cast(kind, ty, self.operand(open + 1..end - 1)))
    }

    /// Expressions with commas between them that fill `tokens`.
    pub(super) fn arguments(&mut self, tokens: Range<usize>) -> Reading<Vec<Expr>> {
        let mut arguments = Vec::new();
        let at = self.at;
        self.at = tokens.start;
        while self.at < tokens.end {
            arguments.push(self.next_expression(tokens.end)?);
            if self.at < tokens.end {
                self.expect(",")?;
            }
        }
        self.at = at;
        Ok(arguments)
    }

    /// The entries between the braces of a list.
    fn init_list(&mut self, tokens: Range<usize>) -> Reading<Vec<(Option<Designator>, Expr)>> {
        let mut entries = Vec::new();
        self.at = tokens.start;
        while self.at < tokens.end {
            let designator = self.designator()?;
            entries.push((designator, self.next_expression(tokens.end)?));
            if self.at < tokens.end {
                self.expect(",")?;
            }
        }
        Ok(entries)
    }

    fn designator(&mut self) -> Reading<Option<Designator>> {
        let designator = match self.next() {
            "." => Designator::Field(self.name(self.at + 1)),
            // A lambda starts like the designator of an element.
            "[" if self.text(self.close(self.at) + 1) == "=" => {
                let inside = self.at + 1..self.close(self.at);
                Designator::Index(self.operand(inside))
            }
            _ => return Ok(None),
        };
        self.at = match designator {
            Designator::Field(_) => self.at + 2,
            Designator::Index(_) => self.close(self.at) + 1,
        };
        if self.eat("=") { Ok(Some(designator)) } else { Err(Confusion("nested designator")) }
    }

    /// The spellings of `tokens`, with spaces.
    pub(super) fn words(&self, tokens: Range<usize>) -> String {
        tokens.map(|at| self.text(at)).collect::<Vec<_>>().join(" ")
    }
}

/// The operator of an assignment, if it is one.
#[expect(clippy::option_option, reason = "an assignment without an operator is one, too")]
fn assignment(text: &str) -> Option<Option<BinaryOp>> {
    match text {
        "=" => Some(None),
        "and_eq" => Some(Some(BinaryOp::BitAnd)),
        "or_eq" => Some(Some(BinaryOp::BitOr)),
        "xor_eq" => Some(Some(BinaryOp::BitXor)),
        "==" | "!=" | "<=" | ">=" => None,
        _ => text.strip_suffix('=').and_then(words::binary_op).map(Some),
    }
}

fn unary(text: &str) -> Option<UnaryOp> {
    Some(match text {
        "+" => UnaryOp::Plus,
        "-" => UnaryOp::Minus,
        "!" | "not" => UnaryOp::Not,
        "~" | "compl" => UnaryOp::BitNot,
        "*" => UnaryOp::Deref,
        "&" | "bitand" => UnaryOp::AddressOf,
        "++" => UnaryOp::PreIncrement,
        "--" => UnaryOp::PreDecrement,
        _ => return None,
    })
}
