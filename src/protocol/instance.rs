//! The protocol with everything concrete: what one thread of one launch does.
//!
//! A [`Valuation`] gives expressions of the protocol their values for one thread in given turns of loops;
//! [`instances`] walks the tree and lists the accesses of that thread. For exact accesses this is what
//! [`crate::calculus::eval`] reports, which is docs/PAPERS.md, "Liew 2024, theorem 1" and tested as such.
//!
//! Deliberately absent: memory. A value that comes from it is unknown, and what stands under a condition that
//! is unknown is not listed.

use super::{AccessId, LoopId, Node, Origin, Protocol, Role};
use crate::calculus::arithmetic;
use crate::calculus::{BinaryOp, Expr, ExprId, Geometry, GeometryVar, VarId, operands};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// A thread of a launch, and what the launch passes.
#[derive(Clone, Copy, Debug)]
pub struct Point<'p> {
    /// The launch.
    pub geometry: Geometry,
    /// Its block.
    pub block: [u32; 3],
    /// Its place in the block.
    pub thread: [u32; 3],
    /// Values of the parameters, by position; missing ones are unknown.
    pub params: &'p [Option<i128>],
}

/// The value of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// This number.
    Known(i128),
    /// A number that the protocol does not know.
    Unknown,
    /// None: an operation has no result.
    Trapped,
}

/// Values of a protocol's expressions at a point, in certain turns of loops.
#[derive(Clone, Debug)]
pub struct Valuation<'p> {
    protocol: &'p Protocol,
    ids: Ids,
    sizes: Sizes,
    params: &'p [Option<i128>],
    vars: FxHashMap<VarId, Value>,
    /// What was computed in these turns.
    known: RefCell<FxHashMap<ExprId, Value>>,
}

/// Sizes of a launch, as far as they are known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sizes {
    /// Threads of a block.
    pub block: [Option<u32>; 3],
    /// Blocks of the grid.
    pub grid: [Option<u32>; 3],
}

/// Who it is, as far as that is known.
#[derive(Clone, Copy, Debug, Default)]
struct Ids {
    block: [Option<u32>; 3],
    thread: [Option<u32>; 3],
}

impl<'p> Valuation<'p> {
    /// Values outside all loops.
    pub fn new(protocol: &'p Protocol, point: Point<'p>) -> Self {
        let Point { geometry, block, thread, params } = point;
        let ids = Ids { block: block.map(Some), thread: thread.map(Some) };
        let sizes = Sizes { block: geometry.block.map(Some), grid: geometry.grid.map(Some) };
        Valuation { protocol, ids, sizes, params, vars: FxHashMap::default(), known: RefCell::default() }
    }

    /// Values that all threads of all launches of such sizes share: those of a thread of which nothing is known.
    pub fn of_all(protocol: &'p Protocol, sizes: Sizes, params: &'p [Option<i128>]) -> Self {
        let (ids, vars, known) = (Ids::default(), FxHashMap::default(), RefCell::default());
        Valuation { protocol, ids, sizes, params, vars, known }
    }

    /// Enters turn 0 of a loop, having entered those around it.
    pub fn enter(&mut self, id: LoopId) {
        let starts = self.starts(id);
        self.change().extend(starts);
    }

    /// The values in turn 0 of a loop.
    pub fn entering(&self, id: LoopId) -> Self {
        let mut vars = self.vars.clone();
        vars.extend(self.starts(id));
        let Valuation { protocol, ids, sizes, params, .. } = *self;
        Valuation { protocol, ids, sizes, params, vars, known: RefCell::default() }
    }

    /// What the variables of a loop are in its turn 0.
    fn starts(&self, id: LoopId) -> Vec<(VarId, Value)> {
        let each = &self.protocol.loops[id];
        let carried = each.carried.iter().map(|carried| (carried.var, self.value(carried.start)));
        std::iter::once((each.iteration, Value::Known(0))).chain(carried).collect()
    }

    /// Goes to the next turn of a loop that was entered.
    pub fn advance(&mut self, id: LoopId) {
        let each = &self.protocol.loops[id];
        let next: Vec<_> = each.carried.iter().map(|carried| (carried.var, self.value(carried.next))).collect();
        if let Some(Value::Known(turn)) = self.change().get_mut(&each.iteration) {
            *turn += 1;
        }
        self.change().extend(next);
    }

    /// Says what a variable is in the turns that were entered, of which its start does not tell.
    pub fn set(&mut self, var: VarId, value: i128) {
        self.change().insert(var, Value::Known(value));
    }

