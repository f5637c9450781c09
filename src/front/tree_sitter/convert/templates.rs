//! Templates, their parameters, explicit instantiations.

use super::types::Declared;
use super::{Converter, child_of, children};
use crate::syntax::{Item, ItemKind, Path, Qualifier, TemplateParam, TemplateParamKind, TypeKind, words};
use tree_sitter::Node;

impl Converter<'_> {
    /// `template <…>` around a function, a record, an alias.
    pub(super) fn template(&mut self, node: Node<'_>, mut params: Vec<TemplateParam>) -> Vec<Item> {
        if let Some(list) = node.child_by_field_name("parameters") {
            params.extend(self.template_params(list));
        }
        if child_of(node, "requires_clause").is_some() {
            return vec![self.unsupported_item(node, "constrained template")];
        }
        let inner = children(node).into_iter().find(|child| {
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
            "template_declaration" => match self.deeper(inner, |this| this.template(inner, params)) {
                Some(items) => items,
                None => vec![self.unsupported_item(inner, super::NESTED_TOO_DEEPLY)],
            },
            "friend_declaration" => self.friend_template(inner, params),
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

    /// A friend function template that is defined here; a mere declaration adds nothing.
    fn friend_template(&mut self, node: Node<'_>, params: Vec<TemplateParam>) -> Vec<Item> {
        let Some(inner) = child_of(node, "function_definition") else { return Vec::new() };
        let mut item = self.function_definition(inner, Some(params));
        if let ItemKind::Function(function) = &mut item.kind {
            function.qualifiers.push(Qualifier::Friend);
        }
        vec![item]
    }

    pub(super) fn template_params(&mut self, list: Node<'_>) -> Vec<TemplateParam> {
        let params = children(list);
        params.into_iter().map(|param| self.template_param(param)).collect()
    }

    fn template_param(&mut self, node: Node<'_>) -> TemplateParam {
        let named =
            |this: &Self, name: Option<Node<'_>>| name.map_or_else(|| this.no_name(node), |name| this.name(name));
        match node.kind() {
            "type_parameter_declaration" | "variadic_type_parameter_declaration" => TemplateParam {
                name: named(self, children(node).first().copied()),
                kind: TemplateParamKind::Type(None),
                pack: node.kind() == "variadic_type_parameter_declaration",
            },
            "optional_type_parameter_declaration" => {
                let default = node.child_by_field_name("default_type").map(|ty| self.type_specifier(ty));
                let name = named(self, node.child_by_field_name("name"));
                TemplateParam { name, kind: TemplateParamKind::Type(default), pack: false }
            }
            "template_template_parameter_declaration" => {
                if let Some(inner) = child_of(node, "optional_type_parameter_declaration") {
                    let default = inner.child_by_field_name("default_type").map(|ty| self.type_specifier(ty));
                    let name = named(self, inner.child_by_field_name("name"));
                    return TemplateParam { name, kind: TemplateParamKind::Template(default), pack: false };
                }
                let inner = child_of(node, "type_parameter_declaration");
                let name = named(self, inner.and_then(|inner| children(inner).first().copied()));
                TemplateParam { name, kind: TemplateParamKind::Template(None), pack: false }
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
                base.qualifiers.extend(words::of_the_type(&qualifiers, self.language));
                let declared = match node.child_by_field_name("declarator") {
                    Some(declarator) if declarator.kind() == "variadic_declarator" => {
                        let path = children(declarator).first().map(|&name| self.path(name));
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
    pub(super) fn instantiation(&mut self, node: Node<'_>) -> Vec<Item> {
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

    /// `template class C<float>;`, of which the parser is not shown the first word.
    pub(super) fn instantiated(&mut self, node: Node<'_>) -> Option<Path> {
        let before = self.first(node).checked_sub(1)?;
        let is_one = self.spelling(before) == "template" && node.child_by_field_name("body").is_none();
        let name = node.child_by_field_name("name").filter(|_| is_one)?;
        Some(self.path(name))
    }
}
