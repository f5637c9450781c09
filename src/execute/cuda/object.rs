//! Logged objects: what a compiler made, with the host's half of the runtime in it, so that any linker makes a logged
//! program of it.
//!
//! The object's calls of CUDA's functions are turned to the runtime's (`objcopy`), and both become one object (`ld -r`).
//! The runtime is host code alone, and everything in it is weak: of many such objects a program has it once.
//!
//! Deliberately absent: objects that are no machine code yet, as link-time optimisation has them; compilers are told not
//! to make these.

use super::quietly;
use crate::execute::ExecuteError;
use crate::execute::program::Stop;
use crate::execute::scratch::Scratch;
use crate::instrument::runtime;
use crate::source::fingerprint::Fingerprint;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What units and their runtime are told, so that those of another raceproof are noticed.
pub fn made_for() -> String {
    let texts: Vec<String> = runtime::cuda_files().into_iter().map(|file| file.text).collect();
    format!("v{}", Fingerprint::of(texts.concat().as_bytes()))
}

/// Writes the runtime's files, and gives their directory.
pub fn write_runtime(scratch: &Scratch) -> Result<PathBuf, ExecuteError> {
    for file in runtime::cuda_files() {
        scratch.write(&format!("runtime/{}", file.path), &file.text)?;
    }
    Ok(scratch.path().join("runtime"))
}

/// What nvcc is told to make the host's half of the runtime, which goes into programs and libraries alike.
pub fn runtime_arguments(directory: &Path, object: &Path) -> Vec<String> {
    let unit = directory.join(runtime::CUDA_UNIT);
    let fixed = ["-std=c++17", "-O2", "-w", "-Xcompiler", "-fPIC", "-Xcompiler", "-fno-lto", "-c", "-x", "c++"];
    let mut arguments: Vec<String> = fixed.map(str::to_owned).into();
    arguments.extend([format!("-DRACEPROOF_MADE_FOR={}", made_for()), unit.display().to_string()]);
    arguments.extend(["-o".to_owned(), object.display().to_string()]);
    arguments
}

/// Whether an object calls functions of CUDA that the runtime has. One that does not needs nothing of CUDA in its program.
pub fn calls_cuda(object: &Path, scratch: &Scratch, stop: Stop<'_>) -> Result<bool, ExecuteError> {
    match quietly(Command::new("nm").arg("-u").arg(object), scratch, stop) {
        Ok(names) => Ok(names.split_whitespace().any(|name| runtime::CUDA_WRAPPED.contains(&name))),
        // It is no object.
        Err(ExecuteError::Compile { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes one object of `object` and the runtime, at `to`, which may be the same place.
pub fn complete(
    object: &Path,
    runtime_object: &Path,
    to: &Path,
    scratch: &Scratch,
    stop: Stop<'_>,
) -> Result<(), ExecuteError> {
    let lines = runtime::CUDA_WRAPPED.iter().map(|name| format!("{name} __wrap_{name}\n"));
    let names = scratch.write("wrapped.txt", lines.collect::<String>())?;
    let turned = scratch.path().join("turned.o");
    let mut objcopy = Command::new("objcopy");
    objcopy.arg(format!("--redefine-syms={}", names.display())).arg(object).arg(&turned);
    quietly(&mut objcopy, scratch, stop)?;
    let mut linker = Command::new("ld");
    linker.arg("-r").arg("-o").arg(to).arg(&turned).arg(runtime_object);
    quietly(&mut linker, scratch, stop).map(drop)
}

/// What a linker is told so that it turns the calls of all other objects to the runtime, too.
pub fn link_arguments(runtime_object: &Path) -> Vec<String> {
    let wrapped = runtime::CUDA_WRAPPED.iter().flat_map(|name| ["-Xlinker".to_owned(), format!("--wrap={name}")]);
    std::iter::once(runtime_object.display().to_string()).chain(wrapped).collect()
}
