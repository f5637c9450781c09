//! What the runs of a search add up to.

use super::sweep::{Candidate, Key, Levels, MAX_FOUND, Sweep, key};
use super::witness::{self, Launch, Named};
use super::{FailedAssertion, Incident, OutOfBounds, Outcome, reported_level};
use crate::calculus::eval::{Kind, Program, Run, WARP};
use crate::calculus::{Expr, ExprId, GeometryVar, Kernel, SiteId, Space, Stmt};
use crate::memory_model::{Level, may_meet};
use crate::prove::Returned;
use crate::prove::{Conflict, Divergence, Witness};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Runs after which an access that was never exact is taken to be one that depends on what arrays hold.
const RUNS_BEFORE_GIVING_UP: usize = 32;

/// What is known of a pair of sites.
struct Pair {
    best: Candidate,
    launch: Launch,
    after_earlier: bool,
    /// Whether the run makes an access that its type does not admit there.
    misaligned: bool,
    out_of_bounds: Option<SiteId>,
    /// The parameters that make the launch one that few would make, by position.
    degenerate: Vec<usize>,
    /// Whether its geometry is one that somebody would choose.
    is_natural: bool,
    /// Whether it was seen in such a launch, be it one that is worse otherwise.
    was_seen_naturally: bool,
    /// Whether it was seen in one whose sizes cover its threads, too.
    was_seen_covered: bool,
    /// Whether some conflict is between two warps.
    across_warps: bool,
}

/// What a launch is like.
#[derive(Clone, Copy)]
pub(super) struct SeenIn {
    /// Whether its geometry is one that somebody would choose.
    pub(super) is_natural: bool,
    /// Whether its sizes cover its threads, too.
    pub(super) is_covering: bool,
}

/// A barrier that is not met.
struct Missed {
    divergence: Divergence,
    launch: Launch,
    /// Whether its geometry is one that somebody would choose.
    is_natural: bool,
}

pub(super) struct Findings<'a> {
    kernel: &'a Kernel,
    program: &'a Program,
    /// Whether only the pairs of `open` are asked for.
    restricted: bool,
    /// What barriers do about threads that have returned.
    returned: Returned,
    open: BTreeSet<Key>,
    /// Claims that are asked for.
    claims: BTreeSet<SiteId>,
    pairs: BTreeMap<Key, Pair>,
    missed: Vec<Missed>,
    /// Accesses that were reached, with certainty, in launches that somebody would choose, whose sizes cover their threads.
    covered: BTreeSet<(SiteId, Level)>,
    /// Whether what is known in a launch that nobody would choose is told in one that somebody would.
    prefers_natural: bool,
    outcome: Outcome,
    /// Place of each site in the program.
    positions: FxHashMap<SiteId, usize>,
    /// The space of each access.
    spaces: FxHashMap<SiteId, Space>,
    /// The value that each write stores.
    stored: FxHashMap<SiteId, ExprId>,
    pub(super) decided: bool,
}

impl<'a> Findings<'a> {
    pub(super) fn new(kernel: &'a Kernel, program: &'a Program) -> Self {
        let mut findings = Findings {
            kernel,
            program,
            restricted: false,
            returned: Returned::StillCount,
            open: BTreeSet::new(),
            claims: BTreeSet::new(),
            pairs: BTreeMap::new(),
            missed: Vec::new(),
            covered: BTreeSet::new(),
            prefers_natural: false,
            outcome: Outcome::default(),
            positions: FxHashMap::default(),
            spaces: FxHashMap::default(),
            stored: FxHashMap::default(),
            decided: false,
        };
        findings.index_sites(&kernel.body);
        findings
    }

    /// See [`super::Hunt::with_returned`].
    pub(super) fn with_returned(&mut self, returned: Returned) {
        self.returned = returned;
    }

    /// Asks for the pairs of `open` only, unless that is empty.
    pub(super) fn restrict(&mut self, open: &[(SiteId, SiteId)], levels: Levels) {
        self.restricted = !open.is_empty();
        // Two blocks may be of one cluster.
        let wanted = [(levels.block, Level::Block, Level::Block), (levels.grid, Level::Grid, Level::Cluster)];
        for (_, level, closest) in wanted.into_iter().filter(|(asked, ..)| *asked) {
            let can_meet = |site: SiteId| self.spaces.get(&site).is_some_and(|&space| may_meet(space, closest));
            let met = open.iter().filter(|pair| can_meet(pair.0)).map(|&(one, other)| key(one, other, level));
            self.open.extend(met);
        }
        if self.restricted {
            self.pairs.retain(|key, _| self.open.contains(key));
        }
    }

