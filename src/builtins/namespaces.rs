//! Names that belong to CUDA's, HIP's or the standard library, by their namespaces and by how they begin.
//!
//! Guarantees: a name in a namespace that is none of these belongs to no library, whatever its last part is:
//! `gone::threadIdx` may be anything that a missing header makes of it.
//!
//! Deliberately absent: what they mean.

/// The outermost namespaces of CUDA, HIP and the standard library, and the usual short name of one.
const NAMESPACES: [&str; 16] = [
    "std",
    "cuda",
    "thrust",
    "cub",
    "hipcub",
    "cooperative_groups",
    "cg",
    "nvcuda",
    "wmma",
    "mma",
    "rocwmma",
    "rocprim",
    "nvtx3",
    "experimental",
    "ptx",
    "pipeline_role",
];

/// Whether the outermost part of a qualified name is one of these namespaces.
fn is_in_library(name: &str) -> bool {
    name.split_once("::").is_some_and(|(first, _)| NAMESPACES.contains(&first))
}

/// The name without the namespaces of libraries; with all that stands before it where these are others.
pub fn without_namespaces(name: &str) -> &str {
    match name.rsplit_once("::") {
        Some((_, last)) if is_in_library(name) => last,
        _ => name,
    }
}

/// Whether a name is one of CUDA's, HIP's or the standard library's.
pub fn is_of_a_library(name: &str) -> bool {
    let is_named = matches!(
        name,
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
    is_in_library(name) || is_named || !name.contains("::") && is_prefixed(name)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_namespaces_of_libraries_are_left_out() {
        assert_eq!(without_namespaces("threadIdx"), "threadIdx");
        assert_eq!(without_namespaces("cuda::std::min"), "min");
        assert_eq!(without_namespaces("cooperative_groups::this_thread_block"), "this_thread_block");
        assert_eq!(without_namespaces("gone::threadIdx"), "gone::threadIdx");
        assert_eq!(without_namespaces("stdx::min"), "stdx::min");
    }
}
