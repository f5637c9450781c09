//! From the records of a device to the segments of a log.
//!
//! Work-items count no barriers: they log them, and here they are counted, those that order local memory apart from
//! those that order global memory. A log's segment has one number of syncs; therefore what a work-item does between two
//! barriers becomes two segments, one for each kind of memory, each with its own count.

use crate::trace::format::accesses::Shape;
use crate::trace::format::write::Segment;
use crate::trace::format::{Epochs, Kind, MAX_SEGMENT};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bytes of a record.
pub(super) const BYTES: usize = 32;
/// The first slot of local memory.
const LOCAL: u8 = 128;
/// The slot of an access outside of all ranges.
const OUTSIDE: u8 = 255;
/// The kind of a barrier.
const BARRIER: u8 = 6;
/// The kinds of work-items that part at a branch: before a barrier, and before one that none was seen to come to.
const PARTED: u8 = 7;
const PARTED_SOMEWHERE: u8 = 8;

/// One record, as `raceproof.cl` writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    site: u32,
    kind: u8,
    slot: u8,
    offset: u64,
    bytes: u32,
    item: u32,
    group: u32,
}

impl Record {
    /// Reads all of a device's records.
    pub(super) fn read_all(bytes: &[u8]) -> Vec<Record> {
        bytes.chunks_exact(BYTES).map(Record::read).collect()
    }

    fn read(bytes: &[u8]) -> Record {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[8 * at + byte]));
        let (first, last) = (word(0), word(2));
        Record {
            site: first as u32,
            kind: (first >> 32) as u8,
            slot: (first >> 40) as u8,
            offset: word(1),
            bytes: last as u32,
            item: (last >> 32) as u32,
            group: word(3) as u32,
        }
    }
}

/// What all work-items of a launch touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Touched {
    /// Of each range of global memory how many of its bytes an access needs.
    pub(super) global: BTreeMap<u8, u64>,
    /// Whether something lies outside of all ranges.
    pub(super) is_outside: bool,
    /// Whether work-items parted before a barrier.
    pub(super) is_parted: bool,
}

impl Touched {
    /// By these records.
    pub(super) fn by(records: &[Record]) -> Touched {
        let mut touched = Touched::default();
        for record in records {
            match (record.kind, record.slot) {
                (BARRIER, _) => {}
                (PARTED | PARTED_SOMEWHERE, _) => touched.is_parted = true,
                (_, OUTSIDE) => touched.is_outside = true,
                (_, LOCAL..) => {}
                (_, range) => {
                    let needed = touched.global.entry(range).or_default();
                    *needed = (*needed).max(record.offset + u64::from(record.bytes));
                }
            }
        }
        touched
    }
}

/// What one work-group did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    /// Its number.
    pub(super) number: u32,
    /// What its work-items did, those of earlier intervals first.
    pub(super) segments: Vec<Segment>,
    /// Sites that accessed memory outside of all ranges, with kind and bytes.
    pub(super) outside: Vec<(u32, &'static str, u32)>,
    /// A barrier that one work-item comes to and another does not.
    pub(super) divergence: Option<Divergence>,
}

/// Where two work-items of a group part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Divergence {
    /// The number of the barrier.
    pub(super) barrier: u32,
    /// A work-item that comes to it.
    pub(super) comes: u32,
    /// One that does not.
    pub(super) parts: u32,
    /// What is known of it.
    pub(super) seen: Seen,
}

/// How much of a divergence was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The barriers that each of them passed, to the end of the kernel.
    Passed,
    /// The branch at which they part, before the barrier. From there on nothing is logged.
    Parted,
    /// Such a branch; nobody came to the barrier that it holds.
    NobodyCame,
}

/// What the numbers in the records of a launch stand for in the log: sites, and the ranges of global and of local memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    pub(super) first_site: u32,
    pub(super) global: Vec<Range>,
    pub(super) local: Vec<Range>,
}

/// A range of memory: an allocation from some byte on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) allocation: u32,
    pub(super) first_byte: u64,
}

impl Range {
    pub(super) fn whole(allocation: u32) -> Range {
        Range { allocation, first_byte: 0 }
    }
}

impl Ranges {
    fn range(&self, slot: u8) -> Option<Range> {
        match slot.checked_sub(LOCAL) {
            Some(local) => self.local.get(usize::from(local)).copied(),
            None => self.global.get(usize::from(slot)).copied(),
        }
    }
}

