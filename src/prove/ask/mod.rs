//! Ask: what rules and runs leave open is put to an SMT solver (docs/ARCHITECTURE.md, "Prove, refute, ask").
//!
//! A pair of accesses, or a barrier, is asked about twice: as the rules see it, over integers
//! ([`integers`]), which carries their assumptions; then as the machine computes it, over bit-vectors
//! ([`machine`], [`setting`]), which needs none. `unsat` of either is a proof. `sat` of the second is a hint at
//! a launch, which the caller runs: no model is believed.
//!
//! Guarantees: a proof whose assumptions contradict each other is refused ([`Open::Vacuous`]). Questions of a
//! kernel are counted, and each is limited by the solver's own counter, so that equal input gives equal answers.
//!
//! Deliberately absent: derivations (a solver's word is not re-checked here; tests hold solvers against the
//! rules and against each other), and the order in which stages and scopes are tried (`driver`).

mod integers;
mod launches;
mod machine;
mod setting;

use super::condition::{self, Condition};
use super::premises::Premises;
use super::state::State;
use super::state::poly::Atom;
use super::{Assumption, Open, Pair, Returned, Scope, SyncQuestion};
use crate::memory_model::Level;
use crate::protocol::{Claim, Protocol};
use crate::smt::{Answer, Limits, Session, SolverKind, TermId, Terms};
use machine::Machine;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// What may be asked for one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Questions in all.
    pub questions: u32,
    /// Pairs and barriers that may stay open: a kernel is proved only if none does.
    pub open: u32,
    /// Products of two values in a question about bit-vectors, beyond which it is not asked.
    pub products: usize,
    /// The solver's resources for a question about integers, in Z3's units.
    pub integers: u64,
    /// The same for a question about bit-vectors.
    pub bits: u64,
}

impl Default for Budget {
    /// Half a minute at worst.
    fn default() -> Self {
        Budget { questions: 400, open: u32::MAX, products: usize::MAX, integers: 600_000, bits: 1_200_000 }
    }
}

/// What a solver came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It cannot happen, under these assumptions.
    Proved(BTreeSet<Assumption>),
    /// It may happen in this launch, says a model that nobody has confirmed.
    Suspected(Scope),
    /// It is not known.
    Open(Open),
}

/// Whether launches in which something may happen are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspects {
    /// Small ones are looked for.
    Wanted,
    /// Only proofs are.
    Unwanted,
}

/// The two questions that are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// What the rules were asked, over integers.
    Rules,
    /// What the machine computes, over bit-vectors.
    Machine,
}

/// A solver that is asked about one kernel.
pub struct Asker<'s> {
    session: &'s mut Session,
    terms: Terms,
    budget: Budget,
    left: u32,
    patience: Duration,
}

impl<'s> Asker<'s> {
    /// An asker that starts anew: what the session was asked before is forgotten. A solver that is silent for longer than
    /// `patience` counts as broken: its own counter ends every question long before.
    pub fn new(session: &'s mut Session, budget: Budget, patience: Duration) -> Self {
        session.reset();
        Asker { session, terms: Terms::new(), budget, left: budget.questions, patience }
    }

    /// Whether two threads can conflict at `pair`.
    pub fn pair(&mut self, protocol: &Protocol, pair: &Pair, scope: &Scope, suspects: Suspects) -> Reply {
        if let Ok(condition) = Premises::new(protocol, scope).conflict(pair)
            && self.over_integers(&condition) == Answer::Unsat
        {
            return self.proved(protocol, scope, condition.assumptions.into_iter().collect());
        }
        let mut terms = std::mem::take(&mut self.terms);
        let machine = setting::conflict(protocol, pair, scope, &mut terms);
        let reply = self.over_bits(protocol, scope, machine.into(), &mut terms, suspects);
        self.terms = terms;
        reply
    }

