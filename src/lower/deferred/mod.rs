//! What happens later than it stands: asynchronous copies, and barriers that a thread arrives at first and waits for later.
//!
//! Guarantees: an access that may happen after a barrier stands on both sides of it; what is not known to be done is under
//! way.
//!
//! Deliberately absent: for how many arrivals objects wait, which the complete kernel tells (`src/settle/parties.rs`).

pub(super) mod again;
pub(super) mod copies;
pub(super) mod events;
pub(super) mod phases;
pub(super) mod pipelines;
pub(super) mod under_way;
