//! Expressions. Lambdas have a file of their own.

use super::{Converter, child_of, children};
use crate::preprocess::TokenKind;
use crate::source::Language;
use crate::syntax::{
    self, AsideKind, BinaryOp, CastKind, Designator, Expr, ExprKind, Fold, FoldOp, Name, Path, PathSegment, PostfixOp,
    TemplateArg, Type, TypeKind, UnaryOp, literals, words,
};
use tree_sitter::Node;

impl Converter<'_> {
    pub(super) fn expr(&mut self, node: Node<'_>) -> Expr {
        self.deeper(node, |this| this.expr_at(node)).unwrap_or_else(|| self.unsupported(node, super::NESTED_TOO_DEEPLY))
    }

    pub(super) fn optional_expr(&mut self, node: Option<Node<'_>>) -> Option<Expr> {
        node.map(|node| self.expr(node))
    }

    /// The expression of a field that the grammar promises.
    fn field(&mut self, node: Node<'_>, field: &str) -> Expr {
        match node.child_by_field_name(field) {
            Some(child) => self.expr(child),
            None => self.unsupported(node, super::SYNTAX_ERROR),
        }
    }

    #[expect(clippy::unnecessary_box_returns, reason = "syntax wants every operand in a box")]
    fn operand(&mut self, node: Node<'_>, field: &str) -> Box<Expr> {
        self.field(node, field).into()
    }

    fn expr_at(&mut self, node: Node<'_>) -> Expr {
        if Self::is_broken(node) {
            self.report(self.span(node), super::SYNTAX_ERROR);
            return self.unsupported(node, super::SYNTAX_ERROR);
        }
        let kind = match node.kind() {
            "parenthesized_expression" => return self.parenthesized(node),
            "identifier" | "field_identifier" | "type_identifier" => self.identifier(node),
            "primitive_type" | "qualified_identifier" | "template_function" | "dependent_name" => {
                ExprKind::Path(self.path(node))
            }
            "number_literal" => literals::number(self.word(node)),
            "char_literal" => match literals::character(self.word(node)) {
                Some((value, ty)) => ExprKind::Char(value, ty),
                None => ExprKind::Unsupported("character literal".into()),
            },
            "string_literal" | "raw_string_literal" | "concatenated_string" => ExprKind::String(self.string(node)),
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "null" => ExprKind::Null,
            "this" => ExprKind::This,
            "unary_expression" | "pointer_expression" => self.unary(node),
            "update_expression" => self.update(node),
            "binary_expression" => self.binary(node),
            "assignment_expression" => self.assignment(node),
            "conditional_expression" => self.conditional(node),
            "comma_expression" => self.comma(node),
            "call_expression" => self.call(node),
            "subscript_expression" => self.subscript(node),
            "field_expression" => self.member(node),
            "cast_expression" => self.cast(node),
            "compound_literal_expression" => self.compound_literal(node),
            "sizeof_expression" => self.sizeof(node),
            "initializer_list" => ExprKind::InitList(self.init_list(node)),
            "lambda_expression" => self.lambda(node),
            "fold_expression" => self.fold_expression(node),
            "parameter_pack_expansion" => match node.child_by_field_name("pattern") {
                Some(pattern) => ExprKind::Expansion(Box::new(self.expr(pattern))),
                None => ExprKind::Unsupported(super::SYNTAX_ERROR.into()),
            },
            "extension_expression" => match children(node).first() {
                Some(&inner) => return self.expr(inner),
                None => ExprKind::Unsupported(super::SYNTAX_ERROR.into()),
            },
            other => {
                self.keep(node);
                ExprKind::Unsupported(reason(other).to_owned())
            }
        };
        Expr { kind, span: self.span(node) }
    }

    fn identifier(&mut self, node: Node<'_>) -> ExprKind {
        if self.is_too_deep(node) {
            let range = self.deep_range(self.first(node));
            self.report(self.span_of(range), super::NESTED_TOO_DEEPLY);
            return ExprKind::Unsupported(super::NESTED_TOO_DEEPLY.into());
        }
        match self.word(node) {
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "NULL" | "nullptr" => ExprKind::Null,
            "this" if self.language == Language::Cuda => ExprKind::This,
            _ => ExprKind::Path(self.path(node)),
        }
    }

    /// Tokens that a placeholder stands for.
    pub(super) fn deep_range(&self, token: usize) -> std::ops::Range<usize> {
        let found = self.buffer.too_deep.iter().find(|range| range.start == token + 1);
        found.cloned().unwrap_or(token..token + 1)
    }

    fn parenthesized(&mut self, node: Node<'_>) -> Expr {
        match children(node).as_slice() {
            [inner] if inner.kind() != "compound_statement" => {
                let mut inner = self.expr(*inner);
                inner.span = self.span(node);
                inner
            }
            [only] => {
                let span = self.span(node);
                let body = self.block(*only);
                self.aside(node, AsideKind::Statements(body.clone()));
                Expr { kind: syntax::statement_expression(body, span), span }
            }
            _ => {
                self.keep_statements(node);
                self.unsupported(node, "statement expression")
            }
        }
    }

    pub(super) fn string(&self, node: Node<'_>) -> String {
        let words: Vec<&str> = (self.first(node)..=self.last(node)).map(|at| self.spelling(at)).collect();
        words.join(" ")
    }

    fn operator(&self, node: Node<'_>) -> &str {
        node.child_by_field_name("operator").map_or("", |operator| self.word(operator))
    }

    fn unary(&mut self, node: Node<'_>) -> ExprKind {
        let op = match self.operator(node) {
            "+" => UnaryOp::Plus,
            "-" => UnaryOp::Minus,
            "!" | "not" => UnaryOp::Not,
            "~" | "compl" => UnaryOp::BitNot,
            "*" => UnaryOp::Deref,
            "&" | "bitand" => UnaryOp::AddressOf,
            other => return ExprKind::Unsupported(format!("operator `{other}`")),
        };
        ExprKind::Unary(op, self.operand(node, "argument"))
    }

    fn update(&mut self, node: Node<'_>) -> ExprKind {
        let up = self.operator(node) == "++";
        let Some(argument) = node.child_by_field_name("argument") else {
            return ExprKind::Unsupported(super::SYNTAX_ERROR.into());
        };
        let operator_first =
            node.child_by_field_name("operator").is_some_and(|it| it.start_byte() < argument.start_byte());
        let operand = self.expr(argument);
        if operator_first {
            return ExprKind::Unary(if up { UnaryOp::PreIncrement } else { UnaryOp::PreDecrement }, Box::new(operand));
        }
        let op = if up { PostfixOp::Increment } else { PostfixOp::Decrement };
        // The grammar reads `-a++` as `(-a)++`; the postfix operator belongs to the innermost operand.
        let span = self.span(node);
        if argument.kind() == "unary_expression" {
            return postfix_inside(operand, op, span).kind;
        }
        ExprKind::Postfix(op, Box::new(operand))
    }

    fn binary(&mut self, node: Node<'_>) -> ExprKind {
        let text = self.operator(node);
        let Some(op) = words::binary_op(text) else { return ExprKind::Unsupported(format!("operator `{text}`")) };
        ExprKind::Binary(op, self.operand(node, "left"), self.operand(node, "right"))
    }

    fn assignment(&mut self, node: Node<'_>) -> ExprKind {
        let text = self.operator(node);
        let op = match text {
            "=" => None,
            "and_eq" => Some(BinaryOp::BitAnd),
            "or_eq" => Some(BinaryOp::BitOr),
            "xor_eq" => Some(BinaryOp::BitXor),
            _ => match text.strip_suffix('=').and_then(words::binary_op) {
                Some(op) => Some(op),
                None => return ExprKind::Unsupported(format!("operator `{text}`")),
            },
        };
        ExprKind::Assign(op, self.operand(node, "left"), self.operand(node, "right"))
    }

    /// `(e + ...)`, `(... + e)`, `(e + ... + e)`
    fn fold_expression(&mut self, node: Node<'_>) -> ExprKind {
        let text = self.operator(node);
        let op = match (words::binary_op(text), text) {
            (Some(op), _) => FoldOp::Binary(op),
            (None, ",") => FoldOp::Comma,
            (None, "=") => FoldOp::Assign(None),
            (None, _) => match text.strip_suffix('=').and_then(words::binary_op) {
                Some(op) => FoldOp::Assign(Some(op)),
                None => return ExprKind::Unsupported(format!("operator `{text}`")),
            },
        };
        let mut side = |name: &str| {
            let side = node.child_by_field_name(name).filter(|side| side.kind() != "...")?;
            Some(self.expr(side))
        };
        let (left, right) = (side("left"), side("right"));
        ExprKind::Fold(Box::new(Fold { op, left, right }))
    }

    fn conditional(&mut self, node: Node<'_>) -> ExprKind {
        if node.child_by_field_name("consequence").is_none() {
            self.keep_values(node);
            return ExprKind::Unsupported("conditional without middle operand".into());
        }
        let condition = self.operand(node, "condition");
        let yes = self.operand(node, "consequence");
        ExprKind::Conditional(condition, yes, self.operand(node, "alternative"))
    }

    fn subscript(&mut self, node: Node<'_>) -> ExprKind {
        let indices = node.child_by_field_name("indices").map(|list| children(list)).unwrap_or_default();
        let Some((first, more)) = indices.split_first() else {
            return ExprKind::Unsupported("subscript without an index".into());
        };
        let base = self.operand(node, "argument");
        // `a[i, j]` is an ordinary comma up to C++20.
        let mut index = self.expr(*first);
        for next in more {
            let next = self.expr(*next);
            let span = self.output.sources.join(index.span, next.span);
            index = Expr { kind: ExprKind::Comma(Box::new(index), Box::new(next)), span };
        }
        ExprKind::Index(base, Box::new(index))
    }

    fn member(&mut self, node: Node<'_>) -> ExprKind {
        let arrow = match self.operator(node) {
            "." => false,
            "->" => true,
            other => return ExprKind::Unsupported(format!("operator `{other}`")),
        };
        let Some(field) = node.child_by_field_name("field") else {
            return ExprKind::Unsupported(super::SYNTAX_ERROR.into());
        };
        let object = self.operand(node, "argument");
        let mut segments = self.path(field).segments;
        if let [member] = segments.as_mut_slice()
            && member.name.text == "operator"
        {
            let first = self.first(field);
            let end = (first..).find(|at| matches!(self.spelling(*at), "(" | "")).unwrap_or(first + 1);
            let is_type = |at: &usize| !matches!(self.spelling(*at), "const" | "volatile");
            let named = (first + 1..end).find(is_type).unwrap_or(first + 1);
            member.name = Name { text: self.conversion_name(named), span: self.span_of(first..end) };
        }
        match segments.pop() {
            Some(_) if !segments.is_empty() => ExprKind::Unsupported("member of a class that is named".into()),
            Some(member) if field.kind() != "destructor_name" => ExprKind::Member { object, arrow, member },
            _ => ExprKind::Unsupported("destructor call".into()),
        }
    }

    fn cast(&mut self, node: Node<'_>) -> ExprKind {
        let (Some(ty), Some(value)) = (node.child_by_field_name("type"), node.child_by_field_name("value")) else {
            return ExprKind::Unsupported(super::SYNTAX_ERROR.into());
        };
        if self.language == Language::OpenCl && self.may_be_operand(ty) && self.may_go_on(value) {
            let name = self.word(ty);
            return ExprKind::Unsupported(format!("`({name})`, which may be a cast or a value"));
        }
        let ty = self.type_descriptor(ty);
        if self.language == Language::OpenCl
            && value.kind() == "parenthesized_expression"
            && let [list] = children(value).as_slice()
            && list.kind() == "comma_expression"
        {
            let parts = self.comma_parts(*list);
            return ExprKind::Construct(Box::new(ty), parts);
        }
        ExprKind::Cast(CastKind::C, Box::new(ty), Box::new(self.expr(value)))
    }

    /// `a, b, c`, which the grammar nests on the right and the language on the left.
    fn comma(&mut self, node: Node<'_>) -> ExprKind {
        let parts = self.comma_parts(node);
        if parts.len() + self.depth > super::DEPTH {
            self.report(self.span(node), super::NESTED_TOO_DEEPLY);
            return ExprKind::Unsupported(super::NESTED_TOO_DEEPLY.into());
        }
        let mut parts = parts.into_iter();
        let Some(mut first) = parts.next() else { return ExprKind::Unsupported(super::SYNTAX_ERROR.into()) };
        let last = parts.next_back();
        for part in parts {
            let span = self.output.sources.join(first.span, part.span);
            first = Expr { kind: ExprKind::Comma(Box::new(first), Box::new(part)), span };
        }
        match last {
            Some(last) => ExprKind::Comma(Box::new(first), Box::new(last)),
            None => first.kind,
        }
    }

    /// `a, b, c` as a list.
    fn comma_parts(&mut self, list: Node<'_>) -> Vec<Expr> {
        let mut parts = Vec::new();
        let mut rest = list;
        while rest.kind() == "comma_expression" {
            parts.push(self.field(rest, "left"));
            match rest.child_by_field_name("right") {
                Some(right) => rest = right,
                None => return parts,
            }
        }
        parts.push(self.expr(rest));
        parts
    }

    fn compound_literal(&mut self, node: Node<'_>) -> ExprKind {
        let (Some(ty), Some(value)) = (node.child_by_field_name("type"), node.child_by_field_name("value")) else {
            return ExprKind::Unsupported(super::SYNTAX_ERROR.into());
        };
        let ty = if ty.kind() == "type_descriptor" { self.type_descriptor(ty) } else { self.type_specifier(ty) };
        let entries = self.init_list(value);
        if entries.iter().any(|(designator, _)| designator.is_some()) {
            let list = Expr { kind: ExprKind::InitList(entries), span: self.span(value) };
            return ExprKind::Cast(CastKind::C, Box::new(ty), Box::new(list));
        }
        ExprKind::Construct(Box::new(ty), entries.into_iter().map(|(_, value)| value).collect())
    }

    fn sizeof(&mut self, node: Node<'_>) -> ExprKind {
        if self.word(node) != "sizeof" {
            return ExprKind::Unsupported(self.word(node).to_owned());
        }
        if let Some(ty) = node.child_by_field_name("type") {
            // `sizeof(x)` of a variable reads as a type in the grammar.
            let named = children(ty);
            if let [only] = named.as_slice()
                && matches!(only.kind(), "type_identifier" | "qualified_identifier")
                && (!self.names_type(*only) || self.language == Language::OpenCl && self.is_declared_type(*only))
            {
                let path = self.path(*only);
                return ExprKind::SizeofExpr(Box::new(Expr { kind: ExprKind::Path(path), span: self.span(*only) }));
            }
            return ExprKind::SizeofType(Box::new(self.type_descriptor(ty)));
        }
        let Some(value) = node.child_by_field_name("value") else {
            return ExprKind::Unsupported("sizeof of a pack".into());
        };
        if self.spelling(self.first(node) + 1) == "..." {
            return ExprKind::SizeofPack(self.name(value));
        }
        let value = self.expr(value);
        match value.kind {
            ExprKind::Path(path) if self.language == Language::Cuda && self.path_names_type(&path) => {
                let span = value.span;
                ExprKind::SizeofType(Box::new(Type { kind: TypeKind::Named(path), qualifiers: Vec::new(), span }))
            }
            kind => ExprKind::SizeofExpr(Box::new(Expr { kind, span: value.span })),
        }
    }

    /// Whether a bare name stands for a type: it is known as one, or nothing in the unit declares it as a value.
    pub(super) fn names_type(&self, node: Node<'_>) -> bool {
        let Some(token) = self.token(self.last(node)) else { return false };
        self.names.is_type(token.text, self.output.text(token)) || !self.names.is_value(token.text)
    }

    /// Whether the unit declares a type of that name. In C a value may have the same name: which of them is meant in an
    /// operand of `sizeof` depends on the scope.
    fn is_declared_type(&self, node: Node<'_>) -> bool {
        self.token(self.last(node)).is_some_and(|token| self.names.is_declared_type(token.text))
    }

    /// Whether the type of a cast is a bare name that may be a value as well.
    fn may_be_operand(&self, ty: Node<'_>) -> bool {
        let (first, last) = (self.first(ty), self.last(ty));
        first == last && self.token(last).is_some_and(|token| self.names.may_be_either(token.text))
    }

    /// Whether what stands behind a name in parentheses may be the rest of an operation on it, or the arguments of a call.
    fn may_go_on(&self, value: Node<'_>) -> bool {
        let first = self.spelling(self.first(value));
        matches!(first, "+" | "-" | "*" | "&" | "(" | "++" | "--") || first.starts_with(['+', '-'])
    }

    fn path_names_type(&self, path: &Path) -> bool {
        let Some(last) = path.segments.last() else { return false };
        self.output.spellings.get(&last.name.text).is_some_and(|symbol| self.names.is_type(symbol, &last.name.text))
    }

    pub(super) fn arguments(&mut self, list: Node<'_>) -> Vec<Expr> {
        children(list).into_iter().map(|argument| self.expr(argument)).collect()
    }

    fn call(&mut self, node: Node<'_>) -> ExprKind {
        let (Some(function), Some(list)) =
            (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
        else {
            return ExprKind::Unsupported(super::SYNTAX_ERROR.into());
        };
        if Self::is_broken(list) {
            self.report(self.span(list), super::SYNTAX_ERROR);
            return ExprKind::Unsupported(super::SYNTAX_ERROR.into());
        }
        if let Some(configuration) = child_of(node, "kernel_call_syntax") {
            let kernel = Box::new(self.expr(function));
            let config = self.arguments(configuration);
            return ExprKind::Launch { kernel, config, args: self.arguments(list) };
        }
        if let Some(cast) = self.named_cast(function, list) {
            return cast;
        }
        let word = self.word(function);
        // The grammar takes this operator for a call.
        if word == "noexcept" {
            return ExprKind::Unsupported(word.to_owned());
        }
        if matches!(function.kind(), "primitive_type" | "identifier") && words::is_arithmetic_word(word) {
            return self.functional_cast(function, list);
        }
        let mut callee = Box::new(self.expr(function));
        // Parentheses around a name may have been left out, but arguments lead nowhere then.
        let (first, last) = (self.first(function), self.last(function));
        if first > 0 && self.spelling(first - 1) == "(" && self.spelling(last + 1) == ")" {
            callee.span = self.span_of(first - 1..last + 2);
        }
        ExprKind::Call(callee, self.arguments(list))
    }

    /// `int(x)`, `unsigned(x)`, `float()`.
    fn functional_cast(&mut self, function: Node<'_>, list: Node<'_>) -> ExprKind {
        let ty = Box::new(self.builtin_type(function));
        let mut arguments = self.arguments(list);
        match (arguments.pop(), arguments.is_empty()) {
            (Some(only), true) => ExprKind::Cast(CastKind::C, ty, Box::new(only)),
            (popped, _) => {
                arguments.extend(popped);
                ExprKind::Construct(ty, arguments)
            }
        }
    }

    /// `static_cast<T>(x)` and its kin.
    fn named_cast(&mut self, function: Node<'_>, list: Node<'_>) -> Option<ExprKind> {
        if function.kind() != "template_function" {
            return None;
        }
        let kind = match self.word(function) {
            "static_cast" => CastKind::Static,
            "reinterpret_cast" => CastKind::Reinterpret,
            "const_cast" => CastKind::Const,
            "dynamic_cast" => CastKind::Dynamic,
            _ => return None,
        };
        let types = function.child_by_field_name("arguments").map(|list| children(list)).unwrap_or_default();
        let values = children(list);
        let ([ty], [value]) = (types.as_slice(), values.as_slice()) else {
            return Some(ExprKind::Unsupported(super::SYNTAX_ERROR.into()));
        };
        if ty.kind() != "type_descriptor" {
            return Some(ExprKind::Unsupported("cast to a type that is not understood".into()));
        }
        let ty = Box::new(self.type_descriptor(*ty));
        Some(ExprKind::Cast(kind, ty, Box::new(self.expr(*value))))
    }

    pub(super) fn init_list(&mut self, node: Node<'_>) -> Vec<(Option<Designator>, Expr)> {
        let entries = children(node);
        entries
            .into_iter()
            .map(|entry| match entry.kind() {
                "initializer_pair" => self.init_pair(entry),
                _ => (None, self.expr(entry)),
            })
            .collect()
    }

    fn init_pair(&mut self, node: Node<'_>) -> (Option<Designator>, Expr) {
        let mut cursor = node.walk();
        let designators: Vec<Node<'_>> = node.children_by_field_name("designator", &mut cursor).collect();
        let value = self.field(node, "value");
        let [designator] = designators.as_slice() else {
            return (None, self.unsupported(node, "nested designator"));
        };
        let inner = children(*designator).first().copied();
        let designator = match (designator.kind(), inner) {
            ("field_designator", Some(name)) => Designator::Field(self.name(name)),
            ("field_identifier", _) => Designator::Field(self.name(*designator)),
            ("subscript_designator", Some(index)) => Designator::Index(Box::new(self.expr(index))),
            _ => return (None, self.unsupported(node, "designator of a range")),
        };
        (Some(designator), value)
    }

    /// A possibly qualified name, from any node that is one.
    pub(super) fn path(&mut self, node: Node<'_>) -> Path {
        let mut path = Path { global: false, segments: Vec::new() };
        let mut rest = node;
        let mut first = true;
        while rest.kind() == "qualified_identifier" {
            match rest.child_by_field_name("scope") {
                Some(scope) => {
                    let segment = self.segment(scope);
                    path.segments.push(segment);
                }
                None => path.global |= first,
            }
            first = false;
            let mut cursor = rest.walk();
            let name = rest.children_by_field_name("name", &mut cursor).filter(Node::is_named).last();
            match name {
                Some(name) => rest = name,
                None => return path,
            }
        }
        let segment = self.segment(rest);
        path.segments.push(segment);
        path
    }

    fn segment(&mut self, node: Node<'_>) -> PathSegment {
        match node.kind() {
            "template_type" | "template_function" | "template_method" => {
                let name = node.child_by_field_name("name").unwrap_or(node);
                let name = self.plain_name(name);
                let args = node.child_by_field_name("arguments").map(|list| self.template_args(list));
                PathSegment { name, args }
            }
            "dependent_name" => match children(node).first() {
                Some(&inner) => self.segment(inner),
                None => PathSegment { name: self.name(node), args: None },
            },
            _ => PathSegment { name: self.plain_name(node), args: None },
        }
    }

    /// The text of an identifier, an operator's or a destructor's name.
    fn plain_name(&self, node: Node<'_>) -> crate::syntax::Name {
        let mut name = self.name(node);
        match node.kind() {
            "operator_name" => {
                let words: Vec<&str> = (self.first(node)..=self.last(node)).map(|at| self.spelling(at)).collect();
                name.text = words.concat();
                if name.text == "operator(" || name.text == "operator[" {
                    name.text.push(if name.text.ends_with('(') { ')' } else { ']' });
                }
            }
            "destructor_name" | "decltype" => {
                name.text = (self.first(node)..=self.last(node)).map(|at| self.spelling(at)).collect();
            }
            _ => {}
        }
        name
    }

    pub(super) fn template_args(&mut self, list: Node<'_>) -> Vec<TemplateArg> {
        let entries = children(list);
        entries.into_iter().map(|entry| self.template_arg(entry)).collect()
    }

    fn template_arg(&mut self, node: Node<'_>) -> TemplateArg {
        if node.kind() == "parameter_pack_expansion"
            && let Some(pattern) = node.child_by_field_name("pattern")
        {
            return TemplateArg::Expansion(Box::new(self.template_arg(pattern)));
        }
        if node.kind() != "type_descriptor" {
            return TemplateArg::Value(self.expr(node));
        }
        if self.token(self.first(node)).is_some_and(|token| token.kind == TokenKind::Number) {
            let kind = literals::number(self.word(node));
            return TemplateArg::Value(Expr { kind, span: self.span(node) });
        }
        if let [only] = children(node).as_slice()
            && matches!(only.kind(), "type_identifier" | "qualified_identifier")
        {
            let path = self.path(*only);
            let span = self.span(*only);
            return if self.path_names_type(&path) {
                TemplateArg::Type(Type { kind: TypeKind::Named(path), qualifiers: Vec::new(), span })
            } else {
                TemplateArg::Value(Expr { kind: ExprKind::Path(path), span })
            };
        }
        TemplateArg::Type(self.type_descriptor(node))
    }
}

