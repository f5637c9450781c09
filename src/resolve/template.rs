//! Template arguments: what is written, what is deduced, and the scopes that bind them.
//!
//! Substitution is by scope: an instance is the template's syntax resolved anew in a scope in which the
//! parameters name their arguments.

use super::context::Resolver;
use super::entities::{Entity, Found, ScopeId, TemplateValue};
use super::overload::is_placeholder;
use super::program::{Expr, ExprKind, Type, TypeId};
use crate::builtins::namespaces::without_namespaces;
use crate::syntax::{self, Binding, Qualifier, TemplateArg, TemplateParam, TemplateParamKind, TypeKind};

impl<'u> Resolver<'u> {
    /// The arguments of a template: those written, then defaults, resolved in the scope of its declaration.
    pub(super) fn template_values(
        &mut self,
        params: &'u [TemplateParam],
        args: &'u [TemplateArg],
        home: ScopeId,
    ) -> Vec<TemplateValue> {
        let written = self.written_values(params, args);
        self.stated_values(params, written, home)
    }

    /// The arguments as written: a name may stand for a template where the parameter is one.
    pub(super) fn written_values(
        &mut self,
        params: &'u [TemplateParam],
        args: &'u [TemplateArg],
    ) -> Vec<TemplateValue> {
        let is_template = |index: usize| {
            params.get(index).is_some_and(|param| matches!(param.kind, TemplateParamKind::Template(_)) && !param.pack)
        };
        let written = args.iter().enumerate().map(|(index, argument)| {
            // What is no class template that is declared stays what it was taken for.
            match if is_template(index) { self.class_template(named_by(argument)) } else { TemplateValue::Unknown } {
                TemplateValue::Unknown => self.template_value(argument),
                template => template,
            }
        });
        written.collect()
    }

    /// Converts arguments to the parameters' types and adds defaults for those that are missing or were not deduced.
    pub(super) fn complete_values(
        &mut self,
        params: &'u [TemplateParam],
        found: Vec<TemplateValue>,
        home: ScopeId,
    ) -> Vec<TemplateValue> {
        let found = found.into_iter().map(|value| (value != TemplateValue::Unknown).then_some(value));
        self.completed(params, found, home)
    }

    /// Converts arguments that are all written, and adds defaults behind them: what is not known of one stays so.
    pub(super) fn stated_values(
        &mut self,
        params: &'u [TemplateParam],
        written: Vec<TemplateValue>,
        home: ScopeId,
    ) -> Vec<TemplateValue> {
        self.completed(params, written.into_iter().map(Some), home)
    }

    fn completed(
        &mut self,
        params: &'u [TemplateParam],
        mut found: impl Iterator<Item = Option<TemplateValue>>,
        home: ScopeId,
    ) -> Vec<TemplateValue> {
        let mut values = Vec::new();
        for (index, param) in params.iter().enumerate() {
            if param.pack {
                let rest = found.by_ref().map(|value| value.unwrap_or(TemplateValue::Unknown));
                values.push(TemplateValue::Pack(rest.collect()));
                continue;
            }
            let value = match found.next().flatten() {
                None => {
                    let scope = self.bind(home, &params[..index], &values);
                    self.within(scope, |this| this.default_value(param))
                }
                Some(value) => value,
            };
            values.push(self.fit_value(param, value, home, &params[..index], &values));
        }
        values
    }

    /// A constant takes the type of its parameter, so that equal arguments are equal instances.
    fn fit_value(
        &mut self,
        param: &'u TemplateParam,
        value: TemplateValue,
        home: ScopeId,
        before: &'u [TemplateParam],
        values: &[TemplateValue],
    ) -> TemplateValue {
        match (&param.kind, value) {
            (TemplateParamKind::Value(ty, _), TemplateValue::Value(value, of)) => {
                let scope = self.bind(home, before, values);
                let ty = self.within(scope, |this| this.resolve_type(ty).ty);
                match self.types[ty] {
                    _ if is_placeholder(value) => TemplateValue::Value(value, of),
                    Type::Int { .. } | Type::Bool => TemplateValue::Value(self.types.wrap(value, ty), ty),
                    // `auto` takes the type of the argument.
                    _ => TemplateValue::Value(value, self.types.plain(of)),
                }
            }
            // A name that nothing declares may have been taken for the wrong kind.
            (TemplateParamKind::Value(..), TemplateValue::Type(_)) => TemplateValue::Unknown,
            (TemplateParamKind::Type(_), TemplateValue::Value(..) | TemplateValue::Symbol(_)) => TemplateValue::Unknown,
            (TemplateParamKind::Type(_) | TemplateParamKind::Value(..), TemplateValue::Template(_)) => {
                TemplateValue::Unknown
            }
            (_, value) => value,
        }
    }

