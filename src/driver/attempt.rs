//! One attempt at proving a kernel free of races and divergence for a set of launches.
//!
//! Every sync is proved uniform or not; every pair of accesses that can meet is proved free of conflict or
//! stays open. The attempt only proves: what is open is for [`super::judge`] to settle.

use super::asked::Asked;
use super::asking::Helper;
use super::scopes::{Attempt, Candidate};
use super::{Options, options};
use crate::calculus::intervals::{self, Intervals};
use crate::calculus::{Kernel, SiteId, Space, SyncScope};
use crate::memory_model::{self, Level};
use crate::protocol::uniform::Uniformity;
use crate::protocol::{Access, Protocol, SyncId};
use crate::prove::condition::{self, Returned};
use crate::prove::{Assumption, Open, Pair, Proof, Scope, SyncQuestion, Warps, rules};
use crate::source::Language;
use std::collections::BTreeSet;
use std::time::Instant;

/// A kernel on its way to a verdict.
pub(super) struct Case<'a> {
    /// The kernel.
    pub(super) kernel: &'a Kernel,
    /// Its protocol.
    pub(super) protocol: &'a Protocol,
    /// The language, which decides what a returned thread means at a barrier.
    pub(super) language: Language,
    /// What the user asked for.
    pub(super) options: &'a Options,
    /// When to stop trying.
    pub(super) deadline: Instant,
    /// What the prover was asked so far.
    pub(super) asked: Asked,
}

/// What an attempt left open, and what its proofs rely on.
#[derive(Default)]
pub(super) struct Rest {
    /// What the proofs rely on.
    pub(super) assumptions: BTreeSet<Assumption>,
    /// Pairs without a proof.
    pub(super) pairs: Vec<(Pair, Open)>,
    /// Syncs without a proof of uniformity.
    pub(super) syncs: Vec<(SyncId, Open)>,
    /// Derivations that the checker did not accept.
    pub(super) rejected: Vec<String>,
    /// Whether the time limit was reached.
    pub(super) late: bool,
    /// The number of accesses to one memory, if they were too many to compare.
    pub(super) too_large: Option<usize>,
}

/// More accesses to one memory than this are not compared with each other: pairs grow with the square.
const MAX_ACCESSES: usize = 1_500;

impl Rest {
    /// Whether everything was proved.
    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.syncs.is_empty() && self.is_complete()
    }

    /// Whether every question was asked and every answer stands.
    pub(super) fn is_complete(&self) -> bool {
        self.rejected.is_empty() && !self.late && self.too_large.is_none()
    }
}

/// Someone who wants to see each condition and how it was decided.
pub(super) type Observer<'o> = &'o mut dyn FnMut(&Candidate, &Pair, &Result<Proof, Open>);

impl<'a> Case<'a> {
    /// A kernel of which nothing was asked yet.
    pub(super) fn new(
        kernel: &'a Kernel,
        protocol: &'a Protocol,
        language: Language,
        options: &'a Options,
    ) -> Case<'a> {
        let deadline = Instant::now() + options.time_limit;
        Case { kernel, protocol, language, options, deadline, asked: Asked::default() }
    }
}

