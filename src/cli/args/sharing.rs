//! What was typed of which part of a run is done, and how it is divided: among threads, and among processes whose reports `merge` puts together.

use super::FailOn;
use super::keeping::CacheArgs;
use clap::Args;
use std::path::PathBuf;

/// Which part of the run this process does, and by how many threads.
#[derive(Args, Debug)]
pub(in crate::cli) struct WorkArgs {
    /// Check only what has changed since this revision of git, and what that concerns
    ///
    /// These are files that have changed, that include such a file, launch its kernels or have kernels that it launches. All the
    /// others are looked at for what they say of these.
    #[arg(long, value_name = "REV", conflicts_with = "shard")]
    pub(in crate::cli) changed_since: Option<String>,
    /// Check, and check again whenever a file changes that counted, until Ctrl-C ends it
    ///
    /// What has not changed is taken from the cache. Reports and sites that are written (--output, --html) are written anew each time.
    #[arg(
        long,
        conflicts_with_all = ["shard", "fix", "reproduce", "write_baseline", "prune_baseline", "show_settings", "show_files", "settings_schema", "stdin_filename"]
    )]
    pub(in crate::cli) watch: bool,
    /// Files to check at once [default: one for each core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(in crate::cli) jobs: Option<u16>,
    /// The most memory to hold: a file that needs more by itself is told, and all others are checked
    #[arg(long, value_name = "SIZE", default_value = "1500M", hide_short_help = true)]
    pub(in crate::cli) memory: String,
    /// Check the K-th of N shares of the files, with all files in sight; `raceproof merge` makes one report of the N that are
    /// written (with --format json or sarif)
    #[arg(long, value_name = "K/N", value_parser = portion, conflicts_with_all = ["fix", "reproduce", "max_findings"], hide_short_help = true)]
    pub(in crate::cli) shard: Option<Portion>,
    #[command(flatten)]
    pub(in crate::cli) cache: CacheArgs,
}

/// One of several equal shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Portion {
    /// Which one, from 1.
    pub(in crate::cli) number: usize,
    /// Of how many.
    pub(in crate::cli) of: usize,
}

/// More processes than this do not check one tree.
const MOST_SHARDS: usize = 10_000;

/// What is wrong with a share.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoPortion {
    #[error("write K/N with two numbers, for example 2/8")]
    Form,
    #[error("shards are numbered from 1 to N; the first of {0} is 1/{0}")]
    Number(usize),
    #[error("there may be 1 to {MOST_SHARDS} shards")]
    Of,
}

pub(super) fn portion(typed: &str) -> Result<Portion, NoPortion> {
    let number = |text: &str| text.parse::<usize>().map_err(|_| NoPortion::Form);
    let (first, second) = typed.split_once('/').ok_or(NoPortion::Form)?;
    let (number, of) = (number(first)?, number(second)?);
    match (number, of) {
        (_, 0) => Err(NoPortion::Of),
        _ if of > MOST_SHARDS => Err(NoPortion::Of),
        _ if number == 0 || number > of => Err(NoPortion::Number(of)),
        _ => Ok(Portion { number, of }),
    }
}

const EXIT_CODES: &str = "Exit codes, as `check` has them for the whole run:
  0    nothing found
  1    findings (see --fail-on)
  2    usage or input error, also of a shard; shards that are missing, given twice or of another run
  101  a bug in raceproof, also in a shard";

#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub(in crate::cli) struct MergeArgs {
    /// What the shards of a run wrote: all of them, in any order, JSON or SARIF
    #[arg(value_name = "REPORT", required = true)]
    pub(in crate::cli) reports: Vec<PathBuf>,
    /// Where the report is written [default: standard output]
    #[arg(short = 'o', long, value_name = "OUT")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// What makes the exit code 1; separated by commas
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_values_t = [FailOn::Racy, FailOn::Divergent, FailOn::Possible]
    )]
    pub(in crate::cli) fail_on: Vec<FailOn>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_numbered_from_one() {
        assert_eq!(portion("2/8").unwrap(), Portion { number: 2, of: 8 });
        for wrong in ["0/4", "5/4", "a/b", "1", "1/", "/2", "1/0", "-1/4", "1/2/3", "1/10001", "1.0/2"] {
            assert!(portion(wrong).is_err(), "{wrong}");
        }
    }
}
