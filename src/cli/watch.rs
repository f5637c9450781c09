//! `check --watch`: a check, and another one whenever something changes that counted.
//!
//! Each check is a process of its own, this program without `--watch`: whatever becomes of it, the next one begins anew, and takes
//! from the cache what has not changed. It leaves the list of the files that counted where a variable says ([`SEEN`]).
//!
//! Guarantees: what changes while a check runs is checked behind it. A file that is written beside its place and renamed, one that
//! is new in a directory that is looked at and one that vanishes are changes. The screen is cleared on a terminal alone.
//!
//! Deliberately absent: a settings file that comes into being above the directories of all files that count.

use super::Exit;
use super::args::CheckArgs;
use super::interrupt::Interrupt;
use super::output::{remark, to_stdout, warn};
use crate::source::discover::{directories, discover, is_header, is_host_code, language_of};
use crate::source::disk::normalized;
use anyhow::{Context, Result, ensure};
use notify::event::EventKind;
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The variable that names the file for the list of what counted.
const SEEN: &str = "RACEPROOF_SEEN";

/// How long nobody looks whether something ended, or a signal came.
const LOOK: Duration = Duration::from_millis(20);

/// Changes that follow each other more closely are one.
const QUIET: Duration = Duration::from_millis(100);

/// Whoever writes without a pause is not waited for any longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Changes that are named; of more it is said how many.
const NAMED: usize = 4;

/// Files that count wherever they are, whatever they are called otherwise: what builds, settings and walks are told by.
const TOLD_BY: [&str; 6] =
    ["raceproof.toml", "compile_commands.json", "CMakeLists.txt", "Makefile", ".gitignore", ".ignore"];

/// Runs the command, until a signal ends it.
pub(super) fn run(args: &CheckArgs, arguments: &[OsString]) -> Result<Exit> {
    let is_stdin = |path: &PathBuf| path.as_os_str() == "-";
    ensure!(!args.paths.iter().any(is_stdin), "--watch: standard input does not change; name files or directories");
    let interrupt = Interrupt::listen();
    let place = tempfile::tempdir().context("--watch: there is no room for temporary files")?;
    let seen = place.path().join("seen");
    let mut watch = Watch::new(&args.paths).context("--watch")?;
    let mut is_first = true;
    loop {
        let start = SystemTime::now();
        watch.begin();
        let status = checked(arguments, &seen, &interrupt)?;
        if interrupt.is_pressed() {
            return Ok(Exit::Interrupted(interrupt.exit_code()));
        }
        match std::fs::read_to_string(&seen) {
            Ok(list) => watch.count(list.split('\0').filter(|path| !path.is_empty()).map(Path::new)),
            // What is wrong from the start is no matter of files that change.
            Err(_) if is_first => return Ok(if status.code() == Some(101) { Exit::Bug } else { Exit::Usage }),
            Err(_) => {}
        }
        let _ = std::fs::remove_file(&seen);
        is_first = false;
        remark(&watch.told());
        let Some(changes) = watch.changes(start, &interrupt) else {
            return Ok(Exit::Interrupted(interrupt.exit_code()));
        };
        clear();
        remark(&format!("{}: {}", clock(), in_words(&changes)));
    }
}

/// Leaves the list of what counted for who watches, if somebody does.
pub(super) fn leave_seen<'a>(paths: impl Iterator<Item = &'a Path>) {
    let Some(place) = std::env::var_os(SEEN) else { return };
    let paths: BTreeSet<String> = paths.map(|path| path.to_string_lossy().into_owned()).collect();
    let list: Vec<String> = paths.into_iter().collect();
    // Who watches then goes by the names of files alone.
    let _ = std::fs::write(place, list.join("\0"));
}

/// Whether this process is one of the checks of a process that watches.
pub(super) fn is_watched() -> bool {
    std::env::var_os(SEEN).is_some()
}

