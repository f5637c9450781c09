//! Asynchronous copies: the bytes are read and written at some moment between the call and the wait that covers it.
//!
//! A copy is lowered to its accesses where it is called. That is right as long as no barrier stands between the call and
//! its wait, since it does not matter for races where in an interval an access is. What else could tell the moment, or
//! could come between, is not modelled and said to be so: a barrier while a copy is under way, an access of the program
//! to memory that is being copied, a copy that is under way from one turn of a loop to the next.
//!
//! A copy that a group makes together reads and writes each byte by some thread of the group. So every thread may write
//! all of them, and these writes do not conflict with each other. Whoever has waited for it knows that all of it is done:
//! the wait orders the arrays of the copy (limited by [`super::own_order`]). In OpenCL all work-items of the group have to
//! give a copy the same arguments, and a wait the same events.
//!
//! Deliberately absent: whether two copies of one thread overlap.

use super::access::Touch;
use super::again::Mark;
use super::events::{Events, Held};
use super::home::{Holder, Home};
use super::parties::Object;
use super::pass::Pass;
use super::value::{Base, Pointer, Value};
use crate::builtins::Copying;
use crate::builtins::collectives::Group;
use crate::calculus::{
    Access, Among, ArrayId, AtomicOp, BinaryOp, Claimed, Expr as Node, ExprId, GeometryVar, HavocReason, MemoryOrder,
    SAME_BLOCK, ScalarType, SiteId, Space, Stmt, SyncMemory, SyncScope, VarId,
};
use crate::memory_model::fences;
use crate::resolve::program::Expr;
use crate::source::Span;
use std::collections::BTreeSet;

/// The identity of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CopyId(u32);

/// Copies that are under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
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
pub(super) struct Waits {
    all: u32,
    /// For an oldest batch.
    oldest: u32,
}

/// What stays known of copies wherever the walk goes back to an earlier place.
#[derive(Clone, Debug, Default)]
pub(super) struct Begun {
    count: u32,
    waits: Waits,
    /// What they touch.
    touched: BTreeSet<ArrayId>,
    events: Events,
    /// The accesses that libraries make.
    pub(super) sites: BTreeSet<SiteId>,
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
const EVENT_BYTES: u64 = 8;

impl Pass<'_> {
    /// A call that begins copies, or waits for them.
    pub(super) fn copying(&mut self, copying: Copying, args: &[Expr], call: &Expr) -> Value {
        let span = call.span;
        let waits =
            matches!(copying, Copying::WaitPrior | Copying::WaitOldest | Copying::GroupWait(_) | Copying::WaitEvents);
        self.begun.waits.all += u32::from(waits);
        match copying {
            Copying::Copy => self.copy_of_thread(args, call),
            Copying::Commit => {
                self.evaluate(args);
                let of_thread = |copy: &&mut Copy| copy.group.is_none() && copy.told_by.is_none();
                for copy in self.copies.pending.iter_mut().filter(of_thread) {
                    copy.newer = Some(copy.newer.map_or(0, |newer| newer + 1));
                }
                if let Batches::Known(batches) = &mut self.copies.batches {
                    *batches += 1;
                }
                Value::Void
            }
            Copying::WaitPrior => {
                let newest = args.first().map(|arg| self.scalar(arg));
                let newest = newest.and_then(|newest| self.kernel.exprs.as_int(newest));
                match newest.map(u32::try_from) {
                    Some(Ok(newest)) => {
                        self.copies.pending.retain(|copy| copy.newer.is_none_or(|newer| newer < newest));
                        self.copies.pending.iter_mut().for_each(|copy| copy.may_be_done |= copy.is_repeated);
                        if let Batches::Known(batches) = &mut self.copies.batches {
                            *batches = newest.min(*batches);
                        }
                    }
                    _ => self.unsupported(span, "wait for a number of copies that is not a constant".to_owned()),
                }
                Value::Void
            }
            Copying::WaitOldest => {
                self.evaluate(args);
                self.wait_for_oldest();
                Value::Void
            }
            Copying::GroupCopy(group) => self.copy_of_group(group, args, call),
            Copying::GroupWait(group) => {
                self.evaluate(args);
                self.wait_for_group(group, span);
                Value::Void
            }
            Copying::BarrierCopy(group) => self.copy_for_barrier(group, args, call),
            Copying::WorkGroupCopy => self.work_group_copy(args, call),
            Copying::WaitEvents => self.wait_for_events(args, span),
        }
    }

