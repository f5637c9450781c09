//! `raceproof header` and `raceproof --include-dir`: the header of annotations, for compilers.

use super::Exit;
use super::cache;
use super::output::to_stdout;
use crate::source::own_header;
use anyhow::{Context, Result};

const STDOUT: &str = "cannot write to standard output";

/// Prints its text.
pub(super) fn run() -> Result<Exit> {
    to_stdout(|out| out.write_all(own_header::TEXT.as_bytes())).context(STDOUT)?;
    Ok(Exit::Clean)
}

/// Prints the directory that has it.
pub(super) fn print_directory() -> Result<Exit> {
    let directory = cache::include_dir()?;
    to_stdout(|out| writeln!(out, "{}", directory.display())).context(STDOUT)?;
    Ok(Exit::Clean)
}
