//! Correctable indirect flow (docs/PAPERS.md, "Leung 2012, figure 6"): branches on data
//! whose accesses could be made without a branch.
//!
//! `if (a[i] > a[j]) { swap }` decides by data whether two elements are written. Where the arms hold nothing
//! but assignments and accesses, `a[i] = c ? a[j] : a[i]` writes them always, and data decides values only.
//! If every location of the arms is accessed by the thread in the same interval anyway (in the other arm, or
//! beside the branch), only reads become writes ([`Selection::SameLocations`]); else the select form touches
//! more than the branch did ([`Selection::Wider`]). Both must be checked again after the change, as unconditional
//! writes may race where conditional ones did not.
//!
//! Deliberately absent: whether the change is worth it, and the change itself (`fix`).

use super::AccessKind;
use super::covered::Place;
use super::graph::NodeId;
use crate::calculus::{ExprId, SiteId};

/// What the select form accesses, against the branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Selection {
    /// Locations that the thread accesses in the same interval whatever the data.
    SameLocations,
    /// Also locations that it accesses only on one side.
    Wider,
}

/// A branch that could be a select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its condition.
    pub cond: ExprId,
    /// The writes in its arms.
    pub writes: Vec<SiteId>,
    /// What the select form accesses.
    pub selection: Selection,
}

/// A branch and the node of its condition.
#[derive(Clone, Debug)]
pub(super) struct FoundBranch {
    pub(super) cond: NodeId,
    pub(super) branch: Branch,
}

/// Accesses remembered for one statement list; beyond them branches count as wider than they are.
const MOST: usize = 256;

/// What stands in one statement list.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    /// Accesses that happen whenever the list runs, since the last barrier.
    always: Vec<Place>,
    /// Accesses in branches.
    sometimes: Vec<Place>,
    writes: Vec<SiteId>,
    has_access: bool,
    /// A barrier, loop or atomic stands in it.
    has_obstacle: bool,
    /// Branches that wait for the accesses after them.
    pending: Vec<(FoundBranch, Vec<Place>)>,
}

/// The statement lists that are open, innermost last.
#[derive(Clone, Debug, Default)]
pub(super) struct Branches {
    open: Vec<List>,
    last: List,
    found: Vec<FoundBranch>,
}

impl Branches {
    /// A statement list begins.
    pub(super) fn enter(&mut self) {
        self.open.push(List::default());
    }

    /// A statement list ends.
    pub(super) fn leave(&mut self) {
        self.settle();
        self.last = self.open.pop().unwrap_or_default();
    }

    /// The statement list that ended last, once.
    pub(super) fn take_last(&mut self) -> List {
        std::mem::take(&mut self.last)
    }

    /// An access.
    pub(super) fn access(&mut self, place: Place, kind: AccessKind, site: SiteId) {
        let Some(list) = self.open.last_mut() else { return };
        list.has_access = true;
        if kind == AccessKind::Write {
            list.writes.push(site);
        }
        if list.always.len() < MOST {
            list.always.push(place);
        } else {
            list.has_obstacle = true;
        }
    }

    /// Something that no select can hold.
    pub(super) fn obstacle(&mut self) {
        if let Some(list) = self.open.last_mut() {
            list.has_obstacle = true;
        }
    }

    /// A barrier: accesses before it and after it are not in one interval.
    pub(super) fn barrier(&mut self) {
        self.settle();
        if let Some(list) = self.open.last_mut() {
            list.has_obstacle = true;
            list.always.clear();
        }
    }

    /// A branch with these arms has ended.
    pub(super) fn branch(&mut self, cond: (ExprId, NodeId), then: &List, otherwise: &List) {
        let Some(list) = self.open.last_mut() else { return };
        list.has_access |= then.has_access || otherwise.has_access;
        if then.has_obstacle || otherwise.has_obstacle {
            list.has_obstacle = true;
            return;
        }
        let in_both = |place: &Place| then.always.contains(place) && otherwise.always.contains(place);
        let arms = || then.always.iter().chain(&then.sometimes).chain(&otherwise.always).chain(&otherwise.sometimes);
        let one_sided: Vec<Place> = arms().filter(|place| !in_both(place)).cloned().collect();
        list.sometimes.extend(arms().cloned());
        list.has_obstacle |= list.sometimes.len() > MOST;
        let writes: Vec<SiteId> = then.writes.iter().chain(&otherwise.writes).copied().collect();
        list.writes.extend(&writes);
        if then.has_access || otherwise.has_access {
            let branch = Branch { cond: cond.0, writes, selection: Selection::Wider };
            list.pending.push((FoundBranch { cond: cond.1, branch }, one_sided));
        }
    }

    /// Says of the branches that wait whether all they access is accessed beside them.
    fn settle(&mut self) {
        let Some(list) = self.open.last_mut() else { return };
        for (mut found, one_sided) in std::mem::take(&mut list.pending) {
            if one_sided.iter().all(|place| list.always.contains(place)) {
                found.branch.selection = Selection::SameLocations;
            }
            self.found.push(found);
        }
    }

    /// All branches that could be selects.
    pub(super) fn finish(self) -> Vec<FoundBranch> {
        self.found
    }
}
