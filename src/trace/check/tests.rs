//! Random small logs: what the check finds is what the definition gives, in any amount of memory.

use super::budget::Budget;
use super::{Conflict, Observed, Witness, conflicts};
use crate::memory_model::Level;
use crate::memory_model::clocks::Receiving;
use crate::trace::format::drawn::epochs;
use crate::trace::format::write::{Segment, Writer, shape};
use crate::trace::format::{Allocation, Epochs, Kind, Launch, Shape, Space, read_log};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Write};

/// A launch: threads of a block, and for each block its segments, in parts.
#[derive(Clone, Debug)]
struct Case {
    launches: Vec<(u32, Vec<Vec<Vec<Segment>>>)>,
}

const SPACES: [Space; 4] = [Space::Global, Space::Shared, Space::Constant, Space::Distributed];

fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![
        Kind::Read,
        Kind::Read,
        Kind::Write,
        Kind::AtomicBlock,
        Kind::AtomicDevice,
        Kind::AtomicSystem,
        Kind::LoadBlock,
        Kind::LoadDevice,
    ])
}

fn accesses() -> impl Strategy<Value = (Shape, u64)> {
    (0u32..4, kinds(), 0u32..4, prop::sample::select(vec![1u32, 2, 4, 4, 4, 8, 16]), 0u64..24).prop_map(
        |(site, kind, allocation, bytes, at)| {
            let offset = if bytes == 4 { at / 4 * 4 } else { at };
            (shape(site, kind, allocation, bytes), offset)
        },
    )
}

fn cases() -> impl Strategy<Value = Case> {
    let segment =
        |threads: u32| {
            (0..threads, epochs(), prop::collection::vec(accesses(), 0..4))
                .prop_map(|(thread, epochs, accesses)| Segment { thread, epochs, accesses })
        };
    let block = move |threads| prop::collection::vec(prop::collection::vec(segment(threads), 0..6), 1..4);
    let launch = prop::sample::select(vec![1u32, 2, 5, 34, 70])
        .prop_flat_map(move |threads| (Just(threads), prop::collection::vec(block(threads), 1..4)));
    prop::collection::vec(launch, 1..3).prop_map(|launches| Case { launches })
}

fn log(case: &Case) -> Vec<u8> {
    let mut writer = Writer::new();
    for space in SPACES {
        writer.allocation(&Allocation { base: 0, bytes: 64, space, name: String::new() });
    }
    for (threads, blocks) in &case.launches {
        let launch = writer.launch(&Launch {
            kernel: "k".into(),
            grid: [blocks.len() as u32, 1, 1],
            block: [*threads, 1, 1],
            dynamic_shared: 0,
            arguments: Vec::new(),
            finished: None,
        });
        for (number, parts) in (0..).zip(blocks) {
            writer.block(launch, number, &parts.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }
        writer.finished(launch);
    }
    writer.close(0)
}

/// An access with all that orders it.
#[derive(Clone, Copy)]
struct Seen {
    launch: u32,
    allocation: u32,
    what: Observed,
    epochs: Epochs,
}

fn seen(case: &Case) -> Vec<Seen> {
    let mut all = Vec::new();
    for (launch, (_, blocks)) in (0..).zip(&case.launches) {
        for (block, parts) in (0..).zip(blocks) {
            for segment in parts.iter().flatten() {
                for &(Shape { site, allocation, bytes, kind }, offset) in &segment.accesses {
                    let what = Observed { block, thread: segment.thread, site, kind, offset, bytes };
                    all.push(Seen { launch, allocation, what, epochs: segment.epochs });
                }
            }
        }
    }
    all
}

/// The order of docs/SEMANTICS.md, "Order and conflict", word for word; where two unordered threads stand.
fn unordered(one: &Seen, other: &Seen) -> Option<Level> {
    let (low, high) = (one.what.thread, other.what.thread);
    let reaches = |seen: &Seen| {
        let all = SPACES[seen.allocation as usize] == Space::Shared;
        if all { seen.epochs.block } else { seen.epochs.block - seen.epochs.shared_only }
    };
    if one.what.block != other.what.block {
        let is_common = matches!(SPACES[one.allocation as usize], Space::Global | Space::Distributed);
        return (is_common && one.epochs.grid == other.epochs.grid).then_some(Level::Grid);
    }
    if low == high || one.epochs.grid != other.epochs.grid || reaches(one) != reaches(other) {
        return None;
    }
    let group = (1..=5).find(|group| low >> group == high >> group);
    let Some(group) = group else { return Some(Level::Block) };
    (one.epochs.tile[group - 1] == other.epochs.tile[group - 1]).then_some(Level::Warp)
}

fn exempt(one: &Observed, other: &Observed, level: Level) -> bool {
    let enough = |kind| match kind {
        Kind::Read | Kind::Write => false,
        Kind::AtomicBlock | Kind::LoadBlock => level != Level::Grid,
        Kind::AtomicDevice | Kind::AtomicSystem | Kind::LoadDevice | Kind::LoadSystem => true,
    };
    enough(one.kind) && enough(other.kind) && (one.offset, one.bytes) == (other.offset, other.bytes)
}

/// Every pair of accesses; the conflicts, and the launches that have one.
fn by_definition(case: &Case) -> (Vec<Conflict>, BTreeSet<u32>) {
    type Place = (u32, u32, u64, Option<(u64, u32, u32)>);
    #[derive(Default)]
    struct Entry {
        places: BTreeSet<Place>,
        witnesses: BTreeMap<Level, Witness>,
    }
    let all = seen(case);
    let mut found: BTreeMap<([u32; 2], bool), Entry> = BTreeMap::new();
    for (at, one) in all.iter().enumerate() {
        for other in &all[at + 1..] {
            let (first, second) = (&one.what, &other.what);
            let meet = (one.launch, one.allocation) == (other.launch, other.allocation)
                && SPACES[one.allocation as usize] != Space::Constant;
            let common = first.offset.max(second.offset)
                ..(first.offset + u64::from(first.bytes)).min(second.offset + u64::from(second.bytes));
            let writes = !first.kind.only_reads() || !second.kind.only_reads();
            let Some(level) = unordered(one, other) else { continue };
            if !meet || common.is_empty() || !writes || exempt(first, second, level) {
                continue;
            }
            let accesses = [*first.min(second), *first.max(second)];
            let sites = [first.site.min(second.site), first.site.max(second.site)];
            let entry = found.entry((sites, level == Level::Grid)).or_default();
            for byte in common {
                let shared = SPACES[one.allocation as usize] == Space::Shared;
                let phase = if shared { one.epochs.block } else { one.epochs.block - one.epochs.shared_only };
                let interval = if level == Level::Grid {
                    (u64::MAX, one.epochs.grid, 0)
                } else {
                    (first.block, one.epochs.grid, phase)
                };
                entry.places.insert((one.launch, one.allocation, byte, Some(interval)));
                let witness = Witness { launch: one.launch, allocation: one.allocation, byte, accesses };
                let known = entry.witnesses.entry(level).or_insert(witness);
                *known = (*known).min(witness);
            }
        }
    }
    let launches = found.values().flat_map(|entry| entry.places.iter().map(|place| place.0)).collect();
    let conflicts = found.into_iter().map(|((sites, _), entry)| {
        // The widest level at which the sites were seen to conflict.
        let (level, witness) = entry.witnesses.into_iter().next_back().expect("a conflict has a witness");
        Conflict { sites, level, bytes: entry.places.len() as u64, witness }
    });
    (conflicts.collect(), launches)
}

fn checked(bytes: &[u8], budget: &Budget) -> (Vec<Conflict>, BTreeSet<u32>) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    file.write_all(bytes).expect("a temporary file can be written");
    let log = read_log(Cursor::new(bytes)).expect("it is a log");
    assert_eq!(log.problems, []);
    conflicts(&log, file.path(), budget, Receiving::InOrder).expect("the log can be checked")
}

