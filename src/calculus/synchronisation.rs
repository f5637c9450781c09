//! Words for barriers, atomics and fences: who takes part, which memory they are about, and in which order.
//!
//! Here they only have names. What they order is said by [`memory_model`](crate::memory_model), and whom a barrier waits for
//! by [`barriers`](super::barriers).

use super::{ArrayId, ExprId, eval};

/// Threads among which a barrier or an atomic works; ordered by inclusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SyncScope {
    /// A warp or sub-group.
    Warp,
    /// A block or work-group.
    Block,
    /// A cluster of blocks.
    Cluster,
    /// The grid.
    Grid,
    /// All devices.
    System,
}

/// Memory that a barrier orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SyncMemory {
    /// Shared (local) memory.
    pub shared: bool,
    /// Global memory.
    pub global: bool,
    /// Images of OpenCL.
    pub images: bool,
    /// This one array, whatever is said of the memory that it lies in: a library's own barriers order its own storage.
    pub array: Option<ArrayId>,
    /// Whether it is a call of a library, which may order more than it promises.
    pub library: bool,
}

impl SyncMemory {
    /// A barrier that threads meet at and that orders nothing.
    pub const NONE: SyncMemory =
        SyncMemory { shared: false, global: false, images: false, array: None, library: false };
    /// A barrier that orders shared and global memory.
    pub const BOTH: SyncMemory = SyncMemory { shared: true, global: true, ..SyncMemory::NONE };
    /// A call of a library that threads make together and that promises no order.
    pub const LIBRARY: SyncMemory = SyncMemory { library: true, ..SyncMemory::NONE };

    /// What the flags of OpenCL name (`CLK_LOCAL_MEM_FENCE`, `CLK_GLOBAL_MEM_FENCE`, `CLK_IMAGE_MEM_FENCE`).
    pub fn of_flags(flags: i128) -> SyncMemory {
        let names = |flag| flags & flag != 0;
        SyncMemory { shared: names(1), global: names(2), images: names(4), ..SyncMemory::NONE }
    }

    /// Whether it promises no order of any memory.
    pub fn orders_nothing(self) -> bool {
        !(self.shared || self.global || self.images || self.array.is_some())
    }

    /// A library's own barrier, which orders one array.
    pub fn only(array: ArrayId) -> SyncMemory {
        SyncMemory { array: Some(array), ..SyncMemory::LIBRARY }
    }
}

/// For which threads of its scope a barrier is: whom it waits for, and whom it orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Among {
    /// For all of them.
    All,
    /// For all of them, counting arrivals: nobody passes where a thread has ended.
    Counted,
    /// For those in which this condition holds, wherever they are: each of them has to arrive, and no other may.
    Named(ExprId),
    /// For aligned groups of so many threads, a power of two: each group by itself.
    Tiles(u32),
    /// For those of an aligned group of so many threads, a power of two, that are here in the same step: hardware that
    /// runs a warp in lock-step. It waits for nobody, so that nobody can miss it.
    InStep(u32),
    /// For those that arrive at an object in memory, which counts them and lets go on who waits for it: see
    /// [`arrivals`](super::arrivals). It orders nobody by where it stands.
    Arrivals(Arrivals),
    /// For those that only the complete kernel tells.
    Placeholder(Placeholder),
}

/// For which threads a barrier is, as long as nobody has looked at the kernel as a whole. A kernel that is settled has none:
/// [`validate`](super::validate) refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placeholder {
    /// For those of a warp that this mask names.
    Mask(ExprId),
    /// For those that an object in memory counts.
    Object {
        /// The array that holds it.
        array: ArrayId,
        /// Where in the array it starts, of type [`ScalarType::I64`](super::ScalarType::I64).
        offset: ExprId,
    },
    /// For those that arrive at a barrier of the hardware.
    Numbered {
        /// Its number in the block.
        number: ExprId,
        /// How many threads it waits for.
        threads: ExprId,
    },
}

/// A step at an object that counts arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arrivals {
    /// The array that holds the object.
    pub array: ArrayId,
    /// Where in the array it starts, of type [`ScalarType::I64`](super::ScalarType::I64).
    pub offset: ExprId,
    /// So many objects lie there side by side, and a thread goes round them: its `n`-th arrival is at object `n` modulo
    /// this number, and its `n`-th wait is, too. 1 for the object itself.
    pub circle: u32,
    /// For how many arrivals it waits in each of its phases.
    pub count: Count,
    /// What the thread does.
    pub part: Part,
}

impl Arrivals {
    /// The bytes of an object.
    pub const BYTES: u32 = 8;
}

/// For how many arrivals an object waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// For as many as the block has threads.
    Block,
    /// For so many.
    Number(u32),
    /// For as many as the block has threads whose number in it is at least the first of these and below the second.
    Range(u32, u32),
    /// For as many as only the complete kernel tells: as with a [`Placeholder`], no kernel that is settled has it.
    Open,
}

