//! Headers that come with every compiler for CUDA.

use rustc_hash::FxHashSet;

/// Those of C, C++ and CUDA that cost nothing.
const PLAIN: &[&str] = &[
    "algorithm",
    "array",
    "assert.h",
    "cassert",
    "cfloat",
    "cinttypes",
    "climits",
    "cmath",
    "complex",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "float.h",
    "functional",
    "initializer_list",
    "inttypes.h",
    "limits",
    "limits.h",
    "math.h",
    "math_constants.h",
    "numeric",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "tuple",
    "type_traits",
    "utility",
    "vector_functions.h",
    "vector_types.h",
];

/// Those of CUDA that not every program needs, by how they begin, and how the names begin that they declare.
const SPECIAL: &[(&str, &[&str])] = &[
    ("cooperative_groups", &["cooperative_groups"]),
    ("cub/", &["cub"]),
    ("cuComplex.h", &["cuComplex", "cuFloatComplex", "cuDoubleComplex", "cuC"]),
    ("cuda/", &["cuda"]),
    ("cuda_bf16.h", &["__nv_bfloat", "nv_bfloat", "__bfloat"]),
    ("cuda_fp16.h", &["half", "__half", "__float2half", "__h"]),
    ("curand", &["curand"]),
    ("mma.h", &["nvcuda", "wmma"]),
    ("thrust/", &["thrust"]),
];

/// Whether a header comes with the compiler.
pub(super) fn is_known(name: &str) -> bool {
    PLAIN.contains(&name) || SPECIAL.iter().any(|(known, _)| name.starts_with(known))
}

/// Whether a header comes with the compiler, and text with these words may need it.
pub(super) fn is_wanted(name: &str, words: &FxHashSet<String>) -> bool {
    let is_used = |names: &[&str]| words.iter().any(|word| names.iter().any(|name| word.starts_with(name)));
    PLAIN.contains(&name) || SPECIAL.iter().any(|(known, names)| name.starts_with(known) && is_used(names))
}
