//! The program point that a question is about: which facts may be used there, and what relying on one assumes.
//!
//! Conditions and questions to solvers say the same of a point, each in its own terms. Deliberately absent: those terms.

use super::words::words;
use super::{Assumption, Pair};
use crate::calculus::Basis;
use crate::calculus::intervals::Relation;
use crate::protocol::{AccessId, Before, Fact, Guard, LoopId, Protocol, Relational, SyncId};

/// A place in the order of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::prove) enum ProgramPoint {
    /// The entry of the kernel: what is stated holds, nothing has been proved on the path.
    Entry,
    /// An access.
    Access(AccessId),
    /// A sync.
    Sync(SyncId),
    /// A claim after so much. Only what stands before a claim may be used for it, also of what is stated: a claim
    /// is checked where it stands, and one that is proved may be relied on after it.
    Claim(Before),
}

impl ProgramPoint {
    /// Whether the fact of this number may be used at the point, if all conditions on the path to it hold there.
    pub(in crate::prove) fn may_use(self, number: usize, fact: &Fact) -> bool {
        match self {
            ProgramPoint::Entry => fact.basis.is_told(),
            ProgramPoint::Access(access) => fact.holds_at_access(access),
            ProgramPoint::Sync(sync) => fact.holds_at_sync(sync),
            ProgramPoint::Claim(before) => number < before.facts,
        }
    }
}

/// The facts about two threads that both accesses of a pair have passed, in the same iterations of all loops around them if
/// they are not about memory alone.
pub(in crate::prove) fn relations<'p>(protocol: &'p Protocol, pair: &Pair) -> Vec<&'p Fact> {
    let accesses = [pair.first, pair.second].map(|id| &protocol.accesses[id]);
    let passed = |fact: &&Fact| {
        let guarded = accesses
            .iter()
            .all(|access| fact.guards.iter().all(|guard| access.guards.iter().any(|other| other.cond == guard.cond)));
        let together = fact.loops.iter().all(|&id| {
            let site = protocol.loops[id].site;
            accesses.iter().all(|access| access.loops.contains(&id))
                && (fact.basis == Basis::Held || pair.meeting.relations.contains(&(site, Relation::Same)))
        });
        guarded && together
    };
    let reached = |fact: &&Fact| [pair.first, pair.second].into_iter().all(|access| fact.holds_at_access(access));
    let facts = protocol.facts.iter().filter(reached).filter(passed);
    facts.filter(|fact| protocol.relation(fact.cond).is_some()).collect()
}

/// The facts about two threads that both have passed at a place, in the same iterations of all loops around it.
pub(in crate::prove) fn relations_at<'p>(
    protocol: &'p Protocol,
    point: ProgramPoint,
    (loops, guards): (&[LoopId], &[Guard]),
) -> Vec<&'p Fact> {
    let facts = protocol.facts.iter().enumerate();
    let usable = facts.filter(|(number, fact)| point.may_use(*number, fact) && fact.is_passed(loops, guards));
    usable.map(|(_, fact)| fact).filter(|fact| protocol.relation(fact.cond).is_some()).collect()
}

/// The assumption that what a fact states about two threads holds, in words.
pub fn stated_relation(protocol: &Protocol, fact: &Fact) -> Assumption {
    let (value, what) = match protocol.relation(fact.cond) {
        Some(Relational::Distinct(value)) => (value, "differs between any two threads"),
        Some(Relational::Uniform(value)) => (value, "is the same in all threads"),
        Some(Relational::Formula(_)) | None => (fact.cond, "holds for any two threads"),
    };
    Assumption::Stated(format!("{} {what}", words(protocol, value)))
}

/// The assumption that a fact which is told holds.
pub fn stated(protocol: &Protocol, fact: &Fact) -> Assumption {
    let words = words(protocol, fact.cond);
    if fact.basis == Basis::Needed { Assumption::Needed(words) } else { Assumption::Stated(words) }
}
