//! Critical sections: what threads do while they hold a lock is done by one after the other.
//!
//! ```text
//! while (atomicCAS(&lock, 0, 1) != 0);    if (atomicCAS(&lock, 0, 1) == 0) {
//! fence;                                    fence;
//! x;                                        x;
//! fence;                                    fence;
//! atomicExch(&lock, 0);                     atomicExch(&lock, 0);
//!                                         }
//! ```
//!
//! # Why two accesses under one lock do not conflict
//! Let everything that may change the cells of an array be a *take* (an atomic that leaves a number other than 0 where
//! it finds 0, and never leaves 0), a *release* (an atomic that leaves 0) or, of a lock of the block, a plain write of
//! 0 that a barrier separates from all takes after it; and let each release stand at the end of a section: after a take
//! that found 0, in the same iteration of all loops. Take the modification order of a cell. A take that finds 0 begins
//! a section; until that thread's release nothing leaves 0, so that no other take finds 0. So sections of one cell do
//! not overlap, whatever the cell holds at first (if that is not 0, there are none). The take that begins a section
//! reads what the release before it wrote, or what takes that failed made of it, which is not 0. So the two
//! synchronise, if
//! - the release releases, or a releasing fence stands before it in the section and after the access, and
//! - the take acquires, or an acquiring fence stands after it and before the access, in the section or before the test
//!   that leads to it,
//!
//! each with a scope that reaches the other thread, and a fence for the memory of the lock and that of the access
//! (OpenCL's flags). In OpenCL the order of an atomic itself is one of the memory that it is in: it counts for accesses
//! there. A compare-exchange that takes a lock has exchanged, so that what it orders otherwise is no matter.
//!
//! It need not be the section before: takes and releases that are read-modify-writes carry on what a release handed
//! over, and so does one that leaves what it finds. Where some release is a plain atomic store, every section has to
//! pass on what it was handed, by an acquiring and then a releasing fence or order of its own.
//!
//! Two accesses are of one cell if its offset is the same for all threads of the launch (of the block, for threads of
//! one), or if both accesses and both locks are elements of arrays with one index each, so that equal elements have
//! equal locks. The index of the access may have summands that are the same for these threads: `a[U + i]` under `lock[i]`.
//! An index that is narrowed to `b` bits on the way is a sum modulo a power of two that is no less than `2^b`, so that two
//! numbers of at most `b` bits with one sum are equal. *Trap.* A number of more bits than some part of the index has.
//!
//! What is handed over, by which fences, and what a section in between carries on are entries of the table in
//! `memory_model::litmus`.
//!
//! # What is not proved
//! A lock that is given back by a plain write; one that is taken where it holds another number than 0; several locks
//! that one access needs; a section whose fence is missing on either side; and, in CUDA, too, other memory than that of
//! the lock by the order of the atomics alone.
//!
//! Everything here is decided by form, without search: prover and checker come to the same answer.

use super::spins::{self, Found, Number, Truth, says};
use super::{HandOver, LocksApart, MissingFence, is_seen, skeleton};
use crate::calculus::{ArrayId, BinaryOp, Expr, ExprId, MemoryOrder, ScalarType, SiteId, Space, SyncMemory, SyncScope};
use crate::memory_model::{AccessKind, Level, both_atomic, fences};
use crate::protocol::uniform::Uniformity;
use crate::protocol::{Access, AccessId, Lock, Loop, Node, Protocol, Reason, ReasonKind};
use crate::prove::Pair;
use crate::prove::sameness::{self, Sameness};
use std::collections::BTreeSet;

/// The critical sections of a protocol.
pub(super) struct CriticalSections<'p> {
    protocol: &'p Protocol,
    sections: Vec<Section>,
}

/// What a thread does between a take that found 0 and its release.
struct Section {
    array: ArrayId,
    /// The offset of the cell.
    cell: ExprId,
    take: AccessId,
    release: Option<AccessId>,
    inside: Vec<Inside>,
    /// Whether what others handed over at the take is handed on at the release, likewise; for each [`Memory`].
    passes_on: [[bool; 2]; 2],
}

/// The memory that has to be ordered for an access to come before others under a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    /// That of the lock: the access is there, too.
    OfLock,
    /// All memory that threads share.
    All,
}

impl Memory {
    const EACH: [Memory; 2] = [Memory::OfLock, Memory::All];

    fn of(protocol: &Protocol, lock: ArrayId, data: ArrayId) -> Memory {
        let [lock, data] = [lock, data].map(|array| protocol.arrays[array].space);
        if lock == data && matches!(lock, Space::Global | Space::Shared) { Memory::OfLock } else { Memory::All }
    }

