//! A kernel that is free of races if the elements of an array are distinct has no conflict in runs in which they are.
//!
//! Kernels write through an array of indices in forms that the seed draws; what the contract says is held against runs
//! with contents of which no two elements are equal, and the witness of its necessity against one that races.

use super::handed::{lowered, rechecked_for};
use super::tickets::conflict;
use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough};
use crate::support::tier::tiers;
use raceproof::calculus::eval::{Blocks, Chosen, Contents, History, Program, Setup, run};
use raceproof::calculus::{Geometry, Kernel};
use raceproof::diagnostic::report::{Race, ScopeKind};
use raceproof::driver::options::Launches;

const LAW: Law = Law::new("scatters", tiers(60, 300, 3000));
/// Launches that are tried for each contract.
const LAUNCHES: usize = 40;
/// Elements of which contents are chosen.
const ELEMENTS: i64 = 512;

const INDICES: [&str; 8] = ["i", "i", "i", "i + 1", "i / 2", "2 * i", "i % 8", "blockIdx.x"];
const PLACES: [&str; 8] = ["v", "v", "v * 4", "v + 3", "v / 2", "v + i", "v * w + threadIdx.x", "v & 31"];
const GUARDS: [&str; 4] = ["", "if (i < w) ", "if (v > 3) ", "if (threadIdx.x < 4) "];

/// A kernel with one parameter, `w`.
fn kernel(seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut one_of = |words: &[&'static str]| words[dice.below(words.len() as u64) as usize];
    let (index, place, guard) = (one_of(&INDICES), one_of(&PLACES), one_of(&GUARDS));
    let again = one_of(&["", "", "", "  int u = idx[i + 2];\n  out[u] = i;\n"]);
    let body = format!("int v = idx[{index}];\n  {guard}out[{place}] = i;\n{again}");
    let first = "int i = blockIdx.x * blockDim.x + threadIdx.x;";
    let body = match one_of(&["once", "once", "strided", "turns"]) {
        "strided" => {
            format!(
                "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < w; i += gridDim.x * blockDim.x) {{ {body} }}"
            )
        }
        "turns" => format!("{first}\n  for (int t = 0; t < 3; t++) {{ {body} }}"),
        _ => format!("{first}\n  {body}"),
    };
    format!("__global__ void k(int *out, const int *idx, int w) {{\n  {body}\n}}\n")
}

/// Contents of `idx` of which no two elements are equal: multiples of an odd number in some order.
fn distinct(kernel: &Kernel, dice: &mut Dice) -> Chosen {
    let (idx, _) = kernel.arrays.iter().find(|(_, array)| array.name == "idx").unwrap();
    let (factor, first) = (2 * dice.below(40) as i64 + 1, dice.below(64) as i64);
    let mut chosen = Chosen::default();
    for at in 0..ELEMENTS {
        chosen.set(idx, 4 * at, 4, (at * factor + first) % ELEMENTS);
    }
    chosen
}

/// A launch with chosen contents in which two threads conflict; the kernel has one parameter that is a number.
fn refutation(text: &str, seed: u64, contents: impl Fn(&mut Dice) -> Chosen) -> Option<String> {
    let kernel = lowered(text);
    let program = Program::new(&kernel);
    let mut dice = Dice(seed ^ 0xd157);
    (0..LAUNCHES).find_map(|_| {
        let mut one_of = |values: &[u32]| values[dice.below(values.len() as u64) as usize];
        let geometry = Geometry { block: [one_of(&[1, 2, 3, 8, 17, 32]), 1, 1], grid: [one_of(&[1, 1, 2, 3]), 1, 1] };
        let width = i128::from(one_of(&[0, 1, 2, 7, 16, 31, 32, 33, 64, 90]));
        let contents = contents(&mut dice);
        let params = [Some(width)];
        let contents = Contents::Chosen(&contents);
        let setup = Setup { geometry, params: &params, blocks: Blocks::All, contents, budget: 400_000 };
        let mut history = History::default();
        let outcome = run(&program, &setup, &mut history);
        let is_usable = outcome.finished && outcome.wrapped.is_empty();
        let conflict = if is_usable { conflict(&kernel, &history) } else { None };
        conflict.map(|conflict| format!("{geometry:?} with w = {width}: {conflict:?}"))
    })
}

/// Holds kernels that are free under what a contract says of `idx` or `row` against runs in which that is so. At least one of
/// so many has to be.
pub(super) fn holds_in_runs(
    law: &Law,
    (says, one_of): (&str, usize),
    kernel: impl Fn(u64) -> String + Sync,
    contents: impl Fn(&Kernel, &mut Dice) -> Chosen + Sync,
) {
    let found: Vec<bool> = law.each(|seed| {
        let text = kernel(seed);
        let report = rechecked_for(&text, Launches::OfContracts);
        let conjuncts = report.contract.iter().flat_map(|contract| &contract.conjuncts);
        let told: Vec<_> = conjuncts.filter(|conjunct| conjunct.text == says).collect();
        let is_of_data = report.race == Race::RaceFree && !told.is_empty();
        if is_of_data {
            assert!(told.iter().all(|conjunct| conjunct.necessary.is_some()), "seed {seed}\n{text}");
            assert!(
                report.scope.as_ref().is_some_and(|scope| scope.kind == ScopeKind::Contract),
                "seed {seed}\n{text}"
            );
            let has_one_block = report.contract.iter().any(|contract| contract.to_keep().count() > 1);
            let contents = |dice: &mut Dice| contents(&lowered(&text), dice);
            let refuted = if has_one_block { None } else { refutation(&text, seed, contents) };
            assert_eq!(refuted, None, "seed {seed}\n{text}");
        }
        is_of_data
    });
    let with = found.iter().filter(|&&it| it).count();
    eprintln!("{} kernels, {with} of them free with {says}", found.len());
    assert!(is_enough(with, found.len(), one_of), "only {with} of {}", found.len());
}

#[test]
fn distinct_elements_are_scattered_without_a_race() {
    holds_in_runs(&LAW, ("distinct(idx)", 8), kernel, distinct);
}
