//! Values and their arithmetic: [`super::super::arithmetic`] with unknowns and postponed traps.
//!
//! A trap is a value of its own, because expressions are pure: `c ? a / b : 0` evaluates the quotient and
//! must not trap where `c` is false. It becomes an event when a statement consumes it.

use crate::calculus::arithmetic::{self, Outcome, Trap};
use crate::calculus::{BinaryOp, ExprId, ScalarType, UnaryOp};

/// A scalar at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    bits: i64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Known,
    Unknown,
    Trapped,
}

impl Default for Value {
    fn default() -> Self {
        Value::UNKNOWN
    }
}

impl Value {
    /// A value that nothing is known about.
    pub const UNKNOWN: Value = Value { bits: 0, state: State::Unknown };

    /// The value with this two's complement pattern; `u64` values above `i64::MAX` are negative here.
    #[inline]
    pub const fn known(bits: i64) -> Self {
        Value { bits, state: State::Known }
    }

    #[inline]
    pub(super) const fn truth(value: bool) -> Self {
        Value::known(value as i64)
    }

    fn trapped(trap: Trap, expr: Option<ExprId>) -> Self {
        let place = expr.map_or(0, |expr| expr.index() as i64 + 1);
        Value { bits: place << 8 | trap_code(trap), state: State::Trapped }
    }

    /// The pattern, if it is known.
    #[inline]
    pub fn bits(self) -> Option<i64> {
        (self.state == State::Known).then_some(self.bits)
    }

    /// The number, if it is known, read as a value of type `ty`.
    #[inline]
    pub fn number(self, ty: ScalarType) -> Option<i128> {
        self.bits().map(|bits| widen(bits, ty))
    }

    /// The trap that computing it ran into, and where.
    #[inline]
    pub(super) fn trap(self) -> Option<(Trap, Option<ExprId>)> {
        if self.state != State::Trapped {
            return None;
        }
        let place = (self.bits >> 8) as usize;
        Some((trap_of(self.bits & 0xff), place.checked_sub(1).map(ExprId::from_index)))
    }

    /// Known as both, if both are known and equal.
    #[inline]
    pub(super) fn merge(self, other: Value) -> Value {
        if self == other { self } else { Value::UNKNOWN }
    }
}

fn trap_code(trap: Trap) -> i64 {
    match trap {
        Trap::DivisionByZero => 0,
        Trap::SignedOverflow => 1,
        Trap::ShiftOutOfRange => 2,
        Trap::NotAnInteger => 3,
    }
}

fn trap_of(code: i64) -> Trap {
    match code {
        0 => Trap::DivisionByZero,
        1 => Trap::SignedOverflow,
        2 => Trap::ShiftOutOfRange,
        _ => Trap::NotAnInteger,
    }
}

/// The number that `bits` stands for in `ty`.
#[inline]
pub(super) fn widen(bits: i64, ty: ScalarType) -> i128 {
    if ty == ScalarType::U64 { i128::from(bits as u64) } else { i128::from(bits) }
}

/// The pattern of `bits` reduced to `ty`.
#[inline]
pub(super) fn reduce(bits: i64, ty: ScalarType) -> i64 {
    match ty {
        ScalarType::Bool => i64::from(bits != 0),
        ScalarType::Int { width: 64, .. } | ScalarType::Opaque { .. } => bits,
        ScalarType::Int { width, signed } => {
            let shift = 64 - u32::from(width);
            if signed { bits << shift >> shift } else { ((bits as u64) << shift >> shift) as i64 }
        }
    }
}

/// The result of an operator on known values, and whether an unsigned operation wrapped.
pub(super) type Computed = (Value, bool);

const NO_WRAP: bool = false;

/// `a op b` on operands of type `ty`. Operands that are unknown or trapped are dealt with first.
#[inline]
pub(super) fn binary(op: BinaryOp, a: Value, b: Value, ty: ScalarType, expr: Option<ExprId>) -> Computed {
    if let (State::Known, State::Known) = (a.state, b.state) {
        return known_binary(op, a.bits, b.bits, ty, expr);
    }
    (partial_binary(op, a, b, ty), NO_WRAP)
}

/// An operator with an operand that is not known.
fn partial_binary(op: BinaryOp, a: Value, b: Value, ty: ScalarType) -> Value {
    let decided = |side: Value, zero: bool| side.state == State::Known && (side.bits == 0) == zero;
    match op {
        // C evaluates from the left: a right operand behind a decided left one is never computed.
        BinaryOp::And if decided(a, true) => return Value::truth(false),
        BinaryOp::Or if decided(a, false) => return Value::truth(true),
        _ if a.state == State::Trapped => return a,
        BinaryOp::And if decided(b, true) => return Value::truth(false),
        BinaryOp::Or if decided(b, false) => return Value::truth(true),
        BinaryOp::And | BinaryOp::Or if a.state == State::Unknown => return Value::UNKNOWN,
        _ if b.state == State::Trapped => return b,
        _ => {}
    }
    let integer = ty.range().is_some();
    let absorbing = matches!(op, BinaryOp::Mul | BinaryOp::BitAnd) && integer;
    if absorbing && (decided(a, true) || decided(b, true)) { Value::known(0) } else { Value::UNKNOWN }
}

