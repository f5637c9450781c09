//! Members that are defined outside of their class: which of the definitions belong to an instance.
//!
//! `template <class T> int S<T>::f() { … }` belongs to the template itself, `int S<T *>::f() { … }` to the partial
//! specialisation that is written so, and `template <> int S<int>::f() { … }` to that one instance, in which it replaces what
//! the template says. The same holds for static members. A definition that fits no instance belongs to none.
//!
//! Deliberately absent: members of templates that are members, but for their explicit specialisations, and of what is nested
//! more deeply: their definitions are not found, and their calls are then not understood.

use super::context::Resolver;
use super::entities::{Entity, FunctionDecl, Outside, ScopeId, TemplateValue};
use super::program::RecordId;
use super::records::same_value;
use crate::syntax::{self, PathSegment, TemplateArg, TemplateParam};

/// Where the parameters of a definition are bound, and how it relates to an instance.
struct Fit {
    scope: ScopeId,
    replaces: Replaces,
}

/// What a definition replaces of what the template says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replaces {
    Nothing,
    /// The same member.
    Itself,
    /// All members of its name: which of them it is, is not known.
    AllOfItsName,
}

impl<'u> Resolver<'u> {
    /// Declares the members of a record that are defined outside of it and belong to this instance.
    pub(super) fn declare_outside(&mut self, record: RecordId) {
        let (index, _) = self.records.origins[record.index()];
        for definition in self.records.decls[index].outside.clone() {
            match definition {
                Outside::Function(function) => self.outside_function(record, function),
                Outside::Inner(function) => self.outside_inner(record, function),
                Outside::Variable(owner, variable) => self.outside_variable(record, owner, variable),
                Outside::Record(owner, inner) => self.outside_record(record, owner, inner),
            }
        }
    }

    fn outside_function(&mut self, record: RecordId, function: &'u syntax::Function) {
        let Some((last, outer)) = function.path.segments.split_last() else { return };
        let params = function.template.as_deref();
        let Some(fit) = outer.last().and_then(|owner| self.fit(record, owner, params)) else { return };
        let decl = FunctionDecl { syntax: function, scope: fit.scope, record: Some(record) };
        let entities = self.scopes.named_mut(self.records.scopes[record.index()], &last.name.text);
        match fit.replaces {
            // Of two that take the same the first is called.
            Replaces::Itself => entities.insert(0, Entity::Function(decl)),
            Replaces::Nothing => entities.push(Entity::Function(decl)),
            Replaces::AllOfItsName => *entities = vec![Entity::Function(decl)],
        }
    }

    /// A member of a class that is a member of this one.
    fn outside_inner(&mut self, record: RecordId, function: &'u syntax::Function) {
        let Some((_, [owner, inner])) = function.path.segments.split_last() else { return };
        if self.fit(record, owner, function.template.as_deref()).is_none() {
            return;
        }
        let scope = self.records.scopes[record.index()];
        let entities = self.scopes[scope.0].names.get(&inner.name.text).cloned().unwrap_or_default();
        for entity in entities {
            let Entity::Record(index) = entity else { continue };
            self.records.decls[index].outside.push(Outside::Function(function));
            // Where a member of the class needed it, it has been made already.
            let made: Vec<RecordId> = self.records.decls[index].instances.values().copied().collect();
            for record in made {
                self.outside_function(record, function);
            }
        }
    }

    /// A static member: what it is declared as stays, but its value is stated here.
    fn outside_variable(&mut self, record: RecordId, owner: &'u PathSegment, variable: &'u syntax::Variable) {
        let Some(fit) = self.fit(record, owner, Some(variable.template.as_slice())) else { return };
        let scope = self.records.scopes[record.index()];
        let entities = self.scopes[scope.0].names.get(&variable.name.text).cloned().unwrap_or_default();
        for entity in entities {
            let Entity::Global(index) = entity else { continue };
            let global = &mut self.globals[index];
            if variable.init.is_some() && (fit.replaces != Replaces::Nothing || global.syntax.init.is_none()) {
                global.definition = Some((variable, fit.scope));
            }
        }
    }

    /// A class that is a member.
    fn outside_record(&mut self, record: RecordId, owner: &'u PathSegment, inner: &'u syntax::Record) {
        let Some(fit) = self.fit(record, owner, inner.template.as_deref()) else { return };
        let scope = self.records.scopes[record.index()];
        // A specialisation of a member template replaces nothing of the template.
        if fit.replaces != Replaces::Nothing && inner.specialization.is_none() {
            self.scopes[scope.0].names.remove(&inner.name.text);
        }
        self.within(scope, |this| this.declare_record(inner));
    }

