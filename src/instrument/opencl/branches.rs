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

use crate::builtins::functions::function;
use crate::builtins::{Builtin, Copying};
use crate::calculus::SyncScope;
use crate::instrument::tokens::Tokens;
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
struct Branch {
    leads: Leads,
    /// The barrier that is nearest in the text.
    barrier: Span,
}

/// What work-items agree on before they go on.
#[derive(Clone, Debug)]
pub(super) struct Agreement {
    /// The tokens of the condition.
    pub(super) condition: Range<usize>,
    /// Which value of it leads to the barrier.
    pub(super) leads: Leads,
    /// The barrier that is nearest in the text.
    pub(super) barrier: Span,
    /// Whether each value has a way of its own.
    pub(super) is_switch: bool,
}

impl Agreement {
    /// The value that leads to the barrier that it is told with, where others lead to other barriers.
    pub(super) fn leads_to_this_one(&self) -> u32 {
        // That of an `if` stands in its first branch, if that has one.
        if self.leads == Leads::Each && !self.is_switch { Leads::Nonzero as u32 } else { self.leads as u32 }
    }
}

/// A statement around the place of the walk.
#[derive(Clone, Copy, Debug)]
struct Around {
    is_loop: bool,
    is_left_by_break: bool,
    /// Whether work-items may go in without the others.
    is_alone: bool,
    /// The first barrier in it, if jumps lead out of it.
    barrier: Option<Span>,
}

/// Where the walk through a function stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Course<'a> {
    /// The functions of the unit, and those that hold a barrier, themselves or in what they call.
    functions: FxHashSet<&'a str>,
    holding: FxHashSet<&'a str>,
    /// The bodies of the functions that the walk has come to.
    pub(super) bodies: Vec<Span>,
    /// Barriers of the function, by their first tokens, in the order of the text.
    barriers: Vec<(usize, Span)>,
    /// The statements with conditions around, outermost first.
    around: Vec<Around>,
    /// Whether it is that of a kernel, whose local variables are its own.
    pub(super) is_of_kernel: bool,
}

fn functions_with_barriers(unit: &Unit) -> FxHashSet<&str> {
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
        let is_loop = is_loop(statement);
        let is_switch = matches!(statement.kind, StmtKind::Switch { .. });
        open.extend(stmts_in(statement).into_iter().map(|inner| (inner, in_loop || is_loop, in_switch || is_switch)));
    }
    found
}

