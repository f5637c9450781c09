//! Collectives of CUB on temporary storage in shared memory: `BlockReduce(storage).Sum(x)`.
//!
//! A collective orders its own accesses to its storage; between one collective and the next on the same storage the
//! program has to put a barrier. That is what is looked for here: the collectives that a thread runs are counted, and
//! the thread whose number the count is may write the storage. Threads that stand at one collective then agree, and
//! two collectives with no barrier between them may conflict. What they read and write besides is their arguments.
//!
//! Whether a collective waits for the whole block is not specified, so that it orders nothing else, and nothing is
//! claimed about threads that do not take part.
//!
//! Deliberately absent: collectives that load and store tiles of memory, and functors that the program defines.

use super::access::Touch;
use super::facts::TargetId;
use super::pass::Pass;
use super::value::{Base, Place, Value};
use crate::calculus::{ArrayId, Axis, BinaryOp, GeometryVar, HavocReason, ScalarType, Space, Stmt, VarId};
use crate::resolve::program::{Expr, ExprKind, Storage, Type};

/// What the names of collectives begin with.
const PREFIXES: [&str; 4] = ["cub::Block", "cub::Warp", "hipcub::Block", "hipcub::Warp"];

impl Pass<'_> {
    /// The call of a method of a collective that was made from its storage on the spot; `None` if it is none, or if
    /// it is given more than numbers and variables of the thread.
    pub(super) fn collective(&mut self, name: &str, args: &[Expr], call: &Expr) -> Option<Value> {
        if !PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            return None;
        }
        let (made, rest) = args.split_first()?;
        let storage = storage_of(made)?;
        if !rest.iter().all(|arg| self.is_own(arg)) {
            return None;
        }
        let (place, array) = self.shared_place(storage)?;
        let reason = HavocReason::Call(name.to_owned());
        for arg in rest {
            let value = self.value(arg);
            self.clobber_value(&value, &reason, call.span);
        }
        let text = format!("barriers inside of '{name}' are not seen");
        self.unsupported_call(call.span, text, Vec::new());
        self.use_storage(&place, array, &reason, call);
        Some(self.unknown_value(call.ty, &reason, call.span))
    }

    /// Whether an argument is a number or the address of a variable of the thread.
    fn is_own(&self, arg: &Expr) -> bool {
        match (&arg.kind, &self.program.types[arg.ty]) {
            (ExprKind::AddressOf(object), _) => self.is_own_variable(object),
            (_, Type::Pointer { .. }) => false,
            _ => self.layout.scalar(arg.ty).is_some(),
        }
    }

    fn is_own_variable(&self, object: &Expr) -> bool {
        match &object.kind {
            ExprKind::Variable(variable) => {
                let declared = &self.program.variables[*variable];
                matches!(declared.storage, Storage::Local | Storage::Param) && !declared.is_reference
            }
            ExprKind::Element(base, _) | ExprKind::Field(base, _) | ExprKind::Lanes(base, _) => {
                self.is_own_variable(base)
            }
            _ => false,
        }
    }

    /// The place of the storage, if it is in shared memory.
    fn shared_place(&mut self, storage: &Expr) -> Option<(Place, ArrayId)> {
        let place = self.place(storage);
        let Base::Target(target) = place.pointer.base else { return None };
        let array = self.shared_array(target)?;
        Some((place, array))
    }

    fn shared_array(&mut self, target: TargetId) -> Option<ArrayId> {
        self.ensure_home(target);
        self.array_of(target).filter(|&array| self.kernel.arrays[array].space == Space::Shared)
    }

    /// The thread whose number is the count of collectives so far may write the storage.
    fn use_storage(&mut self, place: &Place, array: ArrayId, reason: &HavocReason, call: &Expr) {
        let Some(count) = self.collectives else { return self.facts.count_collectives() };
        let may = self.havoc(ScalarType::Bool, reason.clone(), call.span);
        let number = self.var(count);
        let x = self.exprs().geometry(GeometryVar::ThreadIdx(Axis::X));
        let x = self.exprs().convert(ScalarType::I64, x);
        let mut cond = self.exprs().binary(BinaryOp::Eq, x, number);
        for axis in [Axis::Y, Axis::Z] {
            let id = self.exprs().geometry(GeometryVar::ThreadIdx(axis));
            let ty = self.kernel.exprs.ty(id);
            let zero = self.exprs().int(0, ty);
            let is_first = self.exprs().binary(BinaryOp::Eq, id, zero);
            cond = self.exprs().and(cond, is_first);
        }
        let cond = self.exprs().and(cond, may);
        let (then, ()) = self.captured(|pass| pass.touch(array, place.pointer.offset, 1, Touch::Write, call.span));
        self.emit_if(cond, then, Vec::new());
        let one = self.exprs().int(1, ScalarType::I64);
        let number = self.var(count);
        let value = self.exprs().binary(BinaryOp::Add, number, one);
        self.emit(Stmt::Let { var: count, value });
    }

    /// Starts the count of collectives, if the kernel has any.
    pub(super) fn start_collectives(&mut self) {
        if self.facts.counts_collectives() {
            let count: VarId = self.variable("collectives", ScalarType::I64);
            let value = self.exprs().int(0, ScalarType::I64);
            self.emit(Stmt::Let { var: count, value });
            self.collectives = Some(count);
        }
    }
}

/// The object that a collective is made from: that of `BlockReduce(storage)`.
fn storage_of(made: &Expr) -> Option<&Expr> {
    match &made.kind {
        ExprKind::Convert(inner) => storage_of(inner),
        ExprKind::Load(object) => Some(object),
        _ => None,
    }
}
