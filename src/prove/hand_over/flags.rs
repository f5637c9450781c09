//! Flags: a thread waits until another block has set a flag, and reads what was written before that.
//!
//! ```text
//! x;                               while (atomicAdd(&flag[c], 0) == 0) ;
//! fence;                           fence;
//! atomicExch(&flag[s], 1);         y;
//! ```
//!
//! # Why they do not conflict where the thread waits for that flag
//! Let everything that may change the cells of an array be one atomic, the *set*, which leaves a number other than 0 and
//! stands outside of all loops, beside atomics that leave what they find; let the cells be 0 at first, which is assumed and
//! printed; and let no two threads of the launch set one cell, which is proved like the absence of a race. A loop that goes
//! on while an atomic finds 0 in a cell `c` is a *wait*: when it ends, the cell holds what some thread has set. A thread
//! whose guards of the set hold, and whose cell `s` is `c`, is the only one that can have.
//!
//! So let `x` be published by the set, and `y` receive at the wait ([`super::publication`]), where
//! - the guards of the set hold in the thread of `x`; or in one thread of its block, whatever block it is that makes `x`,
//!   and then `s` is the same for all threads of the block; likewise for the wait and `y`;
//! - the wait stands outside of all loops but its own.
//!
//! Then `x` comes before `y` unless `s` and `c` differ: the conflict of two blocks at `x` and `y` also says `s < c` or
//! `c < s`, which the rules have to refute with the rest. The set hands over by a chain of read-modify-writes, or is read by
//! the wait itself: what else touches the cell leaves it as it is.
//!
//! What fences hand over is an entry of the table in `memory_model::litmus`.
//!
//! # What is not proved
//! Flags that count (`while (flag < n)`), that are set in a loop, by several threads or to a number that is not constant, or
//! that the kernel resets; waits in loops; plain and volatile flags; threads of one block.
//!
//! Everything but that the cells of the set differ is decided by form. The checker proves that anew.

use super::pins;
use super::publication::{At, Hands, Maker, Publication, are_among};
use super::spins::{self, Number};
use super::{Cells, HandOver, Missing, MissingFence, is_seen};
use crate::calculus::{ArrayId, Expr, ExprId, Space};
use crate::memory_model::{AccessKind, Level, both_atomic};
use crate::protocol::{AccessId, Guard, Lock, LoopId, Node, Protocol, Role};
use crate::prove::{Assumption, Pair, Scope};

/// The flags of a protocol.
pub(super) struct Flags<'p> {
    hands: Hands<'p>,
    sets: Vec<AccessId>,
    waits: Vec<Wait>,
}

/// A loop that ends when a flag is set.
struct Wait {
    /// The atomic in the loop that looks.
    look: AccessId,
    /// It, and the one just before the loop, if there is one.
    looks: Vec<AccessId>,
    array: ArrayId,
    cell: ExprId,
    /// What leads to the loop.
    guards: Vec<Guard>,
}

/// One access of a pair may come before the other, since its block sets a flag and the other one's waits for one.
struct Handing<'f> {
    set: AccessId,
    wait: &'f Wait,
    /// The access before the set, and the one after the wait.
    accesses: [AccessId; 2],
    /// The position of the first of them in the pair.
    position: usize,
    /// Who sets, and who waits.
    makers: [Maker; 2],
}

/// Whether some atomic looks at what another sets: a quick look.
pub(super) fn may_wait(protocol: &Protocol) -> bool {
    let does = |lock: Lock| protocol.accesses.iter().any(|(_, access)| access.lock == Some(lock));
    does(Lock::Look) && (does(Lock::Set) || does(Lock::Take))
}

impl<'p> Flags<'p> {
    /// The flags of a protocol in these launches, if there are any.
    pub(super) fn of(protocol: &'p Protocol, scope: &'p Scope) -> Option<Self> {
        if !may_wait(protocol) {
            return None;
        }
        let mut found = Flags { hands: Hands::new(protocol, scope), sets: Vec::new(), waits: Vec::new() };
        found.search(&protocol.body);
        let arrays: Vec<ArrayId> = found.waits.iter().map(|wait| wait.array).collect();
        found.sets = arrays.iter().filter_map(|&array| found.only_set(array)).collect();
        found.sets.sort_unstable();
        found.sets.dedup();
        (!found.sets.is_empty()).then_some(found)
    }

