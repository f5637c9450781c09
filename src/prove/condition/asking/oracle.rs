//! Questions of sign that come up while a condition is built, and who answers them.
//!
//! Whether `x / 32` has digits, or whether `n - 1 - i` wraps, depends on signs. The prover searches for a
//! certificate and records it; the checker takes the record, verifies every certificate in it and searches
//! nothing. A "no" needs no verification: a condition built without what would have followed is weaker.

use crate::prove::state::State;
use crate::prove::state::poly::Poly;
use crate::prove::state::sign::{self, Certificate, Effort};

/// Cancellations that one question may take.
const PER_QUESTION: u32 = 24;
/// Cancellations that all questions of one condition may take.
const PER_CONDITION: u32 = 3_000;

/// Who answers.
#[derive(Clone)]
pub(in crate::prove::condition) enum Oracle<'a> {
    /// Searches, and remembers the answers.
    Search { effort: Effort, rulings: Vec<Option<Certificate>> },
    /// Reads answers, and verifies them.
    Replay { rulings: &'a [Option<Certificate>], next: usize, fault: Option<&'static str> },
}

impl<'a> Oracle<'a> {
    pub(in crate::prove::condition) fn searching() -> Self {
        Oracle::Search { effort: Effort::new(PER_QUESTION, PER_CONDITION), rulings: Vec::new() }
    }

    pub(in crate::prove::condition) fn replaying(rulings: &'a [Option<Certificate>]) -> Self {
        Oracle::Replay { rulings, next: 0, fault: None }
    }

    /// Whether `goal >= 0` is shown to hold in `state`.
    pub(in crate::prove::condition) fn shows(&mut self, goal: &Poly, state: &State) -> bool {
        match self {
            Oracle::Search { effort, rulings } => {
                // A certificate of huge factors may be out of the range of what verifies it.
                let ruling = sign::prove(goal, state, effort).filter(|found| sign::holds(found, goal, state));
                let shown = ruling.is_some();
                rulings.push(ruling);
                shown
            }
            Oracle::Replay { rulings, next, fault } => {
                let Some(ruling) = rulings.get(*next) else {
                    fault.get_or_insert("the derivation answers too few questions");
                    return false;
                };
                *next += 1;
                let Some(certificate) = ruling else { return false };
                let holds = sign::holds(certificate, goal, state);
                if !holds {
                    // What is asked after a wrong answer is another question.
                    fault.get_or_insert("a certificate does not hold");
                }
                holds
            }
        }
    }

    /// The answers, or what is wrong with those that were replayed.
    pub(in crate::prove::condition) fn finish(self) -> Result<Vec<Option<Certificate>>, &'static str> {
        match self {
            Oracle::Search { rulings, .. } => Ok(rulings),
            Oracle::Replay { fault: Some(fault), .. } => Err(fault),
            Oracle::Replay { rulings, next, .. } if next != rulings.len() => {
                Err("the derivation answers too many questions")
            }
            Oracle::Replay { .. } => Ok(Vec::new()),
        }
    }
}
