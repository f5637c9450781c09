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

    /// The value of an expression: an object is loaded, an array decays to a pointer to its first element, a
    /// variable with a known constant becomes the constant.
    pub(super) fn load(&mut self, value: Expr) -> Expr {
        if !self.is_object(&value) {
            return value;
        }
        if let Type::Array { of, .. } = self.types[value.ty] {
            let space = self.space_of_object(&value);
            let ty = self.pointer(of, space);
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
            return Expr { kind: ExprKind::Int(constant), ty: self.plain(value.ty), span: value.span };
        }
        let (ty, span) = (self.plain(value.ty), value.span);
        let value = match self.loaded_arms(value) {
            Ok(loaded) => return loaded,
            Err(value) => value,
        };
        expr(ExprKind::Load(Box::new(value)), ty, span)
    }

    /// The value of an object that is one of two: a choice between two values, for which nobody needs an address.
    fn loaded_arms(&mut self, object: Expr) -> Result<Expr, Expr> {
        let (ty, span) = (self.plain(object.ty), object.span);
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
        let object = self.as_named(object);
        if let ExprKind::String(_) = object.kind {
            return Expr { ty: self.pointer(object.ty, None), ..object };
        }
        if let ExprKind::Deref(pointer) = object.kind {
            // The object may have been seen as one that cannot be changed.
            let space = self.space_of_pointer(pointer.ty);
            let ty = self.pointer(object.ty, space);
            return self.convert(*pointer, ty);
        }
        let space = self.space_of_object(&object);
        let ty = self.pointer(object.ty, space);
        expr(ExprKind::AddressOf(Box::new(object)), ty, span)
    }

    /// The object behind a pointer.
    pub(super) fn deref(&mut self, pointer: Expr) -> Expr {
        let span = pointer.span;
        if let ExprKind::AddressOf(object) = &pointer.kind
            && let Type::Pointer { to, .. } = self.types[pointer.ty]
            && self.is_alike(object.ty, to)
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
        let to = self.plain(to);
        // Types of one content differ by name alone.
        let is_same = self.types[value.ty] == self.types[to] || self.is_alike(value.ty, to);
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
                let constant = self.wrap(*constant, to);
                return expr(ExprKind::Int(constant), to, span);
            }
            (ExprKind::Int(0) | ExprKind::Null, Type::Pointer { .. }) => return expr(ExprKind::Null, to, span),
            (_, Type::Vector { of, lanes }) if self.is_arithmetic(value.ty) => {
                let (of, lanes) = (*of, *lanes);
                let lane = self.convert(value, of);
                let mut parts = vec![lane];
                // A number converts to a `dim3` of one axis; elsewhere it is a splat.
                if self.is_dim3(to) {
                    parts.extend((1..lanes).map(|_| expr(ExprKind::Int(1), of, span)));
                }
                return expr(ExprKind::Construct(parts), to, span);
            }
            _ if self.is_unlike(value.ty, to) => {
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
        (self.is_integral(value.ty) && matches!(self.types[inner.ty], Type::Bool)).then(|| (**inner).clone())
    }

    /// What a comparison or a logical operator gives: a truth value, which in C is an `int`.
    pub(super) fn answer(&mut self, truth: Expr) -> Expr {
        if self.language == Language::OpenCl { self.convert(truth, self.common.int) } else { truth }
    }

    /// Whether a type is `dim3`, whose lanes are ones where nothing says what they are.
    pub(super) fn is_dim3(&self, ty: TypeId) -> bool {
        self.plain(ty) == self.common.dim3
    }

    /// Whether no conversion leads from one type to the other. Of types that are not known nothing is claimed.
    fn is_unlike(&self, from: TypeId, to: TypeId) -> bool {
        let is_whole = |ty: &Type| matches!(ty, Type::Record(_) | Type::Array { .. });
        match (&self.types[from], &self.types[to]) {
            (Type::Unknown(_), _) | (_, Type::Unknown(_) | Type::Void) => false,
            (Type::Void, _) => true,
            // Lanes are converted one by one, and a cast keeps the bits.
            (Type::Vector { .. }, Type::Vector { .. }) => false,
            (Type::Vector { .. }, _) | (_, Type::Vector { .. }) => true,
            (from, to) => is_whole(from) || is_whole(to),
        }
    }

    /// The truth value of a value.
    pub(super) fn truth(&mut self, value: Expr) -> Expr {
        let span = value.span;
        if let Type::Record(_) = self.types[value.ty]
            && let Some(converted) =
                self.conversion_call(&value, self.common.bool, super::classes::Asked::Written, span)
        {
            return converted;
        }
        let value = self.load(value);
        self.convert(value, self.common.bool)
    }

    /// The constant as a value of an integer type or `bool`.
    pub(super) fn wrap(&self, value: i128, ty: TypeId) -> i128 {
        match self.types[ty] {
            Type::Bool => i128::from(value != 0),
            Type::Int { width, signed } => {
                let modulus = 1_i128 << width;
                let low = value.rem_euclid(modulus);
                if signed && low >= modulus / 2 { low - modulus } else { low }
            }
            _ => value,
        }
    }

    /// Whether it is a number or a truth value.
    pub(super) fn is_arithmetic(&self, ty: TypeId) -> bool {
        matches!(self.types[ty], Type::Bool | Type::Int { .. } | Type::Float { .. })
    }

    /// Whether it is an integer or a truth value.
    pub(super) fn is_integral(&self, ty: TypeId) -> bool {
        matches!(self.types[ty], Type::Bool | Type::Int { .. })
    }

    /// Whether it is a pointer.
    pub(super) fn is_pointer(&self, ty: TypeId) -> bool {
        matches!(self.types[ty], Type::Pointer { .. })
    }

    /// The type after the integer promotions.
    pub(super) fn promoted(&self, ty: TypeId) -> TypeId {
        let ty = self.behind_enumeration(ty).map_or(ty, |(integer, _)| integer);
        match self.types[ty] {
            Type::Bool | Type::Int { width: 8 | 16, .. } => self.common.int,
            _ if ty == self.common.wide => self.common.int,
            _ if ty == self.common.utf32 => self.common.uint,
            _ => ty,
        }
    }

    /// Applies the integer promotions.
    pub(super) fn promote(&mut self, value: Expr) -> Expr {
        let value = self.operand(value);
        let to = self.promoted(value.ty);
        self.convert(value, to)
    }

    /// The common type of two operands: the usual arithmetic conversions, with scalars widened to vectors. A
    /// type that is not known is contagious.
    pub(super) fn common_type(&self, left: TypeId, right: TypeId) -> Option<TypeId> {
        match (&self.types[left], &self.types[right]) {
            _ if left == right && !self.is_integral(left) => Some(left),
            (Type::Unknown(_), _) => Some(left),
            (_, Type::Unknown(_)) => Some(right),
            (Type::Vector { .. }, Type::Vector { .. }) => None,
            (Type::Vector { .. }, _) if self.is_arithmetic(right) => Some(left),
            (_, Type::Vector { .. }) if self.is_arithmetic(left) => Some(right),
            (Type::Float { width: a }, Type::Float { width: b }) => Some(if a >= b { left } else { right }),
            (Type::Float { .. }, _) if self.is_integral(right) => Some(left),
            (_, Type::Float { .. }) if self.is_integral(left) => Some(right),
            _ if self.is_integral(left) && self.is_integral(right) => {
                Some(self.common_integer(self.promoted(left), self.promoted(right)))
            }
            _ => None,
        }
    }

    /// The common type of two promoted integer types.
    fn common_integer(&self, left: TypeId, right: TypeId) -> TypeId {
        match (&self.types[left], &self.types[right]) {
            (Type::Int { width: a, signed: sa }, Type::Int { width: b, signed: sb }) => {
                // The numbers of `unsigned long` do not fit into `long long`, which is the higher of the two.
                let ([signed, unsigned], is_mixed) = (if *sa { [left, right] } else { [right, left] }, sa != sb);
                if a == b && is_mixed && signed == self.common.long_long && !self.is_spelled(unsigned) {
                    return self.common.unsigned_long_long;
                }
                // Of two types of one width the unsigned one wins; of two widths the wider one holds both.
                let left_wins = match a == b {
                    true if sa == sb => self.is_spelled(left),
                    true => !sa,
                    false => a > b,
                };
                if left_wins { left } else { right }
            }
            _ => left,
        }
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
