//! `mutate`: which of the programs that differ from the user's in one place its tests tell apart from it.
//!
//! The program is built once with all of its mutants in it ([`Logging::Mutants`](crate::execute::program::Logging)); each run
//! is told which one it is. Of an OpenCL program, which builds its kernels as it runs, the text of one mutant takes the place of the
//! program's own ([`Subject`]). A campaign goes on in this order:
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
mod subject;

pub use crate::mutation::{Campaign as Outcomes, html, sarif, schema, text};
pub use crate::mutation::{Mutant, Operator, Status};
pub use plan::{MutateError, Plan};
pub use record::{Earlier, Record, path as path_of_record};
pub use subject::{Host, Subject};

use super::run::{self, Built, Request, RunError, Stop};
use crate::driver::Options;
use crate::execute::ExecuteError;
use crate::execute::program::Trial;
use candidate::Candidate;
use oracle::Oracle;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use subject::Run;

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
    subject: Subject<'b>,
    plan: Plan,
    candidates: Vec<Candidate>,
    /// Numbers of the mutants that are reached, if that is known beforehand.
    reached: Option<BTreeSet<usize>>,
    oracle: Option<Oracle>,
    directory: PathBuf,
}

impl<'b> Campaign<'b> {
    /// Lists the mutants of a program. What its runs write goes below the directory.
    pub fn begin(subject: Subject<'b>, plan: Plan, directory: PathBuf) -> Result<Campaign<'b>, MutateError> {
        let (candidates, reached) = subject.list()?;
        // Programs may change their working directory.
        let directory = std::path::absolute(&directory).unwrap_or(directory);
        Ok(Campaign { subject, plan, candidates, reached, oracle: None, directory })
    }

    /// The mutants as they stand.
    pub fn so_far(&self) -> Outcomes {
        Outcomes::of(self.candidates.iter().map(|candidate| candidate.mutant.clone()).collect())
    }

    /// Leaves those mutants alone; the others are of no interest.
    pub fn keep_only(&mut self, wanted: impl Fn(&Mutant) -> bool) {
        self.candidates.retain(|candidate| wanted(&candidate.mutant));
    }

    /// Leaves so many of the mutants, drawn by the seed.
    pub fn sample(&mut self, count: usize, seed: u64) {
        let drawn = |mutant: &Mutant| {
            let mut hasher = DefaultHasher::new();
            (seed, &mutant.file, mutant.start.line, mutant.start.column, mutant.id).hash(&mut hasher);
            (hasher.finish(), mutant.id)
        };
        let mut all: Vec<(u64, usize)> = self.candidates.iter().map(|candidate| drawn(&candidate.mutant)).collect();
        all.sort_unstable();
        let chosen: BTreeSet<usize> = all.into_iter().take(count).map(|(_, id)| id).collect();
        self.keep_only(|mutant| chosen.contains(&mutant.id));
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
        for (number, file) in self.subject.mutated_files().into_iter().enumerate() {
            let Some(options) = self.subject.reading(number, options) else { continue };
            let Some(mut prover) = proofs::Prover::new(file, &options) else { continue };
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
        let mut tried = Vec::new();
        for trial in trials {
            if let Run::Tried(run) = self.subject.try_out(None, &trial, stop)? {
                tried.push(run);
            }
        }
        let oracle = Oracle::learn(&tried)?;
        let remarks = oracle.remarks();
        self.oracle = Some(oracle);
        if let Some(reached) = self.reached.clone() {
            self.pending().filter(|candidate| !reached.contains(&(candidate.mutant.id - 1))).for_each(not_reached);
            return Ok(remarks);
        }
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
                not_reached(candidate);
            }
        }
        Ok(remarks)
    }

    /// Runs the mutants of which nothing is known yet; `tell` hears of each, from several threads.
    pub fn try_out(&mut self, tell: &(dyn Fn(&Mutant) + Sync), stop: Stop<'_>) -> Result<(), MutateError> {
        let Some(oracle) = &self.oracle else { return Ok(()) };
        let slowest = oracle.slowest().mul_f64(self.plan.timeout_multiplier).max(LEAST_TIME);
        let (subject, plan, directory) = (self.subject, &self.plan, &self.directory);
        let waiting: Vec<&mut Candidate> =
            self.candidates.iter_mut().filter(|candidate| candidate.mutant.status == Status::Pending).collect();
        let next = AtomicUsize::new(0);
        let waiting: Vec<Mutex<&mut Candidate>> = waiting.into_iter().map(Mutex::new).collect();
        let work = || -> Result<(), ExecuteError> {
            while let Some(candidate) = waiting.get(next.fetch_add(1, Ordering::Relaxed)) {
                let Ok(mut candidate) = candidate.lock() else { continue };
                let (status, reason) = tried(subject, plan, oracle, directory, &candidate, slowest, stop)?;
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

fn not_reached(candidate: &mut Candidate) {
    candidate.mutant.status = Status::NotReached;
}

/// What becomes of a mutant in its repetitions.
fn tried(
    subject: Subject<'_>,
    plan: &Plan,
    oracle: &Oracle,
    directory: &std::path::Path,
    candidate: &Candidate,
    timeout: Duration,
    stop: Stop<'_>,
) -> Result<(Status, Option<String>), ExecuteError> {
    let id = candidate.mutant.id;
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
        let run = match subject.try_out(Some(candidate), &trial, stop)? {
            Run::Tried(run) => run,
            Run::Unviable(why) => return Ok((Status::Unviable, Some(why.to_owned()))),
            Run::NotBuilt => {
                let why = "the program did not build its text in this run";
                return Ok((Status::NotReached, Some(why.to_owned())));
            }
        };
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
