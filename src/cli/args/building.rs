//! What was typed for `nvcc`: arguments that are nvcc's own.

use clap::Args;
use std::ffi::OsString;

const ABOUT: &str = "In a Makefile: make NVCC='raceproof nvcc' CXX='raceproof nvcc g++'
With CMake:    cmake -DCMAKE_CUDA_COMPILER_LAUNCHER='raceproof;nvcc' -DCMAKE_CXX_COMPILER_LAUNCHER='raceproof;nvcc' …

  --raceproof-keep-going   anywhere among the arguments: compile what cannot be logged without logging it; logs then say
                           that they are incomplete

The program that is built writes its log to the file that RACEPROOF_LOG names, else to PROGRAM.trace.

Exit codes: those of the compiler; 2 where a unit cannot be logged, 101 for a bug in raceproof";

#[derive(Args, Debug)]
#[command(disable_help_flag = true, after_help = ABOUT)]
pub(in crate::cli) struct NvccArgs {
    /// The compiler (nvcc is sought where none is named), and its arguments
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(in crate::cli) words: Vec<OsString>,
}
