//! What `check` says of a kernel and what a run of it shows are the same.
//!
//! Every CUDA fixture is checked; then each of its kernels is launched, through a launch description and the cpu back
//! end, with its accesses logged:
//!
//! - a `racy` kernel at the witness of each of its races: the log must have a conflict on the same two lines;
//! - a `race-free` kernel in small geometries of its scope, with memory of zeros and of small numbers, under some
//!   [`SCHEDULES`]: no log may have a conflict. Where memory does not matter, each thread must make just the accesses that
//!   raceproof says ([`accesses`]).
//!
//! Fixtures that were changed of late and a part of the others are tried; all in the tier `full`.
//!
//! With `RACEPROOF_BACKEND=cuda scripts/test full execution::runs` all of it is built by nvcc and runs on the GPU of the
//! machine, whose order of threads is its own.
//!
//! `execution/known.txt`, and `known_gpu.txt` for a GPU, list what cannot be run, or differs, with the beginning of the
//! reason as it is found and a comment that explains it; an entry that is no longer true fails. Set `RACEPROOF_FIXTURE` to
//! a part of a path to run only some files.

mod accesses;
mod batch;
mod build;
mod cases;
mod gpu;
mod reproductions;
mod shuffles;

use crate::fixtures::{Fixture, files};
use crate::support::draw::{is_enough, part};
use crate::support::tier::{Tiers, tiers};
use crate::support::tools::has_cxx;
use accesses::Compared;
use build::{Built, Toolchain};
use cases::{Case, Expected, Subject, cases};
use raceproof::calculus::eval::{Blocks, Contents, Setup};
use raceproof::driver::flows::{FileFlows, flows};
use raceproof::driver::parallel::{Input, Unwatched, check_all};
use raceproof::driver::run::heads;
use raceproof::driver::trace::check_log;
use raceproof::memory_model::clocks::Receiving;
use raceproof::trace::check::{Conflict, Options, check};
use raceproof::trace::format::read_log;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// One fixture in as many is run.
const PART: Tiers<usize> = tiers(30, 12, 1);
/// Orders in which threads run, for kernels without a race.
const SCHEDULES: Tiers<u64> = tiers(2, 4, 10);
/// Orders among which a race must show.
const TRIES: u64 = 3;
/// Instructions of a launch in raceproof's own semantics.
const BUDGET: u64 = 2_000_000;
/// Memory for the check of a log.
const MEMORY: u64 = 512 << 20;

/// What was found about one kernel, in words: empty if all agrees.
type Complaints = BTreeMap<(PathBuf, String), String>;

/// A file that was checked, and the program that launches its kernels.
struct Checked<'t> {
    path: PathBuf,
    complaints: Complaints,
    flows: FileFlows,
    cases: Vec<Case>,
    program: Option<Built<'t>>,
}

/// Checks a file, and writes the program that launches its kernels.
fn checked<'t>(path: &Path, toolchain: &'t Toolchain) -> Checked<'t> {
    let mut complaints = Complaints::new();
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let fixture = Fixture::parse(&text).unwrap_or_else(|wrong| panic!("{}: {wrong:?}", path.display()));
    let input = Input::Text(path.to_path_buf(), text.as_bytes().to_vec());
    let report = check_all(&[input], &fixture.options, &Unwatched).report.files.remove(0);
    let flows = flows(path, &text, &fixture.options);
    let heads = heads(path, &text, &fixture.options);
    let mut told = |kernel: &str, what: String| {
        complaints.entry((path.to_path_buf(), kernel.to_owned())).or_insert(what);
    };
    let mut all: Vec<Case> = Vec::new();
    for (report_of, flow) in report.kernels.iter().zip(&flows.kernels) {
        assert_eq!(report_of.name, flow.kernel.name, "{}", path.display());
        let named = |name: &str| name == report_of.name || name.ends_with(&format!("::{}", report_of.name));
        let Some(head) = heads.iter().find(|head| named(&head.name)) else {
            told(&report_of.name, "its head is not found".to_owned());
            continue;
        };
        let line = |finding: &raceproof::diagnostic::report::Finding| {
            let at = |place: &raceproof::diagnostic::report::Place| report.sources.start_position(place.span).line;
            [at(&finding.primary), finding.secondary.as_ref().map_or(0, at)]
        };
        let subject = Subject {
            report: report_of,
            kernel: &flow.kernel,
            head,
            levels: fixture.options.judging.levels,
            line: &line,
        };
        match cases(&subject) {
            Ok(cases) => all.extend(cases),
            Err(why) => told(&report_of.name, why),
        }
    }
    // Those without a race first: a pair of lines is told once for all launches.
    all.sort_by_key(|case| (case.expected != Expected::Nothing, case.may_fail));
    if gpu::is_asked_for() {
        // There it is undefined what becomes of a kernel that does not do what it must.
        all.retain(|case| case.expected != Expected::Nothing || !case.may_fail);
    }
    let cases = toolchain.usable(path, &text, &fixture.options, all, &mut told);
    let built = (!cases.is_empty()).then(|| toolchain.build(path, &text, &fixture.options, &cases)).transpose();
    let program = built.unwrap_or_else(|why| {
        cases.iter().for_each(|case| told(&case.plan.kernel, why.clone()));
        None
    });
    Checked { path: path.to_path_buf(), complaints, flows, cases, program }
}

