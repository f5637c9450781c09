//! Segments `row[r] .. row[r + 1]`: a loop over one is counted where nobody writes its bound, and makes the accesses that the
//! loop makes which reads it in each turn; a kernel that is free of races if `row` is monotone has no conflict in runs in
//! which it is.
//!
//! Kernels are put together from forms that the seed draws, some of which break what the pass or the contract asks for.

use super::handed::walked;
use super::scatters::holds_in_runs;
use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough};
use crate::support::tier::tiers;
use raceproof::calculus::eval::{Blocks, Chosen, Contents, History, Program, Setup, run};
use raceproof::calculus::{Geometry, Kernel, Stmt, statements};
use raceproof::settle;

const BOUNDS: Law = Law::new("kept bounds", tiers(200, 1_000, 20_000));
const MONOTONE: Law = Law::new("segments", tiers(60, 300, 3_000));
/// Elements of which contents are chosen.
const ELEMENTS: i64 = 256;

const HEADS: [&str; 10] = [
    "for (int j = row[r]; j < row[r + 1]; j++)",
    "for (int j = row[r]; j < row[r + 1]; j++)",
    "for (int j = row[r] + threadIdx.x % 2; j < row[r + 1]; j += 2)",
    "for (int j = row[r]; row[r + 1] > j; ++j)",
    "for (unsigned j = row[r]; j < row[r + 1]; j++)",
    "for (int j = row[r + 1] - 1; j >= row[r]; j--)",
    "for (int j = row[r]; j <= row[r + 1] - 1; j++)",
    "for (int j = row[r]; j < row[r + 1]; j += step)",
    "for (int j = row[r]; j < row[r] + row[r + 1] % 4; j++)",
    "for (int j = row[r]; j < row[r + 2]; j++)",
];
const BODIES: [&str; 10] = [
    "out[j] = r;",
    "out[j] = r;",
    "out[j] += 1;",
    "if (j % 3 == 0) continue; out[j] = r;",
    "out[j + 1] = r;",
    "out[j] = r; if (out[j + 300] > 4) break;",
    "out[j] = r; r += 1;",
    "out[j] = r; j += 1;",
    "out[j] = r; step = step + 1;",
    "for (int k = row[r]; k < row[r + 1]; k++) out[j * 300 + k] = j;",
];
/// What else the kernel does before the loop.
const OTHERWISE: [&str; 6] = ["", "", "", "", "row[r] = 2;", "if (r == 1) row[r + 1] = 9;"];

/// A kernel over segments.
fn kernel(seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut one_of = |words: &[&'static str]| words[dice.below(words.len() as u64) as usize];
    let place = one_of(&["threadIdx.x", "blockIdx.x * blockDim.x + threadIdx.x", "blockIdx.x", "threadIdx.x / 2"]);
    let (head, body, other) = (one_of(&HEADS), one_of(&BODIES), one_of(&OTHERWISE));
    format!(
        "__global__ void k(int *row, int *out, int step) {{\n  int r = {place};\n  {other}\n  {head} {{ {body} }}\n}}\n"
    )
}

/// Ascending contents of `row`, some of which are equal.
fn ascending(kernel: &Kernel, dice: &mut Dice) -> Chosen {
    let (row, _) = kernel.arrays.iter().find(|(_, array)| array.name == "row").unwrap();
    let mut chosen = Chosen::default();
    let mut next = 0;
    for at in 0..ELEMENTS {
        chosen.set(row, 4 * at, 4, next);
        next += dice.below(5) as i64;
    }
    chosen
}

/// Contents of `row` in no order.
fn jumbled(kernel: &Kernel, dice: &mut Dice) -> Chosen {
    let (row, _) = kernel.arrays.iter().find(|(_, array)| array.name == "row").unwrap();
    let mut chosen = Chosen::default();
    for at in 0..ELEMENTS {
        chosen.set(row, 4 * at, 4, dice.below(12) as i64 - 3);
    }
    chosen
}

/// All accesses of a run, in order, with what is stored there, as far as it comes.
fn accesses(kernel: &Kernel, contents: &Chosen, step: i128) -> (bool, Vec<String>) {
    let geometry = Geometry { block: [5, 1, 1], grid: [2, 1, 1] };
    let contents = Contents::Chosen(contents);
    let setup = Setup { geometry, params: &[Some(step)], blocks: Blocks::All, contents, budget: 20_000 };
    let mut history = History::default();
    let outcome = run(&Program::new(kernel), &setup, &mut history);
    (outcome.finished, history.accesses.iter().map(|seen| format!("{:?}", seen.event)).collect())
}

fn counted(kernel: &Kernel) -> usize {
    let mut found = 0;
    statements::every(&kernel.body, |stmt| found += usize::from(matches!(stmt, Stmt::For(_))));
    found
}

#[test]
fn loops_whose_bounds_are_kept_make_the_same_accesses() {
    let found: Vec<bool> = BOUNDS.each(|seed| {
        let text = kernel(seed);
        let unsettled = walked(&text);
        let mut reading = unsettled.kernel.clone();
        for pass in settle::PASSES.iter().filter(|pass| pass.name != "bounds") {
            pass.settle(&mut reading, &unsettled.notes);
        }
        let keeping = unsettled.settled();
        let mut dice = Dice(seed ^ 0xb0);
        for contents in [ascending(&keeping, &mut dice), jumbled(&keeping, &mut dice)] {
            let step = i128::from(dice.below(4) as i64);
            let [(ended, one), (other_ended, other)] =
                [&reading, &keeping].map(|kernel| accesses(kernel, &contents, step));
            if ended && other_ended {
                assert_eq!(one, other, "seed {seed}, step = {step}\n{text}");
            }
        }
        counted(&keeping) > counted(&reading)
    });
    let kept = found.iter().filter(|&&it| it).count();
    eprintln!("{} kernels, {kept} of them with a bound that is kept", found.len());
    assert!(is_enough(kept, found.len(), 5), "only {kept} of {}", found.len());
    assert!(kept < found.len());
}

#[test]
fn segments_of_monotone_bounds_do_not_meet() {
    holds_in_runs(&MONOTONE, ("monotone(row)", 20), kernel, ascending);
}
