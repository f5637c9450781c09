//! Types: specifiers, and types without a name.
//!
//! What is read here is known to be a type, so no cursor is needed to tell names from each other.

use super::{Confusion, MISFIT, Reader, Reading};
use crate::source::Language;
use crate::syntax::{Qualifier, Type, TypeKind, words};
use std::ops::Range;

/// What stands before the first declarator of a declaration.
pub(super) struct Specifiers {
    /// The type; `None` for constructors, destructors and conversions.
    pub(super) ty: Option<Type>,
    /// Qualifiers in source order, then attributes.
    pub(super) qualifiers: Vec<Qualifier>,
    /// Whether it says `typedef`.
    pub(super) is_typedef: bool,
}

impl Reader<'_> {
    /// The specifiers that start at the next token.
    pub(super) fn specifiers(&mut self) -> Reading<Specifiers> {
        let mut found = Specifiers { ty: None, qualifiers: Vec::new(), is_typedef: false };
        let mut attributes = Vec::new();
        loop {
            let from = attributes.len();
            attributes.extend(self.attributes());
            if attributes.len() > from {
                continue;
            }
            let word = self.next();
            if word == "typedef" {
                found.is_typedef = true;
                self.at += 1;
            } else if self.is_qualifier() {
                found.qualifiers.extend(words::qualifier(word, self.language));
                self.at += 1;
            } else if self.is_ignored() {
                self.at += 1;
            } else if found.ty.is_none() && self.starts_type() {
                found.ty = Some(self.type_specifier(&mut found.qualifiers)?);
            } else {
                break;
            }
        }
        found.qualifiers.extend(attributes);
        if let Some(ty) = &mut found.ty {
            let own = words::of_the_type(&found.qualifiers, self.language);
            ty.qualifiers.extend(own);
        }
        Ok(found)
    }

    /// Whether the next token qualifies a declaration or a type.
    fn is_qualifier(&self) -> bool {
        let opencl = self.language == Language::OpenCl;
        match self.next() {
            "__global__" | "__device__" | "__host__" | "__shared__" | "__constant__" | "__managed__"
            | "__grid_constant__" | "__kernel" | "__global" | "__local" | "__constant" | "__private" | "__generic"
            | "__read_only" | "__write_only" | "__read_write" | "extern" | "static" | "const" | "__const"
            | "__const__" | "volatile" | "__volatile__" | "__volatile" | "__restrict__" | "__restrict" | "restrict"
            | "inline" | "register" => true,
            "constexpr" | "consteval" | "constinit" | "virtual" | "explicit" | "mutable" | "thread_local" => !opencl,
            "kernel" | "global" | "local" | "constant" | "private" | "generic" | "read_only" | "write_only"
            | "read_write" => opencl,
            // Before version 2.0 it is a name like any other.
            "pipe" => opencl && self.is_identifier(self.at + 1),
            _ => false,
        }
    }

    /// Whether the next token changes nothing.
    fn is_ignored(&self) -> bool {
        matches!(
            self.next(),
            "__inline__"
                | "__inline"
                | "__forceinline__"
                | "__forceinline"
                | "__noinline__"
                | "__extension__"
                | "_Noreturn"
                | "__cdecl"
                | "__stdcall"
                | "__device_builtin__"
                | "__cudart_builtin__"
                | "CUDARTAPI"
                | "friend"
        )
    }

    /// Whether the next token starts the type of a declaration and not the name of a constructor.
    fn starts_type(&self) -> bool {
        match self.next() {
            "operator" | "~" => false,
            "::" => true,
            _ => self.is_identifier(self.at) && !self.is_untyped(),
        }
    }

    /// Whether the path at the next token names a constructor, a destructor or a conversion.
    fn is_untyped(&self) -> bool {
        use crate::front::clang::wire::Kind;
        let mut at = self.at;
        loop {
            let named = self.map.declared(at);
            if matches!(named, Some(Kind::Constructor | Kind::Destructor | Kind::Conversion))
                && self.text(at) != "struct"
            {
                return true;
            }
            if self.text(at + 1) == "<" {
                at = self.skip_angles(at + 1);
            } else {
                at += 1;
            }
            if self.text(at) != "::" {
                return false;
            }
            at += 1;
            if matches!(self.text(at), "~" | "operator") {
                return self.text(at) == "~" || self.map.declared(at) == Some(Kind::Conversion);
            }
        }
    }

    /// The token behind the `>` that closes the `<` at `open`.
    fn skip_angles(&self, open: usize) -> usize {
        let mut depth = 0_i32;
        let mut at = open;
        while at < self.output.tokens.len() {
            match self.text(at) {
                "<" => depth += 1,
                ">" => depth -= 1,
                ">>" => depth -= 2,
                "(" | "[" | "{" => at = self.close(at),
                ";" => return at,
                _ => {}
            }
            at += 1;
            if depth <= 0 {
                return at;
            }
        }
        at
    }

    /// The type that the next tokens name or define.
    fn type_specifier(&mut self, qualifiers: &mut Vec<Qualifier>) -> Reading<Type> {
        self.deeper(|this| this.type_specifier_here(qualifiers))
    }

    fn type_specifier_here(&mut self, qualifiers: &mut Vec<Qualifier>) -> Reading<Type> {
        let start = self.at;
        if words::is_arithmetic_word(self.next()) {
            return self.arithmetic_words(qualifiers);
        }
        let kind = match self.next() {
            "struct" | "class" | "union" => self.record_specifier()?,
            "enum" => self.enum_specifier()?,
            "auto" => {
                self.at += 1;
                TypeKind::Auto
            }
            "decltype" | "typeof" | "__typeof__" | "__typeof" => self.type_of(),
            _ => {
                self.eat("typename");
                TypeKind::Named(self.path(usize::MAX)?)
            }
        };
        Ok(Type { kind, qualifiers: Vec::new(), span: self.span(start..self.at) })
    }

    fn type_of(&mut self) -> TypeKind {
        let is_decltype = self.next() == "decltype";
        let open = self.at + 1;
        let inside = open + 1..self.close(open);
        self.at = inside.end + 1;
        if self.words(inside.clone()) == "auto" {
            return TypeKind::DecltypeAuto;
        }
        if !is_decltype {
            return TypeKind::Typeof(Box::new(self.expression(inside)));
        }
        let in_parentheses = self.text(inside.start) == "(" && self.close(inside.start) + 1 == inside.end;
        let value = Box::new(self.expression(inside));
        if in_parentheses { TypeKind::DecltypeOfValue(value) } else { TypeKind::Decltype(value) }
    }

    /// `unsigned long` and its like, with qualifiers between the words.
    pub(super) fn arithmetic_type(&mut self) -> Reading<Type> {
        let mut qualifiers = Vec::new();
        let mut ty = self.arithmetic_words(&mut qualifiers)?;
        ty.qualifiers = qualifiers;
        Ok(ty)
    }

    fn arithmetic_words(&mut self, qualifiers: &mut Vec<Qualifier>) -> Reading<Type> {
        let start = self.at;
        let mut end = start;
        let mut spelled = Vec::new();
        loop {
            let word = self.next();
            if words::is_arithmetic_word(word) {
                spelled.push(word);
                end = self.at + 1;
            } else if self.is_qualifier() && !matches!(word, "(" | ")") {
                qualifiers.extend(words::qualifier(word, self.language));
            } else {
                break;
            }
            self.at += 1;
        }
        let kind = match words::builtin_type(&spelled) {
            Some(text) => TypeKind::Builtin(text),
            None => return Err(Confusion("type that is not understood")),
        };
        Ok(Type { kind, qualifiers: Vec::new(), span: self.span(start..end) })
    }

    /// The type without a name that fills `tokens`.
    pub(super) fn type_in(&mut self, tokens: Range<usize>) -> Reading<Type> {
        let at = self.at;
        self.at = tokens.start;
        let ty = self.type_id();
        let whole = self.at == tokens.end;
        self.at = at;
        if whole { ty } else { Err(MISFIT) }
    }

    /// The type without a name that starts at the next token.
    pub(super) fn type_id(&mut self) -> Reading<Type> {
        self.deeper(|this| {
            let specifiers = this.specifiers()?;
            let mut base = specifiers.ty.ok_or(MISFIT)?;
            base.qualifiers = specifiers.qualifiers;
            let declared = this.declarator(base, super::declarations::Naming::Abstract)?;
            Ok(declared.ty)
        })
    }

    /// Qualifiers behind a `*` or a parameter list.
    pub(super) fn qualifiers_here(&mut self) -> Vec<Qualifier> {
        let mut found = Vec::new();
        loop {
            if self.is_qualifier() {
                found.extend(words::qualifier(self.next(), self.language));
                self.at += 1;
            } else if self.is_ignored() {
                self.at += 1;
            } else {
                let attributes = self.attributes();
                if attributes.is_empty() {
                    return found;
                }
                found.extend(attributes);
            }
        }
    }
}
