//! Solvers whose answers are remembered from one run of the tests to the next.
//!
//! A question stands for its answer as long as the solver is the same ([`super::answers`]). What raceproof asks, and what
//! it makes of the answer, is tried each time.

use super::{answers, tools};
use raceproof::smt::{Answer, Memory, Session, Solver, SolverKind, Trouble, find};
use std::process::Command;
use std::sync::Arc;

/// The answers of one version of a solver.
#[derive(Debug)]
struct Remembered {
    name: &'static str,
    version: Vec<u8>,
}

impl Memory for Remembered {
    fn known(&self, question: &str) -> Option<Answer> {
        match answers::known(self.name, &(&self.version, question))?.as_slice() {
            b"sat" => Some(Answer::Sat),
            b"unsat" => Some(Answer::Unsat),
            b"unknown" => Some(Answer::Unknown(Trouble::GaveUp(self.name))),
            _ => None,
        }
    }

    fn remember(&self, question: &str, answer: &Answer) {
        let word: &[u8] = match answer {
            Answer::Sat => b"sat",
            Answer::Unsat => b"unsat",
            Answer::Unknown(_) => b"unknown",
        };
        answers::remember(self.name, &(&self.version, question), word);
    }
}

/// A session with this solver.
fn of(solver: Solver) -> Session {
    let version = Command::new(&solver.program).arg("--version").output().expect("the solver starts").stdout;
    let memory = Remembered { name: solver.kind.name(), version };
    Session::new(solver).with_memory(Arc::new(memory))
}

/// A session with the solver, in tiers that use any.
pub(crate) fn session(kind: SolverKind) -> Option<Session> {
    tools::used(kind.name(), || find(kind).ok_or(())).map(of)
}
