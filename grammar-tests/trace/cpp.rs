//! Random programs through the real `log.hpp`, compiled by the system's compiler, and back.

use crate::support::draw::proptest;
use crate::support::tier::tiers;
use crate::support::tools::cxx;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use raceproof::trace::format::accesses::Begins;
use raceproof::trace::format::bytes::Malformed;
use raceproof::trace::format::{AccessesHead, Epochs, Kind, Run, Shape, Visitor, read_log};
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// An access as it was logged and as it is read: launch, block, thread, syncs, shape, offset.
type Logged = (u32, u64, u32, Epochs, Shape, u64);

/// The compiled player of calls.
fn player() -> &'static Path {
    static PLAYER: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = PLAYER.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let directory = tempfile::tempdir().expect("a directory can be made");
        let program = directory.path().join("player");
        let compiler = cxx();
        let output = Command::new(&compiler)
            .args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-I"])
            .arg(root.join("src/instrument/runtime"))
            .arg(root.join("grammar-tests/trace/player.cpp"))
            .arg("-o")
            .arg(&program)
            .output()
            .unwrap_or_else(|error| panic!("cannot run the C++ compiler `{compiler}`: {error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (directory, program)
    });
    program
}

/// Plays `calls` into a log at `path`.
pub(super) fn play(calls: &str, path: &Path) {
    let list = tempfile::NamedTempFile::new().expect("a file can be made");
    std::fs::write(list.path(), calls).expect("a file can be written");
    let status = Command::new(player()).arg(path).arg(list.path()).status().expect("the player runs");
    assert!(status.success());
}

/// Expands what is read.
struct Expander<'a> {
    head: &'a AccessesHead,
    block: u64,
    to: &'a mut Vec<Logged>,
}

impl Visitor for Expander<'_> {
    fn block(&mut self, block: u64, _: Begins) -> Result<(), Malformed> {
        self.block = block;
        Ok(())
    }

    fn run(&mut self, run: &Run<'_>) -> Result<(), Malformed> {
        for number in 0..run.count {
            let thread = run.thread + number as u32 * run.step;
            for ((&shape, &offset), &stride) in run.shapes.iter().zip(run.offsets).zip(run.strides) {
                let offset = offset.wrapping_add(stride.wrapping_mul(number));
                let shape = self.head.shapes[shape as usize];
                self.to.push((self.head.launch, self.block, thread, run.epochs, shape, offset));
            }
        }
        Ok(())
    }
}

fn expanded(path: &Path) -> Vec<Logged> {
    let log = read_log(File::open(path).expect("the log is there")).expect("it is a log");
    assert_eq!(log.problems, [], "a log that was closed is complete");
    assert_eq!(log.exit_status, Some(-3));
    let mut file = File::open(path).expect("the log is there");
    let mut chunks = log.chunks.clone();
    chunks.sort_by_key(|chunk| (chunk.launch, chunk.start));
    let mut all = Vec::new();
    for chunk in chunks {
        let payload = chunk.payload(&mut file).expect("the log can be read");
        let (head, steps) = AccessesHead::read(&payload).expect("the chunk is whole");
        head.visit(steps, &mut Expander { head: &head, block: 0, to: &mut all }).expect("the chunk is whole");
    }
    all
}

/// What the threads of a block do in an interval.
#[derive(Clone, Debug)]
struct Part {
    threads: u32,
    epochs: Epochs,
    /// Shape, first offset, and how it moves by thread, by turn of a loop and at every 16th thread.
    accesses: Vec<(Shape, u64, [i64; 3])>,
    turns: u32,
    /// Threads for which `thread % 8` is this do nothing.
    idle: u32,
    /// Whether offsets are scattered.
    scatter: u64,
}

fn parts() -> impl Strategy<Value = Part> {
    let epochs = (0u32..2, 0u32..900, prop::array::uniform5(0u32..3), 0u32..2, 0u32..300).prop_map(
        |(grid, block, tile, shared_only, synchronised)| {
            let shared_only = shared_only.min(block);
            Epochs { grid, block, tile, shared_only, synchronised }
        },
    );
    let steps = || prop::sample::select(vec![0i64, 4, 4, 8, -4, 4096, 3]);
    let access = (
        0u32..3,
        0usize..5,
        0u32..3,
        prop::sample::select(vec![1u32, 4, 4, 8]),
        (1u64 << 30)..(1 << 31),
        steps(),
        steps(),
        steps(),
    )
        .prop_map(|(site, kind, allocation, bytes, offset, thread, turn, row)| {
            (Shape { site, allocation, bytes, kind: Kind::ALL[kind] }, offset, [thread, turn, row])
        });
    (
        1u32..70,
        epochs,
        prop::collection::vec(access, 0..6),
        prop::sample::select(vec![1u32, 2, 40, 1500]),
        0u32..16,
        prop::sample::select(vec![0u64, 0, 0, 1 << 20]),
    )
        .prop_map(|(threads, epochs, accesses, turns, idle, scatter)| Part {
            threads,
            epochs,
            accesses,
            turns,
            idle,
            scatter,
        })
}

