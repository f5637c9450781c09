//! Order by counting: the syncs that two threads have passed say whether one stands between their accesses.
//!
//! Whoever watches a run counts for each thread the syncs that it took part in. All threads of a group take
//! part in the syncs of the group, so that equal numbers mean that no sync of the group stands between.

use super::Level;

/// Threads of a warp.
const WARP_BITS: u32 = 5;

/// Syncs that a thread has passed before an access, counting only those that order the memory of the access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Passed {
    /// Of the whole grid.
    pub grid: u32,
    /// Of the whole block.
    pub block: u32,
    /// Of aligned groups of at least 2, 4, 8, 16 and 32 threads.
    pub tile: [u32; 5],
}

/// The smallest aligned group of a power of two threads that holds two distinct threads of a block: the
/// logarithm of its size.
pub fn common_group(one: u32, other: u32) -> u32 {
    u32::BITS - (one ^ other).leading_zeros()
}

/// Where two distinct threads of one block stand whose smallest common group has `2^group` threads.
pub fn level_of_group(group: u32) -> Level {
    if group <= WARP_BITS { Level::Warp } else { Level::Block }
}

/// Whether no sync stands between two accesses of distinct threads of one block, whose smallest common group has
/// `2^group` threads.
pub fn unordered_in_block(one: &Passed, other: &Passed, group: u32) -> bool {
    (one.grid, one.block) == (other.grid, other.block) && tile(one, group) == tile(other, group)
}

/// Whether no sync stands between two accesses of threads of different blocks.
pub fn unordered_in_grid(one: &Passed, other: &Passed) -> bool {
    one.grid == other.grid
}

/// The syncs of groups that are smaller than the block and hold `2^group` threads at least.
pub fn tile(passed: &Passed, group: u32) -> u32 {
    match group {
        1..=WARP_BITS => passed.tile[group as usize - 1],
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_group_is_the_smallest_aligned_one() {
        assert_eq!(
            [(0, 1), (1, 2), (4, 7), (15, 16), (31, 32), (0, 1023)].map(|(one, other)| common_group(one, other)),
            [1, 2, 2, 5, 6, 10]
        );
        assert_eq!(level_of_group(common_group(0, 31)), Level::Warp);
        assert_eq!(level_of_group(common_group(31, 32)), Level::Block);
    }

    #[test]
    fn a_sync_orders_whom_its_group_holds() {
        let none = Passed::default();
        let block = Passed { block: 1, ..none };
        let grid = Passed { grid: 1, ..none };
        // One sync of a tile of four threads counts for groups of two and of four.
        let four = Passed { tile: [1, 1, 0, 0, 0], ..none };
        assert!((1..11).all(|group| unordered_in_block(&none, &none, group)));
        assert!((1..11).all(|group| !unordered_in_block(&none, &block, group)));
        assert!((1..11).all(|group| !unordered_in_block(&none, &grid, group)));
        assert_eq!(
            (1..8).map(|group| unordered_in_block(&none, &four, group)).collect::<Vec<_>>(),
            [false, false, true, true, true, true, true]
        );
        assert!(unordered_in_grid(&none, &block) && !unordered_in_grid(&none, &grid));
    }
}
