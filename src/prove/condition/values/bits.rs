//! BITS (docs/RULES.md, "2.5 BITS"): masks, or, xor.
//!
//! With `p` a power of two: `x & (p-1) = x % p`; `x & ~(p-1) = p*(x/p)`; `x & p = p*((x/p) % 2)`; a contiguous
//! constant mask selects one digit; `a | b = a + b` if a power of two divides every coefficient of `a` and
//! `0 <= b` stays below it. Masks below `p` hold for values that wrapped, since `p` divides two to the width.
//! *SWIZZLE.* Masks of a thread's own: see [`Builder::swizzle`].
//! *Proof.* Binary digits; no carries where the digit ranges are disjoint.
//! *Trap.* `x & (n-1)` with `n` not known to be a power of two is not `x % n`.

use super::builder::Builder;
use super::environments::EnvId;
use crate::calculus::{Expr, ExprId, ScalarType, UnaryOp};
use crate::prove::condition::draft::atoms::Key;
use crate::prove::condition::draft::atoms::Source;
use crate::prove::condition::draft::division::{Rounding, pull_out};
use crate::prove::condition::reading::readings::Reading;
use crate::prove::state::Xor;
use crate::prove::state::poly::{Poly, XORS};

/// Masks that are looked at have no bit from here on.
const MOST_SWIZZLED: i128 = 1 << 16;

