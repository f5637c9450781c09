//! The hash-consed expression table and its constructors.
//!
//! Constructors compute types and fold constants and trivial identities (`x + 0`, `!!c`, `true && c`,
//! `select(c, a, a)`, `select(c, a, c)` of truth values), so that guards made by lowering stay readable and equal values
//! are equal handles.
//! They never change the meaning of an expression, including its traps: `x / 0` is not folded. One exception: a
//! condition `a & b` of two truth values is read as `a && b`, which forgets a trap of `b` where `a` is false.

use super::{BinaryOp, Expr, ExprId, Function, GeometryVar, Nature, ParamId, ScalarType, UnaryOp, VarId, arithmetic};
use crate::arena::Arena;
use rustc_hash::FxHashMap;
use std::ops::Index;

/// Nesting of `&` and `|` that is looked through.
const BIT_DEPTH: u32 = 40;

/// A table of expressions in which equal expressions have equal handles.
///
/// Every handle that a constructor takes must come from the same table; operand types must agree as
/// [`super`] says (violations panic in debug builds, since they are bugs of the caller).
#[derive(Clone, Debug, Default)]
pub struct Exprs {
    nodes: Arena<Expr>,
    types: Vec<ScalarType>,
    known: FxHashMap<Expr, ExprId>,
}

impl Exprs {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of expressions.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Expressions in order; operands stand before what uses them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (ExprId, &Expr)> + ExactSizeIterator {
        self.nodes.iter()
    }

    /// The expression, or `None` for a handle of another table.
    pub fn get(&self, id: ExprId) -> Option<&Expr> {
        self.nodes.get(id)
    }

    /// The type of an expression.
    pub fn ty(&self, id: ExprId) -> ScalarType {
        self.types[id.index()]
    }

    /// The constant that `id` is, if it is one.
    pub fn as_int(&self, id: ExprId) -> Option<i128> {
        match self.nodes[id] {
            Expr::Int(value, _) => Some(value),
            _ => None,
        }
    }

    /// Interns `expr` as it is, without folding. `ty` is its type.
    pub fn intern(&mut self, expr: Expr, ty: ScalarType) -> ExprId {
        if let Some(&id) = self.known.get(&expr) {
            return id;
        }
        let id = self.nodes.push(expr.clone());
        self.types.push(ty);
        self.known.insert(expr, id);
        id
    }

