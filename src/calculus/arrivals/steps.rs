//! Where the steps at objects and the accesses of a kernel stand, and for which threads.

use super::numbers::{Known, MOST_OBJECTS, Numbers, Threads};
use super::{Needs, Refusal};
use crate::calculus::definitions::Definitions;
use crate::calculus::statements::every;
use crate::calculus::{Access, Arrivals, BinaryOp, ExprId, For, Kernel, MemoryOrder, ScalarType, SiteId, Stmt, VarId};
use rustc_hash::FxHashMap;

/// The place of a step or an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) site: SiteId,
    /// Its number in program order.
    pub(super) order: u32,
    /// The threads that the conditions around it let there: no others get there.
    pub(super) threads: Threads,
    /// The outermost loop around it.
    pub(super) outer: Option<SiteId>,
    /// Whether nothing else decides who gets there, and no second loop is around it.
    pub(super) is_plain: bool,
}

/// A barrier, a fence or an atomic that releases.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    pub(super) spot: Spot,
    /// Whether all that come there wait for each other.
    pub(super) waits: bool,
}

impl Spot {
    /// Whether a thread may come here before it comes to another place.
    pub(super) fn may_precede(&self, other: &Spot) -> bool {
        self.order < other.order || self.outer.is_some() && self.outer == other.outer
    }
}

/// A step at an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) at: Spot,
    pub(super) what: Arrivals,
}

/// The head of a loop that counts up in steps of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) var: VarId,
    pub(super) signed: bool,
    pub(super) start: i128,
    pub(super) cmp: BinaryOp,
    pub(super) bound: ExprId,
}

impl Head {
    /// The turns of the loop, if they are so few that all can be looked at.
    pub(super) fn turns(&self, numbers: &Numbers<'_>) -> Option<Vec<(VarId, i128)>> {
        let bound = numbers.value(self.bound, Known::default())?;
        let end = match self.cmp {
            BinaryOp::Lt | BinaryOp::Ne => bound,
            BinaryOp::Le => bound + 1,
            _ => return None,
        };
        (end - self.start <= MOST_OBJECTS.into()).then(|| (self.start..end).map(|value| (self.var, value)).collect())
    }
}

/// All that counts of a kernel.
pub(super) struct Found<'k> {
    pub(super) numbers: Numbers<'k>,
    pub(super) body: &'k [Stmt],
    pub(super) steps: Vec<Result<Step, Refusal>>,
    pub(super) accesses: FxHashMap<SiteId, Spot>,
    pub(super) passes: Vec<Pass>,
    pub(super) heads: FxHashMap<SiteId, Head>,
    order: u32,
}

/// What is around a statement.
#[derive(Clone, Copy)]
struct Around {
    threads: Threads,
    /// Whether a condition is about more than threads.
    is_open: bool,
    outer: Option<SiteId>,
    loops: u32,
}

/// Whether a kernel has steps at objects at all.
pub(super) fn are_in(kernel: &Kernel) -> bool {
    let mut has_steps = false;
    every(&kernel.body, |stmt| {
        has_steps |= matches!(stmt, Stmt::Sync { among, .. } if among.arrivals().is_some());
    });
    has_steps
}

pub(super) fn collect(kernel: &Kernel) -> Found<'_> {
    let numbers = Numbers::new(&kernel.exprs, Definitions::of(kernel));
    let mut found = Found {
        numbers,
        body: &kernel.body,
        steps: Vec::new(),
        accesses: FxHashMap::default(),
        passes: Vec::new(),
        heads: FxHashMap::default(),
        order: 0,
    };
    if are_in(kernel) {
        found.block(&kernel.body, Around { threads: Threads::ALL, is_open: false, outer: None, loops: 0 });
    }
    found
}

impl Found<'_> {
    /// What is assumed where threads were told by their number along the first axis.
    pub(super) fn needs(&self) -> Needs {
        Needs { line: self.numbers.asked()[0], threads: 0 }
    }

    /// Whether threads were told by both kinds of numbers.
    pub(super) fn is_mixed(&self) -> bool {
        self.numbers.asked() == [true, true]
    }

    fn block(&mut self, body: &[Stmt], around: Around) {
        for stmt in body {
            match stmt {
                Stmt::Read { access, .. } | Stmt::Write { access, .. } => self.access(access, around),
                Stmt::Atomic { access, order, .. } => {
                    self.access(access, around);
                    if !matches!(order, MemoryOrder::Relaxed | MemoryOrder::Acquire) {
                        let spot = self.spot(access.site, around);
                        self.passes.push(Pass { spot, waits: false });
                    }
                }
                Stmt::Fence { site, .. } => {
                    let spot = self.spot(*site, around);
                    self.passes.push(Pass { spot, waits: false });
                }
                Stmt::Sync { among, memory, site, .. } => match among.arrivals() {
                    Some(what) => {
                        let step = self.step(what, *site, around);
                        self.steps.push(step);
                    }
                    None if memory.shared || memory.global || memory.array.is_some() => {
                        let spot = self.spot(*site, around);
                        self.passes.push(Pass { spot, waits: true });
                    }
                    None => {}
                },
                Stmt::If { cond, then, otherwise } => {
                    self.block(then, self.within(around, *cond));
                    let threads = self.numbers.threads(*cond).map(|threads| threads.complement());
                    self.block(otherwise, narrowed(around, threads));
                }
                Stmt::For(each) => {
                    if let Some(head) = self.head(each) {
                        self.heads.insert(each.site, head);
                    }
                    self.block(&each.body, in_loop(around, each.site));
                }
                Stmt::Loop { body, site, .. } => self.block(body, in_loop(around, *site)),
                _ => {}
            }
        }
    }

    fn within(&self, around: Around, cond: ExprId) -> Around {
        if let crate::calculus::Expr::Binary(BinaryOp::And, a, b) = self.numbers.exprs[cond] {
            return self.within(self.within(around, a), b);
        }
        narrowed(around, self.numbers.threads(cond))
    }

    fn spot(&mut self, site: SiteId, around: Around) -> Spot {
        self.order += 1;
        Spot {
            site,
            order: self.order,
            threads: around.threads,
            outer: around.outer,
            is_plain: !around.is_open && around.loops <= 1,
        }
    }

    fn access(&mut self, access: &Access, around: Around) {
        let spot = self.spot(access.site, around);
        self.accesses.insert(access.site, spot);
    }

    fn step(&mut self, what: Arrivals, site: SiteId, around: Around) -> Result<Step, Refusal> {
        let at = self.spot(site, around);
        let refuse = |reason| Err(Refusal { site, reason });
        if around.is_open {
            return refuse("who arrives depends on more than the number of the thread");
        }
        if around.loops > 1 {
            return refuse("it stands in a loop within a loop");
        }
        Ok(Step { at, what })
    }

    fn head(&self, each: &For) -> Option<Head> {
        let ScalarType::Int { signed, .. } = self.numbers.exprs.ty(each.start) else { return None };
        let start = self.numbers.value(each.start, Known::default())?;
        let counts = each.step.op == BinaryOp::Add && self.numbers.exprs.as_int(each.step.by) == Some(1);
        (counts && start >= 0).then_some(Head { var: each.var, signed, start, cmp: each.cmp, bound: each.bound })
    }
}

fn narrowed(around: Around, threads: Option<Threads>) -> Around {
    match threads {
        Some(threads) => Around { threads: around.threads.and(&threads), ..around },
        None => Around { is_open: true, ..around },
    }
}

fn in_loop(around: Around, site: SiteId) -> Around {
    Around { outer: around.outer.or(Some(site)), loops: around.loops + 1, ..around }
}
