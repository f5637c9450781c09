//! What was typed of findings that are not to be told: baselines.

use clap::Args;
use std::path::PathBuf;

/// Which findings are known already.
#[derive(Args, Debug)]
pub(in crate::cli) struct BaselineArgs {
    /// Tell and fail for those findings alone that this baseline does not have
    #[arg(long, value_name = "FILE", help_heading = "Baseline")]
    pub(in crate::cli) baseline: Option<PathBuf>,
    /// Write all findings into a baseline; this run then tells none of them
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Baseline",
        conflicts_with_all = ["baseline", "shard", "changed_since", "kernels"],
        hide_short_help = true
    )]
    pub(in crate::cli) write_baseline: Option<PathBuf>,
    /// Take out of the baseline what is gone
    #[arg(long, help_heading = "Baseline", requires = "baseline", conflicts_with = "shard", hide_short_help = true)]
    pub(in crate::cli) prune_baseline: bool,
}
