//! The last stage: a solver is asked about what rules and runs left open.
//!
//! Everything is proved once more, the widest set of launches first, this time with the solver where rules
//! fail: a barrier that it proves uniform may order pairs that met before. Launches that its models name are run,
//! and count only for what the run shows.
//!
//! One solver process serves each worker thread; it is started by the first question, and forgets between kernels.

use super::asked::Question;
use super::attempt::{Case, Persistence};
use super::scopes::Candidates;
use crate::calculus::{SiteId, eval};
use crate::check::verdict::Verdict;
use crate::diagnostic::report::{Divergence, Race};
use crate::memory_model::AccessKind;
use crate::prove::ask::{Asker, Reply, Suspects};
use crate::prove::premises::Derivation;
use crate::prove::{Assumption, Open, Pair, Proof, Returned, Scope, SyncQuestion, refute};
use crate::smt::{Session, Solver};
use crate::work;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Launches named by models that are run for one kernel.
const MOST_SUSPECTS: usize = 8;

thread_local! {
    /// The session of this worker thread.
    static SESSION: RefCell<Option<(Solver, Session)>> = const { RefCell::new(None) };
}

/// Does `work` with this thread's session with `solver`. If it panics, the process ends with it.
pub(super) fn with_session<T>(solver: &Solver, work: impl FnOnce(&mut Session) -> T) -> T {
    let known = SESSION.take().filter(|(used, _)| used == solver);
    let mut session = known.map_or_else(|| Session::new(solver.clone()), |(_, session)| session);
    let result = work(&mut session);
    SESSION.set(Some((solver.clone(), session)));
    result
}

/// A solver and what it is asked for.
pub(super) struct Helper<'s> {
    asker: Asker<'s>,
    /// What was answered. Other than for the rules, it matters here whether both accesses are atomic.
    answers: FxHashMap<(Question, Scope, [AccessKind; 2]), Result<Proof, Open>>,
    /// Sites between which a conflict is known.
    known: BTreeSet<(SiteId, SiteId)>,
    suspects: Suspects,
    /// Launches that models named.
    named: Vec<Scope>,
    /// Whether enough stayed open to make all further questions useless.
    lost: bool,
    /// How much may stay open.
    open: u32,
    /// Whether the first thing that stays open ends the attempt.
    stops: bool,
}

impl Helper<'_> {
    /// Asks about a pair that rules do not prove, for this reason.
    pub(super) fn pair(&mut self, case: &Case<'_>, pair: &Pair, scope: &Scope, why: Open) -> Result<Proof, Open> {
        let (first, second) = case.sites(pair);
        if self.lost || self.known.contains(&(first, second)) || self.known.contains(&(second, first)) {
            return Err(why);
        }
        let kinds = [pair.first, pair.second].map(|id| case.protocol.accesses[id].kind);
        let question = (Question::of(case.protocol, pair), scope.clone(), kinds);
        if let Some(answer) = self.answers.get(&question) {
            return answer.clone();
        }
        let exact = [pair.first, pair.second].iter().all(|&id| case.protocol.accesses[id].reasons.is_empty());
        let suspects = if exact { self.suspects } else { Suspects::Unwanted };
        let reply = self.asker.pair(case.protocol, pair, scope, suspects);
        let answer = self.settle(reply).map(|assumptions| Proof {
            derivation: Derivation::default(),
            assumptions: assumptions.into_iter().collect(),
            scope: scope.clone(),
        });
        self.answers.insert(question, answer.clone());
        answer
    }

    /// Whether an answer can still matter.
    pub(super) fn asks(&self) -> bool {
        !self.lost
    }

    /// Asks about a sync that rules do not prove uniform.
    pub(super) fn sync(
        &mut self,
        case: &Case<'_>,
        question: SyncQuestion,
        returned: Returned,
        scope: &Scope,
    ) -> Result<BTreeSet<Assumption>, Open> {
        let exact = case.protocol.syncs[question.sync].reasons.is_empty();
        let suspects = if exact { self.suspects } else { Suspects::Unwanted };
        let reply = self.asker.sync(case.protocol, question, returned, scope, suspects);
        self.settle(reply)
    }

    fn settle(&mut self, reply: Reply) -> Result<BTreeSet<Assumption>, Open> {
        let why = match reply {
            Reply::Proved(assumptions) => return Ok(assumptions),
            Reply::Suspected(scope) => {
                if self.named.len() < MOST_SUSPECTS && !self.named.contains(&scope) {
                    self.named.push(scope);
                }
                Open::Suspected("it finds a conflict possible, and no launch that was run confirms it".to_owned())
            }
            Reply::Open(why) => why,
        };
        self.open = self.open.saturating_sub(1);
        self.lost |= self.stops || self.open == 0;
        Err(why)
    }
}

impl<'a> Case<'a> {
    /// Whether a solver could change a verdict.
    pub(super) fn is_open(&self, verdict: &Verdict) -> bool {
        let race = matches!(verdict.race, Race::Unknown | Race::PossiblyRacy);
        let divergence = matches!(verdict.divergence, Divergence::Unknown | Divergence::PossiblyDivergent);
        let unmodelled = self.kernel.unsupported.iter().any(|unsupported| unsupported.arrays.is_none());
        (race || divergence) && !unmodelled
    }

    /// The verdict, with a solver's help; `before` is the one without.
    pub(super) fn ask(
        &self,
        session: &mut Session,
        program: &'a eval::Program,
        candidates: &Candidates,
        before: Verdict,
    ) -> Verdict {
        let known = before.conflicts.iter().map(|conflict| (conflict.sites[0], conflict.sites[1])).collect();
        let mut helper = Helper {
            asker: Asker::new(session, self.allowance.questions, self.settings.solver_timeout),
            answers: FxHashMap::default(),
            known,
            suspects: Suspects::Unwanted,
            named: Vec::new(),
            lost: false,
            open: self.allowance.questions.open,
            stops: true,
        };
        let racy = !helper.known.is_empty();
        for (position, attempt) in candidates.proofs.iter().enumerate() {
            let last = position + 1 == candidates.proofs.len();
            (helper.stops, helper.lost) = (!last, false);
            helper.open = self.allowance.questions.open;
            helper.suspects = if last { Suspects::Wanted } else { Suspects::Unwanted };
            if !last && racy {
                continue;
            }
            let mut hunts = self.hunts(attempt, program);
            let persistence = if last { Persistence::AskAll } else { Persistence::StopAtFirst };
            let rest = self.prove(attempt, (&mut hunts, persistence), Some(&mut helper), &mut |_, _, _| {});
            if work::is_over() {
                break;
            }
            if last || rest.is_empty() {
                let verdict = self.conclude(attempt, rest, hunts, &helper.named);
                // Runs that were cut off may have missed what the verdict before shows.
                return if work::is_over() && !verdict.is_proved() { before } else { verdict };
            }
        }
        before
    }
}

/// Adds what a run of a suspected launch shows and was not known.
pub(super) fn add_news(outcome: refute::Outcome, verdict: &mut Verdict) {
    for conflict in outcome.conflicts {
        let known = |other: &crate::prove::Conflict| other.sites == conflict.sites && other.level == conflict.level;
        if !verdict.conflicts.iter().any(known) {
            verdict.conflicts.push(conflict);
        }
    }
    for divergence in outcome.divergences {
        let known = |other: &crate::prove::Divergence| {
            (other.sync, other.other, other.returned) == (divergence.sync, divergence.other, divergence.returned)
        };
        if !verdict.divergences.iter().any(known) {
            verdict.divergences.push(divergence);
        }
    }
}
