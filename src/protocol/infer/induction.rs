//! How the variables of a loop move from one turn to the next, read off one turn on fresh symbols.
//!
//! The trial turn gives, for each variable, its value at the end of a turn over the *symbols* that stand for
//! the values at its start. That value is exact, so what [`classify`] says holds for every turn; it never
//! guesses. A variable whose movement has no closed form here is [`Induction::Irregular`].

use super::state::{State, convert};
use crate::calculus::{BinaryOp, Expr, ExprId, ScalarType, VarId};
use crate::protocol::{Origin, Role};
use rustc_hash::{FxHashMap, FxHashSet};

/// Longest cycle of constants, and of variables that a loop rotates, that is recognised.
const MAX_CYCLE: usize = 8;
/// Conditions within each other that decide how a variable moves.
const MAX_GUARDS: u32 = 3;

/// A variable of a loop in its trial turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    /// The kernel's variable.
    pub(super) var: VarId,
    /// Its value before the loop.
    pub(super) start: ExprId,
    /// What stands for its value at the start of the turn.
    pub(super) symbol: ExprId,
    /// Its value at the end of the turn, if another turn follows.
    pub(super) next: ExprId,
    /// Its value at the end of the turn, also of the last one.
    pub(super) end: ExprId,
}

/// How a variable moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Induction {
    /// It has its first value at the start of every turn.
    Invariant,
    /// It grows by the sum of the first operands minus the second; computed in `compute`, which is at least as
    /// wide as the variable, so that truncating in every turn or once at the end is the same.
    Affine { plus: Vec<ExprId>, minus: Vec<ExprId>, compute: ScalarType },
    /// It is multiplied, divided or shifted by an invariant operand: its next value, over its symbol.
    Geometric(ExprId),
    /// It alternates between its first value and this one.
    Toggle(ExprId),
    /// It runs through these values, of which its start is the first, again and again.
    Cycle(Vec<ExprId>),
    /// It has this value at the start of every turn but the first.
    Replaced(ExprId),
    /// GUARDED: it moves in the first way in threads in which the condition holds, and in the second way in others. No
    /// turn changes the condition, so that a thread takes the same way in every turn, and the value after some turns is
    /// that of its way. Both ways are [`Induction::Invariant`], [`Induction::Affine`] or guarded in turn.
    Guarded(ExprId, Box<[Induction; 2]>),
    /// None of these.
    Irregular,
}

/// How each of the variables moves. Variables of the protocol from `mark` on were made in the trial turn.
pub(super) fn classify(state: &mut State<'_>, trials: &[Trial], mark: usize) -> Vec<Induction> {
    let mut invariant: FxHashMap<VarId, ExprId> = FxHashMap::default();
    let mut next: Vec<ExprId> = trials.iter().map(|trial| trial.next).collect();
    loop {
        let known = invariant.len();
        for (trial, next) in trials.iter().zip(&mut next) {
            *next = replace(state, *next, &invariant);
            if *next == trial.symbol || *next == trial.start {
                invariant.insert(variable(state, trial.symbol), trial.start);
            }
        }
        if invariant.len() == known {
            break;
        }
    }
    let mut classifier = Classifier { state, trials, next: &next, mark };
    (0..trials.len())
        .map(|index| {
            let symbol = variable(classifier.state, trials[index].symbol);
            if invariant.contains_key(&symbol) { Induction::Invariant } else { classifier.one(index) }
        })
        .collect()
}

fn variable(state: &State<'_>, symbol: ExprId) -> VarId {
    match state.out.exprs[symbol] {
        Expr::Var(var) => var,
        _ => unreachable!("a symbol is a variable"),
    }
}

fn replace(state: &mut State<'_>, root: ExprId, by: &FxHashMap<VarId, ExprId>) -> ExprId {
    state.out.exprs.substitute(root, |leaf| match leaf {
        Expr::Var(var) => by.get(var).copied(),
        _ => None,
    })
}

struct Classifier<'s, 'k> {
    state: &'s mut State<'k>,
    trials: &'s [Trial],
    /// Next values with invariant symbols replaced by what they stand for.
    next: &'s [ExprId],
    mark: usize,
}

impl Classifier<'_, '_> {
    fn one(&mut self, index: usize) -> Induction {
        let Trial { start, symbol, .. } = self.trials[index];
        let next = self.next[index];
        let symbol = variable(self.state, symbol);
        if !self.varies(next) {
            return Induction::Replaced(next);
        }
        self.affine(symbol, next)
            .or_else(|| self.constant_cycle(symbol, start, next))
            .or_else(|| self.geometric(symbol, next))
            .or_else(|| self.involution(symbol, start, next))
            .or_else(|| self.rotation(index))
            .or_else(|| self.guarded(symbol, next, MAX_GUARDS))
            .unwrap_or(Induction::Irregular)
    }

