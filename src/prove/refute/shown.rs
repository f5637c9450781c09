//! Runs that are shown to people: who accesses what in a launch small enough to be drawn, and which accesses conflict.
//!
//! Guarantees: accesses that are said to conflict are exact, so that they conflict whatever memory holds beside what was
//! chosen. Launches that break what the kernel assumes are not shown.
//!
//! Deliberately absent: a claim that accesses which are not marked do not conflict. Where a run has more accesses than are
//! compared, it says so ([`Shown::is_whole`]); what a proof is about is its scope, not these launches.

use super::sweep::{Levels, do_conflict};
use super::witness::{self, Launch};
use super::{Mentions, Space};
use crate::calculus::eval::{Chosen, Contents, Event, Meeting, Program, Sink, Value, run};
use crate::calculus::{ArrayId, Geometry, Kernel, Space as MemorySpace};
use crate::memory_model::met::Met;
use crate::prove::Scope;
use std::collections::{BTreeMap, BTreeSet};

/// A run, as far as it is drawn.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The launch.
    pub geometry: Geometry,
    /// Values of its scalar parameters, by name.
    pub params: Vec<(String, i128)>,
    /// The blocks that were run; threads of accesses name them by position.
    pub blocks: Vec<[u32; 3]>,
    /// The accesses, in the order in which they were run.
    pub events: Vec<Event>,
    /// Positions of those that conflict with another one.
    pub conflicting: BTreeSet<usize>,
    /// Whether these are all accesses of the run, and all were compared.
    pub is_whole: bool,
}

/// Accesses that are kept of a run.
const MOST_EVENTS: usize = 20_000;
/// Comparisons of two accesses in a run.
const MOST_COMPARED: usize = 400_000;
/// Instructions of a run.
const BUDGET: u64 = 400_000;
/// Threads of a launch that is drawn, if the kernel leaves the choice.
const MOST_THREADS: u64 = 64;
/// Numbers of blocks, and of threads of each, that are wanted.
const WANTED: [(u64, u64); 8] = [(1, 4), (2, 4), (1, 8), (1, 16), (2, 8), (1, 32), (2, 16), (4, 8)];
/// Larger launches that are tried where no small one shows anything.
const MOST_NATURAL: usize = 4;
/// Values of parameters that are compared for a launch.
const MOST_VALUATIONS: usize = 4;

/// Launches of a kernel within `scope` that are small enough to be drawn, at most so many, by the number of their threads.
pub fn of_small_launches(kernel: &Kernel, scope: &Scope, most: usize) -> Vec<Shown> {
    let program = Program::new(kernel);
    let space = Space::new(kernel, &Mentions::of(kernel), scope, Levels { block: true, grid: true });
    let shown = |geometry: &Geometry| best(kernel, &program, &space, geometry);
    let mut found: Vec<Shown> = small(&space).iter().filter_map(shown).take(most).collect();
    if found.is_empty() {
        let larger = if space.is_fixed() { space.geometries() } else { space.natural_geometries() };
        found = larger.iter().take(MOST_NATURAL).filter_map(shown).take(most).collect();
    }
    found.sort_by_key(|shown| (shown.geometry.block_threads() * shown.geometry.blocks(), shown.geometry));
    found
}

/// A launch that a witness names, in which memory holds what it says. `None` if it is none that counts.
pub fn of_witness(
    kernel: &Kernel,
    (geometry, params): (Geometry, Vec<Option<i128>>),
    blocks: Vec<[u32; 3]>,
    contents: &Chosen,
) -> Option<Shown> {
    let is_small = geometry.block_threads().saturating_mul(geometry.blocks()) <= MOST_THREADS;
    let program = Program::new(kernel);
    let blocks = (!is_small && !program.runs_blocks_together()).then_some(blocks);
    ran(kernel, &program, &Launch { geometry, params, blocks }, Contents::Chosen(contents))
}

