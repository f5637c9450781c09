//! Polynomials with integer coefficients over atoms.
//!
//! An [`Atom`] is a variable of a condition. Its number says its *level* (uniform values lowest, then ids,
//! loop variables by depth, pieces, xors, unknown values) and, for private values, the thread it belongs to;
//! so the order of monomials is the elimination order of SIGN (docs/RULES.md, "3.1 SIGN") without a table.
//!
//! Every operation is exact: it answers `None` instead of wrapping when a coefficient leaves 64 bits or a
//! degree passes eight, and whoever asked gives up.
//!
//! Deliberately absent: rational coefficients, factorisation.

use crate::work::spend;
use std::fmt;

/// A variable of a condition.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Atom(u16);

/// One of the two threads of a condition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// The thread of the first access.
    First,
    /// The thread of the second access.
    Second,
}

impl Side {
    /// Both.
    pub const BOTH: [Side; 2] = [Side::First, Side::Second];
}

/// Level of atoms that both threads share.
pub const UNIFORM: u8 = 0;
/// Level of thread and block ids and of digits.
pub const IDS: u8 = 1;
/// Level of the outermost loop; inner loops follow.
pub const LOOPS: u8 = 2;
/// Level of minima, maxima and selections.
pub const PIECES: u8 = 8;
/// Level of xors.
pub const XORS: u8 = 9;
/// Level of unknown values.
pub const UNKNOWN: u8 = 10;
/// Atoms that one level can hold.
pub const LEVEL_SIZE: u16 = 256;

impl Atom {
    /// The uniform atom of this number, from 0.
    pub fn uniform(number: u16) -> Option<Atom> {
        (number + 1 < LEVEL_SIZE).then_some(Atom(number + 1))
    }

    /// The private atom of this number, from 0, at a level above [`UNIFORM`].
    pub fn private(level: u8, number: u16, side: Side) -> Option<Atom> {
        let index = number.checked_mul(2)? + side as u16;
        (level > UNIFORM && level < 16 && index < LEVEL_SIZE).then(|| Atom(u16::from(level) << 8 | index))
    }

    /// The thread it belongs to; `None` if both share it.
    pub fn side(self) -> Option<Side> {
        match (self.is_private(), self.0 & 1) {
            (false, _) => None,
            (true, 0) => Some(Side::First),
            (true, _) => Some(Side::Second),
        }
    }

    /// Whether each thread has its own copy.
    pub fn is_private(self) -> bool {
        self.0 >= LEVEL_SIZE
    }

    /// The same value in the other thread.
    pub fn twin(self) -> Atom {
        if self.is_private() { Atom(self.0 ^ 1) } else { self }
    }

    /// Its level.
    pub fn level(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// A number below 4096.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A set of atoms.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AtomSet([u64; 64]);

impl Default for AtomSet {
    fn default() -> Self {
        AtomSet([0; 64])
    }
}

impl AtomSet {
    /// Whether it holds `atom`.
    pub fn contains(&self, atom: Atom) -> bool {
        self.0[atom.index() >> 6] >> (atom.index() & 63) & 1 != 0
    }

    /// Adds `atom`.
    pub fn insert(&mut self, atom: Atom) {
        self.0[atom.index() >> 6] |= 1 << (atom.index() & 63);
    }

    /// Removes `atom`.
    pub fn remove(&mut self, atom: Atom) {
        self.0[atom.index() >> 6] &= !(1 << (atom.index() & 63));
    }

    /// Whether it holds every atom of `monomial`.
    pub fn contains_all(&self, monomial: Monomial) -> bool {
        monomial.atoms().all(|atom| self.contains(atom))
    }

    /// Its atoms, in order.
    pub fn iter(&self) -> impl Iterator<Item = Atom> + '_ {
        (0..64u16).zip(self.0).flat_map(|(word, bits)| {
            let lowest_off = |bits: &u64| Some(bits & bits.wrapping_sub(1));
            let rest = std::iter::successors(Some(bits), lowest_off).take_while(|&bits| bits != 0);
            rest.map(move |bits| Atom(word << 6 | bits.trailing_zeros() as u16))
        })
    }
}

/// A product of at most eight atoms: sixteen bits each, greatest first, the rest zero. Its order is the
/// lexicographic one, which multiplication keeps.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Monomial {
    /// Two halves, and not one number, whose alignment would cost every term of a polynomial eight bytes and every
    /// allocation of one a detour.
    high: u64,
    low: u64,
}

