//! Barrier intervals: which two accesses can happen without a common barrier between them.
//!
//! Answers are structural and say under which circumstances two accesses meet ([`Meeting`]); whether these
//! circumstances are possible is for [`crate::prove`] to find out. The definition is section 6 of the
//! design (after paper 001, section 3, and paper 003, "sync-segments"):
//!
//! - All threads of a block run the same sync *instances* in program order; an instance is a sync and the
//!   iteration number of every loop around it. Two accesses of two threads share an interval unless an
//!   instance that **both** threads execute lies between them in program order. So each instance between
//!   them contributes the circumstance "its guard fails for one of the two threads".
//! - A sync inside a loop whose trip count was not shown to be the same for all threads that reach the
//!   loop orders nothing. The caller says which syncs order ([`Ordering`]).
//! - What two threads share in a loop around a sync is the iteration number, never the variable.
//! - A loop that may run zero times joins its surroundings: a sync in it counts for accesses outside only
//!   through the guard of its first (or next) iteration.
//!
//! Deliberately absent: the values of guards, memory spaces, levels.

use super::SiteId;

/// How the iteration number of a common loop in the second access relates to that in the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// The same iteration.
    Same,
    /// The second access happens one iteration later.
    Next,
    /// The second access happens one iteration earlier.
    Previous,
    /// No relation: the iteration numbers are private to each thread.
    Any,
}

/// One way for two accesses to share an interval.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Meeting {
    /// The loops around both accesses, outermost first, with the relation of their iteration numbers.
    /// After the first relation other than `Same`, all further ones are `Any` (iteration numbers of an
    /// inner loop in different turns of an outer one are unrelated).
    pub relations: Vec<(SiteId, Relation)>,
    /// Sync instances between the two accesses. For each, the guard fails in at least one thread.
    pub between: Vec<SyncInstance>,
}

/// One instance of a sync, between a first and a second access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SyncInstance {
    /// The sync.
    pub sync: SiteId,
    /// For every loop around it, outermost first, which iteration it is.
    pub iterations: Vec<(SiteId, Turn)>,
}

/// An iteration of a loop around a sync instance, seen from two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Turn {
    /// The iteration of the first access.
    First,
    /// The one after that of the first access.
    AfterFirst,
    /// The iteration of the second access.
    Second,
    /// The one before that of the second access.
    BeforeSecond,
    /// The iteration number 0.
    Zero,
}
