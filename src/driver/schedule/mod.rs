//! `schedule`: a program under many schedules, all of one build, and what depends on them.
//!
//! A CUDA program is built once ([`Logging::Scheduled`](crate::execute::program::Logging)); an OpenCL program runs as it is, and its kernels are
//! given their ids ([`subject`]). Each run is told its schedule. In this order:
//!
//! 1. The baseline runs twice: what it gives is what others are held against ([`measure`]), and what it shows decides which schedules are tried
//!    ([`crate::schedule::chosen`]).
//! 2. The schedules run, several at once.
//! 3. Of those that differ in the same way one is made as small as it can be ([`crate::schedule::smallest`]), and told
//!    in words with places ([`words`]), with the memory that differs first and with accesses that conflict when it is logged ([`explained`]).
//!
//! Guarantees: a schedule that is told was run, and gave what is said; equal programs, arguments and seeds give equal
//! reports, as far as host code does. Nothing is called a deadlock because it takes long.
//!
//! Deliberately absent: GPUs of CUDA, which have an order of their own; delays and late stores in OpenCL; a proof that there is no difference.

mod explained;
mod measure;
mod subject;
mod words;

pub use crate::schedule::report::{Report, SCHEMA};
pub use crate::schedule::{NoSchedule, Of, Part, Schedule, text};

use super::hosted::HostRequest;
use super::run::{Built, RunError, Stop};
use crate::execute::ExecuteError;
use crate::execute::process::Ended;
use crate::execute::report::EventKind;
use crate::execute::scheduled::{Launched, Scheduled, Wanted};
use crate::execute::scratch::Scratch;
use crate::schedule::chosen::{self, Does, Kind, Point, chosen, parts};
use crate::schedule::report::{Finding, Refused, Tried, What};
use crate::schedule::smallest::{Extents, Smallest, fewer, smallest};
use crate::source::Language;
use explained::Explained;
use measure::{Compared, Dissent, Gave, Measure};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use subject::{Host, Subject, Trial};

/// So many runs make one schedule smaller.
const MOST_RUNS: usize = 60;

/// However fast the program is, a schedule gets this much time, and so many times as long as the baseline.
const LEAST_TIME: Duration = Duration::from_secs(10);
const TIMES_AS_LONG: u32 = 20;

/// What is tried.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Arguments of the program.
    pub arguments: Vec<OsString>,
    /// How many schedules.
    pub schedules: usize,
    /// What decides which.
    pub seed: u64,
    /// This one alone.
    pub replay: Option<Schedule>,
    /// By how much numbers of the output may differ, relatively.
    pub tolerance: Option<f64>,
    /// Whether memory is compared.
    pub compares_memory: bool,
    /// Files that the program writes, which are compared.
    pub files: Vec<PathBuf>,
    /// When the program is ended.
    pub timeout: Duration,
    /// Runs at once.
    pub jobs: usize,
}

/// Why nothing was tried.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// The baseline takes too long.
    #[error(
        "the program does not end within {0} seconds (--timeout) in the order of its numbers, so that nothing can be held against it"
    )]
    Slow(f64),
    /// An OpenCL program whose work-groups may wait for each other.
    #[error(
        "the program does not end within {0} seconds (--timeout) with one work-group at a time, in the order of their numbers, so that nothing can be held against it; a work-group that waits for one with a higher number waits for ever then"
    )]
    SlowAlone(f64),
    /// None of its launches takes ids.
    #[error("no launch of the program can be put in order: the notes say why")]
    NoOrder,
    /// There is nothing to schedule.
    #[error("the program launched no kernel: there is nothing to schedule; does it need arguments (after --)?")]
    NoLaunch,
    /// The order of numbers cannot be kept to.
    #[error("the cpu back end cannot run the program in one order: {0}")]
    Refused(String),
    /// The back end lacks something.
    #[error("the cpu back end does not support {0}")]
    Unsupported(String),
    /// It could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// It was built for another back end.
    #[error("the program was not built for the CPU")]
    NotOfCpu,
}

impl From<ExecuteError> for ScheduleError {
    fn from(error: ExecuteError) -> ScheduleError {
        ScheduleError::Run(error.into())
    }
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Alike,
    Differs(Vec<Dissent>),
    Deadlock,
    Slow,
    Refused(String),
}

/// What is told together: the kernel of the first difference, or of the deadlock.
type Class = (What, String);

/// Runs the schedules; `remark` hears what is not compared.
pub fn campaign(
    built: &Built,
    plan: &Plan,
    remark: &mut dyn FnMut(&str),
    stop: Stop<'_>,
) -> Result<Report, ScheduleError> {
    let program = built.program().ok_or(ScheduleError::NotOfCpu)?;
    carried_out(Subject::Built(built, program), plan, remark, stop)
}

