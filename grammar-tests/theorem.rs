//! The theorem (docs/SEMANTICS.md, "The theorem") as property tests: on random kernels, protocols against runs.
//!
//! - Every access of a run is an instance of the protocol's access with that site: offset and guards have
//!   the values that the protocol says, as far as it says any.
//! - The exact accesses of the protocol are exactly those that the run makes.
//! - Loops that are said to be uniform run equally often in all threads that reach them.
//! - Offsets that are said to be uniform are equal.
//! - Two accesses of two threads with no barrier between them are covered by a meeting.

pub(crate) mod kernels;
mod probe;

use crate::laws::generate;
use crate::support::dice::Dice;
use crate::support::draw::{Law, is_enough};
use crate::support::tier::tiers;
use probe::{Probe, Probed, probed};
use raceproof::calculus::eval::{self, Blocks, Contents, History, Program, Recorded, Run, Setup};
use raceproof::calculus::intervals::{Meeting, Relation, SyncInstance, Turn, analyze};
use raceproof::calculus::text::print;
use raceproof::calculus::{Geometry, Kernel, ScalarType, SiteId, Space};
use raceproof::memory_model::Level;
use raceproof::protocol::infer::infer;
use raceproof::protocol::instance::{Instance, Point, Valuation, Value, instances};
use raceproof::protocol::uniform::Uniformity;
use raceproof::protocol::{AccessId, Protocol, text};
use std::collections::{BTreeMap, BTreeSet};

const LAW: Law = Law::new("theorem", tiers(300, 1500, 12000));
/// Instructions for each run.
const BUDGET: u64 = 60_000;

/// One kernel, run once.
struct Case {
    kernel: Kernel,
    probed: Probed,
    protocol: Protocol,
    geometry: Geometry,
    params: Vec<Option<i128>>,
    run: Run,
    history: History,
}

/// Every third kernel is one of those that the other laws are tried on.
pub(crate) fn random_kernel(seed: u64) -> Kernel {
    if seed % 3 != 0 {
        return kernels::kernel(seed);
    }
    let mut dice = Dice(seed);
    let choices: Vec<u8> = (0..dice.below(120)).map(|_| dice.below(256) as u8).collect();
    generate::kernel(&choices)
}

impl Case {
    /// The case of a seed; `None` if the run did not end, or trapped.
    fn new(seed: u64) -> Option<Case> {
        let kernel = random_kernel(seed);
        let probed = probed(&kernel);
        let mut dice = Dice(seed ^ 0xabcd);
        let mut extent = |limit: u64| 1 + dice.below(limit) as u32;
        let geometry = Geometry { block: [extent(4), extent(2), 1], grid: [extent(2), 1, 1] };
        let params: Vec<_> = (0..2).map(|_| Some(i128::from(dice.below(6)))).collect();
        let contents = Contents::Seeded(seed);
        let setup = Setup { geometry, params: &params, blocks: Blocks::All, contents, budget: BUDGET };
        let mut history = History::default();
        let run = eval::run(&Program::new(&probed.kernel), &setup, &mut history);
        if !run.finished || !run.traps.is_empty() {
            return None;
        }
        let protocol = infer(&kernel);
        Some(Case { kernel, probed, protocol, geometry, params, run, history })
    }

    fn point(&self, recorded: &Recorded) -> Point<'_> {
        let thread = recorded.event.thread;
        let [x, y, _] = self.geometry.block;
        let thread_id = [thread.thread % x, thread.thread / x % y, thread.thread / (x * y)];
        let block = self.run.blocks[thread.block as usize];
        Point { geometry: self.geometry, block, thread: thread_id, params: &self.params }
    }

    /// The turns of the loops around an event, outermost first.
    fn turns(&self, recorded: &Recorded) -> Vec<u64> {
        let around = &self.probed.around[&recorded.event.site];
        around.iter().map(|each| self.turn(recorded, *each)).collect()
    }

    fn turn(&self, recorded: &Recorded, each: SiteId) -> u64 {
        let counter = self.probed.counters[&each];
        recorded.locals[counter.index()].number(ScalarType::I64).expect("counters are known") as u64
    }

    fn access(&self, site: SiteId) -> Option<AccessId> {
        self.protocol.accesses.iter().find(|(_, access)| access.site == site).map(|(id, _)| id)
    }

    /// The accesses of the original kernel, in the order of the run.
    fn events(&self) -> impl Iterator<Item = &Recorded> {
        self.history.accesses.iter().filter(|recorded| !self.probed.probes.contains_key(&recorded.event.site))
    }

    fn probes(&self) -> impl Iterator<Item = (Probe, &Recorded)> {
        self.history
            .accesses
            .iter()
            .filter_map(|recorded| Some((*self.probed.probes.get(&recorded.event.site)?, recorded)))
    }
}

