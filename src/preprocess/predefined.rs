//! What compilers define before the first line, as text that goes through the ordinary directives.
//!
//! The CUDA set is that of the device pass of nvcc for `sm_80`, the HIP set that of hipcc's for an AMD device; the
//! OpenCL set is that of a device of version 3.0 with 64-bit addresses, which takes programs of every version.
//! Fence flags and limits, which are macros or constants in the compilers' headers, are defined here because those
//! headers are not read. In every dialect there is the macro by which a text knows that raceproof reads it.

use crate::source::{Dialect, OpenClVersion, own_header};

/// The definitions of `dialect`.
pub(super) fn text(dialect: Dialect) -> String {
    let (reader, version) = (own_header::READER, own_header::version());
    let own = format!("#define {reader} {version}\n#define {} 0\n", own_header::INSTRUMENTED);
    match dialect {
        Dialect::Cuda => [CUDA, GCC, &own].concat(),
        Dialect::Hip => [HIP, GCC, &own].concat(),
        Dialect::OpenCl(version) => opencl(version) + &own,
    }
}

fn opencl(version: OpenClVersion) -> String {
    let number = version.number();
    let optional = match version {
        OpenClVersion::V3_0 | OpenClVersion::Unstated => OPENCL_FEATURES,
        _ => "",
    };
    format!("{OPENCL}#define __OPENCL_VERSION__ {number}\n#define __OPENCL_C_VERSION__ {number}\n{optional}")
}

macro_rules! common {
    () => {
        "\
#define __STDC__ 1
#define __CHAR_BIT__ 8
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-127-1)
#define CHAR_MAX 127
#define CHAR_MIN (-127-1)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32767-1)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647-1)
#define UINT_MAX 0xffffffffu
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
"
    };
}

/// What the two dialects of C++ share.
macro_rules! cplusplus {
    () => {
        "\
#define __cplusplus 201703L
#define __LP64__ 1
#define __x86_64__ 1
#define __linux__ 1
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-9223372036854775807L-1)
#define ULONG_MAX 0xffffffffffffffffUL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-9223372036854775807LL-1)
#define ULLONG_MAX 0xffffffffffffffffULL
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MAX 2147483647
#define INT32_MIN (-2147483647-1)
#define UINT32_MAX 0xffffffffu
#define INT8_C(c) c
#define INT16_C(c) c
#define INT32_C(c) c
#define INT64_C(c) c##L
#define UINT8_C(c) c
#define UINT16_C(c) c
#define UINT32_C(c) c##U
#define UINT64_C(c) c##UL
#define INT64_MAX 9223372036854775807L
#define INT64_MIN (-9223372036854775807L-1)
#define UINT64_MAX 0xffffffffffffffffUL
#define SIZE_MAX 0xffffffffffffffffUL
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(\"\"))
#define HUGE_VAL (__builtin_huge_val())
#define HUGE_VALF (__builtin_huge_valf())
"
    };
}

const CUDA: &str = concat!(
    common!(),
    cplusplus!(),
    "\
#define __GNUC__ 11
#define __GNUC_MINOR__ 4
#define __GNUC_PATCHLEVEL__ 0
#define __GNUG__ 11
#define __VERSION__ \"11.4.0\"
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDA_ARCH__ 800
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define __CUDACC_VER_BUILD__ 93
#define __CUDA_ARCH_LIST__ 800
#define __NVCC_DIAG_PRAGMA_SUPPORT__ 1
#define __CUDA_API_VERSION 12080
#define CUDART_VERSION 12080
#define CUDA_VERSION 12080
#define CUDART_INF_F (__builtin_inff())
#define CUDART_NAN_F (__builtin_nanf(\"\"))
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
"
);

