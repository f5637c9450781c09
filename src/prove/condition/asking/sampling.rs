//! Concrete points of a condition: small values for what is free, computed values for what is defined.
//!
//! Points refute goals of SIGN ([`Samples`]) and show that assumptions can hold at all. They are drawn from a
//! fixed sequence, so that the same condition gets the same points.

use crate::prove::condition::draft::Draft;
use crate::prove::condition::draft::atoms::Source;
use crate::prove::state::poly::{Atom, Monomial, Poly, Side};
use crate::prove::state::samples::{Column, POINTS, Samples};
use crate::prove::state::{Alternative, Literal, State};
use rustc_hash::FxHashMap;

/// A fixed pseudo-random sequence (splitmix64).
struct Sequence(u64);

impl Sequence {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, limit: i64) -> i64 {
        if limit <= 1 { 0 } else { (self.draw() % limit as u64) as i64 }
    }
}

/// Rounds without a point after which sizes are drawn from larger ones.
const FIRST_LARGE: u64 = 4;
/// Sizes of blocks of whole warps.
const LARGE_SIZES: [i64; 6] = [32, 64, 96, 128, 256, 512];
/// Terms of a fact that is a bound of one value by others.
const SHORT_FACT: usize = 4;

struct Drawing<'a> {
    sources: &'a FxHashMap<Atom, &'a Source>,
    columns: Vec<(Atom, Column)>,
    /// Where the column of an atom is.
    places: FxHashMap<Atom, usize>,
    sequence: Sequence,
    /// Constants of the condition, as values for parameters.
    constants: &'a [i64],
    /// Whether parameters are to exceed ids and counts, for guards that bound many of these.
    spacious: bool,
    /// Whether sizes are to be those of blocks of several warps, for what is stated of them.
    large: bool,
    depth: u32,
}

