//! Segments as the steps of a chunk: the inverse of [`super::decode`].
//!
//! Whatever is encoded is decoded to the same segments in the same order. Neighbouring threads that do the same one stride
//! further on take one step together, as with the encoder in `log.hpp`; the bytes need not be the same as there.
//!
//! Deliberately absent: which segments there are. A caller that hands over equal shapes in an equal order for
//! neighbouring threads gets a short chunk.

use super::Epochs;
use super::bytes::{put, to_zigzag};
use super::decode::{Habit, KNOWN_JUMPS};

/// The lists of the last jumps.
#[derive(Default)]
struct Jumps {
    known: [Vec<u64>; KNOWN_JUMPS as usize],
    so_far: u64,
}

impl Jumps {
    /// Where a list is kept.
    fn find(&self, list: &[u64]) -> Option<usize> {
        let known = self.so_far.min(KNOWN_JUMPS) as usize;
        self.known[..known].iter().position(|jump| jump == list)
    }

    fn keep(&mut self, list: &[u64]) {
        list.clone_into(&mut self.known[(self.so_far % KNOWN_JUMPS) as usize]);
        self.so_far += 1;
    }
}

/// What the steps so far have told, which is what a decoder knows behind them.
pub struct Encoder {
    out: Vec<u8>,
    accesses: u64,
    /// By shape, from 1, and before the first access of a segment.
    habits: Vec<Habit>,
    /// The last segment, and how far its offsets lie from those of the one before.
    shapes: Vec<u32>,
    offsets: Vec<u64>,
    moved: Vec<u64>,
    strides: Vec<u64>,
    list: Vec<u64>,
    jumps: Jumps,
    /// Segments of the same shapes, one stride on each, that no step tells yet.
    pending: u64,
    block: u64,
    epochs: Epochs,
    last_thread: u32,
    next_thread: u32,
    step: u32,
}

impl Encoder {
    /// For a chunk with so many shapes.
    pub fn new(shapes: usize) -> Self {
        Encoder {
            out: Vec::new(),
            accesses: 0,
            habits: vec![Habit::default(); shapes + 1],
            shapes: Vec::new(),
            offsets: Vec::new(),
            moved: Vec::new(),
            strides: Vec::new(),
            list: Vec::new(),
            jumps: Jumps::default(),
            pending: 0,
            block: 0,
            epochs: Epochs::default(),
            last_thread: 0,
            next_thread: 0,
            step: 1,
        }
    }

    /// The segments that follow are of this block.
    pub fn block(&mut self, block: u64) {
        self.flush();
        put(&mut self.out, to_zigzag(block.wrapping_sub(self.block)) << 3 | 7);
        self.block = block;
        self.epochs = Epochs::default();
        (self.last_thread, self.next_thread, self.step) = (0, 0, 1);
    }

    /// A segment of one thread: shapes, from 0, and offsets. There is one access at least, and at most
    /// [`MAX_SEGMENT`](super::MAX_SEGMENT).
    pub fn segment(&mut self, thread: u32, epochs: Epochs, shapes: &[u32], offsets: &[u64]) {
        if epochs != self.epochs {
            self.flush();
            put_syncs(&mut self.out, self.epochs, epochs);
            self.epochs = epochs;
        }
        if thread != self.next_thread {
            self.flush();
            put(&mut self.out, u64::from(thread) << 3 | 5);
            if thread > self.last_thread {
                self.step = thread - self.last_thread;
            }
        }
        self.last_thread = thread;
        self.next_thread = thread.wrapping_add(self.step);
        if self.shapes == shapes {
            self.follow(offsets);
        } else {
            self.literal(shapes, offsets);
        }
        self.accesses += shapes.len() as u64;
    }

    /// Accesses and steps.
    pub fn finish(mut self) -> (u64, Vec<u8>) {
        self.flush();
        (self.accesses, self.out)
    }

    fn flush(&mut self) {
        if self.pending > 0 {
            put(&mut self.out, self.pending << 3);
            self.pending = 0;
        }
    }

