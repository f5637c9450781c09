//! Numbers that are drawn from counters: what is called race-free has no conflict in any run in which memory holds
//! something.
//!
//! Kernels are made of draws and resets in every order: steps of any sign, one counter or several, loops around some or
//! all of it, barriers here and there. Runs start from arbitrary contents and know them, so atomics give real numbers.

use super::handed::{against_runs, assumes};
use super::source::Dice;
use raceproof::calculus::eval::{Blocks, Contents, Event, History, Kind, Program, Setup, WARP, run};
use raceproof::calculus::{Geometry, Kernel, Space};
use raceproof::front::tree_sitter;
use raceproof::source::{Language, SourceMap};
use raceproof::{lower, preprocess, resolve};
use std::collections::BTreeMap;

/// Kernels that are tried, or as many as `RACEPROOF_KERNELS` says.
const KERNELS: u64 = 300;

const STEPS: [&str; 8] = ["1", "1", "1", "2", "3", "-1", "-2", "0"];
const CELLS: [&str; 6] = ["0", "0", "0", "0", "t & 1", "n & 1"];
const RESETS: [&str; 5] = [
    "if (t == 0) c[0] = 0;",
    "if (t == 0) { c[0] = 0; c[1] = 0; }",
    "if (t < 2) c[t] = 0;",
    "if (t == 0) atomicExch(&c[0], 0);",
    "c[0] = 0;",
];
const PLACES: [&str; 6] = ["a", "a", "a + 1", "2 * a", "a + (t & 1)", "a / 2"];

/// A kernel that draws.
fn kernel(seed: u64) -> String {
    let mut dice = Dice(seed);
    let is_shared = dice.below(2) == 0;
    let mut body = String::new();
    let mut indent = 0;
    let mut loops = 0;
    let step = STEPS[dice.below(8) as usize];
    for _ in 0..3 + dice.below(5) {
        let line = match dice.below(9) {
            0 | 1 if is_shared => RESETS[dice.below(5) as usize].to_owned(),
            0 if dice.below(4) == 0 => RESETS[dice.below(5) as usize].to_owned(),
            2 | 3 => "__syncthreads();".to_owned(),
            4 if loops < 2 => {
                loops += 1;
                indent += 1;
                format!("for (int k{loops} = 0; k{loops} < n; k{loops}++) {{")
            }
            5 if indent > 0 => {
                indent -= 1;
                "}".to_owned()
            }
            _ => {
                let step = if dice.below(4) == 0 { STEPS[dice.below(8) as usize] } else { step };
                let (cell, place) = (CELLS[dice.below(6) as usize], PLACES[dice.below(6) as usize]);
                let guard = if dice.below(2) == 0 { "" } else { "if (x[t] & 1) " };
                format!("{guard}{{ int a = atomicAdd(&c[{cell}], {step}); y[{place}] = t; }}")
            }
        };
        body.push_str(&format!("  {line}\n"));
    }
    body.push_str(&"  }\n".repeat(indent));
    let (counter, param) = if is_shared { ("  __shared__ int c[2];\n", "") } else { ("", "int *c, ") };
    format!(
        "__global__ void k({param}int *y, const int *x, int n) {{\n{counter}  int t = threadIdx.x;\n{}{body}}}\n",
        if is_shared { "  if (t < 2) c[t] = 0;\n  __syncthreads();\n" } else { "" }
    )
}

fn lowered(text: &str) -> Kernel {
    let mut sources = SourceMap::new();
    let main = sources.add_file("k.cu", text);
    let answer = tree_sitter::parse(sources, main, &preprocess::Options::new(Language::Cuda));
    lower::kernels(&resolve::resolve(answer.unit).program).remove(0)
}

/// Two accesses of a run that nothing orders and that conflict.
pub(super) fn conflict(kernel: &Kernel, history: &History) -> Option<(Event, Event)> {
    let mut cells: BTreeMap<(usize, i64), Vec<&Event>> = BTreeMap::new();
    for recorded in &history.accesses {
        let event = &recorded.event;
        if let Some(offset) = event.offset.filter(|_| event.exact) {
            cells.entry((event.array.index(), offset / 4)).or_default().push(event);
        }
    }
    cells.into_values().find_map(|events| {
        events.iter().enumerate().find_map(|(at, one)| {
            let other = events[..at].iter().find(|other| meet(kernel, one, other))?;
            Some((**one, **other))
        })
    })
}

fn meet(kernel: &Kernel, one: &Event, other: &Event) -> bool {
    let is_atomic = |event: &Event| matches!(event.kind, Kind::Atomic { .. });
    let writes = one.kind != Kind::Read || other.kind != Kind::Read;
    let together = if one.thread.block == other.thread.block {
        let warp = |event: &Event| event.thread.thread / WARP;
        one.stamp.block == other.stamp.block && (warp(one) != warp(other) || one.stamp.warp == other.stamp.warp)
    } else {
        kernel.arrays[one.array].space == Space::Global && one.stamp.grid == other.stamp.grid
    };
    one.thread != other.thread && writes && together && !(is_atomic(one) && is_atomic(other))
}

/// A run of the kernel that has a conflict. These kernels read no dimension of the grid, so what is proved of them is of
/// one block.
fn refutation(kernel: &Kernel) -> Option<String> {
    let program = Program::new(kernel);
    [4, 7, 33].into_iter().find_map(|threads| {
        (0..4).find_map(|seed| {
            let params = [Some(2 + i128::from(seed & 1))];
            let geometry = Geometry { block: [threads, 1, 1], grid: [1, 1, 1] };
            let contents = Contents::Seeded(seed);
            let setup = Setup { geometry, params: &params, blocks: Blocks::All, contents, budget: 200_000 };
            let mut history = History::default();
            let outcome = run(&program, &setup, &mut history);
            // Random contents may let the counter wrap, which is assumed away.
            let usable = outcome.finished && outcome.wrapped.is_empty() && outcome.out_of_bounds.is_empty();
            let found = conflict(kernel, &history).filter(|_| usable)?;
            Some(format!("{geometry:?} seed {seed}: {found:?}"))
        })
    })
}

#[test]
fn what_is_proved_of_draws_holds_in_runs_that_know_what_memory_holds() {
    let tally = against_runs(
        KERNELS,
        kernel,
        |text, _| refutation(&lowered(text)),
        |_, report| [assumes(report, "added to c atomically")],
    );
    assert!(
        tally.proved[0] * 50 >= tally.kernels && tally.refuted * 5 >= tally.kernels,
        "of {} kernels {} are proved by their draws and {} conflict",
        tally.kernels,
        tally.proved[0],
        tally.refuted
    );
}
