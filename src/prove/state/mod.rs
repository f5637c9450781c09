//! The state of a condition: what is known about two threads, from which a contradiction is wanted.
//!
//! Conditions write it and rules read it, so that neither knows the other. With it stand what both say things in
//! ([`poly`]) and what both ask of it: signs ([`sign`], [`least`]) and concrete points ([`samples`]).
//!
//! A state holds for a pair of threads if all its equations, facts and disjunctions do, the atoms of
//! `non_negative` are, and, unless `coordinates` is empty, at least one pair of coordinates differs.
//! `early`, `pool`, `orders` and `samples` are hints: they carry no meaning and no proof depends on them.
//!
//! Deliberately absent: where atoms come from (`condition`), and any search but that for a sign.

pub mod least;
pub mod poly;
pub mod samples;
pub mod sign;

use self::poly::{Atom, AtomSet, Monomial, Poly};
use self::samples::Samples;

/// An equation or fact that one branch of a case split adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// The polynomial is zero.
    Zero(Poly),
    /// The polynomial is not negative.
    NonNegative(Poly),
}

impl Literal {
    /// Its polynomial.
    pub fn poly(&self) -> &Poly {
        match self {
            Literal::Zero(poly) | Literal::NonNegative(poly) => poly,
        }
    }

    /// It with its polynomial changed.
    pub fn with_poly(&self, change: impl Fn(&Poly) -> Option<Poly>) -> Option<Literal> {
        Some(match self {
            Literal::Zero(poly) => Literal::Zero(change(poly)?),
            Literal::NonNegative(poly) => Literal::NonNegative(change(poly)?),
        })
    }
}

/// Literals that hold together.
pub type Alternative = Vec<Literal>;

/// `value = argument ^ mask`, where the mask is the same for both threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xor {
    /// The result.
    pub value: Poly,
    /// The left operand.
    pub argument: Poly,
    /// The right operand.
    pub mask: Poly,
}

/// What is known about two threads.
#[derive(Clone, Default)]
pub struct State {
    /// Atoms that are not negative.
    pub non_negative: AtomSet,
    /// Polynomials that are not negative.
    pub facts: Vec<Poly>,
    /// Polynomials that are zero.
    pub equations: Vec<Poly>,
    /// Of each, at least one alternative holds.
    pub disjunctions: Vec<Vec<Alternative>>,
    /// How many of them, the first ones, are worth a split before anything else: the sign of a divisor, the last iteration
    /// of a loop. A hint.
    pub early: usize,
    /// The same coordinate of the two threads; at least one pair differs. Empty if that is used up.
    pub coordinates: Vec<(Poly, Poly)>,
    /// Xors: two of them say something of each other once their masks are equal.
    pub xors: Vec<Xor>,
    /// Uniform values that are 0 or 1.
    pub toggles: Vec<Poly>,
    /// Digits and pieces: atoms that a definition introduced. A hint.
    pub named: AtomSet,
    /// Radices worth trying. A hint.
    pub pool: Vec<Poly>,
    /// Values of both threads worth ordering. A hint.
    pub orders: Vec<(Poly, Poly)>,
    /// Concrete points. A hint.
    pub samples: Samples,
}

impl State {
    /// Replaces `atom` by `value` everywhere; `None` if a polynomial grew out of range.
    ///
    /// What was known about the sign of `atom` becomes a fact about `value`.
    pub fn substitute(&mut self, atom: Atom, value: &Poly) -> Option<()> {
        if self.non_negative.contains(atom) {
            self.facts.push(Poly::atom(atom));
            self.non_negative.remove(atom);
        }
        let change = |poly: &Poly| poly.substitute(atom, value);
        for poly in self.facts.iter_mut().chain(&mut self.equations).chain(&mut self.toggles).chain(&mut self.pool) {
            if poly.mentions(atom) {
                *poly = change(poly)?;
            }
        }
        for literal in self.disjunctions.iter_mut().flatten().flatten() {
            if literal.poly().mentions(atom) {
                *literal = literal.with_poly(change)?;
            }
        }
        for (first, second) in self.coordinates.iter_mut().chain(&mut self.orders) {
            (*first, *second) = (change(first)?, change(second)?);
        }
        for xor in &mut self.xors {
            *xor = Xor { value: change(&xor.value)?, argument: change(&xor.argument)?, mask: change(&xor.mask)? };
        }
        self.samples.keep_where_equal(atom, value);
        Some(())
    }

    /// Adds what an alternative says.
    pub fn assume(&mut self, alternative: &[Literal]) {
        for literal in alternative {
            match literal {
                Literal::Zero(poly) => self.equations.push(poly.clone()),
                Literal::NonNegative(poly) => self.know_not_negative(poly),
            }
        }
    }

    /// Adds a fact.
    pub fn know_not_negative(&mut self, fact: &Poly) {
        if let Some(atom) = bounded_below(fact) {
            self.non_negative.insert(atom);
        }
        self.facts.push(fact.clone());
    }

    /// Whether the two threads are known to be one: every pair of coordinates is equal.
    pub fn is_same_thread(&self) -> bool {
        !self.coordinates.is_empty() && self.coordinates.iter().all(|(first, second)| first == second)
    }

    /// Whether `equation`, up to sign and content, is one of the equations.
    pub fn has_equation(&self, equation: &Poly) -> bool {
        let wanted = equation.primitive();
        let negated = wanted.negated();
        self.equations.iter().any(|known| {
            let known = known.primitive();
            known == wanted || negated.as_ref() == Some(&known)
        })
    }

    /// Whether some atom of it occurs in the state, its signs, or `atom` is known.
    pub fn mentions(&self, atom: Atom) -> bool {
        let literals = self.disjunctions.iter().flatten().flatten().map(Literal::poly);
        let pairs = self.coordinates.iter().flat_map(|(first, second)| [first, second]);
        let xors = self.xors.iter().flat_map(|xor| [&xor.value, &xor.argument, &xor.mask]);
        let mut all =
            self.facts.iter().chain(&self.equations).chain(&self.toggles).chain(literals).chain(pairs).chain(xors);
        self.non_negative.contains(atom) || all.any(|poly| poly.mentions(atom))
    }
}

/// The atom that is not negative because `fact` is not: `atom`, `2*atom`, `atom - 3`.
pub fn bounded_below(fact: &Poly) -> Option<Atom> {
    match fact.terms() {
        [(monomial, 1..)] if monomial.degree() == 1 => monomial.atoms().next(),
        [(monomial, 1..), (Monomial::ONE, ..0)] if monomial.degree() == 1 => monomial.atoms().next(),
        _ => None,
    }
}
