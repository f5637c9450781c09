//! Functions that CUDA and OpenCL define, by name: what they mean and what type their result has.

use super::types::{DOUBLE, FLOAT, HALF, INT, LONG, NamedType, Scalar, UINT, ULONG, named_type};
use super::{
    Builtin, Comparison, Copying, Direction, Dynamic, FenceCall, LaneFunction, Made, Operation, Partner, Phase,
    PureFunction, Together, WorkItem, annotations, atomics, families,
};
use crate::calculus::{BitCount, MemoryOrder, SyncMemory, SyncScope};
use crate::source::Language;

/// A builtin function with the rule for its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// What it means.
    pub builtin: Builtin,
    /// The type of its result.
    pub result: ResultType,
}

/// The rule for the type of a builtin's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultType {
    /// `void`
    Void,
    /// This type.
    Fixed(NamedType),
    /// The common type of all arguments, to which they are converted.
    Common,
    /// The type of the first argument.
    First,
    /// The promoted type of the second argument: what shuffles and reductions by a mask give.
    Second,
    /// What the first template argument says; without one it is not known.
    Fetched,
    /// A floating-point type: that of the arguments if they have one, else `double`.
    Floating,
    /// The first argument's type with the lanes of another type.
    Lanes(Scalar),
    /// The scalar type of a vector's lanes, or the argument's own.
    Lane,
    /// What a comparison of the first argument gives: `int`, or signed lanes of the bits of a vector's.
    Comparison,
    /// The first argument's type without a sign.
    Unsigned,
    /// A word with the sign of what the first argument packs: `int` for `int` and `char4`, `unsigned` for theirs.
    Packed,
    /// The first argument's type with twice the bits.
    Wider,
    /// The floating-point type of the bits of the first argument.
    Real,
    /// The lanes of the last argument, each of the type of the first one's.
    Shuffled,
    /// What the first argument points to.
    Pointee,
    /// A vector of so many of what the last argument points to.
    Loaded(u8),
    /// Not known.
    Unknown,
}

/// What the function of that name means, if it is a builtin. Names of the standard library come without `std::`.
pub fn function(language: Language, name: &str) -> Option<Meaning> {
    if let Some(meaning) = annotations::annotation(language, name) {
        return Some(meaning);
    }
    let of_language = match language {
        Language::Cuda => cuda(name),
        Language::OpenCl => opencl(name),
    };
    of_language.or_else(|| atomics::atomic(language, name)).or_else(|| common(name))
}

/// The call that orders fewer threads than a barrier or a fence of that name does, if there is one with the same arguments.
pub fn narrower(language: Language, name: &str) -> Option<&'static str> {
    match (language, name) {
        (Language::Cuda, "__syncthreads") => Some("__syncwarp()"),
        (Language::Cuda, "__threadfence_system") => Some("__threadfence()"),
        (Language::Cuda, "__threadfence") => Some("__threadfence_block()"),
        _ => None,
    }
}

pub(super) fn meaning(builtin: Builtin, result: ResultType) -> Meaning {
    Meaning { builtin, result }
}

pub(super) fn fixed(scalar: Scalar) -> ResultType {
    ResultType::Fixed(NamedType::Scalar(scalar))
}

/// What is known and not modelled.
pub(super) fn unmodelled(reason: &str, result: ResultType) -> Meaning {
    meaning(Builtin::Unmodelled { reason: reason.to_owned(), touches_memory: true }, result)
}

/// A function of which only the value is not modelled.
pub(super) fn unmodelled_value(reason: &str, result: ResultType) -> Meaning {
    meaning(Builtin::Unmodelled { reason: reason.to_owned(), touches_memory: false }, result)
}

pub(super) fn pure(result: ResultType) -> Meaning {
    meaning(Builtin::Pure, result)
}

/// A pure function of which more is known.
fn known(function: PureFunction, result: ResultType) -> Meaning {
    meaning(Builtin::PureFunction(function), result)
}

/// What an address that is made a number is, in the user's words.
pub(super) const ADDRESS_AS_NUMBER: &str = "address as a number";

