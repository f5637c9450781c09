//! The steps of a chunk of accesses: the inverse of the encoder in `log.hpp`.

use super::accesses::{AccessesHead, Begins, Run, Visitor};
use super::bytes::{Cursor, Malformed, from_zigzag};
use super::{Epochs, MAX_OFFSET, MAX_SEGMENT};

/// Jumps that are remembered.
pub(super) const KNOWN_JUMPS: u64 = 4;
/// No thread has a larger number.
const MAX_THREAD: u64 = 1 << 31;

/// What usually follows a shape, and where.
#[derive(Clone, Copy, Default)]
pub(super) struct Habit {
    pub(super) last: u64,
    pub(super) stride: u64,
    pub(super) next: u32,
}

pub(super) struct Decoder<'a> {
    head: &'a AccessesHead,
    /// Of shape 0, before the first access of a segment, and of all others.
    habits: Vec<Habit>,
    /// The last segment.
    shapes: Vec<u32>,
    offsets: Vec<u64>,
    strides: Vec<u64>,
    jumps: [Vec<u64>; KNOWN_JUMPS as usize],
    jumps_so_far: u64,
    list: Vec<u64>,
    block: Option<u64>,
    is_first_block: bool,
    epochs: Epochs,
    last_thread: u32,
    next_thread: u64,
    step: u32,
    accesses: u64,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(head: &'a AccessesHead) -> Self {
        Decoder {
            head,
            habits: vec![Habit::default(); head.shapes.len() + 1],
            shapes: Vec::new(),
            offsets: Vec::new(),
            strides: Vec::new(),
            jumps: Default::default(),
            jumps_so_far: 0,
            list: Vec::new(),
            block: None,
            is_first_block: true,
            epochs: Epochs::default(),
            last_thread: 0,
            next_thread: 0,
            step: 1,
            accesses: 0,
        }
    }

    pub(super) fn visit(mut self, steps: Cursor<'_>, visitor: &mut impl Visitor) -> Result<(), Malformed> {
        let mut cursor = steps;
        while !cursor.is_empty() {
            let step = cursor.number()?;
            let rest = step >> 3;
            match step & 7 {
                0 => self.segments(rest, visitor)?,
                1 => self.known_jump(rest, visitor)?,
                2 => self.jump(&mut cursor, visitor)?,
                3 => self.stride(&mut cursor, visitor)?,
                4 => self.literal(rest, &mut cursor, visitor)?,
                5 => self.thread(rest)?,
                6 => self.syncs(rest, &mut cursor)?,
                _ => self.begin_block(from_zigzag(rest), visitor)?,
            }
        }
        if self.accesses == self.head.accesses {
            Ok(())
        } else {
            Err(Malformed("a chunk has not the accesses that it says"))
        }
    }

    fn begin_block(&mut self, difference: u64, visitor: &mut impl Visitor) -> Result<(), Malformed> {
        let block = self.block.unwrap_or(0).wrapping_add(difference);
        let goes_on = self.is_first_block && self.head.continued.is_some();
        self.is_first_block = false;
        self.block = Some(block);
        self.epochs = Epochs::default();
        (self.last_thread, self.next_thread, self.step) = (0, 0, 1);
        visitor.block(block, if goes_on { Begins::Earlier } else { Begins::Here })
    }

    fn thread(&mut self, thread: u64) -> Result<(), Malformed> {
        if thread >= MAX_THREAD {
            return Err(Malformed("a thread has too large a number"));
        }
        if thread > u64::from(self.last_thread) {
            self.step = thread as u32 - self.last_thread;
        }
        self.next_thread = thread;
        Ok(())
    }

    fn syncs(&mut self, mask: u64, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        if mask >> 9 != 0 {
            return Err(Malformed("a step changes unknown syncs"));
        }
        let Epochs { grid, block, tile: [two, four, eight, sixteen, warp], shared_only, synchronised } =
            &mut self.epochs;
        let fields = [grid, block, two, four, eight, sixteen, warp, shared_only, synchronised];
        for (_, field) in fields.into_iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1) {
            let changed = u64::from(*field).wrapping_add(cursor.difference()?);
            *field = u32::try_from(changed).map_err(|_| Malformed("a number of syncs has more than 32 bits"))?;
        }
        if self.epochs.shared_only > self.epochs.block {
            return Err(Malformed("more syncs order shared memory only than there are"));
        }
        Ok(())
    }

    /// `count` segments, each one stride further on.
    fn segments(&mut self, count: u64, visitor: &mut impl Visitor) -> Result<(), Malformed> {
        self.advance(count)?;
        for (offset, stride) in self.offsets.iter_mut().zip(&self.strides) {
            *offset = offset.wrapping_add(*stride);
        }
        self.emit(count, visitor)?;
        for (offset, stride) in self.offsets.iter_mut().zip(&self.strides) {
            *offset = offset.wrapping_add(stride.wrapping_mul(count - 1));
        }
        Ok(())
    }

    /// Counts segments like the last one.
    fn advance(&mut self, count: u64) -> Result<(), Malformed> {
        if self.shapes.is_empty() {
            return Err(Malformed("a segment is like the one before, and there is none"));
        }
        let added = count.checked_mul(self.shapes.len() as u64);
        self.accesses = added.and_then(|added| self.accesses.checked_add(added)).unwrap_or(u64::MAX);
        if count == 0 || self.accesses > self.head.accesses {
            return Err(Malformed("a chunk has not the accesses that it says"));
        }
        Ok(())
    }

    fn known_jump(&mut self, slot: u64, visitor: &mut impl Visitor) -> Result<(), Malformed> {
        if slot >= KNOWN_JUMPS.min(self.jumps_so_far) || self.jumps[slot as usize].len() != self.shapes.len() {
            return Err(Malformed("a jump is not known"));
        }
        self.list.clone_from(&self.jumps[slot as usize]);
        self.leap(visitor)
    }

    fn jump(&mut self, cursor: &mut Cursor<'_>, visitor: &mut impl Visitor) -> Result<(), Malformed> {
        self.read_list(cursor)?;
        self.jumps[(self.jumps_so_far % KNOWN_JUMPS) as usize].clone_from(&self.list);
        self.jumps_so_far += 1;
        self.leap(visitor)
    }

    fn stride(&mut self, cursor: &mut Cursor<'_>, visitor: &mut impl Visitor) -> Result<(), Malformed> {
        self.read_list(cursor)?;
        for (stride, difference) in self.strides.iter_mut().zip(&self.list) {
            *stride = stride.wrapping_add(*difference);
        }
        self.list.fill(0);
        self.leap(visitor)
    }

    /// One segment, one stride and the list further on.
    fn leap(&mut self, visitor: &mut impl Visitor) -> Result<(), Malformed> {
        self.advance(1)?;
        for ((offset, stride), jump) in self.offsets.iter_mut().zip(&self.strides).zip(&self.list) {
            *offset = offset.wrapping_add(*stride).wrapping_add(*jump);
        }
        self.emit(1, visitor)
    }

    fn read_list(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        self.list.clear();
        while self.list.len() < self.shapes.len() {
            let item = cursor.number()?;
            let equal = if item & 1 == 1 { cursor.number()?.saturating_add(2) } else { 1 };
            if equal > (self.shapes.len() - self.list.len()) as u64 {
                return Err(Malformed("a list is longer than its segment"));
            }
            let length = self.list.len() + equal as usize;
            self.list.resize(length, from_zigzag(item >> 1));
        }
        Ok(())
    }

    fn literal(&mut self, count: u64, cursor: &mut Cursor<'_>, visitor: &mut impl Visitor) -> Result<(), Malformed> {
        if count == 0 || count > MAX_SEGMENT as u64 {
            return Err(Malformed("a segment is too long"));
        }
        self.shapes.clear();
        self.offsets.clear();
        let mut before = 0;
        while self.shapes.len() < count as usize {
            let item = cursor.number()?;
            let rest = item >> 2;
            match item & 3 {
                0 if (1..=count - self.shapes.len() as u64).contains(&rest) => {
                    for _ in 0..rest {
                        before = self.habits[before as usize].next;
                        self.usual(before, 0)?;
                    }
                }
                1 => {
                    before = self.habits[before as usize].next;
                    self.usual(before, from_zigzag(rest))?;
                }
                2 if (1..self.habits.len() as u64).contains(&rest) => {
                    self.habits[before as usize].next = rest as u32;
                    before = rest as u32;
                    self.usual(before, cursor.difference()?)?;
                }
                _ => return Err(Malformed("an access is not understood")),
            }
        }
        self.strides.clear();
        self.strides.resize(self.shapes.len(), 0);
        self.advance(1)?;
        self.emit(1, visitor)
    }

    /// An access of a shape, `difference` from where it is usually.
    #[inline]
    fn usual(&mut self, shape: u32, difference: u64) -> Result<(), Malformed> {
        if shape == 0 {
            return Err(Malformed("an access follows that never followed before"));
        }
        let habit = &mut self.habits[shape as usize];
        habit.last = habit.last.wrapping_add(habit.stride).wrapping_add(difference);
        habit.stride = habit.stride.wrapping_add(difference);
        self.offsets.push(habit.last);
        self.shapes.push(shape - 1);
        Ok(())
    }

    /// That no access of `count` segments lies too far out.
    fn check_offsets(&self, count: u64) -> Result<(), Malformed> {
        for ((&offset, &stride), &shape) in self.offsets.iter().zip(&self.strides).zip(&self.shapes) {
            let end = i128::from(offset) + i128::from(stride as i64) * i128::from(count - 1);
            let bytes = self.head.shapes[shape as usize].bytes;
            let limit = MAX_OFFSET - u64::from(bytes);
            if offset >= limit || !(0..i128::from(limit)).contains(&end) {
                return Err(Malformed("an offset is too large"));
            }
        }
        Ok(())
    }

    fn emit(&mut self, count: u64, visitor: &mut impl Visitor) -> Result<(), Malformed> {
        if self.block.is_none() {
            return Err(Malformed("accesses come before any block"));
        }
        let last = self.next_thread.saturating_add((count - 1).saturating_mul(self.step.into()));
        if last >= MAX_THREAD {
            return Err(Malformed("a thread has too large a number"));
        }
        // Nearly all offsets are far below the limit of the widest access.
        let is_small = |offset: &u64| *offset < MAX_OFFSET - u64::from(u32::MAX);
        if count > 1 || !self.offsets.iter().all(is_small) {
            self.check_offsets(count)?;
        }
        let run = Run {
            thread: self.next_thread as u32,
            step: self.step,
            count,
            epochs: self.epochs,
            shapes: &self.shapes,
            offsets: &self.offsets,
            strides: &self.strides,
        };
        visitor.run(&run)?;
        self.last_thread = last as u32;
        self.next_thread = last + u64::from(self.step);
        Ok(())
    }
}
