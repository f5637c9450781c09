//! The accesses of one block in one interval that touch the same bytes: which of them conflict.

use super::found::{Found, Observed, Wanted, Witness};
use super::sweep::{Access, Interval};
use crate::memory_model::passed::{self, Passed};
use crate::memory_model::{AccessKind, ByteRange, Level, MemoryOrder, SyncScope, WARP, conflict};
use crate::trace::format::Kind;

/// What an access does, in the words of the memory model.
pub(super) fn access_kind(kind: Kind) -> AccessKind {
    let writes = !kind.only_reads();
    let atomic = |scope| AccessKind::Atomic { writes, order: MemoryOrder::Relaxed, scope };
    match kind {
        Kind::Read => AccessKind::Read,
        Kind::Write => AccessKind::Write,
        Kind::AtomicBlock | Kind::LoadBlock => atomic(SyncScope::Block),
        Kind::AtomicDevice | Kind::LoadDevice => atomic(SyncScope::Grid),
        Kind::AtomicSystem | Kind::LoadSystem => atomic(SyncScope::System),
    }
}

/// Equal accesses of several threads.
#[derive(Clone, Copy)]
struct Class<'a> {
    members: &'a [Access],
    kind: Kind,
    range: ByteRange,
}

impl<'a> Class<'a> {
    fn of(members: &'a [Access]) -> Self {
        let first = members[0];
        Class { members, kind: first.kind(), range: ByteRange { start: first.start.into(), bytes: first.bytes() } }
    }

    fn conflicts(&self, other: &Class<'_>, level: Level) -> bool {
        conflict((access_kind(self.kind), self.range), (access_kind(other.kind), other.range), level)
    }

    /// The lowest thread from `least` on.
    fn from(&self, least: u32) -> Option<u32> {
        let at = self.members.partition_point(|access| access.thread < least);
        self.members.get(at).map(|access| access.thread)
    }
}

/// Judges accesses that all touch the `bytes` bytes from `place` on. They are put in another order.
pub(super) fn judge(members: &mut Vec<Access>, place: u64, bytes: u64, interval: &Interval<'_>, found: &mut Found) {
    members.sort_unstable_by_key(|access| (access.site, access.manner, access.start, access.thread, access.tile));
    members.dedup();
    let classes: Vec<Class<'_>> = members
        .chunk_by(|one, other| (one.site, one.manner, one.start) == (other.site, other.manner, other.start))
        .map(Class::of)
        .collect();
    let mut judged = Judged { place, bytes, interval, found, counted: Vec::new() };
    for (at, one) in classes.iter().enumerate() {
        for other in &classes[at..] {
            judged.judge(one, other);
        }
    }
}

/// Whether threads of one warp alone are here, and none of them writes what another touches before a sync of the
/// warp; `members` are put in another order. For intervals whose syncs are of whole warps.
pub(super) fn is_ordered_by_warps(members: &mut [Access]) -> bool {
    members.sort_unstable_by_key(|access| (access.tile, access.thread));
    let warp = members[0].thread / WARP;
    members.iter().all(|access| access.thread / WARP == warp)
        && members.chunk_by(|one, other| one.tile == other.tile).all(|group| {
            let writes = group.iter().any(|access| access.kind() != Kind::Read);
            !writes || group.iter().all(|access| access.thread == group[0].thread)
        })
}

/// Two accesses: class and thread of each.
type Pair<'a> = [(Class<'a>, u32); 2];

/// What has been said about a stretch of bytes.
struct Judged<'a> {
    place: u64,
    bytes: u64,
    interval: &'a Interval<'a>,
    found: &'a mut Found,
    /// Sites for which the bytes are counted; one site may make accesses of several classes.
    counted: Vec<[u32; 2]>,
}

impl Judged<'_> {
    fn judge(&mut self, one: &Class<'_>, other: &Class<'_>) {
        // Both classes are sorted by site.
        let sites = [one.members[0].site, other.members[0].site];
        // What threads of two warps show is told; what threads of one warp show matters only if there is nothing else.
        if one.conflicts(other, Level::Block) && cross_warps(one, other) {
            self.count(Level::Block, sites, || across_warps(one, other));
        } else if one.conflicts(other, Level::Warp)
            && let Some(pair) = in_one_warp(one, other, self.interval)
        {
            self.count(Level::Warp, sites, || Some(pair));
        }
    }

    fn count<'b>(&mut self, level: Level, sites: [u32; 2], pair: impl FnOnce() -> Option<Pair<'b>>) {
        let bytes = if self.counted.contains(&sites) { 0 } else { self.bytes };
        self.counted.push(sites);
        let watched = self.interval.plan.watched_at(self.place);
        let here = (self.interval.plan.id, watched.allocation, watched.offset(self.place));
        if self.found.count(level, sites, bytes, here) == Wanted::Yes
            && let Some(pair) = pair()
        {
            self.found.add_witness(level, witness(pair, self.place, self.interval));
        }
    }
}

/// Whether the classes have threads of two warps.
fn cross_warps(one: &Class<'_>, other: &Class<'_>) -> bool {
    let warps = |class: &Class<'_>| {
        [class.members[0], class.members[class.members.len() - 1]].map(|access| access.thread / WARP)
    };
    let ([first, last], [other_first, other_last]) = (warps(one), warps(other));
    first < other_last || other_first < last
}

/// The lowest threads of two warps, which nothing but a sync of the whole block orders.
fn across_warps<'a>(one: &Class<'a>, other: &Class<'a>) -> Option<Pair<'a>> {
    let beyond = |low: &Class<'a>, high: &Class<'a>| {
        let first = low.members[0].thread;
        let second = high.from((first / WARP + 1) * WARP)?;
        Some([(*low, first), (*high, second)])
    };
    lower(beyond(one, other), beyond(other, one))
}