/// The C library and what both languages share.
fn common(name: &str) -> Option<Meaning> {
    Some(match name {
        "min" => meaning(Builtin::Min, ResultType::Common),
        "max" => meaning(Builtin::Max, ResultType::Common),
        "fmin" => meaning(Builtin::Min, ResultType::Floating),
        "fmax" => meaning(Builtin::Max, ResultType::Floating),
        "abs" => meaning(Builtin::Abs, ResultType::First),
        "printf" | "puts" | "fprintf" => meaning(Builtin::Print, fixed(INT)),
        "assert" => meaning(Builtin::Assert, ResultType::Void),
        "abort"
        | "__builtin_trap"
        | "__builtin_abort"
        | "__builtin_unreachable"
        | "__assert_fail"
        | "__assertfail"
        | "_wassert" => meaning(Builtin::End, ResultType::Void),
        "memcpy" | "memmove" => meaning(Builtin::CopyMemory, ResultType::First),
        "memset" => meaning(Builtin::SetMemory, ResultType::First),
        "labs" | "llabs" => meaning(Builtin::Abs, fixed(LONG)),
        "isnan" | "isinf" | "isfinite" | "signbit" | "isnormal" => pure(fixed(INT)),
        "ilogb" | "ilogbf" => pure(fixed(INT)),
        "lrint" | "lround" | "llrint" | "llround" | "lrintf" | "lroundf" | "llrintf" | "llroundf" => pure(fixed(LONG)),
        "floor" => known(PureFunction::Floor, ResultType::Floating),
        "ceil" => known(PureFunction::Ceil, ResultType::Floating),
        "sqrt" | "rsqrt" | "cbrt" | "rcbrt" | "sin" | "cos" | "tan" | "asin" | "acos" | "atan" | "atan2" | "sinh"
        | "cosh" | "tanh" | "asinh" | "acosh" | "atanh" | "exp" | "exp2" | "exp10" | "expm1" | "log" | "log2"
        | "log10" | "log1p" | "logb" | "pow" | "powf" | "round" | "trunc" | "rint" | "nearbyint" | "fabs" | "fma"
        | "fmod" | "remainder" | "fdim" | "hypot" | "copysign" | "erf" | "erfc" | "erfinv" | "erfcinv" | "erfcx"
        | "lgamma" | "tgamma" | "ldexp" | "scalbn" | "nextafter" | "normcdf" | "normcdfinv" | "sinpi" | "cospi"
        | "norm3d" | "rnorm3d" | "norm4d" | "rhypot" | "j0" | "j1" | "y0" | "y1" => pure(ResultType::Floating),
        _ => return None,
    })
}

/// A fence of CUDA, which orders all memory.
fn fence(scope: SyncScope) -> Meaning {
    let order = MemoryOrder::SequentiallyConsistent;
    meaning(Builtin::Fence(FenceCall::All { order, scope }), ResultType::Void)
}

fn group_fence(order: MemoryOrder) -> Meaning {
    meaning(Builtin::Fence(FenceCall::OfGroup(order)), ResultType::Void)
}

