//! Walks over expressions: every distinct subexpression once, operands first, without recursion.
//!
//! Operands come before what is made of them in an [`Exprs`], so what a walk has met is a table as long as the handle
//! of its root is high. The table stays with the thread from one walk to the next and is never cleared: each walk marks
//! with a number of its own. A walk inside of a walk has a table to itself.

use super::build::Exprs;
use super::{Expr, ExprId, VarId};
use std::cell::Cell;
use std::ops::{ControlFlow, Deref};

/// The direct operands of an expression, from left to right.
#[derive(Clone, Copy, Debug)]
pub enum Operands<'a> {
    /// As many of these as the number says.
    Few([ExprId; 3], usize),
    /// Arguments of a call.
    Arguments(&'a [ExprId]),
}

impl Deref for Operands<'_> {
    type Target = [ExprId];
    fn deref(&self) -> &[ExprId] {
        match self {
            Operands::Few(all, count) => &all[..*count],
            Operands::Arguments(all) => all,
        }
    }
}

impl<'a> IntoIterator for Operands<'a> {
    type Item = ExprId;
    type IntoIter = OperandsIter<'a>;
    fn into_iter(self) -> OperandsIter<'a> {
        OperandsIter { operands: self, next: 0 }
    }
}

/// Operands one after the other.
#[derive(Clone, Debug)]
pub struct OperandsIter<'a> {
    operands: Operands<'a>,
    next: usize,
}

impl Iterator for OperandsIter<'_> {
    type Item = ExprId;
    fn next(&mut self) -> Option<ExprId> {
        let operand = self.operands.get(self.next).copied();
        self.next += 1;
        operand
    }
}

/// The direct operands of an expression.
pub fn operands(expr: &Expr) -> Operands<'_> {
    const NONE: ExprId = ExprId::from_index(0);
    match expr {
        Expr::Int(..) | Expr::Opaque(..) | Expr::Var(_) | Expr::Param(_) | Expr::Geometry(_) => {
            Operands::Arguments(&[])
        }
        Expr::Unary(_, a) | Expr::Convert(_, a) => Operands::Few([*a, NONE, NONE], 1),
        Expr::Binary(_, a, b) => Operands::Few([*a, *b, NONE], 2),
        Expr::Select(c, a, b) => Operands::Few([*c, *a, *b], 3),
        Expr::Call(_, args, _) => Operands::Arguments(args),
    }
}

/// What a walk needs room for.
#[derive(Default)]
struct Scratch {
    /// The walk that is going on.
    walk: u32,
    /// The last walk that met each expression.
    met: Vec<u32>,
    /// What it was replaced by in that walk.
    copies: Vec<ExprId>,
}

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// Calls `walk` with an empty table for expressions up to `root`.
fn with_scratch<R>(root: ExprId, walk: impl FnOnce(&mut Scratch) -> R) -> R {
    let mut scratch = SCRATCH.take().unwrap_or_default();
    if scratch.walk == u32::MAX {
        *scratch = Scratch::default();
    }
    scratch.walk += 1;
    if scratch.met.len() <= root.index() {
        scratch.met.resize(root.index() + 1, 0);
    }
    let result = walk(&mut scratch);
    SCRATCH.set(Some(scratch));
    result
}

impl Scratch {
    /// Whether it was not met before in this walk.
    fn meet(&mut self, id: ExprId) -> bool {
        std::mem::replace(&mut self.met[id.index()], self.walk) != self.walk
    }

    fn copy(&self, id: ExprId) -> Option<ExprId> {
        (self.met[id.index()] == self.walk).then(|| self.copies[id.index()])
    }

    fn replace(&mut self, id: ExprId, copy: ExprId) {
        self.met[id.index()] = self.walk;
        self.copies[id.index()] = copy;
    }
}

impl Exprs {
    /// Calls `visit` once for every distinct subexpression of `root`, operands first.
    pub fn visit(&self, root: ExprId, visit: impl FnMut(ExprId, &Expr)) {
        self.visit_within(root, |_| true, visit);
    }

    /// The same, without the subexpressions that `enter` refuses and those that are reached through them alone.
    pub fn visit_within(
        &self,
        root: ExprId,
        mut enter: impl FnMut(ExprId) -> bool,
        mut visit: impl FnMut(ExprId, &Expr),
    ) {
        let all = self.walk(root, &mut enter, &mut |id, node| {
            visit(id, node);
            ControlFlow::Continue(())
        });
        debug_assert!(all.is_continue(), "nothing breaks the walk");
    }

