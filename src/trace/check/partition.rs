//! Spans by address: in memory, and in temporary files when there are too many.
//!
//! A span that reaches over the border of two partitions is put into both; each looks at its own places only.

use super::CheckError;
use super::budget::Budget;
use super::plan::Plan;
use super::span::Span;
use crate::trace::format::bytes::{Cursor, Malformed, from_zigzag, put, to_zigzag};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Partitions of one launch; temporary files are open for all of them.
const MOST: u64 = 256;
/// Launches with fewer accesses are not worth sharing out among workers.
const WORTH_SHARING: u64 = 1 << 16;
/// Bytes that are put into a partition at once.
const STAGE: usize = 16 << 10;
/// No encoded span is longer.
const LONGEST: usize = 64;

/// The spans of a part of the places.
#[derive(Debug)]
pub(super) struct Partition {
    pub(super) window: Range<u64>,
    memory: Vec<u8>,
    file: Option<File>,
}

/// The spans of a launch.
pub(super) struct Partitions<'a> {
    is_needed: bool,
    plan: &'a Plan<'a>,
    start: u64,
    width: u64,
    shelves: Vec<Mutex<Partition>>,
    held: AtomicU64,
    limit: u64,
    failure: Mutex<Option<io::Error>>,
}

impl<'a> Partitions<'a> {
    /// Partitions for all places of a plan.
    pub(super) fn new(plan: &'a Plan<'a>, budget: &Budget) -> Self {
        let shared = if plan.accesses < WORTH_SHARING { 1 } else { 4 * budget.jobs as u64 };
        let count = (plan.accesses / budget.spans() as u64).max(shared);
        Self::over(plan, plan.places(), count, budget)
    }

    /// At most so many partitions of these places.
    pub(super) fn over(plan: &'a Plan<'a>, places: Range<u64>, count: u64, budget: &Budget) -> Self {
        let extent = places.end - places.start;
        let width = extent.div_ceil(count.clamp(1, MOST)).max(1);
        let part = |at: u64| {
            let start = places.start + at * width;
            let window = start..(start + width).min(places.end);
            Mutex::new(Partition { window, memory: Vec::new(), file: None })
        };
        Partitions {
            is_needed: plan.has_blocks_that_meet(),
            plan,
            start: places.start,
            width,
            shelves: (0..extent.div_ceil(width)).map(part).collect(),
            held: AtomicU64::new(0),
            limit: budget.partitions(),
            failure: Mutex::new(None),
        }
    }

    /// Whether spans at this place are wanted.
    pub(super) fn wants(&self, watched: usize) -> bool {
        self.is_needed && self.plan.watched[watched].is_common()
    }

    /// Adds a span; `staged` is the caller's own, for [`Partitions::unstage`].
    pub(super) fn put(&self, span: &Span, staged: &mut Vec<Vec<u8>>) {
        staged.resize(self.shelves.len().max(staged.len()), Vec::new());
        let end = span.end().saturating_sub(self.start);
        let first = span.start.saturating_sub(self.start) / self.width;
        let last = (end.saturating_sub(1) / self.width).min(self.shelves.len() as u64 - 1);
        for at in first as usize..=last as usize {
            encode(span, self.start, &mut staged[at]);
            if staged[at].len() >= STAGE {
                self.shelve(at, &mut staged[at]);
            }
        }
    }

    /// Puts everything staged where it belongs.
    pub(super) fn unstage(&self, staged: &mut [Vec<u8>]) {
        for (at, bytes) in staged.iter_mut().enumerate().filter(|(_, bytes)| !bytes.is_empty()) {
            self.shelve(at, bytes);
        }
    }

    fn shelve(&self, at: usize, bytes: &mut Vec<u8>) {
        let mut shelf = self.shelves[at].lock().unwrap_or_else(PoisonError::into_inner);
        shelf.memory.extend_from_slice(bytes);
        let held = self.held.fetch_add(bytes.len() as u64, Ordering::Relaxed) + bytes.len() as u64;
        bytes.clear();
        if held > self.limit {
            self.held.fetch_sub(shelf.memory.len() as u64, Ordering::Relaxed);
            if let Err(error) = shelf.spill() {
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        }
    }

    /// All partitions.
    pub(super) fn finish(self) -> Result<Vec<Partition>, CheckError> {
        let failure = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = failure {
            return Err(CheckError::Temporary(error));
        }
        let shelves = self.shelves.into_iter().map(|shelf| shelf.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(shelves.collect())
    }

    /// Where places are counted from in encoded spans.
    pub(super) fn origin(&self) -> u64 {
        self.start
    }
}

impl Partition {
    fn spill(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.write_all(&self.memory)?;
        self.memory = Vec::new();
        Ok(())
    }

    /// Whether there is nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.file.is_none()
    }

    /// Hands all spans to `take`, in the order in which they came.
    pub(super) fn each(&mut self, origin: u64, mut take: impl FnMut(Span)) -> Result<(), CheckError> {
        if let Some(mut file) = self.file.take() {
            file.seek(SeekFrom::Start(0)).map_err(CheckError::Temporary)?;
            each_of_file(file, origin, &mut take)?;
        }
        let memory = std::mem::take(&mut self.memory);
        let mut cursor = Cursor::new(&memory);
        while !cursor.is_empty() {
            take(decode(&mut cursor, origin).map_err(unreadable)?);
        }
        Ok(())
    }
}

fn each_of_file(mut file: File, origin: u64, take: &mut impl FnMut(Span)) -> Result<(), CheckError> {
    let mut buffer = vec![0; 1 << 18];
    let mut filled = 0;
    loop {
        let read = file.read(&mut buffer[filled..]).map_err(CheckError::Temporary)?;
        filled += read;
        let mut cursor = Cursor::new(&buffer[..filled]);
        // Before the end of the file a span may be cut off at the end of the buffer.
        while cursor.rest().len() >= if read == 0 { 1 } else { LONGEST } {
            take(decode(&mut cursor, origin).map_err(unreadable)?);
        }
        let left = cursor.rest().len();
        if read == 0 {
            return Ok(());
        }
        buffer.copy_within(filled - left..filled, 0);
        filled = left;
    }
}

fn unreadable(_: Malformed) -> CheckError {
    CheckError::Temporary(io::Error::from(io::ErrorKind::InvalidData))
}

fn encode(span: &Span, origin: u64, out: &mut Vec<u8>) {
    let Span { start, block, site, manner, thread, step, count, grid } = *span;
    put(out, to_zigzag(start.wrapping_sub(origin)));
    for number in [block, site.into(), manner.into(), thread.into(), grid.into(), count.into()] {
        put(out, number);
    }
    if count > 1 {
        put(out, to_zigzag(i64::from(step) as u64));
    }
}

fn decode(cursor: &mut Cursor<'_>, origin: u64) -> Result<Span, Malformed> {
    let start = from_zigzag(cursor.number()?).wrapping_add(origin);
    let (block, site, manner, thread) = (cursor.number()?, cursor.small()?, cursor.small()?, cursor.small()?);
    let (grid, count) = (cursor.small()?, cursor.small()?);
    let step = if count > 1 { from_zigzag(cursor.number()?) as i64 as i32 } else { 0 };
    Ok(Span { start, block, site, manner, thread, step, count, grid })
}