    /// Whether that conflict is one of those that are asked for.
    pub(super) fn asks_for(&self, key: Key) -> bool {
        self.open.contains(&key)
    }

    /// Asks for claims that fail, and for nothing else.
    pub(super) fn ask_for_claims(&mut self, claims: impl Iterator<Item = SiteId>) {
        self.restricted = true;
        self.claims.extend(claims);
    }

    /// Whether claims are asked for.
    pub(super) fn wants_claims(&self) -> bool {
        !self.claims.is_empty()
    }

    /// Whether a claim is known to fail in a launch that somebody may make, before anything else goes wrong.
    pub(super) fn knows_failure(&self, claim: SiteId) -> bool {
        let failed = &self.outcome.failed_assertions;
        failed.iter().any(|seen| seen.site == claim && !seen.after_earlier && !seen.degenerate)
    }

    /// Whether a conflict is known of these two.
    pub(super) fn knows(&self, key: Key) -> bool {
        self.pairs.contains_key(&key)
    }

    /// Whether one is known in a launch that somebody may make.
    pub(super) fn knows_natural(&self, key: Key) -> bool {
        self.pairs.get(&key).is_some_and(|pair| pair.degenerate.is_empty() && !pair.misaligned)
    }

    /// Whether one is known, but only in runs with an access at an address that its type does not admit.
    pub(super) fn knows_misaligned_only(&self, key: Key) -> bool {
        self.pairs.get(&key).is_some_and(|pair| pair.misaligned)
    }

    /// Tells what is known by launches that somebody would choose from now on.
    pub(super) fn prefer_natural(&mut self) {
        self.prefers_natural = true;
    }

    /// Whether every conflict that is known was seen in a launch that somebody would choose, with sizes that cover it.
    pub(super) fn are_covered(&self) -> bool {
        self.pairs.values().all(|pair| pair.is_natural && pair.was_seen_covered)
            && self.missed.iter().all(|missed| missed.is_natural)
    }

    /// Whether one is known in other launches alone.
    pub(super) fn is_unnatural(&self, key: Key) -> bool {
        self.pairs.get(&key).is_some_and(|pair| !pair.is_natural)
    }

    /// Launches in which something is known that is known in no natural one, one for each choice of parameters.
    pub(super) fn unnatural_launches(&self) -> Vec<Launch> {
        let of_pairs = self.pairs.values().filter(|pair| !pair.is_natural).map(|pair| &pair.launch);
        let of_barriers = self.missed.iter().filter(|missed| !missed.is_natural).map(|missed| &missed.launch);
        let mut launches: Vec<Launch> = Vec::new();
        for launch in of_pairs.chain(of_barriers) {
            if launches.iter().all(|known| known.params != launch.params) {
                launches.push(launch.clone());
            }
        }
        launches
    }

    /// Whether no further pair is taken.
    pub(super) fn is_sated(&self) -> bool {
        self.pairs.len() >= MAX_FOUND
    }

    /// Whether some thread is known not to arrive where another waits at `sync`.
    pub(super) fn knows_divergence(&self, (sync, level): (SiteId, Level), returned: Returned) -> bool {
        let counts = |seen: &Divergence| {
            (!seen.returned || returned == Returned::StillCount) && seen.is_in_one_block() == level.is_one_block()
        };
        let meets = |seen: &Divergence| seen.sync == sync || seen.other == Some(sync);
        self.missed.iter().map(|missed| &missed.divergence).any(|seen| counts(seen) && meets(seen))
    }

    /// Whether a conflict of two places is known, but none between two warps.
    pub(super) fn knows_within_warps_only(&self, key: Key) -> bool {
        key.2 == Level::Block && key.0 != key.1 && self.pairs.get(&key).is_some_and(|pair| !pair.across_warps)
    }

