//! Which variables each loop assigns, found once for the whole kernel.

use crate::calculus::{SiteId, Stmt, VarId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The variables that each loop assigns: those of its body, and the loop variable; in order.
#[derive(Default)]
pub(super) struct Assignments {
    loops: FxHashMap<SiteId, Vec<VarId>>,
}

impl Assignments {
    /// Those of a kernel's body, which is not nested too deep to recurse on.
    pub(super) fn of(body: &[Stmt]) -> Self {
        let mut assignments = Assignments::default();
        assignments.scan(body, &mut BTreeSet::new());
        assignments
    }

    /// Those of the loop at `site`.
    pub(super) fn of_loop(&self, site: SiteId) -> Vec<VarId> {
        self.loops.get(&site).cloned().unwrap_or_default()
    }

    fn scan(&mut self, body: &[Stmt], assigned: &mut BTreeSet<VarId>) {
        for statement in body {
            match statement {
                Stmt::Let { var, .. } | Stmt::Read { var, .. } | Stmt::Havoc { var, .. } => {
                    assigned.insert(*var);
                }
                Stmt::Atomic { var, .. } => assigned.extend(*var),
                Stmt::If { then, otherwise, .. } => {
                    self.scan(then, assigned);
                    self.scan(otherwise, assigned);
                }
                Stmt::For(each) => self.scan_loop(each.site, &each.body, Some(each.var), assigned),
                Stmt::Loop { body, site, .. } => self.scan_loop(*site, body, None, assigned),
                Stmt::Sync { .. }
                | Stmt::Fence { .. }
                | Stmt::Write { .. }
                | Stmt::Assume { .. }
                | Stmt::Assert { .. } => {}
            }
        }
    }

    fn scan_loop(&mut self, site: SiteId, body: &[Stmt], var: Option<VarId>, outer: &mut BTreeSet<VarId>) {
        let mut inner = BTreeSet::new();
        inner.extend(var);
        self.scan(body, &mut inner);
        outer.extend(&inner);
        self.loops.insert(site, inner.into_iter().collect());
    }
}
