//! Memory with, for each byte, who wrote it last.
//!
//! Pages are of words with one writer each, until some access touches a part of a word; then they are of bytes.
//!
//! Guarantees: what is read is what was written last, byte by byte; bytes outside of the window are nobody's.

use crate::trace::format::{Kind, Log, Space};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Bytes of a page.
pub(super) const PAGE: u64 = 256;
const WORD: u64 = 4;

/// Who wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Writer {
    pub(super) site: u32,
    pub(super) launch: u32,
    pub(super) block: u64,
    pub(super) thread: u32,
    /// The syncs before, by their number among those of the launch.
    pub(super) epochs: u32,
    pub(super) kind: Kind,
}

/// Where the allocations that kernels write lie, one behind the other.
pub(super) struct Places {
    bases: FxHashMap<u32, u64>,
    end: u64,
}

/// A part of the places, and how much of the memory of writers it may take.
pub(super) struct Window<'p> {
    pub(super) places: &'p Places,
    pub(super) range: Range<u64>,
    pub(super) limit: u64,
}

impl Places {
    /// Those of the allocations that outlive a block.
    pub(super) fn of(log: &Log) -> Places {
        let mut ends: std::collections::BTreeMap<u32, u64> = std::collections::BTreeMap::new();
        for (&(_, allocation), used) in &log.uses {
            let lasts = log.allocations.get(&allocation).is_some_and(|it| outlives_blocks(it.space));
            if let (true, Some(written)) = (lasts, &used.written) {
                let end = ends.entry(allocation).or_default();
                *end = (*end).max(written.end);
            }
        }
        let (mut bases, mut end) = (FxHashMap::default(), 0);
        for (allocation, bytes) in ends {
            bases.insert(allocation, end);
            end += bytes.next_multiple_of(PAGE);
        }
        Places { bases, end }
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn within(&self, range: Range<u64>, limit: u64) -> Window<'_> {
        Window { places: self, range, limit }
    }
}

/// Whether what is stored there is there when the block has ended.
pub(super) fn outlives_blocks(space: Space) -> bool {
    matches!(space, Space::Global | Space::Managed | Space::Distributed)
}

impl Window<'_> {
    /// The bytes of the allocation that lie in the window.
    pub(super) fn of(&self, allocation: u32) -> Range<u64> {
        let Some(&base) = self.places.bases.get(&allocation) else { return 0..0 };
        self.range.start.saturating_sub(base)..self.range.end.saturating_sub(base)
    }

    /// Whether this one counts accesses: one of all does.
    pub(super) fn is_first(&self) -> bool {
        self.range.start == 0
    }
}

#[derive(Clone)]
enum Page {
    Words(Box<[Option<Writer>; (PAGE / WORD) as usize]>),
    Bytes(Box<[Option<Writer>; PAGE as usize]>),
}

impl Page {
    fn new() -> Page {
        Page::Words(Box::new([None; (PAGE / WORD) as usize]))
    }

    fn size(&self) -> u64 {
        let cells = match self {
            Page::Words(words) => words.len(),
            Page::Bytes(bytes) => bytes.len(),
        };
        (cells * size_of::<Option<Writer>>()) as u64
    }

    fn split(&mut self) {
        if let Page::Words(words) = self {
            *self = Page::Bytes(Box::new(std::array::from_fn(|byte| words[byte / WORD as usize])));
        }
    }
}

/// Last writers.
#[derive(Default)]
pub(super) struct Cells {
    pages: FxHashMap<(u32, u64), Page>,
    /// Bytes that they take.
    held: u64,
}

/// The parts of a range by pages: page, and the bytes in it.
fn parts(range: Range<u64>) -> impl Iterator<Item = (u64, Range<u64>)> {
    let (first, last) = (range.start / PAGE, range.end.div_ceil(PAGE));
    (first..last).map(move |page| {
        let start = page * PAGE;
        (page, range.start.max(start) - start..range.end.min(start + PAGE) - start)
    })
}

fn indices(range: &Range<u64>, unit: u64) -> Range<usize> {
    (range.start / unit) as usize..range.end.div_ceil(unit) as usize
}

impl Cells {
    /// Bytes of memory.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    pub(super) fn clear(&mut self) {
        self.pages.clear();
        self.held = 0;
    }

    /// Calls `tell` with the last writers of bytes, each with how many bytes.
    pub(super) fn read(&self, allocation: u32, range: Range<u64>, mut tell: impl FnMut(&Writer, u64)) {
        for (page, part) in parts(range) {
            match self.pages.get(&(allocation, page)) {
                None => {}
                Some(Page::Words(words)) => {
                    for at in indices(&part, WORD) {
                        let word = at as u64 * WORD..(at as u64 + 1) * WORD;
                        let bytes = part.end.min(word.end) - part.start.max(word.start);
                        words[at].iter().for_each(|writer| tell(writer, bytes));
                    }
                }
                Some(Page::Bytes(bytes)) => {
                    bytes[indices(&part, 1)].iter().flatten().for_each(|writer| tell(writer, 1))
                }
            }
        }
    }

    /// Bytes are written by that one, or, without one, by somebody who is none.
    pub(super) fn write(&mut self, allocation: u32, range: Range<u64>, writer: Option<Writer>) {
        for (number, part) in parts(range) {
            if writer.is_none() && !self.pages.contains_key(&(allocation, number)) {
                continue;
            }
            let is_whole = part.start % WORD == 0 && part.end % WORD == 0;
            let mut added = 0;
            let page = self.pages.entry((allocation, number)).or_insert_with(|| {
                let page = Page::new();
                added = page.size();
                page
            });
            if !is_whole && matches!(page, Page::Words(_)) {
                let before = page.size();
                page.split();
                added += page.size() - before;
            }
            match page {
                Page::Words(words) => words[indices(&part, WORD)].fill(writer),
                Page::Bytes(bytes) => bytes[indices(&part, 1)].fill(writer),
            }
            self.held += added;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(site: u32) -> Writer {
        Writer { site, launch: 0, block: 0, thread: 0, epochs: 0, kind: Kind::Write }
    }

    #[test]
    fn each_byte_has_its_last_writer() {
        let mut cells = Cells::default();
        cells.write(1, 252..264, Some(writer(1)));
        cells.write(1, 255..258, Some(writer(2)));
        cells.write(1, 260..262, None);
        cells.write(2, 0..4, Some(writer(3)));
        let mut seen = Vec::new();
        cells.read(1, 248..270, |writer, bytes| seen.extend(vec![writer.site; bytes as usize]));
        assert_eq!(seen, [1, 1, 1, 2, 2, 2, 1, 1, 1, 1]);
        assert_eq!(cells.held(), 2 * Page::Bytes(Box::new([None; 256])).size() + Page::new().size());
        cells.clear();
        cells.read(1, 0..1000, |_, _| panic!("nobody has written"));
    }
}