const LANES: u32 = 8;

impl Monomial {
    /// The empty product.
    pub const ONE: Monomial = Monomial::packed(0);

    const fn packed(lanes: u128) -> Monomial {
        Monomial { high: (lanes >> 64) as u64, low: lanes as u64 }
    }

    fn lanes(self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    /// One atom.
    pub fn of(atom: Atom) -> Monomial {
        Monomial::packed(u128::from(atom.0) << 112)
    }

    fn lane(self, lane: u32) -> u16 {
        (self.lanes() >> (112 - 16 * lane)) as u16
    }

    /// Number of factors.
    pub fn degree(self) -> u32 {
        if self.lanes() == 0 { 0 } else { LANES - self.lanes().trailing_zeros() / 16 }
    }

    /// Its atoms, greatest first, repeated by multiplicity.
    pub fn atoms(self) -> impl Iterator<Item = Atom> + Clone {
        (0..self.degree()).map(move |lane| Atom(self.lane(lane)))
    }

    /// The product; `None` if the degree is too great.
    pub fn times(self, other: Monomial) -> Option<Monomial> {
        if self.lanes() == 0 {
            return Some(other);
        }
        if other.lanes() == 0 {
            return Some(self);
        }
        let (left, right) = (self.degree(), other.degree());
        if left + right > LANES {
            return None;
        }
        let (mut a, mut b, mut product) = (0, 0, 0u128);
        for lane in 0..left + right {
            let (x, y) = (if a < left { self.lane(a) } else { 0 }, if b < right { other.lane(b) } else { 0 });
            let next = if x >= y {
                a += 1;
                x
            } else {
                b += 1;
                y
            };
            product |= u128::from(next) << (112 - 16 * lane);
        }
        Some(Monomial::packed(product))
    }

    /// The quotient, if `divisor` divides it.
    pub fn divide(self, divisor: Monomial) -> Option<Monomial> {
        if divisor.lanes() == 0 {
            return Some(self);
        }
        let (mut quotient, mut length, mut taken) = (0u128, 0, 0);
        let (degree, wanted) = (self.degree(), divisor.degree());
        if wanted > degree {
            return None;
        }
        for lane in 0..degree {
            let atom = self.lane(lane);
            if taken < wanted && divisor.lane(taken) == atom {
                taken += 1;
            } else {
                quotient |= u128::from(atom) << (112 - 16 * length);
                length += 1;
            }
        }
        (taken == wanted).then_some(Monomial::packed(quotient))
    }

    /// The product of its private atoms.
    pub fn private_part(self) -> Monomial {
        let private = self.atoms().take_while(|atom| atom.is_private()).count() as u32;
        Monomial::packed(if private == 0 { 0 } else { self.lanes() & (u128::MAX << (128 - 16 * private)) })
    }

    /// The product of its uniform atoms.
    pub fn uniform_part(self) -> Monomial {
        let private = self.atoms().take_while(|atom| atom.is_private()).count() as u32;
        Monomial::packed(if private == LANES { 0 } else { self.lanes() << (16 * private) })
    }

    /// Whether `atom` is a factor.
    pub fn contains(self, atom: Atom) -> bool {
        self.atoms().any(|factor| factor == atom)
    }

    /// All its divisors.
    pub fn divisors(self) -> Vec<Monomial> {
        let mut divisors = vec![Monomial::ONE];
        for atom in self.atoms() {
            for index in 0..divisors.len() {
                let longer = divisors[index].times(Monomial::of(atom)).filter(|longer| !divisors.contains(longer));
                divisors.extend(longer);
            }
        }
        divisors
    }
}

impl fmt::Debug for Monomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let atoms: Vec<String> = self.atoms().map(|atom| format!("a{:x}", atom.0)).collect();
        f.write_str(&if atoms.is_empty() { "1".to_owned() } else { atoms.join("*") })
    }
}

