//! Narrowing: what the range of a node says about its operands, and theirs about it.

use super::{Op, Problem, Range};
use crate::calculus::{BinaryOp, ScalarType, UnaryOp, arithmetic};
use crate::work::spend;

/// A node has no value left.
pub(super) struct Empty;

type Narrowed = Result<(), Empty>;

/// Rounds after which narrowing stops although it still helps.
const ROUNDS: usize = 4;

impl Problem {
    /// Narrows `ranges` by all operators, up and down, until nothing changes (or for a few rounds).
    pub(super) fn narrow(&self, ranges: &mut [Range]) -> Narrowed {
        for _ in 0..ROUNDS {
            spend(2 * self.ops.len() as u64);
            let mut changed = false;
            for (index, op) in self.ops.iter().enumerate() {
                let range = forward(op, ranges)?;
                changed |= meet(&mut ranges[index], range)?;
            }
            for (index, op) in self.ops.iter().enumerate().rev() {
                changed |= backward(op, ranges[index], ranges)?;
            }
            if !changed {
                break;
            }
        }
        Ok(())
    }
}

/// Whether that took something away.
fn meet(range: &mut Range, other: Range) -> Result<bool, Empty> {
    let met = Range { low: range.low.max(other.low), high: range.high.min(other.high) };
    if met.low > met.high {
        return Err(Empty);
    }
    Ok(std::mem::replace(range, met) != met)
}

fn at(ranges: &[Range], node: u32) -> Range {
    ranges[node as usize]
}

/// What the operands say about a node.
fn forward(op: &Op, ranges: &[Range]) -> Result<Range, Empty> {
    Ok(match *op {
        Op::Free(_) => Range::new(i128::MIN, i128::MAX),
        Op::Constant(value) => Range::exactly(value),
        Op::Unary(op, a, ty) => unary(op, at(ranges, a), ty)?,
        Op::Binary(op, a, b, ty) => binary(op, at(ranges, a), at(ranges, b), ty)?,
        Op::Select(c, a, b) => match at(ranges, c).value() {
            Some(0) => at(ranges, b),
            Some(_) => at(ranges, a),
            None => hull(at(ranges, a), at(ranges, b)),
        },
        Op::Convert(ty, a) => convert(ty, at(ranges, a)),
    })
}

fn hull(a: Range, b: Range) -> Range {
    Range { low: a.low.min(b.low), high: a.high.max(b.high) }
}

fn convert(ty: ScalarType, a: Range) -> Range {
    if ty == ScalarType::Bool {
        return truth(a.low > 0 || a.high < 0, a.value() == Some(0));
    }
    match a.value() {
        Some(value) => Range::new(arithmetic::wrap(value.into(), ty), arithmetic::wrap(value.into(), ty)),
        None if a.is_within(Range::of(ty)) => a,
        None => Range::of(ty),
    }
}

fn truth(holds: bool, fails: bool) -> Range {
    match (holds, fails) {
        (true, _) => Range::TRUE,
        (_, true) => Range::FALSE,
        _ => Range::TRUTH,
    }
}

fn unary(op: UnaryOp, a: Range, ty: ScalarType) -> Result<Range, Empty> {
    if let Some(value) = a.value() {
        let value = arithmetic::unary(op, value.into(), ty).map_err(|_| Empty)?.value;
        return Ok(Range::new(value, value));
    }
    let (low, high) = (i128::from(a.low), i128::from(a.high));
    Ok(match op {
        UnaryOp::Not => Range::TRUTH,
        UnaryOp::Neg => fit(-high, -low, ty),
        UnaryOp::BitNot => fit(-1 - high, -1 - low, ty),
    })
}

/// The range of an operation whose mathematical result lies between `low` and `high`: a signed one that does
/// not fit is undefined, an unsigned one may be anything.
fn fit(low: i128, high: i128, ty: ScalarType) -> Range {
    let (least, greatest) = ty.range().unwrap_or((i128::MIN, i128::MAX));
    let signed = !matches!(ty, ScalarType::Int { signed: false, .. });
    if signed {
        return Range::new(low.max(least), high.min(greatest));
    }
    if low >= least && high <= greatest { Range::new(low, high) } else { Range::new(least, greatest) }
}

