//! The answers of the model, fixed.

use super::How::{Atomic, Plain};
use super::Op::{Add, Arrive, Barrier, Fence, Read, Wait, Write};
use super::{Op, outcomes};
use crate::calculus::MemoryOrder::{Acquire, AcquireRelease, Relaxed, Release, SequentiallyConsistent};
use crate::calculus::{MemoryOrder, SyncScope};

const DEVICE: SyncScope = SyncScope::Grid;
const BLOCK: SyncScope = SyncScope::Block;
const X: u8 = 0;
const Y: u8 = 1;

/// Whether the reads may find that, and whether the program races.
fn row(threads: &[(u8, &[Op])], found: &[i64]) -> (bool, bool) {
    let outcomes = outcomes(threads);
    (outcomes.found.contains(found), outcomes.is_racy)
}

const ALLOWED: bool = true;
const FORBIDDEN: bool = false;

/// `x = 1; F; y = 1` and `y == 1; F; x == 0`, the data being atomic.
fn message_passing(fences: [Option<(MemoryOrder, SyncScope)>; 2], blocks: [u8; 2]) -> bool {
    let relaxed = Atomic(Relaxed, DEVICE);
    let fence = |which: usize| fences[which].map(|(order, scope)| Fence(order, scope));
    let first: Vec<Op> =
        [Some(Write(X, 1, relaxed)), fence(0), Some(Write(Y, 1, relaxed))].into_iter().flatten().collect();
    let second: Vec<Op> = [Some(Read(Y, relaxed)), fence(1), Some(Read(X, relaxed))].into_iter().flatten().collect();
    row(&[(blocks[0], &first), (blocks[1], &second)], &[1, 0]).0
}

#[test]
fn message_passing_needs_a_fence_on_both_sides_that_reaches_the_other() {
    let sc = Some((SequentiallyConsistent, DEVICE));
    for (fences, blocks, answer) in [
        ([None, None], [0, 1], ALLOWED),
        ([sc, None], [0, 1], ALLOWED),
        ([None, sc], [0, 1], ALLOWED),
        ([sc, sc], [0, 1], FORBIDDEN),
        ([Some((Release, DEVICE)), Some((Acquire, DEVICE))], [0, 1], FORBIDDEN),
        ([Some((AcquireRelease, DEVICE)), Some((AcquireRelease, DEVICE))], [0, 1], FORBIDDEN),
        // The wrong way round.
        ([Some((Acquire, DEVICE)), Some((Release, DEVICE))], [0, 1], ALLOWED),
        ([Some((Relaxed, DEVICE)), Some((Relaxed, DEVICE))], [0, 1], ALLOWED),
        // Too narrow, on one side or on both.
        ([Some((SequentiallyConsistent, BLOCK)), sc], [0, 1], ALLOWED),
        ([sc, Some((SequentiallyConsistent, BLOCK))], [0, 1], ALLOWED),
        ([Some((SequentiallyConsistent, BLOCK)); 2], [0, 1], ALLOWED),
        ([Some((SequentiallyConsistent, BLOCK)); 2], [0, 0], FORBIDDEN),
        ([Some((SequentiallyConsistent, SyncScope::Warp)); 2], [0, 0], ALLOWED),
    ] {
        assert_eq!(message_passing(fences, blocks), answer, "{fences:?} {blocks:?}");
    }
}

