//! The files of the project, checked in the background, as `check` does it for their directories.
//!
//! One core is left to what somebody waits for. When files have changed, all are looked at again: what has not changed since is in
//! the cache, where there is one.
//!
//! Guarantees: what is told is of files as they were when their check began; a run that is overtaken tells nothing.

use crate::diagnostic::report::Report;
use crate::driver::options::Options;
use crate::driver::parallel::{Input, Progress, check_all};
use crate::source::discover::discover;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// Files are often written several at a time: so long nothing has to change before they are looked at.
const QUIET: Duration = Duration::from_millis(300);

/// How a run over the project goes.
pub(super) enum Course {
    /// It begins, over so many files.
    Begun(usize),
    /// So many of them are done.
    Done(usize),
    /// It has ended.
    Ended(Report),
    /// Others have to be checked.
    Overtaken,
}

/// Who checks the project.
pub(super) struct Workspace(Sender<Arc<Options>>);

impl Workspace {
    /// Begins; nothing is checked until it is asked for.
    pub(super) fn start(roots: Vec<PathBuf>, tell: Sender<Course>) -> std::io::Result<Workspace> {
        let (asks, asked) = unbounded();
        thread::Builder::new().name("workspace".to_owned()).spawn(move || work(&roots, &asked, &tell))?;
        Ok(Workspace(asks))
    }

    /// Checks all files, anew if that is under way.
    pub(super) fn check(&self, options: Arc<Options>) {
        // Nobody hears it when the session ends.
        let _ = self.0.send(options);
    }
}

fn work(roots: &[PathBuf], asked: &Receiver<Arc<Options>>, tell: &Sender<Course>) {
    let mut next = asked.recv().ok();
    while let Some(options) = next.take() {
        let newest = quiet(asked, options);
        let (files, _) = discover(roots);
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut options = Options::clone(&newest);
        options.workload.jobs = Some((cores - 1).max(1));
        let inputs: Vec<Input> = files.into_iter().map(Input::File).collect();
        let course = Watch { asked, tell, done: AtomicUsize::new(0) };
        if tell.send(Course::Begun(inputs.len())).is_err() {
            return;
        }
        let run = check_all(&inputs, &options, &course);
        let is_whole = run.unfinished == 0 && asked.is_empty();
        let said = if is_whole { Course::Ended(run.report) } else { Course::Overtaken };
        if tell.send(said).is_err() {
            return;
        }
        next = asked.recv().ok();
    }
}

/// The newest of the options, once nothing has been asked for a while.
fn quiet(asked: &Receiver<Arc<Options>>, first: Arc<Options>) -> Arc<Options> {
    let mut newest = first;
    loop {
        match asked.recv_timeout(QUIET) {
            Ok(options) => newest = options,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return newest,
        }
    }
}

struct Watch<'w> {
    asked: &'w Receiver<Arc<Options>>,
    tell: &'w Sender<Course>,
    done: AtomicUsize,
}

impl Progress for Watch<'_> {
    fn done(&self, _path: &Path) {
        let done = self.done.fetch_add(1, Relaxed) + 1;
        let _ = self.tell.send(Course::Done(done));
    }

    fn stops(&self) -> bool {
        !self.asked.is_empty()
    }
}
