//! Bases that depend on parameters of a template: names that stand alone are not looked up in them (C++17, [temp.dep]
//! paragraph 4), only those behind `this->` or the name of the class.
//!
//! A base depends on what its type mentions: a parameter of a template around the class, or what is declared inside of such a
//! template. The class itself and those around it are no such bases of one another: of these the members are known.

use super::context::{DEPTH_LIMIT, Resolver};
use super::entities::{Entity, ScopeId};
use super::program::RecordId;
use crate::syntax;

/// Which bases of a class a name is looked up in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bases {
    All,
    /// Those that depend on no parameter of a template.
    Independent,
}

impl<'u> Resolver<'u> {
    /// Whether a base that is written so depends on parameters of templates; the current scope is that of the class.
    pub(super) fn is_dependent_base(&mut self, written: &syntax::Type, base: RecordId) -> bool {
        let mut scope = Some(self.scope);
        while let Some(current) = scope {
            if self.scopes[current.0].record == Some(base) {
                return false;
            }
            scope = self.scopes[current.0].parent;
        }
        self.is_dependent_type(written)
    }

    fn is_dependent_type(&mut self, written: &syntax::Type) -> bool {
        let text = syntax::type_text(written);
        leading_names(&text).into_iter().any(|name| self.is_dependent_name(name))
    }

    /// Whether a name means a parameter of a template, or what depends on one.
    fn is_dependent_name(&mut self, name: &str) -> bool {
        let mut scope = Some(self.scope);
        while let Some(current) = scope {
            if let Some(entities) = self.scopes[current.0].names.get(name) {
                let first = entities.first().cloned();
                return self.is_inside_template(current)
                    && first.is_none_or(|entity| self.is_dependent_entity(&entity));
            }
            // What an independent base brings in depends on nothing.
            if !self.names_seen_in(current, name).is_empty() {
                return false;
            }
            scope = self.scopes[current.0].parent;
        }
        false
    }

    /// Whether what is declared inside of a template depends on its parameters.
    fn is_dependent_entity(&mut self, entity: &Entity<'u>) -> bool {
        if self.depth > DEPTH_LIMIT {
            return true;
        }
        self.depth += 1;
        let is_dependent = match entity {
            Entity::Alias(_, ty, scope) => self.within(*scope, |this| this.is_dependent_type(ty)),
            Entity::Global(index) => {
                let (syntax, scope) = (self.globals[*index].syntax, self.globals[*index].scope);
                let text = syntax::variable_text(syntax);
                self.within(scope, |this| {
                    leading_names(&text)
                        .into_iter()
                        .any(|name| name != syntax.name.text && this.is_dependent_name(name))
                })
            }
            _ => true,
        };
        self.depth -= 1;
        is_dependent
    }

    fn is_inside_template(&self, scope: ScopeId) -> bool {
        let mut scope = Some(scope);
        while let Some(current) = scope {
            if self.scopes[current.0].binds {
                return true;
            }
            scope = self.scopes[current.0].parent;
        }
        false
    }

    /// The position of the field of a record that a name means: a field of the record itself comes behind those of its bases,
    /// which it hides.
    pub(super) fn field_seen(&self, record: RecordId, name: &str, bases: Bases) -> Option<usize> {
        let is_own = self.scopes[self.records.scopes[record.index()].0].names.contains_key(name);
        let is_seen = |index: usize| match self.records.base_of_field(record, index) {
            Some(base) => !is_own && (bases == Bases::All || !self.records.dependent_bases.contains(&(record, base))),
            None => true,
        };
        let fields = self.records[record].fields.iter().enumerate().rev();
        fields.filter(|(_, field)| field.name == name).map(|(index, _)| index).find(|&index| is_seen(index))
    }
}

/// The names in a text that stand behind no other name.
fn leading_names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut at = 0;
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    while let Some(start) = text[at..].find(is_of_word).map(|start| at + start) {
        let end = text[start..].find(|c| !is_of_word(c)).map_or(text.len(), |end| start + end);
        let before = text[..start].trim_end();
        let is_behind = ["::", ".", "->"].iter().any(|word| before.ends_with(word));
        if !is_behind && !text[start..].starts_with(|c: char| c.is_ascii_digit()) {
            names.push(&text[start..end]);
        }
        at = end;
    }
    names
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_behind_others_do_not_lead() {
        assert_eq!(super::leading_names("A<T, N + 4u>::B<::C, d.e>"), ["A", "T", "N", "d"]);
    }
}
