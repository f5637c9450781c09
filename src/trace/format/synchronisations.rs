//! What orders threads beside the syncs that accesses count: fences, atomics, and barriers and meetings once more, in the
//! order in which they happened.
//!
//! A program without fences and without atomics that have an order logs none of this. Where there is any, each thread
//! counts its own ([`Epochs::synchronised`](super::Epochs::synchronised)), so that each access stands between two of them.
//!
//! ```text
//! launch, then to the end of the payload:
//! head   ticket   block   thread   and for loads, stores and updates: cell   for meetings: lanes
//! ```
//!
//! All but head, thread and lanes are differences from the last one in the chunk. Tickets are unique in a launch, and two
//! synchronisations that are of one thread, or touch one cell, have theirs in the order in which they happened. The head:
//!
//! | bits | meaning |
//! |---|---|
//! | 0 to 2 | 0 fence, 1 load, 2 store, 3 update, 4 barrier of the block, 5 meeting of lanes |
//! | 3 to 5 | 0 relaxed, 1 acquire, 2 release, 3 both, 4 sequentially consistent |
//! | 6 to 8 | among the threads of a 0 warp, 1 block, 2 cluster, 3 device, 4 system |
//! | 9 | whether the cell is of the block: another one in each block |
//!
//! A meeting is of the threads `thread + i` for each bit `i` of its lanes. A barrier is a step of the block, not of threads.
//!
//! Deliberately absent: what is ordered by it ([`crate::memory_model::clocks`]).

use super::bytes::{Cursor, Malformed, from_zigzag, put, to_zigzag};
use crate::memory_model::clocks::Touch;
use crate::memory_model::{MemoryOrder, SyncScope};

/// More of one launch are counted and not written.
pub const MOST: u64 = 1 << 22;

/// Memory that atomics touch: the block that has it, if it is another one in each block, and its address.
pub type Cell = (Option<u64>, u64);

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A fence.
    Fence(MemoryOrder, SyncScope),
    /// An atomic.
    Atomic(Touch, Cell, MemoryOrder, SyncScope),
    /// All threads of the block met.
    Barrier,
    /// These threads met, from the one on that is named: bits by distance from it.
    Meeting(u32),
}

/// Something that orders threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synchronisation {
    /// When it happened.
    pub ticket: u64,
    /// The block, linear in the grid.
    pub block: u64,
    /// The thread, linear in the block.
    pub thread: u32,
    /// What it is.
    pub event: Event,
}

const ORDERS: [MemoryOrder; 5] = [
    MemoryOrder::Relaxed,
    MemoryOrder::Acquire,
    MemoryOrder::Release,
    MemoryOrder::AcquireRelease,
    MemoryOrder::SequentiallyConsistent,
];

const SCOPES: [SyncScope; 5] =
    [SyncScope::Warp, SyncScope::Block, SyncScope::Cluster, SyncScope::Grid, SyncScope::System];

/// The launch of a payload, and what is in it.
pub fn read(payload: &[u8]) -> Result<(u32, Vec<Synchronisation>), Malformed> {
    let mut cursor = Cursor::new(payload);
    let launch = cursor.small()?;
    let mut last = Last::default();
    let mut all = Vec::new();
    while !cursor.is_empty() {
        all.push(next(&mut cursor, &mut last)?);
    }
    Ok((launch, all))
}

#[derive(Default)]
struct Last {
    ticket: u64,
    block: u64,
    cell: u64,
}

/// Adds a difference that follows.
fn step(value: &mut u64, cursor: &mut Cursor<'_>) -> Result<u64, Malformed> {
    *value = value.wrapping_add(from_zigzag(cursor.number()?));
    Ok(*value)
}

fn next(cursor: &mut Cursor<'_>, last: &mut Last) -> Result<Synchronisation, Malformed> {
    let head = cursor.number()?;
    let part = |shift: u32| (head >> shift & 7) as usize;
    let order = *ORDERS.get(part(3)).ok_or(Malformed("a synchronisation has no known order"))?;
    let scope = *SCOPES.get(part(6)).ok_or(Malformed("a synchronisation has no known scope"))?;
    let (ticket, block, thread) = (step(&mut last.ticket, cursor)?, step(&mut last.block, cursor)?, cursor.small()?);
    let mut atomic = |touch| {
        let cell = (head >> 9 & 1 == 1).then_some(block);
        Ok(Event::Atomic(touch, (cell, step(&mut last.cell, cursor)?), order, scope))
    };
    let event = match head & 7 {
        0 => Event::Fence(order, scope),
        1 => atomic(Touch::Load)?,
        2 => atomic(Touch::Store)?,
        3 => atomic(Touch::Update)?,
        4 => Event::Barrier,
        5 => Event::Meeting(cursor.small()?),
        _ => return Err(Malformed("a synchronisation is of no known kind")),
    };
    Ok(Synchronisation { ticket, block, thread, event })
}

/// A payload.
pub fn write(launch: u32, all: &[Synchronisation]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, launch.into());
    let mut last = Last::default();
    for one in all {
        let (kind, order, scope, cell) = parts(&one.event);
        let order = ORDERS.iter().position(|known| *known == order).unwrap_or_default() as u64;
        let scope = SCOPES.iter().position(|known| *known == scope).unwrap_or_default() as u64;
        let is_of_block = cell.is_some_and(|(block, _)| block.is_some());
        put(&mut out, kind | order << 3 | scope << 6 | u64::from(is_of_block) << 9);
        put(&mut out, to_zigzag(one.ticket.wrapping_sub(last.ticket)));
        put(&mut out, to_zigzag(one.block.wrapping_sub(last.block)));
        put(&mut out, one.thread.into());
        (last.ticket, last.block) = (one.ticket, one.block);
        if let Some((_, address)) = cell {
            put(&mut out, to_zigzag(address.wrapping_sub(last.cell)));
            last.cell = address;
        }
        if let Event::Meeting(lanes) = one.event {
            put(&mut out, lanes.into());
        }
    }
    out
}

fn parts(event: &Event) -> (u64, MemoryOrder, SyncScope, Option<Cell>) {
    match *event {
        Event::Fence(order, scope) => (0, order, scope, None),
        Event::Atomic(touch, cell, order, scope) => {
            let kind = match touch {
                Touch::Load => 1,
                Touch::Store => 2,
                Touch::Update => 3,
            };
            (kind, order, scope, Some(cell))
        }
        Event::Barrier => (4, MemoryOrder::Relaxed, SyncScope::Warp, None),
        Event::Meeting(_) => (5, MemoryOrder::Relaxed, SyncScope::Warp, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synchronisations_come_back_and_damage_is_told() {
        let (device, shared) = ((None, 4096), (Some(3), 64));
        let events = [
            Event::Fence(MemoryOrder::SequentiallyConsistent, SyncScope::Grid),
            Event::Atomic(Touch::Update, device, MemoryOrder::Relaxed, SyncScope::System),
            Event::Atomic(Touch::Load, shared, MemoryOrder::Acquire, SyncScope::Block),
            Event::Atomic(Touch::Store, device, MemoryOrder::Release, SyncScope::Cluster),
            Event::Barrier,
            Event::Meeting(0xffff_0001),
        ];
        let one = |(ticket, event): (u64, Event)| Synchronisation { ticket: 100 - ticket, block: 3, thread: 32, event };
        let all: Vec<Synchronisation> = (0..).zip(events).map(one).collect();
        let payload = write(7, &all);
        assert_eq!(read(&payload), Ok((7, all)));
        assert!(read(&payload[..payload.len() - 1]).is_err());
        assert!(read(&[0, 6, 0, 0, 0]).is_err());
    }
}
