//! Which asynchronous copies are under way, and what may not happen meanwhile.
//!
//! A copy is done when its thread or its group has waited for its batch, its events or its barrier. Until then it may read
//! and write at any moment:
//! - behind a barrier, where its accesses are repeated ([`super::again`]);
//! - between the accesses of its own thread to the same memory, which is said to be not modelled;
//! - while a fence or a releasing atomic hands over what the thread did, which does not wait for it: likewise.
//!
//! A loop is lowered once and stands for all its turns, so what is under way at the end of a turn is so at the start of the
//! next ([`Pass::copies_of_turns`]); where ways meet, a copy of either is under way ([`Pass::join_copies`]).
//!
//! # Guarantees
//! What is taken to be done is: a copy that some wait may not cover stays under way, and what it then meets is `unknown`.
//!
//! Deliberately absent: own accesses told apart by their elements: any access to an array that is being copied counts.

use super::again::Mark;
use super::events::{EventId, Events, Held};
use crate::builtins::collectives::Group;
use crate::calculus::{Access, ArrayId, ExprId, ScalarType, SiteId, Stmt, VarId};
use crate::lower::pass::Pass;
use crate::lower::storage::access::Touch;
use crate::lower::value::Pointer;
use crate::memory_model::fences;
use crate::settle::notes::Object;
use crate::source::Span;
use std::collections::BTreeSet;

/// The identity of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lower) struct CopyId(u32);

/// Copies that are under way.
#[derive(Clone, Debug, Default)]
pub(in crate::lower) struct Copies {
    pending: Vec<Copy>,
    /// The events that variables hold.
    held: Held,
    /// Batches that were committed, empty ones too, and not waited for.
    batches: Batches,
    /// Whether what is emitted is part of a copy.
    is_copying: bool,
}

impl Copies {
    fn under_way(&self) -> BTreeSet<CopyId> {
        self.pending.iter().map(|copy| copy.id).collect()
    }

    /// The arrays that are read or written.
    fn arrays(&self) -> BTreeSet<ArrayId> {
        self.pending.iter().flat_map(Copy::arrays).collect()
    }

    /// The copies that a group has begun and that its wait covers.
    pub(in crate::lower) fn of_group(&self, group: Group) -> BTreeSet<CopyId> {
        let begun = self.pending.iter().filter(|copy| copy.group == Some(group) && copy.told_by.is_none());
        begun.map(|copy| copy.id).collect()
    }

    /// What the thread has begun by itself is one more batch.
    pub(in crate::lower) fn commit(&mut self) {
        let of_thread = |copy: &&mut Copy| copy.group.is_none() && copy.told_by.is_none();
        for copy in self.pending.iter_mut().filter(of_thread) {
            copy.newer = Some(copy.newer.map_or(0, |newer| newer + 1));
        }
        if let Batches::Known(batches) = &mut self.batches {
            *batches += 1;
        }
    }

    /// All batches but the newest so many are done.
    pub(in crate::lower) fn wait_for_all_but(&mut self, newest: u32) {
        self.pending.retain(|copy| copy.newer.is_none_or(|newer| newer < newest));
        self.pending.iter_mut().for_each(|copy| copy.may_be_done |= copy.is_repeated);
        if let Batches::Known(batches) = &mut self.batches {
            *batches = newest.min(*batches);
        }
    }

    /// A barrier tells when the copy is done that was begun last.
    pub(in crate::lower) fn last_is_told_by(&mut self, barrier: Object) {
        if let Some(copy) = self.pending.last_mut() {
            copy.told_by = Some((barrier, false));
        }
    }

    /// These copies are done. Returns what they touched and no other copy does.
    pub(in crate::lower) fn finish(&mut self, done: &BTreeSet<CopyId>) -> BTreeSet<ArrayId> {
        let mut touched = self.arrays();
        self.pending.retain(|copy| !done.contains(&copy.id));
        for busy in self.arrays() {
            touched.remove(&busy);
        }
        touched
    }

    /// Nothing is known of the copies any more; the arrays that they touch.
    pub(in crate::lower) fn give_up(&mut self) -> Vec<ArrayId> {
        let arrays = self.arrays();
        self.pending.clear();
        arrays.into_iter().collect()
    }

    /// The event that a value is, if one is known.
    pub(in crate::lower) fn held(&self, value: ExprId) -> Option<EventId> {
        self.held.get(&value).copied()
    }