#[inline]
fn known_binary(op: BinaryOp, a: i64, b: i64, ty: ScalarType, expr: Option<ExprId>) -> Computed {
    // The operators and widths that indices are made of, without 128-bit numbers.
    if let ScalarType::Int { width, signed } = ty
        && (width <= 32 || signed)
    {
        let quick = match op {
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Sub => a.checked_sub(b),
            BinaryOp::Mul => a.checked_mul(b),
            BinaryOp::Lt => return (Value::truth(a < b), NO_WRAP),
            BinaryOp::Le => return (Value::truth(a <= b), NO_WRAP),
            BinaryOp::Gt => return (Value::truth(a > b), NO_WRAP),
            BinaryOp::Ge => return (Value::truth(a >= b), NO_WRAP),
            BinaryOp::Eq => return (Value::truth(a == b), NO_WRAP),
            BinaryOp::Ne => return (Value::truth(a != b), NO_WRAP),
            BinaryOp::Div if b > 0 => Some(a / b),
            BinaryOp::Rem if b > 0 => Some(a % b),
            BinaryOp::BitAnd => Some(a & b),
            _ => None,
        };
        if let Some(result) = quick
            && reduce(result, ty) == result
        {
            return (Value::known(result), NO_WRAP);
        }
    }
    outcome(arithmetic::binary(op, widen(a, ty), widen(b, ty), ty), expr)
}

/// `op a` on an operand of type `ty`.
#[inline]
pub(super) fn unary(op: UnaryOp, a: Value, ty: ScalarType, expr: Option<ExprId>) -> Computed {
    match a.state {
        State::Known => outcome(arithmetic::unary(op, widen(a.bits, ty), ty), expr),
        _ => (a, NO_WRAP),
    }
}

#[inline]
fn outcome(result: Result<Outcome, Trap>, expr: Option<ExprId>) -> Computed {
    match result {
        Ok(Outcome { value, wrapped }) => (Value::known(value as i64), wrapped),
        Err(trap) => (Value::trapped(trap, expr), NO_WRAP),
    }
}

/// `c ? a : b`
#[inline]
pub(super) fn select(c: Value, a: Value, b: Value) -> Value {
    match c.state {
        State::Known => {
            if c.bits != 0 {
                a
            } else {
                b
            }
        }
        State::Trapped => c,
        State::Unknown if a.state == State::Known => a.merge(b),
        State::Unknown => Value::UNKNOWN,
    }
}

/// A conversion between types that the calculus computes with.
#[inline]
pub(super) fn convert(a: Value, to: ScalarType) -> Value {
    match a.state {
        State::Known => Value::known(reduce(a.bits, to)),
        _ => a,
    }
}

/// Mixes `next` into a hash; the finalizer of SplitMix64, good enough to make contents look arbitrary.
#[inline]
pub(super) fn mix(hash: u64, next: u64) -> u64 {
    let mut z = (hash ^ next.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline]
    fn number(op: BinaryOp, a: i64, b: i64, ty: ScalarType) -> (Option<i128>, bool) {
        let (value, wrapped) = binary(op, Value::known(a), Value::known(b), ty, None);
        (value.number(ty), wrapped)
    }

    #[test]
    fn quick_and_slow_paths_agree() {
        let types = [ScalarType::I32, ScalarType::U32, ScalarType::I64, ScalarType::U64];
        let ops =
            [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Rem, BinaryOp::Lt, BinaryOp::Shr];
        for ty in types {
            let (least, greatest) = ty.range().unwrap();
            let numbers = [least, least + 1, 0, 1, 2, 5, greatest - 1, greatest].map(|value| value as i64);
            for op in ops {
                for (a, b) in numbers.iter().flat_map(|&a| numbers.map(|b| (a, b))) {
                    let expected = arithmetic::binary(op, widen(a, ty), widen(b, ty), ty);
                    let (found, wrapped) = binary(op, Value::known(a), Value::known(b), ty, None);
                    match expected {
                        Ok(expected) => {
                            assert_eq!(found.bits(), Some(expected.value as i64), "{a} {op:?} {b} in {ty:?}");
                            assert_eq!(wrapped, expected.wrapped);
                        }
                        Err(trap) => assert_eq!(found.trap(), Some((trap, None)), "{a} {op:?} {b} in {ty:?}"),
                    }
                }
            }
        }
    }

    #[test]
    fn unsigned_wrap_is_noted() {
        assert_eq!(number(BinaryOp::Sub, 0, 1, ScalarType::U32), (Some(0xffff_ffff), true));
        assert_eq!(number(BinaryOp::Sub, 0, 1, ScalarType::U64), (Some(i128::from(u64::MAX)), true));
    }

    #[test]
    fn a_decided_operand_hides_an_unknown_or_trapped_one() {
        let trap = binary(BinaryOp::Div, Value::known(1), Value::known(0), ScalarType::I32, None).0;
        let no = Value::truth(false);
        let and = |a, b| binary(BinaryOp::And, a, b, ScalarType::Bool, None).0;
        assert_eq!(and(no, trap), no);
        assert_eq!(and(Value::UNKNOWN, no), no);
        assert_eq!(and(Value::truth(true), trap), trap);
        assert_eq!(select(no, trap, Value::known(3)), Value::known(3));
        assert_eq!(binary(BinaryOp::Mul, Value::UNKNOWN, Value::known(0), ScalarType::I32, None).0, Value::known(0));
    }
}
