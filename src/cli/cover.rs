//! `raceproof cover`: runs a program and says what that reaches of its kernels.

use super::Exit;
use super::args::{CoverArgs, CoverFormat, RunBackend};
use super::hosted;
use super::interrupt::{Interrupt, interruptible};
use super::output::{complain, note, to_stdout};
use super::run::{built, ended, failed, request, write_told};
use crate::driver::cover::{self, Coverage, SCHEMA, reached, reached_by, share, source_of};
use crate::driver::data_flow::{DataFlow, data_flow, data_flow_of};
use crate::driver::hosted::{HostRequest, Records, run_host};
use crate::driver::run::{
    Backend, BuildOptions, Ended, Logging, Output, Ran, Request, RunError, RunOptions, Stop, is_opencl, prepare,
};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Runs the command.
pub(super) fn run(args: CoverArgs) -> Result<Exit> {
    if args.run.log.is_some() || args.run.no_log {
        bail!("--log and --no-log: cover counts and keeps no log");
    }
    if args.run.files.iter().any(|path| is_opencl(path)) {
        bail!("OpenCL kernels are counted in a program that launches them: `raceproof cover --opencl-host -- PROGRAM`");
    }
    if !args.run.opencl_host && !matches!(args.run.backend, RunBackend::Auto | RunBackend::Cpu) {
        bail!("coverage is counted by --backend cpu, whose scheduler knows who comes to a barrier");
    }
    if args.fail_under.is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
        bail!("--fail-under takes percents, from 0 to 100");
    }
    let earlier = args.with.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    if args.run.opencl_host {
        let request = hosted::request(&args.run, Records::Counts, output(&args))?;
        return interruptible(move |interrupt| of_host(&args, &request, earlier, interrupt));
    }
    let mut request = request(&args.run)?;
    request.backend = Backend::Cpu;
    request.build.logging = Logging::Coverage;
    interruptible(move |interrupt| carried_out(&args, request, earlier, interrupt))
}

/// The report of an earlier run.
fn read(path: &Path) -> Result<Coverage> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let coverage: Coverage =
        serde_json::from_str(&text).with_context(|| format!("{}: no coverage in JSON", path.display()))?;
    if coverage.schema != SCHEMA {
        bail!("{}: it has the schema `{}`; this is {SCHEMA}", path.display(), coverage.schema);
    }
    Ok(coverage)
}

