//! Threads by their number in the block, and what values are for one of them.

use crate::calculus::definitions::{Definition, Definitions};
use crate::calculus::{Axis, BinaryOp, Expr, ExprId, Exprs, GeometryVar, ScalarType, VarId, arithmetic};
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// Threads of the largest block.
const MOST: u32 = 1024;
/// Expressions are followed so deep.
const DEPTH: u32 = 64;

/// Some threads of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads([u64; MOST as usize / 64]);

impl Threads {
    /// All of them.
    pub const ALL: Threads = Threads([u64::MAX; MOST as usize / 64]);
    /// None of them.
    pub const NONE: Threads = Threads([0; MOST as usize / 64]);

    /// Those with these numbers.
    pub fn range(from: u32, to: u32) -> Threads {
        let mut threads = Threads::NONE;
        for number in from..to.min(MOST) {
            threads.0[number as usize / 64] |= 1 << (number % 64);
        }
        threads
    }

    /// The number of the first one, and that behind the last one, if all between are in.
    pub fn side_by_side(&self) -> Option<(u32, u32)> {
        let (from, to) = (self.start(), self.end());
        (*self == Threads::range(from, to)).then_some((from, to))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Threads::NONE
    }

    /// How many there are.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn holds(&self, number: u32) -> bool {
        self.0[number as usize / 64] >> (number % 64) & 1 == 1
    }

    /// Their numbers.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        (0..MOST).filter(|&number| self.holds(number))
    }

    /// The number of the first one; 0 if there are none.
    pub fn start(&self) -> u32 {
        self.numbers().next().unwrap_or(0)
    }

    /// The number of the last one, and one more.
    pub fn end(&self) -> u32 {
        self.numbers().last().map_or(0, |last| last + 1)
    }

    /// Those of both.
    pub fn and(&self, other: &Threads) -> Threads {
        Threads(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// Those of either.
    pub fn or(&self, other: &Threads) -> Threads {
        Threads(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// All others.
    pub fn complement(&self) -> Threads {
        Threads(self.0.map(|word| !word))
    }

    /// Whether the other ones hold all of these.
    pub fn is_within(&self, other: &Threads) -> bool {
        self.and(other) == *self
    }
}

/// What expressions are where nothing but the number of the thread and the turn of one loop decides.
pub(super) struct Numbers<'k> {
    pub(super) exprs: &'k Exprs,
    pub(super) definitions: Definitions,
    /// Whether a number was that along the first axis, and whether it was that in the whole block.
    asked: [Cell<bool>; 2],
}

/// What is known of a value: the number of the thread, the variable of a loop, and those that are assigned in turns.
#[derive(Clone, Copy, Default)]
pub(super) struct Known<'v> {
    pub(super) number: Option<u32>,
    pub(super) turn: Option<(VarId, i128)>,
    /// The variables that have a known value now; nothing else is known of any.
    pub(super) carried: Option<&'v FxHashMap<VarId, i128>>,
}

impl<'k> Numbers<'k> {
    pub(super) fn new(exprs: &'k Exprs, definitions: Definitions) -> Self {
        Numbers { exprs, definitions, asked: [Cell::new(false), Cell::new(false)] }
    }

    /// Whether threads were told by their number along the first axis, and by their number in the block.
    pub(super) fn asked(&self) -> [bool; 2] {
        [self.asked[0].get(), self.asked[1].get()]
    }

    /// The threads for which a condition holds, if it is about nothing else.
    pub(super) fn threads(&self, cond: ExprId) -> Option<Threads> {
        let mut threads = Threads::NONE;
        for number in 0..MOST {
            let known = Known { number: Some(number), ..Known::default() };
            threads.0[number as usize / 64] |= u64::from(self.value(cond, known)? != 0) << (number % 64);
        }
        Some(threads)
    }

    pub(super) fn value(&self, id: ExprId, known: Known<'_>) -> Option<i128> {
        self.deep(id, known, DEPTH)
    }

    fn deep(&self, id: ExprId, known: Known<'_>, depth: u32) -> Option<i128> {
        let depth = depth.checked_sub(1)?;
        if let (Some(number), true) = (known.number, is_number_in_block(self.exprs, id)) {
            self.asked[1].set(true);
            return Some(i128::from(number));
        }
        let of = |id: ExprId| self.deep(id, known, depth);
        match self.exprs[id] {
            Expr::Int(value, _) => Some(value),
            Expr::Var(var) => match (known.carried, known.turn.filter(|turn| turn.0 == var)) {
                (Some(carried), _) => carried.get(&var).copied(),
                (None, Some((_, value))) => Some(value),
                (None, None) => of(self.definition(var)?),
            },
            Expr::Geometry(GeometryVar::ThreadIdx(Axis::X)) => {
                let number = i128::from(known.number?);
                self.asked[0].set(true);
                Some(number)
            }
            Expr::Unary(op, a) => Some(arithmetic::unary(op, of(a)?, self.exprs.ty(a)).ok()?.value),
            Expr::Binary(op, a, b) => Some(arithmetic::binary(op, of(a)?, of(b)?, self.exprs.ty(a)).ok()?.value),
            Expr::Select(c, a, b) => of(if of(c)? != 0 { a } else { b }),
            Expr::Convert(ty, a) if ty.range().is_some() => Some(arithmetic::wrap(of(a)?, ty)),
            _ => None,
        }
    }

    fn definition(&self, var: VarId) -> Option<ExprId> {
        match self.definitions.all(var) {
            [Definition::Value(value)] => Some(*value),
            _ => None,
        }
    }

    /// After how many turns of a loop that counts up from 0 or more in steps of 1 a value comes again, by its form.
    pub(super) fn period(&self, id: ExprId, var: VarId, signed: bool) -> Option<u64> {
        self.period_of(id, var, signed, DEPTH)
    }

    fn period_of(&self, id: ExprId, var: VarId, signed: bool, depth: u32) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        let of = |id: ExprId| self.period_of(id, var, signed, depth);
        let both = |a: ExprId, b: ExprId| least_common_multiple(of(a)?, of(b)?);
        match self.exprs[id] {
            Expr::Var(own) if own == var => None,
            Expr::Var(other) => self.definition(other).map_or(Some(1), of),
            Expr::Int(..) | Expr::Param(_) | Expr::Geometry(_) => Some(1),
            Expr::Binary(BinaryOp::Rem, a, b) if self.counts(a, var, depth).is_some() => {
                let turns = u64::try_from(self.exprs.as_int(b)?).ok().filter(|&turns| turns > 0)?;
                let turns = turns.checked_mul(self.counts(a, var, depth)?)?;
                // What wraps comes again in step only where the period divides where it wraps.
                (turns <= MOST_OBJECTS && (signed || turns.is_power_of_two())).then_some(turns)
            }
            Expr::Binary(BinaryOp::BitAnd, a, b) if self.counts(a, var, depth).is_some() => {
                let turns = u64::try_from(self.exprs.as_int(b)?).ok()?.checked_add(1)?;
                let each = self.counts(a, var, depth)?;
                let all = turns.checked_mul(each)?;
                (turns.is_power_of_two() && all <= MOST_OBJECTS && (signed || each.is_power_of_two())).then_some(all)
            }
            Expr::Unary(_, a) | Expr::Convert(_, a) => of(a),
            Expr::Binary(_, a, b) => both(a, b),
            Expr::Select(c, a, b) => least_common_multiple(of(c)?, both(a, b)?),
            Expr::Opaque(..) | Expr::Call(..) => None,
        }
    }

    /// In how many turns a value goes up by one, if it is the variable, or that and a number which is not negative, or a
    /// quotient of such a value.
    fn counts(&self, id: ExprId, var: VarId, depth: u32) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        match self.exprs[id] {
            Expr::Var(own) if own == var => Some(1),
            Expr::Var(other) => self.counts(self.definition(other)?, var, depth),
            Expr::Convert(ScalarType::Int { width: 32.., .. }, a) => self.counts(a, var, depth),
            Expr::Binary(BinaryOp::Add, a, b) if self.exprs.as_int(b).is_some_and(|by| by >= 0) => {
                self.counts(a, var, depth)
            }
            Expr::Binary(BinaryOp::Div, a, b) => {
                let by = u64::try_from(self.exprs.as_int(b)?).ok().filter(|&by| by > 0)?;
                self.counts(a, var, depth)?.checked_mul(by)
            }
            _ => None,
        }
    }
}