/// A polynomial: terms with non-zero coefficients, greatest monomial first.
#[must_use]
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Poly(Vec<(Monomial, i64)>);

impl Poly {
    /// Zero.
    pub const ZERO: Poly = Poly(Vec::new());

    /// A constant.
    pub fn constant(value: i64) -> Poly {
        Poly::term(Monomial::ONE, value)
    }

    /// An atom.
    pub fn atom(atom: Atom) -> Poly {
        Poly::term(Monomial::of(atom), 1)
    }

    /// A monomial with a coefficient.
    pub fn term(monomial: Monomial, coefficient: i64) -> Poly {
        Poly(if coefficient == 0 { Vec::new() } else { vec![(monomial, coefficient)] })
    }

    /// The sum of terms in any order.
    pub fn from_terms(mut terms: Vec<(Monomial, i64)>) -> Option<Poly> {
        terms.sort_unstable_by_key(|term| std::cmp::Reverse(term.0));
        let mut sum: Vec<(Monomial, i64)> = Vec::with_capacity(terms.len());
        for (monomial, coefficient) in terms {
            match sum.last_mut() {
                Some(last) if last.0 == monomial => last.1 = last.1.checked_add(coefficient)?,
                _ => sum.push((monomial, coefficient)),
            }
        }
        sum.retain(|term| term.1 != 0);
        Some(Poly(sum))
    }

    /// Its terms, greatest monomial first.
    pub fn terms(&self) -> &[(Monomial, i64)] {
        &self.0
    }

    /// Number of terms.
    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Its value, if it is a constant.
    pub fn as_constant(&self) -> Option<i64> {
        match self.0.as_slice() {
            [] => Some(0),
            [(Monomial::ONE, value)] => Some(*value),
            _ => None,
        }
    }

    /// The atom that it is.
    pub fn as_atom(&self) -> Option<Atom> {
        match self.0.as_slice() {
            [(monomial, 1)] if monomial.degree() == 1 => monomial.atoms().next(),
            _ => None,
        }
    }

    /// The coefficient of `monomial`.
    pub fn coefficient(&self, monomial: Monomial) -> i64 {
        self.0.iter().find(|term| term.0 == monomial).map_or(0, |term| term.1)
    }

    /// `self + factor * monomial * other`
    pub fn plus_multiple(&self, other: &Poly, monomial: Monomial, factor: i64) -> Option<Poly> {
        spend((self.size() + other.size()) as u64);
        let mut sum = Vec::with_capacity(self.size() + other.size());
        let mut mine = self.0.iter().copied().peekable();
        for &(theirs, coefficient) in &other.0 {
            let theirs = theirs.times(monomial)?;
            let mut coefficient = coefficient.checked_mul(factor)?;
            while let Some(term) = mine.next_if(|term| term.0 > theirs) {
                sum.push(term);
            }
            if let Some(term) = mine.next_if(|term| term.0 == theirs) {
                coefficient = coefficient.checked_add(term.1)?;
            }
            if coefficient != 0 {
                sum.push((theirs, coefficient));
            }
        }
        sum.extend(mine);
        Some(Poly(sum))
    }

    /// `self + other`
    pub fn plus(&self, other: &Poly) -> Option<Poly> {
        self.plus_multiple(other, Monomial::ONE, 1)
    }

    /// `self - other`
    pub fn minus(&self, other: &Poly) -> Option<Poly> {
        self.plus_multiple(other, Monomial::ONE, -1)
    }

    /// `self + value`
    pub fn plus_constant(&self, value: i64) -> Option<Poly> {
        self.plus(&Poly::constant(value))
    }

