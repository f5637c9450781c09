//! Whether a kernel that is called free of races is, in small launches: all its accesses are listed by the executable
//! semantics, and every two of them are compared by definition.
//!
//! The launches are those that the verdict is about: extents and parameters that it does not fix are small and vary,
//! memory is unknown or holds arbitrary contents. A launch counts if the run ends, does something, and nothing in it
//! is undefined or assumed away. The search for conflicts shares no code with the prover's.
//!
//! Deliberately absent: interleavings, and launches larger than a few hundred threads (of a stated one that is larger,
//! some blocks are run).

use super::handed::{Watch, from_zero};
use super::mutation::Dice;
use raceproof::calculus::eval::{Blocks, Contents, Event, Kind, Meeting, Program, Run, Setup, Sink, Value, WARP, run};
use raceproof::calculus::{Expr, Geometry, Kernel, ParamId, ScalarType, Space, is_offset};
use raceproof::driver::options::Levels;
use raceproof::memory_model::clocks::Receiving;
use raceproof::memory_model::met::{Met, Stands};
use raceproof::memory_model::{AccessKind, ByteRange, Level, conflict, may_meet};
use raceproof::prove::Scope;
use std::collections::{BTreeMap, BTreeSet};

/// Geometries that are looked for.
const GEOMETRIES: usize = 5;
/// Runs of one geometry that count; then another one is looked for.
const RUNS: usize = 3;
/// Launches that are tried.
const TRIES: usize = 120;
/// Instructions of one run.
const STEPS: u64 = 150_000;
/// Instructions for one kernel.
const ALL_STEPS: u64 = 4_000_000;
/// Accesses of one run that are kept.
const EVENTS: usize = 400_000;
/// Comparisons for one run, and meetings that are looked at for them.
const COMPARISONS: usize = 20_000_000;
/// Threads of a block whose size is free.
const THREADS: u64 = 256;

/// Extents that are tried where they are free. Each is paired with many others.
const BLOCK: [[u32; 3]; 12] = [
    [33, 1, 1],
    [4, 4, 1],
    [64, 2, 2],
    [7, 3, 1],
    [32, 8, 1],
    [16, 16, 1],
    [2, 5, 2],
    [1, 4, 1],
    [48, 1, 3],
    [8, 8, 4],
    [3, 2, 1],
    [40, 2, 1],
];
const GRID: [[u32; 3]; 7] = [[2, 1, 1], [3, 2, 1], [1, 3, 2], [3, 1, 1], [2, 2, 2], [1, 1, 1], [3, 3, 1]];

/// What is claimed of a kernel.
pub(crate) struct Claim<'a> {
    /// The launches that it is about.
    pub(crate) scopes: &'a [Scope],
    /// The threads that it is about.
    pub(crate) levels: Levels,
    /// Whether it takes for granted that unsigned arithmetic does not wrap.
    pub(crate) no_wrap: bool,
    /// Whether a thread that has returned counts at barriers.
    pub(crate) returned_counts: bool,
    /// Counters that are 0 at the start: blocks hand over by them, and runs are judged by clocks.
    pub(crate) counters: Vec<String>,
    /// Whether what is handed over is always seen.
    pub(crate) receiving: Receiving,
}

/// What the launches show.
#[derive(Clone, Debug)]
pub(crate) enum Shown {
    /// Nothing against it, in so many geometries.
    Nothing { geometries: usize, runs: usize, accesses: usize, why_fewer: Option<String> },
    /// The claim is wrong.
    Refutation(String),
}

