//! `raceproof show`: the intermediate forms, for people who want to see why.

use super::Exit;
use super::args::{ShowArgs, Stage as Typed};
use super::output::{complain, to_stdout};
use crate::driver::isolate::isolated;
use crate::driver::parallel::{decode, on_workers, read};
use crate::driver::show::{Stage, show};
use anyhow::{Context, Result, anyhow};
use std::path::Path;

/// Runs the command.
pub(super) fn run(args: &ShowArgs) -> Result<Exit> {
    let stage = stage(args)?;
    let options = super::options::for_show(args)?;
    let text = decode(&bytes(&args.file)?);
    let shown = on_workers(Some(1), || isolated(|| show(stage, &args.file, &text, &options)));
    match shown {
        Ok(Ok(shown)) => {
            to_stdout(|out| out.write_all(shown.as_bytes())).context("cannot write to standard output")?;
            Ok(Exit::Clean)
        }
        Ok(Err(error)) => Err(error.into()),
        Err(panic) => {
            complain(&format!("bug in raceproof: {panic}; please report it with the file"));
            Ok(Exit::Bug)
        }
    }
}

fn bytes(file: &Path) -> Result<Vec<u8>> {
    if file.as_os_str() == "-" {
        return super::check::read_stdin();
    }
    read(file).map_err(|cause| anyhow!("cannot read {}: {cause}", file.display()))
}

/// What is to be shown; what passes leave and take is that of the calculus.
fn stage(args: &ShowArgs) -> Result<Stage> {
    if args.stage != Typed::Calculus && (args.after.is_some() || args.timings) {
        let option = if args.after.is_some() { "--after" } else { "--timings" };
        return Err(anyhow!("`{option}` is about the passes of the calculus: write `show calculus {option} …`"));
    }
    Ok(match (args.stage, args.after) {
        (Typed::Calculus, Some(pass)) => Stage::After(pass),
        (Typed::Calculus, None) => Stage::Calculus,
        (Typed::Syntax, _) => Stage::Syntax,
        (Typed::Protocol, _) => Stage::Protocol,
        (Typed::Intervals, _) => Stage::Intervals,
        (Typed::Flow, _) => Stage::Flow,
        (Typed::Conditions, _) => Stage::Conditions,
    })
}
