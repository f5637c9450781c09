//! The value of a shared scalar, carried over a barrier from the one thread of the block that wrote it.
//!
//! A read `r` of shared memory finds what a write `w` stored, as computed by the thread `t` that made the write, if
//! - `w` is the only access that may change the array, and touches exactly the bytes of `r`;
//! - `w` stands before `r` and outside of all loops, and a barrier that orders shared memory stands between them whichever
//!   threads of the block make them (the read is *stable*: see `protocol::stability`);
//! - the guards of `w` that choose a thread leave exactly one of each block (see `pins`), and its other guards are
//!   the same for the whole block and stand around `r`, too.
//!
//! So in a block in which some thread makes the read, the guards of `w` hold in `t`, which waits at the barrier and so has
//! made the write; nobody else of the block makes it, and nothing else changes the bytes.
//!
//! *Trap.* Another write (`if (tid == 0) flag = false;`), two writers, a scalar that is written in some blocks only: what
//! is read there is what memory held before.

use crate::calculus::{ExprId, Space, VarId};
use crate::memory_model::AccessKind;
use crate::protocol::uniform::Uniformity;
use crate::protocol::{Access, AccessId, Origin, Role};
use crate::prove::hand_over::pins;
use crate::prove::hand_over::sums::Sizes;

/// What was stored by the one thread that wrote what `var` was read from, over that thread's own values; and the write.
pub(super) fn stored(sizes: &Sizes<'_>, block: &Uniformity, var: VarId) -> Option<(ExprId, AccessId)> {
    let protocol = sizes.protocol;
    let Some(&Role::Opaque(id)) = protocol.roles.get(var) else { return None };
    let Origin::Read { array, site, offset, bytes, stable: true, .. } = protocol.opaques[id].origin else {
        return None;
    };
    if protocol.arrays[array].space != Space::Shared {
        return None;
    }
    let mut changes = protocol.accesses.iter().filter(|(_, access)| access.array == array && access.kind.writes());
    let (Some((writer, write)), None) = (changes.next(), changes.next()) else { return None };
    let (reader, read) = protocol.accesses.iter().find(|(_, access)| access.site == site)?;
    let is_same_place = write.kind == AccessKind::Write && (write.offset, write.bytes) == (offset, bytes);
    let is_before = writer < reader && write.loops.is_empty();
    let pins = pins::pins(sizes, &write.guards);
    let is_reached = guards_hold(sizes, block, write, read) && pins::is_one_thread(sizes, &pins);
    (is_same_place && is_before && is_reached).then_some((write.value?, writer))
}

/// Whether the guards of a write hold in the thread that they choose wherever some thread of the block reads.
fn guards_hold(sizes: &Sizes<'_>, block: &Uniformity, write: &Access, read: &Access) -> bool {
    write.guards.iter().all(|guard| {
        let is_around = read.guards.iter().any(|other| other.cond == guard.cond);
        pins::chooses(sizes, guard.cond) || is_around && block.holds(sizes.protocol, guard.cond)
    })
}
