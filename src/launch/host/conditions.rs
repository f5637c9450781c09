//! What conditions say of the variables in them, where control has got past them: `if (pitch < width) return;`,
//! `if (n % 256) exit(1);`, `assert(n <= 1024)`.
//!
//! Comparisons, `&&`, `||`, `!` and numbers as conditions are read, and tests for powers of two; of `a && b` that does not
//! hold nothing is said, as of `a || b` that does. A condition that changes a variable says nothing.
//!
//! An assertion counts as stated, though a build may leave it out: the source says that it holds.
//!
//! Deliberately absent: conditions that hold in a variable, and what functions say.

use super::place::Place;
use super::ways::never_comes_back;
use crate::builtins::host;
use crate::syntax;
use crate::syntax::parts::path_text;

impl<'u> Place<'_, 'u> {
    /// Takes note of what a condition says that holds here, or does not.
    pub(super) fn assume_written(&mut self, cond: &'u syntax::Expr, truth: bool) {
        if self.changed.has_jumps || !self.changes_in(None, Some(cond)).is_empty() {
            return;
        }
        let cond = self.names.value(cond);
        self.reader().assume(&cond, truth);
    }

    /// Takes note of what an expression states for no other purpose: `assert(n <= 1024)`, and what becomes of it where a macro
    /// does the same.
    pub(super) fn assume_stated(&mut self, value: &'u syntax::Expr) {
        match &value.kind {
            syntax::ExprKind::Call(callee, args) => {
                if let ([cond], syntax::ExprKind::Path(path)) = (args.as_slice(), &callee.kind)
                    && host::asserts(&path_text(path))
                {
                    self.assume_written(cond, true);
                }
            }
            syntax::ExprKind::Conditional(cond, one, other) => match (never_comes_back(one), never_comes_back(other)) {
                (true, false) => self.assume_written(cond, false),
                (false, true) => self.assume_written(cond, true),
                _ => {}
            },
            syntax::ExprKind::Cast(_, _, inner) => self.assume_stated(inner),
            _ => {}
        }
    }
}
