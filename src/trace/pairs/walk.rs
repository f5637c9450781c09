//! One way through a log, launch after launch, for one window of the places.

use super::cells::{Cells, Window, Writer, outlives_blocks};
use super::{HostWrite, Interval, Outcome, PairsError};
use crate::memory_model::passed::{self, Passed};
use crate::memory_model::ways::Way;
use crate::trace::format::accesses::Begins;
use crate::trace::format::bytes::Malformed;
use crate::trace::format::log::ChunkPlace;
use crate::trace::format::{AccessesHead, Epochs, Kind, Log, Run, Shape, Space, Visitor};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// What the window shows, or nothing if its writers do not fit.
pub(super) fn walk(
    path: &Path,
    log: &Log,
    host: &[HostWrite],
    window: &Window<'_>,
) -> Result<Option<Outcome>, PairsError> {
    let mut file = File::open(path)?;
    let mut chunks: BTreeMap<u32, Vec<ChunkPlace>> = BTreeMap::new();
    for chunk in &log.chunks {
        chunks.entry(chunk.launch).or_default().push(*chunk);
    }
    let mut walk = Walk::new(log, window);
    let mut host = host.iter().peekable();
    for (launch, mut chunks) in chunks {
        while let Some(write) = host.next_if(|write| write.launches <= launch) {
            walk.lasting.write(write.allocation, write.bytes.clone(), None);
        }
        chunks.sort_by_key(|chunk| (chunk.stream, chunk.part));
        walk.begin(launch);
        // What is behind a barrier of the grid comes when all that is before it has been.
        let mut spans = vec![0..u32::MAX; chunks.len()];
        let mut phase = 0;
        loop {
            walk.phase = phase;
            for (chunk, span) in chunks.iter().zip(&mut spans) {
                if phase > 0 && !span.contains(&phase) {
                    continue;
                }
                walk.seen = u32::MAX..0;
                let payload = chunk.payload(&mut file)?;
                let (head, steps) = AccessesHead::read(&payload).map_err(|_| PairsError::Changed)?;
                walk.take_shapes(&head.shapes);
                head.visit(steps, &mut walk).map_err(|_| PairsError::Changed)?;
                *span = walk.seen.clone();
                if walk.lasting.held() > window.limit {
                    return Ok(None);
                }
            }
            let last = spans.iter().map(|span| span.end).max().unwrap_or(0);
            phase += 1;
            if phase >= last {
                break;
            }
        }
        let streams: FxHashSet<u64> = chunks.iter().map(|chunk| chunk.stream).collect();
        walk.end(streams.len());
    }
    Ok(Some(walk.found()))
}

/// A shape that counts.
#[derive(Clone, Copy)]
struct Watched {
    shape: Shape,
    space: Space,
    /// The bytes of the allocation that the window has.
    window: (u64, u64),
}

/// Who makes an access, and when.
#[derive(Clone, Copy)]
struct Now {
    thread: u32,
    epochs: u32,
}

struct Walk<'a> {
    log: &'a Log,
    window: &'a Window<'a>,
    /// Launches with fences, or with atomics that have an order.
    ordered: FxHashSet<u32>,
    /// Global memory, and what else outlives blocks.
    lasting: Cells,
    /// Shared memory, of one block after the other.
    of_block: Cells,
    launch: Launch,
    /// The barriers of the grid before what is looked at, and of which of them the chunk has something behind.
    phase: u32,
    seen: Range<u32>,
    shapes: Vec<Option<Watched>>,
    block: u64,
    counts: Counts,
    found: Found,
    problems: Vec<String>,
}

/// The launch that is under way.
#[derive(Default)]
struct Launch {
    id: u32,
    /// Whether it has fences, or atomics with an order.
    is_ordered: bool,
    /// Whether one block reads of another without a barrier of the grid.
    reads_of_others: bool,
    epochs: Vec<Epochs>,
    numbers: FxHashMap<Epochs, u32>,
}

impl Launch {
    fn number(&mut self, epochs: Epochs) -> u32 {
        let epochs = Epochs { synchronised: 0, ..epochs };
        if self.epochs.last() == Some(&epochs) {
            return self.epochs.len() as u32 - 1;
        }
        let all = &mut self.epochs;
        *self.numbers.entry(epochs).or_insert_with(|| {
            all.push(epochs);
            all.len() as u32 - 1
        })
    }
}