/// Runs `law` on the cases of many seeds; `law` says what is wrong.
fn check(name: &str, law: impl Fn(&Case) -> Result<bool, String> + Sync) {
    let tried = LAW.each(|seed| {
        let case = Case::new(seed)?;
        match law(&case) {
            Ok(says_something) => Some(says_something),
            Err(wrong) => panic!("{name}, seed {seed}: {wrong}\n{}", print(&case.kernel)),
        }
    });
    let told = tried.iter().filter(|says_something| **says_something == Some(true)).count();
    assert!(is_enough(told, tried.len(), 40), "{name}: only {told} of {} kernels say anything", tried.len());
}

#[test]
fn every_access_of_a_run_is_an_instance() {
    check("instance", |case| {
        let mut some = false;
        for recorded in case.events() {
            let event = &recorded.event;
            let id = case.access(event.site).ok_or_else(|| format!("no access @{}", event.site.index()))?;
            let access = &case.protocol.accesses[id];
            let mut valuation = Valuation::new(&case.protocol, case.point(recorded));
            let turns = case.turns(recorded);
            for (&each, &turn) in access.loops.iter().zip(&turns) {
                valuation.enter_turn(each, turn);
            }
            let offset = valuation.value(access.offset);
            let expected = Value::Known(event.offset.expect("seeded offsets are known").into());
            let at = || format!("@{} in turns {turns:?} of {:?}", event.site.index(), case.point(recorded));
            if offset != expected && offset != Value::Unknown {
                return Err(format!("offset {offset:?}, not {expected:?} at {}", at()));
            }
            for guard in &access.guards {
                let holds = valuation.value(guard.cond);
                let wrong = holds != Value::Known(1) && holds != Value::Unknown;
                // What a loop's own turns depend on is known to a walk from its first turn only.
                let needed = access.reasons.is_empty() && guard.of_loop.is_none();
                if wrong || (needed && holds == Value::Unknown) {
                    return Err(format!("guard {holds:?} at {}", at()));
                }
            }
            if access.reasons.is_empty() && offset == Value::Unknown {
                return Err(format!("unknown offset of an exact access at {}", at()));
            }
            some |= !turns.is_empty() && access.reasons.is_empty();
        }
        Ok(some)
    });
}

#[test]
fn exact_accesses_are_exactly_those_of_the_run() {
    check("exact", |case| {
        let is_exact = |id: AccessId| case.protocol.accesses[id].reasons.is_empty();
        let mut run: BTreeMap<(u32, u32), BTreeSet<Instance>> = BTreeMap::new();
        for recorded in case.events() {
            let Some(access) = case.access(recorded.event.site).filter(|&id| is_exact(id)) else { continue };
            let offset = recorded.event.offset.expect("seeded offsets are known").into();
            let thread = recorded.event.thread;
            let instance = Instance { access, offset, turns: case.turns(recorded) };
            run.entry((thread.block, thread.thread)).or_default().insert(instance);
        }
        let [x, y, z] = case.geometry.block;
        for (block, thread) in (0..case.run.blocks.len() as u32).flat_map(|b| (0..x * y * z).map(move |t| (b, t))) {
            let id = [thread % x, thread / x % y, thread / (x * y)];
            let block_id = case.run.blocks[block as usize];
            let point = Point { geometry: case.geometry, block: block_id, thread: id, params: &case.params };
            let found = instances(&case.protocol, point, 10_000).ok_or("too many instances")?;
            let found: BTreeSet<_> = found.into_iter().filter(|instance| is_exact(instance.access)).collect();
            let expected = run.remove(&(block, thread)).unwrap_or_default();
            if found != expected {
                let more: Vec<_> = found.difference(&expected).collect();
                let less: Vec<_> = expected.difference(&found).collect();
                return Err(format!("block {block} thread {thread}: too many {more:?}, missing {less:?}"));
            }
        }
        Ok(!case.protocol.loops.is_empty())
    });
}

#[test]
fn protocols_read_back() {
    LAW.each(|seed| {
        let first = text::print(&infer(&random_kernel(seed)));
        let again = text::parse(&first).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{first}"));
        assert_eq!(text::print(&again), first, "seed {seed}");
    });
}

#[test]
fn uniform_loops_run_equally_often() {
    check("uniform", |case| {
        let mut some = false;
        for level in [Level::Block, Level::Grid] {
            let uniformity = Uniformity::of(&case.protocol, level);
            let uniform: BTreeSet<SiteId> = case
                .protocol
                .loops
                .iter()
                .filter(|(id, _)| uniformity.holds_for_loop(*id))
                .map(|(_, each)| each.site)
                .collect();
            let mut counts: BTreeMap<(Option<u32>, SiteId, Vec<u64>), u64> = BTreeMap::new();
            for (probe, recorded) in case.probes() {
                let Probe::LoopEnded(each) = probe else { continue };
                if !uniform.contains(&each) {
                    continue;
                }
                some = true;
                let block = (level == Level::Block).then_some(recorded.event.thread.block);
                let count = case.turn(recorded, each);
                let known = *counts.entry((block, each, case.turns(recorded))).or_insert(count);
                if known != count {
                    return Err(format!("loop @{} runs {known} and {count} times", each.index()));
                }
            }
        }
        Ok(some)
    });
}

