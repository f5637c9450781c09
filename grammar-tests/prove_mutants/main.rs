//! `prove_mutants TREE… [--count N] [--seed N]`: mutation against raceproof's own proofs, over trees of kernels.
//!
//! `scripts/mutate-proofs` builds and runs it; see there for what it prints.

#![allow(clippy::print_stdout, reason = "this is an edge: its output is its answer")]

mod campaign;
mod handed;
mod mutation;
mod oracle;
mod summary;

use campaign::{Proved, Row, Trial, proved, raceproof, strict};
use clap::Parser;
use mutation::Dice;
use raceproof::driver::Options;
use raceproof::driver::options::{ProjectHeaders, Settings};
use raceproof::driver::parallel::{decode, on_workers, read};
use raceproof::driver::subjects::Subjects;
use raceproof::source::discover::discover;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Takes barriers out of proved kernels, changes their indices, and tells whether a proof that stays is wrong
#[derive(Parser)]
struct Arguments {
    /// Files and directories with kernels
    #[arg(required = true)]
    trees: Vec<PathBuf>,
    /// Kernels with barriers, and changes of an index
    #[arg(long, default_value_t = 300)]
    count: usize,
    /// Which kernels are drawn, and which changes
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Worker threads
    #[arg(long)]
    jobs: Option<usize>,
    /// Print every mutant
    #[arg(long)]
    verbose: bool,
}

/// What is done to one kernel.
#[derive(Clone, Copy, Default)]
struct Work {
    barriers: bool,
    /// Changes of an index.
    indices: usize,
}

/// A kernel: the number of its file, and what was seen of it.
type Candidate = (usize, Proved);

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (files, errors) = discover(&arguments.trees);
    for error in &errors {
        eprintln!("prove_mutants: {error}");
    }
    let options =
        strict(Options { headers: Some(Arc::new(ProjectHeaders::new(&arguments.trees))), ..Options::default() });
    let text = |path: &PathBuf| read(path).map(|bytes| decode(&bytes)).unwrap_or_default();
    let (candidates, seen) = scan(&files, &options, &arguments, &text);
    let work = draw(&candidates, &arguments);
    let rows: Vec<Row> = on_workers(arguments.jobs, || {
        let rows = work.par_iter().map(|(&file, kernels)| {
            let path = &files[file];
            let Ok(subjects) = Subjects::read(path, &text(path), &options) else { return Vec::new() };
            kernels
                .iter()
                .flat_map(|(&position, work)| rows(&subjects, position, *work, &options, &arguments))
                .collect()
        });
        rows.collect::<Vec<Vec<Row>>>().concat()
    });
    println!("{} files, {} kernels, {} proved free of races and uniform", files.len(), seen[0], seen[1]);
    let with_barriers = candidates.iter().filter(|(_, kernel)| kernel.has_barriers).count();
    println!("{} of these are distinct, {with_barriers} of them have barriers", candidates.len());
    let drawn = work.values().flat_map(BTreeMap::values).filter(|work| work.barriers).count();
    println!("drawn with seed {}: {drawn} kernels with barriers\n", arguments.seed);
    if arguments.verbose {
        rows.iter().for_each(|row| println!("{}", summary::line(row)));
    }
    println!("{}", summary::text(&rows));
    if errors.is_empty() && rows.iter().all(|row| !row.is_wrong()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Every kernel that is proved, each once, and the numbers of all kernels and of those that are proved.
fn scan(
    files: &[PathBuf],
    options: &Options,
    arguments: &Arguments,
    text: &(dyn Fn(&PathBuf) -> String + Sync),
) -> (Vec<Candidate>, [usize; 2]) {
    let found: Vec<(Vec<Proved>, usize)> =
        on_workers(arguments.jobs, || files.par_iter().map(|path| proved(path, &text(path), options)).collect());
    let seen = [found.iter().map(|(_, kernels)| kernels).sum(), found.iter().map(|(proved, _)| proved.len()).sum()];
    let mut hashes = BTreeSet::new();
    let all = found.iter().enumerate().flat_map(|(file, (proved, _))| proved.iter().map(move |&kernel| (file, kernel)));
    (all.filter(|(_, kernel)| hashes.insert(kernel.hash)).collect(), seen)
}

/// What is done to which kernel of which file.
fn draw(candidates: &[Candidate], arguments: &Arguments) -> BTreeMap<usize, BTreeMap<usize, Work>> {
    let mut dice = Dice(arguments.seed);
    let mut work: BTreeMap<usize, BTreeMap<usize, Work>> = BTreeMap::new();
    let with_barriers = shuffled(candidates, &mut dice, |kernel| kernel.has_barriers);
    for (file, kernel) in with_barriers.into_iter().take(arguments.count) {
        work.entry(file).or_default().entry(kernel.position).or_default().barriers = true;
    }
    let with_indices = shuffled(candidates, &mut dice, |kernel| kernel.has_indices);
    for (file, kernel) in with_indices.iter().cycle().take(arguments.count) {
        work.entry(*file).or_default().entry(kernel.position).or_default().indices += 1;
    }
    work
}

fn shuffled(candidates: &[Candidate], dice: &mut Dice, is_wanted: fn(&Proved) -> bool) -> Vec<Candidate> {
    let mut drawn: Vec<Candidate> = candidates.iter().filter(|(_, kernel)| is_wanted(kernel)).copied().collect();
    for end in (1..drawn.len()).rev() {
        drawn.swap(end, dice.below(end + 1));
    }
    drawn
}

fn rows(subjects: &Subjects, position: usize, work: Work, options: &Options, arguments: &Arguments) -> Vec<Row> {
    let Some(trial) = Trial::new(subjects, position, options, &raceproof, arguments.seed) else { return Vec::new() };
    let mut rows = vec![trial.unchanged()];
    if work.barriers {
        rows.extend(trial.without_barriers());
    }
    rows.extend((0..work.indices as u64).filter_map(|round| trial.with_an_index_changed(round)));
    rows
}
