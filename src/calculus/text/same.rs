//! Structural equality of kernels: as if expressions were trees and spans did not exist.

use crate::calculus::{Access, Among, Expr, ExprId, Kernel, Placeholder, Stmt, Test, operands};
use rustc_hash::FxHashMap;

/// Whether two kernels are equal up to spans and the numbering of expressions.
pub fn same(one: &Kernel, other: &Kernel) -> bool {
    let arrays = |kernel: &Kernel| -> Vec<_> {
        kernel.arrays.iter().map(|(_, array)| crate::calculus::Array { span: None, ..array.clone() }).collect()
    };
    let unsupported = |kernel: &Kernel| -> Vec<_> {
        kernel.unsupported.iter().map(|entry| (entry.reason.clone(), entry.arrays.clone())).collect()
    };
    let mut comparison = Comparison { one, other, equal: FxHashMap::default() };
    one.name == other.name
        && one.template_args == other.template_args
        && one.params == other.params
        && one.vars == other.vars
        && arrays(one) == arrays(other)
        && one.sites.iter().map(|(_, site)| site.told).eq(other.sites.iter().map(|(_, site)| site.told))
        && one.geometry == other.geometry
        && one.returned == other.returned
        && unsupported(one) == unsupported(other)
        && comparison.blocks(&one.body, &other.body)
}

struct Comparison<'a> {
    one: &'a Kernel,
    other: &'a Kernel,
    /// Pairs that are equal; an expression of the one has at most one equal in the other.
    equal: FxHashMap<ExprId, ExprId>,
}

impl Comparison<'_> {
    /// Without recursion: expressions may be as deep as the kernel makes them.
    fn exprs(&mut self, a: ExprId, b: ExprId) -> bool {
        let mut stack = vec![(a, b)];
        while let Some((a, b)) = stack.pop() {
            match self.equal.get(&a) {
                Some(&known) if known == b => continue,
                Some(_) => return false,
                None => {}
            }
            let (left, right) = (&self.one.exprs[a], &self.other.exprs[b]);
            let heads = match (left, right) {
                (Expr::Unary(x, _), Expr::Unary(y, _)) => x == y,
                (Expr::Binary(x, ..), Expr::Binary(y, ..)) => x == y,
                (Expr::Select(..), Expr::Select(..)) => true,
                (Expr::Convert(x, _), Expr::Convert(y, _)) => x == y,
                (Expr::Call(x, xs, s), Expr::Call(y, ys, t)) => x.name() == y.name() && s == t && xs.len() == ys.len(),
                _ => left == right,
            };
            if !heads || self.one.exprs.ty(a) != self.other.exprs.ty(b) {
                return false;
            }
            self.equal.insert(a, b);
            stack.extend(operands(left).into_iter().zip(operands(right)));
        }
        true
    }

    fn lists(&mut self, a: &[ExprId], b: &[ExprId]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| self.exprs(a, b))
    }

    fn accesses(&mut self, a: &Access, b: &Access) -> bool {
        (a.array, a.bytes, a.align, a.site) == (b.array, b.bytes, b.align, b.site) && self.exprs(a.offset, b.offset)
    }

    fn blocks(&mut self, a: &[Stmt], b: &[Stmt]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.stmts(a, b))
    }

    fn stmts(&mut self, a: &Stmt, b: &Stmt) -> bool {
        match (a, b) {
            (Stmt::Let { var: x, value: a }, Stmt::Let { var: y, value: b }) => x == y && self.exprs(*a, *b),
            (Stmt::Read { var: x, access: a }, Stmt::Read { var: y, access: b }) => x == y && self.accesses(a, b),
            (Stmt::Write { access: a, value: v }, Stmt::Write { access: b, value: w }) => {
                self.accesses(a, b) && self.lists(v.as_slice(), w.as_slice())
            }
            (
                Stmt::Atomic { var: x, access: a, op: o, operands: v, order: m, scope: s },
                Stmt::Atomic { var: y, access: b, op: p, operands: w, order: n, scope: t },
            ) => (x, o, m, s) == (y, p, n, t) && self.accesses(a, b) && self.lists(v, w),
            (Stmt::If { cond: a, then: s, otherwise: e }, Stmt::If { cond: b, then: t, otherwise: f }) => {
                self.exprs(*a, *b) && self.blocks(s, t) && self.blocks(e, f)
            }
            (Stmt::For(a), Stmt::For(b)) => {
                (a.var, a.cmp, a.step.op, a.site) == (b.var, b.cmp, b.step.op, b.site)
                    && self.lists(&[a.start, a.bound, a.step.by], &[b.start, b.bound, b.step.by])
                    && self.blocks(&a.body, &b.body)
            }
            (Stmt::Loop { test: a, body: s, site: x }, Stmt::Loop { test: b, body: t, site: y }) => {
                x == y && self.tests(*a, *b) && self.blocks(s, t)
            }
            (Stmt::Havoc { var: x, reason: r, .. }, Stmt::Havoc { var: y, reason: s, .. }) => x == y && r == s,
            (Stmt::Assume { cond: a, basis: x, .. }, Stmt::Assume { cond: b, basis: y, .. }) => {
                x == y && self.exprs(*a, *b)
            }
            (Stmt::Assert { cond: a, claimed: p, site: x }, Stmt::Assert { cond: b, claimed: q, site: y }) => {
                x == y && p == q && self.exprs(*a, *b)
            }
            (
                Stmt::Sync { scope: x, memory: m, among: Among::Named(a), site: s },
                Stmt::Sync { scope: y, memory: n, among: Among::Named(b), site: t },
            ) => (x, m, s) == (y, n, t) && self.exprs(*a, *b),
            (
                Stmt::Sync { scope: x, memory: m, among: Among::Arrivals(a), site: s },
                Stmt::Sync { scope: y, memory: n, among: Among::Arrivals(b), site: t },
            ) => {
                (x, m, s, a.array, a.circle, a.count, a.part) == (y, n, t, b.array, b.circle, b.count, b.part)
                    && self.exprs(a.offset, b.offset)
            }
            (
                Stmt::Sync { scope: x, memory: m, among: Among::Placeholder(a), site: s },
                Stmt::Sync { scope: y, memory: n, among: Among::Placeholder(b), site: t },
            ) => (x, m, s) == (y, n, t) && self.placeholders(*a, *b),
            (Stmt::Sync { .. }, Stmt::Sync { .. }) | (Stmt::Fence { .. }, Stmt::Fence { .. }) => a == b,
            _ => false,
        }
    }

    fn placeholders(&mut self, a: Placeholder, b: Placeholder) -> bool {
        match (a, b) {
            (Placeholder::Mask(a), Placeholder::Mask(b)) => self.exprs(a, b),
            (Placeholder::Object { array: x, offset: a }, Placeholder::Object { array: y, offset: b }) => {
                x == y && self.exprs(a, b)
            }
            (Placeholder::Numbered { number: a, threads: s }, Placeholder::Numbered { number: b, threads: t }) => {
                self.exprs(a, b) && self.exprs(s, t)
            }
            _ => false,
        }
    }

    fn tests(&mut self, a: Test, b: Test) -> bool {
        match (a, b) {
            (Test::Before(a), Test::Before(b)) | (Test::After(a), Test::After(b)) => self.exprs(a, b),
            _ => false,
        }
    }
}
