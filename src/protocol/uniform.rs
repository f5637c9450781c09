//! Which values and trip counts are the same for all threads of a warp, of a block, of a cluster, or of the grid.
//!
//! A value is uniform if two threads that both compute it, in equal turns of all loops around it, get the same
//! value; a loop is uniform if two threads that both reach it, in equal turns of the loops around it, run the
//! same number of turns. Both are greatest fixed points: what a value is computed from lies earlier in time,
//! so assuming uniformity until something speaks against it is an induction over time. What a vote or a reduction gives
//! is uniform by what the call says, among the threads that make it together, in loops that they turn equally often.
//!
//! Deliberately absent: values that are equal for reasons of arithmetic (`threadIdx.x / blockDim.x`).

use super::{LoopId, OpaqueId, Origin, Protocol, SyncId, sources};
use crate::calculus::{ArrayId, Expr, ExprId, GeometryVar, HavocReason, SiteId, Space, VarId};
use crate::memory_model::{self, Level};

/// What varies between the threads at one level.
#[derive(Clone, Debug)]
pub struct Uniformity {
    level: Level,
    varying_vars: Vec<bool>,
    varying_loops: Vec<bool>,
}

/// Whether `value` is uniform; see [`Uniformity`] for asking more than once.
pub fn is_uniform(protocol: &Protocol, value: ExprId, level: Level) -> bool {
    Uniformity::of(protocol, level).holds(protocol, value)
}

/// Whether two threads that reach the loop run it equally often.
pub fn loop_is_uniform(protocol: &Protocol, id: LoopId, level: Level) -> bool {
    Uniformity::of(protocol, level).holds_for_loop(id)
}

/// Notes of every unknown value at which level it is uniform.
pub(super) fn mark(protocol: &mut Protocol) {
    for level in [Level::Warp, Level::Block, Level::Cluster, Level::Grid] {
        let uniformity = Uniformity::of(protocol, level);
        for id in protocol.opaques.handles().collect::<Vec<_>>() {
            if !uniformity.varying_vars[protocol.opaques[id].var.index()] {
                protocol.opaques[id].uniform = Some(level);
            }
        }
    }
}

impl Uniformity {
    /// Finds out what varies between two threads of one block (or warp), or of the grid.
    pub fn of(protocol: &Protocol, level: Level) -> Self {
        let mut uniformity = Uniformity {
            level,
            varying_vars: vec![false; protocol.vars.len()],
            varying_loops: vec![false; protocol.loops.len()],
        };
        while uniformity.spread(protocol) {}
        uniformity
    }

    /// Whether a value is uniform.
    pub fn holds(&self, protocol: &Protocol, value: ExprId) -> bool {
        let mut uniform = true;
        protocol.exprs.visit(value, |_, node| uniform &= !self.varies(node));
        uniform
    }

    /// Whether a loop is uniform.
    pub fn holds_for_loop(&self, id: LoopId) -> bool {
        !self.varying_loops[id.index()]
    }

    /// Whether a sync orders accesses to `space`: its scope and memory suffice, and every loop around it is uniform.
    pub fn orders(&self, protocol: &Protocol, id: SyncId, space: Space) -> bool {
        let sync = &protocol.syncs[id];
        memory_model::orders(sync.scope, sync.memory, space, self.level)
            && sync.loops.iter().all(|&each| self.holds_for_loop(each))
    }

    /// Whether a sync orders accesses to one array: as [`Self::orders`], or because it is the array's own.
    pub fn orders_array(&self, protocol: &Protocol, id: SyncId, array: ArrayId) -> bool {
        let sync = &protocol.syncs[id];
        let place = (array, protocol.arrays[array].space);
        memory_model::orders_array(sync.scope, sync.memory, place, self.level)
            && sync.loops.iter().all(|&each| self.holds_for_loop(each))
    }

    /// The sites of all syncs that [order](Self::orders) accesses to `space`.
    pub fn ordering_syncs(&self, protocol: &Protocol, space: Space) -> Vec<SiteId> {
        let ordering = protocol.syncs.iter().filter(|(id, _)| self.orders(protocol, *id, space));
        ordering.map(|(_, sync)| sync.site).collect()
    }

    fn varies(&self, node: &Expr) -> bool {
        match node {
            Expr::Geometry(GeometryVar::ThreadIdx(_)) => true,
            Expr::Geometry(GeometryVar::BlockIdx(_)) => !self.level.is_one_block(),
            Expr::Var(var) => self.varying_vars[var.index()],
            _ => false,
        }
    }

    /// One round; whether something was found to vary.
    fn spread(&mut self, protocol: &Protocol) -> bool {
        let mut changed = false;
        for (id, each) in protocol.loops.iter() {
            let varies = |value: ExprId| !self.holds(protocol, value);
            let moved: Vec<(VarId, bool)> = each
                .carried
                .iter()
                .map(|carried| (carried.var, varies(carried.start) || varies(carried.next)))
                .collect();
            let uneven = varies(each.guard) || varies(each.continues);
            for (var, varies) in moved {
                changed |= raise(&mut self.varying_vars[var.index()], varies);
            }
            changed |= raise(&mut self.varying_loops[id.index()], uneven);
        }
        for (id, opaque) in protocol.opaques.iter() {
            let varies = self.opaque_varies(protocol, id);
            changed |= raise(&mut self.varying_vars[opaque.var.index()], varies);
        }
        changed
    }

    fn opaque_varies(&self, protocol: &Protocol, id: OpaqueId) -> bool {
        let any_varies = |values: &[ExprId]| values.iter().any(|&value| !self.holds(protocol, value));
        match &protocol.opaques[id].origin {
            Origin::Read { array, offset, stable, constant, .. } => {
                let is_of_a_block = matches!(protocol.arrays[*array].space, Space::Shared | Space::Distributed);
                let shared_by_all = self.level.is_one_block() || !is_of_a_block;
                !(*stable || *constant) || !shared_by_all || any_varies(&[*offset])
            }
            Origin::Havoc(HavocReason::Common(scope, _)) => {
                let together = protocol.opaques[id].loops.iter().all(|&each| self.holds_for_loop(each));
                !memory_model::spans(*scope, self.level) || !together
            }
            Origin::Atomic { .. } | Origin::Havoc(_) => true,
            Origin::Function { args, .. } => any_varies(args),
            Origin::Complex { value } => any_varies(&[*value]),
            Origin::Loop { site, from, .. } => {
                let ended = sources::loop_before(protocol, id, *site);
                any_varies(from) || ended.is_some_and(|each| self.varying_loops[each.index()])
            }
        }
    }
}

/// Raises `flag` if `varies`; whether that is news.
fn raise(flag: &mut bool, varies: bool) -> bool {
    let news = varies && !*flag;
    *flag |= varies;
    news
}
