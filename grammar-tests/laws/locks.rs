//! Critical sections: what is called race-free has no two accesses in any run that nothing orders, as the clocks of the
//! memory model say.
//!
//! Kernels take locks in several ways, with fences of several scopes here and there, and give them back, or nearly. Runs
//! start with locks that are 0.

use super::handed::against_runs;
use super::last_block::{lowered, refutation};
use super::source::Dice;
use crate::prove_mutants::handed::from_zero;
use raceproof::memory_model::clocks::Receiving;

/// Kernels that are tried, or as many as `RACEPROOF_KERNELS` says.
const KERNELS: u64 = 200;

const FENCES: [&str; 8] = [
    "__threadfence();",
    "__threadfence();",
    "__threadfence();",
    "__threadfence();",
    "__threadfence();",
    "__threadfence_block();",
    "if (t == 0) __threadfence();",
    "",
];
const CELLS: [&str; 6] = ["0", "0", "0", "0", "i", "t & 1"];
const DATA: [&str; 6] = ["0", "0", "0", "0", "i", "i + 1"];
const TAKES: [&str; 6] = [
    "atomicCAS(&l[C], 0, 1)",
    "atomicCAS(&l[C], 0, 1)",
    "atomicCAS(&l[C], 0, 1)",
    "atomicExch(&l[C], 1)",
    "atomicExch(&l[C], 1)",
    "atomicCAS(&l[C], 1, 2)",
];
const GIVES: [&str; 10] = [
    "atomicExch(&l[C], 0);",
    "atomicExch(&l[C], 0);",
    "atomicExch(&l[C], 0);",
    "atomicExch(&l[C], 0);",
    "atomicExch(&l[C], 0);",
    "if (t == 0) atomicExch(&l[C], 0);",
    "l[C] = 0;",
    "atomicAdd(&l[C], -1);",
    "atomicExch(&l[0], 0);",
    "",
];
/// How the section is got to: T takes, S is the section, G gives back.
const SHAPES: [&str; 9] = [
    "while (T != 0) { } S G",
    "while (T != 0) { } S G",
    "while (T != 0) { } S G",
    "bool done = false; while (!done) { if (T == 0) { S G done = true; } }",
    "bool done = false; while (!done) { if (T == 0) { S G done = true; } }",
    "int old = T; if (old == 0) { S G }",
    "int old = T; if (old == 0) { S G }",
    "int old = T; if (old == 0) { G } if (old == 0) { S }",
    "if (T == 0) { G } else { S }",
];
const GUARDS: [&str; 3] = ["if (t == 0)", "if (t < 2)", ""];
const LATE: [&str; 9] = ["", "", "", "", "", "", "", "d[0] = 1;", "atomicExch(&l[0], 0);"];

/// A kernel with a lock, or nearly.
fn kernel(seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut pick = |from: &[&str]| from[dice.below(from.len() as u64) as usize].to_owned();
    let (cell, data, take, give) = (pick(&CELLS), pick(&DATA), pick(&TAKES), pick(&GIVES));
    let (first, second, late) = (pick(&FENCES), pick(&FENCES), pick(&LATE));
    let section = format!("{first} d[{data}] += x[t]; {second}");
    let body = pick(&SHAPES).replace('T', &take).replace('S', &section).replace('G', &give).replace('C', &cell);
    let guard = pick(&GUARDS);
    format!(
        "__global__ void k(int *l, int *d, const int *x, const int *at) {{\n  int t = threadIdx.x;\n  int b = \
         blockIdx.x;\n  int i = at[t];\n  {guard} {{\n    {body}\n  }}\n  {late}\n}}\n"
    )
}

#[test]
fn what_is_proved_of_critical_sections_holds_by_the_clocks_of_runs() {
    let tally = against_runs(
        KERNELS,
        kernel,
        |text, _| refutation(&from_zero(lowered(text), &["l".to_owned()]), Receiving::InOrder, 50_000),
        |text, _| [text.contains("d[0] +=")],
    );
    assert!(
        tally.proved[0] * 50 >= tally.kernels && tally.refuted * 5 >= tally.kernels,
        "of {} kernels {} are proved with a sum under a lock, and {} conflict",
        tally.kernels,
        tally.proved[0],
        tally.refuted
    );
}
