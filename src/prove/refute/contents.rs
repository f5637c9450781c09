//! Contents of arrays that make pairs conflict which depend on what memory holds.
//!
//! Contents may be chosen of arrays that are parameters, and of variables of the device that their declaration leaves
//! open, if nothing unmodelled touches them ([`free_arrays`]); of a parameter that the kernel writes, what it holds at
//! the launch, which is read until a thread writes there. A launch and contents are proposed (a few patterns for small
//! launches; what [`guide`] solves for a pair) and run like any other. Of a conflict that this shows, the numbers are
//! listed that its two threads have read, one after the other is struck off, and what remains is replayed from the
//! entry with **nothing else** known of memory: so the conflict happens whatever all other elements hold.
//!
//! Guarantees: every [`DataConflict`] was replayed with exactly the contents that it lists, in a run with nothing wrong
//! before it. The search counts instructions, so equal inputs give equal outcomes.
//!
//! What a block has written to its shared memory is known to the runs as far as [`eval`](crate::calculus::eval) keeps
//! it; the numbers after it are those that its writer has read since it wrote last.
//!
//! Deliberately absent: what a kernel has written to global memory, results of atomics, floating point; contents of
//! arrays that are written where blocks wait for each other; and completeness: that no contents were found says
//! nothing.

use super::sweep::{Candidate, Key, Levels, Sweep};
use super::witness::{self, Launch, Named};
use super::{Mentions, RUN_COST, Space, chosen_blocks, guide, is_useful, key_of, report};
use crate::calculus::eval::{Chosen, Contents, Event, Kind, Program, Rest, Run, Sink, ThreadId, Value, run};
use crate::calculus::{ArrayId, Kernel, ScalarType, SiteId, Space as Memory, Stmt, SyncScope};
use crate::protocol::Protocol;
use crate::prove::Returned;
use crate::prove::{DataConflict, Held, Pair, Scope, Witness};
use std::collections::{BTreeMap, BTreeSet};

/// Instructions of a search in all.
const STEPS: u64 = 1_200_000;
/// The same for launches that somebody would make, which come first, what is left of them for replays, and how many are
/// tried.
const NATURAL_STEPS: u64 = 400_000;
const FOR_NATURAL_REPLAYS: u64 = 200_000;
const NATURAL_GEOMETRIES: usize = 1;
/// What is left of them for patterns in larger launches, and then for replays.
const FOR_LARGER: u64 = 800_000;
const FOR_REPLAYS: u64 = 400_000;
/// No run takes more than this part of what is left.
const RUN_SHARE: u64 = 8;
/// Launches whose patterns come first, and how many values of parameters are tried for each.
const FIRST_GEOMETRIES: usize = 6;
const FIRST_VALUATIONS: usize = 3;
const LATER_VALUATIONS: usize = 6;
/// Pairs that are solved for.
const MOST_SOLVED: usize = 12;
/// Elements that a witness may list before some are struck off.
const MOST_LISTED: usize = 48;
/// Of what a thread has read before it writes, what the value may come from.
const MOST_BEHIND: usize = 8;
/// What elements that are not placed hold, in the order in which it is tried; the last number is a multiple of nothing
/// that kernels divide by, and more than most of it.
const PATTERNS: [Rest; 6] =
    [Rest::Constant(0), Rest::Constant(1), Rest::Index(2), Rest::Index(1), Rest::Remainder(2), Rest::Constant(97)];

