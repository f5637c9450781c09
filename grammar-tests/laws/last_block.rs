//! The block that is last: what is called race-free has no two accesses in any run that nothing orders, as the clocks of
//! the memory model say; and what the clocks find there is not called race-free.
//!
//! Kernels are made of a part that each block writes, fences of several scopes here and there, draws of several kinds, and
//! a region for whoever draws some number. Runs start with a counter that is 0, which proofs assume, and know it.

use super::handed::{against_runs, assumes, lowered};
use crate::prove_mutants::handed::{Watch, from_zero};
use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough};
use crate::support::tier::tiers;
use raceproof::calculus::eval::{Blocks, Contents, Program, Setup, run};
use raceproof::calculus::{Geometry, Kernel};
use raceproof::diagnostic::report::KernelReport;
use raceproof::memory_model::clocks::Receiving;

const LAW: Law = Law::new("last_block", tiers(30, 80, 1_600));

const FENCES: [&str; 8] = [
    "__threadfence();",
    "__threadfence();",
    "__threadfence();",
    "__threadfence();",
    "__threadfence_block();",
    "__threadfence_system();",
    "if (t == 0) __threadfence();",
    "",
];
const BARRIERS: [&str; 3] = ["__syncthreads();", "__syncthreads();", ""];
const PARTS: [&str; 5] = [
    "if (t == 0) p[b] = x[b];",
    "if (t == 0) p[b] = x[b];",
    "p[b * d + t] = x[t];",
    "if (t == 1) p[b] = x[b];",
    "for (int k = t; k < n; k += d) p[b * n + k] = x[k];",
];
const DRAWS: [&str; 10] = [
    "atomicAdd(c, 1u)",
    "atomicAdd(c, 1u)",
    "atomicAdd(c, 1u)",
    "atomicAdd(c, 1u)",
    "atomicInc(c, g)",
    "atomicInc(c, g - 1)",
    "atomicInc(c, 1u)",
    "atomicAdd(c, 2u)",
    "atomicAdd_block(c, 1u)",
    "atomicSub(c, 1u)",
];
const LAST: [&str; 8] =
    ["- 1 >= g - 2", "== g - 1", "== g - 1", "== g - 1", ">= g - 1", "== g - 2", "== 0", "+ 2 > 2 * (g - 1)"];
const DRAWERS: [&str; 4] = ["if (t == 0)", "if (t == 0)", "if (t == 0)", ""];
const RESETS: [&str; 5] = ["", "", "if (t == 0) *c = 0;", "if (t == 0) atomicExch(c, 0u);", "*c = 0;"];

/// A kernel with a last block, or nearly.
fn kernel(seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut pick = |from: &[&str]| from[dice.below(from.len() as u64) as usize].to_owned();
    let (fence, barrier, part) = (pick(&FENCES), pick(&BARRIERS), pick(&PARTS));
    let inner = if pick(&["", "", "yes"]).is_empty() { String::new() } else { pick(&FENCES) };
    let (drawer, draw, last, reset) = (pick(&DRAWERS), pick(&DRAWS), pick(&LAST), pick(&RESETS));
    let late = if pick(&["", "", "", "", "", "late"]).is_empty() { String::new() } else { pick(&PARTS) };
    let early =
        if pick(&["", "", "", "", "", "", "", "early"]).is_empty() { "" } else { "if (b == 0 && t == 0) *c = 0;" };
    let receive = pick(&["", "", "__threadfence();", "__threadfence_block();"]);
    let read = pick(&["y[k] = p[k];", "y[k] = p[k];", "if (t == 0) y[0] = p[k];"]);
    let (is_carried, barrier_after) = (pick(&["yes", "yes", "no"]) == "yes", pick(&BARRIERS));
    let flag = if is_carried { "  __shared__ bool last;\n" } else { "  bool last = false;\n" };
    format!(
        "__global__ void k(unsigned *c, int *p, int *y, const int *x, int n) {{\n{flag}  int t = threadIdx.x;\n  int d = \
         blockDim.x;\n  int b = blockIdx.x;\n  unsigned g = gridDim.x;\n  {early}\n  {part}\n  {fence}\n  {barrier}\n  \
         {drawer} {{ {inner} unsigned a = {draw}; last = (a {last}); }}\n  {late}\n  {barrier_after}\n  if (last) {{\n    \
         {receive}\n    for (int k = t; k < g * n; k += d) {{ {read} }}\n    {reset}\n  }}\n}}\n"
    )
}

/// A run of the kernel, of so many instructions at most, with two accesses that nothing orders.
pub(super) fn refutation(kernel: &Kernel, receiving: Receiving, budget: u64) -> Option<String> {
    let program = Program::new(kernel);
    let sizes = [(1, 2), (1, 4), (3, 2), (4, 3), (33, 3)];
    sizes.into_iter().find_map(|(threads, blocks)| {
        (0..2).find_map(|seed| {
            let params = [Some(1 + i128::from(seed))];
            let geometry = Geometry { block: [threads, 1, 1], grid: [blocks, 1, 1] };
            let contents = Contents::Seeded(seed);
            let setup = Setup { geometry, params: &params, blocks: Blocks::All, contents, budget };
            let mut watch = Watch::new(kernel, geometry, receiving);
            let outcome = run(&program, &setup, &mut watch);
            // Sums that wrap are assumed away: a counter that goes down.
            let usable = outcome.finished && outcome.wrapped.is_empty() && outcome.divergences.is_empty();
            let found = watch.found.filter(|_| usable)?;
            Some(format!("{geometry:?} seed {seed}: {found:?}"))
        })
    })
}

/// Whether the acquiring side is assumed.
fn receiving(report: &KernelReport) -> Receiving {
    if assumes(report, "without a fence after the draw") { Receiving::Always } else { Receiving::InOrder }
}

#[test]
fn what_is_proved_of_last_blocks_holds_by_the_clocks_of_runs() {
    let tally = against_runs(
        &LAW,
        kernel,
        |text, report| refutation(&from_zero(lowered(text), &["c".to_owned()]), receiving(report), 200_000),
        |_, report| {
            let relies = assumes(report, "c is 0 when the kernel starts");
            [relies, relies && receiving(report) == Receiving::InOrder]
        },
    );
    let [proved, received] = tally.proved;
    assert!(
        is_enough(proved, tally.kernels, 50)
            && is_enough(received, tally.kernels, 200)
            && is_enough(tally.refuted, tally.kernels, 5),
        "of {} kernels {proved} are proved by their draws, {received} with a fence after them, and {} conflict",
        tally.kernels,
        tally.refuted
    );
}
