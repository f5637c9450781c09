//! Lambdas. Their parts are kept beside the tree, too, for what walks the tree without resolving it.

use super::{Converter, child_of, children};
use crate::syntax::{self, Aside, AsideKind, CallOperator, CaptureList, Expr, ExprKind, Mutability, Param, Type};
use tree_sitter::Node;

impl Converter<'_> {
    /// `[captures](params) { body }`
    pub(super) fn lambda(&mut self, node: Node<'_>) -> ExprKind {
        let (Some(list), Some(body)) = (node.child_by_field_name("captures"), node.child_by_field_name("body")) else {
            return ExprKind::Unsupported(super::SYNTAX_ERROR.into());
        };
        let captures = self.captures(list);
        let template = node.child_by_field_name("template_parameters").map(|list| self.template_params(list));
        let declarator = node.child_by_field_name("declarator");
        let (params, result) = self.lambda_head(declarator);
        let words = declarator.map_or(0..0, |it| self.first(it)..self.first(body));
        let is_mutable = words.into_iter().any(|at| self.spelling(at) == "mutable");
        let mutability = if is_mutable { Mutability::Mutable } else { Mutability::Fixed };
        let body = self.block(body);
        let span = self.span(node);
        let stated = captures.iter().flat_map(|list| &list.captures).filter_map(|capture| capture.init.clone());
        let kept = AsideKind::Lambda { captures: stated.collect(), params: params.clone(), body: body.clone() };
        self.result.asides.push(Aside { span, kind: kept });
        match captures {
            Some(list) => syntax::lambda(list, CallOperator { template, params, mutability, result, body, span }),
            None => ExprKind::Unsupported("lambda with captures that are not understood".into()),
        }
    }

    fn lambda_head(&mut self, declarator: Option<Node<'_>>) -> (Vec<Param>, Option<Type>) {
        let Some(declarator) = declarator else { return (Vec::new(), None) };
        let params = declarator.child_by_field_name("parameters").map(|list| self.params(list)).unwrap_or_default();
        let result = child_of(declarator, "trailing_return_type").and_then(|it| children(it).first().copied());
        (params, result.map(|result| self.type_descriptor(result)))
    }

    /// The entries between the brackets; `None` if one is not understood.
    fn captures(&mut self, node: Node<'_>) -> Option<CaptureList> {
        let stated: Vec<Node<'_>> =
            children(node).into_iter().filter(|child| child.kind() == "lambda_capture_initializer").collect();
        let mut list = CaptureList::default();
        let (mut at, end) = (self.first(node) + 1, self.last(node));
        while at < end {
            let given = stated.iter().find(|child| self.first(**child) == at || self.first(**child) == at + 1);
            let init: Option<Expr> =
                given.and_then(|child| child.child_by_field_name("right")).map(|value| self.expr(value));
            let next = given.map_or(at, |child| self.last(*child) + 1);
            let stop = (next..end).find(|&at| self.spelling(at) == ",").unwrap_or(end);
            let head = if init.is_none() { stop } else { (at..end).find(|&at| self.spelling(at) == "=")? };
            let words: Vec<&str> = (at..head).map(|at| self.spelling(at)).collect();
            if !list.add(&words, self.span_of(at..head), init) {
                return None;
            }
            at = stop + 1;
        }
        Some(list)
    }
}
