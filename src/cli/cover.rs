//! `raceproof cover`: runs a program and says what that reaches of its kernels.

use super::Exit;
use super::args::{CoverArgs, CoverFormat, RunBackend};
use super::interrupt::{Interrupt, interruptible};
use super::output::{complain, note, to_stdout};
use super::run::{built, ended, failed, request, write_told};
use crate::driver::cover::{self, Coverage, SCHEMA, reached, share};
use crate::driver::run::{Backend, Built, Ended, Logging, Output, Ran, Request, RunOptions, is_opencl, prepare};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Runs the command.
pub(super) fn run(args: CoverArgs) -> Result<Exit> {
    if args.run.log.is_some() || args.run.no_log {
        bail!("--log and --no-log: cover counts and keeps no log");
    }
    if args.run.opencl_host {
        bail!("--opencl-host: coverage is counted of CUDA programs; what OpenCL programs reach is not counted yet");
    }
    if args.run.files.iter().any(|path| is_opencl(path)) {
        bail!("coverage is counted of CUDA programs; OpenCL kernels are not counted yet");
    }
    if !matches!(args.run.backend, RunBackend::Auto | RunBackend::Cpu) {
        bail!("coverage is counted by --backend cpu, whose scheduler knows who comes to a barrier");
    }
    if args.fail_under.is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
        bail!("--fail-under takes percents, from 0 to 100");
    }
    let mut request = request(&args.run)?;
    request.backend = Backend::Cpu;
    request.build.logging = Logging::Coverage;
    let earlier = args.with.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
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
    let built = match built(&args.run, prepared, &mut request, &stop) {
        Ok(built) => built,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    built.uncounted().iter().for_each(|line| note(line));
    note("executing the program");
    // Standard output is for a report that programs read, unless that goes into a file.
    let output = match args.format {
        CoverFormat::Text => Output::Own,
        _ if args.output.is_some() => Output::Own,
        _ => Output::Aside,
    };
    let ran = match built.run(&RunOptions { output, ..request.run }, &stop) {
        Ok(ran) => ran,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    if !matches!(ran.ended, Ended::Exited(_)) {
        note("what the launch that was under way reached is not counted");
    }
    let coverage = Coverage::together(earlier.into_iter().chain([reached(&built)]));
    write(args, (&built, &ran), &coverage)?;
    let how = ended(&args.run, &ran);
    if how != Exit::Clean {
        return Ok(how);
    }
    let structure = coverage.totals.structure();
    match args.fail_under {
        Some(least) if structure.percent() < least => {
            complain(&format!("barriers, branches and loops: {}, which is under {least} %", share(structure).trim()));
            Ok(Exit::Findings)
        }
        _ if ran.told.iter().any(|told| told.rule.is_some()) => Ok(Exit::Findings),
        _ => Ok(Exit::Clean),
    }
}

fn write(args: &CoverArgs, (built, ran): (&Built, &Ran), coverage: &Coverage) -> Result<()> {
    let write = |out: &mut dyn Write| match args.format {
        CoverFormat::Text => cover::text::write(coverage, out),
        CoverFormat::Lcov => cover::lcov::write(coverage, out),
        CoverFormat::Cobertura => cover::cobertura::write(coverage, out),
        CoverFormat::Html => cover::html::write(coverage, &|path| cover::source(built, path), out),
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
