//! Declarations: functions, variables, records, enumerations, templates, namespaces.

use super::Converter;
use super::types::Declared;
use crate::front::tree_sitter::rewrite::{CONSTRUCT, UNNAMED};
use crate::syntax::{
    Enum, Function, Init, Item, ItemKind, Name, Path, Qualifier, Record, Stmt, StmtKind, TemplateParam,
    TemplateParamKind, Type, TypeKind, Variable,
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
            let found = self.deeper(child, |this| this.item(child));
            items.extend(found.unwrap_or_else(|| vec![self.unsupported_item(child, super::NESTED_TOO_DEEPLY)]));
        }
        items
    }

    fn unsupported_item(&self, node: Node<'_>, reason: &str) -> Item {
        Item { kind: ItemKind::Unsupported(reason.to_owned()), span: self.span(node) }
    }

    fn one(&self, node: Node<'_>, kind: ItemKind) -> Vec<Item> {
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
            "struct_specifier" | "class_specifier" | "union_specifier" => {
                let record = self.record(node);
                self.one(node, ItemKind::Record(record))
            }
            "enum_specifier" => {
                let enumeration = self.enumeration(node);
                self.one(node, ItemKind::Enum(enumeration))
            }
            "friend_declaration" => {
                let inner = self.children(node).into_iter().filter(|it| matches!(it.kind(), "function_definition"));
                inner.collect::<Vec<_>>().into_iter().flat_map(|it| self.item(it)).collect()
            }
            "access_specifier" => Vec::new(),
            "expression_statement" if self.children(node).is_empty() => Vec::new(),
            "expression_statement" if self.children(node).first().is_some_and(|inner| self.is_too_deep(*inner)) => {
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
        let mut names: Vec<Name> = Vec::new();
        if let Some(name) = name {
            for at in self.first(name)..=self.last(name) {
                if !matches!(self.spelling(at), "::" | "inline") {
                    names.push(Name { text: self.spelling(at).to_owned(), span: self.span_of(at..at + 1) });
                }
            }
        }
        let innermost = names.pop().unwrap_or_else(|| self.no_name(node));
        let mut item = Item { kind: ItemKind::Namespace { name: innermost, items }, span };
        while let Some(name) = names.pop() {
            item = Item { kind: ItemKind::Namespace { name, items: vec![item] }, span };
        }
        item
    }

    fn using(&mut self, node: Node<'_>) -> Vec<Item> {
        let children = self.children(node);
        let Some(&target) = children.iter().find(|child| matches!(child.kind(), "identifier" | "qualified_identifier"))
        else {
            return vec![self.unsupported_item(node, "using declaration that is not understood")];
        };
        let path = self.path(target);
        if self.child_of(node, "namespace").is_some() {
            return self.one(node, ItemKind::UsingNamespace(path));
        }
        match path.segments.last() {
            Some(last) if self.child_of(node, "enum").is_none() => {
                let name = last.name.clone();
                self.one(node, ItemKind::UsingName { name, path })
            }
            _ => vec![self.unsupported_item(node, "using enum")],
        }
    }

    fn namespace_alias(&mut self, node: Node<'_>) -> Vec<Item> {
        let children = self.children(node);
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

    fn alias(&mut self, node: Node<'_>, template: Vec<TemplateParam>) -> Item {
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
        base.qualifiers.extend(self.of_the_type(&qualifiers));
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
                base = Type { kind: TypeKind::Named(self.simple_path(segment.name.clone())), ..base };
            }
            let kind = ItemKind::Alias { name: segment.name, template: Vec::new(), ty: declared.ty };
            items.push(Item { kind, span: self.span(node) });
        }
        items
    }

    /// `template <…>` around a function, a record, an alias.
    fn template(&mut self, node: Node<'_>, mut params: Vec<TemplateParam>) -> Vec<Item> {
        if let Some(list) = node.child_by_field_name("parameters") {
            params.extend(self.template_params(list));
        }
        if self.child_of(node, "requires_clause").is_some() {
            return vec![self.unsupported_item(node, "constrained template")];
        }
        let inner = self.children(node).into_iter().find(|child| {
            matches!(
                child.kind(),
                "function_definition"
                    | "declaration"
                    | "alias_declaration"
                    | "template_declaration"
                    | "struct_specifier"
                    | "class_specifier"
                    | "union_specifier"
                    | "friend_declaration"
            )
        });
        let Some(inner) = inner else {
            return vec![self.unsupported_item(node, "template that is not understood")];
        };
        let mut items = match inner.kind() {
            "function_definition" => vec![self.function_definition(inner, Some(params))],
            "declaration" => self.declaration(inner, Some(params)),
            "alias_declaration" => vec![self.alias(inner, params)],
            "template_declaration" => self.template(inner, params),
            "friend_declaration" => Vec::new(),
            _ => {
                let mut record = self.record(inner);
                record.template = Some(params);
                self.one(inner, ItemKind::Record(record))
            }
        };
        if let [only] = items.as_mut_slice() {
            only.span = self.span(node);
        }
        items
    }

    fn template_params(&mut self, list: Node<'_>) -> Vec<TemplateParam> {
        let params = self.children(list);
        params.into_iter().map(|param| self.template_param(param)).collect()
    }

    fn template_param(&mut self, node: Node<'_>) -> TemplateParam {
        let named =
            |this: &Self, name: Option<Node<'_>>| name.map_or_else(|| this.no_name(node), |name| this.name(name));
        match node.kind() {
            "type_parameter_declaration" | "variadic_type_parameter_declaration" => TemplateParam {
                name: named(self, self.children(node).first().copied()),
                kind: TemplateParamKind::Type(None),
                pack: node.kind() == "variadic_type_parameter_declaration",
            },
            "optional_type_parameter_declaration" => {
                let default = node.child_by_field_name("default_type").map(|ty| self.type_specifier(ty));
                let name = named(self, node.child_by_field_name("name"));
                TemplateParam { name, kind: TemplateParamKind::Type(default), pack: false }
            }
            "template_template_parameter_declaration" => {
                let inner = self.child_of(node, "type_parameter_declaration");
                let name = named(self, inner.and_then(|inner| self.children(inner).first().copied()));
                TemplateParam { name, kind: TemplateParamKind::Template, pack: false }
            }
            _ => {
                let Some(specifier) = node.child_by_field_name("type") else {
                    let ty = self.unsupported_type(node, super::SYNTAX_ERROR);
                    return TemplateParam {
                        name: self.no_name(node),
                        kind: TemplateParamKind::Value(ty, None),
                        pack: false,
                    };
                };
                let mut base = self.type_specifier(specifier);
                let qualifiers = self.qualifiers(node);
                base.qualifiers.extend(self.of_the_type(&qualifiers));
                let declared = match node.child_by_field_name("declarator") {
                    Some(declarator) if declarator.kind() == "variadic_declarator" => {
                        let path = self.children(declarator).first().map(|&name| self.path(name));
                        Declared { path, ty: base, function: None }
                    }
                    Some(declarator) => self.fold(declarator, base),
                    None => Declared { path: None, ty: base, function: None },
                };
                let default = self.optional_expr(node.child_by_field_name("default_value"));
                let name = declared.path.and_then(|mut path| path.segments.pop()).map(|segment| segment.name);
                TemplateParam {
                    name: name.unwrap_or_else(|| self.no_name(node)),
                    kind: TemplateParamKind::Value(declared.ty, default),
                    pack: node.kind() == "variadic_parameter_declaration",
                }
            }
        }
    }

    /// `template __global__ void k<float>(float *);`
    fn instantiation(&mut self, node: Node<'_>) -> Vec<Item> {
        let base = match node.child_by_field_name("type") {
            Some(specifier) => self.type_specifier(specifier),
            None => self.unsupported_type(node, "instantiation without a type"),
        };
        let Some(declarator) = node.child_by_field_name("declarator") else {
            return vec![self.unsupported_item(node, super::SYNTAX_ERROR)];
        };
        let declared = self.fold(declarator, base);
        match (declared.path, declared.ty.kind) {
            (Some(path), TypeKind::Function(_, params)) => {
                self.one(node, ItemKind::ExplicitInstantiation { path, params })
            }
            _ => vec![self.unsupported_item(node, "instantiation that is not understood")],
        }
    }

    pub(super) fn enumeration(&mut self, node: Node<'_>) -> Enum {
        let scoped = self.child_of(node, "class").or_else(|| self.child_of(node, "struct")).is_some();
        let name = match node.child_by_field_name("name") {
            Some(name) => self.last_name(name),
            None => self.no_name(node),
        };
        let underlying = node.child_by_field_name("base").map(|base| self.type_specifier(base));
        let enumerators = node.child_by_field_name("body").map(|body| self.children_of(body, "enumerator"));
        let constants = enumerators
            .unwrap_or_default()
            .into_iter()
            .map(|enumerator| {
                let name =
                    enumerator.child_by_field_name("name").map_or_else(|| self.no_name(enumerator), |it| self.name(it));
                (name, self.optional_expr(enumerator.child_by_field_name("value")))
            })
            .collect();
        Enum { name, scoped, underlying, constants }
    }

    fn last_name(&mut self, node: Node<'_>) -> Name {
        let mut path = self.path(node);
        path.segments.pop().map_or_else(|| self.no_name(node), |segment| segment.name)
    }

    pub(super) fn record(&mut self, node: Node<'_>) -> Record {
        let mut specialization = None;
        let name = match node.child_by_field_name("name") {
            Some(name) => {
                let mut path = self.path(name);
                match path.segments.pop() {
                    Some(segment) => {
                        specialization = segment.args;
                        segment.name
                    }
                    None => self.no_name(node),
                }
            }
            None => self.no_name(node),
        };
        let body = node.child_by_field_name("body");
        let head_end = body.map_or_else(|| self.last(node) + 1, |body| self.first(body) + 1);
        let mut qualifiers = self.attributes(self.first(node)..head_end);
        if body.is_some() {
            qualifiers.extend(self.attributes_behind(self.last(node)));
        }
        let bases = match self.child_of(node, "base_class_clause") {
            Some(clause) => {
                let named = |kind: &str| matches!(kind, "type_identifier" | "template_type" | "qualified_identifier");
                let bases: Vec<Node<'_>> = self.children(clause).into_iter().filter(|it| named(it.kind())).collect();
                bases.into_iter().map(|base| self.type_specifier(base)).collect()
            }
            None => Vec::new(),
        };
        let is_union = node.kind() == "union_specifier";
        let members = body.map(|body| self.items(body));
        Record { name, is_union, template: None, specialization, qualifiers, bases, members }
    }

    /// Attributes written directly behind token `last`: `struct { … } __attribute__((packed))`.
    fn attributes_behind(&mut self, last: usize) -> Vec<Qualifier> {
        let follows = self.buffer.attributes.iter().any(|attribute| attribute.tokens.start == last + 1);
        if follows { self.attributes(last + 1..last + 2 + self.skipped_behind(last)) } else { Vec::new() }
    }

    /// How many tokens of attributes follow token `last`.
    fn skipped_behind(&self, last: usize) -> usize {
        let mut end = last + 1;
        while let Some(attribute) = self.buffer.attributes.iter().find(|attribute| attribute.tokens.start == end) {
            end = attribute.tokens.end;
        }
        end - last - 1
    }

    /// Variables, fields, and functions without a body, one item for the variables of one declaration.
    fn declaration(&mut self, node: Node<'_>, template: Option<Vec<TemplateParam>>) -> Vec<Item> {
        let span = self.span(node);
        let mut qualifiers = self.qualifiers(node);
        let Some(specifier) = node.child_by_field_name("type") else {
            return vec![self.untyped_declaration(node, qualifiers, template)];
        };
        let parts = self.declarators(node);
        let mut items = Vec::new();
        let mut base = self.type_specifier(specifier);
        if parts.is_empty() {
            return self.bare_declaration(node, base, template);
        }
        let attributes = self.declaration_attributes(node, specifier, &parts);
        qualifiers.extend(attributes);
        base.qualifiers.extend(self.of_the_type(&qualifiers));
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
            let name = path.and_then(|mut path| path.segments.pop()).map(|segment| segment.name);
            variables.push(Variable {
                name: name.unwrap_or_else(|| self.no_name(part.declarator)),
                ty: declared.ty,
                qualifiers: qualifiers.clone(),
                init: part.value.map(|value| self.init(value, part.equals)),
                bits: part.bits.and_then(|bits| self.bits(bits)),
                span: self.span(part.declarator),
            });
        }
        if !variables.is_empty() {
            let kind = match template {
                // A variable template: nothing that a kernel needs often enough to model.
                Some(_) => ItemKind::Unsupported("variable template".into()),
                None => ItemKind::Variables(variables),
            };
            items.push(Item { kind, span });
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
                let bits = self.child_of(node, "bitfield_clause").and_then(|bits| self.bits(bits));
                if bits.is_none() {
                    return Vec::new();
                }
                let ty = Type { kind, ..base };
                ItemKind::Variables(vec![Variable { name, ty, qualifiers: Vec::new(), init: None, bits, span }])
            }
        };
        vec![Item { kind, span }]
    }

    /// Constructors, destructors and conversions are declared without a type.
    fn untyped_declaration(
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
            variadic: self.child_of(list, "...").is_some(),
            is_const: self.is_const(function),
            initializers: Vec::new(),
            body: None,
        }))
    }

    fn is_const(&self, function: Node<'_>) -> bool {
        self.children_of(function, "type_qualifier").iter().any(|word| self.word(*word) == "const")
    }

    fn function_item(
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
        let virtuals = self.children_of(declarator, "virtual_specifier");
        qualifiers.extend(virtuals.first().map(|_| Qualifier::Virtual));
        let function = Function {
            path,
            template,
            qualifiers,
            result: Some(*result),
            params,
            variadic: list.is_some_and(|list| self.child_of(list, "...").is_some()),
            is_const: self.is_const(declarator),
            initializers: Vec::new(),
            body: None,
        };
        Item { kind: ItemKind::Function(Box::new(function)), span: self.span(node) }
    }

    fn function_definition(&mut self, node: Node<'_>, template: Option<Vec<TemplateParam>>) -> Item {
        let Some(declarator) = node.child_by_field_name("declarator") else {
            self.report(self.span(node), super::SYNTAX_ERROR);
            return self.unsupported_item(node, super::SYNTAX_ERROR);
        };
        let broken_head = Self::is_broken(node) || declarator.has_error();
        let mut qualifiers = self.qualifiers(node);
        let mut item = match node.child_by_field_name("type") {
            Some(specifier) => {
                qualifiers.extend(self.head_attributes(node, declarator));
                let mut base = self.type_specifier(specifier);
                base.qualifiers.extend(self.of_the_type(&qualifiers));
                let declared = self.fold(declarator, base);
                match declared.function {
                    Some(function) => self.function_item(node, function, declared, qualifiers, template),
                    None => self.unsupported_item(node, "function that is not understood"),
                }
            }
            None => {
                let kind = self.untyped_function(node, declarator, qualifiers, template);
                Item { kind, span: self.span(node) }
            }
        };
        if let ItemKind::Function(function) = &mut item.kind {
            function.initializers = self.initializers(node);
            function.body = self.function_body(node);
            if broken_head {
                let kind = self.syntax_error(node);
                let broken = self.stmt(node, kind);
                function.body.get_or_insert_default().insert(0, broken);
            }
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

    fn function_body(&mut self, node: Node<'_>) -> Option<Vec<Stmt>> {
        let body = match node.child_by_field_name("body") {
            Some(body) => body,
            // `= default` and `= 0` leave nothing to look at.
            None => self.child_of(node, "try_statement")?,
        };
        if body.kind() != "compound_statement" {
            return Some(vec![self.stmt(body, StmtKind::Unsupported("try block".into()))]);
        }
        let mut statements = self.block(body);
        if self.child_of(body, "}").is_none_or(|close| close.is_missing()) {
            let kind = self.syntax_error(body);
            statements.push(self.stmt(body, kind));
        }
        Some(statements)
    }

    fn initializers(&mut self, node: Node<'_>) -> Vec<(Name, Vec<crate::syntax::Expr>)> {
        let Some(list) = self.child_of(node, "field_initializer_list") else { return Vec::new() };
        let entries = self.children_of(list, "field_initializer");
        entries
            .into_iter()
            .filter_map(|entry| {
                let children = self.children(entry);
                let (&name, &values) = (children.first()?, children.last()?);
                Some((self.last_name(name), self.arguments(values)))
            })
            .collect()
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
    fn declarators<'t>(&self, node: Node<'t>) -> Vec<Part<'t>> {
        let mut parts: Vec<Part<'t>> = Vec::new();
        let mut cursor = node.walk();
        let mut more = cursor.goto_first_child();
        while more {
            let child = cursor.node();
            match cursor.field_name() {
                Some("declarator") if child.kind() == "init_declarator" => parts.extend(self.init_declarator(child)),
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

    fn init_declarator<'t>(&self, node: Node<'t>) -> Option<Part<'t>> {
        let equals = if self.child_of(node, "=").is_some() { Equals::Written } else { Equals::Absent };
        let declarator = node.child_by_field_name("declarator")?;
        Some(Part { declarator, value: node.child_by_field_name("value"), equals, bits: None })
    }

    fn init(&mut self, value: Node<'_>, equals: Equals) -> Init {
        match (value.kind(), equals) {
            ("argument_list", _) => Init::Call(self.arguments(value)),
            ("initializer_list", Equals::Absent) => Init::List(self.arguments(value)),
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

/// The function declarator around the name, through pointers, references and parentheses.
fn innermost_function(declarator: Node<'_>) -> Option<Node<'_>> {
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
