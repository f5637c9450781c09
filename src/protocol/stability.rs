//! Which reads give the same value to all threads: marks [`Origin::Read`] as `constant` or `stable`.
//!
//! A read of shared memory is stable if no write or atomic to the array meets it in a barrier interval. Which
//! syncs order depends on which loops are uniform, and that on which reads are stable (`while (flag)` around
//! a barrier, with `flag` in shared memory). So all reads are taken for stable until something speaks against
//! one, until nothing changes. This is sound by induction over time: take the first moment of a run at which a
//! stable read gives two threads different values. Up to then all threads have gone through the same barriers,
//! so the write that made the difference is one that meets the read by the very intervals that were asked.

use super::uniform::Uniformity;
use super::{OpaqueId, Origin, Protocol};
use crate::calculus::{ArrayId, Kernel, SiteId, Space, intervals};
use crate::memory_model::Level;

/// Marks the reads of `protocol`, which was inferred from `kernel`.
pub(super) fn mark(protocol: &mut Protocol, kernel: &Kernel) {
    let untouchable = touched_by_unmodelled(protocol);
    let reads: Vec<OpaqueId> = protocol
        .opaques
        .iter()
        .filter(|(_, opaque)| matches!(opaque.origin, Origin::Read { .. }))
        .map(|(id, _)| id)
        .collect();
    let mut open = Vec::new();
    for id in reads {
        let Origin::Read { array, site, .. } = protocol.opaques[id].origin else { continue };
        let changes = changing_sites(protocol, array);
        match protocol.arrays[array].space {
            Space::Private => {}
            Space::Constant => set(protocol, id, Mark::Constant),
            Space::Global | Space::Image | Space::Distributed | Space::Shared if untouchable.contains(&array) => {}
            Space::Global | Space::Image | Space::Distributed | Space::Shared if changes.is_empty() => {
                set(protocol, id, Mark::Constant);
            }
            Space::Global | Space::Image | Space::Distributed => {}
            Space::Shared => {
                set(protocol, id, Mark::Stable);
                open.push((id, site, changes));
            }
        }
    }
    while refute_some(protocol, kernel, &mut open) {}
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Neither,
    Stable,
    Constant,
}

fn set(protocol: &mut Protocol, id: OpaqueId, mark: Mark) {
    if let Origin::Read { stable, constant, .. } = &mut protocol.opaques[id].origin {
        *stable = mark != Mark::Neither;
        *constant = mark == Mark::Constant;
    }
}

/// Takes back the marks of reads that meet a change by the marks so far; whether there was one.
fn refute_some(protocol: &mut Protocol, kernel: &Kernel, open: &mut Vec<(OpaqueId, SiteId, Vec<SiteId>)>) -> bool {
    if open.is_empty() {
        return false;
    }
    let ordering = Uniformity::of(protocol, Level::Block).ordering_syncs(protocol, Space::Shared);
    let intervals = intervals::analyze(kernel, &|sync| ordering.contains(&sync));
    let before = open.len();
    open.retain(|(id, read, changes)| {
        let meets = changes.iter().any(|&change| intervals.meet(change, *read));
        if meets {
            set(protocol, *id, Mark::Neither);
        }
        !meets
    });
    open.len() < before
}

/// The writes and atomics of an array.
fn changing_sites(protocol: &Protocol, array: ArrayId) -> Vec<SiteId> {
    let changes = protocol.accesses.iter().filter(|(_, access)| access.array == array && access.kind.writes());
    changes.map(|(_, access)| access.site).collect()
}

/// The arrays that something may change that is not modelled.
fn touched_by_unmodelled(protocol: &Protocol) -> Vec<ArrayId> {
    let mut touched: Vec<ArrayId> = Vec::new();
    for unsupported in &protocol.unsupported {
        match &unsupported.arrays {
            Some(arrays) => touched.extend(arrays),
            None => touched.extend(protocol.arrays.handles()),
        }
    }
    touched
}
