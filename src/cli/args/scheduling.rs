//! What was typed of schedules: how many are tried, what is compared, and which one is run again.

use super::{RunArgs, TraceFormat};
use crate::driver::schedule::Schedule;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXIT_CODES: &str = "Exit codes:
  0    no difference, and no deadlock
  1    a difference, a deadlock, or divergent barriers
  2    usage or input error; the program does not come to its end in the order of its numbers
  101  a bug in raceproof";

#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub(in crate::cli) struct ScheduleArgs {
    #[command(flatten)]
    pub(in crate::cli) run: RunArgs,
    /// How many schedules are tried; --seed decides which
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Schedules")]
    pub(in crate::cli) schedules: u32,
    /// Run this schedule alone, as a report names it
    #[arg(long, value_name = "SCHEDULE", conflicts_with_all = ["schedules", "seed"], help_heading = "Schedules")]
    pub(in crate::cli) replay: Option<Schedule>,
    /// What is compared with the run in which all comes in the order of its numbers
    #[arg(long, value_enum, default_value_t = Compare::Memory, help_heading = "Schedules")]
    pub(in crate::cli) compare: Compare,
    /// Let numbers of the output differ by so much, relatively (1e-5); memory is not compared then
    #[arg(long, value_name = "FRACTION", help_heading = "Schedules")]
    pub(in crate::cli) tolerance: Option<f64>,
    /// Compare this file, too, which the program writes
    #[arg(long, value_name = "FILE", help_heading = "Schedules")]
    pub(in crate::cli) written: Vec<PathBuf>,
    /// How results are written
    #[arg(long, value_enum, default_value_t = TraceFormat::Text)]
    pub(in crate::cli) format: TraceFormat,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Compare {
    /// Exit status, standard output, files of --written, and what device memory holds behind each launch
    Memory,
    /// All of these but memory
    Output,
}
