//! Whether a value is the same for two threads, by its form.
//!
//! There are three questions of this kind, each with one answer to it. By form alone, at once and for threads in any
//! iterations of loops: here. For what unknown values, loops and barriers make of it: `protocol::uniform`. For the two
//! threads of one condition, in the iterations that it says: [`condition`](super::condition), by the values that they have.

use crate::calculus::{Expr, ExprId, GeometryVar};
use crate::memory_model::Level;
use crate::protocol::Protocol;

/// How sure it is that a value is the same for two threads; the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sameness {
    /// It is made of numbers, of parameters, and of ids and sizes that the threads have in common.
    OfNumbers,
    /// Also of constants that nothing is computed with.
    OfConstants,
    /// Also of what functions give for such.
    OfCalls,
    /// Ids in which the threads may differ stand in it, or variables.
    None,
}

/// Whether `value` is the same for two threads that stand to each other at `level`, whichever iterations they are in.
pub(super) fn by_form(protocol: &Protocol, value: ExprId, level: Level) -> Sameness {
    let mut sameness = Sameness::OfNumbers;
    protocol.exprs.visit(value, |_, node| {
        let own = match node {
            Expr::Var(_) | Expr::Geometry(GeometryVar::ThreadIdx(_)) => Sameness::None,
            Expr::Geometry(GeometryVar::BlockIdx(_)) if !level.is_one_block() => Sameness::None,
            Expr::Call(..) => Sameness::OfCalls,
            Expr::Opaque(..) => Sameness::OfConstants,
            _ => Sameness::OfNumbers,
        };
        sameness = sameness.max(own);
    });
    sameness
}
