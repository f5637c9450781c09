//! `adequacy`: coverage, mutants, schedules and generated launches of one program, put together.
//!
//! The program is built once for each of these, and once more for each file of launches that is found, with the mutants that its own tests did not tell apart.
//!
//! Guarantees: what one part cannot do is told as a remark, and the others go on; only a program that cannot be built or fails by itself ends it.
//!
//! Deliberately absent: OpenCL, of whose programs coverage and mutants are measured apart.

use super::generate::{Generated, Search, generate};
use super::mutate::{self, Mutant, MutateError, Outcomes, Status, Subject};
use super::run::{self, Logging, Output, Request, RunError, RunOptions, Stop, Told};
use super::{cover, described, schedule};
use crate::adequacy::Offer;
use crate::coverage::Coverage;
use crate::schedule::report::Report;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub use crate::adequacy::{Adequacy, SCHEMA, html, text};

/// How much of each is done.
#[derive(Clone, Debug)]
pub struct Parts {
    /// How mutants are tried.
    pub mutation: mutate::Plan,
    /// How many of them at most.
    pub mutants: usize,
    /// Which schedules are tried; none if there are none.
    pub schedules: schedule::Plan,
    /// How inputs are searched.
    pub search: Search,
    /// Where runs write.
    pub directory: PathBuf,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum AdequacyError {
    /// The program cannot be built or run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// It is no measure for mutants.
    #[error(transparent)]
    Mutate(#[from] MutateError),
}

/// Measures the tests of the request's program. `write` writes the launches that were found, and says where; `tell` hears what is done.
pub fn adequacy(
    request: &Request,
    parts: &Parts,
    write: &mut dyn FnMut(&Generated) -> Vec<Option<String>>,
    tell: &mut dyn FnMut(&str),
    stop: Stop<'_>,
) -> Result<Adequacy, AdequacyError> {
    tell("executing the program to see what it reaches");
    let mut remarks = Vec::new();
    let coverage = covered(request, &mut remarks, stop)?;
    tell("executing its mutants");
    let outcomes = mutated(request, parts, &mut remarks, stop)?;
    let schedules = match parts.schedules.schedules {
        0 => None,
        _ => {
            tell("executing it under many schedules");
            scheduled(request, parts, &mut remarks, stop)?
        }
    };
    tell("searching launches for what it does not reach");
    let generated = searched(request, parts, tell, stop)?;
    let files = write(&generated);
    let mut offers = Vec::new();
    for (kernel, file) in generated.kernels.into_iter().zip(files) {
        let plain = described::plain(&kernel.kernel).to_owned();
        let mut offer = Offer { kernel: plain, file, launches: kernel.launches, killed: BTreeSet::new() };
        if let Some(path) = &offer.file {
            tell(&format!("executing the mutants that are left with {path}"));
            match told_apart(request, parts, (&outcomes, Path::new(path)), stop) {
                Ok(killed) => offer.killed = killed,
                Err(error) if error.is_interrupt() => return Err(error.into()),
                Err(error) => remarks.push(format!("mutants were not tried with {path}: {error}")),
            }
        }
        offers.push(offer);
    }
    remarks.extend(generated.notes.iter().cloned());
    remarks.extend(
        generated.skipped.iter().map(|it| format!("no launches were searched for {}: {}", it.kernel, it.reason)),
    );
    // What the search proved to be impossible is not missed.
    let impossible = Coverage::of(generated.coverage.points.into_iter().filter(|point| !point.impossible.is_empty()));
    let coverage = coverage.sparing(&impossible);
    // Several of the builds leave the same out.
    let mut known = BTreeSet::new();
    remarks.retain(|remark| known.insert(remark.clone()));
    let mut adequacy = Adequacy::of(&coverage, &outcomes, schedules, &offers);
    adequacy.remarks = remarks;
    Ok(adequacy)
}

/// The request for another kind of build.
fn for_build(request: &Request, logging: Logging) -> Request {
    let mut request = request.clone();
    request.build.logging = logging;
    request
}

fn covered(request: &Request, remarks: &mut Vec<String>, stop: Stop<'_>) -> Result<Coverage, RunError> {
    let request = for_build(request, Logging::Coverage);
    let built = run::build(run::prepare(&request)?, &request, stop)?;
    remarks.extend(built.notes.iter().cloned().chain(built.uncounted()));
    let ran = built.run(&RunOptions { output: Output::Aside, ..request.run }, stop)?;
    let told = |told: Told| told.place.map_or_else(String::new, |place| format!("{place}: ")) + &told.message;
    remarks.extend(ran.told.into_iter().map(told));
    Ok(cover::reached(&built))
}

fn mutated(
    request: &Request,
    parts: &Parts,
    remarks: &mut Vec<String>,
    stop: Stop<'_>,
) -> Result<Outcomes, MutateError> {
    let mut request = for_build(request, Logging::Mutants);
    let (built, not_mutated) = mutate::build(&mut request, stop)?;
    remarks.extend(not_mutated.into_iter().chain(built.unmutated()));
    let directory = parts.directory.join("mutants");
    let mut campaign = mutate::Campaign::begin(Subject::Built(&built), parts.mutation.clone(), directory)?;
    campaign.sample(parts.mutants, 0);
    remarks.extend(campaign.baseline(stop)?);
    campaign.prove_mutants(&request.options, &mut |_| {}, stop)?;
    campaign.try_out(&|_| {}, stop)?;
    Ok(campaign.so_far())
}

fn scheduled(
    request: &Request,
    parts: &Parts,
    remarks: &mut Vec<String>,
    stop: Stop<'_>,
) -> Result<Option<Report>, RunError> {
    let request = for_build(request, Logging::Scheduled);
    let built = run::build(run::prepare(&request)?, &request, stop)?;
    let campaign = schedule::campaign(&built, &parts.schedules, &mut |line| remarks.push(line.to_owned()), stop);
    match campaign {
        Ok(report) => Ok(Some(report)),
        Err(schedule::ScheduleError::Run(error)) if error.is_interrupt() => Err(error),
        Err(error) => {
            remarks.push(format!("no schedules were tried: {error}"));
            Ok(None)
        }
    }
}

fn searched(
    request: &Request,
    parts: &Parts,
    tell: &mut dyn FnMut(&str),
    stop: Stop<'_>,
) -> Result<Generated, RunError> {
    let mut request = for_build(request, Logging::Search);
    request.launch = None;
    generate(run::prepare(&request)?, &request, &parts.search, tell, stop)
}

/// The mutants that the program's tests missed and these launches tell apart, by their numbers among those of the program.
fn told_apart(
    request: &Request,
    parts: &Parts,
    (outcomes, launches): (&Outcomes, &Path),
    stop: Stop<'_>,
) -> Result<BTreeSet<usize>, MutateError> {
    let missed: Vec<&Mutant> = outcomes.mutants.iter().filter(|mutant| mutant.status.is_missed()).collect();
    if missed.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut request = for_build(request, Logging::Mutants);
    request.launch = Some(launches.to_path_buf());
    let (built, _) = mutate::build(&mut request, stop)?;
    let plan = mutate::Plan { arguments: Vec::new(), proves: false, ..parts.mutation.clone() };
    let directory = parts.directory.join("mutants");
    let mut campaign = mutate::Campaign::begin(Subject::Built(&built), plan, directory)?;
    let is_same = |one: &Mutant, other: &Mutant| {
        let change = |mutant: &Mutant| (mutant.operator, mutant.start, mutant.end, mutant.replacement.clone());
        one.file == other.file && change(one) == change(other)
    };
    campaign.keep_only(|mutant| missed.iter().any(|other| is_same(mutant, other)));
    campaign.baseline(stop)?;
    campaign.try_out(&|_| {}, stop)?;
    let tried = campaign.so_far();
    let killed = tried.mutants.iter().filter(|mutant| matches!(mutant.status, Status::Killed | Status::Timeout));
    Ok(killed.filter_map(|mutant| missed.iter().find(|other| is_same(mutant, other))).map(|mutant| mutant.id).collect())
}