    /// The oldest batch is done, and it may be an empty one.
    fn wait_for_oldest(&mut self) {
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

    fn evaluate(&mut self, args: &[Expr]) {
        for arg in args {
            self.value(arg);
        }
    }

    /// `__pipeline_memcpy_async(to, from, bytes, zeros)`: the last bytes written are zeros that nothing is read for.
    fn copy_of_thread(&mut self, args: &[Expr], call: &Expr) -> Value {
        let [to, from, bytes, rest @ ..] = args else { return self.missing(call) };
        let (to, from, bytes) = (self.pointer(to), self.pointer(from), self.scalar(bytes));
        let bytes = self.exprs().convert(ScalarType::I64, bytes);
        let read = match rest.first() {
            Some(zeros) => {
                let zeros = self.scalar(zeros);
                let zeros = self.exprs().convert(ScalarType::I64, zeros);
                self.exprs().binary(BinaryOp::Sub, bytes, zeros)
            }
            None => bytes,
        };
        self.copy_alone((&to, bytes), (&from, read), call.span);
        Value::Void
    }

    /// A thread begins a copy.
    fn copy_alone(&mut self, to: (&Pointer, ExprId), from: (&Pointer, ExprId), span: Span) {
        let ((), part) = self.marked(|pass| {
            pass.while_copying(|pass| {
                pass.move_bytes(from.0, Touch::Read, from.1, span);
                pass.move_bytes(to.0, Touch::Write, to.1, span);
            });
        });
        self.begin(from.0, to.0, None, part);
    }

    /// `memcpy_async(to, from, bytes, barrier)`: done once the barrier lets those go on who arrive after it was begun.
    fn copy_for_barrier(&mut self, group: Option<Group>, args: &[Expr], call: &Expr) -> Value {
        let [to, from, bytes, barrier] = args else { return self.missing(call) };
        let (to, from, bytes) = (self.pointer(to), self.pointer(from), self.scalar(bytes));
        // Which one it is may not change until the thread arrives.
        let barrier = self.barrier_at(barrier).filter(|barrier| self.is_immutable(barrier.offset));
        let bytes = self.exprs().convert(ScalarType::I64, bytes);
        match group {
            Some(group) => {
                let part = self.copy_together(group, (&to, bytes), (&from, bytes), call.span);
                self.begin(&from, &to, Some(group), part);
            }
            None => self.copy_alone((&to, bytes), (&from, bytes), call.span),
        }
        match (barrier, self.copies.pending.last_mut()) {
            (Some(barrier), Some(copy)) => copy.told_by = Some((barrier, false)),
            _ => self.unsupported(call.span, "asynchronous copy with a barrier of which is not known which it is".to_owned()),
        }
        Value::Void
    }

    /// The thread arrives at a barrier, and with it what was begun for that barrier; `None` is a group's own barrier.
    pub(super) fn copies_arrive(&mut self, barrier: Option<Object>) {
        for copy in &mut self.copies.pending {
            if let Some((object, arrived)) = &mut copy.told_by {
                *arrived |= Some(*object) == barrier;
            }
        }
    }

    /// The barrier lets the thread go on: what was begun for it before the thread arrived is done.
    pub(super) fn copies_are_done_at(&mut self, barrier: Option<Object>) {
        self.begun.waits.all += 1;
        self.copies.pending.retain(|copy| !matches!(copy.told_by, Some((object, true)) if Some(object) == barrier));
    }

    /// What `action` emits, with marks before and behind it.
    fn marked<R>(&mut self, action: impl FnOnce(&mut Self) -> R) -> (R, [Mark; 2]) {
        let from = self.mark();
        let result = action(self);
        (result, [from, self.mark()])
    }

    /// `memcpy_async(group, to, from, bytes)`, without the group.
    fn copy_of_group(&mut self, group: Group, args: &[Expr], call: &Expr) -> Value {
        let [to, from, bytes] = args else { return self.missing(call) };
        let (to, from, bytes) = (self.pointer(to), self.pointer(from), self.scalar(bytes));
        let part = self.copy_together(group, (&to, bytes), (&from, bytes), call.span);
        self.begin(&from, &to, Some(group), part);
        Value::Void
    }

    /// `async_work_group_copy(to, from, number, event)`, and with a stride before the event.
    fn work_group_copy(&mut self, args: &[Expr], call: &Expr) -> Value {
        let (to, from, number, stride, event) = match args {
            [to, from, number, event] => (to, from, number, None, event),
            [to, from, number, stride, event] => (to, from, number, Some(stride), event),
            _ => return self.missing(call),
        };
        let size = self.layout.pointee(to.ty).map_or(1, |ty| self.layout.size(ty));
        let (to, from, number) = (self.pointer(to), self.pointer(from), self.scalar(number));
        let number = self.exprs().convert(ScalarType::I64, number);
        let size = self.offset(size);
        let bytes = self.exprs().binary(BinaryOp::Mul, number, size);
        // The elements in global memory lie so far apart; what is between them is taken for copied, too.
        let spread = match stride {
            Some(stride) => {
                let stride = self.scalar(stride);
                let stride = self.exprs().convert(ScalarType::I64, stride);
                self.exprs().binary(BinaryOp::Mul, bytes, stride)
            }
            None => bytes,
        };
        let of_space = |pass: &Self, pointer: &Pointer| if pass.is_shared(pointer) { bytes } else { spread };
        let (written, read) = (of_space(self, &to), of_space(self, &from));
        let given = match self.value(event) {
            Value::Scalar(event) => event,
            _ => return self.missing(call),
        };
        let is_null = self.kernel.exprs.as_int(given) == Some(0);
        let given = self.copies.held.get(&given).copied();
        self.agree(&[to.offset, from.offset, number], call.span);
        let part = self.copy_together(Group::Block, (&to, written), (&from, read), call.span);
        let copy = self.begin(&from, &to, Some(Group::Block), part);
        let event = self.unknown_value(call.ty, &HavocReason::Other("an event".to_owned()), call.span);
        if let Value::Scalar(variable) = event
            && (is_null || given.is_some())
        {
            let made = self.begun.events.begin(copy, given);
            self.copies.held.insert(variable, made);
        }
        event
    }

    /// All work-items of a group give a call that they make together the same values.
    fn agree(&mut self, values: &[ExprId], span: Span) {
        let mut same = self.exprs().bool(true);
        for &value in values {
            if !self.is_same_in_group(value) {
                let other = self.exprs().other(value);
                let equal = self.exprs().binary(BinaryOp::Eq, other, value);
                same = self.exprs().and(same, equal);
            }
        }
        if self.kernel.exprs.as_int(same).is_some() {
            return;
        }
        let of_one_group = self.exprs().call(SAME_BLOCK, Vec::new(), ScalarType::Bool);
        let apart = self.exprs().not(of_one_group);
        let cond = self.exprs().or(apart, same);
        let site = self.site(span);
        self.emit(Stmt::Assert { cond, claimed: Claimed::Agreement, site });
    }

    /// Whether the form of a value shows that it is the same in all threads of a group.
    fn is_same_in_group(&self, value: ExprId) -> bool {
        let mut same = true;
        self.kernel.exprs.visit(value, |_, node| {
            same &= !matches!(node, Node::Var(_) | Node::Geometry(GeometryVar::ThreadIdx(_)) | Node::Call(..));
        });
        same
    }

    fn is_shared(&self, pointer: &Pointer) -> bool {
        self.arrays_behind(pointer).iter().all(|&array| self.kernel.arrays[array].space == Space::Shared)
    }

    /// All threads of the group meet, and each may touch every byte.
    fn copy_together(
        &mut self,
        group: Group,
        to: (&Pointer, ExprId),
        from: (&Pointer, ExprId),
        span: Span,
    ) -> [Mark; 2] {
        let site = self.site(span);
        self.emit(Stmt::Sync { scope: scope_of(group), memory: SyncMemory::LIBRARY, among: Among::All, site });
        let ((), part) = self.marked(|pass| {
            let reason = HavocReason::Other("which thread copies which byte".to_owned());
            let does = pass.havoc(ScalarType::Bool, reason, span);
            let (block, ()) = pass.captured(|pass| {
                pass.while_copying(|pass| {
                    pass.move_bytes(from.0, Touch::Read, from.1, span);
                    pass.write_together(to, span);
                });
            });
            pass.emit_if(does, block, Vec::new());
        });
        part
    }

    /// Writes that do not conflict with each other, as if they were atomic.
    fn write_together(&mut self, (to, bytes): (&Pointer, ExprId), span: Span) {
        let (writes, ()) = self.captured(|pass| pass.move_bytes(to, Touch::Write, bytes, span));
        let together = writes.into_iter().map(as_one).collect();
        self.emit_all(together);
    }

    /// Whatever a group has begun is done, and all its threads know.
    fn wait_for_group(&mut self, group: Group, span: Span) {
        let begun = self.copies.pending.iter().filter(|copy| copy.group == Some(group) && copy.told_by.is_none());
        let begun = begun.map(|copy| copy.id).collect();
        self.are_done(group, &begun, span);
    }

    /// These copies of a group are done, and all its threads know: what they touched is ordered, unless another copy is
    /// still at it.
    fn are_done(&mut self, group: Group, done: &BTreeSet<CopyId>, span: Span) {
        let (done, pending): (Vec<Copy>, Vec<Copy>) =
            std::mem::take(&mut self.copies.pending).into_iter().partition(|copy| done.contains(&copy.id));
        let arrays = |copies: &[Copy]| -> BTreeSet<ArrayId> { copies.iter().flat_map(Copy::arrays).collect() };
        let (touched, busy) = (arrays(&done), arrays(&pending));
        let mut memories: Vec<SyncMemory> = touched.difference(&busy).map(|&array| SyncMemory::only(array)).collect();
        if memories.is_empty() {
            memories.push(SyncMemory::LIBRARY);
        }
        for memory in memories {
            let site = self.site(span);
            self.emit(Stmt::Sync { scope: scope_of(group), memory, among: Among::All, site });
        }
        self.copies.pending = pending;
    }

    /// `wait_group_events(number, events)`
    fn wait_for_events(&mut self, args: &[Expr], span: Span) -> Value {
        let [number, events, ..] = args else { return Value::Void };
        let (number, events) = (self.scalar(number), self.pointer(events));
        self.agree(&[number, events.offset], span);
        match self.told_by(number, &events) {
            Some(done) => self.are_done(Group::Block, &done, span),
            None => {
                let site = self.site(span);
                self.emit(Stmt::Sync { scope: SyncScope::Block, memory: SyncMemory::LIBRARY, among: Among::All, site });
                let arrays: BTreeSet<ArrayId> = self.copies.pending.iter().flat_map(Copy::arrays).collect();
                self.copies.pending.clear();
                let reason = "wait for events of which is not known to which copies they belong".to_owned();
                self.unsupported_on(span, reason, arrays.into_iter().collect());
            }
        }
        Value::Void
    }

    /// The copies that so many events, which lie one after the other, tell of.
    fn told_by(&mut self, number: ExprId, events: &Pointer) -> Option<BTreeSet<CopyId>> {
        let number = u64::try_from(self.kernel.exprs.as_int(number)?).ok()?;
        let start = u64::try_from(self.kernel.exprs.as_int(events.offset)?).ok()?;
        let Base::Target(target) = events.base else { return None };
        let Some(Home::Slots(slots)) = self.homes.get(target).cloned() else { return None };
        let mut done = BTreeSet::new();
        for position in 0..number {
            let slot = slots.iter().find(|slot| slot.leaf.offset == start + position * EVENT_BYTES)?;
            let holder = match slot.holder {
                Holder::Var(variable) => self.var(variable),
                Holder::Value(Value::Scalar(value)) => value,
                _ => return None,
            };
            done.extend(self.begun.events.told(*self.copies.held.get(&holder)?));
        }
        Some(done)
    }

    fn while_copying(&mut self, action: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.copies.is_copying, true);
        action(self);
        self.copies.is_copying = before;
    }

