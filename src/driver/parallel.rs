//! Checks many files at once: one answer, in the order of the inputs, whatever the number of threads.
//!
//! Every file runs on a worker with a large stack and in isolation: a file that cannot be read and a file on
//! which raceproof itself fails become [`Problem`]s, and all other files keep their verdicts; where it ends the program,
//! [`super::crash`] begins anew without that file.
//!
//! What earlier runs have found, and what has not changed since, is not found again ([`super::cache`]).
//!
//! Where they hold more memory than the run may ([`memory`]), the one that holds most is left, and checked by itself at the end.
//!
//! Deliberately absent: what happens to one file ([`super::check_source`]) and how progress looks ([`Progress`]).

use super::cache::Cache;
use super::crash;
use super::isolate::{Panic, isolated};
use super::memo::Memo;
use super::options::{Contracts, Hints, Launches, Levels, OpenContracts, Options, Part, Settings};
use super::pictured::Pictured;
use super::repeats;
use super::reproduce::Drafted;
use super::units::Units;
use super::{Checked, check_source_of_many, language_of};
use crate::children;
use crate::diagnostic::report::{FileReport, Front, Parse, Report};
use crate::diagnostic::{Diagnostic, Label, RuleId, Severity};
use crate::preprocess::normalized;
use crate::source::dependencies::{at_work, recording, working_for};
pub use crate::source::disk::{Unread, decode, read_source as read};
use crate::source::{SourceMap, Span};
use crate::suppress::baseline::Baseline;
use crate::suppress::rules::RuleSettings;
use crate::suppress::{self, Judged};
use crate::work::Spent;
use crate::work::memory::{self, SetAside, TooMuch};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Stack of a worker. Passes bound their depth; this is what their bounds are made for.
pub const STACK_BYTES: usize = 64 << 20;

/// How long nobody looks whether the run is to end.
const LOOK: Duration = Duration::from_millis(20);

/// One thing to check.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file on disk.
    File(PathBuf),
    /// Text that is already here (standard input), under the path that the user gave it.
    Text(PathBuf, Vec<u8>),
}

/// What a run gave.
#[derive(Debug, Default)]
pub struct Run {
    /// The verdicts; a file with a problem is listed without kernels.
    pub report: Report,
    /// What went wrong outside the source text, in the order of the inputs.
    pub problems: Vec<Problem>,
    /// Inputs that were left out because [`Progress::stops`] said so.
    pub unfinished: usize,
    /// Programs that show races, if they were asked for: those of each file of the report.
    pub drafts: Vec<Vec<Drafted>>,
    /// What there is to see of each kernel, if that was asked for: those of each file of the report.
    pub pictured: Vec<Vec<Pictured>>,
}

/// What can go wrong outside the source text.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The file could not be read.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// What is stated of a kernel, or given for a parameter of it, does not fit it.
    #[error("{0}")]
    Misfit(String),
    /// Reading the file takes more memory than the run may have.
    #[error("cannot check {}: {too_much} (--memory allows more)", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// What it wanted.
        too_much: TooMuch,
    },
    /// raceproof failed.
    #[error("bug in raceproof while checking {}: {message}; please report it with the file", path.display())]
    Bug {
        /// The file.
        path: PathBuf,
        /// The panic's message and place.
        message: String,
    },
}

/// Someone who wants to know how far a run has come, and who may end it. Called from many threads.
pub trait Progress: Sync {
    /// `path` is done.
    fn done(&self, path: &Path);

    /// Whether the run is to end: no further input is begun, and one that was under way is left out.
    fn stops(&self) -> bool {
        false
    }
}

/// Nobody watches.
pub struct Unwatched;

impl Progress for Unwatched {
    fn done(&self, _path: &Path) {}
}

/// What the files of a run share.
struct Shared {
    /// What is known of kernels, where there are several files that may have the same.
    memo: Option<Memo>,
    units: Units,
    cache: Option<Cache>,
}

impl Shared {
    fn of(inputs: &[(usize, Input)], options: &Options) -> Shared {
        let files: Vec<&Path> = match options.workload.part.of() {
            Some(all) => all.iter().map(PathBuf::as_path).collect(),
            None => inputs.iter().filter_map(|(_, input)| input.on_disk()).collect(),
        };
        let is_alone = files.len().max(inputs.len()) <= 1 || inputs.is_empty();
        Shared {
            memo: (!is_alone).then(Memo::default),
            units: if is_alone { Units::default() } else { Units::of(&files, options) },
            cache: Cache::of(options),
        }
    }
}

