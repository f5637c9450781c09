//! `for (T x : a) …` over an array, or over an object of a class with `begin` and `end`, as the loop that the language defines it
//! to be ([stmt.ranged]).
//!
//! Deliberately absent: `begin` and `end` that are functions outside of the class, or of which an object that a function gives
//! has several, lists, and objects that the loop would have to destroy.

use super::context::{Resolver, expr};
use super::conversion::has_effect;
use super::entities::{Entity, FunctionDecl};
use super::operators::Step;
use super::program::{BinaryOp, Expr, ExprKind, RecordId, Stmt, StmtKind, Storage, Type, TypeId, Variable, VariableId};
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
        let array = self.object(range);
        if let Type::Record(record) = self.types[self.types.plain(array.ty)] {
            return self.range_for_object(array, record, declared, body, span);
        }
        let Type::Array { of, len: Some(len) } = self.types[array.ty] else {
            return self.unread_range(array);
        };
        // The array is named again in every turn, and a structured binding has no name.
        let is_whole = self.is_object(&array) && !has_effect(&array) && self.names_one_object(&array);
        if !is_whole || declared.name.text.is_empty() {
            return self.unread_range(array);
        }
        let ty = self.types.common.ulong;
        let counter = self.hidden_variable("position", ty, span);
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

    /// The loop from what `begin` gives to what `end` gives.
    fn range_for_object(
        &mut self,
        range: Expr,
        record: RecordId,
        declared: &'u syntax::Variable,
        body: &'u syntax::Stmt,
        span: Span,
    ) -> StmtKind {
        let limits = ["begin", "end"].map(|name| self.methods(record, name));
        let is_named = self.is_object(&range) && !has_effect(&range) && self.names_one_object(&range);
        let is_kept = self.is_lvalue(&range) && !is_named;
        // Whether what a function gives is constant is not always known, and chooses between two.
        let is_sure = |methods: &Vec<FunctionDecl<'u>>| methods.len() == 1 || is_named && !methods.is_empty();
        let is_whole = limits.iter().all(is_sure);
        if !is_whole || is_kept || declared.name.text.is_empty() || self.has_destructor(range.ty) {
            return self.unread_range(range);
        }
        let mut out = Vec::new();
        let range = if is_named {
            range
        } else {
            let ty = self.types.plain(range.ty);
            let value = self.implicit(range, ty, span);
            self.held("range", value, span, &mut out)
        };
        let [first, end] = limits.map(|methods| {
            let name = methods[0].syntax.path.segments.last().map_or("", |segment| segment.name.text.as_str());
            let limit = self.function_call(&methods, None, Some(range.clone()), Vec::new(), span);
            let ty = self.types.plain(limit.ty);
            let value = self.implicit(limit, ty, span);
            self.held(name, value, span, &mut out)
        });
        if self.has_destructor(first.ty) || self.has_destructor(end.ty) {
            return self.unread_range(range);
        }
        let differs = self.binary(syntax::BinaryOp::Ne, first.clone(), end, span);
        let cond = self.truth(differs);
        let step = self.step(first.clone(), Step { up: true, postfix: false }, span);
        let element = self.pointed_at(first, span);
        let mut inner = Vec::new();
        self.in_block(|this| {
            this.range_variable(declared, element, &mut inner);
            this.stmt(body, &mut inner);
        });
        let kind = StmtKind::For {
            init: None,
            cond: Some(cond),
            step: Some(step),
            body: Box::new(Stmt { kind: StmtKind::Block(inner), span: body.span }),
        };
        out.push(Stmt { kind, span });
        StmtKind::Block(out)
    }

    /// A variable that no program names, with a value.
    fn held(&mut self, name: &str, value: Expr, span: Span, out: &mut Vec<Stmt>) -> Expr {
        let ty = value.ty;
        let variable = self.hidden_variable(name, ty, span);
        out.push(Stmt { kind: StmtKind::Declare(variable, Some(value)), span });
        expr(ExprKind::Variable(variable), ty, span)
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
            _ => StmtKind::Unsupported(
                "range-based for loop over what is neither an array nor an object whose `begin` and `end` are known"
                    .to_owned(),
            ),
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

    /// A variable of a loop that no program names.
    pub(super) fn hidden_variable(&mut self, name: &str, ty: TypeId, span: Span) -> VariableId {
        self.variables.add(Variable {
            name: name.to_owned(),
            ty,
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
