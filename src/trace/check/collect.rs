//! The accesses of each block, interval after interval, swept when the interval is over.

use super::found::Found;
use super::frame::Frame;
use super::partition::Partitions;
use super::plan::Plan;
use super::span::Spans;
use super::sweep::{self, Access, BYTES_BITS, Interval, Scratch, deduplicate, manner};
use super::{CheckError, Checking};
use crate::memory_model::Space;
use crate::memory_model::passed::{self, Passed};
use crate::trace::format::accesses::Begins;
use crate::trace::format::bytes::Malformed;
use crate::trace::format::log::ChunkPlace;
use crate::trace::format::{AccessesHead, Epochs, Run, Shape, Visitor};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::PoisonError;

/// Checks what happens within the blocks of a chain of chunks, and puts what others may meet into `partitions`.
pub(super) fn chain(
    checking: &Checking<'_>,
    plan: &Plan<'_>,
    chain: &[ChunkPlace],
    partitions: &Partitions<'_>,
) -> Result<Found, CheckError> {
    let mut staged = Vec::new();
    let places = plan.places();
    let mut collector = Collector::new(checking, plan, partitions, places.clone(), None, &mut staged);
    collector.read(chain)?;
    let Collector { mut found, too_large, .. } = collector;
    for block in too_large {
        in_slices(checking, plan, chain, partitions, (block, places.clone()), &mut found, &mut staged)?;
    }
    partitions.unstage(&mut staged);
    Ok(found)
}

/// Looks at one block in so many slices of the places that each fits into memory.
fn in_slices(
    checking: &Checking<'_>,
    plan: &Plan<'_>,
    chain: &[ChunkPlace],
    partitions: &Partitions<'_>,
    (block, window): (u64, Range<u64>),
    found: &mut Found,
    staged: &mut Vec<Frame>,
) -> Result<(), CheckError> {
    let mut open = vec![window];
    while let Some(window) = open.pop() {
        let mut collector = Collector::new(checking, plan, partitions, window.clone(), Some(block), staged);
        collector.read(chain)?;
        if collector.too_large.is_empty() {
            found.join(collector.found);
        } else {
            let middle = window.start + (window.end - window.start) / 2;
            open.extend([middle..window.end, window.start..middle]);
        }
    }
    Ok(())
}

/// Bytes that one collected access may touch.
const PIECE: u32 = 1 << (BYTES_BITS - 1);

/// Accesses of one interval to one allocation.
struct Bucket {
    /// Syncs of grid and block that order the accesses.
    phase: (u32, u32),
    watched: usize,
    accesses: Vec<Access>,
}

struct Collector<'a> {
    checking: &'a Checking<'a>,
    plan: &'a Plan<'a>,
    partitions: &'a Partitions<'a>,
    window: Range<u64>,
    /// Whether these are not all places.
    is_slice: bool,
    /// The only block of interest, if there is one.
    only: Option<u64>,
    staged: &'a mut Vec<Frame>,
    /// Of the chunk: which shapes matter, as positions in the plan.
    shapes: Vec<Option<(Shape, usize)>>,
    block: Option<u64>,
    /// Whether the block is of no interest, or has been given up.
    is_skipped: bool,
    buckets: Vec<Bucket>,
    by_phase: FxHashMap<((u32, u32), usize), usize>,
    epochs: Option<Epochs>,
    /// Positions in `buckets` under the current syncs, for each watched allocation.
    current: Vec<Option<usize>>,
    tiles: Vec<Passed>,
    by_tile: FxHashMap<[u32; 5], u32>,
    /// Whether the first so many tiles are apart.
    apart: (usize, bool),
    tile: u32,
    held: usize,
    limit: usize,
    scratch: Scratch,
    spare: Vec<Vec<Access>>,
    /// Of the current block.
    found_here: Found,
    found: Found,
    too_large: Vec<u64>,
}

impl<'a> Collector<'a> {
    fn new(
        checking: &'a Checking<'a>,
        plan: &'a Plan<'a>,
        partitions: &'a Partitions<'a>,
        window: Range<u64>,
        only: Option<u64>,
        staged: &'a mut Vec<Frame>,
    ) -> Self {
        // A single place cannot be split any further; it has few accesses that differ.
        let is_smallest = window.end - window.start <= 1;
        let limit = if is_smallest { usize::MAX } else { checking.budget.accesses() };
        Collector {
            checking,
            plan,
            partitions,
            is_slice: window != plan.places(),
            window,
            only,
            staged,
            shapes: Vec::new(),
            block: None,
            is_skipped: true,
            buckets: Vec::new(),
            by_phase: FxHashMap::default(),
            epochs: None,
            current: vec![None; plan.watched.len()],
            tiles: Vec::new(),
            by_tile: FxHashMap::default(),
            apart: (0, true),
            tile: 0,
            held: 0,
            limit,
            scratch: Scratch::default(),
            spare: Vec::new(),
            found_here: Found::default(),
            found: Found::default(),
            too_large: Vec::new(),
        }
    }

