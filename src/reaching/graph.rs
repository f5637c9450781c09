//! The paths of one thread through a protocol, from access to access, with the barriers on them.
//!
//! A path takes each arm of a branch and goes round loops as often as it likes: what decides is not looked at. It skips a loop
//! unless constants say that there is a first turn.

use super::turns;
use crate::calculus::{SyncMemory, SyncScope};
use crate::protocol::{AccessId, Node, Protocol, SyncId};
use std::collections::{BTreeMap, BTreeSet};

/// Which barriers a path has passed that order the memory in question: of a warp, of a block, of more than a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Passed {
    pub(super) warp: bool,
    pub(super) block: bool,
    pub(super) grid: bool,
}

impl Passed {
    fn and(self, other: Passed) -> Passed {
        Passed { warp: self.warp || other.warp, block: self.block || other.block, grid: self.grid || other.grid }
    }
}

#[derive(Clone, Copy)]
enum Step {
    Access(AccessId),
    Sync(SyncId),
    /// Where arms meet, where loops begin, and the ends of the kernel.
    Joint,
}

/// The paths.
pub(super) struct Graph {
    places: Vec<Step>,
    next: Vec<Vec<usize>>,
    at: BTreeMap<AccessId, usize>,
    syncs: BTreeMap<SyncId, (SyncScope, SyncMemory)>,
    end: usize,
}

const START: usize = 0;

impl Graph {
    pub(super) fn of(protocol: &Protocol) -> Graph {
        let syncs = protocol.syncs.iter().map(|(id, sync)| (id, (sync.scope, sync.memory))).collect();
        let mut graph = Graph { places: Vec::new(), next: Vec::new(), at: BTreeMap::new(), syncs, end: 0 };
        let start = graph.add(Step::Joint, None);
        let last = graph.block(protocol, &protocol.body, start);
        graph.end = graph.add(Step::Joint, Some(last));
        graph
    }

    fn add(&mut self, place: Step, behind: Option<usize>) -> usize {
        let number = self.places.len();
        self.places.push(place);
        self.next.push(Vec::new());
        if let Some(behind) = behind {
            self.next[behind].push(number);
        }
        if let Step::Access(id) = place {
            self.at.insert(id, number);
        }
        number
    }

    /// Adds statements behind a place; gives the last one.
    fn block(&mut self, protocol: &Protocol, nodes: &[Node], mut last: usize) -> usize {
        for node in nodes {
            last = match node {
                Node::Access(id) => self.add(Step::Access(*id), Some(last)),
                Node::Sync(id) => self.add(Step::Sync(*id), Some(last)),
                Node::Fence(_) => last,
                Node::If { then, otherwise, .. } => {
                    let ends = [self.block(protocol, then, last), self.block(protocol, otherwise, last)];
                    let joint = self.add(Step::Joint, None);
                    ends.into_iter().for_each(|end| self.next[end].push(joint));
                    joint
                }
                Node::Loop(id, body) => {
                    let head = self.add(Step::Joint, Some(last));
                    let end = self.block(protocol, body, head);
                    self.next[end].push(head);
                    if turns::is_certain(protocol, *id) { end } else { head }
                }
            };
        }
        last
    }

    /// What is passed on the paths from behind an access to another one, or round to itself, that lead through none of `killers`.
    pub(super) fn paths(
        &self,
        from: AccessId,
        to: AccessId,
        killers: &BTreeSet<AccessId>,
        orders: &dyn Fn(SyncScope, SyncMemory) -> Passed,
    ) -> BTreeSet<Passed> {
        let (Some(&from), Some(&to)) = (self.at.get(&from), self.at.get(&to)) else { return BTreeSet::new() };
        let mut seen: BTreeSet<(usize, Passed)> = BTreeSet::new();
        let mut open: Vec<(usize, Passed)> = self.next[from].iter().map(|&next| (next, Passed::default())).collect();
        let mut found = BTreeSet::new();
        while let Some((at, passed)) = open.pop() {
            if !seen.insert((at, passed)) {
                continue;
            }
            if at == to {
                found.insert(passed);
            }
            let passed = match self.places[at] {
                Step::Access(id) if killers.contains(&id) => continue,
                Step::Sync(id) => {
                    self.syncs.get(&id).map_or(passed, |&(scope, memory)| passed.and(orders(scope, memory)))
                }
                _ => passed,
            };
            open.extend(self.next[at].iter().map(|&next| (next, passed)));
        }
        found
    }

    /// Whether the kernel may end behind an access with none of `killers` between.
    pub(super) fn reaches_end(&self, from: AccessId, killers: &BTreeSet<AccessId>) -> bool {
        self.at.get(&from).is_some_and(|&from| self.leads(&self.next[from], self.end, killers))
    }

    /// Whether an access may come with none of `killers` before.
    pub(super) fn is_reached_from_start(&self, to: AccessId, killers: &BTreeSet<AccessId>) -> bool {
        self.at.get(&to).is_some_and(|&to| self.leads(&[START], to, killers))
    }

    fn leads(&self, from: &[usize], to: usize, killers: &BTreeSet<AccessId>) -> bool {
        let mut seen = vec![false; self.places.len()];
        let mut open = from.to_vec();
        while let Some(at) = open.pop() {
            if at == to {
                return true;
            }
            let is_killer = matches!(self.places[at], Step::Access(id) if killers.contains(&id));
            if !std::mem::replace(&mut seen[at], true) && !is_killer {
                open.extend(&self.next[at]);
            }
        }
        false
    }
}
