//! Statements and the order of what they do: blocks, branches, loops, jumps, and operands whose order is left open.
//!
//! Guarantees: whatever is emitted stands in the order in which the source does it; where that is open, it is noted.
//!
//! Deliberately absent: what single expressions mean.

pub(super) mod left_to_right;
pub(super) mod loops;
pub(super) mod range;
pub(super) mod scan;
pub(super) mod stmt;
pub(super) mod switch;