/// What a thread does at an object that counts arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// It arrives and goes on.
    Arrives,
    /// It arrives, and goes on when the phase that it arrived in is complete.
    Meets,
    /// It does not arrive: its `n`-th wait at an object is until the `n`-th phase of that is complete, counted from 0.
    Waits,
    /// The same for the phase before: the first wait at every object is over at once.
    WaitsBefore,
}

impl Among {
    /// The condition of the threads that it is for.
    pub fn named(self) -> Option<ExprId> {
        match self {
            Among::Named(cond) => Some(cond),
            _ => None,
        }
    }

    /// Whether it is for all threads of its scope.
    pub fn is_everyone(self) -> bool {
        matches!(self, Among::All | Among::Counted)
    }

    /// Whether a barrier of that scope counts arrivals, so that a thread that has ended is missed in every dialect: an
    /// object that threads arrive at, and the barriers of hardware for a number of threads.
    pub fn counts_arrivals(self, scope: SyncScope) -> bool {
        match self {
            Among::Counted => true,
            Among::Named(_) | Among::Tiles(_) => scope >= SyncScope::Block,
            Among::Arrivals(_) => true,
            Among::Placeholder(Placeholder::Object { .. } | Placeholder::Numbered { .. }) => true,
            Among::All | Among::InStep(_) | Among::Placeholder(Placeholder::Mask(_)) => false,
        }
    }

    /// The same with other expressions.
    pub fn with(self, mut change: impl FnMut(ExprId) -> ExprId) -> Among {
        match self {
            Among::Named(cond) => Among::Named(change(cond)),
            Among::Arrivals(arrivals) => Among::Arrivals(Arrivals { offset: change(arrivals.offset), ..arrivals }),
            Among::Placeholder(placeholder) => Among::Placeholder(match placeholder {
                Placeholder::Mask(mask) => Placeholder::Mask(change(mask)),
                Placeholder::Object { array, offset } => Placeholder::Object { array, offset: change(offset) },
                Placeholder::Numbered { number, threads } => {
                    Placeholder::Numbered { number: change(number), threads: change(threads) }
                }
            }),
            Among::All | Among::Counted | Among::Tiles(_) | Among::InStep(_) => self,
        }
    }

    /// The step at an object, if it is one.
    pub fn arrivals(self) -> Option<Arrivals> {
        match self {
            Among::Arrivals(arrivals) => Some(arrivals),
            _ => None,
        }
    }

    /// What stands for those that it is for, if that is not known yet.
    pub fn placeholder(self) -> Option<Placeholder> {
        match self {
            Among::Placeholder(placeholder) => Some(placeholder),
            _ => None,
        }
    }

    /// The expressions that it mentions: a condition, the offset of an object, or what a placeholder is about.
    pub fn mentioned(self) -> impl Iterator<Item = ExprId> {
        let mentioned = match self {
            Among::Named(one) | Among::Arrivals(Arrivals { offset: one, .. }) => [Some(one), None],
            Among::Placeholder(Placeholder::Mask(one) | Placeholder::Object { offset: one, .. }) => [Some(one), None],
            Among::Placeholder(Placeholder::Numbered { number, threads }) => [Some(number), Some(threads)],
            Among::All | Among::Counted | Among::Tiles(_) | Among::InStep(_) => [None; 2],
        };
        mentioned.into_iter().flatten()
    }

    /// The number of threads in a group, if the groups are smaller or larger than a warp is.
    pub fn tile(self) -> Option<u32> {
        match self {
            Among::Tiles(threads) | Among::InStep(threads) if threads != eval::WARP => Some(threads),
            _ => None,
        }
    }

    /// Whether it stands for hardware that runs in lock-step, and for nothing in the source.
    pub fn is_in_step(self) -> bool {
        matches!(self, Among::InStep(_))
    }
}

/// Operations of atomics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is the operation that its name says")]
pub enum AtomicOp {
    Load,
    Store,
    Exchange,
    CompareExchange,
    Add,
    Sub,
    Increment,
    Decrement,
    Min,
    Max,
    And,
    Or,
    Xor,
}

impl AtomicOp {
    /// Whether it moves a counter, so that what it gives back is a number that was drawn.
    pub fn is_counting(self) -> bool {
        matches!(self, AtomicOp::Add | AtomicOp::Sub | AtomicOp::Increment | AtomicOp::Decrement)
    }
}

/// Memory orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is the order that its name says")]
pub enum MemoryOrder {
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
    /// Of a compare-exchange: acquire if it exchanges, relaxed if not.
    AcquireOnExchange,
    /// Of a compare-exchange: acquire and release if it exchanges, relaxed if not.
    AcquireReleaseOnExchange,
}

impl MemoryOrder {
    /// The order of an atomic that exchanges, and of one that only reads.
    pub fn outcomes(self) -> [MemoryOrder; 2] {
        match self {
            MemoryOrder::AcquireOnExchange => [MemoryOrder::Acquire, MemoryOrder::Relaxed],
            MemoryOrder::AcquireReleaseOnExchange => [MemoryOrder::AcquireRelease, MemoryOrder::Relaxed],
            order => [order; 2],
        }
    }
}