    /// The default of a parameter.
    fn default_value(&mut self, param: &'u TemplateParam) -> TemplateValue {
        match &param.kind {
            TemplateParamKind::Type(Some(ty)) => TemplateValue::Type(self.type_argument(ty)),
            TemplateParamKind::Value(_, Some(value)) => self.value_argument(value),
            TemplateParamKind::Template(Some(name)) => self.class_template(path_of(name)),
            _ => TemplateValue::Unknown,
        }
    }

    /// The class template that an argument names.
    fn class_template(&mut self, name: Option<&'u syntax::Path>) -> TemplateValue {
        let bare = name.filter(|path| path.segments.last().is_some_and(|segment| segment.args.is_none()));
        let Some(path) = bare else { return TemplateValue::Unknown };
        match self.find(path) {
            Found::Entities(entities) => match entities.first() {
                Some(Entity::Record(index)) => TemplateValue::Template(*index),
                _ => TemplateValue::Unknown,
            },
            Found::External(_) => TemplateValue::Unknown,
        }
    }

    /// An argument as written.
    pub(super) fn template_value(&mut self, argument: &'u TemplateArg) -> TemplateValue {
        match argument {
            TemplateArg::Type(ty) => match &ty.kind {
                // A front end cannot always tell a name of a value from one of a type.
                TypeKind::Named(path) if ty.qualifiers.is_empty() && self.is_value(path) => {
                    let value = self.path(path, ty.span);
                    let value = self.load(value);
                    self.constant_argument(&value)
                }
                _ => TemplateValue::Type(self.type_argument(ty)),
            },
            TemplateArg::Value(value) => self.value_argument(value),
            TemplateArg::Expansion(_) => TemplateValue::Unknown,
        }
    }

    /// A type as an argument, with `const` and what references add.
    fn type_argument(&mut self, ty: &'u syntax::Type) -> TypeId {
        let written = self.resolve_type(ty);
        self.types.argument_type(written)
    }

    /// Whether a path names a value of the unit.
    fn is_value(&mut self, path: &'u syntax::Path) -> bool {
        match self.find(path) {
            Found::Entities(entities) => matches!(
                entities.first(),
                Some(
                    Entity::Constant(..)
                        | Entity::Variable(_)
                        | Entity::Global(_)
                        | Entity::Field(..)
                        | Entity::Function(_)
                        | Entity::FunctionValue(_)
                )
            ),
            Found::External(_) => false,
        }
    }

    /// A value argument; a bare name may turn out to be a type.
    fn value_argument(&mut self, value: &'u syntax::Expr) -> TemplateValue {
        if let syntax::ExprKind::Path(path) = &value.kind
            && let Some(ty) = self.path_as_type(path)
        {
            return TemplateValue::Type(ty);
        }
        let value = self.unevaluated(value);
        self.constant_argument(&value)
    }

    /// A resolved value as an argument.
    fn constant_argument(&mut self, value: &Expr) -> TemplateValue {
        if let ExprKind::Function(function) = value.kind {
            return TemplateValue::Function(function);
        }
        if let Some(constant) = self.constant(value) {
            return TemplateValue::Value(constant, value.ty);
        }
        match self.symbol(value) {
            Some(variable) => TemplateValue::Symbol(variable),
            None => TemplateValue::Unknown,
        }
    }

    /// The type that a path names, if it names one.
    pub(super) fn path_as_type(&mut self, path: &'u syntax::Path) -> Option<TypeId> {
        let last = path.segments.last()?;
        match self.find(path) {
            Found::Entities(entities) => {
                let written = entities.iter().find_map(|entity| self.written_of_entity(entity, last))?;
                Some(self.types.argument_type(written))
            }
            Found::External(name) => {
                let short = without_namespaces(&name);
                if let Some(named) = self.types.builtin_type(short) {
                    return Some(named);
                }
                if let Some(computed) = self.computed_type(path, &name) {
                    return Some(self.types.argument_type(computed));
                }
                self.library_type(&name, Some(last))
            }
        }
    }