    /// Whether a value may differ from turn to turn: it mentions something that was made in the trial turn.
    fn varies(&self, root: ExprId) -> bool {
        let mut pending = vec![root];
        let mut seen: FxHashSet<VarId> = FxHashSet::default();
        while let Some(root) = pending.pop() {
            let mut varies = false;
            self.state.out.exprs.visit(root, |_, node| {
                let &Expr::Var(var) = node else { return };
                if var.index() < self.mark || !seen.insert(var) {
                    return;
                }
                match self.origin(var) {
                    Some(Origin::Function { args, .. }) => pending.extend(args),
                    Some(Origin::Complex { value }) => pending.push(*value),
                    _ => varies = true,
                }
            });
            if varies {
                return true;
            }
        }
        false
    }

    fn origin(&self, var: VarId) -> Option<&Origin> {
        match self.state.out.roles.get(var) {
            Some(&Role::Opaque(id)) => Some(&self.state.out.opaques[id].origin),
            _ => None,
        }
    }

    /// `symbol + a - b + …`, possibly computed in a type at least as wide and truncated.
    fn affine(&self, symbol: VarId, next: ExprId) -> Option<Induction> {
        let exprs = &self.state.out.exprs;
        let own = self.state.out.vars[symbol].ty;
        let (mut at, compute) = match exprs[next] {
            Expr::Convert(_, inner) => (inner, exprs.ty(inner)),
            _ => (next, own),
        };
        let (ScalarType::Int { width, .. }, ScalarType::Int { width: own_width, .. }) = (compute, own) else {
            return None;
        };
        let (mut plus, mut minus) = (Vec::new(), Vec::new());
        loop {
            match exprs[at] {
                Expr::Binary(BinaryOp::Add, a, b) if exprs.mentions(a, symbol) => {
                    plus.push(b);
                    at = a;
                }
                Expr::Binary(BinaryOp::Add, a, b) => {
                    plus.push(a);
                    at = b;
                }
                Expr::Binary(BinaryOp::Sub, a, b) if exprs.mentions(a, symbol) => {
                    minus.push(b);
                    at = a;
                }
                Expr::Convert(ty, inner) if ty == compute && exprs[inner] == Expr::Var(symbol) => at = inner,
                Expr::Var(var) if var == symbol => break,
                _ => return None,
            }
        }
        let steady = plus.iter().chain(&minus).all(|&term| !self.varies(term));
        (steady && width >= own_width).then_some(Induction::Affine { plus, minus, compute })
    }

    /// `c ? symbol + a : symbol`, where `c` stays.
    fn guarded(&self, symbol: VarId, next: ExprId, depth: u32) -> Option<Induction> {
        let Expr::Select(cond, then, otherwise) = self.state.out.exprs[next] else { return None };
        if depth == 0 || self.varies(cond) {
            return None;
        }
        let way = |value: ExprId| match self.state.out.exprs[value] {
            Expr::Var(var) if var == symbol => Some(Induction::Invariant),
            _ => self.affine(symbol, value).or_else(|| self.guarded(symbol, value, depth - 1)),
        };
        Some(Induction::Guarded(cond, Box::new([way(then)?, way(otherwise)?])))
    }

    /// `symbol * c` and the like.
    fn geometric(&self, symbol: VarId, next: ExprId) -> Option<Induction> {
        use BinaryOp::{Div, Mul, Shl, Shr};
        let exprs = &self.state.out.exprs;
        let at = if let Expr::Convert(_, inner) = exprs[next] { inner } else { next };
        let Expr::Binary(op @ (Mul | Div | Shl | Shr), a, b) = exprs[at] else { return None };
        let is_symbol = |id: ExprId| match exprs[id] {
            Expr::Convert(_, inner) => exprs[inner] == Expr::Var(symbol),
            Expr::Var(var) => var == symbol,
            _ => false,
        };
        let by = if is_symbol(a) {
            b
        } else if op == Mul && is_symbol(b) {
            a
        } else {
            return None;
        };
        (!self.varies(by)).then_some(Induction::Geometric(next))
    }

