//! What is known of two threads while their condition is built: the state, the atoms that it is of, and how values are to
//! be read.
//!
//! Everything that is put into the state follows from the protocol and from `assumptions`. Digits ([`division`])
//! and chosen values ([`pieces`]) are made here too, of values alone.
//!
//! Deliberately absent: expressions of the protocol, and places in it.

pub(in crate::prove::condition) mod atoms;
pub(in crate::prove::condition) mod division;
mod pieces;
mod whole_numbers;

use self::atoms::Source;
use self::atoms::{Atoms, Key};
use self::division::Digits;
use self::pieces::Pieces;
use self::whole_numbers::in_whole_numbers;
use crate::calculus::ScalarType;
use crate::prove::Assumption;
use crate::prove::condition::asking::oracle::Oracle;
use crate::prove::condition::reading::readings::Reading;
use crate::prove::state::poly::{Atom, Poly, Side, UNKNOWN};
use crate::prove::state::{Alternative, Literal, State, bounded_below};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// What was said about the two threads so far.
#[derive(Clone)]
pub(in crate::prove::condition) struct Draft<'a> {
    /// Who answers questions of sign.
    pub(in crate::prove::condition) oracle: Oracle<'a>,
    /// What is known.
    pub(in crate::prove::condition) state: State,
    /// What it is known of.
    pub(in crate::prove::condition) atoms: Atoms,
    /// What had to be assumed.
    pub(in crate::prove::condition) assumptions: BTreeSet<Assumption>,
    /// Rules that said something about this condition.
    pub(in crate::prove::condition) readings: BTreeSet<Reading>,
    /// Atoms that were replaced, in order.
    pub(in crate::prove::condition) aliases: Vec<(Atom, Poly)>,
    /// Values that are to be read as `m*q + r` from now on.
    pub(in crate::prove::condition) canonical: Vec<(Poly, Poly)>,
    /// Values that are powers of two, or zero.
    pub(in crate::prove::condition) powers: Vec<Poly>,
    /// What was divided.
    pub(in crate::prove::condition) digits: Digits,
    /// Atoms for values that are not understood, by expression and what its leaves are.
    pub(in crate::prove::condition) unknowns: FxHashMap<(Key, Vec<Poly>, Option<Side>), Poly>,
    /// Values that conditions choose.
    pub(in crate::prove::condition) pieces: Pieces,
}

impl<'a> Draft<'a> {
    /// Nothing.
    pub(in crate::prove::condition) fn new(oracle: Oracle<'a>) -> Self {
        Draft {
            oracle,
            state: State::default(),
            atoms: Atoms::default(),
            assumptions: BTreeSet::new(),
            readings: BTreeSet::new(),
            aliases: Vec::new(),
            canonical: Vec::new(),
            powers: Vec::new(),
            digits: Digits::default(),
            unknowns: FxHashMap::default(),
            pieces: Pieces::default(),
        }
    }

    /// A new atom; at level 0 both threads share it.
    pub(in crate::prove::condition) fn atom(
        &mut self,
        level: u8,
        key: Key,
        side: Side,
        name: &str,
        source: Source,
    ) -> Option<Atom> {
        self.atoms.add(level, key, side, name, source)
    }

    pub(in crate::prove::condition) fn set_non_negative(&mut self, atom: Atom) {
        self.state.non_negative.insert(atom);
    }

    pub(in crate::prove::condition) fn bound(&mut self, atom: Atom, least: Option<i128>, greatest: Option<i128>) {
        self.atoms.bounds.insert(atom, (least, greatest));
    }

    // ---- facts

    /// Adds a fact, unless it says nothing new.
    pub(in crate::prove::condition) fn fact(&mut self, fact: Poly) {
        if let Some(atom) = bounded_below(&fact) {
            self.set_non_negative(atom);
        }
        let trivial = fact
            .terms()
            .iter()
            .all(|&(monomial, coefficient)| coefficient > 0 && self.state.non_negative.contains_all(monomial));
        if !trivial && !self.state.facts.contains(&fact) {
            let whole = in_whole_numbers(&fact);
            self.state.facts.push(fact);
            if let Some(whole) = whole.filter(|whole| !self.state.facts.contains(whole)) {
                self.readings.insert(Reading::Whole);
                self.state.facts.push(whole);
            }
        }
    }

    /// Whether `goal >= 0` is shown.
    pub(in crate::prove::condition) fn shows(&mut self, goal: &Poly) -> bool {
        if let Some(value) = goal.as_constant() {
            return value >= 0;
        }
        let plain = goal
            .terms()
            .iter()
            .all(|&(monomial, coefficient)| coefficient > 0 && self.state.non_negative.contains_all(monomial));
        plain || self.oracle.shows(goal, &self.state)
    }

    /// Whether `goal >= 1` is shown.
    pub(in crate::prove::condition) fn shows_positive(&mut self, goal: &Poly) -> bool {
        goal.plus_constant(-1).is_some_and(|goal| self.shows(&goal))
    }