fn lower<'a>(one: Option<Pair<'a>>, other: Option<Pair<'a>>) -> Option<Pair<'a>> {
    let threads = |pair: &Pair<'_>| [pair[0].1, pair[1].1];
    match (one, other) {
        (Some(one), Some(other)) if threads(&other) < threads(&one) => Some(other),
        (None, other) => other,
        (one, _) => one,
    }
}

/// Lanes of one warp in which each class has a thread, all of them having passed the same syncs of a group.
#[derive(Clone, Copy, Default)]
struct Lanes {
    one: u32,
    other: u32,
}

/// The lowest two threads of one warp that no sync of a group stands between.
fn in_one_warp<'a>(one: &Class<'a>, other: &Class<'a>, interval: &Interval<'_>) -> Option<Pair<'a>> {
    let best = if interval.tiles.len() <= 1 {
        lowest_of_warps(one, other)
    } else if interval.tiles_are_apart {
        lowest(one, other, |access| access.tile, |_, _| true)
    } else {
        let of_group = |group: u32| {
            let tile = |access: &Access| passed::tile(interval.passed(access.tile), group);
            lowest(one, other, tile, |one, other| passed::common_group(one, other) == group)
        };
        (1..=WARP.ilog2()).filter_map(of_group).min()
    };
    let [low, high] = best?;
    let has = |class: &Class<'_>, thread| class.from(thread) == Some(thread);
    let is_first_one = has(one, low) && has(other, high) && unordered(one, low, other, high, interval);
    Some(if is_first_one { [(*one, low), (*other, high)] } else { [(*other, low), (*one, high)] })
}

/// Whether accesses of the classes by these threads are unordered.
fn unordered(one: &Class<'_>, low: u32, other: &Class<'_>, high: u32, interval: &Interval<'_>) -> bool {
    let of = |class: &Class<'_>, thread: u32| -> Vec<Passed> {
        let from = class.members.partition_point(|access| access.thread < thread);
        let same = class.members[from..].iter().take_while(|access| access.thread == thread);
        same.map(|access| *interval.passed(access.tile)).collect()
    };
    let group = passed::common_group(low, high);
    let highs = of(other, high);
    of(one, low).iter().any(|first| highs.iter().any(|second| passed::unordered_in_block(first, second, group)))
}

/// The lowest two threads of a warp for which `tile` gives the same and `admits` says yes.
fn lowest(
    one: &Class<'_>,
    other: &Class<'_>,
    tile: impl Fn(&Access) -> u32,
    admits: impl Fn(u32, u32) -> bool,
) -> Option<[u32; 2]> {
    let mut lanes: Vec<((u32, u32), Lanes)> = Vec::new();
    let mut ordered: Vec<(u32, u32, u32, bool)> = Vec::new();
    let of = |access: &Access, is_one| (access.thread / WARP, tile(access), access.thread % WARP, is_one);
    ordered.extend(one.members.iter().map(|access| of(access, true)));
    ordered.extend(other.members.iter().map(|access| of(access, false)));
    ordered.sort_unstable();
    for (warp, tile, lane, is_one) in ordered {
        if lanes.last().is_none_or(|(key, _)| *key != (warp, tile)) {
            lanes.push(((warp, tile), Lanes::default()));
        }
        if let Some((_, lanes)) = lanes.last_mut() {
            *(if is_one { &mut lanes.one } else { &mut lanes.other }) |= 1 << lane;
        }
    }
    lanes
        .iter()
        .filter_map(|((warp, _), lanes)| lowest_lanes(*lanes, &admits).map(|pair| pair.map(|lane| warp * WARP + lane)))
        .min()
}

/// The same where no thread has passed a sync of a group.
fn lowest_of_warps(one: &Class<'_>, other: &Class<'_>) -> Option<[u32; 2]> {
    let (mut ones, mut others) = (one.members, other.members);
    while let ([first, ..], [second, ..]) = (ones, others) {
        let warp = (first.thread / WARP).max(second.thread / WARP);
        let mut lanes = Lanes::default();
        for (rest, lanes) in [(&mut ones, &mut lanes.one), (&mut others, &mut lanes.other)] {
            while let [access, left @ ..] = *rest
                && access.thread / WARP <= warp
            {
                *lanes |= u32::from(access.thread / WARP == warp) << (access.thread % WARP);
                *rest = left;
            }
        }
        if let Some(pair) = lowest_lanes(lanes, |_, _| true) {
            return Some(pair.map(|lane| warp * WARP + lane));
        }
    }
    None
}

fn lowest_lanes(lanes: Lanes, admits: impl Fn(u32, u32) -> bool) -> Option<[u32; 2]> {
    for low in 0..WARP {
        let partners = (if lanes.one >> low & 1 == 1 { lanes.other } else { 0 })
            | (if lanes.other >> low & 1 == 1 { lanes.one } else { 0 });
        let high = (low + 1..WARP).find(|&high| partners >> high & 1 == 1 && admits(low, high));
        if let Some(high) = high {
            return Some([low, high]);
        }
    }
    None
}

fn witness(pair: Pair<'_>, place: u64, interval: &Interval<'_>) -> Witness {
    let watched = interval.plan.watched_at(place);
    let accesses = pair.map(|(class, thread)| Observed {
        block: interval.block,
        thread,
        site: class.members[0].site,
        kind: class.kind,
        offset: watched.offset(class.members[0].start),
        bytes: class.range.bytes,
    });
    Witness { launch: interval.plan.id, allocation: watched.allocation, byte: watched.offset(place), accesses }
}
