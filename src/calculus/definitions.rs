//! Variables that are assigned once, and what values are without them.
//!
//! Deliberately absent: variables that are assigned in several places, or by anything but an expression; they stay.

use super::statements::every;
use super::{Expr, ExprId, Exprs, Kernel, Stmt, VarId};
use rustc_hash::FxHashMap;

/// Variables that stand for others are followed so far.
const MOST_STEPS: usize = 16;

/// One way in which a variable gets its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// An expression.
    Value(ExprId),
    /// It may have any value.
    Unknown,
    /// A read, an atomic or a loop.
    Other,
}

/// How the variables of a kernel get their values.
pub struct Definitions {
    of: FxHashMap<VarId, Vec<Definition>>,
}

impl Definitions {
    /// Those of a kernel.
    pub fn of(kernel: &Kernel) -> Self {
        let mut definitions = Definitions { of: FxHashMap::default() };
        every(&kernel.body, |stmt| match stmt {
            Stmt::Let { var, value } => definitions.add(*var, Definition::Value(*value)),
            Stmt::Havoc { var, .. } => definitions.add(*var, Definition::Unknown),
            Stmt::Read { var, .. } | Stmt::Atomic { var: Some(var), .. } => definitions.add(*var, Definition::Other),
            Stmt::For(each) => definitions.add(each.var, Definition::Other),
            _ => {}
        });
        definitions
    }

    fn add(&mut self, var: VarId, definition: Definition) {
        self.of.entry(var).or_default().push(definition);
    }

    /// All ways in which a variable gets its value.
    pub fn all(&self, var: VarId) -> &[Definition] {
        self.of.get(&var).map_or(&[], Vec::as_slice)
    }

    /// The value without variables that are assigned once.
    pub fn inlined(&self, exprs: &mut Exprs, root: ExprId) -> ExprId {
        let mut value = root;
        for _ in 0..MOST_STEPS {
            let next = exprs.substitute(value, |node| match node {
                Expr::Var(var) => match self.all(*var) {
                    [Definition::Value(value)] => Some(*value),
                    _ => None,
                },
                _ => None,
            });
            if next == value {
                break;
            }
            value = next;
        }
        value
    }
}
