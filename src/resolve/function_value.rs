//! Functions as values: pointers to functions, their types, and calls through them.
//!
//! What a pointer may point to is for `lower` to say; here a function's name becomes a pointer to its instance.
//!
//! Deliberately absent: the choice among overloads by the type of a pointer, and functions as values in host code.

use super::call::functions_of;
use super::context::{Resolver, expr};
use super::entities::{Found, FunctionDecl, TemplateValue};
use super::program::{Expr, ExprKind, FunctionId, Type, TypeId};
use super::type_table::Signature;
use crate::source::Span;
use crate::syntax::parts::path_text;
use crate::syntax::{self, Param, Qualifier, words};

impl<'u> Resolver<'u> {
    /// The type of functions with this signature: one of unknown size, of which there are only pointers.
    fn function_type(&mut self, signature: Signature) -> TypeId {
        if let Some(&known) = self.types.function_types.get(&signature) {
            return known;
        }
        let params: Vec<String> = signature.params.iter().map(|&param| self.type_name(param)).collect();
        let mut name = format!("{} ({})", self.type_name(signature.result), params.join(", "));
        if signature.never_throws {
            name.push_str(" noexcept");
        }
        let mut ty = self.types.unknown(name.clone());
        // Records of one name are no reason for two signatures to be the same type.
        while self.types.signatures.contains_key(&ty) {
            name.push(' ');
            ty = self.types.unknown(name.clone());
        }
        self.types.function_types.insert(signature.clone(), ty);
        self.types.signatures.insert(ty, signature);
        ty
    }

    /// `result (params) qualifiers`
    pub(super) fn written_function_type(
        &mut self,
        result: &'u syntax::Type,
        params: &'u [Param],
        qualifiers: &'u [Qualifier],
    ) -> TypeId {
        let Some(never_throws) = self.never_throws(qualifiers) else {
            return self.types.unknown("function type whose `noexcept` is not known");
        };
        let result = self.resolve_type(result);
        let params = params.iter().map(|param| {
            let written = self.param_type(param);
            if written.is_reference { self.types.pointer(written.ty, written.space) } else { written.ty }
        });
        let params = params.collect();
        let returns_reference = result.is_reference;
        let result = if returns_reference { self.types.pointer(result.ty, result.space) } else { result.ty };
        self.function_type(Signature { result, returns_reference, params, never_throws })
    }

    /// Whether a function with these qualifiers is `noexcept`; `None` if its condition has no value that is known.
    fn never_throws(&mut self, qualifiers: &'u [Qualifier]) -> Option<bool> {
        match words::noexcept_of(qualifiers) {
            None => Some(false),
            Some([]) => Some(true),
            Some([condition, ..]) => self.constant_of(condition).map(|value| value != 0),
        }
    }

    /// A function as a pointer to it.
    pub(super) fn function_value(&mut self, function: FunctionId, span: Span) -> Expr {
        if self.functions.infos[function.index()].result_is_auto {
            self.ensure_body(function);
        }
        let params = self.functions[function].params.iter().map(|&param| self.variables[param].ty).collect();
        let result = self.functions[function].result;
        let info = self.functions.infos[function.index()].clone();
        let returns_reference = info.returns_reference;
        let stated = self.within(info.scope, |this| this.never_throws(&info.syntax.qualifiers));
        let Some(never_throws) = stated else {
            return self.unsupported(span, "value of a function whose `noexcept` is not known".to_owned());
        };
        let ty = self.function_type(Signature { result, returns_reference, params, never_throws });
        let ty = self.types.pointer(ty, None);
        expr(ExprKind::Function(function), ty, span)
    }

    /// The name of a function where a value is wanted.
    pub(super) fn named_function(&mut self, path: &'u syntax::Path, span: Span) -> Expr {
        let found = match self.find(path) {
            Found::Entities(entities) if !self.in_host => self.only_function(&functions_of(&entities), path),
            _ => None,
        };
        match found.and_then(|(decl, values)| self.instance(decl, values)) {
            Some(function) => self.function_value(function, span),
            None => self.unsupported(span, format!("function `{}` used as a value", path_text(path))),
        }
    }

    /// The one function among these, with its template arguments; `None` if there are several, or a method.
    fn only_function(
        &mut self,
        functions: &[FunctionDecl<'u>],
        path: &'u syntax::Path,
    ) -> Option<(FunctionDecl<'u>, Vec<TemplateValue>)> {
        let defined: Vec<&FunctionDecl<'u>> = functions.iter().filter(|decl| decl.syntax.body.is_some()).collect();
        let [only] = defined.as_slice() else { return None };
        let is_other = |decl: &FunctionDecl<'u>| decl.syntax.params.len() != only.syntax.params.len();
        if only.record.is_some() || functions.iter().any(is_other) {
            return None;
        }
        let own = self.records.own_template(**only);
        let args = path.segments.last().and_then(|segment| segment.args.as_deref()).unwrap_or(&[]);
        let values = self.template_values(own, args, only.scope);
        let is_known = |value: &TemplateValue| !matches!(value, TemplateValue::Unknown | TemplateValue::Pack(_));
        values.iter().all(is_known).then_some((**only, values))
    }

    /// A call of a function's value or through a pointer to a function; `None` if the callee is neither.
    pub(super) fn call_through(&mut self, callee: &Expr, args: &[Expr], span: Span) -> Option<Expr> {
        if self.in_host {
            return None;
        }
        if let ExprKind::Function(function) = callee.kind {
            return Some(self.finish_call(function, None, args.to_vec(), span));
        }
        // `(*f)(x)` is `f(x)`.
        let pointer = match &callee.kind {
            ExprKind::Deref(pointer) if self.types.signatures.contains_key(&callee.ty) => (**pointer).clone(),
            _ => callee.clone(),
        };
        let Type::Pointer { to, .. } = self.types[pointer.ty] else { return None };
        let Signature { result, returns_reference, params, never_throws: _ } = self.types.signatures.get(&to)?.clone();
        if params.len() != args.len() {
            return None;
        }
        let pointer = self.load(pointer);
        let args = args.iter().cloned().zip(params).map(|(argument, param)| {
            // An object of the type that the parameter points to can only be meant by reference.
            if matches!(self.types[param], Type::Pointer { to, .. } if to == argument.ty) && self.is_object(&argument) {
                return argument;
            }
            let value = self.implicit(argument, param, span);
            self.destroyed(value, span)
        });
        let args = args.collect();
        let call = expr(ExprKind::CallThrough(Box::new(pointer), args), result, span);
        let call = if returns_reference { call } else { self.destroyed(call, span) };
        Some(if returns_reference { self.deref(call) } else { call })
    }
}