/// One geometry for each number of blocks and threads that is wanted, as far as the kernel has it.
fn small(space: &Space) -> Vec<Geometry> {
    let all: Vec<Geometry> = space
        .geometries()
        .into_iter()
        .filter(|geometry| geometry.block_threads().saturating_mul(geometry.blocks()) <= MOST_THREADS)
        .collect();
    let mut chosen: Vec<Geometry> = Vec::new();
    for (blocks, threads) in WANTED {
        let fits = |geometry: &&Geometry| geometry.blocks() == blocks && geometry.block_threads() == threads;
        // Of those with as many threads the squarest one: what has two axes is about both.
        let squarest = |geometry: &&Geometry| geometry.block.iter().max().copied();
        chosen.extend(all.iter().filter(fits).min_by_key(squarest));
    }
    if chosen.is_empty() {
        chosen = all.into_iter().rev().take(WANTED.len()).collect();
    }
    chosen
}

/// Of some values of the parameters those with which threads access most.
fn best(kernel: &Kernel, program: &Program, space: &Space, geometry: &Geometry) -> Option<Shown> {
    let natural = space.natural_valuations(geometry).into_iter();
    let valuations = natural.chain(space.valuations(geometry)).take(MOST_VALUATIONS);
    let launches = valuations.map(|params| Launch { geometry: *geometry, params, blocks: None });
    let mut best: Option<Shown> = None;
    for launch in launches {
        if let Some(shown) = ran(kernel, program, &launch, Contents::Unknown)
            && best.as_ref().is_none_or(|best| shown.events.len() > best.events.len())
        {
            best = Some(shown);
        }
    }
    best
}

fn ran(kernel: &Kernel, program: &Program, launch: &Launch, contents: Contents<'_>) -> Option<Shown> {
    let mut listener = Listener { events: Vec::new(), met: Met::default() };
    let outcome = run(program, &launch.setup_with(contents, BUDGET), &mut listener);
    let Listener { events, met } = listener;
    if outcome.vacuous || !events.iter().any(|event| event.exact) {
        return None;
    }
    let (conflicting, all_compared) = conflicts(kernel, &events, &met);
    Some(Shown {
        geometry: launch.geometry,
        params: witness::params(kernel, launch),
        blocks: outcome.blocks,
        events,
        conflicting,
        is_whole: outcome.finished && all_compared,
    })
}

/// The positions of accesses that conflict, and whether all were compared.
fn conflicts(kernel: &Kernel, events: &[Event], met: &Met) -> (BTreeSet<usize>, bool) {
    let mut left = MOST_COMPARED;
    let mut conflicting = BTreeSet::new();
    let mut at_byte: BTreeMap<(ArrayId, Option<u32>, i64), Vec<usize>> = BTreeMap::new();
    for (position, event) in events.iter().enumerate().filter(|(_, event)| event.exact) {
        let Some(offset) = event.offset else { continue };
        let space = kernel.arrays[event.array].space;
        let home = (space == MemorySpace::Shared).then_some(event.thread.block);
        for byte in offset..offset + i64::from(event.bytes) {
            let others = at_byte.entry((event.array, home, byte)).or_default();
            for &other in others.iter() {
                if left == 0 {
                    return (conflicting, false);
                }
                left -= 1;
                if do_conflict((&events[other], event), space, &kernel.sites, met) {
                    conflicting.extend([other, position]);
                }
            }
            // Equal accesses of a thread between two barriers conflict with the same ones of others.
            let is_known = |&other: &usize| {
                let other = &events[other];
                (other.thread, other.site, other.stamp, other.kind)
                    == (event.thread, event.site, event.stamp, event.kind)
            };
            if !others.iter().any(is_known) {
                others.push(position);
            }
        }
    }
    (conflicting, true)
}

/// Keeps what happens, as far as it is drawn.
struct Listener {
    events: Vec<Event>,
    met: Met,
}

impl Sink for Listener {
    fn access(&mut self, event: &Event, _locals: &[Value]) {
        self.events.push(*event);
    }

    fn met(&mut self, block: u32, meeting: Meeting<'_>) {
        self.met.note(block, meeting);
    }

    fn wants_more(&self) -> bool {
        self.events.len() < MOST_EVENTS
    }
}
