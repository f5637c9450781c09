//! What one thread of a block stores in shared memory for the others: which store a read sees.
//!
//! `if (threadIdx.x == 0) base = atomicAdd(count, n); __syncthreads(); … base …`: what a thread reads there is what a
//! thread of its own block stored, in the same turns of the loops around the store, if
//! - the read is [stable](Origin::Read), and the last that changes the array before it, in program order, is a plain
//!   store at the place that is read, which is the same for the block; nothing behind the read changes the array in a
//!   loop around the read that is not around the store;
//! - the store stands before the read in program order, in loops that are around the read, too, and that all threads of
//!   the block turn equally often; a barrier of the block that orders shared memory stands between the two in every such
//!   turn;
//! - the thread (0, 0, 0), which every block has, makes the store: the conditions on its way to it are either met by the
//!   reader as well, and the same for the block, or hold of the ids (0, 0, 0).
//!
//! So by the barrier the store of the same turn has been made, and by stability nothing has changed it: all that read it
//! in these turns read one value, wherever they do. What else changes the array does so before the store or behind the
//! read, in the order of (turn of the outermost loop, place in it, …), which barriers keep between threads; what they do
//! not keep is a race of its own. As for stability, this is used of runs up to their first race.
//!
//! *Trap.* A store that only some blocks make; a store in a loop that may have no turn; a change behind the read that the
//! next turn's read sees.

use super::uniform::Uniformity;
use super::{AccessId, Guard, Node, OpaqueId, Origin, Protocol, SyncId};
use crate::calculus::{Among, BinaryOp, Expr, ExprId, Exprs, GeometryVar, ScalarType, Space, UnaryOp};
use crate::memory_model::{AccessKind, Level};

/// Notes of every unknown value which store it is what was read of.
pub(super) fn mark(protocol: &mut Protocol) {
    let reads: Vec<(OpaqueId, AccessId)> =
        protocol.opaques.handles().filter_map(|id| Some((id, last_store(protocol, id)?))).collect();
    if reads.is_empty() {
        return;
    }
    let uniformity = Uniformity::of(protocol, Level::Block);
    let order = Order::of(protocol);
    for (read, store) in reads {
        if sees(protocol, &uniformity, &order, read, store) == Some(true) {
            protocol.opaques[read].handed = Some(store);
        }
    }
}

/// The last access before a read of shared memory that changes the array, if it stores what is read.
fn last_store(protocol: &Protocol, read: OpaqueId) -> Option<AccessId> {
    let Origin::Read { array, site, offset, bytes, stable: true, constant: false } = protocol.opaques[read].origin
    else {
        return None;
    };
    if protocol.arrays[array].space != Space::Shared {
        return None;
    }
    let (at, reader) = protocol.accesses.iter().find(|(_, access)| access.site == site)?;
    let changes = || protocol.accesses.iter().filter(|(_, access)| access.array == array && access.kind.writes());
    let (id, store) = changes().filter(|(id, _)| *id < at).last()?;
    let only_around_the_read = reader.loops.get(store.loops.len()..)?;
    let mut behind = changes().filter(|(id, _)| *id > at);
    let is_seen_later = behind.any(|(_, change)| change.loops.iter().any(|each| only_around_the_read.contains(each)));
    let is_it = store.kind == AccessKind::Write && (store.offset, store.bytes) == (offset, bytes);
    (is_it && !is_seen_later).then_some(id)
}

/// Whether a condition on the way to a store is met by the thread (0, 0, 0) of every block in which the guards hold of a
/// thread.
pub(super) fn is_met_by_first(protocol: &Protocol, uniformity: &Uniformity, cond: ExprId, guards: &[Guard]) -> bool {
    let is_shared = uniformity.holds(protocol, cond) && guards.iter().any(|other| other.cond == cond);
    is_shared || holds_of_first(&protocol.exprs, cond)
}