/// Arrays whose contents at the launch may be chosen: what is passed or filled elsewhere, and nothing unmodelled
/// touches.
pub fn free_arrays(kernel: &Kernel) -> BTreeSet<ArrayId> {
    let mut free: BTreeSet<ArrayId> = kernel
        .arrays
        .iter()
        .filter(|(_, array)| array.is_given() && matches!(array.space, Memory::Global | Memory::Constant))
        .map(|(id, _)| id)
        .collect();
    for unsupported in &kernel.unsupported {
        match &unsupported.arrays {
            // What is said here of no array may be an assumption about contents that is not understood.
            Some(arrays) if !arrays.is_empty() => free.retain(|array| !arrays.contains(array)),
            _ => return BTreeSet::new(),
        }
    }
    let mut bodies: Vec<&[Stmt]> = vec![&kernel.body];
    let mut written = BTreeSet::new();
    // What a block reads after such a barrier, one may have written that is not run.
    let mut do_blocks_meet = kernel.arrays.iter().any(|(_, array)| array.space == Memory::Distributed);
    while let Some(body) = bodies.pop() {
        for stmt in body {
            match stmt {
                Stmt::Write { access, .. } | Stmt::Atomic { access, .. } => {
                    let array = &kernel.arrays[access.array];
                    if array.space == Memory::Global && !array.is_param && array.span.is_none() {
                        // Through a pointer that was loaded from memory, which may lead anywhere.
                        return BTreeSet::new();
                    }
                    written.insert(access.array);
                    do_blocks_meet |= matches!(stmt, Stmt::Atomic { scope: SyncScope::Cluster, .. });
                }
                Stmt::Sync { scope, .. } => do_blocks_meet |= *scope > SyncScope::Block,
                Stmt::If { then, otherwise, .. } => bodies.extend([then.as_slice(), otherwise]),
                Stmt::For(counted) => bodies.push(&counted.body),
                Stmt::Loop { body, .. } => bodies.push(body),
                _ => {}
            }
        }
    }
    // A variable that the kernel itself changes holds what an earlier launch of it has left, and at first zero.
    free.retain(|array| !written.contains(array) || (kernel.arrays[*array].is_param && !do_blocks_meet));
    free
}

/// Contents that make each of `pairs` conflict in some launch of `scope`, as far as they are found; in the order of
/// `pairs`. `program` is `kernel`, compiled.
pub fn with_contents(
    kernel: &Kernel,
    program: &Program,
    protocol: &Protocol,
    pairs: &[Pair],
    scope: &Scope,
    levels: Levels,
) -> Vec<Option<DataConflict>> {
    let free = free_arrays(kernel);
    if free.is_empty() {
        return vec![None; pairs.len()];
    }
    let mentions = Mentions::of(kernel);
    let space = Space::new(kernel, &mentions, scope, levels);
    let mut search = Search {
        kernel,
        program,
        levels,
        space,
        statements: mentions.statements,
        sweep: Sweep::new(kernel, program, levels),
        types: types_of_reads(kernel, &free),
        free,
        wanted: pairs.iter().map(|pair| key_of(protocol, pair)).collect(),
        found: BTreeMap::new(),
        left: NATURAL_STEPS,
    };
    search.look_naturally();
    let mut shown: Vec<_> = pairs.iter().map(|pair| search.shown(protocol, pair)).collect();
    let open: Vec<Pair> =
        pairs.iter().zip(&shown).filter(|(_, shown)| shown.is_none()).map(|(pair, _)| pair.clone()).collect();
    search.begin_again(open.iter().map(|pair| key_of(protocol, pair)).collect());
    search.look(protocol, &open);
    for (pair, shown) in pairs.iter().zip(&mut shown).filter(|(_, shown)| shown.is_none()) {
        *shown = search.shown(protocol, pair);
    }
    shown
}

/// The types of what is read of arrays whose contents may be chosen, where the calculus computes with them.
fn types_of_reads(kernel: &Kernel, free: &BTreeSet<ArrayId>) -> BTreeMap<SiteId, ScalarType> {
    let mut types = BTreeMap::new();
    let mut bodies: Vec<&[Stmt]> = vec![&kernel.body];
    while let Some(body) = bodies.pop() {
        for stmt in body {
            match stmt {
                Stmt::Read { var, access } if free.contains(&access.array) => {
                    let ty = kernel.vars[*var].ty;
                    types.extend(ty.range().map(|_| (access.site, ty)));
                }
                Stmt::If { then, otherwise, .. } => bodies.extend([then.as_slice(), otherwise]),
                Stmt::For(counted) => bodies.push(&counted.body),
                Stmt::Loop { body, .. } => bodies.push(body),
                _ => {}
            }
        }
    }
    types
}

