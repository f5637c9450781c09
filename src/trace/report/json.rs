//! For programs: the contracts `raceproof.trace.v1` (a check) and `raceproof.trace-info.v1` (what a log holds).
//!
//! Fields may only be added with a new version; `shard` and `not_logged` are there only where there is something to say. Lines and columns count from 1, ends are exclusive.

use super::findings::{Findings, Located};
use super::{Verdict, accesses, findings::place_access};
use crate::diagnostic::report::WitnessThread;
use crate::trace::check::{Conflict, Observed, Outcome};
use crate::trace::format::{Log, Site};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// Writes what a check found as one object on one line.
pub fn check(path: &Path, outcome: &Outcome, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    let racy = &outcome.racy;
    let pairs = outcome.conflicts.iter().zip(&findings.findings);
    let report = Check {
        schema: "raceproof.trace.v1",
        log: log_json(path, &outcome.log),
        launches: launches(&outcome.log, |id| Some(if racy.contains(&id) { "racy" } else { "no-conflict" })),
        findings: pairs.map(|(conflict, located)| finding(conflict, located, &outcome.log)).collect(),
        summary: Summary {
            launches: outcome.log.launches.len(),
            accesses: accesses(&outcome.log),
            conflicts: outcome.conflicts.len(),
            verdict: Verdict::of(outcome).name(),
        },
    };
    serde_json::to_writer(&mut *out, &report)?;
    writeln!(out)
}

/// Writes what a log holds as one object on one line.
pub fn info(path: &Path, log: &Log, out: &mut dyn Write) -> io::Result<()> {
    let allocations = log.allocations.iter().map(|(&id, allocation)| AllocationJson {
        id,
        name: &allocation.name,
        space: allocation.space.name(),
        bytes: allocation.bytes,
    });
    let report = Info {
        schema: "raceproof.trace-info.v1",
        log: log_json(path, log),
        launches: launches(log, |_| None),
        allocations: allocations.collect(),
        sites: log.sites.len(),
        accesses: accesses(log),
    };
    serde_json::to_writer(&mut *out, &report)?;
    writeln!(out)
}

#[derive(Serialize)]
struct Check<'a> {
    schema: &'static str,
    log: LogJson<'a>,
    launches: Vec<LaunchJson<'a>>,
    findings: Vec<FindingJson<'a>>,
    summary: Summary,
}

#[derive(Serialize)]
struct Info<'a> {
    schema: &'static str,
    log: LogJson<'a>,
    launches: Vec<LaunchJson<'a>>,
    allocations: Vec<AllocationJson<'a>>,
    sites: usize,
    accesses: u64,
}

#[derive(Serialize)]
struct LogJson<'a> {
    path: String,
    bytes: u64,
    complete: bool,
    problems: Vec<String>,
    exit_status: Option<i64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    not_logged: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<ShardJson>,
}

#[derive(Serialize)]
struct ShardJson {
    number: u32,
    of: u32,
    whole: String,
}

#[derive(Serialize)]
struct LaunchJson<'a> {
    id: u32,
    kernel: &'a str,
    grid_dim: [u32; 3],
    block_dim: [u32; 3],
    params: serde_json::Map<String, serde_json::Value>,
    finished: bool,
    accesses: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    race: Option<&'static str>,
}

#[derive(Serialize)]
struct AllocationJson<'a> {
    id: u32,
    name: &'a str,
    space: &'static str,
    bytes: u64,
}

#[derive(Serialize)]
struct FindingJson<'a> {
    rule: &'static str,
    certainty: &'static str,
    level: &'static str,
    array: Option<&'a str>,
    message: &'a str,
    kernel: &'a str,
    launch: u32,
    primary: PlaceJson<'a>,
    secondary: PlaceJson<'a>,
    bytes: u64,
    witness: WitnessJson<'a>,
}

#[derive(Serialize)]
struct PlaceJson<'a> {
    site: u32,
    path: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    end_line: Option<u32>,
    end_column: Option<u32>,
    access: &'static str,
    function: Option<&'a str>,
}

