//! Object expressions: which bytes of which target they denote.

use super::facts::Target;
use super::home::{Holder, Home, Slot};
use super::layout::Leaf;
use crate::calculus::{HavocReason, ScalarType};
use crate::lower::builtin::Use;
use crate::lower::pass::Pass;
use crate::lower::value::{Base, BitField, Object, Place, Pointer, Value};
use crate::resolve::program::{Expr, ExprKind, Type, TypeId};
use crate::source::Span;

/// Whether an expression denotes an object.
pub(in crate::lower) fn is_object(expr: &Expr) -> bool {
    let mut current = expr;
    loop {
        current = match &current.kind {
            ExprKind::Variable(_)
            | ExprKind::Deref(_)
            | ExprKind::Assign(..)
            | ExprKind::CompoundAssign { .. }
            | ExprKind::Step { postfix: false, .. } => return true,
            ExprKind::Element(base, _) | ExprKind::Field(base, _) | ExprKind::Lanes(base, _) => base,
            ExprKind::Comma(_, last) => last,
            ExprKind::Conditional(_, a, b) => {
                if !is_object(a) {
                    return false;
                }
                b
            }
            _ => return false,
        }
    }
}

impl Pass<'_> {
    /// The object that `expr` denotes; the operations inside it are carried out.
    pub(in crate::lower) fn object(&mut self, expr: &Expr) -> Object {
        self.deeper(|pass| pass.object_inner(expr)).unwrap_or_else(|| Object::Whole(self.too_deep(expr)))
    }

    fn too_deep(&mut self, expr: &Expr) -> Place {
        self.unsupported(expr.span, "expression that is nested too deeply".to_owned());
        self.lost(expr.ty, "an expression that is nested too deeply")
    }

    /// A place that is not known.
    fn lost(&mut self, ty: TypeId, reason: &str) -> Place {
        Place { pointer: self.unknown_pointer(reason), ty, bits: None }
    }

    fn object_inner(&mut self, expr: &Expr) -> Object {
        match &expr.kind {
            ExprKind::Lanes(base, lanes) if is_object(base) => self.lanes(base, lanes, expr),
            ExprKind::Assign(target, value) => self.assign(target, value, expr.span, Use::Discarded).0,
            ExprKind::CompoundAssign { .. } | ExprKind::Step { .. } => self.update(expr, Use::Discarded).object,
            ExprKind::Comma(first, last) => {
                self.effect(first);
                self.object(last)
            }
            _ => Object::Whole(self.whole(expr)),
        }
    }

    /// The contiguous object that `expr` denotes.
    pub(in crate::lower) fn place(&mut self, expr: &Expr) -> Place {
        match self.object(expr) {
            Object::Whole(place) => place,
            Object::Lanes(_) => {
                self.unsupported(expr.span, "address of several vector lanes".to_owned());
                self.lost(expr.ty, "several vector lanes")
            }
        }
    }

    fn whole(&mut self, expr: &Expr) -> Place {
        let ty = expr.ty;
        let plain = |pointer| Place { pointer, ty, bits: None };
        match &expr.kind {
            ExprKind::Variable(variable) => {
                let target = self.target_of(*variable);
                plain(self.start_of(target))
            }
            ExprKind::Deref(pointer) => plain(self.pointer(pointer)),
            ExprKind::Element(base, index) => {
                let base = self.place(base);
                let pointer = self.pointer_before(base.pointer, index);
                let index = self.scalar(index);
                plain(self.move_pointer(pointer, index, ty, expr.span))
            }
            ExprKind::Field(base, field) => {
                let base = self.place(base);
                self.field_place(base, *field, ty, expr.span)
            }
            ExprKind::Conditional(cond, a, b) => plain(self.conditional_place(cond, a, b)),
            _ => {
                // A value where an object is wanted: it gets an address of its own.
                let value = self.value(expr);
                plain(self.temporary_object(value, ty, expr.span))
            }
        }
    }

    pub(in crate::lower) fn field_place(&mut self, base: Place, field: usize, ty: TypeId, span: Span) -> Place {
        let Type::Record(record) = self.program.types[base.ty] else {
            self.unsupported(span, "field of a type that is not known".to_owned());
            return self.lost(ty, "a field of a type that is not known");
        };
        let record = &self.program.records[record];
        let Some(field) = record.fields.get(field) else {
            self.unsupported(span, format!("unknown field of '{}'", record.name));
            return self.lost(ty, "an unknown field");
        };
        let bits = field.bit_group_bytes.zip(field.bits).map(|(bytes, width)| BitField {
            bytes,
            name: field.name.clone(),
            width,
        });
        if record.bytes.is_none() && record.is_union && self.is_whole_variable(&base) {
            return Place { pointer: base.pointer, ty, bits };
        }
        if record.bytes.is_none() {
            return Place { bits, ..self.somewhere(base, ty, &record.name, span) };
        }
        let delta = self.offset(field.offset);
        let offset = self.exprs().binary(crate::calculus::BinaryOp::Add, base.pointer.offset, delta);
        Place { pointer: Pointer { base: base.pointer.base, offset }, ty, bits }
    }

    /// A part of an object whose layout is not known: it lies anywhere in what the object is part of.
    fn somewhere(&mut self, whole: Place, ty: TypeId, record: &str, span: Span) -> Place {
        if let Base::Unknown(_) = whole.pointer.base {
            return Place { ty, bits: None, ..whole };
        }
        let reason = HavocReason::Other(format!("the layout of '{record}', which is not known"));
        let offset = self.temporary("anywhere", ScalarType::I64);
        self.anywhere.insert(offset, record.to_owned());
        self.emit(crate::calculus::Stmt::Havoc { var: offset, reason, span: Some(span) });
        let offset = self.var(offset);
        Place { pointer: Pointer { base: whole.pointer.base, offset }, ty, bits: None }
    }

    pub(in crate::lower) fn lanes(&mut self, base: &Expr, lanes: &[u8], expr: &Expr) -> Object {
        let vector = base.ty;
        let element = self.layout.element(vector).unwrap_or(expr.ty);
        // A swizzle of a swizzle picks among the places of the inner one.
        let places: Vec<Place> = match self.object(base) {
            Object::Whole(place) => lanes.iter().map(|&lane| self.lane(&place, lane, element)).collect(),
            Object::Lanes(places) => lanes.iter().filter_map(|&lane| places.get(usize::from(lane)).cloned()).collect(),
        };
        match <[Place; 1]>::try_from(places) {
            Ok([place]) => Object::Whole(place),
            Err(places) => Object::Lanes(places),
        }
    }

    fn lane(&mut self, vector: &Place, lane: u8, element: TypeId) -> Place {
        let delta = self.offset(u64::from(lane) * self.layout.size(element));
        let offset = self.exprs().binary(crate::calculus::BinaryOp::Add, vector.pointer.offset, delta);
        Place { pointer: Pointer { base: vector.pointer.base.clone(), offset }, ty: element, bits: None }
    }

    /// `c ? a : b` of objects: a pointer to one of them.
    fn conditional_place(&mut self, cond: &Expr, a: &Expr, b: &Expr) -> Pointer {
        let cond = self.condition(cond);
        let (mut first, a) = self.captured(|pass| pass.place(a).pointer);
        let (mut second, b) = self.captured(|pass| pass.place(b).pointer);
        let value = self.branch(cond, (&mut first, Value::Pointer(a)), (&mut second, Value::Pointer(b)));
        match value {
            Value::Pointer(pointer) => pointer,
            _ => self.unknown_pointer("a conditional expression"),
        }
    }

    /// An object that holds `value` and whose address can be taken.
    pub(in crate::lower) fn temporary_object(&mut self, value: Value, ty: TypeId, span: Span) -> Pointer {
        self.temporaries += 1;
        let target = Target::Temporary(self.chain(), self.temporaries);
        let target = self.facts.target(target);
        let leaves = if self.facts.is_in_memory(target) { None } else { self.layout.leaves(ty) };
        if let Some(leaves) = leaves {
            let values = self.flatten(value, ty);
            let values = self.fit_leaves(values, &leaves);
            let slots = leaves.into_iter().zip(values).map(|(leaf, value)| self.temporary_slot(leaf, value));
            let slots = slots.collect();
            self.homes.insert(target, Home::Slots(slots));
        } else {
            let home = self.fresh_home(target, "temporary", ty, span);
            self.homes.insert(target, home);
            let place = Place { pointer: self.start_of(target), ty, bits: None };
            self.store(&place, value, span);
        }
        self.start_of(target)
    }

    fn temporary_slot(&mut self, leaf: Leaf, value: Value) -> Slot {
        let value = self.kept(value);
        Slot { leaf, holder: Holder::Value(value) }
    }

    /// Loads an object.
    pub(in crate::lower) fn load_object(&mut self, object: &Object, span: Span) -> Value {
        match object {
            Object::Whole(place) => self.load(place, span),
            Object::Lanes(places) => Value::Aggregate(places.iter().map(|place| self.load(place, span)).collect()),
        }
    }

    /// Stores a value in an object.
    pub(in crate::lower) fn store_object(&mut self, object: &Object, value: Value, span: Span) {
        match (object, value) {
            (Object::Whole(place), value) => self.store(place, value, span),
            (Object::Lanes(places), Value::Aggregate(parts)) => {
                // All parts were computed before the first is stored: `v.xy = v.yx`.
                let parts: Vec<Value> = match places.len() {
                    1 => parts,
                    _ => parts.into_iter().map(|part| self.kept(part)).collect(),
                };
                for (place, part) in places.iter().zip(parts) {
                    self.store(place, part, span);
                }
            }
            (Object::Lanes(places), value) => {
                for place in places {
                    self.store(place, value.clone(), span);
                }
            }
        }
    }

    /// The pointer that `expr` is.
    pub(in crate::lower) fn pointer(&mut self, expr: &Expr) -> Pointer {
        match self.value(expr) {
            Value::Pointer(pointer) => pointer,
            _ => self.unknown_pointer("a pointer of unknown origin"),
        }
    }

    /// Every variable and array that a pointer argument reaches takes unknown contents.
    pub(in crate::lower) fn clobber(&mut self, pointer: &Pointer, reason: &HavocReason, span: Span) {
        let targets = match &pointer.base {
            Base::Target(target) => vec![*target],
            Base::OneOf { targets, .. } => targets.clone(),
            Base::Unknown(_) => Vec::new(),
        };
        for target in targets {
            if let Some(array) = self.array_of(target) {
                let changed = [self.passed.get(&array).copied(), self.global_targets.get(&array).copied()];
                changed.into_iter().flatten().for_each(|target| self.facts.note_overwritten(target));
            }
            let Some(Home::Slots(slots)) = self.homes.get(target).cloned() else { continue };
            for slot in slots {
                match slot.holder {
                    Holder::Var(var) => {
                        self.emit(crate::calculus::Stmt::Havoc { var, reason: reason.clone(), span: Some(span) });
                    }
                    Holder::Pointer { .. } => {
                        self.facts.add_unknown(
                            target,
                            slot.leaf.offset,
                            "a pointer that an unknown function may change",
                        );
                    }
                    Holder::Value(_) => {}
                }
            }
        }
    }
}
