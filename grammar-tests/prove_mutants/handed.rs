//! Runs of kernels that hand over by fences and atomics, between blocks or under locks: a start in which counters become 0, as proofs
//! assume, and a search for accesses that the clocks of the memory model do not order.
//!
//! Memory of blocks has clocks of its own: a fence may be for the one or the other, and an atomic's order is one of the memory
//! that it is in. That is OpenCL's rule; CUDA's orders more. Clocks know no warps: barriers of one are told by the stamps of
//! accesses.
//!
//! Deliberately absent: accesses that may not happen; runs know what memory holds.

use super::mutation::each_stmt;
use raceproof::calculus::eval::{Event, Fence, Kind, Sink, ThreadId, Value, WARP};
use raceproof::calculus::{
    Access, Among, AtomicOp, ExprId, Geometry, Kernel, MemoryOrder, ScalarType, Site, Space, Stmt, SyncMemory,
    SyncScope,
};
use raceproof::memory_model::clocks::{Clocks, Receiving, Step, Touch, Who};
use raceproof::memory_model::{AccessKind, ByteRange, Level, conflict, may_meet};
use std::collections::{BTreeMap, BTreeSet};

/// Array, block and offset of what an atomic touches.
type Cell = (usize, u32, i64);

/// Cells of four bytes.
const CELL: i64 = 4;

/// The kernel after a start in which the first number of each of these arrays becomes 0.
pub(crate) fn from_zero(kernel: Kernel, counters: &[String]) -> Kernel {
    from_zeros(kernel, counters, 1)
}

/// The kernel after a start in which the first so many numbers of each of these arrays become 0.
pub(crate) fn from_zeros(mut kernel: Kernel, counters: &[String], numbers: i64) -> Kernel {
    let mut start = Vec::new();
    let arrays: Vec<_> =
        kernel.arrays.iter().filter(|(_, array)| counters.contains(&array.name)).map(|(id, _)| id).collect();
    for (array, number) in arrays.into_iter().flat_map(|array| (0..numbers).map(move |number| (array, number))) {
        let site = kernel.sites.push(Site { span: None, inlined: Vec::new(), told: None });
        let bytes = kernel.arrays[array].element_bytes;
        let ty = if bytes == 8 { ScalarType::U64 } else { ScalarType::U32 };
        let offset = kernel.exprs.int(i128::from(number) * i128::from(bytes), ScalarType::I64);
        let zero = kernel.exprs.int(0, ty);
        let access = Access { array, offset, bytes, align: 1, site };
        let (op, order, scope) = (AtomicOp::Exchange, MemoryOrder::Relaxed, SyncScope::Grid);
        start.push(Stmt::Atomic { var: None, access, op, operands: vec![zero], order, scope });
    }
    let site = kernel.sites.push(Site { span: None, inlined: Vec::new(), told: None });
    let memory = SyncMemory::BOTH;
    start.push(Stmt::Sync { scope: SyncScope::Grid, memory, among: Among::All, site });
    kernel.body.splice(0..0, start);
    kernel
}

/// The arrays of a kernel that are used as locks are: an atomic takes 0 away, or what a variable holds, and another one puts 0
/// back.
pub(crate) fn locks(kernel: &Kernel) -> Vec<String> {
    let (mut taken, mut released) = (BTreeSet::new(), BTreeSet::new());
    let is_zero = |value: &ExprId| kernel.exprs.as_int(*value).map(|value| value == 0);
    each_stmt(&kernel.body, &mut |stmt| {
        let Stmt::Atomic { access, op, operands, .. } = stmt else { return };
        match (op, operands.iter().map(is_zero).collect::<Vec<_>>().as_slice()) {
            (AtomicOp::CompareExchange, [Some(true) | None, Some(false)]) | (AtomicOp::Exchange, [Some(false)]) => {
                taken.insert(access.array);
            }
            (AtomicOp::Exchange | AtomicOp::Store, [Some(true)]) => _ = released.insert(access.array),
            _ => {}
        }
    });
    taken.intersection(&released).map(|&array| kernel.arrays[array].name.clone()).collect()
}

/// Looks for accesses that nothing orders, as they happen, in a run of a kernel with such a start.
pub(crate) struct Watch<'k> {
    kernel: &'k Kernel,
    geometry: Geometry,
    /// Of global memory, and of the blocks' own.
    clocks: [Clocks<Cell>; 2],
    cells: BTreeMap<Cell, Vec<(Event, Step)>>,
    /// How many blocks have passed the barrier of the start.
    passed: u32,
    /// How many accesses there were since.
    pub(crate) accesses: usize,
    /// The first two that conflict.
    pub(crate) found: Option<(Event, Event)>,
}

