//! What memory holds during a run, as far as the contents model says.
//!
//! Under seeded contents memory is bytes in three layers: what a thread wrote in this phase (its own reads
//! see it), what the block wrote in earlier phases, and what all blocks wrote before the last grid sync or by an
//! atomic since; below lies a hash of seed, array and offset. Under unknown contents only private arrays are kept, as
//! whole values: what is read in another size than it was written in is unknown. What was chosen of an array is known
//! until somebody writes there; [`kept`](super::kept) has what blocks write to their shared memory then.

use super::kept::Kept;
use super::value::{Value, mix, reduce};
use super::{Contents, ThreadId};
use crate::calculus::{ArrayId, ScalarType, Space};
use rustc_hash::{FxHashMap, FxHashSet};

type Place = (ArrayId, i64);

/// Accesses up to this size are found from where they can start; larger ones among all that is kept.
const WIDEST_SCANNED: u32 = 32;

#[derive(Default)]
pub(super) struct Memory {
    /// Private arrays: values under unknown contents, and how many bytes they have; they do not overlap.
    private_values: FxHashMap<(ThreadId, Place), (u32, Value)>,
    /// Private arrays: bytes under seeded contents.
    private_bytes: FxHashMap<(ThreadId, Place), u8>,
    /// Bytes written in the current phase, by thread.
    pending: FxHashMap<(ThreadId, Place), u8>,
    /// The order of keys in `pending`, so that the last writer does not depend on hashing.
    pending_order: Vec<(ThreadId, Place)>,
    blocks: FxHashMap<(u32, Place), u8>,
    clusters: FxHashMap<(u32, Place), u8>,
    grid: FxHashMap<Place, u8>,
    /// Under chosen contents: bytes that somebody has written, and arrays of which nobody knows where.
    changed: FxHashSet<Place>,
    changed_somewhere: FxHashSet<ArrayId>,
    pub(super) kept: Kept,
}

/// Where and for whom.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) thread: ThreadId,
    /// The cluster of its block.
    pub(super) cluster: u32,
    pub(super) array: ArrayId,
    pub(super) space: Space,
    pub(super) offset: i64,
    pub(super) bytes: u32,
}

impl Memory {
    /// The value that a read of private memory finds under unknown contents.
    pub(super) fn private_value(&self, at: At, ty: ScalarType) -> Value {
        match self.private_values.get(&(at.thread, (at.array, at.offset))) {
            Some((bytes, value)) if *bytes == at.bytes => {
                value.bits().map_or(Value::UNKNOWN, |bits| Value::known(reduce(bits, ty)))
            }
            _ => Value::UNKNOWN,
        }
    }

    /// A write to private memory under unknown contents. `widest` is the size of the largest access to the array, if there
    /// are several; where there is one, only offsets that are multiples of it are kept.
    pub(super) fn set_private_value(&mut self, at: At, value: Value, widest: Option<u32>) {
        let end = at.offset.saturating_add(i64::from(at.bytes));
        match widest {
            None if at.offset.rem_euclid(i64::from(at.bytes)) != 0 => return self.forget_private(at.thread, at.array),
            None => {}
            Some(widest) if widest <= WIDEST_SCANNED => {
                for offset in at.offset.saturating_sub(i64::from(widest) - 1)..end {
                    let key = (at.thread, (at.array, offset));
                    if self.private_values.get(&key).is_some_and(|(bytes, _)| offset + i64::from(*bytes) > at.offset) {
                        self.private_values.remove(&key);
                    }
                }
            }
            Some(_) => self.private_values.retain(|&(owner, (of, offset)), (bytes, _)| {
                let overlaps = offset < end && offset.saturating_add(i64::from(*bytes)) > at.offset;
                owner != at.thread || of != at.array || !overlaps
            }),
        }
        self.private_values.insert((at.thread, (at.array, at.offset)), (at.bytes, value));
    }

    /// Forgets all private arrays of a thread.
    pub(super) fn forget_all_private(&mut self, thread: ThreadId) {
        self.private_values.retain(|&(owner, _), _| owner != thread);
    }

    /// Forgets one private array of a thread.
    pub(super) fn forget_private(&mut self, thread: ThreadId, array: ArrayId) {
        self.private_values.retain(|&(owner, (of, _)), _| owner != thread || of != array);
    }

    /// Somebody writes an array whose contents were chosen, here or nobody knows where.
    pub(super) fn change(&mut self, array: ArrayId, at: Option<At>) {
        match at {
            Some(at) if at.bytes <= WIDEST_SCANNED => {
                self.changed.extend((0..at.bytes).map(|index| (array, at.offset.wrapping_add(i64::from(index)))));
            }
            _ => _ = self.changed_somewhere.insert(array),
        }
    }

    /// Whether somebody may have written a part of this place.
    pub(super) fn is_changed(&self, at: At) -> bool {
        let is_changed = |index| self.changed.contains(&(at.array, at.offset.wrapping_add(i64::from(index))));
        self.changed_somewhere.contains(&at.array) || (0..at.bytes).any(is_changed)
    }