    /// `factor * self`
    pub fn scaled(&self, factor: i64) -> Option<Poly> {
        if factor == 0 {
            return Some(Poly::ZERO);
        }
        let terms = self.0.iter().map(|&(monomial, coefficient)| Some((monomial, coefficient.checked_mul(factor)?)));
        terms.collect::<Option<Vec<_>>>().map(Poly)
    }

    /// `-self`
    pub fn negated(&self) -> Option<Poly> {
        self.scaled(-1)
    }

    /// `self * other`
    pub fn times(&self, other: &Poly) -> Option<Poly> {
        spend((self.size() * other.size()) as u64);
        let mut terms = Vec::with_capacity(self.size() * other.size());
        for &(left, a) in &self.0 {
            for &(right, b) in &other.0 {
                terms.push((left.times(right)?, a.checked_mul(b)?));
            }
        }
        Poly::from_terms(terms)
    }

    /// Whether `atom` occurs.
    pub fn mentions(&self, atom: Atom) -> bool {
        self.0.iter().any(|term| term.0.contains(atom))
    }

    /// Whether a private atom occurs.
    pub fn is_private(&self) -> bool {
        // Private atoms are greater than uniform ones, so that the first term holds one if any does.
        self.0.first().is_some_and(|term| term.0.private_part() != Monomial::ONE)
    }

    /// The atoms that occur, in descending order.
    pub fn atoms(&self) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = self.0.iter().flat_map(|term| term.0.atoms()).collect();
        atoms.sort_unstable_by(|a, b| b.cmp(a));
        atoms.dedup();
        atoms
    }

    /// `self` with `atom` replaced by `value`.
    pub fn substitute(&self, atom: Atom, value: &Poly) -> Option<Poly> {
        if !self.mentions(atom) {
            return Some(self.clone());
        }
        let mut result = Poly::ZERO;
        let (mut plain, single) = (Vec::new(), Monomial::of(atom));
        for &(monomial, coefficient) in &self.0 {
            let (mut rest, mut power) = (monomial, Poly::constant(1));
            if !monomial.contains(atom) {
                plain.push((monomial, coefficient));
                continue;
            }
            while let Some(quotient) = rest.divide(single) {
                rest = quotient;
                power = power.times(value)?;
            }
            result = result.plus_multiple(&power, rest, coefficient)?;
        }
        result.plus(&Poly(plain))
    }

    /// The greatest common divisor of its coefficients; 0 for zero.
    pub fn content(&self) -> i64 {
        self.0.iter().fold(0, |gcd, term| gcd_of(gcd, term.1))
    }

    /// `self` divided by its content.
    pub fn primitive(&self) -> Poly {
        match self.content() {
            0 | 1 => self.clone(),
            content => Poly(self.0.iter().map(|term| (term.0, term.1 / content)).collect()),
        }
    }

    /// The exact quotient, if `divisor` divides it.
    pub fn divide_exactly(&self, divisor: &Poly) -> Option<Poly> {
        let &(lead, coefficient) = divisor.0.first()?;
        let (mut quotient, mut rest) = (Vec::new(), self.clone());
        for _ in 0..40 {
            let Some(&(top, value)) = rest.0.first() else { return Poly::from_terms(quotient) };
            if value % coefficient != 0 {
                return None;
            }
            let (monomial, factor) = (top.divide(lead)?, value / coefficient);
            quotient.push((monomial, factor));
            rest = rest.plus_multiple(divisor, monomial, factor.checked_neg()?)?;
        }
        None
    }

    /// `self = radix*quotient + rest`, where no monomial of `rest` is a multiple of the radix' leading one.
    pub fn divide_with_rest(&self, radix: &Poly) -> Option<(Poly, Poly)> {
        let &(lead, coefficient) = radix.terms().iter().max_by_key(|term| (term.0.degree(), term.0))?;
        if coefficient != 1 || lead == Monomial::ONE {
            return None;
        }
        let (mut quotient, mut rest) = (Vec::new(), self.clone());
        for _ in 0..30 {
            let multiples =
                rest.terms().iter().filter_map(|&(monomial, value)| Some((monomial, monomial.divide(lead)?, value)));
            let Some((_, factor, value)) = multiples.max_by_key(|multiple| (multiple.0.degree(), multiple.0)) else {
                return Some((Poly::from_terms(quotient)?, rest));
            };
            quotient.push((factor, value));
            rest = rest.plus_multiple(radix, factor, value.checked_neg()?)?;
        }
        None
    }

    /// Its value where `value` gives that of every atom.
    pub fn evaluate(&self, value: impl Fn(Atom) -> i64) -> Option<i128> {
        let mut sum = 0i128;
        for &(monomial, coefficient) in &self.0 {
            let mut product = i128::from(coefficient);
            for atom in monomial.atoms() {
                product = product.checked_mul(i128::from(value(atom)))?;
            }
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }

    /// It as text, atoms named by `name`.
    pub fn display(&self, name: &dyn Fn(Atom) -> String) -> String {
        if self.is_zero() {
            return "0".to_owned();
        }
        let mut text = String::new();
        for (position, &(monomial, coefficient)) in self.0.iter().enumerate() {
            text.push_str(match (position, coefficient < 0) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            });
            let factors: Vec<String> = monomial.atoms().map(name).collect();
            match (coefficient.unsigned_abs(), factors.is_empty()) {
                (value, true) => text.push_str(&value.to_string()),
                (1, false) => text.push_str(&factors.join("*")),
                (value, false) => text.push_str(&[value.to_string(), factors.join("*")].join("*")),
            }
        }
        text
    }
}

