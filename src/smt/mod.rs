//! SMT: terms, their text, and solvers as processes that are asked through SMT-LIB 2.
//!
//! [`Terms`] holds terms over booleans, integers, bit-vectors and uninterpreted functions. A [`Session`] keeps a
//! stack of assertions and asks one solver process about it, incrementally; it starts the process with the first
//! question, ends it when it misbehaves, and starts another for the next question. A [`Memory`] spares it
//! questions that were answered before. [`find`] looks for solvers on this machine.
//!
//! Guarantees: a question is answered within its deadline; whatever the process does (hangs, prints garbage,
//! floods, dies), the answer is [`Answer::Unknown`] with a reason; effort is limited by the solver's own counter
//! ([`Limits::resources`]), so that the same questions in the same order get the same answers, and the clock is
//! only a net. No solver process outlives its session.
//!
//! Deliberately absent: trust. A model is a guess of values that the caller must confirm by other means; and
//! nothing here knows of kernels.

mod find;
mod print;
mod process;
mod session;
mod sexpr;
mod terms;
#[cfg(test)]
mod tests;

pub use find::{Solver, SolverKind, find};
pub use session::{Answer, Limits, Memory, Session, Trouble};
pub use terms::{Function, FunctionId, Op, Sort, Symbol, SymbolId, Term, TermId, Terms};

/// A value of a term in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// Bits, as an unsigned number.
    Bits(u128),
}

impl Value {
    /// The value as a number; truth values are 0 and 1.
    pub fn number(self) -> Option<i128> {
        match self {
            Value::Bool(value) => Some(i128::from(value)),
            Value::Int(value) => Some(value),
            Value::Bits(value) => i128::try_from(value).ok(),
        }
    }
}
