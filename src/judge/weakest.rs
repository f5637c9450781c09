//! Conditions on the launch under which a kernel that races, or may, does not: "race-free if gridDim.x = 1".
//!
//! A small list of conditions, the weaker ones first, is made from what the accesses that race are addressed by: extents
//! that are powers of two, multiples of a warp or at most a constant of the kernel, parameters that bound extents or are
//! bounded by them, extents that are 1. Each is assumed in turn, as if the source stated it, and what was open is asked
//! of the rules again. The first that closes everything is told; if none does, a few that close it together.
//!
//! Guarantees: a condition is told only if everything that was open is proved under it, for all launches of the verdict
//! that satisfy it, of which there are some; so the witnesses of races break it, which is looked at once more. What
//! was proved without the condition stays proved with it. The cost is a fixed number of cheap proofs.
//!
//! Deliberately absent: conditions on what memory holds, and solvers. That no weaker condition would do is not claimed.

use super::attempt::{Case, Rest};
use super::scopes::Attempt;
use crate::calculus::{Axis, Basis, BinaryOp, Expr, ExprId, GeometryVar, ParamId, ScalarType};
use crate::check::verdict::{FreeIf, Verdict};
use crate::diagnostic::report::Race;
use crate::memory_model::Level;
use crate::protocol::{Access, Before, Fact, Protocol};
use crate::prove::premises::{Budget, Premises};
use crate::prove::{Assumption, Pair, Witness, program_point};
use std::collections::BTreeSet;

/// A kernel with more open pairs than this is not asked about.
const MOST_PAIRS: usize = 16;
/// Proofs that are sought in all.
const MOST_PROOFS: usize = 240;
/// Conditions that are told together, at most.
const MOST_TOGETHER: usize = 3;
/// Constants of the kernel that bounds are made of.
const MOST_CONSTANTS: usize = 4;
/// The threads of a warp.
const WARP: i128 = crate::calculus::eval::WARP as i128;

/// What is left of a verdict's attempt, for later.
pub(super) struct Left {
    pairs: Vec<Pair>,
}

impl Left {
    /// The open pairs, if nothing else stands in the way of a proof.
    pub(super) fn of(case: &Case<'_>, rest: &Rest) -> Option<Left> {
        let whole = rest.is_complete() && !case.anything_may_happen() && case.opaque_arrays().is_empty();
        let few = !rest.pairs.is_empty() && rest.pairs.len() <= MOST_PAIRS;
        (whole && few && !case.reads_undeclared_names())
            .then(|| Left { pairs: rest.pairs.iter().map(|(pair, _)| pair.clone()).collect() })
    }
}

/// The condition under which a kernel of that verdict would be free of races, if one is found.
pub(super) fn find(case: &Case<'_>, attempt: &Attempt, left: &Left, verdict: &Verdict) -> Option<FreeIf> {
    if !matches!(verdict.race, Race::Racy | Race::PossiblyRacy) {
        return None;
    }
    let mut trial = Trial { protocol: case.protocol.clone(), attempt, left, proofs: 0 };
    let conditions = conditions(case.protocol, attempt, left);
    let chosen = trial.choose(&conditions)?;
    let mut assumptions = trial.closes_all(&chosen)?;
    assumptions.extend(verdict.assumptions.iter().cloned());
    let breaks =
        |witness: &Witness| chosen.iter().any(|condition| condition.holds(case.protocol, witness) != Some(true));
    if !verdict.conflicts.iter().all(|conflict| breaks(&conflict.witness)) {
        return None;
    }
    let words: Vec<String> = chosen.iter().map(|condition| condition.words(case.protocol)).collect();
    Some(FreeIf { condition: words.join(" and "), assumptions })
}

/// Proofs with conditions assumed.
struct Trial<'t> {
    protocol: Protocol,
    attempt: &'t Attempt,
    left: &'t Left,
    proofs: usize,
}