    /// A scope inside `home` in which the parameters name their values.
    pub(super) fn bind(&mut self, home: ScopeId, params: &'u [TemplateParam], values: &[TemplateValue]) -> ScopeId {
        let scope = self.template_scope(home);
        self.scopes[scope.0].binds = !params.is_empty();
        for (param, value) in params.iter().zip(values) {
            let entity = match value {
                TemplateValue::Type(ty) => Entity::Type(*ty),
                TemplateValue::Value(value, ty) => Entity::Constant(*value, *ty),
                TemplateValue::Symbol(variable) => Entity::Variable(*variable),
                TemplateValue::Function(function) => Entity::FunctionValue(*function),
                TemplateValue::Template(record) => Entity::Record(*record),
                TemplateValue::Pack(_) => Entity::Pack,
                TemplateValue::Unknown => match param.kind {
                    TemplateParamKind::Type(_) | TemplateParamKind::Template(_) => {
                        Entity::Type(self.types.unknown(param.name.text.clone()))
                    }
                    TemplateParamKind::Value(..) => continue,
                },
            };
            self.within(scope, |this| this.declare(&param.name.text, entity));
        }
        scope
    }

    /// Deduces parameters of a template by matching a type as written against a type. What is already known
    /// stays; what does not match is left open.
    pub(super) fn deduce(
        &mut self,
        params: &'u [TemplateParam],
        values: &mut [TemplateValue],
        pattern: &'u syntax::Type,
        actual: TypeId,
    ) {
        // `const` that the pattern states is no part of what is deduced.
        let states_const = pattern.qualifiers.iter().any(|qualifier| matches!(qualifier, Qualifier::Const));
        let actual = if states_const { self.types.plain(actual) } else { actual };
        match &pattern.kind {
            TypeKind::Named(path) => self.deduce_named(params, values, path, actual),
            TypeKind::Pointer(inner) => {
                if let Type::Pointer { to, .. } = self.types[actual] {
                    self.deduce(params, values, inner, to);
                }
            }
            TypeKind::Reference(inner, Binding::Rvalue) if is_parameter(params, inner) => {
                self.deduce(params, values, inner, actual);
            }
            TypeKind::Reference(inner, _) => {
                let (of, _) = self.types.referred(actual);
                self.deduce(params, values, inner, of);
            }
            TypeKind::Function(result, patterns) => {
                if let Some(signature) = self.types.signatures.get(&actual).cloned() {
                    self.deduce(params, values, result, signature.result);
                    for (pattern, actual) in patterns.iter().zip(signature.params) {
                        self.deduce(params, values, &pattern.ty, actual);
                    }
                }
            }
            TypeKind::Array(inner, len) => match self.types[actual] {
                Type::Array { of, len: actual_len } => {
                    self.deduce(params, values, inner, of);
                    if let (Some(len), Some(actual_len)) = (len, actual_len) {
                        let ty = self.types.common.ulong;
                        deduce_value(params, values, len, TemplateValue::Value(i128::from(actual_len), ty));
                    }
                }
                // An array parameter is a pointer.
                Type::Pointer { to, .. } => self.deduce(params, values, inner, to),
                _ => {}
            },
            _ => {}
        }
    }

    fn deduce_named(
        &mut self,
        params: &'u [TemplateParam],
        values: &mut [TemplateValue],
        path: &'u syntax::Path,
        actual: TypeId,
    ) {
        let [segment] = path.segments.as_slice() else {
            return self.deduce_instance(params, values, path, actual);
        };
        let name = &segment.name.text;
        let position = params.iter().position(|param| {
            param.name.text == *name && matches!(param.kind, TemplateParamKind::Type(_)) && !param.pack
        });
        match position {
            Some(position) => {
                if values[position] == TemplateValue::Unknown && !self.is_untyped(actual) {
                    values[position] = TemplateValue::Type(actual);
                }
            }
            None => self.deduce_instance(params, values, path, actual),
        }
    }

    /// Matches `S<T, N>` against an instance of `S`.
    fn deduce_instance(
        &mut self,
        params: &'u [TemplateParam],
        values: &mut [TemplateValue],
        path: &'u syntax::Path,
        actual: TypeId,
    ) {
        let Some(args) = path.segments.last().and_then(|segment| segment.args.as_ref()) else {
            return;
        };
        let Type::Record(record) = self.types[actual] else {
            return;
        };
        let (origin, actual_values) = self.records.origins[record.index()].clone();
        if let [segment] = path.segments.as_slice()
            && !actual_values.is_empty()
            && let Some(at) = params.iter().position(|param| param.name.text == segment.name.text)
        {
            // `G<X>`, where the template itself is a parameter.
            if matches!(params[at].kind, TemplateParamKind::Template(_)) && values[at] == TemplateValue::Unknown {
                values[at] = TemplateValue::Template(origin);
            }
            return self.deduce_args(params, values, args, &actual_values);
        }
        let named = match self.find(path) {
            Found::Entities(entities) => {
                entities.iter().any(|entity| matches!(entity, Entity::Record(index) if *index == origin))
            }
            Found::External(_) => false,
        };
        if named {
            self.deduce_args(params, values, args, &actual_values);
        }
    }