#[test]
fn uniform_offsets_are_equal() {
    check("offsets", |case| {
        if !case.run.divergences.is_empty() {
            return Ok(false);
        }
        let mut some = false;
        for level in [Level::Block, Level::Grid] {
            let uniformity = Uniformity::of(&case.protocol, level);
            let mut offsets: BTreeMap<(Option<u32>, SiteId, Vec<u64>), Option<i64>> = BTreeMap::new();
            for recorded in case.events() {
                let event = &recorded.event;
                let id = case.access(event.site).ok_or("an access is missing")?;
                if !uniformity.holds(&case.protocol, case.protocol.accesses[id].offset) {
                    continue;
                }
                let block = (level == Level::Block).then_some(event.thread.block);
                let key = (block, event.site, case.turns(recorded));
                some |= offsets.contains_key(&key) && !case.protocol.accesses[id].reasons.is_empty();
                let known = *offsets.entry(key).or_insert(event.offset);
                if known != event.offset {
                    return Err(format!("offsets {known:?} and {:?} at @{}", event.offset, event.site.index()));
                }
            }
        }
        Ok(some)
    });
}

#[test]
fn accesses_that_no_barrier_separates_meet() {
    check("meeting", |case| {
        if !case.run.divergences.is_empty() {
            return Ok(false);
        }
        let uniformity = Uniformity::of(&case.protocol, Level::Block);
        let mut some = false;
        for space in [Space::Shared, Space::Global] {
            let ordering = uniformity.ordering_syncs(&case.protocol, space);
            let intervals = analyze(&case.kernel, &|sync| ordering.contains(&sync));
            let executed = Executed::of(case);
            let events: Vec<_> =
                case.events().filter(|recorded| case.kernel.arrays[recorded.event.array].space == space).collect();
            for (index, one) in events.iter().enumerate() {
                for two in &events[index..] {
                    let (a, b) = (&one.event, &two.event);
                    let together = a.thread.block == b.thread.block && a.thread != b.thread;
                    if !together || a.stamp.block != b.stamp.block || a.array != b.array {
                        continue;
                    }
                    let meetings = intervals.meetings(a.site, b.site);
                    some |= !ordering.is_empty();
                    if !meetings.iter().any(|meeting| executed.allows(case, meeting, one, two)) {
                        let places = [(a.site, case.turns(one)), (b.site, case.turns(two))];
                        return Err(format!("{places:?} share an interval, but {meetings:?}"));
                    }
                }
            }
        }
        Ok(some)
    });
}

/// The sync instances that each thread executed.
struct Executed(BTreeSet<(u32, u32, SiteId, Vec<u64>)>);

impl Executed {
    fn of(case: &Case) -> Self {
        let syncs = case.probes().filter_map(|(probe, recorded)| match probe {
            Probe::Sync(site) => {
                let thread = recorded.event.thread;
                Some((thread.block, thread.thread, site, case.turns(recorded)))
            }
            Probe::LoopEnded(_) => None,
        });
        Executed(syncs.collect())
    }

    /// Whether the two accesses meet as `meeting` says.
    fn allows(&self, case: &Case, meeting: &Meeting, one: &Recorded, two: &Recorded) -> bool {
        let related = meeting.relations.iter().all(|&(each, relation)| {
            let (first, second) = (case.turn(one, each), case.turn(two, each));
            match relation {
                Relation::Same => first == second,
                Relation::Next => second == first + 1,
                Relation::Previous => first == second + 1,
                Relation::Any => true,
            }
        });
        related && meeting.between.iter().all(|instance| !self.by_both(case, instance, one, two))
    }

    fn by_both(&self, case: &Case, instance: &SyncInstance, one: &Recorded, two: &Recorded) -> bool {
        let turns: Option<Vec<u64>> = instance
            .iterations
            .iter()
            .map(|&(each, turn)| match turn {
                Turn::First => Some(case.turn(one, each)),
                Turn::AfterFirst => Some(case.turn(one, each) + 1),
                Turn::Second => Some(case.turn(two, each)),
                Turn::AfterSecond => Some(case.turn(two, each) + 1),
                Turn::BeforeFirst => case.turn(one, each).checked_sub(1),
                Turn::BeforeSecond => case.turn(two, each).checked_sub(1),
                Turn::Zero => Some(0),
            })
            .collect();
        let Some(turns) = turns else { return false };
        let did = |recorded: &Recorded| {
            let thread = recorded.event.thread;
            self.0.contains(&(thread.block, thread.thread, instance.sync, turns.clone()))
        };
        did(one) && did(two)
    }
}
