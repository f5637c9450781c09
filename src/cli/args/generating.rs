//! What was typed of the search for inputs: of which kernels, how long, and where it leaves what it finds.

use super::{RunArgs, TraceFormat};
use clap::Args;
use std::path::PathBuf;

const EXIT_CODES: &str = "Exit codes:
  0    launches are found for every kernel that was searched, and reach what --fail-under asks for
  1    they reach less
  2    usage or build error; no kernel could be searched, or none of its launches came to its end
  101  a bug in raceproof";

#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub(in crate::cli) struct GenerateArgs {
    #[command(flatten)]
    pub(in crate::cli) run: RunArgs,
    /// Search inputs of this kernel alone, as launch descriptions name it (`reduce`, `reduce<float>`); may be repeated
    #[arg(long, value_name = "NAME", help_heading = "Search")]
    pub(in crate::cli) kernel: Vec<String>,
    /// Where the launch descriptions go, one file for each kernel
    #[arg(long, value_name = "DIR", default_value = "launches", help_heading = "Search")]
    pub(in crate::cli) output: PathBuf,
    /// Time for the search of one kernel
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, help_heading = "Search")]
    pub(in crate::cli) time: f64,
    /// Launches of one kernel that are tried at most; --seed decides what is drawn
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Search")]
    pub(in crate::cli) tries: u32,
    /// Exit 1 if less of the barriers, branches and loops is reached than this, in percent
    #[arg(long, value_name = "PERCENT", help_heading = "Search")]
    pub(in crate::cli) fail_under: Option<f64>,
    /// How results are written
    #[arg(long, value_enum, default_value_t = TraceFormat::Text)]
    pub(in crate::cli) format: TraceFormat,
}
