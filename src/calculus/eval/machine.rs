//! One thread between two barriers.

use super::history::is_reported;
use super::memory::{At, Memory};
use super::program::{ArrayShape, AtomicShape, Instruction, MEMORIES, Program, Register, Target};
use super::relate;
use super::value::{self, Value, mix, reduce};
use super::{Contents, Event, FailedAssertion, Kind, OutOfBounds, Run, Setup, Sink, Stamp, ThreadId, TrapEvent, WARP};
use crate::calculus::arithmetic::{self, Trap};
use crate::calculus::{AtomicOp, ExprId, MemoryOrder, ScalarType, SiteId, Space, SyncScope};

/// Bytes of an access that cost one step of the budget, where each is looked up.
const BYTES_OF_A_STEP: u32 = 64;

/// Why a thread stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It waits at the sync of this number.
    Sync(u32),
    /// It reached the end.
    End,
    /// The run is over: no budget, or an assumption fails.
    Abort,
}

/// A construct that is run without knowing whether it happens.
#[derive(Clone, Debug)]
enum Speculation {
    /// The first arm of a conditional.
    Then { otherwise: Target, join: Target, before: Box<[Value]> },
    /// The second arm.
    Otherwise { join: Target, after_then: Box<[Value]> },
    /// The body of a loop.
    Loop { shape: u32 },
}

/// What a thread keeps while others run, besides its variables.
#[derive(Clone, Debug, Default)]
pub(super) struct ThreadState {
    pub(super) at: Target,
    /// Something may have kept the thread from getting here.
    pub(super) inexact: bool,
    speculation: Vec<Speculation>,
    /// By how much a counted loop moved last while something is run without knowing whether it happens.
    last_step: Value,
    /// The turns that loops around conditions about two threads are in.
    turns: Vec<u64>,
    /// How many values each of the calls has given that give a group the same one.
    commons: Vec<u64>,
}

/// The position of a thread that is running.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) thread: ThreadId,
    pub(super) cluster: u32,
    /// Stamps for shared and for global memory.
    pub(super) stamps: [Stamp; MEMORIES],
    pub(super) phase: u32,
}

pub(super) struct Machine<'a, S> {
    pub(super) program: &'a Program,
    pub(super) setup: &'a Setup<'a>,
    pub(super) sink: &'a mut S,
    pub(super) registers: Vec<Value>,
    pub(super) memory: Memory,
    pub(super) run: Run,
    pub(super) fuel: u64,
    /// What was left when nobody wanted more.
    pub(super) left: u64,
    /// Whether an expression wrapped, by index.
    pub(super) wrapped: Vec<bool>,
    /// Sites and claims that have been reported already.
    pub(super) reported: Reported,
    /// Who was at conditions about two threads.
    pub(super) visits: Vec<Vec<relate::Visit>>,
}

#[derive(Default)]
pub(super) struct Reported {
    pub(super) out_of_bounds: Vec<bool>,
    pub(super) claims: Vec<bool>,
    /// Claims of which some thread does not know whether they hold, or whether it gets there.
    pub(super) unsettled: Vec<bool>,
}

