//! Asynchronous copies: the bytes are read and written at some moment between the call and the wait that covers it.
//!
//! A copy is lowered to its accesses where it is called. That is right as long as no barrier stands between the call and
//! its wait, since it does not matter for races where in an interval an access is. What comes between is watched while it
//! is under way ([`super::under_way`]).
//!
//! A copy that a group makes together reads and writes each byte by some thread of the group. So every thread may write
//! all of them, and these writes do not conflict with each other. Whoever has waited for it knows that all of it is done:
//! the wait orders the arrays of the copy (limited by `src/settle/library_order.rs`). In OpenCL all work-items of the group have to
//! give a copy the same arguments, and a wait the same events.
//!
//! Deliberately absent: whether two copies of one thread overlap.

use super::again::Mark;
use super::under_way::CopyId;
use crate::builtins::Copying;
use crate::builtins::collectives::Group;
use crate::calculus::{
    Among, ArrayId, AtomicOp, BinaryOp, Claimed, Expr as Node, ExprId, Function, GeometryVar, HavocReason, MemoryOrder,
    ScalarType, Space, Stmt, SyncMemory, SyncScope,
};
use crate::lower::pass::Pass;
use crate::lower::storage::access::Touch;
use crate::lower::storage::home::{Holder, Home};
use crate::lower::value::{Base, Pointer, Value};
use crate::resolve::program::Expr;
use crate::source::Span;
use std::collections::BTreeSet;

/// What a copy touches from a place on.
#[derive(Clone, Copy)]
pub(in crate::lower) enum Part {
    /// So many bytes.
    Together(ExprId),
    /// Elements that lie apart, and nothing between them.
    Apart {
        /// Their number.
        number: ExprId,
        /// Bytes of each.
        size: ExprId,
        /// Bytes from one to the next.
        step: ExprId,
    },
}

impl From<ExprId> for Part {
    fn from(bytes: ExprId) -> Part {
        Part::Together(bytes)
    }
}

/// Size of an event.
const EVENT_BYTES: u64 = 8;

