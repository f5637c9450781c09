//! Conflicts of one run: a sink that hashes the exact accesses by address.
//!
//! For each few bytes of memory (a *granule*: four, or more where a struct of thousands is copied) and each interval it keeps a few accesses of each kind: the
//! two lowest threads that touch the same bytes at the same site stand for all, since whoever conflicts with
//! a third conflicts with one of them. Who has passed a barrier of its warp conflicts with other warps alone: so a third thread
//! is kept where the two are of one warp. The cost of an access does not grow with the number of threads. Barriers that are
//! for some threads only (tiles, masks, objects) order a thread with any others: where a kernel has one, nobody stands for
//! another thread of the block.

use crate::arena::Arena;
use crate::calculus::eval::{Event, Kind, Meeting, Program, Sink, Stamp, ThreadId, Value, WARP};
use crate::calculus::statements::every;
use crate::calculus::{ArrayId, Kernel, Site, SiteId, Space, Stmt};
use crate::memory_model::met::{Met, Stands};
use crate::memory_model::{AccessKind, ByteRange, Level, conflict, may_meet};
use rustc_hash::{FxHashMap, FxHashSet};

/// Bytes of the smallest granule.
const GRANULE: u32 = 4;
/// An access covers about so many granules at most. What meets in a granule is compared byte for byte.
const MOST_GRANULES: u32 = 32;
/// Representatives of equal accesses that a granule keeps.
const REPRESENTATIVES: usize = 2;
/// Pairs of sites that a search reports. A kernel with more is broken in one place that all of them share.
pub(super) const MAX_FOUND: usize = 512;
/// Accesses and meetings that are looked at in all, before nothing more is looked for: objects that count arrivals order
/// without ending an interval, so that many accesses stand in one.
const MOST_EFFORT: u64 = 200_000_000;
/// End of a chain.
const NONE: u32 = u32::MAX;

/// Which conflicts are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Between threads of one block.
    pub block: bool,
    /// Between threads of different blocks.
    pub grid: bool,
}

/// Two sites, the lower first, and whether the threads are of one block ([`Level::Block`]) or not.
pub(super) type Key = (SiteId, SiteId, Level);

/// The key of two sites in any order.
pub(super) fn key(one: SiteId, other: SiteId, level: Level) -> Key {
    (one.min(other), one.max(other), level)
}

/// The best conflict of a key in one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Both accesses, with their position in the stream of events; the lower thread first.
    pub(super) accesses: [(Event, u64); 2],
    /// The later of their phases: what happens before it comes earlier.
    pub(super) phase: u32,
    /// A byte that both touch.
    pub(super) byte: i64,
    /// Whether some conflict of the key in this run is between threads of two warps.
    pub(super) across_warps: bool,
}

impl Candidate {
    fn rank(&self) -> (u32, ThreadId, ThreadId, u64, u64) {
        let [one, two] = &self.accesses;
        (self.phase, one.0.thread, two.0.thread, one.1, two.1)
    }
}

#[derive(Clone, Copy)]
struct Entry {
    event: Event,
    ordinal: u64,
    next: u32,
}

/// Where accesses can meet: array, block (or none), syncs passed, granule.
type Place = (ArrayId, u32, u32, i64);

#[derive(Clone, Copy)]
struct Chains {
    reads: u32,
    writes: u32,
}

/// What an access of a thread is, however often the thread makes it.
type Own = (ThreadId, SiteId, Option<i64>, u32, Kind, Stamp);

pub(super) struct Sweep {
    levels: Levels,
    spaces: Vec<Space>,
    /// The bytes of a granule of each array.
    granules: Vec<i64>,
    entries: Vec<Entry>,
    chains: FxHashMap<Place, Chains>,
    ordinal: u64,
    /// What has been looked at in all runs.
    effort: u64,
    pub(super) found: FxHashMap<Key, Candidate>,
    /// The sites of the kernel.
    sites: Arena<Site>,
    /// Whether a barrier is for some threads only.
    has_some: bool,
    /// Who met at such barriers.
    met: Met,
    /// What was joined of each thread of a block, if there are such barriers.
    joined: FxHashSet<(Place, Own)>,
    /// Of each site, over all runs: whether it made inexact accesses, and exact ones.
    seen: Vec<[bool; 2]>,
    /// Of each site, who made exact accesses there in this run.
    reached: Vec<Reached>,
}

/// Who makes exact accesses at a site.
#[derive(Clone, Copy, Default)]
struct Reached {
    last: Option<ThreadId>,
    by_several_of_a_block: bool,
    by_several_blocks: bool,
}