/// The most objects that a channel has.
pub(super) const MOST_OBJECTS: u64 = 64;

fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (a / divisor).checked_mul(b).filter(|&turns| turns <= MOST_OBJECTS)
}

/// Whether this is `(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x`.
fn is_number_in_block(exprs: &Exprs, id: ExprId) -> bool {
    let is = |id: ExprId, var: GeometryVar| matches!(exprs[plain(exprs, id)], Expr::Geometry(own) if own == var);
    let sum = |id: ExprId| match exprs[plain(exprs, id)] {
        Expr::Binary(BinaryOp::Add, a, b) => Some((a, b)),
        _ => None,
    };
    let rows = |id: ExprId, axis: Axis| match exprs[plain(exprs, id)] {
        Expr::Binary(BinaryOp::Mul, a, b) if is(b, GeometryVar::BlockDim(axis)) => Some(a),
        _ => None,
    };
    let found = || {
        let (rest, x) = sum(id)?;
        let (rest, y) = sum(rows(rest, Axis::X)?)?;
        let z = rows(rest, Axis::Y)?;
        let ids = [(x, Axis::X), (y, Axis::Y), (z, Axis::Z)];
        Some(ids.into_iter().all(|(id, axis)| is(id, GeometryVar::ThreadIdx(axis))))
    };
    found() == Some(true)
}

/// Without conversions to types that hold every number of a thread.
fn plain(exprs: &Exprs, mut id: ExprId) -> ExprId {
    while let Expr::Convert(ScalarType::Int { width: 16.., .. }, inner) = exprs[id] {
        id = inner;
    }
    id
}
