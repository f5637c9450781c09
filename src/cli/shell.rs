//! What a shell and `man` are told of the command line: `raceproof completions`, `raceproof man`.
//!
//! Both are made from the grammar of the command line, so that they say what `--help` says.

use super::Exit;
use super::args::{Cli, CompletionsArgs, ManArgs};
use super::output::to_stdout;
use anyhow::{Context, Result};
use clap::CommandFactory;

/// Runs `completions`.
pub(super) fn completions(args: &CompletionsArgs) -> Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "raceproof", &mut text);
    to_stdout(|out| out.write_all(&text)).context("cannot write to standard output")?;
    Ok(Exit::Clean)
}

/// Runs `man`.
pub(super) fn pages(args: &ManArgs) -> Result<Exit> {
    let about = || format!("cannot write to {}", args.directory.display());
    std::fs::create_dir_all(&args.directory).with_context(about)?;
    clap_mangen::generate_to(Cli::command(), &args.directory).with_context(about)?;
    Ok(Exit::Clean)
}