/// The calls of a program, and the accesses that they log.
fn program(launches: &[Vec<Vec<Part>>]) -> (String, Vec<Logged>) {
    let mut calls = "sites\nallocation 65536 0\nallocation 65536 2\nallocation 65536 3\n".to_owned();
    let mut logged = Vec::new();
    let mut random = 1u64;
    for (launch, blocks) in (0..).zip(launches) {
        writeln!(calls, "launch {} 70", blocks.len()).expect("text grows");
        for (block, parts) in (0..).zip(blocks) {
            writeln!(calls, "block {launch} {block}").expect("text grows");
            for part in parts {
                for thread in (0..part.threads).filter(|thread| thread % 8 != part.idle) {
                    let Epochs { grid, block: syncs, tile: [a, b, c, d, e], shared_only, synchronised } = part.epochs;
                    writeln!(calls, "segment {thread} {grid} {syncs} {a} {b} {c} {d} {e} {shared_only} {synchronised}")
                        .expect("text grows");
                    for turn in 0..part.turns {
                        for (shape, first, [by_thread, by_turn, by_row]) in &part.accesses {
                            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                            let scattered = if part.scatter == 0 { 0 } else { (random >> 33) % part.scatter };
                            let moved = by_thread * i64::from(thread)
                                + by_turn * i64::from(turn)
                                + by_row * i64::from(thread / 16);
                            let offset = first.wrapping_add(moved as u64).wrapping_add(scattered);
                            let Shape { site, allocation, bytes, kind } = shape;
                            writeln!(calls, "access {site} {} {allocation} {offset} {bytes}", *kind as u32)
                                .expect("text grows");
                            logged.push((launch, block, thread, part.epochs, *shape, offset));
                        }
                    }
                }
            }
        }
        writeln!(calls, "end\nfinished {launch}").expect("text grows");
    }
    calls.push_str("close -3\n");
    (calls, logged)
}

#[test]
fn what_is_logged_is_what_is_read() {
    let mut runner = TestRunner::new(proptest(tiers(8, 24, 500)));
    let launches = prop::collection::vec(prop::collection::vec(prop::collection::vec(parts(), 0..4), 1..4), 1..3);
    runner
        .run(&launches, |launches| {
            let (calls, logged) = program(&launches);
            let path = tempfile::NamedTempFile::new().expect("a file can be made").into_temp_path();
            play(&calls, &path);
            let read = expanded(&path);
            prop_assert_eq!(read.len(), logged.len());
            prop_assert!(read == logged, "the accesses differ");
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn regular_kernels_take_little_room() {
    let shape = |site, kind, allocation| Shape { site, allocation, bytes: 4, kind };
    // A tile of a matrix product: what a thread reads moves along rows and columns.
    let load = vec![(shape(0, Kind::Read, 0), 0, [4, 0, 0]), (shape(1, Kind::Write, 1), 0, [4, 0, 0])];
    let multiply = vec![(shape(0, Kind::Read, 1), 0, [0, 4, 64]), (shape(1, Kind::Read, 1), 1024, [4, 64, -64])];
    let part = |accesses, turns, block| Part {
        threads: 64,
        epochs: Epochs { block, ..Epochs::default() },
        accesses,
        turns,
        idle: 9,
        scatter: 0,
    };
    let blocks: Vec<Vec<Part>> = vec![vec![part(load, 1, 0), part(multiply, 16, 1)]; 200];
    let (calls, logged) = program(&[blocks]);
    let path = tempfile::NamedTempFile::new().expect("a file can be made").into_temp_path();
    play(&calls, &path);
    assert_eq!(expanded(&path), logged);
    let bytes = std::fs::metadata(&path).expect("the log is there").len();
    assert!(bytes * 8 < logged.len() as u64, "{bytes} bytes for {} accesses", logged.len());
}
