//! What the launches of a run say of the contracts of their kernels, for `run` and `amplify`.
//!
//! Deliberately absent: exit codes. A run is judged by its log; that a launch breaks a contract is told beside it.

use super::output::{to_stdout, warn};
use crate::diagnostic::report::{CheckedLaunch, FileReport, Keeping, KernelReport};
use crate::driver::Options;
use crate::driver::logged::LoggedLaunches;
use crate::driver::options::{Contracts, Told};
use crate::driver::parallel::{Input, Unwatched, check_all};
use crate::source::discover::is_host_code;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Says of each kernel that the run launched, and that asks something of its launches, which of them keep it.
pub(super) fn tell(files: &[PathBuf], options: &Options, log: &Path) -> Result<()> {
    let logged = LoggedLaunches::read(log).with_context(|| format!("cannot read {}", log.display()))?;
    let kernels = logged.kernels();
    let contracts = Contracts { logged: Some(Arc::new(logged)), told: Told::Contracts, ..Contracts::default() };
    let options = Options { contracts, kernels, ..options.clone() };
    let inputs = files.iter().filter(|path| !is_host_code(path)).cloned().map(Input::File).collect::<Vec<_>>();
    let run = check_all(&inputs, &options, &Unwatched);
    run.problems.iter().for_each(|problem| warn(&format!("contracts are not looked at: {problem}")));
    let lines_of = |file: &FileReport| file.kernels.iter().filter_map(|kernel| line(file, kernel, log)).collect();
    let lines: Vec<String> = run.report.files.iter().flat_map(|file| -> Vec<String> { lines_of(file) }).collect();
    let written = to_stdout(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")));
    written.context("cannot write to standard output")
}

/// `rows: contract pitch >= width: kept by 2, broken by 1 of 3 launches`
fn line(file: &FileReport, kernel: &KernelReport, log: &Path) -> Option<String> {
    let contract = kernel.contract.as_ref().filter(|_| !kernel.asks_for_flat_launches())?;
    let is_logged = |launch: &&CheckedLaunch| file.sources.file(file.sources.visible(launch.span).file).path == log;
    let launches: Vec<&CheckedLaunch> = kernel.launches().iter().filter(is_logged).collect();
    let count = |keeping: Keeping| launches.iter().filter(|launch| launch.keeping == keeping).count();
    let words = [(Keeping::Kept, "kept by"), (Keeping::Open, "open at"), (Keeping::Broken, "broken by")];
    let counts = words.into_iter().map(|(keeping, word)| (count(keeping), word)).filter(|(count, _)| *count > 0);
    let said: Vec<String> = counts.map(|(count, word)| format!("{word} {count}")).collect();
    if said.is_empty() {
        return None;
    }
    let conditions: Vec<&str> = contract.to_keep().map(|conjunct| conjunct.text.as_str()).collect();
    let which = if contract.is_plausible { "contract" } else { "race-free if" };
    let all = if launches.len() == 1 { "1 launch".to_owned() } else { format!("{} launches", launches.len()) };
    Some(format!("{}: {which} {}: {} of {all}", kernel.instance(), conditions.join(" and "), said.join(", ")))
}
