//! What was typed: the grammar of the command line, with its help.
//!
//! Values are checked for their form only; whether they make sense together is for [`super::options`].

mod adequacy;
mod building;
mod generating;
mod helping;
mod judging;
mod keeping;
mod mutating;
mod scheduling;
mod serving;
mod settings;
mod sharing;
mod shell;
mod telling;
mod tracing;
mod writing;

pub(super) use adequacy::{AdequacyArgs, AdequacyFormat};
pub(super) use building::NvccArgs;
pub(super) use generating::GenerateArgs;
pub(super) use keeping::{CacheArgs, CachePlace, CleanArgs};
pub(super) use mutating::MutateArgs;
pub(super) use scheduling::{Compare, ScheduleArgs};
pub(super) use serving::LspArgs;
pub(super) use settings::SettingsArgs;
pub(super) use sharing::{MergeArgs, Portion, WorkArgs};
pub(super) use shell::{CompletionsArgs, ManArgs};
pub(super) use telling::BaselineArgs;
pub(super) use writing::{Destination, Format};

pub(super) use judging::{ContractsArgs, Effort, GlobalOffset, JudgingArgs, ProofArgs, Solver, TableFormat};
pub(super) use tracing::{CheckedLog, ExportArgs, LogArgs, MergeLogArgs, SplitArgs, TraceArgs, TraceCommand, Within};

use crate::driver::passes::{self, Pass};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Proves CUDA and OpenCL kernels free of data races and barrier divergence, or shows the two threads, the
/// values and the two lines that race
#[derive(Debug, Parser)]
#[command(name = "raceproof", version, about, max_term_width = 100, disable_version_flag = true)]
#[command(arg_required_else_help = true, args_conflicts_with_subcommands = true)]
pub(super) struct Cli {
    /// Print the directory that has raceproof.h, for compilers: nvcc -I "$(raceproof --include-dir)"
    #[arg(long)]
    pub(super) include_dir: bool,
    /// Print the version
    #[arg(short = 'V', long, conflicts_with = "include_dir")]
    pub(super) version: bool,
    /// With --version: say of which commit this is, and which libclang, solver, OpenCL driver and nvcc are found
    #[arg(short, long, requires = "version")]
    pub(super) verbose: bool,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Check kernels for data races and barrier divergence
    Check(CheckArgs),
    /// Make one report of those that the shards of a run wrote (`check --shard`)
    Merge(MergeArgs),
    /// Print what a pass makes of a file
    Show(ShowArgs),
    /// Write a file with every access of its kernels logged, for a runtime to build and run
    Instrument(InstrumentArgs),
    /// Build a CUDA program with every access of its kernels logged, execute it, and check the log
    Run(RunArgs),
    /// Stand in for nvcc in a build, so that the program that it builds logs every access of its kernels
    Nvcc(NvccArgs),
    /// Check the log of a run for conflicts, say what is in it, or split it for several machines
    Trace(TraceArgs),
    /// Build, log and execute a CUDA program once, and say for which inputs that run shows that there is no race
    Amplify(AmplifyArgs),
    /// Build and execute a CUDA program, and say which barriers, branches, loops and lines of its kernels that reaches
    Cover(CoverArgs),
    /// Search launches of CUDA kernels that reach as much of them as possible, by executing them, and write launch descriptions
    Generate(GenerateArgs),
    /// Build a CUDA program with its mutants, execute it with each, and say which of them its tests tell apart
    Mutate(MutateArgs),
    /// Execute a CUDA program, or an OpenCL program as it is, under many schedules, and say what depends on them, and which of them
    /// end in deadlock
    Schedule(ScheduleArgs),
    /// Measure the tests of a CUDA program: what they reach, which mutants they tell apart, what depends on the schedule, what to add
    Adequacy(AdequacyArgs),
    /// Serve an editor: findings, verdicts and fixes of texts as they are written (Language Server Protocol)
    Lsp(LspArgs),
    /// Write the contracts of kernels as a table, which can be kept and compared
    Contracts(ContractsArgs),
    /// Explain a rule, a verdict or another word of reports, or list all of them
    Explain(ExplainArgs),
    /// Print raceproof.h: annotations as macros that every compiler accepts (see `raceproof --include-dir`)
    Header,
    /// Print what a shell needs to complete commands, options and their values
    Completions(CompletionsArgs),
    /// Write the manual pages
    Man(ManArgs),
    /// Remove the results of earlier runs that are kept (see `check --cache-dir`)
    Clean(CleanArgs),
    /// What this program runs itself as, to read files through libclang
    #[command(name = super::front::WORKER, hide = true)]
    ClangWorker,
    /// What this program runs itself as, to ask the OpenCL driver what it is
    #[command(name = crate::driver::run::OPENCL_PROBE, hide = true)]
    OpenclProbe,
    /// What this program runs itself as, to run OpenCL kernels on a driver
    #[command(name = crate::driver::run::OPENCL_WORKER, hide = true)]
    OpenclWorker {
        /// The file that says what to do
        job: PathBuf,
    },
}

