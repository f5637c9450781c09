//! How a campaign goes about it, and why there may be none.

use crate::driver::run::RunError;
use crate::execute::ExecuteError;
use std::ffi::OsString;
use std::time::Duration;

/// How mutants are tried.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Arguments of the program.
    pub arguments: Vec<OsString>,
    /// Runs of each mutant, each with another order of its threads.
    pub repetitions: u64,
    /// How many times as long as the program a mutant may run.
    pub timeout_multiplier: f64,
    /// Mutants that run at once.
    pub jobs: usize,
    /// When the program itself is ended.
    pub timeout: Duration,
    /// Whether those are left out of which something is proved.
    pub proves: bool,
}

/// Why there is no campaign.
#[derive(Debug, thiserror::Error)]
pub enum MutateError {
    /// The tests fail without any mutant.
    #[error("the program itself {0}; mutants are told apart from a program that succeeds (exit status 0)")]
    Fails(String),
    /// It could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// There is nothing to mutate with.
    #[error("the program was not built for the CPU")]
    NotOfCpu,
}

impl From<ExecuteError> for MutateError {
    fn from(error: ExecuteError) -> MutateError {
        MutateError::Run(error.into())
    }
}

impl MutateError {
    /// Whether the user ended it.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, MutateError::Run(error) if error.is_interrupt())
    }
}