    /// The variables, of which something is to change: what was computed of them no longer holds.
    fn change(&mut self) -> &mut FxHashMap<VarId, Value> {
        self.known.get_mut().clear();
        &mut self.vars
    }

    /// Enters a loop and goes to the given turn.
    pub fn enter_turn(&mut self, id: LoopId, turn: u64) {
        self.enter(id);
        for _ in 0..turn {
            self.advance(id);
        }
    }

    /// The value of an expression. What it is made of is computed once, however often that is asked for.
    pub fn value(&self, root: ExprId) -> Value {
        let known = |id: ExprId| self.known.borrow().get(&id).copied();
        if let Some(value) = known(root) {
            return value;
        }
        self.protocol.exprs.visit_within(
            root,
            |id| known(id).is_none(),
            |id, node| {
                // A variable may stand for an expression, whose values are put down meanwhile.
                let value = match operands(node).is_empty() {
                    true => self.leaf(node),
                    false => compute(self.protocol, node, &self.known.borrow()),
                };
                self.known.borrow_mut().insert(id, value);
            },
        );
        self.known.borrow()[&root]
    }

    fn leaf(&self, node: &Expr) -> Value {
        let of_axis = |each: [Option<u32>; 3], axis: crate::calculus::Axis| {
            each[axis.index()].map_or(Value::Unknown, |value| Value::Known(value.into()))
        };
        match *node {
            Expr::Int(value, _) => Value::Known(value),
            Expr::Param(param) => {
                self.params.get(param.index()).copied().flatten().map_or(Value::Unknown, Value::Known)
            }
            Expr::Geometry(GeometryVar::ThreadIdx(axis)) => of_axis(self.ids.thread, axis),
            Expr::Geometry(GeometryVar::BlockIdx(axis)) => of_axis(self.ids.block, axis),
            Expr::Geometry(GeometryVar::BlockDim(axis)) => of_axis(self.sizes.block, axis),
            Expr::Geometry(GeometryVar::GridDim(axis)) => of_axis(self.sizes.grid, axis),
            Expr::Var(var) => self.variable(var),
            _ => Value::Unknown,
        }
    }

    /// The value of a variable.
    pub fn variable(&self, var: VarId) -> Value {
        if let Some(&value) = self.vars.get(&var) {
            return value;
        }
        match self.protocol.roles.get(var) {
            Some(&Role::Opaque(id)) => match self.protocol.opaques[id].origin {
                Origin::Complex { value } => self.value(value),
                _ => Value::Unknown,
            },
            _ => Value::Unknown,
        }
    }
}

fn compute(protocol: &Protocol, node: &Expr, done: &FxHashMap<ExprId, Value>) -> Value {
    let truth = |value: Value| match value {
        Value::Known(value) => Some(value != 0),
        _ => None,
    };
    let result = match *node {
        Expr::Select(c, a, b) => match truth(done[&c]) {
            Some(true) => return done[&a],
            Some(false) => return done[&b],
            None => return done[&c],
        },
        Expr::Binary(BinaryOp::And, a, _) if truth(done[&a]) == Some(false) => return Value::Known(0),
        Expr::Binary(BinaryOp::Or, a, _) if truth(done[&a]) == Some(true) => return Value::Known(1),
        Expr::Binary(BinaryOp::And, a, b) if done[&a] == Value::Unknown && truth(done[&b]) == Some(false) => {
            return Value::Known(0);
        }
        Expr::Binary(BinaryOp::Or, a, b) if done[&a] == Value::Unknown && truth(done[&b]) == Some(true) => {
            return Value::Known(1);
        }
        Expr::Binary(op, a, b) => match (done[&a], done[&b]) {
            (Value::Known(x), Value::Known(y)) => arithmetic::binary(op, x, y, protocol.exprs.ty(a)),
            (Value::Trapped, _) | (_, Value::Trapped) => return Value::Trapped,
            _ => return Value::Unknown,
        },
        Expr::Unary(op, a) => match done[&a] {
            Value::Known(x) => arithmetic::unary(op, x, protocol.exprs.ty(a)),
            other => return other,
        },
        Expr::Convert(ty, a) => {
            let computable = ty.range().is_some() && protocol.exprs.ty(a).range().is_some();
            return match done[&a] {
                Value::Known(x) if computable => Value::Known(arithmetic::wrap(x, ty)),
                Value::Known(_) => Value::Unknown,
                other => other,
            };
        }
        _ => return Value::Unknown,
    };
    result.map_or(Value::Trapped, |outcome| Value::Known(outcome.value))
}

