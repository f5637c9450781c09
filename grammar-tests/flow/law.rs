//! Amplification's law: on random kernels, changing what arrays hold, where flow says that it does not matter,
//! changes no access; nor does changing a parameter that is no property-integrity input.

use super::kernels;
use crate::support::draw::{Law, is_enough};
use crate::support::tier::tiers;
use raceproof::calculus::eval::{Blocks, Contents, Event, History, Kind, Program, Run, Setup, WARP, run};
use raceproof::calculus::text::print;
use raceproof::calculus::validate::validate;
use raceproof::calculus::{Array, ArrayId, Geometry, Kernel, Space};
use raceproof::flow::{Flow, Source, analyze};
use raceproof::memory_model::{AccessKind, ByteRange, Level, conflict, may_meet};

const LAW: Law = Law::new("flow", tiers(600, 3000, 24000));
const BUDGET: u64 = 60_000;

fn kind(event: &Event) -> AccessKind {
    match event.kind {
        Kind::Read => AccessKind::Read,
        Kind::Write => AccessKind::Write,
        Kind::Atomic { writes, order, scope } => AccessKind::Atomic { writes, order, scope },
    }
}

/// Whether two accesses of the run race, by the definition.
fn races(kernel: &Kernel, events: &[Event]) -> bool {
    events.iter().enumerate().any(|(index, one)| events[index + 1..].iter().any(|other| race(kernel, one, other)))
}

fn race(kernel: &Kernel, one: &Event, other: &Event) -> bool {
    let same_block = one.thread.block == other.thread.block;
    let (level, unordered) = match (same_block, one.thread.thread / WARP == other.thread.thread / WARP) {
        (false, _) => (Level::Grid, one.stamp.grid == other.stamp.grid),
        (true, true) => (Level::Warp, one.stamp.warp == other.stamp.warp),
        (true, false) => (Level::Block, one.stamp.block == other.stamp.block),
    };
    let range = |event: &Event| ByteRange { start: event.offset.expect("seeded offsets").into(), bytes: event.bytes };
    one.thread != other.thread
        && one.array == other.array
        && may_meet(kernel.arrays[one.array].space, level)
        && unordered
        && conflict((kind(one), range(one)), (kind(other), range(other)), level)
}

fn execute(kernel: &Kernel, params: &[Option<i128>], contents: Contents) -> (Run, Vec<Event>) {
    let geometry = Geometry { block: [kernels::THREADS, 1, 1], grid: [1, 1, 1] };
    let setup = Setup { geometry, params, blocks: Blocks::All, contents, budget: BUDGET };
    let mut history = History::default();
    let run = run(&Program::new(kernel), &setup, &mut history);
    // What a write stores may differ; where it goes may not.
    let events = history.accesses.into_iter().map(|recorded| Event { value: None, ..recorded.event }).collect();
    (run, events)
}

fn reaches(flow: &Flow, wanted: &Source) -> bool {
    flow.reached.iter().any(|each| each.source == *wanted)
}

/// The arrays whose content does not matter, as bits.
fn free_arrays(kernel: &Kernel, flow: &Flow) -> u64 {
    let bit = |(id, array): (ArrayId, &Array)| {
        // What a thread keeps to itself is no input.
        let is_free = array.space != Space::Private && !reaches(flow, &Source::Content(id));
        u64::from(is_free) << id.index()
    };
    kernel.arrays.iter().map(bit).sum()
}

/// What trying a kernel showed.
enum Shown {
    Nothing,
    /// The law holds, with this many free arrays.
    Holds(u32),
}

fn tried(seed: u64) -> Shown {
    let kernel = kernels::kernel(seed);
    assert!(validate(&kernel).is_empty(), "seed {seed}: {:?}\n{}", validate(&kernel), print(&kernel));
    let flow = analyze(&kernel);
    let params = [Some(i128::from(seed % 4)), Some(i128::from(seed / 4 % 4))];
    let (first, events) = execute(&kernel, &params, Contents::Seeded(seed));
    let is_clean = first.finished && first.traps.is_empty() && first.divergences.is_empty();
    if !is_clean || races(&kernel, &events) {
        return Shown::Nothing;
    }
    let free = free_arrays(&kernel, &flow);
    for other in 1..4 {
        let contents = Contents::Varied { seed, other: seed.wrapping_mul(31) + other, arrays: free };
        let params: Vec<_> = kernel
            .params
            .handles()
            .zip(params)
            .map(|(id, value)| if reaches(&flow, &Source::Param(id)) { value } else { Some(i128::from(other * 3)) })
            .collect();
        let (second, again) = execute(&kernel, &params, contents);
        if !second.finished || !second.traps.is_empty() {
            continue;
        }
        let differs = events.iter().zip(&again).find(|(a, b)| a != b);
        assert!(
            events == again,
            "seed {seed}: {} and {} accesses, first difference {differs:?}\nreached {:?}\n{}",
            events.len(),
            again.len(),
            flow.reached.iter().map(|each| &each.source).collect::<Vec<_>>(),
            print(&kernel)
        );
    }
    Shown::Holds(free.count_ones())
}

#[test]
fn inputs_outside_the_set_change_no_access() {
    let mut by_free = [0; 6];
    let shown = LAW.each(tried);
    for each in &shown {
        if let Shown::Holds(free) = each {
            by_free[*free as usize] += 1;
        }
    }
    let some: usize = by_free[2..5].iter().sum();
    // Of kernels that read and use what they read, some data must matter and some not, or the law says nothing.
    assert!(is_enough(some, shown.len(), 20), "{by_free:?}");
    assert!(is_enough(by_free[5], shown.len(), 50), "{by_free:?}");
}

/// What the set leaves out would be wrong to leave out everywhere: without `data` in it the law fails.
#[test]
fn the_law_can_fail() {
    let mut failed = 0;
    for seed in 0..1_200 {
        let kernel = kernels::kernel(seed);
        let flow = analyze(&kernel);
        let all = 0b1_1111;
        if free_arrays(&kernel, &flow) == all {
            continue;
        }
        let params = [Some(2), Some(3)];
        let (first, events) = execute(&kernel, &params, Contents::Seeded(seed));
        let (second, again) = execute(&kernel, &params, Contents::Varied { seed, other: seed + 9, arrays: all });
        failed += u64::from(first.finished && second.finished && events != again);
    }
    assert!(failed > 60, "{failed}");
}