const EXIT_CODES: &str = "Exit codes:
  0    nothing found
  1    findings (see --fail-on)
  2    usage or input error, impossible geometry
  101  a bug in raceproof";

#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, disable_help_flag = true)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    pub(super) help: helping::HelpArgs,
    /// Files and directories; `-` is standard input
    ///
    /// Below directories these are files that end in .cu, .cuh, .hip, .cl or .ocl; .gitignore is respected.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) source: SourceArgs,
    #[command(flatten)]
    pub(super) launch: LaunchArgs,
    /// Path under which standard input is reported, and whose extension says its language
    #[arg(long, value_name = "PATH", help_heading = "Source", hide_short_help = true)]
    pub(super) stdin_filename: Option<PathBuf>,
    #[command(flatten)]
    pub(super) judging: JudgingArgs,
    #[command(flatten)]
    pub(super) proof: ProofArgs,
    #[command(flatten)]
    pub(super) baseline: BaselineArgs,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
    /// Insert barriers into the files where they are certain to end races
    ///
    /// What is reported is then about the new text.
    #[arg(long, help_heading = "Output")]
    pub(super) fix: bool,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    /// Write a program that shows it for each race with a witness; nothing is executed
    #[arg(long, value_name = "DIR", help_heading = "Output", hide_short_help = true)]
    pub(super) reproduce: Option<PathBuf>,
    /// Write a site that shows the kernels, their findings and pictures of small launches; it needs no network
    #[arg(long, value_name = "DIR", help_heading = "Output", conflicts_with_all = ["shard"])]
    pub(super) html: Option<PathBuf>,
    /// Report the time that every kernel and every stage took, and which libclang answered
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub(super) timings: bool,
    #[command(flatten)]
    pub(super) work: WorkArgs,
}

/// How results are shown.
#[derive(Args, Debug)]
pub(super) struct OutputArgs {
    /// How results are written [default: text]
    #[arg(long, value_enum, help_heading = "Output")]
    pub(super) format: Option<Format>,
    /// Write a report into a file, beside the one on standard output
    ///
    /// Repeatable; `-` is standard output.
    #[arg(long, value_name = "FORMAT=PATH", value_parser = writing::destination, help_heading = "Output")]
    pub(super) output: Vec<Destination>,
    /// What makes the exit code 1; separated by commas
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_values_t = [FailOn::Racy, FailOn::Divergent, FailOn::Possible],
        help_heading = "Output"
    )]
    pub(super) fail_on: Vec<FailOn>,
    /// Report findings only, one line each
    ///
    /// There are no excerpts, no verdicts, no summary and no progress.
    #[arg(long, short, help_heading = "Output")]
    pub(super) quiet: bool,
    /// Say with each verdict all that it relies on, not only how much
    #[arg(long, short, conflicts_with = "quiet", help_heading = "Output")]
    pub(super) verbose: bool,
    /// Count findings by file and rule, in the place of the findings
    #[arg(long, conflicts_with_all = ["quiet", "verbose"], help_heading = "Output", hide_short_help = true)]
    pub(super) statistics: bool,
    /// Report no more than N findings, the gravest first; the exit code is about all
    #[arg(long, value_name = "N", help_heading = "Output", hide_short_help = true)]
    pub(super) max_findings: Option<usize>,
    /// When to use colours
    #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN", help_heading = "Output", hide_short_help = true)]
    pub(super) color: When,
}

