//! `raceproof lsp`: the language server, for editors.

use super::Exit;
use super::args::LspArgs;
use crate::driver::options::Options;
use crate::server::{OptionsOf, serve};
use anyhow::{Context, Result};
use std::path::Path;
use std::sync::Arc;

/// Runs the command.
pub(super) fn run(args: LspArgs) -> Result<Exit> {
    // What is wrong with the command line is told before an editor waits.
    let options = super::options::for_lsp(&args)?;
    let of_path = move |path: &Path| {
        // Headers are sought anew: files may have come since.
        let headers = super::options::headers(args.source.headers, &[path.to_path_buf()]);
        Options { headers, ..options.clone() }
    };
    let options: OptionsOf = Arc::new(of_path);
    serve(&options).context("language server")?;
    Ok(Exit::Clean)
}
