//! Conditions about two threads: each that gets there is compared with those that were there before in the same turns
//! of the loops around, both ways.
//!
//! Deliberately absent: threads of blocks that are not run, and more than [`MOST`] visits of one condition; then nothing
//! is known of the condition as a whole, and a pair for which it fails is one all the same.

use super::machine::{Machine, Place};
use super::program::{Program, Register, geometry_index};
use super::value::{self, Value};
use super::{Blocks, ThreadId};
use crate::calculus::{Expr, ExprId, Function};
use rustc_hash::FxHashMap;

/// Visits of one condition that are remembered.
const MOST: usize = 192;
/// Nesting of conditions that is followed.
const DEPTH: u32 = 300;

/// A thread at a condition.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    thread: ThreadId,
    turns: Vec<u64>,
    /// Everything that expressions mention: variables, constants, parameters, ids and sizes.
    leaves: Vec<Value>,
}

/// What is known once a thread got there.
pub(super) enum Answer {
    /// It holds for this thread and those before it.
    Holds,
    /// For some thread that is not known.
    Unknown,
    /// It does not hold for the thread and this one.
    Fails((ThreadId, Vec<Value>)),
}

/// The value of a condition of one thread, given everything that it may mention.
pub(super) fn value(program: &Program, cond: ExprId, leaves: Vec<Value>) -> Value {
    let thread = Visit { thread: ThreadId { block: 0, thread: 0 }, turns: Vec::new(), leaves };
    let mut values = Values { program, sides: [&thread, &thread], known: FxHashMap::default() };
    values.of(cond, 0, DEPTH)
}

/// A thread gets to the condition, `certain` if that is sure.
pub(super) fn meet<S>(
    machine: &mut Machine<'_, S>,
    relation: usize,
    turns: &[u64],
    place: Place,
    certain: bool,
) -> Answer {
    let program = machine.program;
    let known = &program.relations[relation];
    let is_claim = known.claim.is_some();
    if !certain || machine.visits[relation].len() >= MOST {
        return Answer::Unknown;
    }
    // Nobody looks at threads of other blocks, so an assumption about them may fail.
    let mut answer = match machine.setup.blocks {
        Blocks::These(_) if !is_claim => Answer::Unknown,
        _ => Answer::Holds,
    };
    let leaves = machine.registers[..program.first_geometry() + 12].to_vec();
    let turns = known.slots.iter().map(|&slot| turns.get(slot as usize).copied().unwrap_or(0)).collect();
    let own = Visit { thread: place.thread, turns, leaves };
    for other in machine.visits[relation].iter().filter(|other| other.turns == own.turns) {
        if other.thread == own.thread {
            continue;
        }
        for sides in [[&own, other], [other, &own]] {
            let mut values = Values { program, sides, known: FxHashMap::default() };
            match values.of(known.cond, 0, DEPTH).bits() {
                Some(0) => {
                    let locals = other.leaves[..program.variables.len()].to_vec();
                    return Answer::Fails((other.thread, locals));
                }
                Some(_) => {}
                None => answer = Answer::Unknown,
            }
        }
    }
    machine.visits[relation].push(own);
    answer
}

/// Values of expressions in two threads.
struct Values<'a> {
    program: &'a Program,
    sides: [&'a Visit; 2],
    known: FxHashMap<(ExprId, usize), Value>,
}

impl Values<'_> {
    /// The value in the thread of a side; unknown where it is undefined, too.
    fn of(&mut self, id: ExprId, side: usize, depth: u32) -> Value {
        if let Some(&known) = self.known.get(&(id, side)) {
            return known;
        }
        let Some(depth) = depth.checked_sub(1) else { return Value::UNKNOWN };
        let value = self.compute(id, side, depth);
        let value = if value.trap().is_some() { Value::UNKNOWN } else { value };
        self.known.insert((id, side), value);
        value
    }

    fn compute(&mut self, id: ExprId, side: usize, depth: u32) -> Value {
        let program = self.program;
        let exprs = &program.conditions;
        let is_number = |id: ExprId| exprs.ty(id).range().is_some();
        let leaf = |at: usize| self.sides[side].leaves.get(at).copied().unwrap_or_default();
        match &exprs[id] {
            Expr::Int(number, _) => Value::known(*number as i64),
            Expr::Var(var) => leaf(var.index() as Register as usize),
            Expr::Param(param) => leaf(program.first_param() + param.index()),
            Expr::Geometry(var) => leaf(program.first_geometry() + geometry_index(*var)),
            Expr::Call(Function::Other, args, _) => self.of(args[0], 1 - side, depth),
            Expr::Call(Function::SameBlock, ..) => {
                Value::truth(self.sides[0].thread.block == self.sides[1].thread.block)
            }
            Expr::Unary(op, a) if is_number(*a) => value::unary(*op, self.of(*a, side, depth), exprs.ty(*a), None).0,
            Expr::Binary(op, a, b) if is_number(*a) && is_number(*b) => {
                let (left, right) = (self.of(*a, side, depth), self.of(*b, side, depth));
                value::binary(*op, left, right, exprs.ty(*a), None).0
            }
            Expr::Select(c, a, b) => {
                let (c, a, b) = (self.of(*c, side, depth), self.of(*a, side, depth), self.of(*b, side, depth));
                value::select(c, a, b)
            }
            Expr::Convert(ty, a) if is_number(*a) && ty.range().is_some() => {
                value::convert(self.of(*a, side, depth), *ty)
            }
            Expr::Unary(..) | Expr::Binary(..) | Expr::Convert(..) | Expr::Opaque(..) | Expr::Call(..) => {
                Value::UNKNOWN
            }
        }
    }
}
