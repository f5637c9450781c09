//! Random small logs: split, checked and merged, they say what they say whole.

use super::{Options, ShardError, file_name, merge, split};
use crate::memory_model::{Level, MemoryOrder, SyncScope, clocks::Touch};
use crate::trace::check::{self, Conflict, Outcome, check};
use crate::trace::format::synchronisations::{Event, Synchronisation};
use crate::trace::format::write::{Segment, Writer, shape};
use crate::trace::format::{Allocation, Epochs, Kind, Launch, Shape, Site, Space};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const WITHIN: Options = Options { memory: 512 << 20, jobs: Some(2) };

/// Segments of a block by parts.
type Block = Vec<Vec<Segment>>;

/// A launch of blocks of so many threads; whether they also synchronise by atomics.
type Case = Vec<(u32, Vec<Block>, bool)>;

fn accesses() -> impl Strategy<Value = (Shape, u64)> {
    // Wide ones reach over borders.
    let bytes = prop::sample::select(vec![1u32, 4, 4, 4, 8, 16, 40, 100]);
    let kind = (0usize..10).prop_map(|at| if at < 5 { [Kind::Read, Kind::Write][at % 2] } else { Kind::ALL[at - 2] });
    (0u32..4, kind, 0u32..3, bytes, 0u64..40)
        .prop_map(|(site, kind, allocation, bytes, at)| (shape(site, kind, allocation, bytes), 4 * at))
}

fn segments(threads: u32) -> impl Strategy<Value = Segment> {
    let epochs = (0u32..2, 0u32..3, prop::array::uniform5(0u32..2), 0u32..2);
    let epochs = epochs.prop_map(|(grid, block, tile, shared_only)| Epochs {
        grid,
        block,
        tile,
        shared_only: shared_only.min(block),
        synchronised: 0,
    });
    (0..threads, epochs, prop::collection::vec(accesses(), 0..5)).prop_map(|(thread, epochs, accesses)| Segment {
        thread,
        epochs,
        accesses,
    })
}

fn cases() -> impl Strategy<Value = Case> {
    let block = |threads| prop::collection::vec(prop::collection::vec(segments(threads), 0..8), 1..4);
    let launch = prop::sample::select(vec![1u32, 5, 34, 70]).prop_flat_map(move |threads| {
        (Just(threads), prop::collection::vec(block(threads), 1..4), prop::sample::select(vec![false, false, true]))
    });
    prop::collection::vec(launch, 0..3)
}

/// The same blocks without barriers: behind each of its segments a thread acquires and releases one of three cells.
fn synchronised(blocks: &[Block]) -> (Vec<Block>, Vec<Synchronisation>) {
    let mut blocks = blocks.to_vec();
    let mut all = Vec::new();
    let mut steps: BTreeMap<(u64, u32), u32> = BTreeMap::new();
    for (block, parts) in (0..).zip(&mut blocks) {
        for segment in parts.iter_mut().flatten() {
            let steps = steps.entry((block, segment.thread)).or_default();
            segment.epochs = Epochs { synchronised: *steps, ..Epochs::default() };
            *steps += 1;
            let ticket = all.len() as u64;
            let event =
                Event::Atomic(Touch::Update, (None, 4 * (ticket % 3)), MemoryOrder::AcquireRelease, SyncScope::Grid);
            all.push(Synchronisation { ticket, block, thread: segment.thread, event });
        }
    }
    (blocks, all)
}

