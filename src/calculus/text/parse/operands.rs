//! Reading expressions: operators by binding strength; a literal waits for the type of what stands beside it.

use super::{Parsed, Parser, Scalar};
use crate::calculus::text::lex::Token;
use crate::calculus::text::words::{INFIX, geometry_of, type_of, type_text};
use crate::calculus::{BinaryOp, Expr, ExprId, Function, GeometryVar, ScalarType, UnaryOp, arithmetic};

/// An operand whose type is known, or a literal that takes it from beside.
#[derive(Clone, Copy)]
enum Operand {
    Typed(ExprId),
    Literal(i128),
}

impl Parser<'_> {
    /// An expression; a bare literal has the type `context`.
    pub(crate) fn expr(&mut self, context: ScalarType) -> Parsed<ExprId> {
        let operand = self.infix(0)?;
        self.settle(operand, context)
    }

    fn settle(&mut self, operand: Operand, context: ScalarType) -> Parsed<ExprId> {
        match operand {
            Operand::Typed(id) => Ok(id),
            Operand::Literal(value) => self.literal(value, context),
        }
    }

    fn literal(&mut self, value: i128, ty: ScalarType) -> Parsed<ExprId> {
        if arithmetic::wrap(value, ty) != value {
            return self.error_before(format!("{value} does not fit the type {}", type_text(ty)));
        }
        Ok(self.kernel.exprs.intern(Expr::Int(value, ty), ty))
    }

    fn infix(&mut self, least: u8) -> Parsed<Operand> {
        let mut left = self.prefix()?;
        loop {
            let found = match self.peek() {
                Token::Sign(sign) => INFIX.iter().find(|(text, ..)| text == sign).copied(),
                _ => None,
            };
            let Some((_, op, own)) = found.filter(|row| row.2 >= least.max(1)) else { return Ok(left) };
            self.next();
            let right = self.nested(|parser| parser.infix(own + 1))?;
            left = self.binary(op, left, right)?;
        }
    }

    fn binary(&mut self, op: BinaryOp, left: Operand, right: Operand) -> Parsed<Operand> {
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let left_context = match right {
            Operand::Typed(id) if !shift => self.kernel.exprs.ty(id),
            _ => ScalarType::I32,
        };
        let a = self.settle(left, left_context)?;
        let ty = self.kernel.exprs.ty(a);
        let b = self.settle(right, ty)?;
        let result = if op.is_boolean() { ScalarType::Bool } else { ty };
        Ok(Operand::Typed(self.kernel.exprs.intern(Expr::Binary(op, a, b), result)))
    }

    fn prefix(&mut self) -> Parsed<Operand> {
        let op = match self.peek() {
            Token::Sign("-") => UnaryOp::Neg,
            Token::Sign("~") => UnaryOp::BitNot,
            Token::Sign("!") => UnaryOp::Not,
            _ => return self.primary(),
        };
        self.next();
        if op == UnaryOp::Neg && matches!(self.peek(), Token::Number { .. }) {
            return self.constant(-1);
        }
        let inner = self.nested(Self::prefix)?;
        let a = self.settle(inner, ScalarType::I32)?;
        let ty = self.kernel.exprs.ty(a);
        Ok(Operand::Typed(self.kernel.exprs.intern(Expr::Unary(op, a), ty)))
    }

    fn constant(&mut self, sign: i128) -> Parsed<Operand> {
        let Token::Number { value, suffix } = self.next() else { return self.error_before("expected a number") };
        if suffix.is_empty() {
            return Ok(Operand::Literal(sign * value));
        }
        match type_of(&suffix) {
            Some(ty) => Ok(Operand::Typed(self.literal(sign * value, ty)?)),
            None => self.error_before(format!("`{suffix}` is not a type")),
        }
    }

    fn primary(&mut self) -> Parsed<Operand> {
        let token = self.peek().clone();
        match token {
            Token::Number { .. } => self.constant(1),
            Token::Definition(number) => {
                self.next();
                match self.definitions.get(&number) {
                    Some(&id) => Ok(Operand::Typed(id)),
                    None => self.error_before(format!("%{number} is not defined")),
                }
            }
            Token::Text(text) => {
                self.next();
                self.sign(":")?;
                let ty = self.ty()?;
                Ok(Operand::Typed(self.kernel.exprs.opaque(text, ty)))
            }
            Token::Sign("(") => {
                self.next();
                self.nested(Self::parenthesized)
            }
            Token::Word(word) => self.word_operand(&word),
            Token::Name(_) => self.named_operand(),
            _ => self.error("expected an expression"),
        }
    }

    fn parenthesized(&mut self) -> Parsed<Operand> {
        let first = self.infix(0)?;
        if !self.take_sign("?") {
            self.sign(")")?;
            return Ok(first);
        }
        let cond = self.settle(first, ScalarType::Bool)?;
        let then = self.infix(0)?;
        self.sign(":")?;
        let otherwise = self.infix(0)?;
        self.sign(")")?;
        let context = match otherwise {
            Operand::Typed(id) => self.kernel.exprs.ty(id),
            Operand::Literal(_) => ScalarType::I32,
        };
        let a = self.settle(then, context)?;
        let ty = self.kernel.exprs.ty(a);
        let b = self.settle(otherwise, ty)?;
        Ok(Operand::Typed(self.kernel.exprs.intern(Expr::Select(cond, a, b), ty)))
    }

    fn word_operand(&mut self, word: &str) -> Parsed<Operand> {
        if let Some(var) = geometry_of(word) {
            self.next();
            return Ok(Operand::Typed(self.geometry(var)));
        }
        match word {
            "true" | "false" => {
                self.next();
                Ok(Operand::Typed(self.literal(i128::from(word == "true"), ScalarType::Bool)?))
            }
            "convert" => {
                self.next();
                self.sign("<")?;
                let ty = self.ty()?;
                self.sign(">")?;
                self.sign("(")?;
                let a = self.nested(|parser| parser.expr(ScalarType::I32))?;
                self.sign(")")?;
                Ok(Operand::Typed(self.kernel.exprs.intern(Expr::Convert(ty, a), ty)))
            }
            "min" | "max" => {
                self.next();
                self.sign("(")?;
                let a = self.nested(|parser| parser.infix(0))?;
                self.sign(",")?;
                let b = self.nested(|parser| parser.infix(0))?;
                self.sign(")")?;
                self.binary(if word == "min" { BinaryOp::Min } else { BinaryOp::Max }, a, b)
            }
            _ => self.named_operand(),
        }
    }

    fn geometry(&mut self, var: GeometryVar) -> ExprId {
        self.kernel.exprs.geometry(var)
    }

    /// A variable, a parameter or a call.
    fn named_operand(&mut self) -> Parsed<Operand> {
        if matches!(self.tokens.get(self.at + 1), Some((Token::Sign("("), _))) {
            let name = self.name()?;
            self.sign("(")?;
            let args = self.arguments()?;
            self.sign(":")?;
            let ty = self.ty()?;
            let function = Function::of_text(&name, (self.nature)(&name));
            return Ok(Operand::Typed(self.kernel.exprs.call(function, args, ty)));
        }
        let id = match self.scalar()? {
            Scalar::Var(var) => self.kernel.exprs.var(var, self.kernel.vars[var].ty),
            Scalar::Param(param) => self.kernel.exprs.param(param, self.kernel.params[param].ty),
        };
        Ok(Operand::Typed(id))
    }

    /// Expressions after an opening parenthesis, up to the closing one, which is taken.
    pub(crate) fn arguments(&mut self) -> Parsed<Vec<ExprId>> {
        let mut args = Vec::new();
        self.nested(|parser| {
            parser.list(")", |parser| {
                args.push(parser.expr(ScalarType::I32)?);
                Ok(())
            })
        })?;
        Ok(args)
    }
}