    /// What else has to hold for two blocks to conflict at the pair.
    pub(super) fn cells(&self, pair: &Pair) -> Vec<Cells> {
        let handings = self.handings(pair);
        let ordered = handings.iter().filter(|handing| self.missing_of(handing).is_none());
        ordered.map(|handing| self.told(handing)).collect()
    }

    /// The fence without which the pair is not ordered, unless cells differ.
    pub(super) fn missing(&self, pair: &Pair) -> Option<Missing> {
        let handings = self.handings(pair);
        let fence = handings.iter().find_map(|handing| self.missing_of(handing))?;
        Some(Missing { fence, unless: Some(handings.iter().map(|handing| self.told(handing)).collect()) })
    }

    // ---- what stands before a set and after a wait

    fn handings(&self, pair: &Pair) -> Vec<Handing<'_>> {
        let protocol = self.hands.sizes.protocol;
        let kinds = [pair.first, pair.second].map(|id| protocol.accesses[id].kind);
        if pair.level != Level::Grid || both_atomic(kinds[0], kinds[1], pair.level) {
            return Vec::new();
        }
        let mut handings = Vec::new();
        for (position, [first, second]) in
            [[pair.first, pair.second], [pair.second, pair.first]].into_iter().enumerate()
        {
            for wait in &self.waits {
                for &set in self.sets.iter().filter(|&&set| protocol.accesses[set].array == wait.array) {
                    let makers = self.maker_of_set(first, set).zip(self.maker_of_wait(second, wait));
                    handings.extend(makers.map(|(setter, waiter)| Handing {
                        set,
                        wait,
                        accesses: [first, second],
                        position,
                        makers: [setter, waiter],
                    }));
                }
            }
        }
        handings
    }

    /// Who sets a flag after an access.
    fn maker_of_set(&self, id: AccessId, set: AccessId) -> Option<Maker> {
        let protocol = self.hands.sizes.protocol;
        let atomic = &protocol.accesses[set];
        let is_apart = || self.hands.are_separated(protocol.accesses[id].site, atomic.site);
        (id < set).then(|| self.maker(id, &atomic.guards, atomic.offset, is_apart)).flatten()
    }

    /// Who has waited for a flag before an access.
    fn maker_of_wait(&self, id: AccessId, wait: &Wait) -> Option<Maker> {
        let protocol = self.hands.sizes.protocol;
        let is_apart = || {
            let mut looks = wait.looks.iter().map(|&look| protocol.accesses[look].site);
            looks.all(|look| self.hands.are_separated(look, protocol.accesses[id].site))
        };
        let is_after = wait.looks.iter().all(|&look| look < id);
        is_after.then(|| self.maker(id, &wait.guards, wait.cell, is_apart)).flatten()
    }

    /// Who makes what stands under these guards, wherever the access is made.
    fn maker(&self, id: AccessId, guards: &[Guard], cell: ExprId, is_apart: impl Fn() -> bool) -> Option<Maker> {
        let Hands { sizes, block, .. } = &self.hands;
        let access = &sizes.protocol.accesses[id];
        if are_among(guards, [&access.guards, &[]]) {
            return Some(Maker::Itself);
        }
        let pins = pins::pins(sizes, guards);
        let is_around = |guard: &Guard| {
            block.holds(sizes.protocol, guard.cond) && are_among(std::slice::from_ref(guard), [&access.guards, &[]])
        };
        let is_made = pins::is_one_thread(sizes, &pins)
            && guards.iter().all(|guard| pins::chooses(sizes, guard.cond) || is_around(guard));
        (is_made && block.holds(sizes.protocol, cell) && is_apart()).then_some(Maker::One)
    }

    /// The fence that is missing between the two accesses, on the one side or the other.
    fn missing_of(&self, handing: &Handing<'_>) -> Option<MissingFence> {
        let protocol = self.hands.sizes.protocol;
        let &Handing { set, wait, accesses: [first, second], makers: [setter, waiter], .. } = handing;
        let at_set = At { id: set, guards: &protocol.accesses[set].guards };
        let published = |level| self.hands.publication(first, at_set, setter, level);
        let Some(publication) = published(Level::Grid) else {
            let too_narrow = published(Level::Block).and_then(Publication::fence);
            return Some(MissingFence { after: first, before: set, at: HandOver::Set, too_narrow });
        };
        let at_wait = At { id: wait.look, guards: &wait.guards };
        let is_received = self.hands.is_received(second, at_wait, waiter, publication);
        let missing = MissingFence { after: wait.look, before: second, at: HandOver::Look, too_narrow: None };
        (!is_received).then_some(missing)
    }

    fn told(&self, handing: &Handing<'_>) -> Cells {
        let protocol = self.hands.sizes.protocol;
        let set = &protocol.accesses[handing.set];
        let assumptions = vec![Assumption::StartsAtZero(protocol.arrays[set.array].name.clone())];
        let (setter, wait) = (handing.position, handing.wait.cell);
        Cells { set: set.offset, setter, wait, assumptions, by: handing.set }
    }

    // ---- sets and waits

    fn search(&mut self, nodes: &[Node]) {
        for (at, node) in nodes.iter().enumerate() {
            match node {
                Node::If { then, otherwise, .. } => {
                    self.search(then);
                    self.search(otherwise);
                }
                Node::Loop(id, body) => self.waits.extend(self.wait(*id, body, &nodes[..at])),
                Node::Access(_) | Node::Sync(_) | Node::Fence(_) => {}
            }
        }
    }

    /// The wait that a loop outside of others is.
    fn wait(&self, id: LoopId, body: &[Node], before: &[Node]) -> Option<Wait> {
        let protocol = self.hands.sizes.protocol;
        let around = &protocol.loops[id];
        if !around.loops.is_empty() {
            return None;
        }
        let looks = spins::ends(protocol, (around, body, before), Lock::Look, Number::Other)?;
        let inside = *looks.last()?;
        let access = &protocol.accesses[inside];
        let one = |&look: &AccessId| {
            let other = &protocol.accesses[look];
            (other.array, other.offset, other.kind) == (access.array, access.offset, access.kind)
        };
        let wait =
            Wait { array: access.array, cell: access.offset, guards: around.guards.clone(), look: inside, looks };
        (is_settled(protocol, wait.cell) && wait.looks.iter().all(one)).then_some(wait)
    }

    /// The set of an array that holds flags, if it holds any.
    fn only_set(&self, array: ArrayId) -> Option<AccessId> {
        let protocol = self.hands.sizes.protocol;
        let all = || protocol.accesses.iter().filter(|(_, access)| access.array == array);
        let changes = || all().filter(|(_, access)| access.kind.writes());
        let mut sets = changes().filter(|(_, access)| access.lock != Some(Lock::Look));
        let (Some((id, set)), None) = (sets.next(), sets.next()) else { return None };
        let is_flag = |access: &crate::protocol::Access| {
            access.bytes == set.bytes
                && protocol.exprs.is_multiple(access.offset, set.bytes)
                && both_atomic(access.kind, set.kind, Level::Grid)
        };
        let is_alone = is_seen(protocol, array)
            && matches!(set.lock, Some(Lock::Set | Lock::Take))
            && set.loops.is_empty()
            && is_settled(protocol, set.offset)
            && protocol.arrays[array].space == Space::Global
            && all().all(|(_, access)| access.kind == AccessKind::Read || is_flag(access));
        is_alone.then_some(id)
    }
}

/// Whether a value is the same for the thread wherever it is: no loop that it stands in changes it.
fn is_settled(protocol: &Protocol, value: ExprId) -> bool {
    let mut settled = true;
    protocol.exprs.visit(value, |_, node| {
        let Expr::Var(var) = node else { return };
        settled &= match protocol.roles.get(*var) {
            Some(&Role::Opaque(id)) => protocol.opaques[id].loops.is_empty(),
            _ => false,
        };
    });
    settled
}
