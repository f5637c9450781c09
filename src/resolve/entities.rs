//! What names stand for, the scopes that they stand in, and the arguments of templates.
//!
//! Deliberately absent: how names are looked up ([`super::scope`]), and what arguments are written or deduced
//! ([`super::template`]).

use super::program::{FunctionId, RecordId, TypeId, VariableId};
use crate::syntax;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::{Index, IndexMut};

/// Handle of a scope; the first is the translation unit's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ScopeId(pub(super) usize);

/// A namespace, a record, a set of template arguments, a function's parameters or a block.
#[derive(Debug, Default)]
pub(super) struct Scope<'u> {
    /// The scope around it.
    pub(super) parent: Option<ScopeId>,
    /// What its names stand for; functions may share a name.
    pub(super) names: FxHashMap<String, Vec<Entity<'u>>>,
    /// Namespaces that a `using namespace` opened here, with the directives.
    pub(super) using: Vec<(ScopeId, &'u syntax::Path)>,
    /// Directives whose namespace has not been looked up yet.
    pub(super) pending_using: Vec<&'u syntax::Path>,
    /// Whether it is a namespace, or the translation unit's.
    pub(super) is_namespace: bool,
    /// Whether its names are those of the namespace around it, too.
    pub(super) is_inline: bool,
    /// The namespaces in it that are inline.
    pub(super) inline: Vec<ScopeId>,
    /// Whether its names are parameters of a template.
    pub(super) binds: bool,
    /// The record whose members it holds.
    pub(super) record: Option<RecordId>,
    /// The functions that are defined in it as friends of its record, by name: only their arguments lead to them.
    pub(super) friends: Vec<(&'u str, FunctionDecl<'u>)>,
    /// What qualified names of its members begin with (`a::b::`).
    pub(super) prefix: String,
}

impl Scope<'_> {
    /// An empty scope inside another.
    pub(super) fn inside(parent: ScopeId) -> Self {
        Scope { parent: Some(parent), ..Scope::default() }
    }
}

/// All scopes of a unit.
#[derive(Debug)]
pub(super) struct Scopes<'u> {
    all: Vec<Scope<'u>>,
    /// The names that stand in some scope: most of those of libraries stand in none.
    names: FxHashSet<String>,
}

impl<'u> Scopes<'u> {
    /// The translation unit's scope alone.
    pub(super) fn of_unit() -> Self {
        Scopes { all: vec![Scope { is_namespace: true, ..Scope::default() }], names: FxHashSet::default() }
    }

    /// Adds a scope whose names stand in others already.
    pub(super) fn add(&mut self, scope: Scope<'u>) -> ScopeId {
        self.all.push(scope);
        ScopeId(self.all.len() - 1)
    }

    /// What stands under a name in a scope, to be changed.
    pub(super) fn named_mut(&mut self, scope: ScopeId, name: &str) -> &mut Vec<Entity<'u>> {
        if !self.names.contains(name) {
            self.names.insert(name.to_owned());
        }
        self.all[scope.0].names.entry(name.to_owned()).or_default()
    }

    /// Whether a name stands in any scope. Fields stand in none: they are their record's.
    pub(super) fn have(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

impl<'u> Index<usize> for Scopes<'u> {
    type Output = Scope<'u>;

    fn index(&self, at: usize) -> &Scope<'u> {
        &self.all[at]
    }
}