/// One check, to its end or until a signal comes.
fn checked(arguments: &[OsString], seen: &Path, interrupt: &Interrupt) -> Result<ExitStatus> {
    let program = std::env::current_exe().context("--watch")?;
    let mut command = Command::new(program);
    command.args(arguments.iter().skip(1)).env(SEEN, seen);
    let mut child = command.spawn().context("--watch: cannot start a check")?;
    let mut is_told = false;
    loop {
        if let Some(status) = child.try_wait().context("--watch")? {
            return Ok(status);
        }
        // On a terminal it gets the signal, too, and takes both for one wish.
        if interrupt.is_pressed() && !std::mem::replace(&mut is_told, true) {
            end(&mut child, interrupt);
        }
        sleep(LOOK);
    }
}

/// Hands a signal on.
#[cfg(unix)]
fn end(child: &mut Child, interrupt: &Interrupt) {
    let signal = i32::from(interrupt.exit_code()) - 128;
    let named = rustix::process::Signal::from_named_raw(signal).unwrap_or(rustix::process::Signal::TERM);
    let process = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if process.is_none_or(|process| rustix::process::kill_process(process, named).is_err()) {
        let _ = child.kill();
    }
}

/// Ends it.
#[cfg(not(unix))]
fn end(child: &mut Child, _: &Interrupt) {
    let _ = child.kill();
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Changed,
    New,
    Gone,
}

/// What is looked at, and what counts of it.
struct Watch {
    /// As they were typed.
    paths: Vec<PathBuf>,
    watcher: RecommendedWatcher,
    events: Receiver<notify::Result<Event>>,
    /// Without links.
    directories: BTreeSet<PathBuf>,
    /// Those that the system refuses to look at.
    refused: BTreeSet<PathBuf>,
    /// Files that counted in the last check.
    counted: BTreeSet<PathBuf>,
    /// What the paths stand for since the last check began.
    found: BTreeSet<PathBuf>,
}

impl Watch {
    fn new(paths: &[PathBuf]) -> notify::Result<Watch> {
        let (told, events) = channel();
        // Who reads a file changes nothing; checks read all of them.
        let tell = move |event: notify::Result<Event>| {
            if !matches!(&event, Ok(Event { kind: EventKind::Access(_), .. })) {
                let _ = told.send(event);
            }
        };
        Ok(Watch {
            paths: paths.to_vec(),
            watcher: notify::recommended_watcher(tell)?,
            events,
            directories: BTreeSet::new(),
            refused: BTreeSet::new(),
            counted: BTreeSet::new(),
            found: BTreeSet::new(),
        })
    }

    /// Looks at what there is before a check.
    fn begin(&mut self) {
        self.found = self.files();
        self.follow();
    }

    fn files(&self) -> BTreeSet<PathBuf> {
        discover(&self.paths).0.iter().map(|path| in_place(path)).collect()
    }