/// Runs the kernels of a file. Gives the complaints, how many launches agreed, those without a race first, and how many were
/// compared access by access.
fn run(checked: Checked<'_>) -> (Complaints, [usize; 3]) {
    let Checked { path, mut complaints, flows, cases: all, program } = checked;
    let Some(program) = program else { return (complaints, [0; 3]) };
    let mut told = |kernel: &str, what: String| {
        complaints.entry((path.clone(), kernel.to_owned())).or_insert(what);
    };
    if let Err(why) = program.compiles() {
        all.iter().for_each(|case| told(&case.plan.kernel, why.clone()));
        return (complaints, [0; 3]);
    }
    let free = all.iter().filter(|case| case.expected == Expected::Nothing).count();
    let clean = all[..free].iter().filter(|case| !case.may_fail).count();
    let mut groups: Vec<Range<usize>> = (clean..free).map(|number| number..number + 1).collect();
    groups.extend((clean > 0).then_some(0..clean));
    while let Some(group) = groups.pop() {
        for seed in 0..SCHEDULES.current() {
            let wrong = schedule(&program, &all, group.clone(), seed);
            if wrong.is_empty() {
                continue;
            }
            if gpu::is_asked_for() && group.len() > 1 {
                // A kernel that a GPU ends badly takes those behind it along.
                groups.extend(group.map(|number| number..number + 1));
            } else {
                wrong.into_iter().for_each(|(number, what)| told(&all[number].plan.kernel, what));
            }
            break;
        }
    }
    let (different, same) = different(&program, &all[..clean], &flows);
    different.into_iter().for_each(|(number, what)| told(&all[number].plan.kernel, what));
    // The start of a program on a GPU takes longer than most launches: there, all races are tried in one program first.
    let together = if gpu::is_asked_for() { shown(&program, free..all.len(), 0) } else { Vec::new() };
    for (number, case) in all.iter().enumerate().skip(free) {
        let Expected::Conflict(mut lines) = case.expected.clone() else { continue };
        lines.sort_unstable();
        if together.contains(&(number, lines)) {
            continue;
        }
        let mut seen = Vec::new();
        let is_shown = (0..TRIES).any(|seed| {
            seen = shown(&program, number..number + 1, seed);
            seen.contains(&(number, lines))
        });
        if !is_shown {
            let seen: Vec<[u32; 2]> = seen.into_iter().map(|(_, lines)| lines).collect();
            told(&case.plan.kernel, format!("racy on lines {lines:?}, and the run shows conflicts on {seen:?}"));
        }
    }
    (complaints, [free, all.len() - free, same])
}

/// Runs launches of kernels without a race, and gives those that do something else than raceproof says, and the number of
/// those that do the same.
fn different(program: &Built, cases: &[Case], flows: &FileFlows) -> (Vec<(usize, String)>, usize) {
    let (mut different, mut same) = (Vec::new(), 0);
    let ran = program.run(0..cases.len(), 0);
    let Some(log) = File::open(&ran.log).ok().and_then(|file| read_log(file).ok()) else { return (different, same) };
    for ((number, case), &launch) in cases.iter().enumerate().zip(log.launches.keys()) {
        let named = |name: &str| name == case.plan.kernel || case.plan.kernel.ends_with(&format!("::{name}"));
        let mut kernels = flows.kernels.iter().filter(|flow| named(&flow.kernel.name));
        let (Some(params), Some(flow), None) = (&case.params, kernels.next(), kernels.next()) else { continue };
        let (geometry, contents) = (case.plan.geometry, Contents::Unknown);
        let setup = Setup { geometry, params, blocks: Blocks::All, contents, budget: BUDGET };
        let model = (&flow.kernel, &flows.sources);
        match accesses::difference(model, &setup, (&ran.log, &log, launch)) {
            Compared::NotKnown => {}
            Compared::Same => same += 1,
            Compared::Differs(what) => different.push((number, what)),
        }
    }
    (different, same)
}

/// Runs launches, and gives the cases in which there are conflicts, with their lines in order.
fn shown(program: &Built, cases: Range<usize>, seed: u64) -> Vec<(usize, [u32; 2])> {
    let first = cases.start;
    let ran = program.run(cases, seed);
    let Ok(outcome) = check_log(&ran.log, MEMORY, Some(1)) else { return Vec::new() };
    let shown = outcome.conflicts.iter().map(|conflict| {
        let position = outcome.log.launches.keys().position(|&id| id == conflict.witness.launch).unwrap_or(0);
        let mut pair = conflict.sites.map(|site| outcome.log.sites[&site].start.0);
        pair.sort_unstable();
        (first + position, pair)
    });
    shown.collect()
}

