//! Branches that decide whether a work-item comes to a barrier: before one is taken, the work-items of a group agree on it.
//!
//! A driver for CPUs runs the work-items of a group one after the other, from barrier to barrier, and takes for granted that
//! all of them take the way of the first. Where they do not, it hangs, crashes or computes something else, and what a
//! log says of barriers then is what the driver made of them. So the condition of every branch that leads to a barrier,
//! or away from one, goes through `raceproof_agree` (`runtime/opencl/raceproof.cl`): all work-items come there,
//! and it tells those that part. From there on they go the first one's way, and log no more.
//!
//! - `if`, loops and `switch` that hold a barrier, or a call of a function that does.
//! - `if` and `switch` that hold a `return`, `break` or `continue` past a barrier. OpenCL waits for work-items that have
//!   returned.
//!
//! Deliberately absent: jumps past a barrier from inside a loop that holds none, since its work-items need not run it
//! equally often; `goto`; operators that choose whether an operand is evaluated. What they do to barriers, the records of
//! the barriers tell where the driver let them.

use super::Translator;
use crate::builtins::functions::function;
use crate::builtins::{Builtin, Copying};
use crate::calculus::SyncScope;
use crate::source::{Language, Span};
use crate::syntax::parts::{exprs_of_stmt, stmts_in, visit};
use crate::syntax::{Expr, ExprKind, ItemKind, Stmt, StmtKind, Unit};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// Which value of a condition leads to the barrier, as the runtime numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// Zero.
    Zero = 0,
    /// Anything else.
    Nonzero = 1,
    /// Different values lead to different ones.
    Each = 2,
}

/// What a branch decides about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branch {
    leads: Leads,
    /// The barrier that is nearest in the text.
    barrier: Span,
}

/// A statement that `break` or `continue` leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    is_loop: bool,
    /// The first barrier in it.
    barrier: Option<Span>,
}

/// Where the walk through a function stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    /// Its barriers, by their first tokens, in the order of the text.
    barriers: Vec<(usize, Span)>,
    /// The loops and `switch` statements around, outermost first.
    around: Vec<Around>,
    /// Whether work-items may stand here alone.
    is_alone: bool,
}

/// The functions that hold a barrier, themselves or in what they call.
pub(super) fn functions_with_barriers(unit: &Unit) -> FxHashSet<&str> {
    let mut bodies: Vec<(&str, Vec<&str>)> = Vec::new();
    for item in &unit.items {
        let ItemKind::Function(syntax) = &item.kind else { continue };
        let mut called = Vec::new();
        for expr in syntax.body.iter().flatten().flat_map(exprs_of_stmt) {
            visit(expr, |part| called.extend(callee(part)));
        }
        bodies.push((syntax.name(), called));
    }
    let mut found: FxHashSet<&str> = FxHashSet::default();
    loop {
        let known = found.len();
        let holds = |called: &[&str]| called.iter().any(|name| found.contains(name) || is_barrier(name));
        let new: Vec<&str> = bodies.iter().filter(|(_, called)| holds(called)).map(|(name, _)| *name).collect();
        found.extend(new);
        if found.len() == known {
            return found;
        }
    }
}

/// The name of the function that an expression calls.
fn callee(expr: &Expr) -> Option<&str> {
    let ExprKind::Call(callee, _) = &expr.kind else { return None };
    let ExprKind::Path(path) = &callee.kind else { return None };
    path.segments.last().map(|segment| segment.name.text.as_str())
}

fn is_barrier(name: &str) -> bool {
    match function(Language::OpenCl, name).map(|meaning| meaning.builtin) {
        Some(Builtin::Barrier { scope, .. }) => scope != SyncScope::Warp,
        Some(Builtin::Copying(Copying::WaitEvents)) => true,
        _ => false,
    }
}

/// A jump that leaves what it stands in, and where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Jump {
    Return,
    Break,
    Continue,
}

/// The jumps that leave a statement, with their tokens.
fn jumps_out(statement: &Stmt) -> Vec<Jump> {
    let mut found = Vec::new();
    let mut open = vec![(statement, false, false)];
    while let Some((statement, in_loop, in_switch)) = open.pop() {
        match statement.kind {
            StmtKind::Return(_) => found.push(Jump::Return),
            StmtKind::Break if !in_loop && !in_switch => found.push(Jump::Break),
            StmtKind::Continue if !in_loop => found.push(Jump::Continue),
            _ => {}
        }
        let is_loop = matches!(statement.kind, StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::Do { .. });
        let is_switch = matches!(statement.kind, StmtKind::Switch { .. });
        open.extend(stmts_in(statement).into_iter().map(|inner| (inner, in_loop || is_loop, in_switch || is_switch)));
    }
    found
}

impl<'a> Translator<'a> {
    /// Begins a function.
    pub(super) fn enter_course(&mut self, body: &'a [Stmt]) {
        let mut barriers: Vec<(usize, Span)> = body.iter().flat_map(|statement| self.barriers_in(statement)).collect();
        barriers.sort_by_key(|barrier| barrier.0);
        self.course = Course { barriers, ..Course::default() };
    }

