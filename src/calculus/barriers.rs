//! Barriers as the source has them, and kernels without one of them.
//!
//! A barrier of the source may stand for several statements of the calculus (a loop whose first turn is taken out, a
//! macro): they are one [`Barrier`] where they were inlined from one call.
//!
//! Deliberately absent: steps at objects that count arrivals, of which none means anything without the others.

use super::{Kernel, SiteId, Stmt, SyncScope};
use crate::source::Span;
use std::collections::BTreeSet;

/// A barrier as the source has it.
#[derive(Clone, Debug)]
pub struct Barrier {
    sites: BTreeSet<SiteId>,
    /// Which threads it orders.
    pub scope: SyncScope,
    /// Where it stands.
    pub span: Option<Span>,
    /// Calls that it is inlined from, outermost first.
    pub inlined: Vec<Span>,
}

/// The barriers of a kernel, in program order.
pub fn barriers(kernel: &Kernel) -> Vec<Barrier> {
    let mut found: Vec<Barrier> = Vec::new();
    collect(kernel, &kernel.body, &mut found);
    found
}

fn collect(kernel: &Kernel, body: &[Stmt], found: &mut Vec<Barrier>) {
    for stmt in body {
        match stmt {
            Stmt::Sync { among, .. } if among.is_in_step() || among.arrivals().is_some() => {}
            Stmt::Sync { scope, site, .. } => {
                let (span, inlined) = (kernel.sites[*site].span, kernel.sites[*site].inlined.clone());
                match found.iter_mut().find(|known| span.is_some() && known.span == span && known.inlined == inlined) {
                    Some(known) => _ = known.sites.insert(*site),
                    None => found.push(Barrier { sites: BTreeSet::from([*site]), scope: *scope, span, inlined }),
                }
            }
            Stmt::If { then, otherwise, .. } => {
                collect(kernel, then, found);
                collect(kernel, otherwise, found);
            }
            Stmt::For(each) => collect(kernel, &each.body, found),
            Stmt::Loop { body, .. } => collect(kernel, body, found),
            _ => {}
        }
    }
}

/// The kernel without these barriers.
pub fn without<'b>(kernel: &Kernel, barriers: impl IntoIterator<Item = &'b Barrier>) -> Kernel {
    let sites = barriers.into_iter().flat_map(|barrier| &barrier.sites).copied().collect();
    let mut less = kernel.clone();
    remove(&mut less.body, &sites);
    less
}

fn remove(body: &mut Vec<Stmt>, sites: &BTreeSet<SiteId>) {
    body.retain(|stmt| !matches!(stmt, Stmt::Sync { site, .. } if sites.contains(site)));
    for stmt in body {
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                remove(then, sites);
                remove(otherwise, sites);
            }
            Stmt::For(each) => remove(&mut each.body, sites),
            Stmt::Loop { body, .. } => remove(body, sites),
            _ => {}
        }
    }
}
