//! `raceproof run`: builds a program with its accesses logged, executes it, and says what the run shows.
//!
//! What the program writes goes where it always goes. Findings go to standard output after it; everything about the run
//! itself, first of all that code is executed, to standard error.

use super::Exit;
use super::args::{RunArgs, RunBackend, When};
use super::interrupt::{Interrupt, interruptible};
use super::options::{for_run, seconds};
use super::output::{color, complain, note, to_stdout};
use crate::driver::Options;
use crate::driver::run::{
    Backend, BuildOptions, Built, Ended, Logging, Output, Prepared, Ran, Request, RunError, RunOptions, Stop, Told,
    best_backend, build, is_opencl, prepare,
};
use crate::driver::trace::{Format, Verdict, check_log, write_check};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Memory that the check of a log may take.
const MEMORY: u64 = 512 << 20;

/// Runs the command.
pub(super) fn run(args: RunArgs) -> Result<Exit> {
    if args.opencl_host {
        return super::hosted::run(args);
    }
    let request = request(&args)?;
    interruptible(move |interrupt| carried_out(&args, request, interrupt))
}

fn carried_out(args: &RunArgs, mut request: Request, interrupt: &Interrupt) -> Result<Exit> {
    let stop = || interrupt.is_pressed();
    let built = match prepare(&request).and_then(|prepared| built(args, prepared, &mut request, &stop)) {
        Ok(built) => built,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    for line in &built.left_out {
        note(line);
    }
    let options = RunOptions { log: log(args, &built), ..request.run };
    note("executing the program");
    match built.run(&options, &stop) {
        Ok(ran) => conclude((args, &request.options), options.log.as_deref(), &ran, &built.left_out),
        Err(error) => Ok(failed(&error, interrupt)),
    }
}

/// Builds the program; where nobody asked for the GPU and its log would not do, for the CPU.
pub(super) fn built(
    args: &RunArgs,
    prepared: Prepared,
    request: &mut Request,
    stop: Stop<'_>,
) -> Result<Built, RunError> {
    let built = match build(prepared, request, stop) {
        Err(error @ RunError::NotFollowed { .. }) if args.backend == RunBackend::Auto => {
            note(&error.to_string());
            note("the program is built for the CPU");
            request.backend = Backend::Cpu;
            build(prepare(request)?, request, stop)
        }
        built => built,
    }?;
    built.notes.iter().for_each(|line| note(line));
    Ok(built)
}

pub(super) fn request(args: &RunArgs) -> Result<Request> {
    if let Some(path) = args.files.iter().find(|path| path.extension().is_some_and(|name| name == "toml")) {
        bail!("{} is a launch description: give it by --launch, and the file of its kernels", path.display());
    }
    let has_opencl = args.files.iter().any(|path| is_opencl(path));
    match (args.backend, has_opencl) {
        (RunBackend::Opencl, false) => bail!("--backend opencl: there is no file of OpenCL kernels (.cl) to run"),
        (RunBackend::Cpu | RunBackend::Cuda, true) => {
            bail!("OpenCL kernels run by --backend opencl, which is the default for them")
        }
        _ => {}
    }
    if has_opencl && (args.seed.is_some() || args.jobs.is_some()) {
        bail!("--seed and --jobs are for --backend cpu: an OpenCL driver has an order of its own");
    }
    let options = for_run(args)?;
    let backend = match args.backend {
        // A seed and a number of threads are for the back end that has them.
        RunBackend::Auto if args.seed.is_some() || args.jobs.is_some() => Backend::Cpu,
        RunBackend::Auto if !has_opencl => best_backend(),
        // What OpenCL kernels are instrumented for does not depend on who compiles CUDA.
        RunBackend::Auto | RunBackend::Cpu | RunBackend::Opencl => Backend::Cpu,
        RunBackend::Cuda => Backend::Cuda,
    };
    if backend == Backend::Cuda && (args.seed.is_some() || args.jobs.is_some()) {
        bail!("--seed and --jobs are for --backend cpu: a GPU has an order of its own");
    }
    Ok(Request {
        backend,
        files: args.files.clone(),
        build: BuildOptions {
            include_dirs: options.include_dirs.clone(),
            libraries: args.libraries.clone(),
            library_dirs: args.library_dirs.clone(),
            defines: options.defines.clone(),
            logging: if args.no_log { Logging::Plain } else { Logging::Full },
        },
        run: RunOptions {
            log: None,
            arguments: args.arguments.clone(),
            seed: args.seed.unwrap_or(0),
            timeout: Some(seconds("--timeout", args.timeout)?),
            // Blocks in parallel end in an order of their own, whatever the seed.
            workers: args.jobs.or(args.seed.map(|_| 1)),
            output: Output::Own,
        },
        options,
        keep: args.keep.clone(),
        launch: args.launch.clone(),
        untouched: BTreeSet::new(),
    })
}

/// Where the log is written: where the user wants it, else where it goes away with everything else.
fn log(args: &RunArgs, built: &Built) -> Option<PathBuf> {
    if args.no_log {
        return None;
    }
    Some(args.log.clone().unwrap_or_else(|| built.scratch_log()))
}

/// Says why there was no run.
pub(super) fn failed(error: &RunError, interrupt: &Interrupt) -> Exit {
    if let Some(messages) = error.compiler_messages() {
        let _ = std::io::stderr().lock().write_all(messages.as_bytes());
    }
    complain(&error.to_string());
    exit_of(error, interrupt)
}

/// How such a run ends.
pub(super) fn exit_of(error: &RunError, interrupt: &Interrupt) -> Exit {
    match error {
        RunError::Bug { .. } => Exit::Bug,
        error if error.is_interrupt() => Exit::Interrupted(interrupt.exit_code()),
        _ => Exit::Usage,
    }
}

/// Says what the run showed. Findings count more than the way the program ended: they often are its reason.
fn conclude((args, reading): (&RunArgs, &Options), log: Option<&Path>, ran: &Ran, left_out: &[String]) -> Result<Exit> {
    to_stdout(|out| write_told(&ran.told, out)).context("cannot write to standard output")?;
    let ended = ended(args, ran);
    let mut exit = if ran.told.iter().any(|told| told.rule.is_some()) { Exit::Findings } else { ended };
    if let Some(log) = log.filter(|_| !ran.launched.is_empty()) {
        exit = match judge(args.jobs, log)? {
            Verdict::Racy => Exit::Findings,
            Verdict::NoConflict => exit,
            Verdict::Partial if exit == Exit::Findings => exit,
            Verdict::Partial => Exit::Usage,
        };
        // A log of a GPU says so itself.
        if let Some(limits) = limits(left_out).filter(|_| ran.back_end != "cuda") {
            to_stdout(|out| writeln!(out, "{limits}")).context("cannot write to standard output")?;
        }
        super::keeping::tell(&args.files, reading, log)?;
    }
    Ok(exit)
}

/// What the log knows nothing of, so that whoever reads the result alone does not take it for more than it is.
pub(super) fn limits(left_out: &[String]) -> Option<String> {
    let places = match left_out.len() {
        0 => return None,
        1 => "1 place".to_owned(),
        several => format!("{several} places"),
    };
    Some(format!("not logged in device code: {places} (see the notes); races there do not show"))
}

/// Checks the log for conflicts and says what there is.
pub(super) fn judge(jobs: Option<u32>, log: &Path) -> Result<Verdict> {
    let jobs = jobs.and_then(|jobs| usize::try_from(jobs).ok());
    let outcome = check_log(log, MEMORY, jobs).with_context(|| format!("cannot read the log {}", log.display()))?;
    let mut verdict = Verdict::Partial;
    to_stdout(|out| {
        verdict = write_check(log, &outcome, Format::Text(color(When::Auto)), out)?;
        Ok(())
    })
    .context("cannot write to standard output")?;
    Ok(verdict)
}

pub(super) fn write_told(told: &[Told], out: &mut dyn Write) -> std::io::Result<()> {
    for told in told {
        let place = told.place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
        match told.rule {
            Some(rule) => writeln!(out, "{place}error: {} [{rule}]", told.message)?,
            None => writeln!(out, "{place}note: {}", told.message)?,
        }
    }
    Ok(())
}

/// Complains about a program that did not end well.
pub(super) fn ended(args: &RunArgs, ran: &Ran) -> Exit {
    let exit = match ran.ended {
        Ended::Exited(0) => Exit::Clean,
        Ended::Exited(status) => {
            complain(&format!("the program exited with status {status}; what it did until then was logged"));
            Exit::Usage
        }
        Ended::Signalled(signal) => {
            complain(&format!("the program was ended by signal {signal}{}", signal_name(signal)));
            Exit::Usage
        }
        Ended::TimedOut => {
            complain(&format!("the program was ended after {} seconds (--timeout)", args.timeout));
            Exit::Usage
        }
    };
    if ran.launched.is_empty() && exit == Exit::Clean {
        let of_host = if args.opencl_host { " through a library of OpenCL that it loads" } else { "" };
        complain(&format!(
            "the program launched no kernel{of_host}: the run shows nothing; does it need arguments (after --)?"
        ));
        return Exit::Usage;
    }
    exit
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (illegal instruction)",
        6 => " (abort)",
        7 => " (bus error)",
        8 => " (arithmetic error)",
        9 => " (killed, perhaps for want of memory)",
        11 => " (segmentation fault)",
        _ => "",
    }
}
