//! Types that the standard library makes of others (`std::conditional_t`, `std::decay_t`, `std::remove_const<T>::type`), and
//! the conditions that `std::enable_if` puts on the functions of an overload.
//!
//! Deliberately absent: `std::invoke_result` and `std::common_type`, constraints of C++20, and conditions that are hidden
//! in classes of the program.

use super::context::Resolver;
use super::entities::{Entity, Found, FunctionDecl};
use super::program::{Type, TypeId};
use super::qualified::Written;
use crate::syntax::{self, Path, TemplateArg, TemplateParamKind, TypeKind};

/// Whether a function takes part in an overload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// It does.
    Holds,
    /// That depends on what is not known.
    Open,
    /// It does not.
    Fails,
}

impl<'u> Resolver<'u> {
    /// The type that a name of the library makes of its arguments.
    pub(super) fn computed_type(&mut self, path: &'u Path, name: &str) -> Option<Written> {
        let (name, args) = type_function(path, name)?;
        let first = args.first()?;
        match (name, args) {
            ("enable_if", [_]) => return Some(Written::plain(self.types.common.void)),
            ("enable_if", [_, ty]) => return self.written_argument(ty),
            ("conditional", [condition, then, otherwise]) => {
                let chosen = if self.condition_value(condition)? { then } else { otherwise };
                return self.written_argument(chosen);
            }
            ("aligned_storage", _) => {
                let TemplateArg::Value(bytes) = first else { return None };
                let bytes = u64::try_from(self.constant_of(bytes)?).ok()?;
                let of = self.types.intern(Type::Int { width: 8, signed: false });
                return Some(Written::plain(self.types.intern(Type::Array { of, len: Some(bytes) })));
            }
            _ => {}
        }
        let written = self.written_argument(first)?;
        let plain = Written::plain(written.ty);
        Some(match name {
            "decay" => match self.types[written.ty] {
                Type::Array { of, .. } => Written::plain(self.types.pointer(of, None)),
                _ => plain,
            },
            "remove_cvref" => plain,
            "remove_reference" => Written { is_reference: false, ..written },
            "remove_cv" if !written.is_reference => Written { space: written.space, ..plain },
            "remove_const" if !written.is_reference => Written { is_const: false, ..written },
            "remove_volatile" if !written.is_reference => Written { is_volatile: false, ..written },
            "remove_cv" | "remove_const" | "remove_volatile" => written,
            "add_const" if !written.is_reference => Written { is_const: true, ..written },
            "remove_pointer" => match self.types[written.ty] {
                Type::Pointer { to, .. } => Written::plain(to),
                _ => written,
            },
            "make_unsigned" => Written::plain(self.types.made_unsigned(written.ty)?),
            "make_signed" => Written::plain(self.types.made_signed(written.ty)?),
            "type_identity" => written,
            _ => return None,
        })
    }

    /// The truth value of a template argument, where it is known.
    fn condition_value(&mut self, argument: &'u TemplateArg) -> Option<bool> {
        match self.template_value(argument) {
            super::entities::TemplateValue::Value(value, _) => Some(value != 0),
            _ => None,
        }
    }

    /// Whether the conditions hold that stand in the head of a function, whose template arguments are bound here.
    pub(super) fn condition_of(&mut self, decl: FunctionDecl<'u>, params: &'u [syntax::TemplateParam]) -> Condition {
        let mut types: Vec<&'u syntax::Type> = decl.syntax.result.iter().collect();
        types.extend(params.iter().filter_map(|param| match &param.kind {
            TemplateParamKind::Value(ty, _) | TemplateParamKind::Type(Some(ty)) => Some(ty),
            _ => None,
        }));
        types.extend(decl.syntax.params.iter().map(|param| &param.ty));
        // A default that is no constant for these arguments takes the function out.
        let defaults = params.iter().filter_map(|param| match &param.kind {
            TemplateParamKind::Value(_, default) if param.name.text.is_empty() => default.as_ref(),
            _ => None,
        });
        let defaults: Vec<&'u syntax::Expr> = defaults.collect();
        let is_known = |this: &mut Self, value: &'u syntax::Expr| this.constant_of(value).is_some();
        let mut found = Condition::Holds;
        if !defaults.into_iter().all(|value| is_known(self, value)) || params.iter().any(super::records::is_unread) {
            found = Condition::Open;
        }
        for ty in types {
            match self.condition_in(ty) {
                Condition::Holds => {}
                Condition::Open => found = Condition::Open,
                Condition::Fails => return Condition::Fails,
            }
        }
        found
    }

