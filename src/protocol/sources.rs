//! What values are computed from, through loops, calls and named expressions.

use super::{LoopId, OpaqueId, Origin, Protocol, Role};
use crate::calculus::{Expr, ExprId, GeometryVar, ParamId, SiteId};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Everything that some values may depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Unknown values.
    pub opaques: BTreeSet<OpaqueId>,
    /// Parameters.
    pub params: BTreeSet<ParamId>,
    /// Ids and sizes.
    pub geometry: BTreeSet<GeometryVar>,
}

impl Sources {
    /// Whether the content of an array that threads share, or its order of changes, is among them.
    pub fn has_data(&self, protocol: &Protocol) -> bool {
        self.opaques.iter().any(|&id| is_data(&protocol.opaques[id].origin))
    }
}

/// Whether an unknown value is the content of an array.
pub fn is_data(origin: &Origin) -> bool {
    matches!(origin, Origin::Read { .. } | Origin::Atomic { .. })
}

/// What `values` may depend on. The number of the current turn of a loop depends on nothing: that the turn
/// happens is a matter of guards. A value after a loop depends on what decides the number of turns.
pub fn sources(protocol: &Protocol, values: &[ExprId]) -> Sources {
    let mut sources = Sources::default();
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut pending = values.to_vec();
    while let Some(id) = pending.pop() {
        if !seen.insert(id) {
            continue;
        }
        let node = &protocol.exprs[id];
        pending.extend(crate::calculus::operands(node));
        match node {
            Expr::Param(param) => {
                sources.params.insert(*param);
            }
            Expr::Geometry(var) => {
                sources.geometry.insert(*var);
            }
            Expr::Var(var) => match protocol.roles.get(*var) {
                Some(&Role::Opaque(opaque)) if sources.opaques.insert(opaque) => {
                    pending.extend(behind(protocol, opaque));
                }
                Some(&(Role::Geometric(each) | Role::Toggle(each))) => {
                    let carried = protocol.loops[each].carried.iter().filter(|carried| carried.var == *var);
                    pending.extend(carried.flat_map(|carried| [carried.start, carried.next]));
                }
                _ => {}
            },
            _ => {}
        }
    }
    sources
}

/// The values that an unknown value is computed from.
pub(super) fn behind(protocol: &Protocol, id: OpaqueId) -> Vec<ExprId> {
    let opaque = &protocol.opaques[id];
    match &opaque.origin {
        Origin::Read { offset, .. } => vec![*offset],
        Origin::Function { args, .. } => args.clone(),
        Origin::Complex { value } => vec![*value],
        Origin::Loop { site, from, .. } => {
            let mut values = from.clone();
            if let Some(each) = loop_before(protocol, id, *site) {
                values.extend([protocol.loops[each].guard, protocol.loops[each].continues]);
            }
            values
        }
        Origin::Atomic { .. } | Origin::Havoc(_) => Vec::new(),
    }
}

/// The loop that has ended where the unknown value stands; `None` if it stands in the loop.
pub(super) fn loop_before(protocol: &Protocol, id: OpaqueId, site: SiteId) -> Option<LoopId> {
    let within = |each: &LoopId| protocol.loops[*each].site == site;
    if protocol.opaques[id].loops.iter().any(within) {
        return None;
    }
    protocol.loops.handles().find(within)
}