/// Runs the kernel in small launches of the claim.
pub(crate) fn enumerate(kernel: &Kernel, claim: &Claim<'_>, dice: &mut Dice) -> Shown {
    let started = (!claim.counters.is_empty()).then(|| from_zero(kernel.clone(), &claim.counters));
    let kernel = started.as_ref().unwrap_or(kernel);
    let program = Program::new(kernel);
    let constants = constants(kernel);
    let mut good: BTreeMap<Geometry, usize> = BTreeMap::new();
    let mut failures: BTreeMap<&'static str, usize> = BTreeMap::new();
    let (mut accesses, mut steps) = (0, 0);
    if claim.scopes.is_empty() {
        let why_fewer = Some("its launches are not known".to_owned());
        return Shown::Nothing { geometries: 0, runs: 0, accesses: 0, why_fewer };
    }
    let is_fixed = claim.scopes.iter().all(|scope| scope.block.iter().chain(&scope.grid).all(Option::is_some));
    for number in 0..TRIES {
        let enough = good.values().filter(|&&runs| runs >= RUNS).count();
        if enough >= GEOMETRIES || (is_fixed && enough >= claim.scopes.len()) || steps > ALL_STEPS {
            break;
        }
        let Some(scope) = claim.scopes.get(number % claim.scopes.len().max(1)) else { break };
        let geometry = geometry(scope, &constants, number / claim.scopes.len(), dice);
        let Some(geometry) = geometry.filter(|geometry| is_possible(kernel, geometry)) else { continue };
        if good.get(&geometry).is_some_and(|&runs| runs >= RUNS) {
            continue;
        }
        let params = params(kernel, scope, &geometry, &constants, dice);
        let contents = match number % 3 {
            0 if claim.counters.is_empty() => Contents::Unknown,
            _ => Contents::Seeded(dice.below(1 << 30) as u64),
        };
        match one_run(kernel, &program, claim, &(geometry, params, contents), &mut steps) {
            Ok(events) => {
                accesses += events;
                *good.entry(geometry).or_default() += 1;
            }
            Err(Failure::Unusable(why)) => *failures.entry(why).or_default() += 1,
            Err(Failure::Refuted(how)) => return Shown::Refutation(how),
        }
    }
    let why = || failures.iter().map(|(why, count)| format!("{why}: {count}")).collect::<Vec<_>>().join(", ");
    let why_fewer = (good.len() < GEOMETRIES).then(|| if is_fixed { "the launch is fixed".to_owned() } else { why() });
    Shown::Nothing { geometries: good.len(), runs: good.values().sum(), accesses, why_fewer }
}

/// Why a run does not count.
enum Failure {
    Unusable(&'static str),
    Refuted(String),
}

fn one_run(
    kernel: &Kernel,
    program: &Program,
    claim: &Claim<'_>,
    (geometry, params, contents): &(Geometry, Vec<Option<i128>>, Contents),
    steps: &mut u64,
) -> Result<usize, Failure> {
    let few = few_blocks(geometry);
    let blocks = match &few {
        Some(few) if !program.runs_blocks_together() => Blocks::These(few),
        _ => Blocks::All,
    };
    let setup = Setup { geometry: *geometry, params, blocks, contents: *contents, budget: STEPS };
    if !claim.counters.is_empty() {
        return one_watched_run(kernel, program, claim, &setup, steps);
    }
    let mut kept = Kept::default();
    let outcome = run(program, &setup, &mut kept);
    *steps += outcome.steps;
    if outcome.vacuous {
        return Err(Failure::Unusable("an assumption does not hold"));
    }
    let wraps = outcome.lost_sign || !outcome.wrapped.is_empty() || !outcome.wrapped_loops.is_empty();
    if claim.no_wrap && wraps {
        return Err(Failure::Unusable("unsigned arithmetic wraps"));
    }
    let launch = || format!("{geometry:?} {params:?} {contents:?}");
    let counts = |returned: bool| !returned || claim.returned_counts;
    let is_spoilt = |phase| outcome.undefined_since.is_some_and(|since| since <= phase);
    let diverges = outcome.divergences.iter().find(|seen| counts(seen.returned) && !is_spoilt(seen.phase));
    if let Some(seen) = diverges {
        return Err(Failure::Refuted(format!("{}: divergence {seen:?}", launch())));
    }
    if let Some([one, other]) = conflict_in(kernel, &kept, &outcome, claim.levels) {
        return Err(Failure::Refuted(format!("{}: {one:?} and {other:?}", launch())));
    }
    match () {
        () if outcome.undefined_since.is_some() => Err(Failure::Unusable("something undefined happens")),
        () if !outcome.finished || kept.events.len() >= EVENTS => Err(Failure::Unusable("the run is too long")),
        () if kept.events.iter().all(|event| !event.exact) => Err(Failure::Unusable("nothing certain is accessed")),
        () => Ok(kept.events.len()),
    }
}

/// A run of a kernel whose blocks hand over.
fn one_watched_run(
    kernel: &Kernel,
    program: &Program,
    claim: &Claim<'_>,
    setup: &Setup<'_>,
    steps: &mut u64,
) -> Result<usize, Failure> {
    let mut watch = Watch::new(kernel, setup.geometry, claim.receiving);
    let outcome = run(program, setup, &mut watch);
    *steps += outcome.steps;
    let is_defined = outcome.undefined_since.is_none() && outcome.failed_since.is_none() && !outcome.vacuous;
    let wraps = claim.no_wrap && !(outcome.wrapped.is_empty() && outcome.wrapped_loops.is_empty());
    if !is_defined || wraps || !outcome.finished {
        return Err(Failure::Unusable("something undefined or assumed away happens, or the run is too long"));
    }
    let launch = || format!("{:?} {:?} {:?}", setup.geometry, setup.params, setup.contents);
    let counts = |returned: bool| !returned || claim.returned_counts;
    if let Some(seen) = outcome.divergences.iter().find(|seen| counts(seen.returned)) {
        return Err(Failure::Refuted(format!("{}: divergence {seen:?}", launch())));
    }
    match watch.found {
        Some((one, other)) if !is_asked(claim.levels, &one, &other) => {
            Err(Failure::Unusable("it is about other threads"))
        }
        Some((one, other)) => Err(Failure::Refuted(format!("{}: {one:?} and {other:?}", launch()))),
        None if watch.accesses == 0 => Err(Failure::Unusable("nothing certain is accessed")),
        None => Ok(watch.accesses),
    }
}

/// Keeps the accesses of a run.
#[derive(Default)]
struct Kept {
    events: Vec<Event>,
    /// Who met at barriers that are for some threads of a block.
    met: Met,
}

impl Sink for Kept {
    fn met(&mut self, block: u32, meeting: Meeting<'_>) {
        self.met.note(block, meeting);
    }