fn binary(op: BinaryOp, a: Range, b: Range, ty: ScalarType) -> Result<Range, Empty> {
    if let (Some(x), Some(y)) = (a.value(), b.value()) {
        let value = arithmetic::binary(op, x.into(), y.into(), ty).map_err(|_| Empty)?.value;
        return Ok(Range::new(value, value));
    }
    let (al, ah, bl, bh) = (i128::from(a.low), i128::from(a.high), i128::from(b.low), i128::from(b.high));
    let whole = Range::of(ty);
    Ok(match op {
        BinaryOp::Add => fit(al + bl, ah + bh, ty),
        BinaryOp::Sub => fit(al - bh, ah - bl, ty),
        BinaryOp::Mul => {
            let corners = [al * bl, al * bh, ah * bl, ah * bh];
            fit(least(corners), greatest(corners), ty)
        }
        BinaryOp::Div if bl > 0 || bh < 0 => {
            let corners = [al / bl, al / bh, ah / bl, ah / bh];
            // The quotient by 1 or -1, if the divisor may be that, is the farthest; it is a corner.
            let with_zero =
                |low: i128, high: i128| if al <= 0 && ah >= 0 { (low.min(0), high.max(0)) } else { (low, high) };
            let (low, high) = with_zero(least(corners), greatest(corners));
            fit(low, high, ty)
        }
        BinaryOp::Rem if al >= 0 && bl > 0 => {
            if bl == bh && al / bl == ah / bl {
                Range::new(al % bl, ah % bl)
            } else if ah < bl {
                Range::new(al, ah)
            } else {
                Range::new(0, ah.min(bh - 1))
            }
        }
        BinaryOp::Rem => {
            let most = bl.abs().max(bh.abs()) - 1;
            Range::new(if al < 0 { -most } else { 0 }, if ah > 0 { most } else { 0 })
        }
        BinaryOp::Shl if bl >= 0 && bh < 62 => {
            let corners = [al << bl, al << bh, ah << bl, ah << bh];
            // Bits that are lost to the left are just lost, in signed types too.
            let (low, high) = (least(corners), greatest(corners));
            if fits(low, high, ty) { Range::new(low, high) } else { whole }
        }
        BinaryOp::Shr if bl >= 0 && bh < 64 => {
            let corners = [al >> bl, al >> bh, ah >> bl, ah >> bh];
            Range::new(least(corners), greatest(corners))
        }
        BinaryOp::BitAnd if al >= 0 || bl >= 0 => {
            let most = match (al >= 0, bl >= 0) {
                (true, true) => ah.min(bh),
                (true, false) => ah,
                _ => bh,
            };
            Range::new(0, most)
        }
        BinaryOp::BitOr | BinaryOp::BitXor if al >= 0 && bl >= 0 => {
            let bits = 128 - (ah | bh).leading_zeros();
            Range::new(if op == BinaryOp::BitOr { al.max(bl) } else { 0 }, (1i128 << bits.min(63)) - 1)
        }
        BinaryOp::Min => Range::new(al.min(bl), ah.min(bh)),
        BinaryOp::Max => Range::new(al.max(bl), ah.max(bh)),
        BinaryOp::Lt => truth(ah < bl, al >= bh),
        BinaryOp::Le => truth(ah <= bl, al > bh),
        BinaryOp::Gt => truth(al > bh, ah <= bl),
        BinaryOp::Ge => truth(al >= bh, ah < bl),
        BinaryOp::Eq => truth(false, ah < bl || bh < al),
        BinaryOp::Ne => truth(ah < bl || bh < al, false),
        BinaryOp::And => truth(al > 0 && bl > 0, ah == 0 || bh == 0),
        BinaryOp::Or => truth(al > 0 || bl > 0, ah == 0 && bh == 0),
        _ => whole,
    })
}

fn least(values: [i128; 4]) -> i128 {
    values.into_iter().fold(i128::MAX, i128::min)
}

fn greatest(values: [i128; 4]) -> i128 {
    values.into_iter().fold(i128::MIN, i128::max)
}

