//! What the analysis of a file depends on: what it read of the file system, and what it asked of the project.
//!
//! Whoever reads a file or asks for one says so ([`record`]); whoever wants to know what a piece of work depended on has it
//! recorded ([`recording`]). A result can be kept as long as everything that it depends on gives the same answers.
//!
//! Guarantees: what is recorded is of one piece of work, on whatever threads its parts are done ([`at_work`],
//! [`working_for`]); a piece of work that is begun while another one waits on the same thread is no part of it. What a clock
//! has cut short is known ([`a_clock_decided`], [`Dependency::Silence`]): such results are good for one run only.
//!
//! Deliberately absent: how answers are held against each other later, and what is not in files: options and tools.

use super::fingerprint::Fingerprint;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Times younger than that say little: a file may be written again without a change of its times.
const STEADY: Duration = Duration::from_secs(2);

/// What the system says of a file without its contents: times and size. As long as that is the same, so are they.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    size: u64,
    modified: u128,
    changed: i128,
    number: u64,
}

impl Stamp {
    /// Of a file, if there is one at the path.
    pub fn of(path: &Path) -> Option<Stamp> {
        let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        // A file is there, whatever its times are.
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.map_or(0, |time| time.as_nanos());
        #[cfg(unix)]
        let (changed, number) = {
            use std::os::unix::fs::MetadataExt;
            (i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec()), metadata.ino())
        };
        #[cfg(not(unix))]
        let (changed, number) = (0, 0);
        Some(Stamp { size: metadata.len(), modified, changed, number })
    }

    /// Whether it is so old that a later change shows.
    pub fn is_steady(&self) -> bool {
        let latest = self.modified.max(u128::try_from(self.changed).unwrap_or(0));
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.is_ok_and(|now| latest + STEADY.as_nanos() < now.as_nanos())
    }
}

/// What was asked of the project of a file. Paths are those of the question.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Question {
    /// Which header a name means in a file.
    Header {
        /// The name.
        name: String,
        /// The file.
        includer: PathBuf,
    },
    /// Which header a name means in the first of these directories that has it.
    HeaderWithin {
        /// The directories.
        directories: Vec<PathBuf>,
        /// The name.
        name: String,
        /// The file.
        includer: PathBuf,
    },
    /// Which files of a kind lie around a file.
    Around {
        /// The file.
        file: PathBuf,
        /// The kind, by its name.
        kind: String,
    },
    /// In which files a word stands, of a kind of words.
    Naming {
        /// Whoever is nearest to this file is first.
        file: PathBuf,
        /// The word.
        word: String,
        /// The kind, by its name.
        kind: String,
    },
    /// Which models of libraries a unit is read with.
    Models {
        /// The unit.
        unit: PathBuf,
    },
    /// Which inputs of the run include a file.
    Including {
        /// The file.
        file: PathBuf,
    },
}

/// Something that work depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Dependency {
    /// There is a file at the path with these contents, or none.
    File(PathBuf, Option<Content>),
    /// Whether there is a file at the path, whatever it holds.
    Presence(PathBuf, bool),
    /// The project gives this answer.
    Answer(Question, Fingerprint),
    /// A program that was asked did not answer, and may do so another time.
    Silence,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Content {
    /// Its bytes.
    pub bytes: Fingerprint,
    /// When it held them, if that tells later changes.
    pub stamp: Option<Stamp>,
}

/// What a piece of work depends on.
#[derive(Clone, Debug, Default)]
pub struct Dependencies(FxHashMap<Key, Dependency>);

/// Of one file, or one question, there is one answer in a piece of work: the first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    File(PathBuf),
    Presence(PathBuf),
    Question(Question),
    Silence,
}

impl Dependencies {
    fn add(&mut self, dependency: Dependency) {
        let key = match &dependency {
            Dependency::File(path, _) => Key::File(path.clone()),
            Dependency::Presence(path, _) => Key::Presence(path.clone()),
            Dependency::Answer(question, _) => Key::Question(question.clone()),
            Dependency::Silence => Key::Silence,
        };
        self.0.entry(key).or_insert(dependency);
    }

    /// Whether a result that hangs on them is good for another time.
    pub fn can_be_kept(&self) -> bool {
        !self.0.contains_key(&Key::Silence)
    }

    /// All of them, in no order that means anything.
    pub fn into_all(self) -> impl Iterator<Item = Dependency> {
        self.0.into_values()
    }
}

