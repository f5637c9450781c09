//! Linear inequalities between integers.
//!
//! A [`Sum`] of products of symbols with factors stands for the inequality that it is not negative. A product counts as a
//! number of its own, of which nothing is known but what is said of it.
//!
//! Guarantees: arithmetic is exact, and gives up where factors grow too large.
//!
//! Deliberately absent: what follows from inequalities ([`super::inequalities`]), and what symbols mean.

use crate::launch::Term;
use crate::resolve::program::VariableId;
use crate::work;

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
    pub(super) fn as_symbol(self) -> Option<Symbol> {
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

    /// `factor * symbol + plus`, where the factor is not zero.
    pub(super) fn scaled(symbol: Symbol, factor: i128, plus: i128) -> Sum {
        Sum { terms: vec![(Product::symbol(symbol), factor)], plus }
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
    pub(super) fn plus_multiple(&self, other: &Sum, factor: i128) -> Option<Sum> {
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn made(at: u32) -> Sum {
        Sum::symbol(Symbol::Made(at))
    }

    /// `a * x + b * y + c`
    pub(in crate::launch::host) fn sum(a: i128, b: i128, c: i128) -> Sum {
        let [x, y] = [(0, a), (1, b)].map(|(at, factor)| made(at).times(factor).unwrap());
        x.plus(&y).and_then(|it| it.plus(&Sum::number(c))).unwrap()
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
}
