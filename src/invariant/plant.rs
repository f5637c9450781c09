//! Where the candidates of a loop stand in a kernel: as obligations while they are tried, as facts afterwards.

use super::Plan;
use crate::calculus::{Basis, Claimed, Expr, ExprId, For, Kernel, Site, SiteId, Stmt, Test, VarId};
use rustc_hash::FxHashMap;

/// Loops nested deeper than this are left alone.
const MAX_NESTING: usize = 64;

/// A candidate: its plan, counted in the nest, and its place among that plan's candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) plan: usize,
    pub(super) candidate: usize,
}

/// What is planted.
enum Purpose {
    /// Each candidate is supposed at the start of a turn and after the loop, and claimed before the loop and at the
    /// end of a turn.
    Trial(Trial),
    /// Each holds at the start of a turn and after the loop.
    Keep,
}

/// What is tried of a nest of loops.
struct Trial {
    nest: SiteId,
    /// Plans before this one are settled.
    first: usize,
    stage: Stage,
    /// The sites of the claims.
    parts: FxHashMap<SiteId, Part>,
    /// Whether the nest has been met: what stands behind it does not matter.
    met: bool,
}

/// How much of a nest is tried.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// What holds when its outermost loop is entered. Nothing is supposed, and the loop is left out.
    Entry,
    /// All of it.
    Turns,
}

struct Planter<'p> {
    kernel: Kernel,
    plans: &'p [Plan],
    purpose: Purpose,
}

/// `kernel` up to the end of the nest that `plans` are about, with everything that must be shown for their candidates to
/// be invariants, and which claim is about which. `kept` are invariants of nests before it.
pub(super) fn obligations(
    kernel: &Kernel,
    kept: &[Plan],
    plans: &[Plan],
    stage: Stage,
) -> (Kernel, FxHashMap<SiteId, Part>) {
    let Some(nest) = plans.first().map(|plan| plan.nest) else { return (kernel.clone(), FxHashMap::default()) };
    let all: Vec<Plan> = kept.iter().chain(plans).cloned().collect();
    let trial = Trial { nest, first: kept.len(), stage, parts: FxHashMap::default(), met: false };
    let planter = Planter { kernel: kernel.clone(), plans: &all, purpose: Purpose::Trial(trial) }.all();
    match planter.purpose {
        Purpose::Trial(trial) => (planter.kernel, trial.parts),
        Purpose::Keep => unreachable!("the purpose does not change"),
    }
}

/// `kernel` with the candidates as facts.
pub(super) fn invariants(kernel: Kernel, plans: &[Plan]) -> Kernel {
    Planter { kernel, plans, purpose: Purpose::Keep }.all().kernel
}

