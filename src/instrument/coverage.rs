//! Points of coverage: where the instrumented text counts what a test reaches of device code.
//!
//! - a [`PointKind::Run`] is a run of statements of which all are executed if the first is;
//! - a [`PointKind::Branch`] is the condition of an `if` or of `?:`;
//! - a [`PointKind::Loop`] is a loop, whose turns are counted each time that it is executed;
//! - a [`PointKind::Barrier`] is a call that waits for the threads of a block, or of another group;
//! - a [`PointKind::Comparison`] is a comparison in a condition, of which the runtime keeps how near its operands came to each other. Only text
//!   that looks for inputs has these ([`Purpose::Search`](super::Purpose)).
//!
//! Guarantees: each condition is evaluated once, and the program does what it did without the points.
//!
//! What would have a point and gets none is named ([`Instrumented::uncounted`](super::Instrumented)): functions that may be evaluated while the
//! program is compiled (`constexpr`), conditions that declare a variable, loops that are jumped into, macros that
//! cannot be taken apart; of OpenCL C also conditions of `?:` that may be vectors.
//!
//! Deliberately absent: `switch` (the statements behind each label are runs), operands of `&&` and `||`, and code of the host.
//! A thread that is ended inside of a function that it calls counts as if it had come back.

use super::mutants::{is_comparison, sign};
use super::notes::Notes;
use super::token_edits::TokenEdits;
use super::tokens::Tokens;
use crate::source::{Language, Span};
use crate::syntax::parts::stmts_in;
use crate::syntax::{BinaryOp, Expr, ExprKind, Stmt, StmtKind, UnaryOp};

/// Something that a test reaches or does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// What kind of thing, and what belongs to it.
    pub kind: PointKind,
    /// Where.
    pub span: Span,
    /// The kernel or device function that holds it.
    pub function: String,
}

/// Kinds of points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointKind {
    /// Statements, by where each begins.
    Run(Vec<Span>),
    /// A condition.
    Branch,
    /// A loop.
    Loop {
        /// Whether it may be executed without a turn: `do` has one at least, and so has `for (;;)`.
        may_be_skipped: bool,
    },
    /// A barrier.
    Barrier,
    /// A comparison in the condition of a branch or a loop.
    Comparison {
        /// The number of the branch, or the loop.
        of: usize,
        /// What is compared.
        op: BinaryOp,
    },
}

/// Who puts the points into the text.
pub(super) struct Counters<'c, 'a> {
    /// What the text is written in: the counting functions of each runtime have their own names.
    pub(super) language: Language,
    pub(super) tokens: &'a Tokens<'a>,
    pub(super) edits: &'c mut TokenEdits,
    pub(super) notes: &'c mut Notes<'a>,
    /// Whether comparisons are points, too.
    pub(super) compares: bool,
}