impl Trial<'_> {
    /// The first condition that closes every pair, or a few that do together.
    fn choose(&mut self, conditions: &[Condition]) -> Option<Vec<Condition>> {
        let mut useful: Vec<(Condition, Vec<bool>)> = Vec::new();
        for condition in conditions {
            let closed = self.closed(std::slice::from_ref(condition))?;
            if closed.iter().all(|&is_closed| is_closed) {
                return Some(vec![condition.clone()]);
            }
            if closed.contains(&true) {
                useful.push((condition.clone(), closed));
            }
        }
        together(&useful, self.left.pairs.len())
    }

    /// Which pairs are proved under the conditions; `None` once too much was asked.
    fn closed(&mut self, conditions: &[Condition]) -> Option<Vec<bool>> {
        let facts = self.assume(conditions);
        let mut closed = vec![true; self.left.pairs.len()];
        for part in &self.attempt.parts {
            let premises = Premises::new(&self.protocol, &part.scope);
            for (pair, is_closed) in self.left.pairs.iter().zip(&mut closed) {
                self.proofs += 1;
                *is_closed = *is_closed && premises.prove_pair(pair, &Budget::SMALL).is_ok();
            }
        }
        self.protocol.facts.truncate(facts);
        (self.proofs <= MOST_PROOFS).then_some(closed)
    }

    /// What the proofs of all pairs under all conditions rely on besides the conditions, if there are such proofs.
    fn closes_all(&mut self, conditions: &[Condition]) -> Option<BTreeSet<Assumption>> {
        let facts = self.assume(conditions);
        let mut assumptions = BTreeSet::new();
        for part in &self.attempt.parts {
            let premises = Premises::new(&self.protocol, &part.scope);
            for pair in &self.left.pairs {
                assumptions.extend(premises.prove_pair(pair, &Budget::SMALL).ok()?.assumptions);
            }
        }
        let stated = self.protocol.facts.split_off(facts);
        let own: Vec<Assumption> = stated.iter().map(|fact| program_point::stated(&self.protocol, fact)).collect();
        assumptions.retain(|assumption| !own.contains(assumption));
        Some(assumptions)
    }

    /// States the conditions; how many facts there were before.
    fn assume(&mut self, conditions: &[Condition]) -> usize {
        let before = self.protocol.facts.len();
        for condition in conditions {
            let cond = condition.expression(&mut self.protocol);
            let (guards, loops) = (Vec::new(), Vec::new());
            let fact = Fact { cond, basis: Basis::Stated, guards, loops, before: Before::default(), span: None };
            self.protocol.facts.push(fact);
        }
        before
    }
}

/// The fewest of the conditions, greedily, that close all pairs together; weaker ones come first.
fn together(useful: &[(Condition, Vec<bool>)], pairs: usize) -> Option<Vec<Condition>> {
    let mut open = vec![true; pairs];
    let mut chosen = Vec::new();
    while open.contains(&true) {
        let gain = |closed: &[bool]| closed.iter().zip(&open).filter(|(closes, open)| **closes && **open).count();
        let (condition, closed) = useful.iter().rev().max_by_key(|(_, closed)| gain(closed))?;
        if gain(closed) == 0 || chosen.len() == MOST_TOGETHER {
            return None;
        }
        open.iter_mut().zip(closed).for_each(|(open, closes)| *open &= !closes);
        chosen.push(condition.clone());
    }
    Some(chosen)
}

// ---- conditions

/// A value of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Leaf {
    Block(Axis),
    Grid(Axis),
    Param(ParamId),
    Number(i128),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    AtMost,
    AtLeast,
    Is,
}

/// A condition on a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    /// The extent is a power of two.
    Power(Leaf),
    /// The extent is a multiple of that.
    Multiple(Leaf, i128),
    /// The value is in relation to the product.
    Compare(Vec<Leaf>, Relation, Vec<Leaf>),
}

