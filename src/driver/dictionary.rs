//! What device code says of inputs that are worth a try: its numbers, the axes that it looks at, what its launches have to bring.
//!
//! Deliberately absent: which kernel says it. A number of another kernel costs a try.

use crate::builtins::Builtin;
use crate::builtins::functions::function;
use crate::builtins::groups::{Function as GroupFunction, Group};
use crate::builtins::variables::variable;
use crate::source::Language;
use crate::syntax::parts::{exprs_of_stmt, stmts_in, visit};
use crate::syntax::{Expr, ExprKind, Item, ItemKind, Qualifier, Stmt, StmtKind, TypeKind, Unit};

/// The most numbers that are tried.
const MOST: usize = 48;

/// What device code says.
#[derive(Clone, Debug)]
pub(super) struct Dictionary {
    /// Its whole numbers above 2, in the order of the text.
    pub(super) numbers: Vec<i128>,
    /// Axes of ids and extents: 1 to 3.
    pub(super) axes: usize,
    /// Whether it has shared memory whose size launches decide.
    pub(super) has_dynamic_shared: bool,
    /// Whether it waits for the whole grid.
    pub(super) waits_for_the_grid: bool,
}

impl Dictionary {
    /// Of a unit.
    pub(super) fn of(unit: &Unit) -> Dictionary {
        let mut dictionary =
            Dictionary { numbers: Vec::new(), axes: 1, has_dynamic_shared: false, waits_for_the_grid: false };
        dictionary.items(&unit.items, unit.dialect.language());
        dictionary
    }

    fn items(&mut self, items: &[Item], language: Language) {
        for item in items {
            match &item.kind {
                ItemKind::Namespace { items, .. } => self.items(items, language),
                ItemKind::Record(record) => self.items(record.members.as_deref().unwrap_or_default(), language),
                ItemKind::Function(function) => {
                    let is_on_device =
                        |qualifier: &Qualifier| matches!(qualifier, Qualifier::Kernel | Qualifier::Device);
                    // All functions of OpenCL C are.
                    if language == Language::OpenCl || function.qualifiers.iter().any(is_on_device) {
                        function.body.iter().flatten().for_each(|statement| self.statement(statement));
                    }
                }
                ItemKind::Variables(_) => self.declared(item),
                _ => {}
            }
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        let mut open = vec![statement];
        while let Some(statement) = open.pop() {
            if let StmtKind::Item(item) = &statement.kind {
                self.declared(item);
            }
            open.extend(stmts_in(statement));
        }
        exprs_of_stmt(statement).into_iter().for_each(|value| visit(value, |part| self.expression(part)));
    }

    fn declared(&mut self, item: &Item) {
        let ItemKind::Variables(variables) = &item.kind else { return };
        self.has_dynamic_shared |= variables.iter().any(|variable| {
            let is_open = matches!(&variable.ty.kind, TypeKind::Array(_, None));
            let mut qualifiers = variable.qualifiers.iter();
            let is_shared = qualifiers.clone().any(|qualifier| matches!(qualifier, Qualifier::Shared));
            is_shared && (is_open || qualifiers.any(|qualifier| matches!(qualifier, Qualifier::Extern)))
        });
    }

    fn expression(&mut self, part: &Expr) {
        match &part.kind {
            ExprKind::Int { value, .. } => {
                let number = i128::try_from(*value).unwrap_or(0);
                if number > 2 && self.numbers.len() < MOST && !self.numbers.contains(&number) {
                    self.numbers.push(number);
                }
            }
            ExprKind::Member { object, member, .. } => {
                let ExprKind::Path(path) = &object.kind else { return };
                let name = path.segments.last().map_or("", |last| last.name.text.as_str());
                if variable(Language::Cuda, name).is_some() {
                    let axis = match member.name.text.as_str() {
                        "z" => 3,
                        "y" => 2,
                        _ => 1,
                    };
                    self.axes = self.axes.max(axis);
                }
            }
            ExprKind::Call(callee, arguments) => {
                let ExprKind::Path(path) = &callee.kind else { return };
                let name = path.segments.last().map_or("", |last| last.name.text.as_str());
                if let (Some(Builtin::WorkItem(_)), [Expr { kind: ExprKind::Int { value: axis @ 0..3, .. }, .. }]) =
                    (function(Language::OpenCl, name).map(|meaning| meaning.builtin), arguments.as_slice())
                {
                    self.axes = self.axes.max(*axis as usize + 1);
                }
                let is_about_the_grid = GroupFunction::named(name) == Some(GroupFunction::This(Group::Grid));
                self.waits_for_the_grid |= is_about_the_grid;
            }
            _ => {}
        }
    }
}