    /// A constant, reduced into the range of `ty`.
    pub fn int(&mut self, value: i128, ty: ScalarType) -> ExprId {
        let value = arithmetic::wrap(value, ty);
        self.intern(Expr::Int(value, ty), ty)
    }

    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) -> ExprId {
        self.int(i128::from(value), ScalarType::Bool)
    }

    /// A value that nothing is known about, identified by its text.
    pub fn opaque(&mut self, text: impl Into<String>, ty: ScalarType) -> ExprId {
        self.intern(Expr::Opaque(text.into(), ty), ty)
    }

    /// A private variable of type `ty`.
    pub fn var(&mut self, var: VarId, ty: ScalarType) -> ExprId {
        self.intern(Expr::Var(var), ty)
    }

    /// A parameter of type `ty`.
    pub fn param(&mut self, param: ParamId, ty: ScalarType) -> ExprId {
        self.intern(Expr::Param(param), ty)
    }

    /// An id or a size, of type [`ScalarType::U32`].
    pub fn geometry(&mut self, var: GeometryVar) -> ExprId {
        self.intern(Expr::Geometry(var), ScalarType::U32)
    }

    /// A call of a function, of an uninterpreted pure one by its name. The bits of a constant are counted.
    pub fn call(&mut self, function: impl Into<Function>, args: Vec<ExprId>, ty: ScalarType) -> ExprId {
        let function = function.into();
        match self.counted(&function, &args) {
            Some(counted) => self.int(counted, ty),
            None => self.intern(Expr::Call(function, args, ty), ty),
        }
    }

    /// What a function gives that counts the bits of a constant.
    pub fn counted(&self, function: &Function, args: &[ExprId]) -> Option<i128> {
        let (Nature::Counts(what), &[arg]) = (function.nature(), args) else { return None };
        arithmetic::count(what, self.as_int(arg)?, self.ty(arg))
    }

    /// `op a`
    pub fn unary(&mut self, op: UnaryOp, a: ExprId) -> ExprId {
        let ty = self.ty(a);
        if let Some(value) = self.as_int(a)
            && let Ok(outcome) = arithmetic::unary(op, value, ty)
        {
            return self.int(outcome.value, ty);
        }
        match (op, &self.nodes[a]) {
            (UnaryOp::Not, &Expr::Unary(UnaryOp::Not, inner)) => inner,
            (UnaryOp::Not, &Expr::Binary(comparison, left, right))
                if comparison.negated().is_some() && self.ty(left).range().is_some() =>
            {
                // Not for floating point, where `!(a < b)` also holds for unordered operands.
                let op = comparison.negated().unwrap_or(comparison);
                self.intern(Expr::Binary(op, left, right), ScalarType::Bool)
            }
            _ => self.intern(Expr::Unary(op, a), ty),
        }
    }

    /// `!a`
    pub fn not(&mut self, a: ExprId) -> ExprId {
        self.unary(UnaryOp::Not, a)
    }

    /// `a op b`
    pub fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        let ty = self.ty(a);
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        debug_assert!(shift || ty == self.ty(b), "{op:?} on {ty:?} and {:?}", self.ty(b));
        let result = if op.is_boolean() { ScalarType::Bool } else { ty };
        if let (Some(left), Some(right)) = (self.as_int(a), self.as_int(b))
            && let Ok(outcome) = arithmetic::binary(op, left, right, ty)
        {
            return self.int(outcome.value, result);
        }
        if let (BinaryOp::Eq | BinaryOp::Ne, Some(0)) = (op, self.as_int(b))
            && let Some(truth) = self.truth_of_bits(a, BIT_DEPTH)
        {
            return if op == BinaryOp::Ne { truth } else { self.not(truth) };
        }
        self.identity(op, a, b).unwrap_or_else(|| self.intern(Expr::Binary(op, a, b), result))
    }

    /// Identities that hold without looking into either operand.
    fn identity(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> Option<ExprId> {
        use BinaryOp::{Add, And, BitAnd, BitOr, BitXor, Div, Max, Min, Mul, Or, Shl, Shr, Sub};
        let (left, right) = (self.as_int(a), self.as_int(b));
        match (op, left, right) {
            (Add | BitOr | BitXor | Or, Some(0), _) | (Mul | And, Some(1), _) => Some(b),
            (Add | Sub | BitOr | BitXor | Shl | Shr, _, Some(0)) | (Mul | Div, _, Some(1)) => Some(a),
            (And, _, Some(1)) | (Or, _, Some(0)) => Some(a),
            (And, Some(0), _) | (Or, Some(1), _) => Some(a),
            (And, _, Some(0)) | (Or, _, Some(1)) => Some(b),
            (And | Or | Min | Max | BitAnd | BitOr, ..) if a == b => Some(a),
            _ => None,
        }
    }

    /// `a && b`
    pub fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryOp::And, a, b)
    }

    /// `a || b`
    pub fn or(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.binary(BinaryOp::Or, a, b)
    }

    /// `c ? a : b`
    pub fn select(&mut self, c: ExprId, a: ExprId, b: ExprId) -> ExprId {
        debug_assert_eq!(self.ty(a), self.ty(b), "branches of a select");
        let ty = self.ty(a);
        if a == b {
            return a;
        }
        match self.as_int(c) {
            Some(0) => b,
            Some(_) => a,
            None if ty == ScalarType::Bool => self.boolean_select(c, a, b),
            None => self.intern(Expr::Select(c, a, b), ty),
        }
    }

    fn boolean_select(&mut self, c: ExprId, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_int(a), self.as_int(b)) {
            (Some(1), _) => self.or(c, b),
            (Some(0), _) => {
                let not = self.not(c);
                self.and(not, b)
            }
            (_, Some(1)) => {
                let not = self.not(c);
                self.or(not, a)
            }
            (_, Some(0)) => self.and(c, a),
            // `t = c; if (t) t = a`, as `c && a` is lowered where `a` reads memory; neither is evaluated in vain here.
            _ if b == c => self.and(c, a),
            _ if a == c => self.or(c, b),
            _ if self.is_negation(c, b) => {
                let not = self.not(c);
                self.or(not, a)
            }
            _ if self.is_negation(c, a) => {
                let not = self.not(c);
                self.and(not, b)
            }
            _ => self.intern(Expr::Select(c, a, b), ScalarType::Bool),
        }
    }

    /// Whether `b` is `!a`.
    fn is_negation(&self, a: ExprId, b: ExprId) -> bool {
        let opposite = |one: ExprId, other: ExprId| match (&self.nodes[one], &self.nodes[other]) {
            (Expr::Unary(UnaryOp::Not, inner), _) => *inner == other,
            (&Expr::Binary(op, left, right), &Expr::Binary(opposed, x, y)) => {
                (left, right) == (x, y) && self.ty(left).range().is_some() && op.negated() == Some(opposed)
            }
            _ => false,
        };
        opposite(a, b) || opposite(b, a)
    }

    /// The conversion of `a` to `ty`.
    pub fn convert(&mut self, ty: ScalarType, a: ExprId) -> ExprId {
        let from = self.ty(a);
        if from == ty {
            return a;
        }
        match (self.as_int(a), ty) {
            (Some(value), ScalarType::Bool | ScalarType::Int { .. }) => self.int(value, ty),
            (None, ScalarType::Bool) => {
                self.truth_of_bits(a, BIT_DEPTH).unwrap_or_else(|| self.intern(Expr::Convert(ty, a), ty))
            }
            _ => self.intern(Expr::Convert(ty, a), ty),
        }
    }

    /// The truth value that an integer is, if it is one or is made of such by `&` and `|`: `(a < b) & (c < d)`.
    fn truth_of_bits(&mut self, a: ExprId, depth: u32) -> Option<ExprId> {
        let depth = depth.checked_sub(1)?;
        match self.nodes[a] {
            Expr::Int(value @ (0 | 1), _) => Some(self.bool(value != 0)),
            Expr::Convert(_, inner) if self.ty(inner) == ScalarType::Bool => Some(inner),
            Expr::Convert(ScalarType::Int { .. }, inner) => self.truth_of_bits(inner, depth),
            Expr::Binary(op @ (BinaryOp::BitAnd | BinaryOp::BitOr), left, right) => {
                let (left, right) = (self.truth_of_bits(left, depth)?, self.truth_of_bits(right, depth)?);
                Some(if op == BinaryOp::BitAnd { self.and(left, right) } else { self.or(left, right) })
            }
            _ => None,
        }
    }

    /// The value of `a` in the other one of two threads.
    pub fn other(&mut self, a: ExprId) -> ExprId {
        let ty = self.ty(a);
        self.call(Function::Other, vec![a], ty)
    }

    /// Whether a condition is about two threads.
    pub fn relates_threads(&self, cond: ExprId) -> bool {
        let mut relates = false;
        self.visit(cond, |_, node| relates |= is_about_two(node));
        relates
    }

    /// Whether some condition here is about two threads.
    pub fn relate_threads(&self) -> bool {
        self.iter().any(|(_, node)| is_about_two(node))
    }

    /// Whether every value of `root` is a multiple of `factor`, a power of two, by its form alone. Powers of two
    /// stay factors when arithmetic wraps.
    pub fn is_multiple(&self, root: ExprId, factor: u32) -> bool {
        let mut twos = rustc_hash::FxHashMap::default();
        self.visit(root, |id, node| {
            let of = |operand: &ExprId| twos.get(operand).copied().unwrap_or(0);
            let count: u32 = match node {
                Expr::Int(value, _) => value.trailing_zeros().min(Self::MOST_TWOS),
                Expr::Unary(UnaryOp::Neg, a) => of(a),
                Expr::Convert(ScalarType::Int { .. }, a) => of(a),
                Expr::Binary(BinaryOp::Mul, a, b) => (of(a) + of(b)).min(Self::MOST_TWOS),
                Expr::Binary(BinaryOp::BitAnd, a, b) => of(a).max(of(b)),
                Expr::Binary(BinaryOp::Shl, a, by) => match self.as_int(*by) {
                    Some(by @ 0..=32) => (of(a) + by as u32).min(Self::MOST_TWOS),
                    _ => of(a),
                },
                Expr::Select(_, a, b)
                | Expr::Binary(
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Min | BinaryOp::Max,
                    a,
                    b,
                ) => of(a).min(of(b)),
                _ => 0,
            };
            twos.insert(id, count);
        });
        factor.is_power_of_two() && twos.get(&root).is_some_and(|&count| count >= factor.trailing_zeros())
    }

    /// Factors of two that are counted; more are not asked for.
    const MOST_TWOS: u32 = 32;
}

impl Index<ExprId> for Exprs {
    type Output = Expr;
    fn index(&self, id: ExprId) -> &Expr {
        &self.nodes[id]
    }
}

fn is_about_two(node: &Expr) -> bool {
    matches!(node, Expr::Call(function, ..) if function.is_about_two())
}
