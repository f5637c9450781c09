//! `raceproof mutate`: which mutants of a program its tests tell apart.

use super::Exit;
use super::args::{MutateArgs, Portion, RunBackend};
use super::changed::lines_since;
use super::hosted;
use super::interrupt::{Interrupt, interruptible};
use super::output::{complain, note, to_stdout};
use super::run::{failed, request};
use crate::driver::Options;
use crate::driver::hosted::{HostRequest, Records};
use crate::driver::mutate::{
    Campaign, Earlier, Host, Mutant, MutateError, Outcomes, Plan, Record, Status, Subject, build, html, path_of_record,
    sarif, schema, text,
};
use crate::driver::run::{Backend, Logging, Output, Request, is_opencl};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs the command.
pub(super) fn run(args: MutateArgs) -> Result<Exit> {
    if args.run.log.is_some() || args.run.no_log {
        bail!("--log and --no-log: mutants keep no log");
    }
    if args.run.files.iter().any(|path| is_opencl(path)) {
        bail!(
            "OpenCL kernels are mutated in a program that launches them: `raceproof mutate --opencl-host -- PROGRAM`"
        );
    }
    if !args.run.opencl_host && !matches!(args.run.backend, RunBackend::Auto | RunBackend::Cpu) {
        bail!("mutants run by --backend cpu, which gives the same run for the same order of threads");
    }
    ensure!(args.run.seed.is_none(), "--seed: each repetition has an order of its own (--repetitions)");
    ensure!(
        args.minimum_score.is_none_or(|percent| (0.0..=100.0).contains(&percent)),
        "--minimum-score takes percents, from 0 to 100"
    );
    ensure!(args.timeout_multiplier >= 1.0, "--timeout-multiplier takes a factor of 1 or more");
    if args.run.opencl_host {
        let request = hosted::request(&args.run, Records::Mutants, Output::Nowhere)?;
        return interruptible(move |interrupt| of_host(&args, &request, interrupt));
    }
    let mut request = request(&args.run)?;
    request.backend = Backend::Cpu;
    request.build.logging = Logging::Mutants;
    interruptible(move |interrupt| carried_out(&args, request, interrupt))
}