    /// Whether a definition belongs to an instance, by the arguments that its class is written with.
    fn fit(&mut self, record: RecordId, owner: &'u PathSegment, params: Option<&'u [TemplateParam]>) -> Option<Fit> {
        let (index, values) = self.records.origins[record.index()].clone();
        let scope = self.records.scopes[record.index()];
        let own = self.records.decls[index].primary.template.as_deref().unwrap_or(&[]);
        let definition = *self.records.definitions.get(&record)?;
        let Some(args) = owner.args.as_deref().filter(|_| !own.is_empty()) else {
            return Some(Fit { scope, replaces: Replaces::Nothing });
        };
        let params = params.unwrap_or(&[]);
        let home = self.records.decls[index].scope;
        if definition.specialization.is_none() && !params.is_empty() {
            // A definition of the template itself names its parameters one by one.
            if params.len() >= own.len() && (own.iter().any(|param| param.pack) || names(args, params)) {
                return Some(self.bound(record, &params[..own.len()], &values));
            }
            // A member template of one instance has parameters of its own; which they are is not told apart here.
            let rebuilt = self.within(home, |this| this.written_values(own, args));
            let rebuilt = self.stated_values(own, rebuilt, home);
            return self
                .is_of_instance(record, &rebuilt, &values)
                .then_some(Fit { scope, replaces: Replaces::AllOfItsName });
        }
        let mut found = vec![TemplateValue::Unknown; params.len()];
        self.deduce_args(params, &mut found, args, &values);
        let fit = self.bound(record, params, &found);
        let rebuilt = self.within(fit.scope, |this| this.written_values(own, args));
        let rebuilt = self.stated_values(own, rebuilt, home);
        if !self.is_of_instance(record, &rebuilt, &values) {
            return None;
        }
        match &definition.specialization {
            None => Some(Fit { scope, replaces: Replaces::Itself }),
            // Of a full specialisation it is a member like any other.
            Some(_) if params.is_empty() => Some(Fit { scope, replaces: instead_of(definition) }),
            Some(pattern) => {
                let own_params = definition.template.as_deref().unwrap_or(&[]);
                let wanted = self.written_pattern(home, own, own_params, pattern);
                (self.written_pattern(home, own, params, args) == wanted).then_some(fit)
            }
        }
    }

    /// Whether a definition for these arguments is one for the instance; where that is not known, neither is the class.
    fn is_of_instance(&mut self, record: RecordId, written: &[TemplateValue], values: &[TemplateValue]) -> bool {
        let is_this = written.len() == values.len() && written.iter().zip(values).all(|(a, b)| same_value(a, b));
        if !is_this && values.iter().any(|value| self.is_open_value(value)) && self.may_be_same(written, values) {
            self.records.open.insert(record);
        }
        is_this
    }

    /// The parameters of a definition bound to what they are in an instance.
    fn bound(&mut self, record: RecordId, params: &'u [TemplateParam], values: &[TemplateValue]) -> Fit {
        let scope = self.records.scopes[record.index()];
        let bound = self.bind(scope, params, values);
        self.scopes[bound.0].prefix = self.scopes[scope.0].prefix.clone();
        Fit { scope: bound, replaces: Replaces::Nothing }
    }

    /// Arguments as they are written, with something that stands for nothing else in place of each parameter.
    fn written_pattern(
        &mut self,
        home: ScopeId,
        own: &'u [TemplateParam],
        params: &'u [TemplateParam],
        args: &'u [TemplateArg],
    ) -> Vec<TemplateValue> {
        let values = self.placeholders(params);
        let scope = self.bind(home, params, &values);
        self.within(scope, |this| this.written_values(own, args))
    }
}

/// What a member's definition for one instance replaces: of a full specialisation it is a member like any other.
fn instead_of(definition: &syntax::Record) -> Replaces {
    let is_full = definition.template.as_ref().is_none_or(Vec::is_empty);
    if is_full { Replaces::Nothing } else { Replaces::Itself }
}

/// Whether arguments are the parameters themselves, in order.
fn names(args: &[TemplateArg], params: &[TemplateParam]) -> bool {
    args.iter().zip(params).all(|(argument, param)| bare_name(argument).is_some_and(|name| name == param.name.text))
}

/// The name that an argument is, if it is no more than that.
pub(super) fn bare_name(argument: &TemplateArg) -> Option<&str> {
    let path = match argument {
        TemplateArg::Value(syntax::Expr { kind: syntax::ExprKind::Path(path), .. }) => path,
        TemplateArg::Type(syntax::Type { kind: syntax::TypeKind::Named(path), .. }) => path,
        _ => return None,
    };
    match path.segments.as_slice() {
        [only] if only.args.is_none() => Some(&only.name.text),
        _ => None,
    }
}
