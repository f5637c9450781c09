//! Launches whose threads hand over to each other: what a log shows is what whoever watches the run sees, access by access.

use super::{CheckError, Options, Outcome, check};
use crate::memory_model::clocks::{Clocks, Moment, Receiving, Touch, Who};
use crate::memory_model::{ByteRange, Level, MemoryOrder, SyncScope, conflict};
use crate::trace::check::cell::access_kind;
use crate::trace::format::synchronisations::{Event, Synchronisation};
use crate::trace::format::write::{Segment, Writer, shape};
use crate::trace::format::{Allocation, Epochs, Kind, Launch, Space};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

const THREADS: u32 = 3;
const BLOCKS: u32 = 3;

/// What a thread does next. Cells are numbered; they are words.
#[derive(Clone, Copy, Debug)]
enum Act {
    Read(u32),
    Write(u32),
    Atomic(Touch, u32, MemoryOrder, SyncScope),
    Fence(MemoryOrder, SyncScope),
    Barrier,
    Meeting,
}

use Act::{Atomic, Barrier, Fence, Meeting, Read, Write as Put};
use MemoryOrder::{Acquire, AcquireRelease, Relaxed, Release, SequentiallyConsistent};

const DEVICE: SyncScope = SyncScope::Grid;

fn log_kind(touch: Touch, scope: SyncScope) -> Kind {
    match (touch, scope) {
        (Touch::Load, SyncScope::Block) => Kind::LoadBlock,
        (Touch::Load, _) => Kind::LoadDevice,
        (_, SyncScope::Block) => Kind::AtomicBlock,
        _ => Kind::AtomicDevice,
    }
}

/// A run: who did what, one after the other. The site of an access is its cell.
#[derive(Default)]
struct Run {
    segments: BTreeMap<u32, Vec<Segment>>,
    synchronisations: Vec<Synchronisation>,
    phases: BTreeMap<u32, u32>,
    steps: BTreeMap<Who, u32>,
}

impl Run {
    fn of(acts: &[(Who, Act)]) -> Run {
        let mut run = Run::default();
        for &(who, act) in acts {
            run.act(who, act);
        }
        run
    }

    fn access(&mut self, (block, thread): Who, kind: Kind, cell: u32) {
        let epochs = Epochs {
            block: self.phases.get(&block).copied().unwrap_or_default(),
            synchronised: self.steps.get(&(block, thread)).copied().unwrap_or_default(),
            ..Epochs::default()
        };
        let accesses = vec![(shape(cell, kind, 0, 4), u64::from(cell) * 4)];
        self.segments.entry(block).or_default().push(Segment { thread, epochs, accesses });
    }

    fn tell(&mut self, (block, thread): Who, event: Event) {
        let ticket = self.synchronisations.len() as u64;
        self.synchronisations.push(Synchronisation { ticket, block: block.into(), thread, event });
    }

    fn act(&mut self, who: Who, act: Act) {
        let whole: Vec<Who> = (0..THREADS).map(|thread| (who.0, thread)).collect();
        match act {
            Read(cell) => self.access(who, Kind::Read, cell),
            Put(cell) => self.access(who, Kind::Write, cell),
            Atomic(touch, cell, order, scope) => {
                self.access(who, log_kind(touch, scope), cell);
                self.tell(who, Event::Atomic(touch, (None, cell.into()), order, scope));
                *self.steps.entry(who).or_default() += 1;
            }
            Fence(order, scope) => {
                self.tell(who, Event::Fence(order, scope));
                *self.steps.entry(who).or_default() += 1;
            }
            Barrier => {
                self.tell(who, Event::Barrier);
                *self.phases.entry(who.0).or_default() += 1;
            }
            Meeting => {
                self.tell((who.0, 0), Event::Meeting(3));
                whole[..2].iter().for_each(|&who| *self.steps.entry(who).or_default() += 1);
            }
        }
    }

    fn check(&self, receiving: Receiving) -> Result<Outcome, CheckError> {
        let mut writer = Writer::new();
        writer.allocation(&Allocation { base: 0, bytes: 64, space: Space::Global, name: String::new() });
        let launch = writer.launch(&Launch {
            kernel: "k".into(),
            grid: [BLOCKS, 1, 1],
            block: [THREADS, 1, 1],
            dynamic_shared: 0,
            arguments: Vec::new(),
            finished: None,
        });
        for block in 0..BLOCKS {
            let segments = self.segments.get(&block).map_or(&[][..], Vec::as_slice);
            writer.block(launch, block.into(), &[segments]);
        }
        writer.synchronisations(launch, &self.synchronisations);
        writer.finished(launch);
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(&writer.close(0)).expect("it can be written");
        check(file.path(), &Options { receiving, jobs: Some(1), ..Options::default() })
    }

