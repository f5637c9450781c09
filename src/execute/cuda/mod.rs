//! The cuda back end: nvcc, and the real GPU.
//!
//! [`build`] writes the runtime and the instrumented units into a scratch directory and makes a program of them, in which
//! the linker puts the runtime in the place of the functions that allocate and launch. Running it is as for any program.
//!
//! Instead of building a program itself it can make the logged objects of a build of the user's: [`command`] says what a
//! command of that build makes, [`object`] what becomes of an object.
//!
//! `RACEPROOF_CUDA_ARCH` names the architectures to compile for, such as `75,90`; otherwise it is that of the GPU, and
//! without a GPU nothing is built.
//!
//! Deliberately absent: separate compilation of device code (`-rdc`). What libraries access is not logged.

pub mod command;
pub mod dryrun;
pub mod nvcc;
pub mod object;

use super::ExecuteError;
use super::process::{self, Ended};
use super::program::{BuildOptions, Logging, Program, Stop, Unit, parent, wants_openmp};
use super::scratch::Scratch;
use crate::instrument::runtime;
use nvcc::Nvcc;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What every unit is compiled with.
pub(super) const FLAGS: [&str; 3] = ["-std=c++17", "-O2", "-w"];
/// What many programs are built with, and no program minds.
const ACCEPTED: [&str; 2] = ["--extended-lambda", "--expt-relaxed-constexpr"];
/// Logging takes registers; with more than these a block of 1024 threads could no longer be launched.
const REGISTERS: &str = "-maxrregcount=64";
/// What a unit with kernels that log is compiled with besides.
pub(super) const DEVICE_FLAGS: [&str; 3] = [ACCEPTED[0], ACCEPTED[1], REGISTERS];

/// A unit as nvcc gets it.
struct Source {
    path: PathBuf,
    directory: PathBuf,
    language: &'static str,
}

/// Whether programs can be built and run here: there is a GPU, and an nvcc.
pub fn is_there() -> bool {
    nvcc::has_gpu() && nvcc::find().is_ok()
}

/// Why a program that was built cannot be run here, if it cannot.
pub fn cannot_run() -> Option<ExecuteError> {
    (!nvcc::has_gpu()).then_some(ExecuteError::NoGpu)
}

/// Builds a program of `units`.
pub fn build(
    units: &[Unit],
    options: &BuildOptions,
    scratch: &Scratch,
    stop: Stop<'_>,
) -> Result<Program, ExecuteError> {
    let nvcc = nvcc::find()?;
    let architectures = architectures()?;
    let runtime = object::write_runtime(scratch)?;
    let mut sources = sources(units, scratch)?;
    let openmp = sources.iter().any(|source| wants_openmp(&source.path));
    // It sees launches even where nothing is logged.
    sources.push(Source { path: runtime.join(runtime::CUDA_UNIT), directory: runtime, language: "c++" });
    let threads = if openmp { "-fopenmp" } else { "-pthread" };
    let mut objects: Vec<OsString> = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let object = scratch.path().join(format!("unit{number}.o"));
        let mut arguments = common(scratch, source, options, &architectures);
        arguments.extend(["-Xcompiler", threads, "-c", "-x", source.language].map(OsString::from));
        arguments.extend([source.path.clone().into(), "-o".into(), object.clone().into()]);
        call(&nvcc, &arguments, scratch, stop)?;
        objects.push(object.into());
    }
    let executable = scratch.path().join("program");
    let mut arguments = objects;
    arguments.extend(options.link_arguments());
    arguments.extend(link(&nvcc, threads, &architectures));
    arguments.extend(["-o".into(), executable.clone().into()]);
    call(&nvcc, &arguments, scratch, stop)?;
    Ok(Program { executable, report: scratch.path().join("report"), counts: scratch.path().join("counts") })
}

fn sources(units: &[Unit], scratch: &Scratch) -> Result<Vec<Source>, ExecuteError> {
    let mut sources = Vec::new();
    for (number, unit) in units.iter().enumerate() {
        match unit {
            Unit::Instrumented { text, directory, .. } => {
                let path = scratch.write(&format!("unit{number}.cu"), text)?;
                sources.push(Source { path, directory: directory.clone(), language: "cu" });
            }
            Unit::Plain(path) => {
                sources.push(Source { path: path.clone(), directory: parent(path), language: "c++" });
            }
        }
    }
    Ok(sources)
}

