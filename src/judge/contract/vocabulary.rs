//! What contracts are written in: conditions on the sizes and scalars of a launch.
//!
//! A [`Condition`] has three readings, which must say the same: an expression of the calculus, which is assumed and proved
//! from; words; and its truth at values of a launch.
//!
//! Deliberately absent: which condition is wanted, and data in memory.

use crate::arena::Arena;
use crate::calculus::{Axis, BinaryOp, ExprId, Exprs, GeometryVar, Param, ParamId, ScalarType, is_implicit};
use crate::check::verdict::ContractKind;
use crate::prove::LaunchValue;
use crate::prove::abduction::Premise;

/// Nearly every block that is launched has so many threads along x; a launch of another breaks the contract.
const FEW_THREADS: i128 = 8;
/// Sizes that are less than this leave no work; what they are multiplied by is taken to be a warp.
const FEW_ELEMENTS: i128 = 16;
const WARP: i128 = crate::calculus::eval::WARP as i128;

/// A value of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Leaf {
    Block(Axis),
    Grid(Axis),
    Param(ParamId),
}

/// A sum of products with factors; an empty product is 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sum(pub(super) Vec<(i128, Vec<Leaf>)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relation {
    AtMost,
    AtLeast,
    Is,
}

/// A condition on a launch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Condition {
    /// The extent, or the parameter, is a power of two; zero is none.
    Power(Leaf),
    /// The extent is a multiple of that.
    Multiple(Leaf, i128),
    /// Two sums are in relation.
    Compare(Sum, Relation, Sum),
}

impl Leaf {
    /// Its value, of its own type.
    fn value(self, exprs: &mut Exprs, params: &Arena<Param>) -> ExprId {
        match self {
            Leaf::Block(axis) => exprs.geometry(GeometryVar::BlockDim(axis)),
            Leaf::Grid(axis) => exprs.geometry(GeometryVar::GridDim(axis)),
            Leaf::Param(param) => exprs.param(param, params[param].ty),
        }
    }

    fn expression(self, exprs: &mut Exprs, params: &Arena<Param>) -> ExprId {
        let value = self.value(exprs, params);
        exprs.convert(ScalarType::I64, value)
    }

    fn words(self, params: &Arena<Param>) -> String {
        let letter = |axis: Axis| ["x", "y", "z"][axis.index()];
        match self {
            Leaf::Block(axis) => format!("blockDim.{}", letter(axis)),
            Leaf::Grid(axis) => format!("gridDim.{}", letter(axis)),
            Leaf::Param(param) => params[param].name.clone(),
        }
    }
}

impl Sum {
    /// One product.
    pub(super) fn product(factors: &[Leaf]) -> Sum {
        Sum(vec![(1, factors.to_vec())])
    }

    /// A number; 0 is the sum of nothing.
    pub(super) fn number(value: i128) -> Sum {
        Sum(if value == 0 { Vec::new() } else { vec![(value, Vec::new())] })
    }

    /// Its value, if it is a number.
    fn as_number(&self) -> Option<i128> {
        match self.0.as_slice() {
            [] => Some(0),
            [(number, none)] if none.is_empty() => Some(*number),
            _ => None,
        }
    }

    fn leaves(&self) -> impl Iterator<Item = Leaf> + '_ {
        self.0.iter().flat_map(|(_, product)| product.iter().copied())
    }

    fn expression(&self, exprs: &mut Exprs, params: &Arena<Param>) -> ExprId {
        let mut sum = None;
        for (factor, product) in &self.0 {
            let mut term = (*factor != 1 || product.is_empty()).then(|| exprs.int(*factor, ScalarType::I64));
            for leaf in product {
                let value = leaf.expression(exprs, params);
                term = Some(term.map_or(value, |term| exprs.binary(BinaryOp::Mul, term, value)));
            }
            let term = term.expect("a product has factors, or a number");
            sum = Some(sum.map_or(term, |sum| exprs.binary(BinaryOp::Add, sum, term)));
        }
        sum.unwrap_or_else(|| exprs.int(0, ScalarType::I64))
    }

    fn words(&self, params: &Arena<Param>) -> String {
        let term = |(factor, product): &(i128, Vec<Leaf>)| {
            let number = (*factor != 1 || product.is_empty()).then(|| factor.to_string());
            let words: Vec<String> = number.into_iter().chain(product.iter().map(|leaf| leaf.words(params))).collect();
            words.join(" * ")
        };
        let terms: Vec<String> = self.0.iter().map(term).collect();
        if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") }
    }

    pub(super) fn value(&self, value: &impl Fn(Leaf) -> Option<i128>) -> Option<i128> {
        self.0.iter().try_fold(0_i128, |sum, (factor, product)| {
            let term = product.iter().try_fold(*factor, |term, &leaf| term.checked_mul(value(leaf)?))?;
            sum.checked_add(term)
        })
    }
}

