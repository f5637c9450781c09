//! Namespaces whose members are known by their last names.
//!
//! Guarantees: a name in a namespace that is none of these means nothing here, whatever its last part is: `gone::threadIdx` may be
//! anything that a missing header makes of it.

/// The outermost namespaces of CUDA, HIP and the standard library, and the usual short name of one.
const LIBRARIES: [&str; 16] = [
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
pub fn is_of_library(name: &str) -> bool {
    name.split_once("::").is_some_and(|(first, _)| LIBRARIES.contains(&first))
}

/// The name without the namespaces of libraries; with all that stands before it where these are others.
pub fn without_namespaces(name: &str) -> &str {
    match name.rsplit_once("::") {
        Some((_, last)) if is_of_library(name) => last,
        _ => name,
    }
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