/// The same of an OpenCL program, which is run as it is; of the request its arguments count, and what is kept.
pub fn campaign_of_host(
    request: &HostRequest,
    plan: &Plan,
    remark: &mut dyn FnMut(&str),
    stop: Stop<'_>,
) -> Result<Report, ScheduleError> {
    let scratch = match &request.keep {
        Some(directory) => Scratch::kept(directory)?,
        None => Scratch::temporary()?,
    };
    let host = Host::new(request, &scratch, stop)?;
    carried_out(Subject::Host(&host), plan, remark, stop)
}

fn carried_out(
    subject: Subject<'_>,
    plan: &Plan,
    remark: &mut dyn FnMut(&str),
    stop: Stop<'_>,
) -> Result<Report, ScheduleError> {
    let compared =
        Compared { tolerance: plan.tolerance, compares_memory: plan.compares_memory, files: plan.files.clone() };
    let mut campaign = Campaign { subject, plan, compared, measure: None, limit: plan.timeout, stop };
    let baseline = campaign.baseline(remark)?;
    let mut report = Report {
        schema: SCHEMA,
        language: subject.spoken(),
        schedules: 0,
        tried: Vec::new(),
        launches: baseline.launches.len(),
        compares_memory: campaign.measure.as_ref().is_some_and(Measure::compares_memory),
        findings: campaign.divergences(&baseline),
        slow: Vec::new(),
        refused: Vec::new(),
    };
    if Campaign::is_stuck(&baseline) {
        report.findings.push(campaign.told((What::Deadlock, String::new()), &Schedule::default(), None, &baseline)?);
        return Ok(report);
    }
    let facts: Vec<chosen::Launched> = baseline.launches.iter().map(facts).collect();
    let schedules = match &plan.replay {
        Some(schedule) => vec![(kind_of(schedule), schedule.clone())],
        None => chosen(&facts, plan.schedules, plan.seed, subject.spoken()),
    };
    let verdicts = campaign.try_all(&schedules)?;
    report.schedules = schedules.len();
    let mut classes: Vec<(Class, Vec<&Schedule>)> = Vec::new();
    let mut tried: BTreeMap<Kind, (usize, usize)> = BTreeMap::new();
    for ((kind, schedule), (verdict, class)) in schedules.iter().zip(verdicts) {
        let count = tried.entry(*kind).or_default();
        count.0 += 1;
        match (verdict, class) {
            (Verdict::Slow, _) => report.slow.push(schedule.to_string()),
            (Verdict::Refused(reason), _) => report.refused.push(Refused { schedule: schedule.to_string(), reason }),
            (_, None) => {}
            (_, Some(class)) => {
                count.1 += 1;
                match classes.iter_mut().find(|(known, _)| *known == class) {
                    Some((_, shown)) => shown.push(schedule),
                    None => classes.push((class, vec![schedule])),
                }
            }
        }
    }
    let of_kind = |kind: Kind| tried.get(&kind).map(|&(schedules, differ)| Tried { kind, schedules, differ });
    report.tried = Kind::ALL.into_iter().filter_map(of_kind).collect();
    for (class, shown) in classes {
        let Some(&schedule) = shown.first() else { continue };
        let (small, is_minimal) = campaign.made_small(&class, schedule, &facts)?;
        let run = campaign.run(&small, Wanted::Nothing, "told")?;
        let found_by = (schedule.to_string(), shown.len(), is_minimal);
        report.findings.push(campaign.told(class, &small, Some(found_by), &run)?);
    }
    Ok(report)
}

/// What schedules are chosen by.
fn facts(launch: &Launched) -> chosen::Launched {
    let does = |word: &str| match word {
        "write" => Does::Writes,
        "update" => Does::Updates,
        _ => Does::Reads,
    };
    let points = launch.points.iter().map(|point| Point {
        of: point.of,
        event: point.event,
        site: point.site,
        does: does(&point.does),
    });
    chosen::Launched {
        number: launch.number,
        kernel: launch.kernel.clone(),
        blocks: launch.blocks,
        threads: launch.threads,
        points: points.collect(),
    }
}

/// The kind of a schedule that the user gives.
fn kind_of(schedule: &Schedule) -> Kind {
    let text = schedule.to_string();
    match text {
        text if text.contains("late=") => Kind::LateStores,
        text if text.contains("delay=") => Kind::Delays,
        text if text.contains("blocks=") || text.contains("front=") => Kind::Blocks,
        _ => Kind::Threads,
    }
}

