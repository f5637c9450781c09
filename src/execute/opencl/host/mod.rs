//! OpenCL programs as they are: a library that they are started with has what they build instrumented and logs what they
//! launch.
//!
//! The library is C (`src/instrument/runtime/opencl/host`), compiled for each run by the system's compiler. It writes
//! [`messages`] into the run's directory; a thread reads them while the program runs, and a [`session`] answers them and turns
//! them into the log.
//!
//! Guarantees: what the program reads, writes and returns is its own; a launch of which not all is in the log is told, with the
//! reason; no log has an end if the program was cut off.
//!
//! Deliberately absent: how a text is instrumented, which whoever runs the program says ([`Instrument`]); systems without
//! `LD_PRELOAD`.
//!
//! [`Scheduling`] runs a program whose work-groups and work-items take the ids that they are given, [`Substitutions`] one with another
//! text; of neither a log is kept.
//!
//! Without a log ([`Options::log`]) the texts that it gets are taken to count what is reached, in the place of logging.

mod messages;
mod orders;
mod session;
mod substitute;

pub use messages::Text;
pub use orders::{Ids, OrderedLaunch, OrderedTrial, Scheduling};
pub use substitute::{Replaced, Substitution, Substitutions};

use super::counts::Counted;
use super::worker::{RECORDS_VARIABLE, most_records};
use super::{Options, cache_of_driver};
use crate::execute::ExecuteError;
use crate::execute::cpu::compile_library;
use crate::execute::process::{self, Ended};
use crate::execute::program::{Outcome, Stop};
use crate::execute::report;
use crate::execute::scratch::Scratch;
use crate::instrument::opencl::Shared;
use crate::instrument::runtime;
use crate::trace::pairs::HostWrite;
use session::Session;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An instrumented program, or why there is none.
pub type Instrumented = Result<Unit, NotInstrumented>;

/// Why a program is not instrumented, in the user's words.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct NotInstrumented(#[from] pub Box<dyn std::error::Error + Send + Sync>);

/// Whoever instruments what a program builds. Sites are numbered in the order of the units that it gives.
pub type Instrument<'a> = &'a (dyn Fn(&Text) -> Instrumented + Sync);

/// An instrumented program.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Instrumented OpenCL C.
    pub text: String,
    /// Its kernels and barriers.
    pub shared: Shared,
    /// Places of kernels and of barriers: file and line.
    pub kernels: Vec<(String, u32)>,
    /// Likewise.
    pub barriers: Vec<(String, u32)>,
}

/// How a program has run.
#[derive(Clone, Debug)]
pub struct Hosted {
    /// How it ended, and what was met.
    pub outcome: Outcome,
    /// What its units have counted, in the order in which they were instrumented.
    pub counted: Vec<Counted>,
    /// What the host has written to buffers of logged launches.
    pub host_writes: Vec<HostWrite>,
}

/// What a program is told, and how often messages are looked for.
const DIRECTORY: &str = "RACEPROOF_HOST_DIRECTORY";
const READER: &str = "RACEPROOF_HOST_READER";
/// Whether it says what the host writes to buffers.
const WRITES: &str = "RACEPROOF_HOST_WRITES";
/// Whether its work-groups and work-items are given ids, and where the bytes of a buffer go that are asked for.
const ORDERS: &str = "RACEPROOF_HOST_ORDERS";
const DUMP: &str = "RACEPROOF_HOST_DUMP";
const PRELOAD: &str = "LD_PRELOAD";
const NAP: Duration = Duration::from_millis(1);

