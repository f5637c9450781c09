//! Who has seen what in a run: vector clocks that fences, atomics and barriers of blocks move on.
//!
//! Whoever watches a run tells what each thread does, in the order in which it happened, and asks of an earlier access
//! whether what a thread does now comes after it. The rules are those of [`fences`]:
//! - a releasing atomic hands on what its thread has seen; after a releasing fence every atomic does so for what stood
//!   before the fence; read-modify-writes hand on what they find as well;
//! - an acquiring atomic sees what it is handed; what others are handed an acquiring fence after them sees;
//! - what stands before a sequentially consistent fence, be it of another thread whose barrier was passed since, goes with
//!   every atomic to sequentially consistent fences after it, be they of another thread over a barrier: that is what the
//!   common order of such fences forces.
//!
//! Two accesses that are not ordered so conflict, however the run happened to order them. For threads of one block
//! [`passed`](super::passed) counts barriers; it and this agree.
//!
//! Deliberately absent: accesses themselves, and the memory that a fence or barrier orders: tell only what orders the
//! memory at hand. Warps, which hand over as blocks do.

use super::{Level, fences};
use crate::calculus::{MemoryOrder, SyncScope};
use std::collections::BTreeMap;

/// A thread: its block, and its number there.
pub type Who = (u32, u32);

/// A place in the run: the thread and how many of its steps came before.
pub type Step = (Who, u32);

/// What is done to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// It is read.
    Load,
    /// It is written.
    Store,
    /// Both in one step.
    Update,
}

/// Whether an atomic needs an order or a fence to see what it is handed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiving {
    /// As the model says.
    InOrder,
    /// It always does: what proofs assume that rely on a last block without a fence after its draw.
    Always,
}

/// How many steps of each thread are known.
type Clock = BTreeMap<Who, u32>;

#[derive(Clone, Default)]
struct Thread {
    steps: u32,
    /// What happens before its next step.
    seen: Clock,
    /// What it has published by fences, to its block and to all.
    published: [Clock; 2],
    /// What stood before sequentially consistent fences that happen before.
    fenced: Clock,
    /// What atomics were handed and a fence has yet to receive: by blocks and by all.
    handed: [Clock; 2],
    /// The same, of what stood before sequentially consistent fences.
    handed_fenced: Clock,
}

/// What a cell hands on.
#[derive(Clone, Default)]
struct Message {
    /// The block whose threads wrote for their block only.
    block: u32,
    to_block: Clock,
    to_all: Clock,
    fenced: Clock,
}

/// The clocks of a run.
pub struct Clocks {
    receiving: Receiving,
    threads: BTreeMap<Who, Thread>,
    cells: BTreeMap<(usize, i64), Message>,
}

fn join(clock: &mut Clock, other: &Clock) {
    for (&who, &steps) in other {
        let known = clock.entry(who).or_default();
        *known = steps.max(*known);
    }
}

impl Clocks {
    /// Nothing has happened yet.
    pub fn new(receiving: Receiving) -> Clocks {
        Clocks { receiving, threads: BTreeMap::new(), cells: BTreeMap::new() }
    }

    /// A step of a thread; what comes before it is what the thread has seen.
    pub fn step(&mut self, who: Who) -> Step {
        let thread = self.threads.entry(who).or_default();
        let number = thread.steps;
        thread.steps += 1;
        thread.seen.insert(who, thread.steps);
        (who, number)
    }

    /// Whether an earlier step happens before the next one of a thread.
    pub fn is_seen(&self, (other, number): Step, who: Who) -> bool {
        let seen = self.threads.get(&who).and_then(|thread| thread.seen.get(&other));
        seen.is_some_and(|&steps| number < steps)
    }

    /// All threads of a block meet. Those that have done nothing yet are told by their number.
    pub fn barrier(&mut self, block: u32, threads: u32) {
        let (mut seen, mut fenced, mut handed) = (Clock::new(), Clock::new(), Clock::new());
        for (_, thread) in self.threads.range((block, 0)..=(block, u32::MAX)) {
            join(&mut seen, &thread.seen);
            join(&mut fenced, &thread.fenced);
            join(&mut handed, &thread.handed_fenced);
        }
        for number in 0..threads {
            let thread = self.threads.entry((block, number)).or_default();
            join(&mut thread.seen, &seen);
            join(&mut thread.fenced, &fenced);
            join(&mut thread.handed_fenced, &handed);
        }
    }

