//! `for (T x : a) …` over an array, as the loop over its elements that the language defines it to be.
//!
//! Deliberately absent: ranges that are objects with `begin` and `end`, and lists.

use super::context::{Resolver, expr};
use super::conversion::has_effect;
use super::entities::Entity;
use super::program::{BinaryOp, Expr, ExprKind, Stmt, StmtKind, Storage, Type, Variable, VariableId};
use crate::source::Span;
use crate::syntax;

impl<'u> Resolver<'u> {
    /// The loop.
    pub(super) fn range_for(
        &mut self,
        declared: &'u syntax::Variable,
        range: &'u syntax::Expr,
        body: &'u syntax::Stmt,
        span: Span,
    ) -> StmtKind {
        let array = self.expr(range);
        let Type::Array { of, len: Some(len) } = self.types[array.ty] else {
            return self.unread_range(array);
        };
        // The array is named again in every turn, and a structured binding has no name.
        let is_whole = self.is_object(&array) && !has_effect(&array) && self.names_one_object(&array);
        if !is_whole || declared.name.text.is_empty() {
            return self.unread_range(array);
        }
        let counter = self.range_counter(span);
        let ty = self.types.common.ulong;
        let object = || expr(ExprKind::Variable(counter), ty, span);
        let index = || expr(ExprKind::Load(Box::new(object())), ty, span);
        let number = |value: i128| expr(ExprKind::Int(value), ty, span);
        let element = expr(ExprKind::Element(Box::new(array), Box::new(index())), of, range.span);
        let less = ExprKind::Binary(BinaryOp::Lt, Box::new(index()), Box::new(number(i128::from(len))));
        let step = ExprKind::Step { target: Box::new(object()), up: true, postfix: false };
        let mut inner = Vec::new();
        self.in_block(|this| {
            this.range_variable(declared, element, &mut inner);
            this.stmt(body, &mut inner);
        });
        let first = Stmt { kind: StmtKind::Declare(counter, Some(number(0))), span };
        StmtKind::For {
            init: Some(Box::new(first)),
            cond: Some(expr(less, self.types.common.bool, span)),
            step: Some(expr(step, ty, span)),
            body: Box::new(Stmt { kind: StmtKind::Block(inner), span: body.span }),
        }
    }

    /// Whether an object is the same wherever it is named so, whatever is assigned in between: `rows[i]` is not.
    fn names_one_object(&self, object: &Expr) -> bool {
        match &object.kind {
            ExprKind::Variable(_) => true,
            ExprKind::Field(inner, _) => self.names_one_object(inner),
            ExprKind::Element(inner, index) => self.names_one_object(inner) && is_number(index),
            // A reference stays with its object, and so does `this`.
            ExprKind::Deref(pointer) => match &pointer.kind {
                ExprKind::Load(variable) => match variable.kind {
                    ExprKind::Variable(variable) => {
                        let variable = &self.variables[variable];
                        variable.is_reference || variable.name == "this"
                    }
                    _ => false,
                },
                _ => false,
            },
            _ => false,
        }
    }

    fn unread_range(&mut self, range: Expr) -> StmtKind {
        self.miss();
        match range.kind {
            ExprKind::Unsupported(reason) => StmtKind::Unsupported(reason),
            _ => StmtKind::Unsupported("range-based for loop over what is no array".to_owned()),
        }
    }

    /// The variable of a loop comes to life, as the element or with its value.
    fn range_variable(&mut self, declared: &'u syntax::Variable, element: Expr, out: &mut Vec<Stmt>) {
        let span = declared.span;
        let mut written = self.declared_type(&declared.ty, &declared.qualifiers);
        if declared.ty.is_auto() {
            written.ty = element.ty;
            self.collapse(&mut written, &element);
        }
        let variable = self.new_variable(declared, written, Storage::Local);
        let value = if written.is_reference {
            self.bind_reference(element, written, variable, span)
        } else {
            let value = self.implicit(element, written.ty, span);
            self.destroyed(value, span)
        };
        self.declare(&declared.name.text, Entity::Variable(variable));
        self.variables[variable].has_initializer = true;
        out.push(Stmt { kind: StmtKind::Declare(variable, Some(value)), span });
    }

    /// The number of the turn.
    pub(super) fn range_counter(&mut self, span: Span) -> VariableId {
        self.variables.add(Variable {
            name: "position".to_owned(),
            ty: self.types.common.ulong,
            storage: Storage::Local,
            is_reference: false,
            is_volatile: false,
            constant: None,
            range: None,
            is_extern: false,
            has_initializer: true,
            span,
        })
    }
}

fn is_number(index: &Expr) -> bool {
    match &index.kind {
        ExprKind::Int(_) => true,
        ExprKind::Convert(inner) => is_number(inner),
        _ => false,
    }
}
