//! What syntax has no node for, kept beside the tree by its range.
//!
//! The tree says [`Unsupported`](super::ExprKind::Unsupported) there, and a checker has to take it at its word. A
//! room that only needs to reach the expressions inside, such as the instrumenter, finds them here.
//!
//! Deliberately absent: anything that no expression stands in (`goto`, `alignof`).

use super::{Expr, Param, Stmt};
use crate::source::Span;

/// The parts of one construct for which the tree has no node.
#[derive(Clone, Debug)]
pub struct Aside {
    /// The whole construct, as the tree's own node has it.
    pub span: Span,
    /// What it is.
    pub kind: AsideKind,
}

/// The kinds of [`Aside`].
#[derive(Clone, Debug)]
pub enum AsideKind {
    /// `[captures](params) { body }`
    Lambda {
        /// The values of captures that state one.
        captures: Vec<Expr>,
        /// Parameters.
        params: Vec<Param>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// Expressions that are evaluated for their value, in order: of `new T(a, b)`, `throw e`, `p...`.
    Values(Vec<Expr>),
    /// Statements: of a `try` block and its handlers, of `({ … })`, of a declaration in a condition.
    Statements(Vec<Stmt>),
}