/// CUDA.
fn cuda(name: &str) -> Option<Meaning> {
    let both = SyncMemory::BOTH;
    let barrier = |scope| Builtin::Barrier { scope, memory: Some(both) };
    let named = |made, result| meaning(Builtin::Together(Together::Named, made), result);
    let unmasked = |made, result| meaning(Builtin::Unmasked(made), result);
    let voting = |made| meaning(Builtin::VotingBarrier(made), fixed(INT));
    let count = |what| known(PureFunction::Count(what), fixed(INT));
    let surface = |direction, coordinates| {
        let result = if direction == Direction::Write { ResultType::Void } else { ResultType::Unknown };
        meaning(Builtin::Surface(direction, coordinates), result)
    };
    Some(match name {
        "__syncthreads" => meaning(barrier(SyncScope::Block), ResultType::Void),
        "__syncthreads_count" => voting(Made::Count),
        "__syncthreads_and" => voting(Made::All),
        "__syncthreads_or" => voting(Made::Any),
        "__syncwarp" => meaning(barrier(SyncScope::Warp), ResultType::Void),
        "__cluster_barrier_arrive" => {
            meaning(Builtin::Phase(Phase::Arrive, Some(SyncScope::Cluster)), ResultType::Void)
        }
        "__cluster_barrier_arrive_relaxed" => {
            unmodelled("arrival at a barrier that publishes nothing", ResultType::Void)
        }
        "__cluster_barrier_wait" => meaning(Builtin::Phase(Phase::Wait, Some(SyncScope::Cluster)), ResultType::Void),
        "__threadfence" => fence(SyncScope::Grid),
        "__threadfence_block" => fence(SyncScope::Block),
        "__threadfence_system" => fence(SyncScope::System),
        // It tells the graph that runs the kernel what to run next.
        "cudaGraphSetConditional" => meaning(Builtin::Hint, ResultType::Void),
        "umin" => meaning(Builtin::Min, fixed(UINT)),
        "umax" => meaning(Builtin::Max, fixed(UINT)),
        "llmin" => meaning(Builtin::Min, fixed(LONG)),
        "llmax" => meaning(Builtin::Max, fixed(LONG)),
        "ullmin" => meaning(Builtin::Min, fixed(ULONG)),
        "ullmax" => meaning(Builtin::Max, fixed(ULONG)),
        "fminf" => meaning(Builtin::Min, fixed(FLOAT)),
        "fmaxf" => meaning(Builtin::Max, fixed(FLOAT)),
        "__mul24" => meaning(Builtin::Mul24, fixed(INT)),
        "__umul24" => meaning(Builtin::Mul24, fixed(UINT)),
        "__ldg" | "__ldca" | "__ldcg" | "__ldcs" | "__ldcv" | "__ldlu" => {
            meaning(Builtin::CachedLoad, ResultType::Pointee)
        }
        "__stcg" | "__stcs" | "__stwb" | "__stwt" => meaning(Builtin::CachedStore, ResultType::Void),
        "clock" => meaning(Builtin::Schedule, fixed(LONG)),
        "clock64" | "__clock64" | "globaltimer" => meaning(Builtin::Schedule, fixed(LONG)),
        "__clock" => meaning(Builtin::Schedule, fixed(INT)),
        "__activemask" => meaning(Builtin::Running, fixed(UINT)),
        "__shfl" => unmasked(Made::Shuffle(Partner::Lane), ResultType::First),
        "__shfl_up" => unmasked(Made::Shuffle(Partner::Below), ResultType::First),
        "__shfl_down" => unmasked(Made::Shuffle(Partner::Above), ResultType::First),
        "__shfl_xor" => unmasked(Made::Shuffle(Partner::Flipped), ResultType::First),
        "__shfl_sync" => named(Made::Shuffle(Partner::Lane), ResultType::Second),
        "__shfl_up_sync" => named(Made::Shuffle(Partner::Below), ResultType::Second),
        "__shfl_down_sync" => named(Made::Shuffle(Partner::Above), ResultType::Second),
        "__shfl_xor_sync" => named(Made::Shuffle(Partner::Flipped), ResultType::Second),
        "__any" => unmasked(Made::Any, fixed(INT)),
        "__all" => unmasked(Made::All, fixed(INT)),
        "__ballot" => unmasked(Made::Ballot, fixed(UINT)),
        "__any_sync" => named(Made::Any, fixed(INT)),
        "__all_sync" => named(Made::All, fixed(INT)),
        "__uni_sync" => named(Made::Unanimous, fixed(INT)),
        "__ballot_sync" => named(Made::Ballot, fixed(UINT)),
        "__match_any_sync" => named(Made::MatchAny, fixed(UINT)),
        "__match_all_sync" => named(Made::MatchAll, fixed(UINT)),
        // Names of HIP, where votes have a bit for each of up to 64 lanes.
        "__ballot64" => unmodelled_value("vote of a wavefront", fixed(ULONG)),
        "__builtin_amdgcn_wavefrontsize" => {
            unmodelled_value("size of a wavefront, which the device decides", fixed(UINT))
        }
        "__lane_id" => unmodelled_value("lane of a wavefront, whose size the device decides", fixed(UINT)),
        "wall_clock64" => meaning(Builtin::Schedule, fixed(LONG)),
        "__reduce_add_sync" => named(Made::Reduced(Operation::Add), ResultType::Second),
        "__reduce_min_sync" => named(Made::Reduced(Operation::Min), ResultType::Second),
        "__reduce_max_sync" => named(Made::Reduced(Operation::Max), ResultType::Second),
        "__reduce_and_sync" => named(Made::Reduced(Operation::And), ResultType::Second),
        "__reduce_or_sync" => named(Made::Reduced(Operation::Or), ResultType::Second),
        "__reduce_xor_sync" => named(Made::Reduced(Operation::Xor), ResultType::Second),
        "__popc" => count(BitCount::SetOf32),
        "__popcll" => count(BitCount::Set),
        "__clz" => count(BitCount::LeadingOf32),
        "__clzll" => count(BitCount::Leading),
        "__ffs" => count(BitCount::PlaceOf32),
        "__ffsll" => count(BitCount::Place),
        "__brev" | "__byte_perm" | "__umulhi" | "__usad" | "__sad" | "__uhadd" | "__urhadd" | "__funnelshift_l"
        | "__funnelshift_r" | "__funnelshift_lc" | "__funnelshift_rc" | "__float_as_uint" | "__float2uint_rn"
        | "__float2uint_rz" | "__float2uint_ru" | "__float2uint_rd" | "__double2uint_rn" | "__double2uint_rz"
        | "__fns" => pure(fixed(UINT)),
        "__dp4a" | "__dp2a_lo" | "__dp2a_hi" => pure(ResultType::Packed),
        "__mulhi" | "__rhadd" | "__float_as_int" | "__float2int_rn" | "__float2int_rz" | "__float2int_ru"
        | "__float2int_rd" | "__double2int_rn" | "__double2int_rz" | "__double2int_ru" | "__double2int_rd"
        | "__double2hiint" | "__double2loint" | "__half2int_rn" | "__half2int_rz" => pure(fixed(INT)),
        "__brevll" | "__umul64hi" | "__double2ull_rn" | "__double2ull_rz" | "__float2ull_rn" | "__float2ull_rz" => {
            pure(fixed(ULONG))
        }
        "__mul64hi"
        | "__double_as_longlong"
        | "__double2ll_rn"
        | "__double2ll_rz"
        | "__float2ll_rn"
        | "__float2ll_rz" => pure(fixed(LONG)),
        "__int_as_float" | "__uint_as_float" | "__saturatef" | "__int2float_rn" | "__int2float_rz"
        | "__uint2float_rn" | "__uint2float_rz" | "__ull2float_rn" | "__ll2float_rn" | "__double2float_rn"
        | "__double2float_rz" | "__half2float" | "__bfloat162float" | "__low2float" | "__high2float" => {
            pure(fixed(FLOAT))
        }
        "__longlong_as_double"
        | "__hiloint2double"
        | "__int2double_rn"
        | "__uint2double_rn"
        | "__ll2double_rn"
        | "__ull2double_rn" => pure(fixed(DOUBLE)),
        "__halves2half2" | "__half2half2" | "__floats2half2_rn" | "__float2half2_rn" => {
            pure(ResultType::Fixed(NamedType::Vector(HALF, 2)))
        }
        "__low2half" | "__high2half" => pure(fixed(HALF)),
        "nan" | "__builtin_inf" | "__builtin_huge_val" | "__builtin_nan" => pure(fixed(DOUBLE)),
        "nanf" | "__builtin_inff" | "__builtin_huge_valf" | "__builtin_nanf" => pure(fixed(FLOAT)),
        "tex1Dfetch" | "tex1D" | "tex2D" | "tex3D" => known(PureFunction::Fetch, ResultType::Fetched),
        "tex1DLod" | "tex2DLod" | "tex3DLod" | "tex2DLayered" | "texCubemap" | "tex2DGrad" | "tex1DLayered"
        | "tex2Dgather" => known(PureFunction::Fetch, ResultType::Unknown),
        "surf1Dwrite" => surface(Direction::Write, 1),
        "surf2Dwrite" | "surf1DLayeredwrite" => surface(Direction::Write, 2),
        "surf3Dwrite" | "surf2DLayeredwrite" | "surfCubemapwrite" | "surfCubemapLayeredwrite" => {
            surface(Direction::Write, 3)
        }
        "surf1Dread" => surface(Direction::Read, 1),
        "surf2Dread" | "surf1DLayeredread" => surface(Direction::Read, 2),
        "surf3Dread" | "surf2DLayeredread" | "surfCubemapread" | "surfCubemapLayeredread" => {
            surface(Direction::Read, 3)
        }
        "__trap" => meaning(Builtin::End, ResultType::Void),
        "__brkpt" | "__nanosleep" => unmodelled_value("pause", ResultType::Void),
        "__isGlobal" | "__isShared" | "__isConstant" | "__isLocal" => known(PureFunction::Query, fixed(UINT)),
        "__cvta_generic_to_shared" => meaning(Builtin::SharedAddress, fixed(ULONG)),
        "__cvta_generic_to_global" => unmodelled(ADDRESS_AS_NUMBER, fixed(ULONG)),
        "__prof_trigger" => meaning(Builtin::Hint, ResultType::Void),
        // Their pointers are all results.
        "sincos" | "sincosf" | "__sincosf" | "sincospi" | "sincospif" => pure(ResultType::Void),
        "modf" | "frexp" | "remquo" => pure(fixed(DOUBLE)),
        "modff" | "frexpf" | "remquof" => pure(fixed(FLOAT)),
        "__pipeline_memcpy_async" => meaning(Builtin::Copying(Copying::Copy), ResultType::Void),
        "__pipeline_commit" => meaning(Builtin::Copying(Copying::Commit), ResultType::Void),
        "__pipeline_wait_prior" => meaning(Builtin::Copying(Copying::WaitPrior), ResultType::Void),
        "memcpy_async" => unmodelled("asynchronous copy", ResultType::Void),
        "malloc" => meaning(Builtin::Dynamic(Dynamic::Allocate), ResultType::Unknown),
        "free" => meaning(Builtin::Dynamic(Dynamic::Free), ResultType::Unknown),
        "alloca" | "__builtin_alloca" => meaning(Builtin::Dynamic(Dynamic::OnStack), ResultType::Unknown),
        _ => return super::libraries::library(name).or_else(|| cuda_by_form(name)),
    })
}