/// Runs a program: its path, and its arguments.
pub fn run(
    program: &[OsString],
    options: &Options,
    scratch: &Scratch,
    instrument: Instrument<'_>,
    stop: Stop<'_>,
) -> Result<Hosted, ExecuteError> {
    let library = library(scratch, stop)?;
    let directory = scratch.path().join("messages");
    let report = scratch.path().join("report");
    let _ = std::fs::remove_dir_all(&directory);
    let _ = std::fs::remove_file(&report);
    let made = std::fs::create_dir_all(&directory);
    made.map_err(|cause| ExecuteError::Write { path: directory.clone(), cause })?;
    let session = Session::new(&report, options.log.as_deref(), instrument);
    let session = session.map_err(|cause| ExecuteError::Write { path: report.clone(), cause })?;
    let mut command = command(program, &library, scratch)?;
    if options.log.is_some() {
        command.env(WRITES, "1");
    }
    command.env(DIRECTORY, &directory).env(READER, std::process::id().to_string());
    // Its input is the user's, unless that is a terminal, which only one group of processes may read.
    if std::io::stdin().is_terminal() {
        command.stdin(Stdio::null());
    }
    options.output.of(&mut command);
    let mut session = session;
    let take = |process: u64, bytes: &[u8]| session.take(process, bytes);
    let ended = attended(&directory, take, || process::run(&mut command, options.timeout, stop))?;
    let status = match ended {
        Ended::Exited(status) => Some(status),
        Ended::Signalled(_) | Ended::TimedOut => None,
    };
    let ended_session = session.end(status).map_err(|cause| ExecuteError::Device { cause: cause.to_string() });
    let (counted, host_writes) = ended_session?;
    Ok(Hosted { outcome: Outcome { ended, events: report::read(&report) }, counted, host_writes })
}

/// Compiles the library.
fn library(scratch: &Scratch, stop: Stop<'_>) -> Result<PathBuf, ExecuteError> {
    for file in runtime::opencl_host_files() {
        scratch.write(&format!("host/{}", file.path), &file.text)?;
    }
    compile_library(&scratch.path().join("host").join(runtime::OPENCL_HOST_UNIT), scratch, stop)
}

/// The program, started with the library.
fn command(program: &[OsString], library: &Path, scratch: &Scratch) -> Result<Command, ExecuteError> {
    let empty = OsString::new();
    let (name, arguments) = program.split_first().unwrap_or((&empty, &[]));
    // The dynamic linker takes several, apart by these.
    let text = library.to_string_lossy();
    if text.contains([' ', ':']) {
        return Err(ExecuteError::Preload { path: library.to_path_buf() });
    }
    let mut preload = OsString::from(library);
    if let Some(others) = std::env::var_os(PRELOAD).filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    let mut command = Command::new(name);
    command.args(arguments).env(PRELOAD, preload).env(RECORDS_VARIABLE, most_records().to_string());
    for variable in [DIRECTORY, READER, WRITES, ORDERS, DUMP] {
        command.env_remove(variable);
    }
    // It would make kernels of binaries that it has kept.
    command.env("PYOPENCL_NO_CACHE", "1");
    cache_of_driver(&mut command, scratch)?;
    Ok(command)
}

/// Runs something while messages are handed to whoever takes them, which goes on until it is over and none is left.
fn attended<R>(
    directory: &Path,
    mut take: impl FnMut(u64, &[u8]) -> Option<String> + Send,
    run: impl FnOnce() -> R,
) -> R {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| read(directory, &mut take, &is_over));
        let result = run();
        is_over.store(true, Ordering::Release);
        if let Err(panic) = reader.join() {
            std::panic::resume_unwind(panic);
        }
        result
    })
}

/// Hands messages on until the program is over and none is left.
fn read(directory: &Path, take: &mut impl FnMut(u64, &[u8]) -> Option<String>, is_over: &AtomicBool) {
    let mut inbox = messages::Inbox::new(directory);
    loop {
        // What a program wrote before it ended is there when it has ended.
        let was_over = is_over.load(Ordering::Acquire);
        let order = if was_over { messages::Order::WithGaps } else { messages::Order::Strict };
        let mut found = false;
        while let Some(message) = inbox.next(order) {
            found = true;
            let answer = take(message.process, &message.bytes);
            message.done(answer.as_deref());
        }
        match (found, was_over) {
            (false, true) => return,
            (false, false) => std::thread::sleep(NAP),
            (true, _) => {}
        }
    }
}
