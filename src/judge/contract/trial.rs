//! Proofs with conditions assumed: which of them close what is open.
//!
//! Guarantees: what is chosen closes every open pair, by the rules; none of the chosen conditions can be left out. The
//! cost is a fixed number of cheap proofs. Deliberately absent: the whole kernel, which is proved once more after the choice.

use super::candidates::Set;
use super::vocabulary::Condition;
use crate::calculus::Basis;
use crate::judge::scopes::Attempt;
use crate::protocol::{Before, Fact, Protocol};
use crate::prove::Pair;
use crate::prove::premises::{Budget, Premises};

/// Proofs that are sought in all.
const MOST_PROOFS: usize = 600;
/// Conditions that are told together, at most.
const MOST_TOGETHER: usize = 4;

/// A protocol to which conditions are added for a while.
pub(super) struct Trial<'t> {
    protocol: Protocol,
    attempt: &'t Attempt,
    pairs: &'t [Pair],
    proofs: usize,
}

impl<'t> Trial<'t> {
    pub(super) fn new(protocol: &Protocol, attempt: &'t Attempt, pairs: &'t [Pair]) -> Self {
        Trial { protocol: protocol.clone(), attempt, pairs, proofs: 0 }
    }

    /// The first set that closes every pair, or a few that do together.
    pub(super) fn choose(&mut self, sets: &[Set]) -> Option<Vec<Condition>> {
        let mut useful: Vec<(&Vec<Condition>, Vec<bool>)> = Vec::new();
        for Set { conditions: set, budget } in sets {
            let Some(closed) = self.closed(set, *budget) else { break };
            if closed.iter().all(|&is_closed| is_closed) {
                return Some(self.thinned(set.clone()));
            }
            if closed.contains(&true) {
                useful.push((set, closed));
            }
        }
        let chosen = together(&useful, self.pairs.len())?;
        let closes_all = |closed: Vec<bool>| closed.iter().all(|&is_closed| is_closed);
        self.closed(&chosen, Budget::MIDDLE).is_some_and(closes_all).then(|| self.thinned(chosen))
    }

    /// A set without what is not needed, the first conditions first.
    fn thinned(&mut self, mut set: Vec<Condition>) -> Vec<Condition> {
        let mut at = 0;
        while set.len() > 1 && at < set.len() {
            let mut fewer = set.clone();
            fewer.remove(at);
            let closes_all = |closed: Vec<bool>| closed.iter().all(|&is_closed| is_closed);
            match self.closed(&fewer, Budget::MIDDLE).is_some_and(closes_all) {
                true => set = fewer,
                false => at += 1,
            }
        }
        set
    }

    /// Which pairs are proved under the conditions; `None` once too much was asked.
    fn closed(&mut self, conditions: &[Condition], budget: Budget) -> Option<Vec<bool>> {
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
        let mut closed = vec![true; self.pairs.len()];
        for part in &self.attempt.parts {
            let premises = Premises::new(&self.protocol, &part.scope);
            for (pair, is_closed) in self.pairs.iter().zip(&mut closed).filter(|(_, is_closed)| **is_closed) {
                self.proofs += 1;
                *is_closed = premises.prove_pair(pair, &budget).is_ok();
            }
        }
        self.protocol.facts.truncate(facts);
        Some(closed)
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
