//! The text that is put beside instrumented programs: the runtimes of the cpu and cuda back ends, and the log.
//!
//! For the CPU everything is header text (C++17): who has these files and a compiler needs nothing else. The names of CUDA's own
//! headers that programs include stand for one small file each, which includes the runtime again; a header that is not
//! among them (`cufft.h`, `cuda_fp8.h`) is not supported, and its name is what the compiler complains about.
//!
//! For nvcc there are headers for instrumented units, and one unit ([`CUDA_UNIT`]) that each program has once; the linker
//! hands it every call of the functions in [`CUDA_WRAPPED`].
//!
//! For OpenCL there is what stands before instrumented kernels, and the library, in C, that a host program is started with.
//!
//! Deliberately absent: back ends that build and run (they are in `execute`).

use crate::source::own_header;

/// A file to be written into the directory of the runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeFile {
    /// Its path in that directory; directories are separated by `/`.
    pub path: &'static str,
    /// Its text.
    pub text: String,
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        [("log.hpp", include_str!("log.hpp")), $(($name, include_str!(concat!("cpu/", $name)))),*]
    };
}

/// What stands before instrumented OpenCL C.
pub(super) const OPENCL: &str = include_str!("opencl/raceproof.cl");
/// What stands before OpenCL C that counts.
pub(super) const OPENCL_COUNTS: &str = include_str!("opencl/counts.cl");

/// What stands before OpenCL C whose ids are given to it.
pub(super) const OPENCL_ORDERS: &str = include_str!("opencl/orders.cl");

/// The library that OpenCL programs are started with; [`OPENCL_HOST_UNIT`] includes the others.
const OPENCL_HOST: &[(&str, &str)] = &[
    ("opencl.h", include_str!("opencl/host/opencl.h")),
    ("messages.h", include_str!("opencl/host/messages.h")),
    ("objects.h", include_str!("opencl/host/objects.h")),
    ("launch.h", include_str!("opencl/host/launch.h")),
    ("orders.h", include_str!("opencl/host/orders.h")),
    ("substitute.h", include_str!("opencl/host/substitute.h")),
    ("writes.h", include_str!("opencl/host/writes.h")),
    (OPENCL_HOST_UNIT, include_str!("opencl/host/host.c")),
];

/// What is compiled of it.
pub const OPENCL_HOST_UNIT: &str = "host.c";

const CPU: &[(&str, &str)] = &embedded![
    "raceproof.hpp",
    "words.hpp",
    "vectors.hpp",
    "switch.hpp",
    "fiber.hpp",
    "report.hpp",
    "memory.hpp",
    "plan.hpp",
    "cluster.hpp",
    "launch.hpp",
    "coverage.hpp",
    "worker.hpp",
    "turns.hpp",
    "schedule.hpp",
    "warp.hpp",
    "access.hpp",
    "crash.hpp",
    "change_points.hpp",
    "kernel.hpp",
    "coverage_points.hpp",
    "operators.hpp",
    "comparisons.hpp",
    "barriers.hpp",
    "cluster_functions.hpp",
    "warp_intrinsics.hpp",
    "block_views.hpp",
    "atomics.hpp",
    "mutants.hpp",
    "objects.hpp",
    "copies.hpp",
    "phases.hpp",
    "pipelines.hpp",
    "device_math.hpp",
    "intrinsics.hpp",
    "annotations.hpp",
    "groups.hpp",
    "api_types.hpp",
    "api_memory.hpp",
    "textures.hpp",
    "api_device.hpp",
    "driver_api.hpp",
    "narrow.hpp",
    "narrow_functions.hpp",
    "half.hpp",
    "bfloat16.hpp",
];

macro_rules! embedded_for_cuda {
    ($($name:literal),* $(,)?) => {
        [("log.hpp", include_str!("log.hpp")), $(($name, include_str!(concat!("cuda/", $name)))),*]
    };
}

const CUDA: &[(&str, &str)] = &embedded_for_cuda![
    "raceproof.hpp",
    "ring.hpp",
    "records.hpp",
    "space.hpp",
    "access.hpp",
    "kernel.hpp",
    "sync.hpp",
    "groups.hpp",
    "registration.hpp",
    "unit.hpp",
    "unlogged.hpp",
    "told.hpp",
    "places.hpp",
    "blocks.hpp",
    "parameters.hpp",
    "drain.hpp",
    "session.hpp",
    "runtime.cu",
];

/// The host's half of the cuda back end's runtime.
pub const CUDA_UNIT: &str = "runtime.cu";

/// What it takes the place of: the linker is given `--wrap=` for each.
pub const CUDA_WRAPPED: &[&str] = &[
    "__cudaRegisterVar",
    "__cudaRegisterManagedVar",
    "__cudaLaunchKernel",
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaLaunchCooperativeKernel",
    "cudaGraphLaunch",
    "cudaMalloc",
    "cudaMallocManaged",
    "cudaMallocHost",
    "cudaHostAlloc",
    "cudaHostRegister",
    "cudaHostUnregister",
    "cudaMallocPitch",
    "cudaMalloc3D",
    "cudaMallocAsync",
    "cudaMallocFromPoolAsync",
    "cudaFree",
    "cudaFreeHost",
    "cudaFreeAsync",
    "cudaDeviceReset",
];