    fn access(&mut self, event: &Event, _locals: &[Value]) {
        if self.events.len() < EVENTS {
            self.events.push(*event);
        }
    }
}

/// Two accesses that certainly happen, conflict, and come before anything undefined.
fn conflict_in<'e>(kernel: &Kernel, kept: &'e Kept, run: &Run, levels: Levels) -> Option<[&'e Event; 2]> {
    let has_meaning = |event: &&Event| {
        let stops = [run.undefined_since, run.failed_since].into_iter().flatten().any(|since| since <= event.phase);
        let missed = [run.diverged_since, run.returned_since].into_iter().flatten().any(|since| since < event.phase);
        event.exact && !stops && !missed
    };
    let mut by_start: Vec<&Event> = kept.events.iter().filter(has_meaning).collect();
    by_start.sort_by_key(|event| (event.array, event.offset));
    let longest = by_start.iter().map(|event| i64::from(event.bytes)).max()?;
    let mut comparisons = 0;
    for write in by_start.iter().filter(|event| event.kind != Kind::Read) {
        let start = write.offset?;
        let first = by_start
            .partition_point(|event| (event.array, event.offset) <= (write.array, Some(start.saturating_sub(longest))));
        let end = start + i64::from(write.bytes);
        for other in &by_start[first..] {
            comparisons += 1;
            if (other.array, other.offset) >= (write.array, Some(end)) || comparisons > COMPARISONS {
                break;
            }
            if !is_asked(levels, write, other) || !do_conflict(kernel, write, other) {
                continue;
            }
            // Meetings are looked at one by one.
            comparisons += write.stamp.met.abs_diff(other.stamp.met) as usize;
            if !have_met(kernel, &kept.met, write, other) {
                return Some([write, other]);
            }
        }
    }
    None
}

/// Whether a claim is about these two threads.
fn is_asked(levels: Levels, one: &Event, other: &Event) -> bool {
    match levels {
        Levels::All => true,
        Levels::Block => one.thread.block == other.thread.block,
        Levels::Grid => one.thread.block != other.thread.block,
    }
}

/// Whether meetings of their block stand between two accesses.
fn have_met(kernel: &Kernel, met: &Met, one: &Event, other: &Event) -> bool {
    let passed = |event: &Event| Stands::of(event, &kernel.sites);
    one.thread.block == other.thread.block && met.orders(one.thread.block, passed(one), passed(other))
}

/// Whether two accesses conflict that no counted barrier stands between.
fn do_conflict(kernel: &Kernel, one: &Event, other: &Event) -> bool {
    let (this, that) = (one.thread, other.thread);
    let (level, unordered) = if this.block != that.block && one.cluster == other.cluster {
        (Level::Cluster, one.stamp.cluster == other.stamp.cluster)
    } else if this.block != that.block {
        (Level::Grid, one.stamp.grid == other.stamp.grid)
    } else if this.thread / WARP == that.thread / WARP {
        (Level::Warp, one.stamp.warp == other.stamp.warp)
    } else {
        (Level::Block, one.stamp.block == other.stamp.block)
    };
    let touched = |event: &Event| {
        let kind = match event.kind {
            Kind::Read => AccessKind::Read,
            Kind::Write => AccessKind::Write,
            Kind::Atomic { writes, order, scope } => AccessKind::Atomic { writes, order, scope },
        };
        (kind, ByteRange { start: i128::from(event.offset.unwrap_or_default()), bytes: event.bytes })
    };
    let space: Space = kernel.arrays[one.array].space;
    this != that && unordered && may_meet(space, level) && conflict(touched(one), touched(other), level)
}