    /// Whether `var` stands in `root`.
    pub fn mentions(&self, root: ExprId, var: VarId) -> bool {
        let walk = self.walk(root, &mut |_| true, &mut |_, node| {
            if *node == Expr::Var(var) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        walk.is_break()
    }

    /// Whether `root` has more than `most` distinct subexpressions, itself included.
    pub fn is_larger_than(&self, root: ExprId, most: u32) -> bool {
        let mut count = 0;
        let walk = self.walk(root, &mut |_| true, &mut |_, _| {
            count += 1;
            if count > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        walk.is_break()
    }

    fn walk(
        &self,
        root: ExprId,
        enter: &mut impl FnMut(ExprId) -> bool,
        visit: &mut impl FnMut(ExprId, &Expr) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        with_scratch(root, |scratch| {
            let mut stack = vec![(root, false)];
            while let Some((id, ready)) = stack.pop() {
                if ready {
                    visit(id, &self[id])?;
                } else if scratch.meet(id) && enter(id) {
                    stack.push((id, true));
                    stack.extend(operands(&self[id]).into_iter().map(|operand| (operand, false)));
                }
            }
            ControlFlow::Continue(())
        })
    }

    /// A copy of `root` in which every variable, parameter or geometry leaf that `leaf` answers is replaced.
    /// Linear in the number of distinct subexpressions; recursion-free.
    pub fn substitute(&mut self, root: ExprId, mut leaf: impl FnMut(&Expr) -> Option<ExprId>) -> ExprId {
        with_scratch(root, |done| {
            if done.copies.len() <= root.index() {
                done.copies.resize(root.index() + 1, root);
            }
            let mut stack = vec![root];
            while let Some(&id) = stack.last() {
                if done.copy(id).is_some() {
                    stack.pop();
                    continue;
                }
                let before = stack.len();
                stack.extend(operands(&self[id]).into_iter().filter(|&operand| done.copy(operand).is_none()));
                if stack.len() > before {
                    continue;
                }
                let copy = self.copied(id, &mut leaf, |operand| done.copies[operand.index()]);
                done.replace(id, copy);
                stack.pop();
            }
            done.copies[root.index()]
        })
    }

    /// `id` with other operands, or what a leaf is replaced by.
    fn copied(
        &mut self,
        id: ExprId,
        leaf: &mut impl FnMut(&Expr) -> Option<ExprId>,
        done: impl Fn(ExprId) -> ExprId,
    ) -> ExprId {
        match self[id] {
            Expr::Var(_) | Expr::Param(_) | Expr::Geometry(_) | Expr::Opaque(..) | Expr::Int(..) => {
                leaf(&self[id]).unwrap_or(id)
            }
            _ => self.rebuilt(id, done),
        }
    }

    /// `id` with other operands.
    pub fn rebuilt(&mut self, id: ExprId, operand: impl Fn(ExprId) -> ExprId) -> ExprId {
        match self[id] {
            Expr::Var(_) | Expr::Param(_) | Expr::Geometry(_) | Expr::Opaque(..) | Expr::Int(..) => id,
            Expr::Unary(op, a) => self.unary(op, operand(a)),
            Expr::Binary(op, a, b) => self.binary(op, operand(a), operand(b)),
            Expr::Select(c, a, b) => self.select(operand(c), operand(a), operand(b)),
            Expr::Convert(ty, a) => self.convert(ty, operand(a)),
            Expr::Call(ref name, ref args, ty) => {
                let (name, args) = (name.clone(), args.iter().map(|&arg| operand(arg)).collect());
                self.call(name, args, ty)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calculus::{BinaryOp, GeometryVar, ScalarType};

    fn chain(exprs: &mut Exprs, length: usize) -> ExprId {
        let ty = ScalarType::I32;
        let mut value = exprs.geometry(GeometryVar::ThreadIdx(crate::calculus::Axis::X));
        value = exprs.convert(ty, value);
        for number in 0..length {
            let next = exprs.int(number as i128 + 2, ty);
            let twice = exprs.binary(BinaryOp::Mul, value, next);
            value = exprs.binary(BinaryOp::BitXor, value, twice);
        }
        value
    }

    #[test]
    fn each_is_visited_once_and_after_its_operands() {
        let mut exprs = Exprs::new();
        let root = chain(&mut exprs, 10);
        let mut seen = Vec::new();
        exprs.visit(root, |id, node| {
            assert!(operands(node).into_iter().all(|operand| seen.contains(&operand)));
            assert!(!seen.contains(&id));
            seen.push(id);
            exprs.visit(id, |_, _| {});
        });
        assert_eq!(seen.last(), Some(&root));
        assert!(exprs.is_larger_than(root, seen.len() as u32 - 1));
        assert!(!exprs.is_larger_than(root, seen.len() as u32));
    }

    #[test]
    fn what_is_not_entered_is_left_out() {
        let mut exprs = Exprs::new();
        let root = chain(&mut exprs, 10);
        let mut count = 0;
        exprs.visit_within(root, |id| id == root, |_, _| count += 1);
        assert_eq!(count, 1);
    }
}