/// CUDA's families of names.
fn cuda_by_form(name: &str) -> Option<Meaning> {
    if let Some(known) = families::of_form(name) {
        return Some(known);
    }
    // `sqrtf`, `__sinf`, `__fdividef`: the function of `double` with `f` after it.
    let stem = name.strip_suffix('f')?;
    let plain = stem.strip_prefix("__").unwrap_or(stem);
    let wider = common(plain).filter(|known| known.result == ResultType::Floating);
    match wider {
        Some(Meaning { builtin: builtin @ Builtin::PureFunction(_), .. }) if plain == stem => {
            Some(meaning(builtin, fixed(FLOAT)))
        }
        Some(_) => Some(pure(fixed(FLOAT))),
        None => matches!(plain, "fdivide" | "frsqrt_rn" | "exp10" | "powi" | "tanh").then(|| pure(fixed(FLOAT))),
    }
}

/// OpenCL C.
fn opencl(name: &str) -> Option<Meaning> {
    let work_item = |item, scalar| meaning(Builtin::WorkItem(item), fixed(scalar));
    let barrier = |scope| meaning(Builtin::Barrier { scope, memory: None }, ResultType::Void);
    let lanes = |function, result| meaning(Builtin::Lanes(function), result);
    let compare = |how| known(PureFunction::Compare(how), ResultType::Comparison);
    Some(match name {
        "get_work_dim" => work_item(WorkItem::WorkDim, UINT),
        "get_global_size" => work_item(WorkItem::GlobalSize, ULONG),
        "get_global_id" => work_item(WorkItem::GlobalId, ULONG),
        "get_local_size" | "get_enqueued_local_size" => work_item(WorkItem::LocalSize, ULONG),
        "get_local_id" => work_item(WorkItem::LocalId, ULONG),
        "get_num_groups" => work_item(WorkItem::NumGroups, ULONG),
        "get_group_id" => work_item(WorkItem::GroupId, ULONG),
        "get_global_offset" => work_item(WorkItem::GlobalOffset, ULONG),
        "get_global_linear_id" => work_item(WorkItem::GlobalLinearId, ULONG),
        "get_local_linear_id" => work_item(WorkItem::LocalLinearId, ULONG),
        "get_sub_group_id"
        | "get_sub_group_local_id"
        | "get_sub_group_size"
        | "get_num_sub_groups"
        | "get_max_sub_group_size"
        | "get_enqueued_num_sub_groups" => unmodelled_value("sub-group of unknown size", fixed(UINT)),
        "barrier" | "work_group_barrier" => barrier(SyncScope::Block),
        "sub_group_barrier" => barrier(SyncScope::Warp),
        // OpenCL 2 says that these reach the work-group only; OpenCL 1 promises other work-groups nothing.
        "mem_fence" => group_fence(MemoryOrder::AcquireRelease),
        "read_mem_fence" => group_fence(MemoryOrder::Acquire),
        "write_mem_fence" => group_fence(MemoryOrder::Release),
        "atomic_work_item_fence" => meaning(Builtin::Fence(FenceCall::Flagged), ResultType::Void),
        "mul24" => meaning(Builtin::Mul24, ResultType::Common),
        "mad24" => meaning(Builtin::MulAdd24, ResultType::Common),
        "async_work_group_copy" => meaning(Builtin::Copying(Copying::WorkGroupCopy), fixed(ULONG)),
        "async_work_group_strided_copy" => meaning(Builtin::Copying(Copying::StridedCopy), fixed(ULONG)),
        "wait_group_events" => meaning(Builtin::Copying(Copying::WaitEvents), ResultType::Void),
        "prefetch" => meaning(Builtin::Hint, ResultType::Void),
        "mad" | "native_sin" | "native_cos" | "native_tan" | "native_exp" | "native_exp2" | "native_exp10"
        | "native_log" | "native_log2" | "native_log10" | "native_sqrt" | "native_rsqrt" | "native_recip"
        | "native_divide" | "native_powr" | "half_sin" | "half_cos" | "half_tan" | "half_exp" | "half_exp2"
        | "half_log" | "half_log2" | "half_sqrt" | "half_rsqrt" | "half_recip" | "half_divide" | "half_powr"
        | "powr" | "pown" | "rootn" | "cross" | "normalize" | "fast_normalize" | "mix" | "smoothstep" | "step"
        | "degrees" | "radians" | "sign" | "maxmag" | "minmag" | "asinpi" | "acospi" | "atanpi" | "atan2pi"
        | "tanpi" => pure(ResultType::Floating),
        "dot" | "length" | "distance" | "fast_length" | "fast_distance" => pure(ResultType::Lane),
        "nan" => pure(ResultType::Real),
        "clamp" | "mad_hi" | "mad_sat" | "ctz" => pure(ResultType::First),
        "bitselect" => known(PureFunction::Bits, ResultType::First),
        "popcount" => known(PureFunction::Count(BitCount::Set), ResultType::First),
        "clz" => known(PureFunction::Count(BitCount::Leading), ResultType::First),
        "shuffle" | "shuffle2" => pure(ResultType::Shuffled),
        "abs" => meaning(Builtin::Abs, ResultType::Unsigned),
        "select" => lanes(LaneFunction::Select, ResultType::First),
        "abs_diff" => lanes(LaneFunction::AbsDiff, ResultType::Unsigned),
        "add_sat" => lanes(LaneFunction::AddSat, ResultType::First),
        "sub_sat" => lanes(LaneFunction::SubSat, ResultType::First),
        "hadd" => lanes(LaneFunction::Hadd, ResultType::First),
        "rhadd" => lanes(LaneFunction::Rhadd, ResultType::First),
        "mul_hi" => lanes(LaneFunction::MulHi, ResultType::First),
        "rotate" => lanes(LaneFunction::Rotate, ResultType::First),
        "upsample" => lanes(LaneFunction::Upsample, ResultType::Wider),
        "any" => lanes(LaneFunction::Any, fixed(INT)),
        "all" => lanes(LaneFunction::All, fixed(INT)),
        "isequal" => compare(Comparison::Equal),
        "isnotequal" => compare(Comparison::NotEqual),
        "isless" => compare(Comparison::Less),
        "islessequal" => compare(Comparison::LessOrEqual),
        "isgreater" => compare(Comparison::Greater),
        "isgreaterequal" => compare(Comparison::GreaterOrEqual),
        "islessgreater" | "isordered" | "isunordered" | "isnan" | "isinf" | "isfinite" | "isnormal" | "signbit" => {
            pure(ResultType::Comparison)
        }
        "ilogb" => pure(ResultType::Lanes(INT)),
        // Their pointers are all results.
        "sincos" | "fract" | "modf" | "frexp" | "remquo" | "lgamma_r" => pure(ResultType::First),
        "read_imagef" => meaning(Builtin::Image(Direction::Read), ResultType::Fixed(NamedType::Vector(FLOAT, 4))),
        "read_imagei" => meaning(Builtin::Image(Direction::Read), ResultType::Fixed(NamedType::Vector(INT, 4))),
        "read_imageui" => meaning(Builtin::Image(Direction::Read), ResultType::Fixed(NamedType::Vector(UINT, 4))),
        "write_imagef" | "write_imagei" | "write_imageui" => {
            meaning(Builtin::Image(Direction::Write), ResultType::Void)
        }
        "get_image_width" | "get_image_height" | "get_image_depth" => known(PureFunction::Query, fixed(INT)),
        "get_image_dim" => known(PureFunction::Query, ResultType::Fixed(NamedType::Vector(INT, 2))),
        "get_image_array_size" => known(PureFunction::Query, fixed(ULONG)),
        "vec_step" => pure(fixed(INT)),
        _ => return opencl_by_form(name),
    })
}

