//! Inequalities that hold together, and what follows from them.
//!
//! Host code asks what follows from all that it knows far more often than it learns something. So inequalities are found by
//! the products that a question is about ([`Places`]), and not by a look at all of them; copies share what they hold until one
//! of them changes.
//!
//! Guarantees: what is said to follow holds of all integers that satisfy the inequalities ([`implies`], [`bounds`]), and
//! [`without`] leaves only what follows. Inequalities that become too many are dropped; so is what would follow once the work
//! that a file may take is done. The work that is counted for a question is that of a look at all inequalities, and at what
//! types say of their symbols: how fast they are found decides nothing.
//!
//! Deliberately absent: completeness, and what symbols mean.

use super::sums::{Product, Sum, Symbol, gcd};
use crate::work;
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Inequalities beyond which the longer ones are dropped.
const MOST: usize = 48;
/// Inequalities that one step may make.
const MOST_MADE: usize = 144;
/// Inequalities that are looked at to see what follows from them.
const MOST_RELATED: usize = 32;

/// What symbols may be by their types.
pub(super) type Ranges = BTreeMap<Symbol, (i128, i128)>;

/// Inequalities in the order in which they were learnt: none of these sums is negative.
#[derive(Clone, Debug, Default)]
pub(super) struct Inequalities {
    all: Rc<Vec<Sum>>,
    /// Made when something is asked.
    places: OnceCell<Rc<Places>>,
}

/// Where in inequalities products stand.
#[derive(Clone, Debug, Default)]
struct Places {
    of: FxHashMap<Product, Vec<u32>>,
    symbols: BTreeSet<Symbol>,
    /// How many terms the inequalities have.
    length: u64,
    /// For how many of the symbols types say something, when something was known of so many symbols: these only become more.
    ranged: Cell<Option<(usize, usize)>>,
}

impl Places {
    fn push(&mut self, place: usize, sum: &Sum) {
        for &(product, _) in sum.terms() {
            self.of.entry(product).or_default().push(place as u32);
        }
        let before = self.symbols.len();
        self.symbols.extend(sum.symbols());
        if self.symbols.len() != before {
            self.ranged.set(None);
        }
        self.length += sum.terms().len() as u64;
    }

    fn of(&self, product: Product) -> impl Iterator<Item = usize> + '_ {
        self.of.get(&product).into_iter().flatten().map(|&place| place as usize)
    }

    fn count_ranged(&self, ranges: &Ranges) -> usize {
        if let Some((known, count)) = self.ranged.get()
            && known == ranges.len()
        {
            return count;
        }
        let count = self.symbols.iter().filter(|symbol| ranges.contains_key(symbol)).count();
        self.ranged.set(Some((ranges.len(), count)));
        count
    }
}

impl From<Vec<Sum>> for Inequalities {
    fn from(all: Vec<Sum>) -> Self {
        Inequalities { all: Rc::new(all), places: OnceCell::new() }
    }
}

impl Inequalities {
    pub(super) fn as_slice(&self) -> &[Sum] {
        &self.all
    }

    pub(super) fn push(&mut self, sum: Sum) {
        // Others that share them keep what they have.
        match self.places.get_mut().and_then(Rc::get_mut) {
            Some(places) => places.push(self.all.len(), &sum),
            None => self.places = OnceCell::new(),
        }
        Rc::make_mut(&mut self.all).push(sum);
    }

    /// Takes them out, and leaves none.
    pub(super) fn take(&mut self) -> Vec<Sum> {
        Rc::unwrap_or_clone(std::mem::take(self).all)
    }

    pub(super) fn contains(&self, sum: &Sum) -> bool {
        match sum.terms().first() {
            Some((product, _)) => self.with(*product).any(|known| known == sum),
            None => self.all.contains(sum),
        }
    }

    /// Those that a product stands in, in their order.
    pub(super) fn with(&self, product: Product) -> impl Iterator<Item = &Sum> {
        self.places().of(product).map(|place| &self.all[place])
    }

    /// The symbols that they speak of.
    pub(super) fn symbols(&self) -> &BTreeSet<Symbol> {
        &self.places().symbols
    }

    /// How many terms they have.
    pub(super) fn length(&self) -> u64 {
        self.places().length
    }

    /// These, and what types say of the symbols in them and in a sum.
    pub(super) fn within<'a>(&'a self, ranges: &'a Ranges, sum: &Sum) -> Known<'a> {
        if work::is_over() {
            return Known { inequalities: None, ranges: None, count: 0 };
        }
        let places = self.places();
        work::spend(places.length);
        let more: BTreeSet<Symbol> = sum.symbols().filter(|symbol| !places.symbols.contains(symbol)).collect();
        let more = more.iter().filter(|symbol| ranges.contains_key(symbol)).count();
        // Two for each symbol.
        let bounds = 2 * (places.count_ranged(ranges) + more);
        work::spend(bounds as u64);
        Known { inequalities: Some(self), ranges: Some(ranges), count: self.all.len() + bounds }
    }

