//! `amplify`: what one logged run says of all data inputs.
//!
//! Composes what [`run`](super::run) left behind, the check of its log and the [`flows`](super::flows) of the files.

use super::flows::FileFlows;
use super::run::{Ended, Ran};
use crate::amplify::{self, Argument, Conflict, Event, Extent, Launch, Place, Run, Subject};
use crate::trace::check::{Observed, Outcome};
use crate::trace::format::log::Problem;
use crate::trace::format::{Kind, Log};

pub use crate::amplify::{Amplified, Verdict, json, text};

/// Says of every kernel what the run shows. `left_out` is what of device code was not logged, one line each.
pub fn amplified(files: &[FileFlows], left_out: &[String], ran: &Ran, outcome: &Outcome) -> Amplified {
    let run = run(files, left_out, ran, outcome);
    let subjects = files.iter().flat_map(|file| {
        file.kernels.iter().map(|each| Subject {
            kernel: &each.kernel,
            flow: &each.flow,
            sources: &file.sources,
            architecture: file.architecture.as_deref(),
        })
    });
    amplify::amplify(&run, &subjects.collect::<Vec<_>>())
}

fn run(files: &[FileFlows], left_out: &[String], ran: &Ran, outcome: &Outcome) -> Run {
    let log = &outcome.log;
    let mut problems: Vec<String> = log.problems.iter().map(ToString::to_string).collect();
    problems.extend(match ran.ended {
        Ended::Exited(_) => None,
        Ended::Signalled(signal) => Some(format!("the program was ended by signal {signal}")),
        Ended::TimedOut => Some("the program was ended because its time was up".to_owned()),
    });
    let told = ran.told.iter().map(|told| match &told.place {
        Some(place) => format!("{place}: {}", told.message),
        None => told.message.clone(),
    });
    // Whose kernel met it does not always show; then it counts against all.
    let events = told.chain(left_out.iter().cloned()).map(|text| Event { kernel: kernel_in(files, &text), text });
    Run {
        back_end: ran.back_end.to_owned(),
        problems,
        launches: log.launches.values().map(|logged| launch(log, logged)).collect(),
        conflicts: outcome.conflicts.iter().filter_map(|each| conflict(log, each)).collect(),
        events: events.collect(),
    }
}

/// The kernel whose name a line ends with, or has before a colon: "… in k", "… in k: …".
fn kernel_in(files: &[FileFlows], line: &str) -> String {
    let named = |name: &str| line.ends_with(&format!(" in {name}")) || line.contains(&format!(" in {name}: "));
    let kernels = files.iter().flat_map(|file| file.kernels.iter().map(|each| each.kernel.name.as_str()));
    kernels.into_iter().find(|name| named(name)).unwrap_or_default().to_owned()
}

fn launch(log: &Log, logged: &crate::trace::format::Launch) -> Launch {
    let arguments = logged.arguments.iter().map(|(name, value)| (name.clone(), Argument::parse(value))).collect();
    Launch {
        kernel: logged.kernel.clone(),
        grid: logged.grid,
        block: logged.block,
        dynamic_shared: logged.dynamic_shared,
        arguments,
        extent: if logged.finished.is_some() && ends_early(log) { Extent::Whole } else { Extent::Unknown },
    }
}

/// Whether all that is wrong with a log is that it has no end: what lies before is whole. Chunks that are damaged within
/// it are missing, too.
fn ends_early(log: &Log) -> bool {
    let is_end =
        |problem: &Problem| matches!(problem, Problem::CutOff | Problem::Unfinished { .. } | Problem::Damage { .. });
    log.problems.iter().all(is_end)
}

fn conflict(log: &Log, found: &crate::trace::check::Conflict) -> Option<Conflict> {
    let [first, second] = found.witness.accesses;
    Some(Conflict {
        launch: log.launches.keys().position(|&id| id == found.witness.launch)?,
        places: [place(log, &first), place(log, &second)],
        threads: [first, second].map(|access| (access.block, access.thread)),
        bytes: found.bytes,
    })
}

fn place(log: &Log, observed: &Observed) -> Place {
    let access = match observed.kind {
        Kind::Read => "read",
        Kind::Write => "write",
        _ => "atomic",
    };
    let site = log.sites.get(&observed.site);
    let (line, column) = site.map_or((0, 0), |site| site.start);
    Place {
        path: site.map_or_else(|| format!("site {}", observed.site), |site| site.path.clone()),
        line,
        column,
        access: access.to_owned(),
        array: site.map_or_else(String::new, |site| site.array.clone()),
    }
}
