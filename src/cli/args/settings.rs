//! What was typed of settings files.

use clap::Args;
use std::path::PathBuf;

/// Which settings count, and how they are shown.
#[derive(Args, Debug)]
pub(in crate::cli) struct SettingsArgs {
    /// Set a key of raceproof.toml, or take all settings from this file
    ///
    /// Repeatable; a key stands above what files say.
    #[arg(long, value_name = "KEY=VALUE|FILE", help_heading = "Settings", hide_short_help = true)]
    pub(in crate::cli) config: Vec<String>,
    /// Look for no raceproof.toml
    #[arg(long, help_heading = "Settings", hide_short_help = true)]
    pub(in crate::cli) isolated: bool,
    /// List all settings for this file [default: for the working directory], with where each comes from; nothing is checked
    #[arg(long, value_name = "FILE", num_args = 0..=1, help_heading = "Settings", hide_short_help = true)]
    #[allow(clippy::option_option, reason = "the option may stand alone")]
    pub(in crate::cli) show_settings: Option<Option<PathBuf>>,
    /// List the files that would be checked; nothing is checked
    #[arg(long, help_heading = "Settings", hide_short_help = true)]
    pub(in crate::cli) show_files: bool,
    /// Print the JSON schema of raceproof.toml
    #[arg(long, help_heading = "Settings", hide_short_help = true)]
    pub(in crate::cli) settings_schema: bool,
}
