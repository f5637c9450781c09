//! Whether a state holds somewhere, so that looking for a contradiction is in vain.
//!
//! A condition with a solution has no refutation, since the rules are sound. Finding a solution is cheap where
//! there are many, and that is where the search for a derivation is most expensive: it has to exhaust its budget.
//!
//! Deliberately absent: any influence on what is proved. A point that is found here ends a search that could
//! not have succeeded.

use crate::calculus::BinaryOp;
use crate::prove::domains::{Effort, NodeId, Problem, Range};
use crate::prove::state::poly::{Atom, IDS, PIECES, Poly, UNIFORM};
use crate::prove::state::{Literal, State};
use std::collections::BTreeMap;

/// Narrowings for one search.
const EFFORT: u32 = 60;
/// Nodes of a problem that is worth solving.
const MOST_NODES: usize = 1_500;
/// Atoms are looked at up to here.
const LARGE: i64 = 1 << 31;

/// Whether a point was found at which everything that the state says holds.
pub(super) fn exists(state: &State) -> bool {
    let mut model = Model { problem: Problem::default(), atoms: BTreeMap::new(), state };
    model.state_everything();
    if model.problem.len() > MOST_NODES {
        return false;
    }
    // Ids and loops first, since what is uniform (sizes, parameters) is bounded by them; pieces follow from both.
    let ranks: BTreeMap<NodeId, u32> = model.atoms.iter().map(|(atom, &node)| (node, rank(*atom))).collect();
    model.problem.order_choices(|node| ranks.get(&node).copied().unwrap_or(0));
    model.problem.solve(&mut Effort { left: EFFORT, breadth: usize::MAX }).is_some()
}

fn rank(atom: Atom) -> u32 {
    match atom.level() {
        UNIFORM => 8,
        level if (IDS..PIECES).contains(&level) => u32::from(level),
        level => 8 + u32::from(level),
    }
}

struct Model<'a> {
    problem: Problem,
    atoms: BTreeMap<Atom, NodeId>,
    state: &'a State,
}

impl Model<'_> {
    fn state_everything(&mut self) {
        let state = self.state;
        for equation in &state.equations {
            let sum = self.sum(equation);
            self.problem.require(sum, Range::exactly(0));
        }
        for fact in &state.facts {
            let sum = self.sum(fact);
            self.problem.require(sum, Range::new(0, i128::MAX));
        }
        for alternatives in &state.disjunctions {
            let mut any = self.problem.constant(0);
            for alternative in alternatives {
                let mut all = self.problem.constant(1);
                for literal in alternative {
                    let literal = self.literal(literal);
                    all = self.problem.wide(BinaryOp::And, all, literal);
                }
                any = self.problem.wide(BinaryOp::Or, any, all);
            }
            self.problem.require(any, Range::TRUE);
        }
        for xor in &state.xors {
            let [value, argument, mask] = [&xor.value, &xor.argument, &xor.mask].map(|poly| self.sum(poly));
            let result = self.problem.wide(BinaryOp::BitXor, argument, mask);
            let gap = self.problem.wide(BinaryOp::Sub, result, value);
            self.problem.require(gap, Range::exactly(0));
        }
        for toggle in &state.toggles {
            let sum = self.sum(toggle);
            self.problem.require(sum, Range::new(0, 1));
        }
        if !state.coordinates.is_empty() {
            self.differ();
        }
    }

    fn differ(&mut self) {
        let mut any = self.problem.constant(0);
        for (first, second) in &self.state.coordinates {
            let (first, second) = (self.sum(first), self.sum(second));
            let differ = self.problem.wide(BinaryOp::Ne, first, second);
            any = self.problem.wide(BinaryOp::Or, any, differ);
        }
        self.problem.require(any, Range::TRUE);
    }

    fn literal(&mut self, literal: &Literal) -> NodeId {
        let sum = self.sum(literal.poly());
        let zero = self.problem.constant(0);
        let op = match literal {
            Literal::Zero(_) => BinaryOp::Eq,
            Literal::NonNegative(_) => BinaryOp::Ge,
        };
        self.problem.wide(op, sum, zero)
    }

    fn sum(&mut self, poly: &Poly) -> NodeId {
        let mut sum = self.problem.constant(0);
        for &(monomial, coefficient) in poly.terms() {
            let mut product = self.problem.constant(coefficient);
            for atom in monomial.atoms() {
                let factor = self.atom(atom);
                product = self.problem.wide(BinaryOp::Mul, product, factor);
            }
            sum = self.problem.wide(BinaryOp::Add, sum, product);
        }
        sum
    }

    fn atom(&mut self, atom: Atom) -> NodeId {
        if let Some(&node) = self.atoms.get(&atom) {
            return node;
        }
        let low = if self.state.non_negative.contains(atom) { 0 } else { -LARGE };
        let node = self.problem.free(Range { low, high: LARGE }, Vec::new());
        self.atoms.insert(atom, node);
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::state::poly::Side;

    /// `16*a + b = 16*c + d`, `a` and `c` differ, nothing is negative.
    fn state() -> (State, [Poly; 4]) {
        let mut state = State::default();
        let atoms = [(0, Side::First), (1, Side::First), (0, Side::Second), (1, Side::Second)]
            .map(|(number, side)| Atom::private(IDS, number, side).unwrap());
        atoms.iter().for_each(|&atom| state.non_negative.insert(atom));
        let [a, b, c, d] = atoms.map(Poly::atom);
        let sum = |x: &Poly, y: &Poly| x.scaled(16).unwrap().plus(y).unwrap();
        state.equations.push(sum(&a, &b).minus(&sum(&c, &d)).unwrap());
        state.coordinates.push((a.clone(), c.clone()));
        (state, [a, b, c, d])
    }

    #[test]
    fn a_point_is_found_where_there_is_one_and_none_where_there_is_none() {
        let (mut state, [_, b, _, d]) = state();
        assert!(exists(&state));
        // With digits below the radix, equal sums have equal digits.
        for digit in [b, d] {
            state.facts.push(Poly::constant(15).minus(&digit).unwrap());
        }
        assert!(!exists(&state));
    }

    #[test]
    fn disjunctions_and_signs_count() {
        let (mut state, [a, ..]) = state();
        let never = vec![Literal::NonNegative(a.negated().unwrap().plus_constant(-1).unwrap())];
        let far = vec![Literal::Zero(a.plus_constant(-7).unwrap())];
        state.disjunctions.push(vec![never.clone(), far]);
        assert!(exists(&state));
        state.disjunctions.push(vec![never]);
        assert!(!exists(&state));
    }
}
