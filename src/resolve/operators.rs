//! Operators on resolved operands, with the usual conversions made explicit.

use super::classes::is_defaulted;
use super::context::{Resolver, expr};
use super::entities::{Entity, Found};
use super::program::{BinaryOp, Expr, ExprKind, RecordId, Type, TypeId, UnaryOp};
use super::sequence::order_shows;
use crate::calculus::AtomicOp;
use crate::source::{Language, Span};
use crate::syntax;

/// `++` or `--`.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) up: bool,
    /// Whether it stands behind the object.
    pub(super) postfix: bool,
}

impl<'u> Resolver<'u> {
    /// The expression as an object where one is needed: `(c ? a : b)` then chooses between addresses, and
    /// `(a, b)` denotes `b`.
    pub(super) fn object(&mut self, value: &'u syntax::Expr) -> Expr {
        if let syntax::ExprKind::Comma(first, second) = &value.kind {
            let first = self.effect(first);
            self.depth += 1;
            let second = self.object(second);
            self.depth -= 1;
            if let Some(result) = self.overloaded_comma(&first, &second, value.span) {
                return result;
            }
            return self.comma(first, second, value.span);
        }
        let syntax::ExprKind::Conditional(cond, then, otherwise) = &value.kind else {
            return self.expr(value);
        };
        if self.depth > super::context::DEPTH_LIMIT {
            return self.unsupported(value.span, "expression nested too deeply");
        }
        self.depth += 1;
        let cond = self.expr(cond);
        let then = self.object(then);
        let otherwise = self.object(otherwise);
        self.depth -= 1;
        let is_whole =
            self.is_object(&then) && self.is_object(&otherwise) && self.types.is_alike(then.ty, otherwise.ty);
        let is_one_given_up = self.types.is_given_up(&then) != self.types.is_given_up(&otherwise);
        if !is_whole || is_one_given_up || self.has_unlike_categories(&then, &otherwise) {
            return self.conditional(cond, then, otherwise, value.span);
        }
        let cond = self.truth(cond);
        self.chosen_object(cond, then, otherwise, value.span)
    }

    /// A prefix operator.
    pub(super) fn unary(&mut self, op: syntax::UnaryOp, operand: &'u syntax::Expr, span: Span) -> Expr {
        use syntax::UnaryOp as Op;
        match op {
            Op::PreIncrement | Op::PreDecrement => {
                let target = self.object(operand);
                self.step(target, Step { up: op == Op::PreIncrement, postfix: false }, span)
            }
            Op::AddressOf => {
                let object = self.object(operand);
                // A function's name stands for its address anyway.
                if let ExprKind::Function(_) = object.kind {
                    return object;
                }
                if self.is_object(&object) {
                    let mut address = self.address_of(object);
                    address.span = span;
                    return address;
                }
                self.unsupported_with(span, "address of a value".to_owned(), vec![object])
            }
            Op::Deref => {
                let pointer = self.object(operand);
                let mut object = self.pointed_at(pointer, span);
                object.span = span;
                object
            }
            Op::Plus | Op::Minus | Op::BitNot | Op::Not => {
                let operand = self.expr(operand);
                self.unary_value(op, operand, span)
            }
        }
    }

    /// `*` on a pointer, or on an object of a class that defines it.
    pub(super) fn pointed_at(&mut self, pointer: Expr, span: Span) -> Expr {
        if let Type::Record(_) = self.types[self.types.plain(pointer.ty)]
            && let Some(result) = self.operator_call("operator*", vec![pointer.clone()], span)
        {
            return result;
        }
        let pointer = self.built_in_operand(pointer, span);
        let pointer = self.load(pointer);
        self.deref(pointer)
    }

