//! Where names of kernels are followed. A kernel whose name stands elsewhere escapes: what is launched through it is
//! launched where nobody looks, and so the launches that are seen are not all ([`super::mentions`]).
//!
//! A kernel's name stays where it is followed: as what a launch names, in a local pointer that is used for launches
//! alone, and as an argument for a parameter of a function of the unit that is used so. Functions of the API that ask
//! about kernels launch none. Anything else (a table of pointers, an argument of a template, a call of what is not
//! known, text that is not read) lets it escape.
//!
//! Deliberately absent: who launches it then, and what other units launch that declare the kernel.

use super::api::{is_launching_call, launched_argument, simple_name};
use super::changes::named_function;
use super::effects::words;
use crate::resolve::{Declared, FunctionDecl};
use crate::source::{SourceMap, Span};
use crate::syntax::parts::{init_parts, parts_of, parts_of_stmt, stmts_in, visit};
use crate::syntax::{
    self, ExprKind, Item, ItemKind, Qualifier, StmtKind, TemplateArg, TypeKind, UnaryOp, asks_about_kernels,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// What functions of a unit do with the names of kernels.
pub(super) struct Uses<'u> {
    /// The functions.
    pub(super) functions: Vec<FunctionDecl<'u>>,
    /// Names that go where they are not followed, and are no kernel's.
    pub(super) foreign: FxHashSet<Span>,
    /// Names that go where they are followed.
    pub(super) kept: FxHashMap<Span, Kept<'u>>,
}

/// Where a name goes and is followed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kept<'u> {
    /// To a function that asks about kernels.
    Asked,
    /// To a function of the unit of this name, at a place.
    Given(&'u str, Span),
    /// Into a pointer of this function.
    Held(&'u syntax::Function),
}

/// The functions of a unit, and which of their parameters and locals are used for launches alone.
#[derive(Default)]
struct Followed<'u> {
    functions: FxHashMap<&'u str, Vec<&'u syntax::Function>>,
    /// The names of kernels; where other names go is nobody's question.
    kernels: FxHashSet<&'u str>,
    /// By function and name; what is being looked at counts as followed.
    known: FxHashMap<Local<'u>, bool>,
    /// What stands in `known`, in the order in which it was first looked at.
    order: Vec<Local<'u>>,
    /// What is followed of the functions that are looked at for themselves.
    kept: FxHashMap<Span, Kept<'u>>,
    /// The parameter or local for whose sake a function is looked at; `None` for kernels.
    wanted: Option<&'u str>,
}

/// A parameter or local of a function, by its name.
type Local<'u> = (*const syntax::Function, &'u str);

/// What these functions and initialisers do with names that may be kernels'.
pub(super) fn uses_of_kernels<'u>(
    names: &mut Declared<'u>,
    items: &'u [Item],
    functions: &[FunctionDecl<'u>],
    initializers: &[&'u syntax::Expr],
) -> Uses<'u> {
    // Those that are defined elsewhere are launched here, too.
    let mut followed = Followed { kernels: kernels_of(items).into_keys().collect(), ..Followed::default() };
    let mut strays = Vec::new();
    for decl in functions {
        followed.functions.entry(decl.syntax.name()).or_default().push(decl.syntax);
    }
    let kernels = followed.kernels.clone();
    let names_kernel = |path: &syntax::Path| path.segments.last().is_some_and(|it| kernels.contains(&*it.name.text));
    for decl in functions {
        followed
            .stray_paths(decl.syntax, &mut |path, _| strays.extend(names_kernel(path).then_some((path, decl.scope))));
    }
    let scope = names.scope();
    for value in initializers {
        followed.stray_paths_in(None, value, &mut |path, _| strays.extend(names_kernel(path).then_some((path, scope))));
    }
    let mut foreign = FxHashSet::default();
    for (path, scope) in &strays {
        let named = names.within(*scope, |names| names.named(path));
        let is_foreign = named.is_ok_and(|it| it.count > 0 && !it.functions.iter().any(|decl| decl.syntax.is_kernel()));
        foreign.extend(path.segments.last().filter(|_| is_foreign).map(|last| last.name.span));
    }
    Uses { functions: functions.to_vec(), foreign, kept: followed.kept }
}