/// Checks all inputs; results stand in the order of the inputs. Any worker may take any one of them (`with_max_len`):
/// in longer pieces, a few costly files leave the other workers idle at the end.
pub fn check_all(inputs: &[Input], options: &Options, progress: &dyn Progress) -> Run {
    let inputs = numbered(inputs.to_vec());
    let outcomes = Mutex::new(Vec::from_iter(inputs.iter().map(|_| None)));
    check_each(&inputs, options, progress, &outcomes);
    gathered(vec![Share { inputs: positions(&inputs), outcomes: taken(&outcomes), telling: Telling::of(options) }])
}

/// Inputs of a run that are checked with options of their own, each with its position in the run.
pub struct Group {
    /// The inputs.
    pub inputs: Vec<(usize, Input)>,
    /// The options.
    pub options: Options,
}

/// Checks the groups of a run one after the other, as [`check_until`] does.
pub fn check_groups(groups: Vec<Group>, progress: &Arc<dyn Progress + Send>) -> Run {
    let parts = groups.into_iter().map(|Group { inputs, options }| {
        let (inputs_of, telling) = (positions(&inputs), Telling::of(&options));
        Share { inputs: inputs_of, outcomes: outcomes_until(inputs, options, Arc::clone(progress)), telling }
    });
    gathered(parts.collect())
}

fn numbered(inputs: Vec<Input>) -> Vec<(usize, Input)> {
    inputs.into_iter().enumerate().collect()
}

fn positions(inputs: &[(usize, Input)]) -> Vec<usize> {
    inputs.iter().map(|(position, _)| *position).collect()
}

/// The same for inputs that are checked with different options.
pub fn check_all_groups(groups: Vec<Group>, progress: &dyn Progress) -> Run {
    let parts = groups.into_iter().map(|Group { inputs, options }| {
        let outcomes = Mutex::new(Vec::from_iter(inputs.iter().map(|_| None)));
        check_each(&inputs, &options, progress, &outcomes);
        Share { inputs: positions(&inputs), outcomes: taken(&outcomes), telling: Telling::of(&options) }
    });
    gathered(parts.collect())
}

/// The same on threads of their own, which are left to themselves once [`Progress::stops`] says so: the inputs that are done by
/// then are told within moments, however long others take. No child process can be started after that ([`children`]); whoever
/// asked is expected to end this one.
pub fn check_until(inputs: Vec<Input>, options: Options, progress: Arc<dyn Progress + Send>) -> Run {
    check_groups(vec![Group { inputs: numbered(inputs), options }], &progress)
}

fn outcomes_until(
    inputs: Vec<(usize, Input)>,
    options: Options,
    progress: Arc<dyn Progress + Send>,
) -> Vec<Option<Outcome>> {
    let outcomes = Arc::new(Mutex::new(Vec::from_iter(inputs.iter().map(|_| None))));
    let (end, ended) = mpsc::channel::<()>();
    let work = {
        let (outcomes, progress) = (Arc::clone(&outcomes), Arc::clone(&progress));
        move || {
            check_each(&inputs, &options, &*progress, &outcomes);
            drop(end);
        }
    };
    let worker = thread::Builder::new().name("check".to_owned()).stack_size(STACK_BYTES).spawn(work);
    let worker = worker.expect("the system can start a thread");
    while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if progress.stops() {
            children::end_all();
            return taken(&outcomes);
        }
    }
    if let Err(panic) = worker.join() {
        resume_unwind(panic);
    }
    taken(&outcomes)
}

type Outcomes = Mutex<Vec<Option<Outcome>>>;

fn check_each(inputs: &[(usize, Input)], options: &Options, progress: &dyn Progress, outcomes: &Outcomes) {
    memory::bounded(options.workload.memory);
    let mut shared = Shared::of(inputs, options);
    let check = |(place, (position, input)): (usize, &(usize, Input)), shared: &Shared| {
        let outcome = crash::working_at(*position, || check_one((*position, input), options, shared, progress));
        // Who was left to itself has no place any more.
        if let Some(known) = outcomes.lock().unwrap_or_else(PoisonError::into_inner).get_mut(place) {
            *known = outcome;
        }
    };
    let set_aside = Mutex::new(BTreeSet::new());
    on_workers(options.workload.jobs, || {
        inputs.par_iter().enumerate().with_max_len(1).for_each(|(place, input)| {
            if let Err(SetAside) = memory::task(|| check((place, input), &shared)) {
                set_aside.lock().unwrap_or_else(PoisonError::into_inner).insert(place);
            }
        });
    });
    let set_aside = set_aside.into_inner().unwrap_or_else(PoisonError::into_inner);
    if set_aside.is_empty() {
        return;
    }
    // One after the other, and with nothing in memory that only saves work.
    shared.memo = None;
    on_workers(Some(1), || {
        memory::alone(|| {
            for place in set_aside {
                let alone = memory::task(|| check((place, &inputs[place]), &shared));
                debug_assert!(alone.is_ok(), "nothing else is under way");
            }
        });
    });
}

