//! Processes with an end: a deadline, and a user who may have enough.
//!
//! Every process is the head of a group of its own, and the whole group is killed, so that nothing that it started goes
//! on. Deliberately absent: reading the output of processes through pipes; it goes to files or straight to the user.

use super::ExecuteError;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit status.
    Exited(i32),
    /// By a signal.
    Signalled(i32),
    /// It was killed at its deadline.
    TimedOut,
}

/// The processes that run, by their ids.
static LIVING: Mutex<Living> = Mutex::new(Living { is_over: false, heads: BTreeSet::new() });

struct Living {
    is_over: bool,
    heads: BTreeSet<u32>,
}

/// How often a process is looked at; the first looks come faster, because most runs are short.
const LONGEST_NAP: Duration = Duration::from_millis(20);

/// Runs a command to its end, its deadline, or until `stop` says so.
pub fn run(
    command: &mut Command,
    deadline: Option<Duration>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Ended, ExecuteError> {
    let program = command.get_program().to_string_lossy().into_owned();
    alone(command);
    let start = Instant::now();
    let mut child = spawn(command).map_err(|cause| ExecuteError::Start { program: program.clone(), cause })?;
    let mut nap = Duration::from_micros(500);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                // Children that it left behind go with it.
                kill(&mut child);
                return Ok(ended(status));
            }
            Ok(None) => {}
            Err(cause) => {
                kill(&mut child);
                return Err(ExecuteError::Wait { program, cause });
            }
        }
        if deadline.is_some_and(|deadline| start.elapsed() >= deadline) {
            kill(&mut child);
            return Ok(Ended::TimedOut);
        }
        if stop() {
            kill(&mut child);
            return Err(ExecuteError::Interrupted);
        }
        std::thread::sleep(nap);
        nap = (nap * 2).min(LONGEST_NAP);
    }
}

/// A process that answers requests, which it is given as lines, until it is dropped or ends itself.
#[derive(Debug)]
pub struct Server {
    child: Child,
    program: String,
}

impl Server {
    /// Starts one.
    pub fn start(command: &mut Command) -> Result<Server, ExecuteError> {
        let program = command.get_program().to_string_lossy().into_owned();
        alone(command);
        command.stdin(Stdio::piped());
        let child = spawn(command).map_err(|cause| ExecuteError::Start { program: program.clone(), cause })?;
        Ok(Server { child, program })
    }

    /// Gives it a line. That it has ended shows when it is waited for.
    pub fn ask(&mut self, line: &str) {
        if let Some(to) = &mut self.child.stdin {
            let _ = writeln!(to, "{line}").and_then(|()| to.flush());
        }
    }

    /// Waits until it has put its answer at a path, whole; says how it ended if it ended before, or was killed at the deadline.
    pub fn wait_for(
        &mut self,
        answer: &Path,
        deadline: Duration,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Ended>, ExecuteError> {
        let start = Instant::now();
        let mut nap = Duration::from_micros(200);
        loop {
            if answer.exists() {
                return Ok(None);
            }
            match self.child.try_wait() {
                // It may have answered last.
                Ok(Some(status)) => return Ok((!answer.exists()).then(|| ended(status))),
                Ok(None) => {}
                Err(cause) => return Err(ExecuteError::Wait { program: self.program.clone(), cause }),
            }
            if start.elapsed() >= deadline {
                kill(&mut self.child);
                return Ok(Some(Ended::TimedOut));
            }
            if stop() {
                return Err(ExecuteError::Interrupted);
            }
            std::thread::sleep(nap);
            nap = (nap * 2).min(LONGEST_NAP / 10);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        kill(&mut self.child);
    }
}

/// Kills all that run, with everything that they started; none can be started after that. For a process that is about to
/// end, whatever its threads still do.
pub fn end_all() {
    let mut living = living();
    living.is_over = true;
    living.heads.iter().for_each(|&head| kill_group(head));
}

fn living() -> MutexGuard<'static, Living> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whoever starts one holds the lock, so that none comes up behind the back of [`end_all`].
fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut living = living();
    if living.is_over {
        return Err(io::Error::other("this process is about to end"));
    }
    let child = command.spawn()?;
    living.heads.insert(child.id());
    Ok(child)
}

#[cfg(unix)]
fn alone(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn alone(_command: &mut Command) {}

/// Kills the group of a process, and waits so that no zombie is left.
fn kill(child: &mut Child) {
    living().heads.remove(&child.id());
    kill_group(child.id());
    let _ = child.kill();
    let _ = child.wait();
}

/// It fails if the whole group is gone, which is what was wanted.
#[cfg(unix)]
fn kill_group(head: u32) {
    if let Some(group) = i32::try_from(head).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_head: u32) {}

#[cfg(unix)]
fn ended(status: ExitStatus) -> Ended {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exited(code),
        (None, signal) => Ended::Signalled(signal.unwrap_or(0)),
    }
}

#[cfg(not(unix))]
fn ended(status: ExitStatus) -> Ended {
    Ended::Exited(status.code().unwrap_or(-1))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_way_a_process_ends_is_told() {
        let run = |script: &str| run(&mut shell(script), None, &|| false).unwrap();
        assert_eq!(run("exit 3"), Ended::Exited(3));
        assert_eq!(run("kill -SEGV $$"), Ended::Signalled(11));
    }

    #[test]
    fn a_server_answers_until_it_ends_or_takes_too_long() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let script =
            "while read name; do case $name in */die) exit 7;; */hang) sleep 30;; *) echo > $name;; esac; done";
        let start = || Server::start(&mut shell(script)).unwrap();
        let ask = |server: &mut Server, name: &str, deadline: u64| {
            server.ask(&path(name).display().to_string());
            server.wait_for(&path(name), Duration::from_millis(deadline), &|| false).unwrap()
        };
        let mut server = start();
        assert_eq!([ask(&mut server, "a", 10_000), ask(&mut server, "b", 10_000)], [None, None]);
        assert_eq!(ask(&mut server, "die", 10_000), Some(Ended::Exited(7)));
        assert_eq!(ask(&mut start(), "hang", 100), Some(Ended::TimedOut));
        let mut server = start();
        server.ask(&path("hang").display().to_string());
        let interrupted = server.wait_for(&path("hang"), Duration::from_secs(10), &|| true);
        assert!(matches!(interrupted, Err(ExecuteError::Interrupted)));
    }

    #[test]
    fn a_deadline_ends_the_process_and_its_children() {
        let directory = tempfile::tempdir().unwrap();
        let mark = directory.path().join("mark");
        let script = format!("(sleep 1; touch {}) & sleep 30", mark.display());
        let start = Instant::now();
        let ended = run(&mut shell(&script), Some(Duration::from_millis(100)), &|| false).unwrap();
        assert_eq!(ended, Ended::TimedOut);
        assert!(start.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(1300));
        assert!(!mark.exists(), "a child went on after its parent was killed");
    }

    #[test]
    fn an_interrupt_ends_the_process() {
        let ended = run(&mut shell("sleep 30"), None, &|| true);
        assert!(matches!(ended, Err(ExecuteError::Interrupted)));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = run(&mut Command::new("/nonexistent/program"), None, &|| false).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/program"), "{error}");
    }
}
