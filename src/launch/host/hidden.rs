//! Where declarations hide what is declared outside of them: from a local to the end of its block, from the members of
//! a class to its end, from the parameters of a function to its end.
//!
//! Only names that are asked for are looked at, and only by their spelling. What is declared in text that is not read
//! hides nothing.

use crate::source::{SourceMap, Span};
use crate::syntax::parts::{init_parts, parts_of, parts_of_stmt};
use crate::syntax::{self, ExprKind, Function, Item, ItemKind, Name, StmtKind, Type, TypeKind};
use rustc_hash::FxHashSet;

/// The ranges in which names mean something of their own.
pub(super) struct Hidden<'u> {
    sources: &'u SourceMap,
    wanted: &'u FxHashSet<&'u str>,
    ranges: Vec<(&'u str, Span)>,
}

impl<'u> Hidden<'u> {
    /// The ranges in which declarations in `items` hide names that are `wanted`.
    pub(super) fn collect(items: &'u [Item], wanted: &'u FxHashSet<&'u str>, sources: &'u SourceMap) -> Self {
        let mut found = Hidden { sources, wanted, ranges: Vec::new() };
        found.in_items(items, None);
        found
    }

    /// Whether a name means something else at a place.
    pub(super) fn has(&self, name: &str, place: Span) -> bool {
        self.ranges.iter().any(|(hidden, range)| *hidden == name && is_within(self.sources, place, *range))
    }

    /// Hides a name over a whole range.
    pub(super) fn hide(&mut self, name: &'u Name, range: Span) {
        if self.wanted.contains(name.text.as_str()) {
            self.ranges.push((&name.text, range));
        }
    }

    /// Hides a name from its declaration to the end of what is around it.
    fn hide_from(&mut self, name: &'u Name, around: Span) {
        let start = self.sources.visible(name.span);
        if self.wanted.contains(name.text.as_str()) && around.expansion.is_none() && start.file == around.file {
            self.ranges.push((&name.text, Span { start: start.start, ..around }));
        }
    }

    /// `around` is the class or namespace that the items are of.
    fn in_items(&mut self, items: &'u [Item], around: Option<Span>) {
        for item in items {
            match &item.kind {
                ItemKind::Namespace { items, .. } => self.in_items(items, Some(item.span)),
                ItemKind::Function(function) => self.in_function(function, item.span),
                _ => self.in_item(item, around),
            }
        }
    }

    /// What an item declares within `around`, and what stands inside of it.
    fn in_item(&mut self, item: &'u Item, around: Option<Span>) {
        match &item.kind {
            ItemKind::Variables(variables) => {
                for variable in variables {
                    self.hide(&variable.name, variable.name.span);
                    around.into_iter().for_each(|around| self.hide_from(&variable.name, around));
                    self.in_type(&variable.ty);
                    init_parts(variable.init.as_ref()).iter().for_each(|value| self.in_expr(value));
                }
            }
            ItemKind::Record(record) => self.in_record(record, item.span),
            ItemKind::Enum(list) => self.in_enum(list, around),
            ItemKind::Alias { name, ty, .. } => {
                self.hide(name, name.span);
                self.in_type(ty);
            }
            ItemKind::ExplicitInstantiation { path, .. } => {
                path.segments.iter().for_each(|segment| self.hide(&segment.name, segment.name.span));
            }
            _ => {}
        }
    }

    fn in_record(&mut self, record: &'u syntax::Record, range: Span) {
        record.template.iter().flatten().for_each(|param| self.hide(&param.name, range));
        for member in record.members.iter().flatten() {
            if let ItemKind::Variables(variables) = &member.kind {
                // The bodies of functions see members that are declared behind them.
                variables.iter().for_each(|variable| self.hide(&variable.name, range));
            }
        }
        self.in_items(record.members.as_deref().unwrap_or(&[]), Some(range));
    }

    fn in_enum(&mut self, list: &'u syntax::Enum, around: Option<Span>) {
        for (name, _) in &list.constants {
            self.hide(name, name.span);
            around.filter(|_| !list.scoped).into_iter().for_each(|around| self.hide_from(name, around));
        }
    }

    fn in_function(&mut self, function: &'u Function, range: Span) {
        function.template.iter().flatten().for_each(|param| self.hide(&param.name, range));
        for param in &function.params {
            self.hide(&param.name, range);
            self.in_type(&param.ty);
        }
        let of_members = function.initializers.iter().flat_map(|(_, values)| values);
        of_members.for_each(|value| self.in_expr(value));
        self.in_stmts(function.body.iter().flatten(), range);
    }

    /// The statements of a block, or what stands in parentheses before one.
    fn in_stmts(&mut self, stmts: impl Iterator<Item = &'u syntax::Stmt>, around: Span) {
        for stmt in stmts {
            if let StmtKind::Item(item) = &stmt.kind {
                self.in_item(item, Some(around));
                continue;
            }
            if let StmtKind::RangeFor { variable, .. } = &stmt.kind {
                self.hide_from(&variable.name, stmt.span);
            }
            let (exprs, inside) = parts_of_stmt(stmt);
            exprs.into_iter().for_each(|value| self.in_expr(value));
            self.in_stmts(inside.into_iter(), stmt.span);
        }
    }

    /// The lambdas of an expression, and the types that it names.
    fn in_expr(&mut self, value: &'u syntax::Expr) {
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            match &value.kind {
                ExprKind::Lambda(lambda) | ExprKind::Statements(lambda) => {
                    let named = lambda.captures.iter().filter(|capture| capture.init.is_some());
                    named.for_each(|capture| self.hide(&capture.name, value.span));
                    open.extend(lambda.captures.iter().filter_map(|capture| capture.init.as_ref()));
                    self.in_items(lambda.closure.members.as_deref().unwrap_or(&[]), Some(value.span));
                }
                ExprKind::Cast(_, ty, inner) => {
                    self.in_type(ty);
                    open.push(inner);
                }
                _ => open.extend(parts_of(value)),
            }
        }
    }

    /// The parameters of functions that a type is made of.
    fn in_type(&mut self, ty: &'u Type) {
        match &ty.kind {
            TypeKind::Pointer(inner) | TypeKind::Reference(inner, _) | TypeKind::Array(inner, _) => self.in_type(inner),
            TypeKind::Function(_, params) => params.iter().for_each(|param| self.hide(&param.name, param.name.span)),
            TypeKind::Record(record) => self.in_record(record, ty.span),
            TypeKind::Enum(list) => self.in_enum(list, None),
            _ => {}
        }
    }
}

/// Whether a place lies in a range, which has to stand in the text as it is.
pub(super) fn is_within(sources: &SourceMap, place: Span, range: Span) -> bool {
    let visible = sources.visible(place);
    let is_around = |inner: Span| inner.file == range.file && range.start <= inner.start && inner.end <= range.end;
    is_around(visible) && range.expansion.is_none() || place == range
}