    fn read(&mut self, chain: &[ChunkPlace]) -> Result<(), CheckError> {
        for (at, place) in chain.iter().enumerate() {
            let payload = {
                let mut file = self.checking.file.lock().unwrap_or_else(PoisonError::into_inner);
                place.payload(&mut *file).map_err(CheckError::Read)?
            };
            let (head, steps) = AccessesHead::read(&payload).map_err(|_| CheckError::Changed)?;
            self.shapes = head.shapes.iter().map(|shape| self.watch(*shape)).collect();
            head.visit(steps, self).map_err(|_| CheckError::Changed)?;
            // What is still open goes on in the next part; what lies before all that comes is over. The leasts
            // count syncs that order global memory; those that order shared memory are as many at least.
            let least = chain[at + 1..].iter().filter_map(|chunk| chunk.continued).min();
            if let Some(least) = least {
                self.sweep(|bucket| bucket.phase < least);
            }
        }
        self.end_block();
        Ok(())
    }

    fn watch(&self, shape: Shape) -> Option<(Shape, usize)> {
        let at = *self.plan.by_allocation.get(&shape.allocation)?;
        (shape.bytes > 0).then_some((shape, at))
    }

    fn end_block(&mut self) {
        self.sweep(|_| true);
        if !self.found_here.is_empty() {
            self.found.join(std::mem::take(&mut self.found_here));
        }
        self.block = None;
        self.is_skipped = true;
        self.tiles.clear();
        self.by_tile.clear();
        self.apart = (0, true);
    }

    /// The block has too many accesses in one interval: it is looked at later, in slices.
    fn give_up(&mut self) {
        self.too_large.extend(self.block);
        self.is_skipped = true;
        self.found_here = Found::default();
        self.buckets.clear();
        self.forget_buckets();
        self.held = 0;
    }

    fn forget_buckets(&mut self) {
        self.by_phase.clear();
        self.current.fill(None);
    }

    /// Sweeps the intervals that are over.
    fn sweep(&mut self, is_over: impl Fn(&Bucket) -> bool) {
        if self.buckets.iter().all(|bucket| !is_over(bucket)) {
            return;
        }
        let (over, kept): (Vec<Bucket>, Vec<Bucket>) = self.buckets.drain(..).partition(is_over);
        for bucket in over {
            self.sweep_bucket(bucket);
        }
        self.buckets = kept;
        self.forget_buckets();
        for (at, bucket) in self.buckets.iter().enumerate() {
            self.by_phase.insert((bucket.phase, bucket.watched), at);
        }
    }

    fn sweep_bucket(&mut self, mut bucket: Bucket) {
        let Some(block) = self.block else { return };
        self.held -= bucket.accesses.len();
        let tiles_are_apart = self.tiles_are_apart();
        let (tiles, window) = (&self.tiles, &self.window);
        let interval = Interval { plan: self.plan, block, tiles, tiles_are_apart, window };
        let (accesses, scratch, found) = (&mut bucket.accesses, &mut self.scratch, &mut self.found_here);
        if self.partitions.wants(bucket.watched) {
            let mut spans = Spans::new(self.partitions, block, bucket.phase.0, self.staged);
            sweep::sweep(accesses, &interval, scratch, Some(&mut spans), found);
            spans.finish();
        } else {
            sweep::sweep(accesses, &interval, scratch, None, found);
        }
        bucket.accesses.clear();
        self.spare.push(bucket.accesses);
    }

    /// See [`Interval::tiles_are_apart`].
    fn tiles_are_apart(&mut self) -> bool {
        let (known, answer) = self.apart;
        if known == self.tiles.len() {
            return answer;
        }
        let distinct = |group: u32| {
            let mut counts: Vec<u32> = self.tiles.iter().map(|passed| passed::tile(passed, group)).collect();
            counts.sort_unstable();
            counts.windows(2).all(|pair| pair[0] != pair[1])
        };
        self.apart = (self.tiles.len(), (1..=5).all(distinct));
        self.apart.1
    }