impl Drawing<'_> {
    fn poly(&mut self, poly: &Poly) -> Column {
        let mut sum = [0i64; POINTS];
        for &(monomial, coefficient) in poly.terms() {
            let mut product = [coefficient; POINTS];
            for atom in monomial.atoms() {
                let column = self.atom(atom);
                product.iter_mut().zip(&column).for_each(|(factor, value)| *factor = factor.wrapping_mul(*value));
            }
            sum.iter_mut().zip(&product).for_each(|(total, value)| *total = total.wrapping_add(*value));
        }
        sum
    }

    fn atom(&mut self, atom: Atom) -> Column {
        if let Some(&place) = self.places.get(&atom) {
            return self.columns[place].1;
        }
        self.depth += 1;
        let column = match self.sources.get(&atom).copied() {
            Some(source) if self.depth < 60 => self.draw(atom, source),
            _ => [0; POINTS],
        };
        self.depth -= 1;
        self.places.insert(atom, self.columns.len());
        self.columns.push((atom, column));
        column
    }

    fn draw(&mut self, atom: Atom, source: &Source) -> Column {
        let mut column = [0i64; POINTS];
        match source {
            Source::Size => self.sizes(&mut column),
            Source::Count => self.private(atom, &mut column, |sequence, _| sequence.below(3)),
            Source::Toggle => self.private(atom, &mut column, |sequence, _| sequence.below(2)),
            Source::Below(limit) => {
                let limits = self.poly(limit);
                self.private(atom, &mut column, |sequence, point| sequence.below(limits[point]));
            }
            Source::Number => self.numbers(&mut column),
            Source::Defined(value) => column = self.poly(value),
            Source::Quotient(x, m) => self.combine(x, m, &mut column, i64::checked_div_euclid),
            Source::Remainder(x, m) => self.combine(x, m, &mut column, i64::checked_rem_euclid),
            Source::Least(a, b) => self.combine(a, b, &mut column, |a, b| Some(a.min(b))),
            Source::Greatest(a, b) => self.combine(a, b, &mut column, |a, b| Some(a.max(b))),
            Source::Xor(a, b) => self.combine(a, b, &mut column, |a, b| Some(a ^ b)),
            Source::Power(exponent) => {
                let exponents = self.poly(exponent);
                column.iter_mut().zip(&exponents).for_each(|(value, &exponent)| *value = 1 << exponent.clamp(0, 40));
            }
            Source::Choice(choices) => self.choose(choices, &mut column),
        }
        column
    }

    fn give(&mut self, atom: Atom, column: Column) {
        self.places.insert(atom, self.columns.len());
        self.columns.push((atom, column));
    }

    /// The free values that both threads share, each number moved to where short facts want it, given the others:
    /// two numbers that lie between multiples of one size are never drawn so by chance. Nothing if none moved.
    fn within_bounds(mut self, draft: &Draft<'_>) -> Vec<(Atom, Column)> {
        let is_free = |source: &Source| matches!(source, Source::Size | Source::Count | Source::Toggle);
        let shared = draft.atoms.sources.iter().filter(|(atom, _)| !atom.is_private());
        let shared: Vec<&(Atom, Source)> = shared.collect();
        let short = draft.state.facts.iter().filter(|fact| fact.size() <= SHORT_FACT);
        let short: Vec<&Poly> = short.collect();
        let mut moved = false;
        for (atom, source) in &shared {
            if matches!(source, Source::Number) {
                let column = self.moved(*atom, &short);
                let place = self.places[atom];
                moved |= self.columns[place].1 != column;
                self.columns[place].1 = column;
            }
        }
        if !moved {
            return Vec::new();
        }
        let free = shared.iter().filter(|(_, source)| is_free(source) || matches!(source, Source::Number));
        free.map(|(atom, _)| (*atom, self.columns[self.places[atom]].1)).collect()
    }

    /// The values of `atom`, moved by as little as the facts about it allow.
    fn moved(&mut self, atom: Atom, facts: &[&Poly]) -> Column {
        let mut column = self.atom(atom);
        let (mut least, mut most) = ([i64::MIN; POINTS], [i64::MAX; POINTS]);
        for fact in facts {
            let mut terms = fact.terms().iter().filter(|term| term.0.contains(atom));
            let (Some(&(monomial, factor)), None) = (terms.next(), terms.next()) else { continue };
            let alone = factor.checked_neg().filter(|_| monomial.degree() == 1);
            let rest = alone.and_then(|taken| fact.plus_multiple(&Poly::atom(atom), Monomial::ONE, taken));
            let Some(rest) = rest else { continue };
            let values = self.poly(&rest);
            for point in 0..POINTS {
                // `factor * atom + value >= 0`
                let bound = values[point].wrapping_neg().div_euclid(factor);
                let is_multiple = values[point] % factor == 0;
                if factor > 0 {
                    least[point] = least[point].max(if is_multiple { bound } else { bound.wrapping_add(1) });
                } else {
                    most[point] = most[point].min(values[point].div_euclid(factor.wrapping_neg()));
                }
            }
        }
        for (point, value) in column.iter_mut().enumerate() {
            *value = (*value).max(least[point]).min(most[point]);
        }
        column
    }

    /// Values of a private atom: often those of the other thread, so that points survive substitutions.
    fn private(&mut self, atom: Atom, column: &mut Column, draw: impl Fn(&mut Sequence, usize) -> i64) {
        let twin = if atom.side() == Some(Side::Second) { self.places.get(&atom.twin()) } else { None };
        let twin = twin.map(|&place| self.columns[place].1);
        for (point, value) in column.iter_mut().enumerate() {
            let drawn = draw(&mut self.sequence, point);
            *value = match twin {
                Some(twin) if self.sequence.below(10) < 7 => twin[point],
                _ => drawn,
            };
        }
    }

    fn sizes(&mut self, column: &mut Column) {
        for value in column {
            *value = match self.sequence.below(4) {
                draw if self.large && draw > 0 => LARGE_SIZES[self.sequence.below(LARGE_SIZES.len() as i64) as usize],
                _ => 1 + self.sequence.below(4),
            };
        }
    }

    fn numbers(&mut self, column: &mut Column) {
        for value in column {
            let small = if self.spacious { 0 } else { 5 };
            *value = match self.sequence.below(8) {
                draw if draw < small => self.sequence.below(9),
                0..4 => 10 + self.sequence.below(30),
                4 => self.sequence.below(2),
                5 => self.sequence.below(40),
                _ if self.constants.is_empty() => self.sequence.below(9),
                _ => self.constants[self.sequence.below(self.constants.len() as i64) as usize],
            };
        }
    }

    fn combine(&mut self, a: &Poly, b: &Poly, column: &mut Column, combine: impl Fn(i64, i64) -> Option<i64>) {
        let (a, b) = (self.poly(a), self.poly(b));
        for point in 0..POINTS {
            column[point] = combine(a[point], b[point]).unwrap_or(0);
        }
    }

    fn choose(&mut self, choices: &[(Alternative, Poly)], column: &mut Column) {
        let mut open = [true; POINTS];
        for (guard, value) in choices {
            let mut holds = open;
            for literal in guard {
                let values = self.poly(literal.poly());
                for point in 0..POINTS {
                    holds[point] &= match literal {
                        Literal::Zero(_) => values[point] == 0,
                        Literal::NonNegative(_) => values[point] >= 0,
                    };
                }
            }
            let values = self.poly(value);
            for point in (0..POINTS).filter(|&point| holds[point]) {
                column[point] = values[point];
                open[point] = false;
            }
        }
    }
}

