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
//! memory at hand.

pub use super::seen::{Moment, Seen, Who};
use super::{Level, fences};
use crate::calculus::{MemoryOrder, SyncScope};
use std::collections::BTreeMap;

/// A place in the run: the thread and when it came there.
pub type Step = (Who, Moment);

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

/// What a thread knows. What it did itself is added where it hands something on.
#[derive(Clone, Default)]
struct Thread {
    steps: u32,
    /// What happens before its next step, but its own.
    seen: Seen,
    /// What it has published by fences, to its block and to all.
    published: [Seen; 2],
    /// What stood before sequentially consistent fences that happen before.
    fenced: Seen,
    /// What atomics were handed and a fence has yet to receive: by blocks and by all.
    handed: [Seen; 2],
    /// The same, of what stood before sequentially consistent fences.
    handed_fenced: Seen,
}

/// What all threads of a block know since their last barrier.
#[derive(Clone, Default)]
struct Block {
    phase: u32,
    seen: Seen,
    fenced: Seen,
    handed_fenced: Seen,
}

/// What a cell hands on.
#[derive(Clone, Default)]
struct Message {
    /// The block whose threads wrote for their block only.
    block: u32,
    to_block: Seen,
    to_all: Seen,
    fenced: Seen,
}

/// The clocks of a run. `Cell` names what atomics touch.
pub struct Clocks<Cell = (usize, i64)> {
    receiving: Receiving,
    blocks: BTreeMap<u32, Block>,
    /// Those that have done something.
    threads: BTreeMap<Who, Thread>,
    cells: BTreeMap<Cell, Message>,
}

impl<Cell: Ord> Clocks<Cell> {
    /// Nothing has happened yet.
    pub fn new(receiving: Receiving) -> Self {
        Clocks { receiving, blocks: BTreeMap::new(), threads: BTreeMap::new(), cells: BTreeMap::new() }
    }

    /// A thread, and the moment at which it is.
    fn thread(&mut self, who: Who) -> (&mut Thread, Moment) {
        let block = self.blocks.get(&who.0);
        let thread = self.threads.entry(who).or_insert_with(|| {
            let known = block.cloned().unwrap_or_default();
            let Block { seen, fenced, handed_fenced, .. } = known;
            Thread { seen, fenced, handed_fenced, ..Thread::default() }
        });
        let moment = Moment { phase: block.map_or(0, |block| block.phase), steps: thread.steps };
        (thread, moment)
    }

    /// A step of a thread; what comes before it is what the thread has seen.
    pub fn step(&mut self, who: Who) -> Step {
        let (thread, moment) = self.thread(who);
        thread.steps += 1;
        (who, moment)
    }

    /// Whether an earlier step happens before the next one of a thread.
    pub fn is_seen(&self, (other, moment): Step, who: Who) -> bool {
        other == who || self.seen_by(who).is_some_and(|seen| seen.has(other, moment))
    }

    /// What happens before the next step of a thread, but its own steps; nothing of threads and blocks without any.
    pub fn seen_by(&self, who: Who) -> Option<&Seen> {
        let of_block = || self.blocks.get(&who.0).map(|block| &block.seen);
        self.threads.get(&who).map(|thread| &thread.seen).or_else(of_block)
    }

    /// What all threads of a block have seen at its last barrier, and how many barriers there were.
    pub fn seen_by_block(&self, block: u32) -> Option<(u32, &Seen)> {
        self.blocks.get(&block).map(|block| (block.phase, &block.seen))
    }

    /// All threads of a block meet.
    pub fn barrier(&mut self, block: u32) {
        let known = self.blocks.entry(block).or_default();
        known.phase += 1;
        let threads = (block, 0)..=(block, u32::MAX);
        for (_, thread) in self.threads.range(threads.clone()) {
            known.seen.join(&thread.seen);
            known.fenced.join(&thread.fenced);
            known.handed_fenced.join(&thread.handed_fenced);
        }
        known.seen.add_phase(block, known.phase);
        for (_, thread) in self.threads.range_mut(threads) {
            thread.seen.clone_from(&known.seen);
            thread.fenced.clone_from(&known.fenced);
            thread.handed_fenced.clone_from(&known.handed_fenced);
        }
    }

    /// Some threads of a block meet; it is a step of each of them, which is told before.
    pub fn meeting(&mut self, who: &[Who]) {
        let (mut seen, mut fenced, mut handed) = (Seen::default(), Seen::default(), Seen::default());
        for &one in who {
            let (thread, moment) = self.thread(one);
            seen.join(&thread.seen);
            seen.add(one, moment);
            fenced.join(&thread.fenced);
            handed.join(&thread.handed_fenced);
        }
        for &one in who {
            let (thread, _) = self.thread(one);
            thread.seen.join(&seen);
            thread.fenced.join(&fenced);
            thread.handed_fenced.join(&handed);
        }
    }

    /// All threads of the grid meet.
    pub fn grid_barrier(&mut self, blocks: u32) {
        let mut seen = Seen::default();
        for block in 0..blocks {
            self.barrier(block);
            if let Some(block) = self.blocks.get(&block) {
                seen.join(&block.seen);
            }
        }
        self.blocks.values_mut().for_each(|block| block.seen.join(&seen));
        self.threads.values_mut().for_each(|thread| thread.seen.join(&seen));
    }