/// What the sites do in the block that is under way, by site and barriers before.
#[derive(Default)]
struct Counts {
    of_block: FxHashMap<(u32, u32), Counted>,
    all: BTreeMap<u32, super::Accesses>,
}

struct Counted {
    times: u64,
    thread: u32,
    is_by_several: bool,
}

impl Counts {
    fn add(&mut self, site: u32, barriers: u32, run: &Run<'_>) {
        let counted = self.of_block.entry((site, barriers)).or_insert(Counted {
            times: 0,
            thread: run.thread,
            is_by_several: false,
        });
        counted.times += run.count;
        counted.is_by_several |= run.count > 1 || counted.thread != run.thread;
    }

    fn end_block(&mut self) {
        for ((site, barriers), Counted { times, is_by_several, .. }) in self.of_block.drain() {
            let (by_one, by_several) = (u64::from(!is_by_several), u64::from(is_by_several));
            self.all.entry(site).or_default().add(barriers, Interval { times, by_one, by_several });
        }
    }
}

/// Pairs so far; the last one stands aside, since it mostly comes again.
#[derive(Default)]
struct Found {
    pairs: FxHashMap<(u32, u32, Option<Way>), u64>,
    last: Option<((u32, u32, Option<Way>), u64)>,
}

impl Found {
    fn add(&mut self, pair: (u32, u32, Option<Way>), bytes: u64) {
        match &mut self.last {
            Some((last, sum)) if *last == pair => *sum += bytes,
            last => {
                if let Some((pair, sum)) = last.replace((pair, bytes)) {
                    *self.pairs.entry(pair).or_default() += sum;
                }
            }
        }
    }

    fn all(mut self) -> FxHashMap<(u32, u32, Option<Way>), u64> {
        if let Some((pair, sum)) = self.last.take() {
            *self.pairs.entry(pair).or_default() += sum;
        }
        self.pairs
    }
}

impl<'a> Walk<'a> {
    fn new(log: &'a Log, window: &'a Window<'a>) -> Self {
        Walk {
            log,
            window,
            ordered: log.synchronisations.iter().map(|chunk| chunk.launch).collect(),
            lasting: Cells::default(),
            of_block: Cells::default(),
            launch: Launch::default(),
            phase: 0,
            seen: 0..0,
            shapes: Vec::new(),
            block: 0,
            counts: Counts::default(),
            found: Found::default(),
            problems: Vec::new(),
        }
    }

    fn begin(&mut self, id: u32) {
        let is_ordered = self.ordered.contains(&id);
        self.launch = Launch { id, is_ordered, ..Launch::default() };
    }

    fn end(&mut self, streams: usize) {
        self.counts.end_block();
        self.of_block.clear();
        if self.launch.reads_of_others && streams > 1 {
            let kernel = self.log.launches.get(&self.launch.id).map_or("", |launch| launch.kernel.as_str());
            self.problems.push(format!(
                "blocks of {kernel} ran beside each other and read what others of them had stored: which store was the last is \
                 taken from the order of the log"
            ));
        }
    }

    fn found(self) -> Outcome {
        let mut outcome = Outcome { accesses: self.counts.all, problems: self.problems, ..Outcome::default() };
        for ((define, use_, way), bytes) in self.found.all() {
            match way {
                Some(way) => outcome.pairs.insert((define, use_, way), bytes),
                None => outcome.unordered.insert((define, use_), bytes),
            };
        }
        outcome
    }

    /// Which shapes of a chunk count: those of memory that threads share and may write.
    fn take_shapes(&mut self, shapes: &[Shape]) {
        let watched = |shape: &Shape| {
            let space = self.log.allocations.get(&shape.allocation)?.space;
            let window = match space {
                Space::Shared if self.window.is_first() => (0, u64::MAX),
                Space::Global | Space::Managed | Space::Distributed => {
                    let window = self.window.of(shape.allocation);
                    (window.start, window.end)
                }
                Space::Shared => (0, 0),
                Space::Constant => return None,
            };
            Some(Watched { shape: *shape, space, window })
        };
        self.shapes = shapes.iter().map(watched).collect();
    }

