//! Functions, methods, constructors.

use super::types::Declared;
use super::{Converter, child_of, children, children_of};
use crate::front::account;
use crate::source::Language;
use crate::syntax::{
    self, Binding, Function, Item, ItemKind, Name, Qualifier, Stmt, StmtKind, TemplateParam, TypeKind, words,
};
use tree_sitter::Node;

impl Converter<'_> {
    /// Constructors, destructors and conversions are declared without a type.
    pub(super) fn untyped_declaration(
        &mut self,
        node: Node<'_>,
        qualifiers: Vec<Qualifier>,
        template: Option<Vec<TemplateParam>>,
    ) -> Item {
        let Some(declarator) = node.child_by_field_name("declarator") else {
            return self.unsupported_item(node, "declaration that is not understood");
        };
        let function = self.untyped_function(node, declarator, qualifiers, template);
        Item { kind: function, span: self.span(node) }
    }

    fn untyped_function(
        &mut self,
        node: Node<'_>,
        declarator: Node<'_>,
        mut qualifiers: Vec<Qualifier>,
        template: Option<Vec<TemplateParam>>,
    ) -> ItemKind {
        let attributes = self.attributes(self.first(node)..self.first(declarator) + 1);
        qualifiers.extend(attributes);
        if declarator.kind() == "operator_cast" {
            return self.conversion(declarator, qualifiers, template);
        }
        let Some(function) = innermost_function(declarator) else {
            return ItemKind::Unsupported("conversion operator".into());
        };
        let (Some(name), Some(list)) =
            (function.child_by_field_name("declarator"), function.child_by_field_name("parameters"))
        else {
            return ItemKind::Unsupported("conversion operator".into());
        };
        ItemKind::Function(Box::new(Function {
            path: self.path(name),
            template,
            qualifiers,
            result: None,
            params: self.params(list),
            variadic: child_of(list, "...").is_some(),
            is_const: self.is_const(function),
            called_on: called_on(function),
            initializers: Vec::new(),
            body: None,
        }))
    }

    /// `operator T *`, of which the type begins at a token: a pointer or reference stands between it and the parentheses.
    pub(super) fn conversion_name(&self, first: usize) -> String {
        let words = (first..).map(|at| self.spelling(at)).take_while(|word| !matches!(*word, "(" | ""));
        format!("operator {}", words.collect::<Vec<_>>().join(" "))
    }

    /// `operator T *() const`, named by its words: `operator T *`.
    fn conversion(
        &mut self,
        node: Node<'_>,
        qualifiers: Vec<Qualifier>,
        template: Option<Vec<TemplateParam>>,
    ) -> ItemKind {
        let (Some(specifier), Some(declarator)) =
            (node.child_by_field_name("type"), node.child_by_field_name("declarator"))
        else {
            return ItemKind::Unsupported("conversion operator".into());
        };
        let mut base = self.type_specifier(specifier);
        base.qualifiers.extend(self.qualifiers(node));
        let qualifiers = self.specifiers_before(node, qualifiers);
        let name = Name { text: self.conversion_name(self.first(specifier)), span: self.span(specifier) };
        let TypeKind::Function(result, params) = self.fold(declarator, base).ty.kind else {
            return ItemKind::Unsupported("conversion operator".into());
        };
        let is_const = innermost_parameters(declarator).is_some_and(|function| self.is_const(function));
        ItemKind::Function(Box::new(Function {
            path: Self::simple_path(name),
            template,
            qualifiers,
            result: Some(*result),
            params,
            variadic: false,
            is_const,
            called_on: innermost_parameters(declarator).and_then(called_on),
            initializers: Vec::new(),
            body: None,
        }))
    }

    /// The specifiers of a conversion, with those that the grammar was not shown.
    fn specifiers_before(&self, operator: Node<'_>, mut shown: Vec<Qualifier>) -> Vec<Qualifier> {
        let before = (0..self.first(operator)).rev().map(|at| self.spelling(at));
        let mut hidden: Vec<&str> = before.take_while(|word| words::is_specifier_of_member(word)).collect();
        let same = |a: &Qualifier, b: &Qualifier| std::mem::discriminant(a) == std::mem::discriminant(b);
        hidden.retain(|word| matches!(*word, "__host__" | "__device__" | "constexpr"));
        for word in hidden.into_iter().rev() {
            let specifier = words::qualifier(word, Language::Cuda)
                .filter(|specifier| !shown.iter().any(|known| same(known, specifier)));
            shown.extend(specifier);
        }
        shown
    }

    fn is_const(&self, function: Node<'_>) -> bool {
        children_of(function, "type_qualifier").iter().any(|word| self.word(*word) == "const")
    }

    pub(super) fn function_item(
        &mut self,
        node: Node<'_>,
        declarator: Node<'_>,
        declared: Declared<'_>,
        qualifiers: Vec<Qualifier>,
        template: Option<Vec<TemplateParam>>,
    ) -> Item {
        let (Some(path), TypeKind::Function(result, params)) = (declared.path, declared.ty.kind) else {
            return self.unsupported_item(node, "function that is not understood");
        };
        let list = declarator.child_by_field_name("parameters");
        let mut qualifiers = qualifiers;
        let virtuals = children_of(declarator, "virtual_specifier");
        qualifiers.extend(virtuals.iter().filter_map(|word| words::qualifier(self.word(*word), Language::Cuda)));
        let is_volatile = children_of(declarator, "type_qualifier").iter().any(|word| self.word(*word) == "volatile");
        qualifiers.extend(is_volatile.then_some(Qualifier::Volatile));
        qualifiers.extend(words::of_function_type(&declared.ty.qualifiers));
        let function = Function {
            path,
            template,
            qualifiers,
            result: Some(*result),
            params,
            variadic: list.is_some_and(|list| child_of(list, "...").is_some()),
            is_const: self.is_const(declarator),
            called_on: called_on(declarator),
            initializers: Vec::new(),
            body: None,
        };
        Item { kind: ItemKind::Function(Box::new(function)), span: self.span(node) }
    }

    pub(super) fn function_definition(&mut self, node: Node<'_>, template: Option<Vec<TemplateParam>>) -> Item {
        let Some(declarator) = node.child_by_field_name("declarator") else {
            self.report(self.span(node), super::SYNTAX_ERROR);
            return self.unsupported_item(node, super::SYNTAX_ERROR);
        };
        let unread_head = Self::is_broken(node) || declarator.has_error();
        let mut broken = unread_head;
        let errors = self.result.errors;
        let mut qualifiers = self.qualifiers(node);
        let mut item = if let Some(specifier) = node.child_by_field_name("type") {
            qualifiers.extend(self.head_attributes(node, declarator));
            let mut base = self.type_specifier(specifier);
            base.qualifiers.extend(words::of_the_type(&qualifiers, self.language));
            let declared = self.fold(declarator, base);
            match declared.function {
                Some(function) => self.function_item(node, function, declared, qualifiers, template),
                None => self.unsupported_item(node, "function that is not understood"),
            }
        } else {
            let kind = self.untyped_function(node, declarator, qualifiers, template);
            Item { kind, span: self.span(node) }
        };
        if let ItemKind::Function(function) = &mut item.kind {
            function.initializers = self.initializers(node);
            function.body = self.function_body(node);
            function.qualifiers.extend(self.is_defaulted(node).then_some(Qualifier::Defaulted));
            broken |= node.has_error() && self.result.errors == errors;
            if broken {
                let kind = self.syntax_error(node);
                let broken = self.stmt(node, kind);
                function.body.get_or_insert_default().insert(0, broken);
            }
            let tokens = self.first(declarator)..self.last(node) + 1;
            account::settle(function, self.output, tokens, self.language);
            if unread_head && !function.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Kernel)) {
                syntax::mark_unread(function);
            }
        }
        if unread_head {
            let end = node.child_by_field_name("body").map_or_else(|| self.last(node) + 1, |body| self.first(body));
            self.keep_unread(self.first(node)..end, super::SYNTAX_ERROR);
        }
        item
    }

    /// Attributes of a function: before its parameters, and between them and its body.
    fn head_attributes(&mut self, node: Node<'_>, declarator: Node<'_>) -> Vec<Qualifier> {
        let params = innermost_function(declarator).and_then(|function| function.child_by_field_name("parameters"));
        let Some(params) = params else { return Vec::new() };
        let body = node.child_by_field_name("body").map_or_else(|| self.last(node) + 1, |body| self.first(body) + 1);
        let mut attributes = self.attributes(self.first(node)..self.first(params) + 1);
        attributes.extend(self.attributes(self.last(params) + 1..body));
        attributes
    }

    /// Whether `= default` or `= delete` stands in place of a body.
    fn is_defaulted(&self, node: Node<'_>) -> bool {
        let last = self.last(node);
        let word = if self.spelling(last) == ";" { last.saturating_sub(1) } else { last };
        matches!(self.spelling(word), "default" | "delete") && self.spelling(word.saturating_sub(1)) == "="
    }

    fn function_body(&mut self, node: Node<'_>) -> Option<Vec<Stmt>> {
        let body = match node.child_by_field_name("body") {
            Some(body) => body,
            // `= default` and `= 0` leave nothing to look at.
            None => child_of(node, "try_statement")?,
        };
        if body.kind() != "compound_statement" {
            return Some(vec![self.stmt(body, StmtKind::Unsupported("try block".into()))]);
        }
        let mut statements = self.block(body);
        if child_of(body, "}").is_none_or(|close| close.is_missing()) {
            let kind = self.syntax_error(body);
            statements.push(self.stmt(body, kind));
        }
        Some(statements)
    }

    fn initializers(&mut self, node: Node<'_>) -> Vec<(Name, Vec<crate::syntax::Expr>)> {
        let Some(list) = child_of(node, "field_initializer_list") else { return Vec::new() };
        let entries = children_of(list, "field_initializer");
        entries
            .into_iter()
            .filter_map(|entry| {
                let children = children(entry);
                let (&name, &values) = (children.first()?, children.last()?);
                let span = self.span(name);
                Some((Name { span, ..self.last_name(name) }, self.arguments(values)))
            })
            .collect()
    }
}

