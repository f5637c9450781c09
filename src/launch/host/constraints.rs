//! What is known of the variables of a function at the place at hand beside constants: inequalities between what they
//! hold, and which of them are powers of two.
//!
//! A value that is given to a variable, a condition that control has got past and the bounds of a loop say something of
//! variables ([`super::forms`], [`super::conditions`]). Where a variable changes, what was known through it of others stays
//! ([`Constraints::project`]); where two ways meet, what both imply ([`Constraints::join`]).
//!
//! Guarantees: what is said holds whenever control comes to the place, in integers, not modulo anything. A variable that
//! others may change is never spoken of. Once the work that a file may take is done, nothing is known any more.
//!
//! Deliberately absent: which places change which variables ([`super::effects`]), and sums that nothing bounds.

use super::inequalities::{self, Inequalities, Ranges};
use super::sums::{self, Product, Source, Sum, Symbol};
use crate::resolve::program::VariableId;
use crate::work;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// Values that divisions made, beyond which no more are told apart.
const MOST_QUOTIENTS: usize = 24;

/// A sum that was kept in a type where it may not fit, and so perhaps went around.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wrapped {
    of: Sum,
    width: u8,
    range: (i128, i128),
    value: Symbol,
}

/// How a division rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    /// Towards zero, as `/` does.
    TowardsZero,
    /// Down, as `>>` does.
    Down,
}

/// A division whose value has a symbol, so that the same division has the same value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Division {
    of: Sum,
    by: Sum,
    rounding: Rounding,
    value: Symbol,
    /// Whether all that can be said of it has been said.
    is_settled: bool,
}

/// What holds at a place.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// None of these is negative.
    all: Inequalities,
    /// Negative, zero, or powers of two.
    powers: BTreeSet<Symbol>,
    divisions: Vec<Division>,
    wrapped: Vec<Wrapped>,
}

/// What is known at the place at hand.
#[derive(Default)]
pub(super) struct Constraints {
    now: State,
    /// The variables that are spoken of: nothing changes them but what is seen to.
    followed: FxHashSet<VariableId>,
    /// What symbols may be by their types.
    ranges: Ranges,
    made: u32,
    /// What the launch at hand reads of variables that others may change; `None` if none is at hand.
    read: Option<BTreeMap<Source, Symbol>>,
}

/// Which variables are spoken of.
impl Constraints {
    /// Speaks of a variable from here on.
    pub(super) fn follow(&mut self, variable: VariableId) {
        self.followed.insert(variable);
    }

    pub(super) fn follows(&self, variable: VariableId) -> bool {
        self.followed.contains(&variable)
    }

    /// Others may change these variables from here on.
    pub(super) fn lose(&mut self, is_lost: impl Fn(VariableId) -> bool) {
        self.forget(|source| is_lost(source.variable));
        self.followed.retain(|&variable| !is_lost(variable));
    }

    /// A symbol for a value that has these bounds.
    pub(super) fn fresh(&mut self, range: Option<(i128, i128)>) -> Symbol {
        self.made += 1;
        let symbol = Symbol::Made(self.made);
        self.set_range(symbol, range);
        symbol
    }

    /// From here on a launch is at hand whose parts read variables, or none.
    pub(super) fn read_for_launch(&mut self, is_at_hand: bool) {
        self.read = is_at_hand.then(BTreeMap::new);
    }

    /// What the launch at hand reads of a variable that others may change.
    pub(super) fn read_at_launch(&mut self, source: Source) -> Option<Symbol> {
        if let Some(known) = self.read.as_ref()?.get(&source) {
            return Some(*known);
        }
        let symbol = self.fresh(None);
        self.read.as_mut()?.insert(source, symbol);
        Some(symbol)
    }

    /// Says what a symbol may be by its type.
    pub(super) fn set_range(&mut self, symbol: Symbol, range: Option<(i128, i128)>) {
        self.ranges.extend(range.map(|range| (symbol, range)));
    }
}