#[test]
fn a_flag_hands_plain_data_over_if_it_releases_and_acquires() {
    for (store, load, blocks, answer) in [
        ((Release, DEVICE), (Acquire, DEVICE), [0, 1], FORBIDDEN),
        ((SequentiallyConsistent, DEVICE), (SequentiallyConsistent, DEVICE), [0, 1], FORBIDDEN),
        ((Relaxed, DEVICE), (Acquire, DEVICE), [0, 1], ALLOWED),
        ((Release, DEVICE), (Relaxed, DEVICE), [0, 1], ALLOWED),
        ((Release, BLOCK), (Acquire, DEVICE), [0, 1], ALLOWED),
        ((Release, DEVICE), (Acquire, BLOCK), [0, 1], ALLOWED),
        ((Release, BLOCK), (Acquire, BLOCK), [0, 0], FORBIDDEN),
    ] {
        let first = [Write(X, 1, Plain), Write(Y, 1, Atomic(store.0, store.1))];
        let second = [Read(Y, Atomic(load.0, load.1)), Read(X, Plain)];
        // What is read without having seen the flag races all the same.
        let (may, is_racy) = row(&[(blocks[0], &first), (blocks[1], &second)], &[1, 0]);
        assert_eq!((may, is_racy), (answer, true), "{store:?} {load:?} {blocks:?}");
    }
    // A plain flag hands nothing over, fences or not.
    let fence = Fence(SequentiallyConsistent, DEVICE);
    let first = [Write(X, 1, Plain), fence, Write(Y, 1, Plain)];
    assert!(row(&[(0, &first), (1, &[Read(Y, Plain), fence, Read(X, Plain)])], &[1, 0]).1);
}

#[test]
fn store_buffering_needs_sequentially_consistent_fences() {
    let relaxed = Atomic(Relaxed, DEVICE);
    for (fence, blocks, answer) in [
        (None, [0, 1], ALLOWED),
        (Some((AcquireRelease, DEVICE)), [0, 1], ALLOWED),
        (Some((SequentiallyConsistent, DEVICE)), [0, 1], FORBIDDEN),
        (Some((SequentiallyConsistent, BLOCK)), [0, 1], ALLOWED),
        (Some((SequentiallyConsistent, BLOCK)), [0, 0], FORBIDDEN),
    ] {
        let thread = |write: u8, read: u8| -> Vec<Op> {
            let fence = fence.map(|(order, scope)| Fence(order, scope));
            [Some(Write(write, 1, relaxed)), fence, Some(Read(read, relaxed))].into_iter().flatten().collect()
        };
        let (first, second) = (thread(X, Y), thread(Y, X));
        assert_eq!(row(&[(blocks[0], &first), (blocks[1], &second)], &[0, 0]).0, answer, "{fence:?} {blocks:?}");
    }
    for (order, scope, answer) in [
        (SequentiallyConsistent, DEVICE, FORBIDDEN),
        (AcquireRelease, DEVICE, ALLOWED),
        (SequentiallyConsistent, BLOCK, ALLOWED),
    ] {
        let how = Atomic(order, scope);
        let threads: [(u8, &[Op]); 2] =
            [(0, &[Write(X, 1, how), Read(Y, how)]), (1, &[Write(Y, 1, how), Read(X, how)])];
        assert_eq!(row(&threads, &[0, 0]).0, answer, "{order:?} {scope:?}");
    }
}

#[test]
fn independent_reads_of_independent_writes_agree_under_sequentially_consistent_fences_only() {
    let relaxed = Atomic(Relaxed, DEVICE);
    for (fence, scope, answer) in [
        (None, DEVICE, ALLOWED),
        (Some(AcquireRelease), DEVICE, ALLOWED),
        (Some(SequentiallyConsistent), DEVICE, FORBIDDEN),
        (Some(SequentiallyConsistent), BLOCK, ALLOWED),
    ] {
        let reader = |one: u8, other: u8| -> Vec<Op> {
            let fence = fence.map(|order| Fence(order, scope));
            [Some(Read(one, relaxed)), fence, Some(Read(other, relaxed))].into_iter().flatten().collect()
        };
        let (first, second) = (reader(X, Y), reader(Y, X));
        let threads: [(u8, &[Op]); 4] =
            [(0, &[Write(X, 1, relaxed)]), (1, &[Write(Y, 1, relaxed)]), (2, &first), (3, &second)];
        assert_eq!(row(&threads, &[1, 0, 1, 0]).0, answer, "{fence:?} {scope:?}");
    }
    for (order, answer) in [(Acquire, ALLOWED), (SequentiallyConsistent, FORBIDDEN)] {
        let write = if order == Acquire { Release } else { order };
        let (write, read) = (Atomic(write, DEVICE), Atomic(order, DEVICE));
        let threads: [(u8, &[Op]); 4] = [
            (0, &[Write(X, 1, write)]),
            (1, &[Write(Y, 1, write)]),
            (2, &[Read(X, read), Read(Y, read)]),
            (3, &[Read(Y, read), Read(X, read)]),
        ];
        assert_eq!(row(&threads, &[1, 0, 1, 0]).0, answer, "{order:?}");
    }
}