impl<S: Sink> Machine<'_, S> {
    fn variables(&mut self) -> &mut [Value] {
        let count = self.program.variables.len();
        &mut self.registers[..count]
    }

    #[inline]
    fn get(&self, register: Register) -> Value {
        self.registers[register as usize]
    }

    #[inline]
    fn set(&mut self, register: Register, value: Value) {
        self.registers[register as usize] = value;
    }

    /// Runs the thread whose variables are in the registers until it stops.
    pub(super) fn resume(&mut self, thread: &mut ThreadState, place: Place) -> Stop {
        let program = self.program;
        let mut at = thread.at as usize;
        loop {
            if self.fuel == 0 {
                self.cut_off(place);
                return Stop::Abort;
            }
            self.fuel -= 1;
            let instruction = &program.code[at];
            at += 1;
            match instruction {
                Instruction::Binary { op, ty, to, a, b, expr } => {
                    let (value, wrapped) = value::binary(*op, self.get(*a), self.get(*b), *ty, *expr);
                    self.set(*to, value);
                    if wrapped {
                        self.note_wrap(thread, *expr);
                    }
                }
                Instruction::Unary { op, ty, to, a, expr } => {
                    let (value, wrapped) = value::unary(*op, self.get(*a), *ty, Some(*expr));
                    self.set(*to, value);
                    if wrapped {
                        self.note_wrap(thread, Some(*expr));
                    }
                }
                Instruction::Select { to, c, a, b } => {
                    let value = value::select(self.get(*c), self.get(*a), self.get(*b));
                    self.set(*to, value);
                }
                Instruction::Convert { to, a, ty, drops_sign } => {
                    let before = self.get(*a);
                    if *drops_sign && before.bits().is_some_and(|bits| bits < 0) && is_certain(thread) {
                        self.run.lost_sign = true;
                    }
                    let value = value::convert(before, *ty);
                    self.set(*to, value);
                }
                Instruction::Opaque { to, key, args, ty } => {
                    let value = self.opaque(*key, args, *ty);
                    self.set(*to, value);
                }
                Instruction::Count { what, ty, to, a, uncounted } => {
                    let counted = self.get(*a).number(*ty).and_then(|number| arithmetic::count(*what, number, *ty));
                    self.set(*to, counted.map_or(self.get(*uncounted), |counted| Value::known(counted as i64)));
                }
                Instruction::Let { var, from } => {
                    let value = self.consume(self.get(*from), thread, place);
                    self.set(*var, value);
                }
                Instruction::Step { op, ty, var, by, site } => {
                    let (value, wrapped) = value::binary(*op, self.get(*var), self.get(*by), *ty, None);
                    thread.last_step = self.get(*by);
                    if wrapped && is_certain(thread) {
                        self.run.wrapped_loops.push(*site);
                    }
                    let value = self.consume(value, thread, place);
                    self.set(*var, value);
                }
                Instruction::Read { var, ty, access, offset } => {
                    let offset = self.consume(self.get(*offset), thread, place);
                    let value = self.read(*access, offset, *ty, thread, place);
                    self.set(*var, value);
                }
                Instruction::Write { access, offset, value } => {
                    let offset = self.consume(self.get(*offset), thread, place);
                    let value = value.map_or(Value::UNKNOWN, |value| self.get(value));
                    let value = self.consume(value, thread, place);
                    self.write(*access, offset, value, thread, place);
                }
                Instruction::Atomic { var, access, offset, atomic } => {
                    let offset = self.consume(self.get(*offset), thread, place);
                    let old = self.atomic(*access, offset, &program.atomics[*atomic as usize], *var, thread, place);
                    if let Some((var, _)) = var {
                        self.set(*var, old);
                    }
                }
                Instruction::Jump(target) => at = *target as usize,
                Instruction::Branch { cond, otherwise, join } => {
                    match self.consume(self.get(*cond), thread, place).bits() {
                        Some(0) => at = *otherwise as usize,
                        Some(_) => {}
                        None => {
                            let before = self.variables().into();
                            thread.speculation.push(Speculation::Then { otherwise: *otherwise, join: *join, before });
                        }
                    }
                }
                Instruction::Join => {
                    if !thread.speculation.is_empty() {
                        at = self.join(thread, at - 1);
                    }
                }
                Instruction::LoopTest { cond, body, exit, shape } => {
                    let cond = self.consume(self.get(*cond), thread, place);
                    let enter = self.loop_test(thread, cond, *shape, place);
                    at = if enter { *body } else { *exit } as usize;
                }
                Instruction::Sync { sync } => {
                    if thread.speculation.is_empty() {
                        thread.at = at as Target;
                        return Stop::Sync(*sync);
                    }
                    // Nobody knows whether the thread waits here, so nothing after it is certain.
                    if !program.syncs[*sync as usize].among.is_in_step() {
                        self.doubt(thread, place);
                    }
                }
                Instruction::Fence { fence } => {
                    let certain = thread.speculation.is_empty() && !thread.inexact;
                    self.sink.fence(place.thread, &self.program.fences[*fence as usize], certain);
                }
                Instruction::Havoc { var, ty } => {
                    let salt = mix(u64::from(place.thread.block), u64::from(place.thread.thread));
                    let value = self.arbitrary(mix(salt, self.fuel), *ty);
                    self.set(*var, value);
                }
                Instruction::Common { var, ty, scope, slot } => {
                    let group = match scope {
                        SyncScope::Warp => mix(u64::from(place.thread.block), u64::from(place.thread.thread / WARP)),
                        SyncScope::Block => u64::from(place.thread.block),
                        SyncScope::Cluster => u64::from(place.cluster),
                        SyncScope::Grid | SyncScope::System => 0,
                    };
                    thread.commons.resize(program.commons as usize, 0);
                    let turn = &mut thread.commons[*slot as usize];
                    let salt = mix(mix(u64::from(*slot), *turn), mix(group, *scope as u64));
                    *turn += 1;
                    let value = self.arbitrary(salt, *ty);
                    self.set(*var, value);
                }
                Instruction::Assume { cond } => {
                    let cond = self.consume(self.get(*cond), thread, place);
                    if cond.bits() == Some(0) && is_certain(thread) {
                        self.run.vacuous = true;
                        return Stop::Abort;
                    }
                    if cond.bits().is_none() {
                        // Whether this is a run that the kernel is meant for is not known.
                        self.doubt(thread, place);
                    }
                }
                Instruction::Given { cond } => {
                    // Values that were chosen for what calls give do not belong together: there is no such run.
                    if self.get(*cond).bits() == Some(0) && is_certain(thread) {
                        self.run.vacuous = true;
                        return Stop::Abort;
                    }
                }
                Instruction::Assert { cond, claim } => {
                    let cond = self.consume(self.get(*cond), thread, place);
                    if cond.bits().is_none() || !is_certain(thread) {
                        self.reported.unsettled[*claim as usize] = true;
                    } else if cond.bits() == Some(0) {
                        self.fail(*claim as usize, place, None);
                    }
                }
                Instruction::FirstTurn { slot } => {
                    thread.turns.resize(program.slots as usize, 0);
                    thread.turns[*slot as usize] = 0;
                }
                Instruction::NextTurn { slot } => thread.turns[*slot as usize] += 1,
                Instruction::Relate { relation } => {
                    let certain = is_certain(thread);
                    let answer = relate::meet(self, *relation as usize, &thread.turns, place, certain);
                    let claim = program.relations[*relation as usize].claim;
                    match (claim, answer) {
                        (_, relate::Answer::Holds) => {}
                        (Some(claim), relate::Answer::Unknown) => self.reported.unsettled[claim as usize] = true,
                        (Some(claim), relate::Answer::Fails(with)) => self.fail(claim as usize, place, Some(with)),
                        (None, relate::Answer::Unknown) => self.doubt(thread, place),
                        (None, relate::Answer::Fails(_)) => {
                            self.run.vacuous = true;
                            return Stop::Abort;
                        }
                    }
                }
                Instruction::End => return Stop::End,
            }
        }
    }

    /// Who has not come so far in this phase may have written what was read in it.
    #[cold]
    fn cut_off(&mut self, place: Place) {
        if self.memory.kept.is_used(place.thread.block, place.phase) {
            note_phase(&mut self.run.contested_since, place.phase);
        }
    }

    fn doubt(&mut self, thread: &mut ThreadState, place: Place) {
        thread.inexact = true;
        self.run.inexact = true;
        self.memory.kept.give_up(place.thread.block);
    }

    #[cold]
    fn note_wrap(&mut self, thread: &ThreadState, expr: Option<ExprId>) {
        if let Some(expr) = expr.filter(|_| is_certain(thread)) {
            self.wrapped[expr.index()] = true;
        }
    }

    /// A value that a statement uses: here a postponed trap happens.
    #[inline]
    fn consume(&mut self, value: Value, thread: &mut ThreadState, place: Place) -> Value {
        match value.trap() {
            None => value,
            Some((trap, expr)) => self.trapped(trap, expr, thread, place),
        }
    }

    #[cold]
    fn trapped(&mut self, trap: Trap, expr: Option<ExprId>, thread: &mut ThreadState, place: Place) -> Value {
        if is_certain(thread) {
            note_phase(&mut self.run.undefined_since, place.phase);
        }
        let known = self.run.traps.iter().any(|event| event.expr == expr && event.trap == trap);
        if is_certain(thread) && !known {
            self.run.traps.push(TrapEvent { trap, expr, thread: place.thread, phase: place.phase });
        }
        self.doubt(thread, place);
        Value::UNKNOWN
    }

    #[cold]
    fn fail(&mut self, claim: usize, place: Place, with: Option<(ThreadId, Vec<Value>)>) {
        note_phase(&mut self.run.failed_since, place.phase);
        if std::mem::replace(&mut self.reported.claims[claim], true) {
            return;
        }
        let site = self.program.claims[claim];
        let locals = self.variables().to_vec();
        let (thread, phase) = (place.thread, place.phase);
        self.run.failed_assertions.push(FailedAssertion { site, thread, phase, locals, with });
    }

    /// Any value: unknown, or fixed by the seed.
    fn arbitrary(&self, salt: u64, ty: ScalarType) -> Value {
        match self.setup.contents.seed() {
            None => Value::UNKNOWN,
            Some(seed) => Value::known(reduce(mix(seed, salt) as i64, ty)),
        }
    }

    fn opaque(&self, key: u64, args: &[Register], ty: ScalarType) -> Value {
        let mut salt = key;
        for &arg in args {
            let arg = self.get(arg);
            match arg.bits() {
                Some(bits) => salt = mix(salt, bits as u64),
                None => return if arg.trap().is_some() { arg } else { Value::UNKNOWN },
            }
        }
        self.arbitrary(salt, ty)
    }

    /// Where the arms of a conditional meet; the next instruction.
    fn join(&mut self, thread: &mut ThreadState, here: usize) -> usize {
        let speculation = thread.speculation.pop();
        match speculation {
            Some(Speculation::Then { otherwise, join, before }) if join as usize == here => {
                let after_then = self.variables().into();
                self.variables().copy_from_slice(&before);
                thread.speculation.push(Speculation::Otherwise { join, after_then });
                otherwise as usize
            }
            Some(Speculation::Otherwise { join, after_then }) if join as usize == here => {
                for (variable, other) in self.variables().iter_mut().zip(after_then) {
                    *variable = variable.merge(other);
                }
                here + 1
            }
            other => {
                thread.speculation.extend(other);
                here + 1
            }
        }
    }

    /// Whether the body of a loop is entered.
    fn loop_test(&mut self, thread: &mut ThreadState, cond: Value, shape: u32, place: Place) -> bool {
        let program = self.program;
        if matches!(thread.speculation.last(), Some(Speculation::Loop { shape: of }) if *of == shape) {
            thread.speculation.pop();
            self.forget(&program.loops[shape as usize].assigned, place.thread);
            let moves_on = thread.last_step.bits().is_some_and(|by| by > 0);
            if program.loops[shape as usize].moves.is_none() || !moves_on {
                self.doubt(thread, place);
            }
            return false;
        }
        if let Some(bits) = cond.bits() {
            return bits != 0;
        }
        self.forget(&program.loops[shape as usize].assigned, place.thread);
        thread.speculation.push(Speculation::Loop { shape });
        true
    }

    /// What an unknown number of turns may have changed.
    fn forget(&mut self, variables: &[Register], thread: ThreadId) {
        self.memory.forget_all_private(thread);
        for &variable in variables {
            self.set(variable, Value::UNKNOWN);
        }
    }

    /// Reports the access; gives its place in memory if that is known.
    fn touch(
        &mut self,
        access: u32,
        offset: Value,
        kind: Kind,
        value: Value,
        thread: &ThreadState,
        place: Place,
    ) -> Option<At> {
        let access = &self.program.accesses[access as usize];
        let shape = &self.program.arrays[access.array.index()];
        let exact = offset.bits().is_some() && is_certain(thread);
        if self.setup.contents.seed().is_some() {
            // Every byte is looked up: what is as wide as a library's storage costs more of the budget.
            self.fuel = self.fuel.saturating_sub(u64::from(access.bytes / BYTES_OF_A_STEP));
        }
        if exact {
            let offset = offset.bits().unwrap_or(0);
            let end = i128::from(offset) + i128::from(access.bytes);
            let outside = match shape.bytes {
                _ if shape.space == Space::Distributed => self.program.is_outside_its_copies(offset.into(), end, shape),
                Some(size) => offset < 0 || end > i128::from(size),
                None => offset < 0 && !shape.is_param,
            };
            if outside {
                self.report_outside(access.site, access.array, offset, place);
            }
            if access.align > 1 && offset % i64::from(access.align) != 0 {
                note_phase(&mut self.run.undefined_since, place.phase);
                note_phase(&mut self.run.misaligned_since, place.phase);
            }
        }
        if is_reported(shape.space) {
            self.run.inexact |= !exact;
            let event = Event {
                thread: place.thread,
                cluster: place.cluster,
                site: access.site,
                array: access.array,
                offset: offset.bits(),
                bytes: access.bytes,
                kind,
                exact,
                value: value.bits(),
                stamp: place.stamps[shape.memory],
                phase: place.phase,
            };
            self.sink.access(&event, &self.registers[..self.program.variables.len()]);
            if !self.sink.wants_more() {
                self.left = std::mem::take(&mut self.fuel);
            }
        }
        let offset = offset.bits()?;
        Some(At {
            thread: place.thread,
            cluster: place.cluster,
            array: access.array,
            space: shape.space,
            offset,
            bytes: access.bytes,
        })
    }

    #[cold]
    fn report_outside(&mut self, site: SiteId, array: crate::calculus::ArrayId, offset: i64, place: Place) {
        note_phase(&mut self.run.undefined_since, place.phase);
        if std::mem::replace(&mut self.reported.out_of_bounds[site.index()], true) {
            return;
        }
        let locals = self.variables().to_vec();
        let (thread, phase) = (place.thread, place.phase);
        self.run.out_of_bounds.push(OutOfBounds { site, array, offset, thread, phase, locals });
    }

    fn shape(&self, access: u32) -> &ArrayShape {
        &self.program.arrays[self.program.accesses[access as usize].array.index()]
    }

    /// Whether the evaluator keeps the values of this array although contents are unknown.
    fn is_kept(&self, access: u32) -> bool {
        self.shape(access).space == Space::Private
    }

    fn read(&mut self, access: u32, offset: Value, ty: ScalarType, thread: &ThreadState, place: Place) -> Value {
        let Some(at) = self.touch(access, offset, Kind::Read, Value::UNKNOWN, thread, place) else {
            return Value::UNKNOWN;
        };
        match self.setup.contents {
            contents if contents.is_unknown() && self.is_kept(access) => self.memory.private_value(at, ty),
            Contents::Chosen(_) if self.shape(access).is_kept => {
                if !is_certain(thread) || !is_aligned(at) {
                    return Value::UNKNOWN;
                }
                let value = self.memory.kept.value(at, place.phase);
                value.bits().map_or(Value::UNKNOWN, |bits| Value::known(reduce(bits, ty)))
            }
            // What an arm that may not be taken reads may have been written in a turn that was not run.
            Contents::Chosen(_)
                if self.shape(access).is_written && (!is_certain(thread) || self.memory.is_changed(at)) =>
            {
                Value::UNKNOWN
            }
            Contents::Chosen(chosen) => chosen.value(at, ty),
            contents => self.memory.seeded_value(contents, at, ty),
        }
    }

    fn write(&mut self, access: u32, offset: Value, value: Value, thread: &ThreadState, place: Place) {
        let at = self.touch(access, offset, Kind::Write, value, thread, place);
        let array = self.program.accesses[access as usize].array;
        self.change(access, at);
        self.keep(access, at.map(|at| (at, value)), thread, place);
        match (self.setup.contents, at) {
            (contents, None) if contents.is_unknown() && self.is_kept(access) => {
                self.memory.forget_private(place.thread, array);
            }
            (contents, Some(at)) if contents.is_unknown() && self.is_kept(access) => {
                let value = if is_certain(thread) { value } else { Value::UNKNOWN };
                let shape = self.shape(access);
                let others = if shape.is_uniform { None } else { Some(shape.widest) };
                self.memory.set_private_value(at, value, others);
            }
            (contents, Some(at)) => {
                if let Some(seed) = contents.seed() {
                    let made_up = mix(mix(seed, u64::from(access)), at.offset as u64) as i64;
                    self.memory.write(at, value.bits().unwrap_or(made_up));
                }
            }
            (_, None) => {}
        }
    }

    /// What was chosen of a place is no longer known there.
    fn change(&mut self, access: u32, at: Option<At>) {
        let shape = self.shape(access);
        if matches!(self.setup.contents, Contents::Chosen(_)) && shape.is_given {
            self.memory.change(self.program.accesses[access as usize].array, at);
        }
    }

    /// Under chosen contents, what is written to shared memory: where, if that is known, and which value.
    fn keep(&mut self, access: u32, written: Option<(At, Value)>, thread: &ThreadState, place: Place) {
        if !matches!(self.setup.contents, Contents::Chosen(_)) || !self.shape(access).is_kept {
            return;
        }
        let kept = &mut self.memory.kept;
        let is_contested = match written.filter(|(at, _)| is_certain(thread) && is_aligned(*at)) {
            Some((at, value)) => kept.write(at, place.phase, value),
            None => kept.cloud(place.thread.block, self.program.accesses[access as usize].array, place.phase),
        };
        if is_contested {
            note_phase(&mut self.run.contested_since, place.phase);
        }
    }

    /// The order of a compare-exchange by what it finds; where that is not known, it is taken to exchange.
    fn order_of(
        &mut self,
        order: MemoryOrder,
        (access, offset): (u32, Value),
        (expected, ty): (Value, ScalarType),
        place: Place,
    ) -> MemoryOrder {
        let [exchanged, failed] = order.outcomes();
        let contents = self.setup.contents;
        let Some(offset) = offset.bits().filter(|_| exchanged != failed && !contents.is_unknown()) else {
            return exchanged;
        };
        let access = &self.program.accesses[access as usize];
        let space = self.program.arrays[access.array.index()].space;
        let (thread, cluster) = (place.thread, place.cluster);
        let at = At { thread, cluster, array: access.array, space, offset, bytes: access.bytes };
        let found = self.memory.seeded_value(contents, at, ty);
        if found.bits() == expected.bits() { exchanged } else { failed }
    }

    fn atomic(
        &mut self,
        access: u32,
        offset: Value,
        shape: &AtomicShape,
        var: Option<(Register, ScalarType)>,
        thread: &mut ThreadState,
        place: Place,
    ) -> Value {
        let mut operands = [Value::UNKNOWN; 2];
        for (operand, &register) in operands.iter_mut().zip(&shape.operands) {
            *operand = self.consume(self.get(register), thread, place);
        }
        let bytes = self.program.accesses[access as usize].bytes.min(8);
        let ty = var.map_or(ScalarType::Int { width: 8 * bytes as u8, signed: false }, |(_, ty)| ty);
        let order = self.order_of(shape.order, (access, offset), (operands[0], ty), place);
        let kind = Kind::Atomic { writes: shape.op != AtomicOp::Load, order, scope: shape.scope };
        let at = self.touch(access, offset, kind, operands[0], thread, place);
        self.change(access, at);
        self.keep(access, None, thread, place);
        if self.setup.contents.is_unknown() && self.is_kept(access) {
            self.memory.forget_private(place.thread, self.program.accesses[access as usize].array);
        }
        let contents = self.setup.contents;
        let Some(at) = at.filter(|_| !contents.is_unknown()) else { return Value::UNKNOWN };
        let old = self.memory.seeded_value(contents, at, ty);
        let new = updated(shape.op, old, operands, ty);
        self.memory.write_through(at, new);
        old
    }
}

