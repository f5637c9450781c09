//! Values of expressions, with their effects in the order in which C++17 has them.

use super::builtin::Use;
use super::pass::Pass;
use super::storage::facts::Target;
use super::storage::place::is_object;
use super::value::{Base, Object, Place, Pointer, STRING, Value};
use crate::calculus::{self, BinaryOp, ExprId, HavocReason, Relied, ScalarType, Stmt};
use crate::resolve::program::visit::{any_within, may_have_effect};
use crate::resolve::program::{Expr, ExprKind, Storage, Type, TypeId};
use crate::source::Span;

/// What an update (`+=`, `++`) leaves behind.
pub(super) struct Updated {
    pub(super) object: Object,
    pub(super) old: Value,
    pub(super) new: Value,
}

impl Pass<'_> {
    /// The value of `expr`; what it does is emitted.
    pub(super) fn value(&mut self, expr: &Expr) -> Value {
        if self.blocks.are_too_large() {
            self.unsupported(expr.span, "kernel that grows too large when functions are inlined".to_owned());
            return self.unknown_value(expr.ty, &HavocReason::Other("code that is too large".to_owned()), expr.span);
        }
        self.deeper(|pass| pass.value_inner(expr)).unwrap_or_else(|| {
            let reason = "expression that is nested too deeply".to_owned();
            self.unsupported(expr.span, reason.clone());
            self.unknown_value(expr.ty, &HavocReason::Other(reason), expr.span)
        })
    }

    /// The scalar that `expr` is, in its own type.
    pub(super) fn scalar(&mut self, expr: &Expr) -> ExprId {
        let value = self.value(expr);
        self.as_scalar(value, expr)
    }

    fn as_scalar(&mut self, value: Value, expr: &Expr) -> ExprId {
        let ty = self.layout.scalar(expr.ty);
        match (value, ty) {
            (Value::Scalar(value), Some(ty)) => self.coerce(value, ty),
            (Value::Scalar(value), None) => value,
            (_, ty) => {
                let reason = HavocReason::Other("value that is not a number".to_owned());
                self.havoc(ty.unwrap_or(ScalarType::I32), reason, expr.span)
            }
        }
    }

    /// The truth value of `expr`.
    pub(super) fn condition(&mut self, expr: &Expr) -> ExprId {
        let value = self.value(expr);
        self.is_true(value, expr)
    }

    /// Whether the value of `expr` is true.
    pub(super) fn is_true(&mut self, value: Value, expr: &Expr) -> ExprId {
        match value {
            Value::Scalar(value) => self.coerce(value, ScalarType::Bool),
            Value::Pointer(pointer) => self.is_not_null(&pointer, expr.span),
            _ => self.havoc(ScalarType::Bool, HavocReason::Other("condition".to_owned()), expr.span),
        }
    }

    /// Carries out `expr` for its effect.
    pub(super) fn effect(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Load(inner) if !matches!(inner.kind, ExprKind::Variable(_)) && is_effect(inner) => {
                self.effect(inner);
            }
            ExprKind::Convert(inner) => {
                self.take_for_number(expr.ty);
                self.effect(inner);
            }
            ExprKind::Assign(target, value) => {
                self.assign(target, value, expr.span, Use::Discarded);
            }
            ExprKind::CompoundAssign { .. } | ExprKind::Step { .. } => {
                self.update(expr, Use::Discarded);
            }
            ExprKind::Comma(first, last) => {
                self.effect(first);
                self.effect(last);
            }
            ExprKind::Builtin(builtin, name, args) => {
                self.builtin(builtin, name, args, expr, Use::Discarded);
            }
            ExprKind::UnknownCall(name, args, callee) => {
                self.unknown_call((name, args, callee), expr, Use::Discarded);
                self.may_not_return(name, expr.span);
            }
            ExprKind::Call(function, _) if self.program.functions[*function].body.is_none() => {
                self.value(expr);
                let program = self.program;
                self.may_not_return(&program.functions[*function].name, expr.span);
            }
            // Naming a scalar object reads it in C; of anything larger only the subscripts are evaluated.
            _ if is_object(expr) && self.layout.scalar(expr.ty).is_none() => {
                self.object(expr);
            }
            _ => {
                self.value(expr);
            }
        }
    }

    fn value_inner(&mut self, expr: &Expr) -> Value {
        let (ty, span) = (expr.ty, expr.span);
        match &expr.kind {
            ExprKind::Int(value) => self.constant(*value, ty),
            ExprKind::Float(text) => {
                let scalar = self.layout.scalar(ty).unwrap_or(ScalarType::Opaque { bytes: 4 });
                Value::Scalar(self.exprs().opaque(text.clone(), scalar))
            }
            ExprKind::String(_) if !self.layout.is_pointer(ty) => {
                self.unknown_value(ty, &HavocReason::Other("the characters of a string".to_owned()), span)
            }
            ExprKind::String(_) => Value::Pointer(self.unknown_pointer(STRING)),
            ExprKind::Null => Value::Pointer(self.null()),
            ExprKind::Geometry(var) => {
                let value = self.exprs().geometry(*var);
                let scalar = self.layout.scalar(ty).unwrap_or(ScalarType::U32);
                Value::Scalar(self.coerce(value, scalar))
            }
            ExprKind::Load(object) => self.load_expr(object, span),
            ExprKind::AddressOf(object) => Value::Pointer(self.place(object).pointer),
            ExprKind::PointerAdd(pointer, count) => {
                let element = self.layout.pointee(ty).unwrap_or(ty);
                let pointer = self.pointer(pointer);
                let pointer = self.pointer_before(pointer, count);
                let count = self.scalar(count);
                Value::Pointer(self.move_pointer(pointer, count, element, span))
            }
            ExprKind::PointerDifference(a, b) => Value::Scalar(self.pointer_difference(a, b, span)),
            ExprKind::Convert(inner) => {
                self.take_for_number(ty);
                let value = self.value(inner);
                self.convert(value, inner.ty, ty, span)
            }
            ExprKind::Unary(op, operand) => {
                let value = self.value(operand);
                self.unary(*op, value, ty, span)
            }
            ExprKind::Binary(op, a, b) => {
                self.take_for_number(a.ty);
                if !matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
                    self.note_order(&[a, b], span);
                }
                let a = self.value_before(a, b);
                let b = self.value(b);
                self.binary(*op, a, b, ty, span)
            }
            ExprKind::And(a, b) => self.short_circuit(a, b, ShortCircuit::And),
            ExprKind::Or(a, b) => self.short_circuit(a, b, ShortCircuit::Or),
            ExprKind::Conditional(cond, a, b) => self.conditional(cond, |pass| pass.value(a), |pass| pass.value(b)),
            ExprKind::Comma(first, last) => {
                self.effect(first);
                self.value(last)
            }
            ExprKind::Assign(target, value) => self.assign(target, value, span, Use::Needed).1,
            ExprKind::CompoundAssign { .. } => self.update(expr, Use::Needed).new,
            ExprKind::Step { postfix, .. } => {
                let updated = self.update(expr, Use::Needed);
                if *postfix { updated.old } else { updated.new }
            }
            ExprKind::Call(function, args) => self.call(*function, args, expr),
            ExprKind::CallThrough(pointer, args) => self.call_through(pointer, args, expr),
            ExprKind::Function(function) => {
                let target = self.facts.target(Target::Function(*function));
                Value::Pointer(self.start_of(target))
            }
            ExprKind::Builtin(builtin, name, args) => self.builtin(builtin, name, args, expr, Use::Needed),
            ExprKind::UnknownCall(name, args, callee) => self.unknown_call((name, args, callee), expr, Use::Needed),
            ExprKind::Construct(parts) => self.construct(parts, ty),
            ExprKind::Field(base, index) if !is_object(expr) => self.field_of_value(base, *index, ty),
            ExprKind::Lanes(base, lanes) if !is_object(expr) => self.lanes_of_value(base, lanes),
            ExprKind::Variable(_)
            | ExprKind::Deref(_)
            | ExprKind::Element(..)
            | ExprKind::Field(..)
            | ExprKind::Lanes(..) => self.load_expr(expr, span),
            ExprKind::Unsupported(reason) => {
                self.unsupported(span, reason.clone());
                self.unknown_value(ty, &HavocReason::Other(reason.clone()), span)
            }
        }
    }

    fn constant(&mut self, value: i128, ty: TypeId) -> Value {
        match self.layout.scalar(ty) {
            Some(scalar @ ScalarType::Opaque { .. }) => Value::Scalar(self.exprs().opaque(value.to_string(), scalar)),
            Some(scalar) => Value::Scalar(self.exprs().int(value, scalar)),
            None if self.layout.is_pointer(ty) && value == 0 => Value::Pointer(self.null()),
            None if self.layout.is_pointer(ty) => {
                Value::Pointer(self.unknown_pointer("a pointer that was made from an integer"))
            }
            None => Value::Scalar(self.exprs().int(value, ScalarType::I32)),
        }
    }

    /// The value of an object expression.
    fn load_expr(&mut self, object: &Expr, span: Span) -> Value {
        match &object.kind {
            ExprKind::Variable(variable) => {
                let declared = &self.program.variables[*variable];
                if let (Some(value), Some(scalar)) = (declared.constant, self.layout.scalar(declared.ty))
                    && !matches!(scalar, ScalarType::Opaque { .. })
                {
                    return Value::Scalar(self.exprs().int(value, scalar));
                }
            }
            // What was just stored is not read again.
            ExprKind::Assign(..) | ExprKind::CompoundAssign { .. } | ExprKind::Step { .. } => {
                return self.value(object);
            }
            ExprKind::Comma(first, last) => {
                self.effect(first);
                return self.load_expr(last, span);
            }
            ExprKind::Conditional(cond, a, b) if is_object(object) => {
                return self.conditional(cond, |pass| pass.load_expr(a, span), |pass| pass.load_expr(b, span));
            }
            // A part of a loaded value: only that part is read.
            ExprKind::Field(base, index) => {
                if let ExprKind::Load(whole) = &base.kind {
                    let part = Expr { kind: ExprKind::Field(whole.clone(), *index), ..*object };
                    return self.load_expr(&part, span);
                }
            }
            _ => {}
        }
        let object = self.object(object);
        self.load_object(&object, span)
    }

    /// `c ? a : b`, where the arms are evaluated only if they are taken.
    pub(super) fn conditional(
        &mut self,
        cond: &Expr,
        a: impl FnOnce(&mut Self) -> Value,
        b: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let cond = self.condition(cond);
        match self.kernel.exprs.as_int(cond) {
            Some(0) => return b(self),
            Some(_) => return a(self),
            None => {}
        }
        let before = self.copies_now();
        let (mut first, a) = self.captured(a);
        let other = self.other_way(&before);
        let (mut second, b) = self.captured(b);
        self.join_copies(other);
        self.branch(cond, (&mut first, a), (&mut second, b))
    }

    /// The value of the arm that `cond` chooses; the arms' statements are emitted under it.
    pub(super) fn branch(
        &mut self,
        cond: ExprId,
        (first, a): (&mut Vec<Stmt>, Value),
        (second, b): (&mut Vec<Stmt>, Value),
    ) -> Value {
        if first.is_empty() && second.is_empty() {
            return self.select(cond, a, b);
        }
        let value = self.merge((first, a), (second, b));
        self.emit_if(cond, std::mem::take(first), std::mem::take(second));
        value
    }

    fn short_circuit(&mut self, a: &Expr, b: &Expr, kind: ShortCircuit) -> Value {
        let left = self.condition(a);
        match (self.kernel.exprs.as_int(left), kind) {
            (Some(0), ShortCircuit::And) | (Some(1), ShortCircuit::Or) => return Value::Scalar(left),
            (Some(_), _) => return Value::Scalar(self.condition(b)),
            (None, _) => {}
        }
        let before = self.copies_now();
        let (mut block, right) = self.captured(|pass| pass.condition(b));
        self.join_copies(before);
        if block.is_empty() && !self.may_trap(right) {
            return Value::Scalar(match kind {
                ShortCircuit::And => self.exprs().and(left, right),
                ShortCircuit::Or => self.exprs().or(left, right),
            });
        }
        let var = self.temporary("t", ScalarType::Bool);
        self.emit(Stmt::Let { var, value: left });
        block.push(Stmt::Let { var, value: right });
        let known = self.var(var);
        match kind {
            ShortCircuit::And => self.emit_if(known, block, Vec::new()),
            ShortCircuit::Or => self.emit_if(known, Vec::new(), block),
        }
        Value::Scalar(known)
    }

    /// Whether evaluating `expr` where the source would not may trap: a division or shift by a variable.
    fn may_trap(&self, expr: ExprId) -> bool {
        let exprs = &self.kernel.exprs;
        let mut traps = false;
        exprs.visit(expr, |_, node| {
            if let calculus::Expr::Binary(op, _, right) = node {
                let partial = matches!(op, BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr);
                traps |= partial && exprs.as_int(*right).is_none_or(|value| value == 0);
            }
        });
        traps
    }

    /// Carries out an assignment; returns the object and, if it is needed, the value that it now has.
    pub(super) fn assign(&mut self, target: &Expr, value: &Expr, span: Span, needed: Use) -> (Object, Value) {
        self.take_for_number(target.ty);
        let value = self.value_before(value, target);
        let object = self.object(target);
        let value = self.fit_value(value, target.ty);
        let value = self.put(&object, value, span, needed);
        (object, value)
    }

    /// The value of `expr` in a form that holds after what `later` does.
    ///
    /// C++17 has what is assigned before the place that takes it, so that `out[i++] = i` stores what `i` was, and the left
    /// operand of a shift, what is subscripted, and what stands earlier in braces before what follows. Where it leaves the
    /// order open, operands are evaluated from left to right, as compilers for GPUs do.
    fn value_before(&mut self, expr: &Expr, later: &Expr) -> Value {
        let value = self.value(expr);
        if self.may_assign(later) { self.kept(value) } else { value }
    }

    /// A pointer in a form that holds after what `later` does.
    pub(super) fn pointer_before(&mut self, pointer: Pointer, later: &Expr) -> Pointer {
        if self.may_assign(later) { self.kept_pointer(pointer) } else { pointer }
    }

    /// The values of expressions, from left to right.
    pub(super) fn values(&mut self, exprs: &[Expr]) -> Vec<Value> {
        let last = exprs.iter().rposition(|expr| self.may_assign(expr)).unwrap_or(0);
        let value = |(index, expr): (usize, &Expr)| {
            let value = self.value(expr);
            if index < last { self.kept(value) } else { value }
        };
        exprs.iter().enumerate().map(value).collect()
    }

    /// Whether evaluating `expr` may assign a variable of the thread. What was read from memory is a value, whatever is
    /// stored there later.
    pub(super) fn may_assign(&self, expr: &Expr) -> bool {
        any_within(expr, |part| match &part.kind {
            ExprKind::Builtin(_, _, args) => args.iter().any(|arg| self.may_lead_to_variable(arg)),
            kind => may_have_effect(kind),
        })
    }

    /// Whether `expr` may be the address of a variable of the thread.
    fn may_lead_to_variable(&self, expr: &Expr) -> bool {
        if !self.layout.is_pointer(expr.ty) {
            return false;
        }
        let is_own = |variable| matches!(self.program.variables[variable].storage, Storage::Local | Storage::Param);
        let mut at = expr;
        loop {
            at = match &at.kind {
                ExprKind::Convert(inner)
                | ExprKind::AddressOf(inner)
                | ExprKind::Load(inner)
                | ExprKind::Field(inner, _)
                | ExprKind::Lanes(inner, _)
                | ExprKind::Deref(inner)
                | ExprKind::Element(inner, _)
                | ExprKind::PointerAdd(inner, _) => inner,
                &ExprKind::Variable(variable) => return is_own(variable),
                _ => return true,
            };
        }
    }

    /// Stores `value` and returns it in a form that holds after the store: `x + 1` does not, once `x` has it.
    fn put(&mut self, object: &Object, value: Value, span: Span, needed: Use) -> Value {
        if needed == Use::Discarded {
            self.store_object(object, value, span);
            return Value::Void;
        }
        let value = match (object, value) {
            (Object::Whole(Place { bits: Some(bits), .. }), Value::Scalar(value)) => {
                Value::Scalar(self.in_bits(value, bits.width))
            }
            (_, value) => value,
        };
        let value = self.kept(value);
        self.store_object(object, value.clone(), span);
        value
    }

    /// A scalar in the type of the object that it is stored in.
    pub(super) fn fit_value(&mut self, value: Value, ty: TypeId) -> Value {
        match (value, self.layout.scalar(ty)) {
            (Value::Scalar(expr), Some(scalar)) => Value::Scalar(self.coerce(expr, scalar)),
            (value, _) => value,
        }
    }

    /// What makes, assigns or changes an object of a type that nothing declares may be a function, unless it is a number's.
    pub(super) fn take_for_number(&mut self, ty: TypeId) {
        if !self.program.numbers.is_empty() && self.holds_numbers(ty, 0) {
            self.rely(None, Relied::Numbers);
        }
    }

    fn holds_numbers(&self, ty: TypeId, depth: usize) -> bool {
        match &self.program.types[ty] {
            // `undeclared_part` of `resolve` looks no deeper either.
            _ if depth > 16 => false,
            Type::Array { of, .. } => self.holds_numbers(*of, depth + 1),
            Type::Record(record) => {
                self.program.records[*record].fields.iter().any(|field| self.holds_numbers(field.ty, depth + 1))
            }
            _ => self.program.numbers.contains(&ty),
        }
    }

    /// Carries out a compound assignment or a step; `needed` says whether a value is wanted.
    pub(super) fn update(&mut self, expr: &Expr, needed: Use) -> Updated {
        let span = expr.span;
        match &expr.kind {
            ExprKind::CompoundAssign { target, op, value, compute } => {
                self.take_for_number(target.ty);
                let operand = self.value_before(value, target);
                let object = self.object(target);
                let old = self.load_object(&object, span);
                let new = match old.clone() {
                    Value::Pointer(pointer) => Value::Pointer(self.stepped(pointer, *op, &operand, target.ty, span)),
                    old => {
                        let old = self.convert(old, target.ty, *compute, span);
                        let new = self.binary(*op, old, operand, *compute, span);
                        self.convert(new, *compute, target.ty, span)
                    }
                };
                let new = self.fit_value(new, target.ty);
                let new = self.put(&object, new, span, needed);
                Updated { object, old, new }
            }
            ExprKind::Step { target, up, postfix } => {
                self.take_for_number(target.ty);
                let object = self.object(target);
                let old = self.load_object(&object, span);
                let op = if *up { BinaryOp::Add } else { BinaryOp::Sub };
                let new = self.next(&old, op, target, span);
                let wants_old = *postfix && needed == Use::Needed;
                let old = if wants_old { self.kept(old) } else { old };
                let new = self.put(&object, new, span, if wants_old { Use::Discarded } else { needed });
                Updated { object, old, new }
            }
            _ => {
                let object = self.object(expr);
                let value = self.load_object(&object, span);
                Updated { object, old: value.clone(), new: value }
            }
        }
    }

    fn next(&mut self, old: &Value, op: BinaryOp, target: &Expr, span: Span) -> Value {
        match old {
            Value::Pointer(pointer) => {
                let one = self.exprs().int(1, ScalarType::I32);
                Value::Pointer(self.stepped(pointer.clone(), op, &Value::Scalar(one), target.ty, span))
            }
            Value::Scalar(old) => {
                let ty = self.kernel.exprs.ty(*old);
                // Narrow integers are promoted first, and the result converted back.
                let wide = match ty {
                    ScalarType::Bool => ScalarType::I32,
                    ScalarType::Int { width, .. } if width < 32 => ScalarType::I32,
                    ty => ty,
                };
                let left = self.coerce(*old, wide);
                let one = match wide {
                    ScalarType::Opaque { .. } => self.exprs().opaque("1", wide),
                    wide => self.exprs().int(1, wide),
                };
                let sum = self.scalar_binary(op, left, one);
                self.note_span(sum, span);
                Value::Scalar(self.coerce(sum, ty))
            }
            Value::Aggregate(lanes) => {
                Value::Aggregate(lanes.iter().map(|lane| self.next(lane, op, target, span)).collect())
            }
            Value::Void => Value::Void,
        }
    }

    /// A value as it is now, whatever is assigned later.
    pub(super) fn kept(&mut self, value: Value) -> Value {
        match value {
            Value::Scalar(expr) => Value::Scalar(self.snapshot(expr)),
            Value::Pointer(pointer) => Value::Pointer(self.kept_pointer(pointer)),
            Value::Aggregate(parts) => Value::Aggregate(parts.into_iter().map(|part| self.kept(part)).collect()),
            Value::Void => Value::Void,
        }
    }

    fn kept_pointer(&mut self, Pointer { base, offset }: Pointer) -> Pointer {
        let base = match base {
            Base::OneOf { tag, targets } => Base::OneOf { tag: self.snapshot(tag), targets },
            base => base,
        };
        Pointer { base, offset: self.snapshot(offset) }
    }

    fn stepped(&mut self, pointer: Pointer, op: BinaryOp, count: &Value, ty: TypeId, span: Span) -> Pointer {
        let element = self.layout.pointee(ty).unwrap_or(ty);
        let &Value::Scalar(count) = count else { return self.unknown_pointer("pointer arithmetic") };
        let count = self.exprs().convert(ScalarType::I64, count);
        let count = if op == BinaryOp::Sub { self.exprs().unary(calculus::UnaryOp::Neg, count) } else { count };
        self.move_pointer(pointer, count, element, span)
    }

    /// A vector, array or record built from parts.
    pub(super) fn construct(&mut self, parts: &[Expr], ty: TypeId) -> Value {
        let values = self.values(parts).into_iter().zip(parts).map(|(value, part)| (value, part.ty)).collect();
        self.assemble(values, ty)
    }

    /// An aggregate of type `ty` from the leaves of `parts`, in order.
    pub(super) fn assemble(&mut self, parts: Vec<(Value, TypeId)>, ty: TypeId) -> Value {
        let is_vector = matches!(self.program.types[ty], Type::Vector { .. });
        let Some(leaves) = self.layout.leaves(ty) else {
            // What cannot be split lives in memory, whose contents are not followed.
            let carrier = self.layout.carrier(ty);
            let var = self.temporary("whole", carrier);
            let reason = HavocReason::Other("the parts of a union or large aggregate".to_owned());
            self.emit(Stmt::Havoc { var, reason, span: None });
            return Value::Scalar(self.var(var));
        };
        let mut values = Vec::new();
        if let (true, [(Value::Scalar(splat), _)]) = (is_vector, &*parts) {
            values = vec![Value::Scalar(*splat); leaves.len()];
        } else if is_vector || self.layout.scalar(ty).is_some() || self.layout.is_pointer(ty) {
            for (value, part) in parts {
                values.extend(self.flatten(value, part));
            }
        } else {
            // Each part initialises one member, whose own leaves it must fill.
            let members = self.member_types(ty);
            for ((value, part), member) in parts.into_iter().zip(members) {
                let mut own = self.flatten(value, part);
                let zero = self.zero(member);
                let zeros = self.flatten(zero, member);
                own.extend(zeros.into_iter().skip(own.len()));
                values.extend(own);
            }
        }
        let zero = self.zero(ty);
        let zeros = self.flatten(zero, ty);
        values.extend(zeros.into_iter().skip(values.len()));
        let values = self.fit_leaves(values, &leaves);
        self.regroup(values, ty)
    }

    fn member_types(&self, ty: TypeId) -> Vec<TypeId> {
        match &self.program.types[ty] {
            Type::Record(record) => self.program.records[*record].fields.iter().map(|field| field.ty).collect(),
            Type::Array { of, len } => vec![*of; len.unwrap_or(0) as usize],
            _ => Vec::new(),
        }
    }

    fn field_of_value(&mut self, base: &Expr, index: usize, ty: TypeId) -> Value {
        if let ExprKind::Load(whole) = &base.kind {
            let kind = ExprKind::Field(whole.clone(), index);
            return self.load_expr(&Expr { kind, ty, span: base.span }, base.span);
        }
        let value = self.value(base);
        let pointer = self.temporary_object(value, base.ty, base.span);
        let whole = Place { pointer, ty: base.ty, bits: None };
        let place = self.field_place(whole, index, ty, base.span);
        self.load(&place, base.span)
    }

    fn lanes_of_value(&mut self, base: &Expr, lanes: &[u8]) -> Value {
        if let ExprKind::Load(whole) = &base.kind
            && is_object(whole)
        {
            let ty = base.ty;
            let object = self.lanes(whole, lanes, &Expr { kind: ExprKind::Null, ty, span: base.span });
            return self.load_object(&object, base.span);
        }
        let value = self.value(base);
        let parts = self.flatten(value, base.ty);
        let mut picked: Vec<Value> = lanes.iter().filter_map(|&lane| parts.get(usize::from(lane)).cloned()).collect();
        match picked.len() {
            1 => picked.remove(0),
            _ => Value::Aggregate(picked),
        }
    }
}

/// `&&` or `||`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShortCircuit {
    And,
    Or,
}

/// Whether the object expression has an effect of its own, after which its value need not be read.
fn is_effect(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Assign(..) | ExprKind::CompoundAssign { .. } | ExprKind::Step { .. })
}
