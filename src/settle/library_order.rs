//! What a library's own order must not be taken for: an order of the program's accesses.
//!
//! A library's barrier orders its own accesses to an array with whatever follows, and a sync of that array says so. It
//! would also order what the program did to the array before with what it does behind, which nobody promises. So such a
//! sync stands only where, since the last barrier, the program has not touched the array; elsewhere it is a place where
//! threads meet and nothing is ordered.

use crate::calculus::{Access, ArrayId, Kernel, SiteId, Stmt, SyncMemory};
use crate::memory_model::{self, Level};
use std::collections::BTreeSet;

/// Takes the order from a library's barriers where the program may have touched their array; `own` are the sites of the
/// library's accesses.
pub(super) fn limit(kernel: &mut Kernel, own: &BTreeSet<SiteId>) {
    // Few kernels have such a barrier, and those few arrays of it; every loop is walked until nothing more is touched in it.
    let mut ordered = BTreeSet::new();
    collect_ordered(&kernel.body, &mut ordered);
    if ordered.is_empty() {
        return;
    }
    let mut search = Search { kernel, own, ordered, idle: BTreeSet::new() };
    search.block(&kernel.body, &mut BTreeSet::new());
    let idle = search.idle;
    if !idle.is_empty() {
        disarm(&mut kernel.body, &idle);
    }
}

struct Search<'k> {
    kernel: &'k Kernel,
    own: &'k BTreeSet<SiteId>,
    /// The arrays that a library's barrier orders: no others are asked for.
    ordered: BTreeSet<ArrayId>,
    /// Syncs that must not order anything.
    idle: BTreeSet<SiteId>,
}

impl Search<'_> {
    /// Walks a block; `touched` are those of the arrays asked for that the program may have touched since the last barrier.
    fn block(&mut self, block: &[Stmt], touched: &mut BTreeSet<ArrayId>) {
        for stmt in block {
            match stmt {
                Stmt::Read { access, .. } | Stmt::Write { access, .. } | Stmt::Atomic { access, .. } => {
                    self.touch(access, touched);
                }
                Stmt::Sync { memory: SyncMemory { array: Some(array), .. }, site, .. } => {
                    if touched.contains(array) {
                        self.idle.insert(*site);
                    }
                }
                Stmt::Sync { scope, memory, among, .. } if among.is_everyone() => {
                    let arrays = &self.kernel.arrays;
                    touched.retain(|&array| !memory_model::orders(*scope, *memory, arrays[array].space, Level::Block));
                }
                Stmt::If { then, otherwise, .. } => {
                    let mut other = touched.clone();
                    self.block(then, touched);
                    self.block(otherwise, &mut other);
                    touched.append(&mut other);
                }
                Stmt::For(counted) => self.turns(&counted.body, touched),
                Stmt::Loop { body, .. } => self.turns(body, touched),
                _ => {}
            }
        }
    }

    /// A turn may follow another, or there may be none.
    fn turns(&mut self, body: &[Stmt], touched: &mut BTreeSet<ArrayId>) {
        loop {
            let mut turn = touched.clone();
            self.block(body, &mut turn);
            if turn.is_subset(touched) {
                break;
            }
            touched.append(&mut turn);
        }
    }

    fn touch(&self, access: &Access, touched: &mut BTreeSet<ArrayId>) {
        if self.ordered.contains(&access.array) && !self.own.contains(&access.site) {
            touched.insert(access.array);
        }
    }
}

/// The arrays that syncs of one array name.
fn collect_ordered(block: &[Stmt], ordered: &mut BTreeSet<ArrayId>) {
    for stmt in block {
        match stmt {
            Stmt::Sync { memory: SyncMemory { array: Some(array), .. }, .. } => {
                ordered.insert(*array);
            }
            Stmt::If { then, otherwise, .. } => {
                collect_ordered(then, ordered);
                collect_ordered(otherwise, ordered);
            }
            Stmt::For(counted) => collect_ordered(&counted.body, ordered),
            Stmt::Loop { body, .. } => collect_ordered(body, ordered),
            _ => {}
        }
    }
}

fn disarm(block: &mut [Stmt], idle: &BTreeSet<SiteId>) {
    for stmt in block {
        match stmt {
            Stmt::Sync { memory, site, .. } if idle.contains(site) => *memory = SyncMemory::LIBRARY,
            Stmt::If { then, otherwise, .. } => {
                disarm(then, idle);
                disarm(otherwise, idle);
            }
            Stmt::For(counted) => disarm(&mut counted.body, idle),
            Stmt::Loop { body, .. } => disarm(body, idle),
            _ => {}
        }
    }
}