    fn racy(&self, receiving: Receiving) -> BTreeSet<u32> {
        let outcome = self.check(receiving).expect("the log can be checked");
        assert_eq!(outcome.log.problems, []);
        outcome.conflicts.iter().map(|conflict| conflict.sites[0]).collect()
    }
}

/// An access that a watcher has seen.
struct Seen {
    who: Who,
    moment: Moment,
    kind: Kind,
}

/// The cells at which something is unordered, access by access.
fn watched(acts: &[(Who, Act)], receiving: Receiving) -> BTreeSet<u32> {
    let mut clocks: Clocks<u32> = Clocks::new(receiving);
    let mut cells: BTreeMap<u32, Vec<Seen>> = BTreeMap::new();
    let mut phases: BTreeMap<u32, u32> = BTreeMap::new();
    let mut steps: BTreeMap<Who, u32> = BTreeMap::new();
    let mut racy = BTreeSet::new();
    for &(who, act) in acts {
        let moment = Moment {
            phase: phases.get(&who.0).copied().unwrap_or_default(),
            steps: steps.get(&who).copied().unwrap_or_default(),
        };
        let (kind, cell) = match act {
            Read(cell) => (Kind::Read, cell),
            Put(cell) => (Kind::Write, cell),
            Atomic(touch, cell, order, scope) => {
                clocks.step(who);
                *steps.entry(who).or_default() += 1;
                clocks.atomic(who, cell, touch, order, scope);
                (log_kind(touch, scope), cell)
            }
            Fence(order, scope) => {
                clocks.step(who);
                *steps.entry(who).or_default() += 1;
                clocks.fence(who, order, scope);
                continue;
            }
            Barrier => {
                clocks.barrier(who.0);
                *phases.entry(who.0).or_default() += 1;
                continue;
            }
            Meeting => {
                let both = [(who.0, 0), (who.0, 1)];
                for one in both {
                    clocks.step(one);
                    *steps.entry(one).or_default() += 1;
                }
                clocks.meeting(&both);
                continue;
            }
        };
        let range = ByteRange { start: 0, bytes: 4 };
        let level = |one: Who, other: Who| if one.0 == other.0 { Level::Warp } else { Level::Grid };
        let collide = |one: (Who, Kind), other: (Who, Kind)| {
            one.0 != other.0
                && conflict((access_kind(one.1), range), (access_kind(other.1), range), level(one.0, other.0))
        };
        let earlier = cells.entry(cell).or_default();
        let is_seen = |seen: &Seen| {
            let is_phase_over = seen.who.0 == who.0 && seen.moment.phase < moment.phase;
            is_phase_over || clocks.is_seen((seen.who, seen.moment), who)
        };
        for (at, one) in earlier.iter().enumerate() {
            let is_atomic = |seen: &Seen| !matches!(seen.kind, Kind::Read | Kind::Write);
            // All atomics of a cell have one order.
            let is_overtaken = is_atomic(one)
                && earlier[at..].iter().any(|later| {
                    let reach_each_other = level(one.who, later.who) != Level::Grid
                        || [one, later].iter().all(|seen| !matches!(seen.kind, Kind::AtomicBlock | Kind::LoadBlock));
                    is_atomic(later) && reach_each_other && is_seen(later)
                });
            if collide((one.who, one.kind), (who, kind)) && !is_seen(one) && !is_overtaken {
                racy.insert(cell);
            }
        }
        earlier.push(Seen { who, moment, kind });
    }
    racy
}

fn acts() -> impl Strategy<Value = Vec<(Who, Act)>> {
    let order = prop::sample::select(vec![Relaxed, Relaxed, Acquire, Release, AcquireRelease, SequentiallyConsistent]);
    let scope = prop::sample::select(vec![SyncScope::Block, DEVICE, DEVICE, DEVICE]);
    let touch = prop::sample::select(vec![Touch::Load, Touch::Store, Touch::Update, Touch::Update]);
    let act = prop_oneof![
        2 => (0..3u32).prop_map(Read),
        2 => (0..3u32).prop_map(Put),
        5 => (touch, 2..4u32, order.clone(), scope.clone())
            .prop_map(|(touch, cell, order, scope)| Atomic(touch, cell, order, scope)),
        3 => (order, scope).prop_map(|(order, scope)| Fence(order, scope)),
        1 => Just(Barrier),
        1 => Just(Meeting),
    ];
    prop::collection::vec(((0..BLOCKS, 0..THREADS), act), 1..14)
}

