//! Records and enumerations.

use super::{Reader, Reading};
use crate::syntax::{Enum, Item, ItemKind, Name, Path, PathSegment, Qualifier, Record, Type, TypeKind, packed, words};

impl Reader<'_> {
    /// `struct S`, `struct S { … }`, `class S : B { … }`.
    pub(super) fn record_specifier(&mut self) -> Reading<TypeKind> {
        let start = self.at;
        let is_union = self.next() == "union";
        self.at += 1;
        let mut qualifiers = self.attributes();
        let mut path = None;
        if self.next() != "{" {
            path = Some(self.path(usize::MAX)?);
        }
        if self.eat("final") {
            qualifiers.push(Qualifier::Final);
        }
        let mut bases = Vec::new();
        if self.next() == ":" {
            self.at += 1;
            loop {
                let mut qualifiers = Vec::new();
                while matches!(self.next(), "public" | "private" | "protected" | "virtual") {
                    if self.next() == "virtual" {
                        qualifiers.push(Qualifier::Virtual);
                    }
                    self.at += 1;
                }
                let from = self.at;
                let kind = TypeKind::Named(self.path(usize::MAX)?);
                bases.push(Type { kind, qualifiers, span: self.span(from..self.at) });
                if !self.eat(",") {
                    break;
                }
            }
        }
        // `struct S;` declares it.
        let is_declaration = self.next() == ";" && path.as_ref().is_some_and(|path| path.segments.len() == 1);
        if self.next() != "{" && !is_declaration {
            return Ok(TypeKind::Named(path.ok_or(super::MISFIT)?));
        }
        let mut members = None;
        if !is_declaration {
            let close = self.close(self.at);
            self.at += 1;
            members = Some(self.member_items(close));
            self.at = close + 1;
            qualifiers.extend(self.attributes());
        }
        let mut outer = path.map(|path| path.segments).unwrap_or_default();
        let (name, specialization) = match outer.pop() {
            Some(PathSegment { name, args }) => (name, args),
            None => (self.no_name(start), None),
        };
        if let Some(members) = &mut members {
            packed::mark(members, &name, self.span(start..self.at), &self.output.sources, &self.output.packed);
        }
        let record = Record { name, outer, is_union, template: None, specialization, qualifiers, bases, members };
        Ok(TypeKind::Record(Box::new(record)))
    }

    fn member_items(&mut self, end: usize) -> Vec<Item> {
        let mut items = Vec::new();
        while self.at < end {
            match self.next() {
                "public" | "private" | "protected" if self.text(self.at + 1) == ":" => self.at += 2,
                _ if self.is_friend() => items.extend(self.friend(end)),
                _ => items.extend(self.item(end)),
            }
        }
        items
    }

    /// Whether a friend comes next, perhaps behind specifiers.
    fn is_friend(&self) -> bool {
        let is_specifier = |at: usize| words::is_specifier_of_member(self.text(at));
        let behind = (self.at..).find(|&at| !is_specifier(at)).unwrap_or(self.at);
        self.text(behind) == "friend"
    }

    /// A friend function that is defined here; a mere declaration adds nothing.
    fn friend(&mut self, end: usize) -> Vec<Item> {
        friends(self.item(end))
    }

    /// `enum E`, `enum class E : int { a, b = 2 }`.
    pub(super) fn enum_specifier(&mut self) -> Reading<TypeKind> {
        let start = self.at;
        self.at += 1;
        let scoped = self.eat("class") || self.eat("struct");
        self.attributes();
        let name = if self.is_identifier(self.at) {
            self.at += 1;
            self.name(self.at - 1)
        } else {
            self.no_name(start)
        };
        let underlying = if self.eat(":") { Some(self.type_id()?) } else { None };
        if self.next() != "{" {
            let segments = vec![PathSegment { name, args: None }];
            return Ok(TypeKind::Named(Path { global: false, segments }));
        }
        let close = self.close(self.at);
        self.at += 1;
        let mut constants: Vec<(Name, Option<crate::syntax::Expr>)> = Vec::new();
        while self.at < close {
            let name = self.name(self.at);
            self.at += 1;
            self.attributes();
            let value = if self.eat("=") { Some(self.next_expression(close)?) } else { None };
            constants.push((name, value));
            if self.at < close {
                self.expect(",")?;
            }
        }
        self.at = close + 1;
        self.attributes();
        Ok(TypeKind::Enum(Box::new(Enum { name, scoped, underlying, constants })))
    }
}

/// The items of a friend declaration that add something: functions that it defines, and what was not understood.
pub(super) fn friends(mut items: Vec<Item>) -> Vec<Item> {
    for item in &mut items {
        if let ItemKind::Function(function) = &mut item.kind {
            function.qualifiers.push(Qualifier::Friend);
        }
    }
    let defined = |item: &Item| matches!(&item.kind, ItemKind::Function(function) if function.body.is_some());
    items.into_iter().filter(|item| defined(item) || matches!(item.kind, ItemKind::Unsupported(_))).collect()
}
