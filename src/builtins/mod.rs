//! What names of the libraries of CUDA, HIP and OpenCL mean: functions, classes and their methods, variables, types.
//!
//! Tables from names to meanings, which are closed enums: of functions [`Builtin`], with which `resolve` types a call and
//! `lower` turns it into the calculus; of methods and of functions on objects an enum for each library ([`groups`],
//! [`pipelines`], [`phases`], [`atomics`], [`collectives`]). A name that is not here is unknown, and what it may do is
//! decided by `lower`.
//!
//! Guarantees: no other room compares names of these libraries; who adds a meaning is led by the compiler to every place that
//! has to say what becomes of it.
//!
//! - [`functions`], with [`annotations`], [`atomics`] and families of names: functions of kernels.
//! - [`groups`], [`pipelines`], [`phases`], [`collectives`], [`structures`]: classes. [`scopes`]: what their arguments name.
//! - [`host`], [`launches`]: functions of the host. [`namespaces`]: what a name says of its library. [`telling`]: names that
//!   only tell something.
//! - [`types`], [`variables`]: the others. [`names`]: whether a name is here at all.
//!
//! Deliberately absent: spans, expressions, anything about one program.

pub mod annotations;
pub mod atomics;
pub mod collectives;
pub mod confused;
pub mod external;
mod families;
pub mod functions;
pub mod groups;
pub mod host;
pub mod launches;
mod libraries;
pub mod names;
pub mod namespaces;
pub mod phases;
pub mod pipelines;
pub mod scopes;
pub mod structures;
pub mod telling;
pub mod types;
pub mod variables;

#[cfg(test)]
mod tests;

use crate::calculus::{AtomicOp, Axis, BitCount, MemoryOrder, Nature, SyncMemory, SyncScope};

/// How a fence says what it orders, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceCall {
    /// By its name: all memory (`__threadfence()`).
    All {
        /// In which directions.
        order: MemoryOrder,
        /// For whom.
        scope: SyncScope,
    },
    /// By its name, for the work-group; the flags in the argument name the memory (`mem_fence(flags)`).
    OfGroup(MemoryOrder),
    /// By its arguments: flags, order and scope (`atomic_work_item_fence`).
    Flagged,
    /// By its arguments: order and scope, all memory (`__nv_atomic_thread_fence`).
    Numbered,
}

