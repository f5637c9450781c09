//! Lambdas and statement expressions.

use super::{MISFIT, Reader, Reading};
use crate::syntax::{self, CallOperator, CaptureList, Expr, ExprKind, Mutability};
use std::ops::Range;

impl Reader<'_> {
    /// `[captures](params) { body }`
    pub(super) fn lambda(&mut self, start: usize, end: usize) -> Reading<ExprKind> {
        let close = self.close(start);
        let Some(list) = self.captures(start + 1..close)? else {
            return Ok(ExprKind::Unsupported("lambda with captures that are not understood".to_owned()));
        };
        self.at = close + 1;
        let template = if self.next() == "<" { Some(self.template_params()?) } else { None };
        self.specifiers_of_lambda();
        let (params, result) = self.lambda_head()?;
        let span = self.span(start..end);
        let is_mutable = (close..self.at).any(|at| self.text(at) == "mutable");
        let mutability = if is_mutable { Mutability::Mutable } else { Mutability::Fixed };
        let body = self.block()?;
        if self.at != end {
            return Err(MISFIT);
        }
        Ok(syntax::lambda(list, CallOperator { template, params, mutability, result, body, span }))
    }

    /// The entries between the brackets; `None` if one is not understood.
    fn captures(&mut self, inside: Range<usize>) -> Reading<Option<CaptureList>> {
        let mut list = CaptureList::default();
        let mut at = inside.start;
        while at < inside.end {
            let end = self.find(at, inside.end, &[","]);
            let equals = if at + 1 == end { end } else { self.find(at, end, &["="]) };
            let init: Option<Expr> = (equals < end).then(|| self.expression(equals + 1..end));
            let words: Vec<&str> = (at..equals).map(|at| self.text(at)).collect();
            let span = self.span(at..equals);
            if !list.add(&words, span, init) {
                return Ok(None);
            }
            at = end + 1;
        }
        Ok(Some(list))
    }

    /// `__device__`, `mutable` and what else may stand around a lambda's parameters.
    pub(super) fn specifiers_of_lambda(&mut self) {
        loop {
            let before = self.at;
            while matches!(
                self.next(),
                "__device__" | "__host__" | "mutable" | "constexpr" | "__forceinline__" | "__noinline__"
            ) {
                self.at += 1;
            }
            self.attributes();
            if self.at == before {
                return;
            }
        }
    }

    /// `({ … })`
    pub(super) fn statement_expression(&mut self, start: usize, end: usize) -> Reading<ExprKind> {
        if self.text(start + 1) != "{" || self.close(start) + 1 != end {
            return Err(MISFIT);
        }
        let span = self.span(start..end);
        self.at = start + 1;
        let body = self.block()?;
        if self.at + 1 != end {
            return Err(MISFIT);
        }
        Ok(syntax::statement_expression(body, span))
    }
}