impl Planter<'_> {
    fn all(mut self) -> Self {
        let body = std::mem::take(&mut self.kernel.body);
        self.kernel.body = self.block(body, 0);
        self
    }

    fn block(&mut self, body: Vec<Stmt>, depth: usize) -> Vec<Stmt> {
        if depth > MAX_NESTING {
            return body;
        }
        let mut planted = Vec::with_capacity(body.len());
        for stmt in body {
            if self.is_over() {
                break;
            }
            match stmt {
                Stmt::If { cond, then, otherwise } => {
                    let (then, otherwise) = (self.block(then, depth + 1), self.block(otherwise, depth + 1));
                    planted.push(Stmt::If { cond, then, otherwise });
                }
                Stmt::For(mut each) => {
                    let site = each.site;
                    each.body = self.block(each.body, depth + 1);
                    self.counted(*each, &mut planted);
                    self.leave(site);
                }
                Stmt::Loop { test, body, site } => {
                    let body = self.block(body, depth + 1);
                    self.looped(test, body, site, &mut planted);
                    self.leave(site);
                }
                other => planted.push(other),
            }
        }
        planted
    }

    /// Whether everything that matters has been planted.
    fn is_over(&self) -> bool {
        matches!(&self.purpose, Purpose::Trial(trial) if trial.met)
    }

    /// Whether only the entry of this loop is tried.
    fn ends_before(&self, site: SiteId) -> bool {
        matches!(&self.purpose, Purpose::Trial(trial) if trial.stage == Stage::Entry && trial.nest == site)
    }

    fn leave(&mut self, site: SiteId) {
        if let Purpose::Trial(trial) = &mut self.purpose {
            trial.met |= trial.nest == site;
        }
    }

    fn plan_of(&self, site: SiteId) -> Option<usize> {
        self.plans.iter().position(|plan| plan.site == site)
    }

    fn counted(&mut self, mut each: For, planted: &mut Vec<Stmt>) {
        let Some(plan) = self.plan_of(each.site) else { return planted.push(Stmt::For(Box::new(each))) };
        let ty = self.kernel.vars[each.var].ty;
        let var = self.kernel.exprs.var(each.var, ty);
        let next = self.kernel.exprs.binary(each.step.op, var, each.step.by);
        let (first, moved) = ((each.var, each.start), (each.var, next));
        self.before(plan, Some(first), planted);
        if self.ends_before(each.site) {
            return;
        }
        each.body = self.turn(plan, each.body, Some(moved));
        planted.push(Stmt::For(Box::new(each)));
        self.end(plan, planted);
    }

    fn looped(&mut self, test: Test, body: Vec<Stmt>, site: SiteId, planted: &mut Vec<Stmt>) {
        let Some(plan) = self.plan_of(site) else { return planted.push(Stmt::Loop { test, body, site }) };
        self.before(plan, None, planted);
        if self.ends_before(site) {
            return;
        }
        let body = self.turn(plan, body, None);
        planted.push(Stmt::Loop { test, body, site });
        self.end(plan, planted);
    }

    /// What holds behind a loop. It is left where its test fails: a `break` or `return` is part of the test.
    fn end(&mut self, plan: usize, planted: &mut Vec<Stmt>) {
        let plan = &self.plans[plan];
        let kept = plan.candidates.iter().copied().filter(|cond| !plan.of_turns.contains(cond));
        let failed = plan.test.map(|test| self.kernel.exprs.not(test));
        planted.extend(kept.chain(failed).map(|cond| Stmt::Assume { cond, basis: Basis::Proved, span: None }));
    }

    /// What stands before a loop. `first` is the variable that the loop itself sets, and its first value.
    fn before(&mut self, plan: usize, first: Option<(VarId, ExprId)>, planted: &mut Vec<Stmt>) {
        let plans = self.plans;
        for &(copy, original) in &plans[plan].copies {
            let ty = self.kernel.vars[original].ty;
            let value = match first {
                Some((var, start)) if var == original => start,
                _ => self.kernel.exprs.var(original, ty),
            };
            planted.push(Stmt::Let { var: copy, value });
        }
        self.claims(plan, first, planted);
    }

    /// The body of a loop; `moved` is the variable that the loop itself moves, and its next value.
    fn turn(&mut self, plan: usize, body: Vec<Stmt>, moved: Option<(VarId, ExprId)>) -> Vec<Stmt> {
        let mut turn = Vec::with_capacity(body.len());
        self.facts(plan, &mut turn);
        turn.extend(body);
        self.claims(plan, moved, &mut turn);
        turn
    }

    fn facts(&mut self, plan: usize, planted: &mut Vec<Stmt>) {
        let plans = self.plans;
        for &cond in &plans[plan].candidates {
            planted.push(Stmt::Assume { cond, basis: Basis::Proved, span: None });
        }
    }

    /// Claims of all candidates, with one variable read as another value.
    fn claims(&mut self, plan: usize, change: Option<(VarId, ExprId)>, planted: &mut Vec<Stmt>) {
        let plans = self.plans;
        let Purpose::Trial(trial) = &mut self.purpose else { return };
        let Some(number) = plan.checked_sub(trial.first) else { return };
        for (candidate, &cond) in plans[plan].candidates.iter().enumerate() {
            let cond = match plans[plan].test.filter(|_| plans[plan].of_turns.contains(&cond)) {
                Some(test) => {
                    let no_turn = self.kernel.exprs.not(test);
                    self.kernel.exprs.or(no_turn, cond)
                }
                None => cond,
            };
            let cond = match change {
                Some((var, value)) => {
                    let leaf = |leaf: &Expr| (*leaf == Expr::Var(var)).then_some(value);
                    self.kernel.exprs.substitute(cond, leaf)
                }
                None => cond,
            };
            let site = self.kernel.sites.push(Site { span: None, inlined: Vec::new(), told: None });
            trial.parts.insert(site, Part { plan: number, candidate });
            planted.push(Stmt::Assert { cond, claimed: Claimed::Asserted, site });
        }
    }
}
