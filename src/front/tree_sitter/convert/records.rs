//! Records and enumerations.

use super::{Converter, child_of, children, children_of};
use crate::syntax::{self, Enum, Function, Item, ItemKind, Name, Qualifier, Record, Type};
use tree_sitter::Node;

impl Converter<'_> {
    pub(super) fn enumeration(&mut self, node: Node<'_>) -> Enum {
        let scoped = child_of(node, "class").or_else(|| child_of(node, "struct")).is_some();
        let name = match node.child_by_field_name("name") {
            Some(name) => self.last_name(name),
            None => self.no_name(node),
        };
        let underlying = node.child_by_field_name("base").map(|base| self.type_specifier(base));
        let enumerators = node.child_by_field_name("body").map(|body| children_of(body, "enumerator"));
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

    pub(super) fn record(&mut self, node: Node<'_>) -> Record {
        let (mut specialization, mut outer) = (None, Vec::new());
        let name = match node.child_by_field_name("name") {
            Some(name) => {
                let mut path = self.path(name);
                match path.segments.pop() {
                    Some(segment) => {
                        specialization = segment.args;
                        outer = path.segments;
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
        let clause = child_of(node, "base_class_clause");
        let head = self.first(node)..clause.map_or(head_end, |clause| self.first(clause));
        qualifiers.extend(head.skip(2).any(|at| self.spelling(at) == "final").then_some(Qualifier::Final));
        let bases = match clause {
            Some(clause) => {
                let is_base = |kind: &str| !matches!(kind, "access_specifier" | "virtual" | "attribute_declaration");
                let bases: Vec<Node<'_>> = children(clause).into_iter().filter(|it| is_base(it.kind())).collect();
                bases.into_iter().map(|base| self.base(base)).collect()
            }
            None => Vec::new(),
        };
        let is_union = node.kind() == "union_specifier";
        let mut members = body.map(|body| self.items(body));
        hidden_members(&name, members.as_mut());
        if let Some(members) = &mut members {
            syntax::packed::mark(members, &name, self.span(node), &self.output.sources, &self.output.packed);
        }
        Record { name, outer, is_union, template: None, specialization, qualifiers, bases, members }
    }

    /// A base class; `virtual` stands among the words before it.
    fn base(&mut self, node: Node<'_>) -> Type {
        let mut base = self.type_specifier(node);
        let before = (0..self.first(node)).rev().map(|at| self.spelling(at));
        let mut words = before.take_while(|word| matches!(*word, "public" | "private" | "protected" | "virtual"));
        base.qualifiers.extend(words.any(|word| word == "virtual").then_some(Qualifier::Virtual));
        base
    }

    /// Attributes written directly behind token `last`: `struct { … } __attribute__((packed))`.
    fn attributes_behind(&mut self, last: usize) -> Vec<Qualifier> {
        match self.skipped_behind(last) {
            0 => Vec::new(),
            skipped => self.attributes(last + 1..last + 2 + skipped),
        }
    }

    /// How many tokens of attributes follow token `last`.
    pub(super) fn skipped_behind(&self, last: usize) -> usize {
        let attributes = &self.buffer.attributes;
        let mut next = attributes.partition_point(|attribute| attribute.tokens.start <= last);
        let mut end = last + 1;
        while let Some(attribute) = attributes.get(next).filter(|attribute| attribute.tokens.start <= end) {
            end = attribute.tokens.end;
            next += 1;
        }
        end - last - 1
    }
}

/// What looks like a constructor of another class is a macro that is not defined. It may declare members and overloads of
/// the class's methods, so that none of these is taken for the one that is called.
fn hidden_members(class: &Name, members: Option<&mut Vec<Item>>) {
    let Some(members) = members else { return };
    let Some(hidden) = members.iter().position(|member| is_no_member(class, member)) else { return };
    let span = members[hidden].span;
    let reason = "a macro that is not defined, in a class";
    members[hidden].kind = ItemKind::Unsupported(reason.to_owned());
    let names = members.iter().filter_map(|member| declared_function(member)?.path.segments.last());
    let lost: Vec<Item> = names.map(|last| syntax::lost_function(last.name.clone(), reason, span)).collect();
    members.extend(lost);
}

fn declared_function(member: &Item) -> Option<&Function> {
    match &member.kind {
        ItemKind::Function(function) => Some(function),
        _ => None,
    }
}

/// Whether a member has no result, as constructors, destructors and conversions have none, and the name of none of them.
fn is_no_member(class: &Name, member: &Item) -> bool {
    declared_function(member).is_some_and(|function| {
        let name = function.path.segments.last().map_or("", |last| last.name.text.as_str());
        let has_no_result = function.result.is_none() && !function.is_unread();
        has_no_result && name != class.text && !name.starts_with('~') && !name.starts_with("operator")
    })
}
