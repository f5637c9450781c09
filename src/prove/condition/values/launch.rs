//! Ids, sizes and parameters: what a launch gives to both threads of a condition.

use crate::calculus::{Axis, GeometryVar, ScalarType};
use crate::memory_model::Level;
use crate::protocol::Protocol;
use crate::protocol::instance::{Sizes, Valuation};
use crate::prove::condition::draft::Draft;
use crate::prove::condition::draft::atoms::Key;
use crate::prove::condition::draft::atoms::Source;
use crate::prove::state::poly::{IDS, Poly, Side};
use crate::prove::{Assumption, Scope};
use rustc_hash::FxHashMap;

/// The launches of a condition, and how its two threads stand to each other.
#[derive(Clone)]
pub(in crate::prove::condition) struct Launch<'a> {
    protocol: &'a Protocol,
    pub(in crate::prove::condition) scope: &'a Scope,
    pub(in crate::prove::condition) level: Level,
    /// How close the two threads are, where more is known than the level: those of one warp are of one block.
    pub(in crate::prove::condition) closest: Level,
    /// Ids and sizes, as they were made; digits may have replaced them since.
    pub(in crate::prove::condition) geometry: FxHashMap<(GeometryVar, Option<Side>), Poly>,
    /// Parameters, by position.
    pub(in crate::prove::condition) params: FxHashMap<usize, Poly>,
}

impl<'a> Launch<'a> {
    pub(in crate::prove::condition) fn new(protocol: &'a Protocol, scope: &'a Scope, level: Level) -> Self {
        let (geometry, params) = (FxHashMap::default(), FxHashMap::default());
        Launch { protocol, scope, level, closest: level, geometry, params }
    }

    pub(in crate::prove::condition) fn fixed(&self, var: GeometryVar) -> Option<u32> {
        self.scope.fixed(var, self.protocol.geometry.required_block)
    }

    /// Values that it fixes for all threads, outside of all loops.
    pub(in crate::prove::condition) fn outside_of_loops(&self) -> Valuation<'a> {
        let fixed = |of: fn(Axis) -> GeometryVar| Axis::ALL.map(|axis| self.fixed(of(axis)));
        let sizes = Sizes { block: fixed(GeometryVar::BlockDim), grid: fixed(GeometryVar::GridDim) };
        Valuation::of_all(self.protocol, sizes, &self.scope.params)
    }

    /// The value of an id or a size in a thread, with its facts.
    pub(in crate::prove::condition) fn geometry(
        &mut self,
        draft: &mut Draft<'_>,
        var: GeometryVar,
        side: Side,
    ) -> Option<Poly> {
        let shared = match var {
            GeometryVar::ThreadIdx(_) => false,
            GeometryVar::BlockIdx(_) => self.level != Level::Grid,
            _ => true,
        };
        let key = (var, (!shared).then_some(side));
        if let Some(made) = self.geometry.get(&key) {
            return draft.normal(made);
        }
        let value = self.make_geometry(draft, var, side, if shared { 0 } else { IDS })?;
        self.geometry.insert(key, value.clone());
        draft.normal(&value)
    }

    fn make_geometry(&mut self, draft: &mut Draft<'_>, var: GeometryVar, side: Side, level: u8) -> Option<Poly> {
        let (letter, axis, extent) = match var {
            GeometryVar::ThreadIdx(axis) => ("threadIdx", axis, Some(GeometryVar::BlockDim(axis))),
            GeometryVar::BlockIdx(axis) => ("blockIdx", axis, Some(GeometryVar::GridDim(axis))),
            GeometryVar::BlockDim(axis) => ("blockDim", axis, None),
            GeometryVar::GridDim(axis) => ("gridDim", axis, None),
        };
        if let Some(extent) = self.fixed(var) {
            return Some(Poly::constant(i64::from(extent)));
        }
        let name = format!("{letter}.{}", ["x", "y", "z"][axis.index()]);
        let Some(extent) = extent else {
            let atom = draft.atom(0, Key::Geometry(var), side, &name, Source::Size)?;
            draft.set_non_negative(atom);
            draft.bound(atom, Some(1), Some(self.greatest_extent(var)));
            draft.fact(Poly::atom(atom).plus_constant(-1)?);
            return Some(Poly::atom(atom));
        };
        let count = self.geometry(draft, extent, side)?;
        if count.as_constant() == Some(1) {
            return Some(Poly::ZERO);
        }
        let atom = draft.atom(level, Key::Geometry(var), side, &name, Source::Below(count.clone()))?;
        draft.set_non_negative(atom);
        let greatest = count.as_constant().map_or_else(|| self.greatest_extent(extent), i128::from) - 1;
        draft.bound(atom, Some(0), Some(greatest));
        draft.fact(count.plus_constant(-1)?.minus(&Poly::atom(atom))?);
        Some(Poly::atom(atom))
    }

    /// The value of a parameter.
    pub(in crate::prove::condition) fn param(
        &mut self,
        draft: &mut Draft<'_>,
        index: usize,
        name: &str,
        ty: ScalarType,
    ) -> Option<Poly> {
        if let Some(Some(value)) = self.scope.params.get(index) {
            return i64::try_from(*value).ok().map(Poly::constant);
        }
        if let Some(made) = self.params.get(&index) {
            return draft.normal(made);
        }
        let atom = draft.atom(0, Key::Param(index), Side::First, name, Source::Number)?;
        draft.typed(atom, ty);
        self.params.insert(index, Poly::atom(atom));
        Some(Poly::atom(atom))
    }

    /// What `__launch_bounds__`, or the limit of all devices, says about the block.
    pub(in crate::prove::condition) fn bounds(&mut self, draft: &mut Draft<'_>) -> Option<()> {
        let stated = self.protocol.geometry.max_threads;
        let Some(most) = stated.or(self.scope.most_threads) else { return Some(()) };
        if stated.is_none() {
            draft.assumptions.insert(Assumption::BlockLimit(most));
        }
        let most = Poly::constant(i64::from(most));
        let mut product = Poly::constant(1);
        for axis in Axis::ALL {
            let extent = self.geometry(draft, GeometryVar::BlockDim(axis), Side::First)?;
            draft.fact(most.minus(&extent)?);
            product = product.times(&extent)?;
        }
        draft.fact(most.minus(&product)?);
        Some(())
    }

    /// The coordinates by which the two threads are told apart.
    pub(in crate::prove::condition) fn coordinates(&mut self, draft: &mut Draft<'_>) -> Option<()> {
        let of = |axis| match self.level {
            Level::Grid => GeometryVar::BlockIdx(axis),
            _ => GeometryVar::ThreadIdx(axis),
        };
        for var in Axis::ALL.map(of) {
            let (first, second) = (self.geometry(draft, var, Side::First)?, self.geometry(draft, var, Side::Second)?);
            if first.as_constant().is_none() || first != second {
                draft.state.coordinates.push((first, second));
            }
        }
        if draft.state.coordinates.is_empty() {
            // There is only one thread (or block): no two distinct ones meet.
            draft.state.facts.push(Poly::constant(-1));
        }
        Some(())
    }

    /// Bounds against wrapping only; no proof about indices uses them.
    fn greatest_extent(&self, var: GeometryVar) -> i128 {
        let rules = self.protocol.geometry.platform.rules();
        match var {
            GeometryVar::BlockDim(axis) => rules.block[axis.index()].into(),
            _ => rules.grid[0].into(),
        }
    }
}
