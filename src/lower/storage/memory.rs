//! Loads from and stores to places, wherever they live, and the merging of values that several ways give.

use super::facts::TargetId;
use super::home::{Holder, Home, Slot};
use super::layout::Leaf;
use crate::calculus::{ArrayId, BinaryOp, Expr, ExprId, Function, HavocReason, ScalarType, Stmt, VarId};
use crate::lower::pass::Pass;
use crate::lower::value::{Base, PERHAPS_STRING, Place, Pointer, STRING, Value};
use crate::resolve::program::TypeId;
use crate::source::Span;
use rustc_hash::FxHashSet;

const NULL_READ: &str = "read through a null pointer";

impl Pass<'_> {
    /// The value of a place.
    pub(in crate::lower) fn load(&mut self, place: &Place, span: Span) -> Value {
        match &place.pointer.base {
            Base::Target(target) => self.load_from(*target, place, span),
            // Nobody may write a string.
            Base::Unknown(reason) if reason == STRING => {
                self.unknown_value(place.ty, &HavocReason::Other(STRING.to_owned()), span)
            }
            Base::Unknown(reason) => {
                self.unsupported(span, format!("read through {reason}"));
                self.unknown_value(place.ty, &HavocReason::Other(reason.clone()), span)
            }
            Base::OneOf { tag, targets } => {
                let arms = self.arms(*tag, targets, |pass, target| pass.load_from(target, place, span));
                match self.choose(arms) {
                    Value::Void => self.unknown_value(place.ty, &HavocReason::Other(NULL_READ.to_owned()), span),
                    value => value,
                }
            }
        }
    }

    /// Stores `value` in a place.
    pub(in crate::lower) fn store(&mut self, place: &Place, value: Value, span: Span) {
        match &place.pointer.base {
            Base::Target(target) => self.store_to(*target, place, value, span),
            Base::Unknown(reason) => self.unsupported(span, format!("write through {reason}")),
            Base::OneOf { tag, targets } => {
                let arms = self.arms(*tag, targets, |pass, target| {
                    pass.store_to(target, place, value.clone(), span);
                    Value::Void
                });
                self.choose(arms);
            }
        }
    }

    /// Calls `action` for every target that `tag` may choose, each in a block of its own. A null pointer is
    /// not used, so its number is not tested for.
    pub(in crate::lower) fn arms(
        &mut self,
        tag: ExprId,
        targets: &[TargetId],
        mut action: impl FnMut(&mut Self, TargetId) -> Value,
    ) -> Vec<Arm> {
        let targets: Vec<TargetId> =
            targets.iter().copied().filter(|&target| !matches!(self.homes.get(target), Some(Home::Null))).collect();
        let mut arms = Vec::new();
        for target in targets {
            let cond = self.tag_is(tag, target);
            let (block, value) = self.captured(|pass| action(pass, target));
            arms.push(Arm { cond, block, value });
        }
        arms
    }

    /// Emits `if`s over the arms (the last needs no test) and returns the value of the one that is taken.
    pub(in crate::lower) fn choose(&mut self, mut arms: Vec<Arm>) -> Value {
        let Some(mut last) = arms.pop() else { return Value::Void };
        while let Some(mut arm) = arms.pop() {
            let value = self.merge((&mut arm.block, arm.value), (&mut last.block, last.value));
            let (block, ()) = self.captured(|pass| pass.emit_if(arm.cond, arm.block, last.block));
            last = Arm { cond: arm.cond, block, value };
        }
        self.emit_all(last.block);
        last.value
    }

    /// Whether `tag` is the number of `target`; looks into selections of constants.
    pub(in crate::lower) fn tag_is(&mut self, tag: ExprId, target: TargetId) -> ExprId {
        if let Expr::Select(cond, a, b) = self.kernel.exprs[tag] {
            let (is_a, is_b) = (self.kernel.exprs.as_int(a), self.kernel.exprs.as_int(b));
            if is_a.is_some() || is_b.is_some() {
                let a = self.tag_equals(a, target);
                let b = self.tag_equals(b, target);
                return self.exprs().select(cond, a, b);
            }
        }
        self.tag_equals(tag, target)
    }

    fn tag_equals(&mut self, tag: ExprId, target: TargetId) -> ExprId {
        let number = self.tag_of(target);
        self.exprs().binary(BinaryOp::Eq, tag, number)
    }

    /// The number of a target.
    pub(in crate::lower) fn tag_of(&mut self, target: TargetId) -> ExprId {
        self.exprs().int(target.index() as i128, ScalarType::I32)
    }

    fn load_from(&mut self, target: TargetId, place: &Place, span: Span) -> Value {
        self.ensure_home(target);
        match self.homes.get(target) {
            Some(Home::Array(array)) => {
                let array = *array;
                let value = self.read(array, place, span);
                let value = self.follow_global_pointer(target, place, value);
                let value = self.follow_held_pointer(target, place, value);
                self.follow_stored(target, place, value, span)
            }
            Some(Home::Slots(_)) => match self.slots_at(target, place) {
                Some(slots) => {
                    let values = slots.iter().map(|(index, leaf)| self.load_slot(target, *index, *leaf)).collect();
                    self.regroup(values, place.ty)
                }
                None => self.needs_memory(target, place, span),
            },
            Some(Home::Null) | None => self.unknown_value(place.ty, &HavocReason::Other(NULL_READ.to_owned()), span),
        }
    }

    fn store_to(&mut self, target: TargetId, place: &Place, value: Value, span: Span) {
        self.ensure_home(target);
        match self.homes.get(target) {
            Some(Home::Array(array)) => {
                let array: ArrayId = *array;
                self.write(array, place, Some(&value), span);
            }
            Some(Home::Slots(_)) => match self.slots_at(target, place) {
                Some(slots) => {
                    let values = self.flatten(value, place.ty);
                    let leaves: Vec<Leaf> = slots.iter().map(|(_, leaf)| *leaf).collect();
                    let values = self.fit_leaves(values, &leaves);
                    let slots: Vec<usize> = slots.into_iter().map(|(index, _)| index).collect();
                    self.store_slots(target, &slots, values, span);
                }
                None => {
                    self.needs_memory(target, place, span);
                }
            },
            Some(Home::Null) | None => {}
        }
    }

    /// A split variable is used in a way that needs an address; the next pass knows.
    fn needs_memory(&mut self, target: TargetId, place: &Place, span: Span) -> Value {
        self.facts.put_in_memory(target);
        self.unknown_value(place.ty, &HavocReason::Other("a variable that needs memory".to_owned()), span)
    }

    /// The slots that make up `place`, each with the type in which the place sees it.
    fn slots_at(&self, target: TargetId, place: &Place) -> Option<Vec<(usize, Leaf)>> {
        let start = u64::try_from(self.kernel.exprs.as_int(place.pointer.offset)?).ok()?;
        let Some(Home::Slots(slots)) = self.homes.get(target) else { return None };
        let leaves = self.layout.leaves(place.ty)?;
        leaves.into_iter().map(|leaf| self.slot_for(slots, start, leaf)).collect()
    }

    fn slot_for(&self, slots: &[Slot], start: u64, leaf: Leaf) -> Option<(usize, Leaf)> {
        let index = slots.iter().position(|slot| slot.leaf.offset == start + leaf.offset)?;
        let slot = slots[index].leaf;
        let same_kind = self.layout.is_pointer(slot.ty) == self.layout.is_pointer(leaf.ty);
        let same_size = self.layout.size(slot.ty) == self.layout.size(leaf.ty);
        (same_kind && same_size).then_some((index, leaf))
    }

    fn load_slot(&mut self, target: TargetId, index: usize, seen_as: Leaf) -> Value {
        let Some(Home::Slots(slots)) = self.homes.get(target) else { return Value::Void };
        let slot = slots[index].clone();
        match slot.holder {
            Holder::Var(var) => {
                let value = self.var(var);
                Value::Scalar(self.seen_as(value, seen_as.ty))
            }
            Holder::Value(Value::Scalar(value)) => Value::Scalar(self.seen_as(value, seen_as.ty)),
            Holder::Value(value) => value,
            Holder::Pointer { tag, offset } => {
                let offset = self.var(offset);
                let known = self.facts.points_to(target, slot.leaf.offset);
                let targets: Vec<TargetId> = known.targets.into_iter().collect();
                let base = match (known.unknown, &*targets, tag) {
                    (Some(reason), [_, ..], _) if reason == STRING => Base::Unknown(PERHAPS_STRING.to_owned()),
                    (Some(reason), ..) => Base::Unknown(reason),
                    (None, [], _) => Base::Unknown("a pointer without a value".to_owned()),
                    (None, [one], _) => Base::Target(*one),
                    (None, _, Some(tag)) => Base::OneOf { tag: self.var(tag), targets },
                    // The set has grown in this pass; the next one will have a tag.
                    (None, [first, ..], None) => Base::Target(*first),
                };
                Value::Pointer(Pointer { base, offset })
            }
        }
    }

    /// The bits of `value` in the type `ty` of the same size.
    fn seen_as(&mut self, value: ExprId, ty: TypeId) -> ExprId {
        match self.layout.scalar(ty) {
            Some(scalar) => self.reinterpret(value, scalar),
            None => value,
        }
    }

    /// Stores the parts of a value, all of which were computed before the first is stored: `v = {v.y, v.x}`.
    fn store_slots(&mut self, target: TargetId, slots: &[usize], mut values: Vec<Value>, span: Span) {
        let mut changed = FxHashSet::default();
        for (&index, value) in slots.iter().zip(&mut values) {
            if self.depends_on(value, &changed) {
                *value = self.kept(std::mem::replace(value, Value::Void));
            }
            changed.extend(self.variables_of(target, index));
        }
        for (&index, value) in slots.iter().zip(values) {
            self.store_slot(target, index, value, span);
        }
    }

    /// The variables that hold a slot.
    fn variables_of(&self, target: TargetId, index: usize) -> Vec<VarId> {
        let Some(Home::Slots(slots)) = self.homes.get(target) else { return Vec::new() };
        match slots[index].holder {
            Holder::Var(var) => vec![var],
            Holder::Value(_) => Vec::new(),
            Holder::Pointer { tag, offset } => tag.into_iter().chain([offset]).collect(),
        }
    }

    /// Whether one of these variables stands in a value.
    fn depends_on(&self, value: &Value, variables: &FxHashSet<VarId>) -> bool {
        let stands_in = |expr: ExprId| {
            let mut found = false;
            self.kernel.exprs.visit(expr, |_, expr| found |= matches!(expr, Expr::Var(var) if variables.contains(var)));
            found
        };
        match value {
            _ if variables.is_empty() => false,
            Value::Void => false,
            Value::Scalar(value) => stands_in(*value),
            Value::Pointer(Pointer { base: Base::OneOf { tag, .. }, offset }) => stands_in(*tag) || stands_in(*offset),
            Value::Pointer(pointer) => stands_in(pointer.offset),
            Value::Aggregate(parts) => parts.iter().any(|part| self.depends_on(part, variables)),
        }
    }

    fn store_slot(&mut self, target: TargetId, index: usize, value: Value, span: Span) {
        let Some(Home::Slots(slots)) = self.homes.get(target) else { return };
        let slot = slots[index].clone();
        match (slot.holder, value) {
            (Holder::Var(var), Value::Scalar(value)) => {
                let ty = self.kernel.vars[var].ty;
                let value = self.reinterpret(value, ty);
                self.emit(Stmt::Let { var, value });
            }
            (Holder::Pointer { tag, offset }, Value::Pointer(pointer)) => {
                self.store_pointer(target, slot.leaf.offset, &pointer);
                let number = match (tag, pointer.base) {
                    (Some(tag), Base::Target(target)) => Some((tag, self.tag_of(target))),
                    (Some(tag), Base::OneOf { tag: number, .. }) => Some((tag, number)),
                    _ => None,
                };
                // Which object it points into may depend on where it pointed.
                let number = number.map(|(tag, number)| {
                    let number = self.coerce(number, ScalarType::I32);
                    (tag, if self.kernel.exprs.mentions(number, offset) { self.snapshot(number) } else { number })
                });
                self.emit_let(offset, pointer.offset);
                if let Some((tag, number)) = number {
                    self.emit_let(tag, number);
                }
            }
            // A shape that the resolver should not produce: say so rather than lose a value.
            _ => self.unsupported(span, "assignment between values of different kinds".to_owned()),
        }
    }

    fn store_pointer(&mut self, holder: TargetId, offset: u64, pointer: &Pointer) {
        match &pointer.base {
            Base::Target(target) => self.facts.add_targets(holder, offset, &[*target]),
            Base::OneOf { targets, .. } => self.facts.add_targets(holder, offset, targets),
            Base::Unknown(reason) => self.facts.add_unknown(holder, offset, reason),
        }
    }

    /// A value of type `ty` that nothing is known about.
    pub(in crate::lower) fn unknown_value(&mut self, ty: TypeId, reason: &HavocReason, span: Span) -> Value {
        if matches!(self.program.types[ty], crate::resolve::program::Type::Void) {
            return Value::Void;
        }
        if let Some(scalar) = self.layout.scalar(ty) {
            return Value::Scalar(self.havoc(scalar, reason.clone(), span));
        }
        let Some(leaves) = self.layout.leaves(ty) else {
            let carrier = self.layout.carrier(ty);
            return Value::Scalar(self.havoc(carrier, reason.clone(), span));
        };
        let values = leaves.into_iter().map(|leaf| match self.layout.scalar(leaf.ty) {
            Some(scalar) => Value::Scalar(self.havoc(scalar, reason.clone(), span)),
            None => Value::Pointer(self.unknown_pointer("a pointer of unknown origin")),
        });
        let values = values.collect();
        self.regroup(values, ty)
    }

    /// The zero of a type.
    pub(in crate::lower) fn zero(&mut self, ty: TypeId) -> Value {
        let Some(leaves) = self.layout.leaves(ty) else {
            let carrier = self.layout.carrier(ty);
            return Value::Scalar(self.exprs().opaque("0", carrier));
        };
        let values = leaves.into_iter().map(|leaf| match self.layout.scalar(leaf.ty) {
            Some(scalar @ ScalarType::Opaque { .. }) => Value::Scalar(self.exprs().opaque("0", scalar)),
            Some(scalar) => Value::Scalar(self.exprs().int(0, scalar)),
            None => Value::Pointer(self.null()),
        });
        let values = values.collect();
        self.regroup(values, ty)
    }

    /// The leaves of a value of type `ty`.
    pub(in crate::lower) fn flatten(&mut self, value: Value, ty: TypeId) -> Vec<Value> {
        match value {
            Value::Aggregate(parts) => parts,
            Value::Void => Vec::new(),
            Value::Scalar(carrier) if self.layout.scalar(ty).is_none() && !self.layout.is_pointer(ty) => {
                // The carrier of a type that could not be split, seen as one that can.
                match self.layout.leaves(ty) {
                    Some(leaves) => leaves
                        .into_iter()
                        .map(|leaf| match self.layout.scalar(leaf.ty) {
                            Some(scalar) => {
                                let name = format!("field@{}:{}", leaf.offset, scalar.bytes());
                                Value::Scalar(self.exprs().call(Function::exact(name), vec![carrier], scalar))
                            }
                            None => Value::Pointer(self.unknown_pointer("a pointer of unknown origin")),
                        })
                        .collect(),
                    None => vec![Value::Scalar(carrier)],
                }
            }
            single => vec![single],
        }
    }

    /// One value of the right kind for each leaf; where `values` has none, an unknown one.
    pub(in crate::lower) fn fit_leaves(&mut self, values: Vec<Value>, leaves: &[Leaf]) -> Vec<Value> {
        let mut values = values.into_iter();
        let mut fitted = Vec::new();
        for leaf in leaves {
            let value = values.next().unwrap_or(Value::Void);
            fitted.push(match (value, self.layout.scalar(leaf.ty)) {
                (Value::Scalar(expr), Some(scalar)) => Value::Scalar(self.coerce(expr, scalar)),
                (Value::Pointer(pointer), None) => Value::Pointer(pointer),
                (Value::Pointer(pointer), Some(scalar)) => Value::Scalar(self.address(&pointer, scalar)),
                (_, Some(scalar)) => {
                    let var = self.temporary("missing", scalar);
                    let reason = HavocReason::Other("a value that is not known".to_owned());
                    self.emit(Stmt::Havoc { var, reason, span: None });
                    Value::Scalar(self.var(var))
                }
                (_, None) => Value::Pointer(self.unknown_pointer("a pointer of unknown origin")),
            });
        }
        fitted
    }

    /// The value of type `ty` whose leaves are `leaves`.
    pub(in crate::lower) fn regroup(&self, mut leaves: Vec<Value>, ty: TypeId) -> Value {
        if self.layout.scalar(ty).is_some() || self.layout.is_pointer(ty) {
            return leaves.pop().unwrap_or(Value::Void);
        }
        Value::Aggregate(leaves)
    }

    /// One value for two ways; assignments are added to the blocks where the values differ.
    pub(in crate::lower) fn merge(
        &mut self,
        (first, a): (&mut Vec<Stmt>, Value),
        (second, b): (&mut Vec<Stmt>, Value),
    ) -> Value {
        match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) => Value::Scalar(self.merge_scalar((first, a), (second, b))),
            (Value::Pointer(a), Value::Pointer(b)) => {
                let offset = self.merge_scalar((first, a.offset), (second, b.offset));
                let base = match self.common_base(a.base, b.base) {
                    Common::One(base) => base,
                    Common::Tags { a, b, targets } => {
                        Base::OneOf { tag: self.merge_scalar((first, a), (second, b)), targets }
                    }
                };
                Value::Pointer(Pointer { base, offset })
            }
            (Value::Aggregate(a), Value::Aggregate(b)) => {
                let parts = a.into_iter().zip(b);
                Value::Aggregate(parts.map(|(a, b)| self.merge((&mut *first, a), (&mut *second, b))).collect())
            }
            (a, _) => a,
        }
    }

    fn merge_scalar(&mut self, (first, a): (&mut Vec<Stmt>, ExprId), (second, b): (&mut Vec<Stmt>, ExprId)) -> ExprId {
        if a == b {
            return a;
        }
        let ty = self.kernel.exprs.ty(a);
        let b = self.coerce(b, ty);
        let var = self.temporary("t", ty);
        first.push(Stmt::Let { var, value: a });
        second.push(Stmt::Let { var, value: b });
        self.var(var)
    }

    /// `cond ? a : b` of values that have been computed without effects.
    pub(in crate::lower) fn select(&mut self, cond: ExprId, a: Value, b: Value) -> Value {
        match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) => {
                let ty = self.kernel.exprs.ty(a);
                let b = self.coerce(b, ty);
                Value::Scalar(self.exprs().select(cond, a, b))
            }
            (Value::Pointer(a), Value::Pointer(b)) => {
                let offset = self.exprs().select(cond, a.offset, b.offset);
                let base = match self.common_base(a.base, b.base) {
                    Common::One(base) => base,
                    Common::Tags { a, b, targets } => Base::OneOf { tag: self.exprs().select(cond, a, b), targets },
                };
                Value::Pointer(Pointer { base, offset })
            }
            (Value::Aggregate(a), Value::Aggregate(b)) => {
                Value::Aggregate(a.into_iter().zip(b).map(|(a, b)| self.select(cond, a, b)).collect())
            }
            (a, _) => a,
        }
    }

    fn common_base(&mut self, a: Base, b: Base) -> Common {
        if a == b {
            return Common::One(a);
        }
        match (self.tagged(a), self.tagged(b)) {
            (Err(reason), other) | (other, Err(reason)) if reason == STRING => {
                let reason = other.err().filter(|reason| reason != STRING);
                Common::One(Base::Unknown(reason.unwrap_or_else(|| PERHAPS_STRING.to_owned())))
            }
            (Err(reason), _) | (_, Err(reason)) => Common::One(Base::Unknown(reason)),
            (Ok((a, mut targets)), Ok((b, more))) => {
                targets.extend(more);
                targets.sort_unstable();
                targets.dedup();
                Common::Tags { a, b, targets }
            }
        }
    }

    /// The number of the target of a pointer, and what it may be; why not, if it is not known.
    pub(in crate::lower) fn tagged(&mut self, base: Base) -> Result<(ExprId, Vec<TargetId>), String> {
        match base {
            Base::Target(target) => Ok((self.tag_of(target), vec![target])),
            Base::OneOf { tag, targets } => Ok((tag, targets)),
            Base::Unknown(reason) => Err(reason),
        }
    }
}

/// What two pointers have in common.
enum Common {
    One(Base),
    Tags { a: ExprId, b: ExprId, targets: Vec<TargetId> },
}

/// One way of a choice: when, what happens, what comes out.
pub(in crate::lower) struct Arm {
    pub(in crate::lower) cond: ExprId,
    pub(in crate::lower) block: Vec<Stmt>,
    pub(in crate::lower) value: Value,
}
