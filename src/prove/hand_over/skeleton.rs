//! Which places of a protocol share a barrier interval, whichever threads get there.
//!
//! Deliberately absent: what the accesses touch, and which syncs order them: the caller says.

use crate::calculus::intervals::{self, Intervals};
use crate::calculus::{Access as Touch, ExprId, Kernel, SiteId, Stmt, SyncScope, Test};
use crate::protocol::{Access, Fence, Node, Protocol};

/// The intervals of the protocol's places, where the syncs at these sites order.
pub(super) fn intervals(protocol: &Protocol, ordering: &[SiteId]) -> Intervals {
    intervals::analyze(&skeleton(protocol), &|site| ordering.contains(&site))
}

/// The tree of the protocol as a kernel, of which only places count.
fn skeleton(protocol: &Protocol) -> Kernel {
    let mut kernel = Kernel { sites: protocol.sites.clone(), ..Kernel::default() };
    let cond = kernel.exprs.bool(true);
    kernel.body = statements(protocol, &protocol.body, cond);
    kernel
}

fn statements(protocol: &Protocol, nodes: &[Node], cond: ExprId) -> Vec<Stmt> {
    let statement = |node: &Node| match node {
        Node::Access(id) => {
            let Access { site, array, bytes, .. } = protocol.accesses[*id];
            Stmt::Write { access: Touch { array, offset: cond, bytes, align: 1, site }, value: None }
        }
        Node::Sync(id) => {
            let sync = &protocol.syncs[*id];
            Stmt::Sync { scope: sync.scope, memory: sync.memory, among: sync.among, site: sync.site }
        }
        Node::Fence(id) => {
            let Fence { site, order, memory, .. } = protocol.fences[*id];
            Stmt::Fence { order, scope: SyncScope::Block, memory, site }
        }
        Node::If { then, otherwise, .. } => {
            let arm = |nodes: &[Node]| statements(protocol, nodes, cond);
            Stmt::If { cond, then: arm(then), otherwise: arm(otherwise) }
        }
        Node::Loop(id, body) => {
            let site = protocol.loops[*id].site;
            Stmt::Loop { test: Test::Before(cond), body: statements(protocol, body, cond), site }
        }
    };
    nodes.iter().map(statement).collect()
}