impl Builder<'_> {
    /// Two to the value of `expr`.
    pub(in crate::prove::condition) fn power(&mut self, expr: ExprId, env: EnvId) -> Option<Poly> {
        let exponent = self.value(expr, env)?;
        if let Some(exponent) = exponent.as_constant() {
            return (0..62).contains(&exponent).then(|| Poly::constant(1 << exponent));
        }
        let uniform = !exponent.is_private();
        let side = self.environments[env].side;
        let key = Key::Power(expr);
        let known = self.draft.unknowns.len();
        let power =
            self.draft.unknown_atom(key, vec![exponent.clone()], (!uniform).then_some(side), ScalarType::U64, "2^")?;
        if self.draft.unknowns.len() > known {
            let atom = power.as_atom()?;
            self.draft.atoms.define(atom, Source::Power(exponent));
            self.draft.fact(power.plus_constant(-1)?);
            self.draft.powers.push(power.clone());
        }
        Some(power)
    }

    pub(in crate::prove::condition) fn shift_right(
        &mut self,
        expr: ExprId,
        a: ExprId,
        b: ExprId,
        env: EnvId,
    ) -> Option<Poly> {
        let value = self.value(a, env)?;
        let power = self.power(b, env)?;
        Some(self.draft.divide(expr.into(), self.environments.thread(env), &value, &power, Rounding::Down, 0)?.0)
    }

    pub(in crate::prove::condition) fn bit_and(
        &mut self,
        expr: ExprId,
        a: ExprId,
        b: ExprId,
        env: EnvId,
    ) -> Option<Poly> {
        for (value, mask) in [(a, b), (b, a)] {
            if let Some(masked) = self.mask(expr, value, mask, env) {
                return Some(masked);
            }
        }
        let masked = self.unknown(expr, env)?;
        for operand in [a, b] {
            let Some(bound) = self.value(operand, env) else { continue };
            if self.draft.shows(&bound) {
                self.draft.fact(masked.clone());
                self.draft.fact(bound.minus(&masked)?);
            }
        }
        Some(masked)
    }

    /// `value & mask`, if the mask is of a form that is understood.
    fn mask(&mut self, expr: ExprId, value: ExprId, mask: ExprId, env: EnvId) -> Option<Poly> {
        if let Expr::Unary(UnaryOp::BitNot, inner) = self.protocol.exprs[mask] {
            let power = self.value(inner, env)?.plus_constant(1)?;
            return self.keep_above(expr, value, &power, env);
        }
        let (least, greatest) = self.ty(mask).range()?;
        let mask = self.value(mask, env)?;
        if let Some(constant) = mask.as_constant() {
            return self.constant_mask(expr, value, constant, (least, greatest), env);
        }
        let power = mask.plus_constant(1)?;
        if self.draft.is_power(&power) && self.draft.shows_positive(&power) {
            let residue = self.residue(value, env)?;
            return Some(
                self.draft.divide(expr.into(), self.environments.thread(env), &residue, &power, Rounding::Down, 0)?.1,
            );
        }
        if self.draft.is_power(&mask) && self.draft.shows_positive(&mask) {
            let residue = self.residue(value, env)?;
            let shifted =
                self.draft.divide(expr.into(), self.environments.thread(env), &residue, &mask, Rounding::Down, 0)?.0;
            let bit = self
                .draft
                .divide(expr.into(), self.environments.thread(env), &shifted, &Poly::constant(2), Rounding::Down, 0)?
                .1;
            return self.draft.normal(&mask)?.times(&bit);
        }
        None
    }

    fn constant_mask(
        &mut self,
        expr: ExprId,
        value: ExprId,
        mask: i64,
        (least, greatest): (i128, i128),
        env: EnvId,
    ) -> Option<Poly> {
        if mask == 0 {
            return Some(Poly::ZERO);
        }
        // All ones from some bit up to the top, sign included: `-64`, or `0xffffffc0` of an unsigned type.
        let complement = match (mask < 0, least < 0) {
            (true, _) => Some(i128::from(mask).abs()),
            (false, true) => None,
            (false, false) => Some(greatest + 1 - i128::from(mask)),
        };
        match complement.filter(|complement| complement & (complement - 1) == 0 && i128::from(mask) != greatest) {
            Some(complement) => self.keep_above(expr, value, &Poly::constant(i64::try_from(complement).ok()?), env),
            None => self.keep_digit(expr, value, mask, env),
        }
    }

    /// `value & ~(power - 1)`
    fn keep_above(&mut self, expr: ExprId, value: ExprId, power: &Poly, env: EnvId) -> Option<Poly> {
        if !self.draft.is_power(power) {
            return None;
        }
        let value = self.value(value, env)?;
        let quotient =
            self.draft.divide(expr.into(), self.environments.thread(env), &value, power, Rounding::Down, 0)?.0;
        self.draft.normal(power)?.times(&quotient)
    }

    /// `value & mask` for ones that stand together.
    fn keep_digit(&mut self, expr: ExprId, value: ExprId, mask: i64, env: EnvId) -> Option<Poly> {
        let low = mask & mask.wrapping_neg();
        if mask <= 0 {
            return None;
        }
        let ones = mask / low;
        if ones.checked_add(1)? & ones != 0 {
            return None;
        }
        let residue = self.residue(value, env)?;
        let low = Poly::constant(low);
        let shifted =
            self.draft.divide(expr.into(), self.environments.thread(env), &residue, &low, Rounding::Down, 0)?.0;
        let digit = self
            .draft
            .divide(expr.into(), self.environments.thread(env), &shifted, &Poly::constant(ones + 1), Rounding::Down, 0)?
            .1;
        low.times(&digit)
    }

    pub(in crate::prove::condition) fn bit_or(
        &mut self,
        expr: ExprId,
        a: ExprId,
        b: ExprId,
        env: EnvId,
    ) -> Option<Poly> {
        let (a, b) = self.both(a, b, env, Self::value)?;
        for (high, low) in [(&a, &b), (&b, &a)] {
            let content = high.content();
            let power = content & content.wrapping_neg();
            if power > 1 && self.draft.shows(low) && self.draft.shows_positive(&Poly::constant(power).minus(low)?) {
                return high.plus(low);
            }
        }
        let joined = self.unknown(expr, env)?;
        if self.draft.shows(&a) && self.draft.shows(&b) {
            self.draft.fact(joined.minus(&a)?);
            self.draft.fact(joined.minus(&b)?);
            self.draft.fact(a.plus(&b)?.minus(&joined)?);
        }
        Some(joined)
    }

    pub(in crate::prove::condition) fn bit_xor(
        &mut self,
        expr: ExprId,
        a: ExprId,
        b: ExprId,
        env: EnvId,
    ) -> Option<Poly> {
        let (a, b) = self.both(a, b, env, Self::value)?;
        if a.is_private() && b.is_private() {
            for (value, mask) in [(&a, &b), (&b, &a)] {
                if let Some(swizzled) = self.swizzle(expr, value, mask, env) {
                    return Some(swizzled);
                }
            }
        }
        let (argument, mask) = if b.is_private() { (b, a) } else { (a, b) };
        if let Some(swizzled) = self.swizzle_read_in_digits(expr, &argument, &mask, env) {
            return Some(swizzled);
        }
        if mask.is_private() || !argument.is_private() {
            return self.unknown(expr, env);
        }
        let known = self.draft.state.xors.iter().find(|xor| xor.argument == argument && xor.mask == mask);
        if let Some(xor) = known {
            return Some(xor.value.clone());
        }
        let side = self.environments[env].side;
        let source = Source::Xor(argument.clone(), mask.clone());
        let atom = self.draft.atom(XORS, Key::Value(expr), side, "xor", source)?;
        let ty = self.ty(expr);
        self.draft.typed(atom, ty);
        if self.draft.shows(&argument) && self.draft.shows(&mask) {
            self.draft.set_non_negative(atom);
            if let (Some(greatest), Some(bits)) = (self.draft.interval(&argument).1, self.draft.interval(&mask).1)
                && let Some(most) = greatest_flipped(greatest, bits)
            {
                self.draft.bound(atom, Some(0), Some(i128::from(most)));
                self.draft.fact(Poly::constant(most).minus(&Poly::atom(atom))?);
                self.draft.readings.insert(Reading::Swizzle);
            }
        }
        self.draft.state.xors.push(Xor { value: Poly::atom(atom), argument, mask });
        Some(Poly::atom(atom))
    }

    /// SWIZZLE for a constant, where `x` stands in its digits already: `2*q + r` of a block whose cluster is `q`. Otherwise
    /// the numbers of two threads are compared whole.
    fn swizzle_read_in_digits(&mut self, expr: ExprId, x: &Poly, mask: &Poly, env: EnvId) -> Option<Poly> {
        let ones = mask.as_constant().filter(|&ones| ones > 0)?;
        let power = Poly::constant(i64::from(u32::try_from(ones + 1).ok()?.checked_next_power_of_two()?));
        let (quotient, rest) = pull_out(x, &power)?;
        let is_digit =
            !quotient.is_zero() && self.draft.shows(&rest) && self.draft.shows_positive(&power.minus(&rest)?);
        if !is_digit {
            return None;
        }
        if power.as_constant() == Some(ones + 1) {
            // All bits of the digit change: `(p - 1) - r`.
            self.draft.readings.insert(Reading::Swizzle);
            return power.times(&quotient)?.plus_constant(ones)?.minus(&rest);
        }
        self.swizzle(expr, x, mask, env)
    }

    /// SWIZZLE: `x ^ b` where the bits of `b` are low ones.
    ///
    /// *Premises.* SIGN proves `b >= 0` and `p - 1 - b >= 0` for a power of two `p`; `x = p*q + r` with `0 <= r < p`, rounded
    /// down. *Gives.* `x ^ b = p*q + z` with `z = r ^ b` and `0 <= z < p`. *Proof.* Binary digits, of negative numbers too:
    /// `b` has none from `p` on, and neither has `r`. *Use.* `row*32 + column ^ row`: where two threads agree about the row,
    /// XOR says that they agree about the column.
    /// *Trap.* The mask of each thread is its own: nothing follows from equal `z` before the masks are equal. And `p` is
    /// above the mask: `4*w + (l ^ 4)` is beside the four places of `w`.
    fn swizzle(&mut self, expr: ExprId, x: &Poly, b: &Poly, env: EnvId) -> Option<Poly> {
        let greatest = self.draft.interval(b).1.filter(|greatest| (1..MOST_SWIZZLED).contains(greatest))?;
        let power = Poly::constant(i64::from(u32::try_from(greatest + 1).ok()?.next_power_of_two()));
        if !self.draft.shows(b) || !self.draft.shows_positive(&power.minus(b)?) {
            return None;
        }
        let (quotient, rest) =
            self.draft.divide(expr.into(), self.environments.thread(env), x, &power, Rounding::Down, 0)?;
        let (quotient, mask) = (self.draft.settled(&quotient)?, self.draft.settled(b)?);
        let known = self.draft.state.xors.iter().find(|xor| xor.argument == rest && xor.mask == mask);
        let value = match known {
            Some(xor) => xor.value.clone(),
            None => {
                let side = self.environments[env].side;
                let atom =
                    self.draft.atom(XORS, Key::Value(expr), side, "xor", Source::Xor(rest.clone(), mask.clone()))?;
                self.draft.set_non_negative(atom);
                self.draft.bound(atom, Some(0), power.as_constant().map(|power| i128::from(power) - 1));
                let value = Poly::atom(atom);
                self.draft.fact(power.minus(&value)?.plus_constant(-1)?);
                self.draft.readings.insert(Reading::Swizzle);
                self.draft.state.xors.push(Xor { value: value.clone(), argument: rest, mask });
                value
            }
        };
        power.times(&quotient)?.plus(&value)
    }
}

/// SWIZZLE: what `x ^ b` is at most, of `0 <= x <= greatest` and `0 <= b <= bits`. The bits of `b` stand below the power of two
/// above it, where `x` may become all ones, and above it stays as it is.
fn greatest_flipped(greatest: i128, bits: i128) -> Option<i64> {
    let power = u64::try_from(bits).ok()?.checked_add(1)?.checked_next_power_of_two()?;
    i64::try_from(greatest | i128::from(power - 1)).ok()
}