/// Whether a read sees what the last store of its turn stored.
fn sees(
    protocol: &Protocol,
    uniformity: &Uniformity,
    order: &Order,
    read: OpaqueId,
    store_id: AccessId,
) -> Option<bool> {
    let Origin::Read { site, offset, .. } = protocol.opaques[read].origin else { return None };
    let (reader_id, reader) = protocol.accesses.iter().find(|(_, access)| access.site == site)?;
    let store = &protocol.accesses[store_id];
    let (stored_at, read_at) = (order.of_access(store_id)?, order.of_access(reader_id)?);
    let loops_are_around = |loops: &[_]| loops.starts_with(&store.loops);
    let is_same = |value: ExprId| uniformity.holds(protocol, value);
    let is_met = |guard: &Guard| is_same(guard.cond) && reader.guards.iter().any(|other| other.cond == guard.cond);
    let is_made = store.guards.iter().all(|guard| is_met_by_first(protocol, uniformity, guard.cond, &reader.guards))
        && store.loops.iter().all(|&each| uniformity.holds_for_loop(each));
    let is_between = |id: SyncId| {
        let sync = &protocol.syncs[id];
        order.of_sync(id).is_some_and(|at| stored_at < at && at < read_at)
            && matches!(sync.among, Among::All)
            && uniformity.orders(protocol, id, Space::Shared)
            && loops_are_around(&sync.loops)
            && reader.loops.starts_with(&sync.loops)
            && sync.guards.iter().all(is_met)
    };
    let is_around = loops_are_around(&reader.loops) && protocol.opaques[read].loops == reader.loops;
    Some(is_around && is_made && is_same(offset) && protocol.syncs.handles().any(is_between))
}

/// Where accesses and syncs stand in program order.
struct Order {
    accesses: Vec<(AccessId, usize)>,
    syncs: Vec<(SyncId, usize)>,
}

impl Order {
    fn of(protocol: &Protocol) -> Order {
        let mut order = Order { accesses: Vec::new(), syncs: Vec::new() };
        order.walk(&protocol.body);
        order
    }

    fn walk(&mut self, nodes: &[Node]) {
        for node in nodes {
            let place = self.accesses.len() + self.syncs.len();
            match node {
                Node::Access(id) => self.accesses.push((*id, place)),
                Node::Sync(id) => self.syncs.push((*id, place)),
                Node::Fence(_) => {}
                Node::If { then, otherwise, .. } => {
                    self.walk(then);
                    self.walk(otherwise);
                }
                Node::Loop(_, body) => self.walk(body),
            }
        }
    }

    fn of_access(&self, id: AccessId) -> Option<usize> {
        self.accesses.iter().find(|entry| entry.0 == id).map(|entry| entry.1)
    }

    fn of_sync(&self, id: SyncId) -> Option<usize> {
        self.syncs.iter().find(|entry| entry.0 == id).map(|entry| entry.1)
    }
}

/// Whether a condition holds of the thread with the ids (0, 0, 0), whatever else there is.
fn holds_of_first(exprs: &Exprs, cond: ExprId) -> bool {
    value_in_first(exprs, cond).is_some_and(|value| value != 0)
}

/// The value of an expression in that thread, if the ids decide it.
fn value_in_first(exprs: &Exprs, value: ExprId) -> Option<i128> {
    use BinaryOp::{Add, And, BitAnd, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Or, Rem, Shr};
    let of = |value: ExprId| value_in_first(exprs, value);
    let found = match exprs[value] {
        Expr::Int(value, _) => value,
        Expr::Geometry(GeometryVar::ThreadIdx(_)) => 0,
        Expr::Unary(UnaryOp::Not, one) => i128::from(of(one)? == 0),
        Expr::Convert(ScalarType::Bool, one) => i128::from(of(one)? != 0),
        Expr::Convert(_, one) => of(one)?,
        Expr::Binary(op, one, other) => {
            let (one, other) = (of(one), of(other));
            let zero = (one == Some(0)) || (other == Some(0));
            match op {
                Mul | And | BitAnd if zero => 0,
                Or if one.is_some_and(|it| it != 0) || other.is_some_and(|it| it != 0) => 1,
                // Whatever is not divided by is not zero.
                Div | Rem | Shr if one == Some(0) => 0,
                Add => one?.checked_add(other?)?,
                Mul => one?.checked_mul(other?)?,
                And => i128::from(one? != 0 && other? != 0),
                Or => i128::from(one? != 0 || other? != 0),
                Eq => i128::from(one? == other?),
                Ne => i128::from(one? != other?),
                Lt => i128::from(one? < other?),
                Le => i128::from(one? <= other?),
                Gt => i128::from(one? > other?),
                Ge => i128::from(one? >= other?),
                _ => return None,
            }
        }
        _ => return None,
    };
    // What does not fit its type is something else there.
    let (least, most) = exprs.ty(value).range()?;
    (least..=most).contains(&found).then_some(found)
}
