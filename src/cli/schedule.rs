//! `raceproof schedule`: what of a program depends on the order in which its blocks and threads run.

use super::Exit;
use super::args::{Compare, RunBackend, ScheduleArgs, TraceFormat};
use super::interrupt::{Interrupt, interruptible};
use super::output::{complain, note, to_stdout};
use super::run::{failed, request};
use crate::driver::run::{Backend, Logging, Request, build, is_opencl, prepare};
use crate::driver::schedule::{Plan, Report, ScheduleError, campaign, text};
use anyhow::{Context, Result, bail, ensure};
use std::io::Write;
use std::time::Duration;

/// Runs the command.
pub(super) fn run(args: ScheduleArgs) -> Result<Exit> {
    if args.run.log.is_some() || args.run.no_log {
        bail!("--log and --no-log: schedules are many runs; `raceproof run --log` keeps the log of one");
    }
    if args.run.opencl_host {
        bail!("--opencl-host: schedules are those of CUDA programs; an OpenCL driver has an order of its own");
    }
    if args.run.files.iter().any(|path| is_opencl(path)) {
        bail!("schedules are those of CUDA programs; an OpenCL driver has an order of its own");
    }
    if !matches!(args.run.backend, RunBackend::Auto | RunBackend::Cpu) {
        bail!("schedules are kept to by --backend cpu; a GPU has an order of its own");
    }
    ensure!(
        args.tolerance.is_none_or(|tolerance| (0.0..1.0).contains(&tolerance)),
        "--tolerance takes a fraction, from 0 to below 1"
    );
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
    match campaign(&built, &plan(args, request), &mut |line| note(line), &stop) {
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

fn plan(args: &ScheduleArgs, request: &Request) -> Plan {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    Plan {
        arguments: request.run.arguments.clone(),
        schedules: usize::try_from(args.schedules).unwrap_or(usize::MAX),
        seed: args.run.seed.unwrap_or(0),
        replay: args.replay.clone(),
        tolerance: args.tolerance,
        compares_memory: args.compare == Compare::Memory,
        files: args.written.clone(),
        timeout: request.run.timeout.unwrap_or(Duration::from_secs(300)),
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
