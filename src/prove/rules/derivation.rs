//! Derivations: how a contradiction was reached, as a tree that [`super::check`] replays.

use crate::prove::state::poly::{Atom, Poly};
use crate::prove::state::sign::Certificate;
use std::collections::BTreeMap;
use std::fmt;

/// Steps and what ended them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// Each changes the state.
    pub steps: Vec<Step>,
    /// The contradiction.
    pub close: Close,
}

/// A rule that changes the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `atom` is `value` everywhere, because `atom - value` is, up to sign and content, the equation.
    Subst {
        /// The equation.
        equation: Poly,
        /// The atom that goes.
        atom: Atom,
        /// What it is.
        value: Poly,
    },
    /// `equation = radix*quotient + rest` and `|rest| < radix`: quotient and rest are zero.
    Split {
        /// The equation.
        equation: Poly,
        /// The radix.
        radix: Poly,
        /// Zero from now on.
        quotient: Poly,
        /// Zero from now on.
        rest: Poly,
        /// `radix - 1 >= 0`
        positive: Certificate,
        /// `radix - 1 - rest >= 0`
        above: Certificate,
        /// `radix - 1 + rest >= 0`
        below: Certificate,
    },
    /// `fact = radix*quotient + rest` and `rest < radix`: the quotient is not negative.
    Round {
        /// The fact.
        fact: Poly,
        /// The radix.
        radix: Poly,
        /// Not negative from now on.
        quotient: Poly,
        /// The rest.
        rest: Poly,
        /// `radix - 1 >= 0`
        positive: Certificate,
        /// `radix - 1 - rest >= 0`
        above: Certificate,
    },
    /// The sum of two facts is `radix*quotient + rest` and `rest < radix`: the quotient is not negative.
    Monotone {
        /// The facts.
        facts: Box<[Poly; 2]>,
        /// The radix.
        radix: Poly,
        /// Not negative from now on.
        quotient: Poly,
        /// The rest.
        rest: Poly,
        /// `radix - 1 >= 0`
        positive: Certificate,
        /// `radix - 1 - rest >= 0`
        above: Certificate,
    },
    /// The sum of two facts.
    Chain {
        /// The facts.
        facts: Box<[Poly; 2]>,
        /// Not negative from now on.
        sum: Poly,
    },
    /// A fact without positive terms, or one whose negation is a fact too.
    Pinch {
        /// The fact.
        fact: Poly,
        /// Zero from now on.
        zero: Poly,
    },
    /// An equation without the terms of another one, which it holds.
    Sum {
        /// The equation.
        whole: Poly,
        /// The other one.
        part: Poly,
        /// Whether it holds them with negated coefficients.
        negated: bool,
        /// Zero from now on.
        left: Poly,
    },
    /// Two xors with one mask.
    Xor {
        /// Position of the first.
        first: usize,
        /// Position of the second.
        second: usize,
        /// What followed, zero from now on.
        conclusion: Poly,
    },
}

/// A contradiction, or cases that each end in one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Close {
    /// Nothing ended it: not a proof.
    #[default]
    Nothing,
    /// An equation is a constant other than zero.
    Constant(Poly),
    /// A fact is a negative constant.
    NegativeFact(Poly),
    /// All coordinates are equal.
    SameThread,
    /// A number divides all terms of the equation but its constant.
    Divides(Poly),
    /// The equation, or its negation, is at least one.
    NeverEquation {
        /// The equation.
        equation: Poly,
        /// Whether it is the negation that is at least one.
        negated: bool,
        /// Why.
        certificate: Certificate,
    },
    /// The fact is at most minus one.
    NeverFact {
        /// The fact.
        fact: Poly,
        /// Why.
        certificate: Certificate,
    },
    /// A toggle is 0 or 1.
    Toggle {
        /// The toggle.
        atom: Atom,
        /// The case 0 and the case 1.
        branches: Vec<Branch>,
    },
    /// One alternative of a disjunction holds.
    Cases {
        /// Its position.
        disjunction: usize,
        /// One for each alternative.
        branches: Vec<Branch>,
    },
    /// Equal, less or greater.
    Order {
        /// The value in the first thread.
        first: Poly,
        /// The value in the second.
        second: Poly,
        /// Whether they are a pair of coordinates, so that the threads differ in the strict cases.
        coordinate: bool,
        /// The fresh atom of the strict cases.
        gap: Atom,
        /// Equal; first greater; second greater.
        branches: Vec<Branch>,
    },
}

impl Branch {
    /// Number of steps, closings included.
    pub fn size(&self) -> usize {
        let inner = match &self.close {
            Close::Toggle { branches, .. } | Close::Cases { branches, .. } | Close::Order { branches, .. } => {
                branches.iter().map(Branch::size).sum()
            }
            _ => 0,
        };
        self.steps.len() + 1 + inner
    }
}