    /// Matches written arguments against the arguments of an instance.
    pub(super) fn deduce_args(
        &mut self,
        params: &'u [TemplateParam],
        values: &mut [TemplateValue],
        args: &'u [TemplateArg],
        actual: &[TemplateValue],
    ) {
        for (argument, actual) in args.iter().zip(actual) {
            match (argument, actual) {
                (TemplateArg::Type(pattern), TemplateValue::Type(actual)) => {
                    match (&pattern.kind, self.types.referred(*actual)) {
                        // Only a parameter of a function forwards.
                        (TypeKind::Reference(inner, binding), (of, Some(found))) if *binding == found => {
                            self.deduce(params, values, inner, of);
                        }
                        (TypeKind::Reference(..), _) => {}
                        _ => self.deduce(params, values, pattern, *actual),
                    }
                }
                // A front end cannot always tell the name of a value from that of a type.
                (
                    TemplateArg::Type(pattern),
                    TemplateValue::Template(_)
                    | TemplateValue::Value(..)
                    | TemplateValue::Symbol(_)
                    | TemplateValue::Function(_),
                ) => {
                    if let Some(path) = path_of(pattern) {
                        deduce_name(params, values, path, actual.clone());
                    }
                }
                (TemplateArg::Value(pattern), actual) => deduce_value(params, values, pattern, actual.clone()),
                _ => {}
            }
        }
    }

    /// Arguments as text, for names.
    pub(super) fn value_texts(&self, values: &[TemplateValue]) -> Vec<String> {
        values
            .iter()
            .flat_map(|value| match value {
                TemplateValue::Type(ty) => vec![self.type_name(*ty)],
                TemplateValue::Value(value, ty) if *ty == self.types.common.bool => vec![(*value != 0).to_string()],
                TemplateValue::Value(value, _) => vec![value.to_string()],
                TemplateValue::Symbol(variable) => vec![self.variables[*variable].name.clone()],
                TemplateValue::Function(function) => vec![self.functions[*function].name.clone()],
                TemplateValue::Template(record) => vec![self.records.decls[*record].name.to_owned()],
                TemplateValue::Unknown => vec!["?".to_owned()],
                TemplateValue::Pack(values) => self.value_texts(values),
            })
            .collect()
    }

    /// Whether nothing is known of a type, so that it deduces nothing.
    pub(super) fn is_untyped(&self, ty: TypeId) -> bool {
        ty == self.types.common.unknown
    }
}

/// Whether a type is one of the parameters, without `const`: a reference to it forwards what it is given.
fn is_parameter(params: &[TemplateParam], ty: &syntax::Type) -> bool {
    let TypeKind::Named(path) = &ty.kind else { return false };
    ty.qualifiers.is_empty()
        && path.segments.len() == 1
        && params.iter().any(|param| param.name.text == path.segments[0].name.text)
}

/// The name that a type is.
fn path_of(ty: &syntax::Type) -> Option<&syntax::Path> {
    match &ty.kind {
        TypeKind::Named(path) => Some(path),
        _ => None,
    }
}

/// The name that an argument is: a bare one may have been taken for a value's.
fn named_by(argument: &TemplateArg) -> Option<&syntax::Path> {
    match argument {
        TemplateArg::Type(ty) => path_of(ty),
        TemplateArg::Value(syntax::Expr { kind: syntax::ExprKind::Path(path), .. }) => Some(path),
        TemplateArg::Value(_) | TemplateArg::Expansion(_) => None,
    }
}

/// Binds a parameter that stands alone in an argument or an array's length.
fn deduce_value(params: &[TemplateParam], values: &mut [TemplateValue], pattern: &syntax::Expr, actual: TemplateValue) {
    if let syntax::ExprKind::Path(path) = &pattern.kind {
        deduce_name(params, values, path, actual);
    }
}

/// Binds the parameter that a name is, if it is one that is open.
fn deduce_name(params: &[TemplateParam], values: &mut [TemplateValue], path: &syntax::Path, actual: TemplateValue) {
    let [segment] = path.segments.as_slice() else {
        return;
    };
    if let Some(position) = params.iter().position(|param| param.name.text == segment.name.text)
        && values[position] == TemplateValue::Unknown
    {
        values[position] = actual;
    }
}