    /// Whether a fence orders it.
    fn is_ordered(self, fence: SyncMemory, lock: Space) -> bool {
        match (self, lock) {
            (Memory::OfLock, Space::Global) => fence.global,
            (Memory::OfLock, Space::Shared) => fence.shared,
            _ => fence.global && fence.shared,
        }
    }
}

/// An access in a section.
struct Inside {
    id: AccessId,
    /// What is missing for what others did under the lock to come before it, and for it to come before what they do, at
    /// the levels of a block and of the grid.
    missing: [Option<Missing>; 2],
}

/// A fence that is missing on one side of an access, and one there that does not reach far enough.
#[derive(Clone, Copy)]
struct Missing {
    side: HandOver,
    too_narrow: Option<SiteId>,
}

/// Whether some atomic takes a lock: a quick look. Where there is one, what orders two accesses depends on where they
/// are made.
pub(super) fn may_lock(protocol: &Protocol) -> bool {
    protocol.accesses.iter().any(|(_, access)| access.lock == Some(Lock::Take))
}

impl<'p> CriticalSections<'p> {
    /// The critical sections of a protocol, if there are any.
    pub(super) fn of(protocol: &'p Protocol) -> Option<Self> {
        if !may_lock(protocol) {
            return None;
        }
        let mut found = CriticalSections { protocol, sections: Vec::new() };
        found.search(&protocol.body);
        let ends: BTreeSet<AccessId> = found.sections.iter().filter_map(|section| section.release).collect();
        let locks: BTreeSet<ArrayId> = found.sections.iter().map(|section| section.array).collect();
        let locks: BTreeSet<ArrayId> = locks.into_iter().filter(|&array| is_lock(protocol, array, &ends)).collect();
        found.sections.retain(|section| locks.contains(&section.array));
        (!found.sections.is_empty()).then_some(found)
    }

    /// Whether both accesses of a pair are made under one lock, which hands over between them.
    pub(super) fn order(&self, pair: &Pair) -> bool {
        let reach = usize::from(pair.level == Level::Grid);
        self.of_one_lock(pair).any(|held| held.iter().all(|(_, inside)| inside.missing[reach].is_none()))
    }

    /// The fence without which the pair is not ordered, if nothing else is missing.
    pub(super) fn missing(&self, pair: &Pair) -> Option<MissingFence> {
        let reach = usize::from(pair.level == Level::Grid);
        let held = self.of_one_lock(pair).next()?;
        let (section, inside) = held.into_iter().find(|(_, inside)| inside.missing[reach].is_some())?;
        let Missing { side, too_narrow } = inside.missing[reach]?;
        let (after, before) = match side {
            HandOver::Take | HandOver::Look => (section.take, inside.id),
            HandOver::Release | HandOver::Draw | HandOver::Set => (inside.id, section.release?),
        };
        Some(MissingFence { after, before, at: side, too_narrow })
    }

    /// The takes of the locks under which the accesses of a pair are made, if there are some and they are not seen to
    /// be one lock.
    pub(super) fn apart(&self, pair: &Pair) -> Option<LocksApart> {
        let take = |id: AccessId| {
            let holds = |section: &&Section| section.inside.iter().any(|inside| inside.id == id);
            self.sections.iter().find(holds).map(|section| section.take)
        };
        let takes = [take(pair.first), take(pair.second)];
        (takes != [None, None] && self.of_one_lock(pair).next().is_none()).then_some(LocksApart { takes })
    }

    /// The sections of one lock that the accesses of a pair stand in.
    fn of_one_lock(&self, pair: &Pair) -> impl Iterator<Item = [(&Section, &Inside); 2]> {
        let of = |id: AccessId| {
            self.sections.iter().flat_map(move |section| {
                section.inside.iter().filter(move |inside| inside.id == id).map(move |inside| (section, inside))
            })
        };
        of(pair.first)
            .flat_map(move |one| of(pair.second).map(move |other| [one, other]))
            .filter(move |[one, other]| self.is_one_lock(pair, one.0, other.0))
    }