/// Keeps the least phase.
pub(super) fn note_phase(since: &mut Option<u32>, phase: u32) {
    *since = Some(since.map_or(phase, |earlier| earlier.min(phase)));
}

/// Whether an access starts at a multiple of its size.
fn is_aligned(at: At) -> bool {
    at.offset.rem_euclid(i64::from(at.bytes.max(1))) == 0
}

/// Whether what the thread does now certainly happens.
fn is_certain(thread: &ThreadState) -> bool {
    !thread.inexact && thread.speculation.is_empty()
}

/// What an atomic stores; on values that are not computed with, some function of the inputs.
fn updated(op: AtomicOp, old: Value, [first, second]: [Value; 2], ty: ScalarType) -> i64 {
    let old = old.bits().unwrap_or(0);
    let (first, second) = (first.bits().unwrap_or(0), second.bits().unwrap_or(0));
    let wide = |bits| value::widen(bits, ty);
    let computed = match op {
        AtomicOp::Load => old,
        AtomicOp::Store | AtomicOp::Exchange => first,
        AtomicOp::CompareExchange if old == first => second,
        AtomicOp::CompareExchange => old,
        _ if ty.range().is_none() => mix(mix(old as u64, first as u64), op as u64) as i64,
        AtomicOp::Add => old.wrapping_add(first),
        AtomicOp::Sub => old.wrapping_sub(first),
        AtomicOp::Increment if wide(old) >= wide(first) => 0,
        AtomicOp::Increment => old.wrapping_add(1),
        AtomicOp::Decrement if old == 0 || wide(old) > wide(first) => first,
        AtomicOp::Decrement => old.wrapping_sub(1),
        AtomicOp::Min if wide(first) < wide(old) => first,
        AtomicOp::Max if wide(first) > wide(old) => first,
        AtomicOp::Min | AtomicOp::Max => old,
        AtomicOp::And => old & first,
        AtomicOp::Or => old | first,
        AtomicOp::Xor => old ^ first,
    };
    reduce(computed, ty)
}
