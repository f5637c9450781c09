//! What is known of the steps of the threads of a run: a clock that shares its parts with those that it came from.
//!
//! A moment of a thread is the number of barriers that its block has passed and the number of its own steps before. A clock
//! says up to which moment it knows each thread: for a block, up to a barrier; for single threads, further.
//!
//! Clocks are values: copying one costs nothing, joining two costs what differs between them, so that a run may keep a
//! clock for every time at which a thread learned something.

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

/// What is known of one block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct OfBlock {
    /// What all its threads did before this phase is known.
    phase: u32,
    /// Threads of which more is known, sorted: what comes before these moments. All are later than `phase` begins.
    threads: Vec<(u32, Moment)>,
}

/// A tree of blocks by the bits of their numbers; levels at which there is nothing to decide are left out.
#[derive(Debug, PartialEq, Eq)]
enum Node {
    /// Blocks that agree in all bits from `shift + BITS` on, by the bits from `shift` on; two children at least, sorted.
    Inner {
        shift: u32,
        block: u32,
        children: Vec<(u8, Arc<Node>)>,
    },
    Leaf(u32, OfBlock),
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
        for &(thread, moment) in &other.threads {
            match threads.binary_search_by_key(&thread, |(thread, _)| *thread) {
                Ok(at) => threads[at].1 = moment.max(threads[at].1),
                Err(at) => threads.insert(at, (thread, moment)),
            }
        }
        threads.retain(|(_, moment)| *moment > Moment { phase, steps: 0 });
        OfBlock { phase, threads }
    }
}

/// The bits of a block's number at a level.
fn slot(block: u32, shift: u32) -> u8 {
    (block >> shift & ((1 << BITS) - 1)) as u8
}

impl Node {
    /// One of its blocks.
    fn block(&self) -> u32 {
        match self {
            Node::Inner { block, .. } | Node::Leaf(block, _) => *block,
        }
    }

    /// Whether a block has its place at this node or below.
    fn covers(&self, other: u32) -> bool {
        match self {
            Node::Inner { shift, block, .. } => u64::from(block ^ other) >> (shift + BITS) == 0,
            Node::Leaf(block, _) => *block == other,
        }
    }
}

/// Both; one of them itself if it holds the other.
fn joined(one: &Arc<Node>, other: &Arc<Node>) -> Arc<Node> {
    if Arc::ptr_eq(one, other) {
        return Arc::clone(one);
    }
    match (&**one, &**other) {
        (Node::Leaf(block, first), Node::Leaf(same, second)) if block == same => match first.joined(second) {
            both if both == *first => Arc::clone(one),
            both if both == *second => Arc::clone(other),
            both => Arc::new(Node::Leaf(*block, both)),
        },
        (Node::Inner { shift, block, children: first }, Node::Inner { shift: same, children: second, .. })
            if shift == same && one.covers(other.block()) =>
        {
            let mut children = first.clone();
            second.iter().for_each(|(at, node)| enter(&mut children, *at, node));
            let is_same = |before: &[(u8, Arc<Node>)]| {
                before.len() == children.len()
                    && before.iter().zip(&children).all(|(one, both)| Arc::ptr_eq(&one.1, &both.1))
            };
            if is_same(first) {
                Arc::clone(one)
            } else if is_same(second) {
                Arc::clone(other)
            } else {
                Arc::new(Node::Inner { shift: *shift, block: *block, children })
            }
        }
        (Node::Inner { shift, block, children }, _) if one.covers(other.block()) && is_below(other, *shift) => {
            below(one, (*shift, *block, children), other)
        }
        (_, Node::Inner { shift, block, children }) if other.covers(one.block()) && is_below(one, *shift) => {
            below(other, (*shift, *block, children), one)
        }
        _ => {
            let (block, apart) = (one.block(), one.block() ^ other.block());
            let shift = apart.ilog2() / BITS * BITS;
            let mut children = vec![(slot(block, shift), Arc::clone(one))];
            enter(&mut children, slot(other.block(), shift), other);
            Arc::new(Node::Inner { shift, block, children })
        }
    }
}

/// Whether a node decides later bits.
fn is_below(node: &Node, level: u32) -> bool {
    match node {
        Node::Inner { shift, .. } => *shift < level,
        Node::Leaf(..) => true,
    }
}

/// A tree with one more below its children.
fn below(whole: &Arc<Node>, (shift, block, children): (u32, u32, &[(u8, Arc<Node>)]), more: &Arc<Node>) -> Arc<Node> {
    let at = slot(more.block(), shift);
    let mut all = children.to_vec();
    enter(&mut all, at, more);
    let is_same =
        all.len() == children.len() && all.iter().zip(children).all(|(one, other)| Arc::ptr_eq(&one.1, &other.1));
    if is_same { Arc::clone(whole) } else { Arc::new(Node::Inner { shift, block, children: all }) }
}

fn enter(children: &mut Vec<(u8, Arc<Node>)>, at: u8, node: &Arc<Node>) {
    match children.binary_search_by_key(&at, |(at, _)| *at) {
        Ok(known) => children[known].1 = joined(&children[known].1, node),
        Err(place) => children.insert(place, (at, Arc::clone(node))),
    }
}

impl Seen {
    /// Whether a step that begins at this moment is known.
    pub fn has(&self, (block, thread): Who, moment: Moment) -> bool {
        let Some(of_block) = self.find(block) else { return false };
        let known = of_block.threads.binary_search_by_key(&thread, |(thread, _)| *thread);
        moment.phase < of_block.phase || known.is_ok_and(|at| moment < of_block.threads[at].1)
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
            let threads = vec![(thread, moment)];
            self.join(&Seen { root: Some(Arc::new(Node::Leaf(block, OfBlock { phase: 0, threads }))) });
        }
    }

    /// Knows what all threads of a block did before a phase, too.
    pub fn add_phase(&mut self, block: u32, phase: u32) {
        self.join(&Seen { root: Some(Arc::new(Node::Leaf(block, OfBlock { phase, threads: Vec::new() }))) });
    }

    fn find(&self, block: u32) -> Option<&OfBlock> {
        let mut node = self.root.as_deref()?;
        loop {
            match node {
                Node::Leaf(at, leaf) => return (*at == block).then_some(leaf),
                Node::Inner { shift, children, .. } => {
                    let slot = slot(block, *shift);
                    let at = children.binary_search_by_key(&slot, |(at, _)| *at).ok()?;
                    node = &children[at].1;
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
