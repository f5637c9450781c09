//! Lookup by arguments: the functions of a name that the types of a call's arguments lead to (C++17, [basic.lookup.argdep]).
//!
//! A class leads to its namespace, to those of its bases and of its template arguments, and to the friends that these classes
//! define; an enumeration leads to its namespace. What `using namespace` opens there is not seen.
//!
//! Deliberately absent: what sets of overloads lead to as arguments.

use super::call::functions_of;
use super::context::Resolver;
use super::entities::{FunctionDecl, ScopeId, TemplateValue};
use super::program::{Expr, RecordId, Type, TypeId};
use crate::source::{Language, SourceMap};
use crate::syntax;

/// How the function that a bare name calls is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// From the call outwards, and where the arguments lead.
    ByArguments,
    /// From the call outwards only.
    Ordinary,
}

/// What the types of arguments lead to.
#[derive(Debug, Default)]
struct Associated {
    types: Vec<TypeId>,
    /// With their bases.
    classes: Vec<RecordId>,
    /// The classes around these.
    around: Vec<RecordId>,
    namespaces: Vec<ScopeId>,
}

impl Associated {
    fn add_namespace(&mut self, namespace: ScopeId) {
        if !self.namespaces.contains(&namespace) {
            self.namespaces.push(namespace);
        }
    }
}

/// Whether the name that a call is of stands in parentheses, so that arguments lead nowhere.
pub(super) fn is_in_parentheses(sources: &SourceMap, callee: &syntax::Expr, path: &syntax::Path) -> bool {
    match path.segments.as_slice() {
        // Parentheses belong to the range of what is in them.
        [only] if only.args.is_none() && !path.global => callee.span != only.name.span,
        _ => sources.text(callee.span).starts_with('('),
    }
}

impl<'u> Resolver<'u> {
    /// Whether arguments lead to more functions although this one has been found: members and what is declared in a block
    /// hide those.
    pub(super) fn lets_arguments_lead(&self, decl: FunctionDecl<'u>) -> bool {
        decl.record.is_none() && self.scopes[decl.scope.0].is_namespace
    }

    /// Adds the functions of a name that the arguments lead to.
    pub(super) fn add_associated(&mut self, name: &str, args: &[Expr], functions: &mut Vec<FunctionDecl<'u>>) {
        let mut associated = Associated::default();
        for argument in args {
            self.associate(argument.ty, &mut associated);
        }
        let mut found = Vec::new();
        for namespace in associated.namespaces {
            found.extend(self.as_seen_by_arguments(|this| this.functions_in(namespace, name)));
        }
        for class in associated.classes.into_iter().chain(associated.around) {
            let friends = &self.scopes[self.records.scopes[class.index()].0].friends;
            found.extend(friends.iter().filter(|(known, _)| *known == name).map(|(_, decl)| *decl));
        }
        for decl in found {
            let is_known =
                |known: &FunctionDecl<'u>| std::ptr::eq(known.syntax, decl.syntax) && known.scope == decl.scope;
            if !functions.iter().any(is_known) {
                functions.push(decl);
            }
        }
    }

    /// The functions that a namespace itself declares or takes over from others.
    fn functions_in(&mut self, namespace: ScopeId, name: &str) -> Vec<FunctionDecl<'u>> {
        let mut found = Vec::new();
        for entity in self.declared_in(namespace, name) {
            found.extend(functions_of(&self.follow(vec![entity]).unwrap_or_default()));
        }
        found.retain(|decl| decl.record.is_none());
        found
    }

    /// Adds what a type leads to.
    fn associate(&mut self, ty: TypeId, associated: &mut Associated) {
        let mut open = vec![ty];
        while let Some(ty) = open.pop() {
            let ty = self.types.plain(ty);
            if associated.types.contains(&ty) {
                continue;
            }
            associated.types.push(ty);
            if let Some(home) = self.types.home_of_enumeration(ty) {
                self.associate_home(home, associated);
            }
            if let Some(signature) = self.types.signatures.get(&ty) {
                open.push(signature.result);
                open.extend(signature.params.iter().copied());
            }
            match self.types[ty] {
                Type::Pointer { to, .. } | Type::Array { of: to, .. } => open.push(to),
                Type::Record(record) => {
                    self.associate_class(record, associated);
                    let mut values = self.records.origins[record.index()].1.clone();
                    while let Some(value) = values.pop() {
                        match value {
                            TemplateValue::Type(ty) => open.push(ty),
                            TemplateValue::Template(index) => {
                                self.associate_home(self.records.decls[index].scope, associated);
                            }
                            TemplateValue::Pack(inner) => values.extend(inner),
                            _ => {}
                        }
                    }
                }
                // Classes of the global namespace to a compiler.
                Type::Vector { .. } | Type::Float { width: 16 } if self.language == Language::Cuda => {
                    associated.add_namespace(ScopeId(0));
                }
                _ => {}
            }
        }
    }

    /// Adds a class and its bases.
    fn associate_class(&self, class: RecordId, associated: &mut Associated) {
        let mut open = vec![class];
        while let Some(class) = open.pop() {
            if associated.classes.contains(&class) {
                continue;
            }
            associated.classes.push(class);
            self.associate_home(self.records.decls[self.records.origins[class.index()].0].scope, associated);
            open.extend(self.records.bases[class.index()].iter().map(|(base, _)| *base));
        }
    }

    /// Adds the namespace around a declaration, and the class that it is a member of.
    fn associate_home(&self, home: ScopeId, associated: &mut Associated) {
        let mut namespace = self.namespace_around(home);
        // Those around an inline namespace, and those inside, belong to it.
        while let (true, Some(parent)) = (self.scopes[namespace.0].is_inline, self.scopes[namespace.0].parent) {
            namespace = parent;
        }
        associated.add_namespace(namespace);
        associated.around.extend(self.scopes[home.0].record);
    }
}
