//! Whether a name is one of the tables at all, whatever it means.
//!
//! Tests ask this, which hold the texts that other programs read (headers, runtimes) and the rest of the source against the
//! tables.

use super::functions::{conversion_target, function, is_about_clusters, is_about_spaces, results, vector_helper};
use super::types::named_type;
use super::{atomics, collectives, groups, host, launches, phases, pipelines, structures};
use crate::source::Language;

/// Whether a name, which may have namespaces, is that of a function of a library or of a method of its classes.
pub fn is_function(name: &str) -> bool {
    let short = name.rsplit("::").next().unwrap_or(name);
    let in_table = [Language::Cuda, Language::OpenCl].into_iter().any(|language| {
        function(language, short).is_some()
            || conversion_target(language, short).is_some()
            || !results(language, short).is_empty()
    });
    in_table
        || vector_helper(short).is_some()
        || is_about_clusters(short)
        || is_about_spaces(short)
        || is_of_objects(short)
        || is_of_host(short)
}

/// Whether a name is that of a class of a library whose objects mean more than what they hold.
pub fn is_class(name: &str) -> bool {
    let short = name.rsplit("::").next().unwrap_or(name);
    structures::structure(name).is_some()
        || groups::Group::named(short).is_some()
        || pipelines::CopyType::in_library(short).is_some()
        || atomics::Class::in_library(short).is_some()
        || phases::is_barrier(short)
        || collectives::Class::named(short).is_some()
        || structures::is_device_pointer(name)
}

/// A function on objects of a library, or a method of them.
fn is_of_objects(short: &str) -> bool {
    let arities = 0..=4;
    groups::Function::named(short).is_some()
        || groups::Method::named(short).is_some()
        || pipelines::Function::in_library(short).is_some()
        || pipelines::Method::named(short).is_some()
        || atomics::Fence::is_in_library(short)
        || atomics::Fence::is_of_signals(short)
        || atomics::Method::named(short).is_some()
        || phases::is_of_hardware(short)
        || arities
            .into_iter()
            .any(|arity| phases::Function::named(short, arity).is_some() || phases::method(short, arity).is_some())
        || structures::of_complex(short).is_some()
        || collectives::Class::ALL.into_iter().any(|class| class.method(short).is_some())
}

/// A function of the API of the host.
fn is_of_host(short: &str) -> bool {
    let is_named = matches!(short, launches::ENQUEUEING | launches::CREATION);
    let is_type = named_type(Language::Cuda, short).is_some() || short.ends_with("_t") || short.ends_with("State");
    is_named || launches::LaunchCall::named(short).is_some() || host::is_of_prefix(short) && !is_type
}

/// Whether a name is one that a library alone would use: no word of other languages, and none that a program would choose.
pub fn is_distinct(name: &str) -> bool {
    name.contains(|c: char| c == '_' || c.is_ascii_digit() || c.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_methods_and_classes_are_found_wherever_they_stand() {
        for name in [
            "__shfl_sync",
            "atomic_fetch_add_explicit",
            "convert_int4",
            "cuda::memcpy_async",
            "thread_rank",
            "consumer_wait",
            "ExclusiveSum",
            "cudaMalloc",
            "clCreateKernel",
            "__cluster_map_shared_rank",
        ] {
            assert!(is_function(name), "{name}");
        }
        for name in ["mystery", "__global__", "__half", "threadIdx", "customSync"] {
            assert!(!is_function(name), "{name}");
        }
        assert!(is_class("cuda::barrier") && is_class("coalesced_group") && !is_class("mystery"));
        assert!(is_distinct("__popc") && is_distinct("cudaFree") && !is_distinct("barrier"));
    }
}