#[derive(Serialize)]
struct WitnessJson<'a> {
    block_dim: [u32; 3],
    grid_dim: [u32; 3],
    threads: Vec<ThreadJson>,
    allocation: AllocationJson<'a>,
    byte_offset: u64,
}

#[derive(Serialize)]
struct ThreadJson {
    block: [u32; 3],
    thread: [u32; 3],
    byte_offset: u64,
    bytes: u32,
}

#[derive(Serialize)]
struct Summary {
    launches: usize,
    accesses: u64,
    conflicts: usize,
    verdict: &'static str,
}

fn log_json<'a>(path: &Path, log: &'a Log) -> LogJson<'a> {
    LogJson {
        path: path.to_string_lossy().into_owned(),
        bytes: log.bytes,
        complete: log.problems.is_empty(),
        problems: log.problems.iter().map(ToString::to_string).collect(),
        exit_status: log.exit_status,
        not_logged: &log.left_out,
        shard: log.shard.as_ref().map(|shard| ShardJson {
            number: shard.number + 1,
            of: shard.whole.shards(),
            whole: format!("{:016x}", shard.whole.identity),
        }),
    }
}

fn launches(log: &Log, race: impl Fn(u32) -> Option<&'static str>) -> Vec<LaunchJson<'_>> {
    let mut made = std::collections::BTreeMap::<u32, u64>::new();
    for chunk in &log.chunks {
        *made.entry(chunk.launch).or_default() += chunk.accesses;
    }
    let launches = log.launches.iter().map(|(&id, launch)| LaunchJson {
        id,
        kernel: &launch.kernel,
        grid_dim: launch.grid,
        block_dim: launch.block,
        params: launch.arguments.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect(),
        finished: launch.finished.is_some(),
        accesses: made.get(&id).copied().unwrap_or(0),
        race: race(id),
    });
    launches.collect()
}

fn finding<'a>(conflict: &Conflict, located: &'a Located, log: &'a Log) -> FindingJson<'a> {
    let [first, second] = &conflict.witness.accesses;
    let shown = &located.finding;
    FindingJson {
        rule: shown.rule.name(),
        certainty: shown.certainty.name(),
        level: shown.level.name(),
        array: shown.array.as_deref(),
        message: &shown.message,
        kernel: &located.kernel,
        launch: conflict.witness.launch,
        primary: place(first, located.sites[0].as_ref()),
        secondary: place(second, located.sites[1].as_ref()),
        bytes: conflict.bytes,
        witness: witness(conflict, located, log),
    }
}

fn place<'a>(access: &Observed, site: Option<&'a Site>) -> PlaceJson<'a> {
    PlaceJson {
        site: access.site,
        path: site.map(|site| site.path.as_str()),
        line: site.map(|site| site.start.0),
        column: site.map(|site| site.start.1),
        end_line: site.map(|site| site.end.0),
        end_column: site.map(|site| site.end.1),
        access: place_access(access.kind).name(),
        function: site.map(|site| site.function.as_str()),
    }
}

fn witness<'a>(conflict: &Conflict, located: &Located, log: &'a Log) -> WitnessJson<'a> {
    let launch = &log.launches[&conflict.witness.launch];
    let id = conflict.witness.allocation;
    let allocation = &log.allocations[&id];
    let threads = located.finding.witness.iter().flat_map(|witness| &witness.threads);
    let thread = |(thread, access): (&WitnessThread, &Observed)| ThreadJson {
        block: thread.block,
        thread: thread.thread,
        byte_offset: access.offset,
        bytes: access.bytes,
    };
    WitnessJson {
        block_dim: launch.block,
        grid_dim: launch.grid,
        threads: threads.zip(&conflict.witness.accesses).map(thread).collect(),
        allocation: AllocationJson {
            id,
            name: &allocation.name,
            space: allocation.space.name(),
            bytes: allocation.bytes,
        },
        byte_offset: conflict.witness.byte,
    }
}
