//! `--opencl-host`: an OpenCL program as it is. `raceproof run` logs the accesses of its kernels.

use super::Exit;
use super::args::{RunArgs, RunBackend};
use super::interrupt::{Interrupt, interruptible};
use super::options::seconds;
use super::output::{complain, note, to_stdout};
use super::run::{ended, failed, judge, limits, write_told};
use crate::driver::hosted::{HostRequest, Hosted, Records, run_host};
use crate::driver::run::Output;
use crate::driver::trace::Verdict;
use anyhow::{Context, Result, bail};

/// Runs the command.
pub(super) fn run(args: RunArgs) -> Result<Exit> {
    if args.no_log {
        bail!("--no-log: without a log there is nothing to do but to start the program");
    }
    let request = request(&args, Records::Accesses, Output::Own)?;
    interruptible(move |interrupt| carried_out(&args, &request, interrupt))
}

/// What is to be run, if what was typed fits an OpenCL program.
pub(super) fn request(args: &RunArgs, records: Records, output: Output) -> Result<HostRequest> {
    if !cfg!(target_os = "linux") {
        bail!(
            "--opencl-host: programs are started with a library as the linker of Linux has it, and on no other system"
        );
    }
    if args.arguments.is_empty() {
        bail!("--opencl-host: name the program behind --, as in `--opencl-host -- ./program 1024`");
    }
    if !matches!(args.backend, RunBackend::Auto | RunBackend::Opencl) {
        bail!("--opencl-host: an OpenCL program runs on the drivers of the machine; leave --backend out");
    }
    if args.seed.is_some() || args.jobs.is_some() {
        bail!("--seed and --jobs are for --backend cpu: an OpenCL driver has an order of its own");
    }
    if !args.source.defines.is_empty() || !args.source.include_dirs.is_empty() {
        bail!("-D and -I: an OpenCL program says itself with which options its kernels are built");
    }
    Ok(HostRequest {
        program: args.arguments.clone(),
        log: args.log.clone(),
        timeout: Some(seconds("--timeout", args.timeout)?),
        records,
        output,
        keep: args.keep.clone(),
    })
}

fn carried_out(args: &RunArgs, request: &HostRequest, interrupt: &Interrupt) -> Result<Exit> {
    note("executing the program");
    match run_host(request, &|| interrupt.is_pressed()) {
        Ok(hosted) => conclude(args, &hosted),
        Err(error) => Ok(failed(&error, interrupt)),
    }
}

/// Says what the run showed. Findings count more than the way the program ended: they often are its reason.
fn conclude(args: &RunArgs, hosted: &Hosted) -> Result<Exit> {
    let Hosted { ran, left_out, unlogged, log, .. } = hosted;
    left_out.iter().for_each(|line| note(line));
    to_stdout(|out| write_told(&ran.told, out)).context("cannot write to standard output")?;
    let ended = ended(args, ran);
    let mut exit = if ran.told.iter().any(|told| told.rule.is_some()) { Exit::Findings } else { ended };
    if ran.launched.is_empty() {
        return Ok(exit);
    }
    exit = match judge(None, log)? {
        Verdict::Racy => Exit::Findings,
        Verdict::NoConflict if *unlogged > 0 && exit == Exit::Clean => {
            complain("not all launches are logged (see the notes); races in the others do not show");
            Exit::Usage
        }
        Verdict::NoConflict => exit,
        Verdict::Partial if exit == Exit::Findings => exit,
        Verdict::Partial => Exit::Usage,
    };
    if let Some(limits) = limits(left_out) {
        to_stdout(|out| writeln!(out, "{limits}")).context("cannot write to standard output")?;
    }
    Ok(exit)
}
