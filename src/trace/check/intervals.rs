//! The intervals of one block that are not over, and the accesses in them.

use super::sweep::{Access, deduplicate};
use crate::memory_model::Space;
use crate::trace::format::Epochs;
use rustc_hash::FxHashMap;

/// Syncs of grid and block that order accesses.
pub(super) type Phase = (u32, u32);

/// Accesses of one interval to one allocation.
pub(super) struct Bucket {
    pub(super) phase: Phase,
    pub(super) watched: usize,
    pub(super) accesses: Vec<Access>,
}

/// Where accesses are put until their interval is over.
pub(super) struct Intervals {
    buckets: Vec<Bucket>,
    by_phase: FxHashMap<(Phase, usize), usize>,
    /// The syncs passed, once a segment has said them.
    epochs: Option<Epochs>,
    /// Positions in `buckets` under the current syncs, for each watched allocation.
    current: Vec<Option<usize>>,
    held: usize,
    /// Memory of accesses that were swept.
    spare: Vec<Vec<Access>>,
}

impl Intervals {
    /// For so many watched allocations.
    pub(super) fn new(watched: usize) -> Self {
        Intervals {
            buckets: Vec::new(),
            by_phase: FxHashMap::default(),
            epochs: None,
            current: vec![None; watched],
            held: 0,
            spare: Vec::new(),
        }
    }

    /// The accesses in all of them.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// The next segment says which syncs there are.
    pub(super) fn forget_epochs(&mut self) {
        self.epochs = None;
        self.current.fill(None);
    }

    /// What follows stands behind these syncs. Whether that is news.
    pub(super) fn enter(&mut self, epochs: Epochs) -> bool {
        if self.epochs == Some(epochs) {
            return false;
        }
        let interval = |epochs: Epochs| (epochs.grid, epochs.block, epochs.shared_only);
        if self.epochs.map(interval) != Some(interval(epochs)) {
            self.current.fill(None);
        }
        self.epochs = Some(epochs);
        true
    }

    /// Adds accesses to an allocation in the current interval.
    pub(super) fn add(&mut self, watched: usize, space: Space, accesses: impl Iterator<Item = Access>) {
        let at = self.bucket(watched, space);
        let bucket = &mut self.buckets[at].accesses;
        let before = bucket.len();
        bucket.extend(accesses);
        self.held += bucket.len() - before;
    }

    /// The bucket of an allocation under the current syncs.
    fn bucket(&mut self, watched: usize, space: Space) -> usize {
        if let Some(at) = self.current[watched] {
            return at;
        }
        let epochs = self.epochs.unwrap_or_default();
        let orders_all = space == Space::Shared;
        let block = if orders_all { epochs.block } else { epochs.block - epochs.shared_only };
        let phase = (epochs.grid, block);
        let new = self.buckets.len();
        let at = *self.by_phase.entry((phase, watched)).or_insert(new);
        if at == new {
            let accesses = self.spare.pop().unwrap_or_default();
            self.buckets.push(Bucket { phase, watched, accesses });
        }
        self.current[watched] = Some(at);
        at
    }

    /// Takes out what is over.
    pub(super) fn take(&mut self, is_over: impl Fn(&Bucket) -> bool) -> Vec<Bucket> {
        if self.buckets.iter().all(|bucket| !is_over(bucket)) {
            return Vec::new();
        }
        let (over, kept): (Vec<Bucket>, Vec<Bucket>) = self.buckets.drain(..).partition(is_over);
        self.held -= over.iter().map(|bucket| bucket.accesses.len()).sum::<usize>();
        self.buckets = kept;
        self.forget_positions();
        for (at, bucket) in self.buckets.iter().enumerate() {
            self.by_phase.insert((bucket.phase, bucket.watched), at);
        }
        over
    }

    /// Keeps the memory of accesses that were swept.
    pub(super) fn recycle(&mut self, mut accesses: Vec<Access>) {
        accesses.clear();
        self.spare.push(accesses);
    }

    /// Keeps one of each accesses that are equal.
    pub(super) fn deduplicate(&mut self) {
        self.held = self.buckets.iter_mut().map(|bucket| deduplicate(&mut bucket.accesses)).sum();
    }

    /// Forgets all accesses.
    pub(super) fn clear(&mut self) {
        self.buckets.clear();
        self.forget_positions();
        self.held = 0;
    }

    fn forget_positions(&mut self) {
        self.by_phase.clear();
        self.current.fill(None);
    }
}
