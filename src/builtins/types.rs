//! Types that CUDA, OpenCL and the headers that every kernel sees name: widths on 64-bit devices.

use crate::source::Language;

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `bool`
    Bool,
    /// An integer type.
    Int {
        /// 8, 16, 32 or 64.
        width: u8,
        /// Whether it has a sign.
        signed: bool,
    },
    /// A floating-point type.
    Float {
        /// 16, 32, 64 or 128.
        width: u8,
    },
}

/// `unsigned char`
pub(super) const UCHAR: Scalar = int(8, false);
/// `short`
pub(super) const SHORT: Scalar = int(16, true);
/// `unsigned short`
pub(super) const USHORT: Scalar = int(16, false);
/// `int`
pub(super) const INT: Scalar = int(32, true);
/// `unsigned int`
pub(super) const UINT: Scalar = int(32, false);
/// `long long`
pub(super) const LONG: Scalar = int(64, true);
/// `unsigned long long`
pub(super) const ULONG: Scalar = int(64, false);
/// `half`
pub(super) const HALF: Scalar = Scalar::Float { width: 16 };
/// `float`
pub(super) const FLOAT: Scalar = Scalar::Float { width: 32 };
/// `double`
pub(super) const DOUBLE: Scalar = Scalar::Float { width: 64 };

/// What a name of a type stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NamedType {
    /// `void`
    Void,
    /// A scalar.
    Scalar(Scalar),
    /// A vector of so many lanes.
    Vector(Scalar, u8),
    /// CUDA's `dim3`: three lanes like `uint3`, but a class, whose constructor makes lanes that are left out one.
    Extents,
}

/// The type of that name, if it is a builtin one; also the normalised words of `syntax::TypeKind::Builtin`.
pub fn named_type(language: Language, name: &str) -> Option<NamedType> {
    if name == "void" {
        return Some(NamedType::Void);
    }
    if let Some(scalar) = common_scalar(name) {
        return Some(NamedType::Scalar(scalar));
    }
    match language {
        Language::Cuda => cuda_type(name),
        Language::OpenCl => opencl_type(name),
    }
}

/// Whether a type is that of a handle of textures or of how they are sampled, which says which one it is: `texture<float, 2>`.
pub fn is_handle(name: &str) -> bool {
    ["texture", "sampler_t", "cudaTextureObject_t"].iter().any(|handle| name.starts_with(handle))
}

/// Whether a type is that of a texture which the host makes and hands to kernels.
pub fn is_texture_object(name: &str) -> bool {
    matches!(name, "cudaTextureObject_t" | "CUtexObject")
}

/// The signed or unsigned integer type of that width.
const fn int(width: u8, signed: bool) -> Scalar {
    Scalar::Int { width, signed }
}

/// Names that both languages share.
fn common_scalar(name: &str) -> Option<Scalar> {
    Some(match name {
        "bool" | "_Bool" => Scalar::Bool,
        "char" | "signed char" | "int8_t" => int(8, true),
        "unsigned char" | "uint8_t" | "char8_t" => UCHAR,
        "short" | "int16_t" => SHORT,
        "unsigned short" | "uint16_t" | "char16_t" => USHORT,
        "int" | "int32_t" | "wchar_t" | "signed" => INT,
        "unsigned int" | "unsigned" | "uint32_t" | "char32_t" => UINT,
        "long" | "long long" | "int64_t" | "intptr_t" | "ptrdiff_t" | "ssize_t" | "intmax_t" => LONG,
        "unsigned long" | "unsigned long long" | "uint64_t" | "uintptr_t" | "size_t" | "uintmax_t" => ULONG,
        "float" => FLOAT,
        "double" => DOUBLE,
        "long double" => Scalar::Float { width: 128 },
        "half" => HALF,
        // Short forms: of OpenCL itself, and of the C library's headers that CUDA programs see.
        "uchar" => UCHAR,
        "ushort" => USHORT,
        "uint" => UINT,
        "ulong" => ULONG,
        _ => return None,
    })
}

/// Names of CUDA's headers.
fn cuda_type(name: &str) -> Option<NamedType> {
    let half = HALF;
    Some(match name {
        "dim3" => NamedType::Extents,
        "__half" | "__nv_bfloat16" | "nv_bfloat16" | "hip_bfloat16" | "__hip_bfloat16" => NamedType::Scalar(half),
        "__half2" | "half2" | "__nv_bfloat162" | "nv_bfloat162" | "__hip_bfloat162" => NamedType::Vector(half, 2),
        "cuComplex" | "cuFloatComplex" | "cufftComplex" | "hipComplex" | "hipFloatComplex" => {
            NamedType::Vector(FLOAT, 2)
        }
        "cuDoubleComplex" | "cufftDoubleComplex" | "hipDoubleComplex" => NamedType::Vector(DOUBLE, 2),
        "cufftReal" => NamedType::Scalar(FLOAT),
        "cufftDoubleReal" => NamedType::Scalar(DOUBLE),
        "__mbarrier_t" | "__mbarrier_token_t" => NamedType::Scalar(ULONG),
        "clock_t" | "time_t" => NamedType::Scalar(LONG),
        "int_fast32_t" | "int_least32_t" => NamedType::Scalar(INT),
        "uint_fast32_t" | "uint_least32_t" => NamedType::Scalar(UINT),
        "u_int32_t" => NamedType::Scalar(UINT),
        "longlong" => NamedType::Scalar(LONG),
        _ => {
            let (stem, lanes) = split_lanes(name)?;
            if !(1..=4).contains(&lanes) {
                return None;
            }
            let lane = match stem {
                "longlong" => LONG,
                "ulonglong" => ULONG,
                stem => vector_lane(stem)?,
            };
            NamedType::Vector(lane, lanes)
        }
    })
}

/// Names of OpenCL C.
fn opencl_type(name: &str) -> Option<NamedType> {
    Some(match name {
        "atomic_int" | "atomic_flag" => NamedType::Scalar(INT),
        "atomic_uint" | "cl_mem_fence_flags" | "memory_order" | "memory_scope" => NamedType::Scalar(UINT),
        // A handle; the null event is 0.
        "event_t" => NamedType::Scalar(ULONG),
        "atomic_long" | "atomic_intptr_t" | "atomic_ptrdiff_t" => NamedType::Scalar(LONG),
        "atomic_ulong" | "atomic_uintptr_t" | "atomic_size_t" => NamedType::Scalar(ULONG),
        "atomic_float" => NamedType::Scalar(FLOAT),
        "atomic_double" => NamedType::Scalar(DOUBLE),
        _ => {
            let (stem, lanes) = split_lanes(name)?;
            if !matches!(lanes, 2 | 3 | 4 | 8 | 16) {
                return None;
            }
            let lane = match stem {
                "half" => HALF,
                stem => vector_lane(stem)?,
            };
            NamedType::Vector(lane, lanes)
        }
    })
}

/// `float4` is `float` and 4.
fn split_lanes(name: &str) -> Option<(&str, u8)> {
    let stem = name.trim_end_matches(|last: char| last.is_ascii_digit());
    Some((stem, name[stem.len()..].parse().ok()?))
}

/// The lane type of vectors that both languages have.
fn vector_lane(stem: &str) -> Option<Scalar> {
    Some(match stem {
        "char" => int(8, true),
        "uchar" => UCHAR,
        "short" => SHORT,
        "ushort" => USHORT,
        "int" => INT,
        "uint" => UINT,
        "long" => LONG,
        "ulong" => ULONG,
        "float" => FLOAT,
        "double" => DOUBLE,
        _ => return None,
    })
}