/// A branch with the names of its atoms, to be read.
pub struct Named<'a> {
    /// The branch.
    pub branch: &'a Branch,
    /// Names of atoms; one without a name was introduced by a rule.
    pub names: &'a BTreeMap<Atom, String>,
}

impl Named<'_> {
    fn name(&self, atom: Atom) -> String {
        self.names.get(&atom).cloned().unwrap_or_else(|| format!("g{}", atom.index()))
    }

    fn show(&self, poly: &Poly) -> String {
        poly.display(&|atom| self.name(atom))
    }

    fn write_branch(&self, f: &mut fmt::Formatter<'_>, branch: &Branch, indent: usize) -> fmt::Result {
        let pad = "  ".repeat(indent);
        for step in &branch.steps {
            match step {
                Step::Subst { atom, value, .. } => {
                    writeln!(f, "{pad}SUBST  {} := {}", self.name(*atom), self.show(value))?;
                }
                Step::Split { equation, radix, quotient, rest, .. } => writeln!(
                    f,
                    "{pad}SPLIT  {} = 0 by {}: {} = 0 and {} = 0",
                    self.show(equation),
                    self.show(radix),
                    self.show(quotient),
                    self.show(rest)
                )?,
                Step::Round { fact, radix, quotient, .. } => writeln!(
                    f,
                    "{pad}ROUND  {} >= 0 by {}: {} >= 0",
                    self.show(fact),
                    self.show(radix),
                    self.show(quotient)
                )?,
                Step::Monotone { facts, radix, quotient, .. } => writeln!(
                    f,
                    "{pad}MONOTONE  {} >= 0 and {} >= 0 by {}: {} >= 0",
                    self.show(&facts[0]),
                    self.show(&facts[1]),
                    self.show(radix),
                    self.show(quotient)
                )?,
                Step::Chain { facts, sum } => writeln!(
                    f,
                    "{pad}CHAIN  {} >= 0 and {} >= 0: {} >= 0",
                    self.show(&facts[0]),
                    self.show(&facts[1]),
                    self.show(sum)
                )?,
                Step::Pinch { fact, zero } => {
                    writeln!(f, "{pad}PINCH  {} >= 0: {} = 0", self.show(fact), self.show(zero))?;
                }
                Step::Sum { whole, left, .. } => {
                    writeln!(f, "{pad}SUM  {} = 0: {} = 0", self.show(whole), self.show(left))?;
                }
                Step::Xor { conclusion, .. } => writeln!(f, "{pad}XOR  {} = 0", self.show(conclusion))?,
            }
        }
        self.write_close(f, &branch.close, indent)
    }

    fn write_close(&self, f: &mut fmt::Formatter<'_>, close: &Close, indent: usize) -> fmt::Result {
        let pad = "  ".repeat(indent);
        match close {
            Close::Nothing => writeln!(f, "{pad}open"),
            Close::Constant(poly) => writeln!(f, "{pad}CONSTANT  {} = 0 is impossible", self.show(poly)),
            Close::NegativeFact(poly) => writeln!(f, "{pad}CONSTANT  {} >= 0 is impossible", self.show(poly)),
            Close::SameThread => writeln!(f, "{pad}SAME-THREAD"),
            Close::Divides(poly) => writeln!(f, "{pad}DIVIDES  {} = 0 is impossible", self.show(poly)),
            Close::NeverEquation { equation, .. } => {
                writeln!(f, "{pad}NEVER  {} = 0 is impossible", self.show(equation))
            }
            Close::NeverFact { fact, .. } => writeln!(f, "{pad}NEVER  {} >= 0 is impossible", self.show(fact)),
            Close::Toggle { atom, branches } => {
                for (value, branch) in branches.iter().enumerate() {
                    writeln!(f, "{pad}CASE  {} = {value}", self.name(*atom))?;
                    self.write_branch(f, branch, indent + 1)?;
                }
                Ok(())
            }
            Close::Cases { branches, .. } => {
                for (number, branch) in branches.iter().enumerate() {
                    writeln!(f, "{pad}CASE  {} of {}", number + 1, branches.len())?;
                    self.write_branch(f, branch, indent + 1)?;
                }
                Ok(())
            }
            Close::Order { first, second, branches, .. } => {
                for (relation, branch) in ["=", ">", "<"].iter().zip(branches) {
                    writeln!(f, "{pad}ORDER  {} {relation} {}", self.show(first), self.show(second))?;
                    self.write_branch(f, branch, indent + 1)?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_branch(f, self.branch, 0)
    }
}
