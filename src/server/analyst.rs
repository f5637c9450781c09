//! Checks the texts that somebody writes: one at a time, quick checks before whole ones, on a thread of its own.
//!
//! A check of a text that has changed since is left as soon as it looks ([`leave`]), and the new text takes its place.
//!
//! Guarantees: of each text, what was asked for last is answered, unless the text was forgotten; nothing older is told after it.

use crate::diagnostic::report::Report;
use crate::driver::isolate::Panic;
use crate::driver::live::{Live, Pass};
use crate::driver::options::Options;
use crate::driver::parallel::STACK_BYTES;
use crate::work::memory::{self, SetAside, Task, leave};
use crossbeam_channel::Sender;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a check waits that did not find the memory it needs.
const LATER: Duration = Duration::from_secs(2);

/// What came of a check.
pub(super) struct Analysed {
    /// Which text.
    pub(super) path: PathBuf,
    /// Which of its versions.
    pub(super) version: Version,
    /// The report, or what went wrong with the text as a whole.
    pub(super) outcome: Result<Report, Panic>,
}

/// A version of a text: what the editor counts, and how often files beside it have changed.
pub(super) type Version = (i32, u64);

/// Something to check.
pub(super) struct Job {
    /// The text's path.
    pub(super) path: PathBuf,
    /// Its version.
    pub(super) version: Version,
    /// What stands in it.
    pub(super) text: Arc<str>,
    /// How it is read and judged.
    pub(super) options: Arc<Options>,
    /// What is asked.
    pub(super) pass: Pass,
}

/// Who checks.
pub(super) struct Analyst(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// At most a quick and a whole check of each text, with the time before which they are not begun.
    wanted: BTreeMap<(PathBuf, Pass), (Job, Instant)>,
    at_work: Option<AtWork>,
    /// Texts of which nothing is to be known any more.
    forgotten: Vec<PathBuf>,
    /// Files beside the texts have changed.
    files_changed: bool,
}

struct AtWork {
    path: PathBuf,
    task: Option<Task>,
    /// Whether nobody waits for it any more.
    is_left: bool,
}

impl Analyst {
    /// Begins; what comes of checks goes to `tell`.
    pub(super) fn start(tell: Sender<Analysed>) -> std::io::Result<Analyst> {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() });
        let own = Arc::clone(&shared);
        let thread = thread::Builder::new().name("analyst".to_owned()).stack_size(STACK_BYTES);
        thread.spawn(move || own.work(&tell))?;
        Ok(Analyst(shared))
    }

    /// Asks for a check after a while; what was asked of an older version of the text is not done any more.
    pub(super) fn ask(&self, job: Job, after: Duration) {
        let mut state = self.0.locked();
        state.wanted.retain(|(path, _), (older, _)| *path != job.path || older.version == job.version);
        state.leave(&job.path, |_| true);
        state.wanted.insert((job.path.clone(), job.pass), (job, Instant::now() + after));
        self.0.changed.notify_all();
    }

    /// Forgets a text.
    pub(super) fn forget(&self, path: &Path) {
        let mut state = self.0.locked();
        state.wanted.retain(|(wanted, _), _| wanted != path);
        state.leave(path, |_| true);
        state.forgotten.push(path.to_path_buf());
        self.0.changed.notify_all();
    }

    /// Files beside the texts are no longer what they were.
    pub(super) fn files_changed(&self) {
        self.0.locked().files_changed = true;
    }
}

impl State {
    /// Leaves the check of this text that is under way.
    fn leave(&mut self, path: &Path, is_left: impl Fn(&AtWork) -> bool) {
        if let Some(at_work) = self.at_work.as_mut().filter(|it| it.path == path && is_left(it)) {
            at_work.is_left = true;
            // The number is taken back under this lock before the task ends.
            at_work.task.into_iter().for_each(leave);
        }
    }

    /// What is to be done now, or how long nothing is.
    fn take_due(&mut self) -> Result<Job, Option<Duration>> {
        let now = Instant::now();
        let due = self.wanted.iter().filter(|(_, (_, from))| *from <= now);
        match due.min_by_key(|((_, pass), (_, from))| (*pass, *from)).map(|(key, _)| key.clone()) {
            Some(key) => self.wanted.remove(&key).map(|(job, _)| job).ok_or(None),
            None => Err(self.wanted.values().map(|(_, from)| from.saturating_duration_since(now)).min()),
        }
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, tell: &Sender<Analysed>) {
        let mut lives: BTreeMap<PathBuf, Live> = BTreeMap::new();
        loop {
            let job = self.waited_for(&mut lives);
            let live = lives.entry(job.path.clone()).or_default();
            match self.done(&job, live) {
                Some(outcome) => {
                    let Job { path, version, .. } = job;
                    if tell.send(Analysed { path, version, outcome }).is_err() {
                        return;
                    }
                }
                None => self.locked().at_work = None,
            }
        }
    }

