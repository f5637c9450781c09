//! The ways in which what a store leaves comes to a load: who reads it, and what lies between.
//!
//! They are the classes of data-flow coverage (docs/PAPERS.md, "Peng 2019, section 3.3"). A *barrier* here is one of the block
//! or of the grid that orders the memory; threads of a warp that meet stay in their interval.
//!
//! Deliberately absent: which stores and loads there are, and whether something orders the two.

use serde::{Deserialize, Serialize};

/// A way from a store to a load of the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// The thread reads what it has stored itself, with no barrier between.
    Own,
    /// The same with a barrier between.
    OwnAcrossBarrier,
    /// Another thread of the block reads it, behind a barrier or whatever else orders the two.
    HandedOver,
    /// A thread of another block of the launch reads it.
    BetweenBlocks,
    /// A later launch reads it.
    BetweenLaunches,
}

impl Way {
    /// All ways, the nearest first.
    pub const ALL: [Way; 5] =
        [Way::Own, Way::OwnAcrossBarrier, Way::HandedOver, Way::BetweenBlocks, Way::BetweenLaunches];
}
