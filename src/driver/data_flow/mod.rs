//! `cover --data-flow`: which accesses a run makes, and which of its loads read what which of its stores left.
//!
//! A logged run says what happened ([`trace::pairs`](crate::trace::pairs)), the model of each kernel what could
//! ([`foreseen`]); both meet at the places of the text. What happened and was not foreseen counts as well.
//!
//! An access is one of those that count if the model has it as one to shared or global memory, or if a run made it as such. Sites
//! that are neither lead to memory of one thread; or they stand in code that the model has not, which is noted.
//!
//! Deliberately absent: constant memory, images and textures, which kernels do not write; and what is not logged.

mod foreseen;
mod sites;

use super::Options;
use super::hosted::{HostText, Hosted};
use super::run::Built;
use crate::coverage::data_flow::{Access, Interval, Pair, Unordered};
use crate::source::Language;
use crate::trace::pairs::{self, Accesses, HostWrite, Outcome, pairs};
use sites::{Sites, Subject};
use std::path::Path;

pub use crate::coverage::data_flow::DataFlow;
pub use crate::trace::pairs::PairsError;

/// Memory for last writers.
const MEMORY: u64 = 512 << 20;

/// What the last run of a program shows, which was logged at `log`.
pub fn data_flow(built: &Built, options: &Options, log: &Path) -> Result<DataFlow, PairsError> {
    let subject = |file| Subject { file, options, language: Language::Cuda };
    let subjects: Vec<Subject<'_>> = built.instrumented_files().iter().map(subject).collect();
    let host = built.program().map(crate::execute::program::Program::host_writes).unwrap_or_default();
    composed(&subjects, &built.left_out, (log, &host))
}

/// The same of an OpenCL program.
pub fn data_flow_of(hosted: &Hosted) -> Result<DataFlow, PairsError> {
    let subjects: Vec<Subject<'_>> = hosted
        .texts
        .iter()
        .map(|HostText { file, options, .. }| Subject { file, options, language: Language::OpenCl })
        .collect();
    let mut flow = composed(&subjects, &hosted.left_out, (&hosted.log, &hosted.host_writes))?;
    if hosted.unlogged > 0 {
        flow.notes.push("not all launches are logged: what the others access is not known".to_owned());
    }
    Ok(flow)
}

fn composed(
    subjects: &[Subject<'_>],
    left_out: &[String],
    (log, host): (&Path, &[HostWrite]),
) -> Result<DataFlow, PairsError> {
    // A program that launches nothing leaves no log.
    let outcome = if log.exists() { pairs(log, host, MEMORY)? } else { Outcome::default() };
    let sites = Sites::of(subjects);
    let foreseen = foreseen::foreseen(subjects, &sites, (&outcome.log, host));
    let mut flow = seen(&sites, &outcome);
    flow.accesses.extend(foreseen.accesses.iter().map(|&site| access(site, &Accesses::default(), &sites)));
    flow.pairs.extend(foreseen.pairs.into_iter().map(|(store, load, way)| {
        let language = sites.language_of_site(load);
        let (store, load) = (sites.place_of_site(store), sites.place_of_site(load));
        Pair { store, load, language, way, bytes: 0, foreseen: true }
    }));
    flow.notes.extend(foreseen.notes);
    flow.notes.extend(left_out.iter().cloned());
    Ok(DataFlow::of([flow]))
}

/// What the run shows.
fn seen(sites: &Sites, outcome: &Outcome) -> DataFlow {
    let known = |site: u32| sites.knows_site(site as usize);
    let accesses = outcome.accesses.iter().filter(|(site, _)| known(**site));
    let accesses = accesses.map(|(&site, did)| access(site as usize, did, sites)).collect();
    let pairs = outcome.pairs.iter().filter(|((store, load, _), _)| known(*store) && known(*load));
    let pairs = pairs.map(|(&(store, load, way), &bytes)| {
        let (store, load) = (store as usize, load as usize);
        let language = sites.language_of_site(load);
        Pair {
            store: sites.place_of_site(store),
            load: sites.place_of_site(load),
            language,
            way,
            bytes,
            foreseen: false,
        }
    });
    let unordered = outcome.unordered.iter().filter(|((store, load), _)| known(*store) && known(*load));
    let unordered = unordered.map(|(&(store, load), &bytes)| {
        let (store, load) = (store as usize, load as usize);
        Unordered {
            store: sites.place_of_site(store),
            load: sites.place_of_site(load),
            language: sites.language_of_site(load),
            bytes,
        }
    });
    DataFlow { accesses, pairs: pairs.collect(), unordered: unordered.collect(), notes: outcome.problems.clone() }
}

/// What a site did, as reports have it.
fn access(site: usize, did: &Accesses, sites: &Sites) -> Access {
    let interval = |barriers, of: &pairs::Interval| Interval {
        barriers,
        times: of.times,
        by_one: of.by_one,
        by_several: of.by_several,
    };
    let further = (did.further.times > 0).then(|| interval(None, &did.further));
    let intervals = did.intervals.iter().map(|(&barriers, of)| interval(Some(barriers), of)).chain(further);
    Access {
        place: sites.place_of_site(site),
        language: sites.language_of_site(site),
        access: sites.kind_of_site(site).word().to_owned(),
        reads: did.reads,
        writes: did.writes,
        distinct_intervals: did.distinct(),
        intervals: intervals.collect(),
    }
}
