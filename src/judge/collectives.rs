//! What collectives of libraries may order: nothing that their documentation promises, and in fact often everything.
//!
//! A collective of a block gives one thread what it made of the values of all, so every implementation that we know of
//! has barriers in it. A race that only these end is possible, and not proved: no run would show it.
//!
//! Deliberately absent: any use of that order in a proof.

use crate::calculus::{Kernel, SiteId, Stmt, SyncMemory};
use crate::prove::Conflict;
use crate::prove::refute::replay;
use crate::source::Span;

/// A kernel in which collectives are barriers that order all memory.
pub(super) struct Ordered {
    kernel: Kernel,
    first: SiteId,
}

impl Ordered {
    /// The kernel with its collectives as barriers; `None` if it has none.
    pub(super) fn of(kernel: &Kernel) -> Option<Ordered> {
        let first = first(&kernel.body)?;
        let mut ordered = kernel.clone();
        order(&mut ordered.body);
        Some(Ordered { kernel: ordered, first })
    }

    /// Where the first collective stands.
    pub(super) fn span(&self) -> Option<Span> {
        self.kernel.sites[self.first].span
    }

    /// Whether collectives may stand between the two accesses: with them as barriers, the witness shows no conflict.
    pub(super) fn may_order(&self, conflict: &Conflict) -> bool {
        !replay(&self.kernel, &conflict.witness, conflict.sites)
    }
}

/// Whether it is a collective: what it promises to order is the storage of one at most.
fn is_collective(memory: SyncMemory) -> bool {
    memory.library
}

fn first(body: &[Stmt]) -> Option<SiteId> {
    body.iter().find_map(|stmt| match stmt {
        Stmt::Sync { memory, site, .. } if is_collective(*memory) => Some(*site),
        Stmt::If { then, otherwise, .. } => first(then).or_else(|| first(otherwise)),
        Stmt::For(counted) => first(&counted.body),
        Stmt::Loop { body, .. } => first(body),
        _ => None,
    })
}

fn order(body: &mut [Stmt]) {
    for stmt in body {
        match stmt {
            Stmt::Sync { memory, .. } if is_collective(*memory) => {
                *memory = SyncMemory::BOTH;
            }
            Stmt::If { then, otherwise, .. } => {
                order(then);
                order(otherwise);
            }
            Stmt::For(counted) => order(&mut counted.body),
            Stmt::Loop { body, .. } => order(body),
            _ => {}
        }
    }
}
