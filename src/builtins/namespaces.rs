//! Names that belong to CUDA's, HIP's or the standard library, by their namespaces and by how they begin.
//!
//! Deliberately absent: what they mean.

/// Whether a name is one of CUDA's, HIP's or the standard library's.
pub fn is_of_a_library(name: &str) -> bool {
    let (first, last) = (name.split("::").next().unwrap_or(name), name.rsplit("::").next().unwrap_or(name));
    let is_space = matches!(
        first,
        "std"
            | "cuda"
            | "thrust"
            | "cub"
            | "hipcub"
            | "cooperative_groups"
            | "cg"
            | "nvcuda"
            | "wmma"
            | "mma"
            | "rocwmma"
            | "rocprim"
            | "nvtx3"
    );
    let is_named = matches!(
        last,
        "texture"
            | "surface"
            | "half"
            | "bfloat16"
            | "thread_block"
            | "thread_group"
            | "thread_block_tile"
            | "grid_group"
            | "multi_grid_group"
            | "coalesced_group"
            | "cluster_group"
            | "array"
            | "pair"
            | "tuple"
            | "complex"
            | "atomic"
            | "string"
            | "vector"
            | "numeric_limits"
            | "fragment"
    );
    is_space || is_named || first == last && is_prefixed(last)
}

/// Whether a name begins as those of a library do: `cudaStream_t`, `cuFloatComplex`, `hipDeviceptr_t`, `__half2`, `GLuint`.
fn is_prefixed(name: &str) -> bool {
    const LIBRARIES: [&str; 17] = [
        "__",
        "cuda",
        "curand",
        "cublas",
        "cufft",
        "cusparse",
        "cusolver",
        "cudnn",
        "cutensor",
        "hipblas",
        "hiprand",
        "hipfft",
        "hipsparse",
        "rocblas",
        "rocrand",
        "nvshmem",
        "nv_bfloat16",
    ];
    // A capital goes on with a word of its own, and a small letter with another word: `customSync`.
    let goes_on = |prefix: &str| {
        let next = name.strip_prefix(prefix).and_then(|rest| rest.chars().next());
        next.is_some_and(|next| next.is_ascii_uppercase())
    };
    let of_graphics =
        name.strip_prefix("GL").is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_lowercase()));
    of_graphics
        || LIBRARIES.iter().any(|prefix| name.starts_with(prefix))
        || ["cu", "hip", "roc", "CU"].into_iter().any(goes_on)
}

/// A name of CUB or hipCUB without the namespace, if it is in there.
pub fn in_collectives(name: &str) -> Option<&str> {
    name.strip_prefix("cub::").or_else(|| name.strip_prefix("hipcub::"))
}

/// Whether a namespace is CUB's or hipCUB's.
pub fn is_of_collectives(namespace: &str) -> bool {
    matches!(namespace, "cub" | "hipcub")
}

/// A name of Thrust or the standard library without the namespace, if it is in there.
pub fn in_standard(name: &str) -> Option<&str> {
    ["thrust::", "cuda::std::", "std::"].iter().find_map(|namespace| name.strip_prefix(namespace))
}
