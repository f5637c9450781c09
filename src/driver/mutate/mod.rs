//! `mutate`: which of the programs that differ from the user's in one place its tests tell apart from it.
//!
//! The program is built once with all of its mutants in it ([`Logging::Mutants`](crate::execute::program::Logging)); each run
//! is told which one it is. A campaign goes on in this order:
//!
//! 1. [`Campaign::begin`] lists the mutants, and takes out those that the source suppresses.
//! 2. [`Campaign::baseline`] runs the program as it is, learns what it always does ([`oracle`]), and which mutants it reaches.
//! 3. [`Campaign::prove_mutants`] takes out those of which a proof says what a test would have to find out ([`proofs`]).
//! 4. [`Campaign::try_out`] runs the others, several at once, each as often as was asked.
//!
//! Guarantees: outcomes do not depend on the order in which mutants are tried nor on how many run at once, as far as the program's own
//! do not; whoever stops in between has all outcomes so far.
//!
//! Deliberately absent: what is printed and written (`cli`, `mutation`); other back ends than the CPU.

mod candidate;
mod listing;
mod oracle;
mod plan;
mod proofs;
mod record;

pub use crate::mutation::{Campaign as Outcomes, html, sarif, schema, text};
pub use crate::mutation::{Mutant, Operator, Status};
pub use plan::{MutateError, Plan};
pub use record::{Earlier, Record, path as path_of_record};

use super::run::{self, Built, Request, RunError, Stop};
use crate::driver::Options;
use crate::execute::ExecuteError;
use crate::execute::program::{Program, Trial, try_out};
use candidate::Candidate;
use oracle::Oracle;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Compilers are asked this often to do without the lines that they do not take with mutants in them.
const MOST_BUILDS: usize = 5;

/// Builds a program with its mutants. Lines that a compiler does not take with them have none; they are told as remarks.
pub fn build(request: &mut Request, stop: Stop<'_>) -> Result<(Built, Vec<String>), RunError> {
    let mut builds = 1;
    let built = loop {
        let error = match run::build(run::prepare(request)?, request, stop) {
            Ok(built) => break built,
            Err(error) => error,
        };
        let known = request.untouched.len();
        request.untouched.extend(error.compiler_messages().into_iter().flat_map(places_of_errors));
        if request.untouched.len() == known || builds == MOST_BUILDS {
            return Err(error);
        }
        builds += 1;
    };
    let told = |(path, line): &(String, u32)| {
        format!("{path}:{line}: not mutated: the compiler does not take the line with mutants in it")
    };
    let remarks = request.untouched.iter().map(told).collect();
    Ok((built, remarks))
}

/// Files and lines of the errors that a compiler tells, and of the places from which it came there.
fn places_of_errors(messages: &str) -> Vec<(String, u32)> {
    let place = |line: &str| -> Option<(String, u32)> {
        let (place, _) = line.split_once(": error:").or_else(|| line.split_once(":   required from"))?;
        let mut parts = place.rsplitn(3, ':');
        let (_, line, path) = (parts.next()?, parts.next()?, parts.next()?);
        Some((path.to_owned(), line.parse().ok()?))
    };
    messages.lines().filter_map(place).collect()
}

/// However fast the program is, its mutants get this much time.
const LEAST_TIME: Duration = Duration::from_secs(2);

/// The mutants of a program, and what is known of them.
pub struct Campaign<'b> {
    built: &'b Built,
    program: &'b Program,
    plan: Plan,
    candidates: Vec<Candidate>,
    oracle: Option<Oracle>,
    directory: PathBuf,
}

