//! Sums of what a shuffle has handed on and a rank: the thread's own number stands for the two.
//!
//! Guarantees: the other terms stay, in their order. A term that stands twice in a sum is not replaced.

use super::DEEPEST;
use super::place::Seen;
use super::recognise::stripped;
use crate::calculus::{BinaryOp, Expr, ExprId, ScalarType};

impl Seen<'_> {
    /// An expression with the numbers that each thread draws in place of sums of what was handed on and a rank.
    pub(super) fn rewritten(&mut self, root: ExprId) -> ExprId {
        if self.state.handed.is_empty() {
            return root;
        }
        let whole = self.substituted(root);
        let new = self.with_numbers(whole, DEEPEST);
        if new == whole { root } else { new }
    }

    fn with_numbers(&mut self, id: ExprId, depth: usize) -> ExprId {
        let Some(depth) = depth.checked_sub(1) else { return id };
        match self.kernel.exprs[id].clone() {
            Expr::Int(..) | Expr::Opaque(..) | Expr::Var(_) | Expr::Param(_) | Expr::Geometry(_) => id,
            Expr::Unary(op, a) => {
                let a = self.with_numbers(a, depth);
                self.kernel.exprs.unary(op, a)
            }
            Expr::Convert(ty, a) => {
                let a = self.with_numbers(a, depth);
                self.kernel.exprs.convert(ty, a)
            }
            Expr::Binary(BinaryOp::Add, a, b) => match self.number(id) {
                Some(sum) => sum,
                None => {
                    let (a, b) = (self.with_numbers(a, depth), self.with_numbers(b, depth));
                    self.kernel.exprs.binary(BinaryOp::Add, a, b)
                }
            },
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.with_numbers(a, depth), self.with_numbers(b, depth));
                self.kernel.exprs.binary(op, a, b)
            }
            Expr::Select(c, a, b) => {
                let [c, a, b] = [c, a, b].map(|each| self.with_numbers(each, depth));
                self.kernel.exprs.select(c, a, b)
            }
            Expr::Call(name, args, ty) => {
                let args = args.iter().map(|&arg| self.with_numbers(arg, depth)).collect();
                self.kernel.exprs.call(name, args, ty)
            }
        }
    }

    /// A sum in which a number of the thread's own stands for two of its terms; `None` if there are no such two.
    fn number(&mut self, sum: ExprId) -> Option<ExprId> {
        let mut terms = Vec::new();
        self.terms(sum, DEEPEST, &mut terms);
        let handed = |term: ExprId| match self.kernel.exprs[stripped(self.kernel, term)] {
            Expr::Var(var) => self.state.handed.get(&var).copied(),
            _ => None,
        };
        let pairs = terms.iter().filter_map(|&term| Some((term, handed(term)?)));
        let (first, numbers, rank) = pairs.into_iter().find_map(|(first, (numbers, group))| {
            let rank = terms.iter().copied().find(|&term| self.rank(term) == Some(group))?;
            Some((first, numbers, rank))
        })?;
        // Each is met once: a term that stands there twice is one that this does not speak of.
        let met = |wanted: ExprId| terms.iter().filter(|&&term| term == wanted).count() == 1;
        if first == rank || !met(first) || !met(rank) {
            return None;
        }
        let ty = self.kernel.vars[numbers].ty;
        let numbers = self.kernel.exprs.var(numbers, ty);
        let numbers = self.kernel.exprs.convert(self.kernel.exprs.ty(first), numbers);
        Some(self.replaced(sum, &[(first, Some(numbers)), (rank, None)]))
    }

    /// The terms of a sum, also of one in another type of the same size.
    fn terms(&self, id: ExprId, depth: usize, terms: &mut Vec<ExprId>) {
        match (self.kernel.exprs[id].clone(), depth.checked_sub(1)) {
            (Expr::Binary(BinaryOp::Add, a, b), Some(depth)) => {
                self.terms(a, depth, terms);
                self.terms(b, depth, terms);
            }
            (Expr::Convert(ty, inner), Some(depth)) if self.is_sum(inner) && self.keeps(ty, inner) => {
                self.terms(inner, depth, terms);
            }
            _ => terms.push(id),
        }
    }

    fn is_sum(&self, id: ExprId) -> bool {
        matches!(self.kernel.exprs[id], Expr::Binary(BinaryOp::Add, ..))
    }

    /// Whether a conversion loses no bit.
    fn keeps(&self, ty: ScalarType, inner: ExprId) -> bool {
        let from = self.kernel.exprs.ty(inner);
        matches!((ty, from), (ScalarType::Int { .. }, ScalarType::Int { .. })) && ty.bytes() == from.bytes()
    }

    /// The sum with other terms; those without another one are left out.
    fn replaced(&mut self, id: ExprId, terms: &[(ExprId, Option<ExprId>)]) -> ExprId {
        if let Some((_, new)) = terms.iter().find(|term| term.0 == id) {
            let ty = self.kernel.exprs.ty(id);
            return new.unwrap_or_else(|| self.kernel.exprs.int(0, ty));
        }
        match self.kernel.exprs[id] {
            Expr::Binary(BinaryOp::Add, a, b) => {
                let (a, b) = (self.replaced(a, terms), self.replaced(b, terms));
                self.kernel.exprs.binary(BinaryOp::Add, a, b)
            }
            Expr::Convert(ty, inner) if self.is_sum(inner) && self.keeps(ty, inner) => {
                let inner = self.replaced(inner, terms);
                self.kernel.exprs.convert(ty, inner)
            }
            _ => id,
        }
    }
}