/// The names of HIP that are other words for CUDA's, and those that depend on the device: the lanes of a wavefront
/// are 32 or 64, so that no condition on their number is decided and none of its values is known.
const HIP: &str = concat!(
    common!(),
    cplusplus!(),
    "\
#define __clang__ 1
#define __clang_major__ 18
#define __clang_minor__ 0
#define __GNUC__ 4
#define __GNUC_MINOR__ 2
#define __GNUC_PATCHLEVEL__ 1
#define __GNUG__ 4
#define __HIP__ 1
#define __HIPCC__ 1
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_PLATFORM_HCC__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define __AMDGCN__ 1
#define __AMDGPU__ 1
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 2
#define HIP_VERSION 60200000
#define __HIP_ARCH_HAS_GLOBAL_INT32_ATOMICS__ 1
#define __HIP_ARCH_HAS_SHARED_INT32_ATOMICS__ 1
#define __HIP_ARCH_HAS_GLOBAL_INT64_ATOMICS__ 1
#define __HIP_ARCH_HAS_SHARED_INT64_ATOMICS__ 1
#define __HIP_ARCH_HAS_DOUBLES__ 1
#define __HIP_ARCH_HAS_WARP_VOTE__ 1
#define __HIP_ARCH_HAS_WARP_BALLOT__ 1
#define __HIP_ARCH_HAS_WARP_SHUFFLE__ 1
#define __HIP_ARCH_HAS_3DGRID__ 1
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(X) X
#define HIP_DYNAMIC_SHARED(type, var) extern __shared__ type var[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
#define hipLaunchKernelGGL(kernel, grid, block, memory, stream, ...) kernel<<<(grid), (block), (memory), (stream)>>>(__VA_ARGS__)
#define hipLaunchKernelGGLInternal(kernel, grid, block, memory, stream, ...) kernel<<<(grid), (block), (memory), (stream)>>>(__VA_ARGS__)
#define __AMDGCN_WAVEFRONT_SIZE __builtin_amdgcn_wavefrontsize()
#define __AMDGCN_WAVEFRONT_SIZE__ __builtin_amdgcn_wavefrontsize()
#define __ballot(predicate) __ballot64(predicate)
#define __activemask() __ballot64(1)
"
);

const OPENCL: &str = concat!(
    common!(),
    "\
#define CL_VERSION_1_0 100
#define CL_VERSION_1_1 110
#define CL_VERSION_1_2 120
#define CL_VERSION_2_0 200
#define CL_VERSION_3_0 300
#define __ENDIAN_LITTLE__ 1
#define __IMAGE_SUPPORT__ 1
#define __kernel_exec(X, typen) __kernel __attribute__((work_group_size_hint(X, 1, 1))) __attribute__((vec_type_hint(typen)))
#define cl_khr_fp64 1
#define cl_khr_fp16 1
#define cl_khr_byte_addressable_store 1
#define cl_khr_global_int32_base_atomics 1
#define cl_khr_global_int32_extended_atomics 1
#define cl_khr_local_int32_base_atomics 1
#define cl_khr_local_int32_extended_atomics 1
#define cl_khr_int64_base_atomics 1
#define cl_khr_int64_extended_atomics 1
#define cl_khr_3d_image_writes 1
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define CLK_IMAGE_MEM_FENCE 4
#define CLK_NORMALIZED_COORDS_FALSE 0
#define CLK_NORMALIZED_COORDS_TRUE 1
#define CLK_ADDRESS_NONE 0
#define CLK_ADDRESS_CLAMP_TO_EDGE 2
#define CLK_ADDRESS_CLAMP 4
#define CLK_ADDRESS_REPEAT 6
#define CLK_ADDRESS_MIRRORED_REPEAT 8
#define CLK_FILTER_NEAREST 16
#define CLK_FILTER_LINEAR 32
#define LONG_MAX 0x7fffffffffffffffL
#define LONG_MIN (-0x7fffffffffffffffL-1)
#define ULONG_MAX 0xffffffffffffffffUL
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(\"\"))
#define HUGE_VAL (__builtin_huge_val())
#define HUGE_VALF (__builtin_huge_valf())
#define MAXFLOAT 3.402823466e+38f
#define M_E_F 2.71828183f
#define M_LOG2E_F 1.44269504f
#define M_LOG10E_F 0.43429448f
#define M_LN2_F 0.69314718f
#define M_LN10_F 2.30258509f
#define M_PI_F 3.14159265f
#define M_PI_2_F 1.57079633f
#define M_PI_4_F 0.78539816f
#define M_1_PI_F 0.31830989f
#define M_2_PI_F 0.63661977f
#define M_2_SQRTPI_F 1.12837917f
#define M_SQRT2_F 1.41421356f
#define M_SQRT1_2_F 0.70710678f
"
);

/// What the host compiler defines besides.
const GCC: &str = include_str!("gcc.h");

/// What is optional in OpenCL C 3.0, and present here.
const OPENCL_FEATURES: &str = "\
#define __opencl_c_int64 1
#define __opencl_c_fp64 1
#define __opencl_c_images 1
#define __opencl_c_generic_address_space 1
#define __opencl_c_program_scope_global_variables 1
#define __opencl_c_atomic_order_acq_rel 1
#define __opencl_c_atomic_order_seq_cst 1
#define __opencl_c_atomic_scope_device 1
#define __opencl_c_work_group_collective_functions 1
#define __opencl_c_device_enqueue 1
#define __opencl_c_pipes 1
#define __opencl_c_read_write_images 1
#define __opencl_c_subgroups 1
#define __opencl_c_3d_image_writes 1
#define __opencl_c_atomic_scope_all_devices 1
";
