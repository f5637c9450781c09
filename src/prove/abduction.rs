//! Abduction: what would have to hold of a launch for a condition to have no solution.
//!
//! Two threads touch one byte where an equation between their addresses holds. If the equation is `R * high + low = 0`, a
//! *radix* `R` that is greater than `low` can be makes both zero: the digits of two threads are equal, which the rules
//! know what to do with. What bounds `low` is read off the facts of the condition (`width - 1 - x >= 0`, or the extents of
//! the ids that it is made of); so `R >= width` or `R >= gridDim.x * blockDim.x` is a premise that may close the pair.
//! What is left of both halves may need a premise of its own: of `(z * h + y) * w + x` these are `w >= …` and `h >= …`.
//!
//! Guarantees: none beside being deterministic. A premise is a guess with a reason: whoever takes one proves the pair from
//! it, by the rules.
//!
//! Deliberately absent: proofs, data in memory, values that are not the launch's own.

use super::LaunchValue;
use super::condition::Condition;
use super::state::State;
use super::state::poly::{Atom, Monomial, Poly, Side};

/// A sum over products of values of the launch that is not negative.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Premise {
    /// Factors with the products that they stand before; an empty product is 1.
    pub terms: Vec<(i64, Vec<LaunchValue>)>,
}

/// A number that is turned over has a type of at least 16 bits, where it is no index of a table.
const LEAST_RANGE: i64 = 1 << 16;
/// Facts that bound one sum together.
const GUARDS: usize = 4;
/// How often what is left of an equation is divided again.
const DEPTH: u32 = 2;
/// More sets of premises than this are not made of one condition.
const MOST_SETS: usize = 24;

/// Sets of premises, each of which may be enough for the condition to have no solution, though some may not be needed; those
/// of fewer premises first.
pub fn premises(condition: &Condition) -> Vec<Vec<Premise>> {
    let search = Search { state: &condition.state, condition };
    let mut sets: Vec<Vec<Premise>> = Vec::new();
    for equation in condition.state.equations.iter().filter(|equation| equation.is_private()) {
        let (equation, in_range) = search.without_wraps(equation);
        for mut polys in search.split(&equation, DEPTH) {
            polys.extend(in_range.iter().cloned());
            for polys in [shortened(&polys), polys] {
                let Some(mut set) = search.set(&polys) else { continue };
                set.sort();
                set.dedup();
                if !set.is_empty() && !sets.contains(&set) && sets.len() < MOST_SETS {
                    sets.push(set);
                }
            }
        }
    }
    sets.sort_by_key(Vec::len);
    sets
}

struct Search<'c> {
    state: &'c State,
    condition: &'c Condition,
}