    /// The barriers in a statement, and calls of functions that hold one.
    fn barriers_in(&self, statement: &Stmt) -> Vec<(usize, Span)> {
        let mut found = Vec::new();
        for expr in exprs_of_stmt(statement) {
            visit(expr, |part| {
                let Some(name) = callee(part) else { return };
                let is_it =
                    if self.functions.contains_key(name) { self.holding.contains(name) } else { is_barrier(name) };
                if let Some(range) = self.tokens.range(part.span).filter(|_| is_it) {
                    found.push((range.start, part.span));
                }
            });
        }
        found
    }

    fn first_barrier_in(&self, statement: &Stmt) -> Option<Span> {
        self.barriers_in(statement).into_iter().min_by_key(|barrier| barrier.0).map(|barrier| barrier.1)
    }

    /// The barrier that a jump in this statement leads past.
    fn passed_by_jumps(&self, statement: &Stmt) -> Option<Span> {
        let end = self.tokens.range(statement.span)?.end;
        let course = &self.course;
        jumps_out(statement).into_iter().find_map(|jump| match jump {
            Jump::Return => {
                let later = course.barriers.iter().find(|barrier| barrier.0 >= end).map(|barrier| barrier.1);
                later.or_else(|| course.around.iter().rev().find_map(|around| around.barrier))
            }
            Jump::Break => course.around.last()?.barrier,
            Jump::Continue => course.around.iter().rev().find(|around| around.is_loop)?.barrier,
        })
    }

    /// What the condition of a statement decides about, if that is whether a barrier is come to.
    pub(super) fn branch(&self, statement: &Stmt) -> Option<Branch> {
        let of = |leads, barrier| Some(Branch { leads, barrier });
        match &statement.kind {
            StmtKind::If { then, otherwise, .. } => {
                let holds = [Some(&**then), otherwise.as_deref()]
                    .map(|branch| branch.and_then(|branch| self.first_barrier_in(branch)));
                match holds {
                    [Some(barrier), Some(_)] => return of(Leads::Each, barrier),
                    [Some(barrier), None] => return of(Leads::Nonzero, barrier),
                    [None, Some(barrier)] => return of(Leads::Zero, barrier),
                    [None, None] => {}
                }
                let passes = [Some(&**then), otherwise.as_deref()]
                    .map(|branch| branch.and_then(|branch| self.passed_by_jumps(branch)));
                match passes {
                    [Some(barrier), Some(_)] => of(Leads::Each, barrier),
                    [Some(barrier), None] => of(Leads::Zero, barrier),
                    [None, Some(barrier)] => of(Leads::Nonzero, barrier),
                    [None, None] => None,
                }
            }
            StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::Do { .. } => {
                of(Leads::Nonzero, self.first_barrier_in(statement)?)
            }
            StmtKind::Switch { body, .. } => {
                of(Leads::Each, self.first_barrier_in(body).or_else(|| self.passed_by_jumps(body))?)
            }
            _ => None,
        }
    }

    /// The condition of `do … while (…)` stands in the tree with its parentheses, which stay outside.
    fn inside_parentheses(&self, range: Range<usize>) -> Range<usize> {
        let is_own = range.start > 0 && self.tokens.text(range.start - 1) == "while";
        match self.tokens.partner(range.start) {
            Some(close) if is_own && close + 1 == range.end => range.start + 1..close,
            _ => range,
        }
    }

    /// Puts the agreement around a condition; what stands in the statement is walked by `walk`.
    pub(super) fn agreeing(&mut self, statement: &'a Stmt, cond: Option<&'a Expr>, walk: impl FnOnce(&mut Self)) {
        let is_loop = matches!(statement.kind, StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::Do { .. });
        let is_switch = matches!(statement.kind, StmtKind::Switch { .. });
        let branch = self.branch(statement).filter(|_| !self.course.is_alone);
        let range = cond.and_then(|cond| self.tokens.range(cond.span)).map(|range| self.inside_parentheses(range));
        // Without a condition a loop goes on for all.
        let agrees = branch.is_some() && (cond.is_none() || range.is_some());
        if let (Some(Branch { leads, barrier }), Some(range)) = (branch, range) {
            let number = self.shared.barriers.len();
            self.shared.barriers.push(self.tokens.place_of(barrier));
            // A condition may be a pointer or a floating-point number.
            let after = if is_switch { "))" } else { ") ? 1 : 0)" };
            let before = format!("raceproof_agree(raceproof_self, {number}, {}, (", leads as u32);
            self.edits.wrap(range, before, after);
        }
        let before = self.course.is_alone;
        self.course.is_alone |= !agrees && (is_loop || branch.is_some());
        if is_loop || is_switch {
            let barrier = self.first_barrier_in(statement);
            self.course.around.push(Around { is_loop, barrier });
        }
        walk(self);
        if is_loop || is_switch {
            self.course.around.pop();
        }
        self.course.is_alone = before;
    }
}
