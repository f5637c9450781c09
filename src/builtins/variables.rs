//! Variables and constants that CUDA and OpenCL predefine.

use super::Pipeline;
use super::types::{DOUBLE, FLOAT, INT, LONG, Scalar, UINT, ULONG};
use crate::calculus::{Axis, GeometryVar};
use crate::source::Language;

/// What a predefined name stands for.
#[derive(Clone, Copy, Debug)]
pub enum Variable {
    /// `threadIdx` and its kin, by axis.
    Ids(fn(Axis) -> GeometryVar),
    /// A constant with its type.
    Constant(i128, Scalar),
    /// A floating constant that nothing computes with.
    Float(Scalar),
}

/// The predefined variable or constant of that name.
pub fn variable(language: Language, name: &str) -> Option<Variable> {
    if let Some(limit) = limit(name) {
        return Some(limit);
    }
    match language {
        Language::Cuda => cuda(name),
        Language::OpenCl => opencl(name),
    }
}

/// What an id or an extent of CUDA is confused with, of another dimension and of another level.
pub fn confused_with(name: &str, axis: &str) -> Vec<String> {
    let other_axis = match axis {
        "x" => "y",
        "y" | "z" => "x",
        _ => return Vec::new(),
    };
    let other_level = match name {
        "threadIdx" => "blockIdx",
        "blockIdx" => "threadIdx",
        "blockDim" => "gridDim",
        "gridDim" => "blockDim",
        _ => return Vec::new(),
    };
    vec![format!("{name}.{other_axis}"), format!("{other_level}.{axis}")]
}

/// Names of CUDA.
fn cuda(name: &str) -> Option<Variable> {
    Some(match name {
        "threadIdx" => Variable::Ids(GeometryVar::ThreadIdx),
        "blockIdx" => Variable::Ids(GeometryVar::BlockIdx),
        "blockDim" => Variable::Ids(GeometryVar::BlockDim),
        "gridDim" => Variable::Ids(GeometryVar::GridDim),
        "warpSize" => Variable::Constant(32, INT),
        "__NV_NOSAT" | "__NV_E4M3" | "cudaRoundNearest" | "cudaBoundaryModeZero" => Variable::Constant(0, UINT),
        "__NV_SATFINITE" | "__NV_E5M2" | "cudaRoundZero" | "cudaBoundaryModeClamp" => Variable::Constant(1, UINT),
        // How matrices of `nvcuda::wmma` lie, and flags of streams and events that kernels launch with.
        "mem_row_major" | "cudaStreamDefault" | "cudaEventDefault" => Variable::Constant(0, UINT),
        "mem_col_major" | "cudaStreamNonBlocking" => Variable::Constant(1, UINT),
        "cudaRoundPosInf" | "cudaBoundaryModeTrap" | "cudaEventDisableTiming" => Variable::Constant(2, UINT),
        "cudaRoundMinInf" => Variable::Constant(3, UINT),
        "pipeline_role::producer" => Variable::Constant(Pipeline::PRODUCER, INT),
        "pipeline_role::consumer" => Variable::Constant(Pipeline::CONSUMER, INT),
        // Orders and scopes of nvcc's own atomics (`crt/device_functions.h`).
        "__NV_ATOMIC_RELAXED" | "__NV_THREAD_SCOPE_THREAD" => Variable::Constant(0, INT),
        "__NV_ATOMIC_CONSUME" | "__NV_THREAD_SCOPE_BLOCK" => Variable::Constant(1, INT),
        "__NV_ATOMIC_ACQUIRE" | "__NV_THREAD_SCOPE_CLUSTER" => Variable::Constant(2, INT),
        "__NV_ATOMIC_RELEASE" | "__NV_THREAD_SCOPE_DEVICE" => Variable::Constant(3, INT),
        "__NV_ATOMIC_ACQ_REL" | "__NV_THREAD_SCOPE_SYSTEM" => Variable::Constant(4, INT),
        "__NV_ATOMIC_SEQ_CST" => Variable::Constant(5, INT),
        _ => return None,
    })
}

