//! One attempt at proving a kernel free of races and divergence for a set of launches.
//!
//! Every sync is proved uniform or not; every pair of accesses that can meet is proved free of conflict or
//! stays open. The attempt only proves: what is open is for [`super::judge`] to settle.

use super::asked::Asked;
use super::asking::Helper;
use super::effort::Allowance;
use super::scopes::{Attempt, Candidate};
use super::settings::{Levels, Settings};
use crate::calculus::intervals::{self, Intervals};
use crate::calculus::{ArrayId, Kernel, SiteId, Space, SyncMemory, SyncScope, arrivals, eval};
use crate::memory_model::{self, Level};
use crate::protocol::uniform::Uniformity;
use crate::protocol::{Access, Protocol, Sync, SyncId};
use crate::prove::condition;
use crate::prove::premises::Proofs;
use crate::prove::refute::{self, Hunt};
use crate::prove::{Assumption, Conflict, Groups, Open, Pair, Proof, Returned, Scope, SyncQuestion, premises};
use crate::source::Language;
use crate::work;
use std::collections::{BTreeMap, BTreeSet};

/// A kernel on its way to a verdict.
pub(super) struct Case<'a> {
    /// The kernel.
    pub(super) kernel: &'a Kernel,
    /// Its protocol.
    pub(super) protocol: &'a Protocol,
    /// The language, which decides what a returned thread means at a barrier.
    pub(super) language: Language,
    /// What the user asked for.
    pub(super) settings: &'a Settings,
    /// What may be spent on it.
    pub(super) allowance: Allowance,
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
    /// Whether what may be spent was, before every question was asked.
    pub(super) spent: bool,
    /// The number of accesses to one memory, if they were too many to compare.
    pub(super) too_large: Option<usize>,
}

/// More accesses to one memory than this are not compared with each other: pairs grow with the square.
const MAX_ACCESSES: usize = 800;

impl Rest {
    /// Whether everything was proved.
    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.syncs.is_empty() && self.is_complete()
    }

    /// Whether a run shows that something cannot be proved.
    pub(super) fn is_refuted(&self) -> bool {
        let whys = self.pairs.iter().map(|(_, why)| why).chain(self.syncs.iter().map(|(_, why)| why));
        whys.into_iter().any(|why| *why == Open::Refuted)
    }

    /// Whether every question was asked and every answer stands.
    pub(super) fn is_complete(&self) -> bool {
        self.rejected.is_empty() && !self.spent && self.too_large.is_none()
    }
}

/// What to do about a question without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Persistence {
    /// Ask all others too: they are told to the user.
    AskAll,
    /// Ask all others too, unless more pairs than this are open: then it does not matter which.
    AskUpTo(usize),
    /// Stop: another attempt follows.
    StopAtFirst,
}

