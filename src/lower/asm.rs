//! Inline assembly: instructions that only compute leave unknown values in their outputs; plain loads and stores
//! through pointer operands access memory, in the window of shared memory too ([`windows`](super::storage::windows));
//! `cp.async` begins copies as a thread does ([`copies`](super::deferred::copies)); `bar.sync` is a barrier of the block, or of so
//! many of its threads ([`named`]); `mbarrier` is a barrier that is an object ([`phases`](super::deferred::phases)); `ldmatrix` reads
//! rows of matrices; `membar` and `fence` are fences; loads and stores with an order or `volatile`, `red` and `atom` are
//! atomics, each lane of a vector by itself (PTX ISA, "Vector Data-types" of the memory consistency model); what special
//! registers hold is known as far as PTX says it. Any other may do anything.
//!
//! A predicate is a condition around its instruction.

use super::fragments::lane;
use super::pass::Pass;
use super::ptx::registers::{Lanes, Register, reads_the_moment};
use super::ptx::{Guard, OnObject, Operand, Place, Step, Strong, Window, steps};
use super::storage::access::Touch;
use super::storage::facts::TargetId;
use super::storage::home::Home;
use super::value::{Base, Pointer, Value};
use crate::calculus::{
    Access, Among, ArrayId, AtomicOp, BinaryOp, ExprId, GeometryVar, HavocReason, MemoryOrder, Placeholder, Platform,
    Relied, ScalarType, Space, Stmt, SyncMemory, SyncScope, UnaryOp,
};
use crate::resolve::program::{Expr, TypeId};
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
    exprs: &'v [Expr],
    clobbers_memory: bool,
}

impl<'v> Operands<'v> {
    fn input(self, operand: usize) -> Option<&'v Value> {
        self.inputs.get(operand.checked_sub(self.outputs)?)
    }

    /// The type of an input.
    fn ty(self, operand: usize) -> Option<TypeId> {
        Some(self.exprs.get(operand.checked_sub(self.outputs)?)?.ty)
    }
}