/// What a builtin function means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// A pure function of its arguments that returns a floating-point or other opaque value.
    Pure,
    /// A pure function of which more is known.
    PureFunction(PureFunction),
    /// `min` of two values of one type.
    Min,
    /// `max` of two values of one type.
    Max,
    /// `abs` of an integer.
    Abs,
    /// A function of OpenCL on the lanes of vectors, or on numbers.
    Lanes(LaneFunction),
    /// Product of the low 24 bits of two integers, which are signed if the integers are (`__mul24`, `mul24`, `__umul24`).
    Mul24,
    /// The same, plus a third integer (`mad24`).
    MulAdd24,
    /// `get_global_id(d)` and the like; the argument must be a constant.
    WorkItem(WorkItem),
    /// A barrier of the given scope and memory; for `barrier(flags)` of OpenCL the memory follows from the argument.
    Barrier {
        /// Threads that it orders.
        scope: SyncScope,
        /// Memory that it orders; `None` if the argument says.
        memory: Option<SyncMemory>,
    },
    /// A barrier of the block that orders all memory and tells all what the threads have said: `__syncthreads_or`.
    VotingBarrier(Made),
    /// A barrier of each aligned group of so many neighbouring threads of a block, a power of two.
    TileBarrier(u32),
    /// A memory fence, which waits for nobody.
    Fence(FenceCall),
    /// `prefetch`: a call that does nothing but evaluate its arguments.
    Hint,
    /// An atomic on the object that the first argument points to.
    Atomic {
        /// The operation.
        op: AtomicOp,
        /// Memory order.
        order: MemoryOrder,
        /// Threads among which it is atomic.
        scope: SyncScope,
    },
    /// A compare-exchange that says whether it has exchanged, and otherwise writes what it has found through its second
    /// argument: that of C++ and OpenCL 2.
    CompareAndExchange {
        /// Memory order where it exchanges, and where it does not.
        orders: [MemoryOrder; 2],
        /// Threads among which it is atomic.
        scope: SyncScope,
        /// Whether it may fail though it finds what is expected.
        weak: bool,
    },
    /// `memcpy`, `memmove`.
    CopyMemory,
    /// `memset`.
    SetMemory,
    /// `printf` and the like: no effect on memory that kernels share.
    Print,
    /// `assert`: evaluated by the program.
    Assert,
    /// `__trap`, `abort`: the thread ends there, and its launch with it, unfinished.
    End,
    /// A claim in an annotation, which the program does not evaluate.
    Claim(Claim),
    /// `__builtin_assume`, `__assume`: the condition may be relied on.
    Assume,
    /// `__requires`: the condition may be relied on in a kernel. A function that another one calls requires it of that one.
    Require,
    /// A formula of annotations: `__implies(a, b)`.
    Formula(Formula),
    /// What a function of which nothing else is known may do: `__writes_to(a)`.
    Specified,
    /// An annotation that says nothing new: `__requires_fresh_array(a)`, since pointer parameters are taken to be
    /// disjoint anyway.
    Nothing,
    /// `clock()`: the value depends on the schedule.
    Schedule,
    /// `__activemask()`, `coalesced_threads()`: the mask, or the group, of the threads that happen to run together.
    Running,
    /// A shuffle or vote without a mask (`__shfl`, `__ballot`): for the threads that happen to run together.
    Unmasked(Made),
    /// `malloc`, `free`, `alloca`.
    Dynamic(Dynamic),
    /// `__cvta_generic_to_shared(pointer)`: the address that shared memory has in its window, as a number.
    SharedAddress,
    /// `vloadN(offset, p)`, with the number of lanes.
    VectorLoad(u8),
    /// `vstoreN(value, offset, p)`, with the number of lanes.
    VectorStore(u8),
    /// `vload_halfN(offset, p)`: so many lanes, each converted; the vectors lie `stride` lanes apart.
    HalfLoad {
        /// Lanes of the vector.
        lanes: u8,
        /// Lanes from one vector to the next.
        stride: u8,
    },
    /// `vstore_halfN(value, offset, p)`, likewise.
    HalfStore {
        /// Lanes of the vector.
        lanes: u8,
        /// Lanes from one vector to the next.
        stride: u8,
    },
    /// `make_float4(…)` and its kin: builds a vector, by type name.
    MakeVector(String),
    /// Loads through a cache hint: `__ldg(p)`.
    CachedLoad,
    /// A name that nothing declares, used as a value: a constant or macro of a header that is not here.
    Undeclared,
    /// A random number generator of cuRAND: what happens to its state.
    Random(Random),
    /// `__stcs(p, v)` and its kin: a store with a cache hint.
    CachedStore,
    /// An access to a surface at so many coordinates.
    Surface(Direction, u8),
    /// An access to a pixel of an image of OpenCL, at the coordinates that the second argument holds.
    Image(Direction),
    /// A function on the registers that hold a part of a matrix (`wmma`).
    Fragment(Fragment),
    /// An asynchronous copy.
    Copying(Copying),
    /// Half of a barrier: of the block or the grid, or of the object that the first argument points to.
    Phase(Phase, Option<SyncScope>),
    /// A pipeline that the threads of a block share; the first argument points to its state.
    Pipeline(Pipeline),
    /// A question about the cluster that the thread's block lies in.
    Cluster(InCluster),
    /// A call that threads make together, and that gives them something made of the values of all: a shuffle, a vote, a
    /// reduction. That it orders memory is promised nowhere.
    Together(Together, Made),
    /// A number of a group of threads of a warp; the only argument stands for the mask of its threads.
    InGroup(InGroup),
    /// The meeting of a group of threads in a collective of CUB; the only argument points to its temporary storage.
    Collective(collectives::Group),
    /// Known, and not modelled.
    Unmodelled {
        /// What it is, in the user's words ("warp shuffle").
        reason: String,
        /// Whether it may read or write memory that other threads see, or order threads. If not, only its
        /// value is unknown.
        touches_memory: bool,
    },
}

