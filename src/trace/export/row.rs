//! An access with all that orders it, and its bytes in a temporary file.

use super::ExportError;
use crate::trace::format::accesses::{Begins, Visitor};
use crate::trace::format::bytes::{Cursor, Malformed, from_zigzag, put, to_zigzag};
use crate::trace::format::{AccessesHead, Epochs, Kind, Log, Run};

/// A row of the table of accesses. Rows are sorted in the order of their fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub(super) launch: u32,
    /// The number of the space.
    pub(super) space: u8,
    pub(super) address: u64,
    pub(super) allocation: u32,
    pub(super) block: u64,
    pub(super) thread: u32,
    pub(super) epochs: Epochs,
    pub(super) offset: u64,
    pub(super) bytes: u32,
    pub(super) kind: Kind,
    pub(super) site: u32,
}

/// The row before the first.
pub(super) const NONE: Row = Row {
    launch: 0,
    space: 0,
    address: 0,
    allocation: 0,
    block: 0,
    thread: 0,
    epochs: Epochs { grid: 0, block: 0, tile: [0; 5], shared_only: 0, synchronised: 0 },
    offset: 0,
    bytes: 0,
    kind: Kind::Read,
    site: 0,
};

/// Makes rows of a chunk.
pub(super) struct Gathering {
    /// The rows so far.
    pub(super) rows: Vec<Row>,
    /// By shape: what all accesses of the shape have in common, with the base as address.
    shapes: Vec<Row>,
    block: u64,
}

impl Gathering {
    /// For a chunk with this head.
    pub(super) fn new(head: &AccessesHead, log: &Log) -> Result<Self, ExportError> {
        let mut shapes = Vec::with_capacity(head.shapes.len());
        for shape in &head.shapes {
            let allocation = log.allocations.get(&shape.allocation).ok_or(ExportError::Changed)?;
            let (launch, space, address) = (head.launch, allocation.space as u8, allocation.base);
            let (site, bytes, kind) = (shape.site, shape.bytes, shape.kind);
            shapes.push(Row { launch, space, address, allocation: shape.allocation, site, bytes, kind, ..NONE });
        }
        Ok(Gathering { rows: Vec::with_capacity(head.accesses as usize), shapes, block: 0 })
    }
}

impl Visitor for Gathering {
    fn block(&mut self, block: u64, _: Begins) -> Result<(), Malformed> {
        self.block = block;
        Ok(())
    }

    fn run(&mut self, run: &Run<'_>) -> Result<(), Malformed> {
        let (block, epochs) = (self.block, run.epochs);
        for number in 0..run.count {
            let thread = run.thread + number as u32 * run.step;
            for ((&shape, &offset), &stride) in run.shapes.iter().zip(run.offsets).zip(run.strides) {
                let offset = offset.wrapping_add(stride.wrapping_mul(number));
                let common = &self.shapes[shape as usize];
                let address = common.address.wrapping_add(offset);
                self.rows.push(Row { address, block, thread, epochs, offset, ..*common });
            }
        }
        Ok(())
    }
}

fn fields(epochs: &Epochs) -> [u32; 9] {
    let [two, four, eight, sixteen, warp] = epochs.tile;
    [epochs.grid, epochs.block, two, four, eight, sixteen, warp, epochs.shared_only, epochs.synchronised]
}

/// Whether the syncs are those of the row before.
const SAME_EPOCHS: u64 = 1;
/// Whether launch, space, allocation and base are.
const SAME_MEMORY: u64 = 2;
/// Whether site, kind and bytes are.
const SAME_MANNER: u64 = 4;

impl Row {
    fn base(&self) -> u64 {
        self.address.wrapping_sub(self.offset)
    }

    fn memory(&self) -> (u32, u8, u32, u64) {
        (self.launch, self.space, self.allocation, self.base())
    }

    /// Appends the row, as what differs from the one before.
    pub(super) fn write(&self, before: &Row, out: &mut Vec<u8>) {
        let same = |is_same: bool, bit: u64| if is_same { bit } else { 0 };
        let head = same(self.epochs == before.epochs, SAME_EPOCHS)
            | same(self.memory() == before.memory(), SAME_MEMORY)
            | same((self.site, self.kind, self.bytes) == (before.site, before.kind, before.bytes), SAME_MANNER);
        put(out, head);
        if head & SAME_MEMORY == 0 {
            for number in [self.launch.into(), self.space.into(), self.allocation.into(), self.base()] {
                put(out, number);
            }
        }
        if head & SAME_MANNER == 0 {
            for number in [self.site.into(), self.kind as u64, self.bytes.into()] {
                put(out, number);
            }
        }
        if head & SAME_EPOCHS == 0 {
            fields(&self.epochs).into_iter().for_each(|field| put(out, field.into()));
        }
        put(out, to_zigzag(self.offset.wrapping_sub(before.offset)));
        put(out, to_zigzag(self.block.wrapping_sub(before.block)));
        put(out, self.thread.into());
    }

    /// The next row, which follows on this one.
    pub(super) fn read(before: &Row, cursor: &mut Cursor<'_>) -> Result<Row, Malformed> {
        let mut row = *before;
        let head = cursor.number()?;
        let mut base = before.base();
        if head & SAME_MEMORY == 0 {
            (row.launch, row.space) = (cursor.small()?, cursor.number()? as u8);
            (row.allocation, base) = (cursor.small()?, cursor.number()?);
        }
        if head & SAME_MANNER == 0 {
            row.site = cursor.small()?;
            row.kind = *Kind::ALL.get(cursor.number()? as usize).ok_or(Malformed("an access has no known kind"))?;
            row.bytes = cursor.small()?;
        }
        if head & SAME_EPOCHS == 0 {
            let mut next = || cursor.small();
            row.epochs.grid = next()?;
            row.epochs.block = next()?;
            for tile in &mut row.epochs.tile {
                *tile = next()?;
            }
            row.epochs.shared_only = next()?;
            row.epochs.synchronised = next()?;
        }
        row.offset = before.offset.wrapping_add(from_zigzag(cursor.number()?));
        row.block = before.block.wrapping_add(from_zigzag(cursor.number()?));
        row.thread = cursor.small()?;
        row.address = base.wrapping_add(row.offset);
        Ok(row)
    }
}