impl Search<'_> {
    /// Sets of polynomials which, if none is negative, make both halves of the equation zero.
    fn split(&self, equation: &Poly, depth: u32) -> Vec<Vec<Poly>> {
        let mut found: Vec<Vec<Poly>> = Vec::new();
        for radix in radices(equation) {
            let Some((high, low)) = divided(equation, radix) else { continue };
            if high.is_zero() || !low.is_private() {
                continue;
            }
            let halves = if depth == 0 { Vec::new() } else { vec![&high, &low] };
            let more: Vec<Poly> = halves
                .into_iter()
                .filter_map(|half| self.split(half, depth - 1).into_iter().next())
                .flatten()
                .collect();
            found.extend(self.bounds(&low, radix).into_iter().map(|needs| [needs, more.clone()].concat()));
        }
        found.truncate(2 * MOST_SETS);
        found
    }

    /// What has to be not negative for the radix to be greater than the sum can be, either way; one set for each way to
    /// bound it.
    fn bounds(&self, low: &Poly, radix: (Monomial, i64)) -> Vec<Vec<Poly>> {
        let sides = || {
            let of = |side| of_side(low, side);
            let rest: Vec<_> = low.terms().iter().copied().filter(|(at, _)| sides_of(*at) == [false, false]).collect();
            Some([of(Side::First)?, of(Side::Second)?.negated()?, Poly::from_terms(rest)?])
        };
        let Some([first, second, constant]) = sides() else { return Vec::new() };
        let radix = Poly::term(radix.0, radix.1);
        let (highest, lowest) =
            ([self.maxima(&first), self.maxima(&second)], [&first, &second].map(|it| self.minimum(it)));
        let [Some(least_first), Some(least_second)] = lowest else { return Vec::new() };
        let mut sets = Vec::new();
        for (most_first, most_second) in highest[0].iter().zip(&highest[1]) {
            let needs = || {
                // One more than the greatest difference fits below the radix.
                let above = radix.minus(&most_first.minus(&least_second)?.plus(&constant)?)?.plus_constant(-1)?;
                let below = radix.minus(&most_second.minus(&least_first)?.minus(&constant)?)?.plus_constant(-1)?;
                Some(if above == below { vec![above] } else { vec![above, below] })
            };
            sets.extend(needs());
        }
        sets
    }

    /// Uniform values that a sum of one thread does not pass, in an order that is the same for both threads.
    fn maxima(&self, sum: &Poly) -> Vec<Poly> {
        let content = sum.content();
        let mut found: Vec<Poly> = Vec::new();
        for fact in self.state.facts.iter().filter(|fact| fact.is_private()) {
            let most = || self.of_launch_above(&fact.scaled(content)?.plus(sum)?);
            found.extend(most());
        }
        found.extend(self.of_guards(sum));
        found.extend(self.of_digits(sum));
        found.extend(self.of_extents(sum));
        found.dedup();
        found
    }

    /// What several facts leave of a sum: of `y * w + x` what `y < h` and `x < w` say is `(h - 1) * w + w - 1`. Each fact takes
    /// away all that it says of a thread, the longest one first.
    fn of_guards(&self, sum: &Poly) -> Option<Poly> {
        let mut rest = sum.clone();
        for _ in 0..GUARDS {
            if !rest.is_private() {
                return self.of_launch_above(&rest);
            }
            let before = private_terms(&rest);
            let facts = self.state.facts.iter().filter(|fact| fact.is_private());
            let lessened = facts.filter_map(|fact| self.without(&rest, fact)).filter(|it| private_terms(it) < before);
            rest = lessened.min_by_key(private_terms)?;
        }
        None
    }

    /// A sum and the multiple of a fact that has the fact's first private term, and takes it away.
    fn without(&self, sum: &Poly, fact: &Poly) -> Option<Poly> {
        let &(theirs, taken) = fact.terms().iter().find(|(at, _)| at.private_part() != Monomial::ONE)?;
        sum.terms().iter().find_map(|&(at, factor)| {
            let by = at.divide(theirs).filter(|by| by.private_part() == Monomial::ONE)?;
            let is_multiple = taken < 0 && factor > 0 && factor % taken == 0 && self.may_add(by);
            let rest = || sum.plus_multiple(fact, by, factor / -taken);
            is_multiple.then(rest).flatten()
        })
    }

    /// The greatest sum of digits in a numeric radix: of `32 * block + thread` what is below `32 * (most of block + 1)`. That
    /// the lower digits stay below the radix is a premise of its own.
    fn of_digits(&self, sum: &Poly) -> Option<Poly> {
        let numbers = radices(sum).into_iter().filter(|(at, number)| *at == Monomial::ONE && *number > 1);
        let radix = numbers.max_by_key(|(_, number)| *number)?;
        let (high, low) = divided(sum, radix).filter(|(high, low)| high.is_private() && low.is_private())?;
        let all_add = low.terms().iter().all(|&(at, factor)| factor > 0 && self.state.non_negative.contains_all(at));
        let most = self.of_extents(&high).filter(|_| all_add)?;
        most.plus_constant(1)?.scaled(radix.1)?.plus_constant(-1)
    }

    /// The sum with each private atom at its greatest, if all of them add to it.
    fn of_extents(&self, sum: &Poly) -> Option<Poly> {
        let mut most = sum.clone();
        for _ in 0..8 {
            let Some(atom) = most.atoms().into_iter().find(|atom| atom.is_private()) else {
                return self.of_launch_above(&most);
            };
            if most.terms().iter().any(|&(at, factor)| at.contains(atom) && factor < 0) {
                return None;
            }
            most = most.substitute(atom, &self.extent(atom)?)?;
        }
        None
    }

    /// What a fact says that an atom is at most.
    fn extent(&self, atom: Atom) -> Option<Poly> {
        self.state.facts.iter().find_map(|fact| {
            let most = fact.plus(&Poly::atom(atom))?;
            (fact.coefficient(Monomial::of(atom)) == -1 && !most.is_private()).then_some(most)
        })
    }

    /// A value of the launch alone that a uniform sum does not pass: ids that both threads share are at their extremes.
    fn of_launch_above(&self, sum: &Poly) -> Option<Poly> {
        if sum.is_private() {
            return None;
        }
        let is_of_launch = |atom: &Atom| self.condition.of_launch.contains_key(atom);
        let mut sum = sum.clone();
        for _ in 0..8 {
            let Some(shared) = sum.atoms().into_iter().find(|atom| !is_of_launch(atom)) else { return Some(sum) };
            let with = |at: Monomial| at.contains(shared);
            if sum.terms().iter().all(|&(at, factor)| !with(at) || factor < 0) {
                if !self.state.non_negative.contains(shared) {
                    return None;
                }
                sum = sum.substitute(shared, &Poly::constant(0))?;
            } else if sum.terms().iter().all(|&(at, factor)| !with(at) || factor > 0) {
                sum = sum.substitute(shared, &self.extent(shared)?)?;
            } else {
                return None;
            }
        }
        None
    }

    /// What a sum of one thread is at least: 0 if nothing is taken from it. A size that a number of a thread is multiplied by
    /// is taken to be one: what is to be greater than something that is not negative is so itself.
    fn minimum(&self, sum: &Poly) -> Option<Poly> {
        let all_add = sum.terms().iter().all(|&(at, factor)| factor > 0 && self.may_add(at));
        if all_add {
            return Some(Poly::constant(0));
        }
        let of_fact = |fact: &Poly| sum.minus(fact).filter(|least| !least.is_private());
        self.state.facts.iter().find_map(of_fact).filter(|least| least.as_constant().is_some())
    }

    /// Whether a product is not negative, if no value of the launch is.
    fn may_add(&self, product: Monomial) -> bool {
        let may = |atom: Atom| self.state.non_negative.contains(atom) || self.condition.of_launch.contains_key(&atom);
        product.atoms().all(may)
    }

    /// An equation where no value leaves its range, and what keeps them in it: what tells how often a value is turned over is
    /// 0 there. Of a value of one thread nothing is asked: no premise speaks of it, and a bound of the launch's values often
    /// keeps it in range, too.
    fn without_wraps(&self, equation: &Poly) -> (Poly, Vec<Poly>) {
        let (mut equation, mut in_range) = (equation.clone(), Vec::new());
        let is_count =
            |atom: &Atom| !self.condition.of_launch.contains_key(atom) && !self.state.non_negative.contains(*atom);
        for atom in equation.atoms().into_iter().filter(is_count) {
            let none = Poly::constant(0);
            if atom.is_private() {
                let mut terms = equation.terms().iter().filter(|(at, _)| at.contains(atom));
                if terms.all(|(_, factor)| factor.saturating_abs() >= LEAST_RANGE) {
                    equation = equation.substitute(atom, &none).unwrap_or(equation);
                }
                continue;
            }
            let facts = self.state.facts.iter().filter(|fact| fact.mentions(atom));
            let bounds: Option<Vec<Poly>> = facts.map(|fact| fact.substitute(atom, &none)).collect();
            if let (Some(without), Some(bounds)) =
                (equation.substitute(atom, &none), bounds.filter(|it| !it.is_empty()))
            {
                equation = without;
                in_range.extend(bounds);
            }
        }
        (equation, in_range)
    }

    /// Polynomials over values of the launch, as premises; `None` if one of them is no premise.
    fn set(&self, polys: &[Poly]) -> Option<Vec<Premise>> {
        let of_launch = &self.condition.of_launch;
        let product = |at: Monomial| at.atoms().map(|atom| of_launch.get(&atom).copied()).collect::<Option<Vec<_>>>();
        let mut set = Vec::new();
        for poly in polys {
            match poly.as_constant() {
                Some(0..) => {}
                Some(_) => return None,
                None => {
                    let terms = poly.terms().iter().map(|&(at, factor)| Some((factor, product(at)?)));
                    set.push(Premise { terms: terms.collect::<Option<Vec<_>>>()? });
                }
            }
        }
        Some(set)
    }
}

