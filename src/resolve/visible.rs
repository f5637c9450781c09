//! Which declarations a name can mean: those before its use (C++17, [basic.lookup.unqual], [temp.nondep]).
//!
//! All items of a unit are declared before the first body is resolved, so that a call may be followed to a definition further
//! down. What a body may see is cut by the position of the function that it belongs to: functions and variables at namespace
//! scope that come later are not there for it, but for the definitions of functions that were declared before. Members of a
//! class see what the class sees.
//!
//! A name that has only later declarations keeps these: that is no C++, but what a front end lost or rearranged is.
//!
//! Deliberately absent: types and constants, and names that depend on template arguments, whose functions are looked
//! up where the template is defined and, by their arguments ([`Resolver::add_associated`]), everywhere.

use super::context::Resolver;
use super::entities::{Entity, FunctionDecl, ScopeId};
use crate::syntax;
use rustc_hash::FxHashMap;

/// Positions of declarations, by the addresses of their syntax, and up to which of them names are seen.
#[derive(Debug)]
pub(super) struct Visible {
    orders: FxHashMap<usize, usize>,
    limit: usize,
    /// The same for what arguments lead to.
    associated: usize,
}

impl Default for Visible {
    fn default() -> Self {
        Visible { orders: FxHashMap::default(), limit: usize::MAX, associated: usize::MAX }
    }
}

/// What is seen.
impl Visible {
    /// Remembers where something is declared: inside of a body or a class that is where these are.
    pub(super) fn note_order<T>(&mut self, syntax: &T) {
        let order = if self.limit == usize::MAX { self.orders.len() } else { self.limit };
        self.orders.entry(std::ptr::from_ref(syntax) as usize).or_insert(order);
    }

    /// What was made of a declaration is where that is.
    pub(super) fn stands_for<T>(&mut self, made: &T, declared: &T) {
        if let Some(order) = self.order(declared) {
            self.orders.insert(std::ptr::from_ref(made) as usize, order);
        }
    }

    fn order<T>(&self, syntax: &T) -> Option<usize> {
        self.orders.get(&(std::ptr::from_ref(syntax) as usize)).copied()
    }

    /// Sees the names that a declaration sees, until [`see_again`](Self::see_again) is given what comes back.
    pub(super) fn see_as<S>(&mut self, syntax: &S) -> (usize, usize) {
        let limit = self.order(syntax).unwrap_or(usize::MAX);
        let outer = (self.limit, self.associated);
        (self.limit, self.associated) = (limit, usize::MAX);
        outer
    }

    /// Sees what was seen before.
    pub(super) fn see_again(&mut self, outer: (usize, usize)) {
        (self.limit, self.associated) = outer;
    }

    /// Whether something is declared behind what is seen.
    pub(super) fn is_later<T>(&self, syntax: &T) -> bool {
        self.order(syntax).is_some_and(|order| order > self.limit)
    }

    /// Whether names are cut at all.
    pub(super) fn sees_all(&self) -> bool {
        self.limit == usize::MAX
    }
}

impl<'u> Resolver<'u> {
    /// Runs `work` with the names that a declaration sees.
    pub(super) fn as_seen_from<S, T>(&mut self, syntax: &S, is_template: bool, work: impl FnOnce(&mut Self) -> T) -> T {
        let limit = self.visible.order(syntax).unwrap_or(usize::MAX);
        self.seen_to(limit, if is_template { usize::MAX } else { limit }, work)
    }

    /// Runs `work` with all names.
    pub(super) fn as_seen_from_the_end<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.seen_to(usize::MAX, usize::MAX, work)
    }

    /// Runs `work` with the names that arguments lead to.
    pub(super) fn as_seen_by_arguments<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let associated = self.visible.associated;
        self.seen_to(associated, associated, work)
    }

    fn seen_to<T>(&mut self, limit: usize, associated: usize, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = (self.visible.limit, self.visible.associated);
        (self.visible.limit, self.visible.associated) = (limit, associated);
        let result = work(self);
        (self.visible.limit, self.visible.associated) = outer;
        result
    }

    /// Runs `work` with the names that a `using` of a name sees: what is declared behind it is not taken over
    /// (C++17, [namespace.udecl] paragraph 11).
    pub(super) fn as_seen_by_using<T>(&mut self, path: &syntax::Path, work: impl FnOnce(&mut Self) -> T) -> T {
        let (limit, associated) = (self.visible.limit, self.visible.associated);
        let own = self.visible.order(path).unwrap_or(limit);
        self.seen_to(own.min(limit), associated, work)
    }

    /// Takes out what a namespace declares later.
    pub(super) fn cut(&mut self, found: &mut Vec<Entity<'u>>) {
        let is_later = |this: &Self, entity: &Entity<'u>| match entity {
            Entity::Function(decl) => this.visible.is_later(decl.syntax),
            Entity::Global(index) => this.visible.is_later(this.globals[*index].syntax),
            Entity::Path(path, _) => this.visible.is_later(*path),
            _ => false,
        };
        if !found.iter().any(|entity| is_later(self, entity)) {
            return;
        }
        let (later, seen): (Vec<_>, Vec<_>) =
            std::mem::take(found).into_iter().partition(|entity| is_later(self, entity));
        let declared = super::call::functions_of(&seen);
        *found = seen;
        for entity in later {
            if let Entity::Function(decl) = &entity
                && declared.iter().any(|earlier| self.declares_same(*earlier, *decl))
            {
                found.push(entity);
            }
        }
    }

    /// Whether two declarations of one name in one scope are of the same function.
    pub(super) fn declares_same(&mut self, one: FunctionDecl<'u>, other: FunctionDecl<'u>) -> bool {
        let (a, b) = (one.syntax, other.syntax);
        if a.params.len() != b.params.len() || a.template.is_some() != b.template.is_some() {
            return false;
        }
        if a.template.is_some() {
            return a.params.iter().zip(&b.params).all(|(a, b)| is_written_alike(&a.ty, &b.ty));
        }
        let types = |this: &mut Self, decl: FunctionDecl<'u>| -> Vec<_> {
            this.within(decl.scope, |this| decl.syntax.params.iter().map(|param| this.param_type(param)).collect())
        };
        let (a, b) = (types(self, one), types(self, other));
        a.iter()
            .zip(&b)
            .all(|(a, b)| a.ty == b.ty && a.binding == b.binding && (!a.is_reference || a.is_const == b.is_const))
    }
}

fn is_written_alike(a: &syntax::Type, b: &syntax::Type) -> bool {
    syntax::type_text(a) == syntax::type_text(b)
}

impl Resolver<'_> {
    /// The innermost namespace around a scope, or the scope itself if it is one.
    pub(super) fn namespace_around(&self, scope: ScopeId) -> ScopeId {
        let mut at = scope;
        while !self.scopes[at.0].is_namespace {
            match self.scopes[at.0].parent {
                Some(parent) => at = parent,
                None => break,
            }
        }
        at
    }

    /// The innermost namespace that holds both: where the names of one that is used in the other appear
    /// (C++17, [namespace.udir] paragraph 2).
    pub(super) fn common_namespace(&self, scope: ScopeId, used: ScopeId) -> ScopeId {
        let mut around = vec![self.namespace_around(used)];
        while let Some(parent) = self.scopes[around[around.len() - 1].0].parent {
            around.push(self.namespace_around(parent));
        }
        let mut at = self.namespace_around(scope);
        while !around.contains(&at) {
            match self.scopes[at.0].parent {
                Some(parent) => at = self.namespace_around(parent),
                None => break,
            }
        }
        at
    }
}