/// An access of one thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Instance {
    /// Which.
    pub access: AccessId,
    /// Offset of the first byte.
    pub offset: i128,
    /// The turns of the loops around it, outermost first.
    pub turns: Vec<u64>,
}

/// The accesses of one thread, in order, without those whose offset or conditions are unknown.
/// `None` if there are more than `limit` accesses or turns of loops.
pub fn instances(protocol: &Protocol, point: Point<'_>, limit: usize) -> Option<Vec<Instance>> {
    let valuation = Valuation::new(protocol, point);
    let mut walk = Walk { protocol, valuation, turns: Vec::new(), found: Vec::new(), left: limit };
    walk.nodes(&protocol.body)?;
    Some(walk.found)
}

struct Walk<'p> {
    protocol: &'p Protocol,
    valuation: Valuation<'p>,
    turns: Vec<u64>,
    found: Vec<Instance>,
    left: usize,
}

impl Walk<'_> {
    fn spend(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        Some(())
    }

    fn holds(&self, cond: ExprId) -> bool {
        matches!(self.valuation.value(cond), Value::Known(value) if value != 0)
    }

    fn nodes(&mut self, nodes: &[Node]) -> Option<()> {
        for node in nodes {
            match node {
                Node::Access(id) => {
                    self.spend()?;
                    if let Value::Known(offset) = self.valuation.value(self.protocol.accesses[*id].offset) {
                        self.found.push(Instance { access: *id, offset, turns: self.turns.clone() });
                    }
                }
                Node::Sync(_) | Node::Fence(_) => {}
                Node::If { cond, then, otherwise } => match self.valuation.value(*cond) {
                    Value::Known(0) => self.nodes(otherwise)?,
                    Value::Known(_) => self.nodes(then)?,
                    Value::Unknown | Value::Trapped => {}
                },
                Node::Loop(id, body) => self.turns(*id, body)?,
            }
        }
        Some(())
    }

    fn turns(&mut self, id: LoopId, body: &[Node]) -> Option<()> {
        let (guard, continues) = (self.protocol.loops[id].guard, self.protocol.loops[id].continues);
        self.valuation.enter(id);
        self.turns.push(0);
        while self.holds(guard) {
            self.spend()?;
            self.nodes(body)?;
            if !self.holds(continues) {
                break;
            }
            self.valuation.advance(id);
            if let Some(turn) = self.turns.last_mut() {
                *turn += 1;
            }
        }
        self.turns.pop();
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calculus::{ScalarType, Variable};
    use crate::protocol::Opaque;

    /// A protocol in which each of so many variables stands for the sum of the one before it with itself, and the last.
    fn doubled(times: usize) -> (Protocol, VarId) {
        let mut protocol = Protocol::default();
        let ty = ScalarType::I64;
        let mut value = protocol.exprs.int(1, ty);
        let mut last = None;
        for number in 0..times {
            let var = protocol.vars.push(Variable { name: format!("v{number}"), ty });
            let origin = Origin::Complex { value };
            let (loops, uniform, handed, counted, span) = (Vec::new(), None, None, None, None);
            let id = protocol.opaques.push(Opaque { var, origin, loops, uniform, handed, counted, span });
            protocol.roles.insert(var, Role::Opaque(id));
            let read = protocol.exprs.var(var, ty);
            value = protocol.exprs.binary(BinaryOp::Add, read, read);
            last = Some(var);
        }
        (protocol, last.expect("some variables"))
    }

    #[test]
    fn what_many_variables_are_made_of_is_computed_once() {
        // Twice for each level would be 2^60 times.
        let (protocol, last) = doubled(60);
        let valuation = Valuation::of_all(&protocol, Sizes::default(), &[]);
        assert_eq!(valuation.variable(last), Value::Known(1 << 59));
    }

    #[test]
    fn what_is_known_of_a_variable_changes_with_it() {
        let (mut protocol, last) = doubled(3);
        let first = protocol.vars.handles().next().expect("three variables");
        let ty = ScalarType::I64;
        let read = protocol.exprs.var(first, ty);
        let more = protocol.exprs.binary(BinaryOp::Mul, read, read);
        let mut valuation = Valuation::of_all(&protocol, Sizes::default(), &[]);
        assert_eq!(valuation.value(more), Value::Known(1));
        valuation.set(first, 5);
        assert_eq!(valuation.value(more), Value::Known(25));
        assert_eq!(valuation.variable(last), Value::Known(20));
    }
}
