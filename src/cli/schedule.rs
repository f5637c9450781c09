//! `raceproof schedule`: what of a program depends on the order in which its blocks and threads, or work-groups and work-items, run.

use super::Exit;
use super::args::{Compare, FrontEnd, Headers, RunArgs, RunBackend, ScheduleArgs, TraceFormat};
use super::hosted;
use super::interrupt::{Interrupt, interruptible};
use super::output::{complain, note, to_stdout};
use super::run::{failed, request};
use crate::driver::hosted::{HostRequest, Records};
use crate::driver::run::{Backend, Logging, Output, Request, build, is_opencl, prepare};
use crate::driver::schedule::{Of, Part, Plan, Report, ScheduleError, campaign, campaign_of_host, text};
use anyhow::{Context, Result, bail, ensure};
use std::ffi::OsString;
use std::io::Write;
use std::time::Duration;

/// Runs the command.
pub(super) fn run(args: ScheduleArgs) -> Result<Exit> {
    if args.run.log.is_some() || args.run.no_log {
        bail!("--log and --no-log: schedules are many runs; `raceproof run --log` keeps the log of one");
    }
    if args.run.files.iter().any(|path| is_opencl(path)) {
        bail!(
            "OpenCL kernels run under schedules in a program that launches them: `raceproof schedule --opencl-host -- PROGRAM`"
        );
    }
    if !args.run.opencl_host && !matches!(args.run.backend, RunBackend::Auto | RunBackend::Cpu) {
        bail!("schedules are kept to by --backend cpu; a GPU has an order of its own");
    }
    ensure!(
        args.tolerance.is_none_or(|tolerance| (0.0..1.0).contains(&tolerance)),
        "--tolerance takes a fraction, from 0 to below 1"
    );
    if args.run.opencl_host {
        let (request, plan) = of_host(&args)?;
        return interruptible(move |interrupt| host_carried_out(&args, &request, &plan, interrupt));
    }
    let mut request = request(&args.run)?;
    request.backend = Backend::Cpu;
    request.build.logging = Logging::Scheduled;
    interruptible(move |interrupt| carried_out(&args, &request, interrupt))
}

fn carried_out(args: &ScheduleArgs, request: &Request, interrupt: &Interrupt) -> Result<Exit> {
    let stop = || interrupt.is_pressed();
    let built = match prepare(request).and_then(|prepared| build(prepared, request, &stop)) {
        Ok(built) => built,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    built.notes.iter().for_each(|line| note(line));
    for line in &built.left_out {
        note(&format!("{line}; nothing is delayed there"));
    }
    note("executing the program");
    let limits = (request.run.arguments.clone(), request.run.timeout);
    conclude(args, campaign(&built, &plan(args, limits), &mut |line| note(line), &stop), interrupt)
}

/// What an OpenCL program is run by, if what was typed fits one.
fn of_host(args: &ScheduleArgs) -> Result<(HostRequest, Plan)> {
    let RunArgs { source, libraries, library_dirs, .. } = &args.run;
    ensure!(
        libraries.is_empty() && library_dirs.is_empty(),
        "--opencl-host: the program is there already; -l and -L are for one that is built"
    );
    let is_read_otherwise = source.lang.is_some() || source.build.is_some() || source.front != FrontEnd::Auto;
    ensure!(
        !is_read_otherwise && source.headers == Headers::Project,
        "--opencl-host: an OpenCL program says itself how its kernels are read; leave --lang, --front, --headers and -p out"
    );
    let parts = args.replay.iter().flat_map(|schedule| &schedule.parts);
    for part in parts {
        let is_of_ids = match part {
            Part::Order { of, .. } | Part::Front { of, .. } => *of != Of::Warps,
            Part::Delay(_) | Part::Late(_) => false,
        };
        ensure!(
            is_of_ids,
            "--replay: an OpenCL driver cannot keep to `{part}`; there are orders of work-groups (`blocks=`, `front=`) and of work-items (`threads=`, `lead=`)"
        );
    }
    let run = RunArgs { seed: None, jobs: None, ..args.run.clone() };
    let request = hosted::request(&run, Records::Accesses, Output::Nowhere)?;
    let plan = plan(args, (Vec::new(), request.timeout));
    Ok((request, plan))
}

fn host_carried_out(args: &ScheduleArgs, request: &HostRequest, plan: &Plan, interrupt: &Interrupt) -> Result<Exit> {
    note("executing the program");
    let report = campaign_of_host(request, plan, &mut |line| note(line), &|| interrupt.is_pressed());
    conclude(args, report, interrupt)
}

fn conclude(args: &ScheduleArgs, report: Result<Report, ScheduleError>, interrupt: &Interrupt) -> Result<Exit> {
    match report {
        Ok(report) => {
            to_stdout(|out| write(args.format, &report, out)).context("cannot write to standard output")?;
            Ok(if report.findings.is_empty() { Exit::Clean } else { Exit::Findings })
        }
        Err(ScheduleError::Run(error)) => Ok(failed(&error, interrupt)),
        Err(error) => {
            complain(&error.to_string());
            Ok(Exit::Usage)
        }
    }
}

/// What is tried of a program with these arguments, each run for so long at most.
fn plan(args: &ScheduleArgs, (arguments, timeout): (Vec<OsString>, Option<Duration>)) -> Plan {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    Plan {
        arguments,
        schedules: usize::try_from(args.schedules).unwrap_or(usize::MAX),
        seed: args.run.seed.unwrap_or(0),
        replay: args.replay.clone(),
        tolerance: args.tolerance,
        compares_memory: args.compare == Compare::Memory,
        files: args.written.clone(),
        timeout: timeout.unwrap_or(Duration::from_secs(300)),
        jobs: args.run.jobs.and_then(|jobs| usize::try_from(jobs).ok()).unwrap_or(cores),
    }
}

fn write(format: TraceFormat, report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    match format {
        TraceFormat::Text => text::write(report, out),
        TraceFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, report)?;
            writeln!(out)
        }
    }
}