    /// One of the two questions about `pair`, and the answer as it comes: for holding solvers, and the stages of
    /// this room, against each other.
    pub fn view(&mut self, protocol: &Protocol, pair: &Pair, scope: &Scope, view: View) -> Result<Answer, Open> {
        if view == View::Rules {
            return Premises::new(protocol, scope).conflict(pair).map(|condition| self.over_integers(&condition));
        }
        let mut terms = std::mem::take(&mut self.terms);
        let asked = Asked::from(setting::conflict(protocol, pair, scope, &mut terms));
        self.session.push();
        asked.facts.iter().for_each(|&fact| self.session.assert(&terms, fact));
        let answer = self.check(self.budget.bits);
        self.session.pop();
        self.terms = terms;
        Ok(answer)
    }

    /// Whether `state` has a point, over integers.
    pub fn state(&mut self, state: &State) -> Answer {
        self.over_state(state, &BTreeMap::new())
    }

    /// Whether two threads of a block can disagree about reaching a sync.
    pub fn sync(
        &mut self,
        protocol: &Protocol,
        asked: SyncQuestion,
        returned: Returned,
        scope: &Scope,
        suspects: Suspects,
    ) -> Reply {
        let (questions, released) = condition::questions(protocol, &protocol.syncs[asked.sync], returned);
        let mut assumptions: BTreeSet<Assumption> = released.into_iter().collect();
        let conditions = condition::guard_conditions(protocol, asked, returned, scope);
        if let Ok((conditions, _)) = &conditions {
            let unsat =
                |asker: &mut Self, condition: &Condition| matches!(asker.over_integers(condition), Answer::Unsat);
            if conditions.iter().all(|condition| unsat(self, condition)) {
                assumptions.extend(conditions.iter().flat_map(|condition| condition.assumptions.iter().cloned()));
                return self.proved(protocol, scope, assumptions);
            }
        }
        for question in &questions {
            let mut terms = std::mem::take(&mut self.terms);
            let posed = setting::disagreement(protocol, (question, asked), scope, &mut terms).map(Asked::from);
            let reply = posed.map(|posed| self.over_bits(protocol, scope, posed, &mut terms, suspects));
            self.terms = terms;
            match reply {
                None => {}
                Some(Reply::Proved(more)) => assumptions.extend(more),
                Some(other) => return other,
            }
        }
        Reply::Proved(assumptions)
    }

    /// Whether a claim can fail in some thread.
    pub fn claim(&mut self, protocol: &Protocol, claim: &Claim, scope: &Scope) -> Reply {
        if let Ok(conditions) = condition::failures(protocol, claim, scope, &mut None)
            && conditions.iter().all(|condition| self.over_integers(condition) == Answer::Unsat)
        {
            let assumptions = conditions.into_iter().flat_map(|condition| condition.assumptions).collect();
            return self.proved(protocol, scope, assumptions);
        }
        let mut assumptions = BTreeSet::new();
        for parties in setting::Parties::of(protocol, claim) {
            let mut terms = std::mem::take(&mut self.terms);
            let posed = Asked::from(setting::failure(protocol, claim, *parties, scope, &mut terms));
            let reply = self.over_bits(protocol, scope, posed, &mut terms, Suspects::Unwanted);
            self.terms = terms;
            match reply {
                Reply::Proved(more) => assumptions.extend(more),
                other => return other,
            }
        }
        Reply::Proved(assumptions)
    }

    fn over_integers(&mut self, condition: &Condition) -> Answer {
        self.over_state(&condition.state, &condition.names)
    }

    fn over_state(&mut self, state: &State, names: &BTreeMap<Atom, String>) -> Answer {
        if !self.session.kind().knows_integers() {
            return Answer::Unknown(crate::smt::Trouble::GaveUp(SolverKind::Bitwuzla.name()));
        }
        let assertions = integers::assertions(&mut self.terms, state, names);
        let terms = std::mem::take(&mut self.terms);
        self.session.push();
        assertions.iter().for_each(|&assertion| self.session.assert(&terms, assertion));
        let answer = self.check(self.budget.integers);
        self.session.pop();
        self.terms = terms;
        answer
    }

