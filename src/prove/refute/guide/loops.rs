//! Loops and guards around the places of a sketch: iterations are free values, and what a loop carries follows from its
//! iteration.
//!
//! Deliberately absent: after how many iterations a loop is left.

use super::{Class, LARGE, Sketch};
use crate::calculus::intervals::Relation;
use crate::calculus::{BinaryOp, Expr, ExprId, SiteId, VarId};
use crate::protocol::{Guard, LoopId, Role};
use crate::prove::domains::{NodeId, Op, Range};

/// Turns of a loop that moves a value geometrically which are looked at.
const TURNS: i64 = 6;

impl Sketch<'_> {
    /// Gives the loops around both places their iteration numbers.
    pub(super) fn enter_loops(
        &mut self,
        first: &[LoopId],
        second: &[LoopId],
        relations: &[(SiteId, Relation)],
    ) -> Option<()> {
        for &id in first {
            let site = self.protocol.loops[id].site;
            let relation = relations.iter().find(|entry| entry.0 == site).map_or(Relation::Any, |entry| entry.1);
            let number = self.turn();
            let one = self.problem.constant(1);
            let later = self.problem.wide(BinaryOp::Add, number, one);
            let numbers = match relation {
                Relation::Same => [number, number],
                Relation::Next => [number, later],
                Relation::Previous => [later, number],
                Relation::Any => [number, self.turn()],
            };
            self.bind(id, 0, numbers[0])?;
            if second.contains(&id) {
                self.bind(id, 1, numbers[1])?;
            }
        }
        for &id in second.iter().filter(|id| !first.contains(id)) {
            let number = self.turn();
            self.bind(id, 1, number)?;
        }
        for &id in first {
            self.get_on(id, 0);
        }
        for &id in second {
            self.get_on(id, 1);
        }
        Some(())
    }

    /// What the test of a loop multiplies its iterations by is not zero: in `i < n; i += gridDim.x * blockDim.x / 32`
    /// the smallest blocks never come to an end, and their run shows nothing.
    fn get_on(&mut self, id: LoopId, env: usize) {
        let protocol = self.protocol;
        let each = &protocol.loops[id];
        let mut products = Vec::new();
        protocol.exprs.visit(each.guard, |_, node| {
            if let Expr::Binary(BinaryOp::Mul, a, b) = node {
                products.push([*a, *b]);
            }
        });
        for factors in products {
            let is_number = factors.map(|factor| protocol.exprs.mentions(factor, each.iteration));
            let [a, b] = factors;
            let factor = match is_number {
                [true, false] => self.expr(b, env),
                [false, true] => self.expr(a, env),
                _ => None,
            };
            if let Some(factor) = factor {
                let zero = self.problem.constant(0);
                let moves = self.problem.wide(BinaryOp::Ne, factor, zero);
                self.problem.require(moves, Range::TRUE);
            }
        }
    }

    fn turn(&mut self) -> NodeId {
        self.free(Class::Turns, Range { low: 0, high: LARGE })
    }

    /// The loop `id` is in this iteration at place `env`: its number and what it carries have values.
    fn bind(&mut self, id: LoopId, env: usize, number: NodeId) -> Option<()> {
        let protocol = self.protocol;
        let each = &protocol.loops[id];
        self.envs[env].vars.insert(each.iteration, number);
        for carried in &each.carried {
            let value = match protocol.roles.get(carried.var) {
                Some(Role::Toggle(_)) => {
                    let two = self.problem.constant(2);
                    self.problem.wide(BinaryOp::Rem, number, two)
                }
                _ => self.power(carried.var, (carried.start, carried.next), each.iteration, env, number)?,
            };
            self.envs[env].vars.insert(carried.var, value);
        }
        Some(())
    }

    /// A value that a loop moves, after a few iterations: one of those that it has from iteration to iteration.
    fn power(
        &mut self,
        var: VarId,
        (start, next): (ExprId, ExprId),
        iteration: VarId,
        env: usize,
        number: NodeId,
    ) -> Option<NodeId> {
        self.problem.require(number, Range { low: i64::MIN, high: TURNS });
        let mut values = vec![self.expr(start, env)?];
        for turn in 0..TURNS {
            let mut inner = self.envs[env].clone();
            inner.vars.insert(var, values[turn as usize]);
            inner.vars.insert(iteration, self.problem.constant(turn));
            self.envs.push(inner);
            values.push(self.expr(next, self.envs.len() - 1)?);
        }
        let mut value = values[TURNS as usize];
        for turn in (0..TURNS).rev() {
            let turn_node = self.problem.constant(turn);
            let is_this = self.problem.wide(BinaryOp::Eq, number, turn_node);
            value = self.problem.node(Op::Select(is_this, values[turn as usize], value));
        }
        Some(value)
    }

    /// The thread of `env` satisfies these guards and the tests of these loops.
    pub(super) fn hold(&mut self, env: usize, loops: &[LoopId], guards: &[Guard]) -> Option<()> {
        let tests: Vec<ExprId> = loops.iter().map(|&id| self.protocol.loops[id].guard).collect();
        for cond in guards.iter().map(|guard| guard.cond).chain(tests) {
            let node = self.expr(cond, env)?;
            self.problem.require(node, Range::TRUE);
        }
        Some(())
    }
}