/// Draws points of what the builder has said so far, up to `rounds` times; none, if none was found. Disjunctions are
/// left out.
pub(in crate::prove::condition) fn draw(draft: &Draft<'_>, constants: &[i64], rounds: u64) -> Samples {
    draw_where(draft, constants, rounds, |_| {})
}

/// Whether a point is found at which all that the builder has said holds, disjunctions too, and the threads are two.
pub(in crate::prove::condition) fn has_two_threads(draft: &Draft<'_>, constants: &[i64], rounds: u64) -> bool {
    let state = &draft.state;
    let apart = |(first, second): &(Poly, Poly)| {
        let ways = [first.minus(second), second.minus(first)];
        ways.into_iter().flatten().filter_map(|way| way.plus_constant(-1)).map(|way| vec![Literal::NonNegative(way)])
    };
    let differ: Vec<Alternative> = state.coordinates.iter().flat_map(apart).collect();
    let samples = draw_where(draft, constants, rounds, |samples| {
        samples.keep_where_some(&differ);
        state.disjunctions.iter().for_each(|alternatives| samples.keep_where_some(alternatives));
    });
    samples.count() > 0
}

fn draw_where(draft: &Draft<'_>, constants: &[i64], rounds: u64, also: impl Fn(&mut Samples)) -> Samples {
    let sources: FxHashMap<Atom, &Source> = draft.atoms.sources.iter().map(|(atom, source)| (*atom, source)).collect();
    for round in 0..rounds {
        let mut given = Vec::new();
        for _ in 0..2 {
            let mut drawing = Drawing {
                sources: &sources,
                columns: Vec::with_capacity(sources.len()),
                places: FxHashMap::default(),
                sequence: Sequence(round),
                constants,
                spacious: round >= 2 && round % 2 == 0,
                large: round >= FIRST_LARGE,
                depth: 0,
            };
            given.drain(..).for_each(|(atom, column)| drawing.give(atom, column));
            for (atom, _) in &draft.atoms.sources {
                drawing.atom(*atom);
            }
            let mut samples = Samples::new(drawing.columns.clone(), u32::MAX);
            keep(&mut samples, &draft.state);
            also(&mut samples);
            if samples.count() > 0 {
                return samples;
            }
            given = drawing.within_bounds(draft);
            if given.is_empty() {
                break;
            }
        }
    }
    Samples::default()
}

fn keep(samples: &mut Samples, state: &State) {
    for atom in state.non_negative.iter() {
        samples.keep_where_not_negative(&Poly::atom(atom));
    }
    state.facts.iter().for_each(|fact| samples.keep_where_not_negative(fact));
    state.equations.iter().for_each(|equation| samples.keep_where_zero(equation));
}
