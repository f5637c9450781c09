//! What some arrays hold at the start of a run, byte for byte: contents that somebody chose.
//!
//! A byte that is not listed holds what [`Rest`] says. What was chosen of a place is known until a thread of the run writes
//! there, and of an array that the kernel writes only where a thread certainly comes. With one block of several in the run
//! that holds as long as nothing makes it wait for another.
//!
//! Deliberately absent: floating point, which no run computes with, so that its contents are never known.

use super::value::{Value, reduce};
use crate::calculus::{ArrayId, ScalarType};
use std::collections::{BTreeMap, BTreeSet};

/// Chosen contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    bytes: BTreeMap<(ArrayId, i64), u8>,
    patterned: BTreeSet<ArrayId>,
    rest: Rest,
}

/// What is not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rest {
    /// Nothing is known of it.
    #[default]
    Unknown,
    /// Every element is this number.
    Constant(i64),
    /// The element of this index is its index, divided by the number.
    Index(i64),
    /// What is left of its index, divided by the number.
    Remainder(i64),
}

impl Chosen {
    /// Contents that are a pattern in some arrays, as far as they are not [`set`](Self::set).
    pub fn pattern(arrays: &BTreeSet<ArrayId>, rest: Rest) -> Self {
        Chosen { bytes: BTreeMap::new(), patterned: arrays.clone(), rest }
    }

    /// Lists the bytes of a number; bytes that were listed before keep what they hold.
    pub fn set(&mut self, array: ArrayId, offset: i64, bytes: u32, number: i64) {
        for index in 0..bytes.min(8) {
            let place = (array, offset.saturating_add(i64::from(index)));
            self.bytes.entry(place).or_insert((number >> (8 * index)) as u8);
        }
    }

    /// The bytes of an array that are listed, in order.
    pub fn listed(&self, array: ArrayId) -> impl Iterator<Item = (i64, u8)> + '_ {
        self.bytes.range((array, i64::MIN)..=(array, i64::MAX)).map(|(&(_, offset), &byte)| (offset, byte))
    }

    /// The pattern that a read of a number of type `ty` finds; `None` if it is not known.
    pub fn read(&self, array: ArrayId, offset: i64, bytes: u32, ty: ScalarType) -> Option<i64> {
        ty.range()?;
        if bytes > 8 {
            return None;
        }
        let rest = self.unlisted(array, offset, bytes);
        let mut bits = 0;
        for index in 0..bytes {
            let place = (array, offset.checked_add(i64::from(index))?);
            let listed = self.bytes.get(&place).copied();
            let byte = listed.or_else(|| Some((rest? >> (8 * index)) as u8))?;
            bits |= u64::from(byte) << (8 * index);
        }
        let signed = matches!(ty, ScalarType::Int { signed: true, .. });
        let free = 64 - 8 * bytes;
        let extended = if signed && free > 0 { (bits as i64) << free >> free } else { bits as i64 };
        Some(reduce(extended, ty))
    }

    fn unlisted(&self, array: ArrayId, offset: i64, bytes: u32) -> Option<i64> {
        if !self.patterned.contains(&array) {
            return None;
        }
        let index = offset.div_euclid(i64::from(bytes.max(1)));
        match self.rest {
            Rest::Unknown => None,
            Rest::Constant(number) => Some(number),
            Rest::Index(divisor) => Some(index / divisor.max(1)),
            Rest::Remainder(divisor) => Some(index % divisor.max(1)),
        }
    }

    pub(super) fn value(&self, at: super::memory::At, ty: ScalarType) -> Value {
        self.read(at.array, at.offset, at.bytes, ty).map_or(Value::UNKNOWN, Value::known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_bytes_come_before_the_pattern_and_numbers_keep_their_sign() {
        let [listed, other] = [0, 1].map(ArrayId::from_index);
        let mut chosen = Chosen::pattern(&BTreeSet::from([listed]), Rest::Index(1));
        chosen.set(listed, 4, 4, -2);
        chosen.set(listed, 4, 4, 7);
        assert_eq!(chosen.read(listed, 4, 4, ScalarType::I32), Some(-2));
        assert_eq!(chosen.read(listed, 4, 4, ScalarType::U32), Some(0xffff_fffe));
        assert_eq!(chosen.read(listed, 12, 4, ScalarType::I32), Some(3));
        assert_eq!(chosen.read(listed, 4, 1, ScalarType::Bool), Some(1));
        assert_eq!(chosen.read(listed, 4, 4, ScalarType::Opaque { bytes: 4 }), None);
        assert_eq!(chosen.read(other, 4, 4, ScalarType::I32), None);
    }

    #[test]
    fn what_is_listed_in_part_is_not_known() {
        let array = ArrayId::from_index(0);
        let mut chosen = Chosen::default();
        chosen.set(array, 0, 2, 5);
        assert_eq!(chosen.read(array, 0, 2, ScalarType::Int { width: 16, signed: true }), Some(5));
        assert_eq!(chosen.read(array, 0, 4, ScalarType::I32), None);
    }
}