impl Persistence {
    /// Whether another attempt follows.
    fn gives_up_early(self) -> bool {
        self == Persistence::StopAtFirst
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
        settings: &'a Settings,
    ) -> Case<'a> {
        let allowance = settings.effort.allowance();
        Case { kernel, protocol, language, settings, allowance, asked: Asked::new(settings.effort) }
    }

    /// The same for a kernel that states more.
    pub(super) fn stating<'k>(&self, kernel: &'k Kernel, protocol: &'k Protocol) -> Case<'k>
    where
        'a: 'k,
    {
        Case::new(kernel, protocol, self.language, self.settings)
    }

    /// Tries to prove everything for all parts of an attempt, by rules, and with the help of a solver if given
    /// one; `hunts` look for witnesses in each part.
    pub(super) fn prove(
        &self,
        attempt: &Attempt,
        (hunts, persistence): (&mut [Hunt<'a>], Persistence),
        mut helper: Option<&mut Helper<'_>>,
        observe: Observer<'_>,
    ) -> Rest {
        let mut rest = Rest::default();
        for (part, hunt) in attempt.parts.iter().zip(hunts) {
            let premises = premises::Premises::new(self.protocol, &part.scope);
            let (helper, rest) = (helper.as_deref_mut(), &mut rest);
            let mut proving = Proving { case: self, part, premises, hunt, persistence, helper, rest, observe };
            proving.rest.assumptions.extend(part.assumptions.iter().cloned());
            let uniform = proving.syncs();
            for level in self.levels() {
                for space in [Space::Shared, Space::Distributed, Space::Global, Space::Image] {
                    if memory_model::may_meet(space, level) && !proving.is_over() {
                        proving.pairs((level, space), &uniform);
                    }
                }
            }
        }
        rest
    }

    /// What rules prove of an attempt, and what stays open, that of which conflicts are known among it; nothing is run.
    pub(super) fn prove_by_rules(
        &self,
        attempt: &Attempt,
        (program, known): (&'a eval::Program, &[Conflict]),
        persistence: Persistence,
    ) -> Rest {
        let idle = self.hunts_within(attempt, program, &refute::Budget { steps: 0 });
        let mut idle: Vec<Hunt<'a>> = idle.into_iter().map(|hunt| hunt.told(known)).collect();
        self.prove(attempt, (&mut idle, persistence), None, &mut |_, _, _| {})
    }

    /// Races that a run of a launch shows.
    pub(super) fn run(&self, launch: &Scope) -> Vec<Conflict> {
        let outcome = refute::search(self.kernel, &[], launch, self.search_levels(), &self.allowance.search);
        outcome.conflicts.into_iter().filter(|conflict| !conflict.after_earlier).collect()
    }

    /// A hunt for each part of an attempt.
    pub(super) fn hunts(&self, attempt: &Attempt, program: &'a eval::Program) -> Vec<Hunt<'a>> {
        self.hunts_within(attempt, program, &self.allowance.search)
    }

    fn hunts_within(&self, attempt: &Attempt, program: &'a eval::Program, budget: &refute::Budget) -> Vec<Hunt<'a>> {
        let levels = self.search_levels();
        let returned = match self.kernel.geometry.platform.rules().awaits_returned {
            Some(_) => Returned::StillCount,
            None => Returned::ReleaseBarriers,
        };
        let hunt = |part: &Candidate| {
            Hunt::new(self.kernel, program, &part.scope, levels, budget).with_returned(returned).along(part.varies)
        };
        attempt.parts.iter().map(hunt).collect()
    }

    /// The levels at which conflicts are looked for.
    pub(super) fn search_levels(&self) -> refute::Levels {
        refute::Levels { block: self.settings.levels != Levels::Grid, grid: self.settings.levels != Levels::Block }
    }

    pub(super) fn levels(&self) -> Vec<Level> {
        match self.settings.levels {
            Levels::Block => vec![Level::Block],
            Levels::Grid => self.levels_of_blocks(),
            Levels::All => [vec![Level::Block], self.levels_of_blocks()].concat(),
        }
    }

    /// Two blocks are of one cluster or of two, where the kernel says how large clusters are.
    fn levels_of_blocks(&self) -> Vec<Level> {
        match self.kernel.geometry.clusters() {
            Some(_) => vec![Level::Cluster, Level::Grid],
            None => vec![Level::Grid],
        }
    }

    /// Whether threads of two warps cannot conflict at the pair: then lock-step execution would hide its race.
    pub(super) fn needs_one_warp(&self, pair: &Pair, scope: &Scope) -> bool {
        let apart = Pair { groups: Groups::Different, ..pair.clone() };
        self.asked.prove(&premises::Premises::new(self.protocol, scope), &apart, || false).is_ok()
    }

    /// Whether some sync orders the threads of a warp only. In OpenCL the size of a sub-group is not known.
    fn has_warp_syncs(&self) -> bool {
        self.protocol.syncs.handles().any(|sync| self.asked_groups(sync) == Groups::Same)
    }

    /// Of which warps the threads are that a sync waits for.
    fn asked_groups(&self, sync: SyncId) -> Groups {
        let of_a_warp = self.protocol.syncs[sync].scope == SyncScope::Warp && self.language == Language::Cuda;
        if of_a_warp { Groups::Same } else { Groups::Any }
    }

    /// What has to be asked about a sync, and what it does about threads that have returned: whether threads of one block
    /// can disagree about it, and, if it waits for other blocks, whether threads of two can. A block that has ended keeps
    /// those that wait for the whole grid waiting for ever.
    fn questions(&self, sync: SyncId) -> Vec<(SyncQuestion, Returned)> {
        let of_one_block = SyncQuestion { sync, level: Level::Block, groups: self.asked_groups(sync) };
        let of_two = |groups| SyncQuestion { sync, level: Level::Grid, groups };
        if self.protocol.syncs[sync].among.arrivals().is_some() {
            // That nobody waits in vain there was found before, of all of them at once.
            return Vec::new();
        }
        let mut questions = vec![(of_one_block, self.returned(sync))];
        match self.protocol.syncs[sync].scope {
            SyncScope::Warp | SyncScope::Block => {}
            SyncScope::Cluster => {
                let groups = if self.kernel.geometry.clusters().is_some() { Groups::Same } else { Groups::Any };
                questions.push((of_two(groups), self.returned(sync)));
            }
            SyncScope::Grid | SyncScope::System => questions.push((of_two(Groups::Any), Returned::StillCount)),
        }
        questions
    }

    /// The launches with blocks that devices can run, where neither the kernel nor the launches bound their threads.
    fn within_the_limit(&self, scope: &Scope) -> Option<Scope> {
        let facts = &self.kernel.geometry;
        let is_open = facts.max_threads.is_none() && facts.required_block.is_none();
        let limit = facts.platform.rules().most_threads?;
        let wanted = is_open && scope.most_threads.is_none() && scope.block.iter().any(Option::is_none);
        wanted.then(|| Scope { most_threads: Some(limit), ..scope.clone() })
    }

    /// What a barrier does about threads that have returned.
    fn returned(&self, sync: SyncId) -> Returned {
        let Sync { among, scope, .. } = self.protocol.syncs[sync];
        let awaits = self.kernel.geometry.platform.awaits_returned(scope);
        if awaits || among.counts_arrivals(scope) { Returned::StillCount } else { Returned::ReleaseBarriers }
    }

    /// Which accesses to this memory meet, given the syncs that order threads at this level for it. A sync in a
    /// loop counts only if all threads that reach the loop run it equally often.
    pub(super) fn intervals(&self, level: Level, memory: Memory, proved: &BTreeSet<SyncId>) -> Intervals {
        let uniformity = Uniformity::of(self.protocol, level);
        let orders = |site: SiteId| {
            self.protocol.syncs.iter().filter(|(_, sync)| sync.site == site).any(|(id, sync)| {
                let (among_equals, uniformly) = match memory {
                    Memory::Space(space) => (
                        memory_model::orders(sync.scope, sync.memory, space, level),
                        uniformity.orders(self.protocol, id, space),
                    ),
                    Memory::Array(array) => {
                        let place = (array, self.kernel.arrays[array].space);
                        (
                            memory_model::orders_array(sync.scope, sync.memory, place, level),
                            uniformity.orders_array(self.protocol, id, array),
                        )
                    }
                };
                uniformly || among_equals && proved.contains(&id)
            })
        };
        let intervals = intervals::analyze(self.kernel, &orders);
        let space = match memory {
            Memory::Space(space) => space,
            Memory::Array(array) => self.kernel.arrays[array].space,
        };
        let by_objects = level.is_one_block() && memory_model::orders(SyncScope::Block, SyncMemory::BOTH, space, level);
        // What is refused was told as not modelled, and orders nothing.
        let objects = by_objects.then(|| arrivals::order(self.kernel).ok().flatten()).flatten();
        intervals.with_objects(objects)
    }

    /// The memories of that space which are ordered apart, with the arrays in each.
    fn memories(&self, space: Space) -> BTreeMap<Memory, BTreeSet<ArrayId>> {
        let own: BTreeSet<ArrayId> = self.protocol.syncs.iter().filter_map(|(_, sync)| sync.memory.array).collect();
        let mut memories: BTreeMap<Memory, BTreeSet<ArrayId>> = BTreeMap::new();
        for (id, _) in self.kernel.arrays.iter().filter(|(_, array)| array.space == space) {
            let memory = if own.contains(&id) { Memory::Array(id) } else { Memory::Space(space) };
            memories.entry(memory).or_default().insert(id);
        }
        memories
    }
}

/// Memory whose accesses are ordered by the same syncs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Memory {
    /// All arrays of a space that have no syncs of their own.
    Space(Space),
    /// An array with syncs of its own.
    Array(ArrayId),
}

/// The proof of one part of an attempt under way.
struct Proving<'p, 'a, 'h, 'o> {
    case: &'p Case<'a>,
    part: &'p Candidate,
    premises: premises::Premises<'p>,
    hunt: &'p mut Hunt<'a>,
    persistence: Persistence,
    helper: Option<&'p mut Helper<'h>>,
    rest: &'p mut Rest,
    observe: Observer<'o>,
}

impl Proving<'_, '_, '_, '_> {
    /// Whether nothing that is asked now can matter.
    fn is_over(&self) -> bool {
        match self.persistence {
            Persistence::AskAll => false,
            Persistence::AskUpTo(most) => self.rest.pairs.len() > most || !self.rest.is_complete(),
            Persistence::StopAtFirst => !self.rest.is_empty(),
        }
    }

    /// Proves syncs uniform; returns those that are.
    fn syncs(&mut self) -> BTreeSet<SyncId> {
        let protocol = self.case.protocol;
        let mut uniform = BTreeSet::new();
        // Lock-step waits for nobody.
        let of_the_source = |sync: &SyncId| !protocol.syncs[*sync].among.is_in_step();
        for sync in protocol.syncs.handles().filter(of_the_source) {
            if self.is_over() {
                break;
            }
            let questions = self.case.questions(sync);
            match questions.into_iter().try_for_each(|(question, returned)| self.settle(question, returned)) {
                Ok(()) => _ = uniform.insert(sync),
                Err(why) => self.rest.syncs.push((sync, why)),
            }
        }
        uniform
    }

    /// Proves that threads do not disagree about a sync, by rules or by the solver.
    fn settle(&mut self, question: SyncQuestion, returned: Returned) -> Result<(), Open> {
        let assumptions: BTreeSet<Assumption> = match self.sync(question, returned) {
            Ok(proof) => {
                let (protocol, scope) = (self.case.protocol, &self.part.scope);
                if self.case.settings.proofs == Proofs::Recheck
                    && let Err(error) =
                        premises::check_sync_uniform(protocol, question, returned, scope, &proof.derivation)
                {
                    self.rest.rejected.push(error.to_string());
                }
                proof.assumptions.into_iter().collect()
            }
            Err(why) => self.ask_about(question, returned, why)?,
        };
        self.rest.assumptions.extend(assumptions);
        Ok(())
    }

    /// Asks the solver about a sync that rules do not prove uniform, unless a run shows that it is not.
    fn ask_about(
        &mut self,
        question: SyncQuestion,
        returned: Returned,
        why: Open,
    ) -> Result<BTreeSet<Assumption>, Open> {
        match self.helper.as_deref_mut() {
            Some(helper) if why != Open::Refuted && helper.asks() => {
                helper.sync(self.case, question, returned, &self.part.scope)
            }
            _ => Err(why),
        }
    }

    fn sync(&mut self, question: SyncQuestion, returned: Returned) -> Result<Proof, Open> {
        let (protocol, premises) = (self.case.protocol, &self.premises);
        let effort = self.case.settings.effort;
        let prove = |budget| premises.prove_sync_uniform(question, returned, &effort.price(budget));
        let hunt = &mut *self.hunt;
        match prove(premises::Budget::SMALL) {
            Err(_) if hunt.diverges(protocol, question, returned) => Err(Open::Refuted),
            // A barrier has several conditions, of which the first pass may settle some.
            Err(Open::NoRule | Open::Budget) => prove(premises::Budget::FULL),
            outcome => outcome,
        }
    }

    fn pairs(&mut self, (level, space): (Level, Space), proved: &BTreeSet<SyncId>) {
        let (case, protocol) = (self.case, self.case.protocol);
        let array_space = |access: &Access| case.kernel.arrays[access.array].space;
        let accesses = protocol.accesses.iter().filter(|(_, access)| array_space(access) == space).count();
        if accesses > MAX_ACCESSES {
            self.rest.too_large = Some(accesses);
            return;
        }
        for (memory, arrays) in case.memories(space) {
            self.pairs_of(level, (memory, &arrays), accesses, proved);
        }
    }

    /// The pairs of accesses to one memory; there are so many accesses in its space.
    fn pairs_of(
        &mut self,
        level: Level,
        (memory, arrays): (Memory, &BTreeSet<ArrayId>),
        accesses: usize,
        proved: &BTreeSet<SyncId>,
    ) {
        let (case, protocol) = (self.case, self.case.protocol);
        let intervals = case.intervals(level, memory, proved);
        let within_warps = (level == Level::Block && case.has_warp_syncs())
            .then(|| case.intervals(Level::Warp, memory, proved))
            .map(|intervals| condition::pairs(protocol, &intervals, Level::Warp));
        let in_memory = |pair: &Pair| arrays.contains(&protocol.accesses[pair.first].array);
        for pair in condition::pairs(protocol, &intervals, level).into_iter().filter(in_memory) {
            if self.is_over() {
                return;
            }
            if work::is_over() {
                self.rest.spent = true;
                return;
            }
            if self.hunt.is_sated() {
                self.rest.too_large = Some(accesses);
                return;
            }
            let outcome = self.pair(&pair);
            (self.observe)(self.part, &pair, &outcome);
            match (outcome, &within_warps) {
                (Ok(proof), _) => self.close(&pair, proof),
                (Err(why), Some(others)) if why != Open::Refuted => {
                    if !self.prove_by_warps(&pair, others) {
                        self.rest.pairs.push((pair, why));
                    }
                }
                (Err(why), _) => self.rest.pairs.push((pair, why)),
            }
        }
    }

    fn close(&mut self, pair: &Pair, proof: Proof) {
        self.recheck(pair, &proof);
        self.rest.assumptions.extend(proof.assumptions);
    }

    /// Proves a pair of threads of one block in two parts: threads of two warps do not conflict, and those of
    /// one warp do not in what is left between the syncs of their warp. `others` are all pairs within warps.
    fn prove_by_warps(&mut self, pair: &Pair, others: &[Pair]) -> bool {
        let apart = Pair { groups: Groups::Different, ..pair.clone() };
        let alike = others.iter().filter(|other| (other.first, other.second) == (pair.first, pair.second));
        let together = alike.map(|other| Pair { groups: Groups::Same, level: pair.level, ..other.clone() });
        let mut proofs = Vec::new();
        for pair in std::iter::once(apart).chain(together) {
            let proved = self.case.asked.prove(&self.premises, &pair, || false);
            let proved = self.within_the_limit(&pair, proved);
            let outcome = self.help(&pair, proved);
            (self.observe)(self.part, &pair, &outcome);
            match outcome {
                Ok(proof) => proofs.push((pair, proof)),
                Err(_) => return false,
            }
        }
        for (pair, proof) in proofs {
            self.close(&pair, proof);
        }
        true
    }

    fn pair(&mut self, pair: &Pair) -> Result<Proof, Open> {
        let (protocol, hunt) = (self.case.protocol, &mut *self.hunt);
        if hunt.knows(protocol, pair) {
            return Err(Open::Refuted);
        }
        let proved = self.case.asked.prove(&self.premises, pair, || hunt.conflicts(protocol, pair));
        let proved = self.within_the_limit(pair, proved);
        self.help(pair, proved)
    }

    /// Where nothing else proves a pair: a proof that takes the limit of all devices for granted, which is told.
    fn within_the_limit(&self, pair: &Pair, proved: Result<Proof, Open>) -> Result<Proof, Open> {
        let why = match proved {
            Err(why @ (Open::NoRule | Open::Budget)) if !self.persistence.gives_up_early() => why,
            outcome => return outcome,
        };
        let Some(scope) = self.case.within_the_limit(&self.part.scope) else { return Err(why) };
        let premises = premises::Premises::new(self.case.protocol, &scope);
        self.case.asked.prove(&premises, pair, || false).map_err(|_| why)
    }

    /// Asks the solver about a pair that is neither proved nor refuted.
    fn help(&mut self, pair: &Pair, proved: Result<Proof, Open>) -> Result<Proof, Open> {
        match (proved, self.helper.as_deref_mut()) {
            (Err(why), Some(helper)) if why != Open::Refuted => {
                let answer = helper.pair(self.case, pair, &self.part.scope, why);
                let limited = self.case.within_the_limit(&self.part.scope);
                match limited.filter(|_| !self.persistence.gives_up_early()) {
                    Some(scope) => answer.or_else(|why| helper.pair(self.case, pair, &scope, why)),
                    None => answer,
                }
            }
            (outcome, _) => outcome,
        }
    }

    fn recheck(&mut self, pair: &Pair, proof: &Proof) {
        // A solver gives no derivation.
        let derived = !proof.derivation.refutations.is_empty();
        if derived
            && self.case.settings.proofs == Proofs::Recheck
            && let Err(error) = premises::check_pair(self.case.protocol, pair, &proof.scope, &proof.derivation)
        {
            self.rest.rejected.push(error.to_string());
        }
    }
}
