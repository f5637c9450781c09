//! Collectives of CUB: what the threads of a group do together to the temporary storage.
//!
//! The documentation says that a collective reads and writes its storage, that it needs all threads of its group, and that
//! a barrier must stand before the storage is used again; which thread touches which byte, and which barriers are inside,
//! it does not say. So each thread may write the storage, meets the others, and may read it: the writes of one call do
//! not conflict with each other, a barrier of the call's own orders them with its reads and orders nothing else, and what
//! is before or after the call conflicts unless a barrier of the program stands between.

use super::pass::Pass;
use super::storage::facts::{Target, TargetId};
use super::value::{Base, Place, Pointer, Value};
use crate::builtins::collectives::Group;
use crate::calculus::{
    Access, Among, ArrayId, AtomicOp, HavocReason, MemoryOrder, ScalarType, Space, Stmt, SyncMemory, SyncScope,
};
use crate::resolve::program::{Expr, TypeId};
use crate::source::Span;

/// The most shared memory that a block can have on any device, in bytes: a storage that lies among other things may
/// reach that far.
const MOST_SHARED: u32 = 233_472;

/// A temporary storage that is followed.
struct Storage {
    array: ArrayId,
    pointer: Pointer,
    bytes: u32,
    /// The unit in which offsets into the array count, if that is the storage itself.
    unit: Option<TypeId>,
}

impl Pass<'_> {
    /// The threads of a group meet around the storage that the only argument points to.
    pub(super) fn collective(&mut self, group: Group, name: &str, args: &[Expr], call: &Expr) -> Value {
        let [storage] = args else { return self.missing(call) };
        let pointer = self.pointer(storage);
        let scope = match group {
            Group::Block => SyncScope::Block,
            Group::Warp => SyncScope::Warp,
        };
        match self.storage(pointer, storage) {
            Some(storage) => self.meet(&storage, scope, name, call.span),
            None => self.unsupported(call.span, format!("`{name}` on a temporary storage that is not followed")),
        }
        Value::Void
    }

    fn storage(&mut self, pointer: Pointer, argument: &Expr) -> Option<Storage> {
        let ty = self.layout.pointee(argument.ty)?;
        let Base::Target(target) = pointer.base else { return None };
        self.ensure_home(target);
        let array = self.array_of(target)?;
        if self.kernel.arrays[array].space != Space::Shared {
            return None;
        }
        let &Target::Variable(_, variable) = self.facts.key(target) else { return None };
        let declared = self.program.variables[variable].ty;
        if self.layout.innermost(declared).0 == ty {
            return Some(Storage { array, pointer, bytes: 1, unit: Some(ty) });
        }
        // Where sizes are not known, only the start is.
        let row = self.layout.element(declared).unwrap_or(declared);
        let is_placed = self.layout.symbolic(row).is_none() || self.is_start(&pointer, target);
        let bytes = self.kernel.arrays[array].bytes.and_then(|bytes| u32::try_from(bytes).ok());
        is_placed.then(|| Storage { array, pointer, bytes: bytes.unwrap_or(MOST_SHARED), unit: None })
    }

    /// Whether a pointer leads to the first byte of a target.
    fn is_start(&self, pointer: &Pointer, target: TargetId) -> bool {
        matches!(pointer.base, Base::Target(of) if of == target) && self.kernel.exprs.as_int(pointer.offset) == Some(0)
    }

    /// Whether a place is a variable as it was declared, or the first of an array of its type.
    pub(super) fn is_whole_variable(&self, place: &Place) -> bool {
        let Base::Target(target) = place.pointer.base else { return false };
        let &Target::Variable(_, variable) = self.facts.key(target) else { return false };
        let declared = self.program.variables[variable].ty;
        declared == place.ty && self.is_start(&place.pointer, target)
    }

    fn meet(&mut self, storage: &Storage, scope: SyncScope, name: &str, span: Span) {
        let reason = HavocReason::Other(format!("what `{name}` does with its temporary storage"));
        let does = self.havoc(ScalarType::Bool, reason, span);
        self.units.entry(storage.array).or_default().insert(storage.unit);
        let access = |pass: &mut Self| {
            let site = pass.site(span);
            pass.notes.of_libraries.insert(site);
            Access { array: storage.array, offset: storage.pointer.offset, bytes: storage.bytes, align: 1, site }
        };
        self.note_stored(storage.array, None, None);
        let (writes, ()) = self.captured(|pass| {
            // Writes of one call do not conflict with each other, as if they were atomic. Where another group uses the
            // storage, too, they conflict with its reads.
            let (access, order, scope) = (access(pass), MemoryOrder::Relaxed, SyncScope::Block);
            pass.emit(Stmt::Atomic { var: None, access, op: AtomicOp::Or, operands: Vec::new(), order, scope });
        });
        self.emit_if(does, writes, Vec::new());
        let site = self.site(span);
        self.emit(Stmt::Sync { scope, memory: SyncMemory::only(storage.array), among: Among::All, site });
        let (reads, ()) = self.captured(|pass| {
            let access = access(pass);
            let carrier = ScalarType::Opaque { bytes: u16::try_from(access.bytes).unwrap_or(u16::MAX) };
            let var = pass.temporary("storage", carrier);
            pass.emit(Stmt::Read { var, access });
        });
        self.emit_if(does, reads, Vec::new());
    }
}
