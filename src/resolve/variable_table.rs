//! All variables of a program, and what is known of them beside their types.
//!
//! Deliberately absent: how they are declared, and what host code gives them.

use super::program::{Variable, VariableId};
use crate::arena::Arena;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::{Index, IndexMut};

/// All variables of a program.
#[derive(Default)]
pub(super) struct Variables {
    all: Arena<Variable>,
    /// Those that are declared `const` and are no references.
    pub(super) constant: FxHashSet<VariableId>,
    /// Those that are declared as references to what is given up.
    pub(super) rvalue_references: FxHashSet<VariableId>,
    /// Lanes of host variables of type `dim3` that are constant at the current place of host code.
    pub(super) lanes: FxHashMap<VariableId, Vec<Option<i128>>>,
}

impl Index<VariableId> for Variables {
    type Output = Variable;

    fn index(&self, variable: VariableId) -> &Variable {
        &self.all[variable]
    }
}

impl IndexMut<VariableId> for Variables {
    fn index_mut(&mut self, variable: VariableId) -> &mut Variable {
        &mut self.all[variable]
    }
}

impl Variables {
    /// All of them, for the program.
    pub(super) fn into_all(self) -> Arena<Variable> {
        self.all
    }

    /// Adds one.
    pub(super) fn add(&mut self, variable: Variable) -> VariableId {
        self.all.push(variable)
    }
}
