//! Programs, whichever back end builds them: what they are made of, how they are run.

use super::ExecuteError;
use super::process::{self, Ended};
use super::report::{self, Event, EventKind};
use crate::trace::pairs::HostWrite;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Whether `stop` is wanted by the user; asked often.
pub type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// One unit of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Instrumented text, with the number of its sites.
    Instrumented {
        /// What to compile.
        text: String,
        /// How many sites it has.
        sites: usize,
        /// How many points of coverage, or mutants.
        points: usize,
        /// Where it came from: its quoted includes are sought there.
        directory: PathBuf,
    },
    /// A file that is compiled as it stands: host code, or code instrumented by hand.
    Plain(PathBuf),
}

/// Whether accesses are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logging {
    /// They are.
    Full,
    /// The same program without a trace of it, to measure what logging costs.
    Plain,
    /// They are not: what a test reaches is counted. For the CPU.
    Coverage,
    /// They are not: what an input reaches is counted, and how near it comes to the rest is told. For the CPU.
    Search,
    /// They are not: the program holds its mutants. For the CPU.
    Mutants,
    /// They are if a run asks for it, and the program keeps to the schedule that it is given. For the CPU.
    Scheduled,
}

/// How to build.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// Directories of headers.
    pub include_dirs: Vec<PathBuf>,
    /// Macros.
    pub defines: Vec<(String, String)>,
    /// Libraries to link with, by name.
    pub libraries: Vec<String>,
    /// Directories in which they are sought.
    pub library_dirs: Vec<PathBuf>,
    /// Whether accesses are logged.
    pub logging: Logging,
}

impl BuildOptions {
    /// What a linker is told of libraries.
    pub(super) fn link_arguments(&self) -> impl Iterator<Item = OsString> + '_ {
        let directories =
            self.library_dirs.iter().flat_map(|directory| [OsString::from("-L"), directory.clone().into()]);
        directories.chain(self.libraries.iter().map(|library| OsString::from(format!("-l{library}"))))
    }
}

/// How to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Where the log is written; `None`: nowhere.
    pub log: Option<PathBuf>,
    /// Arguments of the program.
    pub arguments: Vec<OsString>,
    /// Decides the order in which threads run; 0 is in order of their numbers. A GPU has an order of its own.
    pub seed: u64,
    /// When the program is ended.
    pub timeout: Option<Duration>,
    /// Blocks that run at once; `None`: as many as the machine has cores. A GPU decides that itself.
    pub workers: Option<u32>,
    /// Where its output goes.
    pub output: Output,
}

/// Where the output of a program goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// To the user, as it is.
    #[default]
    Own,
    /// To standard error: standard output is for a report that programs read.
    Aside,
    /// Nowhere: it is looked at in other runs.
    Nowhere,
}

impl Output {
    /// Sends the output of a command there.
    pub(super) fn of(self, command: &mut Command) {
        match self {
            Output::Own => {}
            Output::Aside => _ = command.stdout(std::io::stderr()),
            Output::Nowhere => _ = command.stdout(Stdio::null()).stderr(Stdio::null()),
        }
    }
}

/// A program that was built, in a scratch directory.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) executable: PathBuf,
    pub(super) report: PathBuf,
    /// Where it puts what it counts, if it counts.
    pub(super) counts: PathBuf,
}

impl Program {
    /// Where the last run put what it counted.
    pub fn file_of_counts(&self) -> &Path {
        &self.counts
    }

    /// Where it says what the host writes, if a run is logged.
    fn file_of_host_writes(&self) -> PathBuf {
        self.report.with_file_name("host-writes")
    }

    /// What the host wrote in the last run, if that was logged on the CPU.
    pub fn host_writes(&self) -> Vec<HostWrite> {
        let text = std::fs::read_to_string(self.file_of_host_writes()).unwrap_or_default();
        text.lines().filter_map(host_write).collect()
    }
}

/// A line that says what the host has written: launches before, allocation, first byte, bytes.
fn host_write(line: &str) -> Option<HostWrite> {
    let numbers: Vec<u64> = line.split('\t').map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let &[launches, allocation, first, bytes] = numbers.as_slice() else { return None };
    let (launches, allocation) = (launches.try_into().ok()?, allocation.try_into().ok()?);
    Some(HostWrite { launches, allocation, bytes: first..first.checked_add(bytes)? })
}

/// How a run went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How the program ended.
    pub ended: Ended,
    /// What the runtime met.
    pub events: Vec<Event>,
}

impl Outcome {
    /// The kernels that were launched.
    pub fn launched(&self) -> impl Iterator<Item = &str> {
        self.events.iter().filter(|event| event.kind == EventKind::Launch).map(|event| event.kernel.as_str())
    }
}