    /// Notes which uniform values are not negative because guards say so: `rows > k` for some `k >= 0`.
    pub(in crate::prove::condition) fn promote_signs(&mut self) {
        let atoms: Vec<Atom> = self.atoms.sources.iter().map(|source| source.0).collect();
        for atom in atoms {
            let open = !atom.is_private() && !self.state.non_negative.contains(atom);
            let replaced = self.aliases.iter().any(|alias| alias.0 == atom);
            if open && !replaced && self.shows(&Poly::atom(atom)) {
                self.set_non_negative(atom);
            }
        }
    }

    /// Adds what a literal says; an equation between uniform values is solved at once.
    pub(in crate::prove::condition) fn literal(&mut self, literal: Literal) {
        match literal {
            Literal::NonNegative(poly) => self.fact(poly),
            Literal::Zero(poly) => {
                if poly.is_zero() || self.state.equations.contains(&poly) {
                    return;
                }
                if !poly.is_private() && self.solve_uniform(&poly).is_some() {
                    return;
                }
                self.state.equations.push(poly);
            }
        }
    }

    fn solve_uniform(&mut self, equation: &Poly) -> Option<()> {
        let alone = |atom: Atom| equation.terms().iter().filter(|term| term.0.contains(atom)).count() == 1;
        let (atom, coefficient) = equation.terms().iter().find_map(|&(monomial, coefficient)| {
            let atom = monomial.atoms().next().filter(|_| monomial.degree() == 1 && coefficient.abs() == 1)?;
            alone(atom).then_some((atom, coefficient))
        })?;
        let rest = equation.minus(&Poly::atom(atom).scaled(coefficient)?)?;
        let value = rest.scaled(-coefficient)?;
        self.atoms.define(atom, Source::Defined(value.clone()));
        self.replace(atom, value)
    }

    /// Reads `atom` as `value` from now on, in the state as well.
    pub(in crate::prove::condition) fn replace(&mut self, atom: Atom, value: Poly) -> Option<()> {
        self.state.substitute(atom, &value)?;
        self.state.facts.retain(|fact| fact.as_constant().is_none_or(|value| value < 0));
        self.aliases.push((atom, value));
        Some(())
    }

    /// Adds a disjunction; one alternative is a conjunction, none a contradiction.
    pub(in crate::prove::condition) fn disjunction(&mut self, mut alternatives: Vec<Alternative>) {
        for alternative in &mut alternatives {
            // What was made of them since they were read; a literal that grew out of range is dropped.
            *alternative =
                alternative.iter().filter_map(|literal| literal.with_poly(|poly| self.normal(poly))).collect();
        }
        if alternatives.iter().any(Vec::is_empty) {
            return;
        }
        match alternatives.len() {
            0 => self.state.facts.push(Poly::constant(-1)),
            1 => alternatives.remove(0).into_iter().for_each(|literal| self.literal(literal)),
            _ if self.state.disjunctions.contains(&alternatives) => {}
            _ => self.state.disjunctions.push(alternatives),
        }
    }

    /// Adds a disjunction of which a proof is likely to need every alternative by itself.
    pub(in crate::prove::condition) fn early_disjunction(&mut self, alternatives: Vec<Alternative>) {
        let known = self.state.disjunctions.len();
        self.disjunction(alternatives);
        if self.state.disjunctions.len() > known
            && let Some(added) = self.state.disjunctions.pop()
        {
            self.state.disjunctions.insert(self.state.early, added);
            self.state.early += 1;
        }
    }

    /// `poly` with every replaced atom read as what it is.
    pub(in crate::prove::condition) fn normal(&self, poly: &Poly) -> Option<Poly> {
        let mut poly = poly.clone();
        for (atom, value) in &self.aliases {
            if poly.mentions(*atom) {
                poly = poly.substitute(*atom, value)?;
            }
        }
        Some(poly)
    }

    /// A radix worth trying.
    pub(in crate::prove::condition) fn hint(&mut self, radix: &Poly) {
        if radix.as_constant().is_none() && !radix.is_private() && !self.state.pool.contains(radix) {
            self.state.pool.push(radix.clone());
        }
    }

    /// `poly` in the words of the digits that it was divided into.
    pub(in crate::prove::condition) fn settled(&self, poly: &Poly) -> Option<Poly> {
        let mut poly = self.normal(poly)?;
        for _ in 0..self.canonical.len() {
            let known = |entry: &&(Poly, Poly)| self.normal(&entry.0).as_ref() == Some(&poly);
            match self.canonical.iter().find(known) {
                Some((_, digits)) => poly = self.normal(digits)?,
                None => break,
            }
        }
        Some(poly)
    }