#[test]
fn loads_are_buffered_unless_something_releases() {
    let relaxed = Atomic(Relaxed, DEVICE);
    let threads: [(u8, &[Op]); 2] =
        [(0, &[Read(X, relaxed), Write(Y, 1, relaxed)]), (1, &[Read(Y, relaxed), Write(X, 1, relaxed)])];
    assert_eq!(row(&threads, &[1, 1]), (ALLOWED, false));
    let (release, acquire) = (Atomic(Release, DEVICE), Atomic(Acquire, DEVICE));
    let threads: [(u8, &[Op]); 2] =
        [(0, &[Read(X, acquire), Write(Y, 1, release)]), (1, &[Read(Y, acquire), Write(X, 1, release)])];
    assert_eq!(row(&threads, &[1, 1]), (FORBIDDEN, false));
    let fence = Fence(AcquireRelease, DEVICE);
    let threads: [(u8, &[Op]); 2] =
        [(0, &[Read(X, relaxed), fence, Write(Y, 1, relaxed)]), (1, &[Read(Y, relaxed), fence, Write(X, 1, relaxed)])];
    assert_eq!(row(&threads, &[1, 1]), (FORBIDDEN, false));
}

#[test]
fn one_location_is_coherent() {
    let relaxed = Atomic(Relaxed, DEVICE);
    let writes = [Write(X, 1, relaxed), Write(X, 2, relaxed)];
    let reads = [Read(X, relaxed), Read(X, relaxed)];
    for (found, answer) in [([1, 2], ALLOWED), ([0, 2], ALLOWED), ([2, 1], FORBIDDEN), ([1, 0], FORBIDDEN)] {
        assert_eq!(row(&[(0, &writes), (1, &reads)], &found), (answer, false), "{found:?}");
    }
    // Own writes are seen.
    assert!(!row(&[(0, &[Write(X, 1, relaxed), Read(X, relaxed)])], &[0]).0);
    // Two readers agree on the order of two writes.
    let threads: [(u8, &[Op]); 4] = [(0, &writes[..1]), (1, &writes[1..]), (2, &reads), (3, &reads)];
    assert!(!row(&threads, &[1, 2, 2, 1]).0);
    // Plain accesses race, and so do atomics that do not reach each other.
    assert!(row(&[(0, &[Write(X, 1, Plain)]), (1, &[Read(X, Plain)])], &[0]).1);
    let narrow = Atomic(Relaxed, BLOCK);
    assert!(row(&[(0, &[Add(X, 1, narrow)]), (1, &[Add(X, 1, narrow)])], &[0, 1]).1);
    assert!(!row(&[(0, &[Add(X, 1, narrow)]), (0, &[Add(X, 1, narrow)])], &[0, 1]).1);
}

#[test]
fn numbers_drawn_from_one_counter_differ() {
    let draw = Add(X, 1, Atomic(Relaxed, DEVICE));
    let found = outcomes(&[(0, &[draw]), (1, &[draw]), (2, &[draw])]).found;
    assert_eq!(found.len(), 6, "{found:?}");
    assert!(found.iter().all(|numbers| {
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        sorted == [0, 1, 2]
    }));
}

/// Two blocks write their parts and draw; the one that draws 1 reads the part of the other. Reads come in the order: the
/// draw of block 0, that of block 1, what block 1 reads of the part of block 0.
fn last_block(publish: &[Op], receive: &[Op]) -> bool {
    let draw = Add(Y, 1, Atomic(Relaxed, DEVICE));
    let first = [&[Write(X, 1, Plain)], publish, &[draw]].concat();
    let second = [&[draw], receive, &[Read(X, Plain)]].concat();
    row(&[(0, &first), (1, &second)], &[0, 1, 0]).0
}

