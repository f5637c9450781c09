//! Worker processes: started when a file needs one, kept over many files, killed when they take too long.
//!
//! A job gets an idle worker, or a new one if none is idle, so that there are never more than threads that ask.
//! A worker that dies, hangs or answers garbage costs the job that it had; the next job starts a new one.
//!
//! Deliberately absent: what the jobs are about.

use super::wire::{self, Greeting, Job, Parsed, Reply, WireError};
use super::worker::MEMORY_VARIABLE;
use crate::children::{self, Child};
use crate::source::dependencies::{Dependency, a_clock_decides, record};
use std::ffi::OsString;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// What a worker may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time for one file.
    pub deadline: Duration,
    /// Address space of one worker, in bytes.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { deadline: Duration::from_secs(120), memory: 3 << 30 }
    }
}

/// How to start a worker.
#[derive(Clone, Debug)]
pub struct Start {
    /// The program: normally this one.
    pub program: PathBuf,
    /// Its arguments, which make it a worker.
    pub arguments: Vec<OsString>,
    /// The libclang that it loads.
    pub library: PathBuf,
}

/// Why a worker gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// No worker can be of use: the library is missing, broken or too old.
    #[error("libclang cannot be used: {0}")]
    Unusable(String),
    /// It took too long.
    #[error("libclang took longer than {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// It died.
    #[error("libclang crashed")]
    Died,
    /// It answered what is no answer.
    #[error("the worker of libclang answered nonsense")]
    Garbage,
    /// libclang gave up.
    #[error("{0}")]
    Refused(String),
}

/// The workers.
#[derive(Debug)]
pub struct Pool {
    start: Start,
    limits: Limits,
    idle: Mutex<Vec<Worker>>,
    unusable: OnceLock<Failure>,
    /// What the first worker that came up calls its libclang.
    version: OnceLock<String>,
}

#[derive(Debug)]
struct Worker {
    /// It ends with the worker.
    _child: Child,
    jobs: Sender<Job>,
    replies: Receiver<Result<Reply, Failure>>,
    /// What its libclang calls itself.
    version: String,
}

impl Pool {
    /// A pool without workers yet.
    pub fn new(start: Start, limits: Limits) -> Pool {
        let (idle, unusable, version) = (Mutex::new(Vec::new()), OnceLock::new(), OnceLock::new());
        Pool { start, limits, idle, unusable, version }
    }

    /// The libclang that the workers load.
    pub fn library(&self) -> &Path {
        &self.start.library
    }

    /// Starts a worker, if none was started yet, and says what is wrong if it is of no use.
    pub fn try_out(&self) -> Result<(), Failure> {
        let worker = self.take()?;
        self.idle().push(worker);
        Ok(())
    }

    /// What made the pool useless, if anything did.
    pub fn unusable(&self) -> Option<&Failure> {
        self.unusable.get()
    }

    /// What the libclang calls itself, once a worker has loaded it.
    pub fn version(&self) -> Option<&str> {
        self.version.get().map(String::as_str)
    }