/// The numbers in `RACEPROOF_CUDA_ARCH`.
fn named_architectures() -> Vec<u32> {
    let named = std::env::var("RACEPROOF_CUDA_ARCH").unwrap_or_default();
    named.split([',', ' ']).filter_map(|number| number.parse().ok()).collect()
}

/// The value of `__CUDA_ARCH__` by which device code is chosen before it is instrumented: that of the oldest
/// architecture that is named, else that of the GPU. A compiler that chooses other code stops there.
pub fn architecture() -> Option<u32> {
    named_architectures().into_iter().min().or_else(nvcc::architecture_of_gpu).map(|number| number * 10)
}

/// Flags that say which GPUs the program is for.
fn architectures() -> Result<Vec<OsString>, ExecuteError> {
    let numbers = named_architectures();
    if numbers.is_empty() {
        return if nvcc::has_gpu() { Ok(vec!["-arch=native".into()]) } else { Err(ExecuteError::NoGpu) };
    }
    let flag = |number: &u32| format!("-gencode=arch=compute_{number},code=sm_{number}").into();
    Ok(numbers.iter().map(flag).collect())
}

fn common(scratch: &Scratch, source: &Source, options: &BuildOptions, architectures: &[OsString]) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = FLAGS.map(OsString::from).into();
    if source.language == "cu" {
        arguments.extend(architectures.iter().cloned());
        arguments.extend(ACCEPTED.map(OsString::from));
    }
    if options.logging == Logging::Full {
        arguments.push(REGISTERS.into());
    }
    if options.logging == Logging::Plain {
        arguments.push("-DRACEPROOF_PLAIN".into());
    }
    for (name, value) in &options.defines {
        arguments.push(format!("-D{name}={value}").into());
    }
    // The runtime's last, whose names the program may have, too.
    let runtime = scratch.path().join("runtime");
    for directory in std::iter::once(&source.directory).chain(&options.include_dirs).chain([&runtime]) {
        arguments.extend(["-I".into(), directory.clone().into()]);
    }
    arguments
}

fn link(nvcc: &Nvcc, threads: &str, architectures: &[OsString]) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = architectures.to_vec();
    arguments.extend(["-Xcompiler", threads, "-lm"].map(OsString::from));
    if let Some(libraries) = &nvcc.libraries {
        arguments.extend(["-L".into(), libraries.clone().into()]);
    }
    for name in runtime::CUDA_WRAPPED {
        arguments.extend(["-Xlinker".into(), format!("--wrap={name}").into()]);
    }
    arguments
}

fn call(nvcc: &Nvcc, arguments: &[OsString], scratch: &Scratch, stop: Stop<'_>) -> Result<(), ExecuteError> {
    let mut command = Command::new(&nvcc.program);
    if let Some(host) = host_compiler() {
        command.arg("-ccbin").arg(host);
    }
    command.args(arguments);
    quietly(command.env("LC_ALL", "C"), scratch, stop).map(drop)
}

/// Runs a tool, and gives what it says; if it fails, as an error.
pub fn quietly(command: &mut Command, scratch: &Scratch, stop: Stop<'_>) -> Result<String, ExecuteError> {
    let messages = scratch.path().join("compiler.txt");
    let written = |cause| ExecuteError::Write { path: messages.clone(), cause };
    // nvcc leaves many files behind when it is interrupted.
    command.env("TMPDIR", scratch.path()).stdin(Stdio::null());
    let out = File::create(&messages).map_err(written)?;
    // Some of its messages, those of the device's compiler among them, go to standard output.
    command.stdout(out.try_clone().map_err(written)?).stderr(out);
    let ended = process::run(command, None, stop)?;
    let messages = String::from_utf8_lossy(&fs::read(&messages).unwrap_or_default()).into_owned();
    match ended {
        Ended::Exited(0) => Ok(messages),
        _ => Err(ExecuteError::Compile { messages, unsupported: Vec::new() }),
    }
}

/// The compiler for the host's part, if the user names one.
fn host_compiler() -> Option<PathBuf> {
    let named = std::env::var("CXX").ok()?;
    named.split_whitespace().next().map(Path::new).map(Path::to_path_buf)
}
