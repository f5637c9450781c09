//! Loops that go on until an atomic finds what they wait for, and what conditions say of the number that it found.
//!
//! ```text
//! while (atomic(…) == 0) ;      found = atomic(…); while (found == 0) found = atomic(…);
//! ```
//!
//! Deliberately absent: what the atomic does and which cell it is made at; the caller says.

use crate::calculus::{BinaryOp, Expr, ExprId, UnaryOp, VarId};
use crate::protocol::{AccessId, Lock, Loop, Node, Origin, Protocol};

/// Depth of conditions that are looked at.
const DEPTH: u32 = 24;

/// An atomic that stands for itself, and the variable that says what it found.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// The atomic.
    pub(super) id: AccessId,
    /// What it found.
    pub(super) var: VarId,
}

impl Found {
    /// The atomic that a node is, if it does `does` to a lock or a flag.
    pub(super) fn by(protocol: &Protocol, node: &Node, does: Lock) -> Option<Found> {
        let &Node::Access(id) = node else { return None };
        let access = &protocol.accesses[id];
        if access.lock != Some(does) {
            return None;
        }
        let is_its = |origin: &Origin| matches!(origin, Origin::Atomic { site, .. } if *site == access.site);
        let var = protocol.opaques.iter().find(|(_, opaque)| is_its(&opaque.origin))?.1.var;
        Some(Found { id, var })
    }
}

/// What a number that was found may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// 0.
    Zero,
    /// Another one.
    Other,
}

/// The atomics of which the last one has found such a number when a loop is over: one in the loop, which is all that it
/// does, and perhaps one just before.
pub(super) fn ends(
    protocol: &Protocol,
    (around, body, before): (&Loop, &[Node], &[Node]),
    does: Lock,
    number: Number,
) -> Option<Vec<AccessId>> {
    let [node] = body else { return None };
    let inside = Found::by(protocol, node, does)?;
    if !says(protocol, around.continues, Truth::Fails, inside.var, number) {
        return None;
    }
    let exprs = &protocol.exprs;
    if exprs.as_int(around.guard) == Some(1) {
        return Some(vec![inside.id]);
    }
    // The first iteration asks what the atomic before the loop found; the others have no other test.
    let first = Found::by(protocol, before.last()?, does)?;
    let Expr::Binary(BinaryOp::Or, a, b) = exprs[around.guard] else { return None };
    let is_later = |cond: ExprId| match exprs[cond] {
        Expr::Binary(BinaryOp::Ne, a, b) => {
            let is = |a: ExprId, b: ExprId| exprs[a] == Expr::Var(around.iteration) && exprs.as_int(b) == Some(0);
            is(a, b) || is(b, a)
        }
        _ => false,
    };
    let asks_first = |cond: ExprId| says(protocol, cond, Truth::Fails, first.var, number);
    (is_later(a) && asks_first(b) || is_later(b) && asks_first(a)).then(|| vec![first.id, inside.id])
}

/// Whether a condition holds or fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Holds,
    Fails,
}

impl Truth {
    /// The other one.
    fn negated(self) -> Truth {
        match self {
            Truth::Holds => Truth::Fails,
            Truth::Fails => Truth::Holds,
        }
    }
}

/// Whether that a condition holds, or fails, says that a variable is such a number.
pub(super) fn says(protocol: &Protocol, cond: ExprId, truth: Truth, var: VarId, number: Number) -> bool {
    Said { protocol, var, number }.by(cond, truth, DEPTH)
}

/// What is asked of a condition.
struct Said<'p> {
    protocol: &'p Protocol,
    var: VarId,
    number: Number,
}

impl Said<'_> {
    fn by(&self, cond: ExprId, truth: Truth, depth: u32) -> bool {
        use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
        let Some(depth) = depth.checked_sub(1) else { return false };
        let holds = truth == Truth::Holds;
        match self.protocol.exprs[cond] {
            Expr::Unary(UnaryOp::Not, inner) => self.by(inner, truth.negated(), depth),
            Expr::Binary(op @ (And | Or), a, b) if (op == And) == holds => {
                self.by(a, truth, depth) || self.by(b, truth, depth)
            }
            Expr::Binary(op @ (Eq | Ne | Lt | Le | Gt | Ge), a, b) => match self.number {
                Number::Zero => (op == Eq) == holds && matches!(op, Eq | Ne) && self.is_with_zero(a, b),
                Number::Other => self.excludes_zero(op, (a, b), truth),
            },
            _ => false,
        }
    }

    /// Whether the variable is compared with 0. What it is converted to may be 0 where it is not.
    fn is_with_zero(&self, a: ExprId, b: ExprId) -> bool {
        let exprs = &self.protocol.exprs;
        let is = |a: ExprId, b: ExprId| exprs[a] == Expr::Var(self.var) && exprs.as_int(b) == Some(0);
        is(a, b) || is(b, a)
    }

    /// Whether the variable is compared with a number in a way that 0 would not pass.
    fn excludes_zero(&self, op: BinaryOp, (a, b): (ExprId, ExprId), truth: Truth) -> bool {
        use BinaryOp::{Eq, Gt, Le, Lt, Ne};
        let exprs = &self.protocol.exprs;
        let (op, value, number) = match (exprs.as_int(a), exprs.as_int(b)) {
            (None, Some(number)) => (op, a, number),
            (Some(number), None) => (op.mirrored().unwrap_or(op), b, number),
            _ => return false,
        };
        // Whatever 0 is converted to is 0.
        let mut found = value;
        while let Expr::Convert(_, inner) = exprs[found] {
            found = inner;
        }
        let zero_passes = match op {
            Eq => 0 == number,
            Ne => 0 != number,
            Lt => 0 < number,
            Le => 0 <= number,
            Gt => 0 > number,
            _ => 0 >= number,
        };
        exprs[found] == Expr::Var(self.var) && zero_passes != (truth == Truth::Holds)
    }
}
