//! `raceproof instrument`: the text of a file with a call around every access, headed by the commands that build it.

use super::Exit;
use super::args::{InstrumentArgs, InstrumentBackend};
use super::output::{complain, note, to_stdout};
use crate::driver::Options;
use crate::driver::instrument::{Backend, InstrumentedFile, Subject, commands, instrument_for, write_runtime};
use crate::driver::isolate::isolated;
use crate::driver::parallel::{decode, on_workers, read};
use crate::source::Language;
use crate::source::discover::language_of;
use anyhow::{Context, Result, anyhow, ensure};
use std::path::Path;

/// Runs the command.
pub(super) fn run(args: &InstrumentArgs) -> Result<Exit> {
    let options = super::options::for_instrument(args)?;
    let bytes = read(&args.file).map_err(|cause| anyhow!("cannot read {}: {cause}", args.file.display()))?;
    let text = decode(&bytes);
    let backend = match args.backend {
        InstrumentBackend::Cpu => Backend::Cpu,
        InstrumentBackend::Cuda => Backend::Cuda,
    };
    match on_workers(Some(1), || isolated(|| instrument_for(backend, &args.file, &text, &options))) {
        Ok(Ok(file)) => {
            name_left_out(&file);
            if let Some(directory) = &args.runtime {
                ensure!(!is_opencl(&args.file, &options), "--runtime: what OpenCL kernels need stands in their text");
                write_runtime(backend, directory).context("--runtime")?;
            }
            write(args, &(head(args, backend, &options) + &file.unit.text))?;
            Ok(Exit::Clean)
        }
        Ok(Err(error)) => Err(error.into()),
        Err(panic) => {
            complain(&format!("bug in raceproof: {panic}; please report it with the file"));
            Ok(Exit::Bug)
        }
    }
}

fn is_opencl(file: &Path, options: &Options) -> bool {
    options.dialect.map_or_else(|| language_of(file), |dialect| Some(dialect.language())) == Some(Language::OpenCl)
}

/// What the text is, and how it is built and run, as comments.
fn head(args: &InstrumentArgs, backend: Backend, options: &Options) -> String {
    let file = args.file.display();
    let about = format!("{file} with its accesses to memory logged, by raceproof {}.", env!("CARGO_PKG_VERSION"));
    let lines = if is_opencl(&args.file, options) {
        vec![
            format!("{about} Any OpenCL driver compiles it as it stands. Its kernels"),
            "take one more argument, the buffer of the log, which is described below. Who makes it and reads it:"
                .to_owned(),
            format!("  raceproof run {file} --launch launch.toml"),
            "  raceproof run --opencl-host -- PROGRAM".to_owned(),
        ]
    } else {
        // What goes to standard output has no name yet.
        let is_named = args.output.as_os_str() != "-";
        let extension = if backend == Backend::Cuda { "logged.cu" } else { "logged.cpp" };
        let text = if is_named { args.output.clone() } else { args.file.with_extension(extension) };
        let runtime = args.runtime.clone().unwrap_or_else(|| text.with_extension("runtime"));
        let missing = format!("{about} --runtime {} writes what it needs:", runtime.display());
        let first = if args.runtime.is_some() { format!("{about} To build and to run it:") } else { missing };
        let include_dirs = options.include_dirs.clone();
        let subject = Subject { backend, file: args.file.clone(), text, runtime, include_dirs };
        std::iter::once(first).chain(commands(&subject).into_iter().map(|line| format!("  {line}"))).collect()
    };
    // Whatever a path has in it: a comment ends with its line, and one that ends with a backslash goes on.
    let comment = |line: &String| {
        let line: String = line.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
        format!("// {}\n", line.trim_end_matches('\\'))
    };
    lines.iter().map(comment).collect()
}

fn write(args: &InstrumentArgs, text: &str) -> Result<()> {
    if args.output.as_os_str() == "-" {
        return to_stdout(|out| out.write_all(text.as_bytes())).context("cannot write to standard output");
    }
    std::fs::write(&args.output, text).with_context(|| format!("cannot write {}", args.output.display()))
}

/// Says what a run of the output will not see.
fn name_left_out(file: &InstrumentedFile) {
    for left_out in &file.unit.left_out {
        let visible = file.sources.visible(left_out.span);
        let place = file.sources.start_position(left_out.span);
        let path = file.sources.file(visible.file).path.display();
        let inside = if left_out.function.is_empty() { String::new() } else { format!(" in {}", left_out.function) };
        note(&format!("{path}:{}:{}: not instrumented: {}{inside}", place.line, place.column, left_out.what));
    }
}