impl<'b> Campaign<'b> {
    /// Lists the mutants of a program. What its runs write goes below the directory.
    pub fn begin(built: &'b Built, plan: Plan, directory: PathBuf) -> Result<Campaign<'b>, MutateError> {
        let program = built.program().ok_or(MutateError::NotOfCpu)?;
        // Programs may change their working directory.
        let directory = std::path::absolute(&directory).unwrap_or(directory);
        Ok(Campaign { built, program, plan, candidates: listing::list(built), oracle: None, directory })
    }

    /// The mutants as they stand.
    pub fn so_far(&self) -> Outcomes {
        Outcomes::of(self.candidates.iter().map(|candidate| candidate.mutant.clone()).collect())
    }

    /// Leaves those mutants alone; the others are of no interest.
    pub fn keep_only(&mut self, wanted: impl Fn(&Mutant) -> bool) {
        self.candidates.retain(|candidate| wanted(&candidate.mutant));
    }

    /// Whether proofs are wanted.
    pub fn proves(&self) -> bool {
        self.plan.proves
    }

    /// Takes over what is known of mutants from somewhere else.
    pub fn take_over(&mut self, known: impl Fn(&Mutant) -> Option<(Status, Option<String>)>) {
        for candidate in self.pending() {
            if let Some((status, reason)) = known(&candidate.mutant) {
                (candidate.mutant.status, candidate.mutant.reason) = (status, reason);
            }
        }
    }

    fn pending(&mut self) -> impl Iterator<Item = &mut Candidate> {
        self.candidates.iter_mut().filter(|candidate| candidate.mutant.status == Status::Pending)
    }

    /// Settles those mutants of which a proof says what a test would have to find out; `tell` hears of each.
    pub fn prove_mutants(
        &mut self,
        options: &Options,
        tell: &mut dyn FnMut(&Mutant),
        stop: Stop<'_>,
    ) -> Result<(), MutateError> {
        for number in 0..self.built.instrumented_files().len() {
            let Some(mut prover) = proofs::Prover::new(self.built, number, options) else { continue };
            let of_file = self.candidates.iter_mut().filter(|candidate| candidate.file == number);
            for candidate in of_file.filter(|candidate| candidate.mutant.status == Status::Pending) {
                if stop() {
                    return Err(ExecuteError::Interrupted.into());
                }
                if let Some((status, reason)) = prover.settled(&candidate.mutant, &candidate.of_unit) {
                    (candidate.mutant.status, candidate.mutant.reason) = (status, Some(reason));
                    tell(&candidate.mutant);
                }
            }
        }
        Ok(())
    }

    /// Runs the program as it is. Gives remarks for the user: what of its output is not compared.
    pub fn baseline(&mut self, stop: Stop<'_>) -> Result<Vec<String>, MutateError> {
        let trials = (0..self.plan.repetitions.max(2)).map(|seed| Trial {
            mutant: None,
            tells_reached: seed == 0,
            seed,
            arguments: &self.plan.arguments,
            directory: self.directory.join(format!("baseline{seed}")),
            timeout: self.plan.timeout,
        });
        let tried = trials.map(|trial| try_out(self.program, &trial, stop)).collect::<Result<Vec<_>, _>>()?;
        let oracle = Oracle::learn(&tried)?;
        let remarks = oracle.remarks();
        self.oracle = Some(oracle);
        // A program that ends without a farewell says nothing; all mutants are tried then.
        let Ok(told) = std::fs::read_to_string(self.directory.join("baseline0").join("reached")) else {
            return Ok(remarks);
        };
        let numbers = |kind: &str| -> BTreeSet<usize> {
            let lines = told.lines().filter_map(|line| line.split_once('\t'));
            lines.filter(|(word, _)| *word == kind).filter_map(|(_, number)| number.parse().ok()).collect()
        };
        let (reached, unviable) = (numbers("reached"), numbers("unviable"));
        for candidate in self.pending() {
            let number = candidate.mutant.id - 1;
            if unviable.contains(&number) {
                candidate.mutant.status = Status::Unviable;
                candidate.mutant.reason = Some("it means nothing for the types at hand".to_owned());
            } else if !reached.contains(&number) {
                candidate.mutant.status = Status::NotReached;
            }
        }
        Ok(remarks)
    }

    /// Runs the mutants of which nothing is known yet; `tell` hears of each, from several threads.
    pub fn try_out(&mut self, tell: &(dyn Fn(&Mutant) + Sync), stop: Stop<'_>) -> Result<(), MutateError> {
        let Some(oracle) = &self.oracle else { return Ok(()) };
        let slowest = oracle.slowest().mul_f64(self.plan.timeout_multiplier).max(LEAST_TIME);
        let (program, plan, directory) = (self.program, &self.plan, &self.directory);
        let waiting: Vec<&mut Candidate> =
            self.candidates.iter_mut().filter(|candidate| candidate.mutant.status == Status::Pending).collect();
        let next = AtomicUsize::new(0);
        let waiting: Vec<Mutex<&mut Candidate>> = waiting.into_iter().map(Mutex::new).collect();
        let work = || -> Result<(), ExecuteError> {
            while let Some(candidate) = waiting.get(next.fetch_add(1, Ordering::Relaxed)) {
                let Ok(mut candidate) = candidate.lock() else { continue };
                let (status, reason) = tried(program, plan, oracle, directory, candidate.mutant.id, slowest, stop)?;
                (candidate.mutant.status, candidate.mutant.reason) = (status, reason);
                tell(&candidate.mutant);
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..plan.jobs.max(1)).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| match worker.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
        Ok(())
    }
}

/// What becomes of a mutant in its repetitions.
fn tried(
    program: &Program,
    plan: &Plan,
    oracle: &Oracle,
    directory: &std::path::Path,
    id: usize,
    timeout: Duration,
    stop: Stop<'_>,
) -> Result<(Status, Option<String>), ExecuteError> {
    let mut killed = 0;
    let mut reason = None;
    for seed in 0..plan.repetitions {
        let trial = Trial {
            mutant: Some(id - 1),
            tells_reached: false,
            seed,
            arguments: &plan.arguments,
            directory: directory.join(id.to_string()),
            timeout,
        };
        let run = try_out(program, &trial, stop)?;
        if run.is_timeout() {
            // The next one would take as long.
            return Ok((Status::Timeout, Some(format!("it was ended after {:.1} s", timeout.as_secs_f64()))));
        }
        if let Some(difference) = oracle.told_apart_by(&run) {
            killed += 1;
            reason.get_or_insert(difference);
        }
    }
    Ok(match killed {
        0 => (Status::Survived, None),
        all if all == plan.repetitions => (Status::Killed, reason),
        some => {
            let why = reason.unwrap_or_default();
            (Status::Undecided, Some(format!("killed in {some} of {} repetitions: {why}", plan.repetitions)))
        }
    })
}