/// How many operands a function takes that CUDA declares for each type which computes as it is (`int`, `unsigned`, `float`, …), as
/// functions that are no templates.
pub fn operands_of_each_type(name: &str) -> Option<usize> {
    match name {
        "max" | "min" => Some(2),
        "abs" => Some(1),
        _ => None,
    }
}

/// Whether a name is one of a compiler's own functions, which do nothing that is not written in their arguments.
pub fn is_of_compiler(name: &str) -> bool {
    name.starts_with("__builtin_")
}

/// Whether a name has no namespace, or one whose functions are known without it.
pub fn is_of_known_namespace(name: &str) -> bool {
    let known = ["std::", "cuda::std::", "wmma::", "nvcuda::wmma::"];
    !name.contains("::") || known.iter().any(|namespace| name.starts_with(namespace))
}

/// The result of the vector functions that every program for CUDA has a header of (`helper_math.h`): on vectors and
/// numbers they mean what OpenCL's mean.
pub fn vector_helper(name: &str) -> Option<ResultType> {
    match name {
        "dot" | "length" => Some(ResultType::Lane),
        "cross" | "normalize" | "reflect" | "lerp" | "clamp" | "smoothstep" | "fracf" | "fminf" | "fmaxf" | "fmodf"
        | "floorf" | "fabs" => Some(ResultType::First),
        _ => None,
    }
}