impl Case<'_> {
    /// Tries to prove everything for all parts of an attempt, by rules, and with the help of a solver if given one.
    pub(super) fn prove(&self, attempt: &Attempt, mut helper: Option<&mut Helper<'_>>, observe: Observer<'_>) -> Rest {
        let mut rest = Rest::default();
        for part in &attempt.parts {
            rest.assumptions.extend(part.assumptions.iter().cloned());
            let uniform = self.prove_syncs(part, helper.as_deref_mut(), &mut rest);
            for level in self.levels() {
                for space in [Space::Shared, Space::Global] {
                    if memory_model::may_meet(space, level) {
                        let helper = helper.as_deref_mut();
                        self.prove_pairs(part, (level, space), &uniform, helper, &mut rest, observe);
                    }
                }
            }
        }
        rest
    }

    pub(super) fn levels(&self) -> Vec<Level> {
        match self.options.levels {
            options::Levels::Block => vec![Level::Block],
            options::Levels::Grid => vec![Level::Grid],
            options::Levels::All => vec![Level::Block, Level::Grid],
        }
    }

    /// Proves syncs uniform; returns those that are.
    pub(super) fn prove_syncs(
        &self,
        part: &Candidate,
        mut helper: Option<&mut Helper<'_>>,
        rest: &mut Rest,
    ) -> BTreeSet<SyncId> {
        let returned = match self.language {
            Language::Cuda => Returned::ReleaseBarriers,
            Language::OpenCl => Returned::StillCount,
        };
        let budget = rules::Budget::default();
        let mut uniform = BTreeSet::new();
        for sync in self.protocol.syncs.handles() {
            let question = SyncQuestion { sync, warps: self.asked_warps(sync) };
            match rules::prove_sync_uniform(self.protocol, question, returned, &part.scope, &budget) {
                Ok(proof) => {
                    if self.options.proofs == options::Proofs::Recheck
                        && let Err(error) =
                            rules::check_sync_uniform(self.protocol, question, returned, &part.scope, &proof.derivation)
                    {
                        rest.rejected.push(error.to_string());
                    }
                    rest.assumptions.extend(proof.assumptions);
                    uniform.insert(sync);
                }
                Err(why) => {
                    let asked = match helper.as_deref_mut() {
                        Some(helper) => helper.sync(self, question, returned, &part.scope),
                        None => Err(why),
                    };
                    match asked {
                        Ok(assumptions) => {
                            rest.assumptions.extend(assumptions);
                            uniform.insert(sync);
                        }
                        Err(why) => rest.syncs.push((sync, why)),
                    }
                }
            }
        }
        uniform
    }

    fn prove_pairs(
        &self,
        part: &Candidate,
        (level, space): (Level, Space),
        proved: &BTreeSet<SyncId>,
        mut helper: Option<&mut Helper<'_>>,
        rest: &mut Rest,
        observe: Observer<'_>,
    ) {
        let array_space = |access: &Access| self.kernel.arrays[access.array].space;
        let accesses = self.protocol.accesses.iter().filter(|(_, access)| array_space(access) == space).count();
        if accesses > MAX_ACCESSES {
            rest.too_large = Some(accesses);
            return;
        }
        let intervals = self.intervals(level, space, proved);
        let within_warps = (level == Level::Block && self.has_warp_syncs())
            .then(|| self.intervals(Level::Warp, space, proved))
            .map(|intervals| condition::pairs(self.protocol, &intervals, Level::Warp));
        let in_space = |pair: &Pair| array_space(&self.protocol.accesses[pair.first]) == space;
        for pair in condition::pairs(self.protocol, &intervals, level).into_iter().filter(in_space) {
            if Instant::now() > self.deadline {
                rest.late = true;
                return;
            }
            let outcome = self.decide(&pair, &part.scope, helper.as_deref_mut());
            observe(part, &pair, &outcome);
            match (outcome, &within_warps) {
                (Ok(proof), _) => self.close(&pair, proof, rest),
                (Err(why), Some(others)) => {
                    if !self.prove_by_warps(&pair, others, part, helper.as_deref_mut(), rest, observe) {
                        rest.pairs.push((pair, why));
                    }
                }
                (Err(why), None) => rest.pairs.push((pair, why)),
            }
        }
    }

    /// Proves a pair by rules, or with the help of a solver.
    fn decide(&self, pair: &Pair, scope: &Scope, helper: Option<&mut Helper<'_>>) -> Result<Proof, Open> {
        let outcome = self.asked.prove(self.protocol, pair, scope);
        match (outcome, helper) {
            (Err(why), Some(helper)) => helper.pair(self, pair, scope, why),
            (outcome, _) => outcome,
        }
    }

    fn close(&self, pair: &Pair, proof: Proof, rest: &mut Rest) {
        self.recheck(pair, &proof, rest);
        rest.assumptions.extend(proof.assumptions);
    }

    /// Proves a pair of threads of one block in two parts: threads of two warps do not conflict, and those of
    /// one warp do not in what is left between the syncs of their warp. `others` are all pairs within warps.
    fn prove_by_warps(
        &self,
        pair: &Pair,
        others: &[Pair],
        part: &Candidate,
        mut helper: Option<&mut Helper<'_>>,
        rest: &mut Rest,
        observe: Observer<'_>,
    ) -> bool {
        let apart = Pair { warps: Warps::Different, ..pair.clone() };
        let alike = others.iter().filter(|other| (other.first, other.second) == (pair.first, pair.second));
        let together = alike.map(|other| Pair { warps: Warps::Same, level: pair.level, ..other.clone() });
        let mut proofs = Vec::new();
        for pair in std::iter::once(apart).chain(together) {
            let outcome = self.decide(&pair, &part.scope, helper.as_deref_mut());
            observe(part, &pair, &outcome);
            match outcome {
                Ok(proof) => proofs.push((pair, proof)),
                Err(_) => return false,
            }
        }
        for (pair, proof) in proofs {
            self.close(&pair, proof, rest);
        }
        true
    }

    /// Whether threads of two warps cannot conflict at the pair: then lock-step execution would hide its race.
    pub(super) fn needs_one_warp(&self, pair: &Pair, scope: &Scope) -> bool {
        let apart = Pair { warps: Warps::Different, ..pair.clone() };
        self.asked.prove(self.protocol, &apart, scope).is_ok()
    }

    /// Whether some sync orders the threads of a warp only. In OpenCL the size of a sub-group is not known.
    fn has_warp_syncs(&self) -> bool {
        self.protocol.syncs.handles().any(|sync| self.asked_warps(sync) == Warps::Same)
    }

    /// Of which warps the threads are that a sync waits for.
    fn asked_warps(&self, sync: SyncId) -> Warps {
        let of_a_warp = self.protocol.syncs[sync].scope == SyncScope::Warp && self.language == Language::Cuda;
        if of_a_warp { Warps::Same } else { Warps::Any }
    }

    /// Which accesses meet, given the syncs that order threads at this level for this memory. A sync in a
    /// loop counts only if all threads that reach the loop run it equally often.
    pub(super) fn intervals(&self, level: Level, space: Space, proved: &BTreeSet<SyncId>) -> Intervals {
        let uniformity = Uniformity::of(self.protocol, level);
        let orders = |site: SiteId| {
            self.protocol.syncs.iter().any(|(id, sync)| {
                let among_equals = proved.contains(&id) && memory_model::orders(sync.scope, sync.memory, space, level);
                sync.site == site && (among_equals || uniformity.orders(self.protocol, id, space))
            })
        };
        intervals::analyze(self.kernel, &orders)
    }

    fn recheck(&self, pair: &Pair, proof: &Proof, rest: &mut Rest) {
        // A solver gives no derivation.
        let derived = !proof.derivation.refutations.is_empty();
        if derived
            && self.options.proofs == options::Proofs::Recheck
            && let Err(error) = rules::check_pair(self.protocol, pair, &proof.scope, &proof.derivation)
        {
            rest.rejected.push(error.to_string());
        }
    }
}