/// What is known, and what follows.
impl Constraints {
    /// The sum is not negative.
    pub(super) fn add(&mut self, sum: Sum) {
        let sum = sum.tightened();
        work::spend(self.now.all.as_slice().len() as u64);
        if sum.constant().is_none() && !work::is_over() && !self.now.all.contains(&sum) {
            self.now.all.push(sum);
        }
    }

    /// The symbol is negative, zero or a power of two.
    pub(super) fn add_power(&mut self, symbol: Symbol) {
        self.now.powers.insert(symbol);
    }

    /// Whether the sum is not negative.
    pub(super) fn implies(&self, sum: &Sum) -> bool {
        self.implied_by(&self.now.all, sum)
    }

    /// The least and the greatest value of a sum, as far as they are known.
    pub(super) fn bounds(&self, sum: &Sum) -> (Option<i128>, Option<i128>) {
        inequalities::bounds(&self.now.all.within(&self.ranges, sum), sum)
    }

    /// Whether a value is negative, zero or a power of two: a constant, or such a symbol times a power of two.
    pub(super) fn is_power(&self, sum: &Sum) -> bool {
        let is_one = |value: i128| value < 0 || value.count_ones() <= 1;
        if let (Some(least), Some(most)) = self.bounds(sum)
            && least == most
        {
            return is_one(least);
        }
        sum.multiple().is_some_and(|(symbol, factor)| factor > 0 && is_one(factor) && self.now.powers.contains(&symbol))
    }

    /// What a symbol is equal to, if that is said with no more than itself on one side.
    fn equal_to(&self, symbol: Symbol) -> Option<Sum> {
        let own = Product::symbol(symbol);
        let candidates = self.now.all.with(own).filter(|sum| sum.factor(own) == 1);
        let equals = candidates.filter_map(|sum| {
            let against = sum.times(-1)?;
            let rest = Sum::symbol(symbol).minus(sum)?;
            (self.now.all.contains(&against) && !rest.mentions(symbol)).then_some(rest)
        });
        equals.min_by_key(|rest| rest.terms().len())
    }

    /// Whether something else is known to be equal to a symbol.
    pub(super) fn has_equal(&self, symbol: Symbol) -> bool {
        self.equal_to(symbol).is_some()
    }

    /// Whether a sum is not negative wherever these are not, and symbols are what their types allow.
    pub(super) fn implied_by(&self, sums: &Inequalities, sum: &Sum) -> bool {
        inequalities::implies(&sums.within(&self.ranges, sum), sum)
    }

    /// The greatest number that a symbol is seen to be a multiple of.
    pub(super) fn divisor(&self, symbol: Symbol) -> i128 {
        let Some(rest) = self.equal_to(symbol) else { return 1 };
        rest.terms().iter().fold(rest.plus.abs(), |divisor, (_, factor)| sums::gcd(divisor, factor.abs()))
    }

    /// The symbols that are known to be negative, zero or powers of two.
    pub(super) fn powers(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.now.powers.iter().copied()
    }

    /// The inequalities that are known.
    pub(super) fn all(&self) -> &[Sum] {
        self.now.all.as_slice()
    }
}

/// Values that have a symbol of their own.
impl Constraints {
    /// The value of a division, the same for the same one.
    pub(super) fn quotient(&mut self, of: Sum, by: Sum, rounding: Rounding) -> Option<Symbol> {
        let is_it = |known: &&Division| known.of == of && known.by == by && known.rounding == rounding;
        if let Some(known) = self.now.divisions.iter().find(is_it) {
            return Some(known.value);
        }
        if self.now.divisions.len() >= MOST_QUOTIENTS {
            return None;
        }
        let value = self.fresh(None);
        self.now.divisions.push(Division { of, by, rounding, value, is_settled: false });
        self.settle(self.now.divisions.len() - 1);
        Some(value)
    }

    /// The value of a sum that is kept where it may not fit, the same for the same one.
    pub(super) fn wrapped(&mut self, of: Sum, width: u8, range: (i128, i128)) -> Option<Symbol> {
        let is_it = |known: &&Wrapped| known.of == of && known.width == width && known.range == range;
        if let Some(known) = self.now.wrapped.iter().find(is_it) {
            return Some(known.value);
        }
        if self.now.wrapped.len() >= MOST_QUOTIENTS {
            return None;
        }
        let value = self.fresh(Some(range));
        self.now.wrapped.push(Wrapped { of, width, range, value });
        self.settle_wrapped(self.now.wrapped.len() - 1);
        Some(value)
    }