    fn access(&mut self, watched: &Watched, offset: u64, now: Now) {
        let end = offset + u64::from(watched.shape.bytes);
        let range = offset.max(watched.window.0)..end.min(watched.window.1);
        if range.start >= range.end {
            return;
        }
        let Shape { site, allocation, kind, .. } = watched.shape;
        if kind != Kind::Write {
            let lasts = outlives_blocks(watched.space);
            let cells = if lasts { &self.lasting } else { &self.of_block };
            let (launch, block, found) = (&mut self.launch, self.block, &mut self.found);
            cells.read(allocation, range.clone(), |writer, bytes| {
                let way = way(launch, writer, (block, now), (watched.space, kind));
                found.add((writer.site, site, way), bytes);
            });
        }
        if !kind.only_reads() {
            let Now { thread, epochs } = now;
            let writer = Writer { site, launch: self.launch.id, block: self.block, thread, epochs, kind };
            let cells = if outlives_blocks(watched.space) { &mut self.lasting } else { &mut self.of_block };
            cells.write(allocation, range, Some(writer));
        }
    }

    /// Counts the accesses of a run.
    fn count(&mut self, run: &Run<'_>) {
        for &shape in run.shapes {
            let Some(Watched { shape, space, .. }) = &self.shapes[shape as usize] else { continue };
            let (_, block) = interval(&run.epochs, *space);
            self.counts.add(shape.site, block, run);
            let known = self.counts.all.entry(shape.site).or_default();
            known.reads += if shape.kind == Kind::Write { 0 } else { run.count };
            known.writes += if shape.kind.only_reads() { 0 } else { run.count };
        }
    }
}

impl Visitor for Walk<'_> {
    fn block(&mut self, block: u64, begins: Begins) -> Result<(), Malformed> {
        if begins == Begins::Here || block != self.block {
            self.counts.end_block();
            self.of_block.clear();
        }
        self.block = block;
        Ok(())
    }

    fn run(&mut self, run: &Run<'_>) -> Result<(), Malformed> {
        self.seen = self.seen.start.min(run.epochs.grid)..self.seen.end.max(run.epochs.grid + 1);
        let epochs = self.launch.number(run.epochs);
        let is_now = run.epochs.grid == self.phase;
        if self.phase == 0 && self.window.is_first() {
            self.count(run);
        }
        for each in 0..run.count {
            let now = Now { thread: run.thread + each as u32 * run.step, epochs };
            for ((&shape, &offset), &stride) in run.shapes.iter().zip(run.offsets).zip(run.strides) {
                let Some(watched) = self.shapes[shape as usize] else { continue };
                // Shared memory is of the block, which has its own order.
                let comes = if outlives_blocks(watched.space) { is_now } else { self.phase == 0 };
                if comes {
                    self.access(&watched, offset.wrapping_add(stride.wrapping_mul(each)), now);
                }
            }
        }
        Ok(())
    }
}

/// Syncs of grid and block that order memory.
fn interval(epochs: &Epochs, space: Space) -> (u32, u32) {
    let orders_all = space == Space::Shared;
    (epochs.grid, if orders_all { epochs.block } else { epochs.block - epochs.shared_only })
}

/// The way from a writer to whoever reads now; nothing where nothing orders the two.
fn way(launch: &mut Launch, writer: &Writer, (block, now): (u64, Now), (space, kind): (Space, Kind)) -> Option<Way> {
    if writer.launch != launch.id {
        return Some(Way::BetweenLaunches);
    }
    let (before, after) = (&launch.epochs[writer.epochs as usize], &launch.epochs[now.epochs as usize]);
    let is_atomic = |kind: Kind| !matches!(kind, Kind::Read | Kind::Write);
    let both_are_atomic = is_atomic(writer.kind) && is_atomic(kind);
    if writer.block != block {
        if before.grid != after.grid {
            return Some(Way::BetweenBlocks);
        }
        launch.reads_of_others = true;
        let is_ordered = both_are_atomic || launch.is_ordered || space == Space::Distributed;
        return is_ordered.then_some(Way::BetweenBlocks);
    }
    let is_one_interval = interval(before, space) == interval(after, space);
    if writer.thread == now.thread {
        return Some(if is_one_interval { Way::Own } else { Way::OwnAcrossBarrier });
    }
    let passed = |epochs: &Epochs| {
        let (grid, block) = interval(epochs, space);
        Passed { grid, block, tile: epochs.tile }
    };
    let group = passed::common_group(writer.thread, now.thread);
    let is_ordered =
        both_are_atomic || launch.is_ordered || !passed::unordered_in_block(&passed(before), &passed(after), group);
    is_ordered.then_some(Way::HandedOver)
}
