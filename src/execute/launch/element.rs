//! Types of elements, and how numbers become their bytes.

use crate::source::Language;
use std::fmt;

/// A number of a description.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// `true` or `false`.
    Truth(bool),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Integer(value) => write!(f, "{value}"),
            Number::Float(value) => write!(f, "{value:?}"),
            Number::Truth(value) => write!(f, "{value}"),
        }
    }
}

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `bool`, of one byte.
    Bool,
    /// A whole number of this many bytes.
    Integer {
        /// 1, 2, 4 or 8.
        bytes: u8,
        /// Whether it has a sign.
        signed: bool,
    },
    /// A floating-point number of this many bytes.
    Float {
        /// 2, 4 or 8.
        bytes: u8,
    },
}

/// The type of an element: a scalar, or a vector of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementType {
    /// The scalar.
    pub scalar: Scalar,
    /// How many; 1 for a scalar.
    pub lanes: u8,
}

const fn signed(bytes: u8) -> Scalar {
    Scalar::Integer { bytes, signed: true }
}

const fn unsigned(bytes: u8) -> Scalar {
    Scalar::Integer { bytes, signed: false }
}

/// Names of scalar types; those of C that are of several words stand here with single blanks.
const SCALARS: &[(&str, Scalar)] = &[
    ("bool", Scalar::Bool),
    ("_Bool", Scalar::Bool),
    ("char", signed(1)),
    ("signed char", signed(1)),
    ("unsigned char", unsigned(1)),
    ("uchar", unsigned(1)),
    ("int8_t", signed(1)),
    ("uint8_t", unsigned(1)),
    ("short", signed(2)),
    ("short int", signed(2)),
    ("unsigned short", unsigned(2)),
    ("unsigned short int", unsigned(2)),
    ("ushort", unsigned(2)),
    ("int16_t", signed(2)),
    ("uint16_t", unsigned(2)),
    ("int", signed(4)),
    ("signed", signed(4)),
    ("signed int", signed(4)),
    ("unsigned", unsigned(4)),
    ("unsigned int", unsigned(4)),
    ("uint", unsigned(4)),
    ("int32_t", signed(4)),
    ("uint32_t", unsigned(4)),
    ("long", signed(8)),
    ("long int", signed(8)),
    ("unsigned long", unsigned(8)),
    ("unsigned long int", unsigned(8)),
    ("ulong", unsigned(8)),
    ("long long", signed(8)),
    ("long long int", signed(8)),
    ("unsigned long long", unsigned(8)),
    ("unsigned long long int", unsigned(8)),
    ("longlong", signed(8)),
    ("ulonglong", unsigned(8)),
    ("int64_t", signed(8)),
    ("uint64_t", unsigned(8)),
    ("size_t", unsigned(8)),
    ("ptrdiff_t", signed(8)),
    ("intptr_t", signed(8)),
    ("uintptr_t", unsigned(8)),
    ("half", Scalar::Float { bytes: 2 }),
    ("__half", Scalar::Float { bytes: 2 }),
    ("float", Scalar::Float { bytes: 4 }),
    ("double", Scalar::Float { bytes: 8 }),
];

/// Scalars of which there are vectors.
const VECTORS: [&str; 13] = [
    "char",
    "uchar",
    "short",
    "ushort",
    "int",
    "uint",
    "long",
    "ulong",
    "longlong",
    "ulonglong",
    "half",
    "float",
    "double",
];

impl ElementType {
    /// The type of that name, as C, CUDA or OpenCL have it (LP64).
    pub fn named(name: &str) -> Option<ElementType> {
        let words: Vec<&str> = name.split_whitespace().filter(|word| *word != "const").collect();
        let name = words.join(" ");
        let scalar = |name: &str| SCALARS.iter().find(|(known, _)| *known == name).map(|(_, scalar)| *scalar);
        if let Some(scalar) = scalar(&name) {
            return Some(ElementType { scalar, lanes: 1 });
        }
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let base = name.strip_suffix(digits).filter(|base| VECTORS.contains(base))?;
        let lanes = digits.parse().ok().filter(|lanes| [1, 2, 3, 4, 8, 16].contains(lanes))?;
        Some(ElementType { scalar: scalar(base)?, lanes })
    }

