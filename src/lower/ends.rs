//! Calls that end their thread, and the launch with it: `__trap()`, `abort()`, a failing check, and those that may.
//!
//! A thread that comes to one sets a flag, and after every statement that may have set it stands that it is not set
//! ([`Basis::Passed`]): whoever goes on has not ended. So what follows `if (i >= n) __trap();` is known to have `i < n`, and
//! a run in which a thread ends is no witness of anything. Nothing else changes: no barrier is missed by who has ended,
//! since nobody comes past it then.
//!
//! Deliberately absent: what a thread did before it ended is kept, and may race.

use super::pass::Pass;
use crate::calculus::{Basis, HavocReason, ScalarType, Stmt, VarId};
use crate::source::Span;

/// The calls so far that end their thread.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Set by them.
    flag: Option<VarId>,
    count: u32,
}

impl Ends {
    /// How many there were so far.
    pub(super) fn count(&self) -> u32 {
        self.count
    }
}

impl Pass<'_> {
    /// The thread ends here.
    pub(super) fn end_thread(&mut self) {
        let flag = match self.ends.flag {
            Some(flag) => flag,
            None => self.temporary("ended", ScalarType::Bool),
        };
        self.ends.flag = Some(flag);
        self.ends.count += 1;
        self.set_flag(flag, 1);
    }

    /// What follows a statement before which there were so many such calls.
    pub(super) fn go_on_after(&mut self, before: u32, span: Span) {
        let Some(flag) = self.ends.flag.filter(|_| self.ends.count > before) else { return };
        let cond = self.negated(flag);
        self.emit(Stmt::Assume { cond, basis: Basis::Passed, span: Some(span) });
    }

    /// The same at the end of a turn of a loop: whoever begins the next one has not ended in this one.
    pub(super) fn next_turn_after(&mut self, before: u32, span: Span) {
        self.go_on_after(before, span);
        if let Some(flag) = self.ends.flag.filter(|_| self.ends.count > before) {
            self.set_flag(flag, 0);
        }
    }

    /// A function that is not defined, and whose value nobody uses, may be one that ends the thread.
    pub(super) fn may_not_return(&mut self, name: &str, span: Span) {
        let cond = self.havoc(ScalarType::Bool, HavocReason::Call(name.to_owned()), span);
        self.emit(Stmt::Assume { cond, basis: Basis::Passed, span: Some(span) });
    }

    /// The flag at the entry of the finished kernel.
    pub(super) fn nobody_has_ended(&mut self) {
        if let Some(flag) = self.ends.flag {
            let value = self.exprs().bool(false);
            self.kernel.body.insert(0, Stmt::Let { var: flag, value });
        }
    }
}
