//! What the prover was asked about a kernel, so that no condition is searched twice.
//!
//! Two pairs of accesses with the same address, size, guards, loops and meeting have the same condition
//! (`a[i] += x` reads and writes one element), and a proof for some launches holds for every subset of them
//! (what was proved for all geometries is not asked again for a launch). [`Asked::prove`] answers both from
//! memory.
//!
//! It also keeps the purse of a kernel: a pair that stays open has cost the whole budget of a search, and a
//! kernel with hundreds of them is not going to be proved by spending it on each. The purse is a count, so the
//! same kernel always gets the same answers.

use super::effort::Effort;
use crate::calculus::intervals::Meeting;
use crate::calculus::{ArrayId, ExprId};
use crate::memory_model::{AccessKind, Level};
use crate::protocol::{Access, AccessId, Guard, LoopId, Protocol};
use crate::prove::hand_over::may_order_by_place;
use crate::prove::premises::{Budget, Premises};
use crate::prove::{Groups, Open, Pair, Proof, Scope};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Pairs that may stay open at the full price of a search, then at the middle one, then at the small one; what
/// is asked after that stays open unasked.
const OPEN_AT_FULL_PRICE: usize = 2;
const OPEN_AT_MIDDLE_PRICE: usize = 6;
const OPEN_AT_SMALL_PRICE: usize = 32;

/// The memory of one kernel.
pub(super) struct Asked {
    effort: Effort,
    known: RefCell<Known>,
}

#[derive(Default)]
struct Known {
    proofs: FxHashMap<Question, Proof>,
    open: FxHashMap<Question, Vec<(Scope, Open)>>,
    stayed_open: FxHashMap<Scope, usize>,
}

/// All of a pair that its condition is built from.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Question {
    accesses: [Address; 2],
    level: Level,
    groups: Groups,
    meeting: Meeting,
}

/// All of an access that a condition is built from: not what is done there, nor at which line.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Address {
    array: ArrayId,
    offset: ExprId,
    bytes: u32,
    /// What the offset must be a multiple of, and which atomic is done there, if that is more than 1.
    aligned: (u32, Option<AccessKind>),
    guards: Vec<Guard>,
    loops: Vec<LoopId>,
    /// How many facts hold where the access is made.
    facts: usize,
    /// Where it is made, if fences and atomics between blocks count.
    place: Option<AccessId>,
}

impl Asked {
    /// Nothing was asked yet.
    pub(super) fn new(effort: Effort) -> Self {
        Asked { effort, known: RefCell::default() }
    }

    /// Proves a pair, or says why not; what was asked before is not searched again. Where a cheap search fails,
    /// `refute` may show that the pair conflicts, before a dear one is begun.
    pub(super) fn prove(
        &self,
        premises: &Premises<'_>,
        pair: &Pair,
        mut refute: impl FnMut() -> bool,
    ) -> Result<Proof, Open> {
        let scope = premises.scope;
        let question = Question::of(premises.protocol, pair);
        let mut known = self.known.borrow_mut();
        if let Some(proof) = known.proofs.get(&question).filter(|proof| proof.scope.contains(scope)) {
            return Ok(proof.clone());
        }
        if let Some(open) = known.why_open(&question, scope) {
            return Err(open.clone());
        }
        let Some(budget) = known.budget(scope) else { return Err(Open::Budget) };
        let price = |budget: Budget| self.effort.price(budget);
        let outcome =
            premises.conflict(pair).and_then(|condition| match premises.refute(&condition, &price(Budget::SMALL)) {
                Err(Open::NoRule | Open::Budget) if refute() => Err(Open::Refuted),
                Err(Open::NoRule | Open::Budget) if budget != Budget::SMALL => {
                    premises.refute(&condition, &price(budget.after(Budget::SMALL)))
                }
                outcome => outcome,
            });
        let outcome = match outcome {
            Err(Open::NotExpressible(_)) if refute() => Err(Open::Refuted),
            outcome => outcome,
        };
        known.remember(question, scope, &outcome);
        outcome
    }
}

impl Known {
    fn why_open(&self, question: &Question, scope: &Scope) -> Option<&Open> {
        self.open.get(question)?.iter().find(|(asked, _)| asked == scope).map(|(_, open)| open)
    }

    fn remember(&mut self, question: Question, scope: &Scope, outcome: &Result<Proof, Open>) {
        match outcome {
            Ok(proof) => {
                self.proofs.insert(question, proof.clone());
            }
            // A conflict that is shown costs little, and is found again.
            Err(Open::Refuted) => {}
            Err(open) => {
                *self.stayed_open.entry(scope.clone()).or_default() += 1;
                self.open.entry(question).or_default().push((scope.clone(), open.clone()));
            }
        }
    }

    fn budget(&self, scope: &Scope) -> Option<Budget> {
        match self.stayed_open.get(scope).copied().unwrap_or_default() {
            ..OPEN_AT_FULL_PRICE => Some(Budget::FULL),
            OPEN_AT_FULL_PRICE..OPEN_AT_MIDDLE_PRICE => Some(Budget::MIDDLE),
            OPEN_AT_MIDDLE_PRICE..OPEN_AT_SMALL_PRICE => Some(Budget::SMALL),
            _ => None,
        }
    }
}

impl Question {
    pub(super) fn of(protocol: &Protocol, pair: &Pair) -> Question {
        // Whoever adds a field to a pair has to say here whether the condition depends on it.
        let Pair { first, second, level, groups, meeting } = pair;
        let counts = may_order_by_place(protocol, *level);
        let accesses = [first, second].map(|id| Address::of(protocol, *id, counts.then_some(*id)));
        Question { accesses, level: *level, groups: *groups, meeting: meeting.clone() }
    }
}

impl Address {
    fn of(protocol: &Protocol, id: AccessId, place: Option<AccessId>) -> Address {
        // An access that stands somewhere else, or that is not of the same kind, has another place.
        let Access { site: _, array, offset, bytes, align, kind, value: _, lock: _, guards, loops, reasons: _ } =
            &protocol.accesses[id];
        let (array, offset, bytes, guards, loops) = (*array, *offset, *bytes, guards.clone(), loops.clone());
        // Atomics at addresses that their type admits are to one cell or to none in common.
        let aligned = (*align, Some(*kind).filter(|kind| *align > 1 && matches!(kind, AccessKind::Atomic { .. })));
        // In program order, as facts are: what is proved holds from its place on.
        let facts = protocol.facts.iter().filter(|fact| fact.holds_at_access(id)).count();
        Address { array, offset, bytes, aligned, guards, loops, facts, place }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::text::parse;

    #[test]
    fn what_is_proved_behind_an_access_does_not_answer_for_it() {
        let between = |fact: &str| {
            let text = format!(
                "protocol k(n: i32) {{\n  global param a: element 4\n  wr a[0; 4] @0 exact\n  {fact}\n  wr a[0; 4] @1 exact\n}}\n"
            );
            let protocol = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let accesses: Vec<AccessId> = protocol.accesses.handles().collect();
            Address::of(&protocol, accesses[0], None) == Address::of(&protocol, accesses[1], None)
        };
        assert!(between(""));
        assert!(!between("proved n == 4 after 1 0 0"));
        // What is stated restricts whole runs.
        assert!(between("assume n == 4 after 1 0 0"));
    }
}
