//! A state of the rules as a question about integers.
//!
//! The solver is asked exactly what the rules were asked: the state says all that it said to them, and what was
//! assumed in building it is assumed here. What a state leaves out (it over-approximates) stays left out, so
//! that `unsat` is a proof, and `sat` means nothing but that this is none.

use crate::prove::state::poly::{Atom, Poly};
use crate::prove::state::{Literal, State};
use crate::smt::{Op, Sort, TermId, Terms};
use std::collections::BTreeMap;

/// Everything that `state` says, as terms that hold together.
pub(super) fn assertions(terms: &mut Terms, state: &State, names: &BTreeMap<Atom, String>) -> Vec<TermId> {
    let mut writer = Writer { terms, names, atoms: BTreeMap::new() };
    let mut all = Vec::new();
    for equation in &state.equations {
        all.push(writer.literal(&Literal::Zero(equation.clone())));
    }
    for fact in &state.facts {
        all.push(writer.literal(&Literal::NonNegative(fact.clone())));
    }
    for alternatives in &state.disjunctions {
        let each = alternatives.iter().map(|alternative| {
            let literals = alternative.iter().map(|literal| writer.literal(literal)).collect();
            writer.terms.and(literals)
        });
        let each = each.collect();
        all.push(writer.terms.or(each));
    }
    if !state.coordinates.is_empty() {
        let apart = state.coordinates.iter().map(|(first, second)| writer.differ(first, second)).collect();
        all.push(writer.terms.or(apart));
    }
    for toggle in &state.toggles {
        let value = writer.poly(toggle);
        all.push(writer.between(value, 0, 1));
    }
    all.extend(xors(&mut writer, state));
    let atoms: Vec<(Atom, TermId)> = writer.atoms.iter().map(|(&atom, &term)| (atom, term)).collect();
    for (atom, term) in atoms {
        if state.non_negative.contains(atom) {
            let zero = writer.terms.int(0);
            all.push(writer.terms.apply(Op::Le, vec![zero, term]));
        }
    }
    all
}

/// Xors with equal masks: they are equal exactly where their arguments are, and one is the other's argument
/// exactly where that is so the other way round.
fn xors(writer: &mut Writer<'_>, state: &State) -> Vec<TermId> {
    let mut all = Vec::new();
    for (position, one) in state.xors.iter().enumerate() {
        for other in &state.xors[position + 1..] {
            let other_mask = writer.differ(&one.mask, &other.mask);
            let ways = [
                [(&one.value, &other.value), (&one.argument, &other.argument)],
                [(&one.value, &other.argument), (&other.value, &one.argument)],
            ];
            for way in ways {
                let [left, right] = way.map(|(first, second)| writer.differ(first, second));
                let agree = writer.terms.eq(left, right);
                all.push(writer.terms.or(vec![other_mask, agree]));
            }
        }
    }
    all
}

struct Writer<'a> {
    terms: &'a mut Terms,
    names: &'a BTreeMap<Atom, String>,
    atoms: BTreeMap<Atom, TermId>,
}

impl Writer<'_> {
    fn literal(&mut self, literal: &Literal) -> TermId {
        let value = self.poly(literal.poly());
        let zero = self.terms.int(0);
        match literal {
            Literal::Zero(_) => self.terms.eq(value, zero),
            Literal::NonNegative(_) => self.terms.apply(Op::Le, vec![zero, value]),
        }
    }

    fn differ(&mut self, first: &Poly, second: &Poly) -> TermId {
        let (first, second) = (self.poly(first), self.poly(second));
        let same = self.terms.eq(first, second);
        self.terms.not(same)
    }

    fn between(&mut self, value: TermId, least: i128, greatest: i128) -> TermId {
        let (least, greatest) = (self.terms.int(least), self.terms.int(greatest));
        let low = self.terms.apply(Op::Le, vec![least, value]);
        let high = self.terms.apply(Op::Le, vec![value, greatest]);
        self.terms.and(vec![low, high])
    }

    fn poly(&mut self, poly: &Poly) -> TermId {
        let mut sum = Vec::new();
        for &(monomial, coefficient) in poly.terms() {
            let mut product = Vec::new();
            if coefficient != 1 || monomial.degree() == 0 {
                product.push(self.terms.int(i128::from(coefficient)));
            }
            product.extend(monomial.atoms().map(|atom| self.atom(atom)));
            sum.push(if product.len() == 1 { product[0] } else { self.terms.apply(Op::Mul, product) });
        }
        match sum.len() {
            0 => self.terms.int(0),
            1 => sum[0],
            _ => self.terms.apply(Op::Add, sum),
        }
    }

    fn atom(&mut self, atom: Atom) -> TermId {
        if let Some(&known) = self.atoms.get(&atom) {
            return known;
        }
        let name = self.names.get(&atom).map_or("gap", String::as_str);
        let term = self.terms.symbol(name, Sort::Int);
        self.atoms.insert(atom, term);
        term
    }
}
