//! Linear inequalities between integers, and what follows from them.
//!
//! A [`Sum`] of products of symbols with factors stands for the inequality that it is not negative. A product counts as a
//! number of its own, of which nothing is known but what is said of it.
//!
//! Guarantees: what is said to follow holds of all integers that satisfy the inequalities ([`implies`], [`bounds`]), and
//! [`without`] leaves only what follows. Factors that grow too large, and inequalities that become too many, are dropped; so is
//! what would follow once the work that a file may take is done.
//!
//! Deliberately absent: completeness, and what symbols mean.

use crate::launch::Term;
use crate::resolve::program::VariableId;
use crate::work;
use std::collections::BTreeMap;

/// Inequalities beyond which the longer ones are dropped.
const MOST: usize = 48;
/// Inequalities that one step may make.
const MOST_MADE: usize = 144;
/// Inequalities that are looked at to see what follows from them.
const MOST_RELATED: usize = 32;
/// The greatest factor.
const GREATEST: i128 = 1 << 80;

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

/// One symbol or the product of two, the lesser one first: longer ones are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Product(Symbol, Option<Symbol>);

impl Product {
    pub(super) fn symbol(symbol: Symbol) -> Product {
        Product(symbol, None)
    }

    fn of(one: Symbol, other: Symbol) -> Product {
        Product(one.min(other), Some(one.max(other)))
    }

    /// Its symbols, in order.
    pub(super) fn symbols(self) -> impl Iterator<Item = Symbol> {
        [Some(self.0), self.1].into_iter().flatten()
    }

    /// The symbol that it is.
    fn as_symbol(self) -> Option<Symbol> {
        self.1.is_none().then_some(self.0)
    }

    fn contains(self, symbol: Symbol) -> bool {
        self.0 == symbol || self.1 == Some(symbol)
    }

    /// The product of both; `None` if it has more factors than are followed.
    fn times(self, other: Product) -> Option<Product> {
        Some(Product::of(self.as_symbol()?, other.as_symbol()?))
    }
}

/// A sum of products with factors and a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    /// The products with their factors, none of which is zero, in order.
    terms: Vec<(Product, i128)>,
    pub(super) plus: i128,
}

impl Sum {
    pub(super) fn number(plus: i128) -> Sum {
        Sum { terms: Vec::new(), plus }
    }

    pub(super) fn symbol(symbol: Symbol) -> Sum {
        Sum { terms: vec![(Product::symbol(symbol), 1)], plus: 0 }
    }

    /// The products with their factors, none of which is zero, in order.
    pub(super) fn terms(&self) -> &[(Product, i128)] {
        &self.terms
    }

    pub(super) fn plus(&self, other: &Sum) -> Option<Sum> {
        self.plus_multiple(other, 1)
    }

    pub(super) fn minus(&self, other: &Sum) -> Option<Sum> {
        self.plus_multiple(other, -1)
    }

    /// `self + factor * other`
    fn plus_multiple(&self, other: &Sum, factor: i128) -> Option<Sum> {
        work::spend((self.terms.len() + other.terms.len()) as u64);
        let scaled = |value: i128| fitting(value.checked_mul(factor)?);
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let mut own = self.terms.iter().copied().peekable();
        for &(product, theirs) in &other.terms {
            while let Some(term) = own.next_if(|(known, _)| *known < product) {
                terms.push(term);
            }
            let known = own.next_if(|(known, _)| *known == product).map_or(0, |(_, known)| known);
            let sum = fitting(known.checked_add(scaled(theirs)?)?)?;
            if sum != 0 {
                terms.push((product, sum));
            }
        }
        terms.extend(own);
        Some(Sum { terms, plus: fitting(self.plus.checked_add(scaled(other.plus)?)?)? })
    }

    pub(super) fn times(&self, factor: i128) -> Option<Sum> {
        if factor == 0 {
            return Some(Sum::default());
        }
        let scaled = |value: i128| fitting(value.checked_mul(factor)?);
        let terms = self.terms.iter().map(|&(product, known)| Some((product, scaled(known)?)));
        Some(Sum { terms: terms.collect::<Option<_>>()?, plus: scaled(self.plus)? })
    }

    /// The sum with a number more.
    pub(super) fn plus_number(mut self, number: i128) -> Sum {
        self.plus += number;
        self
    }

