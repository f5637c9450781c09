//! `raceproof amplify`: runs a program once, with its accesses logged, and says what that run shows for all data.

use super::Exit;
use super::args::{AmplifyArgs, TraceFormat};
use super::interrupt::{Interrupt, interruptible};
use super::output::{complain, note, to_stdout};
use super::run::{built, ended, failed, request};
use crate::driver::Options;
use crate::driver::amplify::{Amplified, Verdict, amplified, json, text};
use crate::driver::flows::{FileFlows, flows};
use crate::driver::isolate::{Panic, isolated};
use crate::driver::parallel::on_workers;
use crate::driver::run::{Output, Ran, Request, RunOptions, prepare};
use crate::driver::trace::{LEAST_MEMORY, check_log};
use anyhow::{Context, Result, bail};
use std::path::Path;

/// Bytes of memory for the check of the log.
const MEMORY: u64 = 512 << 20;

/// Runs the command.
pub(super) fn run(args: AmplifyArgs) -> Result<Exit> {
    if args.run.no_log {
        bail!("--no-log: nothing can be said without a log");
    }
    if args.run.opencl_host {
        bail!(
            "--opencl-host: amplify reads the files of kernels that it is given; it does not know what a program builds"
        );
    }
    let request = request(&args.run)?;
    interruptible(move |interrupt| carried_out(&args, request, interrupt))
}

fn carried_out(args: &AmplifyArgs, mut request: Request, interrupt: &Interrupt) -> Result<Exit> {
    let prepared = match prepare(&request) {
        Ok(prepared) => prepared,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    let options = super::options::for_amplify(args)?;
    let mut files = Vec::new();
    for (path, text) in prepared.texts() {
        match flows_of(path, text, &options) {
            Ok(found) => files.push(found),
            Err(panic) => {
                complain(&format!("bug in raceproof: {panic}; please report it with the file"));
                return Ok(Exit::Bug);
            }
        }
    }
    let stop = || interrupt.is_pressed();
    let built = match built(&args.run, prepared, &mut request, &stop) {
        Ok(built) => built,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    let log = args.run.log.clone().unwrap_or_else(|| built.scratch_log());
    note("executing the program");
    let output = match args.format {
        TraceFormat::Text => Output::Own,
        TraceFormat::Json => Output::Aside,
    };
    let ran = match built.run(&RunOptions { log: Some(log.clone()), output, ..request.run }, &stop) {
        Ok(ran) => ran,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    let how = ended(&args.run, &ran);
    if ran.launched.is_empty() {
        return Ok(how);
    }
    // What the program says of itself counts, unless more was found.
    Ok(match conclude((args, &options), &files, &built.left_out, &ran, &log)? {
        Exit::Clean => how,
        said => said,
    })
}

/// The flows of a file.
fn flows_of(path: &Path, text: &str, options: &Options) -> Result<FileFlows, Panic> {
    on_workers(Some(1), || isolated(|| flows(path, text, options)))
}

fn conclude(
    (args, reading): (&AmplifyArgs, &Options),
    files: &[FileFlows],
    left_out: &[String],
    ran: &Ran,
    log: &Path,
) -> Result<Exit> {
    let outcome =
        check_log(log, MEMORY.max(LEAST_MEMORY), None).with_context(|| format!("cannot check {}", log.display()))?;
    let said = amplified(files, left_out, ran, &outcome);
    let written = match args.format {
        TraceFormat::Text => text(&said),
        TraceFormat::Json => format!("{:#}\n", json(&said)),
    };
    to_stdout(|out| out.write_all(written.as_bytes())).context("cannot write to standard output")?;
    if args.format == TraceFormat::Text {
        super::keeping::tell(&args.run.files, reading, log)?;
    }
    Ok(exit(&said))
}

/// Races are findings; a run that shows nothing of any kernel is no answer.
fn exit(said: &Amplified) -> Exit {
    let any = |wanted: Verdict| said.kernels.iter().any(|each| each.verdict == wanted);
    if any(Verdict::Race) {
        Exit::Findings
    } else if !said.problems.is_empty() {
        Exit::Usage
    } else {
        Exit::Clean
    }
}