/// Whether atomics of a cell have different scopes. The check keeps the last of them only, and may tell one that does not
/// reach another of them although the cell's own order puts a third one between.
fn is_of_several_scopes(acts: &[(Who, Act)], cell: u32) -> bool {
    let scopes = acts.iter().filter_map(|&(_, act)| match act {
        Atomic(_, of, _, scope) if of == cell => Some(scope == SyncScope::Block),
        _ => None,
    });
    scopes.collect::<BTreeSet<bool>>().len() > 1
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_log_shows_what_a_watcher_sees(acts in acts()) {
        for receiving in [Receiving::InOrder, Receiving::Always] {
            let (shown, seen) = (Run::of(&acts).racy(receiving), watched(&acts, receiving));
            prop_assert!(shown.is_superset(&seen), "{:?} of {:?}", shown, seen);
            let more: Vec<&u32> = shown.difference(&seen).filter(|cell| !is_of_several_scopes(&acts, **cell)).collect();
            prop_assert_eq!(more, Vec::<&u32>::new());
        }
    }
}

const ONE: Who = (0, 0);
const OTHER: Who = (1, 0);

/// Whether what one writes is handed over by a flag.
fn is_handed_over(publish: Option<Act>, set: Act, wait: Act, receive: Option<Act>) -> bool {
    let mut acts = vec![(ONE, Put(0))];
    acts.extend(publish.map(|act| (ONE, act)));
    acts.extend([(ONE, set), (OTHER, wait)]);
    acts.extend(receive.map(|act| (OTHER, act)));
    acts.push((OTHER, Read(0)));
    Run::of(&acts).racy(Receiving::InOrder).is_empty()
}

#[test]
fn a_flag_hands_over_if_both_sides_fence_widely_enough() {
    let (set, wait) = (Atomic(Touch::Update, 2, Relaxed, DEVICE), Atomic(Touch::Load, 2, Relaxed, DEVICE));
    let fence = Fence(SequentiallyConsistent, DEVICE);
    assert!(is_handed_over(Some(fence), set, wait, Some(fence)));
    assert!(!is_handed_over(None, set, wait, Some(fence)));
    assert!(!is_handed_over(Some(fence), set, wait, None));
    assert!(!is_handed_over(Some(Fence(SequentiallyConsistent, SyncScope::Block)), set, wait, Some(fence)));
    let (release, acquire) = (Atomic(Touch::Store, 2, Release, DEVICE), Atomic(Touch::Load, 2, Acquire, DEVICE));
    assert!(is_handed_over(None, release, acquire, None));
    assert!(!is_handed_over(None, release, wait, None));
}

#[test]
fn the_last_block_sees_what_all_wrote_and_resets_the_counter() {
    let (fence, draw) = (Fence(SequentiallyConsistent, DEVICE), Atomic(Touch::Update, 2, Relaxed, DEVICE));
    let mut acts = Vec::new();
    for block in 0..BLOCKS {
        acts.extend([((block, 1), Put(block)), ((block, 0), Barrier), ((block, 0), fence), ((block, 0), draw)]);
    }
    let last = |thread| (BLOCKS - 1, thread);
    acts.extend([(last(0), fence), (last(0), Barrier), (last(2), Read(0)), (last(1), Read(1)), (last(2), Put(2))]);
    // The cell of the third block is the counter: leave it alone before.
    acts.retain(|(who, act)| !matches!(act, Put(2)) || *who == last(2));
    assert_eq!(Run::of(&acts).racy(Receiving::InOrder), BTreeSet::new());
    let hasty: Vec<(Who, Act)> =
        acts.iter().copied().filter(|(who, act)| !(*who == (0, 0) && matches!(act, Fence(..)))).collect();
    assert_eq!(Run::of(&hasty).racy(Receiving::InOrder), BTreeSet::from([0]));
}

#[test]
fn locks_order_what_is_done_under_them() {
    let (lock, unlock) = (Atomic(Touch::Update, 2, Acquire, DEVICE), Atomic(Touch::Store, 2, Release, DEVICE));
    let careless = Atomic(Touch::Store, 2, Relaxed, DEVICE);
    let turns = |unlock| {
        let turn = move |who| [(who, lock), (who, Read(0)), (who, Put(0)), (who, unlock)];
        Run::of(&[ONE, OTHER, (0, 1), (2, 2)].into_iter().flat_map(turn).collect::<Vec<_>>())
    };
    assert_eq!(turns(unlock).racy(Receiving::InOrder), BTreeSet::new());
    assert_eq!(turns(careless).racy(Receiving::InOrder), BTreeSet::from([0]));
}