/// The directory of a file.
pub(super) fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// Whether a file asks for OpenMP, which is a flag of its own.
pub(super) fn wants_openmp(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains("omp.h"))
}

/// One of many runs of a program, whose output is kept for whoever compares it.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// Which of its mutants the program is, from 0; `None`: none.
    pub mutant: Option<usize>,
    /// Whether it says in `reached` which of its mutants it comes to.
    pub tells_reached: bool,
    /// Decides the order in which threads run.
    pub seed: u64,
    /// Arguments of the program.
    pub arguments: &'a [OsString],
    /// Where its output goes: `stdout`, `stderr`, `report`, `reached`.
    pub directory: PathBuf,
    /// When the program is ended.
    pub timeout: Duration,
}

/// How such a run went.
#[derive(Clone, Debug)]
pub struct Tried {
    /// How the program ended.
    pub ended: Ended,
    /// What it wrote to standard output.
    pub output: String,
    /// What the runtime met.
    pub events: Vec<Event>,
    /// How long it took.
    pub took: Duration,
}

impl Tried {
    /// Whether it was ended.
    pub fn is_timeout(&self) -> bool {
        self.ended == Ended::TimedOut
    }
}

/// Runs a program with nobody looking. Its blocks run one after the other, so that the same seed gives the same run, and
/// many such runs can go on at once.
pub fn try_out(program: &Program, trial: &Trial<'_>, stop: Stop<'_>) -> Result<Tried, ExecuteError> {
    let mut command = unwatched(program, trial.arguments, &trial.directory);
    command.env("RACEPROOF_SEED", trial.seed.to_string());
    match trial.mutant {
        Some(number) => command.env("RACEPROOF_MUTANT", number.to_string()),
        None => command.env_remove("RACEPROOF_MUTANT"),
    };
    match trial.tells_reached {
        true => command.env("RACEPROOF_COVER", trial.directory.join("reached")),
        false => command.env_remove("RACEPROOF_COVER"),
    };
    observed(command, &trial.directory, trial.timeout, stop)
}

/// A run whose report goes into a directory, with one OS thread and without a log.
pub(super) fn unwatched(program: &Program, arguments: &[OsString], directory: &Path) -> Command {
    let mut command = Command::new(&program.executable);
    command.args(arguments).env("RACEPROOF_REPORT", directory.join("report"));
    command.env("RACEPROOF_WORKERS", "1").env_remove("RACEPROOF_LOG");
    command
}

/// Runs a command whose output goes into a directory.
pub(super) fn observed(
    mut command: Command,
    directory: &Path,
    timeout: Duration,
    stop: Stop<'_>,
) -> Result<Tried, ExecuteError> {
    let written = |path: PathBuf| move |cause| ExecuteError::Write { path, cause };
    fs::create_dir_all(directory).map_err(written(directory.to_path_buf()))?;
    for left in ["report", "reached"] {
        let _ = fs::remove_file(directory.join(left));
    }
    let create = |name: &str| File::create(directory.join(name)).map_err(written(directory.join(name)));
    command.stdin(Stdio::null()).stdout(create("stdout")?).stderr(create("stderr")?);
    let start = Instant::now();
    let ended = process::run(&mut command, Some(timeout), stop)?;
    let took = start.elapsed();
    let output = String::from_utf8_lossy(&fs::read(directory.join("stdout")).unwrap_or_default()).into_owned();
    Ok(Tried { ended, output, events: report::read(&directory.join("report")), took })
}

/// Runs a program. Its output is the user's; so is its input, unless that is a terminal, which only one group of
/// processes may read.
pub fn run(program: &Program, options: &RunOptions, stop: Stop<'_>) -> Result<Outcome, ExecuteError> {
    let _ = std::fs::remove_file(&program.report);
    let _ = std::fs::remove_file(&program.counts);
    let _ = std::fs::remove_file(program.file_of_host_writes());
    let mut command = Command::new(&program.executable);
    command.args(&options.arguments);
    command.env("RACEPROOF_REPORT", &program.report);
    command.env("RACEPROOF_COVER", &program.counts);
    command.env("RACEPROOF_SEED", options.seed.to_string());
    match &options.log {
        Some(log) => command.env("RACEPROOF_LOG", log).env("RACEPROOF_HOST_WRITES", program.file_of_host_writes()),
        // Without a name some programs choose one.
        None => command.env("RACEPROOF_LOG", "").env_remove("RACEPROOF_HOST_WRITES"),
    };
    if let Some(workers) = options.workers {
        command.env("RACEPROOF_WORKERS", workers.to_string());
    }
    if std::io::stdin().is_terminal() {
        command.stdin(Stdio::null());
    }
    options.output.of(&mut command);
    let ended = process::run(&mut command, options.timeout, stop)?;
    Ok(Outcome { ended, events: report::read(&program.report) })
}
