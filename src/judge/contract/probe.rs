//! Races that are seen, held against conditions: what admits a launch that races is no contract, and no proof need be sought.
//!
//! Races of the kernel come from its verdict; more are found by running launches that a condition admits and somebody would
//! make. A run costs a small part of a proof that is sought in vain.
//!
//! Guarantees: a race that is told happens in a launch that keeps the conditions. Deliberately absent: that conditions
//! under which none is seen are enough, which is proved.

use super::plausible::{fitted, geometries, params_of, value_in};
use super::vocabulary::{Condition, Leaf};
use crate::calculus::eval::Program;
use crate::calculus::{Geometry, SiteId};
use crate::judge::attempt::Case;
use crate::judge::scopes::Attempt;
use crate::protocol::Protocol;
use crate::prove::refute::{Budget, Hunt};
use crate::prove::{Conflict, Pair, Scope, Witness};
use std::collections::BTreeSet;

/// Geometries that are tried for one set of conditions.
const MOST_GEOMETRIES: usize = 2;
/// Values that all parameters have before they are fitted to the conditions.
const VALUES: [i128; 2] = [256, 3];
/// Launches that are run for one kernel and attempt.
const MOST_RUNS: usize = 160;
/// What one launch may take; a hunt takes 32 times as much where the launch is fixed.
const STEPS: Budget = Budget { steps: 4_000 };

/// Races that are seen of open pairs.
pub(super) struct Probe<'p, 'a> {
    case: &'p Case<'a>,
    program: &'p Program,
    attempt: &'p Attempt,
    pairs: &'p [Pair],
    sites: Vec<(SiteId, SiteId)>,
    /// By the position of the pair.
    races: Vec<(usize, Launch)>,
    run: BTreeSet<Launch>,
}

/// A launch: its geometry, and its parameters in their order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Launch {
    geometry: Geometry,
    params: Vec<Option<i128>>,
}

impl<'p, 'a> Probe<'p, 'a> {
    /// `seen` are races of the kernel.
    pub(super) fn new(
        case: &'p Case<'a>,
        program: &'p Program,
        (attempt, pairs): (&'p Attempt, &'p [Pair]),
        seen: &[Conflict],
    ) -> Self {
        let sites = pairs.iter().map(|pair| case.sites(pair)).collect();
        let (races, run) = (Vec::new(), BTreeSet::new());
        let mut probe = Probe { case, program, attempt, pairs, sites, races, run };
        probe.learn(seen, |conflict| Launch::of(case.protocol, &conflict.witness));
        probe
    }

    /// Whether the pair at that position is seen to race in a launch that keeps the conditions.
    pub(super) fn races(&self, conditions: &[Condition], pair: usize) -> bool {
        let keeps = |launch: &Launch| conditions.iter().all(|condition| launch.keeps(condition));
        self.races.iter().any(|(at, launch)| *at == pair && keeps(launch))
    }

    /// Runs launches that keep the conditions.
    pub(super) fn probe(&mut self, conditions: &[Condition]) {
        for part in &self.attempt.parts {
            for geometry in geometries(self.case.kernel, &part.scope).into_iter().take(MOST_GEOMETRIES) {
                for value in VALUES {
                    let start = vec![Some(value); self.case.kernel.params.len()];
                    let params = fitted((self.case.kernel, conditions), &part.scope, geometry, start);
                    let launch = params.map(|params| Launch { geometry, params });
                    if let Some(launch) = launch.filter(|launch| conditions.iter().all(|it| launch.keeps(it)))
                        && self.run.len() < MOST_RUNS
                        && self.run.insert(launch.clone())
                    {
                        self.look(&launch);
                    }
                }
            }
        }
    }

    fn look(&mut self, launch: &Launch) {
        let Launch { geometry, params } = launch;
        let (block, grid) = (geometry.block.map(Some), geometry.grid.map(Some));
        let scope = Scope { block, grid, params: params.clone(), most_threads: None };
        let hunt = Hunt::new(self.case.kernel, self.program, &scope, self.case.search_levels(), &STEPS);
        let outcome = hunt.finish(None, &self.sites);
        // That numbers do not go around, proofs take for granted.
        if outcome.wraps.is_empty() && outcome.wrapped_loops.is_empty() {
            self.learn(&outcome.conflicts, |_| launch.clone());
        }
    }

    fn learn(&mut self, conflicts: &[Conflict], launch: impl Fn(&Conflict) -> Launch) {
        for conflict in conflicts.iter().filter(|conflict| !conflict.misaligned) {
            if let Some(pair) = self.pair_of(conflict) {
                self.races.push((pair, launch(conflict)));
            }
        }
    }

    /// The pair that a conflict is of, if it can be of no other: two pairs may have the same sites, one of which is free.
    fn pair_of(&self, conflict: &Conflict) -> Option<usize> {
        let [one, other] = conflict.sites;
        let is_one_block = |pair: &Pair| pair.level.is_one_block() == conflict.level.is_one_block();
        let is_it = |at: &usize| {
            let sites = self.sites[*at];
            (sites == (one, other) || sites == (other, one)) && is_one_block(&self.pairs[*at])
        };
        let mut found = (0..self.pairs.len()).filter(is_it);
        found.next().filter(|_| found.next().is_none())
    }
}

impl Launch {
    fn of(protocol: &Protocol, witness: &Witness) -> Launch {
        Launch { geometry: witness.geometry, params: params_of(&protocol.params, witness) }
    }

    fn keeps(&self, condition: &Condition) -> bool {
        condition.holds(&|leaf: Leaf| value_in(self.geometry, &self.params, leaf)) == Some(true)
    }
}