/// The polynomials, each without another one where that makes it shorter: with `w >= v`, `plane + w >= w * h + v` follows from
/// `plane >= w * h`, which is what people say.
fn shortened(polys: &[Poly]) -> Vec<Poly> {
    let without = |poly: &Poly| {
        let others = polys.iter().filter(|other| *other != poly && other.as_constant().is_none());
        let shorter = others.filter_map(|other| poly.minus(other)).filter(|it| it.size() < poly.size());
        shorter.min_by_key(Poly::size)
    };
    polys.iter().map(|poly| without(poly).unwrap_or_else(|| poly.clone())).collect()
}

/// How many terms of a sum are of one thread.
fn private_terms(sum: &Poly) -> usize {
    sum.terms().iter().filter(|(at, _)| at.private_part() != Monomial::ONE).count()
}

/// What the private parts of an equation are multiplied by, as it may be a radix: what has symbols in it first.
fn radices(equation: &Poly) -> Vec<(Monomial, i64)> {
    let mut found: Vec<(Monomial, i64)> = Vec::new();
    for &(at, factor) in equation.terms() {
        let uniform = at.uniform_part();
        let symbols = (uniform, 1);
        let number = (Monomial::ONE, factor.saturating_abs());
        for radix in [(uniform.degree() > 0).then_some(symbols), (factor.saturating_abs() > 1).then_some(number)] {
            found.extend(radix.filter(|radix| !found.contains(radix)));
        }
    }
    found.sort_by_key(|&(at, factor)| (at.degree() == 0, at.degree(), factor));
    found
}

/// An equation as what the radix divides, by the radix, and the rest.
fn divided(equation: &Poly, (radix, number): (Monomial, i64)) -> Option<(Poly, Poly)> {
    let (mut high, mut low) = (Vec::new(), Vec::new());
    for &(at, factor) in equation.terms() {
        match at.divide(radix) {
            Some(rest) if factor % number == 0 => high.push((rest, factor / number)),
            _ => low.push((at, factor)),
        }
    }
    Some((Poly::from_terms(high)?, Poly::from_terms(low)?))
}

/// Whose values a product has.
fn sides_of(at: Monomial) -> [bool; 2] {
    Side::BOTH.map(|side| at.atoms().any(|atom| atom.side() == Some(side)))
}

/// The terms of one thread; `None` if some term is of both.
fn of_side(sum: &Poly, side: Side) -> Option<Poly> {
    let wanted = Side::BOTH.map(|other| other == side);
    if sum.terms().iter().any(|&(at, _)| sides_of(at) == [true, true]) {
        return None;
    }
    Poly::from_terms(sum.terms().iter().copied().filter(|&(at, _)| sides_of(at) == wanted).collect())
}
