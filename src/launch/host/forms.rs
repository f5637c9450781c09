//! Values of host code as sums, what `(n + 255) / 256` is in terms of `n`, and what conditions say of them.
//!
//! A value is followed through `+`, `-`, `*`, shifts, divisions, remainders, `&` with masks, `min`, `max`, `?:` and
//! conversions. Arithmetic of signed integers is that of integers, since no other has a meaning. Arithmetic of unsigned ones
//! goes around: a sum is the value where it fits into the type, by what is known of its bounds; else the value is a number of
//! its own that lies on a side of the sum which the bounds may tell.
//!
//! Numbers of 64 bits that variables hold count bytes or elements, and so are taken to stay below [`LARGEST`], and to fit where
//! they are kept in a number of 32 bits that is not unsigned while they are signed. What comes of it is told with the proof
//! that uses it, as everything that host code states.
//!
//! Deliberately absent: floating-point arithmetic, contents of arrays, and what functions give.

use super::constraints::{Constraints, Rounding};
use super::sums::{Sum, Symbol};
use super::values::{DEPTH, Source, source_of};
use crate::builtins::Builtin;
use crate::resolve::Declared;
use crate::resolve::program::{BinaryOp, Expr, ExprKind, Type, TypeId, UnaryOp, VariableId};
use crate::syntax::{self, Init};

/// What numbers of 64 bits stay below: they count bytes or elements.
const LARGEST: i128 = 1 << 60;

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IntType {
    pub(super) width: u8,
    pub(super) signed: bool,
}

impl IntType {
    pub(super) fn range(self) -> (i128, i128) {
        let all = 1_i128 << self.width;
        if self.signed { (-all / 2, all / 2 - 1) } else { (0, all - 1) }
    }
}

/// A sum that is a value, or that is one but for multiples of two to the power of `modulo`.
#[derive(Clone, Debug)]
struct Form {
    sum: Sum,
    modulo: Option<u8>,
}

impl Form {
    fn exact(sum: Sum) -> Form {
        Form { sum, modulo: None }
    }
}

/// What is needed to see what values are at a place.
pub(super) struct Reader<'p, 'u> {
    pub(super) names: &'p mut Declared<'u>,
    pub(super) constraints: &'p mut Constraints,
}

/// Values as sums.
impl Reader<'_, '_> {
    pub(super) fn int_type(&self, ty: TypeId) -> Option<IntType> {
        match *self.names.ty(ty) {
            Type::Int { width, signed } => Some(IntType { width, signed }),
            Type::Bool => Some(IntType { width: 1, signed: false }),
            _ => None,
        }
    }

    /// What a value is as a sum.
    pub(super) fn sum_of(&mut self, value: &Expr) -> Option<Sum> {
        self.sum_at(value, DEPTH)
    }

    fn sum_at(&mut self, value: &Expr, depth: usize) -> Option<Sum> {
        let range = self.int_type(value.ty)?.range();
        let form = self.form(value, depth)?;
        self.resolved(form, range)
    }

    /// A sum that is a value with these bounds. One that may have gone around is a symbol of its own, of which is known on
    /// which side of the sum it lies.
    fn resolved(&mut self, form: Form, (least, most): (i128, i128)) -> Option<Sum> {
        let Some(width) = form.modulo else { return Some(form.sum) };
        let all = 1_i128 << width;
        let (low, high) = self.constraints.bounds(&form.sum);
        // Else it would be the sum and a positive, or a negative multiple.
        if low.is_some_and(|low| low + all > most) && high.is_some_and(|high| high - all < least) {
            return Some(form.sum);
        }
        self.constraints.wrapped(form.sum, width, (least, most)).map(Sum::symbol)
    }

