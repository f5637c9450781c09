//! Conditions that may be a contract, or a part of one, the more general ones first.
//!
//! Those that were abducted from what is open come first ([`abduction`]): what bounds a digit, what covers a span. Then
//! a list of usual ones, made from what the accesses are addressed by: extents that are powers of two, multiples of a warp or
//! at most a constant of the kernel, sizes that are multiples of what the kernel divides by, parameters that bound extents or
//! are bounded by them, extents that are 1; and a multiple together with what was abducted.
//!
//! Deliberately absent: whether any of them is enough, or needed.

use super::vocabulary::{Condition, Leaf, Relation, Sum, is_number};
use crate::calculus::{Axis, BinaryOp, Expr, ExprId, GeometryVar, ParamId, ScalarType};
use crate::judge::scopes::Attempt;
use crate::memory_model::Level;
use crate::protocol::{Access, Protocol};
use crate::prove::Pair;
use crate::prove::abduction;
use crate::prove::premises::Premises;
use std::collections::BTreeSet;

/// Constants of the kernel that bounds are made of.
const MOST_CONSTANTS: usize = 4;
/// Nobody asks for multiples of more than that.
const MOST_DIVISOR: i128 = 1024;
/// Conditions that are abducted, and multiples, that are tried together, at most.
const MOST_PAIRED: usize = 5;
/// Sets that are abducted, at most.
const MOST_ABDUCTED: usize = 40;
/// The threads of a warp.
const WARP: i128 = crate::calculus::eval::WARP as i128;

/// Sets of conditions, each of which may be enough.
pub(super) fn sets(protocol: &Protocol, attempt: &Attempt, pairs: &[Pair]) -> Vec<Vec<Condition>> {
    let mut sets: Vec<Vec<Condition>> = Vec::new();
    for part in &attempt.parts {
        let premises = Premises::new(protocol, &part.scope);
        for pair in pairs {
            let Ok(condition) = premises.conflict(pair) else { continue };
            for abducted in abduction::premises(&condition) {
                let of_it = |premise| Condition::of(premise, &protocol.params);
                let Some(set) = abducted.iter().map(of_it).collect::<Option<Vec<Condition>>>() else { continue };
                let whole = set.iter().map(Condition::in_whole_elements).collect();
                for set in [whole, set] {
                    let is_sayable = set.iter().all(Condition::is_sayable);
                    if is_sayable && !sets.contains(&set) {
                        sets.push(set);
                    }
                }
            }
        }
    }
    // What relates sizes of data to each other holds for whatever geometry; what is short is what people say.
    let of_geometry = |condition: &&Condition| condition.leaves().iter().any(|leaf| !matches!(leaf, Leaf::Param(_)));
    let terms = |set: &[Condition]| set.iter().map(Condition::terms).sum::<usize>();
    sets.sort_by_key(|set| (set.len(), set.iter().filter(of_geometry).count(), terms(set)));
    sets.truncate(MOST_ABDUCTED);
    let usual = usual(protocol, attempt, pairs);
    let few = sets.iter().filter(|set| set.len() == 1).take(MOST_PAIRED);
    let multiples = || usual.iter().filter(|condition| matches!(condition, Condition::Multiple(..))).take(MOST_PAIRED);
    let both: Vec<Vec<Condition>> =
        few.flat_map(|set| multiples().map(|multiple| vec![multiple.clone(), set[0].clone()])).collect();
    let alone = usual.into_iter().map(|condition| vec![condition]);
    sets.into_iter().chain(alone).chain(both).collect()
}

/// Usual conditions, the weaker ones first.
fn usual(protocol: &Protocol, attempt: &Attempt, pairs: &[Pair]) -> Vec<Condition> {
    let Mentioned { extents, params, constants, divisors, masks } = Mentioned::of(protocol, attempt, pairs);
    let product = |axis| vec![Leaf::Grid(axis), Leaf::Block(axis)];
    let blocks = || extents.iter().copied().filter(|leaf| matches!(leaf, Leaf::Block(_)));
    let grids = || extents.iter().copied().filter(|leaf| matches!(leaf, Leaf::Grid(_)));
    let totals: Vec<Vec<Leaf>> = Axis::ALL
        .into_iter()
        .filter(|&axis| [Leaf::Block(axis), Leaf::Grid(axis)].iter().all(|leaf| extents.contains(leaf)))
        .map(product)
        .collect();
    let params: Vec<Vec<Leaf>> = params.into_iter().map(|param| vec![Leaf::Param(param)]).collect();
    let mut found = Vec::new();
    for param in &params {
        found.push(Condition::Compare(Sum::product(param), Relation::AtLeast, Sum::number(1)));
        found.extend(blocks().chain(grids()).map(|extent| compared(param, Relation::AtLeast, &[extent])));
        found.extend(totals.iter().map(|total| compared(param, Relation::AtLeast, total)));
    }
    found.extend(blocks().map(Condition::Power));
    if masks {
        found.extend(params.iter().map(|param| Condition::Power(param[0])));
    }
    found.extend(blocks().filter(|leaf| *leaf == Leaf::Block(Axis::X)).map(|leaf| Condition::Multiple(leaf, WARP)));
    for &divisor in &divisors {
        // What a division leaves over is often done by one turn of a block.
        let number = Sum::number(divisor);
        let at_least = |extent| Condition::Compare(Sum::product(&[extent]), Relation::AtLeast, number.clone());
        found.extend(blocks().filter(|leaf| *leaf == Leaf::Block(Axis::X)).map(at_least));
        found.extend(params.iter().map(|param| Condition::Multiple(param[0], divisor)));
        found.extend(blocks().filter(|_| divisor != WARP).map(|extent| Condition::Multiple(extent, divisor)));
    }
    for &constant in &constants {
        let at_most = |sum: &[Leaf]| Condition::Compare(Sum::product(sum), Relation::AtMost, Sum::number(constant));
        found.extend(blocks().map(|extent| at_most(&[extent])));
        found.extend(totals.iter().map(|total| at_most(total)));
    }
    for param in &params {
        found.extend(totals.iter().map(|total| compared(param, Relation::AtMost, total)));
        found.extend(blocks().map(|extent| compared(param, Relation::AtMost, &[extent])));
        found.extend(totals.iter().map(|total| compared(param, Relation::Is, total)));
        found.extend(blocks().chain(grids()).map(|extent| compared(param, Relation::Is, &[extent])));
    }
    // A grid of one block is none where a cluster has more.
    let clusters = protocol.geometry.clusters().unwrap_or([1; 3]);
    let may_be_one = |leaf: &Leaf| !matches!(*leaf, Leaf::Grid(axis) if clusters[axis.index()] > 1);
    // That there is one thread alone helps nobody.
    let across = blocks().filter(|leaf| *leaf != Leaf::Block(Axis::X));
    let is_one = |extent| Condition::Compare(Sum::product(&[extent]), Relation::Is, Sum::number(1));
    found.extend(grids().filter(may_be_one).chain(across).map(is_one));
    found
}