/// The arguments that point to results and to nothing else, by position: the function writes one object through each.
pub fn results(language: Language, name: &str) -> &'static [usize] {
    match (language, name) {
        (Language::Cuda, "sincos" | "sincosf" | "__sincosf" | "sincospi" | "sincospif") => &[1, 2],
        (Language::Cuda, "modf" | "modff" | "frexp" | "frexpf") => &[1],
        (_, "remquo") | (Language::Cuda, "remquof") => &[2],
        (Language::OpenCl, "sincos" | "fract" | "modf" | "frexp" | "lgamma_r") => &[1],
        (Language::Cuda, _) if function(language, name).is_some_and(|known| known.builtin == Builtin::CachedStore) => {
            &[0]
        }
        (Language::OpenCl, "atomic_init") => &[0],
        _ => &[],
    }
}

/// Whether a function that has no meaning here asks about clusters of blocks, or maps addresses between them, as the
/// headers of CUDA do: it accesses nothing.
pub fn is_about_clusters(name: &str) -> bool {
    matches!(
        name,
        "__clusterDim"
            | "__clusterDimIsSpecified"
            | "__clusterGridDimInClusters"
            | "__clusterIdx"
            | "__clusterRelativeBlockIdx"
            | "__clusterRelativeBlockRank"
            | "__clusterSizeInBlocks"
            | "__cluster_map_shared_rank"
            | "__cluster_query_shared_rank"
    )
}