    /// Takes over what counted in a check.
    fn count<'a>(&mut self, paths: impl Iterator<Item = &'a Path>) {
        // A link and what it leads to may change apart.
        let both = |path: &Path| [Some(in_place(path)), std::fs::canonicalize(path).ok()];
        self.counted = paths.flat_map(both).flatten().collect();
        self.follow();
    }

    /// Looks at the directories of all that counts, and below those that were typed.
    fn follow(&mut self) {
        let walked = directories(&self.paths).into_iter().filter_map(|path| std::fs::canonicalize(path).ok());
        let beside = self.counted.iter().filter_map(|path| path.parent().map(Path::to_path_buf));
        let wanted: BTreeSet<PathBuf> = walked.chain(beside).filter(|path| path.is_dir()).collect();
        for gone in self.directories.difference(&wanted) {
            let _ = self.watcher.unwatch(gone);
        }
        let new: Vec<PathBuf> = wanted.difference(&self.directories).cloned().collect();
        self.directories = wanted;
        for directory in new {
            match self.watcher.watch(&directory, RecursiveMode::NonRecursive) {
                Ok(()) => {}
                Err(error) => {
                    if self.refused.insert(directory.clone()) {
                        warn(&format!("--watch: changes in {} are not seen: {error}", shown(&directory)));
                    }
                    self.directories.remove(&directory);
                }
            }
        }
    }

    /// What is said once a check is over.
    fn told(&self) -> String {
        let (files, directories) = (self.counted.len(), self.directories.len());
        let words =
            |count: usize, one: &str, several: &str| format!("{count} {}", if count == 1 { one } else { several });
        let files = words(files, "file", "files");
        format!("watching {files} in {}; Ctrl-C ends", words(directories, "directory", "directories"))
    }

    /// Waits for something that counts to change; nothing if a signal came before.
    fn changes(&mut self, since: SystemTime, interrupt: &Interrupt) -> Option<Vec<(PathBuf, What)>> {
        // A directory that only a check leads to was not looked at while it ran.
        let mut seen: BTreeSet<PathBuf> = self.written(since);
        let mut last = Instant::now();
        let mut first = (!seen.is_empty()).then_some(last);
        loop {
            if interrupt.is_pressed() {
                return None;
            }
            match self.events.recv_timeout(LOOK) {
                Ok(Ok(event)) => {
                    let lost = if event.need_rescan() { self.written(since) } else { BTreeSet::new() };
                    seen.extend(event.paths.into_iter().filter(|path| self.may_count(path)).chain(lost));
                    last = Instant::now();
                    first = first.or((!seen.is_empty()).then_some(last));
                }
                Ok(Err(error)) => warn(&format!("--watch: {error}; changes may be missed")),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => sleep(LOOK),
            }
            if first.is_some_and(|first| last.elapsed() >= QUIET || first.elapsed() >= PATIENCE) {
                let changes = self.judged(std::mem::take(&mut seen));
                if !changes.is_empty() {
                    return Some(changes);
                }
                first = None;
            }
        }
    }

    /// The files that counted and were written since.
    fn written(&self, since: SystemTime) -> BTreeSet<PathBuf> {
        let is_later = |path: &&PathBuf| {
            let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified());
            modified.is_ok_and(|modified| modified >= since)
        };
        self.counted.iter().filter(is_later).cloned().collect()
    }

    /// Whether something happened at a path that a check may depend on.
    fn may_count(&self, path: &Path) -> bool {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        if self.counted.contains(path) || self.found.contains(path) || TOLD_BY.contains(&name.as_str()) {
            return true;
        }
        // What editors keep beside a file begins so.
        if name.starts_with(['.', '#']) {
            return false;
        }
        let is_header = path.extension().is_some() && is_header(path);
        language_of(path).is_some() || is_host_code(path) || is_header || self.is_directory(path)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.directories.contains(path) || path.is_dir()
    }

    /// What became of the paths at which something happened. Of a directory its files count.
    fn judged(&mut self, paths: BTreeSet<PathBuf>) -> Vec<(PathBuf, What)> {
        let (directories, files): (Vec<PathBuf>, Vec<PathBuf>) =
            paths.into_iter().partition(|path| self.is_directory(path));
        let now = self.files();
        let was_there = |path: &PathBuf| self.counted.contains(path) || self.found.contains(path);
        let mut changes = BTreeSet::new();
        for path in files {
            let what = match (path.exists(), was_there(&path)) {
                (true, false) if now.contains(&path) => What::New,
                (true, _) => What::Changed,
                (false, true) => What::Gone,
                // Of a file that came and went meanwhile nothing is left.
                (false, false) => continue,
            };
            changes.insert((path, what));
        }
        if !directories.is_empty() {
            changes.extend(now.difference(&self.found).map(|path| (path.clone(), What::New)));
            changes.extend(self.found.difference(&now).map(|path| (path.clone(), What::Gone)));
            self.follow();
        }
        changes.into_iter().collect()
    }
}

