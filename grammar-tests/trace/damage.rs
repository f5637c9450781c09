//! Damaged logs: no panic, never complete, and what is whole is still checked.

use crate::support::draw::proptest;
use crate::support::tier::tiers;
use proptest::prelude::*;
use raceproof::trace::check::{Options, check};
use raceproof::trace::format::chunk::HeadError;
use raceproof::trace::format::write::{Segment, Writer, shape};
use raceproof::trace::format::{Allocation, Epochs, Kind, Launch, Log, Space, read_log};
use std::io::Cursor;

/// Two launches of two blocks; in the first, two threads write one place.
fn sample() -> Vec<u8> {
    let mut writer = Writer::new();
    writer.sites(&[]);
    let allocation = Allocation { base: 64, bytes: 64, space: Space::Global, name: "a".into() };
    let memory = writer.allocation(&allocation);
    for launch in 0..2u64 {
        let id = writer.launch(&Launch {
            kernel: "k".into(),
            grid: [2, 1, 1],
            block: [4, 1, 1],
            dynamic_shared: 0,
            arguments: vec![("n".into(), "4".into())],
            finished: None,
        });
        for block in 0..2 {
            let segment = |thread: u32| Segment {
                thread,
                epochs: Epochs::default(),
                accesses: vec![(
                    shape(0, Kind::Write, memory, 4),
                    32 * block + if launch == 0 { 0 } else { 4 * u64::from(thread) },
                )],
            };
            let segments: Vec<Segment> = (0..4).map(segment).collect();
            writer.block(id, block, &[&segments]);
        }
        writer.finished(id);
    }
    writer.close(0)
}

fn read(bytes: &[u8]) -> Result<Log, HeadError> {
    read_log(Cursor::new(bytes))
}

#[test]
fn the_sample_is_whole() {
    assert_eq!(read(&sample()).expect("it is a log").problems, []);
}

#[test]
fn a_log_cut_anywhere_is_not_complete() {
    let whole = sample();
    for length in 0..whole.len() {
        match read(&whole[..length]) {
            Ok(log) => assert!(!log.problems.is_empty(), "cut at {length}"),
            Err(HeadError::NoLog) => assert!(length < 16),
            Err(error) => panic!("cut at {length}: {error}"),
        }
    }
}

#[test]
fn a_log_that_goes_on_is_not_complete() {
    let mut longer = sample();
    longer.push(0);
    assert!(!read(&longer).expect("it is a log").problems.is_empty());
    let mut twice = sample();
    twice.extend_from_slice(&sample()[16..]);
    assert!(!read(&twice).expect("it is a log").problems.is_empty());
}

#[test]
fn what_is_whole_is_still_checked() {
    let whole = sample();
    // Cut in the second launch: the race of the first is still found.
    let file = tempfile::NamedTempFile::new().expect("a file can be made");
    std::fs::write(file.path(), &whole[..whole.len() - 60]).expect("a file can be written");
    let outcome = check(file.path(), &Options::default()).expect("the log can be checked");
    assert_eq!(outcome.conflicts.len(), 1);
    assert!(!outcome.log.problems.is_empty());
}

/// The chunks of a log, without its head.
fn chunks(log: &[u8]) -> Vec<&[u8]> {
    let starts: Vec<usize> = (16..log.len()).filter(|&at| log[at..].starts_with(b"RPCK")).chain([log.len()]).collect();
    starts.windows(2).map(|pair| &log[pair[0]..pair[1]]).collect()
}

#[test]
fn a_log_without_one_of_its_chunks_is_not_complete() {
    let whole = sample();
    let all = chunks(&whole);
    for left_out in 0..all.len() {
        let mut bytes = whole[..16].to_vec();
        bytes.extend((0..).zip(&all).filter(|(at, _)| *at != left_out).flat_map(|(_, chunk)| chunk.iter()));
        assert!(!read(&bytes).expect("it is a log").problems.is_empty(), "without chunk {left_out}");
    }
}

proptest! {
    #![proptest_config(proptest(tiers(100, 300, 10_000)))]

    #[test]
    fn changed_bytes_do_not_pass(changes in prop::collection::vec((16usize..2000, 1u8..), 1..5)) {
        let whole = sample();
        let mut damaged = whole.clone();
        for (at, change) in changes {
            let at = 16 + (at - 16) % (whole.len() - 16);
            damaged[at] ^= change;
        }
        prop_assume!(damaged != whole);
        let log = read(&damaged).expect("the head is whole");
        prop_assert!(!log.problems.is_empty());
    }

    /// Chunks whose checksum is right and whose contents are not: refused, or read as what they say.
    #[test]
    fn forged_chunks_do_not_panic(changes in prop::collection::vec((0usize..64, any::<u8>()), 1..4), which in 0usize..12) {
        let whole = sample();
        let mut all: Vec<Vec<u8>> = chunks(&whole).into_iter().map(<[u8]>::to_vec).collect();
        let count = all.len();
        let chunk = &mut all[which % count];
        for (at, value) in changes {
            let payload = chunk.len() - 32;
            if payload > 0 {
                chunk[32 + at % payload] = value;
            }
        }
        let sum = raceproof::trace::format::bytes::checksum(raceproof::trace::format::bytes::checksum(0, &chunk[..24]), &chunk[32..]);
        chunk[24..32].copy_from_slice(&sum.to_le_bytes());
        let mut bytes = whole[..16].to_vec();
        bytes.extend(all.concat());
        let file = tempfile::NamedTempFile::new().expect("a file can be made");
        std::fs::write(file.path(), &bytes).expect("a file can be written");
        let _ = check(file.path(), &Options { jobs: Some(1), ..Options::default() });
    }
}