/// Numbers that the kernel mentions and that may be extents or bounds.
fn constants(kernel: &Kernel) -> Vec<u32> {
    let numbers: BTreeSet<u32> = kernel
        .exprs
        .iter()
        .filter_map(|(_, expr)| match expr {
            Expr::Int(value, _) => u32::try_from(*value).ok().filter(|value| (2..=512).contains(value)),
            _ => None,
        })
        .collect();
    numbers.into_iter().collect()
}

/// A launch of the scope; extents that are free come from the lists, every third time from the kernel.
fn geometry(scope: &Scope, constants: &[u32], number: usize, dice: &mut Dice) -> Option<Geometry> {
    let mut block = BLOCK[number % BLOCK.len()];
    let grid = GRID[number % GRID.len()];
    if number % 3 == 2 && !constants.is_empty() {
        let axis = dice.below(3);
        block = [1; 3];
        block[0] = constants[dice.below(constants.len())];
        block[axis] = constants[dice.below(constants.len())];
    }
    let fixed = |extents: [u32; 3], fixed: [Option<u32>; 3]| [0, 1, 2].map(|axis| fixed[axis].unwrap_or(extents[axis]));
    let geometry = Geometry { block: fixed(block, scope.block), grid: fixed(grid, scope.grid) };
    let is_stated = scope.block.iter().all(Option::is_some);
    (geometry.block_threads() <= if is_stated { 1024 } else { THREADS }).then_some(geometry)
}

fn is_possible(kernel: &Kernel, geometry: &Geometry) -> bool {
    kernel.geometry.max_threads.is_none_or(|most| geometry.block_threads() <= u64::from(most))
        && kernel.geometry.has_whole_clusters(geometry.grid)
}

/// Values of the parameters: what the scope fixes, else small numbers and those that bounds often are.
fn params(
    kernel: &Kernel,
    scope: &Scope,
    geometry: &Geometry,
    constants: &[u32],
    dice: &mut Dice,
) -> Vec<Option<i128>> {
    let sizes = [0, 1, 2].map(|axis| u64::from(geometry.block[axis]) * u64::from(geometry.grid[axis]));
    let total: u64 = geometry.block_threads().saturating_mul(geometry.blocks());
    let free = |dice: &mut Dice| -> i128 {
        match dice.below(8) {
            0 => i128::from(sizes[dice.below(2)]),
            1 => i128::from(sizes[dice.below(2)]) + 1 - dice.below(3) as i128,
            2 => i128::from(geometry.block[dice.below(2)]),
            3 if !constants.is_empty() => i128::from(constants[dice.below(constants.len())]),
            4 => i128::from(total) * [1, 2][dice.below(2)],
            5 => [16, 32, 64, 128][dice.below(4)],
            6 => dice.below(9) as i128 - 1,
            _ => 1 + dice.below(40) as i128,
        }
    };
    // Where global ids start elsewhere, proofs do not speak of it unless they are asked to.
    let starts_at_zero = |at: ParamId| is_offset(&kernel.params[at].name).then_some(0);
    let fixed = |at: usize| scope.params.get(at).copied().flatten();
    // Sizes of 2^63 and more wrap round in addresses, which claims take for granted that they do not.
    let least = |param: ParamId| if kernel.params[param].ty == ScalarType::U64 { 0 } else { i128::MIN };
    let value = |param: ParamId| {
        let stated = fixed(param.index()).or_else(|| starts_at_zero(param));
        stated.unwrap_or_else(|| free(dice).max(least(param)))
    };
    kernel.params.handles().map(value).map(Some).collect()
}

/// Some blocks of a grid that is too large to be run whole.
fn few_blocks(geometry: &Geometry) -> Option<Vec<[u32; 3]>> {
    if geometry.blocks().saturating_mul(geometry.block_threads()) <= 8 * THREADS {
        return None;
    }
    let [width, height, depth] = geometry.grid;
    let last = [width - 1, height - 1, depth - 1];
    let chosen = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], last];
    let inside: BTreeSet<[u32; 3]> =
        chosen.into_iter().filter(|id| (0..3).all(|axis| id[axis] < geometry.grid[axis])).collect();
    Some(inside.into_iter().collect())
}
