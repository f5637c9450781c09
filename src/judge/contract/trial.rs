//! Proofs with conditions assumed: which of them close what is open.
//!
//! Guarantees: what is chosen closes every open pair, by the rules; none of the chosen conditions can be left out. The
//! cost is a fixed number of cheap proofs; none is sought that a race which is seen makes impossible ([`Probe`]). Deliberately
//! absent: the whole kernel, which is proved once more after the choice.

use super::probe::Probe;
use super::vocabulary::Condition;
use crate::calculus::Basis;
use crate::judge::attempt::Case;
use crate::judge::scopes::Attempt;
use crate::protocol::{Before, Fact, Protocol};
use crate::prove::Pair;
use crate::prove::premises::{Budget, Premises};
use crate::work;
use std::collections::BTreeMap;
use std::ops::Range;

/// Proofs that are sought in all.
const MOST_PROOFS: usize = 400;
/// Conditions that are told together, at most.
const MOST_TOGETHER: usize = 4;

/// A protocol to which conditions are added for a while.
pub(super) struct Trial<'t, 'c> {
    protocol: Protocol,
    attempt: &'t Attempt,
    pairs: &'t [Pair],
    /// Races that are seen.
    probe: Probe<'t, 'c>,
    proofs: usize,
    /// What one may cost.
    price: Budget,
    /// What is known of each pair under conditions that were tried.
    known: BTreeMap<Vec<Condition>, Vec<Option<bool>>>,
}

impl<'t, 'c> Trial<'t, 'c> {
    pub(super) fn new(case: &Case<'_>, attempt: &'t Attempt, pairs: &'t [Pair], probe: Probe<'t, 'c>) -> Self {
        let (protocol, price) = (case.protocol.clone(), case.settings.effort.price(Budget::MIDDLE));
        Trial { protocol, attempt, pairs, probe, proofs: 0, price, known: BTreeMap::new() }
    }

    /// The first set that closes every pair, or a few that do together.
    ///
    /// What closes all closes each: so sets are tried on one pair, and only those that close it on the others. A pair that none
    /// closes ends the search. That there is one thread or one block along an axis closes much and is what few want: it is
    /// chosen if nothing else does, be that several conditions together.
    pub(super) fn choose(&mut self, sets: &[Vec<Condition>]) -> Option<Vec<Condition>> {
        let mut narrow: Option<Vec<Condition>> = None;
        self.choose_wide(sets, &mut narrow).or(narrow)
    }

    fn choose_wide(&mut self, sets: &[Vec<Condition>], narrow: &mut Option<Vec<Condition>>) -> Option<Vec<Condition>> {
        let mut useful: Vec<(&Vec<Condition>, Vec<bool>)> = Vec::new();
        while let Some(open) = self.uncovered(&useful) {
            let known = useful.len();
            for conditions in sets {
                if !self.closed(conditions, open..open + 1)?[0] {
                    continue;
                }
                let closed = self.closed(conditions, 0..self.pairs.len())?;
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
        let closed = self.closed(conditions, 0..self.pairs.len());
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
    fn closed(&mut self, conditions: &[Condition], pairs: Range<usize>) -> Option<Vec<bool>> {
        let mut known = self.known.remove(conditions).unwrap_or_else(|| vec![None; self.pairs.len()]);
        let asked: Vec<usize> = pairs.clone().filter(|&at| known[at].is_none()).collect();
        if !asked.is_empty() {
            if self.proofs > MOST_PROOFS || work::is_over() {
                return None;
            }
            self.probe.probe(conditions);
            let facts = self.protocol.facts.len();
            for condition in conditions {
                let cond = condition.expression(&mut self.protocol.exprs, &self.protocol.params);
                let (guards, loops) = (Vec::new(), Vec::new());
                let fact = Fact { cond, basis: Basis::Stated, guards, loops, before: Before::default(), span: None };
                self.protocol.facts.push(fact);
            }
            for at in asked {
                known[at] = Some(!self.probe.races(conditions, at) && self.is_proved(at));
            }
            self.protocol.facts.truncate(facts);
        }
        let closed = pairs.map(|at| known[at] == Some(true)).collect();
        self.known.insert(conditions.to_vec(), known);
        Some(closed)
    }

    /// Whether the rules prove a pair in every part of the attempt.
    fn is_proved(&mut self, at: usize) -> bool {
        let parts = &self.attempt.parts;
        parts.iter().all(|part| {
            self.proofs += 1;
            let premises = Premises::new(&self.protocol, &part.scope);
            premises.prove_pair(&self.pairs[at], &self.price).is_ok()
        })
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