/// Whether a function of OpenCL C that has no meaning here is about the address space of a pointer: it accesses nothing.
pub fn is_about_spaces(name: &str) -> bool {
    matches!(name, "to_global" | "to_local" | "to_private" | "get_fence")
}

/// Whether what a function of OpenCL C gives, or whom it orders, depends on where the driver has a work-item in its group: whatever is about
/// sub-groups, and what the work-items of a group make together, in the order of their numbers.
pub fn is_about_places(name: &str) -> bool {
    name.contains("sub_group") || group_function(name).is_some()
}

/// Whether a function of OpenCL C launches kernels.
pub fn is_enqueueing(name: &str) -> bool {
    matches!(name, "enqueue_kernel" | "enqueue_marker")
}

/// Whether a function of OpenCL C came with version 2.0.
pub fn is_of_opencl_2(name: &str) -> bool {
    let explicit = |name: &str| name.starts_with("atomic_") && name.ends_with("_explicit");
    let own = [
        "get_enqueued_local_size",
        "get_global_linear_id",
        "get_local_linear_id",
        "get_enqueued_num_sub_groups",
        "work_group_barrier",
        "atomic_work_item_fence",
        "atomic_init",
        "atomic_load",
        "atomic_store",
        "atomic_exchange",
        "ctz",
    ];
    let families = ["work_group_", "atomic_fetch_", "atomic_compare_exchange_", "atomic_flag_"];
    own.contains(&name) || families.iter().any(|family| name.starts_with(family)) || explicit(name)
}

