//! What is known of the steps of the threads of a run: a clock that shares its parts with those that it came from.
//!
//! A moment of a thread is the number of barriers that its block has passed and the number of its own steps before. A clock
//! says up to which moment it knows each thread: for a block, up to a barrier; for single threads, further.
//!
//! Clocks are values: copying one costs nothing, joining two costs what differs between them, so that a run may keep a
//! clock for every time at which a thread learned something.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A thread: its block, and its number there.
pub type Who = (u32, u32);

/// A place in what a thread does: the barriers of the block and the steps of the thread before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Moment {
    /// Barriers of the block before.
    pub phase: u32,
    /// Steps of the thread before; they are counted on over barriers.
    pub steps: u32,
}

/// Bits of a block's number that one level of the tree decides.
const BITS: u32 = 4;
/// Shift of the first level.
const TOP: u32 = u32::BITS - BITS;

/// What is known of one block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct OfBlock {
    /// What all its threads did before this phase is known.
    phase: u32,
    /// Threads of which more is known: what comes before these moments. All of them are later than `phase` begins.
    threads: BTreeMap<u32, Moment>,
}

#[derive(Debug, PartialEq, Eq)]
enum Node {
    /// By the next bits of the block's number, sorted.
    Inner(Vec<(u8, Arc<Node>)>),
    Leaf(OfBlock),
}

/// How much is known of each thread.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    root: Option<Arc<Node>>,
}

impl OfBlock {
    fn joined(&self, other: &OfBlock) -> OfBlock {
        let phase = self.phase.max(other.phase);
        let mut threads = self.threads.clone();
        for (&thread, &moment) in &other.threads {
            let known = threads.entry(thread).or_default();
            *known = moment.max(*known);
        }
        threads.retain(|_, moment| *moment > Moment { phase, steps: 0 });
        OfBlock { phase, threads }
    }
}

/// A tree that holds one block, from a level down.
fn path(block: u32, leaf: OfBlock, shift: u32) -> Arc<Node> {
    let slot = (block >> shift & ((1 << BITS) - 1)) as u8;
    let below = if shift == 0 { Arc::new(Node::Leaf(leaf)) } else { path(block, leaf, shift - BITS) };
    Arc::new(Node::Inner(vec![(slot, below)]))
}

/// Both; one of them itself if it holds the other.
fn joined(one: &Arc<Node>, other: &Arc<Node>) -> Arc<Node> {
    if Arc::ptr_eq(one, other) {
        return Arc::clone(one);
    }
    match (&**one, &**other) {
        (Node::Leaf(first), Node::Leaf(second)) => match first.joined(second) {
            both if both == *first => Arc::clone(one),
            both if both == *second => Arc::clone(other),
            both => Arc::new(Node::Leaf(both)),
        },
        (Node::Inner(first), Node::Inner(second)) => {
            let both = children(first, second);
            let is_same = |children: &[(u8, Arc<Node>)]| {
                children.len() == both.len()
                    && children.iter().zip(&both).all(|(one, both)| Arc::ptr_eq(&one.1, &both.1))
            };
            if is_same(first) {
                Arc::clone(one)
            } else if is_same(second) {
                Arc::clone(other)
            } else {
                Arc::new(Node::Inner(both))
            }
        }
        // Both trees are equally deep.
        _ => Arc::clone(one),
    }
}

fn children(first: &[(u8, Arc<Node>)], second: &[(u8, Arc<Node>)]) -> Vec<(u8, Arc<Node>)> {
    let mut both = first.to_vec();
    for (slot, node) in second {
        match both.binary_search_by_key(slot, |(at, _)| *at) {
            Ok(at) => both[at].1 = joined(&both[at].1, node),
            Err(at) => both.insert(at, (*slot, Arc::clone(node))),
        }
    }
    both
}

impl Seen {
    /// Whether a step that begins at this moment is known.
    pub fn has(&self, (block, thread): Who, moment: Moment) -> bool {
        let Some(of_block) = self.find(block) else { return false };
        moment.phase < of_block.phase || of_block.threads.get(&thread).is_some_and(|&known| moment < known)
    }

    /// Whether nothing was learned since the other, from which this one came.
    pub fn is_same(&self, other: &Seen) -> bool {
        match (&self.root, &other.root) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }

    /// Knows what the other knows, too.
    pub fn join(&mut self, other: &Seen) {
        self.root = match (&self.root, &other.root) {
            (Some(one), Some(other)) => Some(joined(one, other)),
            (one, other) => one.clone().or_else(|| other.clone()),
        };
    }

    /// Knows what a thread did before a moment, too.
    pub fn add(&mut self, (block, thread): Who, moment: Moment) {
        if moment.phase > 0 || moment.steps > 0 {
            let threads = BTreeMap::from([(thread, moment)]);
            self.join(&Seen { root: Some(path(block, OfBlock { phase: 0, threads }, TOP)) });
        }
    }

    /// Knows what all threads of a block did before a phase, too.
    pub fn add_phase(&mut self, block: u32, phase: u32) {
        self.join(&Seen { root: Some(path(block, OfBlock { phase, threads: BTreeMap::new() }, TOP)) });
    }

    fn find(&self, block: u32) -> Option<&OfBlock> {
        let (mut node, mut shift) = (self.root.as_deref()?, TOP + BITS);
        loop {
            match node {
                Node::Leaf(leaf) => return Some(leaf),
                Node::Inner(children) => {
                    shift -= BITS;
                    let slot = (block >> shift & ((1 << BITS) - 1)) as u8;
                    node = &*children.iter().find(|(at, _)| *at == slot)?.1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(phase: u32, steps: u32) -> Moment {
        Moment { phase, steps }
    }

    #[test]
    fn a_barrier_says_more_than_the_steps_before_it() {
        let mut seen = Seen::default();
        seen.add((3, 1), at(0, 4));
        assert!(seen.has((3, 1), at(0, 3)) && !seen.has((3, 1), at(0, 4)) && !seen.has((3, 2), at(0, 0)));
        seen.add_phase(3, 1);
        assert!(seen.has((3, 2), at(0, 9)) && !seen.has((3, 1), at(1, 4)));
        assert!(!seen.has((4, 1), at(0, 0)));
    }

    #[test]
    fn who_knows_it_all_stays_the_same() {
        let mut one = Seen::default();
        one.add((70_000, 1), at(0, 4));
        let mut other = one.clone();
        other.add((5, 1), at(2, 9));
        let before = other.clone();
        other.join(&one);
        assert!(other.is_same(&before) && !other.is_same(&one));
        one.join(&other);
        assert!(one.is_same(&other));
    }

    type Told = Vec<(u32, u32, u32, u32)>;

    fn told() -> impl Strategy<Value = Told> {
        let block = prop_oneof![0..4u32, Just(16u32), Just(70_000)];
        prop::collection::vec((block, 0..3u32, 0..3u32, 0..4u32), 0..8)
    }

    fn of(told: &Told) -> Seen {
        let mut seen = Seen::default();
        told.iter().for_each(|&(block, thread, phase, steps)| match thread {
            0 => seen.add_phase(block, phase),
            _ => seen.add((block, thread), at(phase, steps)),
        });
        seen
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_join_knows_what_either_knows(one in told(), other in told(), asked in told()) {
            let (first, second) = (of(&one), of(&other));
            let mut both = first.clone();
            both.join(&second);
            for (block, thread, phase, steps) in asked {
                let asked = ((block, thread), at(phase, steps));
                let either = first.has(asked.0, asked.1) || second.has(asked.0, asked.1);
                prop_assert_eq!(both.has(asked.0, asked.1), either);
            }
        }
    }
}