struct Campaign<'a> {
    subject: Subject<'a>,
    plan: &'a Plan,
    compared: Compared,
    measure: Option<Measure>,
    limit: Duration,
    stop: Stop<'a>,
}

impl Campaign<'_> {
    /// Runs a schedule; `name` says where its files go.
    fn run(&self, schedule: &Schedule, wanted: Wanted, name: &str) -> Result<Scheduled, ScheduleError> {
        Ok(self.subject.run(&self.trial(schedule, wanted, name), self.stop)?)
    }

    fn trial<'t>(&'t self, schedule: &'t Schedule, wanted: Wanted, name: &str) -> Trial<'t> {
        Trial {
            schedule,
            arguments: &self.plan.arguments,
            directory: self.directory(name),
            timeout: if wanted == Wanted::Log { self.plan.timeout } else { self.limit },
            wanted,
        }
    }

    fn directory(&self, name: &str) -> PathBuf {
        self.subject.scratch_path().join("schedules").join(name)
    }

    /// Runs the program in the order of its numbers, and learns what it gives.
    fn baseline(&mut self, remark: &mut dyn FnMut(&str)) -> Result<Scheduled, ScheduleError> {
        let first = self.run(&Schedule::default(), Wanted::Points, "baseline")?;
        let events = &first.tried.events;
        if first.tried.ended == Ended::TimedOut {
            let timeout = self.plan.timeout.as_secs_f64();
            return Err(match self.subject.spoken() {
                Language::Cuda => ScheduleError::Slow(timeout),
                Language::OpenCl => ScheduleError::SlowAlone(timeout),
            });
        }
        first.as_they_are.iter().for_each(|line| remark(line));
        let of_kind = |kind| events.iter().find(|event| event.kind == kind);
        if let Some(event) = of_kind(EventKind::Unsupported) {
            return Err(ScheduleError::Unsupported(event.text.clone()));
        }
        if let Some(event) = of_kind(EventKind::Unhonoured) {
            return Err(ScheduleError::Refused(event.text.clone()));
        }
        if Campaign::is_stuck(&first) {
            return Ok(first);
        }
        if first.launches.is_empty() {
            let is_told = !first.as_they_are.is_empty();
            return Err(if is_told { ScheduleError::NoOrder } else { ScheduleError::NoLaunch });
        }
        let gave = Gave::of(&first, &self.compared);
        let second = self.run(&Schedule::default(), Wanted::Nothing, "again")?;
        let measure = Measure::learn(gave, &Gave::of(&second, &self.compared), self.compared.clone());
        measure.remarks().iter().for_each(|line| remark(line));
        if let Subject::Host(host) = self.subject {
            let alone = host.run_as_it_is(&self.trial(&Schedule::default(), Wanted::Nothing, "own"), self.stop)?;
            if let Some(differs) = measure.differs_in_output(&Gave::of(&alone, &self.compared)) {
                remark(&format!(
                    "with its own kernels the program does something else than in the baseline: {differs}"
                ));
            }
        }
        self.measure = Some(measure);
        let slowest = first.tried.took.max(second.tried.took);
        self.limit = (slowest * TIMES_AS_LONG).max(LEAST_TIME).min(self.plan.timeout);
        Ok(first)
    }

    fn is_stuck(run: &Scheduled) -> bool {
        run.tried.events.iter().any(|event| event.kind == EventKind::Deadlock)
    }

    fn verdict(&self, run: &Scheduled) -> (Verdict, Option<Class>) {
        let of_kind = |kind| run.tried.events.iter().find(|event| event.kind == kind);
        if let Some(event) = of_kind(EventKind::Deadlock) {
            return (Verdict::Deadlock, Some((What::Deadlock, event.kernel.clone())));
        }
        if let Some(event) = of_kind(EventKind::Unhonoured) {
            return (Verdict::Refused(event.text.clone()), None);
        }
        if run.tried.ended == Ended::TimedOut {
            return (Verdict::Slow, None);
        }
        let gave = Gave::of(run, &self.compared);
        let differs = self.measure.as_ref().map(|measure| measure.differs(&gave)).unwrap_or_default();
        if differs.is_empty() {
            return (Verdict::Alike, None);
        }
        let launch = differs.iter().find_map(|dissent| match dissent {
            Dissent::Memory { launch, .. } => run.launches.iter().find(|other| other.number == *launch),
            Dissent::Seen(_) => None,
        });
        let kernel = launch.map_or_else(String::new, |launch| launch.kernel.clone());
        (Verdict::Differs(differs), Some((What::Difference, kernel)))
    }

    /// What becomes of each schedule, in their order.
    fn try_all(&self, schedules: &[(Kind, Schedule)]) -> Result<Vec<(Verdict, Option<Class>)>, ScheduleError> {
        let next = AtomicUsize::new(0);
        let verdicts: Mutex<BTreeMap<usize, (Verdict, Option<Class>)>> = Mutex::default();
        let work = || -> Result<(), ScheduleError> {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some((_, schedule)) = schedules.get(number) else { return Ok(()) };
                let name = number.to_string();
                let verdict = self.verdict(&self.run(schedule, Wanted::Nothing, &name)?);
                // All of them together may be much.
                let _ = std::fs::remove_dir_all(self.directory(&name));
                if let Ok(mut verdicts) = verdicts.lock() {
                    verdicts.insert(number, verdict);
                }
            }
        };
        // Files that the program writes are those of one run.
        let jobs = if self.plan.files.is_empty() { self.plan.jobs.max(1) } else { 1 };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| match worker.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
        Ok(verdicts.into_inner().map(|known| known.into_values().collect()).unwrap_or_default())
    }

    /// The smallest schedule of a class, and whether nothing can be left out of it. One that the user gives stays as it is.
    fn made_small(
        &self,
        class: &Class,
        schedule: &Schedule,
        facts: &[chosen::Launched],
    ) -> Result<(Schedule, bool), ScheduleError> {
        if self.plan.replay.is_some() {
            return Ok((schedule.clone(), true));
        }
        let mut differs = |candidate: &Schedule| -> Result<bool, ScheduleError> {
            let (_, found) = self.verdict(&self.run(candidate, Wanted::Nothing, "smaller")?);
            Ok(found.as_ref() == Some(class))
        };
        let extents: Extents = facts.iter().map(|launch| (launch.number, (launch.blocks, launch.threads))).collect();
        let Smallest { schedule, is_minimal, .. } = smallest(schedule, &extents, MOST_RUNS, &mut differs)?;
        match fewer(&schedule, &parts(facts), 2 * MOST_RUNS, &mut differs)? {
            Some(fewer) => Ok((fewer, true)),
            None => Ok((schedule, is_minimal)),
        }
    }

    /// Barriers that the baseline finds to be divergent.
    fn divergences(&self, run: &Scheduled) -> Vec<Finding> {
        let of_kind = run.tried.events.iter().filter(|event| event.kind == EventKind::Divergence);
        of_kind
            .map(|event| {
                let place = event.place.as_ref().map_or_else(String::new, |(file, line)| format!("{file}:{line}: "));
                Finding {
                    differs: vec![format!("{place}{}", event.text)],
                    ..blank((What::Divergence, event.kernel.clone()), &Schedule::default())
                }
            })
            .collect()
    }

    /// A finding with all that explains it.
    fn told(
        &self,
        class: Class,
        schedule: &Schedule,
        found_by: Option<(String, usize, bool)>,
        run: &Scheduled,
    ) -> Result<Finding, ScheduleError> {
        let files = self.subject.instrumented_files();
        let mut finding = blank(class, schedule);
        if let Some((found_by, shown_by, is_minimal)) = found_by {
            (finding.found_by, finding.shown_by, finding.is_minimal) = (found_by, shown_by, is_minimal);
        }
        let mut launch = None;
        match self.verdict(run) {
            (Verdict::Deadlock, class) => {
                finding.kernel = class.map(|(_, kernel)| kernel).unwrap_or_default();
                finding.waits = words::waits(&run.tried.events, files);
            }
            (Verdict::Differs(differs), _) => {
                for dissent in differs {
                    match dissent {
                        Dissent::Seen(text) => finding.differs.push(text),
                        Dissent::Memory { launch: number, allocation } => {
                            launch = Some(number);
                            finding.differs.push(explained::memory(self, schedule, run, (number, allocation))?);
                        }
                    }
                }
            }
            _ => {}
        }
        finding.changes = words::changes(schedule, run, (files, self.subject.spoken()));
        let Explained { conflicts, unlogged } = explained::conflicts(self, schedule, (launch, &finding.kernel), run)?;
        (finding.conflicts, finding.unlogged) = (conflicts, unlogged);
        Ok(finding)
    }
}

/// A finding of which nothing else is known.
fn blank((what, kernel): Class, schedule: &Schedule) -> Finding {
    let mut against = schedule.clone();
    against.parts.pop();
    Finding {
        what,
        kernel,
        schedule: schedule.to_string(),
        against: against.to_string(),
        is_minimal: true,
        found_by: schedule.to_string(),
        shown_by: 1,
        differs: Vec::new(),
        changes: Vec::new(),
        waits: Vec::new(),
        conflicts: Vec::new(),
        unlogged: None,
    }
}