    fn form(&mut self, value: &Expr, depth: usize) -> Option<Form> {
        let depth = depth.checked_sub(1)?;
        let ty = self.int_type(value.ty)?;
        if let Some(number) = self.names.constant(value) {
            return Some(Form::exact(Sum::number(number)));
        }
        match &value.kind {
            ExprKind::Load(object) => self.loaded(object, ty).map(Form::exact),
            ExprKind::Convert(inner) => self.converted_form(inner, ty, depth),
            ExprKind::Unary(UnaryOp::Neg, inner) => {
                let inner = self.form(inner, depth)?;
                computed(BinaryOp::Sub, &Form::exact(Sum::number(0)), &inner, ty)
            }
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), left, right) => {
                let (left, right) = (self.form(left, depth)?, self.form(right, depth)?);
                computed(*op, &left, &right, ty)
            }
            ExprKind::Binary(BinaryOp::Shl, left, right) => self.shifted_left(left, right, ty, depth),
            _ => self.made(value, ty, depth).map(Form::exact),
        }
    }

    /// A value that is computed of numbers, and not of what is left of them.
    fn made(&mut self, value: &Expr, ty: IntType, depth: usize) -> Option<Sum> {
        match &value.kind {
            ExprKind::Binary(BinaryOp::Shr, left, right) => {
                let by = self.names.constant(right).filter(|by| (0..63).contains(by))?;
                let left = self.sum_at(left, depth)?;
                self.divided(left, Sum::number(1 << by), Rounding::Down)
            }
            ExprKind::Binary(op @ (BinaryOp::Div | BinaryOp::Rem), left, right) => {
                let (left, by) = (self.sum_at(left, depth)?, self.sum_at(right, depth)?);
                let quotient = self.divided(left.clone(), by.clone(), Rounding::TowardsZero)?;
                // `a % b` is what is left of `a` without `a / b * b`.
                if *op == BinaryOp::Div { Some(quotient) } else { left.minus(&quotient.product(&by)?) }
            }
            ExprKind::Binary(BinaryOp::BitAnd, left, right) => self.masked(left, right, depth),
            ExprKind::Binary(op @ (BinaryOp::Min | BinaryOp::Max), left, right) => {
                self.extreme(*op == BinaryOp::Min, [&**left, &**right], (ty, depth))
            }
            ExprKind::Builtin(kind @ (Builtin::Min | Builtin::Max), _, args) => {
                let [one, other] = args.as_slice() else { return None };
                self.extreme(*kind == Builtin::Min, [one, other], (ty, depth))
            }
            ExprKind::Conditional(cond, one, other) => {
                let sums = [self.sum_at(one, depth)?, self.sum_at(other, depth)?];
                Some(self.chosen(ty, sums, |this, is_first| this.assume(cond, is_first)))
            }
            _ => None,
        }
    }

    fn loaded(&mut self, object: &Expr, ty: IntType) -> Option<Sum> {
        let source = source_of(object).filter(|source| !self.is_cut(*source))?;
        let is_volatile = self.names.variable(source.variable).is_volatile;
        let symbol = match self.constraints.follows(source.variable) {
            true => Symbol::Variable(source),
            // What others may change is the same for all that one launch reads of it, unless they run in between.
            false if !is_volatile => self.constraints.read_at_launch(source)?,
            false => return None,
        };
        let (least, most) = ty.range();
        self.constraints.set_range(symbol, Some((least.max(-LARGEST), most.min(LARGEST))));
        Some(Sum::symbol(symbol))
    }

    /// Whether a part of a variable may hold less than what it is given.
    fn is_cut(&self, source: Source) -> bool {
        match (self.names.ty(self.names.variable(source.variable).ty), source.part) {
            (&Type::Record(record), Some(field)) => self.names.is_cut(record, field),
            _ => false,
        }
    }

    /// A value in another type: what does not fit goes around.
    fn converted_form(&mut self, inner: &Expr, ty: IntType, depth: usize) -> Option<Form> {
        let from = self.int_type(inner.ty)?;
        let form = self.form(inner, depth)?;
        if ty.width == 1 {
            return None;
        }
        if let Some(width) = form.modulo.filter(|width| ty.width <= *width) {
            return Some(Form { modulo: Some(width.min(ty.width)), ..form });
        }
        let sum = self.resolved(form, from.range())?;
        let ((least, most), (from_least, from_most)) = (ty.range(), from.range());
        let fits = least <= from_least && from_most <= most;
        let is_taken_to_fit = from.width == 64 && ty.width == 32 && (from.signed == ty.signed || ty.signed);
        Some(Form { sum, modulo: (!fits && !is_taken_to_fit).then_some(ty.width) })
    }

    /// `a << b`; of a power of two, one whatever `b` is, or negative, as the last bit of a signed number is its sign.
    fn shifted_left(&mut self, left: &Expr, right: &Expr, ty: IntType, depth: usize) -> Option<Form> {
        if let Some(by) = self.names.constant(right).filter(|by| (0..63).contains(by)) {
            let left = self.form(left, depth)?;
            return computed(BinaryOp::Mul, &left, &Form::exact(Sum::number(1 << by)), ty);
        }
        self.names.constant(left).filter(|number| *number > 0 && number.count_ones() == 1)?;
        let symbol = self.constraints.fresh(Some(ty.range()));
        self.constraints.add_power(symbol);
        Some(Form::exact(Sum::symbol(symbol)))
    }

    fn divided(&mut self, of: Sum, by: Sum, rounding: Rounding) -> Option<Sum> {
        if by.constant().is_some_and(|by| by <= 0) {
            return None;
        }
        let is_power = self.constraints.is_power(&of) && by.constant().is_some_and(|by| by.count_ones() == 1);
        let quotient = self.constraints.quotient(of, by, rounding)?;
        if is_power {
            self.constraints.add_power(quotient);
        }
        Some(Sum::symbol(quotient))
    }

    /// `a & 31` and `a & ~31`, which is `a & -32`.
    fn masked(&mut self, left: &Expr, right: &Expr, depth: usize) -> Option<Sum> {
        let (value, mask) = match (self.names.constant(left), self.names.constant(right)) {
            (None, Some(mask)) => (left, mask),
            (Some(mask), None) => (right, mask),
            _ => return None,
        };
        let ty = self.int_type(value.ty)?;
        // An unsigned mask is the same as the negative number with these bits.
        let is_high = !ty.signed && ty.width > 1 && mask >= 1_i128 << (ty.width - 1);
        let mask = if is_high { mask - (1_i128 << ty.width) } else { mask };
        let by = if mask < 0 { -mask } else { mask + 1 };
        if by.count_ones() != 1 {
            return None;
        }
        let whole = self.sum_at(value, depth)?;
        let part = self.divided(whole.clone(), Sum::number(by), Rounding::Down)?.times(by)?;
        if mask < 0 { Some(part) } else { whole.minus(&part) }
    }

    fn extreme(&mut self, is_min: bool, values: [&Expr; 2], (ty, depth): (IntType, usize)) -> Option<Sum> {
        let [one, other] = values;
        let (one, other) = (self.sum_at(one, depth)?, self.sum_at(other, depth)?);
        let first_is_it = if is_min { other.minus(&one)? } else { one.minus(&other)? };
        let second_is_it = first_is_it.times(-1)?;
        Some(self.chosen(ty, [one, other], |this, is_first| {
            this.constraints.add(if is_first { first_is_it.clone() } else { second_is_it.clone() });
        }))
    }

    /// A value that is one of two sums, and what that says of it. `choose` says what holds where it is the first one, or not.
    fn chosen(&mut self, ty: IntType, sums: [Sum; 2], choose: impl Fn(&mut Self, bool)) -> Sum {
        let symbol = self.constraints.fresh(Some(ty.range()));
        let value = Sum::symbol(symbol);
        let of_sum = |sum: &Sum| [sum.minus(&value), value.minus(sum)].into_iter().flatten();
        let bounds: Vec<Sum> = sums.iter().flat_map(of_sum).collect();
        let before = self.constraints.state();
        let mut ways = Vec::new();
        for (sum, is_first) in sums.into_iter().zip([true, false]) {
            self.constraints.restore(before.clone());
            choose(self, is_first);
            self.equate(symbol, &sum);
            let holds: Vec<bool> = bounds.iter().map(|bound| self.constraints.implies(bound)).collect();
            ways.push((self.constraints.state(), holds));
        }
        let (first, holds_first) = ways.swap_remove(0);
        let (_, holds_second) = ways.swap_remove(0);
        self.constraints.join(first);
        for (at, bound) in bounds.into_iter().enumerate() {
            if holds_first[at] && holds_second[at] {
                self.constraints.add(bound);
            }
        }
        value
    }

    /// A symbol has this value.
    pub(super) fn equate(&mut self, symbol: Symbol, sum: &Sum) {
        let value = Sum::symbol(symbol);
        for sum in [value.minus(sum), sum.minus(&value)].into_iter().flatten() {
            self.constraints.add(sum);
        }
        if self.constraints.is_power(sum) {
            self.constraints.add_power(symbol);
        }
    }
}

