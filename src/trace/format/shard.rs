//! Which part of a log a *shard* has: the accesses that touch one range of all bytes.
//!
//! All bytes stand in one line, by allocation and offset; *borders* cut it into ranges, one for each shard. An access
//! that reaches over a border is in every shard that it touches, and *at home* in the one that has its first byte. A
//! conflict is found in the shard that has the byte.
//!
//! ```text
//! number (from 0)   identity of the whole log   accesses of the whole log
//! borders: their number, then for each: allocation   offset
//! ```
//!
//! Borders do not fall. There is one less than there are shards.
//!
//! Deliberately absent: where borders are put, and how shards are written ([`crate::trace::shards`]).

use super::Shape;
use super::bytes::{Cursor, Malformed, put};
use std::ops::{Range, RangeInclusive};

/// The first byte behind a border: its allocation and its offset there.
pub type Border = (u32, u64);

/// What all shards of a log have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// A checksum of the log that was split.
    pub identity: u64,
    /// Its accesses.
    pub accesses: u64,
    /// Where it is cut.
    pub borders: Vec<Border>,
}

/// A part of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 0.
    pub number: u32,
    /// What it is a part of.
    pub whole: Whole,
}

impl Whole {
    /// How many shards there are.
    pub fn shards(&self) -> u32 {
        self.borders.len() as u32 + 1
    }

    /// The shards that an access touches, the one first where it is at home.
    pub fn touched(&self, shape: &Shape, offset: u64) -> RangeInclusive<usize> {
        let at = |offset: u64| self.borders.partition_point(|border| *border <= (shape.allocation, offset));
        let last = offset + u64::from(shape.bytes.max(1)) - 1;
        at(offset)..=at(last)
    }
}

impl Shard {
    /// The bytes of an allocation that the shard has.
    pub fn range(&self, allocation: u32) -> Range<u64> {
        let Whole { borders, .. } = &self.whole;
        // What lies before a border in its own allocation is of the one shard, what is behind it of the other.
        let cut = |border: Option<&Border>, none: u64| match border {
            Some(&(of, _)) if of < allocation => 0,
            Some(&(of, _)) if of > allocation => u64::MAX,
            Some(&(_, offset)) => offset,
            None => none,
        };
        let number = self.number as usize;
        let start = cut(number.checked_sub(1).and_then(|before| borders.get(before)), 0);
        start..cut(borders.get(number), u64::MAX).max(start)
    }

    /// The shard of a payload.
    pub fn read(cursor: &mut Cursor<'_>) -> Result<Shard, Malformed> {
        let (number, identity, accesses) = (cursor.small()?, cursor.number()?, cursor.number()?);
        let count = cursor.number()?;
        // Every border takes two bytes at least.
        if count > cursor.rest().len() as u64 / 2 || u64::from(number) > count {
            return Err(Malformed("the borders of a shard are cut off"));
        }
        let borders: Vec<Border> =
            (0..count).map(|_| Ok((cursor.small()?, cursor.number()?))).collect::<Result<_, Malformed>>()?;
        if !borders.is_sorted() {
            return Err(Malformed("the borders of a shard are in no order"));
        }
        Ok(Shard { number, whole: Whole { identity, accesses, borders } })
    }

    /// A payload.
    pub fn write(&self) -> Vec<u8> {
        let Whole { identity, accesses, borders } = &self.whole;
        let mut out = Vec::new();
        for number in [self.number.into(), *identity, *accesses, borders.len() as u64] {
            put(&mut out, number);
        }
        for (allocation, offset) in borders {
            put(&mut out, (*allocation).into());
            put(&mut out, *offset);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::format::Kind;

    fn shard(number: u32) -> Shard {
        let borders = vec![(1, 64), (1, 64), (3, 0)];
        Shard { number, whole: Whole { identity: 7, accesses: 9, borders } }
    }

    #[test]
    fn ranges_hold_every_byte_once() {
        let ranges = |allocation| [0, 1, 2, 3].map(|number| shard(number).range(allocation));
        let none = |range: &Range<u64>| range.is_empty();
        assert_eq!(ranges(0).map(|range| range.is_empty()), [false, true, true, true]);
        let [first, second, third, last] = ranges(1);
        assert_eq!((first, third), (0..64, 64..u64::MAX));
        assert!(none(&second) && none(&last));
        assert_eq!(ranges(2)[2], 0..u64::MAX);
        assert_eq!(ranges(3)[3], 0..u64::MAX);
    }

    #[test]
    fn an_access_is_in_every_shard_that_it_touches() {
        let whole = shard(0).whole;
        let shape = |bytes| Shape { site: 0, allocation: 1, bytes, kind: Kind::Read };
        assert_eq!(whole.touched(&shape(4), 60), 0..=0);
        assert_eq!(whole.touched(&shape(8), 60), 0..=2);
        assert_eq!(whole.touched(&shape(0), 64), 2..=2);
    }

    #[test]
    fn shards_come_back_and_damage_is_told() {
        for number in 0..4 {
            let payload = shard(number).write();
            assert_eq!(Shard::read(&mut Cursor::new(&payload)), Ok(shard(number)));
            assert!(Shard::read(&mut Cursor::new(&payload[..payload.len() - 1])).is_err());
        }
        assert!(Shard::read(&mut Cursor::new(&shard(4).write())).is_err());
    }
}