/// A function of OpenCL whose value on a lane is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneFunction {
    /// `select(a, b, c)`: `b` where the most significant bit of a lane of `c` is set, or a number `c` is not zero; else `a`.
    Select,
    /// `any(x)`: whether the most significant bit of some lane is set.
    Any,
    /// `all(x)`: whether those of all are.
    All,
    /// `abs_diff(a, b)`: how far they are apart, without a sign.
    AbsDiff,
    /// `add_sat(a, b)`: the sum, or the nearest number of the type.
    AddSat,
    /// `sub_sat(a, b)`: the difference, likewise.
    SubSat,
    /// `hadd(a, b)`: half of the exact sum, rounded down.
    Hadd,
    /// `rhadd(a, b)`: half of the exact sum, rounded up.
    Rhadd,
    /// `mul_hi(a, b)`: the upper half of the exact product.
    MulHi,
    /// `upsample(high, low)`: a number of twice the bits.
    Upsample,
    /// `rotate(a, b)`: the bits of `a` moved by `b` places to the left, around.
    Rotate,
}

impl Builtin {
    /// Whether it computes a value of its arguments and does nothing else.
    pub fn is_pure(&self) -> bool {
        matches!(self, Builtin::Pure | Builtin::PureFunction(_))
    }

    /// What it does beside giving a value.
    pub fn effect(&self) -> Effect<'_> {
        match self {
            Builtin::Pure
            | Builtin::PureFunction(_)
            | Builtin::Min
            | Builtin::Max
            | Builtin::Abs
            | Builtin::Lanes(_)
            | Builtin::Mul24
            | Builtin::MulAdd24
            | Builtin::WorkItem(_)
            | Builtin::Hint
            | Builtin::Print
            | Builtin::Assert
            | Builtin::End
            | Builtin::Claim(_)
            | Builtin::Assume
            | Builtin::Require
            | Builtin::Formula(_)
            | Builtin::Specified
            | Builtin::Nothing
            | Builtin::Schedule
            | Builtin::Running
            | Builtin::Unmasked(_)
            | Builtin::MakeVector(_)
            | Builtin::Undeclared
            | Builtin::Cluster(_)
            | Builtin::InGroup(_)
            | Builtin::Unmodelled { touches_memory: false, .. } => Effect::Nothing,
            Builtin::Barrier { .. }
            | Builtin::VotingBarrier(_)
            | Builtin::TileBarrier(_)
            | Builtin::Fence(_)
            | Builtin::Phase(..)
            | Builtin::Pipeline(_)
            | Builtin::Together(..)
            | Builtin::Copying(
                Copying::Commit
                | Copying::WaitPrior
                | Copying::WaitOldest
                | Copying::GroupWait(_)
                | Copying::WaitEvents,
            ) => Effect::Order,
            Builtin::Atomic { .. }
            | Builtin::CompareAndExchange { .. }
            | Builtin::CopyMemory
            | Builtin::SetMemory
            | Builtin::VectorLoad(_)
            | Builtin::VectorStore(_)
            | Builtin::HalfLoad { .. }
            | Builtin::HalfStore { .. }
            | Builtin::CachedLoad
            | Builtin::CachedStore
            | Builtin::Random(_)
            | Builtin::Surface(..)
            | Builtin::Image(_)
            | Builtin::Fragment(_)
            | Builtin::Collective(_)
            | Builtin::Copying(
                Copying::Copy
                | Copying::GroupCopy(_)
                | Copying::BarrierCopy(_)
                | Copying::WorkGroupCopy
                | Copying::StridedCopy,
            ) => Effect::Access,
            Builtin::Unmodelled { reason, touches_memory: true } => Effect::Unmodelled(reason),
            Builtin::Dynamic(_) => Effect::Unmodelled(Dynamic::REASON),
            Builtin::SharedAddress => Effect::Unmodelled(functions::ADDRESS_AS_NUMBER),
        }
    }
}