    fn over_bits(
        &mut self,
        protocol: &Protocol,
        scope: &Scope,
        asked: Asked,
        terms: &mut Terms,
        suspects: Suspects,
    ) -> Reply {
        if terms.products(&asked.facts) > self.budget.products {
            let name = self.session.kind().name();
            return Reply::Open(Open::Solver(format!(
                "{name} is not asked about so many products; --effort raises it"
            )));
        }
        self.session.push();
        asked.facts.iter().for_each(|&fact| self.session.assert(terms, fact));
        let reply = match self.check(self.budget.bits) {
            Answer::Unsat => None,
            answer if suspects == Suspects::Wanted && !matches!(answer, Answer::Unknown(_)) => {
                Some(self.suspect(protocol, scope, &asked, terms))
            }
            Answer::Unknown(trouble) => Some(Reply::Open(Open::Solver(trouble.to_string()))),
            Answer::Sat => Some(Reply::Open(Open::Suspected(self.found_possible()))),
        };
        self.session.pop();
        reply.unwrap_or_else(|| self.proved(protocol, scope, asked.assumptions))
    }

    /// Looks for a small launch that satisfies what is asserted.
    fn suspect(&mut self, protocol: &Protocol, scope: &Scope, asked: &Asked, terms: &mut Terms) -> Reply {
        for size in launches::SIZES {
            self.session.push();
            let bounds = launches::bounds(&asked.leaves, size, protocol.geometry.most_threads(), terms);
            bounds.iter().for_each(|&bound| self.session.assert(terms, bound));
            let found = match self.check(self.budget.bits) {
                Answer::Sat => {
                    let wanted = asked.leaves.terms();
                    self.session.values(terms, &wanted, Instant::now() + self.patience).ok()
                }
                _ => None,
            };
            self.session.pop();
            if let Some(values) = found {
                return Reply::Suspected(launches::scope(protocol, scope, &asked.leaves, &values));
            }
        }
        Reply::Open(Open::Suspected(self.found_possible()))
    }

    fn found_possible(&self) -> String {
        format!("{} finds it possible, and no launch that was run confirms it", self.session.kind().name())
    }

    fn check(&mut self, resources: u64) -> Answer {
        let Some(left) = self.left.checked_sub(1) else {
            return Answer::Unknown(crate::smt::Trouble::GaveUp(self.session.kind().name()));
        };
        self.left = left;
        self.session.check(Limits { resources, deadline: Instant::now() + self.patience })
    }

    /// A proof, if what the source states holds at some point at all.
    fn proved(&mut self, protocol: &Protocol, scope: &Scope, assumptions: BTreeSet<Assumption>) -> Reply {
        if condition::has_a_point(protocol, scope) || self.is_satisfiable(protocol, scope) {
            Reply::Proved(assumptions)
        } else {
            Reply::Open(Open::Vacuous)
        }
    }

    /// Whether the solver finds a point at which what the source states holds.
    fn is_satisfiable(&mut self, protocol: &Protocol, scope: &Scope) -> bool {
        let mut terms = std::mem::take(&mut self.terms);
        let found = [Level::Block, Level::Grid].into_iter().any(|level| {
            let facts = setting::stated(protocol, level, scope, &mut terms).facts;
            self.session.push();
            facts.iter().for_each(|&fact| self.session.assert(&terms, fact));
            let answer = self.check(self.budget.bits);
            self.session.pop();
            answer == Answer::Sat
        });
        self.terms = terms;
        found
    }
}

/// A question about bit-vectors.
struct Asked {
    facts: Vec<TermId>,
    assumptions: BTreeSet<Assumption>,
    leaves: launches::Leaves,
}

impl From<Machine<'_>> for Asked {
    fn from(machine: Machine<'_>) -> Asked {
        let leaves = launches::Leaves::of(&machine);
        Asked { facts: machine.facts, assumptions: machine.assumptions, leaves }
    }
}