/// What is done by now.
fn taken(outcomes: &Outcomes) -> Vec<Option<Outcome>> {
    std::mem::take(&mut *outcomes.lock().unwrap_or_else(PoisonError::into_inner))
}

/// How what was found is told.
struct Telling {
    repeats: Repeats,
    /// Of which comments it can be said that they suppress nothing.
    judged: Judged,
    /// Findings that are known already.
    baseline: Option<Arc<Baseline>>,
    /// What settings make of rules.
    rules: Arc<RuleSettings>,
}

/// Whether findings that several kernels have are told once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeats {
    /// They are.
    Once,
    /// Each stays where it was found: which is the first one is known when all parts of the run are there.
    WhereFound,
}

impl Telling {
    fn of(options: &Options) -> Telling {
        let is_shard = matches!(options.workload.part, Part::Shard(_));
        let repeats = if is_shard { Repeats::WhereFound } else { Repeats::Once };
        let (baseline, rules) = (options.telling.baseline.clone(), Arc::clone(&options.telling.rules));
        Telling { repeats, judged: judged(options), baseline, rules }
    }
}

/// How much of what was to be checked a report has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// All of it.
    Whole,
    /// A part.
    Part,
}

/// Makes of what was found in files, of which none is left out, what a run over them tells.
pub(super) fn tell(report: &mut Report, options: &Options) {
    let of_parts = vec![0; report.files.len()];
    tell_of_parts(report, (&[Telling::of(options)], &of_parts), Extent::Whole);
}

/// Of which comments it can be said that they suppress nothing: of none where a part of the files was left out.
fn judged(options: &Options) -> Judged {
    let part = options.workload.part.of();
    let is_whole = matches!(options.workload.part, Part::All | Part::Group(_));
    let rules = if is_whole { sought(options) } else { BTreeSet::new() };
    let elsewhere = part.unwrap_or_default().iter().map(|path| normalized(path)).collect();
    Judged { rules, elsewhere }
}

/// The rules of which all findings are made that there are in the files that are checked; none where kernels, launches or levels
/// are left out.
pub fn sought(options: &Options) -> BTreeSet<RuleId> {
    let Settings { block, grid, params, levels, launches, lockstep, .. } = &options.judging;
    let Contracts { stated, by_name, logged, told: _, open } = &options.contracts;
    let is_whole = options.kernels.is_empty()
        && [block, grid].into_iter().flatten().all(Option::is_none)
        && params.is_empty()
        && matches!(levels, Levels::All)
        && matches!(launches, Launches::OfContracts)
        && lockstep.is_none()
        && stated.is_none()
        && by_name.0.is_empty()
        && logged.is_none();
    let is_sought = |rule: &RuleId| match rule {
        RuleId::RedundantBarrier => options.hints == Hints::Give,
        RuleId::OpenContract => *open == OpenContracts::AsFindings,
        _ => true,
    };
    RuleId::ALL.into_iter().filter(|rule| is_whole && is_sought(rule)).collect()
}

/// What came of some inputs of a run, and how it is told.
struct Share {
    /// The positions of the inputs.
    inputs: Vec<usize>,
    outcomes: Vec<Option<Outcome>>,
    telling: Telling,
}

