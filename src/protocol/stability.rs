//! Which reads give the same value to all threads: marks [`Origin::Read`] as `constant` or `stable`.

use super::{Origin, Protocol};
use crate::calculus::{ArrayId, Kernel, Space};

/// Marks the reads of `protocol`, which was inferred from `kernel`.
pub(super) fn mark(protocol: &mut Protocol, _kernel: &Kernel) {
    let changed = changed_arrays(protocol);
    let ids: Vec<_> = protocol.opaques.handles().collect();
    for id in ids {
        let Origin::Read { array, .. } = protocol.opaques[id].origin else { continue };
        let never_changes = match protocol.arrays[array].space {
            Space::Constant => true,
            Space::Private => false,
            Space::Global | Space::Shared => !changed.contains(&array),
        };
        if let Origin::Read { stable, constant, .. } = &mut protocol.opaques[id].origin {
            (*stable, *constant) = (never_changes, never_changes);
        }
    }
}

/// The arrays that the kernel may change: by writes, atomics, and what is not modelled.
fn changed_arrays(protocol: &Protocol) -> Vec<ArrayId> {
    let mut changed: Vec<ArrayId> = Vec::new();
    for unsupported in &protocol.unsupported {
        match &unsupported.arrays {
            Some(arrays) => changed.extend(arrays),
            None => changed.extend(protocol.arrays.handles()),
        }
    }
    changed.extend(protocol.accesses.iter().filter(|(_, access)| access.kind.writes()).map(|(_, access)| access.array));
    changed
}