/// A conflict under contents of which most do not matter.
struct Found {
    launch: Launch,
    contents: Chosen,
    best: Candidate,
}

struct Search<'a> {
    kernel: &'a Kernel,
    program: &'a Program,
    levels: Levels,
    space: Space,
    statements: u64,
    sweep: Sweep,
    free: BTreeSet<ArrayId>,
    types: BTreeMap<SiteId, ScalarType>,
    wanted: BTreeSet<Key>,
    found: BTreeMap<Key, Found>,
    left: u64,
}

impl Search<'_> {
    /// Runs launches that somebody would make.
    fn look_naturally(&mut self) {
        let mut natural = self.space.natural_geometries();
        natural.truncate(NATURAL_GEOMETRIES);
        self.try_patterns(&natural, FIRST_VALUATIONS, FOR_NATURAL_REPLAYS);
    }

    /// Forgets what was found, to look for these alone.
    fn begin_again(&mut self, wanted: BTreeSet<Key>) {
        self.found.clear();
        self.wanted = wanted;
        self.left = STEPS;
    }

    fn look(&mut self, protocol: &Protocol, pairs: &[Pair]) {
        let mut geometries = self.space.geometries();
        geometries.retain(|geometry| is_useful(geometry, self.levels));
        let first = geometries.len().min(FIRST_GEOMETRIES);
        self.try_patterns(&geometries[..first], FIRST_VALUATIONS, FOR_LARGER);
        let mut solved = 0;
        for pair in pairs {
            if solved == MOST_SOLVED || self.left <= FOR_REPLAYS {
                break;
            }
            if self.found.contains_key(&key_of(protocol, pair)) {
                continue;
            }
            solved += 1;
            if let Some((launch, placed)) = guide::conflict_with_contents(protocol, pair, &self.space, &self.free) {
                let mut contents = Chosen::pattern(&self.free, Rest::Constant(0));
                for place in placed {
                    contents.set(place.array, place.offset, place.bytes, place.number);
                }
                self.propose(launch, contents);
            }
        }
        self.try_patterns(&geometries[first..], LATER_VALUATIONS, FOR_REPLAYS);
    }

    /// Runs launches of these sizes with each pattern until no more than `floor` instructions are left.
    fn try_patterns(&mut self, geometries: &[crate::calculus::Geometry], valuations: usize, floor: u64) {
        for geometry in geometries {
            let mut all = self.space.valuations(geometry);
            all.retain(|params| !self.space.is_degenerate(params));
            for params in all.iter().take(valuations) {
                for rest in PATTERNS {
                    if self.left <= floor || self.found.len() == self.wanted.len() {
                        return;
                    }
                    let blocks = chosen_blocks(geometry, self.left / RUN_SHARE, self.statements);
                    let launch = Launch { geometry: *geometry, params: params.clone(), blocks };
                    self.propose(launch, Chosen::pattern(&self.free, rest));
                }
            }
        }
    }

    /// Runs a launch with these contents and keeps what it shows of what is wanted.
    fn propose(&mut self, mut launch: Launch, contents: Chosen) {
        if self.program.runs_blocks_together() {
            launch.blocks = None;
        }
        self.sweep.forget_run();
        let setup = launch.setup_with(Contents::Chosen(&contents), self.left / RUN_SHARE);
        let outcome = run(self.program, &setup, &mut self.sweep);
        self.left = self.left.saturating_sub(outcome.steps + RUN_COST);
        if outcome.vacuous {
            return;
        }
        let first_phase = self.sweep.found.values().map(|candidate| candidate.phase).min();
        for (&key, &best) in &self.sweep.found {
            let since = [outcome.misaligned_since, outcome.contested_since];
            let is_clean = since.iter().flatten().all(|&since| since > best.phase)
                && first_phase == Some(best.phase)
                && !report::is_spoilt(&outcome, best.phase, Returned::StillCount);
            if is_clean && best.byte >= 0 && self.wanted.contains(&key) {
                let found = || Found { launch: launch.clone(), contents: contents.clone(), best };
                self.found.entry(key).or_insert_with(found);
            }
        }
    }

    /// What was found of a pair, with as few contents as the budget allows to find out, replayed.
    fn shown(&mut self, protocol: &Protocol, pair: &Pair) -> Option<DataConflict> {
        let found = self.found.get(&key_of(protocol, pair))?;
        let Found { launch, contents, best } =
            Found { launch: found.launch.clone(), contents: found.contents.clone(), best: found.best };
        let sites = [pair.first, pair.second].map(|access| protocol.accesses[access].site);
        let order = if best.accesses[0].0.site == sites[0] { [0, 1] } else { [1, 0] };
        let threads = BTreeSet::from(best.accesses.map(|(event, _)| event.thread));
        let named = Named { best: &best, order };
        let witnesses = witness::of_candidates_with(
            self.kernel,
            self.program,
            &launch,
            Contents::Chosen(&contents),
            std::slice::from_ref(&named),
        );
        let witness = witnesses.into_iter().next()?;
        let mut reads = Reads {
            types: &self.types,
            contents: &contents,
            before: best.accesses.map(|(_, ordinal)| ordinal),
            ordinal: 0,
            all: BTreeMap::new(),
            shared: of_space(self.kernel, Memory::Shared),
            lately: BTreeMap::new(),
            behind: BTreeMap::new(),
        };
        let setup = launch.setup_with(Contents::Chosen(&contents), self.left);
        let Run { steps, .. } = run(self.program, &setup, &mut reads);
        self.left = self.left.saturating_sub(2 * (steps + RUN_COST));
        let (all, lately) = (reads.all, reads.lately);
        let at_last: BTreeSet<ReadAt> =
            threads.iter().flat_map(|thread| lately.get(thread)).flatten().copied().collect();
        let listed = |is_listed: &dyn Fn(&ReadAt, &ReadPlace) -> bool| -> Vec<Held> {
            all.iter().filter(|(at, read)| is_listed(at, read)).map(|(_, read)| read.held).collect()
        };
        let listed = [
            listed(&|at, _| at_last.contains(at)),
            listed(&|_, read| read.threads.iter().any(|thread| threads.contains(thread))),
            listed(&|_, _| true),
        ];
        let listed = listed.into_iter().find(|listed| self.conflicts(&witness, sites, listed))?;
        let contents = self.minimal(&witness, sites, listed);
        let [one, other] = best.accesses.map(|(event, _)| event);
        let same_value = one.kind == Kind::Write
            && other.kind == Kind::Write
            && one.value.is_some()
            && (one.value, one.offset, one.bytes) == (other.value, other.offset, other.bytes);
        Some(DataConflict { witness, contents, same_value })
    }

    /// Whether a replay conflicts of which nothing is known but these contents.
    fn conflicts(&mut self, witness: &Witness, sites: [SiteId; 2], listed: &[Held]) -> bool {
        let is_sound = !listed.is_empty() && listed.len() <= MOST_LISTED && listed.iter().all(|held| held.offset >= 0);
        if !is_sound || self.left == 0 {
            return false;
        }
        let replayed = replay_contents(self.kernel, self.program, witness, sites, listed);
        self.left = self.left.saturating_sub(replayed.steps + RUN_COST);
        replayed.conflicts && !replayed.vacuous
    }

    /// Strikes off what the conflict does not need.
    fn minimal(&mut self, witness: &Witness, sites: [SiteId; 2], listed: Vec<Held>) -> Vec<Held> {
        let mut needed = listed;
        let mut index = needed.len();
        while index > 0 {
            index -= 1;
            let mut fewer = needed.clone();
            fewer.remove(index);
            if self.conflicts(witness, sites, &fewer) {
                needed = fewer;
            }
        }
        needed
    }
}