    /// These alone.
    pub(super) fn alone(&self) -> Known<'_> {
        Known { inequalities: Some(self), ranges: None, count: self.all.len() }
    }

    fn places(&self) -> &Places {
        self.places.get_or_init(|| {
            let mut places = Places::default();
            self.all.iter().enumerate().for_each(|(place, sum)| places.push(place, sum));
            Rc::new(places)
        })
    }
}

/// What is known where something is asked.
pub(super) struct Known<'a> {
    inequalities: Option<&'a Inequalities>,
    ranges: Option<&'a Ranges>,
    /// How many inequalities that are, with those of types.
    count: usize,
}

impl Known<'_> {
    /// What the type of a symbol says of it.
    fn range(&self, symbol: Symbol) -> Option<(i128, i128)> {
        self.ranges?.get(&symbol).copied()
    }

    /// Whether an inequality is known, or one that is no other but for a lesser number.
    fn says(&self, goal: &Sum) -> bool {
        let Some(&(product, factor)) = goal.terms().first() else { return goal.plus >= 0 };
        let mut alike = self.inequalities.into_iter().flat_map(|known| known.with(product));
        if alike.any(|sum| sum.terms() == goal.terms() && sum.plus <= goal.plus) {
            return true;
        }
        let range = goal.multiple_of().and_then(|symbol| self.range(symbol));
        range.is_some_and(|(least, most)| match factor {
            1 => -least <= goal.plus,
            -1 => most <= goal.plus,
            _ => false,
        })
    }

    /// The inequalities that have to do with a sum.
    fn related(&self, sum: &Sum) -> Vec<Sum> {
        let mut products: Vec<Product> = sum.terms().iter().map(|&(product, _)| product).collect();
        let mut found: Vec<Sum> = Vec::new();
        let Some(known) = self.inequalities else { return found };
        let mut is_found = vec![false; known.all.len()];
        let mut at = 0;
        while let Some(&product) = products.get(at) {
            at += 1;
            work::spend(self.count as u64);
            // What stands in a product is found when it is met for the first time, or never.
            if found.len() < MOST_RELATED && !products[..at - 1].contains(&product) {
                let before = found.len();
                for place in known.places().of(product) {
                    if !is_found[place] && found.len() < MOST_RELATED {
                        is_found[place] = true;
                        found.push(known.all[place].clone());
                    }
                }
                if let Some(symbol) = product.as_symbol()
                    && let Some(range) = self.range(symbol)
                {
                    let room = MOST_RELATED - found.len();
                    found.extend(bounds_of(symbol, range).into_iter().take(room));
                }
                let new = found[before..].iter().flat_map(Sum::terms).map(|&(it, _)| it);
                products.extend(new.filter(|&it| sum.factor(it) == 0));
            }
            if at > MOST_RELATED * 4 {
                break;
            }
        }
        found
    }
}

/// What a range says of a symbol.
pub(super) fn bounds_of(symbol: Symbol, (least, most): (i128, i128)) -> [Sum; 2] {
    [Sum::scaled(symbol, 1, -least), Sum::scaled(symbol, -1, most)]
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
    rest.sort_by_key(|sum| sum.terms().len());
    rest.truncate(MOST);
    rest
}

/// Whether `goal` is not negative wherever all of these are not.
pub(super) fn implies(known: &Known<'_>, goal: &Sum) -> bool {
    if let Some(number) = goal.constant() {
        return number >= 0;
    }
    if known.says(goal) {
        return true;
    }
    if work::is_over() {
        return false;
    }
    let Some(against) = goal.times(-1).and_then(|sum| sum.plus(&Sum::number(-1))) else { return false };
    let mut open = known.related(goal);
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
pub(super) fn bounds(known: &Known<'_>, sum: &Sum) -> (Option<i128>, Option<i128>) {
    if let Some(number) = sum.constant() {
        return (Some(number), Some(number));
    }
    if work::is_over() {
        return (None, None);
    }
    let it = Symbol::Made(u32::MAX);
    let mut open = known.related(sum);
    let named = Sum::symbol(it);
    let it = Product::symbol(it);
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
    for &(product, factor) in all.iter().flat_map(Sum::terms) {
        let (least, most) = counts.entry(product).or_default();
        *(if factor > 0 { least } else { most }) += 1;
    }
    let open = counts.into_iter().filter(|(product, _)| Some(*product) != kept);
    open.min_by_key(|(_, (least, most))| least * most).map(|(product, _)| product)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::host::sums::tests::sum;

    #[test]
    fn what_follows_is_seen_and_what_does_not_is_not() {
        // 32 x <= y and y <= 100
        let all = Inequalities::from(vec![sum(-32, 1, 0), sum(0, -1, 100)]);
        let all = all.alone();
        assert!(implies(&all, &sum(-1, 0, 3)), "x <= 3");
        assert!(!implies(&all, &sum(-1, 0, 2)), "x <= 2");
        assert!(!implies(&all, &sum(1, 0, 0)), "x >= 0");
        assert_eq!(bounds(&all, &sum(2, 0, 1)), (None, Some(7)));
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
                    let (least, most) = bounds(&Inequalities::from(all.clone()).alone(), &sum(1, -1, 0));
                    assert!(least.is_none_or(|least| least <= x - y) && most.is_none_or(|most| x - y <= most));
                }
            }
        }
    }
}