    /// `+`, `-`, `~` and `!` on a value.
    fn unary_value(&mut self, op: syntax::UnaryOp, operand: Expr, span: Span) -> Expr {
        use syntax::UnaryOp as Op;
        let (name, operator) = match op {
            Op::Minus => ("operator-", UnaryOp::Neg),
            Op::BitNot => ("operator~", UnaryOp::BitNot),
            Op::Not => ("operator!", UnaryOp::Not),
            _ => ("operator+", UnaryOp::Neg),
        };
        if self.may_be_overloaded(operand.ty)
            && let Some(result) = self.operator_call(name, vec![operand.clone()], span)
        {
            return result;
        }
        let is_vector = matches!(self.types[operand.ty], Type::Vector { .. });
        if op == Op::Not && !is_vector {
            let operand = self.truth(operand);
            let negated = expr(ExprKind::Unary(UnaryOp::Not, Box::new(operand)), self.types.common.bool, span);
            return self.answer(negated);
        }
        if op == Op::Not && self.language == Language::OpenCl {
            let operand = self.load(operand);
            return self.compared_with_zero(BinaryOp::Eq, operand, span);
        }
        let operand = self.built_in_operand(operand, span);
        let operand = self.load(operand);
        if let Type::Record(_) | Type::Void = self.types[operand.ty] {
            let name = self.type_name(operand.ty);
            return self.unsupported_with(span, format!("operator on a value of type {name}"), vec![operand]);
        }
        let operand = self.promote(operand);
        if op == Op::Plus {
            return operand;
        }
        let ty = operand.ty;
        if let (ExprKind::Int(value), UnaryOp::Neg) = (&operand.kind, operator)
            && self.types.wrap(-value, ty) == -value
        {
            return expr(ExprKind::Int(-value), ty, span);
        }
        expr(ExprKind::Unary(operator, Box::new(operand)), ty, span)
    }

    /// `++` and `--`.
    pub(super) fn step(&mut self, target: Expr, Step { up, postfix }: Step, span: Span) -> Expr {
        let atomic = if up { AtomicOp::Add } else { AtomicOp::Sub };
        let one = expr(ExprKind::Int(1), self.types.common.int, span);
        if let Some(old) = self.atomic_operator(atomic, &target, &one, span) {
            // What it was is the value behind the object; what it is before it is not followed.
            return if postfix { old } else { Expr { ty: self.types.common.void, ..old } };
        }
        if self.may_be_overloaded(target.ty) {
            let name = if up { "operator++" } else { "operator--" };
            let mut args = vec![target.clone()];
            if postfix {
                args.push(expr(ExprKind::Int(0), self.types.common.int, span));
            }
            if let Some(result) = self.operator_call(name, args, span) {
                return result;
            }
        }
        let steps = matches!(
            self.types[target.ty],
            Type::Int { .. }
                | Type::Float { .. }
                | Type::Pointer { .. }
                | Type::Unknown(_)
                | Type::Bool
                | Type::Vector { .. }
        );
        if !self.is_object(&target) || !steps {
            return self.unsupported_with(span, "increment of a value".to_owned(), vec![target]);
        }
        let ty = target.ty;
        expr(ExprKind::Step { target: Box::new(target), up, postfix }, ty, span)
    }

    /// Whether an operator on such an operand may be a function: records and types that nothing declares everywhere,
    /// vectors in CUDA, whose operators programs define themselves.
    pub(super) fn may_be_overloaded(&self, ty: TypeId) -> bool {
        match self.types[ty] {
            Type::Record(_) => true,
            Type::Vector { .. } => self.language == Language::Cuda,
            _ => self.types.behind_enumeration(ty).is_some() || self.is_undeclared(ty),
        }
    }

