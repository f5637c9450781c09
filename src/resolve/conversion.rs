//! Conversions: loads, decay, promotions, the usual arithmetic conversions and explicit casts.

use super::context::{Resolver, expr};
use super::program::{AddressSpace, Expr, ExprKind, Storage, Type, TypeId};
use crate::source::{Language, Span};

impl Resolver<'_> {
    /// Whether an expression denotes an object.
    pub(super) fn is_object(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Variable(_) | ExprKind::Deref(_) | ExprKind::Assign(..) | ExprKind::CompoundAssign { .. } => true,
            ExprKind::Step { postfix, .. } => !postfix,
            // The pointer that it decays to is spelled alike.
            ExprKind::String(_) => matches!(self.types[value.ty], Type::Array { .. }),
            ExprKind::Element(object, _) | ExprKind::Field(object, _) | ExprKind::Lanes(object, _) => {
                self.is_object(object)
            }
            _ => false,
        }
    }

    /// The object as one that is given up.
    pub(super) fn given_up(&mut self, object: Expr) -> Expr {
        if self.language == Language::OpenCl || !self.is_object(&object) {
            return object;
        }
        Expr { ty: self.types.given_up(object.ty), ..object }
    }

    /// An object seen as one of a type that is the same but for `const`.
    pub(super) fn seen_as(&self, object: Expr, ty: TypeId) -> Expr {
        debug_assert!(!matches!(object.kind, ExprKind::Load(_)));
        Expr { ty, ..object }
    }

    /// The value of an expression: an object is loaded, an array decays to a pointer to its first element, a
    /// variable with a known constant becomes the constant.
    pub(super) fn load(&mut self, value: Expr) -> Expr {
        if !self.is_object(&value) {
            return value;
        }
        if let Type::Array { of, .. } = self.types[value.ty] {
            let space = self.space_of_object(&value);
            let ty = self.types.pointer(of, space);
            if let ExprKind::String(_) = value.kind {
                return Expr { ty, ..value };
            }
            let span = value.span;
            return expr(ExprKind::AddressOf(Box::new(value)), ty, span);
        }
        if let ExprKind::Variable(variable) = value.kind
            && let Some(constant) = self.variables[variable].constant
            && matches!(self.types[value.ty], Type::Int { .. } | Type::Bool)
        {
            return Expr { kind: ExprKind::Int(constant), ty: self.types.plain(value.ty), span: value.span };
        }
        let (ty, span) = (self.types.plain(value.ty), value.span);
        let value = match self.loaded_arms(value) {
            Ok(loaded) => return loaded,
            Err(value) => value,
        };
        expr(ExprKind::Load(Box::new(value)), ty, span)
    }

    /// The value of an object that is one of two: a choice between two values, for which nobody needs an address.
    fn loaded_arms(&mut self, object: Expr) -> Result<Expr, Expr> {
        let (ty, span) = (self.types.plain(object.ty), object.span);
        let ExprKind::Deref(pointer) = object.kind else { return Err(object) };
        let ExprKind::Conditional(cond, then, otherwise) = pointer.kind else {
            return Err(Expr { kind: ExprKind::Deref(pointer), ..object });
        };
        let [then, otherwise] = [then, otherwise].map(|arm| {
            let arm = self.deref(*arm);
            let arm = self.load(arm);
            Box::new(Expr { ty, ..arm })
        });
        Ok(expr(ExprKind::Conditional(cond, then, otherwise), ty, span))
    }

    /// The address space that an object is known to lie in. CUDA's pointer types state none.
    pub(super) fn space_of_object(&self, object: &Expr) -> Option<AddressSpace> {
        if self.language == Language::Cuda {
            return None;
        }
        match &object.kind {
            ExprKind::Variable(variable) => match self.variables[*variable].storage {
                Storage::Param | Storage::Local => Some(AddressSpace::Private),
                Storage::Shared => Some(AddressSpace::Shared),
                Storage::Global => Some(AddressSpace::Global),
                Storage::Constant => Some(AddressSpace::Constant),
                Storage::Host => None,
            },
            ExprKind::Deref(pointer) => match self.types[pointer.ty] {
                Type::Pointer { space, .. } => space,
                _ => None,
            },
            ExprKind::Element(object, _)
            | ExprKind::Field(object, _)
            | ExprKind::Lanes(object, _)
            | ExprKind::Assign(object, _)
            | ExprKind::CompoundAssign { target: object, .. }
            | ExprKind::Step { target: object, .. } => self.space_of_object(object),
            _ => None,
        }
    }

    /// The address of an object, as a pointer to its type.
    pub(super) fn address_of(&mut self, object: Expr) -> Expr {
        let span = object.span;
        let object = self.types.as_named(object);
        if let ExprKind::String(_) = object.kind {
            return Expr { ty: self.types.pointer(object.ty, None), ..object };
        }
        if let ExprKind::Deref(pointer) = object.kind {
            // The object may have been seen as one that cannot be changed.
            let space = self.types.space_of_pointer(pointer.ty);
            let ty = self.types.pointer(object.ty, space);
            return self.convert(*pointer, ty);
        }
        let space = self.space_of_object(&object);
        let ty = self.types.pointer(object.ty, space);
        expr(ExprKind::AddressOf(Box::new(object)), ty, span)
    }

    /// The object behind a pointer.
    pub(super) fn deref(&mut self, pointer: Expr) -> Expr {
        let span = pointer.span;
        if let ExprKind::AddressOf(object) = &pointer.kind
            && let Type::Pointer { to, .. } = self.types[pointer.ty]
            && self.types.is_alike(object.ty, to)
        {
            return self.seen_as((**object).clone(), to);
        }
        match self.types[pointer.ty] {
            Type::Pointer { to, .. } => expr(ExprKind::Deref(Box::new(pointer)), to, span),
            _ => {
                let name = self.type_name(pointer.ty);
                self.unsupported_with(span, format!("dereference of a value of type {name}"), vec![pointer])
            }
        }
    }

    /// What is not understood, after the evaluation of `parts`, which may have effects. A part that is not
    /// understood itself is the reason that users should see.
    pub(super) fn unsupported_with(&mut self, span: Span, reason: String, mut parts: Vec<Expr>) -> Expr {
        let culprit = parts.iter().position(|part| matches!(part.kind, ExprKind::Unsupported(_)));
        let mut result = match culprit {
            Some(at) => parts.remove(at),
            None => self.unsupported(span, reason),
        };
        for part in parts.into_iter().rev() {
            if has_effect(&part) {
                let part = self.load(part);
                let ty = result.ty;
                result = expr(ExprKind::Comma(Box::new(part), Box::new(result)), ty, span);
            }
        }
        result
    }

    /// Converts a value (not an object) to a type.
    pub(super) fn convert(&mut self, value: Expr, to: TypeId) -> Expr {
        let to = self.types.plain(to);
        // Types of one content differ by name alone.
        let is_same = self.types[value.ty] == self.types[to] || self.types.is_alike(value.ty, to);
        if is_same || matches!(value.kind, ExprKind::Unsupported(_)) {
            return Expr { ty: to, ..value };
        }
        let span = value.span;
        if matches!(self.types[to], Type::Bool)
            && let Some(truth) = self.number_of_truth(&value)
        {
            return truth;
        }
        if let Some(moved) = self.moved_to_base(&value, to) {
            return moved;
        }
        match (&value.kind, &self.types[to]) {
            (ExprKind::Int(constant), Type::Int { .. } | Type::Bool) => {
                let constant = self.types.wrap(*constant, to);
                return expr(ExprKind::Int(constant), to, span);
            }
            (ExprKind::Int(0) | ExprKind::Null, Type::Pointer { .. }) => return expr(ExprKind::Null, to, span),
            (_, Type::Vector { of, lanes }) if self.types.is_arithmetic(value.ty) => {
                let (of, lanes) = (*of, *lanes);
                let lane = self.convert(value, of);
                let mut parts = vec![lane];
                // A number converts to a `dim3` of one axis; elsewhere it is a splat.
                if self.types.is_dim3(to) {
                    parts.extend((1..lanes).map(|_| expr(ExprKind::Int(1), of, span)));
                }
                return expr(ExprKind::Construct(parts), to, span);
            }
            _ if self.types.is_unlike(value.ty, to) => {
                if let Some(loaded) = self.atomic_load(&value) {
                    return self.convert(loaded, to);
                }
                let (from, into) = (self.type_name(value.ty), self.type_name(to));
                let mut result = self.unsupported_with(span, format!("conversion from {from} to {into}"), vec![value]);
                result.ty = to;
                return result;
            }
            _ => {}
        }
        expr(ExprKind::Convert(Box::new(value)), to, span)
    }

    /// The truth value that a number was made from.
    fn number_of_truth(&self, value: &Expr) -> Option<Expr> {
        let ExprKind::Convert(inner) = &value.kind else { return None };
        (self.types.is_integral(value.ty) && matches!(self.types[inner.ty], Type::Bool)).then(|| (**inner).clone())
    }

    /// What a comparison or a logical operator gives: a truth value, which in C is an `int`.
    pub(super) fn answer(&mut self, truth: Expr) -> Expr {
        if self.language == Language::OpenCl { self.convert(truth, self.types.common.int) } else { truth }
    }

    /// The truth value of a value.
    pub(super) fn truth(&mut self, value: Expr) -> Expr {
        let span = value.span;
        if let Type::Record(_) = self.types[value.ty]
            && let Some(converted) =
                self.conversion_call(&value, self.types.common.bool, super::classes::Asked::Written, span)
        {
            return converted;
        }
        let value = self.load(value);
        self.convert(value, self.types.common.bool)
    }

    /// Applies the integer promotions.
    pub(super) fn promote(&mut self, value: Expr) -> Expr {
        let value = self.operand(value);
        let to = self.types.promoted(value.ty);
        self.convert(value, to)
    }

    /// A cast as written: like a conversion, and also between vectors of one size, which keeps the bits.
    pub(super) fn cast(&mut self, value: Expr, to: TypeId) -> Expr {
        let value = self.load(value);
        let span = value.span;
        let value = self.no_bit_field(value, span);
        self.convert(value, to)
    }
}

/// Whether evaluating an expression does anything beside giving a value. Loads do: they are accesses.
pub(super) fn has_effect(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::String(_)
        | ExprKind::Null
        | ExprKind::Geometry(_)
        | ExprKind::Variable(_) => false,
        ExprKind::Load(inner) => !matches!(inner.kind, ExprKind::Variable(_)),
        ExprKind::Convert(inner)
        | ExprKind::Unary(_, inner)
        | ExprKind::AddressOf(inner)
        | ExprKind::Field(inner, _)
        | ExprKind::Deref(inner)
        | ExprKind::Lanes(inner, _) => has_effect(inner),
        ExprKind::Element(a, b)
        | ExprKind::PointerAdd(a, b)
        | ExprKind::PointerDifference(a, b)
        | ExprKind::Binary(_, a, b) => has_effect(a) || has_effect(b),
        ExprKind::Construct(parts) => parts.iter().any(has_effect),
        _ => true,
    }
}
