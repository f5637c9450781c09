//! What has been found: conflicts by pairs of sites, joined in any order to the same result.

use super::CheckError;
use crate::memory_model::Level;
use crate::trace::format::Kind;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// An access that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Observed {
    /// The block, linear in the grid.
    pub block: u64,
    /// The thread, linear in the block.
    pub thread: u32,
    /// The place in the source.
    pub site: u32,
    /// What it does.
    pub kind: Kind,
    /// Offset of its first byte.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u32,
}

/// Two accesses that conflict. The lower thread comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Witness {
    /// The launch.
    pub launch: u32,
    /// The allocation.
    pub allocation: u32,
    /// A byte that both touch, as an offset.
    pub byte: u64,
    /// The accesses.
    pub accesses: [Observed; 2],
}

/// All conflicts of two sites among threads of one block, or of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Both sites, the lower first.
    pub sites: [u32; 2],
    /// Where the threads of the witness stand to each other. It is [`Level::Warp`] only if no threads of two warps
    /// of one block were seen to conflict here.
    pub level: Level,
    /// At how many bytes it was seen.
    pub bytes: u64,
    /// The first two accesses.
    pub witness: Witness,
}

/// Sites, the lower first, and whether the threads are of two blocks.
type Key = ([u32; 2], Among);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Among {
    OneBlock,
    Blocks,
}

pub(super) fn among(level: Level) -> Among {
    if level == Level::Grid { Among::Blocks } else { Among::OneBlock }
}

/// Whether a witness is of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Yes,
    No,
}

/// The first witnesses at one level.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    bytes: u64,
    /// Of threads of one warp, and of others.
    in_warp: Option<Witness>,
    others: Option<Witness>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    entries: FxHashMap<Key, Entry>,
    /// The launches that it was found in, as far as they were told.
    launches: BTreeSet<u32>,
}

/// The smaller of two things that may be absent.
fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl Found {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Counts `bytes` at which two sites conflict, shown by `witness`.
    pub(super) fn add(&mut self, level: Level, bytes: u64, witness: Witness) {
        let entry = self.entry(level, &witness);
        entry.bytes += bytes;
        let known = if level == Level::Warp { &mut entry.in_warp } else { &mut entry.others };
        *known = least(*known, Some(witness));
    }

    /// Counts bytes at which two sites (the lower first) conflict, at `here`: launch, allocation and byte. Says
    /// whether a witness from there may come before the one that is known.
    pub(super) fn count(&mut self, level: Level, sites: [u32; 2], bytes: u64, here: (u32, u32, u64)) -> Wanted {
        let entry = self.entries.entry((sites, among(level))).or_default();
        entry.bytes += bytes;
        let known = if level == Level::Warp { &entry.in_warp } else { &entry.others };
        let comes_before = |known: &Witness| (known.launch, known.allocation, known.byte) < here;
        if known.as_ref().is_some_and(comes_before) { Wanted::No } else { Wanted::Yes }
    }

    /// Adds a witness to bytes that are counted already.
    pub(super) fn add_witness(&mut self, level: Level, witness: Witness) {
        self.add(level, 0, witness);
    }

    fn entry(&mut self, level: Level, witness: &Witness) -> &mut Entry {
        let [one, other] = witness.accesses.map(|access| access.site);
        self.entries.entry(([one.min(other), one.max(other)], among(level))).or_default()
    }

    pub(super) fn join(&mut self, other: Found) {
        for (key, more) in other.entries {
            let entry = self.entries.entry(key).or_default();
            entry.bytes += more.bytes;
            entry.in_warp = least(entry.in_warp, more.in_warp);
            entry.others = least(entry.others, more.others);
        }
        self.launches.extend(other.launches);
    }

    /// All of it was found in that launch.
    pub(super) fn in_launch(mut self, launch: u32) -> Found {
        self.launches = if self.is_empty() { BTreeSet::new() } else { BTreeSet::from([launch]) };
        self
    }

    /// Both together; in the form in which parallel iterators want it.
    pub(super) fn joined(one: Found, other: Found) -> Result<Found, CheckError> {
        let (mut large, small) = if one.entries.len() < other.entries.len() { (other, one) } else { (one, other) };
        large.join(small);
        Ok(large)
    }

    /// The conflicts, sorted, and the launches.
    pub(super) fn conflicts(self) -> (Vec<Conflict>, BTreeSet<u32>) {
        let launches = self.launches;
        let mut entries: Vec<(Key, Entry)> = self.entries.into_iter().collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        let conflicts = entries.into_iter().filter_map(|((sites, among), entry)| conflict(sites, among, &entry));
        (conflicts.collect(), launches)
    }
}

fn conflict(sites: [u32; 2], among: Among, entry: &Entry) -> Option<Conflict> {
    let level = match (among, entry.others) {
        (Among::Blocks, _) => Level::Grid,
        (Among::OneBlock, Some(_)) => Level::Block,
        (Among::OneBlock, None) => Level::Warp,
    };
    let witness = entry.others.or(entry.in_warp)?;
    Some(Conflict { sites, level, bytes: entry.bytes, witness })
}