    fn is_one_lock(&self, pair: &Pair, one: &Section, other: &Section) -> bool {
        let lies_alike = one.array == other.array
            && (pair.level != Level::Grid || self.protocol.arrays[one.array].space == Space::Global);
        let of_lock = || self.protocol.accesses.iter().map(|(_, access)| access).filter(|it| it.array == one.array);
        let takes_alike =
            || of_lock().all(|access| access.lock.is_none() || both_atomic(access.kind, access.kind, pair.level));
        let reach = usize::from(pair.level == Level::Grid);
        let is_carried_on = || {
            let mut sections = self.sections.iter().filter(|section| section.array == one.array);
            let data = self.protocol.accesses[pair.first].array;
            let memory = Memory::of(self.protocol, one.array, data) as usize;
            of_lock().all(|access| access.lock != Some(Lock::Clear))
                || sections.all(|section| section.passes_on[memory][reach])
        };
        let is_one_cell = || {
            one.cell == other.cell && sameness::by_form(self.protocol, one.cell, pair.level) <= Sameness::OfConstants
        };
        lies_alike && takes_alike() && is_carried_on() && (is_one_cell() || self.has_lock_of_its_own(pair, one, other))
    }

    /// Whether every element of what is accessed has its own lock: `a[i]` under `lock[i]`.
    fn has_lock_of_its_own(&self, pair: &Pair, one: &Section, other: &Section) -> bool {
        let element = |id: AccessId, section: &Section| {
            let access = &self.protocol.accesses[id];
            let (data, lock) = (self.element(access.offset)?, self.element(section.cell)?);
            Some((access, data, lock))
        };
        let (Some((first, a, lock)), Some((second, b, other_lock))) =
            (element(pair.first, one), element(pair.second, other))
        else {
            return false;
        };
        let is_index_of_lock = a.index == lock.index && b.index == other_lock.index;
        let is_moved =
            || (a.index, lock.index) == (b.index, other_lock.index) && self.tells(a.index, lock.index, pair.level);
        if !is_index_of_lock && !is_moved() {
            return false;
        }
        let start = a.start.min(b.start);
        let end = (a.start + i128::from(first.bytes)).max(b.start + i128::from(second.bytes));
        (a.scale, lock.scale, lock.start) == (b.scale, other_lock.scale, other_lock.start) && end - start <= a.scale
    }

    /// Whether two threads with one value of `index` have one value of `lock`: both come from one number by conversions
    /// and summands that all threads at this level share, and `index` keeps all bits of that number.
    fn tells(&self, index: ExprId, lock: ExprId, level: Level) -> bool {
        let exprs = &self.protocol.exprs;
        let bits = |value: ExprId| exprs.ty(value).bytes() * 8;
        let (mut from, mut narrowest) = (index, bits(index));
        loop {
            if bits(from) <= narrowest && self.comes_from(lock, from, level) {
                return true;
            }
            let Some(inner) = self.inner(from, level) else { return false };
            (from, narrowest) = (inner, narrowest.min(bits(inner)));
        }
    }

    /// Whether a value is computed of `from` and of what all threads at this level share alone.
    fn comes_from(&self, value: ExprId, from: ExprId, level: Level) -> bool {
        std::iter::successors(Some(value), |&value| self.inner(value, level)).any(|value| value == from)
    }

    /// What is converted, or to what something is added that all threads at this level share.
    fn inner(&self, value: ExprId, level: Level) -> Option<ExprId> {
        let is_shared = |part: ExprId| sameness::by_form(self.protocol, part, level) <= Sameness::OfConstants;
        match self.protocol.exprs[value] {
            Expr::Convert(ScalarType::Int { .. }, inner)
                if matches!(self.protocol.exprs.ty(inner), ScalarType::Int { .. }) =>
            {
                Some(inner)
            }
            Expr::Binary(BinaryOp::Add, a, b) if is_shared(a) => Some(b),
            Expr::Binary(BinaryOp::Add, a, b) if is_shared(b) => Some(a),
            _ => None,
        }
    }

    /// An offset as one index times a size plus a constant.
    fn element(&self, offset: ExprId) -> Option<Element> {
        let exprs = &self.protocol.exprs;
        if exprs.ty(offset) != ScalarType::I64 {
            return None;
        }
        match exprs[offset] {
            Expr::Binary(BinaryOp::Add, a, b) => {
                let (a, b) = if exprs.as_int(b).is_some() { (a, b) } else { (b, a) };
                let inner = self.element(a)?;
                Some(Element { start: inner.start + exprs.as_int(b)?, ..inner })
            }
            Expr::Binary(BinaryOp::Mul, a, b) => {
                let (a, b) = if exprs.as_int(b).is_some() { (a, b) } else { (b, a) };
                let scale = exprs.as_int(b).filter(|&scale| scale > 0)?;
                Some(Element { index: a, scale, start: 0 })
            }
            _ => None,
        }
    }

    // ---- finding sections

