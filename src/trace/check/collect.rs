//! The accesses of each block, interval after interval, swept when the interval is over.

use super::found::Found;
use super::frame::Frame;
use super::intervals::{Bucket, Intervals};
use super::partition::Partitions;
use super::plan::Plan;
use super::span::Spans;
use super::sweep::{self, Access, BYTES_BITS, Interval, Scratch, manner};
use super::tiles::Tiles;
use super::{CheckError, Checking};
use crate::trace::format::accesses::Begins;
use crate::trace::format::bytes::Malformed;
use crate::trace::format::log::ChunkPlace;
use crate::trace::format::{AccessesHead, Run, Shape, Visitor};
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
    let mut collector =
        Collector::new(checking, plan, partitions, Part::new(checking, plan, places.clone(), None), &mut staged);
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
        let part = Part::new(checking, plan, window.clone(), Some(block));
        let mut collector = Collector::new(checking, plan, partitions, part, staged);
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

/// Which accesses a collector looks at.
struct Part {
    window: Range<u64>,
    /// Whether these are not all places.
    is_slice: bool,
    /// The only block of interest, if there is one.
    only: Option<u64>,
    /// The accesses that may be held.
    limit: usize,
}

impl Part {
    fn new(checking: &Checking<'_>, plan: &Plan<'_>, window: Range<u64>, only: Option<u64>) -> Self {
        // A single place cannot be split any further; it has few accesses that differ.
        let is_smallest = window.end - window.start <= 1;
        let limit = if is_smallest { usize::MAX } else { checking.budget.accesses() };
        Part { is_slice: window != plan.places(), window, only, limit }
    }
}

struct Collector<'a> {
    checking: &'a Checking<'a>,
    plan: &'a Plan<'a>,
    partitions: &'a Partitions<'a>,
    part: Part,
    staged: &'a mut Vec<Frame>,
    /// Of the chunk: which shapes matter, as positions in the plan.
    shapes: Vec<Option<(Shape, usize)>>,
    block: Option<u64>,
    /// Whether the block is of no interest, or has been given up.
    is_skipped: bool,
    intervals: Intervals,
    tiles: Tiles,
    scratch: Scratch,
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
        part: Part,
        staged: &'a mut Vec<Frame>,
    ) -> Self {
        Collector {
            checking,
            plan,
            partitions,
            part,
            staged,
            shapes: Vec::new(),
            block: None,
            is_skipped: true,
            intervals: Intervals::new(plan.watched.len()),
            tiles: Tiles::default(),
            scratch: Scratch::default(),
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
    }

    /// The block has too many accesses in one interval: it is looked at later, in slices.
    fn give_up(&mut self) {
        self.too_large.extend(self.block);
        self.is_skipped = true;
        self.found_here = Found::default();
        self.intervals.clear();
    }

    /// Sweeps the intervals that are over.
    fn sweep(&mut self, is_over: impl Fn(&Bucket) -> bool) {
        for bucket in self.intervals.take(is_over) {
            self.sweep_bucket(bucket);
        }
    }

    fn sweep_bucket(&mut self, mut bucket: Bucket) {
        let Some(block) = self.block else { return };
        let tiles_are_apart = self.tiles.are_apart();
        let (tiles, window) = (self.tiles.all(), &self.part.window);
        let of_shard = self.plan.watched[bucket.watched].places();
        let judged = window.start.max(of_shard.start)..window.end.min(of_shard.end);
        let interval = Interval { plan: self.plan, block, tiles, tiles_are_apart, window, judged };
        let (accesses, scratch, found) = (&mut bucket.accesses, &mut self.scratch, &mut self.found_here);
        if self.partitions.wants(bucket.watched) {
            let mut spans = Spans::new(self.partitions, block, bucket.phase.0, self.staged);
            sweep::sweep(accesses, &interval, scratch, Some(&mut spans), found);
            spans.finish();
        } else {
            sweep::sweep(accesses, &interval, scratch, None, found);
        }
        self.intervals.recycle(bucket.accesses);
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
        let Part { is_slice, window, .. } = &self.part;
        let base = seen.place(0);
        let (manner, tile) = (manner(shape.bytes, shape.kind), self.tiles.current());
        let segment = |number: u64| {
            let offset = offset.wrapping_add(stride.wrapping_mul(number));
            let start = base.wrapping_add(offset);
            let is_seen =
                (inside || touches(offset, offset, &seen.written)) && (!is_slice || touches(start, start, window));
            let thread = run.thread.wrapping_add(run.step.wrapping_mul(number as u32));
            is_seen.then_some(Access { start, site: shape.site, manner, thread, tile })
        };
        self.intervals.add(watched, seen.space, (0..run.count).filter_map(segment));
    }

    /// Makes room, or gives the block up.
    fn relieve(&mut self) {
        self.intervals.deduplicate();
        if self.intervals.held() > self.part.limit / 2 {
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
            self.is_skipped = self.part.only.is_some_and(|only| only != block);
        }
        self.intervals.forget_epochs();
        Ok(())
    }

    fn run(&mut self, run: &Run<'_>) -> Result<(), Malformed> {
        if self.is_skipped {
            return Ok(());
        }
        if self.intervals.enter(run.epochs) {
            self.tiles.enter(run.epochs.tile);
        }
        for ((&shape, &offset), &stride) in run.shapes.iter().zip(run.offsets).zip(run.strides) {
            if let Some(watched) = self.shapes[shape as usize] {
                self.columns(run, watched, offset, stride);
            }
        }
        if self.intervals.held() > self.part.limit {
            self.relieve();
        }
        Ok(())
    }
}