/// So little memory that intervals are looked at in slices and partitions are split and put on disk.
const TINY: Budget = Budget { jobs: 1, share: 900 };
const LARGE: Budget = Budget { jobs: 1, share: 1 << 26 };

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn a_check_finds_what_the_definition_gives(case in cases()) {
        let bytes = log(&case);
        let expected = by_definition(&case);
        prop_assert_eq!(checked(&bytes, &LARGE), expected.clone());
        prop_assert_eq!(checked(&bytes, &TINY), expected);
    }
}

#[test]
fn random_logs_have_conflicts_at_every_level() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut levels = BTreeSet::new();
    for _ in 0..50 {
        let case = cases().new_tree(&mut runner).expect("a case can be made").current();
        levels.extend(by_definition(&case).0.iter().map(|conflict| conflict.level));
    }
    assert_eq!(levels.len(), 3);
}

/// Launches of many blocks whose threads read, write and update a few bytes in no order.
fn crowded() -> Case {
    let mut state = 88_172_645_463_325_252u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut segment = || {
        let epochs = Epochs { block: random(3) as u32, tile: [random(2) as u32; 5], ..Epochs::default() };
        let mut access = || {
            let kind = Kind::ALL[random(5) as usize];
            (shape(random(6) as u32, kind, random(2) as u32, 4), 4 * random(300))
        };
        Segment { thread: 0, epochs, accesses: (0..4).map(|_| access()).collect() }
    };
    let mut block = |threads: u32| -> Vec<Vec<Segment>> {
        let threads = |part: u32| (part..threads).step_by(3);
        (0..3).map(|part| threads(part).map(|thread| Segment { thread, ..segment() }).collect()).collect()
    };
    Case { launches: vec![(70, (0..12).map(|_| block(70)).collect()), (33, (0..40).map(|_| block(33)).collect())] }
}

#[test]
fn threads_and_memory_change_nothing() {
    let bytes = log(&crowded());
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    file.write_all(&bytes).expect("a temporary file can be written");
    let log = read_log(Cursor::new(&bytes)).expect("it is a log");
    let told = |jobs: usize, share: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build().expect("threads");
        let found = pool
            .install(|| conflicts(&log, file.path(), &Budget { jobs, share }, Receiving::InOrder))
            .expect("it is checked");
        format!("{found:#?}")
    };
    let expected = told(1, LARGE.share);
    let levels = |level: &str| expected.matches(&format!("level: {level}")).count();
    assert!(["Warp", "Block", "Grid"].iter().map(|level| levels(level)).sum::<usize>() > 20, "{expected}");
    for _ in 0..3 {
        for jobs in [1, 2, 4] {
            for share in [LARGE.share, 1 << 14, TINY.share] {
                assert!(told(jobs, share) == expected, "{jobs} threads, {share} bytes for each");
            }
        }
    }
}
