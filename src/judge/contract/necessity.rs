//! Launches that break one condition of a contract by a little, and keep the others.
//!
//! A condition is needed if such a launch races. They are chosen from the condition itself: one thread more than a block may
//! have, one element less than a pitch has to be; what is left free is as usual.
//!
//! Guarantees: the launches keep the other conditions. Deliberately absent: whether they race, for which they are run.

use super::plausible::{BLOCKS, ENLARGED, enlarged, fitted, value_in};
use super::vocabulary::{Condition, Leaf, Relation};
use crate::calculus::{Geometry, Kernel, extents};
use crate::prove::Scope;

/// A small number that is no power of two.
const NO_POWER: i128 = 3;
/// Launches that are tried for one condition.
const MOST_LAUNCHES: usize = 24;

/// Launches of a scope that break the condition at that position alone.
///
/// `races` are parameters of races that the contract excludes: with values like them the accesses are reached.
pub(super) fn breaking(
    kernel: &Kernel,
    scope: &Scope,
    (contract, at): (&[Condition], usize),
    races: &[Vec<Option<i128>>],
) -> Vec<Scope> {
    let mut others = contract.to_vec();
    let broken = others.remove(at);
    let equal = [64, 256].map(|value| vec![Some(value); kernel.params.len()]);
    let larger = races.iter().flat_map(|race| ENLARGED.map(|by| enlarged(race, by)));
    let starts: Vec<Vec<Option<i128>>> = equal.into_iter().chain(races.iter().cloned()).chain(larger).collect();
    let mut found: Vec<Scope> = Vec::new();
    for geometry in geometries(kernel, scope, &broken) {
        for start in &starts {
            let Some(start) = start_of(geometry, &broken, start) else { continue };
            let fixed = Scope { params: with_fixed(&scope.params, &start), ..scope.clone() };
            let start = start.iter().map(|&(value, _)| Some(value)).collect();
            let Some(params) = fitted((kernel, &others), &fixed, geometry, start) else { continue };
            let value = |leaf: Leaf| value_in(geometry, &params, leaf);
            let block = geometry.block.map(Some);
            let launch = Scope { block, grid: geometry.grid.map(Some), params: params.clone(), most_threads: None };
            if broken.holds(&value) == Some(false) && !found.contains(&launch) {
                found.push(launch);
            }
        }
    }
    found.truncate(MOST_LAUNCHES);
    found
}

/// Usual geometries of a scope, with the extents that the condition is about changed so that it does not hold.
fn geometries(kernel: &Kernel, scope: &Scope, broken: &Condition) -> Vec<Geometry> {
    let read = extents::that_matter(kernel);
    let required = kernel.geometry.required_block;
    let cluster = kernel.geometry.clusters().unwrap_or([1; 3]);
    let own = |of: &[Option<u32>; 3], axis: usize, free: u32| of[axis].unwrap_or(free);
    let mut found: Vec<Geometry> = Vec::new();
    for shape in BLOCKS.into_iter().chain([[2, 1, 1], [2, 2, 1], [2, 2, 2], [4, 4, 1]]) {
        let fixed = [0, 1, 2].map(|axis| scope.block[axis].or(required.map(|block| block[axis])));
        let mut block = [0, 1, 2].map(|axis| own(&fixed, axis, if read[0][axis] { shape[axis] } else { 1 }));
        let mut grid = [0, 1, 2].map(|axis| own(&scope.grid, axis, if read[1][axis] { 2 } else { 1 } * cluster[axis]));
        let (leaf, wanted) = match broken {
            Condition::Power(Leaf::Param(_)) | Condition::Multiple(Leaf::Param(_), _) => (None, None),
            Condition::Power(leaf) => (Some(*leaf), Some(48)),
            Condition::Multiple(leaf, of) => (Some(*leaf), Some(of + of / 2)),
            Condition::Compare(left, Relation::AtMost | Relation::Is, right) => {
                let value = |leaf: Leaf| value_in(Geometry { block, grid }, &[], leaf);
                let [(factor, product)] = left.0.as_slice() else { continue };
                let last = product.last().copied();
                let others: Option<i128> = product[..product.len().saturating_sub(1)]
                    .iter()
                    .try_fold(*factor, |all, &leaf| all.checked_mul(value(leaf)?));
                let most = others.zip(right.value(&value)).and_then(|(others, most)| most.checked_div(others));
                (last.filter(|_| most.is_some()), most.map(|most| most + 1))
            }
            Condition::Compare(..) => (None, None),
        };
        if let (Some(leaf), Some(wanted)) = (leaf, wanted.and_then(|wanted| u32::try_from(wanted).ok())) {
            let (extents, axis, is_fixed) = match leaf {
                Leaf::Block(axis) => (&mut block, axis, fixed[axis.index()].is_some()),
                Leaf::Grid(axis) => (&mut grid, axis, scope.grid[axis.index()].is_some()),
                Leaf::Param(_) => continue,
            };
            if is_fixed {
                continue;
            }
            extents[axis.index()] = wanted;
        }
        let geometry = Geometry { block, grid };
        if kernel.geometry.admits(&geometry)
            && geometry.block_threads() <= u64::from(kernel.geometry.most_threads())
            && !found.contains(&geometry)
        {
            found.push(geometry);
        }
    }
    found
}

/// Values of the parameters before they are fitted, and whether each has to stay: one with which the condition does not hold.
fn start_of(geometry: Geometry, broken: &Condition, start: &[Option<i128>]) -> Option<Vec<(i128, bool)>> {
    let mut params: Vec<(i128, bool)> = start.iter().map(|value| (value.unwrap_or(1), false)).collect();
    if let Condition::Power(Leaf::Param(param)) = broken {
        params[param.index()] = (NO_POWER, true);
    }
    let Condition::Compare(left, relation, right) = broken else { return Some(params) };
    let value = |leaf: Leaf| value_in(geometry, start, leaf);
    if broken.holds(&value) == Some(false) {
        return Some(params);
    }
    for (own, other, less) in
        [(left, right, *relation == Relation::AtLeast), (right, left, *relation != Relation::AtLeast)]
    {
        if let [(1, product)] = own.0.as_slice()
            && let [Leaf::Param(param)] = product.as_slice()
        {
            let other = other.value(&value)?;
            params[param.index()] = (if less { other - 1 } else { other + 1 }, true);
            return Some(params);
        }
    }
    None
}

/// What a scope fixes, and what has to stay.
fn with_fixed(params: &[Option<i128>], start: &[(i128, bool)]) -> Vec<Option<i128>> {
    let own = |at: usize| params.get(at).copied().flatten();
    start.iter().enumerate().map(|(at, &(value, stays))| own(at).or(stays.then_some(value))).collect()
}