    /// A segment of the same shapes as the last one.
    fn follow(&mut self, offsets: &[u64]) {
        let mut is_next = true;
        let mut moves_again = true;
        // Nothing has moved behind a literal: what moves first is taken for the stride.
        let is_first = self.moved.is_empty();
        self.moved.resize(offsets.len(), 0);
        self.list.clear();
        for (at, &offset) in offsets.iter().enumerate() {
            let moved = offset.wrapping_sub(self.offsets[at]);
            let difference = moved.wrapping_sub(self.strides[at]);
            is_next &= difference == 0;
            moves_again &= is_first || moved == self.moved[at];
            self.list.push(difference);
            self.moved[at] = moved;
        }
        self.offsets.copy_from_slice(offsets);
        if is_next {
            self.pending += 1;
            return;
        }
        self.flush();
        if moves_again {
            self.stride();
        } else {
            self.jump();
        }
    }

    /// The last segment moved as far as the one before: strides change.
    fn stride(&mut self) {
        self.out.push(3);
        self.put_list();
        for (stride, difference) in self.strides.iter_mut().zip(&self.list) {
            *stride = stride.wrapping_add(*difference);
        }
    }

    fn jump(&mut self) {
        if let Some(slot) = self.jumps.find(&self.list) {
            put(&mut self.out, (slot as u64) << 3 | 1);
            return;
        }
        self.out.push(2);
        self.put_list();
        self.jumps.keep(&self.list);
    }

    fn put_list(&mut self) {
        for equal in self.list.chunk_by(|one, other| one == other) {
            let further = equal.len() as u64 - 1;
            // The lowest bit says that more follow. There is room for the others: offsets have 60 bits.
            put(&mut self.out, to_zigzag(equal[0]) << 1 | u64::from(further > 0));
            if further > 0 {
                put(&mut self.out, further - 1);
            }
        }
    }

    fn literal(&mut self, shapes: &[u32], offsets: &[u64]) {
        self.flush();
        put(&mut self.out, (shapes.len() as u64) << 3 | 4);
        let mut before = 0;
        let mut usual = 0;
        for (&shape, &offset) in shapes.iter().zip(offsets) {
            let shape = shape + 1;
            let follows = std::mem::replace(&mut self.habits[before as usize].next, shape) == shape;
            let habit = &mut self.habits[shape as usize];
            let difference = offset.wrapping_sub(habit.last.wrapping_add(habit.stride));
            // Beside the two bits that say what an item is, there is room for 62.
            let follows = follows && to_zigzag(difference) >> 62 == 0;
            habit.stride = habit.stride.wrapping_add(difference);
            habit.last = offset;
            before = shape;
            if follows && difference == 0 {
                usual += 1;
                continue;
            }
            put_usual(&mut self.out, &mut usual);
            if follows {
                put(&mut self.out, to_zigzag(difference) << 2 | 1);
            } else {
                put(&mut self.out, u64::from(shape) << 2 | 2);
                put(&mut self.out, to_zigzag(difference));
            }
        }
        put_usual(&mut self.out, &mut usual);
        self.shapes.clear();
        self.shapes.extend_from_slice(shapes);
        self.offsets.clear();
        self.offsets.extend_from_slice(offsets);
        self.strides.clear();
        self.strides.resize(shapes.len(), 0);
        self.moved.clear();
    }
}

/// Accesses where habits have them.
fn put_usual(out: &mut Vec<u8>, count: &mut u64) {
    if *count > 0 {
        put(out, *count << 2);
        *count = 0;
    }
}

/// The step from some syncs to others; nothing, if they are the same.
pub(super) fn put_syncs(out: &mut Vec<u8>, told: Epochs, now: Epochs) {
    let fields = |epochs: Epochs| {
        let [two, four, eight, sixteen, warp] = epochs.tile;
        [epochs.grid, epochs.block, two, four, eight, sixteen, warp, epochs.shared_only, epochs.synchronised]
    };
    let changes: Vec<(usize, u64)> = (0..)
        .zip(fields(told).into_iter().zip(fields(now)))
        .filter(|(_, (told, now))| told != now)
        .map(|(bit, (told, now))| (bit, u64::from(now).wrapping_sub(told.into())))
        .collect();
    if !changes.is_empty() {
        put(out, changes.iter().fold(0, |mask, (bit, _)| mask | 1 << bit) << 3 | 6);
        for (_, change) in changes {
            put(out, to_zigzag(change));
        }
    }
}