    fn index_sites(&mut self, body: &[Stmt]) {
        for stmt in body {
            let next = self.positions.len();
            if let Stmt::Read { access, .. } | Stmt::Atomic { access, .. } | Stmt::Write { access, .. } = stmt {
                self.spaces.insert(access.site, self.kernel.arrays[access.array].space);
            }
            match stmt {
                Stmt::Read { access, .. } | Stmt::Atomic { access, .. } => {
                    self.positions.insert(access.site, next);
                }
                Stmt::Write { access, value } => {
                    self.positions.insert(access.site, next);
                    self.stored.extend(value.map(|value| (access.site, value)));
                }
                Stmt::Sync { site, .. } | Stmt::Assert { site, .. } => {
                    self.positions.insert(*site, next);
                }
                Stmt::If { then, otherwise, .. } => {
                    self.index_sites(then);
                    self.index_sites(otherwise);
                }
                Stmt::For(counted) => self.index_sites(&counted.body),
                Stmt::Loop { body, .. } => self.index_sites(body),
                _ => {}
            }
        }
    }

    /// Adds what a run showed.
    pub(super) fn take(
        &mut self,
        (launch, seen_in): (&Launch, SeenIn),
        run: &Run,
        sweep: &Sweep,
        degenerate: &[usize],
    ) {
        self.outcome.runs += 1;
        if seen_in.is_covering && run.finished && run.undefined_since.is_none() {
            self.covered.extend(sweep.reached());
        }
        let first_phase = sweep.found.values().map(|candidate| candidate.phase).min();
        for (&key, candidate) in &sweep.found {
            if self.restricted && !self.open.contains(&key) {
                continue;
            }
            // The search goes on for a run that is defined.
            let misaligned = run.misaligned_since.is_some_and(|since| since <= candidate.phase);
            let spoilt = first_phase < Some(candidate.phase) || is_spoilt(run, candidate.phase, self.returned);
            let leaves = run.out_of_bounds.iter().find(|seen| seen.phase <= candidate.phase);
            let found = || Pair {
                best: *candidate,
                launch: launch.clone(),
                after_earlier: spoilt,
                misaligned,
                out_of_bounds: leaves.map(|seen| seen.site),
                degenerate: degenerate.to_vec(),
                is_natural: seen_in.is_natural,
                was_seen_naturally: seen_in.is_natural,
                was_seen_covered: seen_in.is_covering,
                across_warps: candidate.across_warps,
            };
            let is_sated = self.is_sated();
            match self.pairs.get_mut(&key) {
                None if is_sated => {}
                None => {
                    self.pairs.insert(key, found());
                }
                Some(pair) => {
                    let across_warps = pair.across_warps || candidate.across_warps;
                    let was_seen_naturally = pair.was_seen_naturally || seen_in.is_natural;
                    let was_seen_covered = pair.was_seen_covered || seen_in.is_covering;
                    // Of two that are as good the one is told whose run stays within all arrays.
                    let known = (
                        pair.after_earlier,
                        pair.misaligned,
                        !pair.degenerate.is_empty(),
                        pair.out_of_bounds.is_some(),
                        self.prefers_natural && !pair.is_natural,
                    );
                    let seen = (
                        spoilt,
                        misaligned,
                        !degenerate.is_empty(),
                        leaves.is_some(),
                        self.prefers_natural && !seen_in.is_natural,
                    );
                    if seen < known {
                        *pair = found();
                    }
                    pair.across_warps = across_warps;
                    pair.was_seen_naturally = was_seen_naturally;
                    pair.was_seen_covered = was_seen_covered;
                }
            }
        }
        self.take_incidents((launch, seen_in.is_natural), run, !degenerate.is_empty());
    }

