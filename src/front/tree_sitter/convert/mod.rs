//! From the concrete tree to syntax.
//!
//! One module for each sort of thing: [`items`] ([`functions`], [`records`], [`templates`]), [`types`] with
//! declarators, [`statements`],
//! [`expressions`] ([`lambdas`]), and [`asides`] for what syntax has no node for. They share [`Converter`]: the tokens, the buffer that was parsed, and a
//! budget of depth, beyond which anything is `Unsupported("nested too deeply")`.

mod asides;
mod expressions;
mod functions;
mod items;
mod lambdas;
mod records;
mod statements;
mod templates;
mod types;

use super::names::Names;
use super::rewrite::{Buffer, TOO_DEEP};
use crate::diagnostic::{Diagnostic, Label, RuleId, Severity};
use crate::preprocess::{Output, Token, TokenKind};
use crate::source::{Language, Span};
use crate::syntax::{self, Aside, Expr, ExprKind, Item, ItemKind, Name, Qualifier, Stmt, StmtKind, words};
use crate::work::memory::look;
use std::ops::Range;
use tree_sitter::{Node, Tree};

/// Levels of the tree that are converted before a construct counts as nested too deeply.
const DEPTH: usize = 220;
/// Syntax errors that are reported one by one.
const REPORTED_ERRORS: usize = 20;

/// The reason of everything that the grammar could not read.
pub(super) const SYNTAX_ERROR: &str = "syntax error";
/// The reason of everything below the depth budget.
const NESTED_TOO_DEEPLY: &str = "nested too deeply";

/// What conversion collects.
#[derive(Debug, Default)]
pub(super) struct Converted {
    pub(super) items: Vec<Item>,
    pub(super) asides: Vec<Aside>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Number of syntax errors.
    pub(super) errors: usize,
    /// Whether the parser gave no tree at all.
    pub(super) parser_failed: bool,
    /// What stands for functions whose declarations could not be read, until the items around them are complete.
    unread: Vec<Item>,
}

/// Converts `tree`, the tree of `buffer`, and appends its items to `result`.
pub(super) fn convert(
    output: &Output,
    names: &Names,
    buffer: &Buffer,
    tree: &Tree,
    language: Language,
    result: &mut Converted,
) {
    let mut converter = Converter { output, names, buffer, language, depth: 0, result: Converted::default() };
    converter.result.errors = result.errors;
    let root = tree.root_node();
    let errors = result.errors;
    let items = converter.items(root);
    // A text of which nothing fits is one error node, whose children look whole.
    if root.has_error() && converter.result.errors == errors {
        let span = converter.span(first_error(root));
        converter.report(span, SYNTAX_ERROR);
        converter.result.items.push(Item { kind: ItemKind::Unsupported(SYNTAX_ERROR.to_owned()), span });
    }
    let found = converter.result;
    result.items.extend(items);
    result.items.extend(found.items);
    result.asides.extend(found.asides);
    result.diagnostics.extend(found.diagnostics);
    result.errors = found.errors;
}

/// What all parts of the conversion share.
struct Converter<'a> {
    output: &'a Output,
    names: &'a Names,
    buffer: &'a Buffer,
    language: Language,
    depth: usize,
    result: Converted,
}

impl<'a> Converter<'a> {
    /// Index of a node's first token.
    fn first(&self, node: Node<'_>) -> usize {
        self.buffer.token_at(node.start_byte())
    }

    /// Index of a node's last token.
    fn last(&self, node: Node<'_>) -> usize {
        self.buffer.token_at(node.end_byte().saturating_sub(1).max(node.start_byte()))
    }

