//! Why a schedule makes a difference: the bytes of memory that differ first, and the accesses that conflict.
//!
//! Both are asked of further runs of the same schedule, which are equal to those before: one that leaves the bytes of an
//! allocation behind, and one that is logged.

use super::{Campaign, ScheduleError};
use crate::driver::trace::check_log;
use crate::execute::scheduled::{Scheduled, Wanted};
use crate::schedule::Schedule;
use crate::schedule::report::{Access, Conflict};
use crate::trace::check::Observed;
use crate::trace::format::{Kind, Log};
use std::fs;

/// Memory that the check of a log may take.
const MEMORY: u64 = 512 << 20;

/// So many conflicts are told.
const MOST: usize = 3;

/// What differs in memory, in words.
pub(super) fn memory(
    campaign: &Campaign<'_>,
    schedule: &Schedule,
    run: &Scheduled,
    (launch, allocation): (u64, u64),
) -> Result<String, ScheduleError> {
    let wanted = Wanted::Memory { launch, allocation };
    let mut held = Vec::new();
    for (of, name) in [(&Schedule::default(), "memory-was"), (schedule, "memory-is")] {
        campaign.run(of, wanted, name)?;
        held.push(fs::read(campaign.directory(name).join("memory")).unwrap_or_default());
    }
    let (was, is) = (&held[0], &held[1]);
    let known = run.launches.iter().find(|other| other.number == launch);
    let kernel = known.map_or_else(String::new, |launch| launch.kernel.clone());
    let name = known.and_then(|launch| launch.memory.get(&allocation)).map(|contents| contents.name.clone());
    let argument = known.and_then(|launch| pointing(&launch.arguments, allocation));
    let which = match (name.filter(|name| !name.is_empty()), argument) {
        (Some(name), _) => format!("`{name}`"),
        (None, Some(argument)) => format!("what `{argument}` points into"),
        (None, None) => format!("allocation {allocation}"),
    };
    let differing = was.iter().zip(is).filter(|(was, is)| was != is).count();
    let first = was.iter().zip(is).position(|(was, is)| was != is);
    let bytes = first.map_or_else(String::new, |first| {
        format!(": {differing} of its {} bytes, the first of them byte {first}", was.len())
    });
    Ok(format!("behind launch {launch}, of {kernel}, {which} holds something else{bytes}"))
}

/// The parameter that points into an allocation.
fn pointing(arguments: &str, allocation: u64) -> Option<String> {
    let pointer = format!("@{allocation}+");
    let pairs = arguments.split(';').filter_map(|argument| argument.split_once('='));
    pairs.into_iter().find(|(_, value)| value.starts_with(&pointer)).map(|(name, _)| name.to_owned())
}

/// What a log says of a difference.
pub(super) struct Explained {
    pub(super) conflicts: Vec<Conflict>,
    /// Why it says nothing, if that is not because there is nothing to say.
    pub(super) unlogged: Option<String>,
}

/// Accesses that conflict in a run that is logged, of the schedule where the subject can log it: in the kernel that it is about, of the
/// launch that differs first, if any do there; those at change points before others. Or why no log says which do.
pub(super) fn conflicts(
    campaign: &Campaign<'_>,
    schedule: &Schedule,
    (launch, kernel): (Option<u64>, &str),
    run: &Scheduled,
) -> Result<Explained, ScheduleError> {
    let trial = campaign.trial(schedule, Wanted::Log, "logged");
    let incomplete = campaign.subject.run_logged(&trial, campaign.stop)?;
    let Ok(outcome) = check_log(&trial.directory.join("run.trace"), MEMORY, Some(1)) else {
        return Ok(Explained { conflicts: Vec::new(), unlogged: incomplete });
    };
    let changed: Vec<usize> = run.done.iter().filter_map(|done| done.site).collect();
    let mut found: Vec<(bool, bool, Conflict)> = Vec::new();
    for conflict in &outcome.conflicts {
        let of = outcome.log.launches.get(&conflict.witness.launch);
        if of.is_some_and(|of| !kernel.is_empty() && of.kernel != kernel) {
            continue;
        }
        // Logs count launches from 0.
        let is_there = launch == Some(u64::from(conflict.witness.launch) + 1);
        let is_changed = conflict.sites.iter().any(|&site| changed.contains(&(site as usize)));
        let [Some(first), Some(second)] =
            conflict.witness.accesses.map(|access| told(&access, conflict.witness.launch, &outcome.log))
        else {
            continue;
        };
        let array = outcome.log.sites.get(&conflict.sites[0]).map(|site| site.array.clone()).unwrap_or_default();
        let text = format!("conflict on {array}: nothing orders these two accesses to byte {}", conflict.witness.byte);
        found.push((!is_there, !is_changed, Conflict { text, accesses: [first, second] }));
    }
    found.sort_by_key(|(elsewhere, unchanged, _)| (*elsewhere, *unchanged));
    let is_some_there = found.iter().any(|(elsewhere, ..)| !elsewhere);
    let told = found.into_iter().filter(|(elsewhere, ..)| !(is_some_there && *elsewhere));
    let conflicts: Vec<Conflict> = told.take(MOST).map(|(.., conflict)| conflict).collect();
    let unlogged = incomplete.filter(|_| conflicts.is_empty());
    Ok(Explained { conflicts, unlogged })
}

fn told(access: &Observed, launch: u32, log: &Log) -> Option<Access> {
    let site = log.sites.get(&access.site)?;
    let launch = log.launches.get(&launch)?;
    let at = |linear: u64, extents: [u32; 3]| {
        let [x, y] = [extents[0], extents[1]].map(|extent| u64::from(extent.max(1)));
        [linear % x, linear / x % y, linear / x / y].map(|coordinate| u32::try_from(coordinate).unwrap_or(u32::MAX))
    };
    let does = match access.kind {
        Kind::Read => "read",
        Kind::Write => "write",
        kind if kind.only_reads() => "atomic read",
        _ => "atomic update",
    };
    Some(Access {
        place: format!("{}:{}:{}", site.path, site.start.0, site.start.1),
        does: does.to_owned(),
        thread: at(u64::from(access.thread), launch.block),
        block: at(access.block, launch.grid),
    })
}