/// What a builtin does beside giving a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect<'b> {
    /// Nothing that other threads could notice.
    Nothing,
    /// It orders threads or memory, and accesses none.
    Order,
    /// It accesses memory.
    Access,
    /// It may do either, in a way that is not modelled: what it is, in the user's words.
    Unmodelled(&'b str),
}

/// A pure function of which more is known than that it computes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PureFunction {
    /// It reads a texture: `tex2D`.
    Fetch,
    /// It tells of a handle or of where a pointer leads: `get_image_width`, `__isShared`.
    Query,
    /// It moves bits and computes no number: `bitselect`, a group of threads that is made of another one.
    Bits,
    /// It counts bits.
    Count(BitCount),
    /// `ceil`
    Ceil,
    /// `floor`
    Floor,
    /// It compares two numbers, or their lanes: `isless`.
    Compare(Comparison),
}

impl PureFunction {
    /// What of it counts in the calculus.
    pub fn nature(self) -> Nature {
        match self {
            PureFunction::Fetch => Nature::Fetches,
            PureFunction::Query => Nature::Queries,
            PureFunction::Bits => Nature::Exact,
            PureFunction::Count(what) => Nature::Counts(what),
            PureFunction::Ceil | PureFunction::Floor | PureFunction::Compare(_) => Nature::Computes,
        }
    }
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each variant is what its name says")]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What happens to memory that a thread asks for while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dynamic {
    /// `malloc(bytes)`
    Allocate,
    /// `free(p)`
    Free,
    /// `alloca(bytes)`
    OnStack,
}

impl Dynamic {
    /// What it is, in the user's words.
    pub const REASON: &str = "dynamic memory";
}

/// The threads that make a call together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Together {
    /// Those of a warp that the mask names which is the first argument.
    Named,
    /// Those that happened to run together when the group was made that is the first argument and stands for its mask. Lanes
    /// count within the group.
    Coalesced,
    /// Those of an aligned group of so many, a power of two.
    Tile(u32),
    /// Those of a sub-group or a work-group.
    Group(SyncScope),
    /// Those of a group of which nothing is known.
    Some,
}

/// What is made of the values that threads put into a call which they make together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Made {
    /// The value of another lane.
    Shuffle(Partner),
    /// The value of one thread, for all: `work_group_broadcast`.
    Broadcast,
    /// Whether one of them says yes: `__any_sync`, `__syncthreads_or`.
    Any,
    /// Whether all say yes.
    All,
    /// Whether all say the same: `__uni_sync`.
    Unanimous,
    /// How many say yes: `__syncthreads_count`.
    Count,
    /// The mask of those that say yes: `__ballot_sync`.
    Ballot,
    /// The mask of those that have the value of the thread itself: `__match_any_sync`.
    MatchAny,
    /// The mask of all if all have the same value: `__match_all_sync`.
    MatchAll,
    /// One value of all: `__reduce_min_sync`.
    Reduced(Operation),
    /// One value of all, by the function object that the second argument is: `reduce(group, value, function)`.
    ReducedBy,
    /// A value of those that come before: `sub_group_scan_inclusive_add`.
    Scan,
}

impl Made {
    /// Whom it gives the same value.
    pub fn gives(self) -> Gives {
        match self {
            Made::Shuffle(Partner::Lane) => Gives::Lane,
            Made::Shuffle(Partner::Below | Partner::Above | Partner::Flipped) | Made::MatchAny | Made::Scan => {
                Gives::Each
            }
            Made::Broadcast
            | Made::Any
            | Made::All
            | Made::Unanimous
            | Made::Count
            | Made::Ballot
            | Made::MatchAll
            | Made::Reduced(_)
            | Made::ReducedBy => Gives::All,
        }
    }
}

