//! For people: findings with excerpts, what is missing of the log, a line for each kernel, and a verdict.

use super::findings::{Findings, Located};
use super::{Verdict, accesses, counted};
use crate::diagnostic::render::text::{Color, Detail, render};
use crate::diagnostic::report::{
    Deciding, Determinism, Divergence, FileReport, Finding, Front, KernelReport, Parse, Race, Report, WitnessReport,
};
use crate::diagnostic::vocabulary::Vocabulary;
use crate::trace::check::Outcome;
use crate::trace::format::{Launch, Log};
use crate::work::Spent;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

/// Writes what a check found.
pub fn check(outcome: &Outcome, findings: Findings, color: Color, out: &mut dyn Write) -> io::Result<()> {
    let Findings { sources, findings } = findings;
    for located in findings {
        if !located.has_source {
            write_plain(&located, out)?;
            continue;
        }
        let file = FileReport {
            path: PathBuf::new(),
            language: located.language,
            front: Front::TreeSitter,
            parse: Parse::Ok,
            kernels: vec![kernel_report(located.kernel, located.finding)],
            diagnostics: Vec::new(),
            comments: Vec::new(),
            unasked: Vec::new(),
            spent: Spent::default(),
            sources: sources.clone(),
        };
        render(&Report { files: vec![file] }, color, Detail::FindingsOnly, out)?;
    }
    problems(&outcome.log, out)?;
    left_out(&outcome.log, MOST_LEFT_OUT, out)?;
    kernels(outcome, out)?;
    writeln!(out, "{}", verdict_line(outcome))
}

/// A report of which the findings alone are shown.
fn kernel_report(name: String, finding: Finding) -> KernelReport {
    KernelReport {
        name,
        line: 0,
        path: None,
        front: Front::TreeSitter,
        template_args: Vec::new(),
        params: Vec::new(),
        race: Race::Racy,
        divergence: Divergence::Unknown,
        scope: None,
        determinism: Determinism::NotShown(String::new()),
        deciding: Deciding::default(),
        assumptions: Vec::new(),
        contract: None,
        spent: Spent::default(),
        findings: vec![finding],
        unknowns: Vec::new(),
    }
}

/// A finding whose source is not there.
fn write_plain(located: &Located, out: &mut dyn Write) -> io::Result<()> {
    let Finding { rule, message, witness, notes, .. } = &located.finding;
    let place = |at: usize| match &located.sites[at] {
        Some(site) => printable(&format!("{}:{}:{}", site.path, site.start.0, site.start.1)),
        None => "an unknown place".to_owned(),
    };
    writeln!(out, "{}: error: {} [{}]", place(0), printable(message), rule.name())?;
    writeln!(out, "{}: note: the other access is here", place(1))?;
    if let Some(WitnessReport { block_dim, grid_dim, threads, .. }) = witness
        && let [first, second] = &threads[..]
    {
        let words = Vocabulary::of(located.language);
        let at = |thread: &crate::diagnostic::report::WitnessThread| words.thread_at(thread.thread, thread.block);
        writeln!(out, "  {} and {}, blockDim {block_dim:?}, gridDim {grid_dim:?}", at(first), at(second))?;
    }
    for note in notes {
        writeln!(out, "  {}", printable(note))?;
    }
    writeln!(out)
}

/// How many places that are not logged the answer of a check names.
const MOST_LEFT_OUT: usize = 8;

/// What is not logged, so that races there do not show.
fn left_out(log: &Log, most: usize, out: &mut dyn Write) -> io::Result<()> {
    for what in log.left_out.iter().take(most) {
        writeln!(out, "not logged: {}", printable(what))?;
    }
    match log.left_out.len().saturating_sub(most) {
        0 => Ok(()),
        more => writeln!(out, "not logged: {more} more (`raceproof trace info` names them)"),
    }
}

/// Everything that makes a log incomplete.
pub fn problems(log: &Log, out: &mut dyn Write) -> io::Result<()> {
    for problem in &log.problems {
        writeln!(out, "incomplete: {}", printable(&problem.to_string()))?;
    }
    Ok(())
}

/// Launches, accesses and conflicts of a kernel.
#[derive(Default)]
struct Tally {
    launches: u64,
    accesses: u64,
    is_racy: bool,
    conflicts: usize,
}

