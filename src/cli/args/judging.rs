//! What was typed of how kernels are judged, which `check` and `contracts` have in common, and the rest of `contracts`.

use super::{Level, SourceArgs};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Whom a judgement may ask, how long it takes, and what is stated of devices.
#[derive(Args, Debug)]
pub(in crate::cli) struct JudgingArgs {
    /// Solver to ask where the built-in rules and the search leave a question open
    #[arg(long, value_enum, default_value_t = Solver::Auto, help_heading = "Proof")]
    pub(in crate::cli) solver: Solver,
    /// Take a solver for broken that does not answer for so long: what it is asked ends much earlier by counts of its own
    #[arg(
        long,
        alias = "time-limit",
        value_name = "SECONDS",
        default_value_t = 30.0,
        help_heading = "Proof",
        hide_short_help = true
    )]
    pub(in crate::cli) solver_timeout: f64,
    /// Take N neighbouring threads of a warp to run in lock-step, as on hardware before Volta: a power of two up to 64
    #[arg(long, value_name = "N", value_parser = lockstep, help_heading = "Proof", hide_short_help = true)]
    pub(in crate::cli) lockstep_warps: Option<u32>,
    /// Take no function that is not defined for one of its arguments: kernels that call one are unknown
    #[arg(long, help_heading = "Proof", hide_short_help = true)]
    pub(in crate::cli) strict_externals: bool,
    /// Take functions of that name for such, all the same: `*` is any text, namespaces may be left out
    #[arg(long = "external", value_name = "NAME", help_heading = "Proof", hide_short_help = true)]
    pub(in crate::cli) externals: Vec<String>,
    /// Never take functions of that name for such
    #[arg(long = "refuse-external", value_name = "NAME", help_heading = "Proof", hide_short_help = true)]
    pub(in crate::cli) refused_externals: Vec<String>,
    /// How hard to try: for an answer while you type, for a scan, or for a release
    #[arg(long, value_enum, default_value_t = Effort::Normal, help_heading = "Proof")]
    pub(in crate::cli) effort: Effort,
    /// Where global ids of OpenCL start: at 0, or anywhere [default: anywhere, and 0 where a proof needs it or a launch is given,
    /// which is told]
    #[arg(long, value_enum, value_name = "0|any", help_heading = "Device", hide_short_help = true)]
    pub(in crate::cli) global_offset: Option<GlobalOffset>,
    /// The most work-items of a work-group of OpenCL, which has no limit of its own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Device", hide_short_help = true)]
    pub(in crate::cli) max_work_group_size: Option<u32>,
    /// Work-groups of OpenCL 2 are all of one size, as with -cl-uniform-work-group-size
    #[arg(long, help_heading = "Device", hide_short_help = true)]
    pub(in crate::cli) uniform_work_groups: bool,
    /// Lanes of a wavefront of HIP
    #[arg(long, value_name = "32|64", value_parser = wave, help_heading = "Device", hide_short_help = true)]
    pub(in crate::cli) wave: Option<u32>,
}

/// What is asked of kernels, and under which launches.
#[derive(Args, Debug)]
pub(in crate::cli) struct ProofArgs {
    /// Between which threads races are sought
    #[arg(long, value_enum, default_value_t = Level::All, help_heading = "Proof", hide_short_help = true)]
    pub(in crate::cli) level: Level,
    /// Let no contract excuse a race: judge every kernel for all launches that there can be or, where it is not free
    /// for all, for those that were found
    #[arg(long, help_heading = "Proof", hide_short_help = true)]
    pub(in crate::cli) any_launch: bool,
    /// Judge kernels under the contracts that a file states
    ///
    /// Launches are held against these. The file is as `raceproof contracts` writes it.
    #[arg(long, value_name = "FILE", help_heading = "Proof", conflicts_with_all = ["any_launch", "block_dim", "grid_dim", "params"])]
    pub(in crate::cli) contracts: Option<PathBuf>,
    /// Take the launches that a run made, from its log (`raceproof run --log`), in the place of those that host code states
    #[arg(long, value_name = "RUN.trace", help_heading = "Launch", conflicts_with_all = ["block_dim", "grid_dim", "params"], hide_short_help = true)]
    pub(in crate::cli) launches: Option<PathBuf>,
    /// Replay the derivation of every proof with the independent checker
    #[arg(long, help_heading = "Proof", hide_short_help = true)]
    pub(in crate::cli) check_proofs: bool,
    /// Name barriers that kernels are proved to do without
    ///
    /// Hints never change the exit code.
    #[arg(long, help_heading = "Proof", hide_short_help = true)]
    pub(in crate::cli) hints: bool,
}

const EXIT_CODES: &str = "Exit codes:
  0    the table is written
  2    usage or input error
  101  a bug in raceproof";

#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub(in crate::cli) struct ContractsArgs {
    /// Files and directories (.cu .cuh .hip .cl .ocl .opencl below them, and C++ and headers with kernels; .gitignore respected)
    #[arg(value_name = "PATH", default_value = ".")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) source: SourceArgs,
    #[command(flatten)]
    pub(in crate::cli) judging: JudgingArgs,
    /// Look at this kernel only; repeatable
    #[arg(long = "kernel", value_name = "NAME", help_heading = "Launch")]
    pub(in crate::cli) kernels: Vec<String>,
    /// List kernels that need no contract, too, and those of which none is known
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) all: bool,
    /// How the table is written
    #[arg(long, value_enum, default_value_t = TableFormat::Text, help_heading = "Output")]
    pub(in crate::cli) format: TableFormat,
    /// Files to check at once [default: one for each core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(in crate::cli) jobs: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum TableFormat {
    /// Lines that `check --contracts` reads
    Text,
    /// One versioned object for programs
    Json,
}

/// Where global ids start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum GlobalOffset {
    /// At 0
    #[value(name = "0")]
    Zero,
    /// Anywhere
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Effort {
    /// What an answer in an editor may take
    Quick,
    /// What a scan of a tree may take
    Normal,
    /// Whatever may help
    Thorough,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Solver {
    /// The first of these that is found on this machine, or none
    Auto,
    /// None
    None,
    /// Z3, on the PATH or named by RACEPROOF_Z3
    Z3,
    /// cvc5, on the PATH or named by RACEPROOF_CVC5
    Cvc5,
    /// Bitwuzla, on the PATH or named by RACEPROOF_BITWUZLA
    Bitwuzla,
}

/// A size that no hardware has.
#[derive(Debug, thiserror::Error)]
enum NoSuchSize {
    #[error("warps that run in lock-step have 2, 4, 8, 16, 32 or 64 threads")]
    Warp,
    #[error("wavefronts have 32 or 64 lanes")]
    Wavefront,
}

/// A number of threads that hardware can run in lock-step.
fn lockstep(typed: &str) -> Result<u32, NoSuchSize> {
    let threads = typed.parse().ok().filter(|threads: &u32| threads.is_power_of_two() && (2..=64).contains(threads));
    threads.ok_or(NoSuchSize::Warp)
}

/// The lanes of a wavefront.
fn wave(typed: &str) -> Result<u32, NoSuchSize> {
    match typed {
        "32" => Ok(32),
        "64" => Ok(64),
        _ => Err(NoSuchSize::Wavefront),
    }
}
