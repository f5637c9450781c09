//! Declarators, parameters, and the declarations of variables and functions.

use super::types::Specifiers;
use super::{MISFIT, Reader, Reading};
use crate::front::account;
use crate::front::clang::wire::Kind;
use crate::source::Language;
use crate::syntax::{
    self, Binding, Expr, Function, Init, Item, ItemKind, Name, Param, Path, PathSegment, Qualifier, Record,
    TemplateParam, Type, TypeKind, Variable, words,
};
use std::ops::Range;

/// Whether a declarator has a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// It may have one.
    Named,
    /// It has none.
    Abstract,
    /// It declares a function, though libclang does not say so: an explicit instantiation.
    Function,
}

/// A declarator folded into a type.
pub(super) struct Declared {
    /// The name; `None` for an abstract declarator.
    pub(super) path: Option<Path>,
    pub(super) ty: Type,
    /// What follows the parameters, if the declarator declares a function.
    function: Option<Tail>,
    /// Qualifiers and attributes behind the name.
    behind: Vec<Qualifier>,
}

/// What follows a function's parameters.
#[derive(Clone, Default)]
struct Tail {
    variadic: bool,
    is_const: bool,
    called_on: Option<Binding>,
    qualifiers: Vec<Qualifier>,
}

/// What may follow a declarator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Suffix {
    /// Parameters.
    Function,
    /// The arguments of a constructor, which are no suffix.
    Variable,
}

/// Where a function ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// With its body, which was read.
    Here,
    /// With a `;` that is still to be read.
    Open,
}

/// A function up to its parameters.
struct Head {
    path: Path,
    qualifiers: Vec<Qualifier>,
    tail: Tail,
}

impl Head {
    fn function(self, template: Option<Vec<TemplateParam>>, result: Option<Type>, params: Vec<Param>) -> Function {
        Function {
            path: self.path,
            template,
            qualifiers: self.qualifiers,
            result,
            params,
            variadic: self.tail.variadic,
            is_const: self.tail.is_const,
            called_on: self.tail.called_on,
            initializers: Vec::new(),
            body: None,
        }
    }
}

/// The parameters of a function and whether more may follow.
struct Params {
    params: Vec<Param>,
    variadic: bool,
}