    /// Says of such values what could not be said before.
    pub(super) fn settle_all(&mut self) {
        (0..self.now.wrapped.len()).for_each(|at| self.settle_wrapped(at));
        (0..self.now.divisions.len()).for_each(|at| self.settle(at));
    }

    /// What was kept in a type is the sum or differs by a multiple of what the type holds: by none, if such a sum lies within
    /// no bounds of the value.
    fn settle_wrapped(&mut self, at: usize) {
        let Wrapped { of, width, value, .. } = self.now.wrapped[at].clone();
        let value = Sum::symbol(value);
        let ((low, high), (least, most)) = (self.bounds(&of), self.bounds(&value));
        let all = 1_i128 << width;
        if low.zip(most).is_some_and(|(low, most)| low + all > most) {
            of.minus(&value).into_iter().for_each(|sum| self.add(sum));
        }
        if high.zip(least).is_some_and(|(high, least)| high - all < least) {
            value.minus(&of).into_iter().for_each(|sum| self.add(sum));
        }
    }

    /// `by * value <= of < by * (value + 1)` where that is so: the divisor is positive, and the division rounds down, or the
    /// dividend is not negative. Towards zero, a quotient is less than one off on either side.
    fn settle(&mut self, at: usize) {
        let Division { of, by, rounding, value, is_settled } = self.now.divisions[at].clone();
        let least = by.plus(&Sum::number(-1));
        if is_settled || !least.as_ref().is_some_and(|least| self.implies(least)) {
            return;
        }
        let rounds_down = rounding == Rounding::Down || self.implies(&of);
        let part = by.product(&Sum::symbol(value));
        let (Some(part), Some(least)) = (part, least) else { return };
        let rest = of.minus(&part);
        let top = rest.as_ref().and_then(|rest| least.minus(rest));
        if rounds_down {
            self.now.divisions[at].is_settled = true;
            rest.into_iter().chain(top).for_each(|sum| self.add(sum));
            if self.implies(&of) {
                self.add(Sum::symbol(value));
            }
        } else {
            let low = rest.as_ref().and_then(|rest| least.plus(rest));
            low.into_iter().chain(top).for_each(|sum| self.add(sum));
        }
    }
}

/// Changes, and ways that part and meet.
impl Constraints {
    /// Nothing is known any more of what these variables hold.
    pub(super) fn forget(&mut self, is_changed: impl Fn(Source) -> bool) {
        if work::is_over() {
            self.clear();
        }
        let is_gone = |symbol: &Symbol| matches!(symbol, Symbol::Variable(source) if is_changed(*source));
        for symbol in self.spoken_of().into_iter().filter(is_gone) {
            self.project(symbol);
        }
    }

    /// The symbols that something is said of.
    pub(super) fn spoken_of(&self) -> BTreeSet<Symbol> {
        let State { all, powers, divisions, wrapped } = &self.now;
        work::spend(all.length());
        let divided = divisions.iter().flat_map(|it| it.of.symbols().chain(it.by.symbols()));
        let kept = wrapped.iter().flat_map(|it| it.of.symbols());
        all.symbols().iter().copied().chain(powers.iter().copied()).chain(divided).chain(kept).collect()
    }