/// The words in text of host code that is not read: what they name may be launched or called there.
pub(super) fn unread_words<'u>(sources: &'u SourceMap, functions: &[FunctionDecl<'u>]) -> Vec<&'u str> {
    let mut unread: Vec<Span> = Vec::new();
    for decl in functions.iter().filter(|decl| !is_device(decl.syntax)) {
        let mut open: Vec<&'u syntax::Stmt> = decl.syntax.body.iter().flatten().collect();
        while let Some(stmt) = open.pop() {
            let (exprs, stmts) = parts_of_stmt(stmt);
            if matches!(stmt.kind, StmtKind::Unsupported(_)) {
                unread.push(stmt.span);
            }
            for value in exprs {
                visit(value, |part| {
                    unread.extend(part.kind.is_unread().then_some(part.span));
                });
            }
            open.extend(stmts);
        }
    }
    unread.into_iter().flat_map(|span| words(sources.text(sources.visible(span)))).collect()
}

impl<'u> Followed<'u> {
    /// Tells `found` of the paths in a function that may put a kernel where it is not followed.
    fn stray_paths(&mut self, function: &'u syntax::Function, found: &mut dyn FnMut(&'u syntax::Path, Span)) {
        let initial = function.initializers.iter().flat_map(|(_, values)| values);
        let defaults = function.params.iter().filter_map(|param| param.default.as_ref());
        for value in initial.chain(defaults) {
            self.stray_paths_in(None, value, found);
        }
        let mut open: Vec<&'u syntax::Stmt> = function.body.iter().flatten().collect();
        while let Some(stmt) = open.pop() {
            let (exprs, stmts) = parts_of_stmt(stmt);
            if let StmtKind::Item(Item { kind: ItemKind::Variables(variables), .. }) = &stmt.kind {
                for variable in variables {
                    paths_in_type(&variable.ty, &mut |path| found(path, variable.span));
                    for value in init_parts(variable.init.as_ref()) {
                        let named = named_function(value).filter(|path| self.is_wanted(path));
                        if let Some(path) = named.filter(|_| self.stays(function, &variable.name.text)) {
                            self.keep(path, Kept::Held(function));
                        } else {
                            self.stray_paths_in(Some(function), value, found);
                        }
                    }
                }
            } else {
                for value in exprs {
                    self.stray_paths_in(Some(function), value, found);
                }
            }
            open.extend(stmts);
        }
    }

    fn stray_paths_in(
        &mut self,
        function: Option<&'u syntax::Function>,
        value: &'u syntax::Expr,
        found: &mut dyn FnMut(&'u syntax::Path, Span),
    ) {
        let mut open = vec![(function, value)];
        while let Some((function, value)) = open.pop() {
            let mut inside: Vec<&'u syntax::Expr> = Vec::new();
            match &value.kind {
                ExprKind::Path(path) => {
                    found(path, value.span);
                    inside.extend(values_in(path));
                }
                ExprKind::Launch { kernel, config, args } => {
                    match &kernel.kind {
                        ExprKind::Path(path) => inside.extend(values_in(path)),
                        _ => inside.push(kernel),
                    }
                    inside.extend(config.iter().chain(args));
                }
                ExprKind::Assign(None, target, given) => {
                    let path = named_function(given).filter(|path| self.is_wanted(path));
                    let local = path.and(function).zip(simple_name(target));
                    let holds = |this: &mut Self, (function, name): &(&'u syntax::Function, &'u str)| {
                        declares(function, name) && this.stays(function, name)
                    };
                    let holder = local.filter(|local| holds(self, local));
                    let held = path.zip(holder);
                    if let Some((path, (function, _))) = held {
                        self.keep(path, Kept::Held(function));
                    }
                    let stays = held.is_some();
                    // What is assigned to is not used.
                    inside.extend(simple_name(target).is_none().then_some(&**target));
                    inside.extend((!stays).then_some(&**given));
                }
                ExprKind::Call(callee, args) => {
                    let launched = launched_argument(value);
                    match &callee.kind {
                        ExprKind::Path(path) => inside.extend(values_in(path)),
                        _ => inside.push(callee),
                    }
                    for (at, argument) in args.iter().enumerate() {
                        let Some(path) = named_function(argument).filter(|path| self.is_wanted(path)) else {
                            inside.push(argument);
                            continue;
                        };
                        let kept = if is_launching_call(value) { None } else { self.keeps(callee, at) };
                        if launched != Some(at) && kept.is_none() {
                            inside.push(argument);
                            continue;
                        }
                        inside.extend(values_in(path));
                        kept.into_iter().for_each(|kept| self.keep(path, kept));
                    }
                }
                ExprKind::Cast(_, ty, inner) => {
                    paths_in_type(ty, &mut |path| found(path, value.span));
                    inside.push(inner);
                }
                ExprKind::Construct(ty, args) => {
                    paths_in_type(ty, &mut |path| found(path, value.span));
                    inside.extend(args);
                }
                // What a lambda puts into pointers is not followed.
                ExprKind::Lambda(_) | ExprKind::Statements(_) => {
                    open.extend(parts_of(value).into_iter().map(|part| (None, part)));
                }
                _ => inside.extend(parts_of(value)),
            }
            open.extend(inside.into_iter().map(|part| (function, part)));
        }
    }

    /// Remembers that a name goes where it is followed.
    fn keep(&mut self, path: &'u syntax::Path, kept: Kept<'u>) {
        let Some(place) = path.segments.last().filter(|_| self.wanted.is_none()).map(|last| last.name.span) else {
            return;
        };
        let kept = match kept {
            Kept::Given(callee, _) => Kept::Given(callee, place),
            kept => kept,
        };
        self.kept.insert(place, kept);
    }

    /// How a call follows a function that is its argument at `position`.
    fn keeps(&mut self, callee: &'u syntax::Expr, position: usize) -> Option<Kept<'u>> {
        let ExprKind::Path(path) = &callee.kind else { return None };
        let last = path.segments.last()?;
        let name = last.name.text.as_str();
        if asks_about_kernels(name) {
            return Some(Kept::Asked);
        }
        let bodies = self.functions.get(name).cloned().unwrap_or_default();
        let [only] = bodies.as_slice() else { return None };
        let only: &'u syntax::Function = only;
        let param = only.params.get(position).filter(|_| only.path.segments.len() == 1)?;
        self.stays(only, &param.name.text).then_some(Kept::Given(name, last.name.span))
    }

    /// Whether a path may name what is followed.
    fn is_wanted(&self, path: &syntax::Path) -> bool {
        match self.wanted {
            Some(name) => matches!(path.segments.as_slice(), [only] if only.name.text == name),
            None => path.segments.last().is_some_and(|last| self.kernels.contains(last.name.text.as_str())),
        }
    }

    /// Whether a parameter or local of a function is used for launches alone.
    fn stays(&mut self, function: &'u syntax::Function, name: &'u str) -> bool {
        let key = (std::ptr::from_ref(function), name);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        self.known.insert(key, true);
        let before = self.order.len();
        self.order.push(key);
        let mut stays = !name.is_empty();
        let outer = self.wanted.replace(name);
        self.stray_paths(function, &mut |path, _| {
            stays &= !matches!(path.segments.as_slice(), [only] if only.name.text == name);
        });
        self.wanted = outer;
        if !stays {
            // What was found to stay meanwhile may count on this one.
            for other in self.order.drain(before..) {
                if self.known.get(&other) == Some(&true) {
                    self.known.remove(&other);
                }
            }
            self.known.insert(key, false);
        }
        stays
    }
}

/// Whether a function has a parameter or local of that name.
fn declares(function: &syntax::Function, name: &str) -> bool {
    let mut open: Vec<&syntax::Stmt> = function.body.iter().flatten().collect();
    while let Some(stmt) = open.pop() {
        if let StmtKind::Item(Item { kind: ItemKind::Variables(variables), .. }) = &stmt.kind
            && variables.iter().any(|variable| variable.name.text == name)
        {
            return true;
        }
        open.extend(stmts_in(stmt));
    }
    function.params.iter().any(|param| param.name.text == name)
}

/// The values among the template arguments of a name.
fn values_in(path: &syntax::Path) -> Vec<&syntax::Expr> {
    let args = path.segments.iter().flat_map(|segment| segment.args.iter().flatten());
    let values = args.filter_map(|argument| match argument {
        TemplateArg::Value(value) => Some(value),
        TemplateArg::Type(_) | TemplateArg::Expansion(_) => None,
    });
    values.collect()
}

/// Tells `found` of the values that are template arguments in a type.
fn paths_in_type<'u>(ty: &'u syntax::Type, found: &mut dyn FnMut(&'u syntax::Path)) {
    match &ty.kind {
        TypeKind::Pointer(inner) | TypeKind::Reference(inner, _) | TypeKind::Array(inner, _) => {
            paths_in_type(inner, found);
        }
        TypeKind::Named(path) => {
            for value in values_in(path) {
                match &value.kind {
                    ExprKind::Path(path) => found(path),
                    ExprKind::Unary(UnaryOp::AddressOf, inner) => {
                        if let ExprKind::Path(path) = &inner.kind {
                            found(path);
                        }
                    }
                    _ => {}
                }
            }
            let args = path.segments.iter().flat_map(|segment| segment.args.iter().flatten());
            for argument in args {
                if let TemplateArg::Type(ty) = argument {
                    paths_in_type(ty, found);
                }
            }
        }
        _ => {}
    }
}

/// The kernels of a unit, by the last part of their names.
pub(super) fn kernels_of(items: &[Item]) -> FxHashMap<&str, Vec<&syntax::Function>> {
    let mut found: FxHashMap<&str, Vec<&syntax::Function>> = FxHashMap::default();
    let mut open: Vec<&Item> = items.iter().collect();
    while let Some(item) = open.pop() {
        match &item.kind {
            ItemKind::Namespace { items, .. } => open.extend(items),
            ItemKind::Function(function) if function.is_kernel() => {
                found.entry(function.name()).or_default().push(function);
            }
            _ => {}
        }
    }
    found
}

/// Whether only device code calls a function.
fn is_device(function: &syntax::Function) -> bool {
    let has = |wanted: fn(&Qualifier) -> bool| function.qualifiers.iter().any(wanted);
    function.is_kernel() || has(|it| matches!(it, Qualifier::Device)) && !has(|it| matches!(it, Qualifier::Host))
}