    fn take_incidents(&mut self, (launch, is_natural): (&Launch, bool), run: &Run, degenerate: bool) {
        let kernel = self.kernel;
        let incident = |id, locals: &[_]| {
            let thread = witness::thread(kernel, launch, run, id, locals);
            Incident { geometry: launch.geometry, thread, params: witness::params(kernel, launch) }
        };
        for seen in &run.divergences {
            let is_it = |known: &Missed| {
                let known = &known.divergence;
                (known.sync, known.other, known.returned, known.unnamed)
                    == (seen.sync, seen.other, seen.returned, seen.unnamed)
            };
            let spoilt = run.undefined_since.is_some_and(|since| since <= seen.phase);
            let known = self.missed.iter_mut().find(|known| is_it(known));
            let is_better = |known: &Missed| self.prefers_natural && is_natural && !known.is_natural;
            if spoilt || known.as_deref().is_some_and(|known| !is_better(known)) {
                continue;
            }
            let threads =
                [0, 1].map(|index| witness::thread(kernel, launch, run, seen.threads[index], &seen.locals[index]));
            let witness = witness::witness(kernel, launch, threads, 0);
            let (sync, other, returned, unnamed) = (seen.sync, seen.other, seen.returned, seen.unnamed);
            let divergence = Divergence { sync, other, returned, unnamed, witness };
            let missed = Missed { divergence, launch: launch.clone(), is_natural };
            match known {
                Some(known) => *known = missed,
                None => self.missed.push(missed),
            }
        }
        for seen in &run.out_of_bounds {
            if self.outcome.out_of_bounds.iter().all(|other| other.site != seen.site) {
                let incident = incident(seen.thread, &seen.locals);
                let byte_offset = i128::from(seen.offset);
                self.outcome.out_of_bounds.push(OutOfBounds {
                    site: seen.site,
                    array: seen.array,
                    byte_offset,
                    incident,
                });
            }
        }
        for seen in &run.failed_assertions {
            let undefined = run.undefined_since.is_some_and(|since| since <= seen.phase);
            let missed = |since: Option<u32>| since.is_some_and(|since| since < seen.phase);
            let after_earlier = undefined || missed(run.diverged_since) || missed(run.returned_since);
            let known = self.outcome.failed_assertions.iter_mut().find(|other| other.site == seen.site);
            let better =
                |other: &FailedAssertion| (after_earlier, degenerate) < (other.after_earlier, other.degenerate);
            if known.as_deref().is_none_or(better) {
                let incident = incident(seen.thread, &seen.locals);
                let with = seen.with.as_ref().map(|(id, locals)| witness::thread(kernel, launch, run, *id, locals));
                let failed = FailedAssertion { site: seen.site, incident, with, after_earlier, degenerate };
                match known {
                    Some(known) => *known = failed,
                    None => self.outcome.failed_assertions.push(failed),
                }
            }
        }
        self.outcome.unsettled_claims.extend(&run.unsettled_claims);
        self.outcome.wraps.extend(&run.wrapped);
        self.outcome.wrapped_loops.extend(&run.wrapped_loops);
        self.outcome.traps.extend(run.traps.iter().map(|seen| (seen.trap, seen.expr)));
    }

    /// Whether no further run is likely to improve an answer that was asked for.
    pub(super) fn is_complete(&self, sweep: &Sweep) -> bool {
        let hopeless = |key: &Key| {
            self.outcome.runs >= RUNS_BEFORE_GIVING_UP && (sweep.is_never_exact(key.0) || sweep.is_never_exact(key.1))
        };
        // What replaces a witness in `take` must be looked for, or a search that is restricted would answer otherwise.
        let is_best = |pair: &Pair| !pair.after_earlier && !pair.misaligned && pair.degenerate.is_empty();
        self.restricted
            && self.claims.iter().all(|claim| self.knows_failure(*claim))
            && self.open.iter().all(|key| hopeless(key) || self.pairs.get(key).is_some_and(is_best))
    }

    pub(super) fn finish(mut self) -> Outcome {
        let pairs = std::mem::take(&mut self.pairs);
        let mut conflicts = self.conflicts(&pairs.iter().collect::<Vec<_>>());
        let position = |site: SiteId| self.positions.get(&site).copied().unwrap_or(usize::MAX);
        conflicts.sort_by_key(|conflict| (conflict.sites.map(position), conflict.level));
        let mut outcome = self.outcome;
        outcome.conflicts = conflicts;
        outcome.decided = self.decided;
        outcome.divergences = self.missed.into_iter().map(|missed| missed.divergence).collect();
        outcome.divergences.sort_by_key(|seen| (position(seen.sync), seen.other.map(position), seen.returned));
        outcome.out_of_bounds.sort_by_key(|seen| position(seen.site));
        outcome.failed_assertions.sort_by_key(|seen| position(seen.site));
        outcome.wraps.sort_unstable();
        outcome.wraps.dedup();
        outcome.wrapped_loops.sort_unstable();
        outcome.wrapped_loops.dedup();
        outcome.traps.sort_by_key(|(trap, expr)| (*expr, *trap as u8));
        outcome.traps.dedup();
        outcome
    }