fn carried_out(args: &MutateArgs, mut request: Request, interrupt: &Interrupt) -> Result<Exit> {
    let stop = || interrupt.is_pressed();
    let (built, left_out) = match build(&mut request, &stop) {
        Ok(built) => built,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    built.notes.iter().chain(&left_out).chain(summary(&built.unmutated()).iter()).for_each(|line| note(line));
    let timeout = request.run.timeout;
    let plan = plan(args, (request.run.arguments.clone(), timeout));
    campaign(args, (Subject::Built(&built), plan), &request.options, interrupt)
}

/// The same for an OpenCL program, which says what it builds when it is run.
fn of_host(args: &MutateArgs, request: &HostRequest, interrupt: &Interrupt) -> Result<Exit> {
    note("executing the program to learn what it builds");
    let host = match Host::learn(&args.run.arguments, request, &|| interrupt.is_pressed()) {
        Ok(host) => host,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    host.remarks().iter().chain(summary(host.unmutated()).iter()).for_each(|line| note(line));
    if !host.has_launched() {
        complain("the program launched no kernel through a library of OpenCL that it loads; does it need arguments?");
        return Ok(Exit::Usage);
    }
    let plan = plan(args, (args.run.arguments.clone(), request.timeout));
    campaign(args, (Subject::Host(&host), plan), &Options::default(), interrupt)
}

fn campaign(
    args: &MutateArgs,
    (subject, plan): (Subject<'_>, Plan),
    options: &Options,
    interrupt: &Interrupt,
) -> Result<Exit> {
    let stop = || interrupt.is_pressed();
    let directory = &args.output;
    let mut campaign = match Campaign::begin(subject, plan.clone(), directory.join("logs")) {
        Ok(campaign) => campaign,
        Err(error) => return Ok(not_begun(&error, interrupt)),
    };
    choose(args, &mut campaign)?;
    if args.list {
        let listed = campaign.so_far();
        to_stdout(|out| listed.mutants.iter().try_for_each(|mutant| writeln!(out, "{}", mutant.line())))
            .context("cannot write to standard output")?;
        return Ok(Exit::Clean);
    }
    let cannot = || format!("cannot write below {}", directory.display());
    fs::create_dir_all(directory).with_context(cannot)?;
    if args.iterate {
        leave_out_detected(directory, &mut campaign)?;
    }
    let record = Record::resume(&path_of_record(directory), subject, &plan).with_context(cannot)?;
    if record.known_outcomes() > 0 {
        let known = record.known_outcomes();
        note(&format!("{known} outcomes are known from before; the campaign goes on"));
    }
    campaign.take_over(|mutant| record.outcome_of(mutant));
    let ended = tried(&mut campaign, options, &record, &stop);
    let outcomes = campaign.so_far();
    if ended.as_ref().err().is_none_or(MutateError::is_interrupt) {
        write(directory, subject, &outcomes).with_context(cannot)?;
    }
    if let Err(error) = ended {
        return Ok(not_begun(&error, interrupt));
    }
    to_stdout(|out| text::write(&outcomes, out)).context("cannot write to standard output")?;
    match (args.minimum_score, outcomes.score()) {
        (Some(least), Some(score)) if score < least => {
            complain(&format!("the mutation score is {score:.1} %, which is under {least} %"));
            Ok(Exit::Findings)
        }
        _ => Ok(Exit::Clean),
    }
}

/// What is not mutated, in a line or two.
fn summary(unmutated: &[String]) -> Vec<String> {
    match unmutated {
        [] | [_] | [_, _] => unmutated.to_vec(),
        [first, rest @ ..] => vec![format!("{first} (and {} places more)", rest.len())],
    }
}

fn plan(args: &MutateArgs, (arguments, timeout): (Vec<OsString>, Option<Duration>)) -> Plan {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    Plan {
        arguments,
        repetitions: args.repetitions,
        timeout_multiplier: args.timeout_multiplier,
        jobs: args.run.jobs.and_then(|jobs| usize::try_from(jobs).ok()).unwrap_or(cores),
        timeout: timeout.unwrap_or(Duration::from_secs(300)),
        proves: !args.no_proofs,
    }
}

/// Proofs, the program itself, and the mutants that are left.
fn tried(
    campaign: &mut Campaign<'_>,
    options: &Options,
    record: &Record,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(), MutateError> {
    let keep = |mutant: &Mutant| {
        if let Err(error) = record.note_outcome(mutant) {
            complain(&format!("the outcome of a mutant is not kept: {error}"));
        }
    };
    note("executing the program");
    campaign.baseline(stop)?.iter().for_each(|remark| note(remark));
    if campaign.proves() {
        campaign.prove_mutants(options, &mut |mutant| keep(mutant), stop)?;
    }
    let waiting = campaign.so_far().with(Status::Pending).count();
    if waiting > 0 {
        note(&format!("executing {waiting} mutants"));
    }
    campaign.try_out(&keep, stop)
}

fn not_begun(error: &MutateError, interrupt: &Interrupt) -> Exit {
    if let MutateError::Run(error) = error {
        return failed(error, interrupt);
    }
    complain(&error.to_string());
    Exit::Usage
}

/// Leaves of the mutants those that were asked for.
fn choose(args: &MutateArgs, campaign: &mut Campaign<'_>) -> Result<()> {
    if !args.operators.is_empty() {
        campaign.keep_only(|mutant| args.operators.contains(&mutant.operator));
    }
    if let Some(revision) = &args.in_diff {
        let mut files = args.run.files.clone();
        if args.run.opencl_host {
            let named: BTreeSet<PathBuf> =
                campaign.so_far().mutants.iter().map(|mutant| PathBuf::from(&mutant.file)).collect();
            // A text that stands in no file has no lines that changed.
            files.extend(named.into_iter().filter(|path| path.is_file()));
        }
        let changed = lines_since(revision, &files).context("--in-diff")?;
        let is_changed = |mutant: &Mutant| {
            let lines = changed.get(Path::new(&mutant.file));
            lines.is_some_and(|lines| (mutant.start.line..=mutant.end.line).any(|line| lines.contains(&line)))
        };
        campaign.keep_only(is_changed);
    }
    if let Some(count) = args.sample {
        campaign.sample(count, args.sample_seed);
    }
    if let Some(Portion { number, of }) = args.shard {
        campaign.keep_only(|mutant| mutant.id % of == number % of);
    }
    Ok(())
}

/// Takes out what is like a mutant that was detected before.
fn leave_out_detected(directory: &Path, campaign: &mut Campaign<'_>) -> Result<()> {
    let path = directory.join("outcomes.json");
    if !path.exists() {
        return Ok(());
    }
    let earlier = Earlier::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let known = |mutant: &Mutant| {
        let why = "one like it was detected before (--iterate)".to_owned();
        earlier.detected(mutant).then_some((Status::Killed, Some(why)))
    };
    campaign.take_over(known);
    Ok(())
}

/// Which mutants a list has, by what became of them.
type IsIn = fn(Status) -> bool;

/// Writes all reports.
fn write(directory: &Path, subject: Subject<'_>, outcomes: &Outcomes) -> Result<()> {
    let source = |path: &str| subject.text_at(path);
    let json = |name: &str, value: &Value| put(directory, name, &(serde_json::to_string_pretty(value)? + "\n"));
    json("outcomes.json", &serde_json::to_value(outcomes)?)?;
    json("mutation-report.json", &schema::report(outcomes, &source))?;
    json("missed.sarif", &sarif::log(outcomes))?;
    let mut page = Vec::new();
    html::write(outcomes, &source, &mut page)?;
    put(directory, "mutation-report.html", &String::from_utf8_lossy(&page))?;
    let lists: [(&str, IsIn); 5] = [
        ("caught.txt", |status| status == Status::Killed),
        ("missed.txt", Status::is_missed),
        ("timeout.txt", |status| status == Status::Timeout),
        ("unviable.txt", |status| status == Status::Unviable),
        ("apart.txt", |status| matches!(status, Status::Equivalent | Status::Racy | Status::Suppressed)),
    ];
    for (name, is_in) in lists {
        let lines = outcomes.mutants.iter().filter(|mutant| is_in(mutant.status));
        let lines: Vec<String> = lines.map(|mutant| format!("{}: {}\n", mutant.id, mutant.line())).collect();
        put(directory, name, &lines.concat())?;
    }
    fs::create_dir_all(directory.join("diff"))?;
    for mutant in &outcomes.mutants {
        put(&directory.join("diff"), &format!("{}.diff", mutant.id), &mutant.diff)?;
    }
    Ok(())
}

/// Writes a file in one step, so that whoever reads it has all of it.
fn put(directory: &Path, name: &str, text: &str) -> Result<()> {
    let beside = directory.join(format!(".{name}.new"));
    fs::write(&beside, text)?;
    Ok(fs::rename(&beside, directory.join(name))?)
}
