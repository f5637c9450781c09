//! Accesses to arrays: the reads, writes and atomics of the calculus.

use crate::calculus::{
    Access, ArrayId, AtomicOp, BinaryOp, Expr, ExprId, Function, HavocReason, MemoryOrder, ScalarType, Space, Stmt,
    SyncScope, VarId,
};
use crate::lower::pass::Pass;
use crate::lower::value::{Place, Pointer, Value};
use crate::resolve::program::TypeId;
use crate::source::Span;
use std::collections::BTreeSet;

/// An atomic operation, apart from what it works on.
pub(in crate::lower) struct Atomic {
    pub(in crate::lower) op: AtomicOp,
    pub(in crate::lower) operands: Vec<ExprId>,
    pub(in crate::lower) order: MemoryOrder,
    pub(in crate::lower) scope: SyncScope,
}

impl Pass<'_> {
    fn access(&mut self, array: ArrayId, place: &Place, span: Span) -> Access {
        let (bytes, align) = match &place.bits {
            Some(bits) => (bits.bytes, 1),
            None => (self.access_bytes(place.ty), self.needed_alignment(place)),
        };
        if self.unlaid(place.pointer.offset).is_none() {
            self.note_unit(array, place.ty);
        }
        let offset = self.placed(array, place.pointer.offset);
        Access { array, offset, bytes, align, site: self.site(span) }
    }

    /// The type of unknown layout in which an offset lies, if it does.
    fn unlaid(&self, offset: ExprId) -> Option<&str> {
        let mut found = None;
        if !self.anywhere.is_empty() {
            self.kernel.exprs.visit(offset, |_, expr| {
                if let Expr::Var(var) = expr {
                    found = found.or(self.anywhere.get(var));
                }
            });
        }
        found.map(String::as_str)
    }

    /// Whether a part of an object of unknown layout is written that other threads see: then no more is known than the
    /// array, and that is said.
    fn writes_unlaid(&mut self, array: ArrayId, place: &Place, span: Span) -> bool {
        if self.kernel.arrays[array].space == Space::Private {
            return false;
        }
        let Some(record) = self.unlaid(place.pointer.offset) else { return false };
        let reason = format!("write to a field of '{record}', whose layout is not known");
        self.unsupported_on(span, reason, vec![array]);
        true
    }

    /// The alignment that a place must have and, by its form, may lack: `*(float4 *)&p[i]` is defined for every fourth
    /// `i` only.
    fn needed_alignment(&self, place: &Place) -> u32 {
        let needed = self.layout.alignment(place.ty).unwrap_or(1);
        if self.kernel.exprs.is_multiple(place.pointer.offset, needed) || self.layout.has_packed_records() {
            return 1;
        }
        needed
    }

    fn access_bytes(&self, ty: TypeId) -> u32 {
        u32::try_from(self.layout.size(ty)).unwrap_or(u32::MAX).max(1)
    }

    /// Reads `place`, which lies in `array`.
    pub(in crate::lower) fn read(&mut self, array: ArrayId, place: &Place, span: Span) -> Value {
        let access = self.access(array, place, span);
        let scalar = self.layout.scalar(place.ty).filter(|_| place.bits.is_none());
        let carrier_bytes = u16::try_from(access.bytes).unwrap_or(u16::MAX);
        let ty = scalar.unwrap_or(ScalarType::Opaque { bytes: carrier_bytes });
        let name = self.kernel.arrays[array].name.clone();
        let var = self.temporary(&name, ty);
        self.emit(Stmt::Read { var, access });
        let value = self.var(var);
        if scalar.is_some() {
            return Value::Scalar(value);
        }
        if let (Some(bits), Some(ty)) = (&place.bits, self.layout.scalar(place.ty)) {
            let whole = self.exprs().call(Function::exact(format!("bits.{}", bits.name)), vec![value], ty);
            return Value::Scalar(self.in_bits(whole, bits.width));
        }
        self.unpack(value, place.ty, &name)
    }

    /// What a bit-field of so many bits keeps of a value.
    pub(in crate::lower) fn in_bits(&mut self, value: ExprId, width: u32) -> ExprId {
        let ScalarType::Int { width: whole, signed } = self.kernel.exprs.ty(value) else { return value };
        let sign = if signed { 1_i128 << width.saturating_sub(1) } else { 0 };
        let fits = |(least, greatest): (i128, i128)| -sign <= least && greatest < (1 << width) - sign;
        if width == 0 || width >= u32::from(whole) || self.range(value).is_some_and(fits) {
            return value;
        }
        let ty = self.kernel.exprs.ty(value);
        let mask = self.exprs().int((1 << width) - 1, ty);
        let kept = self.exprs().binary(BinaryOp::BitAnd, value, mask);
        if !signed {
            return kept;
        }
        let sign = self.exprs().int(sign, ty);
        // Above half of what the bits count lie the negative numbers.
        let flipped = self.exprs().binary(BinaryOp::BitXor, kept, sign);
        self.exprs().binary(BinaryOp::Sub, flipped, sign)
    }

    /// The parts of an opaque carrier that was read from `array`.
    fn unpack(&mut self, carrier: ExprId, ty: TypeId, array: &str) -> Value {
        if self.layout.is_pointer(ty) {
            return Value::Pointer(self.unknown_pointer(&format!("a pointer that was loaded from '{array}'")));
        }
        let Some(leaves) = self.layout.leaves(ty) else { return Value::Scalar(carrier) };
        let parts = leaves.into_iter().map(|leaf| match self.layout.scalar(leaf.ty) {
            Some(scalar) => {
                let name = format!("field@{}:{}", leaf.offset, scalar.bytes());
                Value::Scalar(self.exprs().call(Function::exact(name), vec![carrier], scalar))
            }
            None => Value::Pointer(self.unknown_pointer(&format!("a pointer that was loaded from '{array}'"))),
        });
        Value::Aggregate(parts.collect())
    }

    /// Writes `value` to `place`, which lies in `array`.
    pub(in crate::lower) fn write(&mut self, array: ArrayId, place: &Place, value: Option<&Value>, span: Span) {
        if let (Some(Value::Aggregate(parts)), Space::Private) = (value, self.kernel.arrays[array].space)
            && let Some(leaves) = self.layout.leaves(place.ty)
        {
            // Nobody else sees a private array, so what counts is that each part keeps its value.
            for (leaf, part) in leaves.into_iter().zip(parts) {
                let delta = self.offset(leaf.offset);
                let offset = self.exprs().binary(BinaryOp::Add, place.pointer.offset, delta);
                let pointer = Pointer { base: place.pointer.base.clone(), offset };
                self.write(array, &Place { pointer, ty: leaf.ty, bits: None }, Some(part), span);
            }
            return;
        }
        self.note_stored(array, Some(place.ty), value);
        if self.writes_unlaid(array, place, span) {
            return;
        }
        let access = self.access(array, place, span);
        let value = match value {
            Some(Value::Scalar(expr)) if place.bits.is_none() => match self.layout.scalar(place.ty) {
                Some(scalar) => Some(self.coerce(*expr, scalar)),
                None => Some(*expr).filter(|&expr| self.kernel.exprs.ty(expr).bytes() == access.bytes),
            },
            Some(Value::Aggregate(parts)) => self.pack(parts, access.bytes),
            _ => None,
        };
        self.emit(Stmt::Write { access, value });
    }

    /// One opaque value for an aggregate of scalars.
    fn pack(&mut self, parts: &[Value], bytes: u32) -> Option<ExprId> {
        let scalars: Option<Vec<ExprId>> = parts
            .iter()
            .map(|part| match part {
                Value::Scalar(expr) => Some(*expr),
                _ => None,
            })
            .collect();
        let bytes = u16::try_from(bytes).ok()?;
        Some(self.exprs().call(Function::exact("aggregate"), scalars?, ScalarType::Opaque { bytes }))
    }

    /// An access of `bytes` bytes at a place, for `memcpy` and its kin: a write, or a read of an unused value.
    pub(in crate::lower) fn touch(&mut self, array: ArrayId, offset: ExprId, bytes: u32, write: Touch, span: Span) {
        self.units.entry(array).or_default().insert(None);
        let offset = self.placed(array, offset);
        let access = Access { array, offset, bytes, align: 1, site: self.site(span) };
        match write {
            Touch::Write => {
                self.note_stored(array, None, None);
                self.emit(Stmt::Write { access, value: None });
            }
            Touch::Read => {
                let carrier = ScalarType::Opaque { bytes: u16::try_from(bytes).unwrap_or(u16::MAX) };
                let var = self.temporary("copied", carrier);
                self.emit(Stmt::Read { var, access });
            }
        }
    }

    /// An atomic on `place`, which lies in `array`; `var` takes the old value.
    pub(in crate::lower) fn atomic(
        &mut self,
        array: ArrayId,
        place: &Place,
        var: Option<VarId>,
        atomic: &Atomic,
        span: Span,
    ) {
        self.note_stored(array, Some(place.ty), None);
        if self.writes_unlaid(array, place, span) {
            let reason = HavocReason::Other("an atomic on memory that is not known".to_owned());
            if let Some(var) = var {
                self.emit(Stmt::Havoc { var, reason, span: Some(span) });
            }
            return;
        }
        let access = self.access(array, place, span);
        let Atomic { op, ref operands, order, scope } = *atomic;
        self.emit(Stmt::Atomic { var, access, op, operands: operands.clone(), order, scope });
    }

    /// Remembers the unit in which `array` is addressed.
    pub(in crate::lower) fn note_unit(&mut self, array: ArrayId, ty: TypeId) {
        let unit = self.layout.symbolic(ty);
        self.units.entry(array).or_default().insert(unit);
    }

    /// The arrays that are addressed in units of unknown size and in others, too.
    pub(in crate::lower) fn mixed_units(&self) -> BTreeSet<ArrayId> {
        let mixed = self.units.iter().filter(|(_, units)| units.len() > 1);
        mixed.map(|(&array, _)| array).collect()
    }
}

/// The direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum Touch {
    Read,
    Write,
}
