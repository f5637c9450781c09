//! What the passes concluded about one kernel, before it is put into words.

use crate::calculus::SiteId;
pub use crate::diagnostic::report::{ContractKind, Keeping};
use crate::diagnostic::report::{Divergence, Race, Scope};
use crate::memory_model::Level;
use crate::protocol::{AccessId, Reason, SyncId};
use crate::prove::hand_over::{LocksApart, MissingFence};
use crate::prove::refute::FailedAssertion;
use crate::prove::{self, Assumption, Conflict, DataConflict, Open, Pair, Witness};
use crate::source::Span;
use std::collections::BTreeSet;

/// What the passes concluded about one kernel.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Whether threads race.
    pub race: Race,
    /// Whether threads disagree about barriers.
    pub divergence: Divergence,
    /// For which launches that holds; `None` where nothing was decided.
    pub scope: Option<Scope>,
    /// What it relies on.
    pub assumptions: BTreeSet<Assumption>,
    /// Races that were found by running the kernel.
    pub conflicts: Vec<Conflict>,
    /// Divergences that were found by running the kernel.
    pub divergences: Vec<prove::Divergence>,
    /// Pairs that nothing excludes and whose conflict depends on what is not known.
    pub possible: Vec<PossibleRace>,
    /// Syncs that nothing proves uniform and whose guards depend on what is not known.
    pub possible_divergences: Vec<PossibleDivergence>,
    /// Claims that fail in some run.
    pub failed_claims: Vec<FailedAssertion>,
    /// Claims that nothing proves and that depend on what is not known.
    pub possible_claims: Vec<PossibleClaim>,
    /// What neither proof nor search decided.
    pub undecided: Vec<Undecided>,
    /// Of a kernel that is not free for all launches: under which condition on them it is, if one was found.
    pub contract: Option<Contract>,
}

/// Conditions on launches under which no threads race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The conditions, all of which have to hold.
    pub conjuncts: Vec<Conjunct>,
    /// Whether somebody would make a launch that it admits.
    pub standing: Standing,
    /// What the proof relies on besides.
    pub assumptions: BTreeSet<Assumption>,
    /// What the launches that were found say of it.
    pub launches: Vec<CheckedLaunch>,
}

/// One condition of a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conjunct {
    /// The condition, with ids and sizes as in CUDA.
    pub text: String,
    /// What it is about.
    pub kind: ContractKind,
    /// A race that the other conditions do not exclude, if one was replayed.
    pub necessary: Option<Witness>,
}

/// Whether a contract is one that somebody keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It admits launches that somebody would make, and each of its conditions is needed.
    Plausible,
    /// It does not, or that is not shown: it excuses no race.
    Excuse,
}

/// Launches, and what they say of a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedLaunch {
    /// Which, by position among the launches of the kernel; empty if the user gives one.
    pub launches: Vec<usize>,
    /// Whether they keep it.
    pub keeping: Keeping,
    /// The conjuncts that are not shown to hold, by position.
    pub missing: Vec<usize>,
    /// Races that a run of it shows, if it breaks the contract.
    pub races: Vec<Witness>,
}

impl Verdict {
    /// A verdict with nothing found, nothing open and nothing relied on, about no launches yet.
    pub fn new(race: Race, divergence: Divergence) -> Verdict {
        Verdict {
            race,
            divergence,
            scope: None,
            assumptions: BTreeSet::new(),
            conflicts: Vec::new(),
            divergences: Vec::new(),
            possible: Vec::new(),
            possible_divergences: Vec::new(),
            failed_claims: Vec::new(),
            possible_claims: Vec::new(),
            undecided: Vec::new(),
            contract: None,
        }
    }

    /// Whether the kernel is proved free of races and uniform, and nothing else is to be said of it.
    pub fn is_proved(&self) -> bool {
        let Verdict { conflicts, divergences, possible, possible_divergences, .. } = self;
        let Verdict { failed_claims, possible_claims, undecided, .. } = self;
        let is_clean = conflicts.is_empty() && divergences.is_empty() && possible.is_empty();
        let are_claims_clean = failed_claims.is_empty() && possible_claims.is_empty();
        let is_settled = possible_divergences.is_empty() && undecided.is_empty() && self.contract.is_none();
        let is_proved = self.race == Race::RaceFree && self.divergence == Divergence::Uniform;
        is_proved && is_clean && are_claims_clean && is_settled
    }

    /// Takes back what was proved from facts whose derivations the checker did not accept.
    pub fn reject(&mut self, derivations: Vec<String>) {
        if derivations.is_empty() {
            return;
        }
        if self.race == Race::RaceFree {
            self.race = Race::Unknown;
        }
        if self.divergence == Divergence::Uniform {
            self.divergence = Divergence::Unknown;
        }
        self.undecided.extend(derivations.into_iter().map(Undecided::RejectedProof));
    }
}

/// A pair of accesses that may conflict, depending on what memory holds.
#[derive(Clone, Debug)]
pub struct PossibleRace {
    /// The two accesses, and where the two threads stand to each other.
    pub pair: Pair,
    /// What it depends on; not empty.
    pub reasons: Vec<Reason>,
    /// Contents of memory with which the accesses conflict, if some were found.
    pub contents: Option<DataConflict>,
    /// The fence that would order the two accesses, if nothing else is missing.
    pub fence: Option<MissingFence>,
    /// The locks of the two accesses, if they are not made under one.
    pub locks: Option<LocksApart>,
}

/// A sync that some threads may miss, depending on what memory holds.
#[derive(Clone, Debug)]
pub struct PossibleDivergence {
    /// The sync.
    pub sync: SyncId,
    /// What it depends on; not empty.
    pub reasons: Vec<Reason>,
}

/// A claim that may fail, depending on what memory holds.
#[derive(Clone, Debug)]
pub struct PossibleClaim {
    /// Which.
    pub site: SiteId,
    /// What it depends on; not empty.
    pub reasons: Vec<Reason>,
}

/// A question that stays open.
#[derive(Clone, Debug)]
pub enum Undecided {
    /// Whether two accesses conflict.
    Pair {
        /// The first access.
        first: AccessId,
        /// The second access.
        second: AccessId,
        /// Where the two threads stand to each other.
        level: Level,
        /// Why the prover gave up.
        why: Open,
    },
    /// Whether all threads reach a sync.
    Sync {
        /// The sync.
        sync: SyncId,
        /// Why the prover gave up.
        why: Open,
    },
    /// Whether a claim holds.
    Claim {
        /// Which.
        site: SiteId,
        /// Why the prover gave up.
        why: Open,
    },
    /// A derivation that the checker did not accept: a bug in raceproof.
    RejectedProof(String),
    /// Whether a dimension is 1 along which the kernel never asks, as a launch gives the size in a way that is not understood.
    Extent {
        /// The dimension, in the words of CUDA.
        dimension: String,
        /// The launch.
        span: Span,
    },
    /// Whether a dimension is 1 along which the kernel never asks, as the kernel is named in a way that is not followed.
    Mentioned {
        /// The dimension, in the words of CUDA.
        dimension: String,
        /// Where it is named.
        span: Span,
    },
    /// What may be spent on a kernel was.
    Effort,
    /// What may be spent on its contract was, and there may be one.
    EffortOnContract,
    /// There are this many accesses to one memory, too many to compare.
    TooLarge(usize),
}
