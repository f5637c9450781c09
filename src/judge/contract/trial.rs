//! Proofs with conditions assumed: which of them close what is open.
//!
//! Guarantees: what is chosen closes every open pair, by the rules; none of the chosen conditions can be left out. The
//! cost is a fixed number of cheap proofs; none is sought that a race which was seen makes impossible. Deliberately absent:
//! the whole kernel, which is proved once more after the choice.

use super::candidates::Set;
use super::plausible::value_in;
use super::vocabulary::{Condition, Leaf};
use crate::calculus::{Basis, Geometry};
use crate::judge::scopes::Attempt;
use crate::protocol::{Before, Fact, Protocol};
use crate::prove::premises::{Budget, Premises};
use crate::prove::{Conflict, Pair, Witness};
use std::ops::Range;

/// Proofs that are sought in all.
const MOST_PROOFS: usize = 400;
/// Conditions that are told together, at most.
const MOST_TOGETHER: usize = 4;

/// A protocol to which conditions are added for a while.
pub(super) struct Trial<'t> {
    protocol: Protocol,
    attempt: &'t Attempt,
    pairs: &'t [Pair],
    /// Launches in which a pair is seen to race, by the position of the pair.
    races: Vec<(usize, Launch)>,
    proofs: usize,
}

/// A launch of a witness.
struct Launch {
    geometry: Geometry,
    params: Vec<Option<i128>>,
}

impl<'t> Trial<'t> {
    /// `seen` are races of the kernel.
    pub(super) fn new(protocol: &Protocol, attempt: &'t Attempt, pairs: &'t [Pair], seen: &[Conflict]) -> Self {
        let races_at = |conflict: &Conflict, pair: &Pair| {
            let sites = [pair.first, pair.second].map(|access| protocol.accesses[access].site);
            let [one, other] = conflict.sites;
            (sites == [one, other] || sites == [other, one])
                && pair.level.is_one_block() == conflict.level.is_one_block()
        };
        // Two pairs of accesses may have the same sites, one of which is free.
        let pair_of = |conflict: &Conflict| {
            let mut at = pairs.iter().enumerate().filter(|(_, pair)| races_at(conflict, pair)).map(|(at, _)| at);
            at.next().filter(|_| at.next().is_none())
        };
        let launch = |conflict: &Conflict| Launch::of(protocol, &conflict.witness);
        let races = seen.iter().filter(|conflict| !conflict.misaligned);
        let races = races.filter_map(|conflict| Some((pair_of(conflict)?, launch(conflict)))).collect();
        Trial { protocol: protocol.clone(), attempt, pairs, races, proofs: 0 }
    }

    /// Whether the pair is seen to race in a launch that keeps these conditions.
    fn races_under(&self, conditions: &[Condition], pair: usize) -> bool {
        let keeps = |launch: &Launch| conditions.iter().all(|condition| launch.keeps(condition));
        self.races.iter().any(|(at, launch)| *at == pair && keeps(launch))
    }

    /// The first set that closes every pair, or a few that do together.
    ///
    /// What closes all closes each: so sets are tried on one pair, and only those that close it on the others. A pair that none
    /// closes ends the search. That there is one thread or one block along an axis closes much and is what few want: it is
    /// chosen if nothing else does, be that several conditions together.
    pub(super) fn choose(&mut self, sets: &[Set]) -> Option<Vec<Condition>> {
        let mut narrow: Option<Vec<Condition>> = None;
        self.choose_wide(sets, &mut narrow).or(narrow)
    }

    fn choose_wide(&mut self, sets: &[Set], narrow: &mut Option<Vec<Condition>>) -> Option<Vec<Condition>> {
        let mut useful: Vec<(&Vec<Condition>, Vec<bool>)> = Vec::new();
        while let Some(open) = self.uncovered(&useful) {
            let known = useful.len();
            for Set { conditions, budget } in sets {
                if !self.closed(conditions, *budget, open..open + 1)?[0] {
                    continue;
                }
                let closed = self.closed(conditions, *budget, 0..self.pairs.len())?;
                let closes_all = closed.iter().all(|&is_closed| is_closed);
                if closes_all && conditions.iter().any(Condition::wants_one) {
                    narrow.get_or_insert_with(|| conditions.clone());
                    continue;
                }
                if closes_all {
                    return Some(self.thinned(conditions.clone()));
                }
                useful.push((conditions, closed));
            }
            if useful.len() == known {
                return None;
            }
        }
        let chosen = together(&useful, self.pairs.len())?;
        self.closes_all(&chosen).then(|| self.thinned(chosen))
    }

