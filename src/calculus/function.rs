//! The functions of [`Expr::Call`](super::Expr::Call).
//!
//! Deliberately absent: what named functions compute. They are pure, and their names are for people, and for runs that give
//! equal calls equal values.

use std::fmt;

/// What a call is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// A pure function that the calculus does not interpret (`sqrtf`): equal arguments, equal results.
    Named(String),
    /// The value of its only argument in another thread, in an assumption or a claim. Such a condition is about every two
    /// distinct threads of a launch that get to it in the same iterations of the loops around it, whichever of them is the
    /// other one. Nothing else may mention it.
    Other,
    /// Without arguments, in such a condition: whether both threads are of one block.
    SameBlock,
}

impl Function {
    /// The name that stands for it in texts.
    pub fn name(&self) -> &str {
        match self {
            Function::Named(name) => name,
            Function::Other => "__other",
            Function::SameBlock => "__same_group",
        }
    }

    /// The function that a name stands for in a text of the calculus.
    pub(crate) fn of_text(name: String) -> Function {
        let about_two = [Function::Other, Function::SameBlock].into_iter().find(|function| function.name() == name);
        about_two.unwrap_or(Function::Named(name))
    }

    /// Whether a condition that mentions it is about two threads.
    pub fn is_about_two(&self) -> bool {
        matches!(self, Function::Other | Function::SameBlock)
    }
}

impl From<&str> for Function {
    fn from(name: &str) -> Function {
        Function::Named(name.to_owned())
    }
}

impl From<String> for Function {
    fn from(name: String) -> Function {
        Function::Named(name)
    }
}

impl fmt::Display for Function {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