    /// A fence.
    pub fn fence(&mut self, who: Who, order: MemoryOrder, scope: SyncScope) {
        let (thread, moment) = self.thread(who);
        for (at, level) in [Level::Block, Level::Grid].into_iter().enumerate() {
            if fences::receives(order, scope, level) {
                thread.seen.join(&thread.handed[at]);
            }
        }
        let is_common = fences::publishes_over_a_barrier(order, scope, Level::Grid);
        if is_common {
            thread.seen.join(&thread.handed_fenced);
        }
        let mut known = thread.seen.clone();
        known.add(who, moment);
        for (at, level) in [Level::Block, Level::Grid].into_iter().enumerate() {
            if fences::publishes(order, scope, level) {
                thread.published[at].clone_from(&known);
            }
        }
        if is_common {
            thread.fenced = known;
        }
    }

    /// An atomic on a cell; it is a step of its own, which is told before.
    pub fn atomic(&mut self, who: Who, cell: Cell, touch: Touch, order: MemoryOrder, scope: SyncScope) {
        let receiving = self.receiving;
        let found = self.cells.get(&cell).cloned().unwrap_or_default();
        let (thread, moment) = self.thread(who);
        let to_all = fences::reaches(scope, Level::Grid);
        let from_block = found.block == who.0 && fences::reaches(scope, Level::Block);
        if touch != Touch::Store {
            for (at, message) in [(0, from_block.then_some(&found.to_block)), (1, to_all.then_some(&found.to_all))] {
                let Some(message) = message else { continue };
                thread.handed[at].join(message);
                if fences::acquires(order) || receiving == Receiving::Always {
                    thread.seen.join(message);
                }
            }
            if to_all {
                thread.handed_fenced.join(&found.fenced);
                if receiving == Receiving::Always {
                    thread.seen.join(&found.fenced);
                }
            }
        }
        if touch == Touch::Load {
            return;
        }
        let mut known = thread.seen.clone();
        known.add(who, moment);
        // A read-modify-write goes on with what it found, if it reaches whom that was for.
        let mut message = match touch {
            Touch::Update if to_all => found,
            Touch::Update if from_block => {
                Message { block: found.block, to_block: found.to_block, ..Message::default() }
            }
            _ => Message::default(),
        };
        if message.block != who.0 {
            (message.block, message.to_block) = (who.0, Seen::default());
        }
        if fences::reaches(scope, Level::Block) {
            message.to_block.join(if fences::releases(order) { &known } else { &thread.published[0] });
        }
        if to_all {
            message.to_all.join(if fences::releases(order) { &known } else { &thread.published[1] });
            message.fenced.join(&thread.fenced);
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
        let mut clocks = Clocks::<(usize, i64)>::new(Receiving::InOrder);
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
        let mut clocks = Clocks::<(usize, i64)>::new(Receiving::InOrder);
        let (one, drawer, other) = ((0, 1), (0, 0), (1, 0));
        let step = clocks.step(one);
        if let Some((order, scope)) = first {
            clocks.fence(one, order, scope);
        }
        clocks.barrier(0);
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
            let mut clocks = Clocks::<(usize, i64)>::new(Receiving::InOrder);
            let step = clocks.step((0, 0));
            clocks.fence((0, 0), order, DEVICE);
            clocks.atomic((0, 0), COUNT, Touch::Update, Relaxed, DEVICE);
            clocks.atomic((1, 0), COUNT, Touch::Update, Relaxed, DEVICE);
            clocks.barrier(1);
            clocks.fence((1, 1), order, DEVICE);
            assert_eq!(clocks.is_seen(step, (1, 1)), answer, "{order:?}");
        }
    }

    #[test]
    fn updates_of_a_block_go_on_with_what_their_block_published() {
        let mut clocks = Clocks::<(usize, i64)>::new(Receiving::InOrder);
        let step = clocks.step((0, 0));
        clocks.atomic((0, 0), COUNT, Touch::Update, Release, BLOCK);
        clocks.atomic((0, 1), COUNT, Touch::Update, Relaxed, BLOCK);
        clocks.atomic((0, 2), COUNT, Touch::Load, Acquire, BLOCK);
        clocks.atomic((1, 2), COUNT, Touch::Load, Acquire, DEVICE);
        assert!(clocks.is_seen(step, (0, 2)) && !clocks.is_seen(step, (1, 2)));
        // What another block writes for itself says nothing to this one.
        clocks.atomic((1, 2), COUNT, Touch::Update, Release, BLOCK);
        clocks.atomic((0, 3), COUNT, Touch::Load, Acquire, BLOCK);
        assert!(!clocks.is_seen(step, (0, 3)));
    }

    #[test]
    fn who_meets_knows_what_the_others_know() {
        let mut clocks = Clocks::<(usize, i64)>::new(Receiving::InOrder);
        let (one, other, third) = ((0, 0), (0, 1), (0, 2));
        let step = clocks.step(one);
        for who in [one, other] {
            clocks.step(who);
        }
        clocks.meeting(&[one, other]);
        assert!(clocks.is_seen(step, other) && !clocks.is_seen(step, third));
        clocks.step(other);
        clocks.atomic(other, COUNT, Touch::Update, Release, DEVICE);
        clocks.step((1, 0));
        clocks.atomic((1, 0), COUNT, Touch::Update, Acquire, DEVICE);
        assert!(clocks.is_seen(step, (1, 0)));
    }

    #[test]
    fn a_store_breaks_the_chain() {
        let mut clocks = Clocks::<(usize, i64)>::new(Receiving::InOrder);
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