/// Runs launches of kernels without a race under one schedule. Gives what is wrong, and in which case.
fn schedule(program: &Built, all: &[Case], group: Range<usize>, seed: u64) -> Vec<(usize, String)> {
    let first = group.start;
    let ran = program.run(group.clone(), seed);
    let mut wrong = ran.unexpected;
    wrong.retain(|(case, _)| !all[*case].may_fail);
    let outcome = match check_log(&ran.log, MEMORY, Some(1)) {
        Ok(outcome) => outcome,
        Err(error) => {
            wrong.push((first, format!("no log: {error}")));
            return wrong;
        }
    };
    let receiving = |conflict: &Conflict| {
        let position = outcome.log.launches.keys().position(|&id| id == conflict.witness.launch).unwrap_or(0);
        (position, all[first + position].receiving)
    };
    // What a proof assumes of draws the check of the log assumes, too.
    let mut conflicts = outcome.conflicts.clone();
    if conflicts.iter().any(|conflict| receiving(conflict).1 == Receiving::Always) {
        let options = Options { memory: MEMORY, jobs: Some(1), receiving: Receiving::Always };
        let other = check(&ran.log, &options).expect("the log was checked before");
        conflicts.retain(|conflict| receiving(conflict).1 == Receiving::InOrder);
        conflicts.extend(other.conflicts.into_iter().filter(|conflict| receiving(conflict).1 == Receiving::Always));
    }
    for conflict in &conflicts {
        let (position, _) = receiving(conflict);
        let lines = conflict.sites.map(|site| outcome.log.sites[&site].start.0);
        wrong.push((first + position, format!("race-free, but the run shows a conflict on lines {lines:?}")));
    }
    if outcome.log.launches.len() != group.len() {
        wrong.push((first, format!("{} launches of {} are in the log", outcome.log.launches.len(), group.len())));
    }
    if let Some(problem) = outcome.log.problems.first().filter(|_| !all[first].may_fail) {
        wrong.push((first, format!("the log is not whole: {problem}")));
    }
    wrong
}

#[test]
fn runs_show_what_check_says_of_every_cuda_fixture() {
    if !has_cxx() {
        return;
    }
    let toolchain = Toolchain::new();
    let is_cuda = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "cu");
    let files: Vec<PathBuf> = files().into_iter().filter(is_cuda).collect();
    let files = part("runs of fixtures", files, PART, |path| path.display().to_string());
    let checked: Vec<Checked<'_>> = files.par_iter().map(|path| checked(path, &toolchain)).collect();
    toolchain.compile_together(&checked.iter().filter_map(|checked| checked.program.as_ref()).collect::<Vec<_>>());
    let outcomes: Vec<_> = checked
        .into_par_iter()
        .map(|checked| {
            let path = checked.path.clone();
            let outcome = run(checked);
            if gpu::is_asked_for() {
                eprintln!("{}: {:?}, {} complaints", path.display(), outcome.1, outcome.0.len());
                outcome.0.iter().for_each(|((_, kernel), what)| eprintln!("  {kernel}: {what}"));
            }
            outcome
        })
        .collect();
    let (mut free, mut racy, mut compared) = (0, 0, 0);
    let mut found = Vec::new();
    for (complaints, [clean, conflicting, same]) in outcomes {
        free += clean;
        racy += conflicting;
        compared += same;
        for ((path, kernel), what) in complaints {
            found.push(format!("{}: {kernel}: {what}", path.display()));
        }
    }
    eprintln!(
        "{free} launches without a race, each under {} schedules, {racy} with one, {compared} access by access",
        SCHEDULES.current()
    );
    if std::env::var_os("RACEPROOF_FIXTURE").is_some() {
        assert!(found.is_empty(), "\n{}", found.join("\n"));
        return;
    }
    let [on_cpu, on_gpu] = [include_str!("execution/known.txt"), include_str!("execution/known_gpu.txt")];
    let known = if gpu::is_asked_for() { on_gpu } else { on_cpu };
    let known = known.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let is_tried = |line: &&str| files.iter().any(|path| line.starts_with(&format!("{}:", path.display())));
    let known: Vec<&str> = known.filter(is_tried).collect();
    let is_known = |line: &str| known.iter().any(|known| line.starts_with(known));
    let new: Vec<&String> = found.iter().filter(|line| !is_known(line)).collect();
    let gone: Vec<&&str> = known.iter().filter(|line| !found.iter().any(|found| found.starts_with(**line))).collect();
    assert!(is_enough(compared, free, 3) || gpu::is_asked_for(), "of {free} launches only {compared} were compared");
    assert!(new.is_empty() && gone.is_empty(), "new:\n{new:#?}\nno longer true:\n{gone:#?}");
}