    /// The next job, once there is one.
    fn waited_for(&self, lives: &mut BTreeMap<PathBuf, Live>) -> Job {
        let mut state = self.locked();
        loop {
            for path in std::mem::take(&mut state.forgotten) {
                lives.remove(&path);
            }
            if std::mem::take(&mut state.files_changed) {
                lives.values().for_each(Live::files_changed);
            }
            match state.take_due() {
                Ok(job) => {
                    state.at_work = Some(AtWork { path: job.path.clone(), task: None, is_left: false });
                    return job;
                }
                Err(Some(wait)) => {
                    state = self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
                }
                Err(None) => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// What comes of a job; nothing if it was left.
    fn done(&self, job: &Job, live: &mut Live) -> Option<Result<Report, Panic>> {
        let checked = memory::task(|| {
            let _under_way = UnderWay::begin(self);
            live.check(&job.path, &job.text, &job.options, job.pass)
        });
        let mut state = self.locked();
        let is_left = state.at_work.take().is_some_and(|at_work| at_work.is_left);
        match checked {
            _ if is_left => None,
            Ok(outcome) => Some(outcome),
            // Other work holds the memory: it is done again when that may have ended.
            Err(SetAside) => {
                let Job { path, version, text, options, pass } = job;
                let job = Job {
                    path: path.clone(),
                    version: *version,
                    text: Arc::clone(text),
                    options: Arc::clone(options),
                    pass: *pass,
                };
                state.wanted.entry((path.clone(), *pass)).or_insert((job, Instant::now() + LATER));
                None
            }
        }
    }
}

/// That a task is under way, which can be left; it ends before its number is given to another one.
struct UnderWay<'s>(&'s Shared);

impl UnderWay<'_> {
    fn begin(shared: &Shared) -> UnderWay<'_> {
        let mut state = shared.locked();
        if let Some(at_work) = &mut state.at_work {
            let task = memory::at_work();
            at_work.task = Some(task);
            if at_work.is_left {
                leave(task);
            }
        }
        drop(state);
        UnderWay(shared)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some(at_work) = &mut self.0.locked().at_work {
            at_work.task = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::unbounded;

    /// A kernel that takes long.
    fn long() -> String {
        let body: String =
            (0..400).map(|at| format!("  if (n > {at}) x[threadIdx.x * n + {at}] = x[n * {at}];\n")).collect();
        format!("__global__ void k(int *x, int n) {{\n{body}}}\n")
    }

    fn job(version: i32, text: &str) -> Job {
        Job {
            path: "a.cu".into(),
            version: (version, 0),
            text: text.into(),
            options: Arc::new(Options::default()),
            pass: Pass::Quick,
        }
    }

    #[test]
    fn what_nobody_waits_for_is_left_and_the_last_text_is_told() {
        let (tell, told) = unbounded();
        let analyst = Analyst::start(tell).unwrap();
        for version in 0..20 {
            analyst.ask(job(version, &long()), Duration::ZERO);
            thread::sleep(Duration::from_millis(2));
        }
        analyst.ask(job(20, "__global__ void k(int *x) { x[threadIdx.x / 2] = 1; }"), Duration::ZERO);
        let told = std::iter::from_fn(|| told.recv_timeout(Duration::from_secs(20)).ok());
        let last = told.inspect(|it| assert!(it.outcome.is_ok())).find(|it| it.version == (20, 0));
        let report = last.expect("the last text is told").outcome.unwrap();
        assert_eq!(report.summary().racy, 1);
    }

    #[test]
    fn a_text_that_is_closed_is_not_told() {
        let (tell, told) = unbounded();
        let analyst = Analyst::start(tell).unwrap();
        analyst.ask(job(1, "__global__ void k(int *x) { x[0] = 1; }"), Duration::from_millis(50));
        analyst.forget(Path::new("a.cu"));
        assert!(told.recv_timeout(Duration::from_millis(300)).is_err());
    }
}
