//! Scopes, and how names are looked up in them.

use super::context::Resolver;
use super::dependent::Bases;
use super::entities::{Entity, Found, Scope, ScopeId};
use super::program::Type;
use crate::builtins::namespaces;
use crate::syntax;

/// A name that nothing in the unit declares.
pub(super) struct Undeclared(pub(super) String);

impl<'u> Resolver<'u> {
    /// Declares `name` in the current scope; variables and types of one name replace each other in blocks.
    pub(super) fn declare(&mut self, name: &str, entity: Entity<'u>) {
        if name.is_empty() {
            return;
        }
        let entities = self.scopes.named_mut(self.scope, name);
        match entity {
            Entity::Function(_) => entities.push(entity),
            // A struct and a function may share a name in C; the tag then needs `struct` before it.
            _ => entities.insert(0, entity),
        }
    }

    /// The entities of a name in one scope, with the namespaces that it uses and the bases of its record.
    pub(super) fn lookup_in(&mut self, scope: ScopeId, name: &str) -> Vec<Entity<'u>> {
        self.lookup_within(scope, name, 0)
    }

    fn lookup_within(&mut self, scope: ScopeId, name: &str, depth: usize) -> Vec<Entity<'u>> {
        let mut found = self.own_names(scope, name, Bases::All, depth);
        if depth < 16 && found.is_empty() {
            self.settle_using(scope);
            for used in self.used_in(scope) {
                found.extend(self.lookup_within(used, name, depth + 1));
            }
        }
        found
    }

    /// The entities of a name that a namespace itself declares.
    pub(super) fn declared_in(&mut self, namespace: ScopeId, name: &str) -> Vec<Entity<'u>> {
        self.own_names(namespace, name, Bases::All, 0)
    }

    /// The entities that a name which stands alone means in one scope.
    pub(super) fn names_seen_in(&mut self, scope: ScopeId, name: &str) -> Vec<Entity<'u>> {
        self.own_names(scope, name, Bases::Independent, 0)
    }

    /// The entities of a name in one scope and the bases of its record.
    fn own_names(&mut self, scope: ScopeId, name: &str, bases: Bases, depth: usize) -> Vec<Entity<'u>> {
        let mut found = self.scopes[scope.0].names.get(name).cloned().unwrap_or_default();
        if self.scopes[scope.0].is_namespace && !self.visible.sees_all() {
            self.cut(&mut found);
        }
        for inner in self.scopes[scope.0].inline.clone() {
            found.extend(self.own_names(inner, name, bases, depth));
        }
        if let Some(record) = self.scopes[scope.0].record {
            if let Some(index) = self.field_seen(record, name, bases) {
                found.push(Entity::Field(record, index));
            }
            if found.is_empty() && depth < 16 {
                for (base, _) in self.records.bases[record.index()].clone() {
                    if bases == Bases::Independent && self.records.dependent_bases.contains(&(record, base)) {
                        continue;
                    }
                    found.extend(self.lookup_within(self.records.scopes[base.index()], name, depth + 1));
                }
            }
        }
        found
    }

    /// The namespaces that are used in a scope, as far as the directives are seen.
    fn used_in(&self, scope: ScopeId) -> Vec<ScopeId> {
        let using = self.scopes[scope.0].using.iter();
        using.filter(|(_, directive)| !self.visible.is_later(*directive)).map(|(namespace, _)| *namespace).collect()
    }

    /// Looks up the namespaces of `using namespace` directives that had not been declared before.
    fn settle_using(&mut self, scope: ScopeId) {
        for path in std::mem::take(&mut self.scopes[scope.0].pending_using) {
            match self.namespace_of(path, scope) {
                Some(namespace) if namespace != scope => self.scopes[scope.0].using.push((namespace, path)),
                Some(_) => {}
                None => {
                    let first = path.segments.first().map(|segment| segment.name.text.as_str());
                    self.uses_collectives |= first.is_some_and(namespaces::is_of_collectives);
                }
            }
        }
    }

    /// The namespace that a path names.
    pub(super) fn namespace_of(&mut self, path: &'u syntax::Path, scope: ScopeId) -> Option<ScopeId> {
        match self.within(scope, |this| this.find(path)) {
            Found::Entities(entities) => entities.into_iter().find_map(|entity| match entity {
                Entity::Namespace(namespace) => Some(namespace),
                _ => None,
            }),
            Found::External(_) => None,
        }
    }

    /// The entities of an unqualified name, from the current scope outwards.
    pub(super) fn lookup(&mut self, name: &str) -> Vec<Entity<'u>> {
        self.lookup_of(name, |_| true)
    }

    /// The same, of entities of a kind: what is none is not seen and hides nothing.
    pub(super) fn lookup_of(&mut self, name: &str, is_wanted: fn(&Entity<'u>) -> bool) -> Vec<Entity<'u>> {
        let found = self.lookup_outwards(name, is_wanted);
        if !found.is_empty() || self.visible.sees_all() {
            return found;
        }
        self.as_seen_from_the_end(|this| this.lookup_outwards(name, is_wanted))
    }

    fn lookup_outwards(&mut self, name: &str, is_wanted: fn(&Entity<'u>) -> bool) -> Vec<Entity<'u>> {
        let mut scope = Some(self.scope);
        let mut has_left_lambda = false;
        // Namespaces that are used, with those in which their names appear.
        let mut used: Vec<(ScopeId, ScopeId)> = Vec::new();
        let is_declared = self.scopes.have(name);
        while let Some(current) = scope {
            let may_be_here = is_declared || self.scopes[current.0].record.is_some();
            let mut found = if may_be_here { self.names_seen_in(current, name) } else { Vec::new() };
            self.settle_using(current);
            for namespace in self.used_in(current) {
                used.push((self.common_namespace(current, namespace), namespace));
            }
            for &(_, namespace) in used.iter().filter(|(appears, _)| *appears == current) {
                found.extend(self.lookup_within(namespace, name, 1));
            }
            found.retain(is_wanted);
            if has_left_lambda {
                for entity in &mut found {
                    if self.needs_capture(entity) {
                        *entity = Entity::Uncaptured;
                    }
                }
            }
            if !found.is_empty() {
                return found;
            }
            let Scope { parent, record, .. } = &self.scopes[current.0];
            has_left_lambda |= record.is_some_and(|record| self.records.closures.contains_key(&record));
            scope = *parent;
        }
        Vec::new()
    }

    /// What a path stands for, all but the last segment's template arguments applied.
    pub(super) fn find(&mut self, path: &'u syntax::Path) -> Found<'u> {
        self.find_segments(&path.segments, path.global.then_some(ScopeId(0)))
    }

    /// What stands before the last segment of a path.
    pub(super) fn find_outer(&mut self, path: &'u syntax::Path) -> Found<'u> {
        let outer = path.segments.split_last().map_or(&[][..], |(_, outer)| outer);
        self.find_segments(outer, path.global.then_some(ScopeId(0)))
    }

    /// What segments stand for, looked up in a scope or outwards from here.
    fn find_segments(&mut self, segments: &'u [syntax::PathSegment], mut scope: Option<ScopeId>) -> Found<'u> {
        let Some((last, outer)) = segments.split_last() else {
            return Found::External(String::new());
        };
        let mut external = String::new();
        for segment in outer {
            let entities = match scope {
                _ if !external.is_empty() => Vec::new(),
                Some(scope) => self.lookup_in(scope, &segment.name.text),
                // Before `::` a variable or function of that name hides no scope.
                None => self.lookup_of(&segment.name.text, Entity::may_hold_names),
            };
            match self.scope_of(entities, segment) {
                Some(Ok(inner)) => scope = Some(inner),
                Some(Err(Undeclared(name))) => external = format!("{name}::"),
                None => external = format!("{external}{}::", segment.name.text),
            }
        }
        if !external.is_empty() {
            return Found::External(format!("{external}{}", last.name.text));
        }
        let entities = match scope {
            Some(scope) => match self.lookup_in(scope, &last.name.text) {
                found if found.is_empty() && !self.visible.sees_all() => {
                    self.as_seen_from_the_end(|this| this.lookup_in(scope, &last.name.text))
                }
                found => found,
            },
            None => self.lookup(&last.name.text),
        };
        let entities = self.follow(entities);
        match entities {
            Ok(entities) if !entities.is_empty() => Found::Entities(entities),
            Err(Undeclared(name)) => Found::External(name),
            Ok(_) => Found::External(last.name.text.clone()),
        }
    }

    /// Replaces names of other names by what they stand for.
    pub(super) fn follow(&mut self, entities: Vec<Entity<'u>>) -> Result<Vec<Entity<'u>>, Undeclared> {
        // What a class declares itself hides what a `using` in it brings in.
        let (brought, mut result): (Vec<_>, Vec<_>) =
            entities.into_iter().partition(|entity| matches!(entity, Entity::Path(..)));
        for entity in brought {
            match entity {
                Entity::Path(path, scope) if self.depth < super::context::DEPTH_LIMIT => {
                    self.depth += 1;
                    let found = self.as_seen_by_using(path, |this| this.within(scope, |this| this.find_other(path)));
                    self.depth -= 1;
                    match found {
                        Found::Entities(entities) => result.extend(entities),
                        Found::External(name) if result.is_empty() => return Err(Undeclared(name)),
                        Found::External(_) => {}
                    }
                }
                other => result.push(other),
            }
        }
        Ok(result)
    }

    /// Like [`find`](Self::find), for the target of a `using`, which must not find the `using` itself.
    fn find_other(&mut self, path: &'u syntax::Path) -> Found<'u> {
        match path.segments.as_slice() {
            [only] if path.global => match self.lookup_in(ScopeId(0), &only.name.text) {
                found if found.is_empty() => Found::External(only.name.text.clone()),
                found => {
                    Found::Entities(found.into_iter().filter(|entity| !matches!(entity, Entity::Path(..))).collect())
                }
            },
            _ => self.find(path),
        }
    }

    /// The scope that a segment before `::` names, or a namespace outside the unit.
    fn scope_of(
        &mut self,
        entities: Vec<Entity<'u>>,
        segment: &'u syntax::PathSegment,
    ) -> Option<Result<ScopeId, Undeclared>> {
        let entities = match self.follow(entities) {
            Ok(entities) => entities,
            Err(undeclared) => return Some(Err(undeclared)),
        };
        for entity in entities {
            match entity {
                Entity::Namespace(scope) | Entity::Enum(_, scope) => return Some(Ok(scope)),
                Entity::Type(_) | Entity::Record(_) | Entity::Alias(..) => {
                    let ty = self.type_of_entity(&entity, segment);
                    return match self.types[ty] {
                        Type::Record(record) => Some(Ok(self.records.scopes[record.index()])),
                        _ => None,
                    };
                }
                _ => {}
            }
        }
        None
    }
}