/// The conditions that are tried, the weaker ones first.
fn conditions(protocol: &Protocol, attempt: &Attempt, left: &Left) -> Vec<Condition> {
    let Mentioned { extents, params, constants } = Mentioned::of(protocol, attempt, left);
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
    let mut compare = |left: &[Leaf], relation, right: &[Leaf]| {
        found.push(Condition::Compare(left.to_vec(), relation, right.to_vec()));
    };
    for param in &params {
        compare(param, Relation::AtLeast, &[Leaf::Number(1)]);
        blocks().chain(grids()).for_each(|extent| compare(param, Relation::AtLeast, &[extent]));
        totals.iter().for_each(|total| compare(param, Relation::AtLeast, total));
    }
    found.extend(blocks().map(Condition::Power));
    found.extend(blocks().filter(|leaf| *leaf == Leaf::Block(Axis::X)).map(|leaf| Condition::Multiple(leaf, WARP)));
    let mut compare = |left: &[Leaf], relation, right: &[Leaf]| {
        found.push(Condition::Compare(left.to_vec(), relation, right.to_vec()));
    };
    for &constant in &constants {
        blocks().for_each(|extent| compare(&[extent], Relation::AtMost, &[Leaf::Number(constant)]));
        totals.iter().for_each(|total| compare(total, Relation::AtMost, &[Leaf::Number(constant)]));
    }
    for param in &params {
        totals.iter().for_each(|total| compare(param, Relation::AtMost, total));
        blocks().for_each(|extent| compare(param, Relation::AtMost, &[extent]));
        totals.iter().for_each(|total| compare(param, Relation::Is, total));
        blocks().chain(grids()).for_each(|extent| compare(param, Relation::Is, &[extent]));
    }
    // A grid of one block is none where a cluster has more.
    let clusters = protocol.geometry.clusters().unwrap_or([1; 3]);
    let may_be_one = |leaf: &Leaf| !matches!(*leaf, Leaf::Grid(axis) if clusters[axis.index()] > 1);
    grids().filter(may_be_one).for_each(|extent| compare(&[extent], Relation::Is, &[Leaf::Number(1)]));
    // That there is one thread alone helps nobody.
    let across = blocks().filter(|leaf| *leaf != Leaf::Block(Axis::X));
    across.for_each(|extent| compare(&[extent], Relation::Is, &[Leaf::Number(1)]));
    found
}

/// What the open pairs depend on.
struct Mentioned {
    /// Extents that the verdict's launches leave free.
    extents: Vec<Leaf>,
    params: Vec<ParamId>,
    /// Constants from which bounds of extents may be made, the greatest first.
    constants: Vec<i128>,
}