/// What the work-items of a sub-group or a work-group call together.
fn group_function(name: &str) -> Option<Meaning> {
    let (scope, function) = match (name.strip_prefix("work_group_"), name.strip_prefix("sub_group_")) {
        (Some(function), _) => (SyncScope::Block, function),
        (_, Some(function)) => (SyncScope::Warp, function),
        _ => return None,
    };
    let (made, result) = match function {
        "all" => (Made::All, fixed(INT)),
        "any" => (Made::Any, fixed(INT)),
        "broadcast" => (Made::Broadcast, ResultType::First),
        "reduce_add" => (Made::Reduced(Operation::Add), ResultType::First),
        "reduce_min" => (Made::Reduced(Operation::Min), ResultType::First),
        "reduce_max" => (Made::Reduced(Operation::Max), ResultType::First),
        "scan_inclusive_add" | "scan_inclusive_min" | "scan_inclusive_max" | "scan_exclusive_add"
        | "scan_exclusive_min" | "scan_exclusive_max" => (Made::Scan, ResultType::First),
        _ => return None,
    };
    Some(meaning(Builtin::Together(Together::Group(scope), made), result))
}

/// OpenCL's families of names.
fn opencl_by_form(name: &str) -> Option<Meaning> {
    if let Some(known) = group_function(name) {
        return Some(known);
    }
    if let Some(rest) = name.strip_prefix("as_") {
        return Some(pure(ResultType::Fixed(named_type(Language::OpenCl, rest)?)));
    }
    if let Some(rest) = name.strip_prefix("vload") {
        if let Some((lanes, stride)) = half_lanes(rest) {
            let made = if lanes == 1 { NamedType::Scalar(FLOAT) } else { NamedType::Vector(FLOAT, lanes) };
            return Some(meaning(Builtin::HalfLoad { lanes, stride }, ResultType::Fixed(made)));
        }
        let lanes = rest.parse().ok().filter(|lanes| matches!(lanes, 2 | 3 | 4 | 8 | 16))?;
        return Some(meaning(Builtin::VectorLoad(lanes), ResultType::Loaded(lanes)));
    }
    if let Some(rest) = name.strip_prefix("vstore") {
        let rounded = ["_rte", "_rtz", "_rtp", "_rtn"].into_iter().find_map(|mode| rest.strip_suffix(mode));
        if let Some((lanes, stride)) = half_lanes(rounded.unwrap_or(rest)) {
            return Some(meaning(Builtin::HalfStore { lanes, stride }, ResultType::Void));
        }
        let lanes = rest.parse().ok().filter(|lanes| matches!(lanes, 2 | 3 | 4 | 8 | 16))?;
        return Some(meaning(Builtin::VectorStore(lanes), ResultType::Void));
    }
    None
}

/// Lanes of `_halfN` and `a_halfN`, and how many lanes each vector takes in memory: aligned ones of three take four.
fn half_lanes(rest: &str) -> Option<(u8, u8)> {
    let aligned = rest.strip_prefix("a_half");
    let lanes = match aligned.or_else(|| rest.strip_prefix("_half"))? {
        "" => 1,
        lanes => lanes.parse().ok().filter(|lanes| matches!(lanes, 2 | 3 | 4 | 8 | 16))?,
    };
    Some((lanes, if aligned.is_some() && lanes == 3 { 4 } else { lanes }))
}

/// The type that OpenCL's `convert_T`, `convert_T_sat`, `convert_T_rte` and so on convert to.
pub fn conversion_target(language: Language, name: &str) -> Option<NamedType> {
    if language != Language::OpenCl {
        return None;
    }
    let rest = name.strip_prefix("convert_")?;
    named_type(language, rest.split('_').next()?)
}

/// Whether a conversion of that name saturates or rounds in a way of its own, so that its value is not that of a cast.
pub fn is_plain_conversion(name: &str) -> bool {
    name.matches('_').count() == 1
}