    fn token(&self, at: usize) -> Option<&'a Token> {
        self.output.tokens.get(at)
    }

    /// The spelling of token `at`; empty if there is none.
    fn spelling(&self, at: usize) -> &'a str {
        self.token(at).map_or("", |token| self.output.text(token))
    }

    /// The spelling of a node's first token: of the whole node, if it is a leaf.
    fn word(&self, node: Node<'_>) -> &'a str {
        self.spelling(self.first(node))
    }

    /// What was emitted for a leaf.
    fn emitted(&self, node: Node<'_>) -> &'a str {
        self.buffer.text.get(node.byte_range()).unwrap_or("")
    }

    fn span(&self, node: Node<'_>) -> Span {
        self.span_of(self.first(node)..self.last(node) + 1)
    }

    fn span_of(&self, tokens: Range<usize>) -> Span {
        let first = self.token(tokens.start).map(|token| token.span);
        let last = self.token(tokens.end.saturating_sub(1)).map(|token| token.span);
        match (first, last) {
            (Some(first), Some(last)) => self.output.sources.join(first, last),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => self.output.tokens.last().map_or_else(|| self.nowhere(), |token| token.span),
        }
    }

    /// The start of the main file: only an empty text has no token.
    fn nowhere(&self) -> Span {
        let main = self.output.sources.files().next().map(|(id, _)| id);
        Span::new(main.unwrap_or(crate::arena::Handle::from_index(0)), 0, 0)
    }

    fn name(&self, node: Node<'_>) -> Name {
        Name { text: self.word(node).to_owned(), span: self.span(node) }
    }

    fn no_name(&self, node: Node<'_>) -> Name {
        let span = self.span(node);
        Name { text: String::new(), span: Span { end: span.start, ..span } }
    }

    /// Runs `convert` one level deeper; `None` beyond the budget.
    fn deeper<T>(&mut self, node: Node<'_>, convert: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= DEPTH {
            self.report(self.span(node), NESTED_TOO_DEEPLY);
            return None;
        }
        look();
        self.depth += 1;
        let result = convert(self);
        self.depth -= 1;
        Some(result)
    }

    /// Counts and reports what could not be read.
    fn report(&mut self, span: Span, message: &str) {
        self.result.errors += 1;
        if self.result.errors > REPORTED_ERRORS {
            return;
        }
        self.result.diagnostics.push(Diagnostic {
            rule: RuleId::Parse,
            severity: Severity::Warning,
            message: message.to_owned(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            notes: Vec::new(),
            fix: None,
            hidden: None,
        });
    }

    /// Whether the grammar failed at this very node or at one of its direct children.
    fn is_broken(node: Node<'_>) -> bool {
        if node.is_error() || node.is_missing() {
            return true;
        }
        if !node.has_error() {
            return false;
        }
        let mut cursor = node.walk();
        node.children(&mut cursor).any(|child| child.is_error() || child.is_missing())
    }

    fn syntax_error(&mut self, node: Node<'_>) -> StmtKind {
        self.report(self.span(node), SYNTAX_ERROR);
        StmtKind::Unsupported(SYNTAX_ERROR.to_owned())
    }

    fn stmt(&self, node: Node<'_>, kind: StmtKind) -> Stmt {
        Stmt { kind, span: self.span(node) }
    }

    fn unsupported(&self, node: Node<'_>, reason: &str) -> Expr {
        Expr { kind: ExprKind::Unsupported(reason.to_owned()), span: self.span(node) }
    }

    /// Keeps the names of the functions and members that `tokens` may declare and that could not be read
    /// for this reason.
    fn keep_unread(&mut self, tokens: Range<usize>, reason: &str) {
        let is_identifier = |at: usize| self.token(at).is_some_and(|token| token.kind == TokenKind::Identifier);
        let names = syntax::lost_functions(tokens.clone(), |at| self.spelling(at), is_identifier);
        let members = syntax::lost_members(tokens.clone(), |at| self.spelling(at), is_identifier);
        let whole = self.span_of(tokens);
        for name in names {
            let span = self.span_of(name.clone());
            let text = name.map(|at| self.spelling(at)).collect();
            self.result.unread.push(syntax::lost_function(Name { text, span }, reason, whole));
        }
        for names in members {
            let names = names.map(|at| Name { text: self.spelling(at).to_owned(), span: self.span_of(at..at + 1) });
            self.result.unread.push(syntax::lost_member(names, reason, whole));
        }
    }

    /// Whether the node is the placeholder of brackets that nest too deeply.
    fn is_too_deep(&self, node: Node<'_>) -> bool {
        self.emitted(node) == TOO_DEEP
    }

    /// The attributes that precede tokens of a range, as qualifiers.
    fn attributes(&mut self, tokens: Range<usize>) -> Vec<Qualifier> {
        let buffer = self.buffer;
        let first = buffer.attributes.partition_point(|attribute| attribute.before < tokens.start);
        let found = buffer.attributes[first..].iter().take_while(|attribute| attribute.before < tokens.end);
        found
            .map(|attribute| {
                let arguments = attribute.arguments.clone().map_or_else(Vec::new, |range| self.arguments_of(range));
                words::attribute(&attribute.name, arguments, self.language)
            })
            .collect()
    }

    /// The expressions in an attribute's parentheses, parsed for themselves.
    fn arguments_of(&mut self, range: Range<usize>) -> Vec<Expr> {
        if range.is_empty() {
            return Vec::new();
        }
        let mut buffer = super::rewrite::rewrite(self.output, range.clone(), self.names, self.language);
        buffer.enclose("int x = f(", ");");
        let Some(tree) = super::tree_of(&buffer.text) else { return Vec::new() };
        let mut inner = Converter {
            output: self.output,
            names: self.names,
            buffer: &buffer,
            language: self.language,
            depth: self.depth,
            result: Converted::default(),
        };
        let call = find_call(tree.root_node());
        match call.and_then(|call| call.child_by_field_name("arguments")) {
            Some(list) if !list.has_error() => inner.arguments(list),
            _ => {
                let span = self.span_of(range);
                vec![Expr { kind: ExprKind::Unsupported("attribute argument".into()), span }]
            }
        }
    }
}

/// The named children, comments apart.
fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

/// The named children of one kind.
fn children_of<'t>(node: Node<'t>, kind: &str) -> Vec<Node<'t>> {
    children(node).into_iter().filter(|child| child.kind() == kind).collect()
}

fn child_of<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| child.kind() == kind)
}

/// The innermost node, first in order, that holds an error.
fn first_error(root: Node<'_>) -> Node<'_> {
    let mut node = root;
    loop {
        let mut cursor = node.walk();
        let inner =
            node.children(&mut cursor).find(|child| child.is_error() || child.is_missing() || child.has_error());
        match inner {
            Some(inner) => node = inner,
            None => return node,
        }
    }
}

/// The first call below `node`, breadth first over few levels.
fn find_call(node: Node<'_>) -> Option<Node<'_>> {
    let mut level = vec![node];
    for _ in 0..4 {
        if let Some(&call) = level.iter().find(|node| node.kind() == "call_expression") {
            return Some(call);
        }
        level = level
            .iter()
            .flat_map(|node| (0..node.named_child_count()).filter_map(|at| node.named_child(at as u32)))
            .collect();
    }
    None
}