    /// The first pair that none of the sets closes.
    fn uncovered(&self, sets: &[(&Vec<Condition>, Vec<bool>)]) -> Option<usize> {
        (0..self.pairs.len()).find(|&pair| sets.iter().all(|(_, closed)| !closed[pair]))
    }

    fn closes_all(&mut self, conditions: &[Condition]) -> bool {
        let closed = self.closed(conditions, Budget::MIDDLE, 0..self.pairs.len());
        closed.is_some_and(|closed| closed.iter().all(|&is_closed| is_closed))
    }

    /// A set without what is not needed, the first conditions first.
    fn thinned(&mut self, mut set: Vec<Condition>) -> Vec<Condition> {
        let mut at = 0;
        while set.len() > 1 && at < set.len() {
            let mut fewer = set.clone();
            fewer.remove(at);
            match self.closes_all(&fewer) {
                true => set = fewer,
                false => at += 1,
            }
        }
        set
    }

    /// Which of these pairs are proved under the conditions; `None` once too much was asked.
    fn closed(&mut self, conditions: &[Condition], budget: Budget, pairs: Range<usize>) -> Option<Vec<bool>> {
        if self.proofs > MOST_PROOFS {
            return None;
        }
        let facts = self.protocol.facts.len();
        for condition in conditions {
            let cond = condition.expression(&mut self.protocol.exprs, &self.protocol.params);
            let (guards, loops) = (Vec::new(), Vec::new());
            let fact = Fact { cond, basis: Basis::Stated, guards, loops, before: Before::default(), span: None };
            self.protocol.facts.push(fact);
        }
        let mut closed = vec![true; pairs.len()];
        for part in &self.attempt.parts {
            let premises = Premises::new(&self.protocol, &part.scope);
            let asked = pairs.clone().zip(&mut closed);
            for (at, is_closed) in asked.filter(|(_, is_closed)| **is_closed) {
                *is_closed = !self.races_under(conditions, at) && {
                    self.proofs += 1;
                    premises.prove_pair(&self.pairs[at], &budget).is_ok()
                };
            }
        }
        self.protocol.facts.truncate(facts);
        Some(closed)
    }
}

impl Launch {
    fn of(protocol: &Protocol, witness: &Witness) -> Launch {
        let value = |name: &str| witness.params.iter().find(|(other, _)| other == name).map(|&(_, value)| value);
        let params = protocol.params.iter().map(|(_, param)| value(&param.name)).collect();
        Launch { geometry: witness.geometry, params }
    }

    fn keeps(&self, condition: &Condition) -> bool {
        condition.holds(&|leaf: Leaf| value_in(self.geometry, &self.params, leaf)) == Some(true)
    }
}

/// The fewest of the sets, greedily, that close all pairs one by one; the first ones come first.
fn together(useful: &[(&Vec<Condition>, Vec<bool>)], pairs: usize) -> Option<Vec<Condition>> {
    let mut open = vec![true; pairs];
    let mut chosen: Vec<Condition> = Vec::new();
    while open.contains(&true) {
        let gain = |closed: &[bool]| closed.iter().zip(&open).filter(|(closes, open)| **closes && **open).count();
        let (set, closed) = useful.iter().rev().max_by_key(|(_, closed)| gain(closed))?;
        if gain(closed) == 0 {
            return None;
        }
        open.iter_mut().zip(closed).for_each(|(open, closes)| *open &= !closes);
        let news: Vec<Condition> = set.iter().filter(|condition| !chosen.contains(condition)).cloned().collect();
        chosen.extend(news);
        if chosen.len() > MOST_TOGETHER {
            return None;
        }
    }
    Some(chosen)
}