#[test]
fn the_last_block_sees_what_was_published_by_the_draw() {
    let device = Fence(SequentiallyConsistent, DEVICE);
    let narrow = Fence(SequentiallyConsistent, BLOCK);
    assert_eq!(last_block(&[device], &[device]), FORBIDDEN);
    assert_eq!(last_block(&[Fence(Release, DEVICE)], &[Fence(Acquire, DEVICE)]), FORBIDDEN);
    assert_eq!(last_block(&[], &[device]), ALLOWED);
    assert_eq!(last_block(&[narrow], &[device]), ALLOWED);
    // What proofs assume to be so, since NVIDIA's guide does without: a fence after the draw.
    assert_eq!(last_block(&[device], &[]), ALLOWED);
    // The number of blocks that draw in between does not matter.
    let draw = Add(Y, 1, Atomic(Relaxed, DEVICE));
    let threads: [(u8, &[Op]); 3] =
        [(0, &[Write(X, 1, Plain), device, draw]), (1, &[draw]), (2, &[draw, device, Read(X, Plain)])];
    assert_eq!(row(&threads, &[0, 1, 2, 0]).0, FORBIDDEN);
    // A write that is no read-modify-write breaks the chain.
    let (fence, reset) = (Fence(AcquireRelease, DEVICE), Write(Y, 1, Atomic(Relaxed, DEVICE)));
    let threads: [(u8, &[Op]); 3] =
        [(0, &[Write(X, 1, Plain), fence, draw]), (1, &[reset]), (2, &[draw, fence, Read(X, Plain)])];
    assert_eq!(row(&threads, &[0, 1, 0]).0, ALLOWED);
}

/// As [`last_block`]; another thread of block 0 writes the part, and all threads of the block meet before the draw.
fn with_a_barrier(writer: &[Op], drawer: &[Op], receive: &[Op]) -> bool {
    let draw = Add(Y, 1, Atomic(Relaxed, DEVICE));
    let first = [&[Write(X, 1, Plain)], writer, &[Barrier]].concat();
    let second = [&[Barrier], drawer, &[draw]].concat();
    let third = [&[draw], receive, &[Read(X, Plain)]].concat();
    row(&[(0, &first), (0, &second), (1, &third)], &[0, 1, 0]).0
}

#[test]
fn fences_are_cumulative_over_barriers() {
    let device = Fence(SequentiallyConsistent, DEVICE);
    let plain = Fence(AcquireRelease, DEVICE);
    assert_eq!(with_a_barrier(&[], &[device], &[device]), FORBIDDEN);
    assert_eq!(with_a_barrier(&[], &[plain], &[plain]), FORBIDDEN);
    assert_eq!(with_a_barrier(&[], &[], &[device]), ALLOWED);
    // A fence before the barrier, made by another thread than the draw, must be sequentially consistent; so must that
    // of the reader.
    assert_eq!(with_a_barrier(&[device], &[], &[device]), FORBIDDEN);
    assert_eq!(with_a_barrier(&[plain], &[], &[plain]), ALLOWED);
    assert_eq!(with_a_barrier(&[device], &[], &[plain]), ALLOWED);
    // Likewise for a fence of another thread than the last draw, after the barrier.
    for (fence, answer) in [(device, FORBIDDEN), (plain, ALLOWED)] {
        let draw = Add(Y, 1, Atomic(Relaxed, DEVICE));
        let threads: [(u8, &[Op]); 3] =
            [(0, &[Write(X, 1, Plain), fence, draw]), (1, &[draw, Barrier]), (1, &[Barrier, fence, Read(X, Plain)])];
        assert_eq!(row(&threads, &[0, 1, 0]).0, answer, "{fence:?}");
    }
}

/// How a thread gives a lock back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GivenBack {
    ByReadModifyWrite,
    ByStore,
}

