//! The open blocks of a walk, the body of the kernel outermost.
//!
//! Guarantees: what is emitted stands in the innermost block, in order; the body is always open. Deliberately absent: what
//! statements mean, and which of them may be put together.

use crate::calculus::{ExprId, Stmt, VarId};

/// Statements of the calculus beyond which calls are no longer inlined.
const MAX_STATEMENTS: usize = 200_000;

/// The statements emitted so far that no other statement holds.
pub(super) struct Blocks {
    open: Vec<Vec<Stmt>>,
    emitted: usize,
}

impl Blocks {
    /// The body, empty.
    pub(super) fn new() -> Self {
        Blocks { open: vec![Vec::new()], emitted: 0 }
    }

    fn innermost(&mut self) -> &mut Vec<Stmt> {
        self.open.last_mut().expect("the body's block is open")
    }

    /// Adds a statement to the innermost block.
    pub(super) fn emit(&mut self, stmt: Stmt) {
        self.emitted += 1;
        self.innermost().push(stmt);
    }

    /// Adds statements that have been emitted before.
    pub(super) fn emit_again(&mut self, stmts: Vec<Stmt>) {
        self.innermost().extend(stmts);
    }

    /// Takes back the last statement of the innermost block if it assigns `var` by `let`, and returns the value.
    pub(super) fn take_back_let(&mut self, var: VarId) -> Option<ExprId> {
        let block = self.innermost();
        match block.last() {
            Some(&Stmt::Let { var: assigned, value }) if assigned == var => {
                block.pop();
                Some(value)
            }
            _ => None,
        }
    }

    /// The last statement of the innermost block.
    pub(super) fn last_statement(&self) -> Option<&Stmt> {
        self.open.last()?.last()
    }

    pub(super) fn begin(&mut self) {
        self.open.push(Vec::new());
    }

    pub(super) fn finish(&mut self) -> Vec<Stmt> {
        self.open.pop().expect("a block that was begun")
    }

    /// The number of open blocks.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// An open block, counted from the body of the kernel.
    pub(super) fn block(&self, depth: usize) -> &[Stmt] {
        &self.open[depth]
    }

    /// Puts statements into an open block.
    pub(super) fn put_in(&mut self, depth: usize, at: usize, stmts: Vec<Stmt>) {
        self.open[depth].splice(at..at, stmts);
    }

    /// Whether so much was emitted that nothing more should be inlined.
    pub(super) fn are_too_large(&self) -> bool {
        self.emitted > MAX_STATEMENTS
    }
}