fn compared(left: &[Leaf], relation: Relation, right: &[Leaf]) -> Condition {
    Condition::Compare(Sum::product(left), relation, Sum::product(right))
}

/// What the open pairs depend on.
struct Mentioned {
    /// Extents that the verdict's launches leave free.
    extents: Vec<Leaf>,
    params: Vec<ParamId>,
    /// Constants from which bounds of extents may be made, the greatest first.
    constants: Vec<i128>,
    /// Constants that something is divided or multiplied by, those that divide first, the less before the greater.
    divisors: Vec<i128>,
    /// Whether bits are taken out of numbers.
    masks: bool,
}

impl Mentioned {
    fn of(protocol: &Protocol, attempt: &Attempt, pairs: &[Pair]) -> Mentioned {
        let (mut extents, mut params, mut constants) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let (mut masks, mut dividing, mut multiplying) = (false, BTreeSet::new(), BTreeSet::new());
        let required = protocol.geometry.required_block;
        let is_free = |var| attempt.parts.iter().any(|part| part.scope.fixed(var, required).is_none());
        for pair in pairs {
            for access in [pair.first, pair.second].map(|access| &protocol.accesses[access]) {
                for root in addressed_by(protocol, access) {
                    protocol.exprs.visit(root, |_, node| match *node {
                        Expr::Geometry(GeometryVar::ThreadIdx(axis) | GeometryVar::BlockDim(axis)) => {
                            extents.insert(Leaf::Block(axis));
                        }
                        Expr::Geometry(GeometryVar::BlockIdx(axis) | GeometryVar::GridDim(axis)) => {
                            extents.insert(Leaf::Grid(axis));
                        }
                        Expr::Param(param) => {
                            params.insert(param);
                        }
                        Expr::Binary(BinaryOp::BitAnd, ..) => masks = true,
                        Expr::Binary(BinaryOp::Div | BinaryOp::Rem, _, by) => {
                            dividing.extend(protocol.exprs.as_int(by))
                        }
                        Expr::Binary(BinaryOp::Shr, _, by) => {
                            let bits = protocol.exprs.as_int(by).filter(|bits| (1..=10).contains(bits));
                            dividing.extend(bits.map(|bits| 1 << bits));
                        }
                        Expr::Binary(BinaryOp::Mul, one, other) => {
                            let factors = [one, other].into_iter().filter_map(|factor| protocol.exprs.as_int(factor));
                            multiplying.extend(factors);
                        }
                        Expr::Int(value, ScalarType::Int { .. }) if value >= 2 => {
                            constants.extend([value, value / i128::from(access.bytes.max(1))]);
                        }
                        _ => {}
                    });
                }
                if pair.level == Level::Grid {
                    extents.insert(Leaf::Grid(Axis::X));
                }
            }
        }
        let free = |leaf: &Leaf| match *leaf {
            Leaf::Block(axis) => is_free(GeometryVar::BlockDim(axis)),
            Leaf::Grid(axis) => is_free(GeometryVar::GridDim(axis)),
            Leaf::Param(_) => true,
        };
        let is_number = |id: &ParamId| is_number(&protocol.params[*id]);
        let usual = |value: &i128| (16..=1 << 20).contains(value);
        Mentioned {
            extents: extents.into_iter().filter(free).collect(),
            params: params.into_iter().filter(is_number).take(3).collect(),
            constants: constants.into_iter().rev().filter(usual).take(MOST_CONSTANTS).collect(),
            divisors: {
                let divides = |value: &i128| (2..=MOST_DIVISOR).contains(value);
                let multiplying = multiplying.difference(&dividing).copied().filter(divides);
                dividing.iter().copied().filter(divides).chain(multiplying).take(MOST_CONSTANTS).collect()
            },
            masks,
        }
    }
}

/// The expressions that say whether, when and where an access happens.
fn addressed_by(protocol: &Protocol, access: &Access) -> Vec<ExprId> {
    let mut roots = vec![access.offset];
    roots.extend(access.guards.iter().map(|guard| guard.cond));
    roots.extend(access.loops.iter().map(|&id| protocol.loops[id].guard));
    roots
}
