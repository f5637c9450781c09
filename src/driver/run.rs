//! `run`: instruments the files of a program, builds it, runs it.
//!
//! This is the only way in raceproof by which code of the user's is executed, and the caller says so before. What a run
//! shows holds for its input and its schedule; the log that it leaves is judged by whoever asked for it.

use super::Options;
use super::asked::NoKernel;
use super::instrument::{InstrumentedFile, Purpose, instrument_for, instrument_to};
use super::isolate::isolated;
use super::parallel::on_workers;
use super::prepared::{PreparedFile, guarded};
use super::told::{left_out, place, tell, uncounted};
use super::unlinked::{self, Undefined};
use crate::children;
use crate::execute::launch::{Description, DescriptionError};
use crate::execute::program::{self, Program, Unit};
use crate::execute::scratch::{self, Scratch};
use crate::execute::{ExecuteError, cpu, cuda, opencl, process};
use crate::instrument::InstrumentError;
use crate::instrument::mutant::Untouched;
use crate::source::Span;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use thiserror::Error;

pub use super::described::{Head, heads};
pub use super::prepared::{Prepared, is_opencl, prepare};
pub use super::told::Told;
pub use crate::execute::cuda::nvcc::find as find_nvcc;
pub use crate::execute::launch::host::ParameterKind;
pub use crate::execute::opencl::{
    PROBE as OPENCL_PROBE, WORKER as OPENCL_WORKER, device as opencl_device, serve as serve_opencl,
};
pub use crate::execute::process::Ended;
pub use crate::execute::program::{BuildOptions, Logging, Output, RunOptions, Stop};
pub use crate::instrument::Backend;

/// What to build and to run.
#[derive(Clone, Debug)]
pub struct Request {
    /// What builds and runs it.
    pub backend: Backend,
    /// The files of the program: CUDA, which is instrumented, and host code, which is not.
    pub files: Vec<PathBuf>,
    /// How files are read.
    pub options: Options,
    /// How they are built.
    pub build: BuildOptions,
    /// How the program is run.
    pub run: RunOptions,
    /// Where everything that is built stays; `None`: it is removed.
    pub keep: Option<PathBuf>,
    /// A description of memory and launches, for kernels that come without a program.
    pub launch: Option<PathBuf>,
    /// Lines that have no mutants.
    pub untouched: Untouched,
}

/// Why there was no run.
#[derive(Debug, Error)]
pub enum RunError {
    /// A file cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// A kernel that is asked for is not there.
    #[error("--kernel: {0}")]
    NoKernel(#[from] NoKernel),
    /// OpenCL kernels of which nobody says how they are launched.
    #[error("{}: OpenCL kernels are run as a launch description says; name one by --launch LAUNCH.toml", .0.display())]
    NoLaunch(PathBuf),
    /// OpenCL kernels beside other files.
    #[error("{}: a file of OpenCL kernels is run alone", .0.display())]
    NotAlone(PathBuf),
    /// A file cannot be instrumented.
    #[error("{}: {cause}", path.display())]
    Instrument {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: InstrumentError,
    },
    /// raceproof failed.
    #[error("bug in raceproof while instrumenting {}: {message}; please report it with the file", path.display())]
    Bug {
        /// The file.
        path: PathBuf,
        /// The panic's message and place.
        message: String,
    },
    /// The launch description, or the kernels for it.
    #[error(transparent)]
    Description(#[from] DescriptionError),
    /// Threads hand over in a way that a log of a GPU does not show.
    #[error(
        "{place}: what {what} orders is not logged on a GPU, so that a run would show conflicts that are none; \
         --backend cpu logs it"
    )]
    NotFollowed {
        /// `path:line:column`.
        place: String,
        /// What orders them.
        what: String,
    },
    /// The program compiles and does not link.
    #[error("the program does not link: {}", unlinked::told(.undefined))]
    Unlinked {
        /// What the linker said.
        messages: String,
        /// What nobody defines.
        undefined: Vec<Undefined>,
    },
    /// The program cannot be built or started.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
}

impl RunError {
    /// What the compiler said, if it was the compiler.
    pub fn compiler_messages(&self) -> Option<&str> {
        match self {
            RunError::Execute(ExecuteError::Compile { messages, .. }) | RunError::Unlinked { messages, .. } => {
                Some(messages)
            }
            _ => None,
        }
    }

    /// Whether the user ended it.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, RunError::Execute(ExecuteError::Interrupted))
    }
}

/// A program that is built and may be run.
#[derive(Debug)]
pub struct Built {
    program: Executable,
    files: Vec<InstrumentedFile>,
    scratch: Scratch,
    /// What code of kernels is not logged, as lines for the user.
    pub left_out: Vec<String>,
    /// What else is to be known of what was built.
    pub notes: Vec<String>,
}

