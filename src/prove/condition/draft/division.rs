//! DIV (docs/RULES.md, "2.3 DIV") and CHAIN (docs/RULES.md, "2.4 CHAIN"): quotients and remainders as digits.
//!
//! *Premises.* `m >= 1` (by SIGN, or since a thread that divides does not divide by zero and `m` is unsigned or a
//! square) and, where C truncates, `x >= 0` by SIGN. *Gives.* `x = m*q + r`, `0 <= r < m`,
//! and `q >= 0` if `x >= 0`. *Proof.* Euclid. Shifts and masks round down whatever the sign of `x`, so that
//! they need `m >= 1` only.
//! *CHAIN.* If `x = m*q + r` is known and `m*k` divides: `q = k*q' + r'`, `x / (m*k) = q'`, `x % (m*k) = m*r' + r`.
//! *LOOSE*, *NESTED.* Divisors and values of either sign: see [`Draft::divide_by_unknown_sign`], `Builder::nested`.
//! *CARRY.* Digits of a neighbour of a value that was divided: see [`Draft::carry`].
//! *Trap.* `(t - 1)/2` is 0 for t = 0, 1 and 2: without `x >= 0` the remainder has either sign.

use super::atoms::Source;
use super::atoms::{Key, Named};
use crate::calculus::{ExprId, ScalarType};
use crate::prove::condition::draft::Draft;
use crate::prove::condition::reading::readings::Reading;
use crate::prove::condition::values::environments::Thread;
use crate::prove::state::Literal;
use crate::prove::state::poly::{Atom, IDS, Monomial, Poly, Side};
use std::collections::BTreeMap;

/// How a quotient is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::prove::condition) enum Rounding {
    /// Down: shifts and masks.
    Down,
    /// Towards zero: `/` and `%`.
    TowardsZero,
}

/// What is known of the sign of what is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    NonNegative,
    Unknown,
}

/// Divisions inside each other.
const DEPTH: u32 = 12;

/// What was divided, by what and whether rounded down; the quotient and the remainder.
pub(in crate::prove::condition) type Divided = ((Poly, Poly, bool), (Poly, Poly));

/// A divisor of a value and the digit that it left.
#[derive(Clone)]
struct Record {
    side: Side,
    divisor: Poly,
    remainder: Poly,
}

/// The digits of a condition.
#[derive(Clone, Default)]
pub(in crate::prove::condition) struct Digits {
    /// What was divided.
    pub(in crate::prove::condition) divided: Vec<Divided>,
    records: Vec<Record>,
    /// Equations that define digits, by the value that was divided.
    pub(in crate::prove::condition) definitions: BTreeMap<Named, [Option<Poly>; 2]>,
}