/// Sections under one lock, each with the block of its thread and what stands in it, that follow each other in this
/// order: the lock's number is odd while it is free, the first thread has it at first, and each take finds what the
/// section before left. Whether the last one may find the old value of what the first one wrote.
fn sections(sections: &[(u8, &[Op])], given_back: GivenBack, takes: super::How, gives: super::How) -> bool {
    let mut found = Vec::new();
    let last = sections.len() - 1;
    let mut threads: Vec<(u8, Vec<Op>)> = Vec::new();
    for (at, &(block, inside)) in sections.iter().enumerate() {
        let held = 2 * i64::try_from(at).unwrap();
        let mut ops = Vec::new();
        if at > 0 {
            ops.push(Add(Y, 1, takes));
            found.push(held - 1);
        }
        ops.extend(inside);
        found.extend(inside.iter().filter(|op| matches!(op, Read(..))).map(|_| 0));
        match given_back {
            _ if at == last => {}
            GivenBack::ByStore => ops.push(Write(Y, held + 1, gives)),
            GivenBack::ByReadModifyWrite => {
                ops.push(Add(Y, 1, gives));
                found.push(held);
            }
        }
        threads.push((block, ops));
    }
    let threads: Vec<(u8, &[Op])> = threads.iter().map(|(block, ops)| (*block, ops.as_slice())).collect();
    row(&threads, &found).0
}

#[test]
fn a_lock_hands_over_what_is_written_under_it_if_both_sides_fence() {
    let device = Fence(SequentiallyConsistent, DEVICE);
    let narrow = Fence(SequentiallyConsistent, BLOCK);
    let (write, read) = (Write(X, 1, Plain), Read(X, Plain));
    let relaxed = Atomic(Relaxed, DEVICE);
    for given_back in [GivenBack::ByReadModifyWrite, GivenBack::ByStore] {
        for (first, second, blocks, answer) in [
            (&[write, device][..], &[device, read][..], [0, 1], FORBIDDEN),
            (&[write, Fence(Release, DEVICE)], &[Fence(Acquire, DEVICE), read], [0, 1], FORBIDDEN),
            (&[write], &[device, read], [0, 1], ALLOWED),
            (&[write, device], &[read], [0, 1], ALLOWED),
            (&[write], &[read], [0, 0], ALLOWED),
            // On the wrong side of the access.
            (&[device, write], &[device, read], [0, 1], ALLOWED),
            (&[write, device], &[read, device], [0, 1], ALLOWED),
            // Too narrow, on one side or on both.
            (&[write, narrow], &[device, read], [0, 1], ALLOWED),
            (&[write, device], &[narrow, read], [0, 1], ALLOWED),
            (&[write, narrow], &[narrow, read], [0, 0], FORBIDDEN),
        ] {
            let may = sections(&[(blocks[0], first), (blocks[1], second)], given_back, relaxed, relaxed);
            assert_eq!(may, answer, "{given_back:?}: {first:?}, {second:?} in {blocks:?}");
        }
        for (takes, gives, blocks, answer) in [
            ((Acquire, DEVICE), (Release, DEVICE), [0, 1], FORBIDDEN),
            ((Relaxed, DEVICE), (Release, DEVICE), [0, 1], ALLOWED),
            ((Acquire, DEVICE), (Relaxed, DEVICE), [0, 1], ALLOWED),
            ((Acquire, BLOCK), (Release, DEVICE), [0, 1], ALLOWED),
            ((Acquire, BLOCK), (Release, BLOCK), [0, 0], FORBIDDEN),
        ] {
            let how = |(order, scope): (MemoryOrder, SyncScope)| Atomic(order, scope);
            let both: [(u8, &[Op]); 2] = [(blocks[0], &[write]), (blocks[1], &[read])];
            assert_eq!(
                sections(&both, given_back, how(takes), how(gives)),
                answer,
                "{given_back:?}: {takes:?}, {gives:?} in {blocks:?}"
            );
        }
    }
}

