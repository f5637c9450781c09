//! Machine arithmetic: what an operator gives on constants of a type, wrapping and trapping as C says.

use super::{BinaryOp, BitCount, ScalarType, UnaryOp};

/// Why an operation has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trap {
    /// Division or remainder by zero.
    DivisionByZero,
    /// A signed result that does not fit.
    SignedOverflow,
    /// A shift by a negative amount or by the width or more.
    ShiftOutOfRange,
    /// The type is not one that arithmetic is defined on.
    NotAnInteger,
}

/// A value and whether an unsigned operation wrapped to get there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The value, within the range of the result type.
    pub value: i128,
    /// Whether the mathematical result lay outside the unsigned type.
    pub wrapped: bool,
}

/// Reduces `value` into the range of `ty` by two's complement; other types are left alone.
#[inline]
pub fn wrap(value: i128, ty: ScalarType) -> i128 {
    match ty {
        ScalarType::Bool => i128::from(value != 0),
        ScalarType::Int { width, signed } => {
            let low = value & ((1i128 << width) - 1);
            if signed && low >> (width - 1) != 0 { low - (1i128 << width) } else { low }
        }
        ScalarType::Opaque { .. } => value,
    }
}

#[inline]
fn fit(value: i128, ty: ScalarType) -> Result<Outcome, Trap> {
    let (least, greatest) = ty.range().ok_or(Trap::NotAnInteger)?;
    if (least..=greatest).contains(&value) {
        return Ok(Outcome { value, wrapped: false });
    }
    match ty {
        ScalarType::Int { signed: true, .. } => Err(Trap::SignedOverflow),
        _ => Ok(Outcome { value: wrap(value, ty), wrapped: true }),
    }
}

/// `op a`, where `a` has type `ty`.
pub fn unary(op: UnaryOp, a: i128, ty: ScalarType) -> Result<Outcome, Trap> {
    match op {
        UnaryOp::Not => Ok(Outcome { value: i128::from(a == 0), wrapped: false }),
        UnaryOp::Neg => fit(-a, ty),
        UnaryOp::BitNot => {
            ty.range().ok_or(Trap::NotAnInteger)?;
            Ok(Outcome { value: wrap(!a, ty), wrapped: false })
        }
    }
}

/// The bits that are counted in `a`, of type `ty`; `None` of what is no integer.
pub fn count(what: BitCount, a: i128, ty: ScalarType) -> Option<i128> {
    let ScalarType::Int { width, .. } = ty else { return None };
    let width = match what {
        BitCount::SetOf32 | BitCount::LeadingOf32 | BitCount::PlaceOf32 => 32,
        BitCount::Set | BitCount::Leading | BitCount::Place => u32::from(width),
    };
    let bits = a as u128 & ((1 << width) - 1);
    let counted = match what {
        BitCount::SetOf32 | BitCount::Set => bits.count_ones(),
        BitCount::LeadingOf32 | BitCount::Leading => bits.leading_zeros() - (u128::BITS - width),
        BitCount::PlaceOf32 | BitCount::Place if bits == 0 => 0,
        BitCount::PlaceOf32 | BitCount::Place => bits.trailing_zeros() + 1,
    };
    Some(counted.into())
}

