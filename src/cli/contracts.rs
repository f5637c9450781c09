//! `raceproof contracts`: the contracts of a tree as a table.

use super::Exit;
use super::args::{ContractsArgs, TableFormat};
use super::check::{problems, unmatched_kernels};
use super::front::unread_by;
use super::interrupt::Interrupt;
use super::output::{complain, to_stdout, warn};
use super::progress::Bar;
use crate::diagnostic::render::contracts::{Listed, json, text};
use crate::driver::crash;
use crate::driver::parallel::{Input, check_until};
use crate::source::discover::discover;
use anyhow::{Context, Result};
use std::sync::Arc;

/// Runs the command.
pub(super) fn run(args: &ContractsArgs) -> Result<Exit> {
    let options = super::options::for_contracts(args)?;
    let (files, errors) = discover(&args.paths);
    errors.iter().for_each(|error| complain(&error.to_string()));
    let mut exit = if errors.is_empty() { Exit::Clean } else { Exit::Usage };
    crash::arm(crash::Inputs::Files);
    let inputs: Vec<Input> = files.into_iter().map(Input::File).collect();
    let interrupt = Interrupt::listen();
    let bar = Bar::new(&inputs, interrupt.clone());
    let run = check_until(inputs, options.clone(), Arc::clone(&bar) as Arc<_>);
    bar.finish();
    exit = exit.max(problems(&run.problems));
    if let Some(unread) = unread_by(args.source.front, &options.front, &run.report) {
        warn(&unread);
    }
    if run.unfinished > 0 {
        // Half a table looks like one in which kernels need no contract any more.
        complain("interrupted: no table is written");
        return Ok(Exit::Interrupted(interrupt.exit_code()));
    }
    exit = exit.max(unmatched_kernels(&run, &options));
    let listed = if args.all { Listed::All } else { Listed::WithContract };
    let written = to_stdout(|out| match args.format {
        TableFormat::Text => text(&run.report, listed, out),
        TableFormat::Json => json(&run.report, listed, out),
    });
    written.context("cannot write to standard output")?;
    Ok(exit)
}
