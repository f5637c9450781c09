//! What one block does in one interval to one allocation: sorted by address, then swept once.

use super::cell;
use super::found::Found;
use super::plan::Plan;
use super::span::Spans;
use crate::memory_model::passed::Passed;
use crate::trace::format::Kind;
use std::ops::Range;

/// Bits of [`Access::manner`] that hold the number of bytes; the others hold the kind.
pub(super) const BYTES_BITS: u32 = 29;

/// One access, at a place of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Access {
    pub(super) start: u64,
    pub(super) site: u32,
    /// Bytes and kind.
    pub(super) manner: u32,
    pub(super) thread: u32,
    /// Which syncs of groups smaller than the block the thread had passed: see [`Interval::passed`].
    pub(super) tile: u32,
}

/// Bytes and kind of an access.
pub(super) fn manner(bytes: u32, kind: Kind) -> u32 {
    bytes | (kind as u32) << BYTES_BITS
}

pub(super) fn bytes_of(manner: u32) -> u32 {
    manner & ((1 << BYTES_BITS) - 1)
}

pub(super) fn kind_of(manner: u32) -> Kind {
    Kind::ALL[(manner >> BYTES_BITS) as usize % Kind::ALL.len()]
}

impl Access {
    pub(super) fn bytes(&self) -> u32 {
        bytes_of(self.manner)
    }

    pub(super) fn kind(&self) -> Kind {
        kind_of(self.manner)
    }

    pub(super) fn end(&self) -> u64 {
        self.start + u64::from(self.bytes())
    }
}

/// Where accesses that are swept together were made.
pub(super) struct Interval<'a> {
    pub(super) plan: &'a Plan<'a>,
    pub(super) block: u64,
    /// Syncs of groups, by [`Access::tile`].
    pub(super) tiles: &'a [Passed],
    /// Whether no two of them have passed equally many syncs of groups of any size: all syncs are of whole warps.
    pub(super) tiles_are_apart: bool,
    /// The places that are looked at; what lies outside is looked at another time.
    pub(super) window: &'a Range<u64>,
    /// Those of them at which conflicts are told.
    pub(super) judged: Range<u64>,
}

impl Interval<'_> {
    pub(super) fn passed(&self, tile: u32) -> &Passed {
        &self.tiles[tile as usize]
    }
}

/// Memory that is used again.
#[derive(Default)]
pub(super) struct Scratch {
    copy: Vec<Access>,
    counts: Vec<u32>,
    members: Vec<Access>,
    bounds: Vec<u64>,
}

/// Sweeps `accesses`, which are put in order. With `spans`, what other blocks may meet is added there.
pub(super) fn sweep(
    accesses: &mut Vec<Access>,
    interval: &Interval<'_>,
    scratch: &mut Scratch,
    mut spans: Option<&mut Spans<'_>>,
    found: &mut Found,
) {
    sort(accesses, scratch);
    let meet = interval.plan.has_threads_that_meet();
    let mut rest = &accesses[..];
    while !rest.is_empty() {
        let (cluster, others) = rest.split_at(cluster(rest));
        rest = others;
        if meet && cluster.len() > 1 && is_suspect(cluster) {
            judge(cluster, interval, scratch, found);
        }
        if let Some(spans) = &mut spans {
            spans.add_cluster(cluster, interval.window, &mut scratch.members);
        }
    }
}

/// How many accesses from the first on overlap each other, directly or through others.
fn cluster(sorted: &[Access]) -> usize {
    let mut end = sorted[0].end();
    let mut length = 1;
    while let Some(next) = sorted.get(length)
        && next.start < end
    {
        end = end.max(next.end());
        length += 1;
    }
    length
}

/// Whether there may be a conflict: two threads, one of them writing, not all the same atomic.
fn is_suspect(cluster: &[Access]) -> bool {
    let first = cluster[0];
    let mut writes = false;
    let mut same_thread = true;
    let mut same_atomic = first.kind() >= Kind::AtomicBlock;
    for access in cluster {
        writes |= access.kind() != Kind::Read;
        same_thread &= access.thread == first.thread;
        same_atomic &= access.manner == first.manner && access.start == first.start;
    }
    writes && !same_thread && !same_atomic
}

/// Judges each stretch of a cluster that the same accesses touch.
fn judge(cluster: &[Access], interval: &Interval<'_>, scratch: &mut Scratch, found: &mut Found) {
    let Scratch { members, bounds, .. } = scratch;
    bounds.clear();
    bounds.extend(cluster.iter().flat_map(|access| [access.start, access.end()]));
    bounds.sort_unstable();
    bounds.dedup();
    let mut active: Vec<Access> = Vec::new();
    let mut next = 0;
    for stretch in bounds.windows(2) {
        active.retain(|access| access.end() > stretch[0]);
        while next < cluster.len() && cluster[next].start <= stretch[0] {
            active.push(cluster[next]);
            next += 1;
        }
        let (start, end) = (stretch[0].max(interval.judged.start), stretch[1].min(interval.judged.end));
        if start < end && active.len() > 1 && is_suspect(&active) {
            members.clone_from(&active);
            let has_syncs_of_warps = interval.tiles.len() > 1 && interval.tiles_are_apart;
            if !has_syncs_of_warps || !cell::is_ordered_by_warps(members) {
                cell::judge(members, start, end - start, interval, found);
            }
        }
    }
}

/// Sorts by place: by counting where accesses lie close together.
fn sort(accesses: &mut Vec<Access>, scratch: &mut Scratch) {
    if accesses.is_sorted_by_key(|access| access.start) {
        return;
    }
    let (least, greatest) = accesses
        .iter()
        .fold((u64::MAX, 0), |(least, greatest), access| (least.min(access.start), greatest.max(access.start)));
    let shift = ((greatest - least) / accesses.len() as u64).max(1).ilog2();
    let slots = ((greatest - least) >> shift) as usize + 1;
    count_into(accesses, scratch, least, shift, slots);
    std::mem::swap(accesses, &mut scratch.copy);
    // What shares a slot is nearly always at one place; otherwise few neighbours are out of order.
    if shift > 0 && !accesses.is_sorted_by_key(|access| access.start) {
        for group in accesses.chunk_by_mut(|one, other| (one.start - least) >> shift == (other.start - least) >> shift)
        {
            group.sort_unstable_by_key(|access| access.start);
        }
    }
}

fn count_into(accesses: &[Access], scratch: &mut Scratch, least: u64, shift: u32, slots: usize) {
    let Scratch { copy, counts, .. } = scratch;
    let slot = |access: &Access| ((access.start - least) >> shift) as usize;
    counts.clear();
    counts.resize(slots + 1, 0);
    for access in accesses {
        counts[slot(access) + 1] += 1;
    }
    for at in 1..counts.len() {
        counts[at] += counts[at - 1];
    }
    copy.clear();
    copy.resize(accesses.len(), accesses[0]);
    for access in accesses {
        let at = &mut counts[slot(access)];
        copy[*at as usize] = *access;
        *at += 1;
    }
}

/// Leaves one of equal accesses; gives how many are left.
pub(super) fn deduplicate(accesses: &mut Vec<Access>) -> usize {
    accesses.sort_unstable();
    accesses.dedup();
    accesses.len()
}