/// A path as events have it: its directory without links.
fn in_place(path: &Path) -> PathBuf {
    let absolute = normalized(&std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()));
    match (absolute.parent().and_then(|parent| std::fs::canonicalize(parent).ok()), absolute.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => absolute,
    }
}

/// A path as it is seen from the working directory.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().and_then(std::fs::canonicalize).unwrap_or_default();
    let inner = path.strip_prefix(&here).unwrap_or(path);
    if inner.as_os_str().is_empty() { ".".to_owned() } else { inner.display().to_string() }
}

/// `a.cu changed, b.cu is new, c.cuh is gone`
fn in_words(changes: &[(PathBuf, What)]) -> String {
    let word = |(path, what): &(PathBuf, What)| match what {
        What::Changed => format!("{} changed", shown(path)),
        What::New => format!("{} is new", shown(path)),
        What::Gone => format!("{} is gone", shown(path)),
    };
    let mut words: Vec<String> = changes.iter().take(NAMED).map(word).collect();
    if changes.len() > NAMED {
        words.push(format!("and {} more", changes.len() - NAMED));
    }
    words.join(", ")
}

/// The time of day, as all clocks have it.
fn clock() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()) % 86_400;
    format!("{:02}:{:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Clears a terminal; what was scrolled away stays.
fn clear() {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if std::io::stdout().is_terminal() && !is_dumb {
        let _ = to_stdout(|out| out.write_all(b"\x1b[2J\x1b[H"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_count_is_told_from_what_editors_leave() {
        let place = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(place.path()).unwrap();
        let mut watch = Watch::new(std::slice::from_ref(&root)).unwrap();
        std::fs::write(root.join("a.cu"), "").unwrap();
        std::fs::write(root.join("odd.name"), "").unwrap();
        std::fs::create_dir(root.join("sub")).unwrap();
        watch.begin();
        watch.count([root.join("a.cu"), root.join("odd.name")].iter().map(PathBuf::as_path));
        for counts in ["a.cu", "odd.name", "b.cl", "c.hpp", "main.cpp", "sub", "raceproof.toml", ".gitignore"] {
            assert!(watch.may_count(&root.join(counts)), "{counts}");
        }
        for not in ["notes.txt", ".a.cu.swp", ".#a.cu", "#a.cu#", "a.cu~", "4913", "a.o"] {
            assert!(!watch.may_count(&root.join(not)), "{not}");
        }
    }

    #[test]
    fn changes_are_judged_by_what_there_is_now() {
        let place = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(place.path()).unwrap();
        let at = |name: &str| root.join(name);
        for name in ["a.cu", "gone.cu"] {
            std::fs::write(at(name), "").unwrap();
        }
        let mut watch = Watch::new(std::slice::from_ref(&root)).unwrap();
        watch.begin();
        watch.count([at("a.cu"), at("gone.cu")].iter().map(PathBuf::as_path));
        std::fs::remove_file(at("gone.cu")).unwrap();
        std::fs::create_dir(at("sub")).unwrap();
        std::fs::write(at("sub/new.cu"), "").unwrap();
        let paths = ["a.cu", "gone.cu", "brief.cu", "sub"].map(at);
        let judged = watch.judged(paths.into_iter().collect());
        let expected = [(at("a.cu"), What::Changed), (at("gone.cu"), What::Gone), (at("sub/new.cu"), What::New)];
        assert_eq!(judged, expected);
        assert!(watch.directories.contains(&at("sub")), "what is new there counts from now on");
        assert!(watch.judged([at("brief.cu")].into_iter().collect()).is_empty());
    }

    #[test]
    fn many_changes_are_counted() {
        let changes: Vec<(PathBuf, What)> =
            (0..7).map(|at| (PathBuf::from(format!("/x/{at}.cu")), What::New)).collect();
        assert!(in_words(&changes).ends_with("/x/3.cu is new, and 3 more"), "{}", in_words(&changes));
        let time = clock();
        assert!(time.len() == 12 && time.ends_with(" UTC"), "{time}");
    }
}