/// Headers of CUDA by the names under which programs include them, and what each stands for.
const NAMES: &[(&str, &str)] = &[
    ("cuda_runtime.h", "raceproof.hpp"),
    ("cuda_runtime_api.h", "raceproof.hpp"),
    ("device_launch_parameters.h", "raceproof.hpp"),
    ("driver_types.h", "raceproof.hpp"),
    ("vector_types.h", "raceproof.hpp"),
    ("vector_functions.h", "raceproof.hpp"),
    ("vector_functions.hpp", "raceproof.hpp"),
    ("host_defines.h", "raceproof.hpp"),
    ("math_constants.h", "raceproof.hpp"),
    ("math_functions.h", "raceproof.hpp"),
    ("device_functions.h", "raceproof.hpp"),
    ("device_atomic_functions.h", "raceproof.hpp"),
    ("sm_20_atomic_functions.h", "raceproof.hpp"),
    ("sm_30_intrinsics.h", "raceproof.hpp"),
    ("sm_35_intrinsics.h", "raceproof.hpp"),
    ("cuda_device_runtime_api.h", "raceproof.hpp"),
    ("cuda_profiler_api.h", "raceproof.hpp"),
    ("cudaProfiler.h", "driver_api.hpp"),
    ("cuda.h", "driver_api.hpp"),
    ("cuda_fp16.h", "half.hpp"),
    ("cuda_bf16.h", "bfloat16.hpp"),
    ("cuda/atomic", "objects.hpp"),
    ("cuda/std/atomic", "objects.hpp"),
    ("cuda/barrier", "phases.hpp"),
    ("cuda/std/barrier", "phases.hpp"),
    ("cuda/pipeline", "pipelines.hpp"),
    ("cuda_awbarrier.h", "phases.hpp"),
    ("cuda_awbarrier_primitives.h", "phases.hpp"),
    ("cuda_pipeline.h", "phases.hpp"),
    ("cuda_pipeline_primitives.h", "phases.hpp"),
    ("cooperative_groups/memcpy_async.h", "groups.hpp"),
    ("cooperative_groups.h", "groups.hpp"),
    ("cooperative_groups/reduce.h", "groups.hpp"),
    ("cooperative_groups/scan.h", "groups.hpp"),
];

/// The header of annotations, for units that are compiled as they stand.
const ANNOTATIONS: (&str, &str) = (own_header::NAME, own_header::TEXT);

/// All files of the runtime of the cuda back end.
pub fn cuda_files() -> Vec<RuntimeFile> {
    CUDA.iter().chain([&ANNOTATIONS]).map(|&(path, text)| RuntimeFile { path, text: text.to_owned() }).collect()
}

/// All files of the library that OpenCL programs are started with.
pub fn opencl_host_files() -> Vec<RuntimeFile> {
    OPENCL_HOST.iter().map(|&(path, text)| RuntimeFile { path, text: text.to_owned() }).collect()
}

/// All files of the runtime of the cpu back end.
pub fn cpu_files() -> Vec<RuntimeFile> {
    let own = CPU.iter().chain([&ANNOTATIONS]).map(|&(path, text)| RuntimeFile { path, text: text.to_owned() });
    let named = NAMES.iter().map(|&(path, target)| {
        let up = "../".repeat(path.matches('/').count());
        RuntimeFile {
            path,
            text: format!("// A header of CUDA, of which this back end has what it has in one place.\n#pragma once\n#include \"{up}{target}\"\n"),
        }
    });
    own.chain(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_include_of_a_runtime_is_among_its_files() {
        for files in [cpu_files(), cuda_files(), opencl_host_files()] {
            let known = |path: &str| files.iter().any(|file| file.path == path.trim_start_matches("../"));
            for file in &files {
                let quoted = file.text.lines().filter_map(|line| line.strip_prefix("#include \""));
                for path in quoted.map(|rest| rest.trim_end_matches('"')) {
                    assert!(known(path), "{} includes {path}", file.path);
                }
            }
        }
    }

    #[test]
    fn what_the_linker_wraps_is_what_the_unit_defines() {
        let unit = CUDA.iter().find(|(path, _)| *path == CUDA_UNIT).map_or("", |(_, text)| text);
        let defined = unit.matches("__wrap_").count();
        assert_eq!(defined, CUDA_WRAPPED.len());
        for name in CUDA_WRAPPED {
            assert!(unit.contains(&format!(" __wrap_{name}(")), "{name}");
        }
    }

    #[test]
    fn no_name_stands_for_two_files() {
        let mut paths: Vec<_> = cpu_files().into_iter().map(|file| file.path).collect();
        let all = paths.len();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), all);
    }
}