    /// All threads of the grid meet.
    pub fn grid_barrier(&mut self, blocks: u32, threads: u32) {
        let mut seen = Clock::new();
        self.threads.values().for_each(|thread| join(&mut seen, &thread.seen));
        for who in (0..blocks).flat_map(|block| (0..threads).map(move |number| (block, number))) {
            join(&mut self.threads.entry(who).or_default().seen, &seen);
        }
    }

    /// A fence.
    pub fn fence(&mut self, who: Who, order: MemoryOrder, scope: SyncScope) {
        let thread = self.threads.entry(who).or_default();
        for (at, level) in [Level::Block, Level::Grid].into_iter().enumerate() {
            if fences::receives(order, scope, level) {
                let handed = thread.handed[at].clone();
                join(&mut thread.seen, &handed);
            }
        }
        let is_common = fences::publishes_over_a_barrier(order, scope, Level::Grid);
        if is_common {
            let handed = thread.handed_fenced.clone();
            join(&mut thread.seen, &handed);
        }
        for (at, level) in [Level::Block, Level::Grid].into_iter().enumerate() {
            if fences::publishes(order, scope, level) {
                thread.published[at] = thread.seen.clone();
            }
        }
        if is_common {
            thread.fenced = thread.seen.clone();
        }
    }

    /// An atomic on a cell; it is a step of its own, which is told before.
    pub fn atomic(&mut self, who: Who, cell: (usize, i64), touch: Touch, order: MemoryOrder, scope: SyncScope) {
        let thread = self.threads.entry(who).or_default();
        let found = self.cells.get(&cell).cloned().unwrap_or_default();
        let to_all = fences::reaches(scope, Level::Grid);
        let from_block = found.block == who.0 && fences::reaches(scope, Level::Block);
        if touch != Touch::Store {
            for (at, message) in [(0, from_block.then_some(&found.to_block)), (1, to_all.then_some(&found.to_all))] {
                let Some(message) = message else { continue };
                join(&mut thread.handed[at], message);
                if fences::acquires(order) || self.receiving == Receiving::Always {
                    join(&mut thread.seen, message);
                }
            }
            if to_all {
                join(&mut thread.handed_fenced, &found.fenced);
                if self.receiving == Receiving::Always {
                    join(&mut thread.seen, &found.fenced);
                }
            }
        }
        if touch == Touch::Load {
            return;
        }
        // A read-modify-write goes on with what it found, if it reaches whom that was for.
        let mut message = if touch == Touch::Update && to_all { found } else { Message::default() };
        if message.block != who.0 {
            (message.block, message.to_block) = (who.0, Clock::new());
        }
        let of_block = if fences::releases(order) { &thread.seen } else { &thread.published[0] };
        if fences::reaches(scope, Level::Block) {
            join(&mut message.to_block, of_block);
        }
        if to_all {
            join(&mut message.to_all, if fences::releases(order) { &thread.seen } else { &thread.published[1] });
            join(&mut message.fenced, &thread.fenced);
        }
        self.cells.insert(cell, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MemoryOrder::{Acquire, AcquireRelease, Relaxed, Release, SequentiallyConsistent};

    const DEVICE: SyncScope = SyncScope::Grid;
    const BLOCK: SyncScope = SyncScope::Block;
    const COUNT: (usize, i64) = (0, 0);

    type Ordering = Option<(MemoryOrder, SyncScope)>;

    /// Whether block 1 sees what block 0 did: a step, a fence, a draw; then a draw and a fence.
    fn is_handed_over(publish: Ordering, (order, scope): (MemoryOrder, SyncScope), receive: Ordering) -> bool {
        let mut clocks = Clocks::new(Receiving::InOrder);
        let (one, other) = ((0, 0), (1, 0));
        let step = clocks.step(one);
        if let Some((order, scope)) = publish {
            clocks.fence(one, order, scope);
        }
        for who in [one, other] {
            clocks.step(who);
            clocks.atomic(who, COUNT, Touch::Update, order, scope);
        }
        if let Some((order, scope)) = receive {
            clocks.fence(other, order, scope);
        }
        clocks.is_seen(step, other)
    }

    #[test]
    fn fences_hand_over_as_the_litmus_table_says() {
        let draw = (Relaxed, DEVICE);
        let device = Some((SequentiallyConsistent, DEVICE));
        assert!(is_handed_over(device, draw, device));
        assert!(is_handed_over(Some((Release, DEVICE)), draw, Some((Acquire, DEVICE))));
        assert!(is_handed_over(None, (AcquireRelease, DEVICE), None));
        assert!(!is_handed_over(None, draw, device));
        assert!(!is_handed_over(device, draw, None));
        assert!(!is_handed_over(Some((SequentiallyConsistent, BLOCK)), draw, device));
        assert!(!is_handed_over(device, (Relaxed, BLOCK), device));
        assert!(!is_handed_over(None, (AcquireRelease, BLOCK), None));
    }

    /// The same; another thread of block 0 makes the step, and perhaps a fence, before a barrier.
    fn over_a_barrier(first: Ordering, second: Ordering, receive: (MemoryOrder, SyncScope)) -> bool {
        let mut clocks = Clocks::new(Receiving::InOrder);
        let (one, drawer, other) = ((0, 1), (0, 0), (1, 0));
        let step = clocks.step(one);
        if let Some((order, scope)) = first {
            clocks.fence(one, order, scope);
        }
        clocks.barrier(0, 2);
        if let Some((order, scope)) = second {
            clocks.fence(drawer, order, scope);
        }
        clocks.atomic(drawer, COUNT, Touch::Update, Relaxed, DEVICE);
        clocks.atomic(other, COUNT, Touch::Update, Relaxed, DEVICE);
        clocks.fence(other, receive.0, receive.1);
        clocks.is_seen(step, other)
    }

    #[test]
    fn fences_are_cumulative_over_barriers() {
        let (device, plain) = ((SequentiallyConsistent, DEVICE), (AcquireRelease, DEVICE));
        assert!(over_a_barrier(None, Some(plain), plain));
        assert!(over_a_barrier(Some(device), None, device));
        assert!(!over_a_barrier(None, None, device));
        assert!(!over_a_barrier(Some(plain), None, plain));
        assert!(!over_a_barrier(Some(device), None, plain));
    }

    #[test]
    fn another_thread_receives_after_a_barrier_in_the_common_order_only() {
        for (order, answer) in [(SequentiallyConsistent, true), (AcquireRelease, false)] {
            let mut clocks = Clocks::new(Receiving::InOrder);
            let step = clocks.step((0, 0));
            clocks.fence((0, 0), order, DEVICE);
            clocks.atomic((0, 0), COUNT, Touch::Update, Relaxed, DEVICE);
            clocks.atomic((1, 0), COUNT, Touch::Update, Relaxed, DEVICE);
            clocks.barrier(1, 2);
            clocks.fence((1, 1), order, DEVICE);
            assert_eq!(clocks.is_seen(step, (1, 1)), answer, "{order:?}");
        }
    }

    #[test]
    fn a_store_breaks_the_chain() {
        let mut clocks = Clocks::new(Receiving::InOrder);
        let step = clocks.step((0, 0));
        clocks.atomic((0, 0), COUNT, Touch::Update, Release, DEVICE);
        clocks.atomic((1, 0), COUNT, Touch::Store, Relaxed, DEVICE);
        clocks.atomic((2, 0), COUNT, Touch::Update, Acquire, DEVICE);
        assert!(!clocks.is_seen(step, (2, 0)));
        let step = clocks.step((0, 0));
        clocks.atomic((0, 0), COUNT, Touch::Update, Release, DEVICE);
        clocks.atomic((1, 0), COUNT, Touch::Update, Relaxed, DEVICE);
        clocks.atomic((2, 0), COUNT, Touch::Load, Acquire, DEVICE);
        assert!(clocks.is_seen(step, (2, 0)) && !clocks.is_seen(step, (1, 0)));
    }
}
