//! Reading: what is asked of a condition that was built.
//!
//! - [`points`]: does it follow from the protocol? [`readings`]: by which rules was it read? Here: it as text.

pub(in crate::prove::condition) mod points;
pub(in crate::prove::condition) mod readings;

use super::Condition;
use crate::prove::state::poly::{Atom, Poly};
use crate::prove::state::{Alternative, Literal};
use std::fmt;

/// The condition as text, for people: equations, facts, disjunctions, and what tells the threads apart.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |atom: Atom| self.names.get(&atom).cloned().unwrap_or_else(|| format!("g{}", atom.index()));
        let show = |poly: &Poly| poly.display(&name);
        let literal = |literal: &Literal| match literal {
            Literal::Zero(poly) => format!("{} = 0", show(poly)),
            Literal::NonNegative(poly) => format!("{} >= 0", show(poly)),
        };
        for equation in &self.state.equations {
            writeln!(f, "equation     {} = 0", show(equation))?;
        }
        for fact in &self.state.facts {
            writeln!(f, "fact         {} >= 0", show(fact))?;
        }
        for alternatives in &self.state.disjunctions {
            let all = |alternative: &Alternative| alternative.iter().map(literal).collect::<Vec<_>>().join(" and ");
            writeln!(f, "either       {}", alternatives.iter().map(all).collect::<Vec<_>>().join("  or  "))?;
        }
        for xor in &self.state.xors {
            writeln!(f, "xor          {} = {} ^ {}", show(&xor.value), show(&xor.argument), show(&xor.mask))?;
        }
        for toggle in &self.state.toggles {
            writeln!(f, "toggle       {}", show(toggle))?;
        }
        let non_negative: Vec<String> = self.state.non_negative.iter().map(name).collect();
        writeln!(f, "not negative {}", non_negative.join(", "))?;
        for (first, second) in &self.state.coordinates {
            writeln!(f, "may differ   {} and {}", show(first), show(second))?;
        }
        Ok(())
    }
}
