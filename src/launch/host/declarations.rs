//! Declarations of locals in host code: what they hold from there on, and whether they can be followed.
//!
//! A local is a constant where it is given one and nothing changes it, or is followed from assignment to assignment
//! ([`super::assignments`]). Static and external variables, references and volatile ones are not known.
//!
//! Deliberately absent: parameters, which calls give their values ([`super::callees`]).

use super::effects::words;
use super::values::{Source, held_at_first, held_from};
use super::walk::Walk;
use crate::resolve::program::Type;
use crate::source::Span;
use crate::syntax::parts::init_parts;
use crate::syntax::{self, Init, Qualifier, TypeKind};

impl<'u> Walk<'_, 'u> {
    /// A variable of a local declaration, after what its initialiser launches; one that nothing changes may be a constant.
    pub(super) fn declare_variable(&mut self, syntax: &'u syntax::Variable) {
        let mut written = self.place.names.declared_type(&syntax.ty, &syntax.qualifiers);
        let changes = self.place.changes_in_variable(syntax);
        let rows: Vec<_> =
            init_parts(syntax.init.as_ref()).iter().flat_map(|value| self.place.allocated_rows(value)).collect();
        self.place.forget(&changes);
        self.place.assume_rows(rows);
        let value = match &syntax.init {
            Some(Init::Value(value)) if matches!(syntax.ty.kind, TypeKind::Auto) => {
                let value = self.place.names.value(value);
                written.ty = value.ty;
                Some(value)
            }
            Some(init)
                if self.place.names.is_integral(written.ty)
                    || matches!(*self.place.names.ty(written.ty), Type::Vector { .. })
                    || self.place.reader().is_listed(init, written.ty) =>
            {
                Some(self.place.names.initial_value(init, written.ty, syntax.span))
            }
            _ => None,
        };
        let pinned = value.as_ref().map(|value| self.place.reader().pinned(value)).unwrap_or_default();
        let variable = self.place.names.declare_written(&syntax.name, written);
        self.declare_unread(&syntax.name, syntax.span);
        self.place.prepare(syntax, variable);
        let is_const = written.is_const || syntax.qualifiers.iter().any(|q| matches!(q, Qualifier::Constexpr));
        let name = &syntax.name.text;
        let is_followed = !written.is_reference && !written.is_volatile && !is_static(&syntax.qualifiers);
        if is_followed && self.place.changed.is_followed(name) {
            self.place.values.constraints.follow(variable);
        }
        if self.place.changed.is_exposed(name) && !is_const || written.is_reference {
            self.place.reader().give_all(Source { variable, part: None }, pinned);
            return;
        }
        // What a static variable holds is left from the call before, which may have handed it out.
        if (is_static(&syntax.qualifiers) || written.is_volatile) && !is_const {
            return;
        }
        self.place.values.own.insert(variable);
        if self.place.changed.has(name) {
            self.place.values.tracked.push(variable);
        }
        if let Some(value) = &value {
            self.place.note_made(variable, (init_parts(syntax.init.as_ref()), value, written.ty));
        }
        let held = match value {
            Some(value) => held_from(self.place.names, &value, written.ty),
            None => held_at_first(self.place.names, written.ty),
        };
        self.place.set(variable, held);
        self.place.reader().give_all(Source { variable, part: None }, pinned);
    }

    /// Declares what a declarator without a name of its own may declare: the names of a structured binding.
    pub(super) fn declare_unread(&mut self, name: &syntax::Name, span: Span) {
        if name.text.is_empty() {
            self.hide(span);
        }
    }

    /// Nothing is known from here on of what the text at `span` names: it may be declared there.
    pub(super) fn hide(&mut self, span: Span) {
        let sources = self.place.names.sources();
        for word in words(sources.text(sources.visible(span))) {
            if self.place.names.names_variable(word) {
                self.declare_unknown(&syntax::Name { text: word.to_owned(), span });
            }
        }
    }

    /// Declares a variable of which nothing is known.
    pub(super) fn declare_unknown(&mut self, name: &syntax::Name) {
        let names = &mut *self.place.names;
        let variable = names.add_variable(name, names.common().unknown);
        names.declare(&name.text, variable);
    }
}

/// Whether a variable with these qualifiers outlives the call.
fn is_static(qualifiers: &[Qualifier]) -> bool {
    qualifiers.iter().any(|qualifier| match qualifier {
        Qualifier::Static | Qualifier::Extern => true,
        Qualifier::Other(word) => word == "thread_local",
        _ => false,
    })
}
