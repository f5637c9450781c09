//! `raceproof instrument`: the text of a file with a call around every access.

use super::Exit;
use super::args::{InstrumentArgs, InstrumentBackend};
use super::output::{complain, note, to_stdout};
use crate::driver::instrument::{Backend, InstrumentedFile, instrument_for};
use crate::driver::isolate::isolated;
use crate::driver::parallel::{decode, on_workers, read};
use anyhow::{Context, Result, anyhow};

/// Runs the command.
pub(super) fn run(args: &InstrumentArgs) -> Result<Exit> {
    let options = super::options::for_instrument(args)?;
    let bytes = read(&args.file).map_err(|cause| anyhow!("cannot read {}: {cause}", args.file.display()))?;
    let text = decode(&bytes);
    let backend = match args.backend {
        InstrumentBackend::Cpu => Backend::Cpu,
        InstrumentBackend::Cuda => Backend::Cuda,
    };
    match on_workers(Some(1), || isolated(|| instrument_for(backend, &args.file, &text, &options))) {
        Ok(Ok(file)) => {
            name_left_out(&file);
            write(args, &file.unit.text)?;
            Ok(Exit::Clean)
        }
        Ok(Err(error)) => Err(error.into()),
        Err(panic) => {
            complain(&format!("bug in raceproof: {panic}; please report it with the file"));
            Ok(Exit::Bug)
        }
    }
}

fn write(args: &InstrumentArgs, text: &str) -> Result<()> {
    if args.output.as_os_str() == "-" {
        return to_stdout(|out| out.write_all(text.as_bytes())).context("cannot write to standard output");
    }
    std::fs::write(&args.output, text).with_context(|| format!("cannot write {}", args.output.display()))
}

/// Says what a run of the output will not see.
fn name_left_out(file: &InstrumentedFile) {
    for left_out in &file.unit.left_out {
        let visible = file.sources.visible(left_out.span);
        let place = file.sources.start_position(left_out.span);
        let path = file.sources.file(visible.file).path.display();
        let inside = if left_out.function.is_empty() { String::new() } else { format!(" in {}", left_out.function) };
        note(&format!("{path}:{}:{}: not instrumented: {}{inside}", place.line, place.column, left_out.what));
    }
}