/// The lane that a shuffle reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Partner {
    /// That of a number: `__shfl_sync`.
    Lane,
    /// So many below: `__shfl_up_sync`.
    Below,
    /// So many above: `__shfl_down_sync`.
    Above,
    /// The own number with bits flipped: `__shfl_xor_sync`.
    Flipped,
}

/// What a reduction does with two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// It adds them.
    Add,
    /// The smaller one.
    Min,
    /// The greater one.
    Max,
    /// The bits that both have.
    And,
    /// The bits that one has.
    Or,
    /// The bits in which they differ.
    Xor,
}

/// Whom a call that threads make together gives the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gives {
    /// Each of them gets its own.
    Each,
    /// All of them get the same one.
    All,
    /// All of them get what a lane has, if the second of the arguments that are no mask names the same lane to all. A third
    /// one says of how many threads each part of the warp has lanes of its own.
    Lane,
}

/// What is asked about a group of threads of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InGroup {
    /// How many of its threads come before this one.
    Rank,
    /// How many threads it has.
    Size,
}

/// What is asked about the cluster of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InCluster {
    /// Which of its blocks it is, along an axis.
    Position(Axis),
    /// Its blocks along an axis.
    Extent(Axis),
    /// The place in the shared memory of another of its blocks: `map_shared_rank(pointer, rank)`.
    Map,
}

/// What a function of cuRAND does with the state that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Random {
    /// Writes it: `curand_init(seed, sequence, offset, state)`.
    Seed,
    /// Reads and writes it, its first argument: `curand(state)`.
    Draw,
    /// Reads and writes it, its last argument: `skipahead(n, state)`.
    Skip,
}

/// Calls that begin asynchronous copies, and waits for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Copying {
    /// A thread begins a copy: `__pipeline_memcpy_async(to, from, bytes, zeros)`.
    Copy,
    /// It makes a batch of those that it has begun.
    Commit,
    /// It waits for all batches but its newest ones, as many as the argument says.
    WaitPrior,
    /// It waits for its oldest batch.
    WaitOldest,
    /// A group of threads begins a copy: `memcpy_async(group, to, from, bytes)`, without the group.
    GroupCopy(collectives::Group),
    /// It waits for all that it has begun.
    GroupWait(collectives::Group),
    /// A thread, or a group together, begins a copy that is done once a barrier lets threads go on:
    /// `memcpy_async(to, from, bytes, barrier)`, with the address of the barrier.
    BarrierCopy(Option<collectives::Group>),
    /// `async_work_group_copy`
    WorkGroupCopy,
    /// `async_work_group_strided_copy`
    StridedCopy,
    /// `wait_group_events(number, events)`
    WaitEvents,
}

/// What happens to a pipeline that threads share: some fill its stages and others empty them, or all do both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pipeline {
    /// All threads of the block make it; it has so many stages. With a second argument only threads whose rank is below that
    /// fill them and only the others empty them; else all do both.
    Make(u32),
    /// A producer waits until its next stage is empty.
    Acquire,
    /// A thread, or the block together, begins a copy that belongs to the stage which its next commit fills:
    /// `memcpy_async(to, from, bytes, pipeline)`, with the state first.
    Copy(Option<collectives::Group>),
    /// The producer has filled its stage.
    Commit,
    /// A consumer waits until its next stage is full.
    Wait,
    /// The consumer has emptied its stage.
    Release,
}

impl Pipeline {
    /// `cuda::pipeline_role::producer`, so that every rank is below it.
    pub const PRODUCER: i128 = i32::MAX as i128;
    /// `cuda::pipeline_role::consumer`.
    pub const CONSUMER: i128 = 0;
}