impl Condition {
    /// Whether it wants an extent to be one.
    pub(super) fn wants_one(&self) -> bool {
        self.extent_that_is_one().is_some()
    }

    /// The extent that it wants to be one.
    pub(super) fn extent_that_is_one(&self) -> Option<Leaf> {
        let Condition::Compare(left, Relation::Is, right) = self else { return None };
        match left.0.as_slice() {
            [(1, product)] if *right == Sum::number(1) && product.len() == 1 => product.first().copied(),
            _ => None,
        }
    }

    /// What says that a sum is not negative, with what is added on either side; `None` of a parameter that is no integer.
    pub(super) fn of(premise: &Premise, params: &Arena<Param>) -> Option<Condition> {
        let leaf = |value: &LaunchValue| match *value {
            LaunchValue::Size(GeometryVar::BlockDim(axis)) => Some(Leaf::Block(axis)),
            LaunchValue::Size(GeometryVar::GridDim(axis)) => Some(Leaf::Grid(axis)),
            LaunchValue::Size(_) => None,
            LaunchValue::Param(position) => {
                let (id, param) = params.iter().nth(position)?;
                is_number(param).then_some(Leaf::Param(id))
            }
        };
        let mut sides = [Vec::new(), Vec::new()];
        let mut alone = 0_i128;
        for (factor, product) in &premise.terms {
            let mut leaves = product.iter().map(leaf).collect::<Option<Vec<Leaf>>>()?;
            // As in `gridDim.x * blockDim.x`.
            leaves.sort_by_key(|leaf| (!matches!(leaf, Leaf::Grid(_)), *leaf));
            match leaves.is_empty() {
                true => alone += i128::from(*factor),
                false => sides[usize::from(*factor < 0)].push((i128::from(factor.unsigned_abs()), leaves)),
            }
        }
        // One divisor that all have says nothing: `4 * a - 4 * b + 3 >= 0` is `a >= b`.
        let all = || sides.iter().flatten().map(|(factor, _)| *factor);
        let divisor = all().fold(0, gcd).max(1);
        alone = alone.div_euclid(divisor);
        sides.iter_mut().flatten().for_each(|(factor, _)| *factor /= divisor);
        let [mut left, mut right] = sides;
        match alone {
            0 => {}
            // What is left alone stands on the side where it is added.
            1.. => left.push((alone, Vec::new())),
            ..0 => right.push((-alone, Vec::new())),
        }
        let is_number = |sum: &[(i128, Vec<Leaf>)]| sum.iter().all(|(_, product)| product.is_empty());
        Some(match is_number(&left) {
            true => Condition::Compare(Sum(right), Relation::AtMost, Sum(left)),
            false => Condition::Compare(Sum(left), Relation::AtLeast, Sum(right)),
        })
    }

    /// The condition in the calculus, over the expressions and parameters of a kernel or a protocol.
    pub(super) fn expression(&self, exprs: &mut Exprs, params: &Arena<Param>) -> ExprId {
        match self {
            Condition::Power(leaf) => {
                let value = leaf.value(exprs, params);
                let ty = exprs.ty(value);
                let [zero, one] = [0, 1].map(|value| exprs.int(value, ty));
                let less = exprs.binary(BinaryOp::Sub, value, one);
                let common = exprs.binary(BinaryOp::BitAnd, value, less);
                let has_one_bit = exprs.binary(BinaryOp::Eq, common, zero);
                if !matches!(leaf, Leaf::Param(_)) {
                    // Extents are never 0.
                    return has_one_bit;
                }
                let is_positive = exprs.binary(BinaryOp::Ge, value, one);
                exprs.and(has_one_bit, is_positive)
            }
            Condition::Multiple(leaf, of) => {
                let value = leaf.expression(exprs, params);
                let [of, zero] = [*of, 0].map(|value| exprs.int(value, ScalarType::I64));
                let rest = exprs.binary(BinaryOp::Rem, value, of);
                exprs.binary(BinaryOp::Eq, rest, zero)
            }
            Condition::Compare(left, relation, right) => {
                let [left, right] = [left, right].map(|sum| sum.expression(exprs, params));
                let op = match relation {
                    Relation::AtMost => BinaryOp::Le,
                    Relation::AtLeast => BinaryOp::Ge,
                    Relation::Is => BinaryOp::Eq,
                };
                exprs.binary(op, left, right)
            }
        }
    }

    /// The condition in the words of CUDA, as the source can state it but for powers of two.
    pub(super) fn words(&self, params: &Arena<Param>) -> String {
        match self {
            Condition::Power(leaf) => format!("{} is a power of two", leaf.words(params)),
            Condition::Multiple(leaf, of) => format!("{} is a multiple of {of}", leaf.words(params)),
            Condition::Compare(left, relation, right) => {
                let sign = match relation {
                    Relation::AtMost => "<=",
                    Relation::AtLeast => ">=",
                    Relation::Is => "==",
                };
                format!("{} {sign} {}", left.words(params), right.words(params))
            }
        }
    }