    /// `c - symbol`, `symbol ^ c`, `!symbol`: done twice, nothing has changed.
    fn involution(&mut self, symbol: VarId, start: ExprId, next: ExprId) -> Option<Induction> {
        use crate::calculus::UnaryOp::{BitNot, Neg, Not};
        let exprs = &self.state.out.exprs;
        let is_symbol = |id: ExprId| exprs[id] == Expr::Var(symbol);
        let undoes_itself = match exprs[next] {
            Expr::Binary(BinaryOp::Sub, c, s) => is_symbol(s) && !self.varies(c),
            Expr::Binary(BinaryOp::BitXor, a, b) => {
                (is_symbol(a) && !self.varies(b)) || (is_symbol(b) && !self.varies(a))
            }
            Expr::Unary(Not | BitNot | Neg, s) => is_symbol(s),
            _ => false,
        };
        undoes_itself.then(|| Induction::Toggle(self.apply(symbol, start, next)))
    }

    fn apply(&mut self, symbol: VarId, value: ExprId, next: ExprId) -> ExprId {
        replace(self.state, next, &FxHashMap::from_iter([(symbol, value)]))
    }

    /// A constant start that comes back after a few turns.
    fn constant_cycle(&mut self, symbol: VarId, start: ExprId, next: ExprId) -> Option<Induction> {
        self.state.out.exprs.as_int(start)?;
        let mut values = vec![start];
        while values.len() <= MAX_CYCLE {
            let value = self.apply(symbol, values[values.len() - 1], next);
            self.state.out.exprs.as_int(value)?;
            if value == start {
                return Some(if let [_, other] = values[..] {
                    Induction::Toggle(other)
                } else {
                    Induction::Cycle(values)
                });
            }
            values.push(value);
        }
        None
    }

    /// Variables that take each other's values: `a, b = b, a`.
    fn rotation(&self, index: usize) -> Option<Induction> {
        let mut values = vec![self.trials[index].start];
        let mut at = index;
        while values.len() <= MAX_CYCLE {
            at = self.trials.iter().position(|trial| trial.symbol == self.next[at])?;
            if at == index {
                return Some(if let [_, other] = values[..] {
                    Induction::Toggle(other)
                } else {
                    Induction::Cycle(values)
                });
            }
            values.push(self.trials[at].start);
        }
        None
    }
}

/// The value of a variable that stays, is affine, or is one of these by a condition, after `iteration` turns; `None` of
/// one that moves otherwise.
pub(super) fn steady_value(
    state: &mut State<'_>,
    start: ExprId,
    induction: &Induction,
    iteration: ExprId,
) -> Option<ExprId> {
    match induction {
        Induction::Invariant => Some(start),
        Induction::Affine { plus, minus, compute } => {
            Some(affine_value(state, start, (plus, minus), *compute, iteration))
        }
        Induction::Guarded(cond, ways) => {
            let then = steady_value(state, start, &ways[0], iteration)?;
            let otherwise = steady_value(state, start, &ways[1], iteration)?;
            Some(state.out.exprs.select(*cond, then, otherwise))
        }
        _ => None,
    }
}

/// The value of an affine variable after `iteration` turns, if `start` is its first.
fn affine_value(
    state: &mut State<'_>,
    start: ExprId,
    (plus, minus): (&[ExprId], &[ExprId]),
    compute: ScalarType,
    iteration: ExprId,
) -> ExprId {
    let own = state.out.exprs.ty(start);
    let start = convert(&mut state.out.exprs, compute, start);
    let turns = convert(&mut state.out.exprs, compute, iteration);
    let exprs = &mut state.out.exprs;
    let constant: Option<i128> = plus
        .iter()
        .map(|&term| exprs.as_int(term))
        .chain(minus.iter().map(|&term| exprs.as_int(term).map(|value| -value)))
        .sum();
    let value = match constant {
        Some(step) => {
            let by = exprs.int(step.abs(), compute);
            let moved = exprs.binary(BinaryOp::Mul, by, turns);
            exprs.binary(if step < 0 { BinaryOp::Sub } else { BinaryOp::Add }, start, moved)
        }
        None => {
            let mut value = start;
            for (terms, op) in [(plus, BinaryOp::Add), (minus, BinaryOp::Sub)] {
                let Some(&first) = terms.first() else { continue };
                let step = terms[1..].iter().fold(first, |sum, &term| exprs.binary(BinaryOp::Add, sum, term));
                let moved = exprs.binary(BinaryOp::Mul, step, turns);
                value = exprs.binary(op, value, moved);
            }
            value
        }
    };
    convert(&mut state.out.exprs, own, value)
}
