//! Linear inequalities between integers, and what follows from them.
//!
//! A [`Sum`] of products of symbols with factors stands for the inequality that it is not negative. A product counts as a
//! number of its own, of which nothing is known but what is said of it.
//!
//! Guarantees: what is said to follow holds of all integers that satisfy the inequalities ([`implies`], [`bounds`]), and
//! [`without`] leaves only what follows. Factors that grow too large, and inequalities that become too many, are dropped.
//!
//! Deliberately absent: completeness, and what symbols mean.

use crate::launch::Term;
use crate::resolve::program::VariableId;
use std::collections::BTreeMap;

/// Inequalities beyond which the longer ones are dropped.
const MOST: usize = 48;
/// Inequalities that one step may make.
const MOST_MADE: usize = 144;
/// Inequalities that are looked at to see what follows from them.
const MOST_RELATED: usize = 32;
/// The greatest factor.
const GREATEST: i128 = 1 << 80;
/// Factors of a product.
const DEGREE: usize = 2;

/// A host variable, or a lane or field of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Source {
    pub(super) variable: VariableId,
    pub(super) part: Option<usize>,
}

impl Source {
    /// Whether another part of the same variable is meant.
    pub(super) fn is_beside(self, other: Source) -> bool {
        let parts = self.part.zip(other.part);
        self.variable == other.variable && parts.is_some_and(|(one, other)| one != other)
    }
}

/// A number that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Symbol {
    /// A size or an argument of the launch at hand.
    Launch(Term),
    /// What a variable of the host holds.
    Variable(Source),
    /// A value without a name.
    Made(u32),
}

/// Symbols that are multiplied, in order.
pub(super) type Product = Vec<Symbol>;

/// A sum of products with factors and a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    /// The products with their factors, none of which is zero.
    pub(super) terms: BTreeMap<Product, i128>,
    pub(super) plus: i128,
}

impl Sum {
    pub(super) fn number(plus: i128) -> Sum {
        Sum { terms: BTreeMap::new(), plus }
    }

    pub(super) fn symbol(symbol: Symbol) -> Sum {
        Sum { terms: BTreeMap::from([(vec![symbol], 1)]), plus: 0 }
    }

    pub(super) fn plus(&self, other: &Sum) -> Option<Sum> {
        let mut sum = self.clone();
        sum.plus = fitting(sum.plus.checked_add(other.plus)?)?;
        for (product, factor) in &other.terms {
            let known = sum.terms.entry(product.clone()).or_insert(0);
            *known = fitting(known.checked_add(*factor)?)?;
        }
        sum.terms.retain(|_, factor| *factor != 0);
        Some(sum)
    }

    pub(super) fn minus(&self, other: &Sum) -> Option<Sum> {
        self.plus(&other.times(-1)?)
    }

    pub(super) fn times(&self, factor: i128) -> Option<Sum> {
        if factor == 0 {
            return Some(Sum::default());
        }
        let scaled = |value: i128| fitting(value.checked_mul(factor)?);
        let terms = self.terms.iter().map(|(product, known)| Some((product.clone(), scaled(*known)?)));
        Some(Sum { terms: terms.collect::<Option<_>>()?, plus: scaled(self.plus)? })
    }

    /// The product of two sums; `None` if it has more factors than are followed.
    pub(super) fn product(&self, other: &Sum) -> Option<Sum> {
        let mut sum = self.times(other.plus)?;
        for (product, factor) in &other.terms {
            for (own, times) in &self.terms {
                let mut both: Product = own.iter().chain(product).copied().collect();
                if both.len() > DEGREE {
                    return None;
                }
                both.sort_unstable();
                sum = sum.plus(&Sum { terms: BTreeMap::from([(both, times.checked_mul(*factor)?)]), plus: 0 })?;
            }
            let alone = Sum { terms: BTreeMap::from([(product.clone(), *factor)]), plus: 0 };
            sum = sum.plus(&alone.times(self.plus)?)?;
        }
        Some(sum)
    }

