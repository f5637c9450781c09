//! Numbers that are drawn from counters: what is called race-free has no conflict in any run in which memory holds
//! something.
//!
//! Kernels are made of draws and resets in every order: steps of any sign, one counter or several, loops around some or
//! all of it, barriers here and there. In others one thread draws for its block and hands on what it got. Runs start from
//! arbitrary contents and know them, so atomics give real numbers.

use super::handed::{against_runs, assumes, lowered};
use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough};
use crate::support::tier::tiers;
use raceproof::calculus::eval::{Blocks, Contents, Event, History, Kind, Program, Setup, WARP, run};
use raceproof::calculus::{Geometry, Kernel, Space};
use raceproof::diagnostic::report::Race;
use std::collections::{BTreeMap, BTreeSet};

const LAW: Law = Law::new("tickets", tiers(30, 150, 1200));
const LAW_OF_HANDING: Law = Law::new("tickets_handed_on", tiers(30, 150, 1200));

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
        &LAW,
        kernel,
        |text, _| refutation(&lowered(text)),
        |_, report| [assumes(report, "added to c atomically")],
    );
    assert!(
        is_enough(tally.proved[0], tally.kernels, 50) && is_enough(tally.refuted, tally.kernels, 5),
        "of {} kernels {} are proved by their draws and {} conflict",
        tally.kernels,
        tally.proved[0],
        tally.refuted
    );
}

/// Who draws for the block, and stores what it drew.
const DRAWERS: [&str; 8] = [
    "t == 0",
    "t == 0",
    "t == 0",
    "t < 1",
    "t == 1",
    "t == 0 && n > 2",
    "t == 0 && x[blockIdx.x] & 1",
    "t == blockDim.x - 1",
];
/// How much it takes.
const AMOUNTS: [&str; 7] = ["blockDim.x", "blockDim.x", "2 * blockDim.x", "34", "1", "x[t] & 7", "__popc(n) * 40"];
/// Who uses it.
const USERS: [&str; 5] = ["", "", "if (n > 2) ", "if (x[blockIdx.x] & 1) ", "if (t < 4) "];
/// Where they write.
const ROOMS: [&str; 6] =
    ["base + t", "base + t", "base + blockDim.x + t", "base", "base * blockDim.x + t", "base + (blockDim.x - 1 - t)"];

/// A kernel in which some thread of each block draws, and all of the block use the number.
fn handing(seed: u64) -> String {
    let mut dice = Dice(seed);
    let drawer = DRAWERS[dice.below(8) as usize];
    let amount = AMOUNTS[dice.below(7) as usize];
    let counter = ["0", "0", "0", "0", "blockIdx.x & 1", "n & 1"][dice.below(6) as usize];
    let mut barrier = |often: u64| if dice.below(often) == 0 { "" } else { "  __syncthreads();\n" };
    let (before, after) = (barrier(8), barrier(3));
    let draw = format!("  if ({drawer}) base = atomicAdd(&c[{counter}], {amount});\n{before}");
    let mut uses = String::new();
    for _ in 0..1 + dice.below(2) {
        let (user, room) = (USERS[dice.below(5) as usize], ROOMS[dice.below(6) as usize]);
        uses.push_str(&format!("  {user}y[{room}] = t + blockIdx.x;\n"));
    }
    let body = match dice.below(5) {
        0 => format!("  for (int k = 0; k < n; k++) {{\n{draw}{uses}{after}  }}\n"),
        1 => format!("  for (int k = 0; k < n; k++) {{\n{draw}{after}  }}\n{uses}"),
        2 => format!("  if (n > 2) {{\n{draw}{uses}  }}\n"),
        _ => format!("{draw}{uses}"),
    };
    format!(
        "__global__ void k(int *c, int *y, const int *x, int n) {{\n  __shared__ int base;\n  int t = threadIdx.x;\n  if (blockDim.x < 2) return;\n{body}}}\n"
    )
}

/// A read of what nobody in the block has stored: it may be the same number in two blocks.
fn unwritten(kernel: &Kernel, history: &History) -> Option<Event> {
    let shared = |event: &&Event| kernel.arrays[event.array].space == Space::Shared;
    let mut stored = BTreeSet::new();
    history.accesses.iter().map(|recorded| &recorded.event).filter(shared).find_map(|event| {
        let block = event.thread.block;
        if event.kind == Kind::Write {
            stored.insert(block);
        }
        (!stored.contains(&block)).then_some(*event)
    })
}

/// A run of such a kernel that has a conflict, between threads of one block or of two, or whose proof says that a number
/// was drawn that was not.
fn refutation_of_handing(kernel: &Kernel, is_drawn: bool) -> Option<String> {
    let program = Program::new(kernel);
    [(2, 3), (7, 2), (33, 2)].into_iter().find_map(|(threads, blocks)| {
        (0..6).find_map(|seed| {
            let params = [Some(i128::from(seed % 5))];
            let geometry = Geometry { block: [threads, 1, 1], grid: [blocks, 1, 1] };
            let setup = Setup {
                geometry,
                params: &params,
                blocks: Blocks::All,
                contents: Contents::Seeded(seed),
                budget: 200_000,
            };
            let mut history = History::default();
            let outcome = run(&program, &setup, &mut history);
            let usable = outcome.finished && outcome.wrapped.is_empty() && outcome.divergences.is_empty();
            let found = conflict(kernel, &history).map(|found| format!("{found:?}"));
            let garbage = || unwritten(kernel, &history).filter(|_| is_drawn).map(|found| format!("{found:?}"));
            found.or_else(garbage).filter(|_| usable).map(|found| format!("{geometry:?} seed {seed}: {found}"))
        })
    })
}

#[test]
fn what_is_proved_of_draws_that_are_handed_on_holds_in_runs() {
    let tally = against_runs(
        &LAW_OF_HANDING,
        handing,
        |text, report| {
            let is_drawn = report.race == Race::RaceFree && assumes(report, "added to c atomically");
            refutation_of_handing(&lowered(text), is_drawn)
        },
        |_, report| [assumes(report, "added to c atomically")],
    );
    assert!(
        is_enough(tally.proved[0], tally.kernels, 20) && is_enough(tally.refuted, tally.kernels, 5),
        "of {} kernels {} are proved by their draws and {} conflict",
        tally.kernels,
        tally.proved[0],
        tally.refuted
    );
}