/// Replays a witness where memory holds these contents, and nothing is known of what else it holds.
pub(super) fn replay_contents(
    kernel: &Kernel,
    program: &Program,
    witness: &Witness,
    sites: [SiteId; 2],
    listed: &[Held],
) -> witness::Replayed {
    let mut contents = Chosen::default();
    for held in listed {
        contents.set(held.array, held.offset, held.bytes, held.value as i64);
    }
    witness::replay_with(kernel, program, Contents::Chosen(&contents), witness, sites)
}

/// Replays a witness afresh with the contents that it needs.
pub fn replay_with_contents(kernel: &Kernel, conflict: &DataConflict, sites: [SiteId; 2]) -> bool {
    replay_contents(kernel, &Program::new(kernel), &conflict.witness, sites, &conflict.contents).conflicts
}

/// Keeps what is read of chosen contents up to the later of two accesses.
struct Reads<'a> {
    types: &'a BTreeMap<SiteId, ScalarType>,
    contents: &'a Chosen,
    before: [u64; 2],
    ordinal: u64,
    all: BTreeMap<ReadAt, ReadPlace>,
    shared: BTreeSet<ArrayId>,
    /// What each thread has read since it wrote to shared memory last.
    lately: BTreeMap<ThreadId, Vec<ReadAt>>,
    /// What was read before a place of a block's shared memory was written.
    behind: BTreeMap<(u32, ArrayId, i64), Vec<ReadAt>>,
}

