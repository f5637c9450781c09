//! The syncs of parts of a block, as they were passed by those who access.

use crate::memory_model::passed::{self, Passed};
use rustc_hash::FxHashMap;

/// The tiles of one block, each once.
pub(super) struct Tiles {
    tiles: Vec<Passed>,
    by_tile: FxHashMap<[u32; 5], u32>,
    /// Whether the first so many tiles are apart.
    apart: (usize, bool),
    current: u32,
}

impl Default for Tiles {
    fn default() -> Self {
        Tiles { tiles: Vec::new(), by_tile: FxHashMap::default(), apart: (0, true), current: 0 }
    }
}

impl Tiles {
    /// The accesses that follow are of this tile.
    pub(super) fn enter(&mut self, tile: [u32; 5]) {
        let new = self.tiles.len() as u32;
        self.current = *self.by_tile.entry(tile).or_insert(new);
        if self.current == new {
            self.tiles.push(Passed { tile, ..Passed::default() });
        }
    }

    /// The number of the tile that was entered last.
    pub(super) fn current(&self) -> u32 {
        self.current
    }

    /// The tiles by their numbers.
    pub(super) fn all(&self) -> &[Passed] {
        &self.tiles
    }

    /// See [`Interval::tiles_are_apart`](super::sweep::Interval::tiles_are_apart).
    pub(super) fn are_apart(&mut self) -> bool {
        let (known, answer) = self.apart;
        if known == self.tiles.len() {
            return answer;
        }
        let distinct = |group: u32| {
            let mut counts: Vec<u32> = self.tiles.iter().map(|passed| passed::tile(passed, group)).collect();
            counts.sort_unstable();
            counts.windows(2).all(|pair| pair[0] != pair[1])
        };
        self.apart = (self.tiles.len(), (1..=5).all(distinct));
        self.apart.1
    }

    /// Forgets all of them, for the next block.
    pub(super) fn clear(&mut self) {
        self.tiles.clear();
        self.by_tile.clear();
        self.apart = (0, true);
    }
}
