//! What was made out of templates, kept for as long as the unit that they stand in.

use crate::syntax::{Function, Variable};
use std::sync::OnceLock;

/// Functions and variables that were made: a list that only grows, so that who has been given one may keep it.
#[derive(Clone, Debug, Default)]
pub struct Made {
    next: OnceLock<Box<Link>>,
}

#[derive(Clone, Debug)]
struct Link {
    kept: Kept,
    rest: Made,
}

#[derive(Clone, Debug)]
enum Kept {
    Function(Function),
    Variable(Variable),
}

impl Made {
    /// Keeps a function.
    pub fn function(&self, function: Function) -> Option<&Function> {
        match self.keep(Kept::Function(function)) {
            Kept::Function(kept) => Some(kept),
            Kept::Variable(_) => None,
        }
    }

    /// Keeps a variable.
    pub fn variable(&self, variable: Variable) -> Option<&Variable> {
        match self.keep(Kept::Variable(variable)) {
            Kept::Variable(kept) => Some(kept),
            Kept::Function(_) => None,
        }
    }

    fn keep(&self, kept: Kept) -> &Kept {
        let mut end = self;
        while let Some(link) = end.next.get() {
            end = &link.rest;
        }
        &end.next.get_or_init(|| Box::new(Link { kept, rest: Made::default() })).kept
    }
}

impl Drop for Made {
    /// One after the other: a long list is not taken apart within itself.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut link) = next {
            next = link.rest.next.take();
        }
    }
}