/// Names of OpenCL C.
fn opencl(name: &str) -> Option<Variable> {
    Some(match name {
        "CLK_LOCAL_MEM_FENCE" => Variable::Constant(1, UINT),
        "CLK_GLOBAL_MEM_FENCE" => Variable::Constant(2, UINT),
        "CLK_IMAGE_MEM_FENCE" => Variable::Constant(4, UINT),
        "memory_order_relaxed" => Variable::Constant(0, UINT),
        "memory_order_acquire" => Variable::Constant(2, UINT),
        "memory_order_release" => Variable::Constant(3, UINT),
        "memory_order_acq_rel" => Variable::Constant(4, UINT),
        "memory_order_seq_cst" => Variable::Constant(5, UINT),
        "memory_scope_work_item" => Variable::Constant(0, UINT),
        "memory_scope_work_group" => Variable::Constant(1, UINT),
        "memory_scope_device" => Variable::Constant(2, UINT),
        "memory_scope_all_svm_devices" | "memory_scope_all_devices" => Variable::Constant(3, UINT),
        "memory_scope_sub_group" => Variable::Constant(4, UINT),
        "CLK_NORMALIZED_COORDS_FALSE" | "CLK_ADDRESS_NONE" => Variable::Constant(0, UINT),
        "CLK_NORMALIZED_COORDS_TRUE" => Variable::Constant(1, UINT),
        "CLK_ADDRESS_CLAMP_TO_EDGE" => Variable::Constant(2, UINT),
        "CLK_ADDRESS_CLAMP" => Variable::Constant(4, UINT),
        "CLK_ADDRESS_REPEAT" => Variable::Constant(6, UINT),
        "CLK_ADDRESS_MIRRORED_REPEAT" => Variable::Constant(8, UINT),
        "CLK_FILTER_NEAREST" => Variable::Constant(16, UINT),
        "CLK_FILTER_LINEAR" => Variable::Constant(32, UINT),
        _ => return None,
    })
}

/// Limits and mathematical constants of the C library.
fn limit(name: &str) -> Option<Variable> {
    Some(match name {
        "CHAR_BIT" => Variable::Constant(8, INT),
        "CHAR_MAX" | "SCHAR_MAX" | "INT8_MAX" => Variable::Constant(127, INT),
        "CHAR_MIN" | "SCHAR_MIN" | "INT8_MIN" => Variable::Constant(-128, INT),
        "UCHAR_MAX" | "UINT8_MAX" => Variable::Constant(255, INT),
        "SHRT_MAX" | "INT16_MAX" => Variable::Constant(32_767, INT),
        "SHRT_MIN" | "INT16_MIN" => Variable::Constant(-32_768, INT),
        "USHRT_MAX" | "UINT16_MAX" => Variable::Constant(65_535, INT),
        "INT_MAX" | "INT32_MAX" => Variable::Constant(i32::MAX as i128, INT),
        "INT_MIN" | "INT32_MIN" => Variable::Constant(i32::MIN as i128, INT),
        "UINT_MAX" | "UINT32_MAX" => Variable::Constant(u32::MAX as i128, UINT),
        "LONG_MAX" | "LLONG_MAX" | "INT64_MAX" => Variable::Constant(i64::MAX as i128, LONG),
        "LONG_MIN" | "LLONG_MIN" | "INT64_MIN" => Variable::Constant(i64::MIN as i128, LONG),
        "ULONG_MAX" | "ULLONG_MAX" | "UINT64_MAX" | "SIZE_MAX" => Variable::Constant(u64::MAX as i128, ULONG),
        "FLT_MAX" | "FLT_MIN" | "FLT_EPSILON" | "INFINITY" | "NAN" | "HUGE_VALF" | "MAXFLOAT" => Variable::Float(FLOAT),
        "M_PI_F" | "M_E_F" | "CUDART_INF_F" | "CUDART_NAN_F" | "CUDART_PI_F" => Variable::Float(FLOAT),
        "M_SQRT2_F" | "M_SQRT1_2_F" | "M_PI_2_F" | "M_1_PI_F" | "M_LN2_F" | "M_LOG2E_F" => Variable::Float(FLOAT),
        "DBL_MAX" | "DBL_MIN" | "DBL_EPSILON" | "HUGE_VAL" => Variable::Float(DOUBLE),
        "M_PI" | "M_PI_2" | "M_PI_4" | "M_E" | "M_SQRT2" | "M_SQRT1_2" | "M_1_PI" | "M_2_PI" => Variable::Float(DOUBLE),
        "M_2_SQRTPI" | "M_LN2" | "M_LN10" | "M_LOG2E" | "M_LOG10E" => Variable::Float(DOUBLE),
        "CUDART_INF" | "CUDART_NAN" | "CUDART_PI" => Variable::Float(DOUBLE),
        _ => return None,
    })
}
