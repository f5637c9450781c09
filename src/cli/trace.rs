//! `raceproof trace`: the log of a run, checked for conflicts, described, split, merged or exported.

use super::Exit;
use super::args::{
    CheckedLog, ExportArgs, LogArgs, MergeLogArgs, SplitArgs, TraceArgs, TraceCommand, TraceFormat, Within,
};
use super::memory::bytes;
use super::output::{color, to_stdout};
use crate::driver::trace::{self, Format, Verdict};
use anyhow::{Context, Result};
use std::path::Path;

/// Runs the command.
pub(super) fn run(args: &TraceArgs) -> Result<Exit> {
    match &args.command {
        TraceCommand::Check(args) => check(args),
        TraceCommand::Info(args) => info(args),
        TraceCommand::Split(args) => split(args),
        TraceCommand::Merge(args) => merge(args),
        TraceCommand::Export(args) => export(args),
    }
}

fn check(CheckedLog { log, within }: &CheckedLog) -> Result<Exit> {
    let trace::Within { memory, jobs } = allowed(within)?;
    let outcome = trace::check_log(&log.file, memory, jobs).with_context(|| about(&log.file))?;
    let mut verdict = Verdict::Partial;
    to_stdout(|out| {
        verdict = trace::write_check(&log.file, &outcome, format(log), out)?;
        Ok(())
    })
    .context("cannot write to standard output")?;
    Ok(match verdict {
        Verdict::Racy => Exit::Findings,
        Verdict::NoConflict => Exit::Clean,
        Verdict::Partial => Exit::Usage,
    })
}

fn info(args: &LogArgs) -> Result<Exit> {
    let log = trace::inspect_log(&args.file).with_context(|| about(&args.file))?;
    to_stdout(|out| trace::write_info(&args.file, &log, format(args), out))
        .context("cannot write to standard output")?;
    Ok(if log.problems.is_empty() { Exit::Clean } else { Exit::Usage })
}

fn split(args: &SplitArgs) -> Result<Exit> {
    let within = allowed(&args.within)?;
    let beside = args.file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = args.output.as_deref().unwrap_or(beside);
    std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let shards = trace::split_log(&args.file, args.shards, directory, &within)?;
    to_stdout(|out| {
        shards.iter().try_for_each(|(accesses, path)| writeln!(out, "{}: {accesses} accesses", path.display()))
    })
    .context("cannot write to standard output")?;
    Ok(Exit::Clean)
}

fn merge(args: &MergeLogArgs) -> Result<Exit> {
    let accesses = trace::merge_logs(&args.files, &args.output, &allowed(&args.within)?)?;
    to_stdout(|out| writeln!(out, "{}: {accesses} accesses", args.output.display()))
        .context("cannot write to standard output")?;
    Ok(Exit::Clean)
}

fn export(args: &ExportArgs) -> Result<Exit> {
    let ExportArgs { file, directory, within, .. } = args;
    let within = allowed(within)?;
    std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let tables =
        trace::export_log(file, directory, &within).with_context(|| format!("cannot export {}", file.display()))?;
    to_stdout(|out| tables.iter().try_for_each(|(path, rows)| writeln!(out, "{}: {rows} rows", path.display())))
        .context("cannot write to standard output")?;
    Ok(Exit::Clean)
}

fn format(args: &LogArgs) -> Format {
    match args.format {
        TraceFormat::Text => Format::Text(color(args.color)),
        TraceFormat::Json => Format::Json,
    }
}

fn allowed(within: &Within) -> Result<trace::Within> {
    Ok(trace::Within { memory: bytes(&within.memory)?, jobs: within.jobs.map(usize::from) })
}

fn about(file: &Path) -> String {
    format!("cannot read {}", file.display())
}
