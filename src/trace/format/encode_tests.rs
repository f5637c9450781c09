//! Random segments come back as they were encoded.

use super::accesses::{AccessesHead, Begins, Run, Visitor};
use super::bytes::{Cursor, Malformed};
use super::encode::Encoder;
use super::write::shape;
use super::{Epochs, Kind};
use proptest::prelude::*;

/// A segment: its block, its thread, its syncs, and shape and offset of each access.
type Told = (u64, u32, Epochs, Vec<(u32, u64)>);

/// Groups of segments of neighbouring threads, some of them regular.
fn segments() -> impl Strategy<Value = Vec<Told>> {
    let offset = || prop_oneof![0..64u64, (1u64 << 40)..(1 << 41), ((1u64 << 60) - 8192)..((1 << 60) - 4096)];
    let stride = || prop_oneof![Just(4u64), Just(0), 0..32u64];
    let group = (
        0..3u64,
        (0..50u32, 1..4u32, 1..40u32),
        (0..2u32, 0..3u32, prop::array::uniform5(0..2u32), any::<bool>()),
        prop::collection::vec((0..4u32, offset(), stride()), 1..5),
        prop::sample::select(vec![0u64, 0, 0, 1000]),
    );
    let group = group.prop_map(|(block, (first, step, count), (grid, passed, tile, rises), accesses, scatter)| {
        let segment = |number: u32| {
            let synchronised = if rises { number } else { 0 };
            let epochs = Epochs { grid, block: passed, tile, shared_only: passed / 2, synchronised };
            let moved = |&(shape, offset, stride): &(u32, u64, u64)| {
                let scattered = u64::from(number).wrapping_mul(7919) % (scatter + 1);
                (shape, offset + stride * u64::from(number) + scattered)
            };
            (block, first + step * number, epochs, accesses.iter().map(moved).collect())
        };
        (0..count).map(segment).collect::<Vec<Told>>()
    });
    prop::collection::vec(group, 0..8).prop_map(|groups| groups.concat())
}

#[derive(Default)]
struct Read {
    block: u64,
    segments: Vec<Told>,
}

impl Visitor for Read {
    fn block(&mut self, block: u64, _: Begins) -> Result<(), Malformed> {
        self.block = block;
        Ok(())
    }

    fn run(&mut self, run: &Run<'_>) -> Result<(), Malformed> {
        for number in 0..run.count {
            let offset = |(&offset, &stride): (&u64, &u64)| offset.wrapping_add(stride.wrapping_mul(number));
            let offsets = run.offsets.iter().zip(run.strides).map(offset);
            let accesses = run.shapes.iter().copied().zip(offsets).collect();
            self.segments.push((self.block, run.thread + run.step * number as u32, run.epochs, accesses));
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn segments_come_back(segments in segments()) {
        let mut encoder = Encoder::new(4);
        for block in segments.chunk_by(|one, other| one.0 == other.0) {
            encoder.block(block[0].0);
            for (_, thread, epochs, accesses) in block {
                let (shapes, offsets): (Vec<u32>, Vec<u64>) = accesses.iter().copied().unzip();
                encoder.segment(*thread, *epochs, &shapes, &offsets);
            }
        }
        let (accesses, steps) = encoder.finish();
        let shapes = (0..4).map(|site| shape(site, Kind::Read, 0, 4)).collect();
        let head = AccessesHead { launch: 0, stream: 0, part: 0, continued: None, accesses, shapes };
        let mut read = Read::default();
        head.visit(Cursor::new(&steps), &mut read).expect("the steps are understood");
        prop_assert_eq!(read.segments, segments);
    }
}