impl Pass<'_> {
    /// Lowers an `asm` statement.
    pub(super) fn inline_assembly(&mut self, asm: &Asm<'_>, span: Span) {
        let mut given = Vec::new();
        let inputs: Vec<Value> = asm.inputs.iter().map(|input| self.value(input)).collect();
        // An address may come back as a number.
        inputs.iter().for_each(|input| self.escape(input));
        let operands = Operands {
            outputs: asm.outputs.len(),
            inputs: &inputs,
            exprs: asm.inputs,
            clobbers_memory: asm.clobbers_memory,
        };
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
                                given.push((output, address));
                            }
                        }
                        Step::Register { output, register } => {
                            if let Some(value) = special(self, register) {
                                given.push((output, value));
                            }
                        }
                        Step::Load { place, ty, output } => {
                            let read =
                                self.under(guard, operands, span, |pass| load_at(pass, place, ty, operands, span));
                            given.extend(output.zip(read));
                        }
                        Step::Strong(strong) => {
                            let read =
                                self.under(guard, operands, span, |pass| atomic_at(pass, &strong, operands, span));
                            given.extend(strong.output.zip(read));
                        }
                        step => {
                            if !asm.clobbers_memory && matches!(step, Step::Barrier | Step::Named { .. }) {
                                self.rely(Some(span), Relied::Unclobbered);
                            }
                            self.under(guard, operands, span, |pass| {
                                pass.step(&step, operands, span);
                                None
                            });
                        }
                    }
                }
            }
        }
        let reason = if reads_the_moment(asm.text) {
            HavocReason::Schedule("inline assembly".to_owned())
        } else {
            HavocReason::Other("inline assembly".to_owned())
        };
        for (number, output) in asm.outputs.iter().enumerate() {
            let value = given.iter().find(|(of, _)| *of == number);
            match value.and_then(|&(_, value)| fitting(self, value, output.ty)) {
                Some(value) => {
                    let object = self.object(output);
                    self.store_object(&object, Value::Scalar(value), span);
                }
                None => self.forget(output, &reason, span),
            }
        }
    }

    /// What `action` emits, where a predicate holds; its value is there only where no predicate is needed.
    fn under(
        &mut self,
        guard: Option<Guard>,
        operands: Operands<'_>,
        span: Span,
        action: impl FnOnce(&mut Self) -> Option<ExprId>,
    ) -> Option<ExprId> {
        let Some(guard) = guard else { return action(self) };
        let holds = self.holds(guard, operands, span);
        match self.kernel.exprs.as_int(holds) {
            Some(0) => None,
            Some(_) => action(self),
            None => {
                let before = self.copies_now();
                let (block, _) = self.captured(action);
                let other = self.other_way(&before);
                self.join_copies(other);
                self.emit_if(holds, block, Vec::new());
                None
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
            Step::SharedAddress { .. } | Step::Register { .. } | Step::Load { .. } | Step::Strong(_) => {}
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

/// A value in a type, bit by bit; `None` if it is no number and of another size.
fn converted(pass: &mut Pass<'_>, value: ExprId, ty: ScalarType) -> Option<ExprId> {
    let from = pass.kernel.exprs.ty(value);
    match (from, ty) {
        _ if from == ty => Some(value),
        (ScalarType::Int { .. } | ScalarType::Bool, ScalarType::Int { .. }) => Some(pass.exprs().convert(ty, value)),
        _ => None,
    }
}

/// A value for an output of a type.
fn fitting(pass: &mut Pass<'_>, value: ExprId, ty: TypeId) -> Option<ExprId> {
    let ty = pass.layout.scalar(ty)?;
    converted(pass, value, ty)
}

/// What a special register holds, if that is known: those of one thread are like CUDA's variables.
fn special(pass: &mut Pass<'_>, register: Register) -> Option<ExprId> {
    if pass.program.platform != Platform::Cuda {
        return None;
    }
    Some(match register {
        Register::Thread(axis) => pass.exprs().geometry(GeometryVar::ThreadIdx(axis)),
        Register::Threads(axis) => pass.exprs().geometry(GeometryVar::BlockDim(axis)),
        Register::Block(axis) => pass.exprs().geometry(GeometryVar::BlockIdx(axis)),
        Register::Blocks(axis) => pass.exprs().geometry(GeometryVar::GridDim(axis)),
        Register::WarpSize => pass.exprs().int(WARP.into(), ScalarType::U32),
        Register::OfLaunch(name) => pass.exprs().opaque(format!("%{name}"), ScalarType::U32),
        Register::Lane => lane(pass),
        Register::Mask(lanes) => mask(pass, lanes),
    })
}

/// The bits of lanes.
fn mask(pass: &mut Pass<'_>, lanes: Lanes) -> ExprId {
    let lane = lane(pass);
    let [one, all] = [1, i128::from(u32::MAX)].map(|bits| pass.exprs().int(bits, ScalarType::U32));
    let own = pass.exprs().binary(BinaryOp::Shl, one, lane);
    let from_own = pass.exprs().binary(BinaryOp::Shl, all, lane);
    match lanes {
        Lanes::Own => own,
        Lanes::Below => pass.exprs().binary(BinaryOp::Sub, own, one),
        Lanes::FromOwn => from_own,
        Lanes::Above => pass.exprs().binary(BinaryOp::BitXor, from_own, own),
        Lanes::UpToOwn => {
            let below = pass.exprs().unary(UnaryOp::BitNot, from_own);
            pass.exprs().binary(BinaryOp::BitOr, below, own)
        }
    }
}

/// A plain load, and what it gives.
fn load_at(pass: &mut Pass<'_>, place: Place, ty: ScalarType, operands: Operands<'_>, span: Span) -> Option<ExprId> {
    let Some(pointer) = pass.pointer_at(place, operands, span) else {
        pass.unsupported(span, WHOLLY_UNKNOWN.to_owned());
        return None;
    };
    accessed(pass, Does::Load(ty), &pointer, span)
}

/// An atomic, and what it gives.
fn atomic_at(pass: &mut Pass<'_>, strong: &Strong, operands: Operands<'_>, span: Span) -> Option<ExprId> {
    if is_for_unknown(pass, strong) {
        let reason = "an access of inline assembly for a cluster whose size the kernel does not state";
        pass.unsupported(span, reason.to_owned());
        return None;
    }
    let Some(pointer) = pass.pointer_at(strong.place, operands, span) else {
        pass.unsupported(span, WHOLLY_UNKNOWN.to_owned());
        return None;
    };
    let ty = type_of(pass, strong, operands);
    let count = crate::builtins::atomics::operand_count(strong.op);
    let taken: Vec<ExprId> =
        strong.operands.iter().take(count).map(|&operand| taken(pass, operand, ty, operands, span)).collect();
    // Over an atomic without the clobber the compiler may move accesses.
    let order = if operands.clobbers_memory { strong.order } else { MemoryOrder::Relaxed };
    let strong = Strong { order, ..*strong };
    accessed(pass, Does::Atomic(&strong, ty, &taken), &pointer, span)
}

/// The type in which an atomic counts: that of the pointer, unless the sign counts.
fn type_of(pass: &Pass<'_>, strong: &Strong, operands: Operands<'_>) -> ScalarType {
    if matches!(strong.op, AtomicOp::Min | AtomicOp::Max) {
        return strong.ty;
    }
    let pointee = operands.ty(strong.place.operand).and_then(|ty| pass.layout.pointee(ty));
    let of_pointer = pointee.and_then(|ty| pass.layout.scalar(ty));
    let is_number = |ty: ScalarType| matches!(ty, ScalarType::Int { .. });
    of_pointer
        .filter(|&ty| is_number(ty) && is_number(strong.ty) && ty.bytes() == strong.ty.bytes())
        .unwrap_or(strong.ty)
}

/// The value of an operand of an atomic.
fn taken(pass: &mut Pass<'_>, operand: Option<Operand>, ty: ScalarType, operands: Operands<'_>, span: Span) -> ExprId {
    let value = match operand {
        Some(Operand::Number(number)) if matches!(ty, ScalarType::Int { .. }) => {
            Some(pass.exprs().int(i128::from(number), ty))
        }
        Some(Operand::Input(operand)) => match operands.input(operand) {
            Some(&Value::Scalar(value)) => converted(pass, value, ty),
            _ => None,
        },
        _ => None,
    };
    value.unwrap_or_else(|| pass.havoc(ty, HavocReason::Other("operand of inline assembly".to_owned()), span))
}

/// What is done where a pointer leads.
#[derive(Clone, Copy)]
enum Does<'a> {
    /// A plain load of a value of that type.
    Load(ScalarType),
    /// An atomic, with its operands.
    Atomic(&'a Strong, ScalarType, &'a [ExprId]),
}

impl Does<'_> {
    fn ty(self) -> ScalarType {
        match self {
            Does::Load(ty) | Does::Atomic(_, ty, _) => ty,
        }
    }

    /// Whether it gives what was there.
    fn reads(self) -> bool {
        !matches!(self, Does::Atomic(strong, ..) if strong.op == AtomicOp::Store)
    }

    /// Whether memory may hold something else afterwards.
    fn writes(self) -> bool {
        matches!(self, Does::Atomic(strong, ..) if strong.op != AtomicOp::Load)
    }
}

/// Makes the access, and gives what was there before.
fn accessed(pass: &mut Pass<'_>, does: Does<'_>, pointer: &Pointer, span: Span) -> Option<ExprId> {
    let value = match &pointer.base {
        Base::Target(target) => at_target(pass, does, *target, pointer, span),
        Base::OneOf { tag, targets } => {
            let arms = pass.arms(*tag, targets, |pass, target| at_target(pass, does, target, pointer, span));
            pass.choose(arms)
        }
        Base::Unknown(reason) => {
            pass.unsupported(span, format!("inline assembly that accesses memory through {reason}"));
            Value::Void
        }
    };
    match value {
        Value::Scalar(value) => Some(value),
        _ => None,
    }
}

fn at_target(pass: &mut Pass<'_>, does: Does<'_>, target: TargetId, pointer: &Pointer, span: Span) -> Value {
    pass.ensure_home(target);
    match pass.homes.get(target) {
        Some(Home::Array(array)) => in_array(pass, does, *array, pointer.offset, span),
        Some(Home::Slots(_)) => {
            let reason = HavocReason::Other("inline assembly".to_owned());
            if does.writes() {
                let pointer = Pointer { base: Base::Target(target), offset: pointer.offset };
                pass.clobber(&pointer, &reason, span);
            }
            Value::Scalar(pass.havoc(does.ty(), reason, span))
        }
        Some(Home::Null) | None => Value::Void,
    }
}

fn in_array(pass: &mut Pass<'_>, does: Does<'_>, array: ArrayId, offset: ExprId, span: Span) -> Value {
    let ty = does.ty();
    let name = pass.kernel.arrays[array].name.clone();
    let lanes = match does {
        Does::Load(_) => 1,
        Does::Atomic(strong, ..) => strong.lanes,
    };
    let mut value = Value::Void;
    for lane in 0..lanes {
        let by = pass.offset(u64::from(lane) * u64::from(ty.bytes()));
        let at = pass.exprs().binary(BinaryOp::Add, offset, by);
        let access = access_at(pass, array, at, ty, span);
        let var = if does.reads() { Some(pass.temporary(&name, ty)) } else { None };
        match (does, var) {
            (Does::Atomic(strong, _, operands), var) if does.writes() || !is_constant(pass, array) => {
                if does.writes() {
                    pass.note_stored(array, None, None);
                }
                let Strong { op, order, scope, .. } = *strong;
                pass.emit(Stmt::Atomic { var, access, op, operands: operands.to_vec(), order, scope });
            }
            // Nobody writes constant memory while a kernel runs.
            (_, Some(var)) => pass.emit(Stmt::Read { var, access }),
            (_, None) => {}
        }
        value = match var {
            Some(var) if lanes == 1 => Value::Scalar(pass.var(var)),
            _ => Value::Void,
        };
    }
    value
}

fn is_constant(pass: &Pass<'_>, array: ArrayId) -> bool {
    pass.kernel.arrays[array].space == Space::Constant
}

/// An address must be a multiple of the size of what is accessed (PTX ISA, "ld").
fn access_at(pass: &mut Pass<'_>, array: ArrayId, offset: ExprId, ty: ScalarType, span: Span) -> Access {
    let bytes = ty.bytes();
    let align = if pass.kernel.exprs.is_multiple(offset, bytes) { 1 } else { bytes };
    pass.units.entry(array).or_default().insert(None);
    let offset = pass.placed(array, offset);
    Access { array, offset, bytes, align, site: pass.site(span) }
}

/// Whether an atomic is for threads of which the kernel does not say who they are.
fn is_for_unknown(pass: &Pass<'_>, strong: &Strong) -> bool {
    strong.scope == SyncScope::Cluster && pass.kernel.geometry.cluster.is_none()
}