/// Values that stay known while variables change.
impl Reader<'_, '_> {
    /// What values are, one for each lane, under symbols that stay when variables change.
    pub(super) fn pinned(&mut self, value: &Expr) -> Vec<Option<Symbol>> {
        let lanes: Vec<&Expr> = match (&value.kind, self.names.ty(value.ty)) {
            (ExprKind::Construct(parts), Type::Vector { .. } | Type::Record(_)) => parts.iter().collect(),
            (ExprKind::Convert(inner), Type::Vector { .. }) => return self.pinned(inner),
            (ExprKind::Load(object), Type::Vector { lanes, .. }) => {
                let Some(Source { variable, part: None }) = source_of(object) else { return Vec::new() };
                let lanes = usize::from(*lanes);
                let is_followed = self.constraints.follows(variable);
                return (0..lanes).map(|lane| is_followed.then(|| self.pin_part(variable, lane))).collect();
            }
            _ => vec![value],
        };
        let mut pinned = Vec::new();
        for lane in lanes {
            let sum = self.sum_of(lane);
            pinned.push(sum.map(|sum| self.pin(&sum)));
        }
        pinned
    }

    /// Whether an initialiser lists the fields of a structure.
    pub(super) fn is_listed(&self, init: &Init, ty: TypeId) -> bool {
        let is_list =
            matches!(init, Init::Value(syntax::Expr { kind: syntax::ExprKind::InitList(_), .. }) | Init::List(_));
        let Type::Record(record) = *self.names.ty(ty) else { return false };
        let class = self.names.class(record);
        is_list && !class.is_union && class.constructors.is_empty() && class.bases.is_empty() && !class.has_unknown_base
    }