/// What a node's range says about its operands; whether that took something away.
fn backward(op: &Op, range: Range, ranges: &mut [Range]) -> Result<bool, Empty> {
    match *op {
        Op::Free(_) | Op::Constant(_) => Ok(false),
        Op::Unary(op, a, ty) => {
            let (low, high) = (i128::from(range.low), i128::from(range.high));
            let wanted = match op {
                UnaryOp::Not => Range::new(1 - high, 1 - low),
                UnaryOp::Neg if is_signed(ty) => Range::new(-high, -low),
                UnaryOp::BitNot if is_signed(ty) => Range::new(-1 - high, -1 - low),
                _ => return Ok(false),
            };
            meet(&mut ranges[a as usize], wanted)
        }
        Op::Select(c, a, b) => select(range, (c, a, b), ranges),
        Op::Convert(ty, a) => {
            let from = at(ranges, a);
            if ty == ScalarType::Bool {
                return match range.value() {
                    Some(0) => meet(&mut ranges[a as usize], Range::exactly(0)),
                    Some(_) => meet(&mut ranges[a as usize], without(from, 0)?),
                    None => Ok(false),
                };
            }
            if from.is_within(Range::of(ty)) { meet(&mut ranges[a as usize], range) } else { Ok(false) }
        }
        Op::Binary(op, a, b, ty) => {
            let (x, y) = (at(ranges, a), at(ranges, b));
            let (left, right) = operands(op, range, x, y, ty)?;
            Ok(meet(&mut ranges[a as usize], left)? | meet(&mut ranges[b as usize], right)?)
        }
    }
}

fn is_signed(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::Int { signed: true, .. })
}

fn select(range: Range, (c, a, b): (u32, u32, u32), ranges: &mut [Range]) -> Result<bool, Empty> {
    let apart = |node: u32| at(ranges, node).high < range.low || range.high < at(ranges, node).low;
    match at(ranges, c).value() {
        Some(0) => meet(&mut ranges[b as usize], range),
        Some(_) => meet(&mut ranges[a as usize], range),
        None if apart(a) => meet(&mut ranges[c as usize], Range::FALSE),
        None if apart(b) => meet(&mut ranges[c as usize], Range::TRUE),
        None => Ok(false),
    }
}

/// `range` without `value`, if that is one of its ends.
fn without(range: Range, value: i64) -> Result<Range, Empty> {
    let low = range.low + i64::from(range.low == value);
    let high = range.high - i64::from(range.high == value);
    if low > high { Err(Empty) } else { Ok(Range { low, high }) }
}