    /// The bucket of an allocation under the current syncs.
    fn bucket(&mut self, watched: usize) -> usize {
        if let Some(at) = self.current[watched] {
            return at;
        }
        let epochs = self.epochs.unwrap_or_default();
        let reached = (epochs.grid, epochs.block - epochs.shared_only);
        let orders_all = self.plan.watched[watched].space == Space::Shared;
        let phase = if orders_all { (epochs.grid, epochs.block) } else { reached };
        let new = self.buckets.len();
        let at = *self.by_phase.entry((phase, watched)).or_insert(new);
        if at == new {
            let accesses = self.spare.pop().unwrap_or_default();
            self.buckets.push(Bucket { phase, watched, accesses });
        }
        self.current[watched] = Some(at);
        at
    }

    fn set_epochs(&mut self, epochs: Epochs) {
        if self.epochs == Some(epochs) {
            return;
        }
        let same_interval = self.epochs.is_some_and(|last| {
            (last.grid, last.block, last.shared_only) == (epochs.grid, epochs.block, epochs.shared_only)
        });
        if !same_interval {
            self.current.fill(None);
        }
        self.epochs = Some(epochs);
        self.tile = if let Some(&tile) = self.by_tile.get(&epochs.tile) {
            tile
        } else {
            let tile = self.tiles.len() as u32;
            self.tiles.push(Passed { tile: epochs.tile, ..Passed::default() });
            self.by_tile.insert(epochs.tile, tile);
            tile
        };
    }

    /// The accesses of one place in the segments of a run; long ones in pieces, since an access here holds few bytes.
    fn columns(&mut self, run: &Run<'_>, (shape, watched): (Shape, usize), offset: u64, stride: u64) {
        let mut done = 0;
        while done < shape.bytes {
            let bytes = (shape.bytes - done).min(PIECE);
            self.column(run, (Shape { bytes, ..shape }, watched), offset + u64::from(done), stride);
            done += bytes;
        }
    }

    fn column(&mut self, run: &Run<'_>, (shape, watched): (Shape, usize), offset: u64, stride: u64) {
        let seen = &self.plan.watched[watched];
        let end = offset.wrapping_add(stride.wrapping_mul(run.count - 1));
        let touches = |start: u64, last: u64, range: &Range<u64>| {
            start < range.end && last + u64::from(shape.bytes) > range.start
        };
        let (low, high) = (offset.min(end), offset.max(end));
        if !touches(low, high, &seen.written) {
            return;
        }
        let inside = low >= seen.written.start && high < seen.written.end;
        let (is_slice, written) = (self.is_slice, seen.written.clone());
        let base = seen.place(0);
        let at = self.bucket(watched);
        let tile = self.tile;
        let before = self.buckets[at].accesses.len();
        let accesses = &mut self.buckets[at].accesses;
        let (mut offset, mut thread) = (offset, run.thread);
        let manner = manner(shape.bytes, shape.kind);
        for _ in 0..run.count {
            let start = base.wrapping_add(offset);
            let is_seen =
                (inside || touches(offset, offset, &written)) && (!is_slice || touches(start, start, &self.window));
            if is_seen {
                accesses.push(Access { start, site: shape.site, manner, thread, tile });
            }
            offset = offset.wrapping_add(stride);
            thread = thread.wrapping_add(run.step);
        }
        self.held += accesses.len() - before;
    }

    /// Makes room, or gives the block up.
    fn relieve(&mut self) {
        self.held = self.buckets.iter_mut().map(|bucket| deduplicate(&mut bucket.accesses)).sum();
        if self.held > self.limit / 2 {
            self.give_up();
        }
    }
}

impl Visitor for Collector<'_> {
    fn block(&mut self, block: u64, begins: Begins) -> Result<(), Malformed> {
        let goes_on = begins == Begins::Earlier && self.block == Some(block);
        if !goes_on {
            self.end_block();
            self.block = Some(block);
            self.is_skipped = self.only.is_some_and(|only| only != block);
        }
        // The next segment says which syncs there are.
        self.epochs = None;
        self.current.fill(None);
        Ok(())
    }

    fn run(&mut self, run: &Run<'_>) -> Result<(), Malformed> {
        if self.is_skipped {
            return Ok(());
        }
        self.set_epochs(run.epochs);
        for ((&shape, &offset), &stride) in run.shapes.iter().zip(run.offsets).zip(run.strides) {
            if let Some(watched) = self.shapes[shape as usize] {
                self.columns(run, watched, offset, stride);
            }
        }
        if self.held > self.limit {
            self.relieve();
        }
        Ok(())
    }
}
