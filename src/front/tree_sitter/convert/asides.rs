//! What syntax has no node for: the expressions and statements inside are converted and kept beside the tree.
//!
//! The node itself says what was understood; nothing here makes a kernel look better than it does.

use super::{Converter, child_of, children};
use crate::syntax::{Aside, AsideKind, Stmt};
use tree_sitter::Node;

impl Converter<'_> {
    /// Keeps the parts of an expression that is not understood.
    pub(super) fn keep(&mut self, node: Node<'_>) {
        match node.kind() {
            "new_expression" | "delete_expression" => self.keep_values(node),
            "compound_statement" => self.keep_statements(node),
            _ => {}
        }
    }

    pub(super) fn aside(&mut self, node: Node<'_>, kind: AsideKind) {
        let span = self.span(node);
        self.result.asides.push(Aside { span, kind });
    }

    /// The expressions among a node's children and in argument lists directly below it.
    pub(super) fn keep_values(&mut self, node: Node<'_>) {
        let mut values = Vec::new();
        for child in children(node) {
            match child.kind() {
                "argument_list" | "initializer_list" => values.extend(self.arguments(child)),
                kind if is_type(kind) => {}
                _ => values.push(self.expr(child)),
            }
        }
        self.aside(node, AsideKind::Values(values));
    }

    /// The statements of the blocks and declarations directly below a node.
    pub(super) fn keep_statements(&mut self, node: Node<'_>) {
        if node.kind() == "compound_statement" {
            let statements = self.block(node);
            return self.aside(node, AsideKind::Statements(statements));
        }
        let mut statements: Vec<Stmt> = Vec::new();
        for child in children(node) {
            match child.kind() {
                "compound_statement" | "declaration" | "init_statement" => statements.push(self.statement(child)),
                "catch_clause" => {
                    if let Some(body) = child_of(child, "compound_statement") {
                        statements.push(self.statement(body));
                    }
                }
                _ => {}
            }
        }
        self.aside(node, AsideKind::Statements(statements));
    }
}

fn is_type(kind: &str) -> bool {
    matches!(
        kind,
        "type_identifier"
            | "primitive_type"
            | "sized_type_specifier"
            | "template_type"
            | "qualified_identifier"
            | "placeholder_type_specifier"
            | "new_declarator"
            | "abstract_pointer_declarator"
    )
}