    fn search(&mut self, nodes: &[Node]) {
        for (at, node) in nodes.iter().enumerate() {
            match node {
                Node::If { cond, then, otherwise } => {
                    for (arm, truth) in [(then, Truth::Holds), (otherwise, Truth::Fails)] {
                        if let Some((take, place)) = self.taken_before(&nodes[..at], *cond, truth) {
                            self.section(&[take.id], &nodes[place + 1..at], arm);
                        }
                        self.search(arm);
                    }
                }
                Node::Loop(id, body) => {
                    if let Some(takes) = self.taken_after(&self.protocol.loops[*id], body, &nodes[..at]) {
                        self.section(&takes, &[], &nodes[at + 1..]);
                    }
                    self.search(body);
                }
                Node::Access(_) | Node::Sync(_) | Node::Fence(_) => {}
            }
        }
    }

    /// The last take among nodes that has found 0 where a condition holds (or fails), and that nothing has undone
    /// since, and its place.
    fn taken_before(&self, nodes: &[Node], cond: ExprId, truth: Truth) -> Option<(Found, usize)> {
        let take = |node: &Node| Found::by(self.protocol, node, Lock::Take);
        let mut takes = nodes.iter().enumerate().filter_map(|(at, node)| Some((at, take(node)?)));
        let (at, take) = takes.rfind(|(_, take)| says(self.protocol, cond, truth, take.var, Number::Zero))?;
        let array = self.protocol.accesses[take.id].array;
        (!nodes[at..].iter().any(|node| self.gives_back(node, array))).then_some((take, at))
    }

    /// Whether something in a node leaves 0 in a cell of a lock.
    fn gives_back(&self, node: &Node, array: ArrayId) -> bool {
        let mut ids = Vec::new();
        accesses_of(node, &mut ids);
        ids.iter().map(|&id| &self.protocol.accesses[id]).any(|access| access.array == array && ends(access))
    }

    /// The takes of which the last one has found 0 when this loop is over: one in the loop, and perhaps one just
    /// before.
    fn taken_after(&self, around: &Loop, body: &[Node], before: &[Node]) -> Option<Vec<AccessId>> {
        // Only what was found may make the number of iterations unknown, not a test that is left out.
        let is_told =
            |reason: &Reason| matches!(reason.kind, ReasonKind::DataDependentGuard | ReasonKind::UnknownLoopCount);
        let takes = spins::ends(self.protocol, (around, body, before), Lock::Take, Number::Zero)?;
        let cells = || takes.iter().map(|&take| &self.protocol.accesses[take]).map(|take| (take.array, take.offset));
        let is_one_lock = cells().all(|cell| Some(cell) == cells().next());
        (is_one_lock && around.reasons.iter().all(is_told)).then_some(takes)
    }

    /// The section that these takes begin, which is the first part of `nodes`; `between` stands behind the takes and before
    /// it.
    fn section(&mut self, takes: &[AccessId], between: &[Node], nodes: &[Node]) {
        let Access { array, offset: cell, .. } = self.protocol.accesses[takes[0]];
        let end = nodes.iter().position(|node| self.gives_back(node, array));
        let release = match end.map(|end| &nodes[end]) {
            None => None,
            Some(&Node::Access(id)) if self.protocol.accesses[id].offset == cell => Some(id),
            // Given back in a branch, or another cell of the lock's array.
            Some(_) => return,
        };
        let part = &nodes[..end.unwrap_or(nodes.len())];
        let reach = Memory::EACH.map(|memory| {
            let levels = [Level::Block, Level::Grid];
            levels.map(|level| Reach::of(self.protocol, (takes, release), (between, part), (level, memory)))
        });
        let passes_on = reach.each_ref().map(|levels| {
            levels.each_ref().map(|reach| matches!((reach.from, reach.to), (Some(from), Some(to)) if from <= to))
        });
        let mut inside = Vec::new();
        for (at, node) in part.iter().enumerate() {
            let mut ids = Vec::new();
            accesses_of(node, &mut ids);
            inside.extend(ids.into_iter().map(|id| {
                let memory = Memory::of(self.protocol, array, self.protocol.accesses[id].array);
                Inside { id, missing: reach[memory as usize].each_ref().map(|reach| reach.missing(at)) }
            }));
        }
        let take = *takes.last().unwrap_or(&takes[0]);
        self.sections.push(Section { array, cell, take, release, inside, passes_on });
    }
}

/// What a section hands over at a level: it receives after its node number `from`, and publishes what stands before
/// that number `to`.
struct Reach {
    from: Option<usize>,
    to: Option<usize>,
    /// The sites of fences in the section, with their places.
    fences: Vec<(usize, SiteId)>,
}