fn gathered(parts: Vec<Share>) -> Run {
    let mut run = Run::default();
    let mut tellings = Vec::new();
    let mut done: Vec<(usize, usize, Outcome)> = Vec::new();
    for (number, Share { inputs, outcomes, telling }) in parts.into_iter().enumerate() {
        for (position, outcome) in inputs.into_iter().zip(outcomes) {
            match outcome {
                Some(outcome) => done.push((position, number, outcome)),
                None => run.unfinished += 1,
            }
        }
        tellings.push(telling);
    }
    done.sort_by_key(|(position, ..)| *position);
    let mut of_parts = Vec::new();
    for (_, part, outcome) in done {
        run.report.files.push(outcome.file);
        // A kernel in a header is met in several units.
        let is_new = |problem: &Problem, known: &[Problem]| match problem {
            Problem::Misfit(it) => !known.iter().any(|other| matches!(other, Problem::Misfit(other) if other == it)),
            Problem::Unreadable { .. } | Problem::TooLarge { .. } | Problem::Bug { .. } => true,
        };
        for problem in outcome.problems {
            if is_new(&problem, &run.problems) {
                run.problems.push(problem);
            }
        }
        run.drafts.push(outcome.drafts);
        run.pictured.push(outcome.pictured);
        of_parts.push(part);
    }
    // What was not checked, or not read, may hold what a comment suppresses.
    let is_whole = run.unfinished == 0 && run.problems.is_empty();
    let extent = if is_whole { Extent::Whole } else { Extent::Part };
    tell_of_parts(&mut run.report, (&tellings, &of_parts), extent);
    run
}

/// Decides what is told of each file, which is of that part of the run.
fn tell_of_parts(report: &mut Report, (tellings, of_parts): (&[Telling], &[usize]), extent: Extent) {
    let Some(first) = tellings.first() else { return };
    suppress::hide(report);
    // What one part does not look for may be in it.
    let is_sought =
        |rule: &RuleId| extent == Extent::Whole && tellings.iter().all(|telling| telling.judged.rules.contains(rule));
    let rules = RuleId::ALL.into_iter().filter(is_sought).collect();
    let elsewhere = if tellings.len() > 1 { BTreeSet::new() } else { first.judged.elsewhere.clone() };
    suppress::tell(report, &Judged { rules, elsewhere });
    for (file, &part) in report.files.iter_mut().zip(of_parts) {
        tellings[part].rules.apply(file);
    }
    if let Some(baseline) = &first.baseline {
        baseline.hide(report);
    }
    if first.repeats == Repeats::Once {
        repeats::tell_once(report);
    }
}

/// What `work` makes of each item, in their order: on the workers of the run, or on this thread if it is none of them
/// and its stack may be small. Files differ much in what they cost; their parts keep all workers busy to the end.
pub(super) fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    match rayon::current_thread_index() {
        Some(_) => {
            let (position, recorder, task) = (crash::at_work(), at_work(), memory::at_work());
            let work = |item| memory::working_for(task, || crash::working_at(position, || work(item)));
            let work = |item| working_for(recorder.clone(), || work(item));
            items.par_iter().with_max_len(1).map(work).collect()
        }
        None => items.iter().map(work).collect(),
    }
}

/// Runs `work` on workers with a large stack.
pub fn on_workers<T: Send>(jobs: Option<usize>, work: impl FnOnce() -> T + Send) -> T {
    let available = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(available.max(1))
        .stack_size(STACK_BYTES)
        .start_handler(|_| crash::prepare_thread())
        .build()
        .expect("the system can start worker threads");
    pool.install(work)
}

/// What came of one input.
struct Outcome {
    file: FileReport,
    /// Whether no kernel was left for want of memory.
    is_whole: bool,
    problems: Vec<Problem>,
    drafts: Vec<Drafted>,
    pictured: Vec<Pictured>,
}

impl Outcome {
    fn without_evidence(file: FileReport, problems: Vec<Problem>) -> Outcome {
        Outcome { file, is_whole: true, problems, drafts: Vec::new(), pictured: Vec::new() }
    }

    fn unread(path: &Path, options: &Options, problem: Problem) -> Outcome {
        Outcome::without_evidence(unread(path, options), vec![problem])
    }
}

fn check_one(
    (position, input): (usize, &Input),
    options: &Options,
    shared: &Shared,
    progress: &dyn Progress,
) -> Option<Outcome> {
    if progress.stops() {
        return None;
    }
    let path = input.path();
    let cache = shared.cache.as_ref().filter(|_| input.on_disk().is_some() && !crash::is_lost(position));
    let kept = cache.and_then(|cache| cache.look_up(path, &shared.units));
    let outcome = match kept {
        Some(file) => Outcome::without_evidence(file, Vec::new()),
        None => {
            let (outcome, dependencies) = recording(|| found((position, input), options, shared));
            // Of what was under way when the run was ended, parts may be missing.
            let is_whole = outcome.is_whole && outcome.problems.is_empty() && !progress.stops();
            if let Some(cache) = cache.filter(|_| is_whole) {
                cache.keep(path, &outcome.file, dependencies);
            }
            outcome
        }
    };
    progress.done(path);
    (!progress.stops()).then_some(outcome)
}