impl<'a> Counters<'_, 'a> {
    /// Counts how a condition comes out. One that is declared in its parentheses is left alone.
    pub(super) fn branch(&mut self, cond: &'a Expr, declared: Option<&'a Stmt>) {
        let Some(range) = self.tokens.range(cond.span) else { return self.apart(cond.span) };
        let declaration = declared.and_then(|declared| self.tokens.range(declared.span));
        if declaration.is_some_and(|declaration| range.start < declaration.end) {
            return self.notes.leave_uncounted(cond.span, "a condition that declares a variable");
        }
        let number = self.notes.point(PointKind::Branch, cond.span);
        match self.language {
            Language::Cuda => self.edits.wrap(range, format!("::raceproof::branch({number}, bool(("), ")))"),
            // C has conditions of many types, and none of its own.
            Language::OpenCl => {
                self.edits.wrap(range, format!("raceproof_branch(raceproof_self, {number}, (("), ") ? 1 : 0))");
            }
        }
        // What is wrapped later stands inside.
        self.comparisons(number, cond);
    }

    /// Counts the turns of a loop. Its body is made a block.
    pub(super) fn turns(&mut self, statement: &'a Stmt, cond: Option<&'a Expr>, body: &'a Stmt) {
        // A block with an object in it cannot be jumped into.
        if holds_label(body) {
            return self.notes.leave_uncounted(statement.span, "a loop that holds a label of a `switch` around it");
        }
        let (Some(whole), Some(turn)) = (self.tokens.range(statement.span), self.tokens.range(body.span)) else {
            return self.apart(statement.span);
        };
        let may_be_skipped = !matches!(statement.kind, StmtKind::Do { .. } | StmtKind::For { cond: None, .. });
        let number = self.notes.point(PointKind::Loop { may_be_skipped }, statement.span);
        if let Some(cond) = cond {
            self.comparisons(number, cond);
        }
        let (around, at_turn) = match self.language {
            Language::Cuda => (
                format!("::raceproof::covered_loop raceproof_loop_{number}({number});"),
                format!("raceproof_loop_{number}.turn();"),
            ),
            Language::OpenCl => (
                format!("uint raceproof_turns_{number} = 0; raceproof_loop(raceproof_self, {number});"),
                format!("raceproof_turn(raceproof_self, {number}, raceproof_turns_{number}++);"),
            ),
        };
        self.edits.wrap(whole, format!("{{ {around} "), " }");
        self.edits.wrap(turn, format!("{{ {at_turn} "), " }");
    }

    /// Has the comparisons of a condition tell how near their operands come to each other.
    fn comparisons(&mut self, of: usize, cond: &'a Expr) {
        if !self.compares {
            return;
        }
        let mut open = vec![cond];
        while let Some(part) = open.pop() {
            match &part.kind {
                ExprKind::Unary(UnaryOp::Not, inner) => open.push(inner),
                ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => open.extend([&**right, &**left]),
                ExprKind::Binary(op, left, right) if is_comparison(*op) => {
                    self.comparison(of, part, *op, [left, right])
                }
                _ => {}
            }
        }
    }

    fn comparison(&mut self, of: usize, whole: &'a Expr, op: BinaryOp, operands: [&'a Expr; 2]) {
        let Some(range) = self.tokens.range(whole.span) else { return };
        let range = self.tokens.without_parentheses(range);
        let Some(at) = self.tokens.operator_of(range.clone(), sign(op).0, operands.map(|operand| operand.span)) else {
            return;
        };
        let number = self.notes.point(PointKind::Comparison { of, op }, whole.span);
        let name = sign(op).1;
        self.edits.wrap(range, format!("::raceproof::compared({number}, ::raceproof::op::{name}(), "), ")");
        self.edits.replace(at..at + 1, ",");
    }

    /// Counts who comes to a barrier.
    pub(super) fn barrier(&mut self, call: &'a Expr) {
        let Some(range) = self.tokens.range(call.span) else { return self.apart(call.span) };
        let number = self.notes.point(PointKind::Barrier, call.span);
        let (before, after) = match self.language {
            Language::Cuda => (format!("::raceproof::at_barrier({number})"), ")".to_owned()),
            Language::OpenCl => (
                format!("raceproof_arrive(raceproof_self, {number})"),
                format!(", raceproof_pass(raceproof_self, {number}))"),
            ),
        };
        self.edits.wrap(range, format!("({before}, "), after);
    }

    /// The same for a barrier of OpenCL C at which fewer work-items wait than a group has.
    pub(super) fn narrow_barrier(&mut self, call: &'a Expr) {
        let Some(range) = self.tokens.range(call.span) else { return self.apart(call.span) };
        let number = self.notes.point(PointKind::Barrier, call.span);
        self.edits.wrap(range, format!("(raceproof_arrive_alone(raceproof_self, {number}), "), ")");
    }

    /// The statement that counts an execution.
    fn reached(&self, number: usize) -> String {
        match self.language {
            Language::Cuda => format!("::raceproof::reached({number});"),
            Language::OpenCl => format!("raceproof_reached(raceproof_self, {number});"),
        }
    }

    fn apart(&mut self, span: Span) {
        self.notes.leave_uncounted(span, "code in a macro that cannot be taken apart");
    }

    /// Counts how often the runs of a block are executed. With each statement stands whether a thread may stay in it for good.
    pub(super) fn runs(&mut self, statements: impl Iterator<Item = (&'a Stmt, bool)>) {
        let mut run: Vec<&Stmt> = Vec::new();
        for (statement, may_stay) in statements {
            // What stands before a label is not what comes to it.
            if matches!(statement.kind, StmtKind::Case(_)) || self.is_labelled(statement) {
                self.one_run(&std::mem::take(&mut run));
                continue;
            }
            run.push(statement);
            if may_stay || may_end_a_run(statement) {
                self.one_run(&std::mem::take(&mut run));
            }
        }
        self.one_run(&run);
    }

    /// Whether something can be jumped to: the tree has no labels, so their colon is looked for.
    fn is_labelled(&self, statement: &Stmt) -> bool {
        let start = self.tokens.range(statement.span).map_or(0, |range| range.start);
        start > 0 && self.tokens.text(start - 1) == ":"
    }

    fn one_run(&mut self, run: &[&'a Stmt]) {
        let is_code = |statement: &&&Stmt| !matches!(statement.kind, StmtKind::Empty | StmtKind::Block(_));
        let spans: Vec<Span> = run.iter().filter(is_code).map(|statement| statement.span).collect();
        let Some(first) = run.first().filter(|_| !spans.is_empty()) else { return };
        let Some(range) = self.tokens.range(first.span) else { return self.apart(first.span) };
        let number = self.notes.point(PointKind::Run(spans), first.span);
        self.edits.wrap(range, format!("{} ", self.reached(number)), "");
    }

    /// The same for a branch, or a body, that is no block.
    pub(super) fn alone(&mut self, statement: &'a Stmt) {
        if matches!(statement.kind, StmtKind::Block(_) | StmtKind::Empty) {
            return;
        }
        let Some(range) = self.tokens.range(statement.span) else { return self.apart(statement.span) };
        let number = self.notes.point(PointKind::Run(vec![statement.span]), statement.span);
        self.edits.wrap(range, format!("{{ {} ", self.reached(number)), " }");
    }
}

/// Whether a label of a `switch` around it stands in a statement.
fn holds_label(statement: &Stmt) -> bool {
    let mut open = vec![statement];
    while let Some(statement) = open.pop() {
        match statement.kind {
            StmtKind::Case(_) => return true,
            StmtKind::Switch { .. } => {}
            _ => open.extend(stmts_in(statement)),
        }
    }
    false
}

/// Whether what follows a statement may be executed less often.
fn may_end_a_run(statement: &Stmt) -> bool {
    let mut open = vec![statement];
    while let Some(statement) = open.pop() {
        let leaves = matches!(
            statement.kind,
            StmtKind::Return(_)
                | StmtKind::Break
                | StmtKind::Continue
                | StmtKind::Unsupported(_)
                | StmtKind::Asm { .. }
        );
        if leaves {
            return true;
        }
        open.extend(stmts_in(statement));
    }
    false
}
