//! The accesses of a chunk in canonical order: by block as the chunk has them, then by syncs, thread, shape and offset.
//!
//! The order of what a thread does between two syncs is not kept: nothing that is said of a log depends on it.

use super::Stale;
use crate::trace::format::accesses::{Begins, Visitor};
use crate::trace::format::bytes::Malformed;
use crate::trace::format::encode::Encoder;
use crate::trace::format::{AccessesHead, Epochs, MAX_SEGMENT, Run, Shape};
use rustc_hash::FxHashMap;
use std::ops::RangeInclusive;

/// An access. Block and syncs are positions in the tables of [`Rows`], the shape one in its head.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    block: u32,
    epochs: u32,
    thread: u32,
    shape: u32,
    offset: u64,
}

/// The accesses of a chunk.
pub(super) struct Rows {
    head: AccessesHead,
    blocks: Vec<u64>,
    epochs: Vec<Epochs>,
    numbers: FxHashMap<Epochs, u32>,
    rows: Vec<Entry>,
}

impl Rows {
    /// No accesses, for a chunk like the one with this head.
    pub(super) fn new(head: &AccessesHead) -> Self {
        let mut head = head.clone();
        head.shapes.sort_unstable();
        head.shapes.dedup();
        Rows { head, blocks: Vec::new(), epochs: Vec::new(), numbers: FxHashMap::default(), rows: Vec::new() }
    }

    /// The launch.
    pub(super) fn launch(&self) -> u32 {
        self.head.launch
    }

    /// Whether a chunk with this head belongs to them: its blocks are of the same parts of the same stream.
    pub(super) fn is_like(&self, head: &AccessesHead) -> bool {
        let AccessesHead { launch, stream, part, continued, shapes, .. } = head;
        let own = &self.head;
        (*launch, *stream, *part, *continued) == (own.launch, own.stream, own.part, own.continued)
            && *shapes == own.shapes
    }

    /// Adds the accesses of a payload that are wanted. Its blocks are those of all others.
    pub(super) fn add(&mut self, payload: &[u8], wants: &impl Fn(&Shape, u64) -> bool) -> Result<(), Stale> {
        let (head, steps) = AccessesHead::read(payload)?;
        let position = |shape: &Shape| self.head.shapes.binary_search(shape).map(|at| at as u32);
        let shapes: Vec<u32> = head.shapes.iter().map(position).collect::<Result<_, usize>>().map_err(|_| Stale)?;
        let is_first = self.blocks.is_empty();
        let mut gathering = Gathering { to: self, shapes, wants, is_first, block: 0, begun: 0 };
        head.visit(steps, &mut gathering)?;
        let begun = gathering.begun;
        if begun == self.blocks.len() { Ok(()) } else { Err(Stale) }
    }

    /// Puts them in canonical order.
    pub(super) fn sort(&mut self) {
        let mut ordered: Vec<u32> = (0..self.epochs.len() as u32).collect();
        ordered.sort_unstable_by_key(|&number| self.epochs[number as usize]);
        let mut ranks = vec![0; ordered.len()];
        for (rank, &number) in (0u32..).zip(&ordered) {
            ranks[number as usize] = rank;
        }
        self.rows.iter_mut().for_each(|row| row.epochs = ranks[row.epochs as usize]);
        self.epochs.sort_unstable();
        self.rows.sort_unstable();
    }

    /// The payloads of so many chunks: each has the accesses for which `goes_to` names it. Gives their accesses, too.
    pub(super) fn write(
        &self,
        chunks: usize,
        goes_to: impl Fn(&Shape, u64) -> RangeInclusive<usize>,
    ) -> Vec<(u64, Vec<u8>)> {
        let shapes = &self.head.shapes;
        let mut deal = Deal { encoders: (0..chunks).map(|_| Encoder::new(shapes.len())).collect(), lists: Vec::new() };
        deal.lists.resize(chunks, (Vec::new(), Vec::new()));
        let mut rest = &self.rows[..];
        for (number, &block) in (0..).zip(&self.blocks) {
            deal.encoders.iter_mut().for_each(|encoder| encoder.block(block));
            let here = rest.partition_point(|row| row.block == number);
            let (here, others) = rest.split_at(here);
            rest = others;
            for segment in here.chunk_by(|one, other| (one.epochs, one.thread) == (other.epochs, other.thread)) {
                deal.segment(segment, self.epochs[segment[0].epochs as usize], |row| {
                    goes_to(&shapes[row.shape as usize], row.offset)
                });
            }
        }
        deal.encoders.into_iter().map(|encoder| self.payload(encoder)).collect()
    }

    fn payload(&self, encoder: Encoder) -> (u64, Vec<u8>) {
        let (accesses, steps) = encoder.finish();
        let mut payload = AccessesHead { accesses, ..self.head.clone() }.write();
        payload.extend(steps);
        (accesses, payload)
    }

    fn number(&mut self, epochs: Epochs) -> u32 {
        let new = self.epochs.len() as u32;
        let number = *self.numbers.entry(epochs).or_insert(new);
        if number == new {
            self.epochs.push(epochs);
        }
        number
    }
}

/// Chunks that are written beside each other.
struct Deal {
    encoders: Vec<Encoder>,
    /// Shapes and offsets of one segment in each.
    lists: Vec<(Vec<u32>, Vec<u64>)>,
}

impl Deal {
    fn segment(&mut self, segment: &[Entry], epochs: Epochs, goes_to: impl Fn(&Entry) -> RangeInclusive<usize>) {
        for row in segment {
            for at in goes_to(row) {
                self.lists[at].0.push(row.shape);
                self.lists[at].1.push(row.offset);
            }
        }
        for (encoder, (shapes, offsets)) in self.encoders.iter_mut().zip(&mut self.lists) {
            for (shapes, offsets) in shapes.chunks(MAX_SEGMENT).zip(offsets.chunks(MAX_SEGMENT)) {
                encoder.segment(segment[0].thread, epochs, shapes, offsets);
            }
            shapes.clear();
            offsets.clear();
        }
    }
}

struct Gathering<'a, Wants> {
    to: &'a mut Rows,
    /// Of the payload, as positions in the head.
    shapes: Vec<u32>,
    wants: &'a Wants,
    /// Whether these blocks are the first that are seen.
    is_first: bool,
    block: u32,
    begun: usize,
}

impl<Wants: Fn(&Shape, u64) -> bool> Visitor for Gathering<'_, Wants> {
    fn block(&mut self, block: u64, _: Begins) -> Result<(), Malformed> {
        self.block = self.begun as u32;
        self.begun += 1;
        if self.is_first {
            self.to.blocks.push(block);
        }
        if self.to.blocks.get(self.block as usize) == Some(&block) {
            Ok(())
        } else {
            Err(Malformed("a chunk has other blocks than that of another shard"))
        }
    }

    fn run(&mut self, run: &Run<'_>) -> Result<(), Malformed> {
        let epochs = self.to.number(run.epochs);
        for number in 0..run.count {
            let thread = run.thread + number as u32 * run.step;
            for ((&shape, &offset), &stride) in run.shapes.iter().zip(run.offsets).zip(run.strides) {
                let shape = self.shapes[shape as usize];
                let offset = offset.wrapping_add(stride.wrapping_mul(number));
                if (self.wants)(&self.to.head.shapes[shape as usize], offset) {
                    self.to.rows.push(Entry { block: self.block, epochs, thread, shape, offset });
                }
            }
        }
        Ok(())
    }
}
