//! What is known of a unit's host code as a whole, before any of its functions is looked at: what they are, which of
//! them launch something, and which are called.
//!
//! Deliberately absent: what other units call ([`super::linkage`]).

use super::api::is_launching_call;
use super::effects::Methods;
use super::members::Members;
use crate::resolve::{Declared, FunctionDecl, ScopeId};
use crate::syntax::parts::{exprs_of_stmt, init_parts, stmt_has, visit};
use crate::syntax::{self, Item, ItemKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is known of a unit's host code as a whole.
pub(super) struct Code<'u> {
    /// Host functions that launch something, or call one that does, by name.
    pub(super) launching: FxHashSet<&'u str>,
    /// Names of functions that something in the unit calls.
    pub(super) called: FxHashSet<&'u str>,
    /// The functions inside of class templates, with the parameters of these.
    pub(super) in_templates: FxHashMap<*const syntax::Function, &'u [syntax::TemplateParam]>,
    /// The methods that the unit declares, by name.
    pub(super) methods: Methods<'u>,
    /// The data members that the functions of classes see under their names.
    pub(super) members: Members<'u>,
}

impl<'u> Code<'u> {
    /// The data members that a function sees under their names, if it is one of a class.
    pub(super) fn members_of(&self, function: &syntax::Function) -> Option<&[&'u syntax::Variable]> {
        self.members.get(&std::ptr::from_ref(function)).map(Vec::as_slice)
    }

    /// Whether a function is a template, or a member of one.
    pub(super) fn is_template(&self, function: &syntax::Function) -> bool {
        function.has_template() || self.in_templates.contains_key(&std::ptr::from_ref(function))
    }
}

/// Where a unit has code.
#[derive(Default)]
pub(super) struct Bodies<'u> {
    /// The functions with bodies.
    pub(super) functions: Vec<FunctionDecl<'u>>,
    /// What variables that stand in none are initialised by.
    pub(super) initializers: Vec<&'u syntax::Expr>,
}

/// The functions with bodies, those inside records included, and the initialisers of variables that stand in none.
pub(super) fn bodies_in<'u>(names: &Declared<'u>, items: &'u [Item]) -> Bodies<'u> {
    let mut found = Bodies::default();
    found.collect(names, names.scope(), items);
    found
}

impl<'u> Bodies<'u> {
    fn collect(&mut self, names: &Declared<'u>, scope: ScopeId, items: &'u [Item]) {
        for item in items {
            match &item.kind {
                ItemKind::Variables(variables) => {
                    let values = variables.iter().flat_map(|variable| init_parts(variable.init.as_ref()));
                    self.initializers.extend(values);
                }
                ItemKind::Function(function) if function.body.is_some() => {
                    self.functions.push(FunctionDecl { syntax: function, scope, record: None });
                }
                ItemKind::Namespace { name, items, .. } => {
                    self.collect(names, names.inner_scope(scope, &name.text), items);
                }
                ItemKind::Record(record) => {
                    self.collect(names, scope, record.members.as_deref().unwrap_or(&[]));
                }
                _ => {}
            }
        }
    }
}

/// The names of the functions that launch something, or call by name one that does.
pub(super) fn launching<'u>(functions: &[FunctionDecl<'u>]) -> FxHashSet<&'u str> {
    let mut names = FxHashSet::default();
    loop {
        let before = names.len();
        for decl in functions {
            let name = decl.syntax.name();
            let body = decl.syntax.body.as_deref().unwrap_or(&[]);
            if !names.contains(name) && body.iter().any(|stmt| stmt_has(stmt, &|part| is_interesting(part, &names))) {
                names.insert(name);
            }
        }
        if names.len() == before {
            return names;
        }
    }
}

/// Whether an expression is a launch, or a call of a function of these names.
pub(super) fn is_interesting(value: &syntax::Expr, names: &FxHashSet<&str>) -> bool {
    match &value.kind {
        syntax::ExprKind::Launch { .. } => true,
        _ if is_launching_call(value) => true,
        syntax::ExprKind::Call(callee, _) => match &callee.kind {
            syntax::ExprKind::Path(path) => {
                path.segments.last().is_some_and(|last| names.contains(last.name.text.as_str()))
            }
            syntax::ExprKind::Member { member, .. } => names.contains(member.name.text.as_str()),
            _ => false,
        },
        syntax::ExprKind::Path(path) => {
            path.segments.last().is_some_and(|last| last.args.is_some() && names.contains(last.name.text.as_str()))
        }
        _ => false,
    }
}

