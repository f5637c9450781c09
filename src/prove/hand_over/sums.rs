//! Sums of products of sizes, parameters, ids and numbers that were drawn: enough to say that two of them are equal.
//!
//! A sum is the value of an expression as a mathematical integer. Unsigned products that may wrap on the path are
//! noted; an unsigned difference that may be negative, or a conversion that may cut, is none (`ticket - 1 >= blocks -
//! 2` holds for the first ticket, too).

use crate::calculus::{Axis, BinaryOp, Expr, ExprId, GeometryVar, ParamId, ScalarType, UnaryOp, VarId};
use crate::protocol::Protocol;
use crate::prove::Scope;
use std::collections::BTreeMap;

/// What a product is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Factor {
    /// Threads of a block along an axis: at least 1.
    BlockDim(Axis),
    /// Blocks along an axis: at least 1.
    GridDim(Axis),
    /// A parameter.
    Param(ParamId),
    /// The number of the thread along an axis.
    ThreadIdx(Axis),
    /// A variable of the protocol.
    Var(VarId),
}

/// A sum of products.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum(BTreeMap<Vec<Factor>, i128>);

impl Sum {
    pub(super) fn constant(value: i128) -> Sum {
        Sum::default().with(Vec::new(), value)
    }

    pub(super) fn factor(factor: Factor) -> Sum {
        Sum::default().with(vec![factor], 1)
    }

    fn with(mut self, product: Vec<Factor>, coefficient: i128) -> Sum {
        let sum = self.0.entry(product).or_default();
        *sum = sum.saturating_add(coefficient);
        self.0.retain(|_, coefficient| *coefficient != 0);
        self
    }

    pub(super) fn plus(&self, other: &Sum) -> Sum {
        let terms = other.0.iter();
        terms.fold(self.clone(), |sum, (product, &coefficient)| sum.with(product.clone(), coefficient))
    }

    pub(super) fn minus(&self, other: &Sum) -> Sum {
        self.plus(&other.times(&Sum::constant(-1)))
    }

    pub(super) fn times(&self, other: &Sum) -> Sum {
        let mut product = Sum::default();
        for (left, &a) in &self.0 {
            for (right, &b) in &other.0 {
                let mut factors = [left.clone(), right.clone()].concat();
                factors.sort_unstable();
                product = product.with(factors, a.saturating_mul(b));
            }
        }
        product
    }

    /// The number that it is, if it is one.
    pub(super) fn as_constant(&self) -> Option<i128> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The coefficient of a factor that stands alone, and the rest; `None` if the factor stands in a product.
    pub(super) fn split(&self, factor: Factor) -> Option<(i128, Sum)> {
        let coefficient = self.0.get(&vec![factor]).copied()?;
        let rest = self.minus(&Sum::factor(factor).times(&Sum::constant(coefficient)));
        (!rest.0.keys().any(|product| product.contains(&factor))).then_some((coefficient, rest))
    }

    /// Whether only extents stand in it.
    fn is_of_sizes(&self) -> bool {
        let is_size = |factor: &Factor| matches!(factor, Factor::BlockDim(_) | Factor::GridDim(_));
        self.0.keys().all(|product| product.iter().all(is_size))
    }

    /// Whether it is at least 0 in every launch: extents are at least 1.
    fn is_never_negative(&self) -> bool {
        let grows = self.0.iter().all(|(product, &coefficient)| product.is_empty() || coefficient > 0);
        self.is_of_sizes() && grows && self.0.values().sum::<i128>() >= 0
    }

    /// The products with their coefficients.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&[Factor], i128)> {
        self.0.iter().map(|(product, &coefficient)| (product.as_slice(), coefficient))
    }
}

/// The launches that sums are about.
#[derive(Clone, Copy)]
pub(super) struct Sizes<'p> {
    pub(super) protocol: &'p Protocol,
    pub(super) scope: &'p Scope,
}

impl Sizes<'_> {
    /// An extent, or the number that it is in these launches.
    pub(super) fn size(&self, var: GeometryVar) -> Sum {
        let factor = match var {
            GeometryVar::BlockDim(axis) => Factor::BlockDim(axis),
            GeometryVar::GridDim(axis) => Factor::GridDim(axis),
            GeometryVar::ThreadIdx(axis) | GeometryVar::BlockIdx(axis) => Factor::ThreadIdx(axis),
        };
        let fixed = self.scope.fixed(var, self.protocol.geometry.required_block);
        fixed.map_or_else(|| Sum::factor(factor), |extent| Sum::constant(extent.into()))
    }

    /// The number of blocks.
    pub(super) fn blocks(&self) -> Sum {
        let extents = Axis::ALL.map(|axis| self.size(GeometryVar::GridDim(axis)));
        extents.iter().fold(Sum::constant(1), |product, extent| product.times(extent))
    }

    /// The value of an expression; `read` says what stands for a variable. `wraps` takes unsigned products, which may
    /// leave their type.
    pub(super) fn value(
        &self,
        expr: ExprId,
        read: &dyn Fn(VarId) -> Option<ExprId>,
        wraps: &mut Vec<ExprId>,
        depth: u32,
    ) -> Option<Sum> {
        let depth = depth.checked_sub(1)?;
        let exprs = &self.protocol.exprs;
        match exprs[expr] {
            Expr::Int(value, ScalarType::Int { .. }) => Some(Sum::constant(value)),
            Expr::Geometry(var @ (GeometryVar::BlockDim(_) | GeometryVar::GridDim(_))) => Some(self.size(var)),
            Expr::Geometry(GeometryVar::ThreadIdx(axis)) => Some(Sum::factor(Factor::ThreadIdx(axis))),
            Expr::Param(param) => {
                let fixed = self.scope.params.get(param.index()).copied().flatten();
                Some(fixed.map_or_else(|| Sum::factor(Factor::Param(param)), Sum::constant))
            }
            Expr::Var(var) => match read(var) {
                Some(stored) => self.value(stored, read, wraps, depth),
                None => Some(Sum::factor(Factor::Var(var))),
            },
            Expr::Unary(UnaryOp::Neg, a) => Some(Sum::constant(0).minus(&self.value(a, read, wraps, depth)?)),
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) => {
                let (a, b) = (self.value(a, read, wraps, depth)?, self.value(b, read, wraps, depth)?);
                Some(match op {
                    BinaryOp::Add => a.plus(&b),
                    BinaryOp::Sub => {
                        let is_signed = matches!(exprs.ty(expr), ScalarType::Int { signed: true, .. });
                        Some(a.minus(&b)).filter(|difference| is_signed || difference.is_never_negative())?
                    }
                    _ => {
                        if a.as_constant().is_none() && b.as_constant().is_none() {
                            wraps.push(expr);
                        }
                        a.times(&b)
                    }
                })
            }
            // Numbers of threads and blocks fit into 31 bits along each axis; products are noted.
            Expr::Convert(ty @ ScalarType::Int { width: to @ 32.., .. }, a) => {
                let from = match exprs.ty(a) {
                    ScalarType::Bool => 1,
                    ScalarType::Int { width: from @ 32.., .. } => from,
                    _ => return None,
                };
                let sum = self.value(a, read, wraps, depth)?;
                let fits = match (sum.as_constant(), ty.range()) {
                    (Some(value), Some((least, greatest))) => (least..=greatest).contains(&value),
                    _ => to >= from || sum.is_of_sizes(),
                };
                fits.then_some(sum)
            }
            _ => None,
        }
    }
}
