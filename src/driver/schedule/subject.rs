//! What runs under schedules: a CUDA program that was built for that, or an OpenCL program as it is, whose kernels are given their ids.
//!
//! An OpenCL driver has an order of its own. In the place of a work-group that is made to wait until others have run, as the scheduler
//! of docs/PAPERS.md, "Peng 2019", does it, each takes the ids that are next in the order that is wanted: nobody waits, so that no order
//! ends in a deadlock which the program itself does not have.
//!
//! Guarantees: in the baseline the ids are those of the driver's own order, in the same kernels as in all other schedules; each text is
//! instrumented once for all runs.
//!
//! Deliberately absent: logs of OpenCL programs in another order than the driver's. Which accesses nothing orders does not depend on the order,
//! but for what is read of memory or drawn by atomics.

use super::Schedule;
use crate::driver::hosted::{HostRequest, Hosted, Library, Records, Texts, run_host};
use crate::driver::instrument::{InstrumentedFile, Purpose};
use crate::driver::run::{Built, Output, RunError, Stop};
use crate::execute::opencl::host::{
    Ids, Instrumented, NotInstrumented, OrderedLaunch, OrderedTrial, Scheduling, Text, Unit,
};
use crate::execute::program::Program;
use crate::execute::scheduled::{Scheduled, ScheduledTrial, Wanted, try_scheduled};
use crate::execute::scratch::Scratch;
use crate::schedule::Of;
use crate::schedule::orders::of_launch;
use crate::source::Language;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What runs.
#[derive(Clone, Copy)]
pub(super) enum Subject<'a> {
    /// A CUDA program that was built for the CPU.
    Built(&'a Built, &'a Program),
    /// An OpenCL program.
    Host(&'a Host<'a>),
}

/// A run.
pub(super) struct Trial<'a> {
    pub(super) schedule: &'a Schedule,
    /// Arguments of a program that was built; those of an OpenCL program are in its request.
    pub(super) arguments: &'a [OsString],
    /// Where its output goes.
    pub(super) directory: PathBuf,
    /// When it is ended.
    pub(super) timeout: Duration,
    /// What else it says.
    pub(super) wanted: Wanted,
}

impl Subject<'_> {
    /// The language whose words are told.
    pub(super) fn spoken(self) -> Language {
        match self {
            Subject::Built(..) => Language::Cuda,
            Subject::Host(_) => Language::OpenCl,
        }
    }

    /// Where everything is that goes away with the runs.
    pub(super) fn scratch_path(&self) -> &Path {
        match self {
            Subject::Built(built, _) => built.scratch_path(),
            Subject::Host(host) => host.scratch.path(),
        }
    }

    /// The files whose sites runs name; an OpenCL driver names none.
    pub(super) fn instrumented_files(&self) -> &[InstrumentedFile] {
        match self {
            Subject::Built(built, _) => built.instrumented_files(),
            Subject::Host(_) => &[],
        }
    }

    /// Runs a schedule.
    pub(super) fn run(self, trial: &Trial<'_>, stop: Stop<'_>) -> Result<Scheduled, RunError> {
        match self {
            Subject::Built(_, program) => {
                let text = trial.schedule.to_string();
                let Trial { arguments, directory, timeout, wanted, .. } = trial;
                let (directory, timeout, wanted) = (directory.clone(), *timeout, *wanted);
                let trial = ScheduledTrial { schedule: &text, arguments, directory, timeout, wanted };
                Ok(try_scheduled(program, &trial, stop)?)
            }
            Subject::Host(host) => host.run(trial, stop),
        }
    }

    /// Runs the program once more, with a log in `run.trace`; says why the log is not complete, as far as that is known.
    pub(super) fn run_logged(self, trial: &Trial<'_>, stop: Stop<'_>) -> Result<Option<String>, RunError> {
        match self {
            Subject::Built(..) => self.run(trial, stop).map(|_| None),
            Subject::Host(host) => host.run_logged_as_it_is(trial, stop),
        }
    }
}

/// A text of an OpenCL program.
#[derive(Clone)]
enum Known {
    /// Its ids are given to it.
    Given(Unit),
    /// It is not instrumented, for this reason.
    Refused(String),
}

/// An OpenCL program, and its texts with ids that are given to them.
pub(super) struct Host<'s> {
    request: &'s HostRequest,
    scratch: &'s Scratch,
    scheduling: Scheduling<'s>,
    library: Library<'s>,
    /// The texts that were instrumented, or why they were not.
    known: Mutex<BTreeMap<Text, Known>>,
}

impl<'s> Host<'s> {
    pub(super) fn new(request: &'s HostRequest, scratch: &'s Scratch, stop: Stop<'_>) -> Result<Host<'s>, RunError> {
        Ok(Host {
            request,
            scratch,
            scheduling: Scheduling::of(&request.program, scratch, stop)?,
            library: Library::new(scratch, Texts::of(request.keep.as_ref()), Purpose::Schedule),
            known: Mutex::default(),
        })
    }

    fn given_ids(&self, text: &Text) -> Instrumented {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let instrumented = || match self.library.unit_of(text) {
            Ok(unit) => Known::Given(unit),
            Err(reason) => Known::Refused(reason.to_string()),
        };
        match known.entry(text.clone()).or_insert_with(instrumented).clone() {
            Known::Given(unit) => Ok(unit),
            Known::Refused(reason) => Err(NotInstrumented(reason.into())),
        }
    }

    fn trial(trial: &Trial<'_>) -> OrderedTrial {
        let dumped = match trial.wanted {
            // What memory holds is told by parameters here.
            Wanted::Memory { launch, allocation } => Some((launch, allocation)),
            Wanted::Nothing | Wanted::Points | Wanted::Log => None,
        };
        OrderedTrial { directory: trial.directory.clone(), timeout: trial.timeout, dumped }
    }

    fn run(&self, trial: &Trial<'_>, stop: Stop<'_>) -> Result<Scheduled, RunError> {
        let ids = |launch: &OrderedLaunch| Ids {
            groups: of_launch(trial.schedule, Of::Blocks, launch.number, launch.groups),
            items: of_launch(trial.schedule, Of::Threads, launch.number, launch.items),
        };
        Ok(self.scheduling.try_out(&Host::trial(trial), &|text| self.given_ids(text), &ids, stop)?)
    }

    /// Runs it with its own kernels.
    pub(super) fn run_as_it_is(&self, trial: &Trial<'_>, stop: Stop<'_>) -> Result<Scheduled, RunError> {
        let tried = self.scheduling.as_it_is(&Host::trial(trial), stop)?;
        Ok(Scheduled { tried, launches: Vec::new(), done: Vec::new(), as_they_are: Vec::new() })
    }

    fn run_logged_as_it_is(&self, trial: &Trial<'_>, stop: Stop<'_>) -> Result<Option<String>, RunError> {
        std::fs::create_dir_all(&trial.directory)
            .map_err(|cause| crate::execute::ExecuteError::Write { path: trial.directory.clone(), cause })?;
        let request = HostRequest {
            records: Records::Accesses,
            log: Some(trial.directory.join("run.trace")),
            timeout: Some(trial.timeout),
            output: Output::Nowhere,
            keep: None,
            ..self.request.clone()
        };
        let Hosted { ran, unlogged, .. } = run_host(&request, stop)?;
        let is_ended = matches!(ran.ended, crate::execute::process::Ended::TimedOut);
        Ok(match unlogged {
            _ if is_ended => Some("the logged run takes longer than --timeout".to_owned()),
            0 => None,
            _ => Some("not all of its launches are logged; `raceproof run --opencl-host` says why".to_owned()),
        })
    }
}
