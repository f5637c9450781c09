//! What passes learn about a kernel and hand to the next pass: targets, points-to sets, locals in memory.
//!
//! Everything here only grows, and handles stay valid from pass to pass.

use crate::arena::{Arena, Handle};
use crate::lower::value::STRING;
use crate::resolve::program::{FunctionId, TypeId, VariableId};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Handle of a target.
pub(in crate::lower) type TargetId = Handle<Target>;
/// Handle of a call chain; `None` stands for the kernel itself.
pub(in crate::lower) type ChainId = Option<Handle<Chain>>;

/// Targets of one pointer beyond which it is not followed any more.
const MAX_TARGETS: usize = 32;

/// One inlined call: where, from which chain, and the how manieth of that place (macros repeat spans).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::lower) struct Chain {
    pub(in crate::lower) parent: ChainId,
    pub(in crate::lower) call: Span,
    pub(in crate::lower) ordinal: u32,
}

/// Something that a pointer can point into.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::lower) enum Target {
    /// The null pointer.
    Null,
    /// A variable, as seen from one inlining of its function; static storage belongs to the kernel.
    Variable(ChainId, VariableId),
    /// What a pointer parameter of the kernel points to; the offset tells apart the fields of a struct.
    Pointee(VariableId, u64),
    /// What the pointer leads to that lies so many bytes from the start of a target in global memory, while the kernel
    /// changes no pointer there.
    Held(TargetId, u64),
    /// All `extern __shared__` variables.
    ExternShared,
    /// A function.
    Function(FunctionId),
    /// The result of an inlined call.
    Result(Handle<Chain>),
    /// A value that had to be given an address.
    Temporary(ChainId, u32),
    /// Global memory that only pointers in memory lead to.
    Elsewhere,
}

/// A pointer that the host has set.
#[derive(Clone, Debug)]
pub(in crate::lower) struct HostPointer {
    /// Its type.
    pub(in crate::lower) ty: TypeId,
    /// What the source calls the memory behind it.
    pub(in crate::lower) name: String,
    /// Where it lies in global memory, if it does.
    pub(in crate::lower) held_in: Option<(TargetId, u64)>,
    /// The declaration that leads to it.
    pub(in crate::lower) span: Span,
}

/// What a pointer held in a variable may point to.
#[derive(Clone, Debug, Default)]
pub(in crate::lower) struct PointsTo {
    pub(in crate::lower) targets: BTreeSet<TargetId>,
    /// Why it may point anywhere.
    pub(in crate::lower) unknown: Option<String>,
}

/// What the pointers in memory lead to. The host can have stored a pointer to any array of global memory, the kernel
/// whatever it stores itself.
#[derive(Debug, Default)]
pub(in crate::lower) struct Stored {
    /// Whether the kernel uses such a pointer at all.
    is_used: bool,
    /// Arrays in global memory.
    globals: BTreeSet<TargetId>,
    /// Those of them that the kernel writes: what a read can conflict with.
    written: BTreeSet<TargetId>,
    /// Whether something is written through such a pointer, which then may be any global array.
    is_written_through: bool,
    /// What else the kernel stores pointers to.
    escaped: BTreeSet<TargetId>,
    /// A pointer that the kernel stores and that may point anywhere.
    escaped_unknown: bool,
    /// Private copies and arrays in global memory into which the kernel stores what may be pointers.
    overwritten: BTreeSet<TargetId>,
}

/// All facts.
#[derive(Debug, Default)]
pub(in crate::lower) struct Facts {
    targets: Arena<Target>,
    target_ids: FxHashMap<Target, TargetId>,
    chains: Arena<Chain>,
    chain_ids: FxHashMap<Chain, Handle<Chain>>,
    points_to: BTreeMap<(TargetId, u64), PointsTo>,
    /// The pointers that the host has set, by what they lead to.
    host_pointers: BTreeMap<TargetId, HostPointer>,
    in_memory: BTreeSet<TargetId>,
    /// What other blocks of the cluster reach.
    distributed: BTreeSet<TargetId>,
    /// What pointers that are loaded from memory may point to.
    pub(in crate::lower) stored: Stored,
    /// Whether the current pass learned something that it had already relied on.
    pub(in crate::lower) changed: bool,
}

impl Facts {
    /// The handle of a target.
    pub(in crate::lower) fn target(&mut self, target: Target) -> TargetId {
        if let Some(&id) = self.target_ids.get(&target) {
            return id;
        }
        let id = self.targets.push(target.clone());
        self.target_ids.insert(target, id);
        id
    }

    /// The target behind a handle.
    pub(in crate::lower) fn key(&self, id: TargetId) -> &Target {
        &self.targets[id]
    }

    /// The handle of a call chain.
    pub(in crate::lower) fn chain(&mut self, chain: Chain) -> Handle<Chain> {
        if let Some(&id) = self.chain_ids.get(&chain) {
            return id;
        }
        let id = self.chains.push(chain.clone());
        self.chain_ids.insert(chain, id);
        id
    }

