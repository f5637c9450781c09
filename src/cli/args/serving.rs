//! What was typed of the language server.

use super::{JudgingArgs, SourceArgs};
use clap::Args;

/// Arguments of `lsp`.
#[derive(Args, Debug)]
pub(in crate::cli) struct LspArgs {
    /// Talk to the editor over standard input and output, which is the only way; for editors that say so
    #[arg(long)]
    pub(in crate::cli) stdio: bool,
    #[command(flatten)]
    pub(in crate::cli) settings: super::SettingsArgs,
    #[command(flatten)]
    pub(in crate::cli) source: SourceArgs,
    #[command(flatten)]
    pub(in crate::cli) judging: JudgingArgs,
    #[command(flatten)]
    pub(in crate::cli) cache: super::CacheArgs,
}