impl Draft<'_> {
    /// Notes that a value is known to leave a digit by a divisor.
    pub(in crate::prove::condition) fn note_digit(&mut self, side: Side, divisor: Poly, remainder: Poly) {
        self.digits.records.push(Record { side, divisor, remainder });
    }

    /// A division by zero has no value, so that a thread that went on did not divide by zero.
    pub(in crate::prove::condition) fn is_divisor(&mut self, ty: ScalarType, m: &Poly, by: Thread) -> Option<()> {
        let unsigned = ty.range().is_some_and(|range| range.0 >= 0);
        if by.certain && (unsigned || is_square(m)) {
            let least = m.plus_constant(-1)?;
            self.fact(least);
        }
        Some(())
    }

    /// The same, whatever the signs.
    pub(in crate::prove::condition) fn divide_somehow(
        &mut self,
        of: ExprId,
        by: Thread,
        x: &Poly,
        m: &Poly,
    ) -> Option<(Poly, Poly)> {
        match self.divide(of.into(), by, x, m, Rounding::TowardsZero, 0) {
            Some(digits) => Some(digits),
            None => self.divide_by_unknown_sign(of.into(), by, x, m),
        }
    }

    /// Quotient and remainder of `x` by `m`.
    pub(in crate::prove::condition) fn divide(
        &mut self,
        of: Named,
        by: Thread,
        x: &Poly,
        m: &Poly,
        rounding: Rounding,
        depth: u32,
    ) -> Option<(Poly, Poly)> {
        let (x, m) = (self.normal(x)?, self.normal(m)?);
        if depth > DEPTH || !self.shows_positive(&m) {
            return None;
        }
        self.hint(&m);
        let (multiple, rest) = pull_out(&x, &m)?;
        if rest.is_zero() {
            return Some((multiple, Poly::ZERO));
        }
        if rounding == Rounding::TowardsZero && !self.shows(&x) {
            return self.divide_towards_zero(of, by, &x, &m);
        }
        let (multiple, rest, sign) = if self.shows(&rest) {
            if self.shows_positive(&m.minus(&rest)?) {
                return Some((multiple, rest));
            }
            (multiple, rest, Sign::NonNegative)
        } else if rounding == Rounding::TowardsZero {
            (Poly::ZERO, x.clone(), Sign::NonNegative)
        } else {
            (multiple, rest, Sign::Unknown)
        };
        let digits = match self.chained(of, by, &rest, &m, rounding, depth)? {
            Some(digits) => digits,
            None => self.digits(of, by, &rest, &m, sign)?,
        };
        let quotient = self.normal(&multiple)?.plus(&digits.0)?;
        self.note_canonical(&x, &m, &quotient, &digits.1)?;
        Some((quotient, digits.1))
    }

    /// From now on `x` is read as `m*quotient + remainder`.
    fn note_canonical(&mut self, x: &Poly, m: &Poly, quotient: &Poly, remainder: &Poly) -> Option<()> {
        let x = self.normal(x)?;
        let value = self.normal(m)?.times(quotient)?.plus(remainder)?;
        let known = self.canonical.iter().any(|entry| self.normal(&entry.0).as_ref() == Some(&x));
        if x != value && x.as_atom().is_none() && !known {
            self.canonical.push((x, value));
        }
        Some(())
    }

    /// Division by a multiple of a divisor that `x` was divided by before. The outer `None` gives up.
    #[expect(clippy::option_option, reason = "nothing to chain, or out of range")]
    fn chained(
        &mut self,
        of: Named,
        by: Thread,
        x: &Poly,
        m: &Poly,
        rounding: Rounding,
        depth: u32,
    ) -> Option<Option<(Poly, Poly)>> {
        let side = by.side;
        for index in 0..self.digits.records.len() {
            let record = &self.digits.records[index];
            if record.side != side {
                continue;
            }
            let (divisor, remainder) = (self.normal(&record.divisor)?, self.normal(&record.remainder)?);
            let Some(factor) = m.divide_exactly(&divisor) else { continue };
            if factor.as_constant().is_some_and(|factor| factor <= 1) {
                continue;
            }
            let without = x.minus(&remainder)?.divide_exactly(&divisor);
            let (high, low) = match without {
                Some(high) => (high, remainder),
                None => match x.divide_exactly(&divisor) {
                    Some(high) => (high, Poly::ZERO),
                    None => continue,
                },
            };
            // `low` lies in [0, divisor), so that rounding down is what `high` needs; towards zero is the same
            // there since `x >= 0` was shown.
            let rounding = if rounding == Rounding::TowardsZero { Rounding::Down } else { rounding };
            let Some((quotient, rest)) = self.divide(of, by, &high, &factor, rounding, depth + 1) else { continue };
            let (divisor, low) = (self.normal(&divisor)?, self.normal(&low)?);
            return Some(Some((quotient, divisor.times(&rest)?.plus(&low)?)));
        }
        Some(None)
    }

    /// New digits of `x` by `m >= 1`, rounded down.
    fn digits(&mut self, of: Named, by: Thread, x: &Poly, m: &Poly, sign: Sign) -> Option<(Poly, Poly)> {
        if let Some(known) = self.known_digits(x, m, Rounding::Down) {
            return self.normal_pair(&known);
        }
        if sign == Sign::NonNegative
            && let Some(known) = self.known_digits(x, m, Rounding::TowardsZero)
        {
            // The sign was not known when the digits were made; now it is.
            [&known.0, &known.1].into_iter().filter_map(Poly::as_atom).for_each(|atom| self.set_non_negative(atom));
            return self.normal_pair(&known);
        }
        if self.is_power(x) && self.is_power(m) && self.shows(&x.minus(m)?) {
            return self.divide_powers(of, by, x, m);
        }
        if !x.is_private()
            && let Some(digits) = self.carry(of, by, x, m, sign)
        {
            return Some(digits);
        }
        let (q, r) = self.digit_atoms(of, by, x, m)?;
        self.set_non_negative(r);
        if sign == Sign::NonNegative {
            self.set_non_negative(q);
        }
        let (quotient, remainder) = (Poly::atom(q), Poly::atom(r));
        if self.is_power(x) && self.is_power(m) {
            // The smaller divides the greater: the quotient is a power of two, or zero if the divisor is the greater.
            self.readings.insert(Reading::Powers);
            self.powers.push(quotient.clone());
            let divides = vec![Literal::NonNegative(quotient.plus_constant(-1)?), Literal::Zero(remainder.clone())];
            self.disjunction(vec![divides, vec![Literal::NonNegative(quotient.negated()?)]]);
        }
        self.bound_digits((q, r), x, m, sign);
        self.fact(m.plus_constant(-1)?.minus(&remainder)?);
        self.inherit_bound(x, m, &quotient)?;
        self.digits.divided.push(((x.clone(), m.clone(), true), (quotient.clone(), remainder.clone())));
        let side = by.side;
        self.note_digit(side, m.clone(), remainder.clone());
        self.define(of, by, x, m, (&quotient, &remainder))?;
        Some((quotient, remainder))
    }

    /// Digits of these values that were made before, in this way. Where nothing bounds them, a value that has been
    /// read in its digits since would get others.
    fn known_digits(&self, x: &Poly, m: &Poly, rounding: Rounding) -> Option<(Poly, Poly)> {
        let is_made_of = |digits: &(Poly, Poly)| {
            let (quotient, remainder) = self.normal_pair(digits)?;
            Some(rounding == Rounding::TowardsZero && m.times(&quotient)?.plus(&remainder)? == *x)
        };
        let same = |(key, digits): &&Divided| {
            key.2 == (rounding == Rounding::Down)
                && self.normal(&key.1).as_ref() == Some(m)
                && (self.normal(&key.0).as_ref() == Some(x) || is_made_of(digits) == Some(true))
        };
        self.digits.divided.iter().find(same).map(|(_, digits)| digits.clone())
    }

    fn normal_pair(&self, pair: &(Poly, Poly)) -> Option<(Poly, Poly)> {
        Some((self.normal(&pair.0)?, self.normal(&pair.1)?))
    }

    /// CARRY: digits of `x = y + c` from those of `y = m*q + r`, for a constant `c` with `|c| <= m`.
    ///
    /// Since `0 <= r < m`, the sum `r + c` leaves `[0, m)` by at most one `m`: `x = m*(q + e) + (r + c - m*e)`
    /// with `e` 0 or 1 (or 0 or -1, for a negative `c`). So what chooses a buffer in one iteration of a loop is tied
    /// to what chooses it in the next: `(k + 1) % 2 = 1 - k % 2`.
    fn carry(&mut self, of: Named, by: Thread, x: &Poly, m: &Poly, sign: Sign) -> Option<(Poly, Poly)> {
        let (shift, (quotient, remainder)) = self.neighbour(x, m)?;
        let direction = shift.signum();
        if !self.shows(&m.plus_constant(-shift.checked_abs()?)?) {
            return None;
        }
        let sum = remainder.plus_constant(shift)?;
        let dividend = if direction > 0 { sum.clone() } else { m.minus(&sum)?.plus_constant(-1)? };
        let side = by.side;
        let carry = self.atom(0, Key::Quotient(of), side, "carry", Source::Quotient(dividend, m.clone()))?;
        self.readings.insert(Reading::Carry);
        self.set_non_negative(carry);
        self.bound(carry, Some(0), Some(1));
        self.fact(Poly::constant(1).minus(&Poly::atom(carry))?);
        let carry = Poly::atom(carry).scaled(direction)?;
        let (quotient, remainder) = (quotient.plus(&carry)?, sum.minus(&m.times(&carry)?)?);
        self.fact(remainder.clone());
        self.fact(m.minus(&remainder)?.plus_constant(-1)?);
        if sign == Sign::NonNegative {
            self.fact(quotient.clone());
        }
        self.inherit_bound(x, m, &quotient)?;
        self.digits.divided.push(((x.clone(), m.clone(), true), (quotient.clone(), remainder.clone())));
        self.note_digit(side, m.clone(), remainder.clone());
        Some((quotient, remainder))
    }

    /// A value whose digits by `m` are known and that lies a constant below `x`, the nearest one: that constant,
    /// its digits. It is a value that was divided, or the remainder that was left.
    fn neighbour(&self, x: &Poly, m: &Poly) -> Option<(i64, (Poly, Poly))> {
        let divided = self.digits.divided.iter().filter_map(|(key, digits)| {
            let same = key.2 && self.normal(&key.1).as_ref() == Some(m);
            let apart = |known: Option<Poly>| x.minus(&known.filter(|_| same)?)?.as_constant();
            let shift = apart(self.normal(&key.0)).or_else(|| apart(self.settled(&key.0)))?;
            Some((shift, digits.clone()))
        });
        let remainders = self.digits.divided.iter().filter_map(|(key, digits)| {
            let same = key.2 && self.normal(&key.1).as_ref() == Some(m);
            let remainder = self.normal(&digits.1).filter(|_| same)?;
            Some((x.minus(&remainder)?.as_constant()?, (Poly::ZERO, remainder)))
        });
        let near = divided.chain(remainders).filter(|near| near.0 != 0);
        let (shift, digits) = near.min_by_key(|near| near.0.unsigned_abs())?;
        Some((shift, self.normal_pair(&digits)?))
    }

    /// POWERS (docs/RULES.md, "2.12 POWERS"): of two powers of two `m <= x` the smaller divides the greater, and the
    /// quotient is a power of two.
    fn divide_powers(&mut self, of: Named, by: Thread, x: &Poly, m: &Poly) -> Option<(Poly, Poly)> {
        let (q, r) = self.digit_atoms(of, by, x, m)?;
        self.set_non_negative(q);
        self.bound_digits((q, r), x, m, Sign::NonNegative);
        let quotient = Poly::atom(q);
        self.fact(quotient.plus_constant(-1)?);
        self.readings.insert(Reading::Powers);
        self.powers.push(quotient.clone());
        self.digits.divided.push(((x.clone(), m.clone(), true), (quotient.clone(), Poly::ZERO)));
        self.define(of, by, x, m, (&quotient, &Poly::ZERO))?;
        Some((quotient, Poly::ZERO))
    }

    fn digit_atoms(&mut self, of: Named, by: Thread, x: &Poly, m: &Poly) -> Option<(Atom, Atom)> {
        let side = by.side;
        let level = if x.is_private() || m.is_private() { IDS } else { 0 };
        let number = self.digits.divided.len() / 2;
        let q =
            self.atom(level, Key::Quotient(of), side, &format!("q{number}"), Source::Quotient(x.clone(), m.clone()))?;
        let r =
            self.atom(level, Key::Remainder(of), side, &format!("r{number}"), Source::Remainder(x.clone(), m.clone()))?;
        self.state.named.insert(q);
        self.state.named.insert(r);
        Some((q, r))
    }

    fn bound_digits(&mut self, (q, r): (Atom, Atom), x: &Poly, m: &Poly, sign: Sign) {
        let high = self.interval(m).1.map(|high| high - 1);
        self.bound(r, Some(0), high);
        if sign == Sign::NonNegative {
            // The quotient is at most the dividend, and less by the divisor's least value.
            let least = self.interval(m).0.filter(|&least| least >= 1).unwrap_or(1);
            let high = self.interval(x).1.map(|high| high / least);
            self.bound(q, Some(0), high);
        }
    }

    /// If `x <= m*k - 1` is a fact, then `q <= k - 1`.
    fn inherit_bound(&mut self, x: &Poly, m: &Poly, quotient: &Poly) -> Option<()> {
        let facts = self.state.facts.clone();
        for fact in facts {
            let Some(limit) = fact.plus(x).and_then(|sum| sum.plus_constant(1)) else { continue };
            if limit.is_zero() || limit.atoms().iter().any(|&atom| x.mentions(atom) && atom.is_private()) {
                continue;
            }
            if let Some(factor) = limit.divide_exactly(m) {
                self.fact(factor.plus_constant(-1)?.minus(quotient)?);
            }
        }
        Some(())
    }

    /// Says that `x = m*q + r`: by replacement if `x` is a private atom, else by an equation.
    fn define(&mut self, of: Named, by: Thread, x: &Poly, m: &Poly, digits: (&Poly, &Poly)) -> Option<()> {
        let value = m.times(digits.0)?.plus(digits.1)?;
        if let Some(atom) = x.as_atom().filter(|&atom| atom.is_private() && !m.mentions(atom)) {
            return self.replace(atom, value);
        }
        let definition = x.minus(&value)?;
        if !definition.is_private() {
            self.fact(definition.clone());
            self.fact(definition.negated()?);
        }
        let side = by.side as usize;
        let entry = self.digits.definitions.entry(of).or_default();
        if entry[side].is_none() {
            entry[side] = Some(definition);
        } else {
            self.state.equations.push(definition);
        }
        Some(())
    }

    /// `x = m*q + r` with `|r| < m`, where the sign of `x` is not known.
    fn divide_towards_zero(&mut self, of: Named, by: Thread, x: &Poly, m: &Poly) -> Option<(Poly, Poly)> {
        let (quotient, remainder) = self.loose_digits(of, by, x, m)?;
        let least = m.plus_constant(-1)?;
        self.fact(least.minus(&remainder)?);
        self.fact(least.plus(&remainder)?);
        if !x.is_private() && !m.is_private() {
            let definition = x.minus(&m.times(&quotient)?.plus(&remainder)?)?;
            self.fact(definition.clone());
            self.fact(definition.negated()?);
        }
        // C's remainder has the sign of the dividend, and the quotient too, since `m` is positive.
        let signs = |of: Poly, sign: i64| {
            let all = [Some(of), x.scaled(sign), remainder.scaled(sign), quotient.scaled(sign)];
            all.into_iter().map(|poly| poly.map(Literal::NonNegative)).collect::<Option<Vec<_>>>()
        };
        let of = self.sign_of(x).unwrap_or_else(|| x.clone());
        let below = of.negated()?.plus_constant(-1)?;
        self.disjunction(vec![signs(of, 1)?, signs(below, -1)?]);
        Some((quotient, remainder))
    }

    /// A uniform factor of `x` whose sign is that of `x`, or zero: the other factor is not negative.
    ///
    /// *Use.* All values that are multiples of one parameter have their signs from it: `n*t/m` and `n*(t + 1)/m` of two
    /// threads are two cases, and not sixteen.
    fn sign_of(&mut self, x: &Poly) -> Option<Poly> {
        let uniform = x.atoms().into_iter().filter(|atom| !atom.is_private()).map(Poly::atom);
        uniform.filter(|of| of != x).find(|of| x.divide_exactly(of).is_some_and(|rest| self.shows(&rest)))
    }

    /// Digits of which only `x = m*q + r` is said.
    fn loose_digits(&mut self, of: Named, by: Thread, x: &Poly, m: &Poly) -> Option<(Poly, Poly)> {
        // Digits rounded down are others where `x` is negative.
        if let Some(known) = self.known_digits(x, m, Rounding::TowardsZero) {
            return self.normal_pair(&known);
        }
        let (q, r) = self.digit_atoms(of, by, x, m)?;
        let digits = (Poly::atom(q), Poly::atom(r));
        self.digits.divided.push(((x.clone(), m.clone(), false), digits.clone()));
        let definition = x.minus(&m.times(&digits.0)?.plus(&digits.1)?)?;
        let side = by.side as usize;
        let entry = self.digits.definitions.entry(of).or_default();
        if entry[side].is_none() {
            entry[side] = Some(definition);
        } else {
            self.state.equations.push(definition);
        }
        Some(digits)
    }

    /// LOOSE: `x` divided by a uniform `m` that is not zero, where either may be negative.
    ///
    /// *Premises.* The thread divides, so that `m != 0`. *Gives.* `x = m*q + r`; if `x = m*u` identically, `q = u` and
    /// `r = 0`; if `x >= 0`, also `0 <= r < |m|` and the sign of `q`, which is that of `m`; if `x = m*u + y`
    /// identically and neither `x` nor `y` is negative, `x / m = u + y / m` and `x % m = y % m`. *Proof.* C defines `r`
    /// by the equation, and a multiple of `m` leaves none; remainders of numbers that are not negative are those by
    /// `|m|`. *Use.* `(x - x % m) / m` and a value that is put together again as it was taken apart need no sign at
    /// all. *Trap.* Digits that are put together in another order, or by another pitch: without `|r| < |m|` and equal
    /// signs nothing says that they are equal in both threads.
    fn divide_by_unknown_sign(&mut self, of: Named, by: Thread, x: &Poly, m: &Poly) -> Option<(Poly, Poly)> {
        if !by.certain {
            return None;
        }
        let (x, m) = (&self.normal(x)?, &self.normal(m)?);
        if !m.is_zero()
            && let Some(multiple) = x.divide_exactly(m)
        {
            return Some((multiple, Poly::ZERO));
        }
        if m.is_private() || m.as_constant().is_some() {
            return None;
        }
        self.readings.insert(Reading::Loose);
        let (multiple, rest) = pull_out(x, m)?;
        if !multiple.is_zero() && !rest.is_zero() && self.shows_of_digits(x) && self.shows(&rest) {
            // `x` and `rest` leave the same remainder by `|m|`, and neither is negative.
            if self.is_remainder(&rest, m) {
                return Some((multiple, rest));
            }
            let (q, r) = self.divide_by_unknown_sign(of, by, &rest, m)?;
            return Some((self.normal(&multiple)?.plus(&q)?, r));
        }
        let known = self.digits.divided.len();
        let (q, r) = self.loose_digits(of, by, x, m)?;
        if self.digits.divided.len() > known && self.shows(x) {
            self.set_non_negative(r.as_atom()?);
            let at_least = |poly: Option<Poly>| poly.map(Literal::NonNegative);
            let positive = vec![
                at_least(m.plus_constant(-1))?,
                at_least(m.plus_constant(-1)?.minus(&r))?,
                at_least(Some(q.clone()))?,
            ];
            let negated = m.negated()?.plus_constant(-1)?;
            let negative = vec![at_least(Some(negated.clone()))?, at_least(negated.minus(&r))?, at_least(q.negated())?];
            self.early_disjunction(vec![positive, negative]);
            // Read in its digits, it is no more negative than before.
            self.fact(m.times(&q)?.plus(&r)?);
        }
        let value = m.times(&q)?.plus(&r)?;
        if let Some(atom) = x.as_atom().filter(|&atom| self.state.named.contains(atom) && atom.is_private()) {
            // A digit that is divided again is read in its own digits.
            self.replace(atom, value)?;
        } else if x.as_atom().is_none() && *x != value && !self.canonical.iter().any(|entry| entry.0 == *x) {
            self.canonical.push((x.clone(), value));
        }
        Some((q, r))
    }

    /// Whether `x >= 0` is shown, or would be if a value in it were not read in its digits.
    fn shows_of_digits(&mut self, x: &Poly) -> bool {
        let undigested = |(whole, digits): &(Poly, Poly)| {
            let (whole, digits) = (self.normal(whole)?, self.normal(digits)?);
            let plain = x.minus(&digits)?.plus(&whole)?;
            let shares = |poly: &Poly| digits.atoms().iter().any(|&atom| atom.is_private() && poly.mentions(atom));
            (shares(x) && !shares(&plain)).then_some(plain)
        };
        let plain: Vec<Poly> = self.canonical.iter().filter_map(undigested).collect();
        self.shows(x) || plain.iter().any(|plain| self.shows(plain))
    }

    /// Whether `rest` is what a division by `m` left.
    fn is_remainder(&self, rest: &Poly, m: &Poly) -> bool {
        let left = |(key, digits): &Divided| {
            self.normal(&key.1).as_ref() == Some(m) && self.normal(&digits.1).as_ref() == Some(rest)
        };
        self.digits.divided.iter().any(left)
    }
}

