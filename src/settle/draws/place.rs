//! A place in a kernel: what is known of variables there, and what stands around it.
//!
//! Deliberately absent: how that comes to be known, which the walk says.

use crate::calculus::{Access, Expr, ExprId, Kernel, MemoryOrder, SiteId, SyncScope, VarId};
use crate::settle::notes::Warps;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The threads that numbers are drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// The whole warp.
    Warp,
    /// Those that the mask in a variable names.
    Mask(VarId),
}

/// A mask that is what it comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mask {
    /// The variable that says whether the thread is named.
    pub(super) named: VarId,
    /// Whether all threads of the warp have it; otherwise those that it names do.
    pub(super) is_common: bool,
    /// How much stands around the place that it comes from.
    pub(super) depth: usize,
}

/// An atomic that adds to a counter.
#[derive(Clone, Debug)]
pub(super) struct Draw {
    pub(super) access: Access,
    /// For whom it draws.
    pub(super) group: Group,
    pub(super) order: MemoryOrder,
    pub(super) scope: SyncScope,
    pub(super) loops: Vec<SiteId>,
}

/// What is known of a variable at a place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known {
    /// It is this.
    Is(ExprId),
    /// It is the second where the first holds.
    Where(ExprId, ExprId),
}

/// What is known at a place. All expressions are without variables of which something is known, and go when a variable in
/// them is assigned.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) known: FxHashMap<VarId, Known>,
    /// Masks that are what they come from.
    pub(super) masks: FxHashMap<VarId, Mask>,
    pub(super) ranks: FxHashMap<VarId, VarId>,
    pub(super) sizes: FxHashMap<VarId, VarId>,
    pub(super) draws: FxHashMap<VarId, Draw>,
    /// What shuffles gave, with the numbers that each thread has by itself, and for whom.
    pub(super) handed: BTreeMap<VarId, (VarId, Group)>,
}

/// What stands around a place, and may keep other threads of the warp from it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Around {
    /// A condition that holds there.
    Holds(ExprId),
    /// A condition that does not.
    Fails(ExprId),
    /// A loop that all threads of the block turn equally often.
    Even,
    /// Another loop.
    Uneven,
}

/// The place that is looked at, in its kernel.
pub(super) struct Seen<'s> {
    pub(super) kernel: &'s mut Kernel,
    pub(super) calls: &'s Warps,
    /// The axes of the block that something mentions.
    pub(super) mentioned: [bool; 3],
    pub(super) loops: Vec<SiteId>,
    /// What stands around the place, outermost first.
    pub(super) around: Vec<Around>,
    /// Variables of loops around it that are the same for the block.
    pub(super) level: Vec<VarId>,
    pub(super) state: State,
}

impl Seen<'_> {
    /// An expression without the variables of which something is known.
    pub(super) fn substituted(&mut self, root: ExprId) -> ExprId {
        let known = &self.state.known;
        self.kernel.exprs.substitute(root, |node| match node {
            Expr::Var(var) => match known.get(var) {
                Some(Known::Is(value)) => Some(*value),
                _ => None,
            },
            _ => None,
        })
    }
}