#[derive(Args, Debug)]
pub(super) struct ShowArgs {
    /// What to print
    #[arg(value_enum)]
    pub(super) stage: Stage,
    /// The file; `-` is standard input
    pub(super) file: PathBuf,
    /// Print the calculus as this pass leaves it
    #[arg(long, value_name = "PASS", value_parser = passes(), help_heading = "Calculus")]
    pub(super) after: Option<Pass>,
    /// Say below each kernel of the calculus what the passes took
    #[arg(long, help_heading = "Calculus")]
    pub(super) timings: bool,
    #[command(flatten)]
    pub(super) source: SourceArgs,
    #[command(flatten)]
    pub(super) launch: LaunchArgs,
}

#[derive(Args, Debug)]
pub(super) struct InstrumentArgs {
    /// The file
    pub(super) file: PathBuf,
    /// Where the text is written; `-` is standard output
    #[arg(short = 'o', long, value_name = "OUT")]
    pub(super) output: PathBuf,
    /// What will build and run it
    #[arg(long, value_enum, default_value_t = InstrumentBackend::Cpu)]
    pub(super) backend: InstrumentBackend,
    /// Write the files that it is built with into this directory, too; its first lines say how
    #[arg(long, value_name = "DIR")]
    pub(super) runtime: Option<PathBuf>,
    #[command(flatten)]
    pub(super) source: SourceArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum InstrumentBackend {
    /// A C++17 compiler and raceproof's own runtime
    Cpu,
    /// nvcc
    Cuda,
}

const RUN_EXIT_CODES: &str = "Exit codes:
  0    nothing found in this run
  1    findings
  2    usage error, or the program does not build, crashes, fails, is over time or launches nothing
  101  a bug in raceproof";

#[derive(Args, Clone, Debug)]
#[command(after_help = RUN_EXIT_CODES)]
pub(super) struct RunArgs {
    /// The files of the program: CUDA is instrumented, C and C++ are compiled as they are
    #[arg(value_name = "FILE", required_unless_present = "opencl_host")]
    pub(super) files: Vec<PathBuf>,
    /// Run an OpenCL program as it is, with the accesses of its kernels logged: `run --opencl-host -- PROGRAM ARGUMENTS`
    #[arg(long, conflicts_with_all = ["files", "launch"])]
    pub(super) opencl_host: bool,
    /// What builds and runs it
    #[arg(long, value_enum, default_value_t = RunBackend::Auto)]
    pub(super) backend: RunBackend,
    /// Launch kernels that come without a program as this description says: memory, what it holds, launches
    #[arg(long, value_name = "LAUNCH.toml", conflicts_with = "arguments")]
    pub(super) launch: Option<PathBuf>,
    /// Keep the log of the run here
    #[arg(long, value_name = "OUT.trace")]
    pub(super) log: Option<PathBuf>,
    /// Order in which threads and blocks run: 0 is that of their numbers; with a seed, blocks run one at a time unless --jobs says
    /// otherwise, so that the same seed gives the same run
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// End the program after this time
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0)]
    pub(super) timeout: f64,
    /// Keep what is built, and the log, in this directory
    #[arg(long, value_name = "DIR")]
    pub(super) keep: Option<PathBuf>,
    /// Blocks that run at once [default: one for each core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=512))]
    pub(super) jobs: Option<u32>,
    /// Build without logging and only run, to see what logging costs
    #[arg(long, conflicts_with = "log")]
    pub(super) no_log: bool,
    /// Link the program with this library; what it accesses is not logged
    #[arg(short = 'l', value_name = "LIBRARY", help_heading = "Source")]
    pub(super) libraries: Vec<String>,
    /// Look for libraries here
    #[arg(short = 'L', value_name = "DIR", help_heading = "Source")]
    pub(super) library_dirs: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) source: SourceArgs,
    /// Arguments of the program
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub(super) arguments: Vec<std::ffi::OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum RunBackend {
    /// The one that fits: an OpenCL driver for OpenCL kernels; else the GPU, where there is one of NVIDIA's and an nvcc;
    /// else the CPU
    Auto,
    /// A C++17 compiler and raceproof's own runtime
    Cpu,
    /// An OpenCL driver, for kernels with a launch description
    Opencl,
    /// nvcc and a GPU
    Cuda,
}

