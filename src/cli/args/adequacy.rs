//! What was typed of a measurement of tests: how much of each part is done.

use super::RunArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXIT_CODES: &str = "Exit codes:
  0    the tests reach, and tell apart, what --fail-under and --minimum-score ask for
  1    they do less, or what the program computes depends on the schedule
  2    usage, build or run error
  101  a bug in raceproof";

#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub(in crate::cli) struct AdequacyArgs {
    #[command(flatten)]
    pub(in crate::cli) run: RunArgs,
    /// Where reports and the launches that are found go
    #[arg(long, value_name = "DIR", default_value = "adequacy.out")]
    pub(in crate::cli) output: PathBuf,
    /// How many mutants are tried
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(in crate::cli) mutants: usize,
    /// How many schedules are tried; 0: none
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(in crate::cli) schedules: usize,
    /// Time for the search of launches of one kernel
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub(in crate::cli) time: f64,
    /// Exit 1 if less of the barriers, branches and loops is reached than this, in percent
    #[arg(long, value_name = "PERCENT")]
    pub(in crate::cli) fail_under: Option<f64>,
    /// Exit 1 if the mutation score is less than this, in percent
    #[arg(long, value_name = "PERCENT")]
    pub(in crate::cli) minimum_score: Option<f64>,
    /// How results are written; the output directory has all forms
    #[arg(long, value_enum, default_value_t = AdequacyFormat::Text)]
    pub(in crate::cli) format: AdequacyFormat,
}

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum AdequacyFormat {
    /// For people
    Text,
    /// One versioned object for programs
    Json,
    /// One page that needs no network
    Html,
}
