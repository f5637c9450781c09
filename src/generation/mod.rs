//! Inputs of kernels that reach what their tests have to reach: which to try, what a try tells of the next, which of them are kept.
//!
//! After docs/PAPERS.md, "Peng 2019" (CLTestCheck), which measures coverage and leaves open where inputs come from. A [`Signature`] says what a kernel
//! takes, a [`Case`] is one launch of it with the memory that it is given, a [`Goal`] is something to reach: a side of a branch, a kind of
//! executions of a loop, a whole round of a barrier, a run of statements. [`search`] tries, in this order,
//!
//! 1. boundaries: sizes beside the block's and the grid's, 0, 1, the numbers of the text and their neighbours ([`values`]);
//! 2. what somebody who reasons about the kernel says of the rest: that nobody can reach it, or a launch that might;
//! 3. each number and each buffer varied alone, in the cases that reach most;
//! 4. for each side of a branch that is missed, what the comparisons of its condition told: an operand that came straight from the input is given the value
//!    that it is compared with; else the input is moved along the slope of the difference ([`approach`]);
//! 5. cases at random, until time is over or many have reached nothing new.
//!
//! Guarantees: equal seeds and equal answers give equal cases; the cases that are kept reach together what all of the tried ones reach, and none of them can be
//! left out ([`corpus`]); those that break a contract on contents ([`contract`]) are apart, and are kept for what no other reaches.
//!
//! Deliberately absent: running anything and reasoning about kernels, for which whoever searches hands over an [`Oracle`](search::Oracle).

pub mod approach;
pub mod case;
pub mod contract;
pub mod corpus;
pub mod search;
pub mod signature;
pub mod values;

pub use case::{Case, Contents};
pub use contract::DataContract;
pub use search::{Answer, Budget, Found, Miss, Oracle, Reasoned, Wanted, search};
pub use signature::{Memory, Shape, Signature, Slot};

/// Something to reach: a point of coverage, by number, and which side of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Goal {
    /// The number of the point.
    pub point: usize,
    /// Which of its goals: of a branch 0 is false and 1 true; of a loop 0, 1 and 2 are no turn, one, and several; of all others 0 is all.
    pub side: u8,
}

/// The operands of a comparison that came nearest to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// The left one.
    pub a: f64,
    /// The right one.
    pub b: f64,
}

impl Near {
    /// How far they are from each other.
    pub fn apart(self) -> f64 {
        (self.a - self.b).abs()
    }
}