    /// The number that it is, whatever the symbols are.
    pub(super) fn constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.plus)
    }

    /// The symbol that it is a multiple of, and how often.
    pub(super) fn multiple(&self) -> Option<(Symbol, i128)> {
        let mut terms = self.terms.iter().filter(|_| self.plus == 0);
        match (terms.next(), terms.next()) {
            (Some((product, &factor)), None) if product.len() == 1 => Some((product[0], factor)),
            _ => None,
        }
    }

    /// The symbol that it is a multiple of, but for a number.
    pub(super) fn multiple_of(&self) -> Option<Symbol> {
        Sum { plus: 0, ..self.clone() }.multiple().map(|(symbol, _)| symbol)
    }

    pub(super) fn mentions(&self, symbol: Symbol) -> bool {
        self.terms.keys().any(|product| product.contains(&symbol))
    }

    /// The symbols that it speaks of.
    pub(super) fn symbols(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.terms.keys().flatten().copied()
    }

    /// The sum with another one in the place of a symbol.
    pub(super) fn replaced(&self, symbol: Symbol, by: &Sum) -> Option<Sum> {
        let mut sum = Sum::number(self.plus);
        for (product, factor) in &self.terms {
            let mut term = Sum::number(*factor);
            for &part in product {
                term = term.product(&if part == symbol { by.clone() } else { Sum::symbol(part) })?;
            }
            sum = sum.plus(&term)?;
        }
        Some(sum)
    }

    /// The same inequality between integers, with the least factors.
    pub(super) fn tightened(mut self) -> Sum {
        let divisor = self.terms.values().fold(0, |divisor, factor| gcd(divisor, factor.abs()));
        if divisor > 1 {
            self.terms.values_mut().for_each(|factor| *factor /= divisor);
            self.plus = self.plus.div_euclid(divisor);
        }
        self
    }

    fn factor(&self, product: &Product) -> i128 {
        self.terms.get(product).copied().unwrap_or(0)
    }
}

fn fitting(value: i128) -> Option<i128> {
    (-GREATEST..=GREATEST).contains(&value).then_some(value)
}

pub(super) fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What follows from inequalities of everything but one product.
pub(super) fn without(all: Vec<Sum>, product: &Product) -> Vec<Sum> {
    let (with, mut rest): (Vec<Sum>, Vec<Sum>) = all.into_iter().partition(|sum| sum.factor(product) != 0);
    let (least, most): (Vec<Sum>, Vec<Sum>) = with.into_iter().partition(|sum| sum.factor(product) > 0);
    if least.len() * most.len() > MOST_MADE {
        return rest;
    }
    for (low, high) in least.iter().flat_map(|low| most.iter().map(move |high| (low, high))) {
        let (a, b) = (low.factor(product), -high.factor(product));
        let divisor = gcd(a, b);
        let both = low.times(b / divisor).zip(high.times(a / divisor)).and_then(|(low, high)| low.plus(&high));
        let Some(both) = both.map(Sum::tightened) else { continue };
        if both.constant().is_none_or(|number| number < 0) && !rest.contains(&both) {
            rest.push(both);
        }
    }
    rest.sort_by_key(|sum| sum.terms.len());
    rest.truncate(MOST);
    rest
}

/// Whether `goal` is not negative wherever all of these are not.
pub(super) fn implies(all: &[Sum], goal: &Sum) -> bool {
    if let Some(number) = goal.constant() {
        return number >= 0;
    }
    if all.iter().any(|sum| sum.terms == goal.terms && sum.plus <= goal.plus) {
        return true;
    }
    let Some(against) = goal.times(-1).and_then(|sum| sum.plus(&Sum::number(-1))) else { return false };
    let mut open = related(all, goal);
    open.push(against);
    loop {
        if open.iter().any(|sum| sum.constant().is_some_and(|number| number < 0)) {
            return true;
        }
        let Some(product) = cheapest(&open, &[]) else { return false };
        open = without(open, &product);
    }
}

/// The least and the greatest value of a sum that inequalities allow, as far as they say.
pub(super) fn bounds(all: &[Sum], sum: &Sum) -> (Option<i128>, Option<i128>) {
    if let Some(number) = sum.constant() {
        return (Some(number), Some(number));
    }
    let it = vec![Symbol::Made(u32::MAX)];
    let mut open = related(all, sum);
    let named = Sum::symbol(it[0]);
    open.extend(named.minus(sum).into_iter().chain(sum.minus(&named)));
    while let Some(product) = cheapest(&open, &it) {
        open = without(open, &product);
    }
    let (mut least, mut most) = (None, None);
    for sum in open {
        match sum.factor(&it) {
            1.. => least = least.max(Some(-sum.plus)),
            0 => {}
            ..0 => most = Some(most.map_or(sum.plus, |most: i128| most.min(sum.plus))),
        }
    }
    (least, most)
}

