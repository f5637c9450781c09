//! Spans by address: in memory, and in temporary files when there are too many.
//!
//! A span that reaches over the border of two partitions is put into both; each looks at its own places only.

use super::CheckError;
use super::budget::Budget;
use super::frame::{self, Frame};
use super::plan::Plan;
use super::span::Span;
use crate::trace::format::bytes::Malformed;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Partitions of one launch are fewer than twice as many; temporary files are open for all of them.
const MOST: u64 = 256;
/// Launches with fewer accesses are not worth sharing out among workers.
const WORTH_SHARING: u64 = 1 << 16;
/// Bytes that are put into a partition at once.
const STAGE: usize = 8 << 10;

/// The spans of a part of the places.
#[derive(Debug)]
pub(super) struct Partition {
    pub(super) window: Range<u64>,
    /// How many spans it has.
    pub(super) spans: u64,
    /// Frames, each behind its length.
    memory: Vec<u8>,
    file: Option<File>,
}

/// The spans of a launch.
pub(super) struct Partitions<'a> {
    is_needed: bool,
    plan: &'a Plan<'a>,
    start: u64,
    /// Binary logarithm of the places of a partition.
    width: u32,
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
        let width = (extent / count.clamp(1, MOST)).max(1).ilog2();
        let part = |at: u64| {
            let start = places.start + (at << width);
            let window = start..(start + (1 << width)).min(places.end);
            Mutex::new(Partition { window, spans: 0, memory: Vec::new(), file: None })
        };
        Partitions {
            is_needed: plan.has_blocks_that_meet(),
            plan,
            start: places.start,
            width,
            shelves: (0..extent.div_ceil(1 << width)).map(part).collect(),
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
    pub(super) fn put(&self, span: &Span, staged: &mut Vec<Frame>) {
        if staged.len() < self.shelves.len() {
            staged.resize_with(self.shelves.len(), Frame::default);
        }
        let end = span.end().saturating_sub(self.start);
        let first = span.start.saturating_sub(self.start) >> self.width;
        let last = (end.saturating_sub(1) >> self.width).min(self.shelves.len() as u64 - 1);
        for (at, frame) in staged.iter_mut().enumerate().take(last as usize + 1).skip(first as usize) {
            frame.add(span);
            if frame.bytes().len() >= STAGE {
                self.shelve(at, frame);
            }
        }
    }

    /// Puts everything staged where it belongs.
    pub(super) fn unstage(&self, staged: &mut [Frame]) {
        for (at, frame) in staged.iter_mut().enumerate().filter(|(_, frame)| frame.spans() > 0) {
            self.shelve(at, frame);
        }
    }

    fn shelve(&self, at: usize, frame: &mut Frame) {
        let mut shelf = self.shelves[at].lock().unwrap_or_else(PoisonError::into_inner);
        let more = shelf.add(frame) as u64;
        let in_all = self.held.fetch_add(more, Ordering::Relaxed) + more;
        frame.clear();
        if in_all > self.limit {
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
}

impl Partition {
    /// Adds a frame; gives the bytes that it takes.
    fn add(&mut self, frame: &Frame) -> usize {
        let length = (frame.bytes().len() as u32).to_le_bytes();
        self.memory.extend_from_slice(&length);
        self.memory.extend_from_slice(frame.bytes());
        self.spans += frame.spans();
        length.len() + frame.bytes().len()
    }

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
    pub(super) fn each(&mut self, mut take: impl FnMut(Span)) -> Result<(), CheckError> {
        if let Some(mut file) = self.file.take() {
            file.seek(SeekFrom::Start(0)).map_err(CheckError::Temporary)?;
            frames(&mut BufReader::with_capacity(1 << 18, file), &mut take)?;
        }
        let memory = std::mem::take(&mut self.memory);
        frames(&mut &memory[..], &mut take)
    }
}

/// Hands the spans of frames, each behind its length, to `take`.
fn frames(from: &mut impl Read, take: &mut impl FnMut(Span)) -> Result<(), CheckError> {
    let mut bytes = Vec::new();
    let mut length = [0; 4];
    loop {
        match from.read_exact(&mut length) {
            Ok(()) => {}
            // Between two frames it may end: every frame is written with its length at once.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(CheckError::Temporary(error)),
        }
        bytes.resize(u32::from_le_bytes(length) as usize, 0);
        from.read_exact(&mut bytes).map_err(CheckError::Temporary)?;
        frame::each(&bytes, take).map_err(unreadable)?;
    }
}

fn unreadable(_: Malformed) -> CheckError {
    CheckError::Temporary(io::Error::from(io::ErrorKind::InvalidData))
}
