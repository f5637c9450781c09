//! Back ends: they build instrumented programs and run them.
//!
//! [`cpu`] compiles with the system's C++ compiler and the embedded runtime, [`cuda`] with nvcc for the GPU. A run leaves
//! two things behind: the log of accesses, which `trace` reads, and a [`report::Event`] for whatever else the runtime met:
//! divergent barriers, accesses outside of all allocations, crashes.
//!
//! Kernels that come without a program are run as a [`launch`] description says; those of OpenCL by [`opencl`], on any
//! driver of the machine.
//!
//! Guarantees: nothing outlives a run but the log and what the user asked to keep; a program that is over time, or that
//! the user interrupts, ends with everything that it started; what a compiler says reaches the user in the lines of the
//! user's own text.
//!
//! Deliberately absent: reading or judging logs, and any other program than the one that was asked for.

pub mod by_hand;
pub mod cases;
pub mod cpu;
pub mod cuda;
pub mod launch;
pub mod opencl;
pub mod process;
pub mod program;
pub mod report;
pub mod scheduled;
pub mod scratch;

use std::path::PathBuf;
use thiserror::Error;

/// Why a program could not be built or run.
#[derive(Debug, Error)]
pub enum ExecuteError {
    /// There is no compiler.
    #[error("no C++ compiler found (tried {tried}); install g++ or clang++, or name one by the variable CXX")]
    NoCompiler {
        /// What was looked for.
        tried: String,
    },
    /// There is no nvcc.
    #[error(
        "no nvcc found ({tried}); install the CUDA toolkit, or `pip install nvidia-cuda-nvcc nvidia-nvvm \
         nvidia-cuda-crt nvidia-cuda-runtime nvidia-cuda-cccl`, or name one by the variable RACEPROOF_NVCC; \
         --backend cpu needs none"
    )]
    NoNvcc {
        /// Where it was looked for.
        tried: String,
    },
    /// There is no GPU.
    #[error(
        "no GPU of NVIDIA's on this machine; --backend cpu needs none (RACEPROOF_CUDA_ARCH=75,90 builds for others)"
    )]
    NoGpu,
    /// The compiler does not accept the program.
    #[error("the program does not compile{}", unsupported_text(.unsupported))]
    Compile {
        /// What the compiler said, in lines of the user's text.
        messages: String,
        /// Names of CUDA that the back end does not have.
        unsupported: Vec<String>,
    },
    /// A process could not be started.
    #[error("cannot start {program}: {cause}")]
    Start {
        /// The program.
        program: String,
        /// What the system says.
        cause: std::io::Error,
    },
    /// A file could not be read or written.
    #[error("cannot write {}: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
    /// A process could not be waited for.
    #[error("cannot wait for {program}: {cause}")]
    Wait {
        /// The program.
        program: String,
        /// What the system says.
        cause: std::io::Error,
    },
    /// There is no OpenCL to run on.
    #[error(
        "no OpenCL driver found ({cause}); install one: on Debian and Ubuntu the package pocl-opencl-icd runs kernels \
             on the CPU"
    )]
    NoDriver {
        /// What was met.
        cause: String,
    },
    /// A device does not do what it is asked for.
    #[error("the OpenCL device cannot run this: {cause}")]
    Device {
        /// What it says.
        cause: String,
    },
    /// The dynamic linker cannot be told of the library that logs.
    #[error(
        "a program cannot be started with {}, because of a blank or a colon in that path; name another directory by TMPDIR, \
         or by --keep",
        path.display()
    )]
    Preload {
        /// The library.
        path: PathBuf,
    },
    /// A launch description does not fit the kernels.
    #[error(transparent)]
    Description(#[from] launch::DescriptionError),
    /// The user ended it.
    #[error("interrupted")]
    Interrupted,
}

fn unsupported_text(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("; the cpu back end does not support {}", names.join(", "))
}