    /// Whether it holds of a launch, as far as its values are known.
    pub(super) fn holds(&self, value: &impl Fn(Leaf) -> Option<i128>) -> Option<bool> {
        Some(match self {
            Condition::Power(leaf) => {
                let value = value(*leaf)?;
                value > 0 && value.count_ones() == 1
            }
            Condition::Multiple(leaf, of) => value(*leaf)? % of == 0,
            Condition::Compare(left, relation, right) => {
                let (left, right) = (left.value(value)?, right.value(value)?);
                match relation {
                    Relation::AtMost => left <= right,
                    Relation::AtLeast => left >= right,
                    Relation::Is => left == right,
                }
            }
        })
    }

    /// The parameter that it keeps within so many bits, if that is all that it says: what arithmetic of that width asks for.
    pub(super) fn bits(&self) -> Option<(ParamId, u8)> {
        let Condition::Compare(left, Relation::AtMost, right) = self else { return None };
        let ([(1, product)], [(most, none)]) = (left.0.as_slice(), right.0.as_slice()) else { return None };
        let [Leaf::Param(param)] = product.as_slice() else { return None };
        let bits = (16..64_u8).find(|&bits| *most == (1_i128 << (bits - 1)) - 1);
        bits.filter(|_| none.is_empty()).map(|bits| (*param, bits))
    }

    /// The same without what is less than one element: `pitch >= 8 * width` for `pitch + 7 >= 8 * width`, which is a little
    /// less to ask for, and nothing that anybody says.
    pub(super) fn in_whole_elements(&self) -> Condition {
        let Condition::Compare(left, Relation::AtLeast, right) = self else { return self.clone() };
        let factors = right.0.iter().filter(|(_, product)| !product.is_empty()).map(|(factor, _)| *factor);
        let element = factors.min().unwrap_or(0);
        let is_less = |(number, product): &(i128, Vec<Leaf>)| product.is_empty() && *number < element;
        let kept: Vec<_> = left.0.iter().filter(|term| !is_less(term)).cloned().collect();
        if kept.is_empty() { self.clone() } else { Condition::Compare(Sum(kept), Relation::AtLeast, right.clone()) }
    }

    /// Whether it only asks for a few threads along x, which nearly every block has.
    pub(super) fn holds_in_usual_blocks(&self) -> bool {
        let Condition::Compare(left, Relation::AtLeast, right) = self else { return false };
        let is_few = right.as_number().is_some_and(|few| few <= FEW_THREADS);
        is_few && left.0 == [(1, vec![Leaf::Block(Axis::X)])]
    }

    /// Whether somebody would say it of sizes: not where one stands on both sides (`pitch + 3 >= gridDim.y * pitch`), nor
    /// where it leaves no work (`n <= 0`).
    pub(super) fn is_sayable(&self) -> bool {
        let Condition::Compare(left, relation, right) = self else { return true };
        let is_param = |leaf: &Leaf| matches!(leaf, Leaf::Param(_));
        let is_little = |most: i128| {
            let mut sizes = left.0.iter().filter(|(_, product)| product.iter().any(is_param));
            let others = |product: &[Leaf]| if product.len() > 1 { WARP } else { 1 };
            sizes.any(|(factor, product)| *factor > 0 && most / factor / others(product) < FEW_ELEMENTS)
        };
        let leaves_little = *relation == Relation::AtMost && right.as_number().is_some_and(is_little);
        let is_on_both = left.leaves().filter(is_param).any(|leaf| right.leaves().any(|other| other == leaf));
        !is_on_both && !leaves_little
    }

    /// What it is about.
    pub(super) fn kind(&self) -> ContractKind {
        match self.leaves().iter().all(|leaf| !matches!(leaf, Leaf::Param(_))) {
            true => ContractKind::Geometry,
            false => ContractKind::Scalar,
        }
    }

    /// How many products and numbers it adds up.
    pub(super) fn terms(&self) -> usize {
        match self {
            Condition::Power(_) | Condition::Multiple(..) => 1,
            Condition::Compare(left, _, right) => left.0.len() + right.0.len(),
        }
    }

    /// The values that it speaks of.
    pub(super) fn leaves(&self) -> Vec<Leaf> {
        match self {
            Condition::Power(leaf) | Condition::Multiple(leaf, _) => vec![*leaf],
            Condition::Compare(left, _, right) => left.leaves().chain(right.leaves()).collect(),
        }
    }
}

/// Whether conditions speak of a parameter: an integer, but for offsets of ids, which no launch that is meant has, and
/// whatever else no launch gives.
pub(super) fn is_number(param: &Param) -> bool {
    matches!(param.ty, ScalarType::Int { .. }) && !is_implicit(&param.name)
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