impl<'k> Watch<'k> {
    /// Nothing has happened yet.
    pub(crate) fn new(kernel: &'k Kernel, geometry: Geometry, receiving: Receiving) -> Self {
        let clocks = [Clocks::new(receiving), Clocks::new(receiving)];
        Watch { kernel, geometry, clocks, cells: BTreeMap::new(), passed: 0, accesses: 0, found: None }
    }

    fn who(thread: ThreadId) -> Who {
        (thread.block, thread.thread)
    }

    fn do_conflict(&self, one: &Event, other: &Event) -> bool {
        let level = if one.thread.block == other.thread.block { Level::Block } else { Level::Grid };
        let touched = |event: &Event| {
            let kind = match event.kind {
                Kind::Read => AccessKind::Read,
                Kind::Write => AccessKind::Write,
                Kind::Atomic { writes, order, scope } => AccessKind::Atomic { writes, order, scope },
            };
            (kind, ByteRange { start: i128::from(event.offset.unwrap_or_default()), bytes: event.bytes })
        };
        one.thread != other.thread
            && may_meet(self.kernel.arrays[one.array].space, level)
            && conflict(touched(one), touched(other), level)
    }

    /// Which of the clocks an access goes by, and the block that it is alone with there, if it is.
    fn memory(&self, event: &Event) -> (usize, u32) {
        match self.kernel.arrays[event.array].space {
            Space::Shared => (1, event.thread.block),
            _ => (0, u32::MAX),
        }
    }

    fn is_ordered(&self, earlier: &[(Event, Step)], at: usize, now: &Event) -> bool {
        let (event, step) = &earlier[at];
        let clocks = &self.clocks[self.memory(now).0];
        if event.thread.block == now.thread.block {
            let is_one_warp = event.thread.thread / WARP == now.thread.thread / WARP;
            if event.stamp.block != now.stamp.block || (is_one_warp && event.stamp.warp != now.stamp.warp) {
                return true;
            }
        }
        let who = Self::who(now.thread);
        // Coherence: an atomic before one that was seen is before what comes after that.
        let is_overtaken = matches!(event.kind, Kind::Atomic { .. })
            && earlier[at + 1..].iter().any(|(later, step)| {
                let is_seen = later.thread == now.thread || clocks.is_seen(*step, who);
                matches!(later.kind, Kind::Atomic { .. }) && is_seen
            });
        clocks.is_seen(*step, who) || is_overtaken
    }
}

/// Whether a fence or a barrier is for global memory, and for that of blocks.
fn named(memory: SyncMemory) -> [bool; 2] {
    [memory.global, memory.shared]
}

impl Sink for Watch<'_> {
    fn access(&mut self, event: &Event, _locals: &[Value]) {
        let blocks: u32 = self.geometry.grid.iter().product();
        let Some(offset) = event.offset.filter(|_| self.passed >= blocks) else { return };
        self.accesses += 1;
        let (who, array) = (Self::who(event.thread), event.array.index());
        let (memory, home) = self.memory(event);
        let cells = offset.div_euclid(CELL)..=(offset + i64::from(event.bytes) - 1).div_euclid(CELL);
        for cell in cells.clone() {
            let earlier = self.cells.get(&(array, home, cell)).map_or(&[][..], Vec::as_slice);
            let open = (0..earlier.len())
                .find(|&at| self.do_conflict(&earlier[at].0, event) && !self.is_ordered(earlier, at, event));
            if let Some(at) = open {
                let other = earlier[at].0;
                self.found.get_or_insert((other, *event));
            }
        }
        let steps = self.clocks.each_mut().map(|clocks| clocks.step(who));
        if let Kind::Atomic { order, scope, .. } = event.kind {
            for (at, clocks) in self.clocks.iter_mut().enumerate() {
                let order = if at == memory { order } else { MemoryOrder::Relaxed };
                clocks.atomic(who, (array, home, offset), Touch::Update, order, scope);
            }
        }
        for cell in cells {
            self.cells.entry((array, home, cell)).or_default().push((*event, steps[memory]));
        }
    }

    fn fence(&mut self, thread: ThreadId, fence: &Fence, _certain: bool) {
        for (clocks, _) in self.clocks.iter_mut().zip(named(fence.memory)).filter(|(_, is_named)| *is_named) {
            clocks.fence(Self::who(thread), fence.order, fence.scope);
        }
    }

    fn sync(&mut self, block: u32, scope: SyncScope, memory: SyncMemory) {
        if scope >= SyncScope::Grid {
            self.passed += 1;
        } else {
            for (clocks, _) in self.clocks.iter_mut().zip(named(memory)).filter(|(_, is_named)| *is_named) {
                clocks.barrier(block);
            }
        }
    }
}
