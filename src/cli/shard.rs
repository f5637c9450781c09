//! `check --shard K/N`: which files are the share of this process, and what its report carries for `merge`.
//!
//! Files are dealt out by what they weigh ([`estimate`](super::estimate)), the heaviest first, each to the shard that has the
//! least: what a tree costs is in few of its files. Which file goes where depends on nothing but the files. What a file is
//! judged by (headers, units that include it, launches elsewhere) is read from the whole tree by every shard.
//!
//! Guarantees: all shards of one run carry the same fingerprint, and those of a run over other text, with other options or
//! other tools another one. Deliberately absent: how reports are merged (`diagnostic/merge`).

use super::Exit;
use super::args::{CheckArgs, FailOn, Format, Portion};
use super::estimate::weight;
use super::failing::{exit_of, fails};
use super::outputs::Outputs;
use super::wanted::{kernels_missing, params_missing};
use crate::diagnostic::render::fingerprint::Hash;
use crate::diagnostic::render::{json, sarif};
use crate::diagnostic::shard::{Fingerprint, Shard};
use crate::driver::options::{Options, Part};
use crate::driver::parallel::{Input, Run, read};
use crate::driver::repeats::statements;
use crate::driver::{FrontEnd, page_of};
use anyhow::{Result, ensure};
use clap::ValueEnum;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The share of this process.
pub(super) struct Share {
    portion: Portion,
    /// Files of the whole run.
    files: usize,
    /// Which of them are those of this process.
    positions: Vec<usize>,
    run: Fingerprint,
}

/// Leaves of the inputs those that are the share of this process, if only a share is asked for.
pub(super) fn take(
    args: &CheckArgs,
    outputs: &Outputs,
    settings_files: &[PathBuf],
    inputs: &mut Vec<Input>,
    options: &mut Options,
) -> Result<Option<Share>> {
    let Some(portion) = args.work.shard else { return Ok(None) };
    let is_merged = outputs.formats().all(|format| matches!(format, Format::Json | Format::Sarif));
    ensure!(is_merged, "--shard: what is merged is JSON or SARIF; add --format json or --format sarif");
    let is_text = |input: &Input| matches!(input, Input::Text(..));
    ensure!(!inputs.iter().any(is_text), "--shard: standard input is no file; give files and directories");
    let files: Vec<PathBuf> = inputs.iter().map(|input| input.path().to_path_buf()).collect();
    let (hash, weights) = of_inputs(&files);
    let run = Fingerprint {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        inputs: hash,
        options: of_options(args, settings_files),
        tools: tools(options),
    };
    let positions = dealt(&weights, portion);
    *inputs = positions.iter().map(|&position| Input::File(files[position].clone())).collect();
    let share = Share { portion, files: files.len(), positions, run };
    options.workload.part = Part::Shard(files.into());
    Ok(Some(share))
}

/// The files of one share, in their order.
fn dealt(weights: &[u64], portion: Portion) -> Vec<usize> {
    let mut heaviest: Vec<usize> = (0..weights.len()).collect();
    heaviest.sort_by_key(|&file| (Reverse(weights[file]), file));
    let mut shards: BinaryHeap<Reverse<(u64, usize)>> = (1..=portion.of).map(|number| Reverse((0, number))).collect();
    let mut own = Vec::new();
    for file in heaviest {
        let Some(Reverse((weight, number))) = shards.pop() else { break };
        shards.push(Reverse((weight + weights[file], number)));
        own.extend((number == portion.number).then_some(file));
    }
    own.sort_unstable();
    own
}

impl Share {
    /// Writes the report of this share; `exit` is what is wrong with the inputs.
    pub(super) fn write(
        &self,
        run: &Run,
        options: &Options,
        exit: Exit,
        format: Format,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let shard = Shard {
            number: self.portion.number,
            of: self.portion.of,
            files: self.files,
            positions: self.positions.clone(),
            run: self.run.clone(),
            unfinished: run.unfinished,
            exit: run.problems.iter().map(exit_of).fold(exit, Exit::max).code(),
            fails: failing(run),
            problems: run.problems.iter().map(ToString::to_string).collect(),
            unmatched: unmatched(run, options),
            statements: statements(&run.report),
        };
        match format {
            Format::Sarif => sarif::render_shard(&run.report, &page_of, &shard, out),
            _ => json::render_shard(&run.report, &shard, out),
        }
    }
}

