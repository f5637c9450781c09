//! The system's C++ compiler: which one, and how it is called.
//!
//! Warnings are turned off: they are about code that the user knows from the user's own build, or about raceproof's.

use super::{BuildOptions, Logging, Stop, refused};
use crate::execute::ExecuteError;
use crate::execute::process::{self, Ended};
use crate::execute::program::wants_openmp;
use crate::execute::scratch::Scratch;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file to compile.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    /// Where its quoted includes are sought first.
    pub(super) directory: PathBuf,
    /// The number of its first site.
    pub(super) first_site: usize,
    pub(super) first_point: usize,
}

/// What every unit is compiled with. CUDA code looks at one object through pointers of several types, which device compilers let
/// pass.
pub(in crate::execute) const FLAGS: [&str; 6] = ["-std=gnu++17", "-O2", "-w", "-fno-strict-aliasing", "-x", "c++"];

/// Programs that are tried, in this order, if CXX names none.
const COMPILERS: [&str; 3] = ["c++", "g++", "clang++"];

/// The command line that the compiler's begins with.
fn find() -> Result<Vec<OsString>, ExecuteError> {
    if let Some(named) = std::env::var_os("CXX").filter(|named| !named.is_empty()) {
        // As make has it: a program and perhaps arguments.
        return Ok(named.to_string_lossy().split_whitespace().map(OsString::from).collect());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &str| std::env::split_paths(&path).any(|directory| directory.join(name).is_file());
    match COMPILERS.into_iter().find(|name| is_there(name)) {
        Some(name) => Ok(vec![OsString::from(name)]),
        None => Err(ExecuteError::NoCompiler { tried: COMPILERS.join(", ") }),
    }
}

/// Compiles and links; units one after another, for two compilers at once need twice the memory.
pub(super) fn compile(
    sources: &[Source],
    options: &BuildOptions,
    scratch: &Scratch,
    stop: Stop<'_>,
) -> Result<PathBuf, ExecuteError> {
    let compiler = find()?;
    let executable = scratch.path().join("program");
    let threads = if sources.iter().any(|source| wants_openmp(&source.path)) { "-fopenmp" } else { "-pthread" };
    let mut objects = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let object = scratch.path().join(format!("unit{number}.o"));
        let mut arguments = common(scratch, source, options);
        arguments.extend([threads.into(), "-c".into(), source.path.clone().into(), "-o".into(), object.clone().into()]);
        call(&compiler, &arguments, scratch, stop)?;
        objects.push(object);
    }
    let mut arguments: Vec<OsString> = objects.into_iter().map(OsString::from).collect();
    arguments.extend(options.link_arguments());
    arguments.extend([threads.into(), "-pthread".into(), "-lm".into(), "-o".into(), executable.clone().into()]);
    call(&compiler, &arguments, scratch, stop)?;
    Ok(executable)
}

/// Compiles a file of C to a library that programs can be started with.
pub(in crate::execute) fn compile_library(
    source: &Path,
    scratch: &Scratch,
    stop: Stop<'_>,
) -> Result<PathBuf, ExecuteError> {
    let library = source.with_extension("so");
    let mut arguments: Vec<OsString> =
        ["-x", "c", "-std=gnu11", "-O2", "-w", "-fvisibility=hidden", "-shared", "-fPIC", "-pthread"]
            .map(OsString::from)
            .into();
    arguments.extend([source.into(), "-o".into(), library.clone().into(), "-ldl".into()]);
    call(&find()?, &arguments, scratch, stop).map(|()| library)
}

fn common(scratch: &Scratch, source: &Source, options: &BuildOptions) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = FLAGS.map(OsString::from).into();
    arguments.push(format!("-DRACEPROOF_FIRST_SITE={}", source.first_site).into());
    arguments.push(format!("-DRACEPROOF_FIRST_POINT={}", source.first_point).into());
    match options.logging {
        Logging::Full => {}
        Logging::Scheduled => arguments.push("-DRACEPROOF_SCHEDULED".into()),
        Logging::Plain | Logging::Coverage | Logging::Search | Logging::Mutants => {
            arguments.push("-DRACEPROOF_PLAIN".into())
        }
    }
    for (name, value) in &options.defines {
        arguments.push(format!("-D{name}={value}").into());
    }
    arguments.extend(["-I".into(), scratch.path().join("runtime").into()]);
    arguments.extend(["-iquote".into(), source.directory.clone().into()]);
    for directory in &options.include_dirs {
        arguments.extend(["-I".into(), directory.clone().into()]);
    }
    arguments
}

fn call(compiler: &[OsString], arguments: &[OsString], scratch: &Scratch, stop: Stop<'_>) -> Result<(), ExecuteError> {
    let empty = OsString::new();
    let (program, first) = compiler.split_first().unwrap_or((&empty, &[]));
    let messages = scratch.path().join("compiler.txt");
    let written = |cause| ExecuteError::Write { path: messages.clone(), cause };
    let mut command = Command::new(program);
    command.args(first).args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    // What a compiler that is interrupted leaves goes with everything else.
    command.env("TMPDIR", scratch.path());
    // Messages are searched for names between plain quotes.
    command.env("LC_ALL", "C").stderr(File::create(&messages).map_err(written)?);
    let ended = match process::run(&mut command, None, stop) {
        Err(ExecuteError::Start { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {
            return Err(ExecuteError::NoCompiler { tried: name(program) });
        }
        other => other?,
    };
    if ended == Ended::Exited(0) {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&fs::read(&messages).unwrap_or_default()).into_owned();
    let unsupported = refused::names(&text);
    Err(ExecuteError::Compile { messages: text, unsupported })
}

fn name(program: &OsStr) -> String {
    program.to_string_lossy().into_owned()
}