impl Reached {
    fn note(&mut self, thread: ThreadId) {
        if let Some(last) = self.last.filter(|&last| last != thread) {
            self.by_several_of_a_block |= last.block == thread.block;
            self.by_several_blocks |= last.block != thread.block;
        }
        self.last = Some(thread);
    }
}

pub(super) fn access_kind(kind: Kind) -> AccessKind {
    match kind {
        Kind::Read => AccessKind::Read,
        Kind::Write => AccessKind::Write,
        Kind::Atomic { writes, order, scope } => AccessKind::Atomic { writes, order, scope },
    }
}

/// Where the threads of two accesses stand to each other.
fn level_of(one: &Event, other: &Event) -> Level {
    let clusters = [one.cluster, other.cluster];
    let (one, other) = (one.thread, other.thread);
    if one.block != other.block {
        if clusters[0] == clusters[1] { Level::Cluster } else { Level::Grid }
    } else if one.thread / WARP == other.thread / WARP {
        Level::Warp
    } else {
        Level::Block
    }
}

/// Whether no sync that both passed stands between two accesses.
pub(super) fn is_unordered(one: Stamp, other: Stamp, level: Level) -> bool {
    match level {
        Level::Warp => one.warp == other.warp,
        Level::Block => one.block == other.block,
        Level::Cluster => one.cluster == other.cluster,
        Level::Grid => one.grid == other.grid,
    }
}

/// Whether two exact accesses to one array conflict.
pub(super) fn do_conflict((one, other): (&Event, &Event), space: Space, sites: &Arena<Site>, met: &Met) -> bool {
    let level = level_of(one, other);
    let range = |event: &Event| ByteRange { start: i128::from(event.offset.unwrap_or(0)), bytes: event.bytes };
    one.thread != other.thread
        && may_meet(space, level)
        && is_unordered(one.stamp, other.stamp, level)
        && (!level.is_one_block() || !met.orders(one.thread.block, Stands::of(one, sites), Stands::of(other, sites)))
        && conflict((access_kind(one.kind), range(one)), (access_kind(other.kind), range(other)), level)
}

impl Sweep {
    pub(super) fn new(kernel: &Kernel, program: &Program, levels: Levels) -> Self {
        let mut has_some = false;
        every(&kernel.body, |stmt| has_some |= matches!(stmt, Stmt::Sync { among, .. } if !among.is_everyone()));
        let granule = |largest: u32| i64::from((largest / MOST_GRANULES).max(GRANULE));
        Sweep {
            levels,
            granules: program.largest_accesses().into_iter().map(granule).collect(),
            spaces: kernel.arrays.iter().map(|(_, array)| array.space).collect(),
            entries: Vec::new(),
            chains: FxHashMap::default(),
            ordinal: 0,
            effort: 0,
            found: FxHashMap::default(),
            sites: kernel.sites.clone(),
            has_some,
            met: Met::default(),
            joined: FxHashSet::default(),
            seen: vec![[false; 2]; kernel.sites.len()],
            reached: vec![Reached::default(); kernel.sites.len()],
        }
    }

    /// Whether a site has been reached, and never with certainty or at a known address.
    pub(super) fn is_never_exact(&self, site: SiteId) -> bool {
        self.seen[site.index()] == [true, false]
    }

