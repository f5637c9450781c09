//! Loops that wait for another thread: `while (flag[0] == 0);`.
//!
//! Such a loop changes nothing that its test depends on; it reads again and again a location that the kernel
//! writes elsewhere. How often it turns is up to the schedule.
//!
//! Deliberately absent: loops that wait for another kernel or for the host.

use super::build::Walk;
use super::graph::{NodeId, NodeKind};
use crate::calculus::Stmt;
use crate::calculus::statements::every;
use rustc_hash::FxHashSet;

/// Whether the loop with this test, whose nodes are those from number `first` on, waits.
pub(super) fn waits(walk: &Walk<'_>, test: NodeId, first: usize, body: &[Stmt]) -> bool {
    if has_sync(body) {
        return false;
    }
    let nodes = &walk.graph.nodes;
    let is_inner = |node: &NodeId| node.index() >= first && !matches!(nodes[*node].kind, NodeKind::Source(_));
    let mut seen = FxHashSet::default();
    let mut pending = vec![test];
    let mut polls = false;
    while let Some(node) = pending.pop() {
        if !seen.insert(node) {
            continue;
        }
        let uses = &nodes[node].uses;
        match nodes[node].kind {
            // What the loop itself moves: a counter, a pointer that is followed.
            NodeKind::Assigned(..) if uses.iter().any(|used| matches!(nodes[*used].kind, NodeKind::Turn)) => {
                return false;
            }
            NodeKind::Read(array, _) => {
                let is_fixed = !uses.iter().any(is_inner);
                let own = (first..nodes.len()).map(NodeId::from_index);
                let is_own =
                    own.into_iter().any(|node| matches!(nodes[node].kind, NodeKind::Write(to, _) if to == array));
                if !is_fixed || is_own {
                    return false;
                }
                polls |= walk.writers.contains(&array);
            }
            _ => {}
        }
        pending.extend(uses.iter().copied().filter(|used| is_inner(used)));
    }
    polls
}

fn has_sync(body: &[Stmt]) -> bool {
    let mut found = false;
    every(body, |stmt| found |= matches!(stmt, Stmt::Sync { .. }));
    found
}
