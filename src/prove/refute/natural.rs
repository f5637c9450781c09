//! Launches that somebody would make: what a search found in two threads is shown again in a launch of whole warps.
//!
//! A search tries small launches first, since they are cheap and find most. Who reads "blocks of (2,1,1) threads, n = 2"
//! thinks of a case that never comes up, though, and is right to: so a witness is sought again, in blocks of at least two
//! whole warps, in grids of at least two blocks along each extent that may be chosen, with sizes that cover them. First
//! come the sizes that hosts compute from a launch, then those of the witness that is known, then those that the
//! condition of a conflict asks for. What the source or a scope fixes stays as it is.
//!
//! Deliberately absent: a claim that no such launch has the conflict where none of these few shows it.

use super::guide::{self, Apart};
use super::space::Space;
use super::witness::Launch;
use super::{Hunt, chosen_blocks, key_of};
use crate::calculus::Geometry;
use crate::calculus::eval::WARP;
use crate::protocol::Protocol;
use crate::prove::Pair;

/// Extents of the free axes of a block, in the order in which they are tried: what one axis, two and three are given.
const LINES: [[u32; 3]; 5] = [[64, 1, 1], [128, 1, 1], [256, 1, 1], [512, 1, 1], [32, 1, 1]];
const PLANES: [[u32; 3]; 6] = [[16, 16, 1], [8, 8, 1], [32, 8, 1], [32, 32, 1], [64, 2, 1], [32, 2, 1]];
const SOLIDS: [[u32; 3]; 3] = [[4, 4, 4], [8, 8, 4], [32, 2, 2]];
/// Where other axes are fixed, fewer threads along the free one are whole warps.
const NARROW: [u32; 3] = [16, 8, 4];
/// Blocks along each free axis of a grid.
const BLOCKS: u32 = 2;
/// Geometries of whole warps that are tried, those of tiles, and the launches of each whose sizes are computed from it.
const MOST_GEOMETRIES: usize = 3;
const MOST_TILES: usize = 2;
const SIZES_OF_EACH: usize = 12;
/// Pairs whose conditions are solved for such a geometry.
const MOST_SOLVED: usize = 8;
/// No run may take more than this part of what is left.
const RUN_SHARE: u64 = 3;
/// Threads that a tile has at least.
const TILE: u64 = 16;
/// Threads that a block needs to be natural: two warps.
const TWO_WARPS: u64 = 2 * WARP as u64;

impl Space {
    /// Whether a launch has the shape of one that somebody makes, as far as it may be chosen.
    pub(super) fn is_natural(&self, geometry: &Geometry) -> bool {
        let threads = geometry.block_threads();
        // Of fewer where no block may have more.
        let is_whole = threads.is_multiple_of(self.max_threads.min(u64::from(WARP)).max(1));
        let is_whole = is_whole && threads >= self.max_threads.min(TWO_WARPS);
        (!self.chooses_blocks() || is_whole) && self.has_several_blocks(geometry)
    }

    fn chooses_blocks(&self) -> bool {
        self.block.iter().any(Option::is_none)
    }

    fn has_several_blocks(&self, geometry: &Geometry) -> bool {
        self.grid.iter().zip(geometry.grid).all(|(fixed, extent)| fixed.is_some() || extent >= BLOCKS)
    }

    /// Whether the sizes of a launch cover its threads, as far as they may be chosen: none is less than an extent of the block,
    /// which is no smaller than a tile. Steps, offsets and bounds, by which nothing is multiplied or divided, are no sizes.
    pub(super) fn is_covering(&self, geometry: &Geometry, params: &[Option<i128>]) -> bool {
        let least = i128::from(geometry.block.into_iter().max().unwrap_or(1));
        let covers = |index: usize| params[index].is_none_or(|value| value >= least);
        let is_large = !self.chooses_blocks() || geometry.block_threads() >= self.max_threads.min(TILE);
        is_large
            && self.has_several_blocks(geometry)
            && self.open_params().all(|index| !self.is_size(index) || covers(index))
    }

