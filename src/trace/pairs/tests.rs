//! Random small logs: what the way through the log finds is what a plain list of all accesses gives, in any amount of memory.

use super::{Accesses, HostWrite, Interval, Outcome, pairs};
use crate::memory_model::ways::Way;
use crate::trace::format::drawn::epochs;
use crate::trace::format::write::{Segment, Writer, shape};
use crate::trace::format::{Allocation, Epochs, Kind, Launch, Shape, Space};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

const SPACES: [Space; 5] = [Space::Global, Space::Shared, Space::Constant, Space::Distributed, Space::Managed];
const BYTES: u64 = 700;

#[derive(Clone, Debug)]
struct Case {
    /// Of each launch its blocks, and of each of these its segments, in parts.
    launches: Vec<Vec<Vec<Vec<Segment>>>>,
    host: Vec<HostWrite>,
}

fn accesses() -> impl Strategy<Value = (Shape, u64)> {
    let kinds = vec![Kind::Read, Kind::Read, Kind::Write, Kind::Write, Kind::AtomicDevice, Kind::LoadBlock];
    let bytes = prop::sample::select(vec![1u32, 2, 4, 4, 4, 8, 16]);
    // Few places, some of them on two pages.
    let places = prop::sample::select(vec![0u64, 4, 6, 250, 252, 256, 510, 600]);
    (0u32..4, prop::sample::select(kinds), 0u32..5, bytes, places)
        .prop_map(|(site, kind, allocation, bytes, at)| (shape(site, kind, allocation, bytes), at))
}

fn cases() -> impl Strategy<Value = Case> {
    let segment = (0u32..40, epochs(), prop::collection::vec(accesses(), 0..4))
        .prop_map(|(thread, epochs, accesses)| Segment { thread, epochs, accesses });
    let block = prop::collection::vec(prop::collection::vec(segment, 0..6), 1..4);
    let launches = prop::collection::vec(prop::collection::vec(block, 1..4), 1..4);
    let host = (0u32..4, 0u32..5, 0u64..BYTES, 1u64..300);
    let host = prop::collection::vec(host, 0..3);
    (launches, host).prop_map(|(launches, host)| {
        let write =
            |(launches, allocation, first, bytes)| HostWrite { launches, allocation, bytes: first..first + bytes };
        let mut host: Vec<HostWrite> = host.into_iter().map(write).collect();
        host.sort_by_key(|write| write.launches);
        Case { launches, host }
    })
}

