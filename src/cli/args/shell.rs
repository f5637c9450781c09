//! What was typed to be told of the command line.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub(in crate::cli) struct CompletionsArgs {
    /// The shell
    pub(in crate::cli) shell: Shell,
}

/// Arguments of `man`.
#[derive(Args, Debug)]
pub(in crate::cli) struct ManArgs {
    /// Where the pages are written: raceproof.1, raceproof-check.1 and so on
    #[arg(value_name = "DIR")]
    pub(in crate::cli) directory: PathBuf,
}
