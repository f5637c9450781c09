//! Types and declarators.
//!
//! A C declaration is a type specifier and declarators around names; [`Declared`] is one of them with the
//! declarator folded into the type.

use super::{Converter, child_of, children};
use crate::syntax::{Binding, Expr, Param, Path, PathSegment, Qualifier, Type, TypeKind, words};
use tree_sitter::Node;

/// A declarator folded into a type.
pub(super) struct Declared<'t> {
    /// The declared name; `None` for an abstract declarator.
    pub(super) path: Option<Path>,
    pub(super) ty: Type,
    /// The function declarator directly around the name, if the declarator declares a function.
    pub(super) function: Option<Node<'t>>,
}

impl Converter<'_> {
    /// A type without a name: of a cast, of `sizeof`, of a template argument.
    pub(super) fn type_descriptor(&mut self, node: Node<'_>) -> Type {
        let Some(specifier) = node.child_by_field_name("type") else {
            return self.unsupported_type(node, super::SYNTAX_ERROR);
        };
        if node.has_error() {
            self.report(self.span(node), super::SYNTAX_ERROR);
            return self.unsupported_type(node, super::SYNTAX_ERROR);
        }
        let mut base = self.type_specifier(specifier);
        base.qualifiers.extend(self.qualifiers(node));
        match node.child_by_field_name("declarator") {
            Some(declarator) => self.fold(declarator, base).ty,
            None => base,
        }
    }

    pub(super) fn unsupported_type(&self, node: Node<'_>, reason: &str) -> Type {
        Type { kind: TypeKind::Unsupported(reason.to_owned()), qualifiers: Vec::new(), span: self.span(node) }
    }

    /// The type that a specifier names or defines.
    pub(super) fn type_specifier(&mut self, node: Node<'_>) -> Type {
        self.deeper(node, |this| this.type_specifier_at(node))
            .unwrap_or_else(|| self.unsupported_type(node, super::NESTED_TOO_DEEPLY))
    }

    fn type_specifier_at(&mut self, node: Node<'_>) -> Type {
        let kind = match node.kind() {
            "primitive_type" if !words::is_arithmetic_word(self.word(node)) => TypeKind::Named(self.path(node)),
            "primitive_type" | "sized_type_specifier" => return self.builtin_type(node),
            "type_identifier" | "identifier" if words::is_arithmetic_word(self.word(node)) => {
                return self.builtin_type(node);
            }
            "type_identifier" | "identifier" | "template_type" | "qualified_identifier" => {
                TypeKind::Named(self.path(node))
            }
            "struct_specifier" | "class_specifier" | "union_specifier" => {
                if node.child_by_field_name("body").is_some() {
                    TypeKind::Record(Box::new(self.record(node)))
                } else {
                    match node.child_by_field_name("name") {
                        Some(name) => TypeKind::Named(self.path(name)),
                        None => TypeKind::Unsupported("record without a name".into()),
                    }
                }
            }
            "enum_specifier" => match (node.child_by_field_name("body"), node.child_by_field_name("name")) {
                (None, Some(name)) => TypeKind::Named(self.path(name)),
                _ => TypeKind::Enum(Box::new(self.enumeration(node))),
            },
            "placeholder_type_specifier" => match child_of(node, "decltype") {
                Some(_) => TypeKind::DecltypeAuto,
                None => TypeKind::Auto,
            },
            "auto" => TypeKind::Auto,
            "decltype" => match children(node).first() {
                Some(inner) if self.word(node) != "decltype" => TypeKind::Typeof(Box::new(self.expr(*inner))),
                Some(inner) if self.is_in_parentheses(node) => TypeKind::DecltypeOfValue(Box::new(self.expr(*inner))),
                Some(inner) if inner.kind() != "auto" => TypeKind::Decltype(Box::new(self.expr(*inner))),
                _ => TypeKind::DecltypeAuto,
            },
            "dependent_type" => match children(node).first() {
                Some(&inner) => return self.type_specifier(inner),
                None => TypeKind::Unsupported(super::SYNTAX_ERROR.into()),
            },
            _ => TypeKind::Unsupported("type that is not understood".into()),
        };
        Type { kind, qualifiers: Vec::new(), span: self.span(node) }
    }

    /// Whether what `decltype` is of stands in parentheses of its own.
    fn is_in_parentheses(&self, node: Node<'_>) -> bool {
        let (open, close) = (self.first(node) + 2, self.last(node).saturating_sub(1));
        let mut depth = 0_usize;
        for at in open..close {
            match self.spelling(at) {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return false;
            }
        }
        self.spelling(close) == ")" && close > open
    }

    /// A built-in type from its words, in whatever order they are written.
    pub(super) fn builtin_type(&mut self, node: Node<'_>) -> Type {
        let words: Vec<&str> = (self.first(node)..=self.last(node)).map(|at| self.spelling(at)).collect();
        let mut ty = Type { kind: TypeKind::Builtin(String::new()), qualifiers: Vec::new(), span: self.span(node) };
        for &word in &words {
            match word {
                "const" => ty.qualifiers.push(Qualifier::Const),
                "volatile" => ty.qualifiers.push(Qualifier::Volatile),
                _ => {}
            }
        }
        ty.kind = match words::builtin_type(&words) {
            Some(text) => TypeKind::Builtin(text),
            None => TypeKind::Unsupported(format!("type `{}`", words.join(" "))),
        };
        ty
    }

    /// Qualifiers, storage classes and attributes among the children of a declaration, in source order.
    pub(super) fn qualifiers(&mut self, node: Node<'_>) -> Vec<Qualifier> {
        let mut cursor = node.walk();
        let words: Vec<usize> = node
            .children(&mut cursor)
            .filter(|child| {
                matches!(
                    child.kind(),
                    "type_qualifier" | "storage_class_specifier" | "virtual" | "const" | "explicit_function_specifier"
                )
            })
            .map(|child| self.first(child))
            .collect();
        words.into_iter().filter_map(|at| words::qualifier(self.spelling(at), self.language)).collect()
    }

    /// Folds a declarator around `base`.
    pub(super) fn fold<'t>(&mut self, node: Node<'t>, base: Type) -> Declared<'t> {
        let span = base.span;
        self.deeper(node, |this| this.fold_at(node, base)).unwrap_or(Declared {
            path: None,
            ty: Type { kind: TypeKind::Unsupported(super::NESTED_TOO_DEEPLY.into()), qualifiers: Vec::new(), span },
            function: None,
        })
    }

    fn fold_at<'t>(&mut self, node: Node<'t>, base: Type) -> Declared<'t> {
        let span = base.span;
        let around = |kind: TypeKind| Type { kind, qualifiers: Vec::new(), span };
        let inner = node.child_by_field_name("declarator");
        match node.kind() {
            "pointer_declarator" | "abstract_pointer_declarator" => {
                let qualifiers = self.qualifiers(node);
                let pointer = Type { qualifiers, ..around(TypeKind::Pointer(Box::new(base))) };
                self.fold_optional(inner, pointer)
            }
            "reference_declarator" | "abstract_reference_declarator" => {
                let binding = if child_of(node, "&&").is_some() { Binding::Rvalue } else { Binding::Lvalue };
                let reference = around(TypeKind::Reference(Box::new(base), binding));
                self.fold_optional(children(node).last().copied(), reference)
            }
            "array_declarator" | "abstract_array_declarator" => {
                let size = node.child_by_field_name("size").map(|size| Box::new(self.expr(size)));
                self.fold_optional(inner, around(TypeKind::Array(Box::new(base), size)))
            }
            "function_declarator" | "abstract_function_declarator" => self.fold_function(node, inner, base),
            "parenthesized_declarator" | "abstract_parenthesized_declarator" | "attributed_declarator" => {
                let inner = children(node).into_iter().find(|child| child.kind() != "attribute_declaration");
                self.fold_optional(inner, base)
            }
            "variadic_declarator" => {
                let name = children(node).first().copied();
                let path = name.map(|name| self.path(name));
                Declared { path, ty: base, function: None }
            }
            "structured_binding_declarator" => {
                Declared { path: None, ty: around(TypeKind::Unsupported("structured binding".into())), function: None }
            }
            _ if self.emitted(node) == super::TOO_DEEP => Declared {
                path: None,
                ty: around(TypeKind::Unsupported(super::NESTED_TOO_DEEPLY.into())),
                function: None,
            },
            _ => Declared { path: Some(self.path(node)), ty: base, function: None },
        }
    }

    fn fold_optional<'t>(&mut self, inner: Option<Node<'t>>, ty: Type) -> Declared<'t> {
        match inner {
            Some(inner) => self.fold(inner, ty),
            None => Declared { path: None, ty, function: None },
        }
    }

    fn fold_function<'t>(&mut self, node: Node<'t>, inner: Option<Node<'t>>, base: Type) -> Declared<'t> {
        let params = node.child_by_field_name("parameters").map(|list| self.params(list)).unwrap_or_default();
        let result = match child_of(node, "trailing_return_type").and_then(|it| children(it).first().copied()) {
            Some(trailing) => self.type_descriptor(trailing),
            None => base,
        };
        let span = result.span;
        let qualifiers = self.noexcept(node).into_iter().collect();
        let ty = Type { kind: TypeKind::Function(Box::new(result), params), qualifiers, span };
        let mut declared = self.fold_optional(inner, ty);
        // A name directly inside makes this the declaration of a function; a pointer around it does not.
        if matches!(declared.ty.kind, TypeKind::Function(..)) && declared.function.is_none() && declared.path.is_some()
        {
            declared.function = Some(node);
        }
        declared
    }

    /// What a function's declarator says of exceptions.
    pub(super) fn noexcept(&mut self, declarator: Node<'_>) -> Option<Qualifier> {
        let condition = match child_of(declarator, "noexcept") {
            Some(stated) => children(stated).first().map(|condition| self.expr(*condition)),
            // `throw(E)` says what is thrown.
            None => {
                child_of(declarator, "throw_specifier").filter(|stated| children(*stated).is_empty()).map(|_| None)?
            }
        };
        Some(words::noexcept(condition))
    }

    /// The parameters of a function; `(void)` has none.
    pub(super) fn params(&mut self, list: Node<'_>) -> Vec<Param> {
        let children = children(list);
        let params: Vec<Param> = children.into_iter().map(|node| self.param(node)).collect();
        match params.as_slice() {
            [only] if only.name.text.is_empty() && is_void(&only.ty) => Vec::new(),
            _ => params,
        }
    }

    fn param(&mut self, node: Node<'_>) -> Param {
        let Some(specifier) = node.child_by_field_name("type").filter(|_| !node.has_error()) else {
            if node.has_error() {
                self.report(self.span(node), super::SYNTAX_ERROR);
            }
            let ty = self.unsupported_type(node, super::SYNTAX_ERROR);
            return Param { name: self.no_name(node), ty, qualifiers: Vec::new(), default: None, pack: false };
        };
        let mut qualifiers = self.qualifiers(node);
        qualifiers.extend(self.attributes(self.first(node)..self.last(node) + 1));
        let mut base = self.type_specifier(specifier);
        base.qualifiers.extend(words::of_the_type(&qualifiers, self.language));
        let default = self.optional_expr(node.child_by_field_name("default_value"));
        let declared = self.fold_optional(node.child_by_field_name("declarator"), base);
        let name = declared.path.and_then(|mut path| path.segments.pop()).map(|segment| segment.name);
        Param {
            name: name.unwrap_or_else(|| self.no_name(node)),
            ty: declared.ty,
            qualifiers,
            default,
            pack: node.kind() == "variadic_parameter_declaration",
        }
    }

    /// A path of one segment.
    pub(super) fn simple_path(name: crate::syntax::Name) -> Path {
        Path { global: false, segments: vec![PathSegment { name, args: None }] }
    }

    pub(super) fn bits(&mut self, clause: Node<'_>) -> Option<Expr> {
        children(clause).first().map(|&width| self.expr(width))
    }
}

fn is_void(ty: &Type) -> bool {
    matches!(&ty.kind, TypeKind::Builtin(text) if text == "void")
}
