//! What votes and reductions say of what the thread itself puts in: VOTE.
//!
//! ```text
//! if (__all_sync(~0u, i < n)) out[i] = …;            // then `i < n`
//! most = __reduce_max_sync(~0u, v);                  // then `v <= most`, in each thread
//! if (__match_all_sync(~0u, row, &yes)) out[row] …   // then `row` is the same for the warp
//! ```
//!
//! What such a call gives is not known, but the thread is one of those that were asked (CUDA programming guide, warp vote,
//! match and reduce functions; a thread whose mask does not name it must not call): its own yes makes an "any" true, an
//! "all" says that its own answer was yes, a least value is not above its own. That is noted behind the call as
//! [`Basis::Given`]. Where all threads put in the same, that comes out (`src/settle/shuffles.rs`).
//!
//! *Trap.* A vote asks for an `int`, and `1L << 32` is none that is true. An "any" says nothing of one's own answer, nor "not all"; a least value of signed numbers is a signed one; what
//! two calls give is the same for the warp, but not the same number.
//!
//! Deliberately absent: sums and counts as numbers; single bits of masks (`src/settle/masks.rs` knows whom they name);
//! floating point, in which nobody counts places.

use super::pass::Pass;
use super::value::Value;
use crate::builtins::{Made, Operation};
use crate::calculus::{Basis, BinaryOp, ExprId, HavocReason, ScalarType, Stmt, SyncScope};
use crate::source::Span;

/// What is made of what the threads put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vote {
    /// Whether one says yes, or who, or how many do.
    Any,
    /// Whether all say yes.
    All,
    /// Whether all say the same.
    Unanimous,
    /// Who has the value of the thread itself.
    Alike,
    /// Whether all have the same value, or who they are if so.
    AllAlike,
    /// The least number.
    Least,
    /// The greatest number.
    Most,
    /// The bits that all have.
    CommonBits,
    /// The bits that one has.
    AllBits,
}

impl Vote {
    /// What says something of the thread's own value; `told` is what the function object of a reduction does.
    pub(super) fn of(made: Made, told: Option<Operation>) -> Option<Self> {
        let operation = match made {
            Made::Any | Made::Ballot | Made::Count => return Some(Vote::Any),
            Made::All => return Some(Vote::All),
            Made::Unanimous => return Some(Vote::Unanimous),
            Made::MatchAny => return Some(Vote::Alike),
            Made::MatchAll => return Some(Vote::AllAlike),
            Made::Reduced(operation) => operation,
            Made::ReducedBy => told?,
            Made::Shuffle(_) | Made::Broadcast | Made::Scan => return None,
        };
        match operation {
            Operation::Min => Some(Vote::Least),
            Operation::Max => Some(Vote::Most),
            Operation::And => Some(Vote::CommonBits),
            Operation::Or => Some(Vote::AllBits),
            Operation::Add | Operation::Xor => None,
        }
    }

    /// Whether it is asked for a truth.
    pub(super) fn is_of_truths(self) -> bool {
        matches!(self, Vote::Any | Vote::All | Vote::Unanimous)
    }

    /// Whether it gives what the threads have put in if all put in the same.
    pub(super) fn gives_back(self) -> bool {
        !matches!(self, Vote::Unanimous | Vote::Alike | Vote::AllAlike)
    }
}

impl Pass<'_> {
    /// Notes what `given` says of what the thread has put in; `scope` is whom it is the same for.
    pub(super) fn note_vote(&mut self, vote: Vote, own: ExprId, given: &Value, scope: Option<SyncScope>, span: Span) {
        let &Value::Scalar(given) = given else { return };
        let own = if vote.is_of_truths() { self.asked(own) } else { own };
        let [ty, of_own] = [given, own].map(|value| self.kernel.exprs.ty(value));
        let is_number = matches!(ty, ScalarType::Int { .. });
        let is_like_own = is_number && ty == of_own;
        let is_unsigned = matches!(ty, ScalarType::Int { signed: false, .. });
        let cond = match vote {
            _ if !is_number => None,
            Vote::Any => {
                let said = self.coerce(given, ScalarType::Bool);
                Some(self.implies(own, said))
            }
            Vote::All => {
                let said = self.coerce(given, ScalarType::Bool);
                Some(self.implies(said, own))
            }
            Vote::Alike => Some(self.coerce(given, ScalarType::Bool)),
            Vote::AllAlike if of_own.range().is_none() => None,
            Vote::Unanimous | Vote::AllAlike => scope.map(|scope| {
                let shared = self.havoc(of_own, HavocReason::Common(scope, "what all have".to_owned()), span);
                let is_it = self.exprs().binary(BinaryOp::Eq, own, shared);
                let said = self.coerce(given, ScalarType::Bool);
                self.implies(said, is_it)
            }),
            Vote::Least if is_like_own => Some(self.exprs().binary(BinaryOp::Le, given, own)),
            Vote::Most if is_like_own => Some(self.exprs().binary(BinaryOp::Le, own, given)),
            // Fewer bits are no greater number, if none of them is a sign.
            Vote::CommonBits if is_like_own && is_unsigned => Some(self.exprs().binary(BinaryOp::Le, given, own)),
            Vote::AllBits if is_like_own && is_unsigned => Some(self.exprs().binary(BinaryOp::Le, own, given)),
            Vote::Least | Vote::Most | Vote::CommonBits | Vote::AllBits => None,
        };
        if let Some(cond) = cond {
            self.emit(Stmt::Assume { cond, basis: Basis::Given, span: Some(span) });
        }
    }

    /// The truth that a vote is asked. Its parameter is an `int`: of a wider number its low bits, of `0.5f` zero.
    pub(super) fn asked(&mut self, own: ExprId) -> ExprId {
        let is_narrow = match self.kernel.exprs.ty(own) {
            ScalarType::Bool => true,
            ScalarType::Int { width, .. } => width <= 32,
            _ => false,
        };
        let own = if is_narrow { own } else { self.coerce(own, ScalarType::I32) };
        self.coerce(own, ScalarType::Bool)
    }

    fn implies(&mut self, one: ExprId, other: ExprId) -> ExprId {
        let not = self.exprs().not(one);
        self.exprs().or(not, other)
    }
}
