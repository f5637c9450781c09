//! Which variables each loop assigns, found once for the whole kernel.

use crate::calculus::{SiteId, Stmt, VarId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The variables that each loop assigns, and whether its body holds a sync.
#[derive(Default)]
pub(super) struct Assignments {
    loops: FxHashMap<SiteId, LoopFacts>,
}

/// What is noted of one loop.
#[derive(Clone, Default)]
pub(super) struct LoopFacts {
    /// Variables that the body assigns, and the loop variable; in order.
    pub(super) assigned: Vec<VarId>,
    /// Whether a sync stands in the body, at any depth.
    pub(super) has_sync: bool,
}

#[derive(Default)]
struct Summary {
    assigned: BTreeSet<VarId>,
    has_sync: bool,
}

impl Assignments {
    /// Those of a kernel's body, which is not nested too deep to recurse on.
    pub(super) fn of(body: &[Stmt]) -> Self {
        let mut assignments = Assignments::default();
        assignments.scan(body, &mut Summary::default());
        assignments
    }

    /// Those of the loop at `site`.
    pub(super) fn of_loop(&self, site: SiteId) -> LoopFacts {
        self.loops.get(&site).cloned().unwrap_or_default()
    }

    fn scan(&mut self, body: &[Stmt], summary: &mut Summary) {
        for statement in body {
            match statement {
                Stmt::Let { var, .. } | Stmt::Read { var, .. } | Stmt::Havoc { var, .. } => {
                    summary.assigned.insert(*var);
                }
                Stmt::Atomic { var, .. } => summary.assigned.extend(*var),
                Stmt::If { then, otherwise, .. } => {
                    self.scan(then, summary);
                    self.scan(otherwise, summary);
                }
                Stmt::For(each) => self.scan_loop(each.site, &each.body, Some(each.var), summary),
                Stmt::Loop { body, site, .. } => self.scan_loop(*site, body, None, summary),
                Stmt::Sync { .. } => summary.has_sync = true,
                Stmt::Write { .. } | Stmt::Assume { .. } | Stmt::Assert { .. } => {}
            }
        }
    }

    fn scan_loop(&mut self, site: SiteId, body: &[Stmt], var: Option<VarId>, outer: &mut Summary) {
        let mut inner = Summary::default();
        inner.assigned.extend(var);
        self.scan(body, &mut inner);
        outer.assigned.extend(&inner.assigned);
        outer.has_sync |= inner.has_sync;
        let facts = LoopFacts { assigned: inner.assigned.into_iter().collect(), has_sync: inner.has_sync };
        self.loops.insert(site, facts);
    }
}