    /// The value that a read finds under seeded contents.
    pub(super) fn seeded_value(&self, contents: Contents<'_>, at: At, ty: ScalarType) -> Value {
        let Some(seed) = contents.seed_of(at.array) else { return Value::UNKNOWN };
        let mut bits = 0u64;
        for index in 0..at.bytes {
            let byte = self.byte(seed, at, at.offset.wrapping_add(i64::from(index)));
            if index < 8 { bits |= u64::from(byte) << (8 * index) } else { bits = mix(bits, u64::from(byte)) }
        }
        let signed = matches!(ty, ScalarType::Int { signed: true, .. });
        let value = reduce(bits as i64, ty);
        let width = 8 * at.bytes;
        let sign_bits = if signed && width < 64 { (value << (64 - width)) >> (64 - width) } else { value };
        Value::known(sign_bits)
    }

    fn byte(&self, seed: u64, at: At, offset: i64) -> u8 {
        let place = (at.array, offset);
        let initial = |salt: u64| made_up(seed, salt, place);
        if at.space == Space::Private {
            let owner = u64::from(at.thread.block) << 32 | u64::from(at.thread.thread);
            return self.private_bytes.get(&(at.thread, place)).copied().unwrap_or_else(|| initial(owner + 2));
        }
        if let Some(&byte) = self.pending.get(&(at.thread, place)) {
            return byte;
        }
        if let Some(&byte) = self.blocks.get(&(at.thread.block, place)) {
            return byte;
        }
        if let Some(&byte) = self.clusters.get(&(at.cluster, place)) {
            return byte;
        }
        match at.space {
            Space::Shared => initial(u64::from(at.thread.block) << 32 | 1),
            Space::Distributed => initial(u64::from(at.cluster) << 32 | 1),
            _ => self.grid.get(&place).copied().unwrap_or_else(|| byte_at_launch(seed, at.array, offset)),
        }
    }

    /// A write that others see after the next sync.
    pub(super) fn write(&mut self, at: At, bits: i64) {
        for index in 0..at.bytes {
            let place = (at.array, at.offset.wrapping_add(i64::from(index)));
            let byte = byte_of(bits, index);
            if at.space == Space::Private {
                self.private_bytes.insert((at.thread, place), byte);
            } else if self.pending.insert((at.thread, place), byte).is_none() {
                self.pending_order.push((at.thread, place));
            }
        }
    }

    /// The write of an atomic: others see it at once, in global memory those of other blocks, too.
    pub(super) fn write_through(&mut self, at: At, bits: i64) {
        for index in 0..at.bytes {
            let place = (at.array, at.offset.wrapping_add(i64::from(index)));
            self.pending.remove(&(at.thread, place));
            let byte = byte_of(bits, index);
            match at.space {
                Space::Global => {
                    self.blocks.remove(&(at.thread.block, place));
                    self.clusters.remove(&(at.cluster, place));
                    self.grid.insert(place, byte);
                }
                Space::Distributed => {
                    self.blocks.remove(&(at.thread.block, place));
                    self.clusters.insert((at.cluster, place), byte);
                }
                _ => _ = self.blocks.insert((at.thread.block, place), byte),
            }
        }
    }

    /// A sync: what the threads that `is_released` names wrote to memory that `is_ordered` names is seen by the block.
    pub(super) fn publish(&mut self, is_released: impl Fn(ThreadId) -> bool, is_ordered: impl Fn(ArrayId) -> bool) {
        let order = std::mem::take(&mut self.pending_order);
        for key in order {
            let (thread, place) = key;
            if !is_released(thread) || !is_ordered(place.0) {
                self.pending_order.push(key);
            } else if let Some(byte) = self.pending.remove(&key) {
                self.blocks.insert((thread.block, place), byte);
            }
        }
    }

    /// A cluster sync: what its blocks wrote to memory that is ordered is seen by all of them; a later block wins over an
    /// earlier one.
    pub(super) fn publish_to_cluster(
        &mut self,
        is_member: impl Fn(u32) -> bool,
        cluster: u32,
        is_ordered: impl Fn(ArrayId) -> bool,
    ) {
        for ((_, place), byte) in taken(&mut self.blocks, |(block, place)| is_member(block) && is_ordered(place.0)) {
            self.clusters.insert((cluster, place), byte);
        }
    }

    /// A grid sync: what blocks wrote to global memory is seen by all; a later block wins over an earlier one.
    pub(super) fn publish_to_grid(&mut self, is_global: impl Fn(ArrayId) -> bool) {
        for from in [&mut self.clusters, &mut self.blocks] {
            for ((_, place), byte) in taken(from, |(_, place)| is_global(place.0)) {
                self.grid.insert(place, byte);
            }
        }
    }
}

/// What a byte of global memory holds at the launch under the contents of a seed.
pub fn byte_at_launch(seed: u64, array: ArrayId, offset: i64) -> u8 {
    made_up(seed, 0, (array, offset))
}

fn made_up(seed: u64, salt: u64, (array, offset): Place) -> u8 {
    mix(mix(mix(seed, salt), array.index() as u64), offset as u64) as u8
}

/// Takes the bytes that are wanted, in order.
fn taken(from: &mut FxHashMap<(u32, Place), u8>, is_wanted: impl Fn((u32, Place)) -> bool) -> Vec<((u32, Place), u8)> {
    let mut taken: Vec<_> = from.iter().map(|(&key, &byte)| (key, byte)).filter(|(key, _)| is_wanted(*key)).collect();
    taken.sort_unstable();
    for (key, _) in &taken {
        from.remove(key);
    }
    taken
}

fn byte_of(bits: i64, index: u32) -> u8 {
    if index < 8 { (bits >> (8 * index)) as u8 } else { mix(bits as u64, u64::from(index)) as u8 }
}