    /// A copy has begun.
    fn begin(&mut self, from: &Pointer, to: &Pointer, group: Option<Group>, part: [Mark; 2]) -> CopyId {
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

    /// The arrays that a pointer may lead to, as far as that is known.
    pub(super) fn arrays_behind(&self, pointer: &Pointer) -> Vec<ArrayId> {
        match &pointer.base {
            Base::Target(target) => self.array_of(*target).into_iter().collect(),
            Base::OneOf { targets, .. } => targets.iter().filter_map(|&target| self.array_of(target)).collect(),
            Base::Unknown(_) => Vec::new(),
        }
    }

    /// A statement is about to be emitted: what it does while a copy is under way may not be modelled. Returns the barrier
    /// that it is, if copies go on behind it.
    pub(super) fn watch_copies(&mut self, stmt: &Stmt) -> Option<SiteId> {
        if self.copies.is_copying {
            if let Stmt::Read { access, .. } | Stmt::Write { access, .. } | Stmt::Atomic { access, .. } = stmt {
                self.begun.sites.insert(access.site);
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
        let arrays: BTreeSet<ArrayId> = self.copies.pending.iter().flat_map(Copy::arrays).collect();
        if let Some(span) = self.kernel.sites[site].span {
            let reason = "fence while an asynchronous copy is under way, which it does not wait for".to_owned();
            self.unsupported_on(span, reason, arrays.into_iter().collect());
        }
    }

    /// A barrier has been emitted while copies are under way: each may read and write behind it.
    pub(super) fn copies_go_on(&mut self, barrier: SiteId) {
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
    pub(super) fn copies_of_turns(&mut self, (before, waits): (Copies, Waits), block: &[Stmt]) {
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
                    if self.begun.sites.contains(&access.site) => {}
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
    pub(super) fn copies_at_the_end(&mut self, span: Span) {
        self.copies.pending.retain(|copy| copy.group.is_some());
        self.no_copies_here(span);
    }

    /// Copies must not be under way here: their moment would not be known.
    pub(super) fn no_copies_here(&mut self, span: Span) {
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
    pub(super) fn copies_before_turns(&self) -> (Copies, Waits) {
        (self.copies.clone(), self.begun.waits)
    }

    /// What is under way, to come back to.
    pub(super) fn copies_now(&self) -> Copies {
        self.copies.clone()
    }

    /// Goes back to what was under way before, and returns what is now.
    pub(super) fn other_way(&mut self, before: &Copies) -> Copies {
        std::mem::replace(&mut self.copies, before.clone())
    }

    /// Two ways meet: what is under way at the end of either is.
    pub(super) fn join_copies(&mut self, other: Copies) {
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

fn scope_of(group: Group) -> SyncScope {
    match group {
        Group::Block => SyncScope::Block,
        Group::Warp => SyncScope::Warp,
    }
}

/// A write, also inside loops and conditions, as one that does not conflict with itself in other threads.
fn as_one(stmt: Stmt) -> Stmt {
    let all = |body: Vec<Stmt>| body.into_iter().map(as_one).collect();
    match stmt {
        Stmt::Write { access, .. } => Stmt::Atomic {
            var: None,
            access,
            op: AtomicOp::Or,
            operands: Vec::new(),
            order: MemoryOrder::Relaxed,
            scope: SyncScope::Block,
        },
        Stmt::If { cond, then, otherwise } => Stmt::If { cond, then: all(then), otherwise: all(otherwise) },
        Stmt::For(mut counted) => {
            counted.body = all(counted.body);
            Stmt::For(counted)
        }
        other => other,
    }
}