/// What runs.
#[derive(Debug)]
enum Executable {
    Program(Backend, Program),
    /// The launches of OpenCL kernels, which the driver builds when they are run.
    OpenCl(Description, Vec<opencl::Structure>),
}

impl Executable {
    fn back_end(&self) -> &'static str {
        match self {
            Executable::Program(Backend::Cpu, _) => "cpu",
            Executable::Program(Backend::Cuda, _) => "cuda",
            Executable::OpenCl(..) => "opencl",
        }
    }
}

/// How a run went.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What ran it.
    pub back_end: &'static str,
    /// How the program ended.
    pub ended: Ended,
    /// The kernels that were launched, in the order of their first launches.
    pub launched: Vec<String>,
    /// What else the runtime met.
    pub told: Vec<Told>,
}

/// Ends all processes that serve this one and removes all that is temporary, for a process that is about to end: whoever is at
/// work is left to itself.
pub fn abandon() {
    children::end_all();
    process::end_all();
    scratch::remove_all();
}

/// The back end that fits this machine: the GPU, if there is one with an nvcc, else the CPU.
pub fn best_backend() -> Backend {
    if cuda::is_there() { Backend::Cuda } else { Backend::Cpu }
}

/// Instruments and builds what was prepared for the request.
pub fn build(prepared: Prepared, request: &Request, stop: Stop<'_>) -> Result<Built, RunError> {
    if let Some(description) = prepared.opencl {
        return build_opencl(prepared.files, description, prepared.scratch, request);
    }
    let mut units = Vec::new();
    let mut files = Vec::new();
    let options = reading_options(request);
    for file in &prepared.files {
        let Some(text) = &file.text else {
            units.push(Unit::Plain(file.path.clone()));
            continue;
        };
        let instrumented = instrumented((request.backend, purpose(request)), &file.path, text, &options)?;
        if let Some(unordered) = instrumented.unit.unordered.first().filter(|_| request.build.logging == Logging::Full)
        {
            let place = place(&instrumented, unordered.span);
            return Err(RunError::NotFollowed { place, what: unordered.what.clone() });
        }
        units.push(Unit::Instrumented {
            text: instrumented.unit.text.clone(),
            sites: instrumented.unit.sites.len(),
            points: instrumented.unit.points.len() + instrumented.unit.mutants.len(),
            directory: directory(&file.path),
        });
        files.push(instrumented);
    }
    let scratch = prepared.scratch;
    let backend = request.backend;
    let program = match backend {
        Backend::Cpu => cpu::build(&units, &request.build, &scratch, stop),
        Backend::Cuda => cuda::build(&units, &request.build, &scratch, stop),
    };
    let program = program.map_err(|error| not_built(error, request))?;
    let program = Executable::Program(backend, program);
    let notes = prepared.set_aside.iter().map(|path| {
        format!("{}: its `main` is set aside, since a launch description stands for the program", path.display())
    });
    let notes = notes.collect();
    let left_out = files.iter().flat_map(left_out).collect();
    Ok(Built { program, files, scratch, left_out, notes })
}

/// Why a program was not built, with what its linker lacks.
fn not_built(error: ExecuteError, request: &Request) -> RunError {
    let ExecuteError::Compile { messages, .. } = &error else { return error.into() };
    let undefined = unlinked::undefined(messages, &request.files, &request.build.include_dirs);
    if undefined.is_empty() {
        return error.into();
    }
    RunError::Unlinked { messages: messages.clone(), undefined }
}

/// Instruments OpenCL kernels and compares them with their launches.
fn build_opencl(
    prepared: Vec<PreparedFile>,
    description: Description,
    scratch: Scratch,
    request: &Request,
) -> Result<Built, RunError> {
    let mut files = Vec::new();
    let mut structs = Vec::new();
    for PreparedFile { path, text } in prepared {
        let file = instrumented(
            (request.backend, Purpose::Log),
            &path,
            text.as_deref().unwrap_or_default(),
            &request.options,
        )?;
        let heads = guarded(&path, || heads(&path, text.as_deref().unwrap_or_default(), &request.options))?;
        structs.extend(heads.into_iter().flat_map(structures));
        opencl::check(&opencl_unit(&file, &structs), &description, &scratch)?;
        if request.keep.is_some() {
            scratch.write("kernels.cl", &file.unit.text)?;
        }
        files.push(file);
    }
    let left_out = files.iter().flat_map(left_out).collect();
    Ok(Built { program: Executable::OpenCl(description, structs), files, scratch, left_out, notes: Vec::new() })
}

/// The parameters of a kernel that are structs.
pub(super) fn structures(head: Head) -> impl Iterator<Item = opencl::Structure> {
    head.parameters.into_iter().filter_map(move |parameter| match parameter.kind {
        ParameterKind::Struct(record) => {
            Some(opencl::Structure { kernel: head.name.clone(), parameter: parameter.name, record })
        }
        _ => None,
    })
}