    /// A value is an event.
    pub(in crate::lower) fn hold(&mut self, value: ExprId, event: EventId) {
        self.held.insert(value, event);
    }
}

/// A number of batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Batches {
    Known(u32),
    /// It differs from turn to turn or from way to way.
    Unknown,
}

impl Default for Batches {
    fn default() -> Self {
        Batches::Known(0)
    }
}

/// Numbers of waits.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::lower) struct Waits {
    pub(in crate::lower) all: u32,
    /// For an oldest batch.
    oldest: u32,
}

/// What stays known of copies wherever the walk goes back to an earlier place.
#[derive(Clone, Debug, Default)]
pub(in crate::lower) struct Begun {
    count: u32,
    pub(in crate::lower) waits: Waits,
    /// What they touch.
    touched: BTreeSet<ArrayId>,
    pub(in crate::lower) events: Events,
}

/// A copy that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Copy {
    id: CopyId,
    reads: Vec<ArrayId>,
    writes: Vec<ArrayId>,
    /// Batches that were committed after its own one; `None` before its own one is.
    newer: Option<u32>,
    /// The group that makes it together.
    group: Option<Group>,
    /// The barrier that tells that it is done, and whether the thread has arrived there since.
    told_by: Option<(Object, bool)>,
    /// Where its accesses stand.
    part: [Mark; 2],
    /// Whether it was begun in a loop, so that it stands for several.
    is_repeated: bool,
    /// Whether it may be done already: some wait may have covered it.
    may_be_done: bool,
}

impl Copy {
    /// What it touches.
    fn arrays(&self) -> impl Iterator<Item = ArrayId> + '_ {
        self.reads.iter().chain(&self.writes).copied()
    }
}

/// How an event is held.
const EVENT: ScalarType = ScalarType::U64;

