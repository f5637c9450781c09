//! What is typed to look at logs.

use super::{TraceFormat, When};
use crate::driver::trace::MOST_SHARDS;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

const TRACE_EXIT_CODES: &str = "Exit codes:
  0    no conflict in a complete log
  1    conflicts
  2    usage or input error; no conflict, but the log is incomplete
  101  a bug in raceproof";

const SPLIT_EXAMPLE: &str = "A log that is too large for one machine:
  raceproof trace split run.trace -n 8 -o shards   # shards/run.shard-1-of-8.trace and so on
  raceproof trace check shards/run.shard-1-of-8.trace   # each of them, anywhere
The conflicts of the run are those of all shards together. An incomplete log is not split.";

const MERGE_NOTE: &str =
    "The order of files does not matter. If one is missing, damaged or of another log, nothing is written.";

const EXPORT_NOTE: &str =
    "Writes launches, allocations, sites, accesses and synchronisations, each as a file of Parquet, into DIR.
docs/LOGS.md says what the columns mean, and has a query for the conflicts. An incomplete log is not exported.";

#[derive(Args, Debug)]
pub(in crate::cli) struct TraceArgs {
    #[command(subcommand)]
    pub(in crate::cli) command: TraceCommand,
}

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub(in crate::cli) enum TraceCommand {
    /// Look for conflicting accesses
    Check(CheckedLog),
    /// Say what is in a log
    Info(LogArgs),
    /// Write a log as several, by address, each of which can be checked by itself
    Split(SplitArgs),
    /// Put the shards of a log together again
    Merge(MergeLogArgs),
    /// Write a log as tables, to ask with DuckDB, Polars and others
    Export(ExportArgs),
}

#[derive(Args, Debug)]
#[command(after_help = TRACE_EXIT_CODES)]
pub(in crate::cli) struct CheckedLog {
    #[command(flatten)]
    pub(in crate::cli) log: LogArgs,
    #[command(flatten)]
    pub(in crate::cli) within: Within,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct LogArgs {
    /// The log, as `raceproof run --log` writes it
    pub(in crate::cli) file: PathBuf,
    /// How results are written
    #[arg(long, value_enum, default_value_t = TraceFormat::Text)]
    pub(in crate::cli) format: TraceFormat,
    /// When to use colours
    #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub(in crate::cli) color: When,
}

/// What may be used.
#[derive(Args, Debug)]
pub(in crate::cli) struct Within {
    /// Memory to stay within; what does not fit is kept in temporary files
    #[arg(long, value_name = "SIZE", default_value = "512M")]
    pub(in crate::cli) memory: String,
    /// Threads to use [default: one for each core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(in crate::cli) jobs: Option<u16>,
}

#[derive(Args, Debug)]
#[command(after_help = SPLIT_EXAMPLE)]
pub(in crate::cli) struct SplitArgs {
    /// The log, as `raceproof run --log` writes it
    pub(in crate::cli) file: PathBuf,
    /// What decides where an access goes
    #[arg(long, value_enum, default_value_t = SplitBy::Address)]
    pub(in crate::cli) by: SplitBy,
    /// How many shards to write
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_SHARDS)))]
    pub(in crate::cli) shards: u32,
    /// Directory to write them to; it is made if it is not there [default: that of the log]
    #[arg(short, long, value_name = "DIR")]
    pub(in crate::cli) output: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) within: Within,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum SplitBy {
    /// Ranges of addresses with about as many accesses each
    Address,
}

#[derive(Args, Debug)]
#[command(after_help = MERGE_NOTE)]
pub(in crate::cli) struct MergeLogArgs {
    /// All shards of one log
    #[arg(required = true, value_name = "SHARD")]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// The log to write
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) output: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) within: Within,
}

#[derive(Args, Debug)]
#[command(after_help = EXPORT_NOTE)]
pub(in crate::cli) struct ExportArgs {
    /// How tables are written
    #[arg(long, value_enum)]
    pub(in crate::cli) format: TableFiles,
    /// The log, as `raceproof run --log` writes it
    pub(in crate::cli) file: PathBuf,
    /// Directory to write tables to; it is made if it is not there
    #[arg(value_name = "DIR")]
    pub(in crate::cli) directory: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) within: Within,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum TableFiles {
    /// Apache Parquet, compressed by zstd
    Parquet,
}