impl<'a> Course<'a> {
    /// Before the first function of a unit.
    pub(super) fn of(unit: &'a Unit) -> Course<'a> {
        let functions = unit.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Function(function) => Some(function.name()),
            _ => None,
        });
        Course { functions: functions.collect(), holding: functions_with_barriers(unit), ..Course::default() }
    }

    /// Whether a function of that name holds a barrier, itself or in what it calls.
    pub(super) fn holds(&self, function: &str) -> bool {
        self.holding.contains(function)
    }

    /// Begins a function.
    pub(super) fn enter(&mut self, tokens: &Tokens<'_>, body: &[Stmt]) {
        let in_body = |statement: &Stmt| self.barriers_in(tokens, statement);
        let mut barriers: Vec<(usize, Span)> = body.iter().flat_map(in_body).collect();
        barriers.sort_by_key(|barrier| barrier.0);
        let Course { functions, holding, bodies, .. } = std::mem::take(self);
        *self = Course { functions, holding, bodies, barriers, ..Course::default() };
    }

    /// The barriers in a statement, and calls of functions that hold one.
    fn barriers_in(&self, tokens: &Tokens<'_>, statement: &Stmt) -> Vec<(usize, Span)> {
        let mut found = Vec::new();
        for expr in exprs_of_stmt(statement) {
            visit(expr, |part| {
                let Some(name) = callee(part) else { return };
                let is_it = if self.functions.contains(name) { self.holding.contains(name) } else { is_barrier(name) };
                if let Some(range) = tokens.range(part.span).filter(|_| is_it) {
                    found.push((range.start, part.span));
                }
            });
        }
        found
    }

    fn first_barrier_in(&self, tokens: &Tokens<'_>, statement: &Stmt) -> Option<Span> {
        self.barriers_in(tokens, statement).into_iter().min_by_key(|barrier| barrier.0).map(|barrier| barrier.1)
    }

    /// The barrier that a jump in this statement leads past.
    fn passed_by_jumps(&self, tokens: &Tokens<'_>, statement: &Stmt) -> Option<Span> {
        let end = tokens.range(statement.span)?.end;
        jumps_out(statement).into_iter().find_map(|jump| match jump {
            Jump::Return => {
                let later = self.barriers.iter().find(|barrier| barrier.0 >= end).map(|barrier| barrier.1);
                later.or_else(|| self.around.iter().rev().find_map(|around| around.barrier))
            }
            Jump::Break => self.around.iter().rev().find(|around| around.is_left_by_break)?.barrier,
            Jump::Continue => self.around.iter().rev().find(|around| around.is_loop)?.barrier,
        })
    }

    /// What the condition of a statement decides about, if that is whether a barrier is come to.
    fn branch(&self, tokens: &Tokens<'_>, statement: &Stmt) -> Option<Branch> {
        let of = |leads, barrier| Some(Branch { leads, barrier });
        match &statement.kind {
            StmtKind::If { then, otherwise, .. } => {
                let holds = [Some(&**then), otherwise.as_deref()]
                    .map(|branch| branch.and_then(|branch| self.first_barrier_in(tokens, branch)));
                match holds {
                    [Some(barrier), Some(_)] => return of(Leads::Each, barrier),
                    [Some(barrier), None] => return of(Leads::Nonzero, barrier),
                    [None, Some(barrier)] => return of(Leads::Zero, barrier),
                    [None, None] => {}
                }
                let passes = [Some(&**then), otherwise.as_deref()]
                    .map(|branch| branch.and_then(|branch| self.passed_by_jumps(tokens, branch)));
                match passes {
                    [Some(barrier), Some(_)] => of(Leads::Each, barrier),
                    [Some(barrier), None] => of(Leads::Zero, barrier),
                    [None, Some(barrier)] => of(Leads::Nonzero, barrier),
                    [None, None] => None,
                }
            }
            _ if is_loop(statement) => of(Leads::Nonzero, self.first_barrier_in(tokens, statement)?),
            StmtKind::Switch { body, .. } => {
                // A `break` in it leaves the statement, and no more.
                of(
                    Leads::Each,
                    self.first_barrier_in(tokens, body).or_else(|| self.passed_by_jumps(tokens, statement))?,
                )
            }
            _ => None,
        }
    }

    /// Comes to a statement with such a condition: what has to be agreed on. It ends with [`Course::leave`].
    pub(super) fn come(&mut self, tokens: &Tokens<'_>, statement: &Stmt, cond: Option<&Expr>) -> Option<Agreement> {
        let is_loop = is_loop(statement);
        let is_switch = matches!(statement.kind, StmtKind::Switch { .. });
        let branch = self.branch(tokens, statement).filter(|_| !self.is_alone());
        let range = cond.and_then(|cond| tokens.range(cond.span)).map(|range| inside_parentheses(tokens, range));
        // Without a condition a loop goes on for all.
        let agrees = branch.is_some() && (cond.is_none() || range.is_some());
        let barrier = (is_loop || is_switch).then(|| self.first_barrier_in(tokens, statement)).flatten();
        let is_alone = !agrees && (is_loop || branch.is_some());
        self.around.push(Around { is_loop, is_left_by_break: is_loop || is_switch, is_alone, barrier });
        branch.zip(range).map(|(Branch { leads, barrier }, condition)| Agreement {
            condition,
            leads,
            barrier,
            is_switch,
        })
    }

    /// Leaves the statement that was come to last.
    pub(super) fn leave(&mut self) {
        self.around.pop();
    }

    /// Whether work-items may stand here without the others of their group.
    fn is_alone(&self) -> bool {
        self.around.iter().any(|around| around.is_alone)
    }
}

fn is_loop(statement: &Stmt) -> bool {
    matches!(statement.kind, StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::Do { .. })
}

/// The condition of `do … while (…)` stands in the tree with its parentheses, which stay outside.
fn inside_parentheses(tokens: &Tokens<'_>, range: Range<usize>) -> Range<usize> {
    let is_own = range.start > 0 && tokens.text(range.start - 1) == "while";
    match tokens.partner(range.start) {
        Some(close) if is_own && close + 1 == range.end => range.start + 1..close,
        _ => range,
    }
}
