//! A chunk of accesses, up to its steps: which launch and stream it belongs to, and the shapes of its accesses.

use super::bytes::{Cursor, Malformed, put};
use super::decode::Decoder;
use super::{Epochs, Kind, MAX_ACCESSES};

/// What accesses have in common: all but who, when and the offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    /// The place in the source.
    pub site: u32,
    /// The allocation.
    pub allocation: u32,
    /// Bytes that it touches.
    pub bytes: u32,
    /// What it does.
    pub kind: Kind,
}

/// The start of a chunk of accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessesHead {
    /// The launch.
    pub launch: u32,
    /// The encoder that wrote it.
    pub stream: u64,
    /// Its number among the chunks of the stream.
    pub part: u64,
    /// For a chunk whose first block began in an earlier part: its least syncs here (grid, block).
    pub continued: Option<(u32, u32)>,
    /// Number of accesses.
    pub accesses: u64,
    /// The shapes.
    pub shapes: Vec<Shape>,
}

/// Equal segments of neighbouring threads of one block.
///
/// Thread `thread + i * step`, for `i` in `0..count`, makes the accesses `j` of shape `shapes[j]` (a position in
/// [`AccessesHead::shapes`]) at `offsets[j] + i * strides[j]` (modulo 2^64), in this order.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The first thread, linear in its block.
    pub thread: u32,
    /// From one thread to the next.
    pub step: u32,
    /// Number of threads.
    pub count: u64,
    /// What all of them have passed.
    pub epochs: Epochs,
    /// Shapes of the accesses of each thread.
    pub shapes: &'a [u32],
    /// Offsets of the first thread.
    pub offsets: &'a [u64],
    /// How far the offsets of the next thread lie from those of one.
    pub strides: &'a [u64],
}

/// Takes what a chunk holds, in order.
pub trait Visitor {
    /// Accesses of this block follow. Whether it begins here is false for the first block of a continued chunk.
    fn block(&mut self, block: u64, begins: Begins) -> Result<(), Malformed>;
    /// Accesses of the last block.
    fn run(&mut self, run: &Run<'_>) -> Result<(), Malformed>;
}

/// Whether a block begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// In this chunk.
    Here,
    /// In an earlier one.
    Earlier,
}

impl AccessesHead {
    /// Reads the head of a payload; the rest are the steps.
    pub fn read(payload: &[u8]) -> Result<(AccessesHead, Cursor<'_>), Malformed> {
        let mut cursor = Cursor::new(payload);
        let (launch, stream, part) = (cursor.small()?, cursor.number()?, cursor.number()?);
        let is_continued = match cursor.number()? {
            0 => false,
            1 => true,
            _ => return Err(Malformed("a chunk is neither continued nor not")),
        };
        let accesses = cursor.number()?;
        let least = (cursor.small()?, cursor.small()?);
        if accesses > MAX_ACCESSES {
            return Err(Malformed("a chunk has too many accesses"));
        }
        let shapes = shapes(&mut cursor)?;
        let continued = is_continued.then_some(least);
        Ok((AccessesHead { launch, stream, part, continued, accesses, shapes }, cursor))
    }

    /// The head of a payload; the steps follow.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let least = self.continued.unwrap_or_default();
        put(&mut out, self.launch.into());
        for number in [self.stream, self.part, u64::from(self.continued.is_some()), self.accesses] {
            put(&mut out, number);
        }
        for number in [least.0.into(), least.1.into(), self.shapes.len() as u64] {
            put(&mut out, number);
        }
        for shape in &self.shapes {
            for number in [shape.site.into(), shape.allocation.into(), shape.bytes.into(), shape.kind as u64] {
                put(&mut out, number);
            }
        }
        out
    }

    /// Hands the accesses of a payload to `visitor`. Whatever it was given before an error counts for nothing.
    pub fn visit(&self, steps: Cursor<'_>, visitor: &mut impl Visitor) -> Result<(), Malformed> {
        Decoder::new(self).visit(steps, visitor)
    }
}

fn shapes(cursor: &mut Cursor<'_>) -> Result<Vec<Shape>, Malformed> {
    let count = cursor.number()?;
    // Every shape takes four bytes at least.
    if count > cursor.rest().len() as u64 / 4 {
        return Err(Malformed("the shapes are cut off"));
    }
    (0..count).map(|_| shape(cursor)).collect()
}

fn shape(cursor: &mut Cursor<'_>) -> Result<Shape, Malformed> {
    let (site, allocation, bytes) = (cursor.small()?, cursor.small()?, cursor.small()?);
    let kind = Kind::ALL.get(cursor.number()? as usize).copied().ok_or(Malformed("an access has no known kind"))?;
    Ok(Shape { site, allocation, bytes, kind })
}
