//! The tables, by samples of every family and by what must not be in them.

use super::atomics::Numbering;
use super::functions::{ResultType, conversion_target, function, is_about_places, is_plain_conversion, results};
use super::types::{NamedType, Scalar, named_type};
use super::variables::{Variable, variable};
use super::{Builtin, Claim, Direction, Effect, FenceCall, Formula, Gives, Made, Together, WorkItem};
use crate::calculus::{AtomicOp, Axis, GeometryVar, MemoryOrder, SyncMemory, SyncScope};
use crate::source::Language::{Cuda, OpenCl};
use crate::source::own_header;

const FLOAT: Scalar = Scalar::Float { width: 32 };

fn int(width: u8, signed: bool) -> NamedType {
    NamedType::Scalar(Scalar::Int { width, signed })
}

#[test]
fn integers_have_the_widths_of_64_bit_devices() {
    for language in [Cuda, OpenCl] {
        assert_eq!(named_type(language, "long"), Some(int(64, true)));
        assert_eq!(named_type(language, "size_t"), Some(int(64, false)));
        assert_eq!(named_type(language, "char"), Some(int(8, true)));
        assert_eq!(named_type(language, "uint16_t"), Some(int(16, false)));
        assert_eq!(named_type(language, "unsigned long long"), Some(int(64, false)));
    }
}

#[test]
fn vectors_have_the_lanes_of_their_language() {
    assert_eq!(named_type(Cuda, "float4"), Some(NamedType::Vector(FLOAT, 4)));
    assert_eq!(named_type(Cuda, "float1"), Some(NamedType::Vector(FLOAT, 1)));
    assert_eq!(named_type(Cuda, "float8"), None);
    assert_eq!(named_type(Cuda, "float16"), None);
    assert_eq!(named_type(OpenCl, "float16"), Some(NamedType::Vector(FLOAT, 16)));
    assert_eq!(named_type(OpenCl, "float1"), None);
    assert_eq!(named_type(OpenCl, "dim3"), None);
    assert_eq!(named_type(Cuda, "dim3"), Some(NamedType::Extents));
    assert_eq!(named_type(OpenCl, "half2"), Some(NamedType::Vector(Scalar::Float { width: 16 }, 2)));
    assert_eq!(named_type(Cuda, "matrix4"), None);
    assert_eq!(named_type(Cuda, "4"), None);
}