impl Reach {
    fn of(
        protocol: &Protocol,
        (takes, release): (&[AccessId], Option<AccessId>),
        (between, part): (&[Node], &[Node]),
        (level, memory): (Level, Memory),
    ) -> Reach {
        type Counts = fn(MemoryOrder, SyncScope, Level) -> bool;
        let by_access = |id: AccessId, counts: Counts| match protocol.accesses[id].kind {
            AccessKind::Atomic { order, scope, .. } => memory == Memory::OfLock && counts(order, scope, level),
            AccessKind::Read | AccessKind::Write => false,
        };
        let lock = protocol.arrays[protocol.accesses[takes[0]].array].space;
        let fence = |node: &Node| match node {
            Node::Fence(id) => Some(&protocol.fences[*id]).filter(|fence| memory.is_ordered(fence.memory, lock)),
            _ => None,
        };
        let by_fence = |node: &Node, counts: Counts| fence(node).is_some_and(|it| counts(it.order, it.scope, level));
        let received = takes.iter().all(|&take| by_access(take, fences::receives_by_exchange))
            || between.iter().any(|node| by_fence(node, fences::receives));
        let published = release.is_none_or(|release| by_access(release, fences::publishes));
        let first = || part.iter().position(|node| by_fence(node, fences::receives));
        let last = || part.iter().rposition(|node| by_fence(node, fences::publishes));
        Reach {
            from: if received { Some(0) } else { first() },
            to: if published { Some(part.len()) } else { last() },
            fences: part.iter().enumerate().filter_map(|(at, node)| Some((at, fence(node)?.site))).collect(),
        }
    }

    /// What is missing for the node at a place.
    fn missing(&self, at: usize) -> Option<Missing> {
        if self.from.is_none_or(|from| from > at) {
            let too_narrow = self.fences.iter().find(|(place, _)| *place < at).map(|(_, site)| *site);
            return Some(Missing { side: HandOver::Take, too_narrow });
        }
        if self.to.is_none_or(|to| to < at) {
            let too_narrow = self.fences.iter().find(|(place, _)| *place > at).map(|(_, site)| *site);
            return Some(Missing { side: HandOver::Release, too_narrow });
        }
        None
    }
}

/// An element of an array.
struct Element {
    index: ExprId,
    scale: i128,
    start: i128,
}

/// Whether all that may change the cells of an array takes or releases them, and releases only at the ends of sections.
fn is_lock(protocol: &Protocol, array: ArrayId, ends: &BTreeSet<AccessId>) -> bool {
    let of_array = || protocol.accesses.iter().filter(|(_, access)| access.array == array && access.kind.writes());
    let bytes = of_array().next().map_or(0, |(_, access)| access.bytes);
    is_seen(protocol, array)
        && of_array().all(|(id, access)| {
            let does = match access.lock {
                Some(Lock::Take | Lock::Look) => true,
                Some(Lock::Set) => false,
                Some(Lock::Release | Lock::Clear) => ends.contains(&id),
                None => is_first(protocol, id),
            };
            does && access.bytes == bytes && protocol.exprs.is_multiple(access.offset, bytes)
        })
}

/// Whether an access writes 0 to a lock of the block before any of its threads may take it.
fn is_first(protocol: &Protocol, id: AccessId) -> bool {
    let access = &protocol.accesses[id];
    let is_plain = access.kind == AccessKind::Write
        && access.value.is_some_and(|value| protocol.exprs.as_int(value) == Some(0))
        && protocol.arrays[access.array].space == Space::Shared
        && access.loops.is_empty();
    let takes = || {
        let all = protocol.accesses.iter();
        all.filter(|(_, other)| other.array == access.array && other.lock == Some(Lock::Take))
    };
    is_plain && takes().all(|(take, _)| id < take) && {
        let ordering = Uniformity::of(protocol, Level::Block).ordering_syncs(protocol, Space::Shared);
        let intervals = skeleton::intervals(protocol, &ordering);
        takes().all(|(_, take)| !intervals.meet(access.site, take.site))
    }
}

/// Whether an access leaves 0 in a lock.
fn ends(access: &Access) -> bool {
    matches!(access.lock, Some(Lock::Release | Lock::Clear))
}

/// The accesses of a node, at any depth.
fn accesses_of(node: &Node, ids: &mut Vec<AccessId>) {
    match node {
        Node::Access(id) => ids.push(*id),
        Node::If { then, otherwise, .. } => then.iter().chain(otherwise).for_each(|inner| accesses_of(inner, ids)),
        Node::Loop(_, body) => body.iter().for_each(|inner| accesses_of(inner, ids)),
        Node::Sync(_) | Node::Fence(_) => {}
    }
}