    /// What the type of a value says about it.
    pub(in crate::prove::condition) fn typed(&mut self, atom: Atom, ty: ScalarType) {
        let Some((least, greatest)) = ty.range() else { return };
        self.bound(atom, Some(least), Some(greatest));
        if least >= 0 {
            self.set_non_negative(atom);
        }
        // Wider ranges are only ever needed against wrapping, where `bounds` has them.
        if greatest <= 0xffff {
            for fact in [
                Poly::constant(greatest as i64).minus(&Poly::atom(atom)),
                Poly::atom(atom).plus_constant(-least as i64),
            ]
            .into_iter()
            .flatten()
            {
                self.fact(fact);
            }
        }
    }

    /// The atom of an unknown value of this identity, of one thread or of both.
    pub(in crate::prove::condition) fn unknown_atom(
        &mut self,
        key: Key,
        identity: Vec<Poly>,
        of: Option<Side>,
        ty: ScalarType,
        name: &str,
    ) -> Option<Poly> {
        let identity = (key.clone(), identity, of);
        if let Some(known) = self.unknowns.get(&identity) {
            let known = known.clone();
            return self.normal(&known);
        }
        let level = if of.is_none() { 0 } else { UNKNOWN };
        let atom = self.atom(level, key, of.unwrap_or(Side::First), name, Source::Number)?;
        self.typed(atom, ty);
        self.unknowns.insert(identity, Poly::atom(atom));
        Some(Poly::atom(atom))
    }

    /// Whether the value is shown to be a power of two.
    pub(in crate::prove::condition) fn is_power(&self, poly: &Poly) -> bool {
        let is_known = |poly: &Poly| self.powers.iter().any(|power| self.normal(power).as_ref() == Some(poly));
        match poly.terms() {
            _ if is_known(poly) => true,
            [(monomial, coefficient)] => {
                *coefficient > 0
                    && coefficient & (coefficient - 1) == 0
                    && monomial.atoms().all(|atom| is_known(&Poly::atom(atom)))
            }
            _ => false,
        }
    }

    /// Bounds by constants, from types and extents; `None` where there are none.
    pub(in crate::prove::condition) fn interval(&self, poly: &Poly) -> (Option<i128>, Option<i128>) {
        let mut low = Some(0i128);
        let mut high = Some(0i128);
        for &(monomial, coefficient) in poly.terms() {
            let (mut least, mut greatest) = (Some(1i128), Some(1i128));
            for atom in monomial.atoms() {
                let (from, to) = self.atoms.bounds(atom);
                let from = if self.state.non_negative.contains(atom) { Some(from.unwrap_or(0).max(0)) } else { from };
                let to = match to {
                    Some(to) if monomial.degree() == 1 => {
                        Some(self.upper_from_facts(atom).map_or(to, |other| to.min(other)))
                    }
                    _ => to.or_else(|| self.upper_from_facts(atom)),
                };
                (least, greatest) = product((least, greatest), (from, to));
            }
            let factor = Some(i128::from(coefficient));
            let (from, to) = product((factor, factor), (least, greatest));
            low = low.zip(from).and_then(|(sum, next)| sum.checked_add(next));
            high = high.zip(to).and_then(|(sum, next)| sum.checked_add(next));
        }
        (low, high)
    }

    /// The least upper bound that a fact `bound - atom >= 0` gives.
    fn upper_from_facts(&self, atom: Atom) -> Option<i128> {
        let bounds = self.state.facts.iter().filter_map(|fact| {
            let mut sum = 0i128;
            let mut found = false;
            for &(monomial, coefficient) in fact.terms() {
                let mut atoms = monomial.atoms();
                match (atoms.next(), atoms.next()) {
                    (None, _) => sum += i128::from(coefficient),
                    (Some(one), None) if one == atom && coefficient == -1 => found = true,
                    (Some(one), None) if one != atom => {
                        let (low, high) = self.atoms.bounds(one);
                        sum += i128::from(coefficient).checked_mul(if coefficient > 0 { high? } else { low? })?;
                    }
                    _ => return None,
                }
            }
            found.then_some(sum)
        });
        bounds.min()
    }
}

/// The product of two intervals.
fn product(a: (Option<i128>, Option<i128>), b: (Option<i128>, Option<i128>)) -> (Option<i128>, Option<i128>) {
    match (a, b) {
        ((Some(al), Some(ah)), (Some(bl), Some(bh))) => {
            let corners = [al.checked_mul(bl), al.checked_mul(bh), ah.checked_mul(bl), ah.checked_mul(bh)];
            let corners: Option<Vec<i128>> = corners.into_iter().collect();
            corners.map_or((None, None), |corners| (corners.iter().min().copied(), corners.iter().max().copied()))
        }
        // One end is missing: only signs that are known on both sides help.
        ((Some(al), ah), (Some(bl), bh)) if al >= 0 && bl >= 0 => {
            (al.checked_mul(bl), ah.zip(bh).and_then(|(x, y)| x.checked_mul(y)))
        }
        ((al, Some(ah)), (Some(bl), bh)) | ((Some(bl), bh), (al, Some(ah))) if ah <= 0 && bl >= 0 => {
            (al.zip(bh).and_then(|(x, y)| x.checked_mul(y)), ah.checked_mul(bl))
        }
        _ => (None, None),
    }
}
