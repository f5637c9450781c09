//! Inline assembly: instructions that only compute leave unknown values in their outputs; plain loads and stores
//! through pointer operands access memory, in the window of shared memory too ([`windows`](super::storage::windows));
//! `cp.async` begins copies as a thread does ([`copies`](super::deferred::copies)); `bar.sync` is a barrier of the block, or of so
//! many of its threads ([`named`]); `mbarrier` is a barrier that is an object ([`phases`](super::deferred::phases)); `ldmatrix` reads
//! rows of matrices; `membar` and `fence` are fences. Any other may do anything.
//!
//! A predicate is a condition around its instruction.

use super::pass::Pass;
use super::ptx::{Guard, OnObject, Operand, Place, Step, Window, steps};
use super::storage::access::Touch;
use super::value::{Pointer, Value};
use crate::calculus::{
    Among, BinaryOp, ExprId, HavocReason, Placeholder, Relied, ScalarType, Stmt, SyncMemory, SyncScope,
};
use crate::resolve::program::Expr;
use crate::settle::notes::Object;
use crate::source::Span;

/// An `asm` statement.
pub(super) struct Asm<'s> {
    pub(super) text: &'s str,
    pub(super) outputs: &'s [Expr],
    pub(super) inputs: &'s [Expr],
    pub(super) clobbers_memory: bool,
}

/// Bytes of a row of a matrix that `ldmatrix` loads.
const ROW_BYTES: i128 = 16;
/// Threads of a warp.
const WARP: u32 = crate::calculus::eval::WARP;
/// What is said of assembly that is not understood.
const WHOLLY_UNKNOWN: &str = "inline assembly that may touch memory or other threads";

/// The operands of a statement: those numbered first are outputs.
#[derive(Clone, Copy)]
struct Operands<'v> {
    outputs: usize,
    inputs: &'v [Value],
}

impl<'v> Operands<'v> {
    fn input(self, operand: usize) -> Option<&'v Value> {
        self.inputs.get(operand.checked_sub(self.outputs)?)
    }
}

