//! The opencl back end: instrumented kernels on a driver of the machine, as a launch description says.
//!
//! The driver is loaded at run time, by a process of its own: raceproof again, as a worker ([`worker`]). A driver that
//! crashes, a kernel that hangs or writes where it should not, cost that process and the run. The worker gets its job as
//! a file ([`job`]), which [`prepare`] makes of kernels and description, builds the text on the device ([`device`]),
//! launches, and turns the records that the kernels leave in a buffer ([`records`]) into the log.
//!
//! Guarantees: a log is complete, or it has no end; a launch whose records do not fit is run again, never cut short;
//! what the device's compiler says reaches the user in the lines of the user's own text.
//!
//! Programs that have a host of their own are run by [`host`].
//!
//! Deliberately absent: images, pipes, queues of the device, and anything else than a launch description can give.
//! Work-items are taken to pass every barrier for which they leave a record; sub-groups order nothing.

pub mod counts;
mod device;
pub mod host;
mod job;
mod log;
mod prepare;
mod records;
mod trials;
mod tried;
mod worker;

pub use prepare::{Structure, Unit};
pub use trials::{Trials, Tried};
pub use worker::serve;

use super::ExecuteError;
use super::launch::Description;
use super::process::{self, Ended};
use super::program::{Outcome, Output, Stop};
use super::report;
use super::scratch::Scratch;
use device::Device;
use job::{Answer, Job, Work};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The hidden subcommand that makes this program a worker; the path of its job follows.
pub const WORKER: &str = "__opencl-worker";

/// The hidden subcommand that prints what the device is.
pub const PROBE: &str = "__opencl-probe";

/// What the device on which kernels run calls itself, with the version of its driver. The driver is loaded into this process.
pub fn device() -> Result<String, ExecuteError> {
    let device = Device::open().map_err(|error| ExecuteError::NoDriver { cause: error.to_string() })?;
    Ok(format!("{}, driver {}", device.name(), device.driver()))
}

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the log is written; `None`: nowhere.
    pub log: Option<PathBuf>,
    /// When the run is ended, the build on the device included.
    pub timeout: Option<Duration>,
    /// Where the output of kernels goes.
    pub output: Output,
}

/// Checks the description against the kernels, and makes what a worker needs.
fn prepared(
    unit: &Unit<'_>,
    described: &Description,
    log: Option<PathBuf>,
    scratch: &Scratch,
) -> Result<Job, ExecuteError> {
    Ok(prepare::job(unit, described, log, scratch.path().join("report"))?)
}

/// Says whether the description fits the kernels, without running anything.
pub fn check(unit: &Unit<'_>, described: &Description, scratch: &Scratch) -> Result<(), ExecuteError> {
    prepared(unit, described, None, scratch).map(drop)
}

/// Runs the launches of a description.
pub fn run(
    unit: &Unit<'_>,
    described: &Description,
    options: &Options,
    scratch: &Scratch,
    stop: Stop<'_>,
) -> Result<Outcome, ExecuteError> {
    let job = prepared(unit, described, options.log.clone(), scratch)?;
    let path = scratch.path().join("job");
    let _ = std::fs::remove_file(&job.report);
    let answer = path.with_extension("answer");
    let _ = std::fs::remove_file(&answer);
    let report = job.report.clone();
    job::write(&path, &Work::Run(job)).map_err(|cause| ExecuteError::Write { path: path.clone(), cause })?;
    let program =
        std::env::current_exe().map_err(|cause| ExecuteError::Start { program: "raceproof".to_owned(), cause })?;
    let mut command = Command::new(program);
    command.arg(WORKER).arg(&path).stdin(Stdio::null());
    cache_of_driver(&mut command, scratch)?;
    options.output.of(&mut command);
    let ended = process::run(&mut command, options.timeout, stop)?;
    let events = report::read(&report);
    match (ended, job::read(&answer)) {
        (Ended::Exited(_), Ok(Answer::Done)) => Ok(Outcome { ended: Ended::Exited(0), events }),
        (Ended::Exited(_), Ok(Answer::NoDriver(cause))) => Err(ExecuteError::NoDriver { cause }),
        (Ended::Exited(_), Ok(Answer::Refused(messages))) => {
            Err(ExecuteError::Compile { messages: in_user_lines(&messages), unsupported: Vec::new() })
        }
        (Ended::Exited(_), Ok(Answer::Failed(cause))) => Err(ExecuteError::Device { cause }),
        (Ended::Exited(0), Err(cause)) => Err(ExecuteError::Write { path: answer, cause }),
        (ended, _) => Ok(Outcome { ended, events }),
    }
}

/// What PoCL keeps of its builds goes with the run.
fn cache_of_driver(command: &mut Command, scratch: &Scratch) -> Result<(), ExecuteError> {
    let cache = scratch.path().join("pocl");
    let made = std::fs::create_dir_all(&cache);
    made.map_err(|cause| ExecuteError::Write { path: cache.clone(), cause })?;
    command.env("POCL_CACHE_DIR", cache);
    Ok(())
}

/// A compiler's messages in the user's lines. Errors in the runtime's macros follow from others, which tell enough; if
/// there are no others, they are told without their places in the text that stands before the user's.
fn in_user_lines(messages: &str) -> String {
    const SPELLED: &str = " <Spelling=";
    let in_runtime = |line: &&str| line.contains(SPELLED);
    let has_others = messages.lines().any(|line| line.contains("error:") && !in_runtime(&line));
    let mut text = String::new();
    for line in messages.lines().filter(|line| !(has_others && in_runtime(line))) {
        let mut rest = line;
        while let Some((before, after)) = rest.split_once(SPELLED) {
            text.push_str(before);
            rest = after.split_once('>').map_or("", |(_, after)| after);
        }
        text.push_str(rest);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn places_in_the_runtime_are_left_out_of_messages() {
        let told = "error: k.cl:9:5 <Spelling=/tmp/t.cl:165:4>: expected\nplain";
        assert_eq!(super::in_user_lines(told), "error: k.cl:9:5: expected\nplain\n");
        let told = format!("{told}\nerror: k.cl:8:1: undeclared");
        assert_eq!(super::in_user_lines(&told), "plain\nerror: k.cl:8:1: undeclared\n");
    }
}