/// `x = m*multiple + rest`, coefficient by coefficient of the private monomials.
pub(in crate::prove::condition) fn pull_out(x: &Poly, m: &Poly) -> Option<(Poly, Poly)> {
    let mut groups: Vec<(Monomial, Vec<(Monomial, i64)>)> = Vec::new();
    for &(monomial, coefficient) in x.terms() {
        let (private, uniform) = (monomial.private_part(), monomial.uniform_part());
        match groups.iter_mut().find(|group| group.0 == private) {
            Some(group) => group.1.push((uniform, coefficient)),
            None => groups.push((private, vec![(uniform, coefficient)])),
        }
    }
    let (mut multiple, mut rest) = (Poly::ZERO, Poly::ZERO);
    for (private, terms) in groups {
        let group = Poly::from_terms(terms)?;
        let (quotient, remainder) = match group.divide_exactly(m) {
            Some(quotient) => (quotient, Poly::ZERO),
            None => divide_terms(&group, m)?,
        };
        multiple = multiple.plus_multiple(&quotient, private, 1)?;
        rest = rest.plus_multiple(&remainder, private, 1)?;
    }
    Some((multiple, rest))
}

/// Terms that `m` divides, and the others; `x = m*q + r` comes back as `q` and `r`.
fn divide_terms(x: &Poly, m: &Poly) -> Option<(Poly, Poly)> {
    if m.size() > 1 {
        return x.divide_with_rest(m).or_else(|| Some((Poly::ZERO, x.clone())));
    }
    let (mut multiple, mut rest) = (Poly::ZERO, Poly::ZERO);
    for &(monomial, coefficient) in x.terms() {
        let term = Poly::term(monomial, coefficient);
        match term.divide_exactly(m) {
            Some(quotient) => multiple = multiple.plus(&quotient)?,
            None => rest = rest.plus(&term)?,
        }
    }
    Some((multiple, rest))
}

/// Whether the value is a product of squares, times a positive constant, and so not negative.
fn is_square(poly: &Poly) -> bool {
    let [(monomial, 1..)] = poly.terms() else { return false };
    *monomial != Monomial::ONE
        && monomial.atoms().all(|atom| monomial.atoms().filter(|&other| other == atom).count() % 2 == 0)
}