/// Work whose dependencies are recorded.
#[derive(Clone, Default)]
pub struct Recorder(Arc<Mutex<Dependencies>>);

thread_local! {
    static AT_WORK: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// Whether a clock has cut something short in this process.
static CLOCK_DECIDED: AtomicBool = AtomicBool::new(false);

/// A limit of time ended something that would have answered, and whose answers files share: what is found from here on is good for
/// this run only.
pub fn a_clock_decides() {
    CLOCK_DECIDED.store(true, Ordering::Release);
}

/// Whether a limit of time ended something in this process that would have answered.
pub fn a_clock_decided() -> bool {
    CLOCK_DECIDED.load(Ordering::Acquire)
}

/// The work at hand depends on what `dependency` gives, which is made only if that is recorded.
pub fn record(dependency: impl FnOnce() -> Dependency) {
    if let Some(Recorder(recorded)) = at_work() {
        let dependency = dependency();
        recorded.lock().unwrap_or_else(PoisonError::into_inner).add(dependency);
    }
}

/// The work at hand depends on all that other work depended on.
pub fn record_all(others: &Dependencies) {
    if let Some(Recorder(recorded)) = at_work() {
        let mut recorded = recorded.lock().unwrap_or_else(PoisonError::into_inner);
        others.0.values().for_each(|other| recorded.add(other.clone()));
    }
}

/// What `work` gives, and what it depended on. What was under way on this thread waits meanwhile.
pub fn recording<R>(work: impl FnOnce() -> R) -> (R, Dependencies) {
    let recorder = Recorder::default();
    let result = working_for(Some(recorder.clone()), work);
    let recorded = std::mem::take(&mut *recorder.0.lock().unwrap_or_else(PoisonError::into_inner));
    (result, recorded)
}

/// For whom this thread works.
pub fn at_work() -> Option<Recorder> {
    AT_WORK.with_borrow(Clone::clone)
}

/// Does a part of the work of `recorder`.
pub fn working_for<R>(recorder: Option<Recorder>, work: impl FnOnce() -> R) -> R {
    let _waiting = Waiting(AT_WORK.replace(recorder));
    work()
}

/// Whom this thread works for again afterwards, after a panic, too.
struct Waiting(Option<Recorder>);

impl Drop for Waiting {
    fn drop(&mut self) {
        AT_WORK.set(self.0.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presence(path: &str) -> Dependency {
        Dependency::Presence(path.into(), true)
    }

    fn paths(dependencies: Dependencies) -> Vec<Dependency> {
        let mut all: Vec<Dependency> = dependencies.into_all().collect();
        all.sort_by_key(|it| format!("{it:?}"));
        all
    }

    #[test]
    fn what_other_work_depends_on_is_not_recorded() {
        let ((inner, ()), outer) = recording(|| {
            record(|| presence("a"));
            let ((), inner) = recording(|| record(|| presence("b")));
            record(|| presence("c"));
            (inner, ())
        });
        assert_eq!(paths(inner.clone()), [presence("b")]);
        assert_eq!(paths(outer), [presence("a"), presence("c")]);
        let ((), both) = recording(|| record_all(&inner));
        assert_eq!(paths(both), [presence("b")]);
        record(|| unreachable!("nobody records"));
    }

    #[test]
    fn parts_on_other_threads_are_recorded() {
        let ((), all) = recording(|| {
            let recorder = at_work();
            std::thread::spawn(|| working_for(recorder, || record(|| presence("a")))).join().unwrap();
        });
        assert_eq!(paths(all), [presence("a")]);
    }

    #[test]
    fn what_did_not_answer_is_asked_again() {
        let ((), answered) = recording(|| record(|| presence("a")));
        let ((), silent) = recording(|| {
            record(|| presence("a"));
            record(|| Dependency::Silence);
        });
        assert!(answered.can_be_kept() && !silent.can_be_kept());
    }

    #[test]
    fn a_fresh_file_has_no_stamp_that_counts() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        std::fs::write(&path, "x").unwrap();
        let stamp = Stamp::of(&path).unwrap();
        assert!(!stamp.is_steady());
        let old = Stamp { modified: stamp.modified - 9_000_000_000, changed: stamp.changed - 9_000_000_000, ..stamp };
        assert!(old.is_steady());
        assert_eq!(Stamp::of(directory.path()), None, "a directory is no file");
    }
}
