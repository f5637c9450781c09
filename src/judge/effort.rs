//! How much is tried for one kernel: units of work by stage, instructions of runs, resources of the solver.
//!
//! All of them are counted, so that no verdict hangs on how fast a machine is. The figures come from what the stages took to
//! decide what they decide, over public trees (docs/ARCHITECTURE.md, "What may be spent").
//!
//! Deliberately absent: who counts ([`work`](crate::work)), and what becomes of a kernel for which too little was allowed:
//! it stays as open as if no rule applied, and says so.

use crate::prove::premises::Budget;
use crate::prove::{ask, refute};

/// How hard to try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// What an answer while somebody types may take.
    Quick,
    /// What a scan of a tree may take.
    #[default]
    Normal,
    /// Whatever may help.
    Thorough,
}

/// What may be spent on one kernel, for each time that it is judged.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Units for the invariants of its loops.
    pub invariants: u64,
    /// Units for proofs, and for the runs that spare some of them.
    pub proofs: u64,
    /// Units for runs that show what is not proved.
    pub runs: u64,
    /// Instructions of a search by runs, which may take some times as much where a launch decides.
    pub search: refute::Budget,
    /// Units for contents of memory.
    pub contents: u64,
    /// Units for contracts.
    pub contracts: u64,
    /// What a solver may be asked.
    pub questions: ask::Budget,
}

impl Effort {
    /// What a proof may cost that may cost this.
    pub(super) fn price(self, budget: Budget) -> Budget {
        if self == Effort::Thorough { budget.patient() } else { budget }
    }

    /// What may be spent.
    pub fn allowance(self) -> Allowance {
        match self {
            Effort::Quick => Allowance {
                invariants: MILLION / 2,
                proofs: 2 * MILLION,
                runs: 2 * MILLION,
                search: refute::Budget { steps: 200_000 },
                contents: MILLION / 2,
                contracts: 2 * MILLION,
                questions: ask::Budget { questions: 32, open: 1, products: 3, integers: 30_000, bits: 60_000 },
            },
            Effort::Normal => Allowance {
                invariants: 6 * MILLION,
                proofs: 8 * MILLION,
                runs: 8 * MILLION,
                search: refute::Budget::default(),
                contents: 2 * MILLION,
                contracts: 6 * MILLION,
                questions: ask::Budget { questions: 400, open: 1, products: 6, integers: 60_000, bits: 120_000 },
            },
            Effort::Thorough => Allowance {
                invariants: u64::MAX,
                proofs: u64::MAX,
                runs: u64::MAX,
                search: refute::Budget::default(),
                contents: u64::MAX,
                contracts: u64::MAX,
                questions: ask::Budget::default(),
            },
        }
    }
}

/// Units.
const MILLION: u64 = 1_000_000;