/// What comes of an input.
fn found((position, input): (usize, &Input), options: &Options, shared: &Shared) -> Outcome {
    let path = input.path();
    let bug = |message| Problem::Bug { path: path.to_path_buf(), message };
    match input.bytes() {
        _ if crash::is_lost(position) => Outcome::unread(path, options, bug(crash::MESSAGE.to_owned())),
        Err(cause) => {
            Outcome::unread(path, options, Problem::Unreadable { path: path.to_path_buf(), cause: cause.to_string() })
        }
        Ok(bytes) => match isolated(|| {
            crash::overflow_if_planted(path);
            check_bytes(path, &bytes, options, shared)
        }) {
            Ok(Checked { report, bugs, is_whole, drafts, pictured, misfits, .. }) => {
                let misfits = misfits.into_iter().map(Problem::Misfit);
                let problems = bugs.into_iter().map(bug).chain(misfits).collect();
                Outcome { file: report, is_whole, problems, drafts, pictured }
            }
            Err(Panic::Bug(message)) => Outcome::unread(path, options, bug(message)),
            Err(Panic::TooMuch(too_much)) => {
                Outcome::unread(path, options, Problem::TooLarge { path: path.to_path_buf(), too_much })
            }
        },
    }
}

fn check_bytes(path: &Path, bytes: &[u8], options: &Options, shared: &Shared) -> Checked {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return check_in_context(path, text, options, shared),
        Err(error) => error,
    };
    let mut checked = check_in_context(path, &decode(bytes), options, shared);
    checked.report.diagnostics.extend(not_utf8(&checked.report.sources, error.valid_up_to()));
    checked
}

/// Checks a file by itself and, where that leaves something unknown, in the units of the run that include it.
fn check_in_context(path: &Path, text: &str, options: &Options, shared: &Shared) -> Checked {
    let memo = shared.memo.as_ref();
    let own = check_source_of_many(path, text, options, memo, None);
    shared.units.in_context(own, |unit, text| check_source_of_many(unit, text, options, memo, Some(path)))
}

/// Comments in an old encoding are common and harmless; in code, the `?` is a syntax error of its own.
fn not_utf8(sources: &SourceMap, first: usize) -> Option<Diagnostic> {
    let (main, _) = sources.files().next()?;
    Some(Diagnostic {
        rule: RuleId::Parse,
        severity: Severity::Note,
        message: "the file is not UTF-8; each byte that is not was read as `?`".into(),
        primary: Label { span: Span::new(main, first, first + 1), text: "first such byte".into() },
        secondary: Vec::new(),
        notes: vec!["save the file as UTF-8".into()],
        fix: None,
        hidden: None,
    })
}

/// The entry of a file without an answer: it is listed, and it is not `ok`.
fn unread(path: &Path, options: &Options) -> FileReport {
    let mut sources = SourceMap::new();
    sources.add_file(path, "");
    FileReport {
        path: path.to_path_buf(),
        language: language_of(path, options),
        front: Front::TreeSitter,
        parse: Parse::Failed,
        kernels: Vec::new(),
        diagnostics: Vec::new(),
        comments: Vec::new(),
        unasked: Vec::new(),
        spent: Spent::default(),
        sources,
    }
}

impl Input {
    /// The path under which results are shown.
    pub fn path(&self) -> &Path {
        match self {
            Input::File(path) | Input::Text(path, _) => path,
        }
    }

    fn on_disk(&self) -> Option<&Path> {
        match self {
            Input::File(path) => Some(path),
            Input::Text(..) => None,
        }
    }

    fn bytes(&self) -> Result<Cow<'_, [u8]>, Unread> {
        match self {
            Input::Text(_, bytes) => Ok(Cow::Borrowed(bytes)),
            Input::File(path) => read(path).map(Cow::Owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_file_is_a_problem_and_the_others_keep_their_place() {
        let inputs = [
            Input::Text("b.cu".into(), b"int x;".to_vec()),
            Input::File("no/such/file.cu".into()),
            Input::Text("a.cl".into(), Vec::new()),
        ];
        let run = check_all(&inputs, &Options::default(), &Unwatched);
        let paths: Vec<_> = run.report.files.iter().map(|file| file.path.to_str().unwrap()).collect();
        assert_eq!(paths, ["b.cu", "no/such/file.cu", "a.cl"]);
        assert!(matches!(&run.problems[..], [Problem::Unreadable { path, .. }] if path.ends_with("file.cu")));
        assert_eq!(run.report.files[1].parse, Parse::Failed);
    }
}