/// How the work-items of a launch are dealt out to work-groups.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Extents {
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    /// In all; the last work-groups of an axis may have fewer than the others.
    pub(super) items: [u64; 3],
}

impl Extents {
    /// The extents of a work-group.
    fn of_group(&self, number: u32) -> [u32; 3] {
        let mut rest = number;
        [0, 1, 2].map(|axis| {
            let (at, extent) = (rest % self.grid[axis].max(1), u64::from(self.block[axis]));
            rest /= self.grid[axis].max(1);
            extent.min(self.items[axis].saturating_sub(u64::from(at) * extent)) as u32
        })
    }

    /// The number that a work-item of a group with these extents would have in a group that has all.
    fn in_full_group(&self, item: u32, extents: [u32; 3]) -> u32 {
        let [x, y, _] = extents.map(|extent| extent.max(1));
        item % x + self.block[0] * (item / x % y + self.block[1] * (item / x / y))
    }
}

/// The groups that `records` tell of, in order.
pub(super) fn groups(mut records: Vec<Record>, ranges: &Ranges, extents: Extents) -> Vec<Group> {
    // The sort is stable, and the records of one work-item come in the order in which it made them.
    records.sort_by_key(|record| (record.group, record.item));
    records.chunk_by(|one, other| one.group == other.group).map(|records| group(records, ranges, extents)).collect()
}

fn group(records: &[Record], ranges: &Ranges, extents: Extents) -> Group {
    let mut group = Group { number: records[0].group, ..Group::default() };
    let own = extents.of_group(group.number);
    let items = own.iter().fold(1u32, |product, &extent| product.saturating_mul(extent));
    // Segments by the number of barriers before them.
    let mut by_interval: BTreeMap<usize, Vec<Segment>> = BTreeMap::new();
    let mut passed: Vec<(u32, Vec<u32>)> = Vec::new();
    for records in records.chunk_by(|one, other| one.item == other.item) {
        let mut item = Item {
            number: extents.in_full_group(records[0].item, own),
            ranges,
            group: &mut group,
            by_interval: &mut by_interval,
            syncs: [0; 2],
            accesses: [Vec::new(), Vec::new()],
            barriers: Vec::new(),
        };
        for record in records {
            item.take(record);
        }
        item.flush();
        passed.push((records[0].item, item.barriers));
    }
    group.segments = by_interval.into_values().flatten().collect();
    group.divergence = group.divergence.or_else(|| divergence(&passed, items));
    group
}

/// A work-item whose records are being read.
struct Item<'a> {
    number: u32,
    ranges: &'a Ranges,
    group: &'a mut Group,
    by_interval: &'a mut BTreeMap<usize, Vec<Segment>>,
    /// Barriers so far that order global memory, and local memory.
    syncs: [u32; 2],
    /// Accesses since the last one, to global memory and to local memory.
    accesses: [Vec<(Shape, u64)>; 2],
    barriers: Vec<u32>,
}

impl Item<'_> {
    fn take(&mut self, record: &Record) {
        if record.kind == BARRIER {
            self.flush();
            self.syncs[0] += u32::from(record.bytes & 2 != 0);
            self.syncs[1] += u32::from(record.bytes & 1 != 0);
            self.barriers.push(record.site);
            return;
        }
        if matches!(record.kind, PARTED | PARTED_SOMEWHERE) {
            let (comes, parts) = (record.offset as u32, (record.offset >> 32) as u32);
            let seen = if record.kind == PARTED { Seen::Parted } else { Seen::NobodyCame };
            self.group.divergence = Some(Divergence { barrier: record.site, comes, parts, seen });
            return;
        }
        if record.slot == OUTSIDE {
            let what = if record.kind == 0 { "read" } else { "write" };
            return self.group.outside.push((self.ranges.first_site + record.site, what, record.bytes));
        }
        let Some(Range { allocation, first_byte }) = self.ranges.range(record.slot) else { return };
        let kinds: &[Kind] = match record.kind {
            0 => &[Kind::Read],
            1 => &[Kind::Write],
            2 => &[Kind::Read, Kind::Write],
            3 => &[Kind::AtomicBlock],
            4 => &[Kind::AtomicDevice],
            _ => &[Kind::AtomicSystem],
        };
        let memory = usize::from(record.slot >= LOCAL);
        for &kind in kinds {
            let shape = Shape { site: self.ranges.first_site + record.site, allocation, bytes: record.bytes, kind };
            self.accesses[memory].push((shape, first_byte + record.offset));
        }
    }

    /// Ends the segments of an interval.
    fn flush(&mut self) {
        for (accesses, &block) in self.accesses.iter_mut().zip(&self.syncs) {
            for piece in accesses.chunks(MAX_SEGMENT) {
                let epochs = Epochs { block, ..Epochs::default() };
                let segment = Segment { thread: self.number, epochs, accesses: piece.to_vec() };
                self.by_interval.entry(self.barriers.len()).or_default().push(segment);
            }
            accesses.clear();
        }
    }
}

