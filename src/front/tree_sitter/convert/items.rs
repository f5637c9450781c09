//! Declarations: functions, variables, records, enumerations, templates, namespaces.

use super::functions::innermost_function;
use super::{Converter, child_of, children};
use crate::front::tree_sitter::rewrite::{CONSTRUCT, UNNAMED};
use crate::source::Language;
use crate::syntax::{
    self, Init, Item, ItemKind, Name, Path, Qualifier, Record, TemplateParam, Type, TypeKind, Variable, words,
};
use tree_sitter::Node;

impl Converter<'_> {
    /// The items of a translation unit, a namespace or a record.
    pub(super) fn items(&mut self, node: Node<'_>) -> Vec<Item> {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node
            .children(&mut cursor)
            .filter(|child| child.kind() != "comment" && (child.is_named() || child.is_error() || child.is_missing()))
            .collect();
        let mut items = Vec::new();
        for child in children {
            let errors = self.result.errors;
            let before = items.len();
            let found = self.deeper(child, |this| this.item(child));
            items.extend(found.unwrap_or_else(|| vec![self.unsupported_item(child, super::NESTED_TOO_DEEPLY)]));
            // The net below all nets: no error of the grammar may pass unseen.
            if child.has_error() && self.result.errors == errors {
                self.report(self.span(child), super::SYNTAX_ERROR);
                items.push(self.unsupported_item(child, super::SYNTAX_ERROR));
            }
            let unsupported = items[before..].iter().rev().find_map(|item| match &item.kind {
                ItemKind::Unsupported(reason) => Some(reason.clone()),
                _ => None,
            });
            if let Some(reason) = unsupported {
                self.keep_unread(self.first(child)..self.last(child) + 1, &reason);
            }
            items.append(&mut self.result.unread);
        }
        items
    }

    pub(super) fn unsupported_item(&self, node: Node<'_>, reason: &str) -> Item {
        Item { kind: ItemKind::Unsupported(reason.to_owned()), span: self.span(node) }
    }

    pub(super) fn one(&self, node: Node<'_>, kind: ItemKind) -> Vec<Item> {
        vec![Item { kind, span: self.span(node) }]
    }

    /// The items that one node declares.
    pub(super) fn item(&mut self, node: Node<'_>) -> Vec<Item> {
        if Self::is_broken(node) && node.kind() != "function_definition" {
            self.report(self.span(node), super::SYNTAX_ERROR);
            return vec![self.unsupported_item(node, super::SYNTAX_ERROR)];
        }
        match node.kind() {
            "function_definition" => vec![self.function_definition(node, None)],
            "declaration" | "field_declaration" => self.declaration(node, None),
            "type_definition" => self.typedef(node),
            "alias_declaration" => vec![self.alias(node, Vec::new())],
            "template_declaration" => self.template(node, Vec::new()),
            "template_instantiation" => self.instantiation(node),
            "namespace_definition" | "linkage_specification" => vec![self.namespace(node)],
            "using_declaration" => self.using(node),
            "namespace_alias_definition" => self.namespace_alias(node),
            "static_assert_declaration" => {
                let condition = node.child_by_field_name("condition").map(|condition| self.expr(condition));
                match condition {
                    Some(condition) => self.one(node, ItemKind::StaticAssert(condition)),
                    None => vec![self.unsupported_item(node, super::SYNTAX_ERROR)],
                }
            }
            "struct_specifier" | "class_specifier" | "union_specifier" => match self.instantiated(node) {
                Some(path) => self.one(node, ItemKind::RecordInstantiation(path)),
                None => {
                    let record = self.record(node);
                    self.one(node, ItemKind::Record(record))
                }
            },
            "enum_specifier" => {
                let enumeration = self.enumeration(node);
                self.one(node, ItemKind::Enum(enumeration))
            }
            "friend_declaration" => {
                let inner = children(node).into_iter().filter(|it| matches!(it.kind(), "function_definition"));
                let mut items: Vec<Item> = inner.collect::<Vec<_>>().into_iter().flat_map(|it| self.item(it)).collect();
                // Specifiers before `friend` were kept from the grammar.
                let first = self.first(node);
                let start = (0..first).rev().take_while(|&at| words::is_specifier_of_member(self.spelling(at))).last();
                let before = (start.unwrap_or(first)..first)
                    .filter_map(|at| words::qualifier(self.spelling(at), Language::Cuda));
                let before: Vec<Qualifier> = before.collect();
                for item in &mut items {
                    if let ItemKind::Function(function) = &mut item.kind {
                        function.qualifiers.splice(0..0, before.iter().cloned());
                        function.qualifiers.push(Qualifier::Friend);
                    }
                }
                items
            }
            "access_specifier" => Vec::new(),
            "expression_statement" if children(node).is_empty() => Vec::new(),
            "expression_statement" if children(node).first().is_some_and(|inner| self.is_too_deep(*inner)) => {
                self.report(self.span(node), super::NESTED_TOO_DEEPLY);
                vec![self.unsupported_item(node, super::NESTED_TOO_DEEPLY)]
            }
            "expression_statement" => vec![self.unsupported_item(node, "expression outside a function")],
            "concept_definition" => vec![self.unsupported_item(node, "concept")],
            _ => vec![self.unsupported_item(node, "declaration that is not understood")],
        }
    }

    /// `extern "C" …` and `namespace a::b { … }`.
    fn namespace(&mut self, node: Node<'_>) -> Item {
        let span = self.span(node);
        let items = match node.child_by_field_name("body") {
            Some(body) if body.kind() == "declaration_list" => self.items(body),
            Some(body) => self.item(body),
            None => Vec::new(),
        };
        let name = node.child_by_field_name("name");
        let mut names: Vec<(Name, bool)> = Vec::new();
        if let Some(name) = name {
            // The word is none for the grammar.
            let mut inline = self.first(node) > 0 && self.spelling(self.first(node) - 1) == "inline";
            for at in self.first(name)..=self.last(name) {
                match self.spelling(at) {
                    "::" => inline = false,
                    "inline" => inline = true,
                    text => {
                        let name = Name { text: text.to_owned(), span: self.span_of(at..at + 1) };
                        names.push((name, inline));
                    }
                }
            }
        }
        if names.len() > 64 {
            self.report(span, super::NESTED_TOO_DEEPLY);
            return self.unsupported_item(node, super::NESTED_TOO_DEEPLY);
        }
        let (name, inline) = names.pop().unwrap_or_else(|| (self.no_name(node), false));
        let mut item = Item { kind: ItemKind::Namespace { name, inline, items }, span };
        while let Some((name, inline)) = names.pop() {
            item = Item { kind: ItemKind::Namespace { name, inline, items: vec![item] }, span };
        }
        item
    }

    fn using(&mut self, node: Node<'_>) -> Vec<Item> {
        let children = children(node);
        let Some(&target) = children.iter().find(|child| matches!(child.kind(), "identifier" | "qualified_identifier"))
        else {
            return vec![self.unsupported_item(node, "using declaration that is not understood")];
        };
        let path = self.path(target);
        if child_of(node, "namespace").is_some() {
            return self.one(node, ItemKind::UsingNamespace(path));
        }
        match path.segments.last() {
            Some(last) if child_of(node, "enum").is_none() => {
                let name = last.name.clone();
                self.one(node, ItemKind::UsingName { name, path })
            }
            _ => vec![self.unsupported_item(node, "using enum")],
        }
    }

    fn namespace_alias(&mut self, node: Node<'_>) -> Vec<Item> {
        let children = children(node);
        let (Some(&first), Some(&last)) = (children.first(), children.last()) else {
            return vec![self.unsupported_item(node, super::SYNTAX_ERROR)];
        };
        let name = self.name(first);
        let mut path = Path { global: false, segments: Vec::new() };
        for at in self.first(last)..=self.last(last) {
            match self.spelling(at) {
                "::" => path.global |= path.segments.is_empty(),
                text => {
                    let name = Name { text: text.to_owned(), span: self.span_of(at..at + 1) };
                    path.segments.push(crate::syntax::PathSegment { name, args: None });
                }
            }
        }
        self.one(node, ItemKind::UsingName { name, path })
    }

    pub(super) fn alias(&mut self, node: Node<'_>, template: Vec<TemplateParam>) -> Item {
        let (Some(name), Some(ty)) = (node.child_by_field_name("name"), node.child_by_field_name("type")) else {
            return self.unsupported_item(node, super::SYNTAX_ERROR);
        };
        let kind = ItemKind::Alias { name: self.name(name), template, ty: self.type_descriptor(ty) };
        Item { kind, span: self.span(node) }
    }

    fn typedef(&mut self, node: Node<'_>) -> Vec<Item> {
        let Some(specifier) = node.child_by_field_name("type") else {
            return vec![self.unsupported_item(node, super::SYNTAX_ERROR)];
        };
        let mut base = self.type_specifier(specifier);
        let qualifiers = self.qualifiers(node);
        base.qualifiers.extend(words::of_the_type(&qualifiers, self.language));
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node.children_by_field_name("declarator", &mut cursor).collect();
        let mut items = Vec::new();
        for declarator in declarators {
            let declared = self.fold(declarator, base.clone());
            let Some(segment) = declared.path.and_then(|mut path| path.segments.pop()) else {
                items.push(self.unsupported_item(declarator, "typedef that is not understood"));
                continue;
            };
            // A record is defined once, by the first name.
            if let Some(named) = reference_to(&base) {
                base = named;
            } else if matches!(declared.ty.kind, TypeKind::Record(_) | TypeKind::Enum(_)) {
                base = Type { kind: TypeKind::Named(Self::simple_path(segment.name.clone())), ..base };
            }
            let kind = ItemKind::Alias { name: segment.name, template: Vec::new(), ty: declared.ty };
            items.push(Item { kind, span: self.span(node) });
        }
        items
    }

    pub(super) fn last_name(&mut self, node: Node<'_>) -> Name {
        let mut path = self.path(node);
        path.segments.pop().map_or_else(|| self.no_name(node), |segment| segment.name)
    }

    /// Variables, fields, and functions without a body, one item for the variables of one declaration.
    pub(super) fn declaration(&mut self, node: Node<'_>, template: Option<Vec<TemplateParam>>) -> Vec<Item> {
        let span = self.span(node);
        let mut qualifiers = self.qualifiers(node);
        let Some(specifier) = node.child_by_field_name("type") else {
            return vec![self.untyped_declaration(node, qualifiers, template)];
        };
        let parts = Self::declarators(node);
        let mut items = Vec::new();
        let mut base = self.type_specifier(specifier);
        if parts.is_empty() {
            return self.bare_declaration(node, base, template);
        }
        let attributes = self.declaration_attributes(node, specifier, &parts);
        qualifiers.extend(attributes);
        base.qualifiers.extend(words::of_the_type(&qualifiers, self.language));
        let mut variables = Vec::new();
        for part in parts {
            let declared = self.fold(part.declarator, base.clone());
            if let Some(named) = reference_to(&base) {
                base = named;
            }
            if let Some(function) = declared.function {
                let item = self.function_item(node, function, declared, qualifiers.clone(), template.clone());
                items.push(item);
                continue;
            }
            let unnamed = self.emitted(part.declarator) == UNNAMED;
            let path = declared.path.filter(|_| !unnamed);
            let (ty, template) = syntax::of_variable_template(declared.ty, template.as_deref(), path.as_ref());
            let mut outer = path.map(|path| path.segments).unwrap_or_default();
            let name = outer.pop().map(|segment| segment.name);
            variables.push(Variable {
                name: name.unwrap_or_else(|| self.no_name(part.declarator)),
                outer,
                ty,
                template,
                qualifiers: qualifiers.clone(),
                init: part.value.map(|value| self.init(value, part.equals)),
                bits: part.bits.and_then(|bits| self.bits(bits)),
                span: self.span(part.declarator),
            });
        }
        if !variables.is_empty() {
            items.push(Item { kind: ItemKind::Variables(variables), span });
        }
        items
    }

    /// A type alone: a record or an enumeration, an anonymous member, an unnamed bit-field.
    fn bare_declaration(&mut self, node: Node<'_>, base: Type, template: Option<Vec<TemplateParam>>) -> Vec<Item> {
        let span = self.span(node);
        let kind = match base.kind {
            TypeKind::Record(record) => ItemKind::Record(Record { template, ..*record }),
            TypeKind::Enum(enumeration) => ItemKind::Enum(*enumeration),
            kind => {
                let name = self.no_name(node);
                let bits = child_of(node, "bitfield_clause").and_then(|bits| self.bits(bits));
                if bits.is_none() {
                    return Vec::new();
                }
                let ty = Type { kind, ..base };
                ItemKind::Variables(vec![Variable {
                    name,
                    outer: Vec::new(),
                    ty,
                    template: Vec::new(),
                    qualifiers: Vec::new(),
                    init: None,
                    bits,
                    span,
                }])
            }
        };
        vec![Item { kind, span }]
    }

    /// Attributes of a declaration, those inside a record's body or a parameter list apart.
    fn declaration_attributes(&mut self, node: Node<'_>, specifier: Node<'_>, parts: &[Part<'_>]) -> Vec<Qualifier> {
        let inside = specifier.child_by_field_name("body").is_some();
        let mut attributes = Vec::new();
        let mut from = self.first(node);
        if inside {
            attributes.extend(self.attributes(from..self.first(specifier)));
            from = self.last(specifier) + 2 + self.skipped_behind(self.last(specifier));
        }
        for part in parts {
            let Some(list) = innermost_function(part.declarator).and_then(|it| it.child_by_field_name("parameters"))
            else {
                continue;
            };
            attributes.extend(self.attributes(from..self.first(list) + 1));
            from = self.last(list) + 1;
        }
        attributes.extend(self.attributes(from..self.last(node) + 1));
        attributes
    }

    /// The declarators of a declaration with what belongs to each.
    fn declarators(node: Node<'_>) -> Vec<Part<'_>> {
        let mut parts: Vec<Part<'_>> = Vec::new();
        let mut cursor = node.walk();
        let mut more = cursor.goto_first_child();
        while more {
            let child = cursor.node();
            match cursor.field_name() {
                Some("declarator") if child.kind() == "init_declarator" => parts.extend(Self::init_declarator(child)),
                Some("declarator") if child.is_named() && child.kind() != "gnu_asm_expression" => {
                    parts.push(Part { declarator: child, value: None, equals: Equals::Absent, bits: None });
                }
                Some("default_value" | "value") => {
                    if let Some(part) = parts.last_mut() {
                        part.value = Some(child);
                    }
                }
                _ if child.kind() == "=" => {
                    if let Some(part) = parts.last_mut() {
                        part.equals = Equals::Written;
                    }
                }
                _ if child.kind() == "bitfield_clause" => {
                    if let Some(part) = parts.last_mut() {
                        part.bits = Some(child);
                    }
                }
                _ => {}
            }
            more = cursor.goto_next_sibling();
        }
        parts
    }

    fn init_declarator(node: Node<'_>) -> Option<Part<'_>> {
        let equals = if child_of(node, "=").is_some() { Equals::Written } else { Equals::Absent };
        let declarator = node.child_by_field_name("declarator")?;
        Some(Part { declarator, value: node.child_by_field_name("value"), equals, bits: None })
    }

    fn init(&mut self, value: Node<'_>, equals: Equals) -> Init {
        match (value.kind(), equals) {
            ("argument_list", _) => Init::Call(self.arguments(value)),
            ("initializer_list", Equals::Absent) if child_of(value, "initializer_pair").is_none() => {
                Init::List(self.arguments(value))
            }
            ("call_expression", _) if self.is_construction(value) => {
                let list = value.child_by_field_name("arguments");
                Init::Call(list.map(|list| self.arguments(list)).unwrap_or_default())
            }
            _ => Init::Value(self.expr(value)),
        }
    }

    /// Whether the value is the placeholder call that stands for `T name(…)`.
    fn is_construction(&self, value: Node<'_>) -> bool {
        value.child_by_field_name("function").is_some_and(|it| self.emitted(it) == CONSTRUCT)
    }
}

/// One declarator of a declaration.
struct Part<'t> {
    declarator: Node<'t>,
    value: Option<Node<'t>>,
    equals: Equals,
    bits: Option<Node<'t>>,
}

/// Whether `=` stands before an initialiser.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Equals {
    Written,
    Absent,
}

/// For a record or enumeration that was just defined: the type that names it.
fn reference_to(base: &Type) -> Option<Type> {
    let name = match &base.kind {
        TypeKind::Record(record) if !record.name.text.is_empty() => record.name.clone(),
        TypeKind::Enum(enumeration) if !enumeration.name.text.is_empty() => enumeration.name.clone(),
        _ => return None,
    };
    let segments = vec![crate::syntax::PathSegment { name, args: None }];
    Some(Type { kind: TypeKind::Named(Path { global: false, segments }), ..base.clone() })
}