fn log(case: &Case) -> Vec<u8> {
    let mut writer = Writer::new();
    let site = |id| Site {
        id,
        access: "write".into(),
        path: "no such file.cu".into(),
        start: (id + 1, 1),
        end: (id + 1, 2),
        array: "a".into(),
        function: "k".into(),
        expansion: String::new(),
    };
    writer.sites(&(0..4).map(site).collect::<Vec<_>>());
    writer.left_out("no such file.cu:9:1: inline assembly in k");
    for space in [Space::Global, Space::Shared, Space::Distributed] {
        writer.allocation(&Allocation { base: 0, bytes: 300, space, name: "a".into() });
    }
    for (threads, blocks, synchronise) in case {
        let launch = writer.launch(&Launch {
            kernel: "k".into(),
            grid: [blocks.len() as u32, 1, 1],
            block: [*threads, 1, 1],
            dynamic_shared: 0,
            arguments: vec![("n".into(), "4".into())],
            finished: None,
        });
        let (blocks, order) = if *synchronise { synchronised(blocks) } else { (blocks.clone(), Vec::new()) };
        for (number, parts) in (0..).zip(&blocks) {
            writer.block(launch, number, &parts.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }
        if *synchronise {
            writer.synchronisations(launch, &order);
        }
        writer.finished(launch);
    }
    writer.close(3)
}

/// A directory with a log in it.
struct Room {
    directory: TempDir,
    log: PathBuf,
}

impl Room {
    fn new(bytes: &[u8]) -> Self {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let log = directory.path().join("run.trace");
        std::fs::write(&log, bytes).expect("a file can be written");
        Room { directory, log }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn split(&self, log: &Path, shards: u32) -> Vec<PathBuf> {
        let paths: Vec<PathBuf> = (0..shards).map(|number| self.at(&file_name(log, number, shards))).collect();
        split(log, &paths, &WITHIN).expect("the log can be split");
        paths
    }

    fn merged(&self, shards: &[PathBuf], name: &str) -> PathBuf {
        merge(shards, &self.at(name), &WITHIN).expect("the shards can be merged");
        self.at(name)
    }
}

fn checked(path: &Path) -> Outcome {
    let outcome = check(path, &check::Options { jobs: Some(1), ..check::Options::default() }).expect("it is checked");
    assert_eq!(outcome.log.problems, []);
    outcome
}

/// The conflicts of several checks as those of one.
fn together(checks: &[Outcome]) -> Vec<Conflict> {
    let mut found: BTreeMap<([u32; 2], bool), Conflict> = BTreeMap::new();
    for conflict in checks.iter().flat_map(|outcome| &outcome.conflicts) {
        let known = found
            .entry((conflict.sites, conflict.level == Level::Grid))
            .or_insert_with(|| Conflict { bytes: 0, ..conflict.clone() });
        known.bytes += conflict.bytes;
        let comes_first = |one: &Conflict| (std::cmp::Reverse(one.level), one.witness);
        if comes_first(conflict) < comes_first(known) {
            (known.level, known.witness) = (conflict.level, conflict.witness);
        }
    }
    found.into_values().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn shards_find_together_what_the_whole_does(case in cases(), shards in 1u32..6) {
        let room = Room::new(&log(&case));
        let whole = checked(&room.log);
        let parts: Vec<Outcome> = room.split(&room.log, shards).iter().map(|path| checked(path)).collect();
        prop_assert_eq!(together(&parts), whole.conflicts);
        let racy = parts.into_iter().flat_map(|part| part.racy).collect();
        prop_assert_eq!(whole.racy, racy);
    }

    #[test]
    fn merged_shards_are_one_canonical_log(case in cases(), shards in 2u32..6) {
        let room = Room::new(&log(&case));
        let mut parts = room.split(&room.log, shards);
        parts.reverse();
        let merged = room.merged(&parts, "merged.trace");
        let (whole, again) = (checked(&room.log), checked(&merged));
        prop_assert_eq!((&again.conflicts, &again.racy), (&whole.conflicts, &whole.racy));
        prop_assert_eq!((&again.log.launches, &again.log.uses), (&whole.log.launches, &whole.log.uses));
        prop_assert_eq!(again.log.shard, None);
        let bytes = |path: &Path| std::fs::read(path).expect("it is there");
        let at_once = room.merged(&room.split(&room.log, 1), "one.trace");
        prop_assert_eq!(bytes(&at_once), bytes(&merged));
        let twice = room.merged(&room.split(&merged, 3), "twice.trace");
        prop_assert_eq!(bytes(&twice), bytes(&merged));
    }
}

/// Two threads write each of some places.
fn sample() -> Case {
    let segment = |thread| Segment {
        thread,
        epochs: Epochs::default(),
        accesses: (0..40).map(|at| (shape(0, Kind::Write, 0, 4), 4 * at)).collect(),
    };
    vec![(2, vec![vec![vec![segment(0), segment(1)]]], false)]
}

#[test]
fn shards_have_about_as_many_accesses_each() {
    let room = Room::new(&log(&sample()));
    let paths: Vec<PathBuf> = (0..4).map(|number| room.at(&file_name(&room.log, number, 4))).collect();
    assert!(paths[1].ends_with("run.shard-2-of-4.trace"));
    let counts = split(&room.log, &paths, &WITHIN).expect("the log can be split");
    assert_eq!(counts, [24, 16, 24, 16]);
}

#[test]
fn what_is_missing_or_mixed_up_is_told_and_nothing_is_written() {
    let room = Room::new(&log(&sample()));
    let shards = room.split(&room.log, 3);
    let other = Room::new(&log(&Vec::new()));
    let others = other.split(&other.log, 3);
    let merge = |paths: &[&PathBuf]| {
        let paths: Vec<PathBuf> = paths.iter().map(|&path| path.clone()).collect();
        let result = merge(&paths, &room.at("merged.trace"), &WITHIN);
        assert!(!room.at("merged.trace").exists());
        result.expect_err("these are not all shards of one log")
    };
    let missing = merge(&[&shards[2]]).to_string();
    assert_eq!(missing, "incomplete: of 3 shards number 1, 2 is missing; name all of them");
    assert!(matches!(merge(&[&shards[0], &others[1], &shards[2]]), ShardError::Different { .. }));
    assert!(matches!(merge(&[&shards[0], &shards[0], &shards[2]]), ShardError::Twice { .. }));
    assert!(matches!(merge(&[&room.log]), ShardError::NoShard(_)));
    let whole = std::fs::read(&shards[1]).expect("it is there");
    for (at, length) in [(0, whole.len() - 1), (whole.len() / 2, whole.len())] {
        let mut bytes = whole[..length].to_vec();
        bytes[at.max(16)] ^= 1;
        std::fs::write(&shards[1], &bytes).expect("a file can be written");
        assert!(matches!(merge(&[&shards[0], &shards[1], &shards[2]]), ShardError::Incomplete { .. }));
    }
}

#[test]
fn only_whole_logs_are_split() {
    let bytes = log(&sample());
    let room = Room::new(&bytes[..bytes.len() - 1]);
    let to = [room.at("1"), room.at("2")];
    assert!(matches!(split(&room.log, &to, &WITHIN), Err(ShardError::Incomplete { .. })));
    let room = Room::new(&bytes);
    let shard = &room.split(&room.log, 2)[0];
    assert!(matches!(split(shard, &to, &WITHIN), Err(ShardError::IsShard(_))));
    assert!(to.iter().all(|path| !path.exists()));
}