#[test]
fn mathematics_is_pure_in_both_precisions() {
    for name in ["sqrtf", "__sinf", "rsqrtf", "fmaf", "__fdividef", "__expf", "__fadd_rn", "__frcp_rz", "powf"] {
        let known = function(Cuda, name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(known.builtin, Builtin::Pure, "{name}");
        if name != "powf" {
            assert_eq!(known.result, ResultType::Fixed(NamedType::Scalar(FLOAT)), "{name}");
        }
    }
    for name in ["sqrt", "sin", "fma", "pow"] {
        for language in [Cuda, OpenCl] {
            assert_eq!(function(language, name).map(|known| known.result), Some(ResultType::Floating), "{name}");
        }
    }
}

#[test]
fn dynamic_programming_is_pure() {
    let result = |name| function(Cuda, name).filter(|known| known.builtin == Builtin::Pure).map(|known| known.result);
    assert_eq!(result("__viaddmax_s32"), Some(ResultType::Fixed(int(32, true))));
    assert_eq!(result("__vimax3_s32_relu"), Some(ResultType::Fixed(int(32, true))));
    assert_eq!(result("__vimin3_u32"), Some(ResultType::Fixed(int(32, false))));
    assert_eq!(result("__viaddmin_s16x2_relu"), Some(ResultType::Fixed(int(32, false))));
    assert_eq!(result("__vimax_s32_relu"), Some(ResultType::Fixed(int(32, true))));
    for none in ["__vimax_s32", "__vimax3_u32_relu", "__vibmax_s32", "__vimax3_s64"] {
        assert_eq!(function(Cuda, none), None, "{none}");
    }
}

#[test]
fn products_of_packed_numbers_have_their_sign() {
    for name in ["__dp4a", "__dp2a_lo", "__dp2a_hi"] {
        assert_eq!(function(Cuda, name).map(|known| known.result), Some(ResultType::Packed), "{name}");
    }
}

#[test]
fn what_writes_results_is_a_function() {
    for (name, at) in [("remquo", 2), ("remquof", 2), ("frexpf", 1)] {
        assert_eq!(function(Cuda, name).map(|known| known.builtin), Some(Builtin::Pure), "{name}");
        assert_eq!(results(Cuda, name), [at], "{name}");
    }
}

#[test]
fn what_is_not_in_the_tables_is_unknown() {
    for name in [
        "mystery",
        "f",
        "selff",
        "make_matrix4",
        "atomicFoo",
        "atomic_foo",
        "vload5",
        "vloadn",
        "convert",
        "as_foo",
        "__addf",
    ] {
        assert_eq!(function(Cuda, name), None, "{name}");
        assert_eq!(function(OpenCl, name), None, "{name}");
    }
    assert_eq!(function(OpenCl, "__syncthreads"), None);
    assert_eq!(function(Cuda, "barrier"), None);
    assert_eq!(function(Cuda, "get_global_id"), None);
    assert_eq!(function(OpenCl, "atomicAdd"), None);
}

#[test]
fn barriers_state_what_they_order() {
    let both = Some(SyncMemory::BOTH);
    let builtin = |language, name| function(language, name).unwrap_or_else(|| panic!("{name}")).builtin;
    assert_eq!(builtin(Cuda, "__syncthreads"), Builtin::Barrier { scope: SyncScope::Block, memory: both });
    assert_eq!(builtin(Cuda, "__syncthreads_or"), Builtin::VotingBarrier(Made::Any));
    assert_eq!(builtin(Cuda, "__syncwarp"), Builtin::Barrier { scope: SyncScope::Warp, memory: both });
    assert_eq!(builtin(OpenCl, "barrier"), Builtin::Barrier { scope: SyncScope::Block, memory: None });
    for (language, name) in [(Cuda, "__threadfence"), (Cuda, "__threadfence_block"), (OpenCl, "mem_fence")] {
        assert!(matches!(builtin(language, name), Builtin::Fence(_)), "{name} waits for nobody");
    }
    let device = FenceCall::All { order: MemoryOrder::SequentiallyConsistent, scope: SyncScope::Grid };
    assert_eq!(builtin(Cuda, "__threadfence"), Builtin::Fence(device));
    assert_eq!(builtin(OpenCl, "write_mem_fence"), Builtin::Fence(FenceCall::OfGroup(MemoryOrder::Release)));
}

#[test]
fn atomics_have_operation_order_and_scope() {
    let atomic = |language, name| match function(language, name).map(|known| known.builtin) {
        Some(Builtin::Atomic { op, order, scope }) => (op, order, scope),
        other => panic!("{name}: {other:?}"),
    };
    let relaxed = MemoryOrder::Relaxed;
    assert_eq!(atomic(Cuda, "atomicAdd"), (AtomicOp::Add, relaxed, SyncScope::Grid));
    assert_eq!(atomic(Cuda, "atomicMin_block"), (AtomicOp::Min, relaxed, SyncScope::Block));
    assert_eq!(atomic(Cuda, "atomicCAS_system"), (AtomicOp::CompareExchange, relaxed, SyncScope::System));
    assert_eq!(atomic(Cuda, "atomicInc"), (AtomicOp::Increment, relaxed, SyncScope::Grid));
    // OpenCL's increment adds one; CUDA's wraps at its operand.
    assert_eq!(atomic(OpenCl, "atomic_inc"), (AtomicOp::Add, relaxed, SyncScope::Grid));
    assert_eq!(atomic(OpenCl, "atom_xchg"), (AtomicOp::Exchange, relaxed, SyncScope::Grid));
    assert_eq!(
        atomic(OpenCl, "atomic_fetch_or"),
        (AtomicOp::Or, MemoryOrder::SequentiallyConsistent, SyncScope::System)
    );
    assert_eq!(atomic(Cuda, "__nv_atomic_fetch_max").0, AtomicOp::Max);
    assert_eq!(atomic(Cuda, "__nv_atomic_xor").0, AtomicOp::Xor);
    assert_eq!(atomic(Cuda, "__nv_atomic_load_n").0, AtomicOp::Load);
    // What is loaded is stored at an address of its own.
    assert!(function(Cuda, "__nv_atomic_load").is_none());
}

#[test]
fn orders_and_scopes_are_numbered_by_each_language() {
    let [of_opencl, of_nvcc] = [Numbering::OpenCl, Numbering::Nvcc];
    assert_eq!(Numbering::of(OpenCl, "atomic_load_explicit"), Some(of_opencl));
    assert_eq!(Numbering::of(OpenCl, "atomic_load"), None);
    assert_eq!(Numbering::of(Cuda, "__nv_atomic_load_n"), Some(of_nvcc));
    assert_eq!(Numbering::of(Cuda, "atomicAdd"), None);
    let scopes = |numbering: Numbering| [0, 1, 2, 3, 4, 5].map(|value| numbering.scope(value));
    let [warp, block, cluster, grid, system] =
        [SyncScope::Warp, SyncScope::Block, SyncScope::Cluster, SyncScope::Grid, SyncScope::System].map(Some);
    assert_eq!(scopes(of_opencl), [None, block, grid, system, warp, None]);
    assert_eq!(scopes(of_nvcc), [None, block, cluster, grid, system, None]);
    assert_eq!((of_opencl.order(1), of_nvcc.order(1)), (None, Some(MemoryOrder::Acquire)));
    assert_eq!(of_nvcc.stated(&[Some(3)]), Some((MemoryOrder::Release, SyncScope::System)));
    assert_eq!(of_nvcc.stated(&[Some(3), None]), None);
    assert_eq!(of_nvcc.stated(&[]), None);
}

#[test]
fn what_may_touch_memory_says_so() {
    let touches = |language, name| {
        let meaning = function(language, name).unwrap_or_else(|| panic!("{name}"));
        matches!(meaning.builtin.effect(), Effect::Unmodelled(reason) if !reason.is_empty())
    };
    for name in ["__shfl", "__shfl_down", "__ballot", "__any", "__lane_id"] {
        assert!(!touches(Cuda, name), "{name}");
    }
    for name in ["memcpy_async", "malloc", "free", "__cvta_generic_to_shared"] {
        assert!(touches(Cuda, name), "{name}");
    }
    assert!(touches(OpenCl, "atomic_init"));
}

#[test]
fn what_threads_do_together_says_who_and_who_gets_the_same_value() {
    let together = |language, name| match function(language, name).map(|known| known.builtin) {
        Some(Builtin::Together(whom, made)) => (whom, made.gives()),
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(together(Cuda, "__shfl_sync"), (Together::Named, Gives::Lane));
    assert_eq!(together(Cuda, "__shfl_down_sync"), (Together::Named, Gives::Each));
    assert_eq!(together(Cuda, "__any_sync"), (Together::Named, Gives::All));
    assert_eq!(together(OpenCl, "work_group_reduce_add"), (Together::Group(SyncScope::Block), Gives::All));
    assert_eq!(together(OpenCl, "sub_group_scan_inclusive_max"), (Together::Group(SyncScope::Warp), Gives::Each));
}

#[test]
fn sub_groups_and_what_groups_make_together_are_about_places_and_barriers_are_not() {
    for name in ["work_group_scan_inclusive_add", "get_sub_group_id", "sub_group_barrier", "intel_sub_group_shuffle"] {
        assert!(is_about_places(name), "{name}");
    }
    for name in ["work_group_barrier", "work_group_size_hint", "barrier", "async_work_group_copy", "get_local_id"] {
        assert!(!is_about_places(name), "{name}");
    }
}

#[test]
fn annotations_are_assumed_asserted_or_named() {
    for name in ["__builtin_assume", "__assume"] {
        assert_eq!(function(Cuda, name).map(|known| known.builtin), Some(Builtin::Assume), "{name}");
    }
    assert_eq!(function(Cuda, "__requires").map(|known| known.builtin), Some(Builtin::Require));
    // The program evaluates `assert`, and not what is written for a checker.
    assert_eq!(function(OpenCl, "assert").map(|known| known.builtin), Some(Builtin::Assert));
    assert_eq!(function(OpenCl, "__assert").map(|known| known.builtin), Some(Builtin::Claim(Claim::Asserted)));
    for (name, formula) in [
        ("__distinct_int", Formula::Distinct),
        ("__distinct_bool", Formula::Distinct),
        ("__uniform_int", Formula::Uniform),
        ("__other_int", Formula::Other),
        ("__exclusive", Formula::Exclusive),
        ("__same_group", Formula::SameGroup),
    ] {
        assert_eq!(function(Cuda, name).map(|known| known.builtin), Some(Builtin::Formula(formula)), "{name}");
    }
    // A vote of CUDA has the same name.
    assert_eq!(function(OpenCl, "__all").map(|known| known.builtin), Some(Builtin::Formula(Formula::Both)));
    assert_eq!(function(Cuda, "__all").map(|known| known.builtin), Some(Builtin::Unmasked(Made::All)));
    assert_eq!(function(OpenCl, "__ensures").map(|known| known.builtin), Some(Builtin::Claim(Claim::Ensured)));
    assert_eq!(function(OpenCl, "__writes_to").map(|known| known.builtin), Some(Builtin::Specified));
    assert_eq!(
        function(OpenCl, "__barrier_invariant_binary_2").map(|known| known.builtin),
        Some(Builtin::Claim(Claim::Asserted))
    );
    assert_eq!(
        function(OpenCl, "__no_write").map(|known| known.builtin),
        Some(Builtin::Formula(Formula::NotAccessed(Direction::Write)))
    );
}

/// Those that mean the same share a macro.
#[test]
fn each_annotation_has_a_macro_that_compilers_accept() {
    let texts = include_str!("annotations.rs").split('"').skip(1).step_by(2);
    let names: Vec<&str> = texts.filter(|text| text.starts_with("__")).collect();
    assert!(names.len() > 45 && names.contains(&"__assume") && names.contains(&"__distinct_"), "{names:?}");
    let builtin = |language, name: &str| function(language, name).map(|known| known.builtin);
    let forms: Vec<_> = own_header::forms().map(|(name, form)| (name, builtin(OpenCl, form))).collect();
    for name in names {
        let meant = builtin(OpenCl, name);
        // Nothing is known of what it means, in whatever spelling.
        let is_modelled = !matches!(meant, Some(Builtin::Unmodelled { .. }));
        assert!(!is_modelled || forms.iter().any(|(_, form)| *form == meant), "`{name}`, {meant:?}, has no macro");
    }
    for (name, form) in own_header::forms() {
        assert!([Cuda, OpenCl].into_iter().all(|language| builtin(language, form).is_some()), "{name}: {form}");
    }
}

#[test]
fn work_items_vector_access_and_conversions() {
    assert_eq!(function(OpenCl, "get_group_id").map(|known| known.builtin), Some(Builtin::WorkItem(WorkItem::GroupId)));
    let load = function(OpenCl, "vload8").expect("it is known");
    assert_eq!((load.builtin, load.result), (Builtin::VectorLoad(8), ResultType::Loaded(8)));
    assert_eq!(function(OpenCl, "vstore3").map(|known| known.builtin), Some(Builtin::VectorStore(3)));
    assert_eq!(conversion_target(OpenCl, "convert_uchar4_sat_rte"), named_type(OpenCl, "uchar4"));
    assert_eq!(conversion_target(OpenCl, "convert_thing"), None);
    assert_eq!(conversion_target(Cuda, "convert_int"), None);
    assert!(is_plain_conversion("convert_int") && !is_plain_conversion("convert_int_sat"));
    assert_eq!(function(OpenCl, "as_uint").map(|known| known.result), Some(ResultType::Fixed(int(32, false))));
}

#[test]
fn predefined_variables() {
    let Some(Variable::Ids(make)) = variable(Cuda, "blockDim") else { panic!("blockDim is known") };
    assert_eq!(make(Axis::Y), GeometryVar::BlockDim(Axis::Y));
    assert!(variable(OpenCl, "blockDim").is_none());
    assert!(matches!(variable(Cuda, "warpSize"), Some(Variable::Constant(32, _))));
    assert!(matches!(variable(OpenCl, "CLK_GLOBAL_MEM_FENCE"), Some(Variable::Constant(2, _))));
    assert!(matches!(variable(OpenCl, "UINT_MAX"), Some(Variable::Constant(4_294_967_295, _))));
    assert!(matches!(variable(Cuda, "FLT_MAX"), Some(Variable::Float(_))));
    assert!(variable(Cuda, "N").is_none());
}