/// What the result of `op` says about its operands.
fn operands(op: BinaryOp, range: Range, a: Range, b: Range, ty: ScalarType) -> Result<(Range, Range), Empty> {
    let (low, high) = (i128::from(range.low), i128::from(range.high));
    let (al, ah, bl, bh) = (i128::from(a.low), i128::from(a.high), i128::from(b.low), i128::from(b.high));
    let holds = range.value().map(|value| value != 0);
    Ok(match (op, holds) {
        (BinaryOp::Add, _) if is_exact(al + bl, ah + bh, ty) => {
            (Range::new(low - bh, high - bl), Range::new(low - ah, high - al))
        }
        (BinaryOp::Sub, _) if is_exact(al - bh, ah - bl, ty) => {
            (Range::new(low + bl, high + bh), Range::new(al - high, ah - low))
        }
        (BinaryOp::Mul, _) => {
            let corners = [al * bl, al * bh, ah * bl, ah * bh];
            if !is_exact(least(corners), greatest(corners), ty) {
                return Ok((a, b));
            }
            (factor((low, high), (bl, bh)).unwrap_or(a), factor((low, high), (al, ah)).unwrap_or(b))
        }
        (BinaryOp::Div, _) if bl == bh && bl > 0 => {
            let from = if low > 0 { low * bl } else { (low - 1) * bl + 1 };
            let to = if high < 0 { high * bl } else { (high + 1) * bl - 1 };
            (Range::new(from, to), b)
        }
        (BinaryOp::Rem, _) if bl == bh && bl > 0 && al >= 0 && low == high => {
            let first = al + (low - al).rem_euclid(bl);
            let last = ah - (ah - low).rem_euclid(bl);
            (Range::new(first, last), b)
        }
        (BinaryOp::Shl, _) if bl == bh && (0..62).contains(&bl) && fits(al << bl, ah << bl, ty) => {
            (Range::new(ceiling(low, 1 << bl), low.max(high) >> bl), b)
        }
        (BinaryOp::Shr, _) if bl == bh && (0..62).contains(&bl) && low.abs().max(high.abs()) < 1 << 62 => {
            (Range::new(low << bl, ((high + 1) << bl) - 1), b)
        }
        (BinaryOp::Min, _) => {
            let least = Range::new(low, i128::MAX);
            let only =
                |mine: i128, other: i128| if other > high { Range::new(low, high.max(mine.min(high))) } else { least };
            (only(al, bl), only(bl, al))
        }
        (BinaryOp::Max, _) => {
            let most = Range::new(i128::MIN, high);
            let only = |other: i128| if other < low { range } else { most };
            (only(bh), only(ah))
        }
        (BinaryOp::And, Some(true)) => (without(a, 0)?, without(b, 0)?),
        (BinaryOp::And, Some(false)) if al > 0 => (a, Range::FALSE),
        (BinaryOp::And, Some(false)) if bl > 0 => (Range::FALSE, b),
        (BinaryOp::Or, Some(false)) => (Range::FALSE, Range::FALSE),
        (BinaryOp::Or, Some(true)) if ah == 0 => (a, without(b, 0)?),
        (BinaryOp::Or, Some(true)) if bh == 0 => (without(a, 0)?, b),
        (BinaryOp::Lt, Some(true)) | (BinaryOp::Ge, Some(false)) => below(a, b, 1),
        (BinaryOp::Le, Some(true)) | (BinaryOp::Gt, Some(false)) => below(a, b, 0),
        (BinaryOp::Gt, Some(true)) | (BinaryOp::Le, Some(false)) => swap(below(b, a, 1)),
        (BinaryOp::Ge, Some(true)) | (BinaryOp::Lt, Some(false)) => swap(below(b, a, 0)),
        (BinaryOp::Eq, Some(true)) | (BinaryOp::Ne, Some(false)) => (b, a),
        (BinaryOp::Ne, Some(true)) | (BinaryOp::Eq, Some(false)) => {
            let left = b.value().map_or(Ok(a), |value| without(a, value))?;
            let right = a.value().map_or(Ok(b), |value| without(b, value))?;
            (left, right)
        }
        _ => (a, b),
    })
}

/// Whether results between `low` and `high` are those of mathematics: they fit, or must.
fn is_exact(low: i128, high: i128, ty: ScalarType) -> bool {
    is_signed(ty) || fits(low, high, ty)
}

fn fits(low: i128, high: i128, ty: ScalarType) -> bool {
    ty.range().is_some_and(|(least, greatest)| least <= low && high <= greatest)
}

/// `a + gap <= b`
fn below(a: Range, b: Range, gap: i128) -> (Range, Range) {
    (Range::new(i128::MIN, i128::from(b.high) - gap), Range::new(i128::from(a.low) + gap, i128::MAX))
}

fn swap((a, b): (Range, Range)) -> (Range, Range) {
    (b, a)
}

/// The least multiple count that reaches `value`: `value / by` rounded up.
fn ceiling(value: i128, by: i128) -> i128 {
    -((-value).div_euclid(by))
}

/// What `x` may be if `x * by` lies within `product`, for a `by` of one sign.
fn factor(product: (i128, i128), by: (i128, i128)) -> Option<Range> {
    let (low, high) = product;
    let (from, to) = by;
    if from > 0 {
        // Dividing by the least (greatest) factor gives the end that is farther from zero (nearer to it).
        let least = if low > 0 { ceiling(low, to) } else { -(-low).div_euclid(from) };
        let most = if high >= 0 { high.div_euclid(from) } else { -ceiling(-high, to) };
        return Some(Range::new(least, most));
    }
    if to < 0 {
        let mirrored = factor((-high, -low), (-to, -from))?;
        return Some(mirrored);
    }
    None
}
