//! `raceproof adequacy`: how good the tests of a program's kernels are, and which launches to add.

use super::Exit;
use super::args::{AdequacyArgs, AdequacyFormat, RunBackend};
use super::generate::{LONGEST_CASE, write as write_launches};
use super::interrupt::{Interrupt, interruptible};
use super::options::{any_solver, seconds};
use super::output::{complain, note, to_stdout};
use super::run::{failed, request};
use crate::driver::adequacy::{Adequacy, AdequacyError, Parts, adequacy, html, text};
use crate::driver::cover::share;
use crate::driver::generate::Search;
use crate::driver::mutate::{self, MutateError};
use crate::driver::run::{Backend, Request, is_opencl};
use crate::driver::schedule;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::io::Write;
use std::time::Duration;

/// Runs the command.
pub(super) fn run(args: AdequacyArgs) -> Result<Exit> {
    if args.run.log.is_some() || args.run.no_log {
        bail!("--log and --no-log: a measurement is many runs; `raceproof run --log` keeps the log of one");
    }
    if args.run.opencl_host || args.run.files.iter().any(|path| is_opencl(path)) {
        bail!(
            "adequacy is that of the tests of CUDA programs; of those of OpenCL programs `raceproof cover --opencl-host` and \
             `raceproof mutate --opencl-host` tell"
        );
    }
    if !matches!(args.run.backend, RunBackend::Auto | RunBackend::Cpu) {
        bail!("tests are measured by --backend cpu, which counts what they reach");
    }
    for (name, percent) in [("--fail-under", args.fail_under), ("--minimum-score", args.minimum_score)] {
        ensure!(percent.is_none_or(|percent| (0.0..=100.0).contains(&percent)), "{name} takes percents, from 0 to 100");
    }
    let mut request = request(&args.run)?;
    request.backend = Backend::Cpu;
    request.options.judging.solver = any_solver();
    let parts = parts(&args, &request)?;
    interruptible(move |interrupt| carried_out(&args, &request, &parts, interrupt))
}

fn parts(args: &AdequacyArgs, request: &Request) -> Result<Parts> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let jobs = args.run.jobs.and_then(|jobs| usize::try_from(jobs).ok()).unwrap_or(cores);
    let timeout = request.run.timeout.unwrap_or(Duration::from_secs(300));
    let arguments = request.run.arguments.clone();
    Ok(Parts {
        mutation: mutate::Plan {
            arguments: arguments.clone(),
            repetitions: 1,
            timeout_multiplier: 5.0,
            jobs,
            timeout,
            proves: true,
        },
        mutants: args.mutants,
        schedules: schedule::Plan {
            arguments,
            schedules: args.schedules,
            seed: args.run.seed.unwrap_or(0),
            replay: None,
            tolerance: None,
            compares_memory: true,
            files: Vec::new(),
            timeout,
            jobs,
        },
        search: Search {
            kernels: Vec::new(),
            time: seconds("--time", args.time)?,
            tries: 20_000,
            seed: args.run.seed.unwrap_or(0),
            timeout: timeout.min(LONGEST_CASE),
        },
        directory: args.output.join("logs"),
    })
}

fn carried_out(args: &AdequacyArgs, request: &Request, parts: &Parts, interrupt: &Interrupt) -> Result<Exit> {
    let stop = || interrupt.is_pressed();
    let mut not_written = None;
    let launches = args.output.join("launches");
    let mut write = |generated: &_| match write_launches(generated, &launches, &args.run.files) {
        Ok(files) => files.into_iter().map(|written| written.launches).collect(),
        Err(error) => {
            not_written = Some(error);
            Vec::new()
        }
    };
    let report = match adequacy(request, parts, &mut write, &mut |line| note(line), &stop) {
        Ok(report) => report,
        Err(AdequacyError::Run(error) | AdequacyError::Mutate(MutateError::Run(error))) => {
            return Ok(failed(&error, interrupt));
        }
        Err(error) => {
            complain(&error.to_string());
            return Ok(Exit::Usage);
        }
    };
    if let Some(error) = not_written {
        return Err(error);
    }
    let cannot = || format!("cannot write below {}", args.output.display());
    fs::create_dir_all(&args.output).with_context(cannot)?;
    for (name, format) in [
        ("adequacy.txt", AdequacyFormat::Text),
        ("adequacy.json", AdequacyFormat::Json),
        ("adequacy.html", AdequacyFormat::Html),
    ] {
        let mut text = Vec::new();
        put(&report, format, &mut text)?;
        fs::write(args.output.join(name), text).with_context(cannot)?;
    }
    to_stdout(|out| put(&report, args.format, out)).context("cannot write to standard output")?;
    Ok(judged(args, &report))
}

fn judged(args: &AdequacyArgs, report: &Adequacy) -> Exit {
    let mut exit = Exit::Clean;
    let structure = report.totals.structure();
    if let Some(least) = args.fail_under.filter(|&least| structure.percent() < least) {
        complain(&format!("barriers, branches and loops: {}, which is under {least} %", share(structure).trim()));
        exit = Exit::Findings;
    }
    if let (Some(least), Some(score)) = (args.minimum_score, report.score)
        && score < least
    {
        complain(&format!("the mutation score is {score:.1} %, which is under {least} %"));
        exit = Exit::Findings;
    }
    if report.schedules.as_ref().is_some_and(|schedules| !schedules.findings.is_empty()) {
        exit = Exit::Findings;
    }
    exit
}

fn put(report: &Adequacy, format: AdequacyFormat, out: &mut dyn Write) -> std::io::Result<()> {
    match format {
        AdequacyFormat::Text => text::write(report, out),
        AdequacyFormat::Html => html::write(report, out),
        AdequacyFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, report)?;
            writeln!(out)
        }
    }
}