    /// An infix operator other than assignment.
    pub(super) fn binary(&mut self, op: syntax::BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        if (self.may_be_overloaded(left.ty) || self.may_be_overloaded(right.ty))
            && let Some(result) = self.operator_call(operator_name(op), vec![left.clone(), right.clone()], span)
        {
            return result;
        }
        let is_vector = |this: &Self, ty| matches!(this.types[ty], Type::Vector { .. });
        if matches!(op, syntax::BinaryOp::And | syntax::BinaryOp::Or) {
            if is_vector(self, left.ty) || is_vector(self, right.ty) {
                return self.vector_logic(op, left, right, span);
            }
            let (left, right) = (self.truth(left), self.truth(right));
            let (left, right) = (Box::new(left), Box::new(right));
            let kind = if op == syntax::BinaryOp::And { ExprKind::And(left, right) } else { ExprKind::Or(left, right) };
            let truth = expr(kind, self.types.common.bool, span);
            return self.answer(truth);
        }
        let (left, right) = (self.built_in_operand(left, span), self.built_in_operand(right, span));
        let (left, right) = (self.load(left), self.load(right));
        let op = binary_op(op);
        if self.types.is_pointer(left.ty) || self.types.is_pointer(right.ty) {
            return self.pointer_operation(op, left, right, span);
        }
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            return self.shift(op, left, right, span);
        }
        let (left, right) = (self.operand(left), self.operand(right));
        let Some(common) = self.types.common_type(left.ty, right.ty).filter(|&ty| self.has_operators(ty)) else {
            let names = format!("operator on {} and {}", self.type_name(left.ty), self.type_name(right.ty));
            return self.unsupported_with(span, names, vec![left, right]);
        };
        let (left, right) = (self.convert(left, common), self.convert(right, common));
        if op.is_boolean() {
            return self.comparison(op, left, right, span);
        }
        expr(ExprKind::Binary(op, Box::new(left), Box::new(right)), common, span)
    }

    /// A comparison of two values of one type.
    pub(super) fn comparison(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let ty = self.comparison_type(left.ty);
        let compared = expr(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span);
        if ty == self.types.common.bool { self.answer(compared) } else { compared }
    }

    /// A comparison of each lane of a vector with zero.
    fn compared_with_zero(&mut self, op: BinaryOp, vector: Expr, span: Span) -> Expr {
        let zero = expr(ExprKind::Int(0), self.types.common.int, span);
        let zero = self.convert(zero, vector.ty);
        self.comparison(op, vector, zero, span)
    }

    /// Whether the language defines arithmetic on the type.
    fn has_operators(&self, ty: TypeId) -> bool {
        !matches!(self.types[ty], Type::Record(_) | Type::Void | Type::Array { .. })
    }

    /// The type of a comparison: `bool`, or for vectors the signed integers of the lanes' width.
    pub(super) fn comparison_type(&mut self, operands: TypeId) -> TypeId {
        match self.types[operands] {
            Type::Vector { of, lanes } => {
                let width = (self.layout().size_of(of).unwrap_or(4) * 8) as u8;
                let of = self.types.intern(Type::Int { width, signed: true });
                self.types.intern(Type::Vector { of, lanes })
            }
            _ => self.types.common.bool,
        }
    }

    /// `&&` and `||` of OpenCL's vectors evaluate both sides, lane by lane.
    fn vector_logic(&mut self, op: syntax::BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let (left, right) = (self.load(left), self.load(right));
        let Some(common) = self.types.common_type(left.ty, right.ty) else {
            let names = format!("operator on {} and {}", self.type_name(left.ty), self.type_name(right.ty));
            return self.unsupported_with(span, names, vec![left, right]);
        };
        let [left, right] = [left, right].map(|side| {
            let side = self.convert(side, common);
            self.compared_with_zero(BinaryOp::Ne, side, span)
        });
        let (op, ty) = (if op == syntax::BinaryOp::And { BinaryOp::BitAnd } else { BinaryOp::BitOr }, left.ty);
        expr(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span)
    }

    /// Shifts promote each side by itself; the result has the left side's type.
    fn shift(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let valid = |this: &Self, ty: TypeId| {
            this.types.is_integral(ty) || matches!(this.types[ty], Type::Vector { .. } | Type::Unknown(_))
        };
        if !valid(self, left.ty) || !valid(self, right.ty) {
            return self.unsupported_with(span, "shift of a value that is no integer".to_owned(), vec![left, right]);
        }
        let left = self.promote(left);
        let right = match self.types[left.ty] {
            Type::Vector { .. } => self.convert(right, left.ty),
            _ => self.promote(right),
        };
        let ty = left.ty;
        expr(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span)
    }

    /// Arithmetic and comparisons of pointers.
    fn pointer_operation(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let (left_points, right_points) = (self.types.is_pointer(left.ty), self.types.is_pointer(right.ty));
        match op {
            BinaryOp::Add if left_points && self.types.is_integral(right.ty) => self.pointer_add(left, right, span),
            BinaryOp::Add if right_points && self.types.is_integral(left.ty) => self.pointer_add(right, left, span),
            BinaryOp::Sub if left_points && self.types.is_integral(right.ty) => {
                let index = self.convert(right, self.types.common.long);
                let index = match index.kind {
                    ExprKind::Int(value) => Expr { kind: ExprKind::Int(-value), ..index },
                    _ => expr(ExprKind::Unary(UnaryOp::Neg, Box::new(index)), self.types.common.long, span),
                };
                self.pointer_add(left, index, span)
            }
            BinaryOp::Sub if left_points && right_points => {
                expr(ExprKind::PointerDifference(Box::new(left), Box::new(right)), self.types.common.long, span)
            }
            _ if op.is_boolean() => {
                let ty = if left_points { left.ty } else { right.ty };
                let (left, right) = (self.convert(left, ty), self.convert(right, ty));
                self.comparison(op, left, right, span)
            }
            _ => self.unsupported_with(span, "arithmetic on a pointer".to_owned(), vec![left, right]),
        }
    }

    /// `a = b` and `a op= b`.
    pub(super) fn assign(
        &mut self,
        op: Option<syntax::BinaryOp>,
        target: &'u syntax::Expr,
        value: &'u syntax::Expr,
        span: Span,
    ) -> Expr {
        if let (None, Some(places)) = (op, self.tied(target)) {
            return self.untie(places, value, span);
        }
        let target = self.object(target);
        if let (None, syntax::ExprKind::InitList(_)) = (op, &value.kind) {
            if self.is_atomic_object(target.ty) {
                let name = self.type_name(target.ty);
                return self.unsupported_with(span, format!("list assigned to {name}"), vec![target]);
            }
            if let Type::Record(record) = self.types[target.ty]
                && self.methods(record, "operator=").iter().any(|decl| !is_defaulted(decl.syntax))
            {
                // The braces may be made an argument of any of them.
                let name = self.type_name(target.ty);
                return self.unsupported_with(span, format!("braces assigned to {name}"), vec![target]);
            }
            let value = self.initial(value, target.ty);
            if self.assigns_by_code(target.ty) {
                return self.assign_object(target, value, span);
            }
            return self.store(target, value, span);
        }
        let value = self.expr(value);
        match op {
            None => {
                if let Some(result) = self.atomic_operator(AtomicOp::Store, &target, &value, span) {
                    return result;
                }
                if let Some(result) = self.assignment_of_own(&target, &value, span) {
                    return result;
                }
                if matches!(self.types[target.ty], Type::Record(_))
                    && let Some(result) = self.overloaded_assignment("operator=", &target, &value, span)
                {
                    return result;
                }
                if let Some(result) = self.undeclared_assignment(&target, &value, span) {
                    return result;
                }
                if self.changes_group(&target, &value) {
                    let reason = "assignment of another group of threads".to_owned();
                    return self.unsupported_with(span, reason, vec![target, value]);
                }
                // Bytes are moved: a copy by code of the program would be one too many.
                let value =
                    if self.types.plain(value.ty) == self.types.plain(target.ty) { self.load(value) } else { value };
                let value = self.implicit(value, target.ty, span);
                if self.assigns_by_code(target.ty) && !self.in_host {
                    return self.assign_object(target, value, span);
                }
                self.store(target, value, span)
            }
            Some(op) => self.compound(op, target, value, span),
        }
    }

    /// What assigns an object of a class to another of it: the assignment of the class, unless a template fits better. `None`
    /// where bytes are moved or another class is assigned.
    fn assignment_of_own(&mut self, target: &Expr, value: &Expr, span: Span) -> Option<Expr> {
        let Type::Record(record) = self.types[target.ty] else { return None };
        if self.in_host {
            return None;
        }
        let methods = self.methods(record, "operator=");
        if self.types.plain(value.ty) != self.types.plain(target.ty) {
            let is_brought = self.brings(record, "operator=");
            return is_brought.then(|| {
                let reason = format!("assignment to {}, which brings in that of a base", self.type_name(target.ty));
                self.unsupported_with(span, reason, vec![target.clone(), value.clone()])
            });
        }
        if methods.iter().any(|decl| decl.record == Some(record) && self.is_greedy(*decl, record, value)) {
            let reason = format!("assignment of {}, to which a template may fit better", self.type_name(target.ty));
            return Some(self.unsupported_with(span, reason, vec![target.clone(), value.clone()]));
        }
        let has_other =
            methods.iter().any(|decl| decl.record == Some(record) && !self.records.own_template(*decl).is_empty());
        (has_other || self.assigns_by_code(target.ty)).then(|| self.assign_object(target.clone(), value.clone(), span))
    }

    /// A call of an assignment of a class, where it does not show which operand is evaluated first.
    fn overloaded_assignment(&mut self, name: &str, target: &Expr, value: &Expr, span: Span) -> Option<Expr> {
        let call = self.operator_call(name, vec![target.clone(), value.clone()], span)?;
        if self.in_host || !order_shows(target, value) {
            return Some(call);
        }
        let reason = format!("operands of `{name}`, of which the right one is evaluated first");
        Some(self.unsupported_with(span, reason, vec![target.clone(), value.clone()]))
    }

    /// Whether a class brings in functions of a base by `using`.
    fn brings(&self, record: RecordId, name: &str) -> bool {
        let scope = self.records.scopes[record.index()];
        let named = self.scopes[scope.0].names.get(name);
        named.is_some_and(|entities| entities.iter().any(|entity| matches!(entity, Entity::Path(..))))
    }

    /// The places that `std::tie(a, b)` names.
    fn tied(&mut self, target: &'u syntax::Expr) -> Option<&'u [syntax::Expr]> {
        let syntax::ExprKind::Call(callee, places) = &target.kind else { return None };
        let syntax::ExprKind::Path(path) = &callee.kind else { return None };
        match self.find(path) {
            Found::External(name) => {
                matches!(name.as_str(), "std::tie" | "thrust::tie" | "cuda::std::tie").then_some(places.as_slice())
            }
            Found::Entities(_) => None,
        }
    }

    /// `std::tie(a, b) = pair`
    fn untie(&mut self, places: &'u [syntax::Expr], value: &'u syntax::Expr, span: Span) -> Expr {
        let value = self.value(value);
        let fields = match self.types[value.ty] {
            Type::Record(record) if self.records[record].name.starts_with("std::pair<") => {
                Some((record, self.records[record].fields.len()))
            }
            _ => None,
        };
        let Some((record, _)) = fields.filter(|(_, count)| *count == places.len()) else {
            let name = self.type_name(value.ty);
            return self.unsupported_with(span, format!("`tie` to a value of type {name}"), vec![value]);
        };
        let ty = value.ty;
        let temporary = self.temporary(ty, span);
        let held = expr(ExprKind::Variable(temporary), ty, span);
        let mut result = self.store(held.clone(), value, span);
        for (index, place) in places.iter().enumerate() {
            let place = self.object(place);
            let part = self.field(held.clone(), record, index, span);
            let part = self.load(part);
            let part = self.implicit(part, place.ty, span);
            let stored = self.store(place, part, span);
            let ty = stored.ty;
            result = expr(ExprKind::Comma(Box::new(result), Box::new(stored)), ty, span);
        }
        Expr { ty: self.types.common.void, ..result }
    }

    /// Stores a converted value.
    pub(super) fn store(&mut self, target: Expr, value: Expr, span: Span) -> Expr {
        if !self.is_object(&target) {
            if let Some(stored) = self.undeclared_member_assignment(&target, &value, span) {
                return stored;
            }
            return self.unsupported_with(span, "assignment to a value".to_owned(), vec![target, value]);
        }
        let ty = target.ty;
        expr(ExprKind::Assign(Box::new(target), Box::new(value)), ty, span)
    }

    /// `a op= b`
    fn compound(&mut self, op: syntax::BinaryOp, target: Expr, value: Expr, span: Span) -> Expr {
        let atomic = match op {
            syntax::BinaryOp::Add => Some(AtomicOp::Add),
            syntax::BinaryOp::Sub => Some(AtomicOp::Sub),
            syntax::BinaryOp::BitAnd => Some(AtomicOp::And),
            syntax::BinaryOp::BitOr => Some(AtomicOp::Or),
            syntax::BinaryOp::BitXor => Some(AtomicOp::Xor),
            _ => None,
        };
        if let Some(result) = atomic.and_then(|atomic| self.atomic_operator(atomic, &target, &value, span)) {
            return Expr { ty: self.types.common.void, ..result };
        }
        if self.may_be_overloaded(target.ty) || self.is_undeclared(value.ty) {
            let name = format!("{}=", operator_name(op));
            if let Some(result) = self.overloaded_assignment(&name, &target, &value, span) {
                return result;
            }
            // `a += b` by an operator `+` alone is no C++, but `a` without effects may be written twice.
            if matches!(self.types[target.ty], Type::Record(_)) {
                let name = self.type_name(target.ty);
                return self.unsupported_with(span, format!("operator on a value of type {name}"), vec![target, value]);
            }
        }
        let written = op;
        let op = binary_op(op);
        let value = self.built_in_operand(value, span);
        let value = self.load(value);
        if !self.is_object(&target) {
            let changed = self.binary(written, target.clone(), value.clone(), span);
            if let Some(stored) = self.undeclared_member_assignment(&target, &changed, span) {
                return stored;
            }
            return self.unsupported_with(span, "assignment to a value".to_owned(), vec![target, value]);
        }
        let (ty, operand) = (target.ty, self.operand_type(&target));
        let value = self.operand(value);
        let (value, compute) = if self.types.is_pointer(ty) {
            (self.convert(value, self.types.common.long), ty)
        } else if matches!(op, BinaryOp::Shl | BinaryOp::Shr) && self.types.is_integral(ty) {
            (self.promote(value), self.types.promoted(operand))
        } else if matches!(op, BinaryOp::Shl | BinaryOp::Shr) && matches!(self.types[ty], Type::Vector { .. }) {
            (self.convert(value, ty), operand)
        } else {
            match self.types.common_type(operand, value.ty).filter(|&ty| self.has_operators(ty)) {
                Some(common) => (self.convert(value, common), common),
                None => {
                    let names = format!("operator on {} and {}", self.type_name(ty), self.type_name(value.ty));
                    return self.unsupported_with(span, names, vec![target, value]);
                }
            }
        };
        expr(ExprKind::CompoundAssign { target: Box::new(target), op, value: Box::new(value), compute }, ty, span)
    }
}