    /// The conflicts with their witnesses; those of one launch are told by one run.
    fn conflicts(&self, pairs: &[(&Key, &Pair)]) -> Vec<Conflict> {
        let Some((_, first)) = pairs.first() else { return Vec::new() };
        let (here, elsewhere): (Vec<_>, Vec<_>) = pairs.iter().partition(|(_, pair)| pair.launch == first.launch);
        let named: Vec<_> =
            here.iter().map(|(_, pair)| Named { best: &pair.best, order: self.order(&pair.best) }).collect();
        let witnesses = witness::of_candidates(self.kernel, self.program, &first.launch, &named);
        let told = here.iter().zip(named).zip(witnesses);
        let mut conflicts: Vec<_> =
            told.map(|((&(key, pair), named), witness)| self.conflict(*key, pair, named.order, witness)).collect();
        conflicts.extend(self.conflicts(&elsewhere));
        conflicts
    }

    fn conflict(&self, key: Key, pair: &Pair, order: [usize; 2], witness: Witness) -> Conflict {
        let sites = order.map(|index| pair.best.accesses[index].0.site);
        // Lock-step would hide it only if the points differ. Launches that were not run may cross warps.
        let warp_synchronous = key.2 == Level::Block
            && key.0 != key.1
            && !pair.across_warps
            && (self.decided || self.has_single_warp_only());
        Conflict {
            sites,
            level: reported_level(key.2, || warp_synchronous),
            witness,
            after_earlier: pair.after_earlier,
            misaligned: pair.misaligned,
            out_of_bounds: pair.out_of_bounds,
            degenerate: self.names_of(&pair.degenerate),
            is_natural: pair.was_seen_naturally,
            is_far_fetched: !pair.was_seen_covered
                && [key.0, key.1].iter().all(|&site| self.covered.contains(&(site, key.2))),
            same_value: self.stores_same_value(&pair.best),
            across_warps: pair.across_warps,
            warp_synchronous,
        }
    }

    fn names_of(&self, params: &[usize]) -> Vec<String> {
        let named = self.kernel.params.iter().filter(|(id, _)| params.contains(&id.index()));
        named.map(|(_, param)| param.name.clone()).collect()
    }

    /// Whether no launch of this kernel has a second warp.
    fn has_single_warp_only(&self) -> bool {
        let facts = &self.kernel.geometry;
        let required = facts.required_block.map(|extents| extents.iter().map(|&extent| u64::from(extent)).product());
        let most: Option<u64> = required.or(facts.max_threads.map(u64::from));
        most.is_some_and(|threads| threads <= u64::from(WARP))
    }

    /// Which access is named first: the only write, else the one that stands first in the program, else the lower thread's.
    fn order(&self, best: &Candidate) -> [usize; 2] {
        let rank = |index: usize| {
            let event = &best.accesses[index].0;
            (event.kind == Kind::Read, self.positions.get(&event.site).copied(), index)
        };
        if rank(0) <= rank(1) { [0, 1] } else { [1, 0] }
    }

    /// Whether both are writes of one value that is the same in all threads of the launch.
    fn stores_same_value(&self, best: &Candidate) -> bool {
        let values = best.accesses.map(|(event, _)| self.stored.get(&event.site).copied());
        let writes = best.accesses.iter().all(|(event, _)| event.kind == Kind::Write);
        let [Some(one), Some(other)] = values else { return false };
        writes
            && one == other
            && best.accesses[0].0.bytes == best.accesses[1].0.bytes
            && best.accesses[0].0.offset == best.accesses[1].0.offset
            && is_uniform(self.kernel, one)
    }
}

/// Whether an earlier event of the run makes what happens in `phase` depend on its being mended.
pub(super) fn is_spoilt(run: &Run, phase: u32, returned: Returned) -> bool {
    let stopped = |since: Option<u32>| since.is_some_and(|since| since <= phase);
    let missed = |since: Option<u32>| since.is_some_and(|since| since < phase);
    missed(run.diverged_since)
        || returned == Returned::StillCount && missed(run.returned_since)
        || stopped(run.undefined_since)
        || stopped(run.failed_since)
}

/// Whether an expression has one value in all threads of a launch.
fn is_uniform(kernel: &Kernel, root: ExprId) -> bool {
    let mut uniform = true;
    kernel.exprs.visit(root, |_, node| {
        uniform &= !matches!(node, Expr::Var(_) | Expr::Geometry(GeometryVar::ThreadIdx(_) | GeometryVar::BlockIdx(_)));
    });
    uniform
}