/// The functions that are defined inside of class templates, with the parameters of these.
pub(super) fn methods_of_templates<'u>(
    items: &'u [Item],
) -> FxHashMap<*const syntax::Function, &'u [syntax::TemplateParam]> {
    let mut found = FxHashMap::default();
    let mut open: Vec<(&'u Item, Option<&'u [syntax::TemplateParam]>)> =
        items.iter().map(|item| (item, None)).collect();
    while let Some((item, class)) = open.pop() {
        match &item.kind {
            ItemKind::Namespace { items, .. } => open.extend(items.iter().map(|item| (item, class))),
            ItemKind::Record(record) => {
                let own = record.template.as_deref().or(record.specialization.as_ref().map(|_| [].as_slice()));
                open.extend(record.members.iter().flatten().map(|item| (item, own.or(class))));
            }
            ItemKind::Function(function) => {
                found.extend(class.map(|params| (std::ptr::from_ref(&**function), params)));
            }
            _ => {}
        }
    }
    found
}

/// The names of `functions` that the unit uses other than by calling them, or that may be called as methods, and
/// the names that it calls.
pub(super) fn uses<'u>(
    functions: &[FunctionDecl<'u>],
    initializers: &[&'u syntax::Expr],
    launching: &FxHashSet<&'u str>,
) -> (FxHashSet<&'u str>, FxHashSet<&'u str>) {
    let (mut open, mut called) = (FxHashSet::default(), FxHashSet::default());
    let mut callees: FxHashSet<*const syntax::Expr> = FxHashSet::default();
    let bodies = functions.iter().flat_map(|decl| decl.syntax.body.as_deref().unwrap_or(&[]));
    let exprs = bodies.flat_map(|stmt| exprs_of_stmt(stmt));
    let members = functions.iter().flat_map(|decl| decl.syntax.initializers.iter().flat_map(|(_, values)| values));
    let defaults = functions.iter().flat_map(|decl| decl.syntax.params.iter().filter_map(|it| it.default.as_ref()));
    // Nobody looks at what is called here, and so not at its arguments.
    for value in initializers.iter().copied().chain(members).chain(defaults) {
        visit(value, |part| {
            if let syntax::ExprKind::Path(path) = &part.kind {
                open.extend(path.segments.last().map(|last| last.name.text.as_str()));
                called.extend(path.segments.last().map(|last| last.name.text.as_str()));
            }
        });
    }
    for value in exprs {
        visit(value, |part| match &part.kind {
            syntax::ExprKind::Call(callee, _) => {
                if let syntax::ExprKind::Member { member, .. } = &callee.kind {
                    open.insert(member.name.text.as_str());
                }
                if let syntax::ExprKind::Path(path) = &callee.kind {
                    callees.insert(std::ptr::from_ref(&**callee));
                    called.extend(path.segments.last().map(|last| last.name.text.as_str()));
                }
            }
            // A lambda may be called at any time, and with it what it calls.
            syntax::ExprKind::Lambda(_) | syntax::ExprKind::Statements(_) => visit(part, |inner| {
                if let syntax::ExprKind::Path(path) = &inner.kind {
                    open.extend(path.segments.last().map(|last| last.name.text.as_str()));
                }
            }),
            syntax::ExprKind::Path(path) if !callees.contains(&std::ptr::from_ref(part)) => {
                open.extend(path.segments.last().map(|last| last.name.text.as_str()));
            }
            _ => {}
        });
    }
    open.retain(|name| launching.contains(name));
    (open, called)
}

/// The methods that a unit declares, by name.
pub(super) fn methods_in(items: &[Item]) -> Methods<'_> {
    let mut found = Methods::default();
    let mut open: Vec<(&Item, bool)> = items.iter().map(|item| (item, false)).collect();
    while let Some((item, is_inside)) = open.pop() {
        match &item.kind {
            ItemKind::Namespace { items, .. } => open.extend(items.iter().map(|item| (item, false))),
            ItemKind::Record(record) => open.extend(record.members.iter().flatten().map(|item| (item, true))),
            ItemKind::Function(function) if is_inside => {
                if let Some(last) = function.path.segments.last() {
                    found.entry(&last.name.text).or_default().push(function);
                }
            }
            _ => {}
        }
    }
    found
}