    /// Where several threads made exact accesses in this run, of one block or of several.
    pub(super) fn reached(&self) -> impl Iterator<Item = (SiteId, Level)> + '_ {
        let levels = |site: SiteId| {
            let Reached { by_several_of_a_block, by_several_blocks, .. } = self.reached[site.index()];
            [by_several_of_a_block.then_some(Level::Block), by_several_blocks.then_some(Level::Grid)]
        };
        self.sites.handles().flat_map(move |site| levels(site).into_iter().flatten().map(move |level| (site, level)))
    }

    /// Forgets the run before, keeping its memory.
    pub(super) fn forget_run(&mut self) {
        self.entries.clear();
        self.chains.clear();
        self.found.clear();
        self.met.clear();
        self.joined.clear();
        self.reached.fill(Reached::default());
        self.ordinal = 0;
    }

    /// Meets the accesses of the same granule and interval, then joins them.
    fn enlist(&mut self, event: &Event, place: Place, level: Level) {
        if self.found.len() >= MAX_FOUND {
            return;
        }
        let chains = *self.chains.entry(place).or_insert(Chains { reads: NONE, writes: NONE });
        let is_read = event.kind == Kind::Read;
        self.compare(event, chains.writes, level);
        if !is_read {
            self.compare(event, chains.reads, level);
        }
        let head = if is_read { chains.reads } else { chains.writes };
        let is_known = match self.has_some && level != Level::Grid {
            true => {
                let own = (event.thread, event.site, event.offset, event.bytes, event.kind, event.stamp);
                !self.joined.insert((place, own))
            }
            false => self.is_represented(event, head, level),
        };
        if is_known {
            return;
        }
        self.entries.push(Entry { event: *event, ordinal: self.ordinal, next: head });
        let head = self.entries.len() as u32 - 1;
        if let Some(chains) = self.chains.get_mut(&place) {
            *(if is_read { &mut chains.reads } else { &mut chains.writes }) = head;
        }
    }

    /// Whether the chain holds this access already, or two others that stand for it.
    fn is_represented(&self, event: &Event, head: u32, level: Level) -> bool {
        let alike = |other: &Event| {
            let same_access = (other.site, other.offset, other.bytes, other.kind)
                == (event.site, event.offset, event.bytes, event.kind);
            let alike_to_others = match level {
                Level::Grid => (other.cluster, other.stamp.cluster) == (event.cluster, event.stamp.cluster),
                _ => other.stamp == event.stamp,
            };
            same_access && alike_to_others
        };
        let warp = |event: &Event| event.thread.thread / WARP;
        let (mut seen, mut is_of_warp, mut are_of_two) = (0, level == Level::Grid, false);
        let mut first = None;
        let mut at = head;
        while at != NONE {
            let entry = &self.entries[at as usize];
            if alike(&entry.event) {
                seen += 1;
                is_of_warp |= warp(&entry.event) == warp(event);
                are_of_two |= *first.get_or_insert(warp(&entry.event)) != warp(&entry.event);
                if entry.event.thread == event.thread || seen >= REPRESENTATIVES && (is_of_warp || are_of_two) {
                    return true;
                }
            }
            at = entry.next;
        }
        false
    }

    fn compare(&mut self, event: &Event, head: u32, level: Level) {
        let mut at = head;
        while at != NONE {
            let Entry { event: other, ordinal, next } = self.entries[at as usize];
            let apart = other.thread.block != event.thread.block;
            self.effort += 1 + u64::from(other.stamp.met.abs_diff(event.stamp.met));
            if apart == (level == Level::Grid)
                && do_conflict((&other, event), self.spaces[event.array.index()], &self.sites, &self.met)
            {
                self.record((other, ordinal), (*event, self.ordinal));
            }
            at = next;
        }
    }

    fn record(&mut self, one: (Event, u64), other: (Event, u64)) {
        let level = level_of(&one.0, &other.0);
        let name = if level.is_one_block() { Level::Block } else { Level::Grid };
        let accesses = if one.0.thread <= other.0.thread { [one, other] } else { [other, one] };
        let key = key(one.0.site, other.0.site, name);
        let phase = one.0.phase.max(other.0.phase);
        let byte = one.0.offset.max(other.0.offset).unwrap_or(0);
        let across_warps = level == Level::Block;
        let candidate = Candidate { accesses, phase, byte, across_warps };
        match self.found.entry(key) {
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(candidate);
            }
            std::collections::hash_map::Entry::Occupied(mut entry) => {
                let across_warps = across_warps || entry.get().across_warps;
                if candidate.rank() < entry.get().rank() {
                    entry.insert(candidate);
                }
                entry.get_mut().across_warps = across_warps;
            }
        }
    }
}

impl Sink for Sweep {
    fn met(&mut self, block: u32, meeting: Meeting<'_>) {
        self.met.note(block, meeting);
    }

    fn access(&mut self, event: &Event, _locals: &[Value]) {
        let space = self.spaces[event.array.index()];
        self.seen[event.site.index()][usize::from(event.exact)] = true;
        if event.exact {
            self.reached[event.site.index()].note(event.thread);
        }
        if event.exact && may_meet(space, Level::Block) {
            let start = event.offset.unwrap_or(0);
            let end = start.saturating_add(i64::from(event.bytes) - 1);
            let size = self.granules[event.array.index()];
            for granule in start.div_euclid(size)..=end.div_euclid(size) {
                if self.levels.block {
                    self.enlist(event, (event.array, event.thread.block, event.stamp.block, granule), Level::Block);
                }
                if self.levels.grid && may_meet(space, Level::Cluster) {
                    self.enlist(event, (event.array, NONE, event.stamp.grid, granule), Level::Grid);
                }
            }
        }
        self.ordinal += 1;
    }

    fn wants_more(&self) -> bool {
        self.effort < MOST_EFFORT
    }
}
