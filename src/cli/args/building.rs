//! What was typed for `nvcc`: arguments that are nvcc's own, `--help` among them. Without any, the help is raceproof's.

use clap::Args;
use std::ffi::OsString;

const ABOUT: &str = "In a Makefile:
  make NVCC='raceproof nvcc' CXX='raceproof nvcc g++'
With CMake:
  cmake -DCMAKE_CUDA_COMPILER_LAUNCHER='raceproof;nvcc' -DCMAKE_CXX_COMPILER_LAUNCHER='raceproof;nvcc'

Anywhere among the arguments:
  --raceproof-keep-going   Compile what cannot be logged as it is; logs then are incomplete, and say so

The program that is built writes its log to the file that RACEPROOF_LOG names, else to PROGRAM.trace

Exit codes: those of the compiler;
  2    a unit cannot be logged, or there is no nvcc
  101  a bug in raceproof";

#[derive(Args, Debug)]
#[command(disable_help_flag = true, arg_required_else_help = true, after_help = ABOUT)]
pub(in crate::cli) struct NvccArgs {
    /// The compiler (nvcc is sought where none is named), and its arguments
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(in crate::cli) words: Vec<OsString>,
}