/// `a op b`, where both have type `ty` (the right operand of a shift: any integer type).
pub fn binary(op: BinaryOp, a: i128, b: i128, ty: ScalarType) -> Result<Outcome, Trap> {
    let plain = |value: i128| Ok(Outcome { value, wrapped: false });
    let truth = |value: bool| plain(i128::from(value));
    ty.range().ok_or(Trap::NotAnInteger)?;
    match op {
        BinaryOp::Add => fit(a + b, ty),
        BinaryOp::Sub => fit(a - b, ty),
        // Two 64-bit unsigned values multiply to less than 2^128, which an i128 does not hold; the low bits do not need it.
        BinaryOp::Mul => match a.checked_mul(b) {
            Some(product) => fit(product, ty),
            None => Ok(Outcome { value: wrap(a.wrapping_mul(b), ty), wrapped: true }),
        },
        BinaryOp::Div | BinaryOp::Rem if b == 0 => Err(Trap::DivisionByZero),
        BinaryOp::Div => fit(a / b, ty),
        BinaryOp::Rem => fit(a / b, ty).and_then(|_| plain(a % b)),
        BinaryOp::Shl | BinaryOp::Shr => {
            let width = i128::from(ty.bytes() * 8);
            if !(0..width).contains(&b) {
                return Err(Trap::ShiftOutOfRange);
            }
            if op == BinaryOp::Shr {
                return plain(a >> b);
            }
            // Since C++20 a left shift of a signed value is defined modulo 2^width; bits lost are noted.
            let value = wrap(a << b, ty);
            Ok(Outcome { value, wrapped: value != a << b })
        }
        BinaryOp::BitAnd => plain(wrap(a & b, ty)),
        BinaryOp::BitOr => plain(wrap(a | b, ty)),
        BinaryOp::BitXor => plain(wrap(a ^ b, ty)),
        BinaryOp::Min => plain(a.min(b)),
        BinaryOp::Max => plain(a.max(b)),
        BinaryOp::Lt => truth(a < b),
        BinaryOp::Le => truth(a <= b),
        BinaryOp::Gt => truth(a > b),
        BinaryOp::Ge => truth(a >= b),
        BinaryOp::Eq => truth(a == b),
        BinaryOp::Ne => truth(a != b),
        BinaryOp::And => truth(a != 0 && b != 0),
        BinaryOp::Or => truth(a != 0 || b != 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_truncates_towards_zero() {
        assert_eq!(binary(BinaryOp::Div, -1, 2, ScalarType::I32).unwrap().value, 0);
        assert_eq!(binary(BinaryOp::Rem, -7, 4, ScalarType::I32).unwrap().value, -3);
        assert_eq!(binary(BinaryOp::Div, i128::from(i32::MIN), -1, ScalarType::I32), Err(Trap::SignedOverflow));
    }

    #[test]
    fn unsigned_wraps_and_says_so() {
        let outcome = binary(BinaryOp::Sub, 0, 1, ScalarType::U32).unwrap();
        assert_eq!(outcome, Outcome { value: 0xffff_ffff, wrapped: true });
        let big = i128::from(u64::MAX);
        assert_eq!(binary(BinaryOp::Mul, big, big, ScalarType::U64).unwrap(), Outcome { value: 1, wrapped: true });
    }

    #[test]
    fn bits_are_counted_as_the_types_are_wide() {
        let counted = |what, value, ty| count(what, value, ty).unwrap();
        let zero_and_one = [BitCount::SetOf32, BitCount::LeadingOf32, BitCount::PlaceOf32]
            .map(|what| [0, 1].map(|value| counted(what, value, ScalarType::U32)));
        assert_eq!(zero_and_one, [[0, 1], [32, 31], [0, 1]]);
        assert_eq!(counted(BitCount::SetOf32, -1, ScalarType::I32), 32);
        assert_eq!(counted(BitCount::Set, -1, ScalarType::I64), 64);
        assert_eq!(counted(BitCount::Leading, 1, ScalarType::Int { width: 8, signed: false }), 7);
        assert_eq!(counted(BitCount::Leading, 0, ScalarType::U64), 64);
        assert_eq!(counted(BitCount::PlaceOf32, 96, ScalarType::I32), 6);
        assert_eq!(count(BitCount::Set, 1, ScalarType::Bool), None);
    }

    #[test]
    fn conversions_keep_the_low_bits() {
        assert_eq!(wrap(0xffff_fffe, ScalarType::I32), -2);
        assert_eq!(wrap(-1, ScalarType::Int { width: 8, signed: false }), 255);
    }
}