#[test]
fn a_section_in_between_carries_on_what_it_was_handed() {
    let both = Fence(AcquireRelease, DEVICE);
    let (release, acquire) = (Fence(Release, DEVICE), Fence(Acquire, DEVICE));
    let relaxed = Atomic(Relaxed, DEVICE);
    for (between, given_back, answer) in [
        // Its read-modify-writes belong to what the first one released.
        (&[][..], GivenBack::ByReadModifyWrite, FORBIDDEN),
        // A store begins anew, so that it has to hand on itself: by one fence for both, or an acquiring and then a
        // releasing one.
        (&[], GivenBack::ByStore, ALLOWED),
        (&[both], GivenBack::ByStore, FORBIDDEN),
        (&[acquire, release], GivenBack::ByStore, FORBIDDEN),
        (&[release], GivenBack::ByStore, ALLOWED),
        (&[acquire], GivenBack::ByStore, ALLOWED),
        (&[release, acquire], GivenBack::ByStore, ALLOWED),
        (&[Fence(AcquireRelease, BLOCK)], GivenBack::ByStore, ALLOWED),
    ] {
        let (first, last): (&[Op], &[Op]) = (&[Write(X, 1, Plain), both], &[both, Read(X, Plain)]);
        let may = sections(&[(0, first), (1, between), (2, last)], given_back, relaxed, relaxed);
        assert_eq!(may, answer, "{between:?}, given back {given_back:?}");
    }
    // Or by the orders of its take and of the store.
    let (first, last): (&[Op], &[Op]) = (&[Write(X, 1, Plain), both], &[both, Read(X, Plain)]);
    let (takes, gives) = (Atomic(Acquire, DEVICE), Atomic(Release, DEVICE));
    assert_eq!(sections(&[(0, first), (1, &[]), (2, last)], GivenBack::ByStore, takes, gives), FORBIDDEN);
    // Sequentially consistent fences see the order of the lock's numbers, whoever writes them; proofs do not use that.
    let device = Fence(SequentiallyConsistent, DEVICE);
    let (first, last): (&[Op], &[Op]) = (&[Write(X, 1, Plain), device], &[device, Read(X, Plain)]);
    assert_eq!(sections(&[(0, first), (1, &[]), (2, last)], GivenBack::ByStore, relaxed, relaxed), FORBIDDEN);
}

/// Who waits for a phase has seen what stood before the arrivals in it; who only arrives has seen nothing.
#[test]
fn a_phase_hands_over_from_who_arrives_to_who_waits() {
    let meets = [Arrive(0), Wait(0)];
    let handed = |writer: &[Op], reader: &[Op]| row(&[(0, writer), (0, reader)], &[0]);
    let (write, read) = (Write(X, 1, Plain), Read(X, Plain));
    let reader = [&meets[..], &[read]].concat();
    assert_eq!(handed(&[write, Arrive(0)], &reader), (FORBIDDEN, false));
    assert_eq!(handed(&[Arrive(0), write], &reader), (ALLOWED, true), "written behind the arrival");
    assert_eq!(handed(&[write, Arrive(0)], &[Arrive(0), read]), (ALLOWED, true), "nobody waits");
    assert_eq!(handed(&[write, Arrive(1)], &reader), (ALLOWED, true), "another phase");
    assert_eq!(row(&[(0, &[write, Arrive(0)]), (1, &reader)], &[0]), (ALLOWED, true), "another block");
    // Back and forth: the buffer is read, given back and written again.
    let writer = [write, Arrive(0), Wait(1), Write(X, 2, Plain)];
    assert_eq!(row(&[(0, &writer), (0, &[Wait(0), read, Arrive(1)])], &[2]), (FORBIDDEN, false));
    assert_eq!(
        row(&[(0, &writer), (0, &[Wait(0), Arrive(1), read])], &[2]),
        (ALLOWED, true),
        "given back before it is read"
    );
    // From the first to the third.
    let second = [Wait(0), Arrive(1)];
    assert_eq!(row(&[(0, &[write, Arrive(0)]), (0, &second), (0, &[Wait(1), read])], &[0]), (FORBIDDEN, false));
}