impl Reader<'_> {
    /// The declarator that starts at the next token, around `base`.
    pub(super) fn declarator(&mut self, base: Type, naming: Naming) -> Reading<Declared> {
        self.deeper(|this| this.declarator_here(base, naming))
    }

    /// The pointers and references before a name.
    fn around(&mut self, mut base: Type) -> Type {
        let span = base.span;
        loop {
            match self.next() {
                "*" => {
                    self.at += 1;
                    let qualifiers = self.qualifiers_here();
                    base = Type { kind: TypeKind::Pointer(Box::new(base)), qualifiers, span };
                }
                "&" | "&&" => {
                    let binding = if self.next() == "&&" { Binding::Rvalue } else { Binding::Lvalue };
                    self.at += 1;
                    self.qualifiers_here();
                    base = Type { kind: TypeKind::Reference(Box::new(base), binding), qualifiers: Vec::new(), span };
                }
                _ => return base,
            }
        }
    }

    fn declarator_here(&mut self, mut base: Type, naming: Naming) -> Reading<Declared> {
        base = self.around(base);
        if self.next() == "(" && self.opens_declarator(naming) {
            let inside = self.at + 1;
            let close = self.close(self.at);
            self.at = close + 1;
            let (ty, tail) = self.suffixes(base, Suffix::Function)?;
            let after = std::mem::replace(&mut self.at, inside);
            self.attributes();
            let mut declared = self.declarator(ty, naming)?;
            if self.at != close {
                return Err(MISFIT);
            }
            // `int (f)(int)`: what stands between the name and its parameters are parentheses only.
            if declared.path.is_some() && matches!(declared.ty.kind, TypeKind::Function(..)) {
                declared.function = declared.function.or(tail);
            }
            self.at = after;
            return Ok(declared);
        }
        let named = naming != Naming::Abstract && (self.is_identifier(self.at) || matches!(self.next(), "::" | "~"));
        let path = if named { Some(self.path(usize::MAX)?) } else { None };
        let behind = self.qualifiers_here();
        let suffix = match (&path, naming) {
            (None, _) | (_, Naming::Function) => Suffix::Function,
            (Some(path), _) if self.declares_function(path) => Suffix::Function,
            (Some(_), _) => Suffix::Variable,
        };
        let (ty, tail) = self.suffixes(base, suffix)?;
        Ok(Declared { path, ty, function: tail, behind })
    }

    /// Whether a name that was just read is that of a function.
    fn declares_function(&self, path: &Path) -> bool {
        // An operator's name has several tokens, and arguments may follow a name; libclang points at its first.
        let last = path.segments.last().map(|segment| &segment.name);
        let back = (1..24).map_while(|back| self.at.checked_sub(back));
        let mut first = back.filter(|&at| last.is_some_and(|name| self.span(at..at + 1).start == name.span.start));
        first.any(|at| {
            let kind = self.map.declared(at);
            matches!(
                kind,
                Some(Kind::Function | Kind::Method | Kind::Constructor | Kind::Destructor | Kind::Conversion)
            )
        })
    }

    /// Whether the `(` that comes next encloses a declarator, not parameters.
    fn opens_declarator(&self, naming: Naming) -> bool {
        let inside = self.at + 1;
        match self.text(inside) {
            "*" | "&" | "&&" | "^" => true,
            "(" => naming != Naming::Abstract,
            "__attribute__" => true,
            _ => naming != Naming::Abstract && self.map.declared(inside).is_some() && self.close(self.at) == inside + 1,
        }
    }

    /// `[…]` and `(…)` behind a declarator.
    fn suffixes(&mut self, base: Type, suffix: Suffix) -> Reading<(Type, Option<Tail>)> {
        let span = base.span;
        if self.next() == "(" && suffix == Suffix::Function {
            let close = self.close(self.at);
            let Params { params, variadic } = self.params()?;
            self.at = close + 1;
            let (tail, trailing) = self.tail(variadic)?;
            let result = Box::new(trailing.unwrap_or(base));
            let qualifiers = words::of_function_type(&tail.qualifiers);
            let ty = Type { span: result.span, kind: TypeKind::Function(result, params), qualifiers };
            return Ok((ty, Some(tail)));
        }
        let mut sizes = Vec::new();
        while self.next() == "[" && self.text(self.at + 1) != "[" {
            let inside = self.at + 1..self.close(self.at);
            self.at = inside.end + 1;
            sizes.push(self.size(inside));
        }
        let mut ty = base;
        for size in sizes.into_iter().rev() {
            ty = Type { kind: TypeKind::Array(Box::new(ty), size), qualifiers: Vec::new(), span };
        }
        Ok((ty, None))
    }

    /// What stands between the brackets of an array.
    fn size(&mut self, mut inside: Range<usize>) -> Option<Box<Expr>> {
        while matches!(self.text(inside.start), "static" | "const" | "restrict" | "volatile") && !inside.is_empty() {
            inside.start += 1;
        }
        if inside.is_empty() {
            return None;
        }
        let size = if self.map.exact(inside.start, inside.end).is_some() {
            self.expression(inside)
        } else {
            self.constant(inside)
        };
        Some(Box::new(size))
    }

    /// What follows a function's parameters: qualifiers, and a trailing result type.
    fn tail(&mut self, variadic: bool) -> Reading<(Tail, Option<Type>)> {
        let mut tail = Tail { variadic, ..Tail::default() };
        let mut trailing = None;
        loop {
            match self.next() {
                "const" => {
                    tail.is_const = true;
                    self.at += 1;
                }
                "&" | "&&" => {
                    let is_rvalue = self.next() == "&&";
                    tail.called_on = Some(if is_rvalue { Binding::Rvalue } else { Binding::Lvalue });
                    self.at += 1;
                }
                "volatile" => {
                    tail.qualifiers.push(Qualifier::Volatile);
                    self.at += 1;
                }
                "__device__" | "__host__" => self.at += 1,
                word @ ("override" | "final") => {
                    tail.qualifiers.extend(words::qualifier(word, Language::Cuda));
                    self.at += 1;
                }
                word @ ("noexcept" | "throw") => {
                    let is_throw = word == "throw";
                    self.at += 1;
                    let mut condition = None;
                    if self.next() == "(" {
                        let inside = self.at + 1..self.close(self.at);
                        self.at = inside.end + 1;
                        condition = self.size(inside);
                    }
                    // `throw(E)` says what is thrown.
                    if !is_throw || condition.is_none() {
                        tail.qualifiers.push(words::noexcept(condition.map(|condition| *condition)));
                    }
                }
                "->" => {
                    self.at += 1;
                    trailing = Some(self.type_id()?);
                }
                "asm" | "__asm__" | "__asm" if self.text(self.at + 1) == "(" => {
                    self.at = self.close(self.at + 1) + 1;
                }
                _ => {
                    let found = self.attributes();
                    if found.is_empty() {
                        return Ok((tail, trailing));
                    }
                    tail.qualifiers.extend(found);
                }
            }
        }
    }

    /// The parameters in the parentheses that come next; `(void)` has none.
    fn params(&mut self) -> Reading<Params> {
        let close = self.close(self.at);
        self.at += 1;
        let mut found = Params { params: Vec::new(), variadic: false };
        if self.next() == "void" && self.at + 1 == close {
            return Ok(found);
        }
        while self.at < close {
            if self.eat("...") {
                found.variadic = true;
            } else {
                found.params.push(self.param(close)?);
            }
            if self.at < close {
                self.expect(",")?;
            }
        }
        Ok(found)
    }

    /// The parameters and the result type of a lambda, as far as they are written.
    pub(super) fn lambda_head(&mut self) -> Reading<(Vec<Param>, Option<Type>)> {
        let mut head = (Vec::new(), None);
        if self.next() == "(" {
            let close = self.close(self.at);
            let found = self.params()?;
            if found.variadic {
                return Err(MISFIT);
            }
            head.0 = found.params;
            self.at = close + 1;
        }
        self.specifiers_of_lambda();
        (_, head.1) = self.tail(false)?;
        Ok(head)
    }

    fn param(&mut self, close: usize) -> Reading<Param> {
        let start = self.at;
        let Specifiers { ty, mut qualifiers, .. } = self.specifiers()?;
        let (ty, pack) = self.pattern(ty.ok_or(MISFIT)?);
        let declared = self.declarator(ty, Naming::Named)?;
        qualifiers.extend(self.attributes());
        let default = if self.eat("=") { Some(self.next_expression(close)?) } else { None };
        let name = declared.path.and_then(|mut path| path.segments.pop()).map(|segment| segment.name);
        Ok(Param { name: name.unwrap_or_else(|| self.no_name(start)), ty: declared.ty, qualifiers, default, pack })
    }

    /// The type of a pack of parameters, with the pointers and references before its dots, and whether there are any.
    fn pattern(&mut self, mut base: Type) -> (Type, bool) {
        let start = self.at;
        let unread = base.clone();
        base = self.around(base);
        if self.eat("...") {
            return (base, true);
        }
        self.at = start;
        (unread, false)
    }

    /// A declaration of variables, fields, types or functions, up to and with its `;` or body.
    pub(super) fn declaration(&mut self, template: Option<Vec<TemplateParam>>) -> Reading<Vec<Item>> {
        let start = self.at;
        let Specifiers { ty, mut qualifiers, is_typedef } = self.specifiers()?;
        let Some(mut base) = ty else {
            let item = self.untyped(start, qualifiers, template)?;
            return Ok(vec![item]);
        };
        if self.next() == ";" {
            self.at += 1;
            return Ok(self.bare_declaration(start, base, qualifiers, template));
        }
        let limit = self.find(self.at, self.output.tokens.len(), &[";"]);
        let mut items = Vec::new();
        let mut variables = Vec::new();
        loop {
            let from = self.at;
            let declared = self.declarator(base.clone(), Naming::Named)?;
            if is_typedef {
                let name = declared.path.and_then(|mut path| path.segments.pop()).ok_or(MISFIT)?.name;
                self.attributes();
                let kind = ItemKind::Alias { name: name.clone(), template: Vec::new(), ty: declared.ty };
                items.push(Item { kind, span: self.span(start..limit + 1) });
                base = named_again(base, Some(&name));
            } else if let Some(tail) = declared.function {
                let own = qualifiers.iter().chain(&tail.qualifiers).cloned().collect();
                let head = Head { path: declared.path.ok_or(MISFIT)?, qualifiers: own, tail };
                let TypeKind::Function(result, params) = declared.ty.kind else { return Err(MISFIT) };
                let function = head.function(template.clone(), Some(*result), params);
                let (function, ends) = self.body(function, from)?;
                let end = if ends == Ends::Here { self.at } else { limit + 1 };
                items.push(Item { kind: ItemKind::Function(Box::new(function)), span: self.span(start..end) });
                if ends == Ends::Here {
                    return Ok(items);
                }
                base = named_again(base, None);
            } else {
                qualifiers.extend(declared.behind.iter().cloned());
                qualifiers.extend(self.attributes());
                let path = declared.path.clone();
                let mut variable = self.variable(from, declared, &qualifiers, limit)?;
                (variable.ty, variable.template) =
                    syntax::of_variable_template(variable.ty, template.as_deref(), path.as_ref());
                variables.push(variable);
                base = named_again(base, None);
            }
            if self.eat(",") {
                continue;
            }
            self.expect(";")?;
            break;
        }
        if !variables.is_empty() {
            for variable in &mut variables {
                variable.qualifiers.clone_from(&qualifiers);
            }
            items.push(Item { kind: ItemKind::Variables(variables), span: self.span(start..self.at) });
        }
        Ok(items)
    }

    /// `T x = e` in the parentheses of an `if`.
    pub(super) fn condition_variable(&mut self, end: usize) -> Reading<Variable> {
        let Specifiers { ty, qualifiers, .. } = self.specifiers()?;
        let from = self.at;
        let declared = self.declarator(ty.ok_or(MISFIT)?, Naming::Named)?;
        let variable = self.variable(from, declared, &qualifiers, end)?;
        if self.at == end && variable.init.is_some() { Ok(variable) } else { Err(MISFIT) }
    }

    /// The variable of a range-based `for`, which has no initial value of its own.
    pub(super) fn range_variable(&mut self) -> Reading<Variable> {
        let Specifiers { ty, qualifiers, .. } = self.specifiers()?;
        let from = self.at;
        let declared = self.declarator(ty.ok_or(MISFIT)?, Naming::Named)?;
        let path = declared.path.clone();
        let name = path.and_then(|mut path| path.segments.pop()).map(|segment| segment.name).ok_or(MISFIT)?;
        let span = self.span(from..self.at);
        let (outer, template) = (Vec::new(), Vec::new());
        Ok(Variable { name, outer, ty: declared.ty, template, qualifiers, init: None, bits: None, span })
    }

    fn variable(
        &mut self,
        from: usize,
        declared: Declared,
        qualifiers: &[Qualifier],
        limit: usize,
    ) -> Reading<Variable> {
        let declarator_end = self.at;
        let bits = if self.eat(":") { Some(self.next_expression(limit)?) } else { None };
        let init = match self.next() {
            "=" => {
                self.at += 1;
                Some(Init::Value(self.next_expression(limit)?))
            }
            "(" => {
                let inside = self.at + 1..self.close(self.at);
                let arguments = self.arguments(inside.clone())?;
                self.at = inside.end + 1;
                Some(Init::Call(arguments))
            }
            "{" => {
                let inside = self.at + 1..self.close(self.at);
                if !inside.is_empty() && self.text(inside.start) == "." {
                    // With designators it means what `= {…}` means.
                    Some(Init::Value(self.next_expression(limit)?))
                } else {
                    let arguments = self.arguments(inside.clone())?;
                    self.at = inside.end + 1;
                    Some(Init::List(arguments))
                }
            }
            _ => None,
        };
        let mut outer = declared.path.map(|path| path.segments).unwrap_or_default();
        let name = outer.pop().map(|segment| segment.name);
        Ok(Variable {
            name: name.unwrap_or_else(|| self.no_name(from)),
            outer,
            ty: declared.ty,
            template: Vec::new(),
            qualifiers: qualifiers.to_vec(),
            init,
            bits,
            span: self.span(from..declarator_end.max(from + 1)),
        })
    }

    /// A type alone: a record or an enumeration, an anonymous member.
    fn bare_declaration(
        &mut self,
        start: usize,
        base: Type,
        qualifiers: Vec<Qualifier>,
        template: Option<Vec<TemplateParam>>,
    ) -> Vec<Item> {
        let attributes = qualifiers.into_iter().filter(|it| matches!(it, Qualifier::Attribute(..)));
        let kind = match base.kind {
            TypeKind::Record(mut record) => {
                record.qualifiers.extend(attributes);
                ItemKind::Record(Record { template, ..*record })
            }
            TypeKind::Enum(enumeration) => ItemKind::Enum(*enumeration),
            _ => return Vec::new(),
        };
        vec![Item { kind, span: self.span(start..self.at) }]
    }

    /// A constructor, a destructor or a conversion.
    fn untyped(
        &mut self,
        start: usize,
        mut qualifiers: Vec<Qualifier>,
        template: Option<Vec<TemplateParam>>,
    ) -> Reading<Item> {
        if self.next() == "operator" {
            return self.conversion(start, qualifiers, template);
        }
        let from = self.at;
        let path = self.path(usize::MAX)?;
        if self.next() != "(" {
            return Err(MISFIT);
        }
        let close = self.close(self.at);
        let Params { params, variadic } = self.params()?;
        self.at = close + 1;
        let (tail, _) = self.tail(variadic)?;
        qualifiers.extend(tail.qualifiers.iter().cloned());
        self.untyped_body(start, from, Head { path, qualifiers, tail }.function(template, None, params))
    }

    fn untyped_body(&mut self, start: usize, from: usize, function: Function) -> Reading<Item> {
        let (function, ends) = self.body(function, from)?;
        if ends == Ends::Open {
            self.expect(";")?;
        }
        Ok(Item { kind: ItemKind::Function(Box::new(function)), span: self.span(start..self.at) })
    }

    /// `operator T *() const`, named by its words: `operator T *`.
    fn conversion(
        &mut self,
        start: usize,
        qualifiers: Vec<Qualifier>,
        template: Option<Vec<TemplateParam>>,
    ) -> Reading<Item> {
        self.at += 1;
        let from = self.at;
        let specifiers = self.specifiers()?;
        let span = self.span(from..self.at);
        // The name leaves out what qualifies the type before it.
        let named = self.find_word(from);
        let words = self.words(named..self.find(named, self.output.tokens.len(), &["("]));
        let mut base = specifiers.ty.ok_or(MISFIT)?;
        base.qualifiers = specifiers.qualifiers;
        let declared = self.declarator(base, Naming::Abstract)?;
        let (TypeKind::Function(result, params), Some(tail)) = (declared.ty.kind, declared.function) else {
            return Err(MISFIT);
        };
        let name = Name { text: format!("operator {words}"), span };
        let path = Path { global: false, segments: vec![PathSegment { name, args: None }] };
        self.untyped_body(start, from, Head { path, qualifiers, tail }.function(template, Some(*result), params))
    }

    /// The first token at or after `from` that does not qualify a type.
    pub(super) fn find_word(&self, from: usize) -> usize {
        let qualifies = |at: &usize| matches!(self.text(*at), "const" | "volatile");
        (from..self.output.tokens.len()).find(|at| !qualifies(at)).unwrap_or(from)
    }

    /// Reads what follows a function's head, whose declarator starts at `from`: its body, `= default`, or nothing.
    fn body(&mut self, mut function: Function, from: usize) -> Reading<(Function, Ends)> {
        if self.next() == "=" && matches!(self.text(self.at + 1), "default" | "delete" | "0") {
            if self.text(self.at + 1) != "0" {
                function.qualifiers.push(Qualifier::Defaulted);
            }
            self.at += 2;
            self.expect(";")?;
            return Ok((function, Ends::Here));
        }
        let start = self.at;
        if self.next() == ":" {
            function.initializers = self.initializers()?;
        }
        match self.next() {
            "{" => {
                function.body = Some(self.block()?);
                self.body = start..self.at;
                account::settle(&mut function, self.output, from..self.at, self.language);
                Ok((function, Ends::Here))
            }
            "try" => Err(super::Confusion("try block")),
            _ => Ok((function, Ends::Open)),
        }
    }

    /// `: a(1), b{2}` of a constructor.
    fn initializers(&mut self) -> Reading<Vec<(Name, Vec<Expr>)>> {
        let mut found = Vec::new();
        self.at += 1;
        loop {
            let from = self.at;
            let mut path = self.path(usize::MAX)?;
            let span = self.span(from..self.at);
            let name = Name { span, ..path.segments.pop().ok_or(MISFIT)?.name };
            if !matches!(self.next(), "(" | "{") {
                return Err(MISFIT);
            }
            let inside = self.at + 1..self.close(self.at);
            let arguments = self.arguments(inside.clone())?;
            self.at = inside.end + 1;
            found.push((name, arguments));
            if !self.eat(",") {
                return Ok(found);
            }
        }
    }
}

/// For a record or enumeration that was just defined: the type that names it, for the next declarator.
fn named_again(base: Type, alias: Option<&Name>) -> Type {
    let own = match &base.kind {
        TypeKind::Record(record) => &record.name,
        TypeKind::Enum(enumeration) => &enumeration.name,
        _ => return base,
    };
    let name = if own.text.is_empty() { alias } else { Some(own) };
    match name.cloned() {
        Some(name) => {
            let segments = vec![PathSegment { name, args: None }];
            Type { kind: TypeKind::Named(Path { global: false, segments }), ..base }
        }
        None => base,
    }
}