/// The operator of the typed program.
pub(super) fn binary_op(op: syntax::BinaryOp) -> BinaryOp {
    match op {
        syntax::BinaryOp::Add => BinaryOp::Add,
        syntax::BinaryOp::Sub => BinaryOp::Sub,
        syntax::BinaryOp::Mul => BinaryOp::Mul,
        syntax::BinaryOp::Div => BinaryOp::Div,
        syntax::BinaryOp::Rem => BinaryOp::Rem,
        syntax::BinaryOp::Shl => BinaryOp::Shl,
        syntax::BinaryOp::Shr => BinaryOp::Shr,
        syntax::BinaryOp::BitAnd => BinaryOp::BitAnd,
        syntax::BinaryOp::BitOr => BinaryOp::BitOr,
        syntax::BinaryOp::BitXor => BinaryOp::BitXor,
        syntax::BinaryOp::And => BinaryOp::And,
        syntax::BinaryOp::Or => BinaryOp::Or,
        syntax::BinaryOp::Lt => BinaryOp::Lt,
        syntax::BinaryOp::Le => BinaryOp::Le,
        syntax::BinaryOp::Gt => BinaryOp::Gt,
        syntax::BinaryOp::Ge => BinaryOp::Ge,
        syntax::BinaryOp::Eq => BinaryOp::Eq,
        syntax::BinaryOp::Ne => BinaryOp::Ne,
    }
}

/// The name of the function that overloads an operator.
fn operator_name(op: syntax::BinaryOp) -> &'static str {
    match op {
        syntax::BinaryOp::Add => "operator+",
        syntax::BinaryOp::Sub => "operator-",
        syntax::BinaryOp::Mul => "operator*",
        syntax::BinaryOp::Div => "operator/",
        syntax::BinaryOp::Rem => "operator%",
        syntax::BinaryOp::Shl => "operator<<",
        syntax::BinaryOp::Shr => "operator>>",
        syntax::BinaryOp::BitAnd => "operator&",
        syntax::BinaryOp::BitOr => "operator|",
        syntax::BinaryOp::BitXor => "operator^",
        syntax::BinaryOp::And => "operator&&",
        syntax::BinaryOp::Or => "operator||",
        syntax::BinaryOp::Lt => "operator<",
        syntax::BinaryOp::Le => "operator<=",
        syntax::BinaryOp::Gt => "operator>",
        syntax::BinaryOp::Ge => "operator>=",
        syntax::BinaryOp::Eq => "operator==",
        syntax::BinaryOp::Ne => "operator!=",
    }
}