    /// Records that other blocks of the cluster reach a target.
    pub(in crate::lower) fn distribute(&mut self, target: TargetId) {
        self.changed |= self.distributed.insert(target);
    }

    /// Whether other blocks of the cluster reach a target.
    pub(in crate::lower) fn is_distributed(&self, target: TargetId) -> bool {
        self.distributed.contains(&target)
    }

    /// What the pointer at `offset` of a split variable may point to.
    pub(in crate::lower) fn points_to(&self, holder: TargetId, offset: u64) -> PointsTo {
        self.points_to.get(&(holder, offset)).cloned().unwrap_or_default()
    }

    /// Records that the pointer at `offset` of `holder` may point to `targets`.
    pub(in crate::lower) fn add_targets(&mut self, holder: TargetId, offset: u64, targets: &[TargetId]) {
        let entry = self.points_to.entry((holder, offset)).or_default();
        // What is told of a string does not hold for other targets.
        if entry.unknown.as_deref().is_some_and(|reason| reason != STRING) {
            return;
        }
        let before = entry.targets.len();
        entry.targets.extend(targets);
        if entry.targets.len() > MAX_TARGETS {
            entry.unknown = Some("a pointer that may point to many different arrays".to_owned());
        }
        self.changed |= entry.targets.len() != before;
    }

    /// Records that the pointer at `offset` of `holder` may point anywhere.
    pub(in crate::lower) fn add_unknown(&mut self, holder: TargetId, offset: u64, reason: &str) {
        let entry = self.points_to.entry((holder, offset)).or_default();
        let is_weaker = |known: &str| known == STRING && reason != STRING;
        if entry.unknown.as_deref().is_none_or(is_weaker) {
            entry.unknown = Some(reason.to_owned());
            self.changed = true;
        }
    }

    /// Records a pointer that the host has set, and that leads to a target.
    pub(in crate::lower) fn note_host_pointer(&mut self, target: TargetId, pointer: HostPointer) {
        self.host_pointers.entry(target).or_insert(pointer);
    }

    /// The pointer that the host has set and that leads to a target.
    pub(in crate::lower) fn host_pointer(&self, target: TargetId) -> Option<&HostPointer> {
        self.host_pointers.get(&target)
    }

    /// Records an array in global memory.
    pub(in crate::lower) fn note_global(&mut self, target: TargetId) {
        self.changed |= self.stored.globals.insert(target) && self.stored.is_used;
    }

    /// Records a write to an array in global memory; `elsewhere` is the target that loaded pointers have to themselves.
    pub(in crate::lower) fn note_written(&mut self, target: TargetId) {
        let through = self.targets[target] == Target::Elsewhere && !self.stored.is_written_through;
        self.stored.is_written_through |= through;
        self.changed |= (self.stored.written.insert(target) || through) && self.stored.is_used;
    }

    /// Records that a pointer to a target is stored in memory, or handed to code that may do so.
    pub(in crate::lower) fn note_escaped(&mut self, target: TargetId) {
        self.changed |= self.stored.escaped.insert(target) && self.stored.is_used;
    }

    /// Whether a pointer to a target is stored in memory, or handed to code that may do so.
    pub(in crate::lower) fn is_escaped(&mut self, target: TargetId) -> bool {
        self.changed |= !self.stored.is_used;
        self.stored.is_used = true;
        self.stored.escaped.contains(&target)
    }

    /// Records that a pointer of which nothing is known is stored in memory.
    pub(in crate::lower) fn note_unknown_escaped(&mut self) {
        self.changed |= !self.stored.escaped_unknown && self.stored.is_used;
        self.stored.escaped_unknown = true;
    }

    /// Records that pointers in a private copy or in global memory may have been changed.
    pub(in crate::lower) fn note_overwritten(&mut self, target: TargetId) {
        self.changed |= self.stored.overwritten.insert(target);
    }

    /// Whether pointers in a private copy or in global memory may have been changed.
    pub(in crate::lower) fn is_overwritten(&self, target: TargetId) -> bool {
        self.stored.overwritten.contains(&target)
    }

    /// What a pointer that is loaded from memory may point to, null included; `None` if that cannot be said.
    pub(in crate::lower) fn stored_targets(&mut self) -> Option<Vec<TargetId>> {
        self.changed |= !self.stored.is_used;
        self.stored.is_used = true;
        let mut targets = self.stored.escaped.clone();
        targets.extend(if self.stored.is_written_through { &self.stored.globals } else { &self.stored.written });
        targets.extend([self.target(Target::Null), self.target(Target::Elsewhere)]);
        (!self.stored.escaped_unknown && targets.len() <= MAX_TARGETS).then(|| targets.into_iter().collect())
    }

    /// Whether a local lives in memory instead of in scalar variables.
    pub(in crate::lower) fn is_in_memory(&self, target: TargetId) -> bool {
        self.in_memory.contains(&target)
    }

    /// Records that a local needs memory.
    pub(in crate::lower) fn put_in_memory(&mut self, target: TargetId) {
        self.changed |= self.in_memory.insert(target);
    }
}
