//! From a model to a launch: small sizes first, so that it can be run.

use super::machine::Machine;
use crate::calculus::arithmetic::wrap;
use crate::calculus::{Axis, GeometryVar};
use crate::protocol::Protocol;
use crate::prove::Scope;
use crate::prove::state::poly::Side;
use crate::smt::{Op, Sort, TermId, Terms, Value};

/// Bounds of a launch: extents of the block, of the grid, parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    block: i128,
    grid: i128,
    params: i128,
}

/// The sizes that are tried, smallest first.
pub(super) const SIZES: [Size; 4] = [
    Size { block: 4, grid: 2, params: 4 },
    Size { block: 4, grid: 2, params: 64 },
    Size { block: 64, grid: 4, params: 4_096 },
    Size { block: 1_024, grid: 64, params: 0x7fff_ffff },
];

/// What makes a launch, as terms.
pub(super) struct Leaves {
    block: [Option<TermId>; 3],
    grid: [Option<TermId>; 3],
    params: Vec<(usize, TermId)>,
}

impl Leaves {
    pub(super) fn of(machine: &Machine<'_>) -> Leaves {
        let extent = |var: GeometryVar| machine.geometry.get(&(var, None::<Side>)).copied();
        let mut params: Vec<(usize, TermId)> = machine.params.iter().map(|(&index, &term)| (index, term)).collect();
        params.sort_unstable();
        Leaves {
            block: Axis::ALL.map(|axis| extent(GeometryVar::BlockDim(axis))),
            grid: Axis::ALL.map(|axis| extent(GeometryVar::GridDim(axis))),
            params,
        }
    }

    /// All of them, in a fixed order.
    pub(super) fn terms(&self) -> Vec<TermId> {
        let extents = self.block.iter().chain(&self.grid).flatten();
        extents.chain(self.params.iter().map(|(_, term)| term)).copied().collect()
    }
}

/// Bounds of the leaves, and of the threads of a block.
pub(super) fn bounds(leaves: &Leaves, size: Size, most_threads: u32, terms: &mut Terms) -> Vec<TermId> {
    let mut bounds = Vec::new();
    let mut limit = |term: TermId, most: i128, terms: &mut Terms| {
        if let Sort::Bits(width) = terms.sort(term) {
            let most = terms.bits(most.min((1 << (width.min(64) - 1)) - 1), width);
            bounds.push(terms.apply(Op::BvUle, vec![term, most]));
        }
    };
    for (extents, most) in [(leaves.block, size.block), (leaves.grid, size.grid)] {
        extents.into_iter().flatten().for_each(|extent| limit(extent, most, terms));
    }
    leaves.params.iter().for_each(|&(_, param)| limit(param, size.params, terms));
    let mut threads = terms.bits(1, 64);
    for extent in leaves.block.into_iter().flatten() {
        let extent = terms.apply(Op::ZeroExtend(32), vec![extent]);
        threads = terms.apply(Op::BvMul, vec![threads, extent]);
    }
    let most = terms.bits(i128::from(most_threads), 64);
    bounds.push(terms.apply(Op::BvUle, vec![threads, most]));
    bounds
}

/// The launch that the values of [`Leaves::terms`] make; what has none is 1, or 0 for a parameter.
pub(super) fn scope(protocol: &Protocol, stated: &Scope, leaves: &Leaves, values: &[Option<Value>]) -> Scope {
    let mut values = values.iter().map(|value| value.and_then(Value::number));
    let mut scope = stated.clone();
    for (extents, fixed) in [(leaves.block, &mut scope.block), (leaves.grid, &mut scope.grid)] {
        for (extent, fixed) in extents.iter().zip(fixed.iter_mut()) {
            let value = extent.and_then(|_| values.next().flatten()).and_then(|value| u32::try_from(value).ok());
            *fixed = fixed.or(value).or(Some(1));
        }
    }
    scope.params.resize(protocol.params.len(), None);
    for &(index, _) in &leaves.params {
        let value = values.next().flatten();
        if scope.params[index].is_none() {
            scope.params[index] = value;
        }
    }
    for ((_, param), value) in protocol.params.iter().zip(&mut scope.params) {
        *value = param.ty.range().map(|_| wrap(value.unwrap_or(0), param.ty));
    }
    scope
}
