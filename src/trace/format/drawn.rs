//! Parts of logs that are drawn, for tests of what reads logs.
//!
//! Deliberately absent: whole logs, which each test makes as it needs them.

use super::Epochs;
use proptest::prelude::*;

/// Barriers that a thread has passed: of the grid rarely.
pub(in crate::trace) fn epochs() -> impl Strategy<Value = Epochs> {
    (0u32..8, 0u32..3, prop::array::uniform5(0u32..2), 0u32..2).prop_map(|(grid, block, tile, shared_only)| Epochs {
        grid: grid / 6,
        block,
        tile,
        shared_only: shared_only.min(block),
        synchronised: 0,
    })
}
