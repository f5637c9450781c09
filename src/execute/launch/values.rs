//! What buffers hold.

use super::element::{ElementType, Number, Scalar};
use crate::source::Language;

/// How the elements of a buffer come about.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// All bytes are zero.
    Zero,
    /// All the same.
    Constant(Number),
    /// Evenly spaced from the first to just below the second.
    Range(Number, Number),
    /// At random, from `low` to just below `high`.
    Seed {
        /// Decides the sequence.
        seed: u64,
        /// The least.
        low: Number,
        /// Above all.
        high: Number,
    },
    /// One by one, lane by lane.
    List(Vec<Number>),
    /// Bytes that were read from a file, without any gaps.
    Loaded(Vec<u8>),
}

impl Values {
    /// The bytes of `count` elements.
    pub fn contents(&self, element: ElementType, count: u64, language: Language) -> Vec<u8> {
        let lanes = usize::from(element.lanes);
        let wanted = count as usize * lanes;
        let scalar = element.scalar;
        let dense = match self {
            Values::Zero => return vec![0; (count * element.bytes(language)) as usize],
            Values::Constant(number) => encoded(scalar, std::iter::repeat_n(*number, wanted)),
            Values::Range(low, high) => {
                encoded(scalar, (0..wanted).map(|at| between(scalar, *low, *high, at as u64, wanted as u64)))
            }
            Values::Seed { seed, low, high } => {
                let mut random = Random(*seed);
                encoded(scalar, (0..wanted).map(|_| random.between(scalar, *low, *high)))
            }
            Values::List(numbers) => encoded(scalar, numbers.iter().copied()),
            Values::Loaded(bytes) => bytes.clone(),
        };
        spread(dense, lanes * usize::from(scalar.bytes()), element.bytes(language) as usize)
    }
}

fn encoded(scalar: Scalar, numbers: impl Iterator<Item = Number>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(numbers.size_hint().0 * usize::from(scalar.bytes()));
    numbers.for_each(|number| scalar.encode(number, &mut bytes));
    bytes
}

/// Puts elements of `size` bytes at every `stride`.
fn spread(dense: Vec<u8>, size: usize, stride: usize) -> Vec<u8> {
    if size == stride {
        return dense;
    }
    let mut bytes = Vec::with_capacity(dense.len() / size * stride);
    for element in dense.chunks(size) {
        bytes.extend(element);
        bytes.resize(bytes.len() + stride - size, 0);
    }
    bytes
}

/// `low + at * (high - low) / of`; in integer types exact and rounded down.
fn between(scalar: Scalar, low: Number, high: Number, at: u64, of: u64) -> Number {
    match (scalar, low, high) {
        (Scalar::Float { .. }, _, _) => {
            Number::Float(low.real() + (high.real() - low.real()) * (at as f64) / (of as f64))
        }
        (_, Number::Integer(low), Number::Integer(high)) => {
            Number::Integer(low + (i128::from(at) * (high - low)).div_euclid(i128::from(of)))
        }
        _ => low,
    }
}

/// The generator splitmix64: short, of good quality, and the same everywhere.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// A number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// One of them; there is one at least.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn between(&mut self, scalar: Scalar, low: Number, high: Number) -> Number {
        let drawn = self.next();
        match (scalar, low, high) {
            (Scalar::Float { .. }, _, _) => {
                let part = (drawn >> 11) as f64 / f64::powi(2.0, 53);
                Number::Float(low.real() + (high.real() - low.real()) * part)
            }
            // The span of a type of 64 bits is at most 2^64: the product fits.
            (_, Number::Integer(low), Number::Integer(high)) => {
                Number::Integer(low + ((u128::from(drawn) * (high - low) as u128) >> 64) as i128)
            }
            _ => low,
        }
    }
}