    /// What the lanes of a variable are, as it stands for a part of something.
    pub(super) fn pinned_parts(&mut self, variable: VariableId) -> Vec<Option<Symbol>> {
        (0..3).map(|lane| Some(self.pin_part(variable, lane))).collect()
    }

    fn pin(&mut self, sum: &Sum) -> Symbol {
        let symbol = self.constraints.fresh(None);
        self.equate(symbol, sum);
        symbol
    }

    fn pin_part(&mut self, variable: VariableId, lane: usize) -> Symbol {
        let source = Source { variable, part: Some(lane) };
        let known = self.names.lanes(variable).and_then(|lanes| lanes.get(lane).copied().flatten());
        self.pin(&known.map_or(Sum::symbol(Symbol::Variable(source)), Sum::number))
    }

    /// Gives a variable, or a part of it, what was pinned.
    pub(super) fn give_all(&mut self, target: Source, pinned: Vec<Option<Symbol>>) {
        let ty = self.names.variable(target.variable).ty;
        let has_parts = matches!(self.names.ty(ty), Type::Vector { .. } | Type::Record(_));
        for (lane, pinned) in pinned.into_iter().enumerate() {
            let part = if has_parts { target.part.or(Some(lane)) } else { target.part };
            self.give(Source { part, ..target }, pinned);
        }
    }

    /// A variable, or a part of it, has a value from here on that was pinned before.
    fn give(&mut self, source: Source, pinned: Option<Symbol>) {
        let Some(pinned) = pinned else { return };
        if self.constraints.follows(source.variable) {
            self.equate(Symbol::Variable(source), &Sum::symbol(pinned));
        }
        self.constraints.project(pinned);
    }
}