    /// Speaks of a symbol no more: what is known through it of others stays.
    pub(super) fn project(&mut self, symbol: Symbol) {
        work::spend(self.now.all.length());
        let equal = self.equal_to(symbol);
        let was_power = self.now.powers.remove(&symbol);
        let State { all, powers, divisions, wrapped } = &mut self.now;
        if let Some(equal) = equal {
            // What a value is equal to that never changes shares its bounds.
            if let (Some((other, 1)), Some(&(least, most))) = (equal.multiple(), self.ranges.get(&symbol))
                && !matches!(other, Symbol::Variable(_))
            {
                let range = self.ranges.entry(other).or_insert((least, most));
                *range = (range.0.max(least), range.1.min(most));
            }
            powers.extend(equal.multiple().filter(|(_, factor)| was_power && *factor == 1).map(|(other, _)| other));
            let replaced = all.take().into_iter().filter_map(|sum| sum.replaced(symbol, &equal));
            let replaced: Vec<Sum> = replaced.collect();
            divisions.retain_mut(|division| {
                let parts = division.of.replaced(symbol, &equal).zip(division.by.replaced(symbol, &equal));
                parts.map(|(of, by)| (division.of, division.by) = (of, by)).is_some()
            });
            wrapped.retain_mut(|it| it.of.replaced(symbol, &equal).map(|of| it.of = of).is_some());
            replaced.into_iter().for_each(|sum| self.add(sum));
        } else {
            // What is less than the range of a symbol is less than what it may be.
            let range = self.ranges.get(&symbol).copied();
            let bounds = range.map(|range| inequalities::bounds_of(symbol, range));
            work::spend(bounds.iter().flatten().count() as u64);
            let open = all.take().into_iter().chain(bounds.into_iter().flatten()).collect();
            let mut rest = inequalities::without(open, Product::symbol(symbol));
            rest.retain(|sum| !sum.mentions(symbol));
            *all = Inequalities::from(rest);
            divisions.retain(|division| !division.of.mentions(symbol) && !division.by.mentions(symbol));
            wrapped.retain(|it| !it.of.mentions(symbol));
        }
    }

    /// What is known now.
    pub(super) fn state(&self) -> State {
        self.now.clone()
    }

    /// Knows what was known at another place, but of variables that others have got hold of by now.
    pub(super) fn restore(&mut self, state: State) {
        self.now = state;
        let followed = std::mem::take(&mut self.followed);
        self.forget(|source| !followed.contains(&source.variable));
        self.followed = followed;
    }

    /// Keeps what holds on another way to the place, too.
    pub(super) fn join(&mut self, other: State) {
        if work::is_over() {
            return self.clear();
        }
        let one = self.state();
        let implied_by =
            |this: &Self, sums: &[Sum]| -> Vec<Sum> { sums.iter().filter(|sum| this.implies(sum)).cloned().collect() };
        let powers_of = |this: &Self, symbols: &BTreeSet<Symbol>| -> BTreeSet<Symbol> {
            symbols.iter().copied().filter(|&symbol| this.is_power(&Sum::symbol(symbol))).collect()
        };
        let of_other = implied_by(self, other.all.as_slice());
        let powers_of_other = powers_of(self, &other.powers);
        self.restore(other);
        let mut all = implied_by(self, one.all.as_slice());
        let mut powers = powers_of(self, &one.powers);
        // A constant on each way may be a power of two on both.
        let of_both = powers_of(self, one.all.symbols());
        let divisions = self.now.divisions.iter().filter(|it| one.divisions.contains(it)).cloned().collect();
        let wrapped = self.now.wrapped.iter().filter(|it| one.wrapped.contains(it)).cloned().collect();
        self.now = one;
        powers.extend(powers_of(self, &of_both));
        powers.extend(powers_of_other);
        all.extend(of_other.into_iter().filter(|sum| !all.contains(sum)).collect::<Vec<_>>());
        self.restore(State { all: Inequalities::from(all), powers, divisions, wrapped });
    }

    /// Knows nothing.
    pub(super) fn clear(&mut self) {
        self.now = State::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_known_once_the_work_is_done() {
        let [x, y] = [1, 2].map(|at| Sum::symbol(Symbol::Made(at)));
        let less = y.minus(&x).unwrap();
        let mut constraints = Constraints::default();
        constraints.add(less.clone());
        constraints.add(x.clone());
        assert!(constraints.implies(&y), "0 <= x <= y");
        let before = constraints.state();
        work::within(0, || {
            assert!(!constraints.implies(&y) && constraints.bounds(&y) == (None, None));
            constraints.join(before);
        });
        assert!(!constraints.implies(&y), "nor afterwards");
    }
}