/// What a method may be called on, as the words behind its parameters say.
fn called_on(function: Node<'_>) -> Option<Binding> {
    let qualifier = child_of(function, "ref_qualifier")?;
    Some(if child_of(qualifier, "&&").is_some() { Binding::Rvalue } else { Binding::Lvalue })
}

/// The function declarator of a conversion, inside the pointers and references of its type.
fn innermost_parameters(declarator: Node<'_>) -> Option<Node<'_>> {
    let mut node = declarator;
    while node.kind() != "abstract_function_declarator" {
        node = node.child_by_field_name("declarator").or_else(|| children(node).last().copied())?;
    }
    Some(node)
}

/// The function declarator around the name, through pointers, references and parentheses.
pub(super) fn innermost_function(declarator: Node<'_>) -> Option<Node<'_>> {
    let mut node = declarator;
    let mut found = None;
    loop {
        if node.kind() == "function_declarator" {
            found = Some(node);
        }
        let inner = node.child_by_field_name("declarator").or_else(|| match node.kind() {
            "reference_declarator" | "parenthesized_declarator" | "attributed_declarator" => {
                node.named_child(node.named_child_count().saturating_sub(1) as u32)
            }
            _ => None,
        });
        match inner {
            Some(inner) => node = inner,
            None => return found,
        }
    }
}