/// A work-item and the barriers that it passed.
type Passed<'a> = (u32, &'a [u32]);

/// The first barrier at which two work-items part, if there is one. A work-item without records passed none.
fn divergence(passed: &[(u32, Vec<u32>)], items: u32) -> Option<Divergence> {
    let silent = (0..items).find(|item| passed.binary_search_by_key(item, |(item, _)| *item).is_err());
    let all = passed.iter().map(|(item, barriers)| (*item, &barriers[..])).chain(silent.map(|item| (item, &[][..])));
    let (mut longest, mut rest): (Option<Passed<'_>>, Vec<Passed<'_>>) = (None, Vec::new());
    for (item, barriers) in all {
        match longest {
            Some((_, known)) if barriers.len() <= known.len() => rest.push((item, barriers)),
            _ => rest.extend(longest.replace((item, barriers))),
        }
    }
    let (first, reference) = longest?;
    rest.into_iter().find_map(|(item, barriers)| {
        let at = (0..reference.len()).find(|&at| barriers.get(at) != reference.get(at))?;
        Some(Divergence { barrier: reference[at], comes: first, parts: item, seen: Seen::Passed })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(group: u32, item: u32, kind: u8, slot: u8, offset: u64, bytes: u32) -> Record {
        Record { site: 7, kind, slot, offset, bytes, item, group }
    }

    fn ranges() -> Ranges {
        Ranges { first_site: 0, global: vec![Range::whole(3)], local: vec![Range::whole(5)] }
    }

    /// Two groups of so many work-items.
    fn extents(items: u32) -> Extents {
        Extents { grid: [2, 1, 1], block: [items, 1, 1], items: [2 * u64::from(items), 1, 1] }
    }

    #[test]
    fn a_record_is_read_as_the_device_writes_it() {
        let words: [u64; 4] = [9 | 2 << 32 | 129 << 40, 1 << 33, 16 | 4 << 32, 6];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let read = Record { site: 9, kind: 2, slot: 129, offset: 1 << 33, bytes: 16, item: 4, group: 6 };
        assert_eq!(Record::read_all(&bytes), [read]);
    }

    #[test]
    fn each_kind_of_memory_counts_the_barriers_that_order_it() {
        let local_fence = record(0, 0, BARRIER, 0, 0, 1);
        let global_fence = record(0, 0, BARRIER, 0, 0, 2);
        let access = |slot| record(0, 0, 1, slot, 8, 4);
        let records = vec![local_fence, local_fence, access(0), access(128), global_fence, access(0), access(128)];
        let groups = groups(records, &ranges(), extents(1));
        let seen: Vec<(u32, u32)> =
            groups[0].segments.iter().map(|segment| (segment.accesses[0].0.allocation, segment.epochs.block)).collect();
        assert_eq!(seen, [(3, 0), (5, 2), (3, 1), (5, 2)]);
    }

    #[test]
    fn groups_and_items_are_told_apart_and_a_combined_access_is_two() {
        let records = vec![record(1, 1, 0, 0, 0, 4), record(0, 2, 2, 0, 4, 4), record(1, 0, 0, 0, 8, 4)];
        let groups = groups(records, &ranges(), extents(4));
        assert_eq!(groups.iter().map(|group| group.number).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(
            groups[0].segments[0].accesses.iter().map(|it| it.0.kind).collect::<Vec<_>>(),
            [Kind::Read, Kind::Write]
        );
        assert_eq!(groups[1].segments.iter().map(|it| it.thread).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn ranges_and_sites_begin_where_they_are_said_to() {
        let ranges =
            Ranges { first_site: 100, global: vec![Range { allocation: 3, first_byte: 64 }], local: Vec::new() };
        let groups = groups(vec![record(0, 0, 1, 0, 8, 4), record(0, 0, 1, OUTSIDE, 8, 4)], &ranges, extents(1));
        let (shape, offset) = groups[0].segments[0].accesses[0];
        assert_eq!((shape.site, shape.allocation, offset), (107, 3, 72));
        assert_eq!(groups[0].outside, [(107, "write", 4)]);
    }

    #[test]
    fn a_last_group_has_fewer_work_items() {
        // Of seven by three work-items in groups of four by two the last one has three by one.
        let extents = Extents { grid: [2, 2, 1], block: [4, 2, 1], items: [7, 3, 1] };
        assert_eq!([0, 1, 2, 3].map(|group| extents.of_group(group)), [[4, 2, 1], [3, 2, 1], [4, 1, 1], [3, 1, 1]]);
        let barrier = |item| record(3, item, BARRIER, 0, 0, 1);
        let whole = groups(vec![barrier(0), barrier(1), barrier(2)], &ranges(), extents);
        assert_eq!(whole[0].divergence, None);
        // Its second row begins with the fifth work-item of a whole group.
        let second_row = groups(vec![record(1, 3, 1, 0, 0, 4)], &ranges(), extents);
        assert_eq!(second_row[0].segments[0].thread, 4);
    }

    #[test]
    fn what_a_launch_needs_is_the_last_byte_of_each_range() {
        let record = |kind, slot, offset, bytes| Record { site: 0, kind, slot, offset, bytes, item: 0, group: 0 };
        let touched =
            Touched::by(&[record(0, 1, 8, 4), record(1, 1, 4, 16), record(3, 0, 0, 4), record(0, 128, 90, 9)]);
        assert_eq!(touched, Touched { global: BTreeMap::from([(0, 4), (1, 20)]), ..Touched::default() });
        let touched = Touched::by(&[record(BARRIER, 0, 0, 1), record(PARTED, 0, 7, 1), record(1, OUTSIDE, 3, 4)]);
        assert_eq!(touched, Touched { global: BTreeMap::new(), is_outside: true, is_parted: true });
    }

    #[test]
    fn accesses_outside_are_kept_apart() {
        let groups = groups(vec![record(0, 0, 1, OUTSIDE, 64, 4)], &ranges(), extents(1));
        assert_eq!(groups[0].outside, [(7, "write", 4)]);
        assert!(groups[0].segments.is_empty());
    }

    #[test]
    fn work_items_that_part_at_a_barrier_are_found() {
        let found =
            |passed: &[(u32, Vec<u32>)], items| divergence(passed, items).map(|it| (it.barrier, it.comes, it.parts));
        let both = |first: Vec<u32>, second: Vec<u32>| found(&[(0, first), (1, second)], 2);
        assert_eq!(both(vec![1, 2], vec![1, 2]), None);
        assert_eq!(both(vec![1], vec![1, 2]), Some((2, 1, 0)));
        assert_eq!(both(vec![1, 2], vec![1, 3]), Some((2, 0, 1)));
        assert_eq!(found(&[(1, vec![4])], 3), Some((4, 1, 0)));
        assert_eq!(found(&[(1, vec![])], 3), None);
    }

    #[test]
    fn what_is_told_of_a_branch_counts_before_the_barriers_that_were_passed() {
        let told = |kind, barrier, offset| Record { kind, site: barrier, offset, ..record(0, 0, kind, 0, 0, 0) };
        let barrier = record(0, 0, BARRIER, 0, 0, 1);
        let seen = |records: Vec<Record>| groups(records, &ranges(), extents(1))[0].divergence;
        let parted = |seen| Some(Divergence { barrier: 4, comes: 0, parts: 5, seen });
        assert_eq!(seen(vec![told(PARTED_SOMEWHERE, 4, 5 << 32)]), parted(Seen::NobodyCame));
        assert_eq!(
            seen(vec![told(PARTED_SOMEWHERE, 9, 5 << 32), barrier, told(PARTED, 4, 5 << 32)]),
            parted(Seen::Parted)
        );
    }
}