/// What happens to a barrier that threads arrive at and wait for in two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// It is told how many arrivals it waits for: `init(&barrier, number)`.
    Init,
    /// A thread arrives.
    Arrive,
    /// It waits until all have arrived.
    Wait,
    /// Both in one step.
    ArriveAndWait,
    /// Whether all have arrived, which it may have to ask again: `try_wait_for`, `__mbarrier_test_wait`.
    Test,
    /// It waits until the phase of that parity is over: `wait_parity`.
    WaitParity,
    /// Whether that phase is over: `try_wait_parity_for`.
    TestParity,
}

/// What a function of `nvcuda::wmma` does. The lanes of a warp share the elements of a matrix in a way that is not
/// specified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fragment {
    /// Reads a matrix into registers: `load_matrix_sync(fragment, pointer, leading dimension)`.
    Load,
    /// Writes a matrix from registers: `store_matrix_sync(pointer, fragment, leading dimension, layout)`.
    Store,
    /// Changes its first argument, which is registers: `fill_fragment`, `mma_sync`.
    Compute,
}

/// Claims of annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// It holds here; at the head of a loop, whenever the test of the loop is evaluated: `__assert`, `__invariant`.
    Asserted,
    /// It may hold: `__candidate_invariant`. Only what is proved counts.
    Candidate,
    /// It holds when the function returns: `__ensures`.
    Ensured,
    /// It holds at the head of every loop of the function: `__function_wide_invariant`.
    FunctionWide,
    /// It may hold there.
    FunctionWideCandidate,
}

/// Formulas of annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// `__implies(a, b)`
    Implies,
    /// `__ite(c, a, b)`
    IfThenElse,
    /// `__is_pow2(x)`: at most one bit of it is set.
    IsPowerOfTwo,
    /// `__mod_pow2(x, y)`: `x & (y - 1)`
    ModuloPowerOfTwo,
    /// `__enabled()`: true wherever it is evaluated.
    Enabled,
    /// `__other_int(x)`: the value in the other one of two threads.
    Other,
    /// `__distinct_int(x)`: the value differs between threads.
    Distinct,
    /// `__uniform_int(x)`: the value is the same for all threads.
    Uniform,
    /// `__all(c)`: it holds in both threads.
    Both,
    /// `__exclusive(c)`: it holds in one thread at most.
    Exclusive,
    /// `__same_group`: both threads are of one block.
    SameGroup,
    /// `__read(a)`: the thread has read from the array since the last barrier.
    Accessed(Direction),
    /// `__no_read(a)`: it has not.
    NotAccessed(Direction),
    /// `__read_implies(a, c)`: if it has, then this holds, whichever of its accesses [`Formula::AccessOffset`] is about.
    AccessImplies(Direction),
    /// `__read_offset_bytes(a)`, `__read_offset(a)`: where it has.
    AccessOffset(Direction, OffsetUnit),
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

/// What an offset counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OffsetUnit {
    /// Bytes.
    Bytes,
    /// Elements of the array.
    Elements,
}

impl Formula {
    /// Whether it has a value outside of annotations: it is not about two threads, or about accesses.
    pub fn is_of_programs(self) -> bool {
        use Formula::{Enabled, IfThenElse, Implies, IsPowerOfTwo, ModuloPowerOfTwo};
        matches!(self, Implies | IfThenElse | IsPowerOfTwo | ModuloPowerOfTwo | Enabled)
    }
}

/// OpenCL's work-item functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkItem {
    /// `get_work_dim()`
    WorkDim,
    /// `get_global_size(d)`
    GlobalSize,
    /// `get_global_id(d)`
    GlobalId,
    /// `get_local_size(d)`
    LocalSize,
    /// `get_local_id(d)`
    LocalId,
    /// `get_num_groups(d)`
    NumGroups,
    /// `get_group_id(d)`
    GroupId,
    /// `get_global_offset(d)`
    GlobalOffset,
    /// `get_global_linear_id()`
    GlobalLinearId,
    /// `get_local_linear_id()`
    LocalLinearId,
}
