//! Items of files, namespaces and records.

use super::{Confusion, MISFIT, Place, Reader, Reading};
use crate::syntax::{
    Item, ItemKind, Name, TemplateParam, lost_function, lost_functions, lost_kernel, lost_member, lost_members,
    lost_name,
};
use std::ops::Range;

impl Reader<'_> {
    /// The items of a file or a namespace, up to `end`; each is noted as a [`Place`].
    pub(super) fn namespace_items(&mut self, end: usize) -> Vec<Item> {
        let mut items = Vec::new();
        while self.at < end {
            if let Some(namespace) = self.namespace(end) {
                items.extend(namespace);
                continue;
            }
            items.extend(self.noted_item(end));
        }
        items
    }

    /// An item of a file or a namespace, with its [`Place`].
    fn noted_item(&mut self, end: usize) -> Vec<Item> {
        let (start, confusions) = (self.at, self.confusions);
        self.body = 0..0;
        let found = self.item(end);
        let tokens = start..self.at;
        for item in &found {
            let is_function = matches!(item.kind, ItemKind::Function(_));
            self.places.push(Place {
                tokens: tokens.clone(),
                body: if is_function { self.body.clone() } else { 0..0 },
                span: item.span,
                confused: self.confusions > confusions,
                names: names_of(item),
            });
        }
        found
    }

    /// `namespace a { … }`, `extern "C" { … }`; `None` if the next token starts none.
    fn namespace(&mut self, end: usize) -> Option<Vec<Item>> {
        let start = self.at;
        let is_inline = self.next() == "inline";
        let mut at = start + usize::from(is_inline);
        let mut names: Vec<(Name, bool)> = Vec::new();
        let mut inline = is_inline;
        match self.text(at) {
            "namespace" => {
                at += 1;
                while self.text(at) != "{" && at < end {
                    match self.text(at) {
                        "=" | ";" => return None,
                        "::" => inline = false,
                        "inline" => inline = true,
                        _ => names.push((self.name(at), inline)),
                    }
                    at += 1;
                }
            }
            "extern" if self.text(at + 1).starts_with('"') && self.text(at + 2) == "{" => at += 2,
            "extern" if self.text(at + 1).starts_with('"') && at + 2 < end => {
                // As if it stood in braces.
                self.at = at + 2;
                let items = self.noted_item(end);
                let kind = ItemKind::Namespace { name: self.no_name(start), inline: false, items };
                return Some(vec![Item { kind, span: self.span(start..self.at) }]);
            }
            _ => return None,
        }
        let close = self.close(at).min(end);
        self.at = at + 1;
        let inside = self.deeper(|this| Ok(this.namespace_items(close)));
        self.at = (close + 1).min(end).max(start + 1);
        let span = self.span(start..self.at);
        let (name, inline) = names.pop().unwrap_or_else(|| (self.no_name(start), false));
        if names.len() > 64 {
            return Some(vec![self.unsupported_item(start..self.at, super::NESTED_TOO_DEEPLY)]);
        }
        let items = match inside {
            Ok(items) => items,
            Err(why) => vec![self.unsupported_item(start..self.at, why.0)],
        };
        let mut item = Item { kind: ItemKind::Namespace { name, inline, items }, span };
        while let Some((name, inline)) = names.pop() {
            item = Item { kind: ItemKind::Namespace { name, inline, items: vec![item] }, span };
        }
        Some(vec![item])
    }

    fn unsupported_item(&self, tokens: Range<usize>, reason: &str) -> Item {
        Item { kind: ItemKind::Unsupported(reason.to_owned()), span: self.span(tokens) }
    }

    /// The items that one declaration gives; always goes on by at least one token.
    pub(super) fn item(&mut self, end: usize) -> Vec<Item> {
        let (start, depth) = (self.at, self.depth);
        let read = self.deeper(Self::item_here);
        self.depth = depth;
        self.half = false;
        match read {
            Ok(items) if self.at > start && self.at <= end => items,
            outcome => {
                let why = outcome.err().unwrap_or(MISFIT);
                let reason = self.confused(&why);
                // What was read of it is not kept, so that no part of it counts as a body.
                self.body = 0..0;
                self.at = start;
                self.skip_item(end);
                let tokens = start..self.at;
                if let Some(kernel) = self.lost_kernel(&tokens, &reason) {
                    return vec![kernel];
                }
                let mut items = vec![self.unsupported_item(tokens.clone(), &reason)];
                items.extend(self.lost_declarations(tokens, &reason));
                items
            }
        }
    }

    fn item_here(&mut self) -> Reading<Vec<Item>> {
        let start = self.at;
        match self.next() {
            ";" => {
                self.at += 1;
                Ok(Vec::new())
            }
            "template" => self.template(),
            "extern" if self.text(start + 1) == "template" => self.template(),
            "using" => self.using(),
            "namespace" => self.namespace_alias(),
            "static_assert" | "_Static_assert" => self.static_assert(),
            _ => self.declaration(None),
        }
    }

    fn static_assert(&mut self) -> Reading<Vec<Item>> {
        let start = self.at;
        self.at += 2;
        let condition = self.next_expression(self.close(start + 1))?;
        self.at = self.close(start + 1) + 1;
        self.expect(";")?;
        Ok(vec![Item { kind: ItemKind::StaticAssert(condition), span: self.span(start..self.at) }])
    }

    /// `using namespace a;`, `using a::b;`, `using T = U;`.
    fn using(&mut self) -> Reading<Vec<Item>> {
        let start = self.at;
        if self.text(start + 2) == "=" {
            return Ok(vec![self.alias(Vec::new())?]);
        }
        self.at += 1;
        let names_namespace = self.eat("namespace");
        if self.next() == "enum" {
            return Err(Confusion("using enum"));
        }
        self.eat("typename");
        let path = self.path(usize::MAX)?;
        self.expect(";")?;
        let kind = match path.segments.last() {
            _ if names_namespace => ItemKind::UsingNamespace(path),
            Some(last) => ItemKind::UsingName { name: last.name.clone(), path },
            None => return Err(MISFIT),
        };
        Ok(vec![Item { kind, span: self.span(start..self.at) }])
    }

    /// `using T = U;`
    pub(super) fn alias(&mut self, template: Vec<TemplateParam>) -> Reading<Item> {
        let start = self.at;
        let name = self.name(start + 1);
        self.at += 2;
        self.attributes();
        self.expect("=")?;
        let ty = self.type_id()?;
        self.expect(";")?;
        Ok(Item { kind: ItemKind::Alias { name, template, ty }, span: self.span(start..self.at) })
    }

    /// `namespace a = b::c;`
    fn namespace_alias(&mut self) -> Reading<Vec<Item>> {
        let start = self.at;
        let name = self.name(start + 1);
        self.at += 2;
        self.expect("=")?;
        let path = self.path(usize::MAX)?;
        self.expect(";")?;
        Ok(vec![Item { kind: ItemKind::UsingName { name, path }, span: self.span(start..self.at) }])
    }

    /// Goes behind a declaration that could not be read: to its `;`, or behind its body.
    fn skip_item(&mut self, end: usize) {
        let start = self.at;
        let stop = self.find(start, end, &[";", "{"]);
        self.at = match self.text(stop) {
            "{" if stop < end => {
                let close = self.close(stop).min(end.saturating_sub(1));
                if self.text(close + 1) == ";" && close + 1 < end { close + 2 } else { close + 1 }
            }
            _ => stop + 1,
        };
        self.at = self.at.clamp(start + 1, end.max(start + 1));
    }

    /// A kernel that could not be read: its name, and a body that says so. It must be listed, or it would look as
    /// if it had been checked.
    fn lost_kernel(&self, tokens: &Range<usize>, reason: &str) -> Option<Item> {
        let name = lost_name(tokens.clone(), |at| self.text(at), |at| self.is_identifier(at))?;
        Some(lost_kernel(self.name(name), reason, self.span(tokens.clone())))
    }

    /// What stands for the other functions and the members that could not be read.
    fn lost_declarations(&self, tokens: Range<usize>, reason: &str) -> Vec<Item> {
        let span = self.span(tokens.clone());
        let members = lost_members(tokens.clone(), |at| self.text(at), |at| self.is_identifier(at)).into_iter();
        let names = lost_functions(tokens, |at| self.text(at), |at| self.is_identifier(at)).into_iter();
        let name = |tokens: Range<usize>| {
            let span = self.span(tokens.clone());
            Name { text: tokens.map(|at| self.text(at)).collect(), span }
        };
        let members = members.map(|names| lost_member(names.map(|at| self.name(at)), reason, span));
        names.map(|tokens| lost_function(name(tokens), reason, span)).chain(members).collect()
    }
}

/// The names that an item brings into its namespace.
fn names_of(item: &Item) -> Vec<String> {
    let text = |name: &Name| name.text.clone();
    match &item.kind {
        ItemKind::Function(function) => function.path.segments.iter().map(|segment| text(&segment.name)).collect(),
        ItemKind::Variables(variables) => variables.iter().map(|variable| text(&variable.name)).collect(),
        ItemKind::Record(record) => vec![text(&record.name)],
        ItemKind::Enum(enumeration) => std::iter::once(&enumeration.name)
            .chain(enumeration.constants.iter().map(|(name, _)| name))
            .map(text)
            .collect(),
        ItemKind::Alias { name, .. } | ItemKind::UsingName { name, .. } => vec![text(name)],
        _ => Vec::new(),
    }
}