fn carried_out(args: &CoverArgs, mut request: Request, earlier: Vec<Coverage>, interrupt: &Interrupt) -> Result<Exit> {
    let prepared = match prepare(&request) {
        Ok(prepared) => prepared,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    let stop = || interrupt.is_pressed();
    let counting = match built(&args.run, prepared, &mut request, &stop) {
        Ok(built) => built,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    counting.uncounted().iter().for_each(|line| note(line));
    note("executing the program");
    let ran = match counting.run(&RunOptions { output: output(args), ..request.run.clone() }, &stop) {
        Ok(ran) => ran,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    let flow = match args.data_flow.then(|| logged(args, &request, &ran, &stop)).transpose() {
        Ok(flow) => flow.transpose()?,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    let source = |path: &str| cover::source(&counting, path);
    conclude(args, &ran, (reached(&counting).with_data_flow(flow), earlier), &source)
}

/// Runs the program once more with its accesses logged. Its blocks run one after the other, so that the log has the order in
/// which things happened.
fn logged(args: &CoverArgs, request: &Request, before: &Ran, stop: Stop<'_>) -> Result<Result<DataFlow>, RunError> {
    let build = BuildOptions { logging: Logging::Full, ..request.build.clone() };
    // What was built first stays where the user wants it.
    let mut request = Request { build, keep: None, ..request.clone() };
    let built = built(&args.run, prepare(&request)?, &mut request, stop)?;
    built.left_out.iter().for_each(|line| note(line));
    note("executing the program once more, with its accesses logged");
    let log = built.scratch_log();
    let options =
        RunOptions { log: Some(log.clone()), workers: Some(1), output: Output::Nowhere, ..request.run.clone() };
    let ran = built.run(&options, stop)?;
    say_if_other(before, &ran);
    Ok(data_flow(&built, &request.options, &log).context("cannot read the log of the run"))
}

/// Two runs of a program may differ.
fn say_if_other(before: &Ran, logged: &Ran) {
    if before.ended != logged.ended {
        note("the run with a log ended otherwise than the one before: accesses and data flow are of what it did");
    }
}

/// The same for an OpenCL program, which is run as it is.
fn of_host(args: &CoverArgs, request: &HostRequest, earlier: Vec<Coverage>, interrupt: &Interrupt) -> Result<Exit> {
    note("executing the program");
    let hosted = match run_host(request, &|| interrupt.is_pressed()) {
        Ok(hosted) => hosted,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    hosted.left_out.iter().for_each(|line| note(line));
    let flow = match args.data_flow.then(|| logged_of_host(args, &hosted.ran, &|| interrupt.is_pressed())).transpose() {
        Ok(flow) => flow,
        Err(error) => return error.downcast().map(|error: RunError| failed(&error, interrupt)),
    };
    let source = |path: &str| source_of(&hosted, path);
    let exit = conclude(args, &hosted.ran, (reached_by(&hosted).with_data_flow(flow), earlier), &source)?;
    if hosted.unlogged > 0 && exit == Exit::Clean {
        complain("not all launches are counted (see the notes); what the others reach does not show");
        return Ok(Exit::Usage);
    }
    Ok(exit)
}

/// Runs it once more with its accesses logged.
fn logged_of_host(args: &CoverArgs, before: &Ran, stop: Stop<'_>) -> Result<DataFlow> {
    let request = HostRequest { keep: None, ..hosted::request(&args.run, Records::Accesses, Output::Nowhere)? };
    note("executing the program once more, with its accesses logged");
    let hosted = run_host(&request, stop)?;
    hosted.left_out.iter().for_each(|line| note(line));
    say_if_other(before, &hosted.ran);
    data_flow_of(&hosted).context("cannot read the log of the run")
}

/// Where the output of the program goes: standard output is for a report that programs read, unless that goes into a file.
fn output(args: &CoverArgs) -> Output {
    match args.format {
        CoverFormat::Text => Output::Own,
        _ if args.output.is_some() => Output::Own,
        _ => Output::Aside,
    }
}

/// Writes the report on this run and earlier ones.
fn conclude<'s>(
    args: &CoverArgs,
    ran: &Ran,
    (reached, earlier): (Coverage, Vec<Coverage>),
    source: &dyn Fn(&str) -> Option<&'s str>,
) -> Result<Exit> {
    if !matches!(ran.ended, Ended::Exited(_)) {
        note("what the launch that was under way reached is not counted");
    }
    let coverage = Coverage::together(earlier.into_iter().chain([reached]));
    coverage.data_flow.iter().flat_map(|flow| &flow.notes).for_each(|line| note(line));
    write(args, (ran, source), &coverage)?;
    let how = ended(&args.run, ran);
    if how != Exit::Clean {
        return Ok(how);
    }
    let structure = coverage.totals.structure();
    match args.fail_under {
        Some(least) if structure.percent() < least => {
            let what = match coverage.data_flow {
                Some(_) => "barriers, branches, loops, accesses and data flow",
                None => "barriers, branches and loops",
            };
            complain(&format!("{what}: {}, which is under {least} %", share(structure).trim()));
            Ok(Exit::Findings)
        }
        _ if ran.told.iter().any(|told| told.rule.is_some()) => Ok(Exit::Findings),
        _ => Ok(Exit::Clean),
    }
}

fn write<'s>(
    args: &CoverArgs,
    (ran, source): (&Ran, &dyn Fn(&str) -> Option<&'s str>),
    coverage: &Coverage,
) -> Result<()> {
    let write = |out: &mut dyn Write| match args.format {
        CoverFormat::Text => cover::text::write(coverage, out),
        CoverFormat::Lcov => cover::lcov::write(coverage, out),
        CoverFormat::Cobertura => cover::cobertura::write(coverage, out),
        CoverFormat::Html => cover::html::write(coverage, source, out),
        CoverFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, coverage)?;
            writeln!(out)
        }
    };
    match &args.output {
        Some(path) => {
            let cannot = || format!("cannot write {}", path.display());
            let mut file = BufWriter::new(File::create(path).with_context(cannot)?);
            write(&mut file).and_then(|()| file.flush()).with_context(cannot)?;
            to_stdout(|out| write_told(&ran.told, out)).context("cannot write to standard output")
        }
        None => {
            // What the run met is no part of what programs read.
            match args.format {
                CoverFormat::Text => to_stdout(|out| write_told(&ran.told, out)),
                _ => write_told(&ran.told, &mut std::io::stderr().lock()),
            }
            .and_then(|()| to_stdout(write))
            .context("cannot write to standard output")
        }
    }
}
