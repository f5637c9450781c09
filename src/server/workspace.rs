//! The files of the project, checked in the background, as `check` does it for their directories.
//!
//! One core is left to what somebody waits for. When files have changed, all are looked at again: what has not changed since is in
//! the cache, where there is one.
//!
//! Guarantees: what is told is of files as they were when their check began; a run that is overtaken tells nothing.

use super::configuration::{Configuration, Unfit};
use crate::diagnostic::report::Report;
use crate::driver::parallel::{Progress, check_all_groups};
use crossbeam_channel::{Receiver, Sender, unbounded};
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
    /// Settings cannot be used.
    Refused(Unfit),
}

/// Who checks the project.
pub(super) struct Workspace(Sender<()>);

impl Workspace {
    /// Begins; nothing is checked until it is asked for.
    pub(super) fn start(
        roots: Vec<PathBuf>,
        configuration: Arc<dyn Configuration>,
        tell: Sender<Course>,
    ) -> std::io::Result<Workspace> {
        let (asks, asked) = unbounded();
        let work = move || while once(&roots, &*configuration, &asked, &tell).is_some() {};
        thread::Builder::new().name("workspace".to_owned()).spawn(work)?;
        Ok(Workspace(asks))
    }

    /// Checks all files, anew if that is under way.
    pub(super) fn check_again(&self) {
        // Nobody hears it when the session ends.
        let _ = self.0.send(());
    }
}

/// Waits until somebody asks, and checks all files once; nothing when the session is over.
fn once(
    roots: &[PathBuf],
    configuration: &dyn Configuration,
    asked: &Receiver<()>,
    tell: &Sender<Course>,
) -> Option<()> {
    asked.recv().ok()?;
    // What is asked for meanwhile is the same.
    while asked.recv_timeout(QUIET).is_ok() {}
    let mut groups = match configuration.of_project(roots) {
        Ok(groups) => groups,
        Err(unfit) => return tell.send(Course::Refused(unfit)).ok(),
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    groups.iter_mut().for_each(|group| group.options.workload.jobs = Some((cores - 1).max(1)));
    let files = groups.iter().map(|group| group.inputs.len()).sum();
    tell.send(Course::Begun(files)).ok()?;
    let watch = Watch { asked, tell, done: AtomicUsize::new(0) };
    let run = check_all_groups(groups, &watch);
    let is_whole = run.unfinished == 0 && asked.is_empty();
    tell.send(if is_whole { Course::Ended(run.report) } else { Course::Overtaken }).ok()
}

struct Watch<'w> {
    asked: &'w Receiver<()>,
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