/// What conditions say.
impl Reader<'_, '_> {
    /// Takes note of what a condition says that holds here, or does not, and that changes nothing.
    pub(super) fn assume(&mut self, cond: &Expr, truth: bool) {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        match &cond.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.assume(inner, !truth),
            ExprKind::And(one, other) | ExprKind::Binary(BinaryOp::And, one, other) if truth => {
                self.assume(one, true);
                self.assume(other, true);
            }
            ExprKind::Or(one, other) | ExprKind::Binary(BinaryOp::Or, one, other) if !truth => {
                self.assume(one, false);
                self.assume(other, false);
            }
            ExprKind::Binary(op @ (Eq | Ne | Lt | Le | Gt | Ge), left, right) => {
                if (*op == Eq) == truth && matches!(op, Eq | Ne) && self.names.constant(right) == Some(0) {
                    self.assume_power(left);
                }
                if let (Some(left), Some(right)) = (self.sum_of(left), self.sum_of(right)) {
                    self.assume_compared(*op, truth, &left, &right);
                }
            }
            ExprKind::Convert(inner) if self.int_type(inner.ty).is_some() && self.int_type(cond.ty).is_some() => {
                match self.int_type(inner.ty).is_some_and(|ty| ty.width == 1) {
                    true => self.assume(inner, truth),
                    false => self.assume_number(inner, truth),
                }
            }
            _ if self.int_type(cond.ty).is_some_and(|ty| ty.width > 1) => self.assume_number(cond, truth),
            _ => {}
        }
    }

    /// A number as a condition: it is not zero, or it is.
    fn assume_number(&mut self, value: &Expr, truth: bool) {
        if !truth {
            self.assume_power(value);
        }
        if let Some(sum) = self.sum_of(value) {
            self.assume_compared(BinaryOp::Ne, truth, &sum, &Sum::number(0));
        }
    }

    fn assume_compared(&mut self, op: BinaryOp, truth: bool, left: &Sum, right: &Sum) {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        let op = match (op, truth) {
            (_, true) => op,
            (Eq, false) => Ne,
            (Ne, false) => Eq,
            (Lt, false) => Ge,
            (Le, false) => Gt,
            (Gt, false) => Le,
            _ => Lt,
        };
        let (up, down) = (left.minus(right), right.minus(left));
        let strictly = |sum: Option<Sum>| sum.and_then(|sum| sum.plus(&Sum::number(-1)));
        let holds: Vec<Sum> = match op {
            Lt => strictly(down).into_iter().collect(),
            Le => down.into_iter().collect(),
            Gt => strictly(up).into_iter().collect(),
            Ge => up.into_iter().collect(),
            Eq => up.into_iter().chain(down).collect(),
            // What is on one side, and not there, is beyond it.
            _ => {
                let sides = [up, down].into_iter().flatten().filter(|side| self.constraints.implies(side));
                sides.filter_map(|side| strictly(Some(side))).collect()
            }
        };
        holds.into_iter().for_each(|sum| self.constraints.add(sum));
    }

    /// `n & (n - 1)` is zero: `n` is a power of two, or zero, or the least number of its type.
    fn assume_power(&mut self, value: &Expr) {
        let ExprKind::Binary(BinaryOp::BitAnd, one, other) = &value.kind else { return };
        for (whole, less) in [(one, other), (other, one)] {
            let ExprKind::Binary(BinaryOp::Sub, from, by) = &less.kind else { continue };
            if self.names.constant(by) != Some(1) {
                continue;
            }
            let (Some(whole), Some(from)) = (self.sum_of(whole), self.sum_of(from)) else { continue };
            if let Some((symbol @ Symbol::Variable(_), 1)) = whole.multiple().filter(|_| whole == from) {
                self.constraints.add_power(symbol);
            }
        }
    }
}

/// A sum, difference or product in a type: of signed integers as it is, of unsigned ones modulo what the type holds.
fn computed(op: BinaryOp, left: &Form, right: &Form, ty: IntType) -> Option<Form> {
    let sum = match op {
        BinaryOp::Add => left.sum.plus(&right.sum)?,
        BinaryOp::Sub => left.sum.minus(&right.sum)?,
        _ => left.sum.product(&right.sum)?,
    };
    let around = (!ty.signed).then_some(ty.width);
    Some(Form { sum, modulo: [left.modulo, right.modulo, around].into_iter().flatten().min() })
}
