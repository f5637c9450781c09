//! Accesses of inline assembly whose values are followed: loads, and atomics with the order and scope that the instruction
//! states.
//!
//! Each lane of a vector is an access of its own (PTX ISA, "Vector Data-types" of the memory consistency model).
//!
//! # Guarantees
//! What is not known of an operand is a value of which nothing is known. An atomic orders no more than its instruction says,
//! and nothing at all without a "memory" clobber, over which the compiler may move accesses.
//!
//! Deliberately absent: values of the lanes of vectors.

use super::pass::Pass;
use super::ptx::Strong;
use super::storage::facts::TargetId;
use super::storage::home::Home;
use super::value::{Base, Pointer, Value};
use crate::calculus::{
    Access, ArrayId, AtomicOp, BinaryOp, ExprId, HavocReason, MemoryOrder, ScalarType, Space, Stmt, SyncScope,
};
use crate::source::Span;

/// What is done where a pointer leads.
#[derive(Clone, Copy)]
pub(super) enum Does<'a> {
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
pub(super) fn accessed(pass: &mut Pass<'_>, does: Does<'_>, pointer: &Pointer, span: Span) -> Option<ExprId> {
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

/// An order that nobody can rely on without a "memory" clobber.
pub(super) fn ordered(strong: &Strong, clobbers_memory: bool) -> Strong {
    let order = if clobbers_memory { strong.order } else { MemoryOrder::Relaxed };
    Strong { order, ..*strong }
}

/// Whether an atomic is for threads of which the kernel does not say who they are.
pub(super) fn is_for_unknown(pass: &Pass<'_>, strong: &Strong) -> bool {
    strong.scope == SyncScope::Cluster && pass.kernel.geometry.cluster.is_none()
}