/// An array, an offset and a size.
type ReadAt = (ArrayId, i64, u32);

struct ReadPlace {
    held: Held,
    /// Who has read it, or what somebody has made of it.
    threads: BTreeSet<ThreadId>,
}

fn of_space(kernel: &Kernel, space: Memory) -> BTreeSet<ArrayId> {
    kernel.arrays.iter().filter(|(_, array)| array.space == space).map(|(id, _)| id).collect()
}

impl Reads<'_> {
    /// A thread has come to know what one reads there.
    fn note(&mut self, place: ReadAt, thread: ThreadId) {
        if let Some(read) = self.all.get_mut(&place) {
            read.threads.insert(thread);
            let lately = self.lately.entry(thread).or_default();
            if lately.len() < MOST_BEHIND && !lately.contains(&place) {
                lately.push(place);
            }
        }
    }

    fn shared(&mut self, event: &Event, offset: i64) {
        let place = (event.thread.block, event.array, offset);
        if event.kind == Kind::Read {
            for source in self.behind.get(&place).cloned().unwrap_or_default() {
                self.note(source, event.thread);
            }
        } else {
            let lately = self.lately.remove(&event.thread).unwrap_or_default();
            self.behind.insert(place, lately);
        }
    }
}

impl Sink for Reads<'_> {
    fn access(&mut self, event: &Event, _locals: &[Value]) {
        let is_before = self.before.iter().any(|&ordinal| self.ordinal <= ordinal);
        self.ordinal += 1;
        let Some(offset) = event.offset.filter(|_| is_before) else { return };
        if self.shared.contains(&event.array) {
            return self.shared(event, offset);
        }
        let Some(&ty) = self.types.get(&event.site).filter(|_| event.kind == Kind::Read) else { return };
        let Some(number) = self.contents.read(event.array, offset, event.bytes, ty) else { return };
        let Some(value) = Value::known(number).number(ty) else { return };
        let held = Held { array: event.array, offset, bytes: event.bytes, value };
        let place = (event.array, offset, event.bytes);
        self.all.entry(place).or_insert_with(|| ReadPlace { held, threads: BTreeSet::new() });
        self.note(place, event.thread);
    }
}
