//! `raceproof generate`: searches launches of the kernels of a file, and writes them down as launch descriptions.

use super::Exit;
use super::args::{GenerateArgs, RunBackend, TraceFormat};
use super::interrupt::{Interrupt, interruptible};
use super::options::{any_solver, seconds};
use super::output::{complain, note, to_stdout};
use super::run::{failed, request};
use crate::driver::cover::share;
use crate::driver::generate::{Description, Generated, Search, Searched, Written, generate, json, text};
use crate::driver::run::{Backend, Logging, Request, is_opencl, prepare};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// However long a program may run, a single launch of a search may not.
pub(super) const LONGEST_CASE: Duration = Duration::from_secs(2);

/// Runs the command.
pub(super) fn run(args: GenerateArgs) -> Result<Exit> {
    if args.run.log.is_some() || args.run.no_log {
        bail!("--log and --no-log: a search is many runs; `raceproof run --launch` keeps the log of what it finds");
    }
    if args.run.launch.is_some() || !args.run.arguments.is_empty() {
        bail!("generate writes launch descriptions and takes none, nor arguments of a program");
    }
    if args.run.opencl_host {
        bail!(
            "inputs are searched for kernels, and not for a program that launches them: name the file of the kernels"
        );
    }
    let is_opencl = args.run.files.iter().any(|path| is_opencl(path));
    if is_opencl && !matches!(args.run.backend, RunBackend::Auto) {
        bail!("OpenCL kernels are tried on the machine's OpenCL driver: leave --backend out");
    }
    if !is_opencl && !matches!(args.run.backend, RunBackend::Auto | RunBackend::Cpu) {
        bail!("inputs are searched by --backend cpu, which counts what each reaches");
    }
    if args.fail_under.is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
        bail!("--fail-under takes percents, from 0 to 100");
    }
    let plan = Search {
        kernels: args.kernel.clone(),
        time: seconds("--time", args.time)?,
        tries: usize::try_from(args.tries).unwrap_or(usize::MAX),
        seed: args.run.seed.unwrap_or(0),
        timeout: seconds("--timeout", args.run.timeout)?.min(LONGEST_CASE),
    };
    let mut request = request(&args.run)?;
    request.backend = Backend::Cpu;
    request.options.judging.solver = any_solver();
    request.build.logging = Logging::Search;
    interruptible(move |interrupt| carried_out(&args, &request, &plan, interrupt))
}

fn carried_out(args: &GenerateArgs, request: &Request, plan: &Search, interrupt: &Interrupt) -> Result<Exit> {
    let stop = || interrupt.is_pressed();
    let prepared = match prepare(request) {
        Ok(prepared) => prepared,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    note("executing kernels");
    let generated = match generate(prepared, request, plan, &mut |line| note(line), &stop) {
        Ok(generated) => generated,
        Err(error) => return Ok(failed(&error, interrupt)),
    };
    generated.notes.iter().for_each(|line| note(line));
    let files = write(&generated, &args.output, &args.run.files)?;
    to_stdout(|out| match args.format {
        TraceFormat::Text => text(&generated, &files, out),
        TraceFormat::Json => json(&generated, &files, out),
    })
    .context("cannot write to standard output")?;
    if generated.kernels.is_empty() {
        complain("no kernel was searched");
        return Ok(Exit::Usage);
    }
    if generated.kernels.iter().any(|kernel| kernel.description.is_none() && kernel.breaking.is_none()) {
        return Ok(Exit::Usage);
    }
    let structure = generated.coverage.totals.structure();
    match args.fail_under {
        Some(least) if structure.percent() < least => {
            complain(&format!("barriers, branches and loops: {}, which is under {least} %", share(structure).trim()));
            Ok(Exit::Findings)
        }
        _ => Ok(Exit::Clean),
    }
}

/// Writes the descriptions; their paths, in the order of the kernels.
pub(super) fn write(generated: &Generated, directory: &Path, sources: &[PathBuf]) -> Result<Vec<Written>> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let mut names = BTreeSet::new();
    generated.kernels.iter().map(|kernel| write_one(kernel, directory, sources, &mut names)).collect()
}

fn write_one(
    kernel: &Searched,
    directory: &Path,
    sources: &[PathBuf],
    names: &mut BTreeSet<String>,
) -> Result<Written> {
    let plain: String =
        kernel.kernel.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let plain = plain.trim_matches('-').to_owned();
    let mut name = plain.clone();
    // Two instances may differ in signs alone.
    for number in 2.. {
        if names.insert(name.clone()) {
            break;
        }
        name = format!("{plain}-{number}");
    }
    let files: Vec<String> = sources.iter().map(|path| path.display().to_string()).collect();
    let of = format!("# Launches of {} in {}, as `raceproof generate` found them.\n", kernel.kernel, files.join(", "));
    let put = |name: String, description: &Description, said: &str| -> Result<String> {
        let path = directory.join(name);
        let text = format!("{of}# {said}\n\n{}", description.text());
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path.display().to_string())
    };
    let mut written = Written::default();
    if let Some(description) = &kernel.description {
        let totals = kernel.coverage().totals;
        let [branches, loops, lines] =
            [totals.branches, totals.loops, totals.lines].map(|total| share(total).trim().to_owned());
        let said = format!("They reach branches: {branches}, loops: {loops}, lines: {lines} of the file.");
        written.launches = Some(put(format!("{name}.toml"), description, &said)?);
    }
    if let Some(description) = &kernel.breaking {
        let said = format!("What they hold breaks what the kernel asks for: {}.", kernel.contract.join(" and "));
        written.breaking = Some(put(format!("{name}.breaks-contract.toml"), description, &said)?);
    }
    Ok(written)
}