    /// Names to suggest from.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SCALARS.iter().map(|(name, _)| *name)
    }

    /// Its size. Three lanes take the room of four in OpenCL and that of three in CUDA.
    pub fn bytes(self, language: Language) -> u64 {
        let lanes = if self.lanes == 3 && language == Language::OpenCl { 4 } else { self.lanes };
        u64::from(lanes) * u64::from(self.scalar.bytes())
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lanes {
            1 => write!(f, "{}", self.scalar),
            lanes => write!(f, "{}{lanes}", self.scalar),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unsigned, name) = match self {
            Scalar::Bool => ("", "bool"),
            Scalar::Integer { bytes: 1, signed } => (prefix(*signed), "char"),
            Scalar::Integer { bytes: 2, signed } => (prefix(*signed), "short"),
            Scalar::Integer { bytes: 4, signed } => (prefix(*signed), "int"),
            Scalar::Integer { signed, .. } => (prefix(*signed), "long"),
            Scalar::Float { bytes: 2 } => ("", "half"),
            Scalar::Float { bytes: 4 } => ("", "float"),
            Scalar::Float { .. } => ("", "double"),
        };
        write!(f, "{unsigned}{name}")
    }
}

/// As vectors are named: `uint4`.
fn prefix(signed: bool) -> &'static str {
    if signed { "" } else { "u" }
}

impl Scalar {
    /// Its size.
    pub fn bytes(self) -> u8 {
        match self {
            Scalar::Bool => 1,
            Scalar::Integer { bytes, .. } | Scalar::Float { bytes } => bytes,
        }
    }

    /// The least and the greatest value of a type of whole numbers.
    pub fn range(self) -> Option<(i128, i128)> {
        match self {
            Scalar::Bool => Some((0, 1)),
            Scalar::Integer { bytes, signed } => {
                let bits = u32::from(bytes) * 8;
                Some(if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) })
            }
            Scalar::Float { .. } => None,
        }
    }

    /// Whether a value of this type can be that number. Rounding to a floating-point type is no loss.
    pub fn holds(self, number: Number) -> bool {
        match (self, number) {
            (Scalar::Bool, Number::Truth(_)) => true,
            (Scalar::Bool | Scalar::Integer { .. }, Number::Integer(value)) => {
                self.range().is_some_and(|(least, most)| (least..=most).contains(&value))
            }
            (Scalar::Float { .. }, Number::Integer(_) | Number::Float(_)) => true,
            _ => false,
        }
    }

    /// Its bytes, little-endian; of a number that it [`holds`](Scalar::holds).
    pub fn encode(self, number: Number, into: &mut Vec<u8>) {
        match self {
            Scalar::Bool => into.push(u8::from(number.whole() != 0)),
            Scalar::Integer { bytes, .. } => into.extend(&number.whole().to_le_bytes()[..usize::from(bytes)]),
            Scalar::Float { bytes: 2 } => into.extend(half_bits(number.real()).to_le_bytes()),
            Scalar::Float { bytes: 4 } => into.extend(number.single().to_le_bytes()),
            Scalar::Float { .. } => into.extend(number.real().to_le_bytes()),
        }
    }
}

impl Scalar {
    /// The number that these bytes are; as many as [`Scalar::bytes`], little-endian.
    pub fn decode(self, bytes: &[u8]) -> Number {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(wide);
        match self {
            Scalar::Bool => Number::Truth(bits != 0),
            Scalar::Integer { bytes, signed } => {
                let unused = 64 - 8 * u32::from(bytes);
                let value = if signed { i128::from((bits << unused) as i64 >> unused) } else { i128::from(bits) };
                Number::Integer(value)
            }
            Scalar::Float { bytes: 2 } => Number::Float(of_half_bits(bits as u16)),
            Scalar::Float { bytes: 4 } => Number::Float(f64::from(f32::from_bits(bits as u32))),
            Scalar::Float { .. } => Number::Float(f64::from_bits(bits)),
        }
    }
}

/// The number that the bits of a half are.
fn of_half_bits(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let fraction = f64::from(bits & 0x3ff);
    sign * match bits >> 10 & 0x1f {
        0 => fraction * f64::powi(2.0, -24),
        31 if fraction > 0.0 => f64::NAN,
        31 => f64::INFINITY,
        exponent => (1024.0 + fraction) * f64::powi(2.0, i32::from(exponent) - 25),
    }
}