/// One line for each kernel, by name.
fn kernels(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for (id, launch) in &outcome.log.launches {
        let tally = tallies.entry(&launch.kernel).or_default();
        tally.launches += 1;
        tally.is_racy |= outcome.racy.contains(id);
        tally.conflicts += outcome.conflicts.iter().filter(|conflict| conflict.witness.launch == *id).count();
    }
    for chunk in &outcome.log.chunks {
        let launch = &outcome.log.launches[&chunk.launch];
        tallies.entry(&launch.kernel).or_default().accesses += chunk.accesses;
    }
    for (kernel, tally) in tallies {
        let made = format!(
            "{}, {}",
            counted(tally.launches, "launch", "launches"),
            counted(tally.accesses, "access", "accesses")
        );
        let what = match tally.conflicts {
            // A function of the device may be called by several kernels.
            0 if tally.is_racy => "racy: at places that are told of another kernel".to_owned(),
            0 => "no conflict seen".to_owned(),
            conflicts => {
                format!("racy: {}", counted(conflicts as u64, "pair of places conflicts", "pairs of places conflict"))
            }
        };
        writeln!(out, "{} ({made}): {what}", printable(kernel))?;
    }
    Ok(())
}

/// Which part of a run a log has: `shard 2 of 8`. Nothing, if it has all.
fn part(log: &Log) -> Option<String> {
    log.shard.as_ref().map(|shard| format!("shard {} of {}", shard.number + 1, shard.whole.shards()))
}

fn verdict_line(outcome: &Outcome) -> String {
    let log = &outcome.log;
    let made = format!(
        "{} in {}",
        counted(accesses(log), "access", "accesses"),
        counted(log.launches.len() as u64, "launch", "launches")
    );
    let partial = if log.problems.is_empty() { "" } else { "; the log is incomplete, only what is whole was checked" };
    let run = part(log).map_or_else(|| "this run".to_owned(), |part| format!("{part} of this run"));
    match Verdict::of(outcome) {
        Verdict::Racy => {
            let pairs = counted(outcome.conflicts.len() as u64, "pair of places conflicts", "pairs of places conflict");
            format!("{pairs} in {run} ({made}){partial}")
        }
        Verdict::NoConflict if log.shard.is_some() => {
            format!("no conflict in {run} ({made}, the shard is complete): the run has none if no shard has one")
        }
        Verdict::NoConflict => {
            let but = if log.left_out.is_empty() { "" } else { " but for what is not logged" };
            format!("no conflict in {run} ({made}, the log is complete{but})")
        }
        Verdict::Partial => format!("no conflict seen ({made}){partial}: this is no verdict on the run"),
    }
}

/// Writes what is in a log, without checking it.
pub fn info(log: &Log, out: &mut dyn Write) -> io::Result<()> {
    for (id, launch) in &log.launches {
        writeln!(out, "{}", launch_line(*id, launch, log))?;
    }
    for (id, allocation) in &log.allocations {
        let name = if allocation.name.is_empty() { "(no name)" } else { &allocation.name };
        let bytes = counted(allocation.bytes, "byte", "bytes");
        writeln!(out, "allocation {id}: {} memory, {bytes}: {}", allocation.space.name(), printable(name))?;
    }
    problems(log, out)?;
    left_out(log, usize::MAX, out)?;
    let (made, launches) = (accesses(log), log.launches.len() as u64);
    let each = if made == 0 { 0.0 } else { log.bytes as f64 / made as f64 };
    let whole = match (&log.problems[..], log.exit_status) {
        ([], Some(status)) => format!("complete; the program ended with status {status}"),
        _ => "incomplete".to_owned(),
    };
    let whole = part(log).map_or(whole.clone(), |part| format!("{part}, {whole}"));
    writeln!(
        out,
        "{}, {}, {}; {} ({each:.3} an access); {whole}",
        counted(launches, "launch", "launches"),
        counted(log.sites.len() as u64, "site", "sites"),
        counted(made, "access", "accesses"),
        counted(log.bytes, "byte", "bytes"),
    )
}

fn launch_line(id: u32, launch: &Launch, log: &Log) -> String {
    let made = log.chunks.iter().filter(|chunk| chunk.launch == id).map(|chunk| chunk.accesses).sum();
    let triple = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    let arguments: Vec<String> = launch.arguments.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let arguments = if arguments.is_empty() { String::new() } else { format!("; {}", arguments.join(", ")) };
    let unfinished = if launch.finished.is_none() { "; not finished" } else { "" };
    printable(&format!(
        "launch {id}: {} grid {} block {}, {}{arguments}{unfinished}",
        launch.kernel,
        triple(launch.grid),
        triple(launch.block),
        counted(made, "access", "accesses")
    ))
}

/// `text` without characters that talk to the user's terminal.
fn printable(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { '\u{FFFD}' } else { character }).collect()
}