impl Pass<'_> {
    /// Lowers an `asm` statement.
    pub(super) fn inline_assembly(&mut self, asm: &Asm<'_>, span: Span) {
        let mut addresses = Vec::new();
        let inputs: Vec<Value> = asm.inputs.iter().map(|input| self.value(input)).collect();
        // An address may come back as a number.
        inputs.iter().for_each(|input| self.escape(input));
        let operands = Operands { outputs: asm.outputs.len(), inputs: &inputs };
        match steps(asm.text) {
            None => self.unsupported(span, WHOLLY_UNKNOWN.to_owned()),
            Some(steps) => {
                for (guard, step) in steps {
                    match step {
                        // Without the clobber the compiler may move accesses over it.
                        Step::Fence(..) if !asm.clobbers_memory => {}
                        Step::Object { .. } if !asm.clobbers_memory => {
                            let reason = "`mbarrier` without a \"memory\" clobber: accesses may be moved over it";
                            self.unsupported(span, reason.to_owned());
                        }
                        Step::SharedAddress { output, operand } => {
                            if let Some(Value::Pointer(pointer)) = operands.input(operand)
                                && let Some(address) = self.address_in_window(&pointer.clone())
                            {
                                addresses.push((output, address));
                            }
                        }
                        step => {
                            if !asm.clobbers_memory && matches!(step, Step::Barrier | Step::Named { .. }) {
                                self.rely(Some(span), Relied::Unclobbered);
                            }
                            self.under(guard, operands, span, |pass| pass.step(&step, operands, span));
                        }
                    }
                }
            }
        }
        let reason = if asm.text.contains("clock") || asm.text.contains("globaltimer") {
            HavocReason::Schedule("inline assembly".to_owned())
        } else {
            HavocReason::Other("inline assembly".to_owned())
        };
        for (number, output) in asm.outputs.iter().enumerate() {
            match addresses.iter().find(|(of, _)| *of == number) {
                Some(&(_, address)) => {
                    let value = self.fit_value(Value::Scalar(address), output.ty);
                    let object = self.object(output);
                    self.store_object(&object, value, span);
                }
                None => self.forget(output, &reason, span),
            }
        }
    }

    /// What `action` emits, where a predicate holds.
    fn under(&mut self, guard: Option<Guard>, operands: Operands<'_>, span: Span, action: impl FnOnce(&mut Self)) {
        let Some(guard) = guard else { return action(self) };
        let holds = self.holds(guard, operands, span);
        match self.kernel.exprs.as_int(holds) {
            Some(0) => {}
            Some(_) => action(self),
            None => {
                let before = self.copies_now();
                let (block, ()) = self.captured(action);
                let other = self.other_way(&before);
                self.join_copies(other);
                self.emit_if(holds, block, Vec::new());
            }
        }
    }

    /// Whether a predicate holds.
    fn holds(&mut self, guard: Guard, operands: Operands<'_>, span: Span) -> ExprId {
        let sides = guard.holds.and_then(|(op, ty, [left, right])| {
            Some((op, self.operand_as(left, ty, operands)?, self.operand_as(right, ty, operands)?))
        });
        let holds = match sides {
            Some((op, left, right)) => self.exprs().binary(op, left, right),
            None => self.havoc(ScalarType::Bool, HavocReason::Other("a predicate of PTX".to_owned()), span),
        };
        if guard.is_negated { self.exprs().not(holds) } else { holds }
    }

    /// The value of an operand in a type of a comparison; `None` if it is no integer.
    fn operand_as(&mut self, operand: Operand, ty: ScalarType, operands: Operands<'_>) -> Option<ExprId> {
        let value = match operand {
            Operand::Number(number) => self.exprs().int(i128::from(number), ty),
            Operand::Input(operand) => match operands.input(operand)? {
                Value::Scalar(value) => *value,
                _ => return None,
            },
        };
        let is_integer = matches!(self.kernel.exprs.ty(value), ScalarType::Bool | ScalarType::Int { .. });
        is_integer.then(|| self.exprs().convert(ty, value))
    }

    /// One instruction that does more than compute.
    fn step(&mut self, step: &Step, operands: Operands<'_>, span: Span) {
        match *step {
            Step::Barrier => {
                let memory = SyncMemory::BOTH;
                let site = self.site(span);
                self.emit(Stmt::Sync { scope: SyncScope::Block, memory, among: Among::All, site });
            }
            Step::Named { id, count } => {
                let (id, count) = (self.count_of(id, operands), self.count_of(count, operands));
                let memory = SyncMemory::BOTH;
                let among = Among::Placeholder(Placeholder::Numbered { number: id, threads: count });
                let site = self.site(span);
                self.emit(Stmt::Sync { scope: SyncScope::Block, memory, among, site });
            }
            Step::Arrive => {
                let reason = "`bar.arrive`, which waits for nobody, is not taken to order anything".to_owned();
                self.unsupported_call(span, reason, Vec::new());
            }
            Step::End => self.end_thread(),
            Step::Fence(order, scope) => self.ptx_fence(order, scope, span),
            Step::Access { touch, place, bytes } => match self.pointer_at(place, operands, span) {
                Some(pointer) => {
                    let bytes = self.exprs().int(bytes.into(), ScalarType::I64);
                    self.move_bytes(&pointer, touch, bytes, span);
                }
                None => self.unsupported(span, WHOLLY_UNKNOWN.to_owned()),
            },
            Step::Copy { to, from, bytes, read } => {
                let places = (self.pointer_at(to, operands, span), self.pointer_at(from, operands, span));
                let (Some(to), Some(from)) = places else {
                    return self.unsupported(span, WHOLLY_UNKNOWN.to_owned());
                };
                let bytes = self.count_of(bytes, operands);
                let read = read.map_or(bytes, |read| self.count_of(read, operands));
                self.copy_alone((&to, bytes), (&from, read), span);
            }
            Step::Commit => self.copies.commit(),
            Step::WaitPrior(newest) => {
                let newest = self.count_of(newest, operands);
                self.wait_for_all_but(newest, span);
            }
            Step::Matrix { touch, place, threads } => match self.pointer_at(place, operands, span) {
                Some(pointer) => {
                    self.warp_comes(span);
                    self.matrix_rows(&pointer, touch, threads, span);
                }
                None => self.unsupported(span, WHOLLY_UNKNOWN.to_owned()),
            },
            Step::Multiply => self.warp_comes(span),
            Step::Object { place, does } => match self.object_at(place, operands, span) {
                Some(object) => self.on_object(object, does, operands, span),
                None => self.unsupported(span, WHOLLY_UNKNOWN.to_owned()),
            },
            Step::SharedAddress { .. } => {}
        }
    }

    /// All threads of a warp must come to the instruction together, which orders no memory.
    fn warp_comes(&mut self, span: Span) {
        let site = self.site(span);
        self.emit(Stmt::Sync { scope: SyncScope::Warp, memory: SyncMemory::NONE, among: Among::All, site });
    }

    /// What an instruction does with a barrier in memory.
    fn on_object(&mut self, object: Object, does: OnObject, operands: Operands<'_>, span: Span) {
        match does {
            OnObject::Init { count } => {
                let count = self.count_of(count, operands);
                self.init_object(object, count, span);
            }
            OnObject::Arrive => self.arrive_at_object(object, span),
            OnObject::Wait { parity } => {
                let parity = self.count_of(parity, operands);
                self.wait_at_object(object, parity, span);
            }
        }
    }

    /// The first threads of a warp name each a row of 16 bytes.
    fn matrix_rows(&mut self, pointer: &Pointer, touch: Touch, threads: u32, span: Span) {
        let bytes = self.exprs().int(ROW_BYTES, ScalarType::I64);
        let (rows, ()) = self.captured(|pass| pass.move_bytes(pointer, touch, bytes, span));
        if threads == WARP {
            return self.emit_all(rows);
        }
        let number = self.number_in_block();
        let ty = self.kernel.exprs.ty(number);
        let [warp, first] = [WARP, threads].map(|count| self.exprs().int(count.into(), ty));
        let lane = self.exprs().binary(BinaryOp::Rem, number, warp);
        let names = self.exprs().binary(BinaryOp::Lt, lane, first);
        self.emit_if(names, rows, Vec::new());
    }

    /// The barrier in memory whose address an operand is.
    fn object_at(&mut self, place: Place, operands: Operands<'_>, span: Span) -> Option<Object> {
        let pointer = self.pointer_at(place, operands, span)?;
        self.object_of(&pointer)
    }

    /// The pointer that an operand is in its window, if that is known.
    fn pointer_at(&mut self, place: Place, operands: Operands<'_>, span: Span) -> Option<Pointer> {
        let mut pointer = match (operands.input(place.operand)?, place.window) {
            (Value::Pointer(pointer), _) => pointer.clone(),
            (Value::Scalar(number), Window::Shared) => self.pointer_in_window(*number, span)?,
            // An address in a window of its own, or one that was computed.
            _ => return None,
        };
        let by = self.exprs().int(place.offset.into(), ScalarType::I64);
        pointer.offset = self.exprs().binary(BinaryOp::Add, pointer.offset, by);
        Some(pointer)
    }

    /// The value of an operand.
    fn count_of(&mut self, operand: Operand, operands: Operands<'_>) -> ExprId {
        let given = match operand {
            Operand::Number(number) => return self.exprs().int(i128::from(number), ScalarType::U32),
            Operand::Input(operand) => operands.input(operand),
        };
        match given {
            Some(Value::Scalar(value)) => *value,
            _ => self.exprs().opaque("operand of inline assembly", ScalarType::U32),
        }
    }
}