fn log(case: &Case) -> Vec<u8> {
    let mut writer = Writer::new();
    for space in SPACES {
        writer.allocation(&Allocation { base: 0, bytes: BYTES, space, name: String::new() });
    }
    for blocks in &case.launches {
        let launch = writer.launch(&Launch {
            kernel: "k".into(),
            grid: [blocks.len() as u32, 1, 1],
            block: [40, 1, 1],
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

fn outcome(case: &Case, memory: u64) -> Outcome {
    let mut file = tempfile::NamedTempFile::new().expect("there is room");
    file.write_all(&log(case)).expect("there is room");
    let outcome = pairs(file.path(), &case.host, memory).expect("the log is whole");
    assert!(outcome.log.problems.is_empty(), "{:?}", outcome.log.problems);
    outcome
}

/// An access, and all that says when it was.
#[derive(Clone, Copy)]
struct Made {
    launch: usize,
    block: usize,
    thread: u32,
    epochs: Epochs,
    shape: Shape,
    offset: u64,
}

/// All accesses in the order of the run: parts of a launch between barriers of the grid one after the other.
fn made(case: &Case) -> Vec<Made> {
    let mut all = Vec::new();
    for (launch, blocks) in case.launches.iter().enumerate() {
        let mut of_launch = Vec::new();
        for (block, parts) in blocks.iter().enumerate() {
            for segment in parts.iter().flatten() {
                let (thread, epochs) = (segment.thread, segment.epochs);
                let of = |&(shape, offset)| Made { launch, block, thread, epochs, shape, offset };
                of_launch.extend(segment.accesses.iter().map(of));
            }
        }
        of_launch.sort_by_key(|made: &Made| made.epochs.grid);
        all.extend(of_launch);
    }
    all
}

fn is_atomic(kind: Kind) -> bool {
    kind != Kind::Read && kind != Kind::Write
}

fn way(from: &Made, to: &Made, space: Space) -> Option<Way> {
    let interval = |made: &Made| {
        let others = if space == Space::Shared { 0 } else { made.epochs.shared_only };
        (made.epochs.grid, made.epochs.block - others)
    };
    let both_are_atomic = is_atomic(from.shape.kind) && is_atomic(to.shape.kind);
    // The smallest aligned group of 2, 4, … threads that holds both has passed as often.
    let met = (0..5).find(|&size| from.thread >> (size + 1) == to.thread >> (size + 1));
    let met = met.is_some_and(|size| from.epochs.tile[size] != to.epochs.tile[size]);
    if from.launch != to.launch {
        Some(Way::BetweenLaunches)
    } else if from.block != to.block {
        let is_ordered = from.epochs.grid != to.epochs.grid || both_are_atomic || space == Space::Distributed;
        is_ordered.then_some(Way::BetweenBlocks)
    } else if from.thread == to.thread {
        Some(if interval(from) == interval(to) { Way::Own } else { Way::OwnAcrossBarrier })
    } else {
        (interval(from) != interval(to) || both_are_atomic || met).then_some(Way::HandedOver)
    }
}

type Pairs = BTreeMap<(u32, u32, Option<Way>), u64>;

/// Pairs, byte by byte.
fn expected(case: &Case) -> Pairs {
    let mut found = Pairs::new();
    for (allocation, space) in (0..).zip(SPACES).filter(|(_, space)| *space != Space::Constant) {
        let is_shared = space == Space::Shared;
        for byte in 0..BYTES {
            let mut last: BTreeMap<usize, Made> = BTreeMap::new();
            let mut launch = usize::MAX;
            let mut all = made(case);
            if is_shared {
                // Each block has its own, in its own order.
                all.sort_by_key(|made| (made.launch, made.block));
                let order = |made: &Made| (made.launch, made.block);
                let mut own: Vec<Made> = Vec::new();
                for group in all.chunk_by(|one, other| order(one) == order(other)) {
                    own.extend(in_order_of_log(case, group[0].launch, group[0].block));
                }
                all = own;
            }
            for made in all {
                if made.launch != launch {
                    launch = made.launch;
                    if is_shared {
                        last.clear();
                    } else {
                        let written = |write: &&HostWrite| {
                            write.allocation == allocation
                                && write.launches as usize <= launch
                                && write.bytes.contains(&byte)
                        };
                        let since = |of: &Made| {
                            case.host.iter().any(|write| written(&write) && write.launches as usize > of.launch)
                        };
                        last.retain(|_, of| !since(of));
                    }
                }
                let touches = made.offset <= byte && byte < made.offset + u64::from(made.shape.bytes);
                if made.shape.allocation != allocation || !touches {
                    continue;
                }
                let home = if is_shared { made.block } else { 0 };
                if made.shape.kind != Kind::Write
                    && let Some(from) = last.get(&home)
                {
                    *found.entry((from.shape.site, made.shape.site, way(from, &made, space))).or_default() += 1;
                }
                if !made.shape.kind.only_reads() {
                    last.insert(home, made);
                }
            }
        }
    }
    found
}

fn in_order_of_log(case: &Case, launch: usize, block: usize) -> Vec<Made> {
    let segments = case.launches[launch][block].iter().flatten();
    segments
        .flat_map(|segment| {
            let (thread, epochs) = (segment.thread, segment.epochs);
            segment.accesses.iter().map(move |&(shape, offset)| Made { launch, block, thread, epochs, shape, offset })
        })
        .collect()
}

fn counted(case: &Case) -> BTreeMap<u32, (u64, u64, u64, u64)> {
    let mut threads: BTreeMap<(u32, usize, usize, u32), BTreeSet<u32>> = BTreeMap::new();
    let mut all: BTreeMap<u32, (u64, u64, u64, u64)> = BTreeMap::new();
    for made in made(case) {
        let space = SPACES[made.shape.allocation as usize];
        if space == Space::Constant {
            continue;
        }
        let others = if space == Space::Shared { 0 } else { made.epochs.shared_only };
        let interval = (made.shape.site, made.launch, made.block, made.epochs.block - others);
        threads.entry(interval).or_default().insert(made.thread);
        let (reads, writes, ..) = all.entry(made.shape.site).or_default();
        *reads += u64::from(made.shape.kind != Kind::Write);
        *writes += u64::from(!made.shape.kind.only_reads());
    }
    for ((site, ..), threads) in threads {
        let (_, _, by_one, by_several) = all.entry(site).or_default();
        *(if threads.len() == 1 { by_one } else { by_several }) += 1;
    }
    all
}

fn found(outcome: &Outcome) -> Pairs {
    let ordered = outcome.pairs.iter().map(|(&(store, load, way), &bytes)| ((store, load, Some(way)), bytes));
    let unordered = outcome.unordered.iter().map(|(&(store, load), &bytes)| ((store, load, None), bytes));
    ordered.chain(unordered).collect()
}

fn numbers(accesses: &Accesses) -> (u64, u64, u64, u64) {
    let all = accesses.intervals.values().chain([&accesses.further]);
    let sum = |of: fn(&Interval) -> u64| all.clone().map(of).sum();
    (accesses.reads, accesses.writes, sum(|it| it.by_one), sum(|it| it.by_several))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn pairs_are_those_of_a_plain_list_of_accesses(case in cases()) {
        let wanted = expected(&case);
        for memory in [u64::MAX, 0] {
            let outcome = outcome(&case, memory);
            prop_assert_eq!(&found(&outcome), &wanted, "memory {}", memory);
            let accesses: BTreeMap<_, _> = outcome.accesses.iter().map(|(&site, of)| (site, numbers(of))).collect();
            prop_assert_eq!(accesses, counted(&case), "memory {}", memory);
        }
    }
}

#[test]
fn blocks_that_ran_beside_each_other_are_named() {
    let atomic =
        |thread| Segment { thread, epochs: Epochs::default(), accesses: vec![(shape(0, Kind::AtomicDevice, 0, 4), 0)] };
    let case = |blocks: Vec<Vec<Vec<Segment>>>| Case { launches: vec![blocks], host: Vec::new() };
    let one = outcome(&case(vec![vec![vec![atomic(0), atomic(1)]]]), u64::MAX);
    assert!(one.problems.is_empty(), "{:?}", one.problems);
    assert_eq!(one.pairs, BTreeMap::from([((0, 0, Way::HandedOver), 4)]));
    let two = outcome(&case(vec![vec![vec![atomic(0)]], vec![vec![atomic(0)]]]), u64::MAX);
    assert!(two.problems[0].starts_with("blocks of k ran beside each other"), "{:?}", two.problems);
    assert_eq!(two.pairs, BTreeMap::from([((0, 0, Way::BetweenBlocks), 4)]));
}