/// `(-a)++` as the grammar has it, turned into `-(a++)`.
fn postfix_inside(operand: Expr, op: PostfixOp, span: crate::source::Span) -> Expr {
    // The walk is a loop over the chain of prefix operators, collected first.
    let mut prefixes = Vec::new();
    let mut inner = operand;
    while let ExprKind::Unary(prefix @ (UnaryOp::Plus | UnaryOp::Minus | UnaryOp::Not | UnaryOp::BitNot), argument) =
        inner.kind
    {
        prefixes.push((prefix, inner.span));
        inner = *argument;
    }
    let start = crate::source::Span { end: span.end.max(inner.span.end), ..inner.span };
    let mut result = Expr { kind: ExprKind::Postfix(op, Box::new(inner)), span: start };
    while let Some((prefix, _)) = prefixes.pop() {
        result = Expr { kind: ExprKind::Unary(prefix, Box::new(result)), span };
    }
    result
}

/// What users call a construct that syntax has no node for.
fn reason(kind: &str) -> &'static str {
    match kind {
        "new_expression" => "new expression",
        "delete_expression" => "delete expression",
        "alignof_expression" => "alignof",
        "offsetof_expression" => "offsetof",
        "generic_expression" => "generic selection",
        "gnu_asm_expression" => "inline assembly in an expression",
        "requires_expression" | "requires_clause" => "requires expression",
        "user_defined_literal" => "user-defined literal",
        "compound_statement" => "statements as an argument",
        "co_await_expression" => "coroutine",
        _ => "expression that is not understood",
    }
}
