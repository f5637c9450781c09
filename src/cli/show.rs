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
    let options = super::options::for_show(args)?;
    let text = decode(&bytes(&args.file)?);
    let stage = stage(args.stage);
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

fn stage(typed: Typed) -> Stage {
    match typed {
        Typed::Syntax => Stage::Syntax,
        Typed::Calculus => Stage::Calculus,
        Typed::Protocol => Stage::Protocol,
        Typed::Intervals => Stage::Intervals,
        Typed::Flow => Stage::Flow,
        Typed::Conditions => Stage::Conditions,
    }
}