    /// The product of two sums; `None` if it has more factors than are followed.
    pub(super) fn product(&self, other: &Sum) -> Option<Sum> {
        let mut sum = self.times(other.plus)?;
        for &(product, factor) in &other.terms {
            for &(own, times) in &self.terms {
                let both = Sum { terms: vec![(own.times(product)?, times.checked_mul(factor)?)], plus: 0 };
                sum = sum.plus(&both)?;
            }
            let alone = Sum { terms: vec![(product, factor)], plus: 0 };
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
        match self.terms[..] {
            [(product, factor)] if self.plus == 0 => Some((product.as_symbol()?, factor)),
            _ => None,
        }
    }

    /// The symbol that it is a multiple of, but for a number.
    pub(super) fn multiple_of(&self) -> Option<Symbol> {
        match self.terms[..] {
            [(product, _)] => product.as_symbol(),
            _ => None,
        }
    }

    pub(super) fn mentions(&self, symbol: Symbol) -> bool {
        self.terms.iter().any(|(product, _)| product.contains(symbol))
    }

    /// The symbols that it speaks of.
    pub(super) fn symbols(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.terms.iter().flat_map(|(product, _)| product.symbols())
    }

    /// The sum with another one in the place of a symbol.
    pub(super) fn replaced(&self, symbol: Symbol, by: &Sum) -> Option<Sum> {
        if !self.mentions(symbol) {
            return Some(self.clone());
        }
        let mut sum = Sum::number(self.plus);
        for &(product, factor) in &self.terms {
            let mut term = Sum::number(factor);
            for part in product.symbols() {
                term = term.product(&if part == symbol { by.clone() } else { Sum::symbol(part) })?;
            }
            sum = sum.plus(&term)?;
        }
        Some(sum)
    }

    /// The same inequality between integers, with the least factors.
    pub(super) fn tightened(mut self) -> Sum {
        let divisor = self.terms.iter().fold(0, |divisor, (_, factor)| gcd(divisor, factor.abs()));
        if divisor > 1 {
            self.terms.iter_mut().for_each(|(_, factor)| *factor /= divisor);
            self.plus = self.plus.div_euclid(divisor);
        }
        self
    }

    /// What a product is multiplied by.
    pub(super) fn factor(&self, product: Product) -> i128 {
        self.terms.iter().find(|(known, _)| *known == product).map_or(0, |&(_, factor)| factor)
    }
}

fn fitting(value: i128) -> Option<i128> {
    (-GREATEST..=GREATEST).contains(&value).then_some(value)
}

pub(super) fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What follows from inequalities of everything but one product.
pub(super) fn without(all: Vec<Sum>, product: Product) -> Vec<Sum> {
    let (with, mut rest): (Vec<Sum>, Vec<Sum>) = all.into_iter().partition(|sum| sum.factor(product) != 0);
    let (least, most): (Vec<Sum>, Vec<Sum>) = with.into_iter().partition(|sum| sum.factor(product) > 0);
    if least.len() * most.len() > MOST_MADE || work::is_over() {
        return rest;
    }
    for (low, high) in least.iter().flat_map(|low| most.iter().map(move |high| (low, high))) {
        let (a, b) = (low.factor(product), -high.factor(product));
        let divisor = gcd(a, b);
        let both = low.times(b / divisor).and_then(|low| low.plus_multiple(high, a / divisor));
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
    if work::is_over() {
        return false;
    }
    let Some(against) = goal.times(-1).and_then(|sum| sum.plus(&Sum::number(-1))) else { return false };
    let mut open = related(all, goal);
    open.push(against);
    loop {
        if open.iter().any(|sum| sum.constant().is_some_and(|number| number < 0)) {
            return true;
        }
        let Some(product) = cheapest(&open, None) else { return false };
        open = without(open, product);
    }
}

/// The least and the greatest value of a sum that inequalities allow, as far as they say.
pub(super) fn bounds(all: &[Sum], sum: &Sum) -> (Option<i128>, Option<i128>) {
    if let Some(number) = sum.constant() {
        return (Some(number), Some(number));
    }
    if work::is_over() {
        return (None, None);
    }
    let it = Product::symbol(Symbol::Made(u32::MAX));
    let mut open = related(all, sum);
    let named = Sum { terms: vec![(it, 1)], plus: 0 };
    open.extend(named.minus(sum).into_iter().chain(sum.minus(&named)));
    while let Some(product) = cheapest(&open, Some(it)) {
        open = without(open, product);
    }
    let (mut least, mut most) = (None, None);
    for sum in open {
        match sum.factor(it) {
            1.. => least = least.max(Some(-sum.plus)),
            0 => {}
            ..0 => most = Some(most.map_or(sum.plus, |most: i128| most.min(sum.plus))),
        }
    }
    (least, most)
}

/// The product whose removal makes the fewest inequalities.
fn cheapest(all: &[Sum], kept: Option<Product>) -> Option<Product> {
    let mut counts: BTreeMap<Product, (usize, usize)> = BTreeMap::new();
    for &(product, factor) in all.iter().flat_map(|sum| &sum.terms) {
        let (least, most) = counts.entry(product).or_default();
        *(if factor > 0 { least } else { most }) += 1;
    }
    let open = counts.into_iter().filter(|(product, _)| Some(*product) != kept);
    open.min_by_key(|(_, (least, most))| least * most).map(|(product, _)| product)
}

/// The inequalities that have to do with a sum.
fn related(all: &[Sum], sum: &Sum) -> Vec<Sum> {
    let mut products: Vec<Product> = sum.terms.iter().map(|&(product, _)| product).collect();
    let mut found: Vec<&Sum> = Vec::new();
    let mut is_found = vec![false; all.len()];
    let mut at = 0;
    while let Some(&product) = products.get(at) {
        at += 1;
        work::spend(all.len() as u64);
        for (other, is_found) in all.iter().zip(&mut is_found) {
            if !*is_found && found.len() < MOST_RELATED && other.factor(product) != 0 {
                *is_found = true;
                found.push(other);
                products.extend(other.terms.iter().map(|&(it, _)| it).filter(|&it| sum.factor(it) == 0));
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
        assert_eq!(square.factor(Product::of(Symbol::Made(1), Symbol::Made(0))), 1);
        assert_eq!(square.factor(Product::symbol(Symbol::Made(1))), 1, "3 y - 2 y");
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
            let left = without(all.clone(), Product::symbol(Symbol::Made(0)));
            assert!(left.iter().all(|sum| !sum.mentions(Symbol::Made(0))));
            for (x, y) in (-6..7).flat_map(|x| (-6..7).map(move |y| (x, y))) {
                let value = |sum: &Sum| {
                    let factor = |at| sum.factor(Product::symbol(Symbol::Made(at)));
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
