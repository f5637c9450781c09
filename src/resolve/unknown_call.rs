//! Calls of functions that the unit does not declare, or that nothing chooses among: what is handed to them, and those
//! of the standard library that are constants.
//!
//! What such a call may do is for `lower` to say; here it is made sure that whatever it could reach is handed over.

use super::context::{Resolver, expr};
use super::entities::FunctionDecl;
use super::program::{Callee, Expr, ExprKind, Type, TypeId};
use crate::calculus::Unsupported;
use crate::source::Span;
use crate::syntax::{self, TemplateArg};

/// What the types of results that are not known are called, before the names of functions.
pub(super) const RESULT: &str = "result of ";

impl<'u> Resolver<'u> {
    /// A call of what is not known, its arguments evaluated. It may take an object by reference, or be a macro that assigns it:
    /// its address is handed over, too.
    pub(super) fn unknown_call(&mut self, name: &str, args: Vec<Expr>, span: Span) -> Expr {
        self.unknown_call_on(name, 0, args, span)
    }

    /// The same of a method, or of an object that is called: the first of the arguments is the object, which it has by reference.
    pub(super) fn unknown_method(&mut self, name: &str, args: Vec<Expr>, span: Span) -> Expr {
        self.unknown_call_on(name, 1, args, span)
    }

    /// The same, where so many arguments are handed over by reference for certain.
    fn unknown_call_on(&mut self, name: &str, by_reference: usize, args: Vec<Expr>, span: Span) -> Expr {
        if args.iter().any(|argument| self.holds_code(argument.ty, 0)) {
            // What that code does, the call may do.
            let reason = format!("call of '{name}', which is not defined, with code to be called");
            return self.unsupported_with(span, reason, args);
        }
        let mut handed = Vec::new();
        let mut by_name = Vec::new();
        for (position, argument) in args.into_iter().enumerate() {
            // Whoever calls a function that only computes learns nothing of memory.
            if self.library_function_of(&argument).is_some() {
                continue;
            }
            if !self.may_be_changed(&argument) {
                handed.push(self.load(argument));
                continue;
            }
            // What pointers inside it lead to is reached as well.
            if !self.types.is_arithmetic(argument.ty) {
                if !is_repeatable(&argument) {
                    let reason = Unsupported::call_of(name);
                    return self.unsupported_with(span, reason, vec![argument]);
                }
                handed.push(self.load(argument.clone()));
            }
            if position >= by_reference {
                by_name.push(handed.len());
            }
            handed.push(self.address_of(argument));
        }
        self.unknown_call_of_values(name, handed, Callee::Undefined(by_name), span)
    }

    /// Whether a value of that type can bring code with it: a lambda, or a pointer to a function.
    fn holds_code(&self, ty: TypeId, depth: usize) -> bool {
        if depth > 8 {
            return true;
        }
        match self.types[ty] {
            Type::Record(record) => {
                self.records.closures.contains_key(&record)
                    || self.records[record].fields.iter().any(|field| self.holds_code(field.ty, depth + 1))
            }
            Type::Array { of, .. } => self.holds_code(of, depth + 1),
            Type::Pointer { to, .. } => match self.types[to] {
                Type::Record(record) => self.records.closures.contains_key(&record),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether an argument is an object that a function could write.
    fn may_be_changed(&self, argument: &Expr) -> bool {
        let is_constant = match argument.kind {
            ExprKind::Variable(variable) => self.variables[variable].constant.is_some(),
            _ => false,
        };
        self.is_object(argument) && !is_constant && !matches!(self.types[argument.ty], Type::Array { .. })
    }

    /// A call with these arguments as they are.
    pub(super) fn unknown_call_of_values(&mut self, name: &str, args: Vec<Expr>, callee: Callee, span: Span) -> Expr {
        self.miss();
        let ty = self.types.unknown(format!("{RESULT}{name}"));
        expr(ExprKind::UnknownCall(name.to_owned(), args, callee), ty, span)
    }

    /// The parameters' types of the first of the functions that take so many arguments, if all of these take numbers by
    /// value.
    pub(super) fn number_types(&mut self, functions: &[FunctionDecl<'u>], count: usize) -> Option<Vec<TypeId>> {
        let mut types = None;
        for decl in functions.iter().filter(|decl| decl.syntax.params.len() == count) {
            if decl.syntax.template.is_some() || decl.record.is_some() {
                return None;
            }
            let own: Vec<_> =
                self.within(decl.scope, |this| decl.syntax.params.iter().map(|param| this.param_type(param)).collect());
            if own.iter().any(|written| written.is_reference || !self.types.is_arithmetic(written.ty)) {
                return None;
            }
            types.get_or_insert_with(|| own.iter().map(|written| written.ty).collect());
        }
        types
    }

    /// `std::numeric_limits<T>::max()` and its kin: a constant.
    pub(super) fn numeric_limit(&mut self, path: &'u syntax::Path, name: &str, span: Span) -> Option<Expr> {
        let what =
            name.strip_prefix("std::numeric_limits::").or_else(|| name.strip_prefix("cuda::std::numeric_limits::"))?;
        let (_, outer) = path.segments.split_last()?;
        let [TemplateArg::Type(ty)] = outer.last()?.args.as_deref()? else { return None };
        let ty = self.resolve_type(ty).ty;
        let value = match (what, &self.types[ty]) {
            ("max", Type::Int { width, signed }) => Some((1_i128 << (u32::from(*width) - u32::from(*signed))) - 1),
            ("min" | "lowest", Type::Int { width, signed: true }) => Some(-(1_i128 << (u32::from(*width) - 1))),
            ("min" | "lowest", Type::Int { signed: false, .. }) => Some(0),
            ("max" | "min" | "lowest" | "infinity" | "epsilon" | "quiet_NaN" | "denorm_min", _) => None,
            _ => return None,
        };
        let kind = match value {
            Some(value) => ExprKind::Int(value),
            None => ExprKind::Builtin(crate::builtins::Builtin::Pure, name.to_owned(), Vec::new()),
        };
        Some(expr(kind, ty, span))
    }
}

/// Whether evaluating an object's address twice does the same twice and changes nothing.
pub(super) fn is_repeatable(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Int(_) | ExprKind::Null | ExprKind::Geometry(_) | ExprKind::Variable(_) => true,
        ExprKind::Load(inner)
        | ExprKind::Convert(inner)
        | ExprKind::Unary(_, inner)
        | ExprKind::AddressOf(inner)
        | ExprKind::Deref(inner)
        | ExprKind::Field(inner, _)
        | ExprKind::Lanes(inner, _) => is_repeatable(inner),
        ExprKind::Element(a, b) | ExprKind::PointerAdd(a, b) | ExprKind::Binary(_, a, b) => {
            is_repeatable(a) && is_repeatable(b)
        }
        _ => false,
    }
}