impl Pass<'_> {
    /// The oldest batch is done, and it may be an empty one.
    pub(in crate::lower) fn copies_wait_for_oldest(&mut self) {
        self.begun.waits.oldest += 1;
        match &mut self.copies.batches {
            Batches::Known(0) => {}
            Batches::Known(batches) => {
                *batches -= 1;
                let oldest = Some(*batches);
                self.copies.pending.retain(|copy| copy.is_repeated || copy.newer != oldest);
                self.copies.pending.iter_mut().for_each(|copy| copy.may_be_done |= copy.is_repeated);
            }
            Batches::Unknown => self.copies.pending.iter_mut().for_each(|copy| copy.may_be_done = true),
        }
    }

    /// The thread arrives at a barrier, and with it what was begun for that barrier; `None` is a group's own barrier.
    pub(in crate::lower) fn copies_arrive(&mut self, barrier: Option<Object>) {
        for copy in &mut self.copies.pending {
            if let Some((object, arrived)) = &mut copy.told_by {
                *arrived |= Some(*object) == barrier;
            }
        }
    }

    /// The barrier lets the thread go on: what was begun for it before the thread arrived is done.
    pub(in crate::lower) fn copies_are_done_at(&mut self, barrier: Option<Object>) {
        self.begun.waits.all += 1;
        self.copies.pending.retain(|copy| !matches!(copy.told_by, Some((object, true)) if Some(object) == barrier));
    }

    /// What `action` emits is part of copies.
    pub(in crate::lower) fn while_copying(&mut self, action: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.copies.is_copying, true);
        action(self);
        self.copies.is_copying = before;
    }

    /// A copy has begun.
    pub(in crate::lower) fn begin(
        &mut self,
        from: &Pointer,
        to: &Pointer,
        group: Option<Group>,
        part: [Mark; 2],
    ) -> CopyId {
        let (reads, writes) = (self.arrays_behind(from), self.arrays_behind(to));
        let id = CopyId(self.begun.count);
        self.begun.count += 1;
        self.begun.touched.extend(reads.iter().chain(&writes));
        self.copies.pending.push(Copy {
            id,
            reads,
            writes,
            newer: None,
            group,
            told_by: None,
            part,
            is_repeated: false,
            may_be_done: false,
        });
        id
    }

    /// A statement is about to be emitted: what it does while a copy is under way may not be modelled. Returns the barrier
    /// that it is, if copies go on behind it.
    pub(in crate::lower) fn watch_copies(&mut self, stmt: &Stmt) -> Option<SiteId> {
        if self.copies.is_copying {
            if let Stmt::Read { access, .. } | Stmt::Write { access, .. } | Stmt::Atomic { access, .. } = stmt {
                self.notes.of_libraries.insert(access.site);
            }
            return None;
        }
        if let Stmt::Let { var, value } = stmt {
            self.hold_event(*var, *value);
        }
        if self.copies.pending.is_empty() {
            return None;
        }
        match stmt {
            // Whether others wait for an arrival is asked when the kernel is complete.
            Stmt::Sync { among, .. } if among.arrivals().is_some() => {}
            Stmt::Sync { site, memory, .. } if memory.shared || memory.global || memory.array.is_some() => {
                return Some(*site);
            }
            // A fence does not wait for copies.
            Stmt::Fence { site, order, .. } if fences::releases(*order) => self.hand_over(*site),
            Stmt::Atomic { access, order, .. } if fences::releases(*order) => {
                self.hand_over(access.site);
                self.watch_access(access, Touch::Write);
            }
            Stmt::Read { access, .. } => self.watch_access(access, Touch::Read),
            Stmt::Write { access, .. } | Stmt::Atomic { access, .. } => self.watch_access(access, Touch::Write),
            _ => {}
        }
        None
    }

    /// What was done is handed over to other threads while copies are under way, which are not.
    fn hand_over(&mut self, site: SiteId) {
        let arrays = self.copies.arrays();
        if let Some(span) = self.kernel.sites[site].span {
            let reason = "fence while an asynchronous copy is under way, which it does not wait for".to_owned();
            self.unsupported_on(span, reason, arrays.into_iter().collect());
        }
    }

    /// A barrier has been emitted while copies are under way: each may read and write behind it.
    pub(in crate::lower) fn copies_go_on(&mut self, barrier: SiteId) {
        let pending = self.copies.pending.clone();
        if !pending.iter().all(|copy| !copy.may_be_done && self.repeat(copy.part).is_some()) {
            self.give_up_copies_at(barrier);
        }
    }

    fn give_up_copies_at(&mut self, barrier: SiteId) {
        let span = self.kernel.sites[barrier].span;
        self.give_up_copies(span, "barrier while an asynchronous copy is under way");
    }

    /// A loop has been lowered whose body is `block`: what is under way at its end is so at the start of its next turn, and
    /// what was under way before it may still be.
    pub(in crate::lower) fn copies_of_turns(&mut self, (before, waits): (Copies, Waits), block: &[Stmt]) {
        let earlier = before.under_way();
        let begun = self.copies.under_way().difference(&earlier).copied().collect();
        self.begun.events.turn(&before.held, &self.copies.held, &begun);
        let batches = before.batches;
        self.join_copies(before);
        if batches != self.copies.batches && self.begun.waits.oldest > waits.oldest {
            // The waits of this turn were taken for those of the first one.
            let arrays: BTreeSet<ArrayId> = self.begun.touched.clone();
            let span = self.program.functions[self.frames[0].function].span;
            let reason = "waits for the oldest of copies, in a loop that does not wait for as many as it begins";
            self.unsupported_on(span, reason.to_owned(), arrays.into_iter().collect());
        }
        for copy in &mut self.copies.pending {
            copy.is_repeated = true;
            copy.may_be_done |= self.begun.waits.all > waits.all;
        }
        self.watch_again(block);
    }

    fn watch_again(&mut self, block: &[Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::If { then, otherwise, .. } => {
                    self.watch_again(then);
                    self.watch_again(otherwise);
                }
                Stmt::For(counted) => self.watch_again(&counted.body),
                Stmt::Loop { body, .. } => self.watch_again(body),
                Stmt::Let { .. } => {}
                Stmt::Read { access, .. } | Stmt::Write { access, .. } | Stmt::Atomic { access, .. }
                    if self.notes.of_libraries.contains(&access.site) => {}
                stmt => {
                    if let Some(barrier) = self.watch_copies(stmt) {
                        self.give_up_copies_at(barrier);
                    }
                }
            }
        }
    }

    /// A variable is assigned, perhaps an event.
    fn hold_event(&mut self, variable: VarId, value: ExprId) {
        let ty = self.kernel.vars[variable].ty;
        if ty != EVENT || self.copies.held.is_empty() && self.kernel.exprs.as_int(value) != Some(0) {
            return;
        }
        let event = match self.kernel.exprs.as_int(value) {
            Some(0) => Some(self.begun.events.null()),
            _ => self.copies.held.get(&value).copied(),
        };
        let variable = self.var(variable);
        match event {
            Some(event) => _ = self.copies.held.insert(variable, event),
            None => _ = self.copies.held.remove(&variable),
        }
    }

    fn watch_access(&mut self, access: &Access, touch: Touch) {
        let meets = |copy: &Copy| {
            copy.writes.contains(&access.array) || touch == Touch::Write && copy.reads.contains(&access.array)
        };
        if !self.copies.pending.iter().any(meets) {
            return;
        }
        let name = self.kernel.arrays[access.array].name.clone();
        if let Some(span) = self.kernel.sites[access.site].span {
            let reason = format!("access to '{name}' while an asynchronous copy of it may be under way");
            self.unsupported_of_thread(span, reason, vec![access.array]);
        }
    }

    /// The kernel ends. What a thread has begun is done before it is over, and no barrier comes any more.
    pub(in crate::lower) fn copies_at_the_end(&mut self, span: Span) {
        self.copies.pending.retain(|copy| copy.group.is_some());
        // A group has to wait for its copies (OpenCL C, "Async Copies"): what the kernel did meanwhile is in it already, and
        // nothing comes behind.
        let is_known = self.copies.pending.iter().all(|copy| copy.arrays().next().is_some());
        if !is_known {
            return self.no_copies_here(span);
        }
        let arrays = self.copies.give_up();
        if !arrays.is_empty() {
            self.unsupported_of_thread(span, "asynchronous copy that nobody waits for".to_owned(), arrays);
        }
    }

    /// Copies must not be under way here: their moment would not be known.
    pub(in crate::lower) fn no_copies_here(&mut self, span: Span) {
        if !self.copies.pending.is_empty() {
            self.give_up_copies(Some(span), "asynchronous copy that is under way into or out of a loop or function");
        }
    }

    fn give_up_copies(&mut self, span: Option<Span>, reason: &str) {
        self.copies.pending.clear();
        let function = self.program.functions[self.frames[0].function].span;
        self.unsupported(span.unwrap_or(function), reason.to_owned());
    }

    /// What is under way before a loop, and the number of waits so far.
    pub(in crate::lower) fn copies_before_turns(&self) -> (Copies, Waits) {
        (self.copies.clone(), self.begun.waits)
    }

    /// Whether a copy is under way.
    pub(in crate::lower) fn is_copying_now(&self) -> bool {
        !self.copies.pending.is_empty()
    }

    /// What is under way, to come back to.
    pub(in crate::lower) fn copies_now(&self) -> Copies {
        self.copies.clone()
    }

    /// Goes back to what was under way before, and returns what is now.
    pub(in crate::lower) fn other_way(&mut self, before: &Copies) -> Copies {
        std::mem::replace(&mut self.copies, before.clone())
    }

    /// Two ways meet: what is under way at the end of either is.
    pub(in crate::lower) fn join_copies(&mut self, other: Copies) {
        let (here, there) = (self.copies.under_way(), other.under_way());
        self.copies.held = self.begun.events.join((&self.copies.held, &here), (&other.held, &there));
        let begun_before: Vec<bool> = self.copies.pending.iter().map(|copy| self.is_open(copy.part[0])).collect();
        for (copy, begun_before) in self.copies.pending.iter_mut().zip(begun_before) {
            copy.may_be_done |= begun_before && !there.contains(&copy.id);
        }
        for mut copy in other.pending {
            let mut known = self.copies.pending.iter_mut().filter(|known| known.id == copy.id);
            let same = |known: &Copy| (known.newer, known.told_by) == (copy.newer, copy.told_by);
            match known.next() {
                Some(known) if same(known) => known.may_be_done |= copy.may_be_done,
                // It is committed, or awaited, on one way alone.
                Some(known) => {
                    known.may_be_done = true;
                    copy.may_be_done = true;
                    self.copies.pending.push(copy);
                }
                None => {
                    copy.may_be_done |= self.is_open(copy.part[0]);
                    self.copies.pending.push(copy);
                }
            }
        }
        if self.copies.batches != other.batches {
            self.copies.batches = Batches::Unknown;
        }
    }
}
