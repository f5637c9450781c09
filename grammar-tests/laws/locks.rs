//! Critical sections: what is called race-free has no two accesses in any run that nothing orders, as the clocks of the
//! memory model say.
//!
//! Kernels take locks in several ways, with fences of several scopes here and there, and give them back, or nearly. Those of
//! OpenCL do so by atomics with orders, in the memory of the grid or of a block, with fences for the one or the other. Runs
//! start with locks that are 0.

use super::handed::{against_runs, lowered};
use super::last_block::refutation;
use crate::prove_mutants::handed::from_zero;
use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough};
use crate::support::tier::tiers;
use raceproof::memory_model::clocks::Receiving;

const LAW: Law = Law::new("locks", tiers(20, 100, 800));
const LAW_OF_OPENCL: Law = Law::new("locks_of_opencl", tiers(20, 100, 800));

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
const DATA: [&str; 9] = ["0", "0", "0", "0", "i", "i + 1", "(int)blockDim.x + i", "b + i", "(i + 3) % 5"];
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
const SHAPES: [&str; 10] = [
    "while (T != 0) { } S G",
    "while (T != 0) { } S G",
    "while (T != 0) { } S G",
    "bool done = false; while (!done) { if (T == 0) { S G done = true; } }",
    "bool done = false; while (!done) { if (T == 0) { S G done = true; } }",
    "int old = T; if (old == 0) { S G }",
    "int old = T; if (old == 0) { S G }",
    "int old = T; __threadfence(); if (old == 0) { S G }",
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
        &LAW,
        kernel,
        |text, _| refutation(&from_zero(lowered(text), &["l".to_owned()]), Receiving::InOrder, 50_000),
        |text, _| [text.contains("d[0] +=")],
    );
    assert!(
        is_enough(tally.proved[0], tally.kernels, 50) && is_enough(tally.refuted, tally.kernels, 5),
        "of {} kernels {} are proved with a sum under a lock, and {} conflict",
        tally.kernels,
        tally.proved[0],
        tally.refuted
    );
}

/// Orders of a compare-exchange that exchanges, and of one that fails.
const OUTCOMES: [[&str; 2]; 8] = [
    ["acquire", "relaxed"],
    ["acquire", "relaxed"],
    ["acq_rel", "relaxed"],
    ["acquire", "acquire"],
    ["relaxed", "relaxed"],
    ["relaxed", "relaxed"],
    ["relaxed", "acquire"],
    ["seq_cst", "relaxed"],
];
const RELEASES: [&str; 4] = ["release", "release", "seq_cst", "relaxed"];
const SCOPES: [&str; 5] = ["device", "device", "device", "device", "work_group"];
const FLAGS: [&str; 4] = [
    "CLK_GLOBAL_MEM_FENCE",
    "CLK_LOCAL_MEM_FENCE",
    "CLK_LOCAL_MEM_FENCE",
    "CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE",
];
/// How the section is got to: T tries, S is the section, G gives back, D is what is read by who finds the lock taken.
const TRIES: [&str; 7] = [
    "int done = 0; while (!done) { int found = 0; if (T) { S G done = 1; } }",
    "int done = 0; while (!done) { int found = 0; if (T) { S G done = 1; } }",
    "int done = 0; while (!done) { int found = 0; if (T) { S G done = 1; } }",
    "int found = 0; if (T) { S G }",
    "int found = 0; bool did = T; A if (did) { S G }",
    "int found = 0; if (T) { S G } else { z[g] = D; }",
    "int found = 0; if (T) { G } else { S }",
];
const PLACES: [[&str; 2]; 4] = [["l", "d"], ["own_l", "own_d"], ["l", "own_d"], ["own_l", "d"]];

/// A kernel of OpenCL with a lock, or nearly.
fn kernel_of_opencl(seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut below = |limit: usize| dice.below(limit as u64) as usize;
    let [lock, data] = PLACES[below(PLACES.len())];
    let [exchanged, failed] = OUTCOMES[below(OUTCOMES.len())];
    let (release, scope) = (RELEASES[below(RELEASES.len())], SCOPES[below(SCOPES.len())]);
    let mut fence = |order: &str| match below(2) {
        0 => String::new(),
        _ => format!(
            "atomic_work_item_fence({}, memory_order_{order}, memory_scope_{});",
            FLAGS[below(FLAGS.len())],
            SCOPES[below(SCOPES.len())]
        ),
    };
    let early = fence("acquire");
    let section = format!("{} {data}[0] += x[t]; {}", fence("acquire"), fence("release"));
    let take = format!(
        "atomic_compare_exchange_strong_explicit(&{lock}[0], &found, 1, memory_order_{exchanged}, memory_order_{failed}, \
         memory_scope_{scope})"
    );
    let give = format!("atomic_store_explicit(&{lock}[0], 0, memory_order_{release}, memory_scope_{scope});");
    let body = TRIES[below(TRIES.len())]
        .replace('A', &early)
        .replace('T', &take)
        .replace('S', &section)
        .replace('G', &give)
        .replace('D', &format!("{data}[0]"));
    format!(
        "kernel void k(volatile global atomic_int *l, global int *d, global const int *x, global int *z) {{\n  int t = \
         get_local_id(0);\n  int g = get_global_id(0);\n  local atomic_int own_l[1];\n  local int own_d[1];\n  if (t == \
         0) {{ own_l[0] = 0; own_d[0] = 0; }}\n  barrier(CLK_LOCAL_MEM_FENCE);\n  {body}\n}}\n"
    )
}

#[test]
fn what_is_proved_of_locks_of_opencl_holds_by_the_clocks_of_runs() {
    let tally = against_runs(
        &LAW_OF_OPENCL,
        kernel_of_opencl,
        |text, _| refutation(&from_zero(lowered(text), &["l".to_owned()]), Receiving::InOrder, 50_000),
        |text, _| [" d[0] +=", " own_d[0] +="].map(|sum| text.contains(sum)),
    );
    let [of_grid, of_block] = tally.proved;
    assert!(
        is_enough(of_grid, tally.kernels, 50)
            && is_enough(of_block, tally.kernels, 50)
            && is_enough(tally.refuted, tally.kernels, 5),
        "of {} kernels {of_grid} and {of_block} are proved, and {} conflict",
        tally.kernels,
        tally.refuted
    );
}