/// The names of all that there is to fail on.
fn failing(run: &Run) -> Vec<String> {
    let all = FailOn::value_variants().iter().filter(|wish| fails(&run.report, &[**wish]));
    all.filter_map(FailOn::to_possible_value).map(|value| value.get_name().to_owned()).collect()
}

/// What was asked for and is not in this share, as it is said if it is in no other one.
fn unmatched(run: &Run, options: &Options) -> Vec<String> {
    let kernels = kernels_missing(&run.report, options);
    let kernels = kernels.map(|wanted| format!("--kernel: no kernel named `{wanted}` in the files given"));
    let params = params_missing(&run.report, options);
    kernels.chain(params.map(|wanted| format!("--param: no kernel has a scalar parameter named `{wanted}`"))).collect()
}

/// Of the files, their order and their text, and what each weighs. A file that cannot be read is one without text.
fn of_inputs(files: &[PathBuf]) -> (String, Vec<u64>) {
    let (mut hash, mut weights) = (Hash::new(), Vec::new());
    for file in files {
        let text = read(file).unwrap_or_default();
        hash.part(file.as_os_str().as_encoded_bytes());
        hash.part(&text);
        weights.push(weight(&text));
    }
    (hash.hex(), weights)
}

/// Of what was typed, but for what changes no verdict, and of the files that options name.
fn of_options(args: &CheckArgs, settings_files: &[PathBuf]) -> String {
    let CheckArgs {
        help: _,
        paths,
        source,
        launch,
        stdin_filename: _,
        judging,
        proof,
        baseline,
        settings,
        fix: _,
        output: _,
        reproduce: _,
        html: _,
        timings,
        work: _,
    } = args;
    let mut hash = Hash::new();
    let judged = format!("{paths:?} {source:?} {launch:?} {judging:?} {proof:?} {baseline:?} {settings:?}");
    hash.part(judged.as_bytes());
    hash.part(format!("{timings}").as_bytes());
    settings_files.iter().for_each(|path| hash.part(&bytes(path)));
    let commands = source.build.as_deref().map(|build| build.join("compile_commands.json"));
    let named =
        [proof.contracts.as_deref(), proof.launches.as_deref(), baseline.baseline.as_deref(), commands.as_deref()];
    named.into_iter().flatten().for_each(|path| hash.part(&bytes(path)));
    hash.hex()
}

/// They were read before, and what was wrong with them was said.
fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_default()
}

/// Which solver and which libclang answer on this machine.
fn tools(options: &Options) -> String {
    let solver = options.judging.solver.as_ref().map_or("no solver".to_owned(), |solver| solver.kind.name().to_owned());
    let front = match options.front {
        FrontEnd::TreeSitter => "tree-sitter",
        FrontEnd::Clang(_) | FrontEnd::Auto(_) => "libclang",
    };
    format!("{solver} and {front}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_in_one_share_and_shares_are_alike() {
        let weights: Vec<u64> = (0..40).map(|file| 300 + file * file * 7 % 1000).collect();
        for of in [1, 3, 7, 50] {
            let shares: Vec<Vec<usize>> = (1..=of).map(|number| dealt(&weights, Portion { number, of })).collect();
            let mut all = shares.concat();
            all.sort_unstable();
            assert_eq!(all, (0..40).collect::<Vec<_>>());
            let sums = || shares.iter().map(|share| share.iter().map(|&file| weights[file]).sum::<u64>());
            let heaviest = weights.iter().max().copied().unwrap_or(0);
            assert!(sums().max() <= sums().min().map(|least| least + heaviest), "{of} shares");
        }
    }
}
