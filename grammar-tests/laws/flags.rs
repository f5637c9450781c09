//! Flags: what is called race-free has no two accesses in any run that nothing orders, as the clocks of the memory model
//! say.
//!
//! Kernels set flags and wait for them in several ways, with fences and barriers here and there, for the right cell or
//! another one. Runs start with flags that are 0.

use super::handed::{against_runs, assumes, lowered};
use super::last_block::refutation;
use crate::prove_mutants::handed::from_zeros;
use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough};
use crate::support::tier::tiers;
use raceproof::memory_model::clocks::Receiving;

const LAW: Law = Law::new("flags", tiers(20, 60, 800));

/// Instructions of a run: those that wait in vain show nothing.
const STEPS: u64 = 50_000;
/// Flags that are 0 at first: as many as the largest launch has threads.
const FLAGS: i64 = 99;

const FENCES: [&str; 10] = [
    "__threadfence();",
    "__threadfence();",
    "__threadfence();",
    "__threadfence();",
    "__threadfence();",
    "__threadfence();",
    "__threadfence();",
    "__threadfence_block();",
    "if (t == 0) __threadfence();",
    "",
];
const SETS: [&str; 9] = [
    "atomicExch(&f[C], 1);",
    "atomicExch(&f[C], 1);",
    "atomicExch(&f[C], 1);",
    "atomicOr(&f[C], 2);",
    "atomicCAS(&f[C], 0, 1);",
    "atomicAdd(&f[C], 1);",
    "f[C] = 1;",
    "if (t < 2) atomicExch(&f[C], 1);",
    "for (int k = 0; k < 2; k++) atomicExch(&f[C], 1);",
];
const WAITS: [&str; 9] = [
    "while (atomicAdd(&f[C], 0) == 0) { }",
    "while (atomicAdd(&f[C], 0) == 0) { }",
    "while (atomicAdd(&f[C], 0) == 0) { }",
    "while (atomicOr(&f[C], 0) < 1) { }",
    "while (!atomicCAS(&f[C], 1, 1)) { }",
    "do { } while (atomicCAS(&f[C], 0, 0) == 0);",
    "while (atomicExch(&f[C], 0) == 0) { }",
    "while (atomicAdd(&f[C], 0) > 0) { }",
    "atomicAdd(&f[C], 0);",
];
/// How a block gets to the set and the wait: W writes, F and G are fences, S sets, P waits, R reads.
const SHAPES: [&str; 11] = [
    "if (t == 0) { W F S if (b % 2 == 0) { P G R } }",
    "if (t == 0) { W F S if (b % 2 == 0) { P G R } }",
    "if (t == 0) { if (b == 0) { W F S } else { P G R } }",
    "if (t == 0) { if (b == 0) { W F S } else { P G R } }",
    "if (b == 0) { W F __syncthreads(); if (t == 0) { S } } else { if (t == 0) { P G } __syncthreads(); R }",
    "if (b == 0) { W __syncthreads(); if (t == 0) { F S } } else { if (t == 0) { P } __syncthreads(); G R }",
    "if (b == 0) { W F if (t == 0) { S } } else { if (t == 0) { P G } __syncthreads(); R }",
    "if (b == 0) { W F __syncthreads(); if (t == 0) { S } } else { if (t == 0) { P G } R }",
    "if (t == 0) { if (b > 0) { P G R } W F S }",
    "if (t == 0) { if (b > 0) { P G R } W F S }",
    "if (b > 0) { P G R } W F S",
];
/// The cells of the set, the wait, the write and the read. Blocks run one after the other: one that waits for a later one
/// gets further only if it need not wait.
const CELLS: [[&str; 4]; 18] = [
    ["b", "b + 1", "b", "b + 1"],
    ["b / 2", "(b + 1) / 2", "b", "b + 1"],
    ["0", "0", "t", "t"],
    ["0", "0", "t", "t"],
    ["0", "0", "t", "d - 1 - t"],
    ["0", "0", "b * d + t", "t"],
    ["b", "b - 1", "b", "b - 1"],
    ["b", "b - 1", "b", "b - 1"],
    ["b", "b - 1", "b * d + t", "b * d - d + t"],
    ["b", "b - 1", "b", "b - 2 + b % 2"],
    ["b / 2", "(b - 1) / 2", "b", "b - 1"],
    ["b / 2", "(b + 1) / 2", "b", "b + 1"],
    ["b", "b + 1", "b", "b + 1"],
    ["b", "0", "t", "t"],
    ["b + 1", "b", "b", "b - 1"],
    ["b * d + t", "b * d + t - d", "b * d + t", "b * d + t - d"],
    ["b * d + t", "b * d + t - d", "b * d + t", "b * d + t - 1"],
    ["t", "t", "b * d + t", "t"],
];
const LATE: [&str; 9] = ["", "", "", "", "", "", "", "p[0] = 1;", "atomicExch(&f[0], 0);"];
const EARLY: [&str; 6] = ["", "", "", "", "", "if (b == 0 && t == 0) atomicExch(&f[1], 1);"];

/// A kernel with flags, or nearly.
fn kernel(seed: u64) -> String {
    let mut dice = Dice(seed);
    let [set_cell, wait_cell, written, read] = CELLS[dice.below(CELLS.len() as u64) as usize];
    let mut pick = |from: &[&str]| from[dice.below(from.len() as u64) as usize].to_owned();
    let set = pick(&SETS).replace('C', set_cell);
    let wait = pick(&WAITS).replace('C', wait_cell);
    let (publish, receive) = (pick(&FENCES), pick(&FENCES));
    let (early, late) = (pick(&EARLY), pick(&LATE));
    let body: String = pick(&SHAPES)
        .chars()
        .map(|part| match part {
            'W' => format!("p[{written}] = x[t];"),
            'F' => publish.clone(),
            'G' => receive.clone(),
            'S' => set.clone(),
            'P' => wait.clone(),
            'R' => format!("y[b * d + t] = p[{read}];"),
            other => other.to_string(),
        })
        .collect();
    format!(
        "__global__ void k(int *f, int *p, int *y, const int *x) {{\n  int t = threadIdx.x;\n  int b = blockIdx.x;\n  int d = \
         blockDim.x;\n  {early}\n  {body}\n  {late}\n}}\n"
    )
}

#[test]
fn what_is_proved_of_flags_holds_by_the_clocks_of_runs() {
    let tally = against_runs(
        &LAW,
        kernel,
        |text, _| refutation(&from_zeros(lowered(text), &["f".to_owned()], FLAGS), Receiving::InOrder, STEPS),
        |_, report| [assumes(report, "f is 0 when the kernel starts")],
    );
    assert!(
        is_enough(tally.proved[0], tally.kernels, 50) && is_enough(tally.refuted, tally.kernels, 5),
        "of {} kernels {} are proved by their flags, and {} conflict",
        tally.kernels,
        tally.proved[0],
        tally.refuted
    );
}