impl fmt::Debug for Poly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display(&|atom| format!("a{:x}", atom.0)))
    }
}

/// The greatest common divisor; never negative.
pub fn gcd_of(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atoms() -> [Poly; 3] {
        [Atom::uniform(0), Atom::private(IDS, 0, Side::First), Atom::private(IDS, 0, Side::Second)]
            .map(|atom| Poly::atom(atom.unwrap()))
    }

    #[test]
    fn products_expand_and_divide_back() {
        let [d, s, t] = atoms();
        let sum = d.plus_constant(1).unwrap();
        let difference = s.minus(&t).unwrap();
        let product = sum.times(&difference).unwrap();
        assert_eq!(product.size(), 4);
        assert_eq!(product.divide_exactly(&sum), Some(difference));
        assert_eq!(product.plus_constant(1).unwrap().divide_exactly(&sum), None);
    }

    #[test]
    fn monomials_keep_multiplicity() {
        let [d, s, _] = atoms();
        let square = d.times(&d).unwrap().times(&s).unwrap();
        let (monomial, _) = square.terms()[0];
        assert_eq!(monomial.degree(), 3);
        assert_eq!(monomial.private_part().degree(), 1);
        assert_eq!(monomial.uniform_part().degree(), 2);
        assert_eq!(monomial.divisors().len(), 6);
        let twice = Monomial::of(d.as_atom().unwrap()).times(Monomial::of(d.as_atom().unwrap())).unwrap();
        assert_eq!(monomial.divide(twice).unwrap().degree(), 1);
        assert_eq!(monomial.divide(twice).unwrap().divide(twice), None);
    }

    #[test]
    fn substitution_replaces_every_power() {
        let [d, s, t] = atoms();
        let square = s.times(&s).unwrap();
        let value = d.minus(&t).unwrap();
        let result = square.substitute(s.as_atom().unwrap(), &value).unwrap();
        assert_eq!(result, value.times(&value).unwrap());
    }

    #[test]
    fn overflow_gives_up_instead_of_wrapping() {
        let big = Poly::constant(i64::MAX);
        assert_eq!(big.plus_constant(1), None);
        assert_eq!(big.scaled(2), None);
        let [d, ..] = atoms();
        let mut power = d.clone();
        for _ in 0..7 {
            power = power.times(&d).unwrap();
        }
        assert_eq!(power.times(&d), None);
    }
}
