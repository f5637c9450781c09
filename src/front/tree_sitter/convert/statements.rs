//! Statements.

use super::{Converter, child_of, children};
use crate::syntax::{Expr, ExprKind, Item, ItemKind, Stmt, StmtKind, Variable, words};
use tree_sitter::Node;

impl Converter<'_> {
    /// The statements of a block; a broken one is kept as a syntax error, the others as they are.
    pub(super) fn block(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let mut result = Vec::new();
        for child in Self::children_with_errors(node) {
            self.statement_into(child, &mut result);
        }
        result
    }

    /// The named children of a block and what the grammar could not place among them.
    fn children_with_errors(node: Node<'_>) -> Vec<Node<'_>> {
        let mut cursor = node.walk();
        node.children(&mut cursor)
            .filter(|child| child.kind() != "comment" && (child.is_named() || child.is_error() || child.is_missing()))
            .collect()
    }

    /// One statement; several become a block.
    pub(super) fn statement(&mut self, node: Node<'_>) -> Stmt {
        let mut found = Vec::new();
        self.statement_into(node, &mut found);
        match found.len() {
            1 => found.remove(0),
            _ => self.stmt(node, StmtKind::Block(found)),
        }
    }

    fn boxed(&mut self, node: Option<Node<'_>>, parent: Node<'_>) -> Box<Stmt> {
        Box::new(match node {
            Some(node) => self.statement(node),
            None => self.stmt(parent, StmtKind::Unsupported(super::SYNTAX_ERROR.into())),
        })
    }

    fn statement_into(&mut self, node: Node<'_>, result: &mut Vec<Stmt>) {
        let converted = self.deeper(node, |this| this.statement_at(node));
        match converted {
            Some(found) => result.extend(found),
            None => result.push(self.stmt(node, StmtKind::Unsupported(super::NESTED_TOO_DEEPLY.into()))),
        }
    }

    fn statement_at(&mut self, node: Node<'_>) -> Vec<Stmt> {
        if node.kind() != "compound_statement" && Self::is_broken(node) {
            let kind = self.syntax_error(node);
            return vec![self.stmt(node, kind)];
        }
        let kind = match node.kind() {
            "compound_statement" => {
                let mut inside = self.block(node);
                if child_of(node, "}").is_none_or(|close| close.is_missing()) {
                    let kind = self.syntax_error(node);
                    inside.push(self.stmt(node, kind));
                }
                StmtKind::Block(inside)
            }
            "case_statement" => return self.case(node),
            "labeled_statement" => {
                let inner = children(node).into_iter().find(|child| child.kind() != "statement_identifier");
                return vec![*self.boxed(inner, node)];
            }
            "attributed_statement" => {
                let inner = children(node).into_iter().find(|child| child.kind() != "attribute_declaration");
                return vec![*self.boxed(inner, node)];
            }
            "init_statement" => return children(node).into_iter().map(|child| self.statement(child)).collect(),
            "expression_statement" => return vec![self.expression_statement(node)],
            "if_statement" => self.if_statement(node),
            "for_statement" => self.for_statement(node),
            "while_statement" => self.while_statement(node),
            "do_statement" => {
                let body = self.boxed(node.child_by_field_name("body"), node);
                StmtKind::Do { body, cond: self.condition(node) }
            }
            "switch_statement" => self.switch(node),
            "break_statement" => StmtKind::Break,
            "continue_statement" => StmtKind::Continue,
            "return_statement" => StmtKind::Return(children(node).first().map(|&value| self.expr(value))),
            "goto_statement" => StmtKind::Unsupported("goto statement".into()),
            "for_range_loop" => self.range_loop(node),
            "try_statement" | "seh_try_statement" => {
                self.keep_statements(node);
                StmtKind::Unsupported("try block".into())
            }
            "throw_statement" => {
                self.keep_values(node);
                StmtKind::Unsupported("throw statement".into())
            }
            "co_return_statement" | "co_yield_statement" => StmtKind::Unsupported("coroutine".into()),
            _ => return self.local_items(node),
        };
        vec![self.stmt(node, kind)]
    }

    /// Declarations inside a function.
    fn local_items(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let items = self.item(node);
        items.into_iter().map(|item| Stmt { span: item.span, kind: Self::item_stmt(item) }).collect()
    }

    fn item_stmt(item: Item) -> StmtKind {
        match item.kind {
            ItemKind::Unsupported(reason) => StmtKind::Unsupported(reason),
            kind => StmtKind::Item(Item { kind, span: item.span }),
        }
    }

    fn expression_statement(&mut self, node: Node<'_>) -> Stmt {
        let Some(&inner) = children(node).first() else {
            // `[[fallthrough]];` and `;` do nothing.
            return self.stmt(node, StmtKind::Empty);
        };
        if inner.kind() == "gnu_asm_expression" {
            let kind = self.asm(inner);
            return self.stmt(node, kind);
        }
        let expr = self.expr(inner);
        match expr.kind {
            ExprKind::Unsupported(reason) => self.stmt(node, StmtKind::Unsupported(reason)),
            kind => self.stmt(node, StmtKind::Expr(Expr { kind, span: expr.span })),
        }
    }

    fn condition(&mut self, node: Node<'_>) -> Expr {
        let Some(clause) = node.child_by_field_name("condition") else {
            return self.unsupported(node, super::SYNTAX_ERROR);
        };
        if clause.kind() != "condition_clause" {
            return self.expr(clause);
        }
        if Self::is_broken(clause) {
            self.report(self.span(clause), super::SYNTAX_ERROR);
            return self.unsupported(clause, super::SYNTAX_ERROR);
        }
        match clause.child_by_field_name("value") {
            Some(value) if value.kind() != "declaration" && clause.child_by_field_name("initializer").is_none() => {
                self.expr(value)
            }
            _ => {
                self.keep_statements(clause);
                self.unsupported(clause, "declaration in a condition")
            }
        }
    }

    fn if_statement(&mut self, node: Node<'_>) -> StmtKind {
        let clause = node.child_by_field_name("condition");
        let declared = clause
            .and_then(|clause| clause.child_by_field_name("value"))
            .filter(|value| value.kind() == "declaration" && !value.has_error());
        let first = clause.and_then(|clause| clause.child_by_field_name("initializer"));
        let (init, cond) = match (first, declared, clause) {
            (None, Some(declaration), _) => self.declared_condition(declaration),
            (Some(first), None, Some(clause)) => {
                let value = clause.child_by_field_name("value");
                let init = self.boxed(Some(first), node);
                let cond = match value {
                    Some(value) => self.expr(value),
                    None => self.unsupported(node, super::SYNTAX_ERROR),
                };
                (Some(init), cond)
            }
            _ => (None, self.condition(node)),
        };
        let is_constexpr = child_of(node, "constexpr").is_some();
        let then = self.boxed(node.child_by_field_name("consequence"), node);
        let otherwise = node.child_by_field_name("alternative").map(|clause| {
            let inner = Self::children_with_errors(clause).first().copied();
            self.boxed(inner, clause)
        });
        StmtKind::If { init, cond, is_constexpr, then, otherwise }
    }

    /// `if (T x = e)`: the declaration, and `x` as the condition.
    fn declared_condition(&mut self, declaration: Node<'_>) -> (Option<Box<Stmt>>, Expr) {
        let items = self.item(declaration);
        if let [Item { kind: ItemKind::Variables(variables), span }] = items.as_slice()
            && let [variable] = variables.as_slice()
        {
            let path = Self::simple_path(variable.name.clone());
            let cond = Expr { kind: ExprKind::Path(path), span: variable.name.span };
            let span = *span;
            let init = items.into_iter().next().map(|item| Box::new(Stmt { kind: StmtKind::Item(item), span }));
            return (init, cond);
        }
        (None, self.unsupported(declaration, "declaration in a condition"))
    }

    /// `for (T x : range) body`
    fn range_loop(&mut self, node: Node<'_>) -> StmtKind {
        let (Some(specifier), Some(declarator), Some(range), Some(body)) = (
            node.child_by_field_name("type"),
            node.child_by_field_name("declarator"),
            node.child_by_field_name("right"),
            node.child_by_field_name("body"),
        ) else {
            return StmtKind::Unsupported("range-based for loop".into());
        };
        let qualifiers = self.qualifiers(node);
        let mut base = self.type_specifier(specifier);
        base.qualifiers.extend(words::of_the_type(&qualifiers, self.language));
        let declared = self.fold(declarator, base);
        let name = declared.path.and_then(|mut path| path.segments.pop()).map(|segment| segment.name);
        let variable = Box::new(Variable {
            name: name.unwrap_or_else(|| self.no_name(declarator)),
            outer: Vec::new(),
            ty: declared.ty,
            template: Vec::new(),
            qualifiers,
            init: None,
            bits: None,
            span: self.span(declarator),
        });
        let range = self.expr(range);
        let body = Box::new(self.statement(body));
        if node.child_by_field_name("initializer").is_some() {
            return StmtKind::Unsupported("range-based for loop with a first part".into());
        }
        StmtKind::RangeFor { variable, range, body }
    }

    fn for_statement(&mut self, node: Node<'_>) -> StmtKind {
        let init = node.child_by_field_name("initializer").map(|init| {
            Box::new(match init.kind() {
                "declaration" | "init_statement" | "type_definition" | "alias_declaration" => self.statement(init),
                _ => {
                    let expr = self.expr(init);
                    self.stmt(init, StmtKind::Expr(expr))
                }
            })
        });
        let cond = self.optional_expr(node.child_by_field_name("condition"));
        let step = self.optional_expr(node.child_by_field_name("update"));
        let body = self.boxed(node.child_by_field_name("body"), node);
        StmtKind::For { init, cond, step, body }
    }

    fn while_statement(&mut self, node: Node<'_>) -> StmtKind {
        let cond = self.condition(node);
        StmtKind::While { cond, body: self.boxed(node.child_by_field_name("body"), node) }
    }

    fn switch(&mut self, node: Node<'_>) -> StmtKind {
        let value = self.condition(node);
        StmtKind::Switch { value, body: self.boxed(node.child_by_field_name("body"), node) }
    }

    /// A label and the statements that the grammar hangs below it.
    fn case(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let value = node.child_by_field_name("value");
        let label = value.map(|value| self.expr(value));
        let mut result = vec![self.stmt(value.unwrap_or(node), StmtKind::Case(label))];
        for child in Self::children_with_errors(node) {
            if Some(child) != value {
                self.statement_into(child, &mut result);
            }
        }
        result
    }

    fn asm(&mut self, node: Node<'_>) -> StmtKind {
        let text = node.child_by_field_name("assembly_code").map(|code| self.string(code)).unwrap_or_default();
        let operands = |this: &mut Self, field: &str| -> Vec<Expr> {
            let list = node.child_by_field_name(field);
            let operands = list.map(|list| children(list)).unwrap_or_default();
            let values = operands.into_iter().filter_map(|operand| operand.child_by_field_name("value"));
            values.map(|value| this.expr(value)).collect()
        };
        let outputs = operands(self, "output_operands");
        let inputs = operands(self, "input_operands");
        let clobbers = node.child_by_field_name("clobbers").map(|list| self.string(list)).unwrap_or_default();
        if node.child_by_field_name("goto_labels").is_some() {
            return StmtKind::Unsupported("inline assembly with labels".into());
        }
        let clobbers_memory = clobbers.contains("memory");
        StmtKind::Asm { text, outputs, inputs, clobbers_memory }
    }
}