impl IndexMut<usize> for Scopes<'_> {
    fn index_mut(&mut self, at: usize) -> &mut Self::Output {
        &mut self.all[at]
    }
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Entity<'u> {
    /// A namespace.
    Namespace(ScopeId),
    /// A function or function template.
    Function(FunctionDecl<'u>),
    /// A variable that has been resolved.
    Variable(VariableId),
    /// A variable at namespace scope or a static member, by index; resolved when first used.
    Global(usize),
    /// A type.
    Type(TypeId),
    /// A record or record template, by index.
    Record(usize),
    /// An enumeration and the scope of its constants.
    Enum(TypeId, ScopeId),
    /// A typedef or alias template, resolved when used in the scope of its declaration.
    Alias(&'u [syntax::TemplateParam], &'u syntax::Type, ScopeId),
    /// A constant: an enumerator or a template argument.
    Constant(i128, TypeId),
    /// Another name (`using a::b`, `namespace c = a::b`).
    Path(&'u syntax::Path, ScopeId),
    /// A field of the record whose method is being resolved, by index.
    Field(RecordId, usize),
    /// A parameter pack, which nothing expands.
    Pack,
    /// A function that is the argument of a template.
    FunctionValue(FunctionId),
    /// A variable outside of a lambda that does not capture it.
    Uncaptured,
}

impl Entity<'_> {
    /// Whether it may stand before `::`.
    pub(super) fn may_hold_names(&self) -> bool {
        use Entity::{Alias, Enum, Namespace, Path, Record, Type};
        matches!(self, Namespace(_) | Type(_) | Record(_) | Enum(..) | Alias(..) | Path(..))
    }
}

impl Entity<'_> {
    /// Whether it is a record or an enumeration, whose names are a space of their own in C.
    pub(super) fn is_tag(&self) -> bool {
        matches!(self, Entity::Record(_) | Entity::Enum(..))
    }

    /// Whether it is any other entity.
    pub(super) fn is_ordinary(&self) -> bool {
        !self.is_tag()
    }

    /// Whether it is another name of a type.
    pub(super) fn is_type_name(&self) -> bool {
        matches!(self, Entity::Type(_) | Entity::Alias(..))
    }
}

/// A declared function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionDecl<'u> {
    /// Its syntax.
    pub(crate) syntax: &'u syntax::Function,
    /// Where it is declared.
    pub(crate) scope: ScopeId,
    /// The record that it is a member of.
    pub(crate) record: Option<RecordId>,
}

/// A variable at namespace scope or a static member.
#[derive(Debug)]
pub(super) struct Global<'u> {
    /// Its syntax.
    pub(super) syntax: &'u syntax::Variable,
    /// Where it is declared.
    pub(super) scope: ScopeId,
    /// The variable, once it has been resolved.
    pub(super) variable: Option<VariableId>,
    /// The definition that gives it its value, where another one does, and where that stands.
    pub(super) definition: Option<(&'u syntax::Variable, ScopeId)>,
}

impl<'u> Global<'u> {
    /// One that has not been used yet.
    pub(super) fn new(syntax: &'u syntax::Variable, scope: ScopeId) -> Self {
        Global { syntax, scope, variable: None, definition: None }
    }
}

/// A member that is defined outside of its class, with the name that it is written behind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outside<'u> {
    Function(&'u syntax::Function),
    /// A member of a class that is a member.
    Inner(&'u syntax::Function),
    Variable(&'u syntax::PathSegment, &'u syntax::Variable),
    Record(&'u syntax::PathSegment, &'u syntax::Record),
}

/// A record or record template.
#[derive(Debug)]
pub(super) struct RecordDecl<'u> {
    /// Its name.
    pub(super) name: &'u str,
    /// Where it is declared.
    pub(super) scope: ScopeId,
    /// The declaration with members, else one without.
    pub(super) primary: &'u syntax::Record,
    /// Specialisations.
    pub(super) specializations: Vec<&'u syntax::Record>,
    /// Members defined outside.
    pub(super) outside: Vec<Outside<'u>>,
    /// The records made so far.
    pub(super) instances: FxHashMap<Vec<TemplateValue>, RecordId>,
}

/// What a path stands for.
#[derive(Debug)]
pub(super) enum Found<'u> {
    /// Entities of that name; at least one, functions in order of declaration.
    Entities(Vec<Entity<'u>>),
    /// A name that the unit does not declare, with namespace aliases expanded (`cooperative_groups::sync`).
    External(String),
}

/// A template argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TemplateValue {
    /// A type.
    Type(TypeId),
    /// A constant of a type.
    Value(i128, TypeId),
    /// A uniform parameter of the kernel that stands for a value that nothing gives.
    Symbol(VariableId),
    /// A function.
    Function(FunctionId),
    /// A class template, by index of its record.
    Template(usize),
    /// An argument that is not understood, or none.
    Unknown,
    /// The arguments of a pack.
    Pack(Vec<TemplateValue>),
}