impl Mentioned {
    fn of(protocol: &Protocol, attempt: &Attempt, left: &Left) -> Mentioned {
        let (mut extents, mut params, mut constants) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let required = protocol.geometry.required_block;
        let is_free = |var| attempt.parts.iter().any(|part| part.scope.fixed(var, required).is_none());
        for pair in &left.pairs {
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
            Leaf::Param(_) | Leaf::Number(_) => true,
        };
        let is_number = |id: &ParamId| matches!(protocol.params[*id].ty, ScalarType::Int { .. });
        let usual = |value: &i128| (16..=1 << 20).contains(value);
        Mentioned {
            extents: extents.into_iter().filter(free).collect(),
            params: params.into_iter().filter(is_number).take(3).collect(),
            constants: constants.into_iter().rev().filter(usual).take(MOST_CONSTANTS).collect(),
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

impl Leaf {
    fn expression(self, protocol: &mut Protocol) -> ExprId {
        let exprs = &mut protocol.exprs;
        let value = match self {
            Leaf::Block(axis) => exprs.geometry(GeometryVar::BlockDim(axis)),
            Leaf::Grid(axis) => exprs.geometry(GeometryVar::GridDim(axis)),
            Leaf::Param(param) => exprs.param(param, protocol.params[param].ty),
            Leaf::Number(value) => return exprs.int(value, ScalarType::I64),
        };
        exprs.convert(ScalarType::I64, value)
    }

    fn words(self, protocol: &Protocol) -> String {
        let letter = |axis: Axis| ["x", "y", "z"][axis.index()];
        match self {
            Leaf::Block(axis) => format!("blockDim.{}", letter(axis)),
            Leaf::Grid(axis) => format!("gridDim.{}", letter(axis)),
            Leaf::Param(param) => protocol.params[param].name.clone(),
            Leaf::Number(value) => value.to_string(),
        }
    }

    fn value(self, protocol: &Protocol, witness: &Witness) -> Option<i128> {
        Some(match self {
            Leaf::Block(axis) => i128::from(witness.geometry.block[axis.index()]),
            Leaf::Grid(axis) => i128::from(witness.geometry.grid[axis.index()]),
            Leaf::Number(value) => value,
            Leaf::Param(param) => {
                let name = &protocol.params[param].name;
                witness.params.iter().find(|(other, _)| other == name)?.1
            }
        })
    }
}

impl Condition {
    fn expression(&self, protocol: &mut Protocol) -> ExprId {
        match self {
            Condition::Power(leaf) => {
                let (Leaf::Block(axis) | Leaf::Grid(axis)) = *leaf else { unreachable!("only extents are powers") };
                let is_block = matches!(leaf, Leaf::Block(_));
                let exprs = &mut protocol.exprs;
                let value =
                    exprs.geometry(if is_block { GeometryVar::BlockDim(axis) } else { GeometryVar::GridDim(axis) });
                let [zero, one] = [0, 1].map(|value| exprs.int(value, ScalarType::U32));
                let less = exprs.binary(BinaryOp::Sub, value, one);
                let common = exprs.binary(BinaryOp::BitAnd, value, less);
                exprs.binary(BinaryOp::Eq, common, zero)
            }
            Condition::Multiple(leaf, of) => {
                let value = leaf.expression(protocol);
                let [of, zero] = [*of, 0].map(|value| protocol.exprs.int(value, ScalarType::I64));
                let rest = protocol.exprs.binary(BinaryOp::Rem, value, of);
                protocol.exprs.binary(BinaryOp::Eq, rest, zero)
            }
            Condition::Compare(left, relation, right) => {
                let [left, right] = [left, right].map(|factors| product(protocol, factors));
                let op = match relation {
                    Relation::AtMost => BinaryOp::Le,
                    Relation::AtLeast => BinaryOp::Ge,
                    Relation::Is => BinaryOp::Eq,
                };
                protocol.exprs.binary(op, left, right)
            }
        }
    }

    fn words(&self, protocol: &Protocol) -> String {
        let factors =
            |factors: &[Leaf]| factors.iter().map(|leaf| leaf.words(protocol)).collect::<Vec<_>>().join(" * ");
        match self {
            Condition::Power(leaf) => format!("{} is a power of two", leaf.words(protocol)),
            Condition::Multiple(leaf, of) => format!("{} is a multiple of {of}", leaf.words(protocol)),
            Condition::Compare(left, relation, right) => {
                let sign = match relation {
                    Relation::AtMost => "<=",
                    Relation::AtLeast => ">=",
                    Relation::Is => "=",
                };
                format!("{} {sign} {}", factors(left), factors(right))
            }
        }
    }

    /// Whether it holds of a launch, as far as the witness says what that is.
    fn holds(&self, protocol: &Protocol, witness: &Witness) -> Option<bool> {
        let value = |leaf: &Leaf| leaf.value(protocol, witness);
        let product = |factors: &[Leaf]| factors.iter().map(value).product::<Option<i128>>();
        Some(match self {
            Condition::Power(leaf) => value(leaf)?.count_ones() == 1,
            Condition::Multiple(leaf, of) => value(leaf)? % of == 0,
            Condition::Compare(left, relation, right) => {
                let (left, right) = (product(left)?, product(right)?);
                match relation {
                    Relation::AtMost => left <= right,
                    Relation::AtLeast => left >= right,
                    Relation::Is => left == right,
                }
            }
        })
    }
}

fn product(protocol: &mut Protocol, factors: &[Leaf]) -> ExprId {
    let values: Vec<ExprId> = factors.iter().map(|leaf| leaf.expression(protocol)).collect();
    let (&first, rest) = values.split_first().expect("a product has factors");
    rest.iter().fold(first, |product, &factor| protocol.exprs.binary(BinaryOp::Mul, product, factor))
}