const AMPLIFY_EXIT_CODES: &str = "Exit codes:
  0    no race in the run
  1    races
  2    usage, build or run error; the run is incomplete
  101  a bug in raceproof";

#[derive(Args, Debug)]
#[command(after_help = AMPLIFY_EXIT_CODES)]
pub(super) struct AmplifyArgs {
    #[command(flatten)]
    pub(super) run: RunArgs,
    /// How results are written
    #[arg(long, value_enum, default_value_t = TraceFormat::Text)]
    pub(super) format: TraceFormat,
}

const COVER_EXIT_CODES: &str = "Exit codes:
  0    the program ran, and reaches what --fail-under asks for
  1    it reaches less, or the run met an error in a kernel
  2    usage, build or run error
  101  a bug in raceproof";

#[derive(Args, Debug)]
#[command(after_help = COVER_EXIT_CODES)]
pub(super) struct CoverArgs {
    #[command(flatten)]
    pub(super) run: RunArgs,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = CoverFormat::Text)]
    pub(super) format: CoverFormat,
    /// Write the report here [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Say which accesses to shared and global memory are made, and which loads read what which stores left. The program is
    /// built and run once more, with its accesses logged
    #[arg(long)]
    pub(super) data_flow: bool,
    /// Add what earlier runs reached, as `--format json` told it
    #[arg(long, value_name = "REPORT.json")]
    pub(super) with: Vec<PathBuf>,
    /// Exit 1 if less of the barriers, branches and loops is reached than this, in percent; with --data-flow, of accesses and
    /// pairs, too
    #[arg(long, value_name = "PERCENT")]
    pub(super) fail_under: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CoverFormat {
    /// What is missed, for people
    Text,
    /// All counts, for programs and for --with
    Json,
    /// A tracefile of LCOV: lines and branches
    Lcov,
    /// Cobertura's XML: lines and branches
    Cobertura,
    /// A page that shows the source, what was missed, and which threads missed it
    Html,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TraceFormat {
    /// For people
    Text,
    /// One versioned object for programs
    Json,
}

#[derive(Args, Debug)]
pub(super) struct ExplainArgs {
    /// The word as reports print it: a rule in brackets, a verdict, a reason, the operator of a mutant; without one, all are listed
    pub(super) rule: Option<String>,
}

/// How source text is read.
#[derive(Args, Clone, Debug)]
pub(super) struct SourceArgs {
    /// Read all files as this language, whatever their extension
    #[arg(long, value_enum, help_heading = "Source")]
    pub(super) lang: Option<Lang>,
    /// Front end that reads the source
    #[arg(long, value_enum, default_value_t = FrontEnd::Auto, help_heading = "Source", hide_short_help = true)]
    pub(super) front: FrontEnd,
    /// Take macros and directories from the compile_commands.json of a build
    ///
    /// Each file has the macros and include directories that it is compiled with there.
    #[arg(short = 'p', value_name = "DIR", help_heading = "Source")]
    pub(super) build: Option<PathBuf>,
    /// Define a macro (as 1 without a value)
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", help_heading = "Source")]
    pub(super) defines: Vec<String>,
    /// Search a directory for quoted includes
    #[arg(short = 'I', long = "include-dir", value_name = "DIR", help_heading = "Source")]
    pub(super) include_dirs: Vec<PathBuf>,
    /// Where headers are sought that no include path leads to, macros that nothing defines and launches that other files
    /// make, if a kernel needs them
    #[arg(long, value_enum, default_value_t = Headers::Project, help_heading = "Source", hide_short_help = true)]
    pub(super) headers: Headers,
    /// A directory of models, which stand in for headers of libraries that are found nowhere; repeatable
    ///
    /// Each file in it says in TOML for which headers its text is read. Directories raceproof.models beside raceproof.toml and
    /// in the root of a project are read without being named.
    #[arg(long, value_name = "DIR", help_heading = "Source", hide_short_help = true)]
    pub(super) models: Vec<PathBuf>,
}

/// Which kernels are looked at, and under which launches.
#[derive(Args, Debug, Default)]
pub(super) struct LaunchArgs {
    /// Look at this kernel only; repeatable
    #[arg(long = "kernel", value_name = "NAME", help_heading = "Launch")]
    pub(super) kernels: Vec<String>,
    /// Threads of a block (work-items of a work-group)
    ///
    /// Missing extents are 1.
    #[arg(long, value_name = "X[,Y[,Z]]", help_heading = "Launch")]
    pub(super) block_dim: Option<String>,
    /// Blocks of the grid (work-groups of the NDRange)
    ///
    /// Missing extents are 1.
    #[arg(long, value_name = "X[,Y[,Z]]", help_heading = "Launch")]
    pub(super) grid_dim: Option<String>,
    /// Fix a scalar parameter of kernels; repeatable
    #[arg(long = "param", value_name = "NAME=VALUE", allow_hyphen_values = true, help_heading = "Launch")]
    pub(super) params: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Lang {
    /// CUDA C++
    Cuda,
    /// HIP
    Hip,
    /// OpenCL C
    Opencl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Headers {
    /// In the repository of the file, or below the directory that is checked: the nearest of the name
    Project,
    /// Nowhere
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FrontEnd {
    /// libclang where it is installed and can be relied on, tree-sitter elsewhere
    Auto,
    /// The built-in one
    TreeSitter,
    /// libclang alone
    Clang,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Level {
    /// Threads of one block
    Block,
    /// Threads of different blocks
    Grid,
    /// Both
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    /// A proved race, or another proved defect
    Racy,
    /// A proved barrier divergence
    Divergent,
    /// A possible race, divergence or other defect
    Possible,
    /// A kernel without a verdict, or a file that was not fully read
    Unknown,
    /// A kernel without a verdict in a file that was not fully read: a syntax error, mostly
    Unread,
    /// A contract that some launch is not shown to keep, or of which no launch is in sight
    OpenContract,
    /// Nothing
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Stage {
    /// The surface tree that the front end made
    Syntax,
    /// The kernels in the calculus
    Calculus,
    /// Their memory access protocols
    Protocol,
    /// The pairs of accesses that share a barrier interval
    Intervals,
    /// The inputs that decide where they access memory, and how
    Flow,
    /// The conditions that must be impossible, and how each was decided
    Conditions,
}

/// The passes by their names, each with what it does.
fn passes() -> impl TypedValueParser<Value = Pass> {
    let values = passes::all().map(|pass| PossibleValue::new(pass.name).help(pass.about));
    PossibleValuesParser::new(values).map(|name| passes::named(&name).expect("it is one of them"))
}