/// What the back end needs of an instrumented file.
pub(super) fn opencl_unit<'a>(file: &'a InstrumentedFile, structs: &'a [opencl::Structure]) -> opencl::Unit<'a> {
    let place = |span: Span| {
        let path = &file.sources.file(file.sources.visible(span).file).path;
        (path.display().to_string(), file.sources.start_position(span).line)
    };
    let shared = &file.unit.opencl;
    opencl::Unit {
        text: &file.unit.text,
        shared,
        structs,
        kernels: shared.kernels.iter().map(|kernel| place(kernel.span)).collect(),
        barriers: shared.barriers.iter().map(|&span| place(span)).collect(),
    }
}

/// How the files are read: for nvcc as its device pass will see them.
fn reading_options(request: &Request) -> Options {
    let mut options = request.options.clone();
    if let Some(value) = cuda::architecture().filter(|_| request.backend == Backend::Cuda) {
        options.defines.push(("__CUDA_ARCH__".to_owned(), value.to_string()));
    }
    options
}

/// What the text is instrumented for.
fn purpose(request: &Request) -> Purpose<'_> {
    match request.build.logging {
        Logging::Full | Logging::Plain | Logging::Scheduled => Purpose::Log,
        Logging::Coverage => Purpose::Cover,
        Logging::Search => Purpose::Search,
        Logging::Mutants => Purpose::Mutate(&request.untouched),
    }
}

fn directory(path: &Path) -> PathBuf {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

fn instrumented(
    (backend, purpose): (Backend, Purpose<'_>),
    path: &Path,
    text: &str,
    options: &Options,
) -> Result<InstrumentedFile, RunError> {
    let instrument = || match purpose {
        Purpose::Log => instrument_for(backend, path, text, options),
        purpose => instrument_to(purpose, path, text, options),
    };
    match on_workers(Some(1), || isolated(instrument)) {
        Ok(Ok(file)) => Ok(file),
        Ok(Err(cause)) => Err(RunError::Instrument { path: path.to_path_buf(), cause }),
        Err(panic) => Err(RunError::Bug { path: path.to_path_buf(), message: panic.to_string() }),
    }
}

/// A unit whose accesses are logged on a GPU, whoever builds its program.
pub(super) fn logged_unit(path: &Path, text: &str, options: &Options) -> Result<InstrumentedFile, RunError> {
    instrumented((Backend::Cuda, Purpose::Log), path, text, options)
}

impl Built {
    /// Where everything is that goes away with the program.
    pub(super) fn scratch_path(&self) -> &Path {
        self.scratch.path()
    }

    /// A path for the log, if the user does not want to keep it.
    pub fn scratch_log(&self) -> PathBuf {
        self.scratch.path().join("run.trace")
    }

    /// What device code has no counters, as lines for the user.
    pub fn uncounted(&self) -> Vec<String> {
        self.files.iter().flat_map(|file| uncounted(file, "not counted")).collect()
    }

    /// What code has no mutants that would have some elsewhere, as lines for the user, each once.
    pub fn unmutated(&self) -> Vec<String> {
        let lines: BTreeSet<String> = self.files.iter().flat_map(|file| uncounted(file, "not mutated")).collect();
        lines.into_iter().collect()
    }

    /// The instrumented files, in the order of the program's units.
    pub(super) fn instrumented_files(&self) -> &[InstrumentedFile] {
        &self.files
    }

    /// The program that runs on the CPU.
    pub(super) fn program(&self) -> Option<&Program> {
        match &self.program {
            Executable::Program(Backend::Cpu, program) => Some(program),
            _ => None,
        }
    }

    /// Where the program puts what it counts.
    pub(super) fn file_of_counts(&self) -> PathBuf {
        match &self.program {
            Executable::Program(_, program) => program.file_of_counts().to_path_buf(),
            Executable::OpenCl(..) => PathBuf::new(),
        }
    }

    /// Runs the program.
    pub fn run(&self, options: &RunOptions, stop: Stop<'_>) -> Result<Ran, RunError> {
        let outcome = match &self.program {
            Executable::Program(backend, program) => {
                if let Some(cause) = cuda::cannot_run().filter(|_| *backend == Backend::Cuda) {
                    return Err(cause.into());
                }
                program::run(program, options, stop)?
            }
            Executable::OpenCl(description, structs) => {
                let Some(file) = self.files.first() else { unreachable!("a file of kernels was instrumented") };
                let wanted =
                    opencl::Options { log: options.log.clone(), timeout: options.timeout, output: options.output };
                opencl::run(&opencl_unit(file, structs), description, &wanted, &self.scratch, stop)?
            }
        };
        let launched = outcome.launched().map(str::to_owned).collect();
        let back_end = self.program.back_end();
        let told = outcome.events.iter().filter_map(|event| tell(event, back_end, &self.files)).collect();
        Ok(Ran { back_end, ended: outcome.ended, launched, told })
    }
}