    /// Has a worker do `job`.
    pub(super) fn ask(&self, job: Job) -> Result<Parsed, Failure> {
        let worker = self.take()?;
        let reply = match worker.jobs.send(job) {
            Ok(()) => worker.wait(self.limits.deadline),
            Err(_) => Err(Failure::Died),
        };
        // A library that is late or dies now may answer another time.
        let reply = reply.inspect_err(|_| record(|| Dependency::Silence))?;
        // Only a worker that answered is asked again; any other is killed by its `drop`.
        self.idle().push(worker);
        match reply {
            Reply::Parsed(parsed) => Ok(parsed),
            Reply::Failed(why) => Err(Failure::Refused(why)),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Result<Worker, Failure> {
        if let Some(failure) = self.unusable() {
            return Err(failure.clone());
        }
        if let Some(worker) = self.idle().pop() {
            return Ok(worker);
        }
        let started = Worker::start(&self.start, self.limits);
        // Of several workers that start at once the first is heard; they all load the same library.
        match &started {
            Ok(worker) => drop(self.version.set(worker.version.clone())),
            Err(failure @ Failure::Unusable(_)) => drop(self.unusable.set(failure.clone())),
            Err(_) => {}
        }
        started
    }
}

impl Worker {
    fn start(start: &Start, limits: Limits) -> Result<Worker, Failure> {
        let mut command = Command::new(&start.program);
        command
            .args(&start.arguments)
            .env("LIBCLANG_PATH", &start.library)
            .env(MEMORY_VARIABLE, limits.memory.to_string())
            .stderr(Stdio::null());
        let (child, input, output) = children::start(&mut command)
            .map_err(|error| passing(format!("no worker process can be started: {error}")))?;
        let (jobs, taken) = mpsc::channel();
        let (given, replies) = mpsc::channel();
        let (greet, greeting) = mpsc::channel();
        let mut worker = Worker { _child: child, jobs, replies, version: String::new() };
        // The thread ends when the worker dies or is killed, or when nobody asks any more.
        let conversation = std::thread::Builder::new().spawn(move || {
            converse(&mut BufWriter::new(input), &mut BufReader::new(output), &taken, &given, &greet);
        });
        conversation.map_err(|error| passing(format!("no thread can be started: {error}")))?;
        match await_from(&greeting, limits.deadline) {
            Ok(Greeting::Ready(version)) => {
                worker.version = version;
                Ok(worker)
            }
            Ok(Greeting::Unusable(why)) => Err(Failure::Unusable(format!("{}: {why}", start.library.display()))),
            // A library that kills its worker before the first job will do so again.
            Err(failure) => Err(Failure::Unusable(format!("{}: {failure}", start.library.display()))),
        }
    }

    fn wait(&self, deadline: Duration) -> Result<Reply, Failure> {
        await_from(&self.replies, deadline)
    }
}

/// A trouble of the machine, which may be over when the next run begins.
fn passing(why: String) -> Failure {
    a_clock_decides();
    Failure::Unusable(why)
}

fn await_from<T>(from: &Receiver<Result<T, Failure>>, deadline: Duration) -> Result<T, Failure> {
    match from.recv_timeout(deadline) {
        Ok(answer) => answer,
        Err(RecvTimeoutError::Timeout) => Err(Failure::TimedOut(deadline)),
        Err(RecvTimeoutError::Disconnected) => Err(Failure::Died),
    }
}

/// Carries jobs to the worker and its replies back, until either side is gone.
fn converse(
    input: &mut impl std::io::Write,
    output: &mut impl std::io::Read,
    jobs: &Receiver<Job>,
    replies: &Sender<Result<Reply, Failure>>,
    greet: &Sender<Result<Greeting, Failure>>,
) {
    let failure = |error: WireError| match error {
        WireError::Broken(_) => Failure::Died,
        WireError::Garbage => Failure::Garbage,
    };
    let greeting = match wire::receive(output) {
        Ok(Some(greeting)) => Ok(greeting),
        Ok(None) => Err(Failure::Died),
        Err(error) => Err(failure(error)),
    };
    let is_ready = matches!(greeting, Ok(Greeting::Ready(_)));
    let mut go_on = greet.send(greeting).is_ok() && is_ready;
    while go_on {
        let Ok(job) = jobs.recv() else { return };
        let reply = wire::send(input, &job).and_then(|()| wire::receive(output));
        let reply = reply.map_err(failure).and_then(|reply| reply.ok_or(Failure::Died));
        go_on = reply.is_ok();
        go_on &= replies.send(reply).is_ok();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A pool whose workers run `script`.
    fn pool(script: &str) -> Pool {
        impatient(script, Duration::from_secs(20))
    }

    fn impatient(script: &str, deadline: Duration) -> Pool {
        let start =
            Start { program: "/bin/sh".into(), arguments: vec!["-c".into(), script.into()], library: "lib".into() };
        Pool::new(start, Limits { deadline, memory: 1 << 30 })
    }

    /// Says that it is ready, as a worker does, and goes on with `then`.
    fn ready(then: &str) -> String {
        format!(r"printf '\003\000\000\000\000\00118'; {then}")
    }

    fn job() -> Job {
        Job { arguments: Vec::new(), text: "int x;".repeat(100_000), from: 0 }
    }

    #[test]
    fn a_worker_that_cannot_load_the_library_makes_the_pool_useless() {
        let pool = pool(r"printf '\004\000\000\000\001\002no'");
        assert_eq!(pool.try_out(), Err(Failure::Unusable("lib: no".into())));
        assert_eq!(pool.unusable(), pool.ask(job()).err().as_ref());
    }

    #[test]
    fn a_program_that_is_not_there_makes_the_pool_useless() {
        let start = Start { program: "/no/such/program".into(), arguments: Vec::new(), library: "lib".into() };
        assert!(matches!(Pool::new(start, Limits::default()).try_out(), Err(Failure::Unusable(_))));
    }

    #[test]
    fn a_worker_that_hangs_is_killed() {
        for script in [&ready("sleep 100"), "sleep 100"] {
            let started = std::time::Instant::now();
            let failure = impatient(script, Duration::from_millis(300)).ask(job()).expect_err("no answer");
            assert!(matches!(failure, Failure::TimedOut(_) | Failure::Unusable(_)), "{failure:?}");
            assert!(started.elapsed() < Duration::from_secs(20));
        }
    }

    #[test]
    fn a_worker_that_dies_costs_its_job_only() {
        let pool = pool(&ready("head -c 1000 > /dev/null; exit 3"));
        for _ in 0..3 {
            assert_eq!(pool.ask(job()).err(), Some(Failure::Died));
            assert_eq!(pool.unusable(), None);
        }
    }

    #[test]
    fn garbage_is_no_answer() {
        let garbage = ready(r"head -c 1000 > /dev/null; printf 'what is this'; cat > /dev/null");
        let failure = pool(&garbage).ask(job()).expect_err("no answer");
        assert_eq!(failure, Failure::Garbage);
        assert!(matches!(pool("echo nonsense").ask(job()), Err(Failure::Unusable(_))));
    }
}
