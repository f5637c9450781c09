//! Results of earlier runs: `check --cache-dir`, `clean`.

use clap::Args;
use std::path::PathBuf;

/// Where results of earlier runs are kept.
#[derive(Args, Debug)]
pub(in crate::cli) struct CacheArgs {
    /// Keep no results, and take none of earlier runs (RACEPROOF_NO_CACHE=1 says the same)
    #[arg(long, help_heading = "Cache", hide_short_help = true)]
    pub(in crate::cli) no_cache: bool,
    #[command(flatten)]
    pub(in crate::cli) place: CachePlace,
}

/// The directory of results.
#[derive(Args, Debug)]
pub(in crate::cli) struct CachePlace {
    /// Where results are kept: those of files that have not changed since, nor anything else that they were found from, are
    /// not found again [default: RACEPROOF_CACHE_DIR, or .raceproof_cache in the root of the repository, or here]
    #[arg(long, value_name = "DIR", help_heading = "Cache", hide_short_help = true)]
    pub(in crate::cli) cache_dir: Option<PathBuf>,
}

/// Arguments of `clean`.
#[derive(Args, Debug)]
pub(in crate::cli) struct CleanArgs {
    #[command(flatten)]
    pub(in crate::cli) place: CachePlace,
}