/// The product whose removal makes the fewest inequalities.
fn cheapest(all: &[Sum], kept: &[Symbol]) -> Option<Product> {
    let mut counts: BTreeMap<&Product, (usize, usize)> = BTreeMap::new();
    for (product, &factor) in all.iter().flat_map(|sum| &sum.terms) {
        let (least, most) = counts.entry(product).or_default();
        *(if factor > 0 { least } else { most }) += 1;
    }
    let open = counts.into_iter().filter(|(product, _)| product.as_slice() != kept);
    open.min_by_key(|(_, (least, most))| least * most).map(|(product, _)| product.clone())
}

/// The inequalities that have to do with a sum.
fn related(all: &[Sum], sum: &Sum) -> Vec<Sum> {
    let mut products: Vec<&Product> = sum.terms.keys().collect();
    let mut found: Vec<&Sum> = Vec::new();
    let mut at = 0;
    while let Some(&product) = products.get(at) {
        at += 1;
        for other in all {
            if other.terms.contains_key(product) && !found.contains(&other) && found.len() < MOST_RELATED {
                found.push(other);
                products.extend(other.terms.keys().filter(|it| !sum.terms.contains_key(*it)));
            }
        }
        if at > MOST_RELATED * 4 {
            break;
        }
    }
    found.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(at: u32) -> Sum {
        Sum::symbol(Symbol::Made(at))
    }

    /// `a * x + b * y + c`
    fn sum(a: i128, b: i128, c: i128) -> Sum {
        let [x, y] = [(0, a), (1, b)].map(|(at, factor)| made(at).times(factor).unwrap());
        x.plus(&y).and_then(|it| it.plus(&Sum::number(c))).unwrap()
    }

    #[test]
    fn what_follows_is_seen_and_what_does_not_is_not() {
        // 32 x <= y and y <= 100
        let all = [sum(-32, 1, 0), sum(0, -1, 100)];
        assert!(implies(&all, &sum(-1, 0, 3)), "x <= 3");
        assert!(!implies(&all, &sum(-1, 0, 2)), "x <= 2");
        assert!(!implies(&all, &sum(1, 0, 0)), "x >= 0");
        assert_eq!(bounds(&all, &sum(2, 0, 1)), (None, Some(7)));
    }

    #[test]
    fn products_multiply_out() {
        let square = sum(1, 2, 3).product(&sum(0, 1, -1)).unwrap();
        assert_eq!(square.terms.get(&vec![Symbol::Made(0), Symbol::Made(1)]), Some(&1));
        assert_eq!(square.terms.get(&vec![Symbol::Made(1)]), Some(&1), "3 y - 2 y");
        assert_eq!(square.plus, -3);
        assert_eq!(square.product(&made(0)), None, "three factors");
        assert_eq!(made(0).product(&made(1)).unwrap().replaced(Symbol::Made(0), &sum(0, 0, 4)), Some(sum(0, 4, 0)));
    }

    /// Each inequality that is left holds of all numbers that satisfied those before.
    #[test]
    fn what_is_left_without_a_symbol_follows() {
        for seed in 0..400_i128 {
            let draw = |at: i128| (seed * 7 + at * 13 + seed * seed * (at + 3)) % 7 - 3;
            let all: Vec<Sum> = (0..4).map(|at| sum(draw(3 * at), draw(3 * at + 1), draw(3 * at + 2))).collect();
            let left = without(all.clone(), &vec![Symbol::Made(0)]);
            assert!(left.iter().all(|sum| !sum.mentions(Symbol::Made(0))));
            for (x, y) in (-6..7).flat_map(|x| (-6..7).map(move |y| (x, y))) {
                let value = |sum: &Sum| {
                    let factor = |at| sum.factor(&vec![Symbol::Made(at)]);
                    factor(0) * x + factor(1) * y + sum.plus
                };
                if all.iter().all(|sum| value(sum) >= 0) {
                    assert!(left.iter().all(|sum| value(sum) >= 0), "{all:?} {x} {y}");
                    let (least, most) = bounds(&all, &sum(1, -1, 0));
                    assert!(least.is_none_or(|least| least <= x - y) && most.is_none_or(|most| x - y <= most));
                }
            }
        }
    }
}
