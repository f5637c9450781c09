//! Locations that have certainly been written where a read of them stands, so that what the array held at the
//! start does not matter to it.
//!
//! Two forms are recognised, both on the path that leads to the read:
//! - the thread itself wrote the same offset: the same expression over the same definitions;
//! - the first thread of the block, or every thread, wrote a constant offset before a barrier of the block.
//!
//! Facts hold from where they are made to the end of the statement list that they are made in. Inside a loop
//! they hold until the end of the turn: a definition that a turn makes stands for one value within it.
//!
//! Deliberately absent: that all threads together write a whole array.

use super::graph::NodeId;
use crate::calculus::{ArrayId, ExprId, SyncMemory, SyncScope};

/// A location as one thread names it: array, offset, the definitions of the offset's variables, size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) array: ArrayId,
    pub(super) offset: ExprId,
    pub(super) definitions: Vec<NodeId>,
    pub(super) bytes: u32,
}

/// Bytes that some thread of the block wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    array: ArrayId,
    start: i128,
    bytes: u32,
    is_shared: bool,
    /// Whether a barrier stands between.
    is_published: bool,
}

/// What is known to have been written.
#[derive(Clone, Debug, Default)]
pub(super) struct Covered {
    own: Vec<Place>,
    by_block: Vec<Range>,
}

/// A point to return to.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    own: usize,
    by_block: Vec<Range>,
}

/// More facts than this are not kept: they are searched one by one.
const MOST: usize = 512;

/// Who of a block runs a statement, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// The first thread of the block, certainly.
    FirstThread,
    /// Some.
    Some,
}

impl Covered {
    /// Where things stand.
    pub(super) fn mark(&self) -> Mark {
        Mark { own: self.own.len(), by_block: self.by_block.clone() }
    }

    /// Forgets what was learned after `mark`, barriers among them. What the first thread wrote there is kept if
    /// it came there.
    pub(super) fn leave(&mut self, mark: Mark, who: Who) {
        self.own.truncate(mark.own);
        let before = mark.by_block.len();
        let learned = self.by_block.split_off(before);
        self.by_block = mark.by_block;
        if who == Who::FirstThread {
            self.by_block.extend(learned.into_iter().map(|range| Range { is_published: false, ..range }));
        }
    }

    /// A write; `constant` is its offset if that is a constant.
    pub(super) fn write(&mut self, place: Place, constant: Option<i128>, is_shared: bool) {
        if let Some(start) = constant.filter(|_| self.by_block.len() < MOST) {
            let (array, bytes) = (place.array, place.bytes);
            self.by_block.push(Range { array, start, bytes, is_shared, is_published: false });
        }
        if self.own.len() < MOST {
            self.own.push(place);
        }
    }

    /// A barrier that the whole block passes.
    pub(super) fn sync(&mut self, scope: SyncScope, memory: SyncMemory) {
        if scope < SyncScope::Block {
            return;
        }
        for range in &mut self.by_block {
            range.is_published |= if range.is_shared { memory.shared } else { memory.global };
        }
    }

    /// Whether what a read finds at `place` was certainly written before.
    pub(super) fn covers(&self, place: &Place, constant: Option<i128>) -> bool {
        let within = |range: &Range, start: i128| {
            let inner =
                range.start <= start && start + i128::from(place.bytes) <= range.start + i128::from(range.bytes);
            range.is_published && range.array == place.array && inner
        };
        self.own.contains(place) || constant.is_some_and(|start| self.by_block.iter().any(|range| within(range, start)))
    }
}
