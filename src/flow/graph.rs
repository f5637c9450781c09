//! The graph of values, and what can be reached in it.
//!
//! A node points at what it is computed from. [`Graph::reach`] walks from the sinks to the sources, breadth
//! first and in the order of the program, so that chains are shortest and equal for equal kernels.

use super::{Decides, Reached, Sink, Source, Step, StepKind};
use crate::arena::{Arena, Handle};
use crate::calculus::{ArrayId, ExprId, Kernel, SiteId, VarId};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Handle of a node.
pub(super) type NodeId = Handle<Node>;

/// What a node stands for.
#[derive(Clone, Debug)]
pub(super) enum NodeKind {
    /// An input.
    Source(Source),
    /// `let var = value`
    Assigned(VarId, ExprId),
    /// The value that a read found.
    Read(ArrayId, SiteId),
    /// The value that an atomic found.
    Atomic(ArrayId, SiteId),
    /// What a write stores, where, and whether it happens.
    Write(ArrayId, SiteId),
    /// All that is written to an array.
    Written,
    /// A condition of a branch.
    Condition(ExprId),
    /// The test of a loop.
    LoopTest(SiteId),
    /// The value at the start of a turn of a loop.
    Turn,
    /// One of several definitions; a condition says which.
    Joined,
}

impl NodeKind {
    /// The array that the value was read from.
    fn reads(&self) -> Option<ArrayId> {
        match self {
            NodeKind::Read(array, _) | NodeKind::Atomic(array, _) => Some(*array),
            _ => None,
        }
    }
}

/// A node and what it is computed from.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) uses: Vec<NodeId>,
}

/// A sink in the graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct SinkNode {
    pub(super) node: NodeId,
    pub(super) sink: Sink,
    pub(super) decides: Decides,
}

/// What reaches some sinks.
#[derive(Clone, Debug, Default)]
pub(super) struct Reaching {
    /// The sources.
    pub(super) reached: Vec<Reached>,
    /// The arrays that were read on the way, in order.
    pub(super) arrays: Vec<ArrayId>,
}

/// The graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Arena<Node>,
    sources: FxHashMap<Source, NodeId>,
}

impl Graph {
    /// A new node.
    pub(super) fn node(&mut self, kind: NodeKind, uses: Vec<NodeId>) -> NodeId {
        self.nodes.push(Node { kind, uses })
    }

    /// The node of a source.
    pub(super) fn source(&mut self, source: Source) -> NodeId {
        if let Some(&known) = self.sources.get(&source) {
            return known;
        }
        let node = self.node(NodeKind::Source(source.clone()), Vec::new());
        self.sources.insert(source, node);
        node
    }

    /// The sources that reach `sinks`, those of conflicts first.
    pub(super) fn reach(&self, kernel: &Kernel, sinks: &[SinkNode]) -> Reaching {
        let mut walk = Walk { graph: self, kernel, from: vec![None; self.nodes.len()], found: Vec::new() };
        for decides in [Decides::Conflicts, Decides::Reads] {
            walk.start_at(sinks.iter().filter(|sink| sink.decides == decides));
        }
        let mut arrays: Vec<ArrayId> = walk.reached_nodes().filter_map(|node| node.kind.reads()).collect();
        arrays.sort_unstable();
        arrays.dedup();
        Reaching { reached: walk.found, arrays }
    }

    /// The sources that one node depends on.
    pub(super) fn reach_from(&self, kernel: &Kernel, node: NodeId) -> Reaching {
        let sink = Sink::GuardOfSync(SiteId::from_index(0));
        self.reach(kernel, &[SinkNode { node, sink, decides: Decides::Conflicts }])
    }
}

/// How a node was come by: from the node that uses it, or as a sink.
#[derive(Clone, Copy)]
enum Origin<'s> {
    Sink(&'s SinkNode),
    Use(NodeId),
}

struct Walk<'g, 's> {
    graph: &'g Graph,
    kernel: &'g Kernel,
    from: Vec<Option<Origin<'s>>>,
    found: Vec<Reached>,
}

impl<'s> Walk<'_, 's> {
    fn reached_nodes(&self) -> impl Iterator<Item = &Node> {
        self.graph.nodes.iter().filter(|(id, _)| self.from[id.index()].is_some()).map(|(_, node)| node)
    }

    fn start_at(&mut self, sinks: impl Iterator<Item = &'s SinkNode>) {
        let mut queue = VecDeque::new();
        for sink in sinks {
            if self.from[sink.node.index()].is_none() {
                self.from[sink.node.index()] = Some(Origin::Sink(sink));
                queue.push_back(sink.node);
            }
        }
        while let Some(node) = queue.pop_front() {
            if let NodeKind::Source(source) = &self.graph.nodes[node].kind {
                self.found.extend(self.chain(source, node));
            }
            for &used in &self.graph.nodes[node].uses {
                if self.from[used.index()].is_none() {
                    self.from[used.index()] = Some(Origin::Use(node));
                    queue.push_back(used);
                }
            }
        }
    }

    /// The chain from a source that was reached to its sink.
    fn chain(&self, source: &Source, node: NodeId) -> Option<Reached> {
        let mut steps: Vec<Step> = Vec::new();
        let mut at = node;
        loop {
            if let Some(step) = self.step(at)
                && steps.last() != Some(&step)
            {
                steps.push(step);
            }
            match self.from[at.index()]? {
                Origin::Use(user) => at = user,
                Origin::Sink(&SinkNode { sink, decides, .. }) => {
                    return Some(Reached { source: source.clone(), decides, sink, steps });
                }
            }
        }
    }

    fn step(&self, node: NodeId) -> Option<Step> {
        let kernel = self.kernel;
        let at = |site: SiteId| kernel.sites[site].span;
        let (span, kind) = match self.graph.nodes[node].kind {
            NodeKind::Assigned(var, value) => {
                // Made-up names and copies of single values say nothing.
                let name = &kernel.vars[var].name;
                let span = kernel.spans.get(value).copied();
                span?;
                (span, StepKind::Assigned(user_name(name)?.to_owned()))
            }
            NodeKind::Read(array, site) => (at(site), StepKind::Read(array)),
            NodeKind::Atomic(array, site) => (at(site), StepKind::Atomic(array)),
            NodeKind::Write(array, site) => (at(site), StepKind::Written(array)),
            NodeKind::Condition(cond) => (Some(*kernel.spans.get(cond)?), StepKind::Condition),
            NodeKind::LoopTest(site) => (at(site), StepKind::LoopTest),
            NodeKind::Source(_) | NodeKind::Written | NodeKind::Turn | NodeKind::Joined => return None,
        };
        Some(Step { span, kind })
    }
}

/// The part of a variable's name that the user wrote; `None` for a made-up one (`t.3`).
fn user_name(name: &str) -> Option<&str> {
    let name = name.split('#').next().unwrap_or(name);
    let name = name.strip_suffix(".offset").unwrap_or(name);
    let made_up = name.rsplit('.').next().is_some_and(|end| end.chars().all(|c| c.is_ascii_digit()));
    (!made_up && name != "returned").then_some(name)
}