    pub(super) fn condition_in(&mut self, ty: &'u syntax::Type) -> Condition {
        let mut ty = ty;
        while let TypeKind::Pointer(inner) | TypeKind::Reference(inner, _) | TypeKind::Array(inner, _) = &ty.kind {
            ty = inner;
        }
        let path = match &ty.kind {
            TypeKind::Named(path) => path,
            // What is no expression for these arguments takes the function out.
            TypeKind::Decltype(value) => {
                // What is thrown away has to be an expression, too.
                let throws_away = matches!(value.kind, syntax::ExprKind::Comma(..) | syntax::ExprKind::Cast(..));
                let written = self.resolve_type(ty);
                return if throws_away || self.is_open(written.ty) { Condition::Open } else { Condition::Holds };
            }
            _ => return Condition::Holds,
        };
        let arguments = path.segments.iter().flat_map(|segment| segment.args.iter().flatten());
        for argument in arguments {
            if let TemplateArg::Type(argument) = argument {
                match self.condition_in(argument) {
                    Condition::Holds => {}
                    found => return found,
                }
            }
        }
        if path.segments.len() > 1 && !matches!(self.find(path), Found::Entities(_)) && self.is_of_argument(path) {
            return Condition::Open;
        }
        match self.find(path) {
            Found::External(name) => match type_function(path, &name) {
                Some(("enable_if", [condition, ..])) => match self.condition_value(condition) {
                    Some(true) => Condition::Holds,
                    Some(false) => Condition::Fails,
                    None => Condition::Open,
                },
                _ => Condition::Holds,
            },
            Found::Entities(entities) => {
                let Some(Entity::Alias(template, aliased, scope)) = entities.first().cloned() else {
                    return Condition::Holds;
                };
                if template.is_empty() || self.depth > super::context::DEPTH_LIMIT {
                    return Condition::Holds;
                }
                let args = path.segments.last().and_then(|last| last.args.as_deref()).unwrap_or(&[]);
                let values = self.template_values(template, args, scope);
                let scope = self.bind(scope, template, &values);
                self.depth += 1;
                let found = self.within(scope, |this| this.condition_in(aliased));
                self.depth -= 1;
                found
            }
        }
    }
}

impl<'u> Resolver<'u> {
    fn is_open(&self, ty: TypeId) -> bool {
        matches!(self.types[ty], Type::Unknown(_))
    }

    /// Whether a path leads into an argument of a template: whether that has such a member is a condition.
    fn is_of_argument(&mut self, path: &'u Path) -> bool {
        let Some(first) = path.segments.first() else { return false };
        self.lookup(&first.name.text).iter().any(|entity| matches!(entity, Entity::Type(_)))
    }
}

/// The name and the arguments of `std::name_t<…>` and `std::name<…>::type`.
fn type_function<'p, 'n>(path: &'p Path, name: &'n str) -> Option<(&'n str, &'p [TemplateArg])> {
    let name = name.strip_prefix("cuda::").unwrap_or(name).strip_prefix("std::")?;
    let (last, outer) = path.segments.split_last()?;
    match (name.strip_suffix("_t"), name.strip_suffix("::type")) {
        (Some(name), _) => Some((name, last.args.as_deref()?)),
        (_, Some(name)) => Some((name, outer.last()?.args.as_deref()?)),
        _ => None,
    }
}