impl Number {
    fn whole(self) -> i128 {
        match self {
            Number::Integer(value) => value,
            Number::Float(value) => value as i128,
            Number::Truth(value) => i128::from(value),
        }
    }

    /// As a double.
    pub(super) fn real(self) -> f64 {
        match self {
            Number::Float(value) => value,
            other => other.whole() as f64,
        }
    }

    /// As a float, rounded once.
    fn single(self) -> f32 {
        match self {
            Number::Float(value) => value as f32,
            other => other.whole() as f32,
        }
    }
}

/// The bits of the half that is nearest; of two, the even one.
fn half_bits(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let size = value.abs();
    if size.is_nan() {
        return sign | 0x7e00;
    }
    // Half of the last step above the largest: from there on it is infinite.
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    // Below the least normal number, all steps are as wide as there.
    let exponent = if size < f64::powi(2.0, -14) { -14 } else { ((size.to_bits() >> 52) as i32) - 1023 };
    let steps = (size / f64::powi(2.0, exponent - 10)).round_ties_even() as u16;
    // A full mantissa carries into the exponent by itself.
    sign + (((exponent + 14) as u16) << 10) + steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_c_cuda_and_opencl_are_known() {
        let bytes = |name: &str| ElementType::named(name).map(|element| element.bytes(Language::Cuda));
        assert_eq!(bytes("unsigned  long long int"), Some(8));
        assert_eq!(bytes("const float4"), Some(16));
        assert_eq!(bytes("uint8_t"), Some(1));
        assert_eq!(bytes("double16"), Some(128));
        for wrong in ["float5", "size_t2", "4", "", "unsigned float", "struct s"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn three_lanes_take_four_in_opencl() {
        let element = ElementType::named("float3").unwrap();
        assert_eq!((element.bytes(Language::Cuda), element.bytes(Language::OpenCl)), (12, 16));
    }

    #[test]
    fn a_type_holds_what_it_can_represent() {
        let holds = |name: &str, number| ElementType::named(name).unwrap().scalar.holds(number);
        assert!(holds("char", Number::Integer(-128)) && !holds("char", Number::Integer(128)));
        assert!(holds("ulong", Number::Integer(i128::from(u64::MAX))) && !holds("uint", Number::Integer(-1)));
        assert!(!holds("int", Number::Float(1.0)) && !holds("int", Number::Truth(true)));
        assert!(holds("bool", Number::Truth(true)) && holds("float", Number::Integer(7)));
    }

    #[test]
    fn halves_are_rounded_to_the_nearest_even() {
        let cases = [
            (0.0, 0x0000),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.0, 0x7bff),
            (65520.0, 0x7c00),
            (f64::INFINITY, 0x7c00),
            (0.1, 0x2e66),
            (2049.0, 0x6800),
            (2051.0, 0x6802),
            (f64::powi(2.0, -24), 0x0001),
            (f64::powi(2.0, -25), 0x0000),
            (f64::powi(2.0, -14), 0x0400),
            (f64::powi(2.0, -14) - f64::powi(2.0, -26), 0x0400),
        ];
        for (value, bits) in cases {
            assert_eq!(half_bits(value), bits, "{value}");
        }
    }

    #[test]
    fn what_was_encoded_is_decoded() {
        let back = |name: &str, number| {
            let scalar = ElementType::named(name).unwrap().scalar;
            let mut bytes = Vec::new();
            scalar.encode(number, &mut bytes);
            assert_eq!(scalar.decode(&bytes), number, "{name}");
        };
        back("char", Number::Integer(-128));
        back("uchar", Number::Integer(200));
        back("long", Number::Integer(i128::from(i64::MIN)));
        back("ulong", Number::Integer(i128::from(u64::MAX)));
        back("bool", Number::Truth(true));
        for value in [0.5, -2.0, f64::INFINITY, f64::powi(2.0, -24), 65504.0] {
            ["half", "float", "double"].into_iter().for_each(|name| back(name, Number::Float(value)));
        }
    }
}