    /// Natural launches, and those of blocks that are a tile, by the order in which they are tried.
    pub(super) fn natural_geometries(&self) -> Vec<Geometry> {
        let free: Vec<usize> = (0..3).filter(|&axis| self.block[axis].is_none()).collect();
        let shapes: Vec<[u32; 3]> = match free.len() {
            0 => vec![[1; 3]],
            1 => LINES.into_iter().chain(NARROW.into_iter().chain(self.tiles()).map(|extent| [extent, 1, 1])).collect(),
            2 => self.tiles().map(|tile| [tile, tile, 1]).chain(PLANES).collect(),
            _ => SOLIDS.to_vec(),
        };
        let grid = self.grid.map(|fixed| fixed.unwrap_or(BLOCKS));
        let all = shapes.into_iter().map(|shape| {
            let mut block = self.block.map(|fixed| fixed.unwrap_or(1));
            for (&axis, extent) in free.iter().zip(shape) {
                block[axis] = extent;
            }
            Geometry { block, grid }
        });
        let is_allowed = |geometry: &Geometry| {
            let is_large = self.is_natural(geometry) || geometry.block_threads() >= TILE;
            is_large && geometry.block_threads() <= self.max_threads && self.admits(geometry)
        };
        let mut geometries: Vec<Geometry> = Vec::new();
        for geometry in all.filter(is_allowed) {
            if !geometries.contains(&geometry) {
                geometries.push(geometry);
            }
        }
        let (natural, tiles): (Vec<_>, Vec<_>) = geometries.into_iter().partition(|geometry| self.is_natural(geometry));
        natural.into_iter().take(MOST_GEOMETRIES).chain(tiles.into_iter().take(MOST_TILES)).collect()
    }

    /// The sizes that hosts compute for such a launch: as many elements as threads of the launch or of a block, and one of them
    /// one more or less than the others.
    pub(super) fn natural_valuations(&self, geometry: &Geometry) -> Vec<Vec<Option<i128>>> {
        let block = i128::from(geometry.block_threads());
        let bases = [block * i128::from(geometry.blocks()), i128::from(geometry.block[0]), block];
        let equal = bases.map(|base| self.valuation(&mut |_| base));
        // A step is one as often as not.
        let open: Vec<usize> = self.open_params().filter(|&index| !self.is_of_lanes(index)).collect();
        let stepping =
            bases.map(|base| self.valuation(&mut |position| if self.is_size(open[position]) { base } else { 1 }));
        let apart = bases.into_iter().take(2).rev().flat_map(|base| {
            let with = move |chosen: usize, value: i128| {
                self.valuation(&mut move |position| if position == chosen { value } else { base })
            };
            (0..self.free_params()).flat_map(move |chosen| [with(chosen, base - 1), with(chosen, base + 1)])
        });
        let mut valuations: Vec<Vec<Option<i128>>> = Vec::new();
        for values in equal.into_iter().chain(stepping).chain(apart) {
            if self.is_covering(geometry, &values) && !valuations.contains(&values) {
                valuations.push(values);
            }
        }
        valuations.truncate(SIZES_OF_EACH);
        valuations
    }
}

impl Hunt<'_> {
    /// Looks for natural witnesses of what is known in other launches alone.
    pub(super) fn prefer_natural(&mut self, protocol: &Protocol, pairs: &[Pair]) {
        self.findings.prefer_natural();
        let space = self.space.clone();
        for geometry in space.natural_geometries() {
            for params in space.natural_valuations(&geometry) {
                if self.findings.are_covered() {
                    return;
                }
                self.try_naturally(&Launch { geometry, params, blocks: None });
            }
            for launch in self.findings.unnatural_launches() {
                self.try_naturally(&Launch { geometry, blocks: None, ..launch });
            }
            self.solve_naturally(protocol, pairs, &space.of(&geometry));
        }
    }

    /// Launches of one geometry that the conditions of conflicts ask for.
    fn solve_naturally(&mut self, protocol: &Protocol, pairs: &[Pair], space: &Space) {
        for pair in pairs.iter().take(MOST_SOLVED) {
            if self.findings.is_unnatural(key_of(protocol, pair))
                && let Some(launch) = guide::conflict(protocol, self.aligned(protocol, pair), space, Apart::Distinct)
            {
                self.try_naturally(&launch);
            }
        }
    }

    /// Runs such a launch, as long as there is something left to do that with.
    fn try_naturally(&mut self, launch: &Launch) {
        let blocks = chosen_blocks(&launch.geometry, self.natural_tries, self.mentions.statements);
        let together = self.program.runs_blocks_together();
        let launch =
            Launch { blocks: if together { None } else { launch.blocks.clone().or(blocks) }, ..launch.clone() };
        let budget = self.natural_tries / RUN_SHARE;
        let (steps, _) = self.run(&launch, budget);
        self.natural_tries -= steps.min(self.natural_tries);
    }
}