impl Pass<'_> {
    /// A call that begins copies, or waits for them.
    pub(in crate::lower) fn copying(&mut self, copying: Copying, args: &[Expr], call: &Expr) -> Value {
        let span = call.span;
        let waits = matches!(copying, Copying::WaitOldest | Copying::GroupWait(_) | Copying::WaitEvents);
        self.begun.waits.all += u32::from(waits);
        match copying {
            Copying::Copy => self.copy_of_thread(args, call),
            Copying::Commit => {
                self.evaluate(args);
                self.copies.commit();
                Value::Void
            }
            Copying::WaitPrior => {
                let [newest] = args else { return self.missing(call) };
                let newest = self.scalar(newest);
                self.wait_for_all_but(newest, span);
                Value::Void
            }
            Copying::WaitOldest => {
                self.evaluate(args);
                self.copies_wait_for_oldest();
                Value::Void
            }
            Copying::GroupCopy(group) => self.copy_of_group(group, args, call),
            Copying::GroupWait(group) => {
                self.evaluate(args);
                self.wait_for_group(group, span);
                Value::Void
            }
            Copying::BarrierCopy(group) => self.copy_for_barrier(group, args, call),
            Copying::WorkGroupCopy | Copying::StridedCopy => self.work_group_copy(args, call),
            Copying::WaitEvents => self.wait_for_events(args, span),
        }
    }

    /// All batches of the thread but the newest so many are done.
    pub(in crate::lower) fn wait_for_all_but(&mut self, newest: ExprId, span: Span) {
        self.begun.waits.all += 1;
        match self.kernel.exprs.as_int(newest).map(u32::try_from) {
            Some(Ok(newest)) => self.copies.wait_for_all_but(newest),
            _ => self.unsupported(span, "wait for a number of copies that is not a constant".to_owned()),
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
    pub(in crate::lower) fn copy_alone(&mut self, to: (&Pointer, ExprId), from: (&Pointer, ExprId), span: Span) {
        let ((), part) = self.marked(|pass| pass.copy_now(to, from, span));
        self.begin(from.0, to.0, None, part);
    }

    /// The accesses of a copy.
    pub(in crate::lower) fn copy_now(&mut self, to: (&Pointer, ExprId), from: (&Pointer, ExprId), span: Span) {
        self.while_copying(|pass| {
            pass.read_bytes(from.0, from.1, span);
            pass.move_bytes(to.0, Touch::Write, to.1, span);
        });
    }

    /// Reads so many bytes: `inside ? 16 : 0` is all or nothing.
    fn read_bytes(&mut self, from: &Pointer, bytes: ExprId, span: Span) {
        let chosen = |pass: &Self, bytes| match pass.kernel.exprs[bytes] {
            Node::Convert(_, inner) => pass.kernel.exprs[inner].clone(),
            ref node => node.clone(),
        };
        match chosen(self, bytes) {
            Node::Select(cond, all, none)
                if [all, none].iter().all(|&part| self.kernel.exprs.as_int(part).is_some()) =>
            {
                let (then, ()) = self.captured(|pass| pass.move_bytes(from, Touch::Read, all, span));
                let (otherwise, ()) = self.captured(|pass| pass.move_bytes(from, Touch::Read, none, span));
                self.emit_if(cond, then, otherwise);
            }
            _ => self.move_bytes(from, Touch::Read, bytes, span),
        }
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
                let part = self.copy_together(group, (&to, bytes.into()), (&from, bytes.into()), call.span);
                self.begin(&from, &to, Some(group), part);
            }
            None => self.copy_alone((&to, bytes), (&from, bytes), call.span),
        }
        match barrier {
            Some(barrier) => self.copies.last_is_told_by(barrier),
            None => {
                let reason = "asynchronous copy with a barrier of which is not known which it is";
                self.unsupported(call.span, reason.to_owned());
            }
        }
        Value::Void
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
        let part = self.copy_together(group, (&to, bytes.into()), (&from, bytes.into()), call.span);
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
        let mut told = vec![to.offset, from.offset, number];
        // The elements in global memory lie so far apart.
        let spread = match stride {
            Some(stride) => {
                let stride = self.scalar(stride);
                let stride = self.exprs().convert(ScalarType::I64, stride);
                told.push(stride);
                Part::Apart { number, size, step: self.exprs().binary(BinaryOp::Mul, size, stride) }
            }
            None => bytes.into(),
        };
        let of_space = |pass: &Self, pointer: &Pointer| if pass.is_shared(pointer) { bytes.into() } else { spread };
        let (written, read) = (of_space(self, &to), of_space(self, &from));
        let Value::Scalar(given) = self.value(event) else { return self.missing(call) };
        let is_null = self.kernel.exprs.as_int(given) == Some(0);
        let given = self.copies.held(given);
        self.agree(&told, call.span);
        let part = self.copy_together(Group::Block, (&to, written), (&from, read), call.span);
        let copy = self.begin(&from, &to, Some(Group::Block), part);
        let event = self.unknown_value(call.ty, &HavocReason::Other("an event".to_owned()), call.span);
        if let Value::Scalar(variable) = event
            && (is_null || given.is_some())
        {
            let made = self.begun.events.begin(copy, given);
            self.copies.hold(variable, made);
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
        let of_one_group = self.exprs().call(Function::SameBlock, Vec::new(), ScalarType::Bool);
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

    /// All threads of the group meet, which orders nothing (OpenCL C, "Async Copies": a copy "does not perform any
    /// implicit synchronization of source data such as using a barrier"), and each may touch every byte.
    pub(in crate::lower) fn copy_together(
        &mut self,
        group: Group,
        to: (&Pointer, Part),
        from: (&Pointer, Part),
        span: Span,
    ) -> [Mark; 2] {
        let site = self.site(span);
        self.emit(Stmt::Sync { scope: scope_of(group), memory: SyncMemory::NONE, among: Among::All, site });
        let ((), part) = self.marked(|pass| {
            let reason = HavocReason::Implementation("which thread copies which byte".to_owned());
            let does = pass.havoc(ScalarType::Bool, reason, span);
            let (block, ()) = pass.captured(|pass| {
                pass.while_copying(|pass| {
                    pass.move_part(from.0, Touch::Read, from.1, span);
                    pass.write_together(to, span);
                });
            });
            pass.emit_if(does, block, Vec::new());
        });
        part
    }

    /// Writes that do not conflict with each other, as if they were atomic.
    fn write_together(&mut self, (to, part): (&Pointer, Part), span: Span) {
        let (writes, ()) = self.captured(|pass| pass.move_part(to, Touch::Write, part, span));
        let together = writes.into_iter().map(as_one).collect();
        self.emit_all(together);
    }

    /// Touches what a copy does from `pointer` on.
    fn move_part(&mut self, pointer: &Pointer, touch: Touch, part: Part, span: Span) {
        let (number, size, step) = match part {
            Part::Together(bytes) => return self.move_bytes(pointer, touch, bytes, span),
            Part::Apart { number, size, step } => (self.snapshot(number), size, self.snapshot(step)),
        };
        let start = self.snapshot(pointer.offset);
        self.turns("element", number, span, |pass, element| {
            let distance = pass.exprs().binary(BinaryOp::Mul, element, step);
            let offset = pass.exprs().binary(BinaryOp::Add, start, distance);
            let at = Pointer { base: pointer.base.clone(), offset };
            pass.move_bytes(&at, touch, size, span);
        });
    }

    /// Whatever a group has begun is done, and all its threads know.
    fn wait_for_group(&mut self, group: Group, span: Span) {
        let begun = self.copies.of_group(group);
        self.are_done(group, &begun, span);
    }

    /// These copies of a group are done, and all its threads know: what they touched is ordered, unless another copy is
    /// still at it.
    fn are_done(&mut self, group: Group, done: &BTreeSet<CopyId>, span: Span) {
        let ordered = self.copies.finish(done);
        let busy = std::mem::take(&mut self.copies);
        let mut memories: Vec<SyncMemory> = ordered.into_iter().map(SyncMemory::only).collect();
        if memories.is_empty() {
            memories.push(SyncMemory::LIBRARY);
        }
        for memory in memories {
            let site = self.site(span);
            self.emit(Stmt::Sync { scope: scope_of(group), memory, among: Among::All, site });
        }
        self.copies = busy;
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
                let arrays = self.copies.give_up();
                let reason = "wait for events of which is not known to which copies they belong".to_owned();
                self.unsupported_on(span, reason, arrays);
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
            done.extend(self.begun.events.told(self.copies.held(holder)?));
        }
        Some(done)
    }

    /// The arrays that a pointer may lead to, as far as that is known.
    pub(in crate::lower) fn arrays_behind(&self, pointer: &Pointer) -> Vec<ArrayId> {
        match &pointer.base {
            Base::Target(target) => self.array_of(*target).into_iter().collect(),
            Base::OneOf { targets, .. } => targets.iter().filter_map(|&target| self.array_of(target)).collect(),
            Base::Unknown(_) => Vec::new(),
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
